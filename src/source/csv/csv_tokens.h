/* Where the cells of a CSV text are: records, cells, quotes, line ends, and what is wrong with them.
 *
 * Grammar: cells are separated by the delimiter, records by LF, CRLF or CR, in any mixture. A cell whose first byte is
 * a quote (with `trim`: after blanks) ends at the next quote that is not doubled, and only the delimiter or a line end
 * may follow; a quote anywhere else is an ordinary character. */
#ifndef KN_SOURCE_CSV_CSV_TOKENS_H
#define KN_SOURCE_CSV_CSV_TOKENS_H

#include "base/buffer.h"
#include "source/dictionary.h"

/* Bytes behind the end of every text that must be readable (their content does not matter). */
#define KN_CSV_PADDING    128
#define KN_CSV_MAX_RECORD ((size_t)256 << 20)

typedef struct kn_csv_dialect {
    char delimiter;
    bool trim;
} kn_csv_dialect;

typedef enum kn_csv_fault_kind {
    KN_CSV_FINE,
    KN_CSV_TOO_FEW,     /* cells in a record */
    KN_CSV_TOO_MANY,    /* cells in a record */
    KN_CSV_AFTER_QUOTE, /* text after a closing quote */
    KN_CSV_OPEN_QUOTE,  /* never closed */
    KN_CSV_BLANK_LINE,  /* nothing but line ends from here to the end of the text */
    KN_CSV_BAD_BYTE     /* NUL, or not UTF-8 */
} kn_csv_fault_kind;

typedef struct kn_csv_fault {
    kn_csv_fault_kind kind;
    uint32_t line;   /* counted from 0 at the start of the text */
    uint32_t column; /* counted from 0; TOO_FEW: number of cells */
    size_t at;       /* byte of the text */
} kn_csv_fault;

/* Which code finds the delimiters; all give the same answers. */
typedef enum kn_csv_kernel { KN_CSV_SCALAR, KN_CSV_SSE2, KN_CSV_AVX2 } kn_csv_kernel;
kn_csv_kernel kn_csv_best_kernel(void);

/* Walks through whole records; the text ends with a line end. */
typedef struct kn_csv_walk {
    const char *text;
    kn_buffer *unescaped; /* emptied for every call of kn_csv_walk_rows; check its `failed` */
    size_t n_bytes;
    kn_csv_dialect dialect;
    kn_csv_kernel kernel;
    uint32_t n_columns;
    size_t at;       /* next record */
    uint32_t line;   /* its line */
    uint32_t n_crlf; /* records that ended so */
    kn_csv_fault fault;
} kn_csv_walk;

/* Up to max_rows records: cells[column * max_rows + row], lines[row]. Returns how many; fewer than max_rows at the end
 * of the text or before a fault. */
uint32_t kn_csv_walk_rows(kn_csv_walk *walk, kn_text_cell *cells, uint32_t *lines, uint32_t max_rows);

/* One record of unknown width, for headers and detection. Returns the number of cells; *n_bytes is its length with the
 * line end, 0 when the text ends before the record does. `cells` may be NULL; the text is not changed, so a quoted cell
 * still has its quotes doubled. */
uint32_t kn_csv_record(const char *text, size_t n, kn_csv_dialect dialect, kn_text_cell *cells, uint32_t max_cells,
                       size_t *n_bytes, kn_csv_fault *fault);
/* In which cell of the record that starts with `text` its byte `at` lies. */
uint32_t kn_csv_column_at(const char *text, size_t at, kn_csv_dialect dialect);
uint32_t kn_csv_unescape(char *cell, uint32_t n_bytes); /* doubled quotes become single ones; the new length */

/* Finds ends of records without parsing: see kn_csv_split. */
typedef struct kn_csv_splitter {
    const char *text;
    size_t n_bytes;
    kn_csv_dialect dialect;
    size_t at;   /* every quote before was seen */
    size_t skip; /* quotes before belong to a doubled one */
    kn_csv_kernel kernel;
    bool inside;     /* a quoted cell */
    bool has_quotes; /* false: no quote in the text, every line end ends a record */
} kn_csv_splitter;

/* The text is padded. */
void kn_csv_splitter_start(kn_csv_splitter *splitter, const char *text, size_t n_bytes, kn_csv_dialect dialect,
                           kn_csv_kernel kernel);
/* The first end of a record at or after byte `wanted` (calls go upwards); 0 when there is none in the text. `is_last`:
 * no text follows, so a CR at the very end is a line end. */
size_t kn_csv_split(kn_csv_splitter *splitter, size_t wanted, bool is_last);

#endif
