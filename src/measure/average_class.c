/* Average class size: rows of the table over number of classes.
 *
 * LeFevre, DeWitt, Ramakrishnan 2006 (there divided by k). Suppressed rows count among the rows and are no class, so
 * suppressing never lowers it; a release without any class is one class of everything. A search sees -1 for each
 * class: the more classes, the smaller the average. Monotone. */
#include "measure/measure.h"

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    return suppressed ? 0 : -1;
}

static double finish(const void *state, const kn_release *release, double sum)
{
    return (double)release->tuples->n_rows / (sum < 0 ? -sum : 1.0);
}

const kn_measure kn_measure_average_class = {
    .name = "average-class",
    .summary = "rows over number of classes",
    .citation = "LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, 2006",
    .monotone = true,
    .uniform = true,
    .price_class = price_class,
    .by_size = (const double[]){-1, 0},
    .finish = finish,
};
