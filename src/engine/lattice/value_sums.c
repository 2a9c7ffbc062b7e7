/* Sums over sensitive values by bundles; see the header. Cost: a few additions per suppressed row and combo, per bundle
 * a price for each outer column and sensitive value, per class that holds what its price costs. */
#include "engine/lattice/value_sums.h"

#include <string.h>

/* A sum by merged set in two parts. Prices of rows: units of kn_value_price. Prices of classes: units of 2^-32 and of
 * 2^-64; a class costs no more than its rows, so neither overflows, and no order of the classes changes it. */
typedef struct wide_sums {
    uint64_t high[4], low[4];
} wide_sums;

/* Suppressed rows by sensitive value of one column. For each place and value there are n_slots numbers: what is
 * suppressed at each combo, then what is so at all of them; lane m: in merged set m. */
typedef struct counted {
    uint32_t column, n_values;
    kn_lanes4 *inner;  /* [place of the position * n_values + value] */
    kn_lanes4 *riders; /* [rider lane * n_values + value] */
    kn_lanes4 *bundle; /* [value]: of the bundle at hand, ... */
    uint64_t touched;  /* ... where there are any */
    bool mixed;        /* of these some are not suppressed at all combos */
} counted;

struct kn_value_sums {
    kn_owner memory; /* all arrays */
    const kn_full_domain *domain;
    const kn_bundle_lattice *b;
    uint32_t n_classes, *classes;            /* measures that look at classes */
    wide_sums *held;                         /* [class measure * n_slots + combo] */
    uint32_t n_prices, *prices, *counted_by; /* measures with prices by value, and whose counts they take */
    uint32_t n_counted, n_slots;
    counted *counts;
    wide_sums *rider_prices; /* [(price * lanes + lane) * most values + value]: of a row, all riders; by merged set */
    uint32_t most_values;
    uint32_t first_place[KN_BUNDLE_MAX_INNER + 1]; /* [inner column]: where its positions begin in a list of all */
    wide_sums *outer;                              /* [price * n_slots + slot]: paid in the outer columns */
    wide_sums *lost, *root; /* [price * n_combos + combo]: what suppressed rows paid in their cells, and pay now */
    uint16_t *gone;         /* [combo << n_inner_bits | inner at the combo's levels], of the bundle at hand */
    uint32_t single_gone;
    const uint32_t *levels; /* of the bundles at hand */
};

KN_INLINE void carry(wide_sums *sums)
{
    for (int m = 0; m < 4; m++) {
        sums->high[m] += sums->low[m] >> KN_PRICE_BITS;
        sums->low[m] &= ((uint64_t)1 << KN_PRICE_BITS) - 1;
    }
}

KN_INLINE void add_rows_at(wide_sums *to, kn_lanes4 rows, kn_value_price price)
{
    for (int m = 0; m < 4; m++) to->high[m] += (uint64_t)rows[m] * price.high;
    for (int m = 0; m < 4; m++) to->low[m] += (uint64_t)rows[m] * price.low;
}

/* --- Setting up ------------------------------------------------------------------------------------------------ */

/* What a row of a rider lane pays in the riders' cells. */
static void fill_rider_prices(kn_value_sums *values)
{
    const kn_bundle_lattice *b = values->b;
    for (uint32_t i = 0; i < values->n_prices * KN_LATTICE_LANES * b->n_riders; i++) {
        const uint32_t r = i % b->n_riders, lane = i / b->n_riders % KN_LATTICE_LANES,
                       p = i / b->n_riders / KN_LATTICE_LANES;
        const kn_prices *prices = &values->domain->prices[values->prices[p]];
        const kn_lattice_column *column = &b->lattice->columns[b->riders[r]];
        const uint32_t position = b->n_riders == 2 ? lane / b->rider_stride[r] % 2 : lane;
        if (position >= column->levels[column->min_level].n) continue;
        for (uint32_t v = 0; v < prices->n_values; v++) {
            wide_sums *to = &values->rider_prices[(p * KN_LATTICE_LANES + lane) * values->most_values + v];
            for (uint32_t set = 0; set < 4; set++) {
                const bool general = set >> r & 1;
                const kn_value_price *own =
                    &prices->value_prices[b->riders[r]][general ? column->max_level : column->min_level]
                                         [(general ? 0 : position) * prices->n_values + v];
                to->high[set] += own->high;
                to->low[set] += own->low;
            }
            carry(to);
        }
    }
}

size_t kn_value_sums_bytes(const kn_lattice *lattice, uint32_t n_combos)
{
    size_t n_values = 0;
    for (uint32_t s = 0; s < lattice->tuples->n_sensitive; s++) n_values += lattice->tuples->sensitive[s].n_values;
    return ((size_t)KN_BUNDLE_MAX_INNER << KN_BUNDLE_MAX_INNER_BITS) / 4 * n_values * (n_combos + 1) *
           sizeof(kn_lanes4);
}

/* Which measures there are, and what is counted for them. */
static kn_status choose(kn_value_sums *values, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = values->domain;
    for (uint32_t m = 0; m < domain->n_prices; m++) {
        const kn_prices *prices = &domain->prices[m];
        if (prices->objective->type->price_values != NULL) values->classes[values->n_classes++] = m;
        if (prices->value_prices == NULL) continue;
        uint32_t i = 0, p = values->n_prices++;
        while (i < values->n_counted && values->counts[i].column != prices->column) i++;
        values->prices[p] = m;
        values->counted_by[p] = i;
        if (i < values->n_counted) continue;
        counted *own = &values->counts[values->n_counted++];
        own->column = prices->column;
        own->n_values = prices->n_values;
        const size_t each = (size_t)own->n_values * values->n_slots;
        if (own->n_values > values->most_values) values->most_values = own->n_values;
        KN_OWN_ALIGNED(&values->memory, own->inner, (values->first_place[values->b->n_inner] + 1) * each);
        KN_OWN_ALIGNED(&values->memory, own->riders, KN_LATTICE_LANES * each);
        KN_OWN_ALIGNED(&values->memory, own->bundle, each);
    }
done:
    return status;
}

kn_status kn_value_sums_new(kn_value_sums **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = domain->bundles;
    const size_t n = domain->n_prices + 1;
    kn_value_sums *values = NULL;
    *out = NULL;
    KN_NEW(values, 1);
    values->domain = domain;
    values->b = b;
    values->n_slots = b->n_combos + 1;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
        values->first_place[i + 1] = values->first_place[i] + column->levels[column->min_level].n;
    }
    KN_OWN(&values->memory, values->classes, n);
    KN_OWN(&values->memory, values->prices, n);
    KN_OWN(&values->memory, values->counted_by, n);
    KN_OWN(&values->memory, values->counts, n);
    KN_TRY(choose(values, err));
    KN_OWN(&values->memory, values->gone, (size_t)b->n_combos << b->n_inner_bits);
    KN_OWN(&values->memory, values->held, (size_t)values->n_classes * values->n_slots);
    KN_OWN(&values->memory, values->outer, (size_t)values->n_prices * values->n_slots);
    KN_OWN(&values->memory, values->lost, (size_t)values->n_prices * b->n_combos);
    KN_OWN(&values->memory, values->root, (size_t)values->n_prices * b->n_combos);
    KN_OWN(&values->memory, values->rider_prices, (size_t)values->n_prices * KN_LATTICE_LANES * values->most_values);
    fill_rider_prices(values);
    *out = values;
    values = NULL;
done:
    kn_value_sums_free(values);
    return status;
}

void kn_value_sums_free(kn_value_sums *values)
{
    if (values == NULL) return;
    kn_owner_free(&values->memory);
    kn_free(values);
}

void kn_value_sums_clear(kn_value_sums *values, const kn_bundles *bundles)
{
    values->levels = bundles->levels;
    memset(values->outer, 0, (size_t)values->n_prices * values->n_slots * sizeof *values->outer);
    memset(values->held, 0, (size_t)values->n_classes * values->n_slots * sizeof *values->held);
    for (uint32_t i = 0; i < values->n_counted; i++) {
        const counted *own = &values->counts[i];
        const size_t each = (size_t)own->n_values * values->n_slots * sizeof(kn_lanes4);
        memset(own->inner, 0, values->first_place[values->b->n_inner] * each);
        memset(own->riders, 0, KN_LATTICE_LANES * each);
    }
}

/* --- Classes that hold ----------------------------------------------------------------------------------------- */

/* `held` has the bits of the classes that are released. */
static void add_prices(wide_sums *to, const double *prices, const kn_class_values *class, uint32_t held, uint32_t ask)
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

void kn_value_sums_held(kn_value_sums *values, kn_bundle_classes *classes, uint32_t combo, uint32_t j,
                        const kn_lanes4 held[4], uint32_t to)
{
    kn_class_values class;
    double prices[16];
    if (values->n_classes == 0) return;
    kn_bundle_classes_values(&class, classes, combo, j);
    const uint32_t bits = kn_lane_bits(held) & kn_bundle_classes_all(classes), ask = bits & class.apart;
    for (uint32_t i = 0; i < values->n_classes; i++) {
        const kn_objective *objective = values->domain->prices[values->classes[i]].objective;
        const kn_value_lanes lanes = {ask, class.count_bytes,
                                      values->b->lattice->tuples->sensitive[objective->column].n_values,
                                      (const uint32_t *)class.rows, class.counts[objective->column]};
        objective->type->price_values(prices, objective->state, &lanes);
        add_prices(&values->held[(size_t)i * values->n_slots + to], prices, &class, bits, ask);
    }
}

/* --- Suppressed rows ------------------------------------------------------------------------------------------- */

void kn_value_sums_gone(kn_value_sums *values, uint32_t to, uint32_t inner_value, uint32_t gone)
{
    if (to == values->b->n_combos) values->single_gone = gone;
    else values->gone[((size_t)to << values->b->n_inner_bits) + inner_value] = (uint16_t)gone;
}

/* What is suppressed of an entry: its lanes in each merged set, as in kn_lane_bits. */
typedef struct gone_lanes {
    uint32_t any, each; /* in some combo, in every combo */
    uint16_t at[KN_BUNDLE_MAX_COMBOS];
} gone_lanes;

static void look_up(gone_lanes *gone, const kn_value_sums *values, uint32_t inner)
{
    const kn_bundle_lattice *b = values->b;
    gone->any = 0;
    gone->each = 0xffff;
    for (uint32_t c = 0; c < b->n_combos; c++) {
        const size_t first = (size_t)c << b->n_inner_bits;
        gone->at[c] = values->gone[first + b->at_combo[first + inner]];
        gone->any |= gone->at[c];
        gone->each &= gone->at[c];
    }
}

/* n rows of a rider lane with one sensitive value, as far as their lane is suppressed. */
KN_INLINE void add_rows(const kn_value_sums *values, counted *own, uint32_t lane, uint32_t value, uint32_t n,
                        const gone_lanes *gone, const uint32_t *places)
{
    static const uint32_t used[] = {0x0001, 0x1001, 0x1111}; /* by number of riders */
    const kn_bundle_lattice *b = values->b;
    const uint32_t n_combos = b->n_combos, n_slots = values->n_slots, all = used[b->n_riders] << lane;
    const kn_lanes4 bits = (kn_lanes4){1, 16, 256, 4096} << lane;
    kn_lanes4 rows[KN_BUNDLE_MAX_COMBOS + 1] = {{0}};
    uint32_t first = 0, end = n_combos;
    if ((gone->any & all) == 0) return;
    own->touched |= (uint64_t)1 << value;
    if (((gone->any ^ gone->each) & all) == 0) { /* the same at all combos */
        const uint32_t at = gone->each;
        first = end++;
        rows[n_combos] = (kn_lanes4)(((kn_lanes4){at, at, at, at} & bits) != 0) & n;
    } else {
        own->mixed = true;
        for (uint32_t c = 0; c < n_combos; c++) {
            const uint32_t at = gone->at[c];
            rows[c] = (kn_lanes4)(((kn_lanes4){at, at, at, at} & bits) != 0) & n;
        }
    }
    for (uint32_t s = first; s < end; s++) {
        own->bundle[value * n_slots + s] += rows[s];
        own->riders[(lane * own->n_values + value) * n_slots + s] += rows[s];
    }
    for (uint32_t i = 0; i < b->n_inner; i++)
        for (uint32_t s = first; s < end; s++)
            own->inner[((size_t)places[i] * own->n_values + value) * n_slots + s] += rows[s];
}

static void add_entry(const kn_value_sums *values, counted *own, const kn_bundles *bundles, uint32_t e,
                      const gone_lanes *gone)
{
    const kn_bundle_lattice *b = values->b;
    const uint32_t n_lanes = b->values_lanes;
    uint64_t word = bundles->words[(size_t)e * b->n_words + own->column];
    uint32_t places[KN_BUNDLE_MAX_INNER];
    for (uint32_t i = 0; i < b->n_inner; i++)
        places[i] = values->first_place[i] + kn_inner_position(b, i, bundles->inner[e]);
    if (kn_values_n(word) == KN_VALUES_LANES) {
        const uint32_t *slot = bundles->values + (size_t)(uint32_t)word * b->values_width + b->values_at[own->column];
        for (uint32_t place = 0; place < own->n_values * n_lanes; place++)
            if (slot[place] > 0) add_rows(values, own, place % n_lanes, place / n_lanes, slot[place], gone, places);
        return;
    }
    for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8)
        add_rows(values, own, (word & 0xff) % n_lanes, (word & 0xff) / n_lanes, 1, gone, places);
}

/* What the rows of a bundle paid in the outer columns. */
static void price_outer(kn_value_sums *values, uint32_t counts, uint64_t key)
{
    const kn_bundle_lattice *b = values->b;
    const uint32_t n_slots = values->n_slots;
    counted *own = &values->counts[counts];
    for (uint64_t rest = own->touched; rest != 0; rest &= rest - 1) {
        const uint32_t value = (uint32_t)__builtin_ctzll(rest);
        kn_lanes4 *rows = own->bundle + value * n_slots;
        for (uint32_t p = 0; p < values->n_prices; p++) {
            const kn_prices *prices = &values->domain->prices[values->prices[p]];
            kn_value_sum sum = {0};
            if (values->counted_by[p] != counts) continue;
            for (uint32_t d = 0; d < b->n_outer; d++) {
                const size_t at = key >> b->outer_shift[d] & ((1ull << b->outer_bits[d]) - 1);
                const kn_value_price *own_prices = prices->value_prices[b->outer[d]][values->levels[b->outer[d]]];
                kn_value_sum_add(&sum, own_prices[at * prices->n_values + value], 1);
            }
            kn_value_sum_carry(&sum);
            for (uint32_t slot = own->mixed ? 0 : n_slots - 1; slot < n_slots; slot++)
                add_rows_at(&values->outer[(size_t)p * n_slots + slot], rows[slot],
                            (kn_value_price){(uint32_t)sum.high, (uint32_t)sum.low});
        }
        memset(rows, 0, n_slots * sizeof *rows);
    }
    own->touched = 0;
    own->mixed = false;
}

void kn_value_sums_bundle(kn_value_sums *values, const kn_bundles *bundles, uint32_t bundle, kn_bundle_shape shape)
{
    gone_lanes gone;
    if (values->n_counted == 0) return;
    gone.any = gone.each = shape == KN_BUNDLE_SINGLE ? values->single_gone : 0xffff;
    for (uint32_t e = bundles->start[bundle]; e < bundles->start[bundle + 1]; e++) {
        if (shape == KN_BUNDLE_MIXED) look_up(&gone, values, bundles->inner[e]);
        for (uint32_t i = 0; i < values->n_counted && gone.any != 0; i++)
            add_entry(values, &values->counts[i], bundles, e, &gone);
    }
    for (uint32_t i = 0; i < values->n_counted; i++) price_outer(values, i, bundles->keys[bundle]);
}

/* --- Prices ---------------------------------------------------------------------------------------------------- */

static void price_inner(wide_sums *lost, const kn_value_sums *values, const counted *own, const kn_prices *prices,
                        uint32_t combo)
{
    const kn_bundle_lattice *b = values->b;
    const uint32_t n_slots = values->n_slots, n_values = own->n_values;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        const uint32_t q = b->inner[i], level = b->combo_level[combo][i];
        const kn_lattice_column *column = &b->lattice->columns[q];
        const kn_lattice_level *least = &column->levels[column->min_level];
        for (uint32_t p = 0; p < least->n; p++) {
            const size_t at = column->levels[level].of_code[least->first_code[p]];
            const kn_lanes4 *slots = own->inner + (size_t)(values->first_place[i] + p) * n_values * n_slots;
            for (uint32_t v = 0; v < n_values; v++, slots += n_slots)
                add_rows_at(lost, slots[combo] + slots[n_slots - 1], prices->value_prices[q][level][at * n_values + v]);
        }
        carry(lost);
    }
}

/* The rider lanes have all suppressed rows: they also tell what these pay. */
static void price_riders(wide_sums *lost, wide_sums *root, const kn_value_sums *values, const counted *own, uint32_t p,
                         uint32_t combo)
{
    const uint32_t n_slots = values->n_slots;
    const kn_prices *prices = &values->domain->prices[values->prices[p]];
    const kn_lanes4 *slots = own->riders;
    for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++)
        for (uint32_t v = 0; v < own->n_values; v++, slots += n_slots) {
            const wide_sums *riders =
                &values->rider_prices[(size_t)(p * KN_LATTICE_LANES + lane) * values->most_values + v];
            const kn_lanes4 rows = slots[combo] + slots[n_slots - 1];
            if (!kn_any_lane(rows)) continue;
            add_rows_at(root, rows, prices->value_root[v]);
            for (int m = 0; m < 4; m++) {
                lost->high[m] += rows[m] * riders->high[m];
                lost->low[m] += rows[m] * riders->low[m];
            }
        }
    carry(lost);
}

void kn_value_sums_price(kn_value_sums *values)
{
    const uint32_t n_combos = values->b->n_combos, n_slots = values->n_slots;
    for (uint32_t p = 0; p < values->n_prices; p++)
        for (uint32_t c = 0; c < n_combos; c++) {
            const counted *own = &values->counts[values->counted_by[p]];
            const wide_sums *outer = values->outer + (size_t)p * n_slots;
            wide_sums *lost = &values->lost[(size_t)p * n_combos + c], *root = &values->root[(size_t)p * n_combos + c];
            *root = (wide_sums){0};
            for (int m = 0; m < 4; m++) {
                lost->high[m] = outer[c].high[m] + outer[n_combos].high[m];
                lost->low[m] = outer[c].low[m] + outer[n_combos].low[m];
            }
            carry(lost);
            price_inner(lost, values, own, &values->domain->prices[values->prices[p]], c);
            price_riders(lost, root, values, own, p, c);
        }
}

void kn_value_sums_node(kn_node_sums *sums, const kn_value_sums *values, uint32_t combo, uint32_t set)
{
    const uint32_t n_combos = values->b->n_combos;
    for (uint32_t i = 0; i < values->n_classes; i++) {
        const wide_sums *held = &values->held[(size_t)i * values->n_slots + combo],
                        *single = &values->held[(size_t)i * values->n_slots + n_combos];
        const uint64_t low = held->low[set] + single->low[set],
                       high = held->high[set] + single->high[set] + (low >> 32);
        sums[values->classes[i]].classes = (long double)high * 0x1p-32L + (long double)(uint32_t)low * 0x1p-64L;
    }
    for (uint32_t p = 0; p < values->n_prices; p++) {
        const wide_sums *lost = &values->lost[(size_t)p * n_combos + combo],
                        *root = &values->root[(size_t)p * n_combos + combo];
        sums[values->prices[p]].values =
            (kn_value_sum){(int64_t)(root->high[set] - lost->high[set]), (int64_t)(root->low[set] - lost->low[set])};
    }
}
