/* What a bound is about: points with counts, columns with nodes and prices in whole units, and k.
 *
 * A release is k-anonymous cell by cell: each class of at least k rows is released as one node per column. What it
 * costs a row is the sum of its nodes' prices less a discount that depends on the row alone (measure.h), so bounds are
 * about v = cost + discount: the same price for every row of a class, whatever the measure. Prices are whole units,
 * rounded down, so that a bound can be checked without rounding errors.
 *
 * Only columns whose released cells are priced as nodes of a tree are here. What labels that are written narrower than
 * their node (hierarchy/domain.h) may cost is bounded by the cheapest value below; columns where that is all that is
 * known, and those without a tree, are left to the nearest neighbours. */
#ifndef KN_BOUND_BOUND_PROBLEM_H
#define KN_BOUND_BOUND_PROBLEM_H

#include "search/search.h"

/* The whole domain in every column costs about so many units. */
#define KN_BOUND_UNITS (1u << 30)

typedef struct kn_bound_column {
    uint32_t q;
    uint32_t n_levels;
    uint32_t n_nodes;
    bool top_is_root; /* the last level holds everything */
    uint32_t **node;  /* [level][code] */
    uint32_t **price; /* [level][code]: units */
    uint32_t least;   /* price of any node */
    uint32_t *codes;  /* [point] */
} kn_bound_column;

typedef struct kn_bound_problem {
    const kn_task *task;
    uint64_t k; /* every class has at least so many persons, and so at least so many rows */
    uint32_t n_columns;
    kn_bound_column *columns; /* those that split most first */
    uint32_t n_points;        /* distinct tuples of these columns */
    uint32_t *rows, *persons; /* [point]; persons: at least those it has */
    uint32_t *of_tuple;       /* [tuple]: its point */
    uint32_t root;            /* units: what a suppressed row pays in these columns */
    double unit;              /* price of one unit */
    double discount;          /* sum over rows of the discounts in these columns */
    double n_nodes;           /* of the lattice */
} kn_bound_problem;

/* Whether the cells of QI q are priced as nodes of a tree, up to the ends of a grid. */
bool kn_bound_takes(const kn_task *task, uint32_t q);
kn_status kn_bound_problem_new(kn_bound_problem **out, const kn_task *task, kn_error *err);
void kn_bound_problem_free(kn_bound_problem *problem);

#endif
