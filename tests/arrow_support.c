#include "arrow_support.h"

#include <stdlib.h>
#include <string.h>

int test_arrow_live;

int nothing_is_left(void **state)
{
    int live = test_arrow_live;
    test_arrow_live = 0;
    return live == 0 ? 0 : -1;
}

static void *copied(const void *bytes, size_t n)
{
    void *copy = malloc(n != 0 ? n : 1);
    assert_non_null(copy);
    if (n != 0) memcpy(copy, bytes, n);
    return copy;
}

/* --- Arrays ------------------------------------------------------------------------------------------------------ */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_buffers; i++) free((void *)array->buffers[i]);
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    if (array->dictionary != NULL) {
        array->dictionary->release(array->dictionary);
        free(array->dictionary);
    }
    free(array->buffers);
    free(array->children);
    array->release = NULL;
    test_arrow_live--;
}

static struct ArrowArray *new_array(int64_t n, int64_t n_buffers)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    array->length = n;
    array->n_buffers = n_buffers;
    array->buffers = calloc((size_t)n_buffers + 1, sizeof *array->buffers);
    array->release = release_array;
    test_arrow_live++;
    return array;
}

static void set_valid(struct ArrowArray *array, const uint8_t *valid)
{
    if (valid == NULL) return;
    uint8_t *bits = calloc(1, (size_t)(array->length + 7) / 8 + 1);
    for (int64_t i = 0; i < array->length; i++) {
        if (valid[i]) bits[i / 8] |= (uint8_t)(1 << i % 8);
        else array->null_count++;
    }
    array->buffers[0] = copied(bits, (size_t)(array->length + 7) / 8);
    free(bits);
}

struct ArrowArray *test_fixed(int64_t n, const uint8_t *valid, const void *data, size_t item_bytes)
{
    struct ArrowArray *array = new_array(n, 2);
    set_valid(array, valid);
    array->buffers[1] = copied(data, (size_t)n * item_bytes);
    return array;
}

struct ArrowArray *test_bools(int64_t n, const uint8_t *valid, const uint8_t *values)
{
    struct ArrowArray *array = new_array(n, 2);
    uint8_t *bits = calloc(1, (size_t)(n + 7) / 8 + 1);
    set_valid(array, valid);
    for (int64_t i = 0; i < n; i++) bits[i / 8] |= (uint8_t)(values[i] << i % 8);
    array->buffers[1] = copied(bits, (size_t)(n + 7) / 8);
    free(bits);
    return array;
}

struct ArrowArray *test_nulls(int64_t n)
{
    struct ArrowArray *array = new_array(n, 0);
    array->null_count = n;
    return array;
}

static uint8_t *valid_of(int64_t n, const char *const *cells)
{
    uint8_t *valid = calloc(1, (size_t)n + 1);
    bool any_null = false;
    for (int64_t i = 0; i < n; i++) any_null |= !(valid[i] = cells[i] != NULL);
    if (any_null) return valid;
    free(valid);
    return NULL;
}

struct ArrowArray *test_strings(int64_t n, const char *const *cells, bool large)
{
    struct ArrowArray *array = new_array(n, 3);
    uint8_t *valid = valid_of(n, cells);
    int64_t *wide = calloc((size_t)n + 1, sizeof *wide);
    int32_t *narrow = calloc((size_t)n + 1, sizeof *narrow);
    for (int64_t i = 0; i < n; i++) {
        wide[i + 1] = wide[i] + (cells[i] != NULL ? (int64_t)strlen(cells[i]) : 0);
        narrow[i + 1] = (int32_t)wide[i + 1];
    }
    char *bytes = malloc((size_t)wide[n] + 1);
    for (int64_t i = 0; i < n; i++)
        if (cells[i] != NULL) memcpy(bytes + wide[i], cells[i], strlen(cells[i]));
    set_valid(array, valid);
    array->buffers[1] =
        large ? copied(wide, ((size_t)n + 1) * sizeof *wide) : copied(narrow, ((size_t)n + 1) * sizeof *narrow);
    array->buffers[2] = copied(bytes, (size_t)wide[n]);
    free(bytes);
    free(valid);
    free(wide);
    free(narrow);
    return array;
}

/* Long strings go to two buffers in turn. */
struct ArrowArray *test_views(int64_t n, const char *const *cells)
{
    struct ArrowArray *array = new_array(n, 5);
    uint8_t *valid = valid_of(n, cells);
    char *views = calloc((size_t)n + 1, 16), *long_bytes[2] = {calloc(1, 1), calloc(1, 1)};
    int64_t sizes[2] = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        int32_t parts[4] = {cells[i] != NULL ? (int32_t)strlen(cells[i]) : 0, 0, (int32_t)(i % 2), 0};
        char *view = views + 16 * i;
        if (parts[0] <= 12) {
            memcpy(view, parts, 4);
            if (cells[i] != NULL) memcpy(view + 4, cells[i], (size_t)parts[0]);
            continue;
        }
        int64_t *size = &sizes[i % 2];
        memcpy(&parts[1], cells[i], 4);
        parts[3] = (int32_t)*size;
        memcpy(view, parts, 16);
        long_bytes[i % 2] = realloc(long_bytes[i % 2], (size_t)(*size + parts[0]));
        memcpy(long_bytes[i % 2] + *size, cells[i], (size_t)parts[0]);
        *size += parts[0];
    }
    set_valid(array, valid);
    array->buffers[1] = copied(views, (size_t)n * 16);
    array->buffers[2] = long_bytes[0];
    array->buffers[3] = long_bytes[1];
    array->buffers[4] = copied(sizes, sizeof sizes);
    free(views);
    free(valid);
    return array;
}

struct ArrowArray *test_dictionary(struct ArrowArray *indices, struct ArrowArray *values)
{
    indices->dictionary = values;
    return indices;
}

struct ArrowArray *test_slice(struct ArrowArray *array, int64_t offset, int64_t length)
{
    array->offset += offset;
    array->length = length;
    if (array->null_count > 0) array->null_count = -1;
    return array;
}

/* --- Streams ----------------------------------------------------------------------------------------------------- */

typedef struct stream_state {
    char **names; /* name, format, name, format, ... */
    int64_t n_columns;
    struct ArrowArray *batches[64];
    size_t n_batches, next;
    int failure;
} stream_state;

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    if (schema->dictionary != NULL) {
        schema->dictionary->release(schema->dictionary);
        free(schema->dictionary);
    }
    free(schema->children);
    free((void *)schema->format);
    free((void *)schema->name);
    schema->release = NULL;
    test_arrow_live--;
}

static void set_schema(struct ArrowSchema *out, const char *name, const char *format)
{
    const char *values = strchr(format, '>');
    *out = (struct ArrowSchema){.name = strdup(name), .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    out->format = values != NULL ? strndup(format, (size_t)(values - format)) : strdup(format);
    test_arrow_live++;
    if (values == NULL) return;
    out->dictionary = calloc(1, sizeof *out->dictionary);
    set_schema(out->dictionary, "", values + 1);
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const stream_state *s = stream->private_data;
    set_schema(out, "", "+s");
    out->n_children = s->n_columns;
    out->children = calloc((size_t)s->n_columns + 1, sizeof *out->children);
    for (int64_t i = 0; i < s->n_columns; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        set_schema(out->children[i], s->names[2 * i], s->names[2 * i + 1]);
    }
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    stream_state *s = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (s->next == s->n_batches) return s->failure;
    *out = *s->batches[s->next];
    free(s->batches[s->next++]);
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return ((const stream_state *)stream->private_data)->failure != 0 ? "the cable was cut" : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    stream_state *s = stream->private_data;
    for (; s->next < s->n_batches; s->next++) {
        s->batches[s->next]->release(s->batches[s->next]);
        free(s->batches[s->next]);
    }
    for (int64_t i = 0; i < 2 * s->n_columns; i++) free(s->names[i]);
    free(s->names);
    free(s);
    stream->release = NULL;
    test_arrow_live--;
}

void test_stream_start(struct ArrowArrayStream *out, int64_t n_columns, const char *const *names_and_formats)
{
    stream_state *s = calloc(1, sizeof *s);
    s->n_columns = n_columns;
    s->names = calloc(2 * (size_t)n_columns + 1, sizeof *s->names);
    for (int64_t i = 0; i < 2 * n_columns; i++) s->names[i] = strdup(names_and_formats[i]);
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, s};
    test_arrow_live++;
}

void test_stream_add(struct ArrowArrayStream *stream, int64_t length, int64_t offset, struct ArrowArray *const *columns)
{
    stream_state *s = stream->private_data;
    struct ArrowArray *batch = new_array(length, 1);
    assert_true(s->n_batches < sizeof s->batches / sizeof *s->batches);
    batch->offset = offset;
    batch->n_children = s->n_columns;
    batch->children = calloc((size_t)s->n_columns + 1, sizeof *batch->children);
    for (int64_t i = 0; i < s->n_columns; i++) batch->children[i] = columns[i];
    s->batches[s->n_batches++] = batch;
}

void test_stream_fail(struct ArrowArrayStream *stream, int code)
{
    ((stream_state *)stream->private_data)->failure = code;
}
