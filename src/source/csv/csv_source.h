/* The bytes of a CSV file as UTF-8: opened, read in order, decoded, the byte order mark removed. */
#ifndef KN_SOURCE_CSV_CSV_SOURCE_H
#define KN_SOURCE_CSV_CSV_SOURCE_H

#include "base/tick.h"
#include "source/csv/csv_read.h"

typedef struct kn_csv_source {
    const char *name; /* for messages; borrowed */
    int file;
    enum { KN_BYTES_UTF8, KN_BYTES_LATIN1, KN_BYTES_UTF16_LE, KN_BYTES_UTF16_BE } bytes;
    bool at_end;
    bool line_open;     /* the last byte handed out did not end a line */
    unsigned char *raw; /* not yet decoded */
    size_t n_raw, raw_capacity;
    atomic_uint_fast64_t n_read; /* bytes read from the file; other threads look at it to tell the progress */
    uint64_t size_bytes;         /* of a regular file; 0: unknown */
    unsigned bom_bytes;
} kn_csv_source;

/* `path` "-" is stdin; `files` may be NULL. A byte order mark decides the encoding, whatever was asked. */
kn_status kn_csv_source_open(kn_csv_source *out, const char *path, kn_encoding encoding, kn_files *files,
                             kn_error *err);
void kn_csv_source_close(kn_csv_source *source);
/* Fills `out` with up to `capacity` (at least 32) bytes of UTF-8; less only at the end of the file, which gets a line
 * feed if its last line has none. What cannot be decoded from UTF-16 becomes bytes that are not valid UTF-8, so that
 * the validation of the text finds it and knows its place. */
kn_status kn_csv_source_read(kn_csv_source *source, char *out, size_t capacity, size_t *n_bytes, kn_ticker *ticker,
                             kn_error *err);
/* What a buffer of n_bytes may be cut to: where the whole file, decoded, fits into less. */
size_t kn_csv_source_bound(const kn_csv_source *source, size_t n_bytes);
double kn_csv_source_fraction(const kn_csv_source *source); /* read so far; negative: unknown */

#endif
