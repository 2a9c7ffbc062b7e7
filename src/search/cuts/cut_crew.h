/* What searches that look at sets of letters have in common: items, and for every thread what it works with. */
#ifndef KN_SEARCH_CUTS_CUT_CREW_H
#define KN_SEARCH_CUTS_CUT_CREW_H

#include "search/cuts/cut_column.h"

/* Without --effort a search ends after so much work at the latest, some seconds of one processor on any table. A unit
 * is about what it takes to add one group of rows to a part (cut_column.c). */
#define KN_CUTS_DEFAULT_WORK UINT64_C(2000000000)

typedef struct kn_cut_crew {
    kn_cut_worker *worker; /* its first frame has the items */
    kn_cut_moves **moves;  /* per thread, as the paths */
    kn_cut_path **paths;
    unsigned n;
} kn_cut_crew;

/* *crew is all zero before, and may be freed whatever comes of it. */
kn_status kn_cut_crew_new(kn_cut_crew *crew, const kn_cuts *cuts, kn_pool *pool, kn_error *err);
void kn_cut_crew_free(kn_cut_crew *crew);
/* About what so many looks at a column take one thread; the number is --effort where the task has one. */
double kn_cut_expected_seconds(const kn_task *task, double n_looks);

#endif
