/* One subtree of the set-enumeration tree, depth first, for so many evaluations: what is left of it then is handed back
 * as nodes. */
#ifndef KN_SEARCH_CUTS_CUT_SEARCH_H
#define KN_SEARCH_CUTS_CUT_SEARCH_H

#include "search/cuts/cut_frame.h"

/* Why nodes were not looked at, or letters left out. */
typedef enum kn_cut_rule {
    KN_CUT_BOUND,       /* nodes whose bound is no better than the best release */
    KN_CUT_SUPPRESSION, /* nodes that suppress too many rows */
    KN_CUT_TAIL_BOUND,  /* letters whose child's bound is no better */
    KN_CUT_TAIL_SUPPRESSION,
    KN_CUT_USELESS, /* letters that gain nowhere */
    KN_CUT_FORCED,  /* letters that cost nothing to take */
    KN_N_CUT_RULES
} kn_cut_rule;

typedef struct kn_cut_counts {
    uint64_t n_nodes, n_evaluations;
    uint64_t n_looked_up; /* cells of items that the evaluations went through: what they took */
    uint64_t by_rule[KN_N_CUT_RULES];
} kn_cut_counts;

/* A node that is still to be searched. */
typedef struct kn_open_node {
    double bound;
    uint64_t number; /* in the order of coming up: nodes of equal bounds are taken in this order */
    uint8_t *state;  /* [letter] */
} kn_open_node;

typedef struct kn_cut_search {
    const kn_cuts *cuts;
    unsigned without;   /* bit set of rules that are switched off: the search takes longer and finds the same (tests) */
    bool without_order; /* letters are taken as they come */
    double best;        /* only what is cheaper is of interest */
    uint8_t *found;     /* [letter]: the cheapest release below `best`, where one was found */
    bool has_found;
    uint64_t most_evaluations;
    kn_cut_counts counts;
    KN_VECTOR(kn_open_node) left;                                                      /* what was not searched */
    void (*watch)(void *user, const kn_cut_worker *worker, const kn_cut_frame *frame); /* tests; may be NULL */
    void *user;
} kn_cut_search;

/* Searches below a node. */
kn_status kn_cut_search_run(kn_cut_search *search, kn_cut_worker *worker, const uint8_t *state, kn_ticker *ticker,
                            kn_error *err);
/* What is less than `best` by more than rounding. */
double kn_cut_better(const kn_cuts *cuts, double best);

#endif
