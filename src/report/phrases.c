/* Finding a sentence among patterns and saying it in another language: see phrases.h.
 *
 * The matcher goes back and tries the next end of a placeholder when the rest does not fit. Sentences are short and
 * mostly literal; a bound on the steps keeps a name full of look-alikes from taking long: such a sentence stays
 * English. */
#include "report/phrases.h"

#include <string.h>

static const kn_phrase german[] = {
#include "report/phrases_de.h"
};

enum { MAX_PLACES = 8, MAX_STEPS = 100000 };

typedef struct piece {
    char kind; /* of the placeholder: n, s or p */
    const char *bytes;
    size_t n_bytes;
} piece;

typedef struct match {
    kn_language language;
    unsigned *n_steps;
    piece pieces[MAX_PLACES];
    size_t n_pieces;
} match;

const kn_phrase *kn_phrases(kn_language language, size_t *n)
{
    *n = language == KN_LANGUAGE_DE ? sizeof german / sizeof *german : 0;
    return language == KN_LANGUAGE_DE ? german : NULL;
}

static bool say(kn_buffer *out, kn_language language, unsigned *n_steps, const char *text, size_t n_bytes);

static bool is_number(const char *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (strchr("0123456789.+-e", bytes[i]) == NULL || bytes[i] == '\0') return false;
    return true;
}

static bool piece_fits(match *found, const piece *part)
{
    if (part->kind == 'n') return is_number(part->bytes, part->n_bytes);
    return part->kind != 'p' || say(NULL, found->language, found->n_steps, part->bytes, part->n_bytes);
}

static bool fits(match *found, const char *pattern, const char *text, size_t n_bytes)
{
    while (*pattern != '\0' && *pattern != '%') {
        if (n_bytes == 0 || *pattern != *text) return false;
        pattern++;
        text++;
        n_bytes--;
    }
    if (*pattern == '\0') return n_bytes == 0;
    piece *part = &found->pieces[found->n_pieces++];
    *part = (piece){pattern[1], text, 0};
    for (part->n_bytes = 1; part->n_bytes <= n_bytes && ++*found->n_steps < MAX_STEPS; part->n_bytes++) {
        if (part->kind == 'n' && !piece_fits(found, part)) break;
        size_t n_pieces = found->n_pieces;
        if (fits(found, pattern + 2, text + part->n_bytes, n_bytes - part->n_bytes) && piece_fits(found, part))
            return true;
        found->n_pieces = n_pieces;
    }
    return false;
}

/* German writes a comma where English has a point. */
static void append_piece(kn_buffer *out, match *found, const piece *part)
{
    if (part->kind == 'p') {
        say(out, found->language, found->n_steps, part->bytes, part->n_bytes);
        return;
    }
    for (size_t i = 0; i < part->n_bytes; i++)
        kn_buffer_char(out, part->kind == 'n' && part->bytes[i] == '.' ? ',' : part->bytes[i]);
}

/* `out` NULL: only whether there is a translation. */
static bool say(kn_buffer *out, kn_language language, unsigned *n_steps, const char *text, size_t n_bytes)
{
    size_t n;
    const kn_phrase *phrases = kn_phrases(language, &n);
    for (size_t i = 0; i < n; i++) {
        match found = {.language = language, .n_steps = n_steps};
        if (!fits(&found, phrases[i].english, text, n_bytes)) continue;
        for (const char *at = phrases[i].other; out != NULL && *at != '\0'; at++) {
            if (*at == '%' && at[1] >= '1' && at[1] <= '9') append_piece(out, &found, &found.pieces[*++at - '1']);
            else kn_buffer_char(out, *at);
        }
        return true;
    }
    return false;
}

bool kn_phrase_say(kn_buffer *out, kn_language language, const char *text, size_t n_bytes)
{
    unsigned n_steps = 0;
    if (!say(NULL, language, &n_steps, text, n_bytes)) return false;
    n_steps = 0;
    return say(out, language, &n_steps, text, n_bytes);
}
