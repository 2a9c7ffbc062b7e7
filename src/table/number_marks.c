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

/* Digits in groups, to out; returns where they end, NULL when the groups are wrong. */
static const char *take_whole(char **out, const char *at, const char *end, char thousands)
{
    char mark = '\0';
    size_t n_group = 0;
    for (; at < end; at++) {
        if (is_digit(*at)) {
            *(*out)++ = *at;
            n_group++;
            continue;
        }
        if (*at != thousands && *at != ' ' && *at != '\'') break;
        if (mark == '\0' ? n_group == 0 || n_group > 3 : n_group != 3 || *at != mark) return NULL;
        mark = *at;
        n_group = 0;
    }
    return mark != '\0' && n_group != 3 ? NULL : at;
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
