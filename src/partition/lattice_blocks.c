/* Blocks of groups; see the header. A roll-up hashes the blocks' keys, chains the blocks that meet, and joins their
 * entries through a table by inner value, which is small enough to stay in the first cache. Blocks stand in the order
 * in which their keys first occur in the source. */
#include "partition/block_values.h"

#include <assert.h>
#include <string.h>

typedef uint32_t lanes4 __attribute__((vector_size(16), may_alias));

enum { MOST_OUTER = 64 };

struct kn_block_roller {
    const kn_block_lattice *lattice;
    uint32_t *slots;
    size_t n_slots;
    uint32_t *next;          /* [block of the source]: the next one with the same result */
    uint32_t *first, *last;  /* [block of the result]: ends of its chain */
    size_t n_chain;
    uint32_t *where;         /* [inner]: entry of the result that may hold this inner value */
    uint64_t **table;        /* [index into outer][position] */
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
    const kn_lattice_level *low = &column->levels[b->combo_level[c][i] - 1], *high = &column->levels[b->combo_level[c][i]];
    uint32_t mask = (1u << b->inner_bits[i]) - 1;
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
        uint32_t position = value >> b->inner_shift[i] & mask;
        if (position >= low->n) continue; /* no such value */
        raised[value] = (uint16_t)((value & ~(mask << b->inner_shift[i])) |
                                   high->of_code[low->first_code[position]] << b->inner_shift[i]);
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
    uint32_t used = 0;
    if (b->n_outer > MOST_OUTER) return false;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        const kn_lattice_column *column = &b->lattice->columns[b->outer[d]];
        b->outer_bits[d] = bits_for(column->levels[column->min_level].n);
        b->outer_shift[d] = used;
        used += b->outer_bits[d];
        if (used > 63) return false;
    }
    return true;
}

/* Where the counts of sensitive values stand in a slot; whole vectors. */
static kn_status place_values(kn_block_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = b->lattice->tuples;
    uint32_t n_lanes = b->n_riders > 0 ? KN_LATTICE_LANES : 1;
    b->n_words = tuples->n_sensitive;
    b->most_listed = KN_VALUES_MOST_LISTED;
    KN_NEW(b->values_at, b->n_words);
    KN_NEW(b->values_lane, b->n_words);
    for (uint32_t s = 0; s < b->n_words; s++) {
        b->values_at[s] = b->values_width;
        b->values_lane[s] = (tuples->sensitive[s].n_values + 3) / 4 * 4;
        b->values_width += n_lanes * b->values_lane[s];
    }
done:
    return status;
}

static int64_t price_of(const kn_block_lattice *b, uint32_t q, uint32_t level, uint32_t position)
{
    return b->prices != NULL ? b->prices[q][level][position] : 0;
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

static kn_status blocks_reserve(kn_blocks *blocks, const kn_block_lattice *b, uint32_t n, uint32_t n_entries,
                                kn_error *err)
{
    kn_status status = KN_OK;
    if (blocks->levels == NULL) KN_NEW(blocks->levels, b->lattice->tuples->n_qis);
    if (n > blocks->capacity || blocks->start == NULL) {
        kn_free(blocks->keys);
        kn_free(blocks->prices);
        kn_free(blocks->start);
        blocks->keys = NULL;
        blocks->prices = NULL;
        blocks->start = NULL;
        blocks->capacity = 0;
        KN_NEW_RAW(blocks->keys, (size_t)n + 1);
        KN_NEW_RAW(blocks->prices, (size_t)n + 1);
        KN_NEW_RAW(blocks->start, (size_t)n + 2);
        blocks->capacity = n;
    }
    if (n_entries > blocks->entries_capacity || blocks->counts == NULL) {
        kn_free(blocks->inner);
        kn_free(blocks->counts);
        kn_free(blocks->words);
        blocks->inner = NULL;
        blocks->counts = NULL;
        blocks->words = NULL;
        blocks->entries_capacity = 0;
        KN_NEW_RAW(blocks->inner, (size_t)n_entries + 1);
        KN_NEW_RAW(blocks->words, ((size_t)n_entries + 1) * b->n_words);
        blocks->counts = kn_array_alloc_aligned(((size_t)n_entries + 1) * b->width, sizeof *blocks->counts, err);
        if (blocks->counts == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        blocks->entries_capacity = n_entries;
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
    memset(blocks, 0, sizeof *blocks);
}

size_t kn_blocks_bytes(const kn_block_lattice *lattice, const kn_blocks *blocks)
{
    return (size_t)blocks->capacity * 20 +
           (size_t)blocks->entries_capacity * (2 + 4 * (size_t)lattice->width + 8 * (size_t)lattice->n_words) +
           (size_t)blocks->slots_capacity * lattice->values_width * 4;
}

static kn_status more_slots(kn_blocks *blocks, const kn_block_lattice *b, kn_error *err)
{
    uint32_t grown = blocks->slots_capacity + blocks->slots_capacity / 2 + 64;
    uint32_t *moved = kn_array_resize(blocks->values, (size_t)grown * b->values_width, sizeof *moved, err);
    if (moved == NULL) return KN_RESOURCES;
    blocks->values = moved;
    blocks->slots_capacity = grown;
    return KN_OK;
}

static uint32_t rider_lane(const kn_block_lattice *b, uint32_t tuple)
{
    uint32_t lane = 0;
    for (uint32_t r = 0; r < b->n_riders; r++) {
        const kn_lattice_column *column = &b->lattice->columns[b->riders[r]];
        uint32_t code = b->lattice->tuples->codes[b->riders[r]][tuple];
        lane += column->levels[column->min_level].of_code[code] * b->rider_stride[r];
    }
    return lane;
}

/* The sensitive values of a tuple, as those of its entry. */
static kn_status tuple_values(kn_blocks *raw, const kn_block_lattice *b, uint32_t t, uint32_t lane, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = b->lattice->tuples;
    uint64_t *words = raw->words + (size_t)t * b->n_words;
    bool listed = tuples->rows[t] <= b->most_listed;
    if (!listed && raw->n_slots == raw->slots_capacity) KN_TRY(more_slots(raw, b, err));
    uint32_t *slot = raw->values + (size_t)raw->n_slots * b->values_width;
    if (!listed) memset(slot, 0, b->values_width * sizeof *slot);
    for (uint32_t s = 0; s < b->n_words; s++) {
        const kn_sensitive *sensitive = &tuples->sensitive[s];
        words[s] = listed ? 0 : (uint64_t)KN_VALUES_LANES << 56 | raw->n_slots;
        for (uint32_t e = sensitive->start[t]; e < sensitive->start[t + 1]; e++) {
            uint64_t row = kn_values_byte(lane, sensitive->values[e]) | (uint64_t)1 << 56;
            if (!listed) slot[b->values_at[s] + lane * b->values_lane[s] + sensitive->values[e]] += sensitive->counts[e];
            for (uint32_t i = 0; listed && i < sensitive->counts[e]; i++) words[s] = kn_values_join(words[s], row);
        }
    }
    raw->n_slots += !listed;
done:
    return status;
}

/* Each tuple a block of one entry. */
static kn_status tuples_as_blocks(kn_blocks *raw, const kn_block_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = b->lattice;
    const kn_tuples *tuples = lattice->tuples;
    KN_TRY(blocks_reserve(raw, b, tuples->n_tuples, tuples->n_tuples, err));
    raw->n = raw->n_entries = tuples->n_tuples;
    memset(raw->keys, 0, (size_t)raw->n * sizeof *raw->keys);
    memset(raw->prices, 0, (size_t)raw->n * sizeof *raw->prices);
    memset(raw->inner, 0, (size_t)raw->n * sizeof *raw->inner);
    for (uint32_t q = 0; q < tuples->n_qis; q++) raw->levels[q] = lattice->columns[q].min_level;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        uint32_t q = b->outer[d];
        const kn_lattice_column *column = &lattice->columns[q];
        const uint32_t *of_code = column->levels[column->min_level].of_code;
        for (uint32_t t = 0; t < raw->n; t++) {
            uint32_t position = of_code[tuples->codes[q][t]];
            raw->keys[t] |= (uint64_t)position << b->outer_shift[d];
            raw->prices[t] += price_of(b, q, column->min_level, position);
        }
    }
    for (uint32_t i = 0; i < b->n_inner; i++) {
        const kn_lattice_column *column = &lattice->columns[b->inner[i]];
        const uint32_t *of_code = column->levels[column->min_level].of_code;
        for (uint32_t t = 0; t < raw->n; t++)
            raw->inner[t] |= (uint16_t)(of_code[tuples->codes[b->inner[i]][t]] << b->inner_shift[i]);
    }
    for (uint32_t t = 0; t < raw->n; t++) {
        uint32_t lane = rider_lane(b, t), *counts = raw->counts + (size_t)t * b->width;
        counts[lane] = tuples->rows[t];
        if (b->width > KN_LATTICE_LANES) counts[KN_LATTICE_LANES + lane] = tuples->persons[t];
        raw->start[t] = t;
        if (b->n_words > 0) KN_TRY(tuple_values(raw, b, t, lane, err));
    }
    raw->start[raw->n] = raw->n;
done:
    return status;
}

kn_status kn_block_lattice_new(kn_block_lattice **out, const kn_lattice *lattice, const uint32_t *order, uint32_t n_order,
                               int64_t ***prices, uint32_t max_combos, kn_error *err)
{
    kn_status status = KN_OK;
    kn_block_lattice *b = NULL;
    kn_block_roller *roller = NULL;
    kn_blocks raw = {0};
    *out = NULL;
    if (lattice->tuples->n_repeats > 0) goto done;
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++)
        if (lattice->tuples->sensitive[s].n_values > 1u << KN_VALUES_BITS) goto done;
    KN_NEW(b, 1);
    b->lattice = lattice;
    b->prices = prices;
    b->width = KN_LATTICE_LANES * (lattice->has_persons ? 2 : 1);
    KN_NEW(b->outer, (size_t)n_order + 1);
    KN_NEW(b->outer_shift, (size_t)n_order + 1);
    KN_NEW(b->outer_bits, (size_t)n_order + 1);
    choose_riders(b);
    choose_inner(b, order, n_order, max_combos);
    if (!place_outer(b)) goto done;
    if (lattice->has_histograms) KN_TRY(place_values(b, err));
    KN_TRY(number_combos(b, err));
    KN_TRY(tuples_as_blocks(&raw, b, err));
    KN_TRY(kn_block_roller_new(&roller, b, err));
    KN_TRY(kn_blocks_roll(&b->base, &raw, raw.levels, roller, err));
    *out = b;
    b = NULL;
done:
    kn_blocks_free(&raw);
    kn_block_roller_free(roller);
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
    kn_free(blocks->values_at);
    kn_free(blocks->values_lane);
    kn_free(blocks);
}

/* --- Roll-up --------------------------------------------------------------------------------------------------- */

kn_status kn_block_roller_new(kn_block_roller **out, const kn_block_lattice *blocks, kn_error *err)
{
    kn_status status = KN_OK;
    kn_block_roller *roller = NULL;
    *out = NULL;
    KN_NEW(roller, 1);
    roller->lattice = blocks;
    KN_NEW(roller->where, (size_t)1 << blocks->n_inner_bits);
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
    kn_free(roller->table);
    kn_free(roller->delta);
    kn_free(roller->slots);
    kn_free(roller->next);
    kn_free(roller->first);
    kn_free(roller->last);
    kn_free(roller->where);
    kn_free(roller);
}

static kn_status roller_reserve(kn_block_roller *roller, uint32_t n, uint32_t slot_bits, kn_error *err)
{
    kn_status status = KN_OK;
    if (roller->n_slots < (size_t)1 << slot_bits) {
        kn_free(roller->slots);
        roller->n_slots = 0;
        KN_NEW_RAW(roller->slots, (size_t)1 << slot_bits);
        roller->n_slots = (size_t)1 << slot_bits;
    }
    if (roller->n_chain < n || roller->next == NULL) {
        kn_free(roller->next);
        kn_free(roller->first);
        kn_free(roller->last);
        roller->next = roller->first = roller->last = NULL;
        roller->n_chain = 0;
        KN_NEW_RAW(roller->next, (size_t)n + 1);
        KN_NEW_RAW(roller->first, (size_t)n + 1);
        KN_NEW_RAW(roller->last, (size_t)n + 1);
        roller->n_chain = n;
    }
    memset(roller->slots, 0xff, sizeof *roller->slots << slot_bits);
done:
    return status;
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

/* Keys and prices of the result, and which blocks meet in it. */
static uint32_t chain_blocks(kn_blocks *out, const kn_blocks *from, const step *steps, uint32_t n_steps,
                             kn_block_roller *roller, uint32_t slot_bits)
{
    uint32_t n = 0, last_slot = (uint32_t)((1ull << slot_bits) - 1), *slots = roller->slots;
    for (uint32_t i = 0; i < from->n; i++) {
        uint64_t key = from->keys[i];
        int64_t price = from->prices[i];
        for (uint32_t j = 0; j < n_steps; j++) {
            uint64_t position = key >> steps[j].shift & steps[j].mask;
            key = (key & ~(steps[j].mask << steps[j].shift)) | steps[j].table[position];
            price += steps[j].delta[position];
        }
        uint32_t slot = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> (64 - slot_bits)), block;
        while ((block = slots[slot]) != KN_NONE && out->keys[block] != key) slot = (slot + 1) & last_slot;
        roller->next[i] = KN_NONE;
        if (block == KN_NONE) {
            slots[slot] = block = n++;
            out->keys[block] = key;
            out->prices[block] = price;
            roller->first[block] = i;
        } else {
            roller->next[roller->last[block]] = i;
        }
        roller->last[block] = i;
    }
    return n;
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
        if (out->n_slots == out->slots_capacity && more_slots(out, b, err) != KN_OK) return KN_RESOURCES;
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

/* The entries of the result, block by block. */
static inline __attribute__((always_inline)) kn_status join_entries(kn_blocks *out, const kn_blocks *from,
                                                                    kn_block_roller *roller, uint32_t width,
                                                                    uint32_t n_words, kn_error *err)
{
    uint32_t n = 0, *where = roller->where;
    const uint16_t *from_inner = from->inner;
    uint16_t *inner = out->inner;
    out->n_slots = 0;
    for (uint32_t block = 0; block < out->n; block++) {
        uint32_t begin = n;
        out->start[block] = n;
        for (uint32_t i = roller->first[block]; i != KN_NONE; i = roller->next[i]) {
            for (uint32_t e = from->start[i]; e < from->start[i + 1]; e++) {
                uint32_t value = from_inner[e], at = where[value];
                const lanes4 *counts = (const lanes4 *)(from->counts + (size_t)e * width);
                /* what an earlier block left in the table lies before `begin` or holds another value */
                bool is_new = at < begin || at >= n || inner[at] != value;
                if (is_new) {
                    at = where[value] = n++;
                    inner[at] = (uint16_t)value;
                    for (uint32_t w = 0; w < width / 4; w++) ((lanes4 *)(out->counts + (size_t)at * width))[w] = counts[w];
                } else {
                    for (uint32_t w = 0; w < width / 4; w++)
                        ((lanes4 *)(out->counts + (size_t)at * width))[w] += counts[w];
                }
                if (n_words > 0 && join_values(out, at, is_new, from, e, roller->lattice, n_words, err) != KN_OK)
                    return KN_RESOURCES;
            }
        }
    }
    out->start[out->n] = out->n_entries = n;
    return KN_OK;
}

kn_status kn_blocks_roll(kn_blocks *out, const kn_blocks *from, const uint32_t *levels, kn_block_roller *roller,
                         kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = roller->lattice;
    step steps[MOST_OUTER];
    uint32_t slot_bits = bits_for(from->n > 8 ? 2 * from->n : 16);
    uint32_t n_steps = make_steps(steps, from, levels, roller);
    KN_TRY(blocks_reserve(out, b, from->n, from->n_entries, err));
    KN_TRY(roller_reserve(roller, from->n, slot_bits, err));
    out->n = chain_blocks(out, from, steps, n_steps, roller, slot_bits);
    if (b->width == 4 && b->n_words == 0) KN_TRY(join_entries(out, from, roller, 4, 0, err));
    else if (b->width == 4 && b->n_words == 1) KN_TRY(join_entries(out, from, roller, 4, 1, err));
    else KN_TRY(join_entries(out, from, roller, b->width, b->n_words, err));
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) out->levels[q] = from->levels[q];
    for (uint32_t d = 0; d < b->n_outer; d++) out->levels[b->outer[d]] = levels[b->outer[d]];
done:
    return status;
}
