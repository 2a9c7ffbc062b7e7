/* The part of DuckDB's C API that is called, as a table of functions to be found at run time. Handles are opaque; a
 * query's result is the one struct whose shape matters, because duckdb_fetch_chunk takes it by value: only DuckDB looks
 * inside.
 *
 * No call is among those that duckdb.h lists as deprecated; streaming results are, so results are fetched in chunks
 * after they are complete, what is long goes by way of a table of DuckDB's (duckdb_answer.c), and columns of Parquet
 * files through a function of ours (duckdb_take.c). Those that came last, the conversion to Arrow, make 1.4 the oldest
 * version. */
#ifndef KN_DUCKDB_DUCKDB_API_H
#define KN_DUCKDB_DUCKDB_API_H

#include "duckdb/duckdb.h"

enum { KN_DUCKDB_MAJOR = 1, KN_DUCKDB_MINOR = 4 };

typedef struct kn_duckdb_result {
    uint64_t deprecated[3];
    void *more_deprecated[2];
    void *internal;
} kn_duckdb_result;

/* A string in a vector: up to 12 bytes in place, longer ones where the pointer leads. */
typedef union kn_duckdb_string {
    struct {
        uint32_t n_bytes;
        char bytes[12];
    } here;
    struct {
        uint32_t n_bytes;
        char prefix[4];
        const char *bytes;
    } there;
} kn_duckdb_string;

/* Numbers of duckdb.h. */
enum { DUCKDB_READY = 0, DUCKDB_FAILED = 2, DUCKDB_IDLE = 3 }; /* duckdb_pending_state */
enum { DUCKDB_SELECT = 1 };                                    /* duckdb_statement_type */
enum {
    DUCKDB_BOOLEAN = 1,
    DUCKDB_VARCHAR = 17,
    DUCKDB_BIT = 29,
    DUCKDB_TIMETZ = 30,
    DUCKDB_UHUGEINT = 32,
    DUCKDB_ANY = 34,
    DUCKDB_BIGNUM = 35,
    DUCKDB_LAST_KNOWN = 36
}; /* duckdb_type */

// clang-format off
#define KN_DUCKDB_CALLS(CALL)                                                                                          \
    CALL(const char *, library_version, (void))                                                                        \
    CALL(void, free, (void *))                                                                                         \
    /* a database */                                                                                                   \
    CALL(int, create_config, (void **config))                                                                          \
    CALL(int, set_config, (void *config, const char *name, const char *value))                                         \
    CALL(void, destroy_config, (void **config))                                                                        \
    CALL(int, open_ext, (const char *path, void **database, void *config, char **message))                             \
    CALL(void, close, (void **database))                                                                               \
    CALL(int, connect, (void *database, void **connection))                                                            \
    CALL(void, disconnect, (void **connection))                                                                        \
    CALL(void, interrupt, (void *connection))                                                                          \
    /* a statement */                                                                                                  \
    CALL(uint64_t, extract_statements, (void *connection, const char *text, void **statements))                        \
    CALL(const char *, extract_statements_error, (void *statements))                                                   \
    CALL(int, prepare_extracted_statement, (void *connection, void *statements, uint64_t index, void **prepared))      \
    CALL(void, destroy_extracted, (void **statements))                                                                 \
    CALL(const char *, prepare_error, (void *prepared))                                                                \
    CALL(int, prepared_statement_type, (void *prepared))                                                               \
    CALL(uint64_t, nparams, (void *prepared))                                                                          \
    CALL(uint64_t, prepared_statement_column_count, (void *prepared))                                                  \
    CALL(const char *, prepared_statement_column_name, (void *prepared, uint64_t column))                              \
    CALL(void, destroy_prepare, (void **prepared))                                                                     \
    CALL(int, pending_prepared, (void *prepared, void **pending))                                                      \
    CALL(const char *, pending_error, (void *pending))                                                                 \
    CALL(int, pending_execute_task, (void *pending))                                                                   \
    CALL(int, execute_pending, (void *pending, kn_duckdb_result *result))                                              \
    CALL(void, destroy_pending, (void **pending))                                                                      \
    /* its result */                                                                                                   \
    CALL(const char *, result_error, (kn_duckdb_result *))                                                             \
    CALL(uint64_t, column_count, (kn_duckdb_result *))                                                                 \
    CALL(const char *, column_name, (kn_duckdb_result *, uint64_t column))                                             \
    CALL(void *, column_logical_type, (kn_duckdb_result *, uint64_t column))                                           \
    CALL(int, get_type_id, (void *type))                                                                               \
    CALL(void *, create_logical_type, (int id))                                                                        \
    CALL(void, destroy_logical_type, (void **type))                                                                    \
    CALL(void *, fetch_chunk, (kn_duckdb_result))                                                                      \
    CALL(void, destroy_data_chunk, (void **chunk))                                                                     \
    CALL(void, destroy_result, (kn_duckdb_result *))                                                                   \
    /* as Arrow */                                                                                                     \
    CALL(void *, result_get_arrow_options, (kn_duckdb_result *))                                                       \
    CALL(void, destroy_arrow_options, (void **options))                                                                \
    CALL(void *, to_arrow_schema, (void *options, void **types, const char **names, uint64_t n, struct ArrowSchema *)) \
    CALL(void *, data_chunk_to_arrow, (void *options, void *chunk, struct ArrowArray *))                               \
    CALL(bool, error_data_has_error, (void *error))                                                                    \
    CALL(const char *, error_data_message, (void *error))                                                              \
    CALL(void, destroy_error_data, (void **error))                                                                     \
    /* a function of ours */                                                                                           \
    CALL(void *, create_scalar_function, (void))                                                                       \
    CALL(void, destroy_scalar_function, (void **function))                                                             \
    CALL(void, scalar_function_set_name, (void *function, const char *name))                                           \
    CALL(void, scalar_function_add_parameter, (void *function, void *type))                                            \
    CALL(void, scalar_function_set_return_type, (void *function, void *type))                                          \
    CALL(void, scalar_function_set_volatile, (void *function))                                                         \
    CALL(void, scalar_function_set_special_handling, (void *function))                                                 \
    CALL(void, scalar_function_set_function, (void *function, void (*run)(void *info, void *chunk, void *vector)))     \
    CALL(int, register_scalar_function, (void *connection, void *function))                                            \
    CALL(void, scalar_function_set_error, (void *info, const char *message))                                           \
    /* rows of ours */                                                                                                 \
    CALL(int, appender_create, (void *connection, const char *schema, const char *table, void **appender))             \
    CALL(void *, appender_error_data, (void *appender))                                                                \
    CALL(void *, appender_column_type, (void *appender, uint64_t column))                                              \
    CALL(int, append_data_chunk, (void *appender, void *chunk))                                                        \
    CALL(int, appender_close, (void *appender))                                                                        \
    CALL(int, appender_destroy, (void **appender))                                                                     \
    CALL(void *, create_data_chunk, (void **types, uint64_t n))                                                        \
    CALL(void, data_chunk_reset, (void *chunk))                                                                        \
    CALL(void *, data_chunk_get_vector, (void *chunk, uint64_t column))                                                \
    CALL(uint64_t, data_chunk_get_size, (void *chunk))                                                                 \
    CALL(void, data_chunk_set_size, (void *chunk, uint64_t n))                                                         \
    CALL(uint64_t, vector_size, (void))                                                                                \
    CALL(void *, vector_get_data, (void *vector))                                                                      \
    CALL(void, vector_ensure_validity_writable, (void *vector))                                                        \
    CALL(uint64_t *, vector_get_validity, (void *vector))                                                              \
    CALL(void, vector_assign_string_element_len, (void *vector, uint64_t row, const char *bytes, uint64_t n))
// clang-format on

typedef struct kn_duckdb_api {
#define KN_DUCKDB_MEMBER(type, name, arguments) type(*name) arguments;
    KN_DUCKDB_CALLS(KN_DUCKDB_MEMBER)
#undef KN_DUCKDB_MEMBER
} kn_duckdb_api;

/* Finds and loads the library; it stays loaded. */
kn_status kn_duckdb_load(kn_duckdb_api *out, kn_error *err);

#endif
