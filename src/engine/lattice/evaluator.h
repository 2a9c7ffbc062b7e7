/* What nodes of the lattice are worth under the task's models and the domain's measures: batch by batch, or by levels.
 *
 *     kn_full_domain *domain;          kn_full_domain_new(&domain, task, KN_MOST_COMBOS, err)
 *     kn_evaluator *evaluator;         kn_evaluator_new(&evaluator, domain, err)            one per thread
 *     kn_batch batch = {0};            kn_batch_roll(&batch, &domain->base, levels, evaluator, err)
 *     kn_node nodes[kn_batch_nodes(domain)]   kn_evaluate(nodes, NULL, evaluator, &batch, false, err)
 *
 * Cell measures: exact sums in units (prices.h). Class measures are summed over the classes; whole measures get the
 * release that recoding would make. */
#ifndef KN_ENGINE_LATTICE_EVALUATOR_H
#define KN_ENGINE_LATTICE_EVALUATOR_H

#include "engine/lattice/full_domain.h"

/* Scratch of one thread. */
typedef struct kn_evaluator kn_evaluator;
kn_status kn_evaluator_new(kn_evaluator **out, const kn_full_domain *domain, kn_error *err);
void kn_evaluator_free(kn_evaluator *evaluator);
kn_roller *kn_evaluator_roller(kn_evaluator *evaluator);

/* The batch at `levels`, each at least that of `from`; only those of the outer columns are looked at. */
kn_status kn_batch_roll(kn_batch *out, const kn_batch *from, const uint32_t *levels, kn_evaluator *evaluator,
                        kn_error *err);
/* nodes[kn_batch_nodes], losses[node * n_prices + measure] (may be NULL). Without `details` nodes of bundles may have
 * neither n_classes nor smallest, which is faster. */
kn_status kn_evaluate(kn_node *nodes, double *losses, kn_evaluator *evaluator, const kn_batch *batch, bool details,
                      kn_error *err);
/* The same node by node, with its level vector. What is handed to the visitor lasts as long as the call. */
typedef kn_status (*kn_node_visitor)(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                                     unsigned worker, kn_error *err);
kn_status kn_evaluate_nodes(kn_evaluator *evaluator, const kn_batch *batch, bool details, kn_node_visitor visit,
                            void *context, unsigned worker, kn_error *err);
/* The worth of any level vector. A call shares the work of the call before as far as the levels of the first columns
 * are the same: ask in kn_full_domain_roll_order, the last columns changing fastest. */
kn_status kn_evaluate_levels(kn_node *out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err);

#endif
