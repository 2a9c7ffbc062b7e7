/* A file that appears whole or not at all: written beside its target with mode 0600, and synced and renamed over the
 * target only by kn_output_commit. Until then the old file stays as it was. Target "-" is spooled to an unlinked
 * temporary file and copied to stdout on commit. */
#ifndef KN_SINK_OUTPUT_FILE_H
#define KN_SINK_OUTPUT_FILE_H

#include "base/memory.h"

typedef struct kn_output kn_output;

kn_status kn_output_open(kn_output **out, const char *target, kn_error *err);
kn_status kn_output_write(kn_output *output, const void *bytes, size_t n_bytes, kn_error *err); /* buffered */
/* The file can be read back now, and is on its way to the disk; kn_output_commit waits until it is there. */
kn_status kn_output_flush(kn_output *output, kn_error *err);
const char *kn_output_path(const kn_output *output); /* where the bytes are until commit, to be read back */
/* The file gets the mode that the user's umask gives, less what a file it replaces did not allow, and the target's
 * name. */
kn_status kn_output_commit(kn_output *output, kn_error *err);
void kn_output_discard(kn_output *output); /* frees; removes the temporary file unless committed. NULL is fine */
/* True when both names are one file: -o equal to the input is refused. */
bool kn_same_file(const char *a, const char *b);
/* All of `text` as one file, in one call. */
kn_status kn_output_text(const char *target, const char *text, kn_error *err);

#endif
