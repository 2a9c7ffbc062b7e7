/* Rows to distinct tuples with counts; persons and the sensitive columns' distributions on the way.
 *
 * Cost: kn_group over the rows once, then linear passes. Persons add a sort of the (tuple, person) pairs. Rows whose
 * person is missing count as one person together: they might be, and counting less is safe. */
#include "classes/tuples.h"

#include "classes/group.h"
#include "base/radix_sort.h"

#include <stdlib.h>
#include <string.h>

static kn_status group_rows(kn_tuples *t, kn_pool *pool, kn_ticker *ticker, uint32_t **first_row, kn_error *err)
{
    kn_status status = KN_OK;
    kn_group_column *columns = NULL;
    KN_NEW(columns, t->n_qis);
    for (uint32_t q = 0; q < t->n_qis; q++) {
        const kn_domain *domain = t->domains[q];
        columns[q] = (kn_group_column){domain->column->codes, domain->column->code_bytes, domain->code_of_spelling,
                                       domain->n_codes};
    }
    KN_OWN_RAW(&t->memory, t->row_tuple, t->n_records);
    KN_TRY(kn_group(t->row_tuple, &t->n_tuples, first_row, t->n_records, columns, t->n_qis, pool, ticker, err));
done:
    kn_free(columns);
    return status;
}

typedef struct fill {
    kn_tuples *tuples;
    const uint32_t *first_row;
} fill;

/* The codes of a column; the last job counts rows. */
static kn_status fill_column(void *context, size_t job, unsigned worker, kn_error *err)
{
    const fill *all = context;
    kn_tuples *t = all->tuples;
    if (job == t->n_qis) {
        for (uint32_t row = 0; row < t->n_records; row++) t->rows[t->row_tuple[row]] += kn_tuples_count(t, row);
        return KN_OK;
    }
    const kn_domain *domain = t->domains[job];
    uint32_t *codes = t->codes[job];
    for (uint32_t i = 0; i < t->n_tuples; i++)
        codes[i] = domain->code_of_spelling[kn_column_code(domain->column, all->first_row[i])];
    return KN_OK;
}

static kn_status fill_tuples(kn_tuples *t, const uint32_t *first_row, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    KN_OWN(&t->memory, t->codes, t->n_qis);
    for (uint32_t q = 0; q < t->n_qis; q++) KN_OWN_RAW(&t->memory, t->codes[q], t->n_tuples);
    KN_OWN(&t->memory, t->rows, t->n_tuples);
    KN_TRY(kn_pool_run(pool, (size_t)t->n_qis + 1, fill_column, &(fill){t, first_row}, err));
done:
    return status;
}

static int compare_pairs(const void *a, const void *b)
{
    const kn_person_tuple *x = a, *y = b;
    if (x->person != y->person) return x->person < y->person ? -1 : 1;
    return (x->tuple > y->tuple) - (x->tuple < y->tuple);
}

/* Persons of whom only the number is known, and that they are in one record: they get the numbers after the others'. */
static kn_status add_unnamed(kn_tuples *t, uint64_t next, kn_error *err)
{
    kn_status status = KN_OK;
    KN_OWN(&t->memory, t->row_others, t->n_records);
    for (uint32_t row = 0; row < t->n_records; row++) {
        const uint64_t n = t->table->person_counts[row];
        if (n == 0) continue;
        t->row_person[row] = (uint32_t)next;
        t->row_others[row] = n - 1;
        t->persons[t->row_tuple[row]] += n;
        t->persons_once[t->row_tuple[row]] += n;
        t->n_persons += n;
        next += n;
    }
    t->n_person_numbers = next;
done:
    return status;
}

/* Distinct (person, tuple) pairs, ascending; counts per tuple; the persons that have several. */
static kn_status count_persons(kn_tuples *t, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    kn_person_tuple *pairs = NULL;
    uint32_t n_pairs = 0, n_known = 0;
    KN_NEW_RAW(pairs, t->n_records);
    KN_OWN_RAW(&t->memory, t->row_person, t->n_records);
    KN_OWN(&t->memory, t->persons, t->n_tuples);
    KN_OWN(&t->memory, t->persons_once, t->n_tuples);
    for (uint32_t row = 0; row < t->n_records; row++) {
        t->row_person[row] = kn_column_value(column, kn_column_code(column, row));
        if (t->table->person_counts == NULL || t->table->person_counts[row] == 0)
            pairs[n_known++] = (kn_person_tuple){t->row_person[row], t->row_tuple[row]};
    }
    qsort(pairs, n_known, sizeof *pairs, compare_pairs);
    for (uint32_t i = 0; i < n_known; i++)
        if (i == 0 || compare_pairs(&pairs[i], &pairs[n_pairs - 1]) != 0) pairs[n_pairs++] = pairs[i];
    t->n_persons = 0;
    t->n_person_numbers = column->n_values;
    for (uint32_t i = 0; i < n_pairs; i++) {
        bool first_of_person = i == 0 || pairs[i - 1].person != pairs[i].person;
        bool last_of_person = i + 1 == n_pairs || pairs[i + 1].person != pairs[i].person;
        t->persons[pairs[i].tuple]++;
        t->n_persons += first_of_person;
        t->persons_once[pairs[i].tuple] += first_of_person;
        t->n_repeats += !(first_of_person && last_of_person);
    }
    KN_OWN(&t->memory, t->repeats, t->n_repeats);
    t->n_repeats = 0;
    for (uint32_t i = 0; i < n_pairs; i++) {
        bool alone = (i == 0 || pairs[i - 1].person != pairs[i].person) &&
                     (i + 1 == n_pairs || pairs[i + 1].person != pairs[i].person);
        if (!alone) t->repeats[t->n_repeats++] = pairs[i];
    }
    if (t->table->person_counts != NULL) KN_TRY(add_unnamed(t, column->n_values, err));
done:
    kn_free(pairs);
    return status;
}

static kn_status take_reference(kn_sensitive *sensitive, kn_tuples *t, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = sensitive->column;
    sensitive->reference = sensitive->value_rows;
    sensitive->n_reference = t->n_rows;
    if (column->whole_rows == NULL) return KN_OK;
    KN_OWN(&t->memory, sensitive->reference, column->n_values);
    sensitive->n_reference = 0;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        sensitive->reference[kn_column_value(column, s)] += column->whole_rows[s];
        sensitive->n_reference += column->whole_rows[s];
    }
done:
    return status;
}

static kn_status count_sensitive(kn_tuples *t, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = t->table;
    for (uint32_t c = 0; c < table->n_columns; c++) t->n_sensitive += table->columns[c].role == KN_ROLE_SENSITIVE;
    t->n_table_sensitive = t->n_sensitive;
    KN_OWN(&t->memory, t->sensitive, 2 * (size_t)t->n_sensitive); /* each may be joined to the others */
    uint32_t s = 0;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (column->role != KN_ROLE_SENSITIVE) continue;
        kn_sensitive *sensitive = &t->sensitive[s++];
        sensitive->column = column;
        sensitive->own = KN_NONE;
        sensitive->n_values = column->n_values;
        KN_OWN(&t->memory, sensitive->value_rows, column->n_values);
        for (uint32_t row = 0; row < t->n_records; row++)
            sensitive->value_rows[kn_column_value(column, kn_column_code(column, row))] += kn_column_count(column, row);
        KN_TRY(take_reference(sensitive, t, err));
    }
done:
    return status;
}

kn_status kn_tuples_new(kn_tuples **out, const kn_table *table, kn_domain *const *domains, uint32_t n_qis,
                        kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_tuples *t = NULL;
    uint32_t *first_row = NULL;
    *out = NULL;
    KN_NEW(t, 1);
    t->table = table;
    t->n_qis = n_qis;
    t->n_records = table->n_rows;
    t->n_rows = t->n_persons = kn_table_rows(table);
    KN_OWN(&t->memory, t->domains, n_qis);
    if (n_qis != 0) memcpy(t->domains, domains, n_qis * sizeof *domains);
    KN_TRY(group_rows(t, pool, ticker, &first_row, err));
    KN_TRY(fill_tuples(t, first_row, pool, err));
    t->persons = t->persons_once = t->rows;
    t->n_person_numbers = t->n_persons;
    if (table->person != KN_NONE) KN_TRY(count_persons(t, &table->columns[table->person], err));
    KN_TRY(count_sensitive(t, err));
    *out = t;
    t = NULL;
done:
    kn_free(first_row);
    kn_tuples_free(t);
    return status;
}

void kn_tuples_free(kn_tuples *tuples)
{
    if (tuples == NULL) return;
    for (uint32_t s = 0; tuples->sensitive != NULL && s < tuples->n_sensitive; s++) {
        kn_histograms_clear(&tuples->sensitive[s].by_tuple);
        kn_tree_free(tuples->sensitive[s].tree);
    }
    kn_owner_free(&tuples->memory);
    kn_free(tuples);
}

static kn_status histogram_of_column(void *context, size_t job, unsigned worker, kn_error *err)
{
    const kn_tuples *tuples = context;
    kn_sensitive *sensitive = &tuples->sensitive[job];
    if (sensitive->by_tuple.start != NULL) return KN_OK;
    return kn_histograms_count(&sensitive->by_tuple, sensitive->column, tuples->row_tuple, tuples->n_records,
                               tuples->n_tuples, err);
}

kn_status kn_tuples_histograms(kn_tuples *tuples, kn_pool *pool, kn_error *err)
{
    return kn_pool_run(pool, tuples->n_sensitive, histogram_of_column, tuples, err);
}

/* --- Joined columns -------------------------------------------------------------------------------------------- */

/* (*others)[row]: number of the combination in the sensitive columns other than `own`. */
static kn_status number_others(uint32_t **others, const kn_tuples *t, uint32_t own, kn_error *err)
{
    kn_status status = KN_OK;
    kn_group_column *columns = NULL;
    uint32_t n_columns = 0, n_groups;
    KN_NEW(columns, t->n_table_sensitive);
    KN_NEW_RAW(*others, t->n_records);
    for (uint32_t s = 0; s < t->n_table_sensitive; s++) {
        const kn_column *column = t->sensitive[s].column;
        if (s == own) continue;
        columns[n_columns++] =
            (kn_group_column){column->codes, column->code_bytes, column->spelling_value, column->n_values};
    }
    KN_TRY(kn_group(*others, &n_groups, NULL, t->n_records, columns, n_columns, NULL, NULL, err));
done:
    kn_free(columns);
    return status;
}

/* Numbers the combinations in their order; `keys`, sorted, are of the rows in `rows`. */
static kn_status fill_joined(kn_sensitive *joined, kn_owner *memory, const uint64_t *keys, const uint32_t *rows,
                             uint32_t n_rows, const uint64_t *counts, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = 0, *codes = NULL;
    for (uint32_t i = 0; i < n_rows; i++) n += i == 0 || keys[i] != keys[i - 1];
    KN_OWN(memory, joined->joined, 1);
    KN_OWN_RAW(memory, codes, n_rows);
    joined->column = joined->joined;
    *joined->joined = (kn_column){.role = KN_ROLE_SENSITIVE,
                                  .type = KN_TYPE_TEXT,
                                  .n_spellings = n,
                                  .n_values = n,
                                  .code_bytes = sizeof *codes,
                                  .codes = codes,
                                  .counts = counts};
    KN_OWN(memory, joined->value_rows, n);
    KN_OWN(memory, joined->own_value, n);
    KN_OWN(memory, joined->others, n);
    joined->n_values = n;
    joined->reference = joined->value_rows;
    n = 0;
    for (uint32_t i = 0; i < n_rows; i++) {
        n += i == 0 || keys[i] != keys[i - 1];
        codes[rows[i]] = n - 1;
        joined->value_rows[n - 1] += kn_column_count(joined->column, rows[i]);
        joined->n_reference += kn_column_count(joined->column, rows[i]);
        joined->own_value[n - 1] = (uint32_t)keys[i];
        joined->others[n - 1] = (uint32_t)(keys[i] >> 32);
    }
done:
    return status;
}

kn_status kn_tuples_join(uint32_t *out, kn_tuples *tuples, uint32_t own, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = tuples->sensitive[own].column;
    uint32_t *others = NULL, *rows = NULL;
    uint64_t *keys = NULL;
    for (*out = tuples->n_table_sensitive; *out < tuples->n_sensitive; ++*out)
        if (tuples->sensitive[*out].own == own) return KN_OK;
    KN_TRY(number_others(&others, tuples, own, err));
    KN_NEW_RAW(keys, tuples->n_records);
    KN_NEW_RAW(rows, tuples->n_records);
    for (uint32_t row = 0; row < tuples->n_records; row++) {
        keys[row] = (uint64_t)others[row] << 32 | kn_column_value(column, kn_column_code(column, row));
        rows[row] = row;
    }
    KN_TRY(kn_radix_sort(keys, rows, tuples->n_records, 64, NULL, err));
    tuples->sensitive[tuples->n_sensitive].own = own;
    KN_TRY(fill_joined(&tuples->sensitive[tuples->n_sensitive++], &tuples->memory, keys, rows, tuples->n_records,
                       column->counts, err));
done:
    kn_free(others);
    kn_free(keys);
    kn_free(rows);
    return status;
}

kn_status kn_tuples_rows(uint32_t **start, uint32_t **rows, const kn_tuples *tuples, kn_error *err)
{
    return kn_group_members(start, rows, tuples->row_tuple, tuples->n_records, tuples->n_tuples, err);
}
