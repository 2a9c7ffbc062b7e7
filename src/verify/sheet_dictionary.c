/* Dictionaries of sheets: see sheet_dictionary.h. */
#include "verify/sheet_dictionary.h"

kn_text_key kn_text_key_any(const char *bytes, size_t n_bytes, char *room)
{
    if (n_bytes >= KN_SHORT_TEXT) return kn_text_key_of(bytes, n_bytes);
    memset(room, 0, KN_SHORT_TEXT);
    memcpy(room, bytes, n_bytes);
    return kn_text_key_of(room, n_bytes);
}

uint32_t kn_text_find(const kn_sheet_column *column, const char *bytes, size_t n_bytes)
{
    char room[KN_SHORT_TEXT];
    kn_text_key k = kn_text_key_any(bytes, n_bytes, room);
    return column->n_slots != 0 ? column->slots[kn_text_slot(column, &k)] : KN_NONE;
}

kn_status kn_slots_grow(uint32_t **slots, size_t *n_slots, size_t n_first, const uint32_t *hash, uint32_t n_hashed,
                        kn_error *err)
{
    kn_status status = KN_OK;
    size_t n = *n_slots == 0 ? n_first : *n_slots * 2;
    uint32_t *grown;
    KN_NEW_RAW(grown, n);
    memset(grown, 0xff, n * sizeof *grown);
    for (uint32_t i = 0; i < n_hashed; i++) {
        size_t slot = hash[i] & (n - 1);
        while (grown[slot] != KN_NONE) slot = (slot + 1) & (n - 1);
        grown[slot] = i;
    }
    kn_free(*slots);
    *slots = grown;
    *n_slots = n;
done:
    return status;
}

/* A quarter more each time, not twice: the dictionary of a nearly unique column is the largest thing we hold. */
static kn_status grow_texts(kn_sheet_column *column, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    if (column->bytes == NULL ||
        column->n_bytes + n_bytes + KN_SHORT_TEXT > column->bytes_capacity) { /* never NULL, even for "" */
        size_t capacity = column->n_bytes + column->n_bytes / 4 + n_bytes + 256;
        char *bytes = kn_array_resize(column->bytes, capacity, 1, err);
        if (bytes == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->bytes = bytes;
        column->bytes_capacity = capacity;
    }
    if (column->n_texts + (size_t)2 > column->texts_capacity) {
        size_t capacity = column->n_texts + (size_t)column->n_texts / 4 + 32;
        uint64_t *offset = kn_array_resize(column->offset, capacity, sizeof *offset, err);
        if (offset == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->offset = offset;
        uint32_t *hash = kn_array_resize(column->hash, capacity, sizeof *hash, err);
        if (hash == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->hash = hash;
        column->texts_capacity = capacity;
        if (column->n_texts == 0) column->offset[0] = 0;
    }
    if ((column->n_texts + (size_t)1) * 4 > column->n_slots * 3)
        KN_TRY(kn_slots_grow(&column->slots, &column->n_slots, 64, column->hash, column->n_texts, err));
done:
    return status;
}

void kn_texts_shorten(kn_sheet_column *column,
                      size_t (*shorten)(const void *context, char *out, const char *bytes, size_t n_bytes),
                      const void *context)
{
    size_t at = 0, from = 0, to = 0;
    if (column->n_slots > 0) memset(column->slots, 0xff, column->n_slots * sizeof *column->slots);
    for (uint32_t code = 0; code < column->n_texts; code++, from = to) {
        char shorter[64], room[KN_SHORT_TEXT];
        to = column->offset[code + 1];
        size_t n = shorten(context, shorter, column->bytes + from, to - from);
        if (n == SIZE_MAX) n = to - from, memmove(column->bytes + at, column->bytes + from, n);
        else memcpy(column->bytes + at, shorter, n);
        column->offset[code] = at;
        at += n;
        column->offset[code + 1] = at;
        kn_text_key k = kn_text_key_any(column->bytes + column->offset[code], n, room);
        column->hash[code] = k.hash;
        size_t slot = kn_text_slot(column, &k);
        if (column->slots[slot] == KN_NONE) column->slots[slot] = code;
    }
    column->n_bytes = at;
}

kn_status kn_text_put(uint32_t *code, kn_sheet_column *column, const kn_text_key *k, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(grow_texts(column, k->n_bytes, err));
    uint32_t added = column->n_texts;
    memcpy(column->bytes + column->n_bytes, k->bytes, k->n_bytes);
    column->n_bytes += k->n_bytes;
    column->offset[added + 1] = column->n_bytes;
    column->hash[added] = k->hash;
    column->slots[kn_text_slot(column, k)] = added; /* the slots may have moved */
    column->n_texts++;
    *code = added;
done:
    return status;
}

kn_status kn_text_add(uint32_t *code, kn_sheet_column *column, const char *bytes, size_t n_bytes, kn_error *err)
{
    char room[KN_SHORT_TEXT];
    kn_text_key k = kn_text_key_any(bytes, n_bytes, room);
    return kn_text_code(code, column, &k, err);
}
