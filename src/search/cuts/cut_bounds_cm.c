/* CM: a class costs its rows outside the majority of its class column, a suppressed row 1. Bound after [BA] 5.2.
 *
 * minority(A or B) >= minority(A) + minority(B) for disjoint A and B (Claim 5.3), and minority(R) <= |R|. So rows R
 * that are split by further letters only cost
 *   1. at least the sum of the minorities of their items, whatever of them is suppressed;
 *   2. at least minority(R) when |R| < 2k, k the least rows of a class that holds: at most one class is made of them,
 *      of a core C, and |R| - |C| + minority(C) >= minority(R);
 *   3. |R| when R breaks a model.
 * The bound of a split is the sum over its parts.
 *
 * A split gains when two of its parts hold. If a descendant takes only letters through a class E that do not, E ends as
 * one core and suppressed rows, and costs at least minority(E), its price, as in 2. For the same reason a letter that
 * gains nowhere may be dropped: the broadened rule of [BA] 5.3 holds for CM. Where letters need each other a split also
 * gains when one part holds that letters below may split again. */
#include "search/cuts/cut_kernel.h"

#include <string.h>

extern const kn_measure kn_measure_cm;

static bool fits(const kn_objective *objective, uint64_t max_suppressed) { return objective->type == &kn_measure_cm; }

KN_INLINE double minority(const kn_cuts *cuts, const double *lanes)
{
    double most = 0;
    for (uint32_t v = 0; v < cuts->n_class_values; v++)
        if (lanes[cuts->class_lane + v] > most) most = lanes[cuts->class_lane + v];
    return lanes[KN_LANE_ROWS] - most;
}

static double item(const kn_cuts *cuts, const double *lanes) { return minority(cuts, lanes); }

static double suppressed(const kn_cuts *cuts, double n_rows) { return n_rows; }

static double price(const kn_cuts *cuts, const double *lanes, const uint16_t *first, const uint16_t *last)
{
    return minority(cuts, lanes);
}

KN_INLINE kn_split split_class(const kn_cuts *cuts, const kn_parts *parts)
{
    kn_split split = {0};
    uint32_t n_held = 0;
    for (uint32_t i = 0; i < parts->n; i++) {
        const double *lanes = parts->lanes + i * cuts->n_lanes;
        const double rows = lanes[KN_LANE_ROWS];
        if (kn_cuts_hold(cuts, lanes)) {
            split.bound += rows < 2 * cuts->least_rows ? minority(cuts, lanes) : lanes[KN_LANE_BOUND];
            n_held++;
        } else {
            split.suppressed += rows;
            split.bound += rows;
        }
    }
    split.gains = n_held >= 2 || (n_held == 1 && parts->more_below);
    return split;
}

/* How far the class values of the two sides differ. */
KN_INLINE double worth(const kn_cuts *cuts, const double *total, const double *one, const double *other)
{
    double sum = 0;
    for (uint32_t v = 0; v < cuts->n_class_values; v++) {
        const uint32_t lane = cuts->class_lane + v;
        const double differ = one[lane] * other[KN_LANE_ROWS] - other[lane] * one[KN_LANE_ROWS];
        sum += differ < 0 ? -differ : differ;
    }
    return sum / total[KN_LANE_ROWS];
}

static void evaluate(kn_cut_worker *worker, kn_cut_frame *frame)
{
    if (worker->cuts->n_lanes == 4) kn_cut_evaluate(worker, frame, 4, minority, split_class, worth);
    else kn_cut_evaluate(worker, frame, worker->cuts->n_lanes, minority, split_class, worth);
}

const kn_cut_bound kn_cut_bound_cm = {
    .name = "cm",
    .fits = fits,
    .item = item,
    .suppressed = suppressed,
    .price = price,
    .evaluate = evaluate,
    .grows = true,
    .useless_letters = true,
};
