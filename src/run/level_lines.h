/* What hierarchies make of a column's values, as a policy's comments. */
#ifndef KN_RUN_LEVEL_LINES_H
#define KN_RUN_LEVEL_LINES_H

#include "hierarchy/build.h"
#include "run/input.h"

/* "  #   level 1: 20..24, 25..29, ...": the first labels of each level that k persons or more share, in lines; NULL:
 * there are none. Yours to kn_free. */
kn_status kn_level_lines(char **out, kn_input *input, uint32_t c, const kn_suggestion *generalize, uint32_t k,
                         kn_error *err);

#endif
