/* Whole runs of `anonymize` inside a test program, which may spoil what was written before it is verified. */
#ifndef KN_TESTS_RUN_SUPPORT_H
#define KN_TESTS_RUN_SUPPORT_H

#include "policy/settings.h"

typedef void (*spoil_fn)(void *user, const char *path, const kn_batches *batches);

/* `data` and `output` may be NULL where `options`, "name=value" ... NULL, have them. A release comes with KN_OK and
 * with nothing else, and no file stays open. */
kn_status run_anonymize(const char *data, const char *output, const char *const *options, spoil_fn spoil, void *user,
                        kn_error *message);

#endif
