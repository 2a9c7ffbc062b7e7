/* Error messages and how values appear in them. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VALUE_BYTES = 40 };

kn_status kn_error_set(kn_error *err, kn_status code, const char *format, ...)
{
    if (err == NULL || err->message[0] != '\0') return code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    err->code = code;
    return code;
}

static void set_text(char *out, size_t n_bytes, const char *text)
{
    if (text != NULL) snprintf(out, n_bytes, "%s", text);
}

void kn_error_at(kn_error *err, const kn_place *place)
{
    if (err == NULL || err->message[0] != '\0') return;
    set_text(err->option, sizeof err->option, place->option);
    set_text(err->file, sizeof err->file, place->file);
    set_text(err->column, sizeof err->column, place->column);
    err->line = place->line;
    err->character = place->character;
}

kn_status kn_error_pass(kn_error *err, kn_status code, const kn_error *from)
{
    if (err != NULL && err->message[0] == '\0') {
        *err = *from;
        err->code = code;
    }
    return code;
}

const char *kn_value_shown(char buffer[KN_SHOWN_BYTES], const char *bytes, size_t n_bytes, bool redact)
{
    if (redact) return strcpy(buffer, "(redacted)");
    size_t n = n_bytes < MAX_VALUE_BYTES ? n_bytes : MAX_VALUE_BYTES;
    if (n < n_bytes)
        while (n > 0 && ((unsigned char)bytes[n] & 0xC0) == 0x80) n--;
    char *out = buffer;
    *out++ = '\'';
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte < 0x20 || byte == 0x7F) {
            out += sprintf(out, "\\x%02x", byte);
        } else {
            *out++ = (char)byte;
        }
    }
    *out++ = '\'';
    if (n < n_bytes) {
        memcpy(out, "...", 3);
        out += 3;
    }
    *out = '\0';
    return buffer;
}
