/* Groups of a lattice in bundles: one roll-up for many nodes.
 *
 * Some columns of few values, the *inner* ones, stay out of the key; a bundle is what shares the key of the others, the
 * *outer* columns, and lists its inner values with their counts. Rolling up an outer column merges bundles. The nodes
 * that differ in inner levels only (the *combos*) and in riders are all answered by one pass over the bundles, and most
 * bundles need no work per combo: one with fewer than k persons in all is suppressed in each of them, one with a single
 * entry is the same class in each of them.
 *
 * Riders: up to two columns whose only other level is a single node, with few values, are not even inner values but
 * lanes of the counts; a bundle answers the nodes with each of them generalized or not.
 *
 * Counts are KN_LATTICE_LANES lanes of rows, followed by as many of persons where persons are not rows. Where it
 * matters only which sensitive values a class has, bit sets of them follow, lane by lane, 32 values each; they are
 * united where counts are added. Where the lattice carries histograms and more is asked, an entry also has its
 * sensitive values with their numbers: bundle_values.h. */
#ifndef KN_ENGINE_LATTICE_LATTICE_BUNDLES_H
#define KN_ENGINE_LATTICE_LATTICE_BUNDLES_H

#include "base/lanes.h"
#include "engine/lattice/lattice.h"

enum { KN_LATTICE_LANES = 4, KN_LATTICE_MAX_RIDERS = 2 };
enum { KN_BUNDLE_MAX_SET_VALUES = 256, KN_BUNDLE_SET_VALUES = 32 }; /* values of a set, of a lane */
enum { KN_BUNDLE_MAX_INNER = 8, KN_BUNDLE_MAX_COMBOS = 32, KN_BUNDLE_MAX_INNER_BITS = 10, KN_BUNDLE_MAX_OUTER = 64 };

/* Zero-initialise it; reuse keeps the memory. */
typedef struct kn_bundles {
    uint32_t n, n_entries;
    uint32_t *levels; /* n_qis; inner columns and riders at their least level */
    uint64_t *keys;   /* outer columns */
    uint32_t *start;  /* n + 1: entries of a bundle */
    uint16_t *inner;  /* [entry]: positions of the inner columns, packed */
    uint32_t *counts; /* [entry * width] */
    uint64_t *words;  /* [entry * n_words]: sensitive values; bundle_values.h */
    uint32_t *values; /* [slot * values_width] */
    uint32_t n_slots;
    uint32_t together; /* bundles that agree in the outer columns from this one on inwards stand together */
    uint32_t capacity, entries_capacity, slots_capacity;
} kn_bundles;

typedef struct kn_bundle_lattice {
    kn_owner memory;           /* all arrays but the base's */
    const kn_lattice *lattice; /* borrowed; its base is not needed */
    uint32_t n_riders, riders[KN_LATTICE_MAX_RIDERS];
    uint32_t rider_stride[KN_LATTICE_MAX_RIDERS]; /* lane = sum of position * stride */
    uint32_t n_outer, *outer;                     /* columns, outermost first */
    uint32_t *outer_shift, *outer_bits; /* [index into outer]: field in the bundle's key, the outermost lowest */
    uint32_t n_key_bits;
    uint32_t n_inner, inner[KN_BUNDLE_MAX_INNER];
    uint32_t inner_shift[KN_BUNDLE_MAX_INNER], inner_bits[KN_BUNDLE_MAX_INNER], n_inner_bits;
    uint32_t n_combos; /* numbered so that a combo comes before its generalizations */
    uint32_t combo_level[KN_BUNDLE_MAX_COMBOS][KN_BUNDLE_MAX_INNER];
    uint32_t below[KN_BUNDLE_MAX_COMBOS][KN_BUNDLE_MAX_INNER]; /* combo one level lower in that column; KN_NONE: none */
    uint32_t above[KN_BUNDLE_MAX_COMBOS]; /* bit set of the combos that generalize it, itself among them */
    uint16_t *raised;   /* [(combo * n_inner + column) << n_inner_bits | inner at the levels of that lower combo]:
                           the inner value at the combo's levels */
    uint16_t *at_combo; /* [combo << n_inner_bits | inner at the least levels]: the inner value at the combo's levels */
    uint32_t width;     /* numbers per entry, a multiple of 4 ... */
    uint32_t n_counts;  /* ... the first of them are counts, the others bits of sets */
    uint32_t *n_set_lanes; /* [sensitive]: times four lanes of such bits; NULL: no sets */
    uint32_t n_words;      /* sensitive columns carried with numbers */
    uint32_t *values_at;   /* [sensitive]: where its numbers begin in a slot */
    uint32_t values_lanes; /* numbers per value: one for each rider lane */
    uint32_t values_width; /* numbers per slot */
    uint32_t most_listed;  /* rows that an entry lists instead of having a slot */
    kn_bundles base;
} kn_bundle_lattice;

/* The position in inner column i (of b->inner) of an inner value. */
static inline uint32_t kn_inner_position(const kn_bundle_lattice *b, uint32_t i, uint32_t value)
{
    return value >> b->inner_shift[i] & ((1u << b->inner_bits[i]) - 1);
}

typedef struct kn_bundle_roller kn_bundle_roller;

/* *out is NULL where bundles cannot serve: tuples beyond 63 bits, persons in several tuples, more rows than 31 bits
 * hold, sensitive columns of more than 64 values (256 where sets will do). `order` as from kn_lattice_order; its last
 * columns become the inner ones as far as combos and bits allow. `least_values`: NULL, or how many different values of
 * each sensitive column are asked for and nothing else. */
kn_status kn_bundle_lattice_new(kn_bundle_lattice **out, const kn_lattice *lattice, const uint32_t *order,
                                uint32_t n_order, uint32_t max_combos, const uint32_t *least_values, kn_pool *pool,
                                kn_error *err);
void kn_bundle_lattice_free(kn_bundle_lattice *bundles);
/* Scratch of one thread. */
kn_status kn_bundle_roller_new(kn_bundle_roller **out, const kn_bundle_lattice *bundles, kn_error *err);
void kn_bundle_roller_free(kn_bundle_roller *roller);
/* The level vector of a node that bundles answer for: one of the combos, with the riders in `variant` generalized. */
void kn_bundle_levels(uint32_t *levels, const kn_bundle_lattice *lattice, const kn_bundles *bundles, uint32_t combo,
                      uint32_t variant);
/* Only levels of outer columns are looked at. `out` is not `from`. */
kn_status kn_bundles_roll(kn_bundles *out, const kn_bundles *from, const uint32_t *levels, kn_bundle_roller *roller,
                          kn_error *err);
void kn_bundles_free(kn_bundles *bundles); /* what it holds, not the struct */
/* Tuples as bundles. `words`: key, inner value and rider lane of each, from high to low bits, ascending; `tuples`:
 * which ones they are. */
enum { KN_LANE_BITS = 2 };
kn_status kn_bundles_of_tuples(kn_bundles *out, const kn_bundle_lattice *lattice, const uint64_t *words,
                               const uint32_t *tuples, uint32_t n, kn_error *err);
size_t kn_bundles_bytes(const kn_bundle_lattice *lattice, const kn_bundles *bundles);

#endif
