/* Can the released cells of one column, in some order, be the original's values generalized? */
#ifndef KN_VERIFY_MATCH_COLUMNS_H
#define KN_VERIFY_MATCH_COLUMNS_H

#include "base/pool.h"
#include "verify/meaning.h"

typedef struct kn_column_match {
    const kn_sheet *original, *release;
    uint32_t original_column, release_column;
    const kn_meaning *meaning;
    /* Rows with equal copied cells may stand for each other, others not. KN_NONE: the row is left out. */
    const uint32_t *original_group, *release_group;
    kn_pool *pool;
} kn_column_match;

/* *misfit: a released row for which no original value is left; KN_NONE when all of them can be matched. */
kn_status kn_column_match_find(uint32_t *misfit, const kn_column_match *match, kn_error *err);

#endif
