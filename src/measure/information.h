/* What the entropy measures share: how uncertain a value is, given the cell that was released for it. Logs are base 2.
 *
 * Probabilities are those of the original table's column ([GT] 4.2, [SC] (5)). Built once per table in O(codes); a cell
 * of a tree or a range then costs O(1), a cell of a set O(its values). */
#ifndef KN_MEASURE_INFORMATION_H
#define KN_MEASURE_INFORMATION_H

#include "measure/measure.h"

typedef struct kn_information {
    uint32_t n_qis;
    double **n_log_n_before; /* [q][code]: sum of n log n over the smaller codes, n = rows with the value */
} kn_information;

kn_status kn_information_prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err);
void kn_information_discard(void *information);
/* H(X_q | X_q in cell), 0 where the cell covers no row. */
double kn_information_entropy(const kn_information *information, const kn_tuples *tuples, const kn_set_pool *sets,
                              uint32_t q, const kn_cell *cell);
/* log of the rows of the table whose value lies in the cell, 0 where there are none: -log Pr(value | cell) is this less
 * kn_information_log_value. */
double kn_information_log_rows(const kn_domain *domain, const kn_set_pool *sets, const kn_cell *cell);
double kn_information_log_value(const kn_domain *domain, uint32_t code);
/* The same from counts: rows with one of the values, and the sum of n log n over the values. */
double kn_information_entropy_of(uint64_t n_rows, double n_log_n);

/* What mi and non-uniform-entropy ask of a cell, a value and a set: -log Pr(value | cell) as a kn_measure has it. */
double kn_information_price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                                 const kn_cell *cell);
double kn_information_value_discount(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t code);
double kn_information_price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values,
                                   uint64_t n_rows, double rows_log_rows);

#endif
