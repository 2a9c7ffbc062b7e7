/* Prosecutor, journalist and marketer risk from class sizes.
 *
 * In: the number of persons of every class, and how large the class is in the population where that is known.
 * Out: highest, average and lowest risk over persons, persons above the threshold, uniques, a histogram of sizes.
 *
 * El Emam, Guide to the De-Identification of Personal Health Information (2013), chapters 16 and 17:
 *   prosecutor  1/f for each person; the average is classes / persons
 *   journalist  highest 1/min F; average max(classes / sum F, sum (f/F) / n), the larger of two attacks
 *   marketer    expected share of right links when everybody is linked: sum (f/F) / n
 * with f the size in the table and F in the population. O(classes). */
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

static void bin_add(kn_risk_sizes *risk, uint64_t size)
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
    risk->bins[at].n_classes++;
    risk->bins[at].n_persons += size;
}

void kn_risk_sizes_count(kn_risk_sizes *out, const uint32_t *sizes, const uint64_t *populations, size_t n_classes,
                         double fraction, double threshold)
{
    *out = (kn_risk_sizes){.threshold = threshold};
    uint64_t accepted = kn_risk_smallest_accepted(threshold);
    double sum_population = 0, sum_hits = 0, least_population = INFINITY, most_population = 0;
    for (size_t c = 0; c < n_classes; c++) {
        uint64_t size = sizes[c];
        if (size == 0) continue;
        double population = populations != NULL ? (double)populations[c] : (double)size / fraction;
        out->n_classes++;
        out->n_persons += size;
        out->n_unique += size == 1;
        if (size < accepted) out->n_above += size;
        if (out->smallest == 0 || size < out->smallest) out->smallest = size;
        if (size > out->largest) out->largest = size;
        sum_population += population;
        sum_hits += (double)size / population;
        least_population = fmin(least_population, population);
        most_population = fmax(most_population, population);
        bin_add(out, size);
    }
    if (out->n_classes == 0) return;
    double n = (double)out->n_persons, classes = (double)out->n_classes;
    out->prosecutor = (kn_risk_range){1 / (double)out->smallest, classes / n, 1 / (double)out->largest};
    out->marketer = sum_hits / n;
    out->journalist =
        (kn_risk_range){1 / least_population, fmax(classes / sum_population, out->marketer), 1 / most_population};
}

kn_status kn_risk_release_sizes(uint32_t **out, size_t *n_classes, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *sizes = NULL;
    *out = NULL;
    *n_classes = 0;
    KN_NEW(sizes, (size_t)release->n_classes + 1);
    for (uint32_t c = 0; c < release->n_classes; c++) sizes[c] = release->class_persons[c];
    bool some_kept = release->n_suppressed > release->n_removed; /* they all look alike */
    if (some_kept) sizes[release->n_classes] = release->n_suppressed_persons;
    *n_classes = (size_t)release->n_classes + some_kept;
    *out = sizes;
    sizes = NULL;
done:
    kn_free(sizes);
    return status;
}
