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

/* What a message is about, for the fields of kn_error; any may be NULL or 0. Said right before kn_error_set, and like
 * the message it counts only when it is the first: KN_AT(err, .file = path, .line = line); */
typedef struct kn_place {
    const char *option, *file, *column;
    unsigned long long line, character;
} kn_place;
void kn_error_at(kn_error *err, const kn_place *place);
#define KN_AT(err, ...) kn_error_at((err), &(kn_place){__VA_ARGS__})
/* Hands on what another kn_error says, place and all, unless `err` holds a message; returns `code`. */
kn_status kn_error_pass(kn_error *err, kn_status code, const kn_error *from);

/* How a value of the user's data is shown in a message: at most 40 bytes of it, cut between characters, control
 * characters as escapes, in quotes; "(redacted)" when `redact`. Returns `buffer`. */
#define KN_SHOWN_BYTES 200
const char *kn_value_shown(char buffer[KN_SHOWN_BYTES], const char *bytes, size_t n_bytes, bool redact);

#endif
