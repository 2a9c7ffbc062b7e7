/* Clusters that items move between: members, counts, true prices; and the merging of those that break a model, which is
 * the whole of `agglomerative` and the end of `sequential`. */
#ifndef KN_ENGINE_CLOSURE_CLASS_MEMBERS_H
#define KN_ENGINE_CLOSURE_CLASS_MEMBERS_H

#include "engine/closure/closure_scan.h"

typedef struct kn_class_members {
    kn_owner memory; /* all arrays below */
    const kn_task *task;
    const kn_items *items;
    const kn_pricer *pricer;
    uint32_t n, capacity;  /* clusters, empty ones included */
    uint32_t *head;        /* [capacity]: first member, KN_NONE: empty */
    uint32_t *next, *prev; /* [item] */
    uint32_t *of_item;     /* [item]: its cluster, KN_NONE: in none */
    uint64_t *rows, *persons;
    kn_span *spans;     /* [cluster * n_qis + q], as of the last kn_class_members_refresh */
    double *price;      /* of one row, by the pricer, the same */
    double *cost;       /* of the cluster, by the objective, the same */
    bool by_class;      /* the objective prices whole classes, and can do so here */
    bool by_value;      /* that is a sum over rows and columns, and the scan follows it (value_scan.h) */
    uint64_t *closure;  /* of the cluster, hashed, as of the last kn_class_members_refresh, where `by_class` */
    kn_span *widened;   /* scratch: n_qis */
    kn_cell *cells;     /* scratch: n_qis */
    kn_growing growing; /* scratch */
    uint32_t *active;   /* scratch: n_qis */
    uint32_t *values;   /* scratch: sensitive values and counts of a class */
    uint64_t *counts;
    uint32_t *dense; /* zeros, one per value of a small domain */
    kn_histogram *histograms;
    bool out_of_time; /* the time limit ended the search: what was left was united as it stood */
} kn_class_members;

/* The objective prices whole classes, and can do so for these items. */
bool kn_class_members_can_price(const kn_objective *objective, const kn_items *items);
kn_status kn_class_members_new(kn_class_members **out, const kn_task *task, const kn_items *items,
                               const kn_pricer *pricer, uint32_t capacity, kn_error *err);
void kn_class_members_free(kn_class_members *clusters);
void kn_class_members_add(kn_class_members *clusters, uint32_t cluster, uint32_t item);
void kn_class_members_remove(kn_class_members *clusters, uint32_t item);
void kn_class_members_unite(kn_class_members *clusters, uint32_t into, uint32_t from); /* `from` is empty afterwards */
/* Spans and price from the members. Whoever changes a cluster calls it before asking for prices. */
void kn_class_members_refresh(kn_class_members *clusters, uint32_t cluster);
/* The cost of the whole cluster if `item`, a member, left; if `item`, no member, came; under the objective: rows *
 * price, or the price of the class for measures such as PMI. (With SETS columns a set would have to be made for every
 * question: there it is the pricer's width.) */
double kn_class_members_cost_without(kn_class_members *clusters, uint32_t cluster, uint32_t item);
double kn_class_members_cost_with(kn_class_members *clusters, uint32_t cluster, uint32_t item);
/* Like remove and add, for refreshed clusters, which stay so. */
void kn_class_members_leave(kn_class_members *clusters, uint32_t item);
void kn_class_members_join(kn_class_members *clusters, uint32_t cluster, uint32_t item);
/* Clusters with equal closures are one class of the release: unites them, and refreshes all. Where a class costs more
 * or less than its parts (kn_objective_is_additive), that is what their cost means only then. */
kn_status kn_class_members_unite_alike(kn_class_members *clusters, kn_error *err);
/* Would another cluster look like this one after the change that was last asked about, cost_without or cost_with?
 * *closure is the hash of the closure then. Two hashes that happen to be equal forbid a move, no more. */
bool kn_class_members_meets_without(uint64_t *closure, const kn_class_members *clusters, uint32_t cluster);
bool kn_class_members_meets_with(uint64_t *closure, const kn_class_members *clusters, uint32_t cluster);
/* Do the models hold for the cluster so changed? `sizes`: also the ones that only count persons. */
bool kn_class_members_hold(kn_class_members *clusters, uint32_t cluster, uint32_t without, uint32_t with, bool sizes);
/* The cluster, which is refreshed, as a probe. */
void kn_class_members_load(const kn_class_members *clusters, kn_probe *probe, uint32_t cluster);
/* Unites the two closest clusters below k persons until at most one is left, and that one with the cluster closest to
 * it: [SC] Algorithm 1, steps 11 to 14. Distance: what uniting costs, from the scan. A cluster that is large enough and
 * still breaks a model is united with the closest one that makes it hold. `pool` may be NULL. */
kn_status kn_class_members_merge_small(kn_class_members *clusters, kn_pool *pool, const char *stage, kn_error *err);
/* Numbers the clusters that have members and makes the answer. */
kn_status kn_class_members_answer(kn_answer *answer, const kn_class_members *clusters, kn_error *err);

#endif
