// clang-format off
/* Dates: the proleptic Gregorian calendar as days since 1970-01-01, and the spellings that count as dates.
 *
 * A date cell is one of these forms; blanks around it are tolerated. Years have four digits: with two, the century
 * would be a guess, so `1/21/76` stays text.
 *   ISO       2024-01-31, 2024/01/31, with an optional time after 'T' or a blank: 10:30, 10:30:05, 10:30:05.250, then
 *             optionally Z, +02:00, +0200 or +02 (counted back to UTC); a comma for the point, t and z are fine
 *   DOTS      31.1.2024, 31.01.2024          day first    these and NAMED with an optional time after a blank, as above
 *   DAY       31/1/2024, 31-01-2024          day first    or as people and spreadsheets write it: 9:05, 9:05 pm,
 *   MONTH     1/31/2024, 01-31-2024          month first  9:05:30 PM
 *   COMPACT   20240131, with an optional time: 202401311030, 20240131103005, 20240131T1030, then perhaps a zone as above
 *   NAMED     the month in letters, English or German, whole or short: 05OCT1987, 5-Oct-1987, 5 October 1987,
 *             5. Okt. 1987, Oct 5 1987, October 5th, 1987; the time may stand after ':', too */
// clang-format on
#ifndef KN_TABLE_DATES_H
#define KN_TABLE_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kn_date {
    int32_t year;       /* 1 .. 9999 in data; the arithmetic takes any */
    uint8_t month, day; /* 1 .. 12, 1 .. 31 */
} kn_date;

bool kn_date_is_valid(kn_date date);
unsigned kn_days_in_month(int32_t year, unsigned month);
int64_t kn_date_to_days(kn_date date); /* since 1970-01-01 */
kn_date kn_date_from_days(int64_t days);
/* The day that a number of a date column (kn_column.number: days, the time as a fraction) lies in. */
kn_date kn_date_of_number(double days);

#define KN_DATE_BYTES 32
/* "2024-01-31"; returns `buffer`. */
const char *kn_date_text(char buffer[KN_DATE_BYTES], kn_date date);

typedef enum kn_date_form {
    KN_DATE_ISO = 1 << 0,
    KN_DATE_DOTS = 1 << 1,
    KN_DATE_DAY = 1 << 2,
    KN_DATE_MONTH = 1 << 3,
    KN_DATE_COMPACT = 1 << 4,
    KN_DATE_NAMED = 1 << 5
} kn_date_form;

/* Sets of forms: all, and those that are neither a number nor mistaken for one another. */
enum {
    KN_DATE_N_FORMS = 6,
    KN_DATE_ANY = (1 << KN_DATE_N_FORMS) - 1,
    KN_DATE_CLEAR = KN_DATE_ISO | KN_DATE_DOTS | KN_DATE_NAMED
};

/* A point in time, exact. */
typedef struct kn_moment {
    int64_t days;
    uint64_t nanoseconds; /* within the day */
    bool has_zone;        /* was given with Z or an offset */
    bool has_time;
} kn_moment;

/* In which of `forms` (a set of kn_date_form bits) the bytes are a valid date; 0: in none. */
unsigned kn_date_forms(const char *bytes, size_t n_bytes, unsigned forms);
/* Day, month or year first (bits KN_DATE_DAY, KN_DATE_MONTH, KN_DATE_ISO of all that it can be) where the bytes are a
 * date whose year has two digits, as 5/10/87, 05.10.87 or 87-10-05, perhaps with a time; such a cell is text, and
 * somebody should hear of it. 0: none. */
unsigned kn_date_short_forms(const char *bytes, size_t n_bytes);
/* A date whose month is written in letters, also where it is not read: 05OCT87, 5 mayo 1987, Mon, 5 Oct 1987; text like
 * those. */
bool kn_date_has_month_name(const char *bytes, size_t n_bytes);
/* A COMPACT date that is no number by chance: of the years 1800 to 2199. */
bool kn_date_is_plausible(const char *bytes, size_t n_bytes);
/* Reads the bytes in the first of `forms` that they have; false when they are no date in any. */
bool kn_date_parse(kn_moment *out, const char *bytes, size_t n_bytes, unsigned forms);
/* 2024, 2024-H1, 2024-Q2, 2024-05, 2024-W07 (of ISO 8601) as from <= days < to; false when they are none. */
bool kn_period_parse(double *from, double *to, const char *bytes, size_t n_bytes);
/* Days with the time as a fraction. Rounding never reaches the next day, so that floor() is the day. */
double kn_moment_number(const kn_moment *moment);

#endif
