/* From a release in codes to texts and rows in their order.
 *
 * Every column becomes a list of texts in the order of their spellings and, per row, the rank of its text. Rows are
 * then sorted by their ranks, column by column, so nothing of the input order leaves.
 *
 * Cost: a sort of the distinct texts, radix sorts of the classes and of the rows. */
#include "sink/sink.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/formula.h"
#include "base/radix_sort.h"
#include "classes/cells.h"
#include "classes/group.h"

#include <stdlib.h>
#include <string.h>

typedef struct maker {
    kn_released *out;
    const kn_release *release;
    const kn_spelling *spelling;
    kn_pool *pool;
    kn_ticker *ticker;
    uint32_t *class_group; /* of classes that look the same, made when a mean is asked for */
    uint32_t n_groups;
} maker;

/* `plain`: guarded, but not put as the sink spells it. */
static void spell(kn_buffer *out, const kn_spelling *spelling, const char *bytes, size_t n_bytes, bool last_column,
                  bool plain)
{
    kn_buffer guarded = {0};
    if (spelling->guard_formulas && kn_is_formula(bytes, n_bytes)) {
        kn_buffer_char(&guarded, '\'');
        kn_buffer_append(&guarded, bytes, n_bytes);
        out->failed |= guarded.failed;
        bytes = guarded.bytes != NULL ? guarded.bytes : "";
        n_bytes = guarded.n;
    }
    if (plain) kn_buffer_append(out, bytes, n_bytes);
    else spelling->put(out, spelling->context, bytes, n_bytes, last_column);
    kn_buffer_free(&guarded);
}

void kn_spell(kn_buffer *out, const kn_spelling *spelling, const char *bytes, size_t n_bytes, bool last_column)
{
    spell(out, spelling, bytes, n_bytes, last_column, spelling->plain);
}

/* The items' texts, one after the other. */
typedef struct item_texts {
    kn_buffer spelled, plain; /* plain: of a spelling that only decides the order */
    uint64_t *ends, *plain_ends;
} item_texts;

static kn_status texts_new(item_texts *out, size_t n_items, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(out->ends, n_items);
    KN_NEW(out->plain_ends, n_items);
done:
    return status;
}

static void texts_free(item_texts *texts)
{
    kn_buffer_free(&texts->spelled);
    kn_buffer_free(&texts->plain);
    kn_free(texts->ends);
    kn_free(texts->plain_ends);
}

static void texts_put(item_texts *texts, uint32_t item, const kn_spelling *spelling, const char *bytes, size_t n_bytes,
                      bool last_column)
{
    spell(&texts->spelled, spelling, bytes, n_bytes, last_column, false);
    texts->ends[item] = texts->spelled.n;
    if (spelling->plain) spell(&texts->plain, spelling, bytes, n_bytes, last_column, true);
    texts->plain_ends[item] = texts->plain.n;
}

static bool is_released(const kn_column *column)
{
    return column->role != KN_ROLE_IDENTIFIER && column->role != KN_ROLE_DROPPED;
}

static uint32_t find_qi(const kn_tuples *tuples, const kn_column *column)
{
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (tuples->domains[q]->column == column) return q;
    return KN_NONE;
}

/* --- Which columns ----------------------------------------------------------------------------------------------- */

static kn_status name_part(kn_released_column *out, const kn_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    static const char *const ends[] = {"", "_min", "_max", "_kind", "_mean"};
    kn_buffer name = {0};
    kn_buffer_printf(&name, "%s%s", out->column->name, ends[out->part]);
    KN_TRY(kn_buffer_finish(&out->name, &name, err));
    if (out->part != KN_PART_CELL && kn_table_find(table, out->name) != KN_NONE)
        KN_FAIL_AT(
            KN_USAGE, KN_PLACE(.option = "cells", .column = out->name),
            "column %s: the bounds of %s would have that name, and the data has such a column; rename it, or say "
            "--cells labels",
            out->name, out->column->name);
done:
    return status;
}

void kn_released_columns_free(kn_released_column *columns, uint32_t n_columns)
{
    for (uint32_t c = 0; columns != NULL && c < n_columns; c++) {
        kn_free(columns[c].name);
        kn_free(columns[c].rank);
        kn_free(columns[c].class_item);
        kn_free(columns[c].bytes);
        kn_free(columns[c].offset);
    }
    kn_free(columns);
}

kn_status kn_released_plan(kn_released_column **out, uint32_t *n_out, const kn_tuples *tuples, kn_cells_form cells,
                           kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = tuples->table;
    kn_released_column *columns = NULL;
    uint32_t n = 0;
    *out = NULL;
    *n_out = 0;
    KN_NEW(columns, (size_t)table->n_columns * (KN_PART_MEAN + 1));
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (!is_released(column)) continue;
        const uint32_t q = find_qi(tuples, column);
        kn_bounds_form form = {0};
        if (q != KN_NONE && cells != KN_CELLS_LABELS) KN_TRY(kn_bounds_form_of(&form, tuples->domains[q], err));
        for (kn_released_part part = KN_PART_CELL; part <= KN_PART_MEAN; part++) {
            if (part == KN_PART_CELL && form.has_bounds && cells == KN_CELLS_BOUNDS) continue;
            if (part > KN_PART_CELL && !form.has_bounds) continue;
            if (part == KN_PART_MEAN && (cells != KN_CELLS_BOTH || !form.has_mean)) continue;
            columns[n] = (kn_released_column){.column = column, .part = part, .form = form, .q = q};
            KN_TRY(name_part(&columns[n++], table, err));
        }
    }
    *out = columns;
    *n_out = n;
    columns = NULL;
done:
    kn_released_columns_free(columns, n);
    return status;
}

/* --- Texts ------------------------------------------------------------------------------------------------------- */

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

static item_text text_at(const kn_buffer *texts, const uint64_t *ends, uint32_t item)
{
    uint64_t begin = item != 0 ? ends[item - 1] : 0;
    const char *all = texts->bytes != NULL ? texts->bytes : ""; /* NULL where every text is empty */
    return (item_text){all + begin, (size_t)(ends[item] - begin), item};
}

/* The first eight bytes, the first one highest, with zeros behind a shorter text: they decide most of the order. */
static uint64_t text_head(const item_text *text)
{
    uint64_t head = 0;
    for (size_t i = 0; i < 8; i++) head = head << 8 | (i < text->n_bytes ? (unsigned char)text->bytes[i] : 0);
    return head;
}

/* Texts whose heads agree are put in order among themselves. */
static kn_status sort_alike(uint32_t *order, const uint64_t *heads, uint32_t n, const item_texts *texts, kn_error *err)
{
    kn_status status = KN_OK;
    KN_VECTOR(item_text) alike = {0};
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && heads[end] == heads[begin];) end++;
        if (end - begin < 2) continue;
        alike.n = 0;
        KN_RESERVE(&alike, end - begin);
        for (uint32_t i = begin; i < end; i++) alike.items[alike.n++] = text_at(&texts->spelled, texts->ends, order[i]);
        qsort(alike.items, alike.n, sizeof *alike.items, compare_texts);
        for (uint32_t i = begin; i < end; i++) order[i] = alike.items[i - begin].item;
    }
done:
    kn_free(alike.items);
    return status;
}

static kn_status sort_texts(uint32_t **out, uint32_t n, const item_texts *texts, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *heads = NULL;
    *out = NULL;
    KN_NEW_RAW(*out, n);
    KN_NEW_RAW(heads, n);
    for (uint32_t i = 0; i < n; i++) {
        const item_text text = text_at(&texts->spelled, texts->ends, i);
        (*out)[i] = i;
        heads[i] = text_head(&text);
    }
    KN_TRY(kn_radix_sort(heads, *out, n, 64, NULL, err));
    KN_TRY(sort_alike(*out, heads, n, texts, err));
done:
    kn_free(heads);
    return status;
}

static kn_status rank_texts(kn_released_column *out, const item_texts *texts, bool plain, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    item_text before = {0};
    if (texts->spelled.failed || texts->plain.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(sort_texts(&order, out->n_items, texts, err));
    KN_NEW_RAW(out->rank, out->n_items);
    KN_NEW(out->offset, (size_t)out->n_items + 1);
    KN_NEW_RAW(out->bytes, plain ? texts->plain.n : texts->spelled.n);
    uint64_t at = 0;
    for (uint32_t i = 0; i < out->n_items; i++) {
        const item_text text = text_at(&texts->spelled, texts->ends, order[i]);
        if (i == 0 || compare_texts(&text, &before) != 0) {
            const item_text kept = plain ? text_at(&texts->plain, texts->plain_ends, order[i]) : text;
            memcpy(out->bytes + at, kept.bytes, kept.n_bytes);
            at += kept.n_bytes;
            out->offset[++out->n_texts] = at;
        }
        out->rank[order[i]] = out->n_texts - 1;
        before = text;
    }
done:
    kn_free(order);
    return status;
}

static kn_status prepare_copied(const maker *w, kn_released_column *out, bool last_column, kn_error *err)
{
    kn_status status = KN_OK;
    item_texts texts = {0};
    out->n_items = out->column->n_spellings;
    KN_TRY(texts_new(&texts, out->n_items, err));
    for (uint32_t i = 0; i < out->n_items; i++) {
        size_t n;
        const char *bytes = kn_column_bytes(out->column, i, &n);
        texts_put(&texts, i, w->spelling, bytes, n, last_column);
    }
    KN_TRY(rank_texts(out, &texts, w->spelling->plain, err));
done:
    texts_free(&texts);
    return status;
}

/* Which spelling a class of one value is written with: its own when its rows agree, KN_NONE otherwise. */
static kn_status class_spellings(uint32_t **out, const kn_release *release, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t UNSEEN = UINT32_MAX - 1;
    *out = NULL;
    KN_NEW_RAW(*out, release->n_classes);
    for (uint32_t c = 0; c < release->n_classes; c++) (*out)[c] = UNSEEN;
    for (uint32_t row = 0; row < release->tuples->n_records; row++) {
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

/* A cell of a column of bounds. */
static kn_status bound_text(kn_buffer *text, const maker *w, const kn_released_column *out, const kn_cell *cell,
                            kn_error *err)
{
    kn_status status = KN_OK;
    kn_bounds bounds = {.kind = KN_BOUNDS_SUPPRESSED};
    kn_buffer_clear(text);
    if (cell != NULL)
        KN_TRY(
            kn_bounds_of_cell(&bounds, w->release->tuples->domains[out->q], &out->form, cell, w->release->sets, err));
    kn_buffer_text(text, out->part == KN_PART_MIN   ? bounds.min
                         : out->part == KN_PART_MAX ? bounds.max
                                                    : kn_bounds_kind_name(bounds.kind));
    if (text->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

/* Distinct (cell, spelling) pairs of the classes are the items; one more is the suppressed rows' star. */
static kn_status prepare_quasi(const maker *w, kn_released_column *out, bool last_column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_release *r = w->release;
    const uint32_t n_classes = r->n_classes, n_qis = r->tuples->n_qis;
    uint32_t *spelling = NULL, *first = NULL;
    item_texts texts = {0};
    kn_buffer text = {0};
    KN_NEW(out->class_item, n_classes + 1);
    const bool is_spelled = out->part == KN_PART_CELL && out->column->spelling_value != NULL;
    if (is_spelled) KN_TRY(class_spellings(&spelling, r, out->column, err));
    for (uint32_t c = 0; spelling != NULL && c < n_classes; c++) {
        const kn_cell *cell = &r->cells[(size_t)c * n_qis + out->q];
        if (cell->first != cell->last) spelling[c] = KN_NONE;
    }
    KN_TRY(kn_cells_group(out->class_item, &out->n_items, &first, r->cells + out->q, n_classes, 1, n_qis, spelling,
                          NULL, w->ticker, err));
    KN_TRY(texts_new(&texts, (size_t)out->n_items + 1, err));
    for (uint32_t i = 0; i < out->n_items; i++) {
        const kn_cell *cell = &r->cells[(size_t)first[i] * n_qis + out->q];
        if (out->part == KN_PART_CELL)
            KN_TRY(cell_text(&text, w, out->q, cell, spelling != NULL ? spelling[first[i]] : KN_NONE, err));
        else KN_TRY(bound_text(&text, w, out, cell, err));
        texts_put(&texts, i, w->spelling, text.bytes != NULL ? text.bytes : "", text.n, last_column);
    }
    kn_buffer_clear(&text);
    if (out->part == KN_PART_CELL) kn_buffer_char(&text, '*');
    else KN_TRY(bound_text(&text, w, out, NULL, err));
    if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    texts_put(&texts, out->n_items, w->spelling, text.bytes != NULL ? text.bytes : "", text.n, last_column);
    out->class_item[n_classes] = out->n_items++;
    KN_TRY(rank_texts(out, &texts, w->spelling->plain, err));
done:
    kn_free(spelling);
    kn_free(first);
    texts_free(&texts);
    kn_buffer_free(&text);
    return status;
}

/* --- Means ------------------------------------------------------------------------------------------------------- */

/* Whoever looks the same is in one group: classes with the same texts in every quasi-identifier. A mean is theirs, so
 * that it tells nobody apart whom the other cells do not. */
static kn_status group_classes(maker *w, kn_error *err)
{
    kn_status status = KN_OK;
    kn_group_column *columns = NULL;
    uint32_t n = 0;
    if (w->class_group != NULL) return KN_OK;
    KN_NEW(columns, w->out->n_columns);
    KN_NEW_RAW(w->class_group, w->release->n_classes);
    for (uint32_t c = 0; c < w->out->n_columns; c++) {
        const kn_released_column *out = &w->out->columns[c];
        if (out->q == KN_NONE || out->part != KN_PART_CELL) continue;
        columns[n++] = (kn_group_column){out->class_item, sizeof *out->class_item, out->rank, out->n_texts};
    }
    KN_TRY(kn_group(w->class_group, &w->n_groups, NULL, w->release->n_classes, columns, n, w->pool, w->ticker, err));
done:
    kn_free(columns);
    return status;
}

typedef struct person_value {
    uint32_t group, person;
    double number;
} person_value;

static int by_person(const void *a, const void *b)
{
    const person_value *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->person != y->person) return x->person < y->person ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* [group]: the mean over its persons; of somebody with several rows there, of their mean. */
static kn_status group_means(double **out, const maker *w, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = w->release->tuples;
    const uint32_t n_present = column->n_values - (column->has_missing ? 1 : 0);
    person_value *values = NULL;
    uint32_t *n_persons = NULL;
    size_t n = 0;
    *out = NULL;
    KN_NEW(*out, w->n_groups);
    KN_NEW(n_persons, w->n_groups);
    KN_NEW_RAW(values, tuples->n_records);
    for (uint32_t row = 0; row < tuples->n_records; row++) {
        const uint32_t class = w->release->row_class[row], value = kn_column_value(column, kn_column_code(column, row));
        if (class == KN_NONE || value >= n_present) continue;
        values[n++] = (person_value){w->class_group[class], tuples->row_person != NULL ? tuples->row_person[row] : row,
                                     column->number[value]};
    }
    if (n > 1) qsort(values, n, sizeof *values, by_person);
    for (size_t i = 0, end; i < n; i = end) {
        double sum = 0;
        for (end = i; end < n && values[end].group == values[i].group && values[end].person == values[i].person; end++)
            sum += values[end].number;
        (*out)[values[i].group] += sum / (double)(end - i);
        n_persons[values[i].group]++;
    }
    for (uint32_t g = 0; g < w->n_groups; g++) (*out)[g] /= n_persons[g] > 0 ? n_persons[g] : 1;
done:
    kn_free(n_persons);
    kn_free(values);
    return status;
}

/* The groups are the items. */
static kn_status prepare_mean(maker *w, kn_released_column *out, bool last_column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_release *r = w->release;
    const kn_domain *domain = r->tuples->domains[out->q];
    uint32_t *class_of = NULL;
    double *means = NULL;
    item_texts texts = {0};
    KN_TRY(group_classes(w, err));
    KN_TRY(group_means(&means, w, out->column, err));
    KN_NEW(class_of, w->n_groups);
    KN_NEW(out->class_item, r->n_classes + 1);
    for (uint32_t c = 0; c < r->n_classes; c++) class_of[out->class_item[c] = w->class_group[c]] = c;
    KN_TRY(texts_new(&texts, (size_t)w->n_groups + 1, err));
    for (uint32_t g = 0; g <= w->n_groups; g++) {
        kn_bounds bounds;
        char text[KN_BOUND_BYTES] = "";
        if (g < w->n_groups) {
            const kn_cell *cell = &r->cells[(size_t)class_of[g] * r->tuples->n_qis + out->q];
            KN_TRY(kn_bounds_of_cell(&bounds, domain, &out->form, cell, r->sets, err));
            kn_bounds_mean(text, domain, &out->form, &bounds, means[g]);
        }
        texts_put(&texts, g, w->spelling, text, strlen(text), last_column);
    }
    out->class_item[r->n_classes] = w->n_groups; /* suppressed rows have none */
    out->n_items = w->n_groups + 1;
    KN_TRY(rank_texts(out, &texts, w->spelling->plain, err));
done:
    kn_free(class_of);
    kn_free(means);
    texts_free(&texts);
    return status;
}

/* --- Columns and rows -------------------------------------------------------------------------------------------- */

static kn_status prepare_job(void *context, size_t c, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    maker *w = context;
    kn_released_column *out = &w->out->columns[c];
    const bool last = c + 1 == w->out->n_columns;
    if (out->part == KN_PART_MEAN) return KN_OK;
    KN_TRY(out->q != KN_NONE ? prepare_quasi(w, out, last, err) : prepare_copied(w, out, last, err));
    KN_TRY(kn_tick(w->ticker, "writing", -1, err));
done:
    return status;
}

/* Columns are jobs of the pool; means need the labels of all the others. */
static kn_status prepare_columns(maker *w, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_pool_run(w->pool, w->out->n_columns, prepare_job, w, err));
    for (uint32_t c = 0; c < w->out->n_columns; c++)
        if (w->out->columns[c].part == KN_PART_MEAN)
            KN_TRY(prepare_mean(w, &w->out->columns[c], c + 1 == w->out->n_columns, err));
done:
    return status;
}

/* --- The order of rows ------------------------------------------------------------------------------------------- */

/* What things are sorted by: rank[items[i]] of thing i, or rank[its code] in a copied column. */
typedef struct sort_letter {
    const uint32_t *rank, *items;
    const kn_column *column;
    uint32_t n_ranks, last; /* items beyond it count as it: suppressed rows are class n_classes */
    uint32_t *own_rank;     /* `rank` where it is the letter's own */
} sort_letter;

static inline uint32_t letter_rank(const sort_letter *letter, uint32_t i)
{
    if (letter->items == NULL) return letter->rank[kn_column_code(letter->column, i)];
    return letter->rank[letter->items[i] < letter->last ? letter->items[i] : letter->last];
}

typedef struct key_range {
    uint64_t *keys;
    const uint32_t *things;
    uint32_t n_things;
    const sort_letter *letters, *end;
} key_range;

enum { KEY_ROWS = 1 << 16 };

static kn_status fill_keys(void *context, size_t job, unsigned worker, kn_error *err)
{
    key_range *range = context;
    uint64_t begin = (uint64_t)job * KEY_ROWS, end = begin + KEY_ROWS;
    if (end > range->n_things) end = range->n_things;
    memset(range->keys + begin, 0, (size_t)(end - begin) * sizeof *range->keys);
    for (const sort_letter *letter = range->letters; letter < range->end; letter++) {
        const unsigned n_bits = kn_bits_for(letter->n_ranks);
        for (uint64_t i = begin; i < end; i++)
            range->keys[i] = range->keys[i] << n_bits | letter_rank(letter, range->things[i]);
    }
    return KN_OK;
}

/* Letters are packed into 64-bit keys, last ones first; the sort is stable, so the first letters decide last. */
static kn_status sort_things(uint32_t *things, uint32_t n_things, const sort_letter *letters, uint32_t n_letters,
                             const maker *w, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *keys = NULL;
    KN_NEW_RAW(keys, n_things);
    for (uint32_t end = n_letters; end > 0;) {
        uint32_t first = end;
        unsigned n_bits = 0;
        while (first > 0 && n_bits + kn_bits_for(letters[first - 1].n_ranks) <= 64)
            n_bits += kn_bits_for(letters[--first].n_ranks);
        key_range range = {keys, things, n_things, letters + first, letters + end};
        KN_TRY(kn_pool_run(w->pool, n_things / KEY_ROWS + 1, fill_keys, &range, err));
        KN_TRY(kn_radix_sort(keys, things, n_things, n_bits, w->pool, err));
        KN_TRY(kn_tick(w->ticker, "sorting", -1, err));
        end = first;
    }
done:
    kn_free(keys);
    return status;
}

static bool same_ranks(const sort_letter *letters, uint32_t n_letters, uint32_t a, uint32_t b)
{
    for (uint32_t l = 0; l < n_letters; l++)
        if (letter_rank(&letters[l], a) != letter_rank(&letters[l], b)) return false;
    return true;
}

/* Neighbouring QIs as one letter of the rows: classes are far fewer than rows, so they are sorted by these columns
 * first, and their places are the ranks. Classes with the same texts there have one rank. */
static kn_status join_quasi(sort_letter *out, const maker *w, uint32_t first, uint32_t end, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_things = w->release->n_classes + 1, n_letters = end - first;
    uint32_t *classes = NULL;
    sort_letter *letters = NULL;
    KN_NEW(letters, n_letters);
    KN_NEW_RAW(classes, n_things);
    KN_NEW_RAW(out->own_rank, n_things);
    for (uint32_t c = first; c < end; c++) {
        const kn_released_column *column = &w->out->columns[c];
        letters[c - first] = (sort_letter){
            .rank = column->rank, .items = column->class_item, .n_ranks = column->n_texts, .last = column->n_items};
    }
    for (uint32_t c = 0; c < n_things; c++) classes[c] = c;
    KN_TRY(sort_things(classes, n_things, letters, n_letters, w, err));
    for (uint32_t i = 0; i < n_things; i++) {
        if (i == 0 || !same_ranks(letters, n_letters, classes[i - 1], classes[i])) out->n_ranks++;
        out->own_rank[classes[i]] = out->n_ranks - 1;
    }
    out->rank = out->own_rank;
    out->items = w->release->row_class;
    out->last = w->release->n_classes;
done:
    kn_free(classes);
    kn_free(letters);
    return status;
}

static kn_status sort_rows(maker *w, kn_error *err)
{
    kn_status status = KN_OK;
    sort_letter *letters = NULL;
    uint32_t n_letters = 0;
    KN_NEW(letters, w->out->n_columns);
    for (uint32_t c = 0, next; c < w->out->n_columns; c = next) {
        const kn_released_column *out = &w->out->columns[c];
        for (next = c + 1; out->q != KN_NONE && next < w->out->n_columns && w->out->columns[next].q != KN_NONE;) next++;
        sort_letter *letter = &letters[n_letters++];
        if (out->q != KN_NONE) KN_TRY(join_quasi(letter, w, c, next, err));
        else *letter = (sort_letter){.rank = out->rank, .column = out->column, .n_ranks = out->n_texts};
    }
    KN_TRY(sort_things(w->out->order, w->out->n_rows, letters, n_letters, w, err));
done:
    for (uint32_t l = 0; l < n_letters; l++) kn_free(letters[l].own_rank);
    kn_free(letters);
    return status;
}

kn_status kn_released_new(kn_released **out, const kn_release *release, kn_released_column *columns, uint32_t n_columns,
                          const kn_spelling *spelling, const kn_sink_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_released *released = NULL;
    maker w = {.release = release, .spelling = spelling, .pool = options->pool, .ticker = options->ticker};
    const uint32_t n_rows = release->tuples->table->n_rows;
    *out = NULL;
    KN_NEW(released, 1);
    w.out = released;
    released->release = release;
    released->columns = columns;
    released->n_columns = n_columns;
    columns = NULL;
    KN_TRY(prepare_columns(&w, err));
    KN_NEW_RAW(released->order, n_rows);
    for (uint32_t row = 0; row < n_rows; row++)
        if (release->row_class[row] != KN_NONE || release->n_removed == 0) released->order[released->n_rows++] = row;
    if (options->order == KN_ORDER_SORTED) KN_TRY(sort_rows(&w, err));
    *out = released;
    released = NULL;
done:
    kn_free(w.class_group);
    kn_released_columns_free(columns, n_columns);
    kn_released_free(released);
    return status;
}

void kn_released_free(kn_released *released)
{
    if (released == NULL) return;
    kn_released_columns_free(released->columns, released->n_columns);
    kn_free(released->order);
    kn_free(released);
}
