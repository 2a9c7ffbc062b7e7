/* The texts of the reports, by language. */
#include "report/text.h"

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

const char *kn_text_get(kn_language language, kn_text text) { return texts[language][text]; }
