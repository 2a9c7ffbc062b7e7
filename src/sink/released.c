/* From a release in codes to texts and rows in their order.
 *
 * Every column becomes a list of texts in byte order and, per row, the rank of its text. Rows are then sorted by their
 * ranks, column by column, so nothing of the input order leaves.
 *
 * Cost: a sort of the distinct texts, a radix sort of the rows. */
#include "sink/sink.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/formula.h"
#include "base/radix_sort.h"
#include "classes/cells.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
    kn_released *out;
    const kn_release *release;
    const kn_spelling *spelling;
    kn_pool *pool;
    kn_ticker *ticker;
} maker;

void kn_spell(kn_buffer *out, const kn_spelling *spelling, const char *bytes, size_t n_bytes, bool last_column)
{
    kn_buffer guarded = {0};
    if (spelling->guard_formulas && kn_is_formula(bytes, n_bytes)) {
        kn_buffer_char(&guarded, '\'');
        kn_buffer_append(&guarded, bytes, n_bytes);
        out->failed |= guarded.failed;
        bytes = guarded.bytes != NULL ? guarded.bytes : "";
        n_bytes = guarded.n;
    }
    spelling->put(out, spelling->context, bytes, n_bytes, last_column);
    kn_buffer_free(&guarded);
}

static bool is_released(const kn_column *column)
{
    return column->role != KN_ROLE_IDENTIFIER && column->role != KN_ROLE_DROPPED;
}

uint32_t kn_released_n_columns(const kn_table *table)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < table->n_columns; c++) n += is_released(&table->columns[c]);
    return n;
}

typedef struct item_text {
    const char *bytes;
    size_t n_bytes;
    uint32_t item;
} item_text;

static int compare_texts(const void *a, const void *b)
{
    const item_text *x = a, *y = b;
    return kn_bytes_compare(x->bytes, x->n_bytes, y->bytes, y->n_bytes);
}

/* `texts`: the items' ready cells one after the other, ends[item] where each ends. */
static kn_status rank_texts(kn_released_column *out, const kn_buffer *texts, const uint64_t *ends, kn_error *err)
{
    kn_status status = KN_OK;
    item_text *sorted = NULL;
    KN_NEW(sorted, out->n_items);
    KN_NEW(out->rank, out->n_items);
    KN_NEW(out->offset, (size_t)out->n_items + 1);
    KN_NEW_RAW(out->bytes, texts->n);
    const char *all = texts->bytes != NULL ? texts->bytes : ""; /* NULL where every text is empty */
    for (uint32_t i = 0; i < out->n_items; i++) {
        uint64_t begin = i != 0 ? ends[i - 1] : 0;
        sorted[i] = (item_text){all + begin, (size_t)(ends[i] - begin), i};
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

static kn_status prepare_copied(maker *w, kn_released_column *out, bool last_column, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer texts = {0};
    uint64_t *ends = NULL;
    out->n_items = out->column->n_spellings;
    KN_NEW(ends, out->n_items);
    for (uint32_t i = 0; i < out->n_items; i++) {
        size_t n;
        const char *bytes = kn_column_bytes(out->column, i, &n);
        kn_spell(&texts, w->spelling, bytes, n, last_column);
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

static kn_status cell_text(kn_buffer *text, const maker *w, uint32_t q, const kn_cell *cell, uint32_t spelling,
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
static kn_status prepare_quasi(maker *w, kn_released_column *out, bool last_column, kn_error *err)
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
        kn_spell(&texts, w->spelling, text.bytes != NULL ? text.bytes : "", text.n, last_column);
        ends[i] = texts.n;
    }
    kn_spell(&texts, w->spelling, "*", 1, last_column);
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

static kn_status prepare_columns(maker *w, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = w->release->tuples->table;
    uint32_t n_out = kn_released_n_columns(table), next = 0;
    KN_NEW(w->out->columns, n_out);
    w->out->n_columns = n_out;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (!is_released(column)) continue;
        kn_released_column *out = &w->out->columns[next++];
        *out = (kn_released_column){.column = column, .q = find_qi(w->release->tuples, column)};
        bool last = next == n_out;
        KN_TRY(out->q != KN_NONE ? prepare_quasi(w, out, last, err) : prepare_copied(w, out, last, err));
        KN_TRY(kn_tick(w->ticker, "writing", -1, err));
    }
done:
    return status;
}

static uint32_t rank_bits(const kn_released_column *out) { return kn_bits_for(out->n_texts); }

typedef struct key_range {
    const maker *w;
    uint64_t *keys;
    const uint32_t *rows;
    uint32_t first_column, end_column;
} key_range;

enum { KEY_ROWS = 1 << 16 };

static kn_status fill_keys(void *context, size_t job, unsigned worker, kn_error *err)
{
    key_range *range = context;
    uint64_t begin = (uint64_t)job * KEY_ROWS, end = begin + KEY_ROWS;
    if (end > range->w->out->n_rows) end = range->w->out->n_rows;
    memset(range->keys + begin, 0, (size_t)(end - begin) * sizeof *range->keys);
    for (uint32_t c = range->first_column; c < range->end_column; c++) {
        const kn_released_column *out = &range->w->out->columns[c];
        unsigned n_bits = rank_bits(out);
        for (uint64_t i = begin; i < end; i++)
            range->keys[i] = range->keys[i] << n_bits | kn_released_text(range->w->out, out, range->rows[i]);
    }
    return KN_OK;
}

/* Columns are packed into 64-bit keys, last columns first; the sort is stable, so the first columns decide last. */
static kn_status sort_rows(maker *w, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *keys = NULL;
    KN_NEW_RAW(keys, w->out->n_rows);
    for (uint32_t end = w->out->n_columns; end > 0;) {
        uint32_t first = end;
        unsigned n_bits = 0;
        while (first > 0 && n_bits + rank_bits(&w->out->columns[first - 1]) <= 64)
            n_bits += rank_bits(&w->out->columns[--first]);
        key_range range = {w, keys, w->out->order, first, end};
        KN_TRY(kn_pool_run(w->pool, w->out->n_rows / KEY_ROWS + 1, fill_keys, &range, err));
        KN_TRY(kn_radix_sort(keys, w->out->order, w->out->n_rows, n_bits, w->pool, err));
        KN_TRY(kn_tick(w->ticker, "sorting", -1, err));
        end = first;
    }
done:
    kn_free(keys);
    return status;
}

kn_status kn_released_new(kn_released **out, const kn_release *release, kn_row_order row_order,
                          const kn_spelling *spelling, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_released *released = NULL;
    const uint32_t n_rows = release->tuples->table->n_rows;
    *out = NULL;
    KN_NEW(released, 1);
    released->release = release;
    maker w = {released, release, spelling, pool, ticker};
    KN_TRY(prepare_columns(&w, err));
    KN_NEW_RAW(released->order, n_rows);
    for (uint32_t row = 0; row < n_rows; row++)
        if (release->row_class[row] != KN_NONE || release->n_removed == 0) released->order[released->n_rows++] = row;
    if (row_order == KN_ORDER_SORTED) KN_TRY(sort_rows(&w, err));
    *out = released;
    released = NULL;
done:
    kn_released_free(released);
    return status;
}

void kn_released_free(kn_released *released)
{
    if (released == NULL) return;
    for (uint32_t c = 0; released->columns != NULL && c < released->n_columns; c++) {
        kn_free(released->columns[c].rank);
        kn_free(released->columns[c].class_item);
        kn_free(released->columns[c].bytes);
        kn_free(released->columns[c].offset);
    }
    kn_free(released->columns);
    kn_free(released->order);
    kn_free(released);
}
