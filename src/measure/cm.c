/* CM, the classification metric: rows that do not have their class's most frequent sensitive value.
 *
 * [BA] 3.3, after Iyengar 2002: the minority of each class plus every suppressed row. Monotone ([BA] Claim 5.3), not
 * uniform in a class. */
#include "measure/class_column.h"

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *column = NULL;
    *out = NULL;
    KN_NEW(column, 1);
    *out = column;
    KN_TRY(kn_class_column(column, tuples, args, err));
done:
    return status;
}

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    const kn_histogram *histogram = &counts->sensitive[*(const uint32_t *)state];
    uint64_t majority = 0;
    for (uint32_t i = 0; !suppressed && i < histogram->n; i++)
        if (histogram->counts[i] > majority) majority = histogram->counts[i];
    return (double)(counts->n_rows - majority);
}

/* All classes at once; those that are not asked about are there too. */
static void price_values(double *prices, const void *state, const kn_value_lanes *classes)
{
    uint16_t narrow[KN_VALUE_CLASSES] = {0};
    uint32_t wide[KN_VALUE_CLASSES] = {0};
    for (uint32_t v = 0; v < classes->n_values; v++)
        for (uint32_t i = 0; i < KN_VALUE_CLASSES; i++) {
            const size_t at = (size_t)v * KN_VALUE_CLASSES + i;
            if (classes->count_bytes == 2) {
                const uint16_t n = ((const uint16_t *)classes->counts)[at];
                narrow[i] = n > narrow[i] ? n : narrow[i];
            } else {
                const uint32_t n = ((const uint32_t *)classes->counts)[at];
                wide[i] = n > wide[i] ? n : wide[i];
            }
        }
    for (uint32_t rest = classes->ask; rest != 0; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        prices[i] = (double)(classes->n_rows[i] - (classes->count_bytes == 2 ? narrow[i] : wide[i]));
    }
}

static const kn_param params[] = {KN_CLASS_COLUMN_PARAM};

const kn_measure kn_measure_cm = {
    .name = "cm",
    .summary = "rows outside the majority of their class, plus suppressed rows",
    .citation = "Bayardo, Agrawal, Data privacy through optimal k-anonymization, 2005, section 3.3",
    .params = params,
    .n_params = 1,
    .needs = KN_MEASURE_NEEDS_CLASS_COLUMN,
    .monotone = true,
    .prepare = prepare,
    .discard = kn_free,
    .price_class = price_class,
    .price_values = price_values,
    .suppression_bounds = true,
};
