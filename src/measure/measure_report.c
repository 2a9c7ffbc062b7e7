/* All measures of one release.
 *
 * Measures that are sums over cells or classes are independent jobs of the pool, and so is the preparation of those
 * that price the release as a whole; these come after, one by one, and use the pool themselves. */
#include "measure/measure.h"

#include <math.h>

typedef struct work {
    const kn_release *release;
    kn_measured *items;
    kn_objective **objectives;
    size_t n;
} work;

static kn_status measure_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const work *w = context;
    kn_measured *item = &w->items[job];
    KN_TRY(kn_objective_new(&w->objectives[job], item->type->name, w->release->tuples, err));
    if (item->type->price_release != NULL) goto done;
    KN_TRY(kn_objective_loss(&item->value, w->objectives[job], w->release, err));
    kn_objective_free(w->objectives[job]);
    w->objectives[job] = NULL;
done:
    return status;
}

static kn_status price_whole(work *w, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < w->n; i++) {
        if (w->objectives[i] == NULL) continue;
        KN_TRY(w->items[i].type->price_release(&w->items[i].value, w->objectives[i]->state, w->release, pool, err));
    }
done:
    return status;
}

kn_status kn_measure_report_new(kn_measure_report **out, const kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_measure_report *report = NULL;
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    work w = {.release = release};
    *out = NULL;
    KN_NEW(report, 1);
    KN_NEW(report->items, n);
    KN_NEW(w.objectives, n);
    for (size_t i = 0; i < n; i++)
        if (!(all[i]->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) || release->tuples->n_sensitive > 0)
            report->items[report->n++] = (kn_measured){all[i], NAN};
    w.items = report->items;
    w.n = report->n;
    KN_TRY(kn_pool_run(pool, w.n, measure_job, &w, err));
    KN_TRY(price_whole(&w, pool, err));
    *out = report;
    report = NULL;
done:
    for (size_t i = 0; w.objectives != NULL && i < n; i++) kn_objective_free(w.objectives[i]);
    kn_free(w.objectives);
    kn_measure_report_free(report);
    return status;
}

void kn_measure_report_free(kn_measure_report *report)
{
    if (report == NULL) return;
    kn_free(report->items);
    kn_free(report);
}
