/* The neighbourhood that is rebuilt, and the building of its groups: a random seed, and per seed the largest set of
 * lanes that it shares with at least k others (branch and bound on bitsets), or record by record what raises the price
 * least. What it is for: cluster_rebuild.h. Part of the engine (cluster_engine.h). */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_BUILD_H
#define KN_SEARCH_CLUSTER_CLUSTER_BUILD_H

#include "search/cluster/cluster_anneal.h"

#include <assert.h>

enum {
    OUTSIDE = KN_SUB_GROUPS,
    MAX_SEED_NODES = 1500,
    MAX_POLISH_ROUNDS = 20,
    MAX_DRAWS = 64,
    MAX_CHOSEN = 4,       /* classes that are rebuilt together */
    ENOUGH_RECORDS = 350, /* beyond this many, two classes do: what a try costs grows with its records */
    MAX_DONOR_CLASSES = 12,
    MAX_TAKEN_BACK = 2, /* suppressed records that are tried again */
    MAX_STEP_MOVES = 2
};
/* The dice: each of these happens once in so many times. Not doing the same every time is what matters. */
enum {
    WITHOUT_DONORS = 4,
    TAKE_ALL_FREE = 8,   /* a group takes whatever it can have for nothing */
    TAKE_ANY_RECORD = 8, /* under models that look at sensitive values */
    ALL_GUESTS = 4       /* no more groups: the rest becomes guests where it can */
};
enum { HOPELESS = 7 }; /* groups that cost more by so great a part (one in HOPELESS) are not polished */

KN_INLINE bool toss_coin(kn_cluster_block *block) { return kn_rng_next(&block->rng) & 1; }

KN_INLINE const kn_lanes *sub_lanes(const kn_cluster_block *block, uint32_t x)
{
    return block->sub.lanes + (size_t)x * block->n_vectors;
}

KN_INLINE kn_lanes *sub_pattern(const kn_cluster_block *block, uint32_t g)
{
    return block->sub.pattern + (size_t)g * block->n_vectors;
}

KN_INLINE int32_t sub_price(const kn_cluster_block *block, const kn_lanes *pattern, uint32_t x)
{
    return lanes_price(block, pattern, block->sub.record[x]);
}

KN_INLINE uint32_t sub_person(const kn_cluster_block *block, uint32_t x) { return block->person[block->sub.record[x]]; }

/* Price of a group with pattern `pattern` once record x has joined. */
KN_INLINE int32_t price_joined(const kn_cluster_block *block, const kn_lanes *pattern, uint32_t x)
{
    return lanes_price_joined(block, pattern, sub_lanes(block, x), block->sub.record[x]);
}

KN_INLINE int64_t sub_total(const kn_cluster_block *block)
{
    const kn_cluster_sub *sub = &block->sub;
    int64_t total = sub->outside_total;
    for (uint32_t g = 0; g < sub->n_groups; g++) total += (int64_t)sub->size[g] * sub->price[g];
    return total;
}

/* --- Choosing the neighbourhood --------------------------------------------------------------------------------- */

/* Up to n_wanted classes that share most with the key; noise varies the choice. */
static uint32_t find_near(kn_cluster_block *block, uint32_t self, uint32_t record, uint32_t *near, uint32_t n_wanted)
{
    int64_t best[MAX_CHOSEN + MAX_DONOR_CLASSES];
    uint32_t n = 0, offset = (uint32_t)kn_rng_next(&block->rng) & block->noise_mask;
    for (uint32_t first = 0; first < block->n_classes; first += KN_CHUNK) {
        kn_lanes price[2];
        scan_prices(block, first, block->base[record], price);
        for (uint32_t half = 0; half < 2; half++) {
            uint32_t from = first + half * KN_LANES;
            kn_lanes noise, most = (kn_lanes){0} + (uint16_t)(n < n_wanted ? INT16_MAX : best[n - 1]);
            memcpy(&noise, block->noise16 + ((offset + from) & block->noise_mask), sizeof noise);
            kn_lanes distance = add_saturated(price[half], noise);
            for (uint32_t mask = lanes_not_above(&distance, &most); mask != 0; mask &= mask - 1) {
                uint32_t lane = (uint32_t)__builtin_ctz(mask) / 2, h = from + lane;
                int64_t here = (int16_t)distance[lane];
                if (h >= block->n_classes || h == self || (n == n_wanted && here >= best[n - 1])) continue;
                uint32_t x = n < n_wanted ? n++ : n - 1;
                for (; x > 0 && best[x - 1] > here; x--) {
                    best[x] = best[x - 1];
                    near[x] = near[x - 1];
                }
                best[x] = here;
                near[x] = h;
            }
        }
    }
    block->work++;
    return n;
}

/* Donors and guests need prices that fall when a class loses a record. Under models that look at sensitive values the
 * classes that they leave and join may refuse: then they are tried as often as that goes well. */
static bool draw_exchange(kn_cluster_block *block)
{
    const kn_cluster_problem *problem = block->problem;
    const kn_cluster_sub *sub = &block->sub;
    if (!problem->monotone || !problem->units_close) return false;
    return problem->counts_only || kn_rng_below(&block->rng, sub->n_held + sub->n_refused + 2) <= sub->n_held;
}

static void sub_take(kn_cluster_block *block, uint32_t record)
{
    kn_cluster_sub *sub = &block->sub;
    lanes_copy(block, sub->lanes + (size_t)sub->n * block->n_vectors, record_lanes(block, record));
    sub->outside_price[sub->n] = block->problem->root_units;
    sub->home[sub->n] = KN_NONE;
    sub->home_known[sub->n] = !(sub->may_exchange && block->problem->lanes_exact);
    sub->record[sub->n++] = record;
}

/* A random class, with a chance that grows with the square root of its price: there is nothing to gain around classes
 * that lose nothing, and little to learn from trying the dearest ones again and again. */
static uint32_t draw_class(kn_cluster_block *block)
{
    int64_t root = block->problem->root_units > 0 ? block->problem->root_units : 1;
    uint32_t h = 0;
    for (int tries = 0; tries < MAX_DRAWS; tries++) {
        int64_t level = kn_rng_below(&block->rng, (uint32_t)root);
        h = kn_rng_below(&block->rng, block->n_classes);
        if (level * level <= (block->classes[h].price + root / 1000) * root) break;
    }
    return h;
}

/* A class and its neighbours; their records become the sub-problem. Returns the number of classes; behind them, up to
 * *n_near, stand more neighbours, which may be donors. pattern_b is what they are near to. */
static uint32_t sub_choose(kn_cluster_block *block, uint32_t *chosen, uint32_t *n_near)
{
    uint32_t h = draw_class(block);
    uint32_t someone = class_members(block, h)[kn_rng_below(&block->rng, (uint32_t)block->classes[h].size)];
    chosen[0] = h;
    if (toss_coin(block)) {
        lanes_copy(block, block->pattern_b, record_lanes(block, someone));
    } else {
        class_get_pattern(block, h, block->pattern_b);
    }
    scan_begin(block, block->pattern_b, someone);
    block->sub.may_exchange = draw_exchange(block);
    bool donors = block->sub.may_exchange && kn_rng_below(&block->rng, WITHOUT_DONORS) > 0;
    uint32_t n_wanted = 1 + kn_rng_below(&block->rng, MAX_CHOSEN - 1);
    *n_near = 1 + find_near(block, h, someone, chosen + 1, n_wanted + (donors ? MAX_DONOR_CLASSES : 0));
    uint32_t n = *n_near < 1 + n_wanted ? *n_near : 1 + n_wanted;
    block->sub.n = 0;
    for (uint32_t g = 0; g < n; g++) {
        uint32_t n_records = block->sub.n + (uint32_t)block->classes[chosen[g]].size;
        if (n_records > (g < 2 ? KN_SUB_RECORDS : ENOUGH_RECORDS)) return g;
        for (int32_t x = 0; x < block->classes[chosen[g]].size; x++)
            sub_take(block, class_members(block, chosen[g])[x]);
    }
    return n;
}

/* A few suppressed records join the sub-problem, at the end of the block's list. Returns how many. */
static uint32_t sub_take_suppressed(kn_cluster_block *block)
{
    uint32_t n = block->n_suppressed < MAX_TAKEN_BACK ? block->n_suppressed : MAX_TAKEN_BACK;
    if (n == 0 || block->sub.n + n > KN_SUB_RECORDS || toss_coin(block)) return 0;
    for (uint32_t x = 0; x < n; x++) {
        uint32_t last = block->n_suppressed - 1 - x, any = kn_rng_below(&block->rng, last + 1);
        uint32_t record = block->suppressed[any];
        block->suppressed[any] = block->suppressed[last];
        block->suppressed[last] = record;
        sub_take(block, record);
    }
    return n;
}

/* Records that class h can spare, and that pay there no less than they would beside pattern_b, join as donors. */
static void sub_take_donors(kn_cluster_block *block, uint32_t h)
{
    kn_cluster_sub *sub = &block->sub;
    const kn_cluster_class *class = &block->classes[h];
    int32_t n_spare = class->persons - (int32_t)block->problem->k;
    if (n_spare <= 0) return;
    uint32_t size = (uint32_t) class->size, y = kn_rng_below(&block->rng, size);
    for (uint32_t step = 0; step < size && n_spare > 0 && sub->n < KN_SUB_RECORDS;
         step++, y = y + 1 == size ? 0 : y + 1) {
        uint32_t record = class_members(block, h)[y];
        if (lanes_price_joined(block, block->pattern_b, record_lanes(block, record), record) > class->price) continue;
        sub_take(block, record);
        sub->outside_price[sub->n - 1] = class->price;
        sub->home[sub->n - 1] = h;
        sub->home_known[sub->n - 1] = 1;
        n_spare--;
    }
}

/* Bit 2j: lane j is all ones. */
KN_INLINE uint32_t lanes_set(const kn_lanes *a)
{
    kn_lanes ones = (kn_lanes){0} - 1;
    return lanes_not_above(a, &ones);
}

/* Classes of a chunk as bits: 2j for class j, 2j + 1 for class KN_LANES + j. */
KN_INLINE uint32_t chunk_bits(const kn_lanes *low, const kn_lanes *high)
{
    return lanes_set(low) | lanes_set(high) << 1;
}
KN_INLINE uint32_t chunk_class(uint32_t bit) { return bit / 2 + bit % 2 * KN_LANES; }

/* Which classes of a chunk contain whatever is in `all` on the lanes that it keeps, and something of it on others? */
KN_INLINE uint32_t classes_near(const kn_cluster_block *block, uint32_t first, const uint16_t *all)
{
    kn_lanes low = (kn_lanes){0} - 1, high = low;
    for (uint32_t x = 0; x < block->n_equal; x++) {
        uint16_t value = all[block->lane_order[x]];
        const kn_lanes *centre = (const kn_lanes *)(const void *)centre_lane(block, block->lane_order[x], first);
        if (value == KN_STAR) continue;
        low &= (kn_lanes)(centre[0] == value) | (kn_lanes)(centre[0] == KN_STAR);
        high &= (kn_lanes)(centre[1] == value) | (kn_lanes)(centre[1] == KN_STAR);
        kn_lanes any = low | high;
        if (lanes_set(&any) == 0) return 0;
    }
    for (uint32_t j = block->n_equal; j < block->n_lanes; j++) {
        const kn_lanes *centre = (const kn_lanes *)(const void *)centre_lane(block, j, first);
        uint32_t place = j - block->n_equal;
        if (place < 2 * block->problem->n_ranges) { /* no end beyond the other end of `all` */
            uint16_t other = (uint16_t)(KN_STAR - all[lane_in_record(block, block->n_equal + (place ^ 1))]);
            low &= (kn_lanes)(centre[0] <= other);
            high &= (kn_lanes)(centre[1] <= other);
        }
    }
    return chunk_bits(&low, &high);
}

/* The classes that may contain a record of the sub-problem, with the lanes that are still to be compared. */
static void sub_find_homes(kn_cluster_block *block)
{
    kn_cluster_sub *sub = &block->sub;
    kn_lanes *all = block->pattern_a;
    const uint16_t *values = (const uint16_t *)all;
    lanes_copy(block, all, sub_lanes(block, 0));
    for (uint32_t x = 1; x < sub->first_donor; x++) lanes_join(block, all, all, sub_lanes(block, x));
    sub->homes_known = true;
    sub->n_homes = sub->n_home_lanes = 0;
    for (uint32_t x = 0; x < block->n_equal; x++)
        if (values[block->lane_order[x]] == KN_STAR) sub->home_lane[sub->n_home_lanes++] = block->lane_order[x];
    for (uint32_t j = block->n_equal; j < block->n_lanes; j++) sub->home_lane[sub->n_home_lanes++] = j;
    for (uint32_t first = 0; first < block->n_classes; first += KN_CHUNK)
        for (uint32_t mask = classes_near(block, first, values); mask != 0; mask &= mask - 1) {
            uint32_t h = first + chunk_class((uint32_t)__builtin_ctz(mask)), n = sub->n_homes;
            if (h >= block->n_classes || n == KN_SUB_HOMES) continue;
            bool is_chosen = false;
            for (uint32_t g = 0; g < sub->n_chosen; g++) is_chosen |= sub->chosen[g] == h;
            if (is_chosen) continue;
            uint16_t *centre = sub->home_centre + (size_t)(n / KN_CHUNK) * sub->n_home_lanes * KN_CHUNK + n % KN_CHUNK;
            for (uint32_t x = 0; x < sub->n_home_lanes; x++)
                centre[x * KN_CHUNK] = *centre_lane(block, sub->home_lane[x], h);
            sub->home_class[sub->n_homes++] = h;
        }
    block->work++;
}

/* Which homes of a chunk contain the record? */
KN_INLINE uint32_t homes_around(const kn_cluster_block *block, uint32_t first, const uint16_t *values)
{
    const kn_cluster_sub *sub = &block->sub;
    const kn_lanes *centre = (const kn_lanes *)(const void *)(sub->home_centre + (size_t)first * sub->n_home_lanes);
    kn_lanes low = (kn_lanes){0} - 1, high = low;
    for (uint32_t x = 0; x < sub->n_home_lanes; x++, centre += 2) {
        uint32_t j = sub->home_lane[x];
        uint16_t value = values[lane_in_record(block, j)];
        if (j < block->n_equal) {
            low &= (kn_lanes)(centre[0] == value) | (kn_lanes)(centre[0] == KN_STAR);
            high &= (kn_lanes)(centre[1] == value) | (kn_lanes)(centre[1] == KN_STAR);
        } else if (j < block->n_equal + 2 * block->problem->n_ranges) {
            low &= (kn_lanes)(centre[0] <= value);
            high &= (kn_lanes)(centre[1] <= value);
        } else {
            low &= (kn_lanes)((centre[0] | value) == centre[0]);
            high &= (kn_lanes)((centre[1] | value) == centre[1]);
        }
        kn_lanes any = low | high;
        if (x % 2 == 1 && lanes_set(&any) == 0) return 0;
    }
    return chunk_bits(&low, &high);
}

/* Where record x can be a guest: the cheapest class that contains it already, so that nobody there pays more for it.
 * Most tries end before they ask, so it is looked for when first asked. */
static uint32_t sub_home(kn_cluster_block *block, uint32_t x)
{
    kn_cluster_sub *sub = &block->sub;
    if (sub->home_known[x]) return sub->home[x];
    sub->home_known[x] = 1;
    if (!sub->homes_known) sub_find_homes(block);
    const uint16_t *values = (const uint16_t *)sub_lanes(block, x);
    for (uint32_t first = 0; first < sub->n_homes; first += KN_CHUNK)
        for (uint32_t mask = homes_around(block, first, values); mask != 0; mask &= mask - 1) {
            uint32_t place = first + chunk_class((uint32_t)__builtin_ctz(mask));
            if (place >= sub->n_homes) continue;
            int32_t price = block->classes[sub->home_class[place]].price;
            if (price >= sub->outside_price[x]) continue;
            sub->outside_price[x] = price;
            sub->home[x] = sub->home_class[place];
        }
    return sub->home[x];
}

/* --- Building --------------------------------------------------------------------------------------------------- */

/* Record x goes outside, or comes from there. */
KN_INLINE void note_outside(kn_cluster_sub *sub, uint32_t x, bool goes)
{
    assert(sub->home_known[x]);
    sub->outside_total += goes ? sub->outside_price[x] : -sub->outside_price[x];
    if (sub->home[x] != KN_NONE) return;
    if (goes) sub->n_suppressed++;
    else sub->n_suppressed--;
}

KN_INLINE bool may_go_outside(kn_cluster_block *block, uint32_t x, uint32_t max_suppressed)
{
    const kn_cluster_sub *sub = &block->sub;
    return sub_home(block, x) != KN_NONE || sub->n_suppressed < max_suppressed;
}

/* A new group of record x alone. */
static uint32_t group_new(kn_cluster_block *block, uint32_t x)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t g = sub->n_groups++;
    sub->members[g][0] = x;
    sub->size[g] = 1;
    sub->persons[g] = (int32_t)sub_person(block, x);
    if (x >= sub->first_donor) note_outside(sub, x, false);
    lanes_copy(block, sub_pattern(block, g), sub_lanes(block, x));
    sub->price[g] = sub_price(block, sub_pattern(block, g), x);
    return g;
}

KN_INLINE void group_add(kn_cluster_block *block, uint32_t g, uint32_t x)
{
    kn_cluster_sub *sub = &block->sub;
    sub->members[g][sub->size[g]++] = x;
    if ((g == OUTSIDE) != (x >= sub->first_donor)) note_outside(sub, x, g == OUTSIDE);
    if (g == OUTSIDE) return;
    sub->persons[g] += (int32_t)sub_person(block, x);
    lanes_join(block, sub_pattern(block, g), sub_pattern(block, g), sub_lanes(block, x));
    sub->price[g] = sub_price(block, sub_pattern(block, g), x);
}

/* Counts the members of the group, where models ask for more than their number. */
static void group_count(kn_cluster_block *block, uint32_t g)
{
    kn_cluster_sub *sub = &block->sub;
    if (block->problem->counts_only) return;
    for (int32_t x = 0; x < sub->size[g]; x++) block->targets[x] = sub->record[sub->members[g][x]];
    kn_cluster_count(block, block->targets, (uint32_t)sub->size[g]);
}

/* Does the group hold whose members are counted? */
static bool grown_holds(const kn_cluster_block *block, uint32_t g)
{
    const kn_cluster_sub *sub = &block->sub;
    if (sub->persons[g] < (int32_t)block->problem->k) return false;
    return block->problem->counts_only || kn_cluster_counted_hold(block, (uint32_t)sub->size[g], sub->persons[g]);
}

static bool group_holds(kn_cluster_block *block, uint32_t g)
{
    if (block->sub.persons[g] < (int32_t)block->problem->k) return false;
    group_count(block, g);
    return grown_holds(block, g);
}

/* What each record left would make of the group's price, into joined_price; returns the place of the least, the first
 * of them from a random place on. Prices only rise while a group grows (`monotone`), so the last known one is a lower
 * bound, and most records need no second look. */
static uint32_t price_left(kn_cluster_block *block, uint32_t g, uint32_t n_left, uint32_t from, int32_t spread)
{
    kn_cluster_sub *sub = &block->sub;
    bool monotone = block->problem->monotone;
    int32_t least = INT32_MAX;
    uint32_t best = from;
    for (uint32_t step = 0, y = from; step < n_left; step++, y = y + 1 == n_left ? 0 : y + 1) {
        uint32_t x = sub->left[y];
        if (monotone && sub->joined_price[x] >= least) continue;
        int32_t price = price_joined(block, sub_pattern(block, g), x);
        if (spread > 0) price += spread * (int32_t)kn_cluster_counted_like(block, sub->record[x]);
        sub->joined_price[x] = price;
        if (price >= least) continue;
        least = price;
        best = y;
    }
    return best;
}

/* Takes records that leave the group's price as it is, up to k persons or (`all`) every one of them. */
static void take_free(kn_cluster_block *block, uint32_t g, uint32_t *n_left, uint32_t from, bool all)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t n = *n_left, n_kept = 0;
    int32_t price = sub->price[g], k = (int32_t)block->problem->k;
    for (uint32_t step = 0, y = from; step < n; step++, y = y + 1 == n ? 0 : y + 1) {
        uint32_t x = sub->left[y];
        if (sub->joined_price[x] > price || !(all || sub->persons[g] < k)) continue;
        sub->joined_price[x] = price_joined(block, sub_pattern(block, g), x);
        if (sub->joined_price[x] > price) continue;
        group_add(block, g, x);
        sub->left[y] = KN_NONE;
    }
    for (uint32_t y = 0; y < n; y++)
        if (sub->left[y] != KN_NONE) sub->left[n_kept++] = sub->left[y];
    *n_left = n_kept;
}

/* What raises the price least until the group holds or no record is left; now and then also all that the group can
 * have for nothing. Under models that look at sensitive values, `spread` sets a price on values that the group has,
 * and sometimes any record is taken. */
static void grow_group(kn_cluster_block *block, uint32_t g, uint32_t *n_left, int32_t spread)
{
    kn_cluster_sub *sub = &block->sub;
    bool counts_only = block->problem->counts_only, all = kn_rng_next(&block->rng) % TAKE_ALL_FREE == 0, holds;
    for (uint32_t y = 0; y < *n_left; y++) sub->joined_price[sub->left[y]] = INT32_MIN;
    group_count(block, g);
    while (*n_left > 0 && (!(holds = grown_holds(block, g)) || all)) {
        uint32_t from = kn_rng_below(&block->rng, *n_left), best = from;
        if (holds || counts_only || kn_rng_below(&block->rng, TAKE_ANY_RECORD) > 0) {
            best = price_left(block, g, *n_left, from, spread);
            bool is_free = sub->joined_price[sub->left[best]] <= sub->price[g];
            if (holds && !is_free) return;
            if (is_free && counts_only) {
                take_free(block, g, n_left, from, all);
                continue;
            }
        }
        group_add(block, g, sub->left[best]);
        if (!counts_only) kn_cluster_count_one(block, sub->record[sub->left[best]]);
        sub->left[best] = sub->left[--*n_left];
    }
    assert(counts_only || grown_holds(block, g) == group_holds(block, g)); /* which counts anew */
}

typedef struct seed_search {
    uint32_t n_lanes, n_words, n_nodes;
    int32_t k;
    int64_t best;
    const uint64_t *bits; /* lane by lane, in the order of the search */
    uint64_t persons[KN_SUB_SEED_WORDS], found[KN_SUB_SEED_WORDS];
    int64_t weight[256], weight_left[257];
} seed_search;

static void seed_descend(seed_search *search, uint32_t j, const uint64_t *matches, int64_t kept)
{
    if (kept > search->best) {
        search->best = kept;
        memcpy(search->found, matches, search->n_words * sizeof *matches);
    }
    if (++search->n_nodes > MAX_SEED_NODES) return;
    for (; j < search->n_lanes; j++) {
        if (kept + search->weight_left[j] <= search->best) return;
        uint64_t both[KN_SUB_SEED_WORDS];
        const uint64_t *bits = search->bits + (size_t)j * search->n_words;
        int32_t n_persons = 0;
        for (uint32_t w = 0; w < search->n_words; w++) {
            both[w] = matches[w] & bits[w];
            n_persons += __builtin_popcountll(both[w] & search->persons[w]);
        }
        if (n_persons >= search->k) seed_descend(search, j + 1, both, kept + search->weight[j]);
    }
}

/* Bit y % 64 of word y / 64 of lane j of a vector: does record left[y] have what the seed has there? */
static void seed_bits(const kn_cluster_block *block, uint64_t *bits, uint32_t n_words, uint32_t seed, uint32_t n_left,
                      uint32_t v)
{
    const kn_cluster_sub *sub = &block->sub;
    const kn_lanes own = sub_lanes(block, seed)[v];
    memset(bits, 0, (size_t)KN_LANES * n_words * sizeof *bits);
    for (uint32_t y = 0; y < n_left; y += KN_LANES) {
        uint32_t n = n_left - y < KN_LANES ? n_left - y : KN_LANES;
        kn_lanes same = (kn_lanes){0}; /* a record's lanes as bits */
        for (uint32_t i = 0; i < n; i++) {
            kn_lanes equal = (kn_lanes)(sub_lanes(block, sub->left[y + i])[v] == own);
            ((uint16_t *)&same)[i] = lanes_bits(&equal);
        }
        for (uint32_t j = 0; j < KN_LANES; j++) { /* the other way round: a lane's records */
            kn_lanes top = same << (KN_LANES - 1 - j);
            bits[j * n_words + y / 64] |= (uint64_t)lanes_bits(&top) << (y % 64);
        }
    }
}

/* Lanes that at least k records left share with the seed, the most frequent first (with noise); sets bits. */
static uint32_t seed_lanes(kn_cluster_block *block, seed_search *search, uint32_t seed, uint32_t n_left)
{
    kn_cluster_sub *sub = &block->sub;
    const uint16_t *own = (const uint16_t *)sub_lanes(block, seed);
    uint64_t *unsorted = sub->bits + (size_t)block->n_equal * search->n_words, of_vector[KN_LANES * KN_SUB_SEED_WORDS];
    uint32_t n = 0;
    for (uint32_t j = 0; j < block->n_equal && n < 256; j++) {
        if (j % KN_LANES == 0) seed_bits(block, of_vector, search->n_words, seed, n_left, j / KN_LANES);
        if (own[j] == KN_STAR) continue;
        const uint64_t *bits = of_vector + (size_t)(j % KN_LANES) * search->n_words;
        uint32_t count = 0;
        for (uint32_t w = 0; w < search->n_words; w++) count += (uint32_t)__builtin_popcountll(bits[w]);
        if (count < block->problem->k) continue;
        memcpy(unsorted + (size_t)n * search->n_words, bits, search->n_words * sizeof *bits);
        sub->order[n] = j;
        sub->key[n] = ((int64_t)(4 * count + kn_rng_below(&block->rng, n_left + 1)) << 16) | (0xffff - n);
        n++;
    }
    const int16_t *weight = (const int16_t *)record_weight(block, sub->record[seed]);
    for (uint32_t place = 0; place < n; place++) {
        uint32_t x = 0;
        for (uint32_t y = 1; y < n; y++)
            if (sub->key[y] > sub->key[x]) x = y;
        sub->key[x] = -1;
        memcpy(sub->bits + (size_t)place * search->n_words, unsorted + (size_t)x * search->n_words,
               search->n_words * sizeof *sub->bits);
        search->weight[place] = weight[sub->order[x]];
    }
    return n;
}

/* The group of the best pattern around a seed: all that match it, or just k of them, at random. */
static void seed_group(kn_cluster_block *block, uint32_t place, uint32_t *n_left)
{
    kn_cluster_sub *sub = &block->sub;
    uint32_t seed = sub->left[place], n_matches = 0, n = *n_left;
    uint64_t all[KN_SUB_SEED_WORDS] = {0};
    seed_search search = {.n_words = (n + 63) / 64, .k = (int32_t)block->problem->k, .best = -1, .bits = sub->bits};
    for (uint32_t y = 0; y < n; y++) {
        all[y / 64] |= 1ull << (y % 64);
        search.persons[y / 64] |= (uint64_t)sub_person(block, sub->left[y]) << (y % 64);
    }
    search.n_lanes = seed_lanes(block, &search, seed, n);
    search.weight_left[search.n_lanes] = 0;
    for (uint32_t j = search.n_lanes; j-- > 0;) search.weight_left[j] = search.weight_left[j + 1] + search.weight[j];
    seed_descend(&search, 0, all, 0);

    uint32_t g = group_new(block, seed);
    for (uint32_t y = 0; y < n; y++)
        if (y != place && search.found[y / 64] >> (y % 64) & 1) sub->matches[n_matches++] = sub->left[y];
    bool every = toss_coin(block);
    memset(sub->taken, 0, sub->n);
    sub->taken[seed] = 1;
    for (uint32_t x = 0; x < n_matches && (every || sub->persons[g] < search.k); x++) {
        uint32_t y = x + kn_rng_below(&block->rng, n_matches - x), match = sub->matches[y];
        sub->matches[y] = sub->matches[x];
        group_add(block, g, match);
        sub->taken[match] = 1;
    }
    *n_left = 0;
    for (uint32_t y = 0; y < n; y++)
        if (!sub->taken[sub->left[y]]) sub->left[(*n_left)++] = sub->left[y];
}

/* Records left over go where they cost least: into a group, or outside, donors always and others while there is room.
 */
static void place_leftovers(kn_cluster_block *block, uint32_t n_left, uint32_t max_suppressed)
{
    kn_cluster_sub *sub = &block->sub;
    while (n_left > 0) {
        uint32_t x = sub->left[--n_left], best = 0;
        int64_t least = INT64_MAX;
        for (uint32_t g = 0; g < sub->n_groups; g++) {
            int64_t cost = (int64_t)(sub->size[g] + 1) * price_joined(block, sub_pattern(block, g), x) -
                           (int64_t)sub->size[g] * sub->price[g];
            if (cost >= least) continue;
            least = cost;
            best = g;
        }
        bool outside = may_go_outside(block, x, max_suppressed) && least > sub->outside_price[x];
        group_add(block, outside ? OUTSIDE : best, x);
    }
}

/* No groups yet, all donors at home. */
static void sub_start(kn_cluster_block *block)
{
    kn_cluster_sub *sub = &block->sub;
    sub->n_groups = 0;
    sub->size[OUTSIDE] = 0;
    sub->n_suppressed = 0;
    sub->outside_total = 0;
    for (uint32_t x = sub->first_donor; x < sub->n; x++) sub->outside_total += sub->outside_price[x];
}

/* Groups are for records that have no class to stay in. Now and then they all become guests instead; fewer than k of
 * them get one more group, with donors, as often as they come near to k. */
static bool wants_group(kn_cluster_block *block, uint32_t n_left)
{
    const kn_cluster_sub *sub = &block->sub;
    uint32_t n_persons = 0, n_homeless = 0;
    for (uint32_t y = 0; y < n_left; y++) {
        if (sub->left[y] >= sub->first_donor) continue;
        n_persons += sub_person(block, sub->left[y]);
        n_homeless++;
    }
    if (n_persons >= block->problem->k) {
        if (sub->n_groups == 0 || kn_rng_below(&block->rng, ALL_GUESTS) > 0) return true;
        for (uint32_t y = 0; y < n_left; y++)
            if (sub_home(block, sub->left[y]) == KN_NONE) return true;
        return false;
    }
    return n_homeless > 0 && sub->first_donor < sub->n && kn_rng_below(&block->rng, block->problem->k) < n_persons;
}

/* False when there is no group, or the groups cost more than `most`. */
static bool sub_build(kn_cluster_block *block, uint32_t max_suppressed, int64_t most)
{
    kn_cluster_sub *sub = &block->sub;
    const kn_cluster_problem *problem = block->problem;
    uint32_t n_left = sub->n, n_persons = 0;
    bool by_seed = (n_left + 63) / 64 <= KN_SUB_SEED_WORDS && toss_coin(block) &&
                   (problem->n_ranges + problem->n_sets == 0 || toss_coin(block));
    sub_start(block);
    for (uint32_t x = 0; x < sub->n; x++) {
        sub->left[x] = x;
        n_persons += sub_person(block, x);
    }
    int32_t spread = 0;
    if (!problem->counts_only && problem->tuples->n_sensitive > 0 && toss_coin(block))
        spread = problem->root_units / (int32_t)problem->tuples->n_qis;
    while (n_persons >= problem->k && sub->n_groups < KN_SUB_GROUPS && wants_group(block, n_left)) {
        uint32_t place = kn_rng_below(&block->rng, n_left), g = sub->n_groups;
        while (sub->left[place] >= sub->first_donor) place = place + 1 == n_left ? 0 : place + 1;
        if (by_seed) {
            seed_group(block, place, &n_left);
        } else {
            group_new(block, sub->left[place]);
            sub->left[place] = sub->left[--n_left];
        }
        grow_group(block, g, &n_left, spread);
        n_persons -= (uint32_t)sub->persons[g];
        if (sub_total(block) > most) return false;
    }
    if (sub->n_groups == 0) return false;
    place_leftovers(block, n_left, max_suppressed);
    return true;
}

/* Merges groups that do not hold with the one that costs least. */
static bool sub_mend(kn_cluster_block *block)
{
    kn_cluster_sub *sub = &block->sub;
    for (uint32_t g = 0; g < sub->n_groups;) {
        if (group_holds(block, g)) {
            g++;
            continue;
        }
        int64_t least = INT64_MAX;
        uint32_t best = KN_NONE;
        for (uint32_t b = 0; b < sub->n_groups; b++) {
            if (b == g) continue;
            lanes_join(block, block->pattern_a, sub_pattern(block, g), sub_pattern(block, b));
            int64_t cost =
                (int64_t)(sub->size[g] + sub->size[b]) * sub_price(block, block->pattern_a, sub->members[g][0]) -
                (int64_t)sub->size[b] * sub->price[b];
            if (cost >= least) continue;
            least = cost;
            best = b;
        }
        if (best == KN_NONE) return false;
        for (int32_t x = 0; x < sub->size[g]; x++) group_add(block, best, sub->members[g][x]);
        uint32_t last = --sub->n_groups;
        if (g != last) {
            uint32_t *emptied = sub->members[g];
            sub->members[g] = sub->members[last];
            sub->members[last] = emptied;
            sub->size[g] = sub->size[last];
            sub->persons[g] = sub->persons[last];
            sub->price[g] = sub->price[last];
            lanes_copy(block, sub_pattern(block, g), sub_pattern(block, last));
        }
        if (best < g) g = best;
    }
    return true;
}

#endif
