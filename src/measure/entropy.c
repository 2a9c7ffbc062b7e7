/* The entropy measure: how uncertain the original value is, given the released cell.
 *
 * [GT] (4): a cell costs H(X | X in cell), with the column's own distribution; reported per cell, in bits. Not
 * monotone: {3,4} with equal shares costs 1 bit, the whole of a domain that is nearly always 1 costs almost none ([GT]
 * Example 4.7); rectifying the hierarchy ([GT] 4.2.2) makes it monotone there. Uniform in a class. */
#include "measure/information.h"

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    return kn_information_entropy(state, tuples, sets, q, cell);
}

static double price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows)
{
    return kn_information_entropy_of(n_rows, rows_log_rows);
}

extern const kn_measure kn_measure_non_uniform_entropy;

const kn_measure kn_measure_entropy = {
    .name = "entropy",
    .summary = "uncertainty of the value in its cell, bits per cell",
    .citation = "Gionis, Tassa, k-anonymization with minimal loss of information, 2009, (4)",
    .same_without_suppression = &kn_measure_non_uniform_entropy, /* [GT] Lemma 4.13 */
    .per_cell = true,
    .uniform = true,
    .prepare = kn_information_prepare,
    .discard = kn_information_discard,
    .price_cell = price_cell,
    .price_counts = price_counts,
};
