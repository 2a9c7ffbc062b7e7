/* The allocator hook. Sizes are asked of the C library (malloc_usable_size), so blocks carry no header of ours and
 * 64-byte alignment costs nothing. Counters are atomics: allocations are few and large. */
#include "base/memory.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_size_t used_bytes, peak_bytes, limit_bytes, n_allocations, failing_allocation;

static bool may_allocate(size_t n, size_t item_bytes, kn_error *err)
{
    size_t nth = atomic_fetch_add(&n_allocations, 1) + 1;
    size_t failing = atomic_load(&failing_allocation);
    if (failing != 0 && nth == failing) {
        kn_error_set(err, KN_RESOURCES, "out of memory");
        return false;
    }
    if (item_bytes != 0 && n > SIZE_MAX / 2 / item_bytes) {
        kn_error_set(err, KN_RESOURCES, "out of memory: %zu items of %zu bytes do not fit an address space", n,
                     item_bytes);
        return false;
    }
    size_t limit = atomic_load(&limit_bytes), used = atomic_load(&used_bytes);
    if (limit != 0 && used + n * item_bytes > limit) {
        kn_error_set(err, KN_RESOURCES,
                     "out of memory: %zu bytes in use, %zu more needed, limit %zu; raise --memory or use fewer rows or "
                     "columns",
                     used, n * item_bytes, limit);
        return false;
    }
    return true;
}

static void *counted(void *block, size_t n, size_t item_bytes, kn_error *err)
{
    if (block == NULL) {
        kn_error_set(err, KN_RESOURCES, "out of memory: the system has no %zu bytes left", n * item_bytes);
        return NULL;
    }
    size_t now = atomic_fetch_add(&used_bytes, malloc_usable_size(block)) + malloc_usable_size(block);
    size_t peak = atomic_load(&peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&peak_bytes, &peak, now)) {
    }
    return block;
}

void *kn_array_alloc(size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(n, item_bytes, err)) return NULL;
    return counted(calloc(n != 0 ? n : 1, item_bytes != 0 ? item_bytes : 1), n, item_bytes, err);
}

void *kn_array_alloc_raw(size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(n, item_bytes, err)) return NULL;
    size_t n_bytes = n * item_bytes;
    return counted(malloc(n_bytes != 0 ? n_bytes : 1), n, item_bytes, err);
}

void *kn_array_alloc_aligned(size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(n, item_bytes, err)) return NULL;
    size_t n_bytes = (n * item_bytes + 64) & ~(size_t)63;
    void *block = counted(aligned_alloc(64, n_bytes), n, item_bytes, err);
    if (block != NULL) memset(block, 0, n_bytes);
    return block;
}

void *kn_array_resize(void *block, size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(n, item_bytes, err)) return NULL;
    size_t n_bytes = n * item_bytes, old_bytes = block != NULL ? malloc_usable_size(block) : 0;
    void *moved = realloc(block, n_bytes != 0 ? n_bytes : 1);
    if (moved != NULL) atomic_fetch_sub(&used_bytes, old_bytes);
    return counted(moved, n, item_bytes, err);
}

char *kn_string_copy(const char *bytes, size_t n_bytes, kn_error *err)
{
    char *copy = kn_array_alloc_raw(n_bytes + 1, 1, err);
    if (copy == NULL) return NULL;
    if (n_bytes != 0) memcpy(copy, bytes, n_bytes);
    copy[n_bytes] = '\0';
    return copy;
}

void kn_free(void *block)
{
    if (block == NULL) return;
    atomic_fetch_sub(&used_bytes, malloc_usable_size(block));
    free(block);
}

size_t kn_memory_used(void) { return atomic_load(&used_bytes); }
size_t kn_memory_peak(void) { return atomic_load(&peak_bytes); }
void kn_memory_reset_peak(void) { atomic_store(&peak_bytes, atomic_load(&used_bytes)); }
void kn_memory_set_limit(size_t bytes) { atomic_store(&limit_bytes, bytes); }
size_t kn_memory_allocations(void) { return atomic_load(&n_allocations); }

void kn_memory_fail_at(size_t n_th)
{
    atomic_store(&n_allocations, 0);
    atomic_store(&failing_allocation, n_th);
}
