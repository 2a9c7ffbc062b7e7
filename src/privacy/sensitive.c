/* Which sensitive column a model protects. */
#include "privacy/sensitive.h"

#include <string.h>

kn_status kn_model_column(uint32_t *out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    const char *name = kn_args_text(args, "column");
    *out = 0;
    if (tuples->n_table_sensitive == 0)
        return kn_error_set(err, KN_USAGE,
                            "%s protects a sensitive column, and the table has none; name it with "
                            "--sensitive",
                            args->owner);
    if (name == NULL && tuples->n_table_sensitive == 1) return KN_OK;
    if (name == NULL)
        return kn_error_set(err, KN_USAGE, "%s needs column=: there are %u sensitive columns", args->owner,
                            tuples->n_table_sensitive);
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++)
        if (strcmp(tuples->sensitive[s].column->name, name) == 0) {
            *out = s;
            return KN_OK;
        }
    return kn_error_set(err, KN_USAGE, "%s: column=%.40s is no sensitive column", args->owner, name);
}

uint32_t kn_sensitive_distinct(const kn_sensitive *sensitive)
{
    uint32_t n = 0;
    for (uint32_t value = 0; value < sensitive->n_values; value++) n += sensitive->value_rows[value] > 0;
    return n;
}
