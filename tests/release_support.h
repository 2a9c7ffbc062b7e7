/* Small releases made in memory, for the tests of measures and models: a table whose last column is sensitive, random
 * domains for the others, classes of rows with their closures. */
#ifndef KN_TESTS_RELEASE_SUPPORT_H
#define KN_TESTS_RELEASE_SUPPORT_H

#include "support.h"

#include "classes/release.h"

#define MAX_TEST_QIS 4

typedef struct test_case {
    kn_table *table;
    uint32_t n_qis;
    kn_domain *domains[MAX_TEST_QIS];
    kn_tuples *tuples;
} test_case;

/* `cells` row by row, n_qis columns and n_sensitive more; domains are set by the caller before test_case_finish. */
test_case test_case_new(kn_table *table, uint32_t n_sensitive);
void test_case_finish(test_case *c);
/* A random table of up to max_rows rows, 1..3 QIs with domains of every kind and random weights, one sensitive column.
 */
test_case test_case_random(kn_rng *rng, uint32_t max_rows);
void test_case_free(test_case *c);

/* Classes as row_class says (KN_NONE: suppressed), each released as its closure. */
kn_release *test_release(const test_case *c, const uint32_t *row_class, uint32_t n_classes);
/* Rows thrown into classes at random, some suppressed when `suppress`; some cells wider than they must be. */
kn_release *test_release_random(kn_rng *rng, const test_case *c, bool suppress);
/* One class with the next: wider cells, a merger or (with `suppress`) a suppression, at random. */
kn_release *test_release_coarser(kn_rng *rng, const test_case *c, const kn_release *release, bool suppress);
/* One map per column: a level of a tree, or blocks of neighbours. */
kn_release *test_release_global(kn_rng *rng, const test_case *c);
/* Smallest allowed cell that covers both. */
kn_cell test_join(const kn_domain *domain, kn_set_pool *sets, const kn_cell *a, const kn_cell *b);

#endif
