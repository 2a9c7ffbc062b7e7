/* PMI in its max form: what the most telling released column says about the sensitive one.
 *
 * [SC] (15): the utility is the largest I(Y; released column); the loss reported is H(Y) less that. With column weights
 * I counts times weight over the largest weight. Only a whole release can be priced; not monotone. */
#include "measure/private_information.h"

#include <math.h>

static double price_columns(const kn_tuples *tuples, double table_entropy, const double *columns)
{
    double best = -INFINITY, largest_weight = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        best = fmax(best, tuples->domains[q]->weight * columns[q]);
        largest_weight = fmax(largest_weight, tuples->domains[q]->weight);
    }
    return largest_weight > 0 ? table_entropy - best / largest_weight : 0;
}

static kn_status price_release(double *loss, const void *state, const kn_release *release, bool brief, kn_pool *pool,
                               kn_error *err)
{
    return kn_private_information_price(loss, price_columns, state, release, pool, err);
}

static const kn_param params[] = {KN_CLASS_COLUMN_PARAM, KN_CLASS_JOINT_PARAM};

const kn_measure kn_measure_pmi_max = {
    .name = "pmi-max",
    .summary = "information about the sensitive column that the best released column lost, bits",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, (15)",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_MEASURE_NEEDS_CLASS_COLUMN,
    .prepare = kn_private_information_prepare,
    .discard = kn_private_information_discard,
    .price_columns = price_columns,
    .price_release = price_release,
};
