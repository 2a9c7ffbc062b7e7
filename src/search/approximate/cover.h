/* The cover behind `cover`, for its tests. */
#ifndef KN_SEARCH_APPROXIMATE_COVER_H
#define KN_SEARCH_APPROXIMATE_COVER_H

#include "search/search.h"

/* Before a set is taken: its price over the rows that it is the first to cover; row_class[row] == KN_NONE: uncovered.
 */
typedef void (*kn_cover_watch)(void *context, double ratio, const uint32_t *row_class);

/* row_class[row] < *n_classes, classes of k to 2k-1 rows. All domains are trees; at least k rows. `watch` may be NULL.
 */
kn_status kn_cover_classes(uint32_t *row_class, uint32_t *n_classes, uint64_t *n_looks, const kn_task *task, uint32_t k,
                           kn_cover_watch watch, void *context, kn_error *err);

#endif
