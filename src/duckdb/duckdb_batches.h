/* Three ways from DuckDB to batches: a result, which may not be long; a long answer, by way of a table; a column that
 * DuckDB hands over while it reads. */
#ifndef KN_DUCKDB_DUCKDB_BATCHES_H
#define KN_DUCKDB_DUCKDB_BATCHES_H

#include "duckdb/duckdb_session.h"

/* A result's rows; the result is destroyed, whether it succeeds or not. */
kn_status kn_duckdb_pull(kn_batches **out, kn_duckdb *duckdb, kn_duckdb_result *result, const char *name,
                         kn_error *err);
/* What one SELECT answers: within the limit of memory. Once in a database. */
kn_status kn_duckdb_answer(kn_batches **out, kn_duckdb *duckdb, const char *sql, const char *name, kn_error *err);
/* In a database of one thread: kn_duckdb_take may be called. */
kn_status kn_duckdb_allow_take(kn_duckdb *duckdb, kn_error *err);
/* A column of a table. `column` and `table` in SQL. */
kn_status kn_duckdb_take(kn_batches **out, kn_duckdb *duckdb, void *connection, const char *column, const char *table,
                         const char *name, kn_error *err);

#endif
