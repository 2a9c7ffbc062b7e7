/* CSV into encoded columns, in parallel.
 *
 * The text comes in rounds. While the workers parse the blocks of one round, one of them reads the next: it fills a
 * buffer and cuts it at record ends, which needs a look at its quotes only (csv_tokens.h), so nobody has to guess where
 * a record starts. A worker walks through its block in batches of rows, and turns each column's batch into codes with
 * its own dictionary of that column; the codes of a block are kept as narrow as they fit.
 *
 * In the end the workers' dictionaries are typed, sorted and merged (table/infer.h), and the blocks' codes are
 * rewritten to the sorted ones. Which worker read which block is open; the sorted codes, the first line of each
 * spelling and the fault reported do not depend on it.
 *
 * Memory: two buffers of a few blocks per worker, the narrow codes, the dictionaries. Columns that nobody keeps are
 * checked and forgotten. */
#include "source/csv/csv_read.h"

#include "source/csv/csv_header.h"
#include "source/csv/csv_source.h"
#include "source/csv/csv_tuning.h"
#include "source/utf8.h"
#include "table/infer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    SAMPLE_BYTES = 1 << 18,
    BLOCK_BYTES = 1 << 19,
    BLOCKS_PER_THREAD = 8,
    BATCH_CELLS = 8192, /* cells of one batch of rows */
    MIN_BATCH_ROWS = 16
};
static const size_t MAX_ROUND_BYTES = (size_t)64 << 20;

/* A buffer of text, cut into blocks: block i is text[cuts[i] .. cuts[i+1]). What follows the last cut begins the next
 * round. */
typedef struct round_buffer {
    char *text;
    size_t n_bytes, capacity;
    size_t start; /* of the first block: behind the header in the first round */
    KN_VECTOR(size_t) cuts;
    uint64_t stream_at; /* place of text[0] in the decoded stream */
    bool is_last;
    bool too_long; /* one record fills all of it */
} round_buffer;

typedef struct block {
    size_t first_row; /* of the table */
    uint32_t n_rows, n_lines, n_crlf, worker;
    uint64_t first_line; /* of the file, from 1; known when its round is over */
    kn_csv_fault fault;  /* BLANK_LINE: fine at the end of the file */
    void **codes;        /* per stored column */
    uint8_t *code_bytes; /* per stored column */
} block;

typedef struct worker_state {
    kn_dictionary *dictionaries; /* per stored column */
    kn_text_cell *cells;         /* n_columns * batch_rows */
    uint32_t *lines;             /* batch_rows */
    kn_buffer unescaped;
    uint32_t *codes; /* per stored column, rows_capacity each */
    size_t rows_capacity;
} worker_state;

struct kn_csv_reader {
    char *name;
    kn_csv_options options;
    kn_csv_source source;
    kn_csv_dialect dialect;
    kn_csv_header header;
    kn_csv_tuning tuning;
    round_buffer first;   /* what kn_csv_open had to read */
    const char *line_end; /* that most lines have; NULL before they were read */
};

struct finishing;

typedef struct reading {
    kn_csv_reader *reader;
    const kn_column_plan *plans;
    kn_ticker *ticker;
    unsigned n_workers;
    worker_state *workers;
    uint32_t batch_rows;
    uint32_t n_stored;
    uint32_t *stored; /* column of stored column i */
    KN_VECTOR(block) blocks;
    size_t n_done; /* blocks of finished rounds */
    round_buffer *current, *next;
    size_t round_bytes;
    uint64_t next_line, n_rows;
    uint64_t blank_line; /* a blank line that only the end of the file may follow; 0: none */
    kn_table *table;
    struct finishing *finishing; /* per stored column */
    size_t first_of_wave;        /* stored column */
} reading;

/* --- Opening ----------------------------------------------------------------------------------------------------- */

static void free_round(round_buffer *round)
{
    kn_free(round->text);
    kn_free(round->cuts.items);
    *round = (round_buffer){0};
}

/* Room for n_bytes of text and the padding behind it. */
static kn_status grow_round(round_buffer *round, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    if (round->text != NULL && round->capacity >= n_bytes) return KN_OK;
    char *moved = kn_array_resize(round->text, n_bytes + KN_CSV_PADDING, 1, err);
    if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    round->text = moved;
    round->capacity = n_bytes;
done:
    return status;
}

/* Reads until the buffer is full or the file ends. */
static kn_status fill_round(round_buffer *round, kn_csv_source *source, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_more;
    while (round->capacity - round->n_bytes >= 32 && !round->is_last) {
        KN_TRY(kn_csv_source_read(source, round->text + round->n_bytes, round->capacity - round->n_bytes, &n_more,
                                  ticker, err));
        round->n_bytes += n_more;
        round->is_last = source->at_end && source->n_raw == 0 && !source->line_open;
    }
done:
    memset(round->text + round->n_bytes, 0, KN_CSV_PADDING);
    return status;
}

static bool holds_a_record(const kn_csv_reader *reader, const round_buffer *round, size_t from)
{
    size_t n_record;
    kn_csv_fault fault;
    kn_csv_record(round->text + from, round->n_bytes - from, reader->dialect, NULL, 0, &n_record, &fault);
    return n_record != 0 || fault.kind != KN_CSV_FINE;
}

static kn_status read_header(kn_csv_reader *reader, kn_error *err)
{
    kn_status status = KN_OK;
    round_buffer *round = &reader->first;
    const kn_csv_options *options = &reader->options;
    size_t from = 0;
    for (size_t capacity = kn_csv_source_bound(&reader->source, SAMPLE_BYTES);; capacity *= 2) {
        KN_TRY(grow_round(round, capacity, err));
        KN_TRY(fill_round(round, &reader->source, NULL, err));
        reader->dialect = (kn_csv_dialect){options->delimiter, options->trim};
        char *delimiter = &reader->dialect.delimiter, told = '\0';
        from = kn_csv_separator_line(&told, round->text, round->n_bytes);
        if (options->delimiter == '\0')
            *delimiter = from > 0 ? told : kn_csv_detect_delimiter(round->text, round->n_bytes, options->trim);
        if (round->is_last || capacity >= KN_CSV_MAX_RECORD || holds_a_record(reader, round, from)) break;
    }
    KN_TRY(kn_csv_header_read(&reader->header, round->text + from, round->n_bytes - from, reader->dialect, options,
                              reader->name, err));
    reader->header.n_bytes += from;
    reader->header.n_lines += from > 0;
    round->start = reader->header.n_bytes;
done:
    return status;
}

kn_status kn_csv_open(kn_csv_reader **out, const char *path, const kn_csv_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_reader *reader = NULL;
    *out = NULL;
    char delimiter = options->delimiter;
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r' || (unsigned char)delimiter >= 0x80)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "delimiter"),
                   "the delimiter must be one ASCII character other than a quote or a line end");
    KN_NEW(reader, 1);
    reader->source.file = -1;
    reader->options = *options;
    reader->tuning = (kn_csv_tuning){BLOCK_BYTES, BLOCKS_PER_THREAD, kn_csv_best_kernel()};
    const char *name = options->name != NULL ? options->name : strcmp(path, "-") == 0 ? "stdin" : path;
    reader->name = kn_string_copy(name, strlen(name), err);
    if (reader->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_csv_source_open(&reader->source, path, options->encoding, options->files, err));
    reader->source.name = reader->name;
    KN_TRY(read_header(reader, err));
    *out = reader;
    reader = NULL;
done:
    kn_csv_close(reader);
    return status;
}

void kn_csv_close(kn_csv_reader *reader)
{
    if (reader == NULL) return;
    kn_csv_source_close(&reader->source);
    kn_csv_header_free(&reader->header);
    free_round(&reader->first);
    kn_free(reader->name);
    kn_free(reader);
}

uint32_t kn_csv_n_columns(const kn_csv_reader *reader) { return reader->header.n_columns; }
const char *kn_csv_column_name(const kn_csv_reader *reader, uint32_t column) { return reader->header.names[column]; }

void kn_csv_tune(kn_csv_reader *reader, const kn_csv_tuning *tuning)
{
    if (tuning->block_bytes != 0) reader->tuning.block_bytes = tuning->block_bytes;
    if (tuning->blocks_per_thread != 0) reader->tuning.blocks_per_thread = tuning->blocks_per_thread;
    reader->tuning.kernel = tuning->kernel;
}

/* --- Rounds ------------------------------------------------------------------------------------------------------ */

static kn_status cut_round(reading *r, round_buffer *round, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_splitter splitter;
    size_t block_bytes = r->reader->tuning.block_bytes;
    const char *text = round->text + round->start;
    size_t n_bytes = round->n_bytes - round->start;
    kn_csv_splitter_start(&splitter, text, n_bytes, r->reader->dialect, r->reader->tuning.kernel);
    round->cuts.n = 0;
    KN_PUSH(&round->cuts, round->start);
    for (size_t at = 0; n_bytes - at > block_bytes || (round->is_last && at < n_bytes);) {
        size_t wanted = at + block_bytes, cut = 0;
        if (wanted <= n_bytes) cut = kn_csv_split(&splitter, wanted, round->is_last);
        if (cut == 0 && round->is_last) cut = n_bytes;
        if (cut == 0) break;
        KN_PUSH(&round->cuts, round->start + cut);
        at = cut;
    }
done:
    return status;
}

/* The next round: what the current one left over, then more of the file. A record longer than a round makes it grow. */
static kn_status prepare_round(reading *r, round_buffer *round, const round_buffer *before, kn_error *err)
{
    kn_status status = KN_OK;
    size_t left_from = before->cuts.items[before->cuts.n - 1], n_left = before->n_bytes - left_from;
    size_t capacity = r->round_bytes > n_left + 64 ? r->round_bytes : n_left + 64;
    round->n_bytes = round->start = 0;
    round->is_last = false;
    round->stream_at = before->stream_at + left_from;
    for (;; capacity *= 2) {
        KN_TRY(grow_round(round, capacity, err));
        if (round->n_bytes == 0) {
            memcpy(round->text, before->text + left_from, n_left);
            round->n_bytes = n_left;
        }
        KN_TRY(fill_round(round, &r->reader->source, r->ticker, err));
        KN_TRY(cut_round(r, round, err));
        if (round->cuts.n > 1 || round->is_last) break;
        if (round->n_bytes >= KN_CSV_MAX_RECORD) {
            round->too_long = true;
            break;
        }
    }
done:
    return status;
}

/* --- Blocks ------------------------------------------------------------------------------------------------------ */

/* The record that holds the bad byte, read the plain way; false when something before it is wrong already, which the
 * parser will find. */
static bool locate_bad_byte(kn_csv_fault *out, const reading *r, const char *text, size_t n_bytes, size_t bad)
{
    uint32_t line = 0, n_columns = r->reader->header.n_columns;
    for (size_t at = 0, n_record; at < n_bytes; at += n_record) {
        kn_csv_fault fault;
        uint32_t column = 0;
        uint32_t n_cells = kn_csv_record(text + at, n_bytes - at, r->reader->dialect, NULL, 0, &n_record, &fault);
        bool here = n_record != 0 ? bad < at + n_record : fault.kind != KN_CSV_FINE && bad < at + fault.at;
        if (!here && (n_record == 0 || n_cells != n_columns)) return false;
        size_t end = here ? bad : at + n_record;
        if (here) column = kn_csv_column_at(text + at, bad - at, r->reader->dialect);
        for (size_t i = at; i < end; i++) line += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
        if (!here) continue;
        *out = (kn_csv_fault){KN_CSV_BAD_BYTE, line, column, bad};
        return true;
    }
    return false;
}

static kn_status reserve_rows(worker_state *worker, uint32_t n_stored, size_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    if (worker->codes != NULL && n_rows <= worker->rows_capacity) return KN_OK;
    kn_free(worker->codes);
    worker->rows_capacity = 0;
    KN_NEW_RAW(worker->codes, n_rows * n_stored);
    worker->rows_capacity = n_rows;
done:
    return status;
}

/* A copy of the codes in as few bytes as they need. */
static kn_status narrow_codes(void **out, uint8_t *code_bytes, const uint32_t *codes, uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t all = 0;
    for (uint32_t i = 0; i < n; i++) all |= codes[i];
    *code_bytes = all < 1u << 8 ? 1 : all < 1u << 16 ? 2 : 4;
    *out = kn_array_alloc_raw(n, *code_bytes, err);
    if (*out == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    if (*code_bytes == 1) {
        for (uint32_t i = 0; i < n; i++) ((uint8_t *)*out)[i] = (uint8_t)codes[i];
    } else if (*code_bytes == 2) {
        for (uint32_t i = 0; i < n; i++) ((uint16_t *)*out)[i] = (uint16_t)codes[i];
    } else {
        memcpy(*out, codes, n * sizeof *codes);
    }
done:
    return status;
}

static kn_status encode_batch(reading *r, worker_state *worker, const char *text, uint32_t n_rows, size_t first_row,
                              uint64_t line_base, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cell_texts texts = {text, worker->unescaped.bytes};
    if (worker->unescaped.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    for (uint32_t i = 0; i < r->n_stored; i++)
        KN_TRY(kn_dictionary_codes(worker->codes + i * worker->rows_capacity + first_row, &worker->dictionaries[i],
                                   texts, worker->cells + (size_t)r->stored[i] * r->batch_rows, worker->lines,
                                   line_base, n_rows, err));
done:
    return status;
}

/* Rows of the whole file, if they are as long as those of this block. */
static uint64_t expected_rows(const reading *r, size_t n_rows, size_t n_bytes)
{
    uint64_t size_bytes = r->reader->source.size_bytes;
    return size_bytes == 0 ? UINT64_MAX : (uint64_t)((double)size_bytes * (double)n_rows / (double)(n_bytes + 1));
}

static kn_status parse_block(reading *r, size_t index, const char *text, size_t n_bytes, worker_state *worker,
                             kn_error *err)
{
    kn_status status = KN_OK;
    block *b = &r->blocks.items[index];
    uint32_t n_columns = r->reader->header.n_columns;
    size_t bad = kn_utf8_bad_byte(text, n_bytes), n_rows = 0;
    if (bad < n_bytes && locate_bad_byte(&b->fault, r, text, n_bytes, bad)) return KN_INPUT;
    kn_csv_walk walk = {.text = text,
                        .unescaped = &worker->unescaped,
                        .n_bytes = n_bytes,
                        .dialect = r->reader->dialect,
                        .kernel = r->reader->tuning.kernel,
                        .n_columns = n_columns};
    /* A record has at least one byte per column. */
    KN_TRY(reserve_rows(worker, r->n_stored, n_bytes / n_columns + 1, err));
    for (uint32_t n; (n = kn_csv_walk_rows(&walk, worker->cells, worker->lines, r->batch_rows)) > 0; n_rows += n)
        KN_TRY(encode_batch(r, worker, text, n, n_rows, (uint64_t)index << 32, err));
    uint64_t n_expected = expected_rows(r, n_rows, n_bytes);
    for (uint32_t i = 0; i < r->n_stored; i++) KN_TRY(kn_dictionary_adapt(&worker->dictionaries[i], n_expected, err));
    b->fault = walk.fault;
    b->n_rows = (uint32_t)n_rows;
    b->n_lines = walk.line;
    b->n_crlf = walk.n_crlf;
    if (b->fault.kind != KN_CSV_FINE && b->fault.kind != KN_CSV_BLANK_LINE) return KN_INPUT;
    KN_NEW(b->codes, r->n_stored);
    KN_NEW(b->code_bytes, r->n_stored);
    for (uint32_t i = 0; i < r->n_stored; i++)
        KN_TRY(
            narrow_codes(&b->codes[i], &b->code_bytes[i], worker->codes + i * worker->rows_capacity, b->n_rows, err));
done:
    return status;
}

/* Job 0 reads ahead, job i parses block i-1. */
static kn_status round_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading *r = context;
    if (job == 0) return r->current->is_last ? KN_OK : prepare_round(r, r->next, r->current, err);
    KN_TRY(kn_tick(r->ticker, "reading", kn_csv_source_fraction(&r->reader->source), err));
    size_t first = r->current->cuts.items[job - 1], last = r->current->cuts.items[job];
    r->blocks.items[r->n_done + job - 1].worker = worker;
    KN_TRY(parse_block(r, r->n_done + job - 1, r->current->text + first, last - first, &r->workers[worker], err));
done:
    return status;
}

/* --- Faults ------------------------------------------------------------------------------------------------------ */

/* The name in quotes; when values are not to be shown the number, because a header may be a line of data. */
static void column_shown(char buffer[KN_SHOWN_BYTES], const kn_csv_reader *reader, uint32_t column)
{
    const char *name = column < reader->header.n_columns ? reader->header.names[column] : "?";
    if (reader->options.redact) snprintf(buffer, KN_SHOWN_BYTES, "%u", column + 1);
    else kn_value_shown(buffer, name, strlen(name), false);
}

/* The same for programs; nothing where the name may be somebody's data. */
static const char *column_told(const kn_csv_reader *reader, uint32_t column)
{
    return column < reader->header.n_columns && !reader->options.redact ? reader->header.names[column] : NULL;
}

static kn_status refuse_bad_byte(const reading *r, const kn_csv_fault *fault, const char *text, uint64_t line,
                                 uint64_t file_at, kn_error *err)
{
    char name[KN_SHOWN_BYTES];
    const kn_csv_reader *reader = r->reader;
    const char *column = column_told(reader, fault->column);
    unsigned byte = (unsigned char)text[fault->at];
    column_shown(name, reader, fault->column);
    if (byte == 0)
        return kn_error_set_at(
            err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line, .column = column),
            "%s:%llu: column %s: a NUL byte (byte %llu); this is no text file, or UTF-16 without a byte order "
            "mark (then use --encoding utf-16)",
            reader->name, (unsigned long long)line, name, (unsigned long long)file_at);
    if (reader->source.bytes == KN_BYTES_UTF16_LE || reader->source.bytes == KN_BYTES_UTF16_BE)
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line, .column = column),
                               "%s:%llu: column %s: half a character; this is not valid UTF-16", reader->name,
                               (unsigned long long)line, name);
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line, .column = column, .option = "encoding"),
        "%s:%llu: column %s: byte 0x%02X (byte %llu of the file) is not valid UTF-8; convert the file, or use "
        "--encoding latin-1",
        reader->name, (unsigned long long)line, name, byte, (unsigned long long)file_at);
}

/* The text of the cell, or of what is left of it, for the message. */
static const char *shown_rest(char buffer[KN_SHOWN_BYTES], const reading *r, const char *text, size_t at)
{
    size_t end = at;
    while (text[end] != '\0' && text[end] != '\n' && text[end] != '\r' && text[end] != r->reader->dialect.delimiter)
        end++;
    return kn_value_shown(buffer, text + at, end - at, r->reader->options.redact);
}

/* A quote behind the blanks at the beginning of a cell of the line, which then belongs to the text. */
static bool has_blank_before_quote(const kn_csv_reader *reader, const char *text, size_t at)
{
    const char delimiter = reader->dialect.delimiter;
    bool begins = true, is_blank = false;
    while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r') at--;
    for (; !reader->options.trim && text[at] != '\0' && text[at] != '\n' && text[at] != '\r'; at++) {
        if (begins && is_blank && text[at] == '"') return true;
        is_blank = text[at] == ' ' || (text[at] == '\t' && delimiter != '\t');
        begins = text[at] == delimiter || (begins && is_blank);
    }
    return false;
}

/* What may be the matter with the first line below the header: R leaves out one name; more are missing where something
 * else than the header was read as such. */
static const char *below_header(const kn_csv_reader *reader, const char *text, size_t at)
{
    while (text[at] != '\0' && text[at] != '\n' && text[at] != '\r' && text[at] != reader->dialect.delimiter) at++;
    return text[at] == reader->dialect.delimiter ? ", or remove what stands above the header, if line 1 is a title"
                                                 : ", or name the first column too (R's write.table leaves that out)";
}

static const char *first_line_called(const kn_csv_reader *reader)
{
    return reader->options.no_header ? "the first line" : "the header";
}

static const char blank_before_quote[] =
    "a blank stands before a quote, which is then part of the text: say --trim, or remove the blank";

static kn_status refuse_too_many(const reading *r, const kn_csv_fault *fault, const char *text, unsigned long long line,
                                 kn_error *err)
{
    const kn_csv_reader *reader = r->reader;
    char shown[KN_SHOWN_BYTES];
    const bool has_blank = has_blank_before_quote(reader, text, fault->at);
    const bool is_below_header = line == 1 + reader->header.n_lines && !reader->options.no_header;
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line, .option = has_blank ? "trim" : NULL),
        "%s:%llu: column %u: %s is one cell more than %s has (%u); %s%s", reader->name, line, fault->column + 1,
        shown_rest(shown, r, text, fault->at), first_line_called(reader), reader->header.n_columns,
        has_blank ? blank_before_quote : "quote cells that contain the delimiter",
        is_below_header && !has_blank ? below_header(reader, text, fault->at) : "");
}

static kn_status refuse_too_few(const kn_csv_reader *reader, const kn_csv_fault *fault, const char *text,
                                unsigned long long line, kn_error *err)
{
    char name[KN_SHOWN_BYTES];
    const bool has_blank = has_blank_before_quote(reader, text, fault->at);
    column_shown(name, reader, fault->column);
    return kn_error_set_at(err, KN_INPUT,
                           KN_PLACE(.file = reader->name, .line = line, .column = column_told(reader, fault->column),
                                    .option = has_blank ? "trim" : NULL),
                           "%s:%llu: %u cell%s where %s has %u; %s%s%s", reader->name, line, fault->column,
                           fault->column == 1 ? "" : "s", first_line_called(reader), reader->header.n_columns,
                           has_blank ? blank_before_quote : "the first one missing is column ", has_blank ? "" : name,
                           has_blank ? "" : "; complete the line (an empty cell needs its delimiter too)");
}

static kn_status refuse_fault(const reading *r, const kn_csv_fault *fault, const char *text, uint64_t first_line,
                              uint64_t file_at, kn_error *err)
{
    const kn_csv_reader *reader = r->reader;
    unsigned long long line = first_line + fault->line;
    char shown[KN_SHOWN_BYTES], name[KN_SHOWN_BYTES];
    column_shown(name, reader, fault->column);
    const char *column = column_told(reader, fault->column);
    switch (fault->kind) {
    case KN_CSV_BAD_BYTE: return refuse_bad_byte(r, fault, text, line, file_at, err);
    case KN_CSV_AFTER_QUOTE:
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line, .column = column),
                               "%s:%llu: column %s: %s after a closing quote; write quotes inside a quoted cell twice",
                               reader->name, line, name, shown_rest(shown, r, text, fault->at));
    case KN_CSV_OPEN_QUOTE:
        return kn_error_set_at(
            err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line, .column = column),
            "%s:%llu: column %s: the quote that opens here is never closed; close it, or, if it belongs to "
            "the text, write it twice and the cell in quotes",
            reader->name, line, name);
    case KN_CSV_TOO_MANY: return refuse_too_many(r, fault, text, line, err);
    case KN_CSV_TOO_FEW:
        if (fault->column > 0) return refuse_too_few(reader, fault, text, line, err);
        break;
    default: break;
    }
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = reader->name, .line = line),
                           "%s:%llu: a blank line inside the table; only the end of the file may have them",
                           reader->name, line);
}

/* The round is parsed, or failed: number its lines, and put the first fault into words. */
static kn_status finish_round(reading *r, kn_status outcome, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = r->n_done; i < r->blocks.n; i++) {
        block *b = &r->blocks.items[i];
        size_t text_at = r->current->cuts.items[i - r->n_done];
        const char *text = r->current->text + text_at;
        b->first_line = r->next_line;
        b->first_row = (size_t)r->n_rows;
        bool blank = b->fault.kind == KN_CSV_BLANK_LINE;
        if (r->blank_line != 0 && (b->n_rows > 0 || (b->fault.kind != KN_CSV_FINE && !blank)))
            KN_TRY(refuse_fault(r, &(kn_csv_fault){.kind = KN_CSV_BLANK_LINE}, text, r->blank_line, 0, err));
        if (b->fault.kind != KN_CSV_FINE && !blank) {
            uint64_t file_at = r->current->stream_at + text_at + b->fault.at + r->reader->source.bom_bytes + 1;
            KN_TRY(refuse_fault(r, &b->fault, text, b->first_line, file_at, err));
        }
        if (blank && r->blank_line == 0) r->blank_line = b->first_line + b->fault.line;
        r->next_line += b->n_lines;
        r->n_rows += b->n_rows;
        /* A failure without a fault (memory, interrupt) is the pool's to report; blocks after it may not have run. */
        if (outcome != KN_OK && b->codes == NULL) break;
    }
    if (outcome != KN_OK) return outcome;
    if (r->next->too_long)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = r->reader->name, .line = r->next_line),
                   "%s:%llu: this record is longer than %zu MB; is a quote opened and never closed?", r->reader->name,
                   (unsigned long long)r->next_line, KN_CSV_MAX_RECORD >> 20);
    if (r->n_rows >= UINT32_MAX)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = r->reader->name), "%s: more than four billion rows", r->reader->name);
    r->n_done = r->blocks.n;
done:
    return status;
}

static kn_status read_rounds(reading *r, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    round_buffer other = {0}, *first = &r->reader->first;
    r->current = first;
    r->next = &other;
    KN_TRY(cut_round(r, r->current, err));
    for (;;) {
        size_t n_blocks = r->current->cuts.n - 1;
        kn_error failure = {0};
        KN_RESERVE(&r->blocks, n_blocks);
        for (size_t i = 0; i < n_blocks; i++) r->blocks.items[r->blocks.n++] = (block){0};
        kn_status outcome = kn_pool_run(pool, n_blocks + 1, round_job, r, &failure);
        status = finish_round(r, outcome, err);
        if (status != KN_OK) kn_error_pass(err, status, &failure);
        if (status != KN_OK || r->current->is_last) break;
        round_buffer *swapped = r->current;
        r->current = r->next;
        r->next = swapped;
    }
done:
    free_round(&other);
    return status;
}

/* --- Columns ----------------------------------------------------------------------------------------------------- */

/* What a stored column needs between reading and the end. */
typedef struct finishing {
    kn_infer_options options;
    kn_spellings *lists;  /* per worker */
    uint32_t **new_codes; /* per worker: from the codes of its dictionary to sorted ones */
    kn_inference *inference;
} finishing;

/* first_line of a dictionary is block << 32 | line in the block until here. */
static void number_lines(const reading *r, kn_dictionary *dictionary)
{
    for (uint32_t i = 0; i < dictionary->n; i++) {
        uint64_t place = dictionary->first_line.items[i];
        dictionary->first_line.items[i] = r->blocks.items[place >> 32].first_line + (uint32_t)place;
    }
}

/* Job numbers of a wave: column by column, list by list. */
static kn_inference *inference_of(const reading *r, size_t job)
{
    return r->finishing[r->first_of_wave + job / r->n_workers].inference;
}

static kn_status look_at_list(void *context, size_t job, unsigned pool_worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading *r = context;
    KN_TRY(kn_tick(r->ticker, "encoding", -1, err));
    kn_inference_look(inference_of(r, job), (uint32_t)(job % r->n_workers));
done:
    return status;
}

static kn_status sort_list(void *context, size_t job, unsigned pool_worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading *r = context;
    KN_TRY(kn_tick(r->ticker, "encoding", -1, err));
    kn_inference_sort(inference_of(r, job), (uint32_t)(job % r->n_workers));
done:
    return status;
}

static kn_status finish_column(void *context, size_t job, unsigned pool_worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading *r = context;
    size_t stored = r->first_of_wave + job;
    finishing *f = &r->finishing[stored];
    kn_column *column = &r->table->columns[r->stored[stored]];
    KN_TRY(kn_tick(r->ticker, "encoding", -1, err));
    for (unsigned w = 0; w < r->n_workers; w++) KN_NEW_RAW(f->new_codes[w], f->lists[w].n);
    KN_TRY(kn_inference_finish(column, f->new_codes, f->inference, err));
    kn_inference_free(f->inference);
    f->inference = NULL;
    for (unsigned w = 0; w < r->n_workers; w++) kn_dictionary_free(&r->workers[w].dictionaries[stored]);
    KN_TRY(kn_column_new_codes(column, (size_t)r->n_rows, err));
done:
    return status;
}

/* One block of one column. */
static kn_status rewrite_block(void *context, size_t job, unsigned pool_worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading *r = context;
    size_t stored = r->first_of_wave + job / r->blocks.n;
    block *b = &r->blocks.items[job % r->blocks.n];
    kn_column *column = &r->table->columns[r->stored[stored]];
    KN_TRY(kn_tick(r->ticker, "encoding", -1, err));
    kn_codes_rewrite((char *)column->codes + b->first_row * column->code_bytes, column->code_bytes, b->codes[stored],
                     b->code_bytes[stored], b->n_rows, r->finishing[stored].new_codes[b->worker]);
    kn_free(b->codes[stored]);
    b->codes[stored] = NULL;
done:
    return status;
}

static kn_status start_finishing(reading *r, uint32_t stored, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_csv_options *options = &r->reader->options;
    finishing *f = &r->finishing[stored];
    KN_NEW(f->lists, r->n_workers);
    KN_NEW(f->new_codes, r->n_workers);
    for (unsigned w = 0; w < r->n_workers; w++) {
        kn_dictionary *dictionary = &r->workers[w].dictionaries[stored];
        number_lines(r, dictionary);
        f->lists[w] = (kn_spellings){dictionary->n, dictionary->bytes.items, dictionary->offset.items,
                                     dictionary->first_line.items};
    }
    const kn_column_plan *plan = &r->plans[r->stored[stored]];
    f->options = (kn_infer_options){.type = plan->type,
                                    .null_values = options->null_values,
                                    .n_null_values = options->n_null_values,
                                    .decimal = options->decimal,
                                    .invalid_is_missing = options->invalid_is_missing,
                                    .is_quasi = plan->role == KN_ROLE_QUASI,
                                    .source = r->reader->name,
                                    .redact = options->redact};
    KN_TRY(kn_inference_new(&f->inference, r->table->columns[r->stored[stored]].name, f->lists, r->n_workers,
                            &f->options, err));
done:
    return status;
}

static void free_finishing(reading *r)
{
    for (uint32_t i = 0; r->finishing != NULL && i < r->n_stored; i++) {
        finishing *f = &r->finishing[i];
        for (unsigned w = 0; f->new_codes != NULL && w < r->n_workers; w++) kn_free(f->new_codes[w]);
        kn_free(f->new_codes);
        kn_free(f->lists);
        kn_inference_free(f->inference);
    }
    kn_free(r->finishing);
}

/* A few columns at a time: enough for every thread, and not all of their sorting in memory at once. */
static kn_status finish_wave(reading *r, uint32_t n_columns, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    size_t first = r->first_of_wave, n_lists = (size_t)n_columns * r->n_workers;
    for (uint32_t i = 0; i < n_columns; i++) KN_TRY(start_finishing(r, (uint32_t)first + i, err));
    KN_TRY(kn_pool_run(pool, n_lists, look_at_list, r, err));
    for (uint32_t i = 0; i < n_columns; i++) KN_TRY(kn_inference_decide(r->finishing[first + i].inference, err));
    KN_TRY(kn_pool_run(pool, n_lists, sort_list, r, err));
    KN_TRY(kn_pool_run(pool, n_columns, finish_column, r, err));
    KN_TRY(kn_pool_run(pool, n_columns * r->blocks.n, rewrite_block, r, err));
    for (uint32_t i = 0; i < n_columns; i++)
        for (unsigned w = 0; w < r->n_workers; w++) {
            kn_free(r->finishing[first + i].new_codes[w]);
            r->finishing[first + i].new_codes[w] = NULL;
        }
done:
    return status;
}

static kn_status finish_columns(reading *r, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t wave = 2 * r->n_workers;
    KN_NEW(r->finishing, r->n_stored);
    for (unsigned w = 0; w < r->n_workers; w++)
        for (uint32_t i = 0; i < r->n_stored; i++) kn_dictionary_drop_slots(&r->workers[w].dictionaries[i]);
    for (; r->first_of_wave < r->n_stored; r->first_of_wave += wave) {
        size_t n_left = r->n_stored - r->first_of_wave;
        KN_TRY(finish_wave(r, n_left < wave ? (uint32_t)n_left : wave, pool, err));
    }
done:
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

static kn_status start_reading(reading *r, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_columns = r->reader->header.n_columns;
    r->batch_rows = BATCH_CELLS / n_columns;
    if (r->batch_rows > KN_DICTIONARY_BATCH) r->batch_rows = KN_DICTIONARY_BATCH;
    if (r->batch_rows < MIN_BATCH_ROWS) r->batch_rows = MIN_BATCH_ROWS;
    const round_buffer *first = &r->reader->first; /* a row has a byte at least */
    if (first->is_last && first->n_bytes < r->batch_rows) r->batch_rows = (uint32_t)first->n_bytes + 1;
    r->round_bytes = r->reader->tuning.block_bytes * (r->reader->tuning.blocks_per_thread * r->n_workers + 1);
    if (r->round_bytes > MAX_ROUND_BYTES) r->round_bytes = MAX_ROUND_BYTES;
    r->next_line = 1 + r->reader->header.n_lines;
    KN_NEW(r->stored, n_columns);
    for (uint32_t i = 0; i < n_columns; i++)
        if (kn_plan_is_stored(&r->plans[i])) r->stored[r->n_stored++] = i;
    KN_NEW(r->workers, r->n_workers);
    for (unsigned w = 0; w < r->n_workers; w++) {
        KN_NEW(r->workers[w].dictionaries, r->n_stored);
        KN_NEW_RAW(r->workers[w].cells, (size_t)n_columns * r->batch_rows);
        KN_NEW_RAW(r->workers[w].lines, r->batch_rows);
    }
done:
    return status;
}

static void free_workers(reading *r)
{
    for (unsigned w = 0; r->workers != NULL && w < r->n_workers; w++) {
        worker_state *worker = &r->workers[w];
        for (uint32_t i = 0; worker->dictionaries != NULL && i < r->n_stored; i++)
            kn_dictionary_free(&worker->dictionaries[i]);
        kn_free(worker->dictionaries);
        kn_free(worker->cells);
        kn_free(worker->lines);
        kn_free(worker->codes);
        kn_buffer_free(&worker->unescaped);
    }
    kn_free(r->workers);
}

static void free_reading(reading *r)
{
    free_finishing(r);
    free_workers(r);
    for (size_t i = 0; i < r->blocks.n; i++) {
        block *b = &r->blocks.items[i];
        for (uint32_t j = 0; b->codes != NULL && j < r->n_stored; j++) kn_free(b->codes[j]);
        kn_free(b->codes);
        kn_free(b->code_bytes);
    }
    kn_free(r->blocks.items);
    kn_free(r->stored);
    kn_table_free(r->table);
}

/* Buffers are no longer needed once all rounds are over; the sorting is what needs memory then. */
static void drop_buffers(reading *r)
{
    free_round(&r->reader->first);
    for (unsigned w = 0; w < r->n_workers; w++) {
        worker_state *worker = &r->workers[w];
        kn_free(worker->cells);
        kn_free(worker->lines);
        kn_free(worker->codes);
        kn_buffer_free(&worker->unescaped);
        worker->cells = NULL;
        worker->lines = worker->codes = NULL;
    }
}

kn_status kn_csv_read(kn_table **out, kn_csv_reader *reader, const kn_column_plan *plans, kn_pool *pool,
                      kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    reading r = {.reader = reader, .plans = plans, .ticker = ticker, .n_workers = kn_pool_threads(pool)};
    *out = NULL;
    assert(reader->first.text != NULL); /* a reader reads once */
    KN_TRY(start_reading(&r, err));
    KN_TRY(read_rounds(&r, pool, err));
    drop_buffers(&r);
    KN_TRY(kn_table_new(&r.table, reader->name, reader->header.names, plans, reader->header.n_columns, err));
    r.table->n_rows = (uint32_t)r.n_rows;
    uint64_t n_crlf = 0;
    for (size_t i = 0; i < r.blocks.n; i++) n_crlf += r.blocks.items[i].n_crlf;
    reader->line_end = 2 * n_crlf > r.n_rows ? "\r\n" : "\n";
    KN_TRY(finish_columns(&r, pool, err));
    *out = r.table;
    r.table = NULL;
done:
    free_reading(&r);
    return status;
}

/* --- As a source ------------------------------------------------------------------------------------------------- */

static uint32_t n_columns_of(const void *reader) { return kn_csv_n_columns(reader); }
static const char *column_name_of(const void *reader, uint32_t column) { return kn_csv_column_name(reader, column); }
static void close_reader(void *reader) { kn_csv_close(reader); }

static kn_status read_all(kn_table **out, void *reader, const kn_column_plan *plans, kn_pool *pool, kn_ticker *ticker,
                          kn_error *err)
{
    return kn_csv_read(out, reader, plans, pool, ticker, err);
}

kn_text_form kn_csv_form(const kn_csv_reader *reader)
{
    return (kn_text_form){.delimiter = reader->dialect.delimiter,
                          .has_header = !reader->options.no_header,
                          .line_end = reader->line_end != NULL ? reader->line_end : "\n",
                          .n_unnamed = reader->header.n_unnamed,
                          .first_unnamed = reader->header.first_unnamed};
}

static kn_text_form form_of(const void *reader) { return kn_csv_form(reader); }

const kn_source_type kn_source_csv = {n_columns_of, column_name_of, read_all, form_of, close_reader};
