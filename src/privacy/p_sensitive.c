/* p-sensitivity: a class has at least p distinct values of a sensitive column.
 *
 * Truta and Vinay 2006, [SV] 5: with k-anonymity, and one such model for each sensitive column, it is p-sensitive
 * k-anonymity. The value reported is the smallest number of distinct values. Monotone: merging keeps every value. */
#include "privacy/sensitive.h"

typedef struct state {
    uint32_t column, n_values, least_values;
    uint64_t min_persons;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    *out = self;
    self->least_values = (uint32_t)kn_args_number(args, "p");
    self->min_persons = kn_persons_of_rows(tuples, self->least_values);
    KN_TRY(kn_model_column(&self->column, tuples, args, err));
    self->n_values = tuples->sensitive[self->column].n_values;
    uint32_t distinct = kn_sensitive_distinct(&tuples->sensitive[self->column]);
    if (self->least_values > distinct && tuples->n_rows > 0)
        KN_FAIL(KN_NOT_MET,
                "p-sensitive: p=%u is impossible: column %.40s has %u distinct values, so p can be at most %u",
                self->least_values, tuples->sensitive[self->column].column->name, distinct, distinct);
done:
    return status;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    return counts->sensitive[((const state *)opaque)->column].n;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return value(opaque, counts) >= ((const state *)opaque)->least_values;
}

static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    return kn_judge_distinct(counts, self->column, self->n_values, self->least_values);
}

static uint32_t least_values(const void *opaque, uint32_t *column)
{
    const state *self = opaque;
    *column = self->column;
    return self->least_values;
}

static uint64_t min_persons(const void *opaque) { return ((const state *)opaque)->min_persons; }

static const kn_param params[] = {
    KN_COLUMN_PARAM,
    KN_JOINT_PARAM,
    {.name = "p",
     .type = KN_PARAM_INT,
     .required = true,
     .min = 1,
     .max = 1e9,
     .help = "least distinct values of a class"},
};

const kn_privacy kn_privacy_p_sensitive = {
    .name = "p-sensitive",
    .summary = "a class has at least p distinct values of a sensitive column",
    .promise = "among those who share their generalized cells, {column} has at least {p} different values",
    .citation = "Truta, Vinay, Privacy protection: p-sensitive k-anonymity property, 2006",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .least_values = least_values,
    .worst_is_least = true,
    .letter = "p",
    .prepare = prepare,
    .discard = kn_free,
    .holds = holds,
    .judge = judge,
    .value = value,
    .min_persons = min_persons,
    .min_values = least_values,
};
