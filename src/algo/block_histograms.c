/* The pass over blocks with sensitive values; see block_sums.h and partition/block_values.h.
 *
 * An entry stands for nine classes: each of its four lanes, the pairs that either rider merges, and all four. They are
 * bits here, in this order. `fine` has the bits of those that are empty or hold; where models are monotone, what is
 * merged of fine classes is fine, so a model is asked only about a class that has persons enough and a part that is
 * not, and never twice about the same rows: a class that nothing was added to keeps its answers from combo to combo.
 * A class that lists its rows is counted into lanes when a model must see it. */
#include "algo/block_sums.h"
#include "partition/block_values.h"

#include <string.h>

enum { N_CLASSES = 9 };
static const uint8_t lanes_of[N_CLASSES] = {1, 2, 4, 8, 5, 10, 3, 12, 15};
static const uint8_t set_of[N_CLASSES] = {0, 0, 0, 0, 1, 1, 2, 2, 3}; /* merged set and a lane in it */
static const uint8_t lane_of[N_CLASSES] = {0, 1, 2, 3, 0, 1, 0, 2, 0};

/* The classes of one block at one combo. */
typedef struct class_list {
    uint16_t *value, *fine;
    bool *asked;              /* `fine` is all there is */
    kn_lanes4 (*counts)[2];   /* rows, persons */
    uint64_t *words;          /* [class * n_words] */
    const uint32_t **values;  /* the slot of a class, here or further below; NULL: it lists its rows */
    uint32_t *slots;          /* [class * values_width] */
} class_list;

struct kn_histogram_scan {
    const kn_full_domain *domain;
    const kn_models *models;
    uint32_t all;   /* bits of the classes that the riders make */
    uint32_t min_persons;
    uint32_t where[1 << KN_BLOCK_MAX_INNER_BITS];
    uint32_t n_classes[KN_BLOCK_MAX_COMBOS];
    class_list lists[KN_BLOCK_MAX_COMBOS];
    uint32_t *sum; /* a class as lanes, column after column */
    const uint32_t **columns;
    kn_histogram *histograms;
    uint32_t *entries;
};

static kn_status list_new(class_list *list, const kn_block_lattice *b, uint32_t combo, kn_error *err)
{
    kn_status status = KN_OK;
    size_t most = 1;
    for (uint32_t i = 0; i < b->n_inner; i++) most *= b->lattice->columns[b->inner[i]].levels[b->combo_level[combo][i]].n;
    KN_NEW_RAW(list->value, most);
    KN_NEW_RAW(list->fine, most);
    KN_NEW_RAW(list->asked, most);
    list->counts = kn_array_alloc_aligned(most, sizeof *list->counts, err);
    if (list->counts == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_NEW_RAW(list->words, most * b->n_words);
    KN_NEW_RAW(list->values, most);
    if (combo > 0) KN_NEW_RAW(list->slots, most * b->values_width);
done:
    return status;
}

kn_status kn_histogram_scan_new(kn_histogram_scan **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    static const uint32_t classes[] = {0x001, 0x10f, 0x1ff}; /* by number of riders */
    const kn_block_lattice *b = domain->blocks;
    const uint64_t min_persons = domain->task->models->min_persons;
    kn_histogram_scan *scan = NULL;
    *out = NULL;
    KN_NEW(scan, 1);
    scan->domain = domain;
    scan->models = domain->task->models;
    scan->all = classes[b->n_riders];
    scan->min_persons = min_persons < UINT32_MAX ? (uint32_t)min_persons : UINT32_MAX;
    for (uint32_t c = 0; c < b->n_combos; c++) KN_TRY(list_new(&scan->lists[c], b, c, err));
    KN_NEW_RAW(scan->sum, b->values_width);
    KN_NEW(scan->columns, b->n_words);
    KN_NEW(scan->histograms, b->n_words);
    KN_NEW(scan->entries, kn_lattice_entries(domain->lattice));
    *out = scan;
    scan = NULL;
done:
    kn_histogram_scan_free(scan);
    return status;
}

void kn_histogram_scan_free(kn_histogram_scan *scan)
{
    if (scan == NULL) return;
    for (uint32_t c = 0; c < KN_BLOCK_MAX_COMBOS; c++) {
        kn_free(scan->lists[c].value);
        kn_free(scan->lists[c].fine);
        kn_free(scan->lists[c].asked);
        kn_free(scan->lists[c].counts);
        kn_free(scan->lists[c].words);
        kn_free(scan->lists[c].values);
        kn_free(scan->lists[c].slots);
    }
    kn_free(scan->sum);
    kn_free(scan->columns);
    kn_free(scan->histograms);
    kn_free(scan->entries);
    kn_free(scan);
}

/* --- Asking the models ----------------------------------------------------------------------------------------- */

/* The counts of a class that consists of these rider lanes: scan->columns. */
static void class_lanes(kn_histogram_scan *scan, const uint64_t *words, const uint32_t *values, uint32_t lanes)
{
    const kn_block_lattice *b = scan->domain->blocks;
    uint32_t *sum = scan->sum;
    for (uint32_t s = 0; s < b->n_words; s++, sum += b->values_lane[s - 1]) {
        uint32_t width = b->values_lane[s], lane = (uint32_t)__builtin_ctz(lanes);
        scan->columns[s] = sum;
        if (values != NULL) {
            const uint32_t *column = values + b->values_at[s];
            if (lanes == 1u << lane) {
                scan->columns[s] = column + (size_t)lane * width;
                continue;
            }
            memcpy(sum, column + (size_t)lane * width, width * sizeof *sum);
            for (lane++; lanes >> lane != 0; lane++)
                if (lanes >> lane & 1) kn_values_add(sum, column + (size_t)lane * width, width);
            continue;
        }
        memset(sum, 0, width * sizeof *sum);
        uint64_t word = words[s];
        for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8)
            sum[word & ((1u << KN_VALUES_BITS) - 1)] += lanes >> (word >> KN_VALUES_BITS & 3) & 1;
    }
}

/* The same as lists, for models that do not take lanes or cannot tell from them. */
static bool holds_as_lists(kn_histogram_scan *scan, uint64_t n_rows, uint64_t n_persons)
{
    const kn_tuples *tuples = scan->domain->lattice->tuples;
    uint32_t *values = scan->entries;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        uint32_t n_values = tuples->sensitive[s].n_values, n = 0, *counts = values + n_values;
        for (uint32_t v = 0; v < n_values; v++) {
            values[n] = v;
            counts[n] = scan->columns[s][v];
            n += counts[n] > 0;
        }
        scan->histograms[s] = (kn_histogram){n, values, counts};
        values += 2 * (size_t)n_values;
    }
    kn_class_counts counts = {.n_rows = n_rows, .n_persons = n_persons, .sensitive = scan->histograms};
    return kn_models_hold(scan->models, &counts);
}

/* Bits of `fine` that follow from finer classes. */
static inline uint32_t implied(uint32_t fine)
{
    uint32_t bits = 0, pairs;
    for (uint32_t c = 4; c < 8; c++) bits |= (uint32_t)((lanes_of[c] & ~fine) == 0) << c;
    pairs = fine | bits;
    return bits | (uint32_t)((pairs & 0x30) == 0x30 || (pairs & 0xc0) == 0xc0 || (pairs & 0xf) == 0xf) << 8;
}

/* Asks about the classes in `ask`, finest first; returns `fine` with those that hold. */
static uint32_t ask_models(kn_histogram_scan *scan, const uint64_t *words, const uint32_t *values,
                           const kn_lanes4 rows[4], const kn_lanes4 persons[4], uint32_t ask, uint32_t fine)
{
    const bool monotone = scan->models->monotone;
    for (uint32_t first = ask & 0xf, round = 0; round < 3; round++, first = round == 1 ? ask & 0xf0 : ask & 0x100) {
        if (monotone && round > 0) fine |= implied(fine) & ask;
        for (uint32_t rest = first & ~fine; rest != 0; rest &= rest - 1) {
            uint32_t c = (uint32_t)__builtin_ctz(rest);
            kn_lane_counts counts = {.n_rows = rows[set_of[c]][lane_of[c]], .n_persons = persons[set_of[c]][lane_of[c]],
                                     .sensitive = scan->columns};
            class_lanes(scan, words, values, lanes_of[c]);
            kn_judgement judgement = kn_models_judge(scan->models, &counts);
            if (judgement == KN_JUDGED_UNSURE)
                judgement = holds_as_lists(scan, counts.n_rows, counts.n_persons) ? KN_JUDGED_HOLDS : KN_JUDGED_BREAKS;
            fine |= (uint32_t)(judgement == KN_JUDGED_HOLDS) << c;
        }
    }
    return fine;
}

/* --- Classes --------------------------------------------------------------------------------------------------- */

/* What is the same for all blocks of a pass. Constant members make loops of their own. */
typedef struct settings {
    kn_lanes4 threshold;
    bool has_persons, details;
    uint32_t n_riders, n_words;
} settings;

/* The classes whose lanes are set in the merged sets. */
static inline __attribute__((always_inline)) uint32_t class_bits(const kn_lanes4 sets[4])
{
    typedef uint64_t halves __attribute__((vector_size(16), may_alias));
    kn_lanes4 bits = (sets[0] & (kn_lanes4){1, 2, 4, 8}) | (sets[1] & (kn_lanes4){16, 32, 0, 0}) |
                     (sets[2] & (kn_lanes4){64, 0, 128, 0}) | (sets[3] & (kn_lanes4){256, 0, 0, 0});
    uint64_t both = ((halves)bits)[0] | ((halves)bits)[1];
    return (uint32_t)(both | both >> 32);
}

/* The lanes of merged set m that the classes in `bits` have. */
static inline __attribute__((always_inline)) kn_lanes4 class_mask(uint32_t bits, int m)
{
    static const kn_lanes4 own[4] = {{1, 2, 4, 8}, {16, 32, 16, 32}, {64, 64, 128, 128}, {256, 256, 256, 256}};
    return (kn_lanes4)(((kn_lanes4){bits, bits, bits, bits} & own[m]) != 0);
}

/* One class, or the only entry of a block: what is suppressed of it for want of persons, and (return value: bits) by
 * the models. *fine becomes all that is to be known. */
static inline __attribute__((always_inline)) uint32_t class_below(kn_lanes4 below[4], kn_lanes4 rows[4],
                                                                  kn_histogram_scan *scan, const kn_lanes4 *counts,
                                                                  const uint64_t *words, const uint32_t *values,
                                                                  uint16_t *fine, bool asked, const settings *s,
                                                                  kn_lanes4 classes[4], kn_lanes4 smallest[4])
{
    kn_lanes4 persons[4], enough[4], filled[4];
    kn_merge_lanes(rows, counts);
    if (s->has_persons) kn_merge_lanes(persons, counts + 1);
    for (int m = 0; m < 4; m++) {
        if (!s->has_persons) persons[m] = rows[m];
        enough[m] = (kn_lanes4)(persons[m] >= s->threshold);
        filled[m] = (kn_lanes4)(rows[m] != 0);
        below[m] = rows[m] & ~enough[m];
    }
    uint32_t large = class_bits(enough) & scan->all, bits = *fine;
    bits |= scan->all & ~class_bits(filled);
    if (!asked && (large & ~bits) != 0)
        bits = scan->models->counts_only ? bits | large : ask_models(scan, words, values, rows, persons, large, bits);
    *fine = (uint16_t)bits;
    for (int m = 0; s->details && m < 4; m++) {
        classes[m] -= class_mask(large & bits, m) & filled[m];
        kn_lanes4 size = persons[m] | ~filled[m];
        smallest[m] = kn_lesser(size, smallest[m]);
    }
    return large & ~bits;
}

static inline __attribute__((always_inline)) void refused_rows(kn_lanes4 below[4], const kn_lanes4 rows[4], uint32_t bits)
{
    for (int m = 0; m < 4; m++) below[m] = rows[m] & class_mask(bits, m);
}

/* The values of class j of `list` join those of class `at` of `out`. */
static inline __attribute__((always_inline)) void join_values(class_list *out, uint32_t at, const class_list *list,
                                                              uint32_t j, const kn_block_lattice *b, uint32_t n_words)
{
    uint64_t *to = out->words + (size_t)at * n_words;
    const uint64_t *words = list->words + (size_t)j * n_words;
    const uint32_t width = b->values_width, *old = out->values[at], *other = list->values[j];
    if (kn_values_n(to[0]) + kn_values_n(words[0]) <= b->most_listed) {
        for (uint32_t s = 0; s < n_words; s++) to[s] = kn_values_join(to[s], words[s]);
        return;
    }
    uint32_t *slot = out->slots + (size_t)at * width;
    out->values[at] = slot;
    if (old != NULL && other != NULL) {
        for (uint32_t i = 0; i < width; i += 4)
            *(kn_values4 *)(slot + i) = *(const kn_values4 *)(old + i) + *(const kn_values4 *)(other + i);
        return;
    }
    if (old == NULL && other == NULL) memset(slot, 0, width * sizeof *slot);
    else if (slot != old) memcpy(slot, old != NULL ? old : other, width * sizeof *slot);
    if (old == NULL) kn_values_spread(slot, b, to, n_words);
    if (other == NULL) kn_values_spread(slot, b, words, n_words);
    to[0] = (uint64_t)KN_VALUES_LANES << 56;
}

static inline __attribute__((always_inline)) void raise_classes(kn_histogram_scan *scan, const kn_block_lattice *b,
                                                                uint32_t c, const settings *s)
{
    uint32_t column = 0, n = 0, from = kn_combo_source(b, c, scan->n_classes, &column);
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    const class_list *list = &scan->lists[from];
    class_list *out = &scan->lists[c];
    const uint16_t keeps = scan->models->monotone ? 0xffff : 0;
    for (uint32_t j = 0; j < scan->n_classes[from]; j++) {
        uint32_t value = raised[list->value[j]], at = scan->where[value];
        if (at >= n || out->value[at] != value) {
            at = scan->where[value] = n++;
            out->value[at] = (uint16_t)value;
            out->fine[at] = list->fine[j];
            out->asked[at] = list->asked[j];
            out->counts[at][0] = list->counts[j][0];
            if (s->has_persons) out->counts[at][1] = list->counts[j][1];
            out->values[at] = list->values[j];
            for (uint32_t w = 0; w < s->n_words; w++)
                out->words[(size_t)at * s->n_words + w] = list->words[(size_t)j * s->n_words + w];
        } else {
            out->fine[at] &= list->fine[j] & keeps;
            out->asked[at] = false;
            out->counts[at][0] += list->counts[j][0];
            if (s->has_persons) out->counts[at][1] += list->counts[j][1];
            join_values(out, at, list, j, b, s->n_words);
        }
    }
    scan->n_classes[c] = n;
}

static inline const uint32_t *entry_values(const kn_blocks *blocks, const kn_block_lattice *b, uint32_t e)
{
    uint64_t word = blocks->words[(size_t)e * b->n_words];
    return kn_values_n(word) == KN_VALUES_LANES ? blocks->values + (size_t)(uint32_t)word * b->values_width : NULL;
}

/* A block whose classes differ from combo to combo. */
static inline __attribute__((always_inline)) void mixed_block(kn_block_sums *sums, kn_histogram_scan *scan,
                                                              const kn_blocks *blocks, uint32_t block,
                                                              const settings *s)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint32_t first = blocks->start[block], parts = s->has_persons ? 2 : 1;
    const bool monotone = scan->models->monotone;
    uint32_t clean = 0;
    class_list *list = &scan->lists[0];
    scan->n_classes[0] = blocks->start[block + 1] - first;
    for (uint32_t e = 0; e < scan->n_classes[0]; e++) {
        list->value[e] = blocks->inner[first + e];
        list->fine[e] = 0;
        list->asked[e] = false;
        for (uint32_t w = 0; w < parts; w++)
            list->counts[e][w] = ((const kn_lanes4 *)blocks->counts)[(size_t)(first + e) * parts + w];
        list->values[e] = entry_values(blocks, b, first + e);
        for (uint32_t w = 0; w < s->n_words; w++)
            list->words[(size_t)e * s->n_words + w] = blocks->words[(size_t)(first + e) * s->n_words + w];
    }
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if (clean >> c & 1) continue;
        if (c > 0) raise_classes(scan, b, c, s);
        kn_lanes4 block_below[4] = {{0}}, block_refused[4] = {{0}};
        bool any = false, any_refused = false;
        list = &scan->lists[c];
        for (uint32_t j = 0; j < scan->n_classes[c]; j++) {
            if (!s->details && list->fine[j] == scan->all) continue;
            kn_lanes4 below[4], rows[4];
            uint32_t refused = class_below(below, rows, scan, list->counts[j], list->words + (size_t)j * s->n_words,
                                           list->values[j], &list->fine[j], list->asked[j], s, sums->classes[c],
                                           sums->smallest[c]);
            list->asked[j] = true;
            if (list->fine[j] == scan->all) continue;
            size_t place = (((size_t)c << b->n_inner_bits) + list->value[j]) * 4;
            any = true;
            kn_add_class(sums->sure.by_value + place, block_below, below, s->n_riders);
            if (refused == 0) continue;
            any_refused = true;
            refused_rows(below, rows, refused);
            kn_add_class(sums->refused.by_value + place, block_refused, below, s->n_riders);
        }
        if (any) kn_add_block(&sums->sure, c, block_below, blocks->prices[block], s->n_riders);
        if (any_refused) kn_add_block(&sums->refused, c, block_refused, blocks->prices[block], s->n_riders);
        if (!any && !s->details && monotone) clean |= b->above[c];
    }
}

static inline __attribute__((always_inline)) void single_entry(kn_block_sums *sums, kn_histogram_scan *scan,
                                                               const kn_blocks *blocks, uint32_t block,
                                                               const settings *s)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint32_t e = blocks->start[block], parts = s->has_persons ? 2 : 1;
    kn_lanes4 below[4], rows[4];
    uint16_t fine = 0;
    uint32_t refused = class_below(below, rows, scan, (const kn_lanes4 *)blocks->counts + (size_t)e * parts,
                                   blocks->words + (size_t)e * s->n_words, entry_values(blocks, b, e), &fine, false, s,
                                   sums->always_classes, sums->always_smallest);
    if (fine == scan->all) return;
    kn_add_always(&sums->sure, below, blocks->inner[e], blocks->prices[block], s->n_riders);
    if (refused == 0) return;
    refused_rows(below, rows, refused);
    kn_add_always(&sums->refused, below, blocks->inner[e], blocks->prices[block], s->n_riders);
}

static inline __attribute__((always_inline)) void scan_blocks(kn_block_sums *sums, kn_histogram_scan *scan,
                                                              const kn_blocks *blocks, kn_block_range range, uint32_t n_riders,
                                                              bool has_persons, bool details, uint32_t n_words)
{
    const uint32_t parts = has_persons ? 2 : 1, k = scan->min_persons;
    const settings s = {{k, k, k, k}, has_persons, details, n_riders, n_words};
    for (uint32_t block = range.begin; block < range.end; block++) {
        uint32_t first = blocks->start[block], end = blocks->start[block + 1];
        const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)first * parts;
        if (end - first == 1) {
            single_entry(sums, scan, blocks, block, &s);
            continue;
        }
        kn_lanes4 all = {0}, below[4];
        for (uint32_t e = 0; e < end - first; e++) all += counts[e * parts + (parts - 1)];
        if (details || (uint64_t)all[0] + all[1] + all[2] + all[3] >= k) {
            mixed_block(sums, scan, blocks, block, &s);
            continue;
        }
        for (uint32_t e = 0; e < end - first; e++) {
            kn_merge_lanes(below, counts + (size_t)e * parts);
            kn_add_always(&sums->sure, below, blocks->inner[first + e], blocks->prices[block], n_riders);
        }
    }
}

void kn_scan_histograms(kn_block_sums *sums, kn_histogram_scan *scan, const kn_blocks *blocks, kn_block_range range,
                        bool details)
{
    const kn_block_lattice *b = scan->domain->blocks;
    bool has_persons = scan->domain->lattice->has_persons;
    if (has_persons || details || b->n_words > 1)
        scan_blocks(sums, scan, blocks, range, b->n_riders, has_persons, details, b->n_words);
    else if (b->n_riders == 2) scan_blocks(sums, scan, blocks, range, 2, false, false, 1);
    else scan_blocks(sums, scan, blocks, range, b->n_riders, false, false, 1);
}
