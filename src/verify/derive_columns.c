/* Columns that are computed from dates, computed again from the original's cells by code that shares nothing with
 * source/: what counts as a date is verify/values.c's business, the calendar is counted on from day to day.
 *
 * A year and a month are found by stepping: the whole months between two days are the most that can be added to the
 * first without passing the second. Stepping starts from a guess that is at most one off. */
#include "verify/checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kn_derives_from(const kn_verify_request *request, const char *name)
{
    for (size_t d = 0; d < request->n_derivations; d++) {
        const kn_derivation *derivation = &request->derivations[d];
        if (derivation->from.column != NULL && strcmp(derivation->from.column, name) == 0) return true;
        if (derivation->to.column != NULL && strcmp(derivation->to.column, name) == 0) return true;
    }
    return false;
}

/* --- The calendar ------------------------------------------------------------------------------------------------- */

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int64_t days_before_year(int64_t year) /* since 0001-01-01 */
{
    const int64_t n = year - 1;
    return 365 * n + n / 4 - n / 100 + n / 400;
}

typedef struct day {
    int64_t year;
    int month, day; /* from 1 */
} day;

static day day_of(int64_t days)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    day out = {.month = 1};
    days += days_before_year(1970);
    out.year = days / 366 + 1; /* never too late */
    while (days_before_year(out.year + 1) <= days) out.year++;
    days -= days_before_year(out.year);
    for (;; out.month++) {
        const int n = lengths[out.month - 1] + (out.month == 2 && is_leap(out.year));
        if (days < n) break;
        days -= n;
    }
    out.day = (int)days + 1;
    return out;
}

/* Is the day so many months behind the other one reached? */
static bool has_passed(day from, int64_t months, day now)
{
    const int64_t month = from.year * 12 + from.month + months, there = now.year * 12 + now.month;
    return month < there || (month == there && from.day <= now.day);
}

static int64_t months_between(int64_t from, int64_t to)
{
    const day a = day_of(from), b = day_of(to);
    int64_t months = (to - from) / 31 - 1;
    while (!has_passed(a, months, b)) months--;
    while (has_passed(a, months + 1, b)) months++;
    return months;
}

/* The largest whole number of `unit` that is not above n. */
static int64_t whole(int64_t n, int64_t unit)
{
    lldiv_t parts = lldiv(n, unit);
    return parts.quot - (parts.rem < 0 ? 1 : 0);
}

/* --- Moments ------------------------------------------------------------------------------------------------------ */

typedef struct moment {
    bool missing;
    int64_t days, nanoseconds;
} moment;

/* One of the two dates, by text of its column; a single one where it is the same for all rows. */
typedef struct moments {
    uint32_t column; /* KN_NONE: a date */
    moment *items;
} moments;

static kn_status moments_read(moments *out, const kn_derived_end *end, const kn_sheet *original,
                              const kn_verify_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    out->column = end->column != NULL ? kn_sheet_find(original, end->column) : KN_NONE;
    if (end->column != NULL && (out->column == KN_NONE || !original->columns[out->column].stored))
        KN_FAIL(KN_INPUT, "the original has no column '%.80s' to derive from", end->column);
    const kn_sheet_column *column = end->column != NULL ? &original->columns[out->column] : NULL;
    KN_NEW(out->items, column != NULL ? column->n_texts + (size_t)1 : 1);
    if (column == NULL) {
        out->items[0].days = end->days;
        goto done;
    }
    kn_reading reading = {.type = KN_TYPE_DATE,
                          .invalid_is_missing = request->invalid_is_missing,
                          .null_values = request->null_values,
                          .n_null_values = request->n_null_values};
    kn_reading_find_dates(&reading, column);
    for (uint32_t i = 0; i < column->n_texts; i++) {
        char canonical[KN_CANONICAL_BYTES] = "";
        size_t n_bytes;
        double number;
        long long days = 0, nanoseconds = 0;
        const char *bytes = kn_text(column, i, &n_bytes);
        const bool read = kn_text_read(&number, canonical, &reading, bytes, n_bytes) == KN_TEXT_NUMBER &&
                          sscanf(canonical, "%lld:%lld", &days, &nanoseconds) == 2;
        out->items[i] = (moment){!read, days, nanoseconds};
    }
done:
    return status;
}

static const moment *moment_at(const moments *all, const kn_sheet *original, uint32_t row)
{
    return &all->items[all->column != KN_NONE ? kn_sheet_code(&original->columns[all->column], row) : 0];
}

/* The cell; empty for a missing one. */
static size_t cell_put(char out[32], kn_derived_unit unit, const moment *from, const moment *to)
{
    const int64_t minute = INT64_C(60) * 1000000000, minutes_of_day = 1440;
    int64_t units = 0;
    out[0] = '\0';
    if (from->missing || to->missing) return 0;
    const int64_t days = to->days - from->days;
    const int64_t minutes = days * minutes_of_day + whole(to->nanoseconds - from->nanoseconds, minute);
    switch (unit) {
    case KN_DERIVED_AGE:
    case KN_DERIVED_YEARS: units = whole(months_between(from->days, to->days), 12); break;
    case KN_DERIVED_MONTHS: units = months_between(from->days, to->days); break;
    case KN_DERIVED_WEEKS: units = whole(days, 7); break;
    case KN_DERIVED_DAYS: units = days; break;
    case KN_DERIVED_HOURS: units = whole(minutes, 60); break;
    case KN_DERIVED_MINUTES: units = minutes; break;
    }
    if (unit == KN_DERIVED_AGE && (units < 0 || units > KN_MOST_AGE)) return 0;
    return (size_t)snprintf(out, 32, "%lld", (long long)units);
}

/* --- The column --------------------------------------------------------------------------------------------------- */

static kn_status column_fill(kn_sheet_column *out, const kn_derivation *derivation, const kn_sheet *original,
                             const kn_verify_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    moments from = {0}, to = {0};
    uint32_t *codes = NULL;
    size_t n = 0;
    KN_NEW_RAW(codes, kn_sheet_chunk_rows(original));
    KN_TRY(moments_read(&from, &derivation->from, original, request, err));
    KN_TRY(moments_read(&to, &derivation->to, original, request, err));
    for (uint32_t row = 0; row < original->n_rows; row++) {
        char text[32];
        const size_t n_bytes =
            cell_put(text, derivation->unit, moment_at(&from, original, row), moment_at(&to, original, row));
        KN_TRY(kn_text_add(&codes[n++], out, text, n_bytes, err));
        if (n < KN_CHUNK_ROWS && row + 1 < original->n_rows) continue;
        KN_TRY(kn_sheet_pack(out, codes, NULL, n, err));
        n = 0;
    }
done:
    kn_free(codes);
    kn_free(from.items);
    kn_free(to.items);
    return status;
}

kn_status kn_sheet_derive(kn_sheet *original, const kn_verify_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    if (request->n_derivations == 0) goto done;
    const size_t n_columns = original->n_columns + request->n_derivations;
    kn_sheet_column *columns = kn_array_resize(original->columns, n_columns, sizeof *columns, err);
    if (columns == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    original->columns = columns;
    for (size_t d = 0; d < request->n_derivations; d++) {
        const char *name = request->derivations[d].name;
        kn_sheet_column *column = &columns[original->n_columns];
        *column = (kn_sheet_column){.stored = true};
        column->name = kn_string_copy(name, strlen(name), err);
        if (column->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        original->n_columns++;
        KN_TRY(column_fill(column, &request->derivations[d], original, request, err));
    }
done:
    return status;
}
