/* Values for the rows, as large as the constraints allow (dual.h).
 *
 * max sum v, subject to: in every group p the k largest v average at most price_p. Three moves over the kept groups:
 *   penalize  a step along the gradient of sum v - rho/2 * sum over p of (average of the k largest - price_p)+^2, with
 *             momentum, each row's step in proportion to its value; rho rises and steps shrink from round to round
 *   repair    every row is scaled by the least ratio price / average among its groups: feasible
 *   ascend    v_i <- min over its groups of max(v_i, kth) + (price - average): stays feasible, because the k largest
 *             values of a group rise by at most what is left there; all rows at once
 * Ascending alone stands still early (on Adult .2377 of .2423); the penalty phase moves along the constraints. A group
 * with room left is not looked at again before values have risen by so much in all, which skips nine of ten.
 *
 * Gradients are summed in whole numbers and the rest are minima, so threads do not change the result. Cost of a round:
 * the members of the groups that are looked at, about 2 ns each. */
#include "bound/dual.h"

#include "bound/group_store.h"
#include "bound/top_rows.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { N_ASCENTS = 4, TRIAL_SWEEPS = 1 + N_ASCENTS, N_TRIALS = 6, FIRST_ROUNDS = 10 };
enum { LEAST_ROUNDS = 20 }; /* fewer gain less than trying what they found costs */
static const double FIRST_RHO = 10, LAST_RHO = 600, FIRST_STEP = 0.003, LAST_STEP = 0.0005, MOMENTUM = 0.9;
static const float LEAST_VALUE = 0.05f, STEEPEST = -3, NEAR_KTH = 0.97f;
static const double GRADIENT_UNITS = 1 << 20, ROUNDING = 3e-7; /* averages of floats are off by less */

typedef enum move { PENALIZE, REPAIR, ASCEND } move;

typedef struct solver {
    const kn_bound_problem *problem;
    const kn_row_bound *rows;
    kn_group_store *store;
    double scale;                                /* units of a value of 1: what a row costs at least, on average */
    float *value, *base, *cap, *velocity, *kept; /* [point]; base: the row's discount */
    float highest;                               /* of the caps */
    move move;
    double rho;
    float rise; /* sum over rounds of the largest rise of a value */
    struct own {
        kn_valued_point *scratch;
        float *least;      /* [point] REPAIR: ratio; ASCEND: value */
        int64_t *gradient; /* [point] PENALIZE */
    } * own;               /* per thread */
    unsigned n_threads;
    uint32_t n_trials;
    atomic_bool is_late;  /* time was over: the last sweep did not come to its end */
    double trial_seconds; /* repair_and_ascend takes */
    double best;          /* sum of the best feasible values, which are in `kept` */
} solver;

/* --- One group -------------------------------------------------------------------------------------------------- */

/* The k largest values of a group. Most members are far below them, and the last k-th largest tells which. */
static kn_top_rows top_of(uint32_t *n_near, const solver *s, kn_kept_group *group, kn_valued_point *near)
{
    const uint32_t *rows = s->problem->rows;
    const float threshold = group->kth * NEAR_KTH;
    uint64_t n_rows = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->n_points; i++) {
        const uint32_t point = group->points[i];
        near[n] = (kn_valued_point){s->value[point], point};
        const bool is_near = near[n].value >= threshold;
        n_rows += is_near ? rows[point] : 0;
        n += is_near;
    }
    if (n_rows < s->problem->k) {
        for (n = 0; n < group->n_points; n++) near[n] = (kn_valued_point){s->value[group->points[n]], group->points[n]};
    }
    const kn_top_rows top = kn_top_rows_of(near, n, rows, s->problem->k);
    group->kth = top.kth;
    *n_near = n;
    return top;
}

static void penalize(const solver *s, struct own *own, uint32_t n_near, const kn_top_rows *top, double excess)
{
    const int64_t force = (int64_t)(s->rho * excess * GRADIENT_UNITS);
    const int64_t shared = (int64_t)((double)force * top->share);
    for (uint32_t i = 0; i < n_near; i++) {
        const kn_valued_point *this = &own->scratch[i];
        if (this->value >= top->kth) own->gradient[this->point] += this->value > top->kth ? force : shared;
    }
}

static void lower_to(float *least, float value)
{
    if (value < *least) *least = value;
}

static void look(const solver *s, kn_kept_group *group, struct own *own)
{
    uint32_t n_near;
    if (s->move == PENALIZE && s->rise < group->wake) return;
    const kn_top_rows top = top_of(&n_near, s, group, own->scratch);
    const double average = top.sum / (double)s->problem->k, excess = average - group->price;
    const float room = (float)-excess;
    switch (s->move) {
    case PENALIZE:
        if (excess > 0) penalize(s, own, n_near, &top, excess);
        else group->wake = s->rise + room;
        break;
    case REPAIR:
        if (excess <= 0) break;
        for (uint32_t i = 0; i < group->n_points; i++)
            lower_to(&own->least[group->points[i]], (float)(group->price / average));
        break;
    case ASCEND:
        if (room >= 0 && top.kth + room >= s->highest) break;
        for (uint32_t i = 0; i < group->n_points; i++) {
            const float value = s->value[group->points[i]];
            lower_to(&own->least[group->points[i]], (room < 0 || value > top.kth ? value : top.kth) + room);
        }
        break;
    }
}

static kn_status run_chunk(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    solver *s = context;
    if (kn_ticker_out_of_time(s->problem->task->ticker)) atomic_store(&s->is_late, true);
    if (atomic_load(&s->is_late)) return KN_OK;
    for (size_t g = chunk > 0 ? s->store->chunk_ends[chunk - 1] : 0; g < s->store->chunk_ends[chunk]; g++)
        look(s, &s->store->groups[g], &s->own[worker]);
    return KN_OK;
}

/* --- Moves ------------------------------------------------------------------------------------------------------- */

/* One pass over all groups; what the threads found is joined in own[0]. */
static kn_status sweep(solver *s, move m, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = s->problem->n_points;
    s->move = m;
    for (unsigned w = 0; w < s->n_threads; w++) {
        memset(s->own[w].gradient, 0, n * sizeof *s->own[w].gradient);
        for (uint32_t i = 0; i < n; i++) s->own[w].least[i] = INFINITY;
    }
    if (s->problem->spent != NULL) *s->problem->spent += s->store->n_members;
    KN_TRY(kn_pool_run(s->problem->task->pool, s->store->n_chunks, run_chunk, s, err));
    for (unsigned w = 1; w < s->n_threads; w++)
        for (uint32_t i = 0; i < n; i++) {
            s->own[0].gradient[i] += s->own[w].gradient[i];
            lower_to(&s->own[0].least[i], s->own[w].least[i]);
        }
done:
    return status;
}

/* Keeps these feasible values if they are the best so far. What only suppression makes worse does not count. */
static void keep_best(solver *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->problem->n_points; i++) sum += (double)s->value[i] * s->problem->rows[i];
    if (sum <= s->best) return;
    s->best = sum;
    memcpy(s->kept, s->value, s->problem->n_points * sizeof *s->value);
}

/* Feasible values from any, and a little more; as far as there is time. */
static kn_status repair_and_ascend(solver *s, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(sweep(s, REPAIR, err));
    if (s->is_late) goto done;
    for (uint32_t i = 0; i < s->problem->n_points; i++)
        if (s->own[0].least[i] < 1) s->value[i] *= s->own[0].least[i];
    for (int round = 0; round < N_ASCENTS; round++) {
        KN_TRY(sweep(s, ASCEND, err));
        if (s->is_late) break;
        for (uint32_t i = 0; i < s->problem->n_points; i++) {
            const float value = s->own[0].least[i] < s->cap[i] ? s->own[0].least[i] : s->cap[i];
            s->value[i] = value > 0 ? value : 0;
        }
    }
    keep_best(s);
done:
    return status;
}

static kn_status penalty_step(solver *s, double step, kn_error *err)
{
    kn_status status = KN_OK;
    float largest = 0;
    KN_TRY(sweep(s, PENALIZE, err));
    if (s->is_late) goto done;
    for (uint32_t i = 0; i < s->problem->n_points; i++) {
        float slope = 1 - (float)((double)s->own[0].gradient[i] / GRADIENT_UNITS);
        if (slope < STEEPEST) slope = STEEPEST;
        float above = s->value[i] - s->base[i];
        s->velocity[i] = (float)(MOMENTUM * s->velocity[i] + step * slope * (LEAST_VALUE + (above > 0 ? above : 0)));
        float value = s->value[i] + s->velocity[i];
        if (value < 0 || value > s->cap[i]) {
            value = value < 0 ? 0 : s->cap[i];
            s->velocity[i] = 0;
        }
        if (value - s->value[i] > largest) largest = value - s->value[i];
        s->value[i] = value;
    }
    s->rise += largest * 1.0001f;
done:
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

static kn_status try_values(solver *s, float *saved, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t n_bytes = s->problem->n_points * sizeof *saved;
    memcpy(saved, s->value, n_bytes);
    KN_TRY(repair_and_ascend(s, err));
    memcpy(s->value, saved, n_bytes);
done:
    return status;
}

/* How often there is time for what takes so many seconds, with a last trial of what came out. */
static double times_left(const solver *s, double seconds)
{
    const kn_ticker *ticker = s->problem->task->ticker;
    if (ticker == NULL || ticker->search_deadline <= 0) return INFINITY;
    return (ticker->search_deadline - kn_seconds_now() - s->trial_seconds) / seconds;
}

/* From a low penalty and long steps to a high one and short steps. What the first rounds took tells how many there is
 * time for; then the penalty rises faster, and only what comes out in the end is tried. */
static kn_status penalty_rounds(solver *s, float *saved, uint32_t n_rounds, kn_error *err)
{
    kn_status status = KN_OK;
    kn_ticker *ticker = s->problem->task->ticker;
    const double began = kn_seconds_now();
    bool is_short = false;
    for (uint32_t round = 0, n = n_rounds; round < n && !s->is_late; round++) {
        if (round == FIRST_ROUNDS) {
            const double each = (kn_seconds_now() - began) / FIRST_ROUNDS + 1e-9;
            is_short = round + times_left(s, each) - s->n_trials * s->trial_seconds / each < n_rounds;
            if (is_short) n = n_rounds = round + 1 + (uint32_t)fmin(fmax(times_left(s, each), 0), n_rounds - round - 1);
        }
        if (times_left(s, 1) <= 0 && round == 0) break;
        if (times_left(s, 1) <= 0) n = round + 1;
        const double part = (double)round / n_rounds;
        KN_TRY(kn_tick(ticker, "bound", part, err));
        s->rho = FIRST_RHO * pow(LAST_RHO / FIRST_RHO, part);
        KN_TRY(penalty_step(s, FIRST_STEP * pow(LAST_STEP / FIRST_STEP, part), err));
        if (round + 1 == n || (!is_short && (round + 1) % (n_rounds / s->n_trials + 1) == 0))
            KN_TRY(try_values(s, saved, err));
    }
done:
    return status;
}

static kn_status solve(solver *s, uint32_t n_rounds, kn_error *err)
{
    kn_status status = KN_OK;
    float *saved = NULL;
    const double began = kn_seconds_now();
    KN_NEW_RAW(saved, s->problem->n_points);
    /* The square root: rows that cost much have neighbours that cost less, and share with them. */
    for (uint32_t i = 0; i < s->problem->n_points; i++) {
        const float least = (float)(s->rows->least[i] / s->scale) - s->base[i];
        s->value[i] = s->base[i] + 1.5f * sqrtf(least > 0 ? least : 0);
        if (s->value[i] > s->cap[i]) s->value[i] = s->cap[i];
    }
    KN_TRY(repair_and_ascend(s, err));
    s->trial_seconds = kn_seconds_now() - began;
    KN_TRY(penalty_rounds(s, saved, n_rounds, err));
done:
    kn_free(saved);
    return status;
}

static int descending(const void *a, const void *b)
{
    const kn_valued_point *x = a, *y = b;
    return (x->value < y->value) - (x->value > y->value);
}

/* The best surplus for given values: with one unit more, the rows above it gain one each and s rows are paid for. */
static kn_status choose_surplus(kn_dual *dual, const kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    kn_valued_point *sorted = NULL;
    const uint64_t max_suppressed = problem->task->max_suppressed;
    uint64_t most = problem->root, n_rows = 0;
    if (max_suppressed == 0) goto done;
    KN_NEW(sorted, problem->n_points);
    for (uint32_t i = 0; i < problem->n_points; i++) sorted[i] = (kn_valued_point){(float)dual->units[i], i};
    qsort(sorted, problem->n_points, sizeof *sorted, descending);
    for (uint32_t i = 0; i < problem->n_points && n_rows <= max_suppressed; i++) {
        n_rows += problem->rows[sorted[i].point];
        if (n_rows > max_suppressed && dual->units[sorted[i].point] > most) most = dual->units[sorted[i].point];
    }
    dual->surplus = most - problem->root;
    for (uint32_t i = 0; i < problem->n_points; i++)
        if (dual->units[i] > most) dual->units[i] = most;
done:
    kn_free(sorted);
    return status;
}

kn_status kn_dual_of_rows(kn_dual **out, const kn_bound_problem *problem, const kn_row_bound *rows, kn_error *err)
{
    kn_status status = KN_OK;
    kn_dual *dual = NULL;
    *out = NULL;
    KN_NEW(dual, 1);
    dual->price_limit = rows->price_limit;
    KN_NEW(dual->units, problem->n_points);
    for (uint32_t i = 0; i < problem->n_points; i++) dual->units[i] = rows->least[i];
    *out = dual;
    dual = NULL;
done:
    kn_dual_free(dual);
    return status;
}

/* What each row's discount comes to, in units; of a run of codes that of the first. */
static double discount_units(const kn_bound_problem *problem, uint32_t point)
{
    const kn_objective *objective = problem->task->objective;
    double sum = 0;
    if (objective->type->value_discount == NULL) return 0;
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const kn_bound_column *column = &problem->columns[c];
        const double weight = objective->type->per_cell ? problem->task->tuples->domains[column->q]->weight : 1;
        const uint32_t value = column->codes[point], code = column->starts != NULL ? column->starts[value] : value;
        sum += weight * objective->type->value_discount(objective->state, problem->task->tuples, column->q, code);
    }
    return sum / problem->unit;
}

static void set_caps(solver *s, double reach)
{
    const bool all_may_go = s->problem->task->max_suppressed >= s->problem->task->tuples->n_rows;
    s->highest = 0;
    for (uint32_t i = 0; i < s->problem->n_points; i++) {
        const double above = s->rows->least[i] / s->scale - s->base[i];
        double cap = s->base[i] + reach * (above > 0 ? above : 0) + (reach - 1) / 3;
        if (s->rows->price_limit < UINT32_MAX) cap = fmin(cap, s->rows->price_limit / s->scale);
        if (all_may_go) cap = fmin(cap, s->problem->root / s->scale);
        s->cap[i] = (float)cap;
        if (s->cap[i] > s->highest) s->highest = s->cap[i];
    }
}

static kn_status prepare(solver *s, const kn_dual_effort *effort, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = s->problem->n_points;
    float **arrays[] = {&s->value, &s->base, &s->cap, &s->velocity, &s->kept};
    double sum = 0, n_rows = 0;
    s->n_threads = kn_pool_threads(s->problem->task->pool);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) KN_NEW(*arrays[i], n);
    for (uint32_t i = 0; i < n; i++) {
        const double above = s->rows->least[i] - discount_units(s->problem, i);
        sum += above > 0 ? above * s->problem->rows[i] : 0;
        n_rows += s->problem->rows[i];
    }
    s->scale = n_rows > 0 ? sum / n_rows : 0;
    if (s->scale < 1) goto done;
    KN_NEW(s->own, s->n_threads);
    for (unsigned w = 0; w < s->n_threads; w++) {
        KN_NEW_RAW(s->own[w].scratch, (size_t)n + 1);
        KN_NEW(s->own[w].least, n);
        KN_NEW(s->own[w].gradient, n);
    }
    for (uint32_t i = 0; i < n; i++) s->base[i] = (float)(discount_units(s->problem, i) / s->scale);
    /* The less values may grow, the fewer groups can bind. */
    for (double reach = effort->reach;
         s->store == NULL && reach > effort->least_reach && !kn_ticker_out_of_time(s->problem->task->ticker);
         reach = 1 + (reach - 1) / 2.5) {
        set_caps(s, reach);
        KN_TRY(kn_group_store_new(&s->store, s->problem, s->rows->price_limit, s->cap, s->scale, effort->max_members,
                                  err));
    }
done:
    return status;
}

static void free_solver(solver *s)
{
    float *arrays[] = {s->value, s->base, s->cap, s->velocity, s->kept};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kn_free(arrays[i]);
    for (unsigned w = 0; s->own != NULL && w < s->n_threads; w++) {
        kn_free(s->own[w].scratch);
        kn_free(s->own[w].least);
        kn_free(s->own[w].gradient);
    }
    kn_free(s->own);
    kn_group_store_free(s->store);
}

/* As many rounds as there is work for, beside the trials, of which the first and the last come first; n_trials 0: not
 * even one. */
static uint32_t plan_rounds(solver *s, const kn_dual_effort *effort)
{
    const uint64_t n_sweeps = effort->max_work / (s->store->n_members + 1);
    s->n_trials = n_sweeps >= TRIAL_SWEEPS;
    if (n_sweeps < 2 * TRIAL_SWEEPS + LEAST_ROUNDS || effort->n_rounds < LEAST_ROUNDS) return 0;
    const uint64_t most = n_sweeps - 2 * TRIAL_SWEEPS, n_rounds = most < effort->n_rounds ? most : effort->n_rounds;
    const uint64_t n_more = (most - n_rounds) / TRIAL_SWEEPS;
    s->n_trials = n_more + 1 < N_TRIALS ? (uint32_t)n_more + 1 : N_TRIALS;
    return (uint32_t)n_rounds;
}

kn_status kn_dual_new(kn_dual **out, const kn_bound_problem *problem, const kn_row_bound *rows,
                      const kn_dual_effort *effort, kn_error *err)
{
    kn_status status = KN_OK;
    kn_dual *dual = NULL;
    solver s = {.problem = problem, .rows = rows};
    *out = NULL;
    KN_TRY(kn_dual_of_rows(&dual, problem, rows, err));
    KN_TRY(prepare(&s, effort, err));
    if (s.store != NULL) {
        const uint32_t n_rounds = plan_rounds(&s, effort);
        if (s.n_trials > 0) KN_TRY(solve(&s, n_rounds, err));
        for (uint32_t i = 0; i < problem->n_points; i++)
            dual->units[i] = (uint64_t)(s.kept[i] * s.scale * (1 - ROUNDING));
        KN_TRY(choose_surplus(dual, problem, err));
    }
    *out = dual;
    dual = NULL;
done:
    free_solver(&s);
    kn_dual_free(dual);
    return status;
}

void kn_dual_free(kn_dual *dual)
{
    if (dual == NULL) return;
    kn_free(dual->units);
    kn_free(dual);
}
