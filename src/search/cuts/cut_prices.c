/* Prices of parts: [i, j] of every column, once, from what the measure asks to be counted (price_counts) or from the
 * node above. They are the prices of the cells that kn_part_cell makes when no row is suppressed.
 *
 * With suppressed rows a value can be gone from a part, and its label is narrower. At the ends of a part that changes
 * nothing: with a cut beside the values that are gone the release is the same, and costs what its parts are priced.
 * Inside a set, or a position of several values, no cut can tell, so there are floors: prices of what is left of a
 * label whichever rows are gone, at most max_suppressed of them. An interval i..j still has a value among the first
 * that have more rows than that together, and one among the last; a set still has every value that alone has more. An
 * interval that covers a row at i and one at j covers what is between them (hulls). Where neither says anything it is
 * the cheapest value of the column. A part that has the missing value is the whole domain, and an interval once that is
 * gone; a hierarchy of numbers can have it between others, where no cut can tell (grid: exact; otherwise parts are
 * nodes then). What is so of a part is so of every larger one.
 *
 * Cost: the square of a column's positions, in time and memory. */
#include "search/cuts/cut_prices.h"

#include <math.h>

enum { MOST_PRICED = 4096 }; /* positions: a table of 128 MB */

/* What the measure looks at, and its state: the entropy measure is priced as its twin, see cut_bounds_cells.c. */
typedef struct pricing {
    const kn_measure *type;
    const void *state;
} pricing;

static double weight_of(const pricing *by, const kn_domain *domain) { return by->type->per_cell ? domain->weight : 1; }

static double price_of_cell(const kn_cuts *cuts, const pricing *by, uint32_t q, const kn_cell *cell)
{
    return weight_of(by, cuts->tuples->domains[q]) * by->type->price_cell(by->state, cuts->tuples, NULL, q, cell);
}

/* Counts over a column's codes. */
typedef struct counts {
    uint32_t *values;      /* [code], n_codes + 1: values of the data before it */
    double *rows_log_rows; /* the same: their sum */
} counts;

static kn_status count_codes(counts *out, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(out->values, domain->n_codes + (size_t)1);
    KN_NEW(out->rows_log_rows, domain->n_codes + (size_t)1);
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        double rows = kn_domain_seen_rows(domain, code) > 0 ? (double)kn_domain_code_rows(domain, code) : 0;
        out->values[code + 1] = out->values[code] + (rows > 0);
        out->rows_log_rows[code + 1] = out->rows_log_rows[code] + (rows > 0 ? rows * log2(rows) : 0);
    }
done:
    return status;
}

/* A part from code `first` to `last`, as kn_part_cell makes it. */
static double price_of_part(const kn_cuts *cuts, const pricing *by, const counts *c, uint32_t q, uint32_t first,
                            uint32_t last)
{
    const kn_cut_column *column = &cuts->columns[q];
    const kn_domain *domain = column->domain;
    const kn_cell root = kn_domain_root(domain);
    const bool has_missing = domain->missing != KN_NONE && domain->missing >= first && domain->missing <= last;
    if (domain->kind == KN_DOMAIN_TREE && first == 0 && last == domain->n_codes - 1)
        return price_of_cell(cuts, by, q, &root);
    if (column->form == KN_PART_NODE) {
        kn_cell cell = first == last ? kn_domain_leaf(domain, first)
                                     : kn_domain_node_cell(domain, kn_tree_join(domain->tree, first, last));
        return price_of_cell(cuts, by, q, &cell);
    }
    while (first < last && kn_domain_seen_rows(domain, first) == 0) first++;
    while (first < last && kn_domain_seen_rows(domain, last) == 0) last--;
    if (has_missing && kn_domain_seen_rows(domain, domain->missing) > 0 &&
        (domain->missing_is_wildcard || (column->form == KN_PART_INTERVAL && first < last)))
        return price_of_cell(cuts, by, q, &root);
    if (domain->kind == KN_DOMAIN_RANGES) {
        kn_cell range = {first, last, KN_NONE};
        kn_domain_widen(domain, &range.first, &range.last);
        return price_of_cell(cuts, by, q, &range);
    }
    kn_part_widen(domain, &first, &last);
    const uint32_t n_values = column->form == KN_PART_SET ? c->values[last + 1] - c->values[first] : last - first + 1;
    return weight_of(by, domain) * by->type->price_counts(by->state, cuts->tuples, q, n_values,
                                                          domain->rows_before[last + 1] - domain->rows_before[first],
                                                          c->rows_log_rows[last + 1] - c->rows_log_rows[first]);
}

/* Whether the price of leaves of a tree follows from counts, so that those that are no node have one too: the tree
 * measure looks at levels. */
static bool counts_decide(const kn_cuts *cuts, const pricing *by, const counts *c, uint32_t q)
{
    const kn_domain *domain = cuts->columns[q].domain;
    if (by->type->price_counts == NULL) return domain->kind == KN_DOMAIN_RANGES;
    for (uint32_t node = 0; domain->kind == KN_DOMAIN_TREE && node < domain->tree->n_nodes; node++) {
        const kn_cell cell = kn_domain_node_cell(domain, node);
        const double price = by->type->price_counts(by->state, cuts->tuples, q, cell.last - cell.first + 1,
                                                    kn_cell_rows(&cell, domain, NULL),
                                                    c->rows_log_rows[cell.last + 1] - c->rows_log_rows[cell.first]);
        if (fabs(weight_of(by, domain) * price - price_of_cell(cuts, by, q, &cell)) > 1e-9) return false;
    }
    return true;
}

/* --- Floors ---------------------------------------------------------------------------------------------------- */

/* What a part has for certain, in codes. */
typedef struct remains {
    uint32_t *first, *last; /* [position]: of an interval that begins there, or ends; KN_NONE: nothing */
    counts sure;            /* over codes that have more rows than can be suppressed ... */
    uint64_t *sure_rows;    /* [code], n_codes + 1: ... and their rows before it */
    double least;           /* price of a value */
} remains;

static void remains_free(remains *r)
{
    kn_free(r->first);
    kn_free(r->last);
    kn_free(r->sure.values);
    kn_free(r->sure.rows_log_rows);
    kn_free(r->sure_rows);
}

static kn_status find_remains(remains *r, const kn_cuts *cuts, const pricing *by, const counts *c, uint32_t q,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cut_column *column = &cuts->columns[q];
    const kn_domain *domain = column->domain;
    KN_NEW(r->first, column->n_positions);
    KN_NEW(r->last, column->n_positions);
    KN_NEW(r->sure.values, domain->n_codes + (size_t)1);
    KN_NEW(r->sure.rows_log_rows, domain->n_codes + (size_t)1);
    KN_NEW(r->sure_rows, domain->n_codes + (size_t)1);
    r->least = INFINITY;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        const uint64_t rows = kn_domain_code_rows(domain, code), seen = kn_domain_seen_rows(domain, code);
        const bool is_sure = seen > cuts->max_suppressed;
        r->sure.values[code + 1] = r->sure.values[code] + is_sure;
        r->sure.rows_log_rows[code + 1] =
            r->sure.rows_log_rows[code] + (is_sure ? c->rows_log_rows[code + 1] - c->rows_log_rows[code] : 0);
        r->sure_rows[code + 1] = r->sure_rows[code] + (is_sure ? rows : 0);
        if (seen > 0) r->least = fmin(r->least, price_of_part(cuts, by, c, q, code, code));
    }
    const uint64_t *before = domain->seen_before != NULL ? domain->seen_before : domain->rows_before;
    for (uint32_t p = 0; p < column->n_positions; p++) {
        uint32_t code = column->start[p];
        while (code < domain->n_codes && before[code + 1] - before[column->start[p]] <= cuts->max_suppressed) code++;
        r->first[p] = code < domain->n_codes ? code : KN_NONE;
        const uint32_t end = column->start[p + 1];
        for (code = end; code > 0 && before[end] - before[code] <= cuts->max_suppressed;) code--;
        r->last[p] = before[end] - before[code] > cuts->max_suppressed ? code : KN_NONE;
    }
done:
    return status;
}

static bool may_go(const kn_cuts *cuts, const kn_domain *domain, uint32_t first, uint32_t last)
{
    const uint32_t code = domain->missing;
    if (code == KN_NONE || code < first || code > last) return false;
    const uint64_t rows = kn_domain_seen_rows(domain, code);
    return rows > 0 && rows <= cuts->max_suppressed;
}

static double floor_of_part(const kn_cuts *cuts, const pricing *by, const counts *c, const remains *r, uint32_t q,
                            uint32_t i, uint32_t j)
{
    const kn_cut_column *column = &cuts->columns[q];
    const kn_domain *domain = column->domain;
    uint32_t first = column->start[i], last = column->start[j + 1] - 1;
    if (domain->kind == KN_DOMAIN_TREE && first == 0 && last == domain->n_codes - 1)
        return price_of_part(cuts, by, c, q, first, last);
    if (may_go(cuts, domain, first, last)) return r->least; /* with it the label would be the whole domain */
    if (column->form == KN_PART_INTERVAL) {
        first = r->first[i];
        last = r->last[j];
        return first != KN_NONE && last != KN_NONE && first <= last ? price_of_part(cuts, by, c, q, first, last)
                                                                    : r->least;
    }
    const uint32_t n = r->sure.values[last + 1] - r->sure.values[first];
    if (n == 0) return r->least;
    return fmax(r->least,
                weight_of(by, domain) *
                    by->type->price_counts(by->state, cuts->tuples, q, n, r->sure_rows[last + 1] - r->sure_rows[first],
                                           r->sure.rows_log_rows[last + 1] - r->sure.rows_log_rows[first]));
}

/* Between two rows at different positions. */
static double hull_of_part(const kn_cuts *cuts, const pricing *by, const counts *c, const remains *r, uint32_t q,
                           uint32_t i, uint32_t j)
{
    const kn_cut_column *column = &cuts->columns[q];
    const kn_domain *domain = column->domain;
    uint32_t first = column->start[i + 1] - 1, last = column->start[j];
    while (first > column->start[i] && kn_domain_seen_rows(domain, first) == 0) first--;
    while (last < column->start[j + 1] - 1 && kn_domain_seen_rows(domain, last) == 0) last++;
    if (column->form != KN_PART_INTERVAL || may_go(cuts, domain, first, last)) return r->least;
    return price_of_part(cuts, by, c, q, first, last);
}

/* Some value can be gone from inside a set, or from a position of several, or the missing one from between others. */
static bool may_narrow(const kn_cuts *cuts, uint32_t q)
{
    const kn_cut_column *column = &cuts->columns[q];
    const uint32_t n_codes = column->domain->n_codes;
    if (column->form == KN_PART_NODE) return false; /* a node keeps its label, or see kn_answer_reconsider */
    if (n_codes > 2 && may_go(cuts, column->domain, 1, n_codes - 2)) return true;
    for (uint32_t p = 0; p < column->n_positions; p++) {
        uint32_t n_values = 0;
        bool may_lose = false;
        for (uint32_t code = column->start[p]; code < column->start[p + 1]; code++) {
            const uint64_t n_rows = kn_domain_seen_rows(column->domain, code);
            n_values += n_rows > 0;
            may_lose |= n_rows > 0 && n_rows <= cuts->max_suppressed;
        }
        if (may_lose && (n_values > 1 || column->form == KN_PART_SET)) return true;
    }
    return false;
}

static kn_status floor_column(kn_cuts *cuts, const pricing *by, const counts *c, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_column *column = &cuts->columns[q];
    const uint32_t n = column->n_positions;
    remains r = {0};
    if (!may_narrow(cuts, q)) {
        column->floors = column->prices;
        return KN_OK;
    }
    cuts->narrows = true;
    KN_TRY(find_remains(&r, cuts, by, c, q, err));
    KN_NEW(column->floors, (size_t)n * n);
    KN_NEW(column->hulls, (size_t)n * n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++) {
            column->floors[(size_t)i * n + j] = floor_of_part(cuts, by, c, &r, q, i, j);
            if (i < j) column->hulls[(size_t)i * n + j] = hull_of_part(cuts, by, c, &r, q, i, j);
        }
done:
    remains_free(&r);
    return status;
}

/* --- All of it ------------------------------------------------------------------------------------------------- */

static kn_status price_column(kn_cuts *cuts, const pricing *by, uint32_t q, const char *owner, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_column *column = &cuts->columns[q];
    const uint32_t n = column->n_positions;
    counts c = {0};
    KN_TRY(count_codes(&c, column->domain, err));
    if (column->form != KN_PART_NODE && !counts_decide(cuts, by, &c, q))
        KN_FAIL(KN_USAGE,
                "%s: measure %s prices nodes of hierarchies, and cuts of '%s' make other parts; choose lm, or "
                "hierarchy=nodes",
                owner, cuts->objective->type->name, column->domain->name);
    KN_NEW(column->prices, (size_t)n * n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++)
            column->prices[(size_t)i * n + j] =
                price_of_part(cuts, by, &c, q, column->start[i], column->start[j + 1] - 1);
    KN_TRY(floor_column(cuts, by, &c, q, err));
done:
    kn_free(c.values);
    kn_free(c.rows_log_rows);
    return status;
}

kn_status kn_cut_prices(kn_cuts *cuts, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_measure *type = cuts->objective->type;
    const bool twin = type->same_without_suppression != NULL && !type->monotone;
    const pricing by = {twin ? type->same_without_suppression : type, twin ? NULL : cuts->objective->state};
    for (uint32_t q = 0; q < cuts->n_columns; q++) {
        const kn_domain *domain = cuts->columns[q].domain;
        if (twin && domain->missing != KN_NONE &&
            (domain->missing_is_wildcard || cuts->columns[q].form == KN_PART_INTERVAL))
            KN_FAIL(KN_USAGE,
                    "%s cannot minimize %s where a missing value is released as the whole domain, as in column '%s'; "
                    "choose %s",
                    task->args->owner, type->name, domain->name, by.type->name);
        if (cuts->columns[q].n_positions > MOST_PRICED)
            KN_FAIL(KN_USAGE,
                    "%s: column '%s' has %u values, and under measure %s at most %u can be told apart; give it a width "
                    "with coarse=",
                    task->args->owner, domain->name, cuts->columns[q].n_positions, type->name, MOST_PRICED);
        KN_TRY(price_column(cuts, &by, q, task->args->owner, err));
        const kn_cell root = kn_domain_root(domain);
        cuts->root_price += price_of_cell(cuts, &by, q, &root);
        for (uint32_t code = 0; by.type->value_discount != NULL && code < domain->n_codes; code++)
            cuts->discount += weight_of(&by, domain) * (double)kn_domain_seen_rows(domain, code) *
                              by.type->value_discount(by.state, cuts->tuples, q, code);
    }
done:
    return status;
}
