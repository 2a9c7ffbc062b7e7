/* The classes of a bundle; see the header.
 *
 * The classes of a combo come from those of a combo one level below. They stand in the order of their inner values.
 * Positions are in pre-order of the trees, so raising the first inner column, which has the lowest bits, leaves them in
 * order, and what merges stands side by side: no lookup, and no branch on what is a toss-up. Raising another column
 * goes through a table by value and a bit set, which sorts anew.
 *
 * Models are monotone, so what is merged of fine classes is fine, and a model is asked only about a class that has
 * persons enough and a part that is not fine, and never twice about the same rows: a class that nothing was added to
 * keeps its answers from combo to combo. Sensitive values follow only where a model is asked: each combo notes which
 * classes of the combo below it made which of its own, and when one of its classes must be seen, the values of all of
 * them are added up along these notes. Counts are as narrow as the rows of the bundle allow, mostly bytes. None
 * overflows, so they are added up as words of 64 bits whatever their width. */
#include "engine/lattice/bundle_classes.h"

#include <string.h>

enum { N_BITS = 13 };
enum { ASKED = 1 << 13 }; /* in `state`, beside the bits of classes: nothing is left to ask */
enum { FIRST = 1 << 15 }; /* in `made`: begins a class */
static const uint8_t lanes_of[N_BITS] = {1, 2, 4, 8, 5, 10, 0, 0, 3, 0, 12, 0, 15};

typedef const kn_class_list *(*lister)(kn_bundle_classes *classes, uint32_t combo);

struct kn_bundle_classes {
    kn_owner memory; /* all arrays */
    const kn_bundle_lattice *b;
    const kn_models *models;
    uint32_t parts, n_sums; /* of a class's counts; those of them that are added up, the others are sets */
    uint32_t min_persons;
    lister list; /* made for these counts */
    /* The lists of all combos stand close together, each as long as it can get: in arrays of one size they would
     * compete for the same few lines of the cache. */
    kn_class_list lists[KN_BUNDLE_MAX_COMBOS];
    uint16_t *small;
    kn_lanes4 *counts;
    kn_lanes2_u64 *slots;
    /* By inner value, where its bit is set. */
    uint64_t bits[(1 << KN_BUNDLE_MAX_INNER_BITS) / 64];
    uint16_t where[1 << KN_BUNDLE_MAX_INNER_BITS];
    kn_lanes4 *sums;           /* [inner * parts] */
    uint32_t all;              /* bits of the classes that the riders make */
    uint16_t empty[16];        /* [bit set of lanes that have rows]: bits of the classes that have none, ... */
    uint16_t same[16][N_BITS]; /* ... of those that have the same rows, ... */
    uint16_t firsts[16];       /* ... and of the first one of these each */
    /* Of the bundle at hand. */
    const kn_bundles *bundles;
    uint32_t first, n_entries, count_bytes, n_vectors; /* n_vectors: of a slot */
    /* What models and measures are asked about. */
    uint16_t *lanes;      /* column after column: [value * KN_LANE_CLASSES + class] */
    uint32_t *wide_lanes; /* the same for measures, of bundles with more rows than 16 bits can count */
    const uint16_t **columns;
    const void **all_columns;
    kn_lanes4 must_go[4]; /* their answer */
    kn_histogram *histograms;
    uint32_t *entries;      /* values of lists ... */
    uint64_t *entry_counts; /* ... and their counts */
};

/* --- Setting up ------------------------------------------------------------------------------------------------ */

static lister choose_lister(uint32_t parts, uint32_t n_sums, bool values);

static size_t combo_values(const kn_bundle_lattice *b, uint32_t combo)
{
    size_t n = 1;
    for (uint32_t i = 0; i < b->n_inner; i++) n *= b->lattice->columns[b->inner[i]].levels[b->combo_level[combo][i]].n;
    return n;
}

static kn_status lists_new(kn_bundle_classes *classes, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bundle_lattice *b = classes->b;
    const size_t n_vectors = b->values_width / 4, n_values = (size_t)1 << b->n_inner_bits;
    size_t n = 0, n_small = 0, most[KN_BUNDLE_MAX_COMBOS], most_made[KN_BUNDLE_MAX_COMBOS];
    for (uint32_t c = 0; c < b->n_combos; c++) {
        n += most[c] = most_made[c] = combo_values(b, c);
        for (uint32_t i = 0; i < b->n_inner; i++)
            if (b->below[c][i] != KN_NONE && most[b->below[c][i]] > most_made[c]) most_made[c] = most[b->below[c][i]];
        n_small += 2 * most[c] + most_made[c];
    }
    KN_OWN_RAW(&classes->memory, classes->small, n_small);
    KN_OWN_ALIGNED(&classes->memory, classes->counts, (n + n_values) * classes->parts);
    KN_OWN_ALIGNED(&classes->memory, classes->slots, n * n_vectors);
    uint16_t *small = classes->small;
    classes->sums = classes->counts + n * classes->parts;
    n = 0;
    for (uint32_t c = 0; c < b->n_combos; n += most[c++]) {
        classes->lists[c] = (kn_class_list){.value = small,
                                            .state = small + most[c],
                                            .made = small + 2 * most[c],
                                            .counts = classes->counts + n * classes->parts,
                                            .slots = classes->slots + n * n_vectors};
        small += 2 * most[c] + most_made[c];
    }
done:
    return status;
}

static void fill_bits(kn_bundle_classes *classes)
{
    static const uint32_t by_riders[] = {0x0001, 0x100f, 0x153f};
    classes->all = by_riders[classes->b->n_riders];
    for (uint32_t filled = 0; filled < 16; filled++)
        for (uint32_t c = 0; c < N_BITS; c++) {
            uint16_t *same = &classes->same[filled][c];
            if ((classes->all >> c & 1) == 0) continue;
            if ((lanes_of[c] & filled) == 0) classes->empty[filled] |= (uint16_t)(1u << c);
            for (uint32_t other = 0; other < N_BITS; other++)
                if ((classes->all >> other & 1) && ((lanes_of[c] ^ lanes_of[other]) & filled) == 0)
                    *same |= (uint16_t)(1u << other);
            if (*same >> c << c == *same) classes->firsts[filled] |= (uint16_t)(1u << c);
        }
}

kn_status kn_bundle_classes_new(kn_bundle_classes **out, const kn_bundle_lattice *b, const kn_models *models,
                                kn_error *err)
{
    kn_status status = KN_OK;
    kn_bundle_classes *classes = NULL;
    *out = NULL;
    KN_NEW_ALIGNED(classes, 1);
    classes->b = b;
    classes->models = models;
    classes->parts = b->width / 4;
    classes->n_sums = b->n_counts / 4;
    classes->min_persons = models->min_persons < UINT32_MAX ? (uint32_t)models->min_persons : UINT32_MAX;
    classes->list = choose_lister(classes->parts, classes->n_sums, b->n_words > 0);
    KN_TRY(lists_new(classes, err));
    fill_bits(classes);
    if (b->n_words > 0) {
        const size_t n = (size_t)b->values_width / b->values_lanes * KN_LANE_CLASSES;
        KN_OWN_ALIGNED(&classes->memory, classes->lanes, n);
        KN_OWN_ALIGNED(&classes->memory, classes->wide_lanes, n);
        KN_OWN(&classes->memory, classes->columns, b->n_words);
        KN_OWN(&classes->memory, classes->all_columns, b->n_words);
        KN_OWN(&classes->memory, classes->histograms, b->n_words);
        KN_OWN(&classes->memory, classes->entries, kn_lattice_entries(b->lattice));
        KN_OWN(&classes->memory, classes->entry_counts, kn_lattice_entries(b->lattice));
    }
    *out = classes;
    classes = NULL;
done:
    kn_bundle_classes_free(classes);
    return status;
}

void kn_bundle_classes_free(kn_bundle_classes *classes)
{
    if (classes == NULL) return;
    kn_owner_free(&classes->memory);
    kn_free(classes);
}

/* --- Lists ----------------------------------------------------------------------------------------------------- */

/* How classes are counted, the same for all bundles of a pass. Constant members make loops of their own. */
typedef struct kind {
    uint32_t parts, n_sums;
    bool values; /* bundles carry sensitive values */
} kind;

/* Part number `part` of two classes together: numbers are added, sets are united. */
KN_INLINE kn_lanes4 join(kn_lanes4 a, kn_lanes4 b, uint32_t part, kind k) { return part < k.n_sums ? a + b : a | b; }

KN_INLINE uint32_t filled_lanes(kn_lanes4 rows)
{
    const kn_lanes4 bits = (kn_lanes4)(rows != 0) & (kn_lanes4){1, 2, 4, 8};
    return bits[0] | bits[1] | bits[2] | bits[3];
}

/* Entry e of the bundle as class j of combo 0. */
KN_INLINE void list_entry(kn_bundle_classes *classes, uint32_t j, uint32_t e, kind k)
{
    const kn_lanes4 *from = (const kn_lanes4 *)classes->bundles->counts + (size_t)(classes->first + e) * k.parts;
    const kn_class_list *list = &classes->lists[0];
    list->value[j] = classes->bundles->inner[classes->first + e];
    for (uint32_t part = 0; part < k.parts; part++) list->counts[j * k.parts + part] = from[part];
    if (!k.values) return;
    list->made[j] = (uint16_t)e;
    list->state[j] = classes->empty[filled_lanes(from[0])];
}

KN_INLINE void list_entries(kn_bundle_classes *classes, kind k)
{
    const uint16_t *inner = classes->bundles->inner + classes->first;
    const uint32_t n = classes->n_entries;
    uint32_t used = 0, j = 0; /* used: words of bits, as bits */
    classes->lists[0].n = n;
    if (n <= 2) { /* in any order: what merges stands side by side */
        for (; j < n; j++) list_entry(classes, j, j, k);
        return;
    }
    for (uint32_t e = 0; e < n; e++) { /* each value once */
        classes->bits[inner[e] / 64] |= (uint64_t)1 << inner[e] % 64;
        used |= 1u << inner[e] / 64;
        classes->where[inner[e]] = (uint16_t)e;
    }
    for (; used != 0; used &= used - 1) {
        const uint32_t w = (uint32_t)__builtin_ctz(used);
        for (uint64_t rest = classes->bits[w]; rest != 0; rest &= rest - 1)
            list_entry(classes, j++, classes->where[64 * w + (uint32_t)__builtin_ctzll(rest)], k);
        classes->bits[w] = 0;
    }
}

/* Raises another inner column than the first: sorts anew. */
KN_INLINE void raise_sorting(kn_bundle_classes *classes, kn_class_list *to, const kn_class_list *from,
                             const uint16_t *raised, kind k)
{
    uint32_t n = 0, used = 0;
    for (uint32_t j = 0; j < from->n; j++) {
        const uint32_t value = raised[from->value[j]];
        uint64_t *word = &classes->bits[value / 64], bit = (uint64_t)1 << value % 64;
        const uint32_t is_new = (*word & bit) == 0, keep = is_new - 1;
        const kn_lanes4 mask = {keep, keep, keep, keep};
        kn_lanes4 *sum = &classes->sums[value * k.parts];
        *word |= bit;
        used |= 1u << value / 64;
        for (uint32_t part = 0; part < k.parts; part++)
            sum[part] = join(sum[part] & mask, from->counts[j * k.parts + part], part, k);
        if (!k.values) continue;
        to->made[j] = (uint16_t)(is_new * FIRST);
    }
    for (; used != 0; used &= used - 1) {
        const uint32_t w = (uint32_t)__builtin_ctz(used);
        for (uint64_t rest = classes->bits[w]; rest != 0; rest &= rest - 1, n++) {
            const uint32_t value = 64 * w + (uint32_t)__builtin_ctzll(rest);
            to->value[n] = (uint16_t)value;
            for (uint32_t part = 0; part < k.parts; part++)
                to->counts[n * k.parts + part] = classes->sums[value * k.parts + part];
            if (!k.values) continue;
            classes->where[value] = (uint16_t)n;
        }
        classes->bits[w] = 0;
    }
    to->n = n;
    for (uint32_t j = 0; k.values && j < from->n; j++) to->made[j] |= classes->where[raised[from->value[j]]];
}

/* Raises the first inner column. Stores of vectors may alias anything: what does not change is taken out of memory. */
KN_INLINE void raise_first(kn_class_list *list, const kn_class_list *source, const uint16_t *raised, kind k)
{
    const kn_class_list to = *list, from = *source;
    kn_lanes4 sum[2] = {{0}};       /* the first parts of the class at hand */
    uint32_t n = 0, last = KN_NONE; /* n: its number, plus one */
    for (uint32_t j = 0; j < from.n; j++) {
        const uint32_t value = raised[from.value[j]], is_new = value != last, keep = is_new - 1;
        const kn_lanes4 mask = {keep, keep, keep, keep};
        n += is_new;
        last = value;
        to.value[n - 1] = (uint16_t)value;
        kn_lanes4 *counts = to.counts + (n - 1) * k.parts;
        for (uint32_t part = 0; part < k.parts; part++) {
            const kn_lanes4 before = part < 2 ? sum[part] : counts[part];
            counts[part] = join(before & mask, from.counts[j * k.parts + part], part, k);
            if (part < 2) sum[part] = counts[part];
        }
        if (k.values) to.made[j] = (uint16_t)((n - 1) | is_new * FIRST);
    }
    list->n = n;
}

/* The combo one level below c that comes from raising the first column; where there is none, the one whose list is
 * shortest. *column is the one that differs. */
KN_INLINE uint32_t combo_source(const kn_bundle_classes *classes, uint32_t c, uint32_t *column)
{
    const kn_bundle_lattice *b = classes->b;
    uint32_t from = b->below[c][0];
    *column = 0;
    if (from != KN_NONE) return from;
    for (uint32_t i = 1; i < b->n_inner; i++) {
        const uint32_t lower = b->below[c][i];
        if (lower == KN_NONE || (from != KN_NONE && classes->lists[lower].n >= classes->lists[from].n)) continue;
        from = lower;
        *column = i;
    }
    return from;
}

/* Sensitive values are counted in as few bytes as the bundle's rows allow. */
static void begin_bundle(kn_bundle_classes *classes)
{
    const kn_lanes4 *counts = (const kn_lanes4 *)classes->bundles->counts;
    kn_lanes4 rows = {0};
    for (uint32_t e = 0; e < classes->n_entries; e++) rows += counts[(size_t)(classes->first + e) * classes->parts];
    const uint64_t n_rows = (uint64_t)rows[0] + rows[1] + rows[2] + rows[3];
    classes->count_bytes = n_rows <= UINT8_MAX ? 1 : n_rows <= UINT16_MAX ? 2 : 4;
    classes->n_vectors = classes->b->values_width * classes->count_bytes / (uint32_t)sizeof(kn_lanes2_u64);
}

KN_INLINE const kn_class_list *list_classes(kn_bundle_classes *classes, uint32_t c, kind k)
{
    const kn_bundle_lattice *b = classes->b;
    kn_class_list *list = &classes->lists[c];
    if (k.values) list->has_slots = false;
    if (c == 0) {
        if (k.values) begin_bundle(classes);
        list_entries(classes, k);
        return list;
    }
    uint32_t column;
    list->from = combo_source(classes, c, &column);
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    if (column == 0) raise_first(list, &classes->lists[list->from], raised, k);
    else raise_sorting(classes, list, &classes->lists[list->from], raised, k);
    return list;
}

static const kn_class_list *list_rows(kn_bundle_classes *classes, uint32_t c)
{
    return list_classes(classes, c, (kind){1, 1, false});
}

static const kn_class_list *list_sets(kn_bundle_classes *classes, uint32_t c)
{
    return list_classes(classes, c, (kind){2, 1, false});
}

static const kn_class_list *list_values(kn_bundle_classes *classes, uint32_t c)
{
    return list_classes(classes, c, (kind){1, 1, true});
}

static const kn_class_list *list_any(kn_bundle_classes *classes, uint32_t c)
{
    return list_classes(classes, c, (kind){classes->parts, classes->n_sums, classes->b->n_words > 0});
}

static lister choose_lister(uint32_t parts, uint32_t n_sums, bool values)
{
    if (parts == 1) return values ? list_values : list_rows;
    return parts == 2 && n_sums == 1 && !values ? list_sets : list_any;
}

void kn_bundle_classes_begin(kn_bundle_classes *classes, const kn_bundles *bundles, uint32_t bundle)
{
    classes->bundles = bundles;
    classes->first = bundles->start[bundle];
    classes->n_entries = bundles->start[bundle + 1] - classes->first;
}

const kn_class_list *kn_bundle_classes_list(kn_bundle_classes *classes, uint32_t combo)
{
    return classes->list(classes, combo);
}

void kn_bundle_classes_inherit(kn_bundle_classes *classes, uint32_t combo)
{
    const kn_class_list to = classes->lists[combo], from = classes->lists[to.from];
    const uint32_t all = classes->all;
    for (uint32_t j = 0; j < from.n; j++) { /* without a branch on what is a toss-up */
        const uint32_t at = to.made[j] & ~(uint32_t)FIRST, is_new = to.made[j] / FIRST;
        to.state[at] = (uint16_t)(from.state[j] & ((to.state[at] & all) | -is_new));
    }
}

uint32_t kn_bundle_classes_all(const kn_bundle_classes *classes) { return classes->all; }

/* --- Sensitive values ------------------------------------------------------------------------------------------ */

/* `n` is a multiple of 16. Nothing overlaps, or else the compiler takes one number after the other. */
KN_INLINE void narrow_counts(void *restrict slot, const uint32_t *restrict values, uint32_t n, uint32_t count_bytes)
{
    for (uint32_t i = 0; i < n; i += 16)
        for (uint32_t j = i; j < i + 16; j++) {
            if (count_bytes == 1) ((uint8_t *)slot)[j] = (uint8_t)values[j];
            else if (count_bytes == 2) ((uint16_t *)slot)[j] = (uint16_t)values[j];
            else ((uint32_t *)slot)[j] = values[j];
        }
}

/* Those of entry e of the bundle, as a slot. */
KN_INLINE void entry_slot(void *slot, const kn_bundle_classes *classes, uint32_t e, uint32_t count_bytes)
{
    const kn_bundle_lattice *b = classes->b;
    const uint64_t *words = classes->bundles->words + (size_t)(classes->first + e) * b->n_words;
    if (kn_values_n(words[0]) == KN_VALUES_LANES) {
        narrow_counts(slot, classes->bundles->values + (size_t)(uint32_t)words[0] * b->values_width, b->values_width,
                      count_bytes);
        return;
    }
    for (uint32_t i = 0; i < classes->n_vectors; i++) ((kn_lanes2_u64 *)slot)[i] = (kn_lanes2_u64){0};
    for (uint32_t s = 0; s < b->n_words; s++) {
        uint64_t word = words[s];
        for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8) {
            const uint32_t at = b->values_at[s] + (word & 0xff);
            if (count_bytes == 1) ((uint8_t *)slot)[at]++;
            else if (count_bytes == 2) ((uint16_t *)slot)[at]++;
            else ((uint32_t *)slot)[at]++;
        }
    }
}

KN_INLINE void add_slots(kn_class_list *list, const kn_class_list *from, size_t n_vectors)
{
    for (uint32_t j = 0; j < from->n; j++) {
        const uint64_t keep = list->made[j] & FIRST ? 0 : ~(uint64_t)0;
        const kn_lanes2_u64 mask = {keep, keep}, *more = from->slots + j * n_vectors;
        kn_lanes2_u64 *to = list->slots + (list->made[j] & ~(size_t)FIRST) * n_vectors;
        for (size_t v = 0; v < n_vectors; v++) to[v] = (to[v] & mask) + more[v];
    }
}

/* Those of all classes of a combo. */
static void fill_slots(kn_bundle_classes *classes, uint32_t c)
{
    kn_class_list *list = &classes->lists[c];
    const uint32_t n_vectors = classes->n_vectors;
    if (list->has_slots) return;
    list->has_slots = true;
    for (uint32_t j = 0; c == 0 && j < list->n; j++) {
        kn_lanes2_u64 *slot = list->slots + (size_t)j * n_vectors;
        if (classes->count_bytes == 1) entry_slot(slot, classes, list->made[j], 1);
        else if (classes->count_bytes == 2) entry_slot(slot, classes, list->made[j], 2);
        else entry_slot(slot, classes, list->made[j], 4);
    }
    if (c == 0) return;
    fill_slots(classes, list->from);
    if (n_vectors == 4) add_slots(list, &classes->lists[list->from], 4);
    else add_slots(list, &classes->lists[list->from], n_vectors);
}

static uint32_t slot_count(const void *slot, size_t place, uint32_t count_bytes)
{
    if (count_bytes == 1) return ((const uint8_t *)slot)[place];
    return count_bytes == 2 ? ((const uint16_t *)slot)[place] : ((const uint32_t *)slot)[place];
}

/* The next values of all classes that the riders make: four merged sets of four lanes each, as counts are merged. */
KN_INLINE void merge_shorts(kn_lanes8_u16 *to, kn_lanes8_u16 a)
{
    const kn_lanes8_u16 b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
    const kn_lanes8_u16 c = a + __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
    const kn_lanes8_u16 d = c + __builtin_shufflevector(c, c, 2, 3, 0, 1, 6, 7, 4, 5);
    to[0] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    to[1] = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11);
    to[2] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    to[3] = __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
}

static void merge_bytes(kn_lanes8_u16 *to, const kn_lanes16_u8 *from, size_t n_vectors)
{
    const kn_lanes16_u8 zero = {0};
    for (size_t i = 0; i < n_vectors; i++, to += 8) { /* of four values each */
        const kn_lanes16_u8 x = from[i];
        merge_shorts(to, (kn_lanes8_u16)__builtin_shufflevector(x, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                                                22, 7, 23));
        merge_shorts(to + 4, (kn_lanes8_u16)__builtin_shufflevector(x, zero, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                                    29, 14, 30, 15, 31));
    }
}

/* Of classes with more rows than are judged as lanes, numbers may overflow. */
static void class_lanes(kn_bundle_classes *classes, const void *slot)
{
    const kn_bundle_lattice *b = classes->b;
    uint16_t *to = classes->lanes;
    for (uint32_t s = 0; s < b->n_words; s++) {
        const size_t n = b->lattice->tuples->sensitive[s].n_values;
        const void *from = (const char *)slot + (size_t)b->values_at[s] * classes->count_bytes;
        classes->columns[s] = to;
        if (b->values_lanes == 1) {
            for (size_t v = 0; v < n; v++)
                to[v * KN_LANE_CLASSES] = (uint16_t)slot_count(from, v, classes->count_bytes);
        } else if (classes->count_bytes == 1) {
            merge_bytes((kn_lanes8_u16 *)to, from, (n + 3) / 4);
        } else if (classes->count_bytes == 2) {
            for (size_t v = 0; v < n; v += 2)
                merge_shorts((kn_lanes8_u16 *)to + 2 * v, ((const kn_lanes8_u16 *)from)[v / 2]);
        } else {
            for (size_t v = 0; v < n; v++) {
                kn_lanes4 merged[4];
                kn_merge_lanes(merged, ((const kn_lanes4 *)from)[v]);
                for (int i = 0; i < KN_LANE_CLASSES; i++)
                    to[v * KN_LANE_CLASSES + (size_t)i] = (uint16_t)merged[i / 4][i % 4];
            }
        }
        to += (n + 3) / 4 * 4 * KN_LANE_CLASSES;
    }
}

/* The same with room for any number of rows. */
static void wide_class_lanes(kn_bundle_classes *classes, const uint32_t *slot)
{
    const kn_bundle_lattice *b = classes->b;
    uint32_t *to = classes->wide_lanes;
    for (uint32_t s = 0; s < b->n_words; s++) {
        classes->all_columns[s] = to;
        for (uint32_t v = 0; v < b->lattice->tuples->sensitive[s].n_values; v++, to += KN_LANE_CLASSES) {
            const uint32_t *from = slot + b->values_at[s] + (size_t)v * b->values_lanes;
            kn_lanes4 merged[4] = {{from[0]}};
            if (b->values_lanes > 1) kn_merge_lanes(merged, *(const kn_lanes4 *)(const void *)from);
            memcpy(to, merged, sizeof merged);
        }
    }
}

/* --- Asking the models ----------------------------------------------------------------------------------------- */

/* Class c as lists, for models that do not take lanes or cannot tell from them. */
static bool holds_as_lists(kn_bundle_classes *classes, const void *slot, uint32_t c, uint64_t n_rows,
                           uint64_t n_persons)
{
    const kn_bundle_lattice *b = classes->b;
    uint32_t *values = classes->entries;
    uint64_t *counts = classes->entry_counts;
    for (uint32_t s = 0; s < b->n_words; s++) {
        const size_t n_lanes = b->values_lanes, at = b->values_at[s];
        const uint32_t n_values = b->lattice->tuples->sensitive[s].n_values;
        uint32_t n = 0;
        for (uint32_t v = 0; v < n_values; v++) {
            values[n] = v;
            counts[n] = 0;
            for (uint32_t lane = 0; lanes_of[c] >> lane != 0; lane++)
                if (lanes_of[c] >> lane & 1)
                    counts[n] += slot_count(slot, at + v * n_lanes + lane, classes->count_bytes);
            n += counts[n] > 0;
        }
        classes->histograms[s] = (kn_histogram){n, values, counts};
        values += n_values;
        counts += n_values;
    }
    const kn_class_counts class = {.n_rows = n_rows, .n_persons = n_persons, .sensitive = classes->histograms};
    return kn_models_hold(classes->models, &class);
}

/* Bits of classes that follow from finer ones. */
static inline uint32_t implied(uint32_t fine)
{
    fine |= (fine & fine >> 2 & 3) << 4 | (fine & fine >> 1 & 5) << 8;
    return fine | ((fine >> 4 & fine >> 5) | (fine >> 8 & fine >> 10)) << 12;
}

/* Returns those of the classes in `ask` that hold. */
static uint32_t ask_models(kn_bundle_classes *classes, const void *slot, const kn_lanes4 rows[4],
                           const kn_lanes4 persons[4], uint32_t ask)
{
    const uint32_t *n_rows = (const uint32_t *)rows;
    uint32_t large = 0;
    class_lanes(classes, slot);
    for (uint32_t c = 0; classes->count_bytes > 1 && c < N_BITS; c++)
        large |= (uint32_t)(n_rows[c] > KN_LANES_MOST_ROWS) << c;
    const kn_lane_counts counts = {.ask = ask & ~large, .n_rows = n_rows, .sensitive = classes->columns};
    kn_judgement judgement = kn_models_judge(classes->models, &counts, (uint32_t *)classes->must_go);
    for (uint32_t rest = judgement.unsure | (ask & large); rest != 0; rest &= rest - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(rest);
        judgement.holds |= (uint32_t)holds_as_lists(classes, slot, c, n_rows[c], persons[c / 4][c % 4]) << c;
    }
    for (uint32_t rest = large; rest != 0; rest &= rest - 1) ((uint32_t *)classes->must_go)[__builtin_ctz(rest)] = 0;
    return judgement.holds;
}

uint32_t kn_bundle_classes_refused(kn_lanes4 must_go[4], kn_bundle_classes *classes, const kn_lanes4 rows[4],
                                   uint32_t combo, uint32_t j)
{
    const kn_class_list *list = &classes->lists[combo];
    const kn_lanes4 *persons = rows;
    kn_lanes4 own_persons[4], enough[4];
    if (classes->n_sums > 1) {
        kn_merge_lanes(own_persons, list->counts[j * classes->parts + 1]);
        persons = own_persons;
    }
    for (int m = 0; m < 4; m++) enough[m] = (kn_lanes4)(persons[m] >= classes->min_persons);
    uint32_t large = kn_lane_bits(enough) & classes->all, known = list->state[j] & classes->all;
    memset(classes->must_go, 0, sizeof classes->must_go);
    if ((list->state[j] & ASKED) == 0) {
        known |= implied(known) & large;
        if ((large & ~known) != 0) {
            fill_slots(classes, combo);
            known |= ask_models(classes, list->slots + (size_t)j * classes->n_vectors, rows, persons, large & ~known);
        }
        list->state[j] = (uint16_t)(known | ASKED);
    }
    const uint32_t refused = large & ~known;
    for (int m = 0; refused != 0 && m < 4; m++) { /* models are monotone: at least one row of each must go */
        const kn_lanes4 first = (kn_lanes4){1, 2, 4, 8} << 4 * m, least = classes->must_go[m];
        must_go[m] = (least - (kn_lanes4)(least == 0)) &
                     (kn_lanes4)(((kn_lanes4){refused, refused, refused, refused} & first) != 0);
    }
    return refused;
}

void kn_bundle_classes_values(kn_class_values *out, kn_bundle_classes *classes, uint32_t combo, uint32_t j)
{
    const kn_class_list *list = &classes->lists[combo];
    const kn_lanes4 rows = list->counts[j * classes->parts];
    const uint32_t filled = filled_lanes(rows);
    const kn_lanes2_u64 *slot = list->slots + (size_t)j * classes->n_vectors;
    fill_slots(classes, combo);
    if (classes->count_bytes == 4) wide_class_lanes(classes, (const uint32_t *)(const void *)slot);
    else class_lanes(classes, slot);
    for (uint32_t s = 0; s < classes->b->n_words && classes->count_bytes < 4; s++)
        classes->all_columns[s] = classes->columns[s];
    kn_merge_lanes(out->rows, rows);
    out->apart = classes->firsts[filled] & ~(uint32_t)classes->empty[filled];
    out->same = classes->same[filled];
    out->count_bytes = classes->count_bytes == 4 ? 4 : 2;
    out->counts = classes->all_columns;
}
