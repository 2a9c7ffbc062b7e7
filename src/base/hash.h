/* Hash functions: fast, well mixed, the same on every machine. Not for secrets. */
#ifndef KN_BASE_HASH_H
#define KN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t kn_hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static inline uint64_t kn_hash_combine(uint64_t hash, uint64_t x)
{
    return kn_hash_u64(hash * 0x9e3779b97f4a7c15u + x);
}

static inline uint64_t kn_hash_bytes(const void *data, size_t n_bytes)
{
    const unsigned char *bytes = data;
    uint64_t hash = 0x9e3779b97f4a7c15u ^ n_bytes, word;
    for (; n_bytes >= 8; n_bytes -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    word = 0;
    if (n_bytes != 0) memcpy(&word, bytes, n_bytes); /* an empty text may have no address */
    return kn_hash_u64((hash ^ word) * 0xc4ceb9fe1a85ec53u);
}

#endif
