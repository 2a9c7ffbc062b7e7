/* All memory of kanon: one allocator hook that counts bytes, keeps the peak, and can be told a limit or (in tests)
 * to fail the n-th allocation. */
#ifndef KN_BASE_MEMORY_H
#define KN_BASE_MEMORY_H

#include "base/status.h"

/* Zeroed memory for n items; NULL with a KN_RESOURCES message when there is none. n may be 0. */
void *kn_array_alloc(size_t n, size_t item_bytes, kn_error *err);
/* Like kn_array_alloc, but the bytes are not set: for large arrays that are filled at once. */
void *kn_array_alloc_raw(size_t n, size_t item_bytes, kn_error *err);
/* Grows or shrinks; on failure the old block stays valid and NULL is returned. New bytes are not set. */
void *kn_array_resize(void *block, size_t n, size_t item_bytes, kn_error *err);
/* Aligned to 64 bytes, for vector code; zeroed; free with kn_free like everything else. */
void *kn_array_alloc_aligned(size_t n, size_t item_bytes, kn_error *err);
char *kn_string_copy(const char *bytes, size_t n_bytes, kn_error *err); /* adds the closing NUL */
void kn_free(void *block);                                              /* NULL is fine */

/* pointer = zeroed array of n items, or leaves through `done:`. Needs `status` and `err` in scope. */
#define KN_NEW(pointer, n)                                                                                             \
    do {                                                                                                               \
        (pointer) = kn_array_alloc((n), sizeof *(pointer), err);                                                       \
        if ((pointer) == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                 \
    } while (0)
#define KN_NEW_RAW(pointer, n)                                                                                         \
    do {                                                                                                               \
        (pointer) = kn_array_alloc_raw((n), sizeof *(pointer), err);                                                   \
        if ((pointer) == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                 \
    } while (0)
#define KN_NEW_ALIGNED(pointer, n)                                                                                     \
    do {                                                                                                               \
        (pointer) = kn_array_alloc_aligned((n), sizeof *(pointer), err);                                               \
        if ((pointer) == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                 \
    } while (0)

/* A growing array: struct { T *items; size_t n, capacity; }. KN_PUSH leaves through `done:` when memory runs out. */
#define KN_VECTOR(type)                                                                                                \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t n, capacity;                                                                                            \
    }
#define KN_RESERVE(vector, n_more)                                                                                     \
    do {                                                                                                               \
        if ((vector)->n + (n_more) > (vector)->capacity) {                                                             \
            size_t grown_ = (vector)->capacity * 2 + (n_more) + 8;                                                     \
            void *moved_ = kn_array_resize((vector)->items, grown_, sizeof *(vector)->items, err);                     \
            if (moved_ == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                \
            (vector)->items = moved_;                                                                                  \
            (vector)->capacity = grown_;                                                                               \
        }                                                                                                              \
    } while (0)
#define KN_PUSH(vector, item)                                                                                          \
    do {                                                                                                               \
        KN_RESERVE(vector, 1);                                                                                         \
        (vector)->items[(vector)->n++] = (item);                                                                       \
    } while (0)

/* Process-wide: the allocator is the one mutable global. */
size_t kn_memory_used(void);
size_t kn_memory_peak(void);
void kn_memory_reset_peak(void);
void kn_memory_set_limit(size_t bytes); /* 0: none. Beyond it allocations fail with KN_RESOURCES */
void kn_memory_fail_at(size_t n_th);    /* tests: the n-th allocation from now fails; 0: never */
size_t kn_memory_allocations(void);     /* how many there were since kn_memory_fail_at */

#endif
