/* Where results go, looked at before any work is done. */
#ifndef KN_RUN_TARGETS_H
#define KN_RUN_TARGETS_H

#include "policy/settings.h"

/* Refuses targets that are one of the inputs, targets that are one another, two of them on standard output, and targets
 * that cannot be written. `output_by_default`: the job's result goes to standard output when --output is not given. */
kn_status kn_targets_check(const kn_settings *settings, bool output_by_default, kn_error *err);

#endif
