/* The schema of a release (--schema of risk and measure), read back: which columns there are, and what labels mean, in
 * place of the policy and the hierarchies. */
#ifndef KN_RUN_SCHEMA_READ_H
#define KN_RUN_SCHEMA_READ_H

#include "policy/request.h"
#include "source/csv/csv_read.h"

typedef struct kn_schema kn_schema;

/* KN_USAGE, with its place, when the file is no schema of ours. */
kn_status kn_schema_read(kn_schema **out, const char *path, kn_files *files, kn_error *err);
void kn_schema_free(kn_schema *schema);

/* How the released table was read, where nothing else is said: words for missing cells, the decimal mark, what becomes
 * of invalid cells. */
void kn_schema_reading(kn_csv_options *csv, const kn_schema *schema);
bool kn_schema_is_guarded(const kn_schema *schema); /* made with --guard-formulas; NULL: no */

/* The columns that it says are computed from dates. They live as long as the schema. */
const kn_derivation *kn_schema_derivations(size_t *n, const kn_schema *schema);
/* Role, type, order, grid and classification of the columns that no setting names. */
void kn_schema_apply(kn_column_choice *choices, const char *const *names, uint32_t n_names, const kn_schema *schema,
                     const kn_settings *settings);
/* Whether the schema knows the column by its bounds; *max_included: in its intervals. */
bool kn_schema_has_bounds(bool *max_included, const kn_schema *schema, const char *name);
/* The labels of a column as the lines of a hierarchy file: what stands below them of the values that the schema lists
 * and of those of `values`. *text is NULL where all labels say by themselves what they mean; `masks`: 12** does not.
 * KN_USAGE with the way out where the schema says nothing of a label. */
kn_status kn_schema_lines(char **text, size_t *n_bytes, const kn_schema *schema, const char *name,
                          const kn_column *values, bool masks, kn_error *err);

#endif
