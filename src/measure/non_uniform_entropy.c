/* The non-uniform entropy measure: hiding a rare value costs more than hiding a frequent one.
 *
 * [GT] (6): a row with value a in cell B costs -log Pr(a | B) = log rows(B) - log rows(a); reported per cell, in bits.
 * Monotone ([GT] Lemma 4.12), not uniform in a class. The second term does not depend on the release, so a search may
 * minimize the sum of the first alone. Under global recoding it equals the entropy measure ([GT] Lemma 4.13). */
#include "measure/information.h"

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    return kn_information_log_rows(tuples->domains[q], sets, cell);
}

static double value_discount(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t code)
{
    return kn_information_log_value(tuples->domains[q], code);
}

static double price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows)
{
    return kn_information_log_of(n_rows);
}

const kn_measure kn_measure_non_uniform_entropy = {
    .name = "non-uniform-entropy",
    .summary = "-log of the value's share of its cell, bits per cell",
    .citation = "Gionis, Tassa, k-anonymization with minimal loss of information, 2009, (6)",
    .monotone = true,
    .per_cell = true,
    .price_cell = price_cell,
    .price_counts = price_counts,
    .value_discount = value_discount,
};
