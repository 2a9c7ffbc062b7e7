/* Prosecutor, journalist and marketer risk from class sizes.
 *
 * In: the number of persons of every class, and how large the class is in the population where that is known.
 * Out: highest, average and lowest risk over persons, persons above the threshold, uniques, a histogram of sizes.
 *
 * El Emam, Guide to the De-Identification of Personal Health Information (2013), chapters 16 and 17:
 *   prosecutor  1/f for each person; the average is classes / persons
 *   journalist  highest 1/min F; average max(classes / sum F, sum (f/F) / n), the larger of two attacks
 *   marketer    expected share of right links when everybody is linked: sum (f/F) / n
 * with f the size in the table and F in the population. Where somebody is in several classes, f and F are those of the
 * smallest one, and sums go over persons. O(classes + persons). */
#include "risk/risk.h"

#include <math.h>

uint64_t kn_risk_smallest_accepted(double threshold)
{
    /* 0.09 is the usual way to write 1/11 = 0.0909...: a threshold is read as the class size it asks for. */
    if (!(threshold > 0)) return UINT64_MAX;
    if (threshold >= 1) return 1;
    return (uint64_t)floor(1 / threshold + 1e-9);
}

/* 1, 2, .. 10, then 11-20, 21-50, 51-100, 101-200, ... */
static void bin_bounds(uint64_t *from, uint64_t *to, uint64_t size)
{
    *from = *to = size;
    if (size <= 10) return;
    for (uint64_t decade = 10;; decade *= 10) {
        const uint64_t steps[] = {1, 2, 5, 10};
        for (int i = 0; i < 3; i++)
            if (size <= decade * steps[i + 1]) {
                *from = decade * steps[i] + 1;
                *to = decade * steps[i + 1];
                return;
            }
    }
}

static void bin_add(kn_risk_sizes *risk, uint64_t size, uint64_t n_classes, uint64_t n_persons)
{
    uint64_t from, to;
    bin_bounds(&from, &to, size);
    size_t at = risk->n_bins;
    while (at > 0 && risk->bins[at - 1].from >= from) at--;
    if (at == risk->n_bins || risk->bins[at].from != from) {
        for (size_t i = risk->n_bins; i > at; i--) risk->bins[i] = risk->bins[i - 1];
        risk->bins[at] = (kn_size_bin){from, to, 0, 0};
        risk->n_bins++;
    }
    risk->bins[at].n_classes += n_classes;
    risk->bins[at].n_persons += n_persons;
}

/* `n_persons` whose smallest class is of this size. */
typedef struct hits {
    double table, population; /* sums over persons of 1/f and 1/F */
    double least_population, most_population;
    uint64_t largest;
} hits;

static void persons_add(kn_risk_sizes *out, hits *sum, uint64_t size, double population, uint64_t n_persons)
{
    out->n_persons += n_persons;
    if (size == 1) out->n_unique += n_persons;
    if (size < kn_risk_smallest_accepted(out->threshold)) out->n_above += n_persons;
    sum->table += (double)n_persons / (double)size;
    sum->population += (double)n_persons / population;
    sum->least_population = fmin(sum->least_population, population);
    sum->most_population = fmax(sum->most_population, population);
    if (size > sum->largest) sum->largest = size;
    bin_add(out, size, 0, n_persons);
}

void kn_risk_sizes_count(kn_risk_sizes *out, const kn_risk_classes *classes, const uint64_t *populations,
                         double fraction, double threshold)
{
    hits sum = {.least_population = INFINITY};
    double sum_population = 0;
    *out = (kn_risk_sizes){.threshold = threshold};
    for (size_t c = 0; c < classes->n_classes; c++) {
        uint64_t size = classes->sizes[c];
        if (size == 0) continue;
        double population = populations != NULL ? (double)populations[c] : (double)size / fraction;
        out->n_classes++;
        if (out->smallest == 0 || size < out->smallest) out->smallest = size;
        if (size > out->largest) out->largest = size;
        sum_population += population;
        bin_add(out, size, 1, 0);
        if (classes->person_class == NULL) persons_add(out, &sum, size, population, size);
    }
    for (size_t p = 0; classes->person_class != NULL && p < classes->n_persons; p++) {
        uint32_t c = classes->person_class[p];
        if (c == KN_NONE) continue;
        uint64_t size = classes->sizes[c];
        persons_add(out, &sum, size, populations != NULL ? (double)populations[c] : (double)size / fraction, 1);
    }
    if (out->n_persons == 0) return;
    double n = (double)out->n_persons;
    out->prosecutor = (kn_risk_range){1 / (double)out->smallest, sum.table / n, 1 / (double)sum.largest};
    out->marketer = sum.population / n;
    out->journalist =
        (kn_risk_range){1 / sum.least_population, fmax((double)out->n_classes / sum_population, out->marketer),
                        1 / sum.most_population};
}

/* --- Who stands where ----------------------------------------------------------------------------------------------
 */

/* `row_class`: KN_NONE for rows in class `rest`, which may be KN_NONE too: they are not there. */
static kn_status find_person_classes(kn_risk_classes *out, const kn_tuples *tuples, const uint32_t *row_class,
                                     uint32_t rest, kn_error *err)
{
    kn_status status = KN_OK;
    if (tuples->row_person == NULL || row_class == NULL) goto done;
    KN_NEW_RAW(out->own_person_class, (size_t)tuples->n_person_numbers + 1);
    for (uint32_t p = 0; p < tuples->n_person_numbers; p++) out->own_person_class[p] = KN_NONE;
    for (uint32_t row = 0; row < tuples->n_records; row++) {
        uint32_t c = row_class[row] != KN_NONE ? row_class[row] : rest;
        uint32_t *best = &out->own_person_class[tuples->row_person[row]];
        for (uint32_t i = 0; c != KN_NONE && i < kn_tuples_persons(tuples, row); i++)
            if (best[i] == KN_NONE || out->sizes[c] < out->sizes[best[i]]) best[i] = c;
    }
    out->person_class = out->own_person_class;
    out->n_persons = tuples->n_person_numbers;
done:
    return status;
}

kn_status kn_risk_classes_of_tuples(kn_risk_classes *out, const kn_tuples *tuples, kn_error *err)
{
    *out = (kn_risk_classes){.sizes = tuples->persons, .n_classes = tuples->n_tuples};
    return find_person_classes(out, tuples, tuples->row_tuple, KN_NONE, err);
}

kn_status kn_risk_classes_of_release(kn_risk_classes *out, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_classes = kn_release_seen_classes(release);
    const bool some_kept = release->n_suppressed > release->n_removed;
    const uint32_t rest = release->suppressed_joined ? release->joined_class : release->n_classes;
    *out = (kn_risk_classes){.n_classes = n_classes};
    KN_NEW(out->own_sizes, (size_t)n_classes + 1);
    for (uint32_t c = 0; c < n_classes; c++) out->own_sizes[c] = kn_release_seen_persons(release, c);
    out->sizes = out->own_sizes;
    KN_TRY(find_person_classes(out, release->tuples, release->row_class, some_kept ? rest : KN_NONE, err));
done:
    if (status != KN_OK) kn_risk_classes_free(out);
    return status;
}

void kn_risk_classes_free(kn_risk_classes *classes)
{
    kn_free(classes->own_sizes);
    kn_free(classes->own_person_class);
    *classes = (kn_risk_classes){0};
}
