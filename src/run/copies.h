/* Copied columns that give a quasi-identifier away, however it is generalized. */
#ifndef KN_RUN_COPIES_H
#define KN_RUN_COPIES_H

#include "run/input.h"

/* What a copied column tells of a quasi-identifier, over rows. */
typedef struct kn_copy {
    bool one_to_one;      /* every value of either column goes with one value of the other, and some value repeats, or
                             the texts are the same */
    double told, guessed; /* shares of rows, see copies.c; 0 where nothing can be said */
} kn_copy;

/* Both columns of a table of n_rows, by their values. */
kn_status kn_copy_compare(kn_copy *out, const kn_column *copied, const kn_column *quasi, uint32_t n_rows,
                          kn_error *err);
/* Told so much better than guessed that it deserves a warning. */
bool kn_copy_tells(const kn_copy *copy);

/* After kn_input_read. KN_USAGE for an insensitive column that stands one-to-one with a quasi-identifier, unless
 * --allow-copy was said; what is allowed, or only nearly so, or about a sensitive column, becomes a warning. */
kn_status kn_copies_check(kn_input *input, kn_error *err);

#endif
