/* Average entropy diversity: how uncertain the sensitive value is in a class, mean over classes.
 *
 * [SC] 8.4 and Table 3: the entropy, in bits, of the distribution that a class induces on the sensitive column. Low
 * values help whoever learns from the release, and harm privacy. The suppressed rows count as one class in which the
 * value is as uncertain as in the whole table. Not monotone: merging two diverse classes gives the others more weight.
 */
#include "measure/class_column.h"

#include <math.h>

enum { MOST_LOGS = 1 << 12 };

typedef struct state {
    uint32_t column;
    double table_entropy;
    uint32_t n_logs;
    double *logs, *n_log_n; /* of small numbers */
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self == NULL) return;
    kn_free(self->logs);
    kn_free(self->n_log_n);
    kn_free(self);
}

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *new_state = NULL;
    *out = NULL;
    KN_NEW(new_state, 1);
    *out = new_state;
    KN_TRY(kn_class_column(&new_state->column, tuples, args, err));
    new_state->table_entropy = kn_sensitive_entropy(&tuples->sensitive[new_state->column]);
    new_state->n_logs = tuples->n_rows < MOST_LOGS ? (uint32_t)tuples->n_rows + 1 : MOST_LOGS;
    KN_NEW(new_state->logs, new_state->n_logs);
    KN_NEW(new_state->n_log_n, new_state->n_logs);
    for (uint32_t n = 2; n < new_state->n_logs; n++) {
        new_state->logs[n] = log2(n);
        new_state->n_log_n[n] = n * log2(n);
    }
done:
    return status;
}

static double price_class(const void *opaque, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    const state *self = opaque;
    return suppressed ? self->table_entropy : kn_histogram_entropy(&counts->sensitive[self->column]);
}

static inline double n_log_n_of(const state *self, uint32_t n)
{
    return n < self->n_logs ? self->n_log_n[n] : n * log2(n);
}

/* What kn_histogram_entropy says, to the last bit. */
static inline __attribute__((always_inline)) void entropies(double *prices, const state *self,
                                                            const kn_value_lanes *classes)
{
    for (uint32_t rest = classes->ask; rest != 0; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest), rows = classes->n_rows[i];
        double n_log_n = 0;
        for (uint32_t v = 0; v < classes->n_values; v++) n_log_n += n_log_n_of(self, kn_value_count(classes, i, v));
        double entropy = (rows < self->n_logs ? self->logs[rows] : log2(rows)) - n_log_n / rows;
        prices[i] = entropy > 0 ? entropy : 0;
    }
}

static void price_values(double *prices, const void *opaque, const kn_value_lanes *classes)
{
    kn_value_lanes narrow = *classes;
    narrow.count_bytes = 2; /* mostly: a loop of its own */
    if (classes->count_bytes == 2) entropies(prices, opaque, &narrow);
    else entropies(prices, opaque, classes);
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
    .discard = discard,
    .price_class = price_class,
    .price_values = price_values,
    .finish = finish,
};
