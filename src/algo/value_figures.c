/* Figures of sensitive values by blocks; see the header. Cost: per suppressed row and combo an addition for each column, per
 * class that holds what its price costs, per pass a look at every position with each sensitive value. */
#include "algo/value_figures.h"

#include "partition/block_values.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t lanes4_wide __attribute__((vector_size(32)));
typedef double lanes4_real __attribute__((vector_size(32)));

/* A sum by merged set, and what its roundings dropped. */
typedef struct real_sums {
    lanes4_real sum, dropped;
} real_sums;

/* The parts of a sum of prices, by merged set. */
typedef struct wide_sums {
    lanes4_wide high, low;
} wide_sums;

/* Rows by position and value of one sensitive column. */
typedef struct counted {
    uint32_t column, n_values;
    kn_lanes4 *rows;   /* [((position in the list of all) * n_values + value) * n_combos + combo]; lane m: merged set m */
    kn_lanes4 *always; /* [position * n_values + value]: in every combo */
} counted;

struct kn_value_figures {
    const kn_figures *figures;
    uint32_t n_classes, *classes; /* measures that look at classes */
    real_sums *held, *single;     /* [class measure * n_combos + combo]; [class measure]: blocks of one entry */
    uint32_t n_prices, *prices, *counted_by; /* measures with prices by value, and whose counts they take */
    uint32_t n_counted;
    counted *counts;
    wide_sums *lost, *root; /* [price * n_combos + combo]: what suppressed rows paid in their cells, and pay suppressed */
    uint16_t *at_combo;     /* [combo << n_inner_bits | inner at the least levels]: at the combo's levels */
    uint16_t *gone;         /* [combo << n_inner_bits | inner at the combo's levels], of the block at hand */
    uint32_t *positions;    /* of the entry at hand: outer, inner, riders */
    uint32_t lane_positions[KN_LATTICE_LANES][KN_LATTICE_MAX_RIDERS];
    uint32_t *inner_positions; /* [inner * n_inner + column]: in the list of all */
};

/* --- Setting up ------------------------------------------------------------------------------------------------ */

static uint32_t inner_position(const kn_block_lattice *b, uint32_t i, uint32_t value)
{
    return value >> b->inner_shift[i] & ((1u << b->inner_bits[i]) - 1);
}

static void fill_positions(kn_value_figures *values, const kn_block_lattice *b)
{
    const uint32_t *first = values->figures->first_position;
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
        bool exists = true;
        for (uint32_t i = 0; i < b->n_inner; i++) {
            const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
            exists = exists && inner_position(b, i, value) < column->levels[column->min_level].n;
            values->inner_positions[(size_t)value * b->n_inner + i] = first[b->inner[i]] + inner_position(b, i, value);
        }
        for (uint32_t c = 0; c < b->n_combos && exists; c++) {
            uint32_t at = 0;
            for (uint32_t i = 0; i < b->n_inner; i++) {
                const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
                uint32_t code = column->levels[column->min_level].first_code[inner_position(b, i, value)];
                at |= column->levels[b->combo_level[c][i]].of_code[code] << b->inner_shift[i];
            }
            values->at_combo[((size_t)c << b->n_inner_bits) + value] = (uint16_t)at;
        }
    }
    for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++)
        for (uint32_t r = 0; r < b->n_riders; r++)
            values->lane_positions[lane][r] =
                first[b->riders[r]] + (b->n_riders == 2 ? lane / b->rider_stride[r] % 2 : lane);
}

static kn_status new_lanes(void *out, size_t n, size_t size, kn_error *err)
{
    kn_status status = KN_OK;
    void *lanes = kn_array_alloc_aligned(n + 1, size, err);
    if (lanes == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    *(void **)out = lanes;
done:
    return status;
}

/* Which measures there are, and what is counted for them. */
static kn_status choose(kn_value_figures *values, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_figures *figures = values->figures;
    const size_t n_positions = figures->first_position[figures->domain->task->tuples->n_qis];
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
        KN_TRY(new_lanes(&own->rows, n_positions * own->n_values * figures->domain->blocks->n_combos, sizeof(kn_lanes4), err));
        KN_TRY(new_lanes(&own->always, n_positions * own->n_values, sizeof(kn_lanes4), err));
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
    KN_NEW(values->classes, figures->n + 1);
    KN_NEW(values->prices, figures->n + 1);
    KN_NEW(values->counted_by, figures->n + 1);
    KN_NEW(values->counts, figures->n + 1);
    KN_NEW(values->at_combo, (size_t)b->n_combos << b->n_inner_bits);
    KN_NEW(values->gone, (size_t)b->n_combos << b->n_inner_bits);
    KN_NEW(values->positions, (size_t)b->lattice->tuples->n_qis + 1);
    KN_NEW(values->inner_positions, ((size_t)b->n_inner << b->n_inner_bits) + 1);
    KN_TRY(choose(values, err));
    KN_TRY(new_lanes(&values->held, (size_t)values->n_classes * b->n_combos, sizeof(real_sums), err));
    KN_TRY(new_lanes(&values->single, values->n_classes, sizeof(real_sums), err));
    KN_TRY(new_lanes(&values->lost, (size_t)values->n_prices * b->n_combos, sizeof(wide_sums), err));
    KN_TRY(new_lanes(&values->root, (size_t)values->n_prices * b->n_combos, sizeof(wide_sums), err));
    fill_positions(values, b);
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
        kn_free(values->counts[i].rows);
        kn_free(values->counts[i].always);
    }
    void *const owned[] = {values->classes, values->held, values->single,   values->prices, values->counted_by,     values->counts, values->lost,
                           values->root,    values->gone, values->at_combo, values->positions, values->inner_positions};
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
    for (uint32_t i = 0; i < values->n_counted; i++)
        for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) {
            const counted *own = &values->counts[i];
            const size_t at = (size_t)values->figures->first_position[q] * own->n_values;
            const size_t n = (size_t)n_positions_of(b->lattice, blocks, q) * own->n_values;
            memset(own->rows + at * b->n_combos, 0, n * b->n_combos * sizeof *own->rows);
            memset(own->always + at, 0, n * sizeof *own->always);
        }
    memset(values->held, 0, (size_t)values->n_classes * b->n_combos * sizeof *values->held);
    memset(values->single, 0, values->n_classes * sizeof *values->single);
}

/* --- Classes that hold ----------------------------------------------------------------------------------------- */

/* Exact but for the last bit of `dropped`: the order of the classes does not matter. */
INLINE void add_real(real_sums *to, lanes4_real x)
{
    const lanes4_real sum = to->sum + x, part = sum - to->sum;
    to->dropped += (to->sum - (sum - part)) + (x - part);
    to->sum = sum;
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
    const uint32_t ask = kn_lane_bits(held) & class.apart;
    for (uint32_t i = 0; i < values->n_classes; i++) {
        const kn_objective *objective = figures->objectives[values->classes[i]];
        const uint32_t column = objective->type->column(objective->state);
        const kn_value_lanes lanes = {ask, class.count_bytes, b->lattice->tuples->sensitive[column].n_values,
                                      b->values_lane[column], (const uint32_t *)class.rows, class.counts[column]};
        real_sums *to = single ? &values->single[i] : &values->held[(size_t)i * b->n_combos + combo];
        objective->type->price_values(prices, objective->state, &lanes);
        for (uint32_t rest = ask; rest != 0; rest &= rest - 1) {
            const uint32_t c = (uint32_t)__builtin_ctz(rest), same = class.same[c];
            const double price = prices[c];
            add_real(to, (lanes4_real){same & 0xf ? price : 0, same & 0xf0 ? price : 0, same & 0xf00 ? price : 0,
                                       same & 0xf000 ? price : 0});
        }
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
    uint32_t at[KN_BLOCK_MAX_COMBOS];
} gone_lanes;

/* n rows of a rider lane with one sensitive value, as far as their lane is suppressed. */
INLINE void add_rows(const kn_value_figures *values, const counted *own, uint32_t lane, uint32_t value, uint32_t n,
                     const gone_lanes *gone)
{
    static const uint32_t used[] = {0x0001, 0x1001, 0x1111}; /* by number of riders */
    const kn_block_lattice *b = values->figures->domain->blocks;
    const uint32_t n_combos = b->n_combos, n_columns = b->n_outer + b->n_inner, all = used[b->n_riders] << lane;
    const kn_lanes4 bits = (kn_lanes4){1, 16, 256, 4096} << lane;
    const bool always = ((gone->any ^ gone->each) & all) == 0;
    kn_lanes4 rows[KN_BLOCK_MAX_COMBOS];
    if ((gone->any & all) == 0) return;
    for (uint32_t c = 0; c < (always ? 1 : n_combos); c++) {
        const uint32_t at = always ? gone->each : gone->at[c];
        rows[c] = (kn_lanes4)(((kn_lanes4){at, at, at, at} & bits) != 0) & n;
    }
    for (uint32_t i = 0; i < n_columns + b->n_riders; i++) {
        const uint32_t position = i < n_columns ? values->positions[i] : values->lane_positions[lane][i - n_columns];
        const size_t at = (size_t)position * own->n_values + value;
        if (always) {
            own->always[at] += rows[0];
            continue;
        }
        kn_lanes4 *to = own->rows + at * n_combos;
        for (uint32_t c = 0; c < n_combos; c++) to[c] += rows[c];
    }
}

INLINE void add_entry(const kn_value_figures *values, const counted *own, const kn_blocks *blocks, uint32_t e,
                      const gone_lanes *gone)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    uint64_t word = blocks->words[(size_t)e * b->n_words + own->column];
    if (kn_values_n(word) == KN_VALUES_LANES) {
        const uint32_t width = b->values_lane[own->column];
        const uint32_t *slot = blocks->values + (size_t)(uint32_t)word * b->values_width + b->values_at[own->column];
        for (uint32_t lane = 0; lane < (b->n_riders > 0 ? KN_LATTICE_LANES : 1u); lane++)
            for (uint32_t v = 0; v < own->n_values; v++)
                if (slot[lane * width + v] > 0) add_rows(values, own, lane, v, slot[lane * width + v], gone);
        return;
    }
    for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8)
        add_rows(values, own, word >> KN_VALUES_BITS & 3, word & ((1u << KN_VALUES_BITS) - 1), 1, gone);
}

void kn_value_figures_rows(kn_value_figures *values, const kn_blocks *blocks, uint32_t block, const uint32_t *positions,
                           uint32_t all_gone)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const bool all = all_gone != KN_NONE;
    gone_lanes gone = {.any = all_gone, .each = all_gone};
    if (values->n_counted == 0) return;
    memcpy(values->positions, positions, b->n_outer * sizeof *positions);
    for (uint32_t e = blocks->start[block]; e < blocks->start[block + 1]; e++) {
        const uint32_t inner = blocks->inner[e];
        if (!all) gone = (gone_lanes){.each = 0xffff};
        for (uint32_t c = 0; c < b->n_combos && !all; c++) {
            const size_t first = (size_t)c << b->n_inner_bits;
            gone.at[c] = values->gone[first + values->at_combo[first + inner]];
            gone.any |= gone.at[c];
            gone.each &= gone.at[c];
        }
        if (gone.any == 0) continue;
        memcpy(values->positions + b->n_outer, values->inner_positions + (size_t)inner * b->n_inner,
               b->n_inner * sizeof *positions);
        for (uint32_t i = 0; i < values->n_counted; i++) add_entry(values, &values->counts[i], blocks, e, &gone);
    }
}

/* --- Prices ---------------------------------------------------------------------------------------------------- */

INLINE void add_wide(wide_sums *to, kn_lanes4 rows, lanes4_wide high, lanes4_wide low)
{
    const lanes4_wide n = __builtin_convertvector(rows, lanes4_wide);
    to->high += n * high;
    to->low += n * low;
}

static void carry(wide_sums *sums)
{
    sums->high += sums->low >> KN_PRICE_BITS;
    sums->low &= ((uint64_t)1 << KN_PRICE_BITS) - 1;
}

/* The level of column q at a combo and merged set, where blocks do not tell. */
static uint32_t level_of(const kn_block_lattice *b, const kn_blocks *blocks, uint32_t q, uint32_t combo, uint32_t set)
{
    for (uint32_t i = 0; i < b->n_inner; i++)
        if (b->inner[i] == q) return b->combo_level[combo][i];
    for (uint32_t r = 0; r < b->n_riders; r++)
        if (b->riders[r] == q) return set >> r & 1 ? b->lattice->columns[q].max_level : b->lattice->columns[q].min_level;
    return blocks->levels[q];
}

/* What a row pays in the cell that position p of column q becomes. */
static void cell_prices(lanes4_wide *high, lanes4_wide *low, const kn_value_figures *values, const kn_value_prices *prices,
                        const kn_blocks *blocks, uint32_t q, uint32_t p, uint32_t value, uint32_t combo)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const kn_lattice_column *column = &b->lattice->columns[q];
    for (uint32_t set = 0; set < 4; set++) {
        const uint32_t level = level_of(b, blocks, q, combo, set), from = blocks->levels[q];
        const uint32_t at = column->levels[level].of_code[column->levels[from].first_code[p]];
        const kn_value_price price = prices->prices[q][level][(size_t)at * prices->n_values + value];
        (*high)[set] = price.high;
        (*low)[set] = price.low;
    }
}

static bool is_outer(const kn_block_lattice *b, uint32_t q)
{
    bool outer = false;
    for (uint32_t d = 0; d < b->n_outer; d++) outer = outer || b->outer[d] == q;
    return outer;
}

static void price_column(kn_value_figures *values, uint32_t p, const kn_blocks *blocks, uint32_t q)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    const kn_value_prices *prices = values->figures->values[values->prices[p]];
    const counted *own = &values->counts[values->counted_by[p]];
    const uint32_t n_combos = b->n_combos, n_values = own->n_values, n = n_positions_of(b->lattice, blocks, q) * n_values;
    const size_t first = (size_t)values->figures->first_position[q] * n_values;
    const bool outer = is_outer(b, q);
    wide_sums *lost = values->lost + (size_t)p * n_combos, *root = values->root + (size_t)p * n_combos;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t c = 0; c < n_combos; c++) {
            const kn_lanes4 rows = own->rows[(first + i) * n_combos + c] + own->always[first + i];
            lanes4_wide high, low;
            if (!kn_any_lane(rows)) continue;
            if (outer) {
                const kn_value_price price = prices->prices[q][blocks->levels[q]][i];
                high = (lanes4_wide){0} + price.high;
                low = (lanes4_wide){0} + price.low;
            } else {
                cell_prices(&high, &low, values, prices, blocks, q, i / n_values, i % n_values, c);
            }
            add_wide(&lost[c], rows, high, low);
            if (q > 0) continue; /* each column has all suppressed rows */
            const kn_value_price price = prices->root[i % n_values];
            add_wide(&root[c], rows, (lanes4_wide){0} + price.high, (lanes4_wide){0} + price.low);
        }
    for (uint32_t c = 0; c < n_combos; c++) carry(&lost[c]);
}

void kn_value_figures_price(kn_value_figures *values, const kn_blocks *blocks)
{
    const kn_block_lattice *b = values->figures->domain->blocks;
    memset(values->lost, 0, (size_t)values->n_prices * b->n_combos * sizeof *values->lost);
    memset(values->root, 0, (size_t)values->n_prices * b->n_combos * sizeof *values->root);
    for (uint32_t p = 0; p < values->n_prices; p++)
        for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) price_column(values, p, blocks, q);
}

void kn_value_figures_node(kn_node_sums *node, const kn_value_figures *values, uint32_t combo, uint32_t set)
{
    const uint32_t n_combos = values->figures->domain->blocks->n_combos;
    for (uint32_t i = 0; i < values->n_classes; i++) {
        const real_sums *held = &values->held[(size_t)i * n_combos + combo], *single = &values->single[i];
        node->products[values->classes[i]] =
            (long double)held->sum[set] + single->sum[set] + ((long double)held->dropped[set] + single->dropped[set]);
    }
    for (uint32_t p = 0; p < values->n_prices; p++) {
        const wide_sums *lost = &values->lost[(size_t)p * n_combos + combo], *root = &values->root[(size_t)p * n_combos + combo];
        node->values[values->prices[p]] = (kn_value_sum){(int64_t)(root->high[set] - lost->high[set]),
                                                         (int64_t)(root->low[set] - lost->low[set])};
    }
}
