/* AM, the ambiguity metric: how many tuples a released row could stand for, mean over rows.
 *
 * [SC] (4), after Nergiz and Clifton 2007: the product over the columns of the cell's number of values. A suppressed
 * row could be anything. Monotone, uniform in a class. */
#include "measure/measure.h"

static double price_row(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                        const kn_cell *cell, uint32_t value)
{
    return kn_cell_size(cell, tuples->domains[q], sets);
}

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    double product = 1;
    for (uint32_t q = 0; q < tuples->n_qis; q++) product *= kn_cell_size(&cells[q], tuples->domains[q], sets);
    return product * (double)counts->n_rows;
}

static double finish(const void *state, const kn_release *release, double sum)
{
    return release->tuples->n_rows > 0 ? sum / (double)release->tuples->n_rows : 0;
}

const kn_measure kn_measure_am = {
    .name = "am",
    .summary = "tuples that a released row could stand for, mean over rows",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (4)",
    .monotone = true,
    .uniform = true,
    .price_class = price_class,
    .price_row = price_row,
    .product = true,
    .finish = finish,
};
