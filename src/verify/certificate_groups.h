/* Every group of rows that may share their cells, against the values of a certificate. */
#ifndef KN_VERIFY_CERTIFICATE_GROUPS_H
#define KN_VERIFY_CERTIFICATE_GROUPS_H

#include "verify/certificate_column.h"

/* *holds: in each of them with at least k persons, the k largest values come to at most k times the price. */
kn_status kn_proof_holds(bool *holds, const kn_recount *recount, const kn_proof_column *columns, uint32_t n_columns,
                         const uint64_t *values, uint64_t k, kn_error *err);

#endif
