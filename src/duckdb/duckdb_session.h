/* One task with DuckDB: a database in memory, statements, and what DuckDB says in our words. */
#ifndef KN_DUCKDB_DUCKDB_SESSION_H
#define KN_DUCKDB_DUCKDB_SESSION_H

#include "base/buffer.h"
#include "duckdb/duckdb_api.h"

enum { KN_DUCKDB_MESSAGE = 600 };

/* A database in memory, and a connection to it. */
typedef struct kn_duckdb {
    kn_duckdb_api api;
    kn_duckdb_options options;
    void *database, *connection;
    const char *path; /* of its one file; NULL: a query, which reads what it names */
} kn_duckdb;

/* `path`: all that it may read and write; borrowed. */
kn_status kn_duckdb_begin(kn_duckdb *out, const char *path, const kn_duckdb_options *options, kn_error *err);
void kn_duckdb_end(kn_duckdb *duckdb); /* zeroed is fine */
/* Another connection to the same database, for another thread. */
kn_status kn_duckdb_connect(void **connection, kn_duckdb *duckdb, kn_error *err);
/* One statement; to be destroyed, also when it fails. `only_select`: the user's own, which may be nothing else. */
kn_status kn_duckdb_prepare(void **prepared, kn_duckdb *duckdb, void *connection, const char *sql, bool only_select,
                            kn_error *err);
/* One statement to its end; *result is yours to destroy, also when it fails. */
kn_status kn_duckdb_run(kn_duckdb_result *result, kn_duckdb *duckdb, void *connection, const char *sql, kn_error *err);
/* For statements whose result does not matter. */
kn_status kn_duckdb_do(kn_duckdb *duckdb, const char *sql, kn_error *err);
/* What DuckDB says, in our words: as an error, or the message alone. */
kn_status kn_duckdb_refuse(const kn_duckdb *duckdb, const char *message, kn_error *err);
void kn_duckdb_plain_message(char out[KN_DUCKDB_MESSAGE], const kn_duckdb *duckdb, const char *message);
/* A text in quotes of SQL, those inside it doubled: '"' for names, '\'' for strings. */
void kn_duckdb_quote(kn_buffer *sql, char quote, const char *text, size_t n_bytes);

#endif
