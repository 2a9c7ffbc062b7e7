/* The verifier: right releases pass, releases broken in every way are refused with the place named, and every model's
 * count agrees with a slow one made here. */
#include "support.h"

#include "table/dates.h"
#include "table/number_marks.h"
#include "verify/inside.h"
#include "verify/released_bounds.h"
#include "verify/row_groups.h"
#include "verify/verify.h"

#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- Files and findings ---------------------------------------------------------------------------------------- */

static char *temp_file(const char *bytes, size_t n_bytes)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    assert_true(asprintf(&path, "%s/kanon-verify-XXXXXX", folder != NULL ? folder : P_tmpdir) > 0);
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(write(file, bytes, n_bytes) == (ssize_t)n_bytes);
    close(file);
    return path;
}

static void remove_file(char *path)
{
    if (path != NULL) unlink(path);
    free(path);
}

static const kn_check *find_check(const kn_verdict *verdict, const char *name)
{
    for (size_t i = 0; i < verdict->n_checks; i++)
        if (strcmp(verdict->checks[i].name, name) == 0) return &verdict->checks[i];
    return NULL;
}

/* What a check found, until the next call. */
static const char *detail_of(const kn_check *check)
{
    static char text[2000];
    kn_buffer out = {0};
    kn_check_detail(&out, check, NULL);
    assert_false(out.failed);
    assert_true(out.n < sizeof text);
    strcpy(text, out.bytes);
    kn_buffer_free(&out);
    return text;
}

static void print_verdict(const kn_verdict *verdict)
{
    static const char *const states[] = {"holds", "BROKEN", "not made"};
    for (size_t i = 0; i < verdict->n_checks; i++)
        print_message("  %s %s: %s\n", states[verdict->checks[i].state], verdict->checks[i].name,
                      detail_of(&verdict->checks[i]));
}

static void assert_check(const kn_verdict *verdict, const char *name, kn_check_state state, const char *words)
{
    const kn_check *check = find_check(verdict, name);
    if (check == NULL || check->state != state || strstr(detail_of(check), words) == NULL) {
        print_verdict(verdict);
        fail_msg("'%s' should be %d and say '%s'", name, state, words);
    }
}

/* --- A small hospital ------------------------------------------------------------------------------------------
 * QIs: age (intervals), zip (tree whose root is not *), job (sets). Person 7 has two rows. */

static const char ORIGINAL[] = "id,age,zip,secret,job,diagnosis,note\n"
                               "1,31,1301,x,nurse,flu,a\n"
                               "2,35,1302,x,cook,cold,\"b, c\"\n"
                               "3,38,1301,x,nurse,flu,\n"
                               "4,52,2201,x,baker,gout,d\n"
                               "5,55,2202,x,baker,flu,e\n"
                               "6,59,2201,x,baker,cold,f\n"
                               "7,40,1301,x,cook,flu,g\n"
                               "7,41,2201,x,nurse,gout,h\n"
                               "9,,2202,x,baker,cold,i\n";

/* Rows 1 2 3 | 6 5 4 | 8 7 9 (suppressed) of the original. */
static const char RELEASE[] = "age,zip,job,diagnosis,note\n"
                              "31..38,130,{nurse|cook},flu,a\n"
                              "31..38,130,{nurse|cook},cold,\"b, c\"\n"
                              "31..38,130,{nurse|cook},flu,\n"
                              "52..59,220,baker,cold,f\n"
                              "52..59,220,baker,flu,e\n"
                              "52..59,220,baker,gout,d\n"
                              "*,*,*,gout,h\n"
                              "*,*,*,flu,g\n"
                              "*,*,*,cold,i\n";
static const uint32_t ORDER[] = {0, 1, 2, 5, 4, 3, 7, 6, 8};

typedef struct hospital {
    kn_table *ages, *texts;
    kn_domain *age, *zip, *job;
    kn_tree *diagnoses;
    kn_verify_column columns[7];
    kn_verify_model models[3];
    kn_verify_request request;
} hospital;

static void open_hospital(hospital *h)
{
    static const int ages[] = {31, 35, 38, 52, 55, 59, 40, 41, TEST_MISSING};
    static const char *const texts[] = {"1301",  "nurse", "1302",  "cook", "1301", "nurse", "2201",  "baker", "2202",
                                        "baker", "2201",  "baker", "1301", "cook", "2201",  "nurse", "2202",  "baker"};
    *h = (hospital){0};
    h->ages = test_table(9, 1, ages);
    h->texts = test_text_table(9, 2, texts);
    h->age = test_domain(h->ages, 0, NULL);
    h->zip = test_domain(h->texts, 0, "1301;130;all\n1302;130;all\n2201;220;all\n2202;220;all\n");
    h->job = test_domain(h->texts, 1, NULL);
    h->diagnoses = test_tree_from_lines("flu;viral;any\ncold;viral;any\ngout;other;any\n");
    kn_verify_column columns[] = {
        {.name = "id", .role = KN_ROLE_IDENTIFIER, .type = KN_TYPE_INT, .is_person = true},
        {.name = "age", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = h->age},
        {.name = "zip", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT, .domain = h->zip},
        {.name = "secret", .role = KN_ROLE_DROPPED},
        {.name = "job", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT, .domain = h->job},
        {.name = "diagnosis", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT, .tree = h->diagnoses},
        {.name = "note", .role = KN_ROLE_INSENSITIVE, .type = KN_TYPE_TEXT}};
    memcpy(h->columns, columns, sizeof columns);
    h->models[0] = (kn_verify_model){"k-anonymity", "k=2"};
    h->request = (kn_verify_request){.release_name = "release.csv",
                                     .columns = h->columns,
                                     .n_columns = 7,
                                     .models = h->models,
                                     .n_models = 1,
                                     .max_suppressed = 3,
                                     .order = ORDER,
                                     .n_order = 9};
}

static void close_hospital(hospital *h)
{
    kn_domain_free(h->age);
    kn_domain_free(h->zip);
    kn_domain_free(h->job);
    kn_tree_free(h->diagnoses);
    test_table_free(h->ages);
    test_table_free(h->texts);
}

static kn_verdict *verify_texts(const kn_verify_request *asked, const char *release, const char *original)
{
    kn_verify_request request = *asked;
    char *release_path = temp_file(release, strlen(release));
    char *original_path = original != NULL ? temp_file(original, strlen(original)) : NULL;
    kn_verdict *verdict;
    request.release_path = release_path;
    request.original_path = original_path;
    assert_ok(kn_verify_files(&verdict, &request, err));
    remove_file(release_path);
    remove_file(original_path);
    return verdict;
}

/* The release with its only (or `which`-th, from 0) occurrence of `from` replaced. */
static char *edited(const char *text, const char *from, const char *to, int which)
{
    const char *at = strstr(text, from);
    while (which-- > 0 && at != NULL) at = strstr(at + 1, from);
    if (at == NULL) fail_msg("test: '%s' is not in the text", from);
    char *result;
    assert_true(asprintf(&result, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) >= 0);
    return result;
}

static void a_right_release_passes_every_check(void **state)
{
    hospital h;
    open_hospital(&h);
    h.models[1] = (kn_verify_model){"l-diversity", "l=2"};
    h.models[2] = (kn_verify_model){"t-closeness", "t=0.5,distance=hierarchical"};
    h.request.n_models = 3;
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    if (verdict->state != KN_VERDICT_HOLDS) print_verdict(verdict);
    assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
    assert_int_equal(verdict->n_checks, 10);
    for (size_t i = 0; i < verdict->n_checks; i++) assert_int_equal(verdict->checks[i].state, KN_CHECK_HOLDS);
    assert_int_equal(verdict->n_rows, 9);
    assert_int_equal(verdict->n_classes, 3);
    assert_int_equal(verdict->n_suppressed, 3);
    assert_int_equal(verdict->n_removed, 0);
    assert_int_equal(verdict->smallest_class, 2); /* person 7 has two of the three suppressed rows */
    kn_verdict_free(verdict);
    close_hospital(&h);
}

static void without_the_original_it_says_what_it_did_not_check(void **state)
{
    hospital h;
    open_hospital(&h);
    h.models[0].params = "k=3";
    h.models[1] = (kn_verify_model){"t-closeness", "t=0.5"};
    h.request.n_models = 2;
    h.request.order = NULL;
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, NULL);
    assert_int_equal(verdict->state, KN_VERDICT_UNDECIDED);
    assert_check(verdict, "k-anonymity", KN_CHECK_NOT_MADE, "rows are counted, not persons: the original is not given");
    assert_check(verdict, "t-closeness", KN_CHECK_NOT_MADE, "the original is not given");
    assert_check(verdict, KN_CHECK_ROWS, KN_CHECK_NOT_MADE, "the original is not given");
    assert_check(verdict, KN_CHECK_COPIES, KN_CHECK_NOT_MADE, "the original is not given");
    assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_NOT_MADE, "the original is not given");
    kn_verdict_free(verdict);
    close_hospital(&h);
}

static void without_the_order_it_checks_what_any_order_must_satisfy(void **state)
{
    hospital h;
    open_hospital(&h);
    h.models[0].params = "k=3";
    h.request.order = NULL;
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_int_equal(verdict->state, KN_VERDICT_UNDECIDED); /* three rows may be of two persons: person 7 has two */
    assert_check(verdict, "k-anonymity", KN_CHECK_NOT_MADE, "which original row a released row was is not known");
    assert_check(verdict, KN_CHECK_COPIES, KN_CHECK_HOLDS, "without the order");
    assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_HOLDS, "without the order");
    kn_verdict_free(verdict);
    close_hospital(&h);
}

static void persons_that_no_column_names_are_not_known_and_it_says_why(void **state)
{
    hospital h;
    open_hospital(&h);
    h.models[0].params = "k=3";
    h.columns[0].is_person = false;
    h.request.counts_persons = true;
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_check(verdict, "k-anonymity", KN_CHECK_NOT_MADE,
                 "rows are counted, not persons: no column says whose row it is");
    kn_verdict_free(verdict);
    h.request.order = NULL;
    verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_check(verdict, "k-anonymity", KN_CHECK_NOT_MADE,
                 "rows are counted, not persons: no column says whose row it is");
    kn_verdict_free(verdict);
    close_hospital(&h);
}

/* What covers no value at all is found column by column, however little work the candidates may take. */
static void a_cell_between_the_values_fits_none_also_where_candidates_are_too_many(void **state)
{
    static const char *const wrong[] = {"4..6", "..0", "0", "11..", "4"};
    const int cells[] = {1, 10};
    kn_table *table = test_table(2, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    kn_verify_column column = {.name = "a", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = domain};
    kn_verify_request request = {
        .columns = &column, .n_columns = 1, .max_suppressed = -1, .delimiter = ',', .max_candidate_work = 1};
    kn_verdict *verdict = verify_texts(&request, "a\n1\n4..12\n", "a\n1\n10\n");
    assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_NOT_MADE, "too many candidates");
    kn_verdict_free(verdict);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int first = 0; first <= 1; first++) {
            char release[40];
            snprintf(release, sizeof release, first ? "a\n%s\n*\n" : "a\n*\n%s\n", wrong[i]);
            verdict = verify_texts(&request, release, "a\n1\n10\n");
            assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_BROKEN, wrong[i]);
            kn_verdict_free(verdict);
        }
    kn_domain_free(domain);
    test_table_free(table);
}

/* The row that is one too many, with how many there are and how many there may be. */
static void a_finding_counts_released_rows_and_candidates(void **state)
{
    const int cells[] = {1, 1, 2, 2, 2};
    kn_table *table = test_table(5, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    kn_verify_column column = {.name = "a", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = domain};
    kn_verify_request request = {.columns = &column, .n_columns = 1, .max_suppressed = -1, .delimiter = ','};
    static const struct {
        const char *release, *original, *words;
    } cases[] = {
        {"a\n1\n1\n", "a\n1\n2\n", "2 released rows of it with the same copied cells, but 1 row of the original"},
        {"a\n1\n1\n1\n", "a\n1\n1\n2\n", "3 released rows of it with the same copied cells, but 2 rows of the"},
        {"a\n1\n", "a\n2\n", "1 released row of it with the same copied cells, but 0 rows of the original"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_verdict *verdict = verify_texts(&request, cases[i].release, cases[i].original);
        assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_BROKEN, cases[i].words);
        kn_verdict_free(verdict);
    }
    kn_domain_free(domain);
    test_table_free(table);
}

/* Neither a finding nor a yes, with the order or without it. */
static void where_no_domain_is_known_nothing_is_said_of_values(void **state)
{
    kn_verify_column column = {.name = "a", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT};
    kn_verify_request request = {.columns = &column, .n_columns = 1, .max_suppressed = -1, .delimiter = ','};
    uint32_t order[] = {0, 1};
    for (int known = 0; known <= 1; known++) {
        request.order = known ? order : NULL;
        request.n_order = known ? 2 : 0;
        kn_verdict *verdict = verify_texts(&request, "a\n4..6\n*\n", "a\n1\n10\n");
        assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_NOT_MADE, "not checked, the domain is not known: 'a'");
        if (!known) assert_null(strstr(detail_of(find_check(verdict, KN_CHECK_VALUES)), "candidates"));
        kn_verdict_free(verdict);
    }
}

static void too_many_candidates_are_no_finding_against_a_release(void **state)
{
    hospital h;
    open_hospital(&h);
    h.request.order = NULL;
    int n_given_up = 0, n_held = 0;
    for (uint64_t work = 1; work < 400; work += 3) {
        h.request.max_candidate_work = work;
        kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
        const kn_check *check = find_check(verdict, KN_CHECK_VALUES);
        if (check->state == KN_CHECK_NOT_MADE) assert_non_null(strstr(detail_of(check), "too many candidates"));
        assert_int_not_equal(check->state, KN_CHECK_BROKEN);
        n_given_up += check->state == KN_CHECK_NOT_MADE;
        n_held += check->state == KN_CHECK_HOLDS;
        kn_verdict_free(verdict);
    }
    assert_true(n_given_up > 0 && n_held > 0);
    close_hospital(&h);
}

/* Records: a row of the release stands for as many rows, and persons, as the original's record says. */
static void counts_of_records_are_rows_and_persons(void **state)
{
    static const struct {
        const char *original, *release, *model, *params;
        uint32_t n_order;
        kn_check_state rows, model_state;
        int max_suppressed;
    } cases[] = {
        {"a,n,who,p,d\n1,2,,1,x\n1,3,,2,y\n", "a,d\n1,x\n1,y\n", "k-anonymity", "k=3", 2, 0, KN_CHECK_HOLDS, 0},
        {"a,n,who,p,d\n1,2,,1,x\n1,3,,2,y\n", "a,d\n1,x\n1,y\n", "k-anonymity", "k=4", 2, 0, KN_CHECK_BROKEN, 0},
        /* person 7 is in both records */
        {"a,n,who,p,d\n1,2,7,,x\n1,3,7,1,y\n", "a,d\n1,x\n1,y\n", "k-anonymity", "k=2", 2, 0, KN_CHECK_BROKEN, 0},
        {"a,n,who,p,d\n1,2,7,,x\n1,3,8,1,y\n", "a,d\n1,x\n1,y\n", "k-anonymity", "k=2", 2, 0, KN_CHECK_HOLDS, 0},
        /* 3 of 5 rows have one value, then 4 of 5 */
        {"a,n,who,p,d\n1,2,,1,x\n1,3,,2,y\n", "a,d\n1,x\n1,y\n", "alpha-k", "alpha=0.6", 2, 0, KN_CHECK_HOLDS, 0},
        {"a,n,who,p,d\n1,1,,1,x\n1,4,,2,y\n", "a,d\n1,x\n1,y\n", "alpha-k", "alpha=0.6", 2, 0, KN_CHECK_BROKEN, 0},
        /* the class has the table's shares, or it is compared with a table that has many more x */
        {"a,n,who,p,d\n1,2,,1,x\n2,2,,1,x\n", "a,d\n1,x\n2,x\n", "t-closeness", "t=0.1", 2, 0, KN_CHECK_HOLDS, 0},
        {"a,n,who,p,d\n1,1,,1,y\n2,9,,1,x\n", "a,d\n1,y\n2,x\n", "t-closeness", "t=0.85", 2, 0, KN_CHECK_BROKEN, 0},
        {"a,n,who,p,d\n1,1,,1,y\n2,9,,1,x\n", "a,d\n1,y\n2,x\n", "t-closeness", "t=0.9", 2, 0, KN_CHECK_HOLDS, 0},
        /* one record of 3 rows was left out */
        {"a,n,who,p,d\n1,2,,1,x\n1,3,,2,y\n", "a,d\n1,x\n", "k-anonymity", "k=1", 1, 0, KN_CHECK_HOLDS, 3},
        {"a,n,who,p,d\n1,2,,1,x\n1,3,,2,y\n", "a,d\n1,x\n", "k-anonymity", "k=1", 1, 1, KN_CHECK_HOLDS, 2},
        {"a,n,who,p,d\n1,2,,1,x\n1,3,,2,y\n", "a,d\n1,x\n*,y\n", "k-anonymity", "k=1", 2, 1, KN_CHECK_HOLDS, 2},
    };
    static const uint32_t order[] = {0, 1};
    const int cells[] = {1, 2};
    kn_table *table = test_table(2, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    kn_verify_column columns[] = {
        {.name = "a", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = domain},
        {.name = "n", .role = KN_ROLE_IDENTIFIER, .type = KN_TYPE_INT, .is_count = true},
        {.name = "who", .role = KN_ROLE_IDENTIFIER, .type = KN_TYPE_TEXT, .is_person = true},
        {.name = "p", .role = KN_ROLE_IDENTIFIER, .type = KN_TYPE_INT, .is_person_count = true},
        {.name = "d", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_verify_model model = {cases[i].model, cases[i].params};
        kn_verify_request request = {.columns = columns,
                                     .n_columns = 5,
                                     .models = &model,
                                     .n_models = 1,
                                     .max_suppressed = cases[i].max_suppressed,
                                     .delimiter = ',',
                                     .order = order,
                                     .n_order = cases[i].n_order};
        kn_verdict *verdict = verify_texts(&request, cases[i].release, cases[i].original);
        assert_check(verdict, model.name, cases[i].model_state, "");
        assert_check(verdict, KN_CHECK_SUPPRESSED, cases[i].rows, "");
        kn_verdict_free(verdict);
    }
    kn_domain_free(domain);
    test_table_free(table);
}

static void a_column_without_a_domain_is_named(void **state)
{
    hospital h;
    open_hospital(&h);
    h.columns[1].domain = NULL;
    for (int with_order = 0; with_order < 2; with_order++) {
        h.request.order = with_order ? ORDER : NULL;
        char *release = edited(RELEASE, "52..59", "nonsense", 0);
        char *more = edited(release, "52..59", "nonsense", 0), *most = edited(more, "52..59", "nonsense", 0);
        kn_verdict *verdict = verify_texts(&h.request, most, ORIGINAL);
        assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_NOT_MADE, "'age'");
        kn_verdict_free(verdict);
        free(release);
        free(more);
        free(most);
    }
    close_hospital(&h);
}

/* --- What the verdict waits for ---------------------------------------------------------------------------------- */

static void a_verdict_holds_only_when_nothing_asked_for_is_open(void **state)
{
    for (int broken = 0; broken <= 1; broken++)
        for (int open = 0; open <= 1; open++)
            for (int not_asked = 0; not_asked <= 1; not_asked++) {
                kn_check checks[] = {{.state = KN_CHECK_HOLDS, .asked = true},
                                     {.state = not_asked ? KN_CHECK_NOT_MADE : KN_CHECK_HOLDS},
                                     {.state = open ? KN_CHECK_NOT_MADE : KN_CHECK_HOLDS, .asked = true},
                                     {.state = broken ? KN_CHECK_BROKEN : KN_CHECK_HOLDS}};
                assert_int_equal(kn_verdict_of_checks(checks, 4), broken ? KN_VERDICT_BROKEN
                                                                  : open ? KN_VERDICT_UNDECIDED
                                                                         : KN_VERDICT_HOLDS);
            }
    assert_int_equal(kn_verdict_of_checks(NULL, 0), KN_VERDICT_UNDECIDED);
}

/* As status, text and JSON; the message names the check. */
static void assert_shown(const kn_verdict *verdict, kn_verdict_state expected, const char *check)
{
    static const char *const words[] = {"Holds: ", "BROKEN: ", "Undecided: "};
    static const char *const json[] = {"\"holds\": true,", "\"holds\": false,", "\"holds\": null,"};
    char *text, *document;
    kn_error message = {0};
    if (verdict->state != expected) {
        print_verdict(verdict);
        fail_msg("should be %s", words[expected]);
    }
    assert_int_equal(kn_verdict_status(verdict, &message), expected == KN_VERDICT_HOLDS ? KN_OK : KN_NOT_MET);
    if (check != NULL) assert_non_null(strstr(message.message, check));
    assert_ok(kn_verdict_text(&text, verdict, err));
    assert_ok(kn_verdict_json(&document, verdict, err));
    assert_int_equal(strncmp(text, words[expected], strlen(words[expected])), 0);
    assert_non_null(strstr(document, json[expected]));
    assert_int_equal(strstr(text, "  undecided ") != NULL, expected == KN_VERDICT_UNDECIDED);
    assert_int_equal(strstr(document, "\"undecided\"") != NULL, expected == KN_VERDICT_UNDECIDED);
    kn_free(text);
    kn_free(document);
}

static void what_was_asked_for_and_not_checked_is_undecided(void **state)
{
    static const struct {
        const char *what, *model, *params;
        bool limit, order, persons;
        kn_verdict_state without_original, with_original;
        const char *check;
    } cases[] = {
        {"nothing but k", "k-anonymity", "k=3", 0, 0, 0, KN_VERDICT_HOLDS, KN_VERDICT_HOLDS, NULL},
        {"no count for it", "k-zebra", "k=3", 0, 0, 0, KN_VERDICT_UNDECIDED, KN_VERDICT_UNDECIDED, "unknown model"},
        {"the whole column", "t-closeness", "t=0.9", 0, 0, 0, KN_VERDICT_UNDECIDED, KN_VERDICT_HOLDS, "t-closeness"},
        {"a slip", "alpha-k", "alpha=1,values=fluu", 0, 0, 0, KN_VERDICT_UNDECIDED, KN_VERDICT_UNDECIDED, "alpha-k"},
        {"a limit", "k-anonymity", "k=3", 1, 0, 0, KN_VERDICT_UNDECIDED, KN_VERDICT_HOLDS, KN_CHECK_SUPPRESSED},
        {"an order", "k-anonymity", "k=3", 0, 1, 0, KN_VERDICT_UNDECIDED, KN_VERDICT_BROKEN, KN_CHECK_ROWS},
        {"persons", "k-anonymity", "k=3", 0, 0, 1, KN_VERDICT_UNDECIDED, KN_VERDICT_UNDECIDED, "k-anonymity"},
        {"one person", "k-anonymity", "k=1", 0, 0, 1, KN_VERDICT_HOLDS, KN_VERDICT_HOLDS, NULL},
        {"persons, two", "k-anonymity", "k=2", 0, 0, 1, KN_VERDICT_UNDECIDED, KN_VERDICT_HOLDS, "k-anonymity"},
        {"too few rows", "k-anonymity", "k=4", 0, 0, 1, KN_VERDICT_BROKEN, KN_VERDICT_BROKEN, "k-anonymity"},
        {"persons of alpha-k", "alpha-k", "alpha=1,k=3", 0, 0, 1, KN_VERDICT_UNDECIDED, KN_VERDICT_UNDECIDED,
         "alpha-k"},
        {"alpha without k", "alpha-k", "alpha=1", 0, 0, 1, KN_VERDICT_HOLDS, KN_VERDICT_HOLDS, NULL},
        {"no persons in it", "l-diversity", "l=2", 0, 0, 1, KN_VERDICT_HOLDS, KN_VERDICT_HOLDS, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hospital h;
        open_hospital(&h);
        h.models[0] = (kn_verify_model){cases[i].model, cases[i].params};
        h.columns[0].is_person = h.request.counts_persons = cases[i].persons;
        h.request.max_suppressed = cases[i].limit ? 3 : -1;
        h.request.order = NULL;
        h.request.order_is_input = cases[i].order;
        kn_verdict *verdict = verify_texts(&h.request, RELEASE, NULL);
        assert_shown(verdict, cases[i].without_original, cases[i].check);
        kn_verdict_free(verdict);
        uint32_t input_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
        if (cases[i].order) h.request.order = input_order;
        verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
        assert_shown(verdict, cases[i].with_original, NULL);
        kn_verdict_free(verdict);
        close_hospital(&h);
    }
}

static void after_a_run_no_check_may_be_left_out(void **state)
{
    hospital h;
    open_hospital(&h);
    h.request.every_check = true;
    h.request.n_suppressed = 3;
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_shown(verdict, KN_VERDICT_HOLDS, NULL);
    for (size_t i = 0; i < verdict->n_checks; i++) assert_true(verdict->checks[i].asked);
    kn_verdict_free(verdict);
    h.columns[1].domain = NULL; /* one column of the three is not compared */
    verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_shown(verdict, KN_VERDICT_UNDECIDED, KN_CHECK_VALUES);
    kn_verdict_free(verdict);
    h.columns[1].domain = h.age;
    h.request.max_suppressed = -1;
    verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_shown(verdict, KN_VERDICT_UNDECIDED, KN_CHECK_SUPPRESSED);
    kn_verdict_free(verdict);
    h.request.max_suppressed = 3;
    h.models[1] = (kn_verify_model){"zebra", "n=1"};
    h.request.n_models = 2;
    verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_shown(verdict, KN_VERDICT_UNDECIDED, "unknown model");
    kn_verdict_free(verdict);
    h.request.n_models = 1;
    verdict = verify_texts(&h.request, RELEASE, NULL);
    assert_shown(verdict, KN_VERDICT_UNDECIDED, KN_CHECK_ROWS);
    kn_verdict_free(verdict);
    close_hospital(&h);
}

/* Where * is the top of every QI, rows with * everywhere are suppressed only if the run says so. */
static void rows_at_the_top_of_every_hierarchy_are_no_suppressed_rows(void **state)
{
    static const char *const texts[] = {"a", "a", "b", "b"};
    kn_table *table = test_text_table(4, 1, texts);
    kn_domain *star = test_domain(table, 0, "a;*\nb;*\n"), *all = test_domain(table, 0, "a;all\nb;all\n");
    static const uint32_t order[] = {0, 1, 2, 3};
    for (int top_is_star = 0; top_is_star <= 1; top_is_star++)
        for (int limit = 0; limit <= 4; limit += 2)
            for (int said = -1; said <= 4; said++) {
                kn_verify_column column = {
                    .name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT, .domain = top_is_star ? star : all};
                kn_verify_model model = {"k-anonymity", "k=2"};
                kn_verify_request request = {.columns = &column,
                                             .n_columns = 1,
                                             .models = &model,
                                             .n_models = 1,
                                             .max_suppressed = limit,
                                             .every_check = said >= 0,
                                             .n_suppressed = said >= 0 ? (uint64_t)said : 0,
                                             .order = order,
                                             .n_order = 4};
                kn_verdict *verdict = verify_texts(&request, "q\n*\n*\n*\n*\n", "q\na\na\nb\nb\n");
                int suppressed = !top_is_star ? 4 : said >= 0 ? said : 0;
                assert_check(verdict, KN_CHECK_SUPPRESSED, suppressed > limit ? KN_CHECK_BROKEN : KN_CHECK_HOLDS, "");
                kn_verdict_free(verdict);
                column.domain = NULL;
                request.every_check = false;
                verdict = verify_texts(&request, "q\n*\n*\n*\n*\n", "q\na\na\nb\nb\n");
                assert_check(verdict, KN_CHECK_SUPPRESSED, limit < 4 ? KN_CHECK_NOT_MADE : KN_CHECK_HOLDS, "");
                kn_verdict_free(verdict);
            }
    kn_domain_free(star);
    kn_domain_free(all);
    test_table_free(table);
}

/* --- Broken releases ------------------------------------------------------------------------------------------- */

typedef struct breakage {
    const char *what, *from, *to;
    int which;
    const char *check, *words; /* the finding with the order known; NULL: nothing is broken then */
    const char *order_free;    /* the check that is broken without the order; NULL: cannot be seen then */
} breakage;

static const breakage BREAKAGES[] = {
    {"an identifier column added", "age,zip", "id,zip", 0, KN_CHECK_IDENTIFIERS, "column 'id' is an identifier",
     KN_CHECK_IDENTIFIERS},
    {"a dropped column left", "diagnosis,note", "secret,note", 0, KN_CHECK_IDENTIFIERS, "'secret'",
     KN_CHECK_IDENTIFIERS},
    {"a column renamed", "job,", "work,", 0, KN_CHECK_COLUMNS, "column 'job' is missing; column 'work' should not be",
     KN_CHECK_COLUMNS},
    {"columns exchanged", "diagnosis,note", "note,diagnosis", 0, KN_CHECK_COLUMNS,
     "column 'note' is not where the original has it", KN_CHECK_COLUMNS},
    {"a column twice", "zip,job", "zip,zip", 0, KN_CHECK_COLUMNS, "column 'zip' is there twice", KN_CHECK_COLUMNS},
    {"a row left out", "52..59,220,baker,flu,e\n", "", 0, KN_CHECK_ROWS, "has 8 rows, but 9 were written",
     KN_CHECK_SUPPRESSED},
    {"a row twice", "*,*,*,cold,i\n", "*,*,*,cold,i\n*,*,*,cold,i\n", 0, KN_CHECK_ROWS, "has 10 rows", KN_CHECK_COPIES},
    {"one row replaced by a copy of another", "*,*,*,flu,g", "*,*,*,gout,h", 0, KN_CHECK_COPIES,
     "line 9, column 'diagnosis': 'gout' is not the original 'flu' (line 8 of the original)", KN_CHECK_COPIES},
    {"a cell of a class changed", "52..59,220,baker,flu", "52..60,220,baker,flu", 0, "k-anonymity",
     "class age='52..60', zip='220', job='baker' (1 row, 1 person, first on line 6)", "k-anonymity"},
    {"a suppressed row that is not", "*,*,*,flu,g", "*,all,*,flu,g", 0, "k-anonymity",
     "class age='*', zip='all', job='*' (1 row", "k-anonymity"},
    {"a value outside the interval", "31..38", "31..37", 2, KN_CHECK_VALUES,
     "line 4, column 'age': '31..37' does not generalize the original '38' (line 4 of the original)", KN_CHECK_VALUES},
    {"an interval upside down", "31..38", "38..31", 0, KN_CHECK_VALUES, "line 2, column 'age'", KN_CHECK_VALUES},
    {"an interval of nothing", "31..38", "..", 0, KN_CHECK_VALUES, "line 2, column 'age'", KN_CHECK_VALUES},
    {"a wrong label", "52..59,220", "52..59,130", 0, KN_CHECK_VALUES,
     "line 5, column 'zip': '130' does not generalize the original '2201'", KN_CHECK_VALUES},
    {"a label that nobody knows", "52..59,220", "52..59,22*", 0, KN_CHECK_VALUES, "'22*'", KN_CHECK_VALUES},
    {"a set without the value", "{nurse|cook}", "{nurse|baker}", 1, KN_CHECK_VALUES,
     "line 3, column 'job': '{nurse|baker}' does not generalize the original 'cook'", KN_CHECK_VALUES},
    {"a set not closed", "{nurse|cook}", "{nurse|cook", 0, KN_CHECK_VALUES, "line 2, column 'job'", KN_CHECK_VALUES},
    {"another value", "baker", "cook", 0, KN_CHECK_VALUES, "'cook' does not generalize the original 'baker'",
     KN_CHECK_VALUES},
    {"a sensitive value changed", "*,*,*,flu", "*,*,*,ague", 0, KN_CHECK_COPIES,
     "line 9, column 'diagnosis': 'ague' is not the original 'flu'", KN_CHECK_COPIES},
    {"a copied cell changed", "flu,e", "flu,E", 0, KN_CHECK_COPIES, "line 6, column 'note': 'E'", KN_CHECK_COPIES},
    {"a blank added to a copied cell", "flu,e", "flu,e ", 0, KN_CHECK_COPIES, "line 6, column 'note': 'e '",
     KN_CHECK_COPIES},
    {"two sensitive cells exchanged", "cold,f\n52..59,220,baker,flu,e", "flu,f\n52..59,220,baker,cold,e", 0,
     KN_CHECK_COPIES, "; 2 cells are wrong", KN_CHECK_COPIES},
    {"two rows exchanged within a class", "cold,f\n52..59,220,baker,flu,e", "flu,e\n52..59,220,baker,cold,f", 0,
     KN_CHECK_COPIES, "line 5", NULL},
    {"rows of two classes exchanged", "flu,\n52..59,220,baker,cold,f", "cold,f\n52..59,220,baker,flu,", 0,
     KN_CHECK_COPIES, "line 4", KN_CHECK_VALUES},
    {"a truncated file", "52..59,220,baker,gout,d\n*,*,*,gout,h\n*,*,*,flu,g\n*,*,*,cold,i\n", "52..59,22", 0,
     KN_CHECK_TABLE, "release.csv, line 7: 2 cells where 5 are expected", KN_CHECK_TABLE},
    {"truncated within a quote", "\"b, c\"\n", "\"b, c\n", 0, KN_CHECK_TABLE, "line 3: a quote is opened",
     KN_CHECK_TABLE},
    {"text after a quote", "\"b, c\"", "\"b, c\" d", 0, KN_CHECK_TABLE, "line 3: text after a closing quote in cell 5",
     KN_CHECK_TABLE},
    {"a cell too many", "flu,e", "flu,e,", 0, KN_CHECK_TABLE, "line 6: 6 cells where 5 are expected", KN_CHECK_TABLE},
    {"more rows suppressed than allowed", "52..59,220,baker,gout,d", "*,*,*,gout,d", 0, KN_CHECK_SUPPRESSED,
     "4 rows with * everywhere and 0 removed, at most 3", KN_CHECK_SUPPRESSED},
};

static void every_broken_release_is_refused_with_its_place(void **state)
{
    hospital h;
    open_hospital(&h);
    for (size_t i = 0; i < sizeof BREAKAGES / sizeof *BREAKAGES; i++) {
        const breakage *b = &BREAKAGES[i];
        char *release = edited(RELEASE, b->from, b->to, b->which);
        for (int with_order = 0; with_order < 2; with_order++) {
            h.request.order = with_order ? ORDER : NULL;
            const char *check = with_order ? b->check : b->order_free;
            kn_verdict *verdict = verify_texts(&h.request, release, ORIGINAL);
            if ((verdict->state == KN_VERDICT_HOLDS) != (check == NULL)) {
                print_verdict(verdict);
                fail_msg("%s, %s the order: %s", b->what, with_order ? "with" : "without",
                         (verdict->state == KN_VERDICT_HOLDS) ? "passed" : "refused");
            }
            if (check != NULL) {
                const kn_check *found = find_check(verdict, check);
                if (found == NULL || found->state != KN_CHECK_BROKEN ||
                    (with_order && strstr(detail_of(found), b->words) == NULL)) {
                    print_verdict(verdict);
                    fail_msg("%s, %s the order: '%s' should say '%s'", b->what, with_order ? "with" : "without", check,
                             b->words);
                }
            }
            kn_verdict_free(verdict);
        }
        free(release);
    }
    close_hospital(&h);
}

/* A cell that is named like a group made from the data, and no other one, has words about where its values stand. */
static void only_an_unknown_group_of_the_column_is_called_one(void **state)
{
    static const struct {
        const char *cell;
        bool is_group;
    } cases[] = {{"b group 3", true},   {"b group ", false},  {"bread", false}, {"b grouping 3", false}, {"b", false},
                 {"bs for all", false}, {"c group 3", false}, {"cook", false}}; /* the domain's column is called b */
    hospital h;
    open_hospital(&h);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *release = edited(RELEASE, "baker", cases[i].cell, 0);
        kn_verdict *verdict = verify_texts(&h.request, release, ORIGINAL);
        assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_BROKEN, cases[i].cell);
        const char *words = strstr(detail_of(find_check(verdict, KN_CHECK_VALUES)), "a group that the search made");
        if ((words != NULL) != cases[i].is_group) print_verdict(verdict);
        assert_int_equal(words != NULL, cases[i].is_group);
        kn_verdict_free(verdict);
        free(release);
    }
    close_hospital(&h);
}

static void a_wrong_order_is_refused(void **state)
{
    hospital h;
    open_hospital(&h);
    uint32_t order[9];
    memcpy(order, ORDER, sizeof order);
    h.request.order = order;
    order[0] = 2;
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_check(verdict, KN_CHECK_ROWS, KN_CHECK_BROKEN, "line 4 is said to be original row 3, which another line is");
    kn_verdict_free(verdict);
    order[0] = 9;
    verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_check(verdict, KN_CHECK_ROWS, KN_CHECK_BROKEN, "original row 10, which does not exist");
    kn_verdict_free(verdict);
    order[0] = 3;
    order[5] = 0;
    verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_BROKEN, "line 2, column 'age': '31..38' does not generalize");
    assert_check(verdict, KN_CHECK_COPIES, KN_CHECK_BROKEN, "line 2, column 'diagnosis'");
    kn_verdict_free(verdict);
    close_hospital(&h);
}

static void persons_are_counted_when_they_are_known(void **state)
{
    hospital h;
    open_hospital(&h);
    h.models[0].params = "k=3"; /* three rows everywhere, but the suppressed ones are of two persons */
    kn_verdict *verdict = verify_texts(&h.request, RELEASE, ORIGINAL);
    assert_check(verdict, "k-anonymity", KN_CHECK_BROKEN,
                 "only 2 persons (asked: k=3): class age='*', zip='*', job='*' (3 rows, 2 persons, first on line 8)");
    assert_true(find_check(verdict, "k-anonymity")->worst == 2);
    kn_verdict_free(verdict);
    close_hospital(&h);
}

static void a_person_spelled_differently_is_one_person(void **state)
{
    hospital h;
    open_hospital(&h);
    h.models[0].params = "k=3";
    static const struct {
        const char *first, *second;
        int n_persons; /* of the suppressed rows, with person 9 */
    } cases[] = {{"7", "7.0", 2},   {"+7", "7", 2},    {"70", "7e1", 2},
                 {"70", "7", 3},    {"", " ", 2},      {"120", "12", 3},
                 {"-7", "7", 3},    {"0", "-0", 2},    {"07", "7", 2},
                 {"70", "70.0", 2}, {"7", "70", 3},    {"0", "00", 2},
                 {"-07", "-7", 2},  {"700", "7e2", 2}, {"1234567", "12345678", 3},
                 {"a", "b", 3},     {"a", "a", 2},     {"12345678901234567890", "12345678901234567891", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char first[40], second[40];
        snprintf(first, sizeof first, "%s,40", cases[i].first);
        snprintf(second, sizeof second, "%s,41", cases[i].second);
        char *some = edited(ORIGINAL, "7,40", first, 0), *original = edited(some, "7,41", second, 0);
        kn_verdict *verdict = verify_texts(&h.request, RELEASE, original);
        if (verdict->smallest_class != (uint64_t)cases[i].n_persons)
            fail_msg("'%s' and '%s' counted as %d persons", cases[i].first, cases[i].second,
                     (int)verdict->smallest_class - 1);
        kn_verdict_free(verdict);
        free(some);
        free(original);
    }
    close_hospital(&h);
}

static void removed_rows_are_accounted_for(void **state)
{
    hospital h;
    open_hospital(&h);
    char *release = edited(RELEASE, "*,*,*,gout,h\n*,*,*,flu,g\n*,*,*,cold,i\n", "", 0);
    h.request.n_order = 6;
    h.models[0].params = "k=3";
    kn_verdict *verdict = verify_texts(&h.request, release, ORIGINAL);
    if (verdict->state != KN_VERDICT_HOLDS) print_verdict(verdict);
    assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
    assert_int_equal(verdict->n_removed, 3);
    assert_check(verdict, KN_CHECK_ROWS, KN_CHECK_HOLDS, "6 of the original's 9 rows, 3 removed");
    kn_verdict_free(verdict);
    h.request.max_suppressed = 2;
    verdict = verify_texts(&h.request, release, ORIGINAL);
    assert_check(verdict, KN_CHECK_SUPPRESSED, KN_CHECK_BROKEN, "0 rows with * everywhere and 3 removed, at most 2");
    kn_verdict_free(verdict);
    free(release);
    close_hospital(&h);
}

static void values_are_hidden_when_redaction_is_asked_for(void **state)
{
    hospital h;
    open_hospital(&h);
    h.request.redact = true;
    char *release = edited(RELEASE, "52..59,220,baker,flu", "52..60,220,baker,ague", 0);
    kn_verdict *verdict = verify_texts(&h.request, release, ORIGINAL);
    assert_int_equal(verdict->state, KN_VERDICT_BROKEN);
    for (size_t i = 0; i < verdict->n_checks; i++) {
        assert_null(strstr(detail_of(&verdict->checks[i]), "52"));
        assert_null(strstr(detail_of(&verdict->checks[i]), "ague"));
    }
    kn_verdict_free(verdict);
    free(release);
    close_hospital(&h);
}

static void wrong_files_and_parameters_are_errors(void **state)
{
    hospital h;
    open_hospital(&h);
    kn_verdict *verdict;
    kn_error problem = {0};
    h.request.release_path = "no-such-file.csv";
    assert_int_equal(kn_verify_files(&verdict, &h.request, &problem), KN_INPUT);
    assert_null(verdict);
    assert_non_null(strstr(problem.message, "cannot open release.csv"));

    char *release = temp_file(RELEASE, strlen(RELEASE)), *original = temp_file("a,b\n1,2\n", 8);
    h.request.release_path = release;
    h.request.original_path = original;
    problem = (kn_error){0};
    assert_int_equal(kn_verify_files(&verdict, &h.request, &problem), KN_INPUT);
    assert_non_null(strstr(problem.message, "2 columns where 7 are expected"));

    static const kn_verify_model wrong[] = {{"k-anonymity", "k=0"},
                                            {"k-anonymity", "l=2"},
                                            {"l-diversity", "kind=recursive,l=2"},
                                            {"l-diversity", "column=age,l=2"},
                                            {"t-closeness", ""},
                                            {"alpha-k", "alpha=2"}};
    h.request.original_path = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        h.models[0] = wrong[i];
        problem = (kn_error){0};
        assert_int_equal(kn_verify_files(&verdict, &h.request, &problem), KN_USAGE);
    }
    h.models[0] = (kn_verify_model){"wishful-thinking", ""};
    assert_ok(kn_verify_files(&verdict, &h.request, err));
    assert_check(verdict, "unknown model", KN_CHECK_NOT_MADE, "'wishful-thinking'");
    kn_verdict_free(verdict);
    remove_file(release);
    remove_file(original);
    close_hospital(&h);
}

/* --- What cells mean ------------------------------------------------------------------------------------------- */

typedef struct pair {
    const char *original, *released;
    bool covers;
} pair;

/* One QI column; each pair is a file of one row. */
static void assert_pairs(const kn_domain *domain, kn_type type, const pair *pairs, size_t n, bool guard)
{
    kn_verify_column column = {.name = "a", .role = KN_ROLE_QUASI, .type = type, .domain = domain};
    static const char *const nulls[] = {"", "NA"};
    uint32_t order[] = {0};
    kn_verify_request request = {.columns = &column,
                                 .n_columns = 1,
                                 .max_suppressed = -1,
                                 .order = order,
                                 .n_order = 1,
                                 .null_values = nulls,
                                 .n_null_values = 2,
                                 .delimiter = ',',
                                 .guard_formulas = guard};
    for (size_t i = 0; i < n; i++) {
        char original[200], released[200];
        snprintf(original, sizeof original, "a\n\"%s\"\n", pairs[i].original);
        snprintf(released, sizeof released, "a\n\"%s\"\n", pairs[i].released);
        kn_verdict *verdict = verify_texts(&request, released, original);
        if ((verdict->state == KN_VERDICT_HOLDS) != pairs[i].covers) {
            print_verdict(verdict);
            fail_msg("'%s' released as '%s' should be %s", pairs[i].original, pairs[i].released,
                     pairs[i].covers ? "right" : "wrong");
        }
        kn_verdict_free(verdict);
    }
}
#define ASSERT_PAIRS(domain, type, guard, ...)                                                                         \
    do {                                                                                                               \
        static const pair pairs_[] = {__VA_ARGS__};                                                                    \
        assert_pairs(domain, type, pairs_, sizeof pairs_ / sizeof *pairs_, guard);                                     \
    } while (0)

static void numbers_mean_themselves_or_an_interval(void **state)
{
    const int cells[] = {1, 5, -3};
    kn_table *table = test_table(3, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    ASSERT_PAIRS(domain, KN_TYPE_DECIMAL, false, {"1", "1", true}, {"1.0", "1", true}, {"1e0", "1", true},
                 {"1", "2", false}, {"1", "1..5", true}, {"5", "1..5", true}, {"6", "1..5", false},
                 {"0", "1..5", false}, {"-3", "-3..1", true}, {"-4", "-3..1", false}, {"2.5", "1..5", true},
                 {"5.01", "1..5", false}, {"5", "*", true}, {"", "*", true}, {"", "1..5", false}, {"", "NA", true},
                 {"NA", "", true}, {"", "1", false}, {"1", "", false}, {"5", "1...5", false}, {"5", "1..5..9", false},
                 {"5", "..", false}, {"9007199254740993", "9007199254740992", false},
                 {"9007199254740993", "9007199254740993.0", true}, {"x", "x", true}, {"x", "y", false},
                 {"5", "1\\..5", false}, {"0.5", "\\.5..1", true}, {"1", "[1,5)", true}, {"4.99", "[1,5)", true},
                 {"5", "[1,5)", false}, {"0", "[1,5)", false}, {"1", "1..<5", true}, {"4.99", "1..<5", true},
                 {"5", "1..<5", false}, {"0.99", "1..<5", false}, {"7", "5..", true}, {"5", "5..", true},
                 {"4", "5..", false}, {"4", "..5", true}, {"5", "..5", true}, {"5", "..<5", false}, {"6", "..5", false},
                 {"", "5..", false}, {"5", "..", false}, {"", "[1,5)", false}, {"1", "[1,5", false});
    ASSERT_PAIRS(domain, KN_TYPE_DECIMAL, true, {"-3", "'-3", true}, {"-3", "'-3..1", true}, {"-3", "'-2", false},
                 {"3", "'3", false});
    ASSERT_PAIRS(domain, KN_TYPE_DECIMAL, false, {"-3", "'-3", false});
    kn_domain_free(domain);
    test_table_free(table);
}

static void long_numbers_mean_what_their_digits_say(void **state)
{
#define LONG "10000000000000000"
    const char *const cells[] = {LONG "10", LONG "20"};
    kn_table *table = test_typed_table(KN_TYPE_INT, 2, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL), *tree = test_domain(table, 0, LONG "10;x;*\n" LONG "20;y;*\n");
    ASSERT_PAIRS(
        domain, KN_TYPE_INT, false, {LONG "12", LONG "11.." LONG "13", true}, {LONG "11", LONG "11.." LONG "13", true},
        {LONG "13", LONG "11.." LONG "13", true}, {LONG "10", LONG "11.." LONG "13", false},
        {LONG "14", LONG "11.." LONG "13", false}, {LONG "12", LONG "12.0", true}, {LONG "12", LONG "13", false},
        {LONG "12", "+" LONG "12", true}, {LONG "12", "[" LONG "12," LONG "13)", true},
        {LONG "13", "[" LONG "12," LONG "13)", false}, {"-" LONG "12", "-" LONG "13..-" LONG "11", true},
        {"-" LONG "12", "-" LONG "11..-" LONG "10", false}, {"0." LONG "12", "0." LONG "11..0." LONG "13", true},
        {"0." LONG "14", "0." LONG "11..0." LONG "13", false}, {LONG "12", "*", true}, {LONG "12", "1..2e18", true});
    ASSERT_PAIRS(tree, KN_TYPE_INT, false, {LONG "10", "x", true}, {"+" LONG "10", "x", true},
                 {"+" LONG "10", "y", false}, {"+" LONG "20", "y", true}, {"+" LONG "20", "x", false});
    /* the same without the order of rows */
    kn_verify_column column = {.name = "a", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = domain};
    kn_verify_request request = {.columns = &column, .n_columns = 1, .max_suppressed = -1, .delimiter = ','};
    const char original[] = "a\n" LONG "10\n" LONG "20\n";
    kn_verdict *verdict = verify_texts(&request, "a\n" LONG "05.." LONG "15\n" LONG "15.." LONG "25\n", original);
    assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
    kn_verdict_free(verdict);
    verdict = verify_texts(&request, "a\n" LONG "05.." LONG "15\n" LONG "05.." LONG "15\n", original);
    assert_check(verdict, "values generalize the original", KN_CHECK_BROKEN, "");
    kn_verdict_free(verdict);
    kn_domain_free(domain);
    kn_domain_free(tree);
    test_table_free(table);
}

static void dates_mean_themselves_or_an_interval(void **state)
{
    const int cells[] = {1, 5};
    kn_table *table = test_table(2, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    ASSERT_PAIRS(domain, KN_TYPE_DATE, false, {"2024-02-29", "2024-02-29", true}, {"2024-02-29", "2024/02/29", true},
                 {"2024-02-29", "2024-02-01..2024-03-01", true}, {"2024-03-02", "2024-02-01..2024-03-01", false},
                 {"2024-03-01", "2024-02-01..2024-03-01", true}, {"2023-02-28", "2023-02-01..2023-02-29", false},
                 {"31.12.1999", "1.12.1999..1.1.2000", true}, {"2.1.2000", "1.12.1999..1.1.2000", false},
                 {"31/12/1999", "30/12/1999..31/12/1999", true}, {"12/31/1999", "12/30/1999..1/1/2000", true},
                 {"2024-01-01T10:00:00Z", "2024-01-01T12:00:00+02:00", true},
                 {"2024-01-01T10:00:00Z", "2024-01-01T09:59..2024-01-01T10:00", true},
                 {"2024-01-01T10:00:01", "2024-01-01T09:59..2024-01-01T10:00", false}, {"31/12/1999", "1999", true},
                 {"31/12/1999", "1999-12", true}, {"31/12/1999", "1999-Q4", true}, {"31/12/1999", "1999-Q3", false},
                 {"31/12/1999", "1999-H2", true}, {"31/12/1999", "1999-H1", false}, {"31/12/1999", "1990..1999", true},
                 {"13/1/2000", "1990..1999", false}, {"31/12/1999", "1999-12-31", true},
                 {"31/12/1999", "1999-12-30", false}, {"31/12/1999", "1999-W52", true}, {"13/1/2000", "2000-W02", true},
                 {"17/1/2000", "2000-W02", false}, {"31/12/1999", "1999-13", false}, {"31/12/1999", "199", false},
                 {"1999-12-31T23:59:59.9", "1999", true}, {"1999-12-31T23:59:59.999999999", "1999", true},
                 {"2000-01-01", "1999", false}, {"1969-12-31", "1900-01-01..1970-01-01", true},
                 {"20240131", "20240101..20240201", true}, {"", "2024-02-01..2024-03-01", false}, {"", "*", true});
    ASSERT_PAIRS(domain, KN_TYPE_DATE, false, {"05OCT1987", "1987-10", true}, {"05OCT1987", "1987-11", false},
                 {"05OCT1987", "1987-10-05", true}, {"05OCT1987", "1987-10-06", false},
                 {"05OCT1987", "October 5th, 1987", true}, {"05OCT1987", "5 Nov 1987", false},
                 {"October 5, 1987", "1987-Q4", true}, {"October 5, 1987", "1987-Q3", false},
                 {"5. März 1987", "1987-02..1987-04", true}, {"5. März 1987", "1987-04..1987-05", false},
                 {"5-Oct-1987", "1-Oct-1987..5-Oct-1987", true}, {"5-Oct-1987", "1-Oct-1987..4-Oct-1987", false},
                 {"05OCT1987:13:45:00", "05OCT1987:13:00..<05OCT1987:14:00", true},
                 {"05OCT1987:13:45:00", "05OCT1987:13:00..<05OCT1987:13:45", false}, {"05OCT87", "1987", false},
                 {"31FEB1987", "1987", false}, {"05OCT1987", "05OCT87", false});
    kn_domain_free(domain);
    test_table_free(table);
}

static void period(const char *text, int64_t day, int64_t first, int64_t last)
{
    double start, end;
    if (!kn_period_read(&start, &end, text, strlen(text))) fail_msg("%s is no period", text);
    if (start != (double)first || end != (double)(last + 1) || day < first || day > last)
        fail_msg("%s: days %g to %g instead of %lld to %lld", text, start, end - 1, (long long)first, (long long)last);
}

static int64_t day_of(int year, int month, int day)
{
    struct tm date = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    return (int64_t)timegm(&date) / 86400;
}

static void periods_are_those_of_the_c_library_s_calendar(void **state)
{
    for (int64_t day = day_of(1899, 1, 1); day < day_of(2102, 1, 1); day++) {
        time_t seconds = (time_t)(day * 86400);
        struct tm date;
        char text[40];
        gmtime_r(&seconds, &date);
        int year = date.tm_year + 1900, month = date.tm_mon, weekday = (date.tm_wday + 6) % 7;
        if (date.tm_mday == 1 || date.tm_mday > 27) { /* ends of everything but weeks */
            strftime(text, sizeof text, "%Y-%m-%d", &date);
            period(text, day, day, day);
            strftime(text, sizeof text, "%Y-%m", &date);
            period(text, day, day_of(year, month + 1, 1), day_of(year, month + 2, 1) - 1);
            strftime(text, sizeof text, "%Y", &date);
            period(text, day, day_of(year, 1, 1), day_of(year, 12, 31));
            snprintf(text, sizeof text, "%d-Q%d", year, month / 3 + 1);
            period(text, day, day_of(year, month / 3 * 3 + 1, 1), day_of(year, month / 3 * 3 + 4, 1) - 1);
            snprintf(text, sizeof text, "%d-H%d", year, month / 6 + 1);
            period(text, day, day_of(year, month / 6 * 6 + 1, 1), day_of(year, month / 6 * 6 + 7, 1) - 1);
        }
        if (weekday == 0 || weekday == 6) {
            strftime(text, sizeof text, "%G-W%V", &date);
            period(text, day, day - weekday, day - weekday + 6);
        }
    }
    static const char *const none[] = {
        "2024-W00",   "2024-W54",   "2024-W1",    "2024-13",    "2024-00",         "2024-1",  "2024-Q0",
        "2024-Q5",    "2024-H0",    "2024-H3",    "2024-X1",    "2024-",           "202",     "20245",
        "2024-Q",     "2024-W053",  "2024-02-30", "2023-02-29", "2024-Q1x",        "2024/01", "x",
        "2024-04-31", "2024-00-10", "",           "2100-02-29", "2024-01-31T12:00"};
    double start, end;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (kn_period_read(&start, &end, none[i], strlen(none[i]))) fail_msg("'%s' is read as a period", none[i]);
}

/* Which cell of a grid a day lies in, by the C library's calendar. */
static int64_t grid_cell(const char *unit, int64_t day)
{
    static const struct {
        const char *name;
        int n_months;
    } units[] = {{"month", 1},   {"quarter", 3},  {"halfyear", 6},  {"year", 12},
                 {"5years", 60}, {"decade", 120}, {"century", 1200}};
    time_t seconds = (time_t)(day * 86400);
    struct tm date;
    gmtime_r(&seconds, &date);
    if (strcmp(unit, "day") == 0) return day;
    if (strcmp(unit, "week") == 0) return (day - (date.tm_wday + 6) % 7); /* its Monday */
    size_t i = 0;
    while (strcmp(units[i].name, unit) != 0) i++;
    return ((date.tm_year + 1900) * 12 + date.tm_mon) / units[i].n_months;
}

static void assert_grid_cells(int64_t first, int64_t end)
{
    static const char *const units[] = {"day",  "week",   "month",  "quarter", "halfyear",
                                        "year", "5years", "decade", "century"};
    const kn_reading reading = {.type = KN_TYPE_DATE};
    for (int64_t day = first; day < end; day++) {
        char texts[2][40];
        for (int i = 0; i < 2; i++) {
            time_t seconds = (time_t)((day - i) * 86400);
            struct tm date;
            gmtime_r(&seconds, &date);
            snprintf(texts[i], sizeof texts[i], "%04d-%02d-%02d", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday);
        }
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
            const bool one = grid_cell(units[u], day - 1) == grid_cell(units[u], day);
            if (kn_in_one_grid_cell(&reading, units[u], texts[1], strlen(texts[1]), texts[0], strlen(texts[0])) != one)
                fail_msg("%s and %s are %s %s", texts[1], texts[0], one ? "in one" : "not in one", units[u]);
        }
    }
}

static void days_lie_in_the_grid_cells_of_the_c_library_s_calendar(void **state)
{
    assert_grid_cells(day_of(1, 1, 2), day_of(22, 1, 1));
    for (int century = 1600; century <= 2400; century += 100)
        assert_grid_cells(day_of(century - 1, 1, 1), day_of(century + 2, 1, 1));
    assert_grid_cells(day_of(9979, 1, 1), day_of(10000, 1, 1));
}

/* Where no date can be: the years before the first and behind the last one. */
static void periods_of_the_first_and_the_last_year_have_both_ends(void **state)
{
    static const char *const last[] = {"9999", "9999-H2", "9999-Q4", "9999-12"};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        period(last[i], day_of(9999, 12, 31),
               day_of(9999,
                      i == 0   ? 1
                      : i == 1 ? 7
                      : i == 2 ? 10
                               : 12,
                      1),
               day_of(9999, 12, 31));
    static const char *const first[] = {"0000", "0000-H2", "0000-Q4", "0000-12"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        period(first[i], day_of(0, 12, 31),
               day_of(0,
                      i == 0   ? 1
                      : i == 1 ? 7
                      : i == 2 ? 10
                               : 12,
                      1),
               day_of(0, 12, 31));
    for (int month = 1; month <= 13; month++)
        assert_int_equal(kn_month_start(month > 12, month > 12 ? 1 : month), day_of(0, month, 1));
}

static void text_means_itself_or_a_set(void **state)
{
    const char *const cells[] = {"a", "b|c", "*x"};
    kn_table *table = test_text_table(3, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    ASSERT_PAIRS(domain, KN_TYPE_TEXT, false, {"a", "a", true}, {"a", "A", false}, {"a", "{a|b}", true},
                 {"b", "{a|b}", true}, {"c", "{a|b}", false}, {"b|c", "{a|b\\|c}", true}, {"b|c", "{a|b|c}", false},
                 {"b", "{a|b\\|c}", false}, {"{a|b}", "{a|b}", true}, {"a}", "{a\\}|b}", true}, {"a", "{b|c}", false},
                 {"", "{|a}", true}, {"NA", "{|a}", true}, {"", "{b|a}", false}, {"", "{NA|a}", true},
                 {"a", "{a|b}x", false}, {"a", "a..b", false}, {"x\\y", "{x\\\\y|z}", true}, {"a", "\\a", false},
                 {"1301", "130*", true}, {"1301", "13**", true}, {"1301", "131*", false}, {"1301", "13*", false},
                 {"1301", "**01", true}, {"1301", "**02", false}, {"1301", "1*01", false}, {"a*", "a*", true});
    ASSERT_PAIRS(domain, KN_TYPE_TEXT, true, {"=ab", "'=ab", true}, {"'=ab", "''=ab", true}, {"'=ab", "'=ab", false},
                 {"=ab", "'=a*", true}, {"'=ab", "''=a*", true}, {"'=ab", "'=a*", false}, {"=ab", "''=a*", false},
                 {"-5", "-5", true}, {"'-5", "'-5", true}, {"a", "'a", false});
    kn_domain_free(domain);
    test_table_free(table);
}

static void ordered_text_means_an_interval_of_its_order(void **state)
{
    const char *const cells[] = {"low", "middle", "high"};
    kn_table *table = test_text_table(3, 1, cells); /* spellings: high, low, middle */
    kn_domain *domain = test_domain(table, 0, NULL);
    domain->kind = KN_DOMAIN_RANGES;
    domain->code_of_spelling[0] = 2;
    domain->code_of_spelling[1] = 0;
    domain->code_of_spelling[2] = 1;
    ASSERT_PAIRS(domain, KN_TYPE_TEXT, false, {"low", "low..middle", true}, {"middle", "low..middle", true},
                 {"high", "low..middle", false}, {"high", "middle..high", true}, {"low", "middle..high", false},
                 {"low", "low..unknown", false}, {"", "low..high", false}, {"low", "high..low", false});
    kn_domain_free(domain);
    test_table_free(table);
}

/* However an end is spelled, and whether or not somebody has it: 2..7 always means what lies between 2 and 7. */
static void ordered_numbers_mean_what_lies_between(void **state)
{
    const char *const cells[] = {"1", "2.0", "30"};
    kn_table *table = test_text_table(3, 1, cells);
    kn_domain *domain = test_domain(table, 0, NULL);
    domain->kind = KN_DOMAIN_RANGES;
    domain->naming = KN_NAMES_ENDS;
    ASSERT_PAIRS(domain, KN_TYPE_DECIMAL, false, {"2.0", "2.0..30", true}, {"2.0", "2..30", true},
                 {"30", "2..30.0", true}, {"1", "2..30", false}, {"1", "1.00..30", true}, {"2.0", "1.5..2", true},
                 {"2.0", "2.5..30", false}, {"30", "2..3", false}, {"1", "1..2", true}, {"2.0", "2..1", false});
    kn_domain_free(domain);
    test_table_free(table);
}

static void labels_mean_the_leaves_below_them(void **state)
{
    const char *const cells[] = {"a1", "a2", "b1", "x", NULL};
    kn_table *table = test_text_table(5, 1, cells);
    kn_domain *domain = test_domain(table, 0, "a1;a;A;all\na2;a;A;all\nb1;b;b;all\nx;x;d;all\n");
    ASSERT_PAIRS(domain, KN_TYPE_TEXT, false, {"a1", "a1", true}, {"a1", "a", true}, {"a1", "A", true},
                 {"a1", "all", true}, {"a1", "*", true}, {"a1", "a2", false}, {"a1", "b", false}, {"b1", "a", false},
                 {"b1", "b", true}, {"b1", "A", false}, {"x", "x", true}, {"x", "d", true}, {"a1", "x", false},
                 {"", "all", true}, {"", "a", false}, {"", "*", true}, {"NA", "", true}, {"a1", "ALL", false},
                 {"a1", "", false}, {"a1", "a1..a2", true}, {"b1", "a1..a2", false}, {"a1", "{a1|b1}", true},
                 {"a2", "{a1|b1}", false});
    kn_domain_free(domain);
    test_table_free(table);
}

/* A text that means something as it stands is not read once more without its apostrophe. */
static void a_label_that_looks_guarded_is_the_label(void **state)
{
    const char *const cells[] = {"a", "b"};
    kn_table *table = test_text_table(2, 1, cells);
    kn_domain *domain = test_domain(table, 0, "a;'-5;*\nb;-5;*\n");
    ASSERT_PAIRS(domain, KN_TYPE_TEXT, true, {"a", "'-5", true}, {"b", "'-5", false}, {"b", "-5", true},
                 {"a", "-5", false});
    kn_domain_free(domain);
    test_table_free(table);
}

/* --missing wildcard: only * says "any value". */
static void a_missing_cell_that_may_be_any_value_is_released_as_a_star(void **state)
{
    const int numbers[] = {1, 5, TEST_MISSING};
    const char *const words[] = {"a", "b", NULL};
    kn_table *table = test_table(3, 1, numbers), *texts = test_text_table(3, 1, words);
    kn_domain *domains[] = {test_domain(table, 0, NULL), test_domain(texts, 0, NULL),
                            test_domain(texts, 0, "a;A;all\nb;A;all\n")};
    for (int i = 0; i < 3; i++) domains[i]->missing_is_wildcard = true;
    ASSERT_PAIRS(domains[0], KN_TYPE_INT, false, {"", "*", true}, {"", "", false}, {"", "NA", false},
                 {"NA", "NA", false}, {"", "1..5", false}, {"1", "1..5", true}, {"1", "", false});
    ASSERT_PAIRS(domains[1], KN_TYPE_TEXT, false, {"", "*", true}, {"", "", false}, {"NA", "{a|NA}", false},
                 {"a", "{a|NA}", true}, {"", "{|a}", false});
    ASSERT_PAIRS(domains[2], KN_TYPE_TEXT, false, {"", "*", true}, {"", "all", true}, {"", "", false}, {"", "A", false},
                 {"NA", "NA", false}, {"a", "A", true});
    /* without the order of rows */
    for (int i = 0; i < 3; i++) {
        kn_type type = i == 0 ? KN_TYPE_INT : KN_TYPE_TEXT;
        kn_verify_column column = {.name = "a", .role = KN_ROLE_QUASI, .type = type, .domain = domains[i]};
        kn_verify_request request = {.columns = &column, .n_columns = 1, .max_suppressed = -1, .delimiter = ','};
        const char *original = i == 0 ? "a\n1\n\"\"\n" : "a\na\n\"\"\n";
        kn_verdict *verdict = verify_texts(&request, i == 0 ? "a\n1\n*\n" : "a\na\n*\n", original);
        assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
        kn_verdict_free(verdict);
        verdict = verify_texts(&request, original, original);
        assert_check(verdict, "values generalize the original", KN_CHECK_BROKEN, "");
        kn_verdict_free(verdict);
        kn_domain_free(domains[i]);
    }
    test_table_free(table);
    test_table_free(texts);
}

static void a_tree_over_numbers_takes_other_spellings_of_its_leaves(void **state)
{
    const int cells[] = {1, 2, 10};
    kn_table *table = test_table(3, 1, cells);
    kn_domain *domain = test_domain(table, 0, "1;1..5;*\n2;1..5;*\n10;6..10;*\n");
    ASSERT_PAIRS(domain, KN_TYPE_INT, false, {"1", "1..5", true}, {"+1", "1..5", true}, {"10", "1..5", false},
                 {"10", "6..10", true}, {"2", "6..10", false}, {"2", "+2", true});
    kn_domain_free(domain);
    test_table_free(table);
}

/* --- Reading --------------------------------------------------------------------------------------------------- */

static kn_sheet *read_sheet(const char *bytes, size_t n_bytes, kn_sheet_options options)
{
    char *path = temp_file(bytes, n_bytes);
    kn_sheet *sheet;
    options.path = options.name = path;
    assert_ok(kn_sheet_read(&sheet, &options, err));
    remove_file(path);
    return sheet;
}

static void assert_cell(const kn_sheet *sheet, uint32_t row, uint32_t column, const char *expected)
{
    size_t n_bytes;
    const char *bytes = kn_text(&sheet->columns[column], kn_sheet_code(&sheet->columns[column], row), &n_bytes);
    if (n_bytes != strlen(expected) || memcmp(bytes, expected, n_bytes) != 0)
        fail_msg("row %u, column %u is '%.*s', not '%s'", row, column, (int)n_bytes, bytes, expected);
}

static void the_reader_takes_quotes_line_ends_and_encodings(void **state)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    for (size_t e = 0; e < 3; e++) {
        char text[200];
        int n = snprintf(text, sizeof text, "a;b%s1;\"x\"\"y;%sz\"%s\"\";c\"d\"%s%s", ends[e], ends[e], ends[e],
                         ends[e], ends[e]);
        kn_sheet *sheet = read_sheet(text, (size_t)n, (kn_sheet_options){0});
        assert_null(sheet->problem);
        assert_int_equal(sheet->n_rows, 2);
        char cell[20];
        snprintf(cell, sizeof cell, "x\"y;%sz", ends[e]);
        assert_cell(sheet, 0, 1, cell);
        assert_cell(sheet, 1, 0, "");
        assert_cell(sheet, 1, 1, "c\"d\"");
        assert_int_equal(kn_sheet_line(sheet, 0), 2);
        assert_int_equal(kn_sheet_line(sheet, 1), 4); /* one line end inside a cell */
        kn_sheet_free(sheet);
    }
    static const char utf16[] = "\xff\xfe"
                                "a\0,\0b\0\n\0\xe4\0,\0\x3d\xd8\x00\xde\n\0";
    kn_sheet *sheet = read_sheet(utf16, sizeof utf16 - 1, (kn_sheet_options){0});
    assert_int_equal(sheet->n_rows, 1);
    assert_cell(sheet, 0, 0, "\xc3\xa4");
    assert_cell(sheet, 0, 1, "\xf0\x9f\x98\x80");
    kn_sheet_free(sheet);
    static const char half[] = "\xff\xfe"
                               "a\0\n\0x\0y"; /* ends within a character */
    sheet = read_sheet(half, sizeof half - 1, (kn_sheet_options){0});
    assert_int_equal(sheet->n_rows, 1);
    assert_cell(sheet, 0, 0, "x");
    kn_sheet_free(sheet);
    sheet = read_sheet("\xef\xbb\xbf"
                       "a,b\n\xe4, x ",
                       12, (kn_sheet_options){.encoding = KN_ENCODING_LATIN1, .trim = true});
    assert_string_equal(sheet->columns[0].name, "a");
    assert_cell(sheet, 0, 1, "x");
    kn_sheet_free(sheet);
    sheet = read_sheet("a,b\n\xe4, x ", 9, (kn_sheet_options){.encoding = KN_ENCODING_LATIN1, .trim = true});
    assert_cell(sheet, 0, 0, "\xc3\xa4");
    kn_sheet_free(sheet);
    sheet = read_sheet("a,b\n \" x\"\" \"\t, y \n", 18, (kn_sheet_options){.trim = true});
    assert_null(sheet->problem);
    assert_cell(sheet, 0, 0, "x\"");
    assert_cell(sheet, 0, 1, "y");
    kn_sheet_free(sheet);
    sheet = read_sheet("1|2\n3|4", 7, (kn_sheet_options){.no_header = true});
    assert_int_equal(sheet->n_rows, 2);
    assert_cell(sheet, 0, 1, "2");
    assert_int_equal(kn_sheet_line(sheet, 1), 2);
    kn_sheet_free(sheet);
    sheet = read_sheet("a\n\nx\n", 5, (kn_sheet_options){0}); /* one column: an empty line is an empty cell */
    assert_int_equal(sheet->n_rows, 2);
    assert_cell(sheet, 0, 0, "");
    kn_sheet_free(sheet);
    const char *const names[] = {"a;b", "c"};
    sheet = read_sheet("a;b,c\n1;2,3\n", 12, (kn_sheet_options){.expected = names, .n_expected = 2});
    assert_int_equal(sheet->n_columns, 2);
    kn_sheet_free(sheet);
    const char *const other_names[] = {"a", "b,c"}; /* the other mark */
    sheet = read_sheet("a;b,c\n1;2,3\n", 12, (kn_sheet_options){.expected = other_names, .n_expected = 2});
    assert_string_equal(sheet->columns[0].name, "a");
    kn_sheet_free(sheet);
}

static void the_reader_names_the_line_of_a_malformed_file(void **state)
{
    static const struct {
        const char *text, *problem;
        size_t n_bytes;
    } cases[] = {{"", "line 1: the file is empty", 0},
                 {"a,b\n1\n", "line 2: 1 cells where 2", 6},
                 {"a,b\nx,,\n", "line 2: 3 cells where 2", 8},
                 {"a,b\n1,2\n\"3\n4\",5,6\n", "line 3: 3 cells where 2", 19},
                 {"a,b\n1,2\n\n\n3,4\n", "line 3: an empty line inside the table", 14},
                 {"a,b\n1,\"2", "line 2: a quote is opened", 8},
                 {"a,b\n1,\"2\"3\n", "line 2: text after a closing quote in cell 2", 11},
                 {"a,b\n1,\0\n", "line 2: a NUL byte in cell 2", 8},
                 {"a,b\n1,\"\0\"\n", "line 2: a NUL byte in cell 2", 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_sheet *sheet = read_sheet(cases[i].text, cases[i].n_bytes, (kn_sheet_options){.delimiter = ','});
        if (sheet->problem == NULL || strstr(sheet->problem, cases[i].problem) == NULL)
            fail_msg("'%s' should say '%s', not '%s'", cases[i].text, cases[i].problem, sheet->problem);
        assert_int_equal(sheet->n_rows, 0);
        kn_sheet_free(sheet);
    }
}

/* Cells across block boundaries, codes of every width, and a cell larger than a block. */
static void large_files_are_read_as_they_are(void **state)
{
    enum { N = 150000 };
    char *text = malloc(N * 30 + 4000000), *at = text;
    at += sprintf(at, "n,small,quoted\n");
    for (int i = 0; i < N; i++) at += sprintf(at, "%d,%d,\"%d,\"\"\"\r\n", i, i % 7, i % 1000);
    at += sprintf(at, "x,y,");
    memset(at, 'z', 3000000);
    at += 3000000;
    kn_sheet *sheet = read_sheet(text, (size_t)(at - text), (kn_sheet_options){.delimiter = ','});
    assert_int_equal(sheet->n_rows, N + 1);
    for (uint32_t i = 0; i < N; i += 997) {
        char cell[30];
        snprintf(cell, sizeof cell, "%u", i);
        assert_cell(sheet, i, 0, cell);
        snprintf(cell, sizeof cell, "%u", i % 7);
        assert_cell(sheet, i, 1, cell);
        snprintf(cell, sizeof cell, "%u,\"", i % 1000);
        assert_cell(sheet, i, 2, cell);
    }
    size_t n_bytes;
    kn_text(&sheet->columns[2], kn_sheet_code(&sheet->columns[2], N), &n_bytes);
    assert_int_equal(n_bytes, 3000000);
    kn_sheet_free(sheet);
    free(text);
}

static uint64_t text_length(const void *context, const char *bytes, size_t n_bytes) { return n_bytes + 1; }

/* Rows whose first cells are those of the row above, or nearly: across blocks and chunks, with a quoted row now and
 * then, and as a column of fingerprints. */
static void rows_that_begin_like_the_one_above_are_read_as_they_are(void **state)
{
    enum { N = 150000, N_COLUMNS = 5 };
    static const char *const endings[] = {"", "a", "ab", "abcdefghijklmnopqrstuvw", "abcdefghijklmnopqrstuvx"};
    char *text = malloc(N * 120), *at = text, cells[N_COLUMNS][60];
    for (int fingerprints = 0; fingerprints < 2; fingerprints++) {
        at = text + sprintf(text, "a,b,c,d,e\n");
        kn_sheet *sheet = NULL;
        for (uint32_t i = 0; i <= 2 * N; i++) { /* written, then compared */
            const uint32_t row = i % N;
            if (i == N)
                sheet = read_sheet(text, (size_t)(at - text),
                                   (kn_sheet_options){.delimiter = ',',
                                                      .fingerprint_column = fingerprints ? 1 : KN_NONE,
                                                      .fingerprint = fingerprints ? text_length : NULL});
            if (i == 2 * N) break;
            snprintf(cells[0], 60, "same%u", row / 70000);
            snprintf(cells[1], 60, "%s", endings[row / 11 % 5]);
            snprintf(cells[2], 60, "%u", row / 3);
            snprintf(cells[3], 60, "long enough for words%s", endings[row / 2 % 5]);
            snprintf(cells[4], 60, "%u", row % 4);
            const char *quote = row % 5001 == 5000 ? "\"" : "";
            if (i < N)
                at += sprintf(at, "%s,%s%s%s,%s,%s,%s%s", cells[0], quote, cells[1], quote, cells[2], cells[3],
                              cells[4], row % 3 == 0 ? "\r\n" : "\n");
            for (uint32_t c = 0; i >= N && c < N_COLUMNS; c++) {
                if (fingerprints && c == 1)
                    assert_int_equal(kn_sheet_fingerprint(&sheet->columns[1], row), strlen(cells[1]) + 1);
                else assert_cell(sheet, row, c, cells[c]);
            }
        }
        assert_int_equal(sheet->n_rows, N);
        kn_sheet_free(sheet);
    }
    free(text);
}

/* --- Models against slow counts -------------------------------------------------------------------------------- */

enum { MAX_VALUES = 6, MAX_ROWS = 40, MAX_CLASSES = 6 };

/* A table of one QI (the class itself) and one sensitive column, and its reference distribution. */
typedef struct counted {
    int n_rows, n_values, n_classes;
    int class_of[MAX_ROWS], value_of[MAX_ROWS];
    int count[MAX_CLASSES][MAX_VALUES], size[MAX_CLASSES], total[MAX_VALUES];
} counted;

static void make_counted(counted *table, kn_rng *rng)
{
    *table = (counted){.n_rows = 1 + (int)kn_rng_below(rng, MAX_ROWS - 1)};
    table->n_values = 1 + (int)kn_rng_below(rng, MAX_VALUES);
    int n_classes = 1 + (int)kn_rng_below(rng, MAX_CLASSES);
    for (int r = 0; r < table->n_rows; r++) {
        int value = (int)(kn_rng_below(rng, (uint32_t)table->n_values) * kn_rng_below(rng, 3) / 2);
        table->class_of[r] = (int)kn_rng_below(rng, (uint32_t)n_classes);
        table->value_of[r] = value;
        table->count[table->class_of[r]][value]++;
        table->size[table->class_of[r]]++;
        table->total[value]++;
    }
    table->n_classes = n_classes;
}

/* Earth mover's distance as a transport problem: cheapest flow from q to p, by augmenting along cheapest paths
 * (Bellman and Ford) in whole units, so that the optimum is exact. */
static double transport(const counted *t, int class_index, double cost[MAX_VALUES][MAX_VALUES])
{
    int n = t->n_values, nodes = 2 * n;
    long supply[MAX_VALUES], demand[MAX_VALUES], flow[MAX_VALUES][MAX_VALUES] = {{0}};
    double sum = 0;
    for (int v = 0; v < n; v++) {
        supply[v] = (long)t->count[class_index][v] * t->n_rows;
        demand[v] = (long)t->total[v] * t->size[class_index];
    }
    for (;;) {
        double best[2 * MAX_VALUES];
        int before[2 * MAX_VALUES];
        for (int i = 0; i < nodes; i++) best[i] = i < n && supply[i] > 0 ? 0 : INFINITY, before[i] = -1;
        for (int round = 0; round < nodes; round++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    if (best[i] + cost[i][j] < best[n + j] - 1e-12)
                        best[n + j] = best[i] + cost[i][j], before[n + j] = i;
                    if (flow[i][j] > 0 && best[n + j] - cost[i][j] < best[i] - 1e-12)
                        best[i] = best[n + j] - cost[i][j], before[i] = n + j;
                }
        int end = -1;
        for (int j = 0; j < n; j++)
            if (demand[j] > 0 && (end < 0 || best[n + j] < best[end])) end = n + j;
        if (end < 0) break;
        long most = demand[end - n];
        int at = end;
        for (; before[at] >= 0; at = before[at])
            if (at < n && flow[at][before[at] - n] < most) most = flow[at][before[at] - n];
        if (supply[at] < most) most = supply[at];
        supply[at] -= most;
        demand[end - n] -= most;
        for (at = end; before[at] >= 0; at = before[at]) {
            if (at >= n) flow[before[at]][at - n] += most;
            else flow[at][before[at] - n] -= most;
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += (double)flow[i][j] * cost[i][j];
    return sum / ((double)t->n_rows * t->size[class_index]);
}

static const char TREE_LINES[] = "0;low;*\n1;low;*\n2;low;*\n3;high;*\n4;high;*\n5;other;*\n";
static int branch_of(int value) { return value < 3 ? 0 : value < 5 ? 1 : 2; }

static double slow_value(const counted *t, int c, int model)
{
    double n = t->size[c], value = 0, cost[MAX_VALUES][MAX_VALUES];
    int distinct = 0, largest = 0, sorted[MAX_VALUES], n_total = 0, rank[MAX_VALUES];
    for (int v = 0; v < t->n_values; v++) {
        distinct += t->count[c][v] > 0;
        if (t->count[c][v] > largest) largest = t->count[c][v];
        sorted[v] = t->count[c][v];
        rank[v] = n_total;
        n_total += t->total[v] > 0;
    }
    switch (model) {
    case 0: return n;
    case 1: return distinct;
    case 2:
        for (int v = 0; v < t->n_values; v++)
            if (t->count[c][v] > 0) value -= t->count[c][v] / n * log(t->count[c][v] / n);
        return exp(value);
    case 3: { /* c with which (c,2)-diversity would just not hold */
        for (int i = 0; i < t->n_values; i++)
            for (int j = i + 1; j < t->n_values; j++)
                if (sorted[j] > sorted[i]) {
                    int swap = sorted[i];
                    sorted[i] = sorted[j];
                    sorted[j] = swap;
                }
        for (int i = 1; i < t->n_values; i++) value += sorted[i];
        return value > 0 ? sorted[0] / value : INFINITY;
    }
    case 4: return n / largest;
    case 5: return distinct;
    case 6: return largest / n;
    case 7:
        return t->n_values > 1 ? (t->count[c][0] > t->count[c][1] ? t->count[c][0] : t->count[c][1]) / n
                               : t->count[c][0] / n;
    case 8:
    case 9:
    case 10:
        for (int i = 0; i < t->n_values; i++)
            for (int j = 0; j < t->n_values; j++) {
                if (model == 8) cost[i][j] = i != j;
                if (model == 9) cost[i][j] = n_total > 1 ? fabs((double)rank[i] - rank[j]) / (n_total - 1) : 0;
                if (model == 10) cost[i][j] = i == j ? 0 : branch_of(i) == branch_of(j) ? 0.5 : 1;
            }
        return transport(t, c, cost);
    case 11:
        for (int v = 0; v < t->n_values; v++) {
            double p = (double)t->total[v] / t->n_rows, q = t->count[c][v] / n;
            if (q > p && q / p - 1 > value) value = q / p - 1;
        }
        return value;
    default:
        for (int v = 0; v < t->n_values; v++) {
            double p = (double)t->total[v] / t->n_rows, q = t->count[c][v] / n;
            if (p > 0) value = fmax(value, q > 0 ? fabs(log(q / p) / log(2)) : INFINITY);
        }
        return value;
    }
}

typedef struct model_case {
    const char *name, *format; /* of the parameters, with the bound at %s */
    bool least_is_worst, strict;
} model_case;

static const model_case MODELS[] = {
    {"k-anonymity", "k=%s", true, false},
    {"l-diversity", "l=%s", true, false},
    {"l-diversity", "kind=entropy,l=%s", true, false},
    {"l-diversity", "kind=recursive,l=2,c=%s", false, true},
    {"l-diversity", "kind=frequency,l=%s,column=s", true, false},
    {"p-sensitive", "p=%s", true, false},
    {"alpha-k", "alpha=%s", false, false},
    {"alpha-k", "alpha=%s,values=0|1", false, false},
    {"t-closeness", "t=%s", false, false},
    {"t-closeness", "distance=ordered,t=%s", false, false},
    {"t-closeness", "distance=hierarchical,t=%s", false, false},
    {"beta-likeness", "beta=%s", false, false},
    {"delta-disclosure", "delta=%s", false, true},
};
enum { N_MODELS = sizeof MODELS / sizeof *MODELS };

/* Asks with a bound and returns the finding; release and original are the same rows. */
static kn_check_state ask(double *worst, const counted *t, const model_case *model, double bound, kn_tree *tree)
{
    char text[MAX_ROWS * 16 + 20], number[40], params[100], *at = text;
    kn_verify_column columns[] = {{.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT},
                                  {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_INT, .tree = tree}};
    bool whole = strchr("klp", model->format[0]) != NULL && model->format[1] == '=';
    snprintf(number, sizeof number, whole ? "%.0f" : "%.12f", bound);
    snprintf(params, sizeof params, model->format, number);
    kn_verify_model asked = {model->name, params};
    kn_verify_request request = {
        .columns = columns, .n_columns = 2, .models = &asked, .n_models = 1, .max_suppressed = -1, .delimiter = ','};
    at += sprintf(at, "q,s\n");
    for (int r = 0; r < t->n_rows; r++) /* another spelling is not another value */
        at += sprintf(at, "%d,%s%d\n", t->class_of[r], r % 5 == 1 ? "+" : "", t->value_of[r]);
    kn_verdict *verdict = verify_texts(&request, text, text);
    const kn_check *check = find_check(verdict, model->name);
    assert_non_null(check);
    kn_check_state state = check->state;
    *worst = check->worst;
    if (state == KN_CHECK_NOT_MADE && strstr(model->format, "values=") != NULL) { /* no row has a protected value */
        state = KN_CHECK_HOLDS;
        *worst = 0;
    }
    assert_int_equal((verdict->state == KN_VERDICT_HOLDS), state == KN_CHECK_HOLDS);
    kn_verdict_free(verdict);
    return state;
}

static void every_model_agrees_with_a_slow_count_and_refuses_beyond_it(void **state)
{
    kn_rng rng = kn_rng_new(8, 0);
    kn_tree *tree = test_tree_from_lines(TREE_LINES);
    int n_refused[N_MODELS] = {0};
    for (int round = 0; round < 60; round++) {
        counted t;
        make_counted(&t, &rng);
        for (int m = 0; m < N_MODELS; m++) {
            double expected = MODELS[m].least_is_worst ? INFINITY : -INFINITY, worst;
            for (int c = 0; c < t.n_classes; c++) {
                if (t.size[c] == 0) continue;
                double value = slow_value(&t, c, m);
                expected = MODELS[m].least_is_worst ? fmin(expected, value) : fmax(expected, value);
            }
            ask(&worst, &t, &MODELS[m], 1, tree);
            if (!(fabs(worst - expected) < 1e-9) && !(isinf(worst) && isinf(expected)))
                fail_msg("%s %s: %.12g instead of %.12g", MODELS[m].name, MODELS[m].format, worst, expected);
            if (isinf(expected)) {
                n_refused[m]++;
                assert_int_equal(ask(&worst, &t, &MODELS[m], 1000, tree), KN_CHECK_BROKEN);
                continue;
            }
            bool counts = m <= 1 || m == 5;
            double step = counts ? 1 : 1e-6, sign = MODELS[m].least_is_worst ? 1 : -1;
            double inside = counts ? expected : expected - sign * step, outside = expected + sign * step;
            if (inside >= (MODELS[m].least_is_worst ? 1 : 0) && (inside <= 1 || m < 6 || m > 10))
                assert_int_equal(ask(&worst, &t, &MODELS[m], inside, tree), KN_CHECK_HOLDS);
            if (outside >= 0) {
                assert_int_equal(ask(&worst, &t, &MODELS[m], outside, tree), KN_CHECK_BROKEN);
                n_refused[m]++;
            }
        }
    }
    for (int m = 0; m < N_MODELS; m++) assert_true(n_refused[m] > 5);
    kn_tree_free(tree);
}

/* A release of classes "1", "2", ... with the given sensitive values; the original has the same rows. */
static kn_verdict *verify_classes(const char *rows, kn_type type, const char *name, const char *params,
                                  const kn_tree *tree)
{
    kn_verify_column columns[] = {{.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT},
                                  {.name = "s", .role = KN_ROLE_SENSITIVE, .type = type, .tree = tree}};
    kn_verify_model model = {name, params};
    kn_verify_request request = {
        .columns = columns, .n_columns = 2, .models = &model, .n_models = 1, .max_suppressed = -1, .delimiter = ','};
    return verify_texts(&request, rows, rows);
}

static void the_papers_figures_come_out(void **state)
{
    /* Li et al. 2007: salaries 3k..11k; {3,4,5} is 0.375 away, {6,8,11} 0.1667 */
    static const char salaries[] = "q,s\n1,3\n1,4\n1,5\n2,6\n2,8\n2,11\n3,7\n3,9\n3,10\n";
    static const struct {
        const char *rows;
        double distance;
    } known[] = {{"q,s\n1,3\n1,4\n1,5\n", 0.375}, {"q,s\n2,6\n2,8\n2,11\n", 1.0 / 6}};
    kn_verify_column columns[] = {{.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT},
                                  {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_INT}};
    kn_verify_model model = {"t-closeness", "t=1,distance=ordered"};
    kn_verify_request request = {
        .columns = columns, .n_columns = 2, .models = &model, .n_models = 1, .max_suppressed = -1};
    for (int i = 0; i < 2; i++) {
        kn_verdict *verdict = verify_texts(&request, known[i].rows, salaries);
        assert_true(fabs(find_check(verdict, "t-closeness")->worst - known[i].distance) < 1e-12);
        kn_verdict_free(verdict);
    }
    /* [SV] Figure 18: one of three blocks is 1-diverse; HIV 2/3 > 0.4 */
    static const char diseases[] = "q,s\n1,hypertension\n1,hypertension\n1,hypertension\n2,obesity\n2,HIV\n2,obesity\n"
                                   "3,HIV\n3,HIV\n3,obesity\n";
    kn_verdict *verdict = verify_classes(diseases, KN_TYPE_TEXT, "l-diversity", "l=2", NULL);
    assert_check(verdict, "l-diversity", KN_CHECK_BROKEN, "diversity 1, too low (asked: l=2): class q='1' (3 rows");
    kn_verdict_free(verdict);
    verdict = verify_classes(diseases, KN_TYPE_TEXT, "alpha-k", "alpha=0.4,values=HIV,k=3", NULL);
    assert_check(verdict, "alpha-k", KN_CHECK_BROKEN, "share of one value 0.666666667, too high (asked: alpha=0.4");
    assert_check(verdict, "alpha-k", KN_CHECK_BROKEN, "class q='3'");
    kn_verdict_free(verdict);
    /* Figure 19: 2 of 3 have diabetes in one block, 3 of 9 in the table: the nine rows shown give 33 % */
    static const char diabetes[] = "q,s\n1,Y\n1,Y\n1,N\n2,N\n2,N\n2,Y\n3,N\n3,N\n3,N\n";
    verdict = verify_classes(diabetes, KN_TYPE_TEXT, "t-closeness", "t=0.333333333334", NULL);
    assert_check(verdict, "t-closeness", KN_CHECK_HOLDS, "0.333333333");
    kn_verdict_free(verdict);
    verdict = verify_classes(diabetes, KN_TYPE_TEXT, "t-closeness", "t=0.333", NULL);
    assert_check(verdict, "t-closeness", KN_CHECK_BROKEN, "; 2 classes break it"); /* nobody has it in block 3 */
    kn_verdict_free(verdict);
}

/* Whatever stands before their last digits, values keep their order, and so the ordered distance. */
static void long_numbers_keep_their_order(void **state)
{
    static const char *const forms[] = {"1000000000000000%03d", "+1000000000000000%03d.0", "0.1000000000000000%03d",
                                        "1000000000000000%03de5", "2024-01-31T10:00:00.000000%03d"};
    kn_rng rng = kn_rng_new(18, 0);
    for (int round = 0; round < 100; round++) {
        size_t form = (size_t)round % 5;
        char small[1000] = "q,s\n", large[1000] = "q,s\n", negative[1000] = "q,s\n", cell[64];
        for (int row = 0; row < 12; row++) {
            int class = row < 2 ? row : (int)kn_rng_below(&rng, 2), value = (int)kn_rng_below(&rng, 120);
            sprintf(small + strlen(small), "%d,%d\n", class, value);
            snprintf(cell, sizeof cell, forms[form], value);
            sprintf(large + strlen(large), "%d,%s\n", class, cell);
            sprintf(negative + strlen(negative), "%d,-%s\n", class, cell + (cell[0] == '+'));
        }
        kn_type type = form == 4 ? KN_TYPE_DATE : KN_TYPE_DECIMAL;
        const char params[] = "t=1,distance=ordered";
        kn_verdict *expected = verify_classes(small, KN_TYPE_INT, "t-closeness", params, NULL);
        kn_verdict *verdict = verify_classes(large, type, "t-closeness", params, NULL);
        double worst = find_check(expected, "t-closeness")->worst;
        if (fabs(find_check(verdict, "t-closeness")->worst - worst) > 1e-12)
            fail_msg("%g instead of %g:\n%s", find_check(verdict, "t-closeness")->worst, worst, large);
        kn_verdict_free(verdict);
        if (type != KN_TYPE_DATE) { /* turned round, the distance is the same */
            verdict = verify_classes(negative, type, "t-closeness", params, NULL);
            assert_true(fabs(find_check(verdict, "t-closeness")->worst - worst) < 1e-12);
            kn_verdict_free(verdict);
        }
        kn_verdict_free(expected);
    }
}

/* What must be less than a bound is not equal to it. */
static void strict_bounds_are_strict(void **state)
{
    static const char counts[] = "q,s\n1,a\n1,a\n1,b\n1,c\n"; /* 2, 1, 1: the largest is 1 times the others */
    kn_verdict *verdict = verify_classes(counts, KN_TYPE_TEXT, "l-diversity", "kind=recursive,l=2,c=1", NULL);
    assert_check(verdict, "l-diversity", KN_CHECK_BROKEN, "largest count over the rarest 1, too high");
    kn_verdict_free(verdict);
    verdict = verify_classes(counts, KN_TYPE_TEXT, "l-diversity", "kind=recursive,l=2,c=1.000001", NULL);
    assert_check(verdict, "l-diversity", KN_CHECK_HOLDS, "");
    kn_verdict_free(verdict);
    /* a: 1/4 of the table, 1/2 of one class and 1/8 of the other: both logarithms are 1 */
    static const char shares[] = "q,s\n1,a\n1,a\n1,b\n1,b\n2,a\n2,b\n2,b\n2,b\n2,b\n2,b\n2,b\n2,b\n";
    verdict = verify_classes(shares, KN_TYPE_TEXT, "delta-disclosure", "delta=1", NULL);
    assert_check(verdict, "delta-disclosure", KN_CHECK_BROKEN, "log ratio 1, too high");
    assert_check(verdict, "delta-disclosure", KN_CHECK_BROKEN, "2 classes break it");
    kn_verdict_free(verdict);
    verdict = verify_classes(shares, KN_TYPE_TEXT, "delta-disclosure", "delta=1.000001", NULL);
    assert_check(verdict, "delta-disclosure", KN_CHECK_HOLDS, "");
    kn_verdict_free(verdict);
}

static void ordered_text_takes_the_order_of_its_hierarchy(void **state)
{
    kn_tree *tree = test_tree_from_lines("low;*\nmiddle;*\nhigh;*\n");
    static const char rows[] = "q,s\n1,low\n2,middle\n2,high\n";
    kn_verdict *verdict = verify_classes(rows, KN_TYPE_TEXT, "t-closeness", "t=1,distance=ordered", tree);
    assert_true(fabs(find_check(verdict, "t-closeness")->worst - 0.5) < 1e-12); /* (2/3 + 1/3) / 2 */
    kn_verdict_free(verdict);
    verdict = verify_classes(rows, KN_TYPE_TEXT, "t-closeness", "t=1,distance=hierarchical", NULL);
    assert_check(verdict, "t-closeness", KN_CHECK_NOT_MADE, "hierarchy is not known");
    kn_verdict_free(verdict);
    verdict = verify_classes("q,s\n1,low\n1,lowest\n", KN_TYPE_TEXT, "t-closeness", "t=1,distance=hierarchical", tree);
    assert_check(verdict, "t-closeness", KN_CHECK_NOT_MADE, "not in the hierarchy");
    kn_verdict_free(verdict);
    kn_tree_free(tree);
}

static void missing_sensitive_cells_are_one_value(void **state)
{
    kn_verdict *verdict = verify_classes("q,s\n1,\n1, \n1,a\n", KN_TYPE_TEXT, "l-diversity", "l=3", NULL);
    assert_true(find_check(verdict, "l-diversity")->worst == 2);
    kn_verdict_free(verdict);
}

/* With folding a column of words counts as the one that has them in one spelling. */
static void folded_sensitive_texts_count_as_one_value(void **state)
{
    static const char *const models[][2] = {{"l-diversity", "l=2"},
                                            {"l-diversity", "kind=entropy,l=1.5"},
                                            {"l-diversity", "kind=frequency,l=1.5"},
                                            {"l-diversity", "kind=recursive,l=2,c=3"},
                                            {"p-sensitive", "p=2"},
                                            {"alpha-k", "alpha=0.5"},
                                            {"alpha-k", "alpha=0.5,values=FLU |none"},
                                            {"t-closeness", "t=0.5"},
                                            {"t-closeness", "t=0.5,distance=ordered"},
                                            {"t-closeness", "t=0.5,distance=hierarchical"},
                                            {"beta-likeness", "beta=1"},
                                            {"delta-disclosure", "delta=2"}};
    static const char *const spellings[][4] = {{"hiv", "HIV", " hiv", "Hiv "},
                                               {"flu", "FLU", "Flu\t", "fLU"},
                                               {"gout", "Gout", "gout ", "GOUT"},
                                               {"", " ", "  ", "\t"}};
    kn_tree *tree = test_tree_from_lines("hiv;viral;*\nflu;viral;*\ngout;other;*\n;other;*\n");
    kn_rng rng = kn_rng_new(3, 8);
    int n_broken = 0;
    for (int round = 0; round < 240; round++) {
        char plain[600] = "q,s\n", spelled[600] = "q,s\n";
        for (int row = 0; row < 12; row++) {
            uint32_t word = kn_rng_below(&rng, 4), class = row < 2 ? (uint32_t)row : kn_rng_below(&rng, 3);
            sprintf(plain + strlen(plain), "%u,%s\n", class, spellings[word][0]);
            sprintf(spelled + strlen(spelled), "%u,%s\n", class,
                    row < 4 ? spellings[row][0] : spellings[word][kn_rng_below(&rng, 4)]);
            if (row < 4) sprintf(strrchr(plain, ',') + 1, "%s\n", spellings[row][0]); /* the tree knows one spelling */
        }
        kn_verify_column columns[] = {{.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT},
                                      {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT, .tree = tree}};
        kn_verify_model model = {models[round % 12][0], models[round % 12][1]};
        kn_verify_request request = {.columns = columns,
                                     .n_columns = 2,
                                     .models = &model,
                                     .n_models = 1,
                                     .max_suppressed = -1,
                                     .delimiter = ',',
                                     .fold_sensitive = true};
        kn_verdict *expected = verify_texts(&request, plain, plain),
                   *verdict = verify_texts(&request, spelled, spelled);
        const kn_check *a = find_check(expected, model.name), *b = find_check(verdict, model.name);
        if (a->state != b->state || !(a->worst == b->worst || fabs(a->worst - b->worst) < 1e-12)) {
            print_verdict(expected);
            print_verdict(verdict);
            fail_msg("%s:%s of\n%s", model.name, model.params, spelled);
        }
        assert_true(a->state != KN_CHECK_NOT_MADE);
        n_broken += a->state == KN_CHECK_BROKEN;
        kn_verdict_free(expected);
        kn_verdict_free(verdict);
    }
    assert_true(n_broken > 20);
    kn_tree_free(tree);
    kn_verdict *verdict = verify_classes("q,s\n1,hiv\n1,HIV\n", KN_TYPE_TEXT, "l-diversity", "l=2", NULL);
    assert_check(verdict, "l-diversity", KN_CHECK_HOLDS, ""); /* not asked for: two values */
    kn_verdict_free(verdict);
}

static void enhanced_beta_likeness_holds_frequent_values_tighter(void **state)
{
    /* p(a) = 1/2, so a gain of 1 exceeds -ln 0.5 = 0.69 */
    static const char rows[] = "q,s\n1,a\n1,a\n2,b\n2,b\n";
    kn_verdict *verdict = verify_classes(rows, KN_TYPE_TEXT, "beta-likeness", "beta=2", NULL);
    assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
    kn_verdict_free(verdict);
    verdict = verify_classes(rows, KN_TYPE_TEXT, "beta-likeness", "beta=2,enhanced=yes", NULL);
    assert_check(verdict, "beta-likeness", KN_CHECK_BROKEN, "relative gain 1, too high");
    kn_verdict_free(verdict);
}

/* --- Random releases ------------------------------------------------------------------------------------------- */

/* Rows of (number, number, label) grouped at random; classes are released as intervals and tree labels. */
typedef struct random_release {
    int n_rows, n_classes;
    int cell[MAX_ROWS][3], class_of[MAX_ROWS];
    char released[MAX_ROWS][3][24];
    uint32_t order[MAX_ROWS];
    char *original_text, *release_text;
} random_release;

static const int LABEL_SIZES[] = {1, 2, 4, 8}; /* leaves below a node of each level: a binary tree over 0..7 */

static void label_text(char *text, int value, int level)
{
    if (level == 0) sprintf(text, "%d", value);
    else if (level == 3) sprintf(text, "*");
    else sprintf(text, "L%d-%d", level, value / LABEL_SIZES[level]);
}

static void release_class(random_release *r, int c)
{
    for (int q = 0; q < 3; q++) {
        int low = 99, high = -1, level = 0;
        for (int i = 0; i < r->n_rows; i++) {
            if (r->class_of[i] != c) continue;
            if (r->cell[i][q] < low) low = r->cell[i][q];
            if (r->cell[i][q] > high) high = r->cell[i][q];
        }
        while (level < 3 && low / LABEL_SIZES[level] != high / LABEL_SIZES[level]) level++;
        for (int i = 0; i < r->n_rows; i++) {
            if (r->class_of[i] != c) continue;
            if (q == 2) label_text(r->released[i][q], low, level);
            else if (low == high) sprintf(r->released[i][q], "%d", low);
            else sprintf(r->released[i][q], "%d..%d", low, high);
        }
    }
}

static void write_random(random_release *r)
{
    char *at;
    r->original_text = at = malloc(MAX_ROWS * 40);
    at += sprintf(at, "a,b,c,s\n");
    for (int i = 0; i < r->n_rows; i++)
        at += sprintf(at, "%d,%d,%d,v%d\n", r->cell[i][0], r->cell[i][1], r->cell[i][2], i % 3);
    r->release_text = at = malloc(MAX_ROWS * 100);
    at += sprintf(at, "a,b,c,s\n");
    for (int i = 0; i < r->n_rows; i++) {
        uint32_t o = r->order[i];
        at += sprintf(at, "%s,%s,%s,v%u\n", r->released[o][0], r->released[o][1], r->released[o][2], o % 3);
    }
}

static void make_random(random_release *r, kn_rng *rng)
{
    *r = (random_release){.n_rows = 2 + (int)kn_rng_below(rng, MAX_ROWS - 2)};
    r->n_classes = 1 + (int)kn_rng_below(rng, MAX_CLASSES);
    for (int i = 0; i < r->n_rows; i++) {
        for (int q = 0; q < 3; q++) r->cell[i][q] = (int)kn_rng_below(rng, 8);
        r->class_of[i] = (int)kn_rng_below(rng, (uint32_t)r->n_classes);
        r->order[i] = (uint32_t)i;
    }
    for (int c = 0; c < r->n_classes; c++) release_class(r, c);
    for (int i = r->n_rows - 1; i > 0; i--) {
        uint32_t j = kn_rng_below(rng, (uint32_t)i + 1), swap = r->order[i];
        r->order[i] = r->order[j];
        r->order[j] = swap;
    }
    write_random(r);
}

typedef struct random_domains {
    kn_table *table;
    kn_domain *numbers, *labels;
    kn_verify_column columns[4];
} random_domains;

static void open_domains(random_domains *d)
{
    static const int cells[] = {0, 1, 2, 3, 4, 5, 6, 7};
    char lines[400] = "", *at = lines;
    for (int v = 0; v < 8; v++)
        for (int level = 0; level < 4; level++) {
            char text[24];
            label_text(text, v, level);
            at += sprintf(at, "%s%s", text, level < 3 ? ";" : "\n");
        }
    d->table = test_table(8, 1, cells);
    d->numbers = test_domain(d->table, 0, NULL);
    d->labels = test_domain(d->table, 0, lines);
    kn_verify_column columns[] = {{.name = "a", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = d->numbers},
                                  {.name = "b", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = d->numbers},
                                  {.name = "c", .role = KN_ROLE_QUASI, .type = KN_TYPE_INT, .domain = d->labels},
                                  {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT}};
    memcpy(d->columns, columns, sizeof columns);
}

static void close_domains(random_domains *d)
{
    kn_domain_free(d->numbers);
    kn_domain_free(d->labels);
    test_table_free(d->table);
}

/* Does the released cell hold the number? Straight from the syntax of this test. */
static bool holds_number(const char *text, int value)
{
    int low, high, level, part;
    if (strcmp(text, "*") == 0) return true;
    if (sscanf(text, "L%d-%d", &level, &part) == 2) return value / LABEL_SIZES[level] == part;
    if (sscanf(text, "%d..%d", &low, &high) == 2) return low <= value && value <= high;
    return atoi(text) == value;
}

static void random_releases_pass_and_random_damage_does_not(void **state)
{
    kn_rng rng = kn_rng_new(1, 2);
    random_domains d;
    open_domains(&d);
    kn_pool *pool;
    assert_ok(kn_pool_new(&pool, 2, err));
    int n_refused = 0;
    for (int round = 0; round < 150; round++) {
        random_release r;
        make_random(&r, &rng);
        int smallest = MAX_ROWS;
        for (int i = 0; i < r.n_rows; i++) { /* classes by what the file shows */
            int n = 0;
            for (int j = 0; j < r.n_rows; j++) n += memcmp(r.released[i], r.released[j], sizeof r.released[i]) == 0;
            if (n < smallest) smallest = n;
        }
        char params[20];
        kn_verify_model model = {"k-anonymity", params};
        kn_verify_request request = {.columns = d.columns,
                                     .n_columns = 4,
                                     .models = &model,
                                     .n_models = 1,
                                     .max_suppressed = -1,
                                     .order = round % 2 ? r.order : NULL,
                                     .n_order = (uint32_t)r.n_rows,
                                     .pool = pool};
        sprintf(params, "k=%d", smallest);
        kn_verdict *verdict = verify_texts(&request, r.release_text, r.original_text);
        if (verdict->state != KN_VERDICT_HOLDS) print_verdict(verdict);
        assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
        assert_int_equal(verdict->smallest_class, smallest);
        kn_verdict_free(verdict);
        sprintf(params, "k=%d", smallest + 1);
        verdict = verify_texts(&request, r.release_text, r.original_text);
        assert_check(verdict, "k-anonymity", KN_CHECK_BROKEN, "only");
        kn_verdict_free(verdict);

        /* one original cell changes; with the order known that is seen exactly when the value leaves its cell */
        int row = (int)kn_rng_below(&rng, (uint32_t)r.n_rows), q = (int)kn_rng_below(&rng, 3);
        r.cell[row][q] = (int)kn_rng_below(&rng, 8);
        bool right = holds_number(r.released[row][q], r.cell[row][q]);
        free(r.original_text);
        free(r.release_text);
        write_random(&r);
        request.order = r.order;
        sprintf(params, "k=1");
        verdict = verify_texts(&request, r.release_text, r.original_text);
        assert_int_equal(find_check(verdict, KN_CHECK_VALUES)->state, right ? KN_CHECK_HOLDS : KN_CHECK_BROKEN);
        n_refused += !right;
        kn_verdict_free(verdict);
        free(r.original_text);
        free(r.release_text);
    }
    assert_true(n_refused > 30);
    kn_pool_free(pool);
    close_domains(&d);
}

/* Can released cells from `first` on be given to original values that are not yet taken? Tries everything. */
static bool can_match(char cells[6][24], int first, int n_cells, const int *values, int n_values, unsigned taken)
{
    if (first == n_cells) return true;
    for (int v = 0; v < n_values; v++)
        if ((taken >> v & 1) == 0 && holds_number(cells[first], values[v]) &&
            can_match(cells, first + 1, n_cells, values, n_values, taken | 1u << v))
            return true;
    return false;
}

static void without_the_order_a_column_passes_exactly_when_it_can_be_matched(void **state)
{
    kn_rng rng = kn_rng_new(9, 9);
    random_domains d;
    open_domains(&d);
    int n_refused = 0;
    for (int round = 0; round < 400; round++) {
        int values[6], n_values = 1 + (int)kn_rng_below(&rng, 6),
                       n_cells = 1 + (int)kn_rng_below(&rng, (uint32_t)n_values);
        char cells[6][24], original[100], release[300],
            *at = original + sprintf(original, "%s\n", round % 2 ? "a" : "c");
        for (int i = 0; i < n_values; i++) at += sprintf(at, "%d\n", values[i] = (int)kn_rng_below(&rng, 8));
        at = release + sprintf(release, "%s\n", round % 2 ? "a" : "c");
        for (int i = 0; i < n_cells; i++) { /* around one of the values, so that matchings are not rare */
            int value = values[kn_rng_below(&rng, (uint32_t)n_values)], low = value - (int)kn_rng_below(&rng, 3);
            if (round % 2 == 0) label_text(cells[i], value, (int)(kn_rng_below(&rng, 4) * kn_rng_below(&rng, 2)));
            else sprintf(cells[i], "%d..%d", low, value + (int)kn_rng_below(&rng, 3));
            at += sprintf(at, "%s\n", cells[i]);
        }
        kn_verify_request request = {.columns = round % 2 ? &d.columns[0] : &d.columns[2],
                                     .n_columns = 1,
                                     .max_suppressed = -1,
                                     .delimiter = ','};
        kn_verdict *verdict = verify_texts(&request, release, original);
        bool right = can_match(cells, 0, n_cells, values, n_values, 0);
        if ((verdict->state == KN_VERDICT_HOLDS) != right) {
            print_verdict(verdict);
            fail_msg("%s against %s should %s", release, original, right ? "pass" : "be refused");
        }
        n_refused += !right;
        kn_verdict_free(verdict);
    }
    assert_true(n_refused > 30 && n_refused < 370);
    close_domains(&d);
}

/* Populations: the count of people inside a class's cells against a loop over all of them. */
static void populations_are_counted_like_a_loop_does(void **state)
{
    kn_rng rng = kn_rng_new(3, 4);
    random_domains d;
    open_domains(&d);
    for (int round = 0; round < 60; round++) {
        random_release r;
        make_random(&r, &rng);
        int n_people = 1 + (int)kn_rng_below(&rng, 200), people[200][3], least = 1000;
        double most_share = 0, least_share = INFINITY;
        char text[5000], *at = text + sprintf(text, "c,x,b,a\n"), params[300];
        for (int i = 0; i < n_people; i++) {
            for (int q = 0; q < 3; q++) people[i][q] = (int)kn_rng_below(&rng, 9); /* 8 is a stranger to the tree */
            at += sprintf(at, "%d,-,%d,%d\n", people[i][2], people[i][1], people[i][0]);
        }
        for (int i = 0; i < r.n_rows; i++) {
            int n = 0, size = 0;
            for (int j = 0; j < r.n_rows; j++) size += memcmp(r.released[i], r.released[j], sizeof r.released[i]) == 0;
            for (int j = 0; j < n_people; j++)
                n += holds_number(r.released[i][0], people[j][0]) && holds_number(r.released[i][1], people[j][1]) &&
                     (people[j][2] == 8 ? r.released[i][2][0] == '*' : holds_number(r.released[i][2], people[j][2]));
            if (n < least) least = n;
            most_share = fmax(most_share, n > 0 ? (double)size / n : INFINITY);
            least_share = fmin(least_share, n > 0 ? (double)size / n : INFINITY);
        }
        char *path = temp_file(text, (size_t)(at - text));
        kn_verify_model model = {"k-map", params};
        kn_verify_request request = {
            .columns = d.columns, .n_columns = 4, .models = &model, .n_models = 1, .max_suppressed = -1};
        sprintf(params, "k=%d,population=%s", least + 1, path);
        kn_verdict *verdict = verify_texts(&request, r.release_text, NULL);
        assert_check(verdict, "k-map", KN_CHECK_BROKEN, "of the population");
        assert_true(find_check(verdict, "k-map")->worst == least);
        kn_verdict_free(verdict);
        if (least > 0) {
            sprintf(params, "k=%d,population=%s", least, path);
            verdict = verify_texts(&request, r.release_text, NULL);
            assert_check(verdict, "k-map", KN_CHECK_HOLDS, "at least");
            kn_verdict_free(verdict);
        }
        model.name = "delta-presence";
        if (most_share < 1 && least_share > 1e-3) {
            sprintf(params, "min=%.9f,max=%.9f,population=%s", least_share - 1e-6, most_share + 1e-6, path);
            verdict = verify_texts(&request, r.release_text, NULL);
            assert_check(verdict, "delta-presence", KN_CHECK_HOLDS, "");
            kn_verdict_free(verdict);
            sprintf(params, "min=%.9f,max=%.9f,population=%s", least_share + 1e-6, 1.0, path);
            verdict = verify_texts(&request, r.release_text, NULL);
            assert_check(verdict, "delta-presence", KN_CHECK_BROKEN, "share of the population");
            kn_verdict_free(verdict);
        }
        sprintf(params, "max=%.9f,population=%s", fmin(most_share, 1) - 1e-6, path);
        verdict = verify_texts(&request, r.release_text, NULL);
        assert_check(verdict, "delta-presence", KN_CHECK_BROKEN, "share of the population");
        kn_verdict_free(verdict);
        remove_file(path);
        free(r.original_text);
        free(r.release_text);
    }
    close_domains(&d);
}

static void grouping_agrees_with_comparing_all_pairs(void **state)
{
    kn_rng rng = kn_rng_new(5, 6);
    for (int round = 0; round < 30; round++) {
        char text[2000], *at = text + sprintf(text, "a,b\n");
        int n = 1 + (int)kn_rng_below(&rng, 60);
        for (int i = 0; i < n; i++) at += sprintf(at, "%u,%u\n", kn_rng_below(&rng, 4), kn_rng_below(&rng, 3));
        kn_sheet *sheet = read_sheet(text, (size_t)(at - text), (kn_sheet_options){.delimiter = ','});
        kn_key_column keys[] = {{0, NULL}, {1, NULL}};
        kn_row_groups *groups;
        uint32_t *start, *rows, *match;
        assert_ok(kn_row_groups_make(&groups, sheet, keys, 2, err));
        assert_ok(kn_row_groups_rows(&start, &rows, groups, err));
        assert_ok(kn_row_groups_match(&match, groups, sheet, keys, err));
        for (uint32_t i = 0; i < sheet->n_rows; i++) {
            uint32_t same = 0;
            for (uint32_t j = 0; j < sheet->n_rows; j++) {
                bool equal = kn_sheet_code(&sheet->columns[0], i) == kn_sheet_code(&sheet->columns[0], j) &&
                             kn_sheet_code(&sheet->columns[1], i) == kn_sheet_code(&sheet->columns[1], j);
                assert_int_equal(equal, groups->row_group[i] == groups->row_group[j]);
                same += equal;
            }
            assert_int_equal(groups->group_rows[groups->row_group[i]], same);
            assert_int_equal(match[i], groups->row_group[i]);
        }
        for (uint32_t g = 0; g < groups->n_groups; g++)
            for (uint32_t i = start[g]; i < start[g + 1]; i++) assert_int_equal(groups->row_group[rows[i]], g);
        kn_free(start);
        kn_free(rows);
        kn_free(match);
        kn_row_groups_free(groups);
        kn_sheet_free(sheet);
    }
}

/* Of 200,000 numbers about five pairs agree in the 32 bits of hash that are compared first. */
static void groups_with_one_hash_are_told_apart(void **state)
{
    enum { N = 200000 };
    char *text = malloc(N * 8 + 8), *at = text + sprintf(text, "a,b\n");
    for (int i = 0; i < N; i++) at += sprintf(at, "%d,\n", i);
    kn_sheet *sheet = read_sheet(text, (size_t)(at - text), (kn_sheet_options){.delimiter = ','});
    const kn_key_column keys[] = {{0, NULL}, {1, NULL}}, turned[] = {{1, NULL}, {0, NULL}};
    for (int i = 0; i < 2; i++) {
        kn_row_groups *groups;
        assert_ok(kn_row_groups_make(&groups, sheet, i == 0 ? keys : turned, 2, err));
        assert_int_equal(groups->n_groups, N);
        kn_row_groups_free(groups);
    }
    kn_sheet_free(sheet);
    free(text);
}

/* --- Failure --------------------------------------------------------------------------------------------------- */

static void open_full_request(hospital *h, char **release, char **original)
{
    open_hospital(h);
    *release = temp_file(RELEASE, strlen(RELEASE));
    *original = temp_file(ORIGINAL, strlen(ORIGINAL));
    h->request.release_path = *release;
    h->request.original_path = *original;
    h->models[1] = (kn_verify_model){"l-diversity", "l=2"};
    h->models[2] = (kn_verify_model){"t-closeness", "t=0.5,distance=hierarchical"};
    h->request.n_models = 3;
}

static void it_survives_the_failure_of_every_allocation(void **state)
{
    hospital h;
    char *release, *original;
    open_full_request(&h, &release, &original);
    size_t before = kn_memory_used();
    for (int with_order = 0; with_order < 2; with_order++) {
        h.request.order = with_order ? ORDER : NULL;
        for (size_t n_th = 1;; n_th++) {
            kn_verdict *verdict;
            kn_error err = {0};
            kn_memory_fail_at(n_th);
            kn_status status = kn_verify_files(&verdict, &h.request, &err);
            kn_memory_fail_at(0);
            kn_verdict_free(verdict);
            assert_int_equal(kn_memory_used(), before);
            if (status == KN_OK) break;
            assert_int_equal(status, KN_RESOURCES);
            assert_true(n_th < 5000);
        }
    }
    remove_file(release);
    remove_file(original);
    close_hospital(&h);
}

static void it_stops_at_every_tick(void **state)
{
    hospital h;
    char *release, *original;
    open_full_request(&h, &release, &original);
    size_t before = kn_memory_used();
    for (size_t fail_at = 1;; fail_at++) {
        kn_ticker ticker = {0};
        kn_verdict *verdict;
        kn_error err = {0};
        atomic_store(&ticker.fail_at, fail_at);
        h.request.ticker = &ticker;
        kn_status status = kn_verify_files(&verdict, &h.request, &err);
        kn_verdict_free(verdict);
        assert_int_equal(kn_memory_used(), before);
        if (status == KN_OK) {
            assert_true(fail_at > 3);
            break;
        }
        assert_int_equal(status, KN_INTERRUPTED);
    }
    remove_file(release);
    remove_file(original);
    close_hospital(&h);
}

static void tables_without_rows_or_quasi_identifiers_are_no_trouble(void **state)
{
    hospital h;
    open_hospital(&h);
    h.request.n_order = 0;
    h.request.max_suppressed = 9;
    kn_verdict *verdict = verify_texts(&h.request, "age,zip,job,diagnosis,note\n", ORIGINAL);
    assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
    assert_int_equal(verdict->n_classes, 0);
    assert_int_equal(verdict->n_removed, 9);
    assert_check(verdict, "k-anonymity", KN_CHECK_HOLDS, "no rows");
    kn_verdict_free(verdict);
    close_hospital(&h);

    kn_verify_column column = {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT};
    kn_verify_model model = {"k-anonymity", "k=3"};
    kn_verify_request request = {
        .columns = &column, .n_columns = 1, .models = &model, .n_models = 1, .max_suppressed = 0};
    verdict = verify_texts(&request, "s\na\nb\n", "s\nb\na\n"); /* everybody is one class */
    assert_check(verdict, "k-anonymity", KN_CHECK_BROKEN, "only 2 rows");
    assert_check(verdict, KN_CHECK_COPIES, KN_CHECK_HOLDS, "");
    kn_verdict_free(verdict);
}

static void take_header_away(hospital *h)
{
    static const char *const names[] = {"column1", "column2", "column3", "column4", "column5", "column6", "column7"};
    for (int c = 0; c < 7; c++) h->columns[c].name = names[c];
    h->request.no_header = true;
}

static void files_without_a_header_are_compared_by_place(void **state)
{
    hospital h;
    open_hospital(&h);
    take_header_away(&h);
    kn_verdict *verdict = verify_texts(&h.request, strchr(RELEASE, '\n') + 1, strchr(ORIGINAL, '\n') + 1);
    if (verdict->state != KN_VERDICT_HOLDS) print_verdict(verdict);
    assert_int_equal(verdict->state, KN_VERDICT_HOLDS);
    assert_check(verdict, KN_CHECK_IDENTIFIERS, KN_CHECK_HOLDS, "no header; every column was compared");
    assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_HOLDS, "3 columns compared row by row");
    kn_verdict_free(verdict);
    verdict = verify_texts(&h.request, strchr(RELEASE, '\n') + 1, NULL); /* places of the original mean nothing then */
    assert_check(verdict, KN_CHECK_IDENTIFIERS, KN_CHECK_NOT_MADE, "the original is not given");
    kn_verdict_free(verdict);
    close_hospital(&h);
}

/* The column `from` of the original in the place of the released column `to`, both from 0, in every row. */
static char *with_column_of_original(int from, int to)
{
    kn_buffer text = {0};
    const char *line = strchr(RELEASE, '\n') + 1;
    for (size_t row = 0; row < 9; row++, line = strchr(line, '\n') + 1) {
        const char *source = ORIGINAL, *at = line;
        for (uint32_t i = 0; i <= ORDER[row]; i++) source = strchr(source, '\n') + 1;
        for (int c = 0; c < from; c++) source = strchr(source, ',') + 1;
        for (int c = 0; c < to; c++) at = strchr(at, ',') + 1;
        kn_buffer_append(&text, line, (size_t)(at - line));
        kn_buffer_append(&text, source, strcspn(source, ",\n"));
        at += strcspn(at, ",\n");
        kn_buffer_append(&text, at, (size_t)(strchr(at, '\n') + 1 - at));
    }
    return text.bytes;
}

static void without_a_header_an_identifier_in_any_place_is_found(void **state)
{
    hospital h;
    open_hospital(&h);
    take_header_away(&h);
    h.request.every_check = true;
    for (int with_order = 0; with_order < 2; with_order++) {
        h.request.order = with_order ? ORDER : NULL;
        for (int to = 0; to < 4; to++) { /* the note has commas in quotes: left alone */
            for (int from = 0; from <= 3; from += 3) {
                char *release = with_column_of_original(from, to);
                kn_verdict *verdict = verify_texts(&h.request, release, strchr(ORIGINAL, '\n') + 1);
                assert_int_equal(verdict->state, KN_VERDICT_BROKEN);
                assert_int_not_equal(find_check(verdict, KN_CHECK_IDENTIFIERS)->state, KN_CHECK_HOLDS);
                kn_verdict_free(verdict);
                kn_free(release);
            }
        }
    }
    kn_buffer more = {0};
    for (const char *line = strchr(RELEASE, '\n') + 1; *line != '\0'; line = strchr(line, '\n') + 1)
        kn_buffer_printf(&more, "%.*s,7\n", (int)strcspn(line, "\n"), line);
    kn_verdict *verdict = verify_texts(&h.request, more.bytes, strchr(ORIGINAL, '\n') + 1);
    assert_check(verdict, KN_CHECK_IDENTIFIERS, KN_CHECK_BROKEN, "6 columns, and only 5 are to be released");
    assert_check(verdict, KN_CHECK_COLUMNS, KN_CHECK_BROKEN, "6 columns where 5 are expected");
    kn_verdict_free(verdict);
    kn_buffer_free(&more);
    close_hospital(&h);
}

/* --- The input's order with rows removed -------------------------------------------------------------------------- */

/* All ways to find the released letters in the original's, in order. */
static int count_ways(const char *released, const char *original)
{
    if (*released == '\0') return 1;
    if (*original == '\0') return 0;
    return count_ways(released, original + 1) + (*released == *original ? count_ways(released + 1, original + 1) : 0);
}

static void lines_of(char *out, const char *letters, bool with_person)
{
    out += sprintf(out, with_person ? "id,s\n" : "s\n");
    for (size_t i = 0; letters[i] != '\0'; i++) {
        if (with_person) out += sprintf(out, "%zu,", i / 2);
        out += sprintf(out, "%c\n", letters[i]);
    }
}

static void rows_in_the_input_s_order_are_found_although_some_were_removed(void **state)
{
    kn_rng rng = kn_rng_new(7, 0);
    int n_found = 0, n_lost = 0, n_only = 0;
    for (int trial = 0; trial < 400; trial++) {
        char original[8] = "", release[8] = "", original_text[80], release_text[80];
        uint32_t n = 2 + kn_rng_below(&rng, 5), m = 1 + kn_rng_below(&rng, n - 1), order[8];
        for (uint32_t i = 0; i < n; i++) original[i] = (char)('a' + kn_rng_below(&rng, 3)), order[i] = i;
        for (uint32_t i = 0; i < m; i++) release[i] = (char)('a' + kn_rng_below(&rng, 3));
        lines_of(original_text, original, true);
        lines_of(release_text, release, false);
        kn_verify_column columns[] = {
            {.name = "id", .role = KN_ROLE_IDENTIFIER, .type = KN_TYPE_INT, .is_person = true},
            {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT}};
        kn_verify_model model = {"k-anonymity", "k=1"};
        kn_verify_request request = {.columns = columns,
                                     .n_columns = 2,
                                     .models = &model,
                                     .n_models = 1,
                                     .max_suppressed = -1,
                                     .order = order,
                                     .n_order = n,
                                     .order_is_input = true};
        kn_verdict *verdict = verify_texts(&request, release_text, original_text);
        int n_ways = count_ways(release, original);
        assert_int_equal(find_check(verdict, KN_CHECK_ROWS)->state, n_ways > 0 ? KN_CHECK_HOLDS : KN_CHECK_BROKEN);
        if (n_ways == 1) assert_check(verdict, KN_CHECK_COPIES, KN_CHECK_HOLDS, "row by row");
        else if (n_ways > 1) assert_check(verdict, KN_CHECK_ROWS, KN_CHECK_HOLDS, "more than one choice");
        n_found += n_ways > 0;
        n_lost += n_ways == 0;
        n_only += n_ways == 1;
        kn_verdict_free(verdict);
    }
    assert_true(n_found > 50 && n_lost > 50 && n_only > 20);
}

/* The fewest persons of a class, over all ways to choose its rows. */
static uint32_t fewest_by_trying(const uint32_t *person, uint32_t n, uint32_t n_class)
{
    uint32_t fewest = KN_NONE;
    for (uint32_t chosen = 0; chosen < 1u << n; chosen++) {
        uint32_t seen = 0;
        if ((uint32_t)__builtin_popcount(chosen) != n_class) continue;
        for (uint32_t i = 0; i < n; i++)
            if ((chosen >> i & 1) != 0) seen |= 1u << person[i];
        if ((uint32_t)__builtin_popcount(seen) < fewest) fewest = (uint32_t)__builtin_popcount(seen);
    }
    return fewest;
}

static void persons_that_are_not_known_are_as_few_as_they_can_be(void **state)
{
    kn_rng rng = kn_rng_new(11, 0);
    for (int trial = 0; trial < 200; trial++) {
        uint32_t n = 1 + kn_rng_below(&rng, 8), person[8];
        kn_buffer original = {0}, release = {0};
        kn_buffer_text(&original, "id,s\n");
        kn_buffer_text(&release, "s\n");
        for (uint32_t i = 0; i < n; i++) {
            person[i] = kn_rng_below(&rng, 4);
            kn_buffer_printf(&original, "%u,x\n", person[i] + 1);
        }
        uint32_t m = 1 + kn_rng_below(&rng, n);
        for (uint32_t i = 0; i < m; i++) kn_buffer_text(&release, "x\n");
        kn_verify_column columns[] = {
            {.name = "id", .role = KN_ROLE_IDENTIFIER, .type = KN_TYPE_INT, .is_person = true},
            {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT}};
        for (uint32_t k = 1; k <= n + 1; k++) {
            char params[16];
            snprintf(params, sizeof params, "k=%u", k);
            kn_verify_model model = {"k-anonymity", params};
            kn_verify_request request = {
                .columns = columns, .n_columns = 2, .models = &model, .n_models = 1, .max_suppressed = -1};
            kn_verdict *verdict = verify_texts(&request, release.bytes, original.bytes);
            kn_check_state expected = m < k                                 ? KN_CHECK_BROKEN
                                      : fewest_by_trying(person, n, m) >= k ? KN_CHECK_HOLDS
                                                                            : KN_CHECK_NOT_MADE;
            assert_check(verdict, "k-anonymity", expected, "");
            kn_verdict_free(verdict);
        }
        kn_buffer_free(&original);
        kn_buffer_free(&release);
    }
}

/* --- Blanks ------------------------------------------------------------------------------------------------------ */

static void classes_that_differ_by_blanks_are_two_also_where_cells_are_trimmed(void **state)
{
    kn_verify_column columns[] = {{.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT},
                                  {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT}};
    kn_verify_model models[] = {{"k-anonymity", "k=2"}, {"l-diversity", "l=2"}};
    for (int no_header = 0; no_header <= 1; no_header++)
        for (int trim = 0; trim <= 1; trim++) {
            kn_verify_request request = {.columns = columns,
                                         .n_columns = 2,
                                         .models = models,
                                         .n_models = 2,
                                         .max_suppressed = -1,
                                         .no_header = no_header,
                                         .trim = trim};
            int skip = no_header ? 4 : 0;
            kn_verdict *verdict = verify_texts(&request, "q,s\n a,u\na,v\n" + skip, NULL);
            assert_check(verdict, "k-anonymity", KN_CHECK_BROKEN, "2 classes break it");
            kn_verdict_free(verdict);
            verdict = verify_texts(&request, "q,s\na,u\na\t,v\n" + skip, NULL);
            assert_check(verdict, "k-anonymity", KN_CHECK_BROKEN, "2 classes break it");
            kn_verdict_free(verdict);
            /* where cells are trimmed, a blank does not make a second sensitive value */
            verdict = verify_texts(&request, "q,s\na,u\na, u\n" + skip, NULL);
            assert_check(verdict, "k-anonymity", KN_CHECK_HOLDS, "");
            assert_check(verdict, "l-diversity", trim ? KN_CHECK_BROKEN : KN_CHECK_HOLDS, "");
            kn_verdict_free(verdict);
        }
}

static void labels_with_blanks_mean_the_same_where_cells_are_trimmed(void **state)
{
    static const char *const texts[] = {"a", "b"};
    kn_table *table = test_text_table(2, 1, texts);
    kn_domain *domain = test_domain(table, 0, "a; both \nb; both \n");
    kn_verify_column column = {.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT, .domain = domain};
    kn_verify_model model = {"k-anonymity", "k=2"};
    kn_verify_request request = {
        .columns = &column, .n_columns = 1, .models = &model, .n_models = 1, .max_suppressed = -1, .trim = true};
    kn_verdict *verdict = verify_texts(&request, "q\n both \n both \n", "q\n a\nb\n");
    assert_shown(verdict, KN_VERDICT_HOLDS, NULL);
    kn_verdict_free(verdict);
    verdict = verify_texts(&request, "q\n both \n neither \n", "q\n a\nb\n");
    assert_check(verdict, KN_CHECK_VALUES, KN_CHECK_BROKEN, "neither");
    kn_verdict_free(verdict);
    kn_domain_free(domain);
    test_table_free(table);
}

/* --- Texts against slow readings of them -------------------------------------------------------------------------- */

enum { WHOLE_DIGITS = 40, ALL_DIGITS = 80 };

/* A number as sign and digits with the point in the middle: two are equal or ordered as their bytes are. */
typedef struct fixed {
    bool negative, zero;
    char digits[ALL_DIGITS + 1];
} fixed;

static int compare_fixed(const fixed *a, const fixed *b)
{
    int sign_a = a->zero ? 0 : a->negative ? -1 : 1, sign_b = b->zero ? 0 : b->negative ? -1 : 1;
    if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
    int order = strcmp(a->digits, b->digits);
    return (order > 0) - (order < 0) == 0 ? 0 : ((order > 0) - (order < 0)) * (sign_a < 0 ? -1 : 1);
}

/* A random number of few digits, so that equal ones meet, and one of its spellings. */
static void random_number(kn_rng *rng, fixed *number, char *text)
{
    uint32_t n = 1 + kn_rng_below(rng, kn_rng_below(rng, 8) == 0 ? 22 : 3), shift = kn_rng_below(rng, 10);
    char digits[24] = "";
    memset(number->digits, '0', ALL_DIGITS);
    number->digits[ALL_DIGITS] = '\0';
    number->zero = true;
    for (uint32_t i = 0; i < n; i++) {
        digits[i] = (char)('0' + (kn_rng_below(rng, 3) == 0 ? 0 : kn_rng_below(rng, 10)));
        number->digits[WHOLE_DIGITS - n + i + 5 - shift] =
            digits[i]; /* digits * 10^(5 - shift), say: moved to the left */
        number->zero &= digits[i] == '0';
    }
    /* as placed above, the last digit stands for 10^(shift - 6) */
    int power = (int)shift - 6;
    number->negative = kn_rng_below(rng, 2) == 0;
    uint32_t point = kn_rng_below(rng, n + 1); /* digits before the point */
    int exponent = power + (int)(n - point);
    char *at = text;
    for (uint32_t blanks = kn_rng_below(rng, 3); blanks > 0; blanks--) *at++ = blanks % 2 ? ' ' : '\t';
    if (number->negative) *at++ = '-';
    else if (kn_rng_below(rng, 3) == 0) *at++ = '+';
    for (uint32_t zeros = kn_rng_below(rng, 3); zeros > 0; zeros--) *at++ = '0';
    at += sprintf(at, "%.*s", (int)point, digits);
    if (point < n || kn_rng_below(rng, 2) == 0) *at++ = '.';
    at += sprintf(at, "%s", digits + point);
    if (exponent != 0 || kn_rng_below(rng, 4) == 0)
        at += sprintf(at, "%c%s%d", kn_rng_below(rng, 2) ? 'e' : 'E', exponent >= 0 && kn_rng_below(rng, 2) ? "+" : "",
                      exponent);
    for (uint32_t blanks = kn_rng_below(rng, 2); blanks > 0; blanks--) *at++ = ' ';
    *at = '\0';
}

static void numbers_are_equal_and_ordered_as_their_digits_are(void **state)
{
    kn_rng rng = kn_rng_new(41, 0);
    kn_reading reading = {.type = KN_TYPE_DECIMAL};
    int n_equal = 0;
    for (int round = 0; round < 40000; round++) {
        fixed x, y;
        char text_x[120], text_y[120], canonical_x[KN_CANONICAL_BYTES], canonical_y[KN_CANONICAL_BYTES];
        double number_x, number_y;
        random_number(&rng, &x, text_x);
        random_number(&rng, &y, text_y);
        if (round % 3 == 0) y.negative = x.negative;
        if (kn_text_read(&number_x, canonical_x, &reading, text_x, strlen(text_x)) != KN_TEXT_NUMBER)
            fail_msg("'%s' is no number", text_x);
        random_number(&rng, &y, text_y);
        assert_int_equal(kn_text_read(&number_y, canonical_y, &reading, text_y, strlen(text_y)), KN_TEXT_NUMBER);
        assert_true(number_x == strtod(text_x, NULL));
        int order = kn_canonical_compare(canonical_x, strlen(canonical_x), canonical_y, strlen(canonical_y));
        int expected = compare_fixed(&x, &y);
        if ((order > 0) - (order < 0) != expected || (strcmp(canonical_x, canonical_y) == 0) != (expected == 0))
            fail_msg("'%s' and '%s': %d instead of %d", text_x, text_y, order, expected);
        n_equal += expected == 0;
    }
    assert_true(n_equal > 50);
}

static void what_is_no_number_is_its_bytes(void **state)
{
    static const char *const none[] = {"+",     "+.",     "..",      "e5",    "1e",     "1e+",   "1e5x",
                                       "1x",    "x1",     "1.2.3",   "--1",   "+-1",    "1 2",   "0x10",
                                       "1,5",   "1e1.5",  "1e--1",   "-.",    "1e1e1",  "inf",   "nans",
                                       "1_000", "1e0001", "1e-0001", "1e301", "1e-302", "10e300"};
    kn_reading reading = {.type = KN_TYPE_DECIMAL};
    char canonical[KN_CANONICAL_BYTES], text[420];
    double number;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (kn_text_read(&number, canonical, &reading, none[i], strlen(none[i])) != KN_TEXT_BYTES || !isnan(number))
            fail_msg("'%s' is read as a number", none[i]);
    static const char *const some[] = {"1e299", "1e-301", "0e999", "-0",   ".5",
                                       "5.",    "1e+02",  "1e-2",  " 1\t", "0.1e300"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (kn_text_read(&number, canonical, &reading, some[i], strlen(some[i])) != KN_TEXT_NUMBER)
            fail_msg("'%s' is no number", some[i]);
    memset(text, '1', sizeof text);
    text[3] = '.';
    assert_int_equal(kn_text_read(&number, canonical, &reading, text, 400), KN_TEXT_NUMBER);
    assert_int_equal(kn_text_read(&number, canonical, &reading, text, 401), KN_TEXT_BYTES);
    assert_int_equal(kn_text_read(&number, canonical, &reading, "   ", 3), KN_TEXT_MISSING);
    reading.type = KN_TYPE_TEXT;
    assert_int_equal(kn_text_read(&number, canonical, &reading, "1", 1), KN_TEXT_BYTES);
}

/* A sign, digits that are in threes behind the first mark if there is one, always the same mark, a point, digits; with
 * commas also in twos before the last three, 1,23,456. */
static void marks_stand_between_thousands_and_nowhere_else(void **state)
{
    static const char *const pieces[] = {"1", "23", "456", "7890", ",", ".", "'", " ", "-", ";", "x"};
    static const struct {
        kn_marks marks;
        char point, between;
        const char *pattern;
    } forms[] = {{KN_MARKS_POINT, '.', ',',
                  "^[-+]?([0-9]*|[0-9]{1,3}(,[0-9]{3})+|[0-9]{1,3}( [0-9]{3})+|[0-9]{1,3}('[0-9]{3})+|"
                  "[0-9]{1,2}(,[0-9]{2})+,[0-9]{3})([.][0-9]*)?$"},
                 {KN_MARKS_COMMA, ',', '.',
                  "^[-+]?([0-9]*|[0-9]{1,3}([.][0-9]{3})+|[0-9]{1,3}( [0-9]{3})+|[0-9]{1,3}('[0-9]{3})+)(,[0-9]*)?$"}};
    enum { N_PIECES = sizeof pieces / sizeof *pieces, N_TEXTS = N_PIECES * N_PIECES * N_PIECES * N_PIECES * N_PIECES };
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        regex_t pattern;
        assert_int_equal(regcomp(&pattern, forms[f].pattern, REG_EXTENDED | REG_NOSUB), 0);
        const kn_reading reading = {.type = KN_TYPE_DECIMAL, .marks = forms[f].marks};
        uint32_t n_numbers = 0;
        for (uint32_t i = 0; i < N_TEXTS; i++) {
            char text[40] = "", plain[40], canonical[KN_CANONICAL_BYTES];
            double number;
            size_t n_plain = 0;
            for (uint32_t rest = i; rest > 0; rest /= N_PIECES) strcat(text, pieces[rest % N_PIECES]);
            if (text[0] == ' ' || strlen(text) == 0 || text[strlen(text) - 1] == ' ')
                continue; /* around it they may be */
            for (const char *at = text; *at != '\0'; at++)
                if (strchr(" '", *at) == NULL && *at != forms[f].between)
                    plain[n_plain++] = *at == forms[f].point ? '.' : *at;
            plain[n_plain] = '\0';
            const bool expected = strpbrk(text, "0123456789") != NULL && regexec(&pattern, text, 0, NULL, 0) == 0;
            const bool read = kn_text_read(&number, canonical, &reading, text, strlen(text)) == KN_TEXT_NUMBER;
            if (read != expected || (read && number != strtod(plain, NULL)))
                fail_msg("'%s' with %c as the point is %s", text, forms[f].point, expected ? "a number" : "none");
            n_numbers += read;
        }
        assert_true(n_numbers > 100);
        regfree(&pattern);
    }
}

/* The day as one column's form writes it. */
static void write_day(char *text, kn_day_order order, int year, int month, int day, bool padded, bool other)
{
    const char *two = padded ? "%02d" : "%d";
    char first[16], second[16];
    const struct tm date = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    switch (order) {
    case KN_DAY_ISO: sprintf(text, "%04d%c%02d%c%02d", year, other ? '/' : '-', month, other ? '/' : '-', day); return;
    case KN_DAY_COMPACT: sprintf(text, "%04d%02d%02d", year, month, day); return;
    case KN_DAY_NAMED:
        assert_true(strftime(text, 40,
                             padded  ? other ? "%d%b%Y" : "%d-%b-%Y"
                             : other ? "%d %B %Y"
                                     : "%B %d, %Y",
                             &date));
        return;
    default: break;
    }
    sprintf(first, two, order == KN_DAY_SECOND ? month : day);
    sprintf(second, two, order == KN_DAY_SECOND ? day : month);
    char mark = order == KN_DAY_DOTS ? '.' : other ? '-' : '/';
    sprintf(text, "%s%c%s%c%04d", first, mark, second, mark, year);
}

/* One of the words between the bars. */
static void add_any(char *text, kn_rng *rng, const char *words)
{
    uint32_t n_words = 1;
    for (const char *at = words; *at != '\0'; at++) n_words += *at == '|';
    for (uint32_t skipped = kn_rng_below(rng, n_words); skipped > 0; words++) skipped -= *words == '|';
    strncat(text, words, strcspn(words, "|"));
}

/* Nearly a date: a plan, of which some pieces are left out and others put in. */
static void add_nearly_a_date(char *text, kn_rng *rng)
{
    static const char *const plans[] = {"dmy",         "d m y",     "d-m-y",        "d/m/y",       "m d, y",
                                        "m d y",       "y-n-n",     "y/n/n",        "n/n/y",       "n-n-y",
                                        "n.n.y",       "ynn",       "ynnhh",        "ynnThhhz",    "y-n-nTh:hfz",
                                        "y-n-nth:hfz", "dmy:h:hfz", "d. m. y h:hz", "n/n/y h:hfz", "n.n.y h:hf",
                                        "n/n/y h:hfp", "m d y h:hp"};
    static const struct {
        char sign;
        const char *words;
    } lists[] = {
        {'d', "0|00|1|5|05|9|21st|22nd|3rd|4TH|28|29|30|31|32|123"},
        {'n', "1|9|01|02|04|05|09|10|11|12|12|00|13|28|29|30|31|32"},
        {'y', "1987|1987|2024|1900|2000|0087|0000|87|19871"},
        {'m', "Jan|january|JANUAR|Jän|JÄNNER|feb|February|Februar|MAR|March|mär|MÄRZ|Mrz|maerz|Apr|APRIL|May|mai|Jun|"
              "June|juni|"
              "JUL|July|Juli|Aug|august|Sep|sept|September|OCT|october|Okt|OKTOBER|Nov|november|dec|December|DEZ|"
              "dezember|Mayo"},
        {'h', "00|07|10|12|23|24|59|60|7|0"},
        {'f', "||:07|:59.125|:00,5|:60|:07.|:07.123456789|:07.1234567891"},
        {'p', " AM| pm|PM|am|||  PM| p| M|apm"},
        {'z', "|||Z|z|+02|-0330|+02:00|+24:00|-0260|+2"},
    };
    const uint32_t n_odd = kn_rng_below(rng, 3);
    for (const char *plan = plans[kn_rng_below(rng, sizeof plans / sizeof *plans)]; *plan != '\0'; plan++) {
        size_t list = 0;
        while (list < sizeof lists / sizeof *lists && lists[list].sign != *plan) list++;
        if (kn_rng_below(rng, 24) < n_odd) add_any(text, rng, "5|31|1987|Oct|th|ST|.|,| |-|/|:|T|t|Z|z|+02|10:30|x");
        if (kn_rng_below(rng, 24) < n_odd) continue;
        if (list < sizeof lists / sizeof *lists) add_any(text, rng, lists[list].words);
        else strncat(text, plan, 1);
    }
}

/* Of both readers that which is a number in one is the same number in the other. */
static void both_readers_take_the_same_texts_for_numbers_with_marks(void **state)
{
    static const char pieces[] = "1|23|456|456|789|7890|,|.|'| |-|+|\xC2\xA0|\xE2\x80\xAF|\xE2\x80\x89|\xE2\x80\x99|"
                                 "\xE2\x80\x93|\xC2|\xA0|\xE2\x80|x";
    static const char groups[] = "456|789|120";
    static const char marks[] = " |'|,|.|\xC2\xA0|\xE2\x80\xAF|\xE2\x80\x89|\xE2\x80\x99";
    kn_rng rng = kn_rng_new(73, 0);
    uint32_t n_numbers = 0;
    for (int round = 0; round < 200000; round++) {
        char text[80] = "", mark[8] = "", plain[KN_MARKED_BYTES + 1], canonical[KN_CANONICAL_BYTES];
        const kn_marks way = round % 2 == 0 ? KN_MARKS_POINT : KN_MARKS_COMMA;
        const kn_reading reading = {.type = KN_TYPE_DECIMAL, .marks = way};
        double number;
        add_any(mark, &rng, marks);
        add_any(text, &rng, "1|23|456|-7|+89|7890");
        const uint32_t n_twos = kn_rng_below(&rng, 4) == 0 ? 1 + kn_rng_below(&rng, 2) : 0; /* 1,23,456 */
        for (uint32_t n = n_twos; n > 0; n--) {
            strcat(text, mark);
            add_any(text, &rng, "12|34|07");
        }
        for (uint32_t n = kn_rng_below(&rng, 4); n > 0; n--) {
            strcat(text, mark);
            add_any(text, &rng, groups);
        }
        if (kn_rng_below(&rng, 3) == 0) add_any(text, &rng, ".5|,25|,|.");
        for (uint32_t n = kn_rng_below(&rng, 3); n > 1; n--) add_any(text, &rng, pieces);
        const size_t n_plain = kn_number_plain(plain, text, strlen(text), way);
        const bool is_read = kn_text_read(&number, canonical, &reading, text, strlen(text)) == KN_TEXT_NUMBER;
        plain[n_plain] = '\0';
        if ((n_plain > 0) != is_read) fail_msg("'%s' is a number for one reader only", text);
        if (is_read && number != strtod(plain, NULL)) fail_msg("'%s' is %g and %s", text, number, plain);
        n_numbers += is_read;
    }
    if (n_numbers < 40000 || n_numbers > 160000) fail_msg("%u numbers", n_numbers);
}

/* Pieces of the words, put together: most are none. */
static void both_readers_take_the_same_words_for_nothing(void **state)
{
    static const char words[] =
        "NA|N/A|n.a.|#N/A|<NA>|NaN|null|#NULL!|missing|unknown|n.d.|nd|n/d|not done|no data|"
        "not available|k.A.|k. A.|keine Angabe|unbekannt|NC|n.c.|?|-|--|.|none|None|nil|not|not done.|"
        "keine Angaben|not available!|---|| ";
    const kn_reading reading = {.type = KN_TYPE_INT};
    kn_rng rng = kn_rng_new(72, 0);
    uint32_t n_nothing = 0;
    for (int round = 0; round < 100000; round++) {
        char text[80] = "";
        if (kn_rng_below(&rng, 4) == 0) add_any(text, &rng, " |  |\t|          ");
        add_any(text, &rng, words);
        if (kn_rng_below(&rng, 4) == 0) add_any(text, &rng, words);
        if (kn_rng_below(&rng, 4) == 0) add_any(text, &rng, " |  |\t|          ");
        const size_t n = strlen(text), at = kn_rng_below(&rng, (uint32_t)n + 1);
        if (kn_rng_below(&rng, 3) == 0 && at < n) text[at] = (char)(text[at] ^ 32); /* large or small */
        if (kn_text_is_null(&reading, text, n)) continue;
        const bool is_nothing = kn_is_null_word(text, n);
        if (is_nothing != kn_text_is_missing(&reading, text, n)) fail_msg("'%s' is nothing for one reader only", text);
        n_nothing += is_nothing;
    }
    if (n_nothing < 40000 || n_nothing > 80000) fail_msg("%u words", n_nothing);
}

/* The run's reader and this one share no line, and must not differ: texts put together from pieces of dates are the
 * same moments for both, or none for both, in every form. */
static void both_readers_take_the_same_texts_for_dates(void **state)
{
    kn_rng rng = kn_rng_new(71, 0);
    uint32_t n_dates[KN_DATE_N_FORMS] = {0};
    for (int round = 0; round < 400000; round++) {
        char text[200] = "", canonical[KN_CANONICAL_BYTES], expected[80];
        add_nearly_a_date(text, &rng);
        for (uint32_t f = 0; f < KN_DATE_N_FORMS; f++) {
            const kn_reading reading = {.type = KN_TYPE_DATE, .day_order = (kn_day_order)f};
            kn_moment moment;
            double number;
            const bool is_date = kn_date_parse(&moment, text, strlen(text), 1u << f);
            const bool is_read = kn_text_read(&number, canonical, &reading, text, strlen(text)) == KN_TEXT_NUMBER;
            if (is_date != is_read) fail_msg("'%s' is a date of form %u for one reader only", text, f);
            if (!is_date) continue;
            n_dates[f]++;
            snprintf(expected, sizeof expected, "%lld:%llu", (long long)moment.days,
                     (unsigned long long)moment.nanoseconds);
            if (strcmp(canonical, expected) != 0) fail_msg("'%s' is %s and %s", text, canonical, expected);
        }
    }
    for (uint32_t f = 0; f < KN_DATE_N_FORMS; f++)
        if (n_dates[f] < 5000 || n_dates[f] > 200000) fail_msg("form %u: %u dates", f, n_dates[f]);
    static const char zero[] = "\0"
                               "5Oct1987";
    double number;
    const kn_reading reading = {.type = KN_TYPE_DATE, .day_order = KN_DAY_NAMED};
    assert_int_equal(kn_date_forms(zero, 9, KN_DATE_ANY), 0);
    assert_int_equal(kn_text_read(&number, NULL, &reading, zero, 9), KN_TEXT_BYTES);
}

static void dates_are_the_moments_that_the_c_library_names(void **state)
{
    kn_rng rng = kn_rng_new(42, 0);
    for (int round = 0; round < 20000; round++) {
        kn_reading reading = {.type = KN_TYPE_DATE, .day_order = (kn_day_order)(round % 6)};
        int year = 1800 + (int)kn_rng_below(&rng, 400), month = 1 + (int)kn_rng_below(&rng, 12);
        int day = 1 + (int)kn_rng_below(&rng, 31), hour = 0, minute = 0, second = 0, zone = 0;
        int64_t fraction = 0, days = day_of(year, month, day), nanoseconds;
        struct tm back;
        time_t seconds = (time_t)(days * 86400);
        char text[80], canonical[KN_CANONICAL_BYTES] = "", expected[80];
        double number;
        gmtime_r(&seconds, &back);
        write_day(text, reading.day_order, year, month, day, kn_rng_below(&rng, 2) == 0, kn_rng_below(&rng, 4) == 0);
        bool exists = back.tm_mday == day;
        const bool is_named = reading.day_order == KN_DAY_NAMED;
        if ((reading.day_order == KN_DAY_ISO || is_named) && kn_rng_below(&rng, 4) != 0) {
            char *at = text + strlen(text);
            uint32_t n_digits = 0;
            hour = (int)kn_rng_below(&rng, 25);
            minute = (int)kn_rng_below(&rng, 61);
            at += sprintf(at, "%c%02d:%02d", kn_rng_below(&rng, 2) == 0 ? ' ' : is_named ? ':' : 'T', hour, minute);
            if (kn_rng_below(&rng, 3) != 0) {
                second = (int)kn_rng_below(&rng, 62);
                at += sprintf(at, ":%02d", second);
                n_digits = kn_rng_below(&rng, 12);
                if (n_digits > 0) *at++ = '.';
                for (uint32_t i = 0; i < n_digits; i++) {
                    *at = (char)('0' + kn_rng_below(&rng, 10));
                    if (i < 9) fraction = fraction * 10 + (*at - '0');
                    at++;
                }
                for (uint32_t i = n_digits; i < 9 && n_digits > 0; i++) fraction *= 10;
                *at = '\0';
            }
            exists &= hour < 24 && minute < 60 && second < 60 && n_digits <= 9;
            int zone_minutes = (int)kn_rng_below(&rng, 60), zone_hours = (int)kn_rng_below(&rng, 14);
            switch (kn_rng_below(&rng, 5)) {
            case 0: strcpy(at, "Z"); break;
            case 1: sprintf(at, "+%02d:%02d", zone_hours, zone_minutes), zone = zone_hours * 60 + zone_minutes; break;
            case 2: sprintf(at, "-%02d%02d", zone_hours, zone_minutes), zone = -zone_hours * 60 - zone_minutes; break;
            case 3: sprintf(at, "-%02d", zone_hours), zone = -zone_hours * 60; break;
            default: break;
            }
        }
        nanoseconds = ((int64_t)hour * 3600 + minute * 60 + second - zone * 60) * 1000000000 + fraction;
        const int64_t per_day = (int64_t)86400 * 1000000000;
        days += nanoseconds >= 0 ? nanoseconds / per_day : -((per_day - 1 - nanoseconds) / per_day);
        nanoseconds = (nanoseconds % per_day + per_day) % per_day;
        snprintf(expected, sizeof expected, "%lld:%lld", (long long)days, (long long)nanoseconds);
        kn_text_kind kind = kn_text_read(&number, canonical, &reading, text, strlen(text));
        if ((kind == KN_TEXT_NUMBER) != exists)
            fail_msg("'%s' %s a date", text, exists ? "is not read as" : "is read as");
        if (!exists) continue;
        if (strcmp(canonical, expected) != 0) fail_msg("'%s' is %s instead of %s", text, canonical, expected);
        assert_true(floor(number) == (double)days);
        assert_true(fabs(number - (double)days - (double)nanoseconds / (double)per_day) < 1e-9);
    }
    static const char *const none[] = {"2024-01-31T",
                                       "2024-01-31T10",
                                       "2024-01-31T10:0",
                                       "2024-01-31T1:00",
                                       "2024-01-31x10:00",
                                       "2024-01-31T10:00:",
                                       "2024-01-31T10:00:0",
                                       "2024-01-31T10:00:00.",
                                       "2024-01-31T25:00",
                                       "2024-01-31T10:00+2",
                                       "2024-01-31T10:00+02:",
                                       "2024-01-31T10:00+02:0",
                                       "2024-01-31T10:00ZZ",
                                       "2024-01-31T10:00+020",
                                       "2024-01-31 ",
                                       "2024-0-31",
                                       "2024-1-0",
                                       "0000-01-01",
                                       "24-01-31",
                                       "2024--31",
                                       "2024-01-31T10:00:00.5x",
                                       "2024-01/31",
                                       "02024-01-31"};
    kn_reading reading = {.type = KN_TYPE_DATE, .day_order = KN_DAY_ISO};
    double number;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        bool blank = strcmp(none[i], "2024-01-31 ") == 0; /* blanks around a date are nothing */
        if ((kn_text_read(&number, NULL, &reading, none[i], strlen(none[i])) == KN_TEXT_NUMBER) != blank)
            fail_msg("'%s' is read as a date", none[i]);
    }
}

static void moments_stand_in_their_order(void **state)
{
    static const char *const moments[] = {
        "-12:0", "-12:5", "-3:86399999999999", "-1:0", "0:0", "0:1", "0:86399999999999", "1:0", "11:3", "11:20"};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        for (size_t j = 0; j < sizeof moments / sizeof *moments; j++) {
            int order = kn_canonical_compare(moments[i], strlen(moments[i]), moments[j], strlen(moments[j]));
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

/* --- Files written here and read back -------------------------------------------------------------------------- */

/* How a file is written. */
typedef struct spelled_form {
    char delimiter;
    const char *line_end;
    bool no_header, trim, bom;
    int encoding; /* 0: UTF-8, 1: Latin-1, 2 and 3: UTF-16 */
} spelled_form;

static void put_point(kn_buffer *out, uint32_t point, int encoding)
{
    if (encoding == 0 || encoding == 1) {
        if (encoding == 1) kn_buffer_char(out, (char)(point == 0x20ac ? 0x80 : point)); /* as Windows has it */
        else if (point < 0x80) kn_buffer_char(out, (char)point);
        else if (point < 0x800) kn_buffer_printf(out, "%c%c", 0xc0 | point >> 6, 0x80 | (point & 63));
        else if (point < 0x10000)
            kn_buffer_printf(out, "%c%c%c", 0xe0 | point >> 12, 0x80 | (point >> 6 & 63), 0x80 | (point & 63));
        else
            kn_buffer_printf(out, "%c%c%c%c", 0xf0 | point >> 18, 0x80 | (point >> 12 & 63), 0x80 | (point >> 6 & 63),
                             0x80 | (point & 63));
        return;
    }
    uint32_t units[2] = {point, 0}, n = 1;
    if (point >= 0x10000)
        units[0] = 0xd800 + ((point - 0x10000) >> 10), units[1] = 0xdc00 + ((point - 0x10000) & 0x3ff), n = 2;
    for (uint32_t i = 0; i < n; i++) {
        char high = (char)(units[i] >> 8), low = (char)units[i];
        char bytes[2] = {encoding == 2 ? low : high, encoding == 2 ? high : low};
        kn_buffer_append(out, bytes, 2);
    }
}

typedef struct points {
    uint32_t point[40], n;
} points;

/* Few different ones, of lengths around 8 and 16; most of them share their beginning. */
static points random_cell(kn_rng *rng, const spelled_form *form)
{
    static const uint32_t odd[] = {' ',     '\t',     '"',    ',',    ';',     '\n',    '\r',
                                   0xe9,    0xff,     '|',    0x20ac, 0x7ff,   0x800,   0xffff,
                                   0x10000, 0x10ffff, 0xd7ff, 0xe000, 0x103ff, 0x10400, 0x80};
    points cell = {.n = kn_rng_below(rng, 3) == 0   ? 7 + kn_rng_below(rng, 4)
                        : kn_rng_below(rng, 2) == 0 ? 15 + kn_rng_below(rng, 4)
                                                    : kn_rng_below(rng, 4)};
    for (uint32_t i = 0; i < cell.n; i++) cell.point[i] = 'a' + i % 3;
    for (uint32_t changed = kn_rng_below(rng, 3); changed > 0 && cell.n > 0; changed--) {
        uint32_t at = kn_rng_below(rng, 2) == 0 ? cell.n - 1 : kn_rng_below(rng, cell.n);
        uint32_t some = odd[kn_rng_below(rng, form->encoding == 1 ? 11 : 21)];
        cell.point[at] = kn_rng_below(rng, 2) == 0 ? 'x' : some;
    }
    return cell;
}

static void put_cell(kn_buffer *file, const points *cell, const spelled_form *form, kn_rng *rng, bool alone)
{
    bool quoted = kn_rng_below(rng, 4) == 0, empty = true;
    for (uint32_t i = 0; i < cell->n; i++) empty &= form->trim && (cell->point[i] == ' ' || cell->point[i] == '\t');
    quoted |= empty && alone; /* otherwise it would be an empty line */
    for (uint32_t i = 0; i < cell->n; i++)
        quoted |= cell->point[i] == (uint32_t)form->delimiter || cell->point[i] == '\n' || cell->point[i] == '\r' ||
                  (cell->point[i] == '"' && (i == 0 || form->trim));
    uint32_t before = form->trim ? kn_rng_below(rng, 3) : 0, after = form->trim ? kn_rng_below(rng, 3) : 0;
    char blank = form->delimiter == '\t' || kn_rng_below(rng, 2) == 0 ? ' ' : '\t';
    for (uint32_t i = 0; i < before; i++) put_point(file, (uint32_t)blank, form->encoding);
    if (quoted) put_point(file, '"', form->encoding);
    for (uint32_t i = 0; i < cell->n; i++) {
        if (quoted && cell->point[i] == '"') put_point(file, '"', form->encoding);
        put_point(file, cell->point[i], form->encoding);
    }
    if (quoted) put_point(file, '"', form->encoding);
    for (uint32_t i = 0; i < after; i++) put_point(file, (uint32_t)blank, form->encoding);
}

/* What a reader should see. */
static kn_buffer expected_cell(const points *cell, const spelled_form *form)
{
    kn_buffer text = {0};
    uint32_t begin = 0, end = cell->n;
    while (form->trim && begin < end && (cell->point[begin] == ' ' || cell->point[begin] == '\t')) begin++;
    while (form->trim && begin < end && (cell->point[end - 1] == ' ' || cell->point[end - 1] == '\t')) end--;
    for (uint32_t i = begin; i < end; i++) put_point(&text, cell->point[i], 0);
    kn_buffer_text(&text, "");
    return text;
}

static uint64_t lines_in(const points *cell)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < cell->n; i++)
        n += cell->point[i] == '\n' || (cell->point[i] == '\r' && (i + 1 == cell->n || cell->point[i + 1] != '\n'));
    return n;
}

static void files_are_read_as_they_were_written(void **state)
{
    enum { N_ROWS = 6, N_COLUMNS = 4 };
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    kn_rng rng = kn_rng_new(43, 0);
    for (int round = 0; round < 6000; round++) {
        spelled_form form = {.delimiter = ",;\t|"[kn_rng_below(&rng, 4)],
                             .line_end = ends[kn_rng_below(&rng, 3)],
                             .no_header = kn_rng_below(&rng, 2) == 0,
                             .trim = kn_rng_below(&rng, 2) == 0,
                             .encoding = (int)kn_rng_below(&rng, 4),
                             .bom = kn_rng_below(&rng, 2) == 0};
        uint32_t n_columns = 1 + kn_rng_below(&rng, N_COLUMNS), n_rows = kn_rng_below(&rng, N_ROWS) + form.no_header;
        points cells[N_ROWS][N_COLUMNS];
        kn_buffer file = {0};
        const bool marked = form.bom || form.no_header; /* a header begins with a letter, which tells the order */
        if (form.encoding >= 2 && marked) put_point(&file, 0xfeff, form.encoding);
        else if (form.encoding == 0 && form.bom) kn_buffer_text(&file, "\xef\xbb\xbf");
        for (uint32_t c = 0; c < n_columns && !form.no_header; c++) {
            put_point(&file, 'A' + c, form.encoding);
            if (c + 1 < n_columns) put_point(&file, (uint32_t)form.delimiter, form.encoding);
        }
        for (const char *end = form.line_end; *end != '\0' && !form.no_header; end++)
            put_point(&file, (uint32_t)*end, form.encoding);
        bool closed = n_rows == 0 || kn_rng_below(&rng, 2) == 0;
        for (uint32_t r = 0; r < n_rows; r++) {
            for (uint32_t c = 0; c < n_columns; c++) {
                do cells[r][c] = random_cell(&rng, &form);
                while (r == 0 && c == 0 && form.no_header && cells[r][c].n > 0 &&
                       cells[r][c].point[0] > 0x7f); /* a mark? */
                put_cell(&file, &cells[r][c], &form, &rng, n_columns == 1);
                if (c + 1 < n_columns) put_point(&file, (uint32_t)form.delimiter, form.encoding);
            }
            for (const char *end = form.line_end; *end != '\0' && (closed || r + 1 < n_rows); end++)
                put_point(&file, (uint32_t)*end, form.encoding);
        }
        kn_sheet *sheet =
            read_sheet(file.bytes, file.n,
                       (kn_sheet_options){.delimiter = form.delimiter,
                                          .no_header = form.no_header,
                                          .trim = form.trim,
                                          .encoding = form.encoding == 1              ? KN_ENCODING_LATIN1
                                                      : form.encoding >= 2 && !marked ? KN_ENCODING_UTF16
                                                                                      : KN_ENCODING_UTF8});
        if (sheet->problem != NULL) fail_msg("round %d: %s: %.*s", round, sheet->problem, (int)file.n, file.bytes);
        assert_int_equal(sheet->n_columns, n_columns);
        assert_int_equal(sheet->n_rows, n_rows);
        uint64_t line = form.no_header ? 1 : 2;
        for (uint32_t r = 0; r < n_rows; r++) {
            assert_int_equal(kn_sheet_line(sheet, r), line++);
            for (uint32_t c = 0; c < n_columns; c++) {
                kn_buffer text = expected_cell(&cells[r][c], &form);
                size_t n_bytes;
                const char *bytes = kn_text(&sheet->columns[c], kn_sheet_code(&sheet->columns[c], r), &n_bytes);
                if (n_bytes != text.n || memcmp(bytes, text.bytes, n_bytes) != 0)
                    fail_msg("round %d, row %u, column %u: '%.*s' instead of '%s'", round, r, c, (int)n_bytes, bytes,
                             text.bytes);
                assert_int_equal(kn_text_find(&sheet->columns[c], text.bytes, text.n),
                                 kn_sheet_code(&sheet->columns[c], r));
                kn_buffer_char(&text, '\x01');
                assert_int_equal(kn_text_find(&sheet->columns[c], text.bytes, text.n), KN_NONE);
                kn_buffer_free(&text);
                line += lines_in(&cells[r][c]);
            }
        }
        kn_sheet_free(sheet);
        kn_buffer_free(&file);
    }
}

/* A release is UTF-8 where it can be; otherwise it is in the original's encoding. */
static void a_release_is_read_as_utf_8_exactly_when_it_is(void **state)
{
    static const struct {
        const char *bytes;
        bool is_utf8;
    } cases[] = {{"plain", true},
                 {"\xc3\xa9", true},
                 {"\xe2\x82\xac", true},
                 {"\xf0\x9f\x98\x80", true},
                 {"\xf4\x8f\xbf\xbf", true},
                 {"\xdf\xbf", true},
                 {"\xc2\x80", true},
                 {"\xef\xbf\xbf", true},
                 {"\xe9", false},
                 {"\xc3", false},
                 {"\xc3x", false},
                 {"x\xa9", false},
                 {"\x80", false},
                 {"\xbf", false},
                 {"\xc1\xa9", false},
                 {"\xc0\x80", false},
                 {"\xe2\x82", false},
                 {"\xe2\x82x", false},
                 {"\xe2x\xac", false},
                 {"\xf0\x9f\x98", false},
                 {"\xf0\x9f\x98x", false},
                 {"\xf5\x80\x80\x80", false},
                 {"\xff", false},
                 {"\xf8\x88\x80\x80\x80", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* the name \xc3\xa9 is one letter in UTF-8, and the original's column then; two letters in Latin-1 */
        char release[60];
        snprintf(release, sizeof release, "\xc3\xa9,s\nx,%s\n", cases[i].bytes);
        kn_verify_column columns[] = {{.name = "\xc3\xa9", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT},
                                      {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT}};
        kn_verify_model model = {"k-anonymity", "k=1"};
        kn_verify_request request = {.columns = columns,
                                     .n_columns = 2,
                                     .models = &model,
                                     .n_models = 1,
                                     .max_suppressed = -1,
                                     .encoding = KN_ENCODING_LATIN1,
                                     .delimiter = ','};
        kn_verdict *verdict = verify_texts(&request, release, "\xe9,s\nx,y\n");
        if ((find_check(verdict, KN_CHECK_COLUMNS)->state == KN_CHECK_HOLDS) != cases[i].is_utf8)
            fail_msg("case %zu is %s as UTF-8", i, cases[i].is_utf8 ? "not read" : "read");
        kn_verdict_free(verdict);
    }
    kn_verify_column column = {.name = "\xc3\xa9", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT};
    kn_verify_request request = {
        .columns = &column, .n_columns = 1, .max_suppressed = -1, .encoding = KN_ENCODING_LATIN1};
    kn_verdict *verdict = verify_texts(&request, "\xe9\nx\n", "\xe9\nx\n"); /* only the name tells */
    assert_check(verdict, KN_CHECK_COLUMNS, KN_CHECK_HOLDS, "");
    kn_verdict_free(verdict);
}

static void a_model_without_what_it_needs_is_an_error(void **state)
{
    static const struct {
        const char *model, *params;
    } cases[] = {{"k-anonymity", ""},
                 {"l-diversity", ""},
                 {"l-diversity", "kind=recursive,l=2"},
                 {"p-sensitive", ""},
                 {"alpha-k", ""},
                 {"t-closeness", ""},
                 {"beta-likeness", ""},
                 {"delta-disclosure", ""},
                 {"delta-presence", "max=1"},
                 {"delta-presence", "population=x.csv"},
                 {"k-map", "k=2"},
                 {"k-map", "population=x.csv"},
                 {"k-anonymity", "k=0"},
                 {"l-diversity", "l=0"},
                 {"p-sensitive", "p=0"},
                 {"alpha-k", "alpha=1.5"},
                 {"t-closeness", "t=1.1"},
                 {"t-closeness", "t=-0.1"},
                 {"beta-likeness", "beta=-1"},
                 {"delta-disclosure", "delta=-1"},
                 {"delta-presence", "max=1.1,population=x.csv"},
                 {"delta-presence", "max=1,min=-1,population=x.csv"},
                 {"k-map", "k=0,population=x.csv"},
                 {"alpha-k", "alpha=0.5,k=0"},
                 {"k-anonymity", "k=1.5"},
                 {"l-diversity", "l=2,column=nobody"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_verify_column columns[] = {{.name = "q", .role = KN_ROLE_QUASI, .type = KN_TYPE_TEXT},
                                      {.name = "s", .role = KN_ROLE_SENSITIVE, .type = KN_TYPE_TEXT}};
        kn_verify_model model = {cases[i].model, cases[i].params};
        char *path = temp_file("q,s\n1,2\n", 8);
        kn_verify_request request = {.release_path = path,
                                     .columns = columns,
                                     .n_columns = 2,
                                     .models = &model,
                                     .n_models = 1,
                                     .max_suppressed = -1};
        kn_verdict *verdict;
        kn_error problem = {0};
        if (kn_verify_files(&verdict, &request, &problem) != KN_USAGE)
            fail_msg("%s:%s is accepted", cases[i].model, cases[i].params);
        assert_null(verdict);
        remove_file(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_release_passes_every_check),
        cmocka_unit_test(without_the_original_it_says_what_it_did_not_check),
        cmocka_unit_test(without_the_order_it_checks_what_any_order_must_satisfy),
        cmocka_unit_test(too_many_candidates_are_no_finding_against_a_release),
        cmocka_unit_test(counts_of_records_are_rows_and_persons),
        cmocka_unit_test(a_column_without_a_domain_is_named),
        cmocka_unit_test(periods_are_those_of_the_c_library_s_calendar),
        cmocka_unit_test(periods_of_the_first_and_the_last_year_have_both_ends),
        cmocka_unit_test(days_lie_in_the_grid_cells_of_the_c_library_s_calendar),
        cmocka_unit_test(a_verdict_holds_only_when_nothing_asked_for_is_open),
        cmocka_unit_test(what_was_asked_for_and_not_checked_is_undecided),
        cmocka_unit_test(after_a_run_no_check_may_be_left_out),
        cmocka_unit_test(rows_at_the_top_of_every_hierarchy_are_no_suppressed_rows),
        cmocka_unit_test(every_broken_release_is_refused_with_its_place),
        cmocka_unit_test(only_an_unknown_group_of_the_column_is_called_one),
        cmocka_unit_test(a_wrong_order_is_refused),
        cmocka_unit_test(persons_are_counted_when_they_are_known),
        cmocka_unit_test(persons_that_no_column_names_are_not_known_and_it_says_why),
        cmocka_unit_test(a_cell_between_the_values_fits_none_also_where_candidates_are_too_many),
        cmocka_unit_test(a_finding_counts_released_rows_and_candidates),
        cmocka_unit_test(a_label_that_looks_guarded_is_the_label),
        cmocka_unit_test(where_no_domain_is_known_nothing_is_said_of_values),
        cmocka_unit_test(a_person_spelled_differently_is_one_person),
        cmocka_unit_test(removed_rows_are_accounted_for),
        cmocka_unit_test(values_are_hidden_when_redaction_is_asked_for),
        cmocka_unit_test(wrong_files_and_parameters_are_errors),
        cmocka_unit_test(numbers_mean_themselves_or_an_interval),
        cmocka_unit_test(long_numbers_mean_what_their_digits_say),
        cmocka_unit_test(dates_mean_themselves_or_an_interval),
        cmocka_unit_test(text_means_itself_or_a_set),
        cmocka_unit_test(ordered_text_means_an_interval_of_its_order),
        cmocka_unit_test(ordered_numbers_mean_what_lies_between),
        cmocka_unit_test(labels_mean_the_leaves_below_them),
        cmocka_unit_test(a_missing_cell_that_may_be_any_value_is_released_as_a_star),
        cmocka_unit_test(a_tree_over_numbers_takes_other_spellings_of_its_leaves),
        cmocka_unit_test(the_reader_takes_quotes_line_ends_and_encodings),
        cmocka_unit_test(the_reader_names_the_line_of_a_malformed_file),
        cmocka_unit_test(large_files_are_read_as_they_are),
        cmocka_unit_test(rows_that_begin_like_the_one_above_are_read_as_they_are),
        cmocka_unit_test(every_model_agrees_with_a_slow_count_and_refuses_beyond_it),
        cmocka_unit_test(the_papers_figures_come_out),
        cmocka_unit_test(long_numbers_keep_their_order),
        cmocka_unit_test(strict_bounds_are_strict),
        cmocka_unit_test(ordered_text_takes_the_order_of_its_hierarchy),
        cmocka_unit_test(missing_sensitive_cells_are_one_value),
        cmocka_unit_test(folded_sensitive_texts_count_as_one_value),
        cmocka_unit_test(enhanced_beta_likeness_holds_frequent_values_tighter),
        cmocka_unit_test(random_releases_pass_and_random_damage_does_not),
        cmocka_unit_test(without_the_order_a_column_passes_exactly_when_it_can_be_matched),
        cmocka_unit_test(populations_are_counted_like_a_loop_does),
        cmocka_unit_test(grouping_agrees_with_comparing_all_pairs),
        cmocka_unit_test(groups_with_one_hash_are_told_apart),
        cmocka_unit_test(it_survives_the_failure_of_every_allocation),
        cmocka_unit_test(it_stops_at_every_tick),
        cmocka_unit_test(tables_without_rows_or_quasi_identifiers_are_no_trouble),
        cmocka_unit_test(files_without_a_header_are_compared_by_place),
        cmocka_unit_test(without_a_header_an_identifier_in_any_place_is_found),
        cmocka_unit_test(rows_in_the_input_s_order_are_found_although_some_were_removed),
        cmocka_unit_test(persons_that_are_not_known_are_as_few_as_they_can_be),
        cmocka_unit_test(classes_that_differ_by_blanks_are_two_also_where_cells_are_trimmed),
        cmocka_unit_test(labels_with_blanks_mean_the_same_where_cells_are_trimmed),
        cmocka_unit_test(numbers_are_equal_and_ordered_as_their_digits_are),
        cmocka_unit_test(what_is_no_number_is_its_bytes),
        cmocka_unit_test(marks_stand_between_thousands_and_nowhere_else),
        cmocka_unit_test(both_readers_take_the_same_texts_for_dates),
        cmocka_unit_test(both_readers_take_the_same_words_for_nothing),
        cmocka_unit_test(both_readers_take_the_same_texts_for_numbers_with_marks),
        cmocka_unit_test(dates_are_the_moments_that_the_c_library_names),
        cmocka_unit_test(moments_stand_in_their_order),
        cmocka_unit_test(files_are_read_as_they_were_written),
        cmocka_unit_test(a_release_is_read_as_utf_8_exactly_when_it_is),
        cmocka_unit_test(a_model_without_what_it_needs_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
