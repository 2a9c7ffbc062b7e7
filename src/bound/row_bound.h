/* The per-row bound: whatever class a row is released in, its cells hold at least k rows of the table, so the row pays
 * at least the price of its cheapest group of k rows or more. The bound of Meyerson and Williams' "k-th nearest" kind,
 * over groups instead of pairs. Needs no monotone measure.
 *
 * Groups are visited up to a price, which rises for as long as there is work to spend; a row without a group costs
 * more than that price. */
#ifndef KN_BOUND_ROW_BOUND_H
#define KN_BOUND_ROW_BOUND_H

#include "bound/closed_groups.h"

typedef struct kn_row_bound {
    uint32_t *least;      /* [point]: units that each of its rows pays at least */
    uint32_t price_limit; /* groups up to this price were visited; UINT32_MAX: all */
    uint64_t work;        /* spent */
    uint64_t last_work;   /* of the last walk that came to its end: what looking at all its groups again takes */
    double seconds;       /* of the same */
} kn_row_bound;

/* Spends about max_work steps (0: as many as it takes), or until time is over; what was not finished is left out. */
kn_status kn_row_bound_new(kn_row_bound **out, const kn_bound_problem *problem, uint64_t max_work, kn_error *err);
void kn_row_bound_free(kn_row_bound *bound);

#endif
