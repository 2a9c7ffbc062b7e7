/* Two ways to count (group, value) pairs: a dense matrix when it is not much larger than the table, otherwise sorting
 * the values of each group. Both give the same lists. */
#include "classes/histogram.h"

#include "classes/group.h"

#include <stdlib.h>
#include <string.h>

typedef struct lists {
    uint32_t *start, *values, *counts;
} lists;

static kn_status count_densely(lists *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                               uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_values = column->n_values, n_entries = 0;
    uint32_t *matrix = NULL;
    KN_NEW(matrix, (size_t)n_groups * n_values);
    for (uint32_t row = 0; row < n_rows; row++)
        if (group_of[row] != KN_NONE)
            matrix[(size_t)group_of[row] * n_values + kn_column_value(column, kn_column_code(column, row))]++;
    for (size_t i = 0; i < (size_t)n_groups * n_values; i++) n_entries += matrix[i] != 0;
    KN_NEW_RAW(out->values, n_entries);
    KN_NEW_RAW(out->counts, n_entries);
    n_entries = 0;
    for (uint32_t g = 0; g < n_groups; g++) {
        out->start[g] = n_entries;
        for (uint32_t v = 0; v < n_values; v++) {
            uint32_t count = matrix[(size_t)g * n_values + v];
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

static int compare_values(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static kn_status count_by_sorting(lists *out, const kn_column *column, const uint32_t *group_of, uint32_t n_rows,
                                  uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *begin = NULL, *members = NULL, n_entries = 0;
    KN_TRY(kn_group_members(&begin, &members, group_of, n_rows, n_groups, err));
    for (uint32_t i = 0; i < begin[n_groups]; i++)
        members[i] = kn_column_value(column, kn_column_code(column, members[i]));
    KN_NEW_RAW(out->counts, begin[n_groups]);
    for (uint32_t g = 0; g < n_groups; g++) {
        uint32_t n = begin[g + 1] - begin[g], *values = members + begin[g];
        qsort(values, n, sizeof *values, compare_values);
        out->start[g] = n_entries;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t value = values[i]; /* members doubles as the output: entries never overtake rows */
            if (i != 0 && members[n_entries - 1] == value && n_entries > out->start[g]) {
                out->counts[n_entries - 1]++;
            } else {
                members[n_entries] = value;
                out->counts[n_entries++] = 1;
            }
        }
    }
    out->start[n_groups] = n_entries;
    out->values = members;
    members = NULL;
done:
    kn_free(begin);
    kn_free(members);
    return status;
}

kn_status kn_histograms(uint32_t **start, uint32_t **values, uint32_t **counts, const kn_column *column,
                        const uint32_t *group_of, uint32_t n_rows, uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    lists out = {0};
    *start = *values = *counts = NULL;
    KN_NEW(out.start, (size_t)n_groups + 1);
    if ((uint64_t)n_groups * column->n_values <= 2 * (uint64_t)n_rows + 65536)
        KN_TRY(count_densely(&out, column, group_of, n_rows, n_groups, err));
    else KN_TRY(count_by_sorting(&out, column, group_of, n_rows, n_groups, err));
    *start = out.start;
    *values = out.values;
    *counts = out.counts;
    out = (lists){0};
done:
    kn_free(out.start);
    kn_free(out.values);
    kn_free(out.counts);
    return status;
}

/* Moves what was added up out of `sum`, ascending by value; `touched` are the values that have something there. */
static uint32_t take_sums(uint32_t *values, uint32_t *counts, uint32_t *sum, uint32_t n_values, uint32_t *touched,
                          uint32_t n_touched)
{
    uint32_t n = 0;
    bool few = n_touched < n_values / 16;
    if (few) qsort(touched, n_touched, sizeof *touched, compare_values);
    for (uint32_t i = 0; i < (few ? n_touched : n_values); i++) {
        uint32_t value = few ? touched[i] : i;
        if (sum[value] == 0) continue;
        values[n] = value;
        counts[n++] = sum[value];
        sum[value] = 0;
    }
    return n;
}

kn_status kn_histograms_join(uint32_t **start, uint32_t **values, uint32_t **counts, const uint32_t *from_start,
                             const uint32_t *from_values, const uint32_t *from_counts, uint32_t n_values,
                             const uint32_t *joined, uint32_t n_groups, uint32_t n_joined, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *begin = NULL, *members = NULL, *sum = NULL, *touched = NULL, n_entries = 0;
    lists out = {0};
    *start = *values = *counts = NULL;
    KN_TRY(kn_group_members(&begin, &members, joined, n_groups, n_joined, err));
    KN_NEW(sum, n_values);
    KN_NEW_RAW(touched, n_values);
    KN_NEW_RAW(out.start, (size_t)n_joined + 1);
    KN_NEW_RAW(out.values, from_start[n_groups]);
    KN_NEW_RAW(out.counts, from_start[n_groups]);
    for (uint32_t g = 0; g < n_joined; g++) {
        uint32_t n_touched = 0;
        for (uint32_t i = begin[g]; i < begin[g + 1]; i++)
            for (uint32_t e = from_start[members[i]]; e < from_start[members[i] + 1]; e++) {
                uint32_t value = from_values[e];
                if (sum[value] == 0) touched[n_touched++] = value;
                sum[value] += from_counts[e];
            }
        out.start[g] = n_entries;
        n_entries += take_sums(out.values + n_entries, out.counts + n_entries, sum, n_values, touched, n_touched);
    }
    out.start[n_joined] = n_entries;
    *start = out.start;
    *values = out.values;
    *counts = out.counts;
    out = (lists){0};
done:
    kn_free(begin);
    kn_free(members);
    kn_free(sum);
    kn_free(touched);
    kn_free(out.start);
    kn_free(out.values);
    kn_free(out.counts);
    return status;
}
