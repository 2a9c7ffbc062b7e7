/* Several jobs at once, each with several threads, on tables long enough that every part of a job is shared out: under
 * -Db_sanitize=thread (make tsan) this looks for races; in any build each job must leave what it leaves alone, with one
 * thread. Only what kanon.h and kanon_arrow.h show. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after its prerequisites */
#include <cmocka.h>

#include "file_support.h"

#include <kanon_arrow.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond 16,384 rows the code takes other ways. Searches that take long have fewer. */
static const int sizes[] = {20000, 1500, 200, 12};
enum { LONG, MIDDLE, SHORT, TINY, N_SIZES };
static char tables[N_SIZES][300];

/* Ages, codes, dates and jobs: columns that are ranges, trees and sets. */
static int make_table(const char *path, int n_rows)
{
    static const char *const jobs[] = {"cook", "nurse", "pilot", "mason", "smith", "baker", "clerk"};
    static const char *const illnesses[] = {"flu", "none", "cancer", "asthma"};
    uint64_t random = 1;
    FILE *file = fopen(path, "wb");
    if (file == NULL) return -1;
    fputs("age,zip,born,job,illness\n", file);
    for (int i = 0; i < n_rows; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const unsigned dice = (unsigned)(random >> 33);
        fprintf(file, "%u,%05u,19%02u-%02u-01,%s,%s\n", 18 + dice % 70, 10000 + dice % 499, 30 + dice / 7 % 70,
                1 + dice / 11 % 2 * 6, jobs[dice / 17 % 7], illnesses[dice / 19 % 4]);
    }
    return fclose(file);
}

static int make_tables(void **state)
{
    if (make_folder(state) != 0) return -1;
    for (int i = 0; i < N_SIZES; i++) {
        char name[30];
        snprintf(name, sizeof name, "%d.csv", sizes[i]);
        snprintf(tables[i], sizeof tables[i], "%s", path_of(name));
        if (make_table(tables[i], sizes[i]) != 0) return -1;
    }
    return 0;
}

/* --- Jobs -------------------------------------------------------------------------------------------------------- */

typedef kn_status job_fn(kn_result **out, const kn_settings *settings, kn_error *err);

typedef struct one_job {
    const char *name;
    job_fn *work;
    kn_settings *settings;
    kn_status status;
    kn_error err;
    kn_result *result;
} one_job;

static void set(kn_settings *settings, const char *option, const char *value)
{
    kn_error err = {0};
    if (kn_settings_set(settings, option, value, &err) != KN_OK) fail_msg("%s", err.message);
}

static kn_settings *settings_of(const char *table, const char *k)
{
    kn_settings *settings;
    assert_int_equal(kn_settings_new(&settings, NULL), KN_OK);
    set(settings, "data", table);
    set(settings, "qi", "age,zip,born,job");
    set(settings, "sensitive", "illness");
    set(settings, "hierarchy", "zip=mask(right)");
    set(settings, "max-suppressed", "5%");
    set(settings, "k", k);
    set(settings, "threads", "2");
    set(settings, "seed", "3");
    return settings;
}

static one_job anonymizing(const char *algorithm, int size, const char *k, const char *effort, const char *output)
{
    one_job job = {.name = algorithm, .work = kn_anonymize, .settings = settings_of(tables[size], k)};
    set(job.settings, "algorithm", algorithm);
    set(job.settings, "effort", effort);
    set(job.settings, "output", output);
    return job;
}

static void *run(void *argument)
{
    one_job *job = argument;
    job->err = (kn_error){0};
    job->status = job->work(&job->result, job->settings, &job->err);
    return NULL;
}

static void run_both(one_job *a, one_job *b)
{
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run, b), 0);
    run(a);
    pthread_join(other, NULL);
}

static const char *released(const one_job *job)
{
    if (job->status != KN_OK) fail_msg("%s: %s", job->name, job->err.message);
    return kn_result_kept(job->result, "output");
}

static void forget(one_job *job)
{
    kn_result_free(job->result);
    kn_settings_free(job->settings);
}

/* --- Searches ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *algorithm;
    int size;
    const char *k, *effort;
} searches[] = {
    {"mondrian", LONG, "5", "10"},
    {"cluster", MIDDLE, "5", "1"},
    {"optimal", LONG, "5", "10"},
    {"k-optimize", SHORT, "5", "1"},
    {"hilbert", LONG, "5", "10"},
    {"sequential", MIDDLE, "5", "1"},
    {"hill-climb", MIDDLE, "5", "1"},
    {"agglomerative", SHORT, "5", "10"},
    {"genetic", MIDDLE, "5", "1"},
    {"k-member", MIDDLE, "5", "10"},
    {"anneal", MIDDLE, "5", "1"},
    {"exhaustive", TINY, "3", "10"},
    {"samarati", LONG, "5", "10"},
    {"forest", SHORT, "5", "10"},
    {"incognito", LONG, "5", "10"},
    {"cover", SHORT, "3", "10"},
    {"mingen", MIDDLE, "5", "10"},
    {"meyerson-williams", SHORT, "5", "10"},
    {"datafly", LONG, "5", "10"},
    {"two-factor", SHORT, "2", "10"},
    {"mu-argus", LONG, "5", "10"},
    {"three-factor", SHORT, "3", "10"},
    {"cell-suppression", MIDDLE, "5", "10"},
    {"mu-argus:suppress=cells", MIDDLE, "5", "10"},
};
enum { N_SEARCHES = sizeof searches / sizeof *searches };

/* None that the library has is forgotten above. */
static void every_algorithm_is_among_them(void **state)
{
    kn_settings *settings;
    kn_result *result;
    assert_int_equal(kn_settings_new(&settings, NULL), KN_OK);
    set(settings, "what", "algorithms");
    assert_int_equal(kn_list(&result, settings, NULL), KN_OK);
    size_t n = 0;
    for (const char *at = kn_result_json(result); (at = strstr(at, "\"summary\": ")) != NULL; at++) n++;
    for (size_t i = 0; i < N_SEARCHES; i++) {
        char name[60];
        snprintf(name, sizeof name, "\"name\": \"%s\"", searches[i].algorithm);
        if (strchr(searches[i].algorithm, ':') != NULL) continue; /* with a choice, a second time */
        if (strstr(kn_result_json(result), name) == NULL) fail_msg("%s is not listed", searches[i].algorithm);
        n--;
    }
    assert_int_equal(n, 0);
    kn_result_free(result);
    kn_settings_free(settings);
}

/* Two by two, so that every search runs beside stages of others. */
static void searches_at_once_release_what_each_releases_alone(void **state)
{
    one_job jobs[N_SEARCHES];
    char *alone[N_SEARCHES];
    for (size_t i = 0; i < N_SEARCHES; i++) {
        jobs[i] = anonymizing(searches[i].algorithm, searches[i].size, searches[i].k, searches[i].effort, "text:");
        set(jobs[i].settings, "threads", "1");
        run(&jobs[i]);
        alone[i] = strdup(released(&jobs[i]));
        kn_result_free(jobs[i].result);
        set(jobs[i].settings, "threads", "2");
    }
    for (size_t i = 0; i < N_SEARCHES; i++) {
        one_job *a = &jobs[i], *b = &jobs[(i + 1) % N_SEARCHES];
        run_both(a, b);
        if (strcmp(released(a), alone[i]) != 0) fail_msg("%s releases something else", a->name);
        if (strcmp(released(b), alone[(i + 1) % N_SEARCHES]) != 0) fail_msg("%s releases something else", b->name);
        kn_result_free(a->result);
        kn_result_free(b->result);
    }
    for (size_t i = 0; i < N_SEARCHES; i++) {
        kn_settings_free(jobs[i].settings);
        free(alone[i]);
    }
}

/* Models beyond class sizes, a measure with logarithms, labels of the data, polishing and all pages. */
static void runs_with_everything_leave_what_each_leaves_alone(void **state)
{
    static const char *const algorithms[] = {"mondrian", "optimal", "cluster"};
    static const char *const more[][2] = {{"model", "t-closeness:t=0.9"},
                                          {"model", "l-diversity:l=2,kind=entropy"},
                                          {"measure", "non-uniform-entropy"},
                                          {"codebook", "text:"},
                                          {"schema", "text:"},
                                          {"report", "text:"},
                                          {"explain", "yes"}};
    for (size_t i = 0; i < 3; i++) {
        one_job a = anonymizing(algorithms[i], MIDDLE, "5", "2", "text:"), b = a;
        for (size_t j = 0; j < sizeof more / sizeof *more; j++) set(a.settings, more[j][0], more[j][1]);
        if (i == 0) set(a.settings, "polish", "yes");
        run(&a);
        char *alone = strdup(released(&a)), *schema = strdup(kn_result_kept(a.result, "schema"));
        kn_result_free(a.result);
        b.settings = a.settings; /* the same settings for both */
        run_both(&a, &b);
        assert_string_equal(released(&a), alone);
        assert_string_equal(released(&b), alone);
        assert_string_equal(kn_result_kept(a.result, "schema"), schema);
        assert_string_equal(kn_result_kept(b.result, "schema"), schema);
        kn_result_free(b.result);
        forget(&a);
        free(alone);
        free(schema);
    }
}

/* --- Bounds, certificates, verify -------------------------------------------------------------------------------- */

static void write_kept(const char *path, const one_job *job, const char *option)
{
    const char *text = kn_result_kept(job->result, option);
    if (text == NULL) fail_msg("%s: no %s: %s", job->name, option, job->err.message);
    write_text(path, text);
}

/* Two proofs at once, then both are checked at once, with the originals. */
static void proofs_are_made_and_checked_at_once(void **state)
{
    one_job makers[] = {anonymizing("cluster", SHORT, "3", "2", "text:"),
                        anonymizing("optimal", MIDDLE, "5", "10", "text:")};
    one_job checkers[2];
    static const char *const releases[] = {"a.csv", "b.csv"}, *const proofs[] = {"a.proof", "b.proof"};
    for (int i = 0; i < 2; i++) {
        set(makers[i].settings, "certify", "yes");
        set(makers[i].settings, "certificate", "text:");
        set(makers[i].settings, "time-limit", "3");
    }
    run_both(&makers[0], &makers[1]);
    for (int i = 0; i < 2; i++) {
        if (makers[i].status != KN_OK) fail_msg("%s: %s", makers[i].name, makers[i].err.message);
        write_kept(path_of(releases[i]), &makers[i], "output");
        write_kept(path_of(proofs[i]), &makers[i], "certificate");
        checkers[i] = (one_job){
            .name = "verify", .work = kn_verify, .settings = settings_of(path_of(releases[i]), i == 0 ? "3" : "5")};
        set(checkers[i].settings, "algorithm", makers[i].name); /* whose rules the proof is about */
        set(checkers[i].settings, "release", path_of(releases[i]));
        set(checkers[i].settings, "original", tables[i == 0 ? SHORT : MIDDLE]);
        set(checkers[i].settings, "certificate", path_of(proofs[i]));
    }
    run_both(&checkers[0], &checkers[1]);
    for (int i = 0; i < 2; i++) {
        if (checkers[i].status != KN_OK) fail_msg("verify: %s", checkers[i].err.message);
        forget(&makers[i]);
        forget(&checkers[i]);
    }
}

/* Every other job, each beside itself, on one release of many rows. */
static void other_jobs_at_once_say_what_each_says_alone(void **state)
{
    static const struct {
        const char *name;
        job_fn *work;
    } jobs[] = {{"verify", kn_verify},
                {"measure", kn_measure_files},
                {"risk", kn_risk},
                {"profile", kn_profile},
                {"lattice", kn_lattice_nodes}};
    one_job maker = anonymizing("mondrian", LONG, "5", "10", "text:");
    run(&maker);
    released(&maker);
    write_kept(path_of("release.csv"), &maker, "output");
    forget(&maker);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        one_job a = {.name = jobs[i].name, .work = jobs[i].work, .settings = settings_of(tables[LONG], "5")};
        if (i < 2) set(a.settings, "release", path_of("release.csv"));
        if (i > 2) set(a.settings, "output", "text:");
        if (i == 0) set(a.settings, "original", tables[LONG]);
        one_job b = a;
        run(&a);
        if (a.status != KN_OK) fail_msg("%s: %s", a.name, a.err.message);
        char *alone = strdup(kn_result_text(a.result));
        kn_result_free(a.result);
        run_both(&a, &b);
        /* the last line of some is the time that it took */
        char *time = strstr(alone, "  time");
        const size_t n = time != NULL ? (size_t)(time - alone) : strlen(alone);
        assert_int_equal(strncmp(kn_result_text(a.result), alone, n), 0);
        assert_int_equal(strncmp(kn_result_text(b.result), alone, n), 0);
        kn_result_free(b.result);
        forget(&a);
        free(alone);
    }
}

/* --- Progress and cancelling ------------------------------------------------------------------------------------- */

typedef struct watcher {
    one_job job;
    pthread_t caller;
    int cancel;
    int *cancel_other; /* counted up at the third call */
    int n_calls, n_notes, n_elsewhere;
} watcher;

static int watch(void *user, const char *stage, double fraction)
{
    watcher *seen = user;
    seen->n_elsewhere += !pthread_equal(seen->caller, pthread_self());
    if (++seen->n_calls == 3) __atomic_fetch_add(seen->cancel_other, 1, __ATOMIC_RELAXED);
    return 0;
}

static void note(void *user, const char *text)
{
    watcher *seen = user;
    seen->n_elsewhere += !pthread_equal(seen->caller, pthread_self());
    seen->n_notes++;
}

static void *run_watched(void *argument)
{
    watcher *seen = argument;
    seen->caller = pthread_self();
    return run(&seen->job);
}

/* Each is told of its own job, on its own thread, and stops the other from there. */
static void two_jobs_that_watch_and_stop_each_other(void **state)
{
    static const char *const algorithms[][2] = {
        {"cluster", "sequential"}, {"k-optimize", "anneal"}, {"genetic", "cluster"}};
    for (size_t i = 0; i < 3; i++) {
        watcher both[2] = {{.cancel_other = &both[1].cancel}, {.cancel_other = &both[0].cancel}};
        pthread_t other;
        for (int j = 0; j < 2; j++) {
            both[j].job = anonymizing(algorithms[i][j], MIDDLE, "5", "1000000000", "text:");
            set(both[j].job.settings, "time-limit", "3"); /* for those that end before the other one's third call */
            kn_settings_on_progress(both[j].job.settings, watch, &both[j]);
            kn_settings_on_note(both[j].job.settings, note, &both[j]);
            kn_settings_on_cancel(both[j].job.settings, &both[j].cancel);
        }
        assert_int_equal(pthread_create(&other, NULL, run_watched, &both[1]), 0);
        run_watched(&both[0]);
        pthread_join(other, NULL);
        for (int j = 0; j < 2; j++) {
            if (both[j].job.status != KN_OK && both[j].job.status != KN_INTERRUPTED)
                fail_msg("%s", both[j].job.err.message);
            assert_int_equal(both[j].n_elsewhere, 0);
            assert_true(both[j].n_calls > 0);
            assert_true(both[j].n_notes > 0);
            forget(&both[j].job);
        }
    }
}

/* --- Tables in memory -------------------------------------------------------------------------------------------- */

/* One set of settings, with its table in memory, for two jobs at once. */
static void one_table_in_memory_serves_two_jobs_at_once(void **state)
{
    one_job first = anonymizing("mondrian", LONG, "5", "10", "table:");
    struct ArrowArrayStream table;
    kn_error err = {0};
    run(&first);
    if (first.status != KN_OK) fail_msg("%s", first.err.message);
    assert_int_equal(kn_result_table(first.result, &table, &err), KN_OK);
    one_job a = anonymizing("datafly", LONG, "5", "10", "text:");
    assert_int_equal(kn_settings_set_table(a.settings, "data", &table, &err), KN_OK);
    forget(&first); /* the arrays live on */
    one_job b = a;
    run_both(&a, &b);
    assert_string_equal(released(&a), released(&b));
    kn_result_free(b.result);
    forget(&a);
}

typedef struct reader {
    struct ArrowArrayStream stream;
    int64_t n_rows;
} reader;

static void *read_and_release(void *argument)
{
    reader *r = argument;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    if (r->stream.get_schema(&r->stream, &schema) == 0) schema.release(&schema);
    while (r->stream.get_next(&r->stream, &batch) == 0 && batch.release != NULL) {
        r->n_rows += batch.length;
        batch.release(&batch);
    }
    r->stream.release(&r->stream);
    return NULL;
}

/* Two readers let go of the arrays while this thread lets go of the result and of the settings. */
static void released_arrays_may_be_let_go_of_on_any_thread(void **state)
{
    for (int round = 0; round < 3; round++) {
        one_job job = anonymizing("mondrian", LONG, "5", "10", "table:");
        reader readers[2] = {0};
        pthread_t threads[2];
        run(&job);
        if (job.status != KN_OK) fail_msg("%s", job.err.message);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(kn_result_table(job.result, &readers[i].stream, NULL), KN_OK);
            assert_int_equal(pthread_create(&threads[i], NULL, read_and_release, &readers[i]), 0);
        }
        forget(&job);
        for (int i = 0; i < 2; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(readers[i].n_rows, sizes[LONG]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_among_them),
        cmocka_unit_test(searches_at_once_release_what_each_releases_alone),
        cmocka_unit_test(runs_with_everything_leave_what_each_leaves_alone),
        cmocka_unit_test(proofs_are_made_and_checked_at_once),
        cmocka_unit_test(other_jobs_at_once_say_what_each_says_alone),
        cmocka_unit_test(two_jobs_that_watch_and_stop_each_other),
        cmocka_unit_test(one_table_in_memory_serves_two_jobs_at_once),
        cmocka_unit_test(released_arrays_may_be_let_go_of_on_any_thread),
    };
    return cmocka_run_group_tests_name("races", tests, make_tables, remove_folder);
}
