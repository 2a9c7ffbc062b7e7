/* The best bound that can be had; see the header. */
#include "bound/bound.h"

#include "bound/neighbours.h"

#include <math.h>

/* Work for one kind of bound in steps of 1 to 2 ns, and what is kept in memory. The groups that the rows' own bounds
 * looked at are looked at again some three times, by the dual and its check: `row_work` stands for several times as
 * many. */
typedef struct effort {
    uint64_t row_work, round_work, neighbour_work, max_members;
    uint32_t most_rounds;
    double reach, least_reach;
} effort;

static const effort thorough = {20000000000, 60000000000, 60000000000, 300000000, 600, 6, 1.1};
static const effort cheap = {160000000, 120000000, 120000000, 8000000, 40, 3, 1.5};
static const effort free_effort = {2000000, 1000000, 2000000, 1000000, 40, 6, 1.1};

/* What comes with every run grows with the table: a second of two cores at most for 20,000 rows and more, next to
 * nothing for a few. */
static effort effort_of(kn_bound_effort asked, uint32_t n_rows)
{
    effort e = asked >= KN_BOUND_CERTIFY ? thorough : asked == KN_BOUND_CHEAP ? cheap : free_effort;
    const double part = n_rows / 20000.0;
    if (asked != KN_BOUND_CHEAP || part >= 1) return e;
    e.row_work = (uint64_t)fmax((double)e.row_work * part, (double)free_effort.row_work);
    e.round_work = (uint64_t)fmax((double)e.round_work * part, (double)free_effort.round_work);
    e.neighbour_work = (uint64_t)fmax((double)e.neighbour_work * part, (double)free_effort.neighbour_work);
    return e;
}

enum {
    MEMBER_BYTES = 16, /* of a kept member, with everything around it */
    N_REPAIRS = 5,
    SORT_STEPS = 16, /* for every tuple, before there is a problem at all */
};

/* --- A time limit ------------------------------------------------------------------------------------------------ */

/* Parts of the time: for the rows' own bounds, for neighbours where they are asked, and at most for looking at unclosed
 * groups too. A check that is cut off proves nothing, so its time is set aside: so many times what a walk over the
 * groups took, and up to EVERY_WALKS more where it looks at every group. It is made twice: of what the floats gave, and
 * of what that came to once it was lowered; and once more by verify/, of a certificate. */
static const double ROW_SHARE = 0.3, NEIGHBOUR_SHARE = 0.15, EVERY_SHARE = 0.2;
static const double CHECK_WALKS = 1.5, EVERY_WALKS = 2, N_CHECKS = 2, CERTIFICATE_WALKS = 3;
static const double NEIGHBOUR_SPEED = 2e8; /* steps per second that is left */

/* When the time is over; INFINITY: never. */
static double end_of(const kn_task *task)
{
    return task->ticker != NULL && task->ticker->search_deadline > 0 ? task->ticker->search_deadline : INFINITY;
}

static void end_at(const kn_task *task, double when)
{
    if (isfinite(when)) task->ticker->search_deadline = when;
}

/* --- The dual over the columns with trees ------------------------------------------------------------------------ */

/* Floats are not exact, and not every group was kept: what comes to too much is lowered until the check has nothing to
 * say. *excess: what it says in the end (dual.h). */
static kn_status repair(double *excess, kn_dual *dual, const kn_bound_problem *problem, uint64_t max_work,
                        kn_error *err)
{
    kn_status status = KN_OK;
    float *ratio = NULL;
    *excess = 0;
    KN_NEW(ratio, problem->n_points);
    for (int i = 0; i < N_REPAIRS && kn_dual_loss(dual, problem) > 0; i++) {
        KN_TRY(kn_dual_check(excess, ratio, dual, problem, max_work, err));
        if (*excess == 0 || isinf(*excess)) break;
        for (uint32_t p = 0; p < problem->n_points; p++)
            if (ratio[p] < 1) dual->units[p] = (uint64_t)((double)dual->units[p] * ratio[p]);
    }
done:
    kn_free(ratio);
    return status;
}

/* Where all groups were looked at, a row's cheapest one is no nearer than its neighbours. */
static bool asks_neighbours(const kn_bound *bound)
{
    const kn_task *task = bound->problem->task;
    return task->objective->type->monotone && (bound->is_partial || bound->problem->n_columns < task->tuples->n_qis);
}

/* Where the time limit cuts the work off. */
typedef struct ends {
    double dual, checks, all;
    uint64_t every_work; /* steps that a check may look at every group */
} ends;

/* Sets the time aside that the checks take, and neighbours. */
static ends plan_ends(const kn_bound *bound, const kn_row_bound *rows, kn_bound_effort asked, double granted)
{
    ends e = {.all = end_of(bound->problem->task)};
    double checks = N_CHECKS * (CHECK_WALKS + EVERY_WALKS) * rows->seconds;
    const bool of_every = asked >= KN_BOUND_CERTIFY && checks < EVERY_SHARE * granted;
    if (!of_every) checks = N_CHECKS * CHECK_WALKS * rows->seconds;
    if (asked == KN_BOUND_PROVE) e.all -= CERTIFICATE_WALKS * rows->seconds;
    e.checks = e.all - (asks_neighbours(bound) ? NEIGHBOUR_SHARE * granted : 0);
    e.dual = e.checks - checks;
    e.every_work = of_every ? 2 * (uint64_t)EVERY_WALKS * rows->last_work : 0; /* its steps at groups count twice */
    return e;
}

/* The better one of two, once it is checked. Where there was no time for that, the rows' own bounds: whole numbers that
 * hold as they are. */
static kn_status choose(kn_bound *bound, kn_dual **best, kn_dual **by_rows, uint64_t every_work, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_problem *problem = bound->problem;
    double excess = 1;
    if (kn_dual_loss(*best, problem) > kn_dual_loss(*by_rows, problem))
        KN_TRY(repair(&excess, *best, problem, every_work, err));
    if (excess != 0 || kn_dual_loss(*best, problem) < kn_dual_loss(*by_rows, problem)) {
        kn_dual *other = *best;
        *best = *by_rows;
        *by_rows = other;
        KN_TRY(repair(&excess, *best, problem, every_work, err));
        if (isinf(excess)) excess = 0;
    }
    bound->dual_value = excess == 0 ? kn_dual_loss(*best, problem) : 0;
done:
    return status;
}

/* What is free is whole: a partial bound is none then. Leaves what time there is for neighbours as the time limit. */
static kn_status find_dual(kn_bound *bound, const effort *e, kn_bound_effort asked, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_problem *problem = bound->problem;
    const kn_task *task = problem->task;
    const double end = end_of(task), now = kn_seconds_now(), granted = end - now;
    kn_row_bound *rows = NULL;
    kn_dual *by_rows = NULL, *best = NULL;
    kn_dual_effort dual_effort = {.n_rounds = e->most_rounds,
                                  .max_work = e->round_work,
                                  .max_members = e->max_members,
                                  .reach = e->reach,
                                  .least_reach = e->least_reach};
    const size_t memory_bytes = task->memory_bytes;
    if (memory_bytes > 0 && dual_effort.max_members > memory_bytes / MEMBER_BYTES)
        dual_effort.max_members = memory_bytes / MEMBER_BYTES;
    end_at(task, now + ROW_SHARE * granted);
    KN_TRY(kn_row_bound_new(&rows, problem, e->row_work, err));
    end_at(task, end);
    bound->is_partial = rows->price_limit < UINT32_MAX;
    if (asked == KN_BOUND_FREE && bound->is_partial) {
        bound->why = KN_SAY_UNBOUNDED_WORK;
        goto done;
    }
    const ends planned = plan_ends(bound, rows, asked, granted);
    end_at(task, planned.dual);
    KN_TRY(kn_dual_of_rows(&by_rows, problem, rows, err));
    KN_TRY(kn_dual_new(&best, problem, rows, &dual_effort, err));
    end_at(task, planned.checks);
    KN_TRY(choose(bound, &best, &by_rows, planned.every_work, err));
    end_at(task, planned.all);
    bound->dual = best;
    best = NULL;
done:
    kn_row_bound_free(rows);
    kn_dual_free(by_rows);
    kn_dual_free(best);
    return status;
}

/* --- Sums over cells --------------------------------------------------------------------------------------------- */

/* The others' nearest neighbours beside the dual, or those over all columns, whichever is more. */
static kn_status add_neighbours(kn_bound *bound, const kn_task *task, const effort *e, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = task->tuples->n_qis, n_others = n_qis - bound->problem->n_columns;
    const double seconds = end_of(task) - kn_seconds_now();
    /* Prices and boxes are not cut off: their work is what there is time for. */
    const uint64_t max_work = (uint64_t)fmax(1, fmin((double)e->neighbour_work, seconds * NEIGHBOUR_SPEED));
    bool *takes = NULL;
    kn_neighbours others = {0}, all = {0};
    KN_NEW(takes, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) takes[q] = true;
    for (uint32_t c = 0; c < bound->problem->n_columns; c++) takes[bound->problem->columns[c].q] = false;
    if (n_others > 0 && n_others < n_qis) KN_TRY(kn_neighbours_bound(&others, task, takes, max_work, err));
    for (uint32_t q = 0; q < n_qis; q++) takes[q] = true;
    KN_TRY(kn_neighbours_bound(&all, task, takes, max_work, err));
    bound->work += others.work + all.work;
    if (n_others < n_qis && bound->dual_value + others.loss >= all.loss) {
        bound->method = n_others > 0 ? KN_BOUND_DUAL_NEIGHBOURS : KN_BOUND_DUAL;
        bound->value = bound->dual_value + others.loss;
        bound->is_partial = bound->is_partial || others.is_partial;
    } else {
        bound->method = KN_BOUND_NEIGHBOURS;
        bound->value = all.loss;
        bound->is_partial = all.is_partial;
    }
done:
    kn_free(takes);
    return status;
}

static kn_status bound_cells(kn_bound *bound, const kn_task *task, kn_bound_effort asked, kn_error *err)
{
    kn_status status = KN_OK;
    const double end = end_of(task);
    const effort e = effort_of(asked, (uint32_t)task->tuples->n_rows);
    if (asked == KN_BOUND_FREE && task->tuples->n_tuples > e.row_work / SORT_STEPS) {
        bound->why = KN_SAY_UNBOUNDED_WORK;
        goto done;
    }
    KN_TRY(kn_bound_problem_new(&bound->problem, task, asked == KN_BOUND_PROVE, err));
    bound->problem->spent = &bound->work;
    if (bound->problem->n_columns > 0) KN_TRY(find_dual(bound, &e, asked, err));
    if (bound->why != KN_SAY_NOTHING) goto done;
    bound->method = KN_BOUND_DUAL;
    bound->value = bound->dual_value;
    if (asks_neighbours(bound)) KN_TRY(add_neighbours(bound, task, &e, err));
done:
    end_at(task, end);
    return status;
}

/* --- Measures of class sizes ------------------------------------------------------------------------------------- */

/* The sum over classes is least with as many classes as there can be, of equal sizes where it grows faster than they
 * do, and as few suppressed rows as pay. */
static void bound_sizes(kn_bound *bound, const kn_task *task)
{
    const kn_measure *type = task->objective->type;
    const double each = type->by_size[0], squared = type->by_size[1];
    uint64_t most = task->max_suppressed < task->tuples->n_rows ? task->max_suppressed : task->tuples->n_rows;
    double best = INFINITY;
    for (uint64_t suppressed = 0; suppressed <= most; suppressed++) {
        const uint64_t left = task->tuples->n_rows - suppressed, n_classes = left / bound->k;
        if (left > 0 && n_classes == 0) continue;
        const double size = n_classes > 0 ? (double)(left / n_classes) : 0;
        const double larger = n_classes > 0 ? (double)(left % n_classes) : 0;
        double sum = each * (double)n_classes + squared * ((double)n_classes - larger) * size * size +
                     squared * larger * (size + 1) * (size + 1);
        const kn_class_counts gone = {.n_rows = suppressed};
        if (suppressed > 0) sum += type->price_class(task->objective->state, task->tuples, &gone, NULL, NULL, true);
        if (sum < best) best = sum;
    }
    if (isinf(best)) {
        bound->why = KN_SAY_UNBOUNDED_ROWS; /* kn_models_new refuses it: fewer rows than k */
        return;
    }
    const kn_release whole = {.tuples = task->tuples};
    bound->method = KN_BOUND_SIZES;
    bound->value = type->finish != NULL ? type->finish(task->objective->state, &whole, best) : best;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

kn_say kn_bound_possible(const kn_task *task)
{
    const kn_measure *type = task->objective->type;
    if (task->models->min_persons <= 1) return KN_SAY_UNBOUNDED_K;
    if (task->tuples->n_rows == 0) return KN_SAY_UNBOUNDED_ROWS;
    if (task->tuples->n_rows >= KN_NONE - 1) return KN_SAY_UNBOUNDED_MANY_ROWS;
    if (type->by_size != NULL) return KN_SAY_NOTHING;
    if (type->price_cell == NULL) return KN_SAY_UNBOUNDED_MEASURE;
    for (uint32_t q = 0; q < task->tuples->n_qis && !type->monotone; q++)
        if (kn_bound_shape_of(task, q) != KN_SHAPE_NONE) return KN_SAY_NOTHING;
    return type->monotone ? KN_SAY_NOTHING : KN_SAY_UNBOUNDED_MONOTONE;
}

kn_status kn_bound_new(kn_bound **out, const kn_task *task, kn_bound_effort asked, kn_error *err)
{
    kn_status status = KN_OK;
    kn_bound *bound = NULL;
    *out = NULL;
    KN_NEW(bound, 1);
    bound->value = NAN;
    bound->k = task->models->min_persons;
    bound->why = kn_bound_possible(task);
    if (bound->why == KN_SAY_NOTHING && task->objective->type->by_size != NULL) bound_sizes(bound, task);
    else if (bound->why == KN_SAY_NOTHING) KN_TRY(bound_cells(bound, task, asked, err));
    *out = bound;
    bound = NULL;
done:
    kn_bound_free(bound);
    return status;
}

void kn_bound_free(kn_bound *bound)
{
    if (bound == NULL) return;
    kn_dual_free(bound->dual);
    kn_bound_problem_free(bound->problem);
    kn_free(bound);
}

const char *kn_bound_method_name(kn_bound_method method)
{
    static const char *const names[] = {"none", "dual", "neighbours", "dual and neighbours", "sizes"};
    return names[method];
}
