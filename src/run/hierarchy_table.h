/* Hierarchies that are tables in memory: a row per leaf, a column per level, leaf first, as in a hierarchy file. */
#ifndef KN_RUN_HIERARCHY_TABLE_H
#define KN_RUN_HIERARCHY_TABLE_H

#include "hierarchy/build.h"
#include "run/input.h"

/* The lines of the table that `path` names, as a hierarchy file would have them; *text stays NULL when it names a file.
 * kn_free it. */
kn_status kn_hierarchy_table(char **text, size_t *n_bytes, kn_input *input, const char *path, kn_error *err);
/* The domain of a column as its choice says; the hierarchy may be a table in memory. A sensitive column's is the tree
 * that distances are measured in. */
kn_status kn_input_domain(kn_domain **out, kn_input *input, uint32_t column, bool must_be_tree, kn_error *err);
/* The same; where the hierarchy lacks values of the data, *lacking has all of them (kn_free its spellings). */
kn_status kn_input_domain_or_lacking(kn_domain **out, kn_lacking *lacking, kn_input *input, uint32_t column,
                                     bool must_be_tree, kn_error *err);
/* The other quasi-identifiers: what similar values of the column are found by. kn_free *out. */
kn_status kn_input_others(const kn_column ***out, uint32_t *n, const kn_input *input, uint32_t column, kn_error *err);
/* kn_tree_read of a file or a table in memory. */
kn_status kn_input_tree(kn_tree **out, kn_input *input, const char *path, kn_error *err);
/* The grid of a column of which nothing is said: whole years of ages, whatever their range is, otherwise "auto". */
const char *kn_input_usual_grid(const kn_column *column);

#endif
