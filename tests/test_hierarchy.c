/* hierarchy/: trees, domains, cells; files and SPECs. */
#include "table/natural.h"
#include "table/number_marks.h"
#include "support.h"

#include "base/hash.h"
#include "hierarchy/tools.h"
#include "source/csv/csv_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* --- Collections of subsets -------------------------------------------------------------------------------------- */

/* The smallest of the subsets, the single values and everything that holds `values`, by trying them all; 0: there are
 * two. */
static uint64_t smallest_subset(const uint64_t *subsets, uint32_t n, uint64_t all, uint64_t values)
{
    uint64_t best = all;
    if ((values & (values - 1)) == 0) return values;
    for (uint32_t i = 0; i < n; i++)
        if ((values & ~subsets[i]) == 0 && __builtin_popcountll(subsets[i]) < __builtin_popcountll(best))
            best = subsets[i];
    for (uint32_t i = 0; i < n; i++)
        if ((values & ~subsets[i]) == 0 && (best & ~subsets[i]) != 0) return 0;
    return best;
}

static uint64_t values_of(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    uint64_t bits = 0;
    for (uint32_t code = 0; code < domain->n_codes; code++)
        bits |= (uint64_t)kn_cell_covers(cell, domain, sets, code) << code;
    return bits;
}

/* Closure, label and back again, of every set of values. */
static void check_subsets(const kn_domain *domain, const uint64_t *subsets, uint32_t n_subsets)
{
    const uint64_t all = ((uint64_t)1 << domain->n_codes) - 1;
    kn_set_pool *sets;
    assert_ok(kn_set_pool_new(&sets, err));
    for (uint64_t values = 1; values <= all; values++) {
        uint32_t codes[16], n = 0;
        kn_cell cell, back;
        kn_buffer text = {0};
        for (uint32_t code = 0; code < domain->n_codes; code++)
            if (values >> code & 1) codes[n++] = code;
        assert_ok(kn_domain_closure(&cell, domain, sets, codes, n, err));
        const uint64_t expected = smallest_subset(subsets, n_subsets, all, values);
        assert_true(values_of(&cell, domain, sets) == expected);
        assert_int_equal(kn_cell_size(&cell, domain, sets), __builtin_popcountll(expected));
        kn_cell_text(&text, &cell, domain, sets);
        if (expected == all && n > 1) assert_true(text.n == 1 && text.bytes[0] == '*');
        assert_ok(kn_cell_parse(&back, domain, sets, text.bytes, text.n, err));
        assert_true(kn_cell_equal(&cell, &back));
        for (uint32_t i = 0; i < n_subsets && n > 1; i++) {
            char label[16];
            snprintf(label, sizeof label, "S%u", i);
            if (subsets[i] == expected) assert_true(text.n == strlen(label) && memcmp(text.bytes, label, text.n) == 0);
        }
        kn_buffer_free(&text);
    }
    kn_set_pool_free(sets);
}

static kn_status build_subsets(kn_domain **out, const kn_table *table, const char *text, kn_error *err)
{
    const kn_hierarchy_request request = {
        .spec = "towns.csv", .text = text, .n_text_bytes = strlen(text), .weight = 1, .max_level = KN_NONE};
    return kn_domain_build(out, &table->columns[0], "test", table->n_rows, &request, err);
}

/* Whoever has no smallest subset for some values is refused, and nobody else; the pair in the message is such a one. */
static void a_collection_has_one_smallest_subset_or_is_refused_with_the_pair(void **state)
{
    kn_rng rng = kn_rng_new(31, 0);
    uint32_t n_refused = 0, n_built = 0;
    for (int trial = 0; trial < 400; trial++) {
        uint64_t subsets[TEST_MAX_SUBSETS];
        const uint32_t n_values = 1 + kn_rng_below(&rng, 9);
        const uint32_t n = test_random_subsets(&rng, subsets, n_values, trial % 2 == 0);
        const uint64_t all = ((uint64_t)1 << n_values) - 1;
        int cells[9];
        for (uint32_t i = 0; i < n_values; i++) cells[i] = (int)i;
        kn_table *table = test_table(n_values, 1, cells);
        char *text = test_subsets_text(subsets, n, n_values, NULL);
        bool is_unique = true;
        for (uint64_t values = 1; values <= all; values++) is_unique &= smallest_subset(subsets, n, all, values) != 0;
        if (trial % 2 == 0) assert_true(is_unique);
        kn_domain *domain;
        kn_error err = {0};
        const kn_status status = build_subsets(&domain, table, text, &err);
        assert_int_equal(status, is_unique ? KN_OK : KN_INPUT);
        if (is_unique) {
            n_built++;
            check_subsets(domain, subsets, n);
        } else {
            unsigned a, b, n_common;
            const char *pair = strstr(err.message, "the labels 'S");
            n_refused++;
            assert_non_null(pair);
            assert_int_equal(
                sscanf(pair, "the labels 'S%u' (line %*u) and 'S%u' (line %*u) have %u", &a, &b, &n_common), 3);
            const uint64_t common = subsets[a] & subsets[b];
            assert_int_equal(n_common, __builtin_popcountll(common));
            assert_true(smallest_subset(subsets, n, all, common) == 0);
        }
        kn_domain_free(domain);
        kn_free(text);
        test_table_free(table);
    }
    assert_true(n_refused > 30 && n_built > 200);
}

static void assert_no_collection(const char *text, const char *reason)
{
    kn_table *table = test_table(2, 1, (const int[]){1, 2});
    kn_domain *domain;
    kn_error err = {0};
    assert_int_equal(build_subsets(&domain, table, text, &err), KN_INPUT);
    if (strstr(err.message, reason) == NULL) fail_msg("not '%s': %s", reason, err.message);
    test_table_free(table);
}

static void lines_that_are_no_collection_are_refused(void **state)
{
    assert_no_collection("# subsets\n", "is empty");
    assert_no_collection("# subsets\n1;a\n2;a\n1;b\n", "line 4: '1' has a line already, line 2");
    assert_no_collection("# subsets\n1;a\n2;1\n", "line 3: the label '1' is a value, too, in line 2");
    assert_no_collection("# subsets\n1;a;b\n2;b;a\n3\n", "'a' (line 2) and 'b' (line 2) hold the same values");
    assert_no_collection("# subsets\n1;a\n", "'2' is not in the hierarchy");
    assert_no_collection("# subsets\n1;;a\n2;a\n", "label 2 is empty");
    assert_no_collection("# subsets of towns\n1;a\n2;a\n", "labels"); /* not that line: one label, and two */
}

/* * is everything wherever it stands; labels of one value, or of all, are words that a reader knows, and are not
 * written. The missing value is in nothing but everything. */
static void other_words_for_a_value_or_for_everything_are_read(void **state)
{
    kn_table *table = test_table(4, 1, (const int[]){1, 2, 3, TEST_MISSING});
    kn_domain *domain;
    kn_set_pool *sets;
    kn_cell cell, all;
    assert_ok(build_subsets(&domain, table, "# subsets\n1;one;*;low;any\n2;low;any\n3;any\n", err));
    assert_ok(kn_set_pool_new(&sets, err));
    assert_int_equal(domain->n_codes, 4);
    assert_int_equal(domain->missing, 3);
    assert_ok(kn_cell_parse(&cell, domain, sets, "one", 3, err));
    assert_true(values_of(&cell, domain, sets) == 1);
    assert_ok(kn_cell_parse(&cell, domain, sets, "low", 3, err));
    assert_true(values_of(&cell, domain, sets) == 3);
    assert_ok(kn_cell_parse(&cell, domain, sets, "any", 3, err));
    assert_true(values_of(&cell, domain, sets) == 7);
    assert_ok(kn_domain_closure(&cell, domain, sets, (const uint32_t[]){0, 3}, 2, err));
    all = kn_domain_root(domain);
    assert_true(kn_cell_equal(&cell, &all));
    kn_error reason = {0};
    assert_int_equal(kn_cell_parse(&cell, domain, sets, "{1|2}", 5, &reason), KN_INPUT); /* no label: no member */
    kn_domain_free(domain);
    test_table_free(table);

    table = test_table(3, 1, (const int[]){1, 2, 3}); /* nothing is missing: `any` is everything */
    assert_ok(build_subsets(&domain, table, "# subsets\n1;any\n2;any\n3;any\n", err));
    assert_ok(kn_domain_closure(&cell, domain, sets, (const uint32_t[]){0, 1}, 2, err));
    all = kn_domain_root(domain);
    assert_true(kn_cell_equal(&cell, &all));
    assert_ok(kn_cell_parse(&cell, domain, sets, "any", 3, err));
    assert_int_equal(kn_cell_size(&cell, domain, sets), 3);
    kn_set_pool_free(sets);
    kn_domain_free(domain);
    test_table_free(table);
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

/* --- Files ----------------------------------------------------------------------------------------------------- */

static kn_status parse_text(kn_tree **out, const char *text, kn_error *err)
{
    return kn_tree_parse(out, text, strlen(text), "h.csv", false, err);
}

static void assert_refused(const char *text, const char *message)
{
    kn_error err = {0};
    kn_tree *tree;
    assert_int_equal(parse_text(&tree, text, &err), KN_INPUT);
    assert_null(tree);
    assert_string_equal(err.message, message);
}

static void a_file_may_look_like_any_csv(void **state)
{
    const char *same[] = {
        "a;x;*\nb;x;*\nc;y;*\n",
        "\xEF\xBB\xBF"
        "a;x;*\r\nb;x;*\r\n\r\nc;y;*",
        "a,x,*\rb,x,*\rc,y,*\r",
        "\"a\",\"x\",*\nb,x,\"*\"\n\nc,y,*\n",
        "a;x;*\nb;x;*\na;x;*\nc;\"y\";*\nc;y;*\n",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        kn_tree *tree;
        assert_ok(parse_text(&tree, same[i], err));
        char *text;
        assert_ok(kn_tree_to_text(&text, tree, err));
        assert_string_equal(text, same[0]);
        kn_free(text);
        kn_tree_free(tree);
    }
    kn_tree *tree;
    assert_ok(parse_text(&tree, "\"a;b\",\"say \"\"hi\"\"\",*\n5\" pipe,\"two\nlines\",*\n", err));
    const char *labels[] = {"a;b", "5\" pipe", "say \"hi\"", "two\nlines", "*"};
    for (uint32_t i = 0; i < 5; i++) assert_label(tree, i, labels[i]);
    kn_tree_free(tree);
    assert_ok(parse_text(&tree, "[1,5);[1,9)\n", err));
    assert_int_equal(tree->n_levels, 2);
    kn_tree_free(tree);
}

static void a_wrong_file_is_refused_with_both_places(void **state)
{
    assert_refused("a;x;*\nb;y;*\na;y;*\n",
                   "h.csv, line 3, column 1: 'a' has the parent 'y', but in line 1 it has the parent 'x'; a label can "
                   "stand below one parent only: rename one of the two or give them the same parent");
    assert_refused("a;x;p;*\n\nb;x;q;*\n",
                   "h.csv, line 3, column 2: 'x' has the parent 'q', but in line 1 it has the parent 'p'; a label can "
                   "stand below one parent only: rename one of the two or give them the same parent");
    assert_refused("a;x\nb;x\nc;y\n",
                   "h.csv, line 3: the root is 'y', but in line 1 it is 'x'; every line must end with the "
                   "same label: add a common root such as * as last column");
    assert_refused(
        "name;group\na;*\nb;*\n",
        "h.csv, line 2: the root is '*', but in line 1 it is 'group'; every line must end with the same label, "
        "and there is no header line: remove it if that is one");
    assert_refused("a;x;*\nb;*\n",
                   "h.csv, line 2: 2 labels, but line 1 has 3; all lines must have the same number: repeat "
                   "a label where a branch is shorter");
    assert_refused("a;x;*\nb;;*\n",
                   "h.csv, line 2: label 2 is empty; every line needs a label for each level, without a ';' "
                   "at its end");
    assert_refused(
        "a,x,\n", "h.csv, line 1: label 3 is empty; every line needs a label for each level, without a ',' at its end");
    assert_refused("a;x;*\nb;\"\";*\n",
                   "h.csv, line 2: label 2 is empty; every line needs a label for each level, without a "
                   "';' at its end");
    assert_refused("a;\"x\ny\";*\nb;\"z;*\n", "h.csv, line 3: a quoted label is never closed; add the missing \"");
    assert_refused("a;\"x\"y;*\n",
                   "h.csv, line 1: text after a closing quote; a quote inside a quoted label is written twice");
    assert_refused("a;x;*\nb;\xE9;*\n", "h.csv, line 2: byte 0xE9 is not UTF-8; save the hierarchy as UTF-8");
    assert_refused("\xFF\xFE"
                   "a",
                   "h.csv: the hierarchy is UTF-16; save it as UTF-8");
    assert_refused("", "h.csv: the hierarchy is empty");
    assert_refused("\n\r\n", "h.csv: the hierarchy is empty");
    assert_refused("a;x;p;*\nx;y;q;*\n",
                   "h.csv, line 1: 'x' stands for something else than in line 2; a label may repeat only "
                   "along one path from leaf to root: rename one of the two");
    kn_error err = {0};
    kn_tree *tree;
    assert_int_equal(kn_tree_parse(&tree, "a;\0;*", 5, "h.csv", false, &err), KN_INPUT);
    assert_string_equal(
        err.message,
        "h.csv, line 1, character 3: a NUL byte; this is no text file, or UTF-16: save the hierarchy as UTF-8");
    err.message[0] = '\0';
    assert_int_equal(kn_tree_parse(&tree, "a;x\na;y", 7, "h.csv", true, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "(redacted)"));
    assert_null(strchr(err.message, '\''));
    err.message[0] = '\0';
    assert_int_equal(kn_tree_read(&tree, "no/such/file.csv", false, NULL, &err), KN_INPUT);
    assert_string_equal(err.message, "no/such/file.csv: cannot be opened: No such file or directory");
    err.message[0] = '\0';
    assert_int_equal(kn_tree_read(&tree, ".", false, NULL, &err), KN_INPUT);
    assert_string_equal(err.message, ".: cannot be read: it is a folder");
}

static void assert_same_tree(const kn_tree *a, const kn_tree *b)
{
    assert_int_equal(a->n_leaves, b->n_leaves);
    assert_int_equal(a->n_nodes, b->n_nodes);
    assert_int_equal(a->n_levels, b->n_levels);
    assert_memory_equal(a->parent, b->parent, a->n_nodes * sizeof *a->parent);
    assert_memory_equal(a->first, b->first, a->n_nodes * sizeof *a->first);
    assert_memory_equal(a->last, b->last, a->n_nodes * sizeof *a->last);
    assert_memory_equal(a->label_offset, b->label_offset, (a->n_nodes + 1) * sizeof *a->label_offset);
    assert_memory_equal(a->label_bytes, b->label_bytes, a->label_offset[a->n_nodes]);
}

/* Any ranges, nested; labels with everything that a file must quote. */
static void a_written_tree_reads_back_the_same(void **state)
{
    static const char *nasty[] = {";",  ",",   "\"", "\n",       "\r",           " ", "*",
                                  "..", "{|}", "\\", "\xC3\xA9", "\xEF\xBB\xBF", "'", "a"};
    kn_rng rng = kn_rng_new(3, 0);
    for (int round = 0; round < 500; round++) {
        uint32_t n_leaves = 1 + kn_rng_below(&rng, 12), n_levels = 1 + kn_rng_below(&rng, 4), group[5][13] = {{0}};
        if (n_leaves > 1 && n_levels == 1) n_levels = 2;
        kn_buffer lines = {0};
        for (uint32_t i = 0; i < n_leaves; i++)
            for (uint32_t l = 0; l < n_levels; l++) {
                bool starts = l == 0 || (l + 1 < n_levels && group[l - 1][i] == i && kn_rng_below(&rng, 2) == 0);
                group[l][i] = i == 0 || starts ? i : group[l][i - 1];
                kn_buffer_printf(&lines, "%s\"%u-%u", l > 0 ? ";" : "", l + 1 == n_levels ? 0 : group[l][i], l);
                uint64_t pick = kn_checksum_u64(group[l][i] * 10 + l + (uint64_t)round * 1000);
                for (; pick % 3 != 0; pick /= 3) {
                    const char *piece = nasty[pick / 3 % (sizeof nasty / sizeof *nasty)];
                    kn_buffer_text(&lines, *piece == '"' ? "\"\"" : piece);
                }
                kn_buffer_text(&lines, l + 1 == n_levels ? "\"\n" : "\"");
            }
        kn_tree *tree, *again;
        char *text;
        assert_ok(parse_text(&tree, lines.bytes, err));
        assert_int_equal(tree->n_leaves, n_leaves);
        assert_ok(kn_tree_to_text(&text, tree, err));
        assert_ok(parse_text(&again, text, err));
        assert_same_tree(tree, again);
        kn_free(text);
        kn_buffer_free(&lines);
        kn_tree_free(tree);
        kn_tree_free(again);
    }
}

/* --- Files and data -------------------------------------------------------------------------------------------- */

/* A file in the current folder with this text; unlink it. */
static const char *temporary_file(const char *text)
{
    static char path[] = "/tmp/kanon-test-XXXXXX";
    strcpy(path + sizeof path - 7, "XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    return path;
}

static kn_status build(kn_domain **out, const kn_table *table, const char *spec, bool must_be_tree, kn_error *err)
{
    kn_hierarchy_request request = {.spec = spec, .must_be_tree = must_be_tree, .weight = 1, .max_level = KN_NONE};
    return kn_domain_build(out, &table->columns[0], table->source, table->n_rows, &request, err);
}

static void assert_same_domain(const kn_domain *a, const kn_domain *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->n_codes, b->n_codes);
    assert_int_equal(a->missing, b->missing);
    assert_memory_equal(a->code_of_spelling, b->code_of_spelling, a->column->n_spellings * sizeof(uint32_t));
    assert_memory_equal(a->spelling_of_code, b->spelling_of_code, a->n_codes * sizeof(uint32_t));
    assert_memory_equal(a->rows_before, b->rows_before, (a->n_codes + 1) * sizeof(uint64_t));
    if (a->kind == KN_DOMAIN_TREE) {
        assert_same_tree(a->tree, b->tree);
        assert_int_equal(a->max_level, b->max_level);
    }
}

/* The domains of tests/support.c are written on their own, so they serve as oracle. */
static void domains_are_what_their_definition_says(void **state)
{
    kn_rng rng = kn_rng_new(4, 0);
    for (int round = 0; round < 200; round++) {
        uint32_t n_rows = 1 + kn_rng_below(&rng, 40);
        int cells[40];
        char text[40][16];
        const char *texts[40];
        for (uint32_t r = 0; r < n_rows; r++) {
            cells[r] = kn_rng_below(&rng, 8) == 0 ? TEST_MISSING : (int)kn_rng_below(&rng, 9) - 4;
            snprintf(text[r], sizeof text[r], "t%d", cells[r]);
            texts[r] = cells[r] == TEST_MISSING ? NULL : text[r];
        }
        kn_table *tables[] = {test_table(n_rows, 1, cells), test_text_table(n_rows, 1, texts)};
        for (int i = 0; i < 2; i++) {
            kn_domain *expected = test_domain(tables[i], 0, NULL), *got;
            assert_ok(build(&got, tables[i], NULL, false, err));
            assert_same_domain(got, expected);
            kn_domain_free(expected);
            kn_domain_free(got);
            if (!tables[i]->columns[0].has_missing) {
                expected = test_suppress_domain(tables[i], 0);
                assert_ok(build(&got, tables[i], "suppress", false, err));
                assert_same_domain(got, expected);
                kn_domain_free(expected);
                kn_domain_free(got);
            }
        }
        const char *lines = "4;p;*\n-1;n;*\n-2;n;*\n-3;n;*\n-4;n;*\n0;0;*\n1;p;*\n2;p;*\n3;p;*\n";
        const char *path = temporary_file(lines);
        kn_domain *expected = test_domain(tables[0], 0, lines), *got;
        assert_ok(build(&got, tables[0], path, false, err));
        unlink(path);
        assert_same_domain(got, expected);
        kn_domain_free(expected);
        kn_domain_free(got);
        test_table_free(tables[0]);
        test_table_free(tables[1]);
    }
}

static void assert_build_fails(const kn_table *table, const char *lines, const char *format)
{
    kn_error err = {0};
    kn_domain *domain;
    const char *path = temporary_file(lines);
    char expected[1000];
    assert_int_equal(build(&domain, table, path, false, &err), KN_INPUT);
    unlink(path);
    assert_null(domain);
    snprintf(expected, sizeof expected, format, path);
    assert_string_equal(err.message, expected);
}

static void a_value_outside_the_hierarchy_is_named_with_its_line(void **state)
{
    const char *words[] = {"a", " b", "x", "a", "b"};
    kn_table *table = test_text_table(5, 1, words);
    assert_build_fails(table, "a;*\nb;*\n",
                       "test.csv, line 3, column a: ' b' is not in the hierarchy %s (nor is 1 more value); "
                       "without the blanks around it, it is: use --trim");
    assert_build_fails(table, "a;*\nb;*\n b;*\n",
                       "test.csv, line 4, column a: 'x' is not in the hierarchy %s; add a line for it "
                       "there, or correct the data");
    /* the label of an inner node is no value */
    assert_build_fails(table, "a;x;*\nb;x;*\n b;x;*\n",
                       "test.csv, line 4, column a: 'x' is not in the hierarchy %s; add a line "
                       "for it there, or correct the data");
    test_table_free(table);
}

static void numbers_are_found_by_value(void **state)
{
    const int numbers[] = {1, 2, 10};
    kn_table *table = test_table(3, 1, numbers);
    const char *path = temporary_file("2.0;low;*\n1.5;low;*\n01;low;*\n1e1;high;*\n");
    kn_domain *domain;
    assert_ok(build(&domain, table, path, false, err));
    unlink(path);
    assert_int_equal(domain->n_codes, 4);
    assert_int_equal(domain->code_of_spelling[0], 2);
    assert_int_equal(domain->code_of_spelling[1], 0);
    assert_int_equal(domain->code_of_spelling[2], 3);
    assert_int_equal(domain->spelling_of_code[1], KN_NONE);
    kn_cell cell = kn_domain_leaf(domain, 0);
    assert_text("2", &cell, domain, NULL); /* as the data spells it */
    cell = kn_domain_leaf(domain, 1);
    assert_text("1.5", &cell, domain, NULL);
    kn_domain_free(domain);
    test_table_free(table);
}

static void levels_are_checked(void **state)
{
    const int numbers[] = {1, 2};
    kn_table *table = test_table(2, 1, numbers);
    kn_domain *domain;
    static const struct {
        const char *spec;
        uint32_t min_level, max_level;
        const char *message;
    } wrong[] = {
        {"suppress", 0, 2, "column a: max_level is 2, but its hierarchy has levels 0 to 1"},
        {"suppress", 1, 0, "column a: min_level is 1, above max_level 0"},
        {"suppress", 2, KN_NONE, "column a: min_level is 2, above the hierarchy's highest level 1"},
        {NULL, 1, KN_NONE, "column a: min_level and max_level need a hierarchy with levels"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kn_error err = {0};
        kn_hierarchy_request request = {
            .spec = wrong[i].spec, .min_level = wrong[i].min_level, .max_level = wrong[i].max_level};
        assert_int_equal(kn_domain_build(&domain, &table->columns[0], "d", 2, &request, &err), KN_USAGE);
        assert_string_equal(err.message, wrong[i].message);
    }
    kn_hierarchy_request request = {.spec = "suppress", .min_level = 1, .max_level = KN_NONE, .weight = 3};
    assert_ok(kn_domain_build(&domain, &table->columns[0], "d", 2, &request, err));
    assert_int_equal(domain->min_level, 1);
    assert_int_equal(domain->max_level, 1);
    assert_true(domain->weight == 3);
    kn_domain_free(domain);
    test_table_free(table);
}

static void a_rounded_value_is_the_interval_between_two_multiples(void **state)
{
    enum { N = 60, STEP = 7 };
    static const char *const specs[] = {NULL, "auto", "suppress", "intervals(7,21)"};
    int numbers[N];
    for (int i = 0; i < N; i++) numbers[i] = i * 37 % 101 - 50;
    kn_table *table = test_table(N, 1, numbers);
    const size_t before = kn_memory_used();
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        kn_domain *domain;
        kn_buffer text = {0};
        const kn_hierarchy_request request = {
            .spec = specs[i], .grid = specs[i] == NULL ? "7" : NULL, .round = "7", .weight = 1, .max_level = KN_NONE};
        assert_ok(kn_domain_build(&domain, &table->columns[0], "d", N, &request, err));
        for (uint32_t row = 0; row < N; row++) {
            const uint32_t code = domain->code_of_spelling[kn_column_code(&table->columns[0], row)];
            const kn_cell cell = kn_domain_leaf(domain, code);
            char expected[64];
            const int low = (int)floor((double)numbers[row] / STEP) * STEP;
            text.n = 0;
            kn_cell_text(&text, &cell, domain, NULL);
            kn_buffer_char(&text, '\0');
            snprintf(expected, sizeof expected, "%d..%d", low, low + STEP - 1);
            assert_string_equal(text.bytes, expected);
        }
        kn_buffer_free(&text);
        kn_domain_free(domain);
    }
    for (size_t nth = 1, i = 0; i < sizeof specs / sizeof *specs; nth++) { /* every failing allocation is survived */
        kn_error err = {0};
        kn_domain *domain = NULL;
        const kn_hierarchy_request request = {
            .spec = specs[i], .grid = specs[i] == NULL ? "7" : NULL, .round = "7", .weight = 1, .max_level = KN_NONE};
        kn_memory_fail_at(nth);
        kn_status status = kn_domain_build(&domain, &table->columns[0], "d", N, &request, &err);
        const bool reached = kn_memory_allocations() >= nth;
        kn_memory_fail_at(0);
        kn_domain_free(domain);
        assert_int_equal(kn_memory_used(), before);
        assert_int_equal(status, reached ? KN_RESOURCES : KN_OK);
        if (!reached) nth = 0, i++;
    }
    test_table_free(table);
}

/* --- SPECs ----------------------------------------------------------------------------------------------------- */

/* The tree of a SPEC as the text of a file; the missing value, spelled "", is left out. */
static void assert_spec(kn_type type, const char *const *cells, const char *spec, const char *expected)
{
    uint32_t n = 0;
    while (cells[n] != NULL) n++;
    kn_table *table = test_typed_table(type, n, 1, cells);
    kn_domain *domain;
    char *text;
    assert_ok(build(&domain, table, spec, true, err));
    assert_int_equal(domain->kind, KN_DOMAIN_TREE);
    assert_ok(kn_tree_to_text(&text, domain->tree, err));
    assert_string_equal(text, expected);
    for (uint32_t code = 0; code < domain->n_codes; code++)
        assert_int_equal(domain->code_of_spelling[domain->spelling_of_code[code]], code);
    kn_free(text);
    kn_domain_free(domain);
    test_table_free(table);
}

static void assert_spec_fails(kn_type type, const char *cell, const char *spec, kn_status status, const char *message)
{
    kn_table *table = test_typed_table(type, 1, 1, &cell);
    kn_domain *domain;
    kn_error err = {0};
    assert_int_equal(build(&domain, table, spec, false, &err), status);
    assert_string_equal(err.message, message);
    assert_null(domain);
    test_table_free(table);
}

#define CELLS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void intervals_are_aligned_and_nest(void **state)
{
    assert_spec(KN_TYPE_INT, CELLS("7", "-1", "0", "23", "-12", "24"), "intervals(5,10)",
                "-12;-15..-11;-20..-11;*\n-1;-5..-1;-10..-1;*\n0;0..4;0..9;*\n7;5..9;0..9;*\n23;20..24;20..29;*\n"
                "24;20..24;20..29;*\n");
    assert_spec(KN_TYPE_INT, CELLS("7", "8"), "intervals( 1 , 2.0 )", "7;7;6..7;*\n8;8;8..9;*\n");
    assert_spec(KN_TYPE_DECIMAL, CELLS("0.3", "0.25", "-0.1", "1e1", "2.50"), "intervals(0.1,0.5)",
                "-0.1;-0.1..<0;-0.5..<0;*\n0.25;0.2..<0.3;0..<0.5;*\n0.3;0.3..<0.4;0..<0.5;*\n"
                "2.50;2.5..<2.6;2.5..<3;*\n1e1;10..<10.1;10..<10.5;*\n");
    assert_spec(KN_TYPE_INT, CELLS("3", "4"), "intervals(2.5)", "3;2.5..<5;*\n4;2.5..<5;*\n");
    assert_spec(KN_TYPE_INT, CELLS("1000000000000", "5"), "intervals(1000000000)",
                "5;0..999999999;*\n1000000000000;1000000000000..1000999999999;*\n");

    assert_spec(KN_TYPE_DECIMAL, CELLS("0.29999999999999999999"), "intervals(0.1)",
                "0.29999999999999999999;0.2..<0.3;*\n"); /* below 0.3, though both are one double */
    assert_spec(KN_TYPE_DECIMAL, CELLS("-0.30000000000000000001"), "intervals(0.1)",
                "-0.30000000000000000001;-0.4..<-0.3;*\n");

    /* a value lies in its interval and in no other, for decimals that doubles cannot hold */
    for (int i = -2000; i <= 2000; i++) {
        char cell[32], low[32], expected[100];
        snprintf(cell, sizeof cell, "%s%d.%02d", i < 0 ? "-" : "", abs(i) / 100, abs(i) % 100);
        int tenth = i >= 0 ? i / 10 : -((-i + 9) / 10), next = tenth + 1;
        snprintf(low, sizeof low, tenth % 10 == 0 ? "%s%d" : "%s%d.%d", tenth < 0 ? "-" : "", abs(tenth) / 10,
                 abs(tenth) % 10);
        snprintf(expected, sizeof expected, next % 10 == 0 ? "%s;%s..<%s%d;*\n" : "%s;%s..<%s%d.%d;*\n", cell, low,
                 next < 0 ? "-" : "", abs(next) / 10, abs(next) % 10);
        assert_spec(KN_TYPE_DECIMAL, CELLS(cell), "intervals(0.1)", expected);
    }

    assert_spec_fails(
        KN_TYPE_INT, "1", "intervals(5,12)", KN_USAGE,
        "hierarchy intervals(5,12): width 12 is no multiple of the one before; intervals nest only when each width "
        "is a multiple of the one before, as in intervals(5,10,20)");
    assert_spec_fails(
        KN_TYPE_INT, "1", "intervals(5,5)", KN_USAGE,
        "hierarchy intervals(5,5): width 5 is no multiple of the one before; intervals nest only when each width "
        "is a multiple of the one before, as in intervals(5,10,20)");
    const char *no_width[] = {"", "0", "-5", "x", "5x", "1e3", "0.0000000001", "99999999999999999999"};
    for (size_t i = 0; i < sizeof no_width / sizeof *no_width; i++) {
        char spec[64], message[200];
        snprintf(spec, sizeof spec, "intervals(%s)", no_width[i]);
        snprintf(message, sizeof message,
                 "hierarchy %s: '%s' is no width; a width is a number above 0 such as 5 or 0.25", spec, no_width[i]);
        assert_spec_fails(KN_TYPE_INT, "1", spec, KN_USAGE, message);
    }
    assert_spec_fails(
        KN_TYPE_TEXT, "old", "intervals(5)", KN_INPUT,
        "test.csv, line 2, column a: 'old' is no number, but intervals(5) needs numbers; correct the data, or name "
        "such values with --null");
    assert_spec_fails(KN_TYPE_DATE, "2024-01-31", "intervals(5)", KN_USAGE,
                      "column a: intervals(5) needs numbers, but the column holds dates; use date(month,quarter,year)");
    assert_spec_fails(
        KN_TYPE_INT, "9007199254740993", "intervals(5)", KN_INPUT,
        "test.csv, line 2, column a: '9007199254740993' is too large for intervals(5); numbers must stay below 9e+15");
}

static void masks_replace_characters_from_one_side(void **state)
{
    assert_spec(KN_TYPE_TEXT, CELLS("94138", "94139", "94241", "94139"), "mask(right)",
                "94138;9413*;941**;94***;9****;*\n94139;9413*;941**;94***;9****;*\n94241;9424*;942**;94***;9****;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("a1", "b1", "a2"), "mask(left)", "a1;*1;*\nb1;*1;*\na2;*2;*\n");
    /* characters, not bytes; short values join once the mask reaches their end */
    assert_spec(KN_TYPE_TEXT, CELLS("\xC3\xA9\xC3\xA8", "\xC3\xA9z"), "mask(right)",
                "\xC3\xA9z;\xC3\xA9*;*\n\xC3\xA9\xC3\xA8;\xC3\xA9*;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("12", "1234", "1", "129"), "mask(right)",
                "1;1;1;1***;*\n12;12;12**;1***;*\n1234;123*;12**;1***;*\n129;129*;12**;1***;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("7", "17", "27"), "mask(left)", "17;*7;*\n27;*7;*\n7;*7;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("1*", "12", "**"), "mask(right)", "**;**;*\n1*;1*;*\n12;1*;*\n");
    assert_spec_fails(KN_TYPE_TEXT, "1", "mask(middle)", KN_USAGE,
                      "hierarchy mask(middle): write mask(right) or mask(left)");
    assert_spec_fails(
        KN_TYPE_TEXT, "1", "mask", KN_USAGE,
        "hierarchy mask: the SPEC is written mask(right) or mask(left); a file of that name is written ./mask");
    assert_spec_fails(
        KN_TYPE_TEXT, "12345678901234567890123456789012345678901234567890123456789012345", "mask(right)", KN_INPUT,
        "column a: mask(right) makes a level per character, but the longest value has 65, more than 64; use a "
        "hierarchy file");
}

static void dates_fall_into_units_of_the_calendar(void **state)
{
    assert_spec(KN_TYPE_DATE, CELLS("2024-01-31", "1999-12-31T23:59", "2023-11-02"),
                "date(day, month,quarter,halfyear,year,5years,decade,century)",
                "1999-12-31T23:59;1999-12-31;1999-12;1999-Q4;1999-H2;1999;1995..1999;1990..1999;1900..1999;*\n"
                "2023-11-02;2023-11-02;2023-11;2023-Q4;2023-H2;2023;2020..2024;2020..2029;2000..2099;*\n"
                "2024-01-31;2024-01-31;2024-01;2024-Q1;2024-H1;2024;2020..2024;2020..2029;2000..2099;*\n");
    /* ISO weeks at the turn of years; 1969 is before the epoch */
    assert_spec(KN_TYPE_DATE, CELLS("1969-12-28", "1970-01-01", "2020-12-31", "2021-01-03", "2021-01-04", "2018-12-31"),
                "date(week)",
                "1969-12-28;1969-W52;*\n1970-01-01;1970-W01;*\n2018-12-31;2019-W01;*\n2020-12-31;2020-W53;*\n"
                "2021-01-03;2020-W53;*\n2021-01-04;2021-W01;*\n");
    assert_spec_fails(
        KN_TYPE_DATE, "2024-01-31", "date(week,month)", KN_USAGE,
        "hierarchy date(week,month): a week does not lie inside one month; name units from small to large, week last "
        "or not at all");
    assert_spec_fails(
        KN_TYPE_DATE, "2024-01-31", "date(year,month)", KN_USAGE,
        "hierarchy date(year,month): a year does not lie inside one month; name units from small to large, week last "
        "or not at all");
    assert_spec_fails(
        KN_TYPE_DATE, "2024-01-31", "date(months)", KN_USAGE,
        "hierarchy date(months): 'months' is no unit; units are day, week, month, quarter, halfyear, year, 5years, "
        "decade, century");
    assert_spec_fails(KN_TYPE_INT, "5", "date(month)", KN_USAGE,
                      "column a: date(month) needs dates, but the column's type is int; declare its type date");
    assert_spec_fails(
        KN_TYPE_TEXT, "soon", "date(month)", KN_INPUT,
        "test.csv, line 2, column a: 'soon' is no date, but date(month) needs dates; correct the data, or name such "
        "values with --null");
}

static void an_order_makes_intervals_of_text(void **state)
{
    const char *cells[] = {"high", "low", "a<b", NULL, "low", "mid"};
    kn_table *table = test_text_table(6, 1, cells);
    kn_domain *domain;
    kn_cell cell;
    assert_ok(build(&domain, table, "order(low < unused<mid<high<a\\<b)", false, err));
    assert_int_equal(domain->kind, KN_DOMAIN_RANGES);
    assert_int_equal(domain->n_codes, 5);
    assert_int_equal(domain->missing, 4);
    assert_ok(kn_domain_closure(&cell, domain, NULL, (uint32_t[]){2, 0}, 2, err));
    assert_text("low..high", &cell, domain, NULL);
    assert_int_equal(kn_cell_rows(&cell, domain, NULL), 4);
    assert_ok(kn_domain_closure(&cell, domain, NULL, (uint32_t[]){0, 4}, 2, err));
    assert_text("*", &cell, domain, NULL);
    kn_domain_free(domain);
    test_table_free(table);
    assert_spec(KN_TYPE_TEXT, CELLS("a", "b", "c", "d", "e"), "order(e<d<c<b<a)",
                "e;e..d;e..b;*\nd;e..d;e..b;*\nc;c..b;e..b;*\nb;c..b;e..b;*\na;a;a;*\n");
    assert_spec_fails(KN_TYPE_TEXT, "x", "order(a<b)", KN_INPUT,
                      "test.csv, line 2, column a: 'x' is not in order(a<b); list every value of "
                      "the data");
    assert_spec_fails(KN_TYPE_TEXT, "x", "order(a<b<a)", KN_USAGE, "hierarchy order(a<b<a): 'a' is listed twice");
    assert_spec_fails(KN_TYPE_TEXT, "x", "order(a<<b)", KN_USAGE,
                      "hierarchy order(a<<b): an empty value; write order(low<medium<high)");
}

/* Each line in its order; compared are all pairs, both ways. */
static void natural_order_is_that_of_the_numbers_inside(void **state)
{
    static const char *const lines[][9] = {
        {"1 day", "9 days", "12 days", "100 days"},
        {"0%", "5%", "7.25%", "7.5%", "40%", "100%"},
        {"00:04", "9:03", "9:30", "10:05", "23:59"},
        {"<18", "18-25", "26-35", "36-50", "50+"},
        {"-3", "<5", "≤5", "5", "5+", ">5", "≥5", "5.25", "<12"},
        {"<0,1", "0,1", "0,25", "<2,5", "2,5", "10", "1,250"},
        {"-12 C", "-5 C", "-0.5 C", "0 C", "0,25 C", "0,5 C", "3 C"},
        {"$99", "$950", "$1,200", "$1,200.50", "$12,000", "$1,200,000"},
        {"99,50 €", "950,00 €", "1.200 €", "1.200,50 €", "12.000,00 €", "1.200.000 €", "10.200.000,-€"},
        {"€ 0.250", "€ 0,3", "€ 1", "€ 1.200", "€ 1 300",
         "€\xC2\xA0"
         "1\xC2\xA0"
         "400,5",
         "€ 1'500",
         "€ 1\xE2\x80\x99"
         "600"},
        {"(USD 1,200)", "-USD 7", "usd -6", "USD 0", "12 USD", "USD 99.5", "Usd 1,200"},
        {"-$1,200", "($12)", "- $3", "$-0", "$0", "-$0.00", "$0.50", "$10",
         "$1,200.000 days"}, /* the last is none, and has more */
        {"", "a", "b", "a 1", "b 1", "a 1 2", "a 3", "a-3"},
    };
    for (size_t l = 0; l < sizeof lines / sizeof *lines; l++)
        for (int i = 0; i < 9 && lines[l][i] != NULL; i++)
            for (int j = 0; j < 9 && lines[l][j] != NULL; j++) {
                const char *a = lines[l][i], *b = lines[l][j];
                int order = kn_natural_compare(a, strlen(a), b, strlen(b));
                assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
            }
}

/* By their shape: that of an amount is its currency and #. */
static void an_amount_is_read_whole_or_not_as_one(void **state)
{
    static const char *const amounts[] = {
        "$1,234",  "$1234.567", "$1234,5",  "$ 1'234.5",     "1 234 567 €", "€0.125",    "12\xE2\x80\xAF€",
        "-12 EUR", "EUR -7",    "£1,234.-", "(1.234,50 zł)", "$1,2345",     "₹1,23,456", "₹ 12,34,56,789.50"};
    static const char *const none[] = {
        "$",           "€ ",  "$12 a day", "12 €/h", "$1.234'567", "€1234.567,8",   "1 2345 €",      "1 234'567 €",
        "$12 €",       "12",  "($12",      "--$12",  "(-)",        "(-$12)",        "($-12)",        "€1 234’567",
        "1’234 567 €", "$.5", "$12.",      "EURO2x", "₹1,23,45",   "₹1,23,456,789", "₹1,234,56,789", "₹123,45,678",
        "₹1.23.456"};
    char shape[KN_SHAPE_BYTES];
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        assert_int_equal(kn_natural_shape(shape, amounts[i], strlen(amounts[i])), 1);
        assert_true(kn_natural_is_amount(shape));
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        kn_natural_shape(shape, none[i], strlen(none[i]));
        if (kn_natural_is_amount(shape)) fail_msg("%s", none[i]);
        assert_int_equal(kn_natural_amount_ways(none[i], strlen(none[i])), 0);
    }
    assert_int_equal(kn_natural_amount_ways("$1,234,5", 8), 0);
    assert_int_equal(kn_natural_amount_ways("$1,234", 6), KN_MARKS_POINT);
    assert_int_equal(kn_natural_amount_ways("$1234,5", 7), KN_MARKS_COMMA);
    assert_int_equal(kn_natural_amount_ways("$1 234", 6), 0);
    assert_int_equal(kn_natural_amount_ways("$1,2345", 7), KN_MARKS_COMMA);
}

static void natural_makes_intervals_of_text_with_numbers(void **state)
{
    const char *cells[] = {"12 days", "9 days", NULL, "9 days", "100 days"};
    kn_table *table = test_text_table(5, 1, cells);
    kn_domain *domain;
    kn_cell cell;
    static const char *const specs[] = {"natural", "auto"};
    for (int i = 0; i < 2; i++) {
        assert_ok(build(&domain, table, specs[i], false, err));
        assert_int_equal(domain->kind, KN_DOMAIN_RANGES);
        assert_true(domain->is_natural);
        assert_ok(kn_domain_closure(&cell, domain, NULL, (uint32_t[]){1, 0}, 2, err));
        assert_text("9 days..12 days", &cell, domain, NULL);
        kn_domain_free(domain);
    }
    test_table_free(table);
    assert_spec(KN_TYPE_TEXT, CELLS("5%", "40%", "7%"), "natural", "5%;5%..7%;*\n7%;5%..7%;*\n40%;40%;*\n");
    assert_spec(KN_TYPE_INT, CELLS("40", "5", "7"), "natural", "5;5..7;*\n7;5..7;*\n40;40;*\n");
}

/* What auto takes for numbers with something around them, and what not. */
static void suggest_is(const char *expected, size_t n, const char *const *cells)
{
    kn_table *table = test_text_table((uint32_t)n, 1, (const char **)cells);
    kn_suggestion suggestion;
    assert_ok(kn_hierarchy_suggest(&suggestion, &table->columns[0], table->n_rows, err));
    assert_string_equal(suggestion.spec, expected);
    test_table_free(table);
}
#define SUGGESTS(expected, ...)                                                                                        \
    suggest_is(expected, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static void auto_knows_numbers_with_something_around_them(void **state)
{
    SUGGESTS("natural", "12 days", "9 days", "100 days");
    SUGGESTS("natural", "40%", "5%", "100%");
    SUGGESTS("natural", "10:25", "09:30", "23:59");
    SUGGESTS("natural", "10:25:01", "09:30:00", "23:59:59");
    SUGGESTS("natural", "10h25", "09h30", "23h59");
    SUGGESTS("natural", "2023-11", "2024-01", "2024-02");
    SUGGESTS("mask(right)", "2023-14", "2024-01", "2024-02"); /* there is no such month */
    SUGGESTS("mask(left)", "27/11/23", "05/01/24", "14/02/24", "30/12/23", "17/03/24", "09/09/23");
    SUGGESTS("mask(right)", "23-11-27", "24-01-05", "24-01-14", "23-12-30", "24-01-17", "23-12-09");
    SUGGESTS("natural", "72kg", "73kg", "99kg"); /* of one length, and the letters say nothing */
    SUGGESTS("natural", "<18", "18-25", "26-35", "50+");
    SUGGESTS("natural", "18-25", "26-35", "36-50");
    SUGGESTS("natural", "7", "12", "<5", "103", ">200");
    SUGGESTS("natural", "7", "12.5", "90+");
    SUGGESTS("natural", "0", "1", "2", "≥3");
    SUGGESTS("natural", "<0,1", "0,25", "12,5");
    SUGGESTS("natural", "80,261", "7,123", "12,000"); /* thousands or not, in the same order */
    SUGGESTS("natural", "<5", "1,234", "12.5");       /* thousands */
    SUGGESTS("natural", "7", "8", "9", "10", "11", "haemolytic", "n.d.");
    SUGGESTS("natural", "7", "8", "9", "a", "b", "c");
    SUGGESTS("natural", "2024-01-31", "2024-02-01", "2024-03-01", "last May", "2024-04-01", "soon");
    SUGGESTS("natural", "7", "8", "9", "10", "12a", "14b");
    SUGGESTS("", "7", "8", "12"); /* text, as somebody said */
    SUGGESTS("similar", "7", "8", "9", "10", "11", "12");
    SUGGESTS("similar", "7", "8", "a", "b", "c", "d");           /* mostly words */
    SUGGESTS("similar", "0,125", "0,25", "<0,1", "7", "8", "9"); /* 125 thousandths or 125 */
    SUGGESTS("similar", "1.234,5", "0,25", "<0,1", "7", "x", "y");
    SUGGESTS("similar", "007", "012", "<5", "7", "8", "4711"); /* codes */
    SUGGESTS("", "<5", "0,125", "7");
    SUGGESTS("", "7", "8", "a", "b"); /* few: pooled */
    SUGGESTS("natural", "$158,282", "$ 950", "-$12", "($7.50)");
    SUGGESTS("natural", "1.234,56 €", "99,10 €", "€ 7");
    SUGGESTS("natural", "₹39,537", "₹2,01,876", "₹12,01,876");
    SUGGESTS("natural", "CHF 1'234", "CHF 99", "chf 20'000.50");
    SUGGESTS("natural", "US$ 7", "US$ 1,200", "US$ 99");
    SUGGESTS("", "$12", "€7", "$1,200");            /* two currencies have no order */
    SUGGESTS("", "$3.459", "$12.50", "$3.399");     /* 3459 or 3.459: one of them is misread */
    SUGGESTS("", "$1,200", "$1.200,50", "$7");      /* likewise */
    SUGGESTS("natural", "$3.459", "$3.399", "$12"); /* whichever, in the same order */
    SUGGESTS("mask(right)", "EUR001", "EUR002", "EUR114");
    SUGGESTS("mask(right)", "48155", "48157", "40011", "A0011");
    SUGGESTS("mask(right)", "55-1234", "55-1235", "56-9999");
    SUGGESTS("", "12 days", "2 weeks", "9 days");
    SUGGESTS("", "town 12", "town 2", "town 9");
    SUGGESTS("", "10.0.0.1", "10.0.12.1", "10.0.3.4");
    SUGGESTS("", "cook", "nurse", "pilot");
}

/* Every word in two rows but those that begin with '1', in one; `same_person`: all rows are of one person. */
static void scale_is(const char *expected, const char *before, bool same_person, size_t n, const char *const *words)
{
    const char *cells[64];
    uint32_t n_rows = 0, row_person[64] = {0};
    for (size_t i = 0; i < n; i++) {
        const bool is_rare = words[i][0] == '1';
        cells[n_rows++] = words[i] + is_rare;
        if (!is_rare) cells[n_rows++] = words[i];
    }
    kn_table *table = test_text_table(n_rows, 1, cells);
    kn_suggestion suggestion = {0};
    kn_domain *domain;
    strcpy(suggestion.spec, before);
    assert_ok(kn_scale_suggest(&suggestion, &table->columns[0], n_rows, same_person ? row_person : NULL,
                               same_person ? 1 : n_rows, 2, err));
    assert_string_equal(suggestion.spec, expected);
    if (strncmp(expected, "order(", 6) == 0) {
        assert_ok(build(&domain, table, suggestion.spec, false, err));
        assert_int_equal(domain->n_codes, n);
        kn_domain_free(domain);
    }
    test_table_free(table);
}
#define SCALE(expected, ...)                                                                                           \
    scale_is(expected, "", false, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *[]){__VA_ARGS__})

static void words_of_a_scale_are_known_with_all_of_it(void **state)
{
    SCALE("order(never<rarely<sometimes<often<always)", "always", "never", "often");
    SCALE("order(never<seldom<sometimes<often<always)", "always", "never", "seldom");
    SCALE("order(never<almost never<rarely<sometimes<often<usually<almost always<always)", "always", "never",
          "usually");
    SCALE("order(Never<rarely<sometimes<OFTEN<always)", "always", "Never", "OFTEN");
    SCALE("order(Never<never<rarely<sometimes<often<always)", "always", "Never", "never", "often");
    SCALE("order(Very low<Low<Medium<High<Very high)", "Very low", "Low", "High");
    SCALE("order(Strongly Disagree<Disagree<Neutral<Agree<Strongly Agree)", "Strongly Disagree", "Disagree", "Agree");
    SCALE("order(Strongly disagree<Disagree<Neutral<Agree<Strongly agree)", "Strongly disagree", "Disagree", "Agree");
    SCALE("order(NIE<SELTEN<MANCHMAL<HÄUFIG<IMMER)", "NIE", "HÄUFIG", "IMMER");
    SCALE("order(Ungenügend<Mangelhaft<Ausreichend<Befriedigend<Gut<Sehr gut)", "Mangelhaft", "Gut", "Befriedigend");
    SCALE("order(I<II<III<IV)", "III", "I", "II");
    SCALE("order(XS<S<M<L<XL)", "M", "L", "S");
    SCALE("order(Mo<Di<Mi<Do<Fr<Sa<So)", "Mo", "Di", "Fr");
    SCALE("", "always", "never", "often", "whenever");
    SCALE("", "always", "never", "often", "often ");
    SCALE("", "always", "never");
    SCALE("", "rarely", "seldom", "never"); /* two places */
    SCALE("", "f", "m", "x");
    SCALE("", "stimme voll und ganz zu", "Stimme voll und ganz zu", "stimme Voll und ganz zu",
          "stimme voll Und ganz zu", "stimme voll und Ganz zu", "stimme voll und ganz Zu", "STIMME voll und ganz zu",
          "stimme VOLL und ganz zu", "stimme voll UND ganz zu", "stimme voll und GANZ zu", "stimme voll und ganz ZU",
          "stimme eher zu", "neutral", "Stimme eher zu", "stimme Eher zu"); /* longer than a proposal may be */
}

/* A word that fewer persons have than they should stands there as it would without it, or there is no proposal. */
static void a_scale_tells_of_no_rare_word(void **state)
{
    static const char *const words[] = {"always", "never", "often"};
    SCALE("order(never<rarely<sometimes<often<always)", "always", "never", "often", "1rarely");
    SCALE("", "always", "never", "often", "1seldom");
    SCALE("", "always", "never", "often", "1Rarely");
    SCALE("", "always", "never", "often", "1Never");
    SCALE("", "always", "never", "1often");
    SCALE("", "always", "never", "OFTEN", "1often");
    SCALE("", "Always", "Never", "Often", "1rarely"); /* it would be Rarely */
    SCALE("order(Never<Rarely<Sometimes<Often<Always)", "Always", "Never", "Often", "1Rarely");
    scale_is("", "", true, 3, words);
    scale_is("order(never<rarely<sometimes<often<always)", "similar", false, 3, words);
    scale_is("mask(right)", "mask(right)", false, 3, words);
}

/* 1..7 would mean 2 and 6, too, and a run of the order 2, which nobody here has. */
static void an_order_against_that_of_numbers_makes_sets_of_what_is_there(void **state)
{
    const char *cells[] = {"1", "6", "2", "7", "7"};
    kn_table *table = test_typed_table(KN_TYPE_INT, 5, 1, cells);
    kn_domain *domain;
    kn_set_pool *sets;
    kn_cell cell, again;
    assert_ok(kn_set_pool_new(&sets, err));
    assert_ok(build(&domain, table, "order(1<6<2<7)", false, err));
    assert_int_equal(domain->kind, KN_DOMAIN_SETS);
    assert_ok(kn_domain_closure(&cell, domain, sets, (uint32_t[]){3, 0, 1}, 3, err));
    assert_text("{1|6|7}", &cell, domain, sets);
    assert_int_equal(kn_cell_size(&cell, domain, sets), 3);
    assert_false(kn_cell_covers(&cell, domain, sets, 2));
    assert_ok(kn_cell_parse(&again, domain, sets, "{7|6|1.0}", 9, err));
    assert_true(kn_cell_equal(&cell, &again));
    kn_domain_free(domain);
    kn_set_pool_free(sets);
    test_table_free(table);
}

static void automatic_trees_suit_the_data(void **state)
{
    assert_spec(KN_TYPE_INT, CELLS("0", "1", "2", "3", "4", "5"), "auto",
                "0;0..1;*\n1;0..1;*\n2;2..3;*\n3;2..3;*\n4;4..5;*\n5;4..5;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("A10", "A11", "B20"), "auto", "A10;A1*;A**;*\nA11;A1*;A**;*\nB20;B2*;B**;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("f", "m", "f"), "auto", "f;*\nm;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("a", "a", "a", "a", "b", "b", "c", "d|"), "auto",
                "a;a;a;*\nb;b;{b|c|d\\|};*\nc;{c|d\\|};{b|c|d\\|};*\nd|;{c|d\\|};{b|c|d\\|};*\n");
    assert_spec(
        KN_TYPE_DATE, CELLS("2024-01-31", "2023-11-02", "2023-12-01"), "auto",
        "2023-11-02;2023-11;2023-Q4;2023;*\n2023-12-01;2023-12;2023-Q4;2023;*\n2024-01-31;2024-01;2024-Q1;2024;*\n");
    assert_spec(KN_TYPE_DATE, CELLS("2019-12-31", "2024-02-29"), "auto",
                "2019-12-31;2019-12;2019-Q4;2019;2015..2019;2010..2019;*\n"
                "2024-02-29;2024-02;2024-Q1;2024;2020..2024;2020..2029;*\n");
    assert_spec(KN_TYPE_DATE, CELLS("2024-01-31", "2024-01-02"), "auto",
                "2024-01-02;2024-W01;*\n2024-01-31;2024-W05;*\n");
    assert_spec(KN_TYPE_DECIMAL, CELLS("1.5"), "auto", "1.5;*\n");

    /* outliers do not make the intervals coarse */
    const char *ages[200];
    static char digits[200][8];
    for (int i = 0; i < 199; i++) {
        snprintf(digits[i], sizeof digits[i], "%d", i == 198 ? 999 : 20 + i % 50);
        ages[i] = digits[i];
    }
    kn_table *table = test_typed_table(KN_TYPE_INT, 199, 1, ages);
    kn_domain *domain;
    assert_ok(build(&domain, table, NULL, true, err));
    assert_int_equal(domain->tree->n_levels, 5); /* value, 2, 10, 20, * */
    kn_cell cell = kn_domain_at_level(domain, 0, 3);
    assert_text("20..39", &cell, domain, NULL);
    cell = kn_domain_at_level(domain, domain->n_codes - 1, 1);
    assert_text("68..999", &cell, domain, NULL); /* few rows: one wide interval */
    kn_domain_free(domain);
    test_table_free(table);

    /* ages as tables of ages have them, and nobody's age from 90 on */
    for (int i = 0; i < 199; i++) snprintf(digits[i], sizeof digits[i], "%d", i % 104);
    table = test_typed_table(KN_TYPE_INT, 199, 1, ages);
    kn_free(table->columns[0].name);
    table->columns[0].name = kn_string_copy("Age", 3, NULL);
    assert_ok(build(&domain, table, NULL, true, err));
    assert_int_equal(domain->tree->n_levels, 5);
    static const char *const of_37[] = {"37", "35..39", "30..39", "20..39", "*"};
    static const char *const of_95[] = {"95", "90..", "90..", "80..", "*"};
    for (uint32_t level = 0; level < 5; level++) {
        cell = kn_domain_at_level(domain, 37, level);
        assert_text(of_37[level], &cell, domain, NULL);
        cell = kn_domain_at_level(domain, 95, level);
        assert_text(of_95[level], &cell, domain, NULL);
    }
    kn_domain_free(domain);
    test_table_free(table);

    table = test_text_table(0, 1, NULL);
    assert_ok(build(&domain, table, NULL, true, err));
    assert_int_equal(domain->n_codes, 1);
    kn_domain_free(domain);
    assert_ok(build(&domain, table, NULL, false, err));
    assert_int_equal(domain->n_codes, 0);
    kn_domain_free(domain);
    test_table_free(table);
}

/* Numbers spread over many sizes: intervals hold their values, nest, and none is nearly empty. */
static void automatic_intervals_hold_enough_rows(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    for (int round = 0; round < 200; round++) {
        int cells[600];
        uint32_t n_rows = 3 + kn_rng_below(&rng, 597), n_bits = 1 + kn_rng_below(&rng, 20);
        for (uint32_t r = 0; r < n_rows; r++)
            cells[r] = (int)(kn_rng_below(&rng, UINT32_C(1) << n_bits) >> kn_rng_below(&rng, n_bits)) - 7;
        kn_table *table = test_table(n_rows, 1, cells);
        kn_domain *domain;
        assert_ok(build(&domain, table, "auto", true, err));
        const kn_tree *tree = domain->tree;
        for (uint32_t node = tree->n_leaves; node < tree->root; node++) {
            size_t n;
            const char *label = kn_tree_label(tree, node, &n);
            char text[64];
            int low, high;
            memcpy(text, label, n);
            text[n] = '\0';
            assert_int_equal(sscanf(text, "%d..%d", &low, &high), 2);
            for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
                double number = table->columns[0].number[leaf];
                bool inside = leaf >= tree->first[node] && leaf <= tree->last[node];
                assert_int_equal(inside, number >= low && number <= high);
            }
            uint64_t rows = domain->rows_before[tree->last[node] + 1] - domain->rows_before[tree->first[node]];
            assert_true(rows >= 1 && rows >= n_rows / 64);
        }
        kn_domain_free(domain);
        test_table_free(table);
    }
}

/* What the interval of `number` at `level` is, where steps[i] rows have 2i, `spike` more 0. */
static void assert_auto_interval(const char *expected, const int *steps, size_t n_steps, int spike, int number,
                                 uint32_t level)
{
    int cells[1000];
    uint32_t n_rows = 0, code = 0;
    for (int i = 0; i < spike; i++) cells[n_rows++] = 0;
    for (size_t step = 0; step < n_steps; step++)
        for (int i = 0; i < steps[step]; i++) cells[n_rows++] = 2 * (int)step;
    kn_table *table = test_table(n_rows, 1, cells);
    kn_domain *domain;
    assert_ok(build(&domain, table, "auto", true, err));
    while (table->columns[0].number[code] < number) code++;
    kn_cell cell = kn_domain_at_level(domain, code, level);
    assert_text(expected, &cell, domain, NULL);
    kn_domain_free(domain);
    test_table_free(table);
}

/* Sparse steps end at rounder numbers where that leaves enough rows on both sides; one full step stays by itself. */
static void automatic_intervals_have_round_ends(void **state)
{
    static const int sparse[] = {24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 4,  4,  4,  5,  3,
                                 12, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24};
    assert_auto_interval("20..29", sparse, 30, 0, 22, 1); /* from the left they would be 20..25 and 26..31 */
    assert_auto_interval("20..29", sparse, 30, 0, 28, 1);
    assert_auto_interval("30..31", sparse, 30, 0, 30, 1);
    static const int few[] = {24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 4,  4,  4,  5,  3,
                              5,  24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 24};
    assert_auto_interval("26..31", few, 30, 0, 30, 1); /* 30..31 by itself would hold too few */
    static const int two[] = {24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 12, 12, 12, 12, 12,  3,
                              3,  3,  1,  1,  1,  1,  1,  1,  1,  1,  0,  24, 0,  0,  144, 144};
    assert_auto_interval("30..39", two, 32, 0, 32, 1); /* 50 would do as well, and is a multiple of 10 only */
    static const int tail[] = {0, 3, 3, 3, 3, 6, 6, 6, 6, 6, 5, 5, 5, 5, 5,
                               0, 0, 0, 0, 0, 0, 0, 6, 6, 6, 6, 6, 5, 5, 5};
    assert_auto_interval("0..9", tail, 30, 528, 0, 2); /* a step with rows enough takes in no neighbours */
}

static void classifications_have_the_same_labels_for_every_table(void **state)
{
    assert_spec(KN_TYPE_TEXT,
                CELLS("DE", "deu", "Germany", "U.S.", "Antigua and Barbuda", "Atlantis", "Czech Republic"), "country",
                "Antigua and Barbuda;Caribbean;Americas;*\nU.S.;Northern America;Americas;*\nAtlantis;other;other;*\n"
                "Czech Republic;Eastern Europe;Europe;*\nDE;Western Europe;Europe;*\nGermany;Western Europe;Europe;*\n"
                "deu;Western Europe;Europe;*\n");
    assert_spec(KN_TYPE_TEXT,
                CELLS("Deutschland", "Oesterreich", "ÖSTERREICH", "österreich", "États-Unis", "Ελλάδα", "Россия"),
                "country",
                "Deutschland;Western Europe;Europe;*\nOesterreich;Western Europe;Europe;*\n"
                "ÖSTERREICH;Western Europe;Europe;*\nösterreich;Western Europe;Europe;*\n"
                "Ελλάδα;Southern Europe;Europe;*\nРоссия;Eastern Europe;Europe;*\n"
                "États-Unis;Northern America;Americas;*\n");
    /* a code of ISO 3166 is no short name in another language: RU is Regne Unit, AO is Austria in Vietnamese */
    assert_spec(KN_TYPE_TEXT, CELLS("RU", "ao", "Côte d'Ivoire", "CÔTE D’IVOIRE"), "country",
                "CÔTE D’IVOIRE;Western Africa;Africa;*\nCôte d'Ivoire;Western Africa;Africa;*\n"
                "ao;Middle Africa;Africa;*\nRU;Eastern Europe;Europe;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("Europe", "FR", "Western Europe"), "country",
                "Europe;Europe;Europe;*\nFR;Western Europe;Europe;*\nWestern Europe;Western Europe;Europe;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("A00.0", "B99", "C7A", "D48", "D50.1", "J45", "K95.1", "T98", "Y09", "x1"), "icd10",
                "A00.0;A00;A00-A09;A00-B99;*\nB99;B99;B99-B99;A00-B99;*\nC7A;C7A;C76-C80;C00-D48;*\n"
                "D48;D48;D37-D48;C00-D48;*\nD50.1;D50;D50-D53;D50-D89;*\nJ45;J45;J40-J47;J00-J99;*\n"
                "K95.1;K95;K00-K93;K00-K93;*\nT98;T98;T90-T98;S00-T98;*\nY09;Y09;X85-Y09;V01-Y98;*\n"
                "x1;other;other;other;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("62.01", "6202", "J62", "01.1", "34.00"), "nace",
                "01.1;01.1;division 01;section A;*\n34.00;other;other;other;*\n62.01;62.0;division 62;section J;*\n"
                "6202;62.0;division 62;section J;*\nJ62;62;division 62;section J;*\n");
    /* a section by itself, a nation's fifth digit, a lost zero; a block is no category, a range of two blocks is
     * neither */
    assert_spec(
        KN_TYPE_TEXT, CELLS("A", "V", "62.01.1", "1.11", "111", "62.01.", "62.01.11"), "nace",
        "1.11;01.1;division 01;section A;*\nA;section A;section A;section A;*\n111;11.1;division 11;section C;*\n"
        "62.01.;other;other;other;*\n62.01.11;other;other;other;*\nV;other;other;other;*\n"
        "62.01.1;62.0;division 62;section J;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("62.01Z", "0111z", "62.0Z", "62.01ZZ"), "nace",
                "0111z;01.1;division 01;section A;*\n62.01Z;62.0;division 62;section J;*\n62.01ZZ;other;other;other;*\n"
                "62.0Z;other;other;other;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("A00-A09", "a00-a09", "A00-A19", "A00-B99", "J45.1-"), "icd10",
                "A00-A09;A00-A09;A00-A09;A00-B99;*\na00-a09;A00-A09;A00-A09;A00-B99;*\n"
                "A00-A19;A00-B99;A00-B99;A00-B99;*\nA00-B99;A00-B99;A00-B99;A00-B99;*\nJ45.1-;J45;J40-J47;J00-J99;*\n");
    assert_spec(KN_TYPE_TEXT,
                CELLS("Korea, Rep.", "United States of America", "Russian Federation", "Congo, Dem. Rep."), "country",
                "\"Congo, Dem. Rep.\";Middle Africa;Africa;*\n\"Korea, Rep.\";Eastern Asia;Asia;*\n"
                "Russian Federation;Eastern Europe;Europe;*\nUnited States of America;Northern America;Americas;*\n");
    assert_spec(KN_TYPE_TEXT, CELLS("02139", "02139-4307", "021394308", "02139 4309", "02140", "2139", "0213-94307"),
                "postcode",
                "0213-94307;other;other;other;*\n02139;02139;021**;0****;*\n02139 4309;02139;021**;0****;*\n"
                "02139-4307;02139;021**;0****;*\n021394308;02139;021**;0****;*\n02140;02140;021**;0****;*\n"
                "2139;2139 **;21** **;2*** **;*\n");
    assert_spec(KN_TYPE_INT, CELLS("94305", "943051234", "12", "9430512345678901"), "postcode",
                "12;other;other;other;*\n9430512345678901;other;other;other;*\n94305;94305;943**;9****;*\n943051234;"
                "94305;943**;9****;*\n");
    assert_spec(KN_TYPE_TEXT,
                CELLS("SW1A 1AA", "sw1a2ab", "SW1A", "M1 1AE", "M11 1AE", "W1A 0AX", "B338TH", "EC1A 1BB"), "postcode",
                "B338TH;B33 8;B33;B;*\nEC1A 1BB;EC1A 1;EC1A;EC;*\nM1 1AE;M1 1;M1;M;*\nM11 1AE;M11 1;M11;M;*\n"
                "SW1A;SW1A;SW1A;SW;*\nSW1A 1AA;SW1A 1;SW1A;SW;*\nsw1a2ab;SW1A 2;SW1A;SW;*\nW1A 0AX;W1A 0;W1A;W;*\n");
    assert_spec(
        KN_TYPE_TEXT,
        CELLS("K1A 0B1", "k1a0b2", "K1A-0B3", "K1A", "1012 AB", "1012AC", "1012", "K1A  0B1", "GIR 0AA", "K1A-"),
        "postcode",
        "1012;1012 **;10** **;1*** **;*\n1012 AB;1012 **;10** **;1*** **;*\n1012AC;1012 **;10** **;1*** **;*\n"
        "GIR 0AA;other;other;other;*\nK1A  0B1;other;other;other;*\nK1A-;other;other;other;*\n"
        "K1A;K1A ***;K1* ***;K** ***;*\nK1A 0B1;K1A ***;K1* ***;K** ***;*\nK1A-0B3;K1A ***;K1* ***;K** ***;*\n"
        "k1a0b2;K1A ***;K1* ***;K** ***;*\n");
}

/* auto takes a classification only where the column's name and 99 of 100 cells say so. */
static void a_classification_needs_a_name_and_cells(void **state)
{
    static const struct {
        const char *name, *odd, *spec;
        uint32_t n_odd;
    } cases[] = {{"country", "Atlantis", "country", 2},
                 {"country", "Atlantis", "similar", 3},
                 {"thing", "Atlantis", "similar", 0},
                 {"Land", "Atlantis", "country", 0}};
    static const char *const cells_of[] = {"DE", "France", "Japan", "CHE", "Peru", "Kenya", "Fiji"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *cells[200];
        for (uint32_t row = 0; row < 200; row++) cells[row] = row < cases[i].n_odd ? cases[i].odd : cells_of[row % 7];
        kn_table *table = test_typed_table(KN_TYPE_TEXT, 200, 1, cells);
        kn_free(table->columns[0].name);
        table->columns[0].name = kn_string_copy(cases[i].name, strlen(cases[i].name), NULL);
        kn_suggestion found;
        assert_ok(kn_hierarchy_suggest(&found, &table->columns[0], 200, err));
        assert_string_equal(found.spec, cases[i].spec);
        test_table_free(table);
    }
}

/* Codes of one country, and not only digits that many have. */
static void postal_codes_are_known_by_their_form(void **state)
{
    static const struct {
        const char *name, *cells[4], *spec;
    } cases[] = {{"ZIP", {"02139", "02139-4307", "10001", "94305"}, "postcode"},
                 {"zip_code", {"94305", "943051234", "94301", "10001"}, "postcode"},
                 {"Post Code", {"SW1A 1AA", "M1 1AE", "EC1A 1BB", "B33 8TH"}, "postcode"},
                 {"postal_code", {"K1A 0B1", "K1A 0B2", "V5K 1A1", "M5V 2T6"}, "postcode"},
                 {"Postcode", {"1012 AB", "1012", "3511 LX", "9711 LM"}, "postcode"},
                 {"zip", {"02139", "02140", "10001", "94305"}, "mask(right)"},
                 {"PLZ", {"1010", "1020", "8001", "9999"}, "mask(right)"},
                 {"postcode", {"K1A", "V5K", "M5V", "M5W"}, "mask(right)"},
                 {"postcode", {"1012 AB", "K1A 0B1", "3511 LX", "9711 LM"}, "mask(right)"},
                 {"postcode", {"1012 AB", "x", "3511 LX", "9711 LM"}, "mask(right)"},
                 {"code", {"1012 AB", "1012 AC", "3511 LX", "9711 LM"}, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_table *table =
            test_typed_table(i == 1 || i == 6 ? KN_TYPE_INT : KN_TYPE_TEXT, 4, 1, (const char **)cases[i].cells);
        kn_free(table->columns[0].name);
        table->columns[0].name = kn_string_copy(cases[i].name, strlen(cases[i].name), NULL);
        kn_suggestion found;
        assert_ok(kn_hierarchy_suggest(&found, &table->columns[0], 4, err));
        if (strcmp(found.spec, cases[i].spec) != 0)
            fail_msg("%s, %s: %s", cases[i].name, cases[i].cells[0], found.spec);
        test_table_free(table);
    }
}

/* Towns of three counties, which stand beside them. Rows: town, county. */
static kn_table *towns_and_counties(uint32_t n_towns, uint32_t n_counties, bool mixed)
{
    static char names[600][16];
    const char *cells[1200];
    uint32_t n_rows = 0;
    for (uint32_t town = 0; town < n_towns; town++)
        for (uint32_t i = 0; i < 2 + town % 3; i++, n_rows++) {
            uint32_t county = mixed ? (town + i) % n_counties : town % n_counties;
            snprintf(names[town], sizeof names[town], "t%02u", town);
            snprintf(names[500 + county], sizeof names[0], "c%u", county);
            cells[2 * n_rows] = names[town];
            cells[2 * n_rows + 1] = names[500 + county];
        }
    return test_typed_table(KN_TYPE_TEXT, n_rows, 2, cells);
}

static kn_status build_similar(kn_domain **out, const kn_table *table, bool must_be_tree, bool alone, kn_error *err)
{
    const kn_column *others[] = {&table->columns[1]};
    kn_hierarchy_request request = {.spec = "similar",
                                    .must_be_tree = must_be_tree,
                                    .weight = 1,
                                    .max_level = KN_NONE,
                                    .others = others,
                                    .n_others = alone ? 0 : 1};
    return kn_domain_build(out, &table->columns[0], "test.csv", table->n_rows, &request, err);
}

static void similar_values_stand_together(void **state)
{
    kn_table *table = towns_and_counties(12, 3, false);
    kn_domain *domain;
    assert_ok(build_similar(&domain, table, true, false, err));
    const kn_tree *tree = domain->tree;
    assert_int_equal(domain->origin, KN_FROM_DATA);
    assert_int_equal(tree->n_levels, 3); /* town, group, * */
    for (uint32_t a = 0; a < 12; a++)
        for (uint32_t b = 0; b < 12; b++) {
            bool together =
                tree->at_level[1][domain->code_of_spelling[a]] == tree->at_level[1][domain->code_of_spelling[b]];
            assert_int_equal(together, a % 3 == b % 3);
        }
    kn_domain_free(domain);
    test_table_free(table);

    /* larger groups have names, and no level has more than it may */
    table = towns_and_counties(60, 3, false);
    assert_ok(build_similar(&domain, table, true, false, err));
    tree = domain->tree;
    assert_int_equal(tree->n_levels, 4);
    for (uint32_t node = tree->n_leaves; node < tree->root; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        uint32_t size = tree->last[node] - tree->first[node] + 1;
        assert_true(size <= (tree->level[node] == 1 ? 5 : 25));
        if (size > 5) assert_memory_equal(label, "a group ", 8);
        else if (size > 1) assert_int_equal(label[0], '{');
        for (uint32_t leaf = tree->first[node]; leaf < tree->last[node]; leaf++) { /* of one county */
            size_t n_a, n_b;
            const char *a = kn_tree_label(tree, leaf, &n_a), *b = kn_tree_label(tree, leaf + 1, &n_b);
            assert_int_equal(atoi(a + 1) % 3, atoi(b + 1) % 3);
        }
    }
    kn_domain_free(domain);

    /* alone, the rarest */
    assert_ok(build_similar(&domain, table, true, true, err));
    uint32_t node = domain->tree->at_level[1][0];
    for (uint32_t leaf = domain->tree->first[node]; leaf <= domain->tree->last[node]; leaf++)
        assert_int_equal(kn_domain_code_rows(domain, leaf), 2);
    kn_domain_free(domain);
    test_table_free(table);
}

/* Without levels: sets of at most five values, then the lowest group that holds them. */
static void small_sets_close_to_groups(void **state)
{
    kn_table *table = towns_and_counties(60, 4, true);
    kn_domain *domain, *as_tree;
    kn_rng rng = kn_rng_new(19, 0);
    kn_set_pool *sets;
    kn_buffer text = {0};
    assert_ok(kn_set_pool_new(&sets, err));
    assert_ok(build_similar(&domain, table, false, false, err));
    assert_ok(build_similar(&as_tree, table, true, false, err));
    assert_int_equal(domain->kind, KN_DOMAIN_SETS);
    assert_null(domain->tree);
    for (int round = 0; round < 3000; round++) {
        uint32_t codes[12], n = 1 + kn_rng_below(&rng, 12), from = kn_rng_below(&rng, 60),
                            width = 1 + kn_rng_below(&rng, 60);
        bool has[60] = {false};
        uint32_t n_distinct = 0, n_node = 0, least = 60;
        for (uint32_t i = 0; i < n; i++) {
            codes[i] = (from + kn_rng_below(&rng, width)) % 60;
            n_distinct += !has[codes[i]];
            has[codes[i]] = true;
        }
        for (uint32_t node = 0; node < as_tree->tree->n_nodes; node++) { /* the smallest node with all of them */
            uint32_t inside = 0, size = as_tree->tree->last[node] - as_tree->tree->first[node] + 1;
            for (uint32_t code = as_tree->tree->first[node]; code <= as_tree->tree->last[node]; code++)
                inside += has[code];
            if (inside == n_distinct && size <= least) least = size, n_node = node;
        }
        kn_cell cell, back;
        assert_ok(kn_domain_closure(&cell, domain, sets, codes, n, err));
        assert_int_equal(kn_cell_size(&cell, domain, sets), n_distinct <= 5 ? n_distinct : least);
        for (uint32_t code = 0; code < 60; code++) {
            bool in_node = code >= as_tree->tree->first[n_node] && code <= as_tree->tree->last[n_node];
            assert_int_equal(kn_cell_covers(&cell, domain, sets, code), n_distinct <= 5 ? has[code] : in_node);
        }
        kn_buffer_clear(&text);
        kn_cell_text(&text, &cell, domain, sets);
        uint32_t n_bars = 0;
        for (size_t i = 0; i < text.n; i++) n_bars += text.bytes[i] == '|';
        assert_true(n_bars < 5);
        assert_ok(kn_cell_parse(&back, domain, sets, text.bytes, text.n, err));
        assert_true(kn_cell_equal(&back, &cell));
    }
    kn_buffer_free(&text);
    kn_set_pool_free(sets);
    kn_domain_free(domain);
    kn_domain_free(as_tree);
    test_table_free(table);
}

static void a_missing_value_stands_below_the_root_of_every_spec(void **state)
{
    static const struct {
        kn_type type;
        const char *spec, *value;
    } cases[] = {{KN_TYPE_INT, "suppress", "1"},       {KN_TYPE_INT, "intervals(5,10)", "1"},
                 {KN_TYPE_TEXT, "mask(right)", "abc"}, {KN_TYPE_DATE, "date(month,year)", "2024-02-29"},
                 {KN_TYPE_TEXT, "order(abc)", "abc"},  {KN_TYPE_TEXT, "auto", "abc"},
                 {KN_TYPE_INT, "auto", NULL},          {KN_TYPE_TEXT, "suppress", NULL},
                 {KN_TYPE_TEXT, "mask(right)", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *cells[] = {cases[i].value, NULL};
        kn_table *table = test_typed_table(cases[i].type, 2, 1, cells);
        kn_domain *domain;
        assert_ok(build(&domain, table, cases[i].spec, true, err));
        assert_int_equal(domain->n_codes, cases[i].value != NULL ? 2 : 1);
        assert_int_equal(domain->missing, domain->n_codes - 1);
        assert_int_equal(domain->tree->parent[domain->missing], domain->tree->root);
        assert_label(domain->tree, domain->tree->root, "*");
        kn_cell cell = kn_domain_leaf(domain, domain->missing);
        assert_text("", &cell, domain, NULL);
        kn_domain_free(domain);
        test_table_free(table);
    }
}

/* Wherever a file lists its spelling, a missing cell that may be any value stands below the root: the domain is the one
 * of the file without that line. */
static void a_missing_cell_that_may_be_any_value_stands_below_the_root(void **state)
{
    const char *cells[] = {"a", "b", "c", NULL, "a"};
    static const char *const files[] = {"a;A;*\nb;A;*\nc;C;*\n", "?;A;*\na;A;*\nb;A;*\nc;C;*\n",
                                        "a;A;*\nb;A;*\n?;A;*\nc;C;*\n", "a;A;*\nb;A;*\nc;C;*\n?;?;*\n"};
    kn_table *table = test_text_table(5, 1, cells);
    kn_column *column = &table->columns[0];
    uint64_t *offset = column->offset; /* spell the missing cell " ?" */
    char bytes[] = "abc ?";
    char *plain = column->bytes;
    column->bytes = bytes;
    offset[4] = 5;
    kn_domain *expected = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = temporary_file(files[i]);
        kn_hierarchy_request request = {.spec = path, .weight = 1, .max_level = KN_NONE, .missing_is_wildcard = true};
        kn_domain *domain;
        assert_ok(kn_domain_build(&domain, column, "test.csv", 5, &request, err));
        unlink(path);
        kn_cell cell;
        const uint32_t codes[] = {domain->code_of_spelling[0], domain->code_of_spelling[1], domain->missing};
        for (uint32_t from = 0; from < 3; from++) { /* a and the missing one, in any order: * */
            const uint32_t turned[] = {codes[from], codes[(from + 1) % 3], codes[(from + 2) % 3]};
            assert_ok(kn_domain_closure(&cell, domain, NULL, turned, 3, err));
            assert_int_equal(cell.id, domain->tree->root);
        }
        assert_int_equal(domain->tree->parent[domain->missing], domain->tree->root);
        if (expected == NULL) expected = domain;
        else assert_same_domain(domain, expected);
        if (domain != expected) kn_domain_free(domain);
    }
    kn_domain_free(expected);
    column->bytes = plain;
    test_table_free(table);
}

static void a_slip_in_a_spec_is_no_missing_file(void **state)
{
    assert_spec_fails(
        KN_TYPE_INT, "1", "interval(5)", KN_USAGE,
        "hierarchy interval(5): no such SPEC, and no file of that name; there are suppress, intervals(5,10,20), "
        "mask(right) or mask(left), date(month,quarter,year), order(low<medium<high), natural, country, icd10, nace, "
        "postcode, "
        "similar, auto");
    assert_spec_fails(
        KN_TYPE_INT, "1", "intervals(5", KN_USAGE,
        "hierarchy intervals(5: the SPEC is written intervals(5,10,20); a file of that name is written ./intervals(5");
    assert_spec_fails(KN_TYPE_INT, "1", "./suppress", KN_INPUT,
                      "column a: hierarchy ./suppress: cannot be opened: No such file or directory");
}

/* --- Text and back --------------------------------------------------------------------------------------------- */

static void assert_round_trip(const kn_cell *cell, const kn_domain *domain, kn_set_pool *sets)
{
    kn_buffer text = {0}, again = {0};
    kn_cell back;
    kn_cell_text(&text, cell, domain, sets);
    const char *bytes = text.n > 0 ? text.bytes : "";
    assert_ok(kn_cell_parse(&back, domain, sets, bytes, text.n, err));
    /* one text for two things means the wider: never less than what was written */
    bool star = strcmp(bytes, "*") == 0;
    uint32_t named = domain->kind == KN_DOMAIN_TREE ? kn_tree_find(domain->tree, bytes, text.n) : KN_NONE;
    bool wider = star || (named != KN_NONE && named != cell->id);
    if (!wider && !kn_cell_equal(cell, &back))
        fail_msg("'%s' is %u..%u #%u, read back as %u..%u #%u", bytes, cell->first, cell->last, cell->id, back.first,
                 back.last, back.id);
    for (uint32_t code = 0; code < domain->n_codes; code++)
        if (kn_cell_covers(cell, domain, sets, code)) assert_true(kn_cell_covers(&back, domain, sets, code));
    if (!star) {
        kn_cell_text(&again, &back, domain, sets);
        assert_string_equal(again.n > 0 ? again.bytes : "", bytes);
    }
    kn_buffer_free(&text);
    kn_buffer_free(&again);
}

/* Values of the pieces that mean something in cells, so that values look like intervals, sets, escapes and stars. */
static void what_is_written_is_read_back(void **state)
{
    static const char *pieces[] = {"|",  "{", "}", "..", ".", "\\",       "*",     ";",   ",",
                                   "\"", " ", "a", "b",  "1", "\xC3\xA9", "{a|b}", "a..b"};
    kn_rng rng = kn_rng_new(5, 0);
    for (int round = 0; round < 1500; round++) {
        uint32_t n_rows = 1 + kn_rng_below(&rng, 12);
        char text[12][40];
        const char *cells[12];
        kn_buffer order = {0};
        for (uint32_t r = 0; r < n_rows; r++) {
            text[r][0] = '\0';
            for (uint32_t n = kn_rng_below(&rng, 5); n > 0; n--)
                strcat(text[r], pieces[kn_rng_below(&rng, sizeof pieces / sizeof *pieces)]);
            cells[r] = text[r][0] == '\0' ? NULL : text[r];
        }
        kn_table *table = test_text_table(n_rows, 1, cells);
        const kn_column *column = &table->columns[0];
        kn_buffer_text(&order, "order(");
        for (uint32_t s = 0; s < column->n_spellings - column->has_missing; s++) {
            size_t n;
            const char *bytes = kn_column_bytes(column, s, &n);
            if (s > 0) kn_buffer_char(&order, '<');
            for (size_t i = 0; i < n; i++) kn_buffer_printf(&order, "\\%c", bytes[i]);
        }
        kn_buffer_char(&order, ')');
        kn_domain *domains[8] = {test_domain(table, 0, NULL), test_random_tree_domain(&rng, table, 0, 3), NULL};
        if (column->n_spellings > column->has_missing) assert_ok(build(&domains[2], table, order.bytes, false, err));
        static const char *const specs[] = {"suppress", "mask(right)", "mask(left)", "auto"};
        for (int i = 0; i < 4; i++) assert_ok(build(&domains[i + 3], table, specs[i], true, err));
        if (domains[2] != NULL) assert_ok(build(&domains[7], table, order.bytes, true, err));
        for (int d = 0; d < 8; d++) {
            kn_domain *domain = domains[d];
            kn_set_pool *sets;
            if (domain == NULL) continue;
            assert_ok(kn_set_pool_new(&sets, err));
            for (uint32_t code = 0; code < domain->n_codes; code++) {
                kn_cell leaf = kn_domain_leaf(domain, code);
                assert_round_trip(&leaf, domain, sets);
            }
            for (int i = 0; i < 10; i++) {
                uint32_t codes[4], n = 1 + kn_rng_below(&rng, 4);
                for (uint32_t j = 0; j < n; j++) codes[j] = kn_rng_below(&rng, domain->n_codes);
                kn_cell cell;
                assert_ok(kn_domain_closure(&cell, domain, sets, codes, n, err));
                assert_round_trip(&cell, domain, sets);
            }
            kn_set_pool_free(sets);
            kn_domain_free(domain);
        }
        kn_buffer_free(&order);
        test_table_free(table);
    }
}

static void assert_parsed(const kn_domain *domain, kn_set_pool *sets, const char *text, uint32_t first, uint32_t last)
{
    kn_cell cell;
    assert_ok(kn_cell_parse(&cell, domain, sets, text, strlen(text), err));
    assert_int_equal(cell.first, first);
    assert_int_equal(cell.last, last);
}

static void assert_not_parsed(const kn_domain *domain, kn_set_pool *sets, const char *text, const char *reason)
{
    kn_cell cell;
    kn_error err = {0};
    assert_int_equal(kn_cell_parse(&cell, domain, sets, text, strlen(text), &err), KN_INPUT);
    assert_string_equal(err.message, reason);
}

static void a_text_that_is_no_generalization_is_refused(void **state)
{
    const int numbers[] = {10, 20, 30, TEST_MISSING};
    const char *words[] = {"x", "y", "z"}, *dates[] = {"2024-01-31", "2024-03-01", "2024-03-01T12:00"};
    kn_table *table = test_table(4, 1, numbers), *texts = test_text_table(3, 1, words),
             *days = test_typed_table(KN_TYPE_DATE, 3, 1, dates);
    kn_domain *ranges = test_domain(table, 0, NULL), *free_sets = test_domain(texts, 0, NULL),
              *time = test_domain(days, 0, NULL), *tree = test_domain(texts, 0, "x;u;*\ny;u;*\nz;v;*\n");
    kn_set_pool *sets;
    assert_ok(kn_set_pool_new(&sets, err));
    assert_parsed(ranges, sets, "10..20", 0, 1);
    assert_parsed(ranges, sets, "10.0", 0, 0);
    assert_parsed(ranges, sets, "5..29.5", 0, 1); /* ends need not be values */
    assert_parsed(ranges, sets, "", 3, 3);
    assert_parsed(ranges, sets, "*", 0, 3);
    assert_not_parsed(ranges, sets, "11", "neither a value of the column nor an interval");
    assert_not_parsed(ranges, sets, "20..10", "no value of the data lies in that interval");
    assert_not_parsed(ranges, sets, "11..19", "no value of the data lies in that interval");
    assert_not_parsed(ranges, sets, "31..40", "no value of the data lies in that interval");
    assert_not_parsed(ranges, sets, "10..x", "the right end of that interval is no value of the column");
    assert_not_parsed(ranges, sets, "x..10", "the left end of that interval is no value of the column");
    assert_parsed(ranges, sets, "20..", 1, 2); /* without an end: up to the last, which the missing one is not */
    assert_parsed(ranges, sets, "..20", 0, 1);
    assert_parsed(ranges, sets, "..<20", 0, 0);
    assert_not_parsed(ranges, sets, "..", "the missing value is in no interval");
    assert_not_parsed(ranges, sets, "10..20..30", "an interval has two ends");
    assert_parsed(time, sets, "2024-01-31..2024-03-01T12:00", 0, 2);
    assert_parsed(time, sets, "2024-02-01..2024-12-31", 1, 2);
    assert_parsed(free_sets, sets, "{x|z}", 0, 2);
    assert_parsed(free_sets, sets, "{z|\\x|z}", 0, 2);
    assert_parsed(free_sets, sets, "{y}", 1, 1);
    assert_not_parsed(free_sets, sets, "w", "neither a value of the column nor a set");
    assert_not_parsed(free_sets, sets, "{x|w}", "member 2 of that set is no value of the column");
    assert_not_parsed(free_sets, sets, "{x|y", "a set ends with its only }");
    assert_not_parsed(free_sets, sets, "{x|y\\}", "a set ends with its only }");
    assert_not_parsed(free_sets, sets, "{x}|y}", "a set ends with its only }");
    assert_parsed(tree, sets, "u", 0, 1);
    assert_parsed(tree, sets, "v", 2, 2);
    assert_not_parsed(tree, sets, "x..y", "neither a value of the column nor a label of its hierarchy");
    kn_set_pool_free(sets);
    kn_domain_free(ranges);
    kn_domain_free(free_sets);
    kn_domain_free(time);
    kn_domain_free(tree);
    test_table_free(table);
    test_table_free(texts);
    test_table_free(days);
}

/* --- Tools ----------------------------------------------------------------------------------------------------- */

static void long_numbers_are_placed_by_their_digits(void **state)
{
#define LONG "10000000000000000"
    const char *cells[] = {LONG "10", LONG "20", LONG "30", LONG "40"}; /* four values, one double */
    kn_table *table = test_typed_table(KN_TYPE_INT, 4, 1, cells);
    kn_domain *ranges = test_domain(table, 0, NULL);
    assert_int_equal(ranges->n_codes, 4);
    assert_parsed(ranges, NULL, LONG "20", 1, 1);
    assert_parsed(ranges, NULL, LONG "20.." LONG "30", 1, 2);
    assert_parsed(ranges, NULL, LONG "11.." LONG "39", 1, 2); /* ends that the data lacks */
    assert_parsed(ranges, NULL, LONG "00.." LONG "10.5", 0, 0);
    assert_not_parsed(ranges, NULL, LONG "41.." LONG "49", "no value of the data lies in that interval");
    assert_not_parsed(ranges, NULL, LONG "21.." LONG "29", "no value of the data lies in that interval");
    kn_domain_free(ranges);
    test_table_free(table);
}

static void assert_shown(const kn_tree *tree, const kn_domain *domain, uint32_t width, uint32_t max_lines,
                         const char *expected)
{
    char *text;
    kn_show_options options = {.width = width, .max_lines = max_lines};
    assert_ok(kn_hierarchy_show(&text, tree, domain, &options, err));
    assert_string_equal(text, expected);
    kn_free(text);
}

static void a_tree_is_drawn_within_its_width_and_lines(void **state)
{
    kn_tree *tree = test_tree_from_lines(
        "1;1-2;low;*\n2;1-2;low;*\n3;3-4;low;*\n4;3-4;low;*\n9;9;9;*\n5;5-6;high;*\n6;5-6;high;*\n7;7-8;high;*\n");
    assert_shown(tree, NULL, 0, 0,
                 "*  (8 leaves)\n├─ low  (4 leaves)\n│  ├─ 1-2  (2 leaves): 1, 2\n│  └─ 3-4  (2 leaves): 3, 4\n├─ 9\n"
                 "└─ high  (3 leaves)\n   ├─ 5-6  (2 leaves): 5, 6\n   └─ 7-8  (1 leaf): 7\n");
    assert_shown(tree, NULL, 0, 4, "*  (8 leaves)\n├─ low  (4 leaves)\n├─ 9\n└─ high  (3 leaves)\n");
    assert_shown(tree, NULL, 0, 6,
                 "*  (8 leaves)\n├─ low  (4 leaves)\n├─ 9\n└─ high  (3 leaves)\n   ├─ 5-6  (2 leaves): 5, 6\n   └─ 7-8 "
                 " (1 leaf): 7\n");
    assert_shown(tree, NULL, 0, 3, "*  (8 leaves)\n├─ low  (4 leaves)\n└─ ... 2 more  (4 leaves)\n");
    assert_shown(tree, NULL, 0, 1, "*  (8 leaves)\n");
    assert_shown(tree, NULL, 12, 3, "*  (8 lea...\n├─ low  (...\n└─ ... 2 ...\n");
    kn_tree_free(tree);

    tree = test_tree_from_lines("ein;*\nzwei;*\ndrei\x1B[1m;*\nvier;*\nfünf;*\nsechs;*\nsieben;*\n");
    assert_shown(tree, NULL, 80, 0, "*  (7 leaves): ein, zwei, drei?[1m, vier, fünf, sechs, sieben\n");
    assert_shown(tree, NULL, 50, 0, "*  (7 leaves): ein, zwei, drei?[1m, ... 4 more\n");
    kn_tree_free(tree);

    const int numbers[] = {1, 1, 2, TEST_MISSING};
    kn_table *table = test_table(4, 1, numbers);
    kn_domain *domain = test_domain(table, 0, "1;low;*\n2;low;*\n3;high;*\n");
    kn_show_options options = {.ascii = true};
    char *text;
    assert_ok(kn_hierarchy_show(&text, domain->tree, domain, &options, err));
    assert_string_equal(text, "*  (4 leaves, 4 rows)\n|- low  (2 leaves, 3 rows): 1, 2\n|- high  (1 leaf, 0 rows): 3\n"
                              "`- (missing)  (1 leaf, 1 row)\n");
    kn_free(text);
    kn_domain_free(domain);
    test_table_free(table);
}

static void no_drawing_has_more_lines_or_columns_than_allowed(void **state)
{
    kn_rng rng = kn_rng_new(6, 0);
    for (int round = 0; round < 300; round++) {
        kn_table *table = test_random_table(&rng, 1 + kn_rng_below(&rng, 60), 1, 1 + kn_rng_below(&rng, 50));
        kn_domain *domain = test_random_tree_domain(&rng, table, 0, 1 + kn_rng_below(&rng, 6));
        kn_show_options options = {.width = 4 + kn_rng_below(&rng, 60), .max_lines = 1 + kn_rng_below(&rng, 40)};
        char *text;
        assert_ok(kn_hierarchy_show(&text, domain->tree, kn_rng_below(&rng, 2) == 0 ? domain : NULL, &options, err));
        uint32_t n_lines = 0, n_characters = 0;
        for (const char *at = text; *at != '\0'; at++) {
            if (*at == '\n') {
                n_lines++;
                assert_true(n_characters <= options.width);
                n_characters = 0;
            } else {
                n_characters += ((unsigned char)*at & 0xC0) != 0x80;
            }
        }
        assert_true(n_lines <= options.max_lines);
        kn_free(text);
        kn_domain_free(domain);
        test_table_free(table);
    }
}

static void make_writes_what_the_spec_does(void **state)
{
    const int numbers[] = {1, 7, TEST_MISSING};
    kn_table *table = test_table(3, 1, numbers);
    kn_hierarchy_request request = {.spec = "intervals(5)", .max_level = KN_NONE};
    char *text;
    assert_ok(kn_hierarchy_make(&text, &table->columns[0], "d.csv", 3, &request, err));
    assert_string_equal(text, "1;0..4;*\n7;5..9;*\n");
    kn_free(text);
    test_table_free(table);
}

static void check_counts_and_lists_what_is_lacking(void **state)
{
    const char *words[] = {"a", "x", "b", "y", NULL};
    kn_table *table = test_text_table(5, 1, words);
    const char *path = temporary_file("a;u;*\nb;u;*\nu;u;*\nc;c;*\n");
    kn_hierarchy_request request = {.spec = path};
    char *text, expected[1000];
    uint32_t n_lacking;
    const char *facts =
        "%s: 4 leaves, 6 nodes, 3 levels\n  level 0: 4 values\n  level 1: 2 values, the widest covers 3\n"
        "  level 2: 1 value, the widest covers 4\n  unbalanced: 1 leaf stands at level 1 and above too\n"
        "  1 label is also the label of a wider node above ('u'): in a release the wider one is meant\n%s";
    assert_ok(kn_hierarchy_check(&text, &n_lacking, NULL, NULL, 0, &request, err));
    snprintf(expected, sizeof expected, facts, path, "");
    assert_string_equal(text, expected);
    kn_free(text);
    assert_ok(kn_hierarchy_check(&text, &n_lacking, &table->columns[0], "d.csv", 5, &request, err));
    snprintf(expected, sizeof expected, facts, path,
             "d.csv, column a: 4 values, 2 not in the hierarchy; 2 of 4 leaves are used\n  line 3: 'x' is not in the "
             "hierarchy\n"
             "  line 5: 'y' is not in the hierarchy\n  missing cells become a leaf of their own below the root\n");
    assert_string_equal(text, expected);
    assert_int_equal(n_lacking, 2);
    kn_free(text);
    unlink(path);
    test_table_free(table);
}

/* H(X|node), from the definition. */
static double entropy_of(const kn_domain *domain, uint32_t first, uint32_t last)
{
    double n = (double)(domain->rows_before[last + 1] - domain->rows_before[first]), sum = 0;
    for (uint32_t leaf = first; leaf <= last; leaf++) {
        double share = (double)kn_domain_code_rows(domain, leaf) / n;
        if (share > 0) sum -= share * log2(share);
    }
    return sum;
}

static bool is_monotone(const kn_domain *domain, const kn_tree *tree)
{
    for (uint32_t node = 0; node < tree->root; node++) {
        uint32_t parent = tree->parent[node];
        if (entropy_of(domain, tree->first[node], tree->last[node]) >
            entropy_of(domain, tree->first[parent], tree->last[parent]) + 1e-8)
            return false;
    }
    return true;
}

static void the_rectified_hierarchy_is_a_monotone_part_of_the_given_one(void **state)
{
    kn_rng rng = kn_rng_new(7, 0);
    uint32_t n_wrong = 0, n_removed;
    for (int round = 0; round < 1000; round++) {
        int cells[200];
        uint32_t n_rows = 20 + kn_rng_below(&rng, 180), n_values = 2 + kn_rng_below(&rng, 14);
        for (uint32_t r = 0; r < n_rows; r++) /* one value dominates */
            cells[r] = kn_rng_below(&rng, 10) > 0 && r >= n_values ? 0 : (int)kn_rng_below(&rng, n_values);
        kn_table *table = test_table(n_rows, 1, cells);
        kn_domain *domain = test_random_tree_domain(&rng, table, 0, 2 + kn_rng_below(&rng, 4));
        kn_tree *tree;
        bool was_monotone = is_monotone(domain, domain->tree);
        assert_ok(kn_hierarchy_rectify(&tree, &n_removed, domain, err));
        assert_true(is_monotone(domain, tree));
        assert_int_equal(tree->n_leaves, domain->tree->n_leaves);
        assert_int_equal(tree->n_nodes + n_removed, domain->tree->n_nodes);
        for (uint32_t node = 0; node < tree->n_nodes; node++) {
            size_t n;
            const char *label = kn_tree_label(tree, node, &n);
            uint32_t original = kn_tree_find(domain->tree, label, n);
            assert_int_equal(tree->first[node], domain->tree->first[original]);
            assert_int_equal(tree->last[node], domain->tree->last[original]);
        }
        assert_int_equal(n_removed == 0, was_monotone);
        if (was_monotone) assert_same_tree(tree, domain->tree);
        n_wrong += !was_monotone;
        kn_tree_free(tree);
        kn_domain_free(domain);
        test_table_free(table);
    }
    assert_true(n_wrong > 100);

    /* [GT] Example 4.7: {3,4} has 1 bit, everything next to nothing */
    int cells[1000];
    for (int r = 0; r < 1000; r++) cells[r] = r < 3 ? r + 2 : 1;
    kn_table *table = test_table(1000, 1, cells);
    kn_domain *domain = test_domain(table, 0, "1;{1,2};*\n2;{1,2};*\n3;{3,4};*\n4;{3,4};*\n");
    kn_tree *tree;
    char *text;
    assert_ok(kn_hierarchy_rectify(&tree, &n_removed, domain, err));
    assert_int_equal(n_removed, 1);
    assert_ok(kn_tree_to_text(&text, tree, err));
    assert_string_equal(text, "1;\"{1,2}\";*\n2;\"{1,2}\";*\n3;3;*\n4;4;*\n");
    kn_free(text);
    kn_tree_free(tree);
    kn_domain_free(domain);
    test_table_free(table);
}

/* --- Real data and failing memory ------------------------------------------------------------------------------ */

static void hierarchies_of_real_tables_are_read_or_refused(void **state)
{
    const char *folder = getenv("KANON_DATA");
    if (folder == NULL) {
        print_message("KANON_DATA is not set: no real data\n");
        skip();
    }
    static const char *good[] = {"adult/hierarchies/age.csv",
                                 "adult/hierarchies_all14/fnlwgt.csv",
                                 "adult/hierarchies_all14/age.csv",
                                 "creditcard/hierarchies/BILL_AMT1.csv",
                                 "creditcard/hierarchies/EDUCATION.csv",
                                 "fars/hierarchies/iage.csv",
                                 "examples/samarati_hierarchy_ZIP.csv",
                                 "examples/lefevre2005_hierarchy_Birthdate.csv",
                                 "examples/li2007_hierarchy_Disease.csv",
                                 "italia/hierarchies/italia_hierarchy_zip_code.csv"};
    static const char *wrong[][2] = {
        {"italia/hierarchies/italia_hierarchy_age.csv", "line "},
        {"italia/hierarchies/italia_hierarchy_city_birth.csv", "line "},
    };
    char path[1000];
    kn_tree *tree, *again;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *text;
        snprintf(path, sizeof path, "%s/%s", folder, good[i]);
        assert_ok(kn_tree_read(&tree, path, false, NULL, err));
        assert_ok(kn_tree_to_text(&text, tree, err));
        assert_ok(parse_text(&again, text, err));
        assert_same_tree(tree, again);
        kn_free(text);
        kn_tree_free(tree);
        kn_tree_free(again);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kn_error err = {0};
        snprintf(path, sizeof path, "%s/%s", folder, wrong[i][0]);
        assert_int_equal(kn_tree_read(&tree, path, false, NULL, &err), KN_INPUT);
        const char *here = strstr(err.message, ", line "),
                   *there = here != NULL ? strstr(here + 1, "but in line ") : NULL;
        if (there == NULL) fail_msg("both places should be named: %s", err.message);
    }
}

/* The table with every column whose hierarchy file exists as a quasi-identifier. */
static kn_table *read_table(const char *folder, const char *data, const char *pattern)
{
    char path[1000];
    kn_csv_reader *reader;
    kn_column_plan plans[64] = {{0}};
    kn_csv_options options = {0};
    kn_table *table;
    snprintf(path, sizeof path, "%s/%s", folder, data);
    assert_ok(kn_csv_open(&reader, path, &options, err));
    assert_true(kn_csv_n_columns(reader) <= 64);
    for (uint32_t c = 0; c < kn_csv_n_columns(reader); c++) {
        char file[200];
        snprintf(file, sizeof file, pattern, kn_csv_column_name(reader, c));
        snprintf(path, sizeof path, "%s/%s", folder, file);
        plans[c].role = access(path, R_OK) == 0 ? KN_ROLE_QUASI : KN_ROLE_DROPPED;
    }
    assert_ok(kn_csv_read(&table, reader, plans, NULL, NULL, err));
    kn_csv_close(reader);
    return table;
}

static void real_tables_fit_their_hierarchies(void **state)
{
    const char *folder = getenv("KANON_DATA");
    if (folder == NULL) {
        print_message("KANON_DATA is not set: no real data\n");
        skip();
    }
    static const struct {
        const char *data, *pattern;
        uint32_t n_files;
        const char *lacking; /* column whose hierarchy lacks values; NULL: none does */
    } sets[] = {
        {"adult/adult_30162.csv", "adult/hierarchies/%s.csv", 8, NULL},
        {"adult/adult_45222.csv", "adult/hierarchies_all14/%s.csv", 13, "fnlwgt"},
        {"fars/fars.csv", "fars/hierarchies/%s.csv", 8, NULL},
        {"creditcard/creditcard.csv", "creditcard/hierarchies/%s.csv", 24, NULL},
        {"examples/samarati_zip_marital_sex_10rows.csv", "examples/samarati_hierarchy_%s.csv", 3, NULL},
        {"examples/lefevre2005_patients.csv", "examples/lefevre2005_hierarchy_%s.csv", 3, NULL},
        {"examples/li2007_tcloseness_arx_test2.csv", "examples/li2007_hierarchy_%s.csv", 3, NULL},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        kn_table *table = read_table(folder, sets[i].data, sets[i].pattern);
        uint32_t n_files = 0;
        bool lacked = false;
        for (uint32_t c = 0; c < table->n_columns; c++) {
            const kn_column *column = &table->columns[c];
            if (column->role != KN_ROLE_QUASI) continue;
            char file[200];
            snprintf(file, sizeof file, sets[i].pattern, column->name);
            kn_hierarchy_request request = {.spec = file, .base_folder = folder, .weight = 1, .max_level = KN_NONE};
            for (int automatic = 0; automatic < 2; automatic++) {
                kn_domain *domain;
                kn_error err = {0};
                kn_status status = kn_domain_build(&domain, column, table->source, table->n_rows, &request, &err);
                if (status != KN_OK && sets[i].lacking != NULL && !automatic) {
                    assert_int_equal(status, KN_INPUT);
                    assert_non_null(strstr(err.message, " is not in the hierarchy "));
                    lacked = lacked || strcmp(column->name, sets[i].lacking) == 0;
                } else {
                    if (status != KN_OK) fail_msg("%s", err.message);
                    assert_int_equal(domain->rows_before[domain->n_codes], table->n_rows);
                    for (uint32_t s = 0; s < column->n_spellings; s++)
                        assert_true(domain->code_of_spelling[s] < domain->n_codes);
                }
                kn_domain_free(domain);
                request.spec = "auto";
            }
            n_files++;
        }
        assert_int_equal(n_files, sets[i].n_files);
        assert_int_equal(lacked, sets[i].lacking != NULL);
        kn_table_free(table);
    }
}

/* Everything that allocates, on one small column of each kind. */
static kn_status use_everything(const kn_table *numbers, const kn_table *words, const kn_table *days, const char *path,
                                kn_error *err)
{
    static const char *const number_specs[] = {NULL, "suppress", "intervals(5,10)", "auto"};
    static const char *const word_specs[] = {NULL, "mask(left)", "order(a<b<c<d)", "auto"};
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    kn_set_pool *sets = NULL;
    kn_tree *tree = NULL;
    char *text = NULL;
    kn_buffer cell_text = {0};
    uint32_t n;
    kn_cell cell;
    kn_show_options options = {.width = 40};
    kn_hierarchy_request request = {.spec = path, .max_level = KN_NONE};
    for (int i = 0; i < 9; i++) {
        const kn_table *table = i < 4 ? numbers : i < 8 ? words : days;
        KN_TRY(build(&domain, table,
                     i < 4   ? number_specs[i]
                     : i < 8 ? word_specs[i - 4]
                             : "date(month,year)",
                     false, err));
        KN_TRY(kn_set_pool_new(&sets, err));
        KN_TRY(kn_domain_closure(&cell, domain, sets, (uint32_t[]){0, 1}, 2, err));
        kn_cell_text(&cell_text, &cell, domain, sets);
        if (cell_text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        KN_TRY(kn_cell_parse(&cell, domain, sets, cell_text.bytes, cell_text.n, err));
        kn_buffer_clear(&cell_text);
        if (domain->kind == KN_DOMAIN_TREE) {
            KN_TRY(kn_hierarchy_rectify(&tree, &n, domain, err));
            KN_TRY(kn_hierarchy_show(&text, tree, NULL, &options, err));
            kn_free(text);
            text = NULL;
            KN_TRY(kn_tree_to_text(&text, tree, err));
            kn_free(text);
            text = NULL;
            kn_tree_free(tree);
            tree = NULL;
        }
        kn_set_pool_free(sets);
        sets = NULL;
        kn_domain_free(domain);
        domain = NULL;
    }
    KN_TRY(build(&domain, numbers, path, false, err));
    KN_TRY(kn_hierarchy_check(&text, &n, &numbers->columns[0], "d", numbers->n_rows, &request, err));
done:
    kn_domain_free(domain);
    kn_set_pool_free(sets);
    kn_tree_free(tree);
    kn_free(text);
    kn_buffer_free(&cell_text);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    const int numbers[] = {1, 12, 3, TEST_MISSING, 25};
    const char *words[] = {"a", "b", "c", "a", "d"}, *dates[] = {"2024-01-31", "2023-11-02"};
    kn_table *tables[] = {test_table(5, 1, numbers), test_text_table(5, 1, words),
                          test_typed_table(KN_TYPE_DATE, 2, 1, dates)};
    const char *path = temporary_file("1;low;*\n\"3\";low;*\n12.0;high;*\n25;high;*\n");
    size_t before = kn_memory_used(), n_failed = 0;
    for (size_t nth = 1;; nth++) {
        kn_error err = {0};
        kn_memory_fail_at(nth);
        kn_status status = use_everything(tables[0], tables[1], tables[2], path, &err);
        bool reached = kn_memory_allocations() >= nth;
        kn_memory_fail_at(0);
        assert_int_equal(kn_memory_used(), before);
        if (!reached) {
            if (status != KN_OK) fail_msg("%s", err.message);
            break;
        }
        assert_int_equal(status, KN_RESOURCES);
        assert_memory_equal(err.message, "out of memory", strlen("out of memory")); /* how much, after it */
        n_failed++;
    }
    assert_true(n_failed > 100);
    unlink(path);
    for (int i = 0; i < 3; i++) test_table_free(tables[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_stand_in_pre_order_and_children_as_they_first_appear),
        cmocka_unit_test(a_repeated_label_is_one_node_unless_it_covers_more),
        cmocka_unit_test(the_closure_is_the_smallest_allowed_superset),
        cmocka_unit_test(a_collection_has_one_smallest_subset_or_is_refused_with_the_pair),
        cmocka_unit_test(lines_that_are_no_collection_are_refused),
        cmocka_unit_test(other_words_for_a_value_or_for_everything_are_read),
        cmocka_unit_test(equal_sets_have_equal_ids),
        cmocka_unit_test(cells_are_written_as_labels_intervals_sets_and_stars),
        cmocka_unit_test(a_file_may_look_like_any_csv),
        cmocka_unit_test(a_wrong_file_is_refused_with_both_places),
        cmocka_unit_test(a_written_tree_reads_back_the_same),
        cmocka_unit_test(domains_are_what_their_definition_says),
        cmocka_unit_test(a_value_outside_the_hierarchy_is_named_with_its_line),
        cmocka_unit_test(numbers_are_found_by_value),
        cmocka_unit_test(levels_are_checked),
        cmocka_unit_test(intervals_are_aligned_and_nest),
        cmocka_unit_test(masks_replace_characters_from_one_side),
        cmocka_unit_test(dates_fall_into_units_of_the_calendar),
        cmocka_unit_test(an_order_makes_intervals_of_text),
        cmocka_unit_test(natural_order_is_that_of_the_numbers_inside),
        cmocka_unit_test(an_amount_is_read_whole_or_not_as_one),
        cmocka_unit_test(natural_makes_intervals_of_text_with_numbers),
        cmocka_unit_test(auto_knows_numbers_with_something_around_them),
        cmocka_unit_test(words_of_a_scale_are_known_with_all_of_it),
        cmocka_unit_test(a_scale_tells_of_no_rare_word),
        cmocka_unit_test(an_order_against_that_of_numbers_makes_sets_of_what_is_there),
        cmocka_unit_test(automatic_trees_suit_the_data),
        cmocka_unit_test(automatic_intervals_hold_enough_rows),
        cmocka_unit_test(automatic_intervals_have_round_ends),
        cmocka_unit_test(classifications_have_the_same_labels_for_every_table),
        cmocka_unit_test(a_classification_needs_a_name_and_cells),
        cmocka_unit_test(postal_codes_are_known_by_their_form),
        cmocka_unit_test(similar_values_stand_together),
        cmocka_unit_test(small_sets_close_to_groups),
        cmocka_unit_test(a_missing_value_stands_below_the_root_of_every_spec),
        cmocka_unit_test(a_missing_cell_that_may_be_any_value_stands_below_the_root),
        cmocka_unit_test(a_slip_in_a_spec_is_no_missing_file),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_text_that_is_no_generalization_is_refused),
        cmocka_unit_test(long_numbers_are_placed_by_their_digits),
        cmocka_unit_test(a_tree_is_drawn_within_its_width_and_lines),
        cmocka_unit_test(no_drawing_has_more_lines_or_columns_than_allowed),
        cmocka_unit_test(make_writes_what_the_spec_does),
        cmocka_unit_test(a_rounded_value_is_the_interval_between_two_multiples),
        cmocka_unit_test(check_counts_and_lists_what_is_lacking),
        cmocka_unit_test(the_rectified_hierarchy_is_a_monotone_part_of_the_given_one),
        cmocka_unit_test(hierarchies_of_real_tables_are_read_or_refused),
        cmocka_unit_test(real_tables_fit_their_hierarchies),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
