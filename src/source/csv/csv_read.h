/* CSV in: bytes to encoded columns, in parallel.
 *
 * Cells keep their bytes. Records end with LF, CRLF or CR; a blank line is a fault, except at the end of the file, and
 * except in a table of one column, where it is an empty cell. A byte order mark wins over the encoding that was asked
 * for. How columns get their types and which cells are missing: table/infer.h.
 *
 * Two steps, because roles depend on the header and columns that are not needed are not stored:
 *   kn_csv_open(&reader, ...)           reads the header, detects delimiter and encoding
 *   (look at kn_csv_column_name, decide roles and types)
 *   kn_csv_read(&table, reader, plans, ...)
 * kn_csv_close(reader) */
#ifndef KN_SOURCE_CSV_CSV_READ_H
#define KN_SOURCE_CSV_CSV_READ_H

#include "base/files.h"
#include "source/source.h"

/* Strings are borrowed until kn_csv_close. */
typedef struct kn_csv_options {
    char delimiter;           /* '\0': detect among , ; tab | */
    bool no_header;           /* columns are then named column1, column2, ... */
    const char *const *names; /* ... or so, the first of them; NULL: by their numbers */
    uint32_t n_names;
    bool trim;            /* blanks around cells are removed, inside quotes too; a quote after blanks opens a cell */
    kn_encoding encoding; /* UTF8 also takes UTF-16 with a byte order mark */
    const char *const *null_values; /* spellings of a missing cell besides the empty one */
    size_t n_null_values;
    kn_decimal_asked decimal;
    bool invalid_is_missing; /* cells that a declared type does not fit */
    bool redact;             /* no values in messages, and columns by their numbers: a header may be data */
    bool guarded_names;      /* a release with --guard-formulas: the ' before a name is not part of it */
    const char *name;        /* what messages call the table; NULL: its path */
    kn_files *files;         /* of the run; may be NULL */
} kn_csv_options;

typedef struct kn_csv_reader kn_csv_reader;

kn_status kn_csv_open(kn_csv_reader **out, const char *path /* "-": stdin */, const kn_csv_options *options,
                      kn_error *err);
void kn_csv_close(kn_csv_reader *reader);
uint32_t kn_csv_n_columns(const kn_csv_reader *reader);
const char *kn_csv_column_name(const kn_csv_reader *reader, uint32_t column);

/* `plans`: one per column. The table's codes do not depend on the number of threads. */
kn_status kn_csv_read(kn_table **out, kn_csv_reader *reader, const kn_column_plan *plans, kn_pool *pool,
                      kn_ticker *ticker, kn_error *err);

/* As detected; the line end is that of most lines, once they were read. */
kn_text_form kn_csv_form(const kn_csv_reader *reader);

extern const kn_source_type kn_source_csv; /* its reader is a kn_csv_reader */

#endif
