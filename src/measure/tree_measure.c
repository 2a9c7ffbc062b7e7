/* The tree measure: how far up its hierarchy a cell went.
 *
 * [AF] 2: a cell at level i of a hierarchy with levels 0..h costs i/h; the loss is the mean over all cells, 0 to 1. The
 * paper's trees are balanced; in an unbalanced one a node's level is the lowest at which it stands, and the root costs
 * 1. A column without a hierarchy has two levels, the value and everything above it: there the measure counts the
 * generalized cells. Leaves that are no node (cut points, narrowed labels) cost what the lowest node above them costs.
 * Monotone, uniform in a class. */
#include "measure/measure.h"

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    const kn_domain *domain = tuples->domains[q];
    if (domain->kind != KN_DOMAIN_TREE) return cell->first != cell->last;
    const kn_tree *tree = domain->tree;
    uint32_t node = cell->id < tree->n_nodes ? cell->id : kn_tree_join(tree, cell->first, cell->last);
    uint32_t height = tree->level[tree->root];
    return height > 0 ? (double)tree->level[node] / height : 0;
}

static double price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows)
{
    return n_values > 1;
}

const kn_measure kn_measure_tree_measure = {
    .name = "tree",
    .summary = "level in the hierarchy over its height, mean over cells",
    .citation = "Aggarwal et al., Approximation algorithms for k-anonymity, 2005, section 2",
    .monotone = true,
    .per_cell = true,
    .uniform = true,
    .sub_additive = true,
    .price_cell = price_cell,
    .price_counts = price_counts,
};
