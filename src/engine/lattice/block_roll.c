/* Rolling up blocks; see lattice_blocks.h. A roll-up hashes the blocks' keys, chains the blocks that meet, and joins
 * their entries through a table by inner value, which is small enough to stay in the first cache.
 *
 * The base is sorted by key, and the fields of the outer columns stand in the key from low to high bits. So what meets
 * when the outermost column is rolled up are neighbours; and as long as columns are rolled up from the outermost
 * inwards, what can meet stands together in a *run* of blocks that agree in all columns further in. Each run has a hash
 * table of its own, which stays in the cache however large the table is. On the pool, sources beyond the cache are cut
 * between runs; of smaller ones each thread takes the blocks whose new key hashes to it, which shares the work evenly
 * where runs are few, and costs the order, which they can do without. */
#include "engine/lattice/block_values.h"

#include "base/bits.h"

#include <assert.h>
#include <string.h>

typedef uint32_t lanes4 __attribute__((vector_size(16), may_alias));

enum { MOST_PARTS = 64, LEAST_PART = 1 << 15, LEAST_LISTED = 1 << 16, FEW = 8 };
/* LEAST_PART in entries; LEAST_LISTED in blocks of a run; FEW are looked through one by one. */

/* What one thread needs to roll up a run. */
typedef struct run_scratch {
    uint32_t *slots; /* of a hash table; KN_NONE: free */
    /* Of a run in the cache the blocks that meet are chained: */
    uint32_t *next;         /* [block of the run]: the next one with the same result */
    uint32_t *first, *last; /* [block of the result, counted in the run]: ends of its chain */
    /* Of a larger one they are listed, as no chain tells early enough what to fetch. Then `next` is the block of the
     * result, KN_NONE for another share, `last` how many meet, and `first` is where they begin in: */
    uint32_t *list;
    size_t capacity; /* blocks of a run */
    uint32_t *where; /* [inner]: entry of the result that may hold this inner value */
    kn_blocks one;   /* an entry with the sensitive values of a tuple */
} run_scratch;

struct kn_block_roller {
    const kn_block_lattice *lattice;
    kn_pool *pool;
    run_scratch *scratch; /* per thread */
    uint32_t n_threads;
    kn_blocks *parts; /* per thread; the first one rolls into the result itself */
    uint64_t **table; /* [index into outer][position] */
    int64_t **delta;
};

/* --- Memory ------------------------------------------------------------------------------------------------------ */

/* Room for that many, what is there is kept. */
static kn_status blocks_grow(kn_blocks *blocks, const kn_block_lattice *b, size_t n, size_t n_entries, kn_error *err)
{
    kn_status status = KN_OK;
    if (blocks->levels == NULL) KN_NEW(blocks->levels, b->lattice->tuples->n_qis);
    if (n > blocks->capacity || blocks->start == NULL) {
        uint64_t *keys = kn_array_resize(blocks->keys, n + 1, sizeof *keys, err);
        if (keys != NULL) blocks->keys = keys;
        uint32_t *start = kn_array_resize(blocks->start, n + 2, sizeof *start, err);
        if (start != NULL) blocks->start = start;
        int64_t *prices = b->prices != NULL ? kn_array_resize(blocks->prices, n + 1, sizeof *prices, err) : NULL;
        if (prices != NULL) blocks->prices = prices;
        if (keys == NULL || start == NULL || (b->prices != NULL && prices == NULL))
            KN_FAIL(KN_RESOURCES, "out of memory");
        blocks->capacity = (uint32_t)n;
    }
    if (n_entries > blocks->entries_capacity || blocks->counts == NULL) {
        uint16_t *inner = kn_array_resize(blocks->inner, n_entries + 1, sizeof *inner, err);
        if (inner == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        blocks->inner = inner;
        uint64_t *words = kn_array_resize(blocks->words, (n_entries + 1) * b->n_words, sizeof *words, err);
        if (words == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        blocks->words = words;
        uint32_t *counts = kn_array_resize(blocks->counts, (n_entries + 1) * b->width, sizeof *counts, err);
        if (counts == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        blocks->counts = counts; /* aligned for lanes4 as all blocks of memory are */
        blocks->entries_capacity = (uint32_t)n_entries;
    }
done:
    return status;
}

void kn_blocks_free(kn_blocks *blocks)
{
    kn_free(blocks->levels);
    kn_free(blocks->keys);
    kn_free(blocks->prices);
    kn_free(blocks->start);
    kn_free(blocks->inner);
    kn_free(blocks->counts);
    kn_free(blocks->words);
    kn_free(blocks->values);
    kn_free(blocks->tuples);
    memset(blocks, 0, sizeof *blocks);
}

size_t kn_blocks_bytes(const kn_block_lattice *lattice, const kn_blocks *blocks)
{
    uint32_t n_entries = blocks->tuples != NULL ? blocks->n : blocks->entries_capacity;
    return (size_t)blocks->capacity * (lattice->prices != NULL ? 20 : 12) +
           (size_t)n_entries * (2 + 4 * (size_t)lattice->width + 8 * (size_t)lattice->n_words) +
           (size_t)blocks->slots_capacity * lattice->values_width * 4;
}

/* Room for that many slots. */
static kn_status slots_grow(kn_blocks *blocks, const kn_block_lattice *b, size_t n, kn_error *err)
{
    if (n <= blocks->slots_capacity) return KN_OK;
    uint32_t *moved = kn_array_resize(blocks->values, n * b->values_width, sizeof *moved, err);
    if (moved == NULL) return kn_error_set(err, KN_RESOURCES, "out of memory");
    blocks->values = moved;
    blocks->slots_capacity = (uint32_t)n;
    return KN_OK;
}

/* --- Joining ----------------------------------------------------------------------------------------------------- */

/* The sensitive values of entry e of `from` join those of entry `at` of `out`. */
static inline __attribute__((always_inline)) kn_status join_values(kn_blocks *out, uint32_t at, bool is_new,
                                                                   const kn_blocks *from, uint32_t e,
                                                                   const kn_block_lattice *b, uint32_t n_words,
                                                                   kn_error *err)
{
    uint64_t *to = out->words + (size_t)at * n_words;
    const uint64_t *words = from->words + (size_t)e * n_words;
    const uint32_t width = b->values_width, n = kn_values_n(words[0]);
    if (is_new ? n <= b->most_listed : n + kn_values_n(to[0]) <= b->most_listed) {
        for (uint32_t s = 0; s < n_words; s++) to[s] = is_new ? words[s] : kn_values_join(to[s], words[s]);
        return KN_OK;
    }
    const uint32_t *other = from->values + (size_t)(uint32_t)words[0] * width;
    if (is_new || kn_values_n(to[0]) != KN_VALUES_LANES) {
        if (out->n_slots == out->slots_capacity &&
            slots_grow(out, b, (size_t)out->n_slots + out->n_slots / 2 + 64, err) != KN_OK)
            return KN_RESOURCES;
        uint32_t *slot = out->values + (size_t)out->n_slots * width;
        if (is_new) {
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
static void tuple_values(kn_blocks *one, const kn_block_lattice *b, uint32_t tuple, uint32_t lane)
{
    const kn_tuples *tuples = b->lattice->tuples;
    bool listed = tuples->rows[tuple] <= b->most_listed;
    if (!listed) memset(one->values, 0, b->values_width * sizeof *one->values);
    for (uint32_t s = 0; s < b->n_words; s++) {
        const kn_sensitive *sensitive = &tuples->sensitive[s];
        uint32_t *counts = one->values + b->values_at[s];
        one->words[s] = listed ? 0 : (uint64_t)KN_VALUES_LANES << 56;
        for (uint32_t e = sensitive->start[tuple]; e < sensitive->start[tuple + 1]; e++) {
            const uint32_t place = kn_values_place(b, sensitive->values[e], lane);
            const uint64_t row = place | (uint64_t)1 << 56;
            if (!listed) counts[place] += sensitive->counts[e];
            for (uint32_t i = 0; listed && i < sensitive->counts[e]; i++)
                one->words[s] = kn_values_join(one->words[s], row);
        }
    }
}

static void add_tuple(uint32_t *counts, const kn_block_lattice *b, uint32_t tuple, uint32_t lane)
{
    const kn_tuples *tuples = b->lattice->tuples;
    counts[lane] += tuples->rows[tuple];
    if (b->n_counts > KN_LATTICE_LANES) counts[KN_LATTICE_LANES + lane] += tuples->persons[tuple];
    uint32_t *sets = counts + b->n_counts + lane;
    for (uint32_t s = 0; b->n_set_lanes != NULL && s < tuples->n_sensitive; s++) {
        const kn_sensitive *sensitive = &tuples->sensitive[s];
        for (uint32_t e = sensitive->start[tuple]; b->n_set_lanes[s] > 0 && e < sensitive->start[tuple + 1]; e++) {
            uint32_t value = sensitive->values[e];
            sets[value / KN_BLOCK_SET_VALUES * KN_LATTICE_LANES] |= 1u << value % KN_BLOCK_SET_VALUES;
        }
        sets += KN_LATTICE_LANES * b->n_set_lanes[s];
    }
}

/* --- The roller -------------------------------------------------------------------------------------------------- */

kn_status kn_block_roller_new(kn_block_roller **out, const kn_block_lattice *blocks, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_block_roller *roller = NULL;
    *out = NULL;
    KN_NEW(roller, 1);
    roller->lattice = blocks;
    roller->pool = pool;
    roller->n_threads = kn_pool_threads(pool);
    KN_NEW(roller->scratch, roller->n_threads);
    KN_NEW(roller->parts, roller->n_threads);
    for (uint32_t i = 0; i < roller->n_threads; i++) {
        KN_NEW(roller->scratch[i].where, (size_t)1 << blocks->n_inner_bits);
        if (blocks->n_words == 0) continue;
        KN_TRY(blocks_grow(&roller->scratch[i].one, blocks, 1, 1, err));
        KN_TRY(slots_grow(&roller->scratch[i].one, blocks, 1, err));
    }
    KN_NEW(roller->table, (size_t)blocks->n_outer + 1);
    KN_NEW(roller->delta, (size_t)blocks->n_outer + 1);
    for (uint32_t d = 0; d < blocks->n_outer; d++) {
        const kn_lattice_column *column = &blocks->lattice->columns[blocks->outer[d]];
        KN_NEW_RAW(roller->table[d], column->levels[column->min_level].n);
        KN_NEW_RAW(roller->delta[d], column->levels[column->min_level].n);
    }
    *out = roller;
    roller = NULL;
done:
    kn_block_roller_free(roller);
    return status;
}

void kn_block_roller_free(kn_block_roller *roller)
{
    if (roller == NULL) return;
    for (uint32_t d = 0; d < roller->lattice->n_outer; d++) {
        if (roller->table != NULL) kn_free(roller->table[d]);
        if (roller->delta != NULL) kn_free(roller->delta[d]);
    }
    for (uint32_t i = 0; roller->scratch != NULL && i < roller->n_threads; i++) {
        kn_free(roller->scratch[i].slots);
        kn_free(roller->scratch[i].next);
        kn_free(roller->scratch[i].first);
        kn_free(roller->scratch[i].last);
        kn_free(roller->scratch[i].list);
        kn_free(roller->scratch[i].where);
        kn_blocks_free(&roller->scratch[i].one);
    }
    for (uint32_t i = 0; roller->parts != NULL && i < roller->n_threads; i++) kn_blocks_free(&roller->parts[i]);
    kn_free(roller->parts);
    kn_free(roller->scratch);
    kn_free(roller->table);
    kn_free(roller->delta);
    kn_free(roller);
}

/* --- Meeting ----------------------------------------------------------------------------------------------------- */

static int64_t price_of(const kn_block_lattice *b, uint32_t q, uint32_t level, uint32_t position)
{
    return b->prices != NULL ? b->prices[q][level][position] : 0;
}

/* One changed column. */
typedef struct step {
    const uint64_t *table;
    const int64_t *delta;
    uint64_t mask;
    uint32_t shift;
} step;

static uint32_t make_steps(step *steps, const kn_blocks *from, const uint32_t *levels, kn_block_roller *roller)
{
    const kn_block_lattice *b = roller->lattice;
    uint32_t n_steps = 0;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        uint32_t q = b->outer[d];
        const kn_lattice_column *column = &b->lattice->columns[q];
        assert(levels[q] >= from->levels[q] && levels[q] <= column->max_level);
        if (levels[q] == from->levels[q]) continue;
        const kn_lattice_level *old = &column->levels[from->levels[q]], *new = &column->levels[levels[q]];
        for (uint32_t p = 0; p < old->n; p++) {
            uint32_t position = new->of_code[old->first_code[p]];
            roller->table[d][p] = (uint64_t)position << b->outer_shift[d];
            roller->delta[d][p] = price_of(b, q, levels[q], position) - price_of(b, q, from->levels[q], p);
        }
        steps[n_steps++] =
            (step){roller->table[d], roller->delta[d], (1ull << b->outer_bits[d]) - 1, b->outer_shift[d]};
    }
    return n_steps;
}

/* One roll-up, the same for all threads. */
typedef struct roll_up {
    const kn_blocks *from;
    kn_blocks *out;
    kn_block_roller *roller;
    step steps[KN_BLOCK_MAX_OUTER];
    uint32_t n_steps;
    uint32_t run_shift; /* blocks of a run agree in the bits of the key from here on; 64: all are one run */
    bool neighbours;    /* what meets stands side by side */
    uint32_t n_parts;
    kn_blocks *parts;              /* NULL: the first part is the result, the others are the roller's */
    bool shared;                   /* a part is a share of the new keys; otherwise a stretch of whole runs */
    uint32_t ends[MOST_PARTS + 1]; /* of those */
} roll_up;

static inline uint32_t first_entry(const kn_blocks *from, uint32_t block)
{
    return from->tuples != NULL ? block : from->start[block];
}

static inline uint64_t run_of(const roll_up *r, uint64_t key) { return r->run_shift < 64 ? key >> r->run_shift : 0; }

static inline bool is_listed(size_t n_blocks_of_run) { return n_blocks_of_run > LEAST_LISTED; }

static kn_status scratch_reserve(run_scratch *scratch, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    if (n <= scratch->capacity) return KN_OK;
    n += n / 2;
    kn_free(scratch->slots);
    kn_free(scratch->next);
    kn_free(scratch->first);
    kn_free(scratch->last);
    kn_free(scratch->list);
    scratch->slots = scratch->next = scratch->first = scratch->last = scratch->list = NULL;
    scratch->capacity = 0;
    KN_NEW_RAW(scratch->slots, (size_t)1 << kn_bits_for((uint32_t)(2 * n)));
    KN_NEW_RAW(scratch->next, n);
    KN_NEW_RAW(scratch->first, n + 1);
    KN_NEW_RAW(scratch->last, n);
    if (is_listed(n)) KN_NEW_RAW(scratch->list, n);
    scratch->capacity = n;
done:
    return status;
}

static inline __attribute__((always_inline)) void raise_block(uint64_t *key, int64_t *price, const step *steps,
                                                              uint32_t n_steps)
{
    for (uint32_t j = 0; j < n_steps; j++) {
        uint64_t position = *key >> steps[j].shift & steps[j].mask;
        *key = (*key & ~(steps[j].mask << steps[j].shift)) | steps[j].table[position];
        if (price != NULL) *price += steps[j].delta[position];
    }
}

/* Of a tuple, at the least levels. */
static int64_t key_price(const kn_block_lattice *b, uint64_t key)
{
    int64_t price = 0;
    for (uint32_t d = 0; d < b->n_outer; d++)
        price += price_of(b, b->outer[d], b->lattice->columns[b->outer[d]].min_level,
                          (uint32_t)(key >> b->outer_shift[d] & ((1ull << b->outer_bits[d]) - 1)));
    return price;
}

/* Slots come from the high bits of the hash: what is left of it must be mixed again. */
static inline uint32_t share_of(uint64_t hash, uint32_t n_shares)
{
    return (uint32_t)((((hash ^ hash >> 32) * 0xd6e8feb86659fd93u >> 32) * n_shares) >> 32);
}

static inline uint64_t hash_of(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }

/* The hash table of a large run grows with what it holds, which may be far less than what comes in. */
static void fill_slots(uint32_t *slots, uint32_t slot_bits, const uint64_t *keys, uint32_t n)
{
    uint32_t last_slot = (1u << slot_bits) - 1;
    memset(slots, 0xff, sizeof *slots << slot_bits);
    for (uint32_t block = 0; block < n; block++) {
        uint32_t slot = (uint32_t)(hash_of(keys[block]) >> (64 - slot_bits));
        while (slots[slot] != KN_NONE) slot = (slot + 1) & last_slot;
        slots[slot] = block;
    }
}

/* From how many blocks of the run [begin, end) meet to the list of them. */
static void list_blocks(run_scratch *scratch, uint32_t begin, uint32_t end, uint32_t n)
{
    uint32_t *restrict next = scratch->next, *restrict first = scratch->first, *restrict last = scratch->last,
                       *restrict list = scratch->list, at = 0;
    for (uint32_t block = 0; block < n; block++) {
        first[block] = at;
        at += last[block];
        last[block] = first[block];
    }
    first[n] = at;
    for (uint32_t i = begin; i < end; i++)
        if (next[i - begin] != KN_NONE) list[last[next[i - begin]]++] = i;
}

/* Keys and prices of what the run [begin, end) becomes, from out->n on, and which blocks meet in it; with shares only
 * what hashes to this one. Returns how many. */
static inline __attribute__((always_inline)) uint32_t chain_run(kn_blocks *out, const roll_up *r, run_scratch *scratch,
                                                                uint32_t begin, uint32_t end, uint32_t n_shares,
                                                                uint32_t share, uint32_t n_steps, bool flat,
                                                                bool priced, bool listed)
{
    enum { AHEAD = 24, FIRST_SLOT_BITS = 13 }; /* tuples are sorted: their counts are anywhere */
    const uint32_t *tuples = r->from->tuples, *rows = r->roller->lattice->lattice->tuples->rows;
    const bool scattered = flat && !r->roller->lattice->flat_rows;
    const uint32_t key_shift = flat ? kn_flat_low_bits(r->roller->lattice) : 0;
    const uint64_t *from_keys = r->from->keys;
    const int64_t *from_prices = r->from->prices;
    uint64_t *restrict keys = out->keys + out->n;
    int64_t *restrict prices = priced ? out->prices + out->n : NULL;
    uint32_t *restrict slots = scratch->slots, *restrict next = scratch->next, *restrict first = scratch->first,
                       *restrict last = scratch->last;
    const step only = r->steps[0], *steps = n_steps == 1 ? &only : r->steps;
    uint32_t n = 0, slot_bits = kn_bits_for(2 * (end - begin));
    const bool few = end - begin <= FEW;
    if (listed) slot_bits = FIRST_SLOT_BITS;
    if (!few) fill_slots(slots, slot_bits, keys, 0);
    for (uint32_t i = begin; i < end; i++) {
        if (scattered && i + AHEAD < r->from->n) __builtin_prefetch(&rows[tuples[i + AHEAD]]);
        uint64_t key = from_keys[i] >> key_shift;
        int64_t price = !priced ? 0 : flat ? key_price(r->roller->lattice, key) : from_prices[i];
        uint32_t block = 0;
        raise_block(&key, priced ? &price : NULL, steps, n_steps);
        uint64_t hash = hash_of(key);
        if (n_shares > 1 && share_of(hash, n_shares) != share) {
            next[i - begin] = KN_NONE;
            continue;
        }
        if (few) {
            while (block < n && keys[block] != key) block++;
        } else {
            uint32_t slot = (uint32_t)(hash >> (64 - slot_bits)), last_slot = (1u << slot_bits) - 1;
            while ((block = slots[slot]) != KN_NONE && keys[block] != key) slot = (slot + 1) & last_slot;
            if (block == KN_NONE) slots[slot] = block = n;
        }
        next[i - begin] = listed ? block : KN_NONE;
        if (block == n) {
            if (priced) prices[n] = price;
            keys[n++] = key;
            first[block] = i;
            if (listed) last[block] = 0;
            if (listed && n >> (slot_bits - 1) != 0) fill_slots(slots, ++slot_bits, keys, n);
        } else if (!listed) {
            next[last[block] - begin] = i;
        }
        last[block] = listed ? last[block] + 1 : i;
    }
    if (listed) list_blocks(scratch, begin, end, n);
    return n;
}

static uint32_t chain_any(kn_blocks *out, const roll_up *r, run_scratch *scratch, uint32_t begin, uint32_t end,
                          uint32_t share)
{
    const uint32_t n_shares = r->shared ? r->n_parts : 1, n_steps = r->n_steps;
    const bool priced = r->roller->lattice->prices != NULL, flat = r->from->tuples != NULL;
    if (is_listed(end - begin))
        return chain_run(out, r, scratch, begin, end, n_shares, share, n_steps, flat, priced, true);
    if (flat) return chain_run(out, r, scratch, begin, end, n_shares, share, n_steps, true, priced, false);
    if (n_steps == 1 && !r->shared && priced)
        return chain_run(out, r, scratch, begin, end, 1, 0, 1, false, true, false);
    if (n_steps == 1 && !r->shared) return chain_run(out, r, scratch, begin, end, 1, 0, 1, false, false, false);
    if (n_steps == 1) return chain_run(out, r, scratch, begin, end, n_shares, share, 1, false, priced, false);
    return chain_run(out, r, scratch, begin, end, n_shares, share, n_steps, false, priced, false);
}

/* The entries of the next n_blocks blocks, which come from the run that begins at `begin`. */
static inline __attribute__((always_inline)) kn_status join_entries(kn_blocks *out, const roll_up *r,
                                                                    run_scratch *scratch, uint32_t begin,
                                                                    uint32_t n_blocks, bool listed, uint32_t width,
                                                                    uint32_t n_counts, uint32_t n_words, kn_error *err)
{
    enum { AHEAD = 12 };
    const uint16_t *from_inner = r->from->inner;
    const uint32_t *from_start = r->from->start, *from_counts = r->from->counts;
    const uint32_t *first = scratch->first, *next = scratch->next, *list = scratch->list;
    uint32_t *restrict where = scratch->where, *restrict start = out->start + out->n, *restrict counts = out->counts;
    uint16_t *restrict inner = out->inner;
    uint32_t n = out->n_entries, n_listed = listed ? first[n_blocks] : 0;
    for (uint32_t block = 0; block < n_blocks; block++) {
        uint32_t begin_entries = start[block] = n;
        for (uint32_t at_block = first[block]; listed ? at_block < first[block + 1] : at_block != KN_NONE;
             at_block = listed ? at_block + 1 : next[at_block - begin]) {
            const uint32_t i = listed ? list[at_block] : at_block;
            if (listed && at_block + 2 * AHEAD < n_listed) {
                uint32_t soon = from_start[list[at_block + AHEAD]];
                __builtin_prefetch(&from_start[list[at_block + 2 * AHEAD]]);
                __builtin_prefetch(&from_inner[soon]);
                __builtin_prefetch(&from_counts[(size_t)soon * width]);
            }
            for (uint32_t e = from_start[i], end = from_start[i + 1]; e < end; e++) {
                uint32_t value = from_inner[e], at = where[value];
                const lanes4 *more = (const lanes4 *)(from_counts + (size_t)e * width);
                lanes4 *to;
                /* what an earlier block left in the table lies before `begin_entries` or holds another value */
                bool is_new = at < begin_entries || at >= n || inner[at] != value;
                if (is_new) {
                    at = where[value] = n++;
                    inner[at] = (uint16_t)value;
                    to = (lanes4 *)(counts + (size_t)at * width);
                    for (uint32_t w = 0; w < width / 4; w++) to[w] = more[w];
                } else {
                    to = (lanes4 *)(counts + (size_t)at * width);
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

static kn_status join_any(kn_blocks *out, const roll_up *r, run_scratch *scratch, uint32_t begin, uint32_t n_blocks,
                          bool listed, kn_error *err)
{
    const kn_block_lattice *b = r->roller->lattice;
    if (b->width == 4 && b->n_words == 0)
        return listed ? join_entries(out, r, scratch, begin, n_blocks, true, 4, 4, 0, err)
                      : join_entries(out, r, scratch, begin, n_blocks, false, 4, 4, 0, err);
    if (b->width == 4 && b->n_words == 1) return join_entries(out, r, scratch, begin, n_blocks, listed, 4, 4, 1, err);
    if (b->width == 8 && b->n_counts == 4) return join_entries(out, r, scratch, begin, n_blocks, listed, 8, 4, 0, err);
    return join_entries(out, r, scratch, begin, n_blocks, listed, b->width, b->n_counts, b->n_words, err);
}

/* The same from sorted tuples. */
static kn_status join_tuples(kn_blocks *out, const roll_up *r, run_scratch *scratch, uint32_t begin, uint32_t n_blocks,
                             bool listed, kn_error *err)
{
    enum { AHEAD = 16 };
    const kn_block_lattice *b = r->roller->lattice;
    const uint32_t width = b->width;
    const uint32_t *first = scratch->first, *next = scratch->next, *list = scratch->list;
    uint32_t *where = scratch->where, n_listed = listed ? first[n_blocks] : 0;
    for (uint32_t block = 0; block < n_blocks; block++) {
        uint32_t begin_entries = out->start[out->n + block] = out->n_entries;
        for (uint32_t at_block = first[block]; listed ? at_block < first[block + 1] : at_block != KN_NONE;
             at_block = listed ? at_block + 1 : next[at_block - begin]) {
            const uint32_t i = listed ? list[at_block] : at_block;
            if (listed && at_block + AHEAD < n_listed) {
                __builtin_prefetch(&r->from->keys[list[at_block + AHEAD]]);
                __builtin_prefetch(&r->from->tuples[list[at_block + AHEAD]]);
            }
            uint64_t word = r->from->keys[i];
            uint32_t lane = (uint32_t)word & ((1u << KN_FLAT_LANE_BITS) - 1), tuple = r->from->tuples[i];
            uint32_t value = (uint32_t)(word >> KN_FLAT_LANE_BITS) & ((1u << b->n_inner_bits) - 1), at = where[value];
            bool is_new = at < begin_entries || at >= out->n_entries || out->inner[at] != value;
            if (is_new) {
                at = where[value] = out->n_entries++;
                out->inner[at] = (uint16_t)value;
                memset(out->counts + (size_t)at * width, 0, width * sizeof *out->counts);
            }
            if (b->flat_rows) out->counts[(size_t)at * width + lane] += tuple;
            else add_tuple(out->counts + (size_t)at * width, b, tuple, lane);
            if (b->n_words == 0) continue;
            tuple_values(&scratch->one, b, tuple, lane);
            if (join_values(out, at, is_new, &scratch->one, 0, b, b->n_words, err) != KN_OK) return KN_RESOURCES;
        }
    }
    return KN_OK;
}

/* The same where only the outermost column changes and a tuple is its number of rows: positions of a level stand in the
 * order of those below it, so that what meets are neighbours, and one look at each tuple will do. */
static kn_status roll_neighbours(kn_blocks *out, const roll_up *r, run_scratch *scratch, uint32_t begin, uint32_t end,
                                 kn_error *err)
{
    kn_status status = KN_OK;
    enum { AT_A_TIME = 1 << 12 };
    const kn_block_lattice *b = r->roller->lattice;
    const uint64_t *words = r->from->keys;
    const uint32_t *rows = r->from->tuples, n_low = kn_flat_low_bits(b), last_value = (1u << b->n_inner_bits) - 1;
    uint32_t *where = scratch->where, n = 0, n_entries = 0, begin_entries = 0;
    uint64_t last_key = UINT64_MAX; /* no key: they have 63 bits */
    for (uint32_t stop; begin < end; begin = stop) {
        stop = end - begin < AT_A_TIME ? end : begin + AT_A_TIME;
        size_t most = (size_t)n + AT_A_TIME, most_entries = (size_t)n_entries + AT_A_TIME;
        if (most > out->capacity || most_entries > out->entries_capacity)
            KN_TRY(blocks_grow(out, b, most + most / 2, most_entries + most_entries / 2, err));
        uint64_t *restrict keys = out->keys;
        uint16_t *restrict inner = out->inner;
        for (uint32_t i = begin; i < stop; i++) {
            uint64_t key = words[i] >> n_low;
            raise_block(&key, NULL, r->steps, r->n_steps);
            if (key != last_key) {
                assert(n == 0 || key > last_key);
                last_key = keys[n] = key;
                out->start[n++] = begin_entries = n_entries;
            }
            uint32_t lane = (uint32_t)words[i] & ((1u << KN_FLAT_LANE_BITS) - 1),
                     value = (uint32_t)(words[i] >> KN_FLAT_LANE_BITS) & last_value;
            uint32_t at = where[value];
            if (at < begin_entries || at >= n_entries || inner[at] != value) {
                at = where[value] = n_entries++;
                inner[at] = (uint16_t)value;
                ((lanes4 *)out->counts)[at] = (lanes4){0};
            }
            out->counts[(size_t)at * KN_LATTICE_LANES + lane] += rows[i];
        }
    }
    out->n = n;
    out->n_entries = out->start[n] = n_entries;
done:
    return status;
}

/* Rolls up the blocks [begin, end) of the source, which hold whole runs. */
static kn_status roll_part(kn_blocks *out, const roll_up *r, run_scratch *scratch, uint32_t begin, uint32_t end,
                           uint32_t share, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = r->roller->lattice;
    const kn_blocks *from = r->from;
    const uint64_t *keys = from->keys;
    const uint32_t *starts = from->start;
    const bool flat = from->tuples != NULL;
    out->n = out->n_entries = out->n_slots = 0;
    if (r->neighbours) {
        KN_TRY(blocks_grow(out, b, 16, 16, err)); /* also where there is no row */
        return roll_neighbours(out, r, scratch, begin, end, err);
    }
    KN_TRY(
        blocks_grow(out, b, (end - begin) / 8 + 16, (first_entry(from, end) - first_entry(from, begin)) / 8 + 16, err));
    for (uint32_t run_end; begin < end; begin = run_end) {
        uint64_t run = run_of(r, keys[begin]);
        for (run_end = begin + 1; run_end < end && run_of(r, keys[run_end]) == run;) run_end++;
        size_t n = (size_t)out->n + (run_end - begin);
        size_t n_entries = (size_t)out->n_entries + (flat ? run_end - begin : starts[run_end] - starts[begin]);
        if (n > out->capacity || n_entries > out->entries_capacity)
            KN_TRY(blocks_grow(out, b, n > out->capacity ? n + n / 2 : n,
                               n_entries > out->entries_capacity ? n_entries + n_entries / 2 : n_entries, err));
        KN_TRY(scratch_reserve(scratch, run_end - begin, err));
        uint32_t n_blocks = chain_any(out, r, scratch, begin, run_end, share);
        KN_TRY(flat ? join_tuples(out, r, scratch, begin, n_blocks, is_listed(run_end - begin), err)
                    : join_any(out, r, scratch, begin, n_blocks, is_listed(run_end - begin), err));
        out->n += n_blocks;
    }
    out->start[out->n] = out->n_entries;
done:
    return status;
}

static kn_status roll_part_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    const roll_up *r = context;
    kn_blocks *part = r->parts != NULL ? &r->parts[job] : job == 0 ? r->out : &r->roller->parts[job];
    uint32_t begin = r->shared ? 0 : r->ends[job], end = r->shared ? r->from->n : r->ends[job + 1];
    return roll_part(part, r, &r->roller->scratch[worker], begin, end, (uint32_t)job, err);
}

static void cut_between_runs(roll_up *r)
{
    const kn_blocks *from = r->from;
    uint32_t wanted = r->n_parts;
    r->n_parts = 0;
    r->ends[0] = 0;
    for (uint32_t i = 1; i < wanted; i++) {
        uint32_t end = (uint32_t)((uint64_t)from->n * i / wanted);
        while (end < from->n && run_of(r, from->keys[end]) == run_of(r, from->keys[end - 1])) end++;
        if (end > r->ends[r->n_parts] && end < from->n) r->ends[++r->n_parts] = end;
    }
    r->ends[++r->n_parts] = from->n;
}

static void share_out(roll_up *r)
{
    const kn_blocks *from = r->from;
    r->n_parts = from->n_entries / LEAST_PART;
    if (r->n_parts > r->roller->n_threads) r->n_parts = r->roller->n_threads;
    if (r->n_parts > MOST_PARTS) r->n_parts = MOST_PARTS;
    if (r->n_parts < 2) {
        r->n_parts = 1;
        r->ends[0] = 0;
        r->ends[1] = from->n;
    } else if (from->n <= KN_BLOCKS_SMALL || r->run_shift == 64) {
        r->shared = true;
        r->run_shift = 64;
    } else {
        cut_between_runs(r);
    }
}

/* Behind what is there; parts may lie in the same memory, further back. */
static void append(kn_blocks *out, const kn_blocks *part, const kn_block_lattice *b)
{
    const uint32_t width = b->width, n_words = b->n_words;
    for (size_t i = 0; i < (size_t)part->n_entries * n_words; i++) {
        uint64_t word = part->words[i];
        out->words[(size_t)out->n_entries * n_words + i] =
            word + (kn_values_n(word) == KN_VALUES_LANES ? out->n_slots : 0);
    }
    if (part->n_slots > 0)
        memcpy(out->values + (size_t)out->n_slots * b->values_width, part->values,
               (size_t)part->n_slots * b->values_width * sizeof *part->values);
    out->n_slots += part->n_slots;
    memmove(out->keys + out->n, part->keys, part->n * sizeof *part->keys);
    if (b->prices != NULL) memmove(out->prices + out->n, part->prices, part->n * sizeof *part->prices);
    for (uint32_t i = 0; i <= part->n; i++) out->start[out->n + i] = out->n_entries + part->start[i];
    memmove(out->inner + out->n_entries, part->inner, part->n_entries * sizeof *part->inner);
    memmove(out->counts + (size_t)out->n_entries * width, part->counts,
            (size_t)part->n_entries * width * sizeof *part->counts);
    out->n += part->n;
    out->n_entries += part->n_entries;
}

/* Each part has memory of its own, which is kept for the next time: such sources are small. */
static kn_status roll_shares(roll_up *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_blocks *out = r->out, *parts = r->roller->parts;
    KN_TRY(kn_pool_run(r->roller->pool, r->n_parts, roll_part_job, r, err));
    size_t n = out->n, n_entries = out->n_entries, n_slots = out->n_slots;
    for (uint32_t i = 1; i < r->n_parts; i++) {
        n += parts[i].n;
        n_entries += parts[i].n_entries;
        n_slots += parts[i].n_slots;
    }
    KN_TRY(slots_grow(out, r->roller->lattice, n_slots, err));
    KN_TRY(blocks_grow(out, r->roller->lattice, n, n_entries, err));
    for (uint32_t i = 1; i < r->n_parts; i++) append(out, &parts[i], r->roller->lattice);
done:
    return status;
}

/* The parts lie in the result, each from where its source begins; then they move together. */
static kn_status roll_stretches(roll_up *r, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = r->roller->lattice;
    kn_blocks *out = r->out, views[MOST_PARTS] = {{0}};
    size_t n_slots = 0;
    assert(b->prices == NULL);
    out->n = out->n_entries = out->n_slots = 0;
    KN_TRY(blocks_grow(out, b, (size_t)r->from->n + r->n_parts, r->from->n_entries, err));
    for (uint32_t i = 0; i < r->n_parts; i++) {
        uint32_t begin = r->ends[i], first = first_entry(r->from, begin);
        views[i] = (kn_blocks){.levels = out->levels,
                               .keys = out->keys + begin,
                               .start = out->start + begin + i,
                               .inner = out->inner + first,
                               .counts = out->counts + (size_t)first * b->width,
                               .words = out->words + (size_t)first * b->n_words,
                               .capacity = UINT32_MAX,
                               .entries_capacity = UINT32_MAX};
    }
    r->parts = views;
    KN_TRY(kn_pool_run(r->roller->pool, r->n_parts, roll_part_job, r, err));
    for (uint32_t i = 0; i < r->n_parts; i++) n_slots += views[i].n_slots;
    KN_TRY(slots_grow(out, b, n_slots, err));
    for (uint32_t i = 0; i < r->n_parts; i++) append(out, &views[i], b);
done:
    for (uint32_t i = 0; i < MOST_PARTS; i++) kn_free(views[i].values);
    return status;
}

kn_status kn_blocks_roll(kn_blocks *out, const kn_blocks *from, const uint32_t *levels, kn_block_roller *roller,
                         kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = roller->lattice;
    roll_up r = {.from = from, .out = out, .roller = roller, .run_shift = 64};
    uint32_t innermost = from->together;
    for (uint32_t d = 0; d < b->n_outer; d++)
        if (levels[b->outer[d]] != from->levels[b->outer[d]] && innermost < d + 1) innermost = d + 1;
    if (innermost < b->n_outer)
        r.run_shift = b->outer_shift[innermost] + (from->tuples != NULL ? kn_flat_low_bits(b) : 0);
    r.n_steps = make_steps(r.steps, from, levels, roller);
    share_out(&r); /* shares know no neighbours */
    r.neighbours = from->tuples != NULL && b->flat_rows && b->prices == NULL && innermost <= 1 && !r.shared;
    KN_TRY(r.shared || r.n_parts == 1 ? roll_shares(&r, err) : roll_stretches(&r, err));
    out->together = r.shared ? b->n_outer : innermost;
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) out->levels[q] = from->levels[q];
    for (uint32_t d = 0; d < b->n_outer; d++) out->levels[b->outer[d]] = levels[b->outer[d]];
done:
    return status;
}
