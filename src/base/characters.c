/* Characters of UTF-8. */
#include "base/characters.h"

#include <string.h>

static bool goes_on(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* What the first byte of a character says; 0: it begins none. */
static size_t bytes_announced(unsigned char first)
{
    return first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

size_t kn_character_bytes(const char *at, size_t n_bytes)
{
    const unsigned char first = (unsigned char)at[0], second = n_bytes > 1 ? (unsigned char)at[1] : 0;
    const size_t n = bytes_announced(first);
    if (n == 0 || n > n_bytes) return 0;
    for (size_t i = 1; i < n; i++)
        if (!goes_on(at[i])) return 0;
    const bool too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool no_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
    return too_long || no_character ? 0 : n;
}

uint32_t kn_character_next(const char **at)
{
    const unsigned char *bytes = (const unsigned char *)*at;
    const unsigned n_more = *bytes < 0xC0 ? 0 : *bytes < 0xE0 ? 1 : *bytes < 0xF0 ? 2 : 3;
    uint32_t character = n_more == 0 ? *bytes : *bytes & (0x3Fu >> n_more);
    unsigned i = 1;
    for (; i <= n_more && (bytes[i] & 0xC0) == 0x80; i++) character = character << 6 | (bytes[i] & 0x3F);
    *at += i;
    return character;
}

bool kn_has_right_to_left(const char *text)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0x590, 0x8FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFC}, {0x10800, 0x10FFF}, {0x1E800, 0x1EFFF}};
    while (*text != '\0') {
        const uint32_t character = kn_character_next(&text);
        for (size_t i = 0; character >= ranges[0].first && i < sizeof ranges / sizeof *ranges; i++)
            if (character >= ranges[i].first && character <= ranges[i].last) return true;
    }
    return false;
}

size_t kn_text_cut(const char *text, size_t n_bytes, size_t most)
{
    if (n_bytes <= most) return n_bytes;
    while (most > 0 && goes_on(text[most])) most--;
    return most;
}

void kn_text_mend(char *text, size_t n_bytes)
{
    enum { MARK_BYTES = sizeof KN_ELLIPSIS - 1 };
    size_t n = strlen(text);
    for (size_t i = 0, n_good; i < n; i += n_good) {
        n_good = kn_character_bytes(text + i, n - i);
        if (n_good != 0) continue;
        const size_t n_announced = bytes_announced((unsigned char)text[i]);
        size_t n_broken = 1;
        while (n_broken < n_announced && goes_on(text[i + n_broken])) n_broken++;
        const size_t room = n_bytes - 1 - i, n_rest = n - i - n_broken;
        if (room < MARK_BYTES) {
            text[i] = '\0';
            return;
        }
        const size_t n_kept = kn_text_cut(text + i + n_broken, n_rest, room - MARK_BYTES);
        memmove(text + i + MARK_BYTES, text + i + n_broken, n_kept);
        memcpy(text + i, n_broken < n_announced ? KN_ELLIPSIS : "\xEF\xBF\xBD", MARK_BYTES);
        n = i + MARK_BYTES + n_kept;
        text[n] = '\0';
        n_good = MARK_BYTES;
    }
}
