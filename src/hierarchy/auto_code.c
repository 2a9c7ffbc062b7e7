/* `auto` for codes, whose beginning says more than their end.
 *
 *   text      that looks like codes (all of one length of 2 to 16 characters, letters, digits, '-' and '.', a digit in
 *             each, fewer first parts than values), or that the column's name calls postal codes: mask(right);
 *             those of a few countries are known before (auto_class.c)
 *   numbers   that the name calls postal codes, or occupations of ISCO: of one length, mask(right). Otherwise some have
 * lost a leading zero, 02138 beside 10001: what begins alike is then what lies between two multiples of a power of ten,
 *             2100..2199, so intervals(10,100,1000,...) */
#include "hierarchy/builders.h"

#include "table/names.h"

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

static bool are_short(const kn_build *build)
{
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        if (kn_count_characters(bytes, n) > MAX_CODE_CHARACTERS) return false;
    }
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
