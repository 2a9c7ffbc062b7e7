/* The released file.
 *
 * Every column becomes a list of ready texts (quoted, delimiter included) in byte order and, per row, the rank of its
 * text. Rows are then sorted by their ranks, column by column: since no cell with its delimiter is the beginning of
 * another, that is the byte order of the lines, as `LC_ALL=C sort` has it. So nothing of the input order leaves.
 *
 * Cells that are not generalized keep the bytes they were read with. Where one class spells a value in several ways
 * ("1", "1.0"), its rows get the most frequent spelling of the table: a class must look the same.
 *
 * Cost: a sort of the distinct texts, a radix sort of the rows, one pass of copying on the pool. */
#include "sink/csv_write.h"

#include "base/bits.h"
#include "base/formula.h"
#include "base/radix_sort.h"
#include "recode/cells.h"

#include <stdlib.h>
#include <string.h>

/* One released column: row -> item -> rank, and the texts by rank. An item is a spelling (copied columns) or a cell. */
typedef struct out_column {
    const kn_column *column;
    uint32_t q; /* number of the QI, or KN_NONE for a copied column */
    uint32_t n_items;
    uint32_t *rank;       /* [item] */
    uint32_t *class_item; /* QIs: [class], class n_classes is the suppressed rows */
    uint32_t n_texts;
    char *bytes;
    uint64_t *offset; /* n_texts + 1 */
} out_column;

typedef struct writer {
    const kn_release *release;
    const kn_table *table;
    char delimiter;
    bool guard_formulas;
    out_column *columns;
    uint32_t n_columns;
    uint32_t *order; /* rows to write, in order */
    uint32_t n_written;
    kn_pool *pool;
    kn_ticker *ticker;
    /* in rounds: jobs fill one set of buffers while the other one is written in order */
    kn_output *output;
    kn_buffer *filling, *ready;
    uint64_t round_begin;
    size_t longest_row;
} writer;

enum { ROWS_PER_JOB = 1 << 14, JOBS_PER_ROUND = 8 };

/* Quotes where the reader would need it: delimiter, quote, line end, or nothing at all in a one-column table (an empty
 * line). */
static void append_cell(kn_buffer *out, const char *bytes, size_t n, char delimiter, bool alone)
{
    bool quote = n == 0 ? alone : bytes[0] == '"';
    for (size_t i = 0; i < n && !quote; i++)
        quote = bytes[i] == delimiter || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r';
    if (!quote) {
        kn_buffer_append(out, bytes, n);
        return;
    }
    kn_buffer_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '"') kn_buffer_char(out, '"');
        kn_buffer_char(out, bytes[i]);
    }
    kn_buffer_char(out, '"');
}

typedef struct item_text {
    const char *bytes;
    size_t n_bytes;
    uint32_t item;
} item_text;

static int compare_texts(const void *a, const void *b)
{
    const item_text *x = a, *y = b;
    int order = memcmp(x->bytes, y->bytes, x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes);
    if (order != 0) return order;
    return (x->n_bytes > y->n_bytes) - (x->n_bytes < y->n_bytes);
}

/* `texts`: the items' ready cells one after the other, ends[item] where each ends. */
static kn_status rank_texts(out_column *out, const kn_buffer *texts, const uint64_t *ends, kn_error *err)
{
    kn_status status = KN_OK;
    item_text *sorted = NULL;
    KN_NEW(sorted, out->n_items);
    KN_NEW(out->rank, out->n_items);
    KN_NEW(out->offset, (size_t)out->n_items + 1);
    KN_NEW_RAW(out->bytes, texts->n);
    for (uint32_t i = 0; i < out->n_items; i++) {
        uint64_t begin = i != 0 ? ends[i - 1] : 0;
        sorted[i] = (item_text){texts->bytes + begin, (size_t)(ends[i] - begin), i};
    }
    qsort(sorted, out->n_items, sizeof *sorted, compare_texts);
    uint64_t at = 0;
    for (uint32_t i = 0; i < out->n_items; i++) {
        if (i == 0 || compare_texts(&sorted[i], &sorted[i - 1]) != 0) {
            memcpy(out->bytes + at, sorted[i].bytes, sorted[i].n_bytes);
            at += sorted[i].n_bytes;
            out->offset[++out->n_texts] = at;
        }
        out->rank[sorted[i].item] = out->n_texts - 1;
    }
done:
    kn_free(sorted);
    return status;
}

/* Whatever is written passes here: cells, generalized or not, and names. */
static void append_item(const writer *w, kn_buffer *texts, bool last_column, const char *bytes, size_t n)
{
    if (w->guard_formulas && kn_is_formula(bytes, n)) {
        kn_buffer guarded = {0};
        kn_buffer_char(&guarded, '\'');
        kn_buffer_append(&guarded, bytes, n);
        append_cell(texts, guarded.bytes != NULL ? guarded.bytes : "", guarded.n, w->delimiter, w->n_columns == 1);
        texts->failed |= guarded.failed;
        kn_buffer_free(&guarded);
    } else {
        append_cell(texts, bytes, n, w->delimiter, w->n_columns == 1);
    }
    if (last_column) kn_buffer_text(texts, w->table->line_end);
    else kn_buffer_char(texts, w->delimiter);
}

static kn_status prepare_copied(writer *w, out_column *out, bool last_column, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer texts = {0};
    uint64_t *ends = NULL;
    out->n_items = out->column->n_spellings;
    KN_NEW(ends, out->n_items);
    for (uint32_t i = 0; i < out->n_items; i++) {
        size_t n;
        const char *bytes = kn_column_bytes(out->column, i, &n);
        append_item(w, &texts, last_column, bytes, n);
        ends[i] = texts.n;
    }
    if (texts.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(rank_texts(out, &texts, ends, err));
done:
    kn_buffer_free(&texts);
    kn_free(ends);
    return status;
}

/* Which spelling a class of one value is written with: its own when its rows agree, KN_NONE otherwise. */
static kn_status class_spellings(uint32_t **out, const kn_release *release, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    enum { UNSEEN = UINT32_MAX - 1 };
    *out = NULL;
    KN_NEW_RAW(*out, release->n_classes);
    for (uint32_t c = 0; c < release->n_classes; c++) (*out)[c] = UNSEEN;
    for (uint32_t row = 0; row < release->tuples->n_rows; row++) {
        uint32_t c = release->row_class[row], spelling = kn_column_code(column, row);
        if (c == KN_NONE) continue;
        if ((*out)[c] == UNSEEN) (*out)[c] = spelling;
        if ((*out)[c] != spelling) (*out)[c] = KN_NONE;
    }
done:
    return status;
}

static kn_status cell_text(kn_buffer *text, const writer *w, uint32_t q, const kn_cell *cell, uint32_t spelling,
                           kn_error *err)
{
    const kn_domain *domain = w->release->tuples->domains[q];
    kn_buffer_clear(text);
    if (kn_cell_is_value(cell, domain)) {
        if (spelling == KN_NONE) spelling = domain->spelling_of_code[cell->first];
        if (spelling != KN_NONE) {
            size_t n;
            const char *bytes = kn_column_bytes(domain->column, spelling, &n);
            kn_buffer_append(text, bytes, n);
            return text->failed ? kn_error_set(err, KN_RESOURCES, "out of memory") : KN_OK;
        }
    }
    kn_cell_text(text, cell, domain, w->release->sets);
    return text->failed ? kn_error_set(err, KN_RESOURCES, "out of memory") : KN_OK;
}

/* Distinct (cell, spelling) pairs of the classes are the items; one more is the suppressed rows' star. */
static kn_status prepare_quasi(writer *w, out_column *out, bool last_column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_release *r = w->release;
    const uint32_t n_classes = r->n_classes, n_qis = r->tuples->n_qis;
    uint32_t *spelling = NULL, *first = NULL;
    uint64_t *ends = NULL;
    kn_buffer texts = {0}, text = {0};
    KN_NEW(out->class_item, n_classes + 1);
    if (out->column->spelling_value != NULL) KN_TRY(class_spellings(&spelling, r, out->column, err));
    for (uint32_t c = 0; spelling != NULL && c < n_classes; c++) {
        const kn_cell *cell = &r->cells[(size_t)c * n_qis + out->q];
        if (cell->first != cell->last) spelling[c] = KN_NONE;
    }
    KN_TRY(kn_cells_group(out->class_item, &out->n_items, &first, r->cells + out->q, n_classes, 1, n_qis, spelling,
                          w->pool, w->ticker, err));
    KN_NEW(ends, (size_t)out->n_items + 1);
    for (uint32_t i = 0; i < out->n_items; i++) {
        const kn_cell *cell = &r->cells[(size_t)first[i] * n_qis + out->q];
        KN_TRY(cell_text(&text, w, out->q, cell, spelling != NULL ? spelling[first[i]] : KN_NONE, err));
        append_item(w, &texts, last_column, text.bytes != NULL ? text.bytes : "", text.n);
        ends[i] = texts.n;
    }
    append_item(w, &texts, last_column, "*", 1);
    ends[out->n_items] = texts.n;
    out->class_item[n_classes] = out->n_items++;
    if (texts.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(rank_texts(out, &texts, ends, err));
done:
    kn_free(spelling);
    kn_free(first);
    kn_free(ends);
    kn_buffer_free(&texts);
    kn_buffer_free(&text);
    return status;
}

static uint32_t find_qi(const kn_tuples *tuples, const kn_column *column)
{
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (tuples->domains[q]->column == column) return q;
    return KN_NONE;
}

static kn_status prepare_columns(writer *w, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_out = 0;
    for (uint32_t c = 0; c < w->table->n_columns; c++)
        n_out += w->table->columns[c].role != KN_ROLE_IDENTIFIER && w->table->columns[c].role != KN_ROLE_DROPPED;
    KN_NEW(w->columns, n_out);
    w->n_columns = n_out;
    n_out = 0;
    for (uint32_t c = 0; c < w->table->n_columns; c++) {
        const kn_column *column = &w->table->columns[c];
        if (column->role == KN_ROLE_IDENTIFIER || column->role == KN_ROLE_DROPPED) continue;
        out_column *out = &w->columns[n_out++];
        *out = (out_column){.column = column, .q = find_qi(w->release->tuples, column)};
        bool last = n_out == w->n_columns;
        KN_TRY(out->q != KN_NONE ? prepare_quasi(w, out, last, err) : prepare_copied(w, out, last, err));
        KN_TRY(kn_tick(w->ticker, "writing", -1, err));
    }
done:
    return status;
}

static inline uint32_t rank_of(const writer *w, const out_column *out, uint32_t row)
{
    if (out->q == KN_NONE) return out->rank[kn_column_code(out->column, row)];
    uint32_t c = w->release->row_class[row];
    return out->rank[out->class_item[c == KN_NONE ? w->release->n_classes : c]];
}

static uint32_t rank_bits(const out_column *out) { return kn_bits_for(out->n_texts); }

typedef struct key_range {
    const writer *w;
    uint64_t *keys;
    const uint32_t *rows;
    uint32_t first_column, end_column;
} key_range;

enum { KEY_ROWS = 1 << 16 };

static kn_status fill_keys(void *context, size_t job, unsigned worker, kn_error *err)
{
    key_range *range = context;
    uint64_t begin = (uint64_t)job * KEY_ROWS, end = begin + KEY_ROWS;
    if (end > range->w->n_written) end = range->w->n_written;
    memset(range->keys + begin, 0, (size_t)(end - begin) * sizeof *range->keys);
    for (uint32_t c = range->first_column; c < range->end_column; c++) {
        const out_column *out = &range->w->columns[c];
        unsigned n_bits = rank_bits(out);
        for (uint64_t i = begin; i < end; i++)
            range->keys[i] = range->keys[i] << n_bits | rank_of(range->w, out, range->rows[i]);
    }
    return KN_OK;
}

/* Columns are packed into 64-bit keys, last columns first; the sort is stable, so the first columns decide last. */
static kn_status sort_rows(writer *w, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *keys = NULL;
    KN_NEW_RAW(keys, w->n_written);
    for (uint32_t end = w->n_columns; end > 0;) {
        uint32_t first = end;
        unsigned n_bits = 0;
        while (first > 0 && n_bits + rank_bits(&w->columns[first - 1]) <= 64) n_bits += rank_bits(&w->columns[--first]);
        key_range range = {w, keys, w->order, first, end};
        KN_TRY(kn_pool_run(w->pool, w->n_written / KEY_ROWS + 1, fill_keys, &range, err));
        KN_TRY(kn_radix_sort(keys, w->order, w->n_written, n_bits, w->pool, err));
        KN_TRY(kn_tick(w->ticker, "sorting", -1, err));
        end = first;
    }
done:
    kn_free(keys);
    return status;
}

static inline char *put_text(char *to, const out_column *out, uint32_t rank)
{
    size_t n = (size_t)(out->offset[rank + 1] - out->offset[rank]);
    memcpy(to, out->bytes + out->offset[rank], n);
    return to + n;
}

/* The cells of neighbouring QIs. */
static char *put_class(char *to, const writer *w, uint32_t first, uint32_t end, uint32_t class)
{
    for (uint32_t c = first; c < end; c++)
        to = put_text(to, &w->columns[c], w->columns[c].rank[w->columns[c].class_item[class]]);
    return to;
}

/* Rows were sorted: what is looked up of them is anywhere. */
static inline void fetch_row(const writer *w, uint32_t row)
{
    __builtin_prefetch(&w->release->row_class[row]);
    for (uint32_t c = 0; c < w->n_columns; c++) {
        const kn_column *column = w->columns[c].column;
        if (w->columns[c].q == KN_NONE)
            __builtin_prefetch((const char *)column->codes + (size_t)row * column->code_bytes);
    }
}

/* Rows of one class follow each other, mostly: their QIs are copied from the first of them, not from the row before,
 * whose bytes are still on their way to the cache. */
static kn_status format_rows(writer *w, kn_buffer *buffer, uint64_t begin, uint64_t end, kn_error *err)
{
    kn_status status = KN_OK;
    enum { AHEAD = 16 };
    const uint32_t *row_class = w->release->row_class;
    uint32_t last_class = KN_NONE; /* no row has this one: suppressed rows count as n_classes */
    struct stretch {               /* [column]: what neighbouring QIs became in the class, where the first of them is */
        size_t at, n;
    } *stretches = NULL;
    KN_NEW(stretches, w->n_columns);
    for (uint64_t i = begin; i < end; i++) {
        uint32_t row = w->order[i], class = row_class[row] == KN_NONE ? w->release->n_classes : row_class[row];
        if (i + AHEAD < end) fetch_row(w, w->order[i + AHEAD]);
        if (!kn_buffer_reserve(buffer, w->longest_row)) KN_FAIL(KN_RESOURCES, "out of memory");
        char *to = buffer->bytes + buffer->n;
        for (uint32_t c = 0, next; c < w->n_columns; c = next) {
            const out_column *out = &w->columns[c];
            for (next = c + 1; out->q != KN_NONE && next < w->n_columns && w->columns[next].q != KN_NONE;) next++;
            if (out->q == KN_NONE) {
                to = put_text(to, out, rank_of(w, out, row));
                continue;
            }
            struct stretch *same = &stretches[c];
            if (class == last_class) {
                memcpy(to, buffer->bytes + same->at, same->n);
                to += same->n;
            } else {
                char *from = to;
                to = put_class(to, w, c, next, class);
                *same = (struct stretch){(size_t)(from - buffer->bytes), (size_t)(to - from)};
            }
        }
        buffer->n = (size_t)(to - buffer->bytes);
        last_class = class;
    }
done:
    kn_free(stretches);
    return status;
}

/* Job 0 writes what the round before has formatted, the others format. */
static kn_status write_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    writer *w = context;
    if (job == 0) {
        for (uint32_t j = 0; j < JOBS_PER_ROUND; j++)
            if (w->ready[j].n != 0) KN_TRY(kn_output_write(w->output, w->ready[j].bytes, w->ready[j].n, err));
        return KN_OK;
    }
    uint64_t begin = w->round_begin + (uint64_t)(job - 1) * ROWS_PER_JOB, end = begin + ROWS_PER_JOB;
    if (end > w->n_written) end = w->n_written;
    kn_buffer_clear(&w->filling[job - 1]);
    if (begin < end) KN_TRY(format_rows(w, &w->filling[job - 1], begin, end, err));
done:
    return status;
}

static kn_status write_rows(writer *w, kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    const uint64_t round_rows = (uint64_t)ROWS_PER_JOB * JOBS_PER_ROUND;
    kn_buffer *buffers = NULL;
    KN_NEW(buffers, 2 * JOBS_PER_ROUND);
    w->output = output;
    w->filling = buffers;
    w->ready = buffers + JOBS_PER_ROUND;
    for (uint32_t c = 0; c < w->n_columns; c++) {
        const out_column *out = &w->columns[c];
        uint64_t longest = 0;
        for (uint32_t t = 0; t < out->n_texts; t++)
            if (out->offset[t + 1] - out->offset[t] > longest) longest = out->offset[t + 1] - out->offset[t];
        w->longest_row += longest;
    }
    for (uint64_t begin = 0; begin < w->n_written + round_rows; begin += round_rows) { /* the last round only writes */
        w->round_begin = begin;
        KN_TRY(kn_pool_run(w->pool, 1 + JOBS_PER_ROUND, write_job, w, err));
        KN_TRY(kn_tick(w->ticker, "writing", begin < w->n_written ? (double)begin / w->n_written : 1, err));
        kn_buffer *filled = w->filling;
        w->filling = w->ready;
        w->ready = filled;
    }
done:
    for (uint32_t j = 0; buffers != NULL && j < 2 * JOBS_PER_ROUND; j++) kn_buffer_free(&buffers[j]);
    kn_free(buffers);
    return status;
}

static kn_status write_header(const writer *w, kn_output *output, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer line = {0};
    if (!w->table->has_header) return KN_OK;
    for (uint32_t c = 0; c < w->n_columns; c++) {
        const char *name = w->columns[c].column->name;
        append_item(w, &line, c + 1 == w->n_columns, name, strlen(name));
    }
    if (line.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (line.n != 0) KN_TRY(kn_output_write(output, line.bytes, line.n, err));
done:
    kn_buffer_free(&line);
    return status;
}

kn_status kn_release_write(uint32_t **order, uint32_t *n_written, kn_output *output, const kn_release *release,
                           kn_row_order row_order, bool guard_formulas, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = release->tuples->table;
    writer w = {.release = release,
                .table = table,
                .delimiter = table->delimiter,
                .guard_formulas = guard_formulas,
                .pool = pool,
                .ticker = ticker};
    if (order != NULL) *order = NULL;
    *n_written = 0;
    KN_TRY(prepare_columns(&w, err));
    KN_NEW_RAW(w.order, table->n_rows);
    for (uint32_t row = 0; row < table->n_rows; row++)
        if (release->row_class[row] != KN_NONE || release->n_removed == 0) w.order[w.n_written++] = row;
    if (row_order == KN_ORDER_SORTED) KN_TRY(sort_rows(&w, err));
    KN_TRY(write_header(&w, output, err));
    KN_TRY(write_rows(&w, output, err));
    *n_written = w.n_written;
    if (order != NULL) {
        *order = w.order;
        w.order = NULL;
    }
done:
    for (uint32_t c = 0; w.columns != NULL && c < w.n_columns; c++) {
        kn_free(w.columns[c].rank);
        kn_free(w.columns[c].class_item);
        kn_free(w.columns[c].bytes);
        kn_free(w.columns[c].offset);
    }
    kn_free(w.columns);
    kn_free(w.order);
    return status;
}
