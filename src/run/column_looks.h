/* What a column looks like, by its name and its cells, to somebody who wonders whether it points at persons. */
#ifndef KN_RUN_COLUMN_LOOKS_H
#define KN_RUN_COLUMN_LOOKS_H

#include "base/sentence.h"
#include "table/names.h"
#include "table/table.h"

typedef enum kn_look {
    KN_LOOKS_PLAIN,
    KN_LOOKS_PERSONAL,   /* a name, number, address or account: identifies by itself */
    KN_LOOKS_UNIQUE,     /* text that nearly every row has for its own */
    KN_LOOKS_FREE_TEXT,  /* sentences: nobody knows what they tell */
    KN_LOOKS_COORDINATE, /* a place on earth, to the house */
} kn_look;

typedef struct kn_looks {
    kn_look look;
    kn_say reason; /* KN_SAY_NOTHING for KN_LOOKS_PLAIN */
} kn_looks;

/* Names count in English, German, French, Italian and Spanish, upper and lower case, with or without accents. */
kn_status kn_column_looks(kn_looks *out, const kn_column *column, uint32_t n_rows, kn_error *err);

/* Text of which nine in ten of the different cells are numbers, or dates: the type that it has but for the others.
 * KN_TYPE_TEXT: none. */
kn_type kn_column_nearly(const kn_column *column);
/* Numbers of which nobody knows whether their marks part thousands: 1,234 in each that tells, or, read as a bit more
 * than one, 1.234. */
bool kn_column_marks_unclear(const kn_column *column);

/* A postal code, by the name or because all cells have its form. */
bool kn_column_is_postcode(const kn_column *column);

#endif
