/* PMI: the information about the sensitive column that the released columns no longer give.
 *
 * [SC] (14): the mean over cells of -log Pr(Y = the row's sensitive value | X in cell), that is H(Y) less the mean of
 * I(Y; released column): the l1 form (12) of the utility. [SC] 5.1 prints it relative to the original table. With
 * column weights, a weighted mean. Several private columns (footnote 1: "straightforward"): joint=yes, Y is the
 * combination of their values. Monotone under global recoding only ([SC] 5.1 has the counterexample), not uniform
 * in a class. A class costs O(columns * its distinct sensitive values). */
#include "measure/private_information.h"

static double price_class(const void *state, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    return kn_private_information_class(state, tuples, counts, cells, sets);
}

static double price_row(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                        const kn_cell *cell, uint32_t value)
{
    return tuples->domains[q]->weight * kn_private_information_value(state, tuples, sets, q, cell, value);
}

static double finish(const void *state, const kn_release *release, double sum)
{
    double cells = kn_tuples_weight(release->tuples) * (double)release->tuples->n_rows;
    return cells > 0 ? sum / cells : 0;
}

static double price_columns(const kn_tuples *tuples, double table_entropy, const double *columns)
{
    double lost = 0, weights = kn_tuples_weight(tuples);
    for (uint32_t q = 0; q < tuples->n_qis; q++) lost += tuples->domains[q]->weight * (table_entropy - columns[q]);
    return weights > 0 ? lost / weights : 0;
}

static const kn_param params[] = {KN_CLASS_COLUMN_PARAM, KN_CLASS_JOINT_PARAM};

const kn_measure kn_measure_pmi = {
    .name = "pmi",
    .summary = "information about the sensitive column that is lost, bits, mean over columns",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (14)",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_MEASURE_NEEDS_CLASS_COLUMN,
    .prepare = kn_private_information_prepare,
    .discard = kn_private_information_discard,
    .price_class = price_class,
    .price_row = price_row,
    .finish = finish,
    .price_columns = price_columns,
};
