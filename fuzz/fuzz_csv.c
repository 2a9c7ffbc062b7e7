/* Any bytes as a CSV file: refused with a message, or read; and the same, message and codes, however the work is cut.
 * The first byte chooses the options, the second the size of the blocks. Two threads take several times as long as one
 * for a small file: only files of some sizes are read by two. */
#include "fuzz.h"
#include "source/csv/csv_read.h"
#include "source/csv/csv_tuning.h"

#include <string.h>

enum { WITH_THREADS = 32 }; /* one in so many */

static kn_status read_table(kn_table **out, kn_text_form *form, const char *path, const kn_csv_options *options,
                            const kn_csv_tuning *tuning, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_reader *reader = NULL;
    kn_column_plan *plans = NULL;
    *out = NULL;
    KN_TRY(kn_csv_open(&reader, path, options, err));
    kn_csv_tune(reader, tuning);
    KN_NEW(plans, kn_csv_n_columns(reader));
    for (uint32_t i = 0; i < kn_csv_n_columns(reader); i++) plans[i].role = KN_ROLE_QUASI;
    KN_TRY(kn_csv_read(out, reader, plans, pool, NULL, err));
    *form = kn_csv_form(reader);
done:
    kn_free(plans);
    kn_csv_close(reader);
    return status;
}

static void check_column(const kn_column *column, uint32_t n_rows)
{
    require(column->n_values <= column->n_spellings && column->n_spellings <= n_rows);
    for (uint32_t i = 0; i < n_rows; i++) require(kn_column_code(column, i) < column->n_spellings);
    for (uint32_t i = 1; i < column->n_spellings; i++) {
        size_t n_a, n_b;
        const char *a = kn_column_bytes(column, i - 1, &n_a), *b = kn_column_bytes(column, i, &n_b);
        uint32_t value_a = kn_column_value(column, i - 1), value_b = kn_column_value(column, i);
        /* a quasi-identifier's numbers are kept without their marks: two spellings may become one text */
        const bool may_repeat = value_a == value_b && column->marks != KN_MARKS_PLAIN;
        require(may_repeat || n_a != n_b || memcmp(a, b, n_a) != 0);
        require(value_a == value_b || value_a + 1 == value_b);
        bool both_numbers = column->number != NULL && !(column->has_missing && value_b + 1 == column->n_values);
        if (both_numbers) require(column->number[value_a] <= column->number[value_b]);
    }
}

static void check_same(const kn_table *a, const kn_table *b)
{
    require(a->n_rows == b->n_rows && a->n_columns == b->n_columns);
    for (uint32_t i = 0; i < a->n_columns; i++) {
        const kn_column *x = &a->columns[i], *y = &b->columns[i];
        check_column(x, a->n_rows);
        require(x->n_spellings == y->n_spellings && x->n_values == y->n_values && x->type == y->type);
        require(memcmp(x->offset, y->offset, (x->n_spellings + 1) * sizeof *x->offset) == 0);
        require(memcmp(x->bytes, y->bytes, (size_t)x->offset[x->n_spellings]) == 0);
        require(memcmp(x->first_line, y->first_line, x->n_spellings * sizeof *x->first_line) == 0);
        require(memcmp(x->codes, y->codes, (size_t)a->n_rows * x->code_bytes) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {'\0', ',', ';', '\t'};
    static kn_pool *pool;
    static memory_file file;
    kn_table *table, *again;
    kn_text_form form = {0}, form_again = {0};
    kn_error err = {0}, err_again = {0};
    if (size < 2) return 0;
    if (pool == NULL) require(kn_pool_new(&pool, 2, NULL) == KN_OK);
    memory_file_write(&file, data + 2, size - 2);
    kn_csv_options options = {.delimiter = delimiters[data[0] & 3],
                              .no_header = (data[0] & 4) != 0,
                              .trim = (data[0] & 8) != 0,
                              .encoding = (kn_encoding)((data[0] >> 4) % 3),
                              .name = "fuzz.csv"};
    kn_csv_tuning whole = {1 << 20, 1, KN_CSV_SCALAR}, pieces = {1 + data[1] % 50, 2, kn_csv_best_kernel()};
    kn_pool *threads = size % WITH_THREADS == 0 ? pool : NULL;
    kn_status status = read_table(&table, &form, file.path, &options, &whole, NULL, &err);
    require(read_table(&again, &form_again, file.path, &options, &pieces, threads, &err_again) == status);
    require(strcmp(err.message, err_again.message) == 0);
    if (status == KN_OK) {
        check_same(table, again);
        require(form.delimiter == form_again.delimiter && strcmp(form.line_end, form_again.line_end) == 0);
    } else require(table == NULL && err.message[0] != '\0');
    kn_table_free(table);
    kn_table_free(again);
    return 0;
}
