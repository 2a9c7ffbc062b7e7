/* `date(month,quarter,year)`: dates in units of the calendar, then *.
 *
 *   day 2024-01-31   week 2024-W05 (ISO 8601, from Monday)   month 2024-01   quarter 2024-Q1   halfyear 2024-H1
 *   year 2024        5years 2020..2024   decade 2020..2029     century 2000..2099
 *
 * Each unit must lie inside the next one. Weeks lie inside nothing larger, so week can only be the last. */
#include "hierarchy/builders.h"

#include "table/dates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const unit_names[] = {"day",  "week",   "month",  "quarter", "halfyear",
                                         "year", "5years", "decade", "century"};
#define N_UNITS ((size_t)KN_CENTURY + 1)

static int64_t day_of(double number) { return kn_date_to_days(kn_date_of_number(number)); }

int64_t kn_date_unit_index(kn_date_unit unit, double number)
{
    kn_date date = kn_date_of_number(number);
    switch (unit) {
    case KN_DAY: return day_of(number);
    case KN_WEEK: return kn_floor_divide(day_of(number) + 3, 7); /* 1970-01-01 is a Thursday */
    case KN_MONTH: return (int64_t)date.year * 12 + date.month - 1;
    case KN_QUARTER: return (int64_t)date.year * 4 + (date.month - 1) / 3;
    case KN_HALFYEAR: return (int64_t)date.year * 2 + (date.month - 1) / 6;
    case KN_YEAR: return date.year;
    case KN_FIVE_YEARS: return kn_floor_divide(date.year, 5);
    case KN_DECADE: return kn_floor_divide(date.year, 10);
    case KN_CENTURY: return kn_floor_divide(date.year, 100);
    }
    return 0;
}

static int print_unit(char *out, size_t n_out, kn_date_unit unit, int64_t index)
{
    long long i = index;
    char text[KN_DATE_BYTES];
    switch (unit) {
    case KN_DAY: return snprintf(out, n_out, "%s", kn_date_text(text, kn_date_from_days(index)));
    case KN_WEEK: {
        int64_t thursday = index * 7; /* the week belongs to the year of its Thursday */
        int32_t year = kn_date_from_days(thursday).year;
        int64_t week = (thursday - kn_date_to_days((kn_date){year, 1, 1})) / 7 + 1;
        return snprintf(out, n_out, "%04d-W%02d", (int)year, (int)week);
    }
    case KN_MONTH: return snprintf(out, n_out, "%04lld-%02lld", i / 12, i % 12 + 1);
    case KN_QUARTER: return snprintf(out, n_out, "%04lld-Q%lld", i / 4, i % 4 + 1);
    case KN_HALFYEAR: return snprintf(out, n_out, "%04lld-H%lld", i / 2, i % 2 + 1);
    case KN_YEAR: return snprintf(out, n_out, "%04lld", i);
    case KN_FIVE_YEARS: return snprintf(out, n_out, "%04lld..%04lld", i * 5, i * 5 + 4);
    case KN_DECADE: return snprintf(out, n_out, "%04lld..%04lld", i * 10, i * 10 + 9);
    case KN_CENTURY: return snprintf(out, n_out, "%04lld..%04lld", i * 100, i * 100 + 99);
    }
    return 0;
}

void kn_date_unit_text(char *out, size_t n_out, kn_date_unit unit, int64_t from, int64_t to)
{
    if (unit >= KN_FIVE_YEARS) {
        const long long years = unit == KN_FIVE_YEARS ? 5 : unit == KN_DECADE ? 10 : 100;
        snprintf(out, n_out, "%04lld..%04lld", from * years, to * years - 1);
        return;
    }
    int n = print_unit(out, n_out, unit, from);
    if (to == from + 1 || n < 0 || (size_t)n + 3 > n_out) return;
    n += snprintf(out + n, n_out - (size_t)n, "..");
    print_unit(out + n, n_out - (size_t)n, unit, to - 1);
}

kn_status kn_build_units(kn_build *build, const kn_date_unit *units, uint32_t n_units, kn_error *err)
{
    kn_status status = KN_OK;
    build->paths.n_levels = n_units + 2;
    KN_NEW(build->grid, 1); /* for means */
    build->grid->by_unit = true;
    const uint32_t lowest = build->request->min_level; /* means are no finer than what may be released */
    build->grid->unit = units[lowest > 1 && lowest <= n_units ? lowest - 1 : 0];
    snprintf(build->grid->name, sizeof build->grid->name, "%s", unit_names[build->grid->unit]);
    for (uint32_t value = 0; value < build->n_present; value++) {
        KN_TRY(kn_build_leaf(build, value, err));
        for (uint32_t i = 0; i < n_units; i++) {
            char label[64];
            int n =
                print_unit(label, sizeof label, units[i], kn_date_unit_index(units[i], build->column->number[value]));
            KN_TRY(kn_build_label(build, label, (size_t)n, err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}

static kn_status parse_units(kn_date_unit *units, uint32_t *n_units, const char *spec, const char *arguments,
                             kn_error *err)
{
    kn_status status = KN_OK;
    *n_units = 0;
    for (const char *at = arguments;; at++) {
        while (*at == ' ') at++;
        size_t n = strcspn(at, ","), n_word = strcspn(at, ", ");
        size_t found = 0;
        while (found < N_UNITS && (strlen(unit_names[found]) != n_word || memcmp(unit_names[found], at, n_word) != 0))
            found++;
        if (found == N_UNITS)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"),
                       "hierarchy %s: '%.*s' is no unit; units are day, week, month, quarter, halfyear, year, 5years, "
                       "decade, century",
                       spec, (int)(n_word < 40 ? n_word : 40), at);
        kn_date_unit unit = (kn_date_unit)found;
        if (*n_units > 0 && (unit <= units[*n_units - 1] || units[*n_units - 1] == KN_WEEK))
            KN_FAIL_AT(
                KN_USAGE, KN_PLACE(.option = "hierarchy"),
                "hierarchy %s: a %s does not lie inside one %s; name units from small to large, week last or not "
                "at all",
                spec, unit_names[units[*n_units - 1]], unit_names[unit]);
        units[(*n_units)++] = unit;
        at += n;
        if (*at == '\0') break;
    }
done:
    return status;
}

static bool is_date(const char *bytes, size_t n_bytes)
{
    return kn_date_forms(bytes, n_bytes, KN_DATE_ANY & ~(unsigned)KN_DATE_COMPACT) != 0;
}

/* The first line whose value is no date, to say why the column is none. */
static kn_status not_dates(const kn_build *build, kn_error *err)
{
    const kn_column *column = build->column;
    const uint32_t first = column->type == KN_TYPE_TEXT ? kn_build_first_unlike(build, is_date) : KN_NONE;
    if (first == KN_NONE)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy", .column = build->column->name),
                               "column %s: %s needs dates, but the column's type is %s; declare its type date",
                               column->name, build->paths.name, kn_type_name(column->type));
    return kn_build_refuse_value(build, first, err,
                                 "is no date, but %s needs dates; correct the data, or name such values with --null",
                                 build->paths.name);
}

kn_status kn_build_date(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    kn_date_unit units[N_UNITS];
    uint32_t n_units;
    KN_TRY(parse_units(units, &n_units, build->paths.name, arguments, err));
    if (build->n_present > 0 && build->column->type != KN_TYPE_DATE) KN_TRY(not_dates(build, err));
    KN_TRY(kn_build_units(build, units, n_units, err));
done:
    return status;
}
