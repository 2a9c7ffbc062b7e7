/* DM: a class of m rows costs m^2, a suppressed row the n rows of the table. Bound after [BA] 5.2, sharpened.
 *
 * Let k be the least rows of a class that holds, and let the rows of a class E of the head be given. Three facts, for
 * any set of rows R that is split by further letters only:
 *   1. Every row pays at least max(k, rows of its item): its class is a union of items and has k rows, or it is
 *      suppressed and pays n, which is no less. So R costs at least the sum over its items of m max(m, k).
 *   2. |R| >= k rows cost at least size_bound(|R|): the least sum of squares over ways to make classes of at least k
 *      rows and to suppress the others. Balanced parts are the best for a number of classes, as many classes as
 *      possible the best number (the sum of squares of m balanced parts falls with m), and
 *      size_bound(x) = min(balanced(x), size_bound(x - 1) + n) allows for suppressing.
 *   3. |R| < k, or R breaks a model: all of R is suppressed and pays n |R|.
 * The bound of a split is the sum over its parts of max(1, 2) or of 3.
 *
 * A split gains when two of its parts hold, or one part of b rows holds, s fall out, and 2b + s > n. If a descendant
 * takes of the letters through E only such as do not gain, every one of them leaves one part of E that holds at most;
 * E ends as a core of r rows that is one class, r <= b for each of those letters, and |E| - r suppressed rows. That
 * costs r^2 + n(|E| - r) >= |E|^2, because n >= 2b + s = b + |E| >= r + |E|; no core at all costs n|E|. So E costs at
 * least its price. A letter that gains in no class may be dropped for the same reason: take it out of a best
 * descendant, with all others that gain nowhere, and nothing costs more. ([BA] 5.3 drops it without the condition on
 * 2b + s: with n = 100, k = 20 a cut that isolates 10 rows takes 10,000 down to 9,100.)
 * Where letters need each other a part may be split again by letters that become usable only then, so a split gains
 * already when one part holds and there are such letters. */
#include "search/cuts/cut_kernel.h"

enum { MOST_SIZES = 1 << 22 }; /* of the table of size bounds */

static bool fits(const kn_objective *objective, uint64_t max_suppressed)
{
    const kn_measure *type = objective->type;
    return type->by_size != NULL && type->by_size[0] == 0 && type->by_size[1] == 1 && type->suppression_bounds;
}

/* The least sum of squares of x rows in classes of at least k. */
static double balanced(double x, double k)
{
    double n_classes = (double)(uint64_t)(x / k), low = (double)(uint64_t)(x / n_classes), n_more = x - low * n_classes;
    return n_more * (low + 1) * (low + 1) + (n_classes - n_more) * low * low;
}

static kn_status prepare(kn_cuts *cuts, kn_error *err)
{
    kn_status status = KN_OK;
    if (cuts->tuples->n_rows >= MOST_SIZES) return KN_OK;
    const uint32_t n = (uint32_t)cuts->tuples->n_rows;
    KN_NEW(cuts->size_bound, n + (size_t)1);
    for (uint32_t x = 0; x <= n; x++) {
        double suppressed = x > 0 ? cuts->size_bound[x - 1] + n : 0;
        cuts->size_bound[x] = x >= cuts->least_rows ? balanced(x, cuts->least_rows) : (double)n * x;
        if (x >= cuts->least_rows && suppressed < cuts->size_bound[x]) cuts->size_bound[x] = suppressed;
    }
done:
    return status;
}

static double item(const kn_cuts *cuts, const double *lanes)
{
    double rows = lanes[KN_LANE_ROWS];
    return rows * (rows > cuts->least_rows ? rows : cuts->least_rows);
}

static double suppressed(const kn_cuts *cuts, double n_rows) { return cuts->n_rows * n_rows; }

KN_INLINE double price_class(const kn_cuts *cuts, const double *lanes)
{
    return lanes[KN_LANE_ROWS] * lanes[KN_LANE_ROWS];
}

static double price(const kn_cuts *cuts, const double *lanes, const uint16_t *first, const uint16_t *last)
{
    return price_class(cuts, lanes);
}

KN_INLINE kn_split split_class(const kn_cuts *cuts, const kn_parts *parts)
{
    kn_split split = {0};
    uint32_t n_held = 0;
    double held = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        const double *lanes = parts->lanes + i * cuts->n_lanes;
        const double rows = lanes[KN_LANE_ROWS];
        if (kn_cuts_hold(cuts, lanes)) {
            double by_items = lanes[KN_LANE_BOUND];
            double by_size = cuts->size_bound != NULL ? cuts->size_bound[(size_t)rows] : 0;
            split.bound += by_items > by_size ? by_items : by_size;
            held = rows;
            n_held++;
        } else {
            split.suppressed += rows;
            split.bound += cuts->n_rows * rows;
        }
    }
    split.gains = n_held >= 2 || (n_held == 1 && (parts->more_below || 2 * held + split.suppressed > cuts->n_rows));
    return split;
}

/* Pairs of rows on the two sides, times the chance that two rows of the class have one item. */
KN_INLINE double worth(const kn_cuts *cuts, const double *total, const double *one, const double *other)
{
    return one[KN_LANE_ROWS] * other[KN_LANE_ROWS] * total[KN_LANE_BOUND] / (total[KN_LANE_ROWS] * total[KN_LANE_ROWS]);
}

static void evaluate(kn_cut_worker *worker, kn_cut_frame *frame)
{
    KN_CUT_EVALUATE(worker, frame, price_class, split_class, worth);
}

const kn_cut_bound kn_cut_bound_dm = {
    .name = "dm",
    .fits = fits,
    .prepare = prepare,
    .item = item,
    .suppressed = suppressed,
    .price = price,
    .evaluate = evaluate,
    .grows = true,
    .useless_letters = true,
};
