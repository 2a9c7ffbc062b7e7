/* Numbers of bits. */
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

#endif
