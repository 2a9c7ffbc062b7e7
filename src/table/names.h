/* What the name of a column says about what is in it. */
#ifndef KN_TABLE_NAMES_H
#define KN_TABLE_NAMES_H

#include <stdbool.h>

/* Whether a column's name says so: `words` are parted by '|'. "x" stands at the beginning of a part of the name, or
 * anywhere when it has five letters; "x." is a whole part; "=x" the whole name. */
bool kn_name_says(const char *name, const char *words);
/* The name of a number that is given to persons or cases: id, patient_id, patientId, nr, Pat.-Nr. */
bool kn_name_is_id(const char *name);
bool kn_name_is_person(const char *name); /* patient, customer */
/* The name of a number that is given to households: household, hh_id, family_id, Haushalt-Nr.; not household_size. */
bool kn_name_is_household(const char *name);
bool kn_name_is_place(const char *name); /* where people are treated or taught: site, ward, school */
bool kn_name_is_date(const char *name);
bool kn_name_is_birth(const char *name); /* dates of birth */
bool kn_name_is_age(const char *name);
#define KN_POSTCODE_WORDS                                                                                              \
    "zip|postal|postcode|post_code|post code|plz.|postleit|code_post|cap.|cp.|codigo_post|"                            \
    "pincode|pin code|pin_code|cep.|postnummer|postnr|kod pocztowy|kod_pocztowy|psc.|eircode"
bool kn_name_is_postcode(const char *name);

#endif
