/* k-map: at least k persons of a population could be the person behind a released row.
 *
 * Sweeney 2002: weaker than k-anonymity, for tables that are a sample. A class holds when its cells cover at least k
 * persons of the population file. The value reported is that number. Monotone: wider cells cover more. Needs the
 * class's cells (population.h). */
#include "privacy/privacy.h"

typedef struct state {
    uint64_t least_persons;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    self->least_persons = (uint64_t)kn_args_number(args, "k");
    *out = self;
done:
    return status;
}

static double value(const void *opaque, const kn_class_counts *counts) { return (double)counts->n_population; }

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return counts->n_population >= ((const state *)opaque)->least_persons;
}

static uint64_t min_persons(const void *opaque) { return 1; }

static const kn_param params[] = {
    {.name = "k",
     .type = KN_PARAM_INT,
     .required = true,
     .min = 1,
     .max = 1e9,
     .help = "least persons of the population"},
    {.name = "population",
     .type = KN_PARAM_TEXT,
     .required = true,
     .help = "CSV file with the quasi-identifiers of everybody"},
};

const kn_privacy kn_privacy_k_map = {
    .name = "k-map",
    .summary = "at least k persons of a population could be behind a row",
    .promise = "at least {k} in the whole population could be behind every row",
    .citation = "Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, 2002",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_POPULATION,
    .monotone = true,
    .worst_is_least = true,
    .letter = "k",
    .prepare = prepare,
    .discard = kn_free,
    .holds = holds,
    .value = value,
    .min_persons = min_persons,
};
