/* Nearest word by optimal string alignment: insert, delete, replace, swap neighbours. Words longer than 40 bytes are
 * nobody's slip. */
#include "base/suggest.h"

#include <string.h>

#define LONGEST 40

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t distance(const char *a, const char *b)
{
    size_t cost[LONGEST + 1][LONGEST + 1], n = strlen(a), m = strlen(b);
    for (size_t i = 0; i <= n; i++) cost[i][0] = i;
    for (size_t j = 0; j <= m; j++) cost[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            cost[i][j] = least(least(cost[i - 1][j], cost[i][j - 1]) + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[n][m];
}

const char *kn_suggest(const char *word, const char *const *words, size_t n_words)
{
    const char *best = NULL;
    size_t n = strlen(word), best_distance = n <= 3 ? 2 : n <= 8 ? 3 : 4; /* strictly less than */
    if (n > LONGEST) return NULL;
    for (size_t i = 0; i < n_words; i++) {
        const size_t m = strlen(words[i]);
        if (m > LONGEST || (m > n ? m - n : n - m) >= best_distance) continue;
        size_t d = distance(word, words[i]);
        /* half of a word changed is another word */
        if (d < best_distance && d * 2 <= n + 1) {
            best = words[i];
            best_distance = d;
        }
    }
    return best;
}
