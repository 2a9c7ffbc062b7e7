/* What the nodes that bundles answer for are worth: one pass over the bundles for all combos and sets of generalized
 * riders, under all measures of the domain. The part of the evaluator (evaluator.h) that serves batches of many. */
#ifndef KN_ENGINE_LATTICE_BUNDLE_NODES_H
#define KN_ENGINE_LATTICE_BUNDLE_NODES_H

#include "engine/lattice/full_domain.h"

/* What a pass has added up, and its scratch; of one thread. */
typedef struct kn_bundle_nodes kn_bundle_nodes;
kn_status kn_bundle_nodes_new(kn_bundle_nodes **out, const kn_full_domain *domain, kn_error *err);
void kn_bundle_nodes_free(kn_bundle_nodes *pass);
/* About what it takes besides, beyond some fixed amount. */
size_t kn_bundle_nodes_bytes(const kn_lattice *lattice, const kn_objective *const *objectives, size_t n,
                             uint32_t n_combos);
/* nodes[combo << n_riders | variant], losses[that * n_prices + measure]; NULL: only node->loss, of the first. Without
 * `details` nodes have neither classes nor a smallest class, which is faster. */
void kn_bundle_nodes_evaluate(kn_node *nodes, double *losses, kn_bundle_nodes *pass, const kn_bundles *bundles,
                              bool details);

#endif
