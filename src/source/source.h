/* Tables in, whatever they are kept in: names first, then, once roles are decided, per column spellings and codes.
 *
 *   kn_source_open(&source, path, options, ...)      a CSV file, a table in memory (`table:NAME`), or what DuckDB reads
 *   (look at kn_source_column_name, decide roles and types)
 *   kn_source_read(&table, source, plans, ...)       once
 *   kn_source_close(source)
 *
 * Behind it: one kn_source_type per kind of table, csv/ and arrow/; what DuckDB reads comes as Arrow batches. How
 * columns get their types and which cells are missing is the same for all of them: table/infer.h. */
#ifndef KN_SOURCE_SOURCE_H
#define KN_SOURCE_SOURCE_H

#include "base/pool.h"
#include "base/tick.h"
#include "table/derivation.h"
#include "table/table.h"
#include "table/text_form.h"

/* What an identifier is read for. */
typedef enum kn_column_use { KN_USE_NOTHING, KN_USE_PERSON, KN_USE_COUNT } kn_column_use;

typedef struct kn_column_plan {
    kn_role role;
    kn_type type; /* AUTO: infer */
    kn_column_use use;
} kn_column_plan;

/* Identifiers and dropped columns are checked, but not kept. */
static inline bool kn_plan_is_stored(const kn_column_plan *plan)
{
    return plan->use != KN_USE_NOTHING || (plan->role != KN_ROLE_IDENTIFIER && plan->role != KN_ROLE_DROPPED);
}

struct kn_csv_options;
struct kn_tables;

/* Borrowed until kn_source_close. */
typedef struct kn_source_options {
    const struct kn_csv_options *csv; /* spellings of missing cells and what else is true of cells count for all */
    const struct kn_tables *tables;   /* in memory; NULL: none */
    kn_ticker *ticker;                /* for what takes long before kn_source_read: DuckDB's reading; may be NULL */
    unsigned n_threads;               /* of DuckDB; 0: as many as there are cores */
} kn_source_options;

typedef struct kn_source_type {
    uint32_t (*n_columns)(const void *reader);
    const char *(*column_name)(const void *reader, uint32_t column);
    kn_status (*read)(kn_table **out, void *reader, const kn_column_plan *plans, kn_pool *pool, kn_ticker *ticker,
                      kn_error *err);
    kn_text_form (*form)(const void *reader);
    void (*close)(void *reader);
} kn_source_type;

typedef struct kn_source {
    const kn_source_type *type;
    void *reader;
    struct kn_batches *opened; /* what DuckDB reads; NULL: a CSV file, or a table that the caller holds */
} kn_source;

/* `options` NULL: a plain file. */
kn_status kn_source_open(kn_source **out, const char *path /* "-": stdin */, const kn_source_options *options,
                         kn_error *err);
void kn_source_close(kn_source *source);

/* A column of a release in bounds. */
typedef struct kn_bounds_join {
    const char *name;
    bool max_included; /* in its intervals */
} kn_bounds_join;
/* Of each of these names that the source has not as a column: X_min, X_max and X_kind are from now on the column X,
 * whose cells are written as labels are. Sources without such columns stay as they are. */
kn_status kn_source_join_bounds(kn_source *source, const kn_bounds_join *joins, size_t n_joins,
                                const kn_source_options *options, kn_error *err);

/* Adds columns that are computed from dates (table/derivation.h), behind the others. Before kn_source_read. Both stay
 * with the caller until kn_source_close. n_invalid[d] (NULL: not wanted) becomes the number of cells that are missing
 * because a date is none or makes no age, and not because one is missing. KN_USAGE when a name is there already, or one
 * that it needs is not. */
kn_status kn_source_derive(kn_source *source, const kn_derivation *derivations, size_t n_derivations,
                           uint64_t *n_invalid, const kn_source_options *options, kn_error *err);

static inline uint32_t kn_source_n_columns(const kn_source *source) { return source->type->n_columns(source->reader); }

static inline const char *kn_source_column_name(const kn_source *source, uint32_t column)
{
    return source->type->column_name(source->reader, column);
}

/* `plans`: one per column. The table's codes do not depend on the number of threads. */
static inline kn_status kn_source_read(kn_table **out, kn_source *source, const kn_column_plan *plans, kn_pool *pool,
                                       kn_ticker *ticker, kn_error *err)
{
    return source->type->read(out, source->reader, plans, pool, ticker, err);
}

/* After kn_source_read: only then most lines have been seen. */
static inline kn_text_form kn_source_form(const kn_source *source) { return source->type->form(source->reader); }

/* For the types: two columns of one name are refused; `where` for the message. */
kn_status kn_names_check(char *const *names, uint32_t n_names, const char *where, bool redact, kn_error *err);
/* A table with these columns, none of them filled. */
kn_status kn_table_new(kn_table **out, const char *source, char *const *names, const kn_column_plan *plans,
                       uint32_t n_columns, kn_error *err);
/* column->codes for so many rows, as narrow as its spellings allow; not set. */
kn_status kn_column_new_codes(kn_column *column, size_t n_rows, kn_error *err);
/* to[i] = new_code[from[i]]; 1, 2 or 4 bytes each. */
void kn_codes_rewrite(void *to, unsigned to_bytes, const void *from, unsigned from_bytes, size_t n,
                      const uint32_t *new_code);

#endif
