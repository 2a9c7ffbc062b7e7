/* What several test programs need: cmocka with its includes, and small tables made in memory. */
#ifndef KN_TESTS_SUPPORT_H
#define KN_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after its prerequisites */
#include <cmocka.h>

#include "base/memory.h"
#include "base/rng.h"
#include "hierarchy/domain.h"

#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        kn_error assert_err_ = {0};                                                                                    \
        kn_error *err = &assert_err_;                                                                                  \
        kn_status assert_status_ = (call);                                                                             \
        if (assert_status_ != KN_OK) fail_msg("%s: status %d: %s", #call, assert_status_, err->message);               \
    } while (0)

/* --- Memory ------------------------------------------------------------------------------------------------------
 *
 * Every test program works in an account of its own, whose allocator can be told to fail. */

const kn_allocator *test_allocator(void);
void kn_memory_fail_at(size_t n_th); /* the n-th allocation from now fails; 0: never */
size_t kn_memory_allocations(void);  /* how many there were since kn_memory_fail_at */

/* --- Small tables, trees and domains made in memory, without io or builders -------------------------------------
 *
 *     const int cells[] = {1, 7,
 *                          2, 7,
 *                          2, TEST_MISSING};
 *     kn_table *table = test_table(3, 2, cells);
 *     kn_domain *a = test_domain(table, 0, NULL);                       RANGES
 *     kn_domain *b = test_domain(table, 1, "7;odd;*\n8;even;*\n");      TREE
 *     ...
 *     kn_domain_free(a); kn_domain_free(b); test_table_free(table);
 *
 * They end the test when something is wrong, so results need no check. */

#define TEST_MISSING INT32_MIN

/* Quasi-identifiers named "a", "b", ...; `cells` row by row. Whole numbers, TEST_MISSING for an empty cell. */
kn_table *test_table(uint32_t n_rows, uint32_t n_columns, const int *cells);
/* The same with text; NULL for a missing (empty) cell. */
kn_table *test_text_table(uint32_t n_rows, uint32_t n_columns, const char *const *cells);
/* The same with numbers (KN_TYPE_INT, KN_TYPE_DECIMAL) or ISO dates (KN_TYPE_DATE) as spelled; "1" and "1.0" are two
 * spellings of one value. */
kn_table *test_typed_table(kn_type type, uint32_t n_rows, uint32_t n_columns, const char *const *cells);
/* Numbers 0 .. n_values-1 at random. */
kn_table *test_random_table(kn_rng *rng, uint32_t n_rows, uint32_t n_columns, uint32_t n_values);
void test_table_free(kn_table *table);

/* A tree from the lines of a hierarchy file: leaf first, root last, ';' between labels, no quoting. */
kn_tree *test_tree_from_lines(const char *lines);

/* The domain of a column. `tree_lines` NULL: numbers RANGES, text SETS. Otherwise TREE; every value of the column
 * must be a leaf, spelled the same, except the missing one, which is put below the root. */
kn_domain *test_domain(const kn_table *table, uint32_t column, const char *tree_lines);
/* TREE: each value below the root `*`. */
kn_domain *test_suppress_domain(const kn_table *table, uint32_t column);
/* TREE: a random tree with up to n_levels levels over the column's values (in their order, so nodes are ranges). */
kn_domain *test_random_tree_domain(kn_rng *rng, const kn_table *table, uint32_t column, uint32_t n_levels);

/* Subsets of up to 64 values, a bit each: some at random, and with `closed` what any two have in common. Returns how
 * many; none is empty, a single value or everything, no two are equal. */
enum { TEST_MAX_SUBSETS = 64 };
uint32_t test_random_subsets(kn_rng *rng, uint64_t subsets[TEST_MAX_SUBSETS], uint32_t n_values, bool closed);
/* Their file: the values "0", "1", ... as `names` says (NULL: as numbers), labels "S0", "S1", ... */
char *test_subsets_text(const uint64_t *subsets, uint32_t n_subsets, uint32_t n_values, const char *const *names);
/* SETS with a random collection of subsets over the column's values. */
kn_domain *test_random_subsets_domain(kn_rng *rng, const kn_table *table, uint32_t column);

#endif
