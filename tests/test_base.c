/* base/: messages, parameters, the pool, JSON, files. */
#include "file_support.h"
#include "support.h"

#include "base/formula.h"

#include "base/buffer.h"
#include "base/characters.h"
#include "base/fold.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "base/param.h"
#include "base/pool.h"
#include "base/unpack.h"
#include "base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_shown_value_is_cut_between_characters(void **state)
{
    char shown[KN_SHOWN_BYTES];
    const char *long_text = "123456789012345678901234567890123456789\xC3\xA9tail"; /* é starts at byte 39 */
    kn_value_shown(shown, long_text, strlen(long_text), false);
    assert_string_equal(shown, "'123456789012345678901234567890123456789'...");
    assert_string_equal(kn_value_shown(shown, "a\nb", 3, false), "'a\\x0ab'");
    assert_string_equal(kn_value_shown(shown, "secret", 6, true), "(redacted)");
}

static void the_first_message_wins(void **state)
{
    kn_error err = {0};
    kn_error_set(&err, KN_INPUT, "first");
    assert_int_equal(kn_error_set(&err, KN_USAGE, "second"), KN_USAGE);
    assert_string_equal(err.message, "first");
    kn_error passed = {0};
    assert_int_equal(kn_error_pass(&passed, KN_NOT_MET, &err), KN_NOT_MET);
    assert_string_equal(passed.message, "first");
    assert_int_equal(passed.code, KN_NOT_MET);
    kn_error_pass(&passed, KN_USAGE, &err);
    assert_int_equal(passed.code, KN_NOT_MET);
}

static const kn_param some_params[] = {
    {.name = "l", .type = KN_PARAM_INT, .required = true, .min = 1, .max = 100, .help = "how many"},
    {.name = "kind", .type = KN_PARAM_CHOICE, .preset = "distinct", .choices = "distinct|entropy", .help = "which"},
    {.name = "values", .type = KN_PARAM_TEXT, .help = "which values"},
};

static kn_status parse(kn_args *args, const char *text, kn_error *err)
{
    return kn_args_parse(args, "model", some_params, 3, text, err);
}

static void parameters_are_checked_against_their_table(void **state)
{
    kn_args args;
    assert_ok(parse(&args, "l=3,values=a\\,b", err));
    assert_int_equal((int)kn_args_number(&args, "l"), 3);
    assert_true(kn_args_is(&args, "kind", "distinct"));
    assert_string_equal(kn_args_text(&args, "values"), "a,b");
    kn_args_free(&args);

    const char *wrong[] = {"", "l=0", "l=101", "l=2.5", "l=x", "l=3,kind=other", "l=3,m=2", "l"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kn_error err = {0};
        assert_int_equal(parse(&args, wrong[i], &err), KN_USAGE);
        assert_true(strlen(err.message) > 10);
    }
}

static kn_status square(void *context, size_t job, unsigned worker, kn_error *err)
{
    ((uint64_t *)context)[job] = job * job;
    return job == 77777 ? kn_error_set(err, KN_INPUT, "job %zu", job) : KN_OK;
}

static void the_pool_runs_every_job_and_reports_a_failure(void **state)
{
    static uint64_t squares[100000];
    for (unsigned n_threads = 1; n_threads <= 4; n_threads++) {
        kn_pool *pool;
        assert_ok(kn_pool_new(&pool, n_threads, err));
        for (int round = 0; round < 50; round++) assert_ok(kn_pool_run(pool, 1000, square, squares, err));
        for (size_t i = 0; i < 1000; i++) assert_int_equal(squares[i], i * i);
        kn_error failure = {0};
        assert_int_equal(kn_pool_run(pool, 100000, square, squares, &failure), KN_INPUT);
        assert_string_equal(failure.message, "job 77777");
        kn_pool_free(pool);
    }
}

typedef struct meeting {
    kn_ticker ticker;
    pthread_t caller;
    atomic_bool worker_came;
    int n_shown, n_elsewhere;
    void *block;
    size_t used_before;
} meeting;

static int show(void *user, const char *stage, double fraction)
{
    meeting *here = user;
    here->n_elsewhere += !pthread_equal(here->caller, pthread_self());
    return ++here->n_shown == 3;
}

/* The caller's thread waits until a worker works, and has nothing to do then; the worker goes on until it is told to
 * stop, which it can only learn from the caller's thread. */
static kn_status meet(void *context, size_t job, unsigned worker, kn_error *err)
{
    meeting *here = context;
    double began = kn_seconds_now();
    if (pthread_equal(here->caller, pthread_self())) {
        while (!atomic_load(&here->worker_came) && kn_seconds_now() < began + 20) usleep(1000);
        return KN_OK;
    }
    here->block = kn_array_alloc(100000, 1, err);
    atomic_store(&here->worker_came, true);
    while (kn_seconds_now() < began + 20) {
        kn_status status = kn_tick(&here->ticker, "meeting", -1, err);
        if (status != KN_OK) return status;
        usleep(1000);
    }
    return KN_OK;
}

static void workers_tick_and_the_callers_thread_tells_it(void **state)
{
    meeting here = {.ticker = {.progress = show}, .caller = pthread_self(), .used_before = kn_memory_used()};
    kn_error failure = {0};
    kn_pool *pool;
    here.ticker.user = &here;
    assert_ok(kn_pool_new(&pool, 2, err));
    kn_pool_watch(pool, &here.ticker);
    assert_int_equal(kn_pool_run(pool, 2, meet, &here, &failure), KN_INTERRUPTED);
    assert_string_equal(failure.message, "interrupted during meeting; nothing was written");
    assert_int_equal(failure.code, KN_INTERRUPTED);
    assert_int_equal(here.n_shown, 3);
    assert_int_equal(here.n_elsewhere, 0);
    kn_pool_free(pool);
    assert_true(kn_memory_used() > here.used_before + 100000); /* a worker's memory is the caller's */
    kn_free(here.block);
    assert_int_equal(kn_memory_used(), here.used_before);
}

/* A block is credited where it was counted, whoever frees it, and its account lives as long. */
static void blocks_outlive_the_scope_they_were_made_in(void **state)
{
    kn_account *account;
    kn_scope before;
    size_t used = kn_memory_used();
    assert_ok(kn_account_new(&account, NULL, err));
    assert_ok(kn_scope_enter(&before, account, err));
    assert_true(kn_memory_used() < 1000); /* its own, not the one around it */
    char *block = kn_array_alloc(5000, 1, NULL);
    float *lanes = kn_array_alloc_aligned(100, sizeof *lanes, NULL);
    assert_int_equal((uintptr_t)lanes % 64, 0);
    for (int i = 0; i < 100; i++) assert_true(lanes[i] == 0);
    block = kn_array_resize(block, 9000, 1, NULL);
    assert_in_range(kn_memory_used(), 9400, 10000);
    assert_in_range(kn_memory_peak(), 9400, 15000);
    kn_free(lanes);
    kn_scope_leave(&before);
    kn_account_free(account);
    assert_int_equal(kn_memory_used(), used);
    memset(block, 1, 9000);
    kn_free(block);
    assert_int_equal(kn_memory_used(), used);
}

static void memory_of_others_counts_until_it_is_discharged(void **state)
{
    const size_t before = kn_memory_used();
    kn_charge charge, refused;
    kn_error err = {0};
    kn_account_limit(kn_scope_account(), before + 1000);
    assert_int_equal(kn_memory_charge(&charge, 600, &err), KN_OK);
    assert_int_equal(kn_memory_used(), before + 600);
    assert_null(kn_array_alloc(500, 1, NULL));
    assert_int_equal(kn_memory_charge(&refused, 500, &err), KN_RESOURCES);
    kn_memory_discharge(&refused);
    kn_memory_discharge(&charge);
    kn_memory_discharge(&charge);
    assert_int_equal(kn_memory_used(), before);
    kn_account_limit(kn_scope_account(), 0);
}

/* Whether the page of an address goes into a core dump, as the kernel has it; a page that is gone does not. */
static bool is_dumped(const void *address)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[4096];
    unsigned long from, to;
    bool here = false, dumped = false;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) here = from <= (uintptr_t)address && (uintptr_t)address < to;
        if (here && strncmp(line, "VmFlags:", 8) == 0) dumped = strstr(line, " dd") == NULL;
    }
    fclose(file);
    return dumped;
}

/* qemu-user keeps the program's wish to itself; a kernel that is asked directly says here whether it listens. */
static bool system_leaves_pages_out(void)
{
    enum { N = 1 << 16 };
    char *page = mmap(NULL, N, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    const bool listens = madvise(page, N, MADV_DONTDUMP) == 0 && !is_dumped(page);
    munmap(page, N);
    return listens;
}

static void large_blocks_are_left_out_of_core_dumps(void **state)
{
    enum { N = 1 << 20 };
    if (!system_leaves_pages_out()) skip();
    kn_account *account;
    kn_scope before;
    assert_ok(kn_account_new(&account, NULL, err));
    assert_ok(kn_scope_enter(&before, account, err));
    char *block = kn_array_alloc(N, 1, NULL), *other = kn_array_alloc_raw(N, 1, NULL);
    char *lanes = kn_array_alloc_aligned(N, 1, NULL);
    assert_false(is_dumped(block + N / 2) || is_dumped(other + N / 2) || is_dumped(lanes + N / 2));
    memset(block, 7, N);
    block = kn_array_resize(block, 3 * N, 1, NULL);
    assert_false(is_dumped(block + N / 2) || is_dumped(block + 5 * N / 2));
    for (int i = 0; i < N; i++) assert_int_equal(block[i], 7);
    block = kn_array_resize(block, 100, 1, NULL);
    assert_int_equal(block[99], 7);
    assert_true(is_dumped(block)); /* small now: its page holds others' memory, too */
    kn_free(block);
    kn_free(other);
    kn_free(lanes);
    kn_scope_leave(&before);
    kn_account_free(account);
    char *ours = malloc(N); /* may be the pages that were given back */
    memset(ours, 1, N);
    assert_true(is_dumped(ours + N / 2));
    free(ours);
}

static void memory_has_a_limit_and_a_failing_allocation(void **state)
{
    kn_error err = {0};
    size_t before = kn_memory_used();
    kn_account_limit(kn_scope_account(), before + 1000);
    assert_null(kn_array_alloc(2000, 1, &err));
    assert_non_null(strstr(err.message, "limit"));
    kn_account_limit(kn_scope_account(), 0);
    kn_memory_fail_at(2);
    void *first = kn_array_alloc(1, 1, NULL);
    assert_non_null(first);
    assert_null(kn_array_alloc(1, 1, NULL));
    kn_memory_fail_at(0);
    kn_free(first);
    assert_int_equal(kn_memory_used(), before);
}

static kn_status make_forty(kn_owner *owner, kn_error *err)
{
    kn_status status = KN_OK;
    for (int i = 0; i < 40; i++) {
        double *zeroed, *aligned;
        KN_OWN(owner, zeroed, 10);
        KN_OWN_ALIGNED(owner, aligned, 10);
        assert_true(zeroed[9] == 0 && (uintptr_t)aligned % 64 == 0);
    }
done:
    return status;
}

static void what_an_owner_made_ends_with_it_also_when_memory_runs_out(void **state)
{
    size_t before = kn_memory_used(), n_failed = 0;
    for (bool failed = true; failed; n_failed += failed) {
        kn_owner owner = {0};
        kn_memory_fail_at(n_failed + 1);
        failed = make_forty(&owner, NULL) != KN_OK;
        kn_memory_fail_at(0);
        assert_true(failed || kn_memory_used() >= before + 80 * 10 * sizeof(double));
        kn_owner_free(&owner);
        assert_int_equal(kn_memory_used(), before);
    }
    assert_true(n_failed > 80); /* the owner's own list, too */
}

static void room_is_kept_while_it_is_enough(void **state)
{
    size_t before = kn_memory_used();
    uint32_t *block = kn_array_room(NULL, 10, sizeof *block, NULL), *same;
    assert_non_null(block);
    assert_int_equal(kn_array_bytes(NULL), 0);
    assert_int_equal(kn_array_bytes(block), 10 * sizeof *block);
    for (uint32_t i = 0; i < 10; i++) block[i] = i;
    same = kn_array_room(block, 10, sizeof *block, NULL);
    assert_ptr_equal(same, block);
    assert_int_equal(same[9], 9);
    kn_memory_fail_at(1);
    assert_ptr_equal(kn_array_room(block, 3, sizeof *block, NULL), block); /* asks for nothing */
    assert_null(kn_array_room(block, 11, sizeof *block, NULL));            /* and then the old one is gone */
    kn_memory_fail_at(0);
    assert_int_equal(kn_memory_used(), before);
    block = kn_array_room(kn_array_alloc_aligned(5, sizeof *block, NULL), 4096, sizeof *block, NULL);
    assert_true(kn_array_bytes(block) >= 4096 * sizeof *block);
    kn_free(block);
    assert_int_equal(kn_memory_used(), before);
}

static void a_list_holds_what_its_items_say(void **state)
{
    static const char letters[] = "ab,\\";
    for (unsigned seed = 0; seed < 20000; seed++) {
        kn_rng rng = kn_rng_new(seed, 2);
        char list[8] = "", word[4] = "";
        kn_words items;
        bool found = false;
        for (unsigned i = 0, n = kn_rng_below(&rng, 8); i < n; i++) list[i] = letters[kn_rng_below(&rng, 4)];
        for (unsigned i = 0, n = kn_rng_below(&rng, 4); i < n; i++) word[i] = letters[kn_rng_below(&rng, 4)];
        assert_ok(kn_words_parse(&items, list, err));
        for (size_t i = 0; i < items.n; i++) found |= strcmp(items.items[i], word) == 0;
        if (kn_words_hold(list, word) != found) fail_msg("'%s' in '%s'", word, list);
        kn_words_free(&items);
    }
}

/* --- JSON ------------------------------------------------------------------------------------------------------ */

static void a_padded_text_fills_its_columns(void **state)
{
    static const struct {
        const char *text;
        unsigned n_columns;
        const char *padded;
    } cases[] = {
        {"age", 5, "age  "},  {"age", 3, "age"},      {"age", 2, "a…"},
        {"", 2, "  "},        {"größe", 6, "größe "}, {"größe", 3, "gr…"},
        {"年齢", 5, "年齢 "}, {"年齢", 3, "年…"},     {"e\xcc\x81t", 3, "e\xcc\x81t "},
        {"😀a", 4, "😀a "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_buffer text = {0};
        kn_buffer_padded(&text, cases[i].text, cases[i].n_columns);
        assert_string_equal(text.bytes, cases[i].padded);
        kn_buffer_free(&text);
    }
    assert_int_equal(kn_text_columns("年齢, größe"), 11);
    /* as terminals show them: marks above and below letters take no column, signs of two take two */
    assert_int_equal(kn_text_columns("السِّنّ"), 4);
    assert_int_equal(kn_text_columns("עִבְרִית"), 5);
    assert_int_equal(kn_text_columns("हिन्दी"), 5);
    assert_int_equal(kn_text_columns("ไทยที่"), 4);
    assert_int_equal(kn_text_columns("✅⭐ ok"), 7);
    assert_int_equal(kn_text_columns("한글"), 4);
    assert_int_equal(kn_text_columns("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), 2);
}

static void a_text_is_cut_between_characters(void **state)
{
    const char *text = "aб年😀"; /* characters of one to four bytes */
    const size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t most = 0; most < sizeof ends / sizeof *ends; most++) {
        kn_buffer shown = {0};
        assert_int_equal(kn_text_cut(text, strlen(text), most), ends[most]);
        kn_buffer_cut(&shown, text, most);
        assert_memory_equal(shown.bytes, text, ends[most]);
        assert_string_equal(shown.bytes + ends[most], ends[most] < strlen(text) ? "…" : "");
        kn_buffer_free(&shown);
    }
}

/* Whatever a message shows of a value, and wherever it ends, it is UTF-8. */
static void a_message_is_whole_however_its_values_are_cut(void **state)
{
    static const struct {
        const char *broken, *mended;
    } cases[] = {{"", ""},
                 {"a\xd0, b", "a…, b"},
                 {"\xf0\x9f\x98!", "…!"},
                 {"\xe5\xb9\xd0\xb1", "…б"},
                 {"Ren\xff.csv \x80", "Ren\xef\xbf\xbd.csv \xef\xbf\xbd"},
                 {"б年😀", "б年😀"}};
    char text[4000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s", cases[i].broken);
        kn_text_mend(text, sizeof text);
        assert_string_equal(text, cases[i].mended);
    }
    for (int n = 0; n < 12; n++) {
        kn_error failure = {0};
        kn_error_set(&failure, KN_USAGE, "'%.*s' is wrong", n, "бб年😀");
        for (size_t i = 0, n_good; failure.message[i] != '\0'; i += n_good) {
            n_good = kn_character_bytes(failure.message + i, strlen(failure.message + i));
            assert_true(n_good > 0);
        }
    }
    for (size_t room = 1; room < 20; room++) { /* no byte behind its room is written */
        memset(text, 'x', sizeof text);
        snprintf(text, room, "%s", "a\xd0\xd0\xd0 бббббб");
        kn_text_mend(text, room);
        assert_true(strlen(text) < room);
        assert_int_equal(text[room], 'x');
    }
}

static int keep_fraction(void *user, const char *stage, double fraction)
{
    *(double *)user = fraction;
    return 0;
}

static void a_time_limit_counts_as_progress_of_a_search(void **state)
{
    double shown = -1;
    kn_ticker ticker = {.progress = keep_fraction, .user = &shown};
    ticker.search_began = kn_seconds_now() - 1;
    ticker.search_deadline = ticker.search_began + 4;
    assert_ok(kn_tick(&ticker, "search", 0.01, err));
    assert_true(shown > 0.24 && shown < 0.9);
    ticker.last_shown_ms = 0;
    assert_ok(kn_tick(&ticker, "search", 0.95, err));
    assert_true(shown == 0.95);
    kn_ticker_limit(&ticker, 0);
    ticker.last_shown_ms = 0;
    assert_ok(kn_tick(&ticker, "writing", 0.02, err));
    assert_true(shown == 0.02);
}

static void a_search_without_a_partial_answer_is_given_up_when_time_is_over(void **state)
{
    kn_error said = {0};
    kn_ticker ticker = {.giving_up = "forest", .give_up_at = kn_seconds_now() + 3600};
    assert_ok(kn_tick(&ticker, "trees", -1, &said));
    ticker.give_up_at = kn_seconds_now();
    assert_int_equal(kn_tick(&ticker, "trees", -1, &said), KN_NOT_MET);
    assert_non_null(strstr(said.message, "during forest"));
}

static void a_json_text_has_a_fixed_form(void **state)
{
    kn_json json = {0};
    char *text = NULL;
    kn_json_object(&json, NULL);
    kn_json_text(&json, "quo\"te", "a\\b\n\x01\xC3\xA9/");
    kn_json_array(&json, "numbers");
    const double reals[] = {0, -2, 0.1, 1e300, 1.5e-7, -1e-10, 123456789012345678.0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) kn_json_real(&json, NULL, reals[i]);
    kn_json_count(&json, NULL, UINT64_MAX);
    kn_json_end(&json);
    kn_json_array(&json, "none");
    kn_json_end(&json);
    kn_json_object(&json, "empty");
    kn_json_end(&json);
    kn_json_bool(&json, "yes", true);
    kn_json_null(&json, "null");
    kn_json_bytes(&json, "not utf-8", "a\xFFz\xC3\x7F", 5);
    kn_json_end(&json);
    assert_ok(kn_json_finish(&text, &json, err));
    kn_json_resume(&json, text);
    kn_json_text(&json, "said", "later");
    kn_json_array(&json, "more");
    kn_json_count(&json, NULL, 1);
    kn_json_end(&json);
    kn_json_end(&json);
    assert_ok(kn_json_finish(&text, &json, err));
    assert_string_equal(text, "{\n"
                              "  \"quo\\\"te\": \"a\\\\b\\n\\u0001\xC3\xA9/\",\n"
                              "  \"numbers\": [\n    0.0,\n    -2.0,\n    0.1,\n    1e300,\n    1.5e-7,\n    -1e-10,\n"
                              "    1.23456789012346e17,\n    null,\n    null,\n    18446744073709551615\n  ],\n"
                              "  \"none\": [],\n  \"empty\": {},\n  \"yes\": true,\n  \"null\": null,\n"
                              "  \"not utf-8\": \"a\xEF\xBF\xBDz\xEF\xBF\xBD\\u007F\",\n"
                              "  \"said\": \"later\",\n  \"more\": [\n    1\n  ]\n}\n");
    kn_free(text);
}

/* The same tree for our writer and for the oracle; what is written depends on the dice alone. */
static void write_any(kn_json *json, json_t *expected, const char *key, kn_rng *rng, unsigned depth)
{
    json_t *value = NULL;
    unsigned dice = kn_rng_below(rng, depth < 5 ? 7 : 5);
    char bytes[8], name[24];
    size_t n = kn_rng_below(rng, sizeof bytes);
    double real = ldexp((double)kn_rng_below(rng, 1u << 30) - (1 << 29), (int)kn_rng_below(rng, 200) - 100);
    if (dice == 0) {
        for (size_t i = 0; i < n; i++) bytes[i] = (char)(1 + kn_rng_below(rng, 126)); /* the oracle leaves 0x7F */
        kn_json_bytes(json, key, bytes, n);
        value = json_stringn(bytes, n);
    } else if (dice == 1) {
        kn_json_real(json, key, real);
        value = json_real(real);
    } else if (dice == 2) {
        kn_json_count(json, key, n);
        value = json_integer((json_int_t)n);
    } else if (dice == 3) {
        kn_json_bool(json, key, n % 2 == 0);
        value = json_boolean(n % 2 == 0);
    } else if (dice == 4) {
        kn_json_null(json, key);
        value = json_null();
    } else {
        if (dice == 5) kn_json_array(json, key);
        else kn_json_object(json, key);
        value = dice == 5 ? json_array() : json_object();
        for (size_t i = 0; i < n; i++) {
            snprintf(name, sizeof name, "key %zu", i);
            write_any(json, value, dice == 5 ? NULL : name, rng, depth + 1);
        }
        kn_json_end(json);
    }
    if (key != NULL) json_object_set_new(expected, key, value);
    else json_array_append_new(expected, value);
}

static void random_json_has_the_bytes_of_another_writer(void **state)
{
    for (unsigned seed = 0; seed < 500; seed++) {
        kn_rng rng = kn_rng_new(seed, 0);
        kn_json json = {0};
        json_t *expected = json_array();
        char *text = NULL;
        kn_json_array(&json, NULL);
        for (int i = 0; i < 4; i++) write_any(&json, expected, NULL, &rng, 0);
        kn_json_end(&json);
        assert_ok(kn_json_finish(&text, &json, err));
        char *dumped = json_dumps(expected, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        assert_non_null(dumped);
        assert_int_equal(strlen(text), strlen(dumped) + 1);
        assert_memory_equal(text, dumped, strlen(dumped));
        free(dumped);
        json_decref(expected);
        kn_free(text);
    }
}

static void json_does_not_depend_on_the_locale(void **state)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8"};
    kn_json json = {0};
    char *text = NULL;
    size_t i = 0;
    while (i < sizeof locales / sizeof *locales && setlocale(LC_NUMERIC, locales[i]) == NULL) i++;
    kn_scope_to_host();
    kn_json_real(&json, NULL, -1.25e-9);
    kn_scope_from_host();
    assert_ok(kn_json_finish(&text, &json, err));
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, "-1.25e-9\n");
    kn_free(text);
    if (i == sizeof locales / sizeof *locales) skip();
}

static void a_failed_allocation_of_json_is_not_forgotten(void **state)
{
    size_t before = kn_memory_used();
    for (size_t n_th = 1, over = 0; !over; n_th++) {
        kn_json json = {0};
        char *text = NULL;
        kn_memory_fail_at(n_th);
        kn_json_array(&json, NULL);
        for (int i = 0; i < 200; i++) kn_json_text(&json, NULL, "many of these do not fit into the first block");
        kn_json_end(&json);
        over = kn_memory_allocations() < n_th;
        kn_status status = kn_json_finish(&text, &json, NULL);
        if (!over) over = kn_memory_allocations() < n_th;
        kn_memory_fail_at(0);
        assert_int_equal(status, over ? KN_OK : KN_RESOURCES);
        assert_int_equal(text != NULL, over);
        kn_free(text);
        assert_int_equal(kn_memory_used(), before);
    }
}

static int refuse(void *user, const char *stage, double fraction) { return 1; }

/* A thread that works for long without a tick asks whether its time is over; what it calls from must be asked too. */
static void who_asks_for_the_time_hears_that_the_host_wants_to_stop(void **state)
{
    kn_ticker ticker = {.progress = refuse};
    atomic_store(&ticker.stage, "search");
    assert_true(kn_ticker_out_of_time(&ticker));
    assert_true(kn_ticker_cancelled(&ticker));
}

static void a_guard_keeps_texts_apart_and_can_be_undone(void **state)
{
    static const struct {
        const char *text;
        bool formula;
    } cases[] = {{"=1+1", true}, {"@x", true},     {"-a", true},   {"+a", true},     {"\tx", true},
                 {"\r=x", true}, {"'=x", true},    {"''-x", true}, {"-5..-1", true}, {"-1-1", true},
                 {"-5e", true},  {"+.", true},     {"-5", false},  {"+5.25", false}, {"-.5", false},
                 {"-5.", false}, {"-1e+5", false}, {"'-5", false}, {"-", false},     {"=", false},
                 {"a=b", false}, {"'a", false},    {"", false},    {"'", false},     {"*", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (kn_is_formula(cases[i].text, strlen(cases[i].text)) != cases[i].formula) fail_msg("%s", cases[i].text);
    kn_rng rng = kn_rng_new(4, 4);
    for (int round = 0; round < 20000; round++) {
        char text[8], guarded[9];
        size_t n = kn_rng_below(&rng, 7), n_guarded = 0;
        for (size_t i = 0; i < n; i++) text[i] = "'=-+5.ea"[kn_rng_below(&rng, 8)];
        if (kn_is_formula(text, n)) guarded[n_guarded++] = '\'';
        memcpy(guarded + n_guarded, text, n);
        n_guarded += n;
        assert_true(n_guarded < 2 || strchr("=+-", guarded[0]) == NULL || !kn_is_formula(guarded, n_guarded));
        const char *back = kn_formula_unguard(guarded, &n_guarded);
        assert_true(n_guarded == n && memcmp(back, text, n) == 0);
    }
}

/* --- Files ----------------------------------------------------------------------------------------------------- */

static void assert_reads(kn_files *files, const char *path, const char *expected)
{
    char bytes[4096];
    size_t n = 0;
    int file;
    assert_ok(kn_files_open(&file, files, path, err));
    assert_true(file >= 0);
    for (ssize_t got; (got = read(file, bytes + n, sizeof bytes - 1 - n)) > 0;) n += (size_t)got;
    bytes[n] = '\0';
    close(file);
    assert_string_equal(bytes, expected);
}

static void a_target_that_is_read_is_refused_by_any_name(void **state)
{
    static const char *const names[] = {"in.csv", "./in.csv", "link.csv", "hard.csv", "sub/../in.csv", "loop/in.csv"};
    int file;
    write_text(path_of("in.csv"), "x");
    write_text(path_of("other.csv"), "x");
    mkdir(path_of("sub"), 0700);
    assert_int_equal(symlink("in.csv", path_of("link.csv")), 0);
    assert_int_equal(symlink(".", path_of("loop")), 0);
    assert_int_equal(link(path_of("in.csv"), path_of("hard.csv")), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kn_files *files = NULL;
        kn_error refusal = {0}, later = {0};
        char expected[512];
        assert_ok(kn_files_new(&files, NULL, NULL));
        assert_ok(kn_files_guard(files, "output", path_of(names[i]), NULL));
        assert_reads(files, path_of("other.csv"), "x");
        assert_ok(kn_files_check(files, NULL));
        assert_int_equal(kn_files_open(&file, files, path_of("in.csv"), &refusal), KN_USAGE);
        assert_int_equal(file, -1);
        snprintf(expected, sizeof expected, "--output %s is an input; choose another name", path_of(names[i]));
        assert_string_equal(refusal.message, expected);
        assert_int_equal(kn_files_check(files, &later), KN_USAGE); /* whoever made light of it is stopped in the end */
        assert_string_equal(later.message, expected);
        kn_files_free(files);
    }
}

static void a_file_read_before_the_run_is_an_input_too(void **state)
{
    kn_files *files = NULL;
    kn_file_id id;
    write_text(path_of("policy.yaml"), "x");
    int file = open(path_of("policy.yaml"), O_RDONLY);
    assert_true(kn_file_identify(&id, file));
    close(file);
    assert_ok(kn_files_new(&files, NULL, NULL));
    assert_ok(kn_files_add(files, id, NULL));
    assert_ok(kn_files_check(files, NULL));
    assert_ok(kn_files_guard(files, "json", path_of("policy.yaml"), NULL));
    assert_int_equal(kn_files_check(files, NULL), KN_USAGE);
    kn_files_free(files);
    file = open("/dev/null", O_RDONLY);
    assert_false(kn_file_identify(&id, file));
    close(file);
}

static void two_targets_in_one_place_are_refused_whether_it_exists_or_not(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"new", "./new", true},       {"new", "sub/../new", true}, {"new", "loop/new", true},
                 {"new", "new2", false},       {"new", "sub/new", false},   {"new", "other.csv", false},
                 {"in.csv", "hard.csv", true}, {"fifo", "loop/fifo", true}, {"in.csv", "other.csv", false}};
    mkfifo(path_of("fifo"), 0600);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_files *files = NULL;
        kn_error refusal = {0};
        assert_ok(kn_files_new(&files, NULL, NULL));
        assert_ok(kn_files_guard(files, "output", path_of(cases[i].a), NULL));
        assert_int_equal(kn_files_guard(files, "json", path_of(cases[i].b), &refusal),
                         cases[i].same ? KN_USAGE : KN_OK);
        if (cases[i].same) assert_non_null(strstr(refusal.message, "--output and --json both go to /tmp/"));
        kn_files_free(files);
    }
    kn_files *files = NULL;
    assert_ok(kn_files_new(&files, NULL, NULL));
    assert_ok(kn_files_guard(files, "output", "/dev/null", NULL));
    assert_int_equal(kn_files_guard(files, "json", "/dev/null", NULL), KN_USAGE); /* one name twice is a slip */
    assert_ok(kn_files_guard(files, "json", "/dev/../dev/null", NULL));
    kn_files_free(files);
}

static pid_t write_pipe(const char *path, const char *text)
{
    pid_t child = fork();
    if (child == 0) {
        int file = open(path, O_WRONLY);
        size_t n = strlen(text);
        for (size_t i = 0; i < n; i++)
            if (write(file, text + i, 1) != 1) _exit(1);
        _exit(0);
    }
    return child;
}

static void a_pipe_can_be_read_as_often_as_a_file(void **state)
{
    kn_files *files = NULL;
    assert_ok(kn_files_new(&files, NULL, NULL));
    mkfifo(path_of("fifo"), 0600);
    pid_t child = write_pipe(path_of("fifo"), "once,upon\na,time\n");
    for (int i = 0; i < 3; i++) assert_reads(files, path_of("fifo"), "once,upon\na,time\n");
    assert_reads(files, path_of("loop/fifo"), "once,upon\na,time\n"); /* the same pipe */
    assert_reads(files, "/dev/null", "");
    waitpid(child, NULL, 0);
    kn_files_free(files);
}

static void standard_input_is_kept_and_known(void **state)
{
    kn_files *files = NULL;
    int old = dup(STDIN_FILENO), file = open(path_of("in.csv"), O_RDONLY), ignored;
    dup2(file, STDIN_FILENO);
    close(file);
    assert_ok(kn_files_new(&files, NULL, NULL));
    assert_reads(files, "-", "x");
    assert_reads(files, "-", "x");
    assert_ok(kn_files_guard(files, "output", path_of("in.csv"), NULL));
    assert_int_equal(kn_files_check(files, NULL), KN_USAGE);
    kn_files_free(files);
    lseek(STDIN_FILENO, 0, SEEK_SET);
    assert_ok(kn_files_new(&files, NULL, NULL));
    assert_ok(kn_files_guard(files, "output", path_of("in.csv"), NULL));
    assert_int_equal(kn_files_open(&ignored, files, "-", NULL), KN_USAGE);
    kn_files_free(files);
    dup2(old, STDIN_FILENO);
    close(old);
}

static void what_cannot_be_opened_says_why(void **state)
{
    kn_files *files = NULL;
    int file;
    assert_ok(kn_files_new(&files, NULL, NULL));
    assert_ok(kn_files_open(&file, files, path_of("none.csv"), NULL));
    assert_int_equal(file, -1);
    assert_int_equal(errno, ENOENT);
    kn_files_free(files);
}

static void every_allocation_for_a_pipe_may_fail(void **state)
{
    size_t before = kn_memory_used();
    for (size_t n_th = 1;; n_th++) {
        kn_files *files = NULL;
        int file = -1;
        pid_t child = write_pipe(path_of("fifo"), "some text");
        kn_memory_fail_at(n_th);
        kn_status status = kn_files_new(&files, NULL, NULL);
        if (status == KN_OK) status = kn_files_guard(files, "output", path_of("out"), NULL);
        if (status == KN_OK) status = kn_files_open(&file, files, path_of("fifo"), NULL);
        bool over = kn_memory_allocations() < n_th;
        kn_memory_fail_at(0);
        if (!over) { /* let the writer go */
            int rest = open(path_of("fifo"), O_RDONLY | O_NONBLOCK);
            waitpid(child, NULL, WNOHANG);
            usleep(20000);
            close(rest);
        }
        if (file >= 0) close(file);
        kn_files_free(files);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        assert_int_equal(kn_memory_used(), before);
        assert_int_equal(status, over ? KN_OK : KN_RESOURCES);
        if (over) break;
    }
}

static void words_are_one_whatever_their_case_and_the_blanks_around_them(void **state)
{
    static const char *const same[][2] = {
        {"HIV", "hiv"},
        {" HIV\t", "hiv"},
        {"HIV\r\n", "hiv"},
        {"\u00A0Flu \u00A0", "flu"},
        {"GRÖSSE", "grösse"},
        {"Größe", "GRÖẞE"},
        {"ÀÉÎÕÜÞ", "àéîõüþ"},
        {"ŁÓDŹ", "łódź"},
        {"ŠKODA ŽĎÁR", "škoda žďár"},
        {"ŐŰ", "őű"},
        {"ÅSE", "åse"},
        {"Ÿ", "ÿ"},
        {"ΣΊΣΥΦΟΣ", "σίσυφος"},
        {"ΆΈΉΊΌΎΏΪΫ", "άέήίόύώϊϋ"},
        {"МОСКВА Ё", "москва ё"},
        {"ЇЄҐЎЏ", "їєґўџ"},
        {"ԵՐԵՎԱՆ", "երեվան"},
        {"ƏLİ", "əlİ"},
        {"ĐẶNG ƠƯ", "đặng ơư"},
        {"ſ\u212A\u212B\u00B5", "skåμ"},
        {"", "  "},
        {"\xFF\xC3", "\xFF\xC3"},
        {"a\xE9", "A\xE9"},
    };
    static const char *const different[][2] = {{"HIV", "HI V"}, {"a b", "a  b"}, {"ss", "ß"}, {"I", "ı"},
                                               {"×", "÷"},      {"", "x"},       {"a", "á"},  {"\xC3\x89", "\xC3"}};
    char a[64], b[64];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        size_t n_a = kn_fold(a, same[i][0], strlen(same[i][0])), n_b = kn_fold(b, same[i][1], strlen(same[i][1]));
        if (n_a != n_b || memcmp(a, b, n_a) != 0) fail_msg("%s and %s", same[i][0], same[i][1]);
        assert_true(kn_fold_equal(same[i][0], strlen(same[i][0]), same[i][1], strlen(same[i][1])));
        assert_true(n_a <= strlen(same[i][0]) && n_b <= strlen(same[i][1]));
    }
    for (size_t i = 0; i < sizeof different / sizeof *different; i++)
        assert_false(kn_fold_equal(different[i][0], strlen(different[i][0]), different[i][1], strlen(different[i][1])));
    kn_rng rng = kn_rng_new(8, 8);
    for (int round = 0; round < 20000; round++) { /* any bytes: never longer, once is enough */
        char text[12], folded[12], again[12];
        size_t n = kn_rng_below(&rng, 12);
        for (size_t i = 0; i < n; i++)
            text[i] = (char)(kn_rng_below(&rng, 2) ? 0x80 + kn_rng_below(&rng, 128) : kn_rng_below(&rng, 128));
        size_t n_folded = kn_fold(folded, text, n), n_again = kn_fold(again, folded, n_folded);
        assert_true(n_folded <= n && n_again == n_folded && memcmp(folded, again, n_again) == 0);
        assert_true(kn_fold_equal(text, n, folded, n_folded));
    }
}

/* --- Packed files --------------------------------------------------------------------------------------------------
 */

/* `n_parts` gzip parts of 64 MB of zeros one behind the other, unpacked to nowhere. */
static kn_status unpack_zeros(uint32_t n_parts, kn_error *err)
{
    enum { PART_BYTES = 64 << 20 };
    unsigned char *zeros = kn_array_alloc(1, PART_BYTES, NULL), packed[1 << 18];
    z_stream z = {.next_in = zeros, .avail_in = PART_BYTES, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n_packed = z.total_out;
    deflateEnd(&z);
    kn_free(zeros);
    FILE *file = tmpfile();
    for (uint32_t part = 0; part < n_parts; part++) assert_int_equal(fwrite(packed, 1, n_packed, file), n_packed);
    assert_int_equal(fflush(file), 0);
    rewind(file);
    const int nowhere = open("/dev/null", O_WRONLY);
    kn_ticker ticker = {0};
    kn_status status = kn_unpack(nowhere, fileno(file), KN_PACKED_GZIP, "zeros.gz", "nowhere", &ticker, err);
    close(nowhere);
    fclose(file);
    return status;
}

static void what_grows_like_a_bomb_is_refused_and_what_is_only_large_is_not(void **state)
{
    kn_error err = {0};
    assert_int_equal(unpack_zeros(16, &err), KN_OK); /* a gigabyte does no harm */
    assert_int_equal(unpack_zeros(17, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "zeros.gz: it grows more than 500 times when unpacked"));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shown_value_is_cut_between_characters),
        cmocka_unit_test(the_first_message_wins),
        cmocka_unit_test(parameters_are_checked_against_their_table),
        cmocka_unit_test(the_pool_runs_every_job_and_reports_a_failure),
        cmocka_unit_test(workers_tick_and_the_callers_thread_tells_it),
        cmocka_unit_test(blocks_outlive_the_scope_they_were_made_in),
        cmocka_unit_test(memory_of_others_counts_until_it_is_discharged),
        cmocka_unit_test(large_blocks_are_left_out_of_core_dumps),
        cmocka_unit_test(memory_has_a_limit_and_a_failing_allocation),
        cmocka_unit_test(room_is_kept_while_it_is_enough),
        cmocka_unit_test(what_an_owner_made_ends_with_it_also_when_memory_runs_out),
        cmocka_unit_test(a_list_holds_what_its_items_say),
        cmocka_unit_test(a_padded_text_fills_its_columns),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(a_message_is_whole_however_its_values_are_cut),
        cmocka_unit_test(a_time_limit_counts_as_progress_of_a_search),
        cmocka_unit_test(a_search_without_a_partial_answer_is_given_up_when_time_is_over),
        cmocka_unit_test(a_json_text_has_a_fixed_form),
        cmocka_unit_test(random_json_has_the_bytes_of_another_writer),
        cmocka_unit_test(json_does_not_depend_on_the_locale),
        cmocka_unit_test(a_failed_allocation_of_json_is_not_forgotten),
        cmocka_unit_test(a_target_that_is_read_is_refused_by_any_name),
        cmocka_unit_test(a_file_read_before_the_run_is_an_input_too),
        cmocka_unit_test(two_targets_in_one_place_are_refused_whether_it_exists_or_not),
        cmocka_unit_test(a_pipe_can_be_read_as_often_as_a_file),
        cmocka_unit_test(standard_input_is_kept_and_known),
        cmocka_unit_test(what_cannot_be_opened_says_why),
        cmocka_unit_test(every_allocation_for_a_pipe_may_fail),
        cmocka_unit_test(what_grows_like_a_bomb_is_refused_and_what_is_only_large_is_not),
        cmocka_unit_test(who_asks_for_the_time_hears_that_the_host_wants_to_stop),
        cmocka_unit_test(a_guard_keeps_texts_apart_and_can_be_undone),
        cmocka_unit_test(words_are_one_whatever_their_case_and_the_blanks_around_them),
    };
    return cmocka_run_group_tests_name("base", tests, make_folder, remove_folder);
}
