/* A collection of subsets of a column's values that need be no tree ([SC] Definition 1): what a value may become in
 * local recoding.
 *
 * Members are the single values (0 .. n_codes-1), the named subsets as they first stand in the file, and everything,
 * the last. The closure of some values is the smallest member that holds them all. There is one smallest, whatever the
 * values, exactly if any two members with values in common have just those as a member, too: a file that breaks this
 * is refused with the pair. The closure of a class then follows from those of its parts, and never shrinks as the class
 * grows. */
#ifndef KN_HIERARCHY_SUBSETS_H
#define KN_HIERARCHY_SUBSETS_H

#include "hierarchy/paths.h"

enum { KN_MAX_SUBSETS = 4096 }; /* members */

typedef struct kn_subsets {
    uint32_t n_codes, n_members, root;
    uint32_t n_words;
    uint64_t *bits;  /* [member * n_words]: a bit per code */
    uint32_t *start; /* n_members + 1: codes[start[m]] .. codes[start[m+1]-1] are those of m, ascending */
    uint32_t *codes;
    uint16_t *with;  /* [member * n_codes + code]: the closure of both */
    uint32_t *label; /* [member - n_codes] of a named one: a node of `lines` that has its label */
    kn_tree *lines;  /* what each value may become, as anybody reads it: a branch of its own per value, with the labels
                        that hold it; a label names all nodes that have it */
} kn_subsets;

/* From the lines of a file that begins as KN_SUBSETS_LINE says: see kn_paths.is_subsets. code_of_label (one entry per
 * label; may be NULL) tells the code of each value's label, KN_NONE for the others. KN_INPUT: no such collection. */
kn_status kn_subsets_from_paths(kn_subsets **out, uint32_t *code_of_label, const kn_paths *paths, kn_error *err);
void kn_subsets_free(kn_subsets *subsets);

static inline uint32_t kn_subsets_with(const kn_subsets *subsets, uint32_t member, uint32_t code)
{
    return subsets->with[(size_t)member * subsets->n_codes + code];
}
/* The closure of two members. */
uint32_t kn_subsets_join(const kn_subsets *subsets, uint32_t a, uint32_t b);
static inline uint32_t kn_subsets_size(const kn_subsets *subsets, uint32_t member)
{
    return subsets->start[member + 1] - subsets->start[member];
}
/* The member that a label names, or KN_NONE. */
uint32_t kn_subsets_find(const kn_subsets *subsets, const char *label, size_t n_bytes);
/* The lines alone; see kn_tree.is_collection. */
kn_status kn_subsets_lines(kn_tree **out, const kn_paths *paths, kn_error *err);
/* Whether an inner node of lines is the first that has its label, and how many values that holds. */
bool kn_lines_subset(uint32_t *n_values, const kn_tree *lines, uint32_t node);
/* Of a named subset. */
static inline const char *kn_subsets_label(const kn_subsets *subsets, uint32_t member, size_t *n_bytes)
{
    return kn_tree_label(subsets->lines, subsets->label[member - subsets->n_codes], n_bytes);
}

#endif
