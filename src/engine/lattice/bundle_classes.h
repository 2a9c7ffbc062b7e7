/* The classes of a bundle at every combo, and what the models say of their sensitive values.
 *
 * A class has four lanes, one for each combination of the riders' values. Generalizing riders merges lanes: there are
 * four *merged sets* of lanes: [0] no rider generalized, [1] the first, [2] the second, [3] both; lanes that a
 * generalized rider makes one class hold the same sum. A lone rider uses [0] and [3], no rider [0]. A class of four
 * lanes so stands for up to nine; a bit set of these has bit 4 * merged set + lane, the first lane of each. */
#ifndef KN_ENGINE_LATTICE_BUNDLE_CLASSES_H
#define KN_ENGINE_LATTICE_BUNDLE_CLASSES_H

#include "engine/lattice/bundle_values.h"
#include "privacy/privacy.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The classes at one combo, in the order of their inner values. */
typedef struct kn_class_list {
    uint32_t n;
    uint16_t *value;   /* inner values at the combo's levels */
    kn_lanes4 *counts; /* [class * parts]: as in the bundles: rows, persons where they are not rows, sets of values */
    /* Where bundles carry sensitive values: */
    uint16_t *state;      /* bits of those of the nine that are empty or hold, and whether all were asked about */
    uint16_t *made;       /* [class of the combo below]: what it became; at combo 0 [class]: its entry in the bundle */
    kn_lanes2_u64 *slots; /* [class * n_vectors]: sensitive values, once they are needed */
    uint32_t from;        /* that combo below */
    bool has_slots;
} kn_class_list;

/* Scratch of one thread. */
typedef struct kn_bundle_classes kn_bundle_classes;
kn_status kn_bundle_classes_new(kn_bundle_classes **out, const kn_bundle_lattice *bundles, const kn_models *models,
                                kn_error *err);
void kn_bundle_classes_free(kn_bundle_classes *classes);
/* The bundle whose classes are listed from now on. */
void kn_bundle_classes_begin(kn_bundle_classes *classes, const kn_bundles *bundles, uint32_t bundle);
/* The classes of a combo; valid until the next bundle. Combos are asked for in their order; one may be left out if all
 * above it are. */
const kn_class_list *kn_bundle_classes_list(kn_bundle_classes *classes, uint32_t combo);
/* What is known of the classes of a combo from those below it, before it is asked about: `state` of its list. Combos
 * are asked about in their order; answers pass on to what nothing is added to. Where bundles carry sensitive values. */
void kn_bundle_classes_inherit(kn_bundle_classes *classes, uint32_t combo);
/* Bits of all that the riders make. */
uint32_t kn_bundle_classes_all(const kn_bundle_classes *classes);

/* Of those that class j of a combo, with these rows, stands for the ones with persons enough that a model refuses.
 * Where there are any, *must_go becomes, for [merged set] by lane, how many of their rows at least are suppressed below
 * too. */
uint32_t kn_bundle_classes_refused(kn_lanes4 must_go[4], kn_bundle_classes *classes, const kn_lanes4 rows[4],
                                   uint32_t combo, uint32_t j);

/* The sensitive values of those that class j of a combo stands for; valid until the next call. */
typedef struct kn_class_values {
    kn_lanes4 rows[4];
    uint32_t apart;       /* of classes with the same rows, where lanes are empty, the first one: each is here once */
    const uint16_t *same; /* [class]: all that have the same rows */
    uint32_t count_bytes; /* of a count: 2 or 4 */
    const void *const *counts; /* [sensitive][value * KN_LANE_CLASSES + class] */
} kn_class_values;
void kn_bundle_classes_values(kn_class_values *out, kn_bundle_classes *classes, uint32_t combo, uint32_t j);

/* --- Lanes ----------------------------------------------------------------------------------------------------- */

KN_INLINE void kn_merge_lanes(kn_lanes4 merged[4], kn_lanes4 counts)
{
    merged[0] = counts;
    merged[1] = counts + __builtin_shufflevector(counts, counts, 2, 3, 0, 1);
    merged[2] = counts + __builtin_shufflevector(counts, counts, 1, 0, 3, 2);
    merged[3] = merged[2] + __builtin_shufflevector(merged[2], merged[2], 2, 3, 0, 1);
}

/* Lane m is the sum of the distinct lanes of merged set m. */
KN_INLINE kn_lanes4 kn_sum_lanes(const kn_lanes4 sets[4])
{
    kn_lanes4 none = sets[0] + __builtin_shufflevector(sets[0], sets[0], 2, 3, 0, 1);
    none += __builtin_shufflevector(none, none, 1, 0, 3, 2);
    kn_lanes4 first = sets[1] + __builtin_shufflevector(sets[1], sets[1], 1, 0, 3, 2);
    kn_lanes4 second = sets[2] + __builtin_shufflevector(sets[2], sets[2], 2, 3, 0, 1);
    return (none & (kn_lanes4){~0u, 0, 0, 0}) | (first & (kn_lanes4){0, ~0u, 0, 0}) |
           (second & (kn_lanes4){0, 0, ~0u, 0}) | (sets[3] & (kn_lanes4){0, 0, 0, ~0u});
}

/* The bits 4 * merged set + lane of the lanes that are not 0. */
KN_INLINE uint32_t kn_lane_bits(const kn_lanes4 sets[4])
{
#ifdef __SSE2__
    const __m128i zero = _mm_setzero_si128();
    __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32((__m128i)sets[0], zero), _mm_cmpeq_epi32((__m128i)sets[1], zero)),
            high = _mm_packs_epi32(_mm_cmpeq_epi32((__m128i)sets[2], zero), _mm_cmpeq_epi32((__m128i)sets[3], zero));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) ^ 0xffff;
#else
    kn_lanes4 bits = {0};
    for (int m = 0; m < 4; m++) bits |= (kn_lanes4)(sets[m] != 0) & (kn_lanes4){1, 2, 4, 8} << 4 * m;
    return bits[0] | bits[1] | bits[2] | bits[3];
#endif
}

/* The lanes of merged set m that the classes in `bits` have. */
KN_INLINE kn_lanes4 kn_class_mask(uint32_t bits, int m)
{
    static const kn_lanes4 own[4] = {{1, 2, 4, 8}, {16, 32, 16, 32}, {256, 256, 1024, 1024}, {4096, 4096, 4096, 4096}};
    return (kn_lanes4)(((kn_lanes4){bits, bits, bits, bits} & own[m]) != 0);
}

/* A lone rider has no merged sets 1 and 2, no rider only set 0. */
KN_INLINE bool kn_set_used(uint32_t n_riders, int set)
{
    return set == 0 || n_riders == 2 || (n_riders == 1 && set == 3);
}

#endif
