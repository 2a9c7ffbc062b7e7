/* The distinct cells of a column of a release, with what stands in them. Classes share few cells of a column, so
 * whatever is a sum over cells is found here in a fraction of the time that the classes would take. */
#ifndef KN_CLASSES_COLUMN_CELLS_H
#define KN_CLASSES_COLUMN_CELLS_H

#include "classes/release.h"

/* A suppressed row has the whole domain in its cell; where there are suppressed rows, theirs is the last cell. */
typedef struct kn_column_cells {
    uint32_t n;
    kn_cell *cells;
    uint64_t *rows;
    kn_histograms *histograms; /* as kn_release's, of the cells; NULL where the release has none */
    uint32_t n_histograms;
} kn_column_cells;

/* All columns, the same for any number of threads. */
kn_status kn_columns_count(kn_column_cells **out, const kn_release *release, kn_pool *pool, kn_error *err);
void kn_columns_free(kn_column_cells *columns, const kn_release *release);

/* Column q: of release->columns where they were counted, otherwise counted into *room. kn_column_clear(room) after use,
 * either way. */
kn_status kn_column_get(const kn_column_cells **out, kn_column_cells *room, const kn_release *release, uint32_t q,
                        kn_error *err);
void kn_column_clear(kn_column_cells *room);

#endif
