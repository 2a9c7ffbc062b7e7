/* Exact decimals: parsing, comparing, and the nearest double (Clinger's fast path for up to 19 digits, otherwise strtod
 * on digits and an exponent without a point, so that no locale matters). */
#include "table/number.h"

#include <stdlib.h>
#include <stdio.h>

enum { MAX_CHARACTERS = 400, MAX_EXPONENT = 300 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* [eE][+-]digits at `at`; false when something else stands there. */
static bool parse_exponent(const char *at, const char *end, int32_t *out)
{
    if (at == end || (*at != 'e' && *at != 'E')) return false;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || end - at > 3) return false;
    int32_t value = 0;
    for (; at < end; at++) {
        if (!is_digit(*at)) return false;
        value = value * 10 + (*at - '0');
    }
    *out = negative ? -value : value;
    return true;
}

/* The digits between `first` and `point`, and between `point` and `end` (point == end: no fraction). */
static void set_digits(kn_decimal *out, const char *first, const char *point, const char *end)
{
    while (first < end && (*first == '0' || *first == '.')) first++;
    while (end > first && (end[-1] == '0' || end[-1] == '.')) end--;
    out->digits = first;
    if (first == end) {
        out->negative = false;
        return;
    }
    out->exponent += first < point ? (int32_t)(point - first) : -(int32_t)(first - point - 1);
    out->n_digits = (uint32_t)(end - first) - (first < point && point < end ? 1 : 0);
}

kn_number_kind kn_decimal_parse(kn_decimal *out, const char *bytes, size_t n_bytes, bool leading_zeros)
{
    const char *at = bytes, *end = bytes + n_bytes;
    *out = (kn_decimal){0};
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (at == end || end - at > MAX_CHARACTERS) return KN_NUMBER_NONE;
    out->negative = *at == '-';
    if (*at == '-' || *at == '+') at++;

    const char *first = at;
    while (at < end && is_digit(*at)) at++;
    const char *point = at;
    bool has_point = at < end && *at == '.';
    if (has_point) {
        at++;
        while (at < end && is_digit(*at)) at++;
    }
    if (at - first - has_point == 0) return KN_NUMBER_NONE;
    if (!leading_zeros && point - first > 1 && *first == '0') return KN_NUMBER_NONE;
    bool has_exponent = at < end;
    if (has_exponent && !parse_exponent(at, end, &out->exponent)) return KN_NUMBER_NONE;
    set_digits(out, first, point, at);
    if (out->n_digits != 0 && (out->exponent > MAX_EXPONENT || out->exponent < -MAX_EXPONENT)) return KN_NUMBER_NONE;
    return has_point || has_exponent ? KN_NUMBER_DECIMAL : KN_NUMBER_WHOLE;
}

static int compare_sizes(const kn_decimal *a, const kn_decimal *b)
{
    if (a->exponent != b->exponent) return a->exponent < b->exponent ? -1 : 1;
    const char *p = a->digits, *q = b->digits;
    for (uint32_t i = 0; i < a->n_digits && i < b->n_digits; i++, p++, q++) {
        if (*p == '.') p++;
        if (*q == '.') q++;
        if (*p != *q) return *p < *q ? -1 : 1;
    }
    return a->n_digits == b->n_digits ? 0 : a->n_digits < b->n_digits ? -1 : 1;
}

int kn_decimal_compare(const kn_decimal *a, const kn_decimal *b)
{
    int sign_a = a->n_digits == 0 ? 0 : a->negative ? -1 : 1;
    int sign_b = b->n_digits == 0 ? 0 : b->negative ? -1 : 1;
    if (sign_a != sign_b) return sign_a < sign_b ? -1 : 1;
    if (sign_a == 0) return 0;
    return sign_a > 0 ? compare_sizes(a, b) : compare_sizes(b, a);
}

static double slow_double(const kn_decimal *decimal)
{
    char text[MAX_CHARACTERS + 32];
    size_t n = 0;
    const char *p = decimal->digits;
    for (uint32_t i = 0; i < decimal->n_digits; i++) {
        if (*p == '.') p++;
        text[n++] = *p++;
    }
    snprintf(text + n, sizeof text - n, "e%d", (int)(decimal->exponent - (int32_t)decimal->n_digits));
    double size = strtod(text, NULL);
    return decimal->negative ? -size : size;
}

double kn_decimal_double(const kn_decimal *decimal)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (decimal->n_digits == 0) return 0;
    int32_t scale = decimal->exponent - (int32_t)decimal->n_digits;
    if (decimal->n_digits > 19 || scale < -22 || scale > 22) return slow_double(decimal);
    uint64_t mantissa = 0;
    const char *p = decimal->digits;
    for (uint32_t i = 0; i < decimal->n_digits; i++) {
        if (*p == '.') p++;
        mantissa = mantissa * 10 + (uint64_t)(*p++ - '0');
    }
    if (mantissa > (uint64_t)1 << 53) return slow_double(decimal);
    /* Both factors are exact doubles, so the one rounding of the operation is the right one. */
    double size = scale < 0 ? (double)mantissa / power[-scale] : (double)mantissa * power[scale];
    return decimal->negative ? -size : size;
}

kn_number_kind kn_number_read(double *out, const char *bytes, size_t n_bytes, bool leading_zeros)
{
    static const double power[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = bytes, *end = bytes + n_bytes, *point = NULL;
    uint64_t mantissa = 0;
    bool negative = at < end && *at == '-';
    at += negative;
    const char *first = at;
    /* [-]digits[.digits] with at most 15 digits: a mantissa below 2^53 and a small power of ten, one rounding. */
    if (end - at >= 1 && end - at <= 16) {
        for (; at < end; at++) {
            if (is_digit(*at)) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
            else if (*at == '.' && point == NULL) point = at;
            else break;
        }
        const char *whole_end = point != NULL ? point : end;
        bool zeros = whole_end - first > 1 && *first == '0';
        if (at == end && end - first - (point != NULL) >= 1 && end - first - (point != NULL) <= 15 && !zeros) {
            double size = (double)mantissa;
            if (point != NULL) size /= power[end - point - 1];
            *out = negative && mantissa != 0 ? -size : size;
            return point != NULL ? KN_NUMBER_DECIMAL : KN_NUMBER_WHOLE;
        }
    }
    kn_decimal decimal;
    kn_number_kind kind = kn_decimal_parse(&decimal, bytes, n_bytes, leading_zeros);
    *out = kind != KN_NUMBER_NONE ? kn_decimal_double(&decimal) : 0;
    return kind;
}
