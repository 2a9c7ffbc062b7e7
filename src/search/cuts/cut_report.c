/* What searches over cut points tell: see cut_report.h. */
#include "search/cuts/cut_report.h"

#include <math.h>

void kn_cut_curve_note(void *user, double cost)
{
    const kn_cut_curve *curve = user;
    kn_trace *trace = curve->task->trace;
    kn_error *err = NULL;
    kn_status status = KN_OK;
    if (trace == NULL) return;
    const kn_trace_point point = {kn_seconds_now() - curve->began, kn_cuts_loss(curve->cuts, cost)};
    KN_PUSH(&trace->points, point);
done:
    (void)status; /* a curve with a point less */
}

kn_status kn_cut_found(kn_answer *answer, const kn_cuts *cuts, const uint8_t *letters, kn_stopped stopped,
                       uint64_t n_looks, kn_error *err)
{
    kn_status status = KN_OK;
    if (letters == NULL && stopped == KN_STOPPED_INTERRUPT)
        KN_FAIL(KN_INTERRUPTED, "interrupted before a release was found; nothing was written");
    if (letters == NULL)
        KN_FAIL(KN_NOT_MET, "no set of cuts was found that meets the models; allow more suppressed rows with "
                            "--max-suppressed, or ask for less");
    KN_TRY(kn_cuts_answer(answer, cuts, letters, err));
    answer->stopped = stopped;
    answer->n_nodes = n_looks;
    answer->bound = (double)NAN;
done:
    return status;
}
