/* Columns, prices and points of a bound; see the header. Cost: a sort of the tuples. */
#include "bound/bound_problem.h"

#include <math.h>
#include <string.h>

/* --- Points ----------------------------------------------------------------------------------------------------- */

static uint32_t value_of(const kn_bound_problem *problem, uint32_t c, uint32_t tuple)
{
    const kn_bound_column *column = &problem->columns[c];
    return column->of_code[problem->task->tuples->codes[column->q][tuple]];
}

/* Tuples in the order of their values, the first column first. */
static kn_status sort_tuples(uint32_t *order, const kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->task->tuples;
    uint32_t *start = NULL, *next = NULL;
    KN_NEW(next, tuples->n_tuples);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) order[t] = t;
    for (uint32_t c = problem->n_columns; c-- > 0;) {
        const kn_bound_column *column = &problem->columns[c];
        kn_free(start);
        KN_NEW(start, (size_t)column->n_nodes + 1);
        for (uint32_t t = 0; t < tuples->n_tuples; t++) start[value_of(problem, c, t) + 1]++;
        for (uint32_t i = 0; i < column->n_nodes; i++) start[i + 1] += start[i];
        for (uint32_t t = 0; t < tuples->n_tuples; t++) next[start[value_of(problem, c, order[t])]++] = order[t];
        memcpy(order, next, tuples->n_tuples * sizeof *order);
    }
done:
    kn_free(start);
    kn_free(next);
    return status;
}

static bool are_equal(const kn_bound_problem *problem, uint32_t a, uint32_t b)
{
    for (uint32_t c = 0; c < problem->n_columns; c++)
        if (value_of(problem, c, a) != value_of(problem, c, b)) return false;
    return true;
}

static kn_status fill_points(kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->task->tuples;
    uint32_t *order = NULL;
    KN_NEW(order, tuples->n_tuples);
    KN_NEW(problem->of_tuple, tuples->n_tuples);
    KN_NEW(problem->rows, tuples->n_tuples);
    KN_NEW(problem->persons, tuples->n_tuples);
    for (uint32_t c = 0; c < problem->n_columns; c++) KN_NEW(problem->columns[c].codes, tuples->n_tuples);
    KN_TRY(sort_tuples(order, problem, err));
    for (uint32_t i = 0; i < tuples->n_tuples; i++) {
        const uint32_t t = order[i];
        if (i == 0 || !are_equal(problem, order[i - 1], t)) {
            for (uint32_t c = 0; c < problem->n_columns; c++)
                problem->columns[c].codes[problem->n_points] = value_of(problem, c, t);
            problem->n_points++;
        }
        problem->of_tuple[t] = problem->n_points - 1;
        problem->rows[problem->n_points - 1] += (uint32_t)tuples->rows[t];
        problem->persons[problem->n_points - 1] += (uint32_t)tuples->persons[t];
    }
done:
    kn_free(order);
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* How many bits a column tells: groups by a column that tells much are small, so it comes first. */
static double entropy(const kn_domain *domain)
{
    double bits = 0, all = (double)kn_domain_all_rows(domain);
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        double share = (double)kn_domain_code_rows(domain, code) / all;
        if (share > 0) bits -= share * log2(share);
    }
    return bits;
}

/* Trees first: below their nodes few rows are left, whose intervals are few. */
static bool comes_before(const kn_task *task, uint32_t a, uint32_t b)
{
    const bool is_tree = kn_bound_shape_of(task, a) == KN_SHAPE_TREE;
    if (is_tree != (kn_bound_shape_of(task, b) == KN_SHAPE_TREE)) return is_tree;
    return entropy(task->tuples->domains[a]) > entropy(task->tuples->domains[b]);
}

static void choose_columns(uint32_t *chosen, kn_bound_problem *problem, bool to_keep)
{
    const kn_tuples *tuples = problem->task->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (kn_bound_shape_of(problem->task, q) == KN_SHAPE_NONE) continue;
        if (to_keep && !kn_bound_is_provable(problem->task, q)) continue;
        uint32_t at = problem->n_columns++;
        for (; at > 0 && comes_before(problem->task, q, chosen[at - 1]); at--) chosen[at] = chosen[at - 1];
        chosen[at] = q;
    }
}

static kn_status fill_needs(kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->task->tuples;
    KN_NEW(problem->needs, tuples->n_table_sensitive);
    for (uint32_t i = 0; i < tuples->n_table_sensitive; i++) {
        const kn_sensitive *sensitive = &tuples->sensitive[i];
        if (problem->task->models->min_values[i] < 2 || sensitive->by_tuple.start == NULL) continue;
        kn_bound_need *need = &problem->needs[problem->n_needs++];
        need->sensitive = i;
        need->least = problem->task->models->min_values[i];
        need->n_values = sensitive->n_values;
        KN_TRY(kn_histograms_join(&need->by_point, &sensitive->by_tuple, sensitive->n_values, problem->of_tuple,
                                  tuples->n_tuples, problem->n_points, err));
    }
done:
    return status;
}

/* How many cells of the column hold a row, about. */
static double nodes_of(const kn_bound_column *column)
{
    const double n = column->n_nodes;
    return column->shape == KN_SHAPE_TREE ? column->n_levels : column->shape == KN_SHAPE_PAIRS ? n + 1 : n * n / 6 + 1;
}

double kn_bound_discount(const kn_task *task, uint32_t q)
{
    const kn_objective *objective = task->objective;
    const kn_domain *domain = task->tuples->domains[q];
    const double weight = objective->type->per_cell ? domain->weight : 1;
    double sum = 0;
    for (uint32_t code = 0; objective->type->value_discount != NULL && code < domain->n_codes; code++)
        sum += weight * (double)kn_domain_seen_rows(domain, code) *
               objective->type->value_discount(objective->state, task->tuples, q, code);
    return sum;
}

kn_status kn_bound_problem_new(kn_bound_problem **out, const kn_task *task, bool to_keep, kn_error *err)
{
    kn_status status = KN_OK;
    kn_bound_problem *problem = NULL;
    uint32_t *chosen = NULL;
    const kn_objective *objective = task->objective;
    *out = NULL;
    KN_NEW(problem, 1);
    KN_NEW(chosen, task->tuples->n_qis);
    problem->task = task;
    problem->k = task->models->min_persons;
    problem->n_nodes = 1;
    choose_columns(chosen, problem, to_keep);
    KN_NEW(problem->columns, problem->n_columns);
    double root = 0;
    for (uint32_t c = 0; c < problem->n_columns; c++) root += objective->root_price[chosen[c]];
    problem->unit = root > 0 ? root / KN_BOUND_UNITS : 1;
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        KN_TRY(kn_bound_column_fill(&problem->columns[c], task, chosen[c], problem->unit, err));
        problem->n_nodes *= nodes_of(&problem->columns[c]);
        problem->root += kn_bound_units(objective->root_price[chosen[c]], problem->unit);
        problem->discount += kn_bound_discount(task, chosen[c]);
    }
    KN_TRY(fill_points(problem, err));
    KN_TRY(fill_needs(problem, err));
    *out = problem;
    problem = NULL;
done:
    kn_free(chosen);
    kn_bound_problem_free(problem);
    return status;
}

void kn_bound_problem_free(kn_bound_problem *problem)
{
    if (problem == NULL) return;
    for (uint32_t c = 0; problem->columns != NULL && c < problem->n_columns; c++)
        kn_bound_column_clear(&problem->columns[c]);
    for (uint32_t i = 0; i < problem->n_needs; i++) kn_histograms_clear(&problem->needs[i].by_point);
    kn_free(problem->needs);
    kn_free(problem->columns);
    kn_free(problem->rows);
    kn_free(problem->persons);
    kn_free(problem->of_tuple);
    kn_free(problem);
}
