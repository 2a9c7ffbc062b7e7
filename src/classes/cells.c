/* A cell is three integers; a vector of cells is three columns of codes per cell for kn_group. */
#include "classes/cells.h"

enum { ITEMS_PER_JOB = 1 << 15 };

typedef struct transposing {
    const kn_cell *cells;
    const uint32_t *extra;
    uint32_t n_items, n_cells, stride, n_columns;
    uint32_t *fields;  /* [column * n_items + item] */
    uint32_t *largest; /* [job * n_columns + column] */
} transposing;

/* KN_NONE becomes 0, so that codes stay small. */
static kn_status transpose_some(void *context, size_t job, unsigned worker, kn_error *err)
{
    const transposing *t = context;
    const uint32_t begin = (uint32_t)job * ITEMS_PER_JOB, rest = t->n_items - begin;
    uint32_t *largest = t->largest + job * t->n_columns;
    for (uint32_t i = begin; i < begin + (rest < ITEMS_PER_JOB ? rest : ITEMS_PER_JOB); i++) {
        uint32_t *field = t->fields + i;
        for (uint32_t c = 0; c < t->n_columns; c++, field += t->n_items) {
            const kn_cell *cell = &t->cells[(size_t)i * t->stride + c / 3];
            if (c == 3 * t->n_cells) *field = t->extra[i] + 1;
            else *field = c % 3 == 0 ? cell->first : c % 3 == 1 ? cell->last : cell->id + 1;
            if (*field > largest[c]) largest[c] = *field;
        }
    }
    return KN_OK;
}

kn_status kn_cells_group(uint32_t *group_of, uint32_t *n_groups, uint32_t **first_item, const kn_cell *cells,
                         uint32_t n_items, uint32_t n_cells, uint32_t stride, const uint32_t *extra, kn_pool *pool,
                         kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_columns = 3 * n_cells + (extra != NULL);
    const size_t n_jobs = ((size_t)n_items + ITEMS_PER_JOB - 1) / ITEMS_PER_JOB;
    transposing t = {cells, extra, n_items, n_cells, stride, n_columns, NULL, NULL};
    kn_group_column *columns = NULL;
    KN_NEW_RAW(t.fields, (size_t)n_items * n_columns);
    KN_NEW(t.largest, n_jobs * n_columns);
    KN_NEW(columns, n_columns);
    KN_TRY(kn_pool_run(pool, n_jobs, transpose_some, &t, err));
    for (uint32_t c = 0; c < n_columns; c++) {
        uint32_t largest = 0;
        for (size_t job = 0; job < n_jobs; job++)
            if (t.largest[job * n_columns + c] > largest) largest = t.largest[job * n_columns + c];
        columns[c] = (kn_group_column){t.fields + (size_t)c * n_items, 4, NULL, largest + 1};
    }
    KN_TRY(kn_group(group_of, n_groups, first_item, n_items, columns, n_columns, pool, ticker, err));
done:
    kn_free(t.fields);
    kn_free(t.largest);
    kn_free(columns);
    return status;
}
