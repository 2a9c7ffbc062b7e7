/* Writing files so that they appear whole or not at all.
 *
 * A regular target (or one that does not exist yet) is written as a file without a name in its folder (O_TMPFILE): a
 * run that is killed leaves nothing behind. A new target is linked at once; to replace one, the file gets a hidden name
 * for a moment, because only rename() replaces. File systems without unnamed files get the hidden name from the start.
 * The hidden file is locked while its run lives: the next run removes those beside its target that nobody holds.
 *
 * A symbolic link is followed first: the file it points to is replaced, the link stays. A target that is no regular
 * file
 * (/dev/null, a pipe, /dev/stdout) cannot be renamed over: it is spooled like stdout and copied on commit. Unnamed
 * files are read back as /proc/self/fd/N. */
#include "sink/output_file.h"

#include "base/buffer.h"
#include "base/files.h"
#include "table/batches.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18, FIRST_BYTES = 1 << 12, READER_WAIT_SECONDS = 5, READER_POLL_MS = 20 };

#define HIDDEN_PREFIX ".kanon-"
#define HIDDEN_DIGITS 8
#define HIDDEN_SUFFIX ".tmp"

struct kn_output {
    char *name;   /* as the user gave it, for messages */
    char *target; /* links followed; NULL: spooled */
    char *folder; /* of the target */
    char *hidden; /* path of the file while it has a hidden name; room for it is there from the start */
    char path[KN_FILE_PATH_BYTES];
    int file;
    int copy_to; /* spooled: where commit copies to; -1: the pipe is opened when it has a reader */
    bool owns_copy_to, spooled, kept, is_hidden, committed;
    char *buffer; /* grows with what is written, up to BUFFER_BYTES */
    size_t n_buffered, room;
    bool unsynced; /* something was written since the file was last brought to the disk, or it never was */
    bool syncing;  /* a thread of its own waits for the disk, and leaves here what the system says */
    pthread_t syncer;
    int sync_errno;
    bool is_private; /* mode 0600 at most */
};

/* 0, or what the system says. */
static int write_all(int file, const char *bytes, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = write(file, bytes, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        bytes += n;
        n_bytes -= (size_t)n;
    }
    return 0;
}

/* --- Hidden names ------------------------------------------------------------------------------------------------- */

static bool is_hidden_name(const char *name)
{
    size_t n_prefix = strlen(HIDDEN_PREFIX);
    return strncmp(name, HIDDEN_PREFIX, n_prefix) == 0 &&
           strspn(name + n_prefix, "0123456789abcdef") == HIDDEN_DIGITS &&
           strcmp(name + n_prefix + HIDDEN_DIGITS, HIDDEN_SUFFIX) == 0;
}

static size_t hidden_bytes(const kn_output *output) { return strlen(output->folder) + 32; }

static void choose_hidden(kn_output *output)
{
    uint32_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) number = (uint32_t)getpid();
    snprintf(output->hidden, hidden_bytes(output), "%s/" HIDDEN_PREFIX "%08x" HIDDEN_SUFFIX, output->folder, number);
}

/* What a killed run left in this folder: ours by name and owner, and locked by nobody. */
static void remove_leftovers(const char *folder)
{
    DIR *list = opendir(folder);
    struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        struct stat about;
        if (!is_hidden_name(entry->d_name)) continue;
        int file = openat(dirfd(list), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (file < 0) continue;
        if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
            flock(file, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(list), entry->d_name, 0);
        close(file);
    }
    if (list != NULL) closedir(list);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

/* Between making a file and locking it, another run may have taken it for a leftover: then it has no link any more. */
static kn_status open_hidden(kn_output *output, kn_error *err)
{
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS && !output->is_hidden; i++) {
        struct stat about;
        choose_hidden(output);
        output->file = open(output->hidden, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (output->file < 0 && errno != EEXIST) break;
        if (output->file < 0) continue;
        flock(output->file, LOCK_EX);
        output->is_hidden = fstat(output->file, &about) == 0 && about.st_nlink > 0;
        if (output->is_hidden) break;
        close(output->file);
        output->file = -1;
    }
    if (output->is_hidden) return KN_OK;
    return kn_error_set(err, KN_INPUT, "%s: cannot be written: no file can be made in %s: %s", output->name,
                        output->folder, strerror(errno));
}

static kn_status open_beside_target(kn_output *output, bool named, kn_error *err)
{
    kn_status status = KN_OK;
    char *slash = strrchr(output->target, '/');
    size_t n_folder = slash == NULL ? 1 : slash == output->target ? 1 : (size_t)(slash - output->target);
    output->folder = kn_string_copy(slash == NULL ? "." : output->target, n_folder, err);
    if (output->folder == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    const char *base = slash == NULL ? output->target : slash + 1;
    if (base[0] == '\0') KN_FAIL(KN_INPUT, "%s: is a folder, not a file", output->name);
    KN_NEW(output->hidden, hidden_bytes(output));
    remove_leftovers(output->folder);
    output->file = named ? -1 : kn_file_unnamed(output->folder);
    if (output->file < 0) KN_TRY(open_hidden(output, err));
    else flock(output->file, LOCK_EX); /* for the moment in which it has a hidden name */
done:
    return status;
}

/* The descriptor that /dev/stdout and the like stand for, or -1: what the shell opened there is written to, not
 * replaced. */
static int descriptor_of(const char *name)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(name, "-") == 0 || strcmp(name, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(name, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t n = strlen(folders[i]), n_digits;
        if (strncmp(name, folders[i], n) != 0) continue;
        n_digits = strspn(name + n, "0123456789");
        if (n_digits > 0 && n_digits < 9 && name[n + n_digits] == '\0') return atoi(name + n);
    }
    return -1;
}

static kn_status open_stream(kn_output *output, const struct stat *about, kn_error *err)
{
    kn_status status = KN_OK;
    int descriptor = descriptor_of(output->name);
    output->spooled = true;
    if (descriptor == STDOUT_FILENO) {
        output->copy_to = descriptor;
    } else if (descriptor >= 0) {
        output->owns_copy_to = true;
        output->copy_to = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
        if (output->copy_to < 0) KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
    } else if (S_ISFIFO(about->st_mode)) {
        if (access(output->name, W_OK) != 0)
            KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
    } else {
        output->owns_copy_to = true;
        output->copy_to = open(output->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (output->copy_to < 0) KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
    }
done:
    return status;
}

/* What stands behind the target's name: decides between writing beside it and spooling. */
static kn_status resolve_target(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    struct stat about = {0};
    char *resolved = NULL;
    if (output->name[0] == '\0') KN_FAIL(KN_USAGE, "the name of the output file is empty");
    bool exists = stat(output->name, &about) == 0;
    if (descriptor_of(output->name) >= 0 || (exists && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))) {
        KN_TRY(open_stream(output, &about, err));
        goto done;
    }
    if (!exists && errno != ENOENT && errno != ENOTDIR)
        KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
    if (!exists && lstat(output->name, &about) == 0 && S_ISLNK(about.st_mode))
        KN_FAIL(KN_INPUT, "%s: is a link to a file that does not exist", output->name);
    if (exists && S_ISDIR(about.st_mode)) KN_FAIL(KN_INPUT, "%s: is a folder, not a file", output->name);
    if (exists && access(output->name, W_OK) != 0)
        KN_FAIL(KN_INPUT, "%s: cannot be written: %s", output->name, strerror(errno));
    resolved = realpath(output->name, NULL);
    if (resolved == NULL && errno == ENOMEM) KN_FAIL(KN_RESOURCES, "out of memory");
    const char *target = resolved != NULL ? resolved : output->name;
    output->target = kn_string_copy(target, strlen(target), err);
    if (output->target == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    free(resolved);
    return status;
}

bool kn_is_kept(const char *target) { return target != NULL && strcmp(target, KN_KEPT) == 0; }

/* A file that never was on a disk, so that whatever reads an output back can read this one. */
static kn_status open_memory(kn_output *output, kn_error *err)
{
    output->spooled = output->kept = true;
    output->file = memfd_create("kanon", MFD_CLOEXEC);
    return output->file >= 0 ? KN_OK : kn_error_set(err, KN_RESOURCES, "no text can be kept: %s", strerror(errno));
}

static kn_status open_output(kn_output **out, const char *target, bool named, kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *output = NULL;
    *out = NULL;
    if (kn_is_table_name(target))
        KN_FAIL(KN_USAGE, "%.80s: only the release of kn_anonymize can stay in memory; a file of that name is ./%.80s",
                target, target);
    KN_NEW(output, 1);
    output->file = output->copy_to = -1;
    output->name = kn_string_copy(target, strlen(target), err);
    if (output->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_NEW_RAW(output->buffer, FIRST_BYTES);
    output->room = FIRST_BYTES;
    if (kn_is_kept(target)) KN_TRY(open_memory(output, err));
    else KN_TRY(resolve_target(output, err));
    if (output->file < 0)
        KN_TRY(output->spooled ? kn_file_spool(&output->file, err) : open_beside_target(output, named, err));
    kn_file_path(output->path, output->file);
    output->unsynced = true;
    *out = output;
    output = NULL;
done:
    kn_output_discard(output);
    return status;
}

kn_status kn_output_open(kn_output **out, const char *target, kn_error *err)
{
    return open_output(out, target, false, err);
}

kn_status kn_output_open_named(kn_output **out, const char *target, kn_error *err)
{
    return open_output(out, target, true, err);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

static const char *shown(const kn_output *output) { return strcmp(output->name, "-") == 0 ? "stdout" : output->name; }

static kn_status cannot_write(const kn_output *output, int reason, kn_error *err)
{
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = shown(output)),
                           "%.1000s: cannot be written: %s; nothing was changed", shown(output), strerror(reason));
}

static kn_status write_buffered(kn_output *output, kn_error *err)
{
    int reason = write_all(output->file, output->buffer, output->n_buffered);
    output->n_buffered = 0;
    return reason == 0 ? KN_OK : cannot_write(output, reason, err);
}

kn_status kn_output_write(kn_output *output, const void *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    output->unsynced = true;
    const size_t wanted = output->n_buffered + n_bytes;
    if (wanted > output->room && output->room < BUFFER_BYTES) {
        const size_t room = wanted < BUFFER_BYTES / 4 ? 4 * wanted : BUFFER_BYTES;
        KN_GROW(output->buffer, room);
        output->room = room;
    }
    if (wanted > BUFFER_BYTES) KN_TRY(write_buffered(output, err));
    if (n_bytes > BUFFER_BYTES) {
        int reason = write_all(output->file, bytes, n_bytes);
        return reason == 0 ? KN_OK : cannot_write(output, reason, err);
    }
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
    if (output->sync_errno != 0 || output->spooled) goto done;
    output->unsynced = false;
    output->syncing = pthread_create(&output->syncer, NULL, sync_behind, output) == 0;
    if (!output->syncing) output->unsynced = true;
done:
    return status;
}

kn_status kn_output_sync(kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(write_buffered(output, err));
    wait_for_sync(output);
    if (output->unsynced && output->sync_errno == 0 && !output->spooled) {
        output->unsynced = false;
        sync_behind(output);
    }
    if (output->sync_errno != 0) KN_TRY(cannot_write(output, output->sync_errno, err)); /* an error is told once */
done:
    return status;
}

void kn_output_keep_private(kn_output *output)
{
    if (output != NULL) output->is_private = true;
}

const char *kn_output_path(const kn_output *output) { return output->is_hidden ? output->hidden : output->path; }

/* --- Committing --------------------------------------------------------------------------------------------------- */

static void list_outputs(kn_buffer *text, const char *title, kn_output *const *outputs, size_t n, bool committed)
{
    for (size_t i = 0; i < n; i++) {
        if (outputs[i]->committed != committed) continue;
        kn_buffer_printf(text, "%s %.200s", title, shown(outputs[i]));
        title = ",";
    }
}

/* A failure on the way, with what it leaves behind. */
static kn_status cannot_commit(kn_output *const *outputs, size_t n, size_t failed, const char *how, const char *why,
                               kn_error *err)
{
    kn_buffer left = {0};
    size_t n_committed = 0;
    for (size_t i = 0; i < n; i++) n_committed += outputs[i]->committed;
    if (n_committed > 0) {
        list_outputs(&left, "written already:", outputs, n, true);
        list_outputs(&left, "; as it was:", outputs, n, false);
    }
    kn_status status = kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = shown(outputs[failed])), "%.500s: %s: %s; %s",
                                       shown(outputs[failed]), how, why,
                                       left.bytes != NULL         ? left.bytes
                                       : outputs[failed]->spooled ? "no file was changed"
                                                                  : "nothing was changed");
    kn_buffer_free(&left);
    return status;
}

/* 0, or what the system says. */
static int copy_spool(kn_output *output)
{
    for (off_t at = 0;;) {
        ssize_t n = pread(output->file, output->buffer, output->room, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return 0;
        int reason = write_all(output->copy_to, output->buffer, (size_t)n);
        if (reason != 0) return reason;
        at += n;
    }
}

/* True once there is somewhere to copy to. */
static bool has_reader(kn_output *output)
{
    if (output->copy_to >= 0) return true;
    output->copy_to = open(output->name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (output->copy_to < 0) return false;
    output->owns_copy_to = true;
    fcntl(output->copy_to, F_SETFL, 0); /* from here on writing waits */
    return true;
}

static void close_stream(kn_output *output)
{
    if (output->owns_copy_to && output->copy_to >= 0) close(output->copy_to);
    output->owns_copy_to = false;
    output->copy_to = -1;
}

/* Pipes in whatever order their readers come. */
static kn_status copy_streams(kn_output *const *outputs, size_t n, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    double deadline = kn_seconds_now() + READER_WAIT_SECONDS;
    for (size_t waiting = 0, last = 0;; waiting = 0) {
        for (size_t i = 0; i < n; i++) {
            if (outputs[i]->kept) outputs[i]->committed = true;
            if (!outputs[i]->spooled || outputs[i]->committed) continue;
            if (!has_reader(outputs[i])) {
                if (errno != ENXIO && errno != EINTR)
                    return cannot_commit(outputs, n, i, "cannot be written", strerror(errno), err);
                waiting++;
                last = i;
                continue;
            }
            int reason = copy_spool(outputs[i]);
            if (reason != 0) return cannot_commit(outputs, n, i, "cannot be written", strerror(reason), err);
            close_stream(outputs[i]); /* its reader sees the end, and may turn to the next pipe */
            outputs[i]->committed = true;
            deadline = kn_seconds_now() + READER_WAIT_SECONDS;
        }
        if (waiting == 0) break;
        if (kn_seconds_now() > deadline)
            return cannot_commit(outputs, n, last, "nobody reads this pipe", "start its reader first", err);
        KN_TRY(kn_tick(ticker, "waiting for a reader of the output", -1, err));
        nanosleep(&(struct timespec){0, READER_POLL_MS * 1000000L}, NULL);
    }
done:
    return status;
}

/* The umask can only be read by setting it, which other threads would notice; Linux tells it in /proc. */
static mode_t user_umask(void)
{
    unsigned mask;
    char text[4096];
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0) close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *line = strstr(text, "\nUmask:");
    return line != NULL && sscanf(line, "\nUmask: %o", &mask) == 1 ? (mode_t)mask : 077;
}

/* Gives the file a hidden name, if it has none yet; returns 0, or what the system says. */
static int name_hidden(kn_output *output)
{
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS && !output->is_hidden; i++) {
        choose_hidden(output);
        output->is_hidden = linkat(AT_FDCWD, output->path, AT_FDCWD, output->hidden, AT_SYMLINK_FOLLOW) == 0;
        if (!output->is_hidden && errno != EEXIST) return errno;
    }
    return output->is_hidden ? 0 : EEXIST;
}

/* 0, or what the system says. The mode is what the umask allows to a new file. A file that is replaced was perhaps
 * closed to others on purpose: nobody gets at the new one who could not get at the old one. */
static int take_place(kn_output *output)
{
    struct stat old;
    mode_t mode = (output->is_private ? 0600 : 0666) & ~user_umask();
    if (stat(output->target, &old) == 0) mode &= old.st_mode;
    else if (!output->is_hidden) {
        if (fchmod(output->file, mode) != 0) return errno;
        if (linkat(AT_FDCWD, output->path, AT_FDCWD, output->target, AT_SYMLINK_FOLLOW) == 0) return 0;
        if (errno != EEXIST) return errno;
        if (stat(output->target, &old) == 0) mode &= old.st_mode; /* somebody was faster */
    }
    int reason = name_hidden(output);
    if (reason != 0) return reason;
    if (fchmod(output->file, mode) != 0 || rename(output->hidden, output->target) != 0) return errno;
    return 0;
}

/* The name is there; syncing the folder makes it survive a power failure. Some file systems cannot. */
static void sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder);
    close(folder);
}

kn_status kn_outputs_commit(kn_output *const *outputs, size_t n, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < n; i++) KN_TRY(kn_output_sync(outputs[i], err));
    KN_TRY(copy_streams(outputs, n, ticker, err));
    for (size_t i = 0; i < n; i++) {
        if (outputs[i]->spooled) continue;
        int reason = take_place(outputs[i]);
        if (reason != 0) return cannot_commit(outputs, n, i, "cannot be replaced", strerror(reason), err);
        outputs[i]->committed = true;
    }
    for (size_t i = 0; i < n; i++)
        if (!outputs[i]->spooled) sync_folder(outputs[i]->folder);
done:
    return status;
}

kn_status kn_output_kept(char **out, kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    struct stat about;
    *out = NULL;
    if (output == NULL || !output->kept || !output->committed) return KN_OK;
    if (fstat(output->file, &about) != 0) KN_FAIL(KN_INPUT, "a kept text cannot be read: %s", strerror(errno));
    KN_NEW(*out, (size_t)about.st_size + 1);
    for (off_t at = 0; at < about.st_size;) {
        ssize_t n = pread(output->file, *out + at, (size_t)(about.st_size - at), at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) KN_FAIL(KN_INPUT, "a kept text cannot be read: %s", strerror(errno));
        at += n;
    }
done:
    if (status != KN_OK) {
        kn_free(*out);
        *out = NULL;
    }
    return status;
}

void kn_output_discard(kn_output *output)
{
    if (output == NULL) return;
    wait_for_sync(output);
    if (output->is_hidden && !output->committed) unlink(output->hidden);
    if (output->file >= 0) close(output->file);
    close_stream(output);
    kn_free(output->name);
    kn_free(output->target);
    kn_free(output->folder);
    kn_free(output->hidden);
    kn_free(output->buffer);
    kn_free(output);
}

kn_status kn_output_text(const char *target, const char *text, kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *output = NULL;
    KN_TRY(kn_output_open(&output, target, err));
    KN_TRY(kn_output_write(output, text, strlen(text), err));
    KN_TRY(kn_outputs_commit(&output, 1, NULL, err));
done:
    kn_output_discard(output);
    return status;
}
