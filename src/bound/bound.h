/* How far from the best possible release? A loss that no release can be below.
 *
 * It holds for every k-anonymous release of the table whose cells are allowed generalizations, cell by cell (local
 * recoding), with as many suppressed rows as may be; so it holds for every narrower family too, full-domain recoding
 * among them. k is the least number of persons of a class that the models force, and groups with too few different
 * sensitive values hold no class; what else the models ask for is left out, which only lowers the bound. */
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

typedef enum kn_bound_effort {
    KN_BOUND_FREE,    /* some milliseconds: small tables */
    KN_BOUND_CHEAP,   /* beside a search that takes seconds */
    KN_BOUND_CERTIFY, /* until more work does not pay */
    KN_BOUND_PROVE    /* the same, with a dual that a certificate can hold: see kn_bound_is_provable */
} kn_bound_effort;

typedef struct kn_bound {
    kn_bound_method method;
    double value;    /* loss, as reported; NAN for NONE */
    kn_say why;      /* there is none; KN_SAY_NOTHING: there is one */
    bool is_partial; /* not everything was looked at: more work could give more */
    uint64_t k;
    uint64_t work; /* steps spent, 1 to 2 ns each; with a time limit, or where work was cut off, more or less */
    /* What a certificate needs; NULL where the method has none. `problem` borrows the task. */
    kn_bound_problem *problem;
    kn_dual *dual;
    double dual_value; /* of the columns with trees alone */
} kn_bound;

/* Whether there can be one at all: KN_SAY_NOTHING, or why not. */
kn_say kn_bound_possible(const kn_task *task);
/* The same for any number of threads unless time is over (the ticker's). */
kn_status kn_bound_new(kn_bound **out, const kn_task *task, kn_bound_effort effort, kn_error *err);
void kn_bound_free(kn_bound *bound);
const char *kn_bound_method_name(kn_bound_method method); /* "dual", ... */

#endif
