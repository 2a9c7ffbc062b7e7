/* delta-disclosure: a class says little about any sensitive value, for or against.
 *
 * Brickell and Shmatikov 2008: |log2(p / q)| < delta for every value of the table, where q is its share of the table
 * and p its share of the class. A value that a class lacks has p = 0, so a class that holds has every value. The value
 * reported is the largest |log2(p / q)|, infinite when one is lacking. Monotone: p stays between q/2^delta and
 * q*2^delta when shares average. */
#include "privacy/sensitive.h"

#include <math.h>

typedef struct state {
    uint32_t column, n_distinct;
    double max_log;
    const kn_sensitive *sensitive;
    double n_rows;
    uint64_t min_persons;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    *out = self;
    KN_TRY(kn_model_column(&self->column, tuples, args, err));
    self->max_log = kn_args_number(args, "delta");
    self->sensitive = &tuples->sensitive[self->column];
    self->n_distinct = kn_sensitive_distinct(self->sensitive);
    self->n_rows = tuples->n_rows;
    self->min_persons = kn_persons_of_rows(tuples, self->n_distinct);
done:
    return status;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    const kn_histogram *histogram = &counts->sensitive[self->column];
    if (histogram->n < self->n_distinct) return INFINITY;
    double largest = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double table_share = (double)self->sensitive->value_rows[histogram->values[i]] / self->n_rows;
        double share = (double)histogram->counts[i] / (double)counts->n_rows;
        largest = fmax(largest, fabs(log2(share / table_share)));
    }
    return largest;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return kn_below(value(opaque, counts), ((const state *)opaque)->max_log);
}

static uint64_t min_persons(const void *opaque) { return ((const state *)opaque)->min_persons; }

static const kn_param params[] = {
    KN_COLUMN_PARAM,
    {.name = "delta",
     .type = KN_PARAM_NUMBER,
     .required = true,
     .min = 1e-9,
     .max = 1e9,
     .help = "bound of |log2(p/q)|"},
};

const kn_privacy kn_privacy_delta_disclosure = {
    .name = "delta-disclosure",
    .summary = "no sensitive value becomes much more or less likely in a class",
    .citation = "Brickell, Shmatikov, The cost of privacy: destruction of data-mining utility, 2008",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .letter = "delta",
    .prepare = prepare,
    .discard = kn_free,
    .holds = holds,
    .value = value,
    .min_persons = min_persons,
};
