/* Tables that DuckDB reads and writes for us: Parquet and JSON files, and what a query over files answers. libduckdb is
 * loaded when the first of them is met, never linked; where it is missing, KN_USAGE says how to install it.
 *
 * What comes out are batches, as if a program had handed them over: what their cells mean is decided elsewhere. Every
 * task has a database in memory of its own, which may read or write its one file and nothing else, loads no extension
 * and spills nothing to the disk. Only a query of the user's reads the files that it names. */
#ifndef KN_DUCKDB_DUCKDB_H
#define KN_DUCKDB_DUCKDB_H

#include "base/files.h"
#include "table/batches.h"

/* What a file's name says of it; CSV for every other ending, standard input and pipes. */
typedef enum kn_file_kind { KN_FILE_CSV, KN_FILE_PARQUET, KN_FILE_JSON } kn_file_kind;
kn_file_kind kn_file_kind_of(const char *path);
bool kn_is_csv(const char *path); /* neither such a file nor a table in memory */

typedef struct kn_duckdb_options {
    const char *name;   /* what messages call the table; NULL: its path */
    kn_files *files;    /* of the run; may be NULL */
    kn_ticker *ticker;  /* may be NULL */
    bool redact;        /* DuckDB's messages may quote cells: only their kind is told */
    unsigned n_threads; /* 0: as many as there are cores */
} kn_duckdb_options;

/* The columns of a Parquet file are pulled when kn_batches_column asks for them; a JSON file is read at once: an array
 * of objects or one object per line, their keys in the order in which they come up, every value as text. */
kn_status kn_duckdb_open(kn_batches **out, const char *path, kn_file_kind kind, const kn_duckdb_options *options,
                         kn_error *err);
/* What one SELECT answers, run once and held. The files that it read are told to options->files. `name` for
 * kn_tables_find. */
kn_status kn_duckdb_query(kn_batches **out, const char *sql, const char *name, const kn_duckdb_options *options,
                          kn_error *err);

/* Batches of the library's own (sink/arrow_write.h) as a Parquet file, with `schema` under the key "kanon_schema". The
 * file exists already; `path` leads to it, perhaps without a name. */
kn_status kn_duckdb_write(const char *path, const kn_batches *batches, const char *schema,
                          const kn_duckdb_options *options, kn_error *err);
/* What it wrote under that key, yours to kn_free; KN_INPUT for a file that has none. */
kn_status kn_duckdb_schema(char **out, const char *path, const kn_duckdb_options *options, kn_error *err);
/* Refuses before the work what kn_duckdb_write would refuse after it: no library, names that DuckDB takes for one. */
kn_status kn_duckdb_can_write(const char *const *names, size_t n_names, const char *target, kn_error *err);

#endif
