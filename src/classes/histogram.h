/* Histograms over groups of rows, as (value, count) lists. */
#ifndef KN_CLASSES_HISTOGRAM_H
#define KN_CLASSES_HISTOGRAM_H

#include "base/pool.h"
#include "table/table.h"

/* The distinct values of one group with their rows, ascending by value. */
typedef struct kn_histogram {
    uint32_t n;
    const uint32_t *values;
    const uint64_t *counts;
} kn_histogram;

/* Those of many groups: group g has the entries start[g] .. start[g+1]-1. Zero-initialise it; reuse keeps the memory.
 */
typedef struct kn_histograms {
    uint32_t *start, *values;
    uint64_t *counts;
} kn_histograms;

static inline kn_histogram kn_histogram_of(const kn_histograms *all, uint32_t group)
{
    const uint32_t begin = all->start[group];
    return (kn_histogram){all->start[group + 1] - begin, all->values + begin, all->counts + begin};
}

/* Of a column of the table; rows whose group is KN_NONE are left out. */
kn_status kn_histograms_count(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                              uint32_t n_groups, kn_error *err);
kn_status kn_histograms_count_on(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                                 uint32_t n_groups, kn_pool *pool, kn_error *err); /* on the threads of the pool */
/* Of groups of groups: those that `joined` puts together (KN_NONE: none) as one, `n_joined` of them. */
kn_status kn_histograms_join(kn_histograms *out, const kn_histograms *from, uint32_t n_values, const uint32_t *joined,
                             uint32_t n_groups, uint32_t n_joined, kn_error *err);
void kn_histograms_clear(kn_histograms *histograms);            /* what it holds, not the struct */
void kn_histograms_free(kn_histograms *histograms, uint32_t n); /* an array of n of them; NULL is fine */

#endif
