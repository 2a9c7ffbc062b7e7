/* Group vectors of cells that are equal. */
#ifndef KN_CLASSES_CELLS_H
#define KN_CLASSES_CELLS_H

#include "hierarchy/domain.h"
#include "classes/group.h"

/* Item i is the vector cells[i * stride] .. [i * stride + n_cells - 1], and extra[i] where `extra` is not NULL.
 * Results as kn_group's. */
kn_status kn_cells_group(uint32_t *group_of, uint32_t *n_groups, uint32_t **first_item, const kn_cell *cells,
                         uint32_t n_items, uint32_t n_cells, uint32_t stride, const uint32_t *extra, kn_pool *pool,
                         kn_ticker *ticker, kn_error *err);

#endif
