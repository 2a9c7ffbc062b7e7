/* All memory of kanon. A block is counted in an account, which belongs to a run: what is in use, the most that ever
 * was, and a limit. An account allocates through the caller's kn_allocator, or the C library where there is none. */
#ifndef KN_BASE_MEMORY_H
#define KN_BASE_MEMORY_H

#include "base/scope.h"

/* Zeroed memory for n items; NULL with a KN_RESOURCES message when there is none. n may be 0. */
void *kn_array_alloc(size_t n, size_t item_bytes, kn_error *err);
/* Like kn_array_alloc, but the bytes are not set: for large arrays that are filled at once. */
void *kn_array_alloc_raw(size_t n, size_t item_bytes, kn_error *err);
/* Grows or shrinks; on failure the old block stays valid and NULL is returned. New bytes are not set. */
void *kn_array_resize(void *block, size_t n, size_t item_bytes, kn_error *err);
/* Aligned to 64 bytes, for vector code; zeroed; free with kn_free like everything else. */
void *kn_array_alloc_aligned(size_t n, size_t item_bytes, kn_error *err);
/* Room for n items: `block` where it is large enough, otherwise a new block instead of it, whose bytes are not set;
 * NULL where there is no memory, and `block` is gone. */
void *kn_array_room(void *block, size_t n, size_t item_bytes, kn_error *err);
size_t kn_array_bytes(const void *block);                               /* that it has room for; 0 for NULL */
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
/* pointer = the same with room for n items, what it holds is kept. */
#define KN_GROW(pointer, n)                                                                                            \
    do {                                                                                                               \
        void *grown_ = kn_array_resize((pointer), (n), sizeof *(pointer), err);                                        \
        if (grown_ == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                    \
        (pointer) = grown_;                                                                                            \
    } while (0)
/* pointer = itself, or a larger array in its place: for what is filled again and again. */
#define KN_ROOM(pointer, n)                                                                                            \
    do {                                                                                                               \
        (pointer) = kn_array_room((pointer), (n), sizeof *(pointer), err);                                             \
        if ((pointer) == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                 \
    } while (0)

/* Memory that ends together: what an owner has made lives until kn_owner_free. For structs of many arrays that are as
 * old as the struct. The macros are those above with the owner first. */
typedef struct kn_owner {
    void **blocks;
    size_t n, capacity;
} kn_owner;
/* `block`, owned from now on; freed and NULL where the owner has no room for it. NULL is fine. */
void *kn_owner_keep(kn_owner *owner, void *block, kn_error *err);
void kn_owner_free(kn_owner *owner); /* what it has made, not the struct */
#define KN_OWN_FROM(make, owner, pointer, n)                                                                           \
    do {                                                                                                               \
        (pointer) = kn_owner_keep((owner), make((n), sizeof *(pointer), err), err);                                    \
        if ((pointer) == NULL) KN_FAIL(KN_RESOURCES, "out of memory");                                                 \
    } while (0)
#define KN_OWN(owner, pointer, n)         KN_OWN_FROM(kn_array_alloc, owner, pointer, n)
#define KN_OWN_RAW(owner, pointer, n)     KN_OWN_FROM(kn_array_alloc_raw, owner, pointer, n)
#define KN_OWN_ALIGNED(owner, pointer, n) KN_OWN_FROM(kn_array_alloc_aligned, owner, pointer, n)

/* A growing array: struct { T *items; size_t n, capacity; }. KN_PUSH leaves through `done:` when memory runs out. */
#define KN_VECTOR(type)                                                                                                \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t n, capacity;                                                                                            \
    }
#define KN_RESERVE(vector, n_more)                                                                                     \
    do {                                                                                                               \
        if ((vector)->n + (n_more) > (vector)->capacity) {                                                             \
            size_t capacity_ = (vector)->capacity * 2 + (n_more) + 8;                                                  \
            KN_GROW((vector)->items, capacity_);                                                                       \
            (vector)->capacity = capacity_;                                                                            \
        }                                                                                                              \
    } while (0)
#define KN_PUSH(vector, item)                                                                                          \
    do {                                                                                                               \
        KN_RESERVE(vector, 1);                                                                                         \
        (vector)->items[(vector)->n++] = (item);                                                                       \
    } while (0)

/* Blocks know their account, so any thread may free them at any time: an account lives until its owner lets go of it
 * and its last block is gone. */
kn_status kn_account_new(kn_account **out, const kn_allocator *allocator, kn_error *err); /* allocator is copied */
void kn_account_free(kn_account *account);
void kn_account_limit(kn_account *account, size_t bytes); /* 0: none. Beyond it allocations fail with KN_RESOURCES */
const kn_allocator *kn_account_allocator(const kn_account *account); /* NULL: the C library's */

/* Memory that somebody else allocated for the run, counted in its account as if it were its own. */
typedef struct kn_charge {
    kn_account *account;
    size_t n_bytes;
} kn_charge;
kn_status kn_memory_charge(kn_charge *out, size_t n_bytes, kn_error *err); /* KN_RESOURCES beyond the limit */
void kn_memory_discharge(kn_charge *charge);                               /* any thread; twice is fine */

/* Of the account of the running thread, in bytes; 0 without one. */
size_t kn_memory_used(void);
size_t kn_memory_limit(void);
size_t kn_memory_peak(void);
void kn_memory_reset_peak(void);

#endif
