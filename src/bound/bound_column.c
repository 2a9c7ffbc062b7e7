/* The cells of one column and what they cost in whole units; see bound_problem.h. */
#include "bound/bound_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Each row lies in about a quarter of n * n intervals, and in n pairs: with more values they take too long to look at,
 * and prices of all pairs too long to make. */
enum { MOST_RUNS = 128, MOST_PAIRED = 32, MOST_PRICED = 512 };

/* --- What a cell costs ------------------------------------------------------------------------------------------- */

/* A label of a tree that is written for just these values. */
static kn_status narrow(kn_cell *cell, const kn_domain *domain, kn_set_pool *sets, const uint32_t *codes, uint32_t n,
                        kn_error *err)
{
    kn_status status = KN_OK;
    char text[32];
    *cell = (kn_cell){codes[0], codes[n - 1], KN_NONE};
    snprintf(text, sizeof text, "%u..%u", cell->first, cell->last);
    if (domain->naming == KN_NAMES_ENDS)
        KN_TRY(kn_set_pool_add_label(&cell->id, sets, NULL, 0, text, strlen(text), err));
    else KN_TRY(kn_set_pool_add(&cell->id, sets, codes, n, err));
    cell->id += domain->tree->n_nodes;
done:
    return status;
}

kn_status kn_least_cell_price(double *price, const kn_task *task, uint32_t q, kn_set_pool *sets, const uint32_t *codes,
                              uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = task->tuples->domains[q];
    kn_cell cell;
    KN_TRY(kn_domain_closure(&cell, domain, sets, codes, n, err));
    const bool is_root = domain->kind == KN_DOMAIN_TREE && cell.id == domain->tree->root;
    if (n > 1 && domain->kind == KN_DOMAIN_TREE && domain->naming != KN_NAMES_FIXED && !is_root)
        KN_TRY(narrow(&cell, domain, sets, codes, n, err));
    *price = kn_objective_price(task->objective, sets, q, &cell);
done:
    return status;
}

uint32_t kn_bound_units(double price, double unit)
{
    double units = floor(price / unit) - 1;
    return units > 0 ? (uint32_t)units : 0;
}

/* --- Shapes ------------------------------------------------------------------------------------------------------ */

static bool is_mask(const kn_domain *domain)
{
    return domain->naming == KN_NAMES_PREFIX || domain->naming == KN_NAMES_SUFFIX;
}

/* Masks are as long as the longest value: where all values are equally long they cannot become narrower. */
static bool has_equal_lengths(const kn_domain *domain)
{
    uint32_t n = 0;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing || kn_domain_seen_rows(domain, code) == 0) continue;
        uint32_t this = kn_domain_characters(domain, code);
        if (n != 0 && this != n) return false;
        n = this;
    }
    return true;
}

bool kn_bound_has_nodes(const kn_task *task, uint32_t q)
{
    const kn_domain *domain = task->tuples->domains[q];
    const bool monotone = task->objective->type->monotone;
    if (domain->kind != KN_DOMAIN_TREE) return false;
    if (domain->naming == KN_NAMES_FIXED) return true;
    return monotone && (domain->naming == KN_NAMES_GRID || (is_mask(domain) && has_equal_lengths(domain)));
}

kn_bound_shape kn_bound_shape_of(const kn_task *task, uint32_t q)
{
    const kn_domain *domain = task->tuples->domains[q];
    const bool monotone = task->objective->type->monotone;
    const bool is_run =
        domain->kind == KN_DOMAIN_RANGES ||
        (domain->kind == KN_DOMAIN_TREE && domain->naming == KN_NAMES_ENDS && domain->missing == KN_NONE);
    if (kn_bound_has_nodes(task, q)) return KN_SHAPE_TREE;
    if (is_run) return monotone || domain->n_codes <= MOST_RUNS ? KN_SHAPE_INTERVALS : KN_SHAPE_NONE;
    if (!monotone || domain->n_codes > MOST_PRICED) return KN_SHAPE_NONE;
    return domain->n_codes <= MOST_PAIRED ? KN_SHAPE_PAIRS : KN_SHAPE_TREE;
}

/* Not where the price of a cell depends on more than its values: top and bottom coding, a missing cell that may be any
 * value, an order of its own, groups instead of small sets, a collection of subsets. */
bool kn_bound_is_provable(const kn_task *task, uint32_t q)
{
    const kn_domain *domain = task->tuples->domains[q];
    if (kn_bound_has_nodes(task, q)) return true;
    if (kn_bound_shape_of(task, q) == KN_SHAPE_NONE || !task->objective->type->monotone) return false;
    if (domain->coding != NULL || domain->missing_is_wildcard || domain->subsets != NULL) return false;
    if (domain->kind == KN_DOMAIN_RANGES) return domain->naming != KN_NAMES_ENDS;
    return domain->kind == KN_DOMAIN_SETS && (domain->groups == NULL || domain->max_members > 2);
}

/* --- Trees ------------------------------------------------------------------------------------------------------- */

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

static kn_status new_levels(kn_bound_column *column, uint32_t n_levels, uint32_t n_codes, kn_error *err)
{
    kn_status status = KN_OK;
    column->n_levels = n_levels;
    KN_NEW(column->node, n_levels);
    KN_NEW(column->price, n_levels);
    for (uint32_t l = 0; l < n_levels; l++) {
        KN_NEW(column->node[l], n_codes);
        KN_NEW(column->price[l], n_codes);
    }
done:
    return status;
}

static kn_status fill_tree(kn_bound_column *column, const kn_task *task, double unit, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = task->tuples->domains[column->q];
    const kn_tree *tree = domain->tree;
    column->n_nodes = tree->n_nodes;
    column->top_is_root = true;
    KN_TRY(new_levels(column, domain->max_level - domain->min_level + 1, domain->n_codes, err));
    for (uint32_t l = 0; l < column->n_levels; l++) {
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            uint32_t node = tree->at_level[domain->min_level + l][code];
            /* A missing cell that may be any value is priced as the root, whatever its label (node_price). */
            column->node[l][code] = node;
            column->price[l][code] = kn_bound_units(node_price(task, column->q, node), unit);
            if (l + 1 == column->n_levels && node != tree->root && kn_domain_seen_rows(domain, code) > 0)
                column->top_is_root = false;
        }
    }
done:
    return status;
}

/* --- Cells between values ----------------------------------------------------------------------------------------- */

/* Equal codes side by side, as few that there are at most MOST_RUNS; what is apart stays alone. */
static kn_status cut_runs(kn_bound_column *column, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const bool has_missing = column->shape == KN_SHAPE_INTERVALS && domain->missing != KN_NONE;
    const uint32_t n_codes = domain->n_codes - has_missing;
    const uint32_t n = n_codes < MOST_RUNS || column->shape != KN_SHAPE_INTERVALS ? n_codes : MOST_RUNS;
    column->n_nodes = n + has_missing;
    column->apart = has_missing ? n : KN_NONE;
    KN_NEW(column->starts, (size_t)column->n_nodes + 1);
    for (uint32_t i = 0; i <= n; i++) column->starts[i] = n > 0 ? (uint32_t)((uint64_t)i * n_codes / n) : 0;
    column->starts[column->n_nodes] = domain->n_codes;
    for (uint32_t i = 0; i < column->n_nodes; i++)
        for (uint32_t code = column->starts[i]; code < column->starts[i + 1]; code++) column->of_code[code] = i;
done:
    return status;
}

/* The least price of two codes of two runs: those nearest to each other, because the closure of codes farther apart
 * covers them; of one run its cheapest code. */
static kn_status run_price(double *price, const kn_task *task, uint32_t q, const uint32_t *starts, uint32_t a,
                           uint32_t b, kn_set_pool *sets, kn_error *err)
{
    kn_status status = KN_OK;
    *price = INFINITY;
    if (a < b) return kn_least_cell_price(price, task, q, sets, (uint32_t[]){starts[a + 1] - 1, starts[b]}, 2, err);
    for (uint32_t code = starts[a]; code < starts[a + 1]; code++) {
        double this;
        KN_TRY(kn_least_cell_price(&this, task, q, sets, &code, 1, err));
        *price = fmin(*price, this);
    }
done:
    return status;
}

/* The cheapest set of three values. */
static kn_status triple_price(double *price, const kn_task *task, uint32_t q, kn_set_pool *sets, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = task->tuples->domains[q]->n_codes;
    *price = task->objective->root_price[q];
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            for (uint32_t c = b + 1; c < n; c++) {
                double this;
                KN_TRY(kn_least_cell_price(&this, task, q, sets, (uint32_t[]){a, b, c}, 3, err));
                *price = fmin(*price, this);
            }
done:
    return status;
}

/* No interval is dearer than one that holds it, whatever the measure: then it is released as that. */
static void level_out(kn_bound_column *column)
{
    const uint32_t n = column->n_nodes, n_ordered = column->apart == KN_NONE ? n : column->apart;
    uint32_t *price = column->pair_price;
    for (uint32_t a = 0; a < n_ordered; a++)
        for (uint32_t b = n_ordered; b-- > a;) {
            uint32_t *this = &price[(size_t)a * n + b];
            const uint32_t left = a > 0 ? price[(size_t)(a - 1) * n + b] : UINT32_MAX;
            const uint32_t right = b + 1 < n_ordered ? price[(size_t)a * n + b + 1] : UINT32_MAX;
            if (left < *this) *this = left;
            if (right < *this) *this = right;
        }
}

static kn_status fill_pairs(kn_bound_column *column, const kn_task *task, double unit, kn_error *err)
{
    kn_status status = KN_OK;
    kn_set_pool *sets = NULL;
    double all = task->objective->root_price[column->q];
    KN_TRY(cut_runs(column, task->tuples->domains[column->q], err));
    const uint32_t n = column->n_nodes;
    column->n_levels = n + 1;
    KN_NEW(column->pair_price, (size_t)n * n);
    KN_TRY(kn_set_pool_new(&sets, err));
    for (uint32_t a = 0; a < n; a++) {
        KN_TRY(kn_tick(task->ticker, "bound", -1, err));
        for (uint32_t b = a; b < n; b++) {
            double price = 0;
            if (a == b || b != column->apart)
                KN_TRY(run_price(&price, task, column->q, column->starts, a, b, sets, err));
            column->pair_price[(size_t)a * n + b] = kn_bound_units(price, unit);
        }
    }
    if (column->shape == KN_SHAPE_PAIRS) KN_TRY(triple_price(&all, task, column->q, sets, err));
    column->all_price = kn_bound_units(all, unit);
    for (size_t i = 0; i < (size_t)n * n; i++)
        if (column->pair_price[i] > column->all_price) column->pair_price[i] = column->all_price;
    if (column->shape == KN_SHAPE_INTERVALS) level_out(column);
done:
    kn_set_pool_free(sets);
    return status;
}

/* Sets of many values: one value, or everything at the price of the cheapest two. */
static kn_status fill_two_levels(kn_bound_column *column, const kn_task *task, double unit, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = task->tuples->domains[column->q]->n_codes;
    kn_set_pool *sets = NULL;
    double least = task->objective->root_price[column->q], price;
    column->n_nodes = n + 1;
    column->top_is_root = true;
    KN_TRY(new_levels(column, 2, n, err));
    KN_TRY(kn_set_pool_new(&sets, err));
    for (uint32_t a = 0; a < n; a++) {
        KN_TRY(kn_least_cell_price(&price, task, column->q, sets, &a, 1, err));
        column->node[0][a] = a;
        column->node[1][a] = n;
        column->price[0][a] = kn_bound_units(price, unit);
        for (uint32_t b = a + 1; b < n; b++) {
            KN_TRY(kn_least_cell_price(&price, task, column->q, sets, (uint32_t[]){a, b}, 2, err));
            least = fmin(least, price);
        }
    }
    for (uint32_t a = 0; a < n; a++) column->price[1][a] = kn_bound_units(least, unit);
done:
    kn_set_pool_free(sets);
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* The least and the most that a cell of a row of the table costs. */
static void find_extremes(kn_bound_column *column, const kn_domain *domain)
{
    const uint32_t n = column->n_nodes;
    column->least = UINT32_MAX;
    column->most = column->pair_price != NULL ? column->all_price : 0;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        const uint32_t a = column->of_code[code];
        if (kn_domain_seen_rows(domain, code) == 0) continue;
        for (uint32_t i = 0; i < (column->pair_price != NULL ? n - a : column->n_levels); i++) {
            const uint32_t price =
                column->pair_price != NULL ? column->pair_price[(size_t)a * n + a + i] : column->price[i][code];
            if (price < column->least) column->least = price;
            if (price > column->most) column->most = price;
        }
    }
    if (column->pair_price != NULL && column->all_price < column->least) column->least = column->all_price;
    if (column->least == UINT32_MAX) column->least = 0;
}

kn_status kn_bound_column_fill(kn_bound_column *column, const kn_task *task, uint32_t q, double unit, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = task->tuples->domains[q];
    column->q = q;
    column->shape = kn_bound_shape_of(task, q);
    column->apart = KN_NONE;
    KN_NEW(column->of_code, domain->n_codes);
    for (uint32_t code = 0; code < domain->n_codes; code++) column->of_code[code] = code;
    if (column->shape != KN_SHAPE_TREE) KN_TRY(fill_pairs(column, task, unit, err));
    else if (kn_bound_has_nodes(task, q)) KN_TRY(fill_tree(column, task, unit, err));
    else KN_TRY(fill_two_levels(column, task, unit, err));
    find_extremes(column, domain);
done:
    return status;
}

void kn_bound_column_clear(kn_bound_column *column)
{
    for (uint32_t l = 0; column->node != NULL && l < column->n_levels; l++) kn_free(column->node[l]);
    for (uint32_t l = 0; column->price != NULL && l < column->n_levels; l++) kn_free(column->price[l]);
    kn_free(column->node);
    kn_free(column->price);
    kn_free(column->pair_price);
    kn_free(column->starts);
    kn_free(column->of_code);
    kn_free(column->codes);
}
