/* Matching released cells with original values, one column at a time, when the order of rows is not known.
 *
 * Original texts are ranked (trees by leaf, ordered domains by position, other text as it comes), so that a released
 * text is an interval of ranks: a node's leaves, an interval's values, everything. Then it is the matching of intervals
 * with points: go through the points in order and give each to the open interval that ends first. That finds a matching
 * exactly when there is one. A set is taken as the interval from its first to its last member, and what has no simple
 * interval as everything: the test then asks less, never more. Rows match only within their group.
 *
 * Cost per column: two linear sorts of the rows, and a heap. */
#include "verify/match_columns.h"

#include "base/radix_sort.h"

#include <math.h>
#include <stdlib.h>

typedef struct ranked_text {
    bool missing;
    double position;
    uint32_t text;
} ranked_text;

typedef struct text_ranks {
    ranked_text *order; /* by rank */
    uint32_t *rank;     /* per original text */
    uint32_t n;
    uint32_t *low, *high; /* per released text; low > high: it covers nothing */
} text_ranks;

static int by_rank(const void *a, const void *b)
{
    const ranked_text *x = a, *y = b;
    if (x->missing != y->missing) return x->missing ? 1 : -1;
    if (isnan(x->position) != isnan(y->position)) return isnan(x->position) ? 1 : -1;
    if (x->position != y->position && !isnan(x->position)) return x->position < y->position ? -1 : 1;
    return (x->text > y->text) - (x->text < y->text);
}

/* The first rank at or beyond a position; or, with `beyond`, the first one beyond it. */
static uint32_t find_position(const text_ranks *ranks, double position, bool beyond)
{
    uint32_t low = 0, high = ranks->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ranked_text *at = &ranks->order[middle];
        bool before =
            !at->missing && !isnan(at->position) && (at->position < position || (beyond && at->position == position));
        if (before) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void widen(text_ranks *ranks, uint32_t released, uint32_t low, uint32_t end)
{
    if (low >= end) return;
    if (low < ranks->low[released]) ranks->low[released] = low;
    if (ranks->low[released] == low && ranks->high[released] < low) ranks->high[released] = low;
    if (end - 1 > ranks->high[released]) ranks->high[released] = end - 1;
}

static void rank_released(text_ranks *ranks, const kn_meaning *meaning, uint32_t released)
{
    const kn_released_text *text = &meaning->releaseds[released];
    bool tree = meaning->tree != NULL;
    ranks->low[released] = KN_NONE;
    ranks->high[released] = 0;
    if (text->everything || text->masked || (tree && text->n_nodes == 0 && text->n_members == 0))
        widen(ranks, released, 0, ranks->n);
    if (text->same != KN_NONE) widen(ranks, released, ranks->rank[text->same], ranks->rank[text->same] + 1);
    for (uint32_t i = 0; i < text->n_nodes; i++) {
        uint32_t node = meaning->nodes.items[text->first_node + i];
        const kn_tree *nodes = meaning->tree;
        widen(ranks, released, find_position(ranks, nodes->first[node], false),
              find_position(ranks, nodes->last[node], true));
        if (node == nodes->root) widen(ranks, released, 0, ranks->n);
    }
    if (!tree && !isnan(text->position))
        widen(ranks, released, find_position(ranks, text->position, false), find_position(ranks, text->position, true));
    if (!tree && !isnan(text->low))
        widen(ranks, released, find_position(ranks, text->low, false), find_position(ranks, text->high, true));
    for (uint32_t i = 0; i < text->n_members; i++) {
        uint32_t rank = ranks->rank[meaning->members.items[text->first_member + i]];
        widen(ranks, released, rank, rank + 1);
    }
    for (uint32_t i = ranks->n; text->missing && i > 0 && ranks->order[i - 1].missing; i--)
        widen(ranks, released, i - 1, i);
}

static kn_status rank_texts(text_ranks *ranks, const kn_meaning *meaning, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_released = meaning->released_column->n_texts;
    *ranks = (text_ranks){.n = meaning->original_column->n_texts};
    KN_NEW(ranks->order, ranks->n);
    KN_NEW(ranks->rank, ranks->n);
    KN_NEW(ranks->low, n_released);
    KN_NEW(ranks->high, n_released);
    for (uint32_t i = 0; i < ranks->n; i++) {
        const kn_original_text *text = &meaning->originals[i];
        double position = text->position;
        if (meaning->tree != NULL) position = text->leaf != KN_NONE ? (double)text->leaf : (double)NAN;
        /* in a tree the missing value is a leaf like the others */
        bool missing = text->missing && meaning->tree == NULL;
        ranks->order[i] = (ranked_text){missing, position, i};
    }
    qsort(ranks->order, ranks->n, sizeof *ranks->order, by_rank);
    for (uint32_t i = 0; i < ranks->n; i++) ranks->rank[ranks->order[i].text] = i;
    for (uint32_t i = 0; i < n_released; i++) {
        rank_released(ranks, meaning, i);
        if (meaning->tree != NULL && meaning->releaseds[i].missing) widen(ranks, i, 0, ranks->n);
    }
done:
    return status;
}

static void ranks_free(text_ranks *ranks)
{
    kn_free(ranks->order);
    kn_free(ranks->rank);
    kn_free(ranks->low);
    kn_free(ranks->high);
}

typedef struct sorted_rows {
    uint64_t *keys; /* group, then rank */
    uint32_t *rows, n;
} sorted_rows;

static kn_status sort_rows(sorted_rows *out, const kn_sheet *sheet, uint32_t column, const uint32_t *group,
                           const uint32_t *rank, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    *out = (sorted_rows){0};
    KN_NEW_RAW(out->keys, sheet->n_rows);
    KN_NEW_RAW(out->rows, sheet->n_rows);
    for (uint32_t r = 0; r < sheet->n_rows; r++) {
        if (group[r] == KN_NONE) continue;
        out->keys[out->n] = (uint64_t)group[r] << 32 | rank[kn_sheet_code(&sheet->columns[column], r)];
        out->rows[out->n++] = r;
    }
    KN_TRY(kn_radix_sort(out->keys, out->rows, out->n, 64, pool, err));
done:
    return status;
}

/* --- Open intervals: a heap, the one that ends first on top ------------------------------------------------------ */

typedef struct open_intervals {
    uint64_t *items; /* end, then row */
    size_t n;
} open_intervals;

static void push(open_intervals *open, uint64_t item)
{
    size_t at = open->n++;
    for (; at > 0 && open->items[(at - 1) / 2] > item; at = (at - 1) / 2) open->items[at] = open->items[(at - 1) / 2];
    open->items[at] = item;
}

static void pop(open_intervals *open)
{
    uint64_t last = open->items[--open->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < open->n; at = child) {
        if (child + 1 < open->n && open->items[child + 1] < open->items[child]) child++;
        if (open->items[child] >= last) break;
        open->items[at] = open->items[child];
    }
    if (open->n > 0) open->items[at] = last;
}

/* Points (original rows) in order, each to the open interval (released row) that ends first. */
static uint32_t sweep(const sorted_rows *points, const sorted_rows *intervals, open_intervals *open,
                      const kn_sheet_column *released, const uint32_t *ends)
{
    uint32_t i = 0, j = 0;
    while (j < intervals->n) {
        uint32_t group = (uint32_t)(intervals->keys[j] >> 32);
        open->n = 0;
        while (i < points->n && (uint32_t)(points->keys[i] >> 32) < group) i++;
        for (; i < points->n && (uint32_t)(points->keys[i] >> 32) == group; i++) {
            for (; j < intervals->n && intervals->keys[j] <= points->keys[i]; j++)
                push(open, (uint64_t)ends[kn_sheet_code(released, intervals->rows[j])] << 32 | intervals->rows[j]);
            if (open->n == 0) continue;
            if (open->items[0] >> 32 < (uint32_t)points->keys[i]) return (uint32_t)open->items[0];
            pop(open);
        }
        if (open->n > 0) return (uint32_t)open->items[0];
        if (j < intervals->n && (uint32_t)(intervals->keys[j] >> 32) == group) return intervals->rows[j];
    }
    return KN_NONE;
}

kn_status kn_column_match_find(uint32_t *misfit, const kn_column_match *match, kn_error *err)
{
    kn_status status = KN_OK;
    text_ranks ranks = {0};
    sorted_rows points = {0}, intervals = {0};
    open_intervals open = {0};
    *misfit = KN_NONE;
    KN_TRY(rank_texts(&ranks, match->meaning, err));
    KN_TRY(sort_rows(&points, match->original, match->original_column, match->original_group, ranks.rank, match->pool,
                     err));
    KN_TRY(sort_rows(&intervals, match->release, match->release_column, match->release_group, ranks.low, match->pool,
                     err));
    KN_NEW_RAW(open.items, match->release->n_rows);
    *misfit = sweep(&points, &intervals, &open, &match->release->columns[match->release_column], ranks.high);
done:
    ranks_free(&ranks);
    kn_free(points.keys);
    kn_free(points.rows);
    kn_free(intervals.keys);
    kn_free(intervals.rows);
    kn_free(open.items);
    return status;
}
