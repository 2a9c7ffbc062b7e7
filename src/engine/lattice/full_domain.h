/* What the full-domain searches share: the lattice of a task with the prices of its measures. What nodes are worth:
 * evaluator.h.
 *
 * Order. A node is better than another with a smaller loss; then with fewer suppressed rows; then with the
 * lexicographically smaller level vector, in QI order. */
#ifndef KN_ENGINE_LATTICE_FULL_DOMAIN_H
#define KN_ENGINE_LATTICE_FULL_DOMAIN_H

#include "engine/lattice/lattice_bundles.h"
#include "engine/lattice/prices.h"
#include "search/search.h"

/* What one node is worth. */
typedef struct kn_node {
    uint64_t n_suppressed; /* rows of classes that break a model */
    uint64_t n_classes;    /* that hold */
    uint64_t smallest;     /* persons of the smallest class, also of those that break a model; 0 for an empty table */
    bool feasible;         /* suppresses no more than the task allows */
    uint64_t n_sure; /* so many rows at least are suppressed below this node too, among them those of classes with fewer
                        persons or different values than any model allows */
    int64_t units;   /* bounded measures: the loss in units, not less than it ... */
    int64_t sure_units; /* ... and what the latter pay above the table's price, not more than it */
    double loss;        /* as reported; NAN for an infeasible node under a whole measure */
} kn_node;

/* What is added up over the classes of a node for one measure: what suppressed rows pay more than their cells, in units
 * or by sensitive value, or the prices of the classes that hold. */
typedef struct kn_node_sums {
    int64_t units;
    kn_value_sum values;
    long double classes;
} kn_node_sums;

/* What one roll-up gives: the classes of a node, or, in bundles, those of all nodes that share the levels of the outer
 * columns. Zero-initialise it; reuse keeps the memory. */
typedef struct kn_batch {
    kn_groups groups;   /* of a domain without bundles ... */
    kn_bundles bundles; /* ... and of one with them */
} kn_batch;

typedef struct kn_full_domain {
    const kn_task *task;
    kn_lattice *lattice;
    uint32_t *order, n_order; /* all columns, outermost first */
    kn_cell *root;            /* [q]: what a suppressed row has there */
    uint32_t n_prices;        /* measures that nodes are priced by; the first one is the loss of a node */
    kn_prices *prices;
    kn_bundle_lattice *bundles;  /* NULL where bundles cannot serve */
    kn_batch base;               /* the most specific node; borrowed from lattice or bundles */
    uint32_t n_outer, *outer;    /* the columns whose levels a batch has; what is rolled up, outermost first */
    bool upward_closed;          /* what generalizes a feasible node is feasible */
    int64_t **table_sum, ***gap; /* of the first measure where it is a sum over cells; otherwise NULL */
    bool monotone_prices;        /* of it */
    bool bounded; /* a feasible node loses at least the table's price (class measures: 0) plus least_more plus, where
                     prices are monotone, the sure_units of any node above it */
    int64_t least_more; /* where they are not: suppressed rows pay at least this more than their cells, in all; not
                           above 0 */
} kn_full_domain;

/* Bundles where models and measures allow it, with at most so many combos; 0: none, a batch is one node. */
enum { KN_MOST_COMBOS = 9 };
/* Under the task's objective. */
kn_status kn_full_domain_new(kn_full_domain **out, const kn_task *task, uint32_t max_combos, kn_error *err);
/* Under these measures instead; without any, nodes have no loss. */
kn_status kn_full_domain_new_for(kn_full_domain **out, const kn_task *task, const kn_objective *const *objectives,
                                 size_t n_objectives, uint32_t max_combos, kn_error *err);
void kn_full_domain_free(kn_full_domain *domain);

/* Nodes of a batch, each with its level vector; whose levels of the outer columns are batch_levels. */
uint32_t kn_batch_nodes(const kn_full_domain *domain);
void kn_batch_node_levels(uint32_t *levels, const kn_full_domain *domain, const kn_batch *batch, uint32_t node);
const uint32_t *kn_batch_levels(const kn_full_domain *domain, const kn_batch *batch);
uint32_t kn_batch_size(const kn_full_domain *domain, const kn_batch *batch); /* classes, or entries of bundles */
size_t kn_batch_bytes(const kn_full_domain *domain, const kn_batch *batch);
void kn_batch_free(kn_batch *batch, const kn_full_domain *domain); /* what it holds, not the struct */
/* The columns as they are rolled up, the first one first. */
void kn_full_domain_roll_order(uint32_t *columns, const kn_full_domain *domain);
/* What a node is worth once its classes are counted: feasible, units and loss, and the losses under all measures (may
 * be NULL) from their sums; NAN under those of whole releases. */
void kn_node_price(kn_node *node, double *losses, const kn_full_domain *domain, const uint32_t *levels,
                   kn_node_sums *sums);

/* Negative when (a, a_levels) is better. */
int kn_node_compare(const kn_node *a, const uint32_t *a_levels, const kn_node *b, const uint32_t *b_levels,
                    uint32_t n_qis);
/* The most units that may come to the same loss as these, because a loss has 53 bits: nodes within them are ranked as
 * equal. */
static inline int64_t kn_units_tied(int64_t units) { return units + (units > 0 ? units >> 51 : 0); }
/* Reported loss of a sum in units under the first measure. */
double kn_full_domain_loss(const kn_full_domain *domain, int64_t sum);
/* The answer for a level vector. */
kn_status kn_full_domain_answer(kn_answer *answer, const kn_full_domain *domain, const uint32_t *levels, kn_error *err);
/* KN_NOT_MET: no node is feasible; says what the most general one would suppress and what may be. */
kn_status kn_full_domain_refuse(const kn_full_domain *domain, kn_error *err);
/* "[1, 0, 2]" */
void kn_levels_text(kn_buffer *out, const uint32_t *levels, uint32_t n_qis);

#endif
