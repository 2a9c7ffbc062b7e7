/* The texts of the reports, by language. */
#include "report/text.h"

#include "verify/verify.h"

#include <string.h>

static const char *const texts[KN_N_LANGUAGES][KN_N_TEXTS] = {
    [KN_LANGUAGE_EN] =
        {
#include "report/text_en.h"
        },
    [KN_LANGUAGE_DE] =
        {
#include "report/text_de.h"
        },
};

static const char *const german_sentences[KN_N_SENTENCES] = {
#define KN_SENTENCE(id, text) [KN_SAY_##id] = text,
#include "report/sentences_de.def"
#undef KN_SENTENCE
};

static const struct {
    const char *name, *text;
} german_measures[] = {
#include "report/measures_de.h"
};

static const struct {
    const char *name, *when, *text;
} german_promises[] = {
#include "report/promises_de.h"
};

/* NULL: the text says nothing of what is counted. */
static const char *const household_texts[KN_N_LANGUAGES][KN_N_TEXTS] = {
    [KN_LANGUAGE_EN] =
        {
#include "report/text_en_households.h"
        },
    [KN_LANGUAGE_DE] =
        {
#include "report/text_de_households.h"
        },
};

const char *kn_text_get(kn_language language, kn_unit unit, kn_text text)
{
    const char *const *of_unit = household_texts[language];
    return unit == KN_UNIT_HOUSEHOLD && of_unit[text] != NULL ? of_unit[text] : texts[language][text];
}

static const kn_catalogue english = {NULL, '.', true, NULL}, german = {german_sentences, ',', true, NULL};

const kn_catalogue *kn_language_sentences(kn_language language)
{
    return language == KN_LANGUAGE_DE ? &german : &english;
}

const kn_catalogue *kn_language_brief(kn_language language)
{
    static const char *const english_brief[KN_N_SENTENCES] = {
        [KN_SAY_ASKED] = "%1", [KN_SAY_CLASS] = "class of %2, first on line %3"};
    static const char *const german_brief[KN_N_SENTENCES] = {
        [KN_SAY_ASKED] = "%1", [KN_SAY_CLASS] = "Klasse (%2, zuerst in Zeile %3)"};
    static const kn_catalogue brief_english = {english_brief, '.', true, &english},
                              brief_german = {german_brief, ',', true, &german};
    return language == KN_LANGUAGE_DE ? &brief_german : &brief_english;
}

const char *kn_measure_text(kn_language language, const kn_measure *measure)
{
    for (size_t i = 0; language == KN_LANGUAGE_DE && i < sizeof german_measures / sizeof *german_measures; i++)
        if (strcmp(german_measures[i].name, measure->name) == 0) return german_measures[i].text;
    return measure->summary;
}

static bool is_same(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0; }

const char *kn_promise_text(kn_language language, const kn_privacy *model, const kn_promise *variant)
{
    const char *when = variant != NULL ? variant->when : NULL;
    for (size_t i = 0; language == KN_LANGUAGE_DE && i < sizeof german_promises / sizeof *german_promises; i++)
        if (strcmp(german_promises[i].name, model->name) == 0 && is_same(german_promises[i].when, when))
            return german_promises[i].text;
    return variant != NULL ? variant->text : model->promise;
}
