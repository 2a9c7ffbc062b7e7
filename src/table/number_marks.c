/* Marks in numbers, and words for nothing. */
#include "table/number_marks.h"

#include "table/number.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static void trim(const char **bytes, size_t *n)
{
    while (*n > 0 && is_blank(**bytes)) ++*bytes, --*n;
    while (*n > 0 && is_blank((*bytes)[*n - 1])) --*n;
}

size_t kn_wide_blank_bytes(const char *bytes, size_t n)
{
    if (n >= 2 && memcmp(bytes, "\xC2\xA0", 2) == 0) return 2;
    if (n < 3 || memcmp(bytes, "\xE2\x80", 2) != 0) return 0;
    return bytes[2] == '\x89' || bytes[2] == '\xAF' ? 3 : 0;
}

size_t kn_wide_apostrophe_bytes(const char *bytes, size_t n)
{
    return n >= 3 && memcmp(bytes, "\xE2\x80\x99", 3) == 0 ? 3 : 0;
}

static size_t wide_mark(const char *at, const char *end)
{
    const size_t n = (size_t)(end - at), n_blank = kn_wide_blank_bytes(at, n);
    return n_blank > 0 ? n_blank : kn_wide_apostrophe_bytes(at, n);
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

/* Between the first group and the last: three digits each, or two as in India, 1,23,45,678. */
static bool may_stand_between(size_t n_group, size_t n_first, size_t n_before, const char *mark)
{
    if (n_before != 0 && n_group != n_before) return false;
    return n_group == 3 || (n_group == 2 && n_first <= 2 && *mark == ',');
}

/* Digits in groups, to out; returns where they end, NULL when the groups are wrong. */
static const char *take_whole(char **out, const char *at, const char *end, char thousands)
{
    const char *mark = NULL;
    size_t n_group = 0, n_first = 0, n_between = 0, n_mark = 1;
    for (; at < end; at += n_mark) {
        if (is_digit(*at)) {
            *(*out)++ = *at;
            n_group++;
            n_mark = 1;
            continue;
        }
        n_mark = thousands_mark(at, end, thousands);
        if (n_mark == 0) break;
        if (mark == NULL) {
            n_first = n_group;
            if (n_first == 0 || n_first > 3) return NULL;
        } else {
            if (memcmp(at, mark, n_mark) != 0 || !may_stand_between(n_group, n_first, n_between, mark)) return NULL;
            n_between = n_group;
        }
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

void kn_number_readings_add(kn_number_readings *readings, const char *bytes, size_t n, bool leading_zeros,
                            uint64_t n_cells)
{
    const unsigned ways = kn_number_ways(bytes, n, leading_zeros);
    for (unsigned way = KN_MARKS_PLAIN; way <= KN_MARKS_COMMA; way++) {
        char plain[KN_MARKED_BYTES];
        const char *text = way == KN_MARKS_PLAIN ? bytes : plain;
        double number;
        if (way != KN_MARKS_PLAIN && (ways & way) == 0) continue;
        const size_t n_text = way == KN_MARKS_PLAIN ? n : kn_number_plain(plain, bytes, n, (kn_marks)way);
        const kn_number_kind kind = kn_number_read(&number, text, n_text, leading_zeros);
        readings->n_numbers[way] += kind != KN_NUMBER_NONE ? n_cells : 0;
        readings->n_whole[way] += kind == KN_NUMBER_WHOLE ? n_cells : 0;
    }
}

bool kn_number_usual_marks(kn_marks *out, const kn_number_readings *readings)
{
    const uint64_t *n = readings->n_numbers;
    *out = KN_MARKS_PLAIN;
    if (n[KN_MARKS_PLAIN] >= n[KN_MARKS_POINT] && n[KN_MARKS_PLAIN] >= n[KN_MARKS_COMMA]) return true;
    if (n[KN_MARKS_POINT] != n[KN_MARKS_COMMA])
        *out = n[KN_MARKS_POINT] > n[KN_MARKS_COMMA] ? KN_MARKS_POINT : KN_MARKS_COMMA;
    return *out != KN_MARKS_PLAIN;
}

/* Not `none`: of drinks a day that is 0. */
bool kn_is_null_word(const char *bytes, size_t n)
{
    enum { LONGEST = 14 };
    static const char *const words[] = {"NA",        "N/A",     "n.a.",          "#N/A",   "<NA>",  "NaN",
                                        "null",      "missing", "unknown",       "n.d.",   "nd",    "n/d",
                                        "not done",  "no data", "not available", "k.A.",   "k. A.", "keine Angabe",
                                        "unbekannt", "NC",      "n.c.",          "#NULL!", "?",     "-",
                                        "--",        "."};
    trim(&bytes, &n);
    if (n > LONGEST) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncasecmp(words[i], bytes, n) == 0) return true;
    return false;
}
