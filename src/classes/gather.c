/* Counting and scattering, on the threads of the pool, by ranges of groups: every job goes through all items, which is
 * a stream, and looks after those of its own groups.
 *
 * Cost: two passes over the items for every range, and there is one per thread, up to MAX_RANGES. Memory: what it
 * returns. */
#include "classes/gather.h"

#include "table/table.h"

enum { MAX_RANGES = 16 };

typedef struct gathering {
    const kn_group_column *column;
    const uint32_t *group_of;
    uint32_t n_items, n_groups, n_ranges;
    uint32_t *ends; /* [group]: its number of items, then where its next value goes: in the end, where it ends */
    uint32_t *values;
} gathering;

static uint32_t range_begin(const gathering *g, size_t range)
{
    return (uint32_t)((uint64_t)g->n_groups * range / g->n_ranges);
}

static kn_status count_range(void *context, size_t range, unsigned worker, kn_error *err)
{
    const gathering *g = context;
    const uint32_t begin = range_begin(g, range), n = range_begin(g, range + 1) - begin;
    for (uint32_t i = 0; i < g->n_items; i++)
        if (g->group_of[i] - begin < n) g->ends[g->group_of[i]]++; /* KN_NONE is in no range */
    return KN_OK;
}

static inline __attribute__((always_inline)) void fill_range(const gathering *g, uint32_t begin, uint32_t n,
                                                             uint32_t code_bytes)
{
    const kn_column column = {.codes = (void *)g->column->codes, .code_bytes = (uint8_t)code_bytes};
    const uint32_t *map = g->column->map;
    for (uint32_t i = 0; i < g->n_items; i++) {
        if (g->group_of[i] - begin >= n) continue;
        const uint32_t code = kn_column_code(&column, i);
        g->values[g->ends[g->group_of[i]]++] = map != NULL ? map[code] : code;
    }
}

/* A constant width of codes makes it fast. */
static kn_status scatter_range(void *context, size_t range, unsigned worker, kn_error *err)
{
    const gathering *g = context;
    const uint32_t begin = range_begin(g, range), n = range_begin(g, range + 1) - begin;
    switch (g->column->code_bytes) {
    case 1: fill_range(g, begin, n, 1); break;
    case 2: fill_range(g, begin, n, 2); break;
    default: fill_range(g, begin, n, 4); break;
    }
    return KN_OK;
}

kn_status kn_gather(uint32_t **start, uint32_t **values, const uint32_t *group_of, uint32_t n_items, uint32_t n_groups,
                    const kn_group_column *column, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    gathering g = {.column = column, .group_of = group_of, .n_items = n_items, .n_groups = n_groups};
    *start = *values = NULL;
    g.n_ranges = kn_pool_threads(pool) < MAX_RANGES ? kn_pool_threads(pool) : MAX_RANGES;
    KN_NEW(*start, (size_t)n_groups + 1);
    g.ends = *start + 1; /* ends are the starts of the groups behind */
    KN_TRY(kn_pool_run(pool, g.n_ranges, count_range, &g, err));
    uint32_t n_values = 0;
    for (uint32_t i = 0; i < n_groups; i++) {
        const uint32_t n = g.ends[i];
        g.ends[i] = n_values;
        n_values += n;
    }
    KN_NEW_RAW(*values, n_values);
    g.values = *values;
    KN_TRY(kn_pool_run(pool, g.n_ranges, scatter_range, &g, err));
done:
    if (status != KN_OK) {
        kn_free(*start);
        kn_free(*values);
        *start = *values = NULL;
    }
    return status;
}
