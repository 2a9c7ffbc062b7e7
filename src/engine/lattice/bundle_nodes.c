/* The pass over bundles; see the header. Most bundles need no work per combo: one with fewer than k persons in all is
 * suppressed in each of them, one with a single entry is the same class in each of them. They are added up once, as if
 * there were one combo more. Of the others the classes of every combo are listed (bundle_classes.h), those with fewer
 * persons, or fewer different sensitive values, than any model allows are suppressed for sure, and models that look at
 * sensitive values are asked about the rest.
 *
 * Rows are kept by inner value and priced in the end: a pass meets many classes and few values. What they pay in the
 * outer columns is the same for a whole bundle. Measures that look at sensitive values: value_sums.h.
 *
 * Memory: 128 bytes per combo and inner value, half of it again for each measure that is a product. */
#include "engine/lattice/bundle_nodes.h"

#include "engine/lattice/bundle_classes.h"
#include "engine/lattice/value_sums.h"

#include <string.h>

/* What one merged set has at one combo. */
typedef struct set_sums {
    kn_lanes4 classes, smallest, must_go;
    kn_lanes4_u64 squares;
} set_sums;

enum { SURE, REFUSED }; /* why rows are suppressed: a class of too few persons or values; a model says so */

/* What a suppressed row pays more in an outer column, or the factor of its cells, by the field of its bundle's key. */
typedef struct field {
    const void *table; /* [position] */
    uint64_t mask;
    uint32_t shift;
} field;

struct kn_bundle_nodes {
    kn_owner memory; /* all arrays */
    const kn_full_domain *domain;
    const kn_bundle_lattice *b;
    kn_bundle_classes *classes;
    kn_value_sums *values; /* NULL where bundles carry no sensitive values */
    uint32_t *valid_start; /* [combo]: the inner values that exist at its levels, in a list of all; the last one as the
                              first */
    uint16_t *valid;
    set_sums sums[KN_BUNDLE_MAX_COMBOS + 1][4];
    kn_lanes4 *gone[2];     /* [((combo << n_inner_bits) + inner) * 4 + merged set]: suppressed rows, by lane */
    uint32_t n_reasons;     /* of these that can be */
    uint32_t n_cells;       /* measures that are sums over cells ... */
    uint32_t *cells;        /* ... which ones */
    int64_t (*units[2])[4]; /* [cell measure * (n_combos + 1) + combo]: what the rows pay more in the outer columns */
    int64_t **inner_gap; /* [cell measure][(combo << n_inner_bits) + inner]: what a row pays more in the inner ones */
    uint32_t n_products, *products;
    kn_lanes4_f64 *held; /* [(product * (n_combos + 1) + combo) << n_inner_bits | inner) * 4 + merged set]: rows *
                            factors of the outer columns, of classes that hold */
    field *fields;       /* [measure * n_outer + index into outer], at the levels of the bundles at hand */
    kn_lanes4 *totals;   /* [inner]: scratch */
    double *factors;     /* [product]: of the bundle at hand */
    uint32_t *levels;
    kn_node_sums *node_sums; /* [variant * measures + measure]: of the combo at hand */
    bool has_details;
};

/* --- Setting up ------------------------------------------------------------------------------------------------ */

size_t kn_bundle_nodes_bytes(const kn_lattice *lattice, const kn_objective *const *objectives, size_t n,
                             uint32_t n_combos)
{
    for (size_t m = 0; m < n; m++)
        if (objectives[m]->type->price_row != NULL && !objectives[m]->type->product)
            return kn_value_sums_bytes(lattice, n_combos);
    return 0;
}

static bool exists(const kn_bundle_lattice *b, uint32_t combo, uint32_t value)
{
    for (uint32_t i = 0; i < b->n_inner; i++)
        if (kn_inner_position(b, i, value) >= b->lattice->columns[b->inner[i]].levels[b->combo_level[combo][i]].n)
            return false;
    return true;
}

static kn_status list_values(kn_bundle_nodes *pass, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = pass->b;
    uint32_t n = 0;
    KN_OWN(&pass->memory, pass->valid_start, (size_t)b->n_combos + 2);
    KN_OWN_RAW(&pass->memory, pass->valid, (size_t)(b->n_combos + 1) << b->n_inner_bits);
    for (uint32_t c = 0; c <= b->n_combos; c++) {
        for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++)
            if (exists(b, c < b->n_combos ? c : 0, value)) pass->valid[n++] = (uint16_t)value;
        pass->valid_start[c + 1] = n;
    }
done:
    return status;
}

static kn_status inner_gaps(kn_bundle_nodes *pass, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = pass->b;
    KN_OWN(&pass->memory, pass->inner_gap, (size_t)pass->n_cells + 1);
    for (uint32_t m = 0; m < pass->n_cells; m++) {
        int64_t ***gap = pass->domain->prices[pass->cells[m]].gap;
        KN_OWN(&pass->memory, pass->inner_gap[m], (size_t)b->n_combos << b->n_inner_bits);
        for (uint32_t c = 0; c < b->n_combos; c++)
            for (uint32_t v = pass->valid_start[c]; v < pass->valid_start[c + 1]; v++)
                for (uint32_t i = 0; i < b->n_inner; i++)
                    pass->inner_gap[m][((size_t)c << b->n_inner_bits) + pass->valid[v]] +=
                        gap[b->inner[i]][b->combo_level[c][i]][kn_inner_position(b, i, pass->valid[v])];
    }
done:
    return status;
}

kn_status kn_bundle_nodes_new(kn_bundle_nodes **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = domain->bundles;
    const size_t n_combos = b->n_combos + 1, n_values = n_combos << b->n_inner_bits, n = domain->n_prices + 1;
    kn_bundle_nodes *pass = NULL;
    *out = NULL;
    KN_NEW_ALIGNED(pass, 1);
    pass->domain = domain;
    pass->b = b;
    pass->n_reasons = b->n_words > 0 && !domain->task->models->counts_only ? 2 : 1;
    KN_TRY(kn_bundle_classes_new(&pass->classes, b, domain->task->models, err));
    KN_TRY(list_values(pass, err));
    KN_OWN(&pass->memory, pass->cells, n);
    KN_OWN(&pass->memory, pass->products, n);
    for (uint32_t m = 0; m < domain->n_prices; m++) {
        const kn_measure *measure = domain->prices[m].objective->type;
        if (measure->price_cell != NULL) pass->cells[pass->n_cells++] = m;
        else pass->has_details = true;
        if (domain->prices[m].factors != NULL) pass->products[pass->n_products++] = m;
    }
    KN_TRY(inner_gaps(pass, err));
    if (b->n_words > 0) KN_TRY(kn_value_sums_new(&pass->values, domain, err));
    for (uint32_t r = 0; r < pass->n_reasons; r++) {
        KN_OWN_ALIGNED(&pass->memory, pass->gone[r], n_values * 4);
        KN_OWN(&pass->memory, pass->units[r], (pass->n_cells + 1) * n_combos);
    }
    KN_OWN_ALIGNED(&pass->memory, pass->held, pass->n_products * n_values * 4);
    KN_OWN(&pass->memory, pass->fields, n * (b->n_outer + 1));
    KN_OWN_ALIGNED(&pass->memory, pass->totals, (size_t)2 << b->n_inner_bits);
    KN_OWN(&pass->memory, pass->levels, (size_t)b->lattice->tuples->n_qis + 1);
    KN_OWN(&pass->memory, pass->node_sums, n << KN_LATTICE_MAX_RIDERS);
    KN_OWN(&pass->memory, pass->factors, n);
    *out = pass;
    pass = NULL;
done:
    kn_bundle_nodes_free(pass);
    return status;
}

void kn_bundle_nodes_free(kn_bundle_nodes *pass)
{
    if (pass == NULL) return;
    kn_owner_free(&pass->memory);
    kn_bundle_classes_free(pass->classes);
    kn_value_sums_free(pass->values);
    kn_free(pass);
}

static void clear(kn_bundle_nodes *pass, const kn_bundles *bundles)
{
    const kn_bundle_lattice *b = pass->b;
    const set_sums none = {.smallest = {~0u, ~0u, ~0u, ~0u}};
    for (uint32_t c = 0; c <= b->n_combos; c++) {
        for (int m = 0; m < 4; m++) pass->sums[c][m] = none;
        for (uint32_t i = pass->valid_start[c]; i < pass->valid_start[c + 1]; i++) {
            const size_t at = (((size_t)c << b->n_inner_bits) + pass->valid[i]) * 4;
            for (uint32_t r = 0; r < pass->n_reasons; r++) memset(&pass->gone[r][at], 0, 4 * sizeof(kn_lanes4));
            for (size_t p = 0; p < pass->n_products; p++)
                memset(&pass->held[(p * (b->n_combos + 1) << b->n_inner_bits) * 4 + at], 0, 4 * sizeof *pass->held);
        }
    }
    for (uint32_t r = 0; r < pass->n_reasons; r++)
        memset(pass->units[r], 0, (size_t)pass->n_cells * (b->n_combos + 1) * sizeof *pass->units[r]);
    for (uint32_t m = 0; m < pass->domain->n_prices; m++)
        for (uint32_t d = 0; d < b->n_outer; d++) {
            const kn_prices *prices = &pass->domain->prices[m];
            const uint32_t q = b->outer[d], level = bundles->levels[q];
            const void *table = prices->gap != NULL       ? (const void *)prices->gap[q][level]
                                : prices->factors != NULL ? (const void *)prices->factors[q][level]
                                                          : NULL;
            pass->fields[m * b->n_outer + d] = (field){table, (1ull << b->outer_bits[d]) - 1, b->outer_shift[d]};
        }
    if (pass->values != NULL) kn_value_sums_clear(pass->values, bundles);
}

/* --- One class ------------------------------------------------------------------------------------------------- */

/* What is the same for all bundles of a pass. Constant members make loops of their own. */
typedef struct kind {
    kn_lanes4 threshold;
    bool has_persons, values, details; /* values: models or measures look at sensitive values; details: of classes that
                                          hold */
    bool smallest;                     /* the smallest class is asked for */
    uint32_t n_riders, n_sets;
    const kn_bundle_lattice *b;
    const uint32_t *least_values; /* [sensitive] */
    uint32_t least;               /* of the only one; UINT32_MAX: there are several */
} kind;

KN_INLINE void unite_lanes(kn_lanes4 united[4], kn_lanes4 sets)
{
    united[0] = sets;
    united[1] = sets | __builtin_shufflevector(sets, sets, 2, 3, 0, 1);
    united[2] = sets | __builtin_shufflevector(sets, sets, 1, 0, 3, 2);
    united[3] = united[2] | __builtin_shufflevector(united[2], united[2], 2, 3, 0, 1);
}

KN_INLINE kn_lanes4 count_bits(kn_lanes4 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 0x3f;
}

/* The lanes of each merged set whose sets have fewer values than asked for. Few values are counted by taking them away.
 */
KN_INLINE void too_few(kn_lanes4 few[4], const kn_lanes4 *sets, const kind *k)
{
    enum { MOST_TAKEN = 8 };
    kn_lanes4 united[2][4] = {{{0}}};
    if (k->n_sets <= 2 && k->least <= MOST_TAKEN) {
        for (uint32_t part = 0; part < k->n_sets; part++) unite_lanes(united[part], sets[part]);
        for (int m = 0; m < 4; m++) {
            kn_lanes4 first = united[0][m], second = united[1][m];
            if (!kn_set_used(k->n_riders, m)) continue;
            for (uint32_t i = 1; i < k->least; i++) {
                if (k->n_sets == 2) second &= (second - 1) | (kn_lanes4)(first != 0);
                first &= first - 1;
            }
            few[m] = (kn_lanes4)((first | second) == 0);
        }
        return;
    }
    for (uint32_t column = 0, part = 0; part < k->n_sets; column++) {
        kn_lanes4 n_values[4] = {{0}};
        for (uint32_t end = part + k->b->n_set_lanes[column]; part < end; part++) {
            unite_lanes(united[0], sets[part]);
            for (int m = 0; m < 4; m++) n_values[m] += count_bits(united[0][m]);
        }
        if (k->b->n_set_lanes[column] == 0) continue;
        for (int m = 0; m < 4; m++) few[m] |= (kn_lanes4)(n_values[m] < k->least_values[column]);
    }
}

/* Rows are fewer than 2^31, so numbers with a sign are compared: what processors have. */
KN_INLINE kn_lanes4 is_below(kn_lanes4 size, kn_lanes4 threshold)
{
    return (kn_lanes4)((kn_lanes4_i32)size < (kn_lanes4_i32)threshold);
}

/* Whether not even all lanes together have persons enough. */
KN_INLINE bool is_small(kn_lanes4 size, const kind *k)
{
    size += __builtin_shufflevector(size, size, 2, 3, 0, 1);
    size += __builtin_shufflevector(size, size, 1, 0, 3, 2);
    return size[0] < k->threshold[0];
}

/* Which rows of a class are suppressed for want of persons or values, by merged set. Returns whether there are any, or
 * true: where it costs little to tell which, there is no branch on whether. */
KN_INLINE bool judge_size(kn_lanes4 gone[4], kn_lanes4 rows[4], const kn_lanes4 *counts, const kind *k,
                          set_sums sums[4])
{
    kn_lanes4 persons[4] = {{0}}, few[4] = {{0}}, size = counts[k->has_persons ? 1 : 0];
    if (k->n_sets > 0 && !k->details && is_small(size, k)) {
        kn_merge_lanes(gone, counts[0]);
        return true;
    }
    if (k->n_sets > 0) too_few(few, counts + (k->has_persons ? 2 : 1), k);
    if (!k->details && !k->values && (k->has_persons || k->n_sets > 0) &&
        !kn_any_lane((is_below(size, k->threshold) | few[0]) & counts[0]))
        return false;
    kn_merge_lanes(rows, counts[0]);
    if (k->has_persons) kn_merge_lanes(persons, counts[1]);
    for (int m = 0; m < 4; m++) {
        gone[m] = (kn_lanes4){0};
        if (!kn_set_used(k->n_riders, m)) continue;
        size = k->has_persons ? persons[m] : rows[m];
        gone[m] = rows[m] & (is_below(size, k->threshold) | few[m]);
        if (k->smallest) sums[m].smallest = kn_lesser(size | (kn_lanes4)(rows[m] == 0), sums[m].smallest);
    }
    return true;
}

/* Where a class is: combo and number in its list, its inner value, and the combo that it is added to, with what is
 * suppressed there by inner value: stores of vectors may alias anything, so these are looked up once per combo. */
typedef struct place {
    uint32_t combo, j, value, to;
    kn_lanes4 *gone[2];
} place;

KN_INLINE place place_at(const kn_bundle_nodes *pass, uint32_t combo, uint32_t to)
{
    const size_t first = ((size_t)to << pass->b->n_inner_bits) * 4;
    place at = {.combo = combo, .to = to, .gone = {pass->gone[SURE] + first}};
    if (pass->n_reasons > 1) at.gone[REFUSED] = pass->gone[REFUSED] + first;
    return at;
}

/* Which rows are suppressed because a model says so; returns whether any are. */
KN_INLINE bool judge_values(kn_lanes4 refused[4], kn_bundle_nodes *pass, const kn_lanes4 rows[4], place at)
{
    kn_lanes4 must_go[4];
    const uint32_t bits = kn_bundle_classes_refused(must_go, pass->classes, rows, at.combo, at.j);
    for (int m = 0; bits != 0 && m < 4; m++) {
        refused[m] = rows[m] & kn_class_mask(bits, m);
        pass->sums[at.to][m].must_go += must_go[m];
    }
    return bits != 0;
}

/* Adds suppressed rows of a class to those of its inner value, and to those of the bundle. */
KN_INLINE void add_gone(kn_lanes4 bundle[4], const kn_lanes4 gone[4], kn_lanes4 *by_value, uint32_t value,
                        uint32_t n_riders)
{
    kn_lanes4 *own = by_value + (size_t)value * 4;
    for (int m = 0; m < 4; m++) {
        if (!kn_set_used(n_riders, m)) continue;
        own[m] += gone[m];
        bundle[m] += gone[m];
    }
}

/* Classes that hold: counted, squared, multiplied. */
KN_INLINE void add_held(kn_bundle_nodes *pass, const kn_lanes4 held[4], place at, const double *factors, const kind *k)
{
    set_sums *sums = pass->sums[at.to];
    for (int m = 0; m < 4; m++) {
        if (!kn_set_used(k->n_riders, m)) continue;
        const kn_lanes4_u64 wide = __builtin_convertvector(held[m], kn_lanes4_u64);
        sums[m].squares += wide * wide;
        sums[m].classes -= (kn_lanes4)(held[m] != 0);
    }
    for (uint32_t p = 0; p < pass->n_products; p++) {
        const size_t first = (size_t)(p * (pass->b->n_combos + 1) + at.to) << pass->b->n_inner_bits;
        for (int m = 0; m < 4; m++)
            if (kn_set_used(k->n_riders, m))
                pass->held[(first + at.value) * 4 + (size_t)m] +=
                    __builtin_convertvector(held[m], kn_lanes4_f64) * factors[p];
    }
    if (k->values && pass->values != NULL) kn_value_sums_held(pass->values, pass->classes, at.combo, at.j, held, at.to);
}

/* --- Bundles ---------------------------------------------------------------------------------------------------- */

/* Adds what the suppressed rows of a bundle pay in the outer columns, the same for all of them: totals[i] at combo
 * first + i, for all i in `which`. */
KN_INLINE void add_units(kn_bundle_nodes *pass, uint64_t key, const kn_lanes4 *totals, uint32_t reason, uint32_t first,
                         uint32_t which, uint32_t n_riders)
{
    const uint32_t n_outer = pass->b->n_outer, n_combos = pass->b->n_combos + 1;
    for (uint32_t m = 0; m < pass->n_cells; m++) {
        const field *fields = pass->fields + (size_t)pass->cells[m] * n_outer;
        int64_t price = 0, (*units)[4] = pass->units[reason] + (size_t)m * n_combos + first;
        for (uint32_t d = 0; d < n_outer; d++)
            price += ((const int64_t *)fields[d].table)[key >> fields[d].shift & fields[d].mask];
        for (uint32_t rest = which; rest != 0; rest &= rest - 1)
            for (uint32_t i = 0, at = (uint32_t)__builtin_ctz(rest); i < 4; i++)
                if (kn_set_used(n_riders, (int)i)) units[at][i] += price * (int64_t)totals[at][i];
    }
}

static void look_up_factors(double *factors, const kn_bundle_nodes *pass, uint64_t key)
{
    const kn_bundle_lattice *b = pass->b;
    for (uint32_t p = 0; p < pass->n_products; p++) {
        const field *fields = pass->fields + (size_t)pass->products[p] * b->n_outer;
        factors[p] = 1;
        for (uint32_t d = 0; d < b->n_outer; d++)
            factors[p] *= ((const double *)fields[d].table)[key >> fields[d].shift & fields[d].mask];
    }
}

/* One class; `bundle` has what is suppressed of the bundle at this combo. */
KN_INLINE void add_class(kn_bundle_nodes *pass, kn_lanes4 bundle[2][4], const kn_lanes4 *counts, place at,
                         const double *factors, const kind *k)
{
    kn_lanes4 gone[4], rows[4], refused[4] = {{0}};
    if (!judge_size(gone, rows, counts, k, pass->sums[at.to])) return;
    add_gone(bundle[SURE], gone, at.gone[SURE], at.value, k->n_riders);
    if (k->values && pass->n_reasons > 1 && !is_small(counts[k->has_persons ? 1 : 0], k) &&
        judge_values(refused, pass, rows, at))
        add_gone(bundle[REFUSED], refused, at.gone[REFUSED], at.value, k->n_riders);
    if (!k->details) return;
    kn_lanes4 any = {0}, held[4];
    for (int m = 0; m < 4; m++) {
        if (k->values) gone[m] |= refused[m];
        any |= held[m] = rows[m] & (kn_lanes4)(gone[m] == 0);
    }
    if (kn_any_lane(any)) add_held(pass, held, at, factors, k);
    if (k->values && pass->values != NULL) kn_value_sums_gone(pass->values, at.to, at.value, kn_lane_bits(gone));
}

/* A bundle whose classes differ from combo to combo. Where nothing is suppressed, nothing is at the combos above. */
KN_INLINE void mixed_bundle(kn_bundle_nodes *pass, const kn_bundles *bundles, uint32_t bundle, const double *factors,
                            const kind *k)
{
    const kn_bundle_lattice *b = pass->b;
    const uint32_t parts = (k->has_persons ? 2 : 1) + k->n_sets;
    const uint32_t all = k->values ? kn_bundle_classes_all(pass->classes) : 0, n_reasons = k->values ? 2 : 1;
    kn_lanes4 totals[2][KN_BUNDLE_MAX_COMBOS];
    uint32_t suppress[2] = {0}, open = b->above[0]; /* combos: with suppressed rows; not yet looked at */
    kn_bundle_classes_begin(pass->classes, bundles, bundle);
    while (open != 0) {
        const uint32_t c = (uint32_t)__builtin_ctz(open);
        const kn_class_list list = *kn_bundle_classes_list(pass->classes, c);
        kn_lanes4 own[2][4] = {{{0}}}, any = {0};
        place at = place_at(pass, c, c);
        if (k->values && c > 0) kn_bundle_classes_inherit(pass->classes, c);
        for (uint32_t j = 0; j < list.n; j++) {
            if (k->values && !k->details && (list.state[j] & all) == all) continue;
            at.j = j;
            at.value = list.value[j];
            add_class(pass, own, &list.counts[j * parts], at, factors, k);
        }
        for (uint32_t r = 0; r < n_reasons; r++) {
            any |= totals[r][c] = kn_sum_lanes(own[r]);
            suppress[r] |= (uint32_t)kn_any_lane(totals[r][c]) << c;
        }
        open &= k->details || kn_any_lane(any) ? open - 1 : ~b->above[c];
    }
    for (uint32_t r = 0; r < n_reasons; r++)
        if (suppress[r] != 0) add_units(pass, bundles->keys[bundle], totals[r], r, 0, suppress[r], k->n_riders);
}

enum { FEW = 3, FEW_PARTS = 3 }; /* entries of a bundle; parts of their counts */

/* A bundle of few entries: each set of them is judged once, and a combo only tells which of them are one class. */
KN_INLINE void few_bundle(kn_bundle_nodes *pass, const kn_bundles *bundles, uint32_t bundle, const kind *k)
{
    const kn_bundle_lattice *b = pass->b;
    const uint32_t n_sums = k->has_persons ? 2 : 1, parts = n_sums + k->n_sets;
    const uint32_t first = bundles->start[bundle], n = bundles->start[bundle + 1] - first;
    const uint16_t *inner = bundles->inner + first;
    kn_lanes4 counts[1 << FEW][FEW_PARTS] = {{{0}}}, gone[1 << FEW][4], rows[4], totals[KN_BUNDLE_MAX_COMBOS];
    uint32_t suppress = 0, open = b->above[0]; /* as in mixed_bundle */
    for (uint32_t set = 1; set < 1u << n; set++) {
        const uint32_t without = set & (set - 1), e = (uint32_t)__builtin_ctz(set);
        const kn_lanes4 *own = (const kn_lanes4 *)bundles->counts + (size_t)(first + e) * parts;
        for (uint32_t part = 0; part < parts; part++)
            counts[set][part] = part < n_sums ? counts[without][part] + own[part] : counts[without][part] | own[part];
        if (!judge_size(gone[set], rows, counts[set], k, pass->sums[0])) memset(gone[set], 0, sizeof gone[set]);
    }
    while (open != 0) {
        const uint32_t c = (uint32_t)__builtin_ctz(open);
        const uint16_t *at_combo = b->at_combo + ((size_t)c << b->n_inner_bits);
        const uint32_t values[FEW] = {at_combo[inner[0]], at_combo[inner[1]], at_combo[inner[n - 1]]};
        kn_lanes4 own[4] = {{0}}, *by_value = pass->gone[SURE] + ((size_t)c << b->n_inner_bits) * 4;
        for (uint32_t rest = (1u << n) - 1; rest != 0;) {
            const uint32_t value = values[__builtin_ctz(rest)];
            const uint32_t set = rest & ((uint32_t)(values[0] == value) | (uint32_t)(values[1] == value) << 1 |
                                         (uint32_t)(values[2] == value) << 2);
            add_gone(own, gone[set], by_value, value, k->n_riders);
            rest ^= set;
        }
        totals[c] = kn_sum_lanes(own);
        suppress |= (uint32_t)kn_any_lane(totals[c]) << c;
        open &= kn_any_lane(totals[c]) ? open - 1 : ~b->above[c];
    }
    if (suppress != 0) add_units(pass, bundles->keys[bundle], totals, SURE, 0, suppress, k->n_riders);
}

/* A bundle of one entry: the same class at every combo. */
KN_INLINE void single_bundle(kn_bundle_nodes *pass, const kn_bundles *bundles, uint32_t bundle, const double *factors,
                             const kind *k)
{
    const uint32_t parts = (k->has_persons ? 2 : 1) + k->n_sets, e = bundles->start[bundle], to = pass->b->n_combos;
    const kn_lanes4 *counts = (const kn_lanes4 *)bundles->counts + (size_t)e * parts;
    kn_lanes4 gone[2][4] = {{{0}}};
    if (k->values && !is_small(counts[k->has_persons ? 1 : 0], k)) {
        kn_bundle_classes_begin(pass->classes, bundles, bundle);
        kn_bundle_classes_list(pass->classes, 0);
    }
    place at = place_at(pass, 0, to);
    at.value = bundles->inner[e];
    add_class(pass, gone, counts, at, factors, k);
    for (uint32_t r = 0; r < (k->values ? 2 : 1); r++) {
        const kn_lanes4 total = kn_sum_lanes(gone[r]);
        if (kn_any_lane(total)) add_units(pass, bundles->keys[bundle], &total, r, to, 1, k->n_riders);
    }
}

/* A bundle with fewer than k persons in all: every class of every combo is suppressed. */
KN_INLINE void small_bundle(kn_bundle_nodes *pass, const kn_bundles *bundles, uint32_t bundle, const kind *k)
{
    const uint32_t parts = (k->has_persons ? 2 : 1) + k->n_sets, to = pass->b->n_combos;
    kn_lanes4 all[4] = {{0}}, rows[4];
    for (uint32_t e = bundles->start[bundle]; e < bundles->start[bundle + 1]; e++) {
        kn_lanes4 *own = pass->gone[SURE] + (((size_t)to << pass->b->n_inner_bits) + bundles->inner[e]) * 4;
        kn_merge_lanes(rows, ((const kn_lanes4 *)bundles->counts)[(size_t)e * parts]);
        for (int m = 0; m < 4; m++) {
            if (!kn_set_used(k->n_riders, m)) continue;
            own[m] += rows[m];
            all[m] += rows[m];
        }
    }
    const kn_lanes4 total = kn_sum_lanes(all);
    add_units(pass, bundles->keys[bundle], &total, SURE, to, 1, k->n_riders);
}

/* Whether the smallest class of a bundle with too few persons is of no interest: in the most general node, and so in
 * all, there is one of a single person already. */
KN_INLINE bool knows_smallest(const kn_bundle_nodes *pass, const kind *k)
{
    const int most = k->n_riders > 0 ? 3 : 0;
    const uint32_t n_combos = pass->b->n_combos;
    return !k->smallest || kn_any_lane((kn_lanes4)(pass->sums[n_combos - 1][most].smallest == 1) |
                                       (kn_lanes4)(pass->sums[n_combos][most].smallest == 1));
}

KN_INLINE bool all_small(const kn_bundles *bundles, uint32_t bundle, const kind *k)
{
    const uint32_t parts = (k->has_persons ? 2 : 1) + k->n_sets;
    kn_lanes4 all = {0};
    for (uint32_t e = bundles->start[bundle]; e < bundles->start[bundle + 1]; e++)
        all += ((const kn_lanes4 *)bundles->counts)[(size_t)e * parts + (k->has_persons ? 1 : 0)];
    return (uint64_t)all[0] + all[1] + all[2] + all[3] < k->threshold[0];
}

KN_INLINE void pass_bundles(kn_bundle_nodes *pass, const kn_bundles *bundles, kind k)
{
    const uint32_t parts = (k.has_persons ? 2 : 1) + k.n_sets;
    double *factors = pass->factors;
    for (uint32_t bundle = 0; bundle < bundles->n; bundle++) {
        const uint32_t n = bundles->start[bundle + 1] - bundles->start[bundle];
        const bool single = n == 1, few = n <= FEW && parts <= FEW_PARTS && !k.values && !k.details;
        const bool small = !single && all_small(bundles, bundle, &k);
        if (k.details) look_up_factors(factors, pass, bundles->keys[bundle]);
        if (single) single_bundle(pass, bundles, bundle, factors, &k);
        else if (small && knows_smallest(pass, &k)) small_bundle(pass, bundles, bundle, &k);
        else if (few) few_bundle(pass, bundles, bundle, &k);
        else mixed_bundle(pass, bundles, bundle, factors, &k);
        if (k.values && k.details && pass->values != NULL)
            kn_value_sums_bundle(pass->values, bundles, bundle,
                                 single  ? KN_BUNDLE_SINGLE
                                 : small ? KN_BUNDLE_SMALL
                                         : KN_BUNDLE_MIXED);
    }
}

static void go_over(kn_bundle_nodes *pass, const kn_bundles *bundles, bool details)
{
    const kn_bundle_lattice *b = pass->b;
    const kn_models *models = pass->domain->task->models;
    const uint32_t min_persons = models->min_persons < INT32_MAX ? (uint32_t)models->min_persons : INT32_MAX;
    kind k = {.threshold = {min_persons, min_persons, min_persons, min_persons},
              .has_persons = b->n_counts > KN_LATTICE_LANES,
              .values = b->n_words > 0,
              .details = details || pass->has_details,
              .smallest = details,
              .n_riders = b->n_riders,
              .n_sets = (b->width - b->n_counts) / 4,
              .b = b,
              .least_values = models->least_values};
    for (uint32_t s = 0; k.n_sets > 0 && s < b->lattice->tuples->n_sensitive; s++)
        if (b->n_set_lanes[s] > 0) k.least = b->n_set_lanes[s] == k.n_sets ? models->least_values[s] : UINT32_MAX;
    clear(pass, bundles);
#define WITH(riders, sets, v, d)                                                                                       \
    if (k.n_riders == (riders) && k.n_sets == (sets) && k.values == (v) && k.details == (d) && !k.has_persons) {       \
        k.n_riders = (riders), k.n_sets = (sets), k.values = (v), k.details = (d), k.has_persons = false;              \
        k.smallest = k.smallest && k.details;                                                                          \
        pass_bundles(pass, bundles, k);                                                                                \
        return;                                                                                                        \
    }
    WITH(2, 0, false, false)
    WITH(1, 0, false, false)
    WITH(0, 0, false, false)
    WITH(2, 1, false, false)
    WITH(2, 2, false, false)
    WITH(2, 0, false, true)
    WITH(1, 0, false, true)
    WITH(2, 0, true, false)
    WITH(2, 0, true, true)
#undef WITH
    pass_bundles(pass, bundles, k);
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

/* Suppressed rows at one combo, for one reason: totals[inner at its levels] has those of merged set m in lane m,
 * lanes[m] those of all inner values by lane. */
static void gather(kn_lanes4 *totals, kn_lanes4 lanes[4], const kn_bundle_nodes *pass, uint32_t reason, uint32_t c)
{
    const kn_bundle_lattice *b = pass->b;
    const uint32_t combos[] = {c, b->n_combos};
    for (uint32_t v = pass->valid_start[c]; v < pass->valid_start[c + 1]; v++) totals[pass->valid[v]] = (kn_lanes4){0};
    for (int m = 0; m < 4; m++) lanes[m] = (kn_lanes4){0};
    for (int i = 0; i < 2; i++)
        for (uint32_t v = pass->valid_start[combos[i]]; v < pass->valid_start[combos[i] + 1]; v++) {
            const uint32_t value = pass->valid[v];
            const kn_lanes4 *own = &pass->gone[reason][(((size_t)combos[i] << b->n_inner_bits) + value) * 4];
            totals[i == 0 ? value : b->at_combo[((size_t)c << b->n_inner_bits) + value]] += kn_sum_lanes(own);
            for (int m = 0; m < 4; m++) lanes[m] += own[m];
        }
}

/* The lanes of a merged set that are classes of their own, as a bit set. */
static uint32_t distinct_lanes(uint32_t set)
{
    static const uint32_t lanes[] = {15, 3, 5, 1};
    return lanes[set];
}

/* Level and position of rider r in a lane; a generalized one has one position. */
static uint32_t rider_position(uint32_t *level, const kn_bundle_lattice *b, uint32_t r, uint32_t lane, uint32_t variant)
{
    const kn_lattice_column *column = &b->lattice->columns[b->riders[r]];
    *level = variant >> r & 1 ? column->max_level : column->min_level;
    if (variant >> r & 1) return 0;
    return b->n_riders == 2 ? lane / b->rider_stride[r] % 2 : lane;
}

/* What the suppressed rows pay more in inner columns and riders. */
static void price_rows(int64_t units[4], const kn_bundle_nodes *pass, uint32_t cells, uint32_t c,
                       const kn_lanes4 *totals, const kn_lanes4 lanes[4])
{
    const kn_bundle_lattice *b = pass->b;
    const int64_t *gap = pass->inner_gap[cells] + ((size_t)c << b->n_inner_bits);
    int64_t ***gaps = pass->domain->prices[pass->cells[cells]].gap;
    memset(units, 0, 4 * sizeof *units);
    for (uint32_t v = pass->valid_start[c]; v < pass->valid_start[c + 1]; v++)
        for (int m = 0; m < 4; m++) units[m] += gap[pass->valid[v]] * (int64_t)totals[pass->valid[v]][m];
    for (uint32_t variant = 0; variant < 1u << b->n_riders; variant++)
        for (uint32_t r = 0, set = b->n_riders == 1 ? 3 * variant : variant; r < b->n_riders; r++)
            for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
                uint32_t level, position = rider_position(&level, b, r, lane, variant);
                if ((distinct_lanes(set) >> lane & 1) && lanes[set][lane] > 0)
                    units[set] += (int64_t)lanes[set][lane] * gaps[b->riders[r]][level][position];
            }
}

/* A product measure, summed over the classes that hold. */
static long double sum_products(const kn_bundle_nodes *pass, uint32_t p, uint32_t c, uint32_t variant, uint32_t set)
{
    const kn_bundle_lattice *b = pass->b;
    double ***factor = pass->domain->prices[pass->products[p]].factors;
    const uint32_t combos[] = {c, b->n_combos};
    kn_lanes4_f64 lanes = {0};
    long double sum = 0;
    for (int i = 0; i < 2; i++)
        for (uint32_t v = pass->valid_start[combos[i]]; v < pass->valid_start[combos[i] + 1]; v++) {
            const size_t at = ((size_t)(p * (b->n_combos + 1) + combos[i]) << b->n_inner_bits) + pass->valid[v];
            const uint32_t value =
                i == 0 ? pass->valid[v] : b->at_combo[((size_t)c << b->n_inner_bits) + pass->valid[v]];
            double product = 1;
            for (uint32_t j = 0; j < b->n_inner; j++)
                product *= factor[b->inner[j]][b->combo_level[c][j]][kn_inner_position(b, j, value)];
            lanes += pass->held[at * 4 + set] * product;
        }
    for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
        long double product = lanes[lane];
        if (!(distinct_lanes(set) >> lane & 1) || product == 0) continue;
        for (uint32_t r = 0; r < b->n_riders; r++) {
            uint32_t level, position = rider_position(&level, b, r, lane, variant);
            product *= factor[b->riders[r]][level][position];
        }
        sum += product;
    }
    return sum;
}

/* What is known of the classes of a node. */
static void count_classes(kn_node *node, uint64_t *squares, const kn_bundle_nodes *pass, const kn_bundles *bundles,
                          uint32_t c, uint32_t set)
{
    const set_sums *both[] = {&pass->sums[c][set], &pass->sums[pass->b->n_combos][set]};
    node->smallest = bundles->n > 0 ? UINT64_MAX : 0;
    *squares = 0;
    for (int i = 0; i < 2; i++)
        for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
            if (!(distinct_lanes(set) >> lane & 1)) continue;
            node->n_classes += both[i]->classes[lane];
            if (pass->domain->task->models->least_values == NULL) node->n_sure += both[i]->must_go[lane];
            *squares += both[i]->squares[lane];
            if (both[i]->smallest[lane] < node->smallest) node->smallest = both[i]->smallest[lane];
        }
    if (node->smallest >= UINT32_MAX) node->smallest = 0; /* not asked for */
}

/* What the suppressed rows pay more under the cell measures, for all variants of a combo. */
static void sum_cells(kn_node *nodes, kn_bundle_nodes *pass, uint32_t c, kn_lanes4 lanes[2][4])
{
    const kn_bundle_lattice *b = pass->b;
    const uint32_t n_combos = b->n_combos + 1, n = pass->domain->n_prices;
    for (uint32_t m = 0; m < pass->n_cells; m++) {
        int64_t units[2][4] = {{0}};
        for (uint32_t r = 0; r < pass->n_reasons; r++) {
            price_rows(units[r], pass, m, c, pass->totals + ((size_t)r << b->n_inner_bits), lanes[r]);
            for (int i = 0; i < 4; i++)
                units[r][i] += pass->units[r][m * n_combos + c][i] + pass->units[r][m * n_combos + n_combos - 1][i];
        }
        for (uint32_t variant = 0; variant < 1u << b->n_riders; variant++) {
            const uint32_t set = b->n_riders == 1 ? 3 * variant : variant;
            pass->node_sums[variant * n + pass->cells[m]].units = units[SURE][set] + units[REFUSED][set];
            if (pass->cells[m] == 0) nodes[variant].sure_units = units[SURE][set];
        }
    }
}

/* All variants of a combo. */
static void evaluate_combo(kn_node *nodes, double *losses, kn_bundle_nodes *pass, const kn_bundles *bundles, uint32_t c)
{
    const kn_full_domain *domain = pass->domain;
    const kn_bundle_lattice *b = pass->b;
    const uint32_t n = domain->n_prices;
    kn_lanes4 lanes[2][4], rows[2] = {{0}};
    memset(nodes, 0, sizeof *nodes << b->n_riders);
    for (uint32_t r = 0; r < pass->n_reasons; r++) {
        gather(pass->totals + ((size_t)r << b->n_inner_bits), lanes[r], pass, r, c);
        rows[r] = kn_sum_lanes(lanes[r]);
    }
    sum_cells(nodes, pass, c, lanes);
    for (uint32_t variant = 0; variant < 1u << b->n_riders; variant++) {
        const uint32_t set = b->n_riders == 1 ? 3 * variant : variant;
        kn_node *node = &nodes[variant];
        kn_node_sums *sums = pass->node_sums + (size_t)variant * n;
        uint64_t squares;
        node->n_suppressed = (uint64_t)rows[SURE][set] + rows[REFUSED][set];
        node->n_sure = domain->task->models->least_values != NULL ? node->n_suppressed : rows[SURE][set];
        count_classes(node, &squares, pass, bundles, c, set);
        for (uint32_t m = 0; m < n; m++) {
            const double *by_size = domain->prices[m].objective->type->by_size;
            if (by_size != NULL) sums[m].classes = by_size[0] * (double)node->n_classes + by_size[1] * (double)squares;
        }
        for (uint32_t p = 0; p < pass->n_products; p++)
            sums[pass->products[p]].classes = sum_products(pass, p, c, variant, set);
        if (pass->values != NULL) kn_value_sums_node(sums, pass->values, c, set);
        kn_bundle_levels(pass->levels, b, bundles, c, variant);
        kn_node_price(node, losses != NULL ? losses + (size_t)variant * n : NULL, domain, pass->levels, sums);
    }
}

void kn_bundle_nodes_evaluate(kn_node *nodes, double *losses, kn_bundle_nodes *pass, const kn_bundles *bundles,
                              bool details)
{
    go_over(pass, bundles, details);
    if (pass->values != NULL) kn_value_sums_price(pass->values);
    for (uint32_t c = 0; c < pass->b->n_combos; c++) {
        const size_t first = (size_t)c << pass->b->n_riders;
        evaluate_combo(nodes + first, losses != NULL ? losses + first * pass->domain->n_prices : NULL, pass, bundles,
                       c);
    }
}
