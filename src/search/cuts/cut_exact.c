/* What a set of letters costs once it is released.
 *
 * Sums over items say less in two cases. A person with several tuples counts in each item, so that a class may seem to
 * hold that does not. And under measures over cells a label is written for the values that released rows have
 * (recode/cut_cells.c): where rows may be suppressed, a part can become cheaper than its price, and in the columns
 * where cuts cannot make up for it the search goes by floors (cut_prices.c). Either makes sets of letters look cheaper
 * and never dearer, so no bound is too high and no set is missed; one that looks cheaper than the best is priced here
 * before it counts.
 *
 * Cost: one pass over the tuples for each column, and a cell for each part. */
#include "search/cuts/cut_exact.h"

#include <string.h>

kn_status kn_cut_exact_new(kn_cut_exact **out, const kn_cuts *cuts, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_exact *exact = NULL;
    uint32_t most_codes = 0;
    *out = NULL;
    if (cuts->tuples->n_repeats == 0 && !cuts->narrows) return KN_OK;
    for (uint32_t q = 0; q < cuts->n_columns; q++)
        if (cuts->columns[q].domain->n_codes > most_codes) most_codes = cuts->columns[q].domain->n_codes;
    KN_NEW(exact, 1);
    KN_TRY(kn_cut_moves_new(&exact->moves, cuts, &cuts->items, err));
    KN_NEW(exact->in, cuts->n_letters);
    KN_NEW(exact->held, cuts->items.n);
    KN_NEW(exact->occurs, most_codes);
    KN_NEW(exact->rows, most_codes);
    *out = exact;
    exact = NULL;
done:
    kn_cut_exact_free(exact);
    return status;
}

void kn_cut_exact_free(kn_cut_exact *exact)
{
    if (exact == NULL) return;
    kn_cut_moves_free(exact->moves);
    kn_free(exact->in);
    kn_free(exact->held);
    kn_free(exact->occurs);
    kn_free(exact->rows);
    kn_free(exact);
}

/* What the released rows pay in one column. */
static kn_status price_column(double *cost, kn_cut_exact *exact, uint32_t q, kn_set_pool *sets, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cut_moves *m = exact->moves;
    const kn_cuts *cuts = m->cuts;
    const kn_cut_column *column = &cuts->columns[q];
    const uint16_t *first = m->part_first + m->offset[q], *last = m->part_last + m->offset[q];
    memset(exact->occurs, 0, column->domain->n_codes * sizeof *exact->occurs);
    memset(exact->rows, 0, column->n_positions * sizeof *exact->rows);
    for (uint32_t i = 0; i < cuts->items.n; i++) {
        if (!exact->held[m->class_of[i]]) continue;
        exact->occurs[cuts->tuples->codes[q][i]] = true;
        exact->rows[first[cuts->items.keys[(size_t)i * cuts->n_keys + q]]] += (double)cuts->tuples->rows[i];
    }
    for (uint32_t p = 0; p < column->n_positions; p = last[p] + 1u) {
        kn_cell cell;
        if (exact->rows[p] == 0) continue;
        if (column->hulls == NULL) {
            *cost += exact->rows[p] * kn_cuts_price(cuts, q, p, last[p]);
            continue;
        }
        KN_TRY(kn_part_cell(&cell, column->domain, column->form, sets, exact->occurs, column->start[p],
                            column->start[last[p] + 1] - 1, err));
        *cost += exact->rows[p] * kn_objective_price(cuts->objective, sets, q, &cell);
    }
done:
    return status;
}

kn_status kn_cut_exact_cost(kn_cut_cost *cost, kn_cut_exact *exact, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cut_moves *m = exact->moves;
    kn_set_pool *sets = NULL;
    kn_cut_moves_look(m, exact->in, false);
    *cost = m->now;
    if (!m->cuts->narrows) goto done;
    KN_TRY(kn_set_pool_new(&sets, err));
    cost->cost = m->cuts->bound->suppressed(m->cuts, m->now.n_suppressed);
    for (uint32_t c = 0; c < m->n_classes; c++)
        exact->held[c] = kn_cuts_hold(m->cuts, m->lanes + (size_t)c * m->cuts->n_lanes);
    for (uint32_t q = 0; q < m->cuts->n_columns; q++) KN_TRY(price_column(&cost->cost, exact, q, sets, err));
done:
    kn_set_pool_free(sets);
    return status;
}
