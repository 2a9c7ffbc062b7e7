/* duckdb/: Parquet files with types, spoiled and interrupted releases. What a table means in every form is in
 * tests/cli/parquet.md; here are the files that only DuckDB itself can write, and failures at every step. */
#include "file_support.h"
#include "run_support.h"
#include "support.h"

#include "duckdb/duckdb_batches.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the library is, it must work; only where there is none the tests are skipped. */
static bool has_library(void)
{
    char path[500];
    const char *asked = getenv("KANON_DUCKDB"), *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (asked != NULL) return access(asked, R_OK) == 0;
    if (data != NULL) snprintf(path, sizeof path, "%s/kanon/libduckdb.so", data);
    else snprintf(path, sizeof path, "%s/.local/share/kanon/libduckdb.so", home != NULL ? home : "");
    return access(path, R_OK) == 0;
}
#define NEEDS_LIBRARY                                                                                                  \
    if (!has_library()) skip()

/* Statements in one database that may use `path`, which stands for $ in them; NULL ends the list. */
static void do_all(const char *path, const char *const *statements)
{
    kn_duckdb duckdb;
    const kn_duckdb_options options = {.name = path};
    assert_ok(kn_duckdb_begin(&duckdb, path, &options, err));
    for (; *statements != NULL; statements++) {
        kn_buffer sql = {0};
        for (const char *at = *statements; *at != '\0'; at++) {
            if (*at == '$') kn_buffer_text(&sql, path);
            else kn_buffer_char(&sql, *at);
        }
        assert_ok(kn_duckdb_do(&duckdb, sql.bytes, err));
        kn_buffer_free(&sql);
    }
    kn_duckdb_end(&duckdb);
}

static void write_parquet(const char *path, const char *query)
{
    kn_buffer sql = {0};
    kn_buffer_printf(&sql, "COPY (%s) TO '$' (FORMAT parquet, USE_TMP_FILE false)", query);
    do_all(path, (const char *const[]){sql.bytes, NULL});
    kn_buffer_free(&sql);
}

static kn_status anonymize(const char *const *options, spoil_fn spoil, void *user, kn_error *message)
{
    return run_anonymize(NULL, NULL, options, spoil, user, message);
}

static char data[300], release[300];

static const char *set(char text[400], const char *name, const char *value)
{
    snprintf(text, 400, "%s=%s", name, value);
    return text;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

static void names_say_what_a_file_is(void **state)
{
    assert_int_equal(kn_file_kind_of("people.parquet"), KN_FILE_PARQUET);
    assert_int_equal(kn_file_kind_of("./a.b/PEOPLE.Parquet"), KN_FILE_PARQUET);
    assert_int_equal(kn_file_kind_of("people.json"), KN_FILE_JSON);
    assert_int_equal(kn_file_kind_of("people.jsonl.zst"), KN_FILE_JSON);
    assert_int_equal(kn_file_kind_of("people.ndjson.gz"), KN_FILE_JSON);
    static const char *const csv[] = {
        "people.csv",    "-",          "parquet", ".parquet", "people.parquet.gz", "x.parquet/y", "table:x.parquet",
        "people.csv.gz", "/dev/fd/63", "json.gz", ""};
    for (size_t i = 0; i < sizeof csv / sizeof *csv; i++) assert_int_equal(kn_file_kind_of(csv[i]), KN_FILE_CSV);
}

static void a_parquet_file_is_read_as_its_values_are_spelled(void **state)
{
    NEEDS_LIBRARY;
    char from[400], to[400];
    write_parquet(data, "SELECT * FROM (VALUES "
                        "(9007199254740993, 12.50::DECIMAL(38,2), DATE '2024-01-31', TIMESTAMP_NS '2024-01-31 "
                        "10:30:05.000000001', 'a', TIMESTAMPTZ '2024-01-31 10:00:00+02', 0.1::FLOAT, true, [1]),"
                        "(9007199254740992, 0.00, NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
                        "(-1, -99999999999999999999999999999999.99, DATE '0001-01-01', TIMESTAMP_NS '1969-12-31 "
                        "23:59:59.999999999', 'é, \"', TIMESTAMPTZ '1969-12-31 23:59:59.5Z', 1e30::FLOAT, false, [])"
                        ") t(i, d, day, ns, text, zone, f, b, list)");
    const char *options[] = {set(from, "data", data),
                             set(to, "output", release),
                             "insensitive=i,d,day,ns,text,zone,f,b",
                             "identifier=list",
                             "order=input",
                             "k=1",
                             NULL};
    strcpy(strrchr(to, '.'), ".csv");
    assert_ok(anonymize(options, NULL, NULL, err));
    char *made = read_file(path_of("release.csv"), NULL);
    assert_string_equal(made,
                        "i,d,day,ns,text,zone,f,b\n"
                        "9007199254740993,12.50,2024-01-31,2024-01-31T10:30:05.000000001,a,2024-01-31T08:00:00Z,0.1,"
                        "true\n"
                        "9007199254740992,0.00,,,,,,\n"
                        "-1,-99999999999999999999999999999999.99,0001-01-01,1969-12-31T23:59:59.999999999,\"é, "
                        "\"\"\",1969-12-31T23:59:59.5Z,1e+30,false\n");
    free(made);
    unlink(path_of("release.csv"));
    options[2] = "insensitive=i,list";
    options[3] = "identifier=d,day,ns,text,zone,f,b";
    kn_error message = {0};
    assert_int_equal(anonymize(options, NULL, NULL, &message), KN_INPUT);
    assert_non_null(strstr(message.message, "'list' is a list"));
    const kn_duckdb_options how = {0};
    kn_error other = {0};
    char *schema;
    assert_int_equal(kn_duckdb_schema(&schema, data, &how, &other), KN_INPUT); /* nobody's release */
    assert_non_null(strstr(other.message, "holds no schema"));
    assert_null(schema);
}

/* More rows than a chunk of DuckDB's, a row group and a chunk of verify's have. */
static void many_rows_keep_their_order(void **state)
{
    NEEDS_LIBRARY;
    char from[400], to[400];
    write_parquet(data,
                  "SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE 't' || i % 70000 END AS t FROM range(300000) r(i)");
    const char *options[] = {
        set(from, "data", data), set(to, "output", release), "insensitive=i,t", "order=input", "k=1", NULL};
    assert_ok(anonymize(options, NULL, NULL, err));
    kn_batches *batches, *column;
    const kn_duckdb_options how = {.n_threads = 3};
    uint32_t at, row = 0;
    assert_ok(kn_duckdb_open(&batches, release, KN_FILE_PARQUET, &how, err));
    assert_int_equal(batches->n_rows, 300000);
    assert_ok(kn_batches_column(&column, &at, batches, 1, err));
    for (size_t b = 0; b < column->arrays.n; b++) {
        const struct ArrowArray *array = column->arrays.items[b].children[at];
        const int32_t *offsets = array->buffers[1];
        for (int64_t i = 0; i < array->length; i++, row++) {
            char text[20];
            const uint8_t *valid = array->buffers[0];
            const bool missing = array->null_count != 0 && valid != NULL && (valid[i / 8] >> i % 8 & 1) == 0;
            assert_int_equal(missing, row % 3 == 0);
            const size_t n = (size_t)snprintf(text, sizeof text, "t%u", row % 70000);
            if (missing) continue;
            assert_int_equal(offsets[i + 1] - offsets[i], n);
            assert_memory_equal((const char *)array->buffers[2] + offsets[i], text, n);
        }
    }
    assert_int_equal(row, 300000);
    kn_batches_drop(column);
    kn_batches_drop(batches);
    unlink(release);
}

/* --- The release is what was verified ----------------------------------------------------------------------------- */

static const char PEOPLE[] = "SELECT 20 + i % 8 AS age, 'z' || i % 4 AS zip, CASE i % 3 WHEN 0 THEN 'flu' WHEN 1 THEN "
                             "'gout' END AS illness, i AS note FROM range(40) r(i)";

static const char **asked(char from[400], char to[400])
{
    static const char *options[8];
    const char *all[] = {set(from, "data", data),
                         set(to, "output", release),
                         "qi=age,zip",
                         "sensitive=illness",
                         "insensitive=note",
                         "k=5",
                         "algorithm=mondrian",
                         NULL};
    memcpy(options, all, sizeof all);
    return options;
}

/* `user`: what the release is replaced by, as a query over the table `made`. */
static void replace(void *user, const char *path, const kn_batches *batches)
{
    char sql[400];
    assert_null(batches);
    snprintf(sql, sizeof sql, "COPY (%s) TO '$' (FORMAT parquet, USE_TMP_FILE false)", (const char *)user);
    do_all(path, (const char *const[]){"CREATE TABLE made AS FROM read_parquet('$')", sql, NULL});
}

static void cut(void *user, const char *path, const kn_batches *batches)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, about.st_size - *(const int *)user), 0);
}

static void write_over(void *user, const char *path, const kn_batches *batches) { write_text(path, user); }

static void assert_refused(spoil_fn spoil, void *user)
{
    char from[400], to[400];
    kn_error message = {0};
    write_text(release, "old");
    kn_status status = anonymize(asked(from, to), spoil, user, &message);
    if (status != KN_NOT_MET && status != KN_INPUT) fail_msg("%s: %d %s", (const char *)user, status, message.message);
    assert_true(message.message[0] != '\0');
    char *kept = read_file(release, NULL);
    assert_string_equal(kept, "old");
    free(kept);
    unlink(release);
    assert_int_equal(files_in(folder), 1);
}

static void a_release_that_changed_after_writing_is_refused(void **state)
{
    NEEDS_LIBRARY;
    char from[400], to[400];
    static const char *const changes[] = {
        "FROM made LIMIT 39",
        "FROM made UNION ALL (FROM made LIMIT 1)",
        "SELECT * REPLACE (CASE WHEN rowid = 7 THEN '99' ELSE age END AS age) FROM made",
        "SELECT * REPLACE (CASE WHEN rowid = 7 THEN 'z9' ELSE zip END AS zip) FROM made",
        "SELECT * REPLACE (CASE WHEN rowid = 7 THEN 'cold' ELSE illness END AS illness) FROM made",
        "SELECT * REPLACE (coalesce(illness, 'flu') AS illness) FROM made",
        "SELECT * REPLACE (CASE rowid WHEN 0 THEN NULL ELSE note END AS note) FROM made",
        "SELECT * REPLACE (note || ' ' AS note) FROM made",
        "SELECT *, 'Ann' AS name FROM made",
        "SELECT * EXCLUDE (note) FROM made",
        "SELECT zip, age, illness, note FROM made",
        "SELECT age AS Age, zip, illness, note FROM made",
        "SELECT * REPLACE ([note] AS note) FROM made",
        "FROM made ORDER BY note",
    };
    write_parquet(data, PEOPLE);
    assert_ok(anonymize(asked(from, to), replace, "FROM made", err)); /* what nobody changed is fine */
    unlink(release);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) assert_refused(replace, (void *)changes[i]);
    for (int n = 1; n < 600; n += 100) assert_refused(cut, &n);
    assert_refused(write_over, "age,zip,illness,note\n");
    assert_refused(write_over, "");
}

static void pause_here(void *user, const char *path, const kn_batches *batches)
{
    const int *end = user;
    if (write(*end, "x", 1) != 1) _exit(3);
    for (;;) pause();
}

static void a_killed_run_leaves_the_old_release(void **state)
{
    NEEDS_LIBRARY;
    int ends[2], result;
    char ready, from[400], to[400];
    write_parquet(data, PEOPLE);
    write_text(release, "old");
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) _exit(anonymize(asked(from, to), pause_here, &ends[1], NULL) == KN_OK ? 1 : 2);
    close(ends[1]);
    assert_int_equal(read(ends[0], &ready, 1), 1);
    close(ends[0]);
    kill(child, SIGKILL);
    waitpid(child, &result, 0);
    assert_true(WIFSIGNALED(result));
    char *kept = read_file(release, NULL);
    assert_string_equal(kept, "old");
    free(kept);
    assert_ok(anonymize(asked(from, to), NULL, NULL, err)); /* clears up behind the other one */
    assert_int_equal(files_in(folder), 2);
    unlink(release);
}

/* --- Failures ----------------------------------------------------------------------------------------------------- */

/* Reads a file with all its columns. */
static kn_status read_all(const char *path, kn_ticker *ticker, kn_error *message)
{
    kn_status status = KN_OK;
    kn_batches *batches = NULL, *column = NULL;
    const kn_duckdb_options options = {.ticker = ticker, .n_threads = 2};
    uint32_t at;
    status = kn_duckdb_open(&batches, path, kn_file_kind_of(path), &options, message);
    for (int64_t c = 0; status == KN_OK && c < batches->schema.n_children; c++) {
        status = kn_batches_column(&column, &at, batches, (uint32_t)c, message);
        kn_batches_drop(column);
        column = NULL;
    }
    kn_batches_drop(batches);
    return status;
}

static void fails_well(const char *path)
{
    const size_t n_open = open_files();
    kn_status status;
    size_t n_th = 1;
    for (; n_th < 1000; n_th++) {
        kn_error message = {0};
        kn_memory_fail_at(n_th);
        status = read_all(path, NULL, &message);
        kn_memory_fail_at(0);
        assert_int_equal(open_files(), n_open);
        if (status == KN_OK) break;
        assert_int_equal(status, KN_RESOURCES);
    }
    assert_true(n_th > 10 && n_th < 1000);
    for (n_th = 1; n_th < 1000; n_th++) {
        kn_error message = {0};
        kn_ticker ticker = {0};
        atomic_store(&ticker.fail_at, n_th);
        status = read_all(path, &ticker, &message);
        assert_int_equal(open_files(), n_open);
        if (status == KN_OK) break;
        assert_int_equal(status, KN_INTERRUPTED);
    }
    assert_true(n_th > 3 && n_th < 1000);
}

/* What DuckDB's arrays take, and not much more: integers of 8 bytes, offsets of 4, texts of 10. */
static void what_a_query_answers_counts_as_memory_as_long_as_it_is_held(void **state)
{
    NEEDS_LIBRARY;
    enum { N_ROWS = 200000, ROW_BYTES = 8 + 2 + 4 + 10 };
    static const char sql[] = "SELECT i, (i % 100)::SMALLINT AS s, format('{:010}', i) AS t FROM range(200000) r(i)";
    const kn_duckdb_options options = {.n_threads = 1};
    const size_t before = kn_memory_used();
    kn_error message = {0};
    kn_batches *batches;
    assert_ok(kn_duckdb_query(&batches, sql, "table:answer", &options, err));
    assert_in_range(kn_memory_used() - before, N_ROWS * ROW_BYTES, 2 * N_ROWS * ROW_BYTES);
    kn_batches_drop(batches);
    assert_int_equal(kn_memory_used(), before);
    kn_account_limit(kn_scope_account(), before + N_ROWS * ROW_BYTES / 2);
    assert_int_equal(kn_duckdb_query(&batches, sql, "table:answer", &options, &message), KN_RESOURCES);
    kn_account_limit(kn_scope_account(), 0);
    assert_null(batches);
    assert_non_null(strstr(message.message, "raise --memory"));
    assert_int_equal(kn_memory_used(), before);
}

/* Until its arrays are made a result is held beside them, and DuckDB counts it nowhere. Texts alone have arrays of
 * their own making. */
static void what_a_query_answers_counts_twice_while_it_is_read(void **state)
{
    NEEDS_LIBRARY;
    static const char *const queries[] = {
        "SELECT i, (i % 100)::SMALLINT AS s, format('{:010}', i) AS t FROM range(200000) r(i)",
        "SELECT format('{:020}', i) AS t FROM range(200000) r(i)",
    };
    const kn_duckdb_options options = {.n_threads = 1};
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        kn_error message = {0};
        kn_batches *batches;
        const size_t before = kn_memory_used();
        kn_memory_reset_peak();
        assert_ok(kn_duckdb_query(&batches, queries[i], "table:answer", &options, err));
        const size_t held = kn_memory_used() - before;
        assert_in_range(kn_memory_peak() - before, held / 4 * 7, held * 3);
        kn_batches_drop(batches);
        kn_account_limit(kn_scope_account(), before + held / 2 * 3); /* room for the arrays, not for both */
        assert_int_equal(kn_duckdb_query(&batches, queries[i], "table:answer", &options, &message), KN_RESOURCES);
        kn_account_limit(kn_scope_account(), 0);
        assert_null(batches);
        assert_non_null(strstr(message.message, "raise --memory"));
        assert_int_equal(kn_memory_used(), before);
    }
}

/* It comes in three pieces; what columns are called plays no part. */
static void a_long_answer_comes_whole_and_in_its_order(void **state)
{
    NEEDS_LIBRARY;
    static const char sql[] =
        "SELECT i AS rowid, 299999 - i AS \"ROWID\" FROM range(300000) r(i) ORDER BY i DESC; -- all";
    const kn_duckdb_options options = {.n_threads = 2};
    kn_batches *batches;
    int64_t row = 0;
    assert_ok(kn_duckdb_query(&batches, sql, "table:answer", &options, err));
    assert_int_equal(batches->n_rows, 300000);
    assert_string_equal(batches->schema.children[0]->name, "rowid");
    assert_string_equal(batches->schema.children[1]->name, "ROWID");
    for (size_t b = 0; b < batches->arrays.n; b++) {
        const struct ArrowArray *batch = &batches->arrays.items[b];
        const int64_t *down = batch->children[0]->buffers[1], *up = batch->children[1]->buffers[1];
        for (int64_t i = 0; i < batch->length; i++, row++)
            if (down[i] != 299999 - row || up[i] != row) fail_msg("row %lld", (long long)row);
    }
    kn_batches_drop(batches);
}

/* An answer of some 500 MB within 32: DuckDB gives up before it has built it. */
static void an_answer_that_does_not_fit_is_refused_before_it_is_there(void **state)
{
    NEEDS_LIBRARY;
    static const char sql[] = "SELECT i, hash(i) AS h, 'v' || (i % 1000) AS t FROM range(20000000) r(i)";
    const kn_duckdb_options options = {.n_threads = 2};
    const size_t before = kn_memory_used();
    struct rusage usage;
    kn_error message = {0};
    kn_batches *batches;
    assert_ok(kn_duckdb_query(&batches, "SELECT 1 AS a", "table:answer", &options, err));
    kn_batches_drop(batches);
    getrusage(RUSAGE_SELF, &usage);
    const long resident_kb = usage.ru_maxrss;
    kn_account_limit(kn_scope_account(), before + (32 << 20));
    assert_int_equal(kn_duckdb_query(&batches, sql, "table:answer", &options, &message), KN_RESOURCES);
    kn_account_limit(kn_scope_account(), 0);
    assert_null(batches);
    assert_non_null(strstr(message.message, "raise --memory"));
    assert_null(strstr(message.message, "temp_directory"));
    assert_int_equal(kn_memory_used(), before);
    getrusage(RUSAGE_SELF, &usage);
    assert_in_range(usage.ru_maxrss - resident_kb, 0, 128 << 10);
}

/* Three row groups, nulls among the values, values that repeat and are constant for long. */
static void columns_of_parquet_come_whole_and_in_their_order(void **state)
{
    NEEDS_LIBRARY;
    enum { N_ROWS = 300000 };
    write_parquet(data, "SELECT i, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 100 END::SMALLINT AS few, 'same' AS same, "
                        "CASE WHEN i % 5 = 0 THEN NULL ELSE format('{:020}', i) END AS t FROM range(300000) r(i)");
    const kn_duckdb_options options = {.n_threads = 2};
    kn_batches *batches, *column;
    uint32_t at;
    assert_ok(kn_duckdb_open(&batches, data, KN_FILE_PARQUET, &options, err));
    const size_t before = kn_memory_used();
    for (uint32_t c = 0; c < 4; c++) {
        static const size_t row_bytes[] = {8, 2, 4 + 4, 4 + 16};
        int64_t i = 0;
        assert_ok(kn_batches_column(&column, &at, batches, c, err));
        assert_in_range(kn_memory_used() - before, N_ROWS * row_bytes[c], N_ROWS * (2 * row_bytes[c] + 1));
        for (size_t b = 0; b < column->arrays.n; b++)
            for (int64_t row = 0; row < column->arrays.items[b].length; row++, i++) {
                const struct ArrowArray *array = column->arrays.items[b].children[0];
                const uint8_t *valid = array->buffers[0];
                const bool is_null = valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0;
                const int32_t *offsets = array->buffers[1];
                char text[24];
                snprintf(text, sizeof text, "%020lld", (long long)i);
                assert_int_equal(is_null, (c == 1 && i % 7 == 0) || (c == 3 && i % 5 == 0));
                if (c == 0) assert_int_equal(((const int64_t *)array->buffers[1])[row], i);
                if (c == 1 && !is_null) assert_int_equal(((const int16_t *)array->buffers[1])[row], i % 100);
                if (c == 3 && !is_null) assert_memory_equal((const char *)array->buffers[2] + offsets[row], text, 20);
            }
        assert_int_equal(i, N_ROWS);
        kn_batches_drop(column);
        assert_int_equal(kn_memory_used(), before);
    }
    kn_batches_drop(batches);
}

static void reading_without_memory_or_when_asked_to_stop_ends(void **state)
{
    NEEDS_LIBRARY;
    write_parquet(data, PEOPLE);
    fails_well(data);
    write_text(path_of("few.json"), "[{\"a\":1,\"b\":null},{\"a\":2,\"c\":[]}]");
    fails_well(path_of("few.json"));
    unlink(path_of("few.json"));
}

static void a_task_reaches_its_own_file_only(void **state)
{
    NEEDS_LIBRARY;
    static const char *const refused[] = {
        "FROM read_parquet('%s/other.parquet')",
        "FROM read_csv('/etc/passwd')",
        "COPY (SELECT 1) TO '%s/new.csv'",
        "ATTACH '%s/new.db'",
        "INSTALL spatial",
        "LOAD spatial",
        "SET temp_directory = '%s'",
        "SET enable_external_access = true",
        "SET threads = 7",
        "SET memory_limit = '1TB'",
        "EXPORT DATABASE '%s/all'",
    };
    kn_duckdb duckdb;
    const kn_duckdb_options options = {.name = "data", .n_threads = 3};
    char sql[600];
    write_parquet(data, PEOPLE);
    write_parquet(path_of("other.parquet"), PEOPLE);
    assert_ok(kn_duckdb_begin(&duckdb, data, &options, err));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        kn_error message = {0};
        snprintf(sql, sizeof sql, refused[i], folder);
        if (kn_duckdb_do(&duckdb, sql, &message) == KN_OK) fail_msg("%s was done", sql);
    }
    snprintf(sql, sizeof sql, "FROM read_parquet('%s')", data);
    assert_ok(kn_duckdb_do(&duckdb, sql, err));
    assert_ok(
        kn_duckdb_do(&duckdb,
                     "SELECT CASE WHEN current_setting('temp_directory') <> '' OR current_setting('threads') <> 3 "
                     "OR current_setting('autoload_known_extensions') OR "
                     "current_setting('autoinstall_known_extensions') OR current_setting('TimeZone') <> 'UTC' THEN "
                     "error('wrong settings') END",
                     err));
    kn_duckdb_end(&duckdb);
    unlink(path_of("other.parquet"));
    assert_int_equal(files_in(folder), 1);
}

/* A file that is rewritten between two of its columns. */
static void a_file_that_changes_while_it_is_read_is_refused(void **state)
{
    NEEDS_LIBRARY;
    kn_batches *batches = NULL, *column = NULL;
    const kn_duckdb_options options = {0};
    kn_error message = {0};
    uint32_t at;
    write_parquet(data, PEOPLE);
    assert_ok(kn_duckdb_open(&batches, data, KN_FILE_PARQUET, &options, err));
    assert_ok(kn_batches_column(&column, &at, batches, 0, err));
    kn_batches_drop(column);
    write_parquet(data, "SELECT 1 AS age, 'z' AS zip, 'flu' AS illness, 1 AS note");
    assert_int_equal(kn_batches_column(&column, &at, batches, 1, &message), KN_INPUT);
    assert_null(column);
    kn_batches_drop(batches);
}

static int make_paths(void **state)
{
    if (make_folder(state) != 0) return -1;
    strcpy(data, path_of("data.parquet"));
    strcpy(release, path_of("release.parquet"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_say_what_a_file_is),
        cmocka_unit_test(a_parquet_file_is_read_as_its_values_are_spelled),
        cmocka_unit_test(many_rows_keep_their_order),
        cmocka_unit_test(a_release_that_changed_after_writing_is_refused),
        cmocka_unit_test(a_killed_run_leaves_the_old_release),
        cmocka_unit_test(what_a_query_answers_counts_as_memory_as_long_as_it_is_held),
        cmocka_unit_test(what_a_query_answers_counts_twice_while_it_is_read),
        cmocka_unit_test(a_long_answer_comes_whole_and_in_its_order),
        cmocka_unit_test(an_answer_that_does_not_fit_is_refused_before_it_is_there),
        cmocka_unit_test(columns_of_parquet_come_whole_and_in_their_order),
        cmocka_unit_test(reading_without_memory_or_when_asked_to_stop_ends),
        cmocka_unit_test(a_task_reaches_its_own_file_only),
        cmocka_unit_test(a_file_that_changes_while_it_is_read_is_refused),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_folder);
}
