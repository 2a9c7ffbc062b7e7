/* --codebook FILE: for whoever gets the release. What its columns and labels mean, and how much of each column was
 * generalized.
 *
 * It travels with the release and says nothing that the release and its schema do not: what labels mean is read from
 * the schema, and every number is counted over the released rows. Nothing of removed rows, of the original's values or
 * of its losses. */
#ifndef KN_REPORT_CODEBOOK_H
#define KN_REPORT_CODEBOOK_H

#include "base/language.h"
#include "report/facts.h"

typedef struct kn_codebook {
    const char *schema; /* as --schema writes it */
    const char *name;   /* of the released file; NULL: it is none */
    const kn_table *table;
    const kn_release *release;
    const kn_model_fact *models;
    size_t n_models;
    bool is_sorted; /* the released rows */
    kn_language language;
} kn_codebook;

/* Yours to kn_free. */
kn_status kn_codebook_html(char **out, const kn_codebook *codebook, kn_error *err);

#endif
