/* What the models of a sensitive column share: finding the column, and comparing with a limit. */
#ifndef KN_PRIVACY_SENSITIVE_H
#define KN_PRIVACY_SENSITIVE_H

#include "privacy/privacy.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define KN_COLUMN_PARAM                                                                                                \
    {                                                                                                                  \
        .name = "column", .type = KN_PARAM_TEXT, .help = "sensitive column; may be left out when there is one"         \
    }

#define KN_JOINT_PARAM                                                                                                 \
    {                                                                                                                  \
        .name = "joint", .type = KN_PARAM_BOOL,                                                                        \
        .help = "for somebody who knows the other sensitive columns: they count as quasi-identifiers here"             \
    }

/* Limits are decimals that the user wrote and values are quotients of counts: 29 of 100 is not above 0.29, whatever the
 * rounding. The slack is far below what one row changes. */
#define KN_SLACK 1e-12
static inline bool kn_at_most(double value, double limit) { return value <= limit + KN_SLACK * (1 + limit); }
static inline bool kn_below(double value, double limit) { return value < limit - KN_SLACK * (1 + limit); }

/* The column that `column=` names, as a number into tuples->sensitive. KN_USAGE when it is none, or when it was left
 * out and there are several. */
kn_status kn_model_column(uint32_t *out, const kn_tuples *tuples, const kn_args *args, kn_error *err);
/* Values that occur. */
uint32_t kn_sensitive_distinct(const kn_sensitive *sensitive);
/* Rows that a class needs at least, as persons: without a person column they are the same, with one a single person may
 * have them all. */
static inline uint64_t kn_persons_of_rows(const kn_tuples *tuples, double n_rows)
{
    return tuples->row_person != NULL || n_rows <= 1 ? 1 : (uint64_t)n_rows;
}

/* --- Lanes ----------------------------------------------------------------------------------------------------- */

/* Eight classes; the KN_LANE_CLASSES of them are two halves. */
typedef uint16_t kn_model_lanes __attribute__((vector_size(16), may_alias));
typedef int32_t kn_model_ints __attribute__((vector_size(16), may_alias));
typedef uint32_t kn_model_uints
    __attribute__((vector_size(16), may_alias)); /* of lanes that are no class: may overflow */
typedef float kn_model_floats __attribute__((vector_size(16), may_alias));

static inline kn_model_lanes kn_lanes_at(const kn_lane_counts *counts, uint32_t column, size_t value, int half)
{
    return ((const kn_model_lanes *)counts->sensitive[column])[2 * value + (size_t)half];
}

/* Halves that anything is asked about. */
static inline int kn_lanes_halves(const kn_lane_counts *counts) { return counts->ask >> 8 != 0 ? 2 : 1; }

static inline kn_model_lanes kn_lanes_all(uint16_t x) { return (kn_model_lanes){x, x, x, x, x, x, x, x}; }
static inline kn_model_floats kn_floats_all(float x) { return (kn_model_floats){x, x, x, x}; }

/* a - b, or 0 where b is larger. */
static inline kn_model_lanes kn_lanes_excess(kn_model_lanes a, kn_model_lanes b)
{
#ifdef __SSE2__
    return (kn_model_lanes)_mm_subs_epu16((__m128i)a, (__m128i)b);
#else
    return (kn_model_lanes)(a > b) & (a - b);
#endif
}

/* a * b / 2^16, rounded down. */
static inline kn_model_lanes kn_lanes_share(kn_model_lanes a, kn_model_lanes b)
{
#ifdef __SSE2__
    return (kn_model_lanes)_mm_mulhi_epu16((__m128i)a, (__m128i)b);
#else
    kn_model_lanes result;
    for (int i = 0; i < 8; i++) result[i] = (uint16_t)((uint32_t)a[i] * b[i] >> 16);
    return result;
#endif
}

/* The larger and the smaller, of numbers below 2^15. */
#ifdef __SSE2__
static inline kn_model_lanes kn_lanes_larger(kn_model_lanes a, kn_model_lanes b)
{
    return (kn_model_lanes)_mm_max_epi16((__m128i)a, (__m128i)b);
}
static inline kn_model_lanes kn_lanes_smaller(kn_model_lanes a, kn_model_lanes b)
{
    return (kn_model_lanes)_mm_min_epi16((__m128i)a, (__m128i)b);
}
#else
static inline kn_model_lanes kn_lanes_larger(kn_model_lanes a, kn_model_lanes b) { return a + kn_lanes_excess(b, a); }
static inline kn_model_lanes kn_lanes_smaller(kn_model_lanes a, kn_model_lanes b) { return a - kn_lanes_excess(a, b); }
#endif

/* Classes 0 to 3 (part 0) or 4 to 7 of a half, wider. */
static inline kn_model_ints kn_lanes_ints(kn_model_lanes lanes, int part)
{
    const kn_model_lanes zero = {0};
    return part == 0 ? (kn_model_ints)__builtin_shufflevector(lanes, zero, 0, 8, 1, 9, 2, 10, 3, 11)
                     : (kn_model_ints)__builtin_shufflevector(lanes, zero, 4, 12, 5, 13, 6, 14, 7, 15);
}

static inline kn_model_floats kn_ints_floats(kn_model_ints ints)
{
    return __builtin_convertvector(ints, kn_model_floats);
}
static inline kn_model_ints kn_floats_ints(kn_model_floats floats)
{
    return __builtin_convertvector(floats, kn_model_ints);
}

/* Two parts of a half, narrower: numbers of 0 to 2^15 - 1, or the masks of a comparison. */
static inline kn_model_lanes kn_ints_lanes(kn_model_ints low, kn_model_ints high)
{
#ifdef __SSE2__
    return (kn_model_lanes)_mm_packs_epi32((__m128i)low, (__m128i)high);
#else
    return __builtin_shufflevector((kn_model_lanes)low, (kn_model_lanes)high, 0, 2, 4, 6, 8, 10, 12, 14);
#endif
}

/* The masks of a comparison as a bit set, those of the second half above. */
static inline uint32_t kn_lanes_bits(const kn_model_lanes masks[2])
{
#ifdef __SSE2__
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16((__m128i)masks[0], (__m128i)masks[1]));
#else
    uint32_t bits = 0;
    for (uint32_t i = 0; i < KN_LANE_CLASSES; i++) bits |= (uint32_t)(masks[i / 8][i % 8] & 1) << i;
    return bits;
#endif
}

static inline kn_model_ints kn_lanes_rows(const kn_lane_counts *counts, int half, int part)
{
    return ((const kn_model_ints *)counts->n_rows)[2 * half + part];
}

/* Of a half: its rows in units as small as 15 bits allow, so that rounding decides seldom. */
typedef struct kn_lane_units {
    kn_model_lanes all, per_row;
    kn_model_floats rows[2]; /* of a unit; by part */
} kn_lane_units;

static inline __attribute__((always_inline)) kn_lane_units kn_lanes_units(const kn_lane_counts *counts, int half)
{
    kn_lane_units units;
    kn_model_ints per_row[2], n_rows[2];
    for (int part = 0; part < 2; part++) {
        n_rows[part] = kn_lanes_rows(counts, half, part);
        /* the exponent of a number as a float: 127 for 1; per_row is 2^14 divided by the power of 2 that is in it */
        kn_model_ints exponent = (kn_model_ints)kn_ints_floats(n_rows[part]) >> 23;
        per_row[part] = kn_floats_ints((kn_model_floats)((127 + 14 + 127 - exponent) << 23));
        units.rows[part] = (kn_model_floats)((exponent - 14) << 23);
    }
    units.per_row = kn_ints_lanes(per_row[0], per_row[1]);
    units.all = kn_ints_lanes(n_rows[0], n_rows[1]) * units.per_row;
    return units;
}

/* Raises must_go for four classes to that many rows, rounded up; the float may be off by its last digits. */
static inline __attribute__((always_inline)) void kn_lanes_raise(uint32_t *must_go, int half, int part,
                                                                 kn_model_floats rows)
{
    kn_model_ints *to = (kn_model_ints *)must_go + 2 * half + part, least = kn_floats_ints(rows * 0.999999f + 0.998f);
    kn_model_ints more = (kn_model_ints)(least > *to);
    *to = (least & more) | (*to & ~more);
}

/* How far a figure is above its limit; rounded down, because floats are not exact. */
static inline kn_model_floats kn_floats_excess(kn_model_floats figure, kn_model_floats limit)
{
    return figure * (1 - 1e-6f) - limit * (1 + 1e-6f);
}

/* Whether quick figures are at most their limits, up to a relative rounding: `within` and `near` are masks of a part.
 */
typedef struct kn_lane_verdict {
    kn_model_ints within[4], near[4]; /* [2 * half + part]; near: too close to tell */
} kn_lane_verdict;

/* Where nothing is asked about the second half, nobody compares it. */
static inline void kn_lanes_begin(kn_lane_verdict *verdict, const kn_lane_counts *counts)
{
    if (kn_lanes_halves(counts) == 2) return;
    for (int i = 2; i < 4; i++) verdict->within[i] = verdict->near[i] = (kn_model_ints){0};
}

static inline void kn_lanes_compare(kn_lane_verdict *verdict, int half, int part, kn_model_floats figure,
                                    kn_model_floats limit)
{
    const float rounding = 1e-5f;
    kn_model_ints within = (kn_model_ints)(figure < limit * (1 - rounding));
    kn_model_ints above = (kn_model_ints)(figure > limit * (1 + rounding));
    verdict->within[2 * half + part] = within;
    verdict->near[2 * half + part] = ~(within | above);
}

static inline kn_judgement kn_lanes_judgement(const kn_lane_verdict *verdict, uint32_t ask)
{
    kn_model_lanes within[2], near[2];
    for (int half = 0; half < 2; half++) {
        within[half] = kn_ints_lanes(verdict->within[2 * half], verdict->within[2 * half + 1]);
        near[half] = kn_ints_lanes(verdict->near[2 * half], verdict->near[2 * half + 1]);
    }
    return (kn_judgement){kn_lanes_bits(within) & ask, kn_lanes_bits(near) & ask};
}

static inline kn_judgement kn_judge_distinct(const kn_lane_counts *counts, uint32_t column, uint32_t n_values,
                                             uint32_t least_values)
{
    kn_model_lanes holds[2] = {{0}};
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        kn_model_lanes n = {0};
        for (uint32_t v = 0; v < n_values; v++) n -= (kn_model_lanes)(kn_lanes_at(counts, column, v, half) != 0);
        holds[half] = (kn_model_lanes)(n >= kn_lanes_all((uint16_t)least_values));
    }
    return (kn_judgement){least_values <= n_values ? kn_lanes_bits(holds) & counts->ask : 0, 0};
}

#endif
