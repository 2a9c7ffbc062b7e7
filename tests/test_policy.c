/* The policy file: what it means, and where it is refused. */
#include "support.h"

#include "same_settings.h"

#include "base/suggest.h"
#include "policy/settings.h"
#include "base/yaml.h"
#include "risk/risk.h"

#include <libfyaml.h>
#include <math.h>
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
    kn_error failure = {0};
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
    assert_ok(kn_settings_columns(&choices, settings, names, 6, KN_COLUMNS_OF_DATA, NULL, NULL, NULL, err));
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

static void a_policy_and_flags_become_fields(void **state)
{
    kn_settings *settings = NULL;
    kn_request *request = NULL;
    assert_ok(load(&settings, whole, err));
    const char *const flags[][2] = {{"seed", "7"},
                                    {"memory", "1.5M"},
                                    {"delimiter", "tab"},
                                    {"order", "input"},
                                    {"language", "de"},
                                    {"encoding", "utf-16"},
                                    {"missing", "wildcard"},
                                    {"population", ".25"},
                                    {"algorithms", "datafly,mondrian"},
                                    {"trim", "no"},
                                    {"k", "3"},
                                    {"k", "4"},
                                    {"level", "zip=1..2"},
                                    {"level", "age=..2"},
                                    {"data", "table:people"}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        assert_ok(kn_settings_set(settings, flags[i][0], flags[i][1], err));
    assert_ok(kn_request_new(&request, settings, err));
    assert_string_equal(request->person, "patient_id");
    assert_int_equal(request->unlisted, KN_UNLISTED_ERROR);
    assert_int_equal(request->null.n, 3);
    assert_string_equal(request->null.items[2], "a,b");
    assert_true(request->no_header && !request->trim);
    assert_true(request->max_suppressed.given && request->max_suppressed.is_percent);
    assert_float_equal(request->max_suppressed.amount, 2, 0);
    assert_int_equal(request->seed, 7);
    assert_int_equal(request->memory, 3 << 19);
    assert_int_equal(request->delimiter, '\t');
    assert_int_equal(request->order, KN_ORDER_INPUT);
    assert_int_equal(request->language, KN_LANGUAGE_DE);
    assert_int_equal(request->encoding, KN_ENCODING_UTF16);
    assert_int_equal(request->missing, KN_MISSING_WILDCARD);
    assert_float_equal(request->population.fraction, .25, 0);
    assert_null(request->population.file);
    assert_int_equal(request->algorithms.n, 2);
    assert_int_equal(request->models.n, 1); /* the last -k in place of the policy's */
    assert_string_equal(request->models.items[0], "k-anonymity:k=4");
    assert_int_equal(request->n_levels, 2);
    assert_int_equal(request->n_hierarchies, 3);
    assert_string_equal(request->data, "table:people");
    for (size_t i = 0; i < request->n_listed; i++) assert_string_not_equal(request->listed[i]->option, "model");
    kn_request_free(request);
    kn_settings_free(settings);
}

static void what_nobody_set_has_its_default(void **state)
{
    kn_settings *settings = NULL;
    kn_request *request = NULL;
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_request_new(&request, settings, err));
    kn_request expected;
    memset(&expected, 0, sizeof expected);
    expected.settings = settings;
    expected.tables = &settings->tables;
    expected.unlisted = KN_UNLISTED_DROP;
    expected.threshold = KN_RISK_THRESHOLD;
    expected.algorithm = request->algorithm;
    expected.measure = request->measure;
    expected.seed = 1;
    expected.models = request->models;
    expected.asked_models = request->asked_models;
    expected.listed = request->listed;
    expected.derivations = request->derivations;
    expected.policy_hash = settings->policy_hash;
    assert_string_equal(request->algorithm, "auto");
    assert_string_equal(request->measure, "lm");
    assert_int_equal(request->models.n, 0);
    assert_memory_equal(request, &expected, sizeof expected);
    kn_request_free(request);
    kn_settings_free(settings);
}

/* Every word of every choice is another value, and every number is refused on both sides of its bounds. */
static void every_option_takes_what_it_says(void **state)
{
    size_t n, n_choices = 0, n_numbers = 0;
    const kn_field *fields = kn_fields(&n);
    for (const kn_field *field = fields; field < fields + n; field++) {
        kn_settings *settings = NULL;
        kn_request *request = NULL;
        kn_error failure = {0};
        char text[64], expected[40];
        assert_ok(kn_settings_new(&settings, err));
        unsigned index = 0;
        for (const char *word = field->argument; field->kind == KN_FIELD_CHOICE; index++) {
            snprintf(text, sizeof text, "%.*s", (int)strcspn(word, "|"), word);
            assert_ok(kn_settings_set(settings, field->option, text, err));
            assert_ok(kn_request_new(&request, settings, err));
            assert_memory_equal((char *)request + field->offset, &index, sizeof index);
            kn_request_free(request);
            n_choices++;
            if (*(word += strcspn(word, "|")) == '\0') break;
            word++;
        }
        bool is_number = field->kind >= KN_FIELD_NUMBER && field->kind <= KN_FIELD_BYTES;
        for (int side = -1; is_number && side <= 1; side += 2) {
            double bound = side < 0 ? field->min : field->max;
            snprintf(text, sizeof text, "%.17g", bound);
            assert_ok(kn_settings_set(settings, field->option, text, err));
            snprintf(text, sizeof text, "%.17g", bound + side * (bound == 0 ? 1 : fabs(bound) * 1e-3));
            assert_int_equal(kn_settings_set(settings, field->option, text, &failure), KN_USAGE);
            assert_string_equal(failure.option, field->option);
            snprintf(expected, sizeof expected, "--%s: '", field->option);
            assert_memory_equal(failure.message, expected, strlen(expected));
            n_numbers++;
        }
        kn_settings_free(settings);
    }
    assert_true(n_choices >= 14 && n_numbers >= 12);
}

static void a_request_survives_a_lack_of_memory(void **state)
{
    kn_settings *settings = NULL;
    kn_request *request = NULL;
    kn_status status;
    assert_ok(load(&settings, whole, err));
    for (size_t n = 1; n < 1000; n++) {
        kn_error failure = {0};
        kn_memory_fail_at(n);
        status = kn_request_new(&request, settings, &failure);
        kn_memory_fail_at(0);
        kn_request_free(request);
        if (status == KN_OK) break;
        assert_int_equal(status, KN_RESOURCES);
        assert_null(request);
    }
    assert_int_equal(status, KN_OK);
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
    refused("version: 1\nmodels:\n  - k-anonymity: {k: many}\n", ":3:22:", "many");
    refused("version: 1\nmodels:\n  - k-anonymity: {kk: 3}\n", ":3:19:", "has no parameter 'kk'; it has k");
    refused("version: 1\nmodels:\n  - k-anonymity:\n    k: 3\n", ":3:5:", "indent parameters");
    refused("version: 1\nmeasure: lmm\n", ":2:10:", "there is no measure 'lmm'");
    refused("version: 1\nalgorithm: {name: sorcery}\n", ":2:19:", "there is no algorithm");
    refused("version: 1\nmissing: maybe\n", ":2:10:", "none of value|wildcard");
    refused("version: 1\ninput: {trim: perhaps}\n", ":2:15:", "yes or no");
    refused("version: 1\ninput: {null_values: NA}\n", ":2:9:", "is a list");
    refused("version: 1\nperson:\n", ":2", "needs a value");
    refused("version: 1\nperson: [a]\n", ":2:1:", "takes one value");
    refused("version: 1\nperson: &x a\nmissing: *x\n", ":2:9:", "anchors");
    refused("version: 1\nmissing: *x\n", ":2:10:", "aliases");
    refused("version: 1\nversion: 1\n", ":2:1:", "the key 'version' stands here for the second time");
    refused("version: 1\ncolumns:\n  a: quasi\n  a: sensitive\n", ":4:3:", "'a'");
    refused("version: [1\n", ":", "");
    refused("", ":", "");
    refused("just text\n", ":", "must be a mapping");
    refused("version: 1\n\tperson: a\n", ":", "");
}

/* A slip that would be obeyed in another sense, or not at all, is worse than one that stops the run. */
static void a_value_that_makes_no_sense_is_refused_with_its_place_and_key(void **state)
{
#define COLUMN(text) "version: 1\ncolumns:\n  age: {role: quasi, " text "}\n"
#define MODEL(text)  "version: 1\nmodels:\n  - " text "\n"
    refused(COLUMN("max_level: -1"), ":3:33: max_level:", "'-1' is no level");
    refused(COLUMN("max_level: 1.5"), ":3:33: max_level:", "'1.5'");
    refused(COLUMN("min_level: 4294967297"), ":3:33: min_level:", "'4294967297'");
    refused(COLUMN("min_level: [1]"), ":3:22:", "'min_level' takes one value");
    refused(COLUMN("hierarchy: {}"), ":3:22:", "hierarchy is empty");
    refused(MODEL("k-anonymity: {k: [2]}"), ":3:19:", "'k' takes one value, not a list");
    refused(MODEL("k-anonymity: {k: 0}"), ":3:22:", "k=0 is not a whole number from 1");
    refused(MODEL("k-anonymity: {k: -3}"), ":3:22:", "k=-3");
    refused(MODEL("k-anonymity: {k: 2.5}"), ":3:22:", "k=2.5");
    refused(MODEL("k-anonymity: {k: nan}"), ":3:22:", "k=nan");
    refused(MODEL("k-anonymity: {k: 0x10}"), ":3:22:", "k=0x10");
    refused(MODEL("k-anonymity: {k: 99999999999}"), ":3:22:", "k=99999999999");
    refused(MODEL("k-anonymity: {k: 2, k: 3}"), ":3:25:", "the key 'k' stands here for the second time");
    refused(MODEL("k-anonymity: {}"), ":3:5:", "needs k=");
    refused(MODEL("'l-diversity:l=2,l=3'"), ":3:6:", "l is given twice, 2 and 3");
    refused(MODEL("l-diversity: {column: [a], l: 2}"), ":3:19:", "'column' takes one value");
    refused(MODEL("l-diversity: {column: '', l: 2}"), ":3:28:", "column= needs a value");
    refused(MODEL("alpha-k: {alpha: .5, values: []}"), ":3:26:", "'values' is an empty list");
    refused("version: 1\nmodels: []\n", ":2:1:", "models is empty");
    refused("version: 1\ncolumns: {}\n", ":2:1:", "columns is empty");
    refused("version: 1\ninput: {}\n", ":2:1:", "input is empty");
    refused("version: 1\ninput: {null_values: []}\n", ":2:9:", "null_values is empty");
    refused("version: 1\nrisk: {threshold: 2}\n", ":2:19: threshold:", "'2' is not a number from 0 to 1");
    refused("version: 1\nrisk: {threshold: -.1}\n", ":2:19: threshold:", "'-.1'");
    refused("version: 1\nsuppression: {max: -1}\n", ":2:20: max:", "'-1' is neither");
    refused("version: 1\nsuppression: {max: 101%}\n", ":2:20: max:", "'101%'");
    refused("version: 1\nsuppression: {max: nan}\n", ":2:20: max:", "'nan'");
    refused("version: 1\nsuppression: {max: 2 %}\n", ":2:20: max:", "'2 %'");
    refused("version: 1\nseed: 1.5\n", ":2:7: seed:", "'1.5' is not a whole number");
    refused("version: 1\nseed: -1\n", ":2:7: seed:", "'-1'");
    refused("version: 1\neffort: 1e19\n", ":2:9: effort:", "'1e19'");
    refused("version: 1\ntime_limit: inf\n", ":2:13: time_limit:", "'inf'");
    refused("version: 1\nalgorithm: {name: auto, depth: 3}\n", ":2:25:", "auto has no parameter 'depth'");
    refused("version: 1\nmeasure: {name: lm, column: x}\n", ":2:21:", "lm has no parameter 'column'");
    refused("version: 1\n---\nversion: 1\n", ":2:1:", "a second YAML document");
    refused("version: 1\n...\nmore\n", ":3:1:", "a second YAML document");
    refused("version: 1\n---\n[\n", ":", "");
}

/* The policy is refused with these problems, one to a line: where they are and how they begin. */
static void refused_with_all(const char *text, const char *problems)
{
    kn_settings *settings = NULL;
    kn_error failure = {0};
    assert_int_equal(load(&settings, text, &failure), KN_USAGE);
    const kn_error *problem = kn_settings_nth_problem(settings, 0);
    assert_non_null(problem);
    assert_memory_equal(problem, &failure, sizeof failure);
    size_t n = 0;
    for (; (problem = kn_settings_nth_problem(settings, n)) != NULL; n++) {
        const size_t n_path = strlen(path), n_bytes = strcspn(problems, "\n");
        assert_int_equal(problem->code, KN_USAGE);
        assert_string_equal(problem->file, path);
        if (n_bytes == 0) fail_msg("one too many: %s", problem->message);
        if (strncmp(problem->message, path, n_path) != 0 || strncmp(problem->message + n_path, problems, n_bytes) != 0)
            fail_msg("not '%.*s': %s", (int)n_bytes, problems, problem->message);
        problems += n_bytes + (problems[n_bytes] == '\n');
    }
    if (*problems != '\0') fail_msg("not told: %s", problems);
    kn_settings_free(settings);
}

static void all_slips_of_a_policy_are_told_at_once_in_the_order_of_the_file(void **state)
{
    refused_with_all("version: 1\nflavour: 3\ninput: {trim: perhaps, null_values: [NA, [x], a, {}], colour: red}\n"
                     "columns:\n  age: {role: quassi, weigth: 2}\n  zip: {rolle: quasi}\n  sex:\n  ward: nowhere\n"
                     "  len: {role: quasi, min_level: one, max_level: two}\n"
                     "models:\n  - k-anonimity: {k: 3}\n  - l-diversity: {l: many, foo: 3, kind: none}\n  - k-map\n"
                     "seed: 1.5\nalgorithm: {depth: 3, name: auto, width: 4}\nmeasure: lmm\n",
                     ":2:1: the policy has no key 'flavour'\n"
                     ":3:15: 'trim' is yes or no\n"
                     ":3:24: 'null_values' takes one value\n"
                     ":3:24: 'null_values' takes one value\n"
                     ":3:55: input has no key 'colour'\n"
                     ":5:15: 'quassi' is no role\n"
                     ":5:23: column 'age' has no key 'weigth' (did you mean 'weight'\n"
                     ":6:9: column 'zip' has no key 'rolle'\n"
                     ":7:3: column 'sex' must be a mapping\n"
                     ":8:9: 'nowhere' is no role\n"
                     ":9:33: min_level: 'one' is no level\n"
                     ":9:49: max_level: 'two' is no level\n"
                     ":11:5: there is no model 'k-anonimity'\n"
                     ":12:22: l-diversity: l=many is not a number\n"
                     ":12:28: l-diversity has no parameter 'foo'\n"
                     ":12:42: l-diversity: kind=none is none of\n"
                     ":13:5: k-map needs k=\n"
                     ":14:7: seed: '1.5' is not a whole number\n"
                     ":15:13: auto has no parameter 'depth'\n"
                     ":15:35: auto has no parameter 'width'\n"
                     ":16:10: there is no measure 'lmm'");
    /* what only the data's columns show is told beside other slips */
    refused_with_all("columns:\n  a: {role: quasi, type: number, weight: -1, min_level: 5, max_level: 2}\n"
                     "  b: {role: quasi, hierarchy: 'mask(', release_values: perhaps, top: x}\n"
                     "  'c,d': {role: sensitive, weight: 2, type: int}\n  e: {role: person, weight: 2}\nspeed: 3\n",
                     ":2:26: type: 'number' is no type\n"
                     ":2:42: weight: '-1' is neither 0 nor a number\n"
                     ":2:71: max_level: '5..2' leaves no level\n"
                     ":3:56: release_values: 'perhaps' is neither\n"
                     ":4:36: weight: column 'c,d' is sensitive, and only a quasi-identifier has a weight\n"
                     ":5:13: 'person' is no role\n"
                     ":6:1: the policy has no key 'speed'\n"
                     ": the policy must say 'version: 1'");
    refused_with_all(
        "version: 1\ncolumns: {a: {role: quasi, derive: 'age(b'}, c: {role: quasi, derive: 'age(d, e)'}}\n",
        ":2:37: derive: 'age(b' is none of");
    refused_with_all("version: 1\ncolumns: {a: quassi}\nmodels: [}\n", ":3:10:");
    refused_with_all("version: 2\nversoin: 3\n", ":1:1: version '2'\n:2:1: the policy has no key 'versoin'");
}

static void a_file_that_is_no_policy_at_all_is_not_told_of_a_thousand_times(void **state)
{
    kn_buffer text = {0};
    kn_settings *settings = NULL;
    kn_error failure = {0};
    for (int i = 0; i < 1000; i++) kn_buffer_printf(&text, "key%d: 1\n", i);
    assert_int_equal(load(&settings, text.bytes, &failure), KN_USAGE);
    assert_int_equal(kn_settings_nth_problem(settings, 49)->line, 50);
    assert_non_null(
        strstr(kn_settings_nth_problem(settings, 50)->message, ": the first 50 problems; there may be more"));
    assert_null(kn_settings_nth_problem(settings, 51));
    kn_settings_free(settings);
    kn_buffer_free(&text);
}

static void a_policy_that_was_read_has_no_problems(void **state)
{
    kn_settings *settings = NULL;
    kn_error failure = {0};
    assert_int_equal(load(&settings, "version: 1\nmodels: [\n", &failure), KN_USAGE);
    assert_non_null(kn_settings_nth_problem(settings, 0));
    assert_ok(kn_settings_load_text(settings, whole, sizeof whole - 1, "whole", err));
    assert_null(kn_settings_nth_problem(settings, 0));
    assert_null(kn_settings_nth_problem(NULL, 0));
    assert_int_equal(kn_settings_load_text(settings, "a: 1\n", 5, "second", NULL), KN_USAGE);
    assert_non_null(strstr(kn_settings_nth_problem(settings, 0)->message, "was read already"));
    kn_settings_free(settings);
}

/* The bytes are refused; the message goes on after the file's name with `words`. */
static void bytes_refused(const char *bytes, size_t n_bytes, const char *words)
{
    kn_settings *settings = NULL;
    kn_error failure = {0};
    assert_ok(kn_settings_new(&settings, err));
    file_write(bytes, n_bytes);
    assert_int_equal(kn_settings_load(settings, path, &failure), KN_USAGE);
    unlink(path);
    if (strncmp(failure.message + strlen(path), words, strlen(words)) != 0) fail_msg("%s", failure.message);
    kn_settings_free(settings);
}

static void a_nul_byte_does_not_end_a_policy(void **state)
{
#define BYTES(text) text, sizeof text - 1
    const char nul[] = ":3:7: a NUL byte";
    bytes_refused(BYTES("version: 1\nmodels:\n  - k-a\0nonymity: {k: 3}\n"), ":3:8: a NUL byte");
    bytes_refused(BYTES("version: 1\r\nmissing: value\r\n# \xC3\xA4\xC3\xB6\xC3\xBC \0\r\nseed: 1\r\n"), nul);
    bytes_refused(BYTES("version: 1\nseed: 1\n\0"), ":3:1: a NUL byte");
    bytes_refused(BYTES("version: 1\nperson: \"a\\0b\"\n"), ":2:10: a NUL byte"); /* escaped, so a value has it */
    bytes_refused(BYTES("version: 1\ncolumns: {\"a\\0b\": quasi}\n"), ":2");
}

static void a_policy_in_wide_characters_is_called_what_it_is(void **state)
{
    const char *words = ": the policy is UTF-16 or UTF-32; save it as UTF-8";
    bytes_refused(BYTES("\xFF\xFEv\0e\0"), words);
    bytes_refused(BYTES("\xFE\xFF\0v\0e"), words);
    bytes_refused(BYTES("v\0e\0r\0"), words);
    bytes_refused(BYTES("\0v\0e\0r"), words);
    bytes_refused(BYTES("\xFF\xFE\0\0v\0\0\0"), words);
    bytes_refused(BYTES("\0\0\xFE\xFF\0\0\0v"), words);
}

/* Which of the policy's models a flag leaves in force, as their specs in order, each followed by a blank. */
static void models_left(const char *text, const char *option, const char *value, const char *expected)
{
    kn_settings *settings = NULL;
    char left[512] = "";
    assert_ok(load(&settings, text, err));
    assert_ok(kn_settings_set(settings, option, value, err));
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (strcmp(item->option, "model") != 0 || item->where == NULL || !kn_setting_in_force(settings, item)) continue;
        strcat(strcat(left, item->value), " ");
    }
    assert_string_equal(left, expected);
    kn_settings_free(settings);
}

static void a_flag_replaces_the_model_of_its_column_only(void **state)
{
#define TWO_COLUMNS                                                                                                    \
    "version: 1\ncolumns: {q: quasi, a: sensitive, 'b,c': sensitive}\nmodels:\n  - k-anonymity: {k: 3}\n"
    const char two[] = TWO_COLUMNS "  - l-diversity: {column: a, l: 2}\n  - l-diversity: {column: 'b,c', l: 3}\n";
#define K3 "k-anonymity:k=3 "
#define LA "l-diversity:column=a,l=2 "
#define LB "l-diversity:column=b\\,c,l=3 "
    models_left(two, "model", "l-diversity:column=a,l=4", K3 LB);
    models_left(two, "model", "l-diversity:l=4,column=b\\,c", K3 LA);
    models_left(two, "model", "l-diversity:l=4", K3 LA LB); /* names none of two: an error later, nothing is lost */
    models_left(two, "model", "t-closeness:column=a,t=.5", K3 LA LB);
    models_left(two, "model", "k-anonymity:k=5", LA LB);
    models_left(two, "k", "5", LA LB);
    models_left(two, "qi", "a", K3 LA LB);

    const char one[] = "version: 1\ncolumns: {q: quasi, a: sensitive}\nmodels:\n  - l-diversity: {l: 2}\n";
    models_left(one, "model", "l-diversity:column=a,l=4", ""); /* the only sensitive column is what both mean */
    models_left(one, "model", "l-diversity:l=4", "");
    models_left(one, "model", "l-diversity:column=b,l=4", "l-diversity:l=2 ");
    models_left(one, "k", "5", "l-diversity:l=2 ");
    const char map[] = "version: 1\nmodels:\n  - k-map: {k: 2, population: p.csv}\n";
    models_left(map, "model", "k-map:k=3,population=q.csv", "");
}

static void a_flag_may_take_the_second_sensitive_column_away(void **state)
{
    kn_settings *settings = NULL;
    assert_ok(load(&settings, TWO_COLUMNS "  - l-diversity: {column: a, l: 2}\n", err));
    assert_ok(kn_settings_set(settings, "model", "l-diversity:l=4", err));
    const kn_setting *model = &settings->items.items[settings->items.n - 2];
    assert_string_equal(model->value, "l-diversity:column=a,l=2");
    assert_true(kn_setting_in_force(settings, model));
    assert_ok(kn_settings_set(settings, "insensitive", "b\\,c", err)); /* now a is the only one */
    model = &settings->items.items[settings->items.n - 3];
    assert_false(kn_setting_in_force(settings, model));
    kn_settings_free(settings);
}

static void a_list_of_values_keeps_their_commas_and_bars(void **state)
{
    kn_settings *settings = NULL;
    assert_ok(load(&settings, MODEL("alpha-k: {alpha: .5, values: ['a,b', 'c|d', e]}"), err));
    assert_string_equal(kn_settings_text(settings, "model"), "alpha-k:alpha=.5,values=a\\,b|c\\|d|e");
    kn_settings_free(settings);
}

static void a_level_or_a_weight_is_of_a_quasi_identifier(void **state)
{
    const char *const names[] = {"age", "ill"};
    const struct {
        const char *text, *flag, *words;
    } cases[] = {
        {"version: 1\ncolumns: {age: quasi, ill: {role: sensitive, weight: 2}}\n", NULL,
         "weight: column 'ill' is sensitive"},
        {"version: 1\ncolumns: {age: quasi, ill: {role: identifier, max_level: 2}}\n", NULL,
         "only a quasi-identifier has a level"},
        {"version: 1\ncolumns: {age: {role: quasi, min_level: 2, max_level: 1}, ill: sensitive}\n", NULL,
         "2 is above 1"},
        {"version: 1\ncolumns: {age: {role: quasi, weight: -2}, ill: sensitive}\n", NULL,
         "weight: '-2' is neither 0 nor a number"},
        {"version: 1\ncolumns: {age: quasi, ill: {role: quasi, weight: 2}}\n", "ill",
         NULL}, /* the flag has the last word */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_settings *settings = NULL;
        kn_error failure = {0};
        kn_column_choice *choices = NULL;
        assert_ok(load(&settings, cases[i].text, err));
        if (cases[i].flag != NULL) assert_ok(kn_settings_set(settings, "sensitive", cases[i].flag, err));
        kn_status status =
            kn_settings_columns(&choices, settings, names, 2, KN_COLUMNS_OF_DATA, NULL, NULL, NULL, &failure);
        assert_int_equal(status, cases[i].words != NULL ? KN_USAGE : KN_OK);
        if (cases[i].words != NULL && strstr(failure.message, cases[i].words) == NULL) fail_msg("%s", failure.message);
        kn_free(choices);
        kn_settings_free(settings);
    }
}

static void every_column_that_the_table_lacks_can_be_the_last(void **state)
{
    const char *const names[] = {"age"};
    kn_settings *settings = NULL;
    assert_ok(load(&settings, "version: 1\ncolumns: {age: quasi, one: quasi, two: quasi, three: quasi}\n", err));
    for (size_t fail_at = 1; fail_at <= 4; fail_at++) {
        kn_ticker ticker = {.fail_at = fail_at};
        kn_problems problems = {0};
        kn_column_choice *choices = NULL;
        kn_error failure = {0};
        kn_status status =
            kn_settings_columns(&choices, settings, names, 1, KN_COLUMNS_OF_DATA, NULL, &problems, &ticker, &failure);
        assert_int_equal(status, fail_at <= 3 ? KN_INTERRUPTED : KN_OK);
        assert_int_equal(problems.items.n, fail_at - 1);
        kn_problems_free(&problems);
        kn_free(choices);
    }
    kn_settings_free(settings);
}

static void a_policy_that_is_not_there_is_an_input_error(void **state)
{
    kn_settings *settings = NULL;
    kn_error failure = {0};
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
        kn_error failure = {0};
        assert_ok(kn_settings_new_with(&settings, test_allocator(), err));
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

/* Nothing is noted as a slip that is none. */
static void telling_slips_survives_a_lack_of_memory(void **state)
{
    static const char slips[] =
        "version: 1\ncolumns: {a: {role: quassi, top: 3}, b: {role: quasi, type: x}}\nseed: -1\n"
        "models: [k-anonymity: {k: 0, l: 1}, {l-diversity: {l: 2}}]\n";
    for (size_t n_th = 1; n_th < 2000; n_th++) {
        kn_settings *settings = NULL;
        kn_error failure = {0};
        assert_ok(kn_settings_new_with(&settings, test_allocator(), err));
        kn_memory_fail_at(n_th);
        kn_status status = kn_settings_load_text(settings, slips, sizeof slips - 1, "slips", &failure);
        kn_memory_fail_at(0);
        const kn_error *last = kn_settings_nth_problem(settings, 4);
        if (status == KN_USAGE) assert_true(last != NULL && kn_settings_nth_problem(settings, 5) == NULL);
        else assert_true(status == KN_RESOURCES && kn_settings_nth_problem(settings, 0) == NULL);
        kn_settings_free(settings);
        if (status == KN_USAGE) return;
    }
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
        kn_error failure = {0};
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

/* --- YAML -------------------------------------------------------------------------------------------------------- */

static void yaml_refused(const char *text, const char *place, const char *words)
{
    kn_yaml *root = NULL;
    kn_error failure = {0};
    char expected[64];
    assert_int_equal(kn_yaml_parse(&root, text, strlen(text), "p", &failure), KN_USAGE);
    assert_null(root);
    snprintf(expected, sizeof expected, "p%s ", place);
    if (strncmp(failure.message, expected, strlen(expected)) != 0) fail_msg("not at %s: %s", expected, failure.message);
    if (strstr(failure.message, words) == NULL) fail_msg("does not say '%s': %s", words, failure.message);
}

static void what_yaml_hides_is_refused_with_its_place(void **state)
{
    yaml_refused("a: &x b\n", ":1:4:", "anchors");
    yaml_refused("a: [b, *x]\n", ":1:8:", "aliases");
    yaml_refused("a: !!str b\n", ":1:4:", "tags");
    yaml_refused("a: |\n  b\n", ":1:4:", "blocks of text");
    yaml_refused("- >-\n  b\n", ":1:3:", "blocks of text");
    yaml_refused("%YAML 1.2\n---\na: b\n", ":1:1:", "directives");
    yaml_refused("? a\n: b\n", ":1:1:", "keys with ?");
    yaml_refused("a: b\n---\n", ":2:1:", "second YAML document");
    yaml_refused("---\na: b\n...\nc: d\n", ":4:1:", "second YAML document");
    yaml_refused("a: 1\nb: 2\na: 3\nb: 4\n", ":3:1:", "the key 'a' stands here for the second time");
    yaml_refused("{a: 1, 'a': 2}", ":1:9:", "second time");
    yaml_refused("a:\n\tb: c\n", ":2:1:", "a tab cannot indent");
    yaml_refused("a:\n  b: c\n d: e\n", ":3:2:", "indent");
    yaml_refused("a:\n    b: c\n  d: e\n", ":3:3:", "indent");
    yaml_refused("a: b\n  c: d\n", ":2:3:", "indented deeper");
    yaml_refused("a: b\n  c\n", ":2:3:", "a value stands on one line");
    yaml_refused("a: 'b\n  c'\n", ":1:4:", "not closed on its line");
    yaml_refused("a: \"b\n", ":1:4:", "not closed on its line");
    yaml_refused("a: [b,\n  c\n", ":1:4:", "not closed");
    yaml_refused("a:\n  b: [c,\n  d]\n", ":3:3:", "indented deeper");
    yaml_refused("a:\n  -\nb: c\n", ":2:4:", "an item without a value");
    yaml_refused("a: [b c}\n", ":1:8:", "',' or ']' is missing");
    yaml_refused("a: {b: c]\n", ":1:9:", "',' or '}' is missing");
    yaml_refused("a: b: c\n", ":1:5:", "second ':'");
    yaml_refused("a: 'b' c\n", ":1:8:", "text behind a value");
    yaml_refused("a: 'b'c\n", ":1:7:", "behind a closing quote");
    yaml_refused("a: - b\n", ":1:4:", "a list starts on a line of its own");
    yaml_refused("a: b\n- c\n", ":2:1:", "an item of a list among the keys");
    yaml_refused("- a\nb: c\n", ":2:1:", "does not belong");
    yaml_refused("a: b\nc\n", ":2:1:", "needs ': '");
    yaml_refused("a: b\nc:d\n", ":2:1:", "needs ': '");
    yaml_refused("[a]: b\n", ":1:1:", "cannot be a key");
    yaml_refused("{[a]: b}\n", ":1:5:", "cannot be a key");
    yaml_refused(": b\n", ":1:1:", "the key before this ':' is missing");
    yaml_refused("a: \"\\q\"\n", ":1:5:", "no such escape");
    yaml_refused("a: \"\\xZ0\"\n", ":1:5:", "no such escape");
    yaml_refused("a: \"\\uD800\"\n", ":1:5:", "no such escape");
    yaml_refused("\xC3\xA4: \xC3\n", ":1:4:", "not UTF-8");
    yaml_refused("a: \xED\xA0\x80\n", ":1:4:", "not UTF-8");
    yaml_refused("a: b\x01\n", ":1:5:", "control character");
    yaml_refused("a: %b\n", ":1:4:", "needs quotes");
    yaml_refused("a: [b,#c\n]\n", ":1:7:", "needs quotes");
    char deep[200] = {0};
    memset(deep, '[', 100);
    memset(deep + 100, ']', 99);
    yaml_refused(deep, ":1:40:", "too many");
}

static void put_ours(kn_buffer *out, const kn_yaml *node)
{
    if (kn_yaml_is_nothing(node)) {
        kn_buffer_text(out, "nothing");
    } else if (node->kind == KN_YAML_SCALAR) {
        kn_buffer_printf(out, "<%zu ", node->n_bytes);
        kn_buffer_append(out, node->text, node->n_bytes);
        kn_buffer_char(out, '>');
    } else {
        kn_buffer_char(out, node->kind == KN_YAML_LIST ? '[' : '{');
        for (const kn_yaml *item = node->first; item != NULL; item = item->next) {
            put_ours(out, item);
            if (node->kind == KN_YAML_MAPPING) put_ours(out, item->value);
        }
        kn_buffer_char(out, node->kind == KN_YAML_LIST ? ']' : '}');
    }
}

static void put_theirs(kn_buffer *out, struct fy_node *node)
{
    size_t n = 0;
    void *at = NULL;
    struct fy_node *item;
    struct fy_node_pair *pair;
    const char *text = node != NULL && fy_node_is_scalar(node) ? fy_node_get_scalar(node, &n) : NULL;
    if (node == NULL || (fy_node_is_scalar(node) && n == 0 && fy_node_get_style(node) == FYNS_PLAIN)) {
        kn_buffer_text(out, "nothing");
    } else if (fy_node_is_scalar(node)) {
        kn_buffer_printf(out, "<%zu ", n);
        kn_buffer_append(out, text, n);
        kn_buffer_char(out, '>');
    } else if (fy_node_is_sequence(node)) {
        kn_buffer_char(out, '[');
        while ((item = fy_node_sequence_iterate(node, &at)) != NULL) put_theirs(out, item);
        kn_buffer_char(out, ']');
    } else {
        kn_buffer_char(out, '{');
        while ((pair = fy_node_mapping_iterate(node, &at)) != NULL) {
            put_theirs(out, fy_node_pair_key(pair));
            put_theirs(out, fy_node_pair_value(pair));
        }
        kn_buffer_char(out, '}');
    }
}

static bool read_theirs(kn_buffer *out, const char *text, size_t n)
{
    struct fy_diag_cfg quiet;
    fy_diag_cfg_default(&quiet);
    quiet.fp = NULL;
    struct fy_diag *diag = fy_diag_create(&quiet);
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg options = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE, .diag = diag};
    struct fy_document *document = fy_document_build_from_string(&options, text, n);
    bool good = document != NULL;
    if (good) put_theirs(out, fy_document_root(document));
    fy_document_destroy(document);
    fy_diag_destroy(diag);
    return good;
}

/* Whatever we accept means what another reader of YAML says it means; that reader refuses a tab on an empty line. */
static void compare_readers(const char *text, size_t n, unsigned *n_accepted)
{
    kn_yaml *root = NULL;
    kn_error failure = {0};
    kn_buffer ours = {0}, theirs = {0};
    if (kn_yaml_parse(&root, text, n, "p", &failure) == KN_OK && root != NULL) {
        put_ours(&ours, root);
        bool agrees = read_theirs(&theirs, text, n);
        if (!agrees && memchr(text, '\t', n) == NULL) fail_msg("libfyaml refuses:\n%.*s", (int)n, text);
        if (agrees && strcmp(ours.bytes, theirs.bytes) != 0)
            fail_msg("%.*s\nours   %s\ntheirs %s", (int)n, text, ours.bytes, theirs.bytes);
        *n_accepted += 1;
    } else if (failure.message[0] != '\0' && strncmp(failure.message, "p:", 2) != 0) {
        fail_msg("no place: %s", failure.message);
    }
    kn_yaml_free(root);
    kn_buffer_free(&ours);
    kn_buffer_free(&theirs);
}

static void random_yaml_means_what_another_reader_says(void **state)
{
    static const char *const parts[] = {"a",   "b: ",    "c: d\n",   "- ",     "-",      "\n",   "\n  ",     "\n    ",
                                        "  ",  "[",      "]",        "{",      "}",      ", ",   ",",        ": ",
                                        ":",   "'x''y'", "\"z\\n\"", "# note", " # n\n", "\r\n", "e f",      "\xC3\xA4",
                                        "1.5", "---\n",  "...\n",    "\"k\":", "'q': ",  "\t",   "- g: h\n", "\n- ",
                                        "x#y", "p:q",    "''",       "~"};
    unsigned n_accepted = 0;
    for (unsigned seed = 0; seed < 60000; seed++) {
        kn_rng rng = kn_rng_new(seed, 0);
        char text[512] = "";
        unsigned n_parts = 1 + kn_rng_below(&rng, 14);
        for (unsigned i = 0; i < n_parts; i++) strcat(text, parts[kn_rng_below(&rng, sizeof parts / sizeof *parts)]);
        compare_readers(text, strlen(text), &n_accepted);
    }
    assert_true(n_accepted > 5000);
}

/* A tree of our own, written in one of the many ways to write it; no flow inside blocks that it cannot hold. */
static void write_flow(kn_buffer *out, kn_rng *rng, unsigned depth);

static void write_scalar(kn_buffer *out, kn_rng *rng)
{
    static const char *const scalars[] = {"plain", "two words", "'it''s'", "\"tab\\t\\u20AC\"", "-1", "a:b",
                                          "x#y",   "\"\"",      "NO"};
    kn_buffer_text(out, scalars[kn_rng_below(rng, sizeof scalars / sizeof *scalars)]);
}

static void write_flow(kn_buffer *out, kn_rng *rng, unsigned depth)
{
    unsigned kind = depth < 4 ? kn_rng_below(rng, 3) : 0, n = kn_rng_below(rng, 4);
    if (kind == 0) {
        write_scalar(out, rng);
        return;
    }
    kn_buffer_char(out, kind == 1 ? '[' : '{');
    for (unsigned i = 0; i < n; i++) {
        kn_buffer_text(out, i == 0                      ? ""
                            : kn_rng_below(rng, 4) == 0 ? ",\n      # note\n                              "
                                                        : ", ");
        if (kind == 2) kn_buffer_printf(out, "k%u: ", i);
        write_flow(out, rng, depth + 1);
    }
    kn_buffer_char(out, kind == 1 ? ']' : '}');
}

static void write_block(kn_buffer *out, kn_rng *rng, unsigned indent, unsigned depth)
{
    unsigned n = 1 + kn_rng_below(rng, 3);
    bool is_list = kn_rng_below(rng, 2) == 0;
    for (unsigned i = 0; i < n; i++) {
        if (i > 0) kn_buffer_printf(out, "%*s", (int)indent, "");
        if (is_list) kn_buffer_text(out, "- ");
        else kn_buffer_printf(out, "%skey %u%s:", i % 2 == 0 ? "\"" : "", i, i % 2 == 0 ? "\"" : "");
        unsigned dice = kn_rng_below(rng, depth < 4 ? 4 : 2);
        if (dice >= 2 && is_list) {
            write_block(out, rng, indent + 2, depth + 1);
        } else if (dice >= 2) {
            unsigned deeper = indent + 1 + kn_rng_below(rng, 4);
            kn_buffer_printf(out, "%s\n\n%*s", dice == 2 ? "  # note" : "", (int)deeper, "");
            write_block(out, rng, deeper, depth + 1);
        } else {
            if (!is_list) kn_buffer_char(out, ' ');
            if (dice == 0) write_scalar(out, rng);
            else write_flow(out, rng, 1);
            kn_buffer_text(out, kn_rng_below(rng, 3) == 0 ? " # note\n" : "\n");
        }
    }
}

static void every_way_to_write_a_tree_is_read(void **state)
{
    unsigned n_accepted = 0;
    for (unsigned seed = 0; seed < 5000; seed++) {
        kn_rng rng = kn_rng_new(seed, 1);
        kn_buffer text = {0};
        write_block(&text, &rng, 0, 0);
        compare_readers(text.bytes, text.n, &n_accepted);
        if (n_accepted != seed + 1) fail_msg("refused:\n%s", text.bytes);
        kn_buffer_free(&text);
    }
}

static void the_ways_of_the_documents_are_read(void **state)
{
    static const char *const texts[] = {
        "models:\n- a\n- b: {k: 3}\nseed: 1\n", /* a list as deep as its key */
        "- - a\n  - b\n-\n  c: d\n  e:\n",
        "---\na: b # c\n...\n",
        "\xEF\xBB\xBF# c\n\na : 'b: c'\n\"d\" :\n  - {e: f, \"g\":h, i, }\n",
        "a:\r\n  b: [c,\r\n    d]\r\ne: \"\\x41\\u00e4\\U0001F600 \\\\\"\r\n",
        "a: b c#d\nhttp://x: y:z\n-1: ?x\n",
    };
    for (unsigned i = 0, n_accepted = 0; i < sizeof texts / sizeof *texts; i++) {
        compare_readers(texts[i], strlen(texts[i]), &n_accepted);
        if (n_accepted != i + 1) fail_msg("refused:\n%s", texts[i]);
    }
}

static void a_long_line_is_read_in_no_time(void **state)
{
    kn_buffer text = {0};
    kn_yaml *root = NULL;
    kn_buffer_char(&text, '[');
    for (int i = 0; i < 150000; i++) kn_buffer_text(&text, "'a', ");
    kn_buffer_text(&text, "{");
    for (int i = 0; i < 20000; i++) kn_buffer_printf(&text, "%d: x, ", i);
    kn_buffer_text(&text, "}]");
    assert_ok(kn_yaml_parse(&root, text.bytes, text.n, "p", err));
    kn_yaml_free(root);
    kn_buffer_free(&text);
}

static int append(void *user, const char *bytes, size_t n_bytes)
{
    kn_buffer_append(user, bytes, n_bytes);
    return 0;
}

/* Saved, loaded, and saved again. */
static void settings_survive(const kn_settings *settings)
{
    kn_buffer text = {0}, again = {0};
    kn_settings *loaded;
    assert_ok(kn_settings_save(settings, append, &text, err));
    assert_ok(kn_settings_new(&loaded, err));
    assert_ok(kn_settings_load_text(loaded, text.bytes, text.n, "saved", err));
    const char *lost = differing_option(settings, loaded);
    if (lost != NULL) fail_msg("%s is lost or another", lost);
    assert_ok(kn_settings_save(loaded, append, &again, err));
    assert_string_equal(text.bytes, again.bytes);
    kn_settings_free(loaded);
    kn_buffer_free(&text);
    kn_buffer_free(&again);
}

/* Pairs of option and value, then NULL. */
static void flags_survive(const char *const *options)
{
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    for (size_t i = 0; options[i] != NULL; i += 2)
        assert_ok(kn_settings_set(settings, options[i], options[i + 1], err));
    settings_survive(settings);
    kn_settings_free(settings);
}

static void a_policy_that_is_saved_says_the_same(void **state)
{
    // clang-format off
    static const char *const options[] = {
        "qi", "a b", "qi", "c=d", "qi", "e\\,f", "qi", "\xc3\xa9t\xc3\xa9", "sensitive", "NO",
        "identifier", "\"q\"", "type", "a b=int", "hierarchy", "a b=intervals(5,10)",
        "hierarchy", "c=d=./tree.csv", "level", "a b=1..2", "level", "c=d=0..3", "weight", "a b=2.5",
        "grid", "e,f=500", "release-values", "e,f=yes", "derive", "a b=days(x\\,y, 2020-01-01)",
        "model", "l-diversity:column=NO,kind=recursive,l=3,c=2", "model", "alpha-k:alpha=0.5,values=x\\|y|z",
        "max-suppressed", "2%", "null", ",NA,\\,", "delimiter", ";", "encoding", "latin-1", "no-header", "yes",
        "trim", "yes", "missing", "wildcard", "cells", "both", "fold-sensitive", "yes", "allow-copy", "no",
        "algorithm", "mondrian:choose=loss", "measure", "lm", "recoding", "global", "threshold", "0.2",
        "seed", "7", "effort", "1000", "time-limit", "1.5", "order", "input", "language", "de", "codebook", "b.html",
        "person", "\"q\"", "unlisted", "drop", NULL};
    // clang-format on
    kn_settings *settings;
    assert_int_equal(load(&settings, whole, NULL), KN_OK);
    settings_survive(settings);
    kn_settings_free(settings);
    flags_survive(options);
}

/* "a" and "a=b" are two columns, and "a=b=1" is about the second. */
static void what_is_said_of_a_column_with_an_equals_sign_is_said_of_no_other(void **state)
{
    static const char text[] = "version: 1\ncolumns:\n"
                               "  a: {role: quasi, weight: 2}\n"
                               "  a=b: {role: quasi, weight: 1}\n"
                               "  a=b=1: {role: quasi}\n";
    static const char *const options[] = {"qi", "a", "qi", "a=b", "weight", "a=2", "weight", "a=b=1", NULL};
    kn_settings *settings;
    assert_ok(kn_settings_new(&settings, err));
    assert_ok(kn_settings_load_text(settings, text, strlen(text), "policy", err));
    assert_string_equal(kn_settings_detail(settings, "weight", "a"), "2");
    assert_string_equal(kn_settings_detail(settings, "weight", "a=b"), "1");
    assert_null(kn_settings_detail(settings, "weight", "a=b=1"));
    settings_survive(settings);
    assert_ok(kn_settings_set(settings, "weight", "a=3", err)); /* a flag, which leaves the other column alone */
    assert_string_equal(kn_settings_detail(settings, "weight", "a"), "3");
    assert_string_equal(kn_settings_detail(settings, "weight", "a=b"), "1");
    settings_survive(settings);
    kn_settings_free(settings);
    flags_survive(options);
}

/* Every option that a policy's command takes is either in the policy or refused by name: nothing is dropped. */
static void what_no_policy_holds_is_refused_by_name(void **state)
{
    static const char *const refused[][2] = {
        {"data", "x.csv"},       {"output", "x.csv"},          {"threads", "2"}, {"memory", "1G"}, {"explain", "yes"},
        {"hierarchy", "a=auto"}, {"hierarchy", "b=table:tree"}};
    kn_buffer text = {0};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        kn_settings *settings;
        kn_error failure = {0};
        assert_ok(kn_settings_new(&settings, err));
        assert_ok(kn_settings_set(settings, "qi", "b", err));
        assert_ok(kn_settings_set(settings, refused[i][0], refused[i][1], err));
        assert_int_equal(kn_settings_save(settings, append, &text, &failure), KN_USAGE);
        assert_string_equal(failure.option, refused[i][0]);
        assert_int_equal(text.n, 0);
        kn_settings_free(settings);
    }
    kn_buffer_free(&text);
}

static int take_all(void *user, const char *bytes, size_t n_bytes) { return 0; }

static void saving_survives_a_lack_of_memory(void **state)
{
    kn_settings *settings;
    assert_int_equal(load(&settings, whole, NULL), KN_OK);
    for (size_t n_th = 1;; n_th++) {
        kn_memory_fail_at(n_th);
        kn_status status = kn_settings_save(settings, take_all, NULL, NULL);
        size_t n_made = kn_memory_allocations();
        kn_memory_fail_at(0);
        if (status == KN_OK && n_made < n_th) break;
        assert_int_equal(status, KN_RESOURCES);
    }
    kn_settings_free(settings);
}

static void a_misspelt_option_finds_its_name(void **state)
{
    assert_string_equal(kn_option_nearest("max_supressed", KN_COMMAND_ANONYMIZE), "max-suppressed");
    assert_string_equal(kn_option_nearest("sensitve", KN_COMMAND_ANONYMIZE), "sensitive");
    assert_null(kn_option_nearest("sensitve", KN_COMMAND_LIST));
    assert_null(kn_option_nearest("frobnicate", KN_COMMAND_ANONYMIZE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_design_s_policy_becomes_settings),
        cmocka_unit_test(a_flag_overrides_the_policy_before_and_after),
        cmocka_unit_test(a_policy_and_flags_become_fields),
        cmocka_unit_test(what_nobody_set_has_its_default),
        cmocka_unit_test(every_option_takes_what_it_says),
        cmocka_unit_test(a_request_survives_a_lack_of_memory),
        cmocka_unit_test(scalars_are_not_guessed),
        cmocka_unit_test(what_the_schema_does_not_know_is_refused_with_its_place),
        cmocka_unit_test(a_value_that_makes_no_sense_is_refused_with_its_place_and_key),
        cmocka_unit_test(all_slips_of_a_policy_are_told_at_once_in_the_order_of_the_file),
        cmocka_unit_test(a_file_that_is_no_policy_at_all_is_not_told_of_a_thousand_times),
        cmocka_unit_test(a_policy_that_was_read_has_no_problems),
        cmocka_unit_test(telling_slips_survives_a_lack_of_memory),
        cmocka_unit_test(a_nul_byte_does_not_end_a_policy),
        cmocka_unit_test(a_policy_in_wide_characters_is_called_what_it_is),
        cmocka_unit_test(a_flag_replaces_the_model_of_its_column_only),
        cmocka_unit_test(a_flag_may_take_the_second_sensitive_column_away),
        cmocka_unit_test(a_list_of_values_keeps_their_commas_and_bars),
        cmocka_unit_test(a_level_or_a_weight_is_of_a_quasi_identifier),
        cmocka_unit_test(every_column_that_the_table_lacks_can_be_the_last),
        cmocka_unit_test(a_policy_that_is_not_there_is_an_input_error),
        cmocka_unit_test(loading_survives_a_lack_of_memory),
        cmocka_unit_test(random_bytes_are_refused_without_a_crash),
        cmocka_unit_test(a_slip_of_the_finger_finds_its_word),
        cmocka_unit_test(what_yaml_hides_is_refused_with_its_place),
        cmocka_unit_test(random_yaml_means_what_another_reader_says),
        cmocka_unit_test(every_way_to_write_a_tree_is_read),
        cmocka_unit_test(the_ways_of_the_documents_are_read),
        cmocka_unit_test(a_long_line_is_read_in_no_time),
        cmocka_unit_test(a_policy_that_is_saved_says_the_same),
        cmocka_unit_test(what_is_said_of_a_column_with_an_equals_sign_is_said_of_no_other),
        cmocka_unit_test(what_no_policy_holds_is_refused_by_name),
        cmocka_unit_test(saving_survives_a_lack_of_memory),
        cmocka_unit_test(a_misspelt_option_finds_its_name),
    };
    return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
