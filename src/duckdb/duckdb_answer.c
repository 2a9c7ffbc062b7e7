/* What a query answers, however long it is.
 *
 * A result stands outside of what DuckDB limits, however large it is. So an answer becomes a table of DuckDB's, which
 * is within the limit, and is read from there piece by piece in the order of its rows. */
#include "duckdb/duckdb_batches.h"
#include "duckdb/duckdb_stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PIECE_ROWS = 122880 /* a row group of DuckDB's */ };

/* Columns are called c0, c1, ... in the table, because a query may call two of them alike, or one of them rowid. */
static kn_status keep_answer(kn_duckdb *duckdb, const char *sql, uint64_t n_columns, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer keep = {0};
    kn_buffer_text(&keep, "CREATE TABLE kanon_answer AS FROM query(");
    kn_duckdb_quote(&keep, '\'', sql, strlen(sql));
    kn_buffer_text(&keep, ") AS answer(");
    for (uint64_t c = 0; c < n_columns; c++)
        kn_buffer_printf(&keep, "%sc%llu", c > 0 ? ", " : "", (unsigned long long)c);
    kn_buffer_char(&keep, ')');
    if (keep.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_duckdb_do(duckdb, keep.bytes, err));
done:
    kn_buffer_free(&keep);
    return status;
}

/* Its rows, and what DuckDB holds for it. */
static kn_status weigh_answer(uint64_t *n_rows, uint64_t *n_bytes, kn_duckdb *duckdb, kn_error *err)
{
    static const char SQL[] =
        "SELECT count(*)::UBIGINT, (SELECT sum(memory_usage_bytes)::UBIGINT FROM duckdb_memory()) "
        "FROM kanon_answer";
    kn_duckdb_result result;
    const kn_duckdb_api *api = &duckdb->api;
    kn_status status = kn_duckdb_run(&result, duckdb, duckdb->connection, SQL, err);
    void *chunk = status == KN_OK ? api->fetch_chunk(result) : NULL;
    if (chunk != NULL) {
        *n_rows = *(const uint64_t *)api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
        *n_bytes = *(const uint64_t *)api->vector_get_data(api->data_chunk_get_vector(chunk, 1));
        api->destroy_data_chunk(&chunk);
    } else if (status == KN_OK) {
        status = kn_error_set(err, KN_INPUT, "DuckDB counts no rows");
    }
    api->destroy_result(&result);
    return status;
}

/* The answer's rows, in results of PIECE_ROWS rows each. */
typedef struct answer_stream {
    kn_result_stream piece;
    kn_duckdb_result result;
    uint64_t next, end; /* rows of the table that are in no piece yet */
    kn_status status;   /* of a piece that failed on the way, and what it said */
    kn_error said;
} answer_stream;

static kn_status run_piece(answer_stream *a)
{
    char sql[200];
    kn_duckdb *duckdb = a->piece.duckdb;
    snprintf(sql, sizeof sql, "SELECT * FROM kanon_answer WHERE rowid >= %llu AND rowid < %llu",
             (unsigned long long)a->next, (unsigned long long)(a->next + PIECE_ROWS));
    duckdb->api.destroy_result(&a->result);
    kn_memory_discharge(&a->piece.held);
    a->next += PIECE_ROWS;
    return a->status = kn_duckdb_run(&a->result, duckdb, duckdb->connection, sql, &a->said);
}

static int answer_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    answer_stream *a = stream->private_data;
    return kn_result_schema(&a->piece, out);
}

static int answer_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    answer_stream *a = stream->private_data;
    int code = kn_result_next(&a->piece, out);
    while (code == 0 && out->release == NULL && a->next < a->end)
        code = run_piece(a) == KN_OK ? kn_result_next(&a->piece, out) : EIO;
    return code;
}

static const char *answer_error(struct ArrowArrayStream *stream)
{
    const answer_stream *a = stream->private_data;
    return kn_result_error(&a->piece);
}

static void answer_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

/* As batches, from its table. */
static kn_status pull_answer(kn_batches **out, kn_duckdb *duckdb, const char **names, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error said = {0};
    kn_charge table = {NULL, 0};
    answer_stream a = {.piece = {.duckdb = duckdb, .names = names}};
    struct ArrowArrayStream stream = {answer_schema, answer_next, answer_error, answer_release, &a};
    uint64_t n_bytes = 0;
    KN_TRY(weigh_answer(&a.end, &n_bytes, duckdb, err));
    KN_TRY(kn_memory_charge(&table, n_bytes, err));
    status = run_piece(&a);
    if (status == KN_OK) {
        kn_result_begin(&a.piece, duckdb, &a.result);
        status = kn_batches_pull(out, &stream, name, &said);
    }
    if (a.status != KN_OK) status = kn_error_pass(err, a.status, &a.said);
    else if (status != KN_OK) status = kn_error_pass(err, status, &said);
done:
    duckdb->api.destroy_result(&a.result);
    kn_result_end(&a.piece);
    kn_memory_discharge(&table);
    return status;
}

kn_status kn_duckdb_answer(kn_batches **out, kn_duckdb *duckdb, const char *sql, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_duckdb_api *api = &duckdb->api;
    void *prepared = NULL;
    const char **names = NULL;
    uint64_t n_columns = 0;
    *out = NULL;
    KN_TRY(kn_duckdb_prepare(&prepared, duckdb, duckdb->connection, sql, true, err));
    n_columns = api->prepared_statement_column_count(prepared);
    KN_NEW(names, n_columns);
    for (uint64_t c = 0; c < n_columns; c++) {
        names[c] = api->prepared_statement_column_name(prepared, c);
        if (names[c] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    }
    KN_TRY(keep_answer(duckdb, sql, n_columns, err));
    KN_TRY(pull_answer(out, duckdb, names, name, err));
done:
    for (uint64_t c = 0; names != NULL && c < n_columns; c++)
        if (names[c] != NULL) api->free((void *)names[c]);
    kn_free(names);
    if (prepared != NULL) api->destroy_prepare(&prepared);
    return status;
}
