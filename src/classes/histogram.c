/* Two ways to count (group, value) pairs: a dense matrix when it is not much larger than what is counted, otherwise
 * group by group. Both give the same lists. */
#include "classes/histogram.h"

#include "base/bits.h"
#include "classes/gather.h"

#include <stdlib.h>

/* --- A matrix ---------------------------------------------------------------------------------------------------- */

static bool is_dense(uint32_t n_groups, uint32_t n_values, uint64_t n_items)
{
    return (uint64_t)n_groups * n_values <= 2 * n_items + 65536;
}

/* [group * n_values + value] to lists. */
static kn_status list_matrix(kn_histograms *out, const uint64_t *matrix, uint32_t n_values, uint32_t n_groups,
                             kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_entries = 0;
    for (size_t i = 0; i < (size_t)n_groups * n_values; i++) n_entries += matrix[i] != 0;
    KN_ROOM(out->start, (size_t)n_groups + 1);
    KN_ROOM(out->values, n_entries);
    KN_ROOM(out->counts, n_entries);
    n_entries = 0;
    for (uint32_t g = 0; g < n_groups; g++) {
        out->start[g] = n_entries;
        for (uint32_t v = 0; v < n_values; v++) {
            uint64_t count = matrix[(size_t)g * n_values + v];
            if (count == 0) continue;
            out->values[n_entries] = v;
            out->counts[n_entries++] = count;
        }
    }
    out->start[n_groups] = n_entries;
done:
    return status;
}

static kn_status count_densely(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                               uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_values = column->n_values;
    uint64_t *matrix = NULL;
    KN_NEW(matrix, (size_t)n_groups * n_values);
    for (uint32_t row = 0; row < n_rows; row++)
        if (group_of[row] != KN_NONE)
            matrix[(size_t)group_of[row] * n_values + kn_column_value(column, kn_column_code(column, row))] +=
                kn_column_count(column, row);
    KN_TRY(list_matrix(out, matrix, n_values, n_groups, err));
done:
    kn_free(matrix);
    return status;
}

static kn_status join_densely(kn_histograms *out, const kn_histograms *from, uint32_t n_values, const uint32_t *joined,
                              uint32_t n_groups, uint32_t n_joined, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *matrix = NULL;
    KN_NEW(matrix, (size_t)n_joined * n_values);
    for (uint32_t g = 0; g < n_groups; g++) {
        if (joined[g] == KN_NONE) continue;
        uint64_t *sums = matrix + (size_t)joined[g] * n_values;
        for (uint32_t e = from->start[g]; e < from->start[g + 1]; e++) sums[from->values[e]] += from->counts[e];
    }
    KN_TRY(list_matrix(out, matrix, n_values, n_joined, err));
done:
    kn_free(matrix);
    return status;
}

/* --- Groups with histograms, or records that stand for several rows ---------------------------------------------- */

/* Moves what was added up out of `sum`, ascending by value; `touched` are the values that have something there. */
static uint32_t take_sums(uint32_t *values, uint64_t *counts, uint64_t *sum, uint32_t n_values, uint32_t *touched,
                          uint32_t n_touched)
{
    uint32_t n = 0;
    bool few = n_touched < n_values / 16;
    if (few) qsort(touched, n_touched, sizeof *touched, kn_compare_u32);
    for (uint32_t i = 0; i < (few ? n_touched : n_values); i++) {
        uint32_t value = few ? touched[i] : i;
        if (sum[value] == 0) continue;
        values[n] = value;
        counts[n++] = sum[value];
        sum[value] = 0;
    }
    return n;
}

/* Items are groups with histograms, or (`from` is NULL) rows with the values of a column. */
static kn_status add_up(kn_histograms *out, const kn_histograms *from, const kn_column *column, uint32_t n_values,
                        const uint32_t *group_of, uint32_t n_items, uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *begin = NULL, *members = NULL, *touched = NULL, n_entries = 0;
    uint64_t *sum = NULL;
    KN_TRY(kn_group_members(&begin, &members, group_of, n_items, n_groups, err));
    KN_NEW(sum, n_values);
    KN_NEW_RAW(touched, n_values);
    KN_ROOM(out->start, (size_t)n_groups + 1);
    KN_ROOM(out->values, from != NULL ? from->start[n_items] : begin[n_groups]);
    KN_ROOM(out->counts, from != NULL ? from->start[n_items] : begin[n_groups]);
    for (uint32_t g = 0; g < n_groups; g++) {
        uint32_t n_touched = 0;
        for (uint32_t i = begin[g]; i < begin[g + 1]; i++) {
            uint32_t e = from != NULL ? from->start[members[i]] : 0,
                     end = from != NULL ? from->start[members[i] + 1] : 1;
            for (; e < end; e++) {
                uint32_t value =
                    from != NULL ? from->values[e] : kn_column_value(column, kn_column_code(column, members[i]));
                if (sum[value] == 0) touched[n_touched++] = value;
                sum[value] += from != NULL ? from->counts[e] : kn_column_count(column, members[i]);
            }
        }
        out->start[g] = n_entries;
        n_entries += take_sums(out->values + n_entries, out->counts + n_entries, sum, n_values, touched, n_touched);
    }
    out->start[n_groups] = n_entries;
done:
    kn_free(begin);
    kn_free(members);
    kn_free(sum);
    kn_free(touched);
    return status;
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* The values of every group are sorted where they are, and become lists of those that differ. Ranges of groups are jobs
 * of the pool. */
typedef struct listing {
    const uint32_t *start; /* of the groups in `values` */
    uint32_t *values;
    uint32_t n_groups, n_values;
    kn_histograms *out;
    uint32_t *n_entries; /* [range + 1]: of the ranges before it */
} listing;

enum { N_RANGES = 16, SMALL_GROUP = 32 };

static uint32_t range_begin(const listing *all, size_t range)
{
    return (uint32_t)((uint64_t)all->n_groups * range / N_RANGES);
}

static void sort_few(uint32_t *values, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const uint32_t value = values[i];
        uint32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
}

/* `seen` is zero for every value, before and after. */
static void sort_many(uint32_t *values, uint32_t n, uint32_t *seen, uint32_t *touched, uint32_t n_values)
{
    uint32_t n_touched = 0;
    for (uint32_t i = 0; i < n; i++)
        if (seen[values[i]]++ == 0) touched[n_touched++] = values[i];
    const bool few = n_touched < n_values / 16;
    if (few) qsort(touched, n_touched, sizeof *touched, kn_compare_u32);
    for (uint32_t i = 0; i < (few ? n_touched : n_values); i++) {
        const uint32_t value = few ? touched[i] : i;
        for (; seen[value] > 0; seen[value]--) *values++ = value;
    }
}

static kn_status sort_range(void *context, size_t range, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const listing *all = context;
    uint32_t *seen = NULL, *touched = NULL, n_entries = 0;
    for (uint32_t g = range_begin(all, range); g < range_begin(all, range + 1); g++) {
        uint32_t *values = all->values + all->start[g];
        const uint32_t n = all->start[g + 1] - all->start[g];
        if (n > SMALL_GROUP && seen == NULL) {
            KN_NEW(seen, all->n_values);
            KN_NEW_RAW(touched, all->n_values);
        }
        if (n > SMALL_GROUP) sort_many(values, n, seen, touched, all->n_values);
        else sort_few(values, n);
        for (uint32_t i = 0; i < n; i++) n_entries += i == 0 || values[i] != values[i - 1];
    }
    all->n_entries[range + 1] = n_entries;
done:
    kn_free(seen);
    kn_free(touched);
    return status;
}

static kn_status list_range(void *context, size_t range, unsigned worker, kn_error *err)
{
    const listing *all = context;
    uint32_t entry = all->n_entries[range];
    for (uint32_t g = range_begin(all, range); g < range_begin(all, range + 1); g++) {
        all->out->start[g] = entry;
        for (uint32_t i = all->start[g], next; i < all->start[g + 1]; i = next) {
            for (next = i + 1; next < all->start[g + 1] && all->values[next] == all->values[i];) next++;
            all->out->values[entry] = all->values[i];
            all->out->counts[entry++] = next - i;
        }
    }
    return KN_OK;
}

static kn_status list_rows(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                           uint32_t n_groups, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *start = NULL, *values = NULL, n_entries[N_RANGES + 1] = {0};
    const kn_group_column codes = {column->codes, column->code_bytes, column->spelling_value, column->n_values};
    KN_TRY(kn_gather(&start, &values, group_of, n_rows, n_groups, &codes, pool, err));
    listing all = {start, values, n_groups, column->n_values, out, n_entries};
    KN_TRY(kn_pool_run(pool, N_RANGES, sort_range, &all, err));
    for (int range = 0; range < N_RANGES; range++) n_entries[range + 1] += n_entries[range];
    KN_ROOM(out->start, (size_t)n_groups + 1);
    KN_ROOM(out->values, n_entries[N_RANGES]);
    KN_ROOM(out->counts, n_entries[N_RANGES]);
    out->start[n_groups] = n_entries[N_RANGES];
    KN_TRY(kn_pool_run(pool, N_RANGES, list_range, &all, err));
done:
    kn_free(start);
    kn_free(values);
    return status;
}

kn_status kn_histograms_count_on(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                                 uint32_t n_groups, kn_pool *pool, kn_error *err)
{
    if (is_dense(n_groups, column->n_values, n_rows))
        return count_densely(out, column, group_of, n_rows, n_groups, err);
    if (column->counts != NULL) return add_up(out, NULL, column, column->n_values, group_of, n_rows, n_groups, err);
    return list_rows(out, column, group_of, n_rows, n_groups, pool, err);
}

kn_status kn_histograms_count(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                              uint32_t n_groups, kn_error *err)
{
    return kn_histograms_count_on(out, column, group_of, n_rows, n_groups, NULL, err);
}

kn_status kn_histograms_join(kn_histograms *out, const kn_histograms *from, uint32_t n_values, const uint32_t *joined,
                             uint32_t n_groups, uint32_t n_joined, kn_error *err)
{
    if (is_dense(n_joined, n_values, from->start[n_groups]))
        return join_densely(out, from, n_values, joined, n_groups, n_joined, err);
    return add_up(out, from, NULL, n_values, joined, n_groups, n_joined, err);
}

void kn_histograms_clear(kn_histograms *histograms)
{
    kn_free(histograms->start);
    kn_free(histograms->values);
    kn_free(histograms->counts);
    *histograms = (kn_histograms){0};
}

void kn_histograms_free(kn_histograms *histograms, uint32_t n)
{
    for (uint32_t i = 0; histograms != NULL && i < n; i++) kn_histograms_clear(&histograms[i]);
    kn_free(histograms);
}
