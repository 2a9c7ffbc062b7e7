/* What a run will still take, from what it has taken so far. */
#ifndef KN_RUN_EXPECTED_H
#define KN_RUN_EXPECTED_H

#include "run/input.h"

/* Seconds from the answer of the search to the end of the run, its bound not included: recoding, writing, verifying,
 * measuring. Known once the table is read and encoded. */
double kn_expected_after(const kn_input *input);

#endif
