/* Blocks and accounts. In front of each block stand 16 bytes: its account, how many bytes were asked of the allocator,
 * and how far the block is from their beginning. So a block can be credited to the run that paid for it, whoever frees
 * it, and 64-byte alignment asks nothing of the allocator. Counters are atomics: allocations are few and large.
 *
 * Large blocks hold people's cells, and a program that the library is part of may crash and leave a core dump: their
 * pages are marked as not to be dumped. A caller's own allocator decides that for itself. */
#include "base/memory.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct kn_account {
    kn_allocator allocator;
    bool is_hooked;     /* the allocator is the caller's */
    atomic_size_t used; /* with the account itself while its owner holds it: at 0 nobody knows it any more */
    atomic_size_t peak;
    size_t limit; /* 0: none */
};

typedef struct block_head {
    kn_account *account; /* NULL: not counted */
    uint64_t n_bytes : 56, distance : 8;
} block_head;

enum { HEAD_BYTES = 16, VECTOR_BYTES = 64, LARGE_BYTES = 1 << 16, MOST_DISTANCE = 0xff };
#define MOST_BYTES (((uint64_t)1 << 56) - 1) /* may_allocate sees to it */
_Static_assert(sizeof(block_head) <= HEAD_BYTES, "a block keeps the alignment of malloc");

static block_head *head_of(void *block) { return (block_head *)((char *)block - HEAD_BYTES); }

/* --- Accounts ---------------------------------------------------------------------------------------------------- */

kn_status kn_account_new(kn_account **out, const kn_allocator *allocator, kn_error *err)
{
    kn_account *account =
        allocator != NULL ? allocator->allocate(allocator->user, sizeof *account) : malloc(sizeof *account);
    *out = account;
    if (account == NULL) return kn_error_set(err, KN_RESOURCES, "out of memory");
    account->is_hooked = allocator != NULL;
    if (allocator != NULL) account->allocator = *allocator;
    account->limit = 0;
    atomic_init(&account->used, sizeof *account);
    atomic_init(&account->peak, sizeof *account);
    return KN_OK;
}

static void give_back(kn_account *account, void *memory)
{
    if (account != NULL && account->is_hooked) account->allocator.release(account->allocator.user, memory);
    else free(memory);
}

static void credit(kn_account *account, size_t n_bytes)
{
    if (account != NULL && atomic_fetch_sub(&account->used, n_bytes) == n_bytes) give_back(account, account);
}

void kn_account_free(kn_account *account) { credit(account, sizeof *account); }
void kn_account_limit(kn_account *account, size_t bytes) { account->limit = bytes; }

const kn_allocator *kn_account_allocator(const kn_account *account)
{
    return account != NULL && account->is_hooked ? &account->allocator : NULL;
}

static void debit(kn_account *account, size_t n_bytes)
{
    if (account == NULL) return;
    size_t now = atomic_fetch_add(&account->used, n_bytes) + n_bytes, peak = atomic_load(&account->peak);
    while (now > peak && !atomic_compare_exchange_weak(&account->peak, &peak, now)) {
    }
}

size_t kn_memory_used(void)
{
    kn_account *account = kn_scope_account();
    return account != NULL ? atomic_load(&account->used) : 0;
}

size_t kn_memory_limit(void)
{
    kn_account *account = kn_scope_account();
    return account != NULL ? account->limit : 0;
}

size_t kn_memory_peak(void)
{
    kn_account *account = kn_scope_account();
    return account != NULL ? atomic_load(&account->peak) : 0;
}

void kn_memory_reset_peak(void)
{
    kn_account *account = kn_scope_account();
    if (account != NULL) atomic_store(&account->peak, atomic_load(&account->used));
}

/* --- Blocks ------------------------------------------------------------------------------------------------------ */

static bool may_allocate(kn_account *account, size_t n, size_t item_bytes, kn_error *err)
{
    if (item_bytes != 0 && n > SIZE_MAX / 256 / item_bytes) {
        kn_error_set(err, KN_RESOURCES, "out of memory: %zu items of %zu bytes do not fit an address space", n,
                     item_bytes);
        return false;
    }
    size_t limit = account != NULL ? account->limit : 0, used = limit != 0 ? atomic_load(&account->used) : 0;
    if (limit != 0 && used + n * item_bytes > limit) {
        kn_error_set(err, KN_RESOURCES,
                     "out of memory: %zu bytes in use, %zu more needed, limit %zu; raise --memory or use fewer rows or "
                     "columns",
                     used, n * item_bytes, limit);
        return false;
    }
    return true;
}

static void *no_memory(size_t n_bytes, kn_error *err)
{
    kn_error_set(err, KN_RESOURCES, "out of memory: the system has no %zu bytes left", n_bytes);
    return NULL;
}

/* Whether the pages that are the block's alone go into a core dump. They must again before the C library gets them
 * back: others may have them next, and mremap moves no pages that are marked differently. */
static void set_dumped(const kn_account *account, void *memory, size_t n_bytes, bool is_dumped)
{
#ifdef MADV_DONTDUMP
    if (n_bytes < LARGE_BYTES || (account != NULL && account->is_hooked)) return;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)memory;
    const uintptr_t first = (start + page - 1) / page * page, past = (start + n_bytes) / page * page;
    if (past > first) madvise((char *)memory + (first - start), past - first, is_dumped ? MADV_DODUMP : MADV_DONTDUMP);
#else
    (void)account, (void)memory, (void)n_bytes, (void)is_dumped;
#endif
}

/* The C library's zeroes are free for large blocks: their pages come clean from the system. */
static void *take(kn_account *account, size_t n_bytes, bool zeroed)
{
    if (account == NULL || !account->is_hooked) return zeroed ? calloc(1, n_bytes) : malloc(n_bytes);
    void *memory = account->allocator.allocate(account->allocator.user, n_bytes);
    if (memory != NULL && zeroed) memset(memory, 0, n_bytes);
    return memory;
}

/* A plain block is HEAD_BYTES from where its memory begins; one for vectors is farther. */
static void *new_block(size_t n_bytes, bool for_vectors, bool zeroed, kn_error *err)
{
    kn_account *account = kn_scope_account();
    size_t total = n_bytes + HEAD_BYTES + (for_vectors ? VECTOR_BYTES : 0);
    char *memory = take(account, total, zeroed);
    if (memory == NULL) return no_memory(n_bytes, err);
    char *block = memory + HEAD_BYTES;
    if (for_vectors) block += VECTOR_BYTES - (uintptr_t)block % VECTOR_BYTES;
    *head_of(block) = (block_head){account, total & MOST_BYTES, (uint64_t)(block - memory) & MOST_DISTANCE};
    set_dumped(account, memory, total, false);
    debit(account, total);
    return block;
}

void *kn_array_alloc(size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(kn_scope_account(), n, item_bytes, err)) return NULL;
    return new_block(n * item_bytes, false, true, err);
}

void *kn_array_alloc_raw(size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(kn_scope_account(), n, item_bytes, err)) return NULL;
    return new_block(n * item_bytes, false, false, err);
}

void *kn_array_alloc_aligned(size_t n, size_t item_bytes, kn_error *err)
{
    if (!may_allocate(kn_scope_account(), n, item_bytes, err)) return NULL;
    return new_block((n * item_bytes + VECTOR_BYTES) & ~(size_t)(VECTOR_BYTES - 1), true, true, err);
}

void *kn_array_resize(void *block, size_t n, size_t item_bytes, kn_error *err)
{
    if (block == NULL) return kn_array_alloc_raw(n, item_bytes, err);
    block_head head = *head_of(block);
    kn_account *account = head.account;
    assert(head.distance == HEAD_BYTES); /* blocks for vectors do not grow */
    if (!may_allocate(account, n, item_bytes, err)) return NULL;
    size_t total = n * item_bytes + HEAD_BYTES;
    void *old = head_of(block);
    set_dumped(account, old, head.n_bytes, true);
    char *moved = account != NULL && account->is_hooked ? account->allocator.resize(account->allocator.user, old, total)
                                                        : realloc(old, total);
    set_dumped(account, moved != NULL ? moved : old, moved != NULL ? total : head.n_bytes, false);
    if (moved == NULL) return no_memory(n * item_bytes, err);
    block = moved + HEAD_BYTES;
    head_of(block)->n_bytes = total & MOST_BYTES;
    debit(account, total);
    credit(account, head.n_bytes);
    return block;
}

size_t kn_array_bytes(const void *block)
{
    if (block == NULL) return 0;
    const block_head *head = (const block_head *)((const char *)block - HEAD_BYTES);
    return head->n_bytes - head->distance;
}

void *kn_array_room(void *block, size_t n, size_t item_bytes, kn_error *err)
{
    if (block != NULL && kn_array_bytes(block) / item_bytes >= n) return block;
    kn_free(block);
    return kn_array_alloc_raw(n, item_bytes, err);
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
    block_head head = *head_of(block);
    set_dumped(head.account, (char *)block - head.distance, head.n_bytes, true);
    give_back(head.account, (char *)block - head.distance);
    credit(head.account, head.n_bytes);
}

kn_status kn_memory_charge(kn_charge *out, size_t n_bytes, kn_error *err)
{
    kn_account *account = kn_scope_account();
    *out = (kn_charge){NULL, 0};
    if (!may_allocate(account, n_bytes, 1, err)) return KN_RESOURCES;
    debit(account, n_bytes);
    *out = (kn_charge){account, n_bytes};
    return KN_OK;
}

void kn_memory_discharge(kn_charge *charge)
{
    credit(charge->account, charge->n_bytes);
    *charge = (kn_charge){NULL, 0};
}

void *kn_owner_keep(kn_owner *owner, void *block, kn_error *err)
{
    if (block != NULL && owner->n == owner->capacity) {
        size_t grown = 2 * owner->capacity + 16;
        void **moved = kn_array_resize(owner->blocks, grown, sizeof *moved, err);
        if (moved == NULL) {
            kn_free(block);
            return NULL;
        }
        owner->blocks = moved;
        owner->capacity = grown;
    }
    if (block != NULL) owner->blocks[owner->n++] = block;
    return block;
}

void kn_owner_free(kn_owner *owner)
{
    for (size_t i = 0; i < owner->n; i++) kn_free(owner->blocks[i]);
    kn_free(owner->blocks);
    *owner = (kn_owner){0};
}
