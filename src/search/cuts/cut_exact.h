/* What a set of letters costs once it is released, where sums over items say less: see cut_exact.c. */
#ifndef KN_SEARCH_CUTS_CUT_EXACT_H
#define KN_SEARCH_CUTS_CUT_EXACT_H

#include "search/cuts/cut_moves.h"

typedef struct kn_cut_exact {
    kn_cut_moves *moves;
    uint8_t *in;  /* [letter]: what is asked about */
    bool *held;   /* [class] */
    bool *occurs; /* [code] of a column */
    double *rows; /* [position] of a column: those of the part that begins there */
} kn_cut_exact;

/* *out is NULL where sums over items are exact. */
kn_status kn_cut_exact_new(kn_cut_exact **out, const kn_cuts *cuts, kn_error *err);
void kn_cut_exact_free(kn_cut_exact *exact);
/* The cost of exact->in. */
kn_status kn_cut_exact_cost(kn_cut_cost *cost, kn_cut_exact *exact, kn_error *err);

#endif
