/* classes/: grouping, distinct tuples, persons and histograms against recounting by hand. */
#include "support.h"

#include "classes/gather.h"
#include "classes/histogram.h"
#include "classes/tuples.h"

#include <stdlib.h>
#include <string.h>

/* --- kn_group --------------------------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 20 };

typedef struct items {
    uint32_t n, n_columns;
    uint32_t *codes[MAX_COLUMNS], *maps[MAX_COLUMNS];
    kn_group_column columns[MAX_COLUMNS];
} items;

/* Few large values make wide keys, so that several words are needed; half of the columns are mapped. */
static items random_items(kn_rng *rng, uint32_t n, uint32_t n_columns, uint32_t n_values)
{
    items made = {.n = n, .n_columns = n_columns};
    for (uint32_t c = 0; c < n_columns; c++) {
        made.codes[c] = calloc(n + 1, sizeof(uint32_t));
        made.maps[c] = calloc(n_values, sizeof(uint32_t));
        uint32_t top = 1 + kn_rng_below(rng, UINT32_MAX - 1);
        for (uint32_t v = 0; v < n_values; v++) made.maps[c][v] = kn_rng_below(rng, top);
        for (uint32_t i = 0; i < n; i++) made.codes[c][i] = kn_rng_below(rng, n_values);
        bool mapped = kn_rng_below(rng, 2) == 0;
        made.columns[c] = (kn_group_column){made.codes[c], 4, mapped ? made.maps[c] : NULL, mapped ? top : n_values};
    }
    return made;
}

static void free_items(items *made)
{
    for (uint32_t c = 0; c < made->n_columns; c++) {
        free(made->codes[c]);
        free(made->maps[c]);
    }
}

static bool same_item(const items *made, uint32_t i, uint32_t j)
{
    for (uint32_t c = 0; c < made->n_columns; c++) {
        const uint32_t *map = made->columns[c].map;
        uint32_t x = made->codes[c][i], y = made->codes[c][j];
        if (map != NULL ? map[x] != map[y] : x != y) return false;
    }
    return true;
}

static void groups_are_the_classes_of_equal_items(void **state)
{
    kn_rng rng = kn_rng_new(1, 0);
    for (int round = 0; round < 300; round++) {
        uint32_t n = kn_rng_below(&rng, 60), n_columns = kn_rng_below(&rng, MAX_COLUMNS), n_groups, *first;
        items made = random_items(&rng, n, n_columns, 1 + kn_rng_below(&rng, 4));
        uint32_t group_of[60];
        assert_ok(kn_group(group_of, &n_groups, &first, n, made.columns, n_columns, NULL, NULL, err));
        for (uint32_t i = 0; i < n; i++) {
            assert_true(group_of[i] < n_groups);
            assert_true(same_item(&made, i, first[group_of[i]]));
            for (uint32_t j = 0; j < n; j++) assert_int_equal(group_of[i] == group_of[j], same_item(&made, i, j));
        }
        kn_free(first);
        free_items(&made);
    }
}

static void groups_are_numbered_by_their_first_items(void **state)
{
    enum { N = 300000 };
    kn_rng rng = kn_rng_new(2, 0);
    items made = random_items(&rng, N, 5, 30);
    uint32_t *expected = calloc(N, sizeof *expected), *group_of = calloc(N, sizeof *group_of), n_expected, n_groups;
    uint32_t *first, next = 0;
    assert_ok(kn_group(expected, &n_expected, &first, N, made.columns, 5, NULL, NULL, err));
    for (uint32_t i = 0; i < N; i++) {
        assert_true(expected[i] <= next);
        if (expected[i] == next) assert_int_equal(first[next++], i);
    }
    assert_int_equal(next, n_expected);
    kn_free(first);
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        kn_pool *pool;
        assert_ok(kn_pool_new(&pool, n_threads, err));
        assert_ok(kn_group(group_of, &n_groups, NULL, N, made.columns, 5, pool, NULL, err));
        assert_int_equal(n_groups, n_expected);
        assert_memory_equal(group_of, expected, N * sizeof *expected);
        kn_pool_free(pool);
    }
    free(expected);
    free(group_of);
    free_items(&made);
}

static void members_list_every_item_once_in_order(void **state)
{
    const uint32_t group_of[] = {2, 0, KN_NONE, 2, 0, 2};
    uint32_t *start, *members;
    assert_ok(kn_group_members(&start, &members, group_of, 6, 4, err));
    const uint32_t expected_start[] = {0, 2, 2, 5, 5}, expected[] = {1, 4, 0, 3, 5};
    assert_memory_equal(start, expected_start, sizeof expected_start);
    assert_memory_equal(members, expected, sizeof expected);
    kn_free(start);
    kn_free(members);
}

static void values_are_gathered_by_group_in_the_order_of_the_items(void **state)
{
    enum { N = 5000, N_GROUPS = 301 };
    kn_rng rng = kn_rng_new(5, 0);
    static uint32_t group_of[N], codes[N], map[256];
    static uint8_t narrow[N];
    for (uint32_t i = 0; i < N; i++) {
        group_of[i] = kn_rng_below(&rng, 9) == 0 ? KN_NONE : kn_rng_below(&rng, N_GROUPS);
        codes[i] = narrow[i] = (uint8_t)kn_rng_below(&rng, 256);
    }
    for (uint32_t code = 0; code < 256; code++) map[code] = kn_rng_below(&rng, 1000);
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        const kn_group_column columns[] = {{codes, 4, NULL, 256}, {narrow, 1, map, 1000}};
        kn_pool *pool;
        assert_ok(kn_pool_new(&pool, n_threads, err));
        for (int c = 0; c < 2; c++) {
            uint32_t *start, *values, at[N_GROUPS];
            assert_ok(kn_gather(&start, &values, group_of, N, N_GROUPS, &columns[c], pool, err));
            memcpy(at, start, sizeof at);
            for (uint32_t i = 0; i < N; i++)
                if (group_of[i] != KN_NONE)
                    assert_int_equal(values[at[group_of[i]]++], c == 0 ? codes[i] : map[codes[i]]);
            assert_int_equal(start[0], 0);
            for (uint32_t g = 0; g < N_GROUPS; g++) assert_int_equal(at[g], start[g + 1]);
            kn_free(start);
            kn_free(values);
        }
        kn_pool_free(pool);
    }
}

/* --- histograms ------------------------------------------------------------------------------------------------- */

static void assert_same_histograms(const kn_histograms *a, const kn_histograms *b, uint32_t n_groups)
{
    assert_memory_equal(a->start, b->start, (n_groups + 1) * sizeof *a->start);
    if (a->start[n_groups] == 0) return;
    assert_memory_equal(a->values, b->values, a->start[n_groups] * sizeof *a->values);
    assert_memory_equal(a->counts, b->counts, a->start[n_groups] * sizeof *a->counts);
}

/* Large groups with few values and with many, small ones, and empty ones: recounted by hand, for any number of threads,
 * and the same when groups are joined first. */
static void histograms_are_the_same_however_they_are_counted(void **state)
{
    enum { N = 3000, N_GROUPS = 40000, N_VALUES = 400 };
    kn_rng rng = kn_rng_new(4, 0);
    kn_table *table = test_random_table(&rng, N, 1, N_VALUES);
    const kn_column *column = &table->columns[0];
    static uint32_t group_of[N], joined_of[N], joined[N_GROUPS], counts[N_VALUES];
    kn_histograms all = {0}, parts = {0}, later = {0};
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t value = kn_column_value(column, kn_column_code(column, i)), kind = kn_rng_below(&rng, 10);
        group_of[i] = kind == 0 ? KN_NONE : value < 8 ? 7 : kind < 4 ? N_GROUPS - 1 : kn_rng_below(&rng, 900) * 40;
    }
    for (unsigned n_threads = 1; n_threads <= 3; n_threads++) {
        kn_pool *pool;
        assert_ok(kn_pool_new(&pool, n_threads, err));
        assert_ok(kn_histograms_count_on(&all, column, group_of, N, N_GROUPS, pool, err));
        for (uint32_t g = 0; g < N_GROUPS; g++) {
            const kn_histogram own = kn_histogram_of(&all, g);
            if (g % 40 != 0 && g != 7 && g != N_GROUPS - 1) {
                assert_int_equal(own.n, 0);
                continue;
            }
            memset(counts, 0, sizeof counts);
            for (uint32_t i = 0; i < N; i++)
                if (group_of[i] == g) counts[kn_column_value(column, kn_column_code(column, i))]++;
            uint32_t e = 0;
            for (uint32_t value = 0; value < column->n_values; value++) {
                if (counts[value] == 0) continue;
                assert_true(e < own.n && own.values[e] == value && own.counts[e] == counts[value]);
                e++;
            }
            assert_int_equal(e, own.n);
        }
        for (uint32_t n_joined = 3; n_joined <= 30000; n_joined *= 100) { /* a matrix, and lists */
            for (uint32_t g = 0; g < N_GROUPS; g++) joined[g] = g % 11 == 0 ? KN_NONE : g % n_joined;
            for (uint32_t i = 0; i < N; i++) joined_of[i] = group_of[i] != KN_NONE ? joined[group_of[i]] : KN_NONE;
            assert_ok(kn_histograms_join(&later, &all, column->n_values, joined, N_GROUPS, n_joined, err));
            assert_ok(kn_histograms_count_on(&parts, column, joined_of, N, n_joined, pool, err));
            assert_same_histograms(&later, &parts, n_joined);
        }
        kn_pool_free(pool);
    }
    kn_histograms_clear(&all);
    kn_histograms_clear(&parts);
    kn_histograms_clear(&later);
    test_table_free(table);
}

static void histograms_count_every_pair(void **state)
{
    kn_rng rng = kn_rng_new(3, 0);
    for (int round = 0; round < 200; round++) {
        /* Many groups and values on some rounds: then the pairs are sorted instead of counted densely. */
        uint32_t n_rows = 1 + kn_rng_below(&rng, 80), n_groups = round % 2 ? 1 + kn_rng_below(&rng, 5) : 40000;
        kn_table *table = test_random_table(&rng, n_rows, 1, 7);
        const kn_column *column = &table->columns[0];
        uint32_t group_of[80];
        kn_histograms all = {0};
        for (uint32_t i = 0; i < n_rows; i++)
            group_of[i] = kn_rng_below(&rng, 8) == 0 ? KN_NONE : kn_rng_below(&rng, n_groups < 6 ? n_groups : 6);
        assert_ok(kn_histograms_count(&all, column, group_of, n_rows, n_groups, err));
        for (uint32_t g = 0; g < (n_groups < 6 ? n_groups : 6); g++)
            for (uint32_t v = 0; v < column->n_values; v++) {
                uint32_t expected = 0, found = 0;
                for (uint32_t i = 0; i < n_rows; i++)
                    expected += group_of[i] == g && kn_column_value(column, kn_column_code(column, i)) == v;
                const kn_histogram own = kn_histogram_of(&all, g);
                for (uint32_t e = 0; e < own.n; e++) {
                    if (own.values[e] == v) found += own.counts[e];
                    if (e > 0) assert_true(own.values[e] > own.values[e - 1]);
                }
                assert_int_equal(found, expected);
            }
        kn_histograms_clear(&all);
        test_table_free(table);
    }
}

/* --- tuples ----------------------------------------------------------------------------------------------------- */

static void tuples_merge_equal_rows_and_count_persons(void **state)
{
    kn_rng rng = kn_rng_new(4, 0);
    for (int round = 0; round < 300; round++) {
        uint32_t n_rows = 1 + kn_rng_below(&rng, 40);
        kn_table *table = test_random_table(&rng, n_rows, 4, 3);
        table->columns[2].role = KN_ROLE_SENSITIVE;
        table->columns[3].role = KN_ROLE_IDENTIFIER;
        table->columns[3].is_person = true;
        table->person = round % 3 == 0 ? KN_NONE : 3;
        kn_domain *domains[] = {test_domain(table, 0, NULL), test_domain(table, 1, NULL)};
        kn_tuples *t;
        assert_ok(kn_tuples_new(&t, table, domains, 2, NULL, NULL, err));
        assert_ok(kn_tuples_histograms(t, NULL, err));

        for (uint32_t tuple = 0; tuple < t->n_tuples; tuple++) {
            uint32_t n = 0, n_persons = 0;
            bool seen[8] = {false};
            for (uint32_t row = 0; row < n_rows; row++) {
                bool same = true;
                for (uint32_t q = 0; q < 2; q++)
                    same &= domains[q]->code_of_spelling[kn_column_code(&table->columns[q], row)] == t->codes[q][tuple];
                assert_int_equal(same, t->row_tuple[row] == tuple);
                if (!same) continue;
                n++;
                uint32_t person = kn_column_code(&table->columns[3], row);
                n_persons += !seen[person];
                seen[person] = true;
            }
            assert_int_equal(t->rows[tuple], n);
            assert_int_equal(t->persons[tuple], table->person != KN_NONE ? n_persons : n);
            uint32_t in_histogram = 0;
            const kn_histogram own = kn_histogram_of(&t->sensitive[0].by_tuple, tuple);
            for (uint32_t e = 0; e < own.n; e++) in_histogram += own.counts[e];
            assert_int_equal(in_histogram, n);
        }
        /* Every set of tuples: the additive count never exceeds the true one; with the repeats it is the true one. */
        for (uint32_t set = 0; table->person != KN_NONE && t->n_tuples <= 9 && set < 1u << t->n_tuples; set++) {
            uint32_t truth = 0, once = 0, sum = 0, n_repeated = 0;
            bool seen[8] = {false};
            for (uint32_t row = 0; row < n_rows; row++)
                if (set >> t->row_tuple[row] & 1 && !seen[t->row_person[row]]) {
                    seen[t->row_person[row]] = true;
                    truth++;
                }
            for (uint32_t i = 0; i < t->n_tuples; i++)
                if (set >> i & 1) {
                    once += t->persons_once[i];
                    sum += t->persons[i];
                }
            for (uint32_t i = 0, person = KN_NONE; i < t->n_repeats; i++) {
                if (!(set >> t->repeats[i].tuple & 1)) continue;
                n_repeated += t->repeats[i].person == person;
                person = t->repeats[i].person;
            }
            assert_true(once <= truth);
            assert_int_equal(sum - n_repeated, truth);
        }
        kn_tuples_free(t);
        kn_domain_free(domains[0]);
        kn_domain_free(domains[1]);
        test_table_free(table);
    }
}

/* --- Joined columns --------------------------------------------------------------------------------------------- */

static bool same_cell(const kn_table *table, uint32_t column, uint32_t i, uint32_t j)
{
    return kn_column_code(&table->columns[column], i) == kn_column_code(&table->columns[column], j);
}

/* Columns 1 .. n-1 are sensitive; every other table has counts. */
static void joined_values_are_combinations_with_the_rows_that_have_them(void **state)
{
    enum { MAX_ROWS = 40 };
    kn_rng rng = kn_rng_new(6, 0);
    for (int round = 0; round < 200; round++) {
        const uint32_t n_rows = 1 + kn_rng_below(&rng, MAX_ROWS), n_columns = 3 + kn_rng_below(&rng, 2);
        kn_table *table = test_random_table(&rng, n_rows, n_columns, 1 + kn_rng_below(&rng, 4));
        uint64_t counts[MAX_ROWS];
        uint32_t joined, again;
        for (uint32_t row = 0; row < n_rows; row++) counts[row] = round % 2 == 0 ? 1 : 1 + kn_rng_below(&rng, 9);
        for (uint32_t c = 0; c < n_columns; c++) {
            if (c > 0) table->columns[c].role = KN_ROLE_SENSITIVE;
            if (round % 2 == 1) table->columns[c].counts = counts;
        }
        kn_domain *domain = test_domain(table, 0, NULL);
        kn_tuples *t;
        assert_ok(kn_tuples_new(&t, table, &domain, 1, NULL, NULL, err));
        const uint32_t own = kn_rng_below(&rng, n_columns - 1);
        assert_ok(kn_tuples_join(&joined, t, own, err));
        assert_ok(kn_tuples_join(&again, t, own, err));
        assert_int_equal(joined, again);
        const kn_sensitive *sensitive = &t->sensitive[joined];
        for (uint32_t i = 0; i < n_rows; i++) {
            const uint32_t value = kn_column_code(sensitive->column, i);
            uint64_t rows = 0;
            assert_true(value < sensitive->n_values);
            assert_int_equal(sensitive->own_value[value], kn_column_code(&table->columns[1 + own], i));
            for (uint32_t j = 0; j < n_rows; j++) {
                bool same = true, same_others = true;
                for (uint32_t c = 1; c < n_columns; c++) same &= same_cell(table, c, i, j);
                for (uint32_t c = 1; c < n_columns; c++) same_others &= c == 1 + own || same_cell(table, c, i, j);
                const uint32_t other = kn_column_code(sensitive->column, j);
                assert_int_equal(value == other, same);
                assert_int_equal(sensitive->others[value] == sensitive->others[other], same_others);
                rows += same ? counts[j] : 0;
            }
            assert_int_equal(sensitive->value_rows[value], rows);
        }
        kn_tuples_free(t);
        kn_domain_free(domain);
        test_table_free(table);
    }
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    kn_rng rng = kn_rng_new(5, 0);
    kn_table *table = test_random_table(&rng, 50, 3, 4);
    table->columns[2].role = KN_ROLE_SENSITIVE;
    kn_domain *domains[] = {test_domain(table, 0, NULL), test_domain(table, 1, NULL)};
    size_t before = kn_memory_used();
    for (size_t n_th = 1;; n_th++) {
        kn_error err = {0};
        kn_tuples *t;
        kn_memory_fail_at(n_th);
        kn_status status = kn_tuples_new(&t, table, domains, 2, NULL, NULL, &err);
        if (status == KN_OK) status = kn_tuples_histograms(t, NULL, &err);
        kn_memory_fail_at(0);
        kn_tuples_free(t);
        assert_int_equal(kn_memory_used(), before);
        if (status == KN_OK) break;
        assert_int_equal(status, KN_RESOURCES);
        assert_true(n_th < 1000);
    }
    kn_domain_free(domains[0]);
    kn_domain_free(domains[1]);
    test_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_are_the_classes_of_equal_items),
        cmocka_unit_test(groups_are_numbered_by_their_first_items),
        cmocka_unit_test(members_list_every_item_once_in_order),
        cmocka_unit_test(values_are_gathered_by_group_in_the_order_of_the_items),
        cmocka_unit_test(histograms_count_every_pair),
        cmocka_unit_test(histograms_are_the_same_however_they_are_counted),
        cmocka_unit_test(tuples_merge_equal_rows_and_count_persons),
        cmocka_unit_test(joined_values_are_combinations_with_the_rows_that_have_them),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
