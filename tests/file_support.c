#include "file_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
/* after its prerequisites */
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char folder[200];

int make_folder(void **state)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/kanon-test-XXXXXX", parent != NULL ? parent : P_tmpdir);
    return mkdtemp(folder) == NULL ? -1 : 0;
}

int remove_folder(void **state)
{
    char command[sizeof folder + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

const char *path_of(const char *name)
{
    static _Thread_local char paths[8][300];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void write_file(const char *path, const char *bytes, size_t n_bytes)
{
    FILE *file = fopen(path, "wb"); /* in place: the name may stand for an open file */
    if (file == NULL) fail_msg("%s: cannot be written", path);
    if (n_bytes != 0) assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

void write_text(const char *path, const char *text) { write_file(path, text, strlen(text)); }

char *read_file(const char *path, size_t *n_bytes)
{
    size_t n = 0, room = 1 << 16;
    char *bytes = malloc(room);
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s: cannot be read", path);
    assert_non_null(bytes);
    for (size_t got; (got = fread(bytes + n, 1, room - n - 1, file)) > 0;) {
        n += got;
        if (room - n < 2) assert_non_null(bytes = realloc(bytes, room *= 2));
    }
    fclose(file);
    bytes[n] = '\0';
    if (n_bytes != NULL) *n_bytes = n;
    return bytes;
}

size_t files_in(const char *path)
{
    size_t n = 0;
    DIR *listing = opendir(path);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return n;
}

size_t open_files(void) { return files_in("/proc/self/fd"); }
