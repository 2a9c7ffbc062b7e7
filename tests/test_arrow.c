/* Tables in memory: Arrow arrays made by hand through both readers, source/arrow for the run and verify/ for the
 * verdict, against texts written down here, against arithmetic of their own, and against a CSV file of the same cells.
 */
#include "arrow_support.h"

#include "base/buffer.h"
#include "source/arrow/arrow_read.h"
#include "source/csv/csv_read.h"
#include "table/batches.h"
#include "verify/sheet.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Reading both ways ------------------------------------------------------------------------------------------- */

static kn_pool *pool;

static int make_pool(void **state) { return kn_pool_new(&pool, 3, NULL) == KN_OK ? 0 : -1; }

static int free_pool(void **state)
{
    kn_pool_free(pool);
    return 0;
}

static kn_status read_batches(kn_table **out, const kn_batches *batches, const kn_csv_options *csv, kn_error *err)
{
    kn_status status = KN_OK;
    kn_arrow_reader *reader = NULL;
    kn_column_plan *plans = NULL;
    kn_arrow_options options = {.null_values = csv->null_values,
                                .n_null_values = csv->n_null_values,
                                .trim = csv->trim,
                                .redact = csv->redact,
                                .name = csv->name};
    *out = NULL;
    KN_NEW(plans, (size_t)batches->schema.n_children);
    for (int64_t i = 0; i < batches->schema.n_children; i++) plans[i].role = KN_ROLE_QUASI;
    KN_TRY(kn_arrow_open(&reader, batches, &options, err));
    KN_TRY(kn_arrow_read(out, reader, plans, pool, NULL, err));
done:
    kn_arrow_close(reader);
    kn_free(plans);
    return status;
}

static kn_status read_sheet(kn_sheet **out, const kn_batches *batches, const kn_csv_options *csv, bool only_used,
                            kn_error *err)
{
    kn_sheet_options options = {.name = "table:data",
                                .batches = batches,
                                .null_text = csv->n_null_values > 0 ? csv->null_values[0] : NULL,
                                .only_used = only_used,
                                .trim = csv->trim,
                                .fingerprint_column = KN_NONE};
    return kn_sheet_read(out, &options, err);
}

static void assert_text(const char *bytes, size_t n_bytes, const char *expected)
{
    if (n_bytes != strlen(expected) || memcmp(bytes, expected, n_bytes) != 0)
        fail_msg("'%.*s', expected '%s'", (int)n_bytes, bytes, expected);
}

/* Row by row, column by column: what a cell must be called. */
static void assert_cells(kn_batches *batches, const kn_csv_options *csv, const char *const *expected)
{
    kn_table *table;
    kn_sheet *sheet;
    assert_ok(read_batches(&table, batches, csv, err));
    assert_ok(read_sheet(&sheet, batches, csv, false, err));
    assert_null(sheet->problem);
    assert_int_equal(sheet->n_rows, table->n_rows);
    for (uint32_t row = 0; row < table->n_rows; row++)
        for (uint32_t c = 0; c < table->n_columns; c++) {
            const kn_column *column = &table->columns[c];
            const char *wanted = expected[(size_t)row * table->n_columns + c];
            size_t n;
            const char *bytes = kn_column_bytes(column, kn_column_code(column, row), &n);
            assert_text(bytes, n, wanted);
            bytes = kn_text(&sheet->columns[c], kn_sheet_code(&sheet->columns[c], row), &n);
            assert_text(bytes, n, wanted);
        }
    kn_table_free(table);
    kn_sheet_free(sheet);
}

static kn_batches *pulled(struct ArrowArrayStream *stream)
{
    kn_batches *batches;
    assert_ok(kn_batches_pull(&batches, stream, "table:data", err));
    return batches;
}

/* A table of one column. */
static kn_batches *one_column(const char *format, struct ArrowArray *array)
{
    struct ArrowArrayStream stream;
    test_stream_start(&stream, 1, (const char *const[]){"x", format});
    test_stream_add(&stream, array->length, 0, &array);
    return pulled(&stream);
}

static void assert_column(const char *format, struct ArrowArray *array, const char *const *expected)
{
    kn_batches *batches = one_column(format, array);
    assert_cells(batches, &(kn_csv_options){0}, expected);
    kn_batches_drop(batches);
}

#define TEXTS (const char *const[])

/* --- Spellings --------------------------------------------------------------------------------------------------- */

static void integers_of_every_width_are_exact(void **state)
{
    assert_column("c", test_fixed(2, NULL, (int8_t[]){-128, 127}, 1), TEXTS{"-128", "127"});
    assert_column("C", test_fixed(2, NULL, (uint8_t[]){0, 255}, 1), TEXTS{"0", "255"});
    assert_column("s", test_fixed(2, NULL, (int16_t[]){-32768, 32767}, 2), TEXTS{"-32768", "32767"});
    assert_column("S", test_fixed(1, NULL, (uint16_t[]){65535}, 2), TEXTS{"65535"});
    assert_column("i", test_fixed(2, NULL, (int32_t[]){INT32_MIN, INT32_MAX}, 4), TEXTS{"-2147483648", "2147483647"});
    assert_column("I", test_fixed(1, NULL, (uint32_t[]){UINT32_MAX}, 4), TEXTS{"4294967295"});
    assert_column("l", test_fixed(3, NULL, (int64_t[]){INT64_MIN, INT64_MAX, INT64_MAX - 1}, 8),
                  TEXTS{"-9223372036854775808", "9223372036854775807", "9223372036854775806"});
    assert_column("L", test_fixed(2, NULL, (uint64_t[]){UINT64_MAX, UINT64_MAX - 1}, 8),
                  TEXTS{"18446744073709551615", "18446744073709551614"});
}

static void floats_have_their_shortest_spelling(void **state)
{
    const double values[] = {
        0.1,        34,       -2.5,      1e15,   9007199254740993.0,     1e16,    1e22,
        123456.789, 1e-5,     1.5e-6,    5e-324, 1.7976931348623157e308, 0x1p-44, 0.30000000000000004,
        -0.0,       INFINITY, -INFINITY, NAN};
    assert_column("g", test_fixed(18, NULL, values, 8),
                  TEXTS{"0.1", "34", "-2.5", "1000000000000000", "9007199254740992", "1e+16", "1e+22", "123456.789",
                        "0.00001", "1.5e-06", "5e-324", "1.7976931348623157e+308", "5.684341886080802e-14",
                        "0.30000000000000004", "-0", "inf", "-inf", ""});
    const float singles[] = {0.1f, 16777216.0f, 3.4028235e38f, 1e-45f, 123456792.0f, 8388608.5f, NAN};
    assert_column("f", test_fixed(7, NULL, singles, 4),
                  TEXTS{"0.1", "16777216", "3.4028235e+38", "1e-45", "123456790", "8388608", ""});
    const uint16_t halves[] = {0x3C00, 0x2E66, 0x7BFF, 0x0001, 0xC248, 0x7C00, 0x7E00, 0x8000};
    assert_column("e", test_fixed(8, NULL, halves, 2), TEXTS{"1", "0.1", "65500", "6e-08", "-3.14", "inf", "", "-0"});
}

/* The significant digits of a spelling. */
static int n_digits_of(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9') continue;
        if (n == 0 && *text == '0') continue;
        n++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return n - zeros;
}

static bool double_reads(const char *text, uint64_t bits, bool single)
{
    double value = strtod(text, NULL);
    float narrow = strtof(text, NULL);
    uint64_t read = 0;
    if (single) memcpy(&read, &narrow, 4);
    else memcpy(&read, &value, 8);
    return read == bits;
}

/* No decimal of one digit less reads back: neither the nearest one nor its neighbours. */
static void assert_shortest(const char *text, double value, uint64_t bits, bool single)
{
    char shorter[64];
    int n = n_digits_of(text);
    if (!double_reads(text, bits, single)) fail_msg("%s does not read back as %.17g", text, value);
    if (n <= 1) return;
    snprintf(shorter, sizeof shorter, "%.*e", n - 2, value);
    int exponent = atoi(strchr(shorter, 'e') + 1) - (n - 2);
    long long nearest = 0;
    for (const char *at = shorter; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') nearest = 10 * nearest + (*at - '0');
    for (long long near = nearest - 1; near <= nearest + 1; near++) {
        snprintf(shorter, sizeof shorter, "%s%llde%d", signbit(value) ? "-" : "", near, exponent);
        if (double_reads(shorter, bits, single)) fail_msg("%s is longer than %s", text, shorter);
    }
}

/* Distinct in kind: random bits, powers of two and their neighbours, decimals of few digits. */
static uint64_t some_float(kn_rng *rng, bool single)
{
    double value = ldexp(1, (int)kn_rng_below(rng, single ? 270 : 2090) - (single ? 145 : 1070));
    uint64_t bits = kn_rng_next(rng);
    float narrow = (float)value;
    switch (kn_rng_below(rng, 4)) {
    case 0: return single ? (uint32_t)bits : bits;
    case 1:
        value = (double)kn_rng_below(rng, 1000000) / pow(10, kn_rng_below(rng, 8));
        narrow = (float)value;
        break;
    default: break;
    }
    uint64_t out = 0;
    if (single) memcpy(&out, &narrow, 4);
    else memcpy(&out, &value, 8);
    return out + kn_rng_below(rng, 3) - (out > 0 ? 1 : 0);
}

static void no_float_has_a_shorter_spelling(void **state)
{
    enum { N = 20000 };
    kn_rng rng = kn_rng_new(7, 0);
    for (int single = 0; single < 2; single++) {
        uint64_t *bits = calloc(N, sizeof *bits);
        uint32_t *narrow = calloc(N, sizeof *narrow);
        for (int i = 0; i < N; i++) narrow[i] = (uint32_t)(bits[i] = some_float(&rng, single));
        kn_batches *batches =
            one_column(single ? "f" : "g", test_fixed(N, NULL, single ? (void *)narrow : bits, single ? 4 : 8));
        kn_table *table;
        kn_sheet *sheet;
        assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
        assert_ok(read_sheet(&sheet, batches, &(kn_csv_options){0}, false, err));
        for (uint32_t i = 0; i < N; i++) {
            char text[64] = {0};
            float as_float;
            double value;
            size_t n, n_sheet;
            const kn_sheet_column *column = &sheet->columns[0];
            const char *bytes = kn_column_bytes(&table->columns[0], kn_column_code(&table->columns[0], i), &n);
            memcpy(text, bytes, n);
            bytes = kn_text(column, kn_sheet_code(column, i), &n_sheet);
            assert_text(bytes, n_sheet, text);
            memcpy(&as_float, &narrow[i], 4);
            memcpy(&value, &bits[i], 8);
            if (single) value = as_float;
            if (isnan(value) || isinf(value)) continue;
            assert_shortest(text, value, single ? narrow[i] : bits[i], single);
        }
        kn_table_free(table);
        kn_sheet_free(sheet);
        kn_batches_drop(batches);
        free(bits);
        free(narrow);
    }
}

/* Every half float: the spelling means it and no other. */
static void every_half_float_reads_back(void **state)
{
    enum { N = 0x7C00 };
    static uint16_t halves[N];
    for (int i = 0; i < N; i++) halves[i] = (uint16_t)i;
    kn_batches *batches = one_column("e", test_fixed(N, NULL, halves, 2));
    kn_table *table;
    kn_sheet *sheet;
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_ok(read_sheet(&sheet, batches, &(kn_csv_options){0}, false, err));
    double below = -1;
    for (uint32_t i = 0; i < N; i++) {
        char text[64] = {0};
        size_t n;
        const char *bytes = kn_column_bytes(&table->columns[0], kn_column_code(&table->columns[0], i), &n);
        memcpy(text, bytes, n);
        bytes = kn_text(&sheet->columns[0], kn_sheet_code(&sheet->columns[0], i), &n);
        assert_text(bytes, n, text);
        int exponent = (int)(i >> 10);
        double value = exponent == 0 ? (i & 1023) / 16777216.0 : ldexp(1024 + (i & 1023), exponent - 25);
        double read = strtod(text, NULL),
               above = exponent == 0 ? (i + 1) / 16777216.0 : value + ldexp(1, exponent - 25);
        double distance = fabs(read - value), limit = (read > value ? above - value : value - below) / 2;
        assert_true(i % 2 == 0 ? distance <= limit : distance < limit);
        assert_true(n_digits_of(text) <= 5);
        below = value;
    }
    kn_table_free(table);
    kn_sheet_free(sheet);
    kn_batches_drop(batches);
}

/* value = 10 * value + digit, over bytes, lowest first. */
static void shift_in(unsigned char *value, int n_bytes, int digit)
{
    int carry = digit;
    for (int i = 0; i < n_bytes; i++) {
        carry += 10 * value[i];
        value[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

static void negate(unsigned char *value, int n_bytes)
{
    int carry = 1;
    for (int i = 0; i < n_bytes; i++) {
        carry += 255 - value[i];
        value[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

static void decimals_keep_their_scale_and_every_digit(void **state)
{
    static const struct {
        const char *format;
        int n_bytes, precision, scale;
    } kinds[] = {{"d:9,2,32", 4, 9, 2},      {"d:18,0,64", 8, 18, 0},     {"d:38,10", 16, 38, 10},
                 {"d:38,-3", 16, 38, -3},    {"d:38,38,128", 16, 38, 38}, {"d:76,20,256", 32, 76, 20},
                 {"d:76,-2,256", 32, 76, -2}};
    kn_rng rng = kn_rng_new(11, 0);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int trial = 0; trial < 200; trial++) {
            unsigned char value[32] = {0};
            char digits[100], text[200];
            int n = 1 + (int)kn_rng_below(&rng, (uint32_t)kinds[k].precision), scale = kinds[k].scale, at = 0;
            bool negative = kn_rng_below(&rng, 2) == 1;
            for (int i = 0; i < n; i++) {
                int digit = (int)kn_rng_below(&rng, 10);
                if (i == 0 && n > 1 && digit == 0) digit = 7;
                shift_in(value, kinds[k].n_bytes, digit);
                digits[i] = (char)('0' + digit);
            }
            bool zero = n == 1 && digits[0] == '0';
            if (negative && !zero) {
                negate(value, kinds[k].n_bytes);
                text[at++] = '-';
            }
            for (int i = n < scale + 1 ? n - scale - 1 : 0; i < n; i++) {
                if (scale > 0 && i == n - scale) text[at++] = '.';
                text[at++] = i < 0 ? '0' : digits[i];
            }
            for (int i = 0; i < -scale && !zero; i++) text[at++] = '0';
            text[at] = '\0';
            assert_column(kinds[k].format, test_fixed(1, NULL, value, (size_t)kinds[k].n_bytes), TEXTS{text});
        }
}

static void dates_follow_the_calendar(void **state)
{
    enum { N = 4000 };
    static int32_t days[N];
    static char texts[N][48];
    static const char *expected[N];
    int year = 1970, month = 1, day = 1;
    for (int i = 0, n = 0; n < N; i++) { /* walks day by day, takes every 700th */
        static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        if (i % 700 == 0) {
            days[n] = i;
            snprintf(texts[n], sizeof texts[n], "%s%04d-%02d-%02d", year > 9999 ? "+" : "", year, month, day);
            expected[n] = texts[n];
            n++;
        }
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        if (++day > lengths[month - 1] + (month == 2 && leap)) day = 1, month++;
        if (month > 12) month = 1, year++;
    }
    assert_column("tdD", test_fixed(N, NULL, days, 4), expected);
    assert_column("tdD", test_fixed(5, NULL, (int32_t[]){-1, -719162, -719163, -719529, INT32_MIN}, 4),
                  TEXTS{"1969-12-31", "0001-01-01", "0000-12-31", "-0001-12-31", "-5877641-06-23"});
    assert_column("tdm", test_fixed(3, NULL, (int64_t[]){0, -86400000, 1500}, 8),
                  TEXTS{"1970-01-01", "1969-12-31", "1970-01-01T00:00:01.5"});
}

static void moments_are_utc_and_never_rounded(void **state)
{
    const int64_t seconds[] = {1706697005, 0, -1, INT64_MAX};
    assert_column(
        "tss:", test_fixed(4, NULL, seconds, 8),
        TEXTS{"2024-01-31T10:30:05", "1970-01-01T00:00:00", "1969-12-31T23:59:59", "+292277026596-12-04T15:30:07"});
    assert_column("tss:Europe/Berlin", test_fixed(1, NULL, seconds, 8), TEXTS{"2024-01-31T10:30:05Z"});
    assert_column("tsm:", test_fixed(2, NULL, (int64_t[]){1706697005250, -1}, 8),
                  TEXTS{"2024-01-31T10:30:05.25", "1969-12-31T23:59:59.999"});
    assert_column("tsu:UTC", test_fixed(1, NULL, (int64_t[]){1706697005000001}, 8),
                  TEXTS{"2024-01-31T10:30:05.000001Z"});
    const int64_t nanoseconds[] = {1706697005123456789, 1706697005123456788, INT64_MIN, INT64_MAX};
    assert_column("tsn:", test_fixed(4, NULL, nanoseconds, 8),
                  TEXTS{"2024-01-31T10:30:05.123456789", "2024-01-31T10:30:05.123456788",
                        "1677-09-21T00:12:43.145224192", "2262-04-11T23:47:16.854775807"});
    assert_column("tts", test_fixed(2, NULL, (int32_t[]){0, 86399}, 4), TEXTS{"00:00:00", "23:59:59"});
    assert_column("ttm", test_fixed(1, NULL, (int32_t[]){37805250}, 4), TEXTS{"10:30:05.25"});
    assert_column("ttu", test_fixed(1, NULL, (int64_t[]){1}, 8), TEXTS{"00:00:00.000001"});
    assert_column("ttn", test_fixed(1, NULL, (int64_t[]){86399999999999}, 8), TEXTS{"23:59:59.999999999"});
}

static void long_numbers_and_moments_stay_apart(void **state)
{
    kn_batches *batches = one_column("l", test_fixed(2, NULL, (int64_t[]){9007199254740993, 9007199254740992}, 8));
    kn_table *table;
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_int_equal(table->columns[0].type, KN_TYPE_INT);
    assert_int_equal(table->columns[0].n_values, 2);
    assert_int_equal(kn_column_code(&table->columns[0], 0), 1);
    kn_table_free(table);
    kn_batches_drop(batches);
    batches = one_column("tsn:", test_fixed(2, NULL, (int64_t[]){1706697005123456789, 1706697005123456788}, 8));
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_int_equal(table->columns[0].type, KN_TYPE_DATE);
    assert_int_equal(table->columns[0].n_values, 2);
    kn_table_free(table);
    kn_batches_drop(batches);
}

static void strings_come_in_four_layouts(void **state)
{
    const char *const cells[] = {
        "", "a", NULL, "twelve bytes", "thirteen byte", "Zürich, 12 €", "😀", "0123456789abcdef"};
    const char *const expected[] = {
        "", "a", "", "twelve bytes", "thirteen byte", "Zürich, 12 €", "😀", "0123456789abcdef"};
    assert_column("u", test_strings(8, cells, false), expected);
    assert_column("U", test_strings(8, cells, true), expected);
    assert_column("z", test_strings(8, cells, false), expected);
    assert_column("vu", test_views(8, cells), expected);
    assert_column("vz", test_views(8, cells), expected);
    assert_column("u", test_slice(test_strings(8, cells, false), 3, 4), expected + 3);
    assert_column("vu", test_slice(test_views(8, cells), 2, 5), expected + 2);
    assert_column(
        "b",
        test_slice(test_bools(9, (uint8_t[]){1, 1, 1, 0, 1, 1, 1, 1, 1}, (uint8_t[]){1, 0, 1, 0, 0, 1, 1, 0, 1}), 1, 8),
        TEXTS{"false", "true", "", "false", "true", "true", "false", "true"});
    assert_column("n", test_nulls(3), TEXTS{"", "", ""});
}

static void blanks_are_trimmed_and_nulls_spelled_as_told(void **state)
{
    const char *const nulls[] = {"NA", "?"};
    kn_csv_options csv = {.trim = true, .null_values = nulls, .n_null_values = 2};
    kn_batches *batches = one_column("u", test_strings(5, (const char *const[]){" a\t", NULL, "?", "", "  "}, false));
    assert_cells(batches, &csv, TEXTS{"a", "NA", "?", "", ""});
    kn_table *table;
    assert_ok(read_batches(&table, batches, &csv, err));
    assert_true(table->columns[0].has_missing);
    assert_int_equal(table->columns[0].n_values, 2); /* a, missing: the empty text is, too */
    kn_table_free(table);
    kn_batches_drop(batches);
    batches = one_column("i", test_fixed(2, (uint8_t[]){1, 0}, (int32_t[]){5, 6}, 4));
    assert_cells(batches, &csv, TEXTS{"5", "NA"});
    kn_batches_drop(batches);
}

static struct ArrowArray *indices_of(const char *format, int64_t n, const uint8_t *valid, const int *indices)
{
    char bytes[64 * 8] = {0};
    size_t width = strchr("cC", *format) != NULL   ? 1
                   : strchr("sS", *format) != NULL ? 2
                   : strchr("iI", *format)         ? 4
                                                   : 8;
    for (int64_t i = 0; i < n; i++) {
        int64_t wide = indices[i];
        memcpy(bytes + (size_t)i * width, &wide, width);
    }
    return test_fixed(n, valid, bytes, width);
}

static void dictionaries_take_any_index_and_nulls_on_both_sides(void **state)
{
    const char *const values[] = {"unused", "red", NULL, "green", "also unused"};
    const int indices[] = {3, 1, 2, 1, 3, 1};
    const uint8_t valid[] = {1, 1, 1, 1, 0, 1};
    const char *const formats[] = {"c>u", "C>u", "s>u", "S>u", "i>u", "I>u", "l>u", "L>u"};
    for (int i = 0; i < 8; i++)
        assert_column(formats[i],
                      test_dictionary(indices_of(formats[i], 6, valid, indices), test_strings(5, values, false)),
                      TEXTS{"green", "red", "", "red", "", "red"});
    assert_column("c>i",
                  test_dictionary(indices_of("c", 3, NULL, (int[]){1, 0, 1}),
                                  test_slice(test_fixed(4, NULL, (int32_t[]){1, 2, 3, 4}, 4), 2, 2)),
                  TEXTS{"4", "3", "4"});
    assert_column(
        "c>g", test_dictionary(indices_of("c", 2, NULL, (int[]){1, 0}), test_fixed(2, NULL, (double[]){NAN, 0.5}, 8)),
        TEXTS{"0.5", ""});
    assert_column("c>vu",
                  test_dictionary(indices_of("c", 2, NULL, (int[]){1, 0}),
                                  test_views(2, (const char *const[]){"a very long string view", "b"})),
                  TEXTS{"b", "a very long string view"});
}

static void what_no_row_has_is_no_value(void **state)
{
    kn_batches *batches = one_column(
        "c>u", test_dictionary(indices_of("c", 2, NULL, (int[]){2, 2}), test_strings(3, TEXTS{"a", "b", "c"}, false)));
    kn_table *table;
    kn_sheet *sheet;
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_int_equal(table->columns[0].n_spellings, 1);
    kn_table_free(table);
    assert_ok(read_sheet(&sheet, batches, &(kn_csv_options){0}, true, err));
    assert_non_null(sheet->problem);
    assert_non_null(strstr(sheet->problem, "holds 2 values that no row has"));
    kn_sheet_free(sheet);
    kn_batches_drop(batches);
}

/* --- Against a file ---------------------------------------------------------------------------------------------- */

static void assert_same_columns(const kn_table *a, const kn_table *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    for (uint32_t i = 0; i < a->n_columns; i++) {
        const kn_column *x = &a->columns[i], *y = &b->columns[i];
        assert_string_equal(x->name, y->name);
        assert_int_equal(x->n_spellings, y->n_spellings);
        assert_int_equal(x->n_values, y->n_values);
        assert_int_equal(x->has_missing, y->has_missing);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->code_bytes, y->code_bytes);
        assert_memory_equal(x->offset, y->offset, (x->n_spellings + 1) * sizeof *x->offset);
        assert_memory_equal(x->bytes, y->bytes, x->offset[x->n_spellings]);
        for (uint32_t s = 0; s < x->n_spellings; s++) {
            assert_int_equal(kn_column_value(x, s), kn_column_value(y, s));
            assert_int_equal(x->first_line[s] + 1, y->first_line[s]); /* a file has a header */
        }
        for (uint32_t row = 0; row < a->n_rows; row++) assert_int_equal(kn_column_code(x, row), kn_column_code(y, row));
    }
}

static kn_status read_csv(kn_table **out, const char *text, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_reader *reader = NULL;
    kn_column_plan *plans = NULL;
    char path[] = "/tmp/kanon-arrow-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    KN_TRY(kn_csv_open(&reader, path, &(kn_csv_options){.delimiter = ','}, err));
    KN_NEW(plans, kn_csv_n_columns(reader));
    for (uint32_t i = 0; i < kn_csv_n_columns(reader); i++) plans[i].role = KN_ROLE_QUASI;
    KN_TRY(kn_csv_read(out, reader, plans, pool, NULL, err));
done:
    unlink(path);
    kn_free(plans);
    kn_csv_close(reader);
    return status;
}

enum { N_KINDS = 6 };
static const char *const kind_names[] = {"whole",  "l",   "text", "u",   "float", "g",
                                         "colour", "s>U", "day",  "tdD", "view",  "vu"};

/* `n` rows of every kind into one batch, sliced at random, and their cells as lines of CSV. */
static void add_random_batch(struct ArrowArrayStream *stream, kn_buffer *csv, kn_rng *rng, uint32_t n,
                             uint32_t n_values)
{
    static const char *const colours[] = {"red", "green", "blue, dark", "\"quoted\"", NULL, "unused"};
    uint32_t before = kn_rng_below(rng, 9), n_all = before + n + kn_rng_below(rng, 5),
             shift = kn_rng_below(rng, before + 1);
    int64_t *whole = calloc(n_all + 1, 8);
    double *numbers = calloc(n_all + 1, 8);
    int32_t *days = calloc(n_all + 1, 4);
    int16_t *indices = calloc(n_all + 1, 2);
    uint8_t *valid = calloc(n_all + 1, 1);
    char(*texts)[40] = calloc(n_all + 1, sizeof *texts);
    const char **cells = calloc(n_all + 1, sizeof *cells);
    for (uint32_t i = 0; i < n_all; i++) {
        uint32_t value = kn_rng_below(rng, n_values);
        whole[i] = (int64_t)value * 1000003 - 5;
        numbers[i] = value / 8.0;
        days[i] = (int32_t)value + 10000;
        indices[i] = (int16_t)kn_rng_below(rng, 5);
        valid[i] = kn_rng_below(rng, 7) != 0;
        snprintf(texts[i], sizeof *texts, kn_rng_below(rng, 3) == 0 ? "%u" : "a longer text for value %u", value);
        cells[i] = valid[i] ? texts[i] : NULL;
        if (i < before || i >= before + n) continue;
        char day[KN_SHOWN_BYTES];
        int year = 1997, left = days[i] - 9862; /* 1997-01-01 */
        static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        int month = 0;
        for (;; month = 0, year++) {
            for (; month < 12; month++) {
                int length = lengths[month] + (month == 1 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
                if (left < length) break;
                left -= length;
            }
            if (month < 12) break;
        }
        snprintf(day, sizeof day, "%04d-%02d-%02d", year, month + 1, left + 1);
        const char *colour = indices[i] == 2   ? "\"blue, dark\""
                             : indices[i] == 3 ? "\"\"\"quoted\"\"\""
                                               : colours[indices[i]];
        if (valid[i]) kn_buffer_printf(csv, "%lld", (long long)whole[i]);
        kn_buffer_printf(csv, ",%s,", cells[i] != NULL ? cells[i] : "");
        if (valid[i]) kn_buffer_printf(csv, "%.17g", numbers[i]); /* eighths are short */
        kn_buffer_printf(csv, ",%s,", colour != NULL ? colour : "");
        kn_buffer_printf(csv, "%s,%s\n", valid[i] ? day : "", cells[i] != NULL ? cells[i] : "");
    }
    struct ArrowArray *columns[N_KINDS] = {
        test_fixed(n_all, valid, whole, 8),
        test_strings(n_all, cells, false),
        test_fixed(n_all, valid, numbers, 8),
        test_dictionary(test_fixed(n_all, NULL, indices, 2), test_strings(6, colours, true)),
        test_fixed(n_all, valid, days, 4),
        test_views(n_all, cells),
    };
    for (int i = 0; i < N_KINDS; i++) /* part of the offset is the column's, part the batch's */
        test_slice(columns[i], before - shift, n_all - (before - shift));
    test_stream_add(stream, n, shift, columns);
    free(whole);
    free(numbers);
    free(days);
    free(indices);
    free(valid);
    free(texts);
    free(cells);
}

static void a_table_in_memory_is_read_as_the_file_of_its_spellings(void **state)
{
    kn_rng rng = kn_rng_new(3, 0);
    for (int trial = 0; trial < 60; trial++) {
        struct ArrowArrayStream stream;
        kn_buffer csv = {0};
        kn_table *a, *b;
        uint32_t n_batches = kn_rng_below(&rng, 5), n_values = 1 + kn_rng_below(&rng, trial % 5 == 0 ? 3000 : 20);
        test_stream_start(&stream, N_KINDS, kind_names);
        kn_buffer_text(&csv, "whole,text,float,colour,day,view\n");
        for (uint32_t i = 0; i < n_batches; i++)
            add_random_batch(&stream, &csv, &rng, kn_rng_below(&rng, trial % 5 == 0 ? 3000 : 30), n_values);
        kn_batches *batches = pulled(&stream);
        assert_ok(read_batches(&a, batches, &(kn_csv_options){0}, err));
        assert_ok(read_csv(&b, csv.bytes, err));
        assert_same_columns(a, b);
        kn_sheet *sheet;
        assert_ok(read_sheet(&sheet, batches, &(kn_csv_options){0}, false, err));
        assert_null(sheet->problem);
        for (uint32_t row = 0; row < a->n_rows; row++)
            for (uint32_t c = 0; c < N_KINDS; c++) {
                size_t n, n_sheet;
                const char *bytes = kn_column_bytes(&a->columns[c], kn_column_code(&a->columns[c], row), &n);
                const kn_sheet_column *column = &sheet->columns[c];
                const char *text = kn_text(column, kn_sheet_code(column, row), &n_sheet);
                assert_int_equal(n, n_sheet);
                assert_memory_equal(bytes, text, n);
            }
        kn_sheet_free(sheet);
        kn_table_free(a);
        kn_table_free(b);
        kn_batches_drop(batches);
        kn_buffer_free(&csv);
    }
}

static void nearly_unique_columns_are_read_right(void **state)
{
    enum { N = 200000 };
    int64_t *ids = calloc(N, 8);
    for (int i = 0; i < N; i++) ids[i] = (int64_t)i * 7919 % N;
    kn_batches *batches = one_column("l", test_fixed(N, NULL, ids, 8));
    kn_table *table;
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_int_equal(table->columns[0].n_values, N);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(kn_column_code(&table->columns[0], i), (uint32_t)ids[i]);
    kn_table_free(table);
    kn_batches_drop(batches);
    free(ids);
}

/* --- What is refused --------------------------------------------------------------------------------------------- */

static void assert_broken(kn_batches *batches, const char *word)
{
    kn_table *table;
    kn_sheet *sheet;
    kn_error failure = {0};
    assert_int_equal(read_batches(&table, batches, &(kn_csv_options){0}, &failure), KN_INPUT);
    if (strstr(failure.message, word) == NULL) fail_msg("'%s' does not say '%s'", failure.message, word);
    assert_non_null(strstr(failure.message, "'x'"));
    assert_ok(read_sheet(&sheet, batches, &(kn_csv_options){0}, false, err));
    assert_non_null(sheet->problem);
    assert_int_equal(sheet->n_rows, 0);
    kn_sheet_free(sheet);
    kn_batches_drop(batches);
}

static void nested_types_are_refused_by_name(void **state)
{
    static const char *const formats[][2] = {{"+l", "a list"},
                                             {"+L", "a list"},
                                             {"+w:3", "a fixed-size list"},
                                             {"+s", "a struct"},
                                             {"+m", "a map"},
                                             {"+ud:0,1", "a union"},
                                             {"+r", "run-end"},
                                             {"w:16", "fixed-size binary"},
                                             {"tDs", "a duration"},
                                             {"tiM", "an interval"},
                                             {"q", "not a type"},
                                             {"d:0,2", "not a type"},
                                             {"d:5,2,77", "not a type"},
                                             {"tsx:", "not a type"},
                                             {"c>+l", "a list"},
                                             {"g>u", "must be integers"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        assert_broken(one_column(formats[i][0], test_nulls(0)), formats[i][1]);
}

static void a_nested_column_that_nobody_wants_is_left_out(void **state)
{
    struct ArrowArrayStream stream;
    kn_arrow_reader *reader;
    kn_table *table;
    kn_column_plan plans[] = {{KN_ROLE_QUASI, KN_TYPE_AUTO, false}, {KN_ROLE_DROPPED, KN_TYPE_AUTO, false}};
    test_stream_start(&stream, 2, TEXTS{"x", "i", "list", "+l"});
    test_stream_add(&stream, 1, 0, (struct ArrowArray *[]){test_fixed(1, NULL, (int32_t[]){1}, 4), test_nulls(1)});
    kn_batches *batches = pulled(&stream);
    assert_ok(kn_arrow_open(&reader, batches, &(kn_arrow_options){0}, err));
    assert_ok(kn_arrow_read(&table, reader, plans, pool, NULL, err));
    assert_null(table->columns[1].codes);
    kn_table_free(table);
    kn_arrow_close(reader);
    kn_batches_drop(batches);
}

static void free_buffer(struct ArrowArray *array, int i)
{
    free((void *)array->buffers[i]);
    array->buffers[i] = NULL;
}

static void broken_arrays_are_refused(void **state)
{
    struct ArrowArray *array = test_strings(3, TEXTS{"a", "bc", "d"}, false);
    ((int32_t *)array->buffers[1])[1] = 3;
    ((int32_t *)array->buffers[1])[2] = 1;
    assert_broken(one_column("u", array), "offsets that do not ascend");
    array = test_strings(2, TEXTS{"a", "bc"}, false);
    ((int32_t *)array->buffers[1])[1] = 1000; /* beyond the last: the sanitizer sees who reads there first */
    assert_broken(one_column("u", array), "offsets that do not ascend");
    array = test_strings(2, TEXTS{"a", "bc"}, true);
    ((int64_t *)array->buffers[1])[0] = -1;
    assert_broken(one_column("U", array), "offset");
    array = test_strings(2, TEXTS{"a", "bc"}, false);
    free_buffer(array, 2);
    assert_broken(one_column("u", array), "a missing buffer");
    array = test_fixed(2, NULL, (int32_t[]){1, 2}, 4);
    free_buffer(array, 1);
    assert_broken(one_column("i", array), "a missing buffer");
    array = test_fixed(2, NULL, (int32_t[]){1, 2}, 4);
    array->null_count = 1;
    assert_broken(one_column("i", array), "nulls without");
    assert_broken(one_column("i", test_strings(1, TEXTS{"a"}, false)), "a wrong number of buffers");
    array = test_fixed(2, NULL, (int32_t[]){1, 2}, 4);
    array->offset = -1;
    array->length = 3;
    assert_broken(one_column("i", array), "negative");
    for (int index = -1; index <= 3; index += 4)
        assert_broken(one_column("i>u", test_dictionary(test_fixed(1, NULL, (int32_t[]){index}, 4),
                                                        test_strings(3, TEXTS{"a", "b", "c"}, false))),
                      "index out of range");
    assert_broken(one_column("L>u", test_dictionary(test_fixed(1, NULL, (uint64_t[]){UINT64_MAX}, 8),
                                                    test_strings(3, TEXTS{"a", "b", "c"}, false))),
                  "index out of range");
    assert_broken(one_column("i>u", test_fixed(1, NULL, (int32_t[]){0}, 4)), "without a dictionary");
    array = test_views(1, TEXTS{"longer than twelve bytes"});
    ((int32_t *)array->buffers[1])[2] = 7;
    assert_broken(one_column("vu", array), "view into buffer");
    array = test_views(1, TEXTS{"longer than twelve bytes"});
    ((int32_t *)array->buffers[1])[3] = 1;
    assert_broken(one_column("vu", array), "beyond its buffer");
    array = test_views(1, TEXTS{"short"});
    ((int32_t *)array->buffers[1])[0] = -5;
    assert_broken(one_column("vu", array), "view of length");
    static const char *const bad[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_broken(one_column("u", test_strings(2, (const char *const[]){"fine", bad[i]}, false)),
                      "not valid UTF-8");
        assert_broken(one_column("vz", test_views(1, (const char *const[]){bad[i]})), "not valid UTF-8");
    }
    array = test_strings(1, TEXTS{"abc"}, false);
    ((char *)array->buffers[2])[1] = '\0';
    assert_broken(one_column("u", array), "NUL");
    assert_broken(one_column("tts", test_fixed(1, NULL, (int32_t[]){86400}, 4)), "time of day");
    assert_broken(one_column("ttn", test_fixed(1, NULL, (int64_t[]){-1}, 8)), "time of day");
}

static void assert_no_table(struct ArrowArrayStream *stream, const char *word)
{
    kn_batches *batches;
    kn_error failure = {0};
    assert_int_not_equal(kn_batches_pull(&batches, stream, "table:data", &failure), KN_OK);
    if (strstr(failure.message, word) == NULL) fail_msg("'%s' does not say '%s'", failure.message, word);
    assert_null(batches);
    assert_null(stream->release);
}

static int schema_of_values(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    *out = (struct ArrowSchema){.format = "u", .release = NULL};
    return 0;
}

static void what_is_no_stream_of_batches_is_refused(void **state)
{
    struct ArrowArrayStream stream;
    const char *const names[] = {"x", "i"};
    struct ArrowArray *array;
    test_stream_start(&stream, 1, names);
    test_stream_fail(&stream, EIO);
    assert_no_table(&stream, "the cable was cut");
    assert_no_table(&stream, "released already");
    test_stream_start(&stream, 1, names);
    stream.get_schema = schema_of_values;
    assert_no_table(&stream, "no schema");
    test_stream_start(&stream, 1, names);
    array = test_fixed(2, NULL, (int32_t[]){1, 2}, 4);
    test_stream_add(&stream, 3, 0, &array);
    assert_no_table(&stream, "2 rows where the batch has 3");
    test_stream_start(&stream, 1, names);
    array = test_fixed(2, NULL, (int32_t[]){1, 2}, 4);
    test_stream_add(&stream, -2, 0, &array);
    assert_no_table(&stream, "a length of -2");
}

static void columns_need_names_of_their_own(void **state)
{
    struct ArrowArrayStream stream;
    kn_arrow_reader *reader;
    kn_error failure = {0};
    test_stream_start(&stream, 2, TEXTS{"x", "i", "x", "i"});
    kn_batches *batches = pulled(&stream);
    assert_int_equal(kn_arrow_open(&reader, batches, &(kn_arrow_options){0}, &failure), KN_INPUT);
    assert_non_null(strstr(failure.message, "both called"));
    kn_batches_drop(batches);
    failure = (kn_error){0};
    test_stream_start(&stream, 1, TEXTS{" ", "i"});
    batches = pulled(&stream);
    assert_int_equal(kn_arrow_open(&reader, batches, &(kn_arrow_options){0}, &failure), KN_INPUT);
    assert_non_null(strstr(failure.message, "column 1 has no name"));
    kn_batches_drop(batches);
}

/* --- Held and handed out ----------------------------------------------------------------------------------------- */

static void empty_tables_are_tables(void **state)
{
    struct ArrowArrayStream stream;
    kn_table *table;
    test_stream_start(&stream, 1, TEXTS{"x", "u"});
    kn_batches *batches = pulled(&stream);
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_int_equal(table->n_rows, 0);
    assert_int_equal(table->n_columns, 1);
    kn_table_free(table);
    kn_batches_drop(batches);
    test_stream_start(&stream, 0, NULL);
    test_stream_add(&stream, 5, 0, NULL);
    batches = pulled(&stream);
    assert_ok(read_batches(&table, batches, &(kn_csv_options){0}, err));
    assert_int_equal(table->n_rows, 5);
    assert_int_equal(table->n_columns, 0);
    kn_table_free(table);
    kn_batches_drop(batches);
}

static void *release_elsewhere(void *array)
{
    ((struct ArrowArray *)array)->release(array);
    return NULL;
}

/* A column is moved out of its batch, everything else goes; the column still reads. */
static void what_is_handed_out_holds_what_it_needs(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch, column, end;
    pthread_t thread;
    kn_batches *batches = one_column(
        "i>u", test_dictionary(test_fixed(2, NULL, (int32_t[]){1, 0}, 4), test_strings(2, TEXTS{"a", "b"}, false)));
    assert_ok(kn_batches_export(&stream, batches, err));
    kn_batches_drop(batches);
    assert_int_equal(stream.get_schema(&stream, &schema), 0);
    assert_string_equal(schema.children[0]->dictionary->format, "u");
    assert_string_equal(schema.children[0]->name, "x");
    schema.release(&schema);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    stream.release(&stream);
    column = *batch.children[0];
    batch.children[0]->release = NULL;
    batch.release(&batch);
    assert_int_not_equal(test_arrow_live, 0);
    assert_int_equal(((const int32_t *)column.buffers[1])[0], 1);
    assert_memory_equal(column.dictionary->buffers[2], "ab", 2);
    assert_int_equal(pthread_create(&thread, NULL, release_elsewhere, &column), 0);
    pthread_join(thread, NULL);
    assert_int_equal(test_arrow_live, 0);
}

static void memory_may_run_out_anywhere(void **state)
{
    for (size_t n_th = 1;; n_th++) {
        struct ArrowArrayStream stream, out = {.release = NULL};
        struct ArrowArray batch = {.release = NULL};
        kn_batches *batches = NULL;
        kn_table *table = NULL;
        kn_sheet *sheet = NULL;
        kn_csv_options csv = {0};
        test_stream_start(&stream, 3, TEXTS{"a", "g", "b", "vu", "c", "c>u"});
        for (int i = 0; i < 2; i++)
            test_stream_add(&stream, 3, 0,
                            (struct ArrowArray *[]){test_fixed(3, NULL, (double[]){1, 0.1, NAN}, 8),
                                                    test_views(3, (const char *const[]){"x", NULL, "thirteen byte"}),
                                                    test_dictionary(test_fixed(3, NULL, (int8_t[]){0, 1, 0}, 1),
                                                                    test_strings(2, TEXTS{"u", "v"}, false))});
        kn_memory_fail_at(n_th);
        kn_status status = kn_batches_pull(&batches, &stream, "table:data", NULL);
        if (status == KN_OK) status = read_batches(&table, batches, &csv, NULL);
        if (status == KN_OK) status = read_sheet(&sheet, batches, &csv, false, NULL);
        if (status == KN_OK) status = kn_batches_export(&out, batches, NULL);
        if (status == KN_OK && out.get_next(&out, &batch) != 0) status = KN_RESOURCES;
        size_t n_made = kn_memory_allocations();
        kn_memory_fail_at(0);
        if (batch.release != NULL) batch.release(&batch);
        if (out.release != NULL) out.release(&out);
        kn_sheet_free(sheet);
        kn_table_free(table);
        kn_batches_drop(batches);
        assert_int_equal(test_arrow_live, 0);
        if (status == KN_OK && n_made < n_th) break;
        assert_int_equal(status, KN_RESOURCES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEAVES_NOTHING(integers_of_every_width_are_exact),
        LEAVES_NOTHING(floats_have_their_shortest_spelling),
        LEAVES_NOTHING(no_float_has_a_shorter_spelling),
        LEAVES_NOTHING(every_half_float_reads_back),
        LEAVES_NOTHING(decimals_keep_their_scale_and_every_digit),
        LEAVES_NOTHING(dates_follow_the_calendar),
        LEAVES_NOTHING(moments_are_utc_and_never_rounded),
        LEAVES_NOTHING(long_numbers_and_moments_stay_apart),
        LEAVES_NOTHING(strings_come_in_four_layouts),
        LEAVES_NOTHING(blanks_are_trimmed_and_nulls_spelled_as_told),
        LEAVES_NOTHING(dictionaries_take_any_index_and_nulls_on_both_sides),
        LEAVES_NOTHING(what_no_row_has_is_no_value),
        LEAVES_NOTHING(a_table_in_memory_is_read_as_the_file_of_its_spellings),
        LEAVES_NOTHING(nearly_unique_columns_are_read_right),
        LEAVES_NOTHING(nested_types_are_refused_by_name),
        LEAVES_NOTHING(a_nested_column_that_nobody_wants_is_left_out),
        LEAVES_NOTHING(broken_arrays_are_refused),
        LEAVES_NOTHING(what_is_no_stream_of_batches_is_refused),
        LEAVES_NOTHING(columns_need_names_of_their_own),
        LEAVES_NOTHING(empty_tables_are_tables),
        LEAVES_NOTHING(what_is_handed_out_holds_what_it_needs),
        LEAVES_NOTHING(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests(tests, make_pool, free_pool);
}
