/* hierarchy/: trees, domains, cells; files and SPECs. */
#include "support.h"

#include "hierarchy/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Trees ----------------------------------------------------------------------------------------------------- */

static void assert_label(const kn_tree *tree, uint32_t node, const char *expected)
{
    size_t n;
    const char *label = kn_tree_label(tree, node, &n);
    if (n != strlen(expected) || memcmp(label, expected, n) != 0)
        fail_msg("node %u is '%.*s', not '%s'", node, (int)n, label, expected);
}

static void leaves_stand_in_pre_order_and_children_as_they_first_appear(void **state)
{
    kn_tree *tree = test_tree_from_lines("b;y;*\na;x;*\nc;y;*\nd;x;*\nb;y;*\n");
    const char *labels[] = {"b", "c", "a", "d", "y", "x", "*"};
    assert_int_equal(tree->n_leaves, 4);
    assert_int_equal(tree->n_nodes, 7);
    assert_int_equal(tree->n_levels, 3);
    assert_int_equal(tree->root, 6);
    for (uint32_t i = 0; i < 7; i++) assert_label(tree, i, labels[i]);
    assert_int_equal(tree->first[5], 2);
    assert_int_equal(tree->last[5], 3);
    assert_int_equal(tree->parent[0], 4);
    assert_int_equal(tree->parent[5], 6);
    assert_int_equal(tree->parent[6], 6);
    assert_int_equal(tree->at_level[1][3], 5);
    assert_int_equal(kn_tree_join(tree, 0, 1), 4);
    assert_int_equal(kn_tree_join(tree, 1, 2), 6);
    assert_int_equal(kn_tree_join(tree, 4, 1), 4);
    kn_tree_free(tree);
}

static void a_repeated_label_is_one_node_unless_it_covers_more(void **state)
{
    kn_tree *tree = test_tree_from_lines("a;a;x;*\nb;c;x;*\nd;c;x;*\n"); /* a stands at levels 0 and 1 */
    assert_int_equal(tree->n_nodes, 6);
    assert_int_equal(tree->at_level[1][0], 0);
    assert_int_equal(tree->level[0], 0);
    assert_int_equal(tree->parent[0], 4);
    assert_int_equal(tree->n_levels, 4); /* x and * cover the same, but are two labels */
    kn_tree_free(tree);

    tree = test_tree_from_lines("u;u;*\nv;u;*\nw;w;*\n"); /* the group u is wider than the leaf u */
    assert_int_equal(kn_tree_find_leaf(tree, "u", 1), 0);
    assert_int_equal(kn_tree_find(tree, "u", 1), 3);
    assert_int_equal(kn_tree_find(tree, "w", 1), 2);
    assert_int_equal(kn_tree_find(tree, "*", 1), tree->root);
    assert_int_equal(kn_tree_find(tree, "nobody", 6), KN_NONE);
    kn_tree_free(tree);

    tree = test_tree_from_lines("a;*;*\nb;*;*\n"); /* levels above the root say nothing */
    assert_int_equal(tree->n_levels, 2);
    kn_tree_free(tree);
    tree = test_tree_from_lines("a;a;a\n");
    assert_int_equal(tree->n_levels, 1);
    assert_int_equal(tree->n_nodes, 1);
    assert_int_equal(tree->root, 0);
    kn_tree_free(tree);
}

/* --- Cells ----------------------------------------------------------------------------------------------------- */

/* The smallest node, interval or set that holds all codes, by trying everything allowed. */
static uint32_t smallest_size(const kn_domain *domain, const uint32_t *codes, size_t n_codes)
{
    uint32_t best = domain->n_codes, first = KN_NONE, last = 0;
    bool seen[64] = {false}, has_missing = false;
    uint32_t n_distinct = 0;
    for (size_t i = 0; i < n_codes; i++) {
        if (codes[i] < first) first = codes[i];
        if (codes[i] > last) last = codes[i];
        if (codes[i] == domain->missing) has_missing = true;
        if (!seen[codes[i]]) n_distinct++;
        seen[codes[i]] = true;
    }
    if (domain->kind == KN_DOMAIN_SETS || n_distinct == 1) return n_distinct;
    if (domain->kind == KN_DOMAIN_RANGES) return has_missing ? domain->n_codes : last - first + 1;
    for (uint32_t node = 0; node < domain->tree->n_nodes; node++) {
        uint32_t low = domain->tree->first[node], high = domain->tree->last[node];
        if (low <= first && high >= last && high - low + 1 < best) best = high - low + 1;
    }
    return best;
}

static void check_closures(kn_rng *rng, const kn_domain *domain)
{
    kn_set_pool *sets;
    assert_ok(kn_set_pool_new(&sets, err));
    for (int round = 0; round < 60; round++) {
        uint32_t codes[8], n = 1 + kn_rng_below(rng, 8);
        for (uint32_t i = 0; i < n; i++) codes[i] = kn_rng_below(rng, domain->n_codes);
        kn_cell cell, again;
        assert_ok(kn_domain_closure(&cell, domain, sets, codes, n, err));
        assert_int_equal(kn_cell_size(&cell, domain, sets), smallest_size(domain, codes, n));
        for (uint32_t i = 0; i < n; i++) assert_true(kn_cell_covers(&cell, domain, sets, codes[i]));
        uint32_t n_covered = 0, covered[64];
        uint64_t rows = 0;
        for (uint32_t c = 0; c < domain->n_codes; c++)
            if (kn_cell_covers(&cell, domain, sets, c)) {
                covered[n_covered++] = c;
                rows += kn_domain_code_rows(domain, c);
            }
        assert_int_equal(n_covered, kn_cell_size(&cell, domain, sets));
        assert_int_equal(rows, kn_cell_rows(&cell, domain, sets));
        /* what it covers closes to itself */
        assert_ok(kn_domain_closure(&again, domain, sets, covered, n_covered, err));
        assert_true(kn_cell_equal(&cell, &again));
        if (n_covered == domain->n_codes) {
            kn_cell root = kn_domain_root(domain);
            assert_int_equal(cell.first, root.first);
            assert_int_equal(cell.last, root.last);
            if (domain->kind != KN_DOMAIN_TREE) assert_true(kn_cell_equal(&cell, &root));
        }
    }
    kn_set_pool_free(sets);
}

static void the_closure_is_the_smallest_allowed_superset(void **state)
{
    kn_rng rng = kn_rng_new(1, 0);
    for (int round = 0; round < 200; round++) {
        uint32_t n_values = 1 + kn_rng_below(&rng, 20), n_rows = 1 + kn_rng_below(&rng, 60);
        int cells[60];
        char text[60][16];
        const char *texts[60];
        for (uint32_t r = 0; r < n_rows; r++) {
            cells[r] = kn_rng_below(&rng, 10) == 0 ? TEST_MISSING : (int)kn_rng_below(&rng, n_values);
            snprintf(text[r], sizeof text[r], "t%d", cells[r]);
            texts[r] = cells[r] == TEST_MISSING ? NULL : text[r];
        }
        kn_table *numbers = test_table(n_rows, 1, cells), *words = test_text_table(n_rows, 1, texts);
        kn_domain *domains[] = {test_domain(numbers, 0, NULL), test_domain(words, 0, NULL),
                                test_random_tree_domain(&rng, numbers, 0, 1 + kn_rng_below(&rng, 5)),
                                test_suppress_domain(words, 0)};
        for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
            check_closures(&rng, domains[i]);
            kn_domain_free(domains[i]);
        }
        test_table_free(numbers);
        test_table_free(words);
    }
}

static void equal_sets_have_equal_ids(void **state)
{
    kn_rng rng = kn_rng_new(2, 0);
    kn_set_pool *sets;
    static uint32_t ids[1 << 10];
    memset(ids, 0xFF, sizeof ids);
    uint32_t n_seen = 0;
    assert_ok(kn_set_pool_new(&sets, err));
    for (int round = 0; round < 20000; round++) {
        uint32_t bits = kn_rng_below(&rng, 1 << 10), codes[10], n = 0, id, n_back;
        for (uint32_t c = 0; c < 10; c++)
            if ((bits >> c & 1) != 0) codes[n++] = c;
        if (n < 2) continue;
        assert_ok(kn_set_pool_add(&id, sets, codes, n, err));
        if (ids[bits] == KN_NONE) {
            assert_int_equal(id, n_seen++);
            ids[bits] = id;
        }
        assert_int_equal(id, ids[bits]);
        assert_memory_equal(kn_set_pool_get(sets, id, &n_back), codes, n * sizeof *codes);
        assert_int_equal(n_back, n);
    }
    kn_set_pool_free(sets);
}

static void assert_text(const char *expected, const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    kn_buffer text = {0};
    kn_cell_text(&text, cell, domain, sets);
    assert_string_equal(text.n > 0 ? text.bytes : "", expected);
    kn_buffer_free(&text);
}

static void cells_are_written_as_labels_intervals_sets_and_stars(void **state)
{
    const int numbers[] = {30, 39, 35, 30, TEST_MISSING};
    const char *words[] = {"x|y", "b..c", "b..c", "x|y", "b..c", "."};
    kn_table *table = test_table(5, 1, numbers), *texts = test_text_table(6, 1, words);
    kn_domain *ranges = test_domain(table, 0, NULL), *free_sets = test_domain(texts, 0, NULL);
    kn_domain *tree = test_domain(table, 0, "30;30-34;any\n35;35-39;any\n39;35-39;any\n40;40-44;any\n");
    kn_set_pool *sets;
    kn_cell cell;
    assert_ok(kn_set_pool_new(&sets, err));

    assert_ok(kn_domain_closure(&cell, ranges, sets, (uint32_t[]){2, 0}, 2, err));
    assert_text("30..39", &cell, ranges, sets);
    assert_ok(kn_domain_closure(&cell, ranges, sets, (uint32_t[]){2, 3}, 2, err));
    assert_text("*", &cell, ranges, sets);
    cell = kn_domain_leaf(ranges, 3);
    assert_text("", &cell, ranges, sets);
    assert_ok(kn_domain_closure(&cell, free_sets, sets, (uint32_t[]){1, 0}, 2, err));
    assert_text("{b\\.\\.c|x\\|y}", &cell, free_sets, sets);
    cell = kn_domain_leaf(free_sets, 1);
    assert_text("x|y", &cell, free_sets, sets);
    cell = kn_domain_root(free_sets);
    assert_text("*", &cell, free_sets, sets);
    cell = kn_domain_at_level(tree, 1, 1);
    assert_text("35-39", &cell, tree, sets);
    cell = kn_domain_at_level(tree, 3, 1);
    assert_text("40-44", &cell, tree, sets);
    cell = kn_domain_leaf(tree, 3);
    assert_text("40", &cell, tree, sets);
    cell = kn_domain_root(tree);
    assert_text("any", &cell, tree, sets);
    assert_int_equal(tree->missing, 4);
    assert_int_equal(tree->tree->parent[4], tree->tree->root);

    kn_set_pool_free(sets);
    kn_domain_free(ranges);
    kn_domain_free(free_sets);
    kn_domain_free(tree);
    test_table_free(table);
    test_table_free(texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_stand_in_pre_order_and_children_as_they_first_appear),
        cmocka_unit_test(a_repeated_label_is_one_node_unless_it_covers_more),
        cmocka_unit_test(the_closure_is_the_smallest_allowed_superset),
        cmocka_unit_test(equal_sets_have_equal_ids),
        cmocka_unit_test(cells_are_written_as_labels_intervals_sets_and_stars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
