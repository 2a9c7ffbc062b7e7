/* Paths from leaf to root: what every builder makes and what a tree is made from.
 *
 * A builder interns labels, pushes one row of label ids per leaf (leaf first, root last, all rows equally long), and
 * calls kn_tree_from_paths, the one place where the rules of a tree are checked. Where rows came from a file, `lines`
 * says from which line, so that a broken rule is reported with both places. */
#ifndef KN_HIERARCHY_PATHS_H
#define KN_HIERARCHY_PATHS_H

#include "hierarchy/tree.h"

typedef struct kn_paths {
    const char *name; /* for messages: the file, or the SPEC; borrowed */
    bool redact;
    bool made_from_data; /* the file says so in its first line */
    bool is_subsets;     /* so does a file whose labels are subsets, not levels: a row is a value and, in any order,
                            the labels that hold it, the last repeated to fill up, and * */
    uint32_t n_levels;   /* labels per row */
    KN_VECTOR(uint32_t) cells; /* row-major label ids; a multiple of n_levels */
    KN_VECTOR(uint64_t) lines; /* per row; empty when the rows were computed */
    KN_VECTOR(char) bytes;     /* of the labels */
    KN_VECTOR(uint64_t) ends;  /* per label: where its bytes end */
    struct kn_label_slot {
        uint32_t id, hash; /* id KN_NONE: free */
    } * slots;             /* hash table of interned labels */
    uint32_t n_slots, n_interned;
} kn_paths;

void kn_paths_free(kn_paths *paths); /* what it holds, not the struct */

static inline uint32_t kn_paths_rows(const kn_paths *paths)
{
    return paths->n_levels != 0 ? (uint32_t)(paths->cells.n / paths->n_levels) : 0;
}

static inline uint32_t kn_paths_at(const kn_paths *paths, uint32_t row, uint32_t level)
{
    return paths->cells.items[(size_t)row * paths->n_levels + level];
}
/* Where a row stands in its file; 0 for computed paths. */
static inline unsigned long long kn_paths_line(const kn_paths *paths, uint32_t row)
{
    return paths->lines.n > row ? paths->lines.items[row] : 0;
}
/* A label as messages show it. */
const char *kn_paths_shown(char buffer[KN_SHOWN_BYTES], const kn_paths *paths, uint32_t id);

/* The id of a label, the same for equal bytes. */
kn_status kn_paths_label(uint32_t *id, kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err);
uint32_t kn_paths_find(const kn_paths *paths, const char *bytes, size_t n_bytes); /* KN_NONE: no such label */
/* A label that is equal to no other, whatever its bytes: for the missing value. */
kn_status kn_paths_own_label(uint32_t *id, kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err);
const char *kn_paths_bytes(const kn_paths *paths, uint32_t id, size_t *n_bytes);
kn_status kn_paths_push(kn_paths *paths, uint32_t id, kn_error *err); /* the next cell of the current row */
/* Both in one; quick where the row before has the same label, as it mostly has. Not after kn_paths_own_label. */
kn_status kn_paths_push_label(kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err);

/* One root and one parent for every label; KN_INPUT naming both places otherwise. */
kn_status kn_paths_check(const kn_paths *paths, kn_error *err);
/* KN_INPUT when the rows are no tree: two parents, several roots, one label for two places of the tree, no rows. */
kn_status kn_tree_from_paths(kn_tree **out, const kn_paths *paths, kn_error *err);
/* The same; leaf_of_label (one entry per label) tells the leaf of each leaf's label, KN_NONE for the others. */
kn_status kn_tree_from_paths_with(kn_tree **out, uint32_t *leaf_of_label, const kn_paths *paths, kn_error *err);

#endif
