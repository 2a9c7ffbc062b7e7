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

enum { N_LOGS = 1024, LOG_UNITS = 4096, FEW_ROWS = 24, MOST_LARGEST = 16 };

typedef struct state {
    uint32_t column, n_values;
    kind kind;
    double least_diversity; /* l */
    double factor;          /* c */
    uint64_t min_persons;
    double log_limit;      /* entropy: log2 of l */
    double *exact_n_log_n; /* entropy: n log2 n of the small n ... */
    uint32_t *n_log_n;     /* ... and in whole units, for lanes */
    float sure_squares,
        most_squares; /* entropy: with a smaller sum of squared shares it holds; with this one it breaks */
    /* Entropy, of classes of so few rows: with at most this sum of squared counts it holds, with at least that it
     * breaks. */
    uint32_t few_hold[FEW_ROWS + 1], few_break[FEW_ROWS + 1];
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self == NULL) return;
    kn_free(self->exact_n_log_n);
    kn_free(self->n_log_n);
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

/* Sum of the squared shares, and *entropy, where one value has `share` and the others have equal ones. */
static double squares_of(double share, uint32_t n_values, double *entropy)
{
    const double other = (1 - share) / (n_values - 1);
    *entropy = 0;
    if (share > 0) *entropy -= share * log2(share);
    if (other > 0) *entropy -= (1 - share) * log2(other);
    return share * share + (1 - share) * other;
}

/* All ways to split n rows into values, the larger counts first; `left` of them are still to be split, into counts of
 * at most `most`. There are 1,575 ways for 24 rows. */
static void note_few(state *self, uint32_t n, uint32_t left, uint32_t most, uint32_t n_counts, uint32_t squares,
                     double n_log_n)
{
    if (left == 0) {
        const bool is_held = kn_at_most(self->least_diversity, exp2(log2(n) - n_log_n / n));
        if (is_held && self->few_break[n] <= squares) self->few_break[n] = squares + 1;
        if (!is_held && self->few_hold[n] >= squares) self->few_hold[n] = squares - 1;
    }
    if (n_counts == self->n_values) return;
    for (uint32_t count = left < most ? left : most; count > 0; count--)
        note_few(self, n, left - count, count, n_counts + 1, squares + count * count,
                 n_log_n + self->exact_n_log_n[count]);
}

static kn_status prepare_entropy(state *self, kn_error *err)
{
    const double rounding = 1e-5; /* of floats, and far more */
    kn_status status = KN_OK;
    self->log_limit = log2(self->least_diversity);
    KN_NEW(self->n_log_n, N_LOGS);
    KN_NEW(self->exact_n_log_n, N_LOGS);
    for (uint32_t n = 2; n < N_LOGS; n++) {
        self->exact_n_log_n[n] = n * log2(n);
        self->n_log_n[n] = (uint32_t)(self->exact_n_log_n[n] * LOG_UNITS);
    }
    for (uint32_t n = 1; n <= FEW_ROWS; n++) {
        self->few_hold[n] = UINT32_MAX;
        note_few(self, n, n, n, 0, 0, 0);
    }
    self->sure_squares = (float)((1 - rounding) / self->least_diversity);
    self->most_squares = 2;
    if (self->n_values < 2) goto done;
    double low = 1.0 / self->n_values, high = 1, entropy;
    for (int i = 0; i < 60; i++) { /* the more the one value has, the less entropy */
        const double middle = (low + high) / 2;
        squares_of(middle, self->n_values, &entropy);
        if (entropy > self->log_limit) low = middle;
        else high = middle;
    }
    self->most_squares = (float)(squares_of(high, self->n_values, &entropy) * (1 + rounding));
done:
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
    self->n_values = tuples->sensitive[self->column].n_values;
    self->kind = (kind)kn_args_number(args, "kind");
    self->least_diversity = kn_args_number(args, "l");
    self->min_persons = kn_persons_of_rows(tuples, ceil(self->least_diversity - KN_SLACK));
    if (self->kind == ENTROPY) KN_TRY(prepare_entropy(self, err));
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

static double entropy(const state *self, const kn_histogram *histogram)
{
    double rows = 0, n_log_n = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double n = (double)histogram->counts[i];
        rows += n;
        n_log_n += n < N_LOGS ? self->exact_n_log_n[histogram->counts[i]] : n * log2(n);
    }
    return rows > 0 ? log2(rows) - n_log_n / rows : 0;
}

/* Sum of the `n` largest counts, without memory: the counts above a threshold, found by halving. */
static double sum_of_largest(const kn_histogram *histogram, uint32_t n, uint64_t largest)
{
    uint64_t low = 0, high = largest; /* the largest threshold that at least n counts reach */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2 + 1;
        uint32_t n_reach = 0;
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
            sum += (double)histogram->counts[i];
            n_above++;
        }
    return sum + (double)low * (n - n_above);
}

/* r1 / (r_l + ... + r_m). */
static double recursive_factor(const kn_histogram *histogram, uint32_t least_diversity)
{
    if (histogram->n < least_diversity) return INFINITY;
    double rows = 0;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        rows += (double)histogram->counts[i];
        if (histogram->counts[i] > largest) largest = histogram->counts[i];
    }
    double tail = rows - (least_diversity > 1 ? sum_of_largest(histogram, least_diversity - 1, largest) : 0);
    return tail > 0 ? (double)largest / tail : INFINITY;
}

static double largest_share(const kn_histogram *histogram)
{
    double rows = 0, largest = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        const double n = (double)histogram->counts[i];
        rows += n;
        if (n > largest) largest = n;
    }
    return rows > 0 ? largest / rows : 1;
}

static double value(const void *opaque, const kn_class_counts *counts)
{
    const state *self = opaque;
    const kn_histogram *histogram = &counts->sensitive[self->column];
    switch (self->kind) {
    case DISTINCT: return histogram->n;
    case ENTROPY: return exp2(entropy(self, histogram));
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

/* --- Lanes ----------------------------------------------------------------------------------------------------- */

/* n log2 n in units of 1 / LOG_UNITS, rounded down. */
static uint32_t n_log_n(const state *self, uint32_t n)
{
    return n < N_LOGS ? self->n_log_n[n] : (uint32_t)(n * log2(n) * LOG_UNITS);
}

/* Class i by its entropy; unsure where rounding might have decided. */
static void judge_entropy_of(kn_judgement *judgement, const state *self, const kn_lane_counts *counts, uint32_t i)
{
    const uint16_t *own = counts->sensitive[self->column] + i;
    const double rows = counts->n_rows[i];
    uint64_t sum = 0;
    if (counts->n_rows[i] < N_LOGS) /* so are its parts */
        for (uint32_t v = 0; v < self->n_values; v++) sum += self->n_log_n[own[v * KN_LANE_CLASSES]];
    else
        for (uint32_t v = 0; v < self->n_values; v++) sum += n_log_n(self, own[v * KN_LANE_CLASSES]);
    const double limit = n_log_n(self, (uint32_t)rows) - rows * self->log_limit * LOG_UNITS;
    const double rounding = self->n_values + 1.0 + 1e-9 * rows * LOG_UNITS;
    const double reached = (double)sum;
    const uint32_t holds = reached < limit - rounding;
    const uint32_t breaks = reached > limit + rounding;
    judgement->holds |= holds << i;
    judgement->unsure |= (1 - (holds | breaks)) << i;
}

/* Of each class of a half, by part: the sum of its squared counts. Of fewer than 256 rows it has 16 bits. */
static inline __attribute__((always_inline)) void square_sums(kn_model_uints sum[2], const state *self,
                                                              const kn_lane_counts *counts, int half, bool narrow)
{
    kn_model_lanes sum16 = {0};
    sum[0] = sum[1] = (kn_model_uints){0};
    for (uint32_t v = 0; v < self->n_values; v++) {
        kn_model_lanes n = kn_lanes_at(counts, self->column, v, half), low = n * n;
        if (narrow) {
            sum16 += low;
            continue;
        }
        kn_model_lanes high = kn_lanes_share(n, n);
        sum[0] += (kn_model_uints)__builtin_shufflevector(low, high, 0, 8, 1, 9, 2, 10, 3, 11);
        sum[1] += (kn_model_uints)__builtin_shufflevector(low, high, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int part = 0; narrow && part < 2; part++) sum[part] = (kn_model_uints)kn_lanes_ints(sum16, part);
}

/* Whether all classes have fewer than 256 rows. */
static bool are_small(const kn_lane_counts *counts)
{
    kn_model_ints any = {0};
    for (int i = 0; i < 4; i++) any |= kn_lanes_rows(counts, i / 2, i % 2);
    return (any[0] | any[1] | any[2] | any[3]) >> 8 == 0;
}

/* Few classes need logarithms: with shares p the entropy is at least -log2 of the sum of p^2, and it is largest for a
 * given sum where all shares but one are equal. Of few rows the sum says nearly always what the entropy says. */
static kn_judgement judge_entropy(const state *self, const kn_lane_counts *counts)
{
    kn_lane_verdict verdict;
    kn_lanes_begin(&verdict, counts);
    kn_model_uints sums[4];
    const bool narrow = are_small(counts);
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        if (narrow) square_sums(&sums[2 * half], self, counts, half, true);
        else square_sums(&sums[2 * half], self, counts, half, false);
        for (int part = 0; part < 2; part++) {
            kn_model_floats rows = kn_ints_floats(kn_lanes_rows(counts, half, part));
            kn_model_floats squares = kn_ints_floats((kn_model_ints)sums[2 * half + part]);
            verdict.within[2 * half + part] = (kn_model_ints)(squares < rows * rows * self->sure_squares);
            verdict.near[2 * half + part] = (kn_model_ints)(squares < rows * rows * self->most_squares);
        }
    }
    kn_judgement judgement = kn_lanes_judgement(&verdict, counts->ask);
    uint32_t rest = judgement.unsure & ~judgement.holds;
    judgement.unsure = 0;
    for (; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest), n = counts->n_rows[i], squares = ((const uint32_t *)sums)[i];
        if (n <= FEW_ROWS && squares >= self->few_break[n]) continue;
        if (n <= FEW_ROWS && squares <= self->few_hold[n]) judgement.holds |= 1u << i;
        else judge_entropy_of(&judgement, self, counts, i);
    }
    return judgement;
}

/* The n largest counts of each class of a half, added up, and the largest; n is at least 1. */
typedef struct largest {
    kn_model_lanes sum, most;
} largest;

static inline __attribute__((always_inline)) largest largest_counts(const state *self, const kn_lane_counts *counts,
                                                                    int half, uint32_t n)
{
    kn_model_lanes top[MOST_LARGEST] = {{0}};
    for (uint32_t v = 0; v < self->n_values; v++) {
        kn_model_lanes next = kn_lanes_at(counts, self->column, v, half);
        for (uint32_t i = 0; i < n; i++) {
            kn_model_lanes passed = kn_lanes_smaller(top[i], next);
            top[i] = kn_lanes_larger(top[i], next);
            next = passed;
        }
    }
    largest result = {top[0], top[0]};
    for (uint32_t i = 1; i < n; i++) result.sum += top[i];
    return result;
}

/* Quotients near the limit are taken as `value` takes them. */
static bool holds_exactly(const state *self, double rows, double taken, double most)
{
    if (self->kind == RECURSIVE) return taken < rows && kn_below(most / (rows - taken), self->factor);
    return kn_at_most(self->least_diversity, 1 / (most / rows));
}

/* What must go. Recursive: a row that is taken out may be one of the most frequent value, and none makes the rare ones
 * more. Frequency: with one of the most frequent value less, l times as many and one are needed less: l - 1. */
static inline __attribute__((always_inline)) kn_judgement judge_largest(const state *self, const kn_lane_counts *counts,
                                                                        uint32_t *must_go, uint32_t n_taken)
{
    const float too_many = fmaxf((float)self->least_diversity - 1, 1e-3f) * (1 + 1e-6f);
    kn_lane_verdict verdict;
    kn_lanes_begin(&verdict, counts);
    largest found[2];
    for (int half = 0; half < kn_lanes_halves(counts); half++) {
        found[half] = largest_counts(self, counts, half, n_taken > 0 ? n_taken : 1);
        if (n_taken == 0) found[half].sum = (kn_model_lanes){0};
        for (int part = 0; part < 2; part++) {
            kn_model_floats most = kn_ints_floats(kn_lanes_ints(found[half].most, part));
            kn_model_floats rows = kn_ints_floats(kn_lanes_rows(counts, half, part));
            kn_model_floats tail = rows - kn_ints_floats(kn_lanes_ints(found[half].sum, part));
            if (self->kind == RECURSIVE) {
                kn_lanes_compare(&verdict, half, part, most, tail * (float)self->factor);
                kn_lanes_raise(must_go, half, part, kn_floats_excess(most, tail * (float)self->factor));
            } else {
                kn_lanes_compare(&verdict, half, part, most * (float)self->least_diversity, rows);
                kn_lanes_raise(must_go, half, part,
                               kn_floats_excess(most * (float)self->least_diversity, rows) / too_many);
            }
        }
    }
    kn_judgement judgement = kn_lanes_judgement(&verdict, counts->ask);
    for (uint32_t rest = judgement.unsure; rest != 0; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        judgement.holds |=
            (uint32_t)holds_exactly(self, counts->n_rows[i], found[i / 8].sum[i % 8], found[i / 8].most[i % 8]) << i;
    }
    return (kn_judgement){judgement.holds, 0};
}

static kn_judgement judge(const void *opaque, const kn_lane_counts *counts, uint32_t *must_go)
{
    const state *self = opaque;
    if (self->kind == DISTINCT)
        return kn_judge_distinct(counts, self->column, self->n_values, (uint32_t)self->least_diversity);
    if (self->kind == ENTROPY) return judge_entropy(self, counts);
    if (self->kind == FREQUENCY) return judge_largest(self, counts, must_go, 1);
    if (self->least_diversity > MOST_LARGEST + 1) return (kn_judgement){0, counts->ask};
    const uint32_t n_taken = (uint32_t)self->least_diversity - 1;
    if (n_taken == 2) return judge_largest(self, counts, must_go, 2);
    return judge_largest(self, counts, must_go, n_taken);
}

static uint32_t least_values(const void *opaque, uint32_t *column)
{
    const state *self = opaque;
    *column = self->column;
    return self->kind == DISTINCT ? (uint32_t)self->least_diversity : 0;
}

/* Of every kind: the entropy, the share of the largest, and the l-th value itself ask for that many. */
static uint32_t min_values(const void *opaque, uint32_t *column)
{
    const state *self = opaque;
    *column = self->column;
    return (uint32_t)ceil(self->least_diversity - KN_SLACK);
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
    KN_JOINT_PARAM,
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

static const kn_promise variants[] = {
    {"kind=frequency", "no value of {column} has more than {1/l} of the rows that share their generalized cells"},
    {"kind=entropy", "among the rows that share their generalized cells, the values of {column} are at least as "
                     "uncertain, by their entropy, as {l} equally frequent ones"},
    {"kind=recursive", "among the rows that share their generalized cells, the most frequent value of {column} occurs "
                       "less than {c} times as often as all values from rank {l} on together"},
    {NULL, NULL},
};

const kn_privacy kn_privacy_l_diversity = {
    .name = "l-diversity",
    .summary = "a class has at least l well represented sensitive values",
    .promise = "among those who share their generalized cells, {column} has at least {l} different values",
    .variants = variants,
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
    .min_values = min_values,
};
