/* Entropy of a column's value inside a cell, from prefix sums of n log n. */
#include "measure/information.h"

#include <math.h>

static double log_or_zero(double n) { return n > 0 ? log2(n) : 0; }

kn_status kn_information_prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    kn_information *information = NULL;
    *out = NULL;
    KN_NEW(information, 1);
    information->n_qis = tuples->n_qis;
    KN_NEW(information->n_log_n_before, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        double *before;
        KN_NEW(before, (size_t)domain->n_codes + 1);
        information->n_log_n_before[q] = before;
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            double n = (double)kn_domain_code_rows(domain, code);
            before[code + 1] = before[code] + n * log_or_zero(n);
        }
    }
    *out = information;
    information = NULL;
done:
    kn_information_discard(information);
    return status;
}

void kn_information_discard(void *opaque)
{
    kn_information *information = opaque;
    if (information == NULL) return;
    for (uint32_t q = 0; information->n_log_n_before != NULL && q < information->n_qis; q++)
        kn_free(information->n_log_n_before[q]);
    kn_free(information->n_log_n_before);
    kn_free(information);
}

/* H = log N - (sum of n log n) / N. */
double kn_information_entropy(const kn_information *information, const kn_tuples *tuples, const kn_set_pool *sets,
                              uint32_t q, const kn_cell *cell)
{
    const kn_domain *domain = tuples->domains[q];
    const double *before = information->n_log_n_before[q];
    if (cell->first == cell->last) return 0;
    double rows = (double)kn_cell_rows(cell, domain, sets), n_log_n = 0;
    if (rows == 0) return 0;
    uint32_t n_codes;
    const uint32_t *codes = kn_cell_members(cell, domain, sets, &n_codes);
    if (codes != NULL) {
        for (uint32_t i = 0; i < n_codes; i++) n_log_n += before[codes[i] + 1] - before[codes[i]];
    } else {
        n_log_n = before[cell->last + 1] - before[cell->first];
    }
    double entropy = log2(rows) - n_log_n / rows;
    return entropy > 0 ? entropy : 0;
}

double kn_information_log_rows(const kn_domain *domain, const kn_set_pool *sets, const kn_cell *cell)
{
    return log_or_zero((double)kn_cell_rows(cell, domain, sets));
}

double kn_information_log_value(const kn_domain *domain, uint32_t code)
{
    return log_or_zero((double)kn_domain_code_rows(domain, code));
}

double kn_information_entropy_of(uint64_t n_rows, double n_log_n)
{
    double entropy = n_rows > 0 ? log2((double)n_rows) - n_log_n / (double)n_rows : 0;
    return entropy > 0 ? entropy : 0;
}

double kn_information_price_cell(const void *state, const kn_tuples *tuples, const kn_set_pool *sets, uint32_t q,
                                 const kn_cell *cell)
{
    return kn_information_log_rows(tuples->domains[q], sets, cell);
}

double kn_information_value_discount(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t code)
{
    return kn_information_log_value(tuples->domains[q], code);
}

double kn_information_price_counts(const void *state, const kn_tuples *tuples, uint32_t q, uint32_t n_values,
                                   uint64_t n_rows, double rows_log_rows)
{
    return log_or_zero((double)n_rows);
}
