/* Values and prices of a certificate's column; see the header. Cost: a sort of its values, and all pairs of parts. */
#include "verify/certificate_column.h"

#include "verify/released_bounds.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-3;                  /* in units: far more than doubles are off */
static const uint64_t MOST_UNITS = (uint64_t)1 << 36; /* sixty times the whole domain */

bool kn_proof_is_possible(const kn_verify_request *request, uint32_t column, kn_proof_cells cells)
{
    const kn_verify_column *about = column < request->n_columns ? &request->columns[column] : NULL;
    if (about == NULL || about->role != KN_ROLE_QUASI || about->domain == NULL) return false;
    const kn_domain *domain = about->domain;
    if (cells == KN_PROOF_NODES) return domain->kind == KN_DOMAIN_TREE;
    if (domain->coding != NULL || domain->missing_is_wildcard || domain->subsets != NULL) return false;
    if (cells == KN_PROOF_INTERVALS) return domain->kind == KN_DOMAIN_RANGES && domain->naming != KN_NAMES_ENDS;
    return domain->kind == KN_DOMAIN_SETS && (domain->groups == NULL || domain->max_members > 2);
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

static kn_status place_on_leaves(kn_proof_column *out, const kn_recount *recount, uint32_t c,
                                 const kn_sheet_column *cells, bool *is_known, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *leaves = NULL;
    const kn_tree *tree = out->domain->tree;
    KN_TRY(kn_leaves_of_texts(&leaves, cells, tree, &recount->readings[c], recount->request->trim, err));
    out->n_values = tree->n_leaves;
    for (uint32_t row = 0; row < recount->original->n_rows; row++) {
        const uint32_t text = kn_sheet_code(cells, row);
        size_t n_bytes;
        const char *bytes = kn_text(cells, text, &n_bytes);
        out->value[row] =
            kn_text_is_missing(&recount->readings[c], bytes, n_bytes) ? out->domain->missing : leaves[text];
        if (out->value[row] >= tree->n_leaves) *is_known = false;
    }
done:
    kn_free(leaves);
    return status;
}

/* Which values side by side lie in one cell of the column's grid. */
static kn_status find_grid(kn_proof_column *out, const kn_recount *recount, uint32_t c, const kn_sheet_column *cells,
                           const kn_values *values, const uint32_t *new_of, kn_error *err)
{
    kn_status status = KN_OK;
    const char *grid = kn_domain_grid_name(out->domain), *before = NULL;
    size_t n_before = 0, n;
    if (grid == NULL) return KN_OK;
    KN_NEW(out->grid, out->n_values);
    for (uint32_t value = 0, cell = 0; value < values->n_values; value++) {
        if (new_of[value] == KN_NONE || value == values->missing) continue;
        const char *bytes = kn_text(cells, values->text_of_value[value], &n);
        cell += before != NULL && !kn_in_one_grid_cell(&recount->readings[c], grid, before, n_before, bytes, n);
        out->grid[new_of[value]] = cell;
        before = bytes;
        n_before = n;
    }
done:
    return status;
}

/* Values that rows have: in their order, or as they come. */
static kn_status place_on_values(kn_proof_column *out, const kn_recount *recount, uint32_t c,
                                 const kn_sheet_column *cells, kn_error *err)
{
    kn_status status = KN_OK;
    kn_values *values = NULL;
    uint32_t *new_of = NULL;
    KN_TRY(kn_values_make(&values, cells, &recount->readings[c], err));
    KN_NEW_RAW(new_of, values->n_values);
    memset(new_of, 0xff, values->n_values * sizeof *new_of);
    for (uint32_t row = 0; row < recount->original->n_rows; row++) {
        const uint32_t value = out->value[row] = values->of_text[kn_sheet_code(cells, row)];
        if (new_of[value] == KN_NONE) new_of[value] = out->n_values++;
    }
    if (out->cells == KN_PROOF_INTERVALS) {
        out->n_values = 0;
        for (uint32_t value = 0; value < values->n_values; value++)
            if (new_of[value] != KN_NONE) new_of[value] = out->n_values++;
        if (values->missing != KN_NONE) out->apart = new_of[values->missing];
        KN_TRY(find_grid(out, recount, c, cells, values, new_of, err));
    }
    for (uint32_t row = 0; row < recount->original->n_rows; row++) out->value[row] = new_of[out->value[row]];
done:
    kn_values_free(values);
    kn_free(new_of);
    return status;
}

kn_status kn_proof_place_rows(kn_proof_column *out, const kn_recount *recount, const kn_claimed_column *claim,
                              bool *is_known, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t c = claim->index;
    const kn_sheet_column *cells = &recount->original->columns[recount->in_original[c]];
    *out = (kn_proof_column){.cells = claim->cells, .domain = recount->request->columns[c].domain, .apart = KN_NONE};
    *is_known = true;
    KN_NEW(out->value, recount->original->n_rows);
    if (claim->cells == KN_PROOF_NODES) KN_TRY(place_on_leaves(out, recount, c, cells, is_known, err));
    else KN_TRY(place_on_values(out, recount, c, cells, err));
done:
    return status;
}

void kn_proof_column_clear(kn_proof_column *column)
{
    kn_free(column->value);
    kn_free(column->grid);
    kn_free(column->units);
}

/* --- What a cell costs ------------------------------------------------------------------------------------------- */

/* What a measure asks of a cell. */
typedef struct cell {
    double n_values, rows, n_log_n; /* values that it covers; their rows; sum over them of rows * log2(rows) */
    double level;                   /* share of the tree's height */
    bool is_all;
} cell;

typedef struct pricing {
    const kn_proof_column *column;
    const char *measure;
    double n_rows, weight, unit;
    double *rows, *rows_before, *n_log_n_before; /* [value], [value + 1], [value + 1] */
} pricing;

static double n_log_n(double n) { return n > 0 ? n * log2(n) : 0; }

/* By the measure's definition. -1: this measure is no sum over cells. */
static double price_of(const pricing *p, const cell *c)
{
    const kn_proof_column *column = p->column;
    const bool by_level = strcmp(p->measure, "tree") == 0 ||
                          (strcmp(p->measure, "hybrid") == 0 && column->domain->column->type == KN_TYPE_TEXT);
    const double entropy = c->n_values <= 1 || c->rows == 0 ? 0 : fmax(0, log2(c->rows) - c->n_log_n / c->rows);
    if (by_level) return c->level;
    if (strcmp(p->measure, "lm") == 0 || strcmp(p->measure, "hybrid") == 0)
        return column->n_values > 1 ? (c->n_values - 1) / (column->n_values - 1.0) : 0;
    if (strcmp(p->measure, "monotone-entropy") == 0) return c->rows / p->n_rows * entropy;
    if (strcmp(p->measure, "suppressed-cells") == 0) return c->is_all;
    if (strcmp(p->measure, "non-uniform-entropy") == 0 || strcmp(p->measure, "mi") == 0)
        return c->rows > 0 ? log2(c->rows) : 0;
    /* not monotone: of nodes alone, where every cell is one of those looked at */
    if (strcmp(p->measure, "entropy") == 0 && column->cells == KN_PROOF_NODES) return entropy;
    return -1;
}

/* The values from first to last. */
static cell cell_between(const pricing *p, uint32_t first, uint32_t last)
{
    const uint32_t n = last - first + 1;
    return (cell){.n_values = n,
                  .rows = p->rows_before[last + 1] - p->rows_before[first],
                  .n_log_n = p->n_log_n_before[last + 1] - p->n_log_n_before[first],
                  .level = n > 1,
                  .is_all = n > 1 && n == p->column->n_values};
}

/* These values and no others. */
static cell cell_of(const pricing *p, const uint32_t *values, uint32_t n)
{
    cell out = {.n_values = n, .level = n > 1, .is_all = n > 1 && n == p->column->n_values};
    for (uint32_t i = 0; i < n; i++) {
        out.rows += p->rows[values[i]];
        out.n_log_n += n_log_n(p->rows[values[i]]);
    }
    return out;
}

static uint64_t units_of(const pricing *p, double price)
{
    const double units = floor(p->weight * price / p->unit - ROUNDING);
    return units > 0 ? (uint64_t)fmin(units, (double)MOST_UNITS) : 0;
}

/* What a row pays less than its cell's price, for its own value. */
static double discount_of(const pricing *p, uint32_t value)
{
    if (strcmp(p->measure, "non-uniform-entropy") != 0 && strcmp(p->measure, "mi") != 0) return 0;
    return log2(p->rows[value]);
}

/* --- Nodes ------------------------------------------------------------------------------------------------------- */

static double node_price(const pricing *p, uint32_t node)
{
    const kn_domain *domain = p->column->domain;
    const kn_tree *tree = domain->tree;
    /* a missing cell that may be any value is released as the root */
    if (domain->missing_is_wildcard && tree->first[node] == domain->missing && tree->last[node] == domain->missing)
        node = tree->root;
    cell c = cell_between(p, tree->first[node], tree->last[node]);
    c.level = tree->level[tree->root] > 0 ? (double)tree->level[node] / tree->level[tree->root] : 0;
    c.is_all = node == tree->root && tree->n_nodes > 1;
    return price_of(p, &c);
}

/* Labels that are written for the rows of a release may be narrower than their node: the outermost intervals of a grid.
 * Of sets, ends, and masks of values of different lengths, no node tells the price: false. */
static bool is_priced(const kn_domain *domain)
{
    uint32_t n_characters = 0;
    if (domain->naming == KN_NAMES_FIXED || domain->naming == KN_NAMES_GRID) return true;
    if (domain->naming != KN_NAMES_PREFIX && domain->naming != KN_NAMES_SUFFIX) return false;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing || domain->spelling_of_code[code] == KN_NONE) continue;
        const uint32_t n = kn_domain_characters(domain, code);
        if (n_characters > 0 && n != n_characters) return false;
        n_characters = n;
    }
    return true;
}

static bool may_be_narrower(const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    const uint32_t after = tree->last[node] + 1;
    return domain->naming == KN_NAMES_GRID && node >= tree->n_leaves && node != tree->root &&
           (tree->first[node] == 0 || after == tree->n_leaves || after == domain->missing);
}

static kn_status price_nodes(kn_proof_column *column, const pricing *p, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = column->domain->tree;
    column->n_parts = tree->n_nodes;
    KN_NEW(column->units, tree->n_nodes);
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        double price = node_price(p, node);
        for (uint32_t leaf = tree->first[node]; may_be_narrower(column->domain, node) && leaf <= tree->last[node];
             leaf++)
            price = fmin(price, node_price(p, leaf));
        column->units[node] = units_of(p, price);
    }
    column->all = column->units[tree->root];
done:
    return status;
}

/* --- Intervals --------------------------------------------------------------------------------------------------- */

/* What an interval costs that has both values: it ends with grid cells. */
static double interval_price(const pricing *p, uint32_t first, uint32_t last)
{
    const uint32_t *grid = p->column->grid;
    const uint32_t n_ordered = p->column->n_values - (p->column->apart != KN_NONE);
    while (grid != NULL && first < last && first > 0 && grid[first - 1] == grid[first]) first--;
    while (grid != NULL && first < last && last + 1 < n_ordered && grid[last + 1] == grid[last]) last++;
    const cell c = cell_between(p, first, last);
    return price_of(p, &c);
}

static kn_status price_intervals(kn_proof_column *column, const pricing *p, uint32_t n_rows, uint64_t n_runs,
                                 kn_error *err)
{
    kn_status status = KN_OK;
    const bool has_missing = column->apart != KN_NONE;
    const uint32_t n_ordered = column->n_values - has_missing, n = (uint32_t)n_runs;
    uint32_t *start = NULL, *run_of = NULL;
    column->n_parts = n + has_missing;
    column->apart = has_missing ? n : KN_NONE;
    KN_NEW(start, (size_t)n + 2);
    KN_NEW(run_of, column->n_values);
    KN_NEW(column->units, (size_t)column->n_parts * column->n_parts);
    for (uint32_t i = 0; i <= n; i++) start[i] = n > 0 ? (uint32_t)((uint64_t)i * n_ordered / n) : 0;
    start[column->n_parts] = column->n_values;
    for (uint32_t a = 0; a < column->n_parts; a++) {
        double least = INFINITY;
        for (uint32_t value = start[a]; value < start[a + 1]; value++) {
            const cell c = cell_between(p, value, value);
            least = fmin(least, price_of(p, &c));
            run_of[value] = a;
        }
        for (uint32_t b = a; b < n || b == a; b++)
            column->units[(size_t)a * column->n_parts + b] =
                units_of(p, a == b ? least : interval_price(p, start[a + 1] - 1, start[b]));
    }
    for (uint32_t row = 0; row < n_rows; row++) column->value[row] = run_of[column->value[row]];
done:
    kn_free(start);
    kn_free(run_of);
    return status;
}

/* --- Sets -------------------------------------------------------------------------------------------------------- */

/* The cheapest set of two or three values, or everything where there are no more. */
static double cheapest_set(const pricing *p, double all, uint32_t n_members)
{
    const uint32_t n = p->column->n_values;
    double least = all;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            for (uint32_t c = b + 1; c < n || (n_members == 2 && c == b + 1); c++) {
                const cell this = cell_of(p, (uint32_t[]){a, b, c}, n_members);
                least = fmin(least, price_of(p, &this));
                if (n_members == 2) break;
            }
    return least;
}

static kn_status price_sets(kn_proof_column *column, const pricing *p, double all, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = column->n_values;
    column->n_parts = n;
    KN_NEW(column->units, column->has_pairs ? (size_t)n * n : n);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a; b < (column->has_pairs ? n : a + 1); b++) {
            const cell c = cell_of(p, (uint32_t[]){a, b}, a == b ? 1 : 2);
            column->units[column->has_pairs ? (size_t)a * n + b : a] = units_of(p, price_of(p, &c));
        }
    column->all = units_of(p, cheapest_set(p, all, column->has_pairs ? 3 : 2));
done:
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* Rows of each value, and of those before it. */
static kn_status count_rows(pricing *p, const kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = p->column->n_values;
    KN_NEW(p->rows, n);
    KN_NEW(p->rows_before, (size_t)n + 1);
    KN_NEW(p->n_log_n_before, (size_t)n + 1);
    for (uint32_t row = 0; row < recount->original->n_rows; row++) p->rows[p->column->value[row]]++;
    for (uint32_t value = 0; value < n; value++) {
        p->rows_before[value + 1] = p->rows_before[value] + p->rows[value];
        p->n_log_n_before[value + 1] = p->n_log_n_before[value] + n_log_n(p->rows[value]);
    }
done:
    return status;
}

/* Can the parts be what the certificate says? */
static bool are_parts(const kn_proof_column *column, const kn_claimed_column *claim)
{
    const uint32_t n_ordered = column->n_values - (column->apart != KN_NONE);
    if (claim->cells == KN_PROOF_NODES) return is_priced(column->domain);
    if (claim->cells == KN_PROOF_INTERVALS)
        return claim->n_parts <= n_ordered && claim->n_parts <= KN_PROOF_MOST_RUNS &&
               (claim->n_parts > 0 || n_ordered == 0);
    return claim->n_parts == 1 || (claim->n_parts == 2 && column->n_values <= KN_PROOF_MOST_PAIRED);
}

kn_status kn_proof_price(kn_proof_column *column, const kn_recount *recount, const kn_claimed_column *claim,
                         double unit, double *root, double *discount, bool *is_known, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_rows = recount->original->n_rows;
    pricing p = {.column = column, .measure = recount->request->measure, .n_rows = n_rows, .unit = unit};
    p.weight = strcmp(p.measure, "suppressed-cells") != 0 ? claim->weight : 1;
    *is_known = column->n_values > 0 && are_parts(column, claim);
    if (!*is_known) goto done;
    KN_TRY(count_rows(&p, recount, err));
    for (uint32_t row = 0; row < n_rows; row++) *discount += p.weight * discount_of(&p, column->value[row]);
    const cell everything = cell_between(&p, 0, column->n_values - 1);
    const double all =
        column->cells == KN_PROOF_NODES ? node_price(&p, column->domain->tree->root) : price_of(&p, &everything);
    *is_known = all >= 0;
    if (!*is_known) goto done;
    *root += (double)units_of(&p, all);
    column->all = units_of(&p, all);
    column->has_pairs = column->cells == KN_PROOF_SETS && claim->n_parts == 2;
    if (column->cells == KN_PROOF_NODES) KN_TRY(price_nodes(column, &p, err));
    else if (column->cells == KN_PROOF_INTERVALS) KN_TRY(price_intervals(column, &p, n_rows, claim->n_parts, err));
    else KN_TRY(price_sets(column, &p, all, err));
done:
    kn_free(p.rows);
    kn_free(p.rows_before);
    kn_free(p.n_log_n_before);
    return status;
}
