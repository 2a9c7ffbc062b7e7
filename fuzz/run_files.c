/* Runs a fuzz target on the files named as arguments, where there is no libFuzzer. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            perror(argv[i]);
            return 1;
        }
        static uint8_t bytes[1 << 20];
        size_t n = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        uint8_t *copy = malloc(n != 0 ? n : 1); /* of the exact size, so that a sanitizer sees a step beyond it */
        if (copy == NULL) return 1;
        for (size_t j = 0; j < n; j++) copy[j] = bytes[j];
        LLVMFuzzerTestOneInput(copy, n);
        free(copy);
    }
    return 0;
}
