/* The local searches against the definition: small tables by brute force, sizes and models recounted row by row. */
#include "support.h"

#include "algo/local.h"
#include "recode/recode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_QIS = 8, MAX_BRUTE_ROWS = 9 };

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

typedef enum kinds { TREES, SUPPRESS, RANGES, SETS, MIXED, N_KINDS } kinds;

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

/* Domains and tuples for every quasi-identifier of s->table. */
static void prepare(setup *s, kn_rng *rng, kinds kind)
{
    for (uint32_t c = 0; c < s->table->n_columns; c++) {
        kn_column *column = &s->table->columns[c];
        if (column->role != KN_ROLE_QUASI) continue;
        kinds this = kind == MIXED ? (kinds)kn_rng_below(rng, MIXED) : kind;
        if (this == SETS) column->type = KN_TYPE_TEXT;
        kn_domain *domain = this == TREES      ? test_random_tree_domain(rng, s->table, c, 4)
                            : this == SUPPRESS ? test_suppress_domain(s->table, c)
                                               : test_domain(s->table, c, NULL);
        s->domains[s->n_qis++] = domain;
    }
    assert_ok(kn_tuples_new(&s->tuples, s->table, s->domains, s->n_qis, NULL, NULL, err));
}

static void set_models(setup *s, const char *const *specs, size_t n)
{
    assert_ok(kn_models_new(&s->models, specs, n, s->tuples, err));
    if (s->models->needs & KN_NEEDS_HISTOGRAM) assert_ok(kn_tuples_histograms(s->tuples, NULL, err));
}

static void set_k(setup *s, unsigned k)
{
    char spec[32];
    snprintf(spec, sizeof spec, "k-anonymity:k=%u", k);
    set_models(s, (const char *const[]){spec}, 1);
}

static void set_task(setup *s, const char *measure, const char *algorithm, const char *params)
{
    if (s->objective == NULL) assert_ok(kn_objective_new(&s->objective, measure, s->tuples, err));
    const kn_algorithm *entry = kn_algorithm_find(algorithm);
    kn_args_free(&s->args);
    assert_ok(kn_args_parse(&s->args, entry->name, entry->params, entry->n_params, params, err));
    s->task = (kn_task){.tuples = s->tuples,
                        .models = s->models,
                        .objective = s->objective,
                        .args = &s->args,
                        .seed = 1,
                        .ticker = &s->ticker};
}

static void random_setup(setup *s, kn_rng *rng, kinds kind, uint32_t n_rows, uint32_t n_columns, uint32_t n_values,
                         unsigned k)
{
    *s = (setup){.table = test_random_table(rng, n_rows, n_columns, n_values)};
    prepare(s, rng, kind);
    set_k(s, k);
}

typedef struct outcome {
    kn_answer answer;
    kn_release *release;
    double loss;
} outcome;

static outcome run(setup *s, const char *algorithm)
{
    outcome o = {{0}, NULL, 0};
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

/* --- Counting again -------------------------------------------------------------------------------------------- */

/* Persons among the rows that `member` marks, counted by hand. */
static uint32_t count_persons(const setup *s, const bool *member)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < s->table->n_rows; r++) {
        bool seen = !member[r];
        for (uint32_t p = 0; p < r && !seen && s->tuples->row_person != NULL; p++)
            seen = member[p] && s->tuples->row_person[p] == s->tuples->row_person[r];
        n += !seen;
    }
    return n;
}

static uint32_t code_of_row(const setup *s, uint32_t q, uint32_t row)
{
    return s->tuples->codes[q][s->tuples->row_tuple[row]];
}

static void assert_every_row_is_in_a_class_of_k(const setup *s, const kn_answer *answer, uint32_t k)
{
    uint32_t n_rows = s->table->n_rows;
    bool *member = calloc(n_rows, sizeof *member);
    for (uint32_t c = 0; c < answer->n_classes; c++) {
        for (uint32_t r = 0; r < n_rows; r++) member[r] = answer->row_class[r] == c;
        assert_true(count_persons(s, member) >= k);
    }
    for (uint32_t r = 0; r < n_rows; r++) assert_true(answer->row_class[r] < answer->n_classes);
    free(member);
}

/* --- Brute force ----------------------------------------------------------------------------------------------- */

/* Weighted price of a set of rows as one class. */
static double subset_price(const setup *s, kn_set_pool *sets, unsigned subset)
{
    double price = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        uint32_t codes[MAX_BRUTE_ROWS], n = 0;
        kn_cell cell;
        for (uint32_t r = 0; r < s->table->n_rows; r++)
            if (subset >> r & 1) codes[n++] = code_of_row(s, q, r);
        assert_ok(kn_domain_closure(&cell, s->domains[q], sets, codes, n, err));
        price += n * kn_objective_price(s->objective, sets, q, &cell);
    }
    return price;
}

static bool subset_may_be_released(const setup *s, unsigned subset, uint32_t k)
{
    bool member[MAX_BRUTE_ROWS];
    for (uint32_t r = 0; r < s->table->n_rows; r++) member[r] = subset >> r & 1;
    return count_persons(s, member) >= k;
}

/* The least loss of any partition into classes of at least k. */
static double best_partition(const setup *s, uint32_t k)
{
    unsigned n_subsets = 1u << s->table->n_rows;
    double *best = calloc(n_subsets, sizeof *best), *price = calloc(n_subsets, sizeof *price);
    kn_set_pool *sets = NULL;
    assert_ok(kn_set_pool_new(&sets, err));
    for (unsigned u = 1; u < n_subsets; u++)
        price[u] = subset_may_be_released(s, u, k) ? subset_price(s, sets, u) : INFINITY;
    for (unsigned u = 1; u < n_subsets; u++) {
        unsigned low = u & (0u - u);
        best[u] = INFINITY;
        for (unsigned part = u; part != 0; part = (part - 1) & u)
            if ((part & low) && price[part] + best[u ^ part] < best[u]) best[u] = price[part] + best[u ^ part];
    }
    double loss = (best[n_subsets - 1] - s->objective->discount) * s->objective->scale;
    kn_set_pool_free(sets);
    free(best);
    free(price);
    return loss;
}

static const struct {
    const char *name, *params;
} searches[] = {
    {"mondrian", ""},
    {"mondrian", "choose=median"},
    {"mondrian", "cut=relaxed"},
    {"hilbert", ""},
    {"hilbert", "rescale=no"},
    {"agglomerative", ""},
    {"k-member", ""},
    {"k-member", "around=center"},
    {"sequential", ""},
    {"sequential", "restarts=3,alpha=1,omega=2"},
    {"sequential", "block=16"},
};
enum { N_SEARCHES = sizeof searches / sizeof *searches };

static void no_search_is_better_than_the_best_partition(void **state)
{
    kn_rng rng = kn_rng_new(11, 0);
    double sum_of_ratios[N_SEARCHES] = {0};
    int n_compared = 0;
    for (int trial = 0; trial < 150; trial++) {
        setup s;
        unsigned k = 1 + kn_rng_below(&rng, 3);
        uint32_t n_rows = k + kn_rng_below(&rng, MAX_BRUTE_ROWS + 1 - k);
        random_setup(&s, &rng, (kinds)(trial % N_KINDS), n_rows, 1 + kn_rng_below(&rng, 3), 4, k);
        set_task(&s, "lm", "mondrian", "");
        double optimum = best_partition(&s, k);
        for (size_t i = 0; i < N_SEARCHES; i++) {
            set_task(&s, "lm", searches[i].name, searches[i].params);
            outcome o = run(&s, searches[i].name);
            assert_every_row_is_in_a_class_of_k(&s, &o.answer, k);
            assert_int_equal(o.release->n_suppressed, 0);
            assert_true(o.loss >= optimum - 1e-12);
            if (optimum > 0) sum_of_ratios[i] += o.loss / optimum;
            free_outcome(&o);
        }
        n_compared += optimum > 0;
        free_setup(&s);
    }
    /* no theorem, but a search that loses twice the optimum on tables this small is broken */
    for (size_t i = 0; i < N_SEARCHES; i++) assert_true(sum_of_ratios[i] / n_compared < 2);
}

/* --- Mondrian -------------------------------------------------------------------------------------------------- */

static bool cut_is_allowable(const setup *s, const kn_answer *answer, uint32_t class, uint32_t q, uint32_t last_left,
                             uint32_t k)
{
    bool left[64], right[64];
    for (uint32_t r = 0; r < s->table->n_rows; r++) {
        bool inside = answer->row_class[r] == class;
        left[r] = inside && code_of_row(s, q, r) <= last_left;
        right[r] = inside && code_of_row(s, q, r) > last_left;
    }
    return count_persons(s, left) >= k && count_persons(s, right) >= k;
}

static uint32_t largest_class(const setup *s, const kn_answer *answer)
{
    uint32_t largest = 0;
    for (uint32_t c = 0; c < answer->n_classes; c++) {
        uint32_t n = 0;
        for (uint32_t r = 0; r < s->table->n_rows; r++) n += answer->row_class[r] == c;
        if (n > largest) largest = n;
    }
    return largest;
}

static void strict_cuts_leave_no_allowable_cut(void **state)
{
    kn_rng rng = kn_rng_new(12, 0);
    for (int trial = 0; trial < 200; trial++) {
        setup s;
        unsigned k = 1 + kn_rng_below(&rng, 5);
        uint32_t n_rows = k + kn_rng_below(&rng, 60 - k), n_columns = 1 + kn_rng_below(&rng, 4), most_copies = 0;
        random_setup(&s, &rng, (kinds)(trial % N_KINDS), n_rows, n_columns, 2 + kn_rng_below(&rng, 6), k);
        set_task(&s, "lm", "mondrian", trial % 3 == 0 ? "choose=median" : "");
        outcome o = run(&s, "mondrian");
        for (uint32_t c = 0; c < o.answer.n_classes; c++)
            for (uint32_t q = 0; q < s.n_qis; q++)
                for (uint32_t code = 0; code < s.domains[q]->n_codes; code++)
                    assert_false(cut_is_allowable(&s, &o.answer, c, q, code, k));
        for (uint32_t t = 0; t < s.tuples->n_tuples; t++)
            if (s.tuples->rows[t] > most_copies) most_copies = s.tuples->rows[t];
        assert_true(largest_class(&s, &o.answer) <= 2 * n_columns * (k - 1) + most_copies);
        for (uint32_t r = 1; r < n_rows; r++) /* equal tuples stay together */
            for (uint32_t p = 0; p < r; p++)
                if (s.tuples->row_tuple[p] == s.tuples->row_tuple[r])
                    assert_int_equal(o.answer.row_class[p], o.answer.row_class[r]);
        free_outcome(&o);
        free_setup(&s);
    }
}

static void relaxed_cuts_keep_every_class_below_2k(void **state)
{
    kn_rng rng = kn_rng_new(13, 0);
    for (int trial = 0; trial < 200; trial++) {
        setup s;
        unsigned k = 1 + kn_rng_below(&rng, 5);
        uint32_t n_rows = k + kn_rng_below(&rng, 60 - k);
        random_setup(&s, &rng, (kinds)(trial % N_KINDS), n_rows, 1 + kn_rng_below(&rng, 3), 4, k);
        set_task(&s, "lm", "mondrian", "cut=relaxed");
        outcome o = run(&s, "mondrian");
        assert_every_row_is_in_a_class_of_k(&s, &o.answer, k);
        assert_true(largest_class(&s, &o.answer) <= 2 * k - 1);
        free_outcome(&o);
        free_setup(&s);
    }
}

/* [SV] Figure 17, on Sex and MaritalStatus of Figure 1, k=2. */
static void figure_17_gives_classes_of_3_3_2_2(void **state)
{
    static const char *const cells[] = {"F", "married",  "F", "married",  "M", "single", "M", "single", "M", "single",
                                        "F", "divorced", "M", "divorced", "M", "widow",  "M", "widow",  "F", "single"};
    for (int trial = 0; trial < 2; trial++) {
        setup s = {.table = test_text_table(10, 2, cells), .n_qis = 2};
        s.domains[0] = test_domain(s.table, 0, "F;any\nM;any\n");
        s.domains[1] = test_domain(s.table, 1, "married;been_married;any\ndivorced;been_married;any\n"
                                               "widow;been_married;any\nsingle;never_married;any\n");
        assert_ok(kn_tuples_new(&s.tuples, s.table, s.domains, 2, NULL, NULL, err));
        set_k(&s, 2);
        set_task(&s, "lm", "mondrian", trial == 0 ? "" : "choose=median");
        outcome o = run(&s, "mondrian");
        uint32_t sizes[4] = {0};
        assert_int_equal(o.answer.n_classes, 4);
        for (uint32_t r = 0; r < 10; r++) sizes[o.answer.row_class[r]]++;
        uint32_t of_3 = 0, of_2 = 0;
        for (int c = 0; c < 4; c++) of_3 += sizes[c] == 3, of_2 += sizes[c] == 2;
        assert_int_equal(of_3, 2);
        assert_int_equal(of_2, 2);
        free_outcome(&o);
        free_setup(&s);
    }
}

static void a_table_of_2k_less_1_persons_stays_one_class(void **state)
{
    setup s;
    kn_rng rng = kn_rng_new(14, 0);
    random_setup(&s, &rng, RANGES, 7, 2, 4, 4);
    for (size_t i = 0; i < N_SEARCHES; i++) {
        set_task(&s, "lm", searches[i].name, searches[i].params);
        outcome o = run(&s, searches[i].name);
        assert_int_equal(o.answer.n_classes, 1);
        free_outcome(&o);
    }
    free_setup(&s);
}

/* --- All searches ---------------------------------------------------------------------------------------------- */

static void persons_are_counted_not_rows(void **state)
{
    kn_rng rng = kn_rng_new(15, 0);
    for (int trial = 0; trial < 60; trial++) {
        unsigned k = 2 + kn_rng_below(&rng, 3);
        uint32_t n_rows = 40;
        int cells[40 * 4];
        for (uint32_t i = 0; i < n_rows * 4; i++) cells[i] = (int)kn_rng_below(&rng, i % 4 == 3 ? 15 : 4);
        setup s = {.table = test_table(n_rows, 4, cells)};
        s.table->columns[3].role = KN_ROLE_IDENTIFIER;
        s.table->columns[3].is_person = true;
        s.table->person = 3;
        prepare(&s, &rng, (kinds)(trial % N_KINDS));
        set_k(&s, k);
        for (size_t i = 0; i < N_SEARCHES; i++) {
            set_task(&s, "lm", searches[i].name, searches[i].params);
            outcome o = run(&s, searches[i].name);
            assert_every_row_is_in_a_class_of_k(&s, &o.answer, k);
            free_outcome(&o);
        }
        free_setup(&s);
    }
}

static void assert_threads_do_not_matter(setup *s, const char *name, const char *params)
{
    set_task(s, "lm", name, params);
    outcome alone = run(s, name);
    for (unsigned n_threads = 2; n_threads <= 3; n_threads++) {
        assert_ok(kn_pool_new(&s->task.pool, n_threads, err));
        outcome together = run(s, name);
        assert_int_equal(alone.answer.n_classes, together.answer.n_classes);
        assert_memory_equal(alone.answer.row_class, together.answer.row_class, s->table->n_rows * sizeof(uint32_t));
        free_outcome(&together);
        kn_pool_free(s->task.pool);
    }
    s->task.pool = NULL;
    free_outcome(&alone);
}

static void any_number_of_threads_gives_the_same_answer(void **state)
{
    kn_rng rng = kn_rng_new(16, 0);
    setup s;
    for (int trial = 0; trial < N_KINDS; trial++) {
        random_setup(&s, &rng, (kinds)trial, 700, 4, 30, 4);
        for (size_t i = 0; i < N_SEARCHES; i++) assert_threads_do_not_matter(&s, searches[i].name, searches[i].params);
        free_setup(&s);
    }
    /* large classes are cut column by column on the pool */
    random_setup(&s, &rng, MIXED, 40000, 4, 30, 4);
    assert_threads_do_not_matter(&s, "mondrian", "");
    assert_threads_do_not_matter(&s, "mondrian", "cut=relaxed");
    assert_threads_do_not_matter(&s, "hilbert", "");
    assert_threads_do_not_matter(&s, "sequential", "block=4000,passes=3");
    free_setup(&s);
}

static void every_search_can_be_cancelled_at_every_tick(void **state)
{
    kn_rng rng = kn_rng_new(17, 0);
    setup s;
    random_setup(&s, &rng, MIXED, 60, 3, 5, 3);
    for (size_t i = 0; i < N_SEARCHES; i++) {
        const kn_algorithm *algorithm = kn_algorithm_find(searches[i].name);
        set_task(&s, "lm", searches[i].name, searches[i].params);
        kn_status status = KN_INTERRUPTED;
        for (size_t nth = 1; status != KN_OK; nth++) {
            kn_answer answer = {0};
            atomic_store(&s.ticker.n_ticks, 0);
            atomic_store(&s.ticker.fail_at, nth);
            status = algorithm->search(&answer, &s.task, NULL);
            assert_true(status == KN_OK || status == KN_INTERRUPTED);
            assert_true(nth > 1 || status == KN_INTERRUPTED);
            kn_answer_free(&answer);
        }
        atomic_store(&s.ticker.fail_at, 0);
    }
    free_setup(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    kn_rng rng = kn_rng_new(18, 0);
    setup s;
    random_setup(&s, &rng, MIXED, 40, 3, 5, 3);
    for (size_t i = 0; i < N_SEARCHES; i++) {
        const kn_algorithm *algorithm = kn_algorithm_find(searches[i].name);
        set_task(&s, "lm", searches[i].name, searches[i].params);
        kn_status status = KN_RESOURCES;
        for (size_t nth = 1; status != KN_OK; nth++) {
            kn_answer answer = {0};
            kn_memory_fail_at(nth);
            status = algorithm->search(&answer, &s.task, NULL);
            kn_memory_fail_at(0);
            assert_true(status == KN_OK || status == KN_RESOURCES);
            assert_true(nth > 1 || status == KN_RESOURCES);
            kn_answer_free(&answer);
        }
    }
    free_setup(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_search_is_better_than_the_best_partition),
        cmocka_unit_test(strict_cuts_leave_no_allowable_cut),
        cmocka_unit_test(relaxed_cuts_keep_every_class_below_2k),
        cmocka_unit_test(figure_17_gives_classes_of_3_3_2_2),
        cmocka_unit_test(a_table_of_2k_less_1_persons_stays_one_class),
        cmocka_unit_test(persons_are_counted_not_rows),
        cmocka_unit_test(any_number_of_threads_gives_the_same_answer),
        cmocka_unit_test(every_search_can_be_cancelled_at_every_tick),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
