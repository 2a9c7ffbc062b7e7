/* What `kanon hierarchy make|check|show|rectify` does, without the command line. Texts come out whole, in UTF-8, ended
 * by a line end; kn_free them. */
#ifndef KN_HIERARCHY_TOOLS_H
#define KN_HIERARCHY_TOOLS_H

#include "hierarchy/build.h"

/* make: the file that says what request->spec does to this column. */
kn_status kn_hierarchy_make(char **text, const kn_column *column, const char *data_name, uint32_t n_rows,
                            const kn_hierarchy_request *request, kn_error *err);

/* The lines of a tree that the column's domain was made with; the first one says so where labels tell of the data. */
kn_status kn_hierarchy_to_text(char **text, const kn_tree *tree, const kn_domain *domain, kn_error *err);

/* check: what the file at request->spec holds, as text: leaves, nodes, levels, balance, labels that repeat. With a
 * column (may be NULL) also which of its values the hierarchy lacks (*n_lacking of them; the first ten by line, unless
 * request->redact) and how many leaves the data does not use. A file that is no tree fails as it does for
 * kn_domain_build. */
kn_status kn_hierarchy_check(char **text, uint32_t *n_lacking, const kn_column *column, const char *data_name,
                             uint32_t n_rows, const kn_hierarchy_request *request, kn_error *err);

/* show: the tree drawn with box lines, no line wider than `width` characters (0: any), at most `max_lines` lines
 * (0: any). What does not fit is left out with a count. `domain` (may be NULL) adds the data's rows to each node; its
 * tree is the one that is drawn. */
typedef struct kn_show_options {
    uint32_t width, max_lines;
    bool ascii; /* +-- instead of box lines */
} kn_show_options;
kn_status kn_hierarchy_show(char **text, const kn_tree *tree, const kn_domain *domain, const kn_show_options *options,
                            kn_error *err);

/* rectify: the hierarchy without the nodes that keep the entropy measure from being monotone on this data ([GT] 4.2.2);
 * the domain must be a TREE. *n_removed nodes were removed. The tree is yours. */
kn_status kn_hierarchy_rectify(kn_tree **out, uint32_t *n_removed, const kn_domain *domain, kn_error *err);

#endif
