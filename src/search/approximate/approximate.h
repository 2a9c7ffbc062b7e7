/* What the approximations share: how a partition of the rows becomes an answer, and whether the theorem is about it. */
#ifndef KN_SEARCH_APPROXIMATE_APPROXIMATE_H
#define KN_SEARCH_APPROXIMATE_APPROXIMATE_H

#include "search/search.h"

/* k: the number of rows that the theorems speak of. */
static inline uint32_t kn_approximate_k(const kn_task *task)
{
    return task->models->min_persons > 1 ? (uint32_t)task->models->min_persons : 1;
}

/* What a proof needs besides a measure that is monotone, uniform in a class and sub-additive on this table. */
enum {
    KN_PROOF_NO_SUPPRESSION = 1, /* it compares with releases in which no row is suppressed */
    KN_PROOF_NO_SETS = 2,        /* a path or cycle bounds the closure of its rows by more than sub-additivity */
};
/* Fills answer->guarantee; `holds` only where models count rows alone, nobody has several rows, and the table has what
 * the proof needs. */
void kn_approximate_guarantee(kn_answer *answer, const kn_task *task, const char *theorem, double ratio,
                              unsigned proof);
/* Whether a cell measure is monotone on this table; *column: where not. */
bool kn_approximate_is_monotone(const kn_task *task, uint32_t *column);

/* The answer for row_class[row] < n_classes. Where the models ask for more than k rows, classes that break one are
 * united with their closest until all hold. */
kn_status kn_approximate_answer(kn_answer *answer, const kn_task *task, const uint32_t *row_class, uint32_t n_classes,
                                const char *stage, kn_error *err);

#endif
