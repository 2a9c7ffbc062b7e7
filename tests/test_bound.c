/* Bounds against the definition: no release of a small table, found by trying all of them, may lose less. */
#include "support.h"

#include "bound/bound.h"
#include "bound/neighbours.h"
#include "hierarchy/build.h"
#include "privacy/sensitive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QIS = 14, MAX_ROWS = 9, N_SUBSETS = 1 << MAX_ROWS };

/* GRID: intervals that end at multiples of three. LOOSE, ENDS: trees whose labels are written for the values that
 * released rows have: as sets, or from the first to the last. CODED: with a top, a bottom or a rounding. */
typedef enum kinds { TREES, SUPPRESS, RANGES, GRID, SETS, SUBSETS, LOOSE, ENDS, CODED, MIXED, N_KINDS } kinds;

typedef struct setup {
    kn_table *table;
    uint32_t n_qis;
    kn_domain *domains[MAX_QIS];
    uint32_t grids[MAX_QIS][2][16];
    uint32_t sensitive;  /* column; 0: none */
    bool has_population; /* a model asks for one: it may be anything, so that the model may always hold */
    kn_tuples *tuples;
    kn_models *models;
    kn_objective *objective;
    kn_ticker ticker;
    kn_task task;
} setup;

static void free_setup(setup *s)
{
    kn_objective_free(s->objective);
    kn_models_free(s->models);
    kn_tuples_free(s->tuples);
    for (uint32_t q = 0; q < s->n_qis; q++) kn_domain_free(s->domains[q]);
    test_table_free(s->table);
    *s = (setup){0};
}

static void add_grid(setup *s, kn_domain *domain)
{
    const uint32_t n = domain->n_codes - (domain->missing != KN_NONE);
    if (n > 16) return;
    for (uint32_t code = 0; code < n; code++) {
        s->grids[s->n_qis][0][code] = code / 3 * 3;
        s->grids[s->n_qis][1][code] = code / 3 * 3 + 2 < n ? code / 3 * 3 + 2 : n - 1;
    }
    domain->grid_first = s->grids[s->n_qis][0];
    domain->grid_last = s->grids[s->n_qis][1];
}

static kn_domain *coded_domain(kn_rng *rng, const kn_table *table, uint32_t c)
{
    static const char *const thresholds[] = {"1", "2", "3", "4"};
    kn_hierarchy_request request = {.weight = 1, .max_level = KN_NONE};
    kn_domain *domain;
    const uint32_t bottom = kn_rng_below(rng, 4), top = bottom + kn_rng_below(rng, 4 - bottom);
    if (kn_rng_below(rng, 3) == 0) request.round = kn_rng_below(rng, 2) ? "2" : "3";
    if (kn_rng_below(rng, 3) > 0) request.bottom = thresholds[bottom];
    if (kn_rng_below(rng, 3) > 0) request.top = thresholds[top];
    if (request.round == NULL && kn_rng_below(rng, 2)) request.spec = "suppress";
    else request.grid = request.round != NULL ? request.round : "1";
    /* thresholds lie on the grid */
    if (request.round != NULL && request.bottom != NULL) request.bottom = request.round;
    if (request.round != NULL && request.top != NULL) request.top = request.round;
    request.missing_is_wildcard = kn_rng_below(rng, 3) == 0;
    assert_ok(kn_domain_build(&domain, &table->columns[c], "test", table->n_rows, &request, err));
    return domain;
}

static kn_domain *make_domain(kn_rng *rng, setup *s, uint32_t c, kinds kind)
{
    if (kind == SETS) s->table->columns[c].type = KN_TYPE_TEXT;
    if (kind == RANGES || kind == GRID || kind == SETS) {
        kn_domain *domain = test_domain(s->table, c, NULL);
        domain->missing_is_wildcard = domain->missing != KN_NONE && kn_rng_below(rng, 3) == 0;
        if (kind == GRID) add_grid(s, domain);
        return domain;
    }
    if (kind == CODED) return coded_domain(rng, s->table, c);
    if (kind == SUPPRESS) return test_suppress_domain(s->table, c);
    if (kind == SUBSETS) return test_random_subsets_domain(rng, s->table, c);
    kn_domain *domain = test_random_tree_domain(rng, s->table, c, 4);
    if (kind == LOOSE) domain->naming = KN_NAMES_SET;
    if (kind == ENDS) domain->naming = KN_NAMES_ENDS;
    return domain;
}

/* With one of the models that ask for different values: those that this table can have. */
static const char *some_model(kn_rng *rng, const setup *s)
{
    static const char *const models[] = {"l-diversity:l=2",
                                         "l-diversity:l=1.7,kind=entropy",
                                         "l-diversity:l=2,kind=recursive,c=2",
                                         "l-diversity:l=1.5,kind=frequency",
                                         "p-sensitive:p=2",
                                         "alpha-k:alpha=0.7",
                                         "alpha-k:alpha=0.5",
                                         "delta-disclosure:delta=3",
                                         "t-closeness:t=0.6",
                                         "t-closeness:t=0.35",
                                         "t-closeness:t=0.2",
                                         "t-closeness:t=0.3,distance=ordered",
                                         "beta-likeness:beta=1",
                                         "beta-likeness:beta=0.5,enhanced=yes",
                                         "k-map:k=5,population=nobody.csv",
                                         "l-diversity:l=3"};
    /* of two columns, read together */
    static const char *const joint[] = {"l-diversity:l=2", "l-diversity:l=1.7,kind=entropy", "p-sensitive:p=2",
                                        "alpha-k:alpha=0.7", "t-closeness:t=0.4"};
    static char together[96];
    const bool few = kn_sensitive_distinct(&s->tuples->sensitive[0]) < 3;
    if (few && s->tuples->n_table_sensitive == 1) return "l-diversity:l=1";
    if (s->tuples->n_table_sensitive == 1) return models[kn_rng_below(rng, sizeof models / sizeof *models)];
    snprintf(together, sizeof together, "%s,column=%s%s",
             few ? "l-diversity:l=1" : joint[kn_rng_below(rng, sizeof joint / sizeof *joint)],
             s->tuples->sensitive[0].column->name, kn_rng_below(rng, 3) > 0 ? ",joint=yes" : "");
    return together;
}

static void prepare(setup *s, kn_rng *rng, kinds kind, const char *measure, unsigned k, uint64_t max_suppressed)
{
    char spec[32];
    for (uint32_t c = 0; c < s->table->n_columns; c++) {
        if (s->table->columns[c].role != KN_ROLE_QUASI) continue;
        s->domains[s->n_qis] = make_domain(rng, s, c, kind == MIXED ? (kinds)kn_rng_below(rng, MIXED) : kind);
        if (kn_rng_below(rng, 3) == 0) s->domains[s->n_qis]->weight = 0.5 * kn_rng_below(rng, 5);
        s->n_qis++;
    }
    s->domains[0]->weight = 1;
    assert_ok(kn_tuples_new(&s->tuples, s->table, s->domains, s->n_qis, NULL, NULL, err));
    if (k > s->tuples->n_persons) k = s->tuples->n_persons;
    snprintf(spec, sizeof spec, "k-anonymity:k=%u", k);
    const char *model = s->sensitive != 0 ? some_model(rng, s) : NULL;
    s->has_population = model != NULL && strncmp(model, "k-map", 5) == 0;
    assert_ok(kn_models_new(&s->models, (const char *const[]){spec, model}, s->sensitive != 0 ? 2 : 1, s->tuples, err));
    if (s->sensitive != 0) assert_ok(kn_tuples_histograms(s->tuples, NULL, err));
    assert_ok(kn_objective_new(&s->objective, measure, s->tuples, err));
    s->task = (kn_task){.tuples = s->tuples,
                        .models = s->models,
                        .objective = s->objective,
                        .max_suppressed = max_suppressed,
                        .ticker = &s->ticker};
}

static void random_setup(setup *s, kn_rng *rng, kinds kind, uint32_t n_rows, uint32_t n_qis, uint32_t n_values,
                         const char *measure, unsigned k, uint64_t max_suppressed, bool persons)
{
    int cells[MAX_ROWS * 30 * (MAX_QIS + 1)];
    const uint32_t n_columns = n_qis + persons;
    const bool skewed = kn_rng_below(rng, 2);
    const bool has_missing =
        (kind == RANGES || kind == GRID || kind == SETS || kind == SUBSETS || kind == CODED) && kn_rng_below(rng, 2);
    for (uint32_t i = 0; i < n_rows * n_columns; i++) {
        const uint32_t n = persons && i % n_columns == n_qis ? n_rows * 2 / 3 + 1 : n_values;
        cells[i] = (int)kn_rng_below(rng, skewed ? 1 + kn_rng_below(rng, n) : n);
        if (has_missing && n == n_values && kn_rng_below(rng, 5) == 0) cells[i] = TEST_MISSING;
    }
    *s = (setup){.table = test_table(n_rows, n_columns, cells)};
    if (persons) {
        s->table->columns[n_qis].role = KN_ROLE_IDENTIFIER;
        s->table->columns[n_qis].is_person = true;
        s->table->person = n_qis;
    }
    prepare(s, rng, kind, measure, k, max_suppressed);
}

/* --- The best release, by trying all of them --------------------------------------------------------------------- */

static uint32_t code_of(const setup *s, uint32_t row, uint32_t q)
{
    return s->tuples->codes[q][s->tuples->row_tuple[row]];
}

/* The least that a column costs a class: any node above its values, any interval around them, or, of loose labels, just
 * its values. */
static double cheapest_cell(const setup *s, uint32_t q, const uint32_t *codes, uint32_t n)
{
    const kn_domain *domain = s->domains[q];
    kn_set_pool *sets;
    kn_cell cell;
    assert_ok(kn_set_pool_new(&sets, err));
    assert_ok(kn_domain_closure(&cell, domain, sets, codes, n, err));
    double price = kn_objective_price(s->objective, sets, q, &cell);
    if (domain->kind == KN_DOMAIN_TREE && domain->naming != KN_NAMES_FIXED && cell.id != domain->tree->root) {
        uint32_t distinct[MAX_ROWS], n_distinct = 0;
        for (uint32_t code = 0; code < domain->n_codes; code++)
            for (uint32_t i = 0; i < n; i++)
                if (codes[i] == code) {
                    distinct[n_distinct++] = code;
                    break;
                }
        if (n_distinct > 1) {
            cell = (kn_cell){distinct[0], distinct[n_distinct - 1], KN_NONE};
            if (domain->naming == KN_NAMES_ENDS)
                assert_ok(kn_set_pool_add_label(&cell.id, sets, NULL, 0, "a..b", 4, err));
            else assert_ok(kn_set_pool_add(&cell.id, sets, distinct, n_distinct, err));
            cell.id += domain->tree->n_nodes;
            price = fmin(price, kn_objective_price(s->objective, sets, q, &cell));
        }
    } else if (domain->kind == KN_DOMAIN_TREE) {
        for (uint32_t node = cell.id; node != domain->tree->root; node = domain->tree->parent[node])
            price = fmin(price, s->objective->node_price[q][domain->tree->parent[node]]);
    }
    for (uint32_t a = 0; domain->kind == KN_DOMAIN_RANGES && a <= cell.first; a++)
        for (uint32_t b = cell.last; b < domain->n_codes; b++) {
            kn_cell wider;
            assert_ok(kn_domain_closure(&wider, domain, sets, (uint32_t[]){a, b}, 2, err));
            price = fmin(price, kn_objective_price(s->objective, sets, q, &wider));
        }
    kn_set_pool_free(sets);
    return price;
}

static bool models_hold(const setup *s, uint32_t set, uint32_t n_rows, uint32_t n_persons)
{
    enum { MOST_SENSITIVE = 4 };
    uint32_t group_of[MAX_ROWS];
    kn_histograms counted[MOST_SENSITIVE] = {0};
    kn_histogram histograms[MOST_SENSITIVE];
    if (s->sensitive == 0) return true;
    assert_true(s->tuples->n_sensitive <= MOST_SENSITIVE);
    for (uint32_t row = 0; row < s->table->n_rows; row++) group_of[row] = set >> row & 1 ? 0 : KN_NONE;
    for (uint32_t i = 0; i < s->tuples->n_sensitive; i++) {
        assert_ok(kn_histograms_count(&counted[i], s->tuples->sensitive[i].column, group_of, s->table->n_rows, 1, err));
        histograms[i] = kn_histogram_of(&counted[i], 0);
    }
    const kn_class_counts counts = {.n_rows = n_rows,
                                    .n_persons = n_persons,
                                    .n_population = s->has_population ? 1000 : 0,
                                    .sensitive = histograms};
    const bool holds = kn_models_hold(s->models, &counts);
    for (uint32_t i = 0; i < s->tuples->n_sensitive; i++) kn_histograms_clear(&counted[i]);
    return holds;
}

/* What a set of rows costs as a class; INFINITY where it is none. */
static double class_cost(const setup *s, uint32_t set, unsigned k)
{
    uint32_t rows[MAX_ROWS], codes[MAX_ROWS], n = 0, n_persons = 0;
    double sum = 0;
    for (uint32_t row = 0; row < s->table->n_rows; row++)
        if (set >> row & 1) rows[n++] = row;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t before = 0;
        while (s->tuples->row_person != NULL && before < i &&
               s->tuples->row_person[rows[before]] != s->tuples->row_person[rows[i]])
            before++;
        n_persons += s->tuples->row_person == NULL || before == i;
    }
    if (n_persons < k || !models_hold(s, set, n, n_persons)) return INFINITY;
    if (s->objective->type->by_size != NULL)
        return s->objective->type->by_size[0] + s->objective->type->by_size[1] * n * n;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        for (uint32_t i = 0; i < n; i++) codes[i] = code_of(s, rows[i], q);
        sum += n * cheapest_cell(s, q, codes, n);
    }
    return sum;
}

/* What suppressing a row costs. */
static double gone_cost(const setup *s)
{
    double sum = 0;
    const kn_class_counts one = {.n_rows = 1};
    if (s->objective->type->by_size != NULL)
        return s->objective->type->price_class(s->objective->state, s->tuples, &one, NULL, NULL, true);
    for (uint32_t q = 0; q < s->n_qis; q++) sum += s->objective->root_price[q];
    return sum;
}

/* The least loss of any release; INFINITY: there is none. best[set][g]: of these rows, with g of them suppressed. */
static double best_loss(const setup *s)
{
    const unsigned k = (unsigned)s->models->min_persons;
    static double cost[N_SUBSETS], best[N_SUBSETS][MAX_ROWS + 1];
    const uint32_t n = s->table->n_rows;
    for (uint32_t set = 1; set < 1u << n; set++) cost[set] = class_cost(s, set, k);
    for (uint32_t set = 0; set < 1u << n; set++)
        for (uint32_t gone = 0; gone <= n; gone++) {
            best[set][gone] = set == 0 && gone == 0 ? 0 : INFINITY;
            if (set == 0) continue;
            const uint32_t first = set & (0u - set), rest = set ^ first;
            if (gone > 0) best[set][gone] = gone_cost(s) + best[rest][gone - 1];
            for (uint32_t others = rest;; others = (others - 1) & rest) {
                best[set][gone] = fmin(best[set][gone], cost[first | others] + best[rest ^ others][gone]);
                if (others == 0) break;
            }
        }
    double least = INFINITY;
    for (uint32_t gone = 0; gone <= n && gone <= s->task.max_suppressed; gone++)
        least = fmin(least, best[(1u << n) - 1][gone]);
    const kn_release whole = {.tuples = s->tuples};
    if (isinf(least)) return least;
    if (s->objective->type->finish != NULL) return s->objective->type->finish(s->objective->state, &whole, least);
    return (least - s->objective->discount) * s->objective->scale;
}

static double bound_of(const setup *s, kn_bound_effort effort, kn_bound_method *method)
{
    kn_bound *bound;
    assert_ok(kn_bound_new(&bound, &s->task, effort, err));
    double value = bound->value;
    *method = bound->method;
    assert_true(isnan(value) == (bound->method == KN_BOUND_NONE) && isnan(value) == (bound->why != KN_SAY_NOTHING));
    kn_bound_free(bound);
    return value;
}

static const char *const measures[] = {"lm",
                                       "tree",
                                       "hybrid",
                                       "entropy",
                                       "monotone-entropy",
                                       "non-uniform-entropy",
                                       "mi",
                                       "suppressed-cells",
                                       "dm",
                                       "average-class",
                                       "suppressed-rows"};
enum { N_MEASURES = sizeof measures / sizeof *measures };

static uint64_t limit_of(kn_rng *rng, uint32_t n_rows)
{
    switch (kn_rng_below(rng, 3)) {
    case 0: return 0;
    case 1: return 1 + kn_rng_below(rng, 3);
    default: return n_rows;
    }
}

static void no_release_loses_less(void **state)
{
    kn_rng rng = kn_rng_new(1, 0);
    double sum_bound = 0, sum_best = 0; /* lm, trees */
    for (int trial = 0; trial < 12000; trial++) {
        const uint32_t n_rows = 2 + kn_rng_below(&rng, trial % 20 == 0 ? MAX_ROWS - 1 : 6);
        const unsigned k = 2 + kn_rng_below(&rng, 3);
        const kinds kind = (kinds)(trial / N_MEASURES % N_KINDS);
        const char *measure = measures[trial % N_MEASURES];
        kn_bound_method method;
        setup s;
        random_setup(&s, &rng, kind, n_rows, 1 + kn_rng_below(&rng, 3), 2 + kn_rng_below(&rng, 4), measure, k,
                     limit_of(&rng, n_rows), kn_rng_below(&rng, 4) == 0);
        const double best = best_loss(&s), bound = bound_of(&s, (kn_bound_effort)kn_rng_below(&rng, 4), &method);
        if (s.models->min_persons < 2) {
            assert_true(method == KN_BOUND_NONE);
            free_setup(&s);
            continue;
        }
        if (!isinf(best) && bound > best + 1e-12)
            fail_msg("trial %d: %s, kind %d, k=%u, suppressed %u: bound %.15g by %s, but there is %.15g", trial,
                     measure, (int)kind, k, (unsigned)s.task.max_suppressed, bound, kn_bound_method_name(method), best);
        if (method == KN_BOUND_NONE) assert_string_equal(measure, "entropy");
        if (trial % N_MEASURES == 0 && (kind == TREES || kind == SUPPRESS) && !isinf(best)) {
            sum_bound += bound;
            sum_best += best;
        }
        if (method == KN_BOUND_SIZES && s.tuples->row_person == NULL && !isinf(best))
            assert_true(fabs(bound - best) < 1e-9);
        free_setup(&s);
    }
    /* And it is not just small: most of what must be lost is shown. */
    assert_true(sum_bound > 0.9 * sum_best);
}

/* Models that ask for different values: groups without enough of them are left out, and the bound rises. */
static void models_of_values_are_never_asked_too_much(void **state)
{
    kn_rng rng = kn_rng_new(12, 0);
    int n_raised = 0;
    for (int trial = 0; trial < 8000; trial++) {
        const uint32_t n_rows = 3 + kn_rng_below(&rng, trial % 20 == 0 ? MAX_ROWS - 2 : 4),
                       n_qis = 1 + kn_rng_below(&rng, 2), n_columns = n_qis + 1 + (trial % 3 == 2);
        const kinds kind = (kinds)(trial / 8 % N_KINDS);
        int cells[MAX_ROWS * 4];
        kn_bound_method method;
        for (uint32_t i = 0; i < n_rows * n_columns; i++)
            cells[i] = (int)kn_rng_below(&rng, i % n_columns == n_qis  ? 3
                                               : i % n_columns > n_qis ? 2
                                                                       : 2 + kn_rng_below(&rng, 3));
        setup s = {.table = test_table(n_rows, n_columns, cells), .sensitive = n_qis};
        for (uint32_t c = n_qis; c < n_columns; c++) s.table->columns[c].role = KN_ROLE_SENSITIVE;
        prepare(&s, &rng, kind, measures[trial % 8], 2, limit_of(&rng, n_rows));
        const double best = best_loss(&s), bound = bound_of(&s, (kn_bound_effort)kn_rng_below(&rng, 4), &method);
        if (!isinf(best) && method != KN_BOUND_NONE && bound > best + 1e-12)
            fail_msg("trial %d: %s, kind %d: bound %.15g, but there is %.15g", trial, measures[trial % 8], (int)kind,
                     bound, best);
        if (method == KN_BOUND_DUAL) {
            double with = bound_of(&s, KN_BOUND_CERTIFY, &method);
            s.models->min_values[0] = 0;
            n_raised += with > bound_of(&s, KN_BOUND_CERTIFY, &method) + 1e-6;
        }
        free_setup(&s);
    }
    assert_true(n_raised > 200);
}

/* A record with a count is as many equal rows: the same bound, and no release of those rows loses less. */
static void a_record_counts_for_as_many_rows(void **state)
{
    kn_rng rng = kn_rng_new(14, 0);
    for (int trial = 0; trial < 3000; trial++) {
        const uint32_t n_qis = 1 + kn_rng_below(&rng, 2), n_columns = n_qis + 1;
        const kinds kind = (kinds)(trial / N_MEASURES % N_KINDS);
        int records[MAX_ROWS * 3], rows[MAX_ROWS * 2];
        uint32_t n_records = 0, n_rows = 0;
        kn_bound_method method;
        while (n_rows < 2 || (n_rows < 6 && kn_rng_below(&rng, 4) > 0)) {
            const uint32_t count = 1 + kn_rng_below(&rng, 3);
            int *record = &records[n_records++ * n_columns];
            for (uint32_t q = 0; q < n_qis; q++) record[q] = (int)kn_rng_below(&rng, 4);
            record[n_qis] = (int)count;
            for (uint32_t i = 0; i < count; i++) memcpy(&rows[n_rows++ * n_qis], record, n_qis * sizeof *rows);
        }
        setup counted = {.table = test_table(n_records, n_columns, records)},
              spelt = {.table = test_table(n_rows, n_qis, rows)};
        counted.table->columns[n_qis].role = KN_ROLE_DROPPED;
        assert_ok(kn_table_count(counted.table, n_qis, KN_NONE, err));
        const unsigned k = 2 + kn_rng_below(&rng, 2);
        const uint64_t max_suppressed = limit_of(&rng, n_rows);
        const kn_bound_effort effort = (kn_bound_effort)kn_rng_below(&rng, 4);
        kn_rng same = rng;
        prepare(&counted, &rng, kind, measures[trial % N_MEASURES], k, max_suppressed);
        prepare(&spelt, &same, kind, measures[trial % N_MEASURES], k, max_suppressed);
        const double best = best_loss(&spelt), bound = bound_of(&counted, effort, &method);
        if (method != KN_BOUND_NONE) {
            if (!isinf(best) && bound > best + 1e-12)
                fail_msg("trial %d: %s, kind %d: bound %.15g, but there is %.15g; spelt out %.15g", trial,
                         measures[trial % N_MEASURES], (int)kind, bound, best, bound_of(&spelt, effort, &method));
            assert_true(fabs(bound - bound_of(&spelt, effort, &method)) <= 1e-12);
        }
        free_setup(&counted);
        free_setup(&spelt);
    }
}

static double bound_of_letters(const char *letters, uint64_t max_suppressed, const char *measure)
{
    kn_rng rng = kn_rng_new(0, 0);
    int cells[16];
    kn_bound_method method;
    const uint32_t n = (uint32_t)strlen(letters);
    for (uint32_t i = 0; i < n; i++) cells[i] = letters[i];
    setup s = {.table = test_table(n, 1, cells)};
    prepare(&s, &rng, SUPPRESS, measure, 2, max_suppressed);
    double bound = bound_of(&s, KN_BOUND_CERTIFY, &method);
    assert_true(bound <= best_loss(&s) + 1e-12);
    free_setup(&s);
    return bound;
}

/* Rows a, a, z: without suppression the program alone says 2 (half of a class of two may join z), in truth it is 3;
 * with it z goes, for 1. A bound that forgets suppression would say 2. */
static void a_row_that_may_go_costs_at_most_the_root(void **state)
{
    assert_true(bound_of_letters("aaz", 3, "suppressed-cells") <= 1);
    assert_true(bound_of_letters("aaz", 1, "suppressed-cells") <= 1);
    assert_true(bound_of_letters("aaz", 3, "suppressed-cells") > 0.999);
    assert_true(bound_of_letters("aaz", 0, "suppressed-cells") > 1.99);
}

/* Two rare values beside many: a row's own price under non-uniform entropy differs from its class's average. */
static void rows_of_a_class_may_pay_differently(void **state)
{
    assert_true(bound_of_letters("aaaaaaz", 0, "non-uniform-entropy") > 0);
    assert_true(bound_of_letters("aaaaaazy", 0, "mi") > 0);
    assert_true(bound_of_letters("aaaaaazy", 1, "mi") > 0);
    assert_true(bound_of_letters("abbzzzy", 7, "non-uniform-entropy") >= 0);
}

/* x, y, z have a node of their own; a, a, b, b have the root only, where they pay less than x, y and z would. If the
 * root's price were what its rows pay on average, the program would prove more than the best release loses. */
static void an_average_over_a_class_would_prove_too_much(void **state)
{
    const int cells[] = {0, 1, 2, 3, 3, 4, 4};
    const double node = log2(3), rare = log2(7), frequent = log2(3.5), average = (3 * rare + 4 * frequent) / 7;
    kn_bound_method method;
    setup s = {.table = test_table(7, 1, cells), .n_qis = 1};
    s.domains[0] = test_domain(s.table, 0, "0;9;*\n1;9;*\n2;9;*\n3;3;*\n4;4;*\n");
    assert_ok(kn_tuples_new(&s.tuples, s.table, s.domains, s.n_qis, NULL, NULL, err));
    assert_ok(kn_models_new(&s.models, (const char *const[]){"k-anonymity:k=3"}, 1, s.tuples, err));
    assert_ok(kn_objective_new(&s.objective, "non-uniform-entropy", s.tuples, err));
    s.task = (kn_task){.tuples = s.tuples, .models = s.models, .objective = s.objective, .ticker = &s.ticker};
    const double best = best_loss(&s), bound = bound_of(&s, KN_BOUND_CERTIFY, &method);
    assert_true(fabs(best - (3 * node + 4 * frequent) * s.objective->scale) < 1e-9);
    assert_true((3 * node + 4 * average) * s.objective->scale > 1.1 * best);
    assert_true(bound <= best + 1e-12 && bound > 0.999 * best);
    free_setup(&s);
}

static void no_bound_comes_with_a_reason(void **state)
{
    kn_rng rng = kn_rng_new(2, 0);
    setup s;
    kn_bound *bound;
    random_setup(&s, &rng, TREES, 8, 2, 3, "lm", 1, 0, false);
    assert_ok(kn_bound_new(&bound, &s.task, KN_BOUND_CERTIFY, err));
    assert_true(isnan(bound->value) && bound->why == KN_SAY_UNBOUNDED_K);
    kn_bound_free(bound);
    free_setup(&s);
    random_setup(&s, &rng, SETS, 8, 2, 3, "entropy", 2, 0, false);
    assert_ok(kn_bound_new(&bound, &s.task, KN_BOUND_CERTIFY, err));
    assert_true(isnan(bound->value) && bound->why == KN_SAY_UNBOUNDED_MONOTONE);
    kn_bound_free(bound);
    free_setup(&s);
    random_setup(&s, &rng, TREES, 8, 2, 3, "kl", 2, 0, false);
    assert_ok(kn_bound_new(&bound, &s.task, KN_BOUND_CERTIFY, err));
    assert_true(isnan(bound->value) && bound->why == KN_SAY_UNBOUNDED_MEASURE);
    kn_bound_free(bound);
    free_setup(&s);
}

/* --- Groups ------------------------------------------------------------------------------------------------------ */

typedef struct seen {
    struct {
        uint32_t points, price; /* a bit per point */
    } groups[1 << 16];
    uint32_t n;
} seen;

static kn_status note(void *context, const kn_group *group, size_t job, unsigned worker, kn_error *err)
{
    seen *all = context;
    assert_true(all->n < 1 << 16);
    all->groups[all->n].points = 0;
    for (uint32_t i = 0; i < group->n_points; i++) {
        assert_false(all->groups[all->n].points >> group->points[i] & 1);
        all->groups[all->n].points |= 1u << group->points[i];
    }
    all->groups[all->n++].price = group->price;
    return KN_OK;
}

/* What the cell between the values of these points costs. */
static uint32_t between_units(const kn_bound_problem *problem, const kn_bound_column *column, uint32_t points)
{
    const uint32_t n = column->n_nodes;
    uint32_t first = n, last = 0, n_values = 0;
    bool has_apart = false;
    for (uint32_t value = 0; value < n; value++) {
        bool occurs = false;
        for (uint32_t i = 0; i < problem->n_points; i++) occurs |= (points >> i & 1) && column->codes[i] == value;
        if (!occurs) continue;
        n_values++;
        has_apart |= value == column->apart;
        if (first == n) first = value;
        last = value;
    }
    const bool is_all = column->shape == KN_SHAPE_PAIRS ? n_values > 2 : has_apart && n_values > 1;
    return is_all ? column->all_price : column->pair_price[first * n + last];
}

/* What these points cost together at least: any nodes above them. */
static uint32_t cheapest_units(const kn_bound_problem *problem, uint32_t points)
{
    uint32_t sum = 0;
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const kn_bound_column *column = &problem->columns[c];
        uint32_t least = column->shape != KN_SHAPE_TREE ? between_units(problem, column, points) : UINT32_MAX;
        for (uint32_t l = 0; column->shape == KN_SHAPE_TREE && l < column->n_levels; l++) {
            const uint32_t first = column->codes[__builtin_ctz(points)];
            bool shared = true;
            for (uint32_t i = 0; i < problem->n_points; i++)
                if (points >> i & 1) shared = shared && column->node[l][column->codes[i]] == column->node[l][first];
            if (shared && column->price[l][first] < least) least = column->price[l][first];
        }
        sum += least;
    }
    return sum;
}

/* Every set of k rows lies in a visited group that costs no more than the set itself, or costs more than the limit. */
static void assert_sets_lie_in_groups(const setup *s, uint32_t limit)
{
    static seen all, every;
    kn_bound_problem *problem;
    assert_ok(kn_bound_problem_new(&problem, &s->task, false, err));
    kn_group_walk walk = {.price_limit = limit};
    all.n = every.n = 0;
    assert_ok(kn_each_group(&walk, problem, note, &all, err));
    assert_true(walk.done);
    walk.every = true;
    assert_ok(kn_each_group(&walk, problem, note, &every, err));
    assert_true(all.n <= every.n);
    for (uint32_t set = 1; set < 1u << problem->n_points; set++) {
        uint64_t n_rows = 0;
        for (uint32_t i = 0; i < problem->n_points; i++) n_rows += (set >> i & 1) * problem->rows[i];
        const uint32_t price = cheapest_units(problem, set);
        if (n_rows < problem->k || price > limit) continue;
        bool found = false;
        for (uint32_t i = 0; i < all.n && !found; i++)
            found = (set & ~all.groups[i].points) == 0 && all.groups[i].price <= price;
        assert_true(found);
    }
    /* A group that is visited is one, at its price. */
    for (uint32_t i = 0; i < all.n; i++)
        assert_true(cheapest_units(problem, all.groups[i].points) <= all.groups[i].price);
    kn_bound_problem_free(problem);
}

static void every_set_of_k_rows_lies_in_a_group_that_costs_no_more(void **state)
{
    kn_rng rng = kn_rng_new(3, 0);
    for (int trial = 0; trial < 800; trial++) {
        setup s;
        random_setup(&s, &rng, (kinds)(trial % N_KINDS), 9, 1 + kn_rng_below(&rng, 3), 2 + kn_rng_below(&rng, 3),
                     measures[trial / N_KINDS % 8], 2 + kn_rng_below(&rng, 3), 0, false);
        assert_sets_lie_in_groups(&s, kn_rng_below(&rng, 2) ? UINT32_MAX : kn_rng_below(&rng, KN_BOUND_UNITS));
        free_setup(&s);
    }
}

/* Entropy is not monotone: two rare values together cost a bit, the whole column, nearly always 1, less. A group is not
 * to be left out because a node below holds its rows, when that costs more. */
static void a_wider_cell_may_cost_less(void **state)
{
    const int cells[] = {0, 3, 0, 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    kn_bound_method method;
    setup s = {.table = test_table(9, 2, cells), .n_qis = 2};
    s.domains[0] = test_domain(s.table, 0, "0;*\n1;*\n");
    s.domains[1] = test_domain(s.table, 1, "3;rare;*\n4;rare;*\n1;1;*\n");
    assert_ok(kn_tuples_new(&s.tuples, s.table, s.domains, s.n_qis, NULL, NULL, err));
    assert_ok(kn_models_new(&s.models, (const char *const[]){"k-anonymity:k=2"}, 1, s.tuples, err));
    assert_ok(kn_objective_new(&s.objective, "entropy", s.tuples, err));
    s.task = (kn_task){.tuples = s.tuples, .models = s.models, .objective = s.objective, .ticker = &s.ticker};
    assert_sets_lie_in_groups(&s, UINT32_MAX);
    const double bound = bound_of(&s, KN_BOUND_CERTIFY, &method), best = best_loss(&s);
    assert_true(bound <= best + 1e-12 && bound > 0.999 * best);
    free_setup(&s);
}

static void a_row_costs_at_least_its_cheapest_group(void **state)
{
    kn_rng rng = kn_rng_new(4, 0);
    for (int trial = 0; trial < 200; trial++) {
        setup s;
        kn_bound_problem *problem;
        kn_row_bound *bound;
        random_setup(&s, &rng, (kinds)(trial / 8 % N_KINDS), 9, 1 + kn_rng_below(&rng, 3), 3, measures[trial % 8], 3, 0,
                     false);
        assert_ok(kn_bound_problem_new(&problem, &s.task, false, err));
        assert_ok(kn_row_bound_new(&bound, problem, 0, err));
        assert_true(bound->price_limit == UINT32_MAX);
        for (uint32_t i = 0; i < problem->n_points; i++) {
            uint32_t least = UINT32_MAX;
            for (uint32_t set = 1; set < 1u << problem->n_points; set++) {
                uint64_t n_rows = 0;
                for (uint32_t j = 0; j < problem->n_points; j++) n_rows += (set >> j & 1) * problem->rows[j];
                if (!(set >> i & 1) || n_rows < 3) continue;
                const uint32_t price = cheapest_units(problem, set);
                if (price < least) least = price;
            }
            assert_int_equal(bound->least[i], least);
        }
        kn_row_bound_free(bound);
        kn_bound_problem_free(problem);
        free_setup(&s);
    }
}

/* With little work only cheap groups are visited; values stay below what the others cost. */
static void a_partial_bound_is_a_bound(void **state)
{
    kn_rng rng = kn_rng_new(5, 0);
    int n_partial = 0;
    for (int trial = 0; trial < 400; trial++) {
        setup s;
        kn_bound_problem *problem;
        kn_row_bound *rows;
        kn_dual *dual;
        double excess;
        const unsigned k = 2 + kn_rng_below(&rng, 2);
        random_setup(&s, &rng, (kinds)(trial / 8 % N_KINDS), 7, 3, 3, measures[trial % 8], k, limit_of(&rng, 7), false);
        assert_ok(kn_bound_problem_new(&problem, &s.task, false, err));
        assert_ok(kn_row_bound_new(&rows, problem, 200 + kn_rng_below(&rng, 4000), err));
        n_partial += rows->price_limit < UINT32_MAX;
        /* what is said where there was no time for a check */
        assert_ok(kn_dual_of_rows(&dual, problem, rows, err));
        assert_ok(kn_dual_check(&excess, NULL, dual, problem, kn_rng_below(&rng, 200), err));
        assert_true(excess == 0);
        kn_dual_free(dual);
        const kn_dual_effort effort = {
            .n_rounds = 30, .max_work = UINT64_MAX, .max_members = 1000, .reach = 4, .least_reach = 1.1};
        assert_ok(kn_dual_new(&dual, problem, rows, &effort, err));
        for (uint32_t i = 0; i < problem->n_points; i++) dual->units[i] -= dual->units[i] / 100000;
        dual->surplus -= dual->surplus / 100000;
        assert_ok(kn_dual_check(&excess, NULL, dual, problem, kn_rng_below(&rng, 200), err));
        const double best = best_loss(&s);
        if (excess == 0 && !isinf(best)) assert_true(kn_dual_loss(dual, problem) <= best + 1e-12);
        assert_true(excess < 1e-4);
        kn_dual_free(dual);
        kn_row_bound_free(rows);
        kn_bound_problem_free(problem);
        free_setup(&s);
    }
    assert_true(n_partial > 50);
}

/* Many values are cut into runs, sets of three or more are everything: whatever is released costs no less. */
static void a_cell_costs_no_more_than_what_it_stands_for(void **state)
{
    const kinds shapes[] = {RANGES, GRID, SETS, LOOSE, ENDS};
    const uint32_t sizes[] = {3, 30, 60, 260};
    kn_rng rng = kn_rng_new(11, 0);
    for (int trial = 0; trial < 60; trial++) {
        setup s;
        kn_bound_problem *problem;
        kn_set_pool *sets;
        random_setup(&s, &rng, shapes[trial % 5], 260, 1, sizes[trial / 5 % 4], measures[trial % 7], 3, 0, false);
        assert_ok(kn_bound_problem_new(&problem, &s.task, false, err));
        assert_ok(kn_set_pool_new(&sets, err));
        const kn_bound_column *column = problem->columns;
        for (int i = 0; problem->n_columns > 0 && i < 3000; i++) {
            uint32_t codes[4], points = 0, n = 1 + kn_rng_below(&rng, 4);
            double price;
            for (uint32_t j = 0; j < n; j++) codes[j] = kn_rng_below(&rng, s.domains[0]->n_codes);
            price = cheapest_cell(&s, 0, codes, n) / problem->unit;
            uint32_t first = UINT32_MAX, last = 0, n_values = 0;
            for (uint32_t j = 0; j < n; j++) {
                const uint32_t value = column->of_code[codes[j]];
                uint32_t before = 0;
                while (before < j && column->of_code[codes[before]] != value) before++;
                n_values += before == j;
                points |= value == column->apart;
                if (value < first) first = value;
                if (value > last) last = value;
            }
            uint32_t units = UINT32_MAX;
            if (column->shape == KN_SHAPE_TREE) {
                for (uint32_t l = 0; l < column->n_levels; l++)
                    if (n_values == 1 || column->node[l][codes[0]] == column->n_nodes - 1)
                        units = column->price[l][codes[0]] < units ? column->price[l][codes[0]] : units;
            } else if (column->shape == KN_SHAPE_PAIRS ? n_values > 2 : points && n_values > 1) {
                units = column->all_price;
            } else {
                units = column->pair_price[first * column->n_nodes + last];
            }
            assert_true(units <= price);
            /* and not much less, where nothing is cut */
            if (column->shape == KN_SHAPE_INTERVALS && column->n_nodes == s.domains[0]->n_codes &&
                s.objective->type->monotone)
                assert_true(units + 2 >= price);
        }
        kn_set_pool_free(sets);
        kn_bound_problem_free(problem);
        free_setup(&s);
    }
}

/* --- The check --------------------------------------------------------------------------------------------------- */

/* What the check says must be what all sets of rows say. */
static double excess_by_hand(const kn_dual *dual, const kn_bound_problem *problem)
{
    double worst = 0;
    for (uint32_t set = 1; set < 1u << problem->n_points; set++) {
        const uint64_t price = cheapest_units(problem, set);
        uint64_t values[64], n = 0, sum = 0;
        for (uint32_t i = 0; i < problem->n_points; i++)
            for (uint32_t j = 0; (set >> i & 1) && j < problem->rows[i]; j++) values[n++] = dual->units[i];
        if (n < problem->k || price > dual->price_limit) continue;
        for (uint64_t i = 0; i < problem->k; i++) {
            uint64_t most = i;
            for (uint64_t j = i; j < n; j++)
                if (values[j] > values[most]) most = j;
            const uint64_t swapped = values[i];
            values[i] = values[most];
            values[most] = swapped;
            sum += values[i];
        }
        if (sum > problem->k * price) worst = fmax(worst, ((double)sum - (double)(problem->k * price)) / (double)sum);
    }
    for (uint32_t i = 0; i < problem->n_points; i++) {
        const double units = (double)dual->units[i], most = (double)problem->root + (double)dual->surplus;
        if (problem->task->max_suppressed > 0 && units > most) worst = fmax(worst, 1 - most / units);
        if (dual->price_limit < UINT32_MAX && units > dual->price_limit)
            worst = fmax(worst, 1 - dual->price_limit / units);
    }
    return worst;
}

static void the_check_sees_every_constraint(void **state)
{
    kn_rng rng = kn_rng_new(6, 0);
    int n_refused = 0;
    for (int trial = 0; trial < 2000; trial++) {
        setup s;
        kn_bound_problem *problem;
        double excess;
        random_setup(&s, &rng, (kinds)(trial / 8 % N_KINDS), 2 + kn_rng_below(&rng, 8), 2, 3, measures[trial % 8],
                     2 + kn_rng_below(&rng, 3), limit_of(&rng, 9), kn_rng_below(&rng, 4) == 0);
        assert_ok(kn_bound_problem_new(&problem, &s.task, false, err));
        uint64_t units[MAX_ROWS];
        for (uint32_t i = 0; i < problem->n_points; i++) units[i] = kn_rng_below(&rng, KN_BOUND_UNITS);
        kn_dual dual = {units, kn_rng_below(&rng, 2) * kn_rng_below(&rng, KN_BOUND_UNITS / 4), UINT32_MAX};
        if (kn_rng_below(&rng, 2)) dual.price_limit = kn_rng_below(&rng, KN_BOUND_UNITS);
        /* Persons: by hand rows are counted, so a set with too few persons would count. */
        if (s.tuples->row_person == NULL) {
            assert_ok(kn_dual_check(&excess, NULL, &dual, problem, kn_rng_below(&rng, 200), err));
            assert_true(fabs(excess - excess_by_hand(&dual, problem)) < 1e-12);
            n_refused += excess > 0;
        }
        kn_bound_problem_free(problem);
        free_setup(&s);
    }
    assert_true(n_refused > 500);
}

/* --- Nearest neighbours ------------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double discount_of(const setup *s, uint32_t row)
{
    const kn_measure *type = s->objective->type;
    double sum = 0;
    for (uint32_t q = 0; type->value_discount != NULL && q < s->n_qis; q++)
        sum += s->domains[q]->weight * type->value_discount(s->objective->state, s->tuples, q, code_of(s, row, q));
    return sum;
}

/* By comparing every row with every other. */
static double kth_neighbours_by_hand(const setup *s, unsigned k)
{
    static double distances[MAX_ROWS * 30];
    double sum = 0;
    for (uint32_t row = 0; row < s->table->n_rows; row++) {
        for (uint32_t other = 0; other < s->table->n_rows; other++) {
            distances[other] = -discount_of(s, row);
            for (uint32_t q = 0; q < s->n_qis; q++)
                distances[other] += cheapest_cell(s, q, (uint32_t[]){code_of(s, row, q), code_of(s, other, q)}, 2);
        }
        qsort(distances, s->table->n_rows, sizeof *distances, by_size);
        sum += distances[k - 1];
    }
    return sum * s->objective->scale;
}

static void a_row_costs_at_least_its_kth_neighbour(void **state)
{
    kn_rng rng = kn_rng_new(7, 0);
    int n_partial = 0;
    for (int trial = 0; trial < 450; trial++) {
        setup s;
        kn_neighbours found, some;
        bool takes[MAX_QIS];
        const bool is_large = trial % 10 == 9; /* more than one box, more than one tuple for a job */
        const unsigned k = 2 + kn_rng_below(&rng, is_large ? 20 : 3);
        random_setup(&s, &rng, (kinds)((is_large ? trial / 10 : trial) % LOOSE), is_large ? MAX_ROWS * 30 : MAX_ROWS,
                     is_large ? 4 : 2, is_large ? 14 : 4, trial % 3 ? "lm" : "mi", k, 0, false);
        for (uint32_t q = 0; q < s.n_qis; q++) takes[q] = true;
        const double sum = kth_neighbours_by_hand(&s, k);
        assert_ok(kn_neighbours_bound(&found, &s.task, takes, 0, err));
        assert_true(found.loss <= sum + 1e-12 && found.loss >= sum * (1 - 1e-3) - 1e-4 && !found.is_partial);
        /* Some of the rows: less, and said so. */
        assert_ok(kn_neighbours_bound(&some, &s.task, takes, 1, err));
        assert_true(some.loss <= found.loss && (some.loss < found.loss) <= some.is_partial);
        assert_true(some.work <= found.work);
        n_partial += some.is_partial;
        free_setup(&s);
    }
    assert_true(n_partial > 20);
}

/* --- How it runs ------------------------------------------------------------------------------------------------- */

static void any_number_of_threads_gives_the_same_bound(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    for (int trial = 0; trial < N_KINDS; trial++) {
        setup s;
        kn_bound *alone, *together;
        random_setup(&s, &rng, (kinds)trial, 200, 3, 12, trial % 2 ? "lm" : "mi", 4, 10, false);
        assert_ok(kn_bound_new(&alone, &s.task, KN_BOUND_CERTIFY, err));
        for (unsigned n_threads = 2; n_threads <= 3; n_threads++) {
            assert_ok(kn_pool_new(&s.task.pool, n_threads, err));
            assert_ok(kn_bound_new(&together, &s.task, KN_BOUND_CERTIFY, err));
            kn_pool_free(s.task.pool);
            assert_true(alone->value == together->value && alone->method == together->method);
            if (alone->dual != NULL)
                assert_memory_equal(alone->dual->units, together->dual->units,
                                    alone->problem->n_points * sizeof *alone->dual->units);
            kn_bound_free(together);
        }
        s.task.pool = NULL;
        kn_bound_free(alone);
        free_setup(&s);
    }
}

/* A release comes with a quick bound in about a second of two cores, whatever the table: it is work that is limited,
 * not time, because a search uses what was found. */
static void a_quick_bound_takes_no_more_than_so_much_work(void **state)
{
    static const struct {
        kinds kind;
        uint32_t n_rows, n_columns, n_values;
        unsigned k;
    } tables[] = {{RANGES, 20000, 8, 40, 5},   {RANGES, 5000, 4, 300, 5},    {SETS, 20000, 6, 30, 5},
                  {SETS, 3000, 3, 600, 3},     {SUPPRESS, 20000, 14, 6, 10}, {SUPPRESS, 40000, 10, 1000, 50},
                  {TREES, 40000, 9, 12, 5},    {GRID, 20000, 5, 60, 10},     {RANGES, 100000, 3, 2500, 5},
                  {SUPPRESS, 100000, 6, 3, 2}, {MIXED, 20000, 8, 14, 5},     {CODED, 20000, 6, 50, 5}};
    enum { MOST_STEPS = 1200000000 };
    kn_rng rng = kn_rng_new(15, 0);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const size_t n_cells = (size_t)tables[t].n_rows * tables[t].n_columns;
        kn_bound *bound;
        int *cells = malloc(n_cells * sizeof *cells);
        assert_non_null(cells);
        for (size_t i = 0; i < n_cells; i++) cells[i] = (int)kn_rng_below(&rng, tables[t].n_values);
        setup s = {.table = test_table(tables[t].n_rows, tables[t].n_columns, cells)};
        prepare(&s, &rng, tables[t].kind, "lm", tables[t].k, 0);
        assert_ok(kn_bound_new(&bound, &s.task, KN_BOUND_CHEAP, err));
        if (bound->work > MOST_STEPS)
            fail_msg("table %zu: %llu million steps", t, (unsigned long long)bound->work / 1000000);
        kn_bound_free(bound);
        free_setup(&s);
        free(cells);
    }
}

/* Four columns of intervals: looking at all groups would take minutes, and a check cannot be cut off. */
static void a_bound_keeps_to_its_time(void **state)
{
    enum { N_SECONDS = 1, N_ROWS = 4000, N_COLUMNS = 4 };
    static int cells[N_ROWS * N_COLUMNS];
    kn_rng rng = kn_rng_new(13, 0);
    kn_bound *bound;
    for (int i = 0; i < N_ROWS * N_COLUMNS; i++) cells[i] = (int)kn_rng_below(&rng, 60);
    setup s = {.table = test_table(N_ROWS, N_COLUMNS, cells)};
    prepare(&s, &rng, RANGES, "lm", 3, 0);
    const double began = kn_seconds_now();
    s.ticker.search_deadline = began + N_SECONDS;
    assert_ok(kn_bound_new(&bound, &s.task, KN_BOUND_CERTIFY, err));
    const double took = kn_seconds_now() - began;
    if (took > 1.5 * N_SECONDS) fail_msg("%.2f seconds instead of %d", took, N_SECONDS); /* other work beside it */
    assert_true(bound->value > 0);
    assert_true(s.ticker.search_deadline == began + N_SECONDS);
    kn_bound_free(bound);
    free_setup(&s);
}

static void a_bound_can_be_cancelled_at_every_tick(void **state)
{
    kn_rng rng = kn_rng_new(9, 0);
    setup s;
    random_setup(&s, &rng, MIXED, 20, 3, 4, "lm", 3, 0, false);
    kn_status status = KN_INTERRUPTED;
    for (size_t nth = 1; status != KN_OK; nth++) {
        kn_bound *bound;
        atomic_store(&s.ticker.n_ticks, 0);
        atomic_store(&s.ticker.fail_at, nth);
        status = kn_bound_new(&bound, &s.task, KN_BOUND_CHEAP, NULL);
        assert_true(status == KN_OK || status == KN_INTERRUPTED);
        assert_true(nth > 1 || status == KN_INTERRUPTED);
        kn_bound_free(bound);
    }
    free_setup(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    kn_rng rng = kn_rng_new(10, 0);
    setup s;
    random_setup(&s, &rng, MIXED, 20, 3, 4, "lm", 3, 2, false);
    kn_status status = KN_RESOURCES;
    for (size_t nth = 1; status != KN_OK; nth++) {
        kn_bound *bound;
        kn_memory_fail_at(nth);
        status = kn_bound_new(&bound, &s.task, KN_BOUND_CHEAP, NULL);
        kn_memory_fail_at(0);
        assert_true(status == KN_OK || status == KN_RESOURCES);
        assert_true(nth > 1 || status == KN_RESOURCES);
        kn_bound_free(bound);
    }
    free_setup(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_release_loses_less),
        cmocka_unit_test(models_of_values_are_never_asked_too_much),
        cmocka_unit_test(a_record_counts_for_as_many_rows),
        cmocka_unit_test(a_row_that_may_go_costs_at_most_the_root),
        cmocka_unit_test(rows_of_a_class_may_pay_differently),
        cmocka_unit_test(an_average_over_a_class_would_prove_too_much),
        cmocka_unit_test(a_wider_cell_may_cost_less),
        cmocka_unit_test(no_bound_comes_with_a_reason),
        cmocka_unit_test(every_set_of_k_rows_lies_in_a_group_that_costs_no_more),
        cmocka_unit_test(a_row_costs_at_least_its_cheapest_group),
        cmocka_unit_test(a_partial_bound_is_a_bound),
        cmocka_unit_test(a_cell_costs_no_more_than_what_it_stands_for),
        cmocka_unit_test(the_check_sees_every_constraint),
        cmocka_unit_test(a_row_costs_at_least_its_kth_neighbour),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bound),
        cmocka_unit_test(a_quick_bound_takes_no_more_than_so_much_work),
        cmocka_unit_test(a_bound_keeps_to_its_time),
        cmocka_unit_test(a_bound_can_be_cancelled_at_every_tick),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
