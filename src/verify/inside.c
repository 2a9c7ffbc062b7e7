/* Counting rows inside boxes. The rows are sorted by their texts, column after column, like a trie: a run of equal
 * texts is tried once against the released text, and only the runs inside it are looked at in the next column.
 *
 * Cost of one count: the number of distinct prefixes inside the cells, times a binary search. */
#include "verify/inside.h"

#include <string.h>

/* Stable counting sort of `rows` by key. */
static void sort_by(uint32_t *to, const uint32_t *from, uint32_t n, uint32_t *count, uint32_t n_keys,
                    const kn_sheet_column *column, const uint32_t *row_group)
{
    memset(count, 0, (n_keys + (size_t)1) * sizeof *count);
    for (uint32_t i = 0; i < n; i++) count[(column != NULL ? kn_sheet_code(column, i) : row_group[i]) + (size_t)1]++;
    for (uint32_t key = 0; key < n_keys; key++) count[key + 1] += count[key];
    for (uint32_t i = 0; i < n; i++)
        to[count[column != NULL ? kn_sheet_code(column, from[i]) : row_group[from[i]]]++] = from[i];
}

static void order_columns(kn_inside *inside, const uint32_t *columns, const kn_meaning *const *meanings)
{
    for (size_t i = 0; i < inside->n_columns; i++) {
        size_t at = i;
        uint32_t n_texts = inside->cells->columns[columns[i]].n_texts;
        while (at > 0 && inside->cells->columns[inside->columns[at - 1]].n_texts > n_texts) {
            inside->columns[at] = inside->columns[at - 1];
            inside->meanings[at] = inside->meanings[at - 1];
            inside->place[at] = inside->place[at - 1];
            at--;
        }
        inside->columns[at] = columns[i];
        inside->meanings[at] = meanings[i];
        inside->place[at] = i;
    }
}

static kn_status sort_rows(kn_inside *inside, const uint32_t *row_group, uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = inside->cells->n_rows, most = n_groups;
    uint32_t *other = NULL, *count = NULL;
    for (size_t i = 0; i < inside->n_columns; i++) {
        uint32_t n_texts = inside->cells->columns[inside->columns[i]].n_texts;
        if (n_texts > most) most = n_texts;
    }
    KN_NEW_RAW(inside->rows, n);
    KN_NEW_RAW(other, n);
    KN_NEW_RAW(count, most + (size_t)1);
    KN_NEW(inside->group_start, n_groups + (size_t)1);
    for (uint32_t i = 0; i < n; i++) inside->rows[i] = i;
    for (size_t i = inside->n_columns + (row_group != NULL ? 1 : 0); i-- > 0;) {
        bool is_group = row_group != NULL && i == 0;
        size_t c = row_group != NULL ? i - 1 : i;
        const kn_sheet_column *column = is_group ? NULL : &inside->cells->columns[inside->columns[c]];
        sort_by(other, inside->rows, n, count, is_group ? n_groups : column->n_texts, column, row_group);
        uint32_t *swap = inside->rows;
        inside->rows = other;
        other = swap;
    }
    for (uint32_t i = 0; i < n; i++) inside->group_start[(row_group != NULL ? row_group[i] : 0) + (size_t)1]++;
    for (uint32_t g = 0; g < n_groups; g++) inside->group_start[g + 1] += inside->group_start[g];
done:
    kn_free(other);
    kn_free(count);
    return status;
}

kn_status kn_inside_make(kn_inside **out, const kn_sheet *cells, const uint32_t *columns,
                         const kn_meaning *const *meanings, size_t n_columns, const uint32_t *row_group,
                         uint32_t n_groups, kn_error *err)
{
    kn_status status = KN_OK;
    kn_inside *inside = NULL;
    *out = NULL;
    KN_NEW(inside, 1);
    *inside = (kn_inside){.cells = cells, .n_columns = n_columns};
    KN_NEW(inside->columns, n_columns);
    KN_NEW(inside->meanings, n_columns);
    KN_NEW(inside->place, n_columns);
    order_columns(inside, columns, meanings);
    KN_TRY(sort_rows(inside, row_group, row_group != NULL ? n_groups : 1, err));
    *out = inside;
    inside = NULL;
done:
    kn_inside_free(inside);
    return status;
}

void kn_inside_free(kn_inside *inside)
{
    if (inside == NULL) return;
    kn_free(inside->columns);
    kn_free(inside->meanings);
    kn_free(inside->place);
    kn_free(inside->rows);
    kn_free(inside->group_start);
    kn_free(inside);
}

/* The end of the run of rows from `low` on that have `code`: steps that double, then halving. */
static uint32_t run_end(const kn_inside *inside, const kn_sheet_column *column, uint32_t low, uint32_t high,
                        uint32_t code)
{
    uint32_t step = 1, known = low; /* known has the code */
    while (high - known > step && kn_sheet_code(column, inside->rows[known + step]) == code) {
        known += step;
        step *= 2;
    }
    uint32_t end = high - known > step ? known + step : high; /* the run ends in (known, end] */
    while (known + 1 < end) {
        uint32_t middle = known + (end - known) / 2;
        if (kn_sheet_code(column, inside->rows[middle]) == code) known = middle;
        else end = middle;
    }
    return known + 1;
}

static uint64_t count_from(kn_inside *inside, size_t depth, uint32_t low, uint32_t high, const uint32_t *released,
                           uint64_t enough)
{
    while (depth < inside->n_columns && inside->meanings[depth]->releaseds[released[inside->place[depth]]].everything) {
        bool only_everything = true;
        for (size_t d = depth + 1; d < inside->n_columns; d++)
            only_everything &= inside->meanings[d]->releaseds[released[inside->place[d]]].everything;
        if (!only_everything) break;
        depth = inside->n_columns;
    }
    if (depth == inside->n_columns) return high - low;
    const kn_sheet_column *column = &inside->cells->columns[inside->columns[depth]];
    const kn_meaning *meaning = inside->meanings[depth];
    uint32_t text = released[inside->place[depth]];
    uint64_t found = 0;
    while (low < high && found < enough && !kn_inside_gave_up(inside)) {
        uint32_t code = kn_sheet_code(column, inside->rows[low]);
        uint32_t end = run_end(inside, column, low, high, code);
        inside->work++;
        if (kn_meaning_covers(meaning, code, text))
            found += count_from(inside, depth + 1, low, end, released, enough - found);
        low = end;
    }
    return found;
}

uint64_t kn_inside_count(kn_inside *inside, uint32_t group, const uint32_t *released, uint64_t enough)
{
    return count_from(inside, 0, inside->group_start[group], inside->group_start[group + 1], released, enough);
}
