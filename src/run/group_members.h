/* What the name of a group that was made from the data (`similar`, or a file that says so) stands for: of the values
 * below it those that released rows have whose cell is the group or lies inside it. So it names what a set in its place
 * would name, and nothing of people who were removed, or whose cell is wider. */
#ifndef KN_RUN_GROUP_MEMBERS_H
#define KN_RUN_GROUP_MEMBERS_H

#include "classes/release.h"

typedef struct kn_group_members {
    const kn_tree *tree; /* of the groups, whose leaves are the codes; borrowed; NULL: the column has no groups */
    size_t *start;       /* [node]: of its entries below, one for each of its leaves */
    bool *is_released;
} kn_group_members;

/* A pass over the rows, for a column whose groups were made from the data. */
kn_status kn_group_members_find(kn_group_members *out, const kn_release *release, uint32_t q, kn_error *err);
void kn_group_members_free(kn_group_members *groups);
/* The group of this name, KN_NONE where the text is none: a set, a value. */
uint32_t kn_group_named(const kn_group_members *groups, const char *label, size_t n_bytes);
static inline bool kn_group_has(const kn_group_members *groups, uint32_t node, uint32_t code)
{
    return groups->is_released[groups->start[node] + (code - groups->tree->first[node])];
}

#endif
