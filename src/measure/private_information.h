/* What the private mutual information measures share: how uncertain a row's sensitive value is, given one released
 * cell of the row. Logs are base 2; probabilities are those of the original table ([SC] 5).
 *
 * Needs the joint counts of each QI with the sensitive column. They are prefix sums over the codes: a dense table
 * where that is small, otherwise per sensitive value the list of codes it occurs with. */
#ifndef KN_MEASURE_PRIVATE_INFORMATION_H
#define KN_MEASURE_PRIVATE_INFORMATION_H

#include "measure/class_column.h"

typedef struct kn_joint_counts {
    uint64_t *dense; /* [code * n_values + value]: rows with the value and a smaller code; or NULL */
    uint32_t *start; /* sparse: the entries of a value are start[value] .. end[value]-1 */
    uint32_t *end;
    uint32_t *codes;  /* ascending */
    uint64_t *before; /* [place]: rows with the value up to and including that code */
} kn_joint_counts;

typedef struct kn_private_information {
    uint32_t column, n_values, n_qis;
    double table_entropy; /* H(Y) */
    uint32_t n_logs;
    double *logs; /* log of the small numbers */
    kn_joint_counts *joint;
} kn_private_information;

kn_status kn_private_information_new(kn_private_information **out, const kn_tuples *tuples, const kn_args *args,
                                     kn_error *err);
void kn_private_information_free(kn_private_information *information);
/* The same, as a measure's prepare and discard. */
kn_status kn_private_information_prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err);
void kn_private_information_discard(void *state);
/* Sum over the rows of a class of -log Pr(Y = its value | X_q in cell). */
double kn_private_information_cell(const kn_private_information *information, const kn_tuples *tuples,
                                   const kn_set_pool *sets, uint32_t q, const kn_cell *cell,
                                   const kn_histogram *histogram);
/* -log Pr(Y = value | X_q in cell): what one row of it adds. */
double kn_private_information_value(const kn_private_information *information, const kn_tuples *tuples,
                                    const kn_set_pool *sets, uint32_t q, const kn_cell *cell, uint32_t value);
/* kn_private_information_cell summed over the columns with their weights: what a class loses of (14), before dividing
 * by rows * weights. */
double kn_private_information_class(const kn_private_information *information, const kn_tuples *tuples,
                                    const kn_class_counts *counts, const kn_cell *cells, const kn_set_pool *sets);
/* I(Y; released column q), [SC] (11), for every q. */
kn_status kn_private_information_columns(double *columns, const kn_private_information *information,
                                         const kn_release *release, kn_pool *pool, kn_error *err);
/* A measure's loss from these. */
kn_status kn_private_information_price(
    double *loss, double (*price_columns)(const kn_tuples *tuples, double table_entropy, const double *columns),
    const kn_private_information *information, const kn_release *release, kn_pool *pool, kn_error *err);

#endif
