/* base/: messages, parameters, the pool. */
#include "support.h"

#include "base/buffer.h"
#include "base/param.h"
#include "base/pool.h"

#include <string.h>

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
    kn_error err = {{0}};
    kn_error_set(&err, KN_INPUT, "first");
    assert_int_equal(kn_error_set(&err, KN_USAGE, "second"), KN_USAGE);
    assert_string_equal(err.message, "first");
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
        kn_error err = {{0}};
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
        kn_error failure = {{0}};
        assert_int_equal(kn_pool_run(pool, 100000, square, squares, &failure), KN_INPUT);
        assert_string_equal(failure.message, "job 77777");
        kn_pool_free(pool);
    }
}

static void memory_has_a_limit_and_a_failing_allocation(void **state)
{
    kn_error err = {{0}};
    size_t before = kn_memory_used();
    kn_memory_set_limit(before + 1000);
    assert_null(kn_array_alloc(2000, 1, &err));
    assert_non_null(strstr(err.message, "limit"));
    kn_memory_set_limit(0);
    kn_memory_fail_at(2);
    void *first = kn_array_alloc(1, 1, NULL);
    assert_non_null(first);
    assert_null(kn_array_alloc(1, 1, NULL));
    kn_memory_fail_at(0);
    kn_free(first);
    assert_int_equal(kn_memory_used(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shown_value_is_cut_between_characters),
        cmocka_unit_test(the_first_message_wins),
        cmocka_unit_test(parameters_are_checked_against_their_table),
        cmocka_unit_test(the_pool_runs_every_job_and_reports_a_failure),
        cmocka_unit_test(memory_has_a_limit_and_a_failing_allocation),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
