/* Numbers inside texts; see the header. */
#include "table/natural.h"

#include <string.h>

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

static int compare_sizes(const number *a, const number *b)
{
    if (a->whole != b->whole) return a->whole < b->whole ? -1 : 1;
    return (a->fraction > b->fraction) - (a->fraction < b->fraction);
}

static int compare_numbers(const number *a, const number *b)
{
    if (a->is_negative != b->is_negative) return a->is_negative ? -1 : 1;
    return a->is_negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

static int compare_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
    int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
    return order != 0 ? order : (n_a > n_b) - (n_a < n_b);
}

int kn_natural_compare(const char *a, size_t n_a, const char *b, size_t n_b)
{
    number x = {0}, y = {0};
    for (;;) {
        const bool has_x = next_number(&x, a, n_a, x.at + x.n_bytes), has_y = next_number(&y, b, n_b, y.at + y.n_bytes);
        if (!has_x || !has_y) return has_x != has_y ? (has_x ? 1 : -1) : compare_bytes(a, n_a, b, n_b);
        int order = compare_numbers(&x, &y);
        if (order != 0) return order;
    }
}

unsigned kn_natural_shape(char shape[KN_SHAPE_BYTES], const char *bytes, size_t n)
{
    number found = {0};
    unsigned n_numbers = 0;
    size_t n_shape = 0, from = 0;
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
    static const char *const whole[] = {"#:#", "#:#:#", "$#", "€#", "£#", "¥#", "$ #", "€ #", "£ #", "¥ #"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(shape, whole[i]) == 0) return true;
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
