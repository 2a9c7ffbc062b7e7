/* A database in memory for one task.
 *
 * What is set before anything runs, and locked then: no extension is downloaded or loaded, no secret read, nothing
 * spilled to the disk; memory and threads are the run's; the time zone is UTC, so that a query means the same on every
 * machine; and without a query of the user's all files but the task's own are out of reach. */
#include "duckdb/duckdb_api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_NS = 1000000, MESSAGE_BYTES = 600, PIECE_ROWS = 122880 /* a row group of DuckDB's */ };

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static bool is_about_memory(const char *message)
{
    return strncmp(message, "Out of Memory", strlen("Out of Memory")) == 0;
}

/* The message without the excerpt of the statement, or what to set where memory is short, on one line, with the file's
 * own name for the path that we gave. */
static void plain_message(char out[MESSAGE_BYTES], const kn_duckdb *duckdb, const char *message)
{
    const char *end = strstr(message, "\n\nLINE "), *path = duckdb->path, *name = duckdb->options.name;
    size_t n = 0, n_path = path != NULL ? strlen(path) : 0;
    if (is_about_memory(message)) end = strchr(message, '\n');
    if (end == NULL) end = message + strlen(message);
    if (duckdb->options.redact && memchr(message, ':', (size_t)(end - message)) != NULL)
        end = memchr(message, ':', (size_t)(end - message));
    while (message < end && n + 1 < MESSAGE_BYTES) {
        if (n_path > 0 && strncmp(message, path, n_path) == 0) {
            n += (size_t)snprintf(out + n, MESSAGE_BYTES - n, "%.200s", name);
            if (n >= MESSAGE_BYTES) n = MESSAGE_BYTES - 1;
            message += n_path;
        } else {
            out[n++] = *message == '\n' ? ' ' : *message;
            message++;
        }
    }
    while (n > 0 && out[n - 1] == ' ') n--;
    out[n] = '\0';
}

/* Of the statement, not of what it read. */
static bool is_about_words(const char *message)
{
    static const char *const kinds[] = {"Parser", "Binder", "Catalog", "Syntax"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(message, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

kn_status kn_duckdb_refuse(const kn_duckdb *duckdb, const char *message, kn_error *err)
{
    char plain[MESSAGE_BYTES];
    const char *name = duckdb->options.name;
    if (message == NULL) message = "it failed without a word";
    plain_message(plain, duckdb, message);
    if (is_about_memory(message))
        return kn_error_set_at(err, KN_RESOURCES, KN_PLACE(.file = name), "%.200s: DuckDB: %s; raise --memory", name,
                               plain);
    if (duckdb->path == NULL)
        return kn_error_set_at(err, is_about_words(message) ? KN_USAGE : KN_INPUT, KN_PLACE(.option = "sql"),
                               "--sql: DuckDB says: %s", plain);
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = name), "%.200s: DuckDB says: %s", name, plain);
}

/* --- Opening ------------------------------------------------------------------------------------------------------ */

static kn_status set(kn_duckdb *duckdb, void *config, const char *name, const char *value, kn_error *err)
{
    if (duckdb->api.set_config(config, name, value) == 0) return KN_OK;
    return kn_error_set(err, KN_USAGE, "DuckDB %.40s does not know the setting %s; install another version",
                        duckdb->api.library_version(), name);
}

static kn_status configure(kn_duckdb *duckdb, void *config, kn_error *err)
{
    static const char *const fixed[][2] = {
        {"temp_directory", ""},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"allow_community_extensions", "false"},
        {"allow_persistent_secrets", "false"},
        {"preserve_insertion_order", "true"},
    };
    kn_status status = KN_OK;
    char number[40];
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        KN_TRY(set(duckdb, config, fixed[i][0], fixed[i][1], err));
    if (duckdb->options.n_threads > 0) {
        snprintf(number, sizeof number, "%u", duckdb->options.n_threads);
        KN_TRY(set(duckdb, config, "threads", number, err));
    }
    const size_t limit = kn_memory_limit(), used = kn_memory_used();
    if (limit > 0) {
        snprintf(number, sizeof number, "%zuB", limit > used ? limit - used : 1);
        KN_TRY(set(duckdb, config, "memory_limit", number, err));
    }
done:
    return status;
}

static kn_status lock(kn_duckdb *duckdb, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer sql = {0};
    KN_TRY(kn_duckdb_do(duckdb, "SET TimeZone = 'UTC'", err));
    if (duckdb->path != NULL) {
        kn_buffer_text(&sql, "SET allowed_paths = [");
        kn_duckdb_quote(&sql, '\'', duckdb->path, strlen(duckdb->path));
        kn_buffer_char(&sql, ']');
        if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        KN_TRY(kn_duckdb_do(duckdb, sql.bytes, err));
        KN_TRY(kn_duckdb_do(duckdb, "SET enable_external_access = false", err));
    } else {
        KN_TRY(kn_duckdb_do(duckdb, "CALL enable_logging('FileSystem', storage = 'memory')", err));
    }
    KN_TRY(kn_duckdb_do(duckdb, "SET lock_configuration = true", err));
done:
    kn_buffer_free(&sql);
    return status;
}

kn_status kn_duckdb_connect(void **connection, kn_duckdb *duckdb, kn_error *err)
{
    *connection = NULL;
    if (duckdb->api.connect(duckdb->database, connection) == 0) return KN_OK;
    return kn_error_set(err, KN_RESOURCES, "DuckDB gives no connection");
}

kn_status kn_duckdb_begin(kn_duckdb *out, const char *path, const kn_duckdb_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    void *config = NULL;
    char *message = NULL;
    *out = (kn_duckdb){.options = *options, .path = path};
    KN_TRY(kn_duckdb_load(&out->api, err));
    if (out->api.create_config(&config) != 0) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(configure(out, config, err));
    if (out->api.open_ext(NULL, &out->database, config, &message) != 0) KN_TRY(kn_duckdb_refuse(out, message, err));
    KN_TRY(kn_duckdb_connect(&out->connection, out, err));
    KN_TRY(lock(out, err));
done:
    if (message != NULL) out->api.free(message);
    if (config != NULL) out->api.destroy_config(&config);
    if (status != KN_OK) kn_duckdb_end(out);
    return status;
}

void kn_duckdb_end(kn_duckdb *duckdb)
{
    if (duckdb->connection != NULL) duckdb->api.disconnect(&duckdb->connection);
    if (duckdb->database != NULL) duckdb->api.close(&duckdb->database);
}

/* --- Statements --------------------------------------------------------------------------------------------------- */

/* Task by task, so that somebody can stop it. What is stopped comes to its end all the same: a statement that is ready
 * and not executed is never freed. */
static kn_status execute(kn_duckdb_result *result, kn_duckdb *duckdb, void *connection, void *prepared, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_duckdb_api *api = &duckdb->api;
    void *pending = NULL;
    int state = -1;
    if (api->pending_prepared(prepared, &pending) != 0)
        KN_TRY(kn_duckdb_refuse(duckdb, pending != NULL ? api->pending_error(pending) : NULL, err));
    while (state != DUCKDB_READY && state != DUCKDB_FAILED) {
        state = api->pending_execute_task(pending);
        if (state == DUCKDB_IDLE) nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
        if (status != KN_OK) continue;
        status = kn_tick(duckdb->options.ticker, "reading", -1, err);
        if (status != KN_OK) api->interrupt(connection);
    }
    const bool failed = state == DUCKDB_FAILED || api->execute_pending(pending, result) != 0;
    if (failed && status == KN_OK)
        status = kn_duckdb_refuse(
            duckdb, state == DUCKDB_FAILED ? api->pending_error(pending) : api->result_error(result), err);
done:
    if (pending != NULL) api->destroy_pending(&pending);
    return status;
}

/* One statement; to be destroyed. `only_select`: the user's own. */
static kn_status prepare(void **prepared, kn_duckdb *duckdb, void *connection, const char *sql, bool only_select,
                         kn_error *err)
{
    kn_status status = KN_OK;
    const kn_duckdb_api *api = &duckdb->api;
    void *statements = NULL;
    *prepared = NULL;
    const uint64_t n = api->extract_statements(connection, sql, &statements);
    if (n == 0 && api->extract_statements_error(statements) != NULL)
        KN_TRY(kn_duckdb_refuse(duckdb, api->extract_statements_error(statements), err));
    if (n != 1)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "sql"), "--sql: give one SELECT; these are %llu statements",
                   (unsigned long long)n);
    if (api->prepare_extracted_statement(connection, statements, 0, prepared) != 0)
        KN_TRY(kn_duckdb_refuse(duckdb, api->prepare_error(*prepared), err));
    if (only_select && api->prepared_statement_type(*prepared) != DUCKDB_SELECT)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "sql"), "--sql: give a SELECT; no other statement is run");
    if (only_select && api->nparams(*prepared) != 0)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "sql"), "--sql: the statement has a parameter that nobody fills");
done:
    if (statements != NULL) api->destroy_extracted(&statements);
    return status;
}

kn_status kn_duckdb_run(kn_duckdb_result *result, kn_duckdb *duckdb, void *connection, const char *sql, kn_error *err)
{
    kn_status status = KN_OK;
    void *prepared = NULL;
    *result = (kn_duckdb_result){{0}, {NULL, NULL}, NULL};
    KN_TRY(prepare(&prepared, duckdb, connection, sql, false, err));
    KN_TRY(execute(result, duckdb, connection, prepared, err));
done:
    if (prepared != NULL) duckdb->api.destroy_prepare(&prepared);
    return status;
}

void kn_duckdb_quote(kn_buffer *sql, char quote, const char *text, size_t n_bytes)
{
    kn_buffer_char(sql, quote);
    for (size_t i = 0; i < n_bytes; i++) {
        if (text[i] == quote) kn_buffer_char(sql, quote);
        kn_buffer_char(sql, text[i]);
    }
    kn_buffer_char(sql, quote);
}

kn_status kn_duckdb_do(kn_duckdb *duckdb, const char *sql, kn_error *err)
{
    kn_duckdb_result result;
    kn_status status = kn_duckdb_run(&result, duckdb, duckdb->connection, sql, err);
    duckdb->api.destroy_result(&result);
    return status;
}

/* --- Results as a stream ------------------------------------------------------------------------------------------ */

typedef struct result_stream {
    kn_duckdb *duckdb;
    kn_duckdb_result *result;
    const char **names; /* of the columns; NULL: those of the result */
    uint64_t next, end; /* rows of the answer that come in results of their own after this one */
    kn_status status;   /* of a statement that failed on the way, and what it said */
    kn_error said;
    void *arrow;                      /* DuckDB's options of the conversion */
    const struct ArrowSchema *schema; /* that the stream gave out */
    bool is_text;                     /* one column of strings */
    kn_charge held;                   /* what the result itself takes, as far as it was looked at */
    char message[MESSAGE_BYTES];
} result_stream;

/* Frees the error. */
static int errno_of(result_stream *s, void *error)
{
    const kn_duckdb_api *api = &s->duckdb->api;
    int code = 0;
    if (error != NULL && api->error_data_has_error(error)) {
        plain_message(s->message, s->duckdb, api->error_data_message(error));
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

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    result_stream *s = stream->private_data;
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

static int charge_array(struct ArrowArray *array, result_stream *s)
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

static int text_chunk(struct ArrowArray *out, result_stream *s, void *chunk)
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

static int array_of_chunk(struct ArrowArray *out, result_stream *s, void *chunk)
{
    const kn_duckdb_api *api = &s->duckdb->api;
    out->release = NULL;
    if (s->is_text) return text_chunk(out, s, chunk);
    const int code = errno_of(s, api->data_chunk_to_arrow(s->arrow, chunk, out));
    return code == 0 ? charge_array(out, s) : code;
}

/* A result keeps its chunks until it is destroyed, outside of what DuckDB limits: about as much again as their arrays.
 */
static int charge_result(result_stream *s, struct ArrowArray *array)
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

/* The next rows of the answer in place of the result. */
static kn_status run_piece(result_stream *s)
{
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT * FROM kanon_answer WHERE rowid >= %llu AND rowid < %llu",
             (unsigned long long)s->next, (unsigned long long)(s->next + PIECE_ROWS));
    s->duckdb->api.destroy_result(s->result);
    kn_memory_discharge(&s->held);
    s->next += PIECE_ROWS;
    return s->status = kn_duckdb_run(s->result, s->duckdb, s->duckdb->connection, sql, &s->said);
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    result_stream *s = stream->private_data;
    out->release = NULL;
    void *chunk = s->duckdb->api.fetch_chunk(*s->result);
    while (chunk == NULL && s->next < s->end) {
        if (run_piece(s) != KN_OK) return EIO;
        chunk = s->duckdb->api.fetch_chunk(*s->result);
    }
    if (chunk == NULL) return 0;
    int code = array_of_chunk(out, s, chunk);
    if (code == 0) code = charge_result(s, out);
    s->duckdb->api.destroy_data_chunk(&chunk);
    return code;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    const result_stream *s = stream->private_data;
    return s->message[0] != '\0' ? s->message : NULL;
}

static void stream_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

static void begin_stream(result_stream *s, kn_duckdb *duckdb, kn_duckdb_result *result)
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

kn_status kn_duckdb_pull(kn_batches **out, kn_duckdb *duckdb, kn_duckdb_result *result, const char *name, kn_error *err)
{
    result_stream s = {.status = KN_OK};
    begin_stream(&s, duckdb, result);
    struct ArrowArrayStream stream = {stream_schema, stream_next, stream_error, stream_release, &s};
    kn_status status = kn_batches_pull(out, &stream, name, err);
    duckdb->api.destroy_arrow_options(&s.arrow);
    duckdb->api.destroy_result(result);
    kn_memory_discharge(&s.held);
    return status;
}

/* --- What a query answers ----------------------------------------------------------------------------------------- */

/* A result stands outside of what DuckDB limits, however large it is. So an answer becomes a table of DuckDB's, which
 * is within the limit, and is read from there piece by piece in the order of its rows. Columns are called c0, c1, ...
 * there, because a query may call two of them alike, or one of them rowid. */
static kn_status keep_answer(kn_duckdb *duckdb, const char *sql, uint64_t n_columns, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer keep = {0};
    kn_buffer_text(&keep, "CREATE TABLE kanon_answer AS FROM query(");
    kn_duckdb_quote(&keep, '\'', sql, strlen(sql));
    kn_buffer_text(&keep, ") AS answer(");
    for (uint64_t c = 0; c < n_columns; c++)
        kn_buffer_printf(&keep, "%sc%llu", c > 0 ? ", " : "", (unsigned long long)c);
    kn_buffer_char(&keep, ')');
    if (keep.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_do(duckdb, keep.bytes, err));
done:
    kn_buffer_free(&keep);
    return status;
}

/* Its rows, and what DuckDB holds for it. */
static kn_status weigh_answer(uint64_t *n_rows, uint64_t *n_bytes, kn_duckdb *duckdb, kn_error *err)
{
    static const char SQL[] =
        "SELECT count(*)::UBIGINT, (SELECT sum(memory_usage_bytes)::UBIGINT FROM duckdb_memory()) "
        "FROM kanon_answer";
    kn_duckdb_result result;
    const kn_duckdb_api *api = &duckdb->api;
    kn_status status = kn_duckdb_run(&result, duckdb, duckdb->connection, SQL, err);
    void *chunk = status == KN_OK ? api->fetch_chunk(result) : NULL;
    if (chunk != NULL) {
        *n_rows = *(const uint64_t *)api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
        *n_bytes = *(const uint64_t *)api->vector_get_data(api->data_chunk_get_vector(chunk, 1));
        api->destroy_data_chunk(&chunk);
    } else if (status == KN_OK) {
        status = kn_error_set(err, KN_INPUT, "DuckDB counts no rows");
    }
    api->destroy_result(&result);
    return status;
}

/* As batches, from its table. */
static kn_status pull_answer(kn_batches **out, kn_duckdb *duckdb, const char **names, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error said = {0};
    kn_charge table = {NULL, 0};
    kn_duckdb_result result = {{0}, {NULL, NULL}, NULL};
    result_stream s = {.duckdb = duckdb, .result = &result, .names = names};
    struct ArrowArrayStream stream = {stream_schema, stream_next, stream_error, stream_release, &s};
    uint64_t n_bytes = 0;
    KN_TRY(weigh_answer(&s.end, &n_bytes, duckdb, err));
    KN_TRY(kn_memory_charge(&table, n_bytes, err));
    if (run_piece(&s) != KN_OK) {
        status = kn_error_pass(err, s.status, &s.said);
        goto done;
    }
    begin_stream(&s, duckdb, &result);
    status = kn_batches_pull(out, &stream, name, &said);
    if (status != KN_OK)
        status = s.status != KN_OK ? kn_error_pass(err, s.status, &s.said) : kn_error_pass(err, status, &said);
done:
    if (s.arrow != NULL) duckdb->api.destroy_arrow_options(&s.arrow);
    duckdb->api.destroy_result(&result);
    kn_memory_discharge(&s.held);
    kn_memory_discharge(&table);
    return status;
}

kn_status kn_duckdb_answer(kn_batches **out, kn_duckdb *duckdb, const char *sql, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_duckdb_api *api = &duckdb->api;
    void *prepared = NULL;
    const char **names = NULL;
    uint64_t n_columns = 0;
    *out = NULL;
    KN_TRY(prepare(&prepared, duckdb, duckdb->connection, sql, true, err));
    n_columns = api->prepared_statement_column_count(prepared);
    KN_NEW(names, n_columns);
    for (uint64_t c = 0; c < n_columns; c++) {
        names[c] = api->prepared_statement_column_name(prepared, c);
        if (names[c] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    }
    KN_TRY(keep_answer(duckdb, sql, n_columns, err));
    KN_TRY(pull_answer(out, duckdb, names, name, err));
done:
    for (uint64_t c = 0; names != NULL && c < n_columns; c++)
        if (names[c] != NULL) api->free((void *)names[c]);
    kn_free(names);
    if (prepared != NULL) api->destroy_prepare(&prepared);
    return status;
}

/* --- A column without a result ------------------------------------------------------------------------------------ */

/* A result is a copy of all that was read. So a function of ours is called for every chunk, which looks like any other
 * function of SQL and keeps what it is given. Whoever asks is told by his thread: the database has one, his own, which
 * is also why the chunks come in their order. */
typedef struct taking {
    result_stream stream; /* of an empty answer, which has the type */
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
    t->code = array_of_chunk(&t->arrays.items[t->arrays.n], &t->stream, chunk);
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

static void end_taking(taking *t, kn_duckdb *duckdb)
{
    for (; t->next < t->arrays.n; t->next++) t->arrays.items[t->next].release(&t->arrays.items[t->next]);
    if (t->schema.release != NULL) t->schema.release(&t->schema);
    if (t->stream.arrow != NULL) duckdb->api.destroy_arrow_options(&t->stream.arrow);
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
    struct ArrowArrayStream stream = {taken_schema, taken_next, taken_error, stream_release, &t};
    *out = NULL;
    kn_buffer_printf(&sql, "SELECT %s FROM %s LIMIT 0", column, table);
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_run(&empty, duckdb, connection, sql.bytes, err));
    begin_stream(&t.stream, duckdb, &empty);
    t.code = stream_schema(&(struct ArrowArrayStream){.private_data = &t.stream}, &t.schema);
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
    end_taking(&t, duckdb);
    duckdb->api.destroy_result(&empty);
    duckdb->api.destroy_result(&count);
    kn_buffer_free(&sql);
    return status;
}
