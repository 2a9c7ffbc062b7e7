#include "support.h"

#include "hierarchy/build.h"
#include "hierarchy/paths.h"
#include "table/dates.h"
#include "table/number.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Memory ------------------------------------------------------------------------------------------------------ */

static atomic_size_t n_allocations, failing_allocation;

static bool fails_now(void)
{
    size_t nth = atomic_fetch_add(&n_allocations, 1) + 1;
    return nth == atomic_load(&failing_allocation);
}

static void *test_allocate(void *user, size_t n_bytes) { return fails_now() ? NULL : malloc(n_bytes); }
static void *test_resize(void *user, void *block, size_t n_bytes)
{
    return fails_now() ? NULL : realloc(block, n_bytes);
}
static void test_release(void *user, void *block) { free(block); }

const kn_allocator *test_allocator(void)
{
    static const kn_allocator allocator = {test_allocate, test_resize, test_release, NULL};
    return &allocator;
}

size_t kn_memory_allocations(void) { return atomic_load(&n_allocations); }

void kn_memory_fail_at(size_t n_th)
{
    atomic_store(&n_allocations, 0);
    atomic_store(&failing_allocation, n_th);
}

static kn_account *test_account;

__attribute__((constructor)) static void enter_account(void)
{
    kn_scope before;
    if (kn_account_new(&test_account, test_allocator(), NULL) != KN_OK) abort();
    if (kn_scope_enter(&before, test_account, NULL) != KN_OK) abort();
}

__attribute__((destructor)) static void leave_account(void) { kn_account_free(test_account); }

static kn_error no_memory; /* tests that make allocations fail do it around the code under test, not here */

static void *must(void *block)
{
    if (block == NULL) fail_msg("test support: out of memory");
    return block;
}

#define MAKE(n, type) ((type *)must(kn_array_alloc((n), sizeof(type), &no_memory)))

/* --- Tables ---------------------------------------------------------------------------------------------------- */

typedef struct spelled {
    const char *text; /* NULL: missing */
    double number;
} spelled;

/* Numbers by value, text by bytes, the missing value last. */
static int by_value(const void *a, const void *b)
{
    const spelled *x = a, *y = b;
    if (x->text == NULL || y->text == NULL) return (x->text == NULL) - (y->text == NULL);
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

/* Long numbers may share a double and still differ; those of a test have equally many digits, so bytes are their order.
 */
static bool same_decimal(const char *a, const char *b)
{
    kn_decimal x, y;
    if (kn_decimal_parse(&x, a, strlen(a), true) == KN_NUMBER_NONE) return true; /* dates */
    return kn_decimal_parse(&y, b, strlen(b), true) == KN_NUMBER_NONE || kn_decimal_compare(&x, &y) == 0;
}

/* Spellings of one number are one value. */
static void number_values(kn_column *column, const spelled *sorted)
{
    if (column->number == NULL) return;
    uint32_t n_values = 0, *value_of = MAKE(column->n_spellings, uint32_t);
    for (uint32_t i = 0; i < column->n_spellings; i++) {
        bool same = i > 0 && sorted[i].text != NULL && sorted[i].number == sorted[i - 1].number &&
                    same_decimal(sorted[i].text, sorted[i - 1].text);
        if (!same) column->number[n_values++] = sorted[i].text != NULL ? sorted[i].number : (double)NAN;
        value_of[i] = n_values - 1;
    }
    if (n_values < column->n_spellings) {
        column->n_values = n_values;
        column->spelling_value = value_of;
    } else {
        kn_free(value_of);
    }
}

static void fill_column(kn_column *column, uint32_t index, kn_type type, uint32_t n_rows, const spelled *cells,
                        uint32_t n_columns)
{
    spelled *sorted = MAKE(n_rows, spelled);
    uint32_t n = 0;
    uint64_t n_bytes = 0;
    for (uint32_t r = 0; r < n_rows; r++) sorted[r] = cells[(size_t)r * n_columns + index];
    qsort(sorted, n_rows, sizeof *sorted, by_value);
    for (uint32_t r = 0; r < n_rows; r++)
        if (n == 0 || by_value(&sorted[n - 1], &sorted[r]) != 0) sorted[n++] = sorted[r];
    for (uint32_t i = 0; i < n; i++) n_bytes += sorted[i].text != NULL ? strlen(sorted[i].text) : 0;

    char name[] = {(char)('a' + index % 26), '\0'};
    *column = (kn_column){.name = must(kn_string_copy(name, 1, &no_memory)),
                          .role = KN_ROLE_QUASI,
                          .type = type,
                          .n_spellings = n,
                          .n_values = n,
                          .code_bytes = 4,
                          .bytes = MAKE(n_bytes + 1, char),
                          .offset = MAKE(n + 1, uint64_t),
                          .first_line = MAKE(n, uint64_t),
                          .codes = MAKE(n_rows, uint32_t),
                          .number = type == KN_TYPE_TEXT ? NULL : MAKE(n, double)};
    for (uint32_t i = 0; i < n; i++) {
        size_t length = sorted[i].text != NULL ? strlen(sorted[i].text) : 0;
        memcpy(column->bytes + column->offset[i], sorted[i].text != NULL ? sorted[i].text : "", length);
        column->offset[i + 1] = column->offset[i] + length;
        if (sorted[i].text == NULL) column->has_missing = true;
    }
    number_values(column, sorted);
    for (uint32_t r = 0; r < n_rows; r++) {
        uint32_t code = 0;
        while (by_value(&sorted[code], &cells[(size_t)r * n_columns + index]) != 0) code++;
        ((uint32_t *)column->codes)[r] = code;
        if (column->first_line[code] == 0) column->first_line[code] = r + 2; /* line 1 is the header */
    }
    kn_free(sorted);
}

static kn_table *make_table(uint32_t n_rows, uint32_t n_columns, kn_type type, const spelled *cells)
{
    kn_table *table = MAKE(1, kn_table);
    *table = (kn_table){.source = must(kn_string_copy("test.csv", 8, &no_memory)),
                        .n_rows = n_rows,
                        .n_columns = n_columns,
                        .columns = MAKE(n_columns, kn_column),
                        .person = KN_NONE};
    for (uint32_t c = 0; c < n_columns; c++) fill_column(&table->columns[c], c, type, n_rows, cells, n_columns);
    return table;
}

kn_table *test_table(uint32_t n_rows, uint32_t n_columns, const int *cells)
{
    size_t n = (size_t)n_rows * n_columns;
    spelled *texts = MAKE(n, spelled);
    char(*digits)[12] = must(kn_array_alloc(n, sizeof *digits, &no_memory));
    for (size_t i = 0; i < n; i++) {
        snprintf(digits[i], sizeof digits[i], "%d", cells[i]);
        texts[i] = (spelled){cells[i] == TEST_MISSING ? NULL : digits[i], cells[i]};
    }
    kn_table *table = make_table(n_rows, n_columns, KN_TYPE_INT, texts);
    kn_free(texts);
    kn_free(digits);
    return table;
}

kn_table *test_text_table(uint32_t n_rows, uint32_t n_columns, const char *const *cells)
{
    size_t n = (size_t)n_rows * n_columns;
    spelled *texts = MAKE(n, spelled);
    for (size_t i = 0; i < n; i++) texts[i] = (spelled){cells[i], 0};
    kn_table *table = make_table(n_rows, n_columns, KN_TYPE_TEXT, texts);
    kn_free(texts);
    return table;
}

kn_table *test_typed_table(kn_type type, uint32_t n_rows, uint32_t n_columns, const char *const *cells)
{
    size_t n = (size_t)n_rows * n_columns;
    spelled *texts = MAKE(n, spelled);
    for (size_t i = 0; i < n; i++) {
        kn_moment moment = {0};
        texts[i] = (spelled){cells[i], 0};
        if (cells[i] == NULL || type == KN_TYPE_TEXT) continue;
        if (type == KN_TYPE_DATE) {
            if (!kn_date_parse(&moment, cells[i], strlen(cells[i]), KN_DATE_ISO)) fail_msg("no date: %s", cells[i]);
            texts[i].number = kn_moment_number(&moment);
        } else {
            texts[i].number = strtod(cells[i], NULL);
        }
    }
    kn_table *table = make_table(n_rows, n_columns, type, texts);
    kn_free(texts);
    return table;
}

kn_table *test_random_table(kn_rng *rng, uint32_t n_rows, uint32_t n_columns, uint32_t n_values)
{
    int *cells = MAKE((size_t)n_rows * n_columns, int);
    for (size_t i = 0; i < (size_t)n_rows * n_columns; i++) cells[i] = (int)kn_rng_below(rng, n_values);
    kn_table *table = test_table(n_rows, n_columns, cells);
    kn_free(cells);
    return table;
}

void test_table_free(kn_table *table) { kn_table_free(table); }

/* --- Trees and domains ----------------------------------------------------------------------------------------- */

static void push_label(kn_paths *paths, const char *bytes, size_t n_bytes, bool own)
{
    uint32_t id;
    assert_ok(own ? kn_paths_own_label(&id, paths, bytes, n_bytes, err)
                  : kn_paths_label(&id, paths, bytes, n_bytes, err));
    assert_ok(kn_paths_push(paths, id, err));
}

static void push_lines(kn_paths *paths, const char *lines)
{
    for (const char *at = lines; *at != '\0';) {
        const char *end = at + strcspn(at, "\n");
        uint32_t n_labels = 0;
        while (at <= end && n_labels < 100) {
            const char *stop = at + strcspn(at, ";\n");
            push_label(paths, at, (size_t)(stop - at), false);
            n_labels++;
            at = stop + 1;
        }
        if (paths->n_levels != 0 && paths->n_levels != n_labels) fail_msg("test tree: ragged lines:\n%s", lines);
        paths->n_levels = n_labels;
        at = *end == '\n' ? end + 1 : end;
    }
}

kn_tree *test_tree_from_lines(const char *lines)
{
    kn_paths paths = {.name = "test tree"};
    kn_tree *tree;
    push_lines(&paths, lines);
    assert_ok(kn_tree_from_paths(&tree, &paths, err));
    kn_paths_free(&paths);
    return tree;
}

/* Rows by code, from code_of_spelling. */
static void count_rows(kn_domain *domain, uint32_t n_rows)
{
    domain->rows_before = MAKE(domain->n_codes + 1, uint64_t);
    for (uint32_t r = 0; r < n_rows; r++)
        domain->rows_before[domain->code_of_spelling[kn_column_code(domain->column, r)] + 1] +=
            kn_column_count(domain->column, r);
    for (uint32_t c = 0; c < domain->n_codes; c++) domain->rows_before[c + 1] += domain->rows_before[c];
}

static kn_domain *start_domain(const kn_table *table, uint32_t column_index, uint32_t n_codes)
{
    const kn_column *column = &table->columns[column_index];
    kn_domain *domain = MAKE(1, kn_domain);
    *domain = (kn_domain){.name = column->name,
                          .column = column,
                          .n_codes = n_codes,
                          .missing = KN_NONE,
                          .code_of_spelling = MAKE(column->n_spellings, uint32_t),
                          .spelling_of_code = MAKE(n_codes, uint32_t),
                          .weight = 1,
                          .max_level = KN_NONE};
    memset(domain->spelling_of_code, 0xFF, n_codes * sizeof(uint32_t));
    return domain;
}

/* Numbers in their order; text by frequency, ties by bytes. */
static kn_domain *plain_domain(const kn_table *table, uint32_t column_index)
{
    const kn_column *column = &table->columns[column_index];
    uint32_t n = column->n_spellings;
    kn_domain *domain = start_domain(table, column_index, n);
    uint32_t *rows = MAKE(n, uint32_t);
    domain->kind = column->type == KN_TYPE_TEXT ? KN_DOMAIN_SETS : KN_DOMAIN_RANGES;
    for (uint32_t r = 0; r < table->n_rows; r++) rows[kn_column_code(column, r)] += kn_column_count(column, r);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t code = i;
        if (domain->kind == KN_DOMAIN_SETS) {
            code = 0;
            for (uint32_t j = 0; j < n; j++) code += rows[j] > rows[i] || (rows[j] == rows[i] && j < i);
        }
        domain->code_of_spelling[i] = code;
        domain->spelling_of_code[code] = i;
    }
    if (column->has_missing) domain->missing = domain->code_of_spelling[n - 1];
    kn_free(rows);
    count_rows(domain, table->n_rows);
    return domain;
}

static kn_domain *tree_domain(const kn_table *table, uint32_t column_index, kn_tree *tree, bool has_missing_leaf)
{
    const kn_column *column = &table->columns[column_index];
    kn_domain *domain = start_domain(table, column_index, tree->n_leaves);
    domain->kind = KN_DOMAIN_TREE;
    domain->tree = tree;
    domain->max_level = tree->n_levels - 1;
    for (uint32_t i = 0; i < column->n_spellings; i++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, i, &n);
        bool is_missing = column->has_missing && i == column->n_spellings - 1;
        uint32_t leaf = is_missing && has_missing_leaf ? tree->n_leaves - 1 : kn_tree_find_leaf(tree, bytes, n);
        if (leaf == KN_NONE) fail_msg("test tree: no leaf '%.*s'", (int)n, bytes);
        domain->code_of_spelling[i] = leaf;
        domain->spelling_of_code[leaf] = i;
        if (is_missing) domain->missing = leaf;
    }
    count_rows(domain, table->n_rows);
    return domain;
}

kn_domain *test_domain(const kn_table *table, uint32_t column_index, const char *tree_lines)
{
    if (tree_lines == NULL) return plain_domain(table, column_index);
    const kn_column *column = &table->columns[column_index];
    kn_paths paths = {.name = "test tree"};
    kn_tree *tree;
    push_lines(&paths, tree_lines);
    if (column->has_missing) { /* the last row, so the last leaf */
        uint32_t root = paths.cells.items[paths.n_levels - 1], missing;
        assert_ok(kn_paths_own_label(&missing, &paths, "", 0, err));
        for (uint32_t l = 0; l + 1 < paths.n_levels; l++) assert_ok(kn_paths_push(&paths, missing, err));
        assert_ok(kn_paths_push(&paths, root, err));
    }
    assert_ok(kn_tree_from_paths(&tree, &paths, err));
    kn_paths_free(&paths);
    return tree_domain(table, column_index, tree, column->has_missing);
}

kn_domain *test_suppress_domain(const kn_table *table, uint32_t column_index)
{
    const kn_column *column = &table->columns[column_index];
    kn_paths paths = {.name = "test tree", .n_levels = 2};
    kn_tree *tree;
    for (uint32_t i = 0; i < column->n_spellings; i++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, i, &n);
        push_label(&paths, bytes, n, false);
        push_label(&paths, "*", 1, false);
    }
    assert_ok(kn_tree_from_paths(&tree, &paths, err));
    kn_paths_free(&paths);
    return tree_domain(table, column_index, tree, false);
}

kn_domain *test_random_tree_domain(kn_rng *rng, const kn_table *table, uint32_t column_index, uint32_t n_levels)
{
    const kn_column *column = &table->columns[column_index];
    uint32_t n = column->n_spellings;
    if (n > 1 && n_levels < 2) n_levels = 2; /* several values need a root */
    kn_paths paths = {.name = "test tree", .n_levels = n_levels};
    /* group[l*n + i]: the first leaf of i's node at level l; a group starts where its lower one does, at random */
    uint32_t *group = MAKE((size_t)n * n_levels, uint32_t);
    for (uint32_t l = 0; l < n_levels; l++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t below = l > 0 ? group[(l - 1) * n + i] : i;
            bool starts = below == i && (l == 0 || kn_rng_below(rng, 2) == 0) && l + 1 < n_levels;
            group[l * n + i] = i == 0 || starts ? i : group[l * n + i - 1];
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < n_levels; l++) {
            char label[32];
            size_t length;
            const char *bytes = kn_column_bytes(column, i, &length);
            if (l > 0) {
                length = (size_t)snprintf(label, sizeof label, "L%u-%u", l, group[l * n + i]);
                bytes = label;
            }
            if (l + 1 == n_levels && n_levels > 1) {
                bytes = "*";
                length = 1;
            }
            push_label(&paths, bytes, length, false);
        }
    kn_free(group);
    kn_tree *tree;
    assert_ok(kn_tree_from_paths(&tree, &paths, err));
    kn_paths_free(&paths);
    return tree_domain(table, column_index, tree, false);
}

static bool is_new_subset(const uint64_t *subsets, uint32_t n, uint64_t subset, uint64_t all)
{
    if ((subset & (subset - 1)) == 0 || subset == all) return false;
    for (uint32_t i = 0; i < n; i++)
        if (subsets[i] == subset) return false;
    return true;
}

uint32_t test_random_subsets(kn_rng *rng, uint64_t subsets[TEST_MAX_SUBSETS], uint32_t n_values, bool closed)
{
    const uint64_t all = n_values < 64 ? ((uint64_t)1 << n_values) - 1 : ~(uint64_t)0;
    uint32_t n = 0;
    for (uint32_t i = 1 + kn_rng_below(rng, 5); i > 0; i--) {
        const uint64_t one = kn_rng_next(rng) & (kn_rng_below(rng, 2) ? kn_rng_next(rng) : all) & all;
        if (is_new_subset(subsets, n, one, all)) subsets[n++] = one;
    }
    for (uint32_t j = 1; closed && j < n; j++) /* what is added has its turn: at most 2^5 in all */
        for (uint32_t i = 0; i < j; i++)
            if (is_new_subset(subsets, n, subsets[i] & subsets[j], all)) subsets[n++] = subsets[i] & subsets[j];
    return n;
}

char *test_subsets_text(const uint64_t *subsets, uint32_t n_subsets, uint32_t n_values, const char *const *names)
{
    kn_buffer text = {0};
    char *lines;
    kn_buffer_text(&text, "# subsets\n");
    for (uint32_t value = 0; value < n_values; value++) {
        if (names != NULL) kn_buffer_text(&text, names[value]);
        else kn_buffer_printf(&text, "%u", value);
        for (uint32_t i = 0; i < n_subsets; i++)
            if (value < 64 && subsets[i] >> value & 1) kn_buffer_printf(&text, ";S%u", i);
        kn_buffer_char(&text, '\n');
    }
    assert_ok(kn_buffer_finish(&lines, &text, err));
    return lines;
}

kn_domain *test_random_subsets_domain(kn_rng *rng, const kn_table *table, uint32_t column_index)
{
    const kn_column *column = &table->columns[column_index];
    const uint32_t n = column->n_spellings - (column->has_missing ? 1 : 0);
    uint64_t subsets[TEST_MAX_SUBSETS];
    const uint32_t n_subsets = test_random_subsets(rng, subsets, n, true);
    char **names = MAKE((size_t)n + 1, char *);
    names[n] = kn_string_copy("nobody's", 8, NULL);
    kn_domain *domain;
    for (uint32_t i = 0, at = 0; i < column->n_spellings && at < n; i++) {
        size_t length;
        const char *bytes = kn_column_bytes(column, i, &length);
        if (column->has_missing && kn_column_value(column, i) == column->n_values - 1) continue;
        names[at] = kn_string_copy(bytes, length, NULL);
        at++;
    }
    char *text = test_subsets_text(subsets, n_subsets, n == 0 ? 1 : n, (const char *const *)names);
    const kn_hierarchy_request request = {
        .spec = "test subsets", .text = text, .n_text_bytes = strlen(text), .weight = 1, .max_level = KN_NONE};
    assert_ok(kn_domain_build(&domain, column, "test", table->n_rows, &request, err));
    for (uint32_t i = 0; i <= n; i++) kn_free(names[i]);
    kn_free(names);
    kn_free(text);
    return domain;
}
