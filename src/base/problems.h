/* Problems that are collected instead of ending the work at the first: what `check` lists. Whoever loops over columns
 * or cells passes what failed to kn_problem_note and goes on where it returns KN_OK. */
#ifndef KN_BASE_PROBLEMS_H
#define KN_BASE_PROBLEMS_H

#include "base/memory.h"

#include <stdint.h>

typedef enum kn_problem_kind {
    KN_PROBLEM_OTHER,
    KN_PROBLEM_NEW_COLUMN,     /* of the table, without a role */
    KN_PROBLEM_MISSING_COLUMN, /* named by a setting, but not in the table */
    KN_PROBLEM_BAD_CELLS       /* that the declared type of their column does not fit, or its hierarchy lacks */
} kn_problem_kind;

#define KN_PROBLEM_LINES 3 /* first places that are told */

typedef struct kn_problem {
    kn_problem_kind kind;
    kn_error about;    /* the message and what it is about */
    char perhaps[256]; /* the new name of a missing column, "" where none is near */
    uint64_t n_cells;
    unsigned long long lines[KN_PROBLEM_LINES]; /* of bad cells, the first of each value; 0: there are fewer */
} kn_problem;

typedef struct kn_problems {
    KN_VECTOR(kn_problem) items;
} kn_problems;

/* Notes an error that the user can mend, clears it and returns KN_OK. Any other status stays, and so does every one
 * where nobody collects: `problems` or `err` NULL. */
kn_status kn_problem_note(kn_problems *problems, kn_status status, kn_error *err);
kn_status kn_problem_add(kn_problems *problems, const kn_problem *problem, kn_error *err);
/* NULL: none of that kind is about the column. */
const kn_problem *kn_problem_find(const kn_problems *problems, kn_problem_kind kind, const char *column);
void kn_problems_free(kn_problems *problems); /* what it holds */

#endif
