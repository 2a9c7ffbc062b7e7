/* Comma lists. */
#include "base/words.h"

#include <string.h>

/* *from is NULL after the last item. */
bool kn_words_next(char *item, const char **from)
{
    const char *at = *from;
    if (at == NULL) return false;
    for (; *at != '\0' && *at != ','; at++) {
        if (at[0] == '\\' && at[1] == ',') at++;
        *item++ = *at;
    }
    *item = '\0';
    *from = *at == ',' ? at + 1 : NULL;
    return true;
}

bool kn_words_hold(const char *list, const char *word)
{
    for (const char *at = list;; at++) {
        const char *rest = word;
        bool same = true;
        for (; *at != '\0' && *at != ','; at++) {
            if (at[0] == '\\' && at[1] == ',') at++;
            same = same && *rest == *at;
            if (same) rest++;
        }
        if (same && *rest == '\0') return true;
        if (*at == '\0') return false;
    }
}

kn_status kn_words_parse(kn_words *out, const char *text, kn_error *err)
{
    kn_status status = KN_OK;
    KN_VECTOR(char *) items = {0};
    char *item = NULL;
    *out = (kn_words){0};
    KN_NEW(item, strlen(text) + 1);
    for (const char *from = text; kn_words_next(item, &from);) {
        KN_PUSH(&items, NULL); /* first the room, so that no copy is without an owner */
        char *copy = items.items[items.n - 1] = kn_string_copy(item, strlen(item), err);
        if (copy == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    }
done:
    kn_free(item);
    *out = (kn_words){items.items, items.n};
    if (status != KN_OK) kn_words_free(out);
    return status;
}

void kn_words_free(kn_words *list)
{
    for (size_t i = 0; i < list->n; i++) kn_free(list->items[i]);
    kn_free(list->items);
    *list = (kn_words){0};
}
