/* Whether two settings ask for the same: for the tests of policies and their fuzzer. */
#ifndef KN_TESTS_SAME_SETTINGS_H
#define KN_TESTS_SAME_SETTINGS_H

#include "kanon.h"

#include <stdbool.h>
#include <string.h>

/* An option that is in force in one of them only, or with another value; NULL: there is none. */
static inline const char *differing_option(const kn_settings *a, const kn_settings *b)
{
    const char *option, *value, *other_option, *other_value;
    size_t n = 0;
    for (; kn_settings_nth_in_force(a, n, &option, &value); n++) {
        bool found = false;
        for (size_t i = 0; kn_settings_nth_in_force(b, i, &other_option, &other_value); i++)
            found |= strcmp(option, other_option) == 0 && strcmp(value, other_value) == 0;
        if (!found) return option;
    }
    return kn_settings_nth_in_force(b, n, &option, &value) ? option : NULL;
}

#endif
