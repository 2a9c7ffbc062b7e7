/* How many rows are suppressed: released with * in every QI, or removed. */
#include "measure/measure.h"

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    return suppressed ? (double)counts->n_rows : 0;
}

const kn_measure kn_measure_suppressed_rows = {
    .name = "suppressed-rows",
    .summary = "rows suppressed or removed",
    .citation = "Samarati, Protecting respondents' identities in microdata release, 2001",
    .monotone = true,
    .uniform = true,
    .price_class = price_class,
    .by_size = (const double[]){0, 0},
    .suppression_bounds = true,
};
