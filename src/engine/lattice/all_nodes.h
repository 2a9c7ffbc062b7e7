/* Every node of the lattice, evaluated: by blocks where they serve, by plain groups otherwise.
 *
 * The levels of the two outermost columns are the jobs of the pool, each from the base. A node's worth does not depend
 * on the job or the path that reached it. */
#ifndef KN_ENGINE_LATTICE_ALL_NODES_H
#define KN_ENGINE_LATTICE_ALL_NODES_H

#include "engine/lattice/node_figures.h"

/* Nodes come in any order, from any thread; what a visitor writes must be its own. `losses`: of the figures' measures.
 */
typedef kn_status (*kn_node_visitor)(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                                     unsigned worker, kn_error *err);

/* `figures` may be NULL: nodes have what a search needs, losses is NULL. With figures nodes have n_classes and
 * smallest, but neither bounds nor a loss. */
kn_status kn_all_nodes(const kn_full_domain *domain, const kn_figures *figures, kn_node_visitor visit, void *context,
                       kn_error *err);

#endif
