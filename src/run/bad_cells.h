/* Cells that the declared type of their column does not fit, or that its hierarchy lacks: all of them, for `check`. */
#ifndef KN_RUN_BAD_CELLS_H
#define KN_RUN_BAD_CELLS_H

#include "hierarchy/build.h"
#include "run/input.h"

/* After a reading that failed with KN_INPUT: one problem for every column with such cells, with their number and first
 * places, or for a column that cannot be read as its type at all. Afterwards the table can be read without them. What
 * is wrong with the file itself fails as before. */
kn_status kn_bad_cells_note(kn_input *input, kn_error *err);
/* One problem for the cells of a column that its hierarchy lacks. */
kn_status kn_lacking_cells_note(kn_input *input, const kn_column *column, const kn_lacking *lacking, kn_error *err);

#endif
