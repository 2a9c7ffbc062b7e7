/* Which sensitive column a measure looks at, and how uncertain it is. */
#include "measure/class_column.h"

#include <math.h>
#include <string.h>

kn_status kn_class_column(uint32_t *out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    const char *name = kn_args_text(args, "column");
    for (*out = 0; *out < tuples->n_sensitive; ++*out)
        if (name == NULL || strcmp(tuples->sensitive[*out].column->name, name) == 0) return KN_OK;
    if (name == NULL) return kn_error_set(err, KN_USAGE, "%s needs a sensitive column, and there is none", args->owner);
    return kn_error_set(err, KN_USAGE, "%s: column=%.40s is no sensitive column", args->owner, name);
}

double kn_histogram_entropy(const kn_histogram *histogram)
{
    double rows = 0, n_log_n = 0;
    for (uint32_t i = 0; i < histogram->n; i++) {
        double n = histogram->counts[i];
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
