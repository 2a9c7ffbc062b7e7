/* The monotone entropy measure: the entropy of a cell times the share of rows that it covers.
 *
 * [GT] (5): a cell costs Pr(cell) * H(X | X in cell); reported per cell, in bits. Monotone ([GT] Lemma 4.10), uniform
 * in a class; equal to the entropy measure where only suppression is allowed. */
#include "measure/information.h"

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    const double n_rows = (double)kn_domain_all_rows(tuples->domains[q]);
    if (n_rows == 0) return 0;
    double share = (double)kn_cell_rows(cell, tuples->domains[q], sets) / n_rows;
    return share * kn_information_entropy(state, tuples, sets, q, cell);
}

static double price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows)
{
    const double all = (double)kn_domain_all_rows(tuples->domains[q]);
    if (all == 0) return 0;
    return (double)n_rows / all * kn_information_entropy_of(n_rows, rows_log_rows);
}

const kn_measure kn_measure_monotone_entropy = {
    .name = "monotone-entropy",
    .summary = "entropy of the cell times the share of rows it covers, bits per cell",
    .citation = "Gionis, Tassa, k-anonymization with minimal loss of information, 2009, (5)",
    .monotone = true,
    .per_cell = true,
    .uniform = true,
    .prepare = kn_information_prepare,
    .discard = kn_information_discard,
    .price_cell = price_cell,
    .price_counts = price_counts,
};
