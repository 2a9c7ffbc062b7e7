/* What a class tells about the sensitive value of the persons in it.
 *
 * n_certain: persons in homogeneous classes (the attack that l-diversity answers). Shifts: how far belief moves from
 * the table's distribution to the class's (the attack that t-closeness answers): the largest difference in one value's
 * share, and the total variation distance averaged over persons. And the classes that fall to the attacks of [SV] 5.
 * One pass over the histograms. */
#include "risk/risk.h"

#include <assert.h>
#include <math.h>

typedef struct shifts {
    const kn_sensitive *column;
    double n_rows;
    double total, weight; /* of the distances */
    double *distance;     /* per class, where somebody may be in several: NULL otherwise */
    bool *certain;        /* ... */
    kn_disclosure *out;
} shifts;

/* All values of the class stand below one node that is not the root, or within a tenth of the column's range. */
static bool are_similar(const kn_sensitive *column, kn_histogram histogram)
{
    const kn_column *values = column->column;
    uint32_t first = histogram.values[0], last = histogram.values[histogram.n - 1];
    if (column->tree != NULL) {
        uint32_t low = KN_NONE, high = 0;
        for (uint32_t i = 0; i < histogram.n; i++) {
            uint32_t leaf = column->leaf_of_value[histogram.values[i]];
            low = leaf < low ? leaf : low;
            high = leaf > high ? leaf : high;
        }
        for (uint32_t level = 0; level + 1 < column->tree->n_levels; level++)
            if (column->tree->at_level[level][low] == column->tree->at_level[level][high])
                return column->tree->at_level[level][low] != column->tree->root;
        return false;
    }
    if (values == NULL || values->number == NULL) return false;
    uint32_t n_numbers = values->n_values - values->has_missing;
    return 10 * (values->number[last] - values->number[first]) <= values->number[n_numbers - 1] - values->number[0];
}

static void attacks_add(shifts *sum, kn_histogram histogram)
{
    const kn_sensitive *column = sum->column;
    bool has_missing = column->column != NULL && column->column->has_missing &&
                       histogram.values[histogram.n - 1] == column->n_values - 1;
    sum->out->n_classes++;
    if (has_missing) return;
    sum->out->n_one_value += histogram.n == 1;
    sum->out->n_two_values += histogram.n == 2;
    sum->out->n_similar += histogram.n > 1 && are_similar(column, histogram);
}

/* One class: its histogram, its rows and its persons. */
static void class_add(shifts *sum, uint32_t class_index, kn_histogram histogram, uint64_t n_persons)
{
    double n = 0, seen = 0, distance = 0;
    for (uint32_t i = 0; i < histogram.n; i++) n += (double)histogram.counts[i];
    if (n == 0) return;
    attacks_add(sum, histogram);
    for (uint32_t i = 0; i < histogram.n; i++) {
        double share = (double)histogram.counts[i] / n;
        double usual = (double)sum->column->value_rows[histogram.values[i]] / sum->n_rows;
        sum->out->largest_shift = fmax(sum->out->largest_shift, fabs(share - usual));
        distance += fabs(share - usual);
        seen += usual;
    }
    distance += fmax(0, 1 - seen); /* the values that the class does not have */
    sum->total += distance / 2 * (double)n_persons;
    sum->weight += (double)n_persons;
    bool is_missing = sum->column->column != NULL && sum->column->column->has_missing &&
                      histogram.values[0] == sum->column->n_values - 1;
    bool is_certain = histogram.n == 1 && !is_missing;
    if (is_certain) sum->out->n_certain += n_persons;
    if (sum->distance == NULL) return;
    sum->distance[class_index] = distance / 2;
    sum->certain[class_index] = is_certain;
}

/* A value that no row of a class has is a shift too: by its whole share. The largest such share over all classes. */
static void absent_add(shifts *sum, kn_histogram histogram, const uint32_t *by_share)
{
    if (histogram.n == 0) return;
    for (uint32_t i = 0; i < sum->column->n_values; i++) {
        uint32_t value = by_share[i], low = 0, high = histogram.n;
        double usual = (double)sum->column->value_rows[value] / sum->n_rows;
        if (usual <= sum->out->largest_shift) return;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (histogram.values[middle] < value) low = middle + 1;
            else high = middle;
        }
        if (low == histogram.n || histogram.values[low] != value) {
            sum->out->largest_shift = usual;
            return;
        }
    }
}

/* Values of a sensitive column, the most frequent first. */
static kn_status values_by_share(uint32_t **out, const kn_sensitive *column, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    KN_NEW(order, column->n_values + 1);
    for (uint32_t v = 0; v < column->n_values; v++) order[v] = v;
    for (uint32_t gap = column->n_values / 2; gap > 0; gap /= 2) /* shell sort: a few thousand values at most */
        for (uint32_t i = gap; i < column->n_values; i++)
            for (uint32_t j = i; j >= gap && column->value_rows[order[j - gap]] < column->value_rows[order[j]];
                 j -= gap) {
                uint32_t swap = order[j];
                order[j] = order[j - gap];
                order[j - gap] = swap;
            }
done:
    *out = order;
    return status;
}

static kn_status begin(shifts *sum, const kn_tuples *tuples, const uint32_t *row_class, size_t n_classes, kn_error *err)
{
    kn_status status = KN_OK;
    if (tuples->row_person == NULL || row_class == NULL) goto done;
    KN_NEW(sum->distance, n_classes + 1);
    KN_NEW(sum->certain, n_classes + 1);
done:
    return status;
}

/* Persons count once, with the class that tells most about them. `rest`: the class of rows without one, or KN_NONE. */
static kn_status finish(shifts *sum, const kn_tuples *tuples, const uint32_t *row_class, uint32_t rest, kn_error *err)
{
    kn_status status = KN_OK;
    double *distance = NULL;
    bool *certain = NULL;
    if (sum->weight > 0) sum->out->average_shift = sum->total / sum->weight;
    if (sum->distance == NULL) goto done;
    KN_NEW(distance, (size_t)tuples->n_person_numbers + 1);
    KN_NEW(certain, (size_t)tuples->n_person_numbers + 1);
    for (uint32_t p = 0; p < tuples->n_person_numbers; p++) distance[p] = -1;
    for (uint32_t row = 0; row < tuples->n_records; row++) {
        uint32_t c = row_class[row] != KN_NONE ? row_class[row] : rest, person = tuples->row_person[row];
        for (uint32_t i = 0; c != KN_NONE && i < kn_tuples_persons(tuples, row); i++) {
            distance[person + i] = fmax(distance[person + i], sum->distance[c]);
            certain[person + i] |= sum->certain[c];
        }
    }
    sum->total = sum->weight = 0;
    sum->out->n_certain = 0;
    for (uint32_t p = 0; p < tuples->n_person_numbers; p++) {
        if (distance[p] < 0) continue;
        sum->total += distance[p];
        sum->weight++;
        sum->out->n_certain += certain[p];
    }
    sum->out->average_shift = sum->weight > 0 ? sum->total / sum->weight : 0;
done:
    kn_free(distance);
    kn_free(certain);
    kn_free(sum->distance);
    kn_free(sum->certain);
    sum->distance = NULL;
    sum->certain = NULL;
    return status;
}

kn_status kn_disclosure_of_tuples(kn_disclosure *out, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *by_share = NULL;
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++) {
        const kn_sensitive *column = &tuples->sensitive[s];
        shifts sum = {.column = column, .n_rows = (double)tuples->n_rows, .out = &out[s]};
        out[s] = (kn_disclosure){0};
        assert(column->by_tuple.start != NULL); /* kn_tuples_histograms */
        KN_TRY(values_by_share(&by_share, column, err));
        KN_TRY(begin(&sum, tuples, tuples->row_tuple, tuples->n_tuples, err));
        for (uint32_t t = 0; t < tuples->n_tuples; t++) {
            kn_histogram histogram = kn_histogram_of(&column->by_tuple, t);
            class_add(&sum, t, histogram, tuples->persons[t]);
            absent_add(&sum, histogram, by_share);
        }
        KN_TRY(finish(&sum, tuples, tuples->row_tuple, KN_NONE, err));
        kn_free(by_share);
        by_share = NULL;
    }
done:
    kn_free(by_share);
    return status;
}

kn_status kn_disclosure_of_release(kn_disclosure *out, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    uint32_t *by_share = NULL;
    kn_histogram *buffer = NULL;
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++) out[s] = (kn_disclosure){0};
    if (release->histograms == NULL) return KN_OK;
    KN_NEW(buffer, tuples->n_sensitive + 1);
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++) {
        const kn_sensitive *column = &tuples->sensitive[s];
        shifts sum = {.column = column, .n_rows = (double)tuples->n_rows, .out = &out[s]};
        KN_TRY(values_by_share(&by_share, column, err));
        bool some_kept = release->n_suppressed > release->n_removed;
        uint32_t n_all = release->n_classes + some_kept, rest = some_kept ? release->n_classes : KN_NONE;
        KN_TRY(begin(&sum, tuples, release->row_class, n_all, err));
        for (uint32_t c = 0; c < n_all; c++) {
            kn_class_counts counts = kn_release_class(release, c, buffer);
            class_add(&sum, c, counts.sensitive[s], counts.n_persons);
            absent_add(&sum, counts.sensitive[s], by_share);
        }
        KN_TRY(finish(&sum, tuples, release->row_class, rest, err));
        kn_free(by_share);
        by_share = NULL;
    }
done:
    kn_free(by_share);
    kn_free(buffer);
    return status;
}
