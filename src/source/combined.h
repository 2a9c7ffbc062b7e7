/* Columns that are made of other columns of the same row: bounds as labels (joined.c), ages from dates (derived.c).
 * Rows whose cells agree in all of them get one text. */
#ifndef KN_SOURCE_COMBINED_H
#define KN_SOURCE_COMBINED_H

#include "base/buffer.h"
#include "source/source.h"
#include "table/infer.h"

typedef struct kn_combinations {
    uint32_t n;
    uint32_t *of_row;             /* [row] */
    uint32_t *first_row, *n_rows; /* [combination] */
} kn_combinations;

/* Numbered in the order of their first rows. Cost: a pass over the rows, with a hash table. */
kn_status kn_combinations_make(kn_combinations *out, const kn_column *const *columns, size_t n_columns, uint32_t n_rows,
                               kn_error *err);
void kn_combinations_free(kn_combinations *all);

/* Fills a column of `n_rows` rows: the text of combination i is bytes offset[i] .. offset[i + 1], first seen on
 * line[i].
 */
kn_status kn_column_of_texts(kn_column *out, const kn_combinations *rows, const kn_buffer *bytes,
                             const uint64_t *offset, const uint64_t *line, const kn_infer_options *options,
                             uint32_t n_rows, kn_error *err);
/* Moves what the column holds; each keeps its name. */
void kn_column_take(kn_column *to, kn_column *from);

/* A source over another one: the first member of the readers of both kinds. */
typedef struct kn_combined {
    kn_source inner;
    const struct kn_csv_options *cells;
    char **names; /* of all columns; the names themselves are not its own */
    uint32_t n_columns;
} kn_combined;

/* What kn_source_type asks of such a reader. */
uint32_t kn_combined_n_columns(const void *reader);
const char *kn_combined_name(const void *reader, uint32_t column);
kn_text_form kn_combined_form(const void *reader);
/* Reads the inner source by `inner_plans`; `fill` makes the columns of the new table, whose rows are counted, and may
 * take those of the inner one. */
typedef kn_status kn_combined_fill(kn_table *whole, void *reader, kn_table *inner, const kn_column_plan *plans,
                                   kn_error *err);
kn_status kn_combined_read(kn_table **out, void *reader, const kn_column_plan *inner_plans, const kn_column_plan *plans,
                           kn_combined_fill *fill, kn_pool *pool, kn_ticker *ticker, kn_error *err);
/* Puts the reader in the place of the source's, which is its inner one from now on. */
void kn_combined_cover(kn_source *source, const kn_source_type *type, void *reader);

#endif
