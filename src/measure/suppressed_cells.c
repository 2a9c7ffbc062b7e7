/* How many cells say nothing: released as the root of their hierarchy or as *, suppressed rows included.
 *
 * Meyerson and Williams 2004 count these where only suppression is allowed. A plain count: weights do not enter. */
#include "measure/measure.h"

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    const kn_domain *domain = tuples->domains[q];
    if (domain->kind == KN_DOMAIN_TREE && cell->id != KN_NONE)
        return cell->id == domain->tree->root && domain->tree->n_nodes > 1;
    return domain->n_codes > 1 && kn_cell_size(cell, domain, sets) == domain->n_codes;
}

const kn_measure kn_measure_suppressed_cells = {
    .name = "suppressed-cells",
    .summary = "cells released as the whole domain",
    .citation = "Meyerson, Williams, On the complexity of optimal k-anonymity, 2004",
    .monotone = true,
    .uniform = true,
    .price_cell = price_cell,
};
