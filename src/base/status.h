/* How anything in kanon fails: a kn_status as the return value, and a message in the caller's kn_error.
 *
 * A function that can fail declares `kn_status status = KN_OK;`, ends with one `done:` label that cleans up and
 * returns `status`, and calls others through KN_TRY. The first message wins: nobody overwrites the text of the
 * function that knew most about the problem. */
#ifndef KN_BASE_STATUS_H
#define KN_BASE_STATUS_H

#include <kanon.h>

#if defined(__GNUC__)
#define KN_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define KN_PRINTF(format_index, first_argument)
#endif

/* Leaves through `done:` when `call` does not return KN_OK. */
#define KN_TRY(call)                                                                                                   \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != KN_OK) goto done;                                                                                \
    } while (0)

/* Leaves through `done:` with `code` and a formatted message. */
#define KN_FAIL(code, ...)                                                                                             \
    do {                                                                                                               \
        status = kn_error_set(err, (code), __VA_ARGS__);                                                               \
        goto done;                                                                                                     \
    } while (0)

/* Writes the message unless `err` is NULL or already holds one; returns `code`. */
kn_status kn_error_set(kn_error *err, kn_status code, const char *format, ...) KN_PRINTF(3, 4);

/* The same with what the message is about, for the fields of kn_error; any may be NULL or 0. The message is whole
 * without it. KN_PLACE(.file = path, .line = 12) makes one. */
typedef struct kn_place {
    const char *option, *file, *column;
    unsigned long long line, character;
} kn_place;
#define KN_FILE_BYTES 1024
#define KN_PLACE(...) (&(const kn_place){__VA_ARGS__})
kn_status kn_error_set_at(kn_error *err, kn_status code, const kn_place *place, const char *format, ...)
    KN_PRINTF(4, 5);
#define KN_FAIL_AT(code, place, ...)                                                                                   \
    do {                                                                                                               \
        status = kn_error_set_at(err, (code), place, __VA_ARGS__);                                                     \
        goto done;                                                                                                     \
    } while (0)
/* Adds what is known about the message one level up, where it does not say so itself; returns `status`. */
kn_status kn_error_about(kn_error *err, kn_status status, const kn_place *place);
/* The place in "FILE:LINE:CHARACTER" or "FILE:LINE:CHARACTER: more", as messages about policies begin; nothing in other
 * texts and NULL. `file` gets the name. */
void kn_place_split(kn_place *out, char file[KN_FILE_BYTES], const char *text);
/* Hands on what another kn_error says, place and all, unless `err` holds a message; returns `code`. */
kn_status kn_error_pass(kn_error *err, kn_status code, const kn_error *from);

/* How a value of the user's data is shown in a message: at most 40 bytes of it, cut between characters, control
 * characters as escapes, in quotes; "(redacted)" when `redact`. Returns `buffer`. */
#define KN_SHOWN_BYTES 200
const char *kn_value_shown(char buffer[KN_SHOWN_BYTES], const char *bytes, size_t n_bytes, bool redact);

#endif
