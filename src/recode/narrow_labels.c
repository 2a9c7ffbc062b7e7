/* The labels of a release, written for the values that its rows have: see kn_cell_narrow.
 *
 * In: a release whose cells are nodes. Out: the same with narrower cells where labels are made from the data. Cost: a
 * pass over the rows for each column with such labels. */
#include "recode/recode.h"

#include "classes/cells.h"

#include <math.h>
#include <string.h>

/* One column: its distinct cells, and what rows in each of them have. */
typedef struct column_labels {
    uint32_t n_cells;
    uint32_t *cell_of_class, *first_class;
    uint32_t *first, *last; /* [cell]: smallest and largest code */
    bool *codes;            /* [cell * n_codes + code]; sets only */
    bool *masked;           /* [code]: some row has it in a masked cell; masks only */
    kn_cell *narrowed;      /* [cell] */
} column_labels;

/* Without a tree a cell is the closure of its own rows already. */
static bool is_made_from_data(const kn_domain *domain)
{
    return domain->kind == KN_DOMAIN_TREE && domain->naming != KN_NAMES_FIXED;
}

static bool is_mask(const kn_domain *domain)
{
    return domain->naming == KN_NAMES_PREFIX || domain->naming == KN_NAMES_SUFFIX;
}

/* The node that a cell's label is made of, KN_NONE where it is none that could be narrowed. */
static uint32_t node_of(const kn_release *r, uint32_t q, const kn_cell *cell)
{
    const kn_domain *domain = r->tuples->domains[q];
    const kn_tree *tree = domain->tree;
    uint32_t node = cell->id;
    /* narrowed already, before more rows were suppressed; local recodings suppress none after that */
    if (node >= tree->n_nodes && r->levels != NULL) node = tree->at_level[r->levels[q]][cell->first];
    return node >= tree->n_leaves && node < tree->n_nodes && node != tree->root ? node : KN_NONE;
}

static kn_status look_at_rows(column_labels *labels, const kn_release *r, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    const kn_domain *domain = t->domains[q];
    bool *is_masked = NULL;
    KN_NEW_RAW(labels->first, labels->n_cells);
    KN_NEW(labels->last, labels->n_cells);
    memset(labels->first, 0xFF, labels->n_cells * sizeof *labels->first);
    if (domain->naming == KN_NAMES_SET || domain->naming == KN_NAMES_GROUP)
        KN_NEW(labels->codes, (size_t)labels->n_cells * domain->n_codes);
    if (is_mask(domain)) {
        KN_NEW(labels->masked, domain->n_codes);
        KN_NEW(is_masked, labels->n_cells);
        for (uint32_t i = 0; i < labels->n_cells; i++)
            is_masked[i] = node_of(r, q, &r->cells[(size_t)labels->first_class[i] * t->n_qis + q]) != KN_NONE;
    }
    for (uint32_t row = 0; row < t->n_records; row++) {
        if (r->row_class[row] == KN_NONE) continue;
        uint32_t cell = labels->cell_of_class[r->row_class[row]], code = t->codes[q][t->row_tuple[row]];
        if (code < labels->first[cell]) labels->first[cell] = code;
        if (code > labels->last[cell]) labels->last[cell] = code;
        if (labels->codes != NULL) labels->codes[(size_t)cell * domain->n_codes + code] = true;
        if (labels->masked != NULL && is_masked[cell]) labels->masked[code] = true;
    }
done:
    kn_free(is_masked);
    return status;
}

static uint32_t longest_masked(const column_labels *labels, const kn_domain *domain)
{
    uint32_t n_longest = 0;
    for (uint32_t code = 0; labels->masked != NULL && code < domain->n_codes; code++)
        if (labels->masked[code] && kn_domain_characters(domain, code) > n_longest)
            n_longest = kn_domain_characters(domain, code);
    return n_longest;
}

static kn_status narrow_column(bool *changed, kn_release *r, uint32_t q, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = r->tuples->n_qis;
    const kn_domain *domain = r->tuples->domains[q];
    column_labels labels = {0};
    KN_NEW_RAW(labels.cell_of_class, r->n_classes);
    KN_TRY(kn_cells_group(labels.cell_of_class, &labels.n_cells, &labels.first_class, r->cells + q, r->n_classes, 1,
                          n_qis, NULL, task->pool, task->ticker, err));
    KN_TRY(look_at_rows(&labels, r, q, err));
    const uint32_t n_longest = longest_masked(&labels, domain);
    KN_NEW_RAW(labels.narrowed, labels.n_cells);
    for (uint32_t i = 0; i < labels.n_cells; i++) {
        const kn_cell cell = r->cells[(size_t)labels.first_class[i] * n_qis + q];
        uint32_t node = node_of(r, q, &cell);
        const kn_rows_below released = {labels.first[i], labels.last[i],
                                        labels.codes != NULL ? labels.codes + (size_t)i * domain->n_codes : NULL,
                                        n_longest};
        labels.narrowed[i] = cell;
        if (node == KN_NONE) continue;
        KN_TRY(kn_cell_narrow(&labels.narrowed[i], domain, r->sets, node, &released, err));
        *changed = *changed || !kn_cell_equal(&cell, &labels.narrowed[i]);
    }
    for (uint32_t c = 0; c < r->n_classes; c++)
        r->cells[(size_t)c * n_qis + q] = labels.narrowed[labels.cell_of_class[c]];
done:
    kn_free(labels.cell_of_class);
    kn_free(labels.first_class);
    kn_free(labels.first);
    kn_free(labels.last);
    kn_free(labels.codes);
    kn_free(labels.masked);
    kn_free(labels.narrowed);
    return status;
}

kn_status kn_release_narrow(bool *changed, kn_release *r, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    *changed = false;
    for (uint32_t q = 0; r->n_classes > 0 && q < r->tuples->n_qis; q++)
        if (is_made_from_data(r->tuples->domains[q])) KN_TRY(narrow_column(changed, r, q, task, err));
done:
    return status;
}

/* --- What a search may still claim ----------------------------------------------------------------------------- */

/* Whether labels can become narrower than the tree's: a mask once all the longest values are gone from under masks,
 * the others once any value is. A local recoding may have it elsewhere; a full-domain one must suppress all its rows.
 */
static bool may_narrow(const kn_domain *domain, const kn_answer *answer, uint64_t max_suppressed)
{
    const bool is_local = answer->recoding == KN_RECODING_LOCAL;
    uint32_t n_shortest = UINT32_MAX, n_longest = 0;
    uint64_t n_rows = 0; /* with the longest values */
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        const uint64_t code_rows = kn_domain_seen_rows(domain, code);
        if (code == domain->missing) continue; /* in no label but its own and the root's */
        if (!is_mask(domain) && (is_local || code_rows <= max_suppressed)) return true;
        uint32_t n = kn_domain_characters(domain, code);
        if (n < n_shortest) n_shortest = n;
        if (n > n_longest) n_rows = 0;
        if (n > n_longest) n_longest = n;
        if (n == n_longest) n_rows += code_rows;
    }
    return is_mask(domain) && n_shortest < n_longest && (is_local || n_rows <= max_suppressed);
}

void kn_answer_reconsider(kn_answer *answer, const kn_task *task)
{
    bool may_cost_less = false;
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain *domain = task->tuples->domains[q];
        /* parts that are no nodes are written for the values of their rows, and searches over cuts know it */
        const bool is_run =
            answer->recoding == KN_RECODING_CUTS && kn_part_form_of(domain, answer->part_nodes) != KN_PART_NODE;
        if (!is_run && is_made_from_data(domain)) may_cost_less |= may_narrow(domain, answer, task->max_suppressed);
    }
    const kn_measure *measure = task->objective->type;
    if (!may_cost_less || measure->by_size != NULL || measure->price_values != NULL) return; /* labels cost nothing */
    answer->optimal = false;
    answer->bound = NAN;
    if (!answer->guarantee.holds) return;
    answer->guarantee.holds = false;
    answer->guarantee.unproven = KN_SAY_UNPROVEN_LABELS;
}
