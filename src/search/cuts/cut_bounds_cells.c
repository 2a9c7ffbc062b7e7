/* LM, the entropies and other measures that are sums over cells: a row pays, per column, the price of its part, and a
 * suppressed row that of the whole domain. Prices never fall when a part grows (monotone measures; the entropy measure
 * too, where no row is suppressed: summed over all rows it is then the non-uniform one, [GT] Lemma 4.13).
 *
 * The plain allset bound, every row in its item's parts, is 0 at the root, where every value is a part of its own. But
 * a row that is not suppressed ends in a class C of at least k rows, k the least rows of a class that holds, inside its
 * class E of the head, and C's part in column q, an interval of the allset's parts, has all rows of C. So in column q
 * it pays at least the cheapest interval of the allset's parts, inside E's part, that holds its own part and at least k
 * rows of E. This is so in every column, so these add up. At the root E is the whole table and nearly every value has k
 * rows; deep in the tree, where E is hardly larger than k, it is nearly the price of E.
 * A suppressed row pays no less.
 *
 * All columns together, once for the whole table: a class of k rows around a row t has k - 1 others, and with each of
 * them, u, its parts hold both t and u, so that the class costs a row at least d(t, u), the sum over columns of the
 * price of the interval from t to u. The largest of these k numbers is no less than the k-th smallest d(t, .), t itself
 * counted: t pays at least that (the nearest-neighbour bound), or more when it is suppressed. It is rounded down to a
 * 512th of the price of a suppressed row, stands in KN_LANE_BOUND, and adds up when items merge. A row pays at least
 * the larger of the two floors. For as many tuples as can be compared with all others in some tenths of a second.
 *
 * Where rows may be suppressed, a label is narrower than its part when values are gone from it, and a row pays less
 * than the price of its part. Both bounds then go by floors (cut_prices.c), which no label is cheaper than: in column q
 * the interval has rows of C in its first and in its last part, and t's class has rows at t and at u.
 *
 * Taking a letter: rows that fall out at once cost the whole domain instead of their floors, the others no less than
 * before. Here a letter lowers prices also in classes that it does not split, so no letter is useless, not even by the
 * strict rule of [BA] 5.3. A letter that splits no class, however, only lowers prices, in the node and below it: it is
 * taken at once, and nothing without it is looked at. Tail letters are dropped when they suppress more than is allowed,
 * or when the bound with them is no better than the best release. */
#include "search/cuts/cut_kernel.h"

#include <math.h>

static bool fits(const kn_objective *objective, uint64_t max_suppressed)
{
    const kn_measure *type = objective->type;
    if (type->price_cell == NULL || type->higher_is_better) return false;
    return type->monotone || (type->same_without_suppression != NULL && max_suppressed == 0);
}

static double suppressed(const kn_cuts *cuts, double n_rows) { return cuts->root_price * n_rows; }

static double price(const kn_cuts *cuts, const double *lanes, const uint16_t *first, const uint16_t *last)
{
    double row = 0;
    for (uint32_t q = 0; q < cuts->n_columns; q++) row += kn_cuts_price(cuts, q, first[q], last[q]);
    return row * lanes[KN_LANE_ROWS];
}

/* What the rows of one item pay at least, each: its k-th nearest row, rounded down. */
static double nearest_floor(const kn_cuts *cuts, uint32_t item)
{
    enum { N_STEPS = 512 };
    double rows_at[N_STEPS + 1] = {0}, rows = 0;
    const uint16_t *own = cuts->items.keys + (size_t)item * cuts->n_keys;
    const double step = cuts->root_price / N_STEPS;
    for (uint32_t i = 0; i < cuts->items.n; i++) {
        const uint16_t *key = cuts->items.keys + (size_t)i * cuts->n_keys;
        double apart = 0;
        for (uint32_t q = 0; q < cuts->n_columns; q++)
            apart += own[q] < key[q] ? kn_cuts_floor(cuts, q, own[q], key[q], own[q], key[q])
                                     : kn_cuts_floor(cuts, q, key[q], own[q], key[q], own[q]);
        const double at = apart / step * (1 - 1e-9);
        rows_at[at < N_STEPS ? (uint32_t)at : N_STEPS] += cuts->items.lanes[(size_t)i * cuts->n_lanes + KN_LANE_ROWS];
    }
    for (uint32_t at = 0; at < N_STEPS; at++)
        if ((rows += rows_at[at]) >= cuts->least_rows) return at * step;
    return cuts->root_price;
}

static kn_status prepare(kn_cuts *cuts, kn_error *err)
{
    const double most = 1e8, each = (double)cuts->items.n * cuts->n_columns;
    if (!(cuts->root_price > 0)) return KN_OK;
    for (uint32_t item = 0; item < cuts->items.n && (item + 1) * each <= most; item++) {
        double *lanes = cuts->items.lanes + (size_t)item * cuts->n_lanes;
        lanes[KN_LANE_BOUND] = lanes[KN_LANE_ROWS] * nearest_floor(cuts, item) * (1 - 1e-9);
    }
    return KN_OK;
}

/* worker->least_price of the allset's parts of one column that have rows of the class: see 1. */
static void find_least_prices(kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t q, uint32_t low, uint32_t high,
                              uint32_t n_lanes)
{
    const kn_cuts *cuts = worker->cuts;
    const uint16_t *all_last = frame->all_last + worker->offset[q];
    const double *sums = worker->sums + (size_t)worker->offset[q] * n_lanes + KN_LANE_ROWS;
    double *least = worker->least_price + worker->offset[q];
    uint32_t last = low;       /* of the smallest window from `first` on with enough rows */
    uint32_t widest = KN_NONE; /* the last `first` whose window ends at or before the position at hand */
    for (uint32_t p = low; p <= high; p = all_last[p] + 1u) least[p] = INFINITY;
    for (uint32_t first = low; first <= high; first = all_last[first] + 1u) {
        const double before = first > low ? sums[(first - 1) * (size_t)n_lanes] : 0;
        if (last < first) last = first;
        while (last <= high &&
               sums[(size_t)(all_last[last] < high ? all_last[last] : high) * n_lanes] - before < cuts->least_rows)
            last = all_last[last] + 1u;
        if (last > high) break;
        const double window = kn_cuts_floor(cuts, q, first, all_last[last], all_last[first], last);
        for (uint32_t p = first; p <= last; p = all_last[p] + 1u)
            if (window < least[p]) least[p] = window;
        /* beyond the window the interval ends at the position itself; later windows begin later and are cheaper */
        widest = first;
        for (uint32_t p = all_last[last] + 1u; p <= high; p = all_last[p] + 1u) {
            const double longer = kn_cuts_floor(cuts, q, widest, all_last[p], all_last[widest], p);
            if (longer < least[p]) least[p] = longer;
        }
    }
}

KN_INLINE kn_split split_class(const kn_cuts *cuts, const kn_parts *parts)
{
    kn_split split = {.gains = true};
    for (uint32_t i = 0; i < parts->n; i++) {
        const double *lanes = parts->lanes + i * cuts->n_lanes;
        if (!kn_cuts_hold(cuts, lanes)) split.suppressed += lanes[KN_LANE_ROWS];
    }
    return split;
}

/* What the rows of a class pay at least; worker->sums are the class's. */
static double class_bound(kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t c)
{
    const kn_cuts *cuts = worker->cuts;
    const uint32_t n_lanes = cuts->n_lanes, n_keys = cuts->n_keys;
    const uint16_t *low = frame->low + (size_t)c * n_keys, *high = frame->high + (size_t)c * n_keys;
    uint32_t active[KN_MOST_COLUMNS], n_active = 0;
    double common = 0, bound = 0; /* common: what all rows pay in columns where all have one part */
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        if (low[q] == high[q]) {
            common += kn_cuts_floor(cuts, q, low[q], frame->all_last[worker->offset[q] + low[q]], 0, 0);
        } else {
            active[n_active++] = q;
            find_least_prices(worker, frame, q, low[q], high[q], n_lanes);
        }
    }
    for (uint32_t i = frame->begin[c]; i < frame->begin[c + 1]; i++) {
        const uint16_t *key = frame->items.keys + (size_t)i * n_keys;
        const double *lanes = frame->items.lanes + (size_t)i * n_lanes;
        double row = common;
        for (uint32_t a = 0; a < n_active; a++) row += worker->least_price[worker->offset[active[a]] + key[active[a]]];
        row *= lanes[KN_LANE_ROWS];
        worker->item_floor[i] = row > lanes[KN_LANE_BOUND] ? row : lanes[KN_LANE_BOUND];
        bound += worker->item_floor[i];
    }
    return bound;
}

/* Floors of the class's items, summed up over the positions of column q. */
static void sum_floors(kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t c, uint32_t q)
{
    const uint32_t n_keys = worker->cuts->n_keys, low = frame->low[(size_t)c * n_keys + q],
                   high = frame->high[(size_t)c * n_keys + q];
    double *sums = worker->floor_sums;
    memset(sums + low, 0, (high - low + (size_t)1) * sizeof *sums);
    for (uint32_t i = frame->begin[c]; i < frame->begin[c + 1]; i++)
        sums[frame->items.keys[(size_t)i * n_keys + q]] += worker->item_floor[i];
    for (uint32_t p = low + 1; p <= high; p++) sums[p] += sums[p - 1];
}

/* What the bound of a class rises by with each letter that makes rows of it fall out: see the top. */
static void find_rises(kn_cut_worker *worker, const kn_cut_frame *frame, uint32_t c, uint32_t n_splits)
{
    const kn_cuts *cuts = worker->cuts;
    const double *total = frame->lanes + (size_t)c * cuts->n_lanes;
    uint32_t summed = KN_NONE; /* splits stand by column */
    for (uint32_t i = 0; i < n_splits; i++) {
        const kn_letter *letter = &cuts->letters[worker->split_letter[i]];
        const uint32_t q = letter->q, cut = letter->cuts[0], n_lanes = cuts->n_lanes;
        if (worker->splits[i].suppressed == 0 || letter->n_cuts > 1) continue;
        if (summed != q) sum_floors(worker, frame, c, q);
        summed = q;
        const double *left = worker->sums + (worker->offset[q] + cut - (size_t)1) * n_lanes;
        const double all = worker->floor_sums[frame->high[(size_t)c * cuts->n_keys + q]];
        double fallen = 0, *right = worker->part_lanes;
        for (uint32_t lane = 0; lane < n_lanes; lane++) right[lane] = total[lane] - left[lane];
        if (!kn_cuts_hold(cuts, left)) fallen += worker->floor_sums[cut - 1];
        if (!kn_cuts_hold(cuts, right)) fallen += all - worker->floor_sums[cut - 1];
        const double rise = suppressed(cuts, worker->splits[i].suppressed) - fallen;
        if (rise > 0) worker->letters[worker->split_letter[i]].rise += rise * (1 - 1e-9);
    }
}

static double loss(const kn_cuts *cuts, double sum) { return (sum - cuts->discount) * cuts->objective->scale; }

static double cost(const kn_cuts *cuts, double value)
{
    return cuts->objective->scale > 0 ? value / cuts->objective->scale + cuts->discount : 0;
}

static void evaluate(kn_cut_worker *worker, kn_cut_frame *frame)
{
    const kn_cuts *cuts = worker->cuts;
    worker->cost = worker->bound = suppressed(cuts, frame->n_suppressed);
    memset(worker->letters, 0, cuts->n_letters * sizeof *worker->letters);
    for (uint32_t c = 0; c < frame->n_classes; c++) {
        const uint16_t *low = frame->low + (size_t)c * cuts->n_keys, *high = frame->high + (size_t)c * cuts->n_keys;
        const double *lanes = frame->lanes + (size_t)c * cuts->n_lanes;
        double row = 0;
        for (uint32_t q = 0; q < cuts->n_columns; q++) {
            const uint32_t at = worker->offset[q] + low[q];
            row += kn_cuts_floor(cuts, q, frame->part_first[at], frame->part_last[at], frame->all_last[at], high[q]);
        }
        worker->cost += row * lanes[KN_LANE_ROWS];
        uint32_t n_splits = kn_cut_splits(worker, frame, c, cuts->n_lanes, split_class, kn_pairs_worth);
        worker->bound += class_bound(worker, frame, c);
        if (cuts->max_suppressed > 0) find_rises(worker, frame, c, n_splits);
        for (uint32_t i = 0; i < n_splits; i++) {
            kn_letter_view *letter = &worker->letters[worker->split_letter[i]];
            letter->suppressed += worker->splits[i].suppressed;
            letter->n_splits++;
            letter->worth += worker->split_worth[i];
        }
    }
}

const kn_cut_bound kn_cut_bound_cells = {
    .name = "a sum over cells",
    .fits = fits,
    .prepare = prepare,
    .suppressed = suppressed,
    .price = price,
    .evaluate = evaluate,
    .grows = true,
    .loss = loss,
    .cost = cost,
    .by_cell = true,
};
