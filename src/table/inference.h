/* What the parts of type inference share: looking and deciding (infer.c), sorting (infer_sort.c) and the column that
 * comes of it (infer_column.c). */
#ifndef KN_TABLE_INFERENCE_H
#define KN_TABLE_INFERENCE_H

#include "table/dates.h"
#include "table/infer.h"
#include "table/number.h"

#include <string.h>

/* A spelling of a list. */
typedef struct kn_item {
    uint64_t key;
    uint32_t spelling, list;
} kn_item;

typedef struct list_state {
    kn_item *items, *scratch; /* room for every spelling of the list */
    uint32_t n_present;       /* items[0 .. n_present) are values, ... */
    uint32_t n_words;         /* ... n_words behind them are if the column is text, the rest is missing */
    bool numbers, whole;      /* all of them are; then the keys are set */
    unsigned forms;           /* of dates that all of them have */
    uint32_t n_zones, n_times;
    size_t n_prefix; /* bytes that all share with the reference */
} list_state;

typedef struct kn_inference {
    const kn_spellings *lists;
    uint32_t n_lists;
    const kn_infer_options *options;
    const char *column_name;
    list_state *states;
    kn_item *items, *scratch; /* of all lists, one after the other */
    size_t n_items;
    const char *reference; /* any present spelling; NULL: there is none */
    size_t n_reference;

    /* after kn_inference_decide */
    kn_type type;
    kn_marks marks, dropped_by; /* of its numbers; which marks told what does not fit, PLAIN: none */
    kn_date_form form;
    bool exchangeable; /* dates: day and month could be exchanged in every one */
    size_t n_prefix;
} kn_inference;

static inline const char *kn_item_bytes_in(const kn_spellings *spellings, uint32_t i, size_t *n_bytes)
{
    *n_bytes = (size_t)(spellings->offset[i + 1] - spellings->offset[i]);
    return spellings->bytes + spellings->offset[i];
}

static inline const char *kn_item_bytes(const kn_inference *o, const kn_item *it, size_t *n_bytes)
{
    return kn_item_bytes_in(&o->lists[it->list], it->spelling, n_bytes);
}

static inline void kn_copy_bytes(char *to, const char *from, size_t n)
{
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + n - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + n - 8, &last, 8);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + n - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + n - 4, &last, 4);
    } else if (n > 0) {
        char first = from[0], middle = from[n / 2], last = from[n - 1];
        to[0] = first;
        to[n / 2] = middle;
        to[n - 1] = last;
    }
}

/* Is the cell empty, or one of the user's words for a missing value? */
bool kn_spelling_is_missing(const char *bytes, size_t n_bytes, const kn_infer_options *options);
double kn_number_of_key(uint64_t key);

int kn_item_compare_bytes(const kn_inference *o, const kn_item *a, const kn_item *b);
/* Exact: 0 when both spellings mean the same value. Text has one spelling per value. */
int kn_item_compare_values(const kn_inference *o, const kn_item *a, const kn_item *b);
/* Bytes skipped .. skipped+7 behind the prefix as a number whose order is theirs; zeros behind the end. */
uint64_t kn_item_text_key(const kn_inference *o, const kn_item *it, uint32_t depth);
void kn_items_merge(const kn_inference *o, kn_item *out, const kn_item *a, size_t n_a, const kn_item *b, size_t n_b);
void kn_items_sort_by_key(kn_item *items, kn_item *scratch, uint32_t n); /* stable */
/* Merge sort by key, value, bytes; sorted insertion for the smallest runs. */
void kn_items_sort_small(const kn_inference *o, kn_item *items, kn_item *scratch, size_t n);
/* The same for many. Items carry the keys of `depth` (text: all agree on the bytes before) and get them back. */
void kn_items_sort(const kn_inference *o, kn_item *items, kn_item *scratch, uint32_t n, uint32_t depth);

#endif
