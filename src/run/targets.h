/* Where a job's results go: opened before any work is done, all complete before the first takes its place. */
#ifndef KN_RUN_TARGETS_H
#define KN_RUN_TARGETS_H

#include "base/files.h"
#include "policy/request.h"
#include "sink/output_file.h"

typedef struct kn_targets kn_targets;

/* What --output is to a job. */
typedef enum kn_output_use {
    KN_OUTPUT_IF_ASKED,
    KN_OUTPUT_STDOUT, /* standard output without it */
    KN_OUTPUT_RELEASE /* the same, but `table:`, or a table in memory as the data, keeps it in memory: no target then */
} kn_output_use;

/* Opens what --output, --report, --json, --schema and --certificate name and guards it in `files`. Refuses targets that
 * are one another, two of them on standard output, and targets that cannot be written. */
kn_status kn_targets_new(kn_targets **out, const kn_request *request, kn_files *files, kn_output_use use,
                         kn_error *err);
void kn_targets_free(kn_targets *targets); /* what was not committed never was */
/* To be written by the job; borrowed. NULL when nobody asked for it. */
kn_output *kn_targets_output(kn_targets *targets, const char *option);
/* All of `text` to --`option`, if anybody asked for it. */
kn_status kn_targets_text(kn_targets *targets, const char *option, const char *text, kn_error *err);
/* What was written until now is on the disk: committing need not wait for it. */
kn_status kn_targets_sync(kn_targets *targets, kn_error *err);
/* What goes to "text:" stays with the result, after kn_targets_commit. */
kn_status kn_targets_keep(kn_targets *targets, kn_result *result, kn_error *err);
/* Everything that was written takes its place, --output last. None of it may be a file that was read. */
kn_status kn_targets_commit(kn_targets *targets, kn_ticker *ticker, kn_error *err);

#endif
