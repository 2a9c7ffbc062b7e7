/* Every node of a lattice once, most specific first, with its classes.
 *
 * Depth first over the columns in `order` (outermost first): a node's classes are rolled up from
 * the node one step below in the innermost changed column. The levels of the two outermost columns are the jobs of the
 * pool; each job starts from the base, so what a visitor sees does not depend on the number of threads. Where the
 * intermediate results of a branch would exceed the memory allowed, they are not kept: the nodes inside are rolled up
 * from the nearest result that was, in one larger step. */
#ifndef KN_ENGINE_LATTICE_LATTICE_WALK_H
#define KN_ENGINE_LATTICE_LATTICE_WALK_H

#include "engine/lattice/lattice.h"

typedef struct kn_lattice_walk {
    const kn_lattice *lattice;
    const uint32_t *order; /* kn_lattice_order; n_order columns */
    uint32_t n_order;
    size_t memory_bytes; /* for intermediate results, all threads together; 0: no limit */
    kn_pool *pool;
    kn_ticker *ticker;
    const char *stage; /* for progress */
    void *context;
    /* May the nodes that share the levels of order[0 .. depth-1] be left out? NULL: none. Levels of the deeper columns
     * are their least ones. */
    bool (*skip)(void *context, const uint32_t *levels, uint32_t depth, unsigned worker);
    kn_status (*visit)(void *context, const kn_groups *groups, unsigned worker, kn_error *err);
} kn_lattice_walk;

/* The columns, those whose generalization merges most first: by entropy of the column. *order has
 * n_qis entries, yours to kn_free. */
kn_status kn_lattice_order(uint32_t **order, uint32_t *n_order, const kn_lattice *lattice, kn_error *err);
kn_status kn_lattice_walk_run(const kn_lattice_walk *walk, kn_error *err);

#endif
