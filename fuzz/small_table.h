/* A table of eight rows with everything that a search or a proof needs of it, made once per process: a number, a code
 * with a tree, and words without one. */
#ifndef KN_FUZZ_SMALL_TABLE_H
#define KN_FUZZ_SMALL_TABLE_H

#include "fuzz.h"
#include "search/search.h"

enum { SMALL_ROWS = 8, SMALL_QIS = 3 };

#define SMALL_CSV                                                                                                      \
    "age,zip,job\n"                                                                                                    \
    "31,1010,cook\n"                                                                                                   \
    "34,1010,cook\n"                                                                                                   \
    "38,1020,smith\n"                                                                                                  \
    "47,1020,clerk\n"                                                                                                  \
    "52,2010,smith\n"                                                                                                  \
    "53,2020,smith\n"                                                                                                  \
    "59,2020,clerk\n"                                                                                                  \
    "90,2020,cook\n"
#define SMALL_TREE_SPEC "mask(right)"

typedef struct small_table {
    memory_file file; /* SMALL_CSV */
    kn_table *table;
    kn_domain *domains[SMALL_QIS];
    kn_tuples *tuples;
    kn_models *models;
    kn_objective *objective;
    kn_args args;
    kn_task task;
} small_table;

/* `model`: "k-anonymity:k=2". */
void small_table_make(small_table *out, const char *model, const char *measure, uint64_t max_suppressed);
/* The least that a release of it can lose, as reported, by trying every way to make classes of at least k rows. */
double small_table_optimum(const small_table *small, uint32_t k);

#endif
