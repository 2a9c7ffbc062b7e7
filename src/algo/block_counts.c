/* The pass over blocks by class size alone; see block_sums.h. Most blocks need no work per combo: one with fewer than k
 * persons in all is suppressed in each of them, one with a single entry is the same class in each of them. For the
 * others the classes of a combo come from those of the combo one level below that has fewest, and a combo in which
 * nothing is suppressed settles all combos above it. */
#include "algo/block_sums.h"

#include <string.h>

/* The classes of one block at one combo. */
typedef struct class_list {
    uint16_t value[1 << KN_BLOCK_MAX_INNER_BITS];
    kn_lanes4 counts[1 << KN_BLOCK_MAX_INNER_BITS][2]; /* rows, persons */
} class_list;

struct kn_count_scan {
    const kn_full_domain *domain;
    uint32_t where[1 << KN_BLOCK_MAX_INNER_BITS]; /* [inner]: place in the list that may hold it */
    uint32_t n_classes[KN_BLOCK_MAX_COMBOS];
    class_list lists[];
};

kn_status kn_count_scan_new(kn_count_scan **out, const kn_full_domain *domain, kn_error *err)
{
    size_t n_bytes = sizeof **out + domain->blocks->n_combos * sizeof *(*out)->lists;
    *out = kn_array_alloc_aligned(1, n_bytes, err);
    if (*out == NULL) return kn_error_set(err, KN_RESOURCES, "out of memory");
    (*out)->domain = domain;
    return KN_OK;
}

void kn_block_sums_clear(kn_block_sums *sums, const kn_block_lattice *b)
{
    const kn_lanes4 most = {~0u, ~0u, ~0u, ~0u};
    kn_suppressed *both[] = {&sums->sure, &sums->refused};
    for (uint32_t r = 0; r < (b->n_words > 0 ? 2 : 1); r++) {
        memset(both[r]->rows, 0, b->n_combos * sizeof *both[r]->rows);
        memset(both[r]->units, 0, b->n_combos * sizeof *both[r]->units);
        memset(both[r]->always, 0, sizeof both[r]->always);
        memset(both[r]->always_units, 0, sizeof both[r]->always_units);
        for (uint32_t i = 0; i < b->n_inner; i++)
            memset(both[r]->by_position[i], 0, sizeof *both[r]->by_position[i] << b->inner_bits[i]);
    }
    memset(sums->classes, 0, b->n_combos * sizeof *sums->classes);
    memset(sums->always_classes, 0, sizeof sums->always_classes);
    for (int m = 0; m < 4; m++) {
        for (uint32_t c = 0; c < b->n_combos; c++) sums->smallest[c][m] = most;
        sums->always_smallest[m] = most;
    }
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
        kn_lanes4 less = (kn_lanes4)(size < smallest[m]);
        smallest[m] = (size & less) | (smallest[m] & ~less);
    }
    return !s->details || kn_any_lane(any);
}

static inline __attribute__((always_inline)) void raise_classes(kn_count_scan *scan, const kn_block_lattice *b,
                                                                uint32_t c, bool has_persons)
{
    uint32_t column = 0, n = 0, from = kn_combo_source(b, c, scan->n_classes, &column);
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    const class_list *list = &scan->lists[from];
    class_list *out = &scan->lists[c];
    for (uint32_t j = 0; j < scan->n_classes[from]; j++) {
        uint32_t value = raised[list->value[j]], at = scan->where[value];
        if (at >= n || out->value[at] != value) {
            at = scan->where[value] = n++;
            out->value[at] = (uint16_t)value;
            out->counts[at][0] = list->counts[j][0];
            if (has_persons) out->counts[at][1] = list->counts[j][1];
        } else {
            out->counts[at][0] += list->counts[j][0];
            if (has_persons) out->counts[at][1] += list->counts[j][1];
        }
    }
    scan->n_classes[c] = n;
}

/* A block whose classes differ from combo to combo. */
static inline __attribute__((always_inline)) void mixed_block(kn_block_sums *sums, kn_count_scan *scan,
                                                              const kn_blocks *blocks, uint32_t block,
                                                              const settings *s)
{
    const kn_full_domain *domain = scan->domain;
    const kn_block_lattice *b = domain->blocks;
    const uint32_t first = blocks->start[block], parts = s->has_persons ? 2 : 1;
    uint32_t clean = 0;
    scan->n_classes[0] = blocks->start[block + 1] - first;
    for (uint32_t e = 0; e < scan->n_classes[0]; e++) {
        scan->lists[0].value[e] = blocks->inner[first + e];
        for (uint32_t w = 0; w < parts; w++)
            scan->lists[0].counts[e][w] = ((const kn_lanes4 *)blocks->counts)[(size_t)(first + e) * parts + w];
    }
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if (clean >> c & 1) continue;
        if (c > 0) raise_classes(scan, b, c, s->has_persons);
        const int64_t *gap = domain->inner_gap + ((size_t)c << b->n_inner_bits);
        const class_list *list = &scan->lists[c];
        bool any = false;
        for (uint32_t j = 0; j < scan->n_classes[c]; j++) {
            kn_lanes4 below[4];
            if (!class_below(below, list->counts[j], s, sums->classes[c], sums->smallest[c])) continue;
            kn_add_combo(&sums->sure, c, below, blocks->prices[block] + gap[list->value[j]], s->n_riders);
            any = true;
        }
        if (!any && !s->details) clean |= b->above[c];
    }
}

static inline __attribute__((always_inline)) void scan_blocks(kn_block_sums *sums, kn_count_scan *scan,
                                                              const kn_blocks *blocks, uint32_t n_riders,
                                                              bool has_persons, bool details)
{
    const kn_block_lattice *b = scan->domain->blocks;
    uint64_t min_persons = scan->domain->task->models->min_persons;
    uint32_t k = min_persons < UINT32_MAX ? (uint32_t)min_persons : UINT32_MAX;
    const uint32_t parts = has_persons ? 2 : 1;
    const settings s = {{k, k, k, k}, has_persons, details, n_riders};
    for (uint32_t block = 0; block < blocks->n; block++) {
        uint32_t first = blocks->start[block], end = blocks->start[block + 1];
        const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)first * parts;
        kn_lanes4 below[4];
        if (end - first == 1) {
            if (class_below(below, counts, &s, sums->always_classes, sums->always_smallest))
                kn_add_always(&sums->sure, b, below, blocks->inner[first], blocks->prices[block], n_riders);
            continue;
        }
        kn_lanes4 all = {0};
        for (uint32_t e = 0; e < end - first; e++) all += counts[e * parts + (parts - 1)];
        if (!details && (uint64_t)all[0] + all[1] + all[2] + all[3] < k) {
            for (uint32_t e = 0; e < end - first; e++) {
                kn_merge_lanes(below, counts + (size_t)e * parts);
                kn_add_always(&sums->sure, b, below, blocks->inner[first + e], blocks->prices[block], n_riders);
            }
            continue;
        }
        mixed_block(sums, scan, blocks, block, &s);
    }
}

void kn_scan_counts(kn_block_sums *sums, kn_count_scan *scan, const kn_blocks *blocks, bool details)
{
    bool has_persons = scan->domain->lattice->has_persons;
    uint32_t n_riders = scan->domain->blocks->n_riders;
    if (has_persons || details) scan_blocks(sums, scan, blocks, n_riders, has_persons, details);
    else if (n_riders == 2) scan_blocks(sums, scan, blocks, 2, false, false);
    else if (n_riders == 1) scan_blocks(sums, scan, blocks, 1, false, false);
    else scan_blocks(sums, scan, blocks, 0, false, false);
}
