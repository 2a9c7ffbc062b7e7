/* The first records of a CSV text: which delimiter it uses and how its columns are called. */
#ifndef KN_SOURCE_CSV_CSV_HEADER_H
#define KN_SOURCE_CSV_CSV_HEADER_H

#include "source/csv/csv_read.h"
#include "source/csv/csv_tokens.h"

/* The candidate (, ; tab |) that cuts most records into as many cells as the first one, which needs at least two; among
 * equals the one with more cells, then in that order. ',' when no candidate cuts the first record. Looks at the
 * whole records among the first thousand of `text`. */
char kn_csv_detect_delimiter(const char *text, size_t n_bytes, bool trim);

/* A first line `sep=;`, which Excel writes and reads: how long it is with its line end, 0 where there is none. */
size_t kn_csv_separator_line(char *delimiter, const char *text, size_t n_bytes);

typedef struct kn_csv_header {
    uint32_t n_columns;
    char **names;
    size_t n_bytes;   /* before the first row: of the header record, none with `no_header`, and of a line `sep=;` */
    uint32_t n_lines; /* of these */
    uint32_t n_unnamed, first_unnamed;
} kn_csv_header;

/* `text` holds the first record whole, or all of the file. `source` is for messages. */
kn_status kn_csv_header_read(kn_csv_header *out, const char *text, size_t n_bytes, kn_csv_dialect dialect,
                             const kn_csv_options *options, const char *source, kn_error *err);
void kn_csv_header_free(kn_csv_header *header);

#endif
