/* What the column `person` tells apart, and so what classes count: people, or the households they live in. */
#ifndef KN_BASE_UNIT_H
#define KN_BASE_UNIT_H

typedef enum kn_unit { KN_UNIT_PERSON, KN_UNIT_HOUSEHOLD } kn_unit;

static inline const char *kn_unit_plural(kn_unit unit) { return unit == KN_UNIT_HOUSEHOLD ? "households" : "persons"; }

#endif
