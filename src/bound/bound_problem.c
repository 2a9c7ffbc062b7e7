/* Columns, prices and points of a bound; see the header. Cost: a sort of the tuples. */
#include "bound/bound_problem.h"

#include <math.h>
#include <string.h>

/* --- Which columns, at which price ------------------------------------------------------------------------------ */

static bool is_mask(const kn_domain *domain)
{
    return domain->naming == KN_NAMES_PREFIX || domain->naming == KN_NAMES_SUFFIX;
}

/* Masks are as long as the longest value: where all values are equally long they cannot become narrower. */
static bool has_equal_lengths(const kn_domain *domain)
{
    uint32_t n = 0;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing || kn_domain_code_rows(domain, code) == 0) continue;
        uint32_t this = kn_domain_characters(domain, code);
        if (n != 0 && this != n) return false;
        n = this;
    }
    return true;
}

bool kn_bound_takes(const kn_task *task, uint32_t q)
{
    const kn_domain *domain = task->tuples->domains[q];
    if (domain->kind != KN_DOMAIN_TREE) return false;
    if (domain->naming == KN_NAMES_FIXED) return true;
    if (!task->objective->type->monotone) return false;
    return domain->naming == KN_NAMES_GRID || (is_mask(domain) && has_equal_lengths(domain));
}

/* May the label of this node be written narrower? The outermost intervals of a grid are; see written_label.c. */
static bool may_narrow(const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    if (domain->naming != KN_NAMES_GRID || node < tree->n_leaves || node == tree->root) return false;
    return tree->first[node] == 0 || tree->last[node] + 1 == domain->n_codes || tree->last[node] + 1 == domain->missing;
}

/* The least that a cell costs whose rows are all below this node, and whose label is this node's. */
static double node_price(const kn_task *task, uint32_t q, uint32_t node)
{
    const kn_domain *domain = task->tuples->domains[q];
    const double *prices = task->objective->node_price[q];
    if (!may_narrow(domain, node)) return prices[node];
    double least = prices[node];
    for (uint32_t code = domain->tree->first[node]; code <= domain->tree->last[node]; code++)
        if (prices[code] < least) least = prices[code];
    return least;
}

/* Rounded down, and one less: whoever computes the price in another order comes to no fewer units. */
static uint32_t units_of(double price, double unit)
{
    double units = floor(price / unit) - 1;
    return units > 0 ? (uint32_t)units : 0;
}

static kn_status fill_column(kn_bound_column *column, const kn_bound_problem *problem, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_task *task = problem->task;
    const kn_domain *domain = task->tuples->domains[q];
    const kn_tree *tree = domain->tree;
    column->q = q;
    column->n_levels = domain->max_level - domain->min_level + 1;
    column->n_nodes = tree->n_nodes;
    column->top_is_root = true;
    column->least = UINT32_MAX;
    KN_NEW(column->node, column->n_levels);
    KN_NEW(column->price, column->n_levels);
    for (uint32_t l = 0; l < column->n_levels; l++) {
        KN_NEW(column->node[l], domain->n_codes);
        KN_NEW(column->price[l], domain->n_codes);
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            uint32_t node = tree->at_level[domain->min_level + l][code];
            /* A missing cell that may be any value is priced as the root, whatever its label (node_price). */
            column->node[l][code] = node;
            column->price[l][code] = units_of(node_price(task, q, node), problem->unit);
            if (kn_domain_code_rows(domain, code) == 0) continue;
            if (column->price[l][code] < column->least) column->least = column->price[l][code];
            if (l + 1 == column->n_levels && node != tree->root) column->top_is_root = false;
        }
    }
    if (column->least == UINT32_MAX) column->least = 0;
done:
    return status;
}

/* --- Points ----------------------------------------------------------------------------------------------------- */

/* Tuples in the order of their codes, the first column first. */
static kn_status sort_tuples(uint32_t *order, const kn_bound_problem *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = problem->task->tuples;
    uint32_t *start = NULL, *next = NULL;
    KN_NEW(next, tuples->n_tuples);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) order[t] = t;
    for (uint32_t c = problem->n_columns; c-- > 0;) {
        const uint32_t *codes = tuples->codes[problem->columns[c].q];
        kn_free(start);
        KN_NEW(start, (size_t)tuples->domains[problem->columns[c].q]->n_codes + 1);
        for (uint32_t t = 0; t < tuples->n_tuples; t++) start[codes[t] + 1]++;
        for (uint32_t i = 0; i < tuples->domains[problem->columns[c].q]->n_codes; i++) start[i + 1] += start[i];
        for (uint32_t t = 0; t < tuples->n_tuples; t++) next[start[codes[order[t]]]++] = order[t];
        memcpy(order, next, tuples->n_tuples * sizeof *order);
    }
done:
    kn_free(start);
    kn_free(next);
    return status;
}

static bool are_equal(const kn_bound_problem *problem, uint32_t a, uint32_t b)
{
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        const uint32_t *codes = problem->task->tuples->codes[problem->columns[c].q];
        if (codes[a] != codes[b]) return false;
    }
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
                problem->columns[c].codes[problem->n_points] = tuples->codes[problem->columns[c].q][t];
            problem->n_points++;
        }
        problem->of_tuple[t] = problem->n_points - 1;
        problem->rows[problem->n_points - 1] += tuples->rows[t];
        problem->persons[problem->n_points - 1] += tuples->persons[t];
    }
done:
    kn_free(order);
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* How many bits a column tells: groups by a column that tells much are small, so it comes first. */
static double entropy(const kn_domain *domain)
{
    double bits = 0, all = (double)domain->rows_before[domain->n_codes];
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        double share = (double)kn_domain_code_rows(domain, code) / all;
        if (share > 0) bits -= share * log2(share);
    }
    return bits;
}

static kn_status choose_columns(uint32_t *chosen, kn_bound_problem *problem, kn_error *err)
{
    const kn_tuples *tuples = problem->task->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (!kn_bound_takes(problem->task, q)) continue;
        uint32_t at = problem->n_columns++;
        for (; at > 0 && entropy(tuples->domains[chosen[at - 1]]) < entropy(tuples->domains[q]); at--)
            chosen[at] = chosen[at - 1];
        chosen[at] = q;
    }
    return KN_OK;
}

kn_status kn_bound_problem_new(kn_bound_problem **out, const kn_task *task, kn_error *err)
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
    KN_TRY(choose_columns(chosen, problem, err));
    KN_NEW(problem->columns, problem->n_columns);
    double root = 0;
    for (uint32_t c = 0; c < problem->n_columns; c++) root += objective->root_price[chosen[c]];
    problem->unit = root > 0 ? root / KN_BOUND_UNITS : 1;
    for (uint32_t c = 0; c < problem->n_columns; c++) {
        KN_TRY(fill_column(&problem->columns[c], problem, chosen[c], err));
        problem->n_nodes *= problem->columns[c].n_levels;
        problem->root += units_of(objective->root_price[chosen[c]], problem->unit);
        if (objective->type->value_discount == NULL) continue;
        const kn_domain *domain = task->tuples->domains[chosen[c]];
        double weight = objective->type->per_cell ? domain->weight : 1;
        for (uint32_t code = 0; code < domain->n_codes; code++)
            problem->discount += weight * (double)kn_domain_code_rows(domain, code) *
                                 objective->type->value_discount(objective->state, task->tuples, chosen[c], code);
    }
    KN_TRY(fill_points(problem, err));
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
    for (uint32_t c = 0; problem->columns != NULL && c < problem->n_columns; c++) {
        kn_bound_column *column = &problem->columns[c];
        for (uint32_t l = 0; l < column->n_levels; l++) {
            if (column->node != NULL) kn_free(column->node[l]);
            if (column->price != NULL) kn_free(column->price[l]);
        }
        kn_free(column->node);
        kn_free(column->price);
        kn_free(column->codes);
    }
    kn_free(problem->columns);
    kn_free(problem->rows);
    kn_free(problem->persons);
    kn_free(problem->of_tuple);
    kn_free(problem);
}
