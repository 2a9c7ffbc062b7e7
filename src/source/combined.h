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

#endif
