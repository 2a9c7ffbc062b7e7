/* How many rows of a file lie inside given released cells: candidates for a released row when nobody knows which
 * original row it was, and persons of a population that match a class. */
#ifndef KN_VERIFY_INSIDE_H
#define KN_VERIFY_INSIDE_H

#include "verify/meaning.h"

typedef struct kn_inside {
    const kn_sheet *cells;
    size_t n_columns;
    uint32_t *columns;           /* of the file, those with few texts first */
    const kn_meaning **meanings; /* in that order */
    size_t *place;               /* which entry of the caller's tuple belongs there */
    uint32_t *rows;              /* sorted by group, then by the columns */
    uint32_t *group_start;       /* n_groups + 1 */
    uint64_t work, max_work;     /* steps made; beyond max_work counting gives up. 0: no limit */
} kn_inside;

/* `row_group` (NULL: one group) divides the rows of the file; counts are then made within a group. */
kn_status kn_inside_make(kn_inside **out, const kn_sheet *cells, const uint32_t *columns,
                         const kn_meaning *const *meanings, size_t n_columns, const uint32_t *row_group,
                         uint32_t n_groups, kn_error *err);
void kn_inside_free(kn_inside *inside);
/* Rows of the group inside the cells (released texts in the order of `columns` above); may stop at `enough`. */
uint64_t kn_inside_count(kn_inside *inside, uint32_t group, const uint32_t *released, uint64_t enough);
static inline bool kn_inside_gave_up(const kn_inside *inside)
{
    return inside->max_work != 0 && inside->work > inside->max_work;
}

#endif
