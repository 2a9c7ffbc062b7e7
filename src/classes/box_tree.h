/* Points in a box: an index over weighted points with whole-number coordinates, for questions such as "how many persons
 * of this file lie inside these cells?" and "which tuples does this class cover?".
 *
 * A k-d tree: a part is cut in two at about the median of the dimension that it spreads over most, down to a handful of
 * points; every part knows its bounds. A question visits the parts that its box cuts, and takes whole those it holds.
 * Building costs O(n log n); the tree depends on the points only. */
#ifndef KN_CLASSES_BOX_TREE_H
#define KN_CLASSES_BOX_TREE_H

#include "base/memory.h"
#include "hierarchy/domain.h"

/* One side of a box: coordinates first..last, or of those only the `codes` (ascending) when they are given. */
typedef struct kn_box_side {
    uint32_t first, last;
    const uint32_t *codes;
    uint32_t n_codes;
    uint64_t mask; /* the codes as bits, when all of them are below 64; otherwise 0 */
} kn_box_side;

typedef struct kn_box_part {
    uint32_t begin, end; /* places */
    uint32_t child;      /* the first of two, or 0: not cut any further */
} kn_box_part;

typedef struct kn_box_tree {
    uint32_t n_points, n_dims;
    uint32_t *order;              /* the point at each place */
    uint32_t *coordinates;        /* [place * n_dims + dim] */
    uint64_t *weight_before;      /* n_points + 1: weight of the places before */
    KN_VECTOR(kn_box_part) parts; /* 0 is everything; a part stands before its children */
    uint32_t *bounds;             /* [(part * n_dims + dim) * 2], lowest and highest */
} kn_box_tree;

/* coordinates[dim][point]; `weights` NULL: 1 each. */
kn_status kn_box_tree_new(kn_box_tree **out, uint32_t n_points, uint32_t n_dims, uint32_t *const *coordinates,
                          const uint64_t *weights, kn_error *err);
void kn_box_tree_free(kn_box_tree *tree);

uint64_t kn_box_tree_weight(const kn_box_tree *tree, const kn_box_side *box); /* of the points inside */
uint64_t kn_box_tree_visits(const kn_box_tree *tree, const kn_box_side *box); /* parts that a question visits */

/* Adds `amount` to every point inside. Sums collect in by_part (parts.n) and by_place (n_points), which start as zeros;
 * kn_box_tree_spread then leaves the whole sum of each place in by_place. */
void kn_box_tree_add(const kn_box_tree *tree, const kn_box_side *box, double amount, double *by_part, double *by_place);
void kn_box_tree_spread(const kn_box_tree *tree, double *by_part, double *by_place);

/* The side that a cell is, over the codes of its domain. */
kn_box_side kn_cell_side(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets);

#endif
