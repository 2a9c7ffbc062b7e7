/* Folding a column of text: its spellings are sorted by their folded bytes, then by their own, so that spellings of one
 * value are neighbours again, as everywhere (table.h). Cost: a sort of the spellings and one pass over the rows. */
#include "table/fold_column.h"

#include "base/bytes.h"
#include "base/fold.h"

#include <stdlib.h>
#include <string.h>

typedef struct folded {
    const char *fold, *bytes;
    size_t n_fold, n_bytes;
    uint32_t spelling;
} folded;

static int compare_folds(const void *a, const void *b)
{
    const folded *x = a, *y = b;
    int order = kn_bytes_compare(x->fold, x->n_fold, y->fold, y->n_fold);
    return order != 0 ? order : kn_bytes_compare(x->bytes, x->n_bytes, y->bytes, y->n_bytes);
}

static bool same_fold(const folded *a, const folded *b)
{
    return kn_bytes_compare(a->fold, a->n_fold, b->fold, b->n_fold) == 0;
}

/* Spellings that are not missing; those that are stand behind them. */
static uint32_t n_present(const kn_column *column)
{
    uint32_t n = column->n_spellings;
    while (n > 0 && column->has_missing && kn_column_value(column, n - 1) == column->n_values - 1) n--;
    return n;
}

/* The present spellings, sorted; *texts holds the folded bytes. Both are yours to kn_free. */
static kn_status fold_spellings(folded **out, char **texts, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = n_present(column);
    char *to;
    *out = NULL;
    *texts = NULL;
    KN_NEW_RAW(*texts, column->offset[n] + 1);
    KN_NEW_RAW(*out, n);
    to = *texts;
    for (uint32_t s = 0; s < n; s++) {
        folded *item = &(*out)[s];
        *item = (folded){.fold = to, .spelling = s};
        item->bytes = kn_column_bytes(column, s, &item->n_bytes);
        item->n_fold = kn_fold(to, item->bytes, item->n_bytes);
        to += item->n_fold;
    }
    qsort(*out, n, sizeof **out, compare_folds);
done:
    return status;
}

kn_status kn_column_count_folds(uint32_t *out, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    folded *items = NULL;
    char *texts = NULL;
    *out = 0;
    if (column->type != KN_TYPE_TEXT) return KN_OK;
    KN_TRY(fold_spellings(&items, &texts, column, err));
    for (uint32_t i = 1; i < n_present(column); i++) *out += same_fold(&items[i - 1], &items[i]);
done:
    kn_free(items);
    kn_free(texts);
    return status;
}

/* Dictionary and codes in the order of `items`; the missing spellings keep their places. */
static kn_status reorder(kn_column *column, const folded *items, uint32_t n, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *new_code = NULL, n_values = 0;
    uint32_t *value = NULL;
    uint64_t *offset = NULL, *first_line = NULL, *whole_rows = NULL;
    char *bytes = NULL;
    KN_NEW_RAW(new_code, column->n_spellings);
    KN_NEW_RAW(value, column->n_spellings);
    KN_NEW(offset, (size_t)column->n_spellings + 1);
    KN_NEW_RAW(first_line, column->n_spellings);
    KN_NEW_RAW(bytes, column->offset[column->n_spellings] + 1);
    if (column->whole_rows != NULL) KN_NEW_RAW(whole_rows, column->n_spellings);
    for (uint32_t i = 0; i < column->n_spellings; i++) {
        uint32_t from = i < n ? items[i].spelling : i;
        size_t n_bytes;
        const char *text = kn_column_bytes(column, from, &n_bytes);
        memcpy(bytes + offset[i], text, n_bytes);
        offset[i + 1] = offset[i] + n_bytes;
        first_line[i] = column->first_line[from];
        if (whole_rows != NULL) whole_rows[i] = column->whole_rows[from];
        new_code[from] = i;
        bool same = i > 0 && (i < n ? same_fold(&items[i - 1], &items[i]) : i > n);
        n_values += !same;
        value[i] = n_values - 1;
    }
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t code = new_code[kn_column_code(column, row)];
        if (column->code_bytes == 1) ((uint8_t *)column->codes)[row] = (uint8_t)code;
        else if (column->code_bytes == 2) ((uint16_t *)column->codes)[row] = (uint16_t)code;
        else ((uint32_t *)column->codes)[row] = code;
    }
    kn_free(column->bytes);
    kn_free(column->offset);
    kn_free(column->first_line);
    kn_free(column->spelling_value);
    kn_free(column->whole_rows);
    column->whole_rows = whole_rows;
    column->bytes = bytes;
    column->offset = offset;
    column->first_line = first_line;
    column->spelling_value = value;
    column->n_values = n_values;
    column->is_folded = true;
    bytes = NULL;
    offset = first_line = whole_rows = NULL;
    value = NULL;
done:
    kn_free(new_code);
    kn_free(value);
    kn_free(offset);
    kn_free(first_line);
    kn_free(whole_rows);
    kn_free(bytes);
    return status;
}

kn_status kn_column_fold(kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    folded *items = NULL;
    char *texts = NULL;
    if (column->type != KN_TYPE_TEXT) return KN_OK;
    KN_TRY(fold_spellings(&items, &texts, column, err));
    KN_TRY(reorder(column, items, n_present(column), n_rows, err));
done:
    kn_free(items);
    kn_free(texts);
    return status;
}
