/* --domains: the table at hand is a part of another one, of which every value is known, and how many rows have it.
 *
 *     column,value,rows
 *     age,34,120
 *     age,35,98
 *     illness,flu,218
 *
 * Types, order, domains, hierarchies and prices are then those of the whole table, and models that compare a class with
 * the table's distribution compare it with the whole one's. Which values stand together in a row, nobody knows. */
#ifndef KN_RUN_WHOLE_H
#define KN_RUN_WHOLE_H

#include "run/input.h"

enum { KN_WHOLE_COLUMN, KN_WHOLE_VALUE, KN_WHOLE_ROWS, KN_N_WHOLE };

typedef struct kn_whole {
    kn_table *table;              /* NULL: nobody asked for it */
    uint32_t columns[KN_N_WHOLE]; /* of it */
} kn_whole;

/* Reads what the request names. KN_INPUT when it is no such table. */
kn_status kn_whole_read(kn_whole *out, kn_input *input, kn_error *err);
void kn_whole_clear(kn_whole *whole);
/* Columns that it is about are read as text, because what they are, only the whole table tells. */
bool kn_whole_has(const kn_whole *whole, kn_role role);
/* Gives the columns of the table that was read the dictionaries of the whole one. KN_INPUT for values that it does not
 * have, or not so often. */
kn_status kn_whole_take(kn_input *input, const kn_whole *whole, kn_error *err);

#endif
