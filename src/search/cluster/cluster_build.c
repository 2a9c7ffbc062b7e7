/* Building groups from a site's records: a random record, with its best pattern (cluster_seed.c) or alone, then what
 * raises the price least until the group holds; the next group from what is left, and the leftovers where they cost
 * least. Much of it is left to dice: not doing the same every time is what matters. */
#include "search/cluster/cluster_site.h"

#include <assert.h>

/* Each of these happens once in so many times. */
enum {
    TAKE_ALL_FREE = 8,   /* a group takes whatever it can have for nothing */
    TAKE_ANY_RECORD = 8, /* under models that look at sensitive values */
    ALL_GUESTS = 4       /* no more groups: the rest becomes guests where it can */
};
enum { LEAST_SEVERAL = 5 }; /* records that are taken at once rather than one by one */

/* Marks the records of the site whose values the growing group has, set by set. A record has one value of each, so
 * that joining adds one or none. */
static void mark_held(kn_cluster_block *block, uint32_t x)
{
    kn_cluster_site *site = &block->site;
    const uint32_t n_sets = block->problem->n_sets, n_before = block->n_lanes_site - n_sets;
    for (uint32_t s = 0; s < n_sets; s++) {
        if (*site_held(block, s, x)) continue;
        const uint16_t value = *site_chunk_lane(block, n_before + s, x);
        site->n_values[s]++;
        for (uint32_t first = 0; first < site->n; first += KN_CHUNK) {
            const kn_lanes *values = (const kn_lanes *)(const void *)site_chunk_lane(block, n_before + s, first);
            kn_lanes *held = (kn_lanes *)(void *)site_held(block, s, first);
            held[0] |= (kn_lanes)(values[0] == value);
            held[1] |= (kn_lanes)(values[1] == value);
        }
    }
}

/* Adds what sets will cost once the records of a chunk have joined: one of two prices. */
static void price_sets(const kn_cluster_block *block, uint32_t first, const kn_lanes *chunk, kn_lanes price[2])
{
    const kn_cluster_site *site = &block->site;
    for (uint32_t s = 0; s < block->problem->n_sets; s++) {
        const kn_cluster_set *set = &block->problem->sets[s];
        const uint32_t n = site->n_values[s];
        if (n > set->max_members) continue;
        const uint16_t same = (uint16_t)set_units(set, n), one_more = (uint16_t)set_units(set, n + 1);
        const kn_lanes *held = (const kn_lanes *)(const void *)site_held(block, s, first);
        for (uint32_t half = 0; half < 2; half++) {
            price[half] += (held[half] & same) | (~held[half] & one_more);
            if (set->n_equal == 0) continue;
            kn_lanes of_group = scan_group(block, s, chunk + half);
            price[half] -= n < set->max_members ? of_group : of_group & held[half];
        }
    }
}

/* What each record left would make of the group's price, into joined_price: of all records of the site at once, as the
 * group's first record sees it, or where others see something else one by one. */
static void price_left(kn_cluster_block *block, uint32_t g, uint32_t n_left)
{
    kn_cluster_site *site = &block->site;
    if (!block->problem->same_for_all) {
        for (uint32_t y = 0; y < n_left; y++)
            site->joined_price[site->left[y]] = (int16_t)price_joined(block, site_pattern(block, g), site->left[y]);
        return;
    }
    const uint32_t record = site->record[site->members[g][0]];
    while (site->n_held < site->size[g]) mark_held(block, site->members[g][site->n_held++]);
    scan_begin_without_sets(block, site_pattern(block, g), record);
    for (uint32_t first = 0; first < site->n; first += KN_CHUNK) {
        const kn_lanes *chunk = (const kn_lanes *)(const void *)site_chunk_lane(block, 0, first);
        kn_lanes *price = (kn_lanes *)(void *)(site->joined_price + first);
        scan_without_sets(block, chunk, block->base[record], price);
        price_sets(block, first, chunk, price);
    }
}

static void forget_held(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    const uint32_t n_sets = block->problem->n_sets, n_chunks = (site->n + KN_CHUNK - 1) / KN_CHUNK;
    memset(site->held, 0, (size_t)n_chunks * KN_CHUNK * n_sets * sizeof *site->held);
    memset(site->n_values, 0, n_sets * sizeof *site->n_values);
    site->n_held = 0;
}

/* The place of the record left that raises the group's price least, the first of them from a random place on; *least is
 * the price. */
static uint32_t find_least(kn_cluster_block *block, uint32_t g, uint32_t n_left, uint32_t from, int32_t spread,
                           int32_t *least)
{
    const kn_cluster_site *site = &block->site;
    uint32_t best = from;
    *least = INT32_MAX;
    price_left(block, g, n_left);
    for (uint32_t step = 0, y = from; step < n_left; step++, y = y + 1 == n_left ? 0 : y + 1) {
        uint32_t x = site->left[y];
        int32_t price = site->joined_price[x];
        if (price >= *least) continue;
        if (spread > 0) price += spread * (int32_t)kn_cluster_counted_like(block, site->record[x]);
        if (price >= *least) continue;
        *least = price;
        best = y;
    }
    assert(spread > 0 || *least == price_joined(block, site_pattern(block, g), site->left[best]));
    return best;
}

/* Takes records that leave the group's price as it is, up to k persons or (`all`) every one of them. After
 * find_least. */
static void take_free(kn_cluster_block *block, uint32_t g, uint32_t *n_left, uint32_t from, bool all)
{
    kn_cluster_site *site = &block->site;
    uint32_t n = *n_left, n_kept = 0;
    int32_t price = site->price[g], k = (int32_t)block->problem->k;
    for (uint32_t step = 0, y = from; step < n; step++, y = y + 1 == n ? 0 : y + 1) {
        uint32_t x = site->left[y];
        if (site->joined_price[x] > price || !(all || site->persons[g] < k)) continue;
        if (price_joined(block, site_pattern(block, g), x) > price) continue;
        kn_site_group_add(block, g, x);
        site->left[y] = KN_NONE;
    }
    for (uint32_t y = 0; y < n; y++)
        if (site->left[y] != KN_NONE) site->left[n_kept++] = site->left[y];
    *n_left = n_kept;
}

/* Sifts the number at the root of a heap, the greatest price first, down to its place. */
static void sift_down(const int16_t *price, uint32_t *heap, uint32_t n)
{
    uint32_t at = 0, moving = heap[0];
    for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && price[heap[child + 1]] > price[heap[child]]) child++;
        if (price[heap[child]] <= price[moving]) break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

/* Adds the n_wanted records left that raise the price least, each on its own. What a group of a thousand gains by
 * taking them one by one is little, and each time all that are left are priced anew. */
static void take_several(kn_cluster_block *block, uint32_t g, uint32_t *n_left, uint32_t n_wanted)
{
    kn_cluster_site *site = &block->site;
    uint32_t n = *n_left, n_kept = 0, *best = site->matches, from = kn_rng_below(&block->rng, n);
    price_left(block, g, n);
    memset(site->taken, 0, site->n);
    for (uint32_t step = 0, y = from; step < n; step++, y = y + 1 == n ? 0 : y + 1) {
        uint32_t x = site->left[y];
        bool full = step >= n_wanted;
        if (!full) {
            uint32_t at = step;
            for (; at > 0 && site->joined_price[best[(at - 1) / 2]] < site->joined_price[x]; at = (at - 1) / 2)
                best[at] = best[(at - 1) / 2];
            best[at] = x;
        } else if (site->joined_price[x] < site->joined_price[best[0]]) {
            best[0] = x;
            sift_down(site->joined_price, best, n_wanted);
        }
    }
    for (uint32_t i = 0; i < n_wanted; i++) {
        kn_site_group_add(block, g, best[i]);
        site->taken[best[i]] = 1;
    }
    for (uint32_t y = 0; y < n; y++)
        if (!site->taken[site->left[y]]) site->left[n_kept++] = site->left[y];
    *n_left = n_kept;
}

/* What raises the price least until the group holds or no record is left; now and then also all that the group can
 * have for nothing. Under models that look at sensitive values, `spread` sets a price on values that the group has,
 * and sometimes any record is taken. */
static void grow_group(kn_cluster_block *block, uint32_t g, uint32_t *n_left, int32_t spread)
{
    kn_cluster_site *site = &block->site;
    bool counts_only = block->problem->counts_only, all = kn_rng_next(&block->rng) % TAKE_ALL_FREE == 0, holds;
    kn_site_group_count(block, g);
    forget_held(block);
    int32_t part = 2 << kn_rng_below(&block->rng, 3);
    while (*n_left > 0 && (!(holds = kn_site_group_counted_holds(block, g)) || all)) {
        int32_t n_several = ((int32_t)block->problem->k - site->persons[g]) / part;
        if (counts_only && n_several >= LEAST_SEVERAL && (uint32_t)n_several < *n_left) {
            take_several(block, g, n_left, (uint32_t)n_several);
            continue;
        }
        uint32_t from = kn_rng_below(&block->rng, *n_left), best = from;
        if (holds || counts_only || kn_rng_below(&block->rng, TAKE_ANY_RECORD) > 0) {
            int32_t least;
            best = find_least(block, g, *n_left, from, spread, &least);
            bool is_free = least <= site->price[g];
            if (holds && !is_free) return;
            const uint32_t n_before = *n_left;
            if (is_free && counts_only) take_free(block, g, n_left, from, all);
            if (*n_left < n_before) continue;
        }
        kn_site_group_add(block, g, site->left[best]);
        if (!counts_only) kn_cluster_count_one(block, site->record[site->left[best]]);
        site->left[best] = site->left[--*n_left];
    }
    assert(counts_only ||
           kn_site_group_counted_holds(block, g) == kn_site_group_holds(block, g)); /* which counts anew */
}

/* Records left over go where they cost least: into a group, or outside, donors always and others while there is room.
 */
static void place_leftovers(kn_cluster_block *block, uint32_t n_left, uint32_t max_suppressed)
{
    kn_cluster_site *site = &block->site;
    while (n_left > 0) {
        uint32_t x = site->left[--n_left], best = 0;
        int64_t least = INT64_MAX;
        for (uint32_t g = 0; g < site->n_groups; g++) {
            int64_t cost = (int64_t)(site->size[g] + 1) * price_joined(block, site_pattern(block, g), x) -
                           (int64_t)site->size[g] * site->price[g];
            if (cost >= least) continue;
            least = cost;
            best = g;
        }
        bool outside = kn_site_may_go_outside(block, x, max_suppressed) && least > site->outside_price[x];
        kn_site_group_add(block, outside ? OUTSIDE : best, x);
    }
}

void kn_site_start(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    site->n_groups = 0;
    site->size[OUTSIDE] = 0;
    site->n_suppressed = 0;
    site->outside_total = 0;
    for (uint32_t x = site->first_donor; x < site->n; x++) site->outside_total += site->outside_price[x];
}

/* Groups are for records that have no class to stay in. Now and then they all become guests instead; fewer than k of
 * them get one more group, with donors, as often as they come near to k. */
static bool wants_group(kn_cluster_block *block, uint32_t n_left)
{
    const kn_cluster_site *site = &block->site;
    uint32_t n_persons = 0, n_homeless = 0;
    for (uint32_t y = 0; y < n_left; y++) {
        if (site->left[y] >= site->first_donor) continue;
        n_persons += site_person(block, site->left[y]);
        n_homeless++;
    }
    if (n_persons >= block->problem->k) {
        if (site->n_groups == 0 || kn_rng_below(&block->rng, ALL_GUESTS) > 0) return true;
        for (uint32_t y = 0; y < n_left; y++)
            if (kn_site_home(block, site->left[y]) == KN_NONE) return true;
        return false;
    }
    return n_homeless > 0 && site->first_donor < site->n && kn_rng_below(&block->rng, block->problem->k) < n_persons;
}

/* The record's lanes for scans; its bit in each set as a number. */
static void unpack_record(kn_cluster_block *block, uint32_t x)
{
    const kn_cluster_problem *problem = block->problem;
    const uint16_t *bits = (const uint16_t *)(site_lanes(block, x) + block->n_vectors_least);
    uint16_t *values = lanes_unpack(block, site_lanes(block, x), site_chunk_lane(block, 0, x), KN_CHUNK);
    for (uint32_t s = 0; s < problem->n_sets; s++, values += KN_CHUNK) {
        uint32_t j = problem->sets[s].first_lane;
        while (bits[j] == 0) j++;
        *values = (uint16_t)(j * KN_LANES + (uint32_t)__builtin_ctz(bits[j]));
    }
}

bool kn_site_build(kn_cluster_block *block, uint32_t max_suppressed, int64_t most)
{
    kn_cluster_site *site = &block->site;
    const kn_cluster_problem *problem = block->problem;
    uint32_t n_left = site->n, n_persons = 0;
    bool by_seed = toss_coin(block) && (problem->n_ranges + problem->n_sets == 0 || toss_coin(block));
    kn_site_start(block);
    for (uint32_t x = 0; x < site->n; x++) {
        unpack_record(block, x);
        site->left[x] = x;
        n_persons += site_person(block, x);
    }
    int32_t spread = 0;
    if (!problem->counts_only && problem->tuples->n_sensitive > 0 && toss_coin(block))
        spread = problem->root_units / (int32_t)problem->tuples->n_qis;
    while (n_persons >= problem->k && site->n_groups < KN_SITE_GROUPS && wants_group(block, n_left)) {
        uint32_t place = kn_rng_below(&block->rng, n_left), g = site->n_groups;
        while (site->left[place] >= site->first_donor) place = place + 1 == n_left ? 0 : place + 1;
        if (by_seed) {
            kn_site_seed_group(block, place, &n_left);
        } else {
            kn_site_group_new(block, site->left[place]);
            site->left[place] = site->left[--n_left];
        }
        grow_group(block, g, &n_left, spread);
        n_persons -= (uint32_t)site->persons[g];
        if (site_total(block) > most) return false;
    }
    if (site->n_groups == 0) return false;
    place_leftovers(block, n_left, max_suppressed);
    return true;
}

bool kn_site_mend(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    for (uint32_t g = 0; g < site->n_groups;) {
        if (kn_site_group_holds(block, g)) {
            g++;
            continue;
        }
        int64_t least = INT64_MAX;
        uint32_t best = KN_NONE;
        for (uint32_t b = 0; b < site->n_groups; b++) {
            if (b == g) continue;
            lanes_join(block, block->pattern_a, site_pattern(block, g), site_pattern(block, b));
            int64_t cost =
                (int64_t)(site->size[g] + site->size[b]) * site_price(block, block->pattern_a, site->members[g][0]) -
                (int64_t)site->size[b] * site->price[b];
            if (cost >= least) continue;
            least = cost;
            best = b;
        }
        if (best == KN_NONE) return false;
        kn_site_group_merge(block, g, best);
        if (best < g) g = best;
    }
    return true;
}
