/* Tables out, whatever they are written to: per released column the distinct texts, and for every released row which of
 * them it has. csv_write.c makes lines of it, arrow_write.c dictionary arrays.
 *
 * Cells that are not generalized keep the bytes they were read with. Where one class spells a value in several ways
 * ("1", "1.0"), its rows get the most frequent spelling of the table: a class must look the same. */
#ifndef KN_SINK_SINK_H
#define KN_SINK_SINK_H

#include "base/buffer.h"
#include "classes/release.h"
#include "hierarchy/bounds.h"
#include "table/text_form.h"

/* How a sink spells a cell: `put` appends it to `out`. Sorted rows stand in the order of these texts, column by column:
 * those of the CSV file's cells for every sink, so that a release has one order wherever it goes. */
typedef struct kn_spelling {
    void (*put)(kn_buffer *out, const void *context, const char *bytes, size_t n_bytes, bool last_column);
    const void *context;
    bool guard_formulas;
    bool plain; /* what `put` makes only decides the order: the texts are the cells without it */
} kn_spelling;

/* What a sink is asked for besides its own form. */
typedef struct kn_sink_options {
    kn_row_order order;
    kn_cells_form cells;
    bool guard_formulas;
    kn_pool *pool;
    kn_ticker *ticker;
} kn_sink_options;

/* What a released column holds of a column of the table. */
typedef enum kn_released_part {
    KN_PART_CELL, /* the cell itself, copied or as a label */
    KN_PART_MIN,  /* ... or its bounds ... */
    KN_PART_MAX,
    KN_PART_KIND,
    KN_PART_MEAN /* ... and the mean of the class, per person, on the grid */
} kn_released_part;

/* Whatever leaves passes here: cells, generalized or not, and names. */
void kn_spell(kn_buffer *out, const kn_spelling *spelling, const char *bytes, size_t n_bytes, bool last_column);

typedef struct kn_released_column {
    const kn_column *column;
    kn_released_part part;
    kn_bounds_form form; /* of QIs whose bounds are released */
    char *name;
    uint32_t n_texts; /* in the order of their spellings; a removed row's may be among them */
    char *bytes;
    uint64_t *offset;     /* n_texts + 1 */
    uint32_t q;           /* number of the QI, or KN_NONE for a copied column */
    uint32_t n_items;     /* spellings (copied columns) or cells */
    uint32_t *rank;       /* [item]: its text */
    uint32_t *class_item; /* QIs: [class], class n_classes is the suppressed rows */
} kn_released_column;

typedef struct kn_released {
    const kn_release *release; /* borrowed, with its table */
    uint32_t n_columns;
    kn_released_column *columns; /* in the table's order */
    uint32_t n_rows;
    uint32_t *order; /* the table's row of each released row */
} kn_released;

/* The released columns in their order, named, with nothing in them. KN_USAGE where the table has a column of a name
 * that bounds need. */
kn_status kn_released_plan(kn_released_column **out, uint32_t *n_out, const kn_tuples *tuples, kn_cells_form cells,
                           kn_error *err);
void kn_released_columns_free(kn_released_column *columns, uint32_t n_columns);
/* `columns` as planned; they are taken over. */
kn_status kn_released_new(kn_released **out, const kn_release *release, kn_released_column *columns, uint32_t n_columns,
                          const kn_spelling *spelling, const kn_sink_options *options, kn_error *err);
void kn_released_free(kn_released *released);

#endif
