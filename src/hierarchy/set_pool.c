/* Sets of codes, each stored once with its text: an open hash table over long arrays of members and bytes. */
#include "hierarchy/domain.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

struct kn_set_pool {
    KN_VECTOR(uint32_t) members;
    KN_VECTOR(char) texts;    /* of labels; a plain set has none */
    KN_VECTOR(uint64_t) ends; /* per set: where its members end */
    KN_VECTOR(uint64_t) text_ends;
    KN_VECTOR(uint32_t) hashes; /* per set: its members are far away when the table grows */
    uint32_t *slots, n_slots;
};

kn_status kn_set_pool_new(kn_set_pool **out, kn_error *err)
{
    kn_status status = KN_OK;
    *out = NULL;
    KN_NEW(*out, 1);
done:
    return status;
}

void kn_set_pool_free(kn_set_pool *pool)
{
    if (pool == NULL) return;
    kn_free(pool->members.items);
    kn_free(pool->ends.items);
    kn_free(pool->texts.items);
    kn_free(pool->text_ends.items);
    kn_free(pool->hashes.items);
    kn_free(pool->slots);
    kn_free(pool);
}

const uint32_t *kn_set_pool_get(const kn_set_pool *pool, uint32_t id, uint32_t *n_codes)
{
    assert(id < pool->ends.n);
    uint64_t start = id > 0 ? pool->ends.items[id - 1] : 0;
    *n_codes = (uint32_t)(pool->ends.items[id] - start);
    return *n_codes > 0 ? pool->members.items + start : NULL;
}

const char *kn_set_pool_text(const kn_set_pool *pool, uint32_t id, size_t *n_bytes)
{
    assert(id < pool->ends.n);
    uint64_t start = id > 0 ? pool->text_ends.items[id - 1] : 0;
    *n_bytes = (size_t)(pool->text_ends.items[id] - start);
    return *n_bytes > 0 ? pool->texts.items + start : "";
}

/* What is looked for or added. */
typedef struct entry {
    const uint32_t *codes;
    uint32_t n_codes;
    const char *text;
    size_t n_bytes;
} entry;

static entry entry_of(const kn_set_pool *pool, uint32_t id)
{
    entry set;
    set.codes = kn_set_pool_get(pool, id, &set.n_codes);
    set.text = kn_set_pool_text(pool, id, &set.n_bytes);
    return set;
}

static uint32_t hash_of(const entry *set)
{
    uint64_t hash = kn_hash_bytes(set->codes, set->n_codes * sizeof *set->codes);
    return (uint32_t)(set->n_bytes > 0 ? kn_hash_combine(hash, kn_hash_bytes(set->text, set->n_bytes)) : hash);
}

static uint32_t find_slot(const kn_set_pool *pool, const entry *set, uint32_t hash)
{
    uint32_t mask = pool->n_slots - 1, slot = hash & mask;
    for (; pool->slots[slot] != KN_NONE; slot = (slot + 1) & mask) {
        if (pool->hashes.items[pool->slots[slot]] != hash) continue;
        entry there = entry_of(pool, pool->slots[slot]);
        if (there.n_codes == set->n_codes && there.n_bytes == set->n_bytes &&
            (set->n_codes == 0 || memcmp(there.codes, set->codes, set->n_codes * sizeof *set->codes) == 0) &&
            (set->n_bytes == 0 || memcmp(there.text, set->text, set->n_bytes) == 0))
            break;
    }
    return slot;
}

static kn_status grow_slots(kn_set_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_grown = pool->n_slots > 0 ? pool->n_slots * 2 : 64, *grown;
    KN_NEW_RAW(grown, n_grown);
    memset(grown, 0xFF, n_grown * sizeof *grown);
    for (uint32_t id = 0; id < pool->ends.n; id++) {
        uint32_t slot = pool->hashes.items[id] & (n_grown - 1);
        while (grown[slot] != KN_NONE) slot = (slot + 1) & (n_grown - 1);
        grown[slot] = id;
    }
    kn_free(pool->slots);
    pool->slots = grown;
    pool->n_slots = n_grown;
done:
    return status;
}

/* `hash` is that of the set. */
static kn_status add_entry(uint32_t *id, kn_set_pool *pool, const entry *set, uint32_t hash, kn_error *err)
{
    kn_status status = KN_OK;
    *id = KN_NONE;
    if (pool->ends.n * 2 >= pool->n_slots) {
        if (pool->n_slots >= UINT32_C(1) << 31) KN_FAIL(KN_RESOURCES, "more than 2^30 different sets of values");
        KN_TRY(grow_slots(pool, err));
    }
    uint32_t slot = find_slot(pool, set, hash);
    if (pool->slots[slot] == KN_NONE) {
        KN_RESERVE(&pool->members, set->n_codes);
        KN_RESERVE(&pool->texts, set->n_bytes);
        KN_RESERVE(&pool->ends, 1);
        KN_RESERVE(&pool->text_ends, 1);
        KN_RESERVE(&pool->hashes, 1);
        if (set->n_codes > 0)
            memcpy(pool->members.items + pool->members.n, set->codes, set->n_codes * sizeof *set->codes);
        if (set->n_bytes > 0) memcpy(pool->texts.items + pool->texts.n, set->text, set->n_bytes);
        pool->members.n += set->n_codes;
        pool->texts.n += set->n_bytes;
        pool->slots[slot] = (uint32_t)pool->ends.n;
        pool->ends.items[pool->ends.n++] = pool->members.n;
        pool->text_ends.items[pool->text_ends.n++] = pool->texts.n;
        pool->hashes.items[pool->hashes.n++] = hash;
    }
    *id = pool->slots[slot];
done:
    return status;
}

kn_status kn_set_pool_add_label(uint32_t *id, kn_set_pool *pool, const uint32_t *codes, uint32_t n_codes,
                                const char *text, size_t n_bytes, kn_error *err)
{
    const entry set = {codes, n_codes, text, n_bytes};
    for (uint32_t i = 1; i < n_codes; i++) assert(codes[i - 1] < codes[i]);
    return add_entry(id, pool, &set, hash_of(&set), err);
}

kn_status kn_set_pool_add(uint32_t *id, kn_set_pool *pool, const uint32_t *codes, uint32_t n_codes, kn_error *err)
{
    assert(n_codes >= 2);
    return kn_set_pool_add_label(id, pool, codes, n_codes, "", 0, err);
}

kn_status kn_set_pool_unite(uint32_t **ids, kn_set_pool *pool, const kn_set_pool *other, kn_error *err)
{
    kn_status status = KN_OK;
    *ids = NULL;
    KN_NEW_RAW(*ids, other->ends.n);
    for (uint32_t id = 0; id < other->ends.n; id++) {
        const entry set = entry_of(other, id);
        KN_TRY(add_entry(&(*ids)[id], pool, &set, other->hashes.items[id], err));
    }
done:
    return status;
}
