/* The cheapest group of each point; see the header. Cost: the visited groups' sizes. */
#include "bound/row_bound.h"

#include <math.h>
#include <string.h>

enum { FIRST_PRICE = KN_BOUND_UNITS / 512 };
static const double LEAST_SPEED = 5e7; /* steps per second of a thread that has to share its core */
static const double WALK_SHARE = 0.4;  /* of the time, for one walk: what comes after it walks so far again */

/* The next price limit, as far as what is left allows if work goes on growing as it did, a power of the price; 0: stop.
 */
static uint64_t next_limit(uint64_t limit, uint64_t before_limit, double work, double before, double left)
{
    double power = before_limit > 0 ? log(work / before) / log((double)limit / (double)before_limit) : 2;
    power = fmin(fmax(power, 3.5), 5); /* steps of trees make it jump */
    const double factor = fmin(pow(0.8 * left / work, 1 / power), 4);
    return factor > 1.08 ? (uint64_t)((double)limit * factor) : 0;
}

typedef struct search {
    uint32_t **least; /* [worker][point] */
} search;

static kn_status take_least(void *context, const kn_group *group, size_t job, unsigned worker, kn_error *err)
{
    uint32_t *least = ((search *)context)->least[worker];
    for (uint32_t i = 0; i < group->n_points; i++)
        if (group->price < least[group->points[i]]) least[group->points[i]] = group->price;
    return KN_OK;
}

/* The least of all threads, and the limit where no group was found. */
static void join(uint32_t *out, const search *s, unsigned n_threads, const kn_bound_problem *problem, uint32_t limit)
{
    for (uint32_t i = 0; i < problem->n_points; i++) {
        out[i] = limit;
        for (unsigned w = 0; w < n_threads; w++)
            if (s->least[w][i] < out[i]) out[i] = s->least[w][i];
    }
}

/* Steps that are left for a walk: of the work, and of the time at the speed so far. */
static double steps_left(const kn_bound_problem *problem, const kn_row_bound *bound, uint64_t max_work, double began)
{
    const kn_ticker *ticker = problem->task->ticker;
    const double left = max_work == 0 ? INFINITY : (double)max_work - (double)bound->work, now = kn_seconds_now();
    if (ticker == NULL || ticker->search_deadline <= 0) return left;
    const double speed =
        bound->work > 0 ? (double)bound->work / (now - began) : LEAST_SPEED * kn_pool_threads(problem->task->pool);
    const double seconds = ticker->search_deadline - now, of_walk = WALK_SHARE * (ticker->search_deadline - began);
    return fmin(left, fmin(seconds, of_walk) * speed);
}

/* Nothing above it is left to be found: the dearest node of every column. */
static uint64_t highest_price(const kn_bound_problem *problem)
{
    uint64_t sum = 0;
    for (uint32_t c = 0; c < problem->n_columns; c++) sum += problem->columns[c].most;
    return sum;
}

kn_status kn_row_bound_new(kn_row_bound **out, const kn_bound_problem *problem, uint64_t max_work, kn_error *err)
{
    kn_status status = KN_OK;
    kn_row_bound *bound = NULL;
    const unsigned n_threads = kn_pool_threads(problem->task->pool);
    search s = {0};
    *out = NULL;
    KN_NEW(bound, 1);
    KN_NEW(bound->least, problem->n_points);
    KN_NEW(s.least, n_threads);
    for (unsigned w = 0; w < n_threads; w++) KN_NEW(s.least[w], problem->n_points);
    const uint64_t highest = highest_price(problem);
    /* Every node sees every point at most a few times: what is sure to be affordable is done at once. */
    const double all = problem->n_nodes * problem->n_points * 4, began = kn_seconds_now();
    uint64_t before_limit = 0, before = 0;
    for (uint64_t limit = all < steps_left(problem, bound, max_work, began) ? highest + 1 : FIRST_PRICE;
         limit > 0 && bound->price_limit < UINT32_MAX;) {
        kn_group_walk walk = {.price_limit = limit >= highest ? UINT32_MAX : (uint32_t)limit};
        if (max_work > 0) walk.max_work = max_work > bound->work ? max_work - bound->work : 1;
        for (unsigned w = 0; w < n_threads; w++) memset(s.least[w], 0xff, problem->n_points * sizeof *s.least[w]);
        const double began_walk = kn_seconds_now();
        KN_TRY(kn_each_group(&walk, problem, take_least, &s, err));
        bound->work += walk.work;
        if (!walk.done) break;
        bound->seconds = kn_seconds_now() - began_walk;
        bound->last_work = walk.work;
        bound->price_limit = walk.price_limit;
        /* Where all were visited a row without a group is suppressed, and so is the whole table. */
        join(bound->least, &s, n_threads, problem, walk.price_limit == UINT32_MAX ? problem->root : walk.price_limit);
        const double left = steps_left(problem, bound, max_work, began);
        const uint64_t next =
            all < left ? highest + 1 : next_limit(limit, before_limit, (double)walk.work + 1, (double)before + 1, left);
        before_limit = limit;
        before = walk.work;
        limit = next;
    }
    /* What is suppressed pays the root's price. */
    for (uint32_t i = 0; i < problem->n_points; i++)
        if (problem->task->max_suppressed > 0 && bound->least[i] > problem->root) bound->least[i] = problem->root;
    *out = bound;
    bound = NULL;
done:
    for (unsigned w = 0; s.least != NULL && w < n_threads; w++) kn_free(s.least[w]);
    kn_free(s.least);
    kn_row_bound_free(bound);
    return status;
}

void kn_row_bound_free(kn_row_bound *bound)
{
    if (bound == NULL) return;
    kn_free(bound->least);
    kn_free(bound);
}
