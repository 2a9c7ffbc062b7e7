/* What the fuzz targets share: the function that libFuzzer calls, what must hold, and files in memory. */
#ifndef KN_FUZZ_FUZZ_H
#define KN_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define require(holds)                                                                                                 \
    do {                                                                                                               \
        if (holds) break;                                                                                              \
        fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds);                                            \
        abort();                                                                                                       \
    } while (0)

/* Around what a target makes once and never frees: no leak. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));
static inline void keep_begin(void)
{
    if (__lsan_disable != NULL) __lsan_disable();
}
static inline void keep_end(void)
{
    if (__lsan_enable != NULL) __lsan_enable();
}

/* A file without a name, for what is read by name. */
typedef struct memory_file {
    int file;
    char path[40]; /* where it can be opened; "": not made yet */
} memory_file;

static inline void memory_file_write(memory_file *file, const void *bytes, size_t n_bytes)
{
    if (file->path[0] == '\0') {
        file->file = memfd_create("fuzz", MFD_CLOEXEC);
        require(file->file >= 0);
        snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->file);
    }
    require(ftruncate(file->file, 0) == 0 && pwrite(file->file, bytes, n_bytes, 0) == (ssize_t)n_bytes);
}

#endif
