/* Clusters that items move between: members, counts, true prices; and the merging of those that break a model, which is
 * the whole of `agglomerative` and the end of `sequential`. */
#ifndef KN_ENGINE_CLOSURE_CLASS_MEMBERS_H
#define KN_ENGINE_CLOSURE_CLASS_MEMBERS_H

#include "engine/closure/closure_scan.h"

typedef struct kn_clusters {
    const kn_task *task;
    const kn_items *items;
    const kn_pricer *pricer;
    uint32_t n, capacity;  /* clusters, empty ones included */
    uint32_t *head;        /* [capacity]: first member, KN_NONE: empty */
    uint32_t *next, *prev; /* [item] */
    uint32_t *of_item;     /* [item]: its cluster, KN_NONE: in none */
    uint64_t *rows, *persons;
    kn_span *spans;     /* [cluster * n_qis + q], as of the last kn_clusters_refresh */
    double *price;      /* of one row, by the pricer, the same */
    double *cost;       /* of the cluster, by the objective, the same */
    bool by_class;      /* the objective prices whole classes, and can do so here */
    kn_span *widened;   /* scratch: n_qis */
    kn_cell *cells;     /* scratch: n_qis */
    kn_growing growing; /* scratch */
    uint32_t *active;   /* scratch: n_qis */
    uint32_t *values;   /* scratch: sensitive values and counts of a class */
    uint32_t *counts;
    uint32_t *dense; /* zeros, one per value of a small domain */
    kn_histogram *histograms;
    bool out_of_time; /* the time limit ended the search: what was left was united as it stood */
} kn_clusters;

kn_status kn_clusters_new(kn_clusters **out, const kn_task *task, const kn_items *items, const kn_pricer *pricer,
                          uint32_t capacity, kn_error *err);
void kn_clusters_free(kn_clusters *clusters);
void kn_clusters_add(kn_clusters *clusters, uint32_t cluster, uint32_t item);
void kn_clusters_remove(kn_clusters *clusters, uint32_t item);
void kn_clusters_unite(kn_clusters *clusters, uint32_t into, uint32_t from); /* `from` is empty afterwards */
/* Spans and price from the members. Whoever changes a cluster calls it before asking for prices. */
void kn_clusters_refresh(kn_clusters *clusters, uint32_t cluster);
/* Price of one row of the cluster if `item`, a member, left; if `item`, no member, came. */
double kn_clusters_price_without(kn_clusters *clusters, uint32_t cluster, uint32_t item);
double kn_clusters_price_with(kn_clusters *clusters, uint32_t cluster, uint32_t item);
/* The same for the cost of the whole cluster under the objective: rows * price, or the price of the class for measures
 * such as PMI. (With SETS columns a set would have to be made for every question: there it is the pricer's width.) */
double kn_clusters_cost_without(kn_clusters *clusters, uint32_t cluster, uint32_t item);
double kn_clusters_cost_with(kn_clusters *clusters, uint32_t cluster, uint32_t item);
/* Like remove and add, for refreshed clusters, which stay so. */
void kn_clusters_leave(kn_clusters *clusters, uint32_t item);
void kn_clusters_join(kn_clusters *clusters, uint32_t cluster, uint32_t item);
/* Do the models hold for the cluster so changed? `sizes`: also the ones that only count persons. */
bool kn_clusters_hold(kn_clusters *clusters, uint32_t cluster, uint32_t without, uint32_t with, bool sizes);
/* The cluster as a probe. */
void kn_clusters_probe(const kn_clusters *clusters, kn_probe *probe, uint32_t cluster);
/* Unites the two closest clusters below k persons until at most one is left, and that one with the cluster closest to
 * it: [SC] Algorithm 1, steps 11 to 14. Distance: what uniting costs, from the scan. A cluster that is large enough and
 * still breaks a model is united with the closest one that makes it hold. `pool` may be NULL. */
kn_status kn_clusters_merge_small(kn_clusters *clusters, kn_pool *pool, const char *stage, kn_error *err);
/* Numbers the clusters that have members and makes the answer. */
kn_status kn_clusters_answer(kn_answer *answer, const kn_clusters *clusters, kn_error *err);

#endif
