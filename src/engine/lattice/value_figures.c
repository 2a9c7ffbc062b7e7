/* Figures of sensitive values by blocks; see the header. Rows are counted for all combos at once, those of the outer
 * columns block by block; outer columns of many positions are not counted, their rows are priced at once.
 *
 * Cost: a few additions per suppressed row and combo, per class that holds what its price costs, per pass a look at
 * every position with each sensitive value. */
#include "engine/lattice/value_figures.h"

#include "engine/lattice/block_values.h"

#include <string.h>

/* More places of a column do not stay in the cache, and would have to be looked at in every pass. */
enum { MOST_PLACES = 256 };

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t lanes4_wide __attribute__((vector_size(32)));
typedef uint32_t lanes8 __attribute__((vector_size(32), may_alias, aligned(16))); /* of two combos */

/* A sum of prices of classes by merged set, in units of 2^-32 and of 2^-64: no order of the classes changes it. A class
 * costs no more than its rows, so neither overflows. */
typedef struct class_sums {
    uint64_t high[4], low[4];
} class_sums;

/* The parts of a sum of prices, by merged set. */
typedef struct wide_sums {
    lanes4_wide high, low;
} wide_sums;

/* Suppressed rows by sensitive value of one column. For each place and value there are n_slots numbers: what is
 * suppressed at each combo, then what is so at all of them; lane m: in merged set m. */
typedef struct counted {
    uint32_t column, n_values;
    kn_lanes4 *places; /* [place of the position * n_values + value]: inner columns, and outer ones of few positions */
    kn_lanes4 *lanes;  /* [rider lane * n_values + value] */
    kn_lanes4 *block;  /* [value]: of the block at hand, ... */
    uint64_t touched;  /* ... where there are any */
    bool mixed;        /* of these some are not suppressed at all combos */
} counted;

struct kn_value_figures {
    const kn_figures *figures;
    bool vectors;
    uint32_t n_classes, *classes; /* measures that look at classes */
    class_sums *held, *single;    /* [class measure * n_combos + combo]; [class measure]: blocks of one entry */
    uint32_t n_prices, *prices, *counted_by; /* measures with prices by value, and whose counts they take */
    uint32_t n_counted, n_slots;
    counted *counts;
    wide_sums *rider_prices; /* [(price * lanes + lane) * most values + value]: of a row, all riders; by merged set */
    uint32_t most_values;
    uint32_t *first_place;          /* [q]: where its positions begin in the list of places ... */
    bool *counts_places;            /* [q]: ... in the pass at hand; otherwise its rows are priced at once */
    uint32_t most_places, n_places; /* of a column, of all */
    wide_sums *at_once;             /* [price * n_slots + slot] */
    wide_sums *lost,
        *root;      /* [price * n_combos + combo]: what suppressed rows paid in their cells, and pay suppressed */
    uint16_t *gone; /* [combo << n_inner_bits | inner at the combo's levels], of the block at hand */
    uint32_t *inner_positions; /* [inner * n_inner + column]: in the list of places */
};

INLINE void carry(wide_sums *sums)
{
    sums->high += sums->low >> KN_PRICE_BITS;
    sums->low &= ((uint64_t)1 << KN_PRICE_BITS) - 1;
}

INLINE void add_wide(wide_sums *to, kn_lanes4 rows, lanes4_wide high, lanes4_wide low)
{
    const lanes4_wide n = __builtin_convertvector(rows, lanes4_wide);
    to->high += n * high;
    to->low += n * low;
}

INLINE void same_price(lanes4_wide *high, lanes4_wide *low, kn_value_price price)
{
    *high = (lanes4_wide){price.high, price.high, price.high, price.high};
    *low = (lanes4_wide){price.low, price.low, price.low, price.low};
}

/* --- Setting up ------------------------------------------------------------------------------------------------ */

static void fill_positions(kn_value_figures *values, const kn_block_lattice *b)
{
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++)
        for (uint32_t i = 0; i < b->n_inner; i++)
            values->inner_positions[(size_t)value * b->n_inner + i] =
                values->first_place[b->inner[i]] + kn_inner_position(b, i, value);
}

/* What a row of a rider lane pays in the riders' cells. */
static void fill_rider_prices(kn_value_figures *values, const kn_block_lattice *b)
{
    for (uint32_t p = 0; p < values->n_prices; p++) {
        const kn_value_prices *prices = values->figures->values[values->prices[p]];
        for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++)
            for (uint32_t r = 0; r < b->n_riders; r++) {
                const kn_lattice_column *column = &b->lattice->columns[b->riders[r]];
                uint32_t position = b->n_riders == 2 ? lane / b->rider_stride[r] % 2 : lane;
                if (position >= column->levels[column->min_level].n) continue;
                for (uint32_t v = 0; v < prices->n_values; v++) {
                    wide_sums *to = &values->rider_prices[(p * KN_LATTICE_LANES + lane) * values->most_values + v];
                    for (uint32_t set = 0; set < 4; set++) {
                        uint32_t level = set >> r & 1 ? column->max_level : column->min_level;
                        const kn_value_price *own = prices->prices[b->riders[r]][level];
                        to->high[set] += own[(set >> r & 1 ? 0 : position) * prices->n_values + v].high;
                        to->low[set] += own[(set >> r & 1 ? 0 : position) * prices->n_values + v].low;
                    }
                    carry(to);
                }
            }
    }
}

/* What is counted stands here for each place and value: all combos, and those that are the same at all of them. */
static uint32_t n_slots_of(uint32_t n_combos) { return (n_combos + 2) / 2 * 2; }

size_t kn_value_figures_bytes(const kn_lattice *lattice, uint32_t n_combos)
{
    size_t n_places = 0, n_values = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        const uint32_t n = column->levels[column->min_level].n;
        n_places += n < MOST_PLACES ? n : MOST_PLACES;
    }
    for (uint32_t s = 0; s < lattice->tuples->n_sensitive; s++) n_values += lattice->tuples->sensitive[s].n_values;
    return n_places * n_values * n_slots_of(n_combos) * sizeof(kn_lanes4);
}

/* The places of the columns. */
static void choose_places(kn_value_figures *values, const kn_block_lattice *b)
{
    values->most_places = MOST_PLACES;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
        if (column->levels[column->min_level].n > values->most_places)
            values->most_places = column->levels[column->min_level].n;
    }
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &b->lattice->columns[q];
        const uint32_t n = column->levels[column->min_level].n;
        values->first_place[q] = values->n_places;
        values->n_places += n < values->most_places ? n : values->most_places;
    }
}

/* Which measures there are, and what is counted for them. */
static kn_status choose(kn_value_figures *values, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_figures *figures = values->figures;
    for (uint32_t m = 0; m < figures->n; m++) {
        if (figures->objectives[m]->type->price_values != NULL) values->classes[values->n_classes++] = m;
        if (figures->values[m] == NULL) continue;
        uint32_t i = 0, p = values->n_prices++;
        while (i < values->n_counted && values->counts[i].column != figures->values[m]->column) i++;
        values->prices[p] = m;
        values->counted_by[p] = i;
        if (i < values->n_counted) continue;
        counted *own = &values->counts[values->n_counted++];
        own->column = figures->values[m]->column;
        own->n_values = figures->values[m]->n_values;
        const size_t each = (size_t)own->n_values * values->n_slots;
        if (own->n_values > values->most_values) values->most_values = own->n_values;
        KN_NEW_ALIGNED(own->places, values->n_places * each);
        KN_NEW_ALIGNED(own->lanes, KN_LATTICE_LANES * each);
        KN_NEW_ALIGNED(own->block, each);
    }
done:
    return status;
}

kn_status kn_value_figures_new(kn_value_figures **out, const kn_figures *figures, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = figures->domain->blocks;
    kn_value_figures *values = NULL;
    *out = NULL;
    if (b->n_words == 0) return KN_OK;
    KN_NEW(values, 1);
    values->figures = figures;
    values->n_slots = n_slots_of(b->n_combos);
    KN_NEW(values->classes, figures->n + 1);
    KN_NEW(values->prices, figures->n + 1);
    KN_NEW(values->counted_by, figures->n + 1);
    KN_NEW(values->counts, figures->n + 1);
    KN_NEW(values->gone, (size_t)b->n_combos << b->n_inner_bits);
    KN_NEW(values->inner_positions, ((size_t)b->n_inner << b->n_inner_bits) + 1);
    KN_NEW(values->first_place, (size_t)b->lattice->tuples->n_qis + 1);
    KN_NEW(values->counts_places, (size_t)b->lattice->tuples->n_qis + 1);
    choose_places(values, b);
    KN_TRY(choose(values, err));
    KN_NEW_ALIGNED(values->at_once, (size_t)values->n_prices * values->n_slots);
    KN_NEW_ALIGNED(values->held, (size_t)values->n_classes * b->n_combos);
    KN_NEW_ALIGNED(values->single, values->n_classes);
    KN_NEW_ALIGNED(values->lost, (size_t)values->n_prices * b->n_combos);
    KN_NEW_ALIGNED(values->root, (size_t)values->n_prices * b->n_combos);
    KN_NEW_ALIGNED(values->rider_prices, (size_t)values->n_prices * KN_LATTICE_LANES * values->most_values);
    fill_positions(values, b);
    fill_rider_prices(values, b);
    *out = values;
    values = NULL;
done:
    kn_value_figures_free(values);
    return status;
}

void kn_value_figures_free(kn_value_figures *values)
{
    if (values == NULL) return;
    for (uint32_t i = 0; i < values->n_counted; i++) {
        kn_free(values->counts[i].places);
        kn_free(values->counts[i].lanes);
        kn_free(values->counts[i].block);
    }
    void *const owned[] = {values->classes,       values->held,   values->single,          values->prices,
                           values->counted_by,    values->counts, values->rider_prices,    values->lost,
                           values->root,          values->gone,   values->inner_positions, values->first_place,
                           values->counts_places, values->at_once};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) kn_free(owned[i]);
    kn_free(values);
}

/* How many positions column q has in this pass: inner columns and riders stay at their least level. */
static uint32_t n_positions_of(const kn_lattice *lattice, const kn_blocks *blocks, uint32_t q)
{
    return lattice->columns[q].levels[blocks->levels[q]].n;
}

void kn_value_figures_clear(kn_value_figures *values, const kn_blocks *blocks)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++)
        values->counts_places[q] = n_positions_of(b->lattice, blocks, q) <= values->most_places;
    memset(values->at_once, 0, (size_t)values->n_prices * values->n_slots * sizeof *values->at_once);
    for (uint32_t i = 0; i < values->n_counted; i++)
        for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) {
            const counted *own = &values->counts[i];
            const size_t each = (size_t)own->n_values * values->n_slots, n = n_positions_of(b->lattice, blocks, q);
            if (values->counts_places[q])
                memset(own->places + values->first_place[q] * each, 0, n * each * sizeof *own->places);
            if (q == 0) memset(own->lanes, 0, KN_LATTICE_LANES * each * sizeof *own->lanes);
        }
    memset(values->held, 0, (size_t)values->n_classes * b->n_combos * sizeof *values->held);
    memset(values->single, 0, values->n_classes * sizeof *values->single);
}

/* --- Classes that hold ----------------------------------------------------------------------------------------- */

/* `held` has the bits of the classes that are released. */
static void add_prices(class_sums *to, const double *prices, const kn_class_values *class, uint32_t held, uint32_t ask)
{
    uint64_t high[16], low[16];
    for (uint32_t rest = ask; rest != 0; rest &= rest - 1) {
        const uint32_t c = (uint32_t)__builtin_ctz(rest);
        high[c] = (uint64_t)(int64_t)(prices[c] * 0x1p32);
        low[c] = (uint64_t)(int64_t)((prices[c] - (double)(int64_t)high[c] * 0x1p-32) * 0x1p64);
    }
    for (uint32_t rest = held; rest != 0; rest &= rest - 1) {
        const uint32_t c = (uint32_t)__builtin_ctz(rest), asked = (uint32_t)__builtin_ctz(class->same[c]);
        to->high[c / 4] += high[asked];
        to->low[c / 4] += low[asked];
    }
}

void kn_value_figures_held(kn_value_figures *values, kn_histogram_scan *scan, uint32_t combo, uint32_t j,
                           const kn_lanes4 held[4], bool single)
{
    const kn_figures *figures = values->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    kn_class_values class;
    double prices[16];
    if (values->n_classes == 0) return;
    kn_histogram_values(&class, scan, combo, j);
    const uint32_t bits = kn_lane_bits(held) & class.all, ask = bits & class.apart;
    for (uint32_t i = 0; i < values->n_classes; i++) {
        const kn_objective *objective = figures->objectives[values->classes[i]];
        const uint32_t column = objective->type->column(objective->state);
        const kn_value_lanes lanes = {ask, class.count_bytes, b->lattice->tuples->sensitive[column].n_values,
                                      (const uint32_t *)class.rows, class.counts[column]};
        objective->type->price_values(prices, objective->state, &lanes);
        add_prices(single ? &values->single[i] : &values->held[(size_t)i * b->n_combos + combo], prices, &class, bits,
                   ask);
    }
}

/* --- Suppressed rows ------------------------------------------------------------------------------------------- */

void kn_value_figures_gone(kn_value_figures *values, uint32_t combo, uint32_t inner_value, uint32_t gone)
{
    values->gone[((size_t)combo << values->figures->domain->blocks->n_inner_bits) + inner_value] = (uint16_t)gone;
}

/* What is suppressed of an entry: its lanes in each merged set, as in kn_lane_bits. */
typedef struct gone_lanes {
    uint32_t any, each; /* in some combo, in every combo */
    uint16_t at[KN_BLOCK_MAX_COMBOS];
} gone_lanes;

INLINE void add_slots(kn_lanes4 *to, const kn_lanes4 *more, uint32_t n_slots)
{
    for (uint32_t i = 0; i < n_slots; i += 2) *(lanes8 *)(to + i) += *(const lanes8 *)(more + i);
}

/* n rows of a rider lane with one sensitive value, as far as their lane is suppressed; `positions`: of the inner
 * columns. */
INLINE void add_rows(const kn_value_figures *values, counted *own, uint32_t lane, uint32_t value, uint32_t n,
                     const gone_lanes *gone, const uint32_t *positions)
{
    static const uint32_t used[] = {0x0001, 0x1001, 0x1111}; /* by number of riders */
    const kn_block_lattice *b = values->figures->domain->blocks;
    const uint32_t n_combos = b->n_combos, n_slots = values->n_slots, all = used[b->n_riders] << lane;
    const kn_lanes4 bits = (kn_lanes4){1, 16, 256, 4096} << lane;
    kn_lanes4 rows[KN_BLOCK_MAX_COMBOS + 2];
    if ((gone->any & all) == 0) return;
    own->touched |= (uint64_t)1 << value;
    if (((gone->any ^ gone->each) & all) == 0) { /* the same at all combos */
        const kn_lanes4 each =
            (kn_lanes4)(((kn_lanes4){gone->each, gone->each, gone->each, gone->each} & bits) != 0) & n;
        own->block[value * n_slots + n_combos] += each;
        own->lanes[(lane * own->n_values + value) * n_slots + n_combos] += each;
        for (uint32_t i = 0; i < b->n_inner; i++)
            own->places[((size_t)positions[i] * own->n_values + value) * n_slots + n_combos] += each;
        return;
    }
    own->mixed = true;
    for (uint32_t c = 0; c < n_combos; c++) {
        const uint32_t at = gone->at[c];
        rows[c] = (kn_lanes4)(((kn_lanes4){at, at, at, at} & bits) != 0) & n;
    }
    for (uint32_t c = n_combos; c < n_slots; c++) rows[c] = (kn_lanes4){0};
    add_slots(own->block + value * n_slots, rows, n_slots);
    add_slots(own->lanes + (lane * own->n_values + value) * n_slots, rows, n_slots);
    for (uint32_t i = 0; i < b->n_inner; i++)
        add_slots(own->places + ((size_t)positions[i] * own->n_values + value) * n_slots, rows, n_slots);
}

/* What a row pays in the cells of the outer columns that are not counted. */
INLINE kn_value_sum price_at_once(const kn_value_figures *values, const kn_value_prices *prices,
                                  const kn_blocks *blocks, const uint32_t *positions, uint32_t value)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    kn_value_sum sum = {0};
    for (uint32_t d = 0; d < b->n_outer; d++) {
        const uint32_t q = b->outer[d], at = positions[d] - values->figures->first_position[q];
        if (!values->counts_places[q])
            kn_value_sum_add(&sum, prices->prices[q][blocks->levels[q]][(size_t)at * prices->n_values + value], 1);
    }
    kn_value_sum_carry(&sum);
    return sum;
}

/* The rows of one value of a block in these columns. */
INLINE void add_at_once(const kn_value_figures *values, uint32_t counts, const kn_blocks *blocks,
                        const uint32_t *positions, uint32_t value)
{
    const counted *own = &values->counts[counts];
    const uint32_t n_slots = values->n_slots, n_combos = values->figures->domain->blocks->n_combos;
    const kn_lanes4 *rows = own->block + value * n_slots;
    for (uint32_t p = 0; p < values->n_prices; p++) {
        if (values->counted_by[p] != counts) continue;
        const kn_value_prices *prices = values->figures->values[values->prices[p]];
        const kn_value_sum sum = price_at_once(values, prices, blocks, positions, value);
        lanes4_wide high, low;
        same_price(&high, &low, (kn_value_price){(uint32_t)sum.high, (uint32_t)sum.low});
        for (uint32_t slot = own->mixed ? 0 : n_combos; slot <= n_combos; slot++)
            add_wide(&values->at_once[(size_t)p * n_slots + slot], rows[slot], high, low);
    }
}

/* What the rows of a block come to, in the outer columns. */
INLINE void spread_block(const kn_value_figures *values, uint32_t counts, const kn_blocks *blocks,
                         const uint32_t *positions)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const uint32_t n_slots = values->n_slots, n_combos = b->n_combos;
    counted *own = &values->counts[counts];
    for (uint64_t rest = own->touched; rest != 0; rest &= rest - 1) {
        const uint32_t value = (uint32_t)__builtin_ctzll(rest);
        kn_lanes4 *rows = own->block + value * n_slots;
        uint32_t n_counted = 0;
        for (uint32_t d = 0; d < b->n_outer; d++) {
            const uint32_t q = b->outer[d], at = positions[d] - values->figures->first_position[q];
            if (!values->counts_places[q]) continue;
            kn_lanes4 *to = own->places + ((size_t)(values->first_place[q] + at) * own->n_values + value) * n_slots;
            if (own->mixed) add_slots(to, rows, n_slots);
            else to[n_combos] += rows[n_combos];
            n_counted++;
        }
        if (n_counted < b->n_outer) add_at_once(values, counts, blocks, positions, value);
        memset(rows, 0, n_slots * sizeof *rows);
    }
    own->touched = 0;
    own->mixed = false;
}

INLINE void add_entry(const kn_value_figures *values, counted *own, const kn_blocks *blocks, uint32_t e,
                      const gone_lanes *gone)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const uint32_t *positions = values->inner_positions + (size_t)blocks->inner[e] * b->n_inner;
    const uint32_t n_lanes = b->values_lanes == 1 ? 1 : KN_LATTICE_LANES;
    uint64_t word = blocks->words[(size_t)e * b->n_words + own->column];
    if (kn_values_n(word) == KN_VALUES_LANES) {
        const uint32_t *slot = blocks->values + (size_t)(uint32_t)word * b->values_width + b->values_at[own->column];
        for (uint32_t place = 0; place < own->n_values * n_lanes; place++)
            if (slot[place] > 0) add_rows(values, own, place % n_lanes, place / n_lanes, slot[place], gone, positions);
        return;
    }
    for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8)
        add_rows(values, own, (word & 0xff) % n_lanes, (word & 0xff) / n_lanes, 1, gone, positions);
}

INLINE void look_up(gone_lanes *gone, const kn_value_figures *values, uint32_t inner)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    gone->any = 0;
    gone->each = 0xffff;
    for (uint32_t c = 0; c < b->n_combos; c++) {
        const size_t first = (size_t)c << b->n_inner_bits;
        gone->at[c] = values->gone[first + b->at_combo[first + inner]];
        gone->any |= gone->at[c];
        gone->each &= gone->at[c];
    }
}

INLINE void add_block(kn_value_figures *values, const kn_blocks *blocks, uint32_t block, const uint32_t *positions,
                      uint32_t all_gone)
{
    const bool all = all_gone != KN_NONE;
    gone_lanes gone;
    gone.any = gone.each = all_gone;
    for (uint32_t e = blocks->start[block]; e < blocks->start[block + 1]; e++) {
        if (!all) look_up(&gone, values, blocks->inner[e]);
        for (uint32_t i = 0; i < values->n_counted && gone.any != 0; i++)
            add_entry(values, &values->counts[i], blocks, e, &gone);
    }
    for (uint32_t i = 0; i < values->n_counted; i++) spread_block(values, i, blocks, positions);
}

static void add_block_plain(kn_value_figures *values, const kn_blocks *blocks, uint32_t block,
                            const uint32_t *positions, uint32_t all_gone)
{
    add_block(values, blocks, block, positions, all_gone);
}

/* --- Prices ---------------------------------------------------------------------------------------------------- */

/* Adds what n_values numbers of rows pay, at one combo. `slots`: of the first of them. */
INLINE void add_places(wide_sums *to, const kn_value_figures *values, const kn_lanes4 *slots,
                       const kn_value_price *prices, uint32_t n_values, uint32_t combo)
{
    const uint32_t n_slots = values->n_slots, n_combos = values->figures->domain->blocks->n_combos;
    for (uint32_t v = 0; v < n_values; v++, slots += n_slots) {
        const kn_lanes4 rows = slots[combo] + slots[n_combos];
        lanes4_wide high, low;
        if (!kn_any_lane(rows)) continue;
        same_price(&high, &low, prices[v]);
        add_wide(to, rows, high, low);
    }
}

INLINE void price_outer(wide_sums *lost, const kn_value_figures *values, const counted *own,
                        const kn_value_prices *prices, const kn_blocks *blocks, uint32_t combo)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const size_t each = (size_t)own->n_values * values->n_slots;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        const uint32_t q = b->outer[d], n = n_positions_of(b->lattice, blocks, q);
        const kn_lanes4 *slots = own->places + values->first_place[q] * each;
        if (!values->counts_places[q]) continue;
        add_places(lost, values, slots, prices->prices[q][blocks->levels[q]], n * own->n_values, combo);
        carry(lost);
    }
}

INLINE void price_inner(wide_sums *lost, const kn_value_figures *values, const counted *own,
                        const kn_value_prices *prices, uint32_t combo)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const size_t each = (size_t)own->n_values * values->n_slots;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        const uint32_t q = b->inner[i], level = b->combo_level[combo][i];
        const kn_lattice_column *column = &b->lattice->columns[q];
        const kn_lattice_level *least = &column->levels[column->min_level];
        for (uint32_t p = 0; p < least->n; p++) {
            const size_t at = column->levels[level].of_code[least->first_code[p]];
            add_places(lost, values, own->places + (values->first_place[q] + p) * each,
                       prices->prices[q][level] + at * own->n_values, own->n_values, combo);
        }
        carry(lost);
    }
}

/* The rider lanes have all suppressed rows: they also tell what these pay. */
INLINE void price_lanes(wide_sums *lost, wide_sums *root, const kn_value_figures *values, const counted *own,
                        uint32_t price, uint32_t combo)
{
    const uint32_t n_slots = values->n_slots, n_combos = values->figures->domain->blocks->n_combos;
    const kn_value_prices *prices = values->figures->values[values->prices[price]];
    for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
        const wide_sums *riders =
            values->rider_prices + (size_t)(price * KN_LATTICE_LANES + lane) * values->most_values;
        const kn_lanes4 *slots = own->lanes + (size_t)lane * own->n_values * n_slots;
        add_places(root, values, slots, prices->root, own->n_values, combo);
        for (uint32_t v = 0; v < own->n_values; v++)
            add_wide(lost, slots[v * n_slots + combo] + slots[v * n_slots + n_combos], riders[v].high, riders[v].low);
    }
    carry(lost);
}

INLINE void price_columns(kn_value_figures *values, const kn_blocks *blocks)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    memset(values->lost, 0, (size_t)values->n_prices * b->n_combos * sizeof *values->lost);
    memset(values->root, 0, (size_t)values->n_prices * b->n_combos * sizeof *values->root);
    for (uint32_t p = 0; p < values->n_prices; p++)
        for (uint32_t c = 0; c < b->n_combos; c++) {
            const counted *own = &values->counts[values->counted_by[p]];
            const kn_value_prices *prices = values->figures->values[values->prices[p]];
            const wide_sums *at_once = values->at_once + (size_t)p * values->n_slots;
            wide_sums *lost = &values->lost[(size_t)p * b->n_combos + c],
                      *root = &values->root[(size_t)p * b->n_combos + c];
            lost->high = at_once[c].high + at_once[b->n_combos].high;
            lost->low = at_once[c].low + at_once[b->n_combos].low;
            carry(lost);
            price_outer(lost, values, own, prices, blocks, c);
            price_inner(lost, values, own, prices, c);
            price_lanes(lost, root, values, own, p, c);
        }
}

static void price_columns_plain(kn_value_figures *values, const kn_blocks *blocks) { price_columns(values, blocks); }

/* --- Processors ------------------------------------------------------------------------------------------------ */

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void add_block_avx2(kn_value_figures *values, const kn_blocks *blocks,
                                                           uint32_t block, const uint32_t *positions, uint32_t all_gone)
{
    add_block(values, blocks, block, positions, all_gone);
}
__attribute__((target("avx2"))) static void price_columns_avx2(kn_value_figures *values, const kn_blocks *blocks)
{
    price_columns(values, blocks);
}
#else
#define add_block_avx2     add_block_plain
#define price_columns_avx2 price_columns_plain
#endif

void kn_value_figures_use_vectors(kn_value_figures *values, bool yes) { values->vectors = yes; }

void kn_value_figures_rows(kn_value_figures *values, const kn_blocks *blocks, uint32_t block, const uint32_t *positions,
                           uint32_t all_gone)
{
    if (values->n_counted == 0) return;
    if (values->vectors) add_block_avx2(values, blocks, block, positions, all_gone);
    else add_block_plain(values, blocks, block, positions, all_gone);
}

void kn_value_figures_price(kn_value_figures *values, const kn_blocks *blocks)
{
    if (values->vectors) price_columns_avx2(values, blocks);
    else price_columns_plain(values, blocks);
}

bool kn_value_figures_may_split(const kn_value_figures *values) { return values->n_counted == 0; }

void kn_value_figures_add(kn_value_figures *values, const kn_value_figures *more)
{
    const size_t n = (size_t)values->n_classes * values->figures->domain->blocks->n_combos;
    for (size_t i = 0; i < n + values->n_classes; i++) {
        class_sums *to = i < n ? &values->held[i] : &values->single[i - n];
        const class_sums *from = i < n ? &more->held[i] : &more->single[i - n];
        for (int m = 0; m < 4; m++) {
            to->high[m] += from->high[m];
            to->low[m] += from->low[m];
        }
    }
}

/* --- One node -------------------------------------------------------------------------------------------------- */

void kn_value_figures_node(kn_node_sums *node, const kn_value_figures *values, uint32_t combo, uint32_t set)
{
    const uint32_t n_combos = values->figures->domain->blocks->n_combos;
    for (uint32_t i = 0; i < values->n_classes; i++) {
        const class_sums *held = &values->held[(size_t)i * n_combos + combo], *single = &values->single[i];
        const uint64_t low = held->low[set] + single->low[set],
                       high = held->high[set] + single->high[set] + (low >> 32);
        node->products[values->classes[i]] = (long double)high * 0x1p-32L + (long double)(uint32_t)low * 0x1p-64L;
    }
    for (uint32_t p = 0; p < values->n_prices; p++) {
        const wide_sums *lost = &values->lost[(size_t)p * n_combos + combo],
                        *root = &values->root[(size_t)p * n_combos + combo];
        node->values[values->prices[p]] =
            (kn_value_sum){(int64_t)(root->high[set] - lost->high[set]), (int64_t)(root->low[set] - lost->low[set])};
    }
}
