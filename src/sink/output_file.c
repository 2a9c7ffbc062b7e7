/* Writing a file so that it appears whole or not at all.
 *
 * A regular target (or one that does not exist yet) is written as a hidden file beside it, so that rename() stays
 * inside one file system. A symbolic link is followed first: the file it points to is replaced, the link stays. A
 * target that is no regular file (/dev/null, a pipe, /dev/stdout) cannot be renamed over: it is spooled like stdout and
 * copied on commit. The spool has no name; /proc/self/fd/N is where it can be read back. */
#include "sink/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18 };

struct kn_output {
    char *name;      /* as the user gave it, for messages */
    char *target;    /* links followed; NULL: spooled */
    char *temporary; /* path of the bytes until commit */
    char *folder;
    int file;
    int copy_to; /* spooled: where commit copies to, or -1 */
    bool owns_copy_to, named, committed;
    char *buffer;
    size_t n_buffered;
    bool syncing; /* a thread of its own waits for the disk, and leaves here what the system says */
    pthread_t syncer;
    int sync_errno;
};

static kn_status write_all(int file, const char *bytes, size_t n_bytes, const char *name, kn_error *err)
{
    while (n_bytes > 0) {
        ssize_t n = write(file, bytes, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            return kn_error_set(err, KN_INPUT, "%s: cannot be written: %s; nothing was changed", name, strerror(errno));
        bytes += n;
        n_bytes -= (size_t)n;
    }
    return KN_OK;
}

/* An unnamed file in TMPDIR. */
static kn_status open_spool(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    if (folder == NULL || folder[0] == '\0') folder = "/tmp";
    int n = snprintf(path, sizeof path, "%s/kanon-XXXXXX", folder);
    if (n < 0 || (size_t)n >= sizeof path) KN_FAIL(KN_INPUT, "TMPDIR is too long a path");
    output->file = mkostemp(path, O_CLOEXEC);
    if (output->file < 0)
        KN_FAIL(KN_INPUT, "no temporary file can be made in %s: %s; set TMPDIR to a folder with room", folder,
                strerror(errno));
    unlink(path);
    n = snprintf(path, sizeof path, "/proc/self/fd/%d", output->file);
    output->temporary = kn_string_copy(path, (size_t)n, err);
    if (output->temporary == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

static kn_status open_beside_target(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    char *slash = strrchr(output->target, '/');
    size_t n_folder = slash == NULL ? 1 : slash == output->target ? 1 : (size_t)(slash - output->target);
    output->folder = kn_string_copy(slash == NULL ? "." : output->target, n_folder, err);
    if (output->folder == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    const char *base = slash == NULL ? output->target : slash + 1;
    if (base[0] == '\0') KN_FAIL(KN_INPUT, "%s: is a folder, not a file", output->name);
    size_t n_bytes = strlen(output->folder) + 32;
    KN_NEW(output->temporary, n_bytes);
    snprintf(output->temporary, n_bytes, "%s/.kanon-XXXXXX", output->folder);
    output->file = mkostemp(output->temporary, O_CLOEXEC); /* mode 0600 */
    if (output->file < 0)
        KN_FAIL(KN_INPUT, "%s: cannot be written: no file can be made in %s: %s", output->name, output->folder,
                strerror(errno));
    output->named = true;
done:
    return status;
}

/* What stands behind the target's name: decides between writing beside it and spooling. */
static kn_status resolve_target(kn_output *output, bool is_stdout, bool *spooled, kn_error *err)
{
    kn_status status = KN_OK;
    struct stat about;
    char *resolved = NULL;
    *spooled = false;
    if (is_stdout) {
        *spooled = true;
        output->copy_to = STDOUT_FILENO;
        goto done;
    }
    if (output->name[0] == '\0') KN_FAIL(KN_USAGE, "the name of the output file is empty");
    if (stat(output->name, &about) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
        if (lstat(output->name, &about) == 0 && S_ISLNK(about.st_mode))
            KN_FAIL(KN_INPUT, "%s: is a link to a file that does not exist", output->name);
    } else if (S_ISDIR(about.st_mode)) {
        KN_FAIL(KN_INPUT, "%s: is a folder, not a file", output->name);
    } else if (!S_ISREG(about.st_mode)) {
        *spooled = true;
        output->owns_copy_to = true;
        output->copy_to = open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (output->copy_to < 0) KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
        goto done;
    } else if (access(output->name, W_OK) != 0) {
        KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
    }
    resolved = realpath(output->name, NULL);
    const char *target = resolved != NULL ? resolved : output->name;
    output->target = kn_string_copy(target, strlen(target), err);
    if (output->target == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    free(resolved);
    return status;
}

kn_status kn_output_open(kn_output **out, const char *target, kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *output = NULL;
    bool spooled, is_stdout = strcmp(target, "-") == 0;
    const char *name = is_stdout ? "stdout" : target;
    *out = NULL;
    KN_NEW(output, 1);
    output->file = output->copy_to = -1;
    output->name = kn_string_copy(name, strlen(name), err);
    if (output->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_NEW_RAW(output->buffer, BUFFER_BYTES);
    KN_TRY(resolve_target(output, is_stdout, &spooled, err));
    KN_TRY(spooled ? open_spool(output, err) : open_beside_target(output, err));
    *out = output;
    output = NULL;
done:
    kn_output_discard(output);
    return status;
}

static kn_status write_buffered(kn_output *output, kn_error *err)
{
    size_t n_bytes = output->n_buffered;
    output->n_buffered = 0;
    return write_all(output->file, output->buffer, n_bytes, output->name, err);
}

kn_status kn_output_write(kn_output *output, const void *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    if (output->n_buffered + n_bytes > BUFFER_BYTES) KN_TRY(write_buffered(output, err));
    if (n_bytes > BUFFER_BYTES) return write_all(output->file, bytes, n_bytes, output->name, err);
    if (n_bytes != 0) memcpy(output->buffer + output->n_buffered, bytes, n_bytes);
    output->n_buffered += n_bytes;
done:
    return status;
}

static void *sync_behind(void *argument)
{
    kn_output *output = argument;
    output->sync_errno = fsync(output->file) == 0 || errno == EINVAL ? 0 : errno;
    return NULL;
}

static void wait_for_sync(kn_output *output)
{
    if (output->syncing) pthread_join(output->syncer, NULL);
    output->syncing = false;
}

/* Without a thread to spare, commit syncs. */
kn_status kn_output_flush(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(write_buffered(output, err));
    wait_for_sync(output);
    if (output->sync_errno == 0) output->syncing = pthread_create(&output->syncer, NULL, sync_behind, output) == 0;
done:
    return status;
}

static kn_status sync_file(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(write_buffered(output, err));
    wait_for_sync(output);
    if (output->sync_errno == 0) sync_behind(output);
    if (output->sync_errno != 0) /* an error is told once */
        KN_FAIL(KN_INPUT, "%s: cannot be written: %s; nothing was changed", output->name, strerror(output->sync_errno));
done:
    return status;
}

const char *kn_output_path(const kn_output *output) { return output->temporary; }

static kn_status copy_spool(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    off_t at = 0;
    for (;;) {
        ssize_t n = pread(output->file, output->buffer, BUFFER_BYTES, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_FAIL(KN_INPUT, "the temporary copy of %s cannot be read: %s", output->name, strerror(errno));
        if (n == 0) break;
        KN_TRY(write_all(output->copy_to, output->buffer, (size_t)n, output->name, err));
        at += n;
    }
done:
    return status;
}

/* The umask can only be read by setting it, which other threads would notice; Linux tells it in /proc. */
static mode_t user_umask(void)
{
    unsigned mask = 022;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return 077;
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "Umask: %o", &mask) == 1) break;
    fclose(file);
    return (mode_t)mask;
}

/* What the umask allows to a new file. A file that is replaced was perhaps closed to others on purpose: nobody gets at
 * the new one who could not get at the old one. */
static mode_t target_mode(const kn_output *output)
{
    struct stat old;
    mode_t mode = 0666 & ~user_umask();
    return stat(output->target, &old) == 0 ? mode & old.st_mode : mode;
}

static kn_status rename_over_target(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    if (fchmod(output->file, target_mode(output)) != 0)
        KN_FAIL(KN_INPUT, "%s: its mode cannot be set: %s; nothing was changed", output->name, strerror(errno));
    if (rename(output->temporary, output->target) != 0)
        KN_FAIL(KN_INPUT, "%s: cannot be replaced: %s; nothing was changed", output->name, strerror(errno));
    output->committed = true;
    /* The name is there; syncing the folder makes it survive a power failure. Some file systems cannot. */
    int folder = open(output->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
done:
    return status;
}

kn_status kn_output_commit(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(sync_file(output, err));
    if (output->named) {
        KN_TRY(rename_over_target(output, err));
    } else {
        KN_TRY(copy_spool(output, err));
        output->committed = true;
    }
done:
    return status;
}

void kn_output_discard(kn_output *output)
{
    if (output == NULL) return;
    wait_for_sync(output);
    if (output->named && !output->committed) unlink(output->temporary);
    if (output->file >= 0) close(output->file);
    if (output->owns_copy_to && output->copy_to >= 0) close(output->copy_to);
    kn_free(output->name);
    kn_free(output->target);
    kn_free(output->temporary);
    kn_free(output->folder);
    kn_free(output->buffer);
    kn_free(output);
}

bool kn_same_file(const char *a, const char *b)
{
    struct stat about_a, about_b;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    if (stat(a, &about_a) != 0 || stat(b, &about_b) != 0) return false;
    /* Reading and writing one pipe or /dev/null does no harm to a file. */
    return S_ISREG(about_a.st_mode) && about_a.st_dev == about_b.st_dev && about_a.st_ino == about_b.st_ino;
}

kn_status kn_output_text(const char *target, const char *text, kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *output = NULL;
    KN_TRY(kn_output_open(&output, target, err));
    KN_TRY(kn_output_write(output, text, strlen(text), err));
    KN_TRY(kn_output_commit(output, err));
done:
    kn_output_discard(output);
    return status;
}
