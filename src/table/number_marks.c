/* Marks in numbers, and words for nothing. */
#include "table/number_marks.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void trim(const char **bytes, size_t *n)
{
    while (*n > 0 && is_blank(**bytes)) ++*bytes, --*n;
    while (*n > 0 && is_blank((*bytes)[*n - 1])) --*n;
}

/* The blanks that keep a line together, U+00A0, U+2009 and U+202F, and the apostrophe U+2019. */
static size_t wide_mark(const char *at, const char *end)
{
    if (end - at >= 2 && memcmp(at, "\xC2\xA0", 2) == 0) return 2;
    if (end - at < 3 || memcmp(at, "\xE2\x80", 2) != 0) return 0;
    return at[2] == '\x89' || at[2] == '\xAF' || at[2] == '\x99' ? 3 : 0;
}

/* Its bytes; 0: none stands there. */
static size_t thousands_mark(const char *at, const char *end, char thousands)
{
    return *at == thousands || *at == ' ' || *at == '\'' ? 1 : wide_mark(at, end);
}

bool kn_number_has_wide_mark(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (wide_mark(bytes + i, bytes + n) > 0) return true;
    return false;
}

/* Digits in groups, to out; returns where they end, NULL when the groups are wrong. */
static const char *take_whole(char **out, const char *at, const char *end, char thousands)
{
    const char *mark = NULL;
    size_t n_group = 0, n_mark = 1;
    for (; at < end; at += n_mark) {
        if (is_digit(*at)) {
            *(*out)++ = *at;
            n_group++;
            n_mark = 1;
            continue;
        }
        n_mark = thousands_mark(at, end, thousands);
        if (n_mark == 0) break;
        if (mark == NULL ? n_group == 0 || n_group > 3 : n_group != 3 || memcmp(at, mark, n_mark) != 0) return NULL;
        mark = at;
        n_group = 0;
    }
    return mark != NULL && n_group != 3 ? NULL : at;
}

size_t kn_number_plain(char out[KN_MARKED_BYTES], const char *bytes, size_t n, kn_marks marks)
{
    char decimal = marks == KN_MARKS_COMMA ? ',' : '.', thousands = marks == KN_MARKS_COMMA ? '.' : ',', *to = out;
    trim(&bytes, &n);
    const char *at = bytes, *end = bytes + n;
    if (n == 0 || n >= KN_MARKED_BYTES) return 0;
    if (*at == '-' || *at == '+') *to++ = *at++;
    const char *const digits = to;
    at = take_whole(&to, at, end, thousands);
    if (at == NULL) return 0;
    size_t n_digits = (size_t)(to - digits);
    if (at < end && *at == decimal) {
        *to++ = '.';
        for (at++; at < end && is_digit(*at); at++, n_digits++) *to++ = *at;
    }
    return at == end && n_digits > 0 ? (size_t)(to - out) : 0;
}

unsigned kn_number_ways(const char *bytes, size_t n, bool leading_zeros)
{
    unsigned ways = 0;
    for (unsigned way = KN_MARKS_POINT; way <= KN_MARKS_COMMA; way <<= 1) {
        char plain[KN_MARKED_BYTES];
        const size_t n_plain = kn_number_plain(plain, bytes, n, (kn_marks)way);
        const size_t first = n_plain > 0 && (plain[0] == '-' || plain[0] == '+') ? 1 : 0;
        const bool has_zeros = n_plain > first + 1 && plain[first] == '0' && is_digit(plain[first + 1]);
        if (n_plain > 0 && (leading_zeros || !has_zeros)) ways |= way;
    }
    return ways;
}

/* Not `none`: of drinks a day that is 0. */
bool kn_is_null_word(const char *bytes, size_t n)
{
    enum { LONGEST = 14 };
    static const char *const words[] = {
        "NA", "N/A", "n.a.",     "#N/A",    "<NA>",          "NaN",  "null",  "missing",      "unknown",   "n.d.",
        "nd", "n/d", "not done", "no data", "not available", "k.A.", "k. A.", "keine Angabe", "unbekannt", "#NULL!",
        "?",  "-",   "--",       "."};
    trim(&bytes, &n);
    if (n > LONGEST) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncasecmp(words[i], bytes, n) == 0) return true;
    return false;
}
