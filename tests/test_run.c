/* The pipeline from file to file: what was written is read back, and whatever is wrong with it keeps the old file in
 * its place. The tests spoil the written file before it is verified, in every way they can think of; whether a release
 * is right is recomputed here from the two files. */
#include "file_support.h"
#include "run_support.h"
#include "support.h"

#include "base/buffer.h"
#include "privacy/privacy.h"
#include "run/copies.h"
#include "run/expected.h"
#include "run/input.h"
#include "verify/checks.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- Files ----------------------------------------------------------------------------------------------------- */

static char data_path[300], release_path[300];

static int make_paths(void **state)
{
    if (make_folder(state) != 0) return -1;
    strcpy(data_path, path_of("data.csv"));
    strcpy(release_path, path_of("release.csv"));
    return 0;
}

static int remove_paths(void **state)
{
    unlink(data_path);
    unlink(release_path);
    return rmdir(folder); /* fails when something else was left there */
}

/* --- Runs ------------------------------------------------------------------------------------------------------ */

/* A disk as slow as a test wants it: this one is linked in place of the C library's. */
static unsigned sync_ms;
int fsync(int file)
{
    usleep(1000 * sync_ms);
    return (int)syscall(SYS_fsync, file);
}

static kn_status anonymize(const char *const *options, spoil_fn spoil, void *user, kn_error *message)
{
    return run_anonymize(data_path, release_path, options, spoil, user, message);
}

static const char PEOPLE[] = "name,age,zip,illness,note\n"
                             "Ann,31,1301,flu,a\n"
                             "Bob,34,1302,gout,\"b, c\"\n"
                             "Cid,38,1301,flu,\n"
                             "Dan,52,2201,gout,d\n"
                             "Eve,55,2202,flu,e\n"
                             "Fay,59,2201,cold,f\n"
                             "Gus,71,2203,cold,g\n"
                             "Hal,75,2203,flu,h\n";

static const char *const NAMED[] = {"identifier=name",  "qi=age,zip", "sensitive=illness",
                                    "insensitive=note", "k=2",        "model=l-diversity:l=2",
                                    "threads=1",        NULL};
static const char *const UNNAMED[] = {"identifier=column1",
                                      "qi=column2,column3",
                                      "sensitive=column4",
                                      "insensitive=column5",
                                      "k=2",
                                      "no-header=yes",
                                      "threads=1",
                                      NULL};

/* --- Spoiling the written file --------------------------------------------------------------------------------- */

/* The written file, taken apart: lines[0] is the header (NULL without one). */
typedef struct written {
    char *lines[20];
    size_t n_lines;
    bool has_header;
} written;

typedef struct spoiling {
    const char *what;
    /* Changes the lines, or returns bytes to write instead of them. */
    const char *(*spoil)(written *file, size_t *n_bytes);
} spoiling;

static char *copy(const char *text, size_t n)
{
    char *made = malloc(n + 1);
    assert_non_null(made);
    memcpy(made, text, n);
    made[n] = '\0';
    return made;
}

/* Cell `index` of a line without quotes. */
static char *take_cell(const char *line, int index)
{
    for (; index > 0; index--) line = strchr(line, ',') + 1;
    return copy(line, strcspn(line, ","));
}

static void put_cell(written *file, size_t line, int index, const char *cell)
{
    char *old = file->lines[line], *at = old, *made;
    for (; index > 0; index--) at = strchr(at, ',') + 1;
    assert_true(asprintf(&made, "%.*s%s%s", (int)(at - old), old, cell, at + strcspn(at, ",")) >= 0);
    file->lines[line] = made;
    free(old);
}

/* The first and the last data line: they are of different classes. */
static size_t first_row(const written *file) { return file->has_header; }
static size_t last_row(const written *file) { return file->n_lines - 1; }

static void exchange(written *file, size_t a, size_t b, int index)
{
    char *x = take_cell(file->lines[a], index), *y = take_cell(file->lines[b], index);
    put_cell(file, a, index, y);
    put_cell(file, b, index, x);
    free(x);
    free(y);
}

static const char *drop_a_row(written *file, size_t *n)
{
    free(file->lines[--file->n_lines]);
    return NULL;
}
static const char *drop_all_rows(written *file, size_t *n)
{
    while (file->n_lines > file->has_header) free(file->lines[--file->n_lines]);
    return NULL;
}
static const char *repeat_a_row(written *file, size_t *n)
{
    file->lines[file->n_lines] = copy(file->lines[last_row(file)], strlen(file->lines[last_row(file)]));
    file->n_lines++;
    return NULL;
}
static const char *repeat_one_row_instead_of_another(written *file, size_t *n)
{
    size_t first = first_row(file);
    free(file->lines[first + 1]);
    file->lines[first + 1] = copy(file->lines[first], strlen(file->lines[first]));
    return NULL;
}
static const char *exchange_two_rows(written *file, size_t *n)
{
    char *line = file->lines[first_row(file)];
    file->lines[first_row(file)] = file->lines[last_row(file)];
    file->lines[last_row(file)] = line;
    return NULL;
}
static const char *exchange_sensitive_values(written *file, size_t *n)
{
    for (size_t a = first_row(file); a < file->n_lines; a++)
        for (size_t b = a + 1; b < file->n_lines; b++) {
            char *x = take_cell(file->lines[a], 2), *y = take_cell(file->lines[b], 2);
            bool differ = strcmp(x, y) != 0;
            free(x);
            free(y);
            if (!differ) continue;
            exchange(file, a, b, 2);
            return NULL;
        }
    fail_msg("all have one illness");
    return NULL;
}
static const char *exchange_qi_cells(written *file, size_t *n)
{
    exchange(file, first_row(file), last_row(file), 0);
    return NULL;
}
static const char *change_a_qi_cell(written *file, size_t *n)
{
    put_cell(file, first_row(file), 0, "17");
    return NULL;
}
static const char *widen_a_qi_cell(written *file, size_t *n)
{
    put_cell(file, first_row(file), 0, "0..99"); /* true, but another class of one */
    return NULL;
}
static const char *blank_before_a_qi_cell(written *file, size_t *n)
{
    char *cell = take_cell(file->lines[first_row(file)], 1), *blank;
    assert_true(asprintf(&blank, " %s", cell) > 0);
    put_cell(file, first_row(file), 1, blank);
    free(cell);
    free(blank);
    return NULL;
}
static const char *star_in_one_cell(written *file, size_t *n)
{
    put_cell(file, first_row(file), 1, "*"); /* true, but a class of one */
    return NULL;
}
static const char *change_a_sensitive_value(written *file, size_t *n)
{
    put_cell(file, first_row(file), 2, "plague");
    return NULL;
}
static const char *empty_a_sensitive_value(written *file, size_t *n)
{
    put_cell(file, last_row(file), 2, "");
    return NULL;
}
static const char *change_a_copied_value(written *file, size_t *n)
{
    put_cell(file, last_row(file), 3, "x");
    return NULL;
}
static const char *blank_after_a_copied_value(written *file, size_t *n)
{
    put_cell(file, last_row(file), 3, "h ");
    return NULL;
}
static const char *append_a_column(written *file, size_t *n)
{
    for (size_t i = 0; i < file->n_lines; i++) {
        char *old = file->lines[i];
        assert_true(asprintf(&file->lines[i], "%s,%s", old, i == 0 && file->has_header ? "name" : "Ann") > 0);
        free(old);
    }
    return NULL;
}
static const char *append_a_cell(written *file, size_t *n)
{
    char *old = file->lines[last_row(file)];
    assert_true(asprintf(&file->lines[last_row(file)], "%s,1", old) > 0);
    free(old);
    return NULL;
}
static const char *name_in_the_note(written *file, size_t *n)
{
    static const char *const names[] = {"Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal"};
    for (size_t i = first_row(file); i < file->n_lines; i++) {
        char *note = strchr(strchr(strchr(file->lines[i], ',') + 1, ',') + 1, ',') + 1, *old = file->lines[i];
        assert_true(asprintf(&file->lines[i], "%.*s%s", (int)(note - old), old, names[(i - first_row(file)) % 8]) > 0);
        free(old);
    }
    return NULL;
}
static const char *quasi_identifiers_as_they_were(written *file, size_t *n)
{
    put_cell(file, first_row(file), 0, "31");
    put_cell(file, first_row(file), 1, "1301");
    return NULL;
}
static const char *rename_a_column(written *file, size_t *n)
{
    if (!file->has_header) return drop_a_row(file, n);
    put_cell(file, 0, 3, "remark");
    return NULL;
}
static const char *identifier_s_name(written *file, size_t *n)
{
    if (!file->has_header) return drop_a_row(file, n);
    put_cell(file, 0, 3, "name");
    return NULL;
}
static const char *names_exchanged(written *file, size_t *n)
{
    if (!file->has_header) return drop_a_row(file, n);
    put_cell(file, 0, 0, "zip");
    put_cell(file, 0, 1, "age");
    return NULL;
}
static const char *header_lost(written *file, size_t *n)
{
    free(file->lines[0]);
    memmove(file->lines, file->lines + 1, --file->n_lines * sizeof *file->lines);
    return NULL;
}
static const char *nothing_left(written *file, size_t *n)
{
    *n = 0;
    return "";
}
static const char *binary(written *file, size_t *n)
{
    *n = 12;
    return "age,zip\0\xff\xfe\n\"";
}
static const char *open_quote(written *file, size_t *n)
{
    char *old = file->lines[last_row(file)];
    assert_true(asprintf(&file->lines[last_row(file)], "\"%s", old) > 0);
    free(old);
    return NULL;
}
static const char *truncated(written *file, size_t *n)
{
    char *line = file->lines[last_row(file)];
    line[strlen(line) / 2] = '\0';
    return NULL;
}

#define SPOILING(function)                                                                                             \
    {                                                                                                                  \
#function, function                                                                                            \
    }
static const spoiling SPOILINGS[] = {
    SPOILING(drop_a_row),
    SPOILING(drop_all_rows),
    SPOILING(repeat_a_row),
    SPOILING(repeat_one_row_instead_of_another),
    SPOILING(exchange_two_rows),
    SPOILING(exchange_sensitive_values),
    SPOILING(exchange_qi_cells),
    SPOILING(change_a_qi_cell),
    SPOILING(widen_a_qi_cell),
    SPOILING(blank_before_a_qi_cell),
    SPOILING(star_in_one_cell),
    SPOILING(change_a_sensitive_value),
    SPOILING(empty_a_sensitive_value),
    SPOILING(change_a_copied_value),
    SPOILING(blank_after_a_copied_value),
    SPOILING(append_a_column),
    SPOILING(append_a_cell),
    SPOILING(name_in_the_note),
    SPOILING(quasi_identifiers_as_they_were),
    SPOILING(rename_a_column),
    SPOILING(identifier_s_name),
    SPOILING(names_exchanged),
    SPOILING(header_lost),
    SPOILING(nothing_left),
    SPOILING(binary),
    SPOILING(open_quote),
    SPOILING(truncated),
};
enum { N_SPOILINGS = sizeof SPOILINGS / sizeof *SPOILINGS };

typedef struct spoiler {
    const spoiling *how;
    bool has_header, called;
} spoiler;

static void spoil_file(void *user, const char *path, const kn_batches *batches)
{
    spoiler *with = user;
    written file = {.has_header = with->has_header};
    size_t n_text;
    char *text = read_file(path, &n_text);
    kn_buffer changed = {0};
    size_t n_bytes = 0;
    with->called = true;
    for (char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        file.lines[file.n_lines++] = copy(line, strcspn(line, "\n"));
    const char *instead = with->how->spoil(&file, &n_bytes);
    for (size_t i = 0; i < file.n_lines; i++) {
        kn_buffer_printf(&changed, "%s\n", file.lines[i]);
        free(file.lines[i]);
    }
    if (instead == NULL && changed.n == n_text && memcmp(changed.bytes, text, n_text) == 0)
        fail_msg("%s changed nothing", with->how->what);
    write_file(path, instead != NULL ? instead : changed.bytes, instead != NULL ? n_bytes : changed.n);
    free(text);
    kn_buffer_free(&changed);
}

static void look_only(void *user, const char *path, const kn_batches *batches) { ((spoiler *)user)->called = true; }

static void a_file_that_was_spoiled_after_writing_does_not_take_its_place(void **state)
{
    static const char OLD[] = "the old release\n";
    for (int named = 0; named <= 1; named++) {
        const char *const *options = named ? NAMED : UNNAMED;
        const char *data = named ? PEOPLE : strchr(PEOPLE, '\n') + 1;
        write_file(data_path, data, strlen(data));
        for (size_t i = 0; i < N_SPOILINGS; i++) {
            spoiler with = {&SPOILINGS[i], named, false};
            kn_error message = {0};
            write_file(release_path, OLD, strlen(OLD));
            kn_status status = anonymize(options, spoil_file, &with, &message);
            assert_true(with.called);
            if (status != KN_NOT_MET || message.message[0] == '\0')
                fail_msg("%s: status %d: %s", SPOILINGS[i].what, status, message.message);
            char *left = read_file(release_path, NULL);
            assert_string_equal(left, OLD);
            free(left);
            assert_int_equal(files_in(folder), 2); /* nothing temporary */
        }
        spoiler none = {NULL, named, false};
        assert_ok(anonymize(options, look_only, &none, err));
        assert_true(none.called);
        char *made = read_file(release_path, NULL);
        assert_string_not_equal(made, OLD);
        free(made);
    }
}

/* --- What verification can count ------------------------------------------------------------------------------- */

static void every_model_of_the_registry_can_be_recounted(void **state)
{
    size_t n;
    const kn_privacy *const *models = kn_privacy_all(&n);
    for (size_t i = 0; i < n; i++) {
        kn_verify_model model = {models[i]->name, ""};
        assert_string_equal(kn_recount_model_name(&model), models[i]->name);
    }
}

/* --- Limits ---------------------------------------------------------------------------------------------------- */

static void a_percentage_of_rows_is_never_rounded_up(void **state)
{
    for (uint32_t n_rows = 0; n_rows <= 130; n_rows++)
        for (int tenths = 0; tenths <= 1000; tenths += 5) {
            char text[20];
            kn_settings *settings;
            kn_request *request;
            kn_table table = {.n_rows = n_rows};
            snprintf(text, sizeof text, "%d.%d%%", tenths / 10, tenths % 10);
            assert_ok(kn_settings_new(&settings, err));
            assert_ok(kn_settings_set(settings, "max-suppressed", text, err));
            assert_ok(kn_request_new(&request, settings, err));
            kn_input input = {.request = request, .table = &table};
            kn_input_suppression(&input);
            assert_int_equal(input.max_suppressed, (uint64_t)tenths * n_rows / 1000);
            kn_request_free(request);
            kn_settings_free(settings);
        }
}

static void one_row_more_than_the_limit_is_not_released(void **state)
{
    /* 25 rows, 3 of which nobody can be hidden with at the levels allowed */
    kn_buffer data = {0};
    kn_buffer_text(&data, "q,s\n");
    for (int i = 0; i < 22; i++) kn_buffer_text(&data, "a,x\n");
    kn_buffer_text(&data, "b,x\nc,x\nd,x\n");
    write_file(data_path, data.bytes, data.n);
    kn_buffer_free(&data);
    static const struct {
        const char *limit;
        kn_status expected;
    } cases[] = {{"max-suppressed=2", KN_NOT_MET},  {"max-suppressed=3", KN_OK},   {"max-suppressed=11.9%", KN_NOT_MET},
                 {"max-suppressed=8%", KN_NOT_MET}, {"max-suppressed=12%", KN_OK}, {"max-suppressed=15.9%", KN_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *options[] = {
            "qi=q",         "sensitive=s", "k=2", "hierarchy=q=suppress", "level=q=0..0", "algorithm=optimal",
            cases[i].limit, "threads=1",   NULL};
        kn_error message = {0};
        unlink(release_path);
        kn_status status = anonymize(options, NULL, NULL, &message);
        if (status != cases[i].expected) fail_msg("%s: status %d: %s", cases[i].limit, status, message.message);
        assert_int_equal(access(release_path, F_OK) == 0, status == KN_OK);
    }
}

/* --- Order and quotes ------------------------------------------------------------------------------------------ */

/* Many columns, so that a row's ranks are longer than a word. */
static void the_order_of_the_input_does_not_leave(void **state)
{
    enum { N_COLUMNS = 150, N_ROWS = 40 };
    kn_rng rng = kn_rng_new(3, 0);
    char rows[N_ROWS][2 * N_COLUMNS + 1];
    uint32_t order[N_ROWS];
    for (int i = 0; i < N_ROWS; i++) {
        order[i] = (uint32_t)i;
        for (int c = 0; c < N_COLUMNS; c++) {
            /* most columns are alike: what is first in a line has to decide, and what is last, too */
            bool varies = c < 4 || c >= N_COLUMNS - 3;
            int digit = c == 0 ? 0 : varies ? (int)kn_rng_below(&rng, 3) : c % 2 + (i % 8 == 0);
            rows[i][2 * c] = (char)('0' + digit);
            rows[i][2 * c + 1] = c + 1 < N_COLUMNS ? ',' : '\n';
        }
        rows[i][2 * N_COLUMNS] = '\0';
    }
    const char *options[] = {"qi=c0", "unlisted=insensitive", "k=2", "threads=1", NULL};
    kn_buffer expected = {0};
    for (int round = 0; round < 4; round++) {
        kn_buffer data = {0};
        for (int c = 0; c < N_COLUMNS; c++) kn_buffer_printf(&data, "c%d%c", c, c + 1 < N_COLUMNS ? ',' : '\n');
        for (int i = 0; i < N_ROWS; i++) kn_buffer_text(&data, rows[order[i]]);
        write_file(data_path, data.bytes, data.n);
        kn_buffer_free(&data);
        assert_ok(anonymize(options, NULL, NULL, err));
        size_t n_made;
        char *made = read_file(release_path, &n_made);
        const char *line = strchr(made, '\n') + 1; /* sorted by bytes, whatever came in */
        for (const char *next = strchr(line, '\n') + 1; *next != '\0'; line = next, next = strchr(next, '\n') + 1)
            assert_true(strncmp(line, next, 2 * N_COLUMNS) <= 0);
        if (round == 0) kn_buffer_append(&expected, made, n_made);
        assert_int_equal(n_made, expected.n);
        assert_memory_equal(made, expected.bytes, n_made);
        free(made);
        for (int i = N_ROWS - 1; i > 0; i--) {
            uint32_t j = kn_rng_below(&rng, (uint32_t)i + 1), row = order[i];
            order[i] = order[j];
            order[j] = row;
        }
    }
    kn_buffer_free(&expected);
}

/* Quasi-identifiers stand side by side and between copied columns; suppressed rows stay or go; cells are quoted. */
static void lines_stand_in_byte_order_whatever_the_roles(void **state)
{
    enum { MAX_COLUMNS = 7, N_ROWS = 60 };
    static const char *const words[] = {"a", "b", "\"c,d\"", "", "e f", "10", "9"};
    static const char *const ways[] = {"algorithm=mondrian", "algorithm=optimal", "algorithm=cluster"};
    kn_rng rng = kn_rng_new(8, 0);
    uint32_t n_released = 0;
    for (uint32_t round = 0; round < 60; round++) {
        const uint32_t n_columns = 2 + kn_rng_below(&rng, MAX_COLUMNS - 1);
        kn_buffer data = {0}, qis = {0};
        kn_buffer_text(&qis, "qi=c0");
        for (uint32_t c = 0; c < n_columns; c++) {
            kn_buffer_printf(&data, "%sc%u", c > 0 ? "," : "", c);
            if (c > 0 && kn_rng_below(&rng, 2) == 0) kn_buffer_printf(&qis, ",c%u", c);
        }
        for (uint32_t i = 0; i < N_ROWS; i++)
            for (uint32_t c = 0; c < n_columns; c++)
                kn_buffer_printf(&data, "%s%s", c > 0 ? "," : "\n", words[kn_rng_below(&rng, 2 + c % 6)]);
        kn_buffer_char(&data, '\n');
        write_file(data_path, data.bytes, data.n);
        const char *options[] = {
            qis.bytes,       "unlisted=insensitive", "k=3", round % 2 ? "max-suppressed=40%" : "max-suppressed=0",
            ways[round % 3], "effort=200",           NULL};
        kn_error message = {0};
        unlink(release_path);
        kn_status status = anonymize(options, NULL, NULL, &message);
        if (status != KN_OK && status != KN_NOT_MET) fail_msg("%s", message.message);
        if (status == KN_OK) {
            char *made = read_file(release_path, NULL), *line = strchr(made, '\n') + 1;
            for (char *next = strchr(line, '\n') + 1; *next != '\0'; line = next, next = strchr(next, '\n') + 1) {
                const size_t n = (size_t)(next - line), n_next = (size_t)(strchr(next, '\n') + 1 - next);
                assert_true(memcmp(line, next, n < n_next ? n : n_next) <= 0);
            }
            free(made);
            n_released++;
        }
        kn_buffer_free(&data);
        kn_buffer_free(&qis);
    }
    assert_true(n_released > 30);
}

/* Rows of a class look the same: as they are spelled where they agree, otherwise as most of the table spell it. */
static void a_class_keeps_its_spelling_where_its_rows_agree(void **state)
{
    static const char data[] = "q,r\n1.0,a\n1.0,a\n1,b\n1,b\n1,b\n1.00,c\n1.0,c\n2,d\n+2,d\n2,e\n2,e\n";
    static const char released[] = "q,r\n1,b\n1,b\n1,b\n1,c\n1,c\n1.0,a\n1.0,a\n2,d\n2,d\n2,e\n2,e\n";
    static const char *const options[] = {"qi=q,r", "k=2", "threads=1", NULL};
    write_file(data_path, data, sizeof data - 1);
    assert_ok(anonymize(options, NULL, NULL, err));
    char *made = read_file(release_path, NULL);
    assert_string_equal(made, released);
    free(made);
}

static void cells_that_a_reader_would_split_are_quoted(void **state)
{
    static const char data[] =
        "q,s\n1,\"a\rb\"\n1,\"\r\"\n1,\"a\nb\"\n1,\"a,b\"\n1,\"a\"\"b\"\n1,\"\"\"\"\n1,plain\n1, a b \n1,a;b\n";
    static const char released[] =
        "q,s\n1, a b \n1,\"\r\"\n1,\"\"\"\"\n1,\"a\nb\"\n1,\"a\rb\"\n1,\"a\"\"b\"\n1,\"a,b\"\n1,a;b\n1,plain\n";
    static const char *const options[] = {"qi=q", "sensitive=s", "k=2", "threads=1", NULL};
    write_file(data_path, data, sizeof data - 1);
    assert_ok(anonymize(options, NULL, NULL, err));
    char *made = read_file(release_path, NULL);
    assert_string_equal(made, released);
    free(made);
}

/* --- Jobs that must agree -------------------------------------------------------------------------------------- */

typedef kn_status (*job_fn)(kn_result **out, const kn_settings *settings, kn_error *err);

/* The JSON of a job, yours to json_decref; NULL when no release meets the models. */
static json_t *job(job_fn run, const char *const *options)
{
    kn_settings *settings;
    kn_result *result = NULL;
    kn_error message = {0};
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_set(settings, "data", data_path, err));
    for (; *options != NULL; options++) {
        char name[40];
        const char *equals = strchr(*options, '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        assert_ok(kn_settings_set(settings, name, equals + 1, err));
    }
    kn_status status = run(&result, settings, &message);
    if (status != KN_OK && status != KN_NOT_MET) fail_msg("status %d: %s", status, message.message);
    json_t *json = status == KN_OK ? json_loads(kn_result_json(result), 0, NULL) : NULL;
    assert_true((json != NULL) == (status == KN_OK));
    kn_result_free(result);
    kn_settings_free(settings);
    return json;
}

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL) fail_msg("the JSON has no '%s'", key);
    return json_is_null(value) ? NAN : json_number_value(value);
}

static bool near(double a, double b) { return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (1 + fabs(a)); }

/* Two quasi-identifiers whose top is not *, and two sensitive columns. */
static void write_random_people(kn_rng *rng, uint32_t n_rows)
{
    static const char *const towns[] = {"Aachen", "Bonn", "Celle", "Dachau", "Essen"}, *const ills[] = {"ab", "a",
                                                                                                        "aab"};
    kn_buffer data = {0};
    kn_buffer_text(&data, "age,town,ill,pay\n");
    for (uint32_t row = 0; row < n_rows; row++) {
        if (kn_rng_below(rng, 9) != 0) kn_buffer_printf(&data, "%u", 20 + kn_rng_below(rng, 8));
        kn_buffer_printf(&data, ",%s,%s,%u\n", towns[kn_rng_below(rng, 1 + kn_rng_below(rng, 5))],
                         ills[kn_rng_below(rng, 3)], kn_rng_below(rng, 4));
    }
    write_file(data_path, data.bytes, data.n);
    kn_buffer_free(&data);
    char towns_path[300];
    snprintf(towns_path, sizeof towns_path, "%s/towns.csv", folder);
    static const char tree[] = "Aachen;west;all\nBonn;west;all\nCelle;north;all\nDachau;south;all\nEssen;west;all\n";
    write_file(towns_path, tree, sizeof tree - 1);
}

static void a_release_measured_from_its_files_costs_what_its_run_says(void **state)
{
    static const char *const algorithms[] = {"algorithm=mondrian", "algorithm=optimal", "algorithm=cluster",
                                             "algorithm=hilbert"};
    kn_rng rng = kn_rng_new(5, 0);
    int n_released = 0, n_suppressed = 0, n_removed = 0;
    char towns[320], output[320], release[320];
    snprintf(towns, sizeof towns, "hierarchy=town=%s/towns.csv", folder);
    snprintf(output, sizeof output, "output=%s", release_path);
    snprintf(release, sizeof release, "release=%s", release_path);
    for (int round = 0; round < 80; round++) {
        char limit[40], k[10];
        uint32_t n_rows = 5 + kn_rng_below(&rng, 60);
        write_random_people(&rng, n_rows);
        snprintf(limit, sizeof limit, "max-suppressed=%u",
                 kn_rng_below(&rng, 3) == 0 ? 0 : 1 + kn_rng_below(&rng, n_rows));
        snprintf(k, sizeof k, "k=%u", 2 + kn_rng_below(&rng, 4));
        const char *algorithm = algorithms[round % 4];
        bool levels = round % 4 == 1;
        const char *options[] = {"qi=age,town", "sensitive=ill,pay",
                                 "threads=1",   towns,
                                 limit,         levels ? "hierarchy=age=intervals(2,4)" : "missing=value",
                                 output,        k,
                                 algorithm,     round % 3 == 0 ? "model=l-diversity:column=ill,l=2" : "seed=1",
                                 NULL};
        json_t *run = job(kn_anonymize, options);
        if (run == NULL) continue;
        const char *again[] = {"qi=age,town", "sensitive=ill,pay", "threads=1", towns,
                               limit,         options[5],          release,     NULL};
        json_t *measured = job(kn_measure_files, again);
        const json_t *suppressed = json_object_get(run, "suppressed");
        const json_t *losses = json_object_get(run, "loss"), *found = json_object_get(measured, "loss");
        assert_int_equal(json_object_size(losses), json_object_size(found));
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)losses, name, value)
        {
            if (!near(number_at(losses, name), number_at(found, name)))
                fail_msg("round %d: %s is %.12g in the run, %.12g in the files", round, name, number_at(losses, name),
                         number_at(found, name));
        }
        assert_true(number_at(json_object_get(run, "classes"), "count") == number_at(measured, "classes"));
        n_released++;
        n_suppressed += number_at(suppressed, "rows") > number_at(suppressed, "removed");
        n_removed += number_at(suppressed, "removed") > 0;
        json_decref(run);
        json_decref(measured);
    }
    assert_true(n_released > 40 && n_suppressed > 3 && n_removed > 3);
    char towns_path[300];
    snprintf(towns_path, sizeof towns_path, "%s/towns.csv", folder);
    unlink(towns_path);
}

/* --- Profile --------------------------------------------------------------------------------------------------- */

/* What is said of a column of which each row has `cell(row)`. */
static void assert_guess(const char *name, const char *(*cell)(uint32_t row), uint32_t n_rows, const char *role,
                         const char *hierarchy)
{
    kn_buffer data = {0};
    kn_buffer_printf(&data, "%s,other\n", name);
    for (uint32_t row = 0; row < n_rows; row++) kn_buffer_printf(&data, "%s,%u\n", cell(row), row % 2);
    write_file(data_path, data.bytes, data.n);
    kn_buffer_free(&data);
    char output[320];
    snprintf(output, sizeof output, "output=%s", release_path);
    const char *options[] = {"threads=1", "force=yes", output, NULL};
    json_t *json = job(kn_profile, options);
    const json_t *column = json_array_get(json_object_get(json, "columns"), 0);
    const char *said = json_string_value(json_object_get(column, "role")),
               *spec = json_string_value(json_object_get(column, "hierarchy"));
    if (json_object_get(column, "grid") != NULL) spec = json_string_value(json_object_get(column, "grid"));
    if (strcmp(said, role) != 0 || strcmp(spec, hierarchy) != 0)
        fail_msg("%s, %u rows: %s, '%s' instead of %s, '%s'", name, n_rows, said, spec, role, hierarchy);
    json_decref(json);
}

static char cell_text[60];
static uint32_t spread; /* of number_cell */
static const char *few_cell(uint32_t row) { return row % 2 == 0 ? "x" : "y"; }
static const char *same_cell(uint32_t row) { return "x"; }
static const char *text_cell(uint32_t row) { return snprintf(cell_text, sizeof cell_text, "v%u v", row), cell_text; }
static const char *twice_cell(uint32_t row) { return text_cell(row / 2); }
static const char *decimal_cell(uint32_t row) { return snprintf(cell_text, sizeof cell_text, "%u.5", row), cell_text; }
static const char *code_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "A%03u", row % 25), cell_text;
}
static const char *code_or_nothing(uint32_t row) { return row % 5 == 0 ? "" : code_cell(row); }
static const char *dashed_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "A-%02u", row % 25), cell_text;
}
static const char *ragged_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "A%u", 95 + row % 25), cell_text;
}
static const char *short_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%c%c", 'a' + row % 5, 'a' + row / 5 % 5), cell_text;
}
static const char *long_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "A%012u", row % 25), cell_text;
}
static const char *twelve_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "A%011u", row % 25), cell_text;
}
static const char *nineteen_codes(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "A%03u", row % 19), cell_text;
}
static const char *date_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "2024-01-%02u", 1 + row % 20), cell_text;
}
static const char *number_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", row % 11 * spread / 10), cell_text;
}
static const char *number_or_nothing(uint32_t row) { return row % 12 == 11 ? "" : number_cell(row); }
static const char *ten_numbers(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", row % 10 * 100), cell_text;
}

static const char *nine_in_ten(uint32_t row) { return text_cell(row < 6 ? 0 : row); }
static const char *nearly_nine_in_ten(uint32_t row) { return text_cell(row < 8 ? 0 : row); }
static const char *birth_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", 19640101 + row % 28 + row / 28 * 100), cell_text;
}
static const char *postcode_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "0%u", 1067 + row), cell_text;
}
static const char *counted_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", 17 + row), cell_text;
}
static const char *squared_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", row * row), cell_text;
}

static const char *pattern; /* of pattern_cell: printf's, with one number */
static const char *pattern_cell(uint32_t row)
{
    static char text[200];
    return snprintf(text, sizeof text, pattern, 10 + row % 40), text;
}

static void cells_that_point_at_people_are_known_by_their_form(void **state)
{
    static const struct {
        const char *pattern, *role, *spec;
    } forms[] = {{"anna%u@mail.example", "identifier", ""},
                 {"anna%u at mail.example", "quasi", "similar"},
                 {"https://example.org/%u", "identifier", ""},
                 {"192.168.0.%u", "identifier", ""},
                 {"1.2.3.%u", "identifier", ""},
                 {"x92.168.0.%u", "quasi", "mask(right)"},
                 {"fe80::1:2:3:4:%x", "identifier", ""},
                 {"1.2.%u", "quasi", "mask(right)"},
                 {"31.1.%u", "quasi", "mask(left)"}, /* a day, a month, a year */
                 {"2/13/%u", "quasi", "mask(left)"},
                 {"02/19%u", "quasi", "mask(left)"},
                 {"1207%u19", "quasi", ""},
                 {"051119%u", "quasi", "mask(left)"},
                 {"231119%u", "quasi", ""}, /* whole numbers as long as no cell begins with 0 */
                 {"+49 89 1234%u", "identifier", ""},
                 {"(089) 1234%u", "identifier", ""},
                 {"555-867-53%u", "identifier", ""},
                 {"555-12-%u", "identifier", ""}, /* seven digits at least, fifteen at most */
                 {"55-12-%u", "quasi", "mask(right)"},
                 {"+49 12345 67890 1%u", "identifier", ""},
                 {"+49 12345 67890 12%u", "quasi", "similar"},
                 {"10%u-2000", "quasi", "similar"},
                 {"999-76-68%u", "identifier", ""},
                 {"3f2504e0-4f89-11d3-9a0c-0305e82c33%u", "identifier", ""},
                 {"RSSMRA80A01H5%uZ", "identifier", ""},
                 {"\"48.13%u, 11.57\"", "identifier", ""},
                 {"%u.5", "quasi", ""},
                 {"Seen on the ward with a cough by the nurse %u and sent home", "identifier", ""},
                 {"a longer label of some class %u", "quasi", "similar"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        pattern = forms[i].pattern;
        assert_guess("thing", pattern_cell, 120, forms[i].role, forms[i].spec);
    }
    pattern = "DE893704004405320130%u"; /* of 40 such numbers one has the right check digits */
    assert_guess("thing", pattern_cell, 120, "quasi", "similar");
    pattern = "DE89370400440532013000";
    assert_guess("thing", pattern_cell, 1, "identifier", "");
}

static void roles_are_guessed_from_names_and_contents(void **state)
{
    static const struct {
        const char *name, *role;
    } names[] = {{"id", "identifier"},
                 {"ID", "identifier"},
                 {"Nr", "identifier"},
                 {"uuid", "identifier"},
                 {"case_id", "identifier"},
                 {"case_NR", "identifier"},
                 {"caseId", "identifier"},
                 {"caseID", "identifier"},
                 {"paid", "quasi"},
                 {"_id", "quasi"},
                 {"Id", "identifier"},
                 {"diagnosis", "sensitive"},
                 {"main_diagnosis", "sensitive"},
                 {"maindiagnosis", "sensitive"},
                 {"hiv", "sensitive"},
                 {"shiva", "quasi"},
                 {"hiv_test", "sensitive"},
                 {"my-hiv", "sensitive"},
                 {"surname", "identifier"},
                 {"E-Mail", "identifier"},
                 {"age", "quasi"},
                 {"damage", "quasi"},
                 {"zip", "quasi"},
                 {"party", "sensitive"},
                 {"FIRST", "identifier"},
                 {"LAST", "identifier"},
                 {"first_visit", "quasi"},
                 {"MAIDEN", "identifier"},
                 {"DRIVERS", "identifier"},
                 {"MRN", "identifier"},
                 {"nom", "identifier"},
                 {"denominator", "quasi"},
                 {"pr\xc3\xa9nom", "identifier"},
                 {"Pr\xc3\x89NOM", "identifier"},
                 {"cognome", "identifier"},
                 {"apellidos", "identifier"},
                 {"Nachname", "identifier"},
                 {"Stra\xc3\x9f"
                  "e",
                  "identifier"},
                 {"customerName", "identifier"},
                 {"country_name", "quasi"},
                 {"drug_name", "sensitive"},
                 {"ip", "identifier"},
                 {"ship", "quasi"},
                 {"lat", "identifier"},
                 {"lng", "identifier"},
                 {"LON", "identifier"},
                 {"plate", "identifier"},
                 {"medical_record_number", "identifier"},
                 {"edad", "quasi"},
                 {"comments", "identifier"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_guess(names[i].name, few_cell, 30, names[i].role, "");
    assert_guess("thing", few_cell, 30, "quasi", "");
    assert_guess("thing", same_cell, 30, "insensitive", "");
    assert_guess("thing", text_cell, 50, "identifier", "");
    assert_guess("thing", text_cell, 49, "quasi", "similar");
    assert_guess("thing", nine_in_ten, 60, "identifier", ""); /* 54 of 60 */
    assert_guess("thing", nearly_nine_in_ten, 60, "quasi", "similar");
    assert_guess("telephone", few_cell, 50, "quasi", ""); /* has one or not */
    assert_guess("thing", birth_cell, 60, "quasi", "day");
    assert_guess("thing", postcode_cell, 60, "quasi", "mask(right)");
    assert_guess("thing", counted_cell, 60, "identifier", "");
    assert_guess("thing", squared_cell, 60, "quasi", "");
    assert_guess("thing", twice_cell, 40, "quasi", "similar");
    assert_guess("thing", decimal_cell, 40, "quasi", "");
    assert_guess("thing", code_cell, 50, "quasi", "mask(right)");
    assert_guess("thing", code_or_nothing, 50, "quasi", "mask(right)");
    assert_guess("thing", dashed_cell, 50, "quasi", "mask(right)");
    assert_guess("thing", ragged_cell, 50, "quasi", "similar");
    assert_guess("thing", short_cell, 50, "quasi", "similar");
    assert_guess("thing", long_cell, 50, "quasi", "mask(right)");
    assert_guess("thing", twelve_cell, 50, "quasi", "mask(right)");
    assert_guess("thing", nineteen_codes, 50, "quasi", "mask(right)");
    assert_guess("thing", date_cell, 60, "quasi", "day");
    assert_guess("thing", ten_numbers, 60, "quasi", "");
}

/* Rows that nobody shares in the columns of a set, counted by comparing all pairs. */
static void the_profile_counts_whom_a_set_of_columns_singles_out(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    char output[320];
    snprintf(output, sizeof output, "output=%s", release_path);
    const char *options[] = {"threads=1", "force=yes", output, NULL};
    for (int round = 0; round < 10; round++) {
        enum { N_COLUMNS = 4, N_ROWS = 18 };
        int cells[N_ROWS][N_COLUMNS];
        kn_buffer data = {0};
        kn_buffer_text(&data, "a1,b2,c3,d4\n");
        for (int row = 0; row < N_ROWS; row++)
            for (int c = 0; c < N_COLUMNS; c++) {
                cells[row][c] = (int)kn_rng_below(&rng, 2 + (uint32_t)c);
                kn_buffer_printf(&data, "%d%c", cells[row][c], c + 1 < N_COLUMNS ? ',' : '\n');
            }
        write_file(data_path, data.bytes, data.n);
        kn_buffer_free(&data);
        json_t *json = job(kn_profile, options);
        const json_t *sets = json_object_get(json, "column_sets");
        assert_int_equal(json_array_size(sets), 14); /* one, two or three of four */
        unsigned seen = 0;
        for (size_t s = 0; s < json_array_size(sets); s++) {
            const json_t *names = json_object_get(json_array_get(sets, s), "columns");
            unsigned chosen = 0, n_unique = 0;
            for (size_t i = 0; i < json_array_size(names); i++)
                chosen |= 1u << (json_string_value(json_array_get(names, i))[0] - 'a');
            assert_int_equal((size_t)__builtin_popcount(chosen), json_array_size(names));
            assert_false(seen >> chosen & 1);
            seen |= 1u << chosen;
            for (int a = 0; a < N_ROWS; a++) {
                bool alone = true;
                for (int b = 0; b < N_ROWS; b++) {
                    bool same = a != b;
                    for (int c = 0; c < N_COLUMNS; c++)
                        if ((chosen >> c & 1) != 0) same &= cells[a][c] == cells[b][c];
                    alone &= !same;
                }
                n_unique += alone;
            }
            assert_true(number_at(json_array_get(sets, s), "unique") == n_unique);
        }
        json_decref(json);
    }
}

/* --- Derived columns -------------------------------------------------------------------------------------------- */

typedef struct moment {
    int year, month, day, minute; /* minute of the day */
} moment;

static moment random_moment(kn_rng *rng)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    moment m = {1896 + (int)kn_rng_below(rng, 130), 1 + (int)kn_rng_below(rng, 12), 0, (int)kn_rng_below(rng, 1440)};
    bool leap = m.year % 4 == 0 && (m.year % 100 != 0 || m.year % 400 == 0);
    int n = lengths[m.month - 1] + (m.month == 2 && leap);
    m.day = kn_rng_below(rng, 3) == 0 ? n : 1 + (int)kn_rng_below(rng, (uint32_t)n); /* ends of months often */
    return m;
}

static long long minutes_of(moment m)
{
    struct tm parts = {.tm_year = m.year - 1900, .tm_mon = m.month - 1, .tm_mday = m.day, .tm_min = m.minute};
    return (long long)timegm(&parts) / 60;
}

/* Is the day of `m`, so many months later, reached on the day of `now`? */
static bool is_reached(moment m, int months, moment now)
{
    int month = m.year * 12 + m.month - 1 + months, there = now.year * 12 + now.month - 1;
    return month < there || (month == there && m.day <= now.day);
}

/* One by one, forwards or backwards. */
static int months_by_counting(moment from, moment to)
{
    int months = 0;
    while (is_reached(from, months + 1, to)) months++;
    while (!is_reached(from, months, to)) months--;
    return months;
}

static long long rounded_down(long long n, long long unit)
{
    while (n % unit != 0) n--;
    return n / unit;
}

static const char *const UNITS[] = {"years", "months", "weeks", "days", "hours", "minutes"};

static long long units_by_counting(int unit, moment from, moment to)
{
    const long long minutes = minutes_of(to) - minutes_of(from);
    from.minute = to.minute = 0;
    const long long days = (minutes_of(to) - minutes_of(from)) / 1440;
    switch (unit) {
    case 0: return rounded_down(months_by_counting(from, to), 12);
    case 1: return months_by_counting(from, to);
    case 2: return rounded_down(days, 7);
    case 3: return days;
    case 4: return rounded_down(minutes, 60);
    default: return minutes;
    }
}

static void put_moment(kn_buffer *out, moment m, int form)
{
    if (form == 0) kn_buffer_printf(out, "%04d-%02d-%02d", m.year, m.month, m.day);
    else if (form == 1) kn_buffer_printf(out, "%d.%d.%04d", m.day, m.month, m.year);
    else if (form == 2) kn_buffer_printf(out, "%02d/%02d/%04d", m.month, m.day, m.year);
    else kn_buffer_printf(out, "%04d-%02d-%02dT%02d:%02d", m.year, m.month, m.day, m.minute / 60, m.minute % 60);
}

/* The first cell that was computed becomes another number. */
static void change_a_derived_cell(void *user, const char *path, const kn_batches *batches)
{
    size_t n;
    char *text = read_file(path, &n), *end = strchr(text, '\n');
    do end = strchr(end + 1, '\n');
    while (end[-1] == ',');
    end[-1] = end[-1] == '9' ? '8' : (char)(end[-1] + 1);
    write_file(path, text, n);
    free(text);
}

/* Both computations, the source's and verify's, against counting; the release would be refused where they differ. */
static void a_derived_column_counts_what_passed_between_two_dates(void **state)
{
    enum { N_ROWS = 40 };
    kn_rng rng = kn_rng_new(4, 0);
    for (int round = 0; round < 60; round++) {
        const int unit = round % 6, form = unit >= 4 ? 3 : round / 6 % 4;
        kn_buffer data = {0}, expected = {0};
        char derive[60];
        kn_error message = {0};
        kn_buffer_text(&data, "sex,from,to\n");
        kn_buffer_text(&expected, "sex,passed\n");
        for (int row = 0; row < N_ROWS; row++) {
            moment from = random_moment(&rng), to = random_moment(&rng);
            const bool no_from = kn_rng_below(&rng, 12) == 0, no_to = kn_rng_below(&rng, 12) == 0;
            kn_buffer_text(&data, "F,");
            if (!no_from) put_moment(&data, from, form);
            kn_buffer_char(&data, ',');
            if (!no_to) put_moment(&data, to, form);
            kn_buffer_char(&data, '\n');
            kn_buffer_text(&expected, "F,");
            if (form != 3) from.minute = to.minute = 0;
            if (!no_from && !no_to) kn_buffer_printf(&expected, "%lld", units_by_counting(unit, from, to));
            kn_buffer_char(&expected, '\n');
        }
        write_file(data_path, data.bytes, data.n);
        snprintf(derive, sizeof derive, "derive=passed=%s(from, to)", UNITS[unit]);
        const char *options[] = {"qi=sex", "insensitive=passed", "identifier=from,to", derive, "k=2", "order=input",
                                 NULL};
        kn_status status = anonymize(options, NULL, NULL, &message);
        if (status != KN_OK) fail_msg("%s, form %d: %s", UNITS[unit], form, message.message);
        size_t n;
        char *text = read_file(release_path, &n);
        assert_int_equal(n, expected.n);
        assert_memory_equal(text, expected.bytes, n);
        free(text);
        assert_int_equal(anonymize(options, change_a_derived_cell, NULL, &message), KN_NOT_MET);
        kn_buffer_free(&data);
        kn_buffer_free(&expected);
    }
}

/* Whether all rows as one class meet what is proposed for values with these counts, by the definitions. The last value
 * is the most frequent one. */
static bool whole_table_meets(const char *name, const char *params, const int *counts, int n_values)
{
    double n = 0, entropy = 0, others = 0;
    int least = 0;
    double limit = 0;
    for (int v = 0; v < n_values; v++) n += counts[v];
    for (int v = 0; v < n_values; v++) entropy -= counts[v] / n * log2(counts[v] / n);
    for (int v = 0; v + 1 < n_values; v++) others += counts[v];
    if (strcmp(name, "t-closeness") == 0) return true; /* it is the table itself */
    if (sscanf(params, "kind=distinct,l=%d", &least) == 1) return n_values >= least;
    if (sscanf(params, "kind=entropy,l=%lf", &limit) == 1) return entropy >= log2(limit);
    if (sscanf(params, "kind=recursive,l=2,c=%lf", &limit) == 1) return counts[n_values - 1] < limit * others;
    if (sscanf(params, "alpha=%lf", &limit) == 1) {
        const double most =
            counts[n_values - 1] > 0.5 * n && limit == 0.5 ? counts[n_values - 2] : counts[n_values - 1];
        return most <= limit * n; /* with a half, the most frequent value is not protected */
    }
    fail_msg("%s %s is no model that is proposed", name, params);
    return false;
}

static kn_status follow_policy(const char *path, kn_error *message)
{
    kn_settings *settings;
    kn_result *result = NULL;
    char output[320];
    snprintf(output, sizeof output, "%s.out", release_path);
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_load(settings, path, err));
    assert_ok(kn_settings_set(settings, "data", data_path, err));
    assert_ok(kn_settings_set(settings, "output", output, err));
    assert_ok(kn_settings_set(settings, "algorithm", "mondrian", err));
    assert_ok(kn_settings_set(settings, "max-suppressed", "0", err));
    kn_status status = kn_anonymize(&result, settings, message);
    kn_result_free(result);
    kn_settings_free(settings);
    unlink(output);
    return status;
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Columns of every skewness, of words, numbers and missing cells: a release under the proposed policy exists, and the
 * proposal says so itself. */
static void a_proposed_model_can_be_met(void **state)
{
    static const char *const recipients[] = {"public", "contract", "internal"};
    static const int ks[] = {11, 5, 3};
    kn_rng rng = kn_rng_new(19, 0);
    char output[320], recipient[40];
    unsigned n_seen = 0;
    snprintf(output, sizeof output, "output=%s", release_path);
    for (int round = 0; round < 300; round++) {
        int counts[14], n_rows = 0;
        const int n_values = 1 + (int)kn_rng_below(&rng, 14), who = round % 3;
        const char *const form = round % 2 == 0 ? "v,%d" : "%d";
        for (int v = 0; v < n_values; v++) counts[v] = 1 + (int)kn_rng_below(&rng, 4);
        if (kn_rng_below(&rng, 2) == 0) counts[n_values - 1] = 4 + (int)kn_rng_below(&rng, 120);
        else counts[n_values - 1] = 5;
        qsort(counts, (size_t)n_values, sizeof *counts, by_number);
        kn_buffer data = {0};
        kn_buffer_text(&data, "age,diagnosis\n");
        for (int v = 0; v < n_values; v++)
            for (int i = 0; i < counts[v]; i++, n_rows++) {
                kn_buffer_printf(&data, "%d,\"", 20 + n_rows * 7 % 50);
                if (v != 1) kn_buffer_printf(&data, form, v); /* one of them is missing */
                kn_buffer_text(&data, "\"\n");
            }
        write_file(data_path, data.bytes, data.n);
        kn_buffer_free(&data);
        snprintf(recipient, sizeof recipient, "recipient=%s", recipients[who]);
        const char *options[] = {"threads=1", output, "force=yes", recipient, round % 5 == 0 ? "redact=yes" : NULL,
                                 NULL};
        json_t *json = job(kn_profile, options);
        assert_true(number_at(json, "k") == ks[who]);
        const json_t *model = json_object_get(json_array_get(json_object_get(json, "columns"), 1), "model");
        const char *name = json_string_value(json_object_get(model, "name"));
        assert_non_null(json_object_get(model, "reason"));
        assert_true((name == NULL) == (n_values == 1));
        if (name != NULL) {
            const char *params = json_string_value(json_object_get(model, "params"));
            if (!whole_table_meets(name, params, counts, n_values)) fail_msg("round %d: %s %s", round, name, params);
            n_seen |= 1u << (params[0] % 32);
        }
        json_decref(json);
        kn_error message = {0};
        kn_status status = follow_policy(release_path, &message);
        if (status != (n_rows < ks[who] ? KN_NOT_MET : KN_OK)) fail_msg("round %d: %s", round, message.message);
    }
    assert_int_equal(__builtin_popcount(n_seen), 3); /* shares, closeness and kinds of diversity */
}

static const char *year_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u-05-17", 1920 + row), cell_text;
}
static const char *zeroless_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", row % 40 * 999 + 1), cell_text;
}
static const char *zip_cell(uint32_t row)
{
    return snprintf(cell_text, sizeof cell_text, "%u", 10000 + row % 40), cell_text;
}

static void generalizations_are_guessed_from_names_and_spread(void **state)
{
    spread = 100;
    assert_guess("thing", number_cell, 66, "quasi", ""); /* the grid that it has anyway */
    assert_guess("age", number_cell, 66, "quasi", "5");
    assert_guess("age", number_or_nothing, 72, "quasi", "5");
    spread = 1000;
    assert_guess("age", number_cell, 66, "quasi", ""); /* nobody is that old */
    assert_guess("born", year_cell, 100, "quasi", "year");
    assert_guess("zip", zip_cell, 80, "quasi", "mask(right)");
    assert_guess("thing", zip_cell, 80, "quasi", "");
    assert_guess("zip", zeroless_cell, 80, "quasi", "intervals(10,100,1000,10000)");
}

/* --- What travels with a release ------------------------------------------------------------------------------- */

static const char *const COLUMNS[] = {"age", "town", "ill", "pay"};

/* Cells of one column of a file without quotes: `visit` gets each of them. */
static void each_cell(const char *path, int column, void (*visit)(void *user, const char *cell), void *user)
{
    char *text = read_file(path, NULL);
    for (char *line = strchr(text, '\n') + 1, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        for (int c = 0; c < column; c++) line = strchr(line, ',') + 1;
        line[strcspn(line, ",")] = '\0';
        visit(user, line);
    }
    free(text);
}

typedef struct cell_set {
    char cells[100][40];
    size_t n;
} cell_set;

static bool has_cell(const cell_set *set, const char *cell)
{
    for (size_t i = 0; i < set->n; i++)
        if (strcmp(set->cells[i], cell) == 0) return true;
    return false;
}

static void add_cell(void *user, const char *cell)
{
    cell_set *set = user;
    if (has_cell(set, cell)) return;
    assert_true(set->n < 100);
    snprintf(set->cells[set->n++], sizeof set->cells[0], "%s", cell);
}

static void the_schema_says_of_the_release_what_its_cells_say(void **state)
{
    static const struct {
        const char *label;
        int level, values;
    } towns_tree[] = {{"west", 1, 3}, {"north", 1, 1}, {"south", 1, 1}, {"all", 2, 5}};
    static const char *const roles[] = {"quasi", "quasi", "sensitive", "insensitive"};
    kn_rng rng = kn_rng_new(6, 0);
    char towns[320], output[320], schema[320], schema_path[300];
    int n_nullable = 0, n_generalized = 0, n_plain = 0, n_labels = 0;
    snprintf(towns, sizeof towns, "hierarchy=town=%s/towns.csv", folder);
    snprintf(output, sizeof output, "output=%s", release_path);
    snprintf(schema_path, sizeof schema_path, "%s/schema.json", folder);
    snprintf(schema, sizeof schema, "schema=%s", schema_path);
    for (int round = 0; round < 60; round++) {
        char k[10], limit[40];
        uint32_t n_rows = 4 + kn_rng_below(&rng, 30);
        write_random_people(&rng, n_rows);
        snprintf(k, sizeof k, "k=%u", 1 + kn_rng_below(&rng, 3));
        snprintf(limit, sizeof limit, "max-suppressed=%u", kn_rng_below(&rng, 6));
        bool levels = round % 2 == 0;
        const char *options[] = {"qi=age,town",
                                 "sensitive=ill",
                                 "insensitive=pay",
                                 "threads=1",
                                 towns,
                                 output,
                                 schema,
                                 k,
                                 limit,
                                 levels ? "algorithm=optimal" : "algorithm=mondrian",
                                 levels ? "hierarchy=age=intervals(2,4)" : "seed=1",
                                 NULL};
        json_t *run = job(kn_anonymize, options);
        if (run == NULL) continue;
        json_decref(run);
        json_t *said = json_load_file(schema_path, 0, NULL);
        const json_t *columns = json_object_get(said, "columns");
        assert_int_equal(json_array_size(columns), 4);
        for (int c = 0; c < 4; c++) {
            cell_set before = {.n = 0}, after = {.n = 0};
            const json_t *column = json_array_get(columns, (size_t)c);
            each_cell(data_path, c, add_cell, &before);
            each_cell(release_path, c, add_cell, &after);
            bool generalized = false;
            for (size_t i = 0; i < after.n; i++) generalized |= !has_cell(&before, after.cells[i]);
            assert_string_equal(json_string_value(json_object_get(column, "name")), COLUMNS[c]);
            assert_string_equal(json_string_value(json_object_get(column, "role")), roles[c]);
            assert_int_equal(json_is_true(json_object_get(column, "nullable")), has_cell(&after, ""));
            bool number = c == 0 || c == 3;
            assert_string_equal(json_string_value(json_object_get(column, "type")),
                                number && !generalized ? "int" : "text");
            n_nullable += has_cell(&after, "");
            if (c > 1) continue;
            assert_int_equal(json_is_true(json_object_get(column, "generalized")), generalized);
            assert_string_equal(json_string_value(json_object_get(column, "original_type")), number ? "int" : "text");
            n_generalized += generalized;
            n_plain += !generalized;
            if (c == 0) continue;
            const json_t *labels = json_object_get(column, "labels");
            size_t n_seen = 0;
            for (size_t i = 0; i < sizeof towns_tree / sizeof *towns_tree; i++)
                n_seen += has_cell(&after, towns_tree[i].label);
            assert_int_equal(json_array_size(labels), n_seen);
            for (size_t i = 0; i < n_seen; i++) {
                const json_t *label = json_array_get(labels, i);
                const char *name = json_string_value(json_object_get(label, "label"));
                size_t at = 0;
                while (strcmp(towns_tree[at].label, name) != 0) at++;
                assert_true(has_cell(&after, name));
                assert_true(number_at(label, "level") == towns_tree[at].level);
                assert_true(number_at(label, "values") == towns_tree[at].values);
                n_labels++;
            }
        }
        json_decref(said);
    }
    assert_true(n_nullable > 5 && n_generalized > 5 && n_plain > 5 && n_labels > 5);
    unlink(schema_path);
    char towns_path[300];
    snprintf(towns_path, sizeof towns_path, "%s/towns.csv", folder);
    unlink(towns_path);
}

/* Each target in turn becomes a folder before it could take its place. Who finds a new release finds all that belongs
 * to it: the release is the last. */
static void outputs_take_their_places_in_order_and_the_release_last(void **state)
{
    static const char *const order[] = {"schema", "json", "report", "output"};
    char paths[4][300], expected[2048];
    for (size_t i = 0; i < 4; i++) snprintf(paths[i], sizeof paths[i], "%s/%s", folder, order[i]);
    for (size_t failing = 0; failing < 4; failing++) {
        kn_settings *settings = NULL;
        kn_request *request = NULL;
        kn_files *files = NULL;
        kn_targets *targets = NULL;
        kn_error failure = {0};
        assert_ok(kn_settings_new(&settings, err));
        for (size_t i = 0; i < 4; i++) assert_ok(kn_settings_set(settings, order[i], paths[i], err));
        assert_ok(kn_files_new(&files, NULL, err));
        assert_ok(kn_request_new(&request, settings, err));
        assert_ok(kn_targets_new(&targets, request, files, KN_OUTPUT_STDOUT, err));
        for (size_t i = 4; i-- > 0;) assert_ok(kn_targets_text(targets, order[i], "new", err));
        assert_int_equal(mkdir(paths[failing], 0700), 0);
        assert_int_equal(kn_targets_commit(targets, NULL, &failure), KN_INPUT);
        size_t n = (size_t)snprintf(expected, sizeof expected, "%s: cannot be replaced: Is a directory; %s",
                                    paths[failing], failing == 0 ? "nothing was changed" : "written already:");
        for (size_t i = 0; failing > 0 && i < 4; i++)
            n += (size_t)snprintf(expected + n, sizeof expected - n, "%s %s",
                                  i == failing ? "; as it was:"
                                  : i == 0     ? ""
                                               : ",",
                                  paths[i]);
        assert_string_equal(failure.message, expected);
        for (size_t i = 0; i < 4; i++) {
            if (i == failing) assert_int_equal(rmdir(paths[i]), 0);
            else assert_int_equal(unlink(paths[i]), i < failing ? 0 : -1);
        }
        kn_targets_free(targets);
        kn_files_free(files);
        kn_request_free(request);
        kn_settings_free(settings);
    }
}

/* A job that makes no report must not replace one, whoever asked for it. */
static void a_target_that_nobody_wrote_is_left_alone(void **state)
{
    kn_settings *settings = NULL;
    kn_result *result = NULL;
    write_file(data_path, "old", 3);
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_set(settings, "what", "models", err));
    assert_ok(kn_settings_set(settings, "output", data_path, err));
    assert_ok(kn_settings_set(settings, "json", release_path, err));
    assert_ok(kn_list(&result, settings, err));
    char *left = read_file(data_path, NULL), *json = read_file(release_path, NULL);
    assert_string_equal(left, "old");
    assert_int_equal(strncmp(json, "{\n  \"models\": [", 15), 0);
    free(left);
    free(json);
    kn_result_free(result);
    kn_settings_free(settings);
}

/* --- Copied columns ---------------------------------------------------------------------------------------------- */

/* The definition, row by row. */
static kn_copy slow_compare(const kn_column *copied, const kn_column *quasi, uint32_t n_rows)
{
    kn_copy copy = {.one_to_one = quasi->n_values > 1};
    uint32_t c[40], q[40], n = 0, most = 0;
    bool repeats = false, equal = true;
    for (uint32_t i = 0; i < n_rows; i++) {
        c[i] = kn_column_value(copied, kn_column_code(copied, i));
        q[i] = kn_column_value(quasi, kn_column_code(quasi, i));
    }
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t others[40] = {0}, largest = 0, n_largest = 0;
        equal = equal && copied->offset[c[i] + 1] - copied->offset[c[i]] == 1 &&
                quasi->offset[q[i] + 1] - quasi->offset[q[i]] == 1 &&
                copied->bytes[copied->offset[c[i]]] == quasi->bytes[quasi->offset[q[i]]];
        for (uint32_t j = 0; j < n_rows; j++) {
            copy.one_to_one = copy.one_to_one && (c[i] == c[j]) == (q[i] == q[j]);
            repeats = repeats || (i != j && q[i] == q[j]);
            if (i != j && c[i] == c[j]) others[q[j]]++;
        }
        for (uint32_t v = 0; v < quasi->n_values; v++) {
            if (others[v] > largest) largest = others[v], n_largest = 0;
            n_largest += others[v] == largest;
        }
        if (largest == 0) continue; /* alone */
        n++;
        if (others[q[i]] == largest) copy.told += n_largest == 1 ? 1 : 0.5;
    }
    for (uint32_t v = 0; v < quasi->n_values; v++) {
        uint32_t rows = 0;
        for (uint32_t i = 0; i < n_rows; i++)
            for (uint32_t j = 0; j < n_rows && q[i] == v; j++)
                if (i != j && c[i] == c[j]) {
                    rows++;
                    break;
                }
        if (rows > most) most = rows;
    }
    copy.one_to_one = copy.one_to_one && (repeats || equal);
    bool enough = n >= 20 && quasi->n_values > 1 && copied->n_values > 1;
    copy.told = enough ? copy.told / n : 0;
    copy.guessed = enough ? (double)most / n : 0;
    return copy;
}

static void what_a_copied_column_tells_is_what_a_count_says(void **state)
{
    kn_rng rng = kn_rng_new(9, 1);
    int n_one_to_one = 0, n_told = 0;
    for (int round = 0; round < 3000; round++) {
        int cells[80];
        uint32_t n_rows = 2 + kn_rng_below(&rng, 39), n_values = 2 + kn_rng_below(&rng, 8),
                 kind = kn_rng_below(&rng, 5);
        for (uint32_t r = 0; r < n_rows; r++) {
            int q = (int)kn_rng_below(&rng, n_values);
            cells[2 * r + 1] = q;
            cells[2 * r] = kind == 0                   ? q                                   /* the same */
                           : kind == 1                 ? 9 - q                               /* one-to-one */
                           : kind == 2                 ? (int)kn_rng_below(&rng, 8)          /* nothing to do with it */
                           : kind == 3                 ? 10 * q + (int)kn_rng_below(&rng, 2) /* finer */
                           : kn_rng_below(&rng, 4) > 0 ? q
                                                       : (int)kn_rng_below(&rng, n_values); /* nearly */
        }
        kn_table *table = test_table(n_rows, 2, cells);
        kn_copy copy, expected = slow_compare(&table->columns[0], &table->columns[1], n_rows);
        assert_ok(kn_copy_compare(&copy, &table->columns[0], &table->columns[1], n_rows, err));
        assert_int_equal(copy.one_to_one, expected.one_to_one);
        assert_float_equal(copy.told, expected.told, 1e-12);
        assert_float_equal(copy.guessed, expected.guessed, 1e-12);
        n_one_to_one += copy.one_to_one;
        n_told += kn_copy_tells(&copy);
        test_table_free(table);
    }
    assert_true(n_one_to_one > 300 && n_one_to_one < 2000 && n_told > 300 && n_told < 2500);
}

static void copies_of_a_large_table_are_judged_from_some_of_its_values(void **state)
{
    enum { ROWS = 400000, VALUES = ROWS / 3 + 1, QUASI = 1000 };
    uint32_t *codes = kn_array_alloc(ROWS, 4, NULL), *quasi_codes = kn_array_alloc(ROWS, 4, NULL);
    kn_rng rng = kn_rng_new(5, 5);
    kn_column copied = {.n_spellings = VALUES, .n_values = VALUES, .code_bytes = 4, .codes = codes};
    kn_column quasi = {.n_spellings = QUASI, .n_values = QUASI, .code_bytes = 4, .codes = quasi_codes};
    for (int part = 0; part < 3; part++) { /* in tenths how often the value of c, seen three times, decides */
        const uint32_t decides[] = {0, 6, 10};
        kn_copy copy;
        for (uint32_t r = 0; r < ROWS; r++) {
            codes[r] = (r * 7) % ROWS / 3;
            bool follows = kn_rng_below(&rng, 10) < decides[part];
            quasi_codes[r] = follows ? codes[r] * 31 % QUASI : kn_rng_below(&rng, QUASI);
        }
        assert_ok(kn_copy_compare(&copy, &copied, &quasi, ROWS, err));
        assert_false(copy.one_to_one);
        assert_true(copy.guessed < 0.01);
        /* of three rows: right when it follows and the other two are not both astray; half where they differ */
        double p = decides[part] / 10.0, right = p * (p * p + p * (1 - p));
        assert_true(fabs(copy.told - right) < 0.02);
        assert_int_equal(kn_copy_tells(&copy), part == 2);
    }
    kn_free(codes);
    kn_free(quasi_codes);
}

/* --- Every second accounted for -------------------------------------------------------------------------------- */

static void sleep_a_while(void *user, const char *path, const kn_batches *batches) { usleep(60000); }

/* The stages add up to the total, and waiting is in the stage that waits: for the reader of the written file (a hook
 * here), and for the disk, which has to take the page and the schema before the clock stops. */
static void every_stage_is_in_the_clock(void **state)
{
    enum { SLOW_MS = 50 };
    static const char *const stages[] = {"read",  "encode", "search",  "bound", "recode",
                                         "write", "verify", "measure", "report"};
    char report[320], schema[320], json[320];
    const char *options[16];
    size_t n = 0;
    while (NAMED[n] != NULL) options[n] = NAMED[n], n++;
    snprintf(report, sizeof report, "report=%s", path_of("page.html"));
    snprintf(schema, sizeof schema, "schema=%s", path_of("schema.json"));
    snprintf(json, sizeof json, "json=%s", path_of("run.json"));
    options[n++] = report, options[n++] = schema, options[n++] = json, options[n] = NULL;
    write_text(data_path, PEOPLE);
    sync_ms = SLOW_MS;
    kn_error failure = {0};
    kn_status status = anonymize(options, sleep_a_while, NULL, &failure);
    sync_ms = 0;
    if (status != KN_OK) fail_msg("%s", failure.message);
    json_t *result = json_load_file(path_of("run.json"), 0, NULL), *seconds = json_object_get(result, "seconds");
    double sum = 0, total = json_number_value(json_object_get(seconds, "total"));
    assert_int_equal(json_object_size(seconds), sizeof stages / sizeof *stages + 1);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        json_t *stage = json_object_get(seconds, stages[i]);
        if (!json_is_number(stage) || json_number_value(stage) < 0) fail_msg("%s is no time", stages[i]);
        sum += json_number_value(stage);
    }
    assert_float_equal(sum, total, 1e-9);
    assert_true(json_number_value(json_object_get(seconds, "verify")) >= 0.06);
    assert_true(json_number_value(json_object_get(seconds, "report")) >= 2 * SLOW_MS / 1000.0);
    json_decref(result);
    unlink(path_of("page.html"));
    unlink(path_of("schema.json"));
    unlink(path_of("run.json"));
}

/* Writing and verifying take a multiple of what reading took, more of it for intervals and sets than for hierarchies,
 * and no time at all for nothing. */
static void what_comes_after_is_expected_from_what_reading_took(void **state)
{
    const int cells[] = {1, 1, 2, 1, 3, 2, 4, 2};
    kn_table *table = test_table(4, 2, cells);
    kn_domain *domains[] = {test_domain(table, 0, NULL), test_suppress_domain(table, 1)};
    kn_tuples tuples = {.n_tuples = 4};
    kn_input input = {.table = table, .tuples = &tuples, .domains = domains, .n_qis = 1, .seconds_read = 1};
    for (uint32_t c = 0; c < 2; c++) table->columns[c].role = KN_ROLE_QUASI;
    const double intervals = kn_expected_after(&input);
    input.seconds_read = 3;
    assert_float_equal(kn_expected_after(&input), 3 * intervals, 1e-9);
    input.domains = domains + 1;
    assert_true(kn_expected_after(&input) < 3 * intervals);
    assert_true(kn_expected_after(&input) > 3); /* the release is written, and both files are read again */
    input.seconds_read = 0;                     /* of a table in memory */
    assert_true(kn_expected_after(&input) > 0);
    kn_domain_free(domains[0]);
    kn_domain_free(domains[1]);
    test_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_is_in_the_clock),
        cmocka_unit_test(a_file_that_was_spoiled_after_writing_does_not_take_its_place),
        cmocka_unit_test(every_model_of_the_registry_can_be_recounted),
        cmocka_unit_test(a_percentage_of_rows_is_never_rounded_up),
        cmocka_unit_test(one_row_more_than_the_limit_is_not_released),
        cmocka_unit_test(the_order_of_the_input_does_not_leave),
        cmocka_unit_test(lines_stand_in_byte_order_whatever_the_roles),
        cmocka_unit_test(a_class_keeps_its_spelling_where_its_rows_agree),
        cmocka_unit_test(cells_that_a_reader_would_split_are_quoted),
        cmocka_unit_test(a_release_measured_from_its_files_costs_what_its_run_says),
        cmocka_unit_test(the_schema_says_of_the_release_what_its_cells_say),
        cmocka_unit_test(what_comes_after_is_expected_from_what_reading_took),
        cmocka_unit_test(roles_are_guessed_from_names_and_contents),
        cmocka_unit_test(cells_that_point_at_people_are_known_by_their_form),
        cmocka_unit_test(the_profile_counts_whom_a_set_of_columns_singles_out),
        cmocka_unit_test(a_derived_column_counts_what_passed_between_two_dates),
        cmocka_unit_test(a_proposed_model_can_be_met),
        cmocka_unit_test(generalizations_are_guessed_from_names_and_spread),
        cmocka_unit_test(outputs_take_their_places_in_order_and_the_release_last),
        cmocka_unit_test(a_target_that_nobody_wrote_is_left_alone),
        cmocka_unit_test(what_a_copied_column_tells_is_what_a_count_says),
        cmocka_unit_test(copies_of_a_large_table_are_judged_from_some_of_its_values),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
