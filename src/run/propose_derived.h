/* Columns that `profile` would compute from the dates of a table. */
#ifndef KN_RUN_PROPOSE_DERIVED_H
#define KN_RUN_PROPOSE_DERIVED_H

#include "table/table.h"

typedef struct kn_derived_idea {
    char *name, *spec;  /* "age", "age(birth_date, 2024-12-31)" */
    const char *reason; /* static */
    bool is_age;
} kn_derived_idea;

typedef struct kn_derived_ideas {
    size_t n;
    kn_derived_idea *items;
} kn_derived_ideas;

/* The age of whoever has a birth date, at the end of the last year that the dates tell of and at each other date; the
 * days between two columns of dates, of which one is hardly ever before the other. At most a handful. */
kn_status kn_derived_propose(kn_derived_ideas *out, const kn_table *table, kn_error *err);
void kn_derived_ideas_free(kn_derived_ideas *ideas); /* what they hold */

#endif
