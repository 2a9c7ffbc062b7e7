/* LM, the loss metric: how much of the domain a cell covers.
 *
 * [SC] (3), after Iyengar 2002 and Nergiz and Clifton 2007: a cell that covers b of the a values of its domain costs
 * (b - 1) / (a - 1), a domain of one value nothing; the loss is the mean over all cells, 0 to 1. Monotone, uniform in a
 * class. Cost: O(1) per cell. */
#include "measure/measure.h"

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    const kn_domain *domain = tuples->domains[q];
    if (domain->n_codes <= 1) return 0;
    return (kn_cell_size(cell, domain, sets) - 1.0) / (domain->n_codes - 1.0);
}

static double price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows)
{
    uint32_t n_codes = tuples->domains[q]->n_codes;
    return n_codes <= 1 ? 0 : (n_values - 1.0) / (n_codes - 1.0);
}

const kn_measure kn_measure_lm = {
    .name = "lm",
    .summary = "share of the domain that a cell covers, mean over cells",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (3)",
    .monotone = true,
    .per_cell = true,
    .uniform = true,
    .sub_additive = true,
    .price_cell = price_cell,
    .price_counts = price_counts,
};
