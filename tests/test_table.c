/* table/: dates, numbers, and the order of dictionaries. */
#include "support.h"

#include "table/dates.h"
#include "table/table.h"

#include <math.h>
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
        {"2024-01-31T24:00", 0},
        {"2024-01-31T10:60", 0},
        {"2024-01-31T", 0},
        {"31.1.2024", KN_DATE_DOTS},
        {"31.01.2024", KN_DATE_DOTS},
        {"1.31.2024", 0},
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned forms = kn_date_forms(cases[i].text, strlen(cases[i].text), 31);
        if (forms != cases[i].forms) fail_msg("'%s': forms %u, expected %u", cases[i].text, forms, cases[i].forms);
    }
}

static void a_time_with_a_zone_is_counted_back_to_utc(void **state)
{
    kn_moment a, b;
    assert_true(kn_date_parse(&a, "2024-03-01T01:30+02:00", 22, KN_DATE_ISO));
    assert_true(kn_date_parse(&b, "2024-02-29T23:30Z", 17, KN_DATE_ISO));
    assert_int_equal(a.days, b.days);
    assert_int_equal(a.nanoseconds, b.nanoseconds);
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
    uint32_t *spellings, *rows;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_count_on_without_a_gap_from_year_1_to_9999),
        cmocka_unit_test(only_real_dates_are_dates),
        cmocka_unit_test(a_time_with_a_zone_is_counted_back_to_utc),
        cmocka_unit_test(the_main_spelling_is_the_most_frequent_then_the_first),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
