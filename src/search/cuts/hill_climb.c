/* hill-climb: iterated 2-phase hill climbing over cut points, [BA] 7.3.
 *
 * In: what k-optimize takes. Out: the best set of cuts found when it stands still, or when effort (looks at all sets of
 * cuts of one column) or time end; nothing is proven. The same for any number of threads. See cut_climb.c. */
#include "search/cuts/cut_climb.h"
#include "search/cuts/cut_crew.h"
#include "search/cuts/cut_report.h"

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cuts *cuts = NULL;
    kn_cut_curve curve = {.task = task, .began = kn_seconds_now()};
    kn_climb climb = {.task = task,
                      .most_looks = UINT64_MAX,
                      .most_work = KN_CUTS_DEFAULT_WORK,
                      .improved = kn_cut_curve_note,
                      .user = &curve};
    KN_TRY(kn_cuts_new(&cuts, task, 1, err));
    climb.cuts = curve.cuts = cuts;
    if (task->effort > 0) {
        climb.most_looks = task->effort;
        climb.most_work = UINT64_MAX;
        climb.patient = true;
    }
    KN_NEW(climb.letters, cuts->n_letters + (size_t)1);
    KN_TRY(kn_cut_climb(&climb, err));
    KN_TRY(kn_cut_found(answer, cuts, climb.has_best ? climb.letters : NULL, climb.stopped, climb.n_looks, err));
done:
    kn_free(climb.letters);
    kn_cuts_free(cuts);
    return status;
}

/* Most of it is the rounds without gain at the end; a descent goes over the columns three or four times. */
static double expected_seconds(const kn_task *task)
{
    return kn_cut_expected_seconds(task, 4000.0 * task->tuples->n_qis);
}

static const kn_param params[] = {KN_CUTS_PARAMS};

const kn_algorithm kn_algorithm_hill_climb = {
    .name = "hill-climb",
    .summary = "good cut points per column, by cutting one column after the other again and again",
    .citation = "Bayardo, Agrawal, Data privacy through optimal k-anonymization, 2005, section 7.3",
    .recoding = KN_RECODING_CUTS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .seconds = expected_seconds,
    .search = search,
};
