/* l-diversity: a class has at least l "well represented" sensitive values.
 *
 * Machanavajjhala et al. 2007, [SV] Definition 5.1, [SC] 7. Four readings of "well represented":
 *   distinct   l different values
 *   entropy    the values are as uncertain as l equally frequent ones: 2^H >= l
 *   recursive  (c,l): r1 < c * (r_l + ... + r_m), r_i the i-th largest count
 *   frequency  no value has more than 1/l of the rows
 * The value reported is the l that a class reaches (its distinct values, 2^H, 1/largest share); for recursive the least
 * c with which it would hold, so there the worst is the largest. All four are monotone: merging two classes keeps every
 * value, H is concave, shares average, and recursive is shown in the paper. Rows are counted, not persons. A missing
 * value counts as a value. */
#include "privacy/sensitive.h"

#include <math.h>
#include <stdlib.h>

typedef enum kind { DISTINCT, ENTROPY, RECURSIVE, FREQUENCY } kind;

enum { N_LOGS = 1024, LOG_UNITS = 4096 };

typedef struct state {
    uint32_t column, n_values;
    kind kind;
    double least_diversity; /* l */
    double factor;          /* c */
    uint64_t min_persons;
    double log_limit;     /* entropy: log2 of l */
    uint32_t *n_log_n;    /* entropy: of the small n */
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self != NULL) kn_free(self->n_log_n);
    kn_free(self);
}

static kn_status refuse_impossible(const state *self, const kn_tuples *tuples, kn_error *err)
{
    const kn_sensitive *sensitive = &tuples->sensitive[self->column];
    uint32_t distinct = kn_sensitive_distinct(sensitive);
    if (self->least_diversity <= distinct || tuples->n_rows == 0) return KN_OK;
    return kn_error_set(err, KN_NOT_MET,
                        "l-diversity: l=%g is impossible: column %.40s has %u distinct values, so l can be at most %u",
                        self->least_diversity, sensitive->column->name, distinct, distinct);
}

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    *out = self;
    KN_TRY(kn_model_column(&self->column, tuples, args, err));
    self->n_values = tuples->sensitive[self->column].n_values;
    self->kind = (kind)kn_args_number(args, "kind");
    self->least_diversity = kn_args_number(args, "l");
    self->min_persons = kn_persons_of_rows(tuples, ceil(self->least_diversity - KN_SLACK));
    if (self->kind == ENTROPY) {
        self->log_limit = log2(self->least_diversity);
        KN_NEW(self->n_log_n, N_LOGS);
        for (uint32_t n = 2; n < N_LOGS; n++) self->n_log_n[n] = (uint32_t)(n * log2(n) * LOG_UNITS);
    }
    if (self->kind == RECURSIVE) {
        if (!kn_args_get(args, "c")->given)
            KN_FAIL(KN_USAGE, "l-diversity: kind=recursive needs c=, the factor by which the most frequent value may "
                              "outweigh the rare ones");
        self->factor = kn_args_number(args, "c");
    }
    if ((self->kind == DISTINCT || self->kind == RECURSIVE) && self->least_diversity != floor(self->least_diversity))
        KN_FAIL(KN_USAGE, "l-diversity: l=%g must be a whole number for kind=%s", self->least_diversity,
                kn_args_text(args, "kind"));
    KN_TRY(refuse_impossible(self, tuples, err));
done:
    return status;
}

static double entropy(const kn_histogram *histogram)
{
    double rows = 0, n_log_n = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double n = histogram->counts[i];
        rows += n;
        if (n > 1) n_log_n += n * log2(n);
    }
    return rows > 0 ? log2(rows) - n_log_n / rows : 0;
}

/* Sum of the `n` largest counts, without memory: the counts above a threshold, found by halving. */
static double sum_of_largest(const kn_histogram *histogram, uint32_t n, uint32_t largest)
{
    uint32_t low = 0, high = largest; /* the largest threshold that at least n counts reach */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2 + 1, n_reach = 0;
        for (uint32_t i = 0; i < histogram->n; i++) n_reach += histogram->counts[i] >= middle;
        if (n_reach >= n) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    double sum = 0;
    uint32_t n_above = 0;
    for (uint32_t i = 0; i < histogram->n; i++)
        if (histogram->counts[i] > low) {
            sum += histogram->counts[i];
            n_above++;
        }
    return sum + (double)low * (n - n_above);
}

/* r1 / (r_l + ... + r_m). */
static double recursive_factor(const kn_histogram *histogram, uint32_t least_diversity)
{
    if (histogram->n < least_diversity) return INFINITY;
    double rows = 0;
    uint32_t largest = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        rows += histogram->counts[i];
        if (histogram->counts[i] > largest) largest = histogram->counts[i];
    }
    double tail = rows - (least_diversity > 1 ? sum_of_largest(histogram, least_diversity - 1, largest) : 0);
    return tail > 0 ? largest / tail : INFINITY;
}

static double largest_share(const kn_histogram *histogram)
{
    double rows = 0, largest = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        rows += histogram->counts[i];
        if (histogram->counts[i] > largest) largest = histogram->counts[i];
    }
    return rows > 0 ? largest / rows : 1;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    const kn_histogram *histogram = &counts->sensitive[self->column];
    switch (self->kind) {
    case DISTINCT: return histogram->n;
    case ENTROPY: return exp2(entropy(histogram));
    case RECURSIVE: return recursive_factor(histogram, (uint32_t)self->least_diversity);
    case FREQUENCY: return 1 / largest_share(histogram);
    }
    return 0;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    double reached = value(opaque, counts);
    if (self->kind == RECURSIVE) return kn_below(reached, self->factor);
    return kn_at_most(self->least_diversity, reached);
}

/* n log2 n in units of 1 / LOG_UNITS, rounded down. */
static uint32_t n_log_n(const state *self, uint32_t n)
{
    return n < N_LOGS ? self->n_log_n[n] : (uint32_t)(n * log2(n) * LOG_UNITS);
}

/* The same sums and quotients as `value` has, so the same answer; of logarithms only where rounding cannot decide. */
static void judge_class(kn_judgement *judgement, const state *self, kn_class_lanes *own, uint32_t i, double rows)
{
    uint32_t largest = self->kind == ENTROPY ? 0 : kn_lanes_largest(own, self->n_values);
    const uint32_t most = largest >> 16;
    uint64_t sum = 0, taken = 0;
    switch (self->kind) {
    case ENTROPY:
        for (uint32_t v = 0; v < self->n_values; v++) sum += n_log_n(self, own->counts[v]);
        kn_judge_at_most(judgement, i, (double)sum, n_log_n(self, (uint32_t)rows) - rows * self->log_limit * LOG_UNITS,
                         self->n_values + 1.0 + 1e-9 * rows * LOG_UNITS);
        break;
    case RECURSIVE: /* the l - 1 largest are taken away */
        for (uint32_t n = 1; n < self->least_diversity; n++) {
            if (n > 1) largest = kn_lanes_largest(own, self->n_values);
            taken += largest >> 16;
            own->counts[largest & 0xffff] = 0;
        }
        if (taken < rows) judgement->holds |= (uint32_t)kn_below(most / (rows - (double)taken), self->factor) << i;
        break;
    default: judgement->holds |= (uint32_t)kn_at_most(self->least_diversity, 1 / (most / rows)) << i; break;
    }
}

static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    kn_judgement judgement = {0};
    kn_class_lanes own;
    if (self->kind == DISTINCT)
        return kn_judge_distinct(counts, self->column, self->n_values, (uint32_t)self->least_diversity);
    for (uint32_t rest = counts->ask; rest != 0; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        if (!kn_lanes_copy(&own, counts, i, self->column, self->n_values)) return (kn_judgement){0, counts->ask};
        judge_class(&judgement, self, &own, i, counts->n_rows[i]);
    }
    return judgement;
}

static uint32_t least_values(const void *opaque, uint32_t *column)
{
    const state *self = opaque;
    *column = self->column;
    return self->kind == DISTINCT ? (uint32_t)self->least_diversity : 0;
}

static uint64_t min_persons(const void *opaque) { return ((const state *)opaque)->min_persons; }

static bool orient(const void *opaque, const char **letter)
{
    bool is_recursive = ((const state *)opaque)->kind == RECURSIVE;
    *letter = is_recursive ? "c" : "l";
    return !is_recursive;
}

static const kn_param params[] = {
    KN_COLUMN_PARAM,
    {.name = "kind",
     .type = KN_PARAM_CHOICE,
     .preset = "distinct",
     .choices = "distinct|entropy|recursive|frequency",
     .help = "what counts as well represented"},
    {.name = "l",
     .type = KN_PARAM_NUMBER,
     .required = true,
     .min = 1,
     .max = 1e9,
     .help = "least diversity of a class"},
    {.name = "c", .type = KN_PARAM_NUMBER, .min = 1e-9, .max = 1e9, .help = "factor of kind=recursive"},
};

const kn_privacy kn_privacy_l_diversity = {
    .name = "l-diversity",
    .summary = "a class has at least l well represented sensitive values",
    .citation = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, 2007",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_NEEDS_HISTOGRAM,
    .monotone = true,
    .least_values = least_values,
    .worst_is_least = true,
    .letter = "l",
    .orient = orient,
    .prepare = prepare,
    .discard = discard,
    .holds = holds,
    .judge = judge,
    .value = value,
    .min_persons = min_persons,
};
