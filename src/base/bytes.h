/* Texts as bytes. */
#ifndef KN_BASE_BYTES_H
#define KN_BASE_BYTES_H

#include <string.h>

/* By their bytes, a text before what begins with it. */
static inline int kn_bytes_compare(const char *a, size_t n_a, const char *b, size_t n_b)
{
    int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return order != 0 ? order : (n_a > n_b) - (n_a < n_b);
}

#endif
