#include "release_support.h"

#include <string.h>

test_case test_case_new(kn_table *table, uint32_t n_sensitive)
{
    test_case c = {.table = table, .n_qis = table->n_columns - n_sensitive};
    for (uint32_t i = c.n_qis; i < table->n_columns; i++) table->columns[i].role = KN_ROLE_SENSITIVE;
    return c;
}

void test_case_finish(test_case *c)
{
    assert_ok(kn_tuples_new(&c->tuples, c->table, c->domains, c->n_qis, NULL, NULL, err));
    assert_ok(kn_tuples_histograms(c->tuples, NULL, err));
}

void test_case_free(test_case *c)
{
    kn_tuples_free(c->tuples);
    for (uint32_t q = 0; q < c->n_qis; q++) kn_domain_free(c->domains[q]);
    test_table_free(c->table);
}

test_case test_case_random(kn_rng *rng, uint32_t max_rows)
{
    uint32_t n_rows = 1 + kn_rng_below(rng, max_rows), n_qis = 1 + kn_rng_below(rng, 3), n_columns = n_qis + 1;
    int *numbers = kn_array_alloc((size_t)n_rows * n_columns, sizeof *numbers, NULL);
    const char **texts = kn_array_alloc((size_t)n_rows * n_columns, sizeof *texts, NULL);
    static const char *const words[] = {"ash", "birch", "cedar", "dogwood", "elm", "fir"};
    bool is_text = kn_rng_below(rng, 2), may_miss = kn_rng_below(rng, 4) == 0, is_skewed = kn_rng_below(rng, 3) == 0;
    for (size_t i = 0; i < (size_t)n_rows * n_columns; i++) {
        uint32_t n = i % n_columns == n_qis ? 1 + kn_rng_below(rng, 3) : 6;
        numbers[i] = (int)kn_rng_below(rng, kn_rng_below(rng, 2) ? n : 2);
        if (is_skewed && kn_rng_below(rng, 4) != 0) numbers[i] = 0;
        if (may_miss && kn_rng_below(rng, 8) == 0) numbers[i] = TEST_MISSING;
        texts[i] = numbers[i] == TEST_MISSING ? NULL : words[numbers[i]];
    }
    test_case c =
        test_case_new(is_text ? test_text_table(n_rows, n_columns, texts) : test_table(n_rows, n_columns, numbers), 1);
    for (uint32_t q = 0; q < n_qis; q++) {
        uint32_t kind = kn_rng_below(rng, 4);
        c.domains[q] = kind == 0   ? test_domain(c.table, q, NULL)
                       : kind == 1 ? test_suppress_domain(c.table, q)
                       : kind == 2 ? test_random_subsets_domain(rng, c.table, q)
                                   : test_random_tree_domain(rng, c.table, q, 2 + kn_rng_below(rng, 3));
        static const double weights[] = {1, 1, 2, 0.5};
        c.domains[q]->weight = weights[kn_rng_below(rng, 4)];
    }
    test_case_finish(&c);
    kn_free(numbers);
    kn_free(texts);
    return c;
}

/* --- Releases ---------------------------------------------------------------------------------------------------- */

static kn_release *start_release(const test_case *c, const uint32_t *row_class, uint32_t n_classes)
{
    uint32_t n_rows = c->tuples->n_rows;
    kn_release *release = kn_array_alloc(1, sizeof *release, NULL);
    release->tuples = c->tuples;
    release->n_classes = n_classes;
    release->cells = kn_array_alloc((size_t)n_classes * c->n_qis + 1, sizeof *release->cells, NULL);
    release->class_rows = kn_array_alloc(n_classes + 1, sizeof *release->class_rows, NULL);
    release->row_class = kn_array_alloc(n_rows, sizeof(uint32_t), NULL);
    assert_ok(kn_set_pool_new(&release->sets, err));
    for (uint32_t row = 0; row < n_rows; row++) {
        release->row_class[row] = row_class[row];
        if (row_class[row] == KN_NONE) {
            release->n_suppressed++;
        } else {
            release->class_rows[row_class[row]]++;
        }
    }
    release->class_persons = release->class_rows;
    release->n_suppressed_persons = release->n_suppressed;
    assert_ok(kn_release_count(release, NULL, err));
    return release;
}

kn_release *test_release(const test_case *c, const uint32_t *row_class, uint32_t n_classes)
{
    kn_release *release = start_release(c, row_class, n_classes);
    uint32_t n_rows = c->tuples->n_rows, *codes = kn_array_alloc(n_rows, sizeof *codes, NULL);
    for (uint32_t k = 0; k < n_classes; k++)
        for (uint32_t q = 0; q < c->n_qis; q++) {
            uint32_t n = 0;
            for (uint32_t row = 0; row < n_rows; row++)
                if (row_class[row] == k) codes[n++] = c->tuples->codes[q][c->tuples->row_tuple[row]];
            assert_ok(
                kn_domain_closure(&release->cells[k * c->n_qis + q], c->domains[q], release->sets, codes, n, err));
        }
    kn_free(codes);
    return release;
}

static void codes_of(uint32_t *codes, uint32_t *n, const kn_domain *domain, const kn_set_pool *sets,
                     const kn_cell *cell)
{
    for (uint32_t code = 0; code < domain->n_codes; code++)
        if (kn_cell_covers(cell, domain, sets, code)) codes[(*n)++] = code;
}

kn_cell test_join(const kn_domain *domain, kn_set_pool *sets, const kn_cell *a, const kn_cell *b)
{
    uint32_t codes[64], n = 0;
    kn_cell joined;
    codes_of(codes, &n, domain, sets, a);
    codes_of(codes, &n, domain, sets, b);
    assert_ok(kn_domain_closure(&joined, domain, sets, codes, n, err));
    return joined;
}

/* Numbers the classes that have rows 0, 1, ...; returns how many. */
static uint32_t renumber(uint32_t *row_class, uint32_t n_rows)
{
    uint32_t n = 0, seen[256];
    memset(seen, 0xFF, sizeof seen);
    for (uint32_t row = 0; row < n_rows; row++) {
        if (row_class[row] == KN_NONE) continue;
        if (seen[row_class[row]] == KN_NONE) seen[row_class[row]] = n++;
        row_class[row] = seen[row_class[row]];
    }
    return n;
}

static void widen_cell(kn_rng *rng, const test_case *c, kn_release *release, uint32_t k, uint32_t q)
{
    kn_cell *cell = &release->cells[k * c->n_qis + q];
    kn_cell other = kn_domain_leaf(c->domains[q], kn_rng_below(rng, c->domains[q]->n_codes));
    *cell = test_join(c->domains[q], release->sets, cell, &other);
}

kn_release *test_release_random(kn_rng *rng, const test_case *c, bool suppress)
{
    uint32_t n_rows = c->tuples->n_rows, row_class[256], n_thrown = 1 + kn_rng_below(rng, n_rows);
    for (uint32_t row = 0; row < n_rows; row++)
        row_class[row] = suppress && kn_rng_below(rng, 5) == 0 ? KN_NONE : kn_rng_below(rng, n_thrown);
    kn_release *release = test_release(c, row_class, renumber(row_class, n_rows));
    for (uint32_t i = kn_rng_below(rng, 3); i > 0 && release->n_classes > 0; i--)
        widen_cell(rng, c, release, kn_rng_below(rng, release->n_classes), kn_rng_below(rng, c->n_qis));
    return release;
}

/* Classes whose rows were already in one class keep its cells; a merged class gets the join. */
static kn_release *regroup(const test_case *c, const kn_release *from, uint32_t *row_class)
{
    uint32_t n_classes = renumber(row_class, c->tuples->n_rows);
    kn_release *release = start_release(c, row_class, n_classes);
    bool *is_set = kn_array_alloc(n_classes, 1, NULL);
    for (uint32_t row = 0; row < c->tuples->n_rows; row++) {
        if (row_class[row] == KN_NONE) continue;
        for (uint32_t q = 0; q < c->n_qis; q++) {
            uint32_t codes[64], n = 0;
            kn_cell *cell = &release->cells[row_class[row] * c->n_qis + q];
            if (is_set[row_class[row]]) codes_of(codes, &n, c->domains[q], release->sets, cell);
            codes_of(codes, &n, c->domains[q], from->sets, &from->cells[from->row_class[row] * c->n_qis + q]);
            assert_ok(kn_domain_closure(cell, c->domains[q], release->sets, codes, n, err));
        }
        is_set[row_class[row]] = true;
    }
    kn_free(is_set);
    return release;
}

kn_release *test_release_coarser(kn_rng *rng, const test_case *c, const kn_release *from, bool suppress)
{
    uint32_t n_rows = c->tuples->n_rows, row_class[256], how = kn_rng_below(rng, 3);
    memcpy(row_class, from->row_class, n_rows * sizeof *row_class);
    if (from->n_classes > 0 && how != 0) {
        uint32_t a = kn_rng_below(rng, from->n_classes), b = kn_rng_below(rng, from->n_classes);
        for (uint32_t row = 0; row < n_rows; row++)
            if (row_class[row] == a) row_class[row] = how == 2 && suppress ? KN_NONE : b;
    }
    kn_release *release = regroup(c, from, row_class);
    if (release->n_classes > 0 && how == 0)
        widen_cell(rng, c, release, kn_rng_below(rng, release->n_classes), kn_rng_below(rng, c->n_qis));
    return release;
}

static void random_map(kn_rng *rng, kn_cell *map, const kn_domain *domain, kn_set_pool *sets)
{
    uint32_t level = domain->kind == KN_DOMAIN_TREE ? kn_rng_below(rng, domain->tree->n_levels) : 0, begin = 0;
    uint32_t n_plain =
        domain->missing != KN_NONE && domain->kind == KN_DOMAIN_RANGES ? domain->n_codes - 1 : domain->n_codes;
    const bool is_all = domain->subsets != NULL && kn_rng_below(rng, 2); /* those overlap: one map takes all or none */
    for (uint32_t code = 0; code < domain->n_codes; code++)
        map[code] = is_all ? kn_domain_root(domain) : kn_domain_leaf(domain, code);
    if (domain->subsets != NULL) return;
    for (uint32_t code = 0; domain->kind == KN_DOMAIN_TREE && code < domain->n_codes; code++)
        map[code] = kn_domain_at_level(domain, code, level);
    for (uint32_t end = 1; domain->kind != KN_DOMAIN_TREE && end <= n_plain; end++) {
        if (end < n_plain && kn_rng_below(rng, 2) == 0) continue;
        uint32_t codes[64];
        kn_cell block;
        for (uint32_t i = begin; i < end; i++) codes[i - begin] = i;
        assert_ok(kn_domain_closure(&block, domain, sets, codes, end - begin, err));
        for (; begin < end; begin++) map[begin] = block;
    }
}

kn_release *test_release_global(kn_rng *rng, const test_case *c)
{
    kn_cell maps[MAX_TEST_QIS][64];
    uint32_t n_rows = c->tuples->n_rows, row_class[256] = {0}, first_row[256], n_classes = 0;
    kn_set_pool *sets;
    assert_ok(kn_set_pool_new(&sets, err));
    for (uint32_t q = 0; q < c->n_qis; q++) random_map(rng, maps[q], c->domains[q], sets);
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t k = 0, t = c->tuples->row_tuple[row];
        for (; k < n_classes; k++) {
            uint32_t q = 0, other = c->tuples->row_tuple[first_row[k]];
            while (q < c->n_qis &&
                   kn_cell_equal(&maps[q][c->tuples->codes[q][t]], &maps[q][c->tuples->codes[q][other]]))
                q++;
            if (q == c->n_qis) break;
        }
        if (k == n_classes) first_row[n_classes++] = row;
        row_class[row] = k;
    }
    kn_release *release = start_release(c, row_class, n_classes);
    kn_set_pool_free(release->sets);
    release->sets = sets;
    for (uint32_t k = 0; k < n_classes; k++)
        for (uint32_t q = 0; q < c->n_qis; q++)
            release->cells[k * c->n_qis + q] = maps[q][c->tuples->codes[q][c->tuples->row_tuple[first_row[k]]]];
    return release;
}
