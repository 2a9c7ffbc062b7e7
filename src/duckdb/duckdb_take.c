/* A column without a result.
 *
 * A result is a copy of all that was read. So a function of ours is called for every chunk, which looks like any other
 * function of SQL and keeps what it is given. Whoever asks is told by his thread: the database has one, his own, which
 * is also why the chunks come in their order. */
#include "duckdb/duckdb_batches.h"
#include "duckdb/duckdb_stream.h"

#include <errno.h>
#include <string.h>

typedef struct taking {
    kn_result_stream stream; /* of an empty answer, which has the type */
    struct ArrowSchema schema;
    KN_VECTOR(struct ArrowArray) arrays;
    size_t next; /* to be given out */
    int code;    /* what went wrong, an errno; 0: nothing */
} taking;

static _Thread_local taking *taking_now;

static int keep_chunk(taking *t, void *chunk)
{
    kn_status status = KN_OK;
    kn_error *err = NULL;
    KN_RESERVE(&t->arrays, 1);
    t->code = kn_result_chunk(&t->stream, &t->arrays.items[t->arrays.n], chunk);
    if (t->code == 0) t->arrays.n++;
done:
    if (status != KN_OK) t->code = ENOMEM;
    return t->code;
}

static void take_chunk(void *info, void *chunk, void *vector)
{
    taking *t = taking_now;
    (void)vector;
    if (t == NULL) return; /* another thread: rows will be missing, and whoever counts them refuses */
    if (t->code != 0 || keep_chunk(t, chunk) != 0) t->stream.duckdb->api.scalar_function_set_error(info, "stopped");
}

kn_status kn_duckdb_allow_take(kn_duckdb *duckdb, kn_error *err)
{
    const kn_duckdb_api *api = &duckdb->api;
    void *any = api->create_logical_type(DUCKDB_ANY), *truth = api->create_logical_type(DUCKDB_BOOLEAN);
    void *function = api->create_scalar_function();
    api->scalar_function_set_name(function, "kanon_take");
    api->scalar_function_add_parameter(function, any);
    api->scalar_function_set_return_type(function, truth);
    api->scalar_function_set_volatile(function);         /* called for every row, never for distinct values only */
    api->scalar_function_set_special_handling(function); /* and for nulls */
    api->scalar_function_set_function(function, take_chunk);
    const int code = api->register_scalar_function(duckdb->connection, function);
    api->destroy_scalar_function(&function);
    api->destroy_logical_type(&any);
    api->destroy_logical_type(&truth);
    return code == 0 ? KN_OK : kn_error_set(err, KN_RESOURCES, "DuckDB takes no function");
}

static int taken_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    taking *t = stream->private_data;
    *out = t->schema;
    t->schema.release = NULL;
    return 0;
}

static int taken_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    taking *t = stream->private_data;
    *out = (struct ArrowArray){.release = NULL};
    if (t->next < t->arrays.n) *out = t->arrays.items[t->next++];
    return 0;
}

static const char *taken_error(struct ArrowArrayStream *stream) { return NULL; }
static void taken_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

static void end_taking(taking *t)
{
    for (; t->next < t->arrays.n; t->next++) t->arrays.items[t->next].release(&t->arrays.items[t->next]);
    if (t->schema.release != NULL) t->schema.release(&t->schema);
    kn_result_end(&t->stream);
    kn_free(t->arrays.items);
}

kn_status kn_duckdb_take(kn_batches **out, kn_duckdb *duckdb, void *connection, const char *column, const char *table,
                         const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    kn_duckdb_result empty = {{0}, {NULL, NULL}, NULL}, count = {{0}, {NULL, NULL}, NULL};
    kn_buffer sql = {0};
    kn_error said = {0};
    taking t = {.code = 0};
    struct ArrowArrayStream stream = {taken_schema, taken_next, taken_error, taken_release, &t};
    *out = NULL;
    kn_buffer_printf(&sql, "SELECT %s FROM %s LIMIT 0", column, table);
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_run(&empty, duckdb, connection, sql.bytes, err));
    kn_result_begin(&t.stream, duckdb, &empty);
    t.code = kn_result_schema(&t.stream, &t.schema);
    kn_buffer_clear(&sql);
    kn_buffer_printf(&sql, "SELECT count(kanon_take(%s)) FROM %s", column, table);
    if (sql.failed || t.code == ENOMEM) KN_FAIL(KN_RESOURCES, "out of memory");
    if (t.code != 0) KN_TRY(kn_duckdb_refuse(duckdb, t.stream.message, err));
    taking_now = &t;
    status = kn_duckdb_run(&count, duckdb, connection, sql.bytes, &said);
    taking_now = NULL;
    if (t.code != 0) /* which DuckDB tells in its own words */
        status = kn_error_set(err, t.code == ENOMEM ? KN_RESOURCES : KN_INPUT, "%s: %.500s", name,
                              t.stream.message[0] != '\0' ? t.stream.message : strerror(t.code));
    else if (status != KN_OK) status = kn_error_pass(err, status, &said);
    if (status == KN_OK) status = kn_batches_pull(out, &stream, name, err);
done:
    end_taking(&t);
    duckdb->api.destroy_result(&empty);
    duckdb->api.destroy_result(&count);
    kn_buffer_free(&sql);
    return status;
}
