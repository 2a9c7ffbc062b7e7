/* The files of a run. Whatever it reads is opened here, whoever named it: a flag, the policy, a model's parameter. So
 * one place knows every file read, and none of them can be lost to an output; and what can be read only once (a pipe,
 * <(...), standard input) is kept in a file without a name, so that it can be opened as often as any other.
 *
 * A run first tells its targets (kn_files_guard). Opening one of them to read is refused, which is long before the
 * search; kn_files_check looks again before anything is replaced. */
#ifndef KN_BASE_FILES_H
#define KN_BASE_FILES_H

#include "base/tick.h"

#include <sys/types.h>

/* Which file it is, whatever the name that led to it. */
typedef struct kn_file_id {
    dev_t device;
    ino_t inode;
} kn_file_id;

typedef struct kn_files kn_files;

/* `ticker`: reading a pipe can be cancelled; borrowed, may be NULL. */
kn_status kn_files_new(kn_files **out, kn_ticker *ticker, kn_error *err);
void kn_files_free(kn_files *files);
/* `path` is going to be written by --`option`; "-" is standard output. Refuses a path that leads to another target,
 * whether the file exists or not. */
kn_status kn_files_guard(kn_files *files, const char *option, const char *path, kn_error *err);
/* A descriptor that reads `path` ("-": standard input) from its beginning; close it. Where the system cannot open it,
 * *out is -1, errno says why, and the status is KN_OK. Any thread may call it. Without `files` nothing is kept. */
kn_status kn_files_open(int *out, kn_files *files, const char *path, kn_error *err);
/* A regular file that was read before the run began: the policy. */
kn_status kn_files_add(kn_files *files, kn_file_id id, kn_error *err);
/* The same by name, where another library opened it; what is no file is no matter. */
kn_status kn_files_note(kn_files *files, const char *path, kn_error *err);
/* KN_USAGE when a target is a file that was read. */
kn_status kn_files_check(kn_files *files, kn_error *err);

/* The id of a regular file. False for anything else: reading and writing one pipe or /dev/null does no harm. */
bool kn_file_identify(kn_file_id *out, int file);

/* Whether a regular file is there that holds other bytes than these, or that we may not read. An empty one holds
 * nothing that could be lost. */
bool kn_file_differs(const char *path, const char *bytes, size_t n_bytes);

#define KN_FILE_PATH_BYTES 40
/* Where a file that perhaps has no name can be opened again. */
void kn_file_path(char path[KN_FILE_PATH_BYTES], int file);
/* A file without a name in `folder` (NULL: TMPDIR), readable by nobody else. -1 with errno where there can be none. */
int kn_file_unnamed(const char *folder);
/* The same in TMPDIR, and an error that says what to do. */
kn_status kn_file_spool(int *out, kn_error *err);
/* A file to read and to add to at its end, made for its owner alone where there is none. -1 with errno. */
int kn_file_growing(const char *path);

#endif
