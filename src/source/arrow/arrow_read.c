/* Arrow batches to encoded columns, one job per column.
 *
 * A column's values go through one dictionary (source/dictionary.h), 512 rows at a time: values of fixed width by their
 * raw bytes, strings by theirs, from the buffers they stand in. Only the distinct ones are then spelled or checked to
 * be text. Dictionary arrays are looked up by index; each entry that some row uses is hashed once per batch, the others
 * never, because a value that no row has is no value of the table. From there on the column is as if it came from a
 * file (table/infer.h).
 *
 * Nothing is believed of what the interface lets us see: lengths, numbers of buffers, offsets, indices, views. How long
 * a buffer really is it does not tell.
 *
 * Memory: four bytes per row for each column in work, the dictionary, the narrow codes. */
#include "source/arrow/arrow_read.h"

#include "base/buffer.h"
#include "base/formula.h"
#include "source/arrow/arrow_type.h"
#include "source/arrow/spell.h"
#include "source/dictionary.h"
#include "source/utf8.h"
#include "table/infer.h"

#include <string.h>

enum { BATCH = KN_DICTIONARY_BATCH, ADAPT_ROWS = 1 << 16, MAX_WIDTH = 32 };
static const uint64_t MAX_STRING_BYTES = (uint64_t)256 << 20;

struct kn_arrow_reader {
    const kn_batches *batches;
    kn_arrow_options options;
    const char *name, *null_text;
    uint32_t n_columns;
    char **names;
};

/* --- Opening ----------------------------------------------------------------------------------------------------- */

kn_status kn_arrow_open(kn_arrow_reader **out, const kn_batches *batches, const kn_arrow_options *options,
                        kn_error *err)
{
    kn_status status = KN_OK;
    kn_arrow_reader *reader = NULL;
    *out = NULL;
    KN_NEW(reader, 1);
    reader->batches = batches;
    reader->options = *options;
    reader->name = options->name != NULL ? options->name : batches->name;
    reader->null_text = options->n_null_values > 0 ? options->null_values[0] : "";
    KN_NEW(reader->names, (size_t)batches->schema.n_children);
    reader->n_columns = (uint32_t)batches->schema.n_children;
    for (uint32_t c = 0; c < reader->n_columns; c++) {
        const char *name = batches->schema.children[c]->name;
        char padded[8] = {0};
        if (name == NULL || name[strspn(name, " \t")] == '\0')
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = reader->name), "%s: column %u has no name; give it one", reader->name,
                       c + 1);
        reader->names[c] = kn_array_alloc(strlen(name) + sizeof padded, 1, err); /* the check reads on behind it */
        if (reader->names[c] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        size_t n_name = strlen(name);
        if (options->guarded_names) name = kn_formula_unguard(name, &n_name);
        memcpy(reader->names[c], name, n_name);
        if (kn_utf8_bad_byte(reader->names[c], strlen(name)) < strlen(name))
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = reader->name), "%s: the name of column %u is not valid UTF-8",
                       reader->name, c + 1);
    }
    KN_TRY(kn_error_about(err, kn_names_check(reader->names, reader->n_columns, reader->name, false, err),
                          KN_PLACE(.file = reader->name)));
    *out = reader;
    reader = NULL;
done:
    kn_arrow_close(reader);
    return status;
}

void kn_arrow_close(kn_arrow_reader *reader)
{
    if (reader == NULL) return;
    for (uint32_t c = 0; reader->names != NULL && c < reader->n_columns; c++) kn_free(reader->names[c]);
    kn_free(reader->names);
    kn_free(reader);
}

/* --- A run of values --------------------------------------------------------------------------------------------- */

typedef struct column_reader {
    const kn_arrow_reader *reader;
    const char *name; /* of the column */
    kn_arrow_type type;
    kn_dictionary dictionary;
    uint32_t *codes; /* n_rows, of the dictionary */
    uint32_t row;    /* of the table: the next one */
    /* one batch of cells on their way to the dictionary */
    kn_text_cell cells[BATCH];
    uint32_t lines[BATCH];
    char raw[BATCH * MAX_WIDTH + KN_DICTIONARY_PADDING];
    kn_buffer second; /* starts with the spelling of null */
} column_reader;

/* Values of one array: of a column of a batch, or of its dictionary. */
typedef struct values {
    const struct ArrowArray *array;
    const uint8_t *valid;      /* NULL: all are */
    const char *data;          /* fixed width, views; the bytes of strings */
    const char *offsets;       /* strings */
    int64_t end;               /* strings: one past the last value, as the array sees it */
    const int64_t *view_bytes; /* views: sizes of the buffers that they point into */
    int64_t n_view_buffers;
} values;

static kn_status refuse(const column_reader *c, kn_error *err, const char *what, long long number)
{
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = c->reader->name, .column = c->name),
                           "%s, column '%.80s': %s (%lld); the Arrow array is broken", c->reader->name, c->name, what,
                           number);
}

static int64_t buffers_of(const kn_arrow_type *type)
{
    return type->kind == KN_ARROW_NULL ? 0 : type->kind == KN_ARROW_STRING ? 3 : 2;
}

/* Looks at the buffers of an array whose values are of the column's type, before anybody reads them. */
static kn_status open_values(values *out, const column_reader *c, const struct ArrowArray *array, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_arrow_type *type = &c->type;
    *out = (values){.array = array, .end = array->offset + array->length};
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX - array->offset)
        KN_TRY(refuse(c, err, "a negative length or offset", (long long)array->length));
    bool enough = type->kind == KN_ARROW_VIEW ? array->n_buffers >= 3 : array->n_buffers == buffers_of(type);
    if (!enough || (array->n_buffers > 0 && array->buffers == NULL))
        KN_TRY(refuse(c, err, "a wrong number of buffers", (long long)array->n_buffers));
    if (array->length == 0 || type->kind == KN_ARROW_NULL) goto done;
    if (array->null_count != 0) out->valid = array->buffers[0];
    if (array->null_count > 0 && out->valid == NULL)
        KN_TRY(refuse(c, err, "nulls without a buffer that says where", (long long)array->null_count));
    if (array->buffers[1] == NULL) KN_TRY(refuse(c, err, "a missing buffer, number", 1));
    out->data = array->buffers[1];
    if (type->kind == KN_ARROW_STRING) {
        out->offsets = array->buffers[1];
        out->data = array->buffers[2]; /* may be NULL where all strings are empty */
    } else if (type->kind == KN_ARROW_VIEW) {
        out->n_view_buffers = array->n_buffers - 3;
        out->view_bytes = array->buffers[array->n_buffers - 1];
        if (out->n_view_buffers > 0 && out->view_bytes == NULL)
            KN_TRY(refuse(c, err, "a missing buffer, number", (long long)array->n_buffers - 1));
    }
done:
    return status;
}

static inline bool is_valid(const values *v, int64_t i)
{
    return v->valid == NULL || (v->valid[i / 8] >> i % 8 & 1) != 0;
}

static inline int64_t offset_at(const values *v, unsigned width, int64_t i)
{
    int32_t narrow;
    int64_t wide;
    if (width == 8) return memcpy(&wide, v->offsets + 8 * i, 8), wide;
    return memcpy(&narrow, v->offsets + 4 * i, 4), narrow;
}

/* --- Cells ------------------------------------------------------------------------------------------------------- */

static kn_text_cell null_cell(const column_reader *c)
{
    return (kn_text_cell){KN_SECOND_TEXT, (uint32_t)strlen(c->reader->null_text)};
}

/* Bytes that cannot be read where they are, or not with the padding that the dictionary wants. */
static kn_text_cell copied_cell(column_reader *c, const char *bytes, size_t n_bytes)
{
    kn_text_cell cell = {KN_SECOND_TEXT | (uint32_t)c->second.n, (uint32_t)n_bytes};
    kn_buffer_append(&c->second, bytes, n_bytes);
    return cell;
}

static void trim_string(const char **bytes, uint64_t *n_bytes)
{
    while (*n_bytes > 0 && (**bytes == ' ' || **bytes == '\t')) ++*bytes, --*n_bytes;
    while (*n_bytes > 0 && ((*bytes)[*n_bytes - 1] == ' ' || (*bytes)[*n_bytes - 1] == '\t')) --*n_bytes;
}

static void fixed_cells(column_reader *c, const values *v, int64_t first, uint32_t n)
{
    unsigned width = c->type.width;
    if (c->type.kind == KN_ARROW_BOOL)
        for (uint32_t i = 0; i < n; i++) c->raw[i] = (char)((uint8_t)v->data[(first + i) / 8] >> (first + i) % 8 & 1);
    else memcpy(c->raw, v->data + first * width, n * (size_t)width);
    for (uint32_t i = 0; i < n; i++) {
        bool missing = !is_valid(v, first + i);
        if (c->type.kind == KN_ARROW_FLOAT && !missing) missing = kn_arrow_is_nan(&c->type, c->raw + i * width);
        c->cells[i] = (kn_text_cell){i * width, missing ? 0 : width}; /* no bytes: missing */
    }
}

/* *base is where the cells' places count from. */
static kn_status string_cells(const char **base, column_reader *c, const values *v, int64_t first, uint32_t n,
                              kn_error *err)
{
    kn_status status = KN_OK;
    unsigned width = c->type.width;
    int64_t last = offset_at(v, width, first), readable = offset_at(v, width, v->end);
    const int64_t origin = last;
    const char *data = v->data != NULL ? v->data : "";
    if (last < 0) KN_TRY(refuse(c, err, "a negative offset", (long long)last));
    *base = v->data != NULL ? data + last : c->raw;
    for (uint32_t i = 0; i < n; i++) {
        int64_t begin = last, end = offset_at(v, width, first + i + 1);
        if (end < begin || end > readable)
            KN_TRY(refuse(c, err, "offsets that do not ascend, at value", (long long)(first + i)));
        if ((uint64_t)(end - begin) > MAX_STRING_BYTES)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = c->reader->name, .line = c->row + i + 1, .column = c->name),
                       "%s, line %llu, column '%.80s': a string longer than %llu MB", c->reader->name,
                       (unsigned long long)c->row + i + 1, c->name, (unsigned long long)(MAX_STRING_BYTES >> 20));
        last = end;
        if (!is_valid(v, first + i)) {
            c->cells[i] = null_cell(c);
            continue;
        }
        if (v->data == NULL && end > begin) KN_TRY(refuse(c, err, "a missing buffer, number", 2));
        const char *bytes = end > begin ? data + begin : "";
        uint64_t n_bytes = (uint64_t)(end - begin);
        if (c->reader->options.trim) trim_string(&bytes, &n_bytes);
        uint64_t at = (uint64_t)(begin - origin) + (end > begin ? (uint64_t)(bytes - (data + begin)) : 0);
        if (n_bytes == 0) c->cells[i] = copied_cell(c, "", 0);
        else if (end + KN_DICTIONARY_PADDING > readable || at >= KN_SECOND_TEXT)
            c->cells[i] = copied_cell(c, bytes, (size_t)n_bytes);
        else c->cells[i] = (kn_text_cell){(uint32_t)at, (uint32_t)n_bytes};
    }
done:
    return status;
}

/* A view: its length, then the bytes if there are at most 12, which are read there, otherwise four of them, a buffer
 * and a place in it. */
static kn_status view_cells(const char **base, column_reader *c, const values *v, int64_t first, uint32_t n,
                            kn_error *err)
{
    kn_status status = KN_OK;
    *base = v->data + 16 * first;
    for (uint32_t i = 0; i < n; i++) {
        const char *view = v->data + 16 * (first + i), *bytes = view + 4;
        int32_t parts[4]; /* length, prefix, buffer, place */
        if (!is_valid(v, first + i)) {
            c->cells[i] = null_cell(c);
            continue;
        }
        memcpy(parts, view, 16);
        if (parts[0] < 0 || (uint64_t)parts[0] > MAX_STRING_BYTES)
            KN_TRY(refuse(c, err, "a string view of length", (long long)parts[0]));
        if (parts[0] > 12) {
            if (parts[2] < 0 || parts[2] >= v->n_view_buffers || v->array->buffers[2 + parts[2]] == NULL)
                KN_TRY(refuse(c, err, "a string view into buffer", (long long)parts[2]));
            if (parts[3] < 0 || (int64_t)parts[3] + parts[0] > v->view_bytes[parts[2]])
                KN_TRY(refuse(c, err, "a string view beyond its buffer, at", (long long)parts[3]));
            bytes = (const char *)v->array->buffers[2 + parts[2]] + parts[3];
        }
        uint64_t n_bytes = (uint64_t)parts[0];
        if (c->reader->options.trim) trim_string(&bytes, &n_bytes);
        if (bytes == view + 4) c->cells[i] = (kn_text_cell){16 * i + 4, (uint32_t)n_bytes};
        else c->cells[i] = copied_cell(c, bytes, (size_t)n_bytes);
    }
done:
    return status;
}

/* Codes of up to BATCH values. */
static kn_status encode_values(uint32_t *codes, column_reader *c, const values *v, int64_t first, uint32_t n,
                               kn_error *err)
{
    kn_status status = KN_OK;
    const char *base = c->raw;
    c->second.n = strlen(c->reader->null_text);
    switch (c->type.kind) {
    case KN_ARROW_NULL:
        for (uint32_t i = 0; i < n; i++) c->cells[i] = (kn_text_cell){0, 0};
        break;
    case KN_ARROW_STRING: KN_TRY(string_cells(&base, c, v, first, n, err)); break;
    case KN_ARROW_VIEW: KN_TRY(view_cells(&base, c, v, first, n, err)); break;
    default: fixed_cells(c, v, first, n); break;
    }
    if (!kn_buffer_reserve(&c->second, KN_DICTIONARY_PADDING)) KN_FAIL(KN_RESOURCES, "out of memory");
    if (c->second.n >= KN_SECOND_TEXT)
        KN_FAIL(KN_RESOURCES, "%s, column '%.80s': strings of 2 GB in a few rows", c->reader->name, c->name);
    KN_TRY(kn_dictionary_codes(codes, &c->dictionary, (kn_cell_texts){base, c->second.bytes}, c->cells, c->lines,
                               (uint64_t)c->row + 1, n, err));
done:
    return status;
}

/* --- A column of one batch --------------------------------------------------------------------------------------- */

static kn_status read_values(column_reader *c, const struct ArrowArray *array, int64_t first, uint32_t n_rows,
                             kn_error *err)
{
    kn_status status = KN_OK;
    values v;
    KN_TRY(open_values(&v, c, array, err));
    for (uint32_t done_rows = 0; done_rows < n_rows;) {
        uint32_t n = n_rows - done_rows < BATCH ? n_rows - done_rows : BATCH;
        KN_TRY(encode_values(c->codes + c->row, c, &v, first + done_rows, n, err));
        c->row += n;
        done_rows += n;
        if (c->row % ADAPT_ROWS == 0) KN_TRY(kn_dictionary_adapt(&c->dictionary, c->reader->batches->n_rows, err));
    }
done:
    return status;
}

/* Negative where it does not fit. */
static inline int64_t index_at(const kn_arrow_type *type, const char *data, int64_t i)
{
    const char *at = data + i * (int64_t)type->index_width;
    uint16_t two;
    uint32_t four;
    int64_t eight;
    switch (type->index_width) {
    case 1: return type->index_signed ? (int8_t)*at : (int64_t)(uint8_t)*at;
    case 2: return memcpy(&two, at, 2), type->index_signed ? (int16_t)two : (int64_t)two;
    case 4: return memcpy(&four, at, 4), type->index_signed ? (int32_t)four : (int64_t)four;
    default: return memcpy(&eight, at, 8), eight;
    }
}

static kn_status read_indices(column_reader *c, const struct ArrowArray *array, int64_t first, uint32_t n_rows,
                              kn_error *err)
{
    kn_status status = KN_OK;
    values v;
    uint32_t *code_of = NULL, null_code = KN_NONE; /* KN_NONE: not looked up yet */
    const struct ArrowArray *dictionary = array->dictionary;
    if (array->n_buffers != 2 || array->buffers == NULL || (n_rows > 0 && array->buffers[1] == NULL))
        KN_TRY(refuse(c, err, "a wrong number of buffers", (long long)array->n_buffers));
    if (dictionary == NULL) KN_TRY(refuse(c, err, "indices without a dictionary", 0));
    KN_TRY(open_values(&v, c, dictionary, err));
    const uint8_t *valid = array->null_count != 0 ? array->buffers[0] : NULL;
    if (array->null_count > 0 && valid == NULL)
        KN_TRY(refuse(c, err, "nulls without a buffer that says where", (long long)array->null_count));
    KN_NEW_RAW(code_of, (size_t)dictionary->length);
    memset(code_of, 0xff, (size_t)dictionary->length * sizeof *code_of);
    for (uint32_t i = 0; i < n_rows; i++, c->row++) {
        int64_t at = first + i;
        bool missing = valid != NULL && (valid[at / 8] >> at % 8 & 1) == 0;
        uint32_t *code = &null_code;
        if (!missing) {
            int64_t index = index_at(&c->type, array->buffers[1], at);
            if (index < 0 || index >= dictionary->length)
                KN_TRY(refuse(c, err, "a dictionary index out of range", (long long)index));
            code = &code_of[index];
            if (*code == KN_NONE) KN_TRY(encode_values(code, c, &v, dictionary->offset + index, 1, err));
        } else if (*code == KN_NONE) {
            kn_text_cell cell =
                c->type.kind == KN_ARROW_STRING || c->type.kind == KN_ARROW_VIEW ? null_cell(c) : (kn_text_cell){0, 0};
            KN_TRY(kn_dictionary_codes(code, &c->dictionary, (kn_cell_texts){c->raw, c->second.bytes}, &cell, c->lines,
                                       (uint64_t)c->row + 1, 1, err));
        }
        c->codes[c->row] = *code;
    }
done:
    kn_free(code_of);
    return status;
}

static kn_status read_batch(column_reader *c, const struct ArrowArray *batch, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    const struct ArrowArray *array = batch->children[column];
    if (array->offset < 0 || array->length > INT64_MAX - array->offset)
        KN_TRY(refuse(c, err, "a negative length or offset", (long long)array->offset));
    int64_t first = array->offset + batch->offset;
    if (c->type.is_dictionary) KN_TRY(read_indices(c, array, first, (uint32_t)batch->length, err));
    else KN_TRY(read_values(c, array, first, (uint32_t)batch->length, err));
done:
    return status;
}

/* --- Spellings --------------------------------------------------------------------------------------------------- */

static kn_status check_text(const column_reader *c, const char *bytes, size_t n_bytes, uint64_t row, kn_error *err)
{
    size_t bad = kn_utf8_bad_byte(bytes, n_bytes);
    if (bad == n_bytes) return KN_OK;
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = c->reader->name, .line = row, .column = c->name),
                           "%s, line %llu, column '%.80s': byte %zu of the %s is %s", c->reader->name,
                           (unsigned long long)row, c->name, bad + 1, c->type.is_binary ? "binary value" : "string",
                           bytes[bad] == '\0' ? "NUL, which no text has" : "not valid UTF-8");
}

/* The dictionary's raw values as text, in the same order; strings are text already. */
static kn_status spell_values(kn_buffer *bytes, uint64_t *offset, const column_reader *c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_dictionary *d = &c->dictionary;
    offset[0] = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const char *raw = d->bytes.items + d->offset.items[i];
        size_t n_raw = (size_t)(d->offset.items[i + 1] - d->offset.items[i]), n;
        if (c->type.kind == KN_ARROW_STRING || c->type.kind == KN_ARROW_VIEW) {
            KN_TRY(check_text(c, raw, n_raw, d->first_line.items[i], err));
            continue;
        }
        if (n_raw == 0) {
            kn_buffer_text(bytes, c->reader->null_text);
        } else if (!kn_buffer_reserve(bytes, KN_SPELLED_BYTES)) {
            KN_FAIL(KN_RESOURCES, "out of memory");
        } else {
            n = kn_arrow_spell(bytes->bytes + bytes->n, &c->type, raw);
            if (n == 0)
                KN_FAIL_AT(KN_INPUT,
                           KN_PLACE(.file = c->reader->name, .line = d->first_line.items[i], .column = c->name),
                           "%s, line %llu, column '%.80s': a time of day below 0 or from 24 hours on", c->reader->name,
                           (unsigned long long)d->first_line.items[i], c->name);
            bytes->n += n;
        }
        offset[i + 1] = bytes->n;
    }
    if (bytes->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

static kn_status finish_column(kn_column *column, column_reader *c, kn_type type, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_arrow_options *options = &c->reader->options;
    kn_dictionary *d = &c->dictionary;
    kn_infer_options infer = {.type = type,
                              .null_values = options->null_values,
                              .n_null_values = options->n_null_values,
                              .decimal = options->decimal,
                              .invalid_is_missing = options->invalid_is_missing,
                              .is_quasi = column->role == KN_ROLE_QUASI,
                              .source = c->reader->name,
                              .redact = options->redact};
    kn_buffer bytes = {0};
    uint64_t *offset = NULL;
    uint32_t *new_code = NULL;
    bool is_text = c->type.kind == KN_ARROW_STRING || c->type.kind == KN_ARROW_VIEW;
    kn_dictionary_drop_slots(d);
    KN_NEW_RAW(offset, (size_t)d->n + 1);
    KN_TRY(spell_values(&bytes, offset, c, err));
    kn_spellings spellings = {d->n, is_text ? d->bytes.items : bytes.bytes, is_text ? d->offset.items : offset,
                              d->first_line.items};
    KN_TRY(kn_column_set_spellings(column, &new_code, &spellings, &infer, err));
    KN_TRY(kn_column_new_codes(column, c->row, err));
    kn_codes_rewrite(column->codes, column->code_bytes, c->codes, 4, c->row, new_code);
done:
    kn_buffer_free(&bytes);
    kn_free(offset);
    kn_free(new_code);
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

typedef struct reading {
    const kn_arrow_reader *reader;
    const kn_column_plan *plans;
    kn_table *table;
    kn_ticker *ticker;
} reading;

static kn_status read_column(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading *r = context;
    kn_batches *batches = NULL;
    uint32_t column = (uint32_t)job, at;
    column_reader *c = NULL;
    if (!kn_plan_is_stored(&r->plans[column])) return KN_OK;
    KN_NEW(c, 1);
    c->reader = r->reader;
    c->name = r->reader->names[column];
    for (uint32_t i = 0; i < BATCH; i++) c->lines[i] = i;
    kn_buffer_text(&c->second, r->reader->null_text);
    if (!kn_buffer_reserve(&c->second, KN_DICTIONARY_PADDING)) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_arrow_type_read(&c->type, r->reader->batches->schema.children[column], r->reader->name, c->name, err));
    KN_TRY(kn_batches_column(&batches, &at, r->reader->batches, column, err));
    KN_NEW_RAW(c->codes, batches->n_rows);
    for (size_t b = 0; b < batches->arrays.n; b++) {
        KN_TRY(kn_tick(r->ticker, "reading", -1, err));
        KN_TRY(read_batch(c, &batches->arrays.items[b], at, err));
    }
    kn_batches_drop(batches);
    batches = NULL;
    KN_TRY(finish_column(&r->table->columns[column], c, r->plans[column].type, err));
done:
    kn_batches_drop(batches);
    if (c != NULL) {
        kn_dictionary_free(&c->dictionary);
        kn_buffer_free(&c->second);
        kn_free(c->codes);
        kn_free(c);
    }
    return status;
}

kn_status kn_arrow_read(kn_table **out, kn_arrow_reader *reader, const kn_column_plan *plans, kn_pool *pool,
                        kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    reading r = {.reader = reader, .plans = plans, .ticker = ticker};
    *out = NULL;
    KN_TRY(kn_table_new(&r.table, reader->name, reader->names, plans, reader->n_columns, err));
    r.table->n_rows = reader->batches->n_rows;
    KN_TRY(kn_pool_run(pool, reader->n_columns, read_column, &r, err));
    *out = r.table;
    r.table = NULL;
done:
    kn_table_free(r.table);
    return status;
}

static uint32_t n_columns_of(const void *reader) { return ((const kn_arrow_reader *)reader)->n_columns; }

static const char *column_name_of(const void *reader, uint32_t column)
{
    return ((const kn_arrow_reader *)reader)->names[column];
}

static kn_status read_all(kn_table **out, void *reader, const kn_column_plan *plans, kn_pool *pool, kn_ticker *ticker,
                          kn_error *err)
{
    return kn_arrow_read(out, reader, plans, pool, ticker, err);
}

static kn_text_form form_of(const void *reader)
{
    (void)reader;
    return (kn_text_form){.delimiter = ',', .has_header = true, .line_end = "\n"};
}

static void close_reader(void *reader) { kn_arrow_close(reader); }

const kn_source_type kn_source_arrow = {n_columns_of, column_name_of, read_all, form_of, close_reader};
