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

/* Distinct values of a class. */
static inline uint32_t kn_lanes_distinct(const uint16_t *counts, uint32_t n_values)
{
    kn_model_lanes n = {0};
    for (uint32_t v = 0; v < n_values; v += 8) n -= (kn_model_lanes)(*(const kn_model_lanes *)(counts + v) != 0);
    return kn_lanes_sum(n);
}

static inline uint32_t kn_lanes_largest(const uint16_t *counts, uint32_t n_values)
{
    uint32_t largest = 0;
    for (uint32_t v = 0; v < n_values; v++) largest = counts[v] > largest ? counts[v] : largest;
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
    const uint16_t *lanes = counts->sensitive[column];
    for (uint32_t i = 0; i < counts->n; i++, lanes += kn_lanes_width(n_values))
        judgement.holds |= (uint32_t)(kn_lanes_distinct(lanes, n_values) >= least_values) << i;
    return judgement;
}

#endif
