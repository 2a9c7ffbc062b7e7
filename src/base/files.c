/* Files read, by device and inode; pipes kept. */
#include "base/files.h"

#include "base/memory.h"
#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct target {
    char *option, *path;
} target;

/* Bytes that came through a pipe. */
typedef struct kept {
    char *path;
    kn_file_id pipe; /* two names of one pipe share its bytes */
    bool is_pipe;
    int file;
} kept;

struct kn_files {
    kn_ticker *ticker;
    pthread_mutex_t lock;
    KN_VECTOR(target) targets;
    KN_VECTOR(kn_file_id) read;
    KN_VECTOR(kept) kept;
};

static bool is_stdio(const char *path) { return strcmp(path, "-") == 0; }
static kn_file_id id_of(const struct stat *about) { return (kn_file_id){about->st_dev, about->st_ino}; }
static bool same_id(kn_file_id a, kn_file_id b) { return a.device == b.device && a.inode == b.inode; }

bool kn_file_identify(kn_file_id *out, int file)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    *out = id_of(&about);
    return true;
}

kn_status kn_files_new(kn_files **out, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(*out, 1);
    (*out)->ticker = ticker;
    pthread_mutex_init(&(*out)->lock, NULL);
done:
    return status;
}

void kn_files_free(kn_files *files)
{
    if (files == NULL) return;
    for (size_t i = 0; i < files->targets.n; i++) {
        kn_free(files->targets.items[i].option);
        kn_free(files->targets.items[i].path);
    }
    for (size_t i = 0; i < files->kept.n; i++) {
        kn_free(files->kept.items[i].path);
        close(files->kept.items[i].file);
    }
    kn_free(files->targets.items);
    kn_free(files->read.items);
    kn_free(files->kept.items);
    pthread_mutex_destroy(&files->lock);
    kn_free(files);
}

/* --- Files without a name ---------------------------------------------------------------------------------------- */

void kn_file_path(char path[KN_FILE_PATH_BYTES], int file)
{
    snprintf(path, KN_FILE_PATH_BYTES, "/proc/self/fd/%d", file);
}

static const char *spool_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder != NULL && *folder != '\0' ? folder : P_tmpdir;
}

int kn_file_growing(const char *path)
{
    return open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
}

int kn_file_unnamed(const char *folder)
{
    if (folder == NULL) folder = spool_folder();
    char path[KN_FILE_PATH_BYTES];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    kn_file_path(path, file);
    if (access(path, R_OK) == 0) return file;
    close(file); /* no /proc: it could neither be read again nor get a name */
    errno = EOPNOTSUPP;
    return -1;
}

kn_status kn_file_spool(int *out, kn_error *err)
{
    kn_status status = KN_OK;
    char *path = NULL;
    const char *folder = spool_folder();
    size_t n_bytes = strlen(folder) + 16;
    *out = kn_file_unnamed(folder);
    if (*out >= 0) return KN_OK;
    KN_NEW(path, n_bytes); /* this file system has no unnamed files: the name is taken away at once */
    snprintf(path, n_bytes, "%s/kanon-XXXXXX", folder);
    *out = mkostemp(path, O_CLOEXEC); /* mode 0600 */
    if (*out < 0)
        KN_FAIL(KN_INPUT, "no temporary file can be made in %.500s: %s; set TMPDIR to a folder with room", folder,
                strerror(errno));
    unlink(path);
done:
    kn_free(path);
    return status;
}

/* --- Targets ------------------------------------------------------------------------------------------------------ */

/* A file that exists by its id, one that does not by its folder's id and its name. */
typedef struct place {
    kn_file_id id;
    mode_t type;      /* 0: does not exist */
    const char *name; /* in its folder, when it does not exist */
} place;

static bool find_folder(struct stat *about, const char *path, size_t n_bytes)
{
    char folder[4096];
    if (n_bytes == 0 || n_bytes >= sizeof folder) return n_bytes == 0 && stat(".", about) == 0;
    memcpy(folder, path, n_bytes);
    folder[n_bytes] = '\0';
    return stat(folder, about) == 0;
}

static bool find_place(place *out, const char *path)
{
    struct stat about;
    if ((is_stdio(path) ? fstat(STDOUT_FILENO, &about) : stat(path, &about)) == 0) {
        *out = (place){id_of(&about), about.st_mode & S_IFMT, NULL};
        return true;
    }
    const char *slash = strrchr(path, '/');
    if (is_stdio(path) || !find_folder(&about, path, slash != NULL ? (size_t)(slash - path) + 1 : 0)) return false;
    *out = (place){id_of(&about), 0, slash != NULL ? slash + 1 : path};
    return true;
}

static bool same_place(const char *a, const char *b)
{
    place at_a, at_b;
    if (strcmp(a, b) == 0) return true;
    if (!find_place(&at_a, a) || !find_place(&at_b, b) || at_a.type != at_b.type) return false;
    if (S_ISCHR(at_a.type) || !same_id(at_a.id, at_b.id)) return false; /* a terminal or /dev/null loses nothing */
    return at_a.type != 0 || strcmp(at_a.name, at_b.name) == 0;
}

static const char *shown(const char *path) { return is_stdio(path) ? "standard output" : path; }

kn_status kn_files_guard(kn_files *files, const char *option, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    target added = {0};
    for (size_t i = 0; i < files->targets.n; i++)
        if (same_place(files->targets.items[i].path, path)) {
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = option, .file = path),
                       "--%s and --%s both go to %.1000s; choose two places", files->targets.items[i].option, option,
                       shown(path));
        }
    added.option = kn_string_copy(option, strlen(option), err);
    added.path = kn_string_copy(path, strlen(path), err);
    if (added.option == NULL || added.path == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_PUSH(&files->targets, added);
    added = (target){0};
done:
    kn_free(added.option);
    kn_free(added.path);
    return status;
}

static kn_status check_read(const kn_files *files, kn_file_id id, kn_error *err)
{
    place at;
    for (size_t i = 0; i < files->targets.n; i++) {
        const target *to = &files->targets.items[i];
        if (!find_place(&at, to->path) || !S_ISREG(at.type) || !same_id(at.id, id)) continue;
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = to->option, .file = to->path),
                               "--%s %.1000s is an input; choose another name", to->option, shown(to->path));
    }
    return KN_OK;
}

/* The caller holds the lock. A file that is refused was read all the same: whoever takes the refusal for a finding
 * about the data must not write over it in the end. */
static kn_status add_read(kn_files *files, kn_file_id id, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < files->read.n; i++)
        if (same_id(files->read.items[i], id)) return check_read(files, id, err);
    KN_PUSH(&files->read, id);
    KN_TRY(check_read(files, id, err));
done:
    return status;
}

kn_status kn_files_add(kn_files *files, kn_file_id id, kn_error *err)
{
    pthread_mutex_lock(&files->lock);
    kn_status status = add_read(files, id, err);
    pthread_mutex_unlock(&files->lock);
    return status;
}

kn_status kn_files_note(kn_files *files, const char *path, kn_error *err)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return KN_OK;
    return kn_files_add(files, id_of(&about), err);
}

kn_status kn_files_check(kn_files *files, kn_error *err)
{
    kn_status status = KN_OK;
    pthread_mutex_lock(&files->lock);
    for (size_t i = 0; i < files->read.n; i++) KN_TRY(check_read(files, files->read.items[i], err));
done:
    pthread_mutex_unlock(&files->lock);
    return status;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static kn_status copy_all(int to, int from, const char *path, kn_ticker *ticker, kn_error *err)
{
    enum { BLOCK_BYTES = 1 << 18 };
    kn_status status = KN_OK;
    char *block = NULL;
    const char *name = is_stdio(path) ? "standard input" : path;
    KN_NEW_RAW(block, BLOCK_BYTES);
    for (;;) {
        ssize_t n = read(from, block, BLOCK_BYTES);
        if (n < 0 && errno != EINTR) {
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name), "%.1000s: cannot be read: %s", name, strerror(errno));
        }
        if (n == 0) break;
        for (ssize_t at = 0; at < n;) {
            ssize_t put = write(to, block + at, (size_t)(n - at));
            if (put < 0 && errno != EINTR)
                KN_FAIL(KN_INPUT, "%.1000s: cannot be kept in %.500s: %s; set TMPDIR to a folder with room", name,
                        spool_folder(), strerror(errno));
            if (put > 0) at += put;
        }
        KN_TRY(kn_tick(ticker, "reading", -1, err));
    }
done:
    kn_free(block);
    return status;
}

/* Of a file that can be read from anywhere; a pipe is not packed before it is kept. */
static kn_packing packing_of(int file)
{
    char magic[KN_MAGIC_BYTES];
    size_t n_read = 0;
    for (ssize_t n = 1; n != 0 && n_read < sizeof magic;) {
        n = pread(file, magic + n_read, sizeof magic - n_read, (off_t)n_read);
        if (n > 0) n_read += (size_t)n;
        else if (n < 0 && errno != EINTR) break; /* whoever reads it will say why it cannot be read */
    }
    return kn_packing_of(magic, n_read);
}

/* What stands in a packed file, to a new one. */
static kn_status spool_unpacked(int *out, int from, const char *path, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const char *name = is_stdio(path) ? "standard input" : path;
    *out = -1;
    if (lseek(from, 0, SEEK_SET) != 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name), "%.1000s: cannot be read again: %s", name, strerror(errno));
    KN_TRY(kn_file_spool(out, err));
    KN_TRY(kn_unpack(*out, from, packing_of(from), name, spool_folder(), ticker, err));
done:
    if (status != KN_OK && *out >= 0) {
        close(*out);
        *out = -1;
    }
    return status;
}

/* A packed file is kept unpacked. */
static kn_status keep(kn_files *files, int from, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    kept added = {.file = -1};
    struct stat about;
    added.is_pipe = fstat(from, &about) == 0 && S_ISFIFO(about.st_mode);
    if (added.is_pipe) added.pipe = id_of(&about);
    added.path = kn_string_copy(path, strlen(path), err);
    if (added.path == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    if (packing_of(from) == KN_PACKED_NOT) {
        KN_TRY(kn_file_spool(&added.file, err));
        KN_TRY(copy_all(added.file, from, path, files->ticker, err));
        from = added.file; /* what came through a pipe may be packed, too */
    }
    if (packing_of(from) != KN_PACKED_NOT) {
        int unpacked;
        KN_TRY(spool_unpacked(&unpacked, from, path, files->ticker, err));
        if (added.file >= 0) close(added.file);
        added.file = unpacked;
    }
    KN_PUSH(&files->kept, added);
    added = (kept){.file = -1};
done:
    kn_free(added.path);
    if (added.file >= 0) close(added.file);
    return status;
}

static const kept *find_kept(const kn_files *files, const char *path)
{
    struct stat about;
    bool is_pipe = !is_stdio(path) && stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
    for (size_t i = 0; i < files->kept.n; i++) {
        const kept *one = &files->kept.items[i];
        if (strcmp(one->path, path) == 0 || (is_pipe && one->is_pipe && same_id(one->pipe, id_of(&about)))) return one;
    }
    return NULL;
}

bool kn_file_differs(const char *path, const char *bytes, size_t n_bytes)
{
    struct stat about;
    char there[4096];
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size == 0) return false;
    FILE *file = (size_t)about.st_size == n_bytes ? fopen(path, "re") : NULL;
    bool differs = file == NULL;
    for (size_t n = 0; !differs && n_bytes > 0; bytes += n, n_bytes -= n) {
        n = fread(there, 1, n_bytes < sizeof there ? n_bytes : sizeof there, file);
        differs = n == 0 || memcmp(there, bytes, n) != 0;
    }
    if (file != NULL) fclose(file);
    return differs;
}

/* A pipe is opened when its writer comes; until then Ctrl-C must work. */
static kn_status open_plain(int *out, const char *path, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    do {
        KN_TRY(kn_tick(ticker, "reading", -1, err));
        *out = is_stdio(path) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (*out < 0 && errno == EINTR);
done:
    return status;
}

static int reopen(const kept *one)
{
    char path[KN_FILE_PATH_BYTES];
    kn_file_path(path, one->file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static kn_status open_and_keep(int *out, kn_files *files, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    struct stat about;
    int file = -1, reason = 0;
    const kept *known = find_kept(files, path);
    if (known != NULL) {
        *out = reopen(known);
        return KN_OK;
    }
    KN_TRY(open_plain(&file, path, files->ticker, err));
    reason = errno;
    if (file < 0 || fstat(file, &about) != 0) goto done;
    if (S_ISREG(about.st_mode)) KN_TRY(add_read(files, id_of(&about), err));
    if (is_stdio(path) || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) || packing_of(file) != KN_PACKED_NOT) {
        KN_TRY(keep(files, file, path, err));
        *out = reopen(find_kept(files, path));
        reason = errno;
    } else {
        *out = file;
        file = -1;
    }
done:
    if (file >= 0) close(file);
    errno = reason;
    return status;
}

kn_status kn_files_open(int *out, kn_files *files, const char *path, kn_error *err)
{
    *out = -1;
    if (files == NULL) return open_plain(out, path, NULL, err);
    pthread_mutex_lock(&files->lock);
    kn_status status = open_and_keep(out, files, path, err);
    int reason = errno;
    pthread_mutex_unlock(&files->lock);
    errno = reason;
    return status;
}
