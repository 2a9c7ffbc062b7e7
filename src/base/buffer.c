/* Text that grows. */
#include "base/buffer.h"

#include <stdarg.h>
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
