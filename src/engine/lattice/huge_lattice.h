/* Lattices too large for a sweep: the best node that can be found, and a proven bound.
 *
 * Under cell measures with monotone prices two searches take turns, both made of exact searches over some of the
 * columns (column_search.h). One improves the best node: some columns, drawn at random, are set free and given their
 * best levels while the others stay; the more columns, the longer nothing was found. The other raises the bound: what
 * the columns cost at least that are last in an order, one more each time, and what those cost at least that are first
 * in it. Suppressed rows pay by column, so both add up, as do the cheapest levels of the columns between them. Once the
 * former are all columns the best node is proven.
 *
 * Under other measures: from the most general node downwards, always the step of one column that gains most, then
 * exchanges (one column more specific, another more general) while they gain; then the same again from the best node
 * with some columns made general. Nothing is proven.
 *
 * Stops when time is up, after the task's effort, or when asked to. Without either limit there is an effort of some
 * hundred thousand passes over the tuples. The same effort and seed give the same result. */
#ifndef KN_ENGINE_LATTICE_HUGE_LATTICE_H
#define KN_ENGINE_LATTICE_HUGE_LATTICE_H

#include "engine/lattice/sweep.h"

/* The domain has no bundles. Fills the ranking. */
kn_status kn_huge_lattice(kn_sweep_result *result, kn_ranking *ranking, const kn_full_domain *domain, uint64_t effort,
                          kn_error *err);

#endif
