/* Hands a written file to the verifier: after anonymizing, with what the run knows, and for `kanon verify`. */
#ifndef KN_RUN_RECHECK_H
#define KN_RUN_RECHECK_H

#include "run/input.h"
#include "verify/verify.h"

typedef struct kn_known_order {
    const uint32_t *rows; /* original row of each released row */
    uint32_t n;
    bool is_input; /* the original's own order, as far as the user says */
} kn_known_order;

/* `order` NULL: the row order is not known. `original_path` NULL: the original is not at hand. */
kn_status kn_recheck(kn_verdict **out, kn_input *input, const char *release_path, const char *release_name,
                     const char *original_path, const kn_known_order *order, kn_error *err);
/* The first broken check as one message; KN_OK when all hold. `all_models`: a model that could not be recounted counts
 * as broken, which is right after a run that had everything at hand. */
kn_status kn_verdict_status(const kn_verdict *verdict, bool all_models, kn_error *err);
kn_status kn_verdict_text(char **out, const kn_verdict *verdict, kn_error *err);
kn_status kn_verdict_json(char **out, const kn_verdict *verdict, kn_error *err);

#endif
