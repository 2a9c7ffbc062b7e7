/* What other parts of the program say, in the language of the report.
 *
 * Checks, warnings and the registry of measures speak English, because the terminal and the JSON do, and they know
 * nothing of reports. A report finds the sentence among the phrases of its language and says it there. A phrase is a
 * pair of patterns. In the English one %n stands for a number, %s for text that stays as it is (a name of the user's),
 * %p for a phrase that is translated in turn; in the other one %1, %2, ... are what they stood for. The first English
 * pattern that fits counts. What has no phrase is shown as it is and marked as English; a test sees to it that the
 * reports of all kinds of runs have nothing of that sort. */
#ifndef KN_REPORT_PHRASES_H
#define KN_REPORT_PHRASES_H

#include "base/buffer.h"
#include "report/text.h"

typedef struct kn_phrase {
    const char *english, *other;
} kn_phrase;

/* NULL and 0 for English. */
const kn_phrase *kn_phrases(kn_language language, size_t *n);

/* Appends the translation and returns true; false, nothing appended, where there is none. */
bool kn_phrase_say(kn_buffer *out, kn_language language, const char *text, size_t n_bytes);

#endif
