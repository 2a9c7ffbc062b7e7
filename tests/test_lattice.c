/* engine/lattice and the full-domain searches: every node against a recount of the rows, searches against all nodes.
 */
#include "support.h"

#include "engine/lattice/column_search.h"
#include "engine/lattice/huge_lattice.h"
#include "engine/lattice/lattice_table.h"
#include "engine/lattice/narrow.h"
#include "hierarchy/build.h"
#include "source/csv/csv_read.h"
#include "recode/recode.h"
#include "run/run_lattice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Problems -------------------------------------------------------------------------------------------------- */

typedef struct problem {
    kn_table *table;
    uint32_t n_qis;
    kn_domain *domains[16];
    kn_tuples *tuples;
    kn_models *models;
    kn_objective *objective;
    kn_args args;
    kn_task task;
} problem;

/* Who the rows belong to: everybody one row, persons over the whole table, or each person within one tuple. */
enum { NO_PERSONS, ANY_PERSONS, LOCAL_PERSONS };

/* n_qis columns at random, then a sensitive one, then (perhaps) the person. */
static void random_problem(problem *p, kn_rng *rng, uint32_t n_rows, uint32_t n_qis, uint32_t n_values, int persons,
                           bool limits)
{
    uint32_t n_columns = n_qis + 1 + (persons != NO_PERSONS);
    int *cells = calloc((size_t)n_rows * n_columns, sizeof *cells);
    *p = (problem){.n_qis = n_qis};
    for (uint32_t row = 0; row < n_rows; row++) {
        int *own = cells + (size_t)row * n_columns, tuple = 0;
        for (uint32_t c = 0; c < n_columns; c++) own[c] = (int)kn_rng_below(rng, n_values);
        for (uint32_t q = 0; q < n_qis; q++) tuple = tuple * (int)n_values + own[q];
        if (persons == LOCAL_PERSONS) own[n_qis + 1] = 3 * tuple + (int)kn_rng_below(rng, 3);
    }
    p->table = test_table(n_rows, n_columns, cells);
    free(cells);
    p->table->columns[n_qis].role = KN_ROLE_SENSITIVE;
    if (persons) {
        p->table->person = n_qis + 1;
        p->table->columns[n_qis + 1].role = KN_ROLE_IDENTIFIER;
        p->table->columns[n_qis + 1].is_person = true;
    }
    for (uint32_t q = 0; q < n_qis; q++) {
        p->domains[q] = kn_rng_below(rng, 3) == 0 ? test_suppress_domain(p->table, q)
                                                  : test_random_tree_domain(rng, p->table, q, 2 + kn_rng_below(rng, 3));
        uint32_t top = p->domains[q]->tree->n_levels - 1;
        if (limits && kn_rng_below(rng, 3) == 0) p->domains[q]->min_level = kn_rng_below(rng, top + 1);
        if (limits && kn_rng_below(rng, 3) == 0)
            p->domains[q]->max_level = p->domains[q]->min_level + kn_rng_below(rng, top - p->domains[q]->min_level + 1);
        if (kn_rng_below(rng, 3) == 0) p->domains[q]->weight = 1 + kn_rng_below(rng, 3);
    }
    assert_ok(kn_tuples_new(&p->tuples, p->table, p->domains, n_qis, NULL, NULL, err));
    assert_ok(kn_tuples_histograms(p->tuples, NULL, err));
    p->task = (kn_task){.tuples = p->tuples, .max_suppressed = n_rows};
}

/* False, and nothing set, where no release can meet the models or the measure does not apply. */
static bool try_goal(problem *p, const char *models, const char *measure)
{
    char *copy = strdup(models), *specs[8];
    size_t n = 0;
    kn_error err = {0};
    for (char *spec = strtok(copy, " "); spec != NULL; spec = strtok(NULL, " ")) specs[n++] = spec;
    kn_models_free(p->models);
    kn_objective_free(p->objective);
    p->models = NULL;
    p->objective = NULL;
    kn_status status = kn_models_new(&p->models, (const char *const *)specs, n, p->tuples, &err);
    if (status == KN_OK) status = kn_objective_new(&p->objective, measure, p->tuples, &err);
    if (status != KN_OK && status != KN_NOT_MET) fail_msg("%s, %s: %s", models, measure, err.message);
    free(copy);
    p->task.models = p->models;
    p->task.objective = p->objective;
    return status == KN_OK;
}

static void set_goal(problem *p, const char *models, const char *measure)
{
    if (!try_goal(p, models, measure)) fail_msg("%s cannot be met", models);
}

static const char *const model_sets[] = {
    "k-anonymity:k=2",
    "k-anonymity:k=3",
    "k-anonymity:k=2 l-diversity:l=2",
    "l-diversity:kind=entropy,l=2",
    "k-anonymity:k=2 l-diversity:kind=recursive,l=2,c=2",
    "l-diversity:kind=frequency,l=2",
    "p-sensitive:p=2",
    "k-anonymity:k=3 alpha-k:alpha=0.5",
    "t-closeness:t=0.3,distance=equal",
    "k-anonymity:k=2 t-closeness:t=0.2,distance=ordered",
    "beta-likeness:beta=1",
    "delta-disclosure:delta=2",
};

/* Walks through every pair of models and measure as `round` grows. */
static void some_goal(problem *p, int round)
{
    enum { N_MODEL_SETS = sizeof model_sets / sizeof *model_sets };
    size_t n_measures;
    const kn_measure *const *measures = kn_measure_all(&n_measures), *measure = measures[(size_t)round % n_measures];
    if (!try_goal(p, model_sets[(size_t)round / n_measures % N_MODEL_SETS], measure->name))
        set_goal(p, "k-anonymity:k=1", measure->name);
}

static void free_problem(problem *p)
{
    kn_models_free(p->models);
    kn_objective_free(p->objective);
    kn_tuples_free(p->tuples);
    for (uint32_t q = 0; q < p->n_qis; q++) kn_domain_free(p->domains[q]);
    kn_args_free(&p->args);
    test_table_free(p->table);
    *p = (problem){0};
}

/* --- The recount: classes by comparing rows, loss by the release that recoding makes ------------------------------ */

static bool same_class(const problem *p, const uint32_t *levels, uint32_t a, uint32_t b)
{
    for (uint32_t q = 0; q < p->n_qis; q++) {
        const uint32_t *node = p->domains[q]->tree->at_level[levels[q]], *codes = p->tuples->codes[q];
        if (node[codes[p->tuples->row_tuple[a]]] != node[codes[p->tuples->row_tuple[b]]]) return false;
    }
    return true;
}

static uint32_t persons_of_class(const problem *p, const uint32_t *levels, uint32_t row)
{
    uint32_t n = 0, seen[256];
    for (uint32_t other = 0; other < p->tuples->n_rows; other++) {
        if (!same_class(p, levels, row, other)) continue;
        uint32_t person = p->tuples->row_person != NULL ? p->tuples->row_person[other] : other, i = 0;
        while (i < n && seen[i] != person) i++;
        if (i == n) seen[n++] = person;
    }
    return n;
}

/* `release`: what recoding makes of it, NULL where nothing can be released; for the caller to free. */
static kn_node recode_node(kn_release **out, problem *p, uint32_t *levels)
{
    kn_node node = {0};
    kn_answer answer = {.recoding = KN_RECODING_LEVELS, .levels = levels};
    kn_task task = p->task;
    kn_release *release;
    kn_error refusal = {0};
    *out = NULL;
    task.max_suppressed = p->tuples->n_rows;
    kn_status status = kn_recode(&release, &answer, &task, &refusal);
    if (status == KN_NOT_MET) {
        node.n_suppressed = p->tuples->n_rows;
        return node;
    }
    assert_int_equal(status, KN_OK);
    node.n_suppressed = release->n_suppressed;
    node.n_classes = release->n_classes;
    assert_ok(kn_objective_loss(&node.loss, p->objective, release, err));
    *out = release;
    return node;
}

static kn_node recount_release(kn_release **out, problem *p, uint32_t *levels)
{
    kn_node node = recode_node(out, p, levels);
    node.smallest = UINT64_MAX;
    for (uint32_t row = 0; row < p->tuples->n_rows; row++) {
        uint32_t persons = persons_of_class(p, levels, row);
        if (persons < node.smallest) node.smallest = persons;
    }
    return node;
}

static kn_node recount(problem *p, uint32_t *levels, bool *released)
{
    kn_release *release;
    kn_node node = recount_release(&release, p, levels);
    *released = release != NULL;
    kn_release_free(release);
    return node;
}

static void assert_same_loss(const char *measure, double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * (fabs(expected) + 1)))
        fail_msg("%s %.12g, recounted %.12g", measure, found, expected);
}

static void assert_same_node(const kn_node *found, const kn_node *expected, bool released)
{
    assert_int_equal(found->n_suppressed, expected->n_suppressed);
    assert_int_equal(found->smallest, expected->smallest);
    assert_int_equal(found->n_classes, expected->n_classes);
    if (released) assert_same_loss("loss", found->loss, expected->loss);
}

static void least_levels(uint32_t *levels, const kn_lattice *lattice)
{
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) levels[q] = lattice->columns[q].min_level;
}

/* Counts levels up like a clock; false after the last vector. */
static bool next_levels(const kn_lattice *lattice, uint32_t *levels)
{
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        if (levels[q] < lattice->columns[q].max_level) {
            levels[q]++;
            return true;
        }
        levels[q] = lattice->columns[q].min_level;
    }
    return false;
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

static void every_node_matches_a_recount_of_the_rows(void **state)
{
    kn_rng rng = kn_rng_new(1, 0);
    for (int round = 0; round < 500; round++) {
        problem p;
        random_problem(&p, &rng, 1 + kn_rng_below(&rng, 40), 1 + kn_rng_below(&rng, 3), 2 + kn_rng_below(&rng, 6),
                       round % 3, round % 2 == 0);
        some_goal(&p, round);
        for (int bundles = 0; bundles < 2; bundles++) {
            kn_full_domain *domain;
            kn_evaluator *evaluator;
            uint32_t levels[16];
            assert_ok(kn_full_domain_new(&domain, &p.task, 6u * bundles, err));
            assert_ok(kn_evaluator_new(&evaluator, domain, err));
            least_levels(levels, domain->lattice);
            double n_nodes = 0;
            do {
                kn_node node, expected;
                bool released;
                assert_ok(kn_evaluate_levels(&node, evaluator, levels, err));
                expected = recount(&p, levels, &released);
                if (domain->bundles != NULL) node.smallest = expected.smallest, node.n_classes = expected.n_classes;
                assert_same_node(&node, &expected, released);
                n_nodes++;
            } while (next_levels(domain->lattice, levels));
            assert_true(n_nodes == domain->lattice->n_nodes);
            kn_evaluator_free(evaluator);
            kn_full_domain_free(domain);
        }
        free_problem(&p);
    }
}

static bool lies_below(const kn_bundle_lattice *b, uint32_t lower, uint32_t combo)
{
    for (uint32_t i = 0; i < b->n_inner; i++)
        if (b->combo_level[lower][i] > b->combo_level[combo][i]) return false;
    return true;
}

/* What is sure to be suppressed at a node is suppressed at the nodes below it too; checked for those of the same
 * bundles. */
static void assert_sure_below(const kn_bundle_lattice *b, const kn_node *nodes, uint32_t combo, uint32_t variant)
{
    for (uint32_t c = 0; c <= combo; c++)
        for (uint32_t v = 0; v <= variant; v++)
            if (lies_below(b, c, combo) && (v & ~variant) == 0)
                assert_true(nodes[combo << b->n_riders | variant].n_sure <= nodes[c << b->n_riders | v].n_suppressed);
}

/* Every set of bundles, rolled up from the base, in both manners; then the same from the bundles one step below. */
static void check_every_bundle(problem *p, uint32_t max_combos)
{
    kn_full_domain *domain;
    kn_evaluator *evaluator;
    kn_batch bundles = {0}, again = {0};
    uint32_t levels[16], n_nodes = 0;
    assert_ok(kn_full_domain_new(&domain, &p->task, max_combos, err));
    assert_true(domain->bundles != NULL || p->tuples->n_repeats > 0);
    if (domain->bundles == NULL) goto done;
    assert_ok(kn_evaluator_new(&evaluator, domain, err));
    least_levels(levels, domain->lattice);
    do {
        bool first = true; /* of the nodes that share the outer levels */
        for (uint32_t q = 0, d; q < p->n_qis; q++) {
            for (d = 0; d < domain->bundles->n_outer && domain->bundles->outer[d] != q;) d++;
            if (d == domain->bundles->n_outer && levels[q] > domain->lattice->columns[q].min_level) first = false;
        }
        if (!first) continue;
        kn_node plain[KN_BUNDLE_MAX_COMBOS * KN_LATTICE_LANES], full[KN_BUNDLE_MAX_COMBOS * KN_LATTICE_LANES];
        kn_node stepped[KN_BUNDLE_MAX_COMBOS * KN_LATTICE_LANES];
        uint32_t lower[16];
        memcpy(lower, levels, sizeof lower);
        for (uint32_t d = 0; d < domain->bundles->n_outer; d++)
            lower[domain->bundles->outer[d]] -=
                lower[domain->bundles->outer[d]] > domain->lattice->columns[domain->bundles->outer[d]].min_level;
        assert_ok(kn_batch_roll(&again, &domain->base, lower, evaluator, err));
        assert_ok(kn_batch_roll(&bundles, &again, levels, evaluator, err));
        assert_ok(kn_evaluate(stepped, NULL, evaluator, &bundles, false, err));
        assert_ok(kn_batch_roll(&bundles, &domain->base, levels, evaluator, err));
        assert_ok(kn_evaluate(plain, NULL, evaluator, &bundles, false, err));
        assert_ok(kn_evaluate(full, NULL, evaluator, &bundles, true, err));
        for (uint32_t c = 0; c < domain->bundles->n_combos; c++)
            for (uint32_t v = 0; v < 1u << domain->bundles->n_riders; v++, n_nodes++) {
                uint32_t at[16], i = c << domain->bundles->n_riders | v;
                bool released;
                kn_batch_node_levels(at, domain, &bundles, i);
                kn_node expected = recount(p, at, &released);
                assert_same_node(&full[i], &expected, released);
                assert_true(plain[i].loss == full[i].loss && plain[i].n_suppressed == full[i].n_suppressed);
                assert_true(stepped[i].loss == full[i].loss && stepped[i].n_suppressed == full[i].n_suppressed);
                assert_true(plain[i].n_sure >= full[i].n_sure && plain[i].n_sure <= plain[i].n_suppressed);
                assert_sure_below(domain->bundles, plain, c, v);
            }
    } while (next_levels(domain->lattice, levels));
    assert_true(n_nodes == domain->lattice->n_nodes);
    kn_batch_free(&bundles, domain);
    kn_batch_free(&again, domain);
    kn_evaluator_free(evaluator);
done:
    kn_full_domain_free(domain);
}

static void every_node_of_every_bundle_matches_a_recount(void **state)
{
    kn_rng rng = kn_rng_new(4, 0);
    for (int round = 0; round < 240; round++) {
        problem p;
        random_problem(&p, &rng, 1 + kn_rng_below(&rng, 60), 1 + kn_rng_below(&rng, 5), 2 + kn_rng_below(&rng, 4),
                       round % 3 == 0 ? LOCAL_PERSONS : round % 13 == 0, round % 2 == 0);
        static const char *const measures[] = {"lm", "entropy", "cm", "pmi", "average-diversity", "weighted-mi", "dm"};
        const char *measure = measures[(size_t)round % (sizeof measures / sizeof *measures)];
        if (!try_goal(&p, model_sets[round % 12], measure)) set_goal(&p, "k-anonymity:k=1", measure);
        check_every_bundle(&p, 1 + kn_rng_below(&rng, 12));
        free_problem(&p);
    }
}

/* More rows in a bundle than sixteen bits count, and fewer: models are asked in another manner. Against classes that
 * are held one by one, which the tests above check against a recount. */
static void bundles_of_many_rows_give_the_same_nodes_as_classes_one_by_one(void **state)
{
    static const char *const models[] = {"l-diversity:l=3", "t-closeness:t=0.005", "l-diversity:kind=entropy,l=2.9995",
                                         "k-anonymity:k=20000 t-closeness:t=0.004", "alpha-k:alpha=0.334"};
    kn_rng rng = kn_rng_new(5, 0);
    uint32_t n_partly = 0;
    for (int round = 0; round < 10; round++) {
        problem p;
        kn_full_domain *domains[2];
        kn_evaluator *evaluators[2];
        uint32_t levels[16];
        random_problem(&p, &rng, 70000, 3, 3, NO_PERSONS, false);
        set_goal(&p, models[round % 5], "lm");
        for (uint32_t i = 0; i < 2; i++) {
            assert_ok(kn_full_domain_new(&domains[i], &p.task, 6 * i, err));
            assert_ok(kn_evaluator_new(&evaluators[i], domains[i], err));
        }
        assert_true(domains[0]->bundles == NULL && domains[1]->bundles != NULL);
        least_levels(levels, domains[0]->lattice);
        do {
            kn_node nodes[2];
            for (uint32_t i = 0; i < 2; i++) assert_ok(kn_evaluate_levels(&nodes[i], evaluators[i], levels, err));
            assert_int_equal(nodes[0].n_suppressed, nodes[1].n_suppressed);
            assert_true(fabs(nodes[0].loss - nodes[1].loss) < 1e-9);
            n_partly += nodes[0].n_suppressed > 0 && nodes[0].n_suppressed < p.tuples->n_rows;
        } while (next_levels(domains[0]->lattice, levels));
        for (uint32_t i = 0; i < 2; i++) {
            kn_evaluator_free(evaluators[i]);
            kn_full_domain_free(domains[i]);
        }
        free_problem(&p);
    }
    assert_true(n_partly > 10);
}

static void a_base_of_many_tuples_gives_the_same_nodes_as_classes_one_by_one(void **state)
{
    static const char *const models[] = {"k-anonymity:k=4", "k-anonymity:k=2 l-diversity:l=2"};
    kn_rng rng = kn_rng_new(21, 0);
    for (int round = 0; round < 2; round++) {
        problem p;
        kn_full_domain *classes, *domain;
        kn_evaluator *one_by_one, *evaluator;
        uint32_t levels[16];
        random_problem(&p, &rng, 110000, 4, 26, NO_PERSONS, false);
        set_goal(&p, models[round], "lm");
        assert_ok(kn_full_domain_new(&classes, &p.task, 0, err));
        assert_ok(kn_full_domain_new(&domain, &p.task, 6, err));
        assert_true(domain->bundles->base.n_entries > 1 << 16);
        assert_ok(kn_evaluator_new(&one_by_one, classes, err));
        assert_ok(kn_evaluator_new(&evaluator, domain, err));
        for (int try = 0; try < 6; try++) {
            kn_node node, expected;
            p.task.memory_bytes = (size_t)try / 3; /* with one byte nothing is kept */
            least_levels(levels, domain->lattice);
            for (uint32_t q = 0; q < p.n_qis && try % 3 != 0; q++)
                levels[q] += kn_rng_below(&rng, domain->lattice->columns[q].max_level - levels[q] + 1);
            assert_ok(kn_evaluate_levels(&node, evaluator, levels, err));
            assert_ok(kn_evaluate_levels(&expected, one_by_one, levels, err));
            assert_same_node(&node, &expected, true);
        }
        kn_evaluator_free(one_by_one);
        kn_evaluator_free(evaluator);
        kn_full_domain_free(classes);
        kn_full_domain_free(domain);
        free_problem(&p);
    }
}

/* Rows by the dozen in a class, values beyond one vector, and columns that are counted side by side. Where only
 * different values are asked for, sets of them will do; of one column, of both, of many values. */
static void bundles_carry_several_sensitive_columns(void **state)
{
    kn_rng rng = kn_rng_new(14, 0);
    for (int round = 0; round < 120; round++) {
        problem p = {.n_qis = 1 + kn_rng_below(&rng, 4)};
        const bool sets = round % 2 == 1;
        uint32_t n_rows = 20 + kn_rng_below(&rng, 150), n_columns = p.n_qis + 2;
        uint32_t n_secrets = 2 + kn_rng_below(&rng, round % 8 == 7 ? 250 : 62);
        int *cells = calloc((size_t)n_rows * n_columns, sizeof *cells);
        static const char *const measures[] = {"lm", "cm", "pmi", "average-diversity", "weighted-mi"};
        char models[200], measure[60];
        for (uint32_t i = 0; i < n_rows * n_columns; i++)
            cells[i] = (int)kn_rng_below(&rng, i % n_columns < p.n_qis    ? 2 + i % n_columns
                                               : i % n_columns == p.n_qis ? n_secrets
                                                                          : 3);
        p.table = test_table(n_rows, n_columns, cells);
        free(cells);
        p.table->columns[p.n_qis].role = p.table->columns[p.n_qis + 1].role = KN_ROLE_SENSITIVE;
        for (uint32_t q = 0; q < p.n_qis; q++)
            p.domains[q] = q < 2 ? test_suppress_domain(p.table, q) : test_random_tree_domain(&rng, p.table, q, 3);
        assert_ok(kn_tuples_new(&p.tuples, p.table, p.domains, p.n_qis, NULL, NULL, err));
        assert_ok(kn_tuples_histograms(p.tuples, NULL, err));
        p.task = (kn_task){.tuples = p.tuples, .max_suppressed = n_rows};
        snprintf(models, sizeof models, "k-anonymity:k=%u l-diversity:column=%c,l=%u %s:column=%c,%s%u",
                 1 + kn_rng_below(&rng, 9), 'a' + p.n_qis, 1 + kn_rng_below(&rng, n_secrets < 14 ? n_secrets : 14),
                 sets ? "p-sensitive" : "t-closeness", 'b' + p.n_qis, sets ? "p=" : "t=0.",
                 1 + kn_rng_below(&rng, sets ? 3 : 6));
        const size_t which = n_secrets < 64 ? (size_t)round / 2 % 5 : 0; /* of one column or the other */
        snprintf(measure, sizeof measure, which > 0 ? "%s:column=%c" : "%s", measures[which],
                 'a' + p.n_qis + round % 2);
        if (try_goal(&p, models, measure)) check_every_bundle(&p, 1 + kn_rng_below(&rng, 12));
        free_problem(&p);
    }
}

/* Rolls up column after column, the outermost first, as searches do. */
static void roll_stepwise(kn_node *nodes, kn_batch steps[2], const kn_full_domain *domain, const uint32_t *levels,
                          kn_evaluator *evaluator)
{
    uint32_t at[16], last = 0;
    const kn_batch *from = &domain->base;
    least_levels(at, domain->lattice);
    for (uint32_t d = 0; d < domain->bundles->n_outer; d++) {
        at[domain->bundles->outer[d]] = levels[domain->bundles->outer[d]];
        assert_ok(kn_batch_roll(&steps[last], from, at, evaluator, err));
        from = &steps[last];
        last = 1 - last;
    }
    assert_ok(kn_evaluate(nodes, NULL, evaluator, from, false, err));
}

static void large_roll_ups_are_the_same_in_one_step_in_many_and_on_threads(void **state)
{
    kn_rng rng = kn_rng_new(77, 0);
    for (int round = 0; round < 5; round++) {
        kn_pool *pool;
        assert_ok(kn_pool_new(&pool, round == 3 ? 100 : 3, err)); /* more threads than parts, too */
        problem p;
        random_problem(&p, &rng, round % 2 == 0 ? 50000 : 90000, 5, round < 2 ? 12 : 30, NO_PERSONS, false);
        assert_true(p.tuples->n_tuples > 1u << 15); /* the base is several jobs */
        static const char *const measures[] = {"lm", "lm", "average-class", "average-diversity", "cm"};
        set_goal(&p, round % 2 == 0 ? "k-anonymity:k=3" : "k-anonymity:k=3 l-diversity:l=3", measures[round]);
        kn_full_domain *domain, *other; /* whose base is made on threads */
        kn_evaluator *alone, *together;
        kn_batch steps[2] = {0};
        uint32_t levels[16];
        assert_ok(kn_full_domain_new(&domain, &p.task, 4, err));
        p.task.pool = pool;
        assert_ok(kn_full_domain_new(&other, &p.task, 4, err));
        assert_non_null(domain->bundles);
        assert_ok(kn_evaluator_new(&alone, domain, err));
        assert_ok(kn_evaluator_new(&together, other, err));
        for (int try = 0; try < 6; try++) {
            kn_node serial[KN_BUNDLE_MAX_COMBOS * KN_LATTICE_LANES], threads[KN_BUNDLE_MAX_COMBOS * KN_LATTICE_LANES],
                node;
            for (uint32_t q = 0; q < p.n_qis; q++) {
                const kn_lattice_column *column = &domain->lattice->columns[q];
                levels[q] = column->min_level + kn_rng_below(&rng, column->max_level - column->min_level + 1);
            }
            roll_stepwise(serial, steps, domain, levels, alone);
            roll_stepwise(threads, steps, other, levels, together);
            for (uint32_t i = 0; i < kn_batch_nodes(domain); i++) {
                const kn_node *a = &serial[i], *b = &threads[i];
                assert_true(a->units == b->units && a->n_suppressed == b->n_suppressed && a->loss == b->loss);
            }
            assert_ok(kn_evaluate_levels(&node, try % 2 == 0 ? alone : together, levels, err));
            bool found = false;
            for (uint32_t i = 0; i < kn_batch_nodes(domain); i++)
                found = found || (serial[i].units == node.units && serial[i].n_suppressed == node.n_suppressed);
            assert_true(found);
        }
        kn_batch_free(&steps[0], domain);
        kn_batch_free(&steps[1], domain);
        kn_evaluator_free(alone);
        kn_evaluator_free(together);
        kn_full_domain_free(domain);
        kn_full_domain_free(other);
        free_problem(&p);
        kn_pool_free(pool);
    }
}

/* --- Searches -------------------------------------------------------------------------------------------------- */

static kn_status search(kn_answer *answer, problem *p, const char *name, const char *params)
{
    const kn_algorithm *algorithm = kn_algorithm_find(name);
    kn_error err = {0};
    assert_non_null(algorithm);
    *answer = (kn_answer){0};
    kn_args_free(&p->args);
    kn_status status = kn_args_parse(&p->args, name, algorithm->params, algorithm->n_params, params, &err);
    assert_int_equal(status, KN_OK);
    p->task.args = &p->args;
    status = kn_algorithm_fits(algorithm, &p->task, &err);
    if (status == KN_OK) status = algorithm->search(answer, &p->task, &err);
    if (status != KN_OK && strlen(err.message) < 10) fail_msg("%s fails without saying why", name);
    return status;
}

/* The best node by walking the levels like a clock, each rolled up from the base. */
static bool best_by_enumeration(problem *p, kn_node *best, uint32_t *best_levels)
{
    kn_full_domain *domain;
    kn_evaluator *evaluator;
    uint32_t levels[16];
    bool found = false;
    assert_ok(kn_full_domain_new(&domain, &p->task, 0, err));
    assert_ok(kn_evaluator_new(&evaluator, domain, err));
    least_levels(levels, domain->lattice);
    do {
        kn_node node;
        assert_ok(kn_evaluate_levels(&node, evaluator, levels, err));
        if (!node.feasible || (found && kn_node_compare(&node, levels, best, best_levels, p->n_qis) >= 0)) continue;
        found = true;
        *best = node;
        memcpy(best_levels, levels, p->n_qis * sizeof *levels);
    } while (next_levels(domain->lattice, levels));
    kn_evaluator_free(evaluator);
    kn_full_domain_free(domain);
    return found;
}

static void exact_searches_find_the_best_node(void **state)
{
    kn_rng rng = kn_rng_new(2, 0);
    const char *const names[] = {"mingen", "optimal"};
    for (int round = 0; round < 1000; round++) {
        problem p;
        uint32_t n_rows = 6 + kn_rng_below(&rng, 60);
        random_problem(&p, &rng, n_rows, 1 + kn_rng_below(&rng, 4), 2 + kn_rng_below(&rng, 6), round % 5 % 3,
                       round % 2 == 0);
        some_goal(&p, round);
        if (p.objective->type->higher_is_better) {
            free_problem(&p);
            continue;
        }
        p.task.max_suppressed = kn_rng_below(&rng, 3) == 0 ? 0 : kn_rng_below(&rng, n_rows + 1);
        kn_node best;
        uint32_t levels[16];
        bool found = best_by_enumeration(&p, &best, levels);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
                kn_answer answer;
                assert_ok(kn_pool_new(&p.task.pool, n_threads, err));
                p.task.memory_bytes = n_threads == 1 ? 0 : 1000;
                kn_status status = search(&answer, &p, names[i], "");
                if (status != (found ? KN_OK : KN_NOT_MET) ||
                    (found && memcmp(answer.levels, levels, p.n_qis * sizeof *levels) != 0))
                    fail_msg("round %d: %s, %s, %s goes wrong", round, names[i], p.objective->type->name,
                             p.models->items[p.models->n - 1].type->name);
                if (found) assert_true(answer.optimal && answer.bound == best.loss);
                kn_answer_free(&answer);
                kn_pool_free(p.task.pool);
                p.task.pool = NULL;
            }
        free_problem(&p);
    }
}

/* Where classes are many, whole branches are closed by a node above them and roll-ups skip levels. */
static void exact_searches_agree_where_classes_are_many(void **state)
{
    kn_rng rng = kn_rng_new(25, 0);
    for (int round = 0; round < 9; round++) {
        problem p;
        kn_answer expected, answer;
        const bool flat = round == 0;
        const uint32_t n_rows = flat ? 400000 : 50000, shares[] = {25, 5, 0};
        random_problem(&p, &rng, n_rows, 5, flat ? 15 : 10, NO_PERSONS, false);
        assert_true(p.tuples->n_tuples > (flat ? 1u << 18 : 1u << 15));
        set_goal(&p, round % 4 == 3 ? "k-anonymity:k=3 l-diversity:l=2" : "k-anonymity:k=10", "lm");
        p.task.max_suppressed = shares[round % 3] > 0 ? n_rows / shares[round % 3] : 0;
        assert_int_equal(search(&expected, &p, "mingen", ""), KN_OK);
        for (unsigned n_threads = 1; n_threads <= 3; n_threads += 2) {
            assert_ok(kn_pool_new(&p.task.pool, n_threads, err));
            p.task.memory_bytes = n_threads == 3 && !flat ? 1000 : 0;
            assert_int_equal(search(&answer, &p, "optimal", ""), KN_OK);
            assert_memory_equal(answer.levels, expected.levels, p.n_qis * sizeof *answer.levels);
            assert_true(answer.optimal && answer.bound == expected.bound);
            kn_answer_free(&answer);
            kn_pool_free(p.task.pool);
            p.task.pool = NULL;
        }
        kn_answer_free(&expected);
        free_problem(&p);
    }
}

/* With one outer column alone a large base cannot be cut between runs. */
static void two_columns_of_many_values_give_the_same_on_any_number_of_threads(void **state)
{
    enum { N_ROWS = 150000, N_OUTER = 3000, N_INNER = 200 };
    static const char *const measures[] = {"lm", "dm"};
    int *cells = calloc((size_t)N_ROWS * 3, sizeof *cells);
    kn_rng rng = kn_rng_new(35, 0);
    problem p = {.n_qis = 2};
    for (int row = 0; row < N_ROWS; row++) {
        cells[3 * row] = (int)kn_rng_below(&rng, N_OUTER);
        cells[3 * row + 1] = (int)kn_rng_below(&rng, N_INNER);
    }
    p.table = test_table(N_ROWS, 3, cells);
    free(cells);
    p.table->columns[2].role = KN_ROLE_SENSITIVE;
    p.domains[0] = test_random_tree_domain(&rng, p.table, 0, 7);
    p.domains[1] = test_suppress_domain(p.table, 1);
    assert_ok(kn_tuples_new(&p.tuples, p.table, p.domains, 2, NULL, NULL, err));
    assert_ok(kn_tuples_histograms(p.tuples, NULL, err));
    assert_true(p.tuples->n_tuples > 1u << 17);
    p.task = (kn_task){.tuples = p.tuples, .max_suppressed = N_ROWS / 20};
    for (int m = 0; m < 2; m++) {
        kn_answer expected, answer;
        set_goal(&p, "k-anonymity:k=3", measures[m]);
        assert_int_equal(search(&expected, &p, "mingen", ""), KN_OK);
        for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
            assert_ok(kn_pool_new(&p.task.pool, n_threads, err));
            assert_int_equal(search(&answer, &p, "optimal", ""), KN_OK);
            assert_memory_equal(answer.levels, expected.levels, 2 * sizeof *answer.levels);
            assert_true(answer.optimal && answer.bound == expected.bound);
            kn_answer_free(&answer);
            kn_pool_free(p.task.pool);
            p.task.pool = NULL;
        }
        kn_answer_free(&expected);
    }
    free_problem(&p);
}

static size_t n_releases_priced;

static kn_status count_priced(double *loss, const void *state, const kn_release *release, bool brief, kn_pool *pool,
                              kn_error *err)
{
    n_releases_priced++;
    *loss = release->n_classes;
    return KN_OK;
}

static void samarati_prices_the_releases_of_the_least_height_only(void **state)
{
    kn_rng rng = kn_rng_new(24, 0);
    uint32_t n_fewer = 0;
    for (int round = 0; round < 20; round++) {
        problem p;
        kn_lattice *lattice;
        kn_answer answer;
        uint32_t levels[16] = {0}, least = KN_NONE;
        size_t n_least = 0, n_feasible = 0;
        random_problem(&p, &rng, 30, 3, 4, NO_PERSONS, false);
        set_goal(&p, "k-anonymity:k=3", "kl");
        p.task.max_suppressed = 4;
        assert_ok(kn_lattice_new(&lattice, p.tuples, KN_LATTICE_NO_BASE, err));
        do {
            bool released;
            uint32_t height = levels[0] + levels[1] + levels[2];
            if (recount(&p, levels, &released).n_suppressed > p.task.max_suppressed) continue;
            n_feasible++;
            if (height < least) n_least = 0;
            if (height <= least) {
                least = height;
                n_least++;
            }
        } while (next_levels(lattice, levels));
        kn_measure counting = *p.objective->type;
        kn_objective objective = *p.objective;
        counting.price_release = count_priced;
        objective.type = &counting;
        p.task.objective = &objective;
        n_releases_priced = 0;
        assert_int_equal(search(&answer, &p, "samarati", ""), KN_OK);
        assert_int_equal(n_releases_priced, n_least);
        n_fewer += n_least < n_feasible;
        kn_answer_free(&answer);
        kn_lattice_free(lattice);
        free_problem(&p);
    }
    assert_true(n_fewer > 5);
}

static void datafly_generalizes_the_widest_column_until_few_are_outliers(void **state)
{
    kn_rng rng = kn_rng_new(3, 0);
    for (int round = 0; round < 60; round++) {
        problem p;
        uint32_t levels[16] = {0}, n_rows = 10 + kn_rng_below(&rng, 60);
        random_problem(&p, &rng, n_rows, 1 + kn_rng_below(&rng, 4), 3 + kn_rng_below(&rng, 5), false, false);
        set_goal(&p, "k-anonymity:k=3", "lm");
        p.task.max_suppressed = kn_rng_below(&rng, 10);
        for (bool released;;) {
            if (recount(&p, levels, &released).n_suppressed <= p.task.max_suppressed) break;
            uint32_t widest = KN_NONE, most = 0;
            for (uint32_t q = 0; q < p.n_qis; q++) {
                const kn_tree *tree = p.domains[q]->tree;
                uint32_t n = 0;
                for (uint32_t node = 0; node < tree->n_nodes; node++) {
                    bool used = false;
                    for (uint32_t t = 0; t < p.tuples->n_tuples; t++)
                        used = used || tree->at_level[levels[q]][p.tuples->codes[q][t]] == node;
                    n += used;
                }
                if (levels[q] + 1 < tree->n_levels && n > most) {
                    most = n;
                    widest = q;
                }
            }
            levels[widest]++;
        }
        kn_answer answer;
        assert_int_equal(search(&answer, &p, "datafly", ""), KN_OK);
        assert_memory_equal(answer.levels, levels, p.n_qis * sizeof *levels);
        kn_answer_free(&answer);
        free_problem(&p);
    }
}

static kn_status append(void *context, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_buffer_append(context, bytes, n_bytes);
    return KN_OK;
}

/* Every measure that the table allows. */
static size_t all_objectives(kn_objective **objectives, const problem *p)
{
    size_t n_measures, n = 0;
    const kn_measure *const *measures = kn_measure_all(&n_measures);
    for (size_t m = 0; m < n_measures; m++)
        assert_ok(kn_objective_new(&objectives[n++], measures[m]->name, p->tuples, err));
    return n;
}

static void every_measure_of_the_table_of_nodes_matches_a_recount(void **state)
{
    kn_rng rng = kn_rng_new(18, 0);
    for (int round = 0; round < 120; round++) {
        problem p;
        kn_objective *objectives[64];
        kn_lattice_table *table;
        random_problem(&p, &rng, 1 + kn_rng_below(&rng, 50), 1 + kn_rng_below(&rng, 5), 2 + kn_rng_below(&rng, 4),
                       round % 3, round % 2 == 0);
        some_goal(&p, round % 2 == 0 ? round / 2 : round); /* class sizes alone, and models that look at more */
        p.task.max_suppressed = kn_rng_below(&rng, 10);
        size_t n = all_objectives(objectives, &p);
        assert_ok(kn_lattice_table_new(&table, &p.task, (const kn_objective *const *)objectives, n, 100000, err));
        for (size_t i = 0; i < table->n; i++) {
            kn_release *release;
            kn_node expected = recount_release(&release, &p, table->levels + i * p.n_qis);
            assert_same_node(&table->entries[i].node, &expected,
                             release != NULL && !isnan(table->entries[i].node.loss));
            assert_true(table->entries[i].node.feasible == (expected.n_suppressed <= p.task.max_suppressed));
            for (size_t m = 0; m < n && release != NULL; m++) {
                double loss;
                assert_ok(kn_objective_loss(&loss, objectives[m], release, err));
                assert_same_loss(objectives[m]->type->name, table->losses[i * n + m], loss);
            }
            kn_release_free(release);
        }
        kn_lattice_table_free(table);
        for (size_t m = 0; m < n; m++) kn_objective_free(objectives[m]);
        free_problem(&p);
    }
}

static void check_losses(problem *p)
{
    static const char *const measures[] = {"cm", "pmi", "average-diversity", "weighted-mi:w=0.2", "am", "dm", "lm"};
    kn_objective *objectives[8];
    kn_lattice_table *table;
    size_t n = 0;
    for (; n < sizeof measures / sizeof *measures; n++)
        assert_ok(kn_objective_new(&objectives[n], measures[n], p->tuples, err));
    assert_ok(kn_lattice_table_new(&table, &p->task, (const kn_objective *const *)objectives, n, 100000, err));
    for (size_t at = 0; at < table->n; at++) {
        kn_release *release;
        kn_node expected = recode_node(&release, p, table->levels + at * p->n_qis);
        assert_int_equal(table->entries[at].node.n_suppressed, expected.n_suppressed);
        assert_int_equal(table->entries[at].node.n_classes, expected.n_classes);
        for (size_t m = 0; m < n && release != NULL; m++) {
            double loss;
            assert_ok(kn_objective_loss(&loss, objectives[m], release, err));
            assert_same_loss(objectives[m]->type->name, table->losses[at * n + m], loss);
        }
        kn_release_free(release);
    }
    kn_lattice_table_free(table);
    for (size_t m = 0; m < n; m++) kn_objective_free(objectives[m]);
}

/* A missing cell that may be any value is released, and priced, as the whole domain. */
static void the_table_of_nodes_prices_wildcards_as_they_are_released(void **state)
{
    kn_rng rng = kn_rng_new(37, 0);
    uint32_t n_wildcards = 0;
    for (int round = 0; round < 12; round++) {
        problem p;
        random_problem(&p, &rng, 40, 3, 5, NO_PERSONS, false);
        for (uint32_t q = 0; q < p.n_qis; q++) {
            if (p.domains[q]->tree->n_levels > 2) continue; /* a missing value is never in a group with others */
            p.domains[q]->missing = kn_rng_below(&rng, p.domains[q]->n_codes);
            p.domains[q]->missing_is_wildcard = true;
            n_wildcards++;
        }
        p.task.max_suppressed = round % 3 * 10;
        set_goal(&p, "k-anonymity:k=2", "lm");
        check_losses(&p);
        free_problem(&p);
    }
    assert_true(n_wildcards > 10);
}

static void columns_of_many_values_are_priced_by_sensitive_value_too(void **state)
{
    kn_rng rng = kn_rng_new(32, 0);
    for (int round = 0; round < 12; round++) {
        enum { N_ROWS = 900, N_COLUMNS = 4 };
        static const uint32_t n_values[N_COLUMNS] = {700, 3, 4, 5}; /* the last one is sensitive */
        problem p = {.n_qis = N_COLUMNS - 1};
        int *cells = calloc(N_ROWS * N_COLUMNS, sizeof *cells);
        for (uint32_t i = 0; i < N_ROWS * N_COLUMNS; i++)
            cells[i] = (int)kn_rng_below(&rng, 1 + kn_rng_below(&rng, n_values[i % N_COLUMNS]));
        p.table = test_table(N_ROWS, N_COLUMNS, cells);
        free(cells);
        p.table->columns[p.n_qis].role = KN_ROLE_SENSITIVE;
        for (uint32_t q = 0; q < p.n_qis; q++)
            p.domains[q] = q > 1 ? test_suppress_domain(p.table, q) : test_random_tree_domain(&rng, p.table, q, 3);
        assert_ok(kn_tuples_new(&p.tuples, p.table, p.domains, p.n_qis, NULL, NULL, err));
        assert_ok(kn_tuples_histograms(p.tuples, NULL, err));
        p.task = (kn_task){.tuples = p.tuples, .max_suppressed = N_ROWS};
        set_goal(&p, round % 2 == 0 ? "k-anonymity:k=3" : "k-anonymity:k=2 l-diversity:l=2", "pmi");
        check_losses(&p);
        free_problem(&p);
    }
}

/* Rows beyond what a byte counts, more sensitive values than bundles carry, more than tables of prices are made for. */
static void the_table_of_nodes_prices_sensitive_values_of_any_number(void **state)
{
    static const struct {
        uint32_t n_rows, n_qis, n_values;
        bool listed; /* as prices by value */
    } cases[] = {{700, 3, 2, true}, {600, 2, 5, true}, {300, 2, 40, true}, {200, 2, 90, true}, {3000, 1, 2200, false}};
    kn_rng rng = kn_rng_new(31, 0);
    for (size_t i = 0; i < 3 * sizeof cases / sizeof *cases; i++) {
        problem p;
        random_problem(&p, &rng, cases[i / 3].n_rows, cases[i / 3].n_qis, cases[i / 3].n_values, NO_PERSONS, false);
        static const char *const models[] = {"k-anonymity:k=3", "k-anonymity:k=9 l-diversity:l=2",
                                             "k-anonymity:k=2 t-closeness:t=0.4,distance=equal"};
        set_goal(&p, models[i % 3], "pmi");
        assert_true(kn_prices_by_bundles(p.objective) == cases[i / 3].listed);
        check_losses(&p);
        free_problem(&p);
    }
}

static kn_status ignore_node(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                             unsigned worker, kn_error *err)
{
    return KN_OK;
}

static void under_models_of_sensitive_values_the_table_of_nodes_takes_one_pass(void **state)
{
    kn_rng rng = kn_rng_new(23, 0);
    problem p;
    kn_objective *lm;
    kn_full_domain *domain;
    kn_lattice_table *table;
    kn_ticker ticker = {0};
    random_problem(&p, &rng, 40, 3, 4, NO_PERSONS, false);
    set_goal(&p, "k-anonymity:k=2 l-diversity:l=2", "cm");
    p.task.ticker = &ticker;
    assert_ok(kn_objective_new(&lm, "lm", p.tuples, err));
    assert_ok(kn_full_domain_new(&domain, &p.task, 9, err));
    ticker.n_ticks = 0;
    assert_ok(kn_each_node(domain, false, ignore_node, NULL, err));
    size_t n_ticks = ticker.n_ticks;
    ticker.n_ticks = 0;
    assert_ok(kn_lattice_table_new(&table, &p.task, (const kn_objective *const *)&lm, 1, 100000, err));
    assert_true(n_ticks > 0);
    assert_int_equal(ticker.n_ticks, n_ticks);
    kn_lattice_table_free(table);
    kn_full_domain_free(domain);
    kn_objective_free(lm);
    free_problem(&p);
}

/* Nodes and losses of all measures, by level vector, the first column counting fastest. */
typedef struct all_figures {
    const kn_full_domain *domain;
    kn_node *nodes;
    double *losses;
} all_figures;

static kn_status keep_node(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                           unsigned worker, kn_error *err)
{
    all_figures *all = context;
    const kn_full_domain *domain = all->domain;
    size_t at = 0, stride = 1;
    for (uint32_t q = 0; q < domain->task->tuples->n_qis; q++) {
        const kn_lattice_column *column = &domain->lattice->columns[q];
        at += (levels[q] - column->min_level) * stride;
        stride *= column->max_level - column->min_level + 1;
    }
    all->nodes[at] = *node;
    memcpy(all->losses + at * domain->n_prices, losses, domain->n_prices * sizeof *losses);
    return KN_OK;
}

static void batches_of_many_nodes_give_the_same_figures_as_batches_of_one(void **state)
{
    kn_rng rng = kn_rng_new(19, 0);
    for (int round = 0; round < 60; round++) {
        problem p;
        kn_objective *objectives[64], *by_bundles[64];
        all_figures all[2];
        random_problem(&p, &rng, 1 + kn_rng_below(&rng, 300), 1 + kn_rng_below(&rng, 5), 2 + kn_rng_below(&rng, 4),
                       round % 3 == 0 ? LOCAL_PERSONS : NO_PERSONS, round % 2 == 0);
        static const char *const models[] = {"k-anonymity:k=1", "k-anonymity:k=2 l-diversity:l=2", "k-anonymity:k=3"};
        if (!try_goal(&p, models[round % 3], "cm")) set_goal(&p, "k-anonymity:k=2", "cm");
        size_t n = all_objectives(objectives, &p), n_by_bundles = 0;
        for (size_t m = 0; m < n; m++)
            if (kn_prices_by_bundles(objectives[m])) by_bundles[n_by_bundles++] = objectives[m];
        for (uint32_t i = 0; i < 2; i++) {
            kn_full_domain *domain;
            assert_ok(kn_full_domain_new_for(&domain, &p.task, (const kn_objective *const *)by_bundles, n_by_bundles,
                                             i * (1 + kn_rng_below(&rng, 12)), err));
            assert_true((domain->bundles != NULL) == (i == 1));
            all[i] = (all_figures){domain, calloc((size_t)domain->lattice->n_nodes, sizeof(kn_node)),
                                   calloc((size_t)domain->lattice->n_nodes * n_by_bundles, sizeof(double))};
            assert_ok(kn_each_node(domain, true, keep_node, &all[i], err));
        }
        for (size_t node = 0; node < (size_t)all[0].domain->lattice->n_nodes; node++) {
            assert_same_node(&all[1].nodes[node], &all[0].nodes[node], true);
            assert_true(all[1].nodes[node].n_sure >= all[0].nodes[node].n_sure);
            for (size_t m = 0; m < n_by_bundles; m++)
                assert_same_loss(by_bundles[m]->type->name, all[1].losses[node * n_by_bundles + m],
                                 all[0].losses[node * n_by_bundles + m]);
        }
        for (int i = 0; i < 2; i++) {
            kn_full_domain_free((kn_full_domain *)all[i].domain);
            free(all[i].nodes);
            free(all[i].losses);
        }
        for (size_t m = 0; m < n; m++) kn_objective_free(objectives[m]);
        free_problem(&p);
    }
}

static void the_table_of_nodes_survives_failing_memory(void **state)
{
    kn_rng rng = kn_rng_new(20, 0);
    for (int round = 0; round < 2; round++) {
        problem p;
        kn_objective *objectives[64];
        random_problem(&p, &rng, 12, 2, 3, NO_PERSONS, false);
        set_goal(&p, round == 0 ? "k-anonymity:k=2" : "k-anonymity:k=2 l-diversity:l=2", "lm");
        size_t n = all_objectives(objectives, &p), used = kn_memory_used();
        kn_status status = KN_RESOURCES;
        for (size_t nth = 1; status != KN_OK; nth++) {
            kn_lattice_table *table;
            kn_error err = {0};
            assert_true(nth < 100000);
            kn_memory_fail_at(nth);
            status = kn_lattice_table_new(&table, &p.task, (const kn_objective *const *)objectives, n, 100000, &err);
            kn_memory_fail_at(0);
            kn_lattice_table_free(table);
            if (status != KN_OK && status != KN_RESOURCES) fail_msg("status %d", status);
            assert_int_equal(kn_memory_used(), used);
        }
        for (size_t m = 0; m < n; m++) kn_objective_free(objectives[m]);
        free_problem(&p);
    }
}

/* Some way leads from the bottom to the node through nodes that are not allowed, one level of one column at a time. */
static bool has_a_way(const kn_lattice_table *table, const kn_report_node *nodes, size_t node)
{
    uint32_t n_qis = table->tuples->n_qis;
    bool is_bottom = true;
    for (uint32_t q = 0; q < n_qis; q++) is_bottom &= table->levels[node * n_qis + q] == table->levels[q];
    for (size_t below = 0; below < table->n && !is_bottom; below++) {
        uint32_t n_lower = 0, n_other = 0;
        for (uint32_t q = 0; q < n_qis; q++) {
            uint32_t here = table->levels[node * n_qis + q], there = table->levels[below * n_qis + q];
            n_lower += there + 1 == here;
            n_other += there != here && there + 1 != here;
        }
        if (n_lower == 1 && n_other == 0 && !nodes[below].allowed && has_a_way(table, nodes, below)) return true;
    }
    return is_bottom;
}

/* [SV] Definition 3.5 where being allowed does not go on upwards, as with t-closeness and suppressed rows: what is
 * reached through an allowed node only is not locally minimal, whatever stands right below it. Every lattice of 2 to 9
 * nodes, every choice of allowed ones. */
static void nodes_behind_an_allowed_one_are_not_locally_minimal(void **state)
{
    static const uint32_t shapes[][2] = {{2, 1}, {4, 1}, {2, 2}, {3, 2}, {2, 4}, {3, 3}};
    uint32_t n_behind = 0;
    for (size_t shape = 0; shape < sizeof shapes / sizeof *shapes; shape++) {
        const uint32_t rows = shapes[shape][0], columns = shapes[shape][1], n = rows * columns;
        const kn_tuples tuples = {.n_qis = 2};
        uint32_t levels[2 * 9];
        for (uint32_t i = 0; i < n; i++) {
            levels[2 * i] = 1 + i / columns; /* the lowest levels need not be 0 */
            levels[2 * i + 1] = i % columns;
        }
        for (uint32_t allowed = 0; allowed < 1u << n; allowed++) {
            kn_lattice_entry entries[9] = {0};
            for (uint32_t i = 0; i < n; i++) entries[i].node.feasible = allowed >> i & 1;
            const kn_lattice_table table = {.tuples = &tuples, .n = n, .entries = entries, .levels = levels, .best = n};
            kn_report_node *nodes;
            assert_ok(kn_run_nodes(&nodes, &table, NULL, err));
            for (uint32_t i = 0; i < n; i++) {
                bool below = i == 0; /* some node right below is not allowed */
                if (i >= columns) below |= !(allowed >> (i - columns) & 1);
                if (i % columns > 0) below |= !(allowed >> (i - 1) & 1);
                assert_int_equal(nodes[i].locally, nodes[i].allowed && has_a_way(&table, nodes, i));
                n_behind += nodes[i].allowed && below && !nodes[i].locally;
            }
            kn_free(nodes);
        }
    }
    assert_true(n_behind > 100);
}

static void the_table_of_nodes_is_the_same_for_any_threads_and_memory(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    for (int round = 0; round < 60; round++) {
        problem p;
        kn_objective *objectives[64];
        char *texts[3];
        random_problem(&p, &rng, 5 + kn_rng_below(&rng, 40), 1 + kn_rng_below(&rng, 4), 2 + kn_rng_below(&rng, 5),
                       round % 4 == 0, round % 2 == 0);
        some_goal(&p, round);
        p.task.max_suppressed = kn_rng_below(&rng, 10);
        size_t n = all_objectives(objectives, &p);
        for (unsigned i = 0; i < 3; i++) {
            kn_lattice_table *table;
            kn_buffer text = {0};
            p.task.memory_bytes = i == 2 ? 100 : 0;
            assert_ok(kn_pool_new(&p.task.pool, i == 1 ? 3 : 1, err));
            assert_ok(kn_lattice_table_new(&table, &p.task, (const kn_objective *const *)objectives, n, 100000, err));
            kn_report_node *nodes;
            assert_ok(kn_run_nodes(&nodes, table, NULL, err));
            for (size_t node = 0; node < table->n && table->n <= 60; node++)
                assert_int_equal(nodes[node].locally, nodes[node].allowed && has_a_way(table, nodes, node));
            kn_lattice_facts lattice = {.tuples = p.tuples,
                                        .nodes = nodes,
                                        .n = table->n,
                                        .levels = table->levels,
                                        .measures = table->measures,
                                        .n_measures = n,
                                        .losses = table->losses};
            assert_ok(kn_lattice_facts_csv(&lattice, ';', append, &text, err));
            kn_free(nodes);
            assert_ok(kn_buffer_finish(&texts[i], &text, err));
            kn_lattice_table_free(table);
            kn_pool_free(p.task.pool);
            p.task.pool = NULL;
        }
        assert_string_equal(texts[0], texts[1]);
        assert_string_equal(texts[0], texts[2]);
        assert_non_null(strstr(texts[0], "a;"));
        assert_non_null(strstr(
            texts[0], "height;smallest_class;kept_classes;suppressed_rows;feasible;minimal;locally_minimal;lm;tree;"));
        for (int i = 0; i < 3; i++) kn_free(texts[i]);
        kn_lattice_table *refused;
        kn_error why = {0};
        if (kn_lattice_table_new(&refused, &p.task, NULL, 0, 0, &why) != KN_USAGE) fail_msg("no limit of nodes");
        for (size_t m = 0; m < n; m++) kn_objective_free(objectives[m]);
        free_problem(&p);
    }
}

static uint32_t ranked_qis;

static int by_rank(const void *a, const void *b)
{
    const kn_ranked_node *x = a, *y = b;
    return kn_node_compare(&x->node, x->levels, &y->node, y->levels, ranked_qis);
}

/* The list of the best nodes, and what a search says that is stopped early. */
static void the_best_nodes_are_listed_and_an_early_end_has_a_true_bound(void **state)
{
    kn_rng rng = kn_rng_new(9, 0);
    uint32_t n_stopped = 0;
    for (int round = 0; round < 300; round++) {
        problem p;
        random_problem(&p, &rng, 20 + kn_rng_below(&rng, 60), 3, 3 + kn_rng_below(&rng, 6), round % 4 == 0, false);
        some_goal(&p, round);
        p.task.max_suppressed = kn_rng_below(&rng, 20);
        kn_full_domain *domain;
        kn_evaluator *evaluator;
        kn_ranked_node all[500];
        uint32_t levels[500][3], n = 0, at[3];
        assert_ok(kn_full_domain_new(&domain, &p.task, 0, err));
        assert_ok(kn_evaluator_new(&evaluator, domain, err));
        least_levels(at, domain->lattice);
        do {
            memcpy(levels[n], at, sizeof at);
            all[n].levels = levels[n];
            assert_ok(kn_evaluate_levels(&all[n].node, evaluator, at, err));
            n += all[n].node.feasible;
        } while (next_levels(domain->lattice, at));
        ranked_qis = 3;
        qsort(all, n, sizeof *all, by_rank);
        kn_evaluator_free(evaluator);
        kn_full_domain_free(domain);
        for (uint64_t effort = 0; effort < 3 && n > 0; effort++) {
            kn_ranking ranking;
            kn_sweep_result result;
            bool huge = kn_rng_below(&rng, 2) == 0;
            assert_ok(kn_full_domain_new(&domain, &p.task, huge ? 0 : 4, err));
            assert_ok(kn_ranking_new(&ranking, 5, 3, err));
            if (huge) assert_ok(kn_huge_lattice(&result, &ranking, domain, effort * 400, err));
            else assert_ok(kn_sweep(&result, &ranking, domain, effort * 40, err));
            assert_true(ranking.n > 0);
            if (result.complete) {
                assert_int_equal(ranking.n, n < 5 ? n : 5);
                for (size_t i = 0; i < ranking.n; i++)
                    assert_memory_equal(ranking.items[i].levels, all[i].levels, sizeof at);
            } else {
                n_stopped++;
                assert_int_equal(result.stopped, KN_STOPPED_BUDGET);
                assert_false(result.bound > all[0].node.loss);
            }
            kn_ranking_free(&ranking);
            kn_full_domain_free(domain);
        }
        free_problem(&p);
    }
    assert_true(n_stopped > 10);
}

/* The lattice is searched as if it were too large to sweep; `effort` 0: to the end. */
static void assert_true_bound(problem *p, const kn_ranked_node *all, uint32_t n, uint64_t effort, uint32_t *n_complete)
{
    kn_full_domain *domain;
    kn_ranking ranking, again;
    kn_sweep_result result, same;
    assert_ok(kn_full_domain_new(&domain, &p->task, 0, err));
    assert_ok(kn_ranking_new(&ranking, 3, p->n_qis, err));
    assert_ok(kn_ranking_new(&again, 3, p->n_qis, err));
    assert_ok(kn_huge_lattice(&result, &ranking, domain, effort, err));
    assert_ok(kn_huge_lattice(&same, &again, domain, effort, err));
    assert_true(ranking.n > 0 && ranking.n == again.n && result.n_nodes == same.n_nodes);
    assert_true(result.bound == same.bound || isnan(result.bound));
    for (size_t i = 0; i < ranking.n; i++)
        assert_memory_equal(ranking.items[i].levels, again.items[i].levels, p->n_qis * sizeof(uint32_t));
    kn_ranking_free(&again);
    assert_false(ranking.items[0].node.loss < all[0].node.loss);
    assert_false(result.bound > all[0].node.loss);
    bool provable = domain->table_sum != NULL && domain->monotone_prices;
    if (!provable) assert_true(isnan(result.bound) && !result.complete && result.stopped == KN_STOPPED_BUDGET);
    else assert_false(isnan(result.bound));
    if (provable && effort == 0) assert_true(result.complete);
    if (result.complete) {
        (*n_complete)++;
        assert_int_equal(result.stopped, KN_STOPPED_DONE);
        assert_true(result.bound == all[0].node.loss);
        assert_int_equal(ranking.n, n < 3 ? n : 3);
        for (size_t i = 0; i < ranking.n; i++)
            assert_memory_equal(ranking.items[i].levels, all[i].levels, p->n_qis * sizeof(uint32_t));
    }
    kn_ranking_free(&ranking);
    kn_full_domain_free(domain);
}

/* Every measure, every set of models, no, some and all rows suppressed, persons, limits of levels: the bound is never
 * above the optimum, and in the end it is the optimum. */
static void the_bound_of_a_huge_lattice_is_true_at_any_time(void **state)
{
    enum { MOST_NODES = 2000 };
    kn_rng rng = kn_rng_new(21, 0);
    uint32_t n_complete = 0, n_stopped = 0;
    for (int round = 0; round < 300; round++) {
        problem p;
        kn_full_domain *domain;
        kn_evaluator *evaluator;
        static kn_ranked_node all[MOST_NODES];
        static uint32_t levels[MOST_NODES][8];
        uint32_t n = 0, n_rows = 20 + kn_rng_below(&rng, 100), at[16];
        random_problem(&p, &rng, n_rows, 2 + kn_rng_below(&rng, 4), 2 + kn_rng_below(&rng, 4),
                       (int)kn_rng_below(&rng, 3), round % 2 == 0);
        some_goal(&p, round);
        const uint64_t suppressed[] = {0, n_rows / 25, n_rows / 5, n_rows};
        p.task.max_suppressed = suppressed[kn_rng_below(&rng, 4)];
        assert_ok(kn_full_domain_new(&domain, &p.task, 0, err));
        assert_ok(kn_evaluator_new(&evaluator, domain, err));
        assert_true(domain->lattice->n_nodes <= MOST_NODES);
        least_levels(at, domain->lattice);
        do {
            memcpy(levels[n], at, sizeof *levels);
            all[n].levels = levels[n];
            assert_ok(kn_evaluate_levels(&all[n].node, evaluator, at, err));
            n += all[n].node.feasible;
        } while (next_levels(domain->lattice, at));
        ranked_qis = p.n_qis;
        qsort(all, n, sizeof *all, by_rank);
        kn_evaluator_free(evaluator);
        kn_full_domain_free(domain);
        for (uint64_t effort = p.objective->node_price == NULL ? 500 : 0; effort < 200000 && n > 0;
             effort = effort * 8 + 500) {
            uint32_t before = n_complete;
            p.task.seed = effort;
            p.task.memory_bytes = effort == 0 ? 0 : kn_rng_below(&rng, 4) * 10000; /* too little for some */
            assert_true_bound(&p, all, n, effort, &n_complete);
            n_stopped += n_complete == before;
        }
        free_problem(&p);
    }
    assert_true(n_complete > 200 && n_stopped > 200);
}

/* What some columns cost at least: all level vectors of these columns, classes by comparing rows in these columns only.
 */
static int64_t least_of_columns(const problem *p, const kn_full_domain *domain, const uint32_t *columns,
                                uint32_t n_columns)
{
    const kn_lattice *lattice = domain->lattice;
    int64_t least = KN_COST_INFINITE;
    uint32_t levels[16];
    for (uint32_t i = 0; i < n_columns; i++) levels[columns[i]] = lattice->columns[columns[i]].min_level;
    for (uint32_t i = 0; i < n_columns;) {
        int64_t cost = 0;
        uint64_t n_suppressed = 0;
        for (uint32_t row = 0; row < p->tuples->n_rows; row++) {
            uint64_t n_same = 0;
            int64_t price = 0, gap = 0;
            for (uint32_t other = 0; other < p->tuples->n_rows; other++) {
                bool same = true;
                for (uint32_t j = 0; j < n_columns; j++) {
                    const uint32_t *of_code = lattice->columns[columns[j]].levels[levels[columns[j]]].of_code;
                    const uint32_t *codes = p->tuples->codes[columns[j]];
                    same = same &&
                           of_code[codes[p->tuples->row_tuple[row]]] == of_code[codes[p->tuples->row_tuple[other]]];
                }
                n_same += same;
            }
            for (uint32_t j = 0; j < n_columns; j++) {
                uint32_t q = columns[j], l = levels[q];
                uint32_t position =
                    lattice->columns[q].levels[l].of_code[p->tuples->codes[q][p->tuples->row_tuple[row]]];
                gap += domain->gap[q][l][position];
                price -= domain->gap[q][l][position];
            }
            if (n_same < p->models->min_persons) n_suppressed++;
            cost += price + (n_same < p->models->min_persons ? gap : 0);
        }
        for (uint32_t j = 0; j < n_columns; j++) { /* the price of a suppressed row in these columns */
            uint32_t q = columns[j], top = lattice->columns[q].max_level, code = 0;
            while (lattice->columns[q].levels[top].of_code[code] == KN_NONE) code++;
            int64_t rows_gap = 0;
            for (uint32_t row = 0; row < p->tuples->n_rows; row++)
                rows_gap +=
                    domain
                        ->gap[q][top]
                             [lattice->columns[q].levels[top].of_code[p->tuples->codes[q][p->tuples->row_tuple[row]]]];
            cost += domain->table_sum[q][top] + rows_gap;
        }
        if (n_suppressed <= p->task.max_suppressed && cost < least) least = cost;
        for (i = 0; i < n_columns; i++) {
            if (levels[columns[i]]++ < lattice->columns[columns[i]].max_level) break;
            levels[columns[i]] = lattice->columns[columns[i]].min_level;
        }
    }
    return least;
}

static kn_status go_on(void *context, uint64_t work, int64_t *limit, bool *stop, kn_error *err) { return KN_OK; }

static void some_columns_cost_at_least_what_trying_all_their_levels_says(void **state)
{
    kn_rng rng = kn_rng_new(22, 0);
    uint32_t n_infinite = 0;
    for (int round = 0; round < 150; round++) {
        problem p;
        kn_full_domain *domain;
        kn_column_search *search;
        const kn_column_hooks hooks = {NULL, go_on, NULL};
        uint32_t n_rows = 5 + kn_rng_below(&rng, 30), columns[4], n_columns = 0;
        int64_t least[5] = {0};
        random_problem(&p, &rng, n_rows, 4, 2 + kn_rng_below(&rng, 4), NO_PERSONS, round % 2 == 0);
        set_goal(&p, round % 3 == 0 ? "k-anonymity:k=2" : "k-anonymity:k=4", round % 5 == 0 ? "entropy" : "lm");
        p.task.max_suppressed = kn_rng_below(&rng, 3) * n_rows / 8;
        assert_ok(kn_full_domain_new(&domain, &p.task, 0, err));
        assert_true(domain->monotone_prices);
        assert_ok(kn_column_search_new(&search, domain, err));
        for (uint32_t q = 0; q < 4; q++)
            if (n_columns == 0 || kn_rng_below(&rng, 3) > 0) columns[n_columns++] = (q + (uint32_t)round) % 4;
        bool fits, stopped;
        assert_ok(kn_column_search_set(&fits, search, columns, n_columns, NULL, 1, err));
        assert_false(fits);
        assert_ok(kn_column_search_set(&fits, search, columns, n_columns, NULL, 0, err));
        assert_true(fits);
        least[n_columns] = 0;
        for (uint32_t first = n_columns; first-- > 0;) {
            assert_ok(kn_column_search_least(&least[first], NULL, &stopped, search, first, least, &hooks, err));
            assert_false(stopped);
            assert_true(least[first] == least_of_columns(&p, domain, columns + first, n_columns - first));
            n_infinite += least[first] == KN_COST_INFINITE;
        }
        kn_column_search_free(search);
        kn_full_domain_free(domain);
        free_problem(&p);
    }
    assert_true(n_infinite > 0);
}

/* Levels are taken away only where nothing is feasible. */
static void a_narrowed_lattice_has_all_feasible_nodes(void **state)
{
    kn_rng rng = kn_rng_new(23, 0);
    uint32_t n_closed = 0;
    for (int round = 0; round < 200; round++) {
        problem p;
        kn_narrowed narrowed;
        kn_full_domain *domain;
        kn_evaluator *evaluator;
        kn_node node;
        uint32_t n_rows = 5 + kn_rng_below(&rng, 40), at[16];
        random_problem(&p, &rng, n_rows, 3, 2 + kn_rng_below(&rng, 9), (int)kn_rng_below(&rng, 3), round % 2 == 0);
        some_goal(&p, round);
        p.task.max_suppressed = kn_rng_below(&rng, 4) * n_rows / 8;
        assert_ok(kn_full_domain_new(&domain, &p.task, 0, err));
        assert_ok(kn_evaluator_new(&evaluator, domain, err));
        assert_ok(kn_narrow(&narrowed, &p.task, err));
        assert_true(narrowed.n_nodes == domain->lattice->n_nodes);
        double n_left = 0;
        least_levels(at, domain->lattice);
        do {
            bool left = true;
            for (uint32_t q = 0; q < 3; q++) left = left && at[q] >= narrowed.domains[q].min_level;
            assert_ok(kn_evaluate_levels(&node, evaluator, at, err));
            assert_false(node.feasible && !left);
            n_left += left;
        } while (next_levels(domain->lattice, at));
        assert_true(n_left == narrowed.n_nodes_left);
        n_closed += n_left < narrowed.n_nodes;
        kn_narrowed_free(&narrowed);
        kn_evaluator_free(evaluator);
        kn_full_domain_free(domain);
        free_problem(&p);
    }
    assert_true(n_closed > 10);
}

/* Keys of several words: another path, the same nodes. */
static void every_way_to_hold_groups_gives_the_same_groups(void **state)
{
    kn_rng rng = kn_rng_new(10, 0);
    for (int round = 0; round < 100; round++) {
        problem p;
        random_problem(&p, &rng, 5 + kn_rng_below(&rng, 50), 1 + kn_rng_below(&rng, 4), 2 + kn_rng_below(&rng, 5),
                       round % 2 == 0, false);
        const unsigned flags[] = {KN_LATTICE_HISTOGRAMS, KN_LATTICE_HISTOGRAMS | KN_LATTICE_WIDE};
        kn_lattice *lattices[2];
        kn_roller *rollers[2];
        kn_groups groups[2] = {{0}}, steps[2] = {{0}};
        uint32_t levels[16];
        for (int i = 0; i < 2; i++) {
            assert_ok(kn_lattice_new(&lattices[i], p.tuples, flags[i], err));
            assert_ok(kn_roller_new(&rollers[i], lattices[i], err));
        }
        least_levels(levels, lattices[0]);
        do {
            kn_histogram histograms[2][1];
            for (int i = 0; i < 2; i++)
                assert_ok(kn_groups_roll(&groups[i], &lattices[i]->base, levels, rollers[i], err));
            /* the same node by a detour: the first column last */
            uint32_t detour[16];
            memcpy(detour, levels, sizeof detour);
            detour[0] = lattices[0]->columns[0].min_level;
            assert_ok(kn_groups_roll(&steps[0], &lattices[0]->base, detour, rollers[0], err));
            assert_ok(kn_groups_roll(&steps[1], &steps[0], levels, rollers[0], err));
            assert_int_equal(steps[1].n, groups[0].n);
            for (uint32_t g = 0; g < groups[0].n; g++)
                for (int i = 1; i < 3; i++) { /* of other keys, and by a detour */
                    const kn_groups *other = i < 2 ? &groups[1] : &steps[1];
                    const kn_lattice *lattice = lattices[i < 2 ? 1 : 0];
                    kn_class_counts a = kn_groups_class(lattices[0], &groups[0], g, histograms[0]);
                    kn_class_counts b = kn_groups_class(lattice, other, g, histograms[1]);
                    assert_true(a.n_rows == b.n_rows && a.n_persons == b.n_persons);
                    assert_int_equal(a.sensitive->n, b.sensitive->n);
                    assert_memory_equal(a.sensitive->values, b.sensitive->values, a.sensitive->n * sizeof(uint32_t));
                    assert_memory_equal(a.sensitive->counts, b.sensitive->counts, a.sensitive->n * sizeof(uint32_t));
                    for (uint32_t q = 0; q < p.n_qis; q++)
                        assert_int_equal(kn_groups_node(lattices[0], &groups[0], g, q),
                                         kn_groups_node(lattice, other, g, q));
                }
        } while (next_levels(lattices[0], levels));
        for (int i = 0; i < 2; i++) kn_groups_free(&steps[i], lattices[0]);
        for (int i = 0; i < 2; i++) {
            kn_groups_free(&groups[i], lattices[i]);
            kn_roller_free(rollers[i]);
            kn_lattice_free(lattices[i]);
        }
        free_problem(&p);
    }
}

/* --- Minimal nodes --------------------------------------------------------------------------------------------- */

static void table_problem(problem *p, uint32_t n_rows, uint32_t n_qis, const char *const *cells,
                          const char *const *hierarchies)
{
    *p = (problem){.n_qis = n_qis, .table = test_text_table(n_rows, n_qis, cells)};
    for (uint32_t q = 0; q < n_qis; q++) p->domains[q] = test_domain(p->table, q, hierarchies[q]);
    assert_ok(kn_tuples_new(&p->tuples, p->table, p->domains, n_qis, NULL, NULL, err));
    p->task = (kn_task){.tuples = p->tuples};
}

/* [SV] Figure 1 and the hierarchies of Figure 3. */
static void survey_problem(problem *p)
{
    const char *const cells[] = {"22030",    "married", "F",      "22030",    "married", "F",      "22030", "single",
                                 "M",        "22032",   "single", "M",        "22032",   "single", "M",     "22032",
                                 "divorced", "F",       "22045",  "divorced", "M",       "22047",  "widow", "M",
                                 "22047",    "widow",   "M",      "22047",    "single",  "F"};
    const char *const hierarchies[] = {
        "22030;2203*;220**\n22032;2203*;220**\n22045;2204*;220**\n22047;2204*;220**\n",
        "married;been_married;any\ndivorced;been_married;any\nwidow;been_married;any\nsingle;never_married;any\n",
        "F;any\nM;any\n"};
    table_problem(p, 10, 3, cells, hierarchies);
}

static kn_answer explained(problem *p, const char *name, const char *params, char **text)
{
    kn_trace trace = {.explain = true};
    kn_answer answer;
    p->task.trace = &trace;
    assert_int_equal(search(&answer, p, name, params), KN_OK);
    p->task.trace = NULL;
    assert_ok(kn_buffer_finish(text, &trace.explanation, err));
    kn_free(trace.points.items);
    return answer;
}

static void assert_levels(const kn_answer *answer, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t expected[] = {a, b, c};
    assert_memory_equal(answer->levels, expected, sizeof expected);
}

static void the_survey_s_table_gives_the_survey_s_answers(void **state)
{
    problem p;
    char *text;
    survey_problem(&p);
    set_goal(&p, "k-anonymity:k=3", "lm");
    p.task.max_suppressed = 2;
    kn_answer answer = explained(&p, "samarati", "", &text);
    assert_levels(&answer, 1, 1, 0);
    assert_non_null(strstr(text, "height 2\n"));
    assert_non_null(strstr(text, "[1, 1, 0] suppresses 1 rows: satisfies"));
    assert_non_null(strstr(text, "height 1\n  [1, 0, 0] suppresses 7 rows: does not satisfy\n"
                                 "  [0, 1, 0] suppresses 10 rows: does not satisfy\n"));
    assert_non_null(strstr(text, "1: [0, 0, 0] [0, 2, 1] [1, 2, 1] [1, 1, 0] ")); /* row 1 of VT */
    kn_answer_free(&answer);
    kn_free(text);

    answer = explained(&p, "incognito", "preference=absolute", &text);
    assert_levels(&answer, 1, 1, 0);
    assert_non_null(strstr(text, "2 k-minimal nodes\n"));
    assert_non_null(strstr(text, "[1, 1, 0]: absolute distance 2, relative distance 1, 3 distinct tuples, 1 rows"));
    assert_non_null(strstr(text, "[0, 2, 1]: absolute distance 3, relative distance 2, 3 distinct tuples, 1 rows"));
    /* Example 3.3 */
    assert_non_null(strstr(text, "Iteration 1\n  <a>\n    marked true: [0] [1] [2]\n"
                                 "  <b>\n    marked true: [1] [2]\n    marked false: [0]\n"
                                 "  <c>\n    marked true: [0] [1]\n"));
    assert_non_null(strstr(text,
                           "  <a, b>\n    marked true: [1, 1] [2, 1] [0, 2] [1, 2] [2, 2]\n    marked false: [0, 1]\n"
                           "    not in the hierarchy: [0, 0] [1, 0] [2, 0]\n"));
    assert_non_null(
        strstr(text, "  <a, c>\n    marked true: [1, 0] [2, 0] [0, 1] [1, 1] [2, 1]\n    marked false: [0, 0]\n"));
    assert_non_null(strstr(text, "  <b, c>\n    marked true: [1, 0] [2, 0] [1, 1] [2, 1]\n"
                                 "    not in the hierarchy: [0, 0] [0, 1]\n"));
    assert_non_null(strstr(text, "Iteration 3\n  <a, b, c>\n    marked true: [1, 1, 0] [2, 1, 0] [1, 2, 0] [2, 2, 0] "
                                 "[1, 1, 1] [2, 1, 1] [0, 2, 1] [1, 2, 1] [2, 2, 1]\n    not in the hierarchy: "));
    kn_answer_free(&answer);
    kn_free(text);

    p.task.max_suppressed = 0;
    answer = explained(&p, "incognito", "preference=absolute", &text);
    assert_non_null(strstr(text, "3 k-minimal nodes\n[2, 2, 0]: "));
    assert_non_null(strstr(text, "\n[2, 1, 1]: "));
    assert_non_null(strstr(text, "\n[1, 2, 1]: "));
    kn_answer_free(&answer);
    kn_free(text);
    free_problem(&p);
}

static void lefevre_s_patients_have_three_minimal_generalizations(void **state)
{
    const char *const cells[] = {"1/21/76", "Male",   "53715", "4/13/86", "Female", "53715",
                                 "2/28/76", "Male",   "53703", "1/21/76", "Male",   "53703",
                                 "4/13/86", "Female", "53706", "2/28/76", "Female", "53706"};
    const char *const hierarchies[] = {"1/21/76;*\n2/28/76;*\n4/13/86;*\n", "Male;Person\nFemale;Person\n",
                                       "53715;5371*;537**\n53710;5371*;537**\n53706;5370*;537**\n53703;5370*;537**\n"};
    problem p;
    char *text;
    table_problem(&p, 6, 3, cells, hierarchies);
    set_goal(&p, "k-anonymity:k=2", "lm");
    kn_answer answer = explained(&p, "incognito", "", &text);
    assert_non_null(strstr(text, "3 k-minimal nodes\n[1, 1, 0]: "));
    assert_non_null(strstr(text, "\n[1, 0, 2]: "));
    assert_non_null(strstr(text, "\n[0, 1, 2]: "));
    kn_answer_free(&answer);
    kn_free(text);
    free_problem(&p);
}

static double preference_by_hand(const char *name, const kn_node *node, const uint32_t *levels, const problem *p)
{
    double score = 0;
    for (uint32_t q = 0; q < p->n_qis; q++) {
        uint32_t height = p->domains[q]->tree->n_levels - 1;
        if (strcmp(name, "absolute") == 0) score += levels[q];
        if (strcmp(name, "relative") == 0 && height > 0) score += (double)levels[q] / height;
    }
    if (strcmp(name, "distribution") == 0) score = -(double)node->n_classes;
    if (strcmp(name, "suppression") == 0) score = (double)node->n_suppressed;
    if (strcmp(name, "measure") == 0) score = node->loss;
    return score;
}

/* Definition 3.4 by looking at all pairs of nodes; then the criteria. */
static void minimal_nodes_and_preferences_follow_their_definition(void **state)
{
    static const char *const names[] = {"absolute", "relative", "distribution", "suppression", "measure"};
    kn_rng rng = kn_rng_new(5, 0);
    for (int round = 0; round < 300; round++) {
        problem p;
        uint32_t n_rows = 6 + kn_rng_below(&rng, 40);
        random_problem(&p, &rng, n_rows, 1 + kn_rng_below(&rng, 4), 2 + kn_rng_below(&rng, 4), round % 5 == 0,
                       round % 3 == 0);
        if (!try_goal(&p, model_sets[round % 12], "lm")) set_goal(&p, "k-anonymity:k=1", "lm");
        p.task.max_suppressed = kn_rng_below(&rng, 2) == 0 ? 0 : kn_rng_below(&rng, n_rows / 2);
        kn_full_domain *domain;
        kn_evaluator *evaluator;
        uint32_t levels[2000][16], n = 0, at[16];
        kn_node nodes[2000];
        bool minimal[2000];
        assert_ok(kn_full_domain_new(&domain, &p.task, 0, err));
        assert_ok(kn_evaluator_new(&evaluator, domain, err));
        least_levels(at, domain->lattice);
        do {
            assert_true(n < 2000);
            memcpy(levels[n], at, sizeof at);
            assert_ok(kn_evaluate_levels(&nodes[n++], evaluator, at, err));
        } while (next_levels(domain->lattice, at));
        uint32_t n_minimal = 0;
        for (uint32_t i = 0; i < n; i++) {
            minimal[i] = nodes[i].feasible;
            for (uint32_t j = 0; j < n && minimal[i]; j++) {
                uint32_t q = 0;
                while (q < p.n_qis && levels[j][q] <= levels[i][q]) q++;
                if (j != i && nodes[j].feasible && q == p.n_qis) minimal[i] = false;
            }
            n_minimal += minimal[i];
        }
        for (size_t m = 0; m < 10; m++) {
            const char *name = names[m % 5], *algorithm = m < 5 ? "incognito" : "samarati";
            char params[50], line[60], *text;
            uint32_t best = KN_NONE;
            kn_answer answer;
            snprintf(params, sizeof params, "preference=%s", name);
            if (n_minimal == 0) {
                assert_int_equal(search(&answer, &p, algorithm, params), KN_NOT_MET);
                continue;
            }
            for (uint32_t i = 0; i < n; i++) {
                if (!minimal[i]) continue;
                double score = preference_by_hand(name, &nodes[i], levels[i], &p),
                       best_score = best == KN_NONE ? 0 : preference_by_hand(name, &nodes[best], levels[best], &p);
                if (best == KN_NONE || score < best_score ||
                    (score == best_score &&
                     kn_node_compare(&nodes[i], levels[i], &nodes[best], levels[best], p.n_qis) < 0))
                    best = i;
            }
            answer = explained(&p, algorithm, params, &text);
            assert_memory_equal(answer.levels, levels[best], p.n_qis * sizeof **levels);
            snprintf(line, sizeof line, "%u k-minimal nodes\n", n_minimal);
            if (m < 5) assert_non_null(strstr(text, line));
            kn_answer_free(&answer);
            kn_free(text);
        }
        kn_evaluator_free(evaluator);
        kn_full_domain_free(domain);
        free_problem(&p);
    }
}

/* --- Greedy searches ------------------------------------------------------------------------------------------- */

static double loss_of(problem *p, const kn_answer *answer)
{
    kn_release *release;
    double loss;
    assert_ok(kn_recode(&release, answer, &p->task, err));
    assert_true(release->n_suppressed <= p->task.max_suppressed);
    assert_ok(kn_objective_loss(&loss, p->objective, release, err));
    kn_release_free(release);
    return loss;
}

/* Beyond what the memory holds of the lattice, nodes are counted one by one. */
static void samarati_finds_the_same_node_where_the_lattice_does_not_fit(void **state)
{
    kn_rng rng = kn_rng_new(21, 0);
    for (int round = 0, n_done = 0; n_done < 1; round++) {
        problem p;
        kn_lattice *lattice;
        random_problem(&p, &rng, 8, 10, 3, NO_PERSONS, false);
        assert_ok(kn_lattice_new(&lattice, p.tuples, KN_LATTICE_NO_BASE, err));
        double n_nodes = lattice->n_nodes;
        kn_lattice_free(lattice);
        set_goal(&p, "k-anonymity:k=2", "lm");
        p.task.max_suppressed = 2;
        if (n_nodes > 65536 && n_nodes < 100000) {
            kn_answer swept, counted;
            assert_int_equal(search(&swept, &p, "samarati", "preference=measure"), KN_OK);
            p.task.memory_bytes = 1000;
            assert_int_equal(search(&counted, &p, "samarati", "preference=measure"), KN_OK);
            assert_memory_equal(swept.levels, counted.levels, p.n_qis * sizeof *swept.levels);
            assert_true(swept.n_nodes != counted.n_nodes);
            kn_answer_free(&swept);
            kn_answer_free(&counted);
            n_done++;
        }
        free_problem(&p);
        assert_true(round < 1000);
    }
}

/* Rows of classes of which every cell is the whole domain. */
static uint32_t rows_without_values(const problem *p, const kn_answer *answer)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < p->tuples->n_rows; row++) {
        uint32_t q = 0, class = answer->row_class[row];
        while (class != KN_NONE && q < p->n_qis &&
               answer->cells[(size_t) class * p->n_qis + q].id == p->domains[q]->tree->root)
            q++;
        n += class != KN_NONE && q == p->n_qis;
    }
    return n;
}

static void suppressing_cells_costs_no_more_than_suppressing_rows(void **state)
{
    kn_rng rng = kn_rng_new(6, 0);
    uint32_t n_better = 0;
    for (int round = 0; round < 200; round++) {
        problem p;
        kn_answer rows, cells;
        uint32_t n_rows = 10 + kn_rng_below(&rng, 50);
        random_problem(&p, &rng, n_rows, 1 + kn_rng_below(&rng, 4), 2 + kn_rng_below(&rng, 5), false, round % 3 == 0);
        if (!try_goal(&p, model_sets[round % 12], "lm")) set_goal(&p, "k-anonymity:k=2", "lm");
        p.task.max_suppressed = kn_rng_below(&rng, n_rows);
        kn_status status = search(&rows, &p, "optimal", "");
        if (p.models->counts_only) {
            kn_status cell_status = search(&cells, &p, "cell-suppression", "");
            if (status == KN_OK) assert_int_equal(cell_status, KN_OK);
            if (status == KN_OK) {
                double by_rows = loss_of(&p, &rows), by_cells = loss_of(&p, &cells);
                uint32_t n_starred = rows_without_values(&p, &cells); /* all: the top of the lattice, as `optimal` */
                assert_true(n_starred == 0 || n_starred == n_rows);
                assert_true(by_cells <= by_rows + 1e-12);
                n_better += by_cells < by_rows - 1e-9;
            }
            kn_answer_free(&cells);
        } else if (search(&cells, &p, "cell-suppression", "") == KN_OK) {
            kn_release *release; /* models that merging may break: recoding has the last word, but usually agrees */
            kn_error refusal = {0};
            if (kn_recode(&release, &cells, &p.task, &refusal) == KN_OK) kn_release_free(release);
            kn_answer_free(&cells);
        }
        kn_answer_free(&rows);
        free_problem(&p);
    }
    assert_true(n_better > 5);
}

static void mu_argus_is_finished_or_refused(void **state)
{
    kn_rng rng = kn_rng_new(7, 0);
    uint32_t n_refused = 0;
    for (int round = 0; round < 100; round++) {
        problem p;
        kn_answer answer;
        uint32_t n_rows = 20 + kn_rng_below(&rng, 60);
        random_problem(&p, &rng, n_rows, 1 + kn_rng_below(&rng, 5), 2 + kn_rng_below(&rng, 4), false, false);
        set_goal(&p, "k-anonymity:k=3", "lm");
        p.task.max_suppressed = kn_rng_below(&rng, 5);
        assert_int_equal(search(&answer, &p, "mu-argus", ""), KN_OK);
        loss_of(&p, &answer);
        /* before it was finished it stopped no earlier: every pair of columns is safe */
        for (uint32_t a = 0; a < p.n_qis; a++)
            for (uint32_t b = a + 1; b < p.n_qis; b++) {
                uint32_t levels[16];
                bool released;
                for (uint32_t q = 0; q < p.n_qis; q++)
                    levels[q] = q == a || q == b ? answer.levels[q] : p.domains[q]->tree->n_levels - 1;
                assert_true(recount(&p, levels, &released).n_suppressed <= p.task.max_suppressed);
            }
        kn_answer_free(&answer);
        n_refused += search(&answer, &p, "mu-argus", "finish=no") == KN_NOT_MET;
        kn_answer_free(&answer);
        free_problem(&p);
    }
    assert_true(n_refused > 0 && n_refused < 100);
}

/* mu-argus cell by cell, as its opening says it, on rows. */
typedef struct argus {
    const problem *p;
    uint32_t k, levels[8];
    uint32_t node[100][8]; /* [row][q] at the levels */
    bool star[100][8];
} argus;

static void argus_read(argus *a)
{
    for (uint32_t row = 0; row < a->p->tuples->n_rows; row++)
        for (uint32_t q = 0; q < a->p->n_qis; q++) {
            const uint32_t code = a->p->tuples->codes[q][a->p->tuples->row_tuple[row]];
            a->node[row][q] = a->p->domains[q]->tree->at_level[a->levels[q]][code];
        }
}

/* The columns of `set` have values in this row that fewer than k rows have. */
static bool argus_unsafe(const argus *a, uint32_t row, uint32_t set)
{
    uint32_t n = 0;
    for (uint32_t other = 0; other < a->p->tuples->n_rows; other++) {
        bool same = true;
        for (uint32_t q = 0; q < a->p->n_qis; q++)
            same = same && (!(set >> q & 1) || a->node[other][q] == a->node[row][q]);
        n += same;
    }
    return n < a->k;
}

static bool argus_is_combination(const argus *a, uint32_t set)
{
    const int n = __builtin_popcount(set);
    return n == 2 || n == 3 || (n == 1 && a->p->n_qis == 1);
}

static void argus_steps(argus *a)
{
    const uint32_t n_rows = a->p->tuples->n_rows, n_qis = a->p->n_qis;
    for (;;) {
        uint64_t of_column[8] = {0}, worst = 0;
        uint32_t column = KN_NONE;
        argus_read(a);
        for (uint32_t set = 1; set < 1u << n_qis; set++) {
            uint64_t n = 0;
            if (!argus_is_combination(a, set)) continue;
            for (uint32_t row = 0; row < n_rows; row++) n += argus_unsafe(a, row, set);
            worst = n > worst ? n : worst;
            for (uint32_t q = 0; q < n_qis; q++) of_column[q] += set >> q & 1 ? n : 0;
        }
        for (uint32_t q = 0; q < n_qis; q++)
            if (a->levels[q] + 1 < a->p->domains[q]->tree->n_levels &&
                of_column[q] > (column != KN_NONE ? of_column[column] : 0))
                column = q;
        if (worst <= a->p->task.max_suppressed || column == KN_NONE) return;
        a->levels[column]++;
    }
}

static void argus_stars(argus *a)
{
    memset(a->star, 0, sizeof a->star);
    for (uint32_t row = 0; row < a->p->tuples->n_rows; row++)
        for (;;) {
            uint32_t in[8] = {0}, column = KN_NONE;
            for (uint32_t set = 1; set < 1u << a->p->n_qis; set++) {
                bool stands = argus_is_combination(a, set);
                for (uint32_t q = 0; q < a->p->n_qis; q++) stands = stands && !(set >> q & 1 && a->star[row][q]);
                if (!stands || !argus_unsafe(a, row, set)) continue;
                for (uint32_t q = 0; q < a->p->n_qis; q++)
                    in[q] += set >> q & 1 && a->node[row][q] != a->p->domains[q]->tree->root;
            }
            for (uint32_t q = 0; q < a->p->n_qis; q++)
                if (in[q] > (column != KN_NONE ? in[column] : 0)) column = q;
            if (column == KN_NONE) break;
            a->star[row][column] = true;
        }
}

static uint32_t argus_cell(const argus *a, uint32_t row, uint32_t q)
{
    return a->star[row][q] ? a->p->domains[q]->tree->root : a->node[row][q];
}

/* Rows that are suppressed in the end: too few look alike, or nothing but stars is left of them. */
static uint32_t argus_suppressed(const argus *a, bool *suppressed)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < a->p->tuples->n_rows; row++) {
        uint32_t n_alike = 0;
        bool all = true, any_star = false;
        for (uint32_t other = 0; other < a->p->tuples->n_rows; other++) {
            bool same = true, stars = false;
            for (uint32_t q = 0; q < a->p->n_qis; q++) {
                same = same && argus_cell(a, row, q) == argus_cell(a, other, q);
                stars = stars || a->star[other][q];
            }
            n_alike += same;
            any_star = any_star || (same && stars);
        }
        for (uint32_t q = 0; q < a->p->n_qis; q++) all = all && argus_cell(a, row, q) == a->p->domains[q]->tree->root;
        suppressed[row] = n_alike < a->k || (all && any_star);
        n += suppressed[row];
    }
    return n;
}

static void mu_argus_suppresses_cell_by_cell(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    uint32_t n_stars = 0, n_finished = 0;
    for (int round = 0; round < 240; round++) {
        problem p;
        kn_answer answer;
        bool suppressed[100];
        const bool is_single = round % 4 == 0; /* all there is of a row may be suppressed */
        random_problem(&p, &rng, 30 + kn_rng_below(&rng, 60), is_single ? 1 : 2 + kn_rng_below(&rng, 4),
                       is_single ? 20 : 2 + kn_rng_below(&rng, 4), NO_PERSONS, false);
        set_goal(&p, "k-anonymity:k=3", "lm");
        p.task.max_suppressed = kn_rng_below(&rng, 25);
        argus a = {.p = &p, .k = 3};
        argus_steps(&a);
        for (;; n_finished++) {
            uint32_t column = KN_NONE, most = 0;
            argus_read(&a);
            argus_stars(&a);
            if (argus_suppressed(&a, suppressed) <= p.task.max_suppressed) break;
            for (uint32_t q = 0; q < p.n_qis; q++) { /* the column with most distinct values */
                const kn_tree *tree = p.domains[q]->tree;
                bool seen[256] = {false};
                uint32_t n = 0;
                for (uint32_t row = 0; row < p.tuples->n_rows; row++) {
                    n += !seen[a.node[row][q]];
                    seen[a.node[row][q]] = true;
                }
                if (a.levels[q] + 1 >= tree->n_levels || n <= most) continue;
                most = n;
                column = q;
            }
            assert_true(column != KN_NONE);
            a.levels[column]++;
        }
        assert_int_equal(search(&answer, &p, "mu-argus", "suppress=cells"), KN_OK);
        for (uint32_t row = 0; row < p.tuples->n_rows; row++) {
            const uint32_t class = answer.row_class[row];
            assert_int_equal(class == KN_NONE, suppressed[row]);
            for (uint32_t q = 0; q < p.n_qis && class != KN_NONE; q++) {
                n_stars += a.star[row][q];
                assert_int_equal(answer.cells[class * p.n_qis + q].id, argus_cell(&a, row, q));
            }
        }
        kn_answer_free(&answer);
        free_problem(&p);
    }

    assert_true(n_stars > 50 && n_finished > 20);
}

/* --- Failure --------------------------------------------------------------------------------------------------- */

static const char *const all_names[] = {"optimal", "mingen",   "samarati",        "incognito",
                                        "datafly", "mu-argus", "cell-suppression"};

/* Every allocation fails once, every tick cancels once: a status comes back, and no memory stays behind. */
static void searches_survive_failing_memory_and_cancelling(void **state)
{
    kn_rng rng = kn_rng_new(12, 0);
    for (int round = 0; round < 3; round++) {
        problem p;
        random_problem(&p, &rng, 25, 3, 4, round == 1, false);
        set_goal(&p, round == 2 ? "k-anonymity:k=2 l-diversity:l=2" : "k-anonymity:k=2", round == 1 ? "dm" : "lm");
        p.task.max_suppressed = 4;
        for (size_t a = 0; a < sizeof all_names / sizeof *all_names; a++) {
            kn_answer answer;
            if (search(&answer, &p, all_names[a], "") == KN_USAGE) continue; /* persons with several rows */
            kn_answer_free(&answer);
            size_t used = kn_memory_used();
            kn_status status = KN_RESOURCES;
            for (size_t nth = 1; status != KN_OK; nth++) {
                const kn_algorithm *algorithm = kn_algorithm_find(all_names[a]);
                kn_error err = {0};
                assert_true(nth < 100000);
                kn_memory_fail_at(nth);
                status = algorithm->search(&answer, &p.task, &err);
                kn_memory_fail_at(0);
                kn_answer_free(&answer);
                if (status != KN_OK && status != KN_RESOURCES) fail_msg("%s: status %d", all_names[a], status);
                assert_int_equal(kn_memory_used(), used);
            }
            status = KN_INTERRUPTED;
            for (size_t nth = 1; status != KN_OK; nth++) {
                kn_ticker ticker = {0};
                kn_error err = {0};
                atomic_store(&ticker.fail_at, nth);
                p.task.ticker = &ticker;
                status = kn_algorithm_find(all_names[a])->search(&answer, &p.task, &err);
                p.task.ticker = NULL;
                kn_answer_free(&answer);
                if (status != KN_OK && status != KN_INTERRUPTED) fail_msg("%s: status %d", all_names[a], status);
                assert_int_equal(kn_memory_used(), used);
            }
        }
        free_problem(&p);
    }
}

static kn_status search_as_if_huge(problem *p, uint64_t effort)
{
    kn_status status = KN_OK;
    kn_error own = {0}, *err = &own;
    kn_full_domain *domain = NULL;
    kn_ranking ranking = {0};
    kn_sweep_result result;
    KN_TRY(kn_full_domain_new(&domain, &p->task, 0, err));
    KN_TRY(kn_ranking_new(&ranking, 2, p->n_qis, err));
    KN_TRY(kn_huge_lattice(&result, &ranking, domain, effort, err));
    if (result.stopped == KN_STOPPED_INTERRUPT) assert_true(ranking.n > 0);
done:
    kn_ranking_free(&ranking);
    kn_full_domain_free(domain);
    return status;
}

/* Limits of levels leave no feasible node. The most general one tells, or else the columns alone do. */
static void where_nothing_is_feasible_a_huge_lattice_is_left_at_once(void **state)
{
    static const char *const measures[] = {"lm", "dm"};
    kn_rng rng = kn_rng_new(36, 0);
    problem p;
    random_problem(&p, &rng, 200, 8, 6, NO_PERSONS, false);
    for (uint32_t q = 0; q < p.n_qis; q++) p.domains[q]->max_level = p.domains[q]->min_level;
    p.domains[0]->max_level = p.domains[0]->tree->n_levels - 1;
    p.task.max_suppressed = 0;
    for (int m = 0; m < 2; m++) {
        kn_full_domain *domain;
        kn_ranking ranking;
        kn_sweep_result result;
        set_goal(&p, "k-anonymity:k=50", measures[m]);
        assert_ok(kn_full_domain_new(&domain, &p.task, 0, err));
        assert_ok(kn_ranking_new(&ranking, 1, p.n_qis, err));
        assert_ok(kn_huge_lattice(&result, &ranking, domain, 0, err));
        assert_true(result.complete && ranking.n == 0 && result.n_nodes == 1);
        kn_ranking_free(&ranking);
        kn_full_domain_free(domain);
    }
    free_problem(&p);
}

static void huge_lattices_survive_failing_memory_and_cancelling(void **state)
{
    kn_rng rng = kn_rng_new(24, 0);
    problem p;
    random_problem(&p, &rng, 40, 5, 4, NO_PERSONS, false);
    set_goal(&p, "k-anonymity:k=2", "lm");
    p.task.max_suppressed = 4;
    size_t used = kn_memory_used();
    kn_status status = KN_RESOURCES;
    for (size_t nth = 1; status != KN_OK; nth += 1 + nth / 50) {
        assert_true(nth < 10000000);
        kn_memory_fail_at(nth);
        status = search_as_if_huge(&p, 1000000);
        kn_memory_fail_at(0);
        assert_true(status == KN_OK || status == KN_RESOURCES);
        assert_int_equal(kn_memory_used(), used);
    }
    status = KN_INTERRUPTED;
    for (size_t nth = 1; status != KN_OK; nth++) {
        kn_ticker ticker = {0};
        atomic_store(&ticker.fail_at, nth);
        p.task.ticker = &ticker;
        status = search_as_if_huge(&p, 1000000);
        assert_true(status == KN_OK || status == KN_INTERRUPTED);
        assert_int_equal(kn_memory_used(), used);
    }
    volatile int cancel = 1; /* at once: the best so far is the answer */
    kn_ticker ticker = {.cancel = &cancel};
    p.task.ticker = &ticker;
    assert_int_equal(search_as_if_huge(&p, 1000000), KN_INTERRUPTED); /* there is none yet */
    p.task.ticker = NULL;
    free_problem(&p);
}

static void a_deadline_returns_the_best_so_far(void **state)
{
    kn_rng rng = kn_rng_new(13, 0);
    problem p;
    kn_answer answer, best;
    kn_ticker ticker = {.search_deadline = 1e-9};
    random_problem(&p, &rng, 60, 4, 6, false, false);
    set_goal(&p, "k-anonymity:k=2", "lm");
    p.task.max_suppressed = 5;
    assert_int_equal(search(&best, &p, "optimal", ""), KN_OK);
    p.task.ticker = &ticker;
    assert_int_equal(search(&answer, &p, "optimal", ""), KN_OK);
    assert_int_equal(answer.stopped, KN_STOPPED_TIME);
    assert_false(answer.optimal);
    assert_true(answer.bound <= best.bound && loss_of(&p, &answer) >= best.bound - 1e-12);
    p.task.ticker = NULL;
    kn_answer_free(&answer);
    kn_answer_free(&best);
    free_problem(&p);
}

/* --- Real data ------------------------------------------------------------------------------------------------- */

/* `columns`: names in QI order; the hierarchy of column c is <folder>/hierarchies/c.csv. The test is skipped without
 * KANON_DATA. */
static void real_problem(problem *p, const char *file, const char *folder, const char *const *columns, uint32_t n_qis)
{
    const char *data = getenv("KANON_DATA");
    char path[4096];
    kn_csv_reader *reader;
    kn_column_plan plans[64] = {{0}};
    if (data == NULL) {
        print_message("KANON_DATA is not set\n");
        skip();
    }
    *p = (problem){.n_qis = n_qis};
    snprintf(path, sizeof path, "%s/%s/%s", data, folder, file);
    assert_ok(kn_csv_open(&reader, path, &(kn_csv_options){0}, err));
    for (uint32_t c = 0; c < kn_csv_n_columns(reader); c++) {
        plans[c].role = KN_ROLE_DROPPED;
        for (uint32_t q = 0; q < n_qis; q++)
            if (strcmp(kn_csv_column_name(reader, c), columns[q]) == 0) plans[c].role = KN_ROLE_QUASI;
    }
    assert_ok(kn_csv_read(&p->table, reader, plans, NULL, NULL, err));
    kn_csv_close(reader);
    for (uint32_t q = 0; q < n_qis; q++) {
        const char *name = strcmp(columns[q], "income") == 0 ? "salary-class" : columns[q];
        snprintf(path, sizeof path, "%s/%s/hierarchies/%s.csv", data, folder, name);
        kn_hierarchy_request request = {.spec = path, .must_be_tree = true, .weight = 1, .max_level = KN_NONE};
        kn_column *column = &p->table->columns[kn_table_find(p->table, columns[q])];
        assert_ok(kn_domain_build(&p->domains[q], column, file, p->table->n_rows, &request, err));
    }
    assert_ok(kn_tuples_new(&p->tuples, p->table, p->domains, n_qis, NULL, NULL, err));
    p->task = (kn_task){.tuples = p->tuples};
}

static void free_real(problem *p)
{
    kn_table *table = p->table;
    p->table = NULL;
    kn_models_free(p->models);
    kn_objective_free(p->objective);
    kn_tuples_free(p->tuples);
    for (uint32_t q = 0; q < p->n_qis; q++) kn_domain_free(p->domains[q]);
    kn_args_free(&p->args);
    kn_table_free(table);
}

static void random_nodes_of_adult_match_the_release_that_recoding_makes(void **state)
{
    static const char *const columns[] = {
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "income"};
    static const char *const measures[] = {"lm", "dm", "non-uniform-entropy"};
    problem p;
    kn_rng rng = kn_rng_new(11, 0);
    real_problem(&p, "adult_30162.csv", "adult", columns, 9);
    for (int m = 0; m < 3; m++) {
        kn_full_domain *domain;
        kn_evaluator *evaluator;
        set_goal(&p, "k-anonymity:k=5", measures[m]);
        assert_ok(kn_full_domain_new(&domain, &p.task, 9, err));
        assert_ok(kn_evaluator_new(&evaluator, domain, err));
        for (int i = 0; i < 10; i++) {
            uint32_t levels[16];
            kn_node node;
            kn_release *release;
            double loss;
            for (uint32_t q = 0; q < p.n_qis; q++) levels[q] = kn_rng_below(&rng, p.domains[q]->tree->n_levels);
            kn_answer answer = {.recoding = KN_RECODING_LEVELS, .levels = levels};
            p.task.max_suppressed = p.tuples->n_rows;
            assert_ok(kn_evaluate_levels(&node, evaluator, levels, err));
            assert_ok(kn_recode(&release, &answer, &p.task, err));
            assert_ok(kn_objective_loss(&loss, p.objective, release, err));
            assert_int_equal(release->n_suppressed, node.n_suppressed);
            assert_true(fabs(loss - node.loss) <= 1e-9 * fabs(loss) + 1e-12);
            kn_release_free(release);
        }
        kn_evaluator_free(evaluator);
        kn_full_domain_free(domain);
    }
    free_real(&p);
}

static void the_known_optima_of_fars_are_found(void **state)
{
    static const char *const columns[] = {"iage", "irace",     "ideathmon", "ideathday",
                                          "isex", "ihispanic", "istatenum", "iinjury"};
    static const struct {
        const char *models;
        double share, loss;
        uint32_t levels[8];
    } known[] = {{"k-anonymity:k=5", 0, 142377891, {1, 2, 3, 3, 1, 2, 1, 2}},
                 {"k-anonymity:k=100", 0.04, 162555377, {0, 2, 3, 3, 0, 2, 3, 2}}};
    problem p;
    real_problem(&p, "fars.csv", "fars", columns, 8);
    for (int i = 0; i < 2; i++) {
        kn_answer answer;
        set_goal(&p, known[i].models, "dm");
        p.task.max_suppressed = (uint64_t)(known[i].share * p.tuples->n_rows);
        assert_int_equal(search(&answer, &p, "optimal", ""), KN_OK);
        assert_memory_equal(answer.levels, known[i].levels, sizeof known[i].levels);
        assert_true(answer.optimal && answer.bound == known[i].loss);
        kn_answer_free(&answer);
    }
    free_real(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_matches_a_recount_of_the_rows),
        cmocka_unit_test(every_node_of_every_bundle_matches_a_recount),
        cmocka_unit_test(bundles_of_many_rows_give_the_same_nodes_as_classes_one_by_one),
        cmocka_unit_test(a_base_of_many_tuples_gives_the_same_nodes_as_classes_one_by_one),
        cmocka_unit_test(bundles_carry_several_sensitive_columns),
        cmocka_unit_test(large_roll_ups_are_the_same_in_one_step_in_many_and_on_threads),
        cmocka_unit_test(exact_searches_find_the_best_node),
        cmocka_unit_test(exact_searches_agree_where_classes_are_many),
        cmocka_unit_test(two_columns_of_many_values_give_the_same_on_any_number_of_threads),
        cmocka_unit_test(where_nothing_is_feasible_a_huge_lattice_is_left_at_once),
        cmocka_unit_test(the_bound_of_a_huge_lattice_is_true_at_any_time),
        cmocka_unit_test(some_columns_cost_at_least_what_trying_all_their_levels_says),
        cmocka_unit_test(a_narrowed_lattice_has_all_feasible_nodes),
        cmocka_unit_test(every_way_to_hold_groups_gives_the_same_groups),
        cmocka_unit_test(every_measure_of_the_table_of_nodes_matches_a_recount),
        cmocka_unit_test(the_table_of_nodes_prices_sensitive_values_of_any_number),
        cmocka_unit_test(columns_of_many_values_are_priced_by_sensitive_value_too),
        cmocka_unit_test(the_table_of_nodes_prices_wildcards_as_they_are_released),
        cmocka_unit_test(under_models_of_sensitive_values_the_table_of_nodes_takes_one_pass),
        cmocka_unit_test(batches_of_many_nodes_give_the_same_figures_as_batches_of_one),
        cmocka_unit_test(the_table_of_nodes_survives_failing_memory),
        cmocka_unit_test(nodes_behind_an_allowed_one_are_not_locally_minimal),
        cmocka_unit_test(the_table_of_nodes_is_the_same_for_any_threads_and_memory),
        cmocka_unit_test(the_best_nodes_are_listed_and_an_early_end_has_a_true_bound),
        cmocka_unit_test(the_survey_s_table_gives_the_survey_s_answers),
        cmocka_unit_test(lefevre_s_patients_have_three_minimal_generalizations),
        cmocka_unit_test(minimal_nodes_and_preferences_follow_their_definition),
        cmocka_unit_test(samarati_finds_the_same_node_where_the_lattice_does_not_fit),
        cmocka_unit_test(suppressing_cells_costs_no_more_than_suppressing_rows),
        cmocka_unit_test(mu_argus_is_finished_or_refused),
        cmocka_unit_test(mu_argus_suppresses_cell_by_cell),
        cmocka_unit_test(samarati_prices_the_releases_of_the_least_height_only),
        cmocka_unit_test(datafly_generalizes_the_widest_column_until_few_are_outliers),
        cmocka_unit_test(searches_survive_failing_memory_and_cancelling),
        cmocka_unit_test(huge_lattices_survive_failing_memory_and_cancelling),
        cmocka_unit_test(a_deadline_returns_the_best_so_far),
        cmocka_unit_test(random_nodes_of_adult_match_the_release_that_recoding_makes),
        cmocka_unit_test(the_known_optima_of_fars_are_found),
    };
    return cmocka_run_group_tests_name("lattice", tests, NULL, NULL);
}
