/* Oddities of tables as they come. Cost: a pass over the distinct spellings of each column, and the rows of each. */
#include "run/as_it_comes.h"

#include "duckdb/duckdb.h"
#include "run/column_looks.h"
#include "table/dates.h"
#include "table/names.h"
#include "table/number.h"
#include "table/number_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NEARLY_ALL 0.99
#define MOST       0.95 /* where the column's name says so, too */

/* Of the cells of a column that is called one of dates, fewer must be some. */
static double share_of_dates(const kn_column *column) { return kn_name_is_date(column->name) ? MOST : NEARLY_ALL; }

static bool is_missing(const kn_column *column, uint32_t spelling)
{
    return column->has_missing && kn_column_value(column, spelling) == column->n_values - 1;
}

static bool begins_with_blank(const char *bytes, size_t n) { return n > 1 && (*bytes == ' ' || *bytes == '\t'); }

/* More than half of the cells, and as many values: a text that begins with a blank now and then is somebody's typo. */
static bool has_blanks(const kn_column *column, const uint64_t *rows)
{
    uint64_t n_cells = 0, n_blank = 0;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (is_missing(column, s)) continue;
        n_cells += rows[s];
        if (begins_with_blank(bytes, n)) n_blank += rows[s];
    }
    return n_cells > 0 && n_blank * 2 > n_cells;
}

static uint64_t count_invalid(const kn_column *column, const uint64_t *rows)
{
    uint64_t n = 0;
    for (uint32_t s = 0; column->is_invalid != NULL && s < column->n_spellings; s++)
        if (column->is_invalid[s]) n += rows[s];
    return n;
}

/* Dates of a column in the form that most of them have, and the others. */
typedef struct mixed_dates {
    uint64_t n_cells, n_most, n_others, line; /* the first line of those */
    int most, other;                          /* numbers of forms */
} mixed_dates;

static unsigned forms_of(const kn_column *column, uint32_t spelling)
{
    size_t n;
    const char *bytes = kn_column_bytes(column, spelling, &n);
    unsigned forms = kn_date_forms(bytes, n, KN_DATE_ANY);
    return (forms & KN_DATE_COMPACT) && !kn_date_is_plausible(bytes, n) ? forms & ~(unsigned)KN_DATE_COMPACT : forms;
}

static int most_frequent(const uint64_t n_cells[KN_DATE_N_FORMS])
{
    int most = 0;
    for (int form = 1; form < KN_DATE_N_FORMS; form++)
        if (n_cells[form] > n_cells[most]) most = form;
    return most;
}

static mixed_dates count_dates(const kn_column *column, const uint64_t *rows)
{
    mixed_dates dates = {0};
    uint64_t n_cells[KN_DATE_N_FORMS] = {0}, n_others[KN_DATE_N_FORMS] = {0};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t s = 0; s < column->n_spellings; s++) {
            if (is_missing(column, s)) continue;
            const unsigned forms = forms_of(column, s);
            if (pass == 0) dates.n_cells += rows[s];
            for (int form = 0; form < KN_DATE_N_FORMS && pass == 0; form++)
                n_cells[form] += forms >> form & 1 ? rows[s] : 0;
            if (pass == 0 || forms == 0 || (forms >> dates.most & 1)) continue;
            for (int form = 0; form < KN_DATE_N_FORMS; form++) n_others[form] += forms >> form & 1 ? rows[s] : 0;
            dates.n_others += rows[s];
            if (dates.line == 0 || column->first_line[s] < dates.line) dates.line = column->first_line[s];
        }
        if (pass == 0) dates.most = most_frequent(n_cells);
    }
    dates.n_most = n_cells[dates.most];
    dates.other = most_frequent(n_others);
    return dates;
}

/* Dates that are not read: years of two digits, months in letters as nobody reads them here, and day and month that
 * could be exchanged in every one. */
typedef struct unclear_dates {
    uint64_t n_cells;
    uint64_t n_short, n_day, n_month, n_year, n_either, short_line;
    uint64_t n_named, named_line;
    uint64_t n_long, n_exchangeable, long_line;
} unclear_dates;

static void note_line(uint64_t *first, uint64_t line)
{
    if (*first == 0 || line < *first) *first = line;
}

static unclear_dates count_unclear(const kn_column *column, const uint64_t *rows)
{
    const unsigned either = KN_DATE_DAY | KN_DATE_MONTH;
    unclear_dates dates = {0};
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (is_missing(column, s) || kn_is_null_word(bytes, n)) continue;
        const unsigned forms = forms_of(column, s), short_forms = forms == 0 ? kn_date_short_forms(bytes, n) : 0;
        dates.n_cells += rows[s];
        dates.n_long += forms != 0 ? rows[s] : 0;
        dates.n_exchangeable += forms == either ? rows[s] : 0;
        if (forms != 0) note_line(&dates.long_line, column->first_line[s]);
        if (forms == 0 && kn_date_has_month_name(bytes, n)) {
            dates.n_named += rows[s];
            note_line(&dates.named_line, column->first_line[s]);
        }
        if (short_forms == 0) continue;
        dates.n_short += rows[s];
        *(short_forms == KN_DATE_DAY     ? &dates.n_day
          : short_forms == KN_DATE_MONTH ? &dates.n_month
          : short_forms == KN_DATE_ISO   ? &dates.n_year
                                         : &dates.n_either) += rows[s];
        note_line(&dates.short_line, column->first_line[s]);
    }
    return dates;
}

static kn_piece count_piece(uint64_t n) { return kn_piece_number("%llu", (unsigned long long)n); }

/* Whether there are enough dates for several forms to be told of. */
static bool notice_unclear_dates(kn_input *input, kn_piece name, const kn_column *column, const uint64_t *rows)
{
    const unclear_dates dates = count_unclear(column, rows);
    const double share = share_of_dates(column);
    if ((double)(dates.n_long + dates.n_short + dates.n_named) < share * (double)dates.n_cells) return false;
    if (dates.n_short > 0)
        kn_sentences_add(&input->warnings,
                         KN_SAID(KN_SAY_SHORT_DATES, name, count_piece(dates.n_short), count_piece(dates.short_line),
                                 count_piece(dates.n_day), count_piece(dates.n_month), count_piece(dates.n_year),
                                 count_piece(dates.n_either)));
    if (dates.n_named > 0)
        kn_sentences_add(&input->warnings,
                         KN_SAID(KN_SAY_NAMED_MONTHS, name, count_piece(dates.n_named), count_piece(dates.named_line)));
    const bool is_listed = kn_problem_find(input->problems, KN_PROBLEM_OTHER, column->name) != NULL;
    if (dates.n_long > 0 && dates.n_exchangeable == dates.n_long && !is_listed)
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_EXCHANGEABLE_DATES, name, count_piece(dates.n_long),
                                                   count_piece(dates.long_line)));
    return (double)dates.n_long >= share * (double)dates.n_cells;
}

bool kn_input_notice_dates(kn_input *input, uint32_t c, const uint64_t *rows, bool becomes_date)
{
    static const char *const examples[KN_DATE_N_FORMS] = {"2024-01-31", "31.01.2024", "31/01/2024",
                                                          "01/31/2024", "20240131",   "31JAN2024"};
    const kn_column *column = &input->table->columns[c];
    char shown[KN_SHOWN_BYTES];
    const bool may_be = column->type == KN_TYPE_TEXT && input->choices[c].type == KN_TYPE_AUTO;
    const size_t n_told = input->warnings.n;
    if (!may_be || column->role == KN_ROLE_IDENTIFIER) return false;
    const kn_piece name = kn_piece_text(kn_settings_column_shown(shown, input->request->settings, column->name, c));
    if (!notice_unclear_dates(input, name, column, rows)) return input->warnings.n > n_told;
    const mixed_dates dates = count_dates(column, rows);
    const double share = share_of_dates(column);
    if (dates.n_others == 0 || (double)(dates.n_most + dates.n_others) < share * (double)dates.n_cells)
        return input->warnings.n > n_told;
    const kn_piece n_most = count_piece(dates.n_most), n_others = count_piece(dates.n_others);
    const kn_piece line = count_piece(dates.line);
    const kn_piece most = kn_piece_text(examples[dates.most]), other = kn_piece_text(examples[dates.other]);
    kn_sentences_add(&input->warnings, becomes_date
                                           ? KN_SAID(KN_SAY_OTHER_DATES, name, other, n_others, line, most)
                                           : KN_SAID(KN_SAY_MIXED_DATES, name, most, n_most, other, n_others, line));
    return true;
}

/* What becomes of a quasi-identifier's cells follows from how they look. */
static bool nobody_decided(const kn_column_choice *choice)
{
    return choice->role == KN_ROLE_QUASI && choice->type == KN_TYPE_AUTO &&
           (choice->hierarchy == NULL || strcmp(choice->hierarchy, "auto") == 0);
}

kn_status kn_input_notice(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    uint32_t n_with_blanks = 0;
    bool has_commas = false;
    for (uint32_t c = 0; c < input->table->n_columns; c++)
        has_commas = has_commas || input->table->columns[c].marks == KN_MARKS_COMMA;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        char shown[KN_SHOWN_BYTES];
        if (column->codes == NULL) continue;
        const kn_piece name = kn_piece_text(kn_settings_column_shown(shown, input->request->settings, column->name, c));
        KN_TRY(kn_column_spelling_rows(&rows, column, input->table->n_rows, err));
        if (column->marks != KN_MARKS_PLAIN && input->csv.decimal == KN_DECIMAL_AUTO)
            kn_sentences_add(&input->warnings,
                             KN_SAID(column->marks == KN_MARKS_COMMA ? KN_SAY_MARKS_COMMA : KN_SAY_MARKS_POINT, name));
        /* A type says how 1.234 is read, but for somebody whose other columns have decimal commas. */
        const bool is_asked =
            input->csv.decimal != KN_DECIMAL_AUTO || (input->choices[c].type != KN_TYPE_AUTO && !has_commas);
        if (!is_asked && kn_is_csv(input->path) && kn_column_marks_unclear(column))
            kn_sentences_add(&input->warnings,
                             KN_SAID(column->type == KN_TYPE_TEXT ? KN_SAY_MARKS_UNCLEAR : KN_SAY_POINT_UNCLEAR, name));
        const uint64_t n_invalid = count_invalid(column, rows);
        const bool is_listed = kn_problem_find(input->problems, KN_PROBLEM_BAD_CELLS, column->name) != NULL;
        if (n_invalid > 0 && !is_listed)
            kn_sentences_add(&input->warnings,
                             KN_SAID(KN_SAY_INVALID_CELLS, name, kn_piece_number("%llu", (unsigned long long)n_invalid),
                                     kn_piece_text(kn_type_name(column->type))));
        if (!kn_input_notice_dates(input, c, rows, false) && nobody_decided(&input->choices[c])) {
            const kn_mixed_cells mixed = kn_column_mixed_cells(column, rows);
            kn_mixed_cells_tell(input, name, column, &mixed);
        }
        n_with_blanks += !input->csv.trim && column->type == KN_TYPE_TEXT && has_blanks(column, rows);
        kn_free(rows);
        rows = NULL;
    }
    if (n_with_blanks > 0)
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_BLANKS_BEFORE, kn_piece_number("%u", n_with_blanks)));
done:
    kn_free(rows);
    return status;
}

/* --- Dates that are none ----------------------------------------------------------------------------------------- */

bool kn_column_means_no_date(const kn_column *column, uint32_t value)
{
    enum { FIRST_YEAR = 1, OPEN_END = 2099 };
    const double apart = 20 * 365.25, *number = column->number;
    const uint32_t n_present = column->n_values - column->has_missing;
    const kn_date date = kn_date_of_number(number[value]);
    const bool is_end = (date.month == 1 && date.day == 1) || (date.month == 12 && date.day == 31);
    if (!is_end) return false;
    if (date.year >= OPEN_END) return value > 0 ? number[value] - number[value - 1] > apart : n_present == 1;
    return date.year == FIRST_YEAR && (value + 1 == n_present || number[value + 1] - number[value] > apart);
}

kn_status kn_input_notice_no_dates(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        if (column->type != KN_TYPE_DATE || column->codes == NULL) continue;
        KN_TRY(kn_column_spelling_rows(&rows, column, input->table->n_rows, err));
        for (uint32_t s = 0; s < column->n_spellings; s++) {
            size_t n;
            const char *bytes = kn_column_bytes(column, s, &n);
            char shown[KN_SHOWN_BYTES];
            if (rows[s] == 0 || is_missing(column, s) || !kn_column_means_no_date(column, kn_column_value(column, s)))
                continue;
            snprintf(shown, sizeof shown, "%.*s", (int)n, bytes);
            kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_NO_DATE, kn_piece_text(column->name),
                                                       kn_piece_text(shown), count_piece(rows[s])));
        }
        kn_free(rows);
        rows = NULL;
    }
done:
    kn_free(rows);
    return status;
}

/* --- Types of nearly all cells -------------------------------------------------------------------------------------
 */

typedef struct fits {
    uint64_t n_cells, n_forms[KN_DATE_N_FORMS];
    kn_number_readings numbers;
} fits;

static fits count_fits(const kn_column *column, const uint64_t *rows)
{
    fits f = {0};
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (is_missing(column, s) || kn_is_null_word(bytes, n)) continue;
        const unsigned forms = forms_of(column, s);
        f.n_cells += rows[s];
        kn_number_readings_add(&f.numbers, bytes, n, false, rows[s]);
        for (int i = 0; i < KN_DATE_N_FORMS; i++) f.n_forms[i] += forms >> i & 1 ? rows[s] : 0;
    }
    return f;
}

static bool is_nearly_all(uint64_t n, uint64_t n_cells, double share)
{
    return n < n_cells && (double)n >= share * (double)n_cells;
}

/* Whether cells as they are leave it open that the column is one of numbers or dates: 20240131 is both. */
static bool is_open(const kn_column *column)
{
    return (column->type == KN_TYPE_TEXT || column->type == KN_TYPE_INT) && column->marks == KN_MARKS_PLAIN &&
           !kn_name_is_postcode(column->name);
}

/* Day and month that could be exchanged in all dates are nobody's guess. */
static bool is_exchangeable(const fits *f) { return f->n_forms[2] > 0 && f->n_forms[2] == f->n_forms[3]; }

static kn_type nearly_type(const kn_column *column, const uint64_t *rows)
{
    enum { FEW_CELLS = 100 };
    if (!is_open(column)) return KN_TYPE_AUTO;
    const fits f = count_fits(column, rows);
    if (f.n_cells < FEW_CELLS) return KN_TYPE_AUTO;
    const double dates = share_of_dates(column);
    for (int i = 0; i < KN_DATE_N_FORMS; i++) {
        const bool all_but_words = column->type == KN_TYPE_TEXT && f.n_forms[i] == f.n_cells;
        if (!is_exchangeable(&f) && (is_nearly_all(f.n_forms[i], f.n_cells, dates) || all_but_words))
            return KN_TYPE_DATE;
    }
    if (column->type != KN_TYPE_TEXT) return KN_TYPE_AUTO;
    kn_marks marks;
    if (!kn_number_usual_marks(&marks, &f.numbers)) return KN_TYPE_AUTO; /* 1,234 in all of them */
    if (is_nearly_all(f.numbers.n_whole[marks], f.n_cells, NEARLY_ALL)) return KN_TYPE_INT;
    return is_nearly_all(f.numbers.n_numbers[marks], f.n_cells, NEARLY_ALL) ? KN_TYPE_DECIMAL : KN_TYPE_AUTO;
}

kn_mixed_cells kn_column_mixed_cells(const kn_column *column, const uint64_t *rows)
{
    kn_mixed_cells numbers = {0}, dates = {.are_dates = true};
    uint64_t n_cells = 0;
    bool are_codes = column->type != KN_TYPE_TEXT;
    if (!is_open(column)) return (kn_mixed_cells){0};
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        double number;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (is_missing(column, s) || rows[s] == 0 || kn_is_null_word(bytes, n)) continue;
        are_codes = are_codes || kn_number_ways(bytes, n, true) != kn_number_ways(bytes, n, false); /* 007 */
        const bool is_number =
            kn_number_read(&number, bytes, n, false) != KN_NUMBER_NONE || kn_number_ways(bytes, n, false) != 0;
        const bool is_date = forms_of(column, s) != 0;
        n_cells += rows[s];
        numbers.n_fit += is_number ? rows[s] : 0;
        dates.n_fit += is_date ? rows[s] : 0;
        if (!is_number) note_line(&numbers.line, column->first_line[s]);
        if (!is_date) note_line(&dates.line, column->first_line[s]);
    }
    const bool nearly_dates = (double)dates.n_fit >= share_of_dates(column) * (double)n_cells;
    dates.nearly_dates = nearly_dates;
    kn_mixed_cells most = nearly_dates || dates.n_fit > numbers.n_fit ? dates : numbers;
    if (are_codes && !nearly_dates) return (kn_mixed_cells){0};
    most.n_cells = most.n_fit < n_cells && most.n_fit * 2 >= n_cells ? n_cells : 0;
    return most;
}

void kn_mixed_cells_tell(kn_input *input, kn_piece name, const kn_column *column, const kn_mixed_cells *mixed)
{
    const kn_piece n_fit = count_piece(mixed->n_fit), n_cells = count_piece(mixed->n_cells);
    const kn_piece line = count_piece(mixed->line);
    if (mixed->n_cells == 0) return;
    kn_sentences_add(&input->warnings,
                     column->type != KN_TYPE_TEXT ? KN_SAID(KN_SAY_NUMBERS_AND_DATES, name, n_fit, n_cells, line)
                     : mixed->are_dates           ? KN_SAID(KN_SAY_MIXED_DATES_AND_WORDS, name, n_fit, n_cells, line)
                                                  : KN_SAID(KN_SAY_MIXED_NUMBERS, name, n_fit, n_cells, line));
}

kn_status kn_table_advise(kn_table_advice *out, const kn_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    *out = (kn_table_advice){0};
    KN_NEW(out->types, (size_t)table->n_columns + 1);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        KN_TRY(kn_column_spelling_rows(&rows, column, table->n_rows, err));
        out->trim = out->trim || has_blanks(column, rows);
        kn_looks looks; /* nobody needs the type of what never leaves */
        KN_TRY(kn_column_looks(&looks, column, table->n_rows, err));
        const bool may_leave = looks.look == KN_LOOKS_PLAIN || looks.look == KN_LOOKS_UNIQUE;
        out->types[c] = may_leave ? nearly_type(column, rows) : KN_TYPE_AUTO;
        out->has_misfits = out->has_misfits || out->types[c] != KN_TYPE_AUTO;
        kn_free(rows);
        rows = NULL;
    }
done:
    kn_free(rows);
    return status;
}

void kn_table_advice_free(kn_table_advice *advice)
{
    kn_free(advice->types);
    *advice = (kn_table_advice){0};
}

/* NC and ND among the states of America: codes of capital letters, all of one length. */
static bool are_letter_codes(const kn_column *column)
{
    enum { MANY_CODES = 10 };
    size_t n_first = 0, n;
    uint32_t n_codes = 0;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        const char *bytes = kn_column_bytes(column, s, &n);
        if (is_missing(column, s)) continue;
        if (n_codes++ == 0) n_first = n;
        if (n != n_first) return false;
        for (size_t i = 0; i < n; i++)
            if (bytes[i] < 'A' || bytes[i] > 'Z') return false;
    }
    return n_codes >= MANY_CODES;
}

kn_status kn_column_null_words(uint64_t *n_cells, kn_buffer *words, const kn_column *column, uint32_t n_rows,
                               kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    *n_cells = 0;
    kn_buffer_clear(words);
    if (column->type != KN_TYPE_TEXT || are_letter_codes(column)) goto done;
    KN_TRY(kn_column_spelling_rows(&rows, column, n_rows, err));
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (is_missing(column, s) || rows[s] == 0 || !kn_is_null_word(bytes, n)) continue;
        if (*n_cells > 0) kn_buffer_text(words, "', '");
        kn_buffer_append(words, bytes, n);
        *n_cells += rows[s];
    }
    if (words->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    kn_free(rows);
    return status;
}
