/* What tests look at of `sequential`. */
#ifndef KN_SEARCH_LOCAL_SEQUENTIAL_H
#define KN_SEARCH_LOCAL_SEQUENTIAL_H

#include "engine/closure/closure.h"
#include "base/rng.h"

/* [SC] Algorithm 3: deals the n items of `list`, in place into a random order, out to n_parts parts so that each gets
 * its share of every value of the first sensitive column: list[i] goes to part[i]. */
kn_status kn_sequential_deal(uint32_t *part, const kn_items *items, uint32_t *list, uint32_t n, uint32_t n_parts,
                             kn_rng *rng, kn_error *err);

#endif
