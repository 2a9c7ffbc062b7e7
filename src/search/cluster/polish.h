/* Polishing: `cluster` starts from the classes of another search's release. */
#ifndef KN_SEARCH_CLUSTER_POLISH_H
#define KN_SEARCH_CLUSTER_POLISH_H

#include "search/search.h"

/* In: the class of every row (KN_NONE: suppressed), which hold the task's models; the task with its objective, seed,
 * effort (0: until it stands still) and ticker. The task's `args` are not looked at.
 * Out: an answer with recoding LOCAL, released as closures. `*better` tells whether it loses strictly less, under the
 * task's objective over all rows with suppressed ones at the root's price, than the closures of the given classes;
 * otherwise its classes are the given ones, number by number. Where the given release was no closures (levels, cuts,
 * cells of its own) their closures lose no more, if the measure is monotone.
 * With no time left, or an effort below what it takes to look at all rows, the given classes come back.
 * Fails with KN_USAGE where `cluster` cannot serve the task (kn_algorithm_fits). */
kn_status kn_cluster_polish(kn_answer *answer, bool *better, const kn_task *task, const uint32_t *row_class,
                            uint32_t n_classes, kn_error *err);

#endif
