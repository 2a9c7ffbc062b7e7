/* The reader of verify/: bytes -> dictionaries and codes, in one pass and one thread (each file is a job of its own).
 *
 * RFC 4180 with LF, CRLF or CR as line end. A cell that starts with a quote ends with one, two quotes inside stand for
 * one, and after the closing quote only a delimiter or a line end may follow. A quote elsewhere is literal. Empty
 * lines may only end the file, except in a table of one column, where they are an empty cell. A byte order mark is
 * skipped; UTF-16 with one, and Latin-1 when told so, become UTF-8 before anything else looks at the bytes.
 *
 * Cost: the bytes once for finding the cells, once for hashing them, eight at a time: cells are short and of any
 * length, so what is done with a cell of up to 16 bytes has no branch that depends on its length. Memory: codes of 1, 2
 * or 4 bytes, the distinct texts, and a buffer of 512 KiB or twice the largest cell. */
#include "verify/sheet_dictionary.h"

#include "base/buffer.h"
#include "base/formula.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 18, LEAST_BYTES = 64, FIRST_ROWS = 256, TELLING_BYTES = 1 << 10 };
enum { MOST_DECODED = 3 }; /* bytes that a byte of Latin-1 becomes; one of UTF-16 fewer */

/* --- Bytes ----------------------------------------------------------------------------------------------------- */

typedef enum text_form { FORM_BYTES, FORM_LATIN1, FORM_UTF16_LITTLE, FORM_UTF16_BIG } text_form;

typedef struct source {
    int file;
    const char *name;
    char *buffer;                  /* UTF-8, the bytes not yet consumed are at .. n-1 */
    size_t at, n, capacity, block; /* block: bytes read at a time, fewer of a small file */
    unsigned char *raw;            /* before decoding; only for forms that need it */
    size_t n_raw;
    text_form form;
    bool at_end, trim;
    char delimiter;
    uint64_t line;
    bool ends[256]; /* bytes that end an unquoted cell */
} source;

static kn_status read_some(size_t *n_read, source *in, void *bytes, size_t capacity, kn_error *err)
{
    for (;;) {
        ssize_t n = read(in->file, bytes, capacity);
        if (n >= 0) {
            *n_read = (size_t)n;
            return KN_OK;
        }
        if (errno != EINTR) return kn_error_set(err, KN_INPUT, "cannot read %s: %s", in->name, strerror(errno));
    }
}

static size_t put_utf8(char *to, uint32_t point)
{
    if (point < 0x80) return (to[0] = (char)point), (size_t)1;
    if (point < 0x800) {
        to[0] = (char)(0xc0 | point >> 6);
        to[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = (char)(0xe0 | point >> 12);
        to[1] = (char)(0x80 | (point >> 6 & 0x3f));
        to[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | point >> 18);
    to[1] = (char)(0x80 | (point >> 12 & 0x3f));
    to[2] = (char)(0x80 | (point >> 6 & 0x3f));
    to[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

/* Files called Latin-1 are those of Windows, which has signs where Latin-1 has only controls. */
static uint32_t windows_point(unsigned char byte)
{
    static const struct {
        unsigned char byte;
        uint16_t point;
    } signs[] = {{0x80, 0x20ac}, {0x82, 0x201a}, {0x83, 0x0192}, {0x84, 0x201e}, {0x85, 0x2026}, {0x86, 0x2020},
                 {0x87, 0x2021}, {0x88, 0x02c6}, {0x89, 0x2030}, {0x8a, 0x0160}, {0x8b, 0x2039}, {0x8c, 0x0152},
                 {0x8e, 0x017d}, {0x91, 0x2018}, {0x92, 0x2019}, {0x93, 0x201c}, {0x94, 0x201d}, {0x95, 0x2022},
                 {0x96, 0x2013}, {0x97, 0x2014}, {0x98, 0x02dc}, {0x99, 0x2122}, {0x9a, 0x0161}, {0x9b, 0x203a},
                 {0x9c, 0x0153}, {0x9e, 0x017e}, {0x9f, 0x0178}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs && byte >= 0x80 && byte < 0xa0; i++)
        if (signs[i].byte == byte) return signs[i].point;
    return byte;
}

/* Decodes what is in `raw` and leaves there what is not yet a whole character. */
static void decode(source *in)
{
    size_t at = 0;
    while (at < in->n_raw) {
        uint32_t point;
        if (in->form == FORM_LATIN1) {
            point = windows_point(in->raw[at++]);
        } else {
            int high = in->form == FORM_UTF16_BIG ? 0 : 1;
            if (in->n_raw - at < 2) break;
            point = (uint32_t)in->raw[at + (size_t)high] << 8 | in->raw[at + 1 - (size_t)high];
            if (point >= 0xd800 && point < 0xdc00) {
                if (in->n_raw - at < 4) break;
                uint32_t low = (uint32_t)in->raw[at + 2 + (size_t)high] << 8 | in->raw[at + 3 - (size_t)high];
                point = 0x10000 + ((point & 0x3ff) << 10 | (low & 0x3ff));
                at += 2;
            }
            at += 2;
        }
        in->n += put_utf8(in->buffer + in->n, point);
    }
    memmove(in->raw, in->raw + at, in->n_raw - at);
    in->n_raw -= at;
}

/* More bytes behind the ones not yet consumed, which move to the front. */
static kn_status refill(source *in, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_read = 0;
    memmove(in->buffer, in->buffer + in->at, in->n - in->at);
    in->n -= in->at;
    in->at = 0;
    if (in->capacity - in->n < in->block * (in->form == FORM_BYTES ? (size_t)1 : MOST_DECODED)) {
        size_t capacity = in->capacity * 2 + 2 * in->block;
        char *buffer = kn_array_resize(in->buffer, capacity + KN_SHORT_TEXT, 1, err);
        if (buffer == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        in->buffer = buffer;
        in->capacity = capacity;
    }
    if (in->form == FORM_BYTES) {
        KN_TRY(read_some(&n_read, in, in->buffer + in->n, in->capacity - in->n, err));
        in->n += n_read;
    } else {
        KN_TRY(read_some(&n_read, in, in->raw + in->n_raw, in->block - in->n_raw, err));
        in->n_raw += n_read;
        decode(in);
    }
    in->at_end = n_read == 0;
done:
    return status;
}

static void close_source(source *in)
{
    if (in->file >= 0) close(in->file);
    kn_free(in->buffer);
    kn_free(in->raw);
}

/* UTF-16 without a mark: what separates cells and lines has a zero for its high byte. */
static text_form form_of_pairs(const unsigned char *bytes, size_t n)
{
    size_t n_little = 0, n_big = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (bytes[i] == 0) n_big++;
        if (bytes[i + 1] == 0) n_little++;
    }
    return n_big > n_little ? FORM_UTF16_BIG : FORM_UTF16_LITTLE;
}

static kn_status open_source(source *in, const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    struct stat about;
    *in = (source){.file = -1, .name = options->name, .line = 1, .trim = options->trim, .block = BLOCK_BYTES};
    KN_TRY(kn_files_open(&in->file, options->files, options->path, err));
    if (in->file < 0) KN_FAIL(KN_INPUT, "cannot open %s: %s", options->name, strerror(errno));
    if (fstat(in->file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 &&
        about.st_size < BLOCK_BYTES - LEAST_BYTES)
        in->block = (size_t)about.st_size + LEAST_BYTES;
    in->capacity = 2 * in->block;
    KN_NEW(in->buffer, in->capacity + KN_SHORT_TEXT);
    while (!in->at_end && in->n < TELLING_BYTES) KN_TRY(refill(in, err));
    in->at_end = false;
    const unsigned char *mark = (const unsigned char *)in->buffer;
    if (in->n >= 3 && mark[0] == 0xef && mark[1] == 0xbb && mark[2] == 0xbf) {
        in->at = 3;
    } else if (in->n >= 2 && ((mark[0] == 0xff && mark[1] == 0xfe) || (mark[0] == 0xfe && mark[1] == 0xff))) {
        in->form = mark[0] == 0xff ? FORM_UTF16_LITTLE : FORM_UTF16_BIG;
        in->at = 2;
    } else if (options->encoding == KN_ENCODING_LATIN1) {
        in->form = FORM_LATIN1;
    } else if (options->encoding == KN_ENCODING_UTF16) {
        in->form = form_of_pairs(mark, in->n < TELLING_BYTES ? in->n : (size_t)TELLING_BYTES);
    }
    if (in->form != FORM_BYTES) { /* what was read already is raw */
        size_t n_first = in->n - in->at;
        KN_NEW_RAW(in->raw, in->capacity + in->block);
        memcpy(in->raw, in->buffer + in->at, n_first);
        in->n_raw = n_first;
        in->at = in->n = 0;
        char *buffer = kn_array_resize(in->buffer, n_first * MOST_DECODED + 4 * in->block + KN_SHORT_TEXT, 1, err);
        if (buffer == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        in->buffer = buffer;
        in->capacity = n_first * MOST_DECODED + 4 * in->block;
        decode(in);
    }
done:
    return status;
}

/* --- Cells of a line ------------------------------------------------------------------------------------------- */

typedef enum cell_end { END_DELIMITER, END_LINE, END_FILE, END_UNKNOWN } cell_end;

typedef struct cell {
    const char *bytes;
    size_t n_bytes, next; /* next: where the source goes on */
    cell_end end;         /* END_UNKNOWN: the buffer ends before the cell does */
    bool quoted;
    uint64_t n_line_ends; /* inside the quotes */
    const char *problem;
} cell;

/* What ends a cell at `p`; *next is behind it. */
static cell_end end_of_cell(const source *in, const char *p, size_t *next)
{
    const char *end = in->buffer + in->n;
    *next = (size_t)(p - in->buffer) + 1;
    if (p == end) {
        *next = in->n;
        return in->at_end ? END_FILE : END_UNKNOWN;
    }
    if (*p == in->delimiter) return END_DELIMITER;
    if (*p == '\n') return END_LINE;
    if (p + 1 == end && !in->at_end) return END_UNKNOWN; /* CR, or CR LF? */
    if (p + 1 < end && p[1] == '\n') ++*next;
    return END_LINE;
}

/* Two quotes become one, in place: only once the whole cell is in the buffer. */
static size_t undouble(char *bytes, size_t n_bytes)
{
    char *quote = memchr(bytes, '"', n_bytes);
    if (quote == NULL) return n_bytes;
    char *to = quote;
    for (const char *from = quote, *end = bytes + n_bytes; from < end; from++) {
        *to++ = *from;
        if (*from == '"') from++;
    }
    return (size_t)(to - bytes);
}

static bool is_blank(const source *in, char c) { return (c == ' ' || c == '\t') && c != in->delimiter; }

static cell quoted_cell(source *in, const char *quote)
{
    cell found = {.quoted = true, .end = END_UNKNOWN};
    const char *start = quote + 1, *p = start, *end = in->buffer + in->n;
    for (;; p += 2) {
        p = memchr(p, '"', (size_t)(end - p));
        if (p == NULL) {
            if (in->at_end) found.problem = "a quote is opened and never closed";
            return found;
        }
        if (p + 1 == end && !in->at_end) return found;
        if (p + 1 == end || p[1] != '"') break;
    }
    const char *after = p + 1;
    found.bytes = start;
    found.n_bytes = (size_t)(p - start);
    while (in->trim && after < end && is_blank(in, *after)) after++;
    if (after < end && *after != in->delimiter && *after != '\n' && *after != '\r') {
        found.problem = "text after a closing quote";
        return found;
    }
    found.end = end_of_cell(in, after, &found.next);
    if (found.end == END_UNKNOWN) return found;
    for (const char *q = start; q < p; q++) {
        if (*q == '\n' || (*q == '\r' && q[1] != '\n')) found.n_line_ends++;
        if (*q == '\0') found.problem = "a NUL byte";
    }
    found.n_bytes = undouble(in->buffer + (start - in->buffer), found.n_bytes);
    return found;
}

static inline cell cell_at_hand(source *in)
{
    const char *start = in->buffer + in->at, *end = in->buffer + in->n, *p = start;
    while (in->trim && p < end && is_blank(in, *p)) p++;
    if (p < end && *p == '"') return quoted_cell(in, p);
    while (p < end && !in->ends[(unsigned char)*p]) p++;
    cell found = {.bytes = start, .n_bytes = (size_t)(p - start)};
    if (p < end && *p == '\0') {
        found.problem = "a NUL byte";
        return found;
    }
    if (p < end && *p == in->delimiter) {
        found.next = (size_t)(p - in->buffer) + 1;
        found.end = END_DELIMITER;
        return found;
    }
    found.end = end_of_cell(in, p, &found.next);
    return found;
}

static void trim_cell(cell *found)
{
    while (found->n_bytes > 0 && (*found->bytes == ' ' || *found->bytes == '\t')) found->bytes++, found->n_bytes--;
    while (found->n_bytes > 0 && (found->bytes[found->n_bytes - 1] == ' ' || found->bytes[found->n_bytes - 1] == '\t'))
        found->n_bytes--;
}

/* The next cell; refills as often as it takes. */
static kn_status next_cell(cell *out, source *in, kn_error *err)
{
    kn_status status = KN_OK;
    for (;;) {
        *out = cell_at_hand(in);
        if (out->problem != NULL || out->end != END_UNKNOWN) break;
        KN_TRY(refill(in, err));
    }
    in->at = out->next;
    if (in->trim) trim_cell(out);
done:
    return status;
}

/* --- The table ------------------------------------------------------------------------------------------------- */

typedef struct table_reader {
    source in;
    const kn_sheet_options *options;
    kn_sheet *cells;
    uint32_t **pending;     /* per stored column the codes of the chunk being filled */
    uint64_t *fingerprints; /* of the chunk being filled */
    bool *trims;            /* per column */
    size_t n_pending, room; /* rows of it */
    uint64_t empty_line;    /* the first one that only the end of the file may follow; 0: none */
    size_t above;           /* the plain row above: where it is in the buffer; SIZE_MAX: there is none */
    size_t *ends;           /* ... and where its cells end, behind its beginning */
} table_reader;

static kn_status note_problem(kn_sheet *cells, const char *name, uint64_t line, const char *what, kn_error *err)
{
    kn_buffer text = {0};
    kn_buffer_printf(&text, "%s, line %llu: %s", name, (unsigned long long)line, what);
    kn_free(cells->problem);
    return kn_buffer_finish(&cells->problem, &text, err);
}

kn_status kn_sheet_pack(kn_sheet_column *column, const uint32_t *codes, const uint64_t *fingerprints, size_t n,
                        kn_error *err)
{
    kn_status status = KN_OK;
    if (column->n_chunks == column->chunks_capacity) {
        size_t capacity = column->chunks_capacity * 2 + 8;
        void *moved = kn_array_resize(column->chunks, capacity, sizeof *column->chunks, err);
        if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->chunks = moved;
        moved = kn_array_resize(column->chunk_width, capacity, 1, err);
        if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->chunk_width = moved;
        column->chunks_capacity = capacity;
    }
    uint8_t width = codes == NULL ? 8 : column->n_texts <= 1u << 8 ? 1 : column->n_texts <= 1u << 16 ? 2 : 4;
    void *chunk = kn_array_alloc_raw(n, width, err);
    if (chunk == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    if (codes == NULL) memcpy(chunk, fingerprints, n * sizeof *fingerprints);
    for (size_t i = 0; codes != NULL && i < n; i++) switch (width) {
        case 1: ((uint8_t *)chunk)[i] = (uint8_t)codes[i]; break;
        case 2: ((uint16_t *)chunk)[i] = (uint16_t)codes[i]; break;
        default: ((uint32_t *)chunk)[i] = codes[i]; break;
        }
    column->chunks[column->n_chunks] = chunk;
    column->chunk_width[column->n_chunks++] = width;
done:
    return status;
}

static kn_status pack_chunk(table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    if (reader->n_pending == 0) goto done;
    for (uint32_t c = 0; c < reader->cells->n_columns; c++)
        if (reader->cells->columns[c].stored)
            KN_TRY(kn_sheet_pack(&reader->cells->columns[c], reader->pending[c], reader->fingerprints,
                                 reader->n_pending, err));
    reader->n_pending = 0;
done:
    return status;
}

static kn_status grow_chunk(table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t room = reader->room == 0 ? FIRST_ROWS : 4 * reader->room;
    reader->room = room < KN_CHUNK_ROWS ? room : KN_CHUNK_ROWS;
    for (uint32_t c = 0; c < reader->cells->n_columns; c++) {
        if (reader->options->fingerprint != NULL && c == reader->options->fingerprint_column)
            KN_GROW(reader->fingerprints, reader->room);
        else if (reader->cells->columns[c].stored) KN_GROW(reader->pending[c], reader->room);
    }
done:
    return status;
}

size_t kn_chunk_unpack(uint32_t *codes, const kn_sheet *cells, uint32_t column, size_t chunk)
{
    const kn_sheet_column *from = &cells->columns[column];
    size_t n = cells->n_rows - chunk * KN_CHUNK_ROWS;
    if (n > KN_CHUNK_ROWS) n = KN_CHUNK_ROWS;
    const void *packed = from->chunks[chunk];
    switch (from->chunk_width[chunk]) {
    case 1:
        for (size_t i = 0; i < n; i++) codes[i] = ((const uint8_t *)packed)[i];
        break;
    case 2:
        for (size_t i = 0; i < n; i++) codes[i] = ((const uint16_t *)packed)[i];
        break;
    default: memcpy(codes, packed, n * sizeof *codes); break;
    }
    return n;
}

static inline kn_status store_cell(table_reader *reader, uint32_t c, const kn_text_key *k, kn_error *err)
{
    if (c == reader->options->fingerprint_column && reader->options->fingerprint != NULL) {
        reader->fingerprints[reader->n_pending] =
            reader->options->fingerprint(reader->options->context, k->bytes, k->n_bytes);
        return KN_OK;
    }
    return kn_text_code(&reader->pending[c][reader->n_pending], &reader->cells->columns[c], k, err);
}

/* The first byte from `at` on that ends an unquoted cell, or the end of the buffer. Delimiters and what is below 14 are
 * looked for in eight bytes at a time; the lowest mark is always true. */
static inline const char *find_end(const source *in, const char *at, const char *end)
{
    const uint64_t ones = UINT64_MAX / 255, delimiters = ones * (unsigned char)in->delimiter;
    while (at < end) {
        uint64_t word = kn_load8(at), other = word ^ delimiters;
        uint64_t marks = (((other - ones) & ~other) | ((word - ones * 14) & ~word)) & ones << 7;
        if (marks == 0) {
            at += 8;
            continue;
        }
        at += __builtin_ctzll(marks) / 8;
        if (at < end && in->ends[(unsigned char)*at]) return at;
        at++;
    }
    return end;
}

/* How many bytes from `row` on, up to `end`, are those of the row above. */
static inline size_t same_as_above(const char *row, const char *above, const char *end)
{
    for (size_t n = 0; row + n < end; n += 8) {
        uint64_t differ = kn_load8(row + n) ^ kn_load8(above + n);
        if (differ == 0) continue;
        n += (size_t)__builtin_ctzll(differ) / 8;
        return row + n < end ? n : (size_t)(end - row);
    }
    return (size_t)(end - row);
}

/* The first cells of a row that are, with their delimiters, those of the row above have its codes: in a sorted release
 * most of them do, and need not be looked at. Returns how many; the last cell is none of them. */
static uint32_t take_from_above(table_reader *reader, const char *row)
{
    const source *in = &reader->in;
    const kn_sheet *cells = reader->cells;
    /* No further than the row above goes: where all rows are alike, the whole buffer is like the one before it. */
    const size_t n_left = (size_t)(in->buffer + in->n - row), n_above = reader->ends[cells->n_columns - 1];
    const size_t n_same = same_as_above(row, in->buffer + reader->above, row + (n_left < n_above ? n_left : n_above));
    const size_t here = reader->n_pending, above = (here > 0 ? here : reader->room) - 1;
    uint32_t c = 0;
    for (; c + 1 < cells->n_columns && reader->ends[c] < n_same; c++) {
        if (!cells->columns[c].stored) continue;
        if (reader->pending[c] == NULL) reader->fingerprints[here] = reader->fingerprints[above];
        else reader->pending[c][here] = reader->pending[c][above];
    }
    return c;
}

/* The hot loop, for the usual line: no quotes, the right number of cells, all of it in the buffer. Any other line is
 * left to read_row as if nothing had been looked at. */
static kn_status read_plain_row(bool *done_with_it, table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    source *in = &reader->in;
    kn_sheet *cells = reader->cells;
    const char *row = in->buffer + in->at, *end = in->buffer + in->n;
    const uint32_t n_columns = cells->n_columns, n_taken = reader->above != SIZE_MAX ? take_from_above(reader, row) : 0;
    const char *at = n_taken > 0 ? row + reader->ends[n_taken - 1] + 1 : row;
    *done_with_it = false;
    for (uint32_t c = n_taken; c < n_columns; c++) {
        const char *start = at;
        if (at == end || *at == '"') goto done;
        at = find_end(in, at, end);
        if (at == end) goto done;
        const char *stop = at++;
        reader->ends[c] = (size_t)(stop - row);
        if (c + 1 == n_columns && *stop == '\r' && at < end) at++;
        if (at[-1] != (c + 1 < n_columns ? in->delimiter : '\n')) goto done;
        if (stop == start && n_columns == 1) goto done;
        if (!cells->columns[c].stored) continue;
        kn_text_key k = kn_text_key_of(start, (size_t)(stop - start));
        KN_TRY(store_cell(reader, c, &k, err));
    }
    reader->above = in->at;
    in->at = (size_t)(at - in->buffer);
    in->line++;
    *done_with_it = true;
done:
    return status;
}

static kn_status count_row(table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    if (reader->cells->n_rows == KN_NONE - 1)
        KN_FAIL(KN_INPUT, "%s has more rows than can be counted", reader->in.name);
    reader->cells->n_rows++;
    if (++reader->n_pending < reader->room) goto done;
    if (reader->room < KN_CHUNK_ROWS) {
        KN_TRY(grow_chunk(reader, err));
    } else {
        KN_TRY(pack_chunk(reader, err));
        KN_TRY(kn_tick(reader->options->ticker, "verify", -1, err));
    }
done:
    return status;
}

static kn_status read_plain_rows(table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    reader->above = SIZE_MAX; /* the buffer may have moved */
    for (bool plain = !reader->options->trim && reader->empty_line == 0; plain;) {
        KN_TRY(read_plain_row(&plain, reader, err));
        if (plain) KN_TRY(count_row(reader, err));
    }
done:
    return status;
}

/* One line into the pending chunk. *more is false at the end of the file; a malformed line sets `problem`. */
static kn_status read_row(bool *more, table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    kn_sheet *cells = reader->cells;
    source *in = &reader->in;
    uint64_t line = in->line, n_line_ends = 0;
    uint32_t c = 0;
    cell found;
    char text[120];
    *more = false;
    do {
        in->trim = c < cells->n_columns ? reader->trims[c] : reader->options->trim;
        KN_TRY(next_cell(&found, in, err));
        if (found.problem != NULL) {
            snprintf(text, sizeof text, "%s in cell %u", found.problem, c + 1);
            KN_TRY(note_problem(cells, in->name, line, text, err));
            goto done;
        }
        if (c == 0 && found.n_bytes == 0 && !found.quoted) {
            if (found.end == END_FILE) goto done;
            if (found.end == END_LINE && cells->n_columns > 1) { /* no row; fine at the end of the file */
                if (reader->empty_line == 0) reader->empty_line = line;
                in->line++;
                *more = true;
                goto done;
            }
        }
        if (reader->empty_line != 0) {
            KN_TRY(note_problem(cells, in->name, reader->empty_line, "an empty line inside the table", err));
            goto done;
        }
        n_line_ends += found.n_line_ends;
        if (c < cells->n_columns && cells->columns[c].stored) {
            kn_text_key k = kn_text_key_of(found.bytes, found.n_bytes);
            KN_TRY(store_cell(reader, c, &k, err));
        }
        c++;
    } while (found.end == END_DELIMITER);
    if (c != cells->n_columns) {
        snprintf(text, sizeof text, "%u cells where %u are expected", c, cells->n_columns);
        KN_TRY(note_problem(cells, in->name, line, text, err));
        goto done;
    }
    in->line += 1 + n_line_ends;
    KN_TRY(count_row(reader, err));
    if (n_line_ends > 0) {
        uint64_t extra = cells->shifts.n > 0 ? cells->shifts.items[cells->shifts.n - 1].extra : 0;
        KN_PUSH(&cells->shifts, ((kn_line_shift){cells->n_rows, extra + n_line_ends}));
    }
    *more = found.end == END_LINE;
done:
    return status;
}

static void set_delimiter(source *in, char delimiter)
{
    in->delimiter = delimiter;
    memset(in->ends, 0, sizeof in->ends);
    in->ends[(unsigned char)delimiter] = in->ends['\n'] = in->ends['\r'] = in->ends['\0'] = true;
}

static bool trims(const kn_sheet_options *options, uint32_t index, const char *name)
{
    return options->trim && (options->keeps_blanks == NULL || !options->keeps_blanks(options->context, index, name));
}

typedef struct first_line {
    KN_VECTOR(char *) names;
    uint32_t bare; /* KN_NONE: no name is a formula without its guard */
    const char *problem;
    uint64_t n_lines;
    cell_end end;
} first_line;

static void discard_line(first_line *line)
{
    for (size_t i = 0; i < line->names.n; i++) kn_free(line->names.items[i]);
    kn_free(line->names.items);
    *line = (first_line){0};
}

/* Columns that the header has no name for are called by their place. */
static char *name_by_place(uint32_t column, kn_error *err)
{
    char name[24];
    int n_bytes = snprintf(name, sizeof name, "column%u", column + 1);
    return kn_string_copy(name, (size_t)n_bytes, err);
}

/* The cells of the first line as texts; the source stands behind it then. */
static kn_status read_first_line(first_line *line, source *in, const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    cell found;
    *line = (first_line){.n_lines = 1, .bare = KN_NONE};
    do {
        in->trim = options->no_header ? trims(options, (uint32_t)line->names.n, NULL) : options->trim;
        KN_TRY(next_cell(&found, in, err));
        line->problem = found.problem;
        if (found.problem != NULL) goto done;
        KN_RESERVE(&line->names, 1);
        size_t n_name = found.n_bytes;
        bool guarded = options->guarded_names && !options->no_header;
        const char *bytes = guarded ? kn_formula_unguard(found.bytes, &n_name) : found.bytes;
        uint32_t place = (uint32_t)line->names.n;
        if (guarded && line->bare == KN_NONE && kn_is_bare_formula(found.bytes, found.n_bytes)) line->bare = place;
        char *name = kn_string_copy(bytes, n_name, err);
        if (name != NULL && !options->no_header && name[strspn(name, " \t")] == '\0') {
            kn_free(name);
            name = name_by_place(place, err);
        }
        if (name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        line->names.items[line->names.n++] = name;
        line->n_lines += found.n_line_ends;
    } while (found.end == END_DELIMITER);
    line->end = found.end;
done:
    return status;
}

static bool line_as_expected(const first_line *line, const kn_sheet_options *options)
{
    if (line->problem != NULL || line->names.n != options->n_expected) return false;
    for (size_t i = 0; i < line->names.n && !options->no_header; i++)
        if (strcmp(line->names.items[i], options->expected[i]) != 0) return false;
    return true;
}

/* Undoing a line in place would need the bytes that unquoting changed, so a trial works on a copy of the buffer. */
static kn_status try_delimiter(size_t *n_cells, bool *expected, const source *in, char delimiter,
                               const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    first_line line = {0};
    source trial = *in;
    trial.at_end = true; /* a header longer than the first block is judged by what is there */
    KN_NEW_RAW(trial.buffer, in->n);
    memcpy(trial.buffer, in->buffer, in->n);
    set_delimiter(&trial, delimiter);
    KN_TRY(read_first_line(&line, &trial, options, err));
    *n_cells = line.problem == NULL ? line.names.n : 0;
    *expected = line_as_expected(&line, options);
done:
    discard_line(&line);
    kn_free(trial.buffer);
    return status;
}

/* A first line `sep=;` is no part of the table; steps over it. Returns the delimiter, or '\0'. */
static char take_separator_line(source *in)
{
    const char *text = in->buffer + in->at;
    const size_t n = in->n - in->at;
    if (n < 6 || strncasecmp(text, "sep=", 4) != 0 || strchr("\"\r\n", text[4]) != NULL) return '\0';
    const size_t n_end = text[5] == '\n' ? 1 : n > 6 && text[5] == '\r' && text[6] == '\n' ? 2 : 0;
    if (n_end == 0) return '\0';
    in->at += 5 + n_end;
    return text[4];
}

static kn_status choose_delimiter(source *in, char told, const kn_sheet_options *options, kn_error *err)
{
    static const char candidates[] = {';', '\t', '|', ','}; /* of equals the first: names have commas in them rather */
    kn_status status = KN_OK;
    size_t most = 1;
    char best = options->delimiter != '\0' ? options->delimiter : told != '\0' ? told : ',';
    const bool is_known = options->delimiter != '\0' || told != '\0';
    for (size_t i = 0; !is_known && i < sizeof candidates; i++) {
        size_t n_cells = 0;
        bool expected = false;
        KN_TRY(try_delimiter(&n_cells, &expected, in, candidates[i], options, err));
        if (expected) {
            best = candidates[i];
            break;
        }
        if (n_cells > most) {
            most = n_cells;
            best = candidates[i];
        }
    }
    set_delimiter(in, best);
done:
    return status;
}

static kn_status make_columns(table_reader *reader, first_line *line, kn_error *err)
{
    kn_status status = KN_OK;
    kn_sheet *cells = reader->cells;
    const kn_sheet_options *options = reader->options;
    KN_NEW(cells->columns, line->names.n);
    cells->n_columns = (uint32_t)line->names.n;
    KN_NEW(reader->pending, cells->n_columns);
    KN_NEW(reader->trims, cells->n_columns);
    KN_NEW(reader->ends, cells->n_columns);
    for (uint32_t c = 0; c < cells->n_columns; c++) {
        kn_sheet_column *column = &cells->columns[c];
        if (options->no_header) { /* the first line is data; it is stored below like any other */
            column->name = name_by_place(c, err);
            if (column->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        } else {
            column->name = line->names.items[c];
            line->names.items[c] = NULL;
        }
        reader->trims[c] = trims(options, c, options->no_header ? NULL : column->name);
        column->stored = options->wants == NULL || options->wants(options->context, c, column->name);
    }
    KN_TRY(grow_chunk(reader, err));
    for (uint32_t c = 0; options->no_header && c < cells->n_columns; c++) {
        char room[KN_SHORT_TEXT];
        kn_text_key k = kn_text_key_any(line->names.items[c], strlen(line->names.items[c]), room);
        if (cells->columns[c].stored) KN_TRY(store_cell(reader, c, &k, err));
    }
    cells->has_header = !options->no_header;
    if (line->bare != KN_NONE) cells->bare_name = cells->columns[line->bare].name;
    if (options->no_header) {
        cells->n_rows = 1;
        reader->n_pending = 1;
        if (line->n_lines > 1) KN_PUSH(&cells->shifts, ((kn_line_shift){1, line->n_lines - 1}));
    } else if (line->n_lines > 1) {
        KN_PUSH(&cells->shifts, ((kn_line_shift){0, line->n_lines - 1}));
    }
    reader->in.line += line->n_lines;
done:
    return status;
}

static kn_status read_table(table_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    first_line line = {0};
    source *in = &reader->in;
    KN_TRY(open_source(in, reader->options, err));
    if (in->at == in->n) KN_TRY(refill(in, err));
    if (in->at == in->n && in->n_raw == 0) {
        KN_TRY(note_problem(reader->cells, in->name, 1, "the file is empty", err));
        goto done;
    }
    const char told = take_separator_line(in);
    KN_TRY(choose_delimiter(in, told, reader->options, err));
    KN_TRY(read_first_line(&line, in, reader->options, err));
    line.n_lines += told != '\0';
    if (line.problem != NULL) {
        KN_TRY(note_problem(reader->cells, in->name, 1, line.problem, err));
        goto done;
    }
    bool more = line.end == END_LINE;
    KN_TRY(make_columns(reader, &line, err));
    while (more && reader->cells->problem == NULL) {
        KN_TRY(read_plain_rows(reader, err));
        KN_TRY(read_row(&more, reader, err));
    }
    KN_TRY(pack_chunk(reader, err));
    if (reader->cells->problem != NULL) reader->cells->n_rows = 0;
done:
    discard_line(&line);
    return status;
}

static kn_status read_by_duckdb(kn_sheet **out, const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_sheet_options own = *options;
    kn_batches *opened = NULL;
    const kn_duckdb_options duckdb = {options->name, options->files, options->ticker, options->redact,
                                      options->n_threads};
    KN_TRY(kn_duckdb_open(&opened, options->path, options->kind, &duckdb, err));
    own.batches = opened;
    KN_TRY(kn_sheet_of_batches(out, &own, err));
done:
    kn_batches_drop(opened);
    return status;
}

kn_status kn_sheet_read(kn_sheet **out, const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    table_reader reader = {.options = options, .in = {.file = -1}};
    *out = NULL;
    if (options->batches != NULL) return kn_sheet_of_batches(out, options, err);
    if (options->kind != KN_FILE_CSV) return read_by_duckdb(out, options, err);
    KN_NEW(reader.cells, 1);
    KN_TRY(read_table(&reader, err));
    *out = reader.cells;
done:
    for (uint32_t c = 0; reader.pending != NULL && c < reader.cells->n_columns; c++) kn_free(reader.pending[c]);
    kn_free(reader.pending);
    kn_free(reader.trims);
    kn_free(reader.ends);
    kn_free(reader.fingerprints);
    close_source(&reader.in);
    if (status != KN_OK) kn_sheet_free(reader.cells);
    return status;
}

void kn_sheet_free(kn_sheet *cells)
{
    if (cells == NULL) return;
    for (uint32_t c = 0; cells->columns != NULL && c < cells->n_columns; c++) {
        kn_sheet_column *column = &cells->columns[c];
        for (size_t i = 0; i < column->n_chunks; i++) kn_free(column->chunks[i]);
        kn_free(column->chunks);
        kn_free(column->chunk_width);
        kn_free(column->name);
        kn_free(column->bytes);
        kn_free(column->offset);
        kn_free(column->hash);
        kn_free(column->slots);
    }
    kn_free(cells->columns);
    kn_free(cells->shifts.items);
    kn_free(cells->problem);
    kn_free(cells);
}

uint32_t kn_sheet_find(const kn_sheet *cells, const char *name)
{
    for (uint32_t c = 0; c < cells->n_columns; c++)
        if (strcmp(cells->columns[c].name, name) == 0) return c;
    return KN_NONE;
}

uint64_t kn_sheet_line(const kn_sheet *cells, uint32_t row)
{
    size_t low = 0, high = cells->shifts.n; /* the last shift at or before the row */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cells->shifts.items[middle].row <= row) low = middle + 1;
        else high = middle;
    }
    return (uint64_t)row + (cells->has_header ? 2 : 1) + (low > 0 ? cells->shifts.items[low - 1].extra : 0);
}
