/* What a pass over blocks adds up, and the two passes: by class size alone, and with sensitive values.
 *
 * A block answers the nodes of all combos and of all sets of generalized riders. For riders everything is held in four
 * *merged sets* of lanes: [0] no rider generalized, [1] the first, [2] the second, [3] both; lanes that a generalized
 * rider makes one class hold the same sum. A lone rider uses [0] and [3], no rider [0]. */
#ifndef KN_ENGINE_LATTICE_BLOCK_SUMS_H
#define KN_ENGINE_LATTICE_BLOCK_SUMS_H

#include "engine/lattice/full_domain.h"

/* Rows that are suppressed for one reason. */
typedef struct kn_suppressed {
    kn_lanes4 *by_value; /* [(combo << n_inner_bits | inner at the combo's levels) * 4 + merged set]: by lane */
    int64_t (*units)[4]; /* [combo]: what those rows pay more in the outer columns */
    /* What is the same in a combo and in all that generalize it. Numbers may be below zero: what is taken back. */
    kn_lanes4 *onward;            /* [combo << n_inner_bits | inner at its levels]; lane m: in merged set m */
    kn_lanes4 (*onward_lanes)[4]; /* [combo]: the same by lane */
    int64_t (*onward_units)[4];
} kn_suppressed;

/* What a suppressed row pays more in an outer column, by the field of its block's key. */
typedef struct kn_outer_gap {
    const int64_t *gap; /* [position] */
    uint64_t mask;
    uint32_t shift;
} kn_outer_gap;

typedef struct kn_block_sums {
    const kn_full_domain *domain;
    kn_suppressed sure;    /* for want of persons */
    kn_suppressed refused; /* by a model that looks at sensitive values; only where the blocks carry them */
    /* Of the refused rows so many at least are suppressed below too. By merged set; the sum of its lanes counts. */
    kn_lanes4 must_go[KN_BLOCK_MAX_COMBOS][4], onward_must_go[KN_BLOCK_MAX_COMBOS][4];
    /* Where details are asked for: classes that hold, persons of the smallest. */
    kn_lanes4 classes[KN_BLOCK_MAX_COMBOS][4], smallest[KN_BLOCK_MAX_COMBOS][4];
    kn_lanes4 always_classes[4], always_smallest[4];
    uint32_t *valid_start; /* [combo]: the inner values that exist at its levels */
    uint16_t *valid;
    uint16_t *least;    /* [combo << n_inner_bits | inner at its levels]: one of its inner values at the least levels */
    uint16_t *raised;   /* [inner at the least levels * n_combos + combo]: what it is at the combo's levels */
    kn_outer_gap *gaps; /* of the outer columns, at the levels of the blocks at hand */
    uint32_t n_gaps;
} kn_block_sums;

kn_status kn_block_sums_new(kn_block_sums **out, const kn_full_domain *domain, kn_error *err);
void kn_block_sums_free(kn_block_sums *sums);
void kn_block_sums_clear(kn_block_sums *sums, const kn_blocks *blocks); /* ready for a pass over them */
void kn_block_sums_add(kn_block_sums *sums, const kn_block_sums *more);
/* What is suppressed at a combo: rows by lane for each merged set, and what they pay more in outer and inner columns.
 */
void kn_suppressed_at(kn_lanes4 rows[4], int64_t units[4], const kn_block_sums *sums, const kn_suppressed *suppressed,
                      uint32_t combo);

uint32_t kn_must_go_at(const kn_block_sums *sums, uint32_t combo, uint32_t set);

typedef struct kn_block_range {
    uint32_t begin, end;
} kn_block_range;

/* By class size alone. Scratch of one thread. */
typedef struct kn_count_scan kn_count_scan;
kn_status kn_count_scan_new(kn_count_scan **out, const kn_full_domain *domain, kn_error *err);
void kn_count_scan_free(kn_count_scan *scan);
void kn_scan_counts(kn_block_sums *sums, kn_count_scan *scan, const kn_blocks *blocks, kn_block_range range,
                    bool details);

/* The classes of one block at every combo, in the order of their inner values; valid until the next call. */
typedef struct kn_class_list {
    uint32_t n;
    const uint16_t *values;  /* inner values at the combo's levels */
    const kn_lanes4 *counts; /* rows, then persons where they are not rows */
} kn_class_list;
void kn_count_classes(kn_count_scan *scan, const kn_blocks *blocks, uint32_t block);
kn_class_list kn_count_list(const kn_count_scan *scan, uint32_t combo);

/* With sensitive values: models are asked about classes that have persons enough. */
typedef struct kn_histogram_scan kn_histogram_scan;
kn_status kn_histogram_scan_new(kn_histogram_scan **out, const kn_full_domain *domain, kn_error *err);
void kn_histogram_scan_free(kn_histogram_scan *scan);
void kn_scan_histograms(kn_block_sums *sums, kn_histogram_scan *scan, const kn_blocks *blocks, kn_block_range range,
                        bool details);

/* The classes of one block as kn_count_classes lists them, and what the models say of them. A block of one entry has
 * one class in every combo, and is listed at combo 0 only. A class of four lanes stands for up to nine: bit 4 * merged
 * set + lane, the first lane that it has. */
void kn_histogram_classes(kn_histogram_scan *scan, const kn_blocks *blocks, uint32_t block);
kn_class_list kn_histogram_list(const kn_histogram_scan *scan, uint32_t combo);
/* Takes the rows of refused classes out of `held`, those of classes with persons enough. */
void kn_histogram_refuse(kn_lanes4 held[4], kn_histogram_scan *scan, uint32_t combo, uint32_t j);
/* The sensitive values of those that class j of a combo stands for; valid until the next call. */
typedef struct kn_class_values {
    kn_lanes4 rows[4];
    uint32_t all;         /* one bit for each */
    uint32_t apart;       /* of classes with the same rows, where lanes are empty, the first one: each is here once */
    const uint16_t *same; /* [class]: all that have the same rows */
    uint32_t count_bytes; /* of a count: 2 or 4 */
    const void *const *counts; /* [sensitive][value * KN_LANE_CLASSES + class] */
} kn_class_values;
void kn_histogram_values(kn_class_values *out, kn_histogram_scan *scan, uint32_t combo, uint32_t j);

/* --- Lanes ----------------------------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void kn_merge_lanes(kn_lanes4 merged[4], const kn_lanes4 *counts)
{
    merged[0] = *counts;
    merged[1] = merged[0] + __builtin_shufflevector(merged[0], merged[0], 2, 3, 0, 1);
    merged[2] = merged[0] + __builtin_shufflevector(merged[0], merged[0], 1, 0, 3, 2);
    merged[3] = merged[2] + __builtin_shufflevector(merged[2], merged[2], 2, 3, 0, 1);
}

/* Lane m is the sum of the distinct lanes of merged set m. */
static inline __attribute__((always_inline)) kn_lanes4 kn_sum_lanes(const kn_lanes4 sets[4])
{
    kn_lanes4 none = sets[0] + __builtin_shufflevector(sets[0], sets[0], 2, 3, 0, 1);
    none += __builtin_shufflevector(none, none, 1, 0, 3, 2);
    kn_lanes4 first = sets[1] + __builtin_shufflevector(sets[1], sets[1], 1, 0, 3, 2);
    kn_lanes4 second = sets[2] + __builtin_shufflevector(sets[2], sets[2], 2, 3, 0, 1);
    return (none & (kn_lanes4){~0u, 0, 0, 0}) | (first & (kn_lanes4){0, ~0u, 0, 0}) |
           (second & (kn_lanes4){0, 0, ~0u, 0}) | (sets[3] & (kn_lanes4){0, 0, 0, ~0u});
}

/* The bits 4 * merged set + lane of the lanes that are not 0. */
static inline __attribute__((always_inline)) uint32_t kn_lane_bits(const kn_lanes4 sets[4])
{
    kn_lanes4 bits = {0};
    for (int m = 0; m < 4; m++) bits |= (kn_lanes4)(sets[m] != 0) & (kn_lanes4){1, 2, 4, 8} << 4 * m;
    return bits[0] | bits[1] | bits[2] | bits[3];
}

/* A lone rider has no merged sets 1 and 2, no rider only set 0. */
static inline __attribute__((always_inline)) bool kn_set_used(uint32_t n_riders, int set)
{
    return set == 0 || n_riders == 2 || (n_riders == 1 && set == 3);
}

/* --- Adding up ------------------------------------------------------------------------------------------------- */

/* What a suppressed row of a block pays more in the outer columns: carried, or looked up. */
int64_t kn_price_of_key(const kn_block_sums *sums, uint64_t key);

static inline int64_t kn_block_price(const kn_block_sums *sums, const kn_blocks *blocks, uint32_t block)
{
    return kn_price_of_key(sums, blocks->keys[block]);
}

/* The inner values that a class of combo c becomes, by combo; for c and those that generalize it. */
static inline const uint16_t *kn_raised(const kn_block_sums *sums, uint32_t c, uint32_t value)
{
    const kn_block_lattice *b = sums->domain->blocks;
    return sums->raised + (size_t)sums->least[((size_t)c << b->n_inner_bits) + value] * b->n_combos;
}

/* The least combo above c at which two classes of c are one; KN_NONE: there is none. It comes before all others. */
static inline uint32_t kn_joined_combo(const kn_block_sums *sums, uint32_t c, const uint16_t values[2])
{
    const kn_block_lattice *b = sums->domain->blocks;
    const uint16_t *first = kn_raised(sums, c, values[0]), *second = kn_raised(sums, c, values[1]);
    for (uint32_t above = c + 1; above < b->n_combos; above++)
        if ((b->above[c] >> above & 1) && first[above] == second[above]) return above;
    return KN_NONE;
}

/* Rows of a class that are suppressed at combo c and whatever generalizes it. */
static inline __attribute__((always_inline)) void kn_add_onward(kn_block_sums *sums, kn_suppressed *to, uint32_t c,
                                                                const kn_lanes4 below[4], uint32_t value, int64_t price,
                                                                uint32_t n_riders)
{
    kn_lanes4 total = kn_sum_lanes(below);
    for (int m = 0; m < 4; m++) {
        if (!kn_set_used(n_riders, m)) continue;
        to->onward_lanes[c][m] += below[m];
        to->onward_units[c][m] += price * (int32_t)total[m];
    }
    to->onward[((size_t)c << sums->domain->blocks->n_inner_bits) + value] += total;
}

/* Rows of a class that are suppressed at one combo, where `own` holds those of its value. They are added to those of
 * the whole block, whose price is the same for all of them. */
static inline __attribute__((always_inline)) void kn_add_class(kn_lanes4 own[4], kn_lanes4 block[4],
                                                               const kn_lanes4 below[4], uint32_t n_riders)
{
    for (int m = 0; m < 4; m++) {
        if (!kn_set_used(n_riders, m)) continue;
        own[m] += below[m];
        block[m] += below[m];
    }
}

static inline __attribute__((always_inline)) void
kn_add_block(kn_suppressed *sums, uint32_t combo, const kn_lanes4 block[4], int64_t price, uint32_t n_riders)
{
    kn_lanes4 total = kn_sum_lanes(block);
    for (int m = 0; m < 4; m++)
        if (kn_set_used(n_riders, m)) sums->units[combo][m] += price * (int64_t)total[m];
}

/* How many inner values there are at the levels of a combo. */
static inline size_t kn_combo_values(const kn_block_lattice *b, uint32_t combo)
{
    size_t n = 1;
    for (uint32_t i = 0; i < b->n_inner; i++) n *= b->lattice->columns[b->inner[i]].levels[b->combo_level[combo][i]].n;
    return n;
}

/* The combo one level below c whose list is shortest; *column is the inner column that differs. */
static inline uint32_t kn_combo_source(const kn_block_lattice *b, uint32_t c, const uint32_t *n_classes,
                                       uint32_t *column)
{
    uint32_t from = KN_NONE;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        uint32_t lower = b->below[c][i];
        if (lower == KN_NONE || (from != KN_NONE && n_classes[lower] >= n_classes[from])) continue;
        from = lower;
        *column = i;
    }
    return from;
}

#endif
