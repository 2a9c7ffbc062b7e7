/* A release as dictionary arrays, and its bounds as numbers and dates.
 *
 * The texts of a column that some released row has are its dictionary, in the order of their cells in a CSV file; rows
 * are indices, in one, two, four or eight bytes. All memory is new and belongs to the batch: nothing of the data is
 * reached from it.
 *
 * Cost: a pass over the rows of each column, one job per column; what its texts are is decided by classes. */
#include "sink/arrow_write.h"

#include "sink/csv_write.h"
#include "table/dates.h"
#include "table/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What hangs on one column. */
typedef struct column_memory {
    struct ArrowSchema schema, value_schema;
    struct ArrowArray array, values;
    const void *buffers[2], *value_buffers[3];
    char *name;
    void *indices, *offsets;
    uint8_t *valid;
    char *bytes;
} column_memory;

/* The schema and the array of the batch come and go together; who releases the last one frees the memory. */
typedef struct batch_memory {
    uint32_t n_columns;
    unsigned n_holders;
    column_memory *columns;
    struct ArrowSchema **schemas;
    struct ArrowArray **arrays;
    const void *no_buffer[1];
} batch_memory;

/* Parts go with their batch. */
static void release_part_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_part_array(struct ArrowArray *array) { array->release = NULL; }

static void let_go(batch_memory *memory)
{
    if (memory == NULL || --memory->n_holders > 0) return;
    for (uint32_t c = 0; memory->columns != NULL && c < memory->n_columns; c++) {
        column_memory *column = &memory->columns[c];
        kn_free(column->name);
        kn_free(column->indices);
        kn_free(column->offsets);
        kn_free(column->valid);
        kn_free(column->bytes);
    }
    kn_free(memory->columns);
    kn_free(memory->schemas);
    kn_free(memory->arrays);
    kn_free(memory);
}

static void release_schema(struct ArrowSchema *schema)
{
    let_go(schema->private_data);
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    let_go(array->private_data);
    array->release = NULL;
}

/* --- Columns ----------------------------------------------------------------------------------------------------- */

typedef struct writing {
    const kn_released *released;
    const kn_spelling *spelling;
    const char *null_text;
    batch_memory *memory;
    kn_ticker *ticker;
    uint32_t *classes; /* [released row]: its class, n_classes for the suppressed ones */
    bool *is_released; /* [class]: some released row is of it */
} writing;

/* Sorted rows are anywhere in the table: their classes are looked up once, for all QIs. */
static kn_status find_classes(writing *w, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_released *released = w->released;
    const uint32_t n_classes = released->release->n_classes, *row_class = released->release->row_class;
    KN_NEW_RAW(w->classes, released->n_rows);
    KN_NEW(w->is_released, (size_t)n_classes + 1);
    for (uint32_t i = 0; i < released->n_rows; i++) {
        const uint32_t class = row_class[released->order[i]];
        w->classes[i] = class != KN_NONE ? class : n_classes;
        w->is_released[w->classes[i]] = true;
    }
done:
    return status;
}

/* Tells which texts released rows have. */
static void mark_texts(uint32_t *marks, const writing *w, const kn_released_column *out)
{
    const kn_release *release = w->released->release;
    if (out->q != KN_NONE) {
        for (uint32_t c = 0; c <= release->n_classes; c++)
            if (w->is_released[c]) marks[out->rank[out->class_item[c]]] = 1;
        return;
    }
    for (uint32_t row = 0; row < release->tuples->table->n_rows; row++)
        if (release->row_class[row] != KN_NONE || release->n_removed == 0)
            marks[out->rank[kn_column_code(out->column, row)]] = 1;
}

/* *index_of[text]: its place among the texts that released rows have, KN_NONE for the others and for null. */
static kn_status number_texts(uint32_t **index_of, uint32_t *n_used, uint64_t *n_bytes, bool *has_null,
                              const writing *w, const kn_released_column *out, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_null = strlen(w->null_text);
    *n_used = 0;
    *n_bytes = 0;
    *has_null = false;
    KN_NEW(*index_of, out->n_texts);
    mark_texts(*index_of, w, out);
    for (uint32_t t = 0; t < out->n_texts; t++) {
        uint64_t n = out->offset[t + 1] - out->offset[t];
        bool used = (*index_of)[t] != 0, is_null = out->part == KN_PART_CELL && n == n_null &&
                                                   memcmp(out->bytes + out->offset[t], w->null_text, n) == 0;
        *has_null |= used && is_null;
        (*index_of)[t] = used && !is_null ? (*n_used)++ : KN_NONE;
        if (used && !is_null) *n_bytes += n;
    }
done:
    return status;
}

static kn_status fill_dictionary(column_memory *memory, const kn_released_column *out, const uint32_t *index_of,
                                 uint32_t n_used, uint64_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    bool large = n_bytes > INT32_MAX;
    int32_t *narrow = NULL;
    int64_t *wide = NULL;
    if (large) KN_NEW_ALIGNED(wide, (size_t)n_used + 1);
    else KN_NEW_ALIGNED(narrow, (size_t)n_used + 1);
    memory->offsets = large ? (void *)wide : narrow;
    KN_NEW_ALIGNED(memory->bytes, (size_t)n_bytes);
    uint64_t at = 0;
    for (uint32_t t = 0, next = 0; t < out->n_texts; t++) {
        if (index_of[t] == KN_NONE) continue;
        size_t n = (size_t)(out->offset[t + 1] - out->offset[t]);
        memcpy(memory->bytes + at, out->bytes + out->offset[t], n);
        at += n;
        next++;
        if (large) wide[next] = (int64_t)at;
        else narrow[next] = (int32_t)at;
    }
    memory->value_buffers[1] = memory->offsets;
    memory->value_buffers[2] = memory->bytes;
    memory->values = (struct ArrowArray){
        .length = n_used, .n_buffers = 3, .buffers = memory->value_buffers, .release = release_part_array};
    memory->value_schema = (struct ArrowSchema){
        .format = large ? "U" : "u", .name = "", .flags = ARROW_FLAG_NULLABLE, .release = release_part_schema};
done:
    return status;
}

/* The array and its schema, of what is in the memory already. */
static void finish_column(column_memory *memory, uint32_t n_rows, int64_t n_null, const char *format)
{
    memory->buffers[0] = memory->valid;
    memory->buffers[1] = memory->indices;
    memory->array = (struct ArrowArray){.length = n_rows,
                                        .null_count = n_null,
                                        .n_buffers = 2,
                                        .buffers = memory->buffers,
                                        .release = release_part_array};
    memory->schema = (struct ArrowSchema){
        .format = format, .name = memory->name, .flags = ARROW_FLAG_NULLABLE, .release = release_part_schema};
}

/* Whether a row is valid is its bit; without such bits, all are. */
static inline void mark_valid(const column_memory *memory, uint32_t row)
{
    if (memory->valid != NULL) memory->valid[row / 8] |= (uint8_t)(1 << row % 8);
}

/* The item of a released row: its class, or its spelling. */
static inline uint32_t item_of(const writing *w, const kn_released_column *out, uint32_t i)
{
    return out->q != KN_NONE ? w->classes[i] : kn_column_code(out->column, w->released->order[i]);
}

#define PUT_INDICES(type)                                                                                              \
    for (uint32_t i = 0; i < n_rows; i++) {                                                                            \
        uint32_t index = index_of_item[item_of(w, out, i)];                                                            \
        ((type *)memory->indices)[i] = index != KN_NONE ? (type)index : 0;                                             \
        if (index == KN_NONE) n_null++;                                                                                \
        else mark_valid(memory, i);                                                                                    \
    }

static kn_status fill_indices(column_memory *memory, const writing *w, const kn_released_column *out,
                              const uint32_t *index_of, uint32_t n_used, bool has_null, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_rows = w->released->n_rows;
    size_t width = n_used <= 1u << 7 ? 1 : n_used <= 1u << 15 ? 2 : n_used <= 1u << 31 ? 4 : 8;
    int64_t n_null = 0;
    const bool quasi = out->q != KN_NONE;
    const uint32_t n_items = quasi ? w->released->release->n_classes + 1 : out->n_items;
    uint32_t *index_of_item = NULL;
    KN_NEW_RAW(index_of_item, n_items);
    for (uint32_t i = 0; i < n_items; i++) index_of_item[i] = index_of[out->rank[quasi ? out->class_item[i] : i]];
    memory->indices = kn_array_alloc_aligned(n_rows, width, err);
    if (memory->indices == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    if (has_null) KN_NEW_ALIGNED(memory->valid, (size_t)n_rows / 8 + 1);
    switch (width) {
    case 1: PUT_INDICES(int8_t); break;
    case 2: PUT_INDICES(int16_t); break;
    case 4: PUT_INDICES(int32_t); break;
    default: PUT_INDICES(int64_t); break;
    }
    finish_column(memory, n_rows, n_null, width == 1 ? "c" : width == 2 ? "s" : width == 4 ? "i" : "l");
    memory->array.dictionary = &memory->values;
    memory->schema.dictionary = &memory->value_schema;
done:
    kn_free(index_of_item);
    return status;
}

/* A bound or a mean as the column's type: the bits of an int64 or a double, or a date's days. */
static uint64_t typed_bits(kn_type type, const char *bytes, size_t n_bytes)
{
    char text[KN_BOUND_BYTES];
    kn_moment day = {0};
    double number = 0;
    uint64_t bits;
    if (n_bytes == 0) return 0; /* an open end */
    snprintf(text, sizeof text, "%.*s", (int)n_bytes, bytes);
    if (type == KN_TYPE_INT) return (uint64_t)strtoll(text, NULL, 10);
    if (type == KN_TYPE_DATE) return kn_date_parse(&day, text, strlen(text), KN_DATE_ISO) ? (uint64_t)day.days : 0;
    kn_number_read(&number, text, strlen(text), true);
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* Only QIs have bounds. */
static kn_status fill_typed(column_memory *memory, const writing *w, const kn_released_column *out, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_rows = w->released->n_rows;
    const kn_type type = out->column->type;
    int64_t n_null = 0;
    uint64_t *bits = NULL;
    KN_NEW(bits, out->n_texts);
    for (uint32_t t = 0; t < out->n_texts; t++)
        bits[t] = typed_bits(type, out->bytes + out->offset[t], (size_t)(out->offset[t + 1] - out->offset[t]));
    memory->indices = kn_array_alloc_aligned(n_rows, type == KN_TYPE_DATE ? 4 : 8, err);
    if (memory->indices == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_NEW_ALIGNED(memory->valid, (size_t)n_rows / 8 + 1);
    for (uint32_t i = 0; i < n_rows; i++) {
        const uint32_t t = out->rank[out->class_item[w->classes[i]]];
        if (type == KN_TYPE_DATE) ((int32_t *)memory->indices)[i] = (int32_t)bits[t];
        else ((uint64_t *)memory->indices)[i] = bits[t];
        if (out->offset[t + 1] > out->offset[t]) mark_valid(memory, i);
        else n_null++;
    }
    finish_column(memory, n_rows, n_null, type == KN_TYPE_INT ? "l" : type == KN_TYPE_DECIMAL ? "g" : "tdD");
done:
    kn_free(bits);
    return status;
}

static bool is_typed(const kn_released_column *out) { return out->part != KN_PART_CELL && out->part != KN_PART_KIND; }

static kn_status write_column(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const writing *w = context;
    const kn_released_column *out = &w->released->columns[job];
    column_memory *memory = &w->memory->columns[job];
    uint32_t *index_of = NULL, n_used;
    uint64_t n_bytes;
    bool has_null;
    KN_TRY(kn_tick(w->ticker, "writing", -1, err));
    kn_buffer name = {0};
    kn_spell(&name, w->spelling, out->name, strlen(out->name), true);
    KN_TRY(kn_buffer_finish(&memory->name, &name, err));
    if (is_typed(out)) {
        KN_TRY(fill_typed(memory, w, out, err));
    } else {
        KN_TRY(number_texts(&index_of, &n_used, &n_bytes, &has_null, w, out, err));
        KN_TRY(fill_dictionary(memory, out, index_of, n_used, n_bytes, err));
        KN_TRY(fill_indices(memory, w, out, index_of, n_used, has_null, err));
    }
    w->memory->schemas[job] = &memory->schema;
    w->memory->arrays[job] = &memory->array;
done:
    kn_free(index_of);
    return status;
}

/* --- The batch --------------------------------------------------------------------------------------------------- */

kn_status kn_release_arrays(kn_batches **out, uint32_t **order, uint32_t *n_written, const kn_release *release,
                            const char *null_text, const kn_text_form *form, const kn_sink_options *options,
                            kn_error *err)
{
    kn_status status = KN_OK;
    kn_released *released = NULL;
    batch_memory *memory = NULL;
    writing w = {0};
    *out = NULL;
    *order = NULL;
    *n_written = 0;
    kn_released_column *columns;
    uint32_t n_columns;
    KN_TRY(kn_released_plan(&columns, &n_columns, release->tuples, options->cells, err));
    const kn_csv_quoting quoting = {form, n_columns};
    const kn_spelling spelling = {
        .put = kn_csv_put, .context = &quoting, .guard_formulas = options->guard_formulas, .plain = true};
    KN_TRY(kn_released_new(&released, release, columns, n_columns, &spelling, options, err));
    KN_NEW(memory, 1);
    memory->n_holders = 1;
    KN_NEW(memory->columns, released->n_columns);
    memory->n_columns = released->n_columns;
    KN_NEW(memory->schemas, released->n_columns);
    KN_NEW(memory->arrays, released->n_columns);
    w = (writing){released, &spelling, null_text, memory, options->ticker, NULL, NULL};
    KN_TRY(find_classes(&w, err));
    KN_TRY(kn_pool_run(options->pool, released->n_columns, write_column, &w, err));
    struct ArrowSchema schema = {.format = "+s",
                                 .name = "",
                                 .n_children = released->n_columns,
                                 .children = memory->schemas,
                                 .release = release_schema,
                                 .private_data = memory};
    struct ArrowArray array = {.length = released->n_rows,
                               .n_buffers = 1,
                               .buffers = memory->no_buffer,
                               .n_children = released->n_columns,
                               .children = memory->arrays,
                               .release = release_array,
                               .private_data = memory};
    memory->n_holders = 2;
    memory = NULL;
    KN_TRY(kn_batches_of_array(out, &schema, &array, "the release", err));
    *order = released->order;
    *n_written = released->n_rows;
    released->order = NULL;
done:
    kn_free(w.classes);
    kn_free(w.is_released);
    let_go(memory);
    kn_released_free(released);
    return status;
}

/* --- The batch as a file ----------------------------------------------------------------------------------------- */

typedef struct ready_cells {
    kn_buffer bytes;
    uint64_t *ends; /* [index]: where its cell ends; the last one is the null's. NULL: numbers or dates */
    const struct ArrowArray *array;
    size_t width; /* of an index */
    char format;  /* of numbers and dates: l, g, t */
    const kn_csv_quoting *quoting;
    bool last;
} ready_cells;

/* A bound or a mean, in the bytes that a file has. */
static void put_number(kn_buffer *out, const ready_cells *cells, int64_t row)
{
    const uint8_t *valid = cells->array->buffers[0];
    const void *values = cells->array->buffers[1];
    char text[KN_BOUND_BYTES] = "", day[KN_DATE_BYTES];
    if ((valid[row / 8] >> row % 8 & 1) == 0) text[0] = '\0'; /* an open end */
    else if (cells->format == 'l') snprintf(text, sizeof text, "%lld", (long long)((const int64_t *)values)[row]);
    else if (cells->format == 'g') kn_bounds_number_text(text, ((const double *)values)[row]);
    else snprintf(text, sizeof text, "%s", kn_date_text(day, kn_date_from_days(((const int32_t *)values)[row])));
    kn_csv_put(out, cells->quoting, text, strlen(text), cells->last);
}

static kn_status prepare_cells(ready_cells *out, const struct ArrowSchema *schema, const struct ArrowArray *array,
                               const char *null_text, const kn_csv_quoting *quoting, bool last, kn_error *err)
{
    kn_status status = KN_OK;
    *out = (ready_cells){.array = array, .format = schema->format[0], .quoting = quoting, .last = last};
    if (array->dictionary == NULL) return KN_OK;
    const struct ArrowArray *values = array->dictionary;
    const int64_t n = values->length;
    const bool large = schema->dictionary->format[0] == 'U';
    const int32_t *narrow = values->buffers[1];
    const int64_t *wide = values->buffers[1];
    const char *bytes = values->buffers[2];
    out->width = schema->format[0] == 'c' ? 1 : schema->format[0] == 's' ? 2 : schema->format[0] == 'i' ? 4 : 8;
    KN_NEW(out->ends, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++) {
        size_t begin = (size_t)(large ? wide[i] : narrow[i]), end = (size_t)(large ? wide[i + 1] : narrow[i + 1]);
        kn_csv_put(&out->bytes, quoting, bytes + begin, end - begin, last);
        out->ends[i] = out->bytes.n;
    }
    kn_csv_put(&out->bytes, quoting, null_text, strlen(null_text), last);
    out->ends[n] = out->bytes.n;
    if (out->bytes.failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

static void put_ready(kn_buffer *out, const ready_cells *cells, int64_t row)
{
    if (cells->ends == NULL) {
        put_number(out, cells, row);
        return;
    }
    const uint8_t *valid = cells->array->buffers[0];
    const void *indices = cells->array->buffers[1];
    int64_t i = cells->width == 1   ? ((const int8_t *)indices)[row]
                : cells->width == 2 ? ((const int16_t *)indices)[row]
                : cells->width == 4 ? ((const int32_t *)indices)[row]
                                    : ((const int64_t *)indices)[row];
    if (valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0) i = cells->array->dictionary->length;
    uint64_t begin = i > 0 ? cells->ends[i - 1] : 0;
    kn_buffer_append(out, cells->bytes.bytes + begin, (size_t)(cells->ends[i] - begin));
}

static kn_status hand_over(kn_buffer *lines, kn_write_fn write, void *user, kn_error *err)
{
    kn_status status = KN_OK;
    if (lines->failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (lines->n > 0 && write(user, lines->bytes, lines->n) != 0) KN_FAIL(KN_INPUT, "the table could not be written");
    kn_buffer_clear(lines);
done:
    return status;
}

kn_status kn_arrays_to_csv(const kn_batches *batches, const char *null_text, const kn_text_form *form,
                           kn_write_fn write, void *user, kn_error *err)
{
    kn_status status = KN_OK;
    enum { PIECE_BYTES = 1 << 18 };
    const struct ArrowArray *batch = &batches->arrays.items[0];
    const uint32_t n_columns = (uint32_t)batches->schema.n_children;
    const kn_csv_quoting quoting = {form, n_columns};
    kn_buffer lines = {0};
    ready_cells *columns = NULL;
    KN_NEW(columns, n_columns);
    for (uint32_t c = 0; c < n_columns; c++) {
        const char *name = batches->schema.children[c]->name;
        if (form->has_header) kn_csv_put(&lines, &quoting, name, strlen(name), c + 1 == n_columns);
        KN_TRY(prepare_cells(&columns[c], batches->schema.children[c], batch->children[c], null_text, &quoting,
                             c + 1 == n_columns, err));
    }
    for (int64_t row = 0; row < batch->length; row++) {
        for (uint32_t c = 0; c < n_columns; c++) put_ready(&lines, &columns[c], row);
        if (lines.n > PIECE_BYTES) KN_TRY(hand_over(&lines, write, user, err));
    }
    KN_TRY(hand_over(&lines, write, user, err));
done:
    for (uint32_t c = 0; columns != NULL && c < n_columns; c++) {
        kn_buffer_free(&columns[c].bytes);
        kn_free(columns[c].ends);
    }
    kn_free(columns);
    kn_buffer_free(&lines);
    return status;
}
