/* Points in a box: an index over weighted points with whole-number coordinates, for questions such as "how many persons
 * of this file lie inside these cells?" and "which tuples does this class cover?".
 *
 * Points are sorted along the Z-order curve and cut into blocks; a binary tree over the blocks keeps the bounds of each
 * part. Building costs one radix sort; a question visits the parts that its box cuts, and takes those it holds whole.
 */
#ifndef KN_PARTITION_BOX_TREE_H
#define KN_PARTITION_BOX_TREE_H

#include "base/pool.h"
#include "hierarchy/domain.h"

/* One side of a box: coordinates first..last, or of those only the `codes` (ascending) when they are given. */
typedef struct kn_box_side {
    uint32_t first, last;
    const uint32_t *codes;
    uint32_t n_codes;
} kn_box_side;

typedef struct kn_box_tree {
    uint32_t n_points, n_dims;
    uint32_t n_parts;        /* a power of two; parts n_parts .. 2*n_parts-1 are blocks, part 1 is everything */
    uint32_t *order;         /* the point at each place of the curve */
    uint32_t *coordinates;   /* [place * n_dims + dim] */
    uint64_t *weight_before; /* n_points + 1: weight of the places before */
    uint32_t *bounds;        /* [(part * n_dims + dim) * 2], lowest and highest; lowest > highest where empty */
} kn_box_tree;

/* coordinates[dim][point]; `weights` NULL: 1 each. */
kn_status kn_box_tree_new(kn_box_tree **out, uint32_t n_points, uint32_t n_dims, uint32_t *const *coordinates,
                          const uint32_t *weights, kn_pool *pool, kn_error *err);
void kn_box_tree_free(kn_box_tree *tree);

uint64_t kn_box_tree_weight(const kn_box_tree *tree, const kn_box_side *box); /* of the points inside */

/* Adds `amount` to every point inside. Sums collect in by_part (2*n_parts) and by_place (n_points), which start as
 * zeros; kn_box_tree_total then gives the sum of one place. */
void kn_box_tree_add(const kn_box_tree *tree, const kn_box_side *box, double amount, double *by_part, double *by_place);
double kn_box_tree_total(const kn_box_tree *tree, uint32_t place, const double *by_part, const double *by_place);

/* The box of a class's cells over domain codes. */
static inline kn_box_side kn_cell_side(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    kn_box_side side = {cell->first, cell->last, NULL, 0};
    if (domain->kind == KN_DOMAIN_SETS && cell->id != KN_NONE)
        side.codes = kn_set_pool_get(sets, cell->id, &side.n_codes);
    return side;
}

#endif
