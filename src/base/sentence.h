/* What the program says, as an id and arguments instead of text, so that a report can say it in another language.
 *
 *   kn_buffer found = KN_SAID(KN_SAY_AT_LEAST, kn_piece_number("%u", 5), kn_piece_part(kn_said(KN_SAY_OF_ROWS)));
 *   kn_sentence_text(&text, found.bytes, NULL);                                          "at least 5 rows"
 *
 * The English of every id is in sentences.def, other languages are report/'s business. Findings of verify/ and warnings
 * are sentences. Errors are not: they end a command before there is a report, so they are English text (kn_error), and
 * what only they say (a file that is no table) is put into a sentence as text, KN_SAY_TEXT.
 *
 * A sentence lives in a kn_buffer, in bytes that only this file knows, and ends by itself: several stand one behind the
 * other. A failed allocation stays noted in the buffer (see buffer.h). */
#ifndef KN_BASE_SENTENCE_H
#define KN_BASE_SENTENCE_H

#include "base/buffer.h"
#include "base/json_writer.h"

typedef enum kn_say {
    KN_SAY_NOTHING,
#define KN_SENTENCE(id, english) KN_SAY_##id,
#include "base/sentences.def"
#undef KN_SENTENCE
    KN_N_SENTENCES
} kn_say;

/* An argument, made by one of the functions below. */
typedef struct kn_piece {
    char kind;        /* n, s or p, as in sentences.def */
    const char *text; /* of s; must live until the sentence is made */
    size_t n_bytes;
    bool is_cut; /* shown with an ellipsis behind it */
    char digits[32];
    kn_buffer part; /* of p */
} kn_piece;

kn_piece kn_piece_number(const char *format, ...) KN_PRINTF(1, 2);
kn_piece kn_piece_text(const char *text);
kn_piece kn_piece_name(const char *text); /* at most 40 bytes of it, cut between characters */
kn_piece kn_piece_part(kn_buffer part);   /* gives it away */

/* A sentence, yours to kn_buffer_free or to give away. */
#define KN_SAID(id, ...) kn_sentence_make((id), (kn_piece[]){__VA_ARGS__, {.kind = '\0'}})
kn_buffer kn_sentence_make(kn_say id, kn_piece *pieces); /* pieces: a last one without a kind */
static inline kn_buffer kn_said(kn_say id) { return kn_sentence_make(id, (kn_piece[]){{.kind = '\0'}}); }

/* Where a text says "[row|rows]", the first word is for one, the second for any other number: the last one said before
 * it, in an outer sentence if there is none. *at, which stands at the bracket, is moved behind it. */
const char *kn_word_for(size_t *n_bytes, const char **at, bool is_one);

/* Puts one more sentence, which is given away, behind those of a list. */
void kn_sentences_add(kn_buffer *list, kn_buffer sentence);
/* "first; more": `more` is given away. Nothing becomes `more`. */
void kn_sentence_join(kn_buffer *first, kn_buffer more);

typedef struct kn_catalogue {
    const char *const *texts;        /* by id, %1, %2, ... for the arguments; NULL: the English ones */
    char decimal;                    /* what stands for the point in a number */
    bool isolates;                   /* for a page: words of the user that run from right to left are isolated */
    const struct kn_catalogue *rest; /* whose texts are said where this has none of an id; NULL: the English ones */
} kn_catalogue;

const char *kn_sentence_english(kn_say id);
/* Appends the first sentence of `sentences`, in English where the catalogue is NULL, and returns where the next one
 * begins. */
const char *kn_sentence_text(kn_buffer *out, const char *sentences, const kn_catalogue *catalogue);
/* Appends the text of one sentence, which is given away. */
void kn_sentence_say(kn_buffer *out, kn_buffer sentence, const kn_catalogue *catalogue);
/* All of them as an array of objects: `id`, as in sentences.def but in small letters, and `text`, in English. */
void kn_sentences_json(kn_json *json, const char *key, const kn_buffer *list);
/* All of them in English, one per line, as kn_buffer_finish: the list is emptied. */
kn_status kn_sentences_finish(char **out, kn_buffer *list, kn_error *err);

#endif
