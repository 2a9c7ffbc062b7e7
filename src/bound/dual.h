/* A solution of the dual of the set-partition program: a value v per row, in units.
 *
 * If in every group of at least k rows the k largest values come to at most k times the group's price, then no
 * k-anonymous release costs less than the values' sum: each class lies in a group that costs no more, has at least k
 * rows, and its rows' values average at most the price, because beyond the k largest every further one is below the
 * average of those. Where up to s rows may be suppressed at the root's price R, a value may be at most R + surplus, and
 * the bound is the sum less s * surplus. */
#ifndef KN_BOUND_DUAL_H
#define KN_BOUND_DUAL_H

#include "bound/row_bound.h"

typedef struct kn_dual {
    uint64_t *units;      /* [point]: value of each of its rows */
    uint64_t surplus;     /* with rows that may be suppressed */
    uint32_t price_limit; /* no value is above it; UINT32_MAX: dearer groups were looked at too */
} kn_dual;

typedef struct kn_dual_effort {
    uint32_t n_rounds;    /* of the penalty phase; 0: start, repair and ascend only */
    uint64_t max_work;    /* fewer rounds, or nothing at all, where they would take more steps */
    uint64_t max_members; /* that may be kept in memory, over all groups */
    double reach;         /* how many times its per-row bound a row's value may come to; less ... */
    double least_reach;   /* ... down to this where too many groups would be kept */
} kn_dual_effort;

/* The best values found, feasible up to rounding. Returns at once where the rows' own bounds are all 0. */
kn_status kn_dual_new(kn_dual **out, const kn_bound_problem *problem, const kn_row_bound *rows,
                      const kn_dual_effort *effort, kn_error *err);
void kn_dual_free(kn_dual *dual);

/* The rows' own bounds as values: they satisfy every constraint, because they are the least price of a row's groups, in
 * whole units. */
kn_status kn_dual_of_rows(kn_dual **out, const kn_bound_problem *problem, const kn_row_bound *rows, kn_error *err);

/* --- dual_check.c ----------------------------------------------------------------------------------------------- */

/* Looks at every constraint, in whole numbers, with nothing that kn_dual_new kept. *excess: the largest share by which
 * the k largest values of a group, or one value, come to more than they may; 0: a certificate; INFINITY: time was
 * over before all was looked at. Where every_work steps are enough for it, unclosed groups are looked at too.
 * `ratio`, NULL or [point]: what a value is to be multiplied with so that every constraint holds. */
kn_status kn_dual_check(double *excess, float *ratio, const kn_dual *dual, const kn_bound_problem *problem,
                        uint64_t every_work, kn_error *err);
/* What no release costs less than, over these columns: as reported, rounded down. */
double kn_dual_loss(const kn_dual *dual, const kn_bound_problem *problem);

#endif
