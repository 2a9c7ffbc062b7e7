/* A result of DuckDB's, chunk by chunk as Arrow arrays: what the three ways of duckdb_batches.h stand on. Functions
 * return 0 or an errno, as Arrow's streams do; what went wrong stands in `message` where DuckDB or the limit of memory
 * said it. */
#ifndef KN_DUCKDB_DUCKDB_STREAM_H
#define KN_DUCKDB_DUCKDB_STREAM_H

#include "duckdb/duckdb_session.h"

typedef struct kn_result_stream {
    kn_duckdb *duckdb;
    kn_duckdb_result *result;
    const char **names;               /* of the columns; NULL: those of the result */
    void *arrow;                      /* DuckDB's options of the conversion */
    const struct ArrowSchema *schema; /* that the stream gave out */
    bool is_text;                     /* one column of strings */
    kn_charge held;                   /* what the result itself takes, as far as it was looked at */
    char message[KN_DUCKDB_MESSAGE];
} kn_result_stream;

void kn_result_begin(kn_result_stream *s, kn_duckdb *duckdb, kn_duckdb_result *result);
int kn_result_schema(kn_result_stream *s, struct ArrowSchema *out);
/* The next chunk of the result; without a release function when there is none. */
int kn_result_next(kn_result_stream *s, struct ArrowArray *out);
/* A chunk that DuckDB gave elsewhere. */
int kn_result_chunk(kn_result_stream *s, struct ArrowArray *out, void *chunk);
/* NULL: nothing was said. */
const char *kn_result_error(const kn_result_stream *s);
void kn_result_end(kn_result_stream *s); /* zeroed is fine; the result itself is not destroyed */

#endif
