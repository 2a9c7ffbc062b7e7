/* SHA-256 (FIPS 180-4), so that a report names the very files it speaks of. */
#ifndef KN_BASE_SHA256_H
#define KN_BASE_SHA256_H

#include "base/status.h"

#include <stdint.h>

typedef struct kn_sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    uint8_t block[64];
} kn_sha256;

#define KN_SHA256_HEX 65 /* with the closing NUL */

void kn_sha256_begin(kn_sha256 *hash);
void kn_sha256_add(kn_sha256 *hash, const void *bytes, size_t n_bytes);
void kn_sha256_end(char hex[KN_SHA256_HEX], kn_sha256 *hash);
/* KN_INPUT when the file cannot be read. */
kn_status kn_sha256_file(char hex[KN_SHA256_HEX], const char *path, kn_error *err);

#endif
