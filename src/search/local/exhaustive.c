/* The best local recoding of a tiny table, proven: dynamic programming over subsets of rows.
 *
 * best[rows] = min over classes that hold the first of the rows: price(class) + best[the others]. Every partition
 * whose classes satisfy the models is covered, whatever their sizes; suppressed rows are one more subset, at the root's
 * price, within the limit. Exact for every measure that is a sum over cells, with every model.
 *
 * In: at most MAX_ROWS rows. Out: row_class, optimal. Cost: 3^n steps and 2^n closures; `auto` takes it for tables of
 * at most that size, and the other algorithms are tested against it. */
#include "search/search.h"

#include <math.h>
#include <string.h>

enum { MAX_ROWS = 14 };

typedef struct exhaustion {
    kn_owner memory; /* all arrays */
    const kn_task *task;
    uint32_t n;
    double *price;    /* [subset]: of the subset as one class; INFINITY when a model forbids it */
    double *best;     /* [subset] */
    uint32_t *choice; /* [subset]: the class that holds its first row */
    kn_set_pool *sets;
    kn_histogram *histograms;
    uint32_t *values; /* behind the histograms: n_sensitive * MAX_ROWS each */
    uint64_t *counts;
} exhaustion;

static void count_values(exhaustion *x, uint32_t subset)
{
    const kn_tuples *t = x->task->tuples;
    for (uint32_t s = 0; s < t->n_sensitive; s++) {
        const kn_column *column = t->sensitive[s].column;
        uint32_t *values = x->values + s * MAX_ROWS, n = 0;
        uint64_t *counts = x->counts + s * MAX_ROWS;
        for (uint32_t row = 0; row < x->n; row++) {
            if (!(subset >> row & 1)) continue;
            uint32_t value = kn_column_value(column, kn_column_code(column, row)), at = 0;
            while (at < n && values[at] < value) at++;
            if (at < n && values[at] == value) {
                counts[at]++;
                continue;
            }
            memmove(values + at + 1, values + at, (n - at) * sizeof *values);
            memmove(counts + at + 1, counts + at, (n - at) * sizeof *counts);
            values[at] = value;
            counts[at] = 1;
            n++;
        }
        x->histograms[s] = (kn_histogram){n, values, counts};
    }
}

static uint32_t count_persons(const kn_tuples *t, uint32_t n_rows, uint32_t subset)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < n_rows; row++) {
        if (!(subset >> row & 1)) continue;
        bool seen = false;
        for (uint32_t other = 0; other < row && t->row_person != NULL; other++)
            seen |= (subset >> other & 1) && t->row_person[other] == t->row_person[row];
        n += !seen;
    }
    return n;
}

static kn_status price_subset(exhaustion *x, uint32_t subset, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = x->task->tuples;
    uint32_t codes[MAX_ROWS], n = 0;
    double price = 0;
    for (uint32_t row = 0; row < x->n; row++) n += subset >> row & 1;
    count_values(x, subset);
    kn_class_counts counts = {.n_rows = n, .n_persons = count_persons(t, x->n, subset), .sensitive = x->histograms};
    x->price[subset] = INFINITY;
    if (!kn_models_hold(x->task->models, &counts)) return KN_OK;
    for (uint32_t q = 0; q < t->n_qis; q++) {
        kn_cell cell;
        n = 0;
        for (uint32_t row = 0; row < x->n; row++)
            if (subset >> row & 1) codes[n++] = t->codes[q][t->row_tuple[row]];
        KN_TRY(kn_domain_closure(&cell, t->domains[q], x->sets, codes, n, err));
        price += n * kn_objective_price(x->task->objective, x->sets, q, &cell);
    }
    x->price[subset] = price;
done:
    return status;
}

static void combine(exhaustion *x, uint32_t subset)
{
    uint32_t first = subset & -subset, others = subset ^ first;
    x->best[subset] = INFINITY;
    for (uint32_t rest = others;; rest = (rest - 1) & others) {
        uint32_t class = first | rest;
        double price = x->price[class] + x->best[subset ^ class];
        if (price < x->best[subset]) {
            x->best[subset] = price;
            x->choice[subset] = class;
        }
        if (rest == 0) break;
    }
}

/* The rows to suppress: of all subsets within the limit the one that leaves the lowest total. */
static uint32_t choose_kept(const exhaustion *x, double *total)
{
    uint32_t everything = (1u << x->n) - 1, kept = 0;
    double root_price = 0;
    *total = INFINITY;
    for (uint32_t q = 0; q < x->task->tuples->n_qis; q++) root_price += x->task->objective->root_price[q];
    for (uint32_t subset = everything;; subset--) {
        uint32_t n_left_out = x->n - (uint32_t)__builtin_popcount(subset);
        double price = x->best[subset] + n_left_out * root_price;
        if (n_left_out <= x->task->max_suppressed && price < *total - 1e-12) {
            *total = price;
            kept = subset;
        }
        if (subset == 0) return kept;
    }
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = task->tuples;
    exhaustion x = {.task = task, .n = (uint32_t)t->n_rows};
    double total;
    *answer = (kn_answer){.recoding = KN_RECODING_LOCAL, .bound = NAN};
    if (x.n > MAX_ROWS)
        KN_FAIL(KN_USAGE, "exhaustive tries every partition and takes at most %d rows; this table has %u", MAX_ROWS,
                x.n);
    KN_OWN(&x.memory, x.price, (size_t)1 << x.n);
    KN_OWN(&x.memory, x.best, (size_t)1 << x.n);
    KN_OWN(&x.memory, x.choice, (size_t)1 << x.n);
    KN_OWN(&x.memory, x.histograms, t->n_sensitive);
    KN_OWN(&x.memory, x.values, (size_t)t->n_sensitive * MAX_ROWS);
    KN_OWN(&x.memory, x.counts, (size_t)t->n_sensitive * MAX_ROWS);
    KN_TRY(kn_set_pool_new(&x.sets, err));
    for (uint32_t subset = 1; subset < 1u << x.n; subset++) {
        KN_TRY(price_subset(&x, subset, err));
        if (subset % 256 == 0) KN_TRY(kn_tick(task->ticker, "searching", (double)subset / (1u << x.n), err));
    }
    for (uint32_t subset = 1; subset < 1u << x.n; subset++) combine(&x, subset);
    uint32_t kept = choose_kept(&x, &total);
    if (!isfinite(total)) KN_FAIL(KN_NOT_MET, "no release exists: even one class of everything breaks a model");
    KN_NEW_RAW(answer->row_class, t->n_rows);
    memset(answer->row_class, 0xFF, t->n_rows * sizeof *answer->row_class);
    for (; kept != 0; kept ^= x.choice[kept], answer->n_classes++)
        for (uint32_t row = 0; row < x.n; row++)
            if (x.choice[kept] >> row & 1) answer->row_class[row] = answer->n_classes;
    answer->optimal = true;
    answer->n_nodes = (uint64_t)1 << x.n;
done:
    kn_owner_free(&x.memory);
    kn_set_pool_free(x.sets);
    return status;
}

const kn_algorithm kn_algorithm_exhaustive = {
    .name = "exhaustive",
    .summary = "the proven best local recoding of a table of at most 14 rows, by trying every partition",
    .citation = NULL,
    .recoding = KN_RECODING_LOCAL,
    .needs_cell_measure = true,
    .exact = true,
    .all_or_nothing = true,
    .search = search,
};
