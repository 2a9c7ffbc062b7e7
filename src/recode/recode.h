/* Apply the answer: classes, cells, suppressed rows. */
#ifndef KN_RECODE_RECODE_H
#define KN_RECODE_RECODE_H

#include "search/search.h"
#include "source/csv/csv_read.h"

/* Classes of equal cells are merged; rows of classes that break a model are suppressed; the suppressed rows stay only
 * if there are none or their class satisfies every model, otherwise they are removed. KN_NOT_MET when more rows are
 * suppressed than the task allows, or no row is left of a table that had some. */
kn_status kn_recode(kn_release **out, const kn_answer *answer, const kn_task *task, kn_error *err);

/* `kanon measure`: the released file read back against the original's domains. Each QI cell becomes a kn_cell; rows
 * with equal QI cells are a class. `may_suppress`: rows with * in every QI are taken as suppressed, otherwise as a
 * class like any other. KN_INPUT naming line, column and value for a cell that is no generalization. */
kn_status kn_release_read(kn_release **out, const char *path, const kn_csv_options *options, const kn_tuples *tuples,
                          bool guard_formulas, bool may_suppress, kn_pool *pool, kn_ticker *ticker, kn_error *err);

#endif
