/* A site: the records of a few near classes, which are built anew. Calling order: choose and take (cluster_site.c),
 * build (cluster_build.c, cluster_seed.c) and refine (cluster_refine.c) groups (cluster_groups.c), then keep or leave
 * them (cluster_rebuild.c). */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_SITE_H
#define KN_SEARCH_CLUSTER_CLUSTER_SITE_H

#include "search/cluster/cluster_classes.h"

#include <assert.h>

enum {
    OUTSIDE = KN_SITE_GROUPS,
    MAX_CHOSEN = 4, /* classes that are rebuilt together */
    MAX_DONOR_CLASSES = 12
};

KN_INLINE bool toss_coin(kn_cluster_block *block) { return kn_rng_next(&block->rng) & 1; }

KN_INLINE const kn_lanes *site_lanes(const kn_cluster_block *block, uint32_t x)
{
    return block->site.lanes + (size_t)x * block->n_vectors;
}

/* Lane j of record x in the site's chunks. */
KN_INLINE uint16_t *site_chunk_lane(const kn_cluster_block *block, uint32_t j, uint32_t x)
{
    return block->site.chunks + ((size_t)(x / KN_CHUNK) * block->n_lanes_site + j) * KN_CHUNK + x % KN_CHUNK;
}

/* Whether the growing group has record x's value of set s: all bits are set. */
KN_INLINE uint16_t *site_held(const kn_cluster_block *block, uint32_t s, uint32_t x)
{
    return block->site.held + ((size_t)(x / KN_CHUNK) * block->problem->n_sets + s) * KN_CHUNK + x % KN_CHUNK;
}

KN_INLINE kn_lanes *site_pattern(const kn_cluster_block *block, uint32_t g)
{
    return block->site.pattern + (size_t)g * block->n_vectors;
}

/* The pattern of group g without its record x. */
KN_INLINE const kn_lanes *site_without(const kn_cluster_block *block, uint32_t g, uint32_t x)
{
    return block->site.is_spare[x] ? site_pattern(block, g) : block->site.without + (size_t)x * block->n_vectors;
}

KN_INLINE int32_t site_price(const kn_cluster_block *block, const kn_lanes *pattern, uint32_t x)
{
    return lanes_price(block, pattern, block->site.record[x]);
}

KN_INLINE uint32_t site_person(const kn_cluster_block *block, uint32_t x)
{
    return block->person[block->site.record[x]];
}

/* Price of a group with pattern `pattern` once record x has joined. */
KN_INLINE int32_t price_joined(const kn_cluster_block *block, const kn_lanes *pattern, uint32_t x)
{
    return lanes_price_joined(block, pattern, site_lanes(block, x), block->site.record[x]);
}

KN_INLINE int64_t site_total(const kn_cluster_block *block)
{
    const kn_cluster_site *site = &block->site;
    int64_t total = site->outside_total;
    for (uint32_t g = 0; g < site->n_groups; g++) total += (int64_t)site->size[g] * site->price[g];
    return total;
}

/* Record x goes outside, or comes from there. */
KN_INLINE void note_outside(kn_cluster_site *site, uint32_t x, bool goes)
{
    assert(site->home_known[x]);
    site->outside_total += goes ? site->outside_price[x] : -site->outside_price[x];
    if (site->home[x] != KN_NONE) return;
    if (goes) site->n_suppressed++;
    else site->n_suppressed--;
}

/* A class and its neighbours; their records become the site. Returns the number of classes; behind them, up to
 * *n_near, stand more neighbours, which may be donors. pattern_b is what they are near to. */
uint32_t kn_site_choose(kn_cluster_block *block, uint32_t *chosen, uint32_t *n_near);
/* A few suppressed records join the site, at the end of the block's list. Returns how many. */
uint32_t kn_site_take_suppressed(kn_cluster_block *block);
/* Records that class h can spare, and that pay there no less than they would beside pattern_b, join as donors. */
void kn_site_take_donors(kn_cluster_block *block, uint32_t h);

/* Where record x can be a guest: the cheapest class that contains it already, so that nobody there pays more for it.
 * Most tries end before they ask, so it is looked for when first asked. */
uint32_t kn_site_home(kn_cluster_block *block, uint32_t x);
bool kn_site_may_go_outside(kn_cluster_block *block, uint32_t x, uint32_t max_suppressed);

/* A new group of record x alone. */
uint32_t kn_site_group_new(kn_cluster_block *block, uint32_t x);
void kn_site_group_add(kn_cluster_block *block, uint32_t g, uint32_t x);
/* The members of group g join another, all of them from inside the groups; the last group takes its number. */
void kn_site_group_merge(kn_cluster_block *block, uint32_t g, uint32_t into);
/* Counts the members of the group, where models ask for more than their number. */
void kn_site_group_count(kn_cluster_block *block, uint32_t g);
/* Does the group hold whose members are counted? */
bool kn_site_group_counted_holds(const kn_cluster_block *block, uint32_t g);
bool kn_site_group_holds(kn_cluster_block *block, uint32_t g);
/* Pattern and price of a group, and what they would be without each of its records: joins from both ends. */
void kn_site_group_refresh(kn_cluster_block *block, uint32_t g);

/* The group of the best pattern around a seed: all that match it, or just k of them, at random. */
void kn_site_seed_group(kn_cluster_block *block, uint32_t place, uint32_t *n_left);
/* No groups yet, all donors at home. */
void kn_site_start(kn_cluster_block *block);
/* False when there is no group, or the groups cost more than `most`. */
bool kn_site_build(kn_cluster_block *block, uint32_t max_suppressed, int64_t most);
/* Merges groups that do not hold with the one that costs least. */
bool kn_site_mend(kn_cluster_block *block);

void kn_site_refine(kn_cluster_block *block, uint32_t max_suppressed);
/* Takes the classes as they are and moves one or two records at random; exact prices decide. */
bool kn_site_step(kn_cluster_block *block, const uint32_t *chosen, uint32_t n_chosen, uint32_t max_suppressed);

#endif
