/* Every constraint of a dual solution, one by one: what a bound rests on. In whole units, with its own selection; cost:
 * the sizes of all groups. */
#include "bound/dual.h"

#include <math.h>

enum { LOOK_STEPS = 2 };

typedef struct value {
    uint64_t units;
    uint32_t rows;
} value;

typedef struct check {
    const kn_dual *dual;
    const kn_bound_problem *problem;
    value **scratch; /* [worker][point] */
    double *excess;  /* [worker] */
    float **ratio;   /* [worker][point] */
} check;

/* Sum of the k largest, k at most the number of rows. */
static uint64_t sum_of_largest(value *values, uint32_t n, uint64_t k)
{
    uint64_t sum = 0;
    while (n > 0) {
        const uint64_t pivot = values[n / 2].units;
        uint32_t n_above = 0;
        uint64_t rows_above = 0, rows_equal = 0, sum_above = 0;
        for (uint32_t i = 0; i < n; i++) {
            const value this = values[i];
            if (this.units == pivot) rows_equal += this.rows;
            if (this.units <= pivot) continue;
            values[i] = values[n_above];
            values[n_above++] = this;
            rows_above += this.rows;
            sum_above += this.units * this.rows;
        }
        if (rows_above >= k) {
            n = n_above;
            continue;
        }
        k -= rows_above;
        sum += sum_above;
        const uint64_t taken = rows_equal < k ? rows_equal : k;
        sum += taken * pivot;
        k -= taken;
        if (k == 0) break;
        uint32_t n_below = 0;
        for (uint32_t i = n_above; i < n; i++)
            if (values[i].units < pivot) values[n_below++] = values[i];
        n = n_below;
    }
    return sum;
}

/* To the float below, and a little. */
static void lower(float *ratio, double excess)
{
    const float this = (float)((1 - excess) * (1 - 1e-7));
    if (this < *ratio) *ratio = this;
}

static kn_status look(void *context, const kn_group *group, size_t job, unsigned worker, kn_error *err)
{
    const check *c = context;
    value *values = c->scratch[worker];
    uint64_t most = 0;
    for (uint32_t i = 0; i < group->n_points; i++) {
        const uint64_t units = c->dual->units[group->points[i]];
        if (units > most) most = units;
    }
    if (most <= group->price) return KN_OK;
    for (uint32_t i = 0; i < group->n_points; i++)
        values[i] = (value){c->dual->units[group->points[i]], c->problem->rows[group->points[i]]};
    const uint64_t sum = sum_of_largest(values, group->n_points, c->problem->k), price = c->problem->k * group->price;
    if (sum <= price) return KN_OK;
    const double excess = ((double)sum - (double)price) / (double)sum;
    if (excess > c->excess[worker]) c->excess[worker] = excess;
    for (uint32_t i = 0; i < group->n_points; i++) lower(&c->ratio[worker][group->points[i]], excess);
    return KN_OK;
}

kn_status kn_dual_check(double *excess, float *ratio, const kn_dual *dual, const kn_bound_problem *problem,
                        uint64_t every_work, kn_error *err)
{
    kn_status status = KN_OK;
    const unsigned n_threads = kn_pool_threads(problem->task->pool);
    const uint64_t max_suppressed = problem->task->max_suppressed;
    check c = {.dual = dual, .problem = problem};
    kn_group_walk walk = {.price_limit = dual->price_limit, .every = true, .member_steps = LOOK_STEPS};
    *excess = INFINITY;
    KN_NEW(c.scratch, n_threads);
    KN_NEW(c.excess, n_threads);
    KN_NEW(c.ratio, n_threads);
    for (unsigned w = 0; w < n_threads; w++) {
        KN_NEW(c.scratch[w], problem->n_points);
        KN_NEW(c.ratio[w], problem->n_points);
        for (uint32_t i = 0; i < problem->n_points; i++) c.ratio[w][i] = 1;
    }
    /* Columns that follow from others make many unclosed groups of the same rows: where those alone would take long,
     * the closed ones, which imply them, are looked at. */
    walk.max_work = every_work;
    if (every_work > 0) KN_TRY(kn_each_group(&walk, problem, look, &c, err));
    if (!walk.done) {
        walk.every = false;
        walk.max_work = 0;
        KN_TRY(kn_each_group(&walk, problem, look, &c, err));
    }
    if (!walk.done) goto done;
    *excess = 0;
    for (unsigned w = 0; w < n_threads; w++)
        if (c.excess[w] > *excess) *excess = c.excess[w];
    for (uint32_t i = 0; i < problem->n_points; i++) {
        const double units = (double)dual->units[i];
        double most = max_suppressed > 0 ? (double)problem->root + (double)dual->surplus : INFINITY;
        if (dual->price_limit < UINT32_MAX) most = fmin(most, dual->price_limit);
        if (units > most) {
            *excess = fmax(*excess, 1 - most / units);
            lower(&c.ratio[0][i], 1 - most / units);
        }
        for (unsigned w = 1; w < n_threads; w++)
            if (c.ratio[w][i] < c.ratio[0][i]) c.ratio[0][i] = c.ratio[w][i];
        if (ratio != NULL) ratio[i] = c.ratio[0][i];
    }
done:
    for (unsigned w = 0; c.scratch != NULL && w < n_threads; w++) kn_free(c.scratch[w]);
    for (unsigned w = 0; c.ratio != NULL && w < n_threads; w++) kn_free(c.ratio[w]);
    kn_free(c.scratch);
    kn_free(c.ratio);
    kn_free(c.excess);
    return status;
}

double kn_dual_loss(const kn_dual *dual, const kn_bound_problem *problem)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < problem->n_points; i++) sum += dual->units[i] * problem->rows[i];
    uint64_t paid = dual->surplus * problem->task->max_suppressed;
    double units = sum > paid ? (double)(sum - paid) : 0;
    /* Rounded: far more than the sums of doubles in a reported loss can be off. */
    double least = units * problem->unit - problem->discount;
    least -= 1e-12 * (units * problem->unit + fabs(problem->discount));
    return least > 0 ? least * problem->task->objective->scale : 0;
}
