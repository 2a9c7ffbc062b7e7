/* The HTML report: every text in every language, every tag closed, everything of the user's escaped, no script, and
 * never a word about compliance. */
#include "file_support.h"
#include "support.h"

#include "base/buffer.h"
#include "base/sha256.h"
#include "measure/measure.h"
#include "privacy/privacy.h"
#include "report/facts.h"
#include "report/page.h"
#include "report/text.h"
#include "verify/verify.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Texts -------------------------------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) n++;
    return n;
}

static void every_language_has_every_text_with_the_same_arguments(void **state)
{
    for (int text = 0; text < KN_N_TEXTS; text++) {
        const char *english = kn_text_get(KN_LANGUAGE_EN, KN_UNIT_PERSON, (kn_text)text);
        for (int i = 0; i < 2 * KN_N_LANGUAGES; i++) {
            const int language = i / 2;
            const char *other = kn_text_get((kn_language)language, (kn_unit)(i % 2), (kn_text)text);
            if (other == NULL || *other == '\0') fail_msg("text %d is missing in language %d", text, language);
            if (count_of(english, "%s") != count_of(other, "%s"))
                fail_msg("other arguments: '%s' / '%s'", english, other);
            if (count_of(other, "%") != count_of(other, "%s")) fail_msg("a stray %%: '%s'", other);
            if (language != KN_LANGUAGE_EN && strlen(english) > 40 && strcmp(english, other) == 0)
                fail_msg("not translated: '%s'", english);
            /* in a report about households nobody is called a person but who signs, and who has several rows */
            const bool is_somebody = text == KN_TEXT_SIGN_TEXT || text == KN_TEXT_ASSUME_ROW;
            if (i % 2 == KN_UNIT_HOUSEHOLD && !is_somebody && (strcasestr(other, "person") != NULL))
                fail_msg("a person: '%s'", other);
        }
    }
    assert_string_equal(kn_text_get(KN_LANGUAGE_EN, KN_UNIT_PERSON, KN_TEXT_LANGUAGE), "en");
    assert_string_equal(kn_text_get(KN_LANGUAGE_DE, KN_UNIT_PERSON, KN_TEXT_LANGUAGE), "de");
}

/* What other parts of the program say: every id has a text in every language, and each argument stands in it once. */
static void every_sentence_has_its_arguments_in_every_language(void **state)
{
    for (int id = KN_SAY_NOTHING + 1; id < KN_N_SENTENCES; id++) {
        const char *english = kn_sentence_english((kn_say)id);
        size_t n_pieces = count_of(english, "%");
        if (count_of(english, "%n") + count_of(english, "%s") + count_of(english, "%p") != n_pieces || n_pieces > 8)
            fail_msg("not n, s or p, or too many: '%s'", english);
        for (int language = KN_LANGUAGE_EN + 1; language < KN_N_LANGUAGES; language++) {
            const char *other = kn_language_sentences((kn_language)language)->texts[id];
            if (other == NULL || *other == '\0') fail_msg("language %d lacks '%s'", language, english);
            for (size_t piece = 1; piece <= n_pieces; piece++) {
                const char name[] = {'%', (char)('0' + piece), '\0'};
                if (count_of(other, name) != 1) fail_msg("%s: '%s'", name, other);
            }
            if (count_of(other, "%") != n_pieces) fail_msg("arguments of '%s' in '%s'", english, other);
            if (strlen(english) > 12 && strcmp(english, other) == 0) fail_msg("not translated: '%s'", english);
        }
    }
    assert_null(kn_language_sentences(KN_LANGUAGE_EN)->texts);
}

static void measures_and_checks_are_translated(void **state)
{
    size_t n;
    const kn_measure *const *measures = kn_measure_all(&n);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(kn_measure_text(KN_LANGUAGE_EN, measures[i]), measures[i]->summary);
        if (strcmp(kn_measure_text(KN_LANGUAGE_DE, measures[i]), measures[i]->summary) == 0)
            fail_msg("no German for %s: '%s'", measures[i]->name, measures[i]->summary);
    }
    static const char *const checks[KN_SLOT_MODELS] = {
        [KN_SLOT_TABLE] = KN_CHECK_TABLE,   [KN_SLOT_COLUMNS] = KN_CHECK_COLUMNS,
        [KN_SLOT_ROWS] = KN_CHECK_ROWS,     [KN_SLOT_IDENTIFIERS] = KN_CHECK_IDENTIFIERS,
        [KN_SLOT_COPIES] = KN_CHECK_COPIES, [KN_SLOT_SUPPRESSED] = KN_CHECK_SUPPRESSED,
        [KN_SLOT_VALUES] = KN_CHECK_VALUES};
    for (int slot = 0; slot < KN_SLOT_MODELS; slot++)
        assert_string_equal(kn_text_get(KN_LANGUAGE_EN, KN_UNIT_PERSON, (kn_text)(KN_TEXT_CHECK_TABLE + slot)),
                            checks[slot]);
}

/* Every parameter that is named in braces is one of the model's. */
static void check_promise(const kn_privacy *model, const char *promise)
{
    assert_non_null(strchr(promise, '{'));
    for (const char *at = promise; (at = strchr(at, '{')) != NULL; at++) {
        size_t n_known = 0;
        for (size_t i = 0; i < model->n_params; i++) {
            char braces[64], share[64];
            snprintf(braces, sizeof braces, "{%s}", model->params[i].name);
            snprintf(share, sizeof share, "{1/%s}", model->params[i].name);
            n_known += strncmp(at, braces, strlen(braces)) == 0 || strncmp(at, share, strlen(share)) == 0;
        }
        if (n_known != 1) fail_msg("%s has no such parameter: %s", model->name, at);
    }
}

/* Whoever gets a release reads what a model promises: in every language, with the figures that were asked for. */
static void models_promise_what_their_parameters_say(void **state)
{
    static const kn_promise none[] = {{NULL, NULL}};
    size_t n;
    const kn_privacy *const *models = kn_privacy_all(&n);
    for (size_t m = 0; m < n; m++)
        for (int language = 0; language < KN_N_LANGUAGES; language++) {
            const kn_promise *variant = models[m]->variants != NULL ? models[m]->variants : none;
            for (bool is_last = false; !is_last; variant++) {
                is_last = variant->when == NULL;
                const char *promise = kn_promise_text((kn_language)language, models[m], is_last ? NULL : variant);
                assert_non_null(promise);
                if (language != KN_LANGUAGE_EN && strcmp(promise, is_last ? models[m]->promise : variant->text) == 0)
                    fail_msg("language %d lacks what %s promises", language, models[m]->name);
                check_promise(models[m], promise);
            }
        }
}

static void says(const kn_buffer *list, size_t which, kn_language language, const char *expected)
{
    kn_buffer out = {0};
    const char *at = list->bytes;
    for (size_t i = 0; i <= which; i++) {
        kn_buffer_clear(&out);
        at = kn_sentence_text(&out, at, kn_language_sentences(language));
    }
    assert_string_equal(out.bytes, expected);
    assert_true(at <= list->bytes + list->n);
    kn_buffer_free(&out);
}

static void a_sentence_is_said_around_the_user_s_words(void **state)
{
    kn_buffer value = KN_SAID(KN_SAY_AT_WORST, kn_piece_part(kn_said(KN_SAY_DISTANCE)), kn_piece_number("%.9g", 0.25));
    kn_buffer class =
        KN_SAID(KN_SAY_CLASS,
                kn_piece_part(KN_SAID(
                    KN_SAY_LIST, kn_piece_part(KN_SAID(KN_SAY_CELL, kn_piece_name("age"), kn_piece_text("'30..39'"))),
                    kn_piece_part(KN_SAID(KN_SAY_CELL, kn_piece_name("a (b"), kn_piece_text("'%1 row'"))))),
                kn_piece_part(KN_SAID(KN_SAY_LIST, kn_piece_part(KN_SAID(KN_SAY_ROWS, kn_piece_number("%u", 4u))),
                                      kn_piece_part(KN_SAID(KN_SAY_PERSON, kn_piece_number("%u", 1u))))),
                kn_piece_number("%u", 17u));
    kn_buffer list = {0}, joined = {0};
    kn_sentences_add(&list, KN_SAID(KN_SAY_NAMELY,
                                    kn_piece_part(KN_SAID(KN_SAY_ASKED, kn_piece_part(value), kn_piece_text("t=0.3"))),
                                    kn_piece_part(class)));
    kn_sentences_add(&list, KN_SAID(KN_SAY_LEFT_OUT, kn_piece_text("a: b, %1; rows")));
    kn_sentence_join(&joined, kn_said(KN_SAY_NO_ROWS));
    kn_sentence_join(&joined,
                     KN_SAID(KN_SAY_COLUMN_TWICE, kn_piece_name("1234567890123456789012345678901234567890 and more")));
    kn_sentences_add(&list, joined);
    says(&list, 0, KN_LANGUAGE_EN,
         "distance 0.25 at worst (asked: t=0.3): class age='30..39', a (b='%1 row' (4 rows, 1 person, first on line "
         "17)");
    says(&list, 0, KN_LANGUAGE_DE,
         "Abstand schlimmstenfalls 0,25 (gefordert: t=0.3): Klasse age='30..39', a (b='%1 row' (4 Zeilen, 1 Person, "
         "zuerst in Zeile 17)");
    says(&list, 1, KN_LANGUAGE_EN, "left out, because no role was given: a: b, %1; rows");
    says(&list, 1, KN_LANGUAGE_DE, "Weggelassen, weil keine Rolle angegeben wurde: a: b, %1; rows");
    says(&list, 2, KN_LANGUAGE_EN,
         "the release has no rows; column '1234567890123456789012345678901234567890…' is there twice");
    char *text;
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_sentences_json(&json, "said", &list);
    kn_json_end(&json);
    assert_ok(kn_json_finish(&text, &json, err));
    assert_int_equal(count_of(text, "\"id\": "), 3);
    assert_non_null(strstr(text,
                           "{\n      \"id\": \"left_out\",\n      \"text\": \"left out, because no role was given: a: "
                           "b, %1; rows\"\n    }"));
    kn_free(text);
    assert_ok(kn_sentences_finish(&text, &list, err));
    assert_int_equal(count_of(text, "\n"), 3);
    assert_int_equal(list.n, 0);
    kn_free(text);
    assert_ok(kn_sentences_finish(&text, &list, err));
    assert_string_equal(text, "");
    kn_free(text);
}

/* Every "[" of a text has its "|" and its "]", and no argument between them. */
static void check_words(const char *text)
{
    for (const char *at = strchr(text, '['); at != NULL; at = strchr(at, '[')) {
        const size_t one = strcspn(at + 1, "|[]%"), many = strcspn(at + 2 + one, "|[]%");
        if (at[1 + one] != '|' || at[2 + one + many] != ']') fail_msg("no two words: '%s'", at);
        at++;
    }
}

static void one_is_said_otherwise_than_many(void **state)
{
    static const struct {
        unsigned n_rows, n_columns;
        const char *english, *german;
    } cases[] = {{1, 1, "1 row, 1 column", "1 Zeile, 1 Spalte"},
                 {1, 2, "1 row, 2 columns", "1 Zeile, 2 Spalten"},
                 {11, 1, "11 rows, 1 column", "11 Zeilen, 1 Spalte"},
                 {0, 21, "0 rows, 21 columns", "0 Zeilen, 21 Spalten"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_buffer said = KN_SAID(KN_SAY_TABLE_SIZE, kn_piece_number("%u", cases[i].n_rows),
                                 kn_piece_number("%u", cases[i].n_columns));
        says(&said, 0, KN_LANGUAGE_EN, cases[i].english);
        says(&said, 0, KN_LANGUAGE_DE, cases[i].german);
        kn_buffer_free(&said);
    }
    kn_buffer least = KN_SAID(KN_SAY_AT_LEAST, kn_piece_number("%u", 1u), kn_piece_part(kn_said(KN_SAY_OF_ROWS)));
    says(&least, 0, KN_LANGUAGE_EN, "at least 1 row");
    says(&least, 0, KN_LANGUAGE_DE, "mindestens 1 Zeile");
    kn_buffer_free(&least);
    for (int language = 0; language < KN_N_LANGUAGES; language++) {
        const kn_catalogue *catalogue = kn_language_sentences((kn_language)language);
        for (int id = 1; id < KN_N_SENTENCES; id++)
            check_words(catalogue->texts != NULL ? catalogue->texts[id] : kn_sentence_english((kn_say)id));
        for (int text = 0; text < KN_N_TEXTS; text++) {
            check_words(kn_text_get((kn_language)language, KN_UNIT_PERSON, (kn_text)text));
            check_words(kn_text_get((kn_language)language, KN_UNIT_HOUSEHOLD, (kn_text)text));
        }
    }
}

static void numbers_are_written_as_the_language_writes_them(void **state)
{
    page en = {.language = KN_LANGUAGE_EN}, de = {.language = KN_LANGUAGE_DE};
    assert_string_equal(page_count(&en, 1234567).text, "1,234,567");
    assert_string_equal(page_count(&de, 1234567).text, "1.234.567");
    assert_string_equal(page_number(&en, 0.0876889).text, "0.08769");
    assert_string_equal(page_number(&de, 0.0876889).text, "0,08769");
    assert_string_equal(page_number(&en, NAN).text, "–");
    assert_string_equal(page_number(&en, 6.45812e-05).text, "0.00006458");
    assert_string_equal(page_number(&de, -5e-05).text, "-0,00005");
    assert_string_equal(page_seconds(&en, 6.458e-05).text, "< 0.01");
    assert_string_equal(page_seconds(&de, 12.3456).text, "12,35");
    assert_string_equal(page_value(&de, 1974).text, "1974");
    assert_string_equal(page_value(&de, 1974.5).text, "1974,5");
    assert_string_equal(page_percent(&en, 0).text, "0%");
    assert_string_equal(page_percent(&en, 1).text, "100%");
    assert_string_equal(page_percent(&de, 0.125).text, "12,5 %");
    assert_string_equal(page_percent(&en, 0.2).text, "20%");
    assert_string_equal(page_percent(&en, 0.01).text, "1%");
    assert_string_equal(page_percent(&en, 0.1).text, "10%");
    assert_string_equal(page_percent(&en, 0.0001).text, "0.01%");
    /* what is there is never shown as nothing, what is missing never as everything */
    assert_string_equal(page_percent(&en, 0.99999).text, "99.999%");
    assert_string_not_equal(page_percent(&en, 0.000002).text, "0%");
}

static void what_is_as_small_as_rounding_is_no_gap(void **state)
{
    const kn_facts facts = {.loss = 0.25}, nothing = {.loss = 0};
    assert_true(kn_facts_gap(&facts, 0.25 - 4e-10) == 0);
    assert_true(kn_facts_gap(&facts, 0.26) == 0);
    assert_true(kn_facts_gap(&facts, 0.2) > 0.19);
    assert_true(kn_facts_gap(&facts, 0.25 - 1e-6) > 0);
    assert_true(kn_facts_gap(&nothing, 0) == 0);
}

static void the_hash_is_sha_256(void **state)
{
    char hex[KN_SHA256_HEX];
    kn_sha256 hash;
    kn_sha256_begin(&hash);
    kn_sha256_add(&hash, "abc", 3);
    kn_sha256_end(hex, &hash);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    kn_sha256_begin(&hash);
    kn_sha256_end(hex, &hash);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    kn_sha256_begin(&hash);
    for (int i = 0; i < 1000000; i++) kn_sha256_add(&hash, "a", 1);
    kn_sha256_end(hex, &hash);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* --- A report of a whole run -------------------------------------------------------------------------------------- */

/* Fails when something else was left there. */
static int folder_remove(void **state)
{
    static const char *const names[] = {"people.csv", "release.csv", "report.html", "policy.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
    return rmdir(folder);
}

/* A column with a name that is markup, and values that are. */
static void people_write(void)
{
    FILE *file = fopen(path_of("people.csv"), "w");
    kn_rng rng = kn_rng_new(4, 0);
    assert_non_null(file);
    fputs("id,age,<b>\"&'</b>,town,illness\n", file);
    for (int i = 0; i < 300; i++)
        fprintf(file, "%d,%u,<script>%u</script>,\"t&%u\",ill%u\n", i, kn_rng_below(&rng, 80), kn_rng_below(&rng, 9),
                kn_rng_below(&rng, 5), kn_rng_below(&rng, 4));
    assert_int_equal(fclose(file), 0);
}

typedef struct option {
    const char *name, *value;
} option;

static char *report_with(const option *options, const char *algorithm, const char *language, kn_status expected)
{
    static const option presets[] = {
        {"sensitive", "illness"}, {"identifier", "id"}, {"k", "4"}, {"qi", "age,<b>\"&'</b>,town"}};
    kn_settings *settings = NULL;
    kn_result *result = NULL;
    kn_error failure = {0};
    people_write();
    assert_ok(kn_settings_new(&settings, err));
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
        bool is_given = false;
        for (const option *o = options; o != NULL && o->name != NULL; o++)
            is_given |= strcmp(o->name, presets[i].name) == 0;
        if (!is_given) assert_ok(kn_settings_set(settings, presets[i].name, presets[i].value, err));
    }
    assert_ok(kn_settings_set(settings, "data", path_of("people.csv"), err));
    assert_ok(kn_settings_set(settings, "output", path_of("release.csv"), err));
    assert_ok(kn_settings_set(settings, "report", path_of("report.html"), err));
    assert_ok(kn_settings_set(settings, "algorithm", algorithm, err));
    assert_ok(kn_settings_set(settings, "language", language, err));
    for (; options != NULL && options->name != NULL; options++)
        assert_ok(kn_settings_set(settings, options->name, options->value, err));
    kn_status status = kn_anonymize(&result, settings, &failure);
    if (status != expected) fail_msg("status %d: %s", status, failure.message);
    kn_result_free(result);
    kn_settings_free(settings);
    FILE *file = fopen(path_of("report.html"), "r");
    assert_non_null(file);
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static char *report_make(const char *algorithm, const char *language, kn_status expected)
{
    return report_with(NULL, algorithm, language, expected);
}

/* Every opened element is closed in order; void elements and self-closed ones excepted. */
static void tags_are_balanced(const char *html)
{
    static const char *const empty[] = {"meta", "!doctype", "wbr"};
    char open[64][16];
    int depth = 0;
    for (const char *at = html; (at = strchr(at, '<')) != NULL;) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        char name[16] = "";
        bool closing = at[1] == '/';
        sscanf(at + 1 + closing, "%15[a-z0-9!]", name);
        bool is_empty = end[-1] == '/';
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) is_empty |= strcmp(name, empty[i]) == 0;
        if (closing) {
            if (depth == 0 || strcmp(open[--depth], name) != 0)
                fail_msg("</%s> closes %s", name, depth >= 0 ? open[depth] : "nothing");
        } else if (!is_empty) {
            assert_true(depth < 63);
            strcpy(open[depth++], name);
        }
        at = end + 1;
        if (!closing && strcmp(name, "style") == 0) at = strstr(at, "</style>");
    }
    assert_int_equal(depth, 0);
}

static void headings_do_not_skip_a_level(const char *html)
{
    int level = 0;
    for (const char *at = html; (at = strstr(at, "<h")) != NULL; at++) {
        if (!isdigit((unsigned char)at[2])) continue;
        int next = at[2] - '0';
        assert_true(next <= level + 1);
        level = next;
    }
    assert_int_equal(count_of(html, "<h1"), 1);
}

static void page_is_sound(const char *html)
{
    tags_are_balanced(html);
    headings_do_not_skip_a_level(html);
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "<b>"));
    assert_null(strstr(html, "http://"));
    assert_null(strstr(html, "https://"));
    assert_null(strcasestr(html, "complian"));
    assert_null(strcasestr(html, "konform"));
    assert_non_null(strstr(html, "&lt;b&gt;&quot;&amp;&#39;&lt;/b&gt;"));
    assert_int_equal(count_of(html, "<svg"), count_of(html, "role=\"img\""));
    assert_int_equal(count_of(html, "<table>"), count_of(html, "<caption>"));
    assert_null(strstr(html, ">nan"));
    assert_null(strstr(html, "(null)"));
}

static void a_report_is_sound_in_every_language(void **state)
{
    char *html = report_make("mondrian", "en", KN_OK);
    page_is_sound(html);
    assert_non_null(strstr(html, "<html lang=\"en\">"));
    assert_non_null(strstr(html, "Anonymization report"));
    html = report_make("mondrian", "de", KN_OK);
    page_is_sound(html);
    assert_non_null(strstr(html, "<html lang=\"de\">"));
    assert_non_null(strstr(html, "Bericht zur Anonymisierung"));
}

/* No stretch of an English text, or of what its arguments stand between, is in a page of another language. */
static void has_none_of(const char *html, const char *english, const char *other)
{
    enum { LEAST = 12 };
    char stretch[600];
    for (const char *at = english; *at != '\0'; at++) {
        size_t n = strcspn(at, "%'\"&<>");
        if (n >= LEAST && n < sizeof stretch) {
            snprintf(stretch, sizeof stretch, "%.*s", (int)n, at);
            if (memchr(at, ' ', n) != NULL && strstr(other, stretch) == NULL && strstr(html, stretch) != NULL)
                fail_msg("still English: '%s'", stretch);
        }
        if (at[n] == '\0') break;
        at += n + (at[n] == '%' && at[n + 1] != '\0');
    }
}

static void no_english_is_left(const char *html)
{
    size_t n_measures;
    const kn_measure *const *measures = kn_measure_all(&n_measures);
    assert_null(strstr(html, "lang=\"en\""));
    for (int id = KN_SAY_NOTHING + 1; id < KN_N_SENTENCES; id++)
        has_none_of(html, kn_sentence_english((kn_say)id), kn_language_sentences(KN_LANGUAGE_DE)->texts[id]);
    for (int text = 0; text < KN_N_TEXTS; text++)
        has_none_of(html, kn_text_get(KN_LANGUAGE_EN, KN_UNIT_PERSON, (kn_text)text),
                    kn_text_get(KN_LANGUAGE_DE, KN_UNIT_PERSON, (kn_text)text));
    for (size_t i = 0; i < n_measures; i++)
        has_none_of(html, measures[i]->summary, kn_measure_text(KN_LANGUAGE_DE, measures[i]));
}

/* No run leaves anything in English, whatever its models and warnings. */
static void a_report_speaks_one_language(void **state)
{
    char k_map[160], presence[160];
    snprintf(k_map, sizeof k_map, "k-map:k=4,population=%s", path_of("people.csv"));
    snprintf(presence, sizeof presence, "delta-presence:max=1,population=%s", path_of("people.csv"));
    const char *const models[] = {"k-anonymity:k=2",
                                  "l-diversity:l=2",
                                  "l-diversity:kind=entropy,l=1.5",
                                  "l-diversity:kind=frequency,l=1.1",
                                  "l-diversity:kind=recursive,c=9,l=2",
                                  "p-sensitive:p=2",
                                  "alpha-k:alpha=.9,values=ill1",
                                  "t-closeness:t=.9",
                                  "beta-likeness:beta=9",
                                  "delta-disclosure:delta=9",
                                  presence,
                                  k_map};
    size_t n_registered, n_models = sizeof models / sizeof *models;
    const kn_privacy *const *registered = kn_privacy_all(&n_registered);
    for (size_t r = 0; r < n_registered; r++) {
        bool is_there = false;
        for (size_t m = 0; m < n_models; m++)
            is_there |= strncmp(models[m], registered[r]->name, strlen(registered[r]->name)) == 0;
        if (!is_there) fail_msg("add %s to the reports that are read here", registered[r]->name);
    }
    for (size_t m = 0; m < n_models; m++) {
        const option options[] = {{"model", models[m]}, {"max-suppressed", "100%"}, {NULL, NULL}};
        no_english_is_left(report_with(options, "optimal", "de", KN_OK));
    }
    static const option settings[][4] = {
        {{"order", "input"}, {NULL, NULL}},           /* a warning; without a model for illness another one */
        {{"person", "id"}, {"k", "3"}, {NULL, NULL}}, /* persons are counted */
        {{"unlisted", "drop"}, {"qi", "age"}, {NULL, NULL}},
        {{"identifier", "town"},
         {"qi", "age"},
         {"unlisted", "insensitive"},
         {NULL, NULL}}, /* id is copied, and unique */
        {{"max-suppressed", "5%"}, {NULL, NULL}},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *html = report_with(settings[i], "mondrian", "de", KN_OK);
        no_english_is_left(html);
        assert_non_null(strstr(html, "kein Modell schützt sie"));
        if (i == 0) assert_non_null(strstr(html, "wer wer ist"));
        if (i == 2) assert_non_null(strstr(html, "Weggelassen, weil"));
        if (i == 3) assert_non_null(strstr(html, "erkennbar"));
    }
}

static void the_report_names_the_file_it_speaks_of(void **state)
{
    char hex[KN_SHA256_HEX], *html = report_make("mondrian", "en", KN_OK);
    assert_ok(kn_sha256_file(hex, path_of("release.csv"), err));
    assert_non_null(strstr(html, hex));
}

static void a_full_domain_report_shows_the_lattice(void **state)
{
    char *html = report_make("optimal", "en", KN_OK);
    page_is_sound(html);
    assert_non_null(strstr(html, "The lattice of generalizations"));
    assert_non_null(strstr(html, "class=\"ring\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_language_has_every_text_with_the_same_arguments),
        cmocka_unit_test(every_sentence_has_its_arguments_in_every_language),
        cmocka_unit_test(measures_and_checks_are_translated),
        cmocka_unit_test(models_promise_what_their_parameters_say),
        cmocka_unit_test(a_sentence_is_said_around_the_user_s_words),
        cmocka_unit_test(one_is_said_otherwise_than_many),
        cmocka_unit_test(numbers_are_written_as_the_language_writes_them),
        cmocka_unit_test(what_is_as_small_as_rounding_is_no_gap),
        cmocka_unit_test(the_hash_is_sha_256),
        cmocka_unit_test(a_report_is_sound_in_every_language),
        cmocka_unit_test(a_report_speaks_one_language),
        cmocka_unit_test(the_report_names_the_file_it_speaks_of),
        cmocka_unit_test(a_full_domain_report_shows_the_lattice),
    };
    return cmocka_run_group_tests_name("report", tests, make_folder, folder_remove);
}
