/* A column that is computed from dates of the same row: what it is called, what it counts, and between which two
 * dates. What a definition means is said here once; source/derived.c computes it, and verify/ by code of its own.
 *
 *   age(BIRTH, AT)        whole years from one to the other; from 0 to KN_MOST_AGE
 *   years, months, weeks, days, hours, minutes(FROM, TO)     whole ones; below 0 where TO is earlier, rounded down
 *
 * BIRTH, AT, FROM and TO are columns of dates, or a date as 2024-12-31; one of the two at least is a column. A comma in
 * a column's name is written "\,". Years and months end on the same day of the month: whoever was born on 29 February
 * turns a year older on 1 March where there is none. Days, weeks, months and years look at the day, not at the time;
 * hours and minutes look at both. A missing date makes a missing cell. */
#ifndef KN_TABLE_DERIVATION_H
#define KN_TABLE_DERIVATION_H

#include "base/memory.h"

#include <stdint.h>

#define KN_MOST_AGE 150

typedef enum kn_derived_unit {
    KN_DERIVED_AGE,
    KN_DERIVED_YEARS,
    KN_DERIVED_MONTHS,
    KN_DERIVED_WEEKS,
    KN_DERIVED_DAYS,
    KN_DERIVED_HOURS,
    KN_DERIVED_MINUTES
} kn_derived_unit;

typedef struct kn_derived_end {
    char *column; /* NULL: a date */
    int64_t days; /* of the date, since 1970-01-01 */
} kn_derived_end;

typedef struct kn_derivation {
    char *name; /* of the column */
    kn_derived_unit unit;
    kn_derived_end from, to;
} kn_derivation;

/* `spec` as above. KN_USAGE names what is wrong, without a place. */
kn_status kn_derivation_parse(kn_derivation *out, const char *name, const char *spec, kn_error *err);
void kn_derivation_free(kn_derivation *derivation); /* what it holds */
/* "age", "days", ... */
const char *kn_derived_unit_name(kn_derived_unit unit);

#endif
