/* Files of the test programs, in a folder of their own. Needs nothing of the library. */
#ifndef KN_TESTS_FILE_SUPPORT_H
#define KN_TESTS_FILE_SUPPORT_H

#include <stddef.h>

/* For cmocka's setup and teardown of a group: a new folder, named `folder`, which goes with all that is in it. */
extern char folder[200];
int make_folder(void **state);
int remove_folder(void **state);
/* folder/name; good for the next seven calls of this thread. */
const char *path_of(const char *name);

void write_file(const char *path, const char *bytes, size_t n_bytes);
void write_text(const char *path, const char *text);
/* What is there, with a 0 byte behind it; yours to free. *n_bytes without that byte; n_bytes may be NULL. */
char *read_file(const char *path, size_t *n_bytes);

size_t files_in(const char *path); /* of a folder, hidden ones too */
size_t open_files(void);           /* of this process */

#endif
