/* Average class size: n over the number of classes, so a class costs -1 and a suppressed row nothing.
 *
 * Rows R that are split by further letters only become at most floor(|R| / k) classes, k the least rows of a class that
 * holds, and at most as many as they have items; none when R breaks a model. A split gains when two of its parts hold:
 * with letters that do not gain alone, a class ends as one core at most, which is -1 again, its price. A letter that
 * gains nowhere may be dropped, as for CM: without it a core only grows. Where letters need each other a split also
 * gains when one part holds that letters below may split again. */
#include "search/cuts/cut_kernel.h"

#include <math.h>

static bool fits(const kn_objective *objective, uint64_t max_suppressed)
{
    const kn_measure *type = objective->type;
    return type->by_size != NULL && type->by_size[0] == -1 && type->by_size[1] == 0;
}

static double item(const kn_cuts *cuts, const double *lanes) { return 1; }

static double suppressed(const kn_cuts *cuts, double n_rows) { return 0; }

KN_INLINE double price_class(const kn_cuts *cuts, const double *lanes) { return -1; }

static double price(const kn_cuts *cuts, const double *lanes, const uint16_t *first, const uint16_t *last)
{
    return -1;
}

KN_INLINE kn_split split_class(const kn_cuts *cuts, const kn_parts *parts)
{
    kn_split split = {0};
    uint32_t n_held = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        const double *lanes = parts->lanes + i * cuts->n_lanes;
        if (kn_cuts_hold(cuts, lanes)) {
            double by_rows = floor(lanes[KN_LANE_ROWS] / cuts->least_rows), by_items = lanes[KN_LANE_BOUND];
            split.bound -= by_items < by_rows ? by_items : by_rows;
            n_held++;
        } else {
            split.suppressed += lanes[KN_LANE_ROWS];
        }
    }
    split.gains = n_held >= 2 || (n_held == 1 && parts->more_below);
    return split;
}

static double loss(const kn_cuts *cuts, double sum) { return cuts->n_rows / (sum < 0 ? -sum : 1); }

static double cost(const kn_cuts *cuts, double value) { return value > 0 ? -cuts->n_rows / value : -cuts->n_rows; }

static void evaluate(kn_cut_worker *worker, kn_cut_frame *frame)
{
    KN_CUT_EVALUATE(worker, frame, price_class, split_class, kn_pairs_worth);
}

const kn_cut_bound kn_cut_bound_average = {
    .name = "average-class",
    .fits = fits,
    .item = item,
    .suppressed = suppressed,
    .price = price,
    .evaluate = evaluate,
    .loss = loss,
    .cost = cost,
    .useless_letters = true,
};
