/* Vectors of a few numbers, one set of types for the whole tree, and what this processor can do with them. They are
 * GCC's vector extensions: the compiler makes them of what it is told the processor has, or of plain numbers. All may
 * alias what they are laid over, but kn_lanes16_u16: it aliases numbers of its own size only, so that a loop over such
 * vectors need not read its bounds again after each store. */
#ifndef KN_BASE_LANES_H
#define KN_BASE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define KN_INLINE static inline __attribute__((always_inline))

typedef uint8_t kn_lanes16_u8 __attribute__((vector_size(16), may_alias));
typedef uint16_t kn_lanes8_u16 __attribute__((vector_size(16), may_alias));
typedef uint32_t kn_lanes4 __attribute__((vector_size(16), may_alias));
typedef uint32_t kn_lanes4_loose __attribute__((vector_size(16), aligned(4), may_alias)); /* in any array of words */
typedef int32_t kn_lanes4_i32 __attribute__((vector_size(16), may_alias));
typedef uint64_t kn_lanes2_u64 __attribute__((vector_size(16), may_alias));
typedef uint64_t kn_lanes4_u64 __attribute__((vector_size(32), may_alias));
typedef uint16_t kn_lanes16_u16 __attribute__((vector_size(32)));
typedef double kn_lanes4_f64 __attribute__((vector_size(32), may_alias));

KN_INLINE bool kn_any_lane(kn_lanes4 x) { return (((kn_lanes2_u64)x)[0] | ((kn_lanes2_u64)x)[1]) != 0; }

KN_INLINE kn_lanes4 kn_lesser(kn_lanes4 a, kn_lanes4 b)
{
    kn_lanes4 less = (kn_lanes4)(a < b);
    return (a & less) | (b & ~less);
}

/* May code run here that is compiled for AVX2 and the bit instructions that came with it (BMI, BMI2, POPCNT)? */
static inline bool kn_has_avx2(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

#endif
