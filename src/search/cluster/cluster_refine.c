/* Refining the groups of a site by single moves and swaps, while that lowers their price. A swap can only gain if one
 * of the two records is the only deviant of its group on some lane; all others are passed over. */
#include "search/cluster/cluster_site.h"

enum { MAX_ROUNDS = 20, MAX_STEP_MOVES = 2 };

KN_INLINE void swap_members(kn_cluster_site *site, uint32_t a, int32_t x, uint32_t b, int32_t y)
{
    uint32_t record = site->members[a][x];
    site->members[a][x] = site->members[b][y];
    site->members[b][y] = record;
}

/* Moves members[a][x] to the end of group b; true when both hold, otherwise it is undone. */
static bool try_move(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b)
{
    kn_cluster_site *site = &block->site;
    uint32_t record = site->members[a][x];
    site->members[a][x] = site->members[a][--site->size[a]];
    site->members[b][site->size[b]++] = record;
    if (a != OUTSIDE) kn_site_group_refresh(block, a);
    if (b != OUTSIDE) kn_site_group_refresh(block, b);
    if (block->problem->counts_only ||
        ((a == OUTSIDE || kn_site_group_holds(block, a)) && (b == OUTSIDE || kn_site_group_holds(block, b)))) {
        if (a == OUTSIDE || b == OUTSIDE) note_outside(site, record, b == OUTSIDE);
        return true;
    }
    site->size[b]--;
    site->members[a][site->size[a]++] = site->members[a][x];
    site->members[a][x] = record;
    if (a != OUTSIDE) kn_site_group_refresh(block, a);
    if (b != OUTSIDE) kn_site_group_refresh(block, b);
    return false;
}

static bool try_swap(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b, int32_t y)
{
    kn_cluster_site *site = &block->site;
    swap_members(site, a, x, b, y);
    kn_site_group_refresh(block, a);
    kn_site_group_refresh(block, b);
    int32_t k = (int32_t)block->problem->k;
    if (site->persons[a] >= k && site->persons[b] >= k &&
        (block->problem->counts_only || (kn_site_group_holds(block, a) && kn_site_group_holds(block, b))))
        return true;
    swap_members(site, a, x, b, y);
    kn_site_group_refresh(block, a);
    kn_site_group_refresh(block, b);
    return false;
}

/* Moves members[a][x] to where the total falls most. */
static bool relocate(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t max_suppressed)
{
    kn_cluster_site *site = &block->site;
    uint32_t record = site->members[a][x], best = KN_NONE;
    int64_t gain = site->outside_price[record];
    if (a != OUTSIDE) {
        if (site->persons[a] - (int32_t)site_person(block, record) < (int32_t)block->problem->k) return false;
        gain = (int64_t)site->size[a] * site->price[a] - (int64_t)(site->size[a] - 1) * site->without_price[record];
    }
    int64_t least = gain;
    for (uint32_t b = 0; b < site->n_groups; b++) {
        if (b == a) continue;
        int64_t cost = (int64_t)(site->size[b] + 1) * price_joined(block, site_pattern(block, b), record) -
                       (int64_t)site->size[b] * site->price[b];
        if (cost >= least) continue;
        least = cost;
        best = b;
    }
    if (a != OUTSIDE && kn_site_may_go_outside(block, record, max_suppressed) && site->outside_price[record] < least)
        best = OUTSIDE;
    return best != KN_NONE && try_move(block, a, x, best);
}

/* Exchanges members[a][x], the only deviant of its group on some lane, for a record of another group. */
static bool exchange(kn_cluster_block *block, uint32_t a, int32_t x)
{
    kn_cluster_site *site = &block->site;
    uint32_t record = site->members[a][x];
    const kn_lanes *rest = site->without + (size_t)record * block->n_vectors;
    for (uint32_t b = 0; b < site->n_groups; b++) {
        if (b == a) continue;
        int64_t now = (int64_t)site->size[a] * site->price[a] + (int64_t)site->size[b] * site->price[b];
        for (int32_t y = 0; y < site->size[b]; y++) {
            uint32_t other = site->members[b][y];
            int64_t cost = (int64_t)site->size[a] * price_joined(block, rest, other);
            if (cost >= now) continue;
            cost +=
                (int64_t)site->size[b] * price_joined(block, site->without + (size_t)other * block->n_vectors, record);
            if (cost < now && try_swap(block, a, x, b, y)) return true;
        }
    }
    return false;
}

void kn_site_refine(kn_cluster_block *block, uint32_t max_suppressed)
{
    kn_cluster_site *site = &block->site;
    for (uint32_t g = 0; g < site->n_groups; g++) kn_site_group_refresh(block, g);
    bool better = true;
    for (int round = 0; better && round < MAX_ROUNDS; round++) {
        better = false;
        for (uint32_t a = 0; a < site->n_groups; a++)
            for (int32_t x = 0; x < site->size[a]; x++) {
                if (relocate(block, a, x, max_suppressed)) {
                    better = true;
                    x--;
                    continue;
                }
                uint32_t record = site->members[a][x];
                if (site->size[a] > 1 && site->without_price[record] < site->price[a] && exchange(block, a, x))
                    better = true;
            }
        for (int32_t x = 0; x < site->size[OUTSIDE]; x++)
            if (relocate(block, OUTSIDE, x, max_suppressed)) {
                better = true;
                x--;
            }
    }
}

/* --- Or just a step ---------------------------------------------------------------------------------------------- */

bool kn_site_step(kn_cluster_block *block, const uint32_t *chosen, uint32_t n_chosen, uint32_t max_suppressed)
{
    kn_cluster_site *site = &block->site;
    uint32_t x = 0, n_moves = 1 + kn_rng_below(&block->rng, MAX_STEP_MOVES);
    kn_site_start(block);
    site->n_groups = n_chosen;
    for (uint32_t g = 0; g < n_chosen; g++) {
        site->size[g] = 0;
        while (site->size[g] < block->classes[chosen[g]].size) site->members[g][site->size[g]++] = x++;
    }
    while (x < site->n) kn_site_group_add(block, OUTSIDE, x++);
    for (uint32_t move = 0; move < n_moves; move++) {
        uint32_t a = kn_rng_below(&block->rng, n_chosen + 1), b = kn_rng_below(&block->rng, n_chosen + 1);
        if (a == n_chosen) a = OUTSIDE;
        if (b == n_chosen) b = OUTSIDE;
        if (a == b || site->size[a] == 0) continue;
        int32_t from = (int32_t)kn_rng_below(&block->rng, (uint32_t)site->size[a]);
        if (site->size[b] > 0 && toss_coin(block)) {
            swap_members(site, a, from, b, (int32_t)kn_rng_below(&block->rng, (uint32_t)site->size[b]));
        } else {
            site->members[b][site->size[b]++] = site->members[a][from];
            site->members[a][from] = site->members[a][--site->size[a]];
        }
    }
    site->n_suppressed = (uint32_t)site->size[OUTSIDE];
    site->outside_total = (int64_t)site->size[OUTSIDE] * block->problem->root_units;
    if (site->n_suppressed > max_suppressed) return false;
    for (uint32_t g = 0; g < n_chosen; g++) {
        if (site->size[g] == 0) return false;
        kn_site_group_refresh(block, g);
        if (!kn_site_group_holds(block, g)) return false;
    }
    return true;
}
