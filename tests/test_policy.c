/* The policy file: what it means, and where it is refused. */
#include "support.h"

#include "base/suggest.h"
#include "policy/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void file_write(const char *text, size_t n_bytes)
{
    snprintf(path, sizeof path, "/tmp/kanon_policy_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n_bytes), n_bytes);
    close(fd);
}

static kn_status load(kn_settings **out, const char *text, kn_error *failure)
{
    assert_ok(kn_settings_new(out, err));
    file_write(text, strlen(text));
    kn_status status = kn_settings_load(*out, path, failure);
    unlink(path);
    return status;
}

/* The policy is refused, the message names line and column, and says the words. */
static void refused(const char *text, const char *place, const char *words)
{
    kn_settings *settings = NULL;
    kn_error failure = {{0}};
    assert_int_equal(load(&settings, text, &failure), KN_USAGE);
    char expected[128];
    snprintf(expected, sizeof expected, "%s%s", path, place);
    if (strncmp(failure.message, expected, strlen(expected)) != 0) fail_msg("not at %s: %s", expected, failure.message);
    if (strstr(failure.message, words) == NULL) fail_msg("does not say '%s': %s", words, failure.message);
    kn_settings_free(settings);
}

static const char whole[] = "version: 1\n"
                            "input:  {null_values: [\"\", NA, \"a,b\"], encoding: utf-8, header: no, trim: yes}\n"
                            "person: patient_id\n"
                            "unlisted_columns: error\n"
                            "columns:\n"
                            "  patient_id: {role: identifier}\n"
                            "  age:        {role: quasi, type: int, hierarchy: \"intervals(5,10,20)\", weight: 2}\n"
                            "  zip:        {role: quasi, type: text, hierarchy: \"mask(right)\"}\n"
                            "  country:    {role: quasi, hierarchy: {file: country.csv}, max_level: 2}\n"
                            "  NO:         {role: sensitive}\n"
                            "  \"a,b\":      insensitive\n"
                            "models:\n"
                            "  - k-anonymity: {k: 011}\n"
                            "suppression: {max: 2%}\n"
                            "missing: value\n"
                            "algorithm: {name: auto}\n"
                            "measure: lm\n"
                            "risk: {threshold: 0.09}\n";

static void the_design_s_policy_becomes_settings(void **state)
{
    kn_settings *settings = NULL;
    assert_ok(load(&settings, whole, err));
    assert_string_equal(kn_settings_text(settings, "person"), "patient_id");
    assert_string_equal(kn_settings_text(settings, "unlisted"), "error");
    assert_string_equal(kn_settings_text(settings, "null"), ",NA,a\\,b");
    assert_string_equal(kn_settings_text(settings, "no-header"), "yes");
    assert_string_equal(kn_settings_text(settings, "trim"), "yes");
    assert_string_equal(kn_settings_text(settings, "max-suppressed"), "2%");
    assert_string_equal(kn_settings_text(settings, "threshold"), "0.09");
    assert_string_equal(kn_settings_text(settings, "measure"), "lm");
    assert_string_equal(kn_settings_nth(settings, "model", 0)->value, "k-anonymity:k=011");
    assert_null(kn_settings_nth(settings, "model", 1));
    assert_string_equal(kn_settings_nth(settings, "hierarchy", 0)->value, "age=intervals(5,10,20)");
    assert_string_equal(kn_settings_nth(settings, "hierarchy", 2)->value, "country=./country.csv");
    assert_string_equal(settings->policy_folder, "/tmp");
    const char *const names[] = {"patient_id", "age", "zip", "country", "NO", "a,b"};
    kn_column_choice *choices = NULL;
    assert_ok(kn_settings_columns(&choices, settings, names, 6, KN_COLUMNS_OF_DATA, NULL, err));
    const kn_role roles[] = {KN_ROLE_IDENTIFIER, KN_ROLE_QUASI,     KN_ROLE_QUASI,
                             KN_ROLE_QUASI,      KN_ROLE_SENSITIVE, KN_ROLE_INSENSITIVE};
    for (int i = 0; i < 6; i++) assert_int_equal(choices[i].role, roles[i]);
    assert_true(choices[0].is_person);
    assert_float_equal(choices[1].weight, 2, 0);
    assert_int_equal(choices[3].max_level, 2);
    assert_int_equal(choices[2].type, KN_TYPE_TEXT);
    kn_free(choices);
    kn_settings_free(settings);
}

static void a_flag_overrides_the_policy_before_and_after(void **state)
{
    kn_settings *settings = NULL;
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_set(settings, "measure", "dm", err));
    file_write(whole, sizeof whole - 1);
    assert_ok(kn_settings_load(settings, path, err));
    unlink(path);
    assert_ok(kn_settings_set(settings, "model", "k-anonymity:k=3", err));
    assert_string_equal(kn_settings_text(settings, "measure"), "dm");
    assert_string_equal(kn_settings_nth(settings, "model", 0)->value, "k-anonymity:k=3");
    kn_settings_free(settings);
}

static void scalars_are_not_guessed(void **state)
{
    kn_settings *settings = NULL;
    assert_ok(load(&settings,
                   "version: 1\ncolumns:\n  01234: {role: quasi, hierarchy: 'order(NO<YES<1e3)'}\n"
                   "  on: sensitive\n  null: insensitive\n",
                   err));
    assert_string_equal(kn_settings_text(settings, "qi"), "01234");
    assert_string_equal(kn_settings_text(settings, "sensitive"), "on");
    assert_string_equal(kn_settings_text(settings, "insensitive"), "null");
    assert_string_equal(kn_settings_text(settings, "hierarchy"), "01234=order(NO<YES<1e3)");
    kn_settings_free(settings);
}

static void what_the_schema_does_not_know_is_refused_with_its_place(void **state)
{
    refused("version: 1\nmodel:\n  - k-anonymity: {k: 3}\n", ":2:1:", "did you mean 'models'");
    refused("version: 1\nflavour: 3\n", ":2:1:", "has no key 'flavour'; it has");
    refused("version: 2\n", ":1:1:", "this program knows 1");
    refused("columns: {a: quasi}\n", ":", "must say 'version: 1'");
    refused("version: 1\ncolumns:\n  age: {rolle: quasi}\n", ":3:9:", "did you mean 'role'");
    refused("version: 1\ncolumns:\n  age: {role: quassi}\n", ":3:15:", "did you mean 'quasi'");
    refused("version: 1\ncolumns:\n  age: {type: int}\n", ":3:3:", "has no role");
    refused("version: 1\ncolumns:\n  age:\n", ":3:3:", "must be a mapping");
    refused("version: 1\ncolumns: [age]\n", ":2:1:", "one key per column");
    refused("version: 1\nmodels: {k-anonymity: 3}\n", ":2:1:", "models is a list");
    refused("version: 1\nmodels:\n  - k-anonimity: {k: 3}\n", ":3:5:", "did you mean 'k-anonymity'");
    refused("version: 1\nmodels:\n  - k-anonymity: {k: many}\n", ":3:5:", "many");
    refused("version: 1\nmodels:\n  - k-anonymity: {kk: 3}\n", ":3:5:", "kk");
    refused("version: 1\nmodels:\n  - k-anonymity:\n    k: 3\n", ":3:5:", "indent parameters");
    refused("version: 1\nmeasure: lmm\n", ":2:10:", "there is no measure 'lmm'");
    refused("version: 1\nalgorithm: {name: sorcery}\n", ":2:19:", "there is no algorithm");
    refused("version: 1\nmissing: maybe\n", ":2:10:", "none of value|wildcard");
    refused("version: 1\ninput: {trim: perhaps}\n", ":2:15:", "yes or no");
    refused("version: 1\ninput: {null_values: NA}\n", ":2:9:", "is a list");
    refused("version: 1\nperson:\n", ":2", "needs a value");
    refused("version: 1\nperson: [a]\n", ":2:1:", "takes one value");
    refused("version: 1\nperson: &x a\nmissing: *x\n", ":3:1:", "aliases");
    refused("version: 1\nversion: 1\n", ":2:1:", "");
    refused("version: 1\ncolumns:\n  a: quasi\n  a: sensitive\n", ":4:3:", "");
    refused("version: [1\n", ":", "");
    refused("", ":", "");
    refused("just text\n", ":", "must be a mapping");
    refused("version: 1\n\tperson: a\n", ":", "");
}

static void a_policy_that_is_not_there_is_an_input_error(void **state)
{
    kn_settings *settings = NULL;
    kn_error failure = {{0}};
    assert_ok(kn_settings_new(&settings, err));
    assert_int_equal(kn_settings_load(settings, "/nonexistent/policy.yaml", &failure), KN_INPUT);
    assert_non_null(strstr(failure.message, "/nonexistent/policy.yaml"));
    kn_settings_free(settings);
}

static void loading_survives_a_lack_of_memory(void **state)
{
    file_write(whole, sizeof whole - 1);
    for (size_t n_th = 1; n_th < 2000; n_th++) {
        kn_settings *settings = NULL;
        kn_error failure = {{0}};
        assert_ok(kn_settings_new(&settings, err));
        kn_memory_fail_at(n_th);
        kn_status status = kn_settings_load(settings, path, &failure);
        kn_memory_fail_at(0);
        kn_settings_free(settings);
        if (status == KN_OK) {
            unlink(path);
            return;
        }
    }
    unlink(path);
    fail_msg("never succeeded");
}

static void random_bytes_are_refused_without_a_crash(void **state)
{
    kn_rng rng = kn_rng_new(77, 0);
    char text[sizeof whole];
    for (int round = 0; round < 2000; round++) {
        size_t n = sizeof whole - 1;
        memcpy(text, whole, n);
        for (uint32_t i = 0; i <= kn_rng_below(&rng, 4); i++)
            text[kn_rng_below(&rng, (uint32_t)n)] = "\n :{}[],-#&*!|>'\"%@`\t\0x"[kn_rng_below(&rng, 24)];
        if (kn_rng_below(&rng, 4) == 0) n = kn_rng_below(&rng, (uint32_t)n);
        kn_settings *settings = NULL;
        kn_error failure = {{0}};
        assert_ok(kn_settings_new(&settings, err));
        file_write(text, n);
        kn_status status = kn_settings_load(settings, path, &failure);
        if (status != KN_OK) assert_int_equal(status, KN_USAGE);
        if (status != KN_OK) assert_true(failure.message[0] != '\0');
        unlink(path);
        kn_settings_free(settings);
    }
}

static void a_slip_of_the_finger_finds_its_word(void **state)
{
    const char *const words[] = {"columns", "models", "measure", "risk"};
    assert_string_equal(kn_suggest("colums", words, 4), "columns");
    assert_string_equal(kn_suggest("modles", words, 4), "models");
    assert_string_equal(kn_suggest("rsik", words, 4), "risk");
    assert_null(kn_suggest("banana", words, 4));
    assert_null(kn_suggest("x", words, 4));
    assert_null(kn_suggest("", words, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_design_s_policy_becomes_settings),
        cmocka_unit_test(a_flag_overrides_the_policy_before_and_after),
        cmocka_unit_test(scalars_are_not_guessed),
        cmocka_unit_test(what_the_schema_does_not_know_is_refused_with_its_place),
        cmocka_unit_test(a_policy_that_is_not_there_is_an_input_error),
        cmocka_unit_test(loading_survives_a_lack_of_memory),
        cmocka_unit_test(random_bytes_are_refused_without_a_crash),
        cmocka_unit_test(a_slip_of_the_finger_finds_its_word),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
