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
    uint32_t n_values;
    uint16_t *shares; /* [(2 * value) * 8 + lane]: the least share of it in a class, in units of 2^-16, and the largest;
                         rounded down */
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self != NULL) kn_free(self->shares);
    kn_free(self);
}

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
    for (uint32_t value = 0; value < self->sensitive->n_values; value++)
        self->n_distinct += self->sensitive->reference[value] > 0;
    self->n_rows = (double)self->sensitive->n_reference;
    self->min_persons = kn_persons_of_rows(tuples, self->n_distinct);
    self->n_values = self->sensitive->n_values;
    KN_NEW_ALIGNED(self->shares, (size_t)self->n_values * 16);
    for (uint32_t i = 0; i < self->n_values * 16; i++) {
        double share = (double)self->sensitive->reference[i / 16] / self->n_rows;
        double limit = share * exp2(i % 16 < 8 ? -self->max_log : self->max_log);
        self->shares[i] = share > 0 ? (uint16_t)fmin(limit * 0x1p16, UINT16_MAX) : 0;
    }
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
        double table_share = (double)self->sensitive->reference[histogram->values[i]] / self->n_rows;
        double share = (double)histogram->counts[i] / (double)counts->n_rows;
        largest = fmax(largest, fabs(log2(share / table_share)));
    }
    return largest;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return kn_below(value(opaque, counts), ((const state *)opaque)->max_log);
}

/* What a class has of a value is strictly between two limits, which are rounded down by less than 2 units. A value that
 * the table has none of is in no class. */
static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    const kn_model_lanes *shares = (const kn_model_lanes *)self->shares, one = kn_lanes_all(1), three = kn_lanes_all(3);
    kn_model_lanes within[2] = {{0}}, near[2] = {{0}};
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        const kn_lane_units units = kn_lanes_units(counts, half);
        kn_model_lanes breaks = {0}, unsure = {0};
        for (uint32_t v = 0; v < self->n_values; v++) {
            if (self->sensitive->reference[v] == 0) continue;
            const kn_model_lanes rows = kn_lanes_at(counts, self->column, v, half), own = rows * units.per_row;
            const kn_model_lanes least = kn_lanes_share(shares[2 * v], units.all);
            const kn_model_lanes most = kn_lanes_share(shares[2 * v + 1], units.all);
            /* beyond the limits, whatever the rounding; not surely between them */
            breaks |= (kn_model_lanes)(rows == 0) | kn_lanes_excess(least, own) | kn_lanes_excess(own, most + three);
            unsure |= kn_lanes_excess(least + three, own) | kn_lanes_excess(own + one, most);
        }
        within[half] = (kn_model_lanes)((breaks | unsure) == 0);
        near[half] = (kn_model_lanes)(breaks == 0);
    }
    const uint32_t holds = kn_lanes_bits(within) & counts->ask;
    return (kn_judgement){holds, kn_lanes_bits(near) & counts->ask & ~holds};
}

static uint32_t min_values(const void *opaque, uint32_t *column)
{
    const state *self = opaque;
    *column = self->column;
    return self->n_distinct;
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
    .promise = "whoever knows somebody's generalized cells finds no value of {column} more or less likely than in the "
               "whole table by a factor above 2 to the power of {delta}",
    .citation = "Brickell, Shmatikov, The cost of privacy: destruction of data-mining utility, 2008",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .letter = "delta",
    .prepare = prepare,
    .discard = discard,
    .holds = holds,
    .judge = judge,
    .value = value,
    .min_persons = min_persons,
    .min_values = min_values,
};
