/* Parquet, JSON and queries as batches.
 *
 * A file is opened by kn_files_open and handed on by the number of its descriptor: so it is known as an input, a pipe
 * or a packed file is kept, no name is taken for a pattern, and whoever replaces the file meanwhile replaces another
 * one.
 *
 * Parquet keeps columns apart, so that each is a query of its own, made when somebody asks for the column: the table
 * never stands in memory as a whole. JSON keeps records together and is read at once. Its values are texts, as in CSV:
 * DuckDB would guess dates and make doubles of long numbers. Names are those of the file, not what DuckDB calls a
 * second column that differs from another by case. */
#include "duckdb/duckdb_batches.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct opened_file {
    kn_duckdb duckdb;
    int file;
    char path[KN_FILE_PATH_BYTES];
    char *name;
    kn_buffer names; /* of Parquet columns, each behind the last one's NUL */
} opened_file;

static void close_file(void *puller)
{
    opened_file *opened = puller;
    if (opened == NULL) return;
    kn_duckdb_end(&opened->duckdb);
    if (opened->file >= 0) close(opened->file);
    kn_buffer_free(&opened->names);
    kn_free(opened->name);
    kn_free(opened);
}

static kn_status open_file(opened_file **out, const char *path, const kn_duckdb_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    opened_file *opened = NULL;
    kn_duckdb_options own = *options;
    const char *name = options->name != NULL ? options->name : path;
    *out = NULL;
    KN_NEW(opened, 1);
    opened->file = -1;
    opened->name = kn_string_copy(name, strlen(name), err);
    if (opened->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    own.name = opened->name;
    KN_TRY(kn_files_open(&opened->file, options->files, path, err));
    if (opened->file < 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name), "cannot open %.1000s: %s", name, strerror(errno));
    kn_file_path(opened->path, opened->file);
    KN_TRY(kn_duckdb_begin(&opened->duckdb, opened->path, &own, err));
    *out = opened;
    opened = NULL;
done:
    close_file(opened);
    return status;
}

/* --- Small answers ------------------------------------------------------------------------------------------------ */

static kn_status ask(kn_batches **out, kn_duckdb *duckdb, const char *sql, kn_error *err)
{
    kn_duckdb_result result;
    *out = NULL;
    kn_status status = kn_duckdb_run(&result, duckdb, duckdb->connection, sql, err);
    if (status == KN_OK) status = kn_duckdb_pull(out, duckdb, &result, duckdb->options.name, err);
    duckdb->api.destroy_result(&result);
    return status;
}

/* In a batch of a small answer; columns are texts, truths or whole numbers as DuckDB makes them, none of them null. */
static const char *text_in(const struct ArrowArray *batch, int64_t column, int64_t row, size_t *n_bytes)
{
    const struct ArrowArray *texts = batch->children[column];
    const int32_t *offsets = texts->buffers[1];
    *n_bytes = (size_t)(offsets[row + 1] - offsets[row]);
    return (const char *)texts->buffers[2] + offsets[row];
}

static bool truth_in(const struct ArrowArray *batch, int64_t column, int64_t row)
{
    const uint8_t *bits = batch->children[column]->buffers[1];
    return (bits[row / 8] >> row % 8 & 1) != 0;
}

static bool has_text(const kn_batches *answer, const char *text)
{
    size_t n;
    for (size_t b = 0; b < answer->arrays.n; b++)
        for (int64_t row = 0; row < answer->arrays.items[b].length; row++) {
            const char *found = text_in(&answer->arrays.items[b], 0, row, &n);
            if (n == strlen(text) && memcmp(found, text, n) == 0) return true;
        }
    return false;
}

/* --- Parquet ------------------------------------------------------------------------------------------------------ */

static kn_status pull_column(kn_batches **out, void *puller, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    opened_file *opened = puller;
    kn_duckdb *duckdb = &opened->duckdb;
    const char *name = opened->names.bytes;
    void *connection = NULL;
    char table[100];
    kn_buffer quoted = {0};
    *out = NULL;
    for (uint32_t c = 0; c < column; c++) name += strlen(name) + 1;
    kn_duckdb_quote(&quoted, '"', name, strlen(name));
    snprintf(table, sizeof table, "read_parquet('%s', hive_partitioning = false)", opened->path);
    if (quoted.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_connect(&connection, duckdb, err));
    KN_TRY(kn_duckdb_take(out, duckdb, connection, quoted.bytes, table, opened->name, err));
done:
    if (connection != NULL) duckdb->api.disconnect(&connection);
    kn_buffer_free(&quoted);
    return status;
}

/* The names of the file's columns. DuckDB tells names apart by their letters only, not by case, and calls the second
 * one otherwise. */
static kn_status check_names(const opened_file *opened, const kn_batches *table, const kn_batches *in_file,
                             kn_error *err)
{
    for (int64_t c = 0; c < table->schema.n_children; c++) {
        const char *name = table->schema.children[c]->name;
        if (has_text(in_file, name)) continue;
        return kn_error_set_at(
            err, KN_INPUT, KN_PLACE(.file = opened->name),
            "%.200s: the name of column %lld differs from that of another column at most by case, and "
            "DuckDB cannot tell them apart; rename one",
            opened->name, (long long)c + 1);
    }
    return KN_OK;
}

static kn_status open_parquet(kn_batches **out, const char *path, const kn_duckdb_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    opened_file *opened = NULL;
    kn_batches *table = NULL, *answer = NULL;
    kn_duckdb_options own = *options;
    char sql[200];
    own.n_threads = 1; /* columns are read side by side */
    KN_TRY(open_file(&opened, path, &own, err));
    KN_TRY(kn_duckdb_allow_take(&opened->duckdb, err));
    snprintf(sql, sizeof sql, "SELECT * FROM read_parquet('%s', hive_partitioning = false) LIMIT 0", opened->path);
    KN_TRY(ask(&table, &opened->duckdb, sql, err));
    snprintf(sql, sizeof sql, "SELECT name FROM parquet_schema('%s')", opened->path);
    KN_TRY(ask(&answer, &opened->duckdb, sql, err));
    KN_TRY(check_names(opened, table, answer, err));
    kn_batches_drop(answer);
    answer = NULL;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM read_parquet('%s', hive_partitioning = false)", opened->path);
    KN_TRY(ask(&answer, &opened->duckdb, sql, err));
    const int64_t n_rows = *(const int64_t *)answer->arrays.items[0].children[0]->buffers[1];
    if (n_rows >= UINT32_MAX) KN_FAIL(KN_INPUT, "%.200s: more than four billion rows", opened->name);
    for (int64_t c = 0; c < table->schema.n_children; c++) {
        const char *name = table->schema.children[c]->name;
        kn_buffer_append(&opened->names, name, strlen(name) + 1);
    }
    if (opened->names.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    table->n_rows = (uint32_t)n_rows;
    table->pull = pull_column;
    table->close = close_file;
    table->puller = opened;
    opened = NULL;
    *out = table;
    table = NULL;
done:
    kn_batches_drop(answer);
    kn_batches_drop(table);
    close_file(opened);
    return status;
}

kn_status kn_duckdb_schema(char **out, const char *path, const kn_duckdb_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    opened_file *opened = NULL;
    kn_batches *answer = NULL;
    char sql[200];
    size_t n_bytes;
    *out = NULL;
    KN_TRY(open_file(&opened, path, options, err));
    snprintf(sql, sizeof sql,
             "SELECT decode(value) FROM parquet_kv_metadata('%s') WHERE decode(key) = 'kanon_schema' LIMIT 1",
             opened->path);
    KN_TRY(ask(&answer, &opened->duckdb, sql, err));
    if (answer->n_rows == 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%.200s: the file holds no schema; kanon did not write it", path);
    const char *text = text_in(&answer->arrays.items[0], 0, 0, &n_bytes);
    *out = kn_string_copy(text, n_bytes, err);
    if (*out == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    kn_batches_drop(answer);
    close_file(opened);
    return status;
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

/* Keys in the order in which they come up; whether a record has one twice, whether some record is no object. */
static const char KEYS[] =
    "WITH kinds AS (SELECT keys, min(record) AS record, bool_or(kind <> 'OBJECT') AS odd FROM "
    "(SELECT row_number() OVER () AS record, json_keys(json) AS keys, json_type(json) AS kind "
    "FROM read_json_objects('%s')) GROUP BY keys) "
    "SELECT key, bool_or(twice), (SELECT bool_or(odd) FROM kinds) FROM "
    "(SELECT record, unnest(keys) AS key, generate_subscripts(keys, 1) AS place, "
    "len(list_distinct(keys)) < len(keys) AS twice FROM kinds) GROUP BY key ORDER BY min(record * 1000000 + place)";

/* A key as a JSON pointer, in a string of SQL. */
static void put_pointer(kn_buffer *sql, const char *key, size_t n)
{
    kn_buffer_text(sql, "'/");
    for (size_t i = 0; i < n; i++) {
        if (key[i] == '~') kn_buffer_text(sql, "~0");
        else if (key[i] == '/') kn_buffer_text(sql, "~1");
        else if (key[i] == '\'') kn_buffer_text(sql, "''");
        else kn_buffer_char(sql, key[i]);
    }
    kn_buffer_char(sql, '\'');
}

static kn_status check_keys(const kn_batches *keys, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    if (keys->n_rows == 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name),
                   "%.200s: no JSON object with a key; give an array of objects, or one object per line", name);
    for (size_t b = 0; b < keys->arrays.n; b++) {
        const struct ArrowArray *batch = &keys->arrays.items[b];
        for (int64_t row = 0; row < batch->length; row++) {
            size_t n;
            const char *key = text_in(batch, 0, row, &n);
            if (truth_in(batch, 1, row))
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name),
                           "%.200s: an object has the same key twice; DuckDB would take one of the values", name);
            if (truth_in(batch, 2, row))
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name),
                           "%.200s: a record is no JSON object; give an array of objects, or one object per line",
                           name);
            if (n == 0 || memchr(key, '\0', n) != NULL)
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = name), "%.200s: an object has a key without a name", name);
        }
    }
done:
    return status;
}

/* For every key `before`, its number, `after`: of what `what` tells about all of them. */
static void put_for_each(kn_buffer *sql, const kn_batches *keys, const char *what, const char *path,
                         void (*put)(kn_buffer *sql, const void *context, uint32_t number, const char *key, size_t n),
                         const void *context)
{
    uint32_t number = 0;
    size_t n;
    kn_buffer_text(sql, "SELECT ");
    for (size_t b = 0; b < keys->arrays.n; b++)
        for (int64_t row = 0; row < keys->arrays.items[b].length; row++) {
            const char *key = text_in(&keys->arrays.items[b], 0, row, &n);
            if (number > 0) kn_buffer_text(sql, ", ");
            put(sql, context, number++, key, n);
        }
    kn_buffer_printf(sql, " FROM (SELECT %s(json, [", what);
    number = 0;
    for (size_t b = 0; b < keys->arrays.n; b++)
        for (int64_t row = 0; row < keys->arrays.items[b].length; row++) {
            const char *key = text_in(&keys->arrays.items[b], 0, row, &n);
            if (number++ > 0) kn_buffer_text(sql, ", ");
            put_pointer(sql, key, n);
        }
    kn_buffer_printf(sql, "]) AS v FROM read_json_objects('%s'))", path);
}

static void put_is_nested(kn_buffer *sql, const void *context, uint32_t number, const char *key, size_t n)
{
    kn_buffer_printf(sql, "coalesce(bool_or(v[%u] IN ('OBJECT', 'ARRAY')), false)", number + 1);
}

/* Where a key has objects or arrays, its values are made a list: whoever wants the column is told that it is one. */
static void put_value(kn_buffer *sql, const void *context, uint32_t number, const char *key, size_t n)
{
    const kn_batches *nested = context;
    kn_buffer_printf(sql, truth_in(&nested->arrays.items[0], number, 0) ? "[v[%u]] AS " : "v[%u] AS ", number + 1);
    kn_duckdb_quote(sql, '"', key, n);
}

static kn_status read_json(kn_batches **out, const char *path, const kn_duckdb_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    opened_file *opened = NULL;
    kn_batches *keys = NULL, *nested = NULL;
    kn_buffer sql = {0};
    KN_TRY(open_file(&opened, path, options, err));
    kn_buffer_printf(&sql, KEYS, opened->path);
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(ask(&keys, &opened->duckdb, sql.bytes, err));
    KN_TRY(check_keys(keys, opened->name, err));
    kn_buffer_clear(&sql);
    put_for_each(&sql, keys, "json_type", opened->path, put_is_nested, NULL);
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(ask(&nested, &opened->duckdb, sql.bytes, err));
    kn_buffer_clear(&sql);
    put_for_each(&sql, keys, "json_extract_string", opened->path, put_value, nested);
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_answer(out, &opened->duckdb, sql.bytes, opened->name, err));
done:
    kn_batches_drop(keys);
    kn_batches_drop(nested);
    kn_buffer_free(&sql);
    close_file(opened);
    return status;
}

kn_status kn_duckdb_open(kn_batches **out, const char *path, kn_file_kind kind, const kn_duckdb_options *options,
                         kn_error *err)
{
    *out = NULL;
    return kind == KN_FILE_PARQUET ? open_parquet(out, path, options, err) : read_json(out, path, options, err);
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

/* What the query read must not be replaced by an output. */
static kn_status note_files(kn_duckdb *duckdb, kn_error *err)
{
    static const char READ[] = "SELECT DISTINCT path FROM duckdb_logs_parsed('FileSystem') WHERE op = 'OPEN'";
    kn_status status = KN_OK;
    kn_batches *paths = NULL;
    kn_buffer path = {0};
    if (duckdb->options.files == NULL) return KN_OK;
    KN_TRY(ask(&paths, duckdb, READ, err));
    for (size_t b = 0; b < paths->arrays.n; b++)
        for (int64_t row = 0; row < paths->arrays.items[b].length; row++) {
            size_t n;
            const char *text = text_in(&paths->arrays.items[b], 0, row, &n);
            kn_buffer_clear(&path);
            kn_buffer_append(&path, text, n);
            if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
            KN_TRY(kn_files_note(duckdb->options.files, path.bytes, err));
        }
done:
    kn_batches_drop(paths);
    kn_buffer_free(&path);
    return status;
}

kn_status kn_duckdb_query(kn_batches **out, const char *sql, const char *name, const kn_duckdb_options *options,
                          kn_error *err)
{
    kn_status status = KN_OK;
    kn_duckdb duckdb = {.options = *options};
    kn_duckdb_options own = *options;
    *out = NULL;
    if (own.name == NULL) own.name = name;
    KN_TRY(kn_duckdb_begin(&duckdb, NULL, &own, err));
    KN_TRY(kn_duckdb_answer(out, &duckdb, sql, name, err));
    KN_TRY(note_files(&duckdb, err));
done:
    kn_duckdb_end(&duckdb);
    if (status != KN_OK) {
        kn_batches_drop(*out);
        *out = NULL;
    }
    return status;
}
