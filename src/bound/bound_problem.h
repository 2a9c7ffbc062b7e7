/* What a bound is about: points with counts, columns with nodes and prices in whole units, and k.
 *
 * A release is k-anonymous cell by cell: each class of at least k rows is released as one node per column. What it
 * costs a row is the sum of its nodes' prices less a discount that depends on the row alone (measure.h), so bounds are
 * about v = cost + discount: the same price for every row of a class, whatever the measure. Prices are whole units,
 * rounded down, so that a bound can be checked without rounding errors.
 *
 * A column's cells have one of three shapes. Where the rules allow more cells than that, dearer or cheaper ones, each
 * is held by a cell here that costs no more (a relaxation): many values of an ordered domain are cut into runs; sets of
 * three values or more are everything at the price of the cheapest such set; labels that are written for the rows that
 * they cover (hierarchy/domain.h) cost what the narrowest label would. */
#ifndef KN_BOUND_BOUND_PROBLEM_H
#define KN_BOUND_BOUND_PROBLEM_H

#include "search/search.h"

/* The whole domain in every column costs about so many units. */
#define KN_BOUND_UNITS (1u << 30)

typedef enum kn_bound_shape {
    KN_SHAPE_NONE,      /* too many values to price: left to the nearest neighbours */
    KN_SHAPE_TREE,      /* one node per level */
    KN_SHAPE_INTERVALS, /* from one value to another */
    KN_SHAPE_PAIRS      /* one value, two, or everything */
} kn_bound_shape;

typedef struct kn_bound_column {
    uint32_t q;
    kn_bound_shape shape;
    uint32_t n_levels;    /* choices that jobs are made of; TREE: levels; otherwise first values, and everything */
    uint32_t n_nodes;     /* TREE: nodes; otherwise values */
    uint32_t *of_code;    /* [code of the domain]: the value here */
    uint32_t *codes;      /* [point]: value */
    uint32_t least, most; /* price of any node */
    /* TREE */
    bool top_is_root; /* the last level holds everything */
    uint32_t **node;  /* [level][value] */
    uint32_t **price; /* [level][value]: units */
    /* The others; no cell within another one is dearer. */
    uint32_t *starts;     /* [value]: its first code */
    uint32_t *pair_price; /* [a * n_nodes + b], a <= b: units of a..b, or of a and b */
    uint32_t all_price;   /* of everything: three values or more, or `apart` and others */
    uint32_t apart;       /* INTERVALS: the missing value, which is in none; or KN_NONE */
} kn_bound_column;

/* A group with fewer different values of a sensitive column than a class must have holds no class: it is none. Never
 * because the group itself breaks a model: a part of it may not. */
typedef struct kn_bound_need {
    uint32_t sensitive; /* of the tuples' sensitive columns */
    uint32_t least, n_values;
    kn_histograms by_point;
} kn_bound_need;

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
    uint32_t n_needs;
    kn_bound_need *needs;
    uint64_t *spent; /* steps of walks and sweeps are added here; may be NULL */
} kn_bound_problem;

kn_bound_shape kn_bound_shape_of(const kn_task *task, uint32_t q);
/* Nodes that are released under their own labels, up to the ends of a grid. */
bool kn_bound_has_nodes(const kn_task *task, uint32_t q);
/* A column that a certificate can be about: whose values and prices follow from the table and the policy alone. */
bool kn_bound_is_provable(const kn_task *task, uint32_t q);
/* `to_keep`: over those columns alone: what a certificate can hold. */
kn_status kn_bound_problem_new(kn_bound_problem **out, const kn_task *task, bool to_keep, kn_error *err);
void kn_bound_problem_free(kn_bound_problem *problem);

/* What the rows pay less than their cells' prices in a column, all of them together: by their own values, also where
 * several values have one code (top, bottom, rounding). */
double kn_bound_discount(const kn_task *task, uint32_t q);

/* --- bound_column.c --------------------------------------------------------------------------------------------- */

kn_status kn_bound_column_fill(kn_bound_column *column, const kn_task *task, uint32_t q, double unit, kn_error *err);
void kn_bound_column_clear(kn_bound_column *column);
/* Rounded down, and one less: whoever computes the price in another order comes to no fewer units. */
uint32_t kn_bound_units(double price, double unit);
/* What a cell costs at least whose rows have these codes, ascending, and no others. */
kn_status kn_least_cell_price(double *price, const kn_task *task, uint32_t q, kn_set_pool *sets, const uint32_t *codes,
                              uint32_t n, kn_error *err);

#endif
