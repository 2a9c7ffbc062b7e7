/* beta-likeness: in no class does a sensitive value become much more likely than in the table.
 *
 * Cao and Karras 2012. Basic: (p - q) / q <= beta for every value with p > q, where q is its share of the table and p
 * its share of the class. Enhanced: <= min(beta, -ln q), so that frequent values are held tighter. The value reported
 * is the largest relative gain (p - q) / q. Monotone: the bound on p is fixed per value and shares average. */
#include "privacy/sensitive.h"

#include <math.h>

typedef struct state {
    uint32_t column;
    double max_gain;
    bool enhanced;
    const kn_sensitive *sensitive;
    double n_rows;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    *out = self;
    KN_TRY(kn_model_column(&self->column, tuples, args, err));
    self->max_gain = kn_args_number(args, "beta");
    self->enhanced = kn_args_number(args, "enhanced") != 0;
    self->sensitive = &tuples->sensitive[self->column];
    self->n_rows = tuples->n_rows;
done:
    return status;
}

/* The largest gain; *within: whether every value keeps its bound. */
static double largest_gain(const state *self, const kn_class_counts *counts, bool *within)
{
    const kn_histogram *histogram = &counts->sensitive[self->column];
    double largest = 0;
    *within = true;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double table_share = (double)self->sensitive->value_rows[histogram->values[i]] / self->n_rows;
        double gain = (double)histogram->counts[i] / (double)counts->n_rows / table_share - 1;
        double limit = self->enhanced ? fmin(self->max_gain, -log(table_share)) : self->max_gain;
        if (gain > largest) largest = gain;
        if (gain > 0 && !kn_at_most(gain, limit)) *within = false;
    }
    return largest;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    bool within;
    return largest_gain(opaque, counts, &within);
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    bool within;
    largest_gain(opaque, counts, &within);
    return within;
}

static uint64_t min_persons(const void *opaque) { return 1; }

static const kn_param params[] = {
    KN_COLUMN_PARAM,
    {.name = "beta",
     .type = KN_PARAM_NUMBER,
     .required = true,
     .min = 1e-9,
     .max = 1e9,
     .help = "largest relative gain"},
    {.name = "enhanced", .type = KN_PARAM_BOOL, .preset = "no", .help = "hold frequent values to -ln of their share"},
};

const kn_privacy kn_privacy_beta_likeness = {
    .name = "beta-likeness",
    .summary = "no sensitive value becomes much more likely in a class than in the table",
    .citation = "Cao, Karras, Publishing microdata with a robust privacy guarantee, 2012",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .letter = "beta",
    .prepare = prepare,
    .discard = kn_free,
    .holds = holds,
    .value = value,
    .min_persons = min_persons,
};
