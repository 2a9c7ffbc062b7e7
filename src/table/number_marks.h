/* Numbers as people write them: a decimal comma, marks between thousands.
 *
 *   POINT   1,234.56   1 234.56   1'234.56   .5
 *   COMMA   1.234,56   1 234,56   1'234,56   ,5
 * The blank may be one that keeps the line together, the apostrophe a curved one.
 * Marks between thousands are of one kind within a number and stand before every three digits, or before none. `1.234`
 * is a number in both ways, and two different ones: only the rest of the column, or the user, can tell. */
#ifndef KN_TABLE_NUMBER_MARKS_H
#define KN_TABLE_NUMBER_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kn_marks { KN_MARKS_PLAIN = 0, KN_MARKS_POINT = 1, KN_MARKS_COMMA = 2 } kn_marks;
/* What the user said of it. */
typedef enum kn_decimal_asked { KN_DECIMAL_AUTO, KN_DECIMAL_POINT, KN_DECIMAL_COMMA } kn_decimal_asked;

enum { KN_MARKED_BYTES = 64 }; /* longer ones are no numbers */

/* The number without marks and with a point, as number.h reads it; returns its length, 0: it is none. */
size_t kn_number_plain(char out[KN_MARKED_BYTES], const char *bytes, size_t n_bytes, kn_marks marks);
/* The bytes of a blank that keeps a line together, U+00A0, U+2009 or U+202F, and of the apostrophe U+2019, where one
 * begins; 0: none does. */
size_t kn_wide_blank_bytes(const char *bytes, size_t n_bytes);
size_t kn_wide_apostrophe_bytes(const char *bytes, size_t n_bytes);
/* Whether it has a mark of more than one byte, U+00A0, U+2009, U+202F or U+2019, which nobody types into a telephone
 * number. */
bool kn_number_has_wide_mark(const char *bytes, size_t n_bytes);
/* In which of the two ways it is a number: a set of bits. `leading_zeros`: 007,5 is one. */
unsigned kn_number_ways(const char *bytes, size_t n_bytes, bool leading_zeros);

/* Cells by how they can be read as numbers, of which some are none: [PLAIN] is for numbers that number.h reads as they
 * are. Zero it. */
typedef struct kn_number_readings {
    uint64_t n_numbers[KN_MARKS_COMMA + 1], n_whole[KN_MARKS_COMMA + 1];
} kn_number_readings;
void kn_number_readings_add(kn_number_readings *readings, const char *bytes, size_t n_bytes, bool leading_zeros,
                            uint64_t n_cells);
/* How most of those cells are read: as they are, where marks read no more of them. False: more are read with marks, and
 * as many in one way as in the other; *out is PLAIN then. */
bool kn_number_usual_marks(kn_marks *out, const kn_number_readings *readings);

/* NA, N/A, NaN, null, unknown, not done, ?, - and . in upper or lower case, and the like: missing, where all the
 * others are numbers or dates. */
bool kn_is_null_word(const char *bytes, size_t n_bytes);

#endif
