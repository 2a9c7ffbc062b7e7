/* delta-presence: nobody can be sure that a person is, or is not, in the table.
 *
 * Nergiz, Atzori, Clifton 2007: in every class the share of the covered population that is in the table lies between
 * min and max. The value reported is the largest share. A class that covers nobody of the population does not hold:
 * then the population is not one that the table was drawn from.
 *
 * Not monotone: a merged class's cells can cover more people than the two classes together (the share falls below min)
 * or, under local recoding, fewer (it rises above max). Needs the class's cells (population.h). */
#include "privacy/sensitive.h"

#include <math.h>

typedef struct state {
    double min_share, max_share;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    double min = kn_args_number(args, "min"), max = kn_args_number(args, "max");
    if (min > max) KN_FAIL(KN_USAGE, "delta-presence: min=%g is above max=%g", min, max);
    KN_NEW(self, 1);
    *self = (state){min, max};
    *out = self;
done:
    return status;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    return counts->n_population > 0 ? (double)counts->n_persons / (double)counts->n_population : INFINITY;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    double share = value(opaque, counts);
    return kn_at_most(self->min_share, share) && kn_at_most(share, self->max_share);
}

static uint64_t min_persons(const void *opaque) { return 1; }

static const kn_param params[] = {
    {.name = "min",
     .type = KN_PARAM_NUMBER,
     .preset = "0",
     .min = 0,
     .max = 1,
     .help = "least share of the population"},
    {.name = "max",
     .type = KN_PARAM_NUMBER,
     .required = true,
     .min = 0,
     .max = 1,
     .help = "largest share of the population"},
    {.name = "population",
     .type = KN_PARAM_TEXT,
     .required = true,
     .help = "CSV file with the quasi-identifiers of everybody"},
};

const kn_privacy kn_privacy_delta_presence = {
    .name = "delta-presence",
    .summary = "whether a person is in the table stays uncertain",
    .promise = "of all in the population whose cells would look the same, a share between {min} and {max} is in this "
               "table, so that nobody can be sure who is",
    .citation = "Nergiz, Atzori, Clifton, Hiding the presence of individuals from shared databases, 2007",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_POPULATION,
    .letter = "max",
    .prepare = prepare,
    .discard = kn_free,
    .holds = holds,
    .value = value,
    .min_persons = min_persons,
};
