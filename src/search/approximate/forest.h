/* The forest behind `forest`, for its tests: outgoing edges of rows, before and after they are cut. */
#ifndef KN_SEARCH_APPROXIMATE_FOREST_H
#define KN_SEARCH_APPROXIMATE_FOREST_H

#include "search/search.h"

/* Vertices 0 .. n-1 in trees: each leads to another one, or nowhere (KN_NONE), and there is no cycle. */
typedef struct kn_trees {
    uint32_t n;
    uint32_t *to;
    double *weight; /* of the edge */
} kn_trees;

/* [AF] 4.1. Vertex v is row (*rows)[v]; *bound is the nearest-neighbour bound of the sum of prices over all rows.
 * Yours: the three arrays, by kn_free. At least k rows. */
kn_status kn_forest_grow(kn_trees *trees, uint32_t **rows, double *bound, const kn_task *task, uint32_t k,
                         kn_error *err);
/* [AF] 4.2: component[v] < *n_components; each has between k and max(2k-1, 3k-5) vertices. Every tree has at least k.
 * Edges that are kept, the ones to a vertex that became a Steiner vertex included, weigh no more than before. */
kn_status kn_forest_decompose(uint32_t *component, uint32_t *n_components, const kn_trees *trees, uint32_t k,
                              kn_error *err);

#endif
