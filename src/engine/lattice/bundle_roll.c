/* Rolling up bundles; see lattice_bundles.h. A roll-up hashes the bundles' keys, lists the bundles that meet, and
 * joins their entries through a table by inner value, which is small enough to stay in the first cache.
 *
 * The base is sorted by key, and the fields of the outer columns stand in the key from low to high bits. So as long as
 * columns are rolled up from the outermost inwards, what can meet stands together in a *run* of bundles that agree in
 * all columns further in. Each run has a hash table of its own, which stays in the cache however large the table is. */
#include "engine/lattice/bundle_values.h"

#include "base/bits.h"
#include "base/hash.h"

#include <assert.h>
#include <string.h>

struct kn_bundle_roller {
    kn_owner memory; /* table and where */
    const kn_bundle_lattice *lattice;
    uint64_t **table; /* [index into outer][position] */
    /* Of a run: */
    uint32_t *slots;  /* of a hash table; KN_NONE: free */
    uint32_t *result; /* [bundle of the run]: the bundle of the result, counted in the run */
    uint32_t *list;   /* bundles of the run, by result ... */
    uint32_t *ends;   /* ... [bundle of the result]: where its own end there */
    uint32_t *where;  /* [inner]: entry of the result that may hold this inner value */
};

/* --- Memory ------------------------------------------------------------------------------------------------------ */

/* Room for that many, what is there is kept. */
static kn_status bundles_grow(kn_bundles *bundles, const kn_bundle_lattice *b, size_t n, size_t n_entries,
                              kn_error *err)
{
    kn_status status = KN_OK;
    if (bundles->levels == NULL) KN_NEW(bundles->levels, b->lattice->tuples->n_qis);
    if (n > bundles->capacity || bundles->start == NULL) {
        KN_GROW(bundles->keys, n + 1);
        KN_GROW(bundles->start, n + 2);
        bundles->capacity = (uint32_t)n;
    }
    if (n_entries > bundles->entries_capacity || bundles->counts == NULL) {
        KN_GROW(bundles->inner, n_entries + 1);
        KN_GROW(bundles->words, (n_entries + 1) * b->n_words);
        KN_GROW(bundles->counts, (n_entries + 1) * b->width); /* aligned for kn_lanes4 as all memory is */
        bundles->entries_capacity = (uint32_t)n_entries;
    }
done:
    return status;
}

void kn_bundles_free(kn_bundles *bundles)
{
    kn_free(bundles->levels);
    kn_free(bundles->keys);
    kn_free(bundles->start);
    kn_free(bundles->inner);
    kn_free(bundles->counts);
    kn_free(bundles->words);
    kn_free(bundles->values);
    memset(bundles, 0, sizeof *bundles);
}

size_t kn_bundles_bytes(const kn_bundle_lattice *lattice, const kn_bundles *bundles)
{
    return (size_t)bundles->capacity * 12 +
           (size_t)bundles->entries_capacity * (2 + 4 * (size_t)lattice->width + 8 * (size_t)lattice->n_words) +
           (size_t)bundles->slots_capacity * lattice->values_width * 4;
}

/* Room for that many slots. */
static kn_status slots_grow(kn_bundles *bundles, const kn_bundle_lattice *b, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    if (n <= bundles->slots_capacity) return KN_OK;
    KN_GROW(bundles->values, n * b->values_width);
    bundles->slots_capacity = (uint32_t)n;
done:
    return status;
}

/* --- Joining ----------------------------------------------------------------------------------------------------- */

/* The sensitive values of entry e of `from` join those of entry `at` of `out`. */
static inline __attribute__((always_inline)) kn_status join_values(kn_bundles *out, uint32_t at, bool is_new,
                                                                   const kn_bundles *from, uint32_t e,
                                                                   const kn_bundle_lattice *b, uint32_t n_words,
                                                                   kn_error *err)
{
    uint64_t *to = out->words + (size_t)at * n_words;
    const uint64_t *words = from->words + (size_t)e * n_words;
    const uint32_t width = b->values_width, n = kn_values_n(words[0]);
    if (is_new ? n <= b->most_listed : n + kn_values_n(to[0]) <= b->most_listed) {
        for (uint32_t s = 0; s < n_words; s++) to[s] = is_new ? words[s] : kn_values_join(to[s], words[s]);
        return KN_OK;
    }
    /* listed values have no slot, and where all are listed there are none */
    const uint32_t *other = n == KN_VALUES_LANES ? from->values + (size_t)(uint32_t)words[0] * width : NULL;
    if (is_new || kn_values_n(to[0]) != KN_VALUES_LANES) {
        if (out->n_slots == out->slots_capacity &&
            slots_grow(out, b, (size_t)out->n_slots + out->n_slots / 2 + 64, err) != KN_OK)
            return KN_RESOURCES;
        uint32_t *slot = out->values + (size_t)out->n_slots * width;
        if (is_new) { /* more than can be listed: it has a slot */
            memcpy(slot, other, width * sizeof *slot);
        } else {
            memset(slot, 0, width * sizeof *slot);
            kn_values_spread(slot, b, to, n_words);
        }
        for (uint32_t s = 0; s < n_words; s++) to[s] = (uint64_t)KN_VALUES_LANES << 56 | out->n_slots;
        out->n_slots++;
        if (is_new) return KN_OK;
    }
    uint32_t *slot = out->values + (size_t)(uint32_t)to[0] * width;
    if (n == KN_VALUES_LANES) kn_values_add(slot, other, width);
    else kn_values_spread(slot, b, words, n_words);
    return KN_OK;
}

/* The sensitive values of a tuple, as those of the only entry of `one`, which has room for it. */
static void tuple_values(kn_bundles *one, const kn_bundle_lattice *b, uint32_t tuple, uint32_t lane)
{
    const kn_tuples *tuples = b->lattice->tuples;
    bool listed = tuples->rows[tuple] <= b->most_listed;
    if (!listed) memset(one->values, 0, b->values_width * sizeof *one->values);
    for (uint32_t s = 0; s < b->n_words; s++) {
        const kn_histogram own = kn_histogram_of(&tuples->sensitive[s].by_tuple, tuple);
        uint32_t *counts = one->values + b->values_at[s];
        one->words[s] = listed ? 0 : (uint64_t)KN_VALUES_LANES << 56;
        for (uint32_t e = 0; e < own.n; e++) {
            const uint32_t place = own.values[e] * b->values_lanes + lane;
            const uint64_t row = place | (uint64_t)1 << 56;
            if (!listed) counts[place] += (uint32_t)own.counts[e];
            for (uint32_t i = 0; listed && i < own.counts[e]; i++) one->words[s] = kn_values_join(one->words[s], row);
        }
    }
}

static void add_tuple(uint32_t *counts, const kn_bundle_lattice *b, uint32_t tuple, uint32_t lane)
{
    const kn_tuples *tuples = b->lattice->tuples;
    counts[lane] += (uint32_t)tuples->rows[tuple];
    if (b->n_counts > KN_LATTICE_LANES) counts[KN_LATTICE_LANES + lane] += (uint32_t)tuples->persons[tuple];
    uint32_t *sets = counts + b->n_counts + lane;
    for (uint32_t s = 0; b->n_set_lanes != NULL && s < tuples->n_sensitive; s++) {
        const kn_histogram own = kn_histogram_of(&tuples->sensitive[s].by_tuple, tuple);
        for (uint32_t e = 0; b->n_set_lanes[s] > 0 && e < own.n; e++)
            sets[own.values[e] / KN_BUNDLE_SET_VALUES * KN_LATTICE_LANES] |= 1u << own.values[e] % KN_BUNDLE_SET_VALUES;
        sets += KN_LATTICE_LANES * b->n_set_lanes[s];
    }
}

/* --- The base ---------------------------------------------------------------------------------------------------- */

kn_status kn_bundles_of_tuples(kn_bundles *out, const kn_bundle_lattice *b, const uint64_t *words,
                               const uint32_t *tuples, uint32_t n, kn_error *err)
{
    enum { TUPLES_AHEAD = 24 }; /* tuples are sorted: their counts are anywhere */
    kn_status status = KN_OK;
    const uint32_t low_bits = b->n_inner_bits + KN_LANE_BITS;
    const uint64_t inner_mask = (1ull << b->n_inner_bits) - 1;
    kn_bundles one = {0};
    size_t n_bundles = 0, n_entries = 0;
    for (uint32_t i = 0; i < n; i++) {
        n_bundles += i == 0 || (words[i] ^ words[i - 1]) >> low_bits != 0;
        n_entries += i == 0 || (words[i] ^ words[i - 1]) >> KN_LANE_BITS != 0;
    }
    KN_TRY(bundles_grow(out, b, n_bundles, n_entries, err));
    if (b->n_words > 0) KN_TRY(bundles_grow(&one, b, 1, 1, err));
    if (b->n_words > 0) KN_TRY(slots_grow(&one, b, 1, err));
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) out->levels[q] = b->lattice->columns[q].min_level;
    for (uint32_t i = 0; i < n; i++) {
        const bool new_bundle = i == 0 || (words[i] ^ words[i - 1]) >> low_bits != 0;
        const bool is_new = new_bundle || (words[i] ^ words[i - 1]) >> KN_LANE_BITS != 0;
        const uint32_t lane = (uint32_t)words[i] & ((1u << KN_LANE_BITS) - 1);
        if (i + TUPLES_AHEAD < n) __builtin_prefetch(&b->lattice->tuples->rows[tuples[i + TUPLES_AHEAD]]);
        if (new_bundle) out->keys[out->n] = words[i] >> low_bits;
        if (new_bundle) out->start[out->n++] = out->n_entries;
        if (is_new) {
            out->inner[out->n_entries] = (uint16_t)(words[i] >> KN_LANE_BITS & inner_mask);
            memset(out->counts + (size_t)out->n_entries++ * b->width, 0, b->width * sizeof *out->counts);
        }
        add_tuple(out->counts + (size_t)(out->n_entries - 1) * b->width, b, tuples[i], lane);
        if (b->n_words == 0) continue;
        tuple_values(&one, b, tuples[i], lane);
        KN_TRY(join_values(out, out->n_entries - 1, is_new, &one, 0, b, b->n_words, err));
    }
    out->start[out->n] = out->n_entries;
done:
    kn_bundles_free(&one);
    return status;
}

/* --- The roller -------------------------------------------------------------------------------------------------- */

kn_status kn_bundle_roller_new(kn_bundle_roller **out, const kn_bundle_lattice *bundles, kn_error *err)
{
    kn_status status = KN_OK;
    kn_bundle_roller *roller = NULL;
    *out = NULL;
    KN_NEW(roller, 1);
    roller->lattice = bundles;
    KN_OWN(&roller->memory, roller->where, (size_t)1 << bundles->n_inner_bits);
    KN_OWN(&roller->memory, roller->table, (size_t)bundles->n_outer + 1);
    for (uint32_t d = 0; d < bundles->n_outer; d++) {
        const kn_lattice_column *column = &bundles->lattice->columns[bundles->outer[d]];
        KN_OWN_RAW(&roller->memory, roller->table[d], column->levels[column->min_level].n);
    }
    *out = roller;
    roller = NULL;
done:
    kn_bundle_roller_free(roller);
    return status;
}

void kn_bundle_roller_free(kn_bundle_roller *roller)
{
    if (roller == NULL) return;
    void *const of_run[] = {roller->slots, roller->result, roller->list, roller->ends};
    for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++) kn_free(of_run[i]);
    kn_owner_free(&roller->memory);
    kn_free(roller);
}

static kn_status run_reserve(kn_bundle_roller *roller, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    if (n * sizeof *roller->ends <= kn_array_bytes(roller->ends)) return KN_OK;
    n += n / 2;
    KN_ROOM(roller->slots, (size_t)1 << kn_bits_for((uint32_t)(2 * n)));
    KN_ROOM(roller->result, n);
    KN_ROOM(roller->list, n);
    KN_ROOM(roller->ends, n);
done:
    return status;
}

/* --- Meeting ----------------------------------------------------------------------------------------------------- */

/* Where memory is read in no order it is asked for so many bundles early; of a hash table only if it is large. */
enum { AHEAD = 8, MANY = 1 << 15 };

/* One changed column. */
typedef struct step {
    const uint64_t *table;
    uint64_t mask;
    uint32_t shift;
} step;

/* One roll-up. */
typedef struct roll_up {
    const kn_bundles *from;
    kn_bundle_roller *roller;
    step steps[KN_BUNDLE_MAX_OUTER];
    uint32_t n_steps;
    uint32_t run_shift; /* bundles of a run agree in the bits of the key from here on; 64: all are one run */
} roll_up;

static void make_steps(roll_up *r, const uint32_t *levels)
{
    const kn_bundle_lattice *b = r->roller->lattice;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        uint32_t q = b->outer[d], *from = &r->from->levels[q];
        const kn_lattice_column *column = &b->lattice->columns[q];
        assert(levels[q] >= *from && levels[q] <= column->max_level);
        if (levels[q] == *from) continue;
        const kn_lattice_level *old = &column->levels[*from], *new = &column->levels[levels[q]];
        for (uint32_t p = 0; p < old->n; p++)
            r->roller->table[d][p] = (uint64_t) new->of_code[old->first_code[p]] << b->outer_shift[d];
        r->steps[r->n_steps++] = (step){r->roller->table[d], (1ull << b->outer_bits[d]) - 1, b->outer_shift[d]};
    }
}

static inline uint64_t run_of(const roll_up *r, uint64_t key) { return r->run_shift < 64 ? key >> r->run_shift : 0; }

static inline __attribute__((always_inline)) uint64_t rolled_key(uint64_t key, const step *steps, uint32_t n_steps)
{
    for (uint32_t j = 0; j < n_steps; j++)
        key = (key & ~(steps[j].mask << steps[j].shift)) | steps[j].table[key >> steps[j].shift & steps[j].mask];
    return key;
}

/* Keys of what the run [begin, end) becomes, from out->n on, and which bundles meet in it. Returns how many. */
static inline __attribute__((always_inline)) uint32_t list_run(kn_bundles *out, const roll_up *r, uint32_t begin,
                                                               uint32_t end, uint32_t n_steps, uint32_t ahead)
{
    const uint64_t *from_keys = r->from->keys + begin, factor = kn_hash_key[0];
    uint64_t *restrict keys = out->keys + out->n;
    uint32_t *restrict slots = r->roller->slots, *restrict result = r->roller->result, *restrict ends = r->roller->ends;
    const step only = r->steps[0], *steps = n_steps == 1 ? &only : r->steps;
    const uint32_t slot_bits = kn_bits_for(2 * (end - begin)), last_slot = (1u << slot_bits) - 1;
    uint32_t n = 0, n_listed = 0;
    memset(slots, 0xff, sizeof *slots << slot_bits);
    for (uint32_t i = 0; i < end - begin; i++) {
        const uint64_t key = rolled_key(from_keys[i], steps, n_steps);
        uint32_t slot = (uint32_t)(key * factor >> (64 - slot_bits)), bundle;
        if (ahead > 0 && i + ahead < end - begin)
            __builtin_prefetch(&slots[rolled_key(from_keys[i + ahead], steps, n_steps) * factor >> (64 - slot_bits)]);
        while ((bundle = slots[slot]) != KN_NONE && keys[bundle] != key) slot = (slot + 1) & last_slot;
        if (bundle == KN_NONE) {
            slots[slot] = bundle = n;
            ends[n] = 0;
            keys[n++] = key;
        }
        ends[bundle]++;
        result[i] = bundle;
    }
    for (uint32_t bundle = 0; bundle < n; bundle++) {
        const uint32_t own = ends[bundle];
        ends[bundle] = n_listed;
        n_listed += own;
    }
    for (uint32_t i = 0; i < n_listed; i++) r->roller->list[ends[result[i]]++] = begin + i;
    return n;
}

/* The entries of the next n_bundles bundles, as the run at hand is listed. */
static inline __attribute__((always_inline)) kn_status join_entries(kn_bundles *out, const roll_up *r,
                                                                    uint32_t n_bundles, uint32_t width,
                                                                    uint32_t n_counts, uint32_t n_words, kn_error *err)
{
    const uint16_t *from_inner = r->from->inner;
    const uint32_t *from_start = r->from->start, *from_counts = r->from->counts;
    const uint32_t *list = r->roller->list, *ends = r->roller->ends, n_listed = ends[n_bundles - 1];
    uint32_t *restrict where = r->roller->where, *restrict start = out->start + out->n, *restrict counts = out->counts;
    uint16_t *restrict inner = out->inner;
    uint32_t n = out->n_entries;
    for (uint32_t bundle = 0, i = 0; bundle < n_bundles; bundle++) {
        const uint32_t begin_entries = start[bundle] = n;
        for (; i < ends[bundle]; i++) {
            if (i + 2 * AHEAD < n_listed) {
                const uint32_t soon = from_start[list[i + AHEAD]];
                __builtin_prefetch(from_start + list[i + 2 * AHEAD]);
                __builtin_prefetch(from_inner + soon);
                __builtin_prefetch(from_counts + (size_t)soon * width);
            }
            for (uint32_t e = from_start[list[i]], end = from_start[list[i] + 1]; e < end; e++) {
                uint32_t value = from_inner[e], at = where[value];
                const kn_lanes4 *more = (const kn_lanes4 *)(from_counts + (size_t)e * width);
                /* what an earlier bundle left in the table lies before `begin_entries` or holds another value */
                bool is_new = at < begin_entries || at >= n || inner[at] != value;
                if (is_new) at = where[value] = n++;
                kn_lanes4 *to = (kn_lanes4 *)(counts + (size_t)at * width);
                if (is_new) {
                    inner[at] = (uint16_t)value;
                    for (uint32_t w = 0; w < width / 4; w++) to[w] = more[w];
                } else {
                    for (uint32_t w = 0; w < n_counts / 4; w++) to[w] += more[w];
                    for (uint32_t w = n_counts / 4; w < width / 4; w++) to[w] |= more[w];
                }
                if (n_words > 0 && join_values(out, at, is_new, r->from, e, r->roller->lattice, n_words, err) != KN_OK)
                    return KN_RESOURCES;
            }
        }
    }
    out->n_entries = n;
    return KN_OK;
}

/* One run; constant arguments make loops of their own. */
static kn_status roll_run(kn_bundles *out, const roll_up *r, uint32_t begin, uint32_t end, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = r->roller->lattice;
    uint32_t n = 0;
    if (end - begin >= MANY) n = list_run(out, r, begin, end, r->n_steps, AHEAD);
    else if (r->n_steps == 1) n = list_run(out, r, begin, end, 1, 0);
    else n = list_run(out, r, begin, end, r->n_steps, 0);
    if (b->width == 4 && b->n_words == 0) KN_TRY(join_entries(out, r, n, 4, 4, 0, err));
    else if (b->width == 4 && b->n_words == 1) KN_TRY(join_entries(out, r, n, 4, 4, 1, err));
    else if (b->width == 8 && b->n_counts == 4) KN_TRY(join_entries(out, r, n, 8, 4, 0, err));
    else KN_TRY(join_entries(out, r, n, b->width, b->n_counts, b->n_words, err));
    out->n += n;
done:
    return status;
}

kn_status kn_bundles_roll(kn_bundles *out, const kn_bundles *from, const uint32_t *levels, kn_bundle_roller *roller,
                          kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = roller->lattice;
    roll_up r = {.from = from, .roller = roller, .run_shift = 64};
    uint32_t innermost = from->together;
    for (uint32_t d = 0; d < b->n_outer; d++)
        if (levels[b->outer[d]] != from->levels[b->outer[d]] && innermost < d + 1) innermost = d + 1;
    if (innermost < b->n_outer) r.run_shift = b->outer_shift[innermost];
    make_steps(&r, levels);
    out->n = out->n_entries = out->n_slots = 0;
    KN_TRY(bundles_grow(out, b, from->n / 8 + 16, from->n_entries / 8 + 16, err));
    for (uint32_t begin = 0, end; begin < from->n; begin = end) {
        uint64_t run = run_of(&r, from->keys[begin]);
        for (end = begin + 1; end < from->n && run_of(&r, from->keys[end]) == run;) end++;
        size_t n = (size_t)out->n + (end - begin);
        size_t n_entries = (size_t)out->n_entries + (from->start[end] - from->start[begin]);
        if (n > out->capacity || n_entries > out->entries_capacity)
            KN_TRY(bundles_grow(out, b, n > out->capacity ? n + n / 2 : n,
                                n_entries > out->entries_capacity ? n_entries + n_entries / 2 : n_entries, err));
        KN_TRY(run_reserve(roller, end - begin, err));
        KN_TRY(roll_run(out, &r, begin, end, err));
    }
    out->start[out->n] = out->n_entries;
    out->together = innermost;
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) out->levels[q] = from->levels[q];
    for (uint32_t d = 0; d < b->n_outer; d++) out->levels[b->outer[d]] = levels[b->outer[d]];
done:
    return status;
}
