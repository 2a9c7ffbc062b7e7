/* Vectors of a few numbers, one set of types for the whole tree. They are GCC's vector extensions: the compiler makes
 * them of what the processor has, or of plain numbers. All may alias what they are laid over. */
#ifndef KN_BASE_LANES_H
#define KN_BASE_LANES_H

#include <stdbool.h>
#include <stdint.h>

#define KN_INLINE static inline __attribute__((always_inline))

typedef uint8_t kn_lanes16_u8 __attribute__((vector_size(16), may_alias));
typedef uint16_t kn_lanes8_u16 __attribute__((vector_size(16), may_alias));
typedef uint32_t kn_lanes4 __attribute__((vector_size(16), may_alias));
typedef uint64_t kn_lanes2_u64 __attribute__((vector_size(16), may_alias));
typedef uint64_t kn_lanes4_u64 __attribute__((vector_size(32), may_alias));
typedef double kn_lanes4_f64 __attribute__((vector_size(32), may_alias));

KN_INLINE bool kn_any_lane(kn_lanes4 x) { return (((kn_lanes2_u64)x)[0] | ((kn_lanes2_u64)x)[1]) != 0; }

KN_INLINE kn_lanes4 kn_lesser(kn_lanes4 a, kn_lanes4 b)
{
    kn_lanes4 less = (kn_lanes4)(a < b);
    return (a & less) | (b & ~less);
}

#endif
