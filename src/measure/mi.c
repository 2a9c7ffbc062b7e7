/* MI: the mutual information between original and released columns that is lost.
 *
 * [SC] (10): the mean over cells of -log Pr(X = value | X in cell), which is [GT]'s non-uniform entropy per cell under
 * the name that the later paper gives it. Monotone ([SC] Proposition 3), not uniform in a class. */
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

const kn_measure kn_measure_mi = {
    .name = "mi",
    .summary = "mutual information of original and release that is lost, bits per cell",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (10)",
    .monotone = true,
    .per_cell = true,
    .price_cell = price_cell,
    .price_counts = price_counts,
    .value_discount = value_discount,
};
