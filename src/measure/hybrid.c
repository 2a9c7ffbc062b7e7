/* The hybrid measure: LM for numbers and dates, the tree measure for categories.
 *
 * [SC] 3, after Byun et al. 2007 and Ghinita et al. 2009. Which one a column gets depends on its type, not on whether
 * it has a hierarchy. Mean over cells, 0 to 1. Monotone, uniform in a class. */
#include "measure/measure.h"

extern const kn_measure kn_measure_lm, kn_measure_tree_measure;

static double price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                         const kn_cell *cell)
{
    const kn_measure *part =
        tuples->domains[q]->column->type == KN_TYPE_TEXT ? &kn_measure_tree_measure : &kn_measure_lm;
    return part->price_cell(NULL, tuples, sets, q, cell);
}

/* Only text is released as sets. */
static double price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values, uint64_t n_rows,
                           double rows_log_rows)
{
    return n_values > 1;
}

const kn_measure kn_measure_hybrid = {
    .name = "hybrid",
    .summary = "LM for numbers and dates, tree for categories, mean over cells",
    .citation = "Byun et al., Efficient k-anonymization using clustering techniques, 2007",
    .monotone = true,
    .per_cell = true,
    .uniform = true,
    .sub_additive = true,
    .price_cell = price_cell,
    .price_counts = price_counts,
};
