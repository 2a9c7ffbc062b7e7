/* Random numbers from a seed: xoshiro256** (Blackman and Vigna), seeded by splitmix64. Jobs that may run on any
 * thread take their own stream, numbered by the job, so results do not depend on the number of threads. */
#ifndef KN_BASE_RNG_H
#define KN_BASE_RNG_H

#include <stdint.h>

typedef struct kn_rng {
    uint64_t state[4];
} kn_rng;

static inline kn_rng kn_rng_new(uint64_t seed, uint64_t stream)
{
    kn_rng rng;
    uint64_t x = seed ^ (stream * 0xd1b54a32d192ed03u);
    for (int i = 0; i < 4; i++) {
        uint64_t z = (x += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        rng.state[i] = z ^ (z >> 31);
    }
    return rng;
}

static inline uint64_t kn_rng_next(kn_rng *rng)
{
    uint64_t *s = rng->state, x = s[1] * 5;
    uint64_t result = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* 0 .. n-1; n > 0. The bias of the multiply-shift is below 2^-32 for n < 2^32. */
static inline uint32_t kn_rng_below(kn_rng *rng, uint32_t n)
{
    return (uint32_t)(((kn_rng_next(rng) >> 32) * (uint64_t)n) >> 32);
}

/* [0, 1) */
static inline double kn_rng_unit(kn_rng *rng) { return (double)(kn_rng_next(rng) >> 11) * 0x1p-53; }

#endif
