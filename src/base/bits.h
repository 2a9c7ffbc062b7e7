/* Numbers of bits, and the order of numbers. */
#ifndef KN_BASE_BITS_H
#define KN_BASE_BITS_H

#include <stdint.h>

/* How many bits tell n values apart. */
static inline uint32_t kn_bits_for(uint64_t n)
{
    uint32_t n_bits = 0;
    while (n_bits < 64 && (UINT64_C(1) << n_bits) < n) n_bits++;
    return n_bits;
}

/* Ascending, for qsort of uint32_t or of structs that begin with one. */
static inline int kn_compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

#endif
