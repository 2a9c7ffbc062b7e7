/* Pulling, holding and handing out record batches.
 *
 * What is handed out is a shallow copy: nodes of our own whose buffers are the held ones. A consumer may move a column
 * out of its batch and keep only that, so every node holds the batches by itself. */
#include "table/batches.h"

#include "base/scope.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* --- Pulling ----------------------------------------------------------------------------------------------------- */

static kn_status check_schema(const struct ArrowSchema *schema, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    if (schema->format == NULL || schema->release == NULL) KN_FAIL(KN_INPUT, "%s: the stream has no schema", name);
    if (strcmp(schema->format, "+s") != 0)
        KN_FAIL(KN_INPUT, "%s: a stream of values of type '%.20s' is no table; give a stream of record batches", name,
                schema->format);
    if (schema->n_children < 0 || schema->n_children >= UINT32_MAX ||
        (schema->n_children > 0 && schema->children == NULL))
        KN_FAIL(KN_INPUT, "%s: the schema says that it has %lld columns", name, (long long)schema->n_children);
    for (int64_t c = 0; c < schema->n_children; c++)
        if (schema->children[c] == NULL || schema->children[c]->format == NULL)
            KN_FAIL(KN_INPUT, "%s: column %lld of the schema has no type", name, (long long)c + 1);
done:
    return status;
}

static bool has_null_rows(const struct ArrowArray *array)
{
    const uint8_t *valid = array->n_buffers > 0 && array->buffers != NULL ? array->buffers[0] : NULL;
    if (valid == NULL || array->null_count == 0) return false;
    for (int64_t i = array->offset; i < array->offset + array->length; i++)
        if ((valid[i / 8] >> i % 8 & 1) == 0) return true;
    return false;
}

static kn_status check_batch(const kn_batches *batches, const struct ArrowArray *array, kn_error *err)
{
    kn_status status = KN_OK;
    long long number = (long long)batches->arrays.n + 1;
    const char *name = batches->name;
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX - array->offset)
        KN_FAIL(KN_INPUT, "%s, batch %lld: a length of %lld from offset %lld", name, number, (long long)array->length,
                (long long)array->offset);
    if (array->n_children != batches->schema.n_children || (array->n_children > 0 && array->children == NULL))
        KN_FAIL(KN_INPUT, "%s, batch %lld: %lld columns where the schema has %lld", name, number,
                (long long)array->n_children, (long long)batches->schema.n_children);
    for (int64_t c = 0; c < array->n_children; c++) {
        const struct ArrowArray *column = array->children[c];
        if (column == NULL || column->length < array->offset + array->length)
            KN_FAIL(KN_INPUT, "%s, batch %lld, column %lld: %lld rows where the batch has %lld", name, number,
                    (long long)c + 1, column != NULL ? (long long)column->length : 0, (long long)array->length);
    }
    if (has_null_rows(array))
        KN_FAIL(KN_INPUT, "%s, batch %lld: rows that are null as a whole; this is no table", name, number);
    if ((uint64_t)array->length >= UINT32_MAX - (uint64_t)batches->n_rows)
        KN_FAIL(KN_INPUT, "%s: more than four billion rows", name);
done:
    return status;
}

/* Takes the array. */
static kn_status add_batch(kn_batches *batches, struct ArrowArray *array, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(check_batch(batches, array, err));
    KN_RESERVE(&batches->arrays, 1);
    batches->arrays.items[batches->arrays.n++] = *array;
    batches->n_rows += (uint32_t)array->length;
    array->release = NULL;
done:
    if (array->release != NULL) array->release(array);
    return status;
}

static kn_status new_batches(kn_batches **out, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(*out, 1);
    atomic_init(&(*out)->n_holders, 1);
    (*out)->name = kn_string_copy(name, strlen(name), err);
    if ((*out)->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

static kn_status refuse_stream(struct ArrowArrayStream *stream, int code, const char *name, kn_error *err)
{
    const char *why = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
    return kn_error_set(err, code == ENOMEM ? KN_RESOURCES : KN_INPUT, "%s: the stream failed: %.500s", name,
                        why != NULL ? why : strerror(code));
}

kn_status kn_batches_pull(kn_batches **out, struct ArrowArrayStream *stream, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *batches = NULL;
    *out = NULL;
    if (stream == NULL || stream->release == NULL)
        KN_FAIL(KN_USAGE, "%s: the stream is released already; a stream can be given away once", name);
    KN_TRY(new_batches(&batches, name, err));
    kn_scope_to_host(); /* the stream is the caller's own code */
    int code = stream->get_schema(stream, &batches->schema);
    kn_scope_from_host();
    if (code != 0) {
        batches->schema.release = NULL;
        KN_TRY(refuse_stream(stream, code, name, err));
    }
    KN_TRY(check_schema(&batches->schema, name, err));
    for (;;) {
        struct ArrowArray array = {.release = NULL};
        kn_scope_to_host();
        code = stream->get_next(stream, &array);
        kn_scope_from_host();
        if (code != 0) KN_TRY(refuse_stream(stream, code, name, err));
        if (array.release == NULL) break; /* the end */
        KN_TRY(add_batch(batches, &array, err));
    }
    *out = batches;
    batches = NULL;
done:
    if (stream != NULL && stream->release != NULL) stream->release(stream);
    if (stream != NULL) stream->release = NULL;
    kn_batches_drop(batches);
    return status;
}

kn_status kn_batches_of_array(kn_batches **out, struct ArrowSchema *schema, struct ArrowArray *array, const char *name,
                              kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *batches = NULL;
    *out = NULL;
    KN_TRY(new_batches(&batches, name, err));
    batches->schema = *schema;
    schema->release = NULL;
    KN_TRY(check_schema(&batches->schema, name, err));
    KN_TRY(add_batch(batches, array, err));
    *out = batches;
    batches = NULL;
done:
    if (schema->release != NULL) schema->release(schema);
    if (array->release != NULL) array->release(array);
    schema->release = NULL;
    array->release = NULL;
    kn_batches_drop(batches);
    return status;
}

void kn_batches_drop(kn_batches *batches)
{
    if (batches == NULL || atomic_fetch_sub(&batches->n_holders, 1) != 1) return;
    for (size_t i = 0; i < batches->arrays.n; i++) batches->arrays.items[i].release(&batches->arrays.items[i]);
    if (batches->schema.release != NULL) batches->schema.release(&batches->schema);
    if (batches->close != NULL) batches->close(batches->puller);
    kn_free(batches->arrays.items);
    kn_free(batches->name);
    kn_free(batches);
}

kn_status kn_batches_column(kn_batches **out, uint32_t *at, const kn_batches *batches, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *pulled = NULL;
    *out = NULL;
    *at = 0;
    if (batches->pull == NULL) {
        *out = (kn_batches *)batches; /* one holder more changes nothing that anybody sees */
        atomic_fetch_add(&(*out)->n_holders, 1);
        *at = column;
        return KN_OK;
    }
    KN_TRY(batches->pull(&pulled, batches->puller, column, err));
    if (pulled->n_rows != batches->n_rows || pulled->schema.n_children != 1)
        KN_FAIL(KN_INPUT, "%s: it changed while it was read", batches->name);
    *out = pulled;
    pulled = NULL;
done:
    kn_batches_drop(pulled);
    return status;
}

/* --- Handing out ------------------------------------------------------------------------------------------------- */

/* A copied node keeps its children and its dictionary in one block, so that a half-made copy is easy to undo. */
typedef struct array_copy {
    kn_batches *held;
    struct ArrowArray dictionary, **pointers, *children;
} array_copy;

static void release_array(struct ArrowArray *array)
{
    array_copy *copy = array->private_data;
    for (int64_t c = 0; c < array->n_children; c++)
        if (copy->children[c].release != NULL) copy->children[c].release(&copy->children[c]);
    if (copy->dictionary.release != NULL) copy->dictionary.release(&copy->dictionary);
    kn_batches_drop(copy->held);
    kn_free(copy->children);
    kn_free(copy->pointers);
    kn_free(copy);
    array->release = NULL;
}

static kn_status copy_array(struct ArrowArray *out, const struct ArrowArray *from, kn_batches *held, kn_error *err)
{
    kn_status status = KN_OK;
    array_copy *copy = NULL;
    *out = *from;
    out->release = NULL;
    KN_NEW(copy, 1);
    KN_NEW(copy->children, (size_t)from->n_children);
    KN_NEW(copy->pointers, (size_t)from->n_children);
    copy->held = held;
    atomic_fetch_add(&held->n_holders, 1);
    out->private_data = copy;
    out->release = release_array;
    out->children = from->n_children > 0 ? copy->pointers : NULL;
    out->n_children = 0; /* as many as release_array may look at */
    for (int64_t c = 0; c < from->n_children; c++) {
        copy->pointers[c] = &copy->children[c];
        out->n_children = c + 1;
        KN_TRY(copy_array(&copy->children[c], from->children[c], held, err));
    }
    if (from->dictionary != NULL) {
        out->dictionary = &copy->dictionary;
        KN_TRY(copy_array(&copy->dictionary, from->dictionary, held, err));
    }
    return KN_OK;
done:
    if (out->release != NULL) out->release(out);
    else if (copy != NULL) {
        kn_free(copy->children);
        kn_free(copy->pointers);
        kn_free(copy);
    }
    return status;
}

typedef struct schema_copy {
    char *format, *name;
    struct ArrowSchema dictionary, **pointers, *children;
} schema_copy;

static void release_schema(struct ArrowSchema *schema)
{
    schema_copy *copy = schema->private_data;
    for (int64_t c = 0; c < schema->n_children; c++)
        if (copy->children[c].release != NULL) copy->children[c].release(&copy->children[c]);
    if (copy->dictionary.release != NULL) copy->dictionary.release(&copy->dictionary);
    kn_free(copy->children);
    kn_free(copy->pointers);
    kn_free(copy->format);
    kn_free(copy->name);
    kn_free(copy);
    schema->release = NULL;
}

/* Schemas are small: copied whole, without metadata. */
static kn_status copy_schema(struct ArrowSchema *out, const struct ArrowSchema *from, kn_error *err)
{
    kn_status status = KN_OK;
    schema_copy *copy = NULL;
    const char *name = from->name != NULL ? from->name : "";
    *out = (struct ArrowSchema){.flags = from->flags};
    KN_NEW(copy, 1);
    out->private_data = copy;
    out->release = release_schema;
    copy->format = kn_string_copy(from->format, strlen(from->format), err);
    copy->name = kn_string_copy(name, strlen(name), err);
    if (copy->format == NULL || copy->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    out->format = copy->format;
    out->name = copy->name;
    KN_NEW(copy->children, (size_t)from->n_children);
    KN_NEW(copy->pointers, (size_t)from->n_children);
    out->children = from->n_children > 0 ? copy->pointers : NULL;
    for (int64_t c = 0; c < from->n_children; c++) {
        copy->pointers[c] = &copy->children[c];
        out->n_children = c + 1;
        KN_TRY(copy_schema(&copy->children[c], from->children[c], err));
    }
    if (from->dictionary != NULL) {
        out->dictionary = &copy->dictionary;
        KN_TRY(copy_schema(&copy->dictionary, from->dictionary, err));
    }
done:
    if (status != KN_OK && out->release != NULL) out->release(out);
    return status;
}

typedef struct batch_stream {
    kn_batches *held;
    size_t next;
    kn_error failure;
} batch_stream;

static int errno_of(kn_status status) { return status == KN_OK ? 0 : status == KN_RESOURCES ? ENOMEM : EIO; }

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    batch_stream *s = stream->private_data;
    return errno_of(copy_schema(out, &s->held->schema, &s->failure));
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    batch_stream *s = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (s->next == s->held->arrays.n) return 0;
    kn_status status = copy_array(out, &s->held->arrays.items[s->next], s->held, &s->failure);
    if (status == KN_OK) s->next++;
    return errno_of(status);
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    const batch_stream *s = stream->private_data;
    return s->failure.message[0] != '\0' ? s->failure.message : NULL;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    batch_stream *s = stream->private_data;
    kn_batches_drop(s->held);
    kn_free(s);
    stream->release = NULL;
}

kn_status kn_batches_export(struct ArrowArrayStream *out, kn_batches *batches, kn_error *err)
{
    kn_status status = KN_OK;
    batch_stream *s = NULL;
    *out = (struct ArrowArrayStream){.release = NULL};
    KN_NEW(s, 1);
    s->held = batches;
    atomic_fetch_add(&batches->n_holders, 1);
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, release_stream, s};
done:
    return status;
}

/* --- By name ----------------------------------------------------------------------------------------------------- */

bool kn_is_table_name(const char *path) { return strncmp(path, KN_TABLE_PREFIX, strlen(KN_TABLE_PREFIX)) == 0; }

kn_status kn_tables_put(kn_tables *tables, kn_batches *batches, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < tables->items.n; i++)
        if (strcmp(tables->items.items[i]->name, batches->name) == 0) {
            kn_batches_drop(tables->items.items[i]);
            tables->items.items[i] = batches;
            return KN_OK;
        }
    KN_PUSH(&tables->items, batches);
done:
    if (status != KN_OK) kn_batches_drop(batches);
    return status;
}

kn_status kn_tables_find(const kn_batches **out, const kn_tables *tables, const char *path, kn_error *err)
{
    *out = NULL;
    if (!kn_is_table_name(path)) return KN_OK;
    for (size_t i = 0; tables != NULL && i < tables->items.n; i++)
        if (strcmp(tables->items.items[i]->name, path) == 0) *out = tables->items.items[i];
    if (*out != NULL) return KN_OK;
    return kn_error_set(err, KN_USAGE, "there is no table %.80s in memory; a file of that name is ./%.80s", path, path);
}

void kn_tables_free(kn_tables *tables)
{
    for (size_t i = 0; i < tables->items.n; i++) kn_batches_drop(tables->items.items[i]);
    kn_free(tables->items.items);
    *tables = (kn_tables){0};
}
