/* A result of DuckDB's as Arrow arrays, whose memory counts as the run's. */
#include "duckdb/duckdb_stream.h"

#include "duckdb/duckdb_batches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Frees the error. */
static int errno_of(kn_result_stream *s, void *error)
{
    const kn_duckdb_api *api = &s->duckdb->api;
    int code = 0;
    if (error != NULL && api->error_data_has_error(error)) {
        kn_duckdb_plain_message(s->message, s->duckdb, api->error_data_message(error));
        code = EIO;
    }
    if (error != NULL) api->destroy_error_data(&error);
    return code;
}

/* Types of which Arrow's form says less than DuckDB's, or that came after 1.4: NULL for all others. In the place of an
 * Arrow format it is one that nobody can read, so that whoever wants the column is told. */
static const char *unreadable(int type)
{
    switch (type) {
    case DUCKDB_BIT: return "DuckDB's BIT";
    case DUCKDB_TIMETZ: return "DuckDB's TIMETZ";
    case DUCKDB_UHUGEINT: return "DuckDB's UHUGEINT";
    case DUCKDB_BIGNUM: return "DuckDB's BIGNUM";
    default: return type > DUCKDB_LAST_KNOWN ? "new in DuckDB" : NULL;
    }
}

int kn_result_schema(kn_result_stream *s, struct ArrowSchema *out)
{
    const kn_duckdb_api *api = &s->duckdb->api;
    const uint64_t n = api->column_count(s->result);
    int code = ENOMEM;
    void **types = kn_array_alloc(n, sizeof *types, NULL);
    const char **names = kn_array_alloc(n, sizeof *names, NULL);
    for (uint64_t c = 0; types != NULL && names != NULL && c < n; c++) {
        types[c] = api->column_logical_type(s->result, c);
        names[c] = s->names != NULL ? s->names[c] : api->column_name(s->result, c);
        if (unreadable(api->get_type_id(types[c])) == NULL) continue;
        api->destroy_logical_type(&types[c]); /* Arrow may have no form for it at all */
        types[c] = api->create_logical_type(DUCKDB_VARCHAR);
    }
    if (types != NULL && names != NULL) code = errno_of(s, api->to_arrow_schema(s->arrow, types, names, n, out));
    for (uint64_t c = 0; code == 0 && c < n; c++) {
        void *type = api->column_logical_type(s->result, c);
        const char *format = unreadable(api->get_type_id(type));
        if (format != NULL) out->children[c]->format = format;
        api->destroy_logical_type(&type);
    }
    for (uint64_t c = 0; types != NULL && c < n; c++)
        if (types[c] != NULL) api->destroy_logical_type(&types[c]);
    kn_free(types);
    kn_free(names);
    s->schema = out;
    return code;
}

/* --- What DuckDB's arrays weigh ----------------------------------------------------------------------------------- */

/* Bits of a value, or of what leads to one, in an array's second buffer. */
static size_t value_bits(const char *format)
{
    switch (format[0]) {
    case 'n': return 0;
    case 'b': return 1;
    case 'c':
    case 'C': return 8;
    case 's':
    case 'S': return 16;
    case 'i':
    case 'I':
    case 'f':
    case 'u':
    case 'z': return 32;
    case 't': return format[1] == 'i' ? 128 : strcmp(format, "tdD") == 0 ? 32 : 64;
    case 'd':
    case 'v': return 128;
    case 'w': return 8 * (size_t)atoi(format + 2);
    case '+': return format[1] == 's' || format[1] == 'w' ? 0 : format[1] == 'L' ? 64 : 32;
    default: return 64;
    }
}

/* DuckDB makes room by powers of two. */
static size_t room_for(size_t n_bytes)
{
    size_t room = 64;
    while (room < n_bytes) room *= 2;
    return room;
}

static size_t array_bytes(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    const size_t n = (size_t)array->length, n_bits = value_bits(schema->format);
    const char kind = schema->format[0];
    size_t n_bytes = sizeof *array + room_for(n / 8 + 1) + (n_bits > 0 ? room_for(n * n_bits / 8 + 1) : 0);
    if (n > 0 && (kind == 'u' || kind == 'z')) n_bytes += room_for((size_t)((const int32_t *)array->buffers[1])[n]);
    if (n > 0 && (kind == 'U' || kind == 'Z')) n_bytes += room_for((size_t)((const int64_t *)array->buffers[1])[n]);
    for (int64_t i = 0; kind == 'v' && i + 3 < array->n_buffers; i++)
        n_bytes += (size_t)((const int64_t *)array->buffers[array->n_buffers - 1])[i];
    for (int64_t c = 0; c < array->n_children && c < schema->n_children; c++)
        n_bytes += array_bytes(schema->children[c], array->children[c]);
    if (array->dictionary != NULL && schema->dictionary != NULL)
        n_bytes += array_bytes(schema->dictionary, array->dictionary);
    return n_bytes;
}

/* An array of DuckDB's, counted as the run's memory as long as it lives. */
typedef struct charged_array {
    struct ArrowArray theirs;
    kn_charge charge;
} charged_array;

static void release_charged(struct ArrowArray *array)
{
    charged_array *charged = array->private_data;
    charged->theirs.release(&charged->theirs);
    kn_memory_discharge(&charged->charge);
    kn_free(charged);
    array->release = NULL;
}

static int charge_array(kn_result_stream *s, struct ArrowArray *array)
{
    kn_error failure = {0};
    charged_array *charged = kn_array_alloc(1, sizeof *charged, &failure);
    if (charged == NULL || kn_memory_charge(&charged->charge, array_bytes(s->schema, array), &failure) != KN_OK) {
        array->release(array);
        kn_free(charged);
        snprintf(s->message, sizeof s->message, "%.500s", failure.message);
        return ENOMEM;
    }
    charged->theirs = *array;
    array->private_data = charged;
    array->release = release_charged;
    return 0;
}

/* --- One column of strings, faster than DuckDB makes an array of them ----------------------------------------------
 */

typedef struct text_batch {
    struct ArrowArray texts, *children[1];
    const void *buffers[3], *no_buffer[1];
} text_batch;

static void release_texts(struct ArrowArray *array) { array->release = NULL; }

static void release_batch(struct ArrowArray *array)
{
    kn_free(array->private_data);
    array->release = NULL;
}

static int text_chunk(kn_result_stream *s, struct ArrowArray *out, void *chunk)
{
    const kn_duckdb_api *api = &s->duckdb->api;
    kn_error failure = {0};
    const uint64_t n = api->data_chunk_get_size(chunk), n_words = n / 64 + 1;
    void *vector = api->data_chunk_get_vector(chunk, 0);
    const kn_duckdb_string *strings = api->vector_get_data(vector);
    const uint64_t *valid = api->vector_get_validity(vector); /* NULL: all are; what is null has no string */
    uint64_t n_bytes = 0;
#define IS_VALID(i) (valid == NULL || (valid[(i) / 64] >> (i) % 64 & 1) != 0)
    for (uint64_t i = 0; i < n; i++) n_bytes += IS_VALID(i) ? strings[i].here.n_bytes : 0;
    if (n_bytes > INT32_MAX) return EOVERFLOW;
    text_batch *batch = kn_array_alloc_raw(sizeof *batch + n_words * 8 + (n + 1) * 4 + n_bytes, 1, &failure);
    if (batch == NULL) {
        snprintf(s->message, sizeof s->message, "%.500s", failure.message);
        return ENOMEM;
    }
    uint64_t *marks = (uint64_t *)(batch + 1);
    int32_t *offsets = (int32_t *)(marks + n_words);
    char *bytes = (char *)(offsets + n + 1), *at = bytes;
    if (valid != NULL) memcpy(marks, valid, (n + 63) / 64 * 8);
    for (uint64_t i = 0; i < n; i++) {
        const kn_duckdb_string *string = &strings[i];
        offsets[i] = (int32_t)(at - bytes);
        if (!IS_VALID(i)) continue;
        const uint32_t n_here = string->here.n_bytes;
        memcpy(at, n_here <= sizeof string->here.bytes ? string->here.bytes : string->there.bytes, n_here);
        at += n_here;
    }
#undef IS_VALID
    offsets[n] = (int32_t)n_bytes;
    *batch = (text_batch){.children = {&batch->texts}, .buffers = {valid != NULL ? marks : NULL, offsets, bytes}};
    batch->texts = (struct ArrowArray){.length = (int64_t)n,
                                       .null_count = valid != NULL ? -1 : 0,
                                       .n_buffers = 3,
                                       .buffers = batch->buffers,
                                       .release = release_texts};
    *out = (struct ArrowArray){.length = (int64_t)n,
                               .n_buffers = 1,
                               .buffers = batch->no_buffer,
                               .n_children = 1,
                               .children = batch->children,
                               .release = release_batch,
                               .private_data = batch};
    return 0;
}

int kn_result_chunk(kn_result_stream *s, struct ArrowArray *out, void *chunk)
{
    const kn_duckdb_api *api = &s->duckdb->api;
    out->release = NULL;
    if (s->is_text) return text_chunk(s, out, chunk);
    const int code = errno_of(s, api->data_chunk_to_arrow(s->arrow, chunk, out));
    return code == 0 ? charge_array(s, out) : code;
}

/* A result keeps its chunks until it is destroyed, outside of what DuckDB limits: about as much again as their arrays.
 */
static int charge_result(kn_result_stream *s, struct ArrowArray *array)
{
    kn_error failure = {0};
    kn_charge more;
    if (kn_memory_charge(&more, array_bytes(s->schema, array), &failure) != KN_OK) {
        array->release(array);
        snprintf(s->message, sizeof s->message, "%.500s", failure.message);
        return ENOMEM;
    }
    s->held = (kn_charge){more.account, s->held.n_bytes + more.n_bytes};
    return 0;
}

int kn_result_next(kn_result_stream *s, struct ArrowArray *out)
{
    out->release = NULL;
    void *chunk = s->duckdb->api.fetch_chunk(*s->result);
    if (chunk == NULL) return 0;
    int code = kn_result_chunk(s, out, chunk);
    if (code == 0) code = charge_result(s, out);
    s->duckdb->api.destroy_data_chunk(&chunk);
    return code;
}

const char *kn_result_error(const kn_result_stream *s) { return s->message[0] != '\0' ? s->message : NULL; }

void kn_result_begin(kn_result_stream *s, kn_duckdb *duckdb, kn_duckdb_result *result)
{
    const kn_duckdb_api *api = &duckdb->api;
    s->duckdb = duckdb;
    s->result = result;
    s->arrow = api->result_get_arrow_options(result);
    if (api->column_count(result) != 1) return;
    void *type = api->column_logical_type(result, 0);
    s->is_text = api->get_type_id(type) == DUCKDB_VARCHAR;
    api->destroy_logical_type(&type);
}

void kn_result_end(kn_result_stream *s)
{
    if (s->arrow != NULL) s->duckdb->api.destroy_arrow_options(&s->arrow);
    kn_memory_discharge(&s->held);
}

/* --- As batches --------------------------------------------------------------------------------------------------- */

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    return kn_result_schema(stream->private_data, out);
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    return kn_result_next(stream->private_data, out);
}

static const char *stream_error(struct ArrowArrayStream *stream) { return kn_result_error(stream->private_data); }
static void stream_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

kn_status kn_duckdb_pull(kn_batches **out, kn_duckdb *duckdb, kn_duckdb_result *result, const char *name, kn_error *err)
{
    kn_result_stream s = {0};
    kn_result_begin(&s, duckdb, result);
    struct ArrowArrayStream stream = {stream_schema, stream_next, stream_error, stream_release, &s};
    kn_status status = kn_batches_pull(out, &stream, name, err);
    duckdb->api.destroy_result(result);
    kn_result_end(&s);
    return status;
}
