/* Open addressing with linear probing, at most 5/8 full; grown before a batch, never within one. */
#include "source/dictionary.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

#define NO_CODE UINT32_MAX
enum { FIRST_SLOTS = 256, SHORT_BYTES = 8, MIN_SAMPLE = 1 << 15, MIN_FOUND = 8, PROBE_EVERY = 16 };

void kn_dictionary_drop_slots(kn_dictionary *dictionary)
{
    kn_free(dictionary->slots);
    dictionary->slots = NULL;
    dictionary->n_slots = 0;
}

void kn_dictionary_free(kn_dictionary *dictionary)
{
    kn_dictionary_drop_slots(dictionary);
    kn_free(dictionary->bytes.items);
    kn_free(dictionary->offset.items);
    kn_free(dictionary->first_line.items);
    *dictionary = (kn_dictionary){0};
}

/* More than SHORT_BYTES bytes; the last eight are read twice rather than padded. */
static inline uint64_t hash_long(const char *bytes, uint32_t n_bytes)
{
    uint64_t hash = n_bytes, word;
    uint32_t i = 0;
    for (; i + 8 < n_bytes; i += 8) {
        memcpy(&word, bytes + i, 8);
        hash = kn_hash_combine(hash, word);
    }
    memcpy(&word, bytes + n_bytes - 8, 8);
    return kn_hash_combine(hash, word);
}

static inline uint64_t key_of(const char *bytes, uint32_t n_bytes)
{
    if (n_bytes > SHORT_BYTES) return hash_long(bytes, n_bytes);
    if (n_bytes == 0) return 0;
    uint64_t word; /* reads the padding; what is not the cell's is cleared */
    memcpy(&word, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word & (~(uint64_t)0 >> (8 * (SHORT_BYTES - n_bytes)));
}

static inline size_t home_of(uint64_t key, uint32_t n_bytes, size_t n_slots)
{
    return (size_t)(kn_hash_u64(key ^ (uint64_t)n_bytes << 56)) & (n_slots - 1);
}

static kn_status reserve(kn_dictionary *dictionary, size_t n_more, kn_error *err)
{
    kn_status status = KN_OK;
    kn_dictionary_slot *slots = NULL;
    size_t n_wanted = dictionary->n_slots != 0 ? dictionary->n_slots : FIRST_SLOTS;
    while ((dictionary->n + n_more) > n_wanted / 8 * 5) n_wanted *= 2;
    if (n_wanted == dictionary->n_slots) return KN_OK;
    if (dictionary->n + n_more >= NO_CODE)
        KN_FAIL(KN_RESOURCES, "more than four billion distinct values in one column");
    KN_NEW_RAW(slots, n_wanted);
    for (size_t i = 0; i < n_wanted; i++) slots[i].code = NO_CODE;
    for (size_t i = 0; i < dictionary->n_slots; i++) {
        const kn_dictionary_slot *old = &dictionary->slots[i];
        if (old->code == NO_CODE) continue;
        size_t at = home_of(old->key, old->n_bytes, n_wanted);
        while (slots[at].code != NO_CODE) at = (at + 1) & (n_wanted - 1);
        slots[at] = *old;
    }
    kn_free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->n_slots = n_wanted;
done:
    return status;
}

/* A copy of n bytes that may also read and write the padding behind them. */
static inline void copy_padded(char *to, const char *from, uint32_t n_bytes)
{
    if (n_bytes > 16) {
        memcpy(to, from, n_bytes);
        return;
    }
    memcpy(to, from, 8);
    if (n_bytes > 8) memcpy(to + n_bytes - 8, from + n_bytes - 8, 8);
}

/* Room for entries with that many bytes together. */
static kn_status reserve_entries(kn_dictionary *dictionary, uint32_t n_entries, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    KN_RESERVE(&dictionary->bytes, n_bytes + KN_DICTIONARY_PADDING);
    KN_RESERVE(&dictionary->offset, (size_t)n_entries + 1);
    KN_RESERVE(&dictionary->first_line, (size_t)n_entries);
    if (dictionary->offset.n == 0) dictionary->offset.items[dictionary->offset.n++] = 0;
done:
    return status;
}

/* Room is reserved. */
static inline void push_entry(kn_dictionary *dictionary, const char *bytes, uint32_t n_bytes, uint64_t line)
{
    copy_padded(dictionary->bytes.items + dictionary->bytes.n, bytes, n_bytes);
    dictionary->bytes.n += n_bytes;
    dictionary->offset.items[dictionary->offset.n++] = dictionary->bytes.n;
    dictionary->first_line.items[dictionary->first_line.n++] = line;
    dictionary->n++;
}

static inline bool slot_holds(const kn_dictionary *dictionary, const kn_dictionary_slot *slot, uint64_t key,
                              const char *bytes, uint32_t n_bytes)
{
    if (slot->key != key || slot->n_bytes != n_bytes) return false;
    return n_bytes <= SHORT_BYTES ||
           memcmp(dictionary->bytes.items + dictionary->offset.items[slot->code], bytes, n_bytes) == 0;
}

/* The slot that holds the cell, or the empty one where it belongs. Slots are reserved. */
static inline kn_dictionary_slot *find_slot(const kn_dictionary *dictionary, size_t home, uint64_t key,
                                            const char *bytes, uint32_t n_bytes)
{
    kn_dictionary_slot *slots = dictionary->slots;
    size_t at = home;
    while (slots[at].code != NO_CODE && !slot_holds(dictionary, &slots[at], key, bytes, n_bytes))
        at = (at + 1) & (dictionary->n_slots - 1);
    return &slots[at];
}

static kn_status append_cells(uint32_t *codes, kn_dictionary *dictionary, kn_cell_texts texts,
                              const kn_text_cell *cells, const uint32_t *lines, uint64_t line_base, uint32_t n_cells,
                              kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_bytes = 0;
    if (dictionary->n >= NO_CODE - n_cells)
        KN_FAIL(KN_RESOURCES, "more than four billion distinct values in one column");
    for (uint32_t i = 0; i < n_cells; i++) n_bytes += cells[i].n_bytes;
    KN_TRY(reserve_entries(dictionary, n_cells, n_bytes, err));
    for (uint32_t i = 0; i < n_cells; i += PROBE_EVERY) {
        const char *bytes = kn_text_cell_bytes(texts, cells[i]);
        uint64_t key = key_of(bytes, cells[i].n_bytes);
        size_t home = home_of(key, cells[i].n_bytes, dictionary->n_slots);
        dictionary->n_found += find_slot(dictionary, home, key, bytes, cells[i].n_bytes)->code != NO_CODE;
        dictionary->n_probed++;
    }
    for (uint32_t i = 0; i < n_cells; i++) {
        codes[i] = dictionary->n;
        push_entry(dictionary, kn_text_cell_bytes(texts, cells[i]), cells[i].n_bytes, line_base + lines[i]);
    }
done:
    return status;
}

kn_status kn_dictionary_codes(uint32_t *codes, kn_dictionary *dictionary, kn_cell_texts texts,
                              const kn_text_cell *cells, const uint32_t *lines, uint64_t line_base, uint32_t n_cells,
                              kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t keys[KN_DICTIONARY_BATCH];
    size_t homes[KN_DICTIONARY_BATCH];
    uint32_t n_before = dictionary->n;
    assert(n_cells <= KN_DICTIONARY_BATCH);
    if (dictionary->appending) return append_cells(codes, dictionary, texts, cells, lines, line_base, n_cells, err);
    KN_TRY(reserve(dictionary, n_cells, err));
    for (uint32_t i = 0; i < n_cells; i++) {
        keys[i] = key_of(kn_text_cell_bytes(texts, cells[i]), cells[i].n_bytes);
        homes[i] = home_of(keys[i], cells[i].n_bytes, dictionary->n_slots);
        __builtin_prefetch(&dictionary->slots[homes[i]]);
    }
    for (uint32_t i = 0; i < n_cells; i++) {
        const char *bytes = kn_text_cell_bytes(texts, cells[i]);
        kn_dictionary_slot *slot = find_slot(dictionary, homes[i], keys[i], bytes, cells[i].n_bytes);
        if (__builtin_expect(slot->code == NO_CODE, 0)) {
            KN_TRY(reserve_entries(dictionary, 1, cells[i].n_bytes, err));
            push_entry(dictionary, bytes, cells[i].n_bytes, line_base + lines[i]);
            *slot = (kn_dictionary_slot){keys[i], cells[i].n_bytes, dictionary->n - 1};
        }
        codes[i] = slot->code;
    }
    dictionary->n_known = dictionary->n;
    dictionary->n_probed += n_cells;
    dictionary->n_found += n_cells - (dictionary->n - n_before);
done:
    return status;
}

/* Puts what was appended into the slots. */
static kn_status learn_entries(kn_dictionary *dictionary, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(reserve(dictionary, 0, err));
    for (; dictionary->n_known < dictionary->n; dictionary->n_known++) {
        const uint64_t *offset = dictionary->offset.items + dictionary->n_known;
        const char *bytes = dictionary->bytes.items + offset[0];
        uint32_t n_bytes = (uint32_t)(offset[1] - offset[0]);
        uint64_t key = key_of(bytes, n_bytes);
        kn_dictionary_slot *slot =
            find_slot(dictionary, home_of(key, n_bytes, dictionary->n_slots), key, bytes, n_bytes);
        if (slot->code == NO_CODE) *slot = (kn_dictionary_slot){key, n_bytes, dictionary->n_known};
    }
done:
    return status;
}

kn_status kn_dictionary_adapt(kn_dictionary *dictionary, uint64_t n_expected, kn_error *err)
{
    kn_status status = KN_OK;
    /* Of D equally likely values n_known are known: a probe finds n_known / D of the time. */
    double n_distinct = (double)dictionary->n_known * (double)dictionary->n_probed / (double)(dictionary->n_found + 1);
    bool mostly_new = dictionary->n_found * 2 < dictionary->n_probed;
    bool many = dictionary->n_found < MIN_FOUND || (mostly_new && n_distinct > (double)n_expected / 2);
    bool append = dictionary->n_known >= MIN_SAMPLE && n_expected != UINT64_MAX && many;
    if (dictionary->appending && !append) KN_TRY(learn_entries(dictionary, err));
    dictionary->appending = append;
    dictionary->n_probed = dictionary->n_found = 0;
done:
    return status;
}
