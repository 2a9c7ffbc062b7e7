/* Every node of the lattice, evaluated: by blocks where they serve, by plain groups otherwise.
 *
 * The levels of the two outermost columns are the jobs of the pool, each from the base. A node's worth does not depend
 * on the job or the path that reached it. */
#ifndef KN_ALGO_ALL_NODES_H
#define KN_ALGO_ALL_NODES_H

#include "algo/full_domain.h"

/* Nodes come in any order, from any thread; what a visitor writes must be its own. */
typedef kn_status (*kn_node_visitor)(void *context, const kn_node *node, const uint32_t *levels, unsigned worker,
                                     kn_error *err);

/* `details`: n_classes and smallest are wanted too. */
kn_status kn_all_nodes(const kn_full_domain *domain, bool details, kn_node_visitor visit, void *context, kn_error *err);

#endif
