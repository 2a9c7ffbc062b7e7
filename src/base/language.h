/* The languages of reports. */
#ifndef KN_BASE_LANGUAGE_H
#define KN_BASE_LANGUAGE_H

typedef enum kn_language { KN_LANGUAGE_EN, KN_LANGUAGE_DE, KN_N_LANGUAGES } kn_language;

#endif
