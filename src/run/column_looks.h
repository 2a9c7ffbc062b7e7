/* What a column looks like, by its name and its cells, to somebody who wonders whether it points at persons. */
#ifndef KN_RUN_COLUMN_LOOKS_H
#define KN_RUN_COLUMN_LOOKS_H

#include "base/sentence.h"
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

/* Whether a column's name says so: `words` are parted by '|'. "x" stands at the beginning of a part of the name, or
 * anywhere when it has five letters; "x." is a whole part; "=x" the whole name. */
bool kn_name_says(const char *name, const char *words);
/* The name of a number that is given to persons or cases: id, patient_id, patientId, nr. */
bool kn_name_is_id(const char *name);
/* A postal code, by the name or because all cells have its form. */
bool kn_column_is_postcode(const kn_column *column);

#endif
