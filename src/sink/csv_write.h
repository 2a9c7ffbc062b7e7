/* The released file. */
#ifndef KN_SINK_CSV_WRITE_H
#define KN_SINK_CSV_WRITE_H

#include "classes/release.h"
#include "sink/output_file.h"

typedef enum kn_row_order { KN_ORDER_SORTED, KN_ORDER_INPUT } kn_row_order;

/* Writes header and rows. *order (yours, may be NULL to ask for none) tells the original row of each written row. */
kn_status kn_release_write(uint32_t **order, uint32_t *n_written, kn_output *output, const kn_release *release,
                           kn_row_order row_order, bool guard_formulas, kn_pool *pool, kn_ticker *ticker,
                           kn_error *err);

#endif
