/* Values of text that differ by case or by blanks around them only, taken as one (base/fold.h): for counting how
 * diverse a sensitive column is. Spellings, and so what is released, stay as they are. Numbers and dates need none of
 * it. */
#ifndef KN_TABLE_FOLD_COLUMN_H
#define KN_TABLE_FOLD_COLUMN_H

#include "table/table.h"

/* By how many the column's values become fewer when folded; 0 for columns that are no text. */
kn_status kn_column_count_folds(uint32_t *out, const kn_column *column, kn_error *err);
/* Makes them one: values, and their order, are those of the folded texts. */
kn_status kn_column_fold(kn_column *column, uint32_t n_rows, kn_error *err);

#endif
