/* The groups that can bind, kept in memory for many rounds over them.
 *
 * With a cap on each row's value, a group whose k largest caps average at most its price can never bind: it is not
 * kept. Nor are members whose caps are far below the price, beyond k: they matter only where values are far below their
 * caps, and then little; dual_check.c looks at everybody. Rounds run over chunks of about equal size on the pool; what
 * a chunk holds does not depend on the threads. */
#ifndef KN_BOUND_GROUP_STORE_H
#define KN_BOUND_GROUP_STORE_H

#include "bound/closed_groups.h"

/* One kept group. `kth`, `wake`: what the last look at it found, for the next one. */
typedef struct kn_kept_group {
    const uint32_t *points;
    uint32_t n_points;
    float price; /* in the scale of the caps */
    float kth;   /* k-th largest value */
    float wake;  /* not to be looked at before so much has been added to any value */
} kn_kept_group;

typedef struct kn_store_part {
    KN_VECTOR(uint32_t) members;
    KN_VECTOR(uint64_t) ends; /* in members */
    KN_VECTOR(float) prices;
} kn_store_part;

typedef struct kn_group_store {
    size_t n_parts;
    kn_store_part *parts; /* one per job of the walk */
    uint64_t n_members;
    size_t n_groups;
    kn_kept_group *groups;
    size_t n_chunks;
    size_t *chunk_ends; /* in groups */
} kn_group_store;

/* `caps` per point, in units / scale. NULL without an error where there would be more than max_members, or time was
 * over.
 */
kn_status kn_group_store_new(kn_group_store **out, const kn_bound_problem *problem, uint32_t price_limit,
                             const float *caps, double scale, uint64_t max_members, kn_error *err);
void kn_group_store_free(kn_group_store *store);

#endif
