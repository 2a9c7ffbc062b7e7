/* How far from the best possible release? A loss that no release can be below.
 *
 * It holds for every k-anonymous release of the table whose cells are allowed generalizations, cell by cell (local
 * recoding), with as many suppressed rows as may be; so it holds for every narrower family too, full-domain recoding
 * among them. k is the least number of persons of a class that the models force; what else they ask for is left out,
 * which only lowers the bound. */
#ifndef KN_BOUND_BOUND_H
#define KN_BOUND_BOUND_H

#include "bound/dual.h"

typedef enum kn_bound_method {
    KN_BOUND_NONE,
    KN_BOUND_DUAL,            /* values of rows: a solution of the dual program, checked */
    KN_BOUND_NEIGHBOURS,      /* nearest neighbours */
    KN_BOUND_DUAL_NEIGHBOURS, /* the one over the columns with trees plus the other over the rest */
    KN_BOUND_SIZES            /* measures of class sizes: the best sizes */
} kn_bound_method;

typedef struct kn_bound {
    kn_bound_method method;
    double value;       /* loss, as reported; NAN for NONE */
    const char *reason; /* why there is none; a constant */
    bool is_partial;    /* not everything was looked at: more work could give more */
    uint64_t k;
    /* What a certificate needs; NULL where the method has none. `problem` borrows the task. */
    kn_bound_problem *problem;
    kn_dual *dual;
    double dual_value; /* of the columns with trees alone */
} kn_bound;

/* Without `certify` what can be had for a small share of a run; with it, until more work does not pay, or time is over
 * (the ticker's). The same for any number of threads unless time is over. */
kn_status kn_bound_new(kn_bound **out, const kn_task *task, bool certify, kn_error *err);
void kn_bound_free(kn_bound *bound);
const char *kn_bound_method_name(kn_bound_method method); /* "dual", ... */

#endif
