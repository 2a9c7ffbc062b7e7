/* Error messages and how values appear in them. */
#include "base/status.h"

#include "base/characters.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUE_BYTES = 40 };

static void set_message(kn_error *err, kn_status code, const char *format, va_list arguments)
{
    vsnprintf(err->message, sizeof err->message, format, arguments);
    kn_text_mend(err->message, sizeof err->message);
    err->code = code;
}

kn_status kn_error_set(kn_error *err, kn_status code, const char *format, ...)
{
    if (err == NULL || err->message[0] != '\0') return code;
    va_list arguments;
    va_start(arguments, format);
    set_message(err, code, format, arguments);
    va_end(arguments);
    return code;
}

static void set_text(char *out, size_t n_bytes, const char *text)
{
    const size_t n = text != NULL ? kn_text_cut(text, strlen(text), n_bytes - 1) : 0;
    if (n > 0) memcpy(out, text, n);
    out[n] = '\0';
}

kn_status kn_error_set_at(kn_error *err, kn_status code, const kn_place *place, const char *format, ...)
{
    if (err == NULL || err->message[0] != '\0') return code;
    va_list arguments;
    va_start(arguments, format);
    set_message(err, code, format, arguments);
    va_end(arguments);
    set_text(err->option, sizeof err->option, place->option);
    set_text(err->file, sizeof err->file, place->file);
    set_text(err->column, sizeof err->column, place->column);
    err->line = place->line;
    err->character = place->character;
    return code;
}

kn_status kn_error_about(kn_error *err, kn_status status, const kn_place *place)
{
    if (err == NULL || (status != KN_USAGE && status != KN_INPUT)) return status;
    if (err->option[0] == '\0') set_text(err->option, sizeof err->option, place->option);
    if (err->column[0] == '\0') set_text(err->column, sizeof err->column, place->column);
    if (err->file[0] == '\0') {
        set_text(err->file, sizeof err->file, place->file);
        err->line = place->line;
        err->character = place->character;
    }
    return status;
}

void kn_place_split(kn_place *out, char file[KN_FILE_BYTES], const char *text)
{
    *out = (kn_place){0};
    for (const char *at = text != NULL ? strchr(text, ':') : NULL; at != NULL; at = strchr(at + 1, ':')) {
        char *end;
        unsigned long long line = strtoull(at + 1, &end, 10), character = *end == ':' ? strtoull(end + 1, &end, 10) : 0;
        if (line == 0 || character == 0 || (*end != '\0' && *end != ':')) continue;
        snprintf(file, KN_FILE_BYTES, "%.*s", (int)(at - text), text);
        *out = (kn_place){.file = file, .line = line, .character = character};
        return;
    }
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
    const size_t n = kn_text_cut(bytes, n_bytes, MAX_VALUE_BYTES);
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
