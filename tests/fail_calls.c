/* Preloaded into the program by check_memory.py and check_faults.py: the FAIL_AT-th call of a kind goes wrong, whoever
 * makes it, the C library and libduckdb included.
 *
 *   FAIL_CALL   memory   malloc, calloc, realloc, aligned_alloc
 *               read     read, pread            write   write, pwrite, but not to standard error
 *               open     open, openat, memfd_create
 *               sync     fsync, fdatasync       name    rename, link, linkat
 *               thread   pthread_create
 *   FAIL_HOW    a number: it fails with this errno; "short": it reads or writes less than it was asked to;
 *               "shrink": the file that is read, if it has a name, loses its second half first; "interrupt": as by
 * Ctrl-C, it succeeds
 *
 * At the end the number of calls of that kind is written to the file FAIL_COUNT. Calls go to the kernel directly: who
 * looks up a function by name asks for memory. */
#undef _FILE_OFFSET_BITS /* it makes open64 of open; here both are needed */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t n_bytes);
extern void *__libc_calloc(size_t n, size_t n_bytes);
extern void *__libc_realloc(void *block, size_t n_bytes);
extern void *__libc_memalign(size_t alignment, size_t n_bytes);

static atomic_long n_calls;

/* How the call that is being made goes wrong, or NULL. */
static const char *wrong(const char *kind)
{
    const char *call = getenv("FAIL_CALL"), *nth = getenv("FAIL_AT"), *how = getenv("FAIL_HOW");
    if (call == NULL || strcmp(call, kind) != 0) return NULL;
    if (atomic_fetch_add(&n_calls, 1) + 1 != (nth != NULL ? atol(nth) : -1) || how == NULL) return NULL;
    if (strcmp(how, "interrupt") == 0) return raise(SIGINT), NULL;
    return how;
}

/* Whether it fails, with errno set. */
static int fails(const char *kind)
{
    const char *how = wrong(kind);
    const int number = how != NULL ? atoi(how) : 0;
    if (number > 0) errno = number;
    return number > 0;
}

/* --- Memory and threads ----------------------------------------------------------------------------------------------
 */

void *malloc(size_t n_bytes) { return fails("memory") ? NULL : __libc_malloc(n_bytes); }
void *calloc(size_t n, size_t n_bytes) { return fails("memory") ? NULL : __libc_calloc(n, n_bytes); }
void *realloc(void *block, size_t n_bytes) { return fails("memory") ? NULL : __libc_realloc(block, n_bytes); }
void *aligned_alloc(size_t alignment, size_t n_bytes)
{
    return fails("memory") ? NULL : __libc_memalign(alignment, n_bytes);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return fails("thread") ? EAGAIN : create(thread, attributes, run, argument);
}

/* --- Reading and writing ---------------------------------------------------------------------------------------------
 */

static void shrink(int file)
{
    char path[40];
    struct stat about;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const int again = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink > 0
                          ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY)
                          : -1;
    if (again >= 0) syscall(SYS_ftruncate, again, about.st_size / 2);
    if (again >= 0) syscall(SYS_close, again);
}

/* How many bytes the call is to be about; -1: none, it fails. */
static ssize_t granted(const char *kind, int file, size_t n_bytes)
{
    const char *how = wrong(kind);
    if (how == NULL) return (ssize_t)n_bytes;
    if (strcmp(how, "short") == 0) return (ssize_t)(n_bytes / 2 + (n_bytes == 1));
    if (strcmp(how, "shrink") == 0) return shrink(file), (ssize_t)n_bytes;
    errno = atoi(how);
    return -1;
}

ssize_t read(int file, void *to, size_t n_bytes)
{
    const ssize_t n = granted("read", file, n_bytes);
    return n < 0 ? -1 : syscall(SYS_read, file, to, n);
}

ssize_t pread64(int file, void *to, size_t n_bytes, off64_t at)
{
    const ssize_t n = granted("read", file, n_bytes);
    return n < 0 ? -1 : syscall(SYS_pread64, file, to, n, at);
}

ssize_t pread(int file, void *to, size_t n_bytes, off_t at) { return pread64(file, to, n_bytes, at); }

ssize_t write(int file, const void *bytes, size_t n_bytes)
{
    const ssize_t n = file == STDERR_FILENO ? (ssize_t)n_bytes : granted("write", file, n_bytes);
    return n < 0 ? -1 : syscall(SYS_write, file, bytes, n);
}

ssize_t pwrite64(int file, const void *bytes, size_t n_bytes, off64_t at)
{
    const ssize_t n = granted("write", file, n_bytes);
    return n < 0 ? -1 : syscall(SYS_pwrite64, file, bytes, n, at);
}

ssize_t pwrite(int file, const void *bytes, size_t n_bytes, off_t at) { return pwrite64(file, bytes, n_bytes, at); }

int fsync(int file) { return fails("sync") ? -1 : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails("sync") ? -1 : (int)syscall(SYS_fdatasync, file); }

/* --- Names -----------------------------------------------------------------------------------------------------------
 */

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return fails("open") ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

int memfd_create(const char *name, unsigned flags)
{
    return fails("open") ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int rename(const char *from, const char *to)
{
    return fails("name") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return fails("name") ? -1 : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("FAIL_COUNT");
    char text[24];
    const int file = path != NULL ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0) return;
    const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&n_calls));
    if (syscall(SYS_write, file, text, n) != n) abort();
    syscall(SYS_close, file);
}
