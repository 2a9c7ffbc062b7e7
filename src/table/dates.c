/* Calendar arithmetic (Howard Hinnant's days_from_civil: eras of 400 years that begin on 1 March) and the parsing of
 * date spellings. Everything is exact; only kn_moment_number rounds. */
#include "table/dates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DAYS_PER_ERA = 146097, DAYS_TO_1970 = 719468, NANOSECONDS = 1000000000 };
static const int64_t SECONDS_PER_DAY = 86400;

static bool is_leap(int32_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

unsigned kn_days_in_month(int32_t year, unsigned month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

bool kn_date_is_valid(kn_date date)
{
    return date.year >= 1 && date.year <= 9999 && date.month >= 1 && date.month <= 12 && date.day >= 1 &&
           date.day <= kn_days_in_month(date.year, date.month);
}

int64_t kn_date_to_days(kn_date date)
{
    int64_t year = (int64_t)date.year - (date.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

kn_date kn_date_from_days(int64_t days)
{
    days += DAYS_TO_1970;
    int64_t era = (days >= 0 ? days : days - (DAYS_PER_ERA - 1)) / DAYS_PER_ERA;
    int64_t day_of_era = days - era * DAYS_PER_ERA;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    kn_date date;
    date.day = (uint8_t)(day_of_year - (153 * shifted_month + 2) / 5 + 1);
    date.month = (uint8_t)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
    date.year = (int32_t)(year_of_era + era * 400 + (date.month <= 2));
    return date;
}

kn_date kn_date_of_number(double days) { return kn_date_from_days((int64_t)floor(days)); }

const char *kn_date_text(char buffer[KN_DATE_BYTES], kn_date date)
{
    snprintf(buffer, KN_DATE_BYTES, "%04d-%02u-%02u", (int)date.year, date.month, date.day);
    return buffer;
}

double kn_moment_number(const kn_moment *moment)
{
    double day = (double)moment->days;
    double number = day + (double)moment->nanoseconds / ((double)SECONDS_PER_DAY * NANOSECONDS);
    return number < day + 1 ? number : nextafter(day + 1, day);
}

/* --- Spellings ------------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static bool take_char(cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

/* One of `wanted`; '\0' where none stands there. */
static char take_any(cursor *c, const char *wanted)
{
    for (; *wanted != '\0'; wanted++)
        if (take_char(c, *wanted)) return *wanted;
    return '\0';
}

static bool take_digits(cursor *c, unsigned min_digits, unsigned max_digits, unsigned *out)
{
    unsigned n = 0, value = 0;
    while (n < max_digits && c->at < c->end && *c->at >= '0' && *c->at <= '9') {
        value = value * 10 + (unsigned)(*c->at++ - '0');
        n++;
    }
    *out = value;
    return n >= min_digits;
}

/* Z, +02:00, +0200, +02; nothing is fine. */
static bool take_zone(cursor *c, kn_moment *moment, int64_t *offset_seconds)
{
    unsigned hours = 0, minutes = 0;
    *offset_seconds = 0;
    if (take_char(c, 'Z') || take_char(c, 'z')) {
        moment->has_zone = true;
        return true;
    }
    if (c->at == c->end || (*c->at != '+' && *c->at != '-')) return true;
    int sign = *c->at++ == '-' ? -1 : 1;
    if (!take_digits(c, 2, 2, &hours)) return false;
    bool colon = take_char(c, ':');
    if ((colon || c->at != c->end) && !take_digits(c, 2, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    *offset_seconds = sign * (int64_t)(hours * 3600 + minutes * 60);
    moment->has_zone = true;
    return true;
}

static bool take_fraction(cursor *c, uint64_t *nanoseconds)
{
    uint64_t unit = NANOSECONDS / 10;
    unsigned n_digits = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++, n_digits++, unit /= 10)
        *nanoseconds += unit * (uint64_t)(*c->at - '0');
    return n_digits >= 1 && n_digits <= 9;
}

/* The time and zone to the moment. */
static bool set_time(cursor *c, kn_moment *moment, unsigned hours, unsigned minutes, unsigned seconds,
                     uint64_t nanoseconds)
{
    int64_t offset_seconds;
    if (hours > 23 || minutes > 59 || seconds > 59) return false;
    if (!take_zone(c, moment, &offset_seconds)) return false;
    int64_t second = (int64_t)(hours * 3600 + minutes * 60 + seconds) - offset_seconds;
    int64_t day_shift = second < 0 ? -1 : second >= SECONDS_PER_DAY ? 1 : 0;
    moment->days += day_shift;
    moment->nanoseconds = (uint64_t)(second - day_shift * SECONDS_PER_DAY) * NANOSECONDS + nanoseconds;
    moment->has_time = true;
    return true;
}

static char lower(char byte)
{
    const bool is_capital = (byte >= 'A' && byte <= 'Z') || byte == '\x84'; /* behind \xc3: of the letter A umlaut */
    return is_capital ? (char)(byte | 32) : byte;
}

/* am or pm, if that is all that is left: then hours are 1 to 12. */
static bool take_half_day(cursor *c, unsigned *hours)
{
    const char *at = c->at + (c->at < c->end && *c->at == ' ');
    if (c->end - at != 2 || lower(at[1]) != 'm' || (lower(at[0]) != 'a' && lower(at[0]) != 'p')) return true;
    if (*hours < 1 || *hours > 12) return false;
    *hours = *hours % 12 + (lower(at[0]) == 'p' ? 12 : 0);
    c->at = c->end;
    return true;
}

/* Behind one of `marks`; nothing is fine. `spoken`: as people and spreadsheets have it, also 9:05 and 9:05 pm. */
static bool take_time(cursor *c, kn_moment *moment, const char *marks, bool spoken)
{
    unsigned hours, minutes, seconds = 0;
    uint64_t nanoseconds = 0;
    if (c->at == c->end) return true;
    if (take_any(c, marks) == '\0') return false;
    if (!take_digits(c, spoken ? 1 : 2, 2, &hours) || !take_char(c, ':') || !take_digits(c, 2, 2, &minutes))
        return false;
    if (take_char(c, ':')) {
        if (!take_digits(c, 2, 2, &seconds)) return false;
        if ((take_char(c, '.') || take_char(c, ',')) && !take_fraction(c, &nanoseconds)) return false;
    }
    if (spoken && !take_half_day(c, &hours)) return false;
    return set_time(c, moment, hours, minutes, seconds, nanoseconds);
}

static bool set_day(kn_moment *moment, unsigned year, unsigned month, unsigned day)
{
    kn_date date = {(int32_t)year, (uint8_t)month, (uint8_t)day};
    if (month > 12 || day > 31 || !kn_date_is_valid(date)) return false;
    moment->days = kn_date_to_days(date);
    return true;
}

static bool parse_iso(cursor *c, kn_moment *moment)
{
    unsigned year, month, day;
    if (!take_digits(c, 4, 4, &year) || c->at == c->end) return false;
    char separator = *c->at;
    if (separator != '-' && separator != '/') return false;
    c->at++;
    if (!take_digits(c, 2, 2, &month) || !take_char(c, separator) || !take_digits(c, 2, 2, &day)) return false;
    return set_day(moment, year, month, day) && take_time(c, moment, "Tt ", false);
}

/* Two short numbers and a year: d.m.yyyy, d/m/yyyy, m/d/yyyy. */
static bool parse_three(cursor *c, kn_moment *moment, kn_date_form form)
{
    unsigned first, second, year;
    if (!take_digits(c, 1, 2, &first) || c->at == c->end) return false;
    char separator = *c->at;
    if (form == KN_DATE_DOTS ? separator != '.' : separator != '/' && separator != '-') return false;
    c->at++;
    if (!take_digits(c, 1, 2, &second) || !take_char(c, separator) || !take_digits(c, 4, 4, &year)) return false;
    const bool is_day =
        form == KN_DATE_MONTH ? set_day(moment, year, first, second) : set_day(moment, year, second, first);
    return is_day && take_time(c, moment, " ", true);
}

static bool parse_compact(cursor *c, kn_moment *moment)
{
    unsigned year, month, day;
    unsigned hours, minutes, seconds;
    if (!take_digits(c, 4, 4, &year) || !take_digits(c, 2, 2, &month) || !take_digits(c, 2, 2, &day)) return false;
    if (!set_day(moment, year, month, day)) return false;
    if (c->at == c->end) return true;
    take_char(c, 'T');
    if (!take_digits(c, 2, 2, &hours) || !take_digits(c, 2, 2, &minutes)) return false;
    const char *behind = c->at;
    if (!take_digits(c, 2, 2, &seconds)) {
        seconds = 0;
        c->at = behind;
    }
    return set_time(c, moment, hours, minutes, seconds, 0);
}

static bool is_letter(char byte) { return ((byte | 32) >= 'a' && (byte | 32) <= 'z') || (byte & 0x80) != 0; }

/* 1 to 12; 0: the word is no month. */
static unsigned month_named(const char *word, size_t n)
{
    static const char *const names[] = {"jan january januar jän jänner",
                                        "feb february februar",
                                        "mar march mär märz mrz maerz",
                                        "apr april",
                                        "may mai",
                                        "jun june juni",
                                        "jul july juli",
                                        "aug august",
                                        "sep sept september",
                                        "oct october okt oktober",
                                        "nov november",
                                        "dec december dez dezember"};
    for (unsigned month = 0; month < 12; month++)
        for (const char *at = names[month]; *at != '\0'; at += *at == ' ') {
            size_t same = 0;
            while (same < n && lower(word[same]) == at[same]) same++;
            if (same == n && (at[n] == ' ' || at[n] == '\0')) return month + 1;
            while (*at != ' ' && *at != '\0') at++;
        }
    return 0;
}

/* 5, 05, 5. or 5th */
static bool take_day(cursor *c, unsigned *day)
{
    static const char *const behind[] = {"st", "nd", "rd", "th"};
    if (!take_digits(c, 1, 2, day)) return false;
    if (take_char(c, '.')) return true;
    for (size_t i = 0; i < 4 && c->end - c->at > 2; i++)
        if (lower(c->at[0]) == behind[i][0] && lower(c->at[1]) == behind[i][1] && !is_letter(c->at[2])) c->at += 2;
    return true;
}

/* Letters, and a point where they may be a short name. */
static bool take_word(cursor *c, cursor *word)
{
    word->at = c->at;
    while (c->at < c->end && is_letter(*c->at)) c->at++;
    word->end = c->at;
    take_char(c, '.');
    return word->end > word->at;
}

/* Day, month and year with the same between them, or month, day and year; then a comma may stand behind the day. Which
 * month the word is comes last: most texts are no dates by then. */
static bool parse_named(cursor *c, kn_moment *moment)
{
    unsigned day = 0, year;
    cursor word = {0};
    const bool day_first = c->at < c->end && !is_letter(*c->at);
    if (day_first ? !take_day(c, &day) : !take_word(c, &word)) return false;
    const char between = take_any(c, " -/");
    if (day_first ? !take_word(c, &word) : between == '\0' || !take_day(c, &day)) return false;
    if (!day_first && between == ' ') take_char(c, ',');
    if (between != '\0' && !take_char(c, between)) return false;
    return take_digits(c, 4, 4, &year) &&
           set_day(moment, year, month_named(word.at, (size_t)(word.end - word.at)), day) &&
           take_time(c, moment, ": ", true);
}

static bool parse_form(kn_moment *out, const char *bytes, size_t n_bytes, kn_date_form form)
{
    cursor c = {bytes, bytes + n_bytes};
    *out = (kn_moment){0};
    while (c.at < c.end && (*c.at == ' ' || *c.at == '\t')) c.at++;
    while (c.at < c.end && (c.end[-1] == ' ' || c.end[-1] == '\t')) c.end--;
    bool parsed = form == KN_DATE_ISO       ? parse_iso(&c, out)
                  : form == KN_DATE_COMPACT ? parse_compact(&c, out)
                  : form == KN_DATE_NAMED   ? parse_named(&c, out)
                                            : parse_three(&c, out, form);
    return parsed && c.at == c.end;
}

bool kn_date_parse(kn_moment *out, const char *bytes, size_t n_bytes, unsigned forms)
{
    *out = (kn_moment){0};
    for (; forms != 0; forms &= forms - 1)
        if (parse_form(out, bytes, n_bytes, (kn_date_form)(forms & ~(forms - 1)))) return true;
    return false;
}

bool kn_date_is_plausible(const char *bytes, size_t n_bytes)
{
    kn_moment moment;
    if (!kn_date_parse(&moment, bytes, n_bytes, KN_DATE_COMPACT)) return false;
    const int32_t year = kn_date_from_days(moment.days).year;
    return year >= 1800 && year < 2200;
}

/* Any century: the 29th of February is a day of some. */
static bool is_day_of_some_year(unsigned month, unsigned day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= kn_days_in_month(2000, month);
}

unsigned kn_date_short_forms(const char *bytes, size_t n_bytes)
{
    cursor c = {bytes, bytes + n_bytes};
    unsigned first, second, third, hours;
    while (c.at < c.end && *c.at == ' ') c.at++;
    while (c.at < c.end && c.end[-1] == ' ') c.end--;
    if (!take_digits(&c, 1, 2, &first) || c.at == c.end) return 0;
    const char separator = *c.at++;
    if (separator != '.' && separator != '/' && separator != '-') return 0;
    if (!take_digits(&c, 1, 2, &second) || !take_char(&c, separator) || !take_digits(&c, 2, 2, &third)) return 0;
    const bool has_time = take_char(&c, ' ') && take_digits(&c, 1, 2, &hours) && take_char(&c, ':');
    if (c.at != c.end && !has_time) return 0;
    return (is_day_of_some_year(second, first) ? KN_DATE_DAY : 0u) |
           (separator != '.' && is_day_of_some_year(first, second) ? KN_DATE_MONTH : 0u) |
           (separator != '.' && is_day_of_some_year(second, third) ? KN_DATE_ISO : 0u);
}

/* Of two letters the whole word, otherwise its beginning. */
static bool begins_like(const char *word, size_t n, const char *const *known)
{
    for (; *known != NULL; known++) {
        size_t same = 0, wanted = strlen(*known);
        while (same < wanted && same < n && lower(word[same]) == (*known)[same]) same++;
        if (same == wanted && (wanted > 2 || n == wanted)) return true;
    }
    return false;
}

bool kn_date_has_month_name(const char *bytes, size_t n_bytes)
{
    /* how months begin in the languages of western Europe, and what else stands in such dates */
    static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct",
                                         "nov", "dec", "mai", "okt", "dez", "mär", "fév", "fev", "avr", "jui",
                                         "aoû", "aou", "déc", "ene", "abr", "ago", "dic", "gen", "mag", "giu",
                                         "lug", "set", "ott", "mrt", "mei", "out", NULL};
    static const char *const others[] = {"st",  "nd",  "rd",  "th",  "er",  "de",  "of", "mon",
                                         "tue", "wed", "thu", "fri", "sat", "sun", NULL};
    cursor c = {bytes, bytes + n_bytes};
    unsigned n_months = 0, n_days = 0, n_years = 0;
    while (c.at < c.end && n_months + n_days + n_years < 3) {
        const char *word = c.at;
        unsigned number;
        if (take_digits(&c, 1, 4, &number)) {
            const size_t n = (size_t)(c.at - word);
            if (n <= 2 && n_days == 0 && number >= 1 && number <= 31) n_days++;
            else if (n != 3 && n != 1) n_years++;
            else return false;
        } else if (is_letter(*word)) {
            while (c.at < c.end && is_letter(*c.at)) c.at++;
            const size_t n = (size_t)(c.at - word);
            if (begins_like(word, n, months)) n_months++;
            else if (!begins_like(word, n, others)) return false;
        } else if (strchr(" -./,'", *c.at++) == NULL) {
            return false;
        }
    }
    if (c.at < c.end && strchr("0123456789", *c.at) != NULL) return false;           /* of a longer number */
    while (c.at < c.end && strchr("0123456789:. TZ+-APMapm", *c.at) != NULL) c.at++; /* perhaps a time */
    return n_months == 1 && n_days == 1 && n_years == 1 && c.at == c.end;
}

unsigned kn_date_forms(const char *bytes, size_t n_bytes, unsigned forms)
{
    unsigned found = 0;
    kn_moment moment;
    for (; forms != 0; forms &= forms - 1) {
        const unsigned form = forms & ~(forms - 1);
        if (parse_form(&moment, bytes, n_bytes, (kn_date_form)form)) found |= form;
    }
    return found;
}

/* --- Periods of the calendar -------------------------------------------------------------------------------------- */

typedef struct text {
    const char *bytes;
    size_t n;
} text;

static bool take_number(int *out, text *at, size_t n_digits)
{
    if (at->n < n_digits) return false;
    *out = 0;
    for (size_t i = 0; i < n_digits; i++) {
        if (at->bytes[i] < '0' || at->bytes[i] > '9') return false;
        *out = *out * 10 + (at->bytes[i] - '0');
    }
    at->bytes += n_digits;
    at->n -= n_digits;
    return true;
}

static double first_of_month(int year, int month) /* month may be 13 */
{
    return (double)kn_date_to_days((kn_date){year + (month > 12), (uint8_t)(month > 12 ? month - 12 : month), 1});
}

static void week_of(double *from, double *to, int year, int week)
{
    double fourth = (double)kn_date_to_days((kn_date){year, 1, 4}); /* is in week 1; day 0 was a Thursday */
    double monday = fourth - fmod(fmod(fourth + 3, 7) + 7, 7);
    *from = monday + 7 * (week - 1);
    *to = *from + 7;
}

bool kn_period_parse(double *from, double *to, const char *bytes, size_t n_bytes)
{
    text at = {bytes, n_bytes};
    int year, part, n_months = 12, month = 1;
    if (!take_number(&year, &at, 4)) return false;
    if (at.n > 0) {
        if (at.bytes[0] != '-' || at.n < 2) return false;
        char unit = at.bytes[1];
        bool is_month = unit >= '0' && unit <= '9';
        at.bytes += is_month ? 1 : 2;
        at.n -= is_month ? 1 : 2;
        if (!take_number(&part, &at, is_month || unit == 'W' ? 2 : 1) || at.n > 0 || part < 1) return false;
        if (unit == 'W') {
            week_of(from, to, year, part);
            return part <= 53;
        }
        n_months = is_month ? 1 : unit == 'Q' ? 3 : unit == 'H' ? 6 : 0;
        if (n_months == 0 || part * n_months > 12) return false;
        month = (part - 1) * n_months + 1;
    }
    *from = first_of_month(year, month);
    *to = first_of_month(year, month + n_months);
    return true;
}
