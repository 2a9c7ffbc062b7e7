/* What a job hands to its caller: finished texts. */
#ifndef KN_RUN_RESULT_H
#define KN_RUN_RESULT_H

#include "base/buffer.h"

struct kn_result {
    char *json, *text, *warnings; /* any may be NULL: empty */
};

kn_status kn_result_new(kn_result **out, kn_error *err);

#endif
