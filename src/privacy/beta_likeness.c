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
    uint32_t n_values;
    uint16_t *most; /* [value * 8 + lane]: the largest share of it in a class, in units of 2^-16, rounded down */
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self != NULL) kn_free(self->most);
    kn_free(self);
}

/* What a value's gain may be. */
static double limit_of(const state *self, double table_share)
{
    return self->enhanced ? fmin(self->max_gain, -log(table_share)) : self->max_gain;
}

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
    self->n_rows = (double)self->sensitive->n_reference;
    self->n_values = self->sensitive->n_values;
    KN_NEW_ALIGNED(self->most, (size_t)self->n_values * 8);
    for (uint32_t value = 0; value < self->n_values; value++) {
        double share = (double)self->sensitive->reference[value] / self->n_rows;
        double most = share > 0 ? share * (1 + fmax(limit_of(self, share), 0)) : 0;
        for (uint32_t lane = 0; lane < 8; lane++)
            self->most[value * 8 + lane] = (uint16_t)fmin(most * 0x1p16, UINT16_MAX);
    }
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
        double table_share = (double)self->sensitive->reference[histogram->values[i]] / self->n_rows;
        double gain = (double)histogram->counts[i] / (double)counts->n_rows / table_share - 1;
        double limit = limit_of(self, table_share);
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

/* What a class may have of a value is rounded down, by less than 2 units. */
static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    const kn_model_lanes *most = (const kn_model_lanes *)self->most, rounding = kn_lanes_all(3);
    kn_model_lanes within[2] = {{0}}, near[2] = {{0}};
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        const kn_lane_units units = kn_lanes_units(counts, half);
        kn_model_lanes over = {0};
        for (uint32_t v = 0; v < self->n_values; v++)
            over = kn_lanes_larger(over, kn_lanes_excess(kn_lanes_at(counts, self->column, v, half) * units.per_row,
                                                         kn_lanes_share(most[v], units.all)));
        within[half] = (kn_model_lanes)(over == 0);
        near[half] = (kn_model_lanes)(kn_lanes_excess(over, rounding) == 0);
    }
    const uint32_t holds = kn_lanes_bits(within) & counts->ask;
    return (kn_judgement){holds, kn_lanes_bits(near) & counts->ask & ~holds};
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

static const kn_promise variants[] = {
    {"enhanced=yes",
     "whoever knows somebody's generalized cells finds no value of {column} more likely than in the whole table by "
     "more "
     "than {beta} times its share there, nor by more than that share times the natural logarithm of 1 over it, which "
     "is less for frequent values"},
    {NULL, NULL},
};

const kn_privacy kn_privacy_beta_likeness = {
    .name = "beta-likeness",
    .summary = "no sensitive value becomes much more likely in a class than in the table",
    .promise = "whoever knows somebody's generalized cells finds no value of {column} more likely than in the whole "
               "table by more than {beta} times its share there",
    .variants = variants,
    .citation = "Cao, Karras, Publishing microdata with a robust privacy guarantee, 2012",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .letter = "beta",
    .prepare = prepare,
    .discard = discard,
    .holds = holds,
    .judge = judge,
    .value = value,
    .min_persons = min_persons,
};
