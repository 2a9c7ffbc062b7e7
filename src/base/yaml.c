/* Reading by recursive descent, one line at a time; blocks nest by the column of their first character. All memory is
 * ours, so a failed allocation is a status like everywhere else. */
#include "base/yaml.h"

#include "base/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 40 };

typedef struct reader {
    const char *path, *at, *end;
    const char *line_start;
    unsigned line;       /* from 1 */
    const char *counted; /* a place in this line, and its column: a long line is counted once */
    unsigned counted_column;
    size_t flow_indent; /* what is between brackets is indented at least so far */
    unsigned depth;     /* of nodes inside nodes */
    kn_error *err;
} reader;

static unsigned column_of(reader *in, const char *at)
{
    if (in->counted < in->line_start || in->counted > at) {
        in->counted = in->line_start;
        in->counted_column = 1;
    }
    for (; in->counted < at; in->counted++) in->counted_column += ((unsigned char)*in->counted & 0xC0) != 0x80;
    return in->counted_column;
}

static kn_status refuse(reader *in, unsigned line, unsigned column, const char *why)
{
    return kn_error_set_at(in->err, KN_USAGE, KN_PLACE(.file = in->path, .line = line, .character = column),
                           "%.1000s:%u:%u: %s", in->path, line, column, why);
}

static kn_status refuse_here(reader *in, const char *why) { return refuse(in, in->line, column_of(in, in->at), why); }

/* --- Characters --------------------------------------------------------------------------------------------------- */

static bool at_end(const reader *in) { return in->at == in->end; }
static bool at_line_end(const reader *in) { return at_end(in) || *in->at == '\n' || *in->at == '\r'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_flow(char c) { return c != '\0' && strchr(",[]{}", c) != NULL; }
/* The character behind the present one; a line end where there is none. */
static char behind(const reader *in) { return in->at + 1 < in->end ? in->at[1] : '\n'; }
static bool is_gap(char c) { return is_blank(c) || c == '\n' || c == '\r'; }

static void next_line(reader *in)
{
    if (in->end - in->at > 1 && in->at[0] == '\r' && in->at[1] == '\n') in->at++;
    in->at++;
    in->line++;
    in->line_start = in->at;
}

static void skip_blanks(reader *in)
{
    while (!at_end(in) && is_blank(*in->at)) in->at++;
}

/* Blanks and a comment, which needs a blank before it. */
static void skip_to_line_end(reader *in)
{
    skip_blanks(in);
    if (!at_end(in) && *in->at == '#' && (in->at == in->line_start || is_blank(in->at[-1])))
        while (!at_line_end(in)) in->at++;
}

/* To the first character of the next line that has content. */
static void skip_empty_lines(reader *in)
{
    for (skip_to_line_end(in); !at_end(in) && at_line_end(in); skip_to_line_end(in)) next_line(in);
}

/* "---" or "..." at the beginning of a line. */
static bool at_marker(const reader *in, const char *marker)
{
    return in->at == in->line_start && in->end - in->at >= 3 && memcmp(in->at, marker, 3) == 0 &&
           (in->end - in->at == 3 || is_gap(in->at[3]));
}

static bool at_document_end(const reader *in) { return at_end(in) || at_marker(in, "---") || at_marker(in, "..."); }

/* --- Nodes -------------------------------------------------------------------------------------------------------- */

static kn_status new_node(kn_yaml **out, reader *in, kn_yaml_kind kind)
{
    kn_status status = KN_OK;
    kn_error *err = in->err;
    KN_NEW(*out, 1);
    **out = (kn_yaml){.kind = kind, .line = in->line, .column = column_of(in, in->at)};
done:
    return status;
}

static kn_status set_text(kn_yaml *scalar, const reader *in, const char *bytes, size_t n_bytes)
{
    scalar->text = kn_string_copy(bytes, n_bytes, in->err);
    scalar->n_bytes = n_bytes;
    return scalar->text != NULL ? KN_OK : KN_RESOURCES;
}

static kn_status nothing(kn_yaml **out, reader *in)
{
    kn_status status = KN_OK;
    KN_TRY(new_node(out, in, KN_YAML_SCALAR));
    (*out)->is_plain = true;
    KN_TRY(set_text(*out, in, "", 0));
done:
    return status;
}

void kn_yaml_free(kn_yaml *node)
{
    while (node != NULL) {
        kn_yaml *next = node->next;
        kn_yaml_free(node->first);
        kn_yaml_free(node->value);
        kn_free(node->text);
        kn_free(node);
        node = next;
    }
}

bool kn_yaml_is_nothing(const kn_yaml *node)
{
    return node == NULL || (node->kind == KN_YAML_SCALAR && node->is_plain && node->n_bytes == 0);
}

static bool has_text(const kn_yaml *scalar, const char *bytes, size_t n_bytes)
{
    return scalar->n_bytes == n_bytes && memcmp(scalar->text, bytes, n_bytes) == 0;
}

const kn_yaml *kn_yaml_find(const kn_yaml *mapping, const char *key)
{
    for (const kn_yaml *one = mapping->first; one != NULL; one = one->next)
        if (has_text(one, key, strlen(key))) return one->value;
    return NULL;
}

/* By text, then by place. */
static int by_text(const void *a, const void *b)
{
    const kn_yaml *x = *(const kn_yaml *const *)a, *y = *(const kn_yaml *const *)b;
    size_t n = x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes;
    int order = memcmp(x->text, y->text, n);
    if (order != 0) return order;
    if (x->n_bytes != y->n_bytes) return x->n_bytes < y->n_bytes ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static kn_status refuse_repeats(reader *in, const kn_yaml *mapping)
{
    kn_status status = KN_OK;
    kn_error *err = in->err;
    const kn_yaml **keys = NULL, *second = NULL;
    size_t n = 0;
    for (const kn_yaml *key = mapping->first; key != NULL; key = key->next) n++;
    KN_NEW(keys, n);
    n = 0;
    for (const kn_yaml *key = mapping->first; key != NULL; key = key->next) keys[n++] = key;
    qsort(keys, n, sizeof *keys, by_text);
    for (size_t i = 1; i < n; i++) {
        if (!has_text(keys[i], keys[i - 1]->text, keys[i - 1]->n_bytes)) continue;
        bool is_earlier = second == NULL || keys[i]->line < second->line ||
                          (keys[i]->line == second->line && keys[i]->column < second->column);
        if (is_earlier) second = keys[i];
    }
    if (second != NULL) {
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.file = in->path, .line = second->line, .character = second->column),
                   "%.1000s:%u:%u: the key '%.40s' stands here for the second time; keep one of the two", in->path,
                   second->line, second->column, second->text);
    }
done:
    kn_free(keys);
    return status;
}

/* --- Scalars ------------------------------------------------------------------------------------------------------ */

static size_t put_character(char *out, uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, point >>= 6) out[i] = (char)(0x80 | (point & 63));
    out[0] = (char)((0xF00u >> n & 0xFF) | point);
    return n;
}

/* The character that \xE4, \u20AC and the like stand for; `in` is behind the letter. */
static bool read_code(uint32_t *point, reader *in, int n_digits)
{
    *point = 0;
    for (int i = 0; i < n_digits; i++, in->at++) {
        static const char digits[] = "0123456789abcdef";
        char c = at_end(in) ? '\0' : *in->at;
        const char *digit = strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);
        if (c == '\0' || digit == NULL) return false;
        *point = *point << 4 | (uint32_t)(digit - digits);
    }
    return *point <= 0x10FFFF && (*point < 0xD800 || *point > 0xDFFF);
}

/* What follows a backslash. */
static kn_status read_escape(kn_buffer *out, reader *in)
{
    static const char letters[] = "0\0a\ab\bt\tn\nv\vf\fr\re\x1B \x20\"\"//\\\\";
    const char *from = in->at - 1;
    char letter = at_line_end(in) ? '\0' : *in->at++;
    for (size_t i = 0; letter != '\0' && i + 1 < sizeof letters; i += 2)
        if (letters[i] == letter) {
            kn_buffer_char(out, letters[i + 1]);
            return KN_OK;
        }
    uint32_t point;
    char bytes[4];
    int n_digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (n_digits == 0 || !read_code(&point, in, n_digits))
        return refuse(in, in->line, column_of(in, from),
                      "no such escape in double quotes; a backslash is written \\\\, or use single quotes");
    kn_buffer_append(out, bytes, put_character(bytes, point));
    return KN_OK;
}

static kn_status read_quoted(kn_yaml **out, reader *in)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    char quote = *in->at;
    unsigned opened = column_of(in, in->at);
    in->at++;
    KN_TRY(new_node(out, in, KN_YAML_SCALAR));
    for (;;) {
        if (at_line_end(in))
            KN_TRY(refuse(in, in->line, opened, "this quote is not closed on its line; close it, or join the lines"));
        char c = *in->at++;
        if (c == '\\' && quote == '"') {
            KN_TRY(read_escape(&text, in));
        } else if (c != quote) {
            kn_buffer_char(&text, c);
        } else if (quote == '\'' && !at_end(in) && *in->at == '\'') {
            kn_buffer_char(&text, *in->at++);
        } else {
            break;
        }
    }
    (*out)->n_bytes = text.n;
    KN_TRY(kn_buffer_finish(&(*out)->text, &text, in->err));
    if (!at_line_end(in) && !is_blank(*in->at) && *in->at != ':' && !is_flow(*in->at))
        KN_TRY(
            refuse_here(in, "text behind a closing quote; quote all of it, with the quotes inside doubled or escaped"));
done:
    kn_buffer_free(&text);
    return status;
}

/* Why a plain scalar cannot start here, or NULL. */
static const char *why_no_plain(const reader *in, bool in_flow)
{
    char c = *in->at;
    bool alone = is_gap(behind(in)) || (in_flow && is_flow(behind(in)));
    switch (c) {
    case '&': return "anchors (&name) are not allowed in a policy; write it out";
    case '*': return "aliases (*name) are not allowed in a policy; write it out, or quote a text that starts with *";
    case '!': return "tags (!name) are not allowed in a policy; quote a text that starts with !";
    case '|':
    case '>': return "blocks of text (| and >) are not allowed in a policy; write the text in quotes on one line";
    case '%':
    case '@':
    case '`': return "a text that starts with %, @ or ` needs quotes";
    case '#': return "a value that starts with # needs quotes; a comment needs a blank before it";
    case '?': return alone ? "keys with ? are not allowed in a policy; write 'key: value'" : NULL;
    case '-':
        return alone ? "a list starts on a line of its own, or is written [a, b]; a text that is a dash needs quotes"
                     : NULL;
    case ':': return alone ? "the key before this ':' is missing" : NULL;
    default: return is_flow(c) ? "this bracket or comma does not belong here; quote a text that starts with it" : NULL;
    }
}

static bool ends_plain(const reader *in, bool in_flow)
{
    if (at_line_end(in)) return true;
    char c = *in->at;
    if (in_flow && is_flow(c)) return true;
    if (c == ':') return is_gap(behind(in)) || (in_flow && is_flow(behind(in)));
    return c == '#' && is_blank(in->at[-1]);
}

static kn_status read_plain(kn_yaml **out, reader *in, bool in_flow)
{
    kn_status status = KN_OK;
    const char *why = why_no_plain(in, in_flow), *from = in->at, *last;
    if (why != NULL) KN_TRY(refuse_here(in, why));
    KN_TRY(new_node(out, in, KN_YAML_SCALAR));
    (*out)->is_plain = true;
    while (!ends_plain(in, in_flow)) in->at++;
    for (last = in->at; last > from && is_blank(last[-1]);) last--;
    in->at = last; /* a comment needs the blank before it */
    KN_TRY(set_text(*out, in, from, (size_t)(last - from)));
done:
    return status;
}

static kn_status read_scalar(kn_yaml **out, reader *in, bool in_flow)
{
    return *in->at == '"' || *in->at == '\'' ? read_quoted(out, in) : read_plain(out, in, in_flow);
}

/* --- Flow: [a, b] and {a: b} -------------------------------------------------------------------------------------- */

static kn_status read_flow(kn_yaml **out, reader *in);

/* Over line ends too. */
static kn_status skip_in_flow(reader *in, const kn_yaml *opened)
{
    const char *line = in->line_start;
    skip_empty_lines(in);
    if (at_document_end(in)) return refuse(in, opened->line, opened->column, "this bracket is not closed");
    if (in->line_start != line && (size_t)(in->at - in->line_start) < in->flow_indent)
        return refuse_here(in, "a line between brackets must be indented deeper than the key or dash before them");
    return KN_OK;
}

static kn_status read_flow_node(kn_yaml **out, reader *in)
{
    return *in->at == '[' || *in->at == '{' ? read_flow(out, in) : read_scalar(out, in, true);
}

/* The value behind `key`, if there is a colon; nothing otherwise. Behind quotes the colon needs no blank. */
static kn_status read_flow_value(kn_yaml *key, reader *in, const kn_yaml *opened)
{
    kn_status status = KN_OK;
    skip_blanks(in);
    if (!at_end(in) && *in->at == ':') {
        if (key->kind != KN_YAML_SCALAR) KN_TRY(refuse_here(in, "a list or a mapping cannot be a key"));
        in->at++;
        KN_TRY(skip_in_flow(in, opened));
        if (*in->at != ',' && *in->at != ']' && *in->at != '}') return read_flow_node(&key->value, in);
    }
    KN_TRY(nothing(&key->value, in));
done:
    return status;
}

/* One item of a list; "key: value" there is a mapping of its own. */
static kn_status read_item(kn_yaml **out, reader *in, const kn_yaml *opened)
{
    kn_status status = KN_OK;
    kn_yaml *pair = NULL;
    KN_TRY(read_flow_node(out, in));
    skip_blanks(in);
    if (at_end(in) || *in->at != ':') goto done;
    KN_TRY(new_node(&pair, in, KN_YAML_MAPPING));
    pair->line = (*out)->line;
    pair->column = (*out)->column;
    pair->first = *out;
    *out = pair;
    KN_TRY(read_flow_value(pair->first, in, opened));
done:
    return status;
}

static kn_status read_flow(kn_yaml **out, reader *in)
{
    kn_status status = KN_OK;
    bool is_list = *in->at == '[';
    char closing = is_list ? ']' : '}';
    KN_TRY(new_node(out, in, is_list ? KN_YAML_LIST : KN_YAML_MAPPING));
    if (++in->depth > MAX_DEPTH) KN_TRY(refuse_here(in, "too many brackets inside each other"));
    in->at++;
    for (kn_yaml **next = &(*out)->first;; next = &(*next)->next) {
        KN_TRY(skip_in_flow(in, *out));
        if (*in->at == closing) break;
        KN_TRY(is_list ? read_item(next, in, *out) : read_flow_node(next, in));
        if (!is_list) KN_TRY(read_flow_value(*next, in, *out));
        if (!is_list && (*next)->kind != KN_YAML_SCALAR)
            KN_TRY(refuse(in, (*next)->line, (*next)->column, "a list or a mapping cannot be a key"));
        KN_TRY(skip_in_flow(in, *out));
        if (*in->at == closing) break;
        if (*in->at != ',')
            KN_TRY(refuse_here(in, is_list ? "',' or ']' is missing here" : "',' or '}' is missing here"));
        in->at++;
    }
    in->at++;
    in->depth--;
    if (!is_list) KN_TRY(refuse_repeats(in, *out));
done:
    return status;
}

/* --- Blocks ------------------------------------------------------------------------------------------------------- */

static kn_status read_block(kn_yaml **out, reader *in);

/* To the next content; `indent` is then its column from 0. */
static kn_status next_content(reader *in, size_t *indent)
{
    kn_status status = KN_OK;
    skip_empty_lines(in);
    for (const char *c = in->line_start; c < in->at; c++)
        if (*c == '\t' && !at_end(in))
            KN_TRY(refuse(in, in->line, column_of(in, c), "a tab cannot indent; use blanks"));
    *indent = (size_t)(in->at - in->line_start);
done:
    return status;
}

/* Nothing but a comment may follow a value on its line. */
static kn_status end_line(reader *in)
{
    skip_to_line_end(in);
    if (at_line_end(in)) return KN_OK;
    return refuse_here(in, *in->at == ':' ? "a second ':' in one line; a text with ': ' in it needs quotes"
                                          : "text behind a value; quote all of it, or begin a new line");
}

static bool at_dash(const reader *in) { return !at_end(in) && *in->at == '-' && is_gap(behind(in)); }

/* After "key:" or "-". On the same line, or as a block that stands deeper than `indent`; a list as the value of a key
 * may stand as deep as the key. */
static kn_status read_below(kn_yaml **out, reader *in, size_t indent, bool of_key)
{
    kn_status status = KN_OK;
    reader before;
    size_t deeper;
    in->flow_indent = indent + 1;
    skip_to_line_end(in);
    if (!at_line_end(in)) {
        if (!of_key) return read_block(out, in);
        KN_TRY(*in->at == '[' || *in->at == '{' ? read_flow(out, in) : read_scalar(out, in, false));
        return end_line(in);
    }
    before = *in;
    KN_TRY(next_content(in, &deeper));
    if (!at_document_end(in) && (deeper > indent || (of_key && deeper == indent && at_dash(in))))
        return read_block(out, in);
    *in = before;
    if (!of_key) KN_TRY(refuse_here(in, "an item without a value; fill it in, or remove the dash"));
    KN_TRY(nothing(out, in));
done:
    return status;
}

/* Does another entry of the block at `indent` follow? */
static kn_status goes_on(bool *out, reader *in, size_t indent)
{
    kn_status status = KN_OK;
    size_t found;
    *out = false;
    KN_TRY(next_content(in, &found));
    if (at_document_end(in) || found < indent) goto done;
    if (found > indent)
        KN_TRY(refuse_here(in, "this line is indented deeper than what it could belong to; a value "
                               "stands on one line, and what belongs together in one column"));
    *out = true;
done:
    return status;
}

static kn_status read_list(kn_yaml *list, reader *in, size_t indent)
{
    kn_status status = KN_OK;
    bool more = true;
    for (kn_yaml **next = &list->first; more && at_dash(in); next = &(*next)->next) {
        in->at++;
        KN_TRY(read_below(next, in, indent, false));
        KN_TRY(goes_on(&more, in, indent));
    }
done:
    return status;
}

/* `*next` is the first key, read already, and its colon comes next. */
static kn_status read_mapping(kn_yaml *mapping, reader *in, size_t indent)
{
    kn_status status = KN_OK;
    bool more = true;
    for (kn_yaml **next = &mapping->first; more; next = &(*next)->next) {
        if (*next == NULL) {
            if (at_dash(in)) KN_TRY(refuse_here(in, "an item of a list among the keys of a mapping; indent it"));
            KN_TRY(*in->at == '[' || *in->at == '{' ? read_flow(next, in) : read_scalar(next, in, false));
            skip_blanks(in);
        }
        if ((*next)->kind != KN_YAML_SCALAR)
            KN_TRY(refuse(in, (*next)->line, (*next)->column, "a list or a mapping cannot be a key"));
        if (at_line_end(in) || *in->at != ':' || !is_gap(behind(in)))
            KN_TRY(refuse(in, (*next)->line, (*next)->column, "a key needs ': ' behind it"));
        in->at++;
        KN_TRY(read_below(&(*next)->value, in, indent, true));
        KN_TRY(goes_on(&more, in, indent));
    }
    KN_TRY(refuse_repeats(in, mapping));
done:
    return status;
}

/* A list, a mapping or a single value that starts here. */
static kn_status read_block(kn_yaml **out, reader *in)
{
    kn_status status = KN_OK;
    size_t indent = (size_t)(in->at - in->line_start);
    kn_yaml *value = NULL;
    if (++in->depth > MAX_DEPTH) KN_TRY(refuse_here(in, "too many blocks inside each other"));
    if (at_dash(in)) {
        KN_TRY(new_node(out, in, KN_YAML_LIST));
        KN_TRY(read_list(*out, in, indent));
    } else {
        reader start = *in;
        KN_TRY(*in->at == '[' || *in->at == '{' ? read_flow(&value, in) : read_scalar(&value, in, false));
        skip_blanks(in);
        if (!at_line_end(in) && *in->at == ':' && is_gap(behind(in))) {
            KN_TRY(new_node(out, &start, KN_YAML_MAPPING));
            (*out)->first = value;
            value = NULL;
            KN_TRY(read_mapping(*out, in, indent));
        } else {
            *out = value;
            value = NULL;
            KN_TRY(end_line(in));
        }
    }
    in->depth--;
done:
    kn_yaml_free(value);
    return status;
}

/* --- The document ------------------------------------------------------------------------------------------------- */

/* What no text has, wherever it stands. */
static kn_status check_characters(reader in)
{
    for (; !at_end(&in);) {
        unsigned char c = (unsigned char)*in.at;
        size_t n_left = (size_t)(in.end - in.at), n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        if (at_line_end(&in)) {
            next_line(&in);
            continue;
        }
        if ((c < 0x20 && c != '\t') || c == 0x7F) return refuse_here(&in, "a control character; remove it");
        bool good = n > 0 && n <= n_left && c < 0xF5;
        for (size_t i = 1; good && i < n; i++) good = ((unsigned char)in.at[i] & 0xC0) == 0x80;
        if (good && n > 2) { /* too long, a surrogate, or beyond Unicode */
            unsigned char second = (unsigned char)in.at[1];
            good = !((c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) ||
                     (c == 0xF4 && second > 0x8F));
        }
        if (!good) return refuse_here(&in, "this is not UTF-8; save the file as UTF-8");
        in.at += n;
    }
    return KN_OK;
}

static kn_status read_document(kn_yaml **out, reader *in)
{
    kn_status status = KN_OK;
    size_t indent;
    KN_TRY(next_content(in, &indent));
    if (at_marker(in, "---")) {
        in->at += 3;
        KN_TRY(end_line(in));
        KN_TRY(next_content(in, &indent));
    }
    if (!at_end(in) && *in->at == '%' && indent == 0)
        KN_TRY(refuse_here(in, "directives (%NAME) are not allowed in a policy; remove the line"));
    if (!at_document_end(in)) KN_TRY(read_block(out, in));
    KN_TRY(next_content(in, &indent));
    if (at_marker(in, "...")) {
        in->at += 3;
        KN_TRY(end_line(in));
        KN_TRY(next_content(in, &indent));
    } else if (!at_document_end(in)) {
        KN_TRY(refuse_here(in, "this line does not belong to what stands above it; indent it like its neighbours"));
    }
    if (!at_end(in))
        KN_TRY(refuse_here(in, "a second YAML document starts here; a policy is one document, so join the two and "
                               "remove the '---' between them"));
done:
    return status;
}

kn_status kn_yaml_parse(kn_yaml **out, const char *text, size_t n_bytes, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    reader in = {.path = path, .at = text, .end = text + n_bytes, .line_start = text, .line = 1, .err = err};
    *out = NULL;
    if (n_bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) in.at = in.line_start = text + 3;
    KN_TRY(check_characters(in));
    KN_TRY(read_document(out, &in));
done:
    if (status != KN_OK) {
        kn_yaml_free(*out);
        *out = NULL;
    }
    return status;
}

void kn_yaml_put(kn_buffer *out, const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789", also[] = "-.%";
    bool is_plain = text[0] != '\0' && strchr(letters, text[0]) != NULL;
    for (const char *c = text; *c != '\0'; c++) is_plain &= strchr(letters, *c) != NULL || strchr(also, *c) != NULL;
    if (is_plain) {
        kn_buffer_text(out, text);
        return;
    }
    kn_buffer_char(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) kn_buffer_printf(out, "\\x%02x", (unsigned char)*c);
        else {
            if (*c == '"' || *c == '\\') kn_buffer_char(out, '\\');
            kn_buffer_char(out, *c);
        }
    }
    kn_buffer_char(out, '"');
}
