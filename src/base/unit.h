/* What the column `person` tells apart, and so what classes count: people, or the households they live in. */
#ifndef KN_BASE_UNIT_H
#define KN_BASE_UNIT_H

typedef enum kn_unit { KN_UNIT_PERSON, KN_UNIT_HOUSEHOLD } kn_unit;

static inline const char *kn_unit_plural(kn_unit unit) { return unit == KN_UNIT_HOUSEHOLD ? "households" : "persons"; }

/* "1 person", "2 persons": the word behind the number. */
static inline const char *kn_unit_word(kn_unit unit, unsigned long long n)
{
    return n != 1 ? kn_unit_plural(unit) : unit == KN_UNIT_HOUSEHOLD ? "household" : "person";
}

#endif
