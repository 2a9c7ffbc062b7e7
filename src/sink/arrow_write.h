/* The released table as Arrow arrays in memory. */
#ifndef KN_SINK_ARROW_WRITE_H
#define KN_SINK_ARROW_WRITE_H

#include "sink/sink.h"
#include "table/batches.h"

/* One batch; every column a dictionary of strings (kn_result_table in kanon_arrow.h says which), but bounds and means
 * are int64, float64 or date32. `null_text`: what a null of the data was read as; cells of that text are nulls again.
 * Rows stand in the order of the lines of the file that would be written in `form`. *order as for kn_release_write. */
kn_status kn_release_arrays(kn_batches **out, uint32_t **order, uint32_t *n_written, const kn_release *release,
                            const char *null_text, const kn_text_form *form, const kn_sink_options *options,
                            kn_error *err);

/* Such a batch as that file, with the bytes that kn_release_write would have written. KN_INPUT when `write` refuses. */
kn_status kn_arrays_to_csv(const kn_batches *batches, const char *null_text, const kn_text_form *form,
                           kn_write_fn write, void *user, kn_error *err);

#endif
