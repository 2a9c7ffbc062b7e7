/* See cut_crew.h. */
#include "search/cuts/cut_crew.h"

#include <math.h>

kn_status kn_cut_crew_new(kn_cut_crew *crew, const kn_cuts *cuts, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cut_worker_new(&crew->worker, cuts, err));
    KN_TRY(kn_cut_merged_items(crew->worker, err));
    crew->n = kn_pool_threads(pool);
    KN_NEW(crew->moves, crew->n);
    KN_NEW(crew->paths, crew->n);
    for (unsigned i = 0; i < crew->n; i++) {
        KN_TRY(kn_cut_moves_new(&crew->moves[i], cuts, &crew->worker->frames[0].items, err));
        KN_TRY(kn_cut_path_new(&crew->paths[i], cuts, &crew->worker->frames[0].items, err));
    }
done:
    return status;
}

void kn_cut_crew_free(kn_cut_crew *crew)
{
    for (unsigned i = 0; crew->moves != NULL && i < crew->n; i++) kn_cut_moves_free(crew->moves[i]);
    for (unsigned i = 0; crew->paths != NULL && i < crew->n; i++) kn_cut_path_free(crew->paths[i]);
    kn_free(crew->moves);
    kn_free(crew->paths);
    kn_cut_worker_free(crew->worker);
}

/* Measured, within a factor of three: census tables with 20 values a column, people with 200 to 400. */
double kn_cut_expected_seconds(const kn_task *task, double n_looks)
{
    const double seconds_per_work = 4e-9, n_columns = fmax(1, task->tuples->n_qis);
    double n_values = 0;
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) n_values += task->tuples->domains[q]->n_codes;
    const double look = task->tuples->n_tuples * (3 + 0.1 * n_values / n_columns);
    if (task->effort > 0) return seconds_per_work * look * (double)task->effort;
    return seconds_per_work * fmin(look * n_looks, (double)KN_CUTS_DEFAULT_WORK);
}
