/* Refining the groups of a site by single moves and swaps, while that lowers their price.
 *
 * Most of it can be passed over: a swap gains only if one of the two records is the only deviant of its group on some
 * lane; prices never fall when a group grows (`monotone`), so what is known of the parts bounds the whole; and what was
 * tried in vain is tried again only when one of the two groups has changed since. */
#include "search/cluster/cluster_site.h"

enum { MAX_ROUNDS = 20, MAX_STEP_MOVES = 2 };

KN_INLINE void swap_members(kn_cluster_site *site, uint32_t a, int32_t x, uint32_t b, int32_t y)
{
    uint32_t record = site->members[a][x];
    site->members[a][x] = site->members[b][y];
    site->members[b][y] = record;
}

static void note_change(kn_cluster_block *block, uint32_t a, uint32_t b)
{
    kn_cluster_site *site = &block->site;
    site->changed[a] = site->changed[b] = ++site->clock;
    if (a != OUTSIDE) kn_site_group_refresh(block, a);
    if (b != OUTSIDE) kn_site_group_refresh(block, b);
}

/* Price of group g once record x has joined. */
KN_INLINE int32_t price_with(kn_cluster_block *block, uint32_t x, uint32_t g)
{
    kn_cluster_site *site = &block->site;
    kn_site_joined *known = &site->joined[(size_t)x * site->n_groups + g];
    if (known->when < site->changed[g]) {
        *known = (kn_site_joined){site->clock, price_joined(block, site_pattern(block, g), x)};
    }
    return known->price;
}

static bool both_hold(kn_cluster_block *block, uint32_t a, uint32_t b)
{
    return block->problem->counts_only ||
           ((a == OUTSIDE || kn_site_group_holds(block, a)) && (b == OUTSIDE || kn_site_group_holds(block, b)));
}

/* Moves members[a][x] to the end of group b; true when both hold, otherwise it is undone. */
static bool try_move(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b)
{
    kn_cluster_site *site = &block->site;
    uint32_t record = site->members[a][x];
    int32_t person = (int32_t)site_person(block, record);
    site->members[a][x] = site->members[a][--site->size[a]];
    site->members[b][site->size[b]++] = record;
    site->persons[a] -= person;
    site->persons[b] += person;
    if (both_hold(block, a, b)) {
        note_change(block, a, b);
        if (a == OUTSIDE || b == OUTSIDE) note_outside(site, record, b == OUTSIDE);
        return true;
    }
    site->size[b]--;
    site->persons[b] -= person;
    site->members[a][site->size[a]++] = site->members[a][x];
    site->members[a][x] = record;
    site->persons[a] += person;
    return false;
}

static bool try_swap(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b, int32_t y)
{
    kn_cluster_site *site = &block->site;
    int32_t k = (int32_t)block->problem->k;
    int32_t more = (int32_t)site_person(block, site->members[b][y]) - (int32_t)site_person(block, site->members[a][x]);
    if (site->persons[a] + more < k || site->persons[b] - more < k) return false;
    swap_members(site, a, x, b, y);
    site->persons[a] += more;
    site->persons[b] -= more;
    if (both_hold(block, a, b)) {
        note_change(block, a, b);
        return true;
    }
    swap_members(site, a, x, b, y);
    site->persons[a] -= more;
    site->persons[b] += more;
    return false;
}

/* Moves members[a][x] to where the total falls most, among groups that changed after `since`. */
static bool relocate(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t since, uint32_t max_suppressed)
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
        if (b == a || site->changed[b] <= since) continue;
        if (block->problem->monotone && site->price[b] >= least) continue; /* it will pay that at least */
        int64_t cost =
            (int64_t)(site->size[b] + 1) * price_with(block, record, b) - (int64_t)site->size[b] * site->price[b];
        if (cost >= least) continue;
        least = cost;
        best = b;
    }
    if (a != OUTSIDE && site->changed[OUTSIDE] > since && kn_site_may_go_outside(block, record, max_suppressed) &&
        site->outside_price[record] < least)
        best = OUTSIDE;
    if (best == KN_NONE) return false;
    site->refused |= !try_move(block, a, x, best);
    return !site->refused;
}

/* Exchanges members[a][x] for a record of group b. A record adds no less to a group without somebody than to the whole
 * one, so what each of the two would spare one group and add to the other bounds the gain from above, up to rounding.
 */
static bool exchange_with(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t b)
{
    kn_cluster_site *site = &block->site;
    const kn_cluster_problem *problem = block->problem;
    uint32_t record = site->members[a][x];
    const kn_lanes *rest = site_without(block, a, record);
    int64_t size_a = site->size[a], size_b = site->size[b], price_a = site->price[a], price_b = site->price[b];
    int64_t now = size_a * price_a + size_b * price_b;
    int64_t nothing =
        problem->monotone ? -(int64_t)(problem->n_ranges + problem->n_sets) * (size_a + size_b) : INT64_MIN;
    int64_t gain = size_a * (price_a - site->without_price[record]) - size_b * (price_with(block, record, b) - price_b);
    if (gain + size_b * (price_b - site->least_without[b]) <= nothing) return false;
    for (int32_t y = 0; y < size_b; y++) {
        uint32_t other = site->members[b][y];
        int64_t both = gain + size_b * (price_b - site->without_price[other]);
        if (both <= nothing || both - size_a * (price_with(block, other, a) - price_a) <= nothing) continue;
        int64_t cost = size_a * price_joined(block, rest, other);
        if (problem->monotone && cost + size_b * site->without_price[other] >= now) continue;
        cost += size_b * price_joined(block, site_without(block, b, other), record);
        if (cost < now && try_swap(block, a, x, b, y)) return true;
    }
    return false;
}

static bool exchange(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t since)
{
    const kn_cluster_site *site = &block->site;
    for (uint32_t b = 0; b < site->n_groups; b++)
        if (b != a && site->changed[b] > since && exchange_with(block, a, x, b)) return true;
    return false;
}

typedef enum refined { STAYS, LEFT, EXCHANGED } refined;

static refined refine_one(kn_cluster_block *block, uint32_t a, int32_t x, uint32_t max_suppressed)
{
    kn_cluster_site *site = &block->site;
    uint32_t record = site->members[a][x];
    uint32_t since = site->changed[a] > site->checked[record] ? 0 : site->checked[record];
    site->refused = false;
    if (relocate(block, a, x, since, max_suppressed)) return LEFT;
    if (a != OUTSIDE && site->size[a] > 1 && site->without_price[record] < site->price[a] &&
        exchange(block, a, x, since))
        return EXCHANGED;
    if (!site->refused) site->checked[record] = site->clock;
    return STAYS;
}

void kn_site_refine(kn_cluster_block *block, uint32_t max_suppressed)
{
    kn_cluster_site *site = &block->site;
    memset(site->checked, 0, site->n * sizeof *site->checked);
    memset(site->joined, 0, (size_t)site->n * site->n_groups * sizeof *site->joined);
    site->clock = site->changed[OUTSIDE] = 1;
    for (uint32_t g = 0; g < site->n_groups; g++) {
        kn_site_group_refresh(block, g);
        site->changed[g] = 1;
    }
    bool better = true;
    for (int round = 0; better && round < MAX_ROUNDS; round++) {
        better = false;
        for (uint32_t g = 0; g <= site->n_groups; g++) {
            uint32_t a = g < site->n_groups ? g : OUTSIDE;
            for (int32_t x = 0; x < site->size[a]; x++) {
                refined what = refine_one(block, a, x, max_suppressed);
                better |= what != STAYS;
                if (what == LEFT) x--;
            }
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
