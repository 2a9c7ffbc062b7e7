/* Iterated hill climbing over sets of letters: what `hill-climb` returns and k-optimize begins with. */
#ifndef KN_SEARCH_CUTS_CUT_CLIMB_H
#define KN_SEARCH_CUTS_CUT_CLIMB_H

#include "search/cuts/cut_moves.h"

typedef struct kn_climb {
    const kn_cuts *cuts;
    const kn_task *task;
    uint64_t most_looks; /* at all sets of cuts of a column, or at all neighbours: the budget ... */
    uint64_t most_work;  /* ... and what they take together, see cut_crew.h */
    double seconds;      /* 0: no limit but the task's */
    bool patient;        /* goes on when nothing was gained for long */
    uint8_t *letters;    /* [letter]: the best release, once has_best; room is the caller's */
    double best;
    bool has_best;
    uint64_t n_looks, work;
    kn_stopped stopped;
    void (*improved)(void *user, double cost); /* may be NULL */
    void *user;
} kn_climb;

/* From what is in `letters` when has_best, otherwise from nothing. */
kn_status kn_cut_climb(kn_climb *climb, kn_error *err);

#endif
