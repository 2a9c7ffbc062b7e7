/* The released table as Arrow arrays in memory. */
#ifndef KN_SINK_ARROW_WRITE_H
#define KN_SINK_ARROW_WRITE_H

#include "sink/sink.h"
#include "table/batches.h"

/* One batch; every column a dictionary of strings (kn_result_table in kanon_arrow.h says which). `null_text`: what a
 * null of the data was read as; cells of that text are nulls again. *order as for kn_release_write. */
kn_status kn_release_arrays(kn_batches **out, uint32_t **order, uint32_t *n_written, const kn_release *release,
                            const char *null_text, kn_row_order row_order, bool guard_formulas, kn_pool *pool,
                            kn_ticker *ticker, kn_error *err);

#endif
