/* Least significant digit first, 11 bits a pass; each pass counts per chunk, then scatters per chunk. A pass in which
 * all keys share the digit is skipped. Cost: ceil(n_bits / 11) passes, 12 bytes per item of extra memory. */
#include "base/radix_sort.h"

#include <string.h>

enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS, MIN_CHUNK = 1 << 16, MAX_CHUNKS = 16 };

typedef struct pass {
    const uint64_t *keys;
    const uint32_t *items;
    uint64_t *to_keys;
    uint32_t *to_items;
    uint32_t n, n_chunks;
    unsigned shift;
    uint32_t (*places)[N_DIGITS]; /* [chunk][digit]: count, then where to write next */
} pass;

static void chunk_ends(const pass *p, size_t chunk, uint32_t *begin, uint32_t *end)
{
    *begin = (uint32_t)((uint64_t)p->n * chunk / p->n_chunks);
    *end = (uint32_t)((uint64_t)p->n * (chunk + 1) / p->n_chunks);
}

static inline uint32_t digit_of(const pass *p, uint64_t key) { return (uint32_t)(key >> p->shift) & (N_DIGITS - 1); }

static kn_status count_chunk(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    pass *p = context;
    uint32_t begin, end;
    chunk_ends(p, chunk, &begin, &end);
    memset(p->places[chunk], 0, sizeof p->places[chunk]);
    for (uint32_t i = begin; i < end; i++) p->places[chunk][digit_of(p, p->keys[i])]++;
    return KN_OK;
}

static kn_status scatter_chunk(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    pass *p = context;
    uint32_t begin, end, *places = p->places[chunk];
    chunk_ends(p, chunk, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t place = places[digit_of(p, p->keys[i])]++;
        p->to_keys[place] = p->keys[i];
        p->to_items[place] = p->items[i];
    }
    return KN_OK;
}

/* Counts become places. Returns false when every key has the same digit. */
static bool find_places(pass *p)
{
    uint32_t place = 0;
    for (uint32_t d = 0; d < N_DIGITS; d++) {
        uint32_t before = place;
        for (uint32_t chunk = 0; chunk < p->n_chunks; chunk++) {
            uint32_t count = p->places[chunk][d];
            p->places[chunk][d] = place;
            place += count;
        }
        if (place - before == p->n) return false;
    }
    return true;
}

kn_status kn_radix_sort(uint64_t *keys, uint32_t *items, uint32_t n, unsigned n_bits, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    pass p = {.keys = keys, .items = items, .n = n};
    uint64_t *other_keys = NULL;
    uint32_t *other_items = NULL;
    p.n_chunks = n / MIN_CHUNK + 1 < MAX_CHUNKS ? n / MIN_CHUNK + 1 : MAX_CHUNKS;
    KN_NEW_RAW(other_keys, n);
    KN_NEW_RAW(other_items, n);
    KN_NEW_RAW(p.places, p.n_chunks);
    p.to_keys = other_keys;
    p.to_items = other_items;
    for (p.shift = 0; p.shift < n_bits; p.shift += DIGIT_BITS) {
        KN_TRY(kn_pool_run(pool, p.n_chunks, count_chunk, &p, err));
        if (!find_places(&p)) continue;
        KN_TRY(kn_pool_run(pool, p.n_chunks, scatter_chunk, &p, err));
        uint64_t *sorted_keys = p.to_keys;
        uint32_t *sorted_items = p.to_items;
        p.to_keys = (uint64_t *)p.keys;
        p.to_items = (uint32_t *)p.items;
        p.keys = sorted_keys;
        p.items = sorted_items;
    }
    if (p.keys != keys) {
        memcpy(keys, p.keys, n * sizeof *keys);
        memcpy(items, p.items, n * sizeof *items);
    }
done:
    kn_free(other_keys);
    kn_free(other_items);
    kn_free(p.places);
    return status;
}
