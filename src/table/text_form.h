/* How a table looks as a text file: a release is written like the table it comes from. */
#ifndef KN_TABLE_TEXT_FORM_H
#define KN_TABLE_TEXT_FORM_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kn_encoding { KN_ENCODING_UTF8, KN_ENCODING_LATIN1, KN_ENCODING_UTF16 } kn_encoding;
/* Of a release: sorted tells nothing of the input's order. */
typedef enum kn_row_order { KN_ORDER_SORTED, KN_ORDER_INPUT } kn_row_order;
/* How generalized numbers and dates are written: as a label, as two columns of bounds and one of their kind, as both.
 */
typedef enum kn_cells_form { KN_CELLS_LABELS, KN_CELLS_BOUNDS, KN_CELLS_BOTH } kn_cells_form;

typedef struct kn_text_form {
    char delimiter;
    bool has_header;
    const char *line_end;              /* "\n" or "\r\n"; static */
    uint32_t n_unnamed, first_unnamed; /* columns without a name in the header: called column1, column2, ... by place */
} kn_text_form;

#endif
