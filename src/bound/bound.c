/* The best bound that can be had; see the header. */
#include "bound/bound.h"

#include "bound/neighbours.h"

#include <math.h>

/* Work for one kind of bound, about 2 ns a step, and what is kept in memory. */
typedef struct effort {
    uint64_t row_work, round_work, neighbour_work, max_members;
    uint32_t most_rounds;
    double reach;
} effort;

static const effort cheap = {120000000, 100000000, 200000000, 12000000, 40, 3};
static const effort thorough = {20000000000, 40000000000, 60000000000, 300000000, 600, 6};

enum { MEMBER_BYTES = 16, N_SHRINKS = 5 }; /* of a kept member, with everything around it */

/* --- The dual over the columns with trees ------------------------------------------------------------------------ */

/* Floats are not exact: what comes to too much is shrunk until the check has nothing to say. */
static kn_status shrink(bool *holds, kn_dual *dual, const kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    *holds = false;
    for (int i = 0; i < N_SHRINKS; i++) {
        double excess;
        KN_TRY(kn_dual_check(&excess, dual, problem, err));
        *holds = excess == 0;
        if (*holds) break;
        const double factor = 1 - excess * (1 + 1e-6) - 1e-9;
        for (uint32_t p = 0; p < problem->n_points; p++) dual->units[p] = (uint64_t)((double)dual->units[p] * factor);
        dual->surplus = (uint64_t)((double)dual->surplus * factor);
    }
done:
    return status;
}

static kn_status find_dual(kn_bound *bound, const effort *e, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_bound_problem *problem = bound->problem;
    kn_row_bound *rows = NULL;
    kn_dual *by_rows = NULL, *best = NULL;
    bool holds;
    kn_dual_effort dual_effort = {
        .n_rounds = e->most_rounds, .max_work = e->round_work, .max_members = e->max_members, .reach = e->reach};
    const size_t memory_bytes = problem->task->memory_bytes;
    if (memory_bytes > 0 && dual_effort.max_members > memory_bytes / MEMBER_BYTES)
        dual_effort.max_members = memory_bytes / MEMBER_BYTES;
    KN_TRY(kn_row_bound_new(&rows, problem, e->row_work, err));
    KN_TRY(kn_dual_of_rows(&by_rows, problem, rows, err));
    KN_TRY(kn_dual_new(&best, problem, rows, &dual_effort, err));
    KN_TRY(shrink(&holds, best, problem, err));
    if (!holds || kn_dual_loss(best, problem) < kn_dual_loss(by_rows, problem)) {
        kn_dual_free(best);
        best = by_rows;
        by_rows = NULL;
        KN_TRY(shrink(&holds, best, problem, err));
    }
    bound->is_partial = rows->price_limit < UINT32_MAX;
    bound->dual_value = holds ? kn_dual_loss(best, problem) : 0;
    bound->dual = best;
    best = NULL;
done:
    kn_row_bound_free(rows);
    kn_dual_free(by_rows);
    kn_dual_free(best);
    return status;
}

/* --- Sums over cells --------------------------------------------------------------------------------------------- */

/* The others' nearest neighbours, and those over all columns. */
static kn_status add_neighbours(kn_bound *bound, const kn_task *task, const effort *e, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = task->tuples->n_qis;
    bool *takes = NULL;
    kn_neighbours others = {0}, all = {0};
    KN_NEW(takes, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) takes[q] = !kn_bound_takes(task, q);
    KN_TRY(kn_neighbours_bound(&others, task, takes, e->neighbour_work, err));
    for (uint32_t q = 0; q < n_qis; q++) takes[q] = true;
    if (bound->problem->n_columns > 0) KN_TRY(kn_neighbours_bound(&all, task, takes, e->neighbour_work, err));
    const double sum = bound->dual_value + others.loss;
    if (bound->problem->n_columns == 0 || all.loss > sum) {
        if (bound->problem->n_columns == 0) all = others;
        bound->method = KN_BOUND_NEIGHBOURS;
        bound->value = all.loss;
        bound->is_partial = all.is_partial;
    } else {
        bound->method = KN_BOUND_DUAL_NEIGHBOURS;
        bound->value = sum;
        bound->is_partial = bound->is_partial || others.is_partial;
    }
done:
    kn_free(takes);
    return status;
}

static kn_status bound_cells(kn_bound *bound, const kn_task *task, const effort *e, kn_error *err)
{
    kn_status status = KN_OK;
    const bool monotone = task->objective->type->monotone;
    KN_TRY(kn_bound_problem_new(&bound->problem, task, err));
    if (bound->problem->n_columns > 0) KN_TRY(find_dual(bound, e, err));
    if (bound->problem->n_columns < task->tuples->n_qis && monotone) {
        KN_TRY(add_neighbours(bound, task, e, err));
    } else if (bound->problem->n_columns > 0) {
        bound->method = KN_BOUND_DUAL;
        bound->value = bound->dual_value;
    } else {
        bound->reason = "the measure is not monotone, and no quasi-identifier has a hierarchy with labels of its own";
    }
done:
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
        bound->reason = "there is no release";
        return;
    }
    const kn_release whole = {.tuples = task->tuples};
    bound->method = KN_BOUND_SIZES;
    bound->value = type->finish != NULL ? type->finish(task->objective->state, &whole, best) : best;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

kn_status kn_bound_new(kn_bound **out, const kn_task *task, bool certify, kn_error *err)
{
    kn_status status = KN_OK;
    kn_bound *bound = NULL;
    const kn_measure *type = task->objective->type;
    *out = NULL;
    KN_NEW(bound, 1);
    bound->value = NAN;
    bound->k = task->models->min_persons;
    if (bound->k <= 1) bound->reason = "no model asks for classes of more than one person";
    else if (task->tuples->n_rows == 0) bound->reason = "the table has no rows";
    else if (type->price_cell != NULL) KN_TRY(bound_cells(bound, task, certify ? &thorough : &cheap, err));
    else if (type->by_size != NULL) bound_sizes(bound, task);
    else bound->reason = "there is no bound for this measure: it is not a sum over cells";
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
