/* Figures of the nodes that blocks answer; see node_figures.h. The classes of each block are listed for every combo and
 * added up by lane for each merged set of riders (block_sums.h); a block with a single entry is the same class in every
 * combo and is added once. Suppressed rows are kept by outer position and by inner value, products by inner value where
 * the combos differ in nothing else. Where blocks carry sensitive values, models that look at them are asked about
 * classes with persons enough, and value_figures.c adds up for the measures that do.
 *
 * Memory: 16 bytes per combo and value of the outer columns. */
#include "engine/lattice/block_sums.h"
#include "engine/lattice/node_figures.h"
#include "engine/lattice/value_figures.h"

#include <assert.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

typedef uint64_t lanes4_wide __attribute__((vector_size(32)));
typedef double lanes4_real __attribute__((vector_size(32)));

/* What one merged set has at one combo. */
typedef struct set_sums {
    kn_lanes4 classes, smallest;
    kn_lanes4 below;   /* rows that are suppressed, ... */
    kn_lanes4 refused; /* ... of these those of classes with persons enough that a model refuses */
    lanes4_wide squares;
} set_sums;

struct kn_block_figures {
    const kn_figures *figures;
    kn_count_scan *counts;
    kn_histogram_scan *histograms;                         /* where blocks carry sensitive values ... */
    kn_value_figures *values;                              /* ... what is added up of them */
    uint32_t n_products, *products;                        /* measures that are a product over the columns */
    set_sums sums[KN_BLOCK_MAX_COMBOS][4], single_sums[4]; /* single: blocks with one entry */
    lanes4_real
        *class_products; /* [(product * n_combos + combo) * 4 + set]: rows * factors of outer and inner columns */
    lanes4_real *single_products; /* [(product << n_inner_bits | inner) * 4 + set]: factors of the outer columns only */
    lanes4_wide *outer_units; /* [measure * (n_combos + 1) + combo]: what suppressed rows pay more in the outer columns,
                                 by set; after the combos: of blocks with one entry */
    kn_lanes4 *outer;         /* [(position in the list of all) * n_combos + combo]: suppressed rows; lane m: set m */
    kn_lanes4 *inner;         /* [(combo << n_inner_bits | inner) * 4 + set]: the same by lane */
    kn_lanes4 *single_outer, *single_inner; /* the same of blocks with one entry: [position], [inner * 4 + set] */
    double *inner_factor; /* [(product * n_combos + combo) << n_inner_bits | inner at the combo's levels] */
    bool *exists;         /* [inner] */
    double *outer_factor; /* [product]: of the block at hand */
    uint32_t *positions;  /* [index into outer]: of the block at hand, in the list of all */
    uint32_t *levels;
    kn_node_sums *node;
    bool cells;   /* there are cell measures: suppressed rows are counted by position */
    bool details; /* the smallest class is asked for */
    bool vectors;
};

/* --- Setting up ------------------------------------------------------------------------------------------------ */

size_t kn_block_figures_bytes(const kn_lattice *lattice, uint32_t n_combos)
{
    size_t n = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++)
        n += lattice->columns[q].levels[lattice->columns[q].min_level].n;
    return n * (n_combos + 1) * sizeof(kn_lanes4);
}

/* Which inner values there are. */
static void fill_exists(kn_block_figures *scan, const kn_block_lattice *b)
{
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
        scan->exists[value] = true;
        for (uint32_t i = 0; i < b->n_inner; i++) {
            const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
            if (kn_inner_position(b, i, value) >= column->levels[column->min_level].n) scan->exists[value] = false;
        }
    }
}

static void fill_inner_factors(kn_block_figures *scan, const kn_block_lattice *b)
{
    for (uint32_t p = 0; p < scan->n_products; p++) {
        double ***factor = scan->figures->factors[scan->products[p]];
        for (uint32_t c = 0; c < b->n_combos; c++)
            for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
                uint32_t at = b->at_combo[(c << b->n_inner_bits) + value];
                double product = 1;
                if (!scan->exists[value]) continue;
                for (uint32_t i = 0; i < b->n_inner; i++)
                    product *= factor[b->inner[i]][b->combo_level[c][i]][kn_inner_position(b, i, at)];
                scan->inner_factor[((size_t)(p * b->n_combos + c) << b->n_inner_bits) + at] = product;
            }
    }
}

kn_status kn_block_figures_new(kn_block_figures **out, const kn_figures *figures, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = figures->domain;
    const kn_block_lattice *b = domain->blocks;
    const size_t n_values = (size_t)1 << b->n_inner_bits, n_qis = domain->task->tuples->n_qis;
    kn_block_figures *scan = NULL;
    *out = NULL;
    KN_NEW_ALIGNED(scan, 1);
    scan->figures = figures;
    KN_NEW(scan->products, figures->n + 1);
    for (uint32_t m = 0; m < figures->n; m++) {
        if (figures->factors[m] != NULL) scan->products[scan->n_products++] = m;
        scan->cells = scan->cells || figures->prices[m] != NULL;
        assert(b->n_words > 0 || figures->objectives[m]->type->needs == 0);
    }
    KN_TRY(kn_count_scan_new(&scan->counts, domain, err));
    if (b->n_words > 0) KN_TRY(kn_histogram_scan_new(&scan->histograms, domain, err));
    KN_TRY(kn_value_figures_new(&scan->values, figures, err));
    KN_NEW_ALIGNED(scan->class_products, (size_t)scan->n_products * b->n_combos * 4);
    KN_NEW_ALIGNED(scan->single_products, scan->n_products * n_values * 4);
    KN_NEW_ALIGNED(scan->outer, (size_t)figures->first_position[n_qis] * b->n_combos);
    KN_NEW_ALIGNED(scan->outer_units, figures->n * (b->n_combos + 1));
    KN_NEW_ALIGNED(scan->single_outer, figures->first_position[n_qis]);
    KN_NEW_ALIGNED(scan->inner, b->n_combos * n_values * 4);
    KN_NEW_ALIGNED(scan->single_inner, n_values * 4);
    KN_NEW(scan->inner_factor, scan->n_products * b->n_combos * n_values + 1);
    KN_NEW(scan->exists, n_values);
    KN_NEW(scan->outer_factor, (size_t)scan->n_products + 1);
    KN_NEW(scan->positions, (size_t)b->n_outer + 1);
    KN_NEW(scan->levels, n_qis + 1);
    KN_TRY(kn_node_sums_new(&scan->node, figures, err));
    scan->node->n_columns = 0;
    for (uint32_t i = 0; i < b->n_inner; i++) scan->node->columns[scan->node->n_columns++] = b->inner[i];
    for (uint32_t r = 0; r < b->n_riders; r++) scan->node->columns[scan->node->n_columns++] = b->riders[r];
    kn_block_figures_use_vectors(scan, true);
    fill_exists(scan, b);
    fill_inner_factors(scan, b);
    *out = scan;
    scan = NULL;
done:
    kn_block_figures_free(scan);
    return status;
}

void kn_block_figures_free(kn_block_figures *scan)
{
    if (scan == NULL) return;
    void *const owned[] = {scan->products,     scan->class_products, scan->single_products, scan->outer,
                           scan->single_outer, scan->inner,          scan->single_inner,    scan->inner_factor,
                           scan->exists,       scan->outer_factor,   scan->positions,       scan->levels,
                           scan->outer_units};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) kn_free(owned[i]);
    kn_count_scan_free(scan->counts);
    kn_histogram_scan_free(scan->histograms);
    kn_value_figures_free(scan->values);
    kn_node_sums_free(scan->node);
    kn_free(scan);
}

/* --- Adding up ------------------------------------------------------------------------------------------------- */

static void clear(kn_block_figures *scan, const kn_blocks *blocks)
{
    const kn_figures *figures = scan->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    const size_t n_values = (size_t)1 << b->n_inner_bits;
    const set_sums none = {.smallest = {~0u, ~0u, ~0u, ~0u}};
    for (int m = 0; m < 4; m++) {
        for (uint32_t c = 0; c < b->n_combos; c++) scan->sums[c][m] = none;
        scan->single_sums[m] = none;
    }
    for (uint32_t d = 0; scan->cells && d < b->n_outer; d++) {
        uint32_t q = b->outer[d], first = figures->first_position[q],
                 n = b->lattice->columns[q].levels[blocks->levels[q]].n;
        memset(scan->outer + (size_t)first * b->n_combos, 0, (size_t)n * b->n_combos * sizeof *scan->outer);
        memset(scan->single_outer + first, 0, n * sizeof *scan->outer);
    }
    if (scan->cells) memset(scan->inner, 0, b->n_combos * n_values * 4 * sizeof *scan->inner);
    if (scan->cells) memset(scan->single_inner, 0, n_values * 4 * sizeof *scan->inner);
    memset(scan->class_products, 0, (size_t)scan->n_products * b->n_combos * 4 * sizeof *scan->class_products);
    memset(scan->single_products, 0, scan->n_products * n_values * 4 * sizeof *scan->single_products);
    if (scan->values != NULL) kn_value_figures_clear(scan->values, blocks);
}

/* Where the block stands in the outer columns. */
static void look_up(kn_block_figures *scan, const kn_blocks *blocks, uint32_t block)
{
    const kn_figures *figures = scan->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    for (uint32_t p = 0; p < scan->n_products; p++) scan->outer_factor[p] = 1;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        uint32_t q = b->outer[d], level = blocks->levels[q];
        uint32_t position =
            (uint32_t)(blocks->keys[block] >> b->outer_shift[d]) & (uint32_t)((1ull << b->outer_bits[d]) - 1);
        scan->positions[d] = figures->first_position[q] + position;
        for (uint32_t p = 0; p < scan->n_products; p++)
            scan->outer_factor[p] *= figures->factors[scan->products[p]][q][level][position];
    }
}

/* Which rows of a class hold and which are suppressed, for each merged set. */
typedef struct verdict {
    kn_lanes4 held[4], below[4];
    bool any_held, any_below;
} verdict;

INLINE verdict judge_class(set_sums sums[4], const kn_lanes4 *counts, uint32_t k, bool has_persons, uint32_t n_riders)
{
    verdict v = {0};
    kn_lanes4 rows[4], persons[4], held = {0}, below = {0};
    kn_merge_lanes(rows, counts);
    if (has_persons) kn_merge_lanes(persons, counts + 1);
    for (int m = 0; m < 4; m++) {
        if (!kn_set_used(n_riders, m)) continue;
        kn_lanes4 size = has_persons ? persons[m] : rows[m], empty = (kn_lanes4)(rows[m] == 0);
        kn_lanes4 breaks = (kn_lanes4)(size < k);
        held |= v.held[m] = rows[m] & ~breaks;
        below |= v.below[m] = rows[m] & breaks;
        sums[m].below += v.below[m];
        sums[m].smallest = kn_lesser(size | empty, sums[m].smallest);
    }
    v.any_held = kn_any_lane(held);
    v.any_below = kn_any_lane(below);
    return v;
}

/* Counts the classes that hold; most small ones do not. */
INLINE void add_held(set_sums sums[4], const verdict *v, uint32_t n_riders)
{
    for (int m = 0; m < 4; m++) {
        if (!kn_set_used(n_riders, m)) continue;
        lanes4_wide wide = __builtin_convertvector(v->held[m], lanes4_wide);
        sums[m].squares += wide * wide;
        sums[m].classes -= (kn_lanes4)(v->held[m] != 0);
    }
}

INLINE void add_product(lanes4_real sums[4], const verdict *v, double factor, uint32_t n_riders)
{
    for (int m = 0; m < 4; m++)
        if (kn_set_used(n_riders, m)) sums[m] += __builtin_convertvector(v->held[m], lanes4_real) * factor;
}

INLINE void add_outer(kn_block_figures *scan, kn_lanes4 *outer, uint32_t n_apart, const kn_lanes4 below[4])
{
    kn_lanes4 total = kn_sum_lanes(below);
    for (uint32_t d = 0; d < scan->figures->domain->blocks->n_outer; d++)
        outer[(size_t)scan->positions[d] * n_apart] += total;
}

/* What the models say of the sensitive values of a class, where they look at them. */
INLINE void judge_values(verdict *v, kn_block_figures *scan, set_sums sums[4], uint32_t c, uint32_t j)
{
    kn_lanes4 held[4], any_held = {0}, any_below = {0};
    if (scan->figures->domain->task->models->counts_only || !v->any_held) return;
    memcpy(held, v->held, sizeof held);
    kn_histogram_refuse(held, scan->histograms, c, j);
    for (int m = 0; m < 4; m++) {
        sums[m].refused += v->held[m] & ~held[m];
        sums[m].below += v->held[m] & ~held[m];
        any_below |= v->below[m] |= v->held[m] & ~held[m];
        any_held |= v->held[m] = held[m];
    }
    v->any_held = kn_any_lane(any_held);
    v->any_below = kn_any_lane(any_below);
}

INLINE void add_single(kn_block_figures *scan, const kn_blocks *blocks, uint32_t block, uint32_t k, bool has_persons,
                       uint32_t n_riders, bool values, bool rows)
{
    const uint32_t n_inner_bits = scan->figures->domain->blocks->n_inner_bits, e = blocks->start[block];
    const uint32_t value = blocks->inner[e];
    const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)e * (has_persons ? 2 : 1);
    verdict v = judge_class(scan->single_sums, counts, k, has_persons, n_riders);
    if (values && v.any_held) {
        kn_histogram_classes(scan->histograms, blocks, block);
        judge_values(&v, scan, scan->single_sums, 0, 0);
    }
    if (v.any_held) {
        add_held(scan->single_sums, &v, n_riders);
        for (uint32_t p = 0; p < scan->n_products; p++)
            add_product(scan->single_products + (((size_t)p << n_inner_bits) + value) * 4, &v, scan->outer_factor[p],
                        n_riders);
        if (values) kn_value_figures_held(scan->values, scan->histograms, 0, 0, v.held, true);
    }
    if (v.any_below && scan->cells) {
        for (int m = 0; m < 4; m++) scan->single_inner[value * 4 + (uint32_t)m] += v.below[m];
        add_outer(scan, scan->single_outer, 1, v.below);
    }
    if (v.any_below && rows) kn_value_figures_rows(scan->values, blocks, block, scan->positions, kn_lane_bits(v.below));
}

/* A block with fewer than k persons in all: every class of every combo is suppressed. */
INLINE void add_small(kn_block_figures *scan, const kn_blocks *blocks, uint32_t block, bool has_persons,
                      uint32_t n_riders)
{
    kn_lanes4 all[4] = {{0}}, below[4];
    for (uint32_t e = blocks->start[block]; e < blocks->start[block + 1]; e++) {
        kn_merge_lanes(below, (const kn_lanes4 *)blocks->counts + (size_t)e * (has_persons ? 2 : 1));
        for (int m = 0; m < 4; m++) {
            if (!kn_set_used(n_riders, m)) continue;
            all[m] += below[m];
            if (scan->cells) scan->single_inner[blocks->inner[e] * 4 + (uint32_t)m] += below[m];
        }
    }
    for (int m = 0; m < 4; m++) scan->single_sums[m].below += all[m];
    if (scan->cells) add_outer(scan, scan->single_outer, 1, all);
}

/* Whether the smallest class of a block with too few persons is of no interest: in the most general node, and so in
 * all, there is one of a single person already. */
INLINE bool knows_smallest(const kn_block_figures *scan, uint32_t n_riders)
{
    const int most = n_riders > 0 ? 3 : 0;
    const uint32_t last = scan->figures->domain->blocks->n_combos - 1;
    return !scan->details || kn_any_lane((kn_lanes4)(scan->sums[last][most].smallest == 1) |
                                         (kn_lanes4)(scan->single_sums[most].smallest == 1));
}

INLINE void add_combo(kn_block_figures *scan, uint32_t c, uint32_t k, bool has_persons, uint32_t n_riders, bool values,
                      bool rows)
{
    const kn_block_lattice *b = scan->figures->domain->blocks;
    const kn_class_list list = values ? kn_histogram_list(scan->histograms, c) : kn_count_list(scan->counts, c);
    kn_lanes4 block_below[4] = {{0}}, *inner = scan->inner + ((size_t)c << b->n_inner_bits) * 4;
    bool any_below = false;
    for (uint32_t j = 0; j < list.n; j++) {
        const uint32_t value = list.values[j];
        verdict v = judge_class(scan->sums[c], &list.counts[j * (has_persons ? 2 : 1)], k, has_persons, n_riders);
        if (values) judge_values(&v, scan, scan->sums[c], c, j);
        if (v.any_held) {
            add_held(scan->sums[c], &v, n_riders);
            for (uint32_t p = 0; p < scan->n_products; p++) {
                size_t at = (size_t)p * b->n_combos + c;
                double factor = scan->outer_factor[p] * scan->inner_factor[(at << b->n_inner_bits) + value];
                add_product(scan->class_products + at * 4, &v, factor, n_riders);
            }
            if (values) kn_value_figures_held(scan->values, scan->histograms, c, j, v.held, false);
        }
        if (v.any_below && scan->cells) {
            kn_add_class(inner + (size_t)value * 4, block_below, v.below, n_riders);
            any_below = true;
        }
        if (rows) kn_value_figures_gone(scan->values, c, value, v.any_below ? kn_lane_bits(v.below) : 0);
    }
    if (any_below) add_outer(scan, scan->outer + c, b->n_combos, block_below);
}

/* Whether a block has fewer than k persons in all: every class is suppressed. */
INLINE bool all_small(const kn_blocks *blocks, uint32_t block, uint32_t k, bool has_persons)
{
    const uint32_t parts = has_persons ? 2 : 1;
    kn_lanes4 all = {0};
    for (uint32_t e = blocks->start[block]; e < blocks->start[block + 1]; e++)
        all += ((const kn_lanes4 *)blocks->counts)[(size_t)e * parts + parts - 1];
    return (uint64_t)all[0] + all[1] + all[2] + all[3] < k;
}

INLINE void add_blocks(kn_block_figures *scan, const kn_blocks *blocks, kn_block_range range, bool has_persons,
                       uint32_t n_riders, bool values)
{
    const bool rows =
        values && !kn_value_figures_may_split(scan->values); /* suppressed ones are counted by sensitive value */
    const bool places = scan->cells || scan->n_products > 0 || rows;
    const kn_full_domain *domain = scan->figures->domain;
    uint64_t min_persons = domain->task->models->min_persons;
    uint32_t k = min_persons < UINT32_MAX ? (uint32_t)min_persons : UINT32_MAX;
    for (uint32_t block = range.begin; block < range.end; block++) {
        if (places) look_up(scan, blocks, block);
        if (blocks->start[block + 1] - blocks->start[block] == 1) {
            add_single(scan, blocks, block, k, has_persons, n_riders, values, rows);
            continue;
        }
        if (values && !all_small(blocks, block, k, has_persons)) {
            kn_histogram_classes(scan->histograms, blocks, block);
            for (uint32_t c = 0; c < domain->blocks->n_combos; c++)
                add_combo(scan, c, k, has_persons, n_riders, true, rows);
            if (rows) kn_value_figures_rows(scan->values, blocks, block, scan->positions, KN_NONE);
            continue;
        }
        if ((values || all_small(blocks, block, k, has_persons)) && knows_smallest(scan, n_riders)) {
            add_small(scan, blocks, block, has_persons, n_riders);
        } else {
            kn_count_classes(scan->counts, blocks, block);
            for (uint32_t c = 0; c < domain->blocks->n_combos; c++)
                add_combo(scan, c, k, has_persons, n_riders, false, false);
        }
        if (rows) kn_value_figures_rows(scan->values, blocks, block, scan->positions, 0xffff);
    }
}

/* Suppressed rows by position times what each pays more there: for all nodes at once. */
INLINE void price_outer(kn_block_figures *scan, const kn_blocks *blocks)
{
    const kn_figures *figures = scan->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    const uint32_t n_combos = b->n_combos;
    memset(scan->outer_units, 0, figures->n * (n_combos + 1) * sizeof *scan->outer_units);
    for (uint32_t d = 0; d < b->n_outer; d++) {
        const uint32_t q = b->outer[d], level = blocks->levels[q], first = figures->first_position[q];
        for (uint32_t p = 0; p < b->lattice->columns[q].levels[level].n; p++)
            for (uint32_t c = 0; c <= n_combos; c++) {
                const kn_lanes4 rows =
                    c < n_combos ? scan->outer[(size_t)(first + p) * n_combos + c] : scan->single_outer[first + p];
                if (!kn_any_lane(rows)) continue;
                const lanes4_wide wide = __builtin_convertvector(rows, lanes4_wide);
                for (uint32_t m = 0; m < figures->n; m++)
                    if (figures->prices[m] != NULL)
                        scan->outer_units[m * (n_combos + 1) + c] +=
                            wide * (uint64_t)figures->prices[m]->gap[q][level][p];
            }
    }
}

INLINE void add_all(kn_block_figures *scan, const kn_blocks *blocks, kn_block_range range)
{
    const kn_full_domain *domain = scan->figures->domain;
    const uint32_t n_riders = domain->blocks->n_riders;
    const bool has_persons = domain->lattice->has_persons;
    if (scan->values != NULL && !has_persons && n_riders == 2) add_blocks(scan, blocks, range, false, 2, true);
    else if (scan->values != NULL) add_blocks(scan, blocks, range, has_persons, n_riders, true);
    else if (has_persons) add_blocks(scan, blocks, range, true, n_riders, false);
    else if (n_riders == 2) add_blocks(scan, blocks, range, false, 2, false);
    else if (n_riders == 1) add_blocks(scan, blocks, range, false, 1, false);
    else add_blocks(scan, blocks, range, false, 0, false);
    if (scan->cells) price_outer(scan, blocks);
}

static void add_all_plain(kn_block_figures *scan, const kn_blocks *blocks, kn_block_range range)
{
    add_all(scan, blocks, range);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* The same operations in the same order: the same answers. */
__attribute__((target("avx2"))) static void add_all_avx2(kn_block_figures *scan, const kn_blocks *blocks,
                                                         kn_block_range range)
{
    add_all(scan, blocks, range);
}
static bool has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
static void add_all_avx2(kn_block_figures *scan, const kn_blocks *blocks, kn_block_range range)
{
    add_all(scan, blocks, range);
}
static bool has_avx2(void) { return false; }
#endif

void kn_block_figures_use_vectors(kn_block_figures *scan, bool yes)
{
    scan->vectors = yes && has_avx2();
    if (scan->values != NULL) kn_value_figures_use_vectors(scan->values, scan->vectors);
}

/* --- One node -------------------------------------------------------------------------------------------------- */

/* The lanes of a merged set that are classes of their own, as a bit set. */
static uint32_t distinct_lanes(uint32_t set)
{
    static const uint32_t lanes[] = {15, 3, 5, 1};
    return lanes[set];
}

/* The position of rider r in a lane; a generalized one has one position. */
static uint32_t rider_position(const kn_block_lattice *b, uint32_t r, uint32_t lane, uint32_t variant)
{
    if (variant >> r & 1) return 0;
    return b->n_riders == 2 ? lane / b->rider_stride[r] % 2 : lane;
}

/* Suppressed rows of the inner columns and riders by position, from those of an inner value. */
static void add_value(kn_block_figures *scan, uint32_t value, kn_lanes4 rows, uint32_t variant, uint32_t set)
{
    const kn_figures *figures = scan->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    uint32_t *suppressed = scan->node->suppressed, total = 0;
    for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
        if (!(distinct_lanes(set) >> lane & 1)) continue;
        total += rows[lane];
        for (uint32_t r = 0; r < b->n_riders && rows[lane] > 0; r++)
            suppressed[figures->first_position[b->riders[r]] + rider_position(b, r, lane, variant)] += rows[lane];
    }
    for (uint32_t i = 0; i < b->n_inner; i++)
        suppressed[figures->first_position[b->inner[i]] + kn_inner_position(b, i, value)] += total;
}

static void count_suppressed(kn_block_figures *scan, uint32_t c, uint32_t variant, uint32_t set)
{
    const kn_figures *figures = scan->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    for (uint32_t i = 0; i < scan->node->n_columns; i++) {
        const uint32_t q = scan->node->columns[i], first = figures->first_position[q];
        memset(scan->node->suppressed + first, 0,
               (figures->first_position[q + 1] - first) * sizeof *scan->node->suppressed);
    }
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
        kn_lanes4 rows = scan->inner[(((size_t)c << b->n_inner_bits) + value) * 4 + set];
        if (kn_any_lane(rows)) add_value(scan, value, rows, variant, set);
        rows = scan->single_inner[value * 4 + set];
        if (kn_any_lane(rows)) add_value(scan, b->at_combo[(c << b->n_inner_bits) + value], rows, variant, set);
    }
    for (uint32_t m = 0; m < figures->n; m++) {
        const lanes4_wide *units = scan->outer_units + (size_t)m * (b->n_combos + 1);
        scan->node->units[m] = (int64_t)(units[c][set] + units[b->n_combos][set]);
    }
}

/* A product measure, summed over the classes that hold. */
static long double sum_products(const kn_block_figures *scan, uint32_t p, uint32_t c, uint32_t variant, uint32_t set)
{
    const kn_figures *figures = scan->figures;
    const kn_block_lattice *b = figures->domain->blocks;
    double ***factor = figures->factors[scan->products[p]];
    size_t at = (size_t)p * b->n_combos + c;
    lanes4_real lanes = scan->class_products[at * 4 + set];
    long double sum = 0;
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++)
        if (scan->exists[value])
            lanes += scan->single_products[(((size_t)p << b->n_inner_bits) + value) * 4 + set] *
                     scan->inner_factor[(at << b->n_inner_bits) + b->at_combo[(c << b->n_inner_bits) + value]];
    for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
        long double product = lanes[lane];
        if (!(distinct_lanes(set) >> lane & 1) || product == 0) continue;
        for (uint32_t r = 0; r < b->n_riders; r++) {
            const kn_lattice_column *column = &b->lattice->columns[b->riders[r]];
            uint32_t level = variant >> r & 1 ? column->max_level : column->min_level;
            product *= factor[b->riders[r]][level][rider_position(b, r, lane, variant)];
        }
        sum += product;
    }
    return sum;
}

static void finish_node(kn_node *node, double *losses, kn_block_figures *scan, const kn_blocks *blocks, uint32_t c,
                        uint32_t variant)
{
    const kn_full_domain *domain = scan->figures->domain;
    const kn_block_lattice *b = domain->blocks;
    const uint32_t set = b->n_riders == 1 ? 3 * variant : variant;
    const set_sums *both[] = {&scan->sums[c][set], &scan->single_sums[set]};
    *node = (kn_node){.smallest = blocks->n > 0 ? UINT64_MAX : 0};
    uint64_t refused = 0;
    scan->node->squares = 0;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
            if (!(distinct_lanes(set) >> lane & 1)) continue;
            node->n_classes += both[i]->classes[lane];
            scan->node->squares += both[i]->squares[lane];
            node->n_suppressed += both[i]->below[lane];
            refused += both[i]->refused[lane];
            if (both[i]->smallest[lane] < node->smallest) node->smallest = both[i]->smallest[lane];
        }
    if (!scan->details) node->smallest = 0;
    if (scan->cells) count_suppressed(scan, c, variant, set);
    scan->node->suppressed_class = (kn_class_counts){.n_rows = node->n_suppressed};
    node->n_sure = node->n_suppressed - (domain->task->models->least_values == NULL ? refused : 0);
    node->feasible = node->n_suppressed <= domain->task->max_suppressed;
    for (uint32_t p = 0; p < scan->n_products; p++)
        scan->node->products[scan->products[p]] = sum_products(scan, p, c, variant, set);
    if (scan->values != NULL) kn_value_figures_node(scan->node, scan->values, c, set);
    kn_block_levels(scan->levels, b, blocks, c, variant);
    kn_figures_losses(losses, scan->figures, node, scan->levels, scan->node);
}

void kn_block_figures_scan(kn_block_figures *scan, const kn_blocks *blocks, kn_block_range range, bool details)
{
    scan->details = details;
    clear(scan, blocks);
    if (scan->vectors) add_all_avx2(scan, blocks, range);
    else add_all_plain(scan, blocks, range);
}

bool kn_block_figures_may_split(const kn_block_figures *scan)
{
    return !scan->cells && scan->n_products == 0 && (scan->values == NULL || kn_value_figures_may_split(scan->values));
}

static void add_sums(set_sums to[4], const set_sums more[4])
{
    for (int m = 0; m < 4; m++) {
        to[m].classes += more[m].classes;
        to[m].smallest = kn_lesser(to[m].smallest, more[m].smallest);
        to[m].below += more[m].below;
        to[m].refused += more[m].refused;
        to[m].squares += more[m].squares;
    }
}

void kn_block_figures_add(kn_block_figures *scan, const kn_block_figures *more)
{
    for (uint32_t c = 0; c < scan->figures->domain->blocks->n_combos; c++) add_sums(scan->sums[c], more->sums[c]);
    add_sums(scan->single_sums, more->single_sums);
    if (scan->values != NULL) kn_value_figures_add(scan->values, more->values);
}

void kn_block_figures_finish(kn_node *nodes, double *losses, kn_block_figures *scan, const kn_blocks *blocks)
{
    const kn_block_lattice *b = scan->figures->domain->blocks;
    if (scan->values != NULL) kn_value_figures_price(scan->values, blocks);
    for (uint32_t c = 0; c < b->n_combos; c++)
        for (uint32_t v = 0; v < 1u << b->n_riders; v++) {
            size_t at = c * KN_LATTICE_LANES + v;
            finish_node(&nodes[at], losses + at * scan->figures->n, scan, blocks, c, v);
        }
}

void kn_figures_of_blocks(kn_node *nodes, double *losses, kn_block_figures *scan, const kn_blocks *blocks)
{
    kn_block_figures_scan(scan, blocks, (kn_block_range){0, blocks->n}, true);
    kn_block_figures_finish(nodes, losses, scan, blocks);
}
