/* All that `kanon lattice` tells of a node, under every measure, by one pass over its classes.
 *
 * Cell measures. A node costs the price of the table at its levels and what suppressed rows pay more, so a pass only
 * counts the suppressed rows by column and position; each measure then prices these counts, in the units that the
 * searches use: the same node has the same loss here and there.
 * Class measures. Those that look at sizes only follow from the number of classes and their rows squared, those that
 * are a product over the columns from sums of products. Those that price a row by its cells and its sensitive value are
 * sums like cell measures, in units of their own and exact (kn_value_prices); those that look at all sensitive values
 * of a class are asked about each class that holds. Whatever is none of these is asked class by class, which plain
 * groups can and blocks cannot (kn_figures_by_blocks). */
#ifndef KN_ENGINE_LATTICE_NODE_FIGURES_H
#define KN_ENGINE_LATTICE_NODE_FIGURES_H

#include "engine/lattice/block_sums.h"
#include "engine/lattice/evaluator.h"

/* Prices by cell and sensitive value, and sums of them: whole units in two parts, high << KN_PRICE_BITS | low, so that
 * no sum over a table overflows or depends on its order. */
enum { KN_PRICE_BITS = 31 };
typedef struct kn_value_price {
    uint32_t high, low;
} kn_value_price;
typedef struct kn_value_sum {
    int64_t high, low;
} kn_value_sum;
typedef struct kn_value_prices {
    uint32_t column, n_values; /* the sensitive column */
    double unit;
    kn_value_price ***prices; /* [q][level][position * n_values + value] */
    kn_value_sum **table;     /* [q][level]: the whole table */
    kn_value_price *root;     /* [value]: of a suppressed row, all columns */
} kn_value_prices;

/* The measures to price, ready for all threads. */
typedef struct kn_figures {
    const kn_full_domain *domain; /* borrowed */
    size_t n;
    const kn_objective *const *objectives; /* borrowed; cell and class measures */
    kn_full_domain **prices;               /* [measure]: cell measures: price tables of their own; NULL otherwise */
    uint32_t *first_position; /* [q]: where the column's positions begin in a list of all; [n_qis]: its length */
    kn_value_prices **values; /* [measure]: of rows by sensitive value; NULL otherwise */
    double ****factors;       /* [measure][q][level][position]: products over the columns; NULL otherwise */
} kn_figures;

/* What a pass has counted of one node. */
typedef struct kn_node_sums {
    uint32_t n_columns, *columns; /* whose suppressed rows are counted by position; all at first */
    uint32_t *suppressed;         /* [first_position[q] + position at the node's level]: rows */
    int64_t *units;               /* [measure]: cell measures: what suppressed rows pay more in the other columns */
    uint64_t squares;             /* of the rows of classes that hold */
    long double *products; /* [measure]: class measures that are none of the others: sum over the classes that hold */
    kn_value_sum
        *values; /* [measure]: what the suppressed rows pay more than in their cells; with kn_value_prices only */
    kn_class_counts suppressed_class;
} kn_node_sums;

/* Can a pass over blocks price it, under any monotone models without a population? */
bool kn_figures_by_blocks(const kn_objective *objective);
kn_status kn_figures_new(kn_figures **out, const kn_full_domain *domain, const kn_objective *const *objectives,
                         size_t n, kn_error *err);
void kn_figures_free(kn_figures *figures);

kn_status kn_node_sums_new(kn_node_sums **out, const kn_figures *figures, kn_error *err);
void kn_node_sums_free(kn_node_sums *sums);
/* Adds n rows, or takes them out. */
static inline void kn_value_sum_add(kn_value_sum *sum, kn_value_price price, int64_t n)
{
    sum->high += n * price.high;
    sum->low += n * price.low;
}
/* Before `low` could overflow. */
static inline void kn_value_sum_carry(kn_value_sum *sum)
{
    int64_t whole = sum->low >> KN_PRICE_BITS;
    sum->high += whole;
    sum->low -= whole * ((int64_t)1 << KN_PRICE_BITS);
}
/* losses[measure], as reported, of a node whose classes are counted. */
void kn_figures_losses(double *losses, const kn_figures *figures, const kn_node *node, const uint32_t *levels,
                       const kn_node_sums *sums);

/* One node from its groups. `sums` is scratch. */
void kn_figures_of_groups(kn_node *node, double *losses, const kn_figures *figures, kn_node_sums *sums,
                          kn_evaluator *evaluator, const kn_groups *groups);

/* The nodes that blocks answer: nodes[combo * KN_LATTICE_LANES + variant], losses[the same * n + measure]. Blocks carry
 * sensitive values where a model or a measure looks at them. Scratch of one thread. */
typedef struct kn_block_figures kn_block_figures;
kn_status kn_block_figures_new(kn_block_figures **out, const kn_figures *figures, kn_error *err);
void kn_block_figures_free(kn_block_figures *scan);
void kn_figures_of_blocks(kn_node *nodes, double *losses, kn_block_figures *scan, const kn_blocks *blocks);
/* The same in parts: share by share, each with a scan of its own where the measures allow that, put together in one of
 * them. Without `details` nodes have no smallest class. */
void kn_block_figures_scan(kn_block_figures *scan, const kn_blocks *blocks, kn_block_range range, bool details);
bool kn_block_figures_may_split(const kn_block_figures *scan);
void kn_block_figures_add(kn_block_figures *scan, const kn_block_figures *more);
void kn_block_figures_finish(kn_node *nodes, double *losses, kn_block_figures *scan, const kn_blocks *blocks);
/* Wide vectors where the processor has them: the default. The figures are the same. */
void kn_block_figures_use_vectors(kn_block_figures *scan, bool yes);
/* Bytes that a scan takes. */
size_t kn_block_figures_bytes(const kn_lattice *lattice, uint32_t n_combos);

#endif
