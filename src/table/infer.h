/* From the distinct spellings of a column to its type, its values and their order.
 *
 * Rules (column types are inferred from all distinct spellings that are not missing):
 *   missing   a cell that is one of the null values, blanks around it ignored; all of them are one value, the last.
 *             NA, unknown, - and the like (number_marks.h) too, where all others are numbers or all are dates
 *   int       every spelling is a whole number (number.h): `5`, `-5`, `+5`, ` 5`; not `05`
 *   decimal   every spelling is a number and at least one has a point or an exponent. Numbers with a decimal comma or
 *             with marks between thousands are numbers where just one way to read them fits all of the column
 *   date      every spelling is a date (dates.h) in one and the same form; d/m/y and m/d/y only where the whole column
 *             allows just one of the two; times with and without a zone are not mixed. YYYYMMDD, with HHMM or HHMMSS
 *             behind it, where every spelling is one of the years 1800 to 2199
 *   text      otherwise, also when every cell is missing
 * Numbers are one value when they are equal as exact decimals (1, 1.0, 1e0), dates when they are the same moment, text
 * when the bytes are equal. A declared type (not AUTO) must fit every spelling, or those that it does not fit are
 * missing; then leading zeros are numbers too and 00010131 is a date. */
#ifndef KN_TABLE_INFER_H
#define KN_TABLE_INFER_H

#include "table/table.h"

/* Spellings in any order, repeats are fine. Borrowed. */
typedef struct kn_spellings {
    uint32_t n;
    const char *bytes;
    const uint64_t *offset;     /* n + 1 */
    const uint64_t *first_line; /* n */
} kn_spellings;

typedef struct kn_infer_options {
    kn_type type;                   /* AUTO: infer */
    const char *const *null_values; /* besides the empty cell */
    size_t n_null_values;
    kn_decimal_asked decimal;
    bool invalid_is_missing; /* what a declared type does not fit; otherwise an error */
    bool is_quasi; /* generalized: numbers are kept without marks, invalid cells as empty ones; others as they are */
    const char *source; /* for messages */
    bool redact;
} kn_infer_options;

/* Fills everything of `column` but its name, role and codes. (*new_code)[i] is the sorted code of spelling i, yours to
 * kn_free. Equal spellings become one, with the smallest line. The result does not depend on the order of the
 * spellings. Fails with KN_INPUT when a declared type does not fit, naming the first line where it does not. */
kn_status kn_column_set_spellings(kn_column *column, uint32_t **new_code, const kn_spellings *spellings,
                                  const kn_infer_options *options, kn_error *err);

/* The same for spellings that come as several lists, in steps that can run on a pool: look and sort for each list, on
 * any thread; decide between them and finish after them, once. `lists` and `options` stay with the caller. */
typedef struct kn_inference kn_inference;
kn_status kn_inference_new(kn_inference **out, const char *column_name, const kn_spellings *lists, uint32_t n_lists,
                           const kn_infer_options *options, kn_error *err);
void kn_inference_look(kn_inference *inference, uint32_t list);
kn_status kn_inference_decide(kn_inference *inference, kn_error *err);
void kn_inference_sort(kn_inference *inference, uint32_t list);
/* new_codes[l][i]: sorted code of spelling i of list l; the arrays are the caller's, n of their list long. */
kn_status kn_inference_finish(kn_column *column, uint32_t *const *new_codes, kn_inference *inference, kn_error *err);
void kn_inference_free(kn_inference *inference);

#endif
