/* Open addressing with linear probing, at most 5/8 full; grown before a batch, never within one. */
#include "io/dictionary.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

#define NO_CODE UINT32_MAX
enum { FIRST_SLOTS = 256, SHORT_BYTES = 8 };

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
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    memcpy(&word, bytes + n_bytes - 8, 8);
    return kn_hash_u64((hash ^ word) * 0xc4ceb9fe1a85ec53u);
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
    uint64_t hash = (key ^ (uint64_t)n_bytes << 56) * 0x9e3779b97f4a7c15u;
    return (size_t)((hash ^ hash >> 29) * 0xd6e8feb86659fd93u >> 20) & (n_slots - 1);
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

static kn_status add_entry(kn_dictionary *dictionary, const char *bytes, uint32_t n_bytes, uint64_t line, kn_error *err)
{
    kn_status status = KN_OK;
    /* All room first: a failure leaves no half entry. */
    KN_RESERVE(&dictionary->bytes, (size_t)n_bytes + KN_DICTIONARY_PADDING);
    KN_RESERVE(&dictionary->offset, 2);
    KN_RESERVE(&dictionary->first_line, 1);
    if (dictionary->offset.n == 0) dictionary->offset.items[dictionary->offset.n++] = 0;
    memcpy(dictionary->bytes.items + dictionary->bytes.n, bytes, n_bytes);
    memset(dictionary->bytes.items + dictionary->bytes.n + n_bytes, 0, KN_DICTIONARY_PADDING);
    dictionary->bytes.n += n_bytes;
    dictionary->offset.items[dictionary->offset.n++] = dictionary->bytes.n;
    dictionary->first_line.items[dictionary->first_line.n++] = line;
    dictionary->n++;
done:
    return status;
}

static inline bool slot_holds(const kn_dictionary *dictionary, const kn_dictionary_slot *slot, uint64_t key,
                              const char *bytes, uint32_t n_bytes)
{
    if (slot->key != key || slot->n_bytes != n_bytes) return false;
    return n_bytes <= SHORT_BYTES ||
           memcmp(dictionary->bytes.items + dictionary->offset.items[slot->code], bytes, n_bytes) == 0;
}

/* Room is reserved. */
static inline kn_status find_or_add(uint32_t *code, kn_dictionary *dictionary, size_t home, uint64_t key,
                                    const char *bytes, uint32_t n_bytes, uint64_t line, kn_error *err)
{
    kn_dictionary_slot *slots = dictionary->slots;
    size_t at = home;
    for (; slots[at].code != NO_CODE; at = (at + 1) & (dictionary->n_slots - 1)) {
        if (slot_holds(dictionary, &slots[at], key, bytes, n_bytes)) {
            *code = slots[at].code;
            return KN_OK;
        }
    }
    kn_status status = add_entry(dictionary, bytes, n_bytes, line, err);
    if (status != KN_OK) return status;
    slots[at] = (kn_dictionary_slot){key, n_bytes, dictionary->n - 1};
    *code = dictionary->n - 1;
    return KN_OK;
}

kn_status kn_dictionary_codes(uint32_t *codes, kn_dictionary *dictionary, const char *buffer, const kn_csv_cell *cells,
                              const uint32_t *lines, uint64_t line_base, uint32_t n_cells, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t keys[KN_DICTIONARY_BATCH];
    size_t homes[KN_DICTIONARY_BATCH];
    assert(n_cells <= KN_DICTIONARY_BATCH);
    KN_TRY(reserve(dictionary, n_cells, err));
    for (uint32_t i = 0; i < n_cells; i++) {
        keys[i] = key_of(buffer + cells[i].at, cells[i].n_bytes);
        homes[i] = home_of(keys[i], cells[i].n_bytes, dictionary->n_slots);
        __builtin_prefetch(&dictionary->slots[homes[i]]);
    }
    for (uint32_t i = 0; i < n_cells; i++)
        KN_TRY(find_or_add(&codes[i], dictionary, homes[i], keys[i], buffer + cells[i].at, cells[i].n_bytes,
                           line_base + lines[i], err));
done:
    return status;
}
