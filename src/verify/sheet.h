/* A table as verify/ reads it: per column a dictionary of the texts that occur and one narrow code per row.
 *
 * The two readers, of CSV files and of tables in memory (sheet_arrow.c), which is also what DuckDB makes of its files,
 * know nothing of roles and share no code with source/. Files are read in blocks with read(), never as a mapping: a
 * file that somebody truncates meanwhile ends early, it does not crash us. */
#ifndef KN_VERIFY_SHEET_H
#define KN_VERIFY_SHEET_H

#include "base/files.h"
#include "duckdb/duckdb.h"
#include "base/tick.h"
#include "table/batches.h"
#include "table/table.h"
#include "table/text_form.h"

#define KN_CHUNK_BITS 16 /* rows per chunk of codes: a chunk is as wide as the dictionary was when it was full */
#define KN_CHUNK_ROWS ((size_t)1 << KN_CHUNK_BITS)

typedef struct kn_sheet_column {
    char *name;
    bool stored;      /* the others are parsed and forgotten */
    uint32_t n_texts; /* codes are 0 .. n_texts-1 in order of appearance */
    char *bytes;
    size_t n_bytes, bytes_capacity;
    uint64_t *offset; /* n_texts + 1 */
    uint32_t *hash;   /* n_texts */
    size_t texts_capacity;
    uint32_t *slots; /* open addressing, KN_NONE where free; a power of two of them */
    size_t n_slots;
    void **chunks;
    uint8_t *chunk_width; /* 1, 2 or 4 bytes per code; 8: fingerprints */
    size_t n_chunks, chunks_capacity;
} kn_sheet_column;

/* From `row` on, lines are `extra` more than one per row: cells that hold line ends. */
typedef struct kn_line_shift {
    uint32_t row;
    uint64_t extra;
} kn_line_shift;

typedef struct kn_sheet {
    uint32_t n_rows, n_columns;
    kn_sheet_column *columns;
    bool has_header;
    const char *bare_name; /* of `guarded_names` the first that is a formula without its guard; NULL: none */
    KN_VECTOR(kn_line_shift) shifts;
    char *problem; /* why the file is no well-formed table, with its line; NULL when it is one */
} kn_sheet;

typedef struct kn_sheet_options {
    const char *path, *name;   /* name: for messages */
    kn_file_kind kind;         /* of the file */
    const kn_batches *batches; /* a table in memory instead of the file; NULL: the file */
    const char *null_text;     /* what a null of it stands for; NULL: the empty text */
    bool only_used;            /* a dictionary of it that holds what no row has is a problem: it would leave, too */
    char delimiter;            /* '\0': the one of , ; tab | that gives the expected columns, or most columns */
    bool no_header, trim;
    kn_encoding encoding;        /* of a file without a byte order mark */
    bool guarded_names;          /* a ' before a name that would be a formula is not part of it */
    const char *const *expected; /* names the header should have */
    size_t n_expected;
    /* Is this column's text needed? */
    bool (*wants)(const void *context, uint32_t index, const char *name);
    /* Columns whose cells keep the blanks around them where the others are trimmed; NULL: none. `name` is NULL in a
     * file without a header. */
    bool (*keeps_blanks)(const void *context, uint32_t index, const char *name);
    /* A column of which only equality matters and that may be nearly unique: instead of a dictionary it gets a
     * fingerprint of 64 bits per row, made by this function. KN_NONE: none. */
    uint32_t fingerprint_column;
    uint64_t (*fingerprint)(const void *context, const char *bytes, size_t n_bytes);
    const void *context;
    kn_files *files; /* of the run; may be NULL */
    kn_ticker *ticker;
    bool redact;        /* what DuckDB says of a file that it cannot read */
    unsigned n_threads; /* that it may use; 0: as many as there are cores */
} kn_sheet_options;

/* KN_INPUT when the file cannot be opened or read. A file that is no table is KN_OK with `problem` set and no rows. */
kn_status kn_sheet_read(kn_sheet **out, const kn_sheet_options *options, kn_error *err);
/* The same for a table in memory. */
kn_status kn_sheet_of_batches(kn_sheet **out, const kn_sheet_options *options, kn_error *err);
/* The next chunk of a column: n codes, or, where `codes` is NULL, fingerprints. */
kn_status kn_sheet_pack(kn_sheet_column *column, const uint32_t *codes, const uint64_t *fingerprints, size_t n,
                        kn_error *err);
void kn_sheet_free(kn_sheet *cells);
uint32_t kn_sheet_find(const kn_sheet *cells, const char *name); /* column index, or KN_NONE */
uint64_t kn_sheet_line(const kn_sheet *cells, uint32_t row);     /* line of the file on which a row starts */

uint32_t kn_text_find(const kn_sheet_column *column, const char *bytes, size_t n_bytes); /* code, or KN_NONE */
/* Texts become shorter ones: `shorten` writes the new text, no longer than the old one and than 64 bytes, and returns
 * its length; SIZE_MAX: it stays as it is. Codes stay; of texts that are then equal the first is found. */
void kn_texts_shorten(kn_sheet_column *column,
                      size_t (*shorten)(const void *context, char *out, const char *bytes, size_t n_bytes),
                      const void *context);
/* Adds a text that no row has, or finds it. */
kn_status kn_text_add(uint32_t *code, kn_sheet_column *column, const char *bytes, size_t n_bytes, kn_error *err);
/* Twice as many slots of a hash table (n_first of none), with 0 .. n_hashed-1 put where their hashes say. */
kn_status kn_slots_grow(uint32_t **slots, size_t *n_slots, size_t n_first, const uint32_t *hash, uint32_t n_hashed,
                        kn_error *err);
/* How many rows a chunk of it has at most. */
static inline size_t kn_sheet_chunk_rows(const kn_sheet *cells)
{
    return cells->n_rows < KN_CHUNK_ROWS ? cells->n_rows : KN_CHUNK_ROWS;
}
/* Codes of rows chunk * KN_CHUNK_ROWS and following; returns how many. */
size_t kn_chunk_unpack(uint32_t *codes, const kn_sheet *cells, uint32_t column, size_t chunk);

static inline const char *kn_text(const kn_sheet_column *column, uint32_t code, size_t *n_bytes)
{
    *n_bytes = (size_t)(column->offset[code + 1] - column->offset[code]);
    return column->bytes + column->offset[code];
}

static inline uint64_t kn_sheet_fingerprint(const kn_sheet_column *column, uint32_t row)
{
    return ((const uint64_t *)column->chunks[row >> KN_CHUNK_BITS])[row & (KN_CHUNK_ROWS - 1)];
}

static inline uint32_t kn_sheet_code(const kn_sheet_column *column, uint32_t row)
{
    const void *chunk = column->chunks[row >> KN_CHUNK_BITS];
    size_t at = row & (KN_CHUNK_ROWS - 1);
    switch (column->chunk_width[row >> KN_CHUNK_BITS]) {
    case 1: return ((const uint8_t *)chunk)[at];
    case 2: return ((const uint16_t *)chunk)[at];
    default: return ((const uint32_t *)chunk)[at];
    }
}

static inline void kn_sheet_prefetch(const kn_sheet_column *column, uint32_t row)
{
    const char *chunk = column->chunks[row >> KN_CHUNK_BITS];
    __builtin_prefetch(chunk + (row & (KN_CHUNK_ROWS - 1)) * column->chunk_width[row >> KN_CHUNK_BITS]);
}

#endif
