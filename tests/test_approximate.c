/* The approximations against their theorems: the optimum by brute force over all partitions, the greedy step over all
 * subsets, forests and their parts by the definition, and the instances that the papers print. */
#include "support.h"

#include "base/pool.h"
#include "recode/recode.h"
#include "search/approximate/cover.h"
#include "search/approximate/factor.h"
#include "search/approximate/forest.h"
#include "search/approximate/matching.h"
#include "search/approximate/near.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QIS = 100, MAX_ROWS = 11 };

/* --- A task made in memory ------------------------------------------------------------------------------------- */

typedef struct setup {
    kn_table *table;
    uint32_t n_qis;
    kn_domain *domains[MAX_QIS];
    kn_tuples *tuples;
    kn_models *models;
    kn_objective *objective;
    kn_args args;
    kn_ticker ticker;
    kn_task task;
} setup;

typedef enum kinds { TREES, SUPPRESS, RANGES, GRID, SETS, SUBSETS, MIXED, N_KINDS } kinds;

static void free_setup(setup *s)
{
    kn_args_free(&s->args);
    kn_objective_free(s->objective);
    kn_models_free(s->models);
    kn_tuples_free(s->tuples);
    for (uint32_t q = 0; q < s->n_qis; q++) kn_domain_free(s->domains[q]);
    test_table_free(s->table);
    *s = (setup){0};
}

/* Intervals of this domain end between cells of three codes. */
static void put_on_grid(kn_domain *domain)
{
    enum { MOST_CODES = 16 };
    static uint32_t first[MOST_CODES + 1][MOST_CODES], last[MOST_CODES + 1][MOST_CODES];
    const uint32_t n = domain->n_codes;
    assert_true(n <= MOST_CODES);
    for (uint32_t code = 0; code < n; code++) {
        first[n][code] = code - code % 3;
        last[n][code] = code - code % 3 + 2 < n ? code - code % 3 + 2 : n - 1;
    }
    domain->grid_first = first[n];
    domain->grid_last = last[n];
}

/* Domains, tuples, k and measure for s->table; `rng` NULL: no weights. */
static void prepare(setup *s, kn_rng *rng, kinds kind, unsigned k, const char *measure)
{
    char spec[32];
    for (uint32_t c = 0; c < s->table->n_columns; c++) {
        kn_column *column = &s->table->columns[c];
        if (column->role != KN_ROLE_QUASI) continue;
        kinds this = kind == MIXED ? (kinds)kn_rng_below(rng, MIXED) : kind;
        if (this == SETS) column->type = KN_TYPE_TEXT;
        kn_domain *domain = this == TREES      ? test_random_tree_domain(rng, s->table, c, 4)
                            : this == SUPPRESS ? test_suppress_domain(s->table, c)
                            : this == SUBSETS  ? test_random_subsets_domain(rng, s->table, c)
                                               : test_domain(s->table, c, NULL);
        if (this == GRID) put_on_grid(domain);
        if (rng != NULL && kn_rng_below(rng, 3) == 0) domain->weight = 0.25 * kn_rng_below(rng, 12);
        s->domains[s->n_qis++] = domain;
    }
    assert_ok(kn_tuples_new(&s->tuples, s->table, s->domains, s->n_qis, NULL, NULL, err));
    snprintf(spec, sizeof spec, "k-anonymity:k=%u", k);
    assert_ok(kn_models_new(&s->models, (const char *const[]){spec}, 1, s->tuples, err));
    assert_ok(kn_objective_new(&s->objective, measure, s->tuples, err));
    s->task =
        (kn_task){.tuples = s->tuples, .models = s->models, .objective = s->objective, .seed = 1, .ticker = &s->ticker};
}

static void set_algorithm(setup *s, const char *algorithm, const char *params)
{
    const kn_algorithm *entry = kn_algorithm_find(algorithm);
    kn_args_free(&s->args);
    assert_ok(kn_args_parse(&s->args, entry->name, entry->params, entry->n_params, params, err));
    s->task.args = &s->args;
}

typedef struct outcome {
    kn_answer answer;
    kn_release *release;
    double loss;
} outcome;

static outcome run(setup *s, const char *algorithm, const char *params)
{
    outcome o = {{0}, NULL, 0};
    set_algorithm(s, algorithm, params);
    assert_ok(kn_algorithm_fits(kn_algorithm_find(algorithm), &s->task, err));
    assert_ok(kn_algorithm_find(algorithm)->search(&o.answer, &s->task, err));
    assert_ok(kn_recode(&o.release, &o.answer, &s->task, err));
    assert_ok(kn_objective_loss(&o.loss, s->objective, o.release, err));
    return o;
}

static void free_outcome(outcome *o)
{
    kn_answer_free(&o->answer);
    kn_release_free(o->release);
}

static uint32_t code_of_row(const setup *s, uint32_t q, uint32_t row)
{
    return s->tuples->codes[q][s->tuples->row_tuple[row]];
}

/* --- Brute force ----------------------------------------------------------------------------------------------- */

/* What a row of these rows pays where they are one class. */
static double price_of(const setup *s, kn_set_pool *sets, unsigned subset)
{
    double price = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        uint32_t codes[32], n = 0;
        kn_cell cell;
        for (uint32_t r = 0; r < s->table->n_rows; r++)
            if (subset >> r & 1) codes[n++] = code_of_row(s, q, r);
        assert_ok(kn_domain_closure(&cell, s->domains[q], sets, codes, n, err));
        price += kn_objective_price(s->objective, sets, q, &cell);
    }
    return price;
}

/* By subset of the rows; yours to free. */
static double *all_prices(const setup *s)
{
    unsigned n_subsets = 1u << s->table->n_rows;
    double *price = calloc(n_subsets, sizeof *price);
    kn_set_pool *sets = NULL;
    assert_ok(kn_set_pool_new(&sets, err));
    for (unsigned u = 1; u < n_subsets; u++) price[u] = price_of(s, sets, u);
    kn_set_pool_free(sets);
    return price;
}

/* The least sum of prices of any partition into classes of at least k, where rows may be suppressed or not. */
static double optimum(const setup *s, const double *price, uint32_t k, bool suppress)
{
    unsigned n_subsets = 1u << s->table->n_rows;
    double *best = calloc(n_subsets, sizeof *best), root = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) root += s->objective->root_price[q];
    for (unsigned u = 1; u < n_subsets; u++) {
        unsigned low = u & (0u - u), others = u ^ low;
        best[u] = suppress ? root + best[others] : INFINITY;
        for (unsigned rest = others;; rest = (rest - 1) & others) {
            unsigned n = (unsigned)__builtin_popcount(rest) + 1;
            if (n >= k) best[u] = fmin(best[u], n * price[rest | low] + best[others ^ rest]);
            if (rest == 0) break;
        }
    }
    double least = best[n_subsets - 1];
    free(best);
    return least;
}

static void assert_class_sizes(const setup *s, const kn_answer *answer, uint32_t least, uint32_t most)
{
    uint32_t *size = calloc(answer->n_classes + 1, sizeof *size);
    for (uint32_t r = 0; r < s->table->n_rows; r++) {
        assert_true(answer->row_class[r] < answer->n_classes);
        size[answer->row_class[r]]++;
    }
    for (uint32_t c = 0; c < answer->n_classes; c++) {
        assert_true(size[c] >= least);
        assert_true(size[c] <= most);
    }
    free(size);
}

/* --- Theorems -------------------------------------------------------------------------------------------------- */

static const char *const measures[] = {"lm", "tree", "entropy", "monotone-entropy", "non-uniform-entropy"};
enum { N_MEASURES = sizeof measures / sizeof *measures };

typedef struct claim {
    const char *algorithm, *params;
    uint32_t only_k; /* 0: any */
    uint32_t (*most)(uint32_t k);
    bool trees;        /* needs them */
    uint32_t max_rows; /* 0: any */
} claim;

static uint32_t forest_most(uint32_t k) { return k > 4 ? 3 * k - 5 : 2 * k - 1; }
static uint32_t cover_most(uint32_t k) { return 2 * k - 1; }

static const claim claims[] = {
    {"forest", "", 0, forest_most, false, 0},
    {"cover", "", 0, cover_most, true, 0},
    {"meyerson-williams", "", 0, cover_most, false, 0},
    {"meyerson-williams", "sets=subsets", 0, cover_most, false, MAX_ROWS},
    {"two-factor", "", 2, cover_most, false, 0},
    {"three-factor", "", 3, cover_most, false, 0},
};
enum { N_CLAIMS = sizeof claims / sizeof *claims };

/* At most two values in every column: there the factors prove more. */
static bool is_binary(const setup *s)
{
    for (uint32_t q = 0; q < s->n_qis; q++) {
        uint32_t n = 0;
        for (uint32_t t = 0; t < s->tuples->n_tuples; t++) {
            bool seen = false;
            for (uint32_t u = 0; u < t; u++) seen |= s->tuples->codes[q][u] == s->tuples->codes[q][t];
            n += !seen;
        }
        if (n > 2) return false;
    }
    return true;
}

static void no_ratio_is_above_the_theorem(void **state)
{
    kn_rng rng = kn_rng_new(15, 0);
    int n_proven[N_CLAIMS] = {0}, n_tight[N_CLAIMS] = {0};
    for (int trial = 0; trial < 3000; trial++) {
        uint32_t k = 2 + kn_rng_below(&rng, 4), n_rows = k + kn_rng_below(&rng, MAX_ROWS + 1 - k);
        bool suppress = trial % 4 == 3;
        kinds kind = (kinds)(trial % N_KINDS);
        setup s = {.table = test_random_table(&rng, n_rows, 1 + kn_rng_below(&rng, 5), trial % 3 == 0 ? 2 : 6)};
        prepare(&s, &rng, kind, k, measures[kn_rng_below(&rng, N_MEASURES)]);
        s.task.max_suppressed = suppress ? n_rows : 0;
        double *price = all_prices(&s), least = optimum(&s, price, k, suppress);
        double best = (least - s.objective->discount) * s.objective->scale;
        for (size_t i = 0; i < N_CLAIMS; i++) {
            if (claims[i].only_k != 0 && claims[i].only_k != k) continue;
            if (claims[i].trees && kind != TREES && kind != SUPPRESS) continue;
            outcome o = run(&s, claims[i].algorithm, claims[i].params);
            const kn_guarantee *guarantee = &o.answer.guarantee;
            assert_class_sizes(&s, &o.answer, k, claims[i].most(k));
            assert_non_null(guarantee->theorem);
            assert_int_equal(guarantee->holds, guarantee->unproven == KN_SAY_NOTHING);
            if (claims[i].only_k == 2) assert_true(guarantee->ratio == (is_binary(&s) ? 1.5 : 2));
            if (claims[i].only_k == 3) assert_true(guarantee->ratio == (is_binary(&s) ? 2 : 3));
            if (guarantee->holds) {
                if (o.loss > guarantee->ratio * best + 1e-9)
                    fail_msg("%s, k=%u: %g > %g * %g", claims[i].algorithm, k, o.loss, guarantee->ratio, best);
                n_proven[i]++;
                n_tight[i] += o.loss > best + 1e-9;
            }
            if (!isnan(o.answer.bound)) assert_true(o.answer.bound <= best + 1e-9);
            assert_true(o.loss >= best - 1e-9);
            free_outcome(&o);
        }
        free(price);
        free_setup(&s);
    }
    for (size_t i = 0; i < N_CLAIMS; i++) {
        assert_true(n_proven[i] > (claims[i].only_k != 0 ? 100 : 500)); /* the check is about something */
        assert_true(n_tight[i] > 0);                                    /* not every table is easy */
    }
}

/* --- Nearest neighbours ---------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every tenth table has columns of so many values that no table holds the prices of all pairs. */
static void neighbours_are_those_of_a_full_scan(void **state)
{
    static const kinds many_values[] = {TREES, SUPPRESS, RANGES, SETS};
    kn_rng rng = kn_rng_new(16, 0);
    for (int trial = 0; trial < 200; trial++) {
        const bool many = trial % 10 == 9;
        const uint32_t n_rows = many ? 1500 : 20 + kn_rng_below(&rng, 200), step = many ? 97 : 7;
        setup s = {.table = test_random_table(&rng, n_rows, 1 + kn_rng_below(&rng, 5), many ? 1000 : 9)};
        prepare(&s, &rng, many ? many_values[trial / 10 % 4] : (kinds)(trial % N_KINDS), 2,
                measures[kn_rng_below(&rng, N_MEASURES)]);
        kn_near *near = NULL;
        kn_view view;
        kn_neighbours found = {0};
        uint32_t *rows = calloc(s.tuples->n_tuples, sizeof *rows), *box_rows = NULL;
        double *distances = calloc(s.tuples->n_rows, sizeof *distances);
        assert_ok(kn_near_new(&near, s.objective, err));
        assert_ok(kn_view_init(&view, near, err));
        for (uint32_t p = 0; p < near->n; p++) rows[p] = kn_rng_below(&rng, near->rows[p] + 1);
        assert_ok(kn_near_sum(&box_rows, near, rows, err));
        for (uint32_t p = 0; p < near->n; p += step) {
            bool all = p % 2 == 0;
            uint32_t n = 0, n_wanted = 1 + kn_rng_below(&rng, 12), n_self = all || rows[p] > 0;
            uint64_t n_found = 0;
            kn_view_from(&view, p);
            for (uint32_t o = 0; o < near->n; o++) {
                double distance = 0;
                for (uint32_t q = 0; q < s.n_qis; q++)
                    distance += kn_near_price(near, q, near->codes[p * s.n_qis + q], near->codes[o * s.n_qis + q]);
                uint32_t here = (all ? near->rows[o] : rows[o]) - (o == p ? n_self : 0);
                for (uint32_t i = 0; i < here; i++) distances[n++] = distance;
            }
            qsort(distances, n, sizeof *distances, by_value);
            assert_ok(kn_view_nearest(&found, &view, all ? NULL : rows, all ? NULL : box_rows, n_self, n_wanted, err));
            for (size_t i = 0; i < found.list.n; i++) {
                uint32_t o = found.list.items[i].position;
                uint32_t here = (all ? near->rows[o] : rows[o]) - (o == p ? n_self : 0);
                assert_true(n_found < n_wanted && here > 0);
                for (uint32_t j = 0; j < here; j++) assert_true(found.list.items[i].distance == distances[n_found++]);
            }
            assert_true(n_found == found.n_rows && (n_found >= n_wanted || n_found == n));
        }
        free(distances);
        free(rows);
        kn_free(box_rows);
        kn_free(found.list.items);
        kn_view_free(&view);
        kn_near_free(near);
        free_setup(&s);
    }
}

/* --- Forests --------------------------------------------------------------------------------------------------- */

static uint32_t root_of(const kn_trees *trees, uint32_t v)
{
    while (trees->to[v] != KN_NONE) v = trees->to[v];
    return v;
}

static void the_forest_weighs_at_most_the_optimum(void **state)
{
    kn_rng rng = kn_rng_new(17, 0);
    for (int trial = 0; trial < 1000; trial++) {
        uint32_t k = 1 + kn_rng_below(&rng, 5), n_rows = k + kn_rng_below(&rng, MAX_ROWS + 1 - k);
        setup s = {.table = test_random_table(&rng, n_rows, 1 + kn_rng_below(&rng, 4), trial % 2 ? 2 : 5)};
        prepare(&s, &rng, trial % 2 ? TREES : SUPPRESS, k, trial % 3 ? "lm" : "monotone-entropy");
        double *price = all_prices(&s), bound, weight = 0;
        kn_trees trees;
        uint32_t *rows, size[MAX_ROWS] = {0};
        assert_ok(kn_forest_grow(&trees, &rows, &bound, &s.task, k, err));
        for (uint32_t v = 0; v < n_rows; v++) {
            weight += trees.weight[v];
            size[root_of(&trees, v)]++;
            if (trees.to[v] != KN_NONE)
                assert_true(fabs(trees.weight[v] - price[1u << rows[v] | 1u << rows[trees.to[v]]]) < 1e-12);
        }
        for (uint32_t v = 0; v < n_rows; v++) assert_true(trees.to[v] != KN_NONE || size[v] >= k);
        /* whether rows may be suppressed or not */
        assert_true(weight <= optimum(&s, price, k, true) + 1e-9);
        assert_true(weight <= bound + 1e-9);
        assert_true(bound <= optimum(&s, price, k, true) + 1e-9);
        kn_free(trees.to);
        kn_free(trees.weight);
        kn_free(rows);
        free(price);
        free_setup(&s);
    }
}

/* Which edges of the tree the vertices of a component need to be connected: those with some of them on both sides. */
static void mark_needed(bool *needed, const kn_trees *trees, const uint32_t *component, uint32_t c)
{
    uint32_t n = 0, *below = calloc(trees->n, sizeof *below);
    for (uint32_t v = 0; v < trees->n; v++) {
        if (component[v] != c) continue;
        n++;
        for (uint32_t u = v; u != KN_NONE; u = trees->to[u]) below[u]++;
    }
    for (uint32_t v = 0; v < trees->n; v++) needed[v] = trees->to[v] != KN_NONE && below[v] > 0 && below[v] < n;
    free(below);
}

static void assert_parts_are_right(const kn_trees *trees, uint32_t k)
{
    uint32_t *component = calloc(trees->n, sizeof *component), n_components;
    bool *needed = calloc(trees->n, sizeof *needed), *used = calloc(trees->n, sizeof *used);
    assert_ok(kn_forest_decompose(component, &n_components, trees, k, err));
    for (uint32_t c = 0; c < n_components; c++) {
        uint32_t n = 0;
        for (uint32_t v = 0; v < trees->n; v++) n += component[v] == c;
        assert_true(n >= k && n <= forest_most(k));
        /* no edge is paid for twice: what the parts weigh together is no more than the tree */
        mark_needed(needed, trees, component, c);
        for (uint32_t v = 0; v < trees->n; v++) {
            assert_false(needed[v] && used[v]);
            used[v] |= needed[v];
        }
    }
    free(component);
    free(needed);
    free(used);
}

static void trees_are_cut_into_parts_of_the_right_sizes(void **state)
{
    kn_rng rng = kn_rng_new(18, 0);
    for (int trial = 0; trial < 5000; trial++) {
        uint32_t to[80], k = 1 + kn_rng_below(&rng, 9), n = k + kn_rng_below(&rng, 80 - k),
                         shape = kn_rng_below(&rng, 4);
        double weight[80];
        for (uint32_t v = 0; v < n; v++) {
            /* long, bushy, star-like, or legs of one length around a centre */
            uint32_t reach = shape == 0 ? 2 : shape == 1 ? v : 1, leg = 1 + (k - 1) / 2;
            to[v] = v == 0 ? KN_NONE : v - 1 - (reach > 1 && v > 1 ? kn_rng_below(&rng, reach < v ? reach : v) : 0);
            if (shape == 2 && v > 0) to[v] = kn_rng_below(&rng, 5) > 0 ? 0 : to[v];
            if (shape == 3 && v > 0) to[v] = (v - 1) % leg == 0 ? 0 : v - 1;
            weight[v] = kn_rng_below(&rng, 10);
        }
        kn_trees trees = {n, to, weight};
        assert_parts_are_right(&trees, k);
    }
    /* as printed, DECOMPOSE-COMPONENT cannot part this: a vertex with four legs of two, k=3 */
    uint32_t legs[] = {KN_NONE, 0, 1, 0, 3, 0, 5, 0, 7};
    double ones[] = {0, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_parts_are_right(&(kn_trees){9, legs, ones}, 3);
}

/* --- Cover ----------------------------------------------------------------------------------------------------- */

typedef struct watched {
    const setup *s;
    const double *price;
    uint32_t k;
    int n_steps;
} watched;

static void compare_step(void *context, double ratio, const uint32_t *row_class)
{
    watched *w = context;
    unsigned n_rows = w->s->table->n_rows, uncovered = 0;
    double least = INFINITY;
    for (uint32_t r = 0; r < n_rows; r++) uncovered |= (unsigned)(row_class[r] == KN_NONE) << r;
    for (unsigned subset = 1; subset < 1u << n_rows; subset++) {
        unsigned n = (unsigned)__builtin_popcount(subset), n_new = (unsigned)__builtin_popcount(subset & uncovered);
        if (n < w->k || n > 2 * w->k - 1 || n_new == 0) continue;
        least = fmin(least, w->price[subset] / n_new);
    }
    assert_true(fabs(least - ratio) < 1e-12);
    w->n_steps++;
}

static void the_closure_greedy_has_the_subset_greedys_ratios(void **state)
{
    kn_rng rng = kn_rng_new(19, 0);
    int n_steps = 0;
    for (int trial = 0; trial < 1500; trial++) {
        uint32_t k = 1 + kn_rng_below(&rng, 5), n_rows = k + kn_rng_below(&rng, MAX_ROWS + 1 - k);
        uint32_t row_class[MAX_ROWS], n_classes;
        uint64_t n_looks;
        setup s = {.table = test_random_table(&rng, n_rows, 1 + kn_rng_below(&rng, 4), trial % 2 ? 2 : 4)};
        prepare(&s, &rng, trial % 3 ? TREES : SUPPRESS, k, trial % 2 ? "tree" : "monotone-entropy");
        double *price = all_prices(&s);
        watched w = {&s, price, k, 0};
        assert_ok(kn_cover_classes(row_class, &n_classes, &n_looks, &s.task, k, compare_step, &w, err));
        n_steps += w.n_steps;
        free(price);
        free_setup(&s);
    }
    assert_true(n_steps > 3000);
}

/* Many a's and one z: where rows may be suppressed the best is one root, and every class with z costs k of them. */
static void suppressed_rows_are_outside_of_the_theorem_of_cover(void **state)
{
    enum { N = 60 };
    int cells[N];
    for (int i = 0; i < N; i++) cells[i] = i == N - 1;
    setup s = {.table = test_table(N, 1, cells)};
    prepare(&s, NULL, SUPPRESS, 20, "lm");
    s.task.max_suppressed = 1;
    outcome o = run(&s, "cover", "");
    assert_true(o.loss * N > o.answer.guarantee.ratio * 1);
    assert_false(o.answer.guarantee.holds);
    assert_int_equal(o.answer.guarantee.unproven, KN_SAY_UNPROVEN_SUPPRESSION);
    free_outcome(&o);
    o = run(&s, "forest", "");
    assert_true(o.answer.guarantee.holds);
    assert_int_equal(o.answer.guarantee.optimum, KN_OPTIMUM_SUPPRESSED);
    free_outcome(&o);
    free_setup(&s);
}

/* --- What the papers print ------------------------------------------------------------------------------------- */

/* Only suppression; the loss as a number of stars. */
static double stars(const setup *s, double loss) { return loss * s->table->n_rows * s->n_qis; }

static void known_table(setup *s, uint32_t n_rows, uint32_t n_columns, const int *cells, unsigned k)
{
    *s = (setup){.table = test_table(n_rows, n_columns, cells)};
    prepare(s, NULL, SUPPRESS, k, "tree");
}

/* The optimum is what is printed, and every approximation stays within its ratio of it. */
static void assert_known(setup *s, unsigned k, double printed)
{
    double *price = all_prices(s), best = optimum(s, price, k, false);
    assert_true(fabs(best - printed) < 1e-9);
    for (size_t i = 0; i < N_CLAIMS; i++) {
        if (claims[i].only_k != 0 && claims[i].only_k != k) continue;
        /* 2^96 nodes */
        if (claims[i].trees && s->n_qis > 20) continue;
        outcome o = run(s, claims[i].algorithm, claims[i].params);
        assert_true(o.answer.guarantee.holds);
        assert_true(stars(s, o.loss) >= printed - 1e-9);
        assert_true(stars(s, o.loss) <= o.answer.guarantee.ratio * printed + 1e-9);
        free_outcome(&o);
    }
    free(price);
}

static void the_table_of_the_introduction_has_six_stars(void **state)
{
    const int cells[] = {47, 1, 0, 21004, 35, 1, 1, 21004, 27, 2, 1, 92010, 27, 1, 1, 92010}; /* [AF] 1 */
    setup s;
    known_table(&s, 4, 4, cells, 2);
    assert_known(&s, 2, 6);
    free_setup(&s);
}

static void the_survey_figures_cost_18_and_60(void **state)
{
    const int t[] = {1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1}; /* [SV] Figure 6 */
    const int t_prime[] = {1, 2, 0, 0, 1, 2, 0, 0, 2, 1, 0, 0,                                /* Figure 7 */
                           1, 0, 2, 0, 2, 0, 1, 0, 1, 0, 2, 0, 0, 1, 2, 0, 0, 2, 1, 0, 0, 2, 1, 0, 2, 0, 0, 1, 1, 0,
                           0, 2, 1, 0, 0, 2, 0, 2, 0, 1, 0, 1, 0, 2, 0, 2, 0, 1, 0, 0, 2, 1, 0, 0, 2, 1, 0, 0, 1, 2};
    setup s;
    known_table(&s, 6, 4, t, 3);
    assert_known(&s, 3, 18);
    free_setup(&s);
    known_table(&s, 6, 12, t_prime, 3);
    assert_known(&s, 3, 60);
    free_setup(&s);
}

/* [AF] Theorem 1: the edges of a graph as rows; triangles that share no edge cost 9mt. */
static void a_graph_of_m_triangles_costs_9mt(void **state)
{
    static const int edges[][2] = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}, {4, 5}, {5, 0}, {4, 0}};
    enum { N_VERTICES = 6 };
    for (uint32_t m = 2; m <= 3; m++) {
        uint32_t t = 0;
        while ((1u << t) < 3 * m + 1) t++;
        int *cells = calloc((size_t)3 * m * t * N_VERTICES, sizeof *cells);
        for (uint32_t e = 0; e < 3 * m; e++)
            for (uint32_t block = 0; block < t; block++) {
                int turned = (int)((e + 1) >> (t - 1 - block) & 1), *row = cells + (e * t + block) * N_VERTICES;
                row[edges[e][0]] = 1 + turned;
                row[edges[e][1]] = 2 - turned;
            }
        setup s;
        known_table(&s, 3 * m, t * N_VERTICES, cells, 3);
        assert_known(&s, 3, 9.0 * m * t);
        free_setup(&s);
        free(cells);
    }
}

/* [AF] 4: two tables with the same distances between all rows, whose costs differ by a factor that grows with k. */
static void equal_graphs_can_cost_differently(void **state)
{
    static const double first[] = {18, 64, 200, 576}, second[] = {18, 56, 150, 372};
    for (uint32_t k = 3; k <= 6; k++) {
        uint32_t l = 1u << (k - 2), n = k * l > 4 * l ? k * l : 4 * l;
        int *cells = calloc((size_t)k * n, sizeof *cells);
        setup s;
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t j = 0; j < k * l; j++) cells[i * k * l + j] = j / l == i;
        known_table(&s, k, k * l, cells, k);
        assert_known(&s, k, first[k - 3]);
        double *price = all_prices(&s);
        for (uint32_t i = 1; i < k; i++) assert_true(price[1u | 1u << i] == 2 * l);
        free(price);
        free_setup(&s);
        for (uint32_t i = 0; i < k; i++)
            for (uint32_t j = 0; j < 4 * l; j++) cells[i * 4 * l + j] = j / (4 * l >> (i + 1)) % 2 == 0;
        known_table(&s, k, 4 * l, cells, k);
        assert_known(&s, k, second[k - 3]);
        price = all_prices(&s);
        for (uint32_t i = 1; i < k; i++) assert_true(price[1u | 1u << i] == 2 * l);
        free(price);
        free_setup(&s);
        free(cells);
    }
}

/* [GT] 8.3 with n=6, k=3 and the hyperedges {0,1,2}, {3,4,5}, {0,1,3}, {2,4,5}: non-uniform entropy is outside of the
 * theorems, its optimum is P(n,k) - n log2(n/k) where P has the factor k-1 that is missing in print. */
static void the_reduction_for_non_uniform_entropy_costs_29_02(void **state)
{
    const int cells[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 2, 1, 0, 1, 0, 0, 2, 1, 0, 1, 0, 2, 0, 2, 0};
    setup s = {.table = test_table(6, 4, cells)};
    prepare(&s, NULL, SUPPRESS, 3, "non-uniform-entropy");
    double *price = all_prices(&s), best = optimum(&s, price, 3, false) - s.objective->discount;
    double printed = 4 * (3 * log2(6 / 3.0) + 2 * log2(6 / 2.0) + 1 * log2(6 / 1.0));
    assert_true(fabs(printed - 35.02) < 0.005);
    assert_true(fabs(best - 29.02) < 0.005);
    assert_true(fabs(best - (printed - 6 * log2(2))) < 1e-9);
    outcome o = run(&s, "cover", "");
    assert_int_equal(o.answer.guarantee.unproven, KN_SAY_UNPROVEN_UNIFORM);
    free_outcome(&o);
    free(price);
    free_setup(&s);
}

/* --- Outside of the theorems ----------------------------------------------------------------------------------- */

/* [GT] Example 4.7's kind: nearly always 1, so that the root says more than {3,4}. */
static void a_measure_that_falls_proves_nothing(void **state)
{
    const int cells[] = {1, 1, 1, 1, 1, 1, 1, 1, 3, 4};
    setup s = {.table = test_table(10, 1, cells)};
    s.domains[s.n_qis++] = test_domain(s.table, 0, "1;a;*\n3;b;*\n4;b;*\n");
    assert_ok(kn_tuples_new(&s.tuples, s.table, s.domains, s.n_qis, NULL, NULL, err));
    assert_ok(kn_models_new(&s.models, (const char *const[]){"k-anonymity:k=2"}, 1, s.tuples, err));
    assert_ok(kn_objective_new(&s.objective, "entropy", s.tuples, err));
    s.task = (kn_task){.tuples = s.tuples, .models = s.models, .objective = s.objective, .ticker = &s.ticker};
    for (size_t i = 0; i < N_CLAIMS; i++) {
        if (claims[i].only_k > 2) continue;
        outcome o = run(&s, claims[i].algorithm, claims[i].params);
        assert_false(o.answer.guarantee.holds);
        assert_int_equal(o.answer.guarantee.unproven, KN_SAY_UNPROVEN_MONOTONE);
        assert_int_equal(o.answer.guarantee.column, 0);
        assert_true(isnan(o.answer.bound));
        free_outcome(&o);
    }
    free_setup(&s);
}

/* [GT], after Lemma 6.3: sets are no tree, and their entropy is not sub-additive. */
static void sets_prove_less_than_trees(void **state)
{
    kn_rng rng = kn_rng_new(20, 0);
    setup s = {.table = test_random_table(&rng, 10, 2, 3)};
    prepare(&s, NULL, SETS, 2, "monotone-entropy");
    outcome o = run(&s, "forest", "");
    assert_int_equal(o.answer.guarantee.unproven, KN_SAY_UNPROVEN_SUB_ADDITIVE);
    free_outcome(&o);
    free_setup(&s);
    /* under LM they are, but their closures grow faster than cycles and diameters */
    static const char *const names[] = {"forest", "two-factor", "three-factor", "meyerson-williams"};
    for (size_t i = 0; i < 4; i++) {
        s.table = test_random_table(&rng, 10, 2, 3);
        prepare(&s, NULL, SETS, i == 2 ? 3 : 2, "lm");
        o = run(&s, names[i], "");
        assert_int_equal(o.answer.guarantee.holds, i < 2);
        free_outcome(&o);
        if (i < 3) free_setup(&s);
    }
    set_algorithm(&s, "cover", "");
    kn_error err = {0};
    assert_int_equal(kn_algorithm_fits(kn_algorithm_find("cover"), &s.task, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "hierarchy for column 'a'"));
    free_setup(&s);
}

/* The last column is sensitive. */
static void other_models_are_repaired_without_a_proof(void **state)
{
    kn_rng rng = kn_rng_new(21, 0);
    for (int trial = 0; trial < 50; trial++) {
        setup s = {.table = test_random_table(&rng, 40, 4, 4)};
        s.table->columns[3].role = KN_ROLE_SENSITIVE;
        prepare(&s, &rng, TREES, 3, "lm");
        kn_models_free(s.models);
        const char *const specs[] = {"k-anonymity:k=3", "l-diversity:l=2"};
        assert_ok(kn_models_new(&s.models, specs, 2, s.tuples, err));
        assert_ok(kn_tuples_histograms(s.tuples, NULL, err));
        s.task.models = s.models;
        for (size_t i = 0; i < N_CLAIMS; i++) {
            if (claims[i].only_k != 0 && claims[i].only_k != 3) continue;
            if (claims[i].max_rows != 0 && claims[i].max_rows < 40) continue;
            outcome o = run(&s, claims[i].algorithm, claims[i].params);
            assert_int_equal(o.answer.guarantee.unproven, KN_SAY_UNPROVEN_MODELS);
            assert_int_equal(o.release->n_suppressed, 0);
            kn_finding findings[2];
            assert_ok(kn_models_findings(findings, s.models, o.release, NULL, err));
            assert_true(findings[0].holds && findings[1].holds);
            free_outcome(&o);
        }
        free_setup(&s);
    }
}

static void the_number_of_threads_changes_nothing(void **state)
{
    kn_rng rng = kn_rng_new(22, 0);
    for (int trial = 0; trial < 4; trial++) {
        setup s = {.table = test_random_table(&rng, 1500, 5, 6)};
        uint32_t k = 2 + trial % 2;
        prepare(&s, &rng, trial % 2 ? TREES : SUPPRESS, k, "lm");
        for (size_t i = 0; i < N_CLAIMS; i++) {
            if (claims[i].only_k != 0 && claims[i].only_k != k) continue;
            if (claims[i].max_rows != 0) continue;
            kn_pool *pool = NULL;
            outcome alone = run(&s, claims[i].algorithm, claims[i].params);
            assert_ok(kn_pool_new(&pool, 3, err));
            s.task.pool = pool;
            outcome together = run(&s, claims[i].algorithm, claims[i].params);
            assert_memory_equal(alone.answer.row_class, together.answer.row_class, 1500 * sizeof(uint32_t));
            assert_class_sizes(&s, &alone.answer, k, claims[i].most(k));
            s.task.pool = NULL;
            kn_pool_free(pool);
            free_outcome(&alone);
            free_outcome(&together);
        }
        free_setup(&s);
    }
}

/* k=1, and as many rows as k: every row alone, or all together. */
static void tables_at_the_edge_are_no_trouble(void **state)
{
    const int cells[] = {1, 2, 3, 4, 1, 2};
    for (uint32_t n_rows = 1; n_rows <= 3; n_rows++)
        for (uint32_t k = 1; k <= n_rows; k++) {
            setup s = {.table = test_table(n_rows, 2, cells)};
            prepare(&s, NULL, SUPPRESS, k, "lm");
            for (size_t i = 0; i < N_CLAIMS; i++) {
                if (claims[i].only_k != 0 && claims[i].only_k != k) continue;
                outcome o = run(&s, claims[i].algorithm, claims[i].params);
                assert_int_equal(o.release->n_suppressed, 0);
                assert_true(k > 1 || o.loss == 0);
                assert_true(k < n_rows || k == 1 || o.answer.n_classes == 1);
                free_outcome(&o);
            }
            free_setup(&s);
        }
}

static void every_allocation_may_fail_and_every_tick_may_cancel(void **state)
{
    kn_rng rng = kn_rng_new(23, 0);
    setup s = {.table = test_random_table(&rng, 60, 3, 5)};
    prepare(&s, &rng, TREES, 3, "lm");
    for (size_t i = 0; i < N_CLAIMS; i++) {
        if ((claims[i].only_k != 0 && claims[i].only_k != 3) || claims[i].max_rows != 0) continue;
        const kn_algorithm *entry = kn_algorithm_find(claims[i].algorithm);
        set_algorithm(&s, claims[i].algorithm, claims[i].params);
        kn_status status = KN_RESOURCES;
        for (size_t n = 1; status != KN_OK; n++) {
            kn_answer answer = {0};
            kn_memory_fail_at(n);
            status = entry->search(&answer, &s.task, NULL);
            kn_memory_fail_at(0);
            assert_true(status == KN_OK || status == KN_RESOURCES);
            kn_answer_free(&answer);
        }
        status = KN_INTERRUPTED;
        for (size_t n = 1; status != KN_OK; n++) {
            kn_answer answer = {0};
            s.ticker = (kn_ticker){.fail_at = n};
            status = entry->search(&answer, &s.task, NULL);
            assert_true(status == KN_OK || status == KN_INTERRUPTED);
            kn_answer_free(&answer);
        }
        s.ticker = (kn_ticker){0};
    }
    free_setup(&s);
}

static void what_is_beyond_a_limit_is_refused(void **state)
{
    kn_rng rng = kn_rng_new(24, 0);
    setup s = {.table = test_random_table(&rng, 60, 3, 5)};
    prepare(&s, NULL, SUPPRESS, 3, "lm");
    set_algorithm(&s, "cover", "limit=100");
    kn_answer answer = {0};
    kn_error err = {0};
    assert_int_equal(kn_algorithm_find("cover")->search(&answer, &s.task, &err), KN_RESOURCES);
    assert_non_null(strstr(err.message, "8 lattice nodes"));
    assert_non_null(strstr(err.message, "forest"));
    set_algorithm(&s, "meyerson-williams", "limit=59");
    err = (kn_error){0};
    assert_int_equal(kn_algorithm_find("meyerson-williams")->search(&answer, &s.task, &err), KN_RESOURCES);
    assert_non_null(strstr(err.message, "up to 59 rows"));
    set_algorithm(&s, "meyerson-williams", "sets=subsets");
    err = (kn_error){0};
    assert_int_equal(kn_algorithm_find("meyerson-williams")->search(&answer, &s.task, &err), KN_RESOURCES);
    assert_non_null(strstr(err.message, "subsets of 3 to 5 of 60 rows"));
    free_setup(&s);
}

/* --- Matchings and factors ------------------------------------------------------------------------------------- */

/* The heaviest (perfect) matching of the vertices in `left`, by dynamic programming; INT64_MIN: there is none. */
static int64_t heaviest_matching(const kn_matching_problem *problem, unsigned left, int64_t *known)
{
    if (left == 0) return 0;
    if (known[left] != INT64_MAX) return known[left];
    unsigned low = (unsigned)__builtin_ctz(left);
    int64_t best = problem->perfect ? INT64_MIN : heaviest_matching(problem, left ^ 1u << low, known);
    for (size_t e = 0; e < problem->n_edges; e++) {
        const kn_matching_edge *edge = &problem->edges[e];
        unsigned ends = 1u << edge->a | 1u << edge->b;
        if (!(ends >> low & 1) || (left & ends) != ends) continue;
        int64_t rest = heaviest_matching(problem, left ^ ends, known);
        if (rest != INT64_MIN && rest + edge->weight > best) best = rest + edge->weight;
    }
    return known[left] = best;
}

static void matchings_are_those_of_dynamic_programming(void **state)
{
    kn_rng rng = kn_rng_new(25, 0);
    int n_found = 0, n_none = 0;
    static int64_t known[1 << 12];
    for (int trial = 0; trial < 4000; trial++) {
        kn_matching_edge edges[66];
        uint32_t n = 2 + kn_rng_below(&rng, 11), chance = 1 + kn_rng_below(&rng, 4);
        kn_matching_problem problem = {.n_vertices = n, .edges = edges, .perfect = trial % 2};
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a + 1; b < n; b++)
                if (kn_rng_below(&rng, 4) < chance)
                    edges[problem.n_edges++] = (kn_matching_edge){a, b, (int64_t)kn_rng_below(&rng, 30) - 5};
        for (unsigned u = 0; u < 1u << n; u++) known[u] = INT64_MAX;
        int64_t best = heaviest_matching(&problem, (1u << n) - 1, known), sum = 0, dual = 0;
        kn_matching matching;
        kn_status status = kn_matching_find(&matching, &problem, NULL, NULL);
        assert_int_equal(status, best == INT64_MIN ? KN_NOT_MET : KN_OK);
        n_none += status != KN_OK;
        if (status != KN_OK) continue;
        unsigned used = 0;
        for (size_t e = 0; e < problem.n_edges; e++) {
            const kn_matching_edge *edge = &edges[e];
            int64_t value = matching.dual[edge->a] + matching.dual[edge->b];
            assert_true(value + kn_matching_common(&matching, edge->a, edge->b) >= KN_MATCHING_SCALE * edge->weight);
            if (!matching.used[e]) continue;
            assert_false(used & (1u << edge->a | 1u << edge->b));
            used |= 1u << edge->a | 1u << edge->b;
            sum += edge->weight;
        }
        assert_int_equal(sum, best);
        assert_true(!problem.perfect || used == (1u << n) - 1);
        /* the dual is worth as much: so it proves the matching */
        for (uint32_t v = 0; v < n; v++) dual += matching.dual[v];
        for (uint32_t b = 0; b < matching.n_blossoms; b++) {
            uint32_t size = 0, parent = matching.parent[b];
            for (uint32_t v = 0; v < n; v++)
                for (uint32_t in = matching.blossom[v]; in != UINT32_MAX; in = matching.parent[in]) size += in == b;
            dual += (matching.sum[b] - (parent == UINT32_MAX ? 0 : matching.sum[parent])) * (size / 2);
        }
        assert_int_equal(dual, KN_MATCHING_SCALE * best);
        kn_matching_free(&matching);
        n_found++;
    }
    assert_true(n_found > 1000 && n_none > 100);
}

/* The lightest cycle through the rows of each subset of three or more; by subset. */
static double *lightest_cycles(const double *price, uint32_t n)
{
    double *cycle = calloc(1u << n, sizeof *cycle), *path = calloc((size_t)n << n, sizeof *path);
    for (unsigned subset = 1; subset < 1u << n; subset++) {
        unsigned first = (unsigned)__builtin_ctz(subset);
        cycle[subset] = INFINITY;
        for (unsigned last = 0; last < n; last++) { /* paths from the first row through all to the last */
            double *least = &path[(size_t)subset * n + last];
            *least = INFINITY;
            if (subset == 1u << last) *least = 0;
            if (!(subset >> last & 1) || (last == first && subset != 1u << last)) continue;
            for (unsigned before = 0; before < n; before++)
                if (before != last && (subset >> before & 1))
                    *least = fmin(*least,
                                  path[(size_t)(subset ^ 1u << last) * n + before] + price[1u << last | 1u << before]);
            if (__builtin_popcount(subset) >= 3)
                cycle[subset] = fmin(cycle[subset], *least + price[1u << last | 1u << first]);
        }
    }
    free(path);
    return cycle;
}

/* The lightest factor: of edges and paths of two (k=2), or of cycles (k=3). */
static double lightest_factor(const double *price, uint32_t n, uint32_t k)
{
    double *cycle = lightest_cycles(price, n), *best = calloc(1u << n, sizeof *best);
    for (unsigned u = 1; u < 1u << n; u++) {
        unsigned low = u & (0u - u), others = u ^ low;
        best[u] = INFINITY;
        for (unsigned rest = others;; rest = (rest - 1) & others) {
            unsigned set = rest | low, size = (unsigned)__builtin_popcount(set);
            double weight = k == 3 ? cycle[set] : INFINITY;
            if (k == 2 && size == 2) weight = price[set];
            if (k == 2 && size == 3)
                for (unsigned middle = 0; middle < n; middle++) {
                    unsigned ends = set ^ 1u << middle, end = ends & (0u - ends);
                    if (!(set >> middle & 1)) continue;
                    weight = fmin(weight, price[1u << middle | end] + price[1u << middle | (ends ^ end)]);
                }
            best[u] = fmin(best[u], weight + best[u ^ set]);
            if (rest == 0) break;
        }
    }
    double least = best[(1u << n) - 1];
    free(best);
    free(cycle);
    return least;
}

static void assert_degrees(const kn_factor *factor, uint32_t k)
{
    for (uint32_t v = 0; v < factor->n; v++) {
        assert_true(factor->mate[v][0] < factor->n && factor->mate[v][0] != v);
        assert_true(factor->mate[v][0] != factor->mate[v][1]);
        assert_true(k == 2 || factor->mate[v][1] < factor->n);
    }
}

static void factors_are_those_of_exhaustive_search(void **state)
{
    kn_rng rng = kn_rng_new(26, 0);
    for (int trial = 0; trial < 1500; trial++) {
        uint32_t k = 2 + trial % 2, n_rows = k + kn_rng_below(&rng, 11 - k), n_blocks;
        setup s = {.table = test_random_table(&rng, n_rows, 1 + kn_rng_below(&rng, 4), trial % 3 ? 4 : 2)};
        prepare(&s, &rng, (kinds)(trial / 2 % N_KINDS), k, trial % 5 ? "lm" : "entropy");
        double *price = all_prices(&s), least = lightest_factor(price, n_rows, k);
        kn_factor factor;
        assert_ok(kn_factor_find(&factor, &n_blocks, &s.task, k, 0, trial % 8 < 4 ? 0 : KN_FACTOR_NEAR, err));
        assert_int_equal(n_blocks, 1);
        assert_degrees(&factor, k);
        assert_true(fabs(factor.weight - least) < 1e-8);
        kn_factor_free(&factor);
        free(price);
        free_setup(&s);
    }
}

/* All edges at once, against near neighbours and pricing. */
static double factor_of_the_complete_graph(const setup *s, uint32_t k)
{
    uint32_t n = s->tuples->n_rows;
    size_t n_edges = 0;
    kn_near *near = NULL;
    kn_view view;
    kn_matching matching;
    const double unit = 0x1p30, must = 0x1p50;
    kn_matching_edge *edges = calloc((size_t)n * n * 5, sizeof *edges);
    assert_ok(kn_near_new(&near, s->objective, err));
    assert_ok(kn_view_init(&view, near, err));
    uint32_t gadget = 2 * n;
    for (uint32_t a = 0; a < n; a++) {
        kn_view_from(&view, near->position[s->tuples->row_tuple[a]]);
        for (uint32_t b = a + 1; b < n; b++) {
            int64_t w = llround(unit * kn_view_distance(&view, near->position[s->tuples->row_tuple[b]]));
            if (k == 2) {
                edges[n_edges++] = (kn_matching_edge){2 * a, 2 * b, (int64_t)(2 * must) - w};
                edges[n_edges++] = (kn_matching_edge){2 * a + 1, 2 * b, (int64_t)must - w};
                edges[n_edges++] = (kn_matching_edge){2 * a, 2 * b + 1, (int64_t)must - w};
                continue;
            }
            for (uint32_t copy = 0; copy < 2; copy++) {
                edges[n_edges++] = (kn_matching_edge){2 * a + copy, gadget, -w};
                edges[n_edges++] = (kn_matching_edge){2 * b + copy, gadget + 1, -w};
            }
            edges[n_edges++] = (kn_matching_edge){gadget, gadget + 1, 0};
            gadget += 2;
        }
    }
    kn_matching_problem problem = {k == 2 ? 2 * n : gadget, n_edges, edges, k == 3};
    assert_ok(kn_matching_find(&matching, &problem, NULL, err));
    double sum = k == 2 ? must * n : 0;
    for (size_t e = 0; e < n_edges; e++) sum -= matching.used[e] ? (double)edges[e].weight : 0;
    kn_matching_free(&matching);
    kn_view_free(&view);
    kn_near_free(near);
    free(edges);
    return sum / unit / (k == 2 ? 1 : 2);
}

static void pricing_finds_every_edge_that_matters(void **state)
{
    kn_rng rng = kn_rng_new(27, 0);
    uint32_t n_rounds = 0;
    for (int trial = 0; trial < 24; trial++) {
        uint32_t k = 2 + trial % 2, n_blocks;
        setup s = {.table = test_random_table(&rng, trial % 4 < 2 ? 60 : 90, 2 + kn_rng_below(&rng, 3), 7)};
        prepare(&s, &rng, (kinds)(trial / 2 % N_KINDS), k, "lm");
        kn_factor factor;
        assert_ok(kn_factor_find(&factor, &n_blocks, &s.task, k, 0, trial % 8 < 4 ? 0 : KN_FACTOR_NEAR, err));
        assert_degrees(&factor, k);
        assert_true(fabs(factor.weight - factor_of_the_complete_graph(&s, k)) < 1e-5);
        n_rounds += factor.n_rounds;
        kn_factor_free(&factor);
        free_setup(&s);
    }
    assert_true(n_rounds > 24); /* there was something to find */
}

/* What the dual holds to be missing depends on blossoms: larger tables have them. */
static void a_factor_does_not_depend_on_the_edges_it_begins_with(void **state)
{
    kn_rng rng = kn_rng_new(29, 0);
    for (int trial = 0; trial < 12; trial++) {
        uint32_t k = 2 + trial % 2, n_blocks;
        setup s = {.table = test_random_table(&rng, 300, 3 + kn_rng_below(&rng, 3), 12)};
        double weight = NAN;
        prepare(&s, &rng, trial % 3 == 0 ? SUPPRESS : TREES, k, "lm");
        for (uint32_t n_near = 0; n_near <= 40; n_near += n_near < 8 ? 4 : 32) {
            kn_factor factor;
            assert_ok(kn_factor_find(&factor, &n_blocks, &s.task, k, 0, n_near, err));
            assert_degrees(&factor, k);
            if (isnan(weight)) weight = factor.weight;
            assert_true(fabs(factor.weight - weight) < 1e-7);
            kn_factor_free(&factor);
        }
        free_setup(&s);
    }
}

/* [AF] 6: the bound of Lemma 11 is met, and the result is the optimum all the same. */
static void the_cycle_of_eight_costs_24(void **state)
{
    const int cells[] = {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1,
                         1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0};
    setup s;
    uint32_t n_blocks;
    kn_factor factor;
    known_table(&s, 8, 4, cells, 3);
    assert_known(&s, 3, 24);
    assert_ok(kn_factor_find(&factor, &n_blocks, &s.task, 3, 0, KN_FACTOR_NEAR, err));
    assert_true(fabs(factor.weight - 8) < 1e-9);
    outcome o = run(&s, "three-factor", "");
    assert_true(fabs(stars(&s, o.loss) - 24) < 1e-9);
    assert_true(o.answer.guarantee.ratio == 2);
    free_outcome(&o);
    kn_factor_free(&factor);
    free_setup(&s);
}

static void a_factor_says_what_it_cannot_do(void **state)
{
    kn_rng rng = kn_rng_new(28, 0);
    setup s = {.table = test_random_table(&rng, 100, 3, 5)};
    kn_answer answer = {0};
    kn_error err = {0};
    prepare(&s, NULL, SUPPRESS, 4, "lm");
    set_algorithm(&s, "two-factor", "");
    assert_int_equal(kn_algorithm_fits(kn_algorithm_find("two-factor"), &s.task, &err), KN_USAGE);
    assert_non_null(strstr(err.message, "is for k=2, and k is 4"));
    free_setup(&s);
    s.table = test_random_table(&rng, 100, 3, 5);
    prepare(&s, NULL, SUPPRESS, 3, "lm");
    set_algorithm(&s, "three-factor", "limit=99");
    err = (kn_error){0};
    assert_int_equal(kn_algorithm_find("three-factor")->search(&answer, &s.task, &err), KN_RESOURCES);
    assert_non_null(strstr(err.message, "up to 99 rows, and this one has 100"));
    outcome whole = run(&s, "three-factor", ""), parts = run(&s, "three-factor", "limit=99,block=30");
    assert_true(whole.answer.guarantee.holds && whole.answer.guarantee.ratio == 3);
    assert_int_equal(whole.answer.n_blocks, 1);
    assert_int_equal(parts.answer.n_blocks, 4);
    assert_false(parts.answer.guarantee.holds);
    assert_int_equal(parts.answer.guarantee.unproven, KN_SAY_UNPROVEN_BLOCKS);
    assert_class_sizes(&s, &parts.answer, 3, 5);
    free_outcome(&whole);
    free_outcome(&parts);
    s.task.memory_bytes = 1000;
    err = (kn_error){0};
    set_algorithm(&s, "three-factor", "");
    assert_int_equal(kn_algorithm_find("three-factor")->search(&answer, &s.task, &err), KN_RESOURCES);
    assert_non_null(strstr(err.message, "more than is allowed"));
    free_setup(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ratio_is_above_the_theorem),
        cmocka_unit_test(neighbours_are_those_of_a_full_scan),
        cmocka_unit_test(the_forest_weighs_at_most_the_optimum),
        cmocka_unit_test(trees_are_cut_into_parts_of_the_right_sizes),
        cmocka_unit_test(the_closure_greedy_has_the_subset_greedys_ratios),
        cmocka_unit_test(suppressed_rows_are_outside_of_the_theorem_of_cover),
        cmocka_unit_test(the_table_of_the_introduction_has_six_stars),
        cmocka_unit_test(the_survey_figures_cost_18_and_60),
        cmocka_unit_test(a_graph_of_m_triangles_costs_9mt),
        cmocka_unit_test(equal_graphs_can_cost_differently),
        cmocka_unit_test(the_reduction_for_non_uniform_entropy_costs_29_02),
        cmocka_unit_test(a_measure_that_falls_proves_nothing),
        cmocka_unit_test(sets_prove_less_than_trees),
        cmocka_unit_test(other_models_are_repaired_without_a_proof),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(tables_at_the_edge_are_no_trouble),
        cmocka_unit_test(every_allocation_may_fail_and_every_tick_may_cancel),
        cmocka_unit_test(what_is_beyond_a_limit_is_refused),
        cmocka_unit_test(matchings_are_those_of_dynamic_programming),
        cmocka_unit_test(factors_are_those_of_exhaustive_search),
        cmocka_unit_test(pricing_finds_every_edge_that_matters),
        cmocka_unit_test(a_factor_does_not_depend_on_the_edges_it_begins_with),
        cmocka_unit_test(the_cycle_of_eight_costs_24),
        cmocka_unit_test(a_factor_says_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
