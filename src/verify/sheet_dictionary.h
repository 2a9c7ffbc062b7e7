/* The dictionary of a column of a sheet: texts to codes, one lookup for every cell of a file.
 *
 * Cells are short and of any length, so what is done with one of up to 16 bytes has no branch that depends on its
 * length: it is two words. That is why this part stands in a header. */
#ifndef KN_VERIFY_SHEET_DICTIONARY_H
#define KN_VERIFY_SHEET_DICTIONARY_H

#include "base/hash.h"
#include "verify/sheet.h"

#include <string.h>

enum { KN_SHORT_TEXT = 16 /* bytes; as many may be read behind every buffer and dictionary */ };

/* Eight bytes, the first one lowest. */
static inline uint64_t kn_load8(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* A text with its first 16 bytes in two words, zeros behind its end. */
typedef struct kn_text_key {
    const char *bytes;
    size_t n_bytes;
    uint64_t head, tail;
    uint32_t hash;
} kn_text_key;

static inline uint64_t kn_first_bytes(const char *bytes, size_t n)
{
    static const uint64_t masks[] = {
        0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX};
    return kn_load8(bytes) & masks[n < 8 ? n : 8];
}

/* KN_SHORT_TEXT bytes can be read at `bytes`, whatever n_bytes is. */
static inline kn_text_key kn_text_key_of(const char *bytes, size_t n_bytes)
{
    kn_text_key k = {bytes, n_bytes, kn_first_bytes(bytes, n_bytes),
                     kn_first_bytes(bytes + 8, n_bytes > 8 ? n_bytes - 8 : 0), 0};
    if (n_bytes > KN_SHORT_TEXT) {
        k.hash = (uint32_t)kn_hash_bytes(bytes, n_bytes);
        return k;
    }
    k.hash = (uint32_t)kn_hash_combine(kn_hash_combine(n_bytes, k.head), k.tail);
    return k;
}

/* The same for a text that ends anywhere; `room` has KN_SHORT_TEXT bytes. */
kn_text_key kn_text_key_any(const char *bytes, size_t n_bytes, char *room);

static inline bool kn_text_same(const char *text, const kn_text_key *k)
{
    if (k->n_bytes > KN_SHORT_TEXT) return memcmp(text, k->bytes, k->n_bytes) == 0;
    uint64_t differ = kn_first_bytes(text, k->n_bytes) ^ k->head;
    return (differ | (kn_first_bytes(text + 8, k->n_bytes > 8 ? k->n_bytes - 8 : 0) ^ k->tail)) == 0;
}

/* Where the text is, or would be. */
static inline size_t kn_text_slot(const kn_sheet_column *column, const kn_text_key *k)
{
    size_t mask = column->n_slots - 1, slot = k->hash & mask;
    for (uint32_t code; (code = column->slots[slot]) != KN_NONE; slot = (slot + 1) & mask) {
        if (column->hash[code] != k->hash) continue;
        uint64_t from = column->offset[code];
        if (column->offset[code + 1] - from == k->n_bytes && kn_text_same(column->bytes + from, k)) break;
    }
    return slot;
}

kn_status kn_text_put(uint32_t *code, kn_sheet_column *column, const kn_text_key *k, kn_error *err); /* a new one */

static inline kn_status kn_text_code(uint32_t *code, kn_sheet_column *column, const kn_text_key *k, kn_error *err)
{
    *code = column->n_slots != 0 ? column->slots[kn_text_slot(column, k)] : KN_NONE;
    return *code != KN_NONE ? KN_OK : kn_text_put(code, column, k, err);
}

#endif
