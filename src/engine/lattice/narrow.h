/* A lattice without the levels that no feasible node has.
 *
 * By the subset property a level is closed when the column alone has, at that level, more rows in classes of too few
 * rows than may be suppressed. Where values are many and rare that takes away the largest levels, and with them
 * distinct tuples, bits of the keys and most nodes. Cost: a pass over the values of the columns, none over rows. */
#ifndef KN_ENGINE_LATTICE_NARROW_H
#define KN_ENGINE_LATTICE_NARROW_H

#include "search/search.h"

typedef struct kn_narrowed {
    kn_task task;     /* with ... */
    kn_tuples tuples; /* ... these, whose domains have larger least levels */
    kn_domain *domains;
    double n_nodes, n_nodes_left; /* of the lattice before and after */
} kn_narrowed;

/* `narrowed` must stay where it is. */
kn_status kn_narrow(kn_narrowed *narrowed, const kn_task *task, kn_error *err);
void kn_narrowed_free(kn_narrowed *narrowed);

#endif
