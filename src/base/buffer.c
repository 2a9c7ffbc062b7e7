/* Text that grows. */
#include "base/buffer.h"

#include "base/character_columns.h"
#include "base/characters.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

bool kn_buffer_reserve(kn_buffer *buffer, size_t n_more)
{
    if (buffer->failed) return false;
    if (buffer->n + n_more + 1 <= buffer->capacity) return true;
    size_t capacity = buffer->capacity * 2 + n_more + 64;
    char *moved = kn_array_resize(buffer->bytes, capacity, 1, NULL);
    if (moved == NULL) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = moved;
    buffer->capacity = capacity;
    return true;
}

void kn_buffer_append(kn_buffer *buffer, const char *bytes, size_t n_bytes)
{
    if (!kn_buffer_reserve(buffer, n_bytes)) return;
    if (n_bytes != 0) memcpy(buffer->bytes + buffer->n, bytes, n_bytes);
    buffer->n += n_bytes;
    buffer->bytes[buffer->n] = '\0';
}

void kn_buffer_text(kn_buffer *buffer, const char *text) { kn_buffer_append(buffer, text, strlen(text)); }
void kn_buffer_char(kn_buffer *buffer, char c) { kn_buffer_append(buffer, &c, 1); }

void kn_buffer_printf(kn_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0) buffer->failed = true; /* the C library had no memory for it */
    if (n < 0 || !kn_buffer_reserve(buffer, (size_t)n)) return;
    va_start(arguments, format);
    vsnprintf(buffer->bytes + buffer->n, (size_t)n + 1, format, arguments);
    va_end(arguments);
    buffer->n += (size_t)n;
}

void kn_buffer_quoted(kn_buffer *buffer, const char *bytes, size_t n_bytes)
{
    kn_buffer_char(buffer, '"');
    for (size_t i = 0; i < n_bytes; i++) {
        if (bytes[i] == '"') kn_buffer_char(buffer, '"');
        kn_buffer_char(buffer, bytes[i]);
    }
    kn_buffer_char(buffer, '"');
}

void kn_buffer_cell(kn_buffer *buffer, const char *bytes, size_t n_bytes, char delimiter)
{
    bool quote = false;
    for (size_t i = 0; i < n_bytes && !quote; i++)
        quote = bytes[i] == delimiter || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r';
    if (quote) kn_buffer_quoted(buffer, bytes, n_bytes);
    else kn_buffer_append(buffer, bytes, n_bytes);
}

void kn_buffer_cut(kn_buffer *buffer, const char *text, size_t most_bytes)
{
    const size_t n_bytes = strlen(text), n = kn_text_cut(text, n_bytes, most_bytes);
    kn_buffer_append(buffer, text, n);
    if (n < n_bytes) kn_buffer_text(buffer, KN_ELLIPSIS);
}

static bool is_among(uint32_t character, const kn_character_range *ranges, size_t n)
{
    size_t i = 0;
    while (i < n && ranges[i].last < character) i++;
    return i < n && ranges[i].first <= character;
}

static unsigned columns_of(uint32_t character)
{
    if (character < kn_marks[0].first) return 1;
    if (is_among(character, kn_marks, sizeof kn_marks / sizeof *kn_marks)) return 0;
    return is_among(character, kn_wide_characters, sizeof kn_wide_characters / sizeof *kn_wide_characters) ? 2 : 1;
}

unsigned kn_text_columns(const char *text)
{
    unsigned n = 0;
    while (*text != '\0') n += columns_of(kn_character_next(&text));
    return n;
}

void kn_buffer_padded(kn_buffer *buffer, const char *text, unsigned n_columns)
{
    const bool is_cut = kn_text_columns(text) > n_columns;
    unsigned used = is_cut && n_columns > 0; /* by the ellipsis */
    const char *end = text;
    while (*end != '\0') {
        const char *next = end;
        const unsigned n = columns_of(kn_character_next(&next));
        if (used + n > n_columns) break;
        used += n;
        end = next;
    }
    kn_buffer_append(buffer, text, (size_t)(end - text));
    if (is_cut && n_columns > 0) kn_buffer_text(buffer, KN_ELLIPSIS);
    for (; used < n_columns; used++) kn_buffer_char(buffer, ' ');
}

void kn_buffer_clear(kn_buffer *buffer)
{
    buffer->n = 0;
    if (buffer->bytes != NULL) buffer->bytes[0] = '\0';
}

void kn_buffer_free(kn_buffer *buffer)
{
    kn_free(buffer->bytes);
    *buffer = (kn_buffer){0};
}

kn_status kn_buffer_finish(char **out, kn_buffer *buffer, kn_error *err)
{
    *out = NULL;
    kn_buffer_append(buffer, "", 0);
    if (buffer->failed) {
        kn_buffer_free(buffer);
        return kn_error_set(err, KN_RESOURCES, "out of memory");
    }
    *out = buffer->bytes;
    *buffer = (kn_buffer){0};
    return KN_OK;
}
