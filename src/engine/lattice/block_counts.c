/* The pass over blocks by class size and number of different sensitive values; see block_sums.h. Most blocks need no
 * work per combo: one with fewer than k persons in all is suppressed in each of them, one with a single entry is the
 * same class in each of them. For the others the classes of a combo come from those of a combo one level below, and a
 * combo in which nothing is suppressed or which has no more than two classes settles all combos above it. A class with
 * too few values is like one with too few persons: what is below it has no more of them.
 *
 * Classes stand in the order of their inner values. Positions are in pre-order of the trees, so raising the first inner
 * column, which has the lowest bits, leaves them in order, and what merges stands side by side: no lookup, and no
 * branch on what is a toss-up. Raising another column goes through a table by value and a bit set, which sorts anew. */
#include "engine/lattice/block_sums.h"

#include <string.h>

/* The classes of one block at one combo. The lists of all combos stand close together, each as long as it can get: in
 * arrays of one size they would compete for the same few lines of the cache. */
typedef struct class_list {
    uint16_t *value;
    kn_lanes4 *counts; /* [class * parts]: as in the blocks */
} class_list;

struct kn_count_scan {
    const kn_full_domain *domain;
    uint32_t n_sets;                                    /* of the parts */
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
    const size_t parts = b->width / 4, n_values = (size_t)1 << b->n_inner_bits;
    size_t n = 0, most[KN_BLOCK_MAX_COMBOS];
    kn_count_scan *scan = NULL;
    *out = NULL;
    for (uint32_t c = 0; c < b->n_combos; c++) n += most[c] = kn_combo_values(b, c);
    KN_NEW(scan, 1);
    scan->domain = domain;
    scan->n_sets = (b->width - b->n_counts) / 4;
    KN_NEW_RAW(scan->values, n);
    KN_NEW_ALIGNED(scan->counts, (n + n_values) * parts);
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
    uint32_t n_riders, n_sets;
    const kn_block_lattice *b;
    const uint32_t *least_values; /* [sensitive] */
    uint32_t least;               /* of the only one; UINT32_MAX: there are several */
} settings;

static inline __attribute__((always_inline)) uint32_t n_parts(const settings *s)
{
    return (s->has_persons ? 2 : 1) + s->n_sets;
}

/* --- Sets of values -------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void unite_lanes(kn_lanes4 united[4], kn_lanes4 sets)
{
    united[0] = sets;
    united[1] = sets | __builtin_shufflevector(sets, sets, 2, 3, 0, 1);
    united[2] = sets | __builtin_shufflevector(sets, sets, 1, 0, 3, 2);
    united[3] = united[2] | __builtin_shufflevector(united[2], united[2], 2, 3, 0, 1);
}

static inline kn_lanes4 count_bits(kn_lanes4 x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (x + (x >> 16)) & 0x3f;
}

/* The lanes of each merged set whose sets have fewer values than asked for. Few values are counted by taking them away.
 */
static inline __attribute__((always_inline)) void too_few(kn_lanes4 few[4], const kn_lanes4 *sets, const settings *s)
{
    enum { MOST_TAKEN = 8 };
    kn_lanes4 united[2][4] = {{{0}}};
    if (s->n_sets <= 2 && s->least <= MOST_TAKEN) {
        for (uint32_t part = 0; part < s->n_sets; part++) unite_lanes(united[part], sets[part]);
        for (int m = 0; m < 4; m++) {
            kn_lanes4 first = united[0][m], second = united[1][m];
            if (!kn_set_used(s->n_riders, m)) continue;
            for (uint32_t i = 1; i < s->least; i++) {
                if (s->n_sets == 2) second &= (second - 1) | (kn_lanes4)(first != 0);
                first &= first - 1;
            }
            few[m] = (kn_lanes4)((first | second) == 0);
        }
        return;
    }
    for (int m = 0; m < 4; m++) few[m] = (kn_lanes4){0};
    for (uint32_t column = 0, part = 0; part < s->n_sets; column++) {
        kn_lanes4 n_values[4] = {{0}};
        for (uint32_t end = part + s->b->n_set_lanes[column]; part < end; part++) {
            unite_lanes(united[0], sets[part]);
            for (int m = 0; m < 4; m++) n_values[m] += count_bits(united[0][m]);
        }
        if (s->b->n_set_lanes[column] == 0) continue;
        for (int m = 0; m < 4; m++) few[m] |= (kn_lanes4)(n_values[m] < s->least_values[column]);
    }
}

/* --- Classes --------------------------------------------------------------------------------------------------- */

/* Whether not even all lanes together have persons enough. */
static inline __attribute__((always_inline)) bool is_small(kn_lanes4 size, const settings *s)
{
    size += __builtin_shufflevector(size, size, 2, 3, 0, 1);
    size += __builtin_shufflevector(size, size, 1, 0, 3, 2);
    return size[0] < s->threshold[0];
}

/* One class: its rows that are suppressed, per merged set; counts it where asked. Returns whether there are any, or
 * true: where it costs little to tell which, there is no branch on whether. */
static inline __attribute__((always_inline)) bool
class_below(kn_lanes4 below[4], const kn_lanes4 *counts, const settings *s, kn_lanes4 classes[4], kn_lanes4 smallest[4])
{
    kn_lanes4 rows[4], persons[4] = {{0}}, few[4] = {{0}}, size = s->has_persons ? counts[1] : counts[0];
    if (s->n_sets > 0 && !s->details && is_small(size, s)) {
        kn_merge_lanes(below, counts);
        return true;
    }
    if (s->n_sets > 0) too_few(few, counts + (s->has_persons ? 2 : 1), s);
    if (!s->details && (s->has_persons || s->n_sets > 0) &&
        !kn_any_lane(((kn_lanes4)(size < s->threshold) | few[0]) & counts[0]))
        return false;
    kn_merge_lanes(rows, counts);
    if (s->has_persons) kn_merge_lanes(persons, counts + 1);
    kn_lanes4 any = {0};
    for (int m = 0; m < 4; m++) {
        below[m] = (kn_lanes4){0};
        if (!kn_set_used(s->n_riders, m)) continue;
        size = s->has_persons ? persons[m] : rows[m];
        kn_lanes4 breaks = (kn_lanes4)(size < s->threshold) | few[m];
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

/* Part number `part` of two classes together: numbers are added, sets are united. */
static inline __attribute__((always_inline)) kn_lanes4 join(kn_lanes4 a, kn_lanes4 b, uint32_t part, const settings *s)
{
    return part < n_parts(s) - s->n_sets ? a + b : a | b;
}

/* Adds to the sums by value. */
static inline __attribute__((always_inline)) void add_sum(kn_count_scan *scan, uint32_t value, const kn_lanes4 *counts,
                                                          const settings *s)
{
    uint64_t *word = &scan->bits[value / 64], bit = (uint64_t)1 << value % 64;
    uint32_t keep = -(uint32_t)((*word & bit) != 0);
    kn_lanes4 mask = {keep, keep, keep, keep};
    *word |= bit;
    kn_lanes4 *sum = &scan->sums[value * n_parts(s)];
    for (uint32_t part = 0; part < n_parts(s); part++) sum[part] = join(sum[part] & mask, counts[part], part, s);
}

/* The sums as the classes of combo c, in the order of their values. */
static inline __attribute__((always_inline)) void take_sums(kn_count_scan *scan, const kn_block_lattice *b, uint32_t c,
                                                            const settings *s)
{
    const class_list *out = &scan->lists[c];
    const uint32_t parts = n_parts(s);
    uint32_t n = 0, n_words = (1u << b->n_inner_bits) / 64 + (b->n_inner_bits < 6);
    for (uint32_t w = 0; w < n_words; w++) {
        for (uint64_t rest = scan->bits[w]; rest != 0; rest &= rest - 1, n++) {
            uint32_t value = 64 * w + (uint32_t)__builtin_ctzll(rest);
            out->value[n] = (uint16_t)value;
            for (uint32_t part = 0; part < parts; part++)
                out->counts[n * parts + part] = scan->sums[value * parts + part];
        }
        scan->bits[w] = 0;
    }
    scan->n_classes[c] = n;
}

static inline __attribute__((always_inline)) void raise_classes(kn_count_scan *scan, const kn_block_lattice *b,
                                                                uint32_t c, const settings *s)
{
    const uint32_t parts = n_parts(s);
    uint32_t column = 0, from = b->below[c][0];
    if (from == KN_NONE) from = kn_combo_source(b, c, scan->n_classes, &column);
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    const class_list *list = &scan->lists[from];
    if (column > 0) {
        for (uint32_t j = 0; j < scan->n_classes[from]; j++)
            add_sum(scan, raised[list->value[j]], &list->counts[j * parts], s);
        take_sums(scan, b, c, s);
        return;
    }
    /* stores of vectors may alias anything: what does not change is taken out of memory first */
    const uint32_t n_from = scan->n_classes[from];
    const uint16_t *from_values = list->value;
    const kn_lanes4 *from_counts = list->counts;
    uint16_t *values = scan->lists[c].value;
    kn_lanes4 *counts = scan->lists[c].counts, sum[2] = {{0}}; /* sum: the first parts of the class at hand */
    uint32_t n = 0, last = KN_NONE;                            /* n: its number, plus one */
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t value = raised[from_values[j]], is_new = value != last, keep = is_new - 1;
        kn_lanes4 mask = {keep, keep, keep, keep};
        n += is_new;
        last = value;
        values[n - 1] = (uint16_t)value;
        kn_lanes4 *to = counts + (n - 1) * parts;
        for (uint32_t part = 0; part < parts; part++) {
            kn_lanes4 before = part < 2 ? sum[part] : to[part];
            to[part] = join(before & mask, from_counts[j * parts + part], part, s);
            if (part < 2) sum[part] = to[part];
        }
    }
    scan->n_classes[c] = n;
}

static inline __attribute__((always_inline)) void base_classes(kn_count_scan *scan, const kn_blocks *blocks,
                                                               uint32_t block, const settings *s)
{
    const uint32_t parts = n_parts(s), end = blocks->start[block + 1];
    for (uint32_t e = blocks->start[block]; e < end; e++) { /* each value once */
        const uint32_t value = blocks->inner[e];
        const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)e * parts;
        scan->bits[value / 64] |= (uint64_t)1 << value % 64;
        for (uint32_t part = 0; part < parts; part++) scan->sums[value * parts + part] = counts[part];
    }
    take_sums(scan, scan->domain->blocks, 0, s);
}

void kn_count_classes(kn_count_scan *scan, const kn_blocks *blocks, uint32_t block)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const settings s = {.has_persons = scan->domain->lattice->has_persons, .n_sets = scan->n_sets};
    base_classes(scan, blocks, block, &s);
    for (uint32_t c = 1; c < b->n_combos; c++) raise_classes(scan, b, c, &s);
}

kn_class_list kn_count_list(const kn_count_scan *scan, uint32_t combo)
{
    return (kn_class_list){scan->n_classes[combo], scan->lists[combo].value, scan->lists[combo].counts};
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

/* One or two classes at combo c settle all combos above it: two of them stay as they are until they are one. */
static inline __attribute__((always_inline)) void add_settled(kn_block_sums *sums, kn_count_scan *scan, uint32_t c,
                                                              const uint16_t *values, const kn_lanes4 *counts,
                                                              uint32_t n, int64_t price, const settings *s)
{
    const uint32_t parts = n_parts(s);
    kn_lanes4 below[4], apart[4] = {{0}}, *together = scan->sums;
    for (uint32_t j = 0; j <= n; j++) { /* the last one is both together */
        uint32_t at = c, value = values[j < n ? j : 0];
        if (j == n) {
            at = n == 2 && kn_any_lane(apart[0]) ? kn_joined_combo(sums, c, values) : KN_NONE;
            if (at == KN_NONE) return;
            value = kn_raised(sums, c, value)[at];
            for (uint32_t part = 0; part < parts; part++)
                together[part] = join(counts[part], counts[parts + part], part, s);
        }
        if (!class_below(below, j < n ? &counts[j * parts] : together, s, NULL, NULL)) memset(below, 0, sizeof below);
        for (int m = 0; m < 4; m++) {
            below[m] -= j < n ? (kn_lanes4){0} : apart[m];
            apart[m] += below[m];
        }
        kn_add_onward(sums, &sums->sure, at, below, value, price, s->n_riders);
    }
}

/* A block whose classes differ from combo to combo. */
static inline __attribute__((always_inline)) void
mixed_block(kn_block_sums *sums, kn_count_scan *scan, const kn_blocks *blocks, uint32_t block, const settings *s)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint32_t parts = n_parts(s);
    const uint32_t first = blocks->start[block];
    const bool two_entries = blocks->start[block + 1] - first == 2 && !s->details; /* need not be sorted */
    uint32_t clean = 0, settled = 0; /* combos in which nothing is suppressed; of which all is known */
    if (!two_entries) base_classes(scan, blocks, block, s);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if ((clean | settled) >> c & 1) continue;
        if (c > 0) raise_classes(scan, b, c, s);
        const uint32_t n = two_entries ? 2 : scan->n_classes[c];
        const uint16_t *values = two_entries ? blocks->inner + first : scan->lists[c].value;
        const kn_lanes4 *counts =
            two_entries ? (const kn_lanes4 *)blocks->counts + (size_t)first * parts : scan->lists[c].counts;
        if (!s->details && n <= 2 && (settled & b->above[c]) == 0) {
            add_settled(sums, scan, c, values, counts, n, kn_block_price(sums, blocks, block), s);
            if (two_entries) return;
            settled |= b->above[c];
            continue;
        }
        kn_lanes4 *by_value = sums->sure.by_value + ((size_t)c << b->n_inner_bits) * 4, block_below[4] = {{0}};
        for (uint32_t j = 0; j < n; j++) {
            kn_lanes4 below[4];
            if (!class_below(below, &counts[j * parts], s, sums->classes[c], sums->smallest[c])) continue;
            kn_add_class(by_value + (size_t)values[j] * 4, block_below, below, s->n_riders);
        }
        const bool any = kn_any_lane(block_below[0]);
        if (any) kn_add_block(&sums->sure, c, block_below, kn_block_price(sums, blocks, block), s->n_riders);
        if (!any && !s->details) clean |= b->above[c];
    }
}

static inline __attribute__((always_inline)) void scan_blocks(kn_block_sums *sums, kn_count_scan *scan,
                                                              const kn_blocks *blocks, kn_block_range range,
                                                              uint32_t n_riders, uint32_t n_sets, bool has_persons,
                                                              bool details)
{
    const kn_models *models = scan->domain->task->models;
    const uint32_t k = models->min_persons < UINT32_MAX ? (uint32_t)models->min_persons : UINT32_MAX;
    settings s = {{k, k, k, k}, has_persons, details, n_riders, n_sets, scan->domain->blocks, models->least_values, 0};
    for (uint32_t i = 0; n_sets > 0 && i < scan->domain->lattice->tuples->n_sensitive; i++)
        if (s.b->n_set_lanes[i] > 0) s.least = s.b->n_set_lanes[i] == n_sets ? models->least_values[i] : UINT32_MAX;
    const uint32_t parts = n_parts(&s);
    for (uint32_t block = range.begin; block < range.end; block++) {
        uint32_t first = blocks->start[block], end = blocks->start[block + 1];
        const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)first * parts;
        kn_lanes4 below[4];
        if (end - first == 1) {
            if (class_below(below, counts, &s, sums->always_classes, sums->always_smallest))
                kn_add_onward(sums, &sums->sure, 0, below, blocks->inner[first], kn_block_price(sums, blocks, block),
                              n_riders);
            continue;
        }
        kn_lanes4 all = {0};
        for (uint32_t e = 0; e < end - first; e++) all += counts[e * parts + (has_persons ? 1 : 0)];
        if (!details && (uint64_t)all[0] + all[1] + all[2] + all[3] < k) {
            const int64_t price = kn_block_price(sums, blocks, block);
            for (uint32_t e = 0; e < end - first; e++) {
                kn_merge_lanes(below, counts + (size_t)e * parts);
                kn_add_onward(sums, &sums->sure, 0, below, blocks->inner[first + e], price, n_riders);
            }
            continue;
        }
        mixed_block(sums, scan, blocks, block, &s);
    }
}

void kn_scan_counts(kn_block_sums *sums, kn_count_scan *scan, const kn_blocks *blocks, kn_block_range range,
                    bool details)
{
    bool has_persons = scan->domain->lattice->has_persons;
    uint32_t n_riders = scan->domain->blocks->n_riders, n_sets = scan->n_sets;
    if (has_persons || details || n_sets > 2)
        scan_blocks(sums, scan, blocks, range, n_riders, n_sets, has_persons, details);
    else if (n_sets == 1 && n_riders == 2) scan_blocks(sums, scan, blocks, range, 2, 1, false, false);
    else if (n_sets == 1) scan_blocks(sums, scan, blocks, range, n_riders, 1, false, false);
    else if (n_sets == 2 && n_riders == 2) scan_blocks(sums, scan, blocks, range, 2, 2, false, false);
    else if (n_sets == 2) scan_blocks(sums, scan, blocks, range, n_riders, 2, false, false);
    else if (n_riders == 2) scan_blocks(sums, scan, blocks, range, 2, 0, false, false);
    else if (n_riders == 1) scan_blocks(sums, scan, blocks, range, 1, 0, false, false);
    else scan_blocks(sums, scan, blocks, range, 0, 0, false, false);
}
