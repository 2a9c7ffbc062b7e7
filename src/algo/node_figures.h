/* All that `kanon lattice` tells of a node, under every measure, by one pass over its classes.
 *
 * Cell measures. A node costs the price of the table at its levels and what suppressed rows pay more, so a pass only
 * counts the suppressed rows by column and position; each measure then prices these counts, in the units that the
 * searches use: the same node has the same loss here and there.
 * Class measures. Those that look at sizes only follow from the number of classes and their rows squared, those that are
 * a product over the columns from sums of products; what is neither, or looks at sensitive values, is asked class by
 * class, which plain groups can and blocks cannot (kn_figures_by_blocks). */
#ifndef KN_ALGO_NODE_FIGURES_H
#define KN_ALGO_NODE_FIGURES_H

#include "algo/full_domain.h"

/* The measures to price, ready for all threads. */
typedef struct kn_figures {
    const kn_full_domain *domain; /* borrowed */
    size_t n;
    const kn_objective *const *objectives; /* borrowed; cell and class measures */
    kn_full_domain **prices;               /* [measure]: cell measures: price tables of their own; NULL otherwise */
    uint32_t *first_position;              /* [q]: where the column's positions begin in a list of all; [n_qis]: its length */
    double ****factors;                    /* [measure][q][level][position]: products over the columns; NULL otherwise */
} kn_figures;

/* What a pass has counted of one node. */
typedef struct kn_node_sums {
    uint32_t *suppressed; /* [first_position[q] + position at the node's level]: rows */
    uint64_t squares;     /* of the rows of classes that hold */
    long double *products; /* [measure]: class measures that are neither by cell nor by size: sum over the classes that hold */
    kn_class_counts suppressed_class;
} kn_node_sums;

/* Can a pass over blocks price it? */
bool kn_figures_by_blocks(const kn_measure *measure);
kn_status kn_figures_new(kn_figures **out, const kn_full_domain *domain, const kn_objective *const *objectives, size_t n,
                         kn_error *err);
void kn_figures_free(kn_figures *figures);

kn_status kn_node_sums_new(kn_node_sums **out, const kn_figures *figures, kn_error *err);
void kn_node_sums_free(kn_node_sums *sums);
/* losses[measure], as reported, of a node whose classes are counted. */
void kn_figures_losses(double *losses, const kn_figures *figures, const kn_node *node, const uint32_t *levels,
                       const kn_node_sums *sums);

/* One node from its groups. `sums` is scratch. */
void kn_figures_of_groups(kn_node *node, double *losses, const kn_figures *figures, kn_node_sums *sums,
                          kn_evaluator *evaluator, const kn_groups *groups);

/* The nodes that blocks answer: nodes[combo * KN_LATTICE_LANES + variant], losses[the same * n + measure]. Models look at
 * class sizes only. Scratch of one thread. */
typedef struct kn_block_figures kn_block_figures;
kn_status kn_block_figures_new(kn_block_figures **out, const kn_figures *figures, kn_error *err);
void kn_block_figures_free(kn_block_figures *scan);
void kn_figures_of_blocks(kn_node *nodes, double *losses, kn_block_figures *scan, const kn_blocks *blocks);
/* Wide vectors where the processor has them: the default. The figures are the same. */
void kn_block_figures_use_vectors(kn_block_figures *scan, bool yes);
/* Bytes that a scan takes. */
size_t kn_block_figures_bytes(const kn_lattice *lattice, uint32_t n_combos);

#endif
