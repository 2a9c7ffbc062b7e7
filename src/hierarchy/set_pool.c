/* Sets of codes, each stored once: an open hash table over one long array of members. */
#include "hierarchy/domain.h"

#include "base/hash.h"

#include <assert.h>
#include <string.h>

struct kn_set_pool {
    KN_VECTOR(uint32_t) members;
    KN_VECTOR(uint64_t) ends; /* per set: where its members end */
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
    kn_free(pool->slots);
    kn_free(pool);
}

const uint32_t *kn_set_pool_get(const kn_set_pool *pool, uint32_t id, uint32_t *n_codes)
{
    assert(id < pool->ends.n);
    uint64_t start = id > 0 ? pool->ends.items[id - 1] : 0;
    *n_codes = (uint32_t)(pool->ends.items[id] - start);
    return pool->members.items + start;
}

static uint32_t find_slot(const kn_set_pool *pool, const uint32_t *codes, uint32_t n_codes)
{
    uint32_t mask = pool->n_slots - 1, slot = (uint32_t)kn_hash_bytes(codes, n_codes * sizeof *codes) & mask;
    for (; pool->slots[slot] != KN_NONE; slot = (slot + 1) & mask) {
        uint32_t n;
        const uint32_t *there = kn_set_pool_get(pool, pool->slots[slot], &n);
        if (n == n_codes && memcmp(there, codes, n * sizeof *codes) == 0) break;
    }
    return slot;
}

static kn_status grow_slots(kn_set_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *old = pool->slots, n_grown = pool->n_slots > 0 ? pool->n_slots * 2 : 64, *grown;
    KN_NEW_RAW(grown, n_grown);
    memset(grown, 0xFF, n_grown * sizeof *grown);
    pool->slots = grown;
    pool->n_slots = n_grown;
    for (uint32_t id = 0; id < pool->ends.n; id++) {
        uint32_t n;
        const uint32_t *codes = kn_set_pool_get(pool, id, &n);
        grown[find_slot(pool, codes, n)] = id;
    }
    kn_free(old);
done:
    return status;
}

kn_status kn_set_pool_add(uint32_t *id, kn_set_pool *pool, const uint32_t *codes, uint32_t n_codes, kn_error *err)
{
    kn_status status = KN_OK;
    *id = KN_NONE;
    assert(n_codes >= 2);
    for (uint32_t i = 1; i < n_codes; i++) assert(codes[i - 1] < codes[i]);
    if (pool->ends.n * 2 >= pool->n_slots) {
        if (pool->n_slots >= UINT32_C(1) << 31) KN_FAIL(KN_RESOURCES, "more than 2^30 different sets of values");
        KN_TRY(grow_slots(pool, err));
    }
    uint32_t slot = find_slot(pool, codes, n_codes);
    if (pool->slots[slot] == KN_NONE) {
        KN_RESERVE(&pool->members, n_codes);
        KN_RESERVE(&pool->ends, 1);
        memcpy(pool->members.items + pool->members.n, codes, n_codes * sizeof *codes);
        pool->members.n += n_codes;
        pool->slots[slot] = (uint32_t)pool->ends.n;
        pool->ends.items[pool->ends.n++] = pool->members.n;
    }
    *id = pool->slots[slot];
done:
    return status;
}
