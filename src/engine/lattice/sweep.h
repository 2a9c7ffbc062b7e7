/* The best nodes of a lattice whose nodes fit into memory: one top-down sweep with bounds.
 *
 * What a node loses is the price of the table at its levels plus what its suppressed rows pay more. The first part is
 * known without looking at data. For the second: rows in a class of too few persons are in such a class at every more
 * specific node too, where they pay at least as much more. So the sweep goes from general to specific, every node pulls
 * the largest penalty and number of suppressed rows from the nodes one level above it, and classes are made only for
 * nodes that can still be among the best. Classes come by roll-up of the columns in the order of the bundles (or
 * groups), and a branch is rolled up only when some node in it is open, then no further down than the open ones are.
 * Where classes are many a branch begins with the least node above its open ones, of whatever price: if it suppresses
 * too much, one small roll-up has closed the branch.
 *
 * Where prices may fall, suppressed rows pay less than their cells did, but never less than all that could be saved so
 * (least_more). For measures that are no sums over cells only the suppressed rows bound. Where models are monotone and
 * nothing may be suppressed, a node that breaks them closes everything below it. */
#ifndef KN_ENGINE_LATTICE_SWEEP_H
#define KN_ENGINE_LATTICE_SWEEP_H

#include "engine/lattice/evaluator.h"

typedef struct kn_ranked_node {
    kn_node node;
    uint32_t *levels;
} kn_ranked_node;

/* The best nodes found, best first. */
typedef struct kn_ranking {
    kn_owner memory;
    size_t n, capacity; /* capacity: how many are wanted */
    kn_ranked_node *items;
    uint32_t n_qis;
} kn_ranking;

kn_status kn_ranking_new(kn_ranking *ranking, size_t capacity, uint32_t n_qis, kn_error *err);
void kn_ranking_free(kn_ranking *ranking);
/* Keeps the node if it is feasible and among the best. */
void kn_ranking_offer(kn_ranking *ranking, const kn_node *node, const uint32_t *levels);

typedef struct kn_sweep_result {
    kn_stopped stopped;
    bool complete;    /* the ranking is proven */
    double bound;     /* no feasible node loses less; NAN: nothing is known */
    uint64_t n_nodes; /* evaluated */
} kn_sweep_result;

/* Nodes that a sweep can hold within `memory_bytes` (0: its own limit). */
double kn_sweep_most_nodes(size_t memory_bytes);
/* Fills the ranking. `effort`: groups to roll up or evaluate at most; 0: no limit. */
kn_status kn_sweep(kn_sweep_result *result, kn_ranking *ranking, const kn_full_domain *domain, uint64_t effort,
                   kn_error *err);

/* Which nodes are feasible: (*feasible)[number of the node], yours to kn_free. The same sweep without prices: what lies
 * below a node that suppresses too much is not looked at. An interrupted one fails. */
kn_status kn_sweep_feasible(uint8_t **feasible, uint64_t *n_evaluated, const kn_task *task, kn_error *err);

#endif
