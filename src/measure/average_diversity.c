/* Average entropy diversity: how uncertain the sensitive value is in a class, mean over classes.
 *
 * [SC] 8.4 and Table 3: the entropy, in bits, of the distribution that a class induces on the sensitive column. Low
 * values help whoever learns from the release, and harm privacy. The suppressed rows count as one class in which the
 * value is as uncertain as in the whole table. Not monotone: merging two diverse classes gives the others more weight.
 */
#include "measure/class_column.h"

typedef struct state {
    uint32_t column;
    double table_entropy;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *new_state = NULL;
    *out = NULL;
    KN_NEW(new_state, 1);
    *out = new_state;
    KN_TRY(kn_class_column(&new_state->column, tuples, args, err));
    new_state->table_entropy = kn_sensitive_entropy(&tuples->sensitive[new_state->column]);
done:
    return status;
}

static double price_class(const void *opaque, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    const state *self = opaque;
    return suppressed ? self->table_entropy : kn_histogram_entropy(&counts->sensitive[self->column]);
}

static double finish(const void *opaque, const kn_release *release, double sum)
{
    uint32_t n_classes = release->n_classes + (release->n_suppressed > 0);
    return n_classes > 0 ? sum / n_classes : 0;
}

static const kn_param params[] = {KN_CLASS_COLUMN_PARAM};

const kn_measure kn_measure_average_diversity = {
    .name = "average-diversity",
    .summary = "entropy of the sensitive column within a class, bits, mean over classes",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, section 8.4",
    .params = params,
    .n_params = 1,
    .needs = KN_MEASURE_NEEDS_CLASS_COLUMN,
    .uniform = true,
    .prepare = prepare,
    .discard = kn_free,
    .price_class = price_class,
    .finish = finish,
};
