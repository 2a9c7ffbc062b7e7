/* Lists as users write them: "a,b,c", with "\\," for a comma inside an item. */
#ifndef KN_BASE_WORDS_H
#define KN_BASE_WORDS_H

#include "base/memory.h"

/* Copies the next item to `item` (room for strlen(*from) + 1 bytes) and moves *from past it; false at the end. There is
 * one item more than there are commas, so "" is one empty item and "a," has an empty one at its end. */
bool kn_words_next(char *item, const char **from);

/* Is `word` one of the items? */
bool kn_words_hold(const char *list, const char *word);

typedef struct kn_words {
    char **items;
    size_t n;
} kn_words;

kn_status kn_words_parse(kn_words *out, const char *text, kn_error *err);
void kn_words_free(kn_words *list); /* what it holds */

#endif
