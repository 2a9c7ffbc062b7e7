/* Text with numbers in it, in the order of the numbers: 9 days, 12 days; 5%, 40%; 9:30, 10:05; <18, 18-25, 26-35, 50+.
 *
 * The numbers of two texts are compared one after the other; where all are equal the text with fewer of them comes
 * first, then what begins with < or ≤ (<5 before 5), then bytes decide. A number has digits, a decimal point or comma,
 * commas between thousands, and a minus that stands at the beginning or behind a blank.
 *
 * A text that is an amount of money, a number with the sign or code of its currency before or behind it, is that one
 * number: what has three digits behind it, and no 0 before it, parts thousands, whether , . ' or a blank, the other of
 * , and . begins the cents: $1,234.50, 1.234,50 €, CHF 1'234, -$12, ($12). */
#ifndef KN_TABLE_NATURAL_H
#define KN_TABLE_NATURAL_H

#include <stdbool.h>
#include <stddef.h>

/* A total order: 0 only for equal bytes. */
int kn_natural_compare(const char *a, size_t n_a, const char *b, size_t n_b);

enum { KN_SHAPE_BYTES = 64 };
/* What stands around the numbers, with # for each: `# days`, `#%`; of an amount always its currency and #: `$#`,
 * `eur#`. Returns how many numbers there are; 0 also where the shape is too long. */
unsigned kn_natural_shape(char shape[KN_SHAPE_BYTES], const char *bytes, size_t n);
bool kn_natural_is_amount(const char *shape);
/* Which marks an amount shows, bits of kn_marks; 0: none that tell, or no amount. Where two amounts of a column have
 * different ones, $3.459 and $12.50, one of them is misread. */
unsigned kn_natural_amount_ways(const char *bytes, size_t n);
/* A shape that measures something: a time of the day, a number and its unit, an amount of money. What only has another
 * number in every row may number the rows. */
bool kn_natural_is_measure(const char *shape);
/* 18-25: two numbers of up to three digits, the smaller one first. */
bool kn_natural_is_range(const char *bytes, size_t n);

#endif
