/* A cell is three integers; a vector of cells is three columns of codes per cell for kn_group. */
#include "classes/cells.h"

/* KN_NONE becomes 0, so that codes stay small. */
static uint32_t part_of(const kn_cell *cell, uint32_t part)
{
    return part == 0 ? cell->first : part == 1 ? cell->last : cell->id + 1;
}

kn_status kn_cells_group(uint32_t *group_of, uint32_t *n_groups, uint32_t **first_item, const kn_cell *cells,
                         uint32_t n_items, uint32_t n_cells, uint32_t stride, const uint32_t *extra, kn_pool *pool,
                         kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *fields = NULL, n_columns = 3 * n_cells + (extra != NULL);
    kn_group_column *columns = NULL;
    KN_NEW_RAW(fields, (size_t)n_items * n_columns);
    KN_NEW(columns, n_columns);
    for (uint32_t c = 0; c < n_columns; c++) {
        uint32_t *field = fields + (size_t)c * n_items, largest = 0;
        for (uint32_t i = 0; i < n_items; i++) {
            field[i] = c < 3 * n_cells ? part_of(&cells[(size_t)i * stride + c / 3], c % 3) : extra[i] + 1;
            if (field[i] > largest) largest = field[i];
        }
        columns[c] = (kn_group_column){field, 4, NULL, largest + 1};
    }
    KN_TRY(kn_group(group_of, n_groups, first_item, n_items, columns, n_columns, pool, ticker, err));
done:
    kn_free(fields);
    kn_free(columns);
    return status;
}
