/* The pass over blocks with sensitive values; see block_sums.h and partition/block_values.h.
 *
 * An entry stands for nine classes: each of its four lanes, the pairs that either rider merges, and all four. They are
 * bits here, in this order. `state` has the bits of those that are empty or hold; where models are monotone, what is
 * merged of fine classes is fine, so a model is asked only about a class that has persons enough and a part that is
 * not, and never twice about the same rows: a class that nothing was added to keeps its answers from combo to combo.
 *
 * Classes stand in the order of their inner values and merge as in block_counts.c. Their sensitive values follow only
 * where a model is asked: each combo notes which classes of the combo below it made which of its own, and when one
 * of its classes must be seen, the values of all of them are added up along these notes. In blocks of at most MOST_NARROW
 * rows they are numbers of 16 bits. */
#include "algo/block_sums.h"
#include "partition/block_values.h"

#include <string.h>

enum { N_CLASSES = 9, ALL_CLASSES = 0x1ff, MOST_NARROW = KN_LANES_MOST_ROWS };
enum { ASKED = 1 << 9, FRESH = 1 << 10 }; /* in `state`, beside the bits of classes: all there is; nothing is in it yet */
enum { FIRST = 1 << 15 };                 /* in `made`: begins a class */
static const uint8_t lanes_of[N_CLASSES] = {1, 2, 4, 8, 5, 10, 3, 12, 15};
static const uint8_t set_of[N_CLASSES] = {0, 0, 0, 0, 1, 1, 2, 2, 3}; /* merged set and a lane in it */
static const uint8_t lane_of[N_CLASSES] = {0, 1, 2, 3, 0, 1, 0, 2, 0};

typedef uint16_t narrow8 __attribute__((vector_size(16), may_alias));

/* The classes of one block at one combo. */
typedef struct class_list {
    uint16_t *value, *state;
    kn_lanes4 *counts; /* [class * parts]: rows, then persons where they are not rows */
    uint16_t *made;    /* [class of the combo below]: what it became; at combo 0 [class]: its entry in the block */
    kn_lanes4 *slots;  /* [class * n_vectors]: sensitive values */
    uint32_t from;     /* that combo below */
    bool has_slots;
} class_list;

struct kn_histogram_scan {
    const kn_full_domain *domain;
    const kn_models *models;
    uint32_t all; /* bits of the classes that the riders make */
    uint32_t min_persons;
    uint64_t bits[(1 << KN_BLOCK_MAX_INNER_BITS) / 64]; /* the inner values at hand */
    uint16_t where[1 << KN_BLOCK_MAX_INNER_BITS];       /* their classes */
    class_list lists[KN_BLOCK_MAX_COMBOS];
    uint32_t n_classes[KN_BLOCK_MAX_COMBOS];
    uint16_t *small; /* memory of the lists */
    kn_lanes4 *counts, *slots; /* slots: the first one is for blocks of one entry */
    uint16_t empty[16]; /* [bit set of lanes that have rows]: bits of the classes that have none */
    /* Of the block at hand. */
    const kn_blocks *blocks;
    uint32_t first, n_vectors; /* n_vectors: of a slot */
    bool narrow;
    /* What the models are asked about. */
    uint32_t rows[N_CLASSES];
    uint16_t *lanes; /* column after column: [class][value] */
    const uint16_t **columns;
    kn_histogram *histograms;
    uint32_t *entries;
};

/* Lists stand close together, each as long as it can get, as in block_counts.c. */
static kn_status lists_new(kn_histogram_scan *scan, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = scan->domain->blocks;
    const size_t parts = scan->domain->lattice->has_persons ? 2 : 1, n_vectors = b->values_width / 4;
    size_t n = 0, n_small = 0, most[KN_BLOCK_MAX_COMBOS], most_made[KN_BLOCK_MAX_COMBOS];
    for (uint32_t c = 0; c < b->n_combos; c++) {
        n += most[c] = most_made[c] = kn_combo_values(b, c);
        for (uint32_t i = 0; i < b->n_inner; i++)
            if (b->below[c][i] != KN_NONE && most[b->below[c][i]] > most_made[c]) most_made[c] = most[b->below[c][i]];
        n_small += 2 * most[c] + most_made[c];
    }
    KN_NEW_RAW(scan->small, n_small);
    scan->counts = kn_array_alloc_aligned(n * parts, sizeof *scan->counts, err);
    scan->slots = kn_array_alloc_aligned((n + 1) * n_vectors, sizeof *scan->slots, err);
    if (scan->counts == NULL || scan->slots == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    uint16_t *small = scan->small;
    n = 0;
    for (uint32_t c = 0; c < b->n_combos; n += most[c++]) {
        class_list *list = &scan->lists[c];
        list->value = small;
        list->state = small + most[c];
        list->made = small + 2 * most[c];
        small += 2 * most[c] + most_made[c];
        list->counts = scan->counts + n * parts;
        list->slots = scan->slots + (n + 1) * n_vectors;
    }
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
    for (uint32_t filled = 0; filled < 16; filled++)
        for (uint32_t c = 0; c < N_CLASSES; c++)
            if ((lanes_of[c] & filled) == 0) scan->empty[filled] |= (uint16_t)(scan->all & 1u << c);
    KN_TRY(lists_new(scan, err));
    size_t width = 0;
    for (uint32_t s = 0; s < b->n_words; s++) width += b->values_lane[s];
    scan->lanes = kn_array_alloc_aligned(width * N_CLASSES, sizeof *scan->lanes, err);
    if (scan->lanes == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_NEW(scan->columns, b->n_words);
    width = 0;
    for (uint32_t s = 0; s < b->n_words; width += b->values_lane[s++]) scan->columns[s] = scan->lanes + N_CLASSES * width;
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
    kn_free(scan->small);
    kn_free(scan->counts);
    kn_free(scan->slots);
    kn_free(scan->lanes);
    kn_free(scan->columns);
    kn_free(scan->histograms);
    kn_free(scan->entries);
    kn_free(scan);
}

/* --- Sensitive values ------------------------------------------------------------------------------------------ */

/* Those of an entry of the block, as a slot. */
static void entry_slot(kn_lanes4 *slot, const kn_histogram_scan *scan, uint32_t e)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint64_t *words = scan->blocks->words + (size_t)e * b->n_words;
    const uint32_t *values = scan->blocks->values + (size_t)(uint32_t)words[0] * b->values_width;
    uint16_t *narrow = (uint16_t *)slot;
    if (kn_values_n(words[0]) == KN_VALUES_LANES) {
        if (!scan->narrow) memcpy(slot, values, b->values_width * sizeof *values);
        for (uint32_t i = 0; scan->narrow && i < b->values_width; i++) narrow[i] = (uint16_t)values[i];
        return;
    }
    memset(slot, 0, scan->n_vectors * sizeof *slot);
    if (!scan->narrow) {
        kn_values_spread((uint32_t *)slot, b, words, b->n_words);
        return;
    }
    for (uint32_t s = 0; s < b->n_words; s++) {
        uint64_t word = words[s];
        uint16_t *lanes = narrow + b->values_at[s];
        for (uint32_t i = kn_values_n(word), width = b->values_lane[s]; i > 0; i--, word >>= 8)
            lanes[(word >> KN_VALUES_BITS & 3) * width + (word & ((1u << KN_VALUES_BITS) - 1))]++;
    }
}

static inline __attribute__((always_inline)) void add_slots(class_list *list, const class_list *from, uint32_t n_from,
                                                            size_t n_vectors, bool narrow)
{
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t keep = list->made[j] & FIRST ? 0 : ~0u;
        kn_lanes4 mask = {keep, keep, keep, keep}, *to = list->slots + (list->made[j] & ~FIRST) * n_vectors;
        const kn_lanes4 *more = from->slots + j * n_vectors;
        for (size_t v = 0; v < n_vectors; v++) {
            if (narrow) to[v] = (kn_lanes4)((narrow8)(to[v] & mask) + (narrow8)more[v]);
            else to[v] = (to[v] & mask) + more[v];
        }
    }
}

/* Those of all classes of a combo. */
static void fill_slots(kn_histogram_scan *scan, uint32_t c)
{
    class_list *list = &scan->lists[c];
    const uint32_t n_vectors = scan->n_vectors;
    if (list->has_slots) return;
    list->has_slots = true;
    if (c == 0) {
        for (uint32_t j = 0; j < scan->n_classes[0]; j++)
            entry_slot(list->slots + (size_t)j * n_vectors, scan, scan->first + list->made[j]);
        return;
    }
    fill_slots(scan, list->from);
    const class_list *from = &scan->lists[list->from];
    const uint32_t n_from = scan->n_classes[list->from];
    if (!scan->narrow) add_slots(list, from, n_from, n_vectors, false);
    else if (n_vectors == 8) add_slots(list, from, n_from, 8, true);
    else add_slots(list, from, n_from, n_vectors, true);
}

/* --- Asking the models ----------------------------------------------------------------------------------------- */

/* Eight values of one lane; where they do not fit, their class is too large for lanes. */
static inline __attribute__((always_inline)) narrow8 eight_values(const kn_lanes4 *slot, size_t at, bool narrow)
{
    if (narrow) return (narrow8)slot[at / 8];
    narrow8 eight;
    for (size_t i = 0; i < 8; i++) eight[i] = (uint16_t)((const uint32_t *)slot)[at + i];
    return eight;
}

/* The values of all classes that the riders make. */
static inline __attribute__((always_inline)) void class_lanes(kn_histogram_scan *scan, const kn_lanes4 *slot,
                                                              uint32_t n_riders, bool narrow)
{
    const kn_block_lattice *b = scan->domain->blocks;
    uint16_t *to = scan->lanes;
    for (uint32_t s = 0; s < b->n_words; to += (size_t)N_CLASSES * b->values_lane[s++]) {
        const size_t width = b->values_lane[s], at = b->values_at[s];
        for (size_t v = 0; v < width; v += 8) {
            narrow8 sums[N_CLASSES] = {eight_values(slot, at + v, narrow)};
            for (size_t lane = 1; n_riders > 0 && lane < 4; lane++)
                sums[lane] = eight_values(slot, at + lane * width + v, narrow);
            for (uint32_t c = 4; n_riders == 2 && c < 8; c++)
                sums[c] = c < 6 ? sums[c - 4] + sums[c - 2] : sums[2 * c - 12] + sums[2 * c - 11];
            sums[8] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
            for (uint32_t c = 0; c < (n_riders > 0 ? N_CLASSES : 1); c++) *(narrow8 *)(to + c * width + v) = sums[c];
        }
    }
}

/* Class c as lists, for models that do not take lanes or cannot tell from them. */
static bool holds_as_lists(kn_histogram_scan *scan, const kn_lanes4 *slot, uint32_t c, uint64_t n_persons)
{
    const kn_tuples *tuples = scan->domain->lattice->tuples;
    uint32_t *values = scan->entries;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        const size_t width = scan->domain->blocks->values_lane[s], at = scan->domain->blocks->values_at[s];
        uint32_t n_values = tuples->sensitive[s].n_values, n = 0, *counts = values + n_values;
        for (uint32_t v = 0; v < n_values; v++) {
            values[n] = v;
            counts[n] = 0;
            for (uint32_t lane = 0; lanes_of[c] >> lane != 0; lane++) {
                size_t place = at + lane * width + v;
                if ((lanes_of[c] >> lane & 1) == 0) continue;
                counts[n] += scan->narrow ? ((const uint16_t *)slot)[place] : ((const uint32_t *)slot)[place];
            }
            n += counts[n] > 0;
        }
        scan->histograms[s] = (kn_histogram){n, values, counts};
        values += 2 * (size_t)n_values;
    }
    kn_class_counts counts = {.n_rows = scan->rows[c], .n_persons = n_persons, .sensitive = scan->histograms};
    return kn_models_hold(scan->models, &counts);
}

/* Bits of classes that follow from finer ones. */
static inline uint32_t implied(uint32_t fine)
{
    uint32_t bits = 0, pairs;
    for (uint32_t c = 4; c < 8; c++) bits |= (uint32_t)((lanes_of[c] & ~fine) == 0) << c;
    pairs = fine | bits;
    return bits | (uint32_t)((pairs & 0x30) == 0x30 || (pairs & 0xc0) == 0xc0 || (pairs & 0xf) == 0xf) << 8;
}

/* Returns those of the classes in `ask` that hold. Models are shown all classes: that is cheaper than to sort out. */
static uint32_t ask_models(kn_histogram_scan *scan, const kn_lanes4 *slot, const kn_lanes4 rows[4],
                           const kn_lanes4 persons[4], uint32_t ask)
{
    for (uint32_t c = 0; c < N_CLASSES; c++) scan->rows[c] = rows[set_of[c]][lane_of[c]];
    const uint32_t n_riders = scan->domain->blocks->n_riders;
    if (!scan->narrow) class_lanes(scan, slot, n_riders, false);
    else if (n_riders == 2) class_lanes(scan, slot, 2, true);
    else if (n_riders == 1) class_lanes(scan, slot, 1, true);
    else class_lanes(scan, slot, 0, true);
    const kn_lane_counts counts = {.n = scan->all > 1 ? N_CLASSES : 1, .n_rows = scan->rows, .sensitive = scan->columns};
    kn_judgement judgement = kn_models_judge(scan->models, &counts);
    for (uint32_t c = 0; !scan->narrow && c < N_CLASSES; c++)
        if (scan->rows[c] > KN_LANES_MOST_ROWS) judgement.unsure |= 1u << c;
    judgement.holds &= ~judgement.unsure;
    for (uint32_t rest = judgement.unsure & ask; rest != 0; rest &= rest - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(rest);
        judgement.holds |= (uint32_t)holds_as_lists(scan, slot, c, persons[set_of[c]][lane_of[c]]) << c;
    }
    return judgement.holds & ask;
}

/* --- Classes --------------------------------------------------------------------------------------------------- */

/* What is the same for all blocks of a pass. Constant members make loops of their own. */
typedef struct settings {
    kn_lanes4 threshold;
    bool has_persons, details;
    uint32_t n_riders, keeps; /* keeps: what a merged class inherits of `state` */
} settings;

static inline __attribute__((always_inline)) uint32_t any_bits(kn_lanes4 bits)
{
    typedef uint64_t halves __attribute__((vector_size(16), may_alias));
    uint64_t both = ((halves)bits)[0] | ((halves)bits)[1];
    return (uint32_t)(both | both >> 32);
}

/* The classes whose lanes are set in the merged sets. */
static inline __attribute__((always_inline)) uint32_t class_bits(const kn_lanes4 sets[4])
{
    return any_bits((sets[0] & (kn_lanes4){1, 2, 4, 8}) | (sets[1] & (kn_lanes4){16, 32, 0, 0}) |
                    (sets[2] & (kn_lanes4){64, 0, 128, 0}) | (sets[3] & (kn_lanes4){256, 0, 0, 0}));
}

/* The lanes of merged set m that the classes in `bits` have. */
static inline __attribute__((always_inline)) kn_lanes4 class_mask(uint32_t bits, int m)
{
    static const kn_lanes4 own[4] = {{1, 2, 4, 8}, {16, 32, 16, 32}, {64, 64, 128, 128}, {256, 256, 256, 256}};
    return (kn_lanes4)(((kn_lanes4){bits, bits, bits, bits} & own[m]) != 0);
}

static inline __attribute__((always_inline)) uint32_t filled_lanes(kn_lanes4 rows)
{
    return any_bits((kn_lanes4)(rows != 0) & (kn_lanes4){1, 2, 4, 8});
}

/* Whether not even all lanes together have persons enough. */
static inline __attribute__((always_inline)) bool is_small(const kn_lanes4 *counts, const settings *s)
{
    kn_lanes4 all = s->has_persons ? counts[1] : counts[0];
    all += __builtin_shufflevector(all, all, 2, 3, 0, 1);
    all += __builtin_shufflevector(all, all, 1, 0, 3, 2);
    return all[0] < s->threshold[0];
}

/* One class, of combo c or (KN_NONE) the only entry of its block: what is suppressed of it for want of persons, and
 * (return value: bits) by the models. *state becomes all that is to be known. */
static inline __attribute__((always_inline)) uint32_t class_below(kn_lanes4 below[4], kn_lanes4 rows[4],
                                                                  kn_histogram_scan *scan, const kn_lanes4 *counts,
                                                                  uint32_t c, uint32_t j, uint16_t *state,
                                                                  const settings *s, kn_lanes4 classes[4],
                                                                  kn_lanes4 smallest[4])
{
    kn_lanes4 persons[4], enough[4];
    kn_merge_lanes(rows, counts);
    if (s->has_persons) kn_merge_lanes(persons, counts + 1);
    for (int m = 0; !s->has_persons && m < 4; m++) persons[m] = rows[m];
    uint32_t known = *state & scan->all;
    if (!scan->models->monotone) known |= scan->empty[filled_lanes(counts[0])];
    for (int m = 0; m < 4; m++) {
        enough[m] = (kn_lanes4)(persons[m] >= s->threshold);
        below[m] = rows[m] & ~enough[m];
    }
    uint32_t large = class_bits(enough) & scan->all;
    if ((*state & ASKED) == 0) {
        if (scan->models->monotone) known |= implied(known) & large;
        uint32_t ask = large & ~known;
        if (ask != 0 && scan->models->counts_only) {
            known |= ask;
        } else if (ask != 0) {
            if (c == KN_NONE) entry_slot(scan->slots, scan, scan->first);
            else fill_slots(scan, c);
            const kn_lanes4 *slot = c == KN_NONE ? scan->slots : scan->lists[c].slots + (size_t)j * scan->n_vectors;
            known |= ask_models(scan, slot, rows, persons, ask);
        }
        *state = (uint16_t)(known | ASKED);
    }
    for (int m = 0; s->details && m < 4; m++) {
        kn_lanes4 filled = (kn_lanes4)(rows[m] != 0), size = persons[m] | ~filled;
        classes[m] -= class_mask(large & known, m) & filled;
        smallest[m] = kn_lesser(size, smallest[m]);
    }
    return large & ~known;
}

static inline __attribute__((always_inline)) void refused_rows(kn_lanes4 below[4], const kn_lanes4 rows[4], uint32_t bits)
{
    for (int m = 0; m < 4; m++) below[m] = rows[m] & class_mask(bits, m);
}

/* --- Combos ---------------------------------------------------------------------------------------------------- */

/* The inner values whose bits are set become the classes of combo c; returns how many. */
static inline __attribute__((always_inline)) uint32_t take_values(kn_histogram_scan *scan, uint32_t c)
{
    uint16_t *values = scan->lists[c].value;
    uint32_t n = 0, n_inner_bits = scan->domain->blocks->n_inner_bits, n_words = (1u << n_inner_bits) / 64 + (n_inner_bits < 6);
    for (uint32_t w = 0; w < n_words; w++) {
        for (uint64_t rest = scan->bits[w]; rest != 0; rest &= rest - 1)
            values[n++] = (uint16_t)(64 * w + (uint32_t)__builtin_ctzll(rest));
        scan->bits[w] = 0;
    }
    return scan->n_classes[c] = n;
}

static inline __attribute__((always_inline)) void lowest_classes(kn_histogram_scan *scan, const kn_blocks *blocks,
                                                                 uint32_t block, const settings *s)
{
    const uint32_t first = blocks->start[block], parts = s->has_persons ? 2 : 1;
    const kn_lanes4 *from = (const kn_lanes4 *)blocks->counts + (size_t)first * parts;
    class_list *list = &scan->lists[0];
    for (uint32_t e = 0; e < blocks->start[block + 1] - first; e++) {
        uint32_t value = blocks->inner[first + e];
        scan->bits[value / 64] |= (uint64_t)1 << value % 64;
        scan->where[value] = (uint16_t)e;
    }
    const uint32_t n = take_values(scan, 0);
    for (uint32_t j = 0; j < n; j++) {
        uint32_t e = list->made[j] = scan->where[list->value[j]];
        list->state[j] = scan->empty[filled_lanes(from[e * parts])];
        for (uint32_t part = 0; part < parts; part++) list->counts[j * parts + part] = from[e * parts + part];
    }
    list->has_slots = false;
}

/* Raises another inner column than the first: sorts anew. */
static inline __attribute__((always_inline)) void raise_sorting(kn_histogram_scan *scan, uint32_t c, uint32_t from,
                                                                const uint16_t *raised, const settings *s)
{
    const class_list *source = &scan->lists[from];
    const class_list list = scan->lists[c];
    const uint32_t n_from = scan->n_classes[from], parts = s->has_persons ? 2 : 1;
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t value = raised[source->value[j]];
        scan->bits[value / 64] |= (uint64_t)1 << value % 64;
    }
    const uint32_t n = take_values(scan, c);
    for (uint32_t j = 0; j < n; j++) {
        scan->where[list.value[j]] = (uint16_t)j;
        list.state[j] = FRESH;
        for (uint32_t part = 0; part < parts; part++) list.counts[j * parts + part] = (kn_lanes4){0};
    }
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t at = scan->where[raised[source->value[j]]], is_new = list.state[at] == FRESH;
        uint32_t state = source->state[j];
        list.made[j] = (uint16_t)(at | (is_new ? FIRST : 0));
        list.state[at] = (uint16_t)(is_new ? state : list.state[at] & state & s->keeps);
        for (uint32_t part = 0; part < parts; part++) list.counts[at * parts + part] += source->counts[j * parts + part];
    }
}

static inline __attribute__((always_inline)) void raise_classes(kn_histogram_scan *scan, const kn_block_lattice *b,
                                                                uint32_t c, const settings *s)
{
    const uint32_t parts = s->has_persons ? 2 : 1;
    uint32_t column = 0, from = b->below[c][0];
    if (from == KN_NONE) from = kn_combo_source(b, c, scan->n_classes, &column);
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    scan->lists[c].from = from;
    scan->lists[c].has_slots = false;
    if (column > 0) {
        raise_sorting(scan, c, from, raised, s);
        return;
    }
    const class_list list = scan->lists[c], source = scan->lists[from];
    const uint32_t n_from = scan->n_classes[from];
    kn_lanes4 rows = {0}, persons = {0};
    uint32_t n = 0, last = KN_NONE, state = 0; /* n: of the class at hand, plus one */
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t value = raised[source.value[j]], is_new = value != last, keep = is_new - 1;
        kn_lanes4 mask = {keep, keep, keep, keep};
        n += is_new;
        last = value;
        state = is_new ? source.state[j] : state & source.state[j] & s->keeps;
        list.value[n - 1] = (uint16_t)value;
        list.state[n - 1] = (uint16_t)state;
        list.made[j] = (uint16_t)((n - 1) | (is_new ? FIRST : 0));
        list.counts[(n - 1) * parts] = rows = (rows & mask) + source.counts[j * parts];
        if (s->has_persons) list.counts[(n - 1) * parts + 1] = persons = (persons & mask) + source.counts[j * parts + 1];
    }
    scan->n_classes[c] = n;
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

/* A block whose classes differ from combo to combo. */
static inline __attribute__((always_inline)) void mixed_block(kn_block_sums *sums, kn_histogram_scan *scan,
                                                              const kn_blocks *blocks, uint32_t block,
                                                              const settings *s)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint32_t parts = s->has_persons ? 2 : 1;
    const bool monotone = scan->models->monotone;
    uint32_t clean = 0;
    lowest_classes(scan, blocks, block, s);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if (clean >> c & 1) continue;
        if (c > 0) raise_classes(scan, b, c, s);
        kn_lanes4 block_below[4] = {{0}}, block_refused[4] = {{0}};
        bool any = false, any_refused = false;
        const class_list list = scan->lists[c];
        const uint32_t n = scan->n_classes[c];
        for (uint32_t j = 0; j < n; j++) {
            if (!s->details && (list.state[j] & scan->all) == scan->all) continue;
            kn_lanes4 below[4], rows[4];
            size_t place = (((size_t)c << b->n_inner_bits) + list.value[j]) * 4;
            if (!s->details && is_small(&list.counts[j * parts], s)) {
                kn_merge_lanes(below, &list.counts[j * parts]);
                kn_add_class(sums->sure.by_value + place, block_below, below, s->n_riders);
                any = true;
                continue;
            }
            uint32_t refused = class_below(below, rows, scan, &list.counts[j * parts], c, j, &list.state[j], s,
                                           sums->classes[c], sums->smallest[c]);
            if ((list.state[j] & scan->all) == scan->all) continue;
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
    const uint32_t e = blocks->start[block], parts = s->has_persons ? 2 : 1;
    kn_lanes4 below[4], rows[4];
    uint16_t state = scan->empty[filled_lanes(((const kn_lanes4 *)blocks->counts)[(size_t)e * parts])];
    uint32_t refused = class_below(below, rows, scan, (const kn_lanes4 *)blocks->counts + (size_t)e * parts, KN_NONE, 0,
                                   &state, s, sums->always_classes, sums->always_smallest);
    if ((state & scan->all) == scan->all) return;
    kn_add_always(&sums->sure, below, blocks->inner[e], blocks->prices[block], s->n_riders);
    if (refused == 0) return;
    refused_rows(below, rows, refused);
    kn_add_always(&sums->refused, below, blocks->inner[e], blocks->prices[block], s->n_riders);
}

static inline __attribute__((always_inline)) void scan_blocks(kn_block_sums *sums, kn_histogram_scan *scan,
                                                              const kn_blocks *blocks, kn_block_range range, uint32_t n_riders,
                                                              bool has_persons, bool details)
{
    const uint32_t parts = has_persons ? 2 : 1, k = scan->min_persons;
    const settings s = {{k, k, k, k}, has_persons, details, n_riders, scan->models->monotone ? ALL_CLASSES : 0};
    scan->blocks = blocks;
    for (uint32_t block = range.begin; block < range.end; block++) {
        uint32_t first = blocks->start[block], end = blocks->start[block + 1];
        const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)first * parts;
        kn_lanes4 all = {0}, rows = {0}, below[4];
        for (uint32_t e = 0; e < end - first; e++) {
            rows += counts[e * parts];
            if (has_persons) all += counts[e * parts + 1];
        }
        if (!has_persons) all = rows;
        scan->first = first;
        scan->narrow = (uint64_t)rows[0] + rows[1] + rows[2] + rows[3] <= MOST_NARROW;
        scan->n_vectors = scan->domain->blocks->values_width / (scan->narrow ? 8 : 4);
        if (end - first == 1) {
            single_entry(sums, scan, blocks, block, &s);
        } else if (details || (uint64_t)all[0] + all[1] + all[2] + all[3] >= k) {
            mixed_block(sums, scan, blocks, block, &s);
        } else {
            for (uint32_t e = 0; e < end - first; e++) {
                kn_merge_lanes(below, counts + (size_t)e * parts);
                kn_add_always(&sums->sure, below, blocks->inner[first + e], blocks->prices[block], n_riders);
            }
        }
    }
}

void kn_scan_histograms(kn_block_sums *sums, kn_histogram_scan *scan, const kn_blocks *blocks, kn_block_range range,
                        bool details)
{
    const kn_block_lattice *b = scan->domain->blocks;
    bool has_persons = scan->domain->lattice->has_persons;
    if (has_persons || details) scan_blocks(sums, scan, blocks, range, b->n_riders, has_persons, details);
    else if (b->n_riders == 2) scan_blocks(sums, scan, blocks, range, 2, false, false);
    else scan_blocks(sums, scan, blocks, range, b->n_riders, false, false);
}
