/* alpha-deassociation: no protected value has more than a share alpha of a class.
 *
 * Wong et al. 2006, [SV] Definition 5.2; together with k-anonymity it is (alpha,k)-anonymity. `values=a|b` names the
 * protected values (a '|' inside one is written "\|"); without it every value is protected. Each is held to alpha on
 * its own. The value reported is the largest share. Monotone: a merged class's share lies between the two. */
#include "privacy/sensitive.h"

#include "base/fold.h"

#include <math.h>
#include <string.h>

typedef struct state {
    uint32_t column, n_values;
    double max_share;
    bool *is_protected; /* by value */
    uint32_t min_values;
    uint64_t min_persons;
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self != NULL) kn_free(self->is_protected);
    kn_free(self);
}

/* Cuts the next name off *text; "\|" is a '|'. */
static size_t next_name(char *name, const char **text)
{
    size_t n = 0;
    const char *from = *text;
    for (; *from != '\0' && *from != '|'; from++) {
        if (from[0] == '\\' && from[1] == '|') from++;
        name[n++] = *from;
    }
    *text = *from == '|' ? from + 1 : from;
    return n;
}

static kn_status protect(state *self, const kn_column *column, const char *name, size_t n_bytes, kn_error *err)
{
    for (uint32_t spelling = 0; spelling < column->n_spellings; spelling++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, spelling, &n);
        bool same =
            column->is_folded ? kn_fold_equal(bytes, n, name, n_bytes) : n == n_bytes && memcmp(bytes, name, n) == 0;
        if (!same) continue;
        self->is_protected[kn_column_value(column, spelling)] = true;
        return KN_OK;
    }
    return kn_error_set(err, KN_USAGE,
                        "alpha-k: values=%.*s is no value of column %.40s, so nothing would be protected",
                        n_bytes < 40 ? (int)n_bytes : 40, name, column->name);
}

static kn_status protect_values(state *self, const kn_column *column, const char *names, kn_error *err)
{
    kn_status status = KN_OK;
    char *name = NULL;
    if (names == NULL) {
        memset(self->is_protected, true, self->n_values);
        return KN_OK;
    }
    KN_NEW(name, strlen(names) + 1);
    do {
        size_t n_bytes = next_name(name, &names);
        KN_TRY(protect(self, column, name, n_bytes, err));
    } while (*names != '\0');
done:
    kn_free(name);
    return status;
}

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    *out = self;
    KN_TRY(kn_model_column(&self->column, tuples, args, err));
    const char *names = kn_args_text(args, "values");
    self->n_values = tuples->sensitive[self->column].n_values;
    self->max_share = kn_args_number(args, "alpha");
    self->min_values = names == NULL ? (uint32_t)ceil(1 / self->max_share - KN_SLACK) : 1;
    self->min_persons = kn_persons_of_rows(tuples, self->min_values);
    KN_NEW(self->is_protected, self->n_values);
    KN_TRY(protect_values(self, tuples->sensitive[self->column].column, names, err));
done:
    return status;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    const kn_histogram *histogram = &counts->sensitive[self->column];
    uint64_t largest = 0;
    for (uint32_t i = 0; i < histogram->n; i++)
        if (self->is_protected[histogram->values[i]] && histogram->counts[i] > largest) largest = histogram->counts[i];
    return counts->n_rows > 0 ? (double)largest / (double)counts->n_rows : 0;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return kn_at_most(value(opaque, counts), ((const state *)opaque)->max_share);
}

/* With a row of the value less, one row less may be so much of it: 1 - alpha must go of what is too much. */
static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    const float alpha = (float)self->max_share, per_row = fmaxf(1 - alpha, 1e-3f) * (1 + 1e-6f);
    kn_lane_verdict verdict;
    kn_lanes_begin(&verdict, counts);
    kn_model_lanes most[2] = {{0}};
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        for (uint32_t v = 0; v < self->n_values; v++)
            if (self->is_protected[v])
                most[half] = kn_lanes_larger(most[half], kn_lanes_at(counts, self->column, v, half));
        for (int part = 0; part < 2; part++) {
            kn_model_floats figure = kn_ints_floats(kn_lanes_ints(most[half], part));
            kn_model_floats limit = kn_ints_floats(kn_lanes_rows(counts, half, part)) * alpha;
            kn_lanes_compare(&verdict, half, part, figure, limit);
            kn_lanes_raise(must_go, half, part, kn_floats_excess(figure, limit) / per_row);
        }
    }
    kn_judgement judgement = kn_lanes_judgement(&verdict, counts->ask);
    for (uint32_t rest = judgement.unsure; rest != 0; rest &= rest - 1) { /* as `value` has it */
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        const double share = (double)most[i / 8][i % 8] / counts->n_rows[i];
        judgement.holds |= (uint32_t)kn_at_most(share, self->max_share) << i;
    }
    return (kn_judgement){judgement.holds, 0};
}

static uint32_t min_values(const void *opaque, uint32_t *column)
{
    const state *self = opaque;
    *column = self->column;
    return self->min_values;
}

static uint64_t min_persons(const void *opaque) { return ((const state *)opaque)->min_persons; }

static const kn_param params[] = {
    KN_COLUMN_PARAM,
    KN_JOINT_PARAM,
    {.name = "alpha",
     .type = KN_PARAM_NUMBER,
     .required = true,
     .min = 1e-9,
     .max = 1,
     .help = "largest share of a class"},
    {.name = "values",
     .type = KN_PARAM_TEXT,
     .help = "protected values a|b; every value by default",
     .is_data = true,
     .is_list = true},
};

const kn_privacy kn_privacy_alpha_k = {
    .name = "alpha-k",
    .summary = "no protected value has more than a share alpha of a class",
    .promise =
        "among those who share their generalized cells, no protected value of {column} has a share above {alpha}",
    .citation = "Wong, Li, Fu, Wang, (alpha,k)-anonymity: an enhanced k-anonymity model, 2006",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .letter = "alpha",
    .prepare = prepare,
    .discard = discard,
    .holds = holds,
    .judge = judge,
    .value = value,
    .min_persons = min_persons,
    .min_values = min_values,
};
