/* Numbers as they are written: exact decimals of any length, compared without rounding, so that two long identifiers
 * never become one value because a double cannot tell them apart.
 *
 * A number is [+-] digits [. digits] [e [+-] digits], with blanks around it; `.5` and `5.` are numbers. Not numbers,
 * hence text: leading zeros (`01234`, `00.5`: codes, not quantities), decimal commas and thousands separators,
 * hexadecimals, NaN and inf, more than 400 characters, and what leaves 1e-300 .. 1e300. */
#ifndef KN_TABLE_NUMBER_H
#define KN_TABLE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kn_number_kind {
    KN_NUMBER_NONE,
    KN_NUMBER_WHOLE,  /* digits only */
    KN_NUMBER_DECIMAL /* with a point or an exponent, even `1.0` */
} kn_number_kind;

/* 0.d1d2d3... * 10^exponent with d1 != 0; zero has no digits. Borrows the bytes that it was parsed from. */
typedef struct kn_decimal {
    bool negative;
    int32_t exponent;
    uint32_t n_digits;  /* from the first to the last that is not 0 */
    const char *digits; /* a '.' may stand between them */
} kn_decimal;

/* `leading_zeros`: `007` is a number (where the user declared the column one). */
kn_number_kind kn_decimal_parse(kn_decimal *out, const char *bytes, size_t n_bytes, bool leading_zeros);
int kn_decimal_compare(const kn_decimal *a, const kn_decimal *b); /* <0, 0, >0; exact */
/* The nearest double, in any locale; monotone: a <= b gives double(a) <= double(b). Zero is never negative. */
double kn_decimal_double(const kn_decimal *decimal);
/* Kind and nearest double at once; 0 for KN_NUMBER_NONE. The same as the functions above, faster for short numbers. */
kn_number_kind kn_number_read(double *out, const char *bytes, size_t n_bytes, bool leading_zeros);

#endif
