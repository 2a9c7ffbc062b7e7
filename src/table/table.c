/* Tables: freeing, finding, and counting the spellings of a column. */
#include "table/table.h"

#include <string.h>

void kn_table_free(kn_table *table)
{
    if (table == NULL) return;
    for (uint32_t i = 0; table->columns != NULL && i < table->n_columns; i++) {
        kn_column *column = &table->columns[i];
        kn_free(column->name);
        kn_free(column->bytes);
        kn_free(column->offset);
        kn_free(column->first_line);
        kn_free(column->spelling_value);
        kn_free(column->is_invalid);
        kn_free(column->number);
        kn_free(column->codes);
    }
    kn_free(table->columns);
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

kn_status kn_column_spelling_rows(uint32_t **out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *n_rows_of;
    *out = NULL;
    KN_NEW(n_rows_of, column->n_spellings);
    for (uint32_t row = 0; row < n_rows; row++) n_rows_of[kn_column_code(column, row)]++;
    *out = n_rows_of;
done:
    return status;
}

kn_status kn_column_main_spellings(uint32_t **out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *main_spelling = NULL, *n_rows_of = NULL;
    *out = NULL;
    KN_NEW_RAW(main_spelling, column->n_values);
    if (column->spelling_value != NULL) KN_TRY(kn_column_spelling_rows(&n_rows_of, column, n_rows, err));
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
