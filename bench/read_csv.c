/* kanon-bench-read-csv FILE THREADS REPEATS: reads a CSV, or what DuckDB reads for us, into encoded columns and prints
 * one JSON object: fastest and median seconds, rows, the size of the encoded columns, and the peak of memory. */
#include "base/pool.h"
#include "source/csv/csv_read.h"

#include <stdio.h>
#include <stdlib.h>

static size_t encoded_bytes(const kn_table *table)
{
    size_t n = 0;
    for (uint32_t i = 0; i < table->n_columns; i++) {
        const kn_column *c = &table->columns[i];
        if (c->codes == NULL) continue;
        n += (size_t)table->n_rows * c->code_bytes + (size_t)c->offset[c->n_spellings];
        n += (size_t)c->n_spellings * 16 + 8; /* offset, first_line */
        if (c->spelling_value != NULL) n += (size_t)c->n_spellings * 4;
        if (c->number != NULL) n += (size_t)c->n_values * 8;
    }
    return n;
}

static kn_status read_once(kn_table **table, const char *path, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    const kn_csv_options csv = {0};
    const kn_source_options options = {.csv = &csv, .n_threads = kn_pool_threads(pool)};
    kn_column_plan *plans = NULL;
    *table = NULL;
    KN_TRY(kn_source_open(&source, path, &options, err));
    KN_NEW(plans, kn_source_n_columns(source));
    for (uint32_t i = 0; i < kn_source_n_columns(source); i++) plans[i].role = KN_ROLE_QUASI;
    KN_TRY(kn_source_read(table, source, plans, pool, NULL, err));
done:
    kn_free(plans);
    kn_source_close(source);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    kn_account *account = NULL; /* memory is counted from here on */
    kn_scope before;
    kn_pool *pool = NULL;
    kn_error err = {0};
    double seconds[100];
    uint32_t n_rows = 0;
    size_t n_encoded = 0;
    if (argc != 4) {
        fputs("usage: kanon-bench-read-csv FILE THREADS REPEATS\n", stderr);
        return 2;
    }
    int n_repeats = atoi(argv[3]);
    if (n_repeats < 1 || n_repeats > 100) return 2;
    if (kn_account_new(&account, NULL, &err) != KN_OK || kn_scope_enter(&before, account, &err) != KN_OK) return 4;
    if (kn_pool_new(&pool, (unsigned)atoi(argv[2]), &err) != KN_OK) return 4;
    for (int i = 0; i < n_repeats; i++) {
        kn_table *table;
        double start = kn_seconds_now();
        kn_status status = read_once(&table, argv[1], pool, &err);
        seconds[i] = kn_seconds_now() - start;
        if (status != KN_OK) {
            fprintf(stderr, "%s\n", err.message);
            return (int)status;
        }
        n_rows = table->n_rows;
        n_encoded = encoded_bytes(table);
        kn_table_free(table);
    }
    qsort(seconds, (size_t)n_repeats, sizeof *seconds, by_size);
    printf("{\"tool\":\"kanon\",\"threads\":%u,\"rows\":%u,\"fastest_s\":%.4f,\"median_s\":%.4f,\"encoded_bytes\":%zu,"
           "\"peak_bytes\":%zu}\n",
           kn_pool_threads(pool), n_rows, seconds[0], seconds[n_repeats / 2], n_encoded, kn_memory_peak());
    kn_pool_free(pool);
    return 0;
}
