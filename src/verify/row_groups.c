/* Grouping by hashing: the key of a row is the tuple of its codes; a group is known by its first row, and equality is
 * decided by comparing codes with that row, never by the hash alone. Rows are taken chunk by chunk, so codes are
 * unpacked column by column; a row equal to the one above needs no lookup, which in a sorted release is most of them.
 *
 * Cost: rows x columns. Memory: 4 bytes per row, 12 to 20 per group. */
#include "verify/row_groups.h"

#include "base/hash.h"

#include <string.h>

typedef struct chunk_keys {
    size_t n_keys, n_rows, room;
    uint32_t *codes; /* [key * room + i] */
    uint64_t *hash;  /* per row of the chunk */
} chunk_keys;

static void load_chunk(chunk_keys *chunk, const kn_sheet *cells, const kn_key_column *keys, size_t index)
{
    size_t n = cells->n_rows - index * KN_CHUNK_ROWS;
    chunk->n_rows = n < KN_CHUNK_ROWS ? n : KN_CHUNK_ROWS;
    memset(chunk->hash, 0, chunk->n_rows * sizeof *chunk->hash);
    for (size_t k = 0; k < chunk->n_keys; k++) {
        uint32_t *codes = chunk->codes + k * chunk->room;
        const uint32_t *map = keys[k].map;
        kn_chunk_unpack(codes, cells, keys[k].column, index);
        for (size_t i = 0; map != NULL && i < chunk->n_rows; i++) codes[i] = map[codes[i]];
        for (size_t i = 0; i < chunk->n_rows; i++) chunk->hash[i] = kn_hash_combine(chunk->hash[i], codes[i]);
    }
}

static bool same_as_above(const chunk_keys *chunk, size_t i)
{
    for (size_t k = 0; k < chunk->n_keys; k++)
        if (chunk->codes[k * chunk->room + i] != chunk->codes[k * chunk->room + i - 1]) return false;
    return true;
}

static bool same_as_group(const kn_row_groups *groups, uint32_t group, const chunk_keys *chunk, size_t i)
{
    for (size_t k = 0; k < chunk->n_keys; k++) {
        const kn_key_column *key = &groups->keys[k];
        uint32_t code = kn_sheet_code(&groups->cells->columns[key->column], groups->first_row[group]);
        if (key->map != NULL) code = key->map[code];
        if (code != chunk->codes[k * chunk->room + i]) return false;
    }
    return true;
}

/* The slot of the row's group, or the free one where it would stand. */
static size_t find_slot(const kn_row_groups *groups, const chunk_keys *chunk, size_t i)
{
    size_t mask = groups->n_slots - 1, slot = chunk->hash[i] & mask;
    for (uint32_t group; (group = groups->slots[slot]) != KN_NONE; slot = (slot + 1) & mask)
        if (groups->hash[group] == (uint32_t)chunk->hash[i] && same_as_group(groups, group, chunk, i)) break;
    return slot;
}

static kn_status add_group(kn_row_groups *groups, uint32_t row, uint32_t hash, kn_error *err)
{
    kn_status status = KN_OK;
    if (groups->n_groups == groups->capacity) {
        size_t capacity = groups->capacity + groups->capacity / 2 + 64;
        uint32_t **arrays[] = {&groups->first_row, &groups->group_rows, &groups->hash};
        for (size_t i = 0; i < 3; i++) {
            uint32_t *moved = kn_array_resize(*arrays[i], capacity, sizeof **arrays[i], err);
            if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
            *arrays[i] = moved;
        }
        groups->capacity = capacity;
    }
    groups->first_row[groups->n_groups] = row;
    groups->group_rows[groups->n_groups] = 0;
    groups->hash[groups->n_groups++] = hash;
done:
    return status;
}

static kn_status new_chunk(chunk_keys *chunk, const kn_sheet *cells, size_t n_keys, kn_error *err)
{
    kn_status status = KN_OK;
    *chunk = (chunk_keys){.n_keys = n_keys, .room = kn_sheet_chunk_rows(cells)};
    KN_NEW_RAW(chunk->codes, n_keys * chunk->room);
    KN_NEW_RAW(chunk->hash, chunk->room);
done:
    return status;
}

static kn_status group_chunk(kn_row_groups *groups, const chunk_keys *chunk, uint32_t first, kn_error *err)
{
    kn_status status = KN_OK;
    enum { AHEAD = 16 }; /* a hash may point anywhere */
    for (size_t i = 0; i < chunk->n_rows; i++) {
        uint32_t row = first + (uint32_t)i, group;
        if (i + AHEAD < chunk->n_rows && groups->n_slots > 0)
            __builtin_prefetch(&groups->slots[chunk->hash[i + AHEAD] & (groups->n_slots - 1)]);
        if (i > 0 && same_as_above(chunk, i)) {
            group = groups->row_group[row - 1];
        } else {
            if ((groups->n_groups + (size_t)1) * 4 > groups->n_slots * 3)
                KN_TRY(kn_slots_grow(&groups->slots, &groups->n_slots, 1024, groups->hash, groups->n_groups, err));
            size_t slot = find_slot(groups, chunk, i);
            group = groups->slots[slot];
            if (group == KN_NONE) {
                group = groups->n_groups;
                KN_TRY(add_group(groups, row, (uint32_t)chunk->hash[i], err));
                groups->slots[slot] = group;
            }
        }
        groups->row_group[row] = group;
        groups->group_rows[group]++;
    }
done:
    return status;
}

kn_status kn_row_groups_make(kn_row_groups **out, const kn_sheet *cells, const kn_key_column *keys, size_t n_keys,
                             kn_error *err)
{
    kn_status status = KN_OK;
    kn_row_groups *groups = NULL;
    chunk_keys chunk = {0};
    *out = NULL;
    KN_NEW(groups, 1);
    *groups = (kn_row_groups){.n_rows = cells->n_rows, .cells = cells, .keys = keys, .n_keys = n_keys};
    KN_NEW_RAW(groups->row_group, cells->n_rows);
    KN_TRY(new_chunk(&chunk, cells, n_keys, err));
    for (size_t index = 0; index * KN_CHUNK_ROWS < cells->n_rows; index++) {
        load_chunk(&chunk, cells, keys, index);
        KN_TRY(group_chunk(groups, &chunk, (uint32_t)(index * KN_CHUNK_ROWS), err));
    }
    *out = groups;
    groups = NULL;
done:
    kn_row_groups_free(groups);
    kn_free(chunk.codes);
    kn_free(chunk.hash);
    return status;
}

kn_status kn_row_groups_match(uint32_t **out, const kn_row_groups *groups, const kn_sheet *cells,
                              const kn_key_column *keys, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *found = NULL;
    chunk_keys chunk = {0};
    *out = NULL;
    KN_NEW_RAW(found, cells->n_rows);
    KN_TRY(new_chunk(&chunk, cells, groups->n_keys, err));
    for (size_t index = 0; index * KN_CHUNK_ROWS < cells->n_rows; index++) {
        uint32_t *group = found + index * KN_CHUNK_ROWS;
        load_chunk(&chunk, cells, keys, index);
        for (size_t i = 0; i < chunk.n_rows; i++) {
            if (i > 0 && same_as_above(&chunk, i)) group[i] = group[i - 1];
            else group[i] = groups->n_slots == 0 ? KN_NONE : groups->slots[find_slot(groups, &chunk, i)];
        }
    }
    *out = found;
    found = NULL;
done:
    kn_free(found);
    kn_free(chunk.codes);
    kn_free(chunk.hash);
    return status;
}

kn_status kn_row_groups_rows(uint32_t **start, uint32_t **rows, const kn_row_groups *groups, kn_error *err)
{
    kn_status status = KN_OK;
    *start = *rows = NULL;
    KN_NEW(*start, groups->n_groups + (size_t)2);
    KN_NEW_RAW(*rows, groups->n_rows);
    /* one place ahead, so that filling leaves the starts where they belong */
    for (uint32_t g = 0; g < groups->n_groups; g++) (*start)[g + 2] = groups->group_rows[g];
    for (size_t g = 2; g < groups->n_groups + (size_t)2; g++) (*start)[g] += (*start)[g - 1];
    for (uint32_t r = 0; r < groups->n_rows; r++) (*rows)[(*start)[groups->row_group[r] + 1]++] = r;
done:
    if (status != KN_OK) {
        kn_free(*start);
        kn_free(*rows);
        *start = *rows = NULL;
    }
    return status;
}

void kn_row_groups_free(kn_row_groups *groups)
{
    if (groups == NULL) return;
    kn_free(groups->row_group);
    kn_free(groups->first_row);
    kn_free(groups->group_rows);
    kn_free(groups->slots);
    kn_free(groups->hash);
    kn_free(groups);
}
