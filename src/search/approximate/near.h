/* Which rows are near: exact nearest neighbours without a matrix of distances.
 *
 * The distance of two tuples is what a row of a class pays that holds just these two: d({a, b}). Distinct tuples stand
 * in boxes, a binary tree: each box is cut in two by the column whose closure is dearest in it, in a tree between two
 * children of that closure. Whoever looks from one tuple knows for every box a distance that nothing in it undercuts,
 * so most boxes are never opened. Tuples are addressed by their *position* in the order of the boxes: what is near in
 * the table is mostly near in that order too.
 *
 *     kn_near *near;    kn_near_new(&near, task->objective, err)
 *     kn_view view;     kn_view_init(&view, near, err)              one per thread
 *     kn_view_from(&view, position);  kn_view_nearest(&view, ...)
 *
 * A column bounds by the ends of a box where prices only grow away from a value (trees with monotone prices, ranges);
 * otherwise by its cheapest pair. Cost: building n log n per level; a question opens a few hundred tuples where the
 * data has neighbours at all, and all of them at worst. Memory is linear, and 2 MB for a column of up to 512 values;
 * beyond them prices are made as they are asked for. */
#ifndef KN_SEARCH_APPROXIMATE_NEAR_H
#define KN_SEARCH_APPROXIMATE_NEAR_H

#include "engine/closure/closure.h"

typedef struct kn_box {
    uint32_t begin, end; /* positions */
    uint32_t low, high;  /* the two halves; KN_NONE: not cut */
} kn_box;

typedef struct kn_near {
    const kn_tuples *tuples;
    kn_pricer *pricer;
    uint32_t n, n_qis;
    uint32_t *tuple;    /* [position] */
    uint32_t *position; /* [tuple] */
    uint32_t *rows;     /* [position] */
    uint32_t *codes;    /* [position * n_qis + q] */
    uint32_t n_boxes;
    kn_box *boxes;          /* the first one holds all */
    uint32_t *first, *last; /* [box * n_qis + q]: smallest and largest code */
    bool *ordered;          /* [q]: prices grow away from a value */
    bool monotone;          /* a set costs at least what its values cost alone */
    double **table;         /* [q][a * n_codes + b], NULL: too many values */
} kn_near;

/* Do prices never fall from a node of the tree to its parent? Rounding aside. */
#define KN_PRICE_TOLERANCE 1e-12
bool kn_prices_grow(const kn_tree *tree, const double *node_price);

kn_status kn_near_new(kn_near **out, const kn_objective *objective, kn_error *err);
void kn_near_free(kn_near *near);
/* Smallest price of a class that holds both values of column q. */
double kn_near_price(const kn_near *near, uint32_t q, uint32_t a, uint32_t b);

/* One tuple, and everything as seen from it. */
typedef struct kn_view {
    const kn_near *near;
    uint32_t from;      /* position */
    const double **row; /* [q][code]: price of its value with the code; NULL: priced when it is asked for */
    double *least;      /* [q]: no other code is cheaper, where the column is not ordered */
} kn_view;

kn_status kn_view_init(kn_view *view, const kn_near *near, kn_error *err);
void kn_view_free(kn_view *view); /* what it holds */
void kn_view_from(kn_view *view, uint32_t position);
static inline double kn_view_price(const kn_view *view, uint32_t q, uint32_t code)
{
    const kn_near *near = view->near;
    if (view->row[q] != NULL) return view->row[q][code];
    return kn_near_price(near, q, near->codes[(size_t)view->from * near->n_qis + q], code);
}
static inline double kn_view_distance(const kn_view *view, uint32_t position)
{
    const uint32_t n_qis = view->near->n_qis, *codes = view->near->codes + (size_t)position * n_qis;
    double sum = 0;
    for (uint32_t q = 0; q < n_qis; q++) sum += kn_view_price(view, q, codes[q]);
    return sum;
}
/* Nothing in the box is nearer than this. */
double kn_view_box(const kn_view *view, uint32_t box);

/* The nearest positions with at least so many rows between them, nearest first; no shorter list would do. */
typedef struct kn_neighbour {
    uint32_t position;
    double distance;
} kn_neighbour;
typedef struct kn_neighbours {
    KN_VECTOR(kn_neighbour) list;
    uint64_t n_rows;
} kn_neighbours;
/* `rows`: that count at each position, `box_rows` their sums by box; NULL: all rows of the table. The tuple's own rows
 * count too, less `n_self` of them. */
kn_status kn_view_nearest(kn_neighbours *out, const kn_view *view, const uint32_t *rows, const uint32_t *box_rows,
                          uint32_t n_self, uint64_t n_wanted, kn_error *err);

/* The rows in the order of the positions, as vertices: those of a position are (*row)[(*first)[position]] to
 * (*row)[(*first)[position + 1] - 1]. Yours to kn_free. */
kn_status kn_near_rows(uint32_t **first, uint32_t **row, const kn_near *near, kn_error *err);

/* Counts by position summed by box, yours to kn_free; and what one position loses. */
kn_status kn_near_sum(uint32_t **box_rows, const kn_near *near, const uint32_t *rows, kn_error *err);
void kn_near_subtract(uint32_t *box_rows, const kn_near *near, uint32_t position, uint32_t n);

#endif
