/* Every group of rows that can be released alike: the rows below one node per column, at least k of them.
 *
 * A group is left out where another one with the same rows costs no more (it is not closed): its constraint would
 * follow from that one's. So every set of k rows or more, whatever cells it is released with, lies in a visited group
 * that costs no more than those cells, or costs more than the limit.
 *
 * Depth first over the columns, splitting lists of points: from the root of a tree down to its leaves; of a column
 * whose cells lie between values, the points in the order of their values, from each one on. What has fewer than k
 * persons is dropped with everything below it, and so is what has become unclosed (the idea of LCM, Uno et al. 2004).
 * The levels of the first columns are the jobs of the pool; what a job visits, and in which order, depends on the
 * problem alone. Cost: a few steps per point of a visited group,
 * counted so that each takes about as long, whatever the table. */
#ifndef KN_BOUND_CLOSED_GROUPS_H
#define KN_BOUND_CLOSED_GROUPS_H

#include "bound/bound_problem.h"

#include <stdatomic.h>

typedef struct kn_group {
    const uint32_t *points; /* each once */
    uint32_t n_points;
    uint64_t n_rows;
    uint32_t price; /* units, of each row */
} kn_group;

/* Jobs run on any thread; the groups of one job come in one order. */
typedef kn_status (*kn_group_visitor)(void *context, const kn_group *group, size_t job, unsigned worker, kn_error *err);

typedef struct kn_group_walk {
    uint32_t price_limit;  /* groups that cost more are not visited */
    uint64_t max_work;     /* steps; 0: no limit */
    uint32_t member_steps; /* of the visitor, for each point of a group, beyond one */
    bool every;            /* unclosed ones too */
    atomic_bool enough;    /* set by the visitor: no more groups */
    /* Out: */
    uint64_t work;
    bool done; /* false: more than max_work, out of time, or enough. Which groups were visited then is open. */
} kn_group_walk;

size_t kn_group_jobs(const kn_bound_problem *problem);
kn_status kn_each_group(kn_group_walk *walk, const kn_bound_problem *problem, kn_group_visitor visit, void *context,
                        kn_error *err);

#endif
