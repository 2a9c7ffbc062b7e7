/* Numbers inside texts; see the header. */
#include "table/natural.h"

#include "table/number_marks.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct number {
    size_t at, n_bytes; /* of all of it */
    bool is_negative;
    double whole, fraction; /* apart: 0.1 more or less is not lost beside a large number */
} number;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t n_digits(const char *bytes, size_t n, size_t at)
{
    size_t end = at;
    while (end < n && is_digit(bytes[end])) end++;
    return end - at;
}

/* The first number at or behind `at`; false: there is none. */
static bool next_number(number *out, const char *bytes, size_t n, size_t at)
{
    size_t begin = at, end;
    while (begin < n && !is_digit(bytes[begin])) begin++;
    if (begin == n) return false;
    *out = (number){.at = begin};
    out->is_negative = begin > at && bytes[begin - 1] == '-' && (begin == 1 || bytes[begin - 2] == ' ');
    if (out->is_negative) out->at--;
    for (end = begin; end < n; end++) {
        const bool thousands = bytes[end] == ',' && end > begin && n_digits(bytes, n, end + 1) == 3;
        if (is_digit(bytes[end])) out->whole = out->whole * 10 + (bytes[end] - '0');
        else if (!thousands) break;
    }
    if (end + 1 < n && (bytes[end] == '.' || bytes[end] == ',') && is_digit(bytes[end + 1])) {
        double unit = 0.1;
        for (end++; end < n && is_digit(bytes[end]); end++, unit /= 10) out->fraction += unit * (bytes[end] - '0');
    }
    out->n_bytes = end - out->at;
    return true;
}

/* --- Amounts of money --------------------------------------------------------------------------------------------- */

// clang-format off
/* As they stand before or behind a number, the longer of two that begin alike first; letters large or small. */
#define KN_SIGN(text) {text, sizeof text - 1}
static const struct { const char *text; size_t n; } currencies[] = {
    KN_SIGN("$"), KN_SIGN("€"), KN_SIGN("£"), KN_SIGN("¥"), KN_SIGN("₹"), KN_SIGN("₽"), KN_SIGN("₺"), KN_SIGN("₩"),
    KN_SIGN("₪"), KN_SIGN("₴"), KN_SIGN("US$"), KN_SIGN("CA$"), KN_SIGN("AU$"), KN_SIGN("NZ$"), KN_SIGN("HK$"),
    KN_SIGN("C$"), KN_SIGN("A$"), KN_SIGN("R$"), KN_SIGN("S$"), KN_SIGN("euros"), KN_SIGN("euro"), KN_SIGN("eur"),
    KN_SIGN("usd"), KN_SIGN("gbp"), KN_SIGN("chf"), KN_SIGN("jpy"), KN_SIGN("cad"), KN_SIGN("aud"), KN_SIGN("nzd"),
    KN_SIGN("sek"), KN_SIGN("nok"), KN_SIGN("dkk"), KN_SIGN("pln"), KN_SIGN("czk"), KN_SIGN("huf"), KN_SIGN("ron"),
    KN_SIGN("inr"), KN_SIGN("cny"), KN_SIGN("brl"), KN_SIGN("mxn"), KN_SIGN("zar"), KN_SIGN("try"), KN_SIGN("rub"),
    KN_SIGN("zł"), KN_SIGN("kč"), KN_SIGN("kr."), KN_SIGN("kr"), KN_SIGN("fr."), KN_SIGN("rs."), KN_SIGN("rs")};
#undef KN_SIGN
// clang-format on
enum { N_CURRENCIES = sizeof currencies / sizeof *currencies };

/* Where the rest begins with one, or is one: its number; N_CURRENCIES: none. */
static size_t find_currency(const char *bytes, size_t n, bool is_all)
{
    for (size_t i = 0; i < N_CURRENCIES; i++)
        if ((is_all ? n == currencies[i].n : n > currencies[i].n) &&
            strncasecmp(bytes, currencies[i].text, currencies[i].n) == 0)
            return i;
    return N_CURRENCIES;
}

/* A blank, also those that keep the line together; 0: none. */
static size_t blank_bytes(const char *bytes, size_t n)
{
    return n > 0 && *bytes == ' ' ? 1 : kn_wide_blank_bytes(bytes, n);
}

/* What may stand between thousands: besides a blank , . and the apostrophes. */
static size_t mark_bytes(const char *bytes, size_t n)
{
    if (n > 0 && strchr(",.'", *bytes) != NULL && *bytes != '\0') return 1;
    const size_t n_apostrophe = kn_wide_apostrophe_bytes(bytes, n);
    return n_apostrophe > 0 ? n_apostrophe : blank_bytes(bytes, n);
}

static size_t skip_blanks(const char *bytes, size_t n, size_t at)
{
    while (blank_bytes(bytes + at, n - at) > 0) at += blank_bytes(bytes + at, n - at);
    return at;
}

static void add_digits(number *out, const char *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) out->whole = out->whole * 10 + (bytes[i] - '0');
}

/* 1,23,456 as in India: groups of two, of which none is the last. */
static bool begins_pair(const char *bytes, size_t n, size_t at)
{
    return bytes[at] == ',' && n_digits(bytes, n, at + 1) == 2 && at + 3 < n && bytes[at + 3] == ',';
}

/* The number of an amount, whose marks are known by the three digits behind each: 1.234 is 1234, 0.123 is not. Returns
 * where it ends; 0: there is none. */
static size_t read_marked(number *out, unsigned *ways, const char *bytes, size_t n, size_t at)
{
    size_t n_group = n_digits(bytes, n, at), n_mark = 0, n_next = 0;
    bool has_pairs = false;
    const char *mark = NULL;
    if (n_group == 0) return 0;
    const bool may_have_marks = n_group <= 3 && bytes[at] != '0';
    add_digits(out, bytes + at, n_group);
    for (at += n_group; may_have_marks && at < n; at += n_mark + n_next) {
        const size_t n_here = mark_bytes(bytes + at, n - at);
        const bool is_pair = n_group < 3 && begins_pair(bytes, n, at);
        if (n_here == 0 || (n_digits(bytes, n, at + n_here) != 3 && !is_pair)) break;
        if (mark != NULL && memcmp(bytes + at, mark, n_mark) != 0) break;
        if (n_next == 3 && (is_pair || has_pairs)) break;
        has_pairs = has_pairs || is_pair;
        mark = bytes + at;
        n_mark = n_here;
        n_next = is_pair ? 2 : 3;
        add_digits(out, bytes + at + n_mark, n_next);
    }
    if (n_next == 2) return 0;
    if (mark != NULL && *mark == ',') *ways |= KN_MARKS_POINT;
    if (mark != NULL && *mark == '.') *ways |= KN_MARKS_COMMA;
    if (at + 1 >= n || (bytes[at] != '.' && bytes[at] != ',') || (mark != NULL && *mark == bytes[at])) return at;
    const bool no_cents = bytes[at + 1] == '-'; /* 12,- */
    const size_t n_fraction = no_cents ? 1 : n_digits(bytes, n, at + 1);
    double unit = 0.1;
    if (n_fraction == 0) return at;
    *ways |= bytes[at] == ',' ? KN_MARKS_COMMA : KN_MARKS_POINT;
    for (size_t i = 1; i <= n_fraction && !no_cents; i++, unit /= 10) out->fraction += unit * (bytes[at + i] - '0');
    return at + 1 + n_fraction;
}

/* The whole text as one number, its currency and in which ways it may be written; false: it is no amount. */
static bool read_amount(number *out, size_t *currency, unsigned *ways, const char *bytes, size_t n)
{
    size_t at = skip_blanks(bytes, n, 0), end = n;
    *out = (number){.n_bytes = n};
    *ways = 0;
    while (end > at && bytes[end - 1] == ' ') end--;
    const bool is_bracketed = at + 1 < end && bytes[at] == '(' && bytes[end - 1] == ')'; /* ($12) is -$12 */
    if (is_bracketed) at++, end--;
    out->is_negative = is_bracketed;
    if (!is_bracketed && at < end && bytes[at] == '-') out->is_negative = true, at = skip_blanks(bytes, end, at + 1);
    *currency = at < end && !is_digit(bytes[at]) ? find_currency(bytes + at, end - at, false) : N_CURRENCIES;
    if (*currency < N_CURRENCIES) {
        at = skip_blanks(bytes, end, at + currencies[*currency].n);
        if (!out->is_negative && at < end && bytes[at] == '-') out->is_negative = true, at++;
    }
    at = read_marked(out, ways, bytes, end, at);
    if (at == 0) return false;
    if (*currency < N_CURRENCIES) return at == end;
    at = skip_blanks(bytes, end, at);
    *currency = find_currency(bytes + at, end - at, true);
    return *currency < N_CURRENCIES;
}

unsigned kn_natural_amount_ways(const char *bytes, size_t n)
{
    number amount;
    size_t currency;
    unsigned ways;
    return read_amount(&amount, &currency, &ways, bytes, n) ? ways : 0;
}

bool kn_natural_is_amount(const char *shape)
{
    const size_t n = strlen(shape);
    return n > 1 && shape[n - 1] == '#' && find_currency(shape, n - 1, true) < N_CURRENCIES;
}

/* --- Order -------------------------------------------------------------------------------------------------------- */

/* The number behind *at, at first the first one. */
static bool step(number *at, const char *bytes, size_t n)
{
    number amount;
    size_t currency;
    unsigned ways;
    if (at->n_bytes > 0 || !read_amount(&amount, &currency, &ways, bytes, n))
        return next_number(at, bytes, n, at->at + at->n_bytes);
    *at = amount;
    return true;
}

static int compare_sizes(const number *a, const number *b)
{
    if (a->whole != b->whole) return a->whole < b->whole ? -1 : 1;
    return (a->fraction > b->fraction) - (a->fraction < b->fraction);
}

/* Minus nothing is nothing. */
static bool is_below_zero(const number *it) { return it->is_negative && (it->whole > 0 || it->fraction > 0); }

static int compare_numbers(const number *a, const number *b)
{
    if (is_below_zero(a) != is_below_zero(b)) return is_below_zero(a) ? -1 : 1;
    return is_below_zero(a) ? compare_sizes(b, a) : compare_sizes(a, b);
}

static int compare_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
    int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return order != 0 ? order : (n_a > n_b) - (n_a < n_b);
}

/* <5, ≤5 */
static bool is_bottom(const char *bytes, size_t n)
{
    while (n > 0 && *bytes == ' ') bytes++, n--;
    return n > 0 && (*bytes == '<' || (n > 2 && memcmp(bytes, "\xE2\x89\xA4", 3) == 0));
}

int kn_natural_compare(const char *a, size_t n_a, const char *b, size_t n_b)
{
    number x = {0}, y = {0};
    for (;;) {
        const bool has_x = step(&x, a, n_a), has_y = step(&y, b, n_b);
        if (has_x != has_y) return has_x ? 1 : -1;
        if (!has_x && is_bottom(a, n_a) != is_bottom(b, n_b)) return is_bottom(a, n_a) ? -1 : 1;
        if (!has_x) return compare_bytes(a, n_a, b, n_b);
        int order = compare_numbers(&x, &y);
        if (order != 0) return order;
    }
}

unsigned kn_natural_shape(char shape[KN_SHAPE_BYTES], const char *bytes, size_t n)
{
    number found = {0};
    unsigned n_numbers = 0, ways;
    size_t n_shape = 0, from = 0, currency;
    if (read_amount(&found, &currency, &ways, bytes, n)) {
        snprintf(shape, KN_SHAPE_BYTES, "%s#", currencies[currency].text);
        return 1;
    }
    found = (number){0};
    for (bool has = true; has; from = found.at + found.n_bytes) {
        has = next_number(&found, bytes, n, from);
        size_t n_between = (has ? found.at : n) - from;
        if (n_shape + n_between + 2 > KN_SHAPE_BYTES) return 0;
        memcpy(shape + n_shape, bytes + from, n_between);
        n_shape += n_between;
        if (!has) break;
        shape[n_shape++] = '#';
        n_numbers++;
    }
    shape[n_shape] = '\0';
    return n_numbers;
}

bool kn_natural_is_measure(const char *shape)
{
    if (strcmp(shape, "#:#") == 0 || strcmp(shape, "#:#:#") == 0 || strcmp(shape, "#h#") == 0 ||
        kn_natural_is_amount(shape))
        return true;
    return shape[0] == '#' && strlen(shape) > 1 && strpbrk(shape + 1, "#/:-._+,;()[]") == NULL;
}

bool kn_natural_is_range(const char *bytes, size_t n)
{
    size_t first = n_digits(bytes, n, 0), dash = first, second;
    if (first == 0 || first > 3 || dash == n || bytes[dash] != '-') return false;
    second = n_digits(bytes, n, dash + 1);
    if (second == 0 || second > 3 || dash + 1 + second != n) return false;
    number x, y;
    next_number(&x, bytes, first, 0);
    next_number(&y, bytes, n, dash + 1);
    return x.whole < y.whole;
}
