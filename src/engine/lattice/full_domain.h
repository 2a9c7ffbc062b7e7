/* What the full-domain searches share: the lattice of a task with its prices. What a node is worth: evaluator.h.
 *
 * Loss. Under a cell measure a node costs the sum, over columns, of the table's price at that level, plus what the
 * suppressed rows pay more: the root's price less the price of their cells. The first part is a table lookup, the
 * second touches suppressed classes only. Prices are whole multiples of a small unit (kn_full_domain.unit), so sums do
 * not depend on the order of the classes: the same node has the same loss on any path, thread count and memory, and
 * "best" means best in these units (about 1e-11 of a cell's price or finer). Class measures are summed over the
 * classes; whole measures get the release that recoding would make.
 *
 * Order. A node is better than another with a smaller loss; then with fewer suppressed rows; then with the
 * lexicographically smaller level vector, in QI order. */
#ifndef KN_ENGINE_LATTICE_FULL_DOMAIN_H
#define KN_ENGINE_LATTICE_FULL_DOMAIN_H

#include "search/search.h"
#include "engine/lattice/lattice_blocks.h"
#include "engine/lattice/lattice_walk.h"

/* What one node is worth. */
typedef struct kn_node {
    uint64_t n_suppressed; /* rows of classes that break a model */
    uint64_t n_classes;    /* that hold */
    uint64_t smallest;     /* persons of the smallest class, also of those that break a model; 0 for an empty table */
    bool feasible;         /* suppresses no more than the task allows */
    uint64_t n_sure; /* so many rows at least are suppressed below this node too, among them those of classes with fewer
                        persons or different values than any model allows */
    int64_t units;   /* bounded measures: the loss in units, not less than it ... */
    int64_t sure_units; /* ... and what the latter pay above the table's price, not more than it */
    double loss;        /* as reported; NAN for an infeasible node under a whole measure */
} kn_node;

typedef struct kn_full_domain {
    const kn_task *task;
    kn_lattice *lattice;
    const kn_objective *objective; /* whose prices these are; NULL: not a cell measure */
    uint32_t *order, n_order;      /* all columns, outermost first */
    kn_cell *root;                 /* [q]: what a suppressed row has there */
    double unit;  /* cell measures: prices are multiples of it. Class measures: losses are rounded to it */
    bool bounded; /* a feasible node loses at least the table's price (class measures: 0) plus least_more plus, where
                     prices are monotone, the sure_units of any node above it */
    int64_t least_more;   /* where they are not: suppressed rows pay at least this more than their cells, in all; not
                             above 0 */
    int64_t **table_sum;  /* [q][level]: price of the whole table at that level, in units */
    int64_t ***gap;       /* [q][level][position]: root's price less the position's */
    int64_t root_sum;     /* price of a suppressed row */
    bool monotone_prices; /* cell measures: no value gets cheaper by generalizing it */
    bool upward_closed;   /* what generalizes a feasible node is feasible */
    kn_block_lattice *blocks;   /* NULL where blocks cannot serve */
    int64_t *inner_gap;         /* blocks: [combo << n_inner_bits | inner at the combo's levels]; cell measures only */
    struct kn_figures *figures; /* blocks under a class measure: node_figures.h */
} kn_full_domain;

/* `max_combos`: 0: no blocks, the lattice has its base. Otherwise blocks where models and measure allow it, with at
 * most that many combos; the lattice has its base only where they do not. */
kn_status kn_full_domain_new(kn_full_domain **out, const kn_task *task, uint32_t max_combos, kn_error *err);
/* The prices of another cell measure: levels, table_sum, gap, unit and root_sum only. */
kn_status kn_full_domain_new_prices(kn_full_domain **out, const kn_task *task, const kn_objective *objective,
                                    kn_error *err);
void kn_full_domain_free(kn_full_domain *domain);

/* The level vector of a node that blocks answer for: see kn_evaluate_blocks. */
void kn_block_levels(uint32_t *levels, const kn_block_lattice *lattice, const kn_blocks *blocks, uint32_t combo,
                     uint32_t variant);
/* The columns as they are rolled up, the first one first. */
void kn_full_domain_roll_order(uint32_t *columns, const kn_full_domain *domain);

/* Negative when (a, a_levels) is better. */
int kn_node_compare(const kn_node *a, const uint32_t *a_levels, const kn_node *b, const uint32_t *b_levels,
                    uint32_t n_qis);

/* The most units that may come to the same loss as these, because a loss has 53 bits: nodes within them are ranked as
 * equal. */
static inline int64_t kn_units_tied(int64_t units) { return units + (units > 0 ? units >> 51 : 0); }
/* Reported loss of a sum in units (cell measures). */
double kn_full_domain_loss(const kn_full_domain *domain, int64_t sum);
/* The answer for a level vector. */
kn_status kn_full_domain_answer(kn_answer *answer, const kn_full_domain *domain, const uint32_t *levels, kn_error *err);
/* KN_NOT_MET: no node is feasible; says what the most general one would suppress and what may be. */
kn_status kn_full_domain_refuse(const kn_full_domain *domain, kn_error *err);
/* "[1, 0, 2]" */
void kn_levels_text(kn_buffer *out, const uint32_t *levels, uint32_t n_qis);

#endif
