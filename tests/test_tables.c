/* Whole runs over tables in memory, by the public headers: the same release as from a file, verified as strictly, with
 * no file on the way, and arrays that outlive everything else. */
#include "arrow_support.h"
#include "file_support.h"

#include "base/buffer.h"
#include "policy/settings.h"
#include "search/search.h"
#include "table/batches.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- One table, typed in memory and spelled in a file ----------------------------------------------------------- */

enum { N_ROWS = 60, N_COLUMNS = 7 };

/* person int64, age int32, income float64, day date32, city dictionary, flag bool, disease utf8; in two batches. */
static void people_stream(struct ArrowArrayStream *stream, kn_buffer *csv)
{
    static const char *const cities[] = {"nowhere", "Bern", "Zürich", "Genf, Lac", NULL};
    static const char *const diseases[] = {"flu", "asthma", "\"rare\"", "gout", ""};
    static const char *const quoted[] = {"flu", "asthma", "\"\"\"rare\"\"\"", "gout", ""};
    kn_rng rng = kn_rng_new(5, 0);
    test_stream_start(stream, N_COLUMNS,
                      (const char *const[]){"person", "l", "age", "i", "income", "g", "day", "tdD", "city", "c>u",
                                            "flag", "b", "disease", "u"});
    kn_buffer_text(csv, "person,age,income,day,city,flag,disease\n");
    for (int batch = 0; batch < 2; batch++) {
        enum { N = N_ROWS / 2 };
        int64_t person[N];
        int32_t age[N], day[N];
        double income[N];
        int8_t city[N];
        uint8_t flag[N], valid[N];
        const char *disease[N];
        for (int i = 0; i < N; i++) {
            int which = (int)kn_rng_below(&rng, 5);
            person[i] = 9007199254740993 + batch * N + i;
            age[i] = 20 + (int32_t)kn_rng_below(&rng, 60);
            income[i] = kn_rng_below(&rng, 9) == 0 ? NAN : kn_rng_below(&rng, 40) / 4.0 + 0.1;
            day[i] = 19723 + (int32_t)kn_rng_below(&rng, 31); /* January 2024 */
            city[i] = (int8_t)(1 + kn_rng_below(&rng, 4));
            flag[i] = (uint8_t)kn_rng_below(&rng, 2);
            valid[i] = kn_rng_below(&rng, 10) != 0;
            disease[i] = diseases[which];
            kn_buffer_printf(csv, "%lld,", (long long)person[i]);
            if (valid[i]) kn_buffer_printf(csv, "%d", age[i]);
            if (isnan(income[i])) kn_buffer_char(csv, ',');
            else kn_buffer_printf(csv, ",%.6g", income[i]);
            kn_buffer_printf(csv, ",2024-01-%02d,%s,%s,%s\n", day[i] - 19722,
                             city[i] == 3   ? "\"Genf, Lac\""
                             : city[i] == 4 ? ""
                                            : cities[city[i]],
                             flag[i] ? "true" : "false", quoted[which]);
        }
        test_stream_add(
            stream, N, 0,
            (struct ArrowArray *[]){test_fixed(N, NULL, person, 8), test_fixed(N, valid, age, 4),
                                    test_fixed(N, NULL, income, 8), test_fixed(N, NULL, day, 4),
                                    test_dictionary(test_fixed(N, NULL, city, 1), test_strings(5, cities, false)),
                                    test_bools(N, NULL, flag), test_strings(N, disease, false)});
    }
}

static const char *const roles[] = {"qi=age,income,day,city,flag",
                                    "sensitive=disease",
                                    "identifier=person",
                                    "k=3",
                                    "max-suppressed=20%",
                                    "threads=2",
                                    NULL};

static void set_all(kn_settings *settings, const char *const *options)
{
    for (; *options != NULL; options++) {
        char name[40];
        const char *equals = strchr(*options, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        assert_ok(kn_settings_set(settings, name, equals + 1, err));
    }
}

/* Settings for the table in memory, or, with `csv_path`, for the file of the same cells. */
static kn_settings *people_settings(const char *csv_path)
{
    struct ArrowArrayStream stream;
    kn_buffer csv = {0};
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    people_stream(&stream, &csv);
    if (csv_path == NULL) {
        assert_ok(kn_settings_set_table(settings, "data", &stream, err));
    } else {
        stream.release(&stream);
        write_text(csv_path, csv.bytes);
        assert_ok(kn_settings_set(settings, "data", csv_path, err));
    }
    set_all(settings, roles);
    kn_buffer_free(&csv);
    return settings;
}

static void released_table(struct ArrowArrayStream *out, kn_settings *settings)
{
    kn_result *result;
    assert_ok(kn_anonymize(&result, settings, err));
    assert_ok(kn_result_table(result, out, err));
    kn_result_free(result);
}

/* --- The same release -------------------------------------------------------------------------------------------- */

static void typed_columns_give_the_bytes_that_their_spellings_give(void **state)
{
    size_t n;
    const kn_algorithm *const *all = kn_algorithm_all(&n);
    int n_compared = 0;
    for (size_t i = 0; i < n; i++) {
        kn_settings *memory = people_settings(NULL), *file = people_settings(path_of("people.csv"));
        kn_settings *both[] = {memory, file};
        const char *targets[] = {path_of("memory.csv"), path_of("file.csv")};
        kn_status statuses[2];
        for (int s = 0; s < 2; s++) {
            kn_result *result = NULL;
            kn_error failure = {0};
            if (strcmp(all[i]->name, "exhaustive") == 0) kn_settings_set(both[s], "qi", "flag", NULL);
            assert_ok(kn_settings_set(both[s], "algorithm", all[i]->name, err));
            assert_ok(kn_settings_set(both[s], "output", targets[s], err));
            assert_ok(kn_settings_set(both[s], "effort", "2000", err));
            statuses[s] = kn_anonymize(&result, both[s], &failure);
            kn_result_free(result);
        }
        assert_int_equal(statuses[0], statuses[1]);
        if (statuses[0] == KN_OK) {
            char *a = read_file(targets[0], NULL), *b = read_file(targets[1], NULL);
            assert_string_equal(a, b);
            free(a);
            free(b);
            n_compared++;
        }
        kn_settings_free(memory);
        kn_settings_free(file);
    }
    assert_true(n_compared >= 8);
}

/* Cells of a table of string dictionaries, as CSV without quotes, lines sorted. */
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *cell_of(const struct ArrowSchema *schema, const struct ArrowArray *column, int64_t row)
{
    const struct ArrowArray *texts = column->dictionary;
    const int32_t *ends = texts->buffers[1];
    const uint8_t *valid = column->buffers[0];
    int64_t index =
        *schema->format == 'c' ? ((const int8_t *)column->buffers[1])[row] : ((const int16_t *)column->buffers[1])[row];
    if (valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0) return strdup("");
    return strndup((const char *)texts->buffers[2] + ends[index], (size_t)(ends[index + 1] - ends[index]));
}

/* Takes the stream. */
static size_t table_lines(char **lines, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    size_t n = 0;
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_int_equal(stream->get_next(stream, &batch), 0);
    for (int64_t row = 0; row < batch.length; row++) {
        kn_buffer line = {0};
        for (int64_t c = 0; c < batch.n_children; c++) {
            char *cell = cell_of(schema.children[c], batch.children[c], row);
            kn_buffer_printf(&line, "%s%s", c > 0 ? "|" : "", cell);
            free(cell);
        }
        lines[n++] = strdup(line.bytes);
        kn_buffer_free(&line);
    }
    batch.release(&batch);
    schema.release(&schema);
    stream->release(stream);
    qsort(lines, n, sizeof *lines, by_text);
    return n;
}

static void a_release_in_memory_has_the_rows_of_the_file(void **state)
{
    struct ArrowArrayStream in_memory, from_file, stream;
    char *a[N_ROWS], *b[N_ROWS];
    kn_settings *settings = people_settings(NULL);
    released_table(&in_memory, settings);
    /* written as a file, read back as text columns, anonymized with k=1: nothing changes, and it comes out as a table
     */
    kn_result *result;
    assert_ok(kn_settings_set(settings, "output", path_of("release.csv"), err));
    assert_ok(kn_anonymize(&result, settings, err));
    assert_int_equal(kn_result_table(result, &stream, NULL), KN_USAGE);
    assert_null(stream.release);
    kn_result_free(result);
    kn_settings_free(settings);
    assert_ok(kn_settings_new(&settings, err));
    set_all(settings,
            (const char *const[]){"insensitive=age,income,day,city,flag,disease", "k=1", "output=table:", NULL});
    assert_ok(kn_settings_set(settings, "data", path_of("release.csv"), err));
    released_table(&from_file, settings);
    kn_settings_free(settings);
    size_t n = table_lines(a, &in_memory);
    assert_int_equal(table_lines(b, &from_file), n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(a[i], b[i]);
        free(a[i]);
        free(b[i]);
    }
}

static int append(void *user, const char *bytes, size_t n_bytes)
{
    kn_buffer_append(user, bytes, n_bytes);
    return 0;
}

static int take_all(void *user, const char *bytes, size_t n_bytes) { return 0; }
static int refuse_all(void *user, const char *bytes, size_t n_bytes) { return 1; }

/* The file that `output` makes, and what kn_result_csv makes of the table: the settings say the rest. */
static void same_csv(const char *const *options, const char *data, const char *expected)
{
    kn_buffer csv = {0};
    write_text(path_of("data.csv"), data);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        kn_settings *settings;
        kn_result *result;
        assert_ok(kn_settings_new(&settings, err));
        set_all(settings, options);
        assert_ok(kn_settings_set(settings, "data", path_of("data.csv"), err));
        assert_ok(kn_settings_set(settings, "output", in_memory ? "table:" : path_of("file.csv"), err));
        assert_ok(kn_anonymize(&result, settings, err));
        if (in_memory) assert_ok(kn_result_csv(result, append, &csv, err));
        else assert_int_equal(kn_result_csv(result, append, &csv, NULL), KN_USAGE);
        if (in_memory) assert_int_equal(kn_result_csv(result, refuse_all, NULL, NULL), KN_INPUT);
        kn_result_free(result);
        kn_settings_free(settings);
    }
    char *file = read_file(path_of("file.csv"), NULL);
    assert_string_equal(csv.bytes, file);
    if (expected != NULL) assert_string_equal(file, expected);
    free(file);
    kn_buffer_free(&csv);
}

/* Quotes, delimiters and blanks move a line among the others, so the order of the table is that of the file, too. */
static void the_csv_of_a_table_has_the_bytes_of_the_file(void **state)
{
    same_csv((const char *const[]){"insensitive=a,b", "k=1", NULL},
             "a,b\nab,1\na,\"x, y\"\na b,NA\na*,\"\"\"q\"\"\"\n\"a,\",\n",
             "a,b\n\"a,\",\na b,NA\na*,\"\"\"q\"\"\"\na,\"x, y\"\nab,1\n");
    same_csv((const char *const[]){"insensitive=a", "k=1", NULL}, "a\nb\n\"\"\nab\n", "a\n\"\"\nab\nb\n");
    same_csv((const char *const[]){"insensitive=a,b", "k=1", "null=NA,-", NULL}, "a;b\r\nNA;1\r\n-;\r\nx;NA\r\n",
             "a;b\r\n-;\r\nNA;1\r\nx;NA\r\n");
    same_csv((const char *const[]){"insensitive=column1,column2", "k=1", "no-header=yes", "order=input", NULL},
             "2,b\n1,a\n", "2,b\n1,a\n");
    same_csv((const char *const[]){"insensitive==a,b", "k=1", "guard-formulas=yes", NULL}, "=a,b\n=1+1,-2\n+x,@y\n",
             NULL);
    kn_buffer csv = {0};
    struct ArrowArrayStream stream;
    people_stream(&stream, &csv);
    stream.release(&stream);
    same_csv(roles, csv.bytes, NULL);
    kn_buffer_free(&csv);
}

static void texts_that_would_be_files_are_kept(void **state)
{
    static const char *const targets[] = {"report", "schema", "json", "certificate"};
    kn_settings *settings = people_settings(NULL);
    kn_result *result;
    for (size_t i = 0; i < 4; i++) assert_ok(kn_settings_set(settings, targets[i], "text:", err));
    set_all(settings,
            (const char *const[]){"hierarchy=age=suppress", "hierarchy=income=suppress", "hierarchy=day=suppress",
                                  "hierarchy=city=suppress", "hierarchy=flag=suppress", "max-suppressed=0", NULL});
    setenv("TMPDIR", "/nonexistent", 1);
    assert_ok(kn_anonymize(&result, settings, err));
    unsetenv("TMPDIR");
    assert_non_null(strstr(kn_result_kept(result, "report"), "</html>"));
    assert_int_equal(kn_result_kept(result, "schema")[0], '{');
    assert_string_equal(kn_result_kept(result, "json"), kn_result_json(result));
    assert_non_null(strstr(kn_result_kept(result, "certificate"), "kanon"));
    assert_null(kn_result_kept(result, "output"));
    kn_result_free(result);
    /* a release too, checked where it is */
    assert_ok(kn_settings_set(settings, "output", "text:", err));
    assert_ok(kn_anonymize(&result, settings, err));
    assert_int_equal(strncmp(kn_result_kept(result, "output"), "age,income,day,city,flag,disease\n", 33), 0);
    kn_result_free(result);
    kn_settings_free(settings);
}

/* --- No file ----------------------------------------------------------------------------------------------------- */

/* In a process that can open no file and write none. */
static void nothing_touches_the_disk(void **state)
{
    kn_settings *settings = people_settings(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct ArrowArrayStream stream;
        kn_result *result;
        kn_error failure = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0});
        kn_status status = kn_anonymize(&result, settings, &failure);
        if (status == KN_OK) status = kn_result_table(result, &stream, &failure);
        if (status == KN_OK) stream.release(&stream);
        kn_result_free(result);
        kn_settings_free(settings);
        _exit(status);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), KN_OK);
    kn_settings_free(settings);
}

/* --- A release that was changed ---------------------------------------------------------------------------------- */

typedef struct spoiler {
    int kind;
    bool called;
} spoiler;

/* Index of the first cell that is no null. */
static int8_t *first_index(const struct ArrowArray *column)
{
    const uint8_t *valid = column->buffers[0];
    int64_t row = 0;
    while (valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0) row++;
    assert_true(column->dictionary->length > 2);
    return (int8_t *)column->buffers[1] + row;
}

/* Column 0 is age, 5 the disease. */
static void spoil(void *user, const char *path, const kn_batches *batches)
{
    spoiler *s = user;
    const struct ArrowArray *batch = &batches->arrays.items[0];
    struct ArrowArray *age = batch->children[0], *disease = batch->children[5];
    int8_t *age_index = first_index(age), *disease_index = first_index(disease);
    int32_t *ends = (int32_t *)age->dictionary->buffers[1];
    s->called = true;
    assert_null(path);
    switch (s->kind) {
    case 0: break;
    case 1: *age_index = (int8_t)((*age_index + 1) % age->dictionary->length); break; /* in the wrong class */
    case 2: *age_index = (int8_t)age->dictionary->length; break;                      /* beyond the dictionary */
    case 3: *disease_index = (int8_t)((*disease_index + 1) % disease->dictionary->length); break;
    case 4: ((char *)disease->dictionary->buffers[2])[0] ^= 1; break;
    case 5: ends[1] = ends[2] + 1; break;
    case 6: age->dictionary->length++; break; /* an entry that no row has */
    case 7: ((struct ArrowArray *)batch)->length--; break;
    case 8: strcpy((char *)batches->schema.children[0]->name, "agE"); break;
    case 9: age->dictionary = NULL; break;
    }
}

static void a_release_changed_in_memory_is_refused(void **state)
{
    for (int kind = 0; kind < 10; kind++) {
        kn_settings *settings = people_settings(NULL);
        kn_result *result = NULL;
        kn_error failure = {0};
        spoiler s = {kind, false};
        settings->after_write = spoil;
        settings->after_write_user = &s;
        kn_status status = kn_anonymize(&result, settings, &failure);
        assert_true(s.called);
        if (kind == 0 ? status != KN_OK : status != KN_NOT_MET) fail_msg("%d: %d %s", kind, status, failure.message);
        assert_true((result != NULL) == (kind == 0));
        kn_result_free(result);
        kn_settings_free(settings);
    }
}

/* What no released row has is not in the arrays: rows removed, a star that nobody needed. */
static void dictionaries_hold_released_values_only(void **state)
{
    const char *const cells[] = {"a", "a", "a", "b", "b", "unique"}, *const names[] = {"flu", "gout", "flu",
                                                                                       "flu", "gout", "secret"};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    test_stream_start(&stream, 2, (const char *const[]){"group", "u", "disease", "u"});
    test_stream_add(&stream, 6, 0,
                    (struct ArrowArray *[]){test_strings(6, cells, false), test_strings(6, names, false)});
    assert_ok(kn_settings_set_table(settings, "data", &stream, err));
    set_all(settings, (const char *const[]){"qi=group", "sensitive=disease", "k=2", "hierarchy=group=suppress",
                                            "max-suppressed=1", "algorithm=optimal", NULL});
    released_table(&stream, settings);
    kn_settings_free(settings);
    assert_int_equal(test_arrow_live, 0); /* the data is gone, the release is not */
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 5);
    assert_int_equal(batch.n_buffers, 1); /* as the interface wants it of a struct: where no row is null, of NULL */
    assert_null(batch.buffers[0]);
    for (int64_t c = 0; c < 2; c++) {
        const struct ArrowArray *dictionary = batch.children[c]->dictionary;
        assert_int_equal(batch.children[c]->n_buffers, 2);
        assert_int_equal(dictionary->n_buffers, 3);
        assert_int_equal(dictionary->length, 2);
        const int32_t *ends = dictionary->buffers[1];
        assert_memory_equal(dictionary->buffers[2], c == 0 ? "ab" : "flugout", (size_t)ends[2]);
        assert_int_equal(ends[2], c == 0 ? 2 : 7);
    }
    schema.release(&schema);
    batch.release(&batch);
    stream.release(&stream);
}

/* --- Other jobs --------------------------------------------------------------------------------------------------- */

static void verify_measure_and_risk_take_tables(void **state)
{
    kn_settings *settings = people_settings(NULL), *file = people_settings(path_of("people.csv"));
    kn_settings *checks[2];
    struct ArrowArrayStream release, original;
    kn_result *result, *results[2];
    kn_buffer csv = {0};
    released_table(&release, settings);
    assert_ok(kn_settings_set(file, "output", path_of("release.csv"), err));
    assert_ok(kn_anonymize(&result, file, err));
    kn_result_free(result);
    for (int i = 0; i < 2; i++) {
        assert_ok(kn_settings_new(&checks[i], err));
        set_all(checks[i], roles);
    }
    people_stream(&original, &csv);
    assert_ok(kn_settings_set_table(checks[0], "original", &original, err));
    assert_ok(kn_settings_set_table(checks[0], "release", &release, err));
    assert_ok(kn_settings_set(checks[1], "original", path_of("people.csv"), err));
    assert_ok(kn_settings_set(checks[1], "release", path_of("release.csv"), err));
    for (int i = 0; i < 2; i++) assert_ok(kn_verify(&results[i], checks[i], err));
    assert_string_equal(kn_result_json(results[0]), kn_result_json(results[1]));
    for (int i = 0; i < 2; i++) kn_result_free(results[i]);
    assert_ok(kn_settings_set(checks[0], "data", "table:original", err));
    assert_ok(kn_settings_set(checks[1], "data", path_of("people.csv"), err));
    for (int i = 0; i < 2; i++) assert_ok(kn_measure_files(&results[i], checks[i], err));
    assert_string_equal(kn_result_json(results[0]), kn_result_json(results[1]));
    for (int i = 0; i < 2; i++) kn_result_free(results[i]);
    for (int i = 0; i < 2; i++) assert_ok(kn_risk(&results[i], checks[i], err));
    assert_string_equal(kn_result_json(results[0]), kn_result_json(results[1]));
    for (int i = 0; i < 2; i++) {
        kn_result_free(results[i]);
        kn_settings_free(checks[i]);
    }
    kn_settings_free(settings);
    kn_settings_free(file);
    kn_buffer_free(&csv);
}

/* A release of fewer rows per class than promised, given as a table. */
static void verify_refuses_a_table_that_does_not_keep_its_promise(void **state)
{
    struct ArrowArrayStream stream;
    kn_settings *settings;
    kn_result *result = NULL;
    kn_error failure = {0};
    struct ArrowArray *column = test_strings(3, (const char *const[]){"a", "a", "b"}, false);
    assert_ok(kn_settings_new(&settings, err));
    test_stream_start(&stream, 1, (const char *const[]){"group", "u"});
    test_stream_add(&stream, 3, 0, &column);
    assert_ok(kn_settings_set_table(settings, "release", &stream, err));
    set_all(settings, (const char *const[]){"qi=group", "k=2", NULL});
    assert_int_equal(kn_verify(&result, settings, &failure), KN_NOT_MET);
    assert_non_null(strstr(failure.message, "k-anonymity does not hold"));
    kn_result_free(result);
    kn_settings_free(settings);
}

static struct ArrowArrayStream text_table(int64_t n_columns, const char *const *names, int64_t n_rows,
                                          const char *const *cells)
{
    struct ArrowArrayStream stream;
    const char *named[16], *column[32];
    struct ArrowArray *arrays[8];
    for (int64_t c = 0; c < n_columns; c++) {
        named[2 * c] = names[c];
        named[2 * c + 1] = "u";
        for (int64_t row = 0; row < n_rows; row++) column[row] = cells[row * n_columns + c];
        arrays[c] = test_strings(n_rows, column, false);
    }
    test_stream_start(&stream, n_columns, named);
    test_stream_add(&stream, n_rows, 0, arrays);
    return stream;
}

static void hierarchies_and_populations_may_be_tables(void **state)
{
    static const char *const people[] = {"3000", "3001", "8000", "8001"};
    static const char *const tree[] = {"3000", "30**", "*", "3001", "30**", "*",
                                       "8000", "80**", "*", "8001", "80**", "*"};
    static const char *const town[] = {"3000", "3000", "3001", "8000", "8001", "8001"};
    char *texts[2];
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        kn_settings *settings;
        kn_result *result;
        struct ArrowArrayStream stream = text_table(1, (const char *const[]){"zip"}, 4, people);
        assert_ok(kn_settings_new(&settings, err));
        assert_ok(kn_settings_set_table(settings, "data", &stream, err));
        set_all(settings, (const char *const[]){"qi=zip", "k=1", "algorithm=optimal", NULL});
        if (in_memory) {
            stream = text_table(3, (const char *const[]){"leaf", "two", "top"}, 4, tree);
            assert_ok(kn_settings_set_table(settings, "zips", &stream, err));
            stream = text_table(1, (const char *const[]){"zip"}, 6, town);
            assert_ok(kn_settings_set_table(settings, "town", &stream, err));
            assert_ok(kn_settings_set(settings, "hierarchy", "zip=table:zips", err));
            assert_ok(kn_settings_set(settings, "model", "k-map:k=3,population=table:town", err));
        } else {
            char option[160];
            write_text(path_of("zips.csv"), "3000;30**;*\n3001;30**;*\n8000;80**;*\n8001;80**;*\n");
            write_text(path_of("town.csv"), "zip\n3000\n3000\n3001\n8000\n8001\n8001\n");
            snprintf(option, sizeof option, "zip=%s", path_of("zips.csv"));
            assert_ok(kn_settings_set(settings, "hierarchy", option, err));
            snprintf(option, sizeof option, "k-map:k=3,population=%s", path_of("town.csv"));
            assert_ok(kn_settings_set(settings, "model", option, err));
        }
        assert_ok(kn_settings_set(settings, "output", path_of("release.csv"), err));
        assert_ok(kn_anonymize(&result, settings, err));
        texts[in_memory] = read_file(path_of("release.csv"), NULL);
        kn_result_free(result);
        kn_settings_free(settings);
    }
    assert_string_equal(texts[0], "zip\n30**\n30**\n80**\n80**\n");
    assert_string_equal(texts[1], texts[0]);
    free(texts[0]);
    free(texts[1]);
}

/* A null of the population is a missing cell, however the table's own are spelt. */
static void nulls_of_a_population_match_missing_cells(void **state)
{
    static const char *const people[] = {"3000", NULL}, *const town[] = {"3000", "3000", NULL, NULL};
    kn_settings *settings;
    kn_result *result;
    assert_ok(kn_settings_new(&settings, err));
    struct ArrowArrayStream stream = text_table(1, (const char *const[]){"zip"}, 2, people);
    assert_ok(kn_settings_set_table(settings, "data", &stream, err));
    stream = text_table(1, (const char *const[]){"zip"}, 4, town);
    assert_ok(kn_settings_set_table(settings, "town", &stream, err));
    set_all(settings,
            (const char *const[]){"qi=zip", "k=1", "null=NA", "algorithm=optimal", "hierarchy=zip=mask(right)",
                                  "model=k-map:k=2,population=table:town", NULL});
    assert_ok(kn_settings_set(settings, "output", path_of("release.csv"), err));
    assert_ok(kn_anonymize(&result, settings, err));
    char *text = read_file(path_of("release.csv"), NULL);
    assert_string_equal(text, "zip\n3000\nNA\n");
    free(text);
    kn_result_free(result);
    kn_settings_free(settings);
}

/* Dates and moments have no spelling of their own in memory; a null is a missing cell. */
static void columns_are_derived_from_dates_in_memory(void **state)
{
    const int32_t born[] = {-3594, 0, 18321, 0}; /* 1960-02-29, 1970-01-01, 2020-02-29 */
    const uint8_t known[] = {1, 1, 1, 0};
    const int64_t left[] = {1582938000000000, 1582937999999999, 1583020800000000, 0}; /* around 2020-02-29 01:00 */
    struct ArrowArrayStream stream;
    kn_settings *settings;
    kn_result *result = NULL;
    test_stream_start(&stream, 3, (const char *[]){"born", "tdD", "left", "tsu:UTC", "x", "u"});
    test_stream_add(&stream, 4, 0,
                    (struct ArrowArray *[]){test_fixed(4, known, born, 4), test_fixed(4, NULL, left, 8),
                                            test_strings(4, (const char *[]){"1", "1", "1", "1"}, false)});
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_set_table(settings, "data", &stream, err));
    set_all(settings, (const char *const[]){"qi=x", "k=2", "identifier=born,left", "insensitive=age,hours",
                                            "derive=age=years(born, left)", "derive=hours=hours(2020-02-29, left)",
                                            "order=input", NULL});
    assert_ok(kn_settings_set(settings, "output", path_of("release.csv"), err));
    assert_ok(kn_anonymize(&result, settings, err));
    char *text = read_file(path_of("release.csv"), NULL);
    assert_string_equal(text, "x,age,hours\n1,60,1\n1,50,0\n1,0,24\n1,,-439704\n");
    free(text);
    kn_result_free(result);
    kn_settings_free(settings);
}

static void a_table_that_is_not_there_is_named(void **state)
{
    kn_settings *settings;
    kn_result *result;
    kn_error failure = {0};
    assert_ok(kn_settings_new(&settings, err));
    set_all(settings, (const char *const[]){"data=table:people", "qi=a", "k=2", NULL});
    assert_int_equal(kn_anonymize(&result, settings, &failure), KN_USAGE);
    assert_non_null(strstr(failure.message, "no table table:people in memory"));
    failure = (kn_error){0};
    kn_settings_free(settings);
    settings = people_settings(NULL);
    assert_ok(kn_settings_set(settings, "json", "table:json", err));
    assert_int_equal(kn_anonymize(&result, settings, &failure), KN_USAGE);
    assert_non_null(strstr(failure.message, "only the release"));
    kn_settings_free(settings);
}

/* --- Lives ---------------------------------------------------------------------------------------------------------
 */

static void *run_elsewhere(void *settings)
{
    struct ArrowArrayStream stream;
    struct ArrowArray *batch = calloc(1, sizeof *batch);
    released_table(&stream, settings);
    assert_int_equal(stream.get_next(&stream, batch), 0);
    stream.release(&stream);
    return batch;
}

/* Two jobs share one set of settings; their arrays are released here, after the settings. */
static void arrays_outlive_run_and_settings_on_any_thread(void **state)
{
    kn_settings *settings = people_settings(NULL);
    pthread_t threads[2];
    void *batches[2];
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_elsewhere, settings), 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &batches[i]);
    kn_settings_free(settings);
    assert_int_equal(test_arrow_live, 0);
    for (int i = 0; i < 2; i++) {
        struct ArrowArray *batch = batches[i];
        assert_true(batch->length > 0);
        batch->release(batch);
        free(batch);
    }
}

static void memory_may_run_out_anywhere(void **state)
{
    const char *const cells[] = {"1", "2020-01-01", "1", "2020-01-02", "2", "2020-01-02", "2", ""};
    for (size_t n_th = 1;; n_th += 1 + n_th / 40) {
        struct ArrowArrayStream stream = text_table(2, (const char *const[]){"a", "b"}, 4, cells),
                                out = {.release = NULL};
        kn_settings *settings;
        kn_result *result = NULL;
        assert_ok(kn_settings_new(&settings, err));
        set_all(settings, (const char *const[]){"qi=a", "k=2", "threads=1", "algorithm=mondrian", "schema=text:",
                                                "identifier=b", "derive=d=days(2020-01-01, b)", "insensitive=d", NULL});
        kn_memory_fail_at(n_th);
        kn_status status = kn_settings_set_table(settings, "data", &stream, NULL);
        if (status == KN_OK) status = kn_anonymize(&result, settings, NULL);
        if (status == KN_OK) status = kn_result_table(result, &out, NULL);
        if (status == KN_OK) status = kn_result_csv(result, take_all, NULL, NULL);
        size_t n_made = kn_memory_allocations();
        kn_memory_fail_at(0);
        if (out.release != NULL) out.release(&out);
        kn_result_free(result);
        kn_settings_free(settings);
        assert_int_equal(test_arrow_live, 0);
        if (status == KN_OK && n_made < n_th) break;
        assert_int_equal(status, KN_RESOURCES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEAVES_NOTHING(typed_columns_give_the_bytes_that_their_spellings_give),
        LEAVES_NOTHING(a_release_in_memory_has_the_rows_of_the_file),
        LEAVES_NOTHING(the_csv_of_a_table_has_the_bytes_of_the_file),
        LEAVES_NOTHING(texts_that_would_be_files_are_kept),
        LEAVES_NOTHING(nothing_touches_the_disk),
        LEAVES_NOTHING(a_release_changed_in_memory_is_refused),
        LEAVES_NOTHING(dictionaries_hold_released_values_only),
        LEAVES_NOTHING(verify_measure_and_risk_take_tables),
        LEAVES_NOTHING(verify_refuses_a_table_that_does_not_keep_its_promise),
        LEAVES_NOTHING(hierarchies_and_populations_may_be_tables),
        LEAVES_NOTHING(nulls_of_a_population_match_missing_cells),
        LEAVES_NOTHING(columns_are_derived_from_dates_in_memory),
        LEAVES_NOTHING(a_table_that_is_not_there_is_named),
        LEAVES_NOTHING(arrays_outlive_run_and_settings_on_any_thread),
        LEAVES_NOTHING(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
