/* All measures of one release. The cells of its columns are counted once for all of them, and so is what each column
 * says about the sensitive one.
 *
 * Measures that are sums over cells or classes are independent jobs of the pool, and so is the preparation of those
 * that price the release as a whole; these come after, one by one, and use the pool themselves. Last come those that
 * are mixed from others. */
#include "classes/column_cells.h"
#include "measure/private_information.h"

#include <math.h>

typedef struct work {
    const kn_release *release;
    bool brief;
    kn_measured *items;
    kn_objective **objectives;
    size_t n;
    size_t *item_of_job; /* whole releases first: kl takes longest to prepare */
} work;

/* Asked after the jobs. */
static bool is_whole(const kn_measure *type) { return type->price_release != NULL || type->price_columns != NULL; }

static kn_status measure_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const work *w = context;
    kn_measured *item = &w->items[w->item_of_job[job]];
    kn_objective **objective = &w->objectives[w->item_of_job[job]];
    KN_TRY(kn_objective_new(objective, item->type->name, w->release->tuples, err));
    if (is_whole(item->type)) goto done;
    KN_TRY(kn_objective_loss(&item->value, *objective, w->release, err));
    kn_objective_free(*objective);
    *objective = NULL;
done:
    return status;
}

/* All that follow from what the columns say, with the state of one of them. */
static kn_status price_by_columns(work *w, const kn_private_information *information, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = w->release->tuples;
    double *columns = NULL;
    KN_NEW(columns, tuples->n_qis);
    KN_TRY(kn_private_information_columns(columns, information, w->release, pool, err));
    for (size_t i = 0; i < w->n; i++)
        if (w->items[i].type->price_columns != NULL)
            w->items[i].value = w->items[i].type->price_columns(tuples, information->table_entropy, columns);
done:
    kn_free(columns);
    return status;
}

static kn_status price_whole(work *w, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < w->n; i++) {
        if (w->objectives[i] == NULL) continue;
        const kn_measure *type = w->items[i].type;
        const void *state = w->objectives[i]->state;
        if (type->price_columns != NULL) KN_TRY(price_by_columns(w, state, pool, err));
        else KN_TRY(type->price_release(&w->items[i].value, state, w->release, w->brief, pool, err));
    }
done:
    return status;
}

static double value_of(const work *w, const kn_measure *type)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->items[i].type == type) return w->items[i].value;
    return NAN;
}

static kn_status mix(work *w, kn_error *err)
{
    kn_status status = KN_OK;
    kn_args args = {0};
    for (size_t i = 0; i < w->n; i++) {
        const kn_measure *type = w->items[i].type;
        if (type->mixes[0] == NULL) continue;
        KN_TRY(kn_args_parse(&args, type->name, type->params, type->n_params, "", err));
        double share = kn_args_number(&args, "w");
        w->items[i].value = share * value_of(w, type->mixes[0]) + (1 - share) * value_of(w, type->mixes[1]);
        kn_args_free(&args);
    }
done:
    return status;
}

/* Of those that follow from the columns the first prepares for all. */
static size_t list_jobs(work *w)
{
    size_t n_jobs = 0;
    for (int whole = 1; whole >= 0; whole--) {
        bool has_columns = false;
        for (size_t i = 0; i < w->n; i++) {
            const kn_measure *type = w->items[i].type;
            if (is_whole(type) != whole || type->mixes[0] != NULL) continue;
            if (type->price_columns == NULL || !has_columns) w->item_of_job[n_jobs++] = i;
            has_columns |= type->price_columns != NULL;
        }
    }
    return n_jobs;
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
    KN_TRY(kn_pool_run(pool, list_jobs(&w), measure_job, &w, err));
    KN_TRY(price_whole(&w, pool, err));
    KN_TRY(mix(&w, err));
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
