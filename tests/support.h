/* What several test programs need: cmocka with its includes, and small tables made in memory. */
#ifndef KN_TESTS_SUPPORT_H
#define KN_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after its prerequisites */
#include <cmocka.h>

#include "base/rng.h"
#include "base/status.h"

#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        kn_error assert_err_ = {{0}};                                                                                  \
        kn_error *err = &assert_err_;                                                                                  \
        kn_status assert_status_ = (call);                                                                             \
        if (assert_status_ != KN_OK) fail_msg("%s: status %d: %s", #call, assert_status_, err->message);               \
    } while (0)

#endif
