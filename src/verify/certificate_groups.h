/* Every group of rows that may share their cells, against the values of a certificate. */
#ifndef KN_VERIFY_CERTIFICATE_GROUPS_H
#define KN_VERIFY_CERTIFICATE_GROUPS_H

#include "verify/certificate_column.h"

/* Different values of a sensitive column that every class has: a group with fewer holds none. */
typedef struct kn_proof_need {
    uint32_t *value; /* [row] */
    uint32_t n_values;
    uint64_t least;
} kn_proof_need;

/* What is to be proven. */
typedef struct kn_proof {
    uint32_t n_columns, n_needs;
    kn_proof_column *columns;
    kn_proof_need *needs;
    const uint64_t *values; /* [row] */
    uint64_t k;
} kn_proof;

/* *holds: in each group with at least k persons and what is needed, the k largest values come to at most k times the
 * price. */
kn_status kn_proof_holds(bool *holds, const kn_recount *recount, const kn_proof *proof, kn_error *err);

#endif
