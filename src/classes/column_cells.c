/* Classes with equal cells of a column are grouped, and their histograms added up. Columns are jobs of the pool.
 *
 * Cost: O(classes + entries of their histograms) per column. */
#include "classes/column_cells.h"

#include "classes/cells.h"

void kn_column_clear(kn_column_cells *room)
{
    kn_histograms_free(room->histograms, room->n_histograms);
    kn_free(room->cells);
    kn_free(room->rows);
    *room = (kn_column_cells){0};
}

void kn_columns_free(kn_column_cells *columns, const kn_release *release)
{
    for (uint32_t q = 0; columns != NULL && q < release->tuples->n_qis; q++) kn_column_clear(&columns[q]);
    kn_free(columns);
}

static kn_status count_histograms(kn_column_cells *out, const kn_release *release, const uint32_t *cell_of,
                                  kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    if (release->histograms == NULL) return KN_OK;
    KN_NEW(out->histograms, tuples->n_sensitive);
    out->n_histograms = tuples->n_sensitive;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        KN_TRY(kn_histograms_join(&out->histograms[s], &release->histograms[s], tuples->sensitive[s].n_values, cell_of,
                                  release->n_classes + 1, out->n, err));
done:
    return status;
}

static kn_status count_column(kn_column_cells *out, const kn_release *release, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    bool suppressed = release->n_suppressed > 0;
    uint32_t n_classes = release->n_classes, n_cells = 0, *cell_of = NULL, *first = NULL;
    KN_NEW_RAW(cell_of, (size_t)n_classes + 1);
    KN_TRY(kn_cells_group(cell_of, &n_cells, &first, release->cells + q, n_classes, 1, tuples->n_qis, NULL, NULL, NULL,
                          err));
    cell_of[n_classes] = suppressed ? n_cells : KN_NONE;
    out->n = n_cells + suppressed;
    KN_NEW(out->cells, out->n);
    KN_NEW(out->rows, out->n);
    for (uint32_t i = 0; i < n_cells; i++) out->cells[i] = release->cells[(size_t)first[i] * tuples->n_qis + q];
    for (uint32_t c = 0; c < n_classes; c++) out->rows[cell_of[c]] += release->class_rows[c];
    if (suppressed) out->cells[n_cells] = kn_domain_root(tuples->domains[q]);
    if (suppressed) out->rows[n_cells] = release->n_suppressed;
    KN_TRY(count_histograms(out, release, cell_of, err));
done:
    kn_free(cell_of);
    kn_free(first);
    return status;
}

typedef struct work {
    const kn_release *release;
    kn_column_cells *columns;
} work;

static kn_status count_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    const work *w = context;
    return count_column(&w->columns[job], w->release, (uint32_t)job, err);
}

kn_status kn_columns_count(kn_column_cells **out, const kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_cells *columns = NULL;
    *out = NULL;
    KN_NEW(columns, release->tuples->n_qis);
    KN_TRY(kn_pool_run(pool, release->tuples->n_qis, count_job, &(work){release, columns}, err));
    *out = columns;
    columns = NULL;
done:
    kn_columns_free(columns, release);
    return status;
}

kn_status kn_column_get(const kn_column_cells **out, kn_column_cells *room, const kn_release *release, uint32_t q,
                        kn_error *err)
{
    *room = (kn_column_cells){0};
    *out = release->columns != NULL ? &release->columns[q] : room;
    return release->columns != NULL ? KN_OK : count_column(room, release, q, err);
}
