/* The nearest-neighbour bound: [GT] Lemma 6.10, after [AF] 4.
 *
 * A row shares its cells with at least k-1 others, so under a monotone measure it pays at least what the closure of
 * itself and its (k-1)-th nearest neighbour costs. That holds for every kind of domain, for labels that are written
 * narrower than their node, and with suppressed rows: the root costs no less than any closure. Discounts of a row
 * (measure.h) are the same on both sides.
 *
 * Where there is not enough work for all, the rows that are left out count as kept unchanged: a bound still, said to be
 * partial. */
#ifndef KN_BOUND_NEIGHBOURS_H
#define KN_BOUND_NEIGHBOURS_H

#include "search/search.h"

typedef struct kn_neighbours {
    double loss; /* as reported; no release loses less */
    bool is_partial;
    uint64_t work;
} kn_neighbours;

/* Over the columns with takes[q]; the objective must be a monotone sum over cells. max_work: steps, one per pair and
 * column that is looked at, and what prices and boxes take; 0: as many as it takes. */
kn_status kn_neighbours_bound(kn_neighbours *out, const kn_task *task, const bool *takes, uint64_t max_work,
                              kn_error *err);

#endif
