/* Rows that agree in some columns, and how many rows of another file lie inside given cells. Own grouping: nothing of
 * classes/ is used. */
#ifndef KN_VERIFY_ROW_GROUPS_H
#define KN_VERIFY_ROW_GROUPS_H

#include "verify/sheet.h"

/* One column of a key: the codes of a column, or what `map` makes of them. */
typedef struct kn_key_column {
    uint32_t column;
    const uint32_t *map; /* NULL: the code itself */
} kn_key_column;

typedef struct kn_row_groups {
    uint32_t n_rows, n_groups;
    uint32_t *row_group;  /* n_rows */
    uint32_t *first_row;  /* n_groups: groups are numbered as they appear */
    uint32_t *group_rows; /* n_groups */
    /* For kn_row_groups_match */
    const kn_sheet *cells;
    const kn_key_column *keys;
    size_t n_keys;
    uint32_t *slots, *hash;
    size_t n_slots, capacity;
} kn_row_groups;

/* `cells` and `keys` must outlive the result. Without keys all rows are one group. */
kn_status kn_row_groups_make(kn_row_groups **out, const kn_sheet *cells, const kn_key_column *keys, size_t n_keys,
                             kn_error *err);
void kn_row_groups_free(kn_row_groups *groups);
/* For every row of another file the group of `groups` with the same key, KN_NONE where there is none. The other
 * file's keys must lead to the same codes. *out is yours to kn_free. */
kn_status kn_row_groups_match(uint32_t **out, const kn_row_groups *groups, const kn_sheet *cells,
                              const kn_key_column *keys, kn_error *err);
/* Rows of group g are rows[start[g]] .. rows[start[g+1]-1], ascending. Yours to kn_free. */
kn_status kn_row_groups_rows(uint32_t **start, uint32_t **rows, const kn_row_groups *groups, kn_error *err);

#endif
