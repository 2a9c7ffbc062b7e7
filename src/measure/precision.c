/* Precision: 1 - the tree measure. Reported, higher is better; to search for it, minimize `tree`.
 *
 * Sweeney 2002: 1 - the mean over cells of level / height. */
#include "measure/measure.h"

extern const kn_measure kn_measure_tree_measure;

static kn_status prepare(void **state, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_objective *tree;
    kn_status status = kn_objective_new(&tree, kn_measure_tree_measure.name, tuples, err);
    *state = tree;
    return status;
}

static void discard(void *state) { kn_objective_free(state); }

static kn_status price_release(double *loss, const void *state, const kn_release *release, bool brief, kn_pool *pool,
                               kn_error *err)
{
    kn_status status = kn_objective_loss(loss, state, release, err);
    *loss = 1 - *loss;
    return status;
}

const kn_measure kn_measure_precision = {
    .name = "precision",
    .summary = "1 - tree: how much of the hierarchies' height is kept",
    .citation = "Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, 2002",
    .monotone = true,
    .uniform = true,
    .higher_is_better = true,
    .prepare = prepare,
    .discard = discard,
    .price_release = price_release,
};
