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
static uint32_t find_slot(const kn_paths *paths, const char *bytes, size_t n_bytes, uint32_t hash)
{
    uint32_t mask = paths->n_slots - 1, slot = hash & mask;
    for (; paths->slots[slot].id != KN_NONE; slot = (slot + 1) & mask) {
        if (paths->slots[slot].hash != hash) continue;
        size_t n;
        const char *there = kn_paths_bytes(paths, paths->slots[slot].id, &n);
        if (n == n_bytes && memcmp(there, bytes, n) == 0) break;
    }
    return slot;
}

uint32_t kn_paths_find(const kn_paths *paths, const char *bytes, size_t n_bytes)
{
    if (paths->n_slots == 0) return KN_NONE;
    return paths->slots[find_slot(paths, bytes, n_bytes, (uint32_t)kn_hash_bytes(bytes, n_bytes))].id;
}

static kn_status grow_slots(kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    struct kn_label_slot *old = paths->slots, *grown;
    uint32_t n_old = paths->n_slots, n_grown = n_old > 0 ? n_old * 2 : 64;
    KN_NEW_RAW(grown, n_grown);
    memset(grown, 0xFF, n_grown * sizeof *grown);
    for (uint32_t i = 0; i < n_old; i++) {
        if (old[i].id == KN_NONE) continue;
        uint32_t slot = old[i].hash & (n_grown - 1);
        while (grown[slot].id != KN_NONE) slot = (slot + 1) & (n_grown - 1);
        grown[slot] = old[i];
    }
    paths->slots = grown;
    paths->n_slots = n_grown;
    kn_free(old);
done:
    return status;
}

kn_status kn_paths_label(uint32_t *id, kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t hash = (uint32_t)kn_hash_bytes(bytes, n_bytes);
    *id = KN_NONE;
    if ((uint64_t)paths->n_interned * 2 >= paths->n_slots) {
        if (paths->n_slots >= UINT32_C(1) << 31) KN_FAIL(KN_RESOURCES, "%s: more than 2^30 labels", paths->name);
        KN_TRY(grow_slots(paths, err));
    }
    struct kn_label_slot *slot = &paths->slots[find_slot(paths, bytes, n_bytes, hash)];
    if (slot->id == KN_NONE) {
        uint32_t added = KN_NONE;
        KN_TRY(add_label(&added, paths, bytes, n_bytes, err));
        *slot = (struct kn_label_slot){added, hash};
        paths->n_interned++;
    }
    *id = slot->id;
done:
    return status;
}

const char *kn_paths_shown(char buffer[KN_SHOWN_BYTES], const kn_paths *paths, uint32_t id)
{
    size_t n;
    const char *bytes = kn_paths_bytes(paths, id, &n);
    return kn_value_shown(buffer, bytes, n, paths->redact);
}

kn_status kn_paths_push_label(kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t id = KN_NONE;
    if (paths->n_levels != 0 && paths->cells.n >= paths->n_levels) {
        uint32_t above = paths->cells.items[paths->cells.n - paths->n_levels];
        size_t n;
        const char *there = kn_paths_bytes(paths, above, &n);
        if (n == n_bytes && memcmp(there, bytes, n) == 0) id = above;
    }
    if (id == KN_NONE) KN_TRY(kn_paths_label(&id, paths, bytes, n_bytes, err));
    KN_PUSH(&paths->cells, id);
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
