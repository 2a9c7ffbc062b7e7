/* What a job hands to its caller: finished texts, and a table where one was made in memory. */
#ifndef KN_RUN_RESULT_H
#define KN_RUN_RESULT_H

#include "base/buffer.h"
#include "table/batches.h"

struct kn_result {
    char *json, *text, *warnings; /* any may be NULL: empty */
    kn_batches *batches;          /* a release that was made in memory; NULL: there is none */
};

kn_status kn_result_new(kn_result **out, kn_error *err);

#endif
