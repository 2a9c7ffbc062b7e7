/* What the items of each group have in a column, group by group. */
#ifndef KN_CLASSES_GATHER_H
#define KN_CLASSES_GATHER_H

#include "classes/group.h"

/* Group g has values[start[g]] .. values[start[g+1]-1], in the order of its items; those of group KN_NONE are left
 * out. Both are yours to kn_free. `pool` may be NULL. */
kn_status kn_gather(uint32_t **start, uint32_t **values, const uint32_t *group_of, uint32_t n_items, uint32_t n_groups,
                    const kn_group_column *column, kn_pool *pool, kn_error *err);

#endif
