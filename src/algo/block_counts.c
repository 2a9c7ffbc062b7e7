/* The pass over blocks by class size alone; see block_sums.h. Most blocks need no work per combo: one with fewer than k
 * persons in all is suppressed in each of them, one with a single entry is the same class in each of them. For the
 * others the classes of a combo come from those of a combo one level below, and a combo in which nothing is suppressed
 * settles all combos above it.
 *
 * Classes stand in the order of their inner values. Positions are in pre-order of the trees, so raising the first inner
 * column, which has the lowest bits, leaves them in order, and what merges stands side by side: no lookup, and no branch
 * on what is a toss-up. Raising another column goes through a table by value and a bit set, which sorts anew. */
#include "algo/block_sums.h"

#include <string.h>

/* The classes of one block at one combo. The lists of all combos stand close together, each as long as it can get: in
 * arrays of one size they would compete for the same few lines of the cache. */
typedef struct class_list {
    uint16_t *value;
    kn_lanes4 *counts; /* [class * parts]: rows, then persons where they are not rows */
} class_list;

struct kn_count_scan {
    const kn_full_domain *domain;
    uint64_t bits[(1 << KN_BLOCK_MAX_INNER_BITS) / 64]; /* the inner values at hand */
    kn_lanes4 *sums;                                    /* [inner * parts]: where its bit is set */
    uint32_t n_classes[KN_BLOCK_MAX_COMBOS];
    class_list lists[KN_BLOCK_MAX_COMBOS];
    uint16_t *values;
    kn_lanes4 *counts;
};

kn_status kn_count_scan_new(kn_count_scan **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = domain->blocks;
    const size_t parts = domain->lattice->has_persons ? 2 : 1, n_values = (size_t)1 << b->n_inner_bits;
    size_t n = 0, most[KN_BLOCK_MAX_COMBOS];
    kn_count_scan *scan = NULL;
    *out = NULL;
    for (uint32_t c = 0; c < b->n_combos; c++) n += most[c] = kn_combo_values(b, c);
    KN_NEW(scan, 1);
    scan->domain = domain;
    KN_NEW_RAW(scan->values, n);
    scan->counts = kn_array_alloc_aligned((n + n_values) * parts, sizeof *scan->counts, err);
    if (scan->counts == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    scan->sums = scan->counts + n * parts;
    n = 0;
    for (uint32_t c = 0; c < b->n_combos; n += most[c++])
        scan->lists[c] = (class_list){scan->values + n, scan->counts + n * parts};
    *out = scan;
    scan = NULL;
done:
    kn_count_scan_free(scan);
    return status;
}

void kn_count_scan_free(kn_count_scan *scan)
{
    if (scan == NULL) return;
    kn_free(scan->values);
    kn_free(scan->counts);
    kn_free(scan);
}

/* What is the same for all blocks of a pass. Constant members make loops of their own. */
typedef struct settings {
    kn_lanes4 threshold;
    bool has_persons, details;
    uint32_t n_riders;
} settings;

/* One class: its rows that are suppressed, per merged set; counts it where asked. Returns whether there are any. */
static inline __attribute__((always_inline)) bool class_below(kn_lanes4 below[4], const kn_lanes4 *counts,
                                                              const settings *s, kn_lanes4 classes[4],
                                                              kn_lanes4 smallest[4])
{
    kn_lanes4 rows[4], persons[4] = {{0}}, size = s->has_persons ? counts[1] : counts[0];
    if (!s->details && !kn_any_lane((kn_lanes4)(size < s->threshold) & counts[0])) return false;
    kn_merge_lanes(rows, counts);
    if (s->has_persons) kn_merge_lanes(persons, counts + 1);
    kn_lanes4 any = {0};
    for (int m = 0; m < 4; m++) {
        below[m] = (kn_lanes4){0};
        if (!kn_set_used(s->n_riders, m)) continue;
        size = s->has_persons ? persons[m] : rows[m];
        kn_lanes4 breaks = (kn_lanes4)(size < s->threshold);
        below[m] = rows[m] & breaks;
        any |= below[m];
        if (!s->details) continue;
        kn_lanes4 empty = (kn_lanes4)(rows[m] == 0);
        classes[m] -= ~breaks & ~empty;
        size |= empty;
        smallest[m] = kn_lesser(size, smallest[m]);
    }
    return !s->details || kn_any_lane(any);
}

/* Adds to the sums by value. */
static inline __attribute__((always_inline)) void add_sum(kn_count_scan *scan, uint32_t value, const kn_lanes4 *counts,
                                                          bool has_persons)
{
    uint64_t *word = &scan->bits[value / 64], bit = (uint64_t)1 << value % 64;
    uint32_t keep = -(uint32_t)((*word & bit) != 0);
    kn_lanes4 mask = {keep, keep, keep, keep};
    *word |= bit;
    kn_lanes4 *sum = &scan->sums[value * (has_persons ? 2 : 1)];
    sum[0] = (sum[0] & mask) + counts[0];
    if (has_persons) sum[1] = (sum[1] & mask) + counts[1];
}

/* The sums as the classes of combo c, in the order of their values. */
static inline __attribute__((always_inline)) void take_sums(kn_count_scan *scan, const kn_block_lattice *b, uint32_t c,
                                                            bool has_persons)
{
    const class_list *out = &scan->lists[c];
    const uint32_t parts = has_persons ? 2 : 1;
    uint32_t n = 0, n_words = (1u << b->n_inner_bits) / 64 + (b->n_inner_bits < 6);
    for (uint32_t w = 0; w < n_words; w++) {
        for (uint64_t rest = scan->bits[w]; rest != 0; rest &= rest - 1, n++) {
            uint32_t value = 64 * w + (uint32_t)__builtin_ctzll(rest);
            out->value[n] = (uint16_t)value;
            for (uint32_t part = 0; part < parts; part++) out->counts[n * parts + part] = scan->sums[value * parts + part];
        }
        scan->bits[w] = 0;
    }
    scan->n_classes[c] = n;
}

static inline __attribute__((always_inline)) void raise_classes(kn_count_scan *scan, const kn_block_lattice *b,
                                                                uint32_t c, bool has_persons)
{
    const uint32_t parts = has_persons ? 2 : 1;
    uint32_t column = 0, from = b->below[c][0];
    if (from == KN_NONE) from = kn_combo_source(b, c, scan->n_classes, &column);
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    const class_list *list = &scan->lists[from];
    if (column > 0) {
        for (uint32_t j = 0; j < scan->n_classes[from]; j++)
            add_sum(scan, raised[list->value[j]], &list->counts[j * parts], has_persons);
        take_sums(scan, b, c, has_persons);
        return;
    }
    /* stores of vectors may alias anything: what does not change is taken out of memory first */
    const uint32_t n_from = scan->n_classes[from];
    const uint16_t *from_values = list->value;
    const kn_lanes4 *from_counts = list->counts;
    uint16_t *values = scan->lists[c].value;
    kn_lanes4 *counts = scan->lists[c].counts, rows = {0}, persons = {0};
    uint32_t n = 0, last = KN_NONE; /* n: of the class at hand, plus one */
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t value = raised[from_values[j]], is_new = value != last, keep = is_new - 1;
        kn_lanes4 mask = {keep, keep, keep, keep};
        n += is_new;
        last = value;
        values[n - 1] = (uint16_t)value;
        counts[(n - 1) * parts] = rows = (rows & mask) + from_counts[j * parts];
        if (has_persons) counts[(n - 1) * parts + 1] = persons = (persons & mask) + from_counts[j * parts + 1];
    }
    scan->n_classes[c] = n;
}

static inline __attribute__((always_inline)) void base_classes(kn_count_scan *scan, const kn_blocks *blocks,
                                                               uint32_t block, bool has_persons)
{
    const uint32_t parts = has_persons ? 2 : 1;
    for (uint32_t e = blocks->start[block]; e < blocks->start[block + 1]; e++)
        add_sum(scan, blocks->inner[e], (const kn_lanes4 *)blocks->counts + (size_t)e * parts, has_persons);
    take_sums(scan, scan->domain->blocks, 0, has_persons);
}

void kn_count_classes(kn_count_scan *scan, const kn_blocks *blocks, uint32_t block)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const bool has_persons = scan->domain->lattice->has_persons;
    base_classes(scan, blocks, block, has_persons);
    for (uint32_t c = 1; c < b->n_combos; c++) raise_classes(scan, b, c, has_persons);
}

kn_class_list kn_count_list(const kn_count_scan *scan, uint32_t combo)
{
    return (kn_class_list){scan->n_classes[combo], scan->lists[combo].value, scan->lists[combo].counts};
}

/* A block whose classes differ from combo to combo. */
static inline __attribute__((always_inline)) void mixed_block(kn_block_sums *sums, kn_count_scan *scan,
                                                              const kn_blocks *blocks, uint32_t block,
                                                              const settings *s)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint32_t parts = s->has_persons ? 2 : 1;
    uint32_t clean = 0;
    base_classes(scan, blocks, block, s->has_persons);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if (clean >> c & 1) continue;
        if (c > 0) raise_classes(scan, b, c, s->has_persons);
        const uint32_t n = scan->n_classes[c];
        const uint16_t *values = scan->lists[c].value;
        const kn_lanes4 *counts = scan->lists[c].counts;
        kn_lanes4 *by_value = sums->sure.by_value + ((size_t)c << b->n_inner_bits) * 4, block_below[4] = {{0}};
        bool any = false;
        for (uint32_t j = 0; j < n; j++) {
            kn_lanes4 below[4];
            if (!class_below(below, &counts[j * parts], s, sums->classes[c], sums->smallest[c])) continue;
            kn_add_class(by_value + (size_t)values[j] * 4, block_below, below, s->n_riders);
            any = true;
        }
        if (any) kn_add_block(&sums->sure, c, block_below, blocks->prices[block], s->n_riders);
        if (!any && !s->details) clean |= b->above[c];
    }
}

static inline __attribute__((always_inline)) void scan_blocks(kn_block_sums *sums, kn_count_scan *scan,
                                                              const kn_blocks *blocks, kn_block_range range, uint32_t n_riders,
                                                              bool has_persons, bool details)
{
    uint64_t min_persons = scan->domain->task->models->min_persons;
    uint32_t k = min_persons < UINT32_MAX ? (uint32_t)min_persons : UINT32_MAX;
    const uint32_t parts = has_persons ? 2 : 1;
    const settings s = {{k, k, k, k}, has_persons, details, n_riders};
    for (uint32_t block = range.begin; block < range.end; block++) {
        uint32_t first = blocks->start[block], end = blocks->start[block + 1];
        const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)first * parts;
        kn_lanes4 below[4];
        if (end - first == 1) {
            if (class_below(below, counts, &s, sums->always_classes, sums->always_smallest))
                kn_add_always(&sums->sure, below, blocks->inner[first], blocks->prices[block], n_riders);
            continue;
        }
        kn_lanes4 all = {0};
        for (uint32_t e = 0; e < end - first; e++) all += counts[e * parts + (parts - 1)];
        if (!details && (uint64_t)all[0] + all[1] + all[2] + all[3] < k) {
            for (uint32_t e = 0; e < end - first; e++) {
                kn_merge_lanes(below, counts + (size_t)e * parts);
                kn_add_always(&sums->sure, below, blocks->inner[first + e], blocks->prices[block], n_riders);
            }
            continue;
        }
        mixed_block(sums, scan, blocks, block, &s);
    }
}

void kn_scan_counts(kn_block_sums *sums, kn_count_scan *scan, const kn_blocks *blocks, kn_block_range range, bool details)
{
    bool has_persons = scan->domain->lattice->has_persons;
    uint32_t n_riders = scan->domain->blocks->n_riders;
    if (has_persons || details) scan_blocks(sums, scan, blocks, range, n_riders, has_persons, details);
    else if (n_riders == 2) scan_blocks(sums, scan, blocks, range, 2, false, false);
    else if (n_riders == 1) scan_blocks(sums, scan, blocks, range, 1, false, false);
    else scan_blocks(sums, scan, blocks, range, 0, false, false);
}
