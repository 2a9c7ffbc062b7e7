/* What a table as it comes has that somebody should know of: marks in numbers, blanks before cells, words for nothing,
 * cells that do not fit their column. */
#ifndef KN_RUN_AS_IT_COMES_H
#define KN_RUN_AS_IT_COMES_H

#include "run/input.h"

/* Warnings of the table that was read: numbers whose marks were guessed, invalid cells that count as missing, dates in
 * several forms, blanks before cells. */
kn_status kn_input_notice(kn_input *input, kn_error *err);
/* A warning where column c was read as text because it has dates in several forms: nobody would find out from labels.
 * `rows`: of its spellings; becomes_date: it will be read again as dates, those of other forms as missing. Returns
 * whether there was something to tell. */
bool kn_input_notice_dates(kn_input *input, uint32_t c, const uint64_t *rows, bool becomes_date);

/* A column of text of which at least half of the cells are numbers, or dates; or one of whole numbers of which nearly
 * all are dates, 20240131. */
typedef struct kn_mixed_cells {
    uint64_t n_cells, n_fit; /* not counted: missing ones and words for nothing; n_cells = 0: it is no such column */
    uint64_t line;           /* the first that is none */
    bool are_dates, nearly_dates; /* nearly_dates: but for one in a hundred */
} kn_mixed_cells;
kn_mixed_cells kn_column_mixed_cells(const kn_column *column, const uint64_t *rows);
/* A warning, where there is something to tell. */
void kn_mixed_cells_tell(kn_input *input, kn_piece name, const kn_column *column, const kn_mixed_cells *mixed);

/* Whether a value of a column of dates stands for none or for an open end: the first or last day of a year, of the
 * first one or from 2099 on, decades away from the others. */
bool kn_column_means_no_date(const kn_column *column, uint32_t value);
/* Warnings of such. */
kn_status kn_input_notice_no_dates(kn_input *input, kn_error *err);

/* What `profile` makes of a table before it looks at anything else. */
typedef struct kn_table_advice {
    bool trim;        /* most cells of some column begin with a blank */
    kn_type *types;   /* per column: that of 99 % of its cells though not of all; AUTO: nothing to say */
    bool has_misfits; /* some column has such a type */
} kn_table_advice;
kn_status kn_table_advise(kn_table_advice *out, const kn_table *table, kn_error *err);
void kn_table_advice_free(kn_table_advice *advice);

/* Cells of a text column that are words for nothing, and the words as they are spelled: -', 'n/a. */
kn_status kn_column_null_words(uint64_t *n_cells, kn_buffer *words, const kn_column *column, uint32_t n_rows,
                               kn_error *err);

#endif
