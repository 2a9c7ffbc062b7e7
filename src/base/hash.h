/* Hash functions.
 *
 * kn_hash_... are for hash tables. They have a key, drawn anew by every process, so that nobody can write a file whose
 * values all fall into one place of a table and take its square in time. What is made of a table must not depend on
 * the key: groups are numbered in the order of the data, never in that of the slots (test_faults.c looks with two
 * keys).
 *
 * A word is mixed in by one multiplication to 128 bits whose halves are folded, as in wyhash: with an unknown factor
 * there is no difference of two inputs that cancels for every key, as there is for chains of shifts and
 * multiplications by constants.
 *
 * kn_checksum_... are the same for every process and machine: for files that are read again, and for draws. */
#ifndef KN_BASE_HASH_H
#define KN_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Set before main, then never again. The first two are odd: factors; the others are added. */
extern uint64_t kn_hash_key[4];

static inline uint64_t kn_hash_fold(uint64_t x, uint64_t factor)
{
    __extension__ const unsigned __int128 product = (unsigned __int128)x * factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t kn_hash_combine(uint64_t hash, uint64_t x)
{
    return kn_hash_fold(hash ^ x ^ kn_hash_key[2], kn_hash_key[0]);
}

static inline uint64_t kn_hash_u64(uint64_t x)
{
    return kn_hash_fold(kn_hash_fold(x ^ kn_hash_key[2], kn_hash_key[0]) ^ kn_hash_key[3], kn_hash_key[1]);
}

static inline uint64_t kn_hash_bytes(const void *data, size_t n_bytes)
{
    const unsigned char *bytes = data;
    uint64_t hash = n_bytes, word;
    for (; n_bytes >= 8; n_bytes -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        hash = kn_hash_combine(hash, word);
    }
    word = 0;
    if (n_bytes != 0) memcpy(&word, bytes, n_bytes); /* an empty text may have no address */
    return kn_hash_u64(hash ^ word);
}

static inline uint64_t kn_checksum_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static inline uint64_t kn_checksum_combine(uint64_t sum, uint64_t x)
{
    return kn_checksum_u64(sum * 0x9e3779b97f4a7c15u + x);
}

static inline uint64_t kn_checksum_bytes(const void *data, size_t n_bytes)
{
    const unsigned char *bytes = data;
    uint64_t sum = 0x9e3779b97f4a7c15u ^ n_bytes, word;
    for (; n_bytes >= 8; n_bytes -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    word = 0;
    if (n_bytes != 0) memcpy(&word, bytes, n_bytes);
    return kn_checksum_u64((sum ^ word) * 0xc4ceb9fe1a85ec53u);
}

#endif
