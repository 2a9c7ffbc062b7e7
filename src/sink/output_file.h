/* Files that appear whole or not at all: written without a name beside their targets, readable by nobody else, and
 * given their names only by kn_outputs_commit. Until then the old files stay as they were. Target "-", a pipe or a
 * device is spooled to TMPDIR and copied on commit. Target "text:" is held in memory, for kn_output_kept. */
#ifndef KN_SINK_OUTPUT_FILE_H
#define KN_SINK_OUTPUT_FILE_H

#include "base/memory.h"
#include "base/tick.h"

typedef struct kn_output kn_output;

#define KN_KEPT "text:"
bool kn_is_kept(const char *target);

/* Removes files beside the target that a killed run left there. */
kn_status kn_output_open(kn_output **out, const char *target, kn_error *err);
kn_status kn_output_write(kn_output *output, const void *bytes, size_t n_bytes, kn_error *err); /* buffered */
/* The file can be read back now, and is on its way to the disk; kn_outputs_commit waits until it is there. */
kn_status kn_output_flush(kn_output *output, kn_error *err);
/* All of it is on the disk now. */
kn_status kn_output_sync(kn_output *output, kn_error *err);
/* Nobody but its owner will be able to read the file, whatever the umask. NULL is fine. */
void kn_output_keep_private(kn_output *output);
const char *kn_output_path(const kn_output *output); /* where the bytes are until commit, to be read back */
/* First every file is brought to the disk; then what goes to standard output, pipes and devices is copied there; then
 * the files take their places in the given order, so the most important comes last. When something fails, the message
 * says what was written and what was not. A file gets the mode that the user's umask gives, less what a file it
 * replaces did not allow. A pipe that nobody reads is waited for, some seconds. `ticker` may be NULL. */
kn_status kn_outputs_commit(kn_output *const *outputs, size_t n, kn_ticker *ticker, kn_error *err);
/* What a committed output of the target "text:" holds, yours to kn_free; NULL for every other one. */
kn_status kn_output_kept(char **out, kn_output *output, kn_error *err);
void kn_output_discard(kn_output *output); /* frees; nothing is left of what was not committed. NULL is fine */
/* All of `text` as one file, in one call. */
kn_status kn_output_text(const char *target, const char *text, kn_error *err);

/* For tests: as on a file system without unnamed files. */
kn_status kn_output_open_named(kn_output **out, const char *target, kn_error *err);

#endif
