/* The state file: a first line for whoever finds it, a checksum, then the bytes of the search, which know to which data
 * and request they belong (search/cuts/cut_state.c).
 *
 * It is written whole or not at all, readable by its owner alone: now and then while the search runs, so that a machine
 * that stops costs some seconds of work, and when the search ends, however it ends. */
#include "run/run_state.h"

#include "base/files.h"
#include "base/hash.h"
#include "sink/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE    "kanon state 1: private like the data, never to be released\n"
#define CHECKSUM_LINE "checksum %016llx\n"
enum { CHECKSUM_BYTES = 9 + 16 + 1, SECONDS_BETWEEN = 10 };

static kn_status keep(void *user, const kn_buffer *state, kn_error *err)
{
    kn_status status = KN_OK;
    kn_state_file *file = user;
    kn_output *output = NULL;
    char checksum[CHECKSUM_BYTES + 1];
    snprintf(checksum, sizeof checksum, CHECKSUM_LINE, (unsigned long long)kn_checksum_bytes(state->bytes, state->n));
    KN_TRY(kn_output_open(&output, file->path, err));
    kn_output_keep_private(output);
    KN_TRY(kn_output_write(output, FIRST_LINE, strlen(FIRST_LINE), err));
    KN_TRY(kn_output_write(output, checksum, CHECKSUM_BYTES, err));
    KN_TRY(kn_output_write(output, state->bytes, state->n, err));
    KN_TRY(kn_outputs_commit(&output, 1, NULL, err));
done:
    kn_output_discard(output);
    return status;
}

/* All of the file; out->n is 0 where there is none. */
static kn_status read_all(kn_buffer *out, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    int file = -1;
    ssize_t n = 0;
    kn_file_id id;
    KN_TRY(kn_files_open(&file, NULL, path, err));
    if (file < 0 && errno == ENOENT) goto done;
    if (file < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    if (!kn_file_identify(&id, file)) KN_FAIL(KN_INPUT, "%.1000s is no file that a state could be kept in", path);
    do {
        if (!kn_buffer_reserve(out, 1 << 16)) KN_FAIL(KN_RESOURCES, "out of memory");
        n = read(file, out->bytes + out->n, 1 << 16);
        if (n > 0) out->n += (size_t)n;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    if (out->n == 0) KN_FAIL(KN_INPUT, "%.1000s is empty and no state; remove it, or name another file", path);
done:
    if (file >= 0) close(file);
    return status;
}

static kn_status check(kn_state_file *file, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t n_head = strlen(FIRST_LINE) + CHECKSUM_BYTES, n_kind = strcspn(FIRST_LINE, "1");
    const kn_buffer *all = &file->read;
    char checksum[CHECKSUM_BYTES + 1];
    if (all->n < n_kind || memcmp(all->bytes, FIRST_LINE, n_kind) != 0)
        KN_FAIL(KN_INPUT, "%.1000s is no state that kanon saved, and is left as it is; name another file", file->path);
    if (all->n >= n_kind + 2 && memcmp(all->bytes + n_kind, "1:", 2) != 0)
        KN_FAIL(KN_INPUT, "%.1000s was saved by another version of kanon; go on with that one, or name another file",
                file->path);
    if (all->n >= n_head)
        snprintf(checksum, sizeof checksum, CHECKSUM_LINE,
                 (unsigned long long)kn_checksum_bytes(all->bytes + n_head, all->n - n_head));
    if (all->n < n_head || memcmp(all->bytes, FIRST_LINE, strlen(FIRST_LINE)) != 0 ||
        memcmp(all->bytes + strlen(FIRST_LINE), checksum, CHECKSUM_BYTES) != 0)
        KN_FAIL(KN_INPUT, "%.1000s is damaged; remove it, or name another file", file->path);
    file->saved.bytes = all->bytes + n_head;
    file->saved.n_bytes = all->n - n_head;
done:
    return status;
}

kn_status kn_state_file_open(kn_state_file *out, const kn_request *request, const kn_algorithm *algorithm,
                             kn_error *err)
{
    kn_status status = KN_OK;
    kn_output *output = NULL;
    const char *path = out->path = request->state;
    if (path == NULL) goto done;
    if (!algorithm->can_resume)
        KN_FAIL(KN_USAGE, "%s cannot go on where it stopped; k-optimize can (--algorithm k-optimize)", algorithm->name);
    if (strcmp(path, "-") == 0 || kn_is_kept(path)) KN_FAIL(KN_USAGE, "a state is kept in a file; name one");
    KN_TRY(read_all(&out->read, path, err));
    if (out->read.n > 0) KN_TRY(check(out, err));
    KN_TRY(kn_output_open(&output, path, err)); /* what cannot be written is said before the search */
    out->saved.every_seconds = SECONDS_BETWEEN;
    out->saved.name = path;
    out->saved.keep = keep;
    out->saved.user = out;
done:
    kn_output_discard(output);
    return kn_error_about(err, status, KN_PLACE(.option = "state", .file = path));
}

void kn_state_file_close(kn_state_file *file)
{
    kn_buffer_free(&file->read);
    kn_buffer_free(&file->saved.next);
}
