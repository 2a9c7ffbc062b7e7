/* Which sensitive column a measure looks at, and how uncertain it is. */
#include "measure/class_column.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool kn_measure_is_joint(const kn_args *args)
{
    for (size_t i = 0; i < args->n; i++)
        if (strcmp(args->params[i].name, "joint") == 0) return kn_args_is(args, "joint", "yes");
    return false;
}

kn_status kn_class_column(uint32_t *out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    const char *name = kn_args_text(args, "column");
    if (kn_measure_is_joint(args) && tuples->n_table_sensitive > 1) {
        if (name != NULL)
            return kn_error_set(err, KN_USAGE, "%s: joint=yes looks at all sensitive columns; leave column=%.40s out",
                                args->owner, name);
        *out = tuples->n_table_sensitive;
        assert(*out < tuples->n_sensitive); /* kn_measure_join */
        return KN_OK;
    }
    for (*out = 0; *out < tuples->n_table_sensitive; ++*out)
        if (name == NULL || strcmp(tuples->sensitive[*out].column->name, name) == 0) return KN_OK;
    if (name == NULL) return kn_error_set(err, KN_USAGE, "%s needs a sensitive column, and there is none", args->owner);
    return kn_error_set(err, KN_USAGE, "%s: column=%.40s is no sensitive column", args->owner, name);
}

double kn_histogram_entropy(const kn_histogram *histogram)
{
    double rows = 0, n_log_n = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double n = (double)histogram->counts[i];
        rows += n;
        if (n > 1) n_log_n += n * log2(n);
    }
    double entropy = rows > 0 ? log2(rows) - n_log_n / rows : 0;
    return entropy > 0 ? entropy : 0;
}

double kn_sensitive_entropy(const kn_sensitive *sensitive)
{
    double rows = 0, n_log_n = 0;
    for (uint32_t value = 0; value < sensitive->n_values; value++) {
        double n = (double)sensitive->value_rows[value];
        rows += n;
        if (n > 1) n_log_n += n * log2(n);
    }
    double entropy = rows > 0 ? log2(rows) - n_log_n / rows : 0;
    return entropy > 0 ? entropy : 0;
}
