/* Tables in memory: Arrow batches to encoded columns. What a value is called: kanon_arrow.h. */
#ifndef KN_SOURCE_ARROW_ARROW_READ_H
#define KN_SOURCE_ARROW_ARROW_READ_H

#include "source/source.h"
#include "table/batches.h"

/* Borrowed until kn_arrow_close. */
typedef struct kn_arrow_options {
    const char *const *null_values; /* the first one spells a null; {""} when n is 0 */
    size_t n_null_values;
    kn_decimal_asked decimal;
    bool invalid_is_missing; /* cells that a declared type does not fit */
    bool trim;               /* strings */
    bool redact;
    bool guarded_names; /* a release with --guard-formulas: the ' before a name is not part of it */
    const char *name;   /* what messages call the table; NULL: the batches' name */
} kn_arrow_options;

typedef struct kn_arrow_reader kn_arrow_reader;

/* Columns of types that cannot be read are refused here only if they have no name; otherwise by kn_arrow_read, where
 * they are to be stored. `batches` is borrowed. */
kn_status kn_arrow_open(kn_arrow_reader **out, const kn_batches *batches, const kn_arrow_options *options,
                        kn_error *err);
void kn_arrow_close(kn_arrow_reader *reader);
kn_status kn_arrow_read(kn_table **out, kn_arrow_reader *reader, const kn_column_plan *plans, kn_pool *pool,
                        kn_ticker *ticker, kn_error *err);

extern const kn_source_type kn_source_arrow; /* its reader is a kn_arrow_reader */

#endif
