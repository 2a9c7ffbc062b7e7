/* The released file, written as lines.
 *
 * The texts of the columns are cells ready for the file: quoted, delimiter or line end included. Since no such cell is
 * the beginning of another, rows sorted by them are lines in byte order, as `LC_ALL=C sort` has it.
 *
 * Cost: one pass of copying on the pool, while the round before is written. */
#include "sink/csv_write.h"

#include <string.h>

typedef struct writer {
    const kn_released *released;
    const kn_text_form *form;
    kn_csv_quoting quoting;
    kn_spelling spelling;
    kn_pool *pool;
    kn_ticker *ticker;
    /* in rounds: jobs fill one set of buffers while the other one is written in order */
    kn_output *output;
    kn_buffer *filling, *ready;
    uint64_t round_begin;
    size_t longest_row;
} writer;

enum { ROWS_PER_JOB = 1 << 14, JOBS_PER_ROUND = 8 };

/* An empty cell is quoted where a reader would take it for an empty line, and what begins like a byte order mark, which
 * a reader would drop at the beginning of the file. */
void kn_csv_put(kn_buffer *out, const void *quoting, const char *bytes, size_t n_bytes, bool last_column)
{
    const kn_csv_quoting *q = quoting;
    const bool is_like_mark = n_bytes >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0;
    if ((n_bytes == 0 && q->n_columns == 1) || is_like_mark) kn_buffer_quoted(out, bytes, n_bytes);
    else kn_buffer_cell(out, bytes, n_bytes, q->form->delimiter);
    if (last_column) kn_buffer_text(out, q->form->line_end);
    else kn_buffer_char(out, q->form->delimiter);
}

static inline char *put_text(char *to, const kn_released_column *out, uint32_t rank)
{
    size_t n = (size_t)(out->offset[rank + 1] - out->offset[rank]);
    memcpy(to, out->bytes + out->offset[rank], n);
    return to + n;
}

/* The cells of neighbouring QIs. */
static char *put_class(char *to, const writer *w, uint32_t first, uint32_t end, uint32_t class)
{
    for (uint32_t c = first; c < end; c++)
        to = put_text(to, &w->released->columns[c],
                      w->released->columns[c].rank[w->released->columns[c].class_item[class]]);
    return to;
}

/* Rows were sorted: what is looked up of them is anywhere. */
static inline void fetch_row(const writer *w, uint32_t row)
{
    __builtin_prefetch(&w->released->release->row_class[row]);
    for (uint32_t c = 0; c < w->released->n_columns; c++) {
        const kn_column *column = w->released->columns[c].column;
        if (w->released->columns[c].q == KN_NONE)
            __builtin_prefetch((const char *)column->codes + (size_t)row * column->code_bytes);
    }
}

/* Rows of one class follow each other, mostly: their QIs are copied from the first of them, not from the row before,
 * whose bytes are still on their way to the cache. */
static kn_status format_rows(writer *w, kn_buffer *buffer, uint64_t begin, uint64_t end, kn_error *err)
{
    kn_status status = KN_OK;
    enum { AHEAD = 16 };
    const uint32_t *row_class = w->released->release->row_class;
    uint32_t last_class = KN_NONE; /* no row has this one: suppressed rows count as n_classes */
    struct stretch {               /* [column]: what neighbouring QIs became in the class, where the first of them is */
        size_t at, n;
    } *stretches = NULL;
    KN_NEW(stretches, w->released->n_columns);
    for (uint64_t i = begin; i < end; i++) {
        uint32_t row = w->released->order[i],
                 class = row_class[row] == KN_NONE ? w->released->release->n_classes : row_class[row];
        if (i + AHEAD < end) fetch_row(w, w->released->order[i + AHEAD]);
        if (!kn_buffer_reserve(buffer, w->longest_row)) KN_FAIL(KN_RESOURCES, "out of memory");
        char *to = buffer->bytes + buffer->n;
        for (uint32_t c = 0, next; c < w->released->n_columns; c = next) {
            const kn_released_column *out = &w->released->columns[c];
            for (next = c + 1;
                 out->q != KN_NONE && next < w->released->n_columns && w->released->columns[next].q != KN_NONE;)
                next++;
            if (out->q == KN_NONE) {
                to = put_text(to, out, out->rank[kn_column_code(out->column, row)]);
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
    if (end > w->released->n_rows) end = w->released->n_rows;
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
    for (uint32_t c = 0; c < w->released->n_columns; c++) {
        const kn_released_column *out = &w->released->columns[c];
        uint64_t longest = 0;
        for (uint32_t t = 0; t < out->n_texts; t++)
            if (out->offset[t + 1] - out->offset[t] > longest) longest = out->offset[t + 1] - out->offset[t];
        w->longest_row += longest;
    }
    for (uint64_t begin = 0; begin < w->released->n_rows + round_rows;
         begin += round_rows) { /* the last round only writes */
        w->round_begin = begin;
        KN_TRY(kn_pool_run(w->pool, 1 + JOBS_PER_ROUND, write_job, w, err));
        KN_TRY(
            kn_tick(w->ticker, "writing", begin < w->released->n_rows ? (double)begin / w->released->n_rows : 1, err));
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
    if (!w->form->has_header) return KN_OK;
    for (uint32_t c = 0; c < w->released->n_columns; c++) {
        const char *name = w->released->columns[c].name;
        kn_spell(&line, &w->spelling, name, strlen(name), c + 1 == w->released->n_columns);
    }
    if (line.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (line.n != 0) KN_TRY(kn_output_write(output, line.bytes, line.n, err));
done:
    kn_buffer_free(&line);
    return status;
}

kn_status kn_release_write(uint32_t **order, uint32_t *n_written, kn_output *output, const kn_release *release,
                           const kn_text_form *form, const kn_sink_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_released *released = NULL;
    kn_released_column *columns;
    uint32_t n_columns;
    if (order != NULL) *order = NULL;
    *n_written = 0;
    KN_TRY(kn_released_plan(&columns, &n_columns, release->tuples, options->cells, err));
    writer w = {.form = form, .quoting = {form, n_columns}, .pool = options->pool, .ticker = options->ticker};
    w.spelling = (kn_spelling){.put = kn_csv_put, .context = &w.quoting, .guard_formulas = options->guard_formulas};
    KN_TRY(kn_released_new(&released, release, columns, n_columns, &w.spelling, options, err));
    w.released = released;
    KN_TRY(write_header(&w, output, err));
    KN_TRY(write_rows(&w, output, err));
    *n_written = released->n_rows;
    if (order != NULL) {
        *order = released->order;
        released->order = NULL;
    }
done:
    kn_released_free(released);
    return status;
}
