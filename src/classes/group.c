/* Grouping by hashing packed keys.
 *
 * An item's codes are packed into a key of as many 64-bit words as they need, a fixed bit field per column. Items are
 * first scattered by hash into partitions small enough for a cache-resident hash table (stable, so each partition
 * keeps the item order), then every partition is grouped by itself. Partitions and chunks of items are the jobs of
 * the pool. In the end groups are numbered by their first items, so that the numbers, and with them what searches
 * make of them, depend neither on the number of threads nor on the key of the hash.
 *
 * Cost: two passes over the items plus one over the keys; 8 * words + 8 bytes per item while it runs. */
#include "classes/group.h"

#include "base/bits.h"
#include "base/hash.h"
#include "table/table.h"

#include <assert.h>
#include <string.h>

enum {
    CHUNK_ITEMS = 1 << 16,     /* job size of the scatter */
    PARTITION_ITEMS = 1 << 14, /* aimed-at size: the table of 2^15 entries stays in the second-level cache */
    MAX_PARTITION_BITS = 12,
    MAX_CHUNKS = 64, /* bounds the counters: chunks * partitions */
};

typedef struct field {
    uint32_t word, shift;
} field;

typedef struct grouping {
    kn_owner memory; /* all arrays but group_of */
    const kn_group_column *columns;
    uint32_t n_columns, n_items, n_words;
    field *fields;
    uint32_t chunk_items, n_chunks, n_partitions, partition_bits;
    uint32_t *cursor;     /* [chunk][partition]: where the chunk writes next in the partition */
    uint32_t *begin;      /* [partition + 1] */
    uint64_t *keys;       /* n_items * n_words, partition by partition */
    uint32_t *items;      /* the item of each key */
    uint32_t *n_groups;   /* [partition] */
    uint32_t *group_of;   /* first the number within the partition, then the final one */
    uint32_t *first;      /* [position]: first item of the partition's groups, at begin[partition] + group */
    uint64_t *is_first;   /* a bit per item */
    uint32_t *n_before;   /* first items before each 64 of them */
    uint32_t *first_item; /* of the groups in the end; NULL: nobody asked */
    kn_ticker *ticker;
} grouping;

static inline uint32_t read_code(const kn_group_column *column, uint32_t item)
{
    uint32_t code;
    switch (column->code_bytes) {
    case 1: code = ((const uint8_t *)column->codes)[item]; break;
    case 2: code = ((const uint16_t *)column->codes)[item]; break;
    default: code = ((const uint32_t *)column->codes)[item]; break;
    }
    return column->map != NULL ? column->map[code] : code;
}

static void lay_out_fields(grouping *g)
{
    uint32_t word = 0, used_bits = 0;
    for (uint32_t c = 0; c < g->n_columns; c++) {
        const uint32_t n_bits = kn_bits_for(g->columns[c].n_codes);
        if (used_bits + n_bits > 64) {
            word++;
            used_bits = 0;
        }
        g->fields[c] = (field){word, used_bits};
        used_bits += n_bits;
    }
    g->n_words = word + 1;
}

/* Keys of a chunk, column by column so that each inner loop is a plain stream. */
static void pack_chunk(const grouping *g, uint32_t begin, uint32_t end, uint64_t *keys)
{
    memset(keys, 0, (size_t)(end - begin) * g->n_words * sizeof *keys);
    for (uint32_t c = 0; c < g->n_columns; c++) {
        const kn_group_column *column = &g->columns[c];
        uint64_t *out = keys + g->fields[c].word;
        uint32_t shift = g->fields[c].shift;
        for (uint32_t i = begin; i < end; i++, out += g->n_words) {
            assert(read_code(column, i) < column->n_codes);
            *out |= (uint64_t)read_code(column, i) << (shift & 63);
        }
    }
}

static inline uint64_t hash_key(const uint64_t *key, uint32_t n_words)
{
    uint64_t hash = kn_hash_u64(key[0]);
    for (uint32_t w = 1; w < n_words; w++) hash = kn_hash_combine(hash, key[w]);
    return hash;
}

static inline uint32_t partition_of(const grouping *g, uint64_t hash)
{
    return g->partition_bits != 0 ? (uint32_t)(hash >> (64 - g->partition_bits)) : 0;
}

/* Runs over a chunk twice in small pieces: first to count, then (scatter) to write. */
static kn_status walk_chunk(grouping *g, size_t chunk, bool scatter, kn_error *err)
{
    enum { PIECE = 2048 };
    kn_status status = KN_OK;
    uint64_t *piece = NULL;
    uint32_t *cursor = g->cursor + chunk * g->n_partitions;
    uint64_t begin = (uint64_t)chunk * g->chunk_items, end = begin + g->chunk_items;
    if (end > g->n_items) end = g->n_items;
    KN_NEW_RAW(piece, (size_t)PIECE * g->n_words);
    for (uint64_t at = begin; at < end; at += PIECE) {
        uint64_t stop = at + PIECE < end ? at + PIECE : end;
        pack_chunk(g, (uint32_t)at, (uint32_t)stop, piece);
        for (uint64_t i = at; i < stop; i++) {
            const uint64_t *key = piece + (i - at) * g->n_words;
            uint32_t place = cursor[partition_of(g, hash_key(key, g->n_words))]++;
            if (!scatter) continue;
            memcpy(g->keys + (size_t)place * g->n_words, key, g->n_words * sizeof *key);
            g->items[place] = (uint32_t)i;
        }
    }
    KN_TRY(kn_tick(g->ticker, "grouping", -1, err));
done:
    kn_free(piece);
    return status;
}

static kn_status count_chunk(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    return walk_chunk(context, chunk, false, err);
}

static kn_status scatter_chunk(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    return walk_chunk(context, chunk, true, err);
}

/* Counts become starting places: partition by partition, within it chunk by chunk. */
static void place_partitions(grouping *g)
{
    uint32_t place = 0;
    for (uint32_t p = 0; p < g->n_partitions; p++) {
        g->begin[p] = place;
        for (uint32_t chunk = 0; chunk < g->n_chunks; chunk++) {
            uint32_t *cursor = &g->cursor[(size_t)chunk * g->n_partitions + p], n = *cursor;
            *cursor = place;
            place += n;
        }
    }
    g->begin[g->n_partitions] = place;
}

/* A table of twice the size with the groups so far; room for as many groups as half of it. */
static kn_status grow_table(uint32_t **table, uint64_t *size, uint32_t **key_of_group, uint32_t n_groups,
                            const uint64_t *keys, uint32_t n_words, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t grown = *size != 0 ? 4 * *size : 1024;
    KN_GROW(*key_of_group, grown / 2 + 1);
    KN_ROOM(*table, grown);
    memset(*table, 0xFF, grown * sizeof **table);
    *size = grown;
    for (uint32_t g = 0; g < n_groups; g++) {
        uint64_t slot = hash_key(keys + (size_t)(*key_of_group)[g] * n_words, n_words) & (grown - 1);
        while ((*table)[slot] != KN_NONE) slot = (slot + 1) & (grown - 1);
        (*table)[slot] = g;
    }
done:
    return status;
}

static kn_status group_partition(void *context, size_t p, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    grouping *g = context;
    uint32_t begin = g->begin[p], n = g->begin[p + 1] - begin, n_words = g->n_words, n_groups = 0;
    const uint64_t *keys = g->keys + (size_t)begin * n_words;
    const uint32_t *items = g->items + begin;
    uint32_t *first = g->first + begin, *table = NULL, *key_of_group = NULL;
    uint64_t size = 0; /* grows with the groups: of many equal items only few slots are needed */
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t *key = keys + (size_t)i * n_words;
        if (2 * (uint64_t)n_groups >= size)
            KN_TRY(grow_table(&table, &size, &key_of_group, n_groups, keys, n_words, err));
        uint64_t slot = hash_key(key, n_words) & (size - 1);
        while (table[slot] != KN_NONE &&
               memcmp(keys + (size_t)key_of_group[table[slot]] * n_words, key, n_words * sizeof *key) != 0)
            slot = (slot + 1) & (size - 1);
        if (table[slot] == KN_NONE) {
            table[slot] = n_groups;
            key_of_group[n_groups] = i;
            first[n_groups++] = items[i];
        }
        g->group_of[items[i]] = table[slot];
    }
    g->n_groups[p] = n_groups;
done:
    kn_free(table);
    kn_free(key_of_group);
    return status;
}

/* A bit for each item that is the first of its group, and how many of them stand before each word of 64. */
static void mark_first_items(grouping *g)
{
    for (uint32_t p = 0; p < g->n_partitions; p++)
        for (uint32_t i = 0; i < g->n_groups[p]; i++) {
            uint32_t item = g->first[g->begin[p] + i];
            g->is_first[item / 64] |= (uint64_t)1 << item % 64;
        }
    for (uint32_t w = 0, n = 0; w <= g->n_items / 64; w++) {
        g->n_before[w] = n;
        n += (uint32_t)__builtin_popcountll(g->is_first[w]);
    }
}

/* From numbers within a partition to those by first items, which take the place of the partition's first items. */
static kn_status number_partition(void *context, size_t p, unsigned worker, kn_error *err)
{
    grouping *g = context;
    uint32_t *number = g->first + g->begin[p];
    for (uint32_t i = 0; i < g->n_groups[p]; i++) {
        uint32_t item = number[i];
        uint64_t before = g->is_first[item / 64] & (((uint64_t)1 << item % 64) - 1);
        number[i] = g->n_before[item / 64] + (uint32_t)__builtin_popcountll(before);
        if (g->first_item != NULL) g->first_item[number[i]] = item;
    }
    for (uint32_t i = g->begin[p]; i < g->begin[p + 1]; i++) {
        uint32_t *group = &g->group_of[g->items[i]];
        *group = number[*group];
    }
    return KN_OK;
}

static kn_status run_grouping(uint32_t *n_groups, uint32_t **first_item, grouping *g, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_pool_run(pool, g->n_chunks, count_chunk, g, err));
    place_partitions(g);
    KN_TRY(kn_pool_run(pool, g->n_chunks, scatter_chunk, g, err));
    KN_TRY(kn_pool_run(pool, g->n_partitions, group_partition, g, err));
    for (uint32_t p = 0; p < g->n_partitions; p++) *n_groups += g->n_groups[p];
    if (first_item != NULL) {
        KN_NEW_RAW(*first_item, *n_groups);
        g->first_item = *first_item;
    }
    mark_first_items(g);
    KN_TRY(kn_pool_run(pool, g->n_partitions, number_partition, g, err));
done:
    return status;
}

kn_status kn_group(uint32_t *group_of, uint32_t *n_groups, uint32_t **first_item, uint32_t n_items,
                   const kn_group_column *columns, uint32_t n_columns, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    grouping g = {
        .columns = columns, .n_columns = n_columns, .n_items = n_items, .group_of = group_of, .ticker = ticker};
    *n_groups = 0;
    if (first_item != NULL) *first_item = NULL;
    KN_OWN(&g.memory, g.fields, n_columns);
    lay_out_fields(&g);
    while (g.partition_bits < MAX_PARTITION_BITS && ((uint64_t)PARTITION_ITEMS << g.partition_bits) < n_items)
        g.partition_bits++;
    g.n_partitions = 1u << g.partition_bits;
    g.chunk_items = CHUNK_ITEMS;
    while ((uint64_t)g.chunk_items * MAX_CHUNKS < n_items) g.chunk_items *= 2;
    g.n_chunks = n_items / g.chunk_items + 1;
    KN_OWN(&g.memory, g.cursor, (size_t)g.n_chunks * g.n_partitions);
    KN_OWN(&g.memory, g.begin, g.n_partitions + 1);
    KN_OWN(&g.memory, g.n_groups, g.n_partitions);
    KN_OWN_RAW(&g.memory, g.keys, (size_t)n_items * g.n_words);
    KN_OWN_RAW(&g.memory, g.items, n_items);
    KN_OWN_RAW(&g.memory, g.first, n_items);
    KN_OWN(&g.memory, g.is_first, n_items / 64 + 1);
    KN_OWN(&g.memory, g.n_before, n_items / 64 + 1);
    KN_TRY(run_grouping(n_groups, first_item, &g, pool, err));
done:
    if (status != KN_OK && first_item != NULL) {
        kn_free(*first_item);
        *first_item = NULL;
    }
    kn_owner_free(&g.memory);
    return status;
}

kn_status kn_group_members(uint32_t **start, uint32_t **members, const uint32_t *group_of, uint32_t n_items,
                           uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    *start = *members = NULL;
    KN_NEW(*start, (size_t)n_groups + 2);
    KN_NEW_RAW(*members, n_items);
    uint32_t *cursor = *start + 1; /* counts, then starts, then ends: ends up shifted into place by itself */
    for (uint32_t i = 0; i < n_items; i++)
        if (group_of[i] != KN_NONE) cursor[group_of[i] + 1]++;
    for (uint32_t g = 0; g < n_groups; g++) cursor[g + 1] += cursor[g];
    for (uint32_t i = 0; i < n_items; i++)
        if (group_of[i] != KN_NONE) (*members)[cursor[group_of[i]]++] = i;
done:
    if (status != KN_OK) {
        kn_free(*start);
        kn_free(*members);
        *start = *members = NULL;
    }
    return status;
}
