/* measure/: every measure against its definition, computed row by row; the papers' printed examples; monotonicity. */
#include "release_support.h"

#include "measure/measure.h"
#include "classes/release_overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double loss_of(const char *spec, const test_case *c, const kn_release *release)
{
    kn_objective *objective;
    double loss;
    assert_ok(kn_objective_new(&objective, spec, c->tuples, err));
    assert_ok(kn_objective_loss(&loss, objective, release, err));
    kn_objective_free(objective);
    return loss;
}

static void assert_near(double a, double b, const char *what)
{
    if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b)))) fail_msg("%s: %.15g is not %.15g", what, a, b);
}

static void assert_printed(double value, double printed, double unit)
{
    if (!(fabs(value - printed) <= unit)) fail_msg("%.9g is not the printed %g", value, printed);
}

/* --- Definitions, the dumbest way ------------------------------------------------------------------------------- */

static uint32_t code_of(const test_case *c, uint32_t row, uint32_t q)
{
    return c->tuples->codes[q][c->tuples->row_tuple[row]];
}

static uint32_t secret_of(const test_case *c, uint32_t row)
{
    const kn_column *column = &c->table->columns[c->n_qis];
    return kn_column_value(column, kn_column_code(column, row));
}

/* Whether the cell released for `row` in column q covers `code`. */
static bool covers(const test_case *c, const kn_release *r, uint32_t row, uint32_t q, uint32_t code)
{
    if (r->row_class[row] == KN_NONE) return true;
    return kn_cell_covers(&r->cells[r->row_class[row] * c->n_qis + q], c->domains[q], r->sets, code);
}

static double covered_values(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    double n = 0;
    for (uint32_t code = 0; code < c->domains[q]->n_codes; code++) n += covers(c, r, row, q, code);
    return n;
}

static double covered_rows(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    double n = 0;
    for (uint32_t other = 0; other < c->tuples->n_rows; other++) n += covers(c, r, row, q, code_of(c, other, q));
    return n;
}

static double rows_with(const test_case *c, uint32_t q, uint32_t code)
{
    double n = 0;
    for (uint32_t row = 0; row < c->tuples->n_rows; row++) n += code_of(c, row, q) == code;
    return n;
}

static double slow_lm(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    double domain = c->domains[q]->n_codes;
    return domain > 1 ? (covered_values(c, r, row, q) - 1) / (domain - 1) : 0;
}

/* The lowest level at which the row's own value reaches the released cell. */
static double slow_tree(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    const kn_domain *domain = c->domains[q];
    if (domain->kind != KN_DOMAIN_TREE) return covered_values(c, r, row, q) > 1;
    double height = domain->tree->level[domain->tree->root];
    if (height == 0) return 0;
    kn_cell root = kn_domain_root(domain);
    uint32_t k = r->row_class[row], node = k == KN_NONE ? root.id : r->cells[k * c->n_qis + q].id, level = 0;
    if (node == root.id) return 1;
    while (domain->tree->at_level[level][code_of(c, row, q)] != node) level++;
    return level / height;
}

static double slow_hybrid(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    return c->domains[q]->column->type == KN_TYPE_TEXT ? slow_tree(c, r, row, q) : slow_lm(c, r, row, q);
}

static double slow_entropy(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    double entropy = 0, rows = covered_rows(c, r, row, q);
    for (uint32_t code = 0; code < c->domains[q]->n_codes; code++) {
        double p = covers(c, r, row, q, code) ? rows_with(c, q, code) / rows : 0;
        if (p > 0) entropy -= p * log2(p);
    }
    return entropy;
}

static double slow_monotone_entropy(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    return covered_rows(c, r, row, q) / c->tuples->n_rows * slow_entropy(c, r, row, q);
}

static double slow_non_uniform(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    return -log2(rows_with(c, q, code_of(c, row, q)) / covered_rows(c, r, row, q));
}

/* -log Pr(Y = the row's | X in the row's cell) */
static double slow_pmi(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    double both = 0;
    for (uint32_t other = 0; other < c->tuples->n_rows; other++)
        both += covers(c, r, row, q, code_of(c, other, q)) && secret_of(c, other) == secret_of(c, row);
    return -log2(both / covered_rows(c, r, row, q));
}

static double slow_star(const test_case *c, const kn_release *r, uint32_t row, uint32_t q)
{
    const kn_domain *domain = c->domains[q];
    if (domain->n_codes == 1) /* a domain of one value has nothing to lose, unless the tree has a root above it */
        return domain->kind == KN_DOMAIN_TREE && domain->tree->n_nodes > 1 &&
               (r->row_class[row] == KN_NONE || r->cells[r->row_class[row] * c->n_qis + q].id == domain->tree->root);
    if (domain->kind == KN_DOMAIN_TREE && r->row_class[row] != KN_NONE)
        return r->cells[r->row_class[row] * c->n_qis + q].id == domain->tree->root;
    return covered_values(c, r, row, q) == domain->n_codes;
}

typedef double (*slow_cell)(const test_case *c, const kn_release *r, uint32_t row, uint32_t q);

static double mean_over_cells(const test_case *c, const kn_release *r, slow_cell price, uint32_t only_q)
{
    double sum = 0, weights = 0;
    for (uint32_t q = 0; q < c->n_qis; q++) {
        if (only_q != KN_NONE && q != only_q) continue;
        weights += c->domains[q]->weight;
        for (uint32_t row = 0; row < c->tuples->n_rows; row++) sum += c->domains[q]->weight * price(c, r, row, q);
    }
    return sum / weights / c->tuples->n_rows;
}

static const struct {
    const char *name;
    slow_cell price;
} cell_measures[] = {
    {"lm", slow_lm},
    {"tree", slow_tree},
    {"hybrid", slow_hybrid},
    {"entropy", slow_entropy},
    {"monotone-entropy", slow_monotone_entropy},
    {"non-uniform-entropy", slow_non_uniform},
    {"mi", slow_non_uniform},
};

/* Rows of the row's class that have sensitive value v (KN_NONE: any). */
static double class_rows(const test_case *c, const kn_release *r, uint32_t k, uint32_t v)
{
    double n = 0;
    for (uint32_t row = 0; row < c->tuples->n_rows; row++)
        n += r->row_class[row] == k && (v == KN_NONE || secret_of(c, row) == v);
    return n;
}

static double slow_dm(const test_case *c, const kn_release *r)
{
    double sum = 0, n = c->tuples->n_rows;
    for (uint32_t row = 0; row < n; row++)
        sum += r->row_class[row] == KN_NONE ? n : class_rows(c, r, r->row_class[row], KN_NONE);
    return sum;
}

static double slow_cm(const test_case *c, const kn_release *r)
{
    double sum = r->n_suppressed;
    for (uint32_t k = 0; k < r->n_classes; k++) {
        double largest = 0;
        for (uint32_t v = 0; v < 10; v++) largest = fmax(largest, class_rows(c, r, k, v));
        sum += class_rows(c, r, k, KN_NONE) - largest;
    }
    return sum;
}

static double slow_am(const test_case *c, const kn_release *r)
{
    double sum = 0;
    for (uint32_t row = 0; row < c->tuples->n_rows; row++) {
        double product = 1;
        for (uint32_t q = 0; q < c->n_qis; q++) product *= covered_values(c, r, row, q);
        sum += product;
    }
    return sum / c->tuples->n_rows;
}

static double entropy_of_secret(const test_case *c, const kn_release *r, uint32_t k)
{
    double entropy = 0;
    for (uint32_t v = 0; v < 10; v++) {
        double n = 0, all = 0;
        for (uint32_t row = 0; row < c->tuples->n_rows; row++)
            if (k == KN_NONE || r->row_class[row] == k) {
                all++;
                n += secret_of(c, row) == v;
            }
        if (n > 0) entropy -= n / all * log2(n / all);
    }
    return entropy;
}

static double slow_diversity(const test_case *c, const kn_release *r)
{
    double sum = 0, n = r->n_classes;
    for (uint32_t k = 0; k < r->n_classes; k++) sum += entropy_of_secret(c, r, k);
    if (r->n_suppressed > 0) {
        sum += entropy_of_secret(c, r, KN_NONE);
        n++;
    }
    return sum / n;
}

/* Each row is spread over all tuples that its cells cover. */
static double slow_kl(const test_case *c, const kn_release *r)
{
    double sum = 0, n = c->tuples->n_rows;
    for (uint32_t row = 0; row < n; row++) {
        double original = 0, released = 0;
        for (uint32_t other = 0; other < n; other++) {
            double density = 1, same = 1;
            for (uint32_t q = 0; q < c->n_qis; q++) {
                same *= code_of(c, other, q) == code_of(c, row, q);
                density *= covers(c, r, other, q, code_of(c, row, q)) / covered_values(c, r, other, q);
            }
            original += same / n;
            released += density / n;
        }
        sum += log2(original / released) / n;
    }
    return sum;
}

static double information(const test_case *c, const kn_release *r, uint32_t q)
{
    return entropy_of_secret(c, r, KN_NONE) - mean_over_cells(c, r, slow_pmi, q);
}

static double slow_pmi_l2(const test_case *c, const kn_release *r)
{
    double square = 0, weights = 0, weight_square = 0;
    for (uint32_t q = 0; q < c->n_qis; q++) {
        double w = c->domains[q]->weight;
        square += pow(w * information(c, r, q), 2);
        weights += w;
        weight_square += w * w;
    }
    return entropy_of_secret(c, r, KN_NONE) * sqrt(weight_square) / weights - sqrt(square) / weights;
}

static double slow_pmi_max(const test_case *c, const kn_release *r)
{
    double best = -INFINITY, largest = 0;
    for (uint32_t q = 0; q < c->n_qis; q++) {
        best = fmax(best, c->domains[q]->weight * information(c, r, q));
        largest = fmax(largest, c->domains[q]->weight);
    }
    return entropy_of_secret(c, r, KN_NONE) - best / largest;
}

static void check_all(const test_case *c, const kn_release *r)
{
    for (size_t i = 0; i < sizeof cell_measures / sizeof *cell_measures; i++)
        assert_near(loss_of(cell_measures[i].name, c, r), mean_over_cells(c, r, cell_measures[i].price, KN_NONE),
                    cell_measures[i].name);
    double stars = 0, pmi = mean_over_cells(c, r, slow_pmi, KN_NONE), mi = loss_of("mi", c, r);
    for (uint32_t row = 0; row < c->tuples->n_rows; row++)
        for (uint32_t q = 0; q < c->n_qis; q++) stars += slow_star(c, r, row, q);
    assert_near(loss_of("suppressed-cells", c, r), stars, "suppressed-cells");
    assert_near(loss_of("suppressed-rows", c, r), r->n_suppressed, "suppressed-rows");
    assert_near(loss_of("precision", c, r), 1 - loss_of("tree", c, r), "precision");
    assert_near(loss_of("dm", c, r), slow_dm(c, r), "dm");
    assert_near(loss_of("cm", c, r), slow_cm(c, r), "cm");
    assert_near(loss_of("am", c, r), slow_am(c, r), "am");
    assert_near(loss_of("average-class", c, r), (double)c->tuples->n_rows / fmax(1, r->n_classes), "average-class");
    assert_near(loss_of("average-diversity", c, r), slow_diversity(c, r), "average-diversity");
    assert_near(loss_of("kl", c, r), slow_kl(c, r), "kl");
    assert_near(loss_of("pmi", c, r), pmi, "pmi");
    assert_near(loss_of("pmi-l2", c, r), slow_pmi_l2(c, r), "pmi-l2");
    assert_near(loss_of("pmi-max", c, r), slow_pmi_max(c, r), "pmi-max");
    assert_near(loss_of("weighted-mi", c, r), (mi + pmi) / 2, "weighted-mi");
    assert_near(loss_of("weighted-mi:w=0.25", c, r), 0.25 * mi + 0.75 * pmi, "weighted-mi:w=0.25");
}

static void every_measure_is_what_its_definition_says(void **state)
{
    kn_rng rng = kn_rng_new(4, 0);
    for (int round = 0; round < 3000; round++) {
        test_case c = test_case_random(&rng, 12);
        kn_release *release = test_release_random(&rng, &c, round % 2);
        check_all(&c, release);
        kn_release_free(release);
        test_case_free(&c);
    }
}

static void a_release_without_generalization_costs_nothing(void **state)
{
    kn_rng rng = kn_rng_new(5, 0);
    static const char *const free_of_charge[] = {"lm",
                                                 "tree",
                                                 "hybrid",
                                                 "entropy",
                                                 "monotone-entropy",
                                                 "mi",
                                                 "non-uniform-entropy",
                                                 "suppressed-cells",
                                                 "suppressed-rows"};
    for (int round = 0; round < 300; round++) {
        test_case c = test_case_random(&rng, 12);
        kn_release *release = test_release(&c, c.tuples->row_tuple, c.tuples->n_tuples);
        for (size_t i = 0; i < sizeof free_of_charge / sizeof *free_of_charge; i++)
            if (loss_of(free_of_charge[i], &c, release) != 0) fail_msg("%s is not exactly 0", free_of_charge[i]);
        assert_near(loss_of("kl", &c, release), 0, "kl");
        assert_near(loss_of("precision", &c, release), 1, "precision");
        kn_release_free(release);
        test_case_free(&c);
    }
}

static void column_losses_add_up_to_the_loss(void **state)
{
    kn_rng rng = kn_rng_new(6, 0);
    for (int round = 0; round < 300; round++) {
        test_case c = test_case_random(&rng, 12);
        kn_release *release = test_release_random(&rng, &c, true);
        for (size_t i = 0; i < sizeof cell_measures / sizeof *cell_measures; i++) {
            kn_objective *objective;
            double sum = 0, weights = 0;
            assert_ok(kn_objective_new(&objective, cell_measures[i].name, c.tuples, err));
            for (uint32_t q = 0; q < c.n_qis; q++) {
                double column;
                assert_ok(kn_objective_column_loss(&column, objective, release, q, err));
                assert_near(column, mean_over_cells(&c, release, cell_measures[i].price, q), cell_measures[i].name);
                sum += c.domains[q]->weight * column;
                weights += c.domains[q]->weight;
            }
            assert_near(loss_of(cell_measures[i].name, &c, release), sum / weights, cell_measures[i].name);
            kn_objective_free(objective);
        }
        kn_release_free(release);
        test_case_free(&c);
    }
}

static void a_column_s_loss_is_no_number_only_with_an_error(void **state)
{
    kn_rng rng = kn_rng_new(61, 0);
    test_case c = test_case_random(&rng, 12);
    kn_release *release = test_release_random(&rng, &c, true);
    size_t n_failed = 0;
    for (size_t i = 0; i < sizeof cell_measures / sizeof *cell_measures; i++) {
        kn_objective *objective;
        double expected, loss;
        assert_ok(kn_objective_new(&objective, cell_measures[i].name, c.tuples, err));
        assert_ok(kn_objective_column_loss(&expected, objective, release, 0, err));
        kn_memory_fail_at(1);
        kn_status status = kn_objective_column_loss(&loss, objective, release, 0, NULL);
        kn_memory_fail_at(0);
        if (status == KN_OK) assert_float_equal(loss, expected, 0);
        else assert_int_equal(status, KN_RESOURCES);
        n_failed += status != KN_OK;
        kn_objective_free(objective);
    }
    assert_true(n_failed > 0);
    kn_release_free(release);
    test_case_free(&c);
}

static void prices_of_an_objective_add_up_to_the_loss(void **state)
{
    kn_rng rng = kn_rng_new(7, 0);
    for (int round = 0; round < 300; round++) {
        test_case c = test_case_random(&rng, 12);
        kn_release *release = test_release_random(&rng, &c, true);
        for (size_t i = 0; i < sizeof cell_measures / sizeof *cell_measures; i++) {
            kn_objective *objective;
            double sum = 0, loss;
            assert_ok(kn_objective_new(&objective, cell_measures[i].name, c.tuples, err));
            for (uint32_t row = 0; row < c.tuples->n_rows; row++)
                for (uint32_t q = 0; q < c.n_qis; q++) {
                    uint32_t k = release->row_class[row];
                    sum += k == KN_NONE
                               ? objective->root_price[q]
                               : kn_objective_price(objective, release->sets, q, &release->cells[k * c.n_qis + q]);
                }
            assert_ok(kn_objective_loss(&loss, objective, release, err));
            assert_near((sum - objective->discount) * objective->scale, loss, cell_measures[i].name);
            kn_objective_free(objective);
        }
        kn_release_free(release);
        test_case_free(&c);
    }
}

static bool cover_a_common_tuple(const test_case *c, const kn_release *r, uint32_t a, uint32_t b)
{
    for (uint32_t q = 0; q < c->n_qis; q++) {
        uint32_t n_common = 0;
        for (uint32_t code = 0; code < c->domains[q]->n_codes; code++)
            n_common += kn_cell_covers(&r->cells[a * c->n_qis + q], c->domains[q], r->sets, code) &&
                        kn_cell_covers(&r->cells[b * c->n_qis + q], c->domains[q], r->sets, code);
        if (n_common == 0) return false;
    }
    return true;
}

static void classes_that_overlap_are_found(void **state)
{
    kn_rng rng = kn_rng_new(14, 0);
    unsigned n_overlapping = 0, n_apart = 0;
    for (int round = 0; round < 2000; round++) {
        test_case c = test_case_random(&rng, 100);
        kn_release *r = round % 2 ? test_release_global(&rng, &c) : test_release_random(&rng, &c, false);
        bool expected = false, overlaps;
        for (uint32_t a = 0; a < r->n_classes; a++)
            for (uint32_t b = 0; b < a; b++) expected = expected || cover_a_common_tuple(&c, r, a, b);
        assert_ok(kn_release_overlaps(&overlaps, r, NULL, err));
        assert_true(overlaps == expected);
        n_overlapping += expected;
        n_apart += !expected && r->n_classes > 16;
        kn_release_free(r);
        test_case_free(&c);
    }
    assert_true(n_overlapping > 100 && n_apart > 50);
}

/* Forty single values in a row, one of them joined with its neighbour's: wherever the tree of classes is cut in two. */
static void two_neighbours_that_overlap_are_found(void **state)
{
    enum { N = 40 };
    kn_domain domain = {.kind = KN_DOMAIN_RANGES, .n_codes = N, .missing = KN_NONE}, *domains[] = {&domain};
    kn_tuples tuples = {.n_qis = 1, .domains = domains};
    kn_cell cells[N];
    kn_release release = {.tuples = &tuples, .n_classes = N, .cells = cells};
    bool overlaps;
    for (uint32_t wide = 0; wide < N; wide++) {
        for (uint32_t c = 0; c < N; c++) cells[c] = (kn_cell){c, c == wide && c + 1 < N ? c + 1 : c, KN_NONE};
        assert_ok(kn_release_overlaps(&overlaps, &release, NULL, err));
        assert_true(overlaps == (wide + 1 < N));
    }
}

static void kl_is_the_same_whether_classes_are_known_to_be_apart_or_not(void **state)
{
    kn_rng rng = kn_rng_new(15, 0);
    for (int round = 0; round < 1000; round++) {
        test_case c = test_case_random(&rng, 20);
        kn_release *r = test_release_global(&rng, &c);
        double fast = loss_of("kl", &c, r);
        assert_near(fast, slow_kl(&c, r), "kl");
        uint32_t *row_class = r->row_class;
        r->row_class = NULL; /* as when read from files */
        assert_near(loss_of("kl", &c, r), fast, "kl");
        r->row_class = row_class;
        kn_release_free(r);
        test_case_free(&c);
    }
}

/* --- Monotonicity ------------------------------------------------------------------------------------------------ */

static void monotone_measures_never_fall_and_the_others_are_seen_to(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    unsigned n_falls[64] = {0};
    for (int round = 0; round < 20000; round++) {
        test_case c = test_case_random(&rng, 20);
        kn_release *fine = test_release_random(&rng, &c, true);
        kn_release *coarse = test_release_coarser(&rng, &c, fine, true);
        for (size_t i = 0; i < n; i++) {
            double sign = all[i]->higher_is_better ? -1 : 1;
            double before = sign * loss_of(all[i]->name, &c, fine), after = sign * loss_of(all[i]->name, &c, coarse);
            if (after >= before - 1e-9 * (1 + fabs(before))) continue;
            n_falls[i]++;
            if (all[i]->monotone) fail_msg("%s fell from %g to %g", all[i]->name, before, after);
        }
        kn_release_free(fine);
        kn_release_free(coarse);
        test_case_free(&c);
    }
    for (size_t i = 0; i < n; i++)
        if (!all[i]->monotone && n_falls[i] == 0) fail_msg("%s was not seen to fall", all[i]->name);
}

static void entropy_equals_non_uniform_entropy_under_global_recoding(void **state)
{
    kn_rng rng = kn_rng_new(9, 0);
    unsigned n_differ = 0;
    for (int round = 0; round < 1000; round++) {
        test_case c = test_case_random(&rng, 14);
        kn_release *global = test_release_global(&rng, &c), *local = test_release_random(&rng, &c, false);
        assert_near(loss_of("entropy", &c, global), loss_of("non-uniform-entropy", &c, global), "Lemma 4.13");
        n_differ += fabs(loss_of("entropy", &c, local) - loss_of("non-uniform-entropy", &c, local)) > 1e-6;
        kn_release_free(global);
        kn_release_free(local);
        test_case_free(&c);
    }
    assert_true(n_differ > 100); /* and not otherwise */
}

static void pmi_and_kl_are_monotone_under_global_recoding(void **state)
{
    kn_rng rng = kn_rng_new(10, 0);
    for (int round = 0; round < 1000; round++) {
        test_case c = test_case_random(&rng, 14);
        kn_release *global = test_release_global(&rng, &c);
        kn_release *original = test_release(&c, c.tuples->row_tuple, c.tuples->n_tuples);
        static const char *const names[] = {"pmi", "kl", "pmi-max"};
        for (int i = 0; i < 3; i++)
            assert_true(loss_of(names[i], &c, original) <= loss_of(names[i], &c, global) + 1e-9);
        kn_release_free(global);
        kn_release_free(original);
        test_case_free(&c);
    }
}

/* --- Printed examples -------------------------------------------------------------------------------------------- */

/* One column with `n[i]` rows of value i (and a sensitive column that does not matter); tree as given. */
static test_case one_column(const uint32_t *n, uint32_t n_values, const char *tree)
{
    uint32_t n_rows = 0, row = 0;
    for (uint32_t i = 0; i < n_values; i++) n_rows += n[i];
    int *cells = kn_array_alloc((size_t)n_rows * 2, sizeof *cells, NULL);
    for (uint32_t i = 0; i < n_values; i++)
        for (uint32_t j = 0; j < n[i]; j++) cells[2 * row++] = (int)i + 1;
    test_case c = test_case_new(test_table(n_rows, 2, cells), 1);
    c.domains[0] = tree != NULL ? test_domain(c.table, 0, tree) : test_suppress_domain(c.table, 0);
    test_case_finish(&c);
    kn_free(cells);
    return c;
}

static double price_of(const char *name, const test_case *c, uint32_t first, uint32_t last)
{
    kn_objective *objective;
    kn_set_pool *sets;
    uint32_t codes[2] = {first, last};
    kn_cell cell;
    assert_ok(kn_objective_new(&objective, name, c->tuples, err));
    assert_ok(kn_set_pool_new(&sets, err));
    assert_ok(kn_domain_closure(&cell, c->domains[0], sets, codes, 2, err));
    double price = kn_objective_price(objective, sets, 0, &cell);
    kn_set_pool_free(sets);
    kn_objective_free(objective);
    return price;
}

static double h(double p) { return p > 0 ? -p * log2(p) : 0; }

static void gt_example_4_2_the_tree_measure_cannot_tell_the_columns_apart(void **state)
{
    const char *cells[] = {"M", "41278", "x", "M", "98705", "x", "F", "41278", "x", "F", "98705", "x"};
    test_case c = test_case_new(test_text_table(4, 3, cells), 1);
    for (uint32_t q = 0; q < 2; q++) c.domains[q] = test_suppress_domain(c.table, q);
    test_case_finish(&c);
    kn_release *g1 = test_release(&c, (uint32_t[]){0, 1, 0, 1}, 2), *g2 = test_release(&c, (uint32_t[]){0, 0, 1, 1}, 2);
    assert_near(loss_of("tree", &c, g1) * 8, 4, "four cells are suppressed");
    assert_near(loss_of("tree", &c, g2), loss_of("tree", &c, g1), "tree");
    assert_near(loss_of("suppressed-cells", &c, g1), 4, "suppressed-cells");
    kn_release_free(g1);
    kn_release_free(g2);
    test_case_free(&c);
}

static void gt_example_4_3_a_skewed_group_costs_less(void **state)
{
    const uint32_t n[] = {10, 10, 10, 98, 1, 1};
    test_case c = one_column(n, 6,
                             "1;education;*\n2;education;*\n3;education;*\n4;engineering;*\n5;engineering;*\n"
                             "6;engineering;*\n");
    assert_near(price_of("tree", &c, 0, 2), price_of("tree", &c, 3, 5), "tree");
    assert_near(price_of("entropy", &c, 0, 2), log2(3), "education");
    assert_true(price_of("entropy", &c, 3, 5) < 0.2);
    test_case_free(&c);
}

static void gt_examples_4_4_and_4_5_have_the_printed_entropies(void **state)
{
    test_case c = one_column((uint32_t[]){1, 1, 2}, 3, NULL);
    kn_release *r = test_release(&c, (uint32_t[]){0, 0, 1, 1}, 2);
    assert_near(loss_of("entropy", &c, r) * 4, 3, "Example 4.4");
    kn_release_free(r);
    test_case_free(&c);

    c = one_column((uint32_t[]){1, 1, 6}, 3, NULL);
    r = test_release(&c, (uint32_t[]){0, 0, 0, 1, 1, 1, 1, 1}, 2);
    assert_printed(price_of("entropy", &c, 0, 2), 1.061, 5e-4);
    assert_printed(loss_of("entropy", &c, r) * 8, 3.184, 5e-4);
    kn_release_free(r);
    test_case_free(&c);
}

/* Example 4.7, Tables 1 and 2, (7) and (8), with epsilon = 1/100. */
static void gt_tables_1_and_2_and_the_non_monotone_example(void **state)
{
    const double e = 0.01;
    test_case c = one_column((uint32_t[]){970, 10, 10, 10}, 4, "1;A;*\n2;A;*\n3;B;*\n4;B;*\n");
    double h12 = h((1 - 3 * e) / (1 - 2 * e)) + h(e / (1 - 2 * e)), h_all = h(1 - 3 * e) + 3 * h(e);
    assert_near(price_of("entropy", &c, 0, 1), h12, "1 -> {1,2}");
    assert_near(price_of("entropy", &c, 2, 3), 1, "4 -> {3,4}");
    assert_near(price_of("entropy", &c, 0, 3), h_all, "1 -> *");
    assert_true(price_of("entropy", &c, 0, 3) < price_of("entropy", &c, 2, 3)); /* not monotone */
    assert_near(price_of("monotone-entropy", &c, 0, 1), (1 - 2 * e) * h12, "1 -> {1,2}");
    assert_near(price_of("monotone-entropy", &c, 2, 3), 2 * e, "4 -> {3,4}");
    assert_near(price_of("monotone-entropy", &c, 0, 3), h_all, "1 -> *");
    /* -log Pr(value | cell) = price - discount; the discount of a value is what its leaf costs */
    double leaf1 = price_of("non-uniform-entropy", &c, 0, 0), leaf4 = price_of("non-uniform-entropy", &c, 3, 3);
    assert_near(price_of("non-uniform-entropy", &c, 0, 1) - leaf1, -log2((1 - 3 * e) / (1 - 2 * e)), "1 -> {1,2}");
    assert_near(price_of("non-uniform-entropy", &c, 0, 1) - leaf4, -log2(e / (1 - 2 * e)), "2 -> {1,2}");
    assert_near(price_of("non-uniform-entropy", &c, 2, 3) - leaf4, 1, "3 -> {3,4}");
    assert_near(price_of("non-uniform-entropy", &c, 0, 3) - leaf1, -log2(1 - 3 * e), "1 -> *");
    assert_near(price_of("non-uniform-entropy", &c, 0, 3) - leaf4, log2(1 / e), "4 -> *");
    uint32_t row_class[1000];
    for (uint32_t row = 0; row < 1000; row++) row_class[row] = row >= 980;
    kn_release *r = test_release(&c, row_class, 2);
    assert_near(loss_of("entropy", &c, r), (1 - 2 * e) * h12 + 2 * e, "(7)");
    assert_near(loss_of("non-uniform-entropy", &c, r),
                (1 - 3 * e) * log2((1 - 2 * e) / (1 - 3 * e)) + e * log2((1 - 2 * e) / e) + 2 * e, "(8)");
    kn_release_free(r);
    test_case_free(&c);
}

/* a stands at two levels, c at three, the root at two: a level counts where a node stands first. */
static void an_unbalanced_tree_has_the_height_of_its_root(void **state)
{
    test_case c = one_column((uint32_t[]){1, 1, 1, 1}, 4, "1;1;x;*;*\n2;y;x;*;*\n4;y;x;*;*\n3;3;3;*;*\n");
    uint32_t one = 0, two = 1, four = 2, three = 3;
    assert_near(price_of("tree", &c, one, one), 0, "a value");
    assert_near(price_of("tree", &c, three, three), 0, "a value");
    assert_near(price_of("tree", &c, two, four), 1.0 / 3, "y");
    assert_near(price_of("tree", &c, one, two), 2.0 / 3, "x");
    assert_near(price_of("tree", &c, one, three), 1, "*");
    test_case_free(&c);
}

static void gt_example_4_9_a_uniform_column(void **state)
{
    test_case c =
        one_column((uint32_t[]){3, 3, 3, 3, 3, 3, 3, 3}, 8, "1;A;*\n2;A;*\n3;A;*\n4;A;*\n5;A;*\n6;B;*\n7;B;*\n8;B;*\n");
    assert_near(price_of("entropy", &c, 0, 4), log2(5), "log b");
    assert_near(price_of("monotone-entropy", &c, 0, 4), 5.0 / 8 * log2(5), "b/m log b");
    test_case_free(&c);
}

/* After Lemma 6.3: with free subsets the costs are not sub-additive. */
static void gt_sets_are_not_sub_additive(void **state)
{
    const char *cells[1000 * 2];
    for (int row = 0; row < 1000; row++) {
        cells[2 * row] = row < 495 ? "1" : row < 505 ? "2" : "3";
        cells[2 * row + 1] = "x";
    }
    test_case c = test_case_new(test_text_table(1000, 2, cells), 1);
    c.domains[0] = test_domain(c.table, 0, NULL);
    test_case_finish(&c);
    uint32_t one = code_of(&c, 0, 0), two = code_of(&c, 500, 0), three = code_of(&c, 999, 0);
    static const char *const names[] = {"entropy", "monotone-entropy"};
    for (int i = 0; i < 2; i++) {
        kn_objective *objective;
        kn_cell root = kn_domain_root(c.domains[0]);
        assert_ok(kn_objective_new(&objective, names[i], c.tuples, err));
        double whole = kn_objective_price(objective, NULL, 0, &root);
        assert_true(whole > 1);
        assert_true(price_of(names[i], &c, one, two) + price_of(names[i], &c, two, three) < 0.3);
        assert_near(price_of(names[i], &c, one, three), i == 0 ? 1 : 0.99, names[i]);
        kn_objective_free(objective);
    }
    test_case_free(&c);
}

static void sc_5_1_pmi_of_the_two_anonymizations(void **state)
{
    const char *cells[] = {"a", "0", "a", "0", "a", "0", "a", "1", "b", "0", "b", "1", "b", "1", "b", "1", "c", "1"};
    test_case c = test_case_new(test_text_table(9, 2, cells), 1);
    c.domains[0] = test_suppress_domain(c.table, 0);
    test_case_finish(&c);
    kn_release *original = test_release(&c, (uint32_t[]){0, 0, 0, 0, 1, 1, 1, 1, 2}, 3);
    kn_release *g1 = test_release(&c, (uint32_t[]){0, 0, 0, 1, 1, 2, 2, 2, 1}, 3);
    kn_release *g2 = test_release(&c, (uint32_t[]){0, 0, 1, 0, 1, 2, 2, 2, 1}, 3);
    static const char *const forms[] = {"pmi", "pmi-l2", "pmi-max", "weighted-mi:w=0"}; /* equal for one column */
    for (int i = 0; i < 4; i++) {
        double before = loss_of(forms[i], &c, original);
        assert_printed(loss_of(forms[i], &c, g1), 0.595, 5e-4);
        assert_printed(loss_of(forms[i], &c, g2), 0.807, 5e-4);
        assert_printed(loss_of(forms[i], &c, g1) - before, -0.126, 5e-4);
        assert_printed(loss_of(forms[i], &c, g2) - before, 0.086, 5e-4);
    }
    assert_near(loss_of("lm", &c, g1), loss_of("lm", &c, g2), "LM cannot tell them apart");
    assert_near(loss_of("mi", &c, g1), loss_of("mi", &c, g2), "MI cannot tell them apart");
    kn_release_free(original);
    kn_release_free(g1);
    kn_release_free(g2);
    test_case_free(&c);
}

/* --- The report, and failures ------------------------------------------------------------------------------------ */

static void the_report_has_every_measure_for_any_number_of_threads(void **state)
{
    kn_rng rng = kn_rng_new(11, 0);
    kn_pool *pools[2] = {NULL, NULL};
    assert_ok(kn_pool_new(&pools[1], 3, err));
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    for (int round = 0; round < 200; round++) {
        test_case c = test_case_random(&rng, 14);
        kn_release *release = test_release_random(&rng, &c, true);
        for (int p = 0; p < 2; p++) {
            kn_measure_report *report;
            assert_ok(kn_measure_report_new(&report, release, false, pools[p], err));
            assert_int_equal(report->n, n);
            for (size_t i = 0; i < n; i++) {
                assert_ptr_equal(report->items[i].type, all[i]);
                double value = report->items[i].value, alone = loss_of(all[i]->name, &c, release);
                if (all[i]->mixes[0] != NULL) assert_float_equal(value, alone, 1e-9); /* by the rows there */
                else assert_true(value == alone);
            }
            kn_measure_report_free(report);
        }
        kn_release_free(release);
        test_case_free(&c);
    }
    kn_pool_free(pools[1]);
}

static bool lacks_kl(const kn_release *release, bool brief)
{
    kn_measure_report *report;
    bool lacks = false;
    assert_ok(kn_measure_report_new(&report, release, brief, NULL, err));
    for (size_t i = 0; i < report->n; i++) {
        if (strcmp(report->items[i].type->name, "kl") == 0) lacks = isnan(report->items[i].value);
        else assert_false(isnan(report->items[i].value));
    }
    kn_measure_report_free(report);
    return lacks;
}

/* Pairs of rows that are far apart cover much of the table each: the work grows with rows times pairs. */
static void a_brief_report_leaves_out_kl_where_classes_are_wide(void **state)
{
    enum { N = 48000, N_QIS = 3, VALUES = 100 };
    static int cells[N * N_QIS];
    static uint32_t far[N], near[N];
    kn_rng rng = kn_rng_new(3, 0);
    for (uint32_t row = 0; row < N; row++) { /* sorted by the first two columns */
        cells[row * N_QIS] = (int)(row / 160);
        cells[row * N_QIS + 1] = (int)(row % 160 * VALUES / 160);
        cells[row * N_QIS + 2] = (int)kn_rng_below(&rng, VALUES);
        far[row] = row * 3697 % N / 2; /* 3697 and 48,000 share no factor: two rows each */
        near[row] = row / 2;
    }
    test_case c = test_case_new(test_table(N, N_QIS, cells), 0);
    for (uint32_t q = 0; q < N_QIS; q++) c.domains[q] = test_domain(c.table, q, NULL);
    test_case_finish(&c);
    kn_release *wide = test_release(&c, far, N / 2), *narrow = test_release(&c, near, N / 2);
    assert_true(lacks_kl(wide, true));
    assert_false(lacks_kl(narrow, true));
    kn_release_free(wide);
    kn_release_free(narrow);
    test_case_free(&c);
}

static void a_brief_report_leaves_out_kl_of_a_large_local_recoding_only(void **state)
{
    enum { LARGE = 200001, SIDE = 450 };
    int *cells = calloc(LARGE, 2 * sizeof *cells);
    uint32_t *class_of = calloc(LARGE, sizeof *class_of);
    assert_non_null(cells);
    assert_non_null(class_of);
    for (int i = 0; i < 2 * LARGE; i++) cells[i] = i % 2 == 0 ? i / 2 / SIDE : i / 2 % SIDE;
    for (int n = LARGE - 1; n <= LARGE; n++) {
        test_case c = test_case_new(test_table((uint32_t)n, 2, cells), 0);
        for (uint32_t q = 0; q < 2; q++) c.domains[q] = test_domain(c.table, q, NULL);
        test_case_finish(&c);
        kn_release *release = test_release(&c, class_of, 1);
        for (int brief = 0; brief < 2; brief++) assert_int_equal(lacks_kl(release, brief), brief && n == LARGE);
        kn_release_free(release);
        test_case_free(&c);
    }
    free(cells);
    free(class_of);
}

static void without_a_sensitive_column_its_measures_are_left_out_or_refused(void **state)
{
    const int cells[] = {1, 2, 1, 3};
    test_case c = test_case_new(test_table(2, 2, cells), 0);
    for (uint32_t q = 0; q < 2; q++) c.domains[q] = test_domain(c.table, q, NULL);
    test_case_finish(&c);
    kn_release *release = test_release(&c, (uint32_t[]){0, 0}, 1);
    kn_measure_report *report;
    kn_objective *objective;
    kn_error refusal = {0};
    assert_ok(kn_measure_report_new(&report, release, false, NULL, err));
    for (size_t i = 0; i < report->n; i++) assert_false(report->items[i].type->needs);
    assert_true(report->n > 10);
    assert_int_equal(kn_objective_new(&objective, "cm", c.tuples, &refusal), KN_USAGE);
    assert_non_null(strstr(refusal.message, "sensitive"));
    kn_measure_report_free(report);
    kn_release_free(release);
    test_case_free(&c);
}

static void wrong_names_and_parameters_are_refused(void **state)
{
    kn_rng rng = kn_rng_new(12, 0);
    test_case c = test_case_random(&rng, 5);
    static const char *const wrong[] = {
        "", "ml", "lm:w=1", "weighted-mi:w=2", "cm:column=nobody", "pmi:column=", "lm2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kn_error err = {0};
        kn_objective *objective;
        assert_int_equal(kn_objective_new(&objective, wrong[i], c.tuples, &err), KN_USAGE);
        assert_null(objective);
        assert_true(strlen(err.message) > 10);
    }
    test_case_free(&c);
}

/* Its first lines say what the registry says, in words. */
static void every_measure_has_a_page_that_states_its_properties(void **state)
{
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    for (size_t i = 0; i < n; i++) {
        const kn_measure *m = all[i];
        char path[100], expected[400], text[4096];
        snprintf(path, sizeof path, "docs/measures/%s.md", m->name);
        FILE *file = fopen(path, "r");
        if (file == NULL) fail_msg("there is no %s", path);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        snprintf(expected, sizeof expected,
                 "**Kind:** %s. **Monotone:** %s. **Uniform in a class:** %s. **Needs:** %s.",
                 m->price_cell != NULL    ? "sum over cells"
                 : m->price_class != NULL ? "sum over classes"
                                          : "whole release",
                 m->monotone ? "yes" : "no", m->uniform ? "yes" : "no",
                 m->needs & KN_MEASURE_NEEDS_CLASS_COLUMN ? "a sensitive column" : "nothing");
        if (strstr(text, expected) == NULL) fail_msg("%s does not say: %s", path, expected);
    }
}

static void every_failed_allocation_is_reported_and_nothing_leaks(void **state)
{
    kn_rng rng = kn_rng_new(13, 0);
    test_case c = test_case_random(&rng, 14);
    kn_release *release = test_release_random(&rng, &c, true);
    kn_status status = KN_RESOURCES;
    for (size_t n = 1; status != KN_OK; n++) {
        kn_error err = {0};
        kn_measure_report *report;
        size_t before = kn_memory_used();
        kn_memory_fail_at(n);
        status = kn_measure_report_new(&report, release, false, NULL, &err);
        kn_memory_fail_at(0);
        assert_true(status == KN_OK || (status == KN_RESOURCES && report == NULL && err.message[0] != '\0'));
        kn_measure_report_free(report);
        assert_int_equal(kn_memory_used(), before);
        assert_true(n < 100000);
    }
    kn_release_free(release);
    test_case_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_measure_is_what_its_definition_says),
        cmocka_unit_test(a_release_without_generalization_costs_nothing),
        cmocka_unit_test(column_losses_add_up_to_the_loss),
        cmocka_unit_test(a_column_s_loss_is_no_number_only_with_an_error),
        cmocka_unit_test(prices_of_an_objective_add_up_to_the_loss),
        cmocka_unit_test(classes_that_overlap_are_found),
        cmocka_unit_test(two_neighbours_that_overlap_are_found),
        cmocka_unit_test(kl_is_the_same_whether_classes_are_known_to_be_apart_or_not),
        cmocka_unit_test(monotone_measures_never_fall_and_the_others_are_seen_to),
        cmocka_unit_test(entropy_equals_non_uniform_entropy_under_global_recoding),
        cmocka_unit_test(pmi_and_kl_are_monotone_under_global_recoding),
        cmocka_unit_test(gt_example_4_2_the_tree_measure_cannot_tell_the_columns_apart),
        cmocka_unit_test(gt_example_4_3_a_skewed_group_costs_less),
        cmocka_unit_test(gt_examples_4_4_and_4_5_have_the_printed_entropies),
        cmocka_unit_test(gt_tables_1_and_2_and_the_non_monotone_example),
        cmocka_unit_test(an_unbalanced_tree_has_the_height_of_its_root),
        cmocka_unit_test(gt_example_4_9_a_uniform_column),
        cmocka_unit_test(gt_sets_are_not_sub_additive),
        cmocka_unit_test(sc_5_1_pmi_of_the_two_anonymizations),
        cmocka_unit_test(the_report_has_every_measure_for_any_number_of_threads),
        cmocka_unit_test(a_brief_report_leaves_out_kl_where_classes_are_wide),
        cmocka_unit_test(a_brief_report_leaves_out_kl_of_a_large_local_recoding_only),
        cmocka_unit_test(without_a_sensitive_column_its_measures_are_left_out_or_refused),
        cmocka_unit_test(wrong_names_and_parameters_are_refused),
        cmocka_unit_test(every_measure_has_a_page_that_states_its_properties),
        cmocka_unit_test(every_failed_allocation_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
