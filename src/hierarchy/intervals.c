/* `intervals(5,10,20)`: numbers in intervals of each width, aligned at multiples of it, then *.
 *
 * Each width is a multiple of the one before, so intervals nest. Labels of whole numbers name both ends, `20..24`
 * (width 1: the number itself); otherwise the right end is outside, `2.5..<5`.
 *
 * Everything is counted in units of 10^-scale, as integers: an interval is the number of widths below it. A value
 * belongs to the interval whose left end is not above it; ends are divisions of two exact doubles, correctly rounded
 * like the value itself, so 0.3 lies in 0.3..<0.4 although 0.3/0.1 is below 3. Where both round to the same double, the
 * digits decide: 0.29999999999999999999 lies in 0.2..<0.3. */
#include "hierarchy/builders.h"

#include "table/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SCALE = 9 };
static const double MAX_UNITS = 9e15; /* below 2^53: exact in a double */

static int64_t power_of_ten(uint32_t exponent)
{
    int64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

/* A width as written: digits, perhaps with decimals. */
static bool parse_width(int64_t *digits, uint32_t *n_decimals, const char *text, size_t n)
{
    bool in_fraction = false;
    *digits = 0;
    *n_decimals = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.' && !in_fraction) {
            in_fraction = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || (double)*digits * 10 > MAX_UNITS) return false;
        *digits = *digits * 10 + (text[i] - '0');
        *n_decimals += in_fraction;
    }
    for (; *n_decimals > 0 && *digits % 10 == 0; --*n_decimals) *digits /= 10;
    return *digits > 0 && *n_decimals <= MAX_SCALE;
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

static double left_end(const kn_widths *widths, int64_t interval)
{
    return (double)(interval * widths->units[0]) / (double)power_of_ten(widths->scale);
}

/* units * 10^-scale without needless zeros. */
static int print_units(char *out, size_t n_out, int64_t units, uint32_t scale)
{
    while (scale > 0 && units % 10 == 0) {
        units /= 10;
        scale--;
    }
    int64_t one = power_of_ten(scale), size = units < 0 ? -units : units;
    const char *sign = units < 0 ? "-" : "";
    if (scale == 0) return snprintf(out, n_out, "%s%lld", sign, (long long)size);
    return snprintf(out, n_out, "%s%lld.%0*lld", sign, (long long)(size / one), (int)scale, (long long)(size % one));
}

int64_t kn_widths_interval_of(const kn_widths *widths, double number, const char *bytes, size_t n)
{
    int64_t interval = (int64_t)floor(number * (double)power_of_ten(widths->scale) / (double)widths->units[0]);
    while (left_end(widths, interval) > number) interval--;
    while (left_end(widths, interval + 1) <= number) interval++;
    if (left_end(widths, interval) == number) {
        char end[32];
        kn_decimal exact_end, exact;
        int n_end = print_units(end, sizeof end, interval * widths->units[0], widths->scale);
        kn_decimal_parse(&exact_end, end, (size_t)n_end, false);
        kn_decimal_parse(&exact, bytes, n, true);
        if (kn_decimal_compare(&exact, &exact_end) < 0) interval--;
    }
    return interval;
}

int64_t kn_widths_interval(const kn_widths *widths, const kn_build *build, uint32_t value)
{
    size_t n;
    const char *bytes = kn_build_value(build, value, &n);
    return kn_widths_interval_of(widths, build->column->number[value], bytes, n);
}

void kn_widths_text(char *out, size_t n_out, const kn_widths *widths)
{
    print_units(out, n_out, widths->units[0], widths->scale);
}

double kn_widths_step(const kn_widths *widths)
{
    return (double)widths->units[0] / (double)power_of_ten(widths->scale);
}

void kn_widths_multiple_text(char *out, size_t n_out, const kn_widths *widths, int64_t times)
{
    print_units(out, n_out, times * widths->units[0], widths->scale);
}

size_t kn_interval_text(char label[KN_INTERVAL_BYTES], const kn_widths *widths, kn_type type, int64_t from, int64_t to)
{
    char low[32], high[32];
    bool whole = type == KN_TYPE_INT && widths->scale == 0;
    print_units(low, sizeof low, from * widths->units[0], widths->scale);
    print_units(high, sizeof high, to * widths->units[0] - (whole ? 1 : 0), widths->scale);
    bool single = whole && (to - from) * widths->units[0] == 1;
    return (size_t)(single ? snprintf(label, KN_INTERVAL_BYTES, "%s", low)
                           : snprintf(label, KN_INTERVAL_BYTES, whole ? "%s..%s" : "%s..<%s", low, high));
}

size_t kn_grid_interval_text(char label[KN_INTERVAL_BYTES], const kn_grid *grid, kn_type type, int64_t from, int64_t to)
{
    char low[32];
    if (to <= grid->top) return kn_interval_text(label, &grid->widths, type, from, to);
    print_units(low, sizeof low, from * grid->widths.units[0], grid->widths.scale);
    return (size_t)snprintf(label, KN_INTERVAL_BYTES, "%s..", low);
}

kn_status kn_build_interval(kn_build *build, const kn_widths *widths, int64_t from, int64_t to, kn_error *err)
{
    char label[KN_INTERVAL_BYTES];
    size_t n = kn_interval_text(label, widths, build->column->type, from, to);
    return kn_build_label(build, label, n, err);
}

bool kn_widths_fit(const kn_widths *widths, double number)
{
    return fabs(number) * (double)power_of_ten(widths->scale) <= MAX_UNITS - 2 * (double)widths->units[widths->n - 1];
}

static kn_status check_range(const kn_build *build, const kn_widths *widths, kn_error *err)
{
    for (uint32_t value = 0; value < build->n_present; value++) {
        if (kn_widths_fit(widths, build->column->number[value])) continue;
        return kn_build_refuse_value(build, build->main_spelling[value], err,
                                     "is too large for %s; numbers must stay below %g", build->paths.name,
                                     MAX_UNITS / (double)power_of_ten(widths->scale));
    }
    return KN_OK;
}

kn_status kn_build_widths(kn_build *build, const kn_widths *widths, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(check_range(build, widths, err));
    build->paths.n_levels = widths->n + 2;
    for (uint32_t value = 0; value < build->n_present; value++) {
        int64_t interval = kn_widths_interval(widths, build, value);
        KN_TRY(kn_build_leaf(build, value, err));
        for (uint32_t i = 0; i < widths->n; i++) {
            int64_t times = widths->units[i] / widths->units[0], from = kn_floor_divide(interval, times) * times;
            KN_TRY(kn_build_interval(build, widths, from, from + times, err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}

/* --- The SPEC -------------------------------------------------------------------------------------------------- */

/* Decimals of each width to units of the finest one. */
static kn_status align_widths(kn_widths *widths, const uint32_t *n_decimals, const char *spec, kn_error *err)
{
    for (uint32_t i = 0; i < widths->n; i++)
        if (n_decimals[i] > widths->scale) widths->scale = n_decimals[i];
    for (uint32_t i = 0; i < widths->n; i++) {
        char text[32];
        double factor = (double)power_of_ten(widths->scale - n_decimals[i]);
        print_units(text, sizeof text, widths->units[i], n_decimals[i]);
        if ((double)widths->units[i] * factor > MAX_UNITS / 4)
            return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy"),
                                   "hierarchy %s: width %s is too large", spec, text);
        widths->units[i] *= (int64_t)factor;
        if (i > 0 && (widths->units[i] % widths->units[i - 1] != 0 || widths->units[i] == widths->units[i - 1]))
            return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy"),
                                   "hierarchy %s: width %s is no multiple of the one before; intervals nest only "
                                   "when each width is a multiple of the one before, as in intervals(5,10,20)",
                                   spec, text);
    }
    return KN_OK;
}

kn_status kn_widths_parse(kn_widths *out, const char *spec, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_decimals[KN_MAX_WIDTHS];
    memset(out, 0, sizeof *out);
    for (const char *at = arguments;; at++) {
        while (*at == ' ') at++;
        size_t n_all = strcspn(at, ","), n = n_all;
        while (n > 0 && at[n - 1] == ' ') n--;
        if (out->n == KN_MAX_WIDTHS)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"), "hierarchy %s: more than %d widths", spec,
                       KN_MAX_WIDTHS);
        if (!parse_width(&out->units[out->n], &n_decimals[out->n], at, n))
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"),
                       "hierarchy %s: '%.*s' is no width; a width is a number above 0 such as 5 or 0.25", spec,
                       (int)(n < 40 ? n : 40), at);
        out->n++;
        at += n_all;
        if (*at == '\0') break;
    }
    KN_TRY(align_widths(out, n_decimals, spec, err));
done:
    return status;
}

static bool is_number(const char *bytes, size_t n_bytes)
{
    kn_decimal decimal;
    return kn_decimal_parse(&decimal, bytes, n_bytes, true) != KN_NUMBER_NONE;
}

/* The first line whose value is no number, to say why the column is text. */
static kn_status not_numbers(const kn_build *build, kn_error *err)
{
    const kn_column *column = build->column;
    if (column->type == KN_TYPE_DATE)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy", .column = build->column->name),
                               "column %s: %s needs numbers, but the column holds dates; use "
                               "date(month,quarter,year)",
                               column->name, build->paths.name);
    const uint32_t first = kn_build_first_unlike(build, is_number);
    if (first == KN_NONE)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy", .column = build->column->name),
                               "column %s: %s needs numbers, but the column is text; declare its type int or "
                               "decimal",
                               column->name, build->paths.name);
    return kn_build_refuse_value(
        build, first, err, "is no number, but %s needs numbers; correct the data, or name such values with --null",
        build->paths.name);
}

kn_status kn_build_intervals(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    kn_widths widths;
    KN_TRY(kn_widths_parse(&widths, build->paths.name, arguments, err));
    if (build->n_present > 0 && build->column->type != KN_TYPE_INT && build->column->type != KN_TYPE_DECIMAL)
        KN_TRY(not_numbers(build, err));
    KN_NEW(build->grid, 1); /* for means */
    build->grid->widths = widths;
    kn_widths_text(build->grid->name, sizeof build->grid->name, &widths);
    const uint32_t lowest = build->request->min_level;
    if (lowest > 1 && lowest <= widths.n)
        kn_grid_coarsen_means(build->grid, widths.units[lowest - 1] / widths.units[0]);
    KN_TRY(kn_build_widths(build, &widths, err));
done:
    return status;
}
