/* `cluster` against the definition: the best partition by brute force for every cell measure, models recounted row by
 * row, one answer for any number of threads and any instruction set. */
#include "release_support.h"

#include "search/search.h"
#include "search/cluster/cluster.h"
#include "search/cluster/polish.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct goals {
    kn_models *models;
    kn_objective *objective;
    kn_args args;
    kn_ticker ticker;
    kn_task task;
} goals;

static bool set_goals(goals *g, const test_case *c, const char *measure, const char *const *specs, size_t n_specs)
{
    const kn_algorithm *cluster = kn_algorithm_find("cluster");
    *g = (goals){0};
    if (kn_models_new(&g->models, specs, n_specs, c->tuples, NULL) != KN_OK)
        return false; /* no release can hold them */
    if (g->models->needs & KN_NEEDS_HISTOGRAM) assert_ok(kn_tuples_histograms(c->tuples, NULL, err));
    assert_ok(kn_objective_new(&g->objective, measure, c->tuples, err));
    assert_ok(kn_args_parse(&g->args, "cluster", cluster->params, cluster->n_params, NULL, err));
    g->task =
        (kn_task){.tuples = c->tuples, .models = g->models, .objective = g->objective, .args = &g->args, .seed = 7};
    return true;
}

static void free_goals(goals *g)
{
    kn_args_free(&g->args);
    kn_objective_free(g->objective);
    kn_models_free(g->models);
}

static bool set_goals_k(goals *g, const test_case *c, const char *measure, uint32_t k)
{
    char spec[40];
    snprintf(spec, sizeof spec, "k-anonymity:k=%u", k);
    const char *specs[] = {spec};
    return set_goals(g, c, measure, specs, 1);
}

static double loss_of(const test_case *c, const goals *g, const uint32_t *row_class, uint32_t n_classes)
{
    kn_release *release = test_release(c, row_class, n_classes);
    double loss;
    assert_ok(kn_objective_loss(&loss, g->objective, release, err));
    kn_release_free(release);
    return loss;
}

/* Every class of a release holds all models; recounted from the rows. */
static bool all_hold(const test_case *c, const goals *g, const uint32_t *row_class, uint32_t n_classes)
{
    kn_release *release = test_release(c, row_class, n_classes);
    kn_histogram histograms[4];
    bool hold = true;
    for (uint32_t i = 0; i < n_classes; i++) {
        kn_class_counts counts = kn_release_class(release, i, histograms);
        if (counts.n_rows > 0) hold = hold && kn_models_hold(g->models, &counts);
    }
    kn_release_free(release);
    return hold;
}

/* --- Brute force ------------------------------------------------------------------------------------------------- */

typedef struct brute {
    const test_case *c;
    const goals *g;
    uint32_t n_rows, max_suppressed;
    uint32_t row_class[16], size[16];
    double best;
} brute;

static void all_partitions(brute *b, uint32_t row, uint32_t n_classes, uint32_t n_suppressed)
{
    uint32_t k = (uint32_t)b->g->models->min_persons, n_missing = 0;
    for (uint32_t i = 0; i < n_classes; i++) n_missing += b->size[i] < k ? k - b->size[i] : 0;
    if (n_missing > b->n_rows - row) return;
    if (row == b->n_rows) {
        if (n_classes == 0 || (!b->g->models->counts_only && !all_hold(b->c, b->g, b->row_class, n_classes))) return;
        double loss = loss_of(b->c, b->g, b->row_class, n_classes);
        if (loss < b->best) b->best = loss;
        return;
    }
    for (uint32_t i = 0; i <= n_classes; i++) {
        b->row_class[row] = i;
        b->size[i]++;
        all_partitions(b, row + 1, i == n_classes ? n_classes + 1 : n_classes, n_suppressed);
        b->size[i]--;
    }
    if (n_suppressed == b->max_suppressed) return;
    b->row_class[row] = KN_NONE;
    all_partitions(b, row + 1, n_classes, n_suppressed + 1);
}

static double best_partition(const test_case *c, const goals *g)
{
    brute b = {.c = c,
               .g = g,
               .n_rows = c->table->n_rows,
               .max_suppressed = (uint32_t)g->task.max_suppressed,
               .best = INFINITY};
    all_partitions(&b, 0, 0, 0);
    return b.best;
}

static void solve(kn_answer *answer, const goals *g)
{
    assert_ok(kn_algorithm_find("cluster")->search(answer, &g->task, err));
}

/* What any answer must be; returns its loss. */
static double checked_loss(const test_case *c, const goals *g, const kn_answer *answer)
{
    uint32_t n_suppressed = 0;
    for (uint32_t i = 0; i < c->table->n_rows; i++) {
        assert_true(answer->row_class[i] == KN_NONE || answer->row_class[i] < answer->n_classes);
        n_suppressed += answer->row_class[i] == KN_NONE;
    }
    assert_true(n_suppressed <= g->task.max_suppressed);
    assert_true(all_hold(c, g, answer->row_class, answer->n_classes));
    return loss_of(c, g, answer->row_class, answer->n_classes);
}

static void compare_with_brute_force(const test_case *c, const goals *g, const char *measure, uint32_t round)
{
    double best = best_partition(c, g);
    kn_answer answer;
    if (best == INFINITY) return;
    solve(&answer, g);
    double loss = checked_loss(c, g, &answer);
    if (loss < best - 1e-9 || loss > best + 1e-7 * (1 + fabs(best)))
        fail_msg("%s, table %u: %.9f found, %.9f is best", measure, round, loss, best);
    kn_answer_free(&answer);
}

static void the_best_partition_is_found_for_every_cell_measure(void **state)
{
    size_t n_measures;
    const kn_measure *const *measures = kn_measure_all(&n_measures);
    for (size_t m = 0; m < n_measures; m++) {
        if (measures[m]->price_cell == NULL || measures[m]->higher_is_better) continue;
        kn_rng rng = kn_rng_new(21, m);
        for (uint32_t round = 0; round < 40; round++) {
            test_case c = test_case_random(&rng, round % 8 == 0 ? 9 : 7);
            goals g;
            if (set_goals_k(&g, &c, measures[m]->name, 2 + round % 2))
                compare_with_brute_force(&c, &g, measures[m]->name, round);
            free_goals(&g);
            test_case_free(&c);
        }
    }
}

static void the_best_partition_is_found_with_suppressed_rows(void **state)
{
    kn_rng rng = kn_rng_new(22, 0);
    for (uint32_t round = 0; round < 60; round++) {
        test_case c = test_case_random(&rng, 7);
        goals g;
        if (set_goals_k(&g, &c, "lm", 2 + round % 2)) {
            g.task.max_suppressed = 1 + round % 3;
            compare_with_brute_force(&c, &g, "lm with suppression", round);
        }
        free_goals(&g);
        test_case_free(&c);
    }
}

static const char *const model_specs[] = {
    "l-diversity:l=2",
    "l-diversity:kind=entropy,l=1.5",
    "l-diversity:kind=recursive,l=2,c=2",
    "l-diversity:kind=frequency,l=2",
    "p-sensitive:p=2",
    "t-closeness:t=0.4",
    "t-closeness:t=0.3,distance=ordered",
    "beta-likeness:beta=1",
    "delta-disclosure:delta=2",
};

static void the_best_partition_is_found_under_every_model(void **state)
{
    uint32_t n_compared = 0;
    for (size_t m = 0; m < sizeof model_specs / sizeof *model_specs; m++) {
        kn_rng rng = kn_rng_new(23, m);
        for (uint32_t round = 0; round < 20; round++) {
            test_case c = test_case_random(&rng, 7);
            goals g;
            const char *specs[] = {"k-anonymity:k=2", model_specs[m]};
            if (set_goals(&g, &c, "lm", specs, 2)) {
                compare_with_brute_force(&c, &g, model_specs[m], round);
                n_compared++;
            }
            free_goals(&g);
            test_case_free(&c);
        }
    }
    assert_true(n_compared > 60);
}

/* --- Larger tables ------------------------------------------------------------------------------------------------ */

static test_case larger_case(kn_rng *rng, uint32_t n_rows, uint32_t n_qis, uint32_t n_values, bool is_text)
{
    int *numbers = kn_array_alloc((size_t)n_rows * (n_qis + 1), sizeof *numbers, NULL);
    const char **texts = kn_array_alloc((size_t)n_rows * (n_qis + 1), sizeof *texts, NULL);
    static char words[64][4];
    for (int i = 0; i < 64; i++) snprintf(words[i], sizeof words[i], "w%d", i);
    for (size_t i = 0; i < (size_t)n_rows * (n_qis + 1); i++) {
        uint32_t a = kn_rng_below(rng, n_values), b = kn_rng_below(rng, n_values);
        numbers[i] = (int)(a < b ? a : b);
        if (i % (n_qis + 1) == n_qis) numbers[i] %= 5;
        else if (kn_rng_below(rng, 20) == 0) numbers[i] = TEST_MISSING;
        texts[i] = numbers[i] == TEST_MISSING ? NULL : words[numbers[i] % 64];
    }
    test_case c =
        test_case_new(is_text ? test_text_table(n_rows, n_qis + 1, texts) : test_table(n_rows, n_qis + 1, numbers), 1);
    for (uint32_t q = 0; q < n_qis; q++)
        c.domains[q] = q % 3 == 0   ? test_domain(c.table, q, NULL)
                       : q % 3 == 1 ? test_suppress_domain(c.table, q)
                                    : test_random_tree_domain(rng, c.table, q, 4);
    test_case_finish(&c);
    kn_free(numbers);
    kn_free(texts);
    return c;
}

/* Grid cells of one to five codes; the missing value is in none. */
static void lay_grid(kn_rng *rng, kn_domain *domain, uint32_t *first, uint32_t *last)
{
    uint32_t n = domain->n_codes - (domain->missing != KN_NONE);
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1 + kn_rng_below(rng, 5);
        if (end > n) end = n;
        for (uint32_t code = begin; code < end; code++) {
            first[code] = begin;
            last[code] = end - 1;
        }
    }
    if (domain->missing != KN_NONE) first[domain->missing] = last[domain->missing] = domain->missing;
    domain->grid_first = first;
    domain->grid_last = last;
}

/* Rows of a text column of so many words. */
static test_case wordy_case(kn_rng *rng, uint32_t n_rows, uint32_t n_words)
{
    static char words[512][16];
    const char **texts = kn_array_alloc(2 * (size_t)n_rows, sizeof *texts, NULL);
    for (uint32_t i = 0; i < n_words; i++) snprintf(words[i], sizeof words[i], "w%u", i);
    for (size_t i = 0; i < 2 * (size_t)n_rows; i++)
        texts[i] = words[i < 2 * (size_t)n_words ? i / 2 : kn_rng_below(rng, n_words)];
    test_case c = test_case_new(test_text_table(n_rows, 2, texts), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    kn_free(texts);
    return c;
}

/* What a row costs by definition once these records of the block are a class: the price of each column's closure. */
static double price_by_closures(const kn_cluster_block *block, const uint32_t *members, uint32_t n)
{
    const kn_tuples *tuples = block->problem->tuples;
    kn_set_pool *sets;
    uint32_t codes[2048];
    double price = 0;
    assert_ok(kn_set_pool_new(&sets, err));
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        kn_cell cell;
        for (uint32_t x = 0; x < n; x++)
            codes[x] = tuples->codes[q][block->problem->record_tuple[block->global[members[x]]]];
        assert_ok(kn_domain_closure(&cell, tuples->domains[q], sets, codes, n, err));
        price += kn_objective_price(block->problem->task->objective, sets, q, &cell);
    }
    kn_set_pool_free(sets);
    return price;
}

/* Sets of up to three values, and above them the nodes of the column's tree. */
static void take_groups(kn_domain *domain)
{
    domain->kind = KN_DOMAIN_SETS;
    domain->groups = domain->tree;
    domain->tree = NULL;
    domain->max_members = 3;
}

/* A class costs in units, by which the search goes, what it costs exactly, up to one unit per cell. */
static void expect_exact_units(const goals *g, kn_rng *rng, uint32_t n_classes)
{
    kn_cluster_problem *problem;
    kn_cluster_block *block;
    uint32_t start[256], classes[256], members[2048], size;
    atomic_bool stop = false;
    assert_ok(kn_cluster_problem_new(&problem, &g->task, false, err));
    assert_true(problem->units_close && problem->units_lead);
    assert_ok(kn_cluster_block_new(&block, problem, problem->n_records, err));
    for (uint32_t i = 0; i < problem->n_records; i++) members[i] = i;
    for (uint32_t i = problem->n_records; i-- > 1;) {
        uint32_t x = kn_rng_below(rng, i + 1), record = members[i];
        members[i] = members[x];
        members[x] = record;
    }
    for (uint32_t c = 0; c <= n_classes; c++) { /* of one record, two, three, ... */
        size = c * (c + 1) / 2 < problem->n_records ? c * (c + 1) / 2 : problem->n_records;
        start[c] = c < n_classes ? size : problem->n_records;
        classes[c] = c;
    }
    kn_cluster_solution solution = {.n = n_classes, .start = start, .members = members};
    block->stop = &stop;
    kn_cluster_block_load(block, &solution, classes, n_classes, NULL, 0);
    kn_cluster_run_plain(block, &(kn_cluster_job){.op = KN_CLUSTER_REPAIR});
    for (uint32_t h = 0; h < n_classes; h++) {
        const kn_cluster_class *class = &block->classes[h];
        int64_t exact = kn_cluster_exact(block, block->arena + class->first, (uint32_t) class->size,
                                         block->patterns + (size_t)h * block->n_vectors);
        double units = (double)exact / (double)problem->exact_root * problem->root_units;
        assert_true(fabs(units - class->price) <= problem->tuples->n_qis + 0.5);
        if ((uint32_t) class->size < problem->k) continue; /* what fewer share counts as lost */
        double price = price_by_closures(block, block->arena + class->first, (uint32_t) class->size);
        assert_true(fabs((double)exact - price * problem->exact_scale) <= problem->tuples->n_qis);
    }
    kn_cluster_block_free(block);
    kn_cluster_problem_free(problem);
}

static void prices_of_grids_large_sets_and_groups_are_exact_up_to_rounding(void **state)
{
    for (uint32_t round = 0; round < 12; round++) {
        kn_rng rng = kn_rng_new(41, round);
        bool is_wordy = round % 3 == 2, has_groups = round % 3 == 1;
        test_case c = is_wordy ? wordy_case(&rng, 1500, 100 + 30 * round) : larger_case(&rng, 1500, 3, 90, false);
        uint32_t first[128], last[128];
        if (!is_wordy) lay_grid(&rng, c.domains[0], first, last);
        if (has_groups) take_groups(c.domains[2]);
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", 2));
        expect_exact_units(&g, &rng, 50);
        free_goals(&g);
        if (!is_wordy) c.domains[0]->grid_first = c.domains[0]->grid_last = NULL;
        test_case_free(&c);
    }
}

static void threads_and_instruction_sets_give_the_same_bytes(void **state)
{
    for (int kind = 0; kind < 4;
         kind++) { /* numbers, text, numbers with a bound that says what rows must pay, groups */
        static uint32_t must_pay[7000];
        kn_rng rng = kn_rng_new(24, (uint64_t)kind);
        test_case c = larger_case(&rng, 7000, 3, 40, kind == 1);
        if (kind == 3) take_groups(c.domains[2]);
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", 5));
        for (uint32_t i = 0; i < 7000; i++) must_pay[i] = kn_rng_below(&rng, 1 << KN_PAY_BITS) / 4;
        if (kind == 2) g.task.must_pay = must_pay;
        g.task.effort = 120000;
        g.task.max_suppressed = 20;
        kn_answer first, other;
        solve(&first, &g);
        checked_loss(&c, &g, &first);
        const kn_algorithm *cluster = kn_algorithm_find("cluster");
        for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
            kn_args args;
            assert_ok(kn_args_parse(&args, "cluster", cluster->params, cluster->n_params, "engine=plain", err));
            assert_ok(kn_pool_new(&g.task.pool, n_threads, err));
            if (n_threads == 3) g.task.args = &args;
            solve(&other, &g);
            assert_int_equal(other.n_classes, first.n_classes);
            assert_memory_equal(other.row_class, first.row_class, c.table->n_rows * sizeof *first.row_class);
            kn_answer_free(&other);
            kn_pool_free(g.task.pool);
            kn_args_free(&args);
        }
        kn_answer_free(&first);
        free_goals(&g);
        test_case_free(&c);
    }
}

/* Left to itself the search ends by its work, not by the clock: after the same looks for any number of threads. */
static void it_stands_still_after_the_same_work_for_any_number_of_threads(void **state)
{
    kn_rng rng = kn_rng_new(42, 0);
    test_case c = larger_case(&rng, 6500, 3, 3, false);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 40));
    kn_answer first = {0}, other;
    for (unsigned n_threads = 1; n_threads <= 2; n_threads++) {
        assert_ok(kn_pool_new(&g.task.pool, n_threads, err));
        solve(n_threads == 1 ? &first : &other, &g);
        kn_pool_free(g.task.pool);
    }
    assert_true(checked_loss(&c, &g, &first) > 0);
    assert_int_equal(first.stopped, KN_STOPPED_STILL);
    assert_int_equal(other.stopped, KN_STOPPED_STILL);
    assert_int_equal(other.n_nodes, first.n_nodes);
    assert_int_equal(other.n_classes, first.n_classes);
    assert_memory_equal(other.row_class, first.row_class, c.table->n_rows * sizeof *first.row_class);
    kn_answer_free(&first);
    kn_answer_free(&other);
    free_goals(&g);
    test_case_free(&c);
}

/* Once there is enough of it for all sweeps, more of it goes on from where less of it ends. */
static void more_effort_never_loses_more(void **state)
{
    for (int is_text = 0; is_text < 2; is_text++) {
        kn_rng rng = kn_rng_new(43, (uint64_t)is_text);
        test_case c = larger_case(&rng, 1500, 3, 40, is_text);
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", 6));
        double last = INFINITY;
        uint64_t n_nodes = 0;
        for (uint64_t effort = 40 * 1500; effort <= 160 * 1500; effort = effort * 4 / 3) {
            kn_answer answer;
            g.task.effort = effort;
            solve(&answer, &g);
            double loss = checked_loss(&c, &g, &answer);
            assert_true(loss <= last + 1e-12);
            assert_true(answer.n_nodes > n_nodes && answer.n_nodes < effort + effort / 8);
            last = loss;
            n_nodes = answer.n_nodes;
            kn_answer_free(&answer);
        }
        free_goals(&g);
        test_case_free(&c);
    }
}

/* Small tables are rebuilt with heat at first: losses may rise, and the best state of that time comes back. */
static void with_heat_the_best_state_comes_back(void **state)
{
    kn_rng rng = kn_rng_new(44, 0);
    test_case c = larger_case(&rng, 400, 3, 30, false);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 8));
    for (uint64_t seed = 1; seed <= 4; seed++) {
        kn_trace trace = {0};
        kn_answer answer;
        g.task.seed = seed;
        g.task.effort = seed <= 2 ? 300000 : 0;
        g.task.trace = &trace;
        solve(&answer, &g);
        double loss = checked_loss(&c, &g, &answer);
        assert_true(trace.points.n > 5);
        assert_float_equal(trace.points.items[trace.points.n - 1].loss, loss, 1e-6);
        for (size_t i = 1; i < trace.points.n; i++)
            assert_true(trace.points.items[i].loss <= trace.points.items[i - 1].loss + 1e-9);
        kn_free(trace.points.items);
        kn_answer_free(&answer);
    }
    g.task.trace = NULL;
    free_goals(&g);
    test_case_free(&c);
}

/* Twenty looks per row for the start, then as much as it takes to see that nothing moves: a tenth of the budget. */
static void few_classes_take_little_work(void **state)
{
    kn_rng rng = kn_rng_new(27, 0);
    for (int equal = 0; equal < 2; equal++) {
        uint32_t n_rows = 12000, k = equal ? n_rows : 1000;
        test_case c = larger_case(&rng, n_rows, 3, equal ? 1 : 40, false);
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", k));
        kn_answer answer;
        solve(&answer, &g);
        checked_loss(&c, &g, &answer);
        assert_int_equal(answer.stopped, KN_STOPPED_STILL);
        assert_true(answer.n_nodes < 40ull * n_rows);
        assert_true(answer.n_classes == 1 || !equal);
        kn_answer_free(&answer);
        free_goals(&g);
        test_case_free(&c);
    }
}

/* Left to itself it stops once more work gains next to nothing; asked for more it works on, and gains next to nothing.
 */
static void a_search_that_stands_still_ends(void **state)
{
    kn_rng rng = kn_rng_new(28, 0);
    test_case c = larger_case(&rng, 1000, 3, 30, false);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 5));
    kn_answer answer;
    solve(&answer, &g);
    double loss = checked_loss(&c, &g, &answer);
    uint64_t work = answer.n_nodes;
    assert_int_equal(answer.stopped, KN_STOPPED_STILL);
    kn_answer_free(&answer);
    g.task.effort = 2 * work;
    solve(&answer, &g);
    assert_int_equal(answer.stopped, KN_STOPPED_BUDGET);
    assert_true(answer.n_nodes > work + work / 2 && answer.n_nodes < 2 * work + work / 4);
    assert_true(checked_loss(&c, &g, &answer) > loss * 0.98);
    kn_answer_free(&answer);
    free_goals(&g);
    test_case_free(&c);
}

/* A plateau is no end: small tables gain nothing for a while and then several percent at once. What the search leaves
 * when it stops by itself is within one percent of what its whole budget finds, on average over tables, k, seeds. */
static void a_search_does_not_stop_on_a_plateau(void **state)
{
    enum { N_ROUNDS = 4, N_ROWS = 700 };
    double excess = 0;
    for (uint32_t round = 0; round < N_ROUNDS; round++) {
        kn_rng rng = kn_rng_new(34, round);
        test_case c = larger_case(&rng, N_ROWS, 4, 8 + 4 * round, round % 2 == 1);
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", 2 + round));
        g.task.seed = round;
        kn_answer answer;
        solve(&answer, &g);
        double loss = checked_loss(&c, &g, &answer);
        g.task.effort = 2000ull * N_ROWS;
        kn_answer_free(&answer);
        solve(&answer, &g);
        double full = checked_loss(&c, &g, &answer);
        excess += (loss / full - 1) / N_ROUNDS;
        kn_answer_free(&answer);
        free_goals(&g);
        test_case_free(&c);
    }
    if (excess > 0.01) fail_msg("%.2f %% above the whole budget", 100 * excess);
}

static void expect_models_to_hold(uint32_t n_rows, const char *const *models, size_t n_models)
{
    kn_rng rng = kn_rng_new(25, 0);
    test_case c = larger_case(&rng, n_rows, 3, 8, false);
    for (size_t m = 0; m < n_models; m++) {
        goals g;
        const char *specs[] = {"k-anonymity:k=4", models[m]};
        assert_true(set_goals(&g, &c, "lm", specs, 2));
        g.task.effort = 40000;
        g.task.max_suppressed = m % 2 * 5;
        kn_trace trace = {0};
        g.task.trace = &trace;
        kn_answer answer;
        solve(&answer, &g);
        double loss = checked_loss(&c, &g, &answer);
        assert_true(answer.n_classes > 1);
        assert_true(trace.points.n > 0);
        assert_float_equal(trace.points.items[trace.points.n - 1].loss, loss, 1e-6);
        for (size_t i = 1; i < trace.points.n; i++)
            assert_true(trace.points.items[i].loss <= trace.points.items[i - 1].loss + 1e-9);
        kn_free(trace.points.items);
        kn_answer_free(&answer);
        free_goals(&g);
    }
    test_case_free(&c);
}

static void every_model_holds_on_larger_tables(void **state)
{
    expect_models_to_hold(600, model_specs, sizeof model_specs / sizeof *model_specs);
}

/* Classes are so large that not all of those that a try has in mind can be rebuilt together. */
static void strict_models_hold_on_larger_tables(void **state)
{
    static const char *const strict_specs[] = {"t-closeness:t=0.02", "t-closeness:t=0.008,distance=ordered",
                                               "beta-likeness:beta=0.06", "l-diversity:kind=entropy,l=4.6"};
    expect_models_to_hold(4000, strict_specs, sizeof strict_specs / sizeof *strict_specs);
}

static void an_interrupted_search_still_answers(void **state)
{
    kn_rng rng = kn_rng_new(26, 0);
    test_case c = larger_case(&rng, 900, 4, 12, false);
    for (size_t tick = 1; tick < 40; tick += 1 + tick / 4) {
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", 3));
        g.task.effort = 60000;
        g.task.ticker = &g.ticker;
        atomic_store(&g.ticker.fail_at, tick);
        kn_answer answer;
        solve(&answer, &g);
        checked_loss(&c, &g, &answer);
        if (atomic_load(&g.ticker.n_ticks) >= tick) assert_int_equal(answer.stopped, KN_STOPPED_INTERRUPT);
        kn_answer_free(&answer);
        g.ticker = (kn_ticker){.search_deadline = kn_seconds_now() - 1};
        solve(&answer, &g);
        checked_loss(&c, &g, &answer);
        assert_int_equal(answer.stopped, KN_STOPPED_TIME);
        kn_answer_free(&answer);
        free_goals(&g);
    }
    test_case_free(&c);
}

static void solve_by_mondrian(kn_answer *answer, const goals *g, kn_ticker *ticker)
{
    const kn_algorithm *mondrian = kn_algorithm_find("mondrian");
    kn_task task = g->task;
    kn_args args;
    *answer = (kn_answer){0};
    assert_ok(kn_args_parse(&args, "mondrian", mondrian->params, mondrian->n_params, NULL, err));
    task.args = &args;
    task.ticker = ticker;
    assert_ok(mondrian->search(answer, &task, err));
    kn_args_free(&args);
}

/* Annealing has hardly begun when somebody asks to stop: mondrian's classes are there at once, and on tables of people
 * lose a third of what repair would make of it (Adult, k = 5: 0.024 and 0.063). */
static void who_stops_before_there_is_a_release_gets_mondrians(void **state)
{
    kn_rng rng = kn_rng_new(29, 0);
    test_case c = larger_case(&rng, 7000, 4, 12, false);
    const volatile int asked = 1;
    goals g;
    kn_answer answer, cuts;
    kn_error none = {0};
    assert_true(set_goals_k(&g, &c, "lm", 3));
    solve_by_mondrian(&cuts, &g, NULL);
    g.ticker.cancel = &asked;
    g.task.ticker = &g.ticker;
    assert_ok(kn_algorithm_find("cluster")->search(&answer, &g.task, &none));
    assert_int_equal(answer.stopped, KN_STOPPED_INTERRUPT);
    assert_float_equal(checked_loss(&c, &g, &answer), loss_of(&c, &g, cuts.row_class, cuts.n_classes), 1e-9);
    assert_string_equal(none.message, ""); /* it would be taken for what the run says in the end */
    kn_answer_free(&answer);
    kn_answer_free(&cuts);
    free_goals(&g);
    test_case_free(&c);
}

/* How often mondrian ticks on its own. */
static size_t ticks_of_mondrian(const goals *g)
{
    kn_ticker ticker = {0};
    kn_answer answer;
    solve_by_mondrian(&answer, g, &ticker);
    kn_answer_free(&answer);
    return atomic_load(&ticker.n_ticks);
}

/* With little time mondrian's classes come first. Whoever asks to stop while they are made gets them as they are, with
 * nothing told on the way; later they are put by, and annealing is given up for them in each of the epochs that
 * follow. */
static void what_is_not_ready_in_time_is_given_up(void **state)
{
    kn_rng rng = kn_rng_new(28, 0);
    test_case c = larger_case(&rng, 7000, 4, 12, false);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 3));
    size_t n_ticks = ticks_of_mondrian(&g);
    kn_answer cuts;
    solve_by_mondrian(&cuts, &g, NULL);
    const double loss_of_cuts = loss_of(&c, &g, cuts.row_class, cuts.n_classes);
    kn_answer_free(&cuts);
    uint32_t n_given_up = 0, n_of_cuts = 0, n_late = 0;
    for (size_t tick = n_ticks > 3 ? n_ticks - 3 : 1; tick < n_ticks + 8; tick++) {
        kn_trace trace = {0};
        g.task.trace = &trace;
        g.task.effort = 40000;
        g.task.ticker = &g.ticker;
        g.ticker = (kn_ticker){.search_deadline = kn_seconds_now() + 0.1};
        atomic_store(&g.ticker.fail_at, tick);
        kn_answer answer;
        solve(&answer, &g);
        const bool is_late = answer.stopped == KN_STOPPED_TIME || kn_seconds_now() >= g.ticker.search_deadline;
        double loss = checked_loss(&c, &g, &answer);
        if (trace.points.n == 0 && is_late) {
            n_late++; /* a machine on which mondrian takes that long: what was cut by then */
        } else if (trace.points.n == 0) {
            assert_true(tick <= n_ticks);
            assert_float_equal(loss, loss_of_cuts, 1e-9);
            n_of_cuts++;
        } else {
            assert_true(loss <= trace.points.items[0].loss + 1e-6);
            n_given_up += tick > n_ticks + 1 && loss > trace.points.items[0].loss - 1e-6; /* one tick is repair's */
        }
        kn_free(trace.points.items);
        kn_answer_free(&answer);
    }
    assert_true(n_late > 0 || (n_given_up > 0 && n_of_cuts > 0));
    free_goals(&g);
    test_case_free(&c);
}

static void persons_are_counted_once(void **state)
{
    enum { N_ROWS = 400 };
    kn_rng rng = kn_rng_new(27, 0);
    int cells[N_ROWS * 3];
    for (int i = 0; i < N_ROWS; i++) {
        cells[i * 3] = (int)kn_rng_below(&rng, 6);
        cells[i * 3 + 1] = (int)kn_rng_below(&rng, 6);
        cells[i * 3 + 2] = (int)kn_rng_below(&rng, 90);
    }
    test_case c = test_case_new(test_table(N_ROWS, 3, cells), 1);
    c.table->columns[2].role = KN_ROLE_IDENTIFIER;
    c.table->columns[2].is_person = true;
    c.table->person = 2;
    for (uint32_t q = 0; q < 2; q++) c.domains[q] = test_random_tree_domain(&rng, c.table, q, 3);
    test_case_finish(&c);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 4));
    g.task.effort = 30000;
    kn_answer answer;
    solve(&answer, &g);
    uint8_t seen[90];
    for (uint32_t i = 0; i < answer.n_classes; i++) {
        uint32_t n_persons = 0;
        memset(seen, 0, sizeof seen);
        for (uint32_t row = 0; row < N_ROWS; row++) {
            if (answer.row_class[row] != i || seen[c.tuples->row_person[row]]) continue;
            seen[c.tuples->row_person[row]] = 1;
            n_persons++;
        }
        assert_true(n_persons >= 4);
    }
    kn_answer_free(&answer);
    free_goals(&g);
    test_case_free(&c);
}

static void frequent_tuples_are_split_by_count(void **state)
{
    /* 40 equal rows and two strangers that need three of them: all others keep their values */
    enum { N_ROWS = 42, K = 5 };
    int cells[N_ROWS * 3] = {0};
    for (int i = 40; i < N_ROWS; i++) cells[i * 3] = cells[i * 3 + 1] = i;
    test_case c = test_case_new(test_table(N_ROWS, 3, cells), 1);
    for (uint32_t q = 0; q < 2; q++) c.domains[q] = test_suppress_domain(c.table, q);
    test_case_finish(&c);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", K));
    kn_answer answer;
    solve(&answer, &g);
    assert_float_equal(checked_loss(&c, &g, &answer), (double)K / N_ROWS, 1e-9);
    kn_answer_free(&answer);
    free_goals(&g);
    test_case_free(&c);
}

/* --- From given classes ------------------------------------------------------------------------------------------- */

/* Random classes that hold: of k to 2k - 1 rows where that is enough, joined until the models hold, some rows
 * suppressed. Returns how many classes there are; 0: there are none that hold. */
static uint32_t random_classes(uint32_t *row_class, kn_rng *rng, const test_case *c, const goals *g)
{
    uint32_t n_rows = c->table->n_rows, k = (uint32_t)g->models->min_persons;
    uint32_t n_classes = n_rows / (k + kn_rng_below(rng, k)), *order = kn_array_alloc(n_rows, sizeof *order, NULL);
    if (n_classes == 0) n_classes = 1;
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t x = kn_rng_below(rng, i + 1);
        order[i] = order[x];
        order[x] = i;
    }
    for (;; n_classes /= 2) {
        for (uint32_t i = 0; i < n_rows; i++) row_class[order[i]] = i % n_classes;
        if (all_hold(c, g, row_class, n_classes) || n_classes == 1) break;
    }
    bool hold = all_hold(c, g, row_class, n_classes);
    for (uint32_t i = 0; i < g->task.max_suppressed && hold; i++) {
        uint32_t row = order[i], own = row_class[row];
        row_class[row] = KN_NONE;
        if (!all_hold(c, g, row_class, n_classes)) row_class[row] = own;
    }
    kn_free(order);
    return hold ? n_classes : 0;
}

/* Never worse; the given classes themselves unless it is less. Returns whether it is. */
static bool polish(kn_answer *answer, const test_case *c, const goals *g, const uint32_t *row_class, uint32_t n_classes)
{
    bool better;
    double given = loss_of(c, g, row_class, n_classes);
    assert_ok(kn_cluster_polish(answer, &better, &g->task, row_class, n_classes, err));
    double loss = checked_loss(c, g, answer);
    if (better) {
        assert_true(loss < given);
        return true;
    }
    assert_int_equal(answer->n_classes, n_classes);
    assert_memory_equal(answer->row_class, row_class, c->table->n_rows * sizeof *row_class);
    return false;
}

static void polishing_starts_from_given_classes_and_is_never_worse(void **state)
{
    static const char *const measures[] = {"lm", "tree", "entropy", "non-uniform-entropy"};
    uint32_t n_better = 0, n_given = 0, row_class[64];
    for (uint32_t round = 0; round < 300; round++) {
        kn_rng rng = kn_rng_new(31, round);
        test_case c = test_case_random(&rng, 4 + kn_rng_below(&rng, 30));
        const char *specs[] = {"k-anonymity:k=2", model_specs[round % (sizeof model_specs / sizeof *model_specs)]};
        goals g;
        if (set_goals(&g, &c, measures[round % 4], specs, 1 + round % 2)) {
            g.task.max_suppressed = round % 3;
            uint32_t n_classes = random_classes(row_class, &rng, &c, &g);
            kn_answer answer, again;
            if (n_classes > 0) {
                g.task.effort = round % 5 == 0 ? 0 : 500;
                n_better += polish(&answer, &c, &g, row_class, n_classes);
                n_given += !polish(&again, &c, &g, answer.row_class, answer.n_classes);
                kn_answer_free(&answer);
                kn_answer_free(&again);
            }
        }
        free_goals(&g);
        test_case_free(&c);
    }
    assert_true(n_better > 150 && n_given > 50);
}

static void mondrians_classes_can_be_polished(void **state)
{
    kn_rng rng = kn_rng_new(32, 0);
    test_case c = larger_case(&rng, 7000, 3, 12, false);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 4));
    kn_answer cuts, answer;
    solve_by_mondrian(&cuts, &g, NULL);
    g.task.effort = 60000;
    assert_true(polish(&answer, &c, &g, cuts.row_class, cuts.n_classes));
    assert_true(loss_of(&c, &g, answer.row_class, answer.n_classes) <
                0.9 * loss_of(&c, &g, cuts.row_class, cuts.n_classes));
    kn_answer_free(&answer);
    kn_answer_free(&cuts);
    free_goals(&g);
    test_case_free(&c);
}

/* Two classes, each with half of either value: neither can be split, and no single record that moves or changes places
 * gains anything. Built anew together they lose nothing. */
static void large_classes_are_built_anew_too(void **state)
{
    enum { MAX_ROWS = 8000 };
    static const uint32_t sizes[] = {600, 1200, 4000}; /* together more than a site had room for, once */
    static int numbers[2 * MAX_ROWS];
    static uint32_t row_class[MAX_ROWS];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n_rows = 2 * sizes[i];
        for (uint32_t row = 0; row < n_rows; row++) {
            numbers[2 * row] = numbers[2 * row + 1] = (int)(row % 2);
            row_class[row] = row / sizes[i];
        }
        test_case c = test_case_new(test_table(n_rows, 2, numbers), 1);
        c.domains[0] = test_suppress_domain(c.table, 0);
        test_case_finish(&c);
        goals g;
        assert_true(set_goals_k(&g, &c, "lm", sizes[i] - 50));
        kn_answer answer;
        assert_true(polish(&answer, &c, &g, row_class, 2));
        assert_true(loss_of(&c, &g, answer.row_class, answer.n_classes) == 0);
        kn_answer_free(&answer);
        free_goals(&g);
        test_case_free(&c);
    }
}

/* One class of everybody has all to gain; with nothing to spend it comes back as it is. */
static void without_a_budget_given_classes_come_back(void **state)
{
    kn_rng rng = kn_rng_new(33, 0);
    test_case c = larger_case(&rng, 400, 3, 12, false);
    goals g;
    assert_true(set_goals_k(&g, &c, "lm", 4));
    uint32_t row_class[400] = {0};
    kn_answer answer;
    g.task.ticker = &g.ticker;
    assert_true(polish(&answer, &c, &g, row_class, 1));
    kn_answer_free(&answer);
    g.ticker = (kn_ticker){.search_deadline = kn_seconds_now() - 1};
    assert_false(polish(&answer, &c, &g, row_class, 1));
    assert_int_equal(answer.stopped, KN_STOPPED_TIME);
    kn_answer_free(&answer);
    g.ticker = (kn_ticker){0};
    g.task.effort = 1;
    assert_false(polish(&answer, &c, &g, row_class, 1));
    kn_answer_free(&answer);
    free_goals(&g);
    test_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_partition_is_found_for_every_cell_measure),
        cmocka_unit_test(the_best_partition_is_found_with_suppressed_rows),
        cmocka_unit_test(the_best_partition_is_found_under_every_model),
        cmocka_unit_test(prices_of_grids_large_sets_and_groups_are_exact_up_to_rounding),
        cmocka_unit_test(threads_and_instruction_sets_give_the_same_bytes),
        cmocka_unit_test(it_stands_still_after_the_same_work_for_any_number_of_threads),
        cmocka_unit_test(more_effort_never_loses_more),
        cmocka_unit_test(with_heat_the_best_state_comes_back),
        cmocka_unit_test(few_classes_take_little_work),
        cmocka_unit_test(a_search_that_stands_still_ends),
        cmocka_unit_test(a_search_does_not_stop_on_a_plateau),
        cmocka_unit_test(every_model_holds_on_larger_tables),
        cmocka_unit_test(strict_models_hold_on_larger_tables),
        cmocka_unit_test(an_interrupted_search_still_answers),
        cmocka_unit_test(who_stops_before_there_is_a_release_gets_mondrians),
        cmocka_unit_test(what_is_not_ready_in_time_is_given_up),
        cmocka_unit_test(persons_are_counted_once),
        cmocka_unit_test(frequent_tuples_are_split_by_count),
        cmocka_unit_test(polishing_starts_from_given_classes_and_is_never_worse),
        cmocka_unit_test(mondrians_classes_can_be_polished),
        cmocka_unit_test(large_classes_are_built_anew_too),
        cmocka_unit_test(without_a_budget_given_classes_come_back),
    };
    return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
