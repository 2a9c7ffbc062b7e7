/* The inner loop of the search, for class measures: one pass over a class's items gives, for every letter of the tail,
 * the lanes of the parts into which it would split the class. Included by the files of the bounds, which say what a
 * class and a split cost; the compiler puts everything into one loop.
 *
 * Cost per class: items times columns additions, then splits times lanes. */
#ifndef KN_SEARCH_CUTS_CUT_KERNEL_H
#define KN_SEARCH_CUTS_CUT_KERNEL_H

#include "search/cuts/cut_frame.h"

#include <string.h>

#define KN_INLINE static inline __attribute__((always_inline))

/* Parts of one split: lanes of part i at lanes[i * n_lanes]. */
typedef struct kn_parts {
    uint32_t n;
    const double *lanes;
    bool more_below; /* letters that need this one are in the tail: what falls to a part may be split again by them */
} kn_parts;

KN_INLINE void kn_add_lanes(double *to, const double *lanes, uint32_t n_lanes)
{
    typedef double pair __attribute__((vector_size(16), may_alias, aligned(8)));
    for (uint32_t lane = 0; lane < n_lanes; lane += 2) *(pair *)(to + lane) += *(const pair *)(lanes + lane);
}

/* worker->sums of the columns in which the class has more than one position: running sums from its lowest on. */
KN_INLINE uint32_t kn_cut_sums(uint32_t *active, kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t class,
                               uint32_t n_lanes)
{
    const kn_cuts *cuts = worker->cuts;
    const uint16_t *low = frame->low + (size_t) class * cuts->n_keys,
                   *high = frame->high + (size_t) class * cuts->n_keys;
    const double *lanes = frame->items.lanes;
    const uint16_t *keys = frame->items.keys;
    double *sums = worker->sums;
    uint32_t n_active = 0;
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        if (low[q] == high[q]) continue;
        active[n_active++] = q;
        memset(sums + (size_t)(worker->offset[q] + low[q]) * n_lanes, 0,
               (size_t)(high[q] - low[q] + 1) * n_lanes * sizeof *sums);
    }
    double *base[KN_MOST_COLUMNS];
    for (uint32_t a = 0; a < n_active; a++) base[a] = sums + (size_t)worker->offset[active[a]] * n_lanes;
    const uint16_t *key = keys + (size_t)frame->begin[class] * cuts->n_keys;
    for (uint32_t i = frame->begin[class]; i < frame->begin[class + 1]; i++, key += cuts->n_keys)
        for (uint32_t a = 0; a < n_active; a++)
            kn_add_lanes(base[a] + (size_t)key[active[a]] * n_lanes, lanes + (size_t)i * n_lanes, n_lanes);
    for (uint32_t a = 0; a < n_active; a++) {
        uint32_t q = active[a];
        double *sum = sums + (size_t)(worker->offset[q] + low[q]) * n_lanes;
        for (uint32_t p = low[q]; p < high[q]; p++, sum += n_lanes) kn_add_lanes(sum + n_lanes, sum, n_lanes);
    }
    return n_active;
}

/* The letter of the tail that splits a class first where letters need each other: all others that would split it in
 * this column stand below. KN_NONE: none. */
static inline uint32_t kn_topmost(const kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t q, uint32_t low,
                                  uint32_t high)
{
    const kn_cuts *cuts = worker->cuts;
    uint32_t top = KN_NONE;
    for (uint32_t t = frame->tail_start[q]; t < frame->tail_start[q + 1]; t++) {
        uint32_t letter = cuts->columns[q].letter_at[frame->tail[t]];
        if (frame->tail[t] <= low || frame->tail[t] > high) continue;
        if (top == KN_NONE || cuts->letters[letter].depth < cuts->letters[top].depth) top = letter;
    }
    return top;
}

/* A letter below this one is in the tail. */
static inline bool kn_more_below(const kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t letter)
{
    const kn_cuts *cuts = worker->cuts;
    for (uint32_t other = letter + 1; other < cuts->n_letters; other++)
        if (cuts->letters[other].parent == letter && frame->state[other] == KN_LETTER_TAIL) return true;
    return false;
}

/* Parts of a split by several cuts, into `parts` (room for one more than the cuts); returns how many have rows. */
static inline uint32_t kn_several_parts(double *parts, const kn_cut_worker *worker, const kn_letter *letter,
                                        uint32_t low, uint32_t high, uint32_t n_lanes)
{
    const double *sums = worker->sums + (size_t)worker->offset[letter->q] * n_lanes;
    uint32_t n = 0, from = low;
    for (uint32_t i = 0; i <= letter->n_cuts; i++) {
        uint32_t past = i < letter->n_cuts ? letter->cuts[i] : high + 1u;
        if (past > high + 1) past = high + 1;
        if (past <= from) continue;
        for (uint32_t lane = 0; lane < n_lanes; lane++)
            parts[n * n_lanes + lane] = sums[(past - 1) * (size_t)n_lanes + lane] -
                                        (from > low ? sums[(from - 1) * (size_t)n_lanes + lane] : 0);
        if (parts[n * n_lanes + KN_LANE_ROWS] > 0) n++;
        from = past;
    }
    return n;
}

typedef kn_split (*kn_split_fn)(const kn_cuts *cuts, const kn_parts *parts);
typedef double (*kn_class_fn)(const kn_cuts *cuts, const double *lanes);
/* About what the class pays for leaving out a cut; one and other: lanes of the parts of the allset on its two sides. */
typedef double (*kn_worth_fn)(const kn_cuts *cuts, const double *total, const double *one, const double *other);

/* Pairs of rows that it tells apart, where nothing better is known. */
KN_INLINE double kn_pairs_worth(const kn_cuts *cuts, const double *total, const double *one, const double *other)
{
    return one[KN_LANE_ROWS] * other[KN_LANE_ROWS] / total[KN_LANE_ROWS];
}

KN_INLINE void kn_note_split(kn_cut_worker *worker, uint32_t *n_splits, uint32_t letter, kn_split split, double worth)
{
    worker->splits[*n_splits] = split;
    worker->split_letter[*n_splits] = letter;
    worker->split_worth[(*n_splits)++] = worth;
}

/* The split by a letter of several cuts. Its worth: as if all its cuts stood where they part the rows most evenly. */
KN_INLINE void kn_note_node(kn_cut_worker *worker, uint32_t *n_splits, const kn_cut_frame *frame, uint32_t class,
                            uint32_t q, uint32_t n_lanes, kn_split_fn split, kn_worth_fn worth)
{
    const kn_cuts *cuts = worker->cuts;
    const uint32_t low = frame->low[(size_t) class * cuts->n_keys + q],
                   high = frame->high[(size_t) class * cuts->n_keys + q];
    const uint32_t letter = kn_topmost(worker, frame, q, low, high);
    if (letter == KN_NONE) return;
    double sum = 0, *lanes = worker->part_lanes;
    kn_parts parts = {0, lanes, kn_more_below(worker, frame, letter)};
    parts.n = kn_several_parts(lanes, worker, &cuts->letters[letter], low, high, n_lanes);
    for (uint32_t i = 0; i + 1 < parts.n; i++)
        sum += worth(cuts, frame->lanes + (size_t) class * n_lanes, lanes + (size_t)i * n_lanes,
                     lanes + (i + (size_t)1) * n_lanes);
    kn_note_split(worker, n_splits, letter, split(cuts, &parts), sum);
}

/* All splits of one class, into worker->splits. */
KN_INLINE uint32_t kn_cut_splits(kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t class, uint32_t n_lanes,
                                 kn_split_fn split, kn_worth_fn worth)
{
    const kn_cuts *cuts = worker->cuts;
    const uint16_t *low = frame->low + (size_t) class * cuts->n_keys,
                   *high = frame->high + (size_t) class * cuts->n_keys;
    const double *total = frame->lanes + (size_t) class * n_lanes;
    uint32_t active[KN_MOST_COLUMNS], n_splits = 0, n_active = kn_cut_sums(active, worker, frame, class, n_lanes);
    double *lanes = worker->part_lanes, *one = lanes + 2 * (size_t)n_lanes, *other = one + n_lanes;
    for (uint32_t a = 0; a < n_active; a++) {
        const uint32_t q = active[a];
        const kn_cut_column *column = &cuts->columns[q];
        if (column->form == KN_PART_NODE) {
            kn_note_node(worker, &n_splits, frame, class, q, n_lanes, split, worth);
            continue;
        }
        const double *sums = worker->sums + (size_t)worker->offset[q] * n_lanes, *before = NULL;
        const uint16_t *tail = frame->tail + frame->tail_start[q], *end = frame->tail + frame->tail_start[q + 1];
        while (tail < end && *tail <= low[q]) tail++;
        while (end > tail && end[-1] > high[q]) end--;
        for (; tail < end; tail++) {
            const double *left = sums + (*tail - (size_t)1) * n_lanes,
                         *next = tail + 1 < end ? sums + (tail[1] - (size_t)1) * n_lanes : total;
            for (uint32_t lane = 0; lane < n_lanes; lane++) {
                lanes[lane] = left[lane];
                lanes[n_lanes + lane] = total[lane] - left[lane];
                one[lane] = left[lane] - (before != NULL ? before[lane] : 0);
                other[lane] = next[lane] - left[lane];
            }
            const kn_parts parts = {2, lanes, false};
            kn_note_split(worker, &n_splits, column->letter_at[*tail], split(cuts, &parts),
                          worth(cuts, total, one, other));
            before = left;
        }
    }
    return n_splits;
}

// clang-format off
/* Every class costs at least
 *     min(its price, min over the letters that gain: the bound of the split)
 * because a descendant either takes one of those letters, or leaves the class at no less than its price. */
// clang-format on
KN_INLINE void kn_cut_evaluate(kn_cut_worker *worker, kn_cut_frame *frame, uint32_t n_lanes, kn_class_fn price,
                               kn_split_fn split, kn_worth_fn worth)
{
    const kn_cuts *cuts = worker->cuts;
    worker->cost = worker->bound = cuts->bound->suppressed(cuts, frame->n_suppressed);
    memset(worker->letters, 0, cuts->n_letters * sizeof *worker->letters);
    for (uint32_t c = 0; c < frame->n_classes; c++) {
        const double own = price(cuts, frame->lanes + (size_t)c * n_lanes);
        double least = own;
        worker->cost += own;
        if (frame->begin[c + 1] - frame->begin[c] == 1) {
            worker->bound += own;
            continue;
        }
        uint32_t n_splits = kn_cut_splits(worker, frame, c, n_lanes, split, worth);
        for (uint32_t i = 0; i < n_splits; i++)
            if (worker->splits[i].gains && worker->splits[i].bound < least) least = worker->splits[i].bound;
        worker->bound += least;
        for (uint32_t i = 0; i < n_splits; i++) {
            kn_letter_view *letter = &worker->letters[worker->split_letter[i]];
            const kn_split *found = &worker->splits[i];
            letter->rise += found->bound > least ? found->bound - least : 0;
            letter->suppressed += found->suppressed;
            letter->gains |= found->gains;
            letter->n_splits++;
            letter->worth += worker->split_worth[i];
        }
    }
    /* a letter without gain of its own is needed by one below that gains */
    for (uint32_t letter = cuts->n_letters; cuts->has_parents && letter-- > 0;)
        if (worker->letters[letter].gains && cuts->letters[letter].parent != KN_NONE)
            worker->letters[cuts->letters[letter].parent].gains = true;
}

/* Two lanes are the common case: let the compiler know. */
#define KN_CUT_EVALUATE(worker, frame, price, split, worth)                                                            \
    do {                                                                                                               \
        if ((worker)->cuts->n_lanes == 2) kn_cut_evaluate(worker, frame, 2, price, split, worth);                      \
        else kn_cut_evaluate(worker, frame, (worker)->cuts->n_lanes, price, split, worth);                             \
    } while (0)

#endif
