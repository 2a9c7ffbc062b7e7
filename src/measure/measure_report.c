/* All measures of one release. The cells of its columns are counted once for all of them.
 *
 * Measures that are sums over cells or classes are independent jobs of the pool, and so is the preparation of those
 * that price the release as a whole; these come after, one by one, and use the pool themselves. */
#include "classes/column_cells.h"
#include "measure/measure.h"

#include <math.h>

typedef struct work {
    const kn_release *release;
    bool brief;
    kn_measured *items;
    kn_objective **objectives;
    size_t n;
    size_t *item_of_job; /* whole releases first: kl takes longest to prepare */
} work;

static kn_status measure_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const work *w = context;
    kn_measured *item = &w->items[w->item_of_job[job]];
    kn_objective **objective = &w->objectives[w->item_of_job[job]];
    KN_TRY(kn_objective_new(objective, item->type->name, w->release->tuples, err));
    if (item->type->price_release != NULL) goto done;
    KN_TRY(kn_objective_loss(&item->value, *objective, w->release, err));
    kn_objective_free(*objective);
    *objective = NULL;
done:
    return status;
}

static kn_status price_whole(work *w, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < w->n; i++) {
        if (w->objectives[i] == NULL) continue;
        KN_TRY(w->items[i].type->price_release(&w->items[i].value, w->objectives[i]->state, w->release, w->brief, pool,
                                               err));
    }
done:
    return status;
}

kn_status kn_measure_report_new(kn_measure_report **out, const kn_release *release, bool brief, kn_pool *pool,
                                kn_error *err)
{
    kn_status status = KN_OK;
    kn_measure_report *report = NULL;
    kn_column_cells *columns = NULL;
    kn_release counted = *release;
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    work w = {.release = &counted, .brief = brief};
    *out = NULL;
    if (release->columns == NULL) {
        KN_TRY(kn_columns_count(&columns, release, pool, err));
        counted.columns = columns;
    }
    KN_NEW(report, 1);
    KN_NEW(report->items, n);
    KN_NEW(w.objectives, n);
    KN_NEW(w.item_of_job, n);
    for (size_t i = 0; i < n; i++)
        if (!(all[i]->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) || release->tuples->n_sensitive > 0)
            report->items[report->n++] = (kn_measured){all[i], NAN};
    w.items = report->items;
    w.n = report->n;
    size_t n_jobs = 0;
    for (int whole = 1; whole >= 0; whole--)
        for (size_t i = 0; i < w.n; i++)
            if ((w.items[i].type->price_release != NULL) == whole) w.item_of_job[n_jobs++] = i;
    KN_TRY(kn_pool_run(pool, n_jobs, measure_job, &w, err));
    KN_TRY(price_whole(&w, pool, err));
    *out = report;
    report = NULL;
done:
    for (size_t i = 0; w.objectives != NULL && i < n; i++) kn_objective_free(w.objectives[i]);
    kn_free(w.objectives);
    kn_free(w.item_of_job);
    kn_columns_free(columns, release);
    kn_measure_report_free(report);
    return status;
}

void kn_measure_report_free(kn_measure_report *report)
{
    if (report == NULL) return;
    kn_free(report->items);
    kn_free(report);
}
