/* Texts to values: numbers as exact decimals, dates as moments, everything else by its bytes.
 *
 * A number is [+-] digits [. digits] [e [+-] digits] with blanks around it; its canonical text is the digits without
 * zeros at either end and the power of ten, so equality needs no rounding. A date has a four-digit year and one form
 * for the whole column, with an optional time and zone in those that begin or end with the year. Missing is one of the
 * null values, blanks around it ignored. */
#include "verify/values.h"

#include "base/fold.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER_BYTES = 400, MAX_POWER = 300, MAX_MARKED_BYTES = 64 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void trim(const char **bytes, size_t *n_bytes)
{
    while (*n_bytes > 0 && (**bytes == ' ' || **bytes == '\t')) ++*bytes, --*n_bytes;
    while (*n_bytes > 0 && ((*bytes)[*n_bytes - 1] == ' ' || (*bytes)[*n_bytes - 1] == '\t')) --*n_bytes;
}

/* Words for nothing: they are values only in columns of words. */
static bool is_null_word(const char *bytes, size_t n_bytes)
{
    static const char words[] = "|na|n/a|n.a.|#n/a|<na>|nan|null|#null!|missing|unknown|n.d.|nd|n/d|not done|"
                                "no data|not available|k.a.|k. a.|keine angabe|unbekannt|nc|n.c.|?|-|--|.|";
    char word[20] = "|";
    if (n_bytes == 0 || n_bytes > 13) return false;
    for (size_t i = 0; i < n_bytes; i++) {
        const char c = bytes[i];
        if (c == '|' || c == '\0') return false;
        word[i + 1] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    word[n_bytes + 1] = '|';
    return strstr(words, word) != NULL;
}

bool kn_text_is_missing(const kn_reading *reading, const char *bytes, size_t n_bytes)
{
    if (kn_text_is_null(reading, bytes, n_bytes)) return true;
    trim(&bytes, &n_bytes);
    return reading->type != KN_TYPE_TEXT && reading->type != KN_TYPE_AUTO && is_null_word(bytes, n_bytes);
}

bool kn_text_is_null(const kn_reading *reading, const char *bytes, size_t n_bytes)
{
    trim(&bytes, &n_bytes);
    if (n_bytes == 0) return true;
    for (size_t i = 0; i < reading->n_null_values; i++) {
        const char *null_value = reading->null_values[i];
        size_t n = strlen(null_value);
        trim(&null_value, &n);
        if (n == n_bytes && memcmp(null_value, bytes, n) == 0) return true;
    }
    return false;
}

/* --- Numbers --------------------------------------------------------------------------------------------------- */

/* Digits into `digits` (without zeros at the ends) so that the number is 0.digits * 10^power. */
static bool split_number(char *digits, size_t *n_digits, int *power, bool *negative, const char *at, const char *end)
{
    size_t n = 0, n_whole = 0, n_seen = 0;
    bool point = false;
    *negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        digits[n++] = *at;
        n_whole += !point;
        n_seen++;
    }
    if (n_seen == 0) return false;
    *power = (int)n_whole;
    if (at < end) {
        if (*at != 'e' && *at != 'E') return false;
        at++;
        int sign = at < end && *at == '-' ? -1 : 1, exponent = 0;
        if (at < end && (*at == '-' || *at == '+')) at++;
        if (at == end || end - at > 3) return false;
        for (; at < end; at++) {
            if (!is_digit(*at)) return false;
            exponent = exponent * 10 + (*at - '0');
        }
        *power += sign * exponent;
    }
    size_t zeros = 0;
    while (zeros < n && digits[zeros] == '0') zeros++;
    *power -= (int)zeros;
    memmove(digits, digits + zeros, n - zeros);
    n -= zeros;
    while (n > 0 && digits[n - 1] == '0') n--;
    *n_digits = n;
    return n == 0 || (*power <= MAX_POWER && *power >= -MAX_POWER);
}

/* How many bytes of a mark that is written with several: a blank that keeps the line together, a curved apostrophe. */
static size_t long_mark(const char *bytes, size_t n_bytes)
{
    static const char *const marks[] = {"\xC2\xA0", "\xE2\x80\x89", "\xE2\x80\xAF", "\xE2\x80\x99"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t n = strlen(marks[i]);
        if (n_bytes >= n && memcmp(bytes, marks[i], n) == 0) return n;
    }
    return 0;
}

/* 1.234,56 as 1234.56, for the marks that the column has; returns the length, 0 when marks stand where none may. */
static size_t strip_marks(char *out, kn_marks marks, const char *bytes, size_t n_bytes)
{
    const char point = marks == KN_MARKS_COMMA ? ',' : '.', between = marks == KN_MARKS_COMMA ? '.' : ',';
    size_t n = 0, n_run = 0, n_first = 0, n_middle = 0, n_long;
    char seen = '\0';
    bool fraction = false;
    for (size_t i = 0; i < n_bytes; i++) {
        char c = bytes[i];
        n_long = long_mark(bytes + i, n_bytes - i);
        if (n_long > 0) c = bytes[i += n_long - 1]; /* the last byte tells them apart */
        if (is_digit(c)) {
            out[n++] = c;
            n_run++;
        } else if (i == 0 && (c == '-' || c == '+')) {
            out[n++] = c;
        } else if (c == point && !fraction) {
            if (seen != '\0' && n_run != 3) return 0;
            fraction = true;
            out[n++] = '.';
        } else if (!fraction && (n_long > 0 || c == between || c == ' ' || c == '\'')) {
            const bool indian = n_run == 2 && n_first < 3 && c == ','; /* 12,34,567 */
            if (n_run == 0 || n_run > 3 || (seen != '\0' && (c != seen || (n_run != 3 && !indian)))) return 0;
            if (seen == '\0') n_first = n_run;
            else if (n_middle != 0 && n_run != n_middle) return 0;
            else n_middle = n_run;
            seen = c;
            n_run = 0;
        } else {
            return 0;
        }
    }
    return seen != '\0' && !fraction && n_run != 3 ? 0 : n;
}

static bool read_number(double *number, char *canonical, const char *bytes, size_t n_bytes)
{
    char text[KN_CANONICAL_BYTES];
    size_t n_digits;
    int power;
    bool negative;
    trim(&bytes, &n_bytes);
    if (n_bytes == 0 || n_bytes > MAX_NUMBER_BYTES) return false;
    if (!split_number(text + 1, &n_digits, &power, &negative, bytes, bytes + n_bytes)) return false;
    if (n_digits == 0) {
        *number = 0;
        strcpy(text, "0");
    } else {
        /* strtod on whole digits and a power: no decimal point, so no locale matters */
        text[0] = negative ? '-' : '+';
        snprintf(text + 1 + n_digits, sizeof text - 1 - n_digits, "e%d", power - (int)n_digits);
        *number = strtod(text, NULL);
    }
    if (canonical != NULL) strcpy(canonical, text);
    return true;
}

/* As cells of a column that somebody declared as whole numbers are written: 7.0 is no such cell. */
static bool is_spelled_whole(const char *bytes, size_t n_bytes)
{
    trim(&bytes, &n_bytes);
    size_t i = n_bytes > 0 && (*bytes == '-' || *bytes == '+') ? 1 : 0;
    while (i < n_bytes && is_digit(bytes[i])) i++;
    return i == n_bytes;
}

/* A whole number at `at`, perhaps negative. */
static int64_t take_whole(const char *at, const char *end)
{
    int64_t number = 0;
    bool negative = at < end && *at == '-';
    for (at += negative; at < end && is_digit(*at); at++) number = number * 10 + (*at - '0');
    return negative ? -number : number;
}

/* +123e-5 in its parts: 0.digits * 10^power. */
typedef struct parts {
    int sign;
    const char *digits;
    size_t n_digits;
    int64_t power;
} parts;

static parts parts_of(const char *canonical, size_t n_bytes)
{
    const char *end = canonical + n_bytes, *e = memchr(canonical, 'e', n_bytes);
    if (e == NULL) return (parts){0}; /* 0 */
    size_t n_digits = (size_t)(e - canonical) - 1;
    return (parts){*canonical == '-' ? -1 : 1, canonical + 1, n_digits, take_whole(e + 1, end) + (int64_t)n_digits};
}

static int compare_sizes(const parts *x, const parts *y)
{
    if (x->power != y->power) return x->power < y->power ? -1 : 1;
    int order = memcmp(x->digits, y->digits, x->n_digits < y->n_digits ? x->n_digits : y->n_digits);
    return order != 0 ? order : (x->n_digits > y->n_digits) - (x->n_digits < y->n_digits);
}

int kn_canonical_compare(const char *a, size_t n_a, const char *b, size_t n_b)
{
    const char *colon_a = memchr(a, ':', n_a), *colon_b = memchr(b, ':', n_b);
    if (colon_a != NULL && colon_b != NULL) { /* days:nanoseconds */
        int64_t day_a = take_whole(a, colon_a), day_b = take_whole(b, colon_b);
        if (day_a != day_b) return day_a < day_b ? -1 : 1;
        int64_t time_a = take_whole(colon_a + 1, a + n_a), time_b = take_whole(colon_b + 1, b + n_b);
        return (time_a > time_b) - (time_a < time_b);
    }
    parts x = parts_of(a, n_a), y = parts_of(b, n_b);
    if (x.sign != y.sign) return x.sign < y.sign ? -1 : 1;
    return x.sign == 0 ? 0 : x.sign > 0 ? compare_sizes(&x, &y) : compare_sizes(&y, &x);
}

bool kn_canonical_is_long(const char *canonical) { return parts_of(canonical, strlen(canonical)).n_digits > DBL_DIG; }

/* --- Dates ----------------------------------------------------------------------------------------------------- */

/* Between min_digits and max_digits digits at *at. */
static bool take_digits(const char **at, const char *end, int min_digits, int max_digits, int *out)
{
    int n = 0;
    *out = 0;
    while (*at < end && n < max_digits && is_digit(**at)) {
        *out = *out * 10 + (**at - '0');
        ++*at;
        n++;
    }
    return n >= min_digits;
}

static bool take(const char **at, const char *end, char c)
{
    if (*at == end || **at != c) return false;
    ++*at;
    return true;
}

static bool leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static const int month_lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int64_t kn_month_start(int year, int month)
{
    const int64_t before =
        year - 1; /* whole years before this one; of the year 0 it is -1, and that year is a leap year */
    int64_t days = year < 1 ? -366 : before * 365 + before / 4 - before / 100 + before / 400;
    for (int m = 1; m < month; m++) days += month_lengths[m - 1] + (m == 2 && leap(year));
    return days - 719162;
}

/* Days since 1970-01-01, by adding up years and months; false when there is no such day. */
static bool days_of(int64_t *days, int year, int month, int day)
{
    if (year < 1 || month < 1 || month > 12 || day < 1) return false;
    if (day > month_lengths[month - 1] + (month == 2 && leap(year))) return false;
    *days = kn_month_start(year, month) + day - 1;
    return true;
}

/* [T ]hh:mm[:ss[.fraction]][Z|+hh[:]mm] at `at`; nanoseconds from midnight UTC, possibly outside the day. T and Z may
 * be small, the point a comma. COMPACT: [T]hhmm[ss] and a zone. All but these two: h:mm, too, and AM or PM at the end;
 * a blank before it, and NAMED: or a colon. */
static bool read_time(int64_t *nanoseconds, const char *at, const char *end, kn_day_order order)
{
    const bool compact = order == KN_DAY_COMPACT, loose = !compact && order != KN_DAY_ISO;
    int hour, minute, second = 0;
    int64_t fraction = 0;
    *nanoseconds = 0;
    if (at == end) return true;
    const char *marks = compact ? "T" : order == KN_DAY_NAMED ? ": " : loose ? " " : "Tt ";
    if (*at != '\0' && strchr(marks, *at) != NULL) at++;
    else if (!compact) return false;
    if (!take_digits(&at, end, loose ? 1 : 2, 2, &hour) || (!compact && !take(&at, end, ':'))) return false;
    if (!take_digits(&at, end, 2, 2, &minute)) return false;
    if (compact) {
        if (at < end && is_digit(*at) && !take_digits(&at, end, 2, 2, &second)) return false;
    } else if (take(&at, end, ':')) {
        if (!take_digits(&at, end, 2, 2, &second)) return false;
        if (take(&at, end, '.') || take(&at, end, ',')) {
            int n = 0;
            for (; at < end && is_digit(*at) && n < 10; at++, n++) fraction = fraction * 10 + (*at - '0');
            if (n == 0 || n > 9) return false;
            for (; n < 9; n++) fraction *= 10;
        }
    }
    const char *half = end - at == 3 && *at == ' ' ? at + 1 : at;
    const bool morning = end - half == 2 && (half[0] == 'A' || half[0] == 'a');
    const bool afternoon = end - half == 2 && (half[0] == 'P' || half[0] == 'p');
    if (loose && (morning || afternoon) && (half[1] == 'M' || half[1] == 'm')) {
        if (hour == 0 || hour > 12) return false;
        hour = (afternoon ? 12 : 0) + (hour == 12 ? 0 : hour);
        at = end;
    }
    if (hour > 23 || minute > 59 || second > 59) return false;
    int64_t seconds = hour * 3600 + minute * 60 + second;
    if (at < end && (*at == '+' || *at == '-')) {
        int sign = *at++ == '-' ? 1 : -1, zone_hour, zone_minute = 0; /* back to UTC */
        if (!take_digits(&at, end, 2, 2, &zone_hour)) return false;
        bool colon = take(&at, end, ':');
        if ((colon || at < end) && !take_digits(&at, end, 2, 2, &zone_minute)) return false;
        if (zone_hour > 23 || zone_minute > 59) return false;
        seconds += sign * (zone_hour * 3600 + zone_minute * 60);
    } else if (!take(&at, end, 'Z')) {
        take(&at, end, 'z');
    }
    *nanoseconds = seconds * 1000000000 + fraction;
    return at == end;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80; }

/* Which of the lists |A|B| has the word, in large or small letters; n_lists: none. */
static int list_of_word(const char *const *lists, int n_lists, const char *bytes, size_t n_bytes)
{
    char word[16] = "|";
    if (n_bytes > 12) return n_lists;
    for (size_t i = 0; i < n_bytes; i++) {
        const bool small = (bytes[i] >= 'a' && bytes[i] <= 'z') || bytes[i] == '\xa4'; /* the end of a small A umlaut */
        word[i + 1] = (char)(small ? bytes[i] - 32 : bytes[i]);
    }
    word[n_bytes + 1] = '|';
    int list = 0;
    while (list < n_lists && strstr(lists[list], word) == NULL) list++;
    return list;
}

/* The text up to a year of four digits as a shape: a letter for each of day, month and year, and what stands between
 * them. A point behind the day or the month's name is nothing, and neither is what makes 5 the 5th. */
static bool read_named_day(int64_t *days, const char **at, const char *end)
{
    static const char *const months[] = {"|JAN|JANUARY|JANUAR|JÄN|JÄNNER|",
                                         "|FEB|FEBRUARY|FEBRUAR|",
                                         "|MAR|MARCH|MÄR|MÄRZ|MAERZ|MRZ|",
                                         "|APR|APRIL|",
                                         "|MAY|MAI|",
                                         "|JUN|JUNE|JUNI|",
                                         "|JUL|JULY|JULI|",
                                         "|AUG|AUGUST|",
                                         "|SEP|SEPT|SEPTEMBER|",
                                         "|OCT|OCTOBER|OKT|OKTOBER|",
                                         "|NOV|NOVEMBER|",
                                         "|DEC|DECEMBER|DEZ|DEZEMBER|"};
    static const char *const ordinals[] = {"|ST|ND|RD|TH|"};
    static const char shapes[] = "|DMY|D M Y|D-M-Y|D/M/Y|M D Y|M D, Y|M-D-Y|M/D/Y|";
    char shape[12] = "|", before = ' ';
    int number, day = 0, month = 0, year = 0;
    size_t n = 1;
    for (; *at < end && n < sizeof shape - 2 && shape[n - 1] != 'Y'; before = (*at)[-1]) {
        const char *from = *at;
        if (is_digit(*from)) {
            take_digits(at, end, 1, 5, &number);
            if (*at - from == 4) year = number;
            else day = number;
            shape[n++] = *at - from == 4 ? 'Y' : *at - from <= 2 ? 'D' : '?';
        } else if (is_letter(*from)) {
            while (*at < end && is_letter(**at)) ++*at;
            const size_t n_letters = (size_t)(*at - from);
            if (is_digit(before) && list_of_word(ordinals, 1, from, n_letters) == 0) continue;
            month = list_of_word(months, 12, from, n_letters) + 1;
            shape[n++] = 'M';
        } else {
            ++*at;
            if (*from == '.' && (is_digit(before) || (is_letter(before) && shape[n - 1] == 'M'))) continue;
            shape[n++] = *from != '\0' ? *from : '?';
        }
    }
    shape[n] = '|';
    return strstr(shapes, shape) != NULL && days_of(days, year, month, day);
}

static bool read_day(int64_t *days, const char **at, const char *end, kn_day_order order)
{
    int first, second, third;
    char mark = order == KN_DAY_DOTS ? '.' : '/', other = order == KN_DAY_DOTS ? '.' : '-';
    bool iso = order == KN_DAY_ISO;
    if (order == KN_DAY_NAMED) return read_named_day(days, at, end);
    if (order == KN_DAY_COMPACT)
        return take_digits(at, end, 4, 4, &first) && take_digits(at, end, 2, 2, &second) &&
               take_digits(at, end, 2, 2, &third) && days_of(days, first, second, third);
    if (!take_digits(at, end, iso ? 4 : 1, iso ? 4 : 2, &first)) return false;
    if (*at < end && **at == other) mark = other;
    if (!take(at, end, mark) || !take_digits(at, end, iso ? 2 : 1, 2, &second)) return false;
    if (!take(at, end, mark) || !take_digits(at, end, iso ? 2 : 4, iso ? 2 : 4, &third)) return false;
    if (iso) return days_of(days, first, second, third);
    return order == KN_DAY_SECOND ? days_of(days, third, first, second) : days_of(days, third, second, first);
}

static bool read_date(double *number, char *canonical, kn_day_order order, const char *bytes, size_t n_bytes)
{
    int64_t days, nanoseconds, per_day = (int64_t)86400 * 1000000000;
    trim(&bytes, &n_bytes);
    const char *at = bytes, *end = bytes + n_bytes;
    if (!read_day(&days, &at, end, order)) return false;
    if (!read_time(&nanoseconds, at, end, order)) return false;
    for (; nanoseconds < 0; nanoseconds += per_day) days--;
    for (; nanoseconds >= per_day; nanoseconds -= per_day) days++;
    *number = (double)days + (double)nanoseconds / (double)per_day;
    if (*number >= (double)(days + 1))
        *number = nextafter((double)(days + 1), (double)days); /* rounding does not end the day */
    if (canonical != NULL)
        snprintf(canonical, KN_CANONICAL_BYTES, "%lld:%lld", (long long)days, (long long)nanoseconds);
    return true;
}

bool kn_text_is_day(const kn_reading *reading, const char *bytes, size_t n_bytes)
{
    int64_t days;
    trim(&bytes, &n_bytes);
    const char *at = bytes, *end = bytes + n_bytes;
    return reading->type == KN_TYPE_DATE && read_day(&days, &at, end, reading->day_order) && at == end;
}

/* Week 1 holds 4 January and starts on a Monday; day 0 was a Thursday. */
static bool read_week(double *start, double *end, int year, int week)
{
    int64_t first;
    if (week > 53 || !days_of(&first, year, 1, 4)) return false;
    first -= (first % 7 + 10) % 7;
    *start = (double)(first + 7 * (week - 1));
    *end = *start + 7;
    return true;
}

bool kn_period_read(double *start, double *end, const char *bytes, size_t n_bytes)
{
    const char *at = bytes, *stop = bytes + n_bytes;
    int year, part, n_months = 12, month = 1;
    if (!take_digits(&at, stop, 4, 4, &year)) return false;
    if (at < stop) { /* a part of the year: Qn, Hn, Wnn, mm, mm-dd */
        if (!take(&at, stop, '-') || at == stop) return false;
        char unit = is_digit(*at) ? 'M' : *at++;
        if (!take_digits(&at, stop, unit == 'M' || unit == 'W' ? 2 : 1, 2, &part) || part < 1) return false;
        if (at < stop && unit == 'M') {
            bool is_day = read_date(start, NULL, KN_DAY_ISO, bytes, n_bytes);
            if (year == 0 && part <= 12 && stop - at == 3 && memcmp(at, "-01", 3) == 0) { /* where periods may begin */
                *start = (double)kn_month_start(year, part);
                is_day = true;
            }
            *end = *start + 1;
            return is_day && *start == floor(*start);
        }
        if (at < stop) return false;
        if (unit == 'W') return read_week(start, end, year, part);
        n_months = unit == 'M' ? 1 : unit == 'Q' ? 3 : unit == 'H' ? 6 : 0;
        if (n_months == 0 || part * n_months > 12) return false;
        month = (part - 1) * n_months + 1;
    }
    const bool over = month + n_months > 12;
    *start = (double)kn_month_start(year, month);
    *end = (double)kn_month_start(year + over, over ? 1 : month + n_months);
    return true;
}

/* --- Reading --------------------------------------------------------------------------------------------------- */

void kn_reading_find_dates(kn_reading *reading, const kn_sheet_column *column)
{
    uint32_t most = 0;
    if (reading->type != KN_TYPE_DATE) return;
    for (int order = KN_DAY_ISO; order <= KN_DAY_NAMED; order++) {
        uint32_t n_fit = 0;
        for (uint32_t i = 0; i < column->n_texts; i++) {
            size_t n_bytes;
            double number;
            const char *bytes = kn_text(column, i, &n_bytes);
            bool fits = kn_text_is_missing(reading, bytes, n_bytes) ||
                        read_date(&number, NULL, (kn_day_order)order, bytes, n_bytes);
            if (!fits && !reading->invalid_is_missing) break;
            n_fit += fits;
        }
        if (n_fit > most || order == KN_DAY_ISO) {
            reading->day_order = (kn_day_order)order;
            most = n_fit;
        }
        if (most == column->n_texts) return;
    }
    if (!reading->invalid_is_missing)
        reading->type = KN_TYPE_TEXT; /* no dates after all: they are then equal only byte for byte */
}

static size_t plain_text(const void *context, char *out, const char *bytes, size_t n_bytes)
{
    const kn_reading *reading = context;
    double number;
    if (kn_text_is_missing(reading, bytes, n_bytes)) return SIZE_MAX;
    if (kn_text_read(&number, NULL, reading, bytes, n_bytes) == KN_TEXT_MISSING) return 0; /* invalid */
    if (reading->marks == KN_MARKS_PLAIN || isnan(number)) return SIZE_MAX;
    trim(&bytes, &n_bytes);
    return strip_marks(out, reading->marks, bytes, n_bytes);
}

void kn_texts_make_plain(kn_sheet_column *column, kn_reading *reading)
{
    if (reading->marks != KN_MARKS_PLAIN || reading->invalid_is_missing) kn_texts_shorten(column, plain_text, reading);
    reading->marks = KN_MARKS_PLAIN;
    reading->invalid_is_missing = false;
}

kn_text_kind kn_text_read(double *number, char *canonical, const kn_reading *reading, const char *bytes, size_t n_bytes)
{
    *number = NAN;
    if (kn_text_is_missing(reading, bytes, n_bytes)) return KN_TEXT_MISSING;
    bool read = false, is_number = reading->type == KN_TYPE_INT || reading->type == KN_TYPE_DECIMAL;
    char plain[MAX_MARKED_BYTES];
    if (is_number && reading->marks != KN_MARKS_PLAIN) {
        trim(&bytes, &n_bytes);
        n_bytes = n_bytes < MAX_MARKED_BYTES ? strip_marks(plain, reading->marks, bytes, n_bytes) : 0;
        bytes = plain;
    }
    const bool is_whole = reading->type == KN_TYPE_INT && reading->invalid_is_missing;
    if (is_number)
        read = (!is_whole || is_spelled_whole(bytes, n_bytes)) && read_number(number, canonical, bytes, n_bytes);
    else if (reading->type == KN_TYPE_DATE) read = read_date(number, canonical, reading->day_order, bytes, n_bytes);
    bool is_invalid = !read && (is_number || reading->type == KN_TYPE_DATE);
    if (is_invalid && reading->invalid_is_missing) return KN_TEXT_MISSING;
    return read ? KN_TEXT_NUMBER : KN_TEXT_BYTES;
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

typedef struct ranked {
    kn_text_kind kind;
    double number;
    const char *bytes; /* canonical for numbers, itself for text */
    size_t n_bytes;
    uint32_t value;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    int kind_x = x->kind == KN_TEXT_MISSING ? 2 : x->kind == KN_TEXT_BYTES;
    int kind_y = y->kind == KN_TEXT_MISSING ? 2 : y->kind == KN_TEXT_BYTES;
    if (kind_x != kind_y) return kind_x - kind_y;
    if (x->kind == KN_TEXT_NUMBER && x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->kind == KN_TEXT_NUMBER) return kn_canonical_compare(x->bytes, x->n_bytes, y->bytes, y->n_bytes);
    int order = memcmp(x->bytes, y->bytes, x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes);
    return order != 0 ? order : (x->n_bytes > y->n_bytes) - (x->n_bytes < y->n_bytes);
}

/* Distinct values in order of appearance: a dictionary of canonical texts, each with its kind as the first byte. */
static kn_status find_values(kn_values *values, kn_sheet_column *distinct, const kn_sheet_column *column,
                             const kn_reading *reading, kn_error *err)
{
    kn_status status = KN_OK;
    char *key = NULL;
    size_t capacity = KN_CANONICAL_BYTES + 1;
    KN_NEW_RAW(key, capacity);
    for (uint32_t i = 0; i < column->n_texts; i++) {
        size_t n_bytes, n_key = 1;
        double number;
        const char *bytes = kn_text(column, i, &n_bytes);
        if (n_bytes + 1 > capacity) {
            kn_free(key);
            key = NULL;
            capacity = n_bytes * 2;
            KN_NEW_RAW(key, capacity);
        }
        kn_text_kind kind = kn_text_read(&number, key + 1, reading, bytes, n_bytes);
        key[0] = (char)('0' + kind);
        if (kind == KN_TEXT_NUMBER) n_key += strlen(key + 1);
        if (kind == KN_TEXT_BYTES && reading->fold) {
            n_key += kn_fold(key + 1, bytes, n_bytes);
        } else if (kind == KN_TEXT_BYTES) {
            memcpy(key + 1, bytes, n_bytes);
            n_key += n_bytes;
        }
        KN_TRY(kn_text_add(&values->of_text[i], distinct, key, n_key, err));
        values->text_of_value[values->of_text[i]] = i;
    }
    values->n_values = distinct->n_texts;
done:
    kn_free(key);
    return status;
}

static kn_status sort_values(kn_values *values, const kn_sheet_column *distinct, const kn_sheet_column *column,
                             const kn_reading *reading, kn_error *err)
{
    kn_status status = KN_OK;
    ranked *order = NULL;
    uint32_t *rank = NULL, *text_of_value = NULL;
    KN_NEW_RAW(order, values->n_values);
    KN_NEW_RAW(rank, values->n_values);
    KN_NEW_RAW(text_of_value, values->n_values);
    for (uint32_t v = 0; v < values->n_values; v++) {
        size_t n_bytes;
        double number;
        const char *key = kn_text(distinct, v, &n_bytes);
        order[v] = (ranked){.bytes = key + 1, .n_bytes = n_bytes - 1, .value = v};
        const char *bytes = kn_text(column, values->text_of_value[v], &n_bytes);
        order[v].kind = kn_text_read(&number, NULL, reading, bytes, n_bytes);
        order[v].number = number;
    }
    qsort(order, values->n_values, sizeof *order, by_rank);
    for (uint32_t i = 0; i < values->n_values; i++) {
        rank[order[i].value] = i;
        text_of_value[i] = values->text_of_value[order[i].value];
        if (order[i].kind == KN_TEXT_MISSING) values->missing = i;
    }
    for (uint32_t i = 0; i < column->n_texts; i++) values->of_text[i] = rank[values->of_text[i]];
    memcpy(values->text_of_value, text_of_value, values->n_values * sizeof *text_of_value);
done:
    kn_free(order);
    kn_free(rank);
    kn_free(text_of_value);
    return status;
}

kn_status kn_values_make(kn_values **out, const kn_sheet_column *column, const kn_reading *reading, kn_error *err)
{
    kn_status status = KN_OK;
    kn_values *values = NULL;
    kn_sheet_column distinct = {0};
    *out = NULL;
    KN_NEW(values, 1);
    values->missing = KN_NONE;
    KN_NEW_RAW(values->of_text, column->n_texts);
    KN_NEW_RAW(values->text_of_value, column->n_texts);
    KN_TRY(find_values(values, &distinct, column, reading, err));
    KN_TRY(sort_values(values, &distinct, column, reading, err));
    *out = values;
    values = NULL;
done:
    kn_values_free(values);
    kn_free(distinct.bytes);
    kn_free(distinct.offset);
    kn_free(distinct.hash);
    kn_free(distinct.slots);
    return status;
}

void kn_values_free(kn_values *values)
{
    if (values == NULL) return;
    kn_free(values->of_text);
    kn_free(values->text_of_value);
    kn_free(values);
}
