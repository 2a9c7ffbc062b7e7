/* Every node of the lattice once: batch by batch with its classes, or one by one with what it is worth.
 *
 * Depth first over the outer columns, most specific first: a batch is rolled up from the one a step below it in the
 * innermost changed column. The levels of the two outermost columns are the jobs of the pool, each from the base, so
 * what a visitor sees does not depend on the number of threads. Where the intermediate results of a branch would exceed
 * the task's memory they are not kept: what is inside is rolled up from the nearest result that was, in one larger
 * step. For each node its groups: a domain without bundles, whose batches are one node each; its groups are
 * batch->groups (lattice.h). */
#ifndef KN_ENGINE_LATTICE_WALK_H
#define KN_ENGINE_LATTICE_WALK_H

#include "engine/lattice/evaluator.h"

/* Called in any order, from any thread, as node visitors are; what a visitor writes must be its own. */
typedef kn_status (*kn_batch_visitor)(void *context, const kn_batch *batch, kn_evaluator *evaluator, unsigned worker,
                                      kn_error *err);

kn_status kn_each_batch(const kn_full_domain *domain, kn_batch_visitor visit, void *context, kn_error *err);
/* `losses`: of the domain's measures. Without `details` nodes may have neither n_classes nor smallest. */
kn_status kn_each_node(const kn_full_domain *domain, bool details, kn_node_visitor visit, void *context, kn_error *err);

#endif
