/* A database in memory for one task.
 *
 * What is set before anything runs, and locked then: no extension is downloaded or loaded, no secret read, nothing
 * spilled to the disk; memory and threads are the run's; the time zone is UTC, so that a query means the same on every
 * machine; and without a query of the user's all files but the task's own are out of reach. */
#include "duckdb/duckdb_session.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WAIT_NS = 1000000 };

/* --- Errors ------------------------------------------------------------------------------------------------------- */

static bool is_about_memory(const char *message)
{
    return strncmp(message, "Out of Memory", strlen("Out of Memory")) == 0;
}

/* The message without the excerpt of the statement, or what to set where memory is short, on one line, with the file's
 * own name for the path that we gave. */
void kn_duckdb_plain_message(char out[KN_DUCKDB_MESSAGE], const kn_duckdb *duckdb, const char *message)
{
    const char *end = strstr(message, "\n\nLINE "), *path = duckdb->path, *name = duckdb->options.name;
    size_t n = 0, n_path = path != NULL ? strlen(path) : 0;
    if (is_about_memory(message)) end = strchr(message, '\n');
    if (end == NULL) end = message + strlen(message);
    if (duckdb->options.redact && memchr(message, ':', (size_t)(end - message)) != NULL)
        end = memchr(message, ':', (size_t)(end - message));
    while (message < end && n + 1 < KN_DUCKDB_MESSAGE) {
        if (n_path > 0 && strncmp(message, path, n_path) == 0) {
            n += (size_t)snprintf(out + n, KN_DUCKDB_MESSAGE - n, "%.200s", name);
            if (n >= KN_DUCKDB_MESSAGE) n = KN_DUCKDB_MESSAGE - 1;
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
    char plain[KN_DUCKDB_MESSAGE];
    const char *name = duckdb->options.name;
    if (message == NULL) message = "it failed without a word";
    kn_duckdb_plain_message(plain, duckdb, message);
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

kn_status kn_duckdb_prepare(void **prepared, kn_duckdb *duckdb, void *connection, const char *sql, bool only_select,
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
    KN_TRY(kn_duckdb_prepare(&prepared, duckdb, connection, sql, false, err));
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
