/* Two ways to count (group, value) pairs: a dense matrix when it is not much larger than the table, otherwise group by
 * group, with one number per value. Both give the same lists. */
#include "classes/histogram.h"

#include "base/bits.h"
#include "classes/group.h"

#include <stdlib.h>

static kn_status count_densely(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                               uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_values = column->n_values, n_entries = 0;
    uint64_t *matrix = NULL;
    KN_NEW(matrix, (size_t)n_groups * n_values);
    for (uint32_t row = 0; row < n_rows; row++)
        if (group_of[row] != KN_NONE)
            matrix[(size_t)group_of[row] * n_values + kn_column_value(column, kn_column_code(column, row))] +=
                kn_column_count(column, row);
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
    kn_free(matrix);
    return status;
}

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

kn_status kn_histograms_count(kn_histograms *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                              uint32_t n_groups, kn_error *err)
{
    if ((uint64_t)n_groups * column->n_values <= 2 * (uint64_t)n_rows + 65536)
        return count_densely(out, column, group_of, n_rows, n_groups, err);
    return add_up(out, NULL, column, column->n_values, group_of, n_rows, n_groups, err);
}

kn_status kn_histograms_join(kn_histograms *out, const kn_histograms *from, uint32_t n_values, const uint32_t *joined,
                             uint32_t n_groups, uint32_t n_joined, kn_error *err)
{
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
