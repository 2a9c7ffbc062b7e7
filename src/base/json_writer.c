/* JSON (RFC 8259) over a buffer that remembers its failures. Bytes that are not UTF-8, as file names may have, become
 * U+FFFD: the text is JSON whatever it is told. */
#include "base/json_writer.h"

#include "base/characters.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void new_line(kn_json *json)
{
    kn_buffer_char(&json->out, '\n');
    for (unsigned i = 0; i < json->depth; i++) kn_buffer_text(&json->out, "  ");
}

static void put_control(kn_buffer *out, unsigned char c)
{
    static const char letters[] = "\bb\ff\nn\rr\tt";
    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if ((unsigned char)letters[i] == c) {
            kn_buffer_char(out, '\\');
            kn_buffer_char(out, letters[i + 1]);
            return;
        }
    kn_buffer_printf(out, "\\u%04X", c);
}

static void put_string(kn_buffer *out, const char *bytes, size_t n_bytes)
{
    kn_buffer_char(out, '"');
    for (size_t i = 0; i < n_bytes;) {
        size_t n = kn_character_bytes(bytes + i, n_bytes - i);
        if (n == 0) {
            kn_buffer_text(out, "\xEF\xBF\xBD");
        } else if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7F) { /* readers of YAML, ours too, refuse both */
            put_control(out, (unsigned char)bytes[i]);
        } else {
            if (bytes[i] == '"' || bytes[i] == '\\') kn_buffer_char(out, '\\');
            kn_buffer_append(out, bytes + i, n);
        }
        i += n != 0 ? n : 1;
    }
    kn_buffer_char(out, '"');
}

static void start(kn_json *json, const char *key)
{
    assert((key != NULL) == (json->depth > 0 && !(json->arrays >> json->depth & 1)));
    if (json->follows) kn_buffer_char(&json->out, ',');
    if (json->depth > 0) new_line(json);
    json->follows = true;
    if (key == NULL) return;
    put_string(&json->out, key, strlen(key));
    kn_buffer_text(&json->out, ": ");
}

static void open_level(kn_json *json, const char *key, bool is_array)
{
    start(json, key);
    kn_buffer_char(&json->out, is_array ? '[' : '{');
    json->depth++;
    assert(json->depth < 64);
    json->arrays = (json->arrays & ~((uint64_t)1 << json->depth)) | (uint64_t)is_array << json->depth;
    json->follows = false;
}

void kn_json_object(kn_json *json, const char *key) { open_level(json, key, false); }
void kn_json_array(kn_json *json, const char *key) { open_level(json, key, true); }

void kn_json_end(kn_json *json)
{
    assert(json->depth > 0);
    bool is_array = json->arrays >> json->depth & 1;
    json->depth--;
    if (json->follows) new_line(json);
    kn_buffer_char(&json->out, is_array ? ']' : '}');
    json->follows = true;
}

void kn_json_bytes(kn_json *json, const char *key, const char *bytes, size_t n_bytes)
{
    start(json, key);
    put_string(&json->out, bytes, n_bytes);
}

void kn_json_text(kn_json *json, const char *key, const char *text) { kn_json_bytes(json, key, text, strlen(text)); }

void kn_json_count(kn_json *json, const char *key, uint64_t count)
{
    start(json, key);
    kn_buffer_printf(&json->out, "%" PRIu64, count);
}

/* "%.15g", with whatever the locale puts between the digits as a point, at least one digit behind it, and an exponent
 * without plus and zeros. */
void kn_json_real(kn_json *json, const char *key, double value)
{
    char text[64], *at = text;
    if (!isfinite(value)) {
        kn_json_null(json, key);
        return;
    }
    start(json, key);
    snprintf(text, sizeof text, "%.15g", value);
    at += *at == '-';
    size_t n_whole = strspn(at, "0123456789");
    kn_buffer_append(&json->out, text, (size_t)(at - text) + n_whole);
    at += n_whole;
    const char *exponent = strchr(at, 'e');
    if (*at != '\0' && *at != 'e') {
        while (*at < '0' || *at > '9') at++;
        kn_buffer_char(&json->out, '.');
        kn_buffer_append(&json->out, at, strspn(at, "0123456789"));
    } else if (exponent == NULL) {
        kn_buffer_text(&json->out, ".0");
    }
    if (exponent == NULL) return;
    kn_buffer_text(&json->out, exponent[1] == '-' ? "e-" : "e");
    kn_buffer_text(&json->out, exponent + 1 + strspn(exponent + 1, "+-0"));
}

void kn_json_bool(kn_json *json, const char *key, bool value)
{
    start(json, key);
    kn_buffer_text(&json->out, value ? "true" : "false");
}

void kn_json_null(kn_json *json, const char *key)
{
    start(json, key);
    kn_buffer_text(&json->out, "null");
}

void kn_json_resume(kn_json *json, char *object)
{
    static const char end[] = "\n}\n";
    const size_t n = strlen(object), n_end = sizeof end - 1;
    assert(n > n_end && strcmp(object + n - n_end, end) == 0);
    *json = (kn_json){.out = {.bytes = object, .n = n - n_end, .capacity = n + 1}, .depth = 1, .follows = true};
}

kn_status kn_json_finish(char **out, kn_json *json, kn_error *err)
{
    assert(json->depth == 0);
    kn_buffer_char(&json->out, '\n');
    kn_status status = kn_buffer_finish(out, &json->out, err);
    *json = (kn_json){0};
    return status;
}
