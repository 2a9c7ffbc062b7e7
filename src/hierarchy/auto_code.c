// clang-format off
/* `auto` for codes, whose beginning says more than their end.
 *
 *   text      that looks like codes (all of one length of 2 to 16 characters, letters, digits, '-' and '.', a digit in
 *             each, fewer first parts than values), or that the column's name calls postal codes: mask(right);
 *             those of a few countries are known before (auto_class.c)
 *   text      of dates that are not read and end with the year, 13.07.22, 19082018, 02/1985: mask(left), so that the
 *             year stays longest
 *   numbers   that the name calls postal codes, or occupations of ISCO: of one length, mask(right). Otherwise some have
 *             lost a leading zero, 02138 beside 10001: what begins alike is then what lies between two multiples of a
 *             power of ten, 2100..2199, so intervals(10,100,1000,...) */
// clang-format on
#include "hierarchy/builders.h"

#include "table/dates.h"
#include "table/names.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_CODE_CHARACTERS = 16 };

static bool is_code(const char *bytes, size_t n, size_t n_expected)
{
    bool has_digit = false;
    if (n != n_expected) return false;
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !((c | 32) >= 'a' && (c | 32) <= 'z') && c != '-' && c != '.') return false;
        has_digit = has_digit || digit;
    }
    return has_digit;
}

/* Values of a text column are sorted by bytes, so equal first parts are neighbours. */
static bool looks_like_codes(const kn_build *build)
{
    size_t n_expected, n_before = 0;
    uint32_t n_first_parts = 0;
    const char *before = NULL;
    if (build->n_present < 3) return false;
    kn_build_value(build, 0, &n_expected);
    if (n_expected < 2 || n_expected > MAX_CODE_CHARACTERS) return false;
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        if (!is_code(bytes, n, n_expected)) return false;
        if (before == NULL || memcmp(before, bytes, n_before) != 0) n_first_parts++;
        before = bytes;
        n_before = n - 1;
    }
    return n_first_parts < build->n_present;
}

/* The number that the digits say; UINT_MAX: there are others. */
static unsigned digits_at(const char *bytes, size_t n)
{
    unsigned number = 0;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') return UINT_MAX;
        number = number * 10 + (unsigned)(bytes[i] - '0');
    }
    return number;
}

static bool is_year(unsigned number) { return number >= 1800 && number < 2200; }

/* 02/1985, 19082018 or 08192018; those with separators and years of two digits have kn_date_short_forms. */
static bool ends_with_year(const char *bytes, size_t n)
{
    if (n < 6 || n > 8 || !is_year(digits_at(bytes + n - 4, 4))) return false;
    if (n < 8) return strchr("./-", bytes[n - 5]) != NULL && digits_at(bytes, n - 5) - 1 < 12;
    const unsigned first = digits_at(bytes, 2) - 1, second = digits_at(bytes + 2, 2) - 1;
    return (first < 31 && second < 12) || (first < 12 && second < 31);
}

/* 27/11/24 may be of 2027, too. Days are many, and the years of visits few. */
static bool begin_with_days(const kn_build *build)
{
    bool seen[3][100] = {{false}};
    unsigned n_seen[3] = {0};
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n, at = 0;
        const char *bytes = kn_build_value(build, value, &n);
        for (int part = 0; part < 3 && at < n; part++) {
            unsigned number = 0;
            while (at < n && (bytes[at] < '0' || bytes[at] > '9')) at++;
            for (; at < n && bytes[at] >= '0' && bytes[at] <= '9'; at++)
                number = number * 10 + (unsigned)(bytes[at] - '0');
            n_seen[part] += !seen[part][number % 100];
            seen[part][number % 100] = true;
        }
    }
    return n_seen[2] * 2 < n_seen[0] || n_seen[2] * 2 < n_seen[1];
}

static bool are_dates_by_year_last(const kn_build *build)
{
    unsigned forms = KN_DATE_ANY;
    bool has_years = true;
    bool has_days = kn_name_is_date(build->column->name); /* 1.2.10 may be a chapter, 31.2.10 is none */
    for (uint32_t value = 0; value < build->n_present && (has_years || forms != 0); value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        has_years = has_years && ends_with_year(bytes, n);
        const unsigned here = kn_date_short_forms(bytes, n);
        const bool is_one = here == KN_DATE_MONTH || (here == KN_DATE_DAY && memchr(bytes, '.', n) == NULL);
        has_days = has_days || is_one || (n > 2 && digits_at(bytes, 2) > 12 && digits_at(bytes, 2) < 32);
        forms &= here;
    }
    if (has_years) return true;
    const bool may_end_with_year = (forms & (KN_DATE_DAY | KN_DATE_MONTH)) != 0;
    return has_days && may_end_with_year && ((forms & KN_DATE_ISO) == 0 || begin_with_days(build));
}

static bool are_short(const kn_build *build)
{
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        if (kn_count_characters(bytes, n) > MAX_CODE_CHARACTERS) return false;
    }
    return true;
}

bool kn_auto_unread_dates(char spec[KN_SPEC_BYTES], const kn_build *build)
{
    if (build->column->type != KN_TYPE_TEXT || build->n_present < 3 || !are_dates_by_year_last(build)) return false;
    snprintf(spec, KN_SPEC_BYTES, "mask(left)");
    return true;
}

bool kn_auto_code(char spec[KN_SPEC_BYTES], const kn_build *build)
{
    const kn_column *column = build->column;
    const bool is_postcode =
        build->n_present > 2 && (kn_name_is_postcode(column->name) || kn_name_says(column->name, "isco"));
    if (column->type == KN_TYPE_TEXT && ((is_postcode && are_short(build)) || looks_like_codes(build))) {
        snprintf(spec, KN_SPEC_BYTES, "mask(right)");
        return true;
    }
    if (column->type != KN_TYPE_INT || !is_postcode || column->number[0] < 0) return false;
    double lowest = column->number[0], highest = column->number[build->n_present - 1], power = 10;
    if (highest >= 1e9) return false;
    if (lowest > 0 && floor(log10(lowest)) == floor(log10(highest))) {
        snprintf(spec, KN_SPEC_BYTES, "mask(right)");
        return true;
    }
    size_t n = (size_t)snprintf(spec, KN_SPEC_BYTES, "intervals(");
    for (; power <= highest; power *= 10)
        n += (size_t)snprintf(spec + n, KN_SPEC_BYTES - n, "%s%.0f", power > 10 ? "," : "", power);
    snprintf(spec + n, KN_SPEC_BYTES - n, ")");
    return power > 10;
}
