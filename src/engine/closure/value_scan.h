// clang-format off
/* Join one class with thousands where a row's price depends on its sensitive value: what closure_scan.h does for prices
 * of cells, for measures that are a sum over rows and columns (kn_measure.price_row: PMI, weighted MI).
 *
 * A class A that is released with node x in column q pays g(x) = sum over its sensitive values of count * price(x, value).
 * A slot has one lane per column and level below the root: its node there, or none, and its step g(node above) - g(node).
 * United, two classes rise to their lowest common node, so each pays its steps on the levels where their nodes differ:
 *
 *   cost(A u B) - cost(A) - cost(B) = sum over the lanes with different nodes of step(A) + step(B)
 *
 * which is exact, up to the rounding of floats, for any number of sensitive values. RANGES: first and last value, and
 * what the class pays more per doubling of its width on the way to the whole domain: an interpolation, which proposes. */
// clang-format on
#ifndef KN_ENGINE_CLOSURE_VALUE_SCAN_H
#define KN_ENGINE_CLOSURE_VALUE_SCAN_H

#include "engine/closure/closure.h"

#if defined(__x86_64__)
#define KN_WITH_AVX2 __attribute__((target("avx2")))
#else
#define KN_WITH_AVX2
#endif

enum { KN_VALUE_SCAN_BLOCK = 1024 };

typedef struct kn_value_scan kn_value_scan;

/* The objective is such a measure, the items have histograms, and no column is a set of values. */
bool kn_value_scan_can_price(const kn_objective *objective, const kn_items *items);
/* No column has to be interpolated. */
bool kn_value_scan_is_exact(const kn_objective *objective, const kn_items *items);

/* A class by its lanes. One thread's own. */
typedef struct kn_value_probe {
    uint32_t *nodes; /* [lane] */
    float *steps;    /* [lane] */
    float *ranges;   /* [RANGES column * N_FIELDS + field], see value_scan.c */
    float cost;      /* of the class */
} kn_value_probe;

kn_status kn_value_scan_new(kn_value_scan **out, const kn_objective *objective, uint32_t n_slots, uint64_t max_rows,
                            kn_error *err);
void kn_value_scan_free(kn_value_scan *scan);
kn_status kn_value_probe_init(kn_value_probe *probe, const kn_value_scan *scan, kn_error *err);
void kn_value_probe_free(kn_value_probe *probe); /* what it holds */
/* The class with these first and last codes per column and this histogram of the objective's column. */
void kn_value_probe_load(kn_value_probe *probe, const kn_value_scan *scan, const uint32_t *first, const uint32_t *last,
                         const kn_histogram *histogram);
int32_t kn_value_probe_cost(const kn_value_probe *probe, const kn_value_scan *scan);
void kn_value_scan_store(kn_value_scan *scan, uint32_t slot, const kn_value_probe *probe);
void kn_value_scan_copy(kn_value_scan *scan, uint32_t to, uint32_t from);
/* deltas[i] = cost(slot begin + i united with the probe) - cost(slot), or closed[i] where that is not 0; n a multiple
 * of 32 up to KN_VALUE_SCAN_BLOCK. Returns the least. */
int32_t kn_value_scan_join(const kn_value_scan *scan, const kn_value_probe *probe, uint32_t begin, uint32_t n,
                           const int32_t *closed, int32_t *deltas, bool vectors);

#endif
