// clang-format off
/* Join one closure with thousands: what makes searches that compare everything with everything bearable.
 *
 * Slots (classes or single items) lie lane by lane in 16-bit integers, so that one closure is joined with all of them
 * by vector instructions. Prices are rounded to integers, the whole table's root at most 60,000.
 *
 *   TREE    one lane per level below the root: the slot's node at that level, or none. For a query with ancestors
 *           a0, a1, ... the price of the join is price(a0) plus, for each level, price(a[l+1]) - price(a[l]) where the slot is
 *           not inside a[l]. That is exact for every measure.
 *   RANGES  first and last value; the price is taken as linear in the width, which is exact for LM. With a grid: the ends
 *           of their grid cells, and the values themselves, which tell a single one.
 *   SETS    a bit per value, 16 to a lane; the price is taken as linear in the number of values. Beyond 1,024 values
 *           several share a bit. Of a collection of subsets the slot's member, and a table of its joins with the query:
 *           exact for every measure.
 *
 * Where the measure is a sum over rows and columns that looks at a sensitive value (PMI), value_scan.h prices the joins.
 *
 * So a scan proposes; whoever acts on it takes the true price from kn_growing. Vector code is chosen at run time; it is
 * the compiler's translation of the scalar code and gives the same integers. */
// clang-format on
#ifndef KN_ENGINE_CLOSURE_CLOSURE_SCAN_H
#define KN_ENGINE_CLOSURE_CLOSURE_SCAN_H

#include "engine/closure/closure.h"

typedef struct kn_scan kn_scan;

/* `max_rows`: rows of a slot or query beyond which they need not be told apart. Starts with n_slots closed slots. */
kn_status kn_scan_new(kn_scan **out, const kn_pricer *pricer, const kn_items *items, uint32_t n_slots,
                      uint64_t max_rows, kn_error *err);
void kn_scan_free(kn_scan *scan);
void kn_scan_use_vectors(kn_scan *scan, bool yes); /* tests: no */

/* A closure being built, and its joins with all slots. One thread's own; scans of several threads share the slots. */
typedef struct kn_probe kn_probe;

kn_status kn_probe_new(kn_probe **out, const kn_scan *scan, kn_error *err);
void kn_probe_free(kn_probe *probe);
void kn_probe_clear(kn_probe *probe);
void kn_probe_add(kn_probe *probe, const kn_items *items, uint32_t item);
/* The closure of a class, whose spans are given, as a probe; false: there are SETS columns, and the items must be added
 * one by one. Where joins are priced by sensitive values, those of its items must be added in any case. */
bool kn_probe_load(kn_probe *probe, const kn_span *spans, uint64_t n_rows);
bool kn_probe_needs_values(const kn_probe *probe);
void kn_probe_add_values(kn_probe *probe, const kn_items *items, uint32_t item);
/* Makes the probe's closure and rows (at least one tuple) the slot's, and opens it. */
void kn_scan_store(kn_scan *scan, uint32_t slot, kn_probe *probe);
void kn_scan_close(kn_scan *scan, uint32_t slot); /* out of every further scan, until stored again */
void kn_scan_copy(kn_scan *scan, uint32_t to, uint32_t from);
/* What the probe's rows pay as a class of their own: the distance of two classes is a join less this. */
int32_t kn_probe_cost(kn_probe *probe);
/* For every open slot among the first n: what uniting it with the probe costs more than leaving it,
 * rows * price(united) + probe's rows * price(united) - rows * price(slot). INT32_MAX for closed slots. Returns the
 * array, n entries; the caller may change it, the next call overwrites it. Slots from n on must be closed. */
int32_t *kn_probe_join(kn_probe *probe, const kn_scan *scan, uint32_t n);
/* The same for slots `begin` (rounded down to a multiple of 32) to n - 1; other entries of the array mean nothing. */
int32_t *kn_probe_join_from(kn_probe *probe, const kn_scan *scan, uint32_t begin, uint32_t n);
/* The slot with the least entry of the last join, the first of equals; KN_NONE: all are closed. A slot that is struck
 * out of the join is no longer found. */
uint32_t kn_probe_least(const kn_probe *probe);
void kn_probe_strike(kn_probe *probe, uint32_t slot);
/* First index of the least of n > 0 values. */
uint32_t kn_least(const int32_t *values, uint32_t n);

#endif
