/* What the models of a sensitive column share: finding the column, and comparing with a limit. */
#ifndef KN_PRIVACY_SENSITIVE_H
#define KN_PRIVACY_SENSITIVE_H

#include "privacy/privacy.h"

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

typedef uint32_t kn_model_lanes __attribute__((vector_size(16), may_alias, aligned(4)));
typedef float kn_model_floats __attribute__((vector_size(16), may_alias, aligned(4)));

/* Distinct values of a class. */
static inline uint32_t kn_lanes_distinct(const uint32_t *counts, uint32_t n_values)
{
    kn_model_lanes n = {0};
    for (uint32_t v = 0; v < n_values; v += 4) n -= (kn_model_lanes)(*(const kn_model_lanes *)(counts + v) != 0);
    return n[0] + n[1] + n[2] + n[3];
}

static inline uint32_t kn_lanes_largest(const uint32_t *counts, uint32_t n_values)
{
    uint32_t largest = 0;
    for (uint32_t v = 0; v < n_values; v++) largest = counts[v] > largest ? counts[v] : largest;
    return largest;
}

/* Whether a quick figure is at most the limit; unsure where rounding might have decided. */
static inline kn_judgement kn_judge_at_most(double figure, double limit, double rounding)
{
    if (figure < limit - rounding) return KN_JUDGED_HOLDS;
    return figure > limit + rounding ? KN_JUDGED_BREAKS : KN_JUDGED_UNSURE;
}

#endif
