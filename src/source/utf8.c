/* UTF-8 by the letter of the standard; plain ASCII, which is most text, 64 bytes at a time. */
#include "source/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the valid character at `text`, or 0. Overlong forms, surrogates and what lies beyond U+10FFFF are not
 * valid (Unicode, Table 3-7). */
static size_t character_bytes(const unsigned char *text, size_t n_bytes)
{
    unsigned first = text[0];
    if (first < 0x80) return first != 0;
    if (first < 0xC2 || first > 0xF4) return 0;
    size_t n = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (n > n_bytes) return 0;
    unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high) return 0;
    for (size_t i = 2; i < n; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    return n;
}

static bool is_plain_ascii(const unsigned char *text)
{
    unsigned char high = 0, zero = 0;
    for (int i = 0; i < 64; i++) {
        high |= text[i];
        zero |= text[i] == 0;
    }
    return high < 0x80 && zero == 0;
}

size_t kn_utf8_bad_byte(const char *text, size_t n_bytes)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const uint64_t ones = UINT64_MAX / 255;
    size_t at = 0;
    while (at < n_bytes) {
        if (n_bytes - at >= 64 && is_plain_ascii(bytes + at)) {
            at += 64;
            continue;
        }
        size_t stop = at + 64 < n_bytes ? at + 64 : n_bytes;
        while (at < stop) {
            uint64_t word;
            memcpy(&word, bytes + at, 8); /* the text is padded */
            uint64_t zeros = (word - ones) & ~word;
            if (at + 8 <= n_bytes && ((word | zeros) & ones << 7) == 0) {
                at += 8;
                continue;
            }
            size_t n = character_bytes(bytes + at, n_bytes - at);
            if (n == 0) return at;
            at += n;
        }
    }
    return n_bytes;
}
