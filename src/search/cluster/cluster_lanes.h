/* Vectors of lanes: joins, prices, and one record priced against a chunk of classes at a time.
 *
 * Written with the compiler's vector types, so the same text serves every machine; the few reductions that those
 * types cannot express have an AVX2 form. All of it is integer arithmetic: the forms give the same bits. */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_LANES_H
#define KN_SEARCH_CLUSTER_CLUSTER_LANES_H

#include "search/cluster/cluster.h"

#include <assert.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

KN_INLINE const kn_lanes *record_lanes(const kn_cluster_block *block, uint32_t record)
{
    return block->lanes + (size_t)record * block->n_vectors;
}

KN_INLINE const kn_lanes *record_weight(const kn_cluster_block *block, uint32_t record)
{
    return (const kn_lanes *)(const void *)(block->weight + record * block->weight_stride);
}

/* Where lane j of the class arrays, no set's, stands in a record's vectors. */
KN_INLINE uint32_t lane_in_record(const kn_cluster_block *block, uint32_t j)
{
    return j < block->n_equal ? j : block->n_vectors_equal * KN_LANES + j - block->n_equal;
}

/* The vectors of a record or a pattern as the lanes of the class arrays, one value each, `stride` apart: those that are
 * no set's; returns where the next would stand. */
KN_INLINE uint16_t *lanes_unpack(const kn_cluster_block *block, const kn_lanes *lanes, uint16_t *values, size_t stride)
{
    const uint16_t *from = (const uint16_t *)lanes;
    uint32_t n = block->n_equal + 2 * block->problem->n_ranges;
    for (uint32_t j = 0; j < n; j++, values += stride) *values = from[lane_in_record(block, j)];
    return values;
}

/* And then those of sets, folded. */
KN_INLINE void lanes_fold(const kn_cluster_block *block, const kn_lanes *lanes, uint16_t *values, size_t stride)
{
    const kn_cluster_problem *problem = block->problem;
    values = lanes_unpack(block, lanes, values, stride);
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        const kn_cluster_set *set = &problem->sets[s];
        const uint16_t *from = (const uint16_t *)(lanes + block->n_vectors_least) + set->first_lane;
        for (uint32_t j = 0; j < set->n_folded; j++, values += stride) {
            uint16_t bits = from[j];
            for (uint32_t l = j + set->n_folded; l < set->n_lanes; l += set->n_folded) bits |= from[l];
            *values = bits;
        }
    }
}

/* Lane j of class h in the class arrays. */
KN_INLINE uint16_t *centre_lane(const kn_cluster_block *block, uint32_t j, uint32_t h)
{
    return block->centre + ((size_t)(h / KN_CHUNK) * block->n_lanes + j) * KN_CHUNK + h % KN_CHUNK;
}

KN_INLINE void lanes_copy(const kn_cluster_block *block, kn_lanes *out, const kn_lanes *from)
{
    for (uint32_t v = 0; v < block->n_vectors; v++) out[v] = from[v];
}

KN_INLINE bool lanes_same(const kn_cluster_block *block, const kn_lanes *a, const kn_lanes *b)
{
    kn_lanes differ = (kn_lanes){0};
    for (uint32_t v = 0; v < block->n_vectors; v++) differ |= a[v] ^ b[v];
    kn_lanes4_u64 words = (kn_lanes4_u64)differ;
    return (words[0] | words[1] | words[2] | words[3]) == 0;
}

KN_INLINE kn_lanes lanes_least(kn_lanes a, kn_lanes b)
{
    kn_lanes less = (kn_lanes)(a < b);
    return (a & less) | (b & ~less);
}

/* out may be a or b. */
KN_INLINE void lanes_join(const kn_cluster_block *block, kn_lanes *out, const kn_lanes *a, const kn_lanes *b)
{
    uint32_t v = 0;
    for (; v < block->n_vectors_equal; v++) out[v] = a[v] | (kn_lanes)(a[v] != b[v]);
    for (; v < block->n_vectors_least; v++) out[v] = lanes_least(a[v], b[v]);
    for (; v < block->n_vectors; v++) out[v] = a[v] | b[v];
}

KN_INLINE kn_lanes *class_pattern(const kn_cluster_block *block, uint32_t h)
{
    return block->patterns + (size_t)h * block->n_vectors;
}

KN_INLINE void class_get_pattern(const kn_cluster_block *block, uint32_t h, kn_lanes *pattern)
{
    lanes_copy(block, pattern, class_pattern(block, h));
}

/* Bits set in n lanes of either. */
KN_INLINE uint32_t lanes_count_joined(const uint16_t *a, const uint16_t *b, uint32_t n)
{
    uint32_t n_bits = 0, j = 0;
    for (; j + 4 <= n; j += 4) {
        uint64_t of_a, of_b;
        memcpy(&of_a, a + j, sizeof of_a);
        memcpy(&of_b, b + j, sizeof of_b);
        n_bits += (uint32_t)__builtin_popcountll(of_a | of_b);
    }
    for (; j < n; j++) n_bits += (uint32_t)__builtin_popcount(a[j] | b[j]);
    return n_bits;
}

KN_INLINE uint32_t lanes_count(const uint16_t *lanes, uint32_t n) { return lanes_count_joined(lanes, lanes, n); }

/* The sum modulo 2^16; what is summed here is a price, which fits. */
KN_INLINE int32_t lanes_sum(const kn_lanes *lanes)
{
#if defined(__AVX2__)
    __m128i sum = _mm_add_epi16(_mm256_castsi256_si128((__m256i)*lanes), _mm256_extracti128_si256((__m256i)*lanes, 1));
    sum = _mm_add_epi16(sum, _mm_unpackhi_epi64(sum, sum));
    sum = _mm_add_epi16(sum, _mm_shufflelo_epi16(sum, 0x4e));
    sum = _mm_add_epi16(sum, _mm_shufflelo_epi16(sum, 0xb1));
    return (int16_t)_mm_extract_epi16(sum, 0);
#else
    uint16_t sum = 0;
    for (int j = 0; j < KN_LANES; j++) sum = (uint16_t)(sum + (*lanes)[j]);
    return (int16_t)sum;
#endif
}

KN_INLINE kn_lanes times_high(kn_lanes a, kn_lanes b) /* a * b / 65536 */
{
#if defined(__AVX2__)
    return (kn_lanes)_mm256_mulhi_epu16((__m256i)a, (__m256i)b);
#else
    for (int j = 0; j < KN_LANES; j++) a[j] = (uint16_t)((uint32_t)a[j] * b[j] >> 16);
    return a;
#endif
}

/* Bits set in each byte. */
KN_INLINE kn_lanes count_in_bytes(kn_lanes a)
{
#if defined(__AVX2__)
    const __m256i of_four = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i low = (__m256i)(a & 0x0f0f), high = (__m256i)((a >> 4) & 0x0f0f);
    return (kn_lanes)_mm256_add_epi8(_mm256_shuffle_epi8(of_four, low), _mm256_shuffle_epi8(of_four, high));
#else
    a = a - ((a >> 1) & 0x5555);
    a = (a & 0x3333) + ((a >> 2) & 0x3333);
    return (a + (a >> 4)) & 0x0f0f;
#endif
}

/* Both bytes of each lane together. */
KN_INLINE kn_lanes add_bytes(kn_lanes a) { return (a & 0xff) + (a >> 8); }

KN_INLINE kn_lanes count_bits(kn_lanes a) { return add_bytes(count_in_bytes(a)); }

/* Lanes 0 and 1 change places, 2 and 3, ... */
KN_INLINE kn_lanes lanes_swapped(kn_lanes a)
{
    kn_lanes out;
    for (int j = 0; j < KN_LANES; j++) out[j] = a[j ^ 1];
    return out;
}

/* A class with so many values of a column that a group holds it holds whatever the group does: all bits are set. */
KN_INLINE void lanes_close(const kn_cluster_block *block, kn_lanes *pattern)
{
    for (uint32_t s = 0; s < block->problem->n_sets; s++) {
        const kn_cluster_set *set = &block->problem->sets[s];
        uint16_t *unions = (uint16_t *)(pattern + block->n_vectors_least) + set->first_lane;
        if (set->n_equal > 0 && lanes_count(unions, set->n_lanes) > set->max_members)
            memset(unions, 0xff, set->n_lanes * sizeof *unions);
    }
}

/* What a set is charged for in the equal lanes of its groups; not owed while it is small. Of the join of a and b. */
KN_INLINE int32_t price_of_group(const kn_cluster_block *block, uint32_t s, const kn_lanes *a, const kn_lanes *b,
                                 uint32_t record)
{
    const uint32_t first = block->set_equal[s], n = block->problem->sets[s].n_equal;
    const uint16_t *one = (const uint16_t *)a + first, *other = (const uint16_t *)b + first;
    const int16_t *weight = (const int16_t *)record_weight(block, record) + first;
    int32_t price = 0;
    for (uint32_t j = 0; j < n; j++) price += one[j] == KN_STAR || one[j] != other[j] ? weight[j] : 0;
    return price;
}

/* What a set of so many values costs by itself; where it is a group, its equal lanes have the price. */
KN_INLINE int32_t set_units(const kn_cluster_set *set, uint32_t n_values)
{
    uint32_t span = (n_values - 1) * set->step;
    return n_values > set->max_members ? 0 : (int32_t)(span * set->factor >> 16) + (span > 0 ? set->jump : 0);
}

/* A set of many values, or with groups. */
KN_INLINE int32_t price_of_wide_set(const kn_cluster_block *block, uint32_t s, const kn_lanes *a, const kn_lanes *b,
                                    uint32_t record)
{
    const kn_cluster_set *set = &block->problem->sets[s];
    const uint16_t *one = (const uint16_t *)(a + block->n_vectors_least) + set->first_lane;
    const uint16_t *other = (const uint16_t *)(b + block->n_vectors_least) + set->first_lane;
    uint32_t n_bits = lanes_count_joined(one, other, set->n_lanes);
    int32_t price = set_units(set, n_bits);
    return set->n_equal > 0 && n_bits <= set->max_members ? price - price_of_group(block, s, a, b, record) : price;
}

/* The prices of ranges and of sets of one lane, lane by lane. */
KN_INLINE kn_lanes prices_of_ranges_and_sets(const kn_cluster_block *block, const kn_lanes *a, const kn_lanes *b)
{
    const kn_cluster_problem *problem = block->problem;
    kn_lanes sum = (kn_lanes){0};
    uint32_t v = 0;
    a += block->n_vectors_equal;
    b += block->n_vectors_equal;
    for (; v < problem->n_vectors_range; v++) {
        kn_lanes least = lanes_least(a[v], b[v]), span = (uint16_t)KN_STAR - least - lanes_swapped(least);
        sum += times_high(span, problem->lane_factor[v]) + ((kn_lanes)(span != 0) & problem->lane_jump[v]);
    }
    for (; v < problem->n_vectors_range + problem->n_vectors_set; v++) {
        kn_lanes span = (count_bits(a[v] | b[v]) - 1) * problem->lane_step[v];
        sum += times_high(span, problem->lane_factor[v]) + ((kn_lanes)(span != 0) & problem->lane_jump[v]);
    }
    return sum;
}

/* Price of a row in a class whose pattern is the join of these, as one of its records sees it (every record sees the
 * same, or nearly: `same_for_all`). Parts of it may not fit into 16 bits; all of it does. */
KN_INLINE int32_t lanes_price_joined(const kn_cluster_block *block, const kn_lanes *a, const kn_lanes *b,
                                     uint32_t record)
{
    const kn_cluster_problem *problem = block->problem;
    const kn_lanes *weight = record_weight(block, record);
    kn_lanes sum = (kn_lanes){0};
    if (block->n_vectors > block->n_vectors_equal) sum = prices_of_ranges_and_sets(block, a, b);
    for (uint32_t v = 0; v < block->n_vectors_equal; v++)
        sum += weight[v] & ((kn_lanes)(a[v] != b[v]) | (kn_lanes)(a[v] == KN_STAR));
    int32_t price = block->base[record] + lanes_sum(&sum);
    for (uint32_t x = 0; x < problem->n_wide; x++) price += price_of_wide_set(block, problem->wide[x], a, b, record);
    return (int16_t)price;
}

KN_INLINE int32_t lanes_price(const kn_cluster_block *block, const kn_lanes *pattern, uint32_t record)
{
    return lanes_price_joined(block, pattern, pattern, record);
}

/* --- One key against the classes -------------------------------------------------------------------------------- */

/* The first n_lanes of block->folded, seen by `record`, are the key of the next scan. */
KN_INLINE void scan_spread(kn_cluster_block *block, uint32_t n_lanes, uint32_t record)
{
    const uint16_t *weight = (const uint16_t *)record_weight(block, record);
    block->key_total = 0;
    for (uint32_t j = 0; j < n_lanes; j++) {
        uint16_t value = block->folded[j];
        if (j < block->n_equal) {
            if (value == KN_STAR) value = KN_NO_LANE;
            block->key_weight[j] = (kn_lanes){0} + weight[j];
            block->key_total += (int16_t)weight[j];
        }
        block->key[j] = (kn_lanes){0} + value;
    }
}

/* Makes `lanes` (a record's or a class's pattern), seen by `record`, the key of the next scan. */
KN_INLINE void scan_begin(kn_cluster_block *block, const kn_lanes *lanes, uint32_t record)
{
    lanes_fold(block, lanes, block->folded, 1);
    scan_spread(block, block->n_lanes, record);
}

/* The same without the lanes of sets. */
KN_INLINE void scan_begin_without_sets(kn_cluster_block *block, const kn_lanes *lanes, uint32_t record)
{
    lanes_unpack(block, lanes, block->folded, 1);
    scan_spread(block, block->n_equal + 2 * block->problem->n_ranges, record);
}

/* As price_of_group, of one half of a chunk, whose equal lanes begin at `centre`, once the key has joined. */
KN_INLINE kn_lanes scan_group(const kn_cluster_block *block, uint32_t s, const kn_lanes *centre)
{
    const uint32_t first = block->set_equal[s], past = first + block->problem->sets[s].n_equal;
    kn_lanes price = (kn_lanes){0};
    for (uint32_t j = first; j < past; j++)
        price += block->key_weight[j] & (kn_lanes)(centre[2 * (size_t)j] != block->key[j]);
    return price;
}

/* What `span` of a range or a set costs. Most measures have no price that any span at all must pay. */
KN_INLINE kn_lanes scan_span(kn_lanes span, uint16_t factor, uint16_t jump)
{
    kn_lanes price = times_high(span, (kn_lanes){0} + factor);
    return jump > 0 ? price + ((kn_lanes)(span != 0) & jump) : price;
}

KN_INLINE kn_lanes scan_set(const kn_cluster_block *block, uint32_t s, const kn_lanes *first, kn_lanes n_bits)
{
    const kn_cluster_set *set = &block->problem->sets[s];
    kn_lanes price = scan_span((n_bits - 1) * set->step, set->factor, set->jump);
    if (set->n_equal == 0) return price;
    return (price - scan_group(block, s, first)) & (kn_lanes)(n_bits <= (uint16_t)set->max_members);
}

/* Prices of the KN_CHUNK classes or records whose lanes begin at `first` once the key, which pays `base` anyhow, has
 * joined them; garbage where there is none. Without what sets cost. */
KN_INLINE void scan_without_sets(const kn_cluster_block *block, const kn_lanes *first, int32_t base, kn_lanes price[2])
{
    const kn_cluster_problem *problem = block->problem;
    const kn_lanes *key = block->key, *centre = first;
    kn_lanes low = (kn_lanes){0}, high = low;
    for (uint32_t j = 0; j < block->n_equal; j++, centre += 2) {
        low += block->key_weight[j] & (kn_lanes)(centre[0] == key[j]);
        high += block->key_weight[j] & (kn_lanes)(centre[1] == key[j]);
    }
    low = (uint16_t)(base + block->key_total) - low;
    high = (uint16_t)(base + block->key_total) - high;
    key += block->n_equal;
    for (uint32_t r = 0; r < problem->n_ranges; r++, centre += 4, key += 2) {
        const kn_cluster_range *range = &problem->ranges[r];
        kn_lanes span = (uint16_t)KN_STAR - lanes_least(centre[0], key[0]) - lanes_least(centre[2], key[1]);
        low += scan_span(span, range->factor, range->jump);
        span = (uint16_t)KN_STAR - lanes_least(centre[1], key[0]) - lanes_least(centre[3], key[1]);
        high += scan_span(span, range->factor, range->jump);
    }
    price[0] = low;
    price[1] = high;
}

/* Bit 2j: lane j of a is not above lane j of b, as signed numbers. */
KN_INLINE uint32_t lanes_not_above(const kn_lanes *a, const kn_lanes *b)
{
#if defined(__AVX2__)
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16((__m256i)*a, (__m256i)*b)) & 0x55555555u;
#else
    uint32_t mask = 0;
    for (int j = 0; j < KN_LANES; j++) mask |= (uint32_t)((int16_t)(*a)[j] <= (int16_t)(*b)[j]) << (2 * j);
    return mask;
#endif
}

/* Bit j: the top bit of lane j. */
KN_INLINE uint16_t lanes_bits(const kn_lanes *a)
{
#if defined(__AVX2__)
    __m128i half = _mm_packs_epi16(_mm256_castsi256_si128((__m256i)*a), _mm256_extracti128_si256((__m256i)*a, 1));
    return (uint16_t)_mm_movemask_epi8(half);
#else
    uint32_t bits = 0;
    for (int j = 0; j < KN_LANES; j++) bits |= (uint32_t)((*a)[j] >> 15) << j;
    return (uint16_t)bits;
#endif
}

KN_INLINE kn_lanes add_saturated(kn_lanes a, kn_lanes b)
{
#if defined(__AVX2__)
    return (kn_lanes)_mm256_adds_epi16((__m256i)a, (__m256i)b);
#else
    for (int j = 0; j < KN_LANES; j++) {
        int32_t sum = (int16_t)a[j] + (int16_t)b[j];
        a[j] = (uint16_t)(sum > INT16_MAX ? INT16_MAX : sum < INT16_MIN ? INT16_MIN : sum);
    }
    return a;
#endif
}

/* Adds what a set of a chunk of classes, whose lanes begin at `first`, will cost once the key has joined. The set's
 * lanes are those from j on; returns which are the next one's. */
KN_INLINE uint32_t scan_add_set(const kn_cluster_block *block, uint32_t s, uint32_t j, const kn_lanes *first,
                                kn_lanes price[2])
{
    kn_lanes bits_low = (kn_lanes){0}, bits_high = bits_low;
    const uint32_t past = j + block->problem->sets[s].n_folded;
    for (; j < past; j++) {
        const kn_lanes *centre = first + 2 * (size_t)j;
        bits_low += count_in_bytes(centre[0] | block->key[j]); /* at most KN_FOLDED_LANES times eight */
        bits_high += count_in_bytes(centre[1] | block->key[j]);
    }
    price[0] += scan_set(block, s, first, add_bytes(bits_low));
    price[1] += scan_set(block, s, first + 1, add_bytes(bits_high));
    return past;
}

/* Prices of the KN_CHUNK classes from `first` on. */
KN_INLINE void scan_prices(const kn_cluster_block *block, uint32_t first, int32_t base, kn_lanes price[2])
{
    const kn_lanes *centre = (const kn_lanes *)(const void *)centre_lane(block, 0, first);
    uint32_t j = block->n_equal + 2 * block->problem->n_ranges;
    scan_without_sets(block, centre, base, price);
    for (uint32_t s = 0; s < block->problem->n_sets; s++) j = scan_add_set(block, s, j, centre, price);
}

/* Are all prices of a chunk, each with its noise, above their `most`? */
KN_INLINE bool scan_is_above(const kn_lanes noise[2], const kn_lanes most[2], const kn_lanes price[2])
{
    kn_lanes low = add_saturated(price[0], noise[0]), high = add_saturated(price[1], noise[1]);
    return (lanes_not_above(&low, &most[0]) | lanes_not_above(&high, &most[1])) == 0;
}

/* The same, given up (false) where scan_is_above() is true of what has been added up. Sets with groups, whose equal
 * lanes have been charged for before, come first (order_sets); from there on prices only rise. */
KN_INLINE bool scan_prices_below(const kn_cluster_block *block, uint32_t first, int32_t base, const kn_lanes noise[2],
                                 const kn_lanes most[2], kn_lanes price[2])
{
    const kn_cluster_problem *problem = block->problem;
    const kn_lanes *centre = (const kn_lanes *)(const void *)centre_lane(block, 0, first);
    uint32_t s = 0, j = block->n_equal + 2 * problem->n_ranges;
    scan_without_sets(block, centre, base, price);
    while (s < problem->n_sets && problem->sets[s].n_equal > 0) j = scan_add_set(block, s++, j, centre, price);
    while (!scan_is_above(noise, most, price)) {
        if (s == problem->n_sets) return true;
        j = scan_add_set(block, s++, j, centre, price);
    }
#ifndef NDEBUG /* of the first chunk, which is garbage where it has no class */
    if (first == 0 && block->n_classes >= KN_CHUNK) scan_prices(block, first, base, price);
    assert(first > 0 || block->n_classes < KN_CHUNK || scan_is_above(noise, most, price));
#endif
    return false;
}

/* The noise of the KN_CHUNK classes from `first` on, in a scan that began at `offset` of it. */
KN_INLINE void scan_noise(const kn_cluster_block *block, uint32_t offset, uint32_t first, kn_lanes noise[2])
{
    for (uint32_t half = 0; half < 2; half++, first += KN_LANES)
        memcpy(&noise[half], block->noise16 + ((offset + first) & block->noise_mask), sizeof noise[half]);
}

#endif
