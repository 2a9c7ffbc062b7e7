/* Guests: a record of the site that no group wants may go to any class of the block that contains it already. That
 * costs it the class's price and changes nothing for the others there. Which class that is, is looked for when first
 * asked, since most tries end before: one scan finds the classes that may contain some record of the site, with just
 * the lanes on which those records differ; a record is then compared with these. */
#include "search/cluster/cluster_site.h"

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

/* Which classes of a chunk have one of the values of `all` in each of their sets? Half a chunk, whose lanes of sets
 * begin at `centre`. */
KN_INLINE kn_lanes sets_meet(const kn_cluster_block *block, const kn_lanes *centre, const uint16_t *all)
{
    const kn_cluster_problem *problem = block->problem;
    kn_lanes meet = (kn_lanes){0} - 1;
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        kn_lanes common = (kn_lanes){0};
        for (uint32_t t = 0; t < problem->sets[s].n_folded; t++, centre += 2) common |= *centre & *all++;
        meet &= (kn_lanes)(common != 0);
    }
    return meet;
}

/* Which classes of a chunk contain whatever is in `all` on the lanes that it keeps, and something of it on others?
 * `all` is folded. */
KN_INLINE uint32_t classes_near(const kn_cluster_block *block, uint32_t first, const uint16_t *all)
{
    kn_lanes low = (kn_lanes){0} - 1, high = low;
    for (uint32_t j = 0; j < block->n_equal; j++) {
        uint16_t value = all[j];
        const kn_lanes *centre = (const kn_lanes *)(const void *)centre_lane(block, j, first);
        if (value == KN_STAR) continue;
        low &= (kn_lanes)(centre[0] == value) | (kn_lanes)(centre[0] == KN_STAR);
        high &= (kn_lanes)(centre[1] == value) | (kn_lanes)(centre[1] == KN_STAR);
        kn_lanes any = low | high;
        if (lanes_set(&any) == 0) return 0;
    }
    for (uint32_t place = 0; place < 2 * block->problem->n_ranges; place++) { /* no end beyond the other end of `all` */
        uint32_t j = block->n_equal + place;
        const kn_lanes *centre = (const kn_lanes *)(const void *)centre_lane(block, j, first);
        uint16_t other = (uint16_t)(KN_STAR - all[block->n_equal + (place ^ 1)]);
        low &= (kn_lanes)(centre[0] <= other);
        high &= (kn_lanes)(centre[1] <= other);
    }
    if (block->problem->n_sets > 0) {
        uint32_t j = block->n_equal + 2 * block->problem->n_ranges;
        const kn_lanes *sets = (const kn_lanes *)(const void *)centre_lane(block, j, first);
        low &= sets_meet(block, sets, all + j);
        high &= sets_meet(block, sets + 1, all + j);
    }
    return chunk_bits(&low, &high);
}

/* The lanes on which the records of a site, together `all`, differ, so that their classes must be compared there: of a
 * set those that have values, if there are two. */
static void find_home_lanes(kn_cluster_block *block, const uint16_t *all)
{
    kn_cluster_site *site = &block->site;
    const kn_cluster_problem *problem = block->problem;
    const uint32_t n_ends = block->n_equal + 2 * problem->n_ranges;
    site->n_home_lanes = 0;
    for (uint32_t j = 0; j < n_ends; j++)
        if (j >= block->n_equal || all[j] == KN_STAR) site->home_lane[site->n_home_lanes++] = j;
    for (uint32_t s = 0, j = n_ends; s < problem->n_sets; j += problem->sets[s++].n_folded) {
        if (lanes_count(all + j, problem->sets[s].n_folded) < 2) continue;
        for (uint32_t t = 0; t < problem->sets[s].n_folded; t++)
            if (all[j + t] != 0) site->home_lane[site->n_home_lanes++] = j + t;
    }
}

/* The classes that may contain a record of the site, with the lanes that are still to be compared. */
static void site_find_homes(kn_cluster_block *block)
{
    kn_cluster_site *site = &block->site;
    kn_lanes *all = block->pattern_a;
    const uint16_t *values = block->folded;
    lanes_copy(block, all, site_lanes(block, 0));
    for (uint32_t x = 1; x < site->first_donor; x++) lanes_join(block, all, all, site_lanes(block, x));
    lanes_fold(block, all, block->folded, 1);
    find_home_lanes(block, values);
    site->homes_known = true;
    site->n_homes = 0;
    for (uint32_t first = 0; first < block->n_classes; first += KN_CHUNK)
        for (uint32_t mask = classes_near(block, first, values); mask != 0; mask &= mask - 1) {
            uint32_t h = first + chunk_class((uint32_t)__builtin_ctz(mask)), n = site->n_homes;
            if (h >= block->n_classes || n == KN_SITE_HOMES) continue;
            bool is_chosen = false;
            for (uint32_t g = 0; g < site->n_chosen; g++) is_chosen |= site->chosen[g] == h;
            if (is_chosen) continue;
            uint16_t *centre =
                site->home_centre + (size_t)(n / KN_CHUNK) * site->n_home_lanes * KN_CHUNK + n % KN_CHUNK;
            for (uint32_t x = 0; x < site->n_home_lanes; x++)
                centre[x * KN_CHUNK] = *centre_lane(block, site->home_lane[x], h);
            site->home_class[site->n_homes++] = h;
        }
    block->work++;
}

/* Which homes of a chunk contain the record? */
KN_INLINE uint32_t homes_around(const kn_cluster_block *block, uint32_t first, const uint16_t *values)
{
    const kn_cluster_site *site = &block->site;
    const kn_lanes *centre = (const kn_lanes *)(const void *)(site->home_centre + (size_t)first * site->n_home_lanes);
    kn_lanes low = (kn_lanes){0} - 1, high = low;
    for (uint32_t x = 0; x < site->n_home_lanes; x++, centre += 2) {
        uint32_t j = site->home_lane[x];
        uint16_t value = values[j];
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

/* Folded sets may seem to. */
static bool contains(const kn_cluster_block *block, uint32_t h, uint32_t x)
{
    lanes_join(block, block->pattern_a, class_pattern(block, h), site_lanes(block, x));
    return lanes_same(block, block->pattern_a, class_pattern(block, h));
}

uint32_t kn_site_home(kn_cluster_block *block, uint32_t x)
{
    kn_cluster_site *site = &block->site;
    if (site->home_known[x]) return site->home[x];
    site->home_known[x] = 1;
    if (!site->homes_known) site_find_homes(block);
    lanes_fold(block, site_lanes(block, x), block->folded, 1);
    for (uint32_t first = 0; first < site->n_homes; first += KN_CHUNK)
        for (uint32_t mask = homes_around(block, first, block->folded); mask != 0; mask &= mask - 1) {
            uint32_t place = first + chunk_class((uint32_t)__builtin_ctz(mask));
            if (place >= site->n_homes) continue;
            int32_t price = block->classes[site->home_class[place]].price;
            if (price >= site->outside_price[x] || !contains(block, site->home_class[place], x)) continue;
            site->outside_price[x] = price;
            site->home[x] = site->home_class[place];
        }
    return site->home[x];
}

bool kn_site_may_go_outside(kn_cluster_block *block, uint32_t x, uint32_t max_suppressed)
{
    const kn_cluster_site *site = &block->site;
    return kn_site_home(block, x) != KN_NONE || site->n_suppressed < max_suppressed;
}
