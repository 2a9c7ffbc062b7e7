/* `auto` for text of numbers with something around them, whose order says more than which values occur together.
 *
 *   one shape   that all values have, `# days`, `#%`, `€#`: one or two numbers, or a time's three; no letter before
 *   amounts     of one currency, before or behind the number, whose marks agree: $1,200, -$12, EUR 7, ($3)
 *   bare marks  several shapes without a letter, of at most two numbers each: 18-25, 26-35, 50+, <18; some may be
 *               plain numbers: 7, 12, <5, >200, 90+
 *   and words   where at least half of the rows have plain numbers, or dates that begin with the year:
 *               7, 12, haemolytic
 *
 * Plain numbers are such as the order reads as the table does: of 0,125 and 1,234 nobody knows.
 * Values of one length that are made of letters, digits, '-' and '.' are codes rather (auto_code.c), unless they are
 * ranges, 18-25, months, 2024-05, or all have the same letters behind a number, 11h30. So are postal codes by their
 * name: 111 20. */
#include "hierarchy/builders.h"

#include "table/dates.h"
#include "table/names.h"
#include "table/natural.h"
#include "table/number_marks.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NUMBERS = 2, MOST_SHAPES = 6 };

static bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

/* A version or an address in a network is no number: what has a point between two is cut where that is not meant. What
 * has a letter before its number is numbered, town 12, and neighbours have nothing in common. */
static bool may_be_ordered(const char *shape, unsigned n_numbers)
{
    if (strcmp(shape, "#:#:#") == 0 || kn_natural_is_amount(shape)) return true;
    for (const char *at = shape; *at != '#' && *at != '\0'; at++)
        if (is_letter(*at)) return false;
    return n_numbers >= 1 && n_numbers <= MOST_NUMBERS && strchr(shape, '.') == NULL;
}

static bool is_plain(const char *shape) { return strcmp(shape, "#") == 0; }

/* A comma and exactly three digits behind it: the order takes it for a mark between thousands. */
static bool has_comma_group(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t n_digits = 0;
        while (bytes[i] == ',' && i + n_digits + 1 < n && isdigit((unsigned char)bytes[i + n_digits + 1])) n_digits++;
        if (n_digits == 3) return true;
    }
    return false;
}

/* What plain numbers of the column have in common: the ways in which all of them are read. */
typedef struct plain_numbers {
    unsigned ways;
    bool has_comma_group;
} plain_numbers;

/* false: a code, 007 */
static bool add_plain(plain_numbers *all, const char *bytes, size_t n)
{
    const unsigned ways = kn_number_ways(bytes, n, false);
    all->ways &= ways;
    all->has_comma_group = all->has_comma_group || has_comma_group(bytes, n);
    return ways != 0;
}

static bool are_read_as_the_order_does(const plain_numbers *all)
{
    return all->ways != 0 && (!all->has_comma_group || all->ways == KN_MARKS_POINT);
}

static bool has_letter(const char *shape)
{
    for (; *shape != '\0'; shape++)
        if (is_letter(*shape)) return true;
    return false;
}

/* 2024-05: months are in their order as they stand. */
static bool is_month(const char *bytes, size_t n)
{
    double from, to;
    return n == 7 && bytes[4] == '-' && kn_period_parse(&from, &to, bytes, n);
}

/* Digits, letters, '-' and '.' only, and as long as the first. */
static bool could_be_codes(const kn_build *build)
{
    static const char in_codes[] = "0123456789-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n_first, n;
    uint32_t n_months = 0;
    kn_build_value(build, 0, &n_first);
    for (uint32_t value = 0; value < build->n_present; value++) {
        const char *bytes = kn_build_value(build, value, &n);
        if (n != n_first || kn_natural_is_range(bytes, n)) return false;
        n_months += is_month(bytes, n);
        for (size_t i = 0; i < n; i++)
            if (strchr(in_codes, bytes[i]) == NULL) return false;
    }
    return n_months < build->n_present;
}

bool kn_auto_natural(char spec[KN_SPEC_BYTES], const kn_build *build)
{
    char shapes[MOST_SHAPES][KN_SHAPE_BYTES], shape[KN_SHAPE_BYTES];
    unsigned n_shapes = 0, n_currencies = 0, ways = 0;
    plain_numbers plain = {KN_MARKS_POINT | KN_MARKS_COMMA, false};
    bool bare = true;
    if (build->column->type != KN_TYPE_TEXT || build->n_present < 3 || kn_name_is_postcode(build->column->name))
        return false;
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        const unsigned n_numbers = kn_natural_shape(shape, bytes, n);
        unsigned at = 0;
        if (!may_be_ordered(shape, n_numbers) || (is_plain(shape) && !add_plain(&plain, bytes, n))) return false;
        while (at < n_shapes && strcmp(shapes[at], shape) != 0) at++;
        if (at == MOST_SHAPES) return false;
        if (at == n_shapes) {
            memcpy(shapes[n_shapes++], shape, sizeof shape);
            n_currencies += kn_natural_is_amount(shape);
        }
        bare = bare && !has_letter(shape);
        ways |= kn_natural_amount_ways(bytes, n);
    }
    if (n_currencies > 1 || ways == (KN_MARKS_POINT | KN_MARKS_COMMA)) return false;
    if (n_shapes == 1 && is_plain(shapes[0])) { /* 1,234 alone, in this order either way; others somebody called text */
        if (!plain.has_comma_group || plain.ways == 0) return false;
    } else if ((n_shapes > 1 && !bare) || !are_read_as_the_order_does(&plain)) {
        return false;
    }
    /* 11h30, 72kg: the letters of codes differ, or stand before the number: EUR001 */
    const bool same_letters = n_shapes == 1 && shapes[0][0] == '#' && has_letter(shapes[0]);
    if (!same_letters && could_be_codes(build)) return false;
    snprintf(spec, KN_SPEC_BYTES, "natural");
    return true;
}

bool kn_auto_numbers_and_words(char spec[KN_SPEC_BYTES], const kn_build *build)
{
    char shape[KN_SHAPE_BYTES];
    uint64_t n_cells = 0, n_numbers = 0, n_dates = 0;
    plain_numbers plain = {KN_MARKS_POINT | KN_MARKS_COMMA, false};
    if (build->column->type != KN_TYPE_TEXT || build->n_present <= KN_SMALL_SET) return false;
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        if (kn_is_null_word(bytes, n)) continue;
        n_cells += build->value_rows[value];
        if (kn_date_forms(bytes, n, KN_DATE_ISO) != 0) n_dates += build->value_rows[value];
        else if (kn_natural_shape(shape, bytes, n) == 1 && is_plain(shape) && add_plain(&plain, bytes, n))
            n_numbers += build->value_rows[value];
    }
    if (n_numbers * 2 < n_cells && n_dates * 2 < n_cells) return false;
    if (n_numbers + n_dates == n_cells || (n_numbers * 2 >= n_cells && !are_read_as_the_order_does(&plain)))
        return false;
    snprintf(spec, KN_SPEC_BYTES, "natural");
    return true;
}
