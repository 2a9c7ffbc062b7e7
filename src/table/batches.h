/* Tables in memory: record batches pulled from an Arrow stream and held, as a file on the disk is held. What their
 * cells say is read twice by code that shares nothing: source/arrow for the run, verify/ for the verdict. Here only the
 * outer shape is checked: a stream of structs, each with the schema's columns, no row null as a whole. */
#ifndef KN_TABLE_BATCHES_H
#define KN_TABLE_BATCHES_H

#include "base/memory.h"

#include <kanon_arrow.h>
#include <stdatomic.h>

typedef struct kn_batches {
    char *name; /* for messages: "table:data" */
    struct ArrowSchema schema;
    KN_VECTOR(struct ArrowArray) arrays;
    uint32_t n_rows;
    atomic_uint n_holders;
    /* Columns that come one by one: then `arrays` is empty, and kn_batches_column gets them here. Any thread. */
    kn_status (*pull)(struct kn_batches **out, void *puller, uint32_t column, kn_error *err);
    void (*close)(void *puller);
    void *puller;
} kn_batches;

/* Reads the stream to its end and releases it, whether that succeeds or not. */
kn_status kn_batches_pull(kn_batches **out, struct ArrowArrayStream *stream, const char *name, kn_error *err);
/* Takes schema and array, whether it succeeds or not; both are the library's own. */
kn_status kn_batches_of_array(kn_batches **out, struct ArrowSchema *schema, struct ArrowArray *array, const char *name,
                              kn_error *err);
/* One holder less; the last one releases the arrays. Any thread. */
void kn_batches_drop(kn_batches *batches);
/* Where a column is: *out, to be dropped, has it as column *at, with all rows. */
kn_status kn_batches_column(kn_batches **out, uint32_t *at, const kn_batches *batches, uint32_t column, kn_error *err);
/* A stream from the first batch on. What comes out of it holds the batches as long as it lives. */
kn_status kn_batches_export(struct ArrowArrayStream *out, kn_batches *batches, kn_error *err);

/* `table:NAME` in place of a file's name. */
#define KN_TABLE_PREFIX "table:"
bool kn_is_table_name(const char *path);

typedef struct kn_tables {
    KN_VECTOR(kn_batches *) items;
} kn_tables;

/* Takes the batches; a table of the same name makes room. */
kn_status kn_tables_put(kn_tables *tables, kn_batches *batches, kn_error *err);
/* *out is borrowed, NULL when `path` names a file; KN_USAGE when there is no such table. `tables` may be NULL. */
kn_status kn_tables_find(const kn_batches **out, const kn_tables *tables, const char *path, kn_error *err);
void kn_tables_free(kn_tables *tables);

#endif
