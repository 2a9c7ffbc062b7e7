/* Weighted MI: a mixture of MI and PMI.
 *
 * [SC] 8.4: U = w * U_MI + (1 - w) * U_PMI, so the loss is w * (10) + (1 - w) * (14). w=1 is mi, w=0 is pmi. A sum over
 * classes; the part of (10) that no release can change is taken off at the end. Not monotone, not uniform in a class.
 */
#include "measure/information.h"
#include "measure/private_information.h"

extern const kn_measure kn_measure_mi, kn_measure_pmi;

typedef struct state {
    double share; /* of MI */
    double kept;  /* sum over all cells of log rows(value), weighted */
    kn_private_information *information;
} state;

static void discard(void *opaque)
{
    state *self = opaque;
    if (self != NULL) kn_private_information_free(self->information);
    kn_free(self);
}

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *self = NULL;
    *out = NULL;
    KN_NEW(self, 1);
    self->share = kn_args_number(args, "w");
    KN_TRY(kn_private_information_new(&self->information, tuples, args, err));
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        for (uint32_t code = 0; code < domain->n_codes; code++)
            self->kept +=
                domain->weight * (double)kn_domain_seen_rows(domain, code) * kn_information_log_value(domain, code);
    }
    *out = self;
    self = NULL;
done:
    discard(self);
    return status;
}

static double price_class(const void *opaque, const kn_tuples *tuples, const kn_class_counts *counts,
                          const kn_cell *cells, const kn_set_pool *sets, bool suppressed)
{
    const state *self = opaque;
    double mi = 0, pmi = 0;
    if (self->share > 0)
        for (uint32_t q = 0; q < tuples->n_qis; q++)
            mi += tuples->domains[q]->weight * kn_information_log_rows(tuples->domains[q], sets, &cells[q]);
    if (self->share < 1) pmi = kn_private_information_class(self->information, tuples, counts, cells, sets);
    return self->share * mi * (double)counts->n_rows + (1 - self->share) * pmi;
}

static double price_row(const void *opaque, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                        const kn_cell *cell, uint32_t value)
{
    const state *self = opaque;
    double mi = self->share > 0 ? kn_information_log_rows(tuples->domains[q], sets, cell) : 0;
    double pmi = self->share < 1 ? kn_private_information_value(self->information, tuples, sets, q, cell, value) : 0;
    return tuples->domains[q]->weight * (self->share * mi + (1 - self->share) * pmi);
}

static double finish(const void *opaque, const kn_release *release, double sum)
{
    const state *self = opaque;
    double cells = kn_tuples_weight(release->tuples) * (double)release->tuples->n_rows;
    return cells > 0 ? (sum - self->share * self->kept) / cells : 0;
}

static const kn_param params[] = {
    {.name = "w", .type = KN_PARAM_NUMBER, .preset = "0.5", .min = 0, .max = 1, .help = "share of mi; the rest is pmi"},
    KN_CLASS_COLUMN_PARAM,
    KN_CLASS_JOINT_PARAM,
};

const kn_measure kn_measure_weighted_mi = {
    .name = "weighted-mi",
    .summary = "w * mi + (1 - w) * pmi, bits per cell",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, section 8.4",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs = KN_MEASURE_NEEDS_CLASS_COLUMN,
    .prepare = prepare,
    .discard = discard,
    .price_class = price_class,
    .price_row = price_row,
    .finish = finish,
    .mixes = {&kn_measure_mi, &kn_measure_pmi},
};
