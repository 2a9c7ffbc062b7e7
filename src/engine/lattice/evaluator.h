/* What a node of the lattice is worth under the task's models and objective (kn_node in full_domain.h): from its
 * groups, from blocks that answer for many nodes at once, or from its levels. */
#ifndef KN_ENGINE_LATTICE_EVALUATOR_H
#define KN_ENGINE_LATTICE_EVALUATOR_H

#include "engine/lattice/full_domain.h"

/* Scratch. With a pool large nodes are shared out among its threads; a thread's own evaluator has none. */
typedef struct kn_evaluator kn_evaluator;
kn_status kn_evaluator_new(kn_evaluator **out, const kn_full_domain *domain, kn_pool *pool, kn_error *err);
void kn_evaluator_free(kn_evaluator *evaluator);
kn_roller *kn_evaluator_roller(kn_evaluator *evaluator);
kn_block_roller *kn_evaluator_block_roller(kn_evaluator *evaluator); /* NULL without blocks */

/* The worth of the node that `groups` holds. */
kn_status kn_evaluate(kn_node *out, kn_evaluator *evaluator, const kn_groups *groups, kn_error *err);
/* With blocks: out[combo * KN_LATTICE_LANES + variant] for every combo and set of riders. Without `details` n_classes
 * and smallest are left 0, which is faster. */
void kn_evaluate_blocks(kn_node *out, kn_evaluator *evaluator, const kn_blocks *blocks, bool details);
/* The worth of any level vector. A call shares the work of the call before as far as the levels of the first columns
 * are the same: ask in kn_full_domain_roll_order, the last columns changing fastest. */
kn_status kn_evaluate_levels(kn_node *out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err);
/* Group by group: its counts and cells, valid until the next call, and whether it satisfies the models ... */
bool kn_evaluator_class(kn_class_counts *counts, const kn_cell **cells, kn_evaluator *evaluator,
                        const kn_groups *groups, uint32_t g);
/* ... where it does not, it is added to the suppressed ones, which are a class in the end; that starts anew. */
void kn_evaluator_add_suppressed(kn_evaluator *evaluator, const kn_class_counts *counts);
kn_class_counts kn_evaluator_suppressed_class(kn_evaluator *evaluator, uint64_t n_rows, uint64_t n_persons);
/* Reported loss under a class measure: `sum` over the classes that hold, and the class of suppressed rows. */
double kn_full_domain_class_loss(const kn_full_domain *domain, const kn_objective *objective, const kn_node *node,
                                 long double sum, const kn_class_counts *suppressed);
/* The same where `sum` has the suppressed rows too. */
double kn_full_domain_sum_loss(const kn_full_domain *domain, const kn_objective *objective, const kn_node *node,
                               long double sum);

#endif
