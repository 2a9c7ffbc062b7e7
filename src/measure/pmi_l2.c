/* PMI in its l2 form: between the mean over columns (pmi) and the best column (pmi-max).
 *
 * [SC] (16): the utility is (1/r) * sqrt(sum over columns of I(Y; released column)^2). Its greatest value is H(Y) /
 * sqrt(r); the loss reported is what is missing to that, so that the three forms agree for one column. Column weights
 * multiply I. Only a whole release can be priced; not monotone. */
#include "measure/private_information.h"

#include <math.h>

static double price_columns(const kn_tuples *tuples, double table_entropy, const double *columns)
{
    double square = 0, weight_square = 0, weights = kn_tuples_weight(tuples);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        double weight = tuples->domains[q]->weight;
        square += weight * weight * columns[q] * columns[q];
        weight_square += weight * weight;
    }
    return weights > 0 ? (table_entropy * sqrt(weight_square) - sqrt(square)) / weights : 0;
}

static kn_status price_release(double *loss, const void *state, const kn_release *release, bool brief, kn_pool *pool,
                               kn_error *err)
{
    return kn_private_information_price(loss, price_columns, state, release, pool, err);
}

static const kn_param params[] = {KN_CLASS_COLUMN_PARAM, KN_CLASS_JOINT_PARAM};

const kn_measure kn_measure_pmi_l2 = {
    .name = "pmi-l2",
    .summary = "information about the sensitive column that is lost, bits, l2 norm over columns",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (16)",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_MEASURE_NEEDS_CLASS_COLUMN,
    .prepare = kn_private_information_prepare,
    .discard = kn_private_information_discard,
    .price_columns = price_columns,
    .price_release = price_release,
};
