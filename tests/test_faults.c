/* Whole jobs, disturbed from inside the process: stopped at every tick, and with hash tables under other keys. What the
 * system can do to them from outside is check_memory.py's and check_faults.py's part.
 *
 * kn_tick is wrapped by the linker: the request to stop comes just before the tick that looks for one. */
#include "file_support.h"
#include "support.h"

#include "base/hash.h"
#include "search/search.h"

#include <jansson.h>
#include <kanon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int cancel;
static size_t n_ticks, stop_at; /* 0: never */

kn_status __real_kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err);
kn_status __wrap_kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err);
kn_status __wrap_kn_tick(kn_ticker *ticker, const char *stage, double fraction, kn_error *err)
{
    if (++n_ticks == stop_at) cancel++;
    return __real_kn_tick(ticker, stage, fraction, err);
}

/* --- Jobs ------------------------------------------------------------------------------------------------------- */

static int make_files(void **state)
{
    kn_buffer people = {0}, population = {0};
    if (make_folder(state) != 0) return -1;
    kn_buffer_text(&people, "age,zip,sex,ill\n");
    kn_buffer_text(&population, "age,zip,sex\n");
    for (unsigned i = 0; i < 60; i++) {
        const unsigned age = 20 + i % 7 * 5, zip = 10000 + i % 4 * 111;
        if (i < 24) kn_buffer_printf(&people, "%u,%u,%c,%c\n", age, zip, "mf"[i % 2], "abc"[i % 3]);
        kn_buffer_printf(&population, "%u,%u,%c\n", age, zip, "mf"[i % 2]);
    }
    write_file(path_of("people.csv"), people.bytes, people.n);
    write_file(path_of("population.csv"), population.bytes, population.n);
    write_text(path_of("sex.csv"), "m;any\nf;any\n");
    kn_buffer_free(&people);
    kn_buffer_free(&population);
    return 0;
}

typedef kn_status job_fn(kn_result **out, const kn_settings *settings, kn_error *err);

/* "name=value", NULL; @ stands for the folder. */
static kn_settings *settings_of(const char *const *options)
{
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    for (; *options != NULL; options++) {
        char name[40], value[400];
        const char *equals = strchr(*options, '='), *at = strchr(equals, '@');
        snprintf(name, sizeof name, "%.*s", (int)(equals - *options), *options);
        if (at == NULL) snprintf(value, sizeof value, "%s", equals + 1);
        else snprintf(value, sizeof value, "%.*s%s/%s", (int)(at - equals - 1), equals + 1, folder, at + 1);
        assert_ok(kn_settings_set(settings, name, value, err));
    }
    assert_ok(kn_settings_set(settings, "threads", "1", err));
    return settings;
}

#define PEOPLE "data=@people.csv", "qi=age,sex", "sensitive=ill", "unlisted=drop", "hierarchy=sex=@sex.csv"
static const struct job {
    job_fn *run;
    const char *options[16];
} jobs[] = {
    {kn_anonymize,
     {PEOPLE, "k=3", "algorithm=mondrian", "output=@o.csv", "json=@o.json", "report=@o.html", "schema=@o.schema"}},
    {kn_anonymize, {PEOPLE, "k=2", "algorithm=mondrian", "output=@o.csv", "certificate=@o.proof", "codebook=@o.book"}},
    {kn_anonymize, {PEOPLE, "k=3", "algorithm=k-optimize", "state=@o.state", "output=@o.csv"}},
    {kn_anonymize, {PEOPLE, "k=3", "recoding=global", "ledger=@o.ledger", "output=@o.csv"}},
    {kn_verify, {"release=@release.csv", "original=@people.csv", "qi=age,sex", "sensitive=ill", "k=3", "json=@o.json"}},
    {kn_measure_files, {PEOPLE, "release=@release.csv", "json=@o.json"}},
    {kn_lattice_nodes, {PEOPLE, "k=3", "algorithm=mondrian", "output=@o.csv", "json=@o.json", "report=@o.html"}},
    {kn_risk, {PEOPLE, "attack=@population.csv", "population=@population.csv", "json=@o.json", "report=@o.html"}},
    {kn_compare_runs, {PEOPLE, "k=2,3", "algorithms=optimal,mondrian", "output=@o.csv", "report=@o.html"}},
    {kn_profile, {"data=@people.csv", "force=yes", "output=@o.csv", "json=@o.json"}},
    {kn_check_policy, {PEOPLE, "k=3", "json=@o.json"}},
    {kn_hierarchy, {"what=make", "data=@people.csv", "hierarchy=age=intervals(5,10)", "output=@o.csv"}},
};
enum { N_JOBS = sizeof jobs / sizeof *jobs };
static const char *const outputs[] = {"o.csv", "o.json", "o.html", "o.schema", "o.proof", "o.book"};
enum { N_OUTPUTS = sizeof outputs / sizeof *outputs };

static void reset_outputs(void)
{
    for (size_t i = 0; i < N_OUTPUTS; i++) write_text(path_of(outputs[i]), "old");
    unlink(path_of("o.state"));
    unlink(path_of("o.ledger"));
}

/* --- Stopped ---------------------------------------------------------------------------------------------------- */

static bool are_old(void)
{
    bool all = true;
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        char *text = read_file(path_of(outputs[i]), NULL);
        all &= strcmp(text, "old") == 0;
        free(text);
    }
    return all;
}

/* Does what was written hold? */
static void check_release(const char *k)
{
    char k_option[16];
    snprintf(k_option, sizeof k_option, "k=%s", k);
    const char *const options[] = {"release=@o.csv",
                                   "original=@people.csv",
                                   "qi=age,sex",
                                   "sensitive=ill",
                                   "hierarchy=sex=@sex.csv",
                                   k_option,
                                   NULL};
    kn_settings *settings = settings_of(options);
    kn_result *result = NULL;
    assert_ok(kn_verify(&result, settings, err));
    kn_result_free(result);
    kn_settings_free(settings);
}

/* Stops the job at that tick; false when it has none such. */
static bool stop(const struct job *job, size_t at)
{
    kn_settings *settings = settings_of(job->options);
    kn_result *result = NULL;
    kn_error err = {0};
    reset_outputs();
    cancel = 0;
    n_ticks = 0;
    stop_at = at;
    kn_settings_on_cancel(settings, &cancel);
    const kn_status status = job->run(&result, settings, &err);
    stop_at = 0;
    const bool was_there = at == 0 || n_ticks >= at, has_best = strstr(err.message, "nothing was written") == NULL;
    if (status != KN_OK && (status != KN_INTERRUPTED || !was_there))
        fail_msg("tick %zu: status %d: %s", at, status, err.message);
    if (status == KN_INTERRUPTED && !has_best && !are_old())
        fail_msg("%s, tick %zu of %zu: %s, yet an output was replaced", job->options[0], at, n_ticks, err.message);
    if (job->run == kn_anonymize && (status == KN_OK || has_best)) check_release(strchr(job->options[5], '=') + 1);
    kn_result_free(result);
    kn_settings_free(settings);
    return was_there;
}

static void every_job_can_be_stopped_at_every_tick(void **state)
{
    const char *const release[] = {PEOPLE, "k=3", "output=@release.csv", NULL};
    kn_settings *settings = settings_of(release);
    kn_result *result;
    assert_ok(kn_anonymize(&result, settings, err));
    kn_result_free(result);
    kn_settings_free(settings);
    for (size_t j = 0; j < N_JOBS; j++) {
        stop(&jobs[j], 0);
        for (size_t at = 1; stop(&jobs[j], at); at++) {
        }
    }
}

/* --- Under other keys -------------------------------------------------------------------------------------------- */

/* What takes time and memory is not compared. */
static void drop_times(json_t *at)
{
    const char *key;
    json_t *value;
    size_t i;
    for (size_t n = 0; n < 4; n++)
        json_object_del(at, (const char *[]){"seconds", "peak_bytes", "progress", "proven"}[n]);
    json_object_foreach(at, key, value) drop_times(value);
    json_array_foreach(at, i, value) drop_times(value);
}

static char *plain_json(const kn_result *result)
{
    json_t *all = json_loads(kn_result_json(result), 0, NULL);
    assert_non_null(all);
    drop_times(all);
    char *text = json_dumps(all, JSON_SORT_KEYS);
    json_decref(all);
    return text;
}

/* Everything that the job says or writes, one after the other; yours to free. */
static char *said_by(const struct job *job, const char *const *more)
{
    const char *options[24];
    size_t n = 0;
    for (; job->options[n] != NULL; n++) options[n] = job->options[n];
    for (; *more != NULL; more++) options[n++] = *more;
    options[n] = NULL;
    kn_settings *settings = settings_of(options);
    kn_result *result = NULL;
    kn_error err = {0};
    kn_buffer all = {0};
    const kn_status status = job->run(&result, settings, &err);
    kn_buffer_printf(&all, "%d %s\n", status, err.message);
    if (result != NULL) {
        char *json = plain_json(result);
        kn_buffer_text(&all, json);
        free(json);
        static const char *const kept[] = {"output", "schema", "codebook", "certificate"};
        for (size_t i = 0; i < 4; i++) {
            const char *text = kn_result_kept(result, kept[i]);
            if (text != NULL) kn_buffer_text(&all, text);
        }
    }
    kn_result_free(result);
    kn_settings_free(settings);
    char *text = strdup(all.bytes);
    kn_buffer_free(&all);
    return text;
}

static void write_many(const char *name, unsigned n_rows)
{
    kn_rng rng = kn_rng_new(7, 0);
    kn_buffer text = {0};
    kn_buffer_text(&text, "age,zip,job,born,ill\n");
    for (unsigned i = 0; i < n_rows; i++)
        kn_buffer_printf(&text, "%u,%u,occupation number %u,19%u-0%u-1%u,%c\n", 18 + kn_rng_below(&rng, 70),
                         10000 + kn_rng_below(&rng, 300), kn_rng_below(&rng, 12), 40 + kn_rng_below(&rng, 60),
                         1 + kn_rng_below(&rng, 9), kn_rng_below(&rng, 9), "abcd"[kn_rng_below(&rng, 4)]);
    write_file(path_of(name), text.bytes, text.n);
    kn_buffer_free(&text);
}

static void set_key(uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        seed = kn_checksum_combine(seed, (uint64_t)i);
        kn_hash_key[i] = i < 2 ? seed | 1 : seed;
    }
}

static void check_keys(const struct job *job, const char *const *more)
{
    uint64_t before[4];
    memcpy(before, kn_hash_key, sizeof before);
    set_key(1);
    char *one = said_by(job, more);
    set_key(2);
    char *other = said_by(job, more);
    memcpy(kn_hash_key, before, sizeof before);
    if (strcmp(one, other) != 0) fail_msg("%s: another key, another result:\n%.3000s\n%.3000s", *more, one, other);
    free(one);
    free(other);
}

static void the_key_of_the_hash_tables_changes_nothing(void **state)
{
    static const struct job many = {kn_anonymize,
                                    {"data=@many.csv", "qi=age,zip,job,born", "sensitive=ill", "k=3",
                                     "max-suppressed=10%",
                                     "output=text:", "schema=text:", "codebook=text:", "effort=3000"}};
    static const struct job others[] = {
        {kn_risk, {"data=@many.csv", "qi=age,zip,job,born", "sensitive=ill", "attack=@many.csv"}},
        {kn_profile, {"data=@many.csv", "output=text:"}},
        {kn_compare_runs,
         {"data=@many.csv", "qi=age,zip,job", "sensitive=ill", "k=2,5", "algorithms=optimal,mondrian",
          "output=/dev/null"}},
        {kn_lattice_nodes, {"data=@many.csv", "qi=age,zip,job", "sensitive=ill", "k=5", "output=text:"}},
        {kn_anonymize, {"data=@many.csv", "qi=age,zip", "k=3", "output=text:", "certificate=text:"}},
        {kn_anonymize,
         {"data=@many.csv", "qi=age,job,born", "sensitive=ill", "k=3", "hierarchy=job=similar", "output=text:"}},
        {kn_anonymize, {"data=@many.csv", "qi=age,job", "sensitive=ill", "k=3", "person=zip", "output=text:"}},
    };
    size_t n_algorithms;
    const kn_algorithm *const *all = kn_algorithm_all(&n_algorithms);
    write_many("many.csv", 150); /* tables of several sizes grow, and searches have something to choose */
    for (size_t i = 0; i < n_algorithms; i++) {
        char option[60];
        snprintf(option, sizeof option, "algorithm=%s", all[i]->name);
        check_keys(&many, (const char *const[]){option, NULL});
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_keys(&others[i], (const char *const[]){"seed=3", NULL});
}

/* More rows than a cache holds are grouped in parts, and the key says which. */
static void nor_does_it_where_rows_are_grouped_in_parts(void **state)
{
    static const struct job large = {
        kn_anonymize,
        {"data=@large.csv", "qi=age,zip,job,born", "sensitive=ill", "k=3", "output=text:", "effort=2", "threads=2"}};
    static const char *const algorithms[] = {"algorithm=cluster", "algorithm=mondrian", "algorithm=optimal"};
    write_many("large.csv", 20000);
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        check_keys(&large, (const char *const[]){algorithms[i], NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_can_be_stopped_at_every_tick),
        cmocka_unit_test(the_key_of_the_hash_tables_changes_nothing),
        cmocka_unit_test(nor_does_it_where_rows_are_grouped_in_parts),
    };
    return cmocka_run_group_tests(tests, make_files, remove_folder);
}
