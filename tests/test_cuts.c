/* Searches over cut points against brute force: every set of cuts of small random tables, priced from the rows. */
#include "release_support.h"

#include "base/pool.h"
#include "hierarchy/build.h"
#include "recode/recode.h"
#include "search/cuts/cut_climb.h"
#include "search/cuts/cut_column.h"
#include "search/cuts/cut_search.h"
#include "search/cuts/cut_state.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last quasi-identifier becomes the person column: persons then have several rows, and tuples. */
static void name_persons(test_case *c)
{
    kn_tuples_free(c->tuples);
    kn_domain_free(c->domains[--c->n_qis]);
    c->table->person = c->n_qis;
    c->table->columns[c->n_qis].is_person = true;
    c->table->columns[c->n_qis].role = KN_ROLE_IDENTIFIER;
    test_case_finish(c);
}

/* Collections of subsets have no order to cut: the program refuses them. */
static test_case random_case(kn_rng *rng, uint32_t max_rows)
{
    for (;;) {
        test_case c = test_case_random(rng, max_rows);
        bool fits = true;
        for (uint32_t q = 0; q < c.n_qis; q++) fits &= c.domains[q]->subsets == NULL;
        if (fits && c.n_qis > 1 && kn_rng_below(rng, 4) == 0) name_persons(&c);
        if (fits) return c;
        test_case_free(&c);
    }
}

/* --- A task over a small table ----------------------------------------------------------------------------------- */

typedef struct setup {
    test_case c;
    kn_models *models;
    kn_objective *objective;
    kn_args args;
    kn_task task;
} setup;

static void setup_goals(setup *s, const char *const *models, size_t n_models, const char *measure, uint64_t limit)
{
    kn_models_free(s->models);
    kn_objective_free(s->objective);
    assert_ok(kn_models_new(&s->models, models, n_models, s->c.tuples, err));
    assert_ok(kn_objective_new(&s->objective, measure, s->c.tuples, err));
    s->task = (kn_task){.tuples = s->c.tuples,
                        .models = s->models,
                        .objective = s->objective,
                        .args = &s->args,
                        .max_suppressed = limit,
                        .seed = 1};
}

static void setup_algorithm(setup *s, const char *name, const char *params)
{
    const kn_algorithm *algorithm = kn_algorithm_find(name);
    assert_non_null(algorithm);
    kn_args_free(&s->args);
    s->task.args = &s->args;
    assert_ok(kn_args_parse(&s->args, algorithm->name, algorithm->params, algorithm->n_params, params, err));
}

static kn_status search_with(kn_answer *answer, setup *s, kn_error *err)
{
    return kn_algorithm_find("k-optimize")->search(answer, &s->task, err);
}

static void setup_free(setup *s)
{
    kn_models_free(s->models);
    kn_objective_free(s->objective);
    kn_args_free(&s->args);
    test_case_free(&s->c);
}

/* --- The definition ---------------------------------------------------------------------------------------------- */

enum { MAX_ROWS = 32, MAX_VALUES = 8 };

/* A recoding: for each column where its parts begin. */
typedef struct cut_sets {
    uint32_t n_letters, q[20], code[20]; /* cuts before codes */
} cut_sets;

typedef struct priced {
    double cost; /* as the search counts: sum over classes or cells */
    uint32_t n_suppressed, n_classes;
} priced;

static uint32_t code_of(const setup *s, uint32_t q, uint32_t row)
{
    return s->c.tuples->codes[q][s->c.tuples->row_tuple[row]];
}

/* [q][code]: first code of its part. */
typedef struct parts {
    uint32_t first[MAX_TEST_QIS][16], last[MAX_TEST_QIS][16];
} parts;

static parts parts_of(const setup *s, const cut_sets *sets, uint32_t subset)
{
    parts p = {0};
    for (uint32_t q = 0; q < s->c.n_qis; q++) {
        uint32_t n_codes = s->c.domains[q]->n_codes;
        bool cut[17] = {true};
        cut[n_codes] = true;
        for (uint32_t i = 0; i < sets->n_letters; i++)
            if (sets->q[i] == q && subset >> i & 1) cut[sets->code[i]] = true;
        for (uint32_t code = 0; code < n_codes; code++) {
            p.first[q][code] = p.last[q][code] = code;
            while (!cut[p.first[q][code]]) p.first[q][code]--;
            while (!cut[p.last[q][code] + 1]) p.last[q][code]++;
        }
    }
    return p;
}

/* Does a class of these rows hold? */
static bool holds(const setup *s, const bool *is_member)
{
    const kn_tuples *t = s->c.tuples;
    uint32_t values[MAX_VALUES], n = 0, n_rows = 0, n_persons = 0;
    uint64_t counts[MAX_VALUES];
    bool seen[MAX_ROWS] = {0};
    const kn_column *column = t->sensitive[0].column;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        const uint32_t person = t->row_person != NULL ? t->row_person[row] : row;
        n_persons += is_member[row] && !seen[person];
        if (is_member[row]) seen[person] = true;
    }
    for (uint32_t value = 0; value < t->sensitive[0].n_values; value++) {
        uint32_t rows = 0;
        for (uint32_t row = 0; row < t->n_rows; row++)
            rows += is_member[row] && kn_column_value(column, kn_column_code(column, row)) == value;
        if (rows == 0) continue;
        values[n] = value;
        counts[n++] = rows;
        n_rows += rows;
    }
    kn_histogram histogram = {n, values, counts};
    kn_class_counts class = {.n_rows = n_rows, .n_persons = n_persons, .sensitive = &histogram};
    return kn_models_hold(s->models, &class);
}

/* The label of a part is written for the rows that are released. */
static double cell_price(const setup *s, uint32_t q, uint32_t first, uint32_t last, bool nodes, const bool *released)
{
    const kn_domain *domain = s->c.domains[q];
    const kn_measure *type = s->objective->type;
    bool occurs[16] = {0}, any = false;
    kn_set_pool *pool;
    kn_cell cell;
    for (uint32_t row = 0; row < s->c.tuples->n_rows; row++) {
        const uint32_t code = code_of(s, q, row);
        if (!released[row] || code < first || code > last) continue;
        any = occurs[code] = true;
    }
    if (!any) return 0;
    assert_ok(kn_set_pool_new(&pool, err));
    assert_ok(kn_part_cell(&cell, domain, kn_part_form_of(domain, nodes), pool, occurs, first, last, err));
    double price = kn_objective_price(s->objective, pool, q, &cell);
    if (type->same_without_suppression != NULL)
        price = domain->weight * type->same_without_suppression->price_cell(NULL, s->c.tuples, pool, q, &cell);
    kn_set_pool_free(pool);
    return price;
}

/* What the released rows and the others cost by their cells. */
static double price_cells(const setup *s, const parts *p, bool nodes, const bool *released)
{
    const kn_tuples *t = s->c.tuples;
    double cost = 0;
    for (uint32_t q = 0; q < s->c.n_qis; q++) {
        double price[16];
        const kn_cell whole = kn_domain_root(s->c.domains[q]);
        const double root = s->objective->type->same_without_suppression != NULL
                                ? 0
                                : kn_objective_price(s->objective, NULL, q, &whole);
        for (uint32_t code = 0; code < s->c.domains[q]->n_codes; code++)
            price[code] = cell_price(s, q, p->first[q][code], p->last[q][code], nodes, released);
        for (uint32_t row = 0; row < t->n_rows; row++) cost += released[row] ? price[code_of(s, q, row)] : root;
    }
    return cost;
}

static priced price_parts(const setup *s, const parts *p, bool nodes)
{
    const kn_tuples *t = s->c.tuples;
    const char *measure = s->objective->type->name;
    priced result = {0};
    bool done[MAX_ROWS] = {0}, released[MAX_ROWS] = {0};
    for (uint32_t row = 0; row < t->n_rows; row++) {
        bool member[MAX_ROWS] = {0};
        uint32_t n = 0, most = 0, counts[MAX_VALUES] = {0};
        if (done[row]) continue;
        for (uint32_t other = row; other < t->n_rows; other++) {
            bool same = true;
            for (uint32_t q = 0; q < s->c.n_qis; q++)
                same &= p->first[q][code_of(s, q, row)] == p->first[q][code_of(s, q, other)];
            if (!same) continue;
            member[other] = done[other] = true;
            n++;
            const kn_column *column = t->sensitive[0].column;
            uint32_t now = ++counts[kn_column_value(column, kn_column_code(column, other))];
            if (now > most) most = now;
        }
        bool held = holds(s, member);
        if (held) result.n_classes++;
        else result.n_suppressed += n;
        for (uint32_t other = row; other < t->n_rows; other++) released[other] |= member[other] && held;
        if (strcmp(measure, "dm") == 0) result.cost += (double)n * (held ? n : t->n_rows);
        else if (strcmp(measure, "cm") == 0) result.cost += held ? n - most : n;
        else if (strcmp(measure, "average-class") == 0) result.cost -= held;
    }
    if (s->objective->type->price_cell != NULL) result.cost = price_cells(s, p, nodes, released);
    return result;
}

/* Every cut before a value of the data but the first; with `nodes` before every leaf of a tree. */
static cut_sets all_cuts(const setup *s, bool nodes)
{
    cut_sets sets = {0};
    for (uint32_t q = 0; q < s->c.n_qis; q++) {
        const kn_domain *domain = s->c.domains[q];
        bool before = false, leaves = nodes && domain->kind == KN_DOMAIN_TREE;
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            if (!leaves && kn_domain_code_rows(domain, code) == 0) continue;
            if (before) {
                assert_true(sets.n_letters < 20);
                sets.q[sets.n_letters] = q;
                sets.code[sets.n_letters++] = code;
            }
            before = true;
        }
    }
    return sets;
}

static bool are_nodes(const setup *s, const parts *p)
{
    for (uint32_t q = 0; q < s->c.n_qis; q++) {
        const kn_tree *tree = s->c.domains[q]->tree;
        for (uint32_t code = 0; tree != NULL && code < tree->n_leaves; code++) {
            bool is_node = false;
            for (uint32_t node = 0; node < tree->n_nodes; node++)
                is_node |= tree->first[node] == p->first[q][code] && tree->last[node] == p->last[q][code];
            if (!is_node) return false;
        }
    }
    return true;
}

/* The least cost over all sets of cuts; INFINITY when none is a release. */
static double brute_force(const setup *s, const cut_sets *sets, bool nodes)
{
    double least = INFINITY;
    for (uint32_t subset = 0; subset < 1u << sets->n_letters; subset++) {
        parts p = parts_of(s, sets, subset);
        if (nodes && !are_nodes(s, &p)) continue;
        priced result = price_parts(s, &p, nodes);
        if (result.n_suppressed <= s->task.max_suppressed && result.n_classes > 0 && result.cost < least)
            least = result.cost;
    }
    return least;
}

static parts parts_of_answer(const setup *s, const kn_answer *answer)
{
    parts p = {0};
    for (uint32_t q = 0; q < s->c.n_qis; q++) {
        uint32_t n_codes = s->c.domains[q]->n_codes;
        for (uint32_t code = 0; code < n_codes; code++) {
            p.first[q][code] = p.last[q][code] = code;
            while (p.first[q][code] > 0 && answer->part[q][p.first[q][code] - 1] == answer->part[q][code])
                p.first[q][code]--;
            while (p.last[q][code] + 1 < n_codes && answer->part[q][p.last[q][code] + 1] == answer->part[q][code])
                p.last[q][code]++;
        }
    }
    return p;
}

static const char *const measures[] = {"dm", "cm", "lm", "non-uniform-entropy", "entropy", "average-class"};
enum { N_MEASURES = sizeof measures / sizeof *measures };

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1); }

/* A random table with models and a limit that the search takes; false when this one does not fit. */
static bool random_setup(setup *s, kn_rng *rng, uint32_t most_letters, bool hereditary)
{
    *s = (setup){0};
    s->c = random_case(rng, MAX_ROWS);
    const uint64_t limits[] = {0, 0, 5, s->c.tuples->n_rows};
    uint64_t limit = limits[kn_rng_below(rng, 4)];
    char k[32];
    const char *specs[2] = {k, NULL};
    size_t n_specs = 1;
    snprintf(k, sizeof k, "k-anonymity:k=%u", 1 + kn_rng_below(rng, 5));
    const char *models[] = {NULL,
                            NULL,
                            "l-diversity:l=2",
                            "p-sensitive:p=2",
                            "l-diversity:kind=entropy,l=1.5",
                            "l-diversity:kind=recursive,c=2,l=2",
                            "t-closeness:t=0.3",
                            "l-diversity:kind=frequency,l=1.5",
                            "alpha-k:alpha=0.7"};
    specs[1] = models[kn_rng_below(rng, limit == 0 && !hereditary ? sizeof models / sizeof *models : 4)];
    if (specs[1] != NULL) n_specs = 2;
    const char *measure = measures[kn_rng_below(rng, N_MEASURES)];
    if (strcmp(measure, "entropy") == 0) limit = 0;
    kn_error err = {0};
    if (kn_models_new(&s->models, specs, n_specs, s->c.tuples, &err) == KN_USAGE) fail_msg("%s", err.message);
    bool fits = s->models != NULL && all_cuts(s, false).n_letters <= most_letters;
    for (uint32_t q = 0; q < s->c.n_qis && strcmp(measure, "entropy") == 0; q++)
        fits &= s->c.domains[q]->missing == KN_NONE; /* refused: see what_cannot_be_proven */
    if (fits) setup_goals(s, specs, n_specs, measure, limit);
    if (!fits) setup_free(s);
    return fits;
}

static void k_optimize_finds_what_brute_force_finds(void **state)
{
    kn_rng rng = kn_rng_new(14, 1);
    const kn_algorithm *algorithm = kn_algorithm_find("k-optimize");
    uint32_t n_tried = 0, n_refused = 0;
    while (n_tried < 1500) {
        setup s;
        kn_answer answer = {0};
        kn_error err = {0};
        const bool nodes = kn_rng_below(&rng, 4) == 0, climb = kn_rng_below(&rng, 4) == 0;
        if (!random_setup(&s, &rng, n_tried % 100 == 0 ? 14 : 9, false)) continue;
        cut_sets sets = all_cuts(&s, nodes);
        if (sets.n_letters > 15) {
            setup_free(&s);
            continue;
        }
        char params[64];
        snprintf(params, sizeof params, "hierarchy=%s,begin=%s", nodes ? "nodes" : "order",
                 climb ? "climb" : "nothing");
        setup_algorithm(&s, "k-optimize", params);
        double least = brute_force(&s, &sets, nodes);
        kn_status status = algorithm->search(&answer, &s.task, &err);
        if (isinf(least)) {
            assert_int_equal(status, KN_NOT_MET);
            n_refused++;
        } else {
            if (status != KN_OK) fail_msg("%s", err.message);
            parts p = parts_of_answer(&s, &answer);
            priced found = price_parts(&s, &p, nodes);
            assert_true(answer.optimal && answer.stopped == KN_STOPPED_DONE);
            assert_true(found.n_suppressed <= s.task.max_suppressed);
            if (!is_near(found.cost, least))
                fail_msg("case %u, %s, %s, limit %d: found %.12g, best %.12g", n_tried, params, s.objective->type->name,
                         (int)s.task.max_suppressed, found.cost, least);
        }
        kn_answer_free(&answer);
        setup_free(&s);
        n_tried++;
    }
    assert_true(n_refused > 10);
}

/* --- Nodes and bounds ----------------------------------------------------------------------------------------------
 */

/* What every set of letters of the search costs, by bit set. */
typedef struct all_costs {
    const kn_cuts *cuts;
    const double *cost; /* INFINITY: no release */
    uint64_t n_looked;
    kn_cut_worker *fresh; /* makes every node anew from the table */
} all_costs;

static double *cost_of_all(const kn_cuts *cuts)
{
    double *cost = kn_array_alloc((size_t)1 << cuts->n_letters, sizeof *cost, NULL);
    kn_cut_worker *worker;
    assert_ok(kn_cut_worker_new(&worker, cuts, err));
    for (uint32_t subset = 0; subset < 1u << cuts->n_letters; subset++) {
        uint8_t in[20];
        bool may_be = true;
        double n_suppressed;
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
            const uint32_t parent = cuts->letters[letter].parent;
            in[letter] = subset >> letter & 1;
            may_be &= !in[letter] || parent == KN_NONE || in[parent];
        }
        assert_ok(kn_cut_letters_cost(&cost[subset], &n_suppressed, worker, in, err));
        if (!may_be || n_suppressed > (double)cuts->max_suppressed) cost[subset] = INFINITY;
    }
    kn_cut_worker_free(worker);
    return cost;
}

/* The least cost below a node, with `with` in force where it is a letter. */
static double least_below(const all_costs *all, const uint8_t *state, uint32_t with)
{
    uint32_t head = 0, tail = 0;
    double least = INFINITY;
    for (uint32_t letter = 0; letter < all->cuts->n_letters; letter++) {
        if (state[letter] == KN_LETTER_HEAD || letter == with) head |= 1u << letter;
        else if (state[letter] == KN_LETTER_TAIL) tail |= 1u << letter;
    }
    for (uint32_t part = tail;; part = (part - 1) & tail) {
        if (all->cost[head | part] < least) least = all->cost[head | part];
        if (part == 0) return least;
    }
}

static void look_at_node(void *user, const kn_cut_worker *worker, const kn_cut_frame *frame)
{
    all_costs *all = user;
    double least = least_below(all, frame->state, KN_NONE);
    assert_true(worker->bound <= least + 1e-9 * (fabs(least) + 1));
    for (uint32_t letter = 0; letter < all->cuts->n_letters; letter++) {
        if (frame->state[letter] != KN_LETTER_TAIL) continue;
        least = least_below(all, frame->state, letter);
        assert_true(worker->bound + worker->letters[letter].rise <= least + 1e-9 * (fabs(least) + 1));
    }
    all->n_looked++;
    kn_cut_frame *fresh;
    assert_ok(kn_cut_frame_at(&fresh, all->fresh, 0, err));
    assert_ok(kn_cut_frame_start(all->fresh, fresh, frame->state, err));
    all->cuts->bound->evaluate(all->fresh, fresh);
    assert_int_equal(fresh->items.n, frame->items.n);
    assert_int_equal(fresh->n_classes, frame->n_classes);
    assert_true(is_near(all->fresh->cost, worker->cost) && is_near(all->fresh->bound, worker->bound));
}

static double search_below_root(const kn_cuts *cuts, kn_cut_worker *worker, unsigned without, bool without_order,
                                all_costs *all)
{
    uint8_t root[20], found[20];
    memset(root, KN_LETTER_TAIL, sizeof root);
    kn_cut_search search = {.cuts = cuts,
                            .without = without,
                            .without_order = without_order,
                            .best = INFINITY,
                            .found = found,
                            .most_evaluations = UINT64_MAX,
                            .watch = all != NULL ? look_at_node : NULL,
                            .user = all};
    assert_ok(kn_cut_search_run(&search, worker, root, NULL, err));
    assert_int_equal(search.left.n, 0);
    return search.best;
}

/* Every node of a search against all releases below it; returns how many there were. */
static uint64_t look_at_nodes(setup *s, const char *params)
{
    kn_cuts *cuts;
    kn_cut_worker *worker;
    setup_algorithm(s, "k-optimize", params);
    assert_ok(kn_cuts_new(&cuts, &s->task, 1, err));
    assert_ok(kn_cut_worker_new(&worker, cuts, err));
    double *cost = cost_of_all(cuts);
    all_costs all = {cuts, cost, 0, NULL};
    assert_ok(kn_cut_worker_new(&all.fresh, cuts, err));
    double best = search_below_root(cuts, worker, 0, false, &all);
    double least =
        least_below(&all, (const uint8_t[20]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, KN_NONE);
    assert_true(best == least || is_near(best, least));
    kn_free(cost);
    kn_cut_worker_free(all.fresh);
    kn_cut_worker_free(worker);
    kn_cuts_free(cuts);
    return all.n_looked;
}

static void no_bound_is_above_the_best_release_below_its_node(void **state)
{
    kn_rng rng = kn_rng_new(14, 2);
    uint64_t n_looked = 0;
    for (uint32_t n_tried = 0; n_tried < 600;) {
        setup s;
        const bool nodes = kn_rng_below(&rng, 3) == 0;
        if (!random_setup(&s, &rng, 8, false)) continue;
        n_looked += look_at_nodes(&s, nodes ? "hierarchy=nodes" : "");
        setup_free(&s);
        n_tried++;
    }
    assert_true(n_looked > 2000);
}

static void every_rule_can_be_switched_off(void **state)
{
    kn_rng rng = kn_rng_new(14, 3);
    for (uint32_t n_tried = 0; n_tried < 300;) {
        setup s;
        kn_cuts *cuts;
        kn_cut_worker *worker;
        if (!random_setup(&s, &rng, 8, false)) continue;
        setup_algorithm(&s, "k-optimize", kn_rng_below(&rng, 3) == 0 ? "hierarchy=nodes" : "");
        assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
        assert_ok(kn_cut_worker_new(&worker, cuts, err));
        double best = search_below_root(cuts, worker, 0, false, NULL);
        for (int rule = 0; rule < KN_N_CUT_RULES; rule++) {
            double other = search_below_root(cuts, worker, 1u << rule, false, NULL);
            assert_true(best == other || is_near(best, other));
        }
        assert_true(is_near(best, search_below_root(cuts, worker, 0, true, NULL)) || isinf(best));
        kn_cut_worker_free(worker);
        kn_cuts_free(cuts);
        setup_free(&s);
        n_tried++;
    }
}

static void every_neighbour_costs_what_it_costs_when_looked_at(void **state)
{
    kn_rng rng = kn_rng_new(14, 4);
    for (uint32_t n_tried = 0; n_tried < 400;) {
        setup s;
        kn_cuts *cuts;
        kn_cut_worker *worker;
        kn_cut_moves *moves, *others;
        uint8_t in[20] = {0};
        if (!random_setup(&s, &rng, 10, false)) continue;
        setup_algorithm(&s, "k-optimize", kn_rng_below(&rng, 2) == 0 ? "hierarchy=nodes" : "");
        assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
        assert_ok(kn_cut_worker_new(&worker, cuts, err));
        assert_ok(kn_cut_merged_items(worker, err));
        assert_ok(kn_cut_moves_new(&moves, cuts, &worker->frames[0].items, err));
        assert_ok(kn_cut_moves_new(&others, cuts, &worker->frames[0].items, err));
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
            in[letter] = kn_rng_below(&rng, 2) && kn_cut_may_flip(cuts, in, letter);
        kn_cut_moves_look(moves, in, true);
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
            if (!kn_cut_may_flip(cuts, in, letter)) continue;
            in[letter] ^= 1;
            kn_cut_moves_look(others, in, false);
            in[letter] ^= 1;
            if (s.c.tuples->n_repeats > 0) { /* persons may be counted twice */
                assert_true(moves->flipped[letter].cost <= others->now.cost + 1e-9 * (fabs(others->now.cost) + 1));
                assert_true(moves->flipped[letter].n_suppressed <= others->now.n_suppressed);
                continue;
            }
            if (!is_near(moves->flipped[letter].cost, others->now.cost))
                fail_msg("%s, letter %u %s: %.12g, is %.12g, nodes %d", s.objective->type->name, letter,
                         in[letter] ? "out" : "in", moves->flipped[letter].cost, others->now.cost, cuts->has_parents);
            assert_true(moves->flipped[letter].n_suppressed == others->now.n_suppressed);
        }
        kn_cut_moves_free(moves);
        kn_cut_moves_free(others);
        kn_cut_worker_free(worker);
        kn_cuts_free(cuts);
        setup_free(&s);
        n_tried++;
    }
}

/* The least value over all sets of cuts of column q. */
static double least_of_column(const kn_cuts *cuts, kn_cut_moves *moves, const uint8_t *letters, uint32_t q)
{
    const kn_cut_column *column = &cuts->columns[q];
    double least = INFINITY;
    uint8_t in[20];
    memcpy(in, letters, sizeof in);
    for (uint32_t subset = 0; subset < 1u << (column->n_positions - 1); subset++) {
        for (uint32_t p = 1; p < column->n_positions; p++) in[column->letter_at[p]] = subset >> (p - 1) & 1;
        kn_cut_moves_look(moves, in, false);
        const double value = kn_cut_value(cuts, &moves->now);
        if (value < least) least = value;
    }
    return least;
}

static void a_column_is_cut_as_well_as_it_can_be_with_the_others(void **state)
{
    kn_rng rng = kn_rng_new(14, 22);
    uint32_t n_best = 0, n_gained = 0;
    for (uint32_t n_tried = 0; n_tried < 600;) {
        setup s;
        kn_cuts *cuts;
        kn_cut_moves *moves;
        kn_cut_path *path;
        uint8_t in[20] = {0};
        if (!random_setup(&s, &rng, 10, false)) continue;
        setup_algorithm(&s, "hill-climb", kn_rng_below(&rng, 4) == 0 ? "hierarchy=nodes" : "");
        assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
        assert_ok(kn_cut_moves_new(&moves, cuts, &cuts->items, err));
        assert_ok(kn_cut_path_new(&path, cuts, &cuts->items, err));
        const uint32_t q = kn_rng_below(&rng, cuts->n_columns);
        const bool is_exact = (s.task.max_suppressed == 0 || s.task.max_suppressed >= s.c.tuples->n_rows) &&
                              s.c.tuples->n_repeats == 0 && cuts->columns[q].form != KN_PART_NODE;
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
            in[letter] = kn_rng_below(&rng, 2) && kn_cut_may_flip(cuts, in, letter);
        kn_cut_moves_look(moves, in, false);
        const double before = kn_cut_value(cuts, &moves->now);
        const bool gained = kn_cut_column_best(path, moves, in, q, &rng);
        const double after = kn_cut_value(cuts, &moves->now);
        const bool is_release = kn_cut_is_release(cuts, &moves->now);
        assert_true(gained ? after < before : after == before);
        n_gained += gained;
        if (cuts->columns[q].form != KN_PART_NODE) {
            const double least = least_of_column(cuts, moves, in, q);
            assert_true(after >= least - 1e-9 * (fabs(least) + 1));
            if (is_exact && is_release) assert_true(is_near(after, least));
            n_best += is_exact && is_release;
        }
        kn_cut_path_free(path);
        kn_cut_moves_free(moves);
        kn_cuts_free(cuts);
        setup_free(&s);
        n_tried++;
    }
    assert_true(n_best > 200 && n_gained > 200);
}

/* The chance of every set of cuts of a column at a temperature, by its definition; returns the number of sets. */
static uint32_t chances_of_column(double *chance, const kn_cuts *cuts, kn_cut_moves *moves, const uint8_t *letters,
                                  uint32_t q, double temperature, double dearer)
{
    const kn_cut_column *column = &cuts->columns[q];
    const uint32_t n = 1u << (column->n_positions - 1);
    double sum = 0, least = INFINITY;
    uint8_t in[20];
    memcpy(in, letters, sizeof in);
    for (uint32_t subset = 0; subset < n; subset++) {
        for (uint32_t p = 1; p < column->n_positions; p++) in[column->letter_at[p]] = subset >> (p - 1) & 1;
        kn_cut_moves_look(moves, in, false);
        chance[subset] = moves->now.cost + dearer * moves->now.n_suppressed;
        least = fmin(least, chance[subset]);
    }
    for (uint32_t subset = 0; subset < n; subset++) sum += chance[subset] = exp((least - chance[subset]) / temperature);
    for (uint32_t subset = 0; subset < n; subset++) chance[subset] /= sum;
    return n;
}

static void cuts_of_a_column_are_drawn_as_often_as_their_cost_says(void **state)
{
    enum { N_DRAWS = 4000, MOST_CUTS = 5 };
    kn_rng rng = kn_rng_new(14, 26);
    for (uint32_t n_tried = 0; n_tried < 60;) {
        setup s;
        kn_cuts *cuts;
        kn_cut_moves *moves;
        kn_cut_path *path;
        uint8_t in[20] = {0};
        double chance[1 << MOST_CUTS];
        uint32_t n_drawn[1 << MOST_CUTS] = {0};
        if (!random_setup(&s, &rng, 10, true)) continue;
        setup_algorithm(&s, "anneal", "");
        assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
        assert_ok(kn_cut_moves_new(&moves, cuts, &cuts->items, err));
        assert_ok(kn_cut_path_new(&path, cuts, &cuts->items, err));
        const uint32_t q = kn_rng_below(&rng, cuts->n_columns), n_cuts = cuts->columns[q].n_positions - 1;
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++) in[letter] = kn_rng_below(&rng, 2) == 0;
        kn_cut_moves_look(moves, in, false);
        const double temperature = (0.05 + kn_rng_unit(&rng)) * (fabs(moves->now.cost) / 4 + 0.1);
        const double dearer = kn_rng_below(&rng, 2) * temperature / 2;
        if (n_cuts > 0 && n_cuts <= MOST_CUTS && s.c.tuples->n_repeats == 0 && cuts->columns[q].form != KN_PART_NODE) {
            const uint32_t n = chances_of_column(chance, cuts, moves, in, q, temperature, dearer);
            kn_cut_moves_look(moves, in, false);
            for (uint32_t draw = 0; draw < N_DRAWS; draw++) {
                uint32_t subset = 0;
                kn_cut_column_draw(path, moves, in, q, temperature, dearer, &rng);
                for (uint32_t p = 1; p <= n_cuts; p++) subset |= (uint32_t)in[cuts->columns[q].letter_at[p]] << (p - 1);
                n_drawn[subset]++;
            }
            for (uint32_t subset = 0; subset < n; subset++) {
                const double mean = N_DRAWS * chance[subset], spread = sqrt(mean * (1 - chance[subset]));
                assert_true(fabs(n_drawn[subset] - mean) < 5 * spread + 3);
            }
            n_tried++;
        }
        kn_cut_path_free(path);
        kn_cut_moves_free(moves);
        kn_cuts_free(cuts);
        setup_free(&s);
    }
}

/* Rows that all differ in their first column, evenly. */
enum { N_WIDE = 3000, WIDE_K = 50 };
static setup wide_setup(const char *measure)
{
    static int cells[N_WIDE * 3];
    for (int row = 0; row < N_WIDE; row++) {
        cells[3 * row] = row;
        cells[3 * row + 1] = 0;
        cells[3 * row + 2] = row % 2;
    }
    setup s = {.c = test_case_new(test_table(N_WIDE, 3, cells), 1)};
    for (uint32_t q = 0; q < s.c.n_qis; q++) s.c.domains[q] = test_domain(s.c.table, q, NULL);
    test_case_finish(&s.c);
    setup_goals(&s, (const char *const[]){"k-anonymity:k=50"}, 1, measure, 0);
    return s;
}

/* Classes of k rows each. A part of m values of n costs each of its rows (m - 1) / (n - 1). */
static double least_wide_lm(void) { return (double)N_WIDE * (WIDE_K - 1) / (N_WIDE - 1); }

static void a_column_of_very_many_values_is_cut_at_ever_other_ones(void **state)
{
    kn_rng rng = kn_rng_new(14, 29);
    setup s = wide_setup("lm");
    kn_cuts *cuts;
    kn_cut_moves *moves;
    kn_cut_path *path;
    static uint8_t in[N_WIDE];
    memset(in, 0, sizeof in);
    setup_algorithm(&s, "hill-climb", "");
    assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
    assert_ok(kn_cut_moves_new(&moves, cuts, &cuts->items, err));
    assert_ok(kn_cut_path_new(&path, cuts, &cuts->items, err));
    kn_cut_moves_look(moves, in, false);
    double before = INFINITY, first = 0;
    for (int look = 0; look < 40; look++) {
        const uint64_t work = moves->work;
        kn_cut_column_best(path, moves, in, 0, &rng);
        assert_true(moves->work - work < 1 << 24);
        assert_true(kn_cut_is_release(cuts, &moves->now) && moves->now.cost <= before);
        before = moves->now.cost;
        if (look == 0) first = before;
    }
    assert_true(first > 1.001 * least_wide_lm()); /* it cannot have looked at all of them at once */
    assert_true(before < first && before < 1.06 * least_wide_lm() && before >= least_wide_lm() - 1e-9);
    memset(in, 1, sizeof in); /* more cuts than it can look at */
    kn_cut_moves_look(moves, in, false);
    assert_true(kn_cut_column_best(path, moves, in, 0, &rng) && kn_cut_is_release(cuts, &moves->now));
    for (int draw = 0; draw < 5; draw++) kn_cut_column_draw(path, moves, in, 0, 1, 1, &rng);
    kn_cut_path_free(path);
    kn_cut_moves_free(moves);
    kn_cuts_free(cuts);
    setup_free(&s);
}

static void climbing_ends_when_its_work_is_done(void **state)
{
    static uint8_t letters[N_WIDE];
    for (uint64_t most = 0; most <= 300000000; most += 100000000) {
        setup s = wide_setup("dm");
        kn_climb climb = {.task = &s.task, .most_looks = UINT64_MAX, .most_work = most, .letters = letters};
        kn_cuts *cuts;
        setup_algorithm(&s, "hill-climb", "");
        assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
        climb.cuts = cuts;
        assert_ok(kn_cut_climb(&climb, err));
        assert_true(climb.has_best && climb.stopped == KN_STOPPED_BUDGET);
        assert_true(climb.work >= most && climb.work < most + 200000000); /* a look at most for each descent */
        kn_cuts_free(cuts);
        setup_free(&s);
    }
}

/* --- Releases ------------------------------------------------------------------------------------------------------
 */

static void the_proven_loss_is_what_the_release_loses(void **state)
{
    kn_rng rng = kn_rng_new(14, 5);
    uint32_t n_proven = 0;
    for (uint32_t n_tried = 0; n_tried < 600; n_tried++) {
        setup s;
        kn_answer answer = {0};
        kn_release *release = NULL;
        if (!random_setup(&s, &rng, 12, false)) continue;
        setup_algorithm(&s, "k-optimize", kn_rng_below(&rng, 2) == 0 ? "hierarchy=nodes" : "");
        if (search_with(&answer, &s, NULL) == KN_OK) {
            double loss, claimed = answer.bound;
            assert_ok(kn_recode(&release, &answer, &s.task, err));
            kn_answer_reconsider(&answer, &s.task);
            assert_ok(kn_objective_loss(&loss, s.objective, release, err));
            assert_true(answer.optimal);
            if (!is_near(loss, claimed))
                fail_msg("%s: claimed %.12g, is %.12g", s.objective->type->name, claimed, loss);
            n_proven += answer.optimal;
        }
        kn_release_free(release);
        kn_answer_free(&answer);
        setup_free(&s);
    }
    assert_true(n_proven > 200);
}

/* Few values with many rows, and others with one or two that are worth suppressing. */
static setup rare_values_setup(kn_rng *rng, bool is_text)
{
    static const char *const words[] = {"ash", "birch", "cedar", "dogwood", "elm", "fir"};
    const uint32_t n_rows = 16 + kn_rng_below(rng, MAX_ROWS - 15), n_columns = 3;
    int numbers[MAX_ROWS * 3];
    const char *texts[MAX_ROWS * 3];
    for (uint32_t row = 0; row < n_rows; row++) {
        const bool is_rare = kn_rng_below(rng, 5) == 0;
        for (uint32_t i = 0; i < n_columns; i++) {
            int *cell = &numbers[row * n_columns + i];
            *cell = i == 2 ? (int)kn_rng_below(rng, 2)
                           : (int)(is_rare ? kn_rng_below(rng, 6) : 1 + 3 * kn_rng_below(rng, 2));
            texts[row * n_columns + i] = words[*cell];
        }
    }
    kn_table *table = is_text ? test_text_table(n_rows, n_columns, texts) : test_table(n_rows, n_columns, numbers);
    setup s = {.c = test_case_new(table, 1)};
    for (uint32_t q = 0; q < 2; q++) s.c.domains[q] = test_domain(s.c.table, q, NULL);
    test_case_finish(&s.c);
    return s;
}

/* Cuts of numbers at multiples of 2 in the first column and of 3 in the second. */
static cut_sets coarse_cuts(const setup *s)
{
    const cut_sets all = all_cuts(s, false);
    cut_sets sets = {0};
    for (uint32_t i = 0; i < all.n_letters; i++) {
        const kn_domain *domain = s->c.domains[all.q[i]];
        const kn_column *column = domain->column;
        uint32_t before = all.code[i] - 1;
        while (kn_domain_code_rows(domain, before) == 0) before--;
        const double width = all.q[i] + 2;
        const double low = column->number[kn_column_value(column, domain->spelling_of_code[before])];
        const double high = column->number[kn_column_value(column, domain->spelling_of_code[all.code[i]])];
        if (floor(low / width) == floor(high / width)) continue;
        sets.q[sets.n_letters] = all.q[i];
        sets.code[sets.n_letters++] = all.code[i];
    }
    return sets;
}

static void labels_without_suppressed_values_are_priced_as_they_are_released(void **state)
{
    static const char *const by_cell[] = {"lm", "non-uniform-entropy"};
    kn_rng rng = kn_rng_new(14, 23);
    uint32_t n_closed = 0;
    for (uint32_t n_tried = 0; n_tried < 400; n_tried++) {
        const bool is_text = n_tried % 2 == 0;
        setup s = rare_values_setup(&rng, is_text);
        kn_answer answer = {0};
        kn_release *release = NULL;
        char model[32], params[64];
        snprintf(model, sizeof model, "k-anonymity:k=%u", 2 + kn_rng_below(&rng, 4));
        setup_goals(&s, (const char *const[]){model}, 1, by_cell[n_tried / 2 % 2],
                    kn_rng_below(&rng, 2) ? 5 : s.c.tuples->n_rows);
        snprintf(params, sizeof params, "begin=nothing,coarse=%s:2|%s:3", s.c.domains[0]->name, s.c.domains[1]->name);
        setup_algorithm(&s, "k-optimize", is_text ? "begin=nothing" : params);
        const cut_sets sets = is_text ? all_cuts(&s, false) : coarse_cuts(&s);
        const double least = brute_force(&s, &sets, false);
        const kn_status status = search_with(&answer, &s, NULL);
        assert_int_equal(status, isinf(least) ? KN_NOT_MET : KN_OK);
        if (status == KN_OK) {
            const parts p = parts_of_answer(&s, &answer);
            double loss;
            assert_true(answer.optimal && is_near(price_parts(&s, &p, false).cost, least));
            assert_ok(kn_recode(&release, &answer, &s.task, err));
            assert_ok(kn_objective_loss(&loss, s.objective, release, err));
            assert_true(is_near(loss, answer.bound));
            n_closed++;
        }
        kn_release_free(release);
        kn_answer_free(&answer);
        setup_free(&s);
    }
    assert_true(n_closed > 300);
}

static void no_bound_is_above_what_narrower_labels_cost(void **state)
{
    kn_rng rng = kn_rng_new(14, 24);
    for (uint32_t n_tried = 0; n_tried < 300; n_tried++) {
        const bool is_text = n_tried % 2 == 0;
        setup s = rare_values_setup(&rng, is_text);
        char model[32], params[64];
        snprintf(model, sizeof model, "k-anonymity:k=%u", 2 + kn_rng_below(&rng, 4));
        setup_goals(&s, (const char *const[]){model}, 1, n_tried / 2 % 2 ? "lm" : "non-uniform-entropy",
                    kn_rng_below(&rng, 2) ? 5 : s.c.tuples->n_rows);
        snprintf(params, sizeof params, "coarse=%s:2|%s:3", s.c.domains[0]->name, s.c.domains[1]->name);
        look_at_nodes(&s, is_text ? "" : params);
        setup_free(&s);
    }
}

/* A hierarchy of numbers with the missing value between them: a part around it is the whole domain, and an interval
 * once nobody who is released misses it. No cut can tell. */
static setup missing_inside_setup(kn_rng *rng)
{
    static const char file[] = "0;low;*\n1;low;*\n?;low;*\n2;low;*\n3;high;*\n4;high;*\n";
    const uint32_t n_rows = 10 + kn_rng_below(rng, MAX_ROWS - 9);
    int cells[MAX_ROWS * 3];
    for (uint32_t row = 0; row < n_rows; row++) {
        const bool is_missing = kn_rng_below(rng, 15) == 0, is_beside = kn_rng_below(rng, 3) > 0;
        cells[3 * row] = is_missing ? TEST_MISSING : (int)(is_beside ? 1 + kn_rng_below(rng, 2) : kn_rng_below(rng, 5));
        cells[3 * row + 1] = is_missing && is_beside ? 3 : (int)kn_rng_below(rng, 3); /* alone, and then suppressed */
        cells[3 * row + 2] = (int)kn_rng_below(rng, 2);
    }
    setup s = {.c = test_case_new(test_table(n_rows, 3, cells), 1)};
    kn_column *column = &s.c.table->columns[0];
    if (column->has_missing) /* the last spelling: "", and there is room for one byte more */
        column->bytes[column->offset[column->n_spellings]++] = '?';
    const kn_hierarchy_request request = {
        .spec = "file", .weight = 1, .max_level = KN_NONE, .grid = "exact", .text = file, .n_text_bytes = strlen(file)};
    assert_ok(kn_domain_build(&s.c.domains[0], &s.c.table->columns[0], "test", n_rows, &request, err));
    s.c.domains[1] = test_domain(s.c.table, 1, NULL);
    test_case_finish(&s.c);
    return s;
}

static void a_missing_value_between_others_may_be_gone(void **state)
{
    kn_rng rng = kn_rng_new(14, 27);
    uint32_t n_inside = 0;
    for (uint32_t n_tried = 0; n_tried < 400; n_tried++) {
        setup s = missing_inside_setup(&rng);
        kn_answer answer = {0};
        char model[32];
        snprintf(model, sizeof model, "k-anonymity:k=%u", 2 + kn_rng_below(&rng, 6));
        setup_goals(&s, (const char *const[]){model}, 1, n_tried % 2 ? "lm" : "non-uniform-entropy",
                    kn_rng_below(&rng, 4) ? 1 + kn_rng_below(&rng, 4) : s.c.tuples->n_rows);
        n_inside += s.c.domains[0]->missing == 2 && kn_part_form_of(s.c.domains[0], false) == KN_PART_INTERVAL;
        setup_algorithm(&s, "k-optimize", "begin=nothing");
        const cut_sets sets = all_cuts(&s, false);
        const double least = brute_force(&s, &sets, false);
        const kn_status status = search_with(&answer, &s, NULL);
        assert_int_equal(status, isinf(least) ? KN_NOT_MET : KN_OK);
        if (status == KN_OK) {
            const parts p = parts_of_answer(&s, &answer);
            const double found = price_parts(&s, &p, false).cost;
            if (!answer.optimal || !is_near(found, least)) fail_msg("found %.12g, best %.12g", found, least);
        }
        look_at_nodes(&s, "");
        kn_answer_free(&answer);
        setup_free(&s);
    }
    assert_true(n_inside > 200);
}

/* A larger table whose search takes several rounds. */
static setup large_setup(const char *measure, uint64_t limit)
{
    kn_rng rng = kn_rng_new(14, 6);
    enum { N_ROWS = 300, N_COLUMNS = 4 };
    static int cells[N_ROWS * N_COLUMNS];
    for (uint32_t i = 0; i < N_ROWS * N_COLUMNS; i++)
        cells[i] = i % N_COLUMNS == N_COLUMNS - 1 ? (int)kn_rng_below(&rng, 3)
                                                  : (int)(kn_rng_below(&rng, 8) + kn_rng_below(&rng, 7)) / 2;
    setup s = {.c = test_case_new(test_table(N_ROWS, N_COLUMNS, cells), 1)};
    for (uint32_t q = 0; q < s.c.n_qis; q++) s.c.domains[q] = test_domain(s.c.table, q, NULL);
    test_case_finish(&s.c);
    setup_goals(&s, (const char *const[]){"k-anonymity:k=5"}, 1, measure, limit);
    return s;
}

static void assert_same_parts(const setup *s, const kn_answer *a, const kn_answer *b)
{
    for (uint32_t q = 0; q < s->c.n_qis; q++)
        assert_memory_equal(a->part[q], b->part[q], s->c.domains[q]->n_codes * sizeof **a->part);
}

static void threads_and_seeds_of_the_search_change_nothing(void **state)
{
    static const char *const begins[] = {"begin=nothing", "begin=climb", "begin=larger-k", "begin=unsuppressed"};
    for (uint32_t m = 0; m < N_MEASURES; m++) {
        setup s = large_setup(measures[m], strcmp(measures[m], "entropy") == 0 ? 0 : 20);
        double bounds[4];
        for (size_t b = 0; b < 4; b++) {
            kn_answer one = {0}, two = {0};
            setup_algorithm(&s, "k-optimize", begins[b]);
            s.task.pool = NULL;
            assert_ok(kn_algorithm_find("k-optimize")->search(&one, &s.task, err));
            assert_ok(kn_pool_new(&s.task.pool, 2, err));
            assert_ok(kn_algorithm_find("k-optimize")->search(&two, &s.task, err));
            kn_pool_free(s.task.pool);
            s.task.pool = NULL;
            assert_true(one.optimal && two.optimal && one.bound == two.bound && one.n_nodes == two.n_nodes);
            assert_same_parts(&s, &one, &two);
            bounds[b] = one.bound;
            assert_true(is_near(bounds[b], bounds[0]));
            kn_answer_free(&one);
            kn_answer_free(&two);
        }
        setup_free(&s);
    }
}

static void threads_change_nothing_under_any_model(void **state)
{
    static const struct {
        const char *model;
        uint64_t limit;
    } goals[] = {{"l-diversity:l=2", 20},
                 {"p-sensitive:p=2", 20},
                 {"l-diversity:kind=entropy,l=1.5", 0},
                 {"l-diversity:kind=recursive,c=2,l=2", 0},
                 {"l-diversity:kind=frequency,l=1.5", 0},
                 {"alpha-k:alpha=0.7", 0},
                 {"t-closeness:t=0.3", 0}};
    for (uint32_t m = 0; m < N_MEASURES; m++)
        for (size_t g = 0; g < sizeof goals / sizeof *goals; g++) {
            setup s = large_setup(measures[m], 0);
            kn_answer one = {0}, two = {0};
            const char *const models[] = {"k-anonymity:k=5", goals[g].model};
            setup_goals(&s, models, 2, measures[m], strcmp(measures[m], "entropy") == 0 ? 0 : goals[g].limit);
            setup_algorithm(&s, "k-optimize", "begin=nothing");
            s.task.effort = 3000;
            assert_ok(search_with(&one, &s, err));
            assert_ok(kn_pool_new(&s.task.pool, 2, err));
            assert_ok(search_with(&two, &s, err));
            kn_pool_free(s.task.pool);
            assert_true(one.optimal == two.optimal && one.bound == two.bound && one.n_nodes == two.n_nodes);
            assert_same_parts(&s, &one, &two);
            kn_answer_free(&one);
            kn_answer_free(&two);
            setup_free(&s);
        }
}

static void a_given_cost_is_met_or_refused(void **state)
{
    setup s = large_setup("dm", 20);
    kn_answer answer = {0};
    char params[64];
    setup_algorithm(&s, "k-optimize", "");
    assert_ok(kn_algorithm_find("k-optimize")->search(&answer, &s.task, err));
    double best = answer.bound;
    for (int less = 0; less < 2; less++) {
        kn_error err = {0};
        kn_answer_free(&answer);
        snprintf(params, sizeof params, "begin=nothing,cost=%.17g", best - less);
        setup_algorithm(&s, "k-optimize", params);
        kn_status status = kn_algorithm_find("k-optimize")->search(&answer, &s.task, &err);
        assert_int_equal(status, less ? KN_NOT_MET : KN_OK);
        if (!less) assert_true(answer.optimal && answer.bound == best);
    }
    kn_answer_free(&answer);
    setup_free(&s);
}

/* --- Stopped and taken up again ------------------------------------------------------------------------------------
 */

static void a_search_that_was_stopped_has_a_bound_and_can_go_on(void **state)
{
    for (uint32_t m = 0; m < N_MEASURES; m++) {
        setup s = large_setup(measures[m], strcmp(measures[m], "entropy") == 0 ? 0 : 20);
        kn_answer whole = {0};
        kn_saved_search saved = {0};
        kn_buffer before = {0};
        double last = -INFINITY;
        bool done = false;
        setup_algorithm(&s, "k-optimize", "begin=nothing");
        assert_ok(search_with(&whole, &s, err));
        s.task.saved = &saved;
        s.task.effort = 1;
        for (uint32_t n = 0; !done; n++) {
            kn_answer part = {0};
            assert_true(n < 100000);
            assert_ok(search_with(&part, &s, err));
            assert_true(part.bound >= last - 1e-9 * fabs(last) && part.bound <= whole.bound + 1e-9 * fabs(whole.bound));
            last = part.bound;
            done = part.stopped == KN_STOPPED_DONE;
            assert_true(done == part.optimal);
            if (done) assert_same_parts(&s, &part, &whole);
            kn_answer_free(&part);
            kn_buffer_free(&before);
            before = saved.next;
            saved = (kn_saved_search){.bytes = before.bytes, .n_bytes = before.n};
            s.task.effort = 1000;
        }
        assert_true(is_near(last, whole.bound));
        kn_buffer_free(&before);
        kn_answer_free(&whole);
        setup_free(&s);
    }
}

/* Keeps what a search knows in a file, and dies. */
static kn_status keep_and_die(void *user, const kn_buffer *state, kn_error *err)
{
    if (write(*(const int *)user, state->bytes, state->n) != (ssize_t)state->n) _exit(1);
    kill(getpid(), SIGKILL);
    return KN_OK;
}

static void a_search_that_was_killed_goes_on_to_the_same_optimum(void **state)
{
    for (uint32_t m = 0; m < N_MEASURES; m++) {
        setup s = large_setup(measures[m], strcmp(measures[m], "entropy") == 0 ? 0 : 20);
        kn_answer whole = {0}, rest = {0};
        char path[] = "killed_search_XXXXXX", bytes[1 << 20];
        int file = mkstemp(path), status;
        unlink(path); /* nothing is left behind, however this ends */
        setup_algorithm(&s, "k-optimize", "begin=nothing");
        assert_ok(search_with(&whole, &s, err));
        const pid_t child = fork();
        if (child == 0) {
            kn_saved_search saved = {.keep = keep_and_die, .user = &file};
            kn_answer answer = {0};
            s.task.saved = &saved;
            search_with(&answer, &s, NULL);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        const ssize_t n = pread(file, bytes, sizeof bytes, 0);
        assert_true(n > 0 && n < (ssize_t)sizeof bytes);
        kn_saved_search saved = {.bytes = bytes, .n_bytes = (size_t)n};
        s.task.saved = &saved;
        assert_ok(search_with(&rest, &s, err));
        assert_true(rest.optimal && is_near(rest.bound, whole.bound) && rest.n_nodes == whole.n_nodes);
        assert_same_parts(&s, &rest, &whole);
        close(file);
        kn_buffer_free(&saved.next);
        kn_answer_free(&whole);
        kn_answer_free(&rest);
        setup_free(&s);
    }
}

static void a_state_of_another_search_or_a_damaged_one_is_refused(void **state)
{
    setup s = large_setup("dm", 20);
    kn_answer answer = {0};
    kn_saved_search first = {0}, saved = {0};
    setup_algorithm(&s, "k-optimize", "begin=nothing");
    s.task.effort = 1;
    s.task.saved = &first;
    assert_ok(search_with(&answer, &s, err));
    kn_answer_free(&answer);
    static const struct {
        const char *model, *measure;
        uint64_t limit;
    } goals[] = {{"k-anonymity:k=6", "dm", 20}, {"k-anonymity:k=5", "cm", 20}, {"k-anonymity:k=5", "dm", 19}};
    for (size_t i = 0; i < 3; i++) {
        kn_error err = {0};
        setup_goals(&s, &goals[i].model, 1, goals[i].measure, goals[i].limit);
        s.task.saved = &saved;
        saved.bytes = first.next.bytes;
        saved.n_bytes = first.next.n;
        assert_int_equal(search_with(&answer, &s, &err), KN_INPUT);
        assert_non_null(strstr(err.message, "other data"));
    }
    setup_goals(&s, &goals[1].model, 1, "dm", 20);
    s.task.saved = &saved;
    for (size_t n = 0; n < first.next.n; n++) { /* cut off anywhere */
        kn_error err = {0};
        saved.n_bytes = n;
        assert_int_equal(search_with(&answer, &s, &err), KN_INPUT);
    }
    kn_buffer_free(&first.next);
    kn_buffer_free(&saved.next);
    setup_free(&s);
}

/* Two tuples of two rows each: as many persons in each, but in one table they are the same two. */
static void a_state_of_other_persons_is_refused(void **state)
{
    static const int cells[2][12] = {{1, 0, 1, 1, 0, 2, 2, 0, 1, 2, 0, 2}, {1, 0, 1, 1, 0, 2, 2, 0, 3, 2, 0, 4}};
    kn_saved_search saved = {0};
    kn_buffer first = {0};
    for (int i = 0; i < 2; i++) {
        setup s = {.c = test_case_new(test_table(4, 3, cells[i]), 2)};
        kn_answer answer = {0};
        kn_error err = {0};
        s.c.table->person = 2;
        s.c.table->columns[2].is_person = true;
        s.c.table->columns[2].role = KN_ROLE_IDENTIFIER;
        s.c.domains[0] = test_domain(s.c.table, 0, NULL);
        test_case_finish(&s.c);
        assert_int_equal(s.c.tuples->n_repeats, i == 0 ? 4 : 0);
        setup_goals(&s, (const char *const[]){"k-anonymity:k=2"}, 1, "dm", 0);
        setup_algorithm(&s, "k-optimize", "begin=nothing");
        s.task.saved = &saved;
        assert_int_equal(search_with(&answer, &s, &err), i == 0 ? KN_OK : KN_INPUT);
        if (i == 0) {
            first = saved.next;
            saved = (kn_saved_search){.bytes = first.bytes, .n_bytes = first.n};
        } else {
            assert_non_null(strstr(err.message, "other data"));
        }
        kn_answer_free(&answer);
        setup_free(&s);
    }
    kn_buffer_free(&first);
    kn_buffer_free(&saved.next);
}

static void letters_are_dropped_by_their_bound_under_every_measure_with_a_price(void **state)
{
    static const char *const with_price[] = {"dm", "cm", "lm", "non-uniform-entropy"};
    for (size_t m = 0; m < sizeof with_price / sizeof *with_price; m++) {
        setup s = large_setup(with_price[m], 20);
        kn_answer answer = {0};
        kn_trace trace = {0};
        uint64_t n_dropped = 0;
        setup_algorithm(&s, "k-optimize", "");
        s.task.trace = &trace;
        assert_ok(search_with(&answer, &s, err));
        for (size_t i = 0; i < trace.counts.n; i++)
            if (strcmp(trace.counts.items[i].key, "dropped_by_bound") == 0) n_dropped = trace.counts.items[i].n;
        assert_true(answer.optimal && n_dropped > 0);
        kn_trace_free(&trace);
        kn_answer_free(&answer);
        setup_free(&s);
    }
}

static void what_was_proven_over_time_and_by_which_rules_is_told(void **state)
{
    setup s = large_setup("dm", 20);
    kn_answer answer = {0};
    kn_trace trace = {.explain = true};
    uint64_t n_evaluations = 0, n_closed = 0, n_open = 1;
    setup_algorithm(&s, "k-optimize", "begin=nothing");
    s.task.trace = &trace;
    assert_ok(search_with(&answer, &s, err));
    assert_true(answer.optimal && trace.bounds.n > 1 && trace.points.n > 1);
    for (size_t i = 0; i < trace.bounds.n; i++) {
        const kn_trace_point *point = &trace.bounds.items[i];
        assert_true(point->loss <= answer.bound + 1e-9);
        assert_true(i == 0 || (point->loss > point[-1].loss && point->seconds >= point[-1].seconds));
    }
    assert_true(is_near(trace.bounds.items[trace.bounds.n - 1].loss, answer.bound));
    assert_true(is_near(trace.points.items[trace.points.n - 1].loss, answer.bound));
    for (size_t i = 0; i < trace.counts.n; i++) {
        const kn_trace_count *count = &trace.counts.items[i];
        if (strcmp(count->key, "evaluations") == 0) n_evaluations = count->n;
        if (strcmp(count->key, "closed_by_bound") == 0) n_closed = count->n;
        if (strcmp(count->key, "open") == 0) n_open = count->n;
        assert_non_null(strstr(trace.explanation.bytes, count->text));
    }
    assert_true(n_evaluations == answer.n_nodes && n_closed > 0 && n_closed < n_evaluations && n_open == 0);
    assert_non_null(strstr(trace.explanation.bytes, "no release loses less than"));
    kn_trace_free(&trace);
    kn_answer_free(&answer);
    setup_free(&s);
}

/* --- Hierarchies of numbers ------------------------------------------------------------------------------------------
 */

enum { WIDTH = 3, LEAVES = 12 };

/* What a part of one column costs by the definition: nothing where its rows have one value, otherwise the leaves from
 * the beginning of its first block of WIDTH to the end of its last. */
static double block_price(const kn_domain *domain, const int *present, uint32_t n_present, int low, int high)
{
    int first = 0, last = 0;
    uint32_t n_rows_values = 0, n_held = 0;
    for (uint32_t i = 0; i < n_present; i++) {
        if (present[i] < low || present[i] > high) continue;
        if (n_rows_values++ == 0) first = present[i];
        last = present[i];
    }
    if (n_rows_values < 2) return 0;
    if (domain->n_codes == LEAVES) n_held = (uint32_t)(last / WIDTH - first / WIDTH + 1) * WIDTH; /* the file's */
    for (uint32_t i = 0; domain->n_codes < LEAVES && i < n_present; i++)
        n_held += present[i] / WIDTH >= first / WIDTH && present[i] / WIDTH <= last / WIDTH;
    return domain->weight * (n_held - 1.0) / (domain->n_codes - 1.0);
}

/* The least LM of one column over every set of cuts between blocks; every part needs k rows. */
static double least_by_blocks(const kn_domain *domain, const int *values, uint32_t n_rows, uint32_t k)
{
    int present[16];
    uint32_t n_present = 0, n_cuts = 0;
    int cuts[16];
    for (int value = 0; value < LEAVES; value++)
        for (uint32_t row = 0; row < n_rows; row++)
            if (values[row] == value) {
                if (n_present > 0 && present[n_present - 1] / WIDTH != value / WIDTH) cuts[n_cuts++] = value;
                present[n_present++] = value;
                break;
            }
    double least = INFINITY;
    for (uint32_t subset = 0; subset < 1u << n_cuts; subset++) {
        double sum = 0;
        bool fine = true;
        for (int low = 0, high; low < LEAVES; low = high + 1) {
            high = LEAVES - 1;
            for (uint32_t c = n_cuts; c-- > 0;)
                if (subset >> c & 1 && cuts[c] > low && cuts[c] - 1 < high) high = cuts[c] - 1;
            uint32_t n = 0;
            for (uint32_t row = 0; row < n_rows; row++) n += values[row] >= low && values[row] <= high;
            fine = fine && (n == 0 || n >= k);
            sum += n * (low == 0 && high == LEAVES - 1 ? domain->weight
                                                       : block_price(domain, present, n_present, low, high));
        }
        if (fine && sum < least) least = sum;
    }
    return least / n_rows;
}

/* Every interval begins and ends where a block does, however few of its values there are. */
static void assert_ends_are_of_blocks(const kn_release *release, const kn_domain *domain)
{
    for (uint32_t c = 0; c < release->n_classes; c++) {
        kn_buffer text = {0};
        int low, high;
        kn_cell_text(&text, &release->cells[c], domain, release->sets);
        kn_buffer_char(&text, '\0');
        if (sscanf(text.bytes, "%d..%d", &low, &high) == 2 && (low % WIDTH != 0 || (high + 1) % WIDTH != 0))
            fail_msg("%s", text.bytes);
        kn_cell back;
        kn_set_pool *sets;
        assert_ok(kn_set_pool_new(&sets, err));
        assert_ok(kn_cell_parse(&back, domain, sets, text.bytes, text.n - 1, err));
        assert_int_equal(back.first, release->cells[c].first);
        assert_int_equal(back.last, release->cells[c].last);
        kn_set_pool_free(sets);
        kn_buffer_free(&text);
    }
}

static void cuts_of_numbers_in_a_hierarchy_end_where_its_labels_or_the_grid_do(void **state)
{
    kn_rng rng = kn_rng_new(14, 21);
    static const char *const specs[] = {"intervals(3,6)", "suppress", "file"};
    static const char file[] = "0;0..2;*\n1;0..2;*\n2;0..2;*\n3;3..5;*\n4;3..5;*\n5;3..5;*\n"
                               "6;6..8;*\n7;6..8;*\n8;6..8;*\n9;9..11;*\n10;9..11;*\n11;9..11;*\n";
    for (uint32_t n_tried = 0; n_tried < 400; n_tried++) {
        int values[MAX_ROWS * 2];
        setup s = {0};
        kn_answer answer = {0};
        kn_release *release = NULL;
        const uint32_t n_rows = 4 + kn_rng_below(&rng, MAX_ROWS - 4), k = 1 + kn_rng_below(&rng, 3);
        for (uint32_t row = 0; row < n_rows; row++) {
            values[2 * row] = (int)kn_rng_below(&rng, LEAVES);
            values[2 * row + 1] = 0;
        }
        s.c = test_case_new(test_table(n_rows, 2, values), 1);
        kn_hierarchy_request request = {
            .spec = specs[n_tried % 3], .weight = 1, .max_level = KN_NONE, .grid = n_tried % 3 == 1 ? "3" : "auto"};
        if (n_tried % 3 == 2) request.text = file, request.n_text_bytes = strlen(file);
        assert_ok(kn_domain_build(&s.c.domains[0], &s.c.table->columns[0], "test", n_rows, &request, err));
        test_case_finish(&s.c);
        char model[32];
        snprintf(model, sizeof model, "k-anonymity:k=%u", k);
        const char *const models[] = {model};
        setup_goals(&s, models, 1, "lm", 0);
        setup_algorithm(&s, "k-optimize", "");
        assert_ok(search_with(&answer, &s, err));
        assert_ok(kn_recode(&release, &answer, &s.task, err));
        double loss;
        assert_ok(kn_objective_loss(&loss, s.objective, release, err));
        for (uint32_t row = 0; row < n_rows; row++) values[row] = values[2 * row];
        const double least = least_by_blocks(s.c.domains[0], values, n_rows, k);
        if (!is_near(loss, least)) fail_msg("case %u: %.12g, best %.12g", n_tried, loss, least);
        assert_ends_are_of_blocks(release, s.c.domains[0]);
        kn_release_free(release);
        kn_answer_free(&answer);
        setup_free(&s);
    }
}

/* --- Starting partitions -------------------------------------------------------------------------------------------
 */

static void cuts_begin_where_widths_or_the_class_column_say(void **state)
{
    enum { N_ROWS = 400 };
    static int cells[N_ROWS * 3];
    setup s = {0};
    kn_cuts *cuts;
    for (int i = 0; i < N_ROWS; i++) { /* the class changes at 30 of the first column, and nowhere along the second */
        cells[3 * i] = i % 50;
        cells[3 * i + 1] = i / 50;
        cells[3 * i + 2] = i % 50 < 30 ? 1 : 2;
    }
    s.c = test_case_new(test_table(N_ROWS, 3, cells), 1);
    for (uint32_t q = 0; q < 2; q++) s.c.domains[q] = test_domain(s.c.table, q, NULL);
    test_case_finish(&s.c);
    setup_goals(&s, (const char *const[]){"k-anonymity:k=5"}, 1, "cm", 0);
    setup_algorithm(&s, "k-optimize", "");
    assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
    assert_int_equal(cuts->n_letters, 49 + 7);
    kn_cuts_free(cuts);
    setup_algorithm(&s, "k-optimize", "start=classes");
    assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
    assert_int_equal(cuts->n_letters, 1);
    assert_int_equal(cuts->columns[0].start[1], 30);
    assert_int_equal(cuts->columns[1].n_positions, 1);
    kn_cuts_free(cuts);
    char params[64];
    snprintf(params, sizeof params, "coarse=%s:20", s.c.domains[0]->name);
    setup_algorithm(&s, "k-optimize", params);
    assert_ok(kn_cuts_new(&cuts, &s.task, 1, err));
    assert_int_equal(cuts->columns[0].n_positions, 3);
    assert_int_equal(cuts->columns[0].start[1], 20);
    assert_int_equal(cuts->columns[0].start[2], 40);
    assert_int_equal(cuts->columns[1].n_positions, 8);
    kn_cuts_free(cuts);
    setup_free(&s);
}

/* --- Refusals ------------------------------------------------------------------------------------------------------
 */

static void assert_refused(setup *s, const char *params, const char *reason)
{
    kn_answer answer = {0};
    kn_error err = {0};
    setup_algorithm(s, "k-optimize", params);
    assert_int_equal(kn_algorithm_find("k-optimize")->search(&answer, &s->task, &err), KN_USAGE);
    if (strstr(err.message, reason) == NULL) fail_msg("'%s' does not say '%s'", err.message, reason);
    kn_answer_free(&answer);
}

static void what_cannot_be_proven_is_refused_with_the_reason(void **state)
{
    setup s = large_setup("dm", 20);
    setup_goals(&s, (const char *const[]){"k-anonymity:k=5", "l-diversity:kind=entropy,l=1.5"}, 2, "dm", 1);
    assert_refused(&s, "", "--max-suppressed 0 only");
    setup_goals(&s, (const char *const[]){"k-anonymity:k=5"}, 1, "entropy", 1);
    assert_refused(&s, "", "needs --max-suppressed 0 under measure entropy");
    setup_goals(&s, (const char *const[]){"k-anonymity:k=5"}, 1, "kl", 0);
    assert_refused(&s, "", "no bound for measure kl");
    setup_goals(&s, (const char *const[]){"k-anonymity:k=5"}, 1, "dm", 0);
    assert_refused(&s, "coarse=a", "COLUMN:WIDTH");
    assert_refused(&s, "coarse=a:-1", "COLUMN:WIDTH");
    assert_refused(&s, "coarse=z:5", "'z' is no quasi-identifier");
    setup_free(&s);
}

/* --- Searches that prove nothing -----------------------------------------------------------------------------------
 */

static const char *const others[] = {"hill-climb", "genetic", "anneal"};
enum { N_OTHERS = sizeof others / sizeof *others };

static void the_others_find_releases_wherever_there_are_some(void **state)
{
    kn_rng rng = kn_rng_new(14, 7);
    uint32_t n_best[N_OTHERS] = {0}, n_found = 0;
    for (uint32_t n_tried = 0; n_tried < 60;) {
        setup s;
        const bool nodes = kn_rng_below(&rng, 4) == 0;
        if (!random_setup(&s, &rng, 8, false)) continue;
        cut_sets sets = all_cuts(&s, nodes);
        if (sets.n_letters > 12) {
            setup_free(&s);
            continue;
        }
        double least = brute_force(&s, &sets, nodes);
        n_found += !isinf(least);
        for (size_t i = 0; i < N_OTHERS; i++) {
            kn_answer answer = {0};
            setup_algorithm(&s, others[i], nodes ? "hierarchy=nodes" : "");
            s.task.effort = 500;
            kn_status status = kn_algorithm_find(others[i])->search(&answer, &s.task, NULL);
            assert_int_equal(status, isinf(least) ? KN_NOT_MET : KN_OK);
            if (!isinf(least)) {
                parts p = parts_of_answer(&s, &answer);
                priced found = price_parts(&s, &p, nodes);
                assert_true(found.n_suppressed <= s.task.max_suppressed && found.n_classes > 0);
                assert_true(found.cost >= least - 1e-9 * (fabs(least) + 1));
                assert_true(!answer.optimal && isnan(answer.bound));
                n_best[i] += is_near(found.cost, least);
            }
            kn_answer_free(&answer);
        }
        setup_free(&s);
        n_tried++;
    }
    for (size_t i = 0; i < N_OTHERS; i++) assert_true(n_best[i] > n_found * 8 / 10); /* they do search */
}

static double loss_of(setup *s, const kn_answer *answer)
{
    kn_release *release = NULL;
    double loss;
    assert_ok(kn_recode(&release, answer, &s->task, err));
    assert_ok(kn_objective_loss(&loss, s->objective, release, err));
    kn_release_free(release);
    return loss;
}

static void annealing_and_climbing_come_near_the_proven_best(void **state)
{
    static const char *const searches[] = {"hill-climb", "anneal"};
    for (uint32_t m = 0; m < N_MEASURES; m++)
        for (uint64_t limit = 0; limit <= 20; limit += 20) {
            if (limit > 0 && strcmp(measures[m], "entropy") == 0) continue;
            setup s = large_setup(measures[m], limit);
            kn_answer best = {0};
            setup_algorithm(&s, "k-optimize", "");
            assert_ok(search_with(&best, &s, err));
            assert_true(best.optimal);
            const double least = loss_of(&s, &best);
            for (size_t i = 0; i < 2; i++) {
                kn_answer answer = {0};
                setup_algorithm(&s, searches[i], "");
                s.task.effort = 2000;
                assert_ok(kn_algorithm_find(searches[i])->search(&answer, &s.task, err));
                const double loss = loss_of(&s, &answer);
                assert_true(loss >= least * (1 - 1e-9));
                if (loss > 1.02 * least)
                    fail_msg("%s, %s, limit %d: %g, best %g", searches[i], measures[m], (int)limit, loss, least);
                s.task.effort = 0;
                kn_answer_free(&answer);
            }
            kn_answer_free(&best);
            setup_free(&s);
        }
}

static void a_time_limit_that_is_long_enough_changes_nothing(void **state)
{
    setup s = large_setup("lm", 0);
    for (uint32_t i = 0; i < 24 * N_OTHERS; i++) {
        kn_answer one = {0}, two = {0};
        const kn_algorithm *algorithm = kn_algorithm_find(others[i % N_OTHERS]);
        const double now = kn_seconds_now();
        kn_ticker ticker = {.search_began = now - 4000, .search_deadline = now + 96000};
        setup_algorithm(&s, algorithm->name, "");
        s.task.effort = 8; /* so few that what was drawn shows */
        s.task.seed = i;
        s.task.ticker = NULL;
        assert_ok(algorithm->search(&one, &s.task, err));
        s.task.ticker = &ticker;
        assert_ok(algorithm->search(&two, &s.task, err));
        assert_true(one.n_nodes == two.n_nodes && one.stopped == two.stopped);
        assert_same_parts(&s, &one, &two);
        kn_answer_free(&one);
        kn_answer_free(&two);
    }
    setup_free(&s);
}

static void what_a_search_takes_is_told_by_its_work(void **state)
{
    setup small = large_setup("dm", 20), wide = wide_setup("dm");
    for (size_t i = 0; i < N_OTHERS; i++) {
        const kn_algorithm *algorithm = kn_algorithm_find(others[i]);
        setup_algorithm(&small, others[i], "");
        setup_algorithm(&wide, others[i], "");
        assert_true(algorithm->seconds(&small.task) > 0);
        assert_true(algorithm->seconds(&wide.task) > 10 * algorithm->seconds(&small.task));
        assert_true(algorithm->seconds(&wide.task) < 60); /* the default ends */
        wide.task.effort = 1000;
        const double one = algorithm->seconds(&wide.task);
        wide.task.effort = 1000000;
        assert_true(is_near(algorithm->seconds(&wide.task), 1000 * one) && one > 0);
        wide.task.effort = 0;
    }
    setup_free(&small);
    setup_free(&wide);
}

static void the_others_are_the_same_for_any_number_of_threads_and_follow_their_seed(void **state)
{
    for (size_t i = 0; i < N_OTHERS; i++) {
        setup s = large_setup("dm", 20);
        kn_answer one = {0}, two = {0};
        setup_algorithm(&s, others[i], "");
        s.task.effort = 600;
        assert_ok(kn_algorithm_find(others[i])->search(&one, &s.task, err));
        assert_ok(kn_pool_new(&s.task.pool, 2, err));
        assert_ok(kn_algorithm_find(others[i])->search(&two, &s.task, err));
        kn_pool_free(s.task.pool);
        assert_same_parts(&s, &one, &two);
        assert_true(one.n_nodes == two.n_nodes && one.stopped == KN_STOPPED_BUDGET);
        kn_answer_free(&one);
        kn_answer_free(&two);
        setup_free(&s);
    }
}

static void every_search_returns_its_best_when_cancelled(void **state)
{
    static const char *const all[] = {"k-optimize", "hill-climb", "genetic", "anneal"};
    for (size_t i = 0; i < 4; i++)
        for (size_t at = 1; at < 4; at++) {
            setup s = large_setup("dm", 20);
            kn_ticker ticker = {.fail_at = at};
            kn_answer answer = {0};
            kn_error err = {0};
            setup_algorithm(&s, all[i], "");
            s.task.ticker = &ticker;
            kn_status status = kn_algorithm_find(all[i])->search(&answer, &s.task, &err);
            assert_true(status == KN_OK);
            assert_true(answer.stopped == KN_STOPPED_INTERRUPT || answer.optimal || answer.stopped == KN_STOPPED_DONE);
            kn_release *release;
            s.task.ticker = NULL;
            assert_true(kn_recode(&release, &answer, &s.task, &err) == KN_OK && release->n_classes > 0);
            kn_release_free(release);
            kn_answer_free(&answer);
            setup_free(&s);
        }
}

static void every_failing_allocation_is_survived(void **state)
{
    static const char *const all[] = {"k-optimize", "hill-climb", "genetic", "anneal"};
    const int cells[] = {1, 1, 0, 2, 1, 1, 2, 2, 0, 3, 2, 1, 3, 1, 0, 1, 2, 1};
    for (size_t i = 0; i < 4; i++) {
        setup s = {.c = test_case_new(test_table(6, 3, cells), 1)};
        for (uint32_t q = 0; q < 2; q++) s.c.domains[q] = test_domain(s.c.table, q, NULL);
        test_case_finish(&s.c);
        setup_goals(&s, (const char *const[]){"k-anonymity:k=2"}, 1, "dm", 1);
        setup_algorithm(&s, all[i], "");
        s.task.effort = 20;
        kn_saved_search saved = {0};
        s.task.saved = &saved;
        kn_status status = KN_RESOURCES;
        for (size_t n = 1; status != KN_OK; n++) {
            kn_answer answer = {0};
            kn_memory_fail_at(n);
            status = kn_algorithm_find(all[i])->search(&answer, &s.task, NULL);
            kn_memory_fail_at(0);
            assert_true(status == KN_OK || status == KN_RESOURCES);
            kn_answer_free(&answer);
            kn_buffer_free(&saved.next);
        }
        setup_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(k_optimize_finds_what_brute_force_finds),
        cmocka_unit_test(no_bound_is_above_the_best_release_below_its_node),
        cmocka_unit_test(every_rule_can_be_switched_off),
        cmocka_unit_test(every_neighbour_costs_what_it_costs_when_looked_at),
        cmocka_unit_test(a_column_is_cut_as_well_as_it_can_be_with_the_others),
        cmocka_unit_test(cuts_of_a_column_are_drawn_as_often_as_their_cost_says),
        cmocka_unit_test(a_column_of_very_many_values_is_cut_at_ever_other_ones),
        cmocka_unit_test(climbing_ends_when_its_work_is_done),
        cmocka_unit_test(the_proven_loss_is_what_the_release_loses),
        cmocka_unit_test(no_bound_is_above_what_narrower_labels_cost),
        cmocka_unit_test(a_missing_value_between_others_may_be_gone),
        cmocka_unit_test(labels_without_suppressed_values_are_priced_as_they_are_released),
        cmocka_unit_test(threads_and_seeds_of_the_search_change_nothing),
        cmocka_unit_test(threads_change_nothing_under_any_model),
        cmocka_unit_test(a_given_cost_is_met_or_refused),
        cmocka_unit_test(a_search_that_was_stopped_has_a_bound_and_can_go_on),
        cmocka_unit_test(a_search_that_was_killed_goes_on_to_the_same_optimum),
        cmocka_unit_test(what_was_proven_over_time_and_by_which_rules_is_told),
        cmocka_unit_test(a_state_of_another_search_or_a_damaged_one_is_refused),
        cmocka_unit_test(a_state_of_other_persons_is_refused),
        cmocka_unit_test(letters_are_dropped_by_their_bound_under_every_measure_with_a_price),
        cmocka_unit_test(cuts_begin_where_widths_or_the_class_column_say),
        cmocka_unit_test(cuts_of_numbers_in_a_hierarchy_end_where_its_labels_or_the_grid_do),
        cmocka_unit_test(what_cannot_be_proven_is_refused_with_the_reason),
        cmocka_unit_test(the_others_find_releases_wherever_there_are_some),
        cmocka_unit_test(annealing_and_climbing_come_near_the_proven_best),
        cmocka_unit_test(a_time_limit_that_is_long_enough_changes_nothing),
        cmocka_unit_test(what_a_search_takes_is_told_by_its_work),
        cmocka_unit_test(the_others_are_the_same_for_any_number_of_threads_and_follow_their_seed),
        cmocka_unit_test(every_search_returns_its_best_when_cancelled),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
