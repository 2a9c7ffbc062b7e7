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

typedef uint16_t kn_model_lanes __attribute__((vector_size(16), may_alias));

static inline uint32_t kn_lanes_sum(kn_model_lanes lanes)
{
    typedef uint64_t halves __attribute__((vector_size(16), may_alias));
    uint64_t four = ((halves)lanes)[0] + ((halves)lanes)[1]; /* the sum fits 16 bits, so no carry */
    return (uint32_t)(four * 0x0001000100010001u >> 48);
}

/* a - b, or 0 where b is larger. */
static inline kn_model_lanes kn_lanes_excess(kn_model_lanes a, kn_model_lanes b)
{
#ifdef __SSE2__
    return (kn_model_lanes)_mm_subs_epu16((__m128i)a, (__m128i)b);
#else
    return (kn_model_lanes)(a > b) & (a - b);
#endif
}

/* shares * all / 2^16, rounded down. */
static inline kn_model_lanes kn_lanes_share(const kn_model_lanes *shares, uint16_t all)
{
#ifdef __SSE2__
    return (kn_model_lanes)_mm_mulhi_epu16((__m128i)*shares, _mm_set1_epi16((short)all));
#else
    kn_model_lanes result;
    for (int i = 0; i < 8; i++) result[i] = (uint16_t)((uint32_t)(*shares)[i] * all >> 16);
    return result;
#endif
}

/* The next eight counts. */
static inline __attribute__((always_inline)) kn_model_lanes kn_lanes_eight(const void *counts, size_t at, uint32_t count_bytes)
{
    kn_model_lanes eight;
    if (count_bytes == 2) return *(const kn_model_lanes *)((const uint16_t *)counts + at);
#ifdef __SSE2__
    if (count_bytes == 1)
        return (kn_model_lanes)_mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)((const uint8_t *)counts + at)),
                                                 _mm_setzero_si128());
#endif
    for (size_t i = 0; i < 8; i++)
        eight[i] = count_bytes == 1 ? ((const uint8_t *)counts)[at + i] : (uint16_t)((const uint32_t *)counts)[at + i];
    return eight;
}

/* Class i, one count after the other. False: more values than there is room for. */
typedef struct kn_class_lanes {
    uint16_t counts[KN_LANES_MOST_VALUES] __attribute__((aligned(16)));
} kn_class_lanes;
static inline bool kn_lanes_copy(kn_class_lanes *own, const kn_lane_counts *counts, uint32_t i, uint32_t column,
                                 uint32_t n_values)
{
    const uint32_t width = kn_lanes_width(n_values);
    if (width > KN_LANES_MOST_VALUES) return false;
    for (uint32_t v = 0; v < width; v += 8)
        *(kn_model_lanes *)(own->counts + v) =
            kn_lanes_eight(counts->sensitive[column], (size_t)i * width + v, counts->count_bytes);
    return true;
}

/* The largest count and, in the lower 16 bits, its place. */
static inline uint32_t kn_lanes_largest(const kn_class_lanes *own, uint32_t n_values)
{
    uint32_t largest = 0;
    for (uint32_t v = 0; v < n_values; v++) {
        uint32_t next = (uint32_t)own->counts[v] << 16 | v;
        largest = next > largest ? next : largest;
    }
    return largest;
}

/* Whether a quick figure of class i is at most the limit; unsure where rounding might have decided. */
static inline void kn_judge_at_most(kn_judgement *judgement, uint32_t i, double figure, double limit, double rounding)
{
    uint32_t holds = figure < limit - rounding, breaks = figure > limit + rounding;
    judgement->holds |= holds << i;
    judgement->unsure |= (1 - (holds | breaks)) << i;
}

static inline kn_judgement kn_judge_distinct(const kn_lane_counts *counts, uint32_t column, uint32_t n_values,
                                             uint32_t least_values)
{
    kn_judgement judgement = {0};
    for (uint32_t rest = counts->ask; rest != 0; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        kn_model_lanes n = {0};
        for (uint32_t v = 0; v < n_values; v += 8)
            n -= (kn_model_lanes)(kn_lanes_eight(counts->sensitive[column], (size_t)i * kn_lanes_width(n_values) + v,
                                                 counts->count_bytes) != 0);
        judgement.holds |= (uint32_t)(kn_lanes_sum(n) >= least_values) << i;
    }
    return judgement;
}

#endif
