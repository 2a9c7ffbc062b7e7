/* Any bytes as an Arrow stream, which the reader of the run and that of verify/ read each in its own way: both refuse
 * it, or both see the same texts.
 *
 * What an interface cannot tell, how long a buffer is, is as it should be: each is a block of exactly the bytes that
 * the array's own length, offsets and views ask for, so that a sanitizer sees one more. All else comes from the input:
 * types, lengths, offsets, nulls, values, views, indices, how many buffers there are. */
#include "fuzz.h"
#include "source/arrow/arrow_read.h"
#include "verify/sheet.h"

#include <errno.h>
#include <string.h>

enum { MAX_COLUMNS = 3, MAX_BATCHES = 3, LONG_BATCH = 600 };

typedef struct input {
    const uint8_t *at, *end;
} input;

static uint8_t take(input *in) { return in->at < in->end ? *in->at++ : 0; }
/* One in so many, never past the end. */
static bool is_odd(input *in, unsigned one_in) { return in->at < in->end && take(in) % one_in == one_in - 1; }

static const char *const formats[] = {
    "n",       "b",        "c",         "C",          "s",       "S",    "i",       "I",    "l",       "L",
    "e",       "f",        "g",         "u",          "U",       "z",    "Z",       "vu",   "vz",      "tdD",
    "tdm",     "tts",      "ttm",       "ttu",        "ttn",     "tss:", "tsm:UTC", "tsu:", "tsn:CET", "d:9,2",
    "d:38,-3", "d:9,2,32", "d:18,4,64", "d:70,5,256", "d:5,301", "+l",   "w:4",     "tDs",  "",
};
static const uint8_t widths[] = {0, 0, 1, 1, 2, 2, 4, 4, 8, 8,  2,  4, 8, 4,  8,  4, 8, 16, 16, 4,
                                 8, 4, 4, 8, 8, 8, 8, 8, 8, 16, 16, 4, 8, 32, 16, 0, 4, 8,  0};
static const char *const index_formats[] = {"c", "C", "s", "S", "i", "I", "l", "L", "g"};
static const uint8_t index_widths[] = {1, 1, 2, 2, 4, 4, 8, 8, 8};
enum { N_FORMATS = sizeof formats / sizeof *formats, N_INDEX_FORMATS = sizeof index_formats / sizeof *index_formats };
_Static_assert(sizeof widths == N_FORMATS, "a width for each format");

typedef struct column_type {
    uint8_t format, index; /* index: N_INDEX_FORMATS: no dictionary */
} column_type;

typedef struct stream_state {
    input in;
    uint8_t n_columns, n_batches;
    column_type types[MAX_COLUMNS];
} stream_state;

/* --- Arrays --------------------------------------------------------------------------------------------------------
 */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; array->buffers != NULL && i < 8; i++) free((void *)array->buffers[i]);
    for (int64_t i = 0; array->children != NULL && i < MAX_COLUMNS; i++) {
        if (array->children[i] != NULL && array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    if (array->private_data != NULL) { /* the dictionary, whatever the array says of it */
        struct ArrowArray *dictionary = array->private_data;
        if (dictionary->release != NULL) dictionary->release(dictionary);
        free(dictionary);
    }
    free(array->buffers);
    free(array->children);
    array->release = NULL;
}

static void *some_bytes(input *in, size_t n)
{
    uint8_t *bytes = malloc(n);
    for (size_t i = 0; i < n; i++) bytes[i] = take(in);
    return bytes;
}

/* Offsets that ascend by what the bytes say, or anything; then the bytes of the strings, as many as the last says. */
static void add_strings(struct ArrowArray *array, input *in, size_t width)
{
    const size_t n = (size_t)(array->offset + array->length) + 1;
    const bool broken = is_odd(in, 16);
    uint8_t *offsets = malloc(n * width);
    int64_t last = broken ? (int8_t)take(in) : take(in) % 4;
    for (size_t i = 0; i < n; i++) {
        const int32_t narrow = (int32_t)last;
        if (width == 8) memcpy(offsets + 8 * i, &last, 8);
        else memcpy(offsets + 4 * i, &narrow, 4);
        if (i + 1 < n) last = broken ? (int8_t)take(in) : last + take(in) % 24;
    }
    array->buffers[1] = offsets;
    array->buffers[2] = last > 0 && !is_odd(in, 64) ? some_bytes(in, (size_t)last) : NULL;
}

static void add_views(struct ArrowArray *array, input *in)
{
    const size_t n = (size_t)(array->offset + array->length);
    const int64_t size = 12 + take(in) % 64;
    int32_t *views = malloc(16 * n + 1);
    for (size_t i = 0; i < n; i++) {
        const bool broken = is_odd(in, 16);
        int32_t length = broken ? (int8_t)take(in) : take(in) % 30;
        if (length > size) length = (int32_t)size;
        views[4 * i] = length;
        for (size_t j = 1; j < 4; j++)
            memcpy(views + 4 * i + j, (uint8_t[4]){take(in), take(in), take(in), take(in)}, 4);
        if (length > 12) {
            views[4 * i + 2] = broken ? (int8_t)take(in) : 0;
            views[4 * i + 3] = broken ? (int8_t)take(in) : take(in) % (int32_t)(size - length + 1);
        }
    }
    array->n_buffers = 4;
    array->buffers[1] = views;
    array->buffers[2] = some_bytes(in, (size_t)size);
    array->buffers[3] = memcpy(malloc(sizeof size), &size, sizeof size);
}

static void add_buffers(struct ArrowArray *array, input *in, const char *format, size_t width)
{
    const size_t n = (size_t)(array->offset + array->length);
    array->n_buffers = format[0] == 'n' ? 0 : 2;
    if (strchr("uUzZ", format[0]) != NULL && format[0] != '\0') {
        array->n_buffers = 3;
        add_strings(array, in, width);
    } else if (format[0] == 'v') {
        add_views(array, in);
    } else if (format[0] == 'b') {
        array->buffers[1] = some_bytes(in, (n + 7) / 8);
    } else {
        array->buffers[1] = some_bytes(in, n * width);
    }
    if (format[0] != 'n' && is_odd(in, 3)) {
        array->buffers[0] = some_bytes(in, (n + 7) / 8);
        array->null_count = is_odd(in, 4) ? 1 : -1;
    } else if (is_odd(in, 64)) {
        array->null_count = 1;
    }
    if (is_odd(in, 64)) array->n_buffers += (int8_t)take(in) % 3;
    if (array->n_buffers < 0) array->n_buffers = 0;
    if (format[0] == 'v' && array->n_buffers > 4) array->n_buffers = 4; /* sizes stand in the last one */
    if (format[0] == 'v' && array->n_buffers == 3) {                    /* no buffers to point into, and no sizes */
        free((void *)array->buffers[3]);
        array->buffers[3] = NULL;
    }
}

static struct ArrowArray *some_array(input *in, const column_type *type, int64_t least, bool as_dictionary)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    const bool has_dictionary = type->index < N_INDEX_FORMATS && !as_dictionary;
    array->buffers = calloc(8, sizeof *array->buffers);
    array->release = release_array;
    array->length = as_dictionary ? take(in) % 8 : least;
    array->offset = is_odd(in, 4) ? take(in) % 8 : 0;
    if (is_odd(in, 64)) array->length = (int8_t)take(in); /* fewer than the batch has, or less than none */
    const int64_t said = array->length;
    if (array->length < 0) array->length = 0;
    add_buffers(array, in, has_dictionary ? "i" : formats[type->format],
                has_dictionary ? index_widths[type->index] : widths[type->format]);
    array->length = said;
    if (has_dictionary) array->private_data = some_array(in, type, 0, true);
    if (has_dictionary && !is_odd(in, 64)) array->dictionary = array->private_data;
    if (has_dictionary && !is_odd(in, 4)) /* indices that mostly fit */
        for (size_t i = 0; said > 0 && i < (size_t)(array->offset + said); i++) {
            const int64_t n = array->private_data != NULL ? ((struct ArrowArray *)array->private_data)->length : 0;
            const uint64_t index = n > 0 ? take(in) % (uint64_t)n : 0;
            memcpy((char *)array->buffers[1] + i * index_widths[type->index], &index, index_widths[type->index]);
        }
    return array;
}

/* --- The stream -----------------------------------------------------------------------------------------------------
 */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary != NULL) free(schema->dictionary);
    free(schema->children);
    schema->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static const char *const names[MAX_COLUMNS] = {"a", "b", "c"};
    stream_state *s = stream->private_data;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema, .n_children = s->n_columns};
    out->children = calloc(MAX_COLUMNS, sizeof *out->children);
    for (int64_t i = 0; i < s->n_columns; i++) {
        struct ArrowSchema *column = out->children[i] = calloc(1, sizeof *column);
        *column =
            (struct ArrowSchema){.format = formats[s->types[i].format], .name = names[i], .release = release_schema};
        if (s->types[i].index == N_INDEX_FORMATS) continue;
        column->dictionary = calloc(1, sizeof *column->dictionary);
        *column->dictionary = (struct ArrowSchema){.format = column->format, .name = "", .release = release_schema};
        column->format = index_formats[s->types[i].index];
    }
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    stream_state *s = stream->private_data;
    input *in = &s->in;
    *out = (struct ArrowArray){.release = NULL};
    if (s->n_batches == 0) return is_odd(in, 32) ? EIO : 0;
    s->n_batches--;
    const uint8_t size = take(in);
    out->length = size < 250 ? size % 20 : LONG_BATCH;
    out->offset = is_odd(in, 8) ? take(in) % 5 : 0;
    out->n_children = s->n_columns;
    out->release = release_array;
    out->children = calloc(MAX_COLUMNS, sizeof *out->children);
    for (uint8_t c = 0; c < s->n_columns; c++)
        out->children[c] = some_array(in, &s->types[c], out->offset + out->length, false);
    if (is_odd(in, 64)) out->length = -1;
    if (is_odd(in, 64)) out->n_children = take(in) % MAX_COLUMNS;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) { return NULL; }
static void release_stream(struct ArrowArrayStream *stream) { stream->release = NULL; }

/* --- What must hold --------------------------------------------------------------------------------------------------
 */

static bool wants_all(const void *context, uint32_t index, const char *name) { return true; }

static void check_same(const kn_table *table, const kn_sheet *sheet)
{
    require(table->n_rows == sheet->n_rows && table->n_columns == sheet->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++)
        for (uint32_t row = 0; row < table->n_rows; row++) {
            size_t n_read, n_checked;
            const char *read = kn_column_bytes(&table->columns[c], kn_column_code(&table->columns[c], row), &n_read),
                       *checked = kn_text(&sheet->columns[c], kn_sheet_code(&sheet->columns[c], row), &n_checked);
            require(n_read == n_checked && memcmp(read, checked, n_read) == 0);
        }
}

static void read_both(const kn_batches *batches, bool trim)
{
    kn_error err = {0};
    kn_arrow_reader *reader = NULL;
    kn_table *table = NULL;
    kn_sheet *sheet = NULL;
    kn_column_plan plans[MAX_COLUMNS] = {
        {.role = KN_ROLE_SENSITIVE}, {.role = KN_ROLE_SENSITIVE}, {.role = KN_ROLE_SENSITIVE}};
    const kn_arrow_options options = {.trim = trim};
    const kn_sheet_options checked = {.path = "table:data",
                                      .name = "data",
                                      .batches = batches,
                                      .trim = trim,
                                      .wants = wants_all,
                                      .fingerprint_column = KN_NONE};
    kn_status status = kn_arrow_open(&reader, batches, &options, &err);
    if (status == KN_OK) status = kn_arrow_read(&table, reader, plans, NULL, NULL, &err);
    require(status == KN_OK || (status == KN_INPUT && table == NULL && err.message[0] != '\0'));
    require(kn_sheet_of_batches(&sheet, &checked, &err) == KN_OK);
    require(status != KN_OK || sheet->problem == NULL); /* offsets of nulls are nobody's business there */
    if (status == KN_OK) check_same(table, sheet);
    kn_table_free(table);
    kn_arrow_close(reader);
    kn_sheet_free(sheet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    stream_state s = {.in = {data, data + size}};
    kn_error err = {0};
    kn_batches *batches;
    const bool trim = take(&s.in) & 1;
    s.n_columns = (uint8_t)(take(&s.in) % (MAX_COLUMNS + 1));
    s.n_batches = (uint8_t)(take(&s.in) % (MAX_BATCHES + 1));
    for (uint8_t c = 0; c < s.n_columns; c++) {
        s.types[c].format = (uint8_t)(take(&s.in) % N_FORMATS);
        s.types[c].index = (uint8_t)(take(&s.in) % (2 * N_INDEX_FORMATS));
        if (s.types[c].index > N_INDEX_FORMATS) s.types[c].index = N_INDEX_FORMATS;
    }
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, &s};
    kn_status status = kn_batches_pull(&batches, &stream, "table:data", &err);
    require(stream.release == NULL);
    if (status != KN_OK) {
        require(batches == NULL && status == KN_INPUT && err.message[0] != '\0');
        return 0;
    }
    read_both(batches, trim);
    kn_batches_drop(batches);
    return 0;
}
