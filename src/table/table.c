/* Tables: freeing, finding, and counting the spellings of a column. */
#include "table/table.h"

#include <math.h>
#include <string.h>

void kn_column_drop(kn_column *column)
{
    kn_free(column->name);
    kn_free(column->bytes);
    kn_free(column->offset);
    kn_free(column->first_line);
    kn_free(column->spelling_value);
    kn_free(column->is_invalid);
    kn_free(column->number);
    kn_free(column->codes);
    kn_free(column->whole_rows);
}

void kn_table_free(kn_table *table)
{
    if (table == NULL) return;
    for (uint32_t i = 0; table->columns != NULL && i < table->n_columns; i++) kn_column_drop(&table->columns[i]);
    kn_free(table->columns);
    kn_free(table->counts);
    kn_free(table->person_counts);
    kn_free(table->source);
    kn_free(table);
}

uint32_t kn_table_find(const kn_table *table, const char *name)
{
    for (uint32_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, name) == 0) return i;
    return KN_NONE;
}

const char *kn_role_name(kn_role role)
{
    switch (role) {
    case KN_ROLE_IDENTIFIER: return "identifier";
    case KN_ROLE_QUASI: return "quasi";
    case KN_ROLE_SENSITIVE: return "sensitive";
    case KN_ROLE_INSENSITIVE: return "insensitive";
    case KN_ROLE_DROPPED: return "dropped";
    }
    return "unknown";
}

const char *kn_type_name(kn_type type)
{
    switch (type) {
    case KN_TYPE_AUTO: return "auto";
    case KN_TYPE_INT: return "int";
    case KN_TYPE_DECIMAL: return "decimal";
    case KN_TYPE_DATE: return "date";
    case KN_TYPE_TEXT: return "text";
    }
    return "unknown";
}

kn_status kn_column_spelling_rows(uint64_t **out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *n_rows_of;
    *out = NULL;
    KN_NEW(n_rows_of, column->n_spellings);
    for (uint32_t row = 0; row < n_rows; row++) n_rows_of[kn_column_code(column, row)] += kn_column_count(column, row);
    *out = n_rows_of;
done:
    return status;
}

kn_status kn_column_whole_rows(uint64_t **out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    *out = NULL;
    if (column->whole_rows == NULL) return kn_column_spelling_rows(out, column, n_rows, err);
    KN_NEW(*out, column->n_spellings);
    for (uint32_t s = 0; s < column->n_spellings; s++) (*out)[s] = column->whole_rows[s];
done:
    return status;
}

kn_status kn_column_main_spellings(uint32_t **out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *main_spelling = NULL;
    uint64_t *n_rows_of = NULL;
    *out = NULL;
    KN_NEW_RAW(main_spelling, column->n_values);
    if (column->spelling_value != NULL) KN_TRY(kn_column_whole_rows(&n_rows_of, column, n_rows, err));
    for (uint32_t value = 0; value < column->n_values; value++) main_spelling[value] = KN_NONE;
    /* Spellings of one value are sorted by bytes, so the first of the most frequent ones wins a tie. */
    for (uint32_t spelling = 0; spelling < column->n_spellings; spelling++) {
        uint32_t *best = &main_spelling[kn_column_value(column, spelling)];
        if (*best == KN_NONE || n_rows_of[spelling] > n_rows_of[*best]) *best = spelling;
    }
    *out = main_spelling;
    main_spelling = NULL;
done:
    kn_free(main_spelling);
    kn_free(n_rows_of);
    return status;
}

uint64_t kn_column_rows(const kn_column *column, uint32_t n_records)
{
    uint64_t n = 0;
    if (column->counts == NULL) return n_records;
    for (uint32_t row = 0; row < n_records; row++) n += column->counts[row];
    return n;
}

/* --- Counts ---------------------------------------------------------------------------------------------------- */

/* As far as a double counts one by one: measures and the searches that cut do. */
static const double MOST_ROWS = 9007199254740992;

/* The whole numbers of a column; 0 where a cell is missing. */
static kn_status read_counts(uint64_t **out, const kn_table *table, uint32_t c, bool may_be_missing, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = &table->columns[c];
    KN_NEW(*out, (size_t)table->n_rows + 1);
    for (uint32_t row = 0; row < table->n_rows; row++) {
        const uint32_t spelling = kn_column_code(column, row), value = kn_column_value(column, spelling);
        const bool missing = column->has_missing && value == column->n_values - 1;
        const double number = missing || column->number == NULL ? NAN : column->number[value];
        if (missing && may_be_missing) continue;
        if (!(number >= 1 && number <= MOST_ROWS && number == floor(number)))
            KN_FAIL_AT(KN_INPUT,
                       KN_PLACE(.file = table->source, .line = column->first_line[spelling], .column = column->name),
                       "%s, line %llu, column %s: a count is a whole number from 1 to %.0f; correct the cell",
                       table->source, (unsigned long long)column->first_line[spelling], column->name, MOST_ROWS);
        (*out)[row] = (uint64_t)number;
    }
done:
    return status;
}

/* No record has persons that are said twice, or more persons than rows. */
static kn_status check_person_counts(const kn_table *table, const kn_column *column, kn_error *err)
{
    const kn_column *person = &table->columns[table->person];
    for (uint32_t row = 0; row < table->n_rows; row++) {
        const bool known =
            !person->has_missing || kn_column_value(person, kn_column_code(person, row)) < person->n_values - 1;
        const uint64_t n = table->person_counts[row];
        if ((known ? n <= 1 : n > 0) && n <= table->counts[row]) continue;
        const uint64_t line = column->first_line[kn_column_code(column, row)];
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = table->source, .line = line, .column = column->name),
                               "%s, line %llu, column %s: a record without a person counts at least 1, one with a "
                               "person none or 1, and none more than its rows; correct the cell",
                               table->source, (unsigned long long)line, column->name);
    }
    return KN_OK;
}

/* So few that nothing overflows. */
static kn_status add_counts(uint64_t *sum, const kn_table *table, const uint64_t *counts, uint32_t column, double most,
                            const char *what, kn_error *err)
{
    kn_status status = KN_OK;
    *sum = 0;
    for (uint32_t row = 0; row < table->n_rows; row++) {
        *sum += counts[row];
        if (*sum > (uint64_t)most)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = table->source, .column = table->columns[column].name),
                       "%s: its records stand for more than %.0f %s, and no more can be counted; anonymize it in parts",
                       table->source, most, what);
    }
done:
    return status;
}

kn_status kn_table_count(kn_table *table, uint32_t count_column, uint32_t person_count_column, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t n_persons;
    KN_TRY(read_counts(&table->counts, table, count_column, false, err));
    KN_TRY(add_counts(&table->n_counted, table, table->counts, count_column, MOST_ROWS, "rows", err));
    for (uint32_t c = 0; c < table->n_columns; c++) table->columns[c].counts = table->counts;
    if (person_count_column == KN_NONE) goto done;
    KN_TRY(read_counts(&table->person_counts, table, person_count_column, true, err));
    KN_TRY(check_person_counts(table, &table->columns[person_count_column], err));
    KN_TRY(add_counts(&n_persons, table, table->person_counts, person_count_column,
                      KN_NONE - 1.0 - table->columns[table->person].n_values, "persons", err));
    for (uint32_t row = 0; row < table->n_rows; row++) {
        const kn_column *person = &table->columns[table->person];
        if (!person->has_missing || kn_column_value(person, kn_column_code(person, row)) < person->n_values - 1)
            table->person_counts[row] = 0;
    }
done:
    return status;
}
