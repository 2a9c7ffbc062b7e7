/* Runs a fuzz target on the files named as arguments, and on those in the folders named: where there is no libFuzzer,
 * and in `make test`, which keeps every seed and every finding of the past. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

static int run_file(const char *path)
{
    static uint8_t bytes[MOST_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    uint8_t *copy = malloc(n != 0 ? n : 1); /* of the exact size, so that a sanitizer sees a step beyond it */
    if (copy == NULL) return 1;
    memcpy(copy, bytes, n);
    fprintf(stderr, "%s\n", path); /* the last line names the one that failed */
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (folder == NULL) failed |= run_file(argv[i]);
        for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
            char path[4096];
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            failed |= run_file(path);
        }
        if (folder != NULL) closedir(folder);
    }
    return failed;
}
