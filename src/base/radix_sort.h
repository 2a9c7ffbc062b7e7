/* Sort items by 64-bit keys: stable, linear, on the pool, the same result for any number of threads. */
#ifndef KN_BASE_RADIX_SORT_H
#define KN_BASE_RADIX_SORT_H

#include "base/pool.h"

#include <stdint.h>

/* Sorts keys[0..n-1] ascending by their low `n_bits` bits and items along with them. */
kn_status kn_radix_sort(uint64_t *keys, uint32_t *items, uint32_t n, unsigned n_bits, kn_pool *pool, kn_error *err);

#endif
