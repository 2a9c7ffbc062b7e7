/* table/: dates, numbers, and the order of dictionaries. */
#include "support.h"

#include "base/buffer.h"
#include "base/fold.h"
#include "table/dates.h"
#include "table/fold_column.h"
#include "table/infer.h"
#include "table/number.h"
#include "table/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void days_count_on_without_a_gap_from_year_1_to_9999(void **state)
{
    kn_date date = {1, 1, 1};
    int64_t days = kn_date_to_days(date);
    assert_int_equal(kn_date_to_days((kn_date){1970, 1, 1}), 0);
    assert_int_equal(kn_date_to_days((kn_date){2000, 3, 1}), 11017);
    for (; date.year <= 9999; days++) {
        if (kn_date_to_days(date) != days) fail_msg("%d-%d-%d", (int)date.year, date.month, date.day);
        kn_date back = kn_date_from_days(days);
        if (back.year != date.year || back.month != date.month || back.day != date.day) fail_msg("day %d", (int)days);
        if (++date.day > kn_days_in_month(date.year, date.month)) {
            date.day = 1;
            if (++date.month > 12) date.month = 1, date.year++;
        }
    }
}

static void only_real_dates_are_dates(void **state)
{
    static const struct {
        const char *text;
        unsigned forms;
    } cases[] = {
        {"2024-01-31", KN_DATE_ISO},
        {" 2024-01-31\t", KN_DATE_ISO},
        {"2024/02/29", KN_DATE_ISO},
        {"2023-02-29", 0},
        {"1900-02-29", 0},
        {"2000-02-29", KN_DATE_ISO},
        {"2024-1-31", 0},
        {"2024-13-01", 0},
        {"0000-01-01", 0},
        {"2024-01-31T10:30", KN_DATE_ISO},
        {"2024-01-31 10:30:59.123456789", KN_DATE_ISO},
        {"2024-01-31 10:30:59.1234567891", 0},
        {"2024-01-31T10:30:00Z", KN_DATE_ISO},
        {"2024-01-31T10:30+02:00", KN_DATE_ISO},
        {"2024-01-31T10:30-0230", KN_DATE_ISO},
        {"2024-01-31T10:30+02", KN_DATE_ISO},
        {"2024-01-31T10:30+2", 0},
        {"2024-01-31T10:30+020", 0},
        {"2024-01-31T9:30", 0},
        {"2024-01-31 10:30 PM", 0},
        {"2024-01-31T24:00", 0},
        {"2024-01-31T10:60", 0},
        {"2024-01-31T", 0},
        {"31.1.2024", KN_DATE_DOTS},
        {"31.01.2024", KN_DATE_DOTS},
        {"1.31.2024", 0},
        {"31.01.2024 10:30", KN_DATE_DOTS},
        {"31.1.2024 9:30:05", KN_DATE_DOTS},
        {"31.1.2024T09:30", 0},
        {"31/01/2024 22:05", KN_DATE_DAY},
        {"1/31/2024 9:05 PM", KN_DATE_MONTH},
        {"1/31/2024 9:05:30.5am", KN_DATE_MONTH},
        {"1/2/2024 12:00 AM", KN_DATE_DAY | KN_DATE_MONTH},
        {"1/31/2024 13:05 PM", 0},
        {"1/31/2024 0:05 PM", 0},
        {"1/31/2024 9:05  PM", 0},
        {"1/31/2024 9:05 P", 0},
        {"1/31/2024 9:05 PMZ", 0},
        {"1/31/2024 24:05", 0},
        {"31/01/2024", KN_DATE_DAY},
        {"31-01-2024", KN_DATE_DAY},
        {"1/31/2024", KN_DATE_MONTH},
        {"1/2/2024", KN_DATE_DAY | KN_DATE_MONTH},
        {"1/21/76", 0},
        {"20240131", KN_DATE_COMPACT},
        {"20240132", 0},
        {"", 0},
        {"    ", 0},
        {"2024", 0},
        {"202401310", 0},
        {"202401311030", KN_DATE_COMPACT},
        {"20240131103005", KN_DATE_COMPACT},
        {"20240131T103005Z", KN_DATE_COMPACT},
        {"202401312430", 0},
        {"2024013110", 0},
        {"2024013110305", 0},
        {"20240131103005+02", KN_DATE_COMPACT},
        {"2024-01-31t10:30:00,5z", KN_DATE_ISO},
        {"05OCT1987", KN_DATE_NAMED},
        {"5Oct1987", KN_DATE_NAMED},
        {"05-OCT-1987", KN_DATE_NAMED},
        {"05/Oct/1987", KN_DATE_NAMED},
        {" 5 October 1987\t", KN_DATE_NAMED},
        {"5th Oct 1987", KN_DATE_NAMED},
        {"21ST-OCT-1987", KN_DATE_NAMED},
        {"5. Oktober 1987", KN_DATE_NAMED},
        {"5. Okt. 1987", KN_DATE_NAMED},
        {"05.Okt.1987", KN_DATE_NAMED},
        {"October 5, 1987", KN_DATE_NAMED},
        {"October 5th, 1987", KN_DATE_NAMED},
        {"Oct. 5 1987", KN_DATE_NAMED},
        {"Oct-5-1987", KN_DATE_NAMED},
        {"05OCT1987:13:45:00", KN_DATE_NAMED},
        {"05OCT1987:13:45:00.250", KN_DATE_NAMED},
        {"05-OCT-1987 13:45", KN_DATE_NAMED},
        {"5 Oct 1987 13:45+02:00", KN_DATE_NAMED},
        {"29FEB2024", KN_DATE_NAMED},
        {"29FEB2023", 0},
        {"31FEB1987", 0},
        {"31 April 1987", 0},
        {"00OCT1987", 0},
        {"32OCT1987", 0},
        {"OCT 32 1987", 0},
        {"05OCT0000", 0},
        {"05OCT1987T13:45", 0},
        {"05OCT1987:24:00", 0},
        {"05OCT1987:1:45", KN_DATE_NAMED},
        {"5 Oct 1987 10:30 PM", KN_DATE_NAMED},
        {"05OCT1987:001:45", 0},
        {"05OCT1987:", 0},
        {"05OCT19871", 0},
        {"005OCT1987", 0},
        {"05OC1987", 0},
        {"05OCTO1987", 0},
        {"05 OCT1987", 0},
        {"05OCT 1987", 0},
        {"05-OCT/1987", 0},
        {"05  OCT 1987", 0},
        {"05--OCT-1987", 0},
        {"05 OCT, 1987", 0},
        {"OCT 05,1987", 0},
        {"OCT-05,-1987", 0},
        {"OCT051987", 0},
        {"OCT05 1987", 0},
        {"5.th Oct 1987", 0},
        {"5th. Oct 1987", 0},
        {"5.. Oct 1987", 0},
        {"5 Oct.. 1987", 0},
        {"5thOct1987", 0},
        {"5 th Oct 1987", 0},
        {"5 Oct", 0},
        {"Oct 1987", 0},
        {"Oct", 0},
        {"5", 0},
        {"5th", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned forms = kn_date_forms(cases[i].text, strlen(cases[i].text), KN_DATE_ANY);
        if (forms != cases[i].forms) fail_msg("'%s': forms %u, expected %u", cases[i].text, forms, cases[i].forms);
    }
}

static void a_year_of_two_digits_is_seen_and_not_read(void **state)
{
    static const struct {
        const char *text;
        unsigned forms;
    } cases[] = {
        {"5/10/87", KN_DATE_DAY | KN_DATE_MONTH},
        {"05-10-87", KN_DATE_DAY | KN_DATE_MONTH},
        {" 5/10/87 ", KN_DATE_DAY | KN_DATE_MONTH},
        {"31/1/87", KN_DATE_DAY},
        {"1/31/87", KN_DATE_MONTH},
        {"29/2/87", KN_DATE_DAY}, /* of 2000 or 1987, nobody knows */
        {"30/2/87", 0},
        {"05.10.87", KN_DATE_DAY},
        {"1.31.87", 0},
        {"5/10/87 9:30", KN_DATE_DAY | KN_DATE_MONTH},
        {"5/10/87 ill", 0},
        {"5/10-87", 0},
        {"5/10/7", 0},
        {"5/10/1987", 0},
        {"87-10-05", KN_DATE_ISO},
        {"87/10/31", KN_DATE_ISO},
        {"87.10.05", 0},
        {"87-13-05", 0},
        {"01-02-03", KN_DATE_DAY | KN_DATE_MONTH | KN_DATE_ISO},
        {"0/10/87", 0},
        {"5/0/87", 0},
        {"5", 0},
        {"5/", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned forms = kn_date_short_forms(cases[i].text, strlen(cases[i].text));
        if (forms != cases[i].forms) fail_msg("'%s': forms %u, expected %u", cases[i].text, forms, cases[i].forms);
        if (forms != 0) assert_int_equal(kn_date_forms(cases[i].text, strlen(cases[i].text), KN_DATE_ANY), 0);
    }
}

/* The names as a calendar has them, whole and short. */
static const struct {
    const char *name;
    uint8_t month;
} month_names[] = {
    {"January", 1},   {"Jan", 1},      {"Januar", 1},    {"Jänner", 1},   {"Jän", 1},  {"February", 2},  {"Feb", 2},
    {"Februar", 2},   {"March", 3},    {"Mar", 3},       {"März", 3},     {"Mär", 3},  {"Mrz", 3},       {"Maerz", 3},
    {"April", 4},     {"Apr", 4},      {"May", 5},       {"Mai", 5},      {"June", 6}, {"Jun", 6},       {"Juni", 6},
    {"July", 7},      {"Jul", 7},      {"Juli", 7},      {"August", 8},   {"Aug", 8},  {"September", 9}, {"Sept", 9},
    {"Sep", 9},       {"October", 10}, {"Oct", 10},      {"Oktober", 10}, {"Okt", 10}, {"November", 11}, {"Nov", 11},
    {"December", 12}, {"Dec", 12},     {"Dezember", 12}, {"Dez", 12},
};

/* In large or small letters, ä too; or as it is. */
static void set_case(char *out, const char *name, int how)
{
    for (; *name != '\0'; name++) {
        const bool is_small = (*name >= 'a' && *name <= 'z') || *name == '\xa4';
        const bool is_large = *name >= 'A' && *name <= 'Z';
        *out++ = (char)(how == 1 && is_small ? *name - 32 : how == 2 && is_large ? *name + 32 : *name);
    }
    *out = '\0';
}

static void every_month_in_letters_has_its_days(void **state)
{
    static const int32_t years[] = {1900, 1987, 2000, 2024};
    static const char *const forms[] = {"%2$02u%1$s%3$d", "%2$u-%1$s-%3$d", "%2$u. %1$s %3$d", "%1$s %2$u, %3$d",
                                        "%1$s. %2$02u %3$d"};
    for (size_t i = 0; i < sizeof month_names / sizeof *month_names; i++)
        for (int how = 0; how < 3; how++)
            for (size_t y = 0; y < sizeof years / sizeof *years; y++)
                for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
                    for (unsigned day = 0; day <= 32; day++) {
                        char name[16], text[40];
                        kn_moment moment;
                        const kn_date date = {years[y], month_names[i].month, (uint8_t)day};
                        set_case(name, month_names[i].name, how);
                        snprintf(text, sizeof text, forms[f], name, day, (int)years[y]);
                        const bool is_read = kn_date_parse(&moment, text, strlen(text), KN_DATE_NAMED);
                        if (is_read != kn_date_is_valid(date))
                            fail_msg("'%s' is %s", text, is_read ? "read" : "not read");
                        if (is_read && moment.days != kn_date_to_days(date)) fail_msg("'%s' is another day", text);
                    }
}

static void a_month_in_letters_is_seen_and_not_read(void **state)
{
    static const char *const dates[] = {"05-OCT-87",         "05OCT87",        "October 5, 87",      "1987 Oct 05",
                                        "5 de mayo de 1987", "1er août 1987",  "05OCT87:10:30:00",   "5 Oct, 1987",
                                        "Mon, 5 Oct 1987",   "5 Octobre 1987", "5 Oct 1987 13:30 PM"};
    static const char *const others[] = {"Oct",           "Oct 1987",  "5 1987",        "5 Och 1987",
                                         "35 Oct 1987 7", "5 Oct 198", "Oct 5 Main",    "5 Oct 1987x",
                                         "5/10/87",       "",          "marry 5 19875", "5 Oct Nov 87"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        if (!kn_date_has_month_name(dates[i], strlen(dates[i]))) fail_msg("'%s' is a date", dates[i]);
        assert_int_equal(kn_date_forms(dates[i], strlen(dates[i]), KN_DATE_ANY), 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (kn_date_has_month_name(others[i], strlen(others[i]))) fail_msg("'%s' is no date", others[i]);
}

static void a_time_is_counted_in_24_hours_and_back_to_utc(void **state)
{
    kn_moment a, b;
    assert_true(kn_date_parse(&a, "2024-03-01T01:30+02:00", 22, KN_DATE_ISO));
    assert_true(kn_date_parse(&b, "2024-02-29T23:30Z", 17, KN_DATE_ISO));
    assert_int_equal(a.days, b.days);
    assert_int_equal(a.nanoseconds, b.nanoseconds);
    static const char *const noons[][2] = {
        {"1/31/2024 12:05 AM", "2024-01-31T00:05"}, {"1/31/2024 12:05 pm", "2024-01-31T12:05"},
        {"1/31/2024 1:05PM", "2024-01-31T13:05"},   {"1/31/2024 11:05 am", "2024-01-31T11:05"},
        {"31 Jan 2024 1:05", "2024-01-31T01:05"},   {"31.1.2024 23:05:07", "2024-01-31T23:05:07"}};
    for (size_t i = 0; i < sizeof noons / sizeof *noons; i++) {
        assert_true(kn_date_parse(&a, noons[i][0], strlen(noons[i][0]), KN_DATE_ANY));
        assert_true(kn_date_parse(&b, noons[i][1], strlen(noons[i][1]), KN_DATE_ISO));
        assert_int_equal(a.days, b.days);
        assert_int_equal(a.nanoseconds, b.nanoseconds);
    }
    assert_true(kn_date_parse(&a, "2023-12-31T23:59:59.999999999", 29, KN_DATE_ISO));
    kn_date day = kn_date_of_number(kn_moment_number(&a));
    char text[KN_DATE_BYTES];
    assert_string_equal(kn_date_text(text, day), "2023-12-31"); /* the double must not round into the new year */
}

static void the_main_spelling_is_the_most_frequent_then_the_first(void **state)
{
    uint32_t values[] = {0, 0, 1, 1, 2};
    uint8_t codes[] = {1, 1, 0, 2, 3, 4};
    kn_column column = {.n_spellings = 5, .n_values = 3, .spelling_value = values, .code_bytes = 1, .codes = codes};
    uint32_t *spellings;
    uint64_t *rows;
    assert_ok(kn_column_main_spellings(&spellings, &column, 6, err));
    assert_int_equal(spellings[0], 1);
    assert_int_equal(spellings[1], 2);
    assert_int_equal(spellings[2], 4);
    kn_free(spellings);
    assert_ok(kn_column_spelling_rows(&rows, &column, 6, err));
    assert_int_equal(rows[1], 2);
    assert_int_equal(rows[4], 1);
    kn_free(rows);
    column.spelling_value = NULL;
    column.n_values = 5;
    assert_ok(kn_column_main_spellings(&spellings, &column, 6, err));
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(spellings[i], i);
    kn_free(spellings);
}

/* --- Numbers ------------------------------------------------------------------------------------------------------ */

static void only_plain_decimals_are_numbers(void **state)
{
    static const struct {
        const char *text;
        kn_number_kind kind;
    } cases[] = {
        {"0", KN_NUMBER_WHOLE},
        {"-0", KN_NUMBER_WHOLE},
        {"+5", KN_NUMBER_WHOLE},
        {" 12\t", KN_NUMBER_WHOLE},
        {"01234", KN_NUMBER_NONE},
        {"00", KN_NUMBER_NONE},
        {"00.5", KN_NUMBER_NONE},
        {"0.5", KN_NUMBER_DECIMAL},
        {".5", KN_NUMBER_DECIMAL},
        {"5.", KN_NUMBER_DECIMAL},
        {".", KN_NUMBER_NONE},
        {"", KN_NUMBER_NONE},
        {"-", KN_NUMBER_NONE},
        {"1e5", KN_NUMBER_DECIMAL},
        {"1E+5", KN_NUMBER_DECIMAL},
        {"1e", KN_NUMBER_NONE},
        {"1e400", KN_NUMBER_NONE},
        {"1e-400", KN_NUMBER_NONE},
        {"0e999", KN_NUMBER_DECIMAL},
        {"1e9999", KN_NUMBER_NONE},
        {"NaN", KN_NUMBER_NONE},
        {"inf", KN_NUMBER_NONE},
        {"0x10", KN_NUMBER_NONE},
        {"1,5", KN_NUMBER_NONE},
        {"1 000", KN_NUMBER_NONE},
        {"1.2.3", KN_NUMBER_NONE},
        {"--1", KN_NUMBER_NONE},
        {"1-", KN_NUMBER_NONE},
        {"123456789012345678901234567890", KN_NUMBER_WHOLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_decimal decimal;
        kn_number_kind kind = kn_decimal_parse(&decimal, cases[i].text, strlen(cases[i].text), false);
        if (kind != cases[i].kind) fail_msg("'%s': kind %d, expected %d", cases[i].text, kind, cases[i].kind);
    }
    kn_decimal decimal;
    assert_int_equal(kn_decimal_parse(&decimal, "007", 3, true), KN_NUMBER_WHOLE);
    assert_true(kn_decimal_double(&decimal) == 7);
}

static size_t random_number(char *text, kn_rng *rng)
{
    size_t n = 0;
    if (kn_rng_below(rng, 3) == 0) text[n++] = '-';
    uint32_t n_whole = 1 + kn_rng_below(rng, kn_rng_below(rng, 4) == 0 ? 25 : 4);
    text[n++] = (char)(n_whole == 1 ? '0' + kn_rng_below(rng, 10) : '1' + kn_rng_below(rng, 2));
    while (--n_whole > 0) text[n++] = (char)('0' + kn_rng_below(rng, 2) * 9);
    if (kn_rng_below(rng, 2)) {
        text[n++] = '.';
        for (uint32_t i = kn_rng_below(rng, 5); i > 0; i--) text[n++] = (char)('0' + kn_rng_below(rng, 2) * 5);
    }
    if (kn_rng_below(rng, 3) == 0) n += (size_t)sprintf(text + n, "e%d", (int)kn_rng_below(rng, 9) - 4);
    text[n] = '\0';
    return n;
}

/* As many digits before and behind the point as any of the numbers above has, so that bytes compare like values. */
static void expand(char out[128], const char *text)
{
    char digits[64] = "";
    int n = 0, point = -1, exponent = 0;
    bool negative = *text == '-';
    for (text += negative; *text != '\0' && *text != 'e'; text++) {
        if (*text == '.') point = n;
        else digits[n++] = *text;
    }
    if (*text == 'e') exponent = atoi(text + 1);
    if (point < 0) point = n;
    point += exponent;
    memset(out, '0', 80);
    out[80] = '\0';
    for (int i = 0; i < n; i++) out[40 - point + i] = digits[i];
    bool zero = strspn(out, "0") == 80;
    memmove(out + 1, out, 81);
    out[0] = negative && !zero ? '-' : '+';
}

static int compare_expanded(const char *a, const char *b)
{
    if (a[0] != b[0]) return a[0] == '-' ? -1 : 1;
    int difference = memcmp(a + 1, b + 1, 80);
    difference = (difference > 0) - (difference < 0);
    return a[0] == '-' ? -difference : difference;
}

static void numbers_compare_exactly_and_doubles_follow(void **state)
{
    kn_rng rng = kn_rng_new(5, 0);
    for (int i = 0; i < 200000; i++) {
        char a[64], b[64], long_a[128], long_b[128];
        kn_decimal x, y;
        assert_true(kn_decimal_parse(&x, a, random_number(a, &rng), false) != KN_NUMBER_NONE);
        assert_true(kn_decimal_parse(&y, b, random_number(b, &rng), false) != KN_NUMBER_NONE);
        expand(long_a, a);
        expand(long_b, b);
        int expected = compare_expanded(long_a, long_b);
        if (kn_decimal_compare(&x, &y) != expected) fail_msg("%s, %s: expected %d", a, b, expected);
        double number = kn_decimal_double(&x), other = kn_decimal_double(&y);
        if (number != strtod(a, NULL)) fail_msg("%s: %.17g", a, number);
        if (expected < 0 ? number > other : expected > 0 ? number < other : number != other) fail_msg("%s, %s", a, b);
    }
}

/* --- Inference ---------------------------------------------------------------------------------------------------- */

typedef struct built {
    kn_buffer bytes;
    uint64_t offset[64], line[64];
    kn_column column;
    uint32_t *new_code;
    kn_error err;
} built;

static kn_infer_options asked; /* what `build` is told besides the type */

static kn_status build(built *b, const char *const *texts, uint32_t n, kn_type type)
{
    static const char *const nulls[] = {"", "NA"};
    *b = (built){.column = {.name = (char *)"col"}};
    for (uint32_t i = 0; i < n; i++) {
        b->offset[i] = b->bytes.n;
        b->line[i] = 100 - i;
        kn_buffer_text(&b->bytes, texts[i]);
    }
    b->offset[n] = b->bytes.n;
    kn_spellings spellings = {n, b->bytes.bytes, b->offset, b->line};
    kn_infer_options options = asked;
    options.type = type;
    options.null_values = nulls;
    options.n_null_values = 2;
    options.source = "t.csv";
    return kn_column_set_spellings(&b->column, &b->new_code, &spellings, &options, &b->err);
}

static void built_free(built *b)
{
    kn_table *table = kn_array_alloc(1, sizeof *table, NULL);
    table->columns = kn_array_alloc(1, sizeof *table->columns, NULL);
    table->n_columns = 1;
    table->columns[0] = b->column;
    table->columns[0].name = NULL;
    kn_table_free(table);
    kn_free(b->new_code);
    kn_buffer_free(&b->bytes);
}

/* The sorted spellings with '|' between values and '=' between spellings of one value. */
static void assert_order(const char *const *texts, uint32_t n, kn_type declared, kn_type type, const char *expected)
{
    built b;
    kn_buffer text = {0};
    if (build(&b, texts, n, declared) != KN_OK) fail_msg("%s", b.err.message);
    for (uint32_t i = 0; i < n; i++) {
        size_t n_bytes;
        const char *bytes = kn_column_bytes(&b.column, i, &n_bytes);
        if (i > 0)
            kn_buffer_char(&text, kn_column_value(&b.column, i) == kn_column_value(&b.column, i - 1) ? '=' : '|');
        kn_buffer_append(&text, bytes, n_bytes);
    }
    assert_string_equal(text.bytes, expected);
    assert_int_equal(b.column.type, type);
    for (uint32_t i = 0; i < n; i++) {
        size_t n_bytes;
        const char *bytes = kn_column_bytes(&b.column, b.new_code[i], &n_bytes);
        if (!asked.is_quasi) assert_memory_equal(bytes, texts[i], n_bytes);
        assert_int_equal(b.column.first_line[b.new_code[i]], 100 - i);
    }
    if (type != KN_TYPE_TEXT)
        for (uint32_t v = 1; v < b.column.n_values - b.column.has_missing; v++)
            assert_true(b.column.number[v - 1] <= b.column.number[v]);
    if (type != KN_TYPE_TEXT && b.column.has_missing) assert_true(isnan(b.column.number[b.column.n_values - 1]));
    kn_buffer_free(&text);
    built_free(&b);
}

#define LIST(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static void columns_get_the_type_that_fits_every_spelling(void **state)
{
    assert_order(LIST("10", "9", "-1", "+9"), KN_TYPE_AUTO, KN_TYPE_INT, "-1|+9=9|10");
    assert_order(LIST("10", "9", "NA", "", " "), KN_TYPE_AUTO, KN_TYPE_INT, "9|10|= =NA");
    assert_order(LIST("1", "1.0", "1e0", " 1", "0.99"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "0.99| 1=1=1.0=1e0");
    assert_order(LIST("10", "9", "01"), KN_TYPE_AUTO, KN_TYPE_TEXT, "01|10|9");
    assert_order(LIST("10", "9", "01"), KN_TYPE_INT, KN_TYPE_INT, "01|9|10");
    assert_order(LIST("10", "9"), KN_TYPE_DECIMAL, KN_TYPE_DECIMAL, "9|10");
    assert_order(LIST("10", "9"), KN_TYPE_TEXT, KN_TYPE_TEXT, "10|9");
    assert_order(LIST("NA", ""), KN_TYPE_AUTO, KN_TYPE_TEXT, "=NA");
    /* words for nothing, where the others are numbers or dates; NA is Namibia otherwise */
    assert_order(LIST("NaN", "1", "n/a", "-", ".", "Unknown"), KN_TYPE_AUTO, KN_TYPE_INT, "1|-=.=NaN=Unknown=n/a");
    assert_order(LIST("77,5", "k.A.", "1.080,25", "unbekannt", "#N/A"), KN_TYPE_AUTO, KN_TYPE_DECIMAL,
                 "77,5|1.080,25|#N/A=k.A.=unbekannt");
    assert_order(LIST("1", "n.d.", "ND", "n/d", "Not done", "--", "  not available  "), KN_TYPE_AUTO, KN_TYPE_INT,
                 "1|  not available  =--=ND=Not done=n.d.=n/d");
    assert_order(LIST("DE", "NA", "-"), KN_TYPE_AUTO, KN_TYPE_TEXT, "-|DE|NA");
    assert_order(LIST("2024-01-31", "-"), KN_TYPE_AUTO, KN_TYPE_DATE, "2024-01-31|-");
    assert_order(LIST("-", "."), KN_TYPE_AUTO, KN_TYPE_TEXT, "-|.");
    assert_order(LIST("1", "-"), KN_TYPE_TEXT, KN_TYPE_TEXT, "-|1");
    assert_order(LIST("1", "none"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1|none");
    /* neighbours that are one double */
    assert_order(LIST("900719925474099301", "900719925474099300", "900719925474099302"), KN_TYPE_AUTO, KN_TYPE_INT,
                 "900719925474099300|900719925474099301|900719925474099302");
    assert_order(LIST("0.1000000000000000000001", "0.1", "0.10"), KN_TYPE_AUTO, KN_TYPE_DECIMAL,
                 "0.1=0.10|0.1000000000000000000001");
}

static void dates_are_dates_when_the_whole_column_agrees(void **state)
{
    assert_order(LIST("2024-01-31", "1999-12-31", "2024-01-31T00:00"), KN_TYPE_AUTO, KN_TYPE_DATE,
                 "1999-12-31|2024-01-31=2024-01-31T00:00");
    assert_order(LIST("31.01.2024", "1.2.2023"), KN_TYPE_AUTO, KN_TYPE_DATE, "1.2.2023|31.01.2024");
    assert_order(LIST("31/01/2024", "1/2/2023"), KN_TYPE_AUTO, KN_TYPE_DATE, "1/2/2023|31/01/2024");
    assert_order(LIST("1/31/2024", "2/1/2024"), KN_TYPE_AUTO, KN_TYPE_DATE, "1/31/2024|2/1/2024");
    assert_order(LIST("1/2/2024", "2/1/2024"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1/2/2024|2/1/2024"); /* which is first? */
    assert_order(LIST("31/01/2024", "1/31/2024"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1/31/2024|31/01/2024");
    assert_order(LIST("1/21/76", "2/28/76"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1/21/76|2/28/76");
    assert_order(LIST("2024-01-31", "31.01.2024"), KN_TYPE_AUTO, KN_TYPE_TEXT, "2024-01-31|31.01.2024");
    assert_order(LIST("2024-01-31T10:00", "2024-01-31T10:00Z"), KN_TYPE_AUTO, KN_TYPE_TEXT,
                 "2024-01-31T10:00|2024-01-31T10:00Z");
    assert_order(LIST("20240131", "19991231"), KN_TYPE_AUTO, KN_TYPE_DATE, "19991231|20240131");
    assert_order(LIST("202401311030", "19991231235959"), KN_TYPE_AUTO, KN_TYPE_DATE, "19991231235959|202401311030");
    assert_order(LIST("20240131T1030", "20240131"), KN_TYPE_AUTO, KN_TYPE_DATE, "20240131|20240131T1030");
    assert_order(LIST("20240131", "20240231"), KN_TYPE_AUTO, KN_TYPE_INT, "20240131|20240231"); /* no such day */
    assert_order(LIST("20240131", "10000101"), KN_TYPE_AUTO, KN_TYPE_INT, "10000101|20240131"); /* by chance */
    assert_order(LIST("20240131", "202401312460"), KN_TYPE_AUTO, KN_TYPE_INT, "20240131|202401312460");
    assert_order(LIST("20240131", "19991231"), KN_TYPE_DATE, KN_TYPE_DATE, "19991231|20240131");
    assert_order(LIST("05OCT1987", "31-Jan-1988", "October 5, 1987", "5. Mai 1987"), KN_TYPE_AUTO, KN_TYPE_DATE,
                 "5. Mai 1987|05OCT1987=October 5, 1987|31-Jan-1988");
    assert_order(LIST("05OCT1987:13:45:00", "05OCT1987", "05OCT1987 13:44"), KN_TYPE_AUTO, KN_TYPE_DATE,
                 "05OCT1987|05OCT1987 13:44|05OCT1987:13:45:00");
    assert_order(LIST("05OCT1987:13:45", "05OCT1987:13:45Z"), KN_TYPE_AUTO, KN_TYPE_TEXT,
                 "05OCT1987:13:45|05OCT1987:13:45Z");
    assert_order(LIST("05OCT1987", "05OCT87"), KN_TYPE_AUTO, KN_TYPE_TEXT, "05OCT1987|05OCT87");
    assert_order(LIST("28FEB1987", "31FEB1987"), KN_TYPE_AUTO, KN_TYPE_TEXT, "28FEB1987|31FEB1987"); /* no such day */
    assert_order(LIST("05OCT1987", "1987-10-05"), KN_TYPE_AUTO, KN_TYPE_TEXT, "05OCT1987|1987-10-05");
    assert_order(LIST("05OCT1987", "mayor"), KN_TYPE_AUTO, KN_TYPE_TEXT, "05OCT1987|mayor");
    assert_order(LIST("2024-01-31T10:00:00.000000002", "2024-01-31T10:00:00.000000001"), KN_TYPE_AUTO, KN_TYPE_DATE,
                 "2024-01-31T10:00:00.000000001|2024-01-31T10:00:00.000000002");
}

static void numbers_with_marks_are_numbers_where_one_way_fits_them_all(void **state)
{
    assert_order(LIST("1,5", "1,50", "0,7"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "0,7|1,5=1,50");
    assert_order(LIST("1.234,5", "1234,5", "12"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "12|1.234,5=1234,5");
    assert_order(LIST("1,234.5", "1,234", "7"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "7|1,234|1,234.5");
    assert_order(LIST("1.234.567", "-2"), KN_TYPE_AUTO, KN_TYPE_INT, "-2|1.234.567");
    assert_order(LIST("1 234,5", "1'234,6"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "1 234,5|1'234,6");
    assert_order(LIST("1 234", "-900", "1'234 "), KN_TYPE_AUTO, KN_TYPE_INT, "-900|1 234=1'234 ");
    assert_order(LIST("-900", "1 234.5", "1 234"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "-900|1 234|1 234.5");
    assert_order(LIST("612 345 678", "612 345 679"), KN_TYPE_AUTO, KN_TYPE_TEXT, "612 345 678|612 345 679"); /* calls */
    assert_order(LIST("80\xE2\x80\xAF"
                      "261",
                      "14\xE2\x80\xAF"
                      "587"),
                 KN_TYPE_AUTO, KN_TYPE_INT,
                 "14\xE2\x80\xAF"
                 "587|80\xE2\x80\xAF"
                 "261");
    assert_order(LIST("1\xC2\xA0"
                      "234,5",
                      "1\xE2\x80\x99"
                      "234,6",
                      "1\xE2\x80\x89"
                      "234,7"),
                 KN_TYPE_AUTO, KN_TYPE_DECIMAL,
                 "1\xC2\xA0"
                 "234,5|1\xE2\x80\x99"
                 "234,6|1\xE2\x80\x89"
                 "234,7");
    assert_order(LIST("1\xC2\xA0"
                      "234 567",
                      "1"),
                 KN_TYPE_AUTO, KN_TYPE_TEXT,
                 "1|1\xC2\xA0"
                 "234 567");
    assert_order(LIST("1\xE2\x80\x93"
                      "234",
                      "1"),
                 KN_TYPE_AUTO, KN_TYPE_TEXT,
                 "1|1\xE2\x80\x93"
                 "234");
    assert_order(LIST("-123", "456"), KN_TYPE_AUTO, KN_TYPE_INT, "-123|456");
    assert_order(LIST("-1 234", "4 567"), KN_TYPE_AUTO, KN_TYPE_TEXT, "-1 234|4 567");
    assert_order(LIST("1 234", "4.567"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1 234|4.567");
    assert_order(LIST("612 345", "612 346"), KN_TYPE_INT, KN_TYPE_INT, "612 345|612 346");
    assert_order(LIST("1.234", "2.5"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "1.234|2.5"); /* plain numbers: no guess */
    assert_order(LIST("1.234"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "1.234");
    assert_order(LIST("1,234"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1,234"); /* a thousand, or a bit more than one? */
    assert_order(LIST("1,5", "1.5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1,5|1.5");
    assert_order(LIST("1,5", "12.34,5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1,5|12.34,5");
    assert_order(LIST("1,5", "1234.567,5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1,5|1234.567,5");
    assert_order(LIST("1,5", "1.234 567,5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1,5|1.234 567,5");
    assert_order(LIST("01,5", "02,5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "01,5|02,5"); /* as 01 is none */
    assert_order(LIST("1,5", "-"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "1,5|-");
    asked.decimal = KN_DECIMAL_COMMA;
    assert_order(LIST("1.234", "5"), KN_TYPE_AUTO, KN_TYPE_INT, "5|1.234");
    assert_order(LIST("1,234", "5"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "1,234|5");
    assert_order(LIST("1.5", "5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1.5|5");
    asked.decimal = KN_DECIMAL_POINT;
    assert_order(LIST("1,234", "5"), KN_TYPE_AUTO, KN_TYPE_INT, "5|1,234");
    assert_order(LIST("1,5", "5"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1,5|5");
    asked = (kn_infer_options){.is_quasi = true};
    assert_order(LIST("1.234,5", " 0,75", "12"), KN_TYPE_AUTO, KN_TYPE_DECIMAL, "0.75|12|1234.5");
    asked = (kn_infer_options){0};
}

static void cells_that_do_not_fit_are_missing_when_told_so(void **state)
{
    asked.invalid_is_missing = true;
    assert_order(LIST("1", "x", "2"), KN_TYPE_INT, KN_TYPE_INT, "1|2|x");
    assert_order(LIST("1", "1.5", "2"), KN_TYPE_INT, KN_TYPE_INT, "1|2|1.5");
    assert_order(LIST("20240131", "20240231", "0", ""), KN_TYPE_DATE, KN_TYPE_DATE, "20240131|=0=20240231");
    assert_order(LIST("2024-01-31", "1.2.2024", "2024-02-01"), KN_TYPE_DATE, KN_TYPE_DATE,
                 "2024-01-31|2024-02-01|1.2.2024");
    assert_order(LIST("x", "y"), KN_TYPE_INT, KN_TYPE_INT, "x=y");
    assert_order(LIST("1", "x"), KN_TYPE_AUTO, KN_TYPE_TEXT, "1|x"); /* only what was declared */
    /* Marks are those of most cells; without them nothing would be a number, and all cells would be missing. */
    assert_order(LIST("1.234,5", "2,5", "NI"), KN_TYPE_DECIMAL, KN_TYPE_DECIMAL, "2,5|1.234,5|NI");
    assert_order(LIST("1.234,5", "2,5", "3,5", "1,234.5", "4"), KN_TYPE_DECIMAL, KN_TYPE_DECIMAL,
                 "2,5|3,5|4|1.234,5|1,234.5");
    assert_order(LIST("1,234,567", "12", "NI"), KN_TYPE_INT, KN_TYPE_INT, "12|1,234,567|NI");
    assert_order(LIST("1.5", "2", "3,5"), KN_TYPE_DECIMAL, KN_TYPE_DECIMAL, "1.5|2|3,5");
    asked.is_quasi = true;
    assert_order(LIST("1", "anna", "NA"), KN_TYPE_INT, KN_TYPE_INT, "1|NA="); /* nobody's text leaves */
    asked = (kn_infer_options){0};
}

static void a_declared_type_that_does_not_fit_is_refused_at_its_first_line(void **state)
{
    built b;
    assert_int_equal(build(&b, LIST("1", "x", "2", "y"), KN_TYPE_INT), KN_INPUT);
    assert_string_equal(b.err.message,
                        "t.csv:97: column 'col': 'y' is not a whole number; give the column another type, "
                        "name the value with --null if it means a missing one, or say --invalid missing");
    built_free(&b);
    assert_int_equal(build(&b, LIST("1.5", "2"), KN_TYPE_INT), KN_INPUT);
    built_free(&b);
    assert_int_equal(build(&b, LIST("2024-01-31", "31.1.2024"), KN_TYPE_DATE), KN_INPUT);
    assert_non_null(
        strstr(b.err.message, "t.csv:100: column 'col': '2024-01-31' is not a date in the form of the others"));
    built_free(&b);
    assert_int_equal(build(&b, LIST("1/2/2024", "2/1/2024"), KN_TYPE_DATE), KN_INPUT);
    assert_non_null(strstr(b.err.message, "day and month could be exchanged"));
    built_free(&b);
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Long shared prefixes and many spellings, so that every branch of the sort is taken. */
static void large_dictionaries_are_sorted(void **state)
{
    enum { N = 6000 };
    kn_rng rng = kn_rng_new(9, 0);
    static char *texts[N];
    static uint64_t offset[N + 1], line[N];
    kn_buffer bytes = {0};
    for (uint32_t i = 0; i < N; i++) {
        char text[200];
        static const char prefix[] =
            "a prefix of many bytes, longer than eight times eight, so that the radix sort gives up";
        uint32_t n_prefix = i % 4 == 0 ? 0 : i % 4 == 1 ? 8 : i % 4 == 2 ? 20 : (uint32_t)strlen(prefix);
        snprintf(text, sizeof text, "%.*s%u", (int)n_prefix, prefix, kn_rng_below(&rng, 100) * N + i);
        texts[i] = kn_string_copy(text, strlen(text), NULL);
        offset[i] = bytes.n;
        kn_buffer_text(&bytes, text);
    }
    offset[N] = bytes.n;
    kn_spellings spellings = {N, bytes.bytes, offset, line};
    kn_infer_options options = {.source = "t.csv"};
    built b = {.column = {.name = (char *)"col"}};
    assert_ok(kn_column_set_spellings(&b.column, &b.new_code, &spellings, &options, err));
    qsort(texts, N, sizeof *texts, by_bytes);
    for (uint32_t i = 0; i < N; i++) {
        size_t n_bytes;
        const char *sorted = kn_column_bytes(&b.column, i, &n_bytes);
        assert_int_equal(n_bytes, strlen(texts[i]));
        assert_memory_equal(sorted, texts[i], n_bytes);
        kn_free(texts[i]);
    }
    kn_buffer_free(&bytes);
    built_free(&b);
}

static void folded_values_are_one_and_every_cell_keeps_its_spelling(void **state)
{
    static const char *const words[] = {"HIV",  "hiv", " HIV", "Hiv ", "flu", "FLU",
                                        "cold", "Zz",  "aA",   "AA",   "b",   NULL};
    kn_rng rng = kn_rng_new(21, 0);
    for (int round = 0; round < 300; round++) {
        const char *cells[30];
        uint32_t n_rows = 1 + kn_rng_below(&rng, 30), n_fewer;
        for (uint32_t r = 0; r < n_rows; r++) cells[r] = words[kn_rng_below(&rng, 12)];
        kn_table *table = test_text_table(n_rows, 1, cells);
        kn_column *column = &table->columns[0];
        uint32_t n_before = column->n_values;
        assert_ok(kn_column_count_folds(&n_fewer, column, err));
        assert_ok(kn_column_fold(column, n_rows, err));
        assert_int_equal(column->n_values, n_before - n_fewer);
        for (uint32_t r = 0; r < n_rows; r++) {
            size_t n;
            const char *bytes = kn_column_bytes(column, kn_column_code(column, r), &n);
            assert_true(n == (cells[r] != NULL ? strlen(cells[r]) : 0) && (n == 0 || memcmp(bytes, cells[r], n) == 0));
            assert_int_equal(column->first_line[kn_column_code(column, r)] <= r + 2, 1);
            for (uint32_t other = 0; other < r; other++) {
                bool missing = cells[r] == NULL || cells[other] == NULL;
                bool same = missing ? cells[r] == cells[other]
                                    : kn_fold_equal(cells[r], strlen(cells[r]), cells[other], strlen(cells[other]));
                assert_int_equal(kn_column_value(column, kn_column_code(column, r)) ==
                                     kn_column_value(column, kn_column_code(column, other)),
                                 same);
            }
            if (cells[r] == NULL)
                assert_int_equal(kn_column_value(column, kn_column_code(column, r)), column->n_values - 1);
        }
        for (uint32_t s = 1; s < column->n_spellings; s++) {
            size_t n_a, n_b;
            const char *a = kn_column_bytes(column, s - 1, &n_a), *b = kn_column_bytes(column, s, &n_b);
            int order = memcmp(a, b, n_a < n_b ? n_a : n_b);
            bool same = kn_column_value(column, s - 1) == kn_column_value(column, s);
            assert_true(kn_column_value(column, s - 1) <= kn_column_value(column, s));
            assert_true(!same || order < 0 || (order == 0 && n_a < n_b));
        }
        test_table_free(table);
    }
    kn_table *numbers = test_table(2, 1, (const int[]){1, 2});
    uint32_t n_fewer = 9;
    assert_ok(kn_column_count_folds(&n_fewer, &numbers->columns[0], err));
    assert_int_equal(n_fewer, 0);
    test_table_free(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_count_on_without_a_gap_from_year_1_to_9999),
        cmocka_unit_test(only_real_dates_are_dates),
        cmocka_unit_test(a_year_of_two_digits_is_seen_and_not_read),
        cmocka_unit_test(every_month_in_letters_has_its_days),
        cmocka_unit_test(a_month_in_letters_is_seen_and_not_read),
        cmocka_unit_test(a_time_is_counted_in_24_hours_and_back_to_utc),
        cmocka_unit_test(the_main_spelling_is_the_most_frequent_then_the_first),
        cmocka_unit_test(only_plain_decimals_are_numbers),
        cmocka_unit_test(numbers_compare_exactly_and_doubles_follow),
        cmocka_unit_test(columns_get_the_type_that_fits_every_spelling),
        cmocka_unit_test(dates_are_dates_when_the_whole_column_agrees),
        cmocka_unit_test(numbers_with_marks_are_numbers_where_one_way_fits_them_all),
        cmocka_unit_test(cells_that_do_not_fit_are_missing_when_told_so),
        cmocka_unit_test(a_declared_type_that_does_not_fit_is_refused_at_its_first_line),
        cmocka_unit_test(large_dictionaries_are_sorted),
        cmocka_unit_test(folded_values_are_one_and_every_cell_keeps_its_spelling),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
