/* All measures of one release.
 *
 * Measures that are sums over cells or classes are independent jobs of the pool; those that price the release as a
 * whole come after them, one by one, and use the pool themselves. */
#include "measure/measure.h"

#include <math.h>

typedef struct jobs {
    const kn_release *release;
    kn_measured *items;
    const size_t *which; /* item of each job */
} jobs;

static kn_status measure_one(double *value, const kn_measure *type, const kn_release *release, kn_pool *pool,
                             kn_error *err)
{
    kn_status status = KN_OK;
    kn_objective *objective = NULL;
    KN_TRY(kn_objective_new(&objective, type->name, release->tuples, err));
    if (type->price_release != NULL) {
        KN_TRY(type->price_release(value, objective->state, release, pool, err));
    } else {
        KN_TRY(kn_objective_loss(value, objective, release, err));
    }
done:
    kn_objective_free(objective);
    return status;
}

static kn_status measure_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    const jobs *all = context;
    kn_measured *item = &all->items[all->which[job]];
    return measure_one(&item->value, item->type, all->release, NULL, err);
}

kn_status kn_measure_report_new(kn_measure_report **out, const kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_measure_report *report = NULL;
    size_t n, n_jobs = 0, *which = NULL;
    const kn_measure *const *all = kn_measure_all(&n);
    *out = NULL;
    KN_NEW(report, 1);
    KN_NEW(report->items, n);
    KN_NEW(which, n);
    for (size_t i = 0; i < n; i++) {
        if ((all[i]->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) && release->tuples->n_sensitive == 0) continue;
        if (all[i]->price_release == NULL) which[n_jobs++] = report->n;
        report->items[report->n++] = (kn_measured){all[i], NAN};
    }
    KN_TRY(kn_pool_run(pool, n_jobs, measure_job, &(jobs){release, report->items, which}, err));
    for (size_t i = 0; i < report->n; i++)
        if (report->items[i].type->price_release != NULL)
            KN_TRY(measure_one(&report->items[i].value, report->items[i].type, release, pool, err));
    *out = report;
    report = NULL;
done:
    kn_free(which);
    kn_measure_report_free(report);
    return status;
}

void kn_measure_report_free(kn_measure_report *report)
{
    if (report == NULL) return;
    kn_free(report->items);
    kn_free(report);
}
