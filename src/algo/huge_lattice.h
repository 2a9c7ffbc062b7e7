/* Lattices too large for a sweep: the best node that can be found, and a proven bound.
 *
 * First an incumbent: from the most general node downwards, always the step of one column that gains most, then
 * exchanges (one column more specific, another more general) while they gain. Then, under cell measures with monotone
 * prices, a best-first search over prefixes of the columns: a prefix with everything else fully general is itself a node;
 * the rows it suppresses for want of persons are suppressed in every node with that prefix. The least bound that is still
 * open bounds the loss of every feasible node; a complete vector that comes up first is the optimum.
 *
 * Stops after the task's effort (default: some thousand passes over the tuples), when time is up, or when asked to. */
#ifndef KN_ALGO_HUGE_LATTICE_H
#define KN_ALGO_HUGE_LATTICE_H

#include "algo/sweep.h"

/* The domain has no blocks. Fills the ranking. */
kn_status kn_huge_lattice(kn_sweep_result *result, kn_ranking *ranking, const kn_full_domain *domain, uint64_t effort,
                          kn_error *err);

#endif
