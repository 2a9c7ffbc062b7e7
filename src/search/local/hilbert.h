/* The Hilbert order of the tuples: what `hilbert` groups along, and how `sequential` cuts large tables into blocks. */
#ifndef KN_SEARCH_LOCAL_HILBERT_H
#define KN_SEARCH_LOCAL_HILBERT_H

#include "engine/closure/closure.h"

enum { KN_HILBERT_COLUMNS = 60 }; /* more columns: the ones with the most values take part */

/* Index of a point on the curve through [0, 2^n_bits - 1]^n: word i of `key` holds the n bits of level i, the most
 * significant level first. `n` at most KN_HILBERT_COLUMNS. */
void kn_hilbert_key(uint64_t *key, const uint32_t *point, uint32_t n, uint32_t n_bits);
/* Coordinates: the codes as they are; stretched to one range; or, stretched, the values of numbers and dates. */
typedef enum kn_hilbert_scale { KN_HILBERT_CODES, KN_HILBERT_RANKS, KN_HILBERT_VALUES } kn_hilbert_scale;
/* *order (yours to kn_free) lists the tuples along the curve. */
kn_status kn_hilbert_order(uint32_t **order, const kn_tuples *tuples, kn_hilbert_scale scale, kn_pool *pool,
                           kn_ticker *ticker, kn_error *err);
/* sequence[items->n]: the items, which stand by tuple, in that order. */
kn_status kn_hilbert_sequence(uint32_t *sequence, const kn_items *items, kn_hilbert_scale scale, const kn_task *task,
                              kn_error *err);

#endif
