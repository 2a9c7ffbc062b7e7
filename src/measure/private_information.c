/* Joint counts of quasi-identifiers with a sensitive column, and the uncertainty they leave. */
#include "measure/private_information.h"

#include "classes/column_cells.h"

#include <math.h>

enum { MAX_DENSE = 1 << 22, MAX_LOGS = 1 << 16 };

/* --- Building -------------------------------------------------------------------------------------------------- */

static uint32_t row_value(const kn_sensitive *sensitive, uint32_t row)
{
    return kn_column_value(sensitive->column, kn_column_code(sensitive->column, row));
}

static uint32_t row_code(const kn_domain *domain, uint32_t row)
{
    return domain->code_of_spelling[kn_column_code(domain->column, row)];
}

static bool is_dense(const kn_tuples *tuples, const kn_sensitive *sensitive, uint32_t q)
{
    return ((size_t)tuples->domains[q]->n_codes + 1) * sensitive->n_values <= MAX_DENSE;
}

/* The rows from `row` on that have these sensitive values; a constant width of codes makes it fast. */
static inline __attribute__((always_inline)) void count_rows(uint64_t *dense, const kn_domain *domain, uint32_t row,
                                                             const uint32_t *values, uint32_t n, size_t n_values,
                                                             uint32_t code_bytes)
{
    kn_column column = {.codes = domain->column->codes, .code_bytes = (uint8_t)code_bytes};
    const uint64_t *counts = domain->column->counts;
    for (uint32_t i = 0; i < n; i++)
        dense[(domain->code_of_spelling[kn_column_code(&column, row + (size_t)i)] + (size_t)1) * n_values +
              values[i]] += counts != NULL ? counts[row + (size_t)i] : 1;
}

/* From the columns: they are read in order, and the sensitive one only once. */
static kn_status build_dense(kn_joint_counts *joints, const kn_tuples *tuples, const kn_sensitive *sensitive,
                             kn_error *err)
{
    kn_status status = KN_OK;
    enum { AT_A_TIME = 1 << 12 };
    const uint32_t n_values = sensitive->n_values;
    uint32_t *values = NULL;
    KN_NEW_RAW(values, AT_A_TIME);
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (is_dense(tuples, sensitive, q))
            KN_NEW(joints[q].dense, (tuples->domains[q]->n_codes + (size_t)1) * n_values);
    for (uint32_t row = 0, n; row < tuples->n_records; row += n) {
        n = tuples->n_records - row < AT_A_TIME ? tuples->n_records - row : AT_A_TIME;
        for (uint32_t i = 0; i < n; i++) values[i] = row_value(sensitive, row + i);
        for (uint32_t q = 0; q < tuples->n_qis; q++) {
            const kn_domain *domain = tuples->domains[q];
            uint64_t *dense = joints[q].dense;
            if (dense == NULL) continue;
            switch (domain->column->code_bytes) {
            case 1: count_rows(dense, domain, row, values, n, n_values, 1); break;
            case 2: count_rows(dense, domain, row, values, n, n_values, 2); break;
            default: count_rows(dense, domain, row, values, n, n_values, 4); break;
            }
        }
    }
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        size_t n = (tuples->domains[q]->n_codes + (size_t)1) * n_values;
        for (size_t i = n_values; joints[q].dense != NULL && i < n; i++)
            joints[q].dense[i] += joints[q].dense[i - n_values];
    }
done:
    kn_free(values);
    return status;
}

/* *order lists the rows by ascending code. */
static kn_status rows_by_code(uint32_t **order, const kn_tuples *tuples, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = tuples->domains[q];
    uint32_t *next = NULL, n_codes = domain->n_codes;
    KN_NEW(next, (size_t)n_codes + 1);
    KN_NEW_RAW(*order, tuples->n_records);
    for (uint32_t row = 0; row < tuples->n_records; row++) next[row_code(domain, row) + 1]++;
    for (uint32_t code = 0; code < n_codes; code++) next[code + 1] += next[code];
    for (uint32_t row = 0; row < tuples->n_records; row++) (*order)[next[row_code(domain, row)]++] = row;
done:
    kn_free(next);
    return status;
}

static kn_status build_sparse(kn_joint_counts *joint, const kn_tuples *tuples, const kn_sensitive *sensitive,
                              uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    KN_TRY(rows_by_code(&order, tuples, q, err));
    KN_NEW(joint->start, (size_t)sensitive->n_values + 1);
    KN_NEW(joint->end, sensitive->n_values);
    KN_NEW(joint->codes, tuples->n_records);
    KN_NEW(joint->before, tuples->n_records);
    for (uint32_t row = 0; row < tuples->n_records; row++) joint->start[row_value(sensitive, row) + 1]++;
    for (uint32_t value = 0; value < sensitive->n_values; value++) {
        joint->end[value] = joint->start[value];
        joint->start[value + 1] += joint->start[value];
    }
    for (uint32_t i = 0; i < tuples->n_records; i++) {
        uint32_t code = row_code(tuples->domains[q], order[i]);
        uint32_t value = row_value(sensitive, order[i]), start = joint->start[value], *end = &joint->end[value];
        if (*end == start || joint->codes[*end - 1] != code) {
            joint->codes[*end] = code;
            joint->before[*end] = *end > start ? joint->before[*end - 1] : 0;
            ++*end;
        }
        joint->before[*end - 1] += kn_tuples_count(tuples, order[i]);
    }
done:
    kn_free(order);
    return status;
}

kn_status kn_private_information_new(kn_private_information **out, const kn_tuples *tuples, const kn_args *args,
                                     kn_error *err)
{
    kn_status status = KN_OK;
    kn_private_information *information = NULL;
    *out = NULL;
    KN_NEW(information, 1);
    KN_TRY(kn_class_column(&information->column, tuples, args, err));
    const kn_sensitive *sensitive = &tuples->sensitive[information->column];
    information->n_qis = tuples->n_qis;
    information->n_values = sensitive->n_values;
    information->table_entropy = kn_sensitive_entropy(sensitive);
    information->n_logs = tuples->n_rows < MAX_LOGS ? (uint32_t)tuples->n_rows + 1 : MAX_LOGS;
    KN_NEW(information->logs, information->n_logs);
    for (uint32_t i = 1; i < information->n_logs; i++) information->logs[i] = log2(i);
    KN_NEW(information->joint, tuples->n_qis);
    KN_TRY(build_dense(information->joint, tuples, sensitive, err));
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (!is_dense(tuples, sensitive, q)) KN_TRY(build_sparse(&information->joint[q], tuples, sensitive, q, err));
    *out = information;
    information = NULL;
done:
    kn_private_information_free(information);
    return status;
}

void kn_private_information_free(kn_private_information *information)
{
    if (information == NULL) return;
    for (uint32_t q = 0; information->joint != NULL && q < information->n_qis; q++) {
        kn_joint_counts *joint = &information->joint[q];
        kn_free(joint->dense);
        kn_free(joint->start);
        kn_free(joint->end);
        kn_free(joint->codes);
        kn_free(joint->before);
    }
    kn_free(information->joint);
    kn_free(information->logs);
    kn_free(information);
}

kn_status kn_private_information_prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    return kn_private_information_new((kn_private_information **)out, tuples, args, err);
}

void kn_private_information_discard(void *state) { kn_private_information_free(state); }

/* --- Use ------------------------------------------------------------------------------------------------------- */

/* Rows with the sensitive value and a code below `code`. */
static uint64_t rows_below(const kn_joint_counts *joint, uint32_t n_values, uint32_t value, uint32_t code)
{
    if (joint->dense != NULL) return joint->dense[(size_t)code * n_values + value];
    uint32_t low = joint->start[value], high = joint->end[value];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (joint->codes[middle] < code) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > joint->start[value] ? joint->before[low - 1] : 0;
}

static uint64_t rows_inside(const kn_private_information *information, const kn_domain *domain, const kn_set_pool *sets,
                            uint32_t q, const kn_cell *cell, uint32_t value)
{
    const kn_joint_counts *joint = &information->joint[q];
    uint32_t n_values = information->n_values;
    uint64_t rows = 0;
    uint32_t n_codes;
    const uint32_t *codes = kn_cell_members(cell, domain, sets, &n_codes);
    if (codes == NULL)
        return rows_below(joint, n_values, value, cell->last + 1) - rows_below(joint, n_values, value, cell->first);
    for (uint32_t i = 0; i < n_codes; i++)
        rows += rows_below(joint, n_values, value, codes[i] + 1) - rows_below(joint, n_values, value, codes[i]);
    return rows;
}

static double log_of(const kn_private_information *information, uint64_t n)
{
    return n < information->n_logs ? information->logs[n] : log2((double)n);
}

double kn_private_information_cell(const kn_private_information *information, const kn_tuples *tuples,
                                   const kn_set_pool *sets, uint32_t q, const kn_cell *cell,
                                   const kn_histogram *histogram)
{
    const kn_domain *domain = tuples->domains[q];
    double log_cell = log_of(information, kn_cell_seen_rows(cell, domain, sets)), sum = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        const uint64_t rows = rows_inside(information, domain, sets, q, cell, histogram->values[i]);
        sum += (double)histogram->counts[i] * (log_cell - log_of(information, rows));
    }
    return sum;
}

double kn_private_information_value(const kn_private_information *information, const kn_tuples *tuples,
                                    const kn_set_pool *sets, uint32_t q, const kn_cell *cell, uint32_t value)
{
    const kn_domain *domain = tuples->domains[q];
    const uint64_t rows = rows_inside(information, domain, sets, q, cell, value);
    return rows > 0 ? log_of(information, kn_cell_seen_rows(cell, domain, sets)) - log_of(information, rows) : 0;
}

double kn_private_information_class(const kn_private_information *information, const kn_tuples *tuples,
                                    const kn_class_counts *counts, const kn_cell *cells, const kn_set_pool *sets)
{
    double sum = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        sum += tuples->domains[q]->weight * kn_private_information_cell(information, tuples, sets, q, &cells[q],
                                                                        &counts->sensitive[information->column]);
    return sum;
}

typedef struct column_jobs {
    double *columns;
    const kn_private_information *information;
    const kn_release *release;
} column_jobs;

static kn_status price_column(void *context, size_t q, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const column_jobs *jobs = context;
    const kn_release *release = jobs->release;
    const kn_tuples *tuples = release->tuples;
    const kn_column_cells *column;
    kn_column_cells room;
    double sum = 0;
    KN_TRY(kn_column_get(&column, &room, release, (uint32_t)q, err));
    const kn_histograms *all = &column->histograms[jobs->information->column];
    for (uint32_t i = 0; i < column->n; i++) {
        kn_histogram histogram = kn_histogram_of(all, i);
        sum += kn_private_information_cell(jobs->information, tuples, release->sets, (uint32_t)q, &column->cells[i],
                                           &histogram);
    }
    jobs->columns[q] = tuples->n_rows > 0 ? jobs->information->table_entropy - sum / (double)tuples->n_rows : 0;
done:
    kn_column_clear(&room);
    return status;
}

kn_status kn_private_information_columns(double *columns, const kn_private_information *information,
                                         const kn_release *release, kn_pool *pool, kn_error *err)
{
    column_jobs jobs = {columns, information, release};
    return kn_pool_run(pool, release->tuples->n_qis, price_column, &jobs, err);
}

kn_status kn_private_information_price(
    double *loss, double (*price_columns)(const kn_tuples *tuples, double table_entropy, const double *columns),
    const kn_private_information *information, const kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    double *columns = NULL;
    KN_NEW(columns, release->tuples->n_qis);
    KN_TRY(kn_private_information_columns(columns, information, release, pool, err));
    *loss = price_columns(release->tuples, information->table_entropy, columns);
done:
    kn_free(columns);
    return status;
}
