/* Labels of paths, each stored once. */
#include "hierarchy/paths.h"

#include "base/hash.h"

#include <string.h>

void kn_paths_free(kn_paths *paths)
{
    kn_free(paths->cells.items);
    kn_free(paths->lines.items);
    kn_free(paths->bytes.items);
    kn_free(paths->ends.items);
    kn_free(paths->slots);
    memset(paths, 0, sizeof *paths);
}

const char *kn_paths_bytes(const kn_paths *paths, uint32_t id, size_t *n_bytes)
{
    uint64_t start = id > 0 ? paths->ends.items[id - 1] : 0;
    *n_bytes = (size_t)(paths->ends.items[id] - start);
    return paths->bytes.n > 0 ? paths->bytes.items + start : "";
}

static kn_status add_label(uint32_t *id, kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    if (paths->ends.n >= KN_NONE - 1) KN_FAIL(KN_RESOURCES, "%s: more than 2^32 labels", paths->name);
    KN_RESERVE(&paths->bytes, n_bytes);
    KN_RESERVE(&paths->ends, 1);
    if (n_bytes > 0) memcpy(paths->bytes.items + paths->bytes.n, bytes, n_bytes);
    paths->bytes.n += n_bytes;
    *id = (uint32_t)paths->ends.n;
    paths->ends.items[paths->ends.n++] = paths->bytes.n;
done:
    return status;
}

kn_status kn_paths_own_label(uint32_t *id, kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    return add_label(id, paths, bytes, n_bytes, err);
}

/* The slot that holds the label, or the free one where it belongs. */
static uint32_t find_slot(const kn_paths *paths, const char *bytes, size_t n_bytes)
{
    uint32_t mask = paths->n_slots - 1, slot = (uint32_t)kn_hash_bytes(bytes, n_bytes) & mask;
    for (; paths->slots[slot] != KN_NONE; slot = (slot + 1) & mask) {
        size_t n;
        const char *there = kn_paths_bytes(paths, paths->slots[slot], &n);
        if (n == n_bytes && memcmp(there, bytes, n) == 0) break;
    }
    return slot;
}

uint32_t kn_paths_find(const kn_paths *paths, const char *bytes, size_t n_bytes)
{
    return paths->n_slots > 0 ? paths->slots[find_slot(paths, bytes, n_bytes)] : KN_NONE;
}

static kn_status grow_slots(kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *old = paths->slots, n_old = paths->n_slots, *grown;
    KN_NEW_RAW(grown, n_old > 0 ? (size_t)n_old * 2 : 64);
    paths->slots = grown;
    paths->n_slots = n_old > 0 ? n_old * 2 : 64;
    memset(grown, 0xFF, paths->n_slots * sizeof *grown);
    for (uint32_t i = 0; i < n_old; i++) {
        if (old[i] == KN_NONE) continue;
        size_t n;
        const char *bytes = kn_paths_bytes(paths, old[i], &n);
        grown[find_slot(paths, bytes, n)] = old[i];
    }
    kn_free(old);
done:
    return status;
}

kn_status kn_paths_label(uint32_t *id, kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    *id = KN_NONE;
    if ((uint64_t)paths->n_interned * 2 >= paths->n_slots) {
        if (paths->n_slots >= UINT32_C(1) << 31) KN_FAIL(KN_RESOURCES, "%s: more than 2^30 labels", paths->name);
        KN_TRY(grow_slots(paths, err));
    }
    uint32_t slot = find_slot(paths, bytes, n_bytes);
    if (paths->slots[slot] == KN_NONE) {
        uint32_t added = KN_NONE;
        KN_TRY(add_label(&added, paths, bytes, n_bytes, err));
        paths->slots[slot] = added;
        paths->n_interned++;
    }
    *id = paths->slots[slot];
done:
    return status;
}

kn_status kn_paths_push(kn_paths *paths, uint32_t id, kn_error *err)
{
    kn_status status = KN_OK;
    KN_PUSH(&paths->cells, id);
done:
    return status;
}
