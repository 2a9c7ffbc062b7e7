/* "Did you mean ...?" */
#ifndef KN_BASE_SUGGEST_H
#define KN_BASE_SUGGEST_H

#include <stddef.h>

/* The word nearest to `word` by edits, when it is near enough to be a slip of the finger; otherwise NULL. */
const char *kn_suggest(const char *word, const char *const *words, size_t n_words);

#endif
