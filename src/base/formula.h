/* Cells that a spreadsheet would take for a formula, and the guard against it: a ' before the text.
 *
 * A formula starts with = + - @, a tab or a line end, and is no plain number (-5 is what it is). A text that differs
 * from a formula by leading ' only is guarded as well, so that two texts stay two: =a becomes '=a, and '=a becomes
 * ''=a. Guarding can therefore be undone without a doubt. */
#ifndef KN_BASE_FORMULA_H
#define KN_BASE_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the text is to be guarded. */
bool kn_is_formula(const char *bytes, size_t n_bytes);
/* Whether a spreadsheet would execute the text: it is to be guarded, and is not. */
bool kn_is_bare_formula(const char *bytes, size_t n_bytes);
/* The text without its guard: moves the beginning by one, or not at all. */
const char *kn_formula_unguard(const char *bytes, size_t *n_bytes);

#endif
