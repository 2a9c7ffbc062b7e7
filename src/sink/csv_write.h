/* The released file as CSV. */
#ifndef KN_SINK_CSV_WRITE_H
#define KN_SINK_CSV_WRITE_H

#include "sink/output_file.h"
#include "sink/sink.h"
#include "table/text_form.h"

/* How cells are quoted: of a table of `n_columns` columns. */
typedef struct kn_csv_quoting {
    const kn_text_form *form;
    uint32_t n_columns;
} kn_csv_quoting;
/* A kn_spelling's `put` whose context is a kn_csv_quoting: the cell, and the delimiter or the end of the line. */
void kn_csv_put(kn_buffer *out, const void *quoting, const char *bytes, size_t n_bytes, bool last_column);

/* Writes header and rows. *order (yours, may be NULL to ask for none) tells the original row of each written row. */
kn_status kn_release_write(uint32_t **order, uint32_t *n_written, kn_output *output, const kn_release *release,
                           const kn_text_form *form, const kn_sink_options *options, kn_error *err);

#endif
