/* AM, the ambiguity metric: how many tuples a released row could stand for, mean over rows.
 *
 * [SC] (4), after Nergiz and Clifton 2007: the product over the columns of the cell's number of values. A suppressed
 * row could be anything. Monotone, uniform in a class. */
#include "measure/measure.h"

static double cell_factor(const kn_domain *domain, const kn_cell *cell, const kn_set_pool *sets)
{
    return kn_cell_size(cell, domain, sets);
}

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    double product = 1;
    for (uint32_t q = 0; q < tuples->n_qis; q++) product *= cell_factor(tuples->domains[q], &cells[q], sets);
    return product * (double)counts->n_rows;
}

static double finish(const void *state, const kn_release *release, double sum)
{
    return release->tuples->n_rows > 0 ? sum / release->tuples->n_rows : 0;
}

const kn_measure kn_measure_am = {
    .name = "am",
    .summary = "tuples that a released row could stand for, mean over rows",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (4)",
    .monotone = true,
    .uniform = true,
    .price_class = price_class,
    .cell_factor = cell_factor,
    .finish = finish,
};
