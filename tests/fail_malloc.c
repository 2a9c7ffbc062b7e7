/* Preloaded into the program by check_memory.py: the FAIL_AT-th allocation of the process fails, whoever asks for it.
 * At the end the number of allocations is written to the file FAIL_COUNT. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *block, size_t n_bytes);
extern void *__libc_memalign(size_t alignment, size_t n_bytes);

static atomic_long n_allocations;

static int fails(void)
{
    const char *nth = getenv("FAIL_AT");
    if (atomic_fetch_add(&n_allocations, 1) + 1 != (nth != NULL ? atol(nth) : -1)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n_bytes) { return fails() ? NULL : __libc_malloc(n_bytes); }
void *calloc(size_t n, size_t n_bytes) { return fails() ? NULL : __libc_calloc(n, n_bytes); }
void *realloc(void *block, size_t n_bytes) { return fails() ? NULL : __libc_realloc(block, n_bytes); }
void *aligned_alloc(size_t alignment, size_t n_bytes) { return fails() ? NULL : __libc_memalign(alignment, n_bytes); }

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAIL_COUNT");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    fprintf(file, "%ld\n", atomic_load(&n_allocations));
    fclose(file);
}
