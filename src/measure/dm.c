/* DM, the discernibility metric: every row pays the number of rows it cannot be told from.
 *
 * [BA] 3.3: a class of m rows costs m^2, a suppressed row the n rows of the table. Monotone: merging classes only adds
 * 2ab, and suppressing m rows costs mn >= m^2. */
#include "measure/measure.h"

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    return (double)counts->n_rows * (suppressed ? (double)tuples->n_rows : (double)counts->n_rows);
}

const kn_measure kn_measure_dm = {
    .name = "dm",
    .summary = "sum over classes of rows squared, plus n for a suppressed row",
    .citation = "Bayardo, Agrawal, Data privacy through optimal k-anonymization, 2005, section 3.3",
    .monotone = true,
    .uniform = true,
    .price_class = price_class,
    .by_size = (const double[]){0, 1},
    .suppression_bounds = true,
};
