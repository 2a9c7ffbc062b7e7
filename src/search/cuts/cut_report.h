/* What the searches over cut points that prove nothing tell: the curve of the best release, and the answer. */
#ifndef KN_SEARCH_CUTS_CUT_REPORT_H
#define KN_SEARCH_CUTS_CUT_REPORT_H

#include "search/cuts/cuts.h"

typedef struct kn_cut_curve {
    const kn_task *task;
    const kn_cuts *cuts;
    double began;
} kn_cut_curve;

/* A release of this cost was found: a point of the task's trace. `user` is a kn_cut_curve. */
void kn_cut_curve_note(void *user, double cost);
/* The answer for the best letters; NULL: none were found, which is KN_NOT_MET or KN_INTERRUPTED. */
kn_status kn_cut_found(kn_answer *answer, const kn_cuts *cuts, const uint8_t *letters, kn_stopped stopped,
                       uint64_t n_looks, kn_error *err);

#endif
