/* The library as another program holds it: kanon.h alone, jobs in several threads, a host with a locale, an allocator
 * and a progress function of its own. Under -Db_sanitize=thread (make tsan) the same tests look for races. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after its prerequisites */
#include <cmocka.h>

#include "file_support.h"

#include <kanon.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = {"people.csv", "a.csv",       "b.csv",  "schema.json",
                                    "nodes.csv",  "policy.yaml", "bad.csv"};

/* 3000 people: enough for several blocks of work and several ticks. */
static int make_people(void **state)
{
    if (make_folder(state) != 0) return -1;
    FILE *file = fopen(path_of("people.csv"), "wb");
    if (file == NULL) return -1;
    fputs("age,zip,height,sex,illness\n", file);
    uint64_t random = 1;
    for (int i = 0; i < 3000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned dice = (unsigned)(random >> 33);
        fprintf(
            file, "%u,%05u,1%c%02u,%c,%s\n", 18 + dice % 70, 10000 + dice % 97, '.', 50 + dice / 97 % 50,
            "mf" [dice / 7 % 2], (const char *[]) { "flu", "none", "cancer", "asthma" }[dice / 11 % 4]);
    }
    return fclose(file);
}

/* Fails when something else was left there. */
static int remove_people(void **state)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) unlink(path_of(files[i]));
    return rmdir(folder);
}

/* Pairs of option and value, ended by NULL. Files are given with the folder's name as "@name". */
static kn_settings *settings_of(const char *const *pairs, const kn_allocator *allocator)
{
    kn_settings *settings = NULL;
    kn_error err = {0};
    if (kn_settings_new_with(&settings, allocator, &err) != KN_OK) return NULL;
    for (; *pairs != NULL; pairs += 2) {
        const char *value = pairs[1][0] == '@' ? path_of(pairs[1] + 1) : pairs[1];
        if (kn_settings_set(settings, pairs[0], value, &err) == KN_OK) continue;
        if (err.code != KN_RESOURCES) fail_msg("%s", err.message);
        kn_settings_free(settings);
        return NULL;
    }
    return settings;
}

#define TABLE "data", "@people.csv", "sensitive", "illness", "qi", "age,zip,height,sex"
#define LOCAL TABLE, "model", "k-anonymity:k=3", "algorithm", "mondrian", "output", "@a.csv"
#define GLOBAL                                                                                                         \
    TABLE, "k", "5", "algorithm", "optimal", "max-suppressed", "2.5%", "model", "t-closeness:t=0.9", "output", "@b.csv"

/* --- Several runs ------------------------------------------------------------------------------------------------ */

typedef struct one_run {
    const char *const *pairs;
    kn_status status;
    kn_error err;
    kn_result *result;
} one_run;

static void *run_one(void *argument)
{
    one_run *run = argument;
    kn_settings *settings = settings_of(run->pairs, NULL);
    run->err = (kn_error){0};
    run->status = kn_anonymize(&run->result, settings, &run->err);
    kn_settings_free(settings);
    return NULL;
}

static void run_both(one_run *a, one_run *b)
{
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_one, b), 0);
    run_one(a);
    pthread_join(other, NULL);
}

static long peak_bytes(const kn_result *result)
{
    const char *key = "\"peak_bytes\": ", *at = strstr(kn_result_json(result), key);
    assert_non_null(at);
    return strtol(at + strlen(key), NULL, 10);
}

static void two_runs_at_once_release_what_each_releases_alone(void **state)
{
    static const char *const local[] = {LOCAL, "threads", "2", NULL}, *const global[] = {GLOBAL, "threads", "2", NULL};
    one_run a = {.pairs = local}, b = {.pairs = global};
    run_one(&a);
    run_one(&b);
    if (a.status != KN_OK || b.status != KN_OK) fail_msg("%s%s", a.err.message, b.err.message);
    char *alone_a = read_file(path_of("a.csv"), NULL), *alone_b = read_file(path_of("b.csv"), NULL);
    kn_result_free(a.result);
    kn_result_free(b.result);
    for (int round = 0; round < 3; round++) {
        run_both(&a, &b);
        assert_int_equal(a.status, KN_OK);
        assert_int_equal(b.status, KN_OK);
        char *both_a = read_file(path_of("a.csv"), NULL), *both_b = read_file(path_of("b.csv"), NULL);
        assert_string_equal(both_a, alone_a);
        assert_string_equal(both_b, alone_b);
        free(both_a);
        free(both_b);
        kn_result_free(a.result);
        kn_result_free(b.result);
    }
    free(alone_a);
    free(alone_b);
}

/* The peak and the limit are of a run: the same alone, after another one, and beside another one. */
static void a_run_counts_its_own_memory_only(void **state)
{
    static const char *const local[] = {LOCAL, "threads", "1", NULL};
    static const char *const global[] = {GLOBAL, "threads", "1", NULL};
    static const char *const tight[] = {TABLE, "k",      "5",      "algorithm", "mondrian", "memory",
                                        "1M",  "output", "@b.csv", "threads",   "1",        NULL};
    one_run a = {.pairs = local}, b = {.pairs = global};
    run_one(&a);
    run_one(&b);
    long peak_a = peak_bytes(a.result), peak_b = peak_bytes(b.result);
    assert_true(peak_a > 10000 && peak_b > 10000 && peak_a != peak_b);
    kn_result_free(a.result);
    kn_result_free(b.result);
    run_both(&a, &b);
    assert_int_equal(peak_bytes(a.result), peak_a);
    assert_int_equal(peak_bytes(b.result), peak_b);
    kn_result_free(a.result);
    kn_result_free(b.result);
    b.pairs = tight;
    run_both(&a, &b);
    assert_int_equal(a.status, KN_OK);
    assert_int_equal(b.status, KN_RESOURCES);
    assert_int_equal(b.err.code, KN_RESOURCES);
    assert_non_null(strstr(b.err.message, "limit 1048576"));
    kn_result_free(a.result);
}

static void settings_may_be_shared_by_runs(void **state)
{
    static const char *const pairs[] = {TABLE, "k", "4", NULL};
    kn_settings *settings = settings_of(pairs, NULL);
    kn_result *first = NULL, *second = NULL;
    kn_error err = {0};
    assert_int_equal(kn_risk(&first, settings, &err), KN_OK);
    assert_int_equal(kn_risk(&second, settings, &err), KN_OK);
    kn_settings_free(settings); /* results live on */
    assert_string_equal(kn_result_json(first), kn_result_json(second));
    kn_result_free(first);
    kn_result_free(second);
}

/* --- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct counter {
    atomic_long n_live, n_calls, failing;
} counter;

static void *counted(counter *count, void *block, bool is_new)
{
    if (block != NULL && is_new) atomic_fetch_add(&count->n_live, 1);
    return block;
}

static void *allocate(void *user, size_t n_bytes)
{
    counter *count = user;
    if (atomic_fetch_add(&count->n_calls, 1) + 1 == atomic_load(&count->failing)) return NULL;
    return counted(count, malloc(n_bytes), true);
}

static void *resize(void *user, void *block, size_t n_bytes)
{
    counter *count = user;
    if (atomic_fetch_add(&count->n_calls, 1) + 1 == atomic_load(&count->failing)) return NULL;
    return counted(count, realloc(block, n_bytes), false);
}

static void release(void *user, void *block)
{
    atomic_fetch_sub(&((counter *)user)->n_live, 1);
    free(block);
}

typedef kn_status job(kn_result **out, const kn_settings *settings, kn_error *err);

/* The job with its n-th allocation failing, for every n or so: it says so, or ends as it does with enough memory. */
static void fail_allocations(job *run, const char *const *pairs, kn_status otherwise)
{
    counter count = {0};
    kn_allocator allocator = {allocate, resize, release, &count};
    long n_failed = 0, last = 0;
    for (long nth = 1;; nth += 1 + nth / 32) {
        kn_result *result = NULL;
        kn_error err = {0};
        kn_status status = KN_RESOURCES;
        atomic_store(&count.n_calls, 0);
        atomic_store(&count.failing, nth);
        kn_settings *settings = settings_of(pairs, &allocator);
        if (settings != NULL) status = run(&result, settings, &err);
        if (status != otherwise && status != KN_RESOURCES)
            fail_msg("allocation %ld: status %d: %s", nth, status, err.message);
        kn_settings_free(settings);
        kn_result_free(result);
        if (atomic_load(&count.n_live) != 0) fail_msg("allocation %ld: memory stays behind", nth);
        last = atomic_load(&count.n_calls);
        if (last < nth) break;
        n_failed += status == KN_RESOURCES;
    }
    assert_true(n_failed > 50);
    assert_true(last > 300);
}

static void every_allocation_may_fail(void **state)
{
    static const char *const small[] = {"data",      "examples/ten_people.csv",
                                        "qi",        "ZIP,MaritalStatus,Sex",
                                        "sensitive", "Disease",
                                        "k",         "3",
                                        "algorithm", "optimal",
                                        "threads",   "2",
                                        "output",    "@a.csv",
                                        "schema",    "@schema.json",
                                        NULL};
    fail_allocations(kn_anonymize, small, KN_OK);
}

static void a_check_that_finds_much_may_run_out_of_memory_anywhere(void **state)
{
    static const char *const odd[] = {
        "data",  "@bad.csv",        "qi",        "age,born,zip,sex", "sensitive", "illness", "insensitive", "ward",
        "type",  "age=int",         "type",      "born=date",        "type",      "zip=int", "k",           "40",
        "model", "l-diversity:l=9", "hierarchy", "sex=order(f<x)",   "top",       "zip=7",   "threads",     "1",
        NULL};
    write_text(path_of("bad.csv"),
               "age,born,zip_code,sex,ward,ill_ness\n1,01/02/2020,x,f,f,flu\nx,03/04/2020,7,m,m,cold\n");
    fail_allocations(kn_check_policy, odd, KN_USAGE);
    unlink(path_of("bad.csv"));
}

/* --- The host's locale ------------------------------------------------------------------------------------------- */

/* A locale with a decimal comma: one that is installed, or one made here. */
static bool use_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) != NULL) return localeconv()->decimal_point[0] == ',';
    char command[400];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    if (system(command) != 0) return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL && localeconv()->decimal_point[0] == ',';
}

static void drop_locale(void)
{
    char command[400];
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s/de_DE.UTF-8", folder);
    if (system(command) != 0) fail_msg("the locale stays behind");
}

static void append_job(FILE *out, job *run, const char *const *pairs)
{
    kn_result *result = NULL;
    kn_error err = {0};
    kn_settings *settings = settings_of(pairs, NULL);
    kn_status status = run(&result, settings, &err);
    kn_settings_free(settings);
    if (status != KN_OK) fail_msg("%s", err.message);
    if (run != kn_anonymize && run != kn_lattice_nodes) /* these tell how long they took */
        fprintf(out, "%s\n%s\n", kn_result_text(result), kn_result_json(result));
    fputs(kn_result_warnings(result), out);
    kn_result_free(result);
}

static void append_file(FILE *out, const char *name)
{
    char *bytes = read_file(path_of(name), NULL);
    fputs(bytes, out);
    free(bytes);
}

/* Everything that holds a number, one after the other. */
static char *all_outputs(void)
{
    static const char *const global[] = {
        GLOBAL, "schema", "@schema.json", "hierarchy", "height=intervals(0.05,0.25)", "weight", "age=0.5", NULL};
    static const char *const nodes[] = {TABLE, "k", "5", "max-suppressed", "2.5%", "output", "@nodes.csv", NULL};
    static const char *const checked[] = {"release",   "@b.csv",
                                          "original",  "@people.csv",
                                          "sensitive", "illness",
                                          "qi",        "age,zip,height,sex",
                                          "k",         "5",
                                          "model",     "t-closeness:t=0.9",
                                          "hierarchy", "height=intervals(0.05,0.25)",
                                          NULL};
    static const char *const measured[] = {
        TABLE, "release", "@b.csv", "max-suppressed", "2.5%", "hierarchy", "height=intervals(0.05,0.25)", NULL};
    static const char *const risk[] = {TABLE, "population", "0.05", "threshold", "0.2", NULL};
    static const char *const profile[] = {"data", "@people.csv", "output", "@policy.yaml", NULL};
    static const char *const list[] = {"what", "models", NULL};
    char *bytes = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&bytes, &n);
    append_job(out, kn_anonymize, global);
    append_job(out, kn_lattice_nodes, nodes);
    append_job(out, kn_verify, checked);
    append_job(out, kn_measure_files, measured);
    append_job(out, kn_risk, risk);
    append_job(out, kn_profile, profile);
    append_job(out, kn_list, list);
    append_file(out, "b.csv");
    append_file(out, "schema.json");
    append_file(out, "nodes.csv");
    append_file(out, "policy.yaml");
    fclose(out);
    return bytes;
}

static int note_decimal_point(void *user, const char *stage, double fraction)
{
    char text[8];
    snprintf(text, sizeof text, "%.1f", 0.5);
    *(char *)user = text[1];
    return 0;
}

static void the_hosts_locale_changes_nothing(void **state)
{
    char *plain = all_outputs(), point = ' ', text[8];
    if (!use_comma_locale()) {
        free(plain);
        print_message("no locale with a decimal comma is installed, and localedef can make none\n");
        skip();
    }
    char *with_comma = all_outputs();
    assert_string_equal(with_comma, plain);
    free(with_comma);
    free(plain);

    /* The host keeps its own, in its functions and afterwards. */
    static const char *const local[] = {LOCAL, NULL};
    kn_settings *settings = settings_of(local, NULL);
    kn_result *result = NULL;
    kn_settings_on_progress(settings, note_decimal_point, &point);
    assert_int_equal(kn_anonymize(&result, settings, NULL), KN_OK);
    kn_settings_free(settings);
    kn_result_free(result);
    assert_int_equal(point, ',');
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    drop_locale();
}

/* --- Progress and cancelling ------------------------------------------------------------------------------------- */

typedef struct watcher {
    pthread_t caller;
    int n_calls, n_elsewhere, stop_at;
} watcher;

static int watch(void *user, const char *stage, double fraction)
{
    watcher *seen = user;
    seen->n_elsewhere += !pthread_equal(seen->caller, pthread_self());
    return ++seen->n_calls == seen->stop_at;
}

static const char *const searching[] = {TABLE,        "k",       "3", "algorithm", "cluster", "effort",
                                        "1000000000", "threads", "3", "output",    "@a.csv",  NULL};

static void progress_is_told_on_the_callers_thread(void **state)
{
    watcher seen = {.caller = pthread_self()};
    const char *const pairs[] = {TABLE,    "k",          "3",       "algorithm", "cluster", "time-limit", "0.7",
                                 "effort", "1000000000", "threads", "3",         "output",  "@a.csv",     NULL};
    kn_settings *settings = settings_of(pairs, NULL);
    kn_result *result = NULL;
    kn_error err = {0};
    kn_settings_on_progress(settings, watch, &seen);
    kn_status status = kn_anonymize(&result, settings, &err);
    if (status != KN_OK) fail_msg("%s", err.message);
    kn_settings_free(settings);
    kn_result_free(result);
    assert_int_equal(seen.n_elsewhere, 0);
    assert_in_range(seen.n_calls, 3, 600);
}

static void progress_can_stop_a_job(void **state)
{
    static const char *const pairs[] = {LOCAL, "threads", "3", NULL};
    watcher seen = {.caller = pthread_self(), .stop_at = 1};
    kn_settings *settings = settings_of(pairs, NULL);
    kn_result *result = NULL;
    kn_error err = {0};
    kn_settings_on_progress(settings, watch, &seen);
    assert_int_equal(kn_anonymize(&result, settings, &err), KN_INTERRUPTED);
    assert_int_equal(err.code, KN_INTERRUPTED);
    assert_null(result);
    assert_int_equal(seen.n_elsewhere, 0);
    kn_settings_free(settings);
}

static void *cancel_soon(void *argument)
{
    usleep(300 * 1000);
    __atomic_fetch_add((int *)argument, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* An anytime search answers with what it has; the status says that it was cut short. */
static void another_thread_can_cancel_a_job(void **state)
{
    int cancel = 0;
    pthread_t other;
    kn_settings *settings = settings_of(searching, NULL);
    kn_result *result = NULL;
    kn_error err = {0};
    kn_settings_on_cancel(settings, &cancel);
    assert_int_equal(pthread_create(&other, NULL, cancel_soon, &cancel), 0);
    kn_status status = kn_anonymize(&result, settings, &err);
    pthread_join(other, NULL);
    assert_int_equal(status, KN_INTERRUPTED);
    assert_non_null(err.message);
    kn_settings_free(settings);
    kn_result_free(result);
}

/* --- Errors ------------------------------------------------------------------------------------------------------ */

/* What a message names for people its fields name for programs. */
static void errors_say_what_they_are_about(void **state)
{
    static const struct {
        const char *policy, *data; /* NULL: none, and the table of people */
        const char *pairs[9];
        kn_status code;
        const char *option, *file, *column, *words;
        unsigned long long line, character;
    } cases[] = {
        {NULL, NULL, {"seed", "x"}, KN_USAGE, "seed", "", "", "'x'", 0, 0},
        {NULL, NULL, {"sed", "1"}, KN_USAGE, "sed", "", "", "no option", 0, 0},
        {NULL, NULL, {"qi", "age,size", "k", "2"}, KN_USAGE, "qi", "", "", "size", 0, 0},
        {NULL, NULL, {"qi", "age", "weight", "age=x", "k", "2"}, KN_USAGE, "weight", "", "age", "'x'", 0, 0},
        {NULL, NULL, {"qi", "age"}, KN_USAGE, "k", "", "", "-k N", 0, 0},
        {NULL, NULL, {"qi", "age", "k", "2", "model", "k-map:q=1"}, KN_USAGE, "model", "", "", "k-map", 0, 0},
        {NULL, NULL, {"qi", "age", "k", "2", "algorithm", "best"}, KN_USAGE, "algorithm", "", "", "best", 0, 0},
        {NULL, NULL, {"delimiter", "xx"}, KN_USAGE, "delimiter", "", "", "'xx'", 0, 0},
        {NULL, NULL, {"max-suppressed", "101%"}, KN_USAGE, "max-suppressed", "", "", "101%", 0, 0},
        {NULL, NULL, {"population", "2"}, KN_USAGE, "population", "", "", "'2'", 0, 0},
        {NULL, NULL, {"qi", "age", "k", "2", "unlisted", "error"}, KN_USAGE, "unlisted", "", "", "zip", 0, 0},
        {NULL, NULL, {"qi", "age", "k", "2", "measure", "joy"}, KN_USAGE, "measure", "", "", "joy", 0, 0},
        {NULL,
         NULL,
         {"qi", "age", "k", "2", "algorithm", "mondrian", "recoding", "global"},
         KN_USAGE,
         "recoding",
         "",
         "",
         "mondrian",
         0,
         0},
        /* the file that is wrong, not the one that names it */
        {"version: 1\ncolumns:\n  age: {role: quasi, hierarchy: {file: bad.csv}}\n",
         "age\n1\n2;x\n",
         {"k", "2", "delimiter", "|"},
         KN_INPUT,
         "hierarchy",
         "@bad.csv",
         "age",
         "bad.csv",
         3,
         0},
        {NULL, NULL, {"qi", "age", "k", "2", "algorithm", "optimal:x=1"}, KN_USAGE, "algorithm", "", "", "x", 0, 0},
        {NULL,
         NULL,
         {"qi", "age", "k", "2", "hierarchy", "age=intervals(x)"},
         KN_USAGE,
         "hierarchy",
         "",
         "age",
         "x",
         0,
         0},
        {NULL,
         NULL,
         {"qi", "age", "k", "2", "output", "/nonexistent/r.csv"},
         KN_INPUT,
         "output",
         "/nonexistent/r.csv",
         "",
         "r.csv",
         0,
         0},
        {NULL, "a,b\n1,2\n3\n", {"qi", "a", "k", "2"}, KN_INPUT, "", "@bad.csv", "b", "missing", 3, 0},
        {NULL, "a,b\n1,\xFF\n", {"qi", "a", "k", "2"}, KN_INPUT, "encoding", "@bad.csv", "b", "0xFF", 2, 0},
        {NULL, "a,b\n1,2\n*,3\n", {"qi", "a", "k", "2"}, KN_INPUT, "", "@bad.csv", "a", "'*'", 3, 0},
        {NULL,
         "a,b\n1,2\nx,3\n",
         {"qi", "a", "k", "2", "type", "a=int"},
         KN_INPUT,
         "type",
         "@bad.csv",
         "a",
         "'x'",
         3,
         0},
        {NULL, "a,a\n1,2\n", {"qi", "a", "k", "2"}, KN_INPUT, "", "@bad.csv", "a", "both called", 1, 0},
        {"version: 1\nseed: x\n", NULL, {NULL}, KN_USAGE, "seed", "@policy.yaml", "", "'x'", 2, 7},
        {"version: 1\ncolunms: {}\n", NULL, {NULL}, KN_USAGE, "", "@policy.yaml", "", "columns", 2, 1},
        {"version: 1\na: [\n", NULL, {NULL}, KN_USAGE, "", "@policy.yaml", "", "not closed", 2, 4},
        {"version: 1\ncolumns:\n  size: quasi\n", NULL, {"k", "2"}, KN_USAGE, "qi", "@policy.yaml", "", "size", 3, 9},
        {"version: 1\ncolumns:\n  age: {role: quasi, hierarchy: intervals}\nunlisted_columns: drop\n",
         NULL,
         {"k", "2"},
         KN_USAGE,
         "hierarchy",
         "@policy.yaml",
         "age",
         "intervals",
         3,
         33},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *data = path_of(cases[i].data != NULL ? "bad.csv" : "people.csv");
        kn_settings *settings = NULL;
        kn_result *result = NULL;
        kn_error err = {0};
        if (cases[i].data != NULL) write_text(data, cases[i].data);
        assert_int_equal(kn_settings_new(&settings, &err), KN_OK);
        kn_status status = kn_settings_set(settings, "data", data, &err);
        if (cases[i].policy != NULL) {
            write_text(path_of("policy.yaml"), cases[i].policy);
            status = kn_settings_load(settings, path_of("policy.yaml"), &err);
        }
        for (size_t p = 0; status == KN_OK && cases[i].pairs[p] != NULL; p += 2)
            status = kn_settings_set(settings, cases[i].pairs[p], cases[i].pairs[p + 1], &err);
        if (status == KN_OK) status = kn_anonymize(&result, settings, &err);
        const char *file = cases[i].file[0] == '@' ? path_of(cases[i].file + 1) : cases[i].file;
        if (status != cases[i].code || err.code != status || strcmp(err.option, cases[i].option) != 0 ||
            strcmp(err.file, file) != 0 || strcmp(err.column, cases[i].column != NULL ? cases[i].column : "") != 0 ||
            err.line != cases[i].line || err.character != cases[i].character ||
            (cases[i].words != NULL && strstr(err.message, cases[i].words) == NULL))
            fail_msg("case %zu: %d option '%s' file '%s' column '%s' %llu:%llu '%s'", i, err.code, err.option, err.file,
                     err.column, err.line, err.character, err.message);
        kn_settings_free(settings);
        kn_result_free(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_runs_at_once_release_what_each_releases_alone),
        cmocka_unit_test(a_run_counts_its_own_memory_only),
        cmocka_unit_test(settings_may_be_shared_by_runs),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_check_that_finds_much_may_run_out_of_memory_anywhere),
        cmocka_unit_test(the_hosts_locale_changes_nothing),
        cmocka_unit_test(progress_is_told_on_the_callers_thread),
        cmocka_unit_test(progress_can_stop_a_job),
        cmocka_unit_test(another_thread_can_cancel_a_job),
        cmocka_unit_test(errors_say_what_they_are_about),
    };
    return cmocka_run_group_tests_name("library", tests, make_people, remove_people);
}
