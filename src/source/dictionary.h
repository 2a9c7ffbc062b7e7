/* The distinct cells of one column, numbered as they come: a hash table over bytes.
 *
 * Lookups come in batches: first all hashes, with the slots fetched ahead, then all probes; a column of millions of
 * distinct values would otherwise wait for memory at every cell. A cell of up to eight bytes is its own key, so that
 * most lookups never leave the slot.
 *
 * Where nearly every cell is a new one, looking up is a waste: the dictionary then only appends, and who merges the
 * dictionaries of all workers by sorting finds the few repeats at no extra cost. One cell in sixteen is still looked
 * up among the first ones; from how many are found the number of distinct values follows, and the decision with it. */
#ifndef KN_SOURCE_DICTIONARY_H
#define KN_SOURCE_DICTIONARY_H

#include "base/memory.h"

#include <stdint.h>

/* A cell inside a text, or, when it could not stay as it was (doubled quotes), in a second one. Both are
 * padded. */
typedef struct kn_text_cell {
    uint32_t at, n_bytes;
} kn_text_cell;

#define KN_SECOND_TEXT ((uint32_t)1 << 31) /* set in `at`: in the second text */

typedef struct kn_cell_texts {
    const char *text, *second;
} kn_cell_texts;

static inline const char *kn_text_cell_bytes(kn_cell_texts texts, kn_text_cell cell)
{
    return (cell.at & KN_SECOND_TEXT) != 0 ? texts.second + (cell.at & ~KN_SECOND_TEXT) : texts.text + cell.at;
}

#define KN_DICTIONARY_BATCH   512
#define KN_DICTIONARY_PADDING 8 /* bytes behind every cell that may be read, whatever they are */

typedef struct kn_dictionary_slot {
    uint64_t key; /* the bytes of a short cell, the hash of a long one */
    uint32_t n_bytes, code;
} kn_dictionary_slot;

/* Zero-initialise it. */
typedef struct kn_dictionary {
    kn_dictionary_slot *slots;
    size_t n_slots;
    uint32_t n;       /* entries; some may be equal */
    uint32_t n_known; /* how many of them, from the first, the slots know */
    bool appending;
    uint64_t n_probed, n_found; /* since kn_dictionary_adapt */
    KN_VECTOR(char) bytes;
    KN_VECTOR(uint64_t) offset;     /* n + 1 once something was added */
    KN_VECTOR(uint64_t) first_line; /* n */
} kn_dictionary;

void kn_dictionary_free(kn_dictionary *dictionary);
void kn_dictionary_drop_slots(kn_dictionary *dictionary); /* no lookups any more; keeps the entries */
/* Between blocks: append or look up from now on? `n_expected`: cells of the column in the whole file, as far as known;
 * UINT64_MAX: unknown. */
kn_status kn_dictionary_adapt(kn_dictionary *dictionary, uint64_t n_expected, kn_error *err);
/* codes[i] = number of cell i; new cells are added with lines[i] + line_base. n_cells <= KN_DICTIONARY_BATCH. */
kn_status kn_dictionary_codes(uint32_t *codes, kn_dictionary *dictionary, kn_cell_texts texts,
                              const kn_text_cell *cells, const uint32_t *lines, uint64_t line_base, uint32_t n_cells,
                              kn_error *err);
#endif
