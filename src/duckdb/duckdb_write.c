/* A released table as a Parquet file: rows into a table of the database, COPY from there.
 *
 * The arrays are those of sink/arrow_write.c: dictionaries of strings, int64, float64, date32. A dictionary becomes an
 * ENUM, so that the table in the database is as narrow as ours, unless it is large; DuckDB writes both as strings. What
 * an ENUM lists is what rows have: the dictionaries hold nothing else. */
#include "duckdb/duckdb_session.h"

#include "base/fold.h"

#include <string.h>

enum { MOST_LABELS = 65535 };

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *valid = array->buffers[0];
    return valid == NULL || (valid[row / 8] >> row % 8 & 1) != 0;
}

static int64_t index_at(const struct ArrowArray *array, char format, int64_t row)
{
    const void *indices = array->buffers[1];
    return format == 'c'   ? ((const int8_t *)indices)[row]
           : format == 's' ? ((const int16_t *)indices)[row]
           : format == 'i' ? ((const int32_t *)indices)[row]
                           : ((const int64_t *)indices)[row];
}

static const char *label_at(const struct ArrowArray *labels, bool large, int64_t i, size_t *n_bytes)
{
    const int32_t *narrow = labels->buffers[1];
    const int64_t *wide = labels->buffers[1];
    const int64_t begin = large ? wide[i] : narrow[i], end = large ? wide[i + 1] : narrow[i + 1];
    *n_bytes = (size_t)(end - begin);
    return (const char *)labels->buffers[2] + begin;
}

static bool is_enum(const struct ArrowArray *array)
{
    return array->dictionary != NULL && array->dictionary->length > 0 && array->dictionary->length <= MOST_LABELS;
}

/* --- The table ---------------------------------------------------------------------------------------------------- */

static void put_type(kn_buffer *sql, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    if (!is_enum(array)) {
        kn_buffer_text(sql, schema->dictionary != NULL ? " VARCHAR"
                            : schema->format[0] == 'l' ? " BIGINT"
                            : schema->format[0] == 'g' ? " DOUBLE"
                                                       : " DATE");
        return;
    }
    for (int64_t i = 0; i < array->dictionary->length; i++) {
        size_t n;
        const char *label = label_at(array->dictionary, schema->dictionary->format[0] == 'U', i, &n);
        kn_buffer_text(sql, i == 0 ? " ENUM(" : ", ");
        kn_duckdb_quote(sql, '\'', label, n);
    }
    kn_buffer_char(sql, ')');
}

static kn_status create_table(kn_duckdb *duckdb, const kn_batches *batches, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer sql = {0};
    for (int64_t c = 0; c < batches->schema.n_children; c++) {
        const struct ArrowSchema *schema = batches->schema.children[c];
        kn_buffer_text(&sql, c == 0 ? "CREATE TABLE released (" : ", ");
        kn_duckdb_quote(&sql, '"', schema->name, strlen(schema->name));
        put_type(&sql, schema, batches->arrays.items[0].children[c]);
    }
    kn_buffer_char(&sql, ')');
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_do(duckdb, sql.bytes, err));
done:
    kn_buffer_free(&sql);
    return status;
}

/* --- Its rows ----------------------------------------------------------------------------------------------------- */

static void fill_labels(const kn_duckdb_api *api, void *vector, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t first, uint64_t n)
{
    const bool large = schema->dictionary->format[0] == 'U', as_enum = is_enum(array);
    const int64_t n_labels = array->dictionary->length;
    void *codes = api->vector_get_data(vector);
    for (uint64_t i = 0; i < n; i++) {
        const int64_t row = first + (int64_t)i;
        const int64_t index = is_valid(array, row) ? index_at(array, schema->format[0], row) : -1;
        size_t n_bytes;
        if (as_enum && n_labels <= UINT8_MAX) ((uint8_t *)codes)[i] = (uint8_t)(index < 0 ? 0 : index);
        else if (as_enum) ((uint16_t *)codes)[i] = (uint16_t)(index < 0 ? 0 : index);
        else if (index >= 0) {
            const char *label = label_at(array->dictionary, large, index, &n_bytes);
            api->vector_assign_string_element_len(vector, i, label, n_bytes);
        }
    }
}

static void fill_column(const kn_duckdb_api *api, void *vector, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t first, uint64_t n)
{
    const size_t width = schema->format[0] == 't' ? 4 : 8;
    api->vector_ensure_validity_writable(vector);
    uint64_t *valid = api->vector_get_validity(vector);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t bit = (uint64_t)1 << i % 64;
        if (is_valid(array, first + (int64_t)i)) valid[i / 64] |= bit;
        else valid[i / 64] &= ~bit;
    }
    if (array->dictionary != NULL) fill_labels(api, vector, schema, array, first, n);
    else
        memcpy(api->vector_get_data(vector), (const char *)array->buffers[1] + (size_t)first * width,
               (size_t)n * width);
}

/* Frees the error. */
static kn_status refuse_append(const kn_duckdb *duckdb, void *appender, kn_error *err)
{
    void *error = duckdb->api.appender_error_data(appender);
    kn_status status = kn_duckdb_refuse(duckdb, duckdb->api.error_data_message(error), err);
    duckdb->api.destroy_error_data(&error);
    return status;
}

static kn_status append_rows(kn_duckdb *duckdb, const kn_batches *batches, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_duckdb_api *api = &duckdb->api;
    const struct ArrowArray *batch = &batches->arrays.items[0];
    const uint64_t n_columns = (uint64_t)batch->n_children, most = api->vector_size();
    void *appender = NULL, *chunk = NULL, **types = NULL;
    KN_NEW(types, n_columns);
    if (api->appender_create(duckdb->connection, NULL, "released", &appender) != 0)
        KN_TRY(refuse_append(duckdb, appender, err));
    for (uint64_t c = 0; c < n_columns; c++) types[c] = api->appender_column_type(appender, c);
    chunk = api->create_data_chunk(types, n_columns);
    for (int64_t first = 0; first < batch->length; first += (int64_t)most) {
        const uint64_t left = (uint64_t)(batch->length - first), n = left < most ? left : most;
        for (uint64_t c = 0; c < n_columns; c++)
            fill_column(api, api->data_chunk_get_vector(chunk, c), batches->schema.children[c], batch->children[c],
                        first, n);
        api->data_chunk_set_size(chunk, n);
        if (api->append_data_chunk(appender, chunk) != 0) KN_TRY(refuse_append(duckdb, appender, err));
        api->data_chunk_reset(chunk);
        KN_TRY(kn_tick(duckdb->options.ticker, "writing", -1, err));
    }
    if (api->appender_close(appender) != 0) KN_TRY(refuse_append(duckdb, appender, err));
done:
    if (chunk != NULL) api->destroy_data_chunk(&chunk);
    for (uint64_t c = 0; types != NULL && c < n_columns; c++)
        if (types[c] != NULL) api->destroy_logical_type(&types[c]);
    kn_free(types);
    if (appender != NULL) api->appender_destroy(&appender);
    return status;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

kn_status kn_duckdb_write(const char *path, const kn_batches *batches, const char *schema,
                          const kn_duckdb_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_duckdb duckdb = {.options = *options};
    kn_buffer sql = {0};
    KN_TRY(kn_duckdb_begin(&duckdb, path, options, err));
    KN_TRY(create_table(&duckdb, batches, err));
    KN_TRY(append_rows(&duckdb, batches, err));
    kn_buffer_text(&sql, "COPY released TO ");
    kn_duckdb_quote(&sql, '\'', path, strlen(path));
    kn_buffer_text(&sql, " (FORMAT parquet, USE_TMP_FILE false, KV_METADATA {kanon_schema: ");
    kn_duckdb_quote(&sql, '\'', schema, strlen(schema));
    kn_buffer_text(&sql, "})");
    if (sql.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_do(&duckdb, sql.bytes, err));
done:
    kn_buffer_free(&sql);
    kn_duckdb_end(&duckdb);
    return status;
}

kn_status kn_duckdb_can_write(const char *const *names, size_t n_names, const char *target, kn_error *err)
{
    kn_duckdb_api api;
    for (size_t i = 0; i < n_names; i++)
        for (size_t j = 0; j < i; j++)
            if (kn_fold_equal(names[i], strlen(names[i]), names[j], strlen(names[j])))
                return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "output", .file = target),
                                       "%.200s: columns %zu and %zu of the release have names that differ at most by "
                                       "case, and DuckDB writes no such Parquet file; write a CSV file, or rename one",
                                       target, j + 1, i + 1);
    return kn_duckdb_load(&api, err);
}
