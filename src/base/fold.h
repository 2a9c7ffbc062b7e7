/* Texts that people take for one word: blanks around it and upper or lower case do not count.
 *
 * Blanks are spaces, tabs, line ends and no-break spaces. Letters are folded one by one (Unicode's simple case folding)
 * in Latin with its usual extensions, Greek, Cyrillic and Armenian; Greek's final sigma is a sigma, the long s an s.
 * Nothing else is: not the Turkish i, not ss for sharp s, not composed against decomposed accents. Bytes that are no
 * UTF-8 stay as they are. */
#ifndef KN_BASE_FOLD_H
#define KN_BASE_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/* The folded text; `out` has room for n_bytes, folding never makes longer. Returns how many bytes it has. */
size_t kn_fold(char *out, const char *bytes, size_t n_bytes);
bool kn_fold_equal(const char *a, size_t n_a, const char *b, size_t n_b);

#endif
