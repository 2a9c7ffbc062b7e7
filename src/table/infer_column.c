/* The column that inference makes: the sorted lists of all readers merged two by two, equal spellings made one, and
 * their values numbered in order. */
#include "table/inference.h"

#include <math.h>

enum { AHEAD = 24 }; /* items whose bytes are fetched before their turn */

typedef struct in_order {
    kn_item *items;
    uint32_t n_present, n;
} in_order;

/* Merges the present spellings of all lists: neighbours two by two, from one array into the other and back. */
static kn_status merge_lists(kn_item **out, kn_inference *o, kn_error *err)
{
    kn_status status = KN_OK;
    struct run {
        const kn_item *items;
        size_t n;
    } *runs = NULL;
    uint32_t n_runs = 0;
    kn_item *to = o->scratch, *spare = o->items;
    KN_NEW(runs, o->n_lists + 1);
    for (uint32_t l = 0; l < o->n_lists; l++)
        if (o->states[l].n_present > 0) {
            runs[n_runs].items = o->states[l].items;
            runs[n_runs++].n = o->states[l].n_present;
        }
    while (n_runs > 1) {
        kn_item *at = to;
        uint32_t n_merged = 0;
        for (uint32_t i = 0; i < n_runs; i += 2) {
            size_t n_b = i + 1 < n_runs ? runs[i + 1].n : 0;
            kn_items_merge(o, at, runs[i].items, runs[i].n, n_b != 0 ? runs[i + 1].items : runs[i].items, n_b);
            runs[n_merged++] = (struct run){at, runs[i].n + n_b};
            at += runs[n_merged - 1].n;
        }
        n_runs = n_merged;
        kn_item *swapped = to;
        to = spare;
        spare = swapped;
    }
    /* One list alone may stand anywhere; what follows needs the room behind it. */
    if (n_runs == 1 && runs[0].items != spare) memmove(o->items, runs[0].items, runs[0].n * sizeof *o->items);
    *out = n_runs == 1 && runs[0].items == spare ? spare : o->items;
    if (*out == o->items) { /* the other one is done: its memory is wanted for the column */
        kn_free(o->scratch);
        o->scratch = NULL;
    } else {
        kn_free(o->items);
        o->items = NULL;
    }
done:
    kn_free(runs);
    return status;
}

/* Equal neighbours become one, the one of the smallest line; all of them get its code. */
static uint32_t drop_repeats(const kn_inference *o, kn_item *items, size_t n, uint32_t first_code,
                             uint32_t *const *new_codes)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(&new_codes[items[i + AHEAD].list][items[i + AHEAD].spelling], 1);
        kn_item it = items[i];
        kn_item *last = &items[n_kept - (n_kept > 0)];
        if (n_kept > 0 && last->key == it.key && kn_item_compare_bytes(o, last, &it) == 0) {
            uint64_t line = o->lists[it.list].first_line[it.spelling];
            if (line < o->lists[last->list].first_line[last->spelling]) *last = it;
        } else {
            items[n_kept++] = it;
        }
        new_codes[it.list][it.spelling] = first_code + (uint32_t)(n_kept - 1);
    }
    return (uint32_t)n_kept;
}

static void fetch_ahead(const kn_inference *o, const kn_item *items, uint32_t i, uint32_t n)
{
    if (i + 2 * AHEAD < n) {
        const kn_item *far = &items[i + 2 * AHEAD];
        __builtin_prefetch(&o->lists[far->list].offset[far->spelling]);
        __builtin_prefetch(&o->lists[far->list].first_line[far->spelling]);
    }
    if (i + AHEAD < n) {
        const kn_item *near = &items[i + AHEAD];
        __builtin_prefetch(o->lists[near->list].bytes + o->lists[near->list].offset[near->spelling]);
    }
}

/* A missing cell that is so only because its column's type does not fit it. */
static bool is_invalid(const kn_inference *o, const char *bytes, size_t n_bytes)
{
    return o->options->invalid_is_missing && !kn_spelling_is_missing(bytes, n_bytes, o->options) &&
           !kn_is_null_word(bytes, n_bytes);
}

static kn_status copy_spellings(kn_column *column, const kn_inference *o, const in_order *sorted, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t at = 0, n_all_bytes = 0;
    column->n_spellings = sorted->n;
    for (uint32_t l = 0; l < o->n_lists; l++)
        if (o->lists[l].n > 0) n_all_bytes += o->lists[l].offset[o->lists[l].n];
    KN_NEW_RAW(column->bytes, (size_t)n_all_bytes);
    KN_NEW_RAW(column->offset, (size_t)sorted->n + 1);
    KN_NEW_RAW(column->first_line, sorted->n);
    for (uint32_t i = 0; i < sorted->n; i++) {
        size_t n_bytes;
        const kn_item *it = &sorted->items[i];
        fetch_ahead(o, sorted->items, i, sorted->n);
        const char *bytes = kn_item_bytes(o, it, &n_bytes);
        char plain[KN_MARKED_BYTES];
        if (i >= sorted->n_present && is_invalid(o, bytes, n_bytes)) {
            if (column->is_invalid == NULL) KN_NEW(column->is_invalid, sorted->n);
            column->is_invalid[i] = true;
            if (o->options->is_quasi) n_bytes = 0;
        }
        if (o->options->is_quasi && i < sorted->n_present && o->marks != KN_MARKS_PLAIN) {
            n_bytes = kn_number_plain(plain, bytes, n_bytes, o->marks);
            bytes = plain;
        }
        kn_copy_bytes(column->bytes + at, bytes, n_bytes);
        column->offset[i] = at;
        column->first_line[i] = o->lists[it->list].first_line[it->spelling];
        at += n_bytes;
    }
    column->offset[sorted->n] = at;
    if (at < n_all_bytes) { /* there were repeats */
        char *shrunk = kn_array_resize(column->bytes, (size_t)at, 1, err);
        if (shrunk == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->bytes = shrunk;
    }
done:
    return status;
}

/* Spellings are in order; neighbours of equal value are one value. */
static kn_status number_values(kn_column *column, const kn_inference *o, const in_order *sorted, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *value_of = NULL, n_values = 0;
    bool text = column->type == KN_TYPE_TEXT;
    column->has_missing = sorted->n_present < sorted->n;
    column->n_values = sorted->n;
    if (text && sorted->n - sorted->n_present <= 1) return KN_OK;
    KN_NEW_RAW(value_of, sorted->n);
    for (uint32_t i = 0; i < sorted->n; i++) {
        const kn_item *it = &sorted->items[i];
        bool same = i > sorted->n_present || (i > 0 && i < sorted->n_present && !text && it->key == it[-1].key &&
                                              kn_item_compare_values(o, it, it - 1) == 0);
        n_values += !same;
        value_of[i] = n_values - 1;
    }
    column->n_values = n_values;
    if (n_values < sorted->n) {
        column->spelling_value = value_of;
        value_of = NULL;
    }
done:
    kn_free(value_of);
    return status;
}

static kn_status set_numbers(kn_column *column, const kn_inference *o, const in_order *sorted, kn_error *err)
{
    kn_status status = KN_OK;
    if (column->type == KN_TYPE_TEXT) return KN_OK;
    KN_NEW_RAW(column->number, column->n_values);
    for (uint32_t i = 0; i < sorted->n; i++) {
        double *number = &column->number[kn_column_value(column, i)];
        if (i >= sorted->n_present) {
            *number = NAN;
        } else if (column->type == KN_TYPE_DATE) {
            kn_moment moment;
            size_t n_bytes;
            const char *bytes = kn_column_bytes(column, i, &n_bytes);
            kn_date_parse(&moment, bytes, n_bytes, o->form);
            *number = kn_moment_number(&moment);
        } else {
            *number = kn_number_of_key(sorted->items[i].key);
        }
    }
done:
    return status;
}

/* The spellings of the missing value, sorted by bytes, of all lists. */
static kn_status collect_missing(kn_item **out, size_t *n, kn_inference *o, kn_error *err)
{
    kn_status status = KN_OK;
    kn_item *missing = NULL, *scratch = NULL;
    *out = NULL;
    *n = 0;
    for (uint32_t l = 0; l < o->n_lists; l++) *n += o->lists[l].n - o->states[l].n_present;
    KN_NEW_RAW(missing, *n);
    KN_NEW_RAW(scratch, *n);
    size_t at = 0;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = o->states[l].n_present; i < o->lists[l].n; i++) missing[at++] = o->states[l].items[i];
    kn_type type = o->type;
    o->type = KN_TYPE_TEXT;
    kn_items_sort_small(o, missing, scratch, *n);
    o->type = type;
    *out = missing;
    missing = NULL;
done:
    kn_free(missing);
    kn_free(scratch);
    return status;
}

kn_status kn_inference_finish(kn_column *column, uint32_t *const *new_codes, kn_inference *o, kn_error *err)
{
    kn_status status = KN_OK;
    in_order result = {0};
    kn_item *missing = NULL;
    size_t n_present = 0, n_missing;
    for (uint32_t l = 0; l < o->n_lists; l++) n_present += o->states[l].n_present;
    column->type = o->type;
    column->marks = o->marks;
    KN_TRY(collect_missing(&missing, &n_missing, o, err));
    KN_TRY(merge_lists(&result.items, o, err));
    result.n_present = drop_repeats(o, result.items, n_present, 0, new_codes);
    n_missing = drop_repeats(o, missing, n_missing, result.n_present, new_codes);
    if (n_missing > 0) memcpy(result.items + result.n_present, missing, n_missing * sizeof *missing);
    result.n = result.n_present + (uint32_t)n_missing;
    KN_TRY(copy_spellings(column, o, &result, err));
    KN_TRY(number_values(column, o, &result, err));
    KN_TRY(set_numbers(column, o, &result, err));
done:
    kn_free(missing);
    return status;
}
