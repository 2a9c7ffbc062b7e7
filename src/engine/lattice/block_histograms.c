/* The pass over blocks with sensitive values; see block_sums.h and block_values.h.
 *
 * An entry stands for nine classes: each of its four lanes, the pairs that either rider merges, and all four. They are
 * bits here: 4 * merged set + lane, the first lane that they have. `state` has the bits of those that are empty or
 * hold; models are monotone, so what is merged of fine classes is fine, and a model is asked only about a class that
 * has persons enough and a part that is not, and never twice about the same rows: a class that nothing was added to
 * keeps its answers from combo to combo.
 *
 * Classes stand in the order of their inner values and merge as in block_counts.c. Their sensitive values follow only
 * where a model is asked: each combo notes which classes of the combo below it made which of its own, and when one
 * of its classes must be seen, the values of all of them are added up along these notes. Counts are as narrow as the
 * rows of the block allow, mostly bytes. None overflows, so they are added up as words of 64 bits whatever their width.
 */
#include "engine/lattice/block_sums.h"
#include "engine/lattice/block_values.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { N_BITS = 13 };
enum {
    ASKED = 1 << 13,
    FRESH = 0xffff
};                        /* in `state`, beside the bits of classes: all there is; nothing is in it yet */
enum { FIRST = 1 << 15 }; /* in `made`: begins a class */
static const uint8_t lanes_of[N_BITS] = {1, 2, 4, 8, 5, 10, 0, 0, 3, 0, 12, 0, 15};

typedef uint64_t words2 __attribute__((vector_size(16), may_alias));

/* The classes of one block at one combo. */
typedef struct class_list {
    uint16_t *value, *state;
    kn_lanes4 *counts; /* [class * parts]: rows, then persons where they are not rows */
    uint16_t *made;    /* [class of the combo below]: what it became; at combo 0 [class]: its entry in the block */
    words2 *slots;     /* [class * n_vectors]: sensitive values */
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
    kn_lanes4 *counts;
    words2 *slots;             /* the first one is for blocks of one entry */
    uint16_t empty[16];        /* [bit set of lanes that have rows]: bits of the classes that have none, ... */
    uint16_t same[16][N_BITS]; /* ... of those that have the same rows, ... */
    uint16_t firsts[16];       /* ... and of the first one of these each */
    uint16_t todo[1 << KN_BLOCK_MAX_INNER_BITS]; /* classes of a combo with persons enough that may be refused */
    /* Of the block at hand. */
    const kn_blocks *blocks;
    uint32_t first, count_bytes, n_vectors; /* n_vectors: of a slot */
    /* What the models are asked about. */
    uint16_t *lanes; /* column after column: [value * KN_LANE_CLASSES + class] */
    const uint16_t **columns;
    uint32_t *wide_lanes; /* the same for measures, of blocks with more rows than 16 bits can count */
    const void **all_columns;
    kn_lanes4 must_go[4]; /* their answer */
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
    KN_NEW_ALIGNED(scan->counts, n * parts);
    KN_NEW_ALIGNED(scan->slots, (n + 1) * n_vectors);
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
    static const uint32_t classes[] = {0x0001, 0x100f, 0x153f}; /* by number of riders */
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
        for (uint32_t c = 0; c < N_BITS; c++) {
            if ((scan->all >> c & 1) == 0) continue;
            if ((lanes_of[c] & filled) == 0) scan->empty[filled] |= (uint16_t)(1u << c);
            for (uint32_t other = 0; other < N_BITS; other++)
                if ((scan->all >> other & 1) && ((lanes_of[c] ^ lanes_of[other]) & filled) == 0)
                    scan->same[filled][c] |= (uint16_t)(1u << other);
            if (scan->same[filled][c] >> c << c == scan->same[filled][c]) scan->firsts[filled] |= (uint16_t)(1u << c);
        }
    KN_TRY(lists_new(scan, err));
    KN_NEW_ALIGNED(scan->lanes, (size_t)b->values_width / b->values_lanes * KN_LANE_CLASSES);
    KN_NEW(scan->columns, b->n_words);
    KN_NEW(scan->all_columns, b->n_words);
    KN_NEW(scan->wide_lanes, (size_t)b->values_width / b->values_lanes * KN_LANE_CLASSES);
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
    kn_free(scan->wide_lanes);
    kn_free(scan->all_columns);
    kn_free(scan->histograms);
    kn_free(scan->entries);
    kn_free(scan);
}

/* --- Sensitive values ------------------------------------------------------------------------------------------ */

/* `n` is a multiple of 16. Nothing overlaps, or else the compiler takes one number after the other. */
static inline __attribute__((always_inline)) void narrow_counts(void *restrict slot, const uint32_t *restrict values,
                                                                uint32_t n, uint32_t count_bytes)
{
    for (uint32_t i = 0; i < n; i += 16)
        for (uint32_t j = i; j < i + 16; j++) {
            if (count_bytes == 1) ((uint8_t *)slot)[j] = (uint8_t)values[j];
            else if (count_bytes == 2) ((uint16_t *)slot)[j] = (uint16_t)values[j];
            else ((uint32_t *)slot)[j] = values[j];
        }
}

static inline __attribute__((always_inline)) void narrow_slot(void *slot, const kn_histogram_scan *scan,
                                                              const uint64_t *words, uint32_t count_bytes)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const uint32_t *values = scan->blocks->values + (size_t)(uint32_t)words[0] * b->values_width;
    if (kn_values_n(words[0]) == KN_VALUES_LANES) {
        narrow_counts(slot, values, b->values_width, count_bytes);
        return;
    }
    for (uint32_t i = 0; i < scan->n_vectors; i++) ((words2 *)slot)[i] = (words2){0};
    for (uint32_t s = 0; s < b->n_words; s++) {
        uint64_t word = words[s];
        for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8) {
            uint32_t at = b->values_at[s] + (word & 0xff);
            if (count_bytes == 1) ((uint8_t *)slot)[at]++;
            else if (count_bytes == 2) ((uint16_t *)slot)[at]++;
            else ((uint32_t *)slot)[at]++;
        }
    }
}

/* Those of an entry of the block, as a slot. */
static void entry_slot(words2 *slot, const kn_histogram_scan *scan, uint32_t e)
{
    const uint64_t *words = scan->blocks->words + (size_t)e * scan->domain->blocks->n_words;
    if (scan->count_bytes == 1) narrow_slot(slot, scan, words, 1);
    else if (scan->count_bytes == 2) narrow_slot(slot, scan, words, 2);
    else narrow_slot(slot, scan, words, 4);
}

static inline __attribute__((always_inline)) void add_slots(class_list *list, const class_list *from, uint32_t n_from,
                                                            size_t n_vectors)
{
    for (uint32_t j = 0; j < n_from; j++) {
        uint64_t keep = list->made[j] & FIRST ? 0 : ~(uint64_t)0;
        words2 mask = {keep, keep}, *to = list->slots + (list->made[j] & ~FIRST) * n_vectors;
        const words2 *more = from->slots + j * n_vectors;
        for (size_t v = 0; v < n_vectors; v++) to[v] = (to[v] & mask) + more[v];
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
    if (n_vectors == 4) add_slots(list, from, scan->n_classes[list->from], 4);
    else add_slots(list, from, scan->n_classes[list->from], n_vectors);
}

/* --- Asking the models ----------------------------------------------------------------------------------------- */

static uint32_t slot_count(const words2 *slot, size_t place, uint32_t count_bytes)
{
    if (count_bytes == 1) return ((const uint8_t *)slot)[place];
    return count_bytes == 2 ? ((const uint16_t *)slot)[place] : ((const uint32_t *)slot)[place];
}

typedef uint8_t bytes16 __attribute__((vector_size(16), may_alias));
typedef uint16_t shorts8 __attribute__((vector_size(16), may_alias));

/* The next values of all classes that the riders make: four merged sets of four lanes each, as counts are merged. */
static inline __attribute__((always_inline)) void merge_shorts(shorts8 *to, shorts8 a)
{
    const shorts8 b = a + __builtin_shufflevector(a, a, 2, 3, 0, 1, 6, 7, 4, 5);
    const shorts8 c = a + __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6);
    const shorts8 d = c + __builtin_shufflevector(c, c, 2, 3, 0, 1, 6, 7, 4, 5);
    to[0] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
    to[1] = __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11);
    to[2] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    to[3] = __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15);
}

static inline __attribute__((always_inline)) void class_lanes_of_bytes(shorts8 *to, const bytes16 *from,
                                                                       size_t n_vectors)
{
    const bytes16 zero = {0};
    for (size_t i = 0; i < n_vectors; i++, to += 8) { /* of four values each */
        const bytes16 x = from[i];
        merge_shorts(to,
                     (shorts8)__builtin_shufflevector(x, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
        merge_shorts(to + 4, (shorts8)__builtin_shufflevector(x, zero, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14,
                                                              30, 15, 31));
    }
}

/* Of classes with more rows than are judged as lanes, numbers may overflow. */
static void class_lanes(kn_histogram_scan *scan, const words2 *slot)
{
    const kn_block_lattice *b = scan->domain->blocks;
    uint16_t *to = scan->lanes;
    for (uint32_t s = 0; s < b->n_words; s++) {
        const size_t n = b->lattice->tuples->sensitive[s].n_values, at = (size_t)b->values_at[s] * scan->count_bytes;
        const void *from = (const char *)slot + at;
        scan->columns[s] = to;
        if (b->values_lanes == 1) {
            for (size_t v = 0; v < n; v++) to[v * KN_LANE_CLASSES] = (uint16_t)slot_count(from, v, scan->count_bytes);
        } else if (scan->count_bytes == 1) {
            class_lanes_of_bytes((shorts8 *)to, from, (n + 3) / 4);
        } else if (scan->count_bytes == 2) {
            for (size_t v = 0; v < n; v += 2) merge_shorts((shorts8 *)to + 2 * v, ((const shorts8 *)from)[v / 2]);
        } else {
            for (size_t v = 0; v < n; v++) {
                kn_lanes4 merged[4];
                kn_merge_lanes(merged, (const kn_lanes4 *)from + v);
                for (int i = 0; i < KN_LANE_CLASSES; i++)
                    to[v * KN_LANE_CLASSES + (size_t)i] = (uint16_t)merged[i / 4][i % 4];
            }
        }
        to += (n + 3) / 4 * 4 * KN_LANE_CLASSES;
    }
}

/* Class c as lists, for models that do not take lanes or cannot tell from them. */
static bool holds_as_lists(kn_histogram_scan *scan, const words2 *slot, uint32_t c, uint64_t n_rows, uint64_t n_persons)
{
    const kn_tuples *tuples = scan->domain->lattice->tuples;
    uint32_t *values = scan->entries;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        const size_t n_lanes = scan->domain->blocks->values_lanes, at = scan->domain->blocks->values_at[s];
        uint32_t n_values = tuples->sensitive[s].n_values, n = 0, *counts = values + n_values;
        for (uint32_t v = 0; v < n_values; v++) {
            values[n] = v;
            counts[n] = 0;
            for (uint32_t lane = 0; lanes_of[c] >> lane != 0; lane++) {
                if (lanes_of[c] >> lane & 1) counts[n] += slot_count(slot, at + v * n_lanes + lane, scan->count_bytes);
            }
            n += counts[n] > 0;
        }
        scan->histograms[s] = (kn_histogram){n, values, counts};
        values += 2 * (size_t)n_values;
    }
    kn_class_counts counts = {.n_rows = n_rows, .n_persons = n_persons, .sensitive = scan->histograms};
    return kn_models_hold(scan->models, &counts);
}

/* Bits of classes that follow from finer ones. */
static inline uint32_t implied(uint32_t fine)
{
    fine |= (fine & fine >> 2 & 3) << 4 | (fine & fine >> 1 & 5) << 8;
    return fine | ((fine >> 4 & fine >> 5) | (fine >> 8 & fine >> 10)) << 12;
}

/* Returns those of the classes in `ask` that hold. */
static uint32_t ask_models(kn_histogram_scan *scan, const words2 *slot, const kn_lanes4 rows[4],
                           const kn_lanes4 persons[4], uint32_t ask)
{
    const uint32_t *n_rows = (const uint32_t *)rows;
    uint32_t large = 0;
    class_lanes(scan, slot);
    for (uint32_t c = 0; scan->count_bytes > 1 && c < N_BITS; c++)
        large |= (uint32_t)(n_rows[c] > KN_LANES_MOST_ROWS) << c;
    const kn_lane_counts counts = {.ask = ask & ~large, .n_rows = n_rows, .sensitive = scan->columns};
    kn_judgement judgement = kn_models_judge(scan->models, &counts, (uint32_t *)scan->must_go);
    for (uint32_t rest = judgement.unsure | (ask & large); rest != 0; rest &= rest - 1) {
        uint32_t c = (uint32_t)__builtin_ctz(rest);
        judgement.holds |= (uint32_t)holds_as_lists(scan, slot, c, n_rows[c], persons[c / 4][c % 4]) << c;
    }
    for (uint32_t rest = large; rest != 0; rest &= rest - 1) ((uint32_t *)scan->must_go)[__builtin_ctz(rest)] = 0;
    return judgement.holds;
}

/* --- Classes --------------------------------------------------------------------------------------------------- */

/* What is the same for all blocks of a pass. Constant members make loops of their own. */
typedef struct settings {
    kn_lanes4 threshold;
    bool has_persons, details;
    uint32_t n_riders;
} settings;

static inline __attribute__((always_inline)) uint32_t any_bits(kn_lanes4 bits)
{
    uint64_t both = ((words2)bits)[0] | ((words2)bits)[1];
    return (uint32_t)(both | both >> 32);
}

/* The bits of the lanes that are set in the merged sets. */
static inline __attribute__((always_inline)) uint32_t lane_bits(const kn_lanes4 sets[4])
{
#ifdef __SSE2__
    __m128i low = _mm_packs_epi32((__m128i)sets[0], (__m128i)sets[1]),
            high = _mm_packs_epi32((__m128i)sets[2], (__m128i)sets[3]);
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#else
    return any_bits((sets[0] & (kn_lanes4){1, 2, 4, 8}) | (sets[1] & (kn_lanes4){16, 32, 64, 128}) |
                    (sets[2] & (kn_lanes4){256, 512, 1024, 2048}) | (sets[3] & (kn_lanes4){4096, 8192, 16384, 32768}));
#endif
}

/* The lanes of merged set m that the classes in `bits` have. */
static inline __attribute__((always_inline)) kn_lanes4 class_mask(uint32_t bits, int m)
{
    static const kn_lanes4 own[4] = {{1, 2, 4, 8}, {16, 32, 16, 32}, {256, 256, 1024, 1024}, {4096, 4096, 4096, 4096}};
    return (kn_lanes4)(((kn_lanes4){bits, bits, bits, bits} & own[m]) != 0);
}

static inline __attribute__((always_inline)) uint32_t filled_lanes(kn_lanes4 rows)
{
    return any_bits((kn_lanes4)(rows != 0) & (kn_lanes4){1, 2, 4, 8});
}

/* The rows of a class that are suppressed for want of persons; returns whether it has any that are not. */
static inline __attribute__((always_inline)) bool sure_rows(kn_lanes4 below[4], const kn_lanes4 *counts,
                                                            const settings *s)
{
    kn_lanes4 sizes[4];
    kn_merge_lanes(below, counts);
    kn_merge_lanes(sizes, counts + (s->has_persons ? 1 : 0));
    for (int m = 0; m < 4; m++) below[m] &= (kn_lanes4)(sizes[m] < s->threshold);
    return sizes[3][0] >= s->threshold[0];
}

/* The classes with persons enough of class j of combo c, or (KN_NONE) of the only entry of a block, that the models
 * refuse. *state becomes all that is to be known. */
static inline __attribute__((always_inline)) uint32_t refused_classes(kn_lanes4 rows[4], kn_histogram_scan *scan,
                                                                      const kn_lanes4 *counts, uint32_t c, uint32_t j,
                                                                      uint16_t *state, const settings *s,
                                                                      kn_lanes4 classes[4], kn_lanes4 smallest[4])
{
    kn_lanes4 persons[4], enough[4];
    kn_merge_lanes(rows, counts);
    kn_merge_lanes(persons, counts + (s->has_persons ? 1 : 0));
    for (int m = 0; m < 4; m++) enough[m] = (kn_lanes4)(persons[m] >= s->threshold);
    uint32_t large = lane_bits(enough) & scan->all, known = *state & scan->all;
    memset(scan->must_go, 0, sizeof scan->must_go);
    if ((*state & ASKED) == 0) {
        known |= implied(known) & large;
        uint32_t ask = large & ~known;
        if (ask != 0) {
            if (c == KN_NONE) entry_slot(scan->slots, scan, scan->first);
            else fill_slots(scan, c);
            const words2 *slot = c == KN_NONE ? scan->slots : scan->lists[c].slots + (size_t)j * scan->n_vectors;
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

/* The rows of refused classes, and what must go of them: at least one row of each, because models are monotone. */
static inline __attribute__((always_inline)) void refused_rows(kn_lanes4 below[4], kn_lanes4 must_go[4],
                                                               const kn_histogram_scan *scan, const kn_lanes4 rows[4],
                                                               uint32_t bits)
{
    for (int m = 0; m < 4; m++) {
        kn_lanes4 first = (kn_lanes4){1, 2, 4, 8} << 4 * m, least = scan->must_go[m];
        below[m] = rows[m] & class_mask(bits, m);
        must_go[m] +=
            (least - (kn_lanes4)(least == 0)) & (kn_lanes4)(((kn_lanes4){bits, bits, bits, bits} & first) != 0);
    }
}

/* Of a class that another one joins, without a branch on what is a toss-up. */
static inline __attribute__((always_inline)) uint16_t joined_state(uint32_t state, uint32_t other, uint32_t is_new,
                                                                   uint32_t all)
{
    return (uint16_t)(other & ((state & all) | -is_new));
}

/* --- Combos ---------------------------------------------------------------------------------------------------- */

/* The inner values whose bits are set become the classes of combo c; returns how many. */
static inline __attribute__((always_inline)) uint32_t take_values(kn_histogram_scan *scan, uint32_t c)
{
    uint16_t *values = scan->lists[c].value;
    uint32_t n = 0, n_inner_bits = scan->domain->blocks->n_inner_bits,
             n_words = (1u << n_inner_bits) / 64 + (n_inner_bits < 6);
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
    const uint32_t n_from = scan->n_classes[from], parts = s->has_persons ? 2 : 1, all = scan->all;
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
        list.made[j] = (uint16_t)(at | is_new * FIRST);
        list.state[at] = joined_state(list.state[at], source->state[j], is_new, all);
        for (uint32_t part = 0; part < parts; part++)
            list.counts[at * parts + part] += source->counts[j * parts + part];
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
    const uint32_t n_from = scan->n_classes[from], all = scan->all;
    kn_lanes4 rows = {0}, persons = {0};
    uint32_t n = 0, last = KN_NONE, state = 0; /* n: of the class at hand, plus one */
    for (uint32_t j = 0; j < n_from; j++) {
        uint32_t value = raised[source.value[j]], is_new = value != last, keep = is_new - 1;
        kn_lanes4 mask = {keep, keep, keep, keep};
        n += is_new;
        last = value;
        state = joined_state(state, source.state[j], is_new, all);
        list.value[n - 1] = (uint16_t)value;
        list.state[n - 1] = (uint16_t)state;
        list.made[j] = (uint16_t)((n - 1) | is_new * FIRST);
        list.counts[(n - 1) * parts] = rows = (rows & mask) + source.counts[j * parts];
        if (s->has_persons)
            list.counts[(n - 1) * parts + 1] = persons = (persons & mask) + source.counts[j * parts + 1];
    }
    scan->n_classes[c] = n;
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

/* What is suppressed at combo c of a block; returns whether anything is. */
static inline __attribute__((always_inline)) bool add_combo(kn_block_sums *sums, kn_histogram_scan *scan, uint32_t c,
                                                            int64_t price, const settings *s)
{
    const uint32_t parts = s->has_persons ? 2 : 1, n = scan->n_classes[c], all = scan->all;
    const class_list list = scan->lists[c];
    const size_t first = (size_t)c << scan->domain->blocks->n_inner_bits;
    kn_lanes4 below[4], rows[4], block_below[4] = {{0}}, block_refused[4] = {{0}};
    uint32_t n_open = 0, n_todo = 0, refused, any_refused = 0;
    for (uint32_t j = 0; j < n; j++) {
        if (!s->details && (list.state[j] & all) == all) continue;
        bool enough = sure_rows(below, &list.counts[j * parts], s);
        kn_add_class(sums->sure.by_value + (first + list.value[j]) * 4, block_below, below, s->n_riders);
        scan->todo[n_todo] = (uint16_t)j;
        n_todo += enough || s->details;
        n_open++;
    }
    if (n_open == 0) return false;
    n_open -= n_todo;
    kn_add_block(&sums->sure, c, block_below, price, s->n_riders);
    for (uint32_t i = 0; i < n_todo; i++) {
        const uint32_t j = scan->todo[i];
        refused = refused_classes(rows, scan, &list.counts[j * parts], c, j, &list.state[j], s, sums->classes[c],
                                  sums->smallest[c]);
        n_open += (list.state[j] & all) != all;
        any_refused |= refused;
        if (refused == 0) continue;
        refused_rows(below, sums->must_go[c], scan, rows, refused);
        kn_add_class(sums->refused.by_value + (first + list.value[j]) * 4, block_refused, below, s->n_riders);
    }
    if (any_refused) kn_add_block(&sums->refused, c, block_refused, price, s->n_riders);
    return n_open > 0;
}

/* What is suppressed of a class at a combo and at all above it, as long as nothing is added to it. */
typedef struct settled_class {
    kn_lanes4 sure[4], refused[4], must_go[4];
} settled_class;

static inline __attribute__((always_inline)) settled_class settle(kn_histogram_scan *scan, uint32_t c, uint32_t j,
                                                                  const settings *s)
{
    const class_list list = scan->lists[c];
    const kn_lanes4 *counts = &list.counts[j * (s->has_persons ? 2 : 1)];
    kn_lanes4 rows[4];
    settled_class class = {0};
    if ((list.state[j] & scan->all) == scan->all || !sure_rows(class.sure, counts, s)) return class;
    uint32_t refused = refused_classes(rows, scan, counts, c, j, &list.state[j], s, NULL, NULL);
    if (refused != 0) refused_rows(class.refused, class.must_go, scan, rows, refused);
    return class;
}

static inline __attribute__((always_inline)) void add_onward(kn_block_sums *sums, uint32_t c,
                                                             const settled_class *class, uint32_t value, int64_t price,
                                                             const settings *s)
{
    kn_add_onward(sums, &sums->sure, c, class->sure, value, price, s->n_riders);
    kn_add_onward(sums, &sums->refused, c, class->refused, value, price, s->n_riders);
    for (int m = 0; m < 4; m++) sums->onward_must_go[c][m] += class->must_go[m];
}

/* Both classes of combo c become the only one of combo `above`. */
static inline __attribute__((always_inline)) void join_both(kn_histogram_scan *scan, uint32_t c, uint32_t above,
                                                            const settings *s)
{
    const uint32_t parts = s->has_persons ? 2 : 1;
    const class_list from = scan->lists[c];
    class_list *to = &scan->lists[above];
    to->from = c;
    to->has_slots = false;
    to->made[0] = FIRST;
    to->made[1] = 0;
    to->state[0] = joined_state(from.state[0], from.state[1], false, scan->all);
    for (uint32_t part = 0; part < parts; part++) to->counts[part] = from.counts[part] + from.counts[parts + part];
    scan->n_classes[above] = 1;
}

/* One or two classes at combo c settle all combos above it, as in block_counts.c. */
static inline __attribute__((always_inline)) void add_settled(kn_block_sums *sums, kn_histogram_scan *scan, uint32_t c,
                                                              int64_t price, const settings *s)
{
    const uint16_t *values = scan->lists[c].value;
    const uint32_t n = scan->n_classes[c];
    settled_class apart = {0};
    for (uint32_t j = 0; j <= n; j++) { /* the last one is both together */
        uint32_t at = c, value = values[j < n ? j : 0];
        if (j == n) {
            at = n == 2 && kn_any_lane(apart.sure[0] | apart.refused[0]) ? kn_joined_combo(sums, c, values) : KN_NONE;
            if (at == KN_NONE) return;
            value = kn_raised(sums, c, value)[at];
            join_both(scan, c, at, s);
        }
        settled_class class = settle(scan, at, j < n ? j : 0, s);
        for (int m = 0; m < 4; m++) {
            const kn_lanes4 last = (kn_lanes4){0} - (uint32_t)(j == n);
            class.sure[m] -= apart.sure[m] & last;
            class.refused[m] -= apart.refused[m] & last;
            class.must_go[m] -= apart.must_go[m] & last;
            apart.sure[m] += class.sure[m];
            apart.refused[m] += class.refused[m];
            apart.must_go[m] += class.must_go[m];
        }
        add_onward(sums, at, &class, value, price, s);
    }
}

/* A block whose classes differ from combo to combo. */
static inline __attribute__((always_inline)) void
mixed_block(kn_block_sums *sums, kn_histogram_scan *scan, const kn_blocks *blocks, uint32_t block, const settings *s)
{
    const kn_block_lattice *b = scan->domain->blocks;
    const int64_t price = kn_block_price(sums, blocks, block);
    uint32_t clean = 0, settled = 0; /* combos in which nothing is suppressed; of which all is known */
    lowest_classes(scan, blocks, block, s);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if ((clean | settled) >> c & 1) continue;
        if (c > 0) raise_classes(scan, b, c, s);
        if (!s->details && scan->n_classes[c] <= 2 && (settled & b->above[c]) == 0) {
            add_settled(sums, scan, c, price, s);
            settled |= b->above[c];
            continue;
        }
        if (!add_combo(sums, scan, c, price, s) && !s->details) clean |= b->above[c];
    }
}

static inline __attribute__((always_inline)) void
single_entry(kn_block_sums *sums, kn_histogram_scan *scan, const kn_blocks *blocks, uint32_t block, const settings *s)
{
    const uint32_t e = blocks->start[block];
    const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts + (size_t)e * (s->has_persons ? 2 : 1);
    kn_lanes4 below[4], rows[4];
    uint16_t state = scan->empty[filled_lanes(counts[0])];
    bool enough = sure_rows(below, counts, s);
    const int64_t price = kn_block_price(sums, blocks, block);
    kn_add_onward(sums, &sums->sure, 0, below, blocks->inner[e], price, s->n_riders);
    if (!enough && !s->details) return;
    uint32_t refused =
        refused_classes(rows, scan, counts, KN_NONE, 0, &state, s, sums->always_classes, sums->always_smallest);
    if (refused == 0) return;
    refused_rows(below, sums->onward_must_go[0], scan, rows, refused);
    kn_add_onward(sums, &sums->refused, 0, below, blocks->inner[e], price, s->n_riders);
}

/* Counts are as narrow as its rows allow. */
static inline __attribute__((always_inline)) void begin_block(kn_histogram_scan *scan, uint32_t first, uint64_t n_rows)
{
    scan->first = first;
    scan->count_bytes = n_rows <= UINT8_MAX ? 1 : n_rows <= UINT16_MAX ? 2 : 4;
    scan->n_vectors = scan->domain->blocks->values_width * scan->count_bytes / (uint32_t)sizeof(words2);
}

static inline __attribute__((always_inline)) void scan_blocks(kn_block_sums *sums, kn_histogram_scan *scan,
                                                              const kn_blocks *blocks, kn_block_range range,
                                                              uint32_t n_riders, bool has_persons, bool details)
{
    const uint32_t parts = has_persons ? 2 : 1, k = scan->min_persons;
    const settings s = {{k, k, k, k}, has_persons, details, n_riders};
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
        begin_block(scan, first, (uint64_t)rows[0] + rows[1] + rows[2] + rows[3]);
        if (end - first == 1) {
            single_entry(sums, scan, blocks, block, &s);
        } else if (details || (uint64_t)all[0] + all[1] + all[2] + all[3] >= k) {
            mixed_block(sums, scan, blocks, block, &s);
        } else {
            const int64_t price = kn_block_price(sums, blocks, block);
            for (uint32_t e = 0; e < end - first; e++) {
                kn_merge_lanes(below, counts + (size_t)e * parts);
                kn_add_onward(sums, &sums->sure, 0, below, blocks->inner[first + e], price, n_riders);
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

/* --- Class by class -------------------------------------------------------------------------------------------- */

static settings settings_of(const kn_histogram_scan *scan)
{
    const uint32_t k = scan->min_persons;
    return (settings){{k, k, k, k}, scan->domain->lattice->has_persons, false, scan->domain->blocks->n_riders};
}

void kn_histogram_classes(kn_histogram_scan *scan, const kn_blocks *blocks, uint32_t block)
{
    const settings s = settings_of(scan);
    const uint32_t parts = s.has_persons ? 2 : 1, first = blocks->start[block], end = blocks->start[block + 1];
    const kn_lanes4 *counts = (const kn_lanes4 *)blocks->counts;
    kn_lanes4 rows = {0};
    for (uint32_t e = first; e < end; e++) rows += counts[(size_t)e * parts];
    scan->blocks = blocks;
    begin_block(scan, first, (uint64_t)rows[0] + rows[1] + rows[2] + rows[3]);
    lowest_classes(scan, blocks, block, &s);
    for (uint32_t c = 1; end - first > 1 && c < scan->domain->blocks->n_combos; c++)
        raise_classes(scan, scan->domain->blocks, c, &s);
}

kn_class_list kn_histogram_list(const kn_histogram_scan *scan, uint32_t combo)
{
    return (kn_class_list){scan->n_classes[combo], scan->lists[combo].value, scan->lists[combo].counts};
}

void kn_histogram_refuse(kn_lanes4 held[4], kn_histogram_scan *scan, uint32_t combo, uint32_t j)
{
    const settings s = settings_of(scan);
    const class_list list = scan->lists[combo];
    kn_lanes4 rows[4];
    uint32_t refused = refused_classes(rows, scan, &list.counts[j * (s.has_persons ? 2 : 1)], combo, j, &list.state[j],
                                       &s, NULL, NULL);
    for (int m = 0; m < 4; m++) held[m] &= ~class_mask(refused, m);
}

/* As class_lanes, with room for any number of rows. */
static void wide_class_lanes(kn_histogram_scan *scan, const uint32_t *slot)
{
    const kn_block_lattice *b = scan->domain->blocks;
    uint32_t *to = scan->wide_lanes;
    for (uint32_t s = 0; s < b->n_words; s++) {
        scan->all_columns[s] = to;
        for (uint32_t v = 0; v < b->lattice->tuples->sensitive[s].n_values; v++, to += KN_LANE_CLASSES) {
            const uint32_t *from = slot + b->values_at[s] + (size_t)v * b->values_lanes;
            kn_lanes4 merged[4] = {{from[0]}};
            if (b->values_lanes > 1) kn_merge_lanes(merged, (const kn_lanes4 *)(const void *)from);
            memcpy(to, merged, sizeof merged);
        }
    }
}

void kn_histogram_values(kn_class_values *out, kn_histogram_scan *scan, uint32_t combo, uint32_t j)
{
    const kn_lanes4 *counts = &scan->lists[combo].counts[j * (scan->domain->lattice->has_persons ? 2 : 1)];
    const uint32_t filled = filled_lanes(counts[0]);
    const words2 *slot = scan->lists[combo].slots + (size_t)j * scan->n_vectors;
    fill_slots(scan, combo);
    if (scan->count_bytes == 4) wide_class_lanes(scan, (const uint32_t *)(const void *)slot);
    else class_lanes(scan, slot);
    for (uint32_t s = 0; s < scan->domain->blocks->n_words && scan->count_bytes < 4; s++)
        scan->all_columns[s] = scan->columns[s];
    kn_merge_lanes(out->rows, counts);
    out->all = scan->all;
    out->apart = scan->firsts[filled] & ~(uint32_t)scan->empty[filled];
    out->same = scan->same[filled];
    out->count_bytes = scan->count_bytes == 4 ? 4 : 2;
    out->counts = scan->all_columns;
}
