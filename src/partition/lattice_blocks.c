/* Blocks of groups; see the header. A roll-up hashes the blocks' keys, chains the blocks that meet, and joins their
 * entries through a table by inner value, which is small enough to stay in the first cache.
 *
 * The base is sorted by key, and the fields of the outer columns stand in the key from low to high bits. So what meets
 * when the outermost column is rolled up are neighbours; and as long as columns are rolled up from the outermost
 * inwards, what can meet stands together in a *run* of blocks that agree in all columns further in. Each run has a hash
 * table of its own, which stays in the cache however large the table is. On the pool, sources beyond the cache are cut
 * between runs; of smaller ones each thread takes the blocks whose new key hashes to it, which shares the work evenly
 * where runs are few, and costs the order, which they can do without. */
#include "partition/block_values.h"

#include "base/radix_sort.h"

#include <assert.h>
#include <string.h>

typedef uint32_t lanes4 __attribute__((vector_size(16), may_alias));

enum { LANE_BITS = 2, MOST_OUTER = 64, MOST_PARTS = 64 };
enum { LEAST_PART = 1 << 15, SMALL = 1 << 18, LEAST_LISTED = 1 << 16, FEW = 8 };
/* LEAST_PART in entries; SMALL in blocks: what a hash table in the cache can hold; LEAST_LISTED in blocks of a run; FEW
 * are looked through one by one. */

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

/* --- Layout ---------------------------------------------------------------------------------------------------- */

static uint32_t bits_for(uint32_t n)
{
    uint32_t n_bits = 0;
    while (n_bits < 32 && (1ull << n_bits) < n) n_bits++;
    return n_bits;
}

/* Two columns of two values, or one of at most four, whose only other level is a single node. */
static void choose_riders(kn_block_lattice *b)
{
    uint32_t n_binary = 0, binary[KN_LATTICE_MAX_RIDERS], widest = KN_NONE, most = 1;
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &b->lattice->columns[q];
        if (column->max_level != column->min_level + 1 || column->levels[column->max_level].n != 1) continue;
        uint32_t n = column->levels[column->min_level].n;
        if (n == 2 && n_binary < KN_LATTICE_MAX_RIDERS) binary[n_binary++] = q;
        if (n <= KN_LATTICE_LANES && n > most) {
            most = n;
            widest = q;
        }
    }
    if (n_binary == KN_LATTICE_MAX_RIDERS) {
        b->n_riders = n_binary;
        memcpy(b->riders, binary, sizeof binary);
    } else if (widest != KN_NONE) {
        b->n_riders = 1;
        b->riders[0] = widest;
    }
    for (uint32_t r = 0; r < b->n_riders; r++) b->rider_stride[r] = b->n_riders == 2 && r == 0 ? 2 : 1;
}

/* The columns of `order` that are no riders: the last ones inner as far as allowed, the others outer. */
static void choose_inner(kn_block_lattice *b, const uint32_t *order, uint32_t n_order, uint32_t max_combos)
{
    b->n_combos = 1;
    b->n_outer = 0;
    for (uint32_t d = 0; d < n_order; d++) {
        bool rides = false;
        for (uint32_t r = 0; r < b->n_riders; r++) rides = rides || b->riders[r] == order[d];
        if (!rides) b->outer[b->n_outer++] = order[d];
    }
    order = b->outer;
    if (max_combos > KN_BLOCK_MAX_COMBOS) max_combos = KN_BLOCK_MAX_COMBOS;
    while (b->n_outer > 1 && b->n_inner < KN_BLOCK_MAX_INNER) {
        uint32_t q = order[b->n_outer - 1];
        const kn_lattice_column *column = &b->lattice->columns[q];
        uint32_t n_levels = column->max_level - column->min_level + 1;
        uint32_t n_bits = bits_for(column->levels[column->min_level].n);
        if (b->n_combos * n_levels > max_combos || b->n_inner_bits + n_bits > KN_BLOCK_MAX_INNER_BITS) break;
        b->inner[b->n_inner] = q;
        b->inner_shift[b->n_inner] = b->n_inner_bits;
        b->inner_bits[b->n_inner++] = n_bits;
        b->n_inner_bits += n_bits;
        b->n_combos *= n_levels;
        b->n_outer--;
    }
}

/* How the inner values of the combo one level lower in inner column i become those of combo c. */
static void raise_values(uint16_t *raised, const kn_block_lattice *b, uint32_t c, uint32_t i)
{
    const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
    const kn_lattice_level *low = &column->levels[b->combo_level[c][i] - 1],
                           *high = &column->levels[b->combo_level[c][i]];
    uint32_t mask = (1u << b->inner_bits[i]) - 1;
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
        uint32_t position = value >> b->inner_shift[i] & mask;
        if (position >= low->n) continue; /* no such value */
        raised[value] = (uint16_t)((value & ~(mask << b->inner_shift[i])) | high->of_code[low->first_code[position]]
                                                                                << b->inner_shift[i]);
    }
}

static kn_status number_combos(kn_block_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(b->raised, (size_t)b->n_combos * b->n_inner << b->n_inner_bits);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        uint32_t rest = c, stride = 1;
        for (uint32_t i = 0; i < b->n_inner; i++) {
            const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
            uint32_t n_levels = column->max_level - column->min_level + 1;
            b->combo_level[c][i] = column->min_level + rest % n_levels;
            b->below[c][i] = rest % n_levels > 0 ? c - stride : KN_NONE;
            rest /= n_levels;
            stride *= n_levels;
            if (b->below[c][i] != KN_NONE)
                raise_values(b->raised + (((size_t)c * b->n_inner + i) << b->n_inner_bits), b, c, i);
        }
    }
    for (uint32_t c = 0; c < b->n_combos; c++)
        for (uint32_t other = c; other < b->n_combos; other++) {
            bool above = true;
            for (uint32_t i = 0; i < b->n_inner; i++) above = above && b->combo_level[other][i] >= b->combo_level[c][i];
            if (above) b->above[c] |= 1u << other;
        }
done:
    return status;
}

/* False when the key does not fit. */
static bool place_outer(kn_block_lattice *b)
{
    if (b->n_outer > MOST_OUTER) return false;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        const kn_lattice_column *column = &b->lattice->columns[b->outer[d]];
        b->outer_bits[d] = bits_for(column->levels[column->min_level].n);
        b->outer_shift[d] = b->n_key_bits;
        b->n_key_bits += b->outer_bits[d];
        if (b->n_key_bits + b->n_inner_bits + LANE_BITS > 63) return false;
    }
    return true;
}

/* Bit sets of sensitive values, of columns where more than one is asked for. */
static kn_status place_sets(kn_block_lattice *b, const uint32_t *least_values, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = b->lattice->tuples;
    KN_NEW(b->n_set_lanes, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        if (least_values[s] > 1)
            b->n_set_lanes[s] = (tuples->sensitive[s].n_values + KN_BLOCK_SET_VALUES - 1) / KN_BLOCK_SET_VALUES;
        b->width += KN_LATTICE_LANES * b->n_set_lanes[s];
    }
done:
    return status;
}

/* Where the counts of sensitive values stand in a slot; whole vectors. */
static kn_status place_values(kn_block_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = b->lattice->tuples;
    b->n_words = tuples->n_sensitive;
    b->most_listed = KN_VALUES_MOST_LISTED;
    KN_NEW(b->values_at, b->n_words);
    b->values_lanes = b->n_riders > 0 ? KN_LATTICE_LANES : 1;
    for (uint32_t s = 0; s < b->n_words; s++) {
        b->values_at[s] = b->values_width;
        b->values_width +=
            (b->values_lanes * tuples->sensitive[s].n_values + 15) / 16 * 16; /* whole vectors also of bytes */
    }
done:
    return status;
}

static int64_t price_of(const kn_block_lattice *b, uint32_t q, uint32_t level, uint32_t position)
{
    return b->prices != NULL ? b->prices[q][level][position] : 0;
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

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

/* A tuple in one word, which the base is sorted by: key, inner value, lane of its riders, from high to low bits. */
static uint32_t low_bits(const kn_block_lattice *b) { return b->n_inner_bits + LANE_BITS; }

typedef struct word_jobs {
    const kn_block_lattice *b;
    uint64_t *words;
    uint32_t *tuples;
} word_jobs;

enum { TUPLES_PER_JOB = 1 << 15 };

static void add_field(uint64_t *words, const kn_block_lattice *b, uint32_t q, uint32_t begin, uint32_t end,
                      uint64_t factor)
{
    const kn_lattice_column *column = &b->lattice->columns[q];
    const uint32_t *of_code = column->levels[column->min_level].of_code, *codes = b->lattice->tuples->codes[q];
    for (uint32_t t = begin; t < end; t++) words[t] += of_code[codes[t]] * factor;
}

static kn_status fill_words(void *context, size_t job, unsigned worker, kn_error *err)
{
    const word_jobs *jobs = context;
    const kn_block_lattice *b = jobs->b;
    uint32_t begin = (uint32_t)job * TUPLES_PER_JOB, rest = b->lattice->tuples->n_tuples - begin;
    uint32_t end = begin + (rest < TUPLES_PER_JOB ? rest : TUPLES_PER_JOB);
    for (uint32_t t = begin; t < end; t++) {
        jobs->words[t] = 0;
        jobs->tuples[t] = b->flat_rows ? b->lattice->tuples->rows[t] : t;
    }
    for (uint32_t d = 0; d < b->n_outer; d++)
        add_field(jobs->words, b, b->outer[d], begin, end, 1ull << (b->outer_shift[d] + low_bits(b)));
    for (uint32_t i = 0; i < b->n_inner; i++)
        add_field(jobs->words, b, b->inner[i], begin, end, 1ull << (b->inner_shift[i] + LANE_BITS));
    for (uint32_t r = 0; r < b->n_riders; r++) add_field(jobs->words, b, b->riders[r], begin, end, b->rider_stride[r]);
    return KN_OK;
}

/* Sorted tuples; where they are few, the blocks that they make. */
static kn_status make_base(kn_block_lattice *b, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = b->lattice->tuples->n_tuples;
    kn_blocks flat = {.n = n, .n_entries = n, .capacity = n};
    kn_block_roller *roller = NULL;
    KN_NEW(flat.levels, b->lattice->tuples->n_qis);
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) flat.levels[q] = b->lattice->columns[q].min_level;
    KN_NEW_RAW(flat.keys, n);
    KN_NEW_RAW(flat.tuples, n);
    word_jobs jobs = {b, flat.keys, flat.tuples};
    KN_TRY(kn_pool_run(pool, ((size_t)n + TUPLES_PER_JOB - 1) / TUPLES_PER_JOB, fill_words, &jobs, err));
    KN_TRY(kn_radix_sort(flat.keys, flat.tuples, n, b->n_key_bits + low_bits(b), pool, err));
    if (n <= SMALL) {
        KN_TRY(kn_block_roller_new(&roller, b, NULL, err)); /* threads would cost the order */
        KN_TRY(kn_blocks_roll(&b->base, &flat, flat.levels, roller, err));
    } else {
        b->base = flat;
        flat = (kn_blocks){0};
    }
done:
    kn_block_roller_free(roller);
    kn_blocks_free(&flat);
    return status;
}

kn_status kn_block_lattice_new(kn_block_lattice **out, const kn_lattice *lattice, const uint32_t *order,
                               uint32_t n_order, int64_t ***prices, uint32_t max_combos, const uint32_t *least_values,
                               kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_block_lattice *b = NULL;
    *out = NULL;
    if (lattice->tuples->n_repeats > 0 || lattice->tuples->n_rows > INT32_MAX) goto done;
    const uint32_t most_values = least_values != NULL ? KN_BLOCK_MAX_SET_VALUES : KN_VALUES_MOST;
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++)
        if (lattice->tuples->sensitive[s].n_values > most_values) goto done;
    KN_NEW(b, 1);
    b->lattice = lattice;
    if (lattice->tuples->n_tuples <= SMALL) b->prices = prices;
    b->width = b->n_counts = KN_LATTICE_LANES * (lattice->has_persons ? 2 : 1);
    KN_NEW(b->outer, (size_t)n_order + 1);
    KN_NEW(b->outer_shift, (size_t)n_order + 1);
    KN_NEW(b->outer_bits, (size_t)n_order + 1);
    choose_riders(b);
    choose_inner(b, order, n_order, max_combos);
    if (!place_outer(b)) goto done;
    if (lattice->has_histograms && least_values != NULL) KN_TRY(place_sets(b, least_values, err));
    else if (lattice->has_histograms) KN_TRY(place_values(b, err));
    b->flat_rows = b->width == KN_LATTICE_LANES && b->n_words == 0;
    KN_TRY(number_combos(b, err));
    KN_TRY(make_base(b, pool, err));
    *out = b;
    b = NULL;
done:
    kn_block_lattice_free(b);
    return status;
}

void kn_block_lattice_free(kn_block_lattice *blocks)
{
    if (blocks == NULL) return;
    kn_blocks_free(&blocks->base);
    kn_free(blocks->outer);
    kn_free(blocks->outer_shift);
    kn_free(blocks->outer_bits);
    kn_free(blocks->raised);
    kn_free(blocks->n_set_lanes);
    kn_free(blocks->values_at);
    kn_free(blocks);
}

/* --- Roll-up --------------------------------------------------------------------------------------------------- */

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
    step steps[MOST_OUTER];
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
    KN_NEW_RAW(scratch->slots, (size_t)1 << bits_for((uint32_t)(2 * n)));
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
    const uint32_t key_shift = flat ? low_bits(r->roller->lattice) : 0;
    const uint64_t *from_keys = r->from->keys;
    const int64_t *from_prices = r->from->prices;
    uint64_t *restrict keys = out->keys + out->n;
    int64_t *restrict prices = priced ? out->prices + out->n : NULL;
    uint32_t *restrict slots = scratch->slots, *restrict next = scratch->next, *restrict first = scratch->first,
                       *restrict last = scratch->last;
    const step only = r->steps[0], *steps = n_steps == 1 ? &only : r->steps;
    uint32_t n = 0, slot_bits = bits_for(2 * (end - begin));
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
            uint32_t lane = (uint32_t)word & ((1u << LANE_BITS) - 1), tuple = r->from->tuples[i];
            uint32_t value = (uint32_t)(word >> LANE_BITS) & ((1u << b->n_inner_bits) - 1), at = where[value];
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
    const uint32_t *rows = r->from->tuples, n_low = low_bits(b), last_value = (1u << b->n_inner_bits) - 1;
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
            uint32_t lane = (uint32_t)words[i] & ((1u << LANE_BITS) - 1),
                     value = (uint32_t)(words[i] >> LANE_BITS) & last_value;
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
    } else if (from->n <= SMALL || r->run_shift == 64) {
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
    if (innermost < b->n_outer) r.run_shift = b->outer_shift[innermost] + (from->tuples != NULL ? low_bits(b) : 0);
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
