/* Sentences as bytes: the id in two, then its arguments in the order of the English text, each a text with its NUL or
 * (%p) a sentence again. */
#include "base/sentence.h"

#include "base/characters.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES = 2, MAX_PIECES = 8, MAX_NAME_BYTES = 40 };

static const char *const english[] = {
    "",
#define KN_SENTENCE(id, text) text,
#include "base/sentences.def"
#undef KN_SENTENCE
};

static const char *const names[] = {
    "NOTHING",
#define KN_SENTENCE(id, text) #id,
#include "base/sentences.def"
#undef KN_SENTENCE
};

static size_t id_of(const char *sentence)
{
    return (size_t)(unsigned char)sentence[0] << 8 | (unsigned char)sentence[1];
}

const char *kn_sentence_english(kn_say id) { return english[id]; }

kn_piece kn_piece_number(const char *format, ...)
{
    kn_piece piece = {.kind = 'n'};
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(piece.digits, sizeof piece.digits, format, arguments);
    va_end(arguments);
    assert(n > 0 && (size_t)n < sizeof piece.digits);
    piece.n_bytes = n > 0 ? (size_t)n : 0;
    return piece;
}

kn_piece kn_piece_text(const char *text) { return (kn_piece){.kind = 's', .text = text, .n_bytes = strlen(text)}; }

kn_piece kn_piece_name(const char *text)
{
    const size_t n_bytes = strlen(text), n = kn_text_cut(text, n_bytes, MAX_NAME_BYTES);
    return (kn_piece){.kind = 's', .text = text, .n_bytes = n, .is_cut = n < n_bytes};
}

kn_piece kn_piece_part(kn_buffer part) { return (kn_piece){.kind = 'p', .part = part}; }

void kn_sentences_add(kn_buffer *list, kn_buffer sentence)
{
    kn_buffer_append(list, sentence.bytes, sentence.n);
    list->failed |= sentence.failed;
    kn_buffer_free(&sentence);
}

kn_buffer kn_sentence_make(kn_say id, kn_piece *pieces)
{
    kn_buffer out = {0};
    const char bytes[ID_BYTES] = {(char)(id >> 8), (char)id};
    kn_buffer_append(&out, bytes, ID_BYTES);
    for (const char *at = strchr(english[id], '%'); at != NULL; at = strchr(at + 1, '%'), pieces++) {
        assert(pieces->kind == at[1]);
        if (pieces->kind == 'p') kn_sentences_add(&out, pieces->part);
        else kn_buffer_append(&out, pieces->kind == 'n' ? pieces->digits : pieces->text, pieces->n_bytes);
        if (pieces->is_cut) kn_buffer_text(&out, KN_ELLIPSIS);
        if (pieces->kind != 'p') kn_buffer_char(&out, '\0');
    }
    assert(pieces->kind == '\0');
    return out;
}

void kn_sentence_join(kn_buffer *first, kn_buffer more)
{
    *first = first->n == 0 && !first->failed ? more : KN_SAID(KN_SAY_BOTH, kn_piece_part(*first), kn_piece_part(more));
}

/* Where each argument begins (n_pieces of them), and what stands behind the last one. */
static const char *find_pieces(const char **pieces, char *kinds, const char *sentence)
{
    const char *nested[MAX_PIECES], *text = english[id_of(sentence)];
    char nested_kinds[MAX_PIECES];
    size_t n = 0;
    sentence += ID_BYTES;
    for (const char *at = strchr(text, '%'); at != NULL; at = strchr(at + 1, '%'), n++) {
        assert(n < MAX_PIECES);
        pieces[n] = sentence;
        kinds[n] = at[1];
        sentence = at[1] == 'p' ? find_pieces(nested, nested_kinds, sentence) : sentence + strlen(sentence) + 1;
    }
    return sentence;
}

const char *kn_word_for(size_t *n_bytes, const char **at, bool is_one)
{
    const char *one = *at + 1, *many = strchr(one, '|') + 1, *end = strchr(many, ']');
    *n_bytes = (size_t)(is_one ? many - 1 - one : end - many);
    *at = end + 1;
    return is_one ? one : many;
}

static const char *say(kn_buffer *out, const char *sentences, const kn_catalogue *catalogue, bool *is_one);

static void say_piece(kn_buffer *out, const char *piece, char kind, const kn_catalogue *catalogue, bool *is_one)
{
    const bool isolate = kind == 's' && catalogue != NULL && catalogue->isolates && kn_has_right_to_left(piece);
    if (kind == 'n') *is_one = strcmp(piece, "1") == 0;
    if (isolate) kn_buffer_text(out, KN_ISOLATE);
    if (kind == 'p') say(out, piece, catalogue, is_one);
    else if (kind == 's' || catalogue == NULL) kn_buffer_text(out, piece);
    else
        for (; *piece != '\0'; piece++) kn_buffer_char(out, *piece == '.' ? catalogue->decimal : *piece);
    if (isolate) kn_buffer_text(out, KN_ISOLATE_END);
}

/* NULL: the English text. */
static const char *text_of(const kn_catalogue *catalogue, size_t id)
{
    for (; catalogue != NULL; catalogue = catalogue->rest)
        if (catalogue->texts != NULL && catalogue->texts[id] != NULL) return catalogue->texts[id];
    return NULL;
}

static const char *say(kn_buffer *out, const char *sentences, const kn_catalogue *catalogue, bool *is_one)
{
    const char *pieces[MAX_PIECES], *end;
    char kinds[MAX_PIECES];
    size_t id = id_of(sentences), next = 0, n_word;
    end = find_pieces(pieces, kinds, sentences);
    const char *own = text_of(catalogue, id);
    const bool is_english = own == NULL;
    for (const char *at = is_english ? english[id] : own; *at != '\0';) {
        if (*at == '[') {
            const char *word = kn_word_for(&n_word, &at, *is_one);
            kn_buffer_append(out, word, n_word);
        } else if (*at == '%') {
            const size_t piece = is_english ? next++ : (size_t)(at[1] - '1');
            say_piece(out, pieces[piece], kinds[piece], catalogue, is_one);
            at += 2;
        } else kn_buffer_char(out, *at++);
    }
    return end;
}

const char *kn_sentence_text(kn_buffer *out, const char *sentences, const kn_catalogue *catalogue)
{
    bool is_one = false;
    return say(out, sentences, catalogue, &is_one);
}

void kn_sentence_say(kn_buffer *out, kn_buffer sentence, const kn_catalogue *catalogue)
{
    if (sentence.failed) out->failed = true;
    else kn_sentence_text(out, sentence.bytes, catalogue);
    kn_buffer_free(&sentence);
}

static void put_id(kn_json *json, const char *sentence)
{
    char id[64];
    size_t n = 0;
    for (const char *at = names[id_of(sentence)]; *at != '\0' && n + 1 < sizeof id; at++)
        id[n++] = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
    kn_json_bytes(json, "id", id, n);
}

void kn_sentences_json(kn_json *json, const char *key, const kn_buffer *list)
{
    kn_buffer text = {.failed = list->failed};
    kn_json_array(json, key);
    for (const char *at = list->bytes; !text.failed && list->n > 0 && at < list->bytes + list->n;) {
        kn_json_object(json, NULL);
        put_id(json, at);
        at = kn_sentence_text(&text, at, NULL);
        kn_json_bytes(json, "text", text.bytes, text.n);
        kn_json_end(json);
        kn_buffer_clear(&text);
    }
    kn_json_end(json);
    json->out.failed |= text.failed;
    kn_buffer_free(&text);
}

kn_status kn_sentences_finish(char **out, kn_buffer *list, kn_error *err)
{
    kn_buffer text = {.failed = list->failed};
    for (const char *at = list->bytes; !text.failed && list->n > 0 && at < list->bytes + list->n;) {
        at = kn_sentence_text(&text, at, NULL);
        kn_buffer_char(&text, '\n');
    }
    kn_buffer_free(list);
    return kn_buffer_finish(out, &text, err);
}
