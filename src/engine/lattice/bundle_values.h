/* The sensitive values of a bundle's entry.
 *
 * Where the lattice carries histograms, an entry has a word per sensitive column. While it has few rows the word lists
 * them: a byte per row, from the lowest byte on, and their number in the top byte. Joining two such entries is a shift
 * and two additions, and at specific nodes nearly all entries are of this kind. With more rows the top byte is
 * KN_VALUES_LANES, and the counts of all columns stand in a slot of b->values_width numbers: for each column
 * [value][rider lane], at b->values_at. The byte of a row is its place there. */
#ifndef KN_ENGINE_LATTICE_BUNDLE_VALUES_H
#define KN_ENGINE_LATTICE_BUNDLE_VALUES_H

#include "engine/lattice/lattice_bundles.h"

enum { KN_VALUES_MOST_LISTED = 7, KN_VALUES_MOST = 64, KN_VALUES_LANES = 0xff };

static inline uint32_t kn_values_n(uint64_t word) { return (uint32_t)(word >> 56); }

/* Both list their rows, at most KN_VALUES_MOST_LISTED together. */
static inline uint64_t kn_values_join(uint64_t a, uint64_t b)
{
    const uint64_t rows = ((uint64_t)1 << 56) - 1;
    return a + ((b & rows) << 8 * kn_values_n(a)) + (b & ~rows);
}

/* Adds listed rows to a slot. */
static inline void kn_values_spread(uint32_t *slot, const kn_bundle_lattice *b, const uint64_t *words, uint32_t n_words)
{
    for (uint32_t s = 0; s < n_words; s++) {
        uint64_t word = words[s];
        uint32_t *counts = slot + b->values_at[s];
        for (uint32_t i = kn_values_n(word); i > 0; i--, word >>= 8) counts[word & 0xff]++;
    }
}

static inline void kn_values_add(uint32_t *slot, const uint32_t *other, uint32_t width)
{
    for (uint32_t i = 0; i < width; i += 4) *(kn_lanes4_loose *)(slot + i) += *(const kn_lanes4_loose *)(other + i);
}

#endif
