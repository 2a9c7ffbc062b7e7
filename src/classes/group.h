/* Group items by several columns of codes: the kernel behind distinct tuples and equivalence classes. */
#ifndef KN_CLASSES_GROUP_H
#define KN_CLASSES_GROUP_H

#include "base/pool.h"
#include "base/tick.h"

#include <stdint.h>

typedef struct kn_group_column {
    const void *codes;
    uint8_t code_bytes;  /* 1, 2 or 4 */
    const uint32_t *map; /* what a code stands for; NULL: itself */
    uint32_t n_codes;    /* upper bound of the mapped codes, exclusive */
} kn_group_column;

/* Items with equal mapped codes in every column get equal group numbers 0 .. *n_groups-1. `group_of` has n_items
 * entries. *first_item (yours to kn_free; may be NULL to ask for none) tells an item of each group: its first.
 * Numbers depend on the data only, not on the pool. Without columns everything is one group. */
kn_status kn_group(uint32_t *group_of, uint32_t *n_groups, uint32_t **first_item, uint32_t n_items,
                   const kn_group_column *columns, uint32_t n_columns, kn_pool *pool, kn_ticker *ticker, kn_error *err);

/* Bucket lists: members of group g are (*members)[(*start)[g]] .. [(*start)[g+1]-1], ascending. KN_NONE is no group. */
kn_status kn_group_members(uint32_t **start, uint32_t **members, const uint32_t *group_of, uint32_t n_items,
                           uint32_t n_groups, kn_error *err);

#endif
