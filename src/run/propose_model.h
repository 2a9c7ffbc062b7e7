/* A model for a sensitive column, with the reason: what `profile` writes into its policy. */
#ifndef KN_RUN_PROPOSE_MODEL_H
#define KN_RUN_PROPOSE_MODEL_H

#include "classes/tuples.h"

typedef struct kn_proposal {
    char *name,
        *params;  /* "t-closeness", "distance=ordered,t=0.2"; NULL: no model could be met. No values of the data */
    char *policy; /* "t-closeness: {column: income, distance: ordered, t: 0.2}"; NULL as they are */
    char *reason; /* a sentence without its full stop */
} kn_proposal;

typedef struct kn_proposal_ask {
    uint32_t sensitive; /* a column of tuples->sensitive */
    uint64_t k;
    bool redact; /* no values of the data, also in the policy */
} kn_proposal_ask;

/* The same table and k give the same proposal; whatever is proposed holds for all rows as one class, so that a release
 * exists. */
kn_status kn_model_propose(kn_proposal *out, kn_tuples *tuples, const kn_proposal_ask *ask, kn_error *err);
void kn_proposal_free(kn_proposal *proposal); /* what it holds */

#endif
