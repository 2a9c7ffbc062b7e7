/* datafly: generalize the column with the most distinct values until few enough rows are outliers, then suppress those.
 *
 * Sweeney, Datafly: a system for providing anonymity in medical data, 1998; [Bayardo, Agrawal 2005] section 2. In: the
 * most specific allowed node. Out: one level vector, without any guarantee on the loss. Each step takes the column
 * whose generalized values are most distinct in the table (ties: the first in QI order) and generalizes all of it by
 * one level; a column at its last level is passed over. Stops when at most --max-suppressed rows stand in classes that
 * break a model. Cost: one roll-up per step, at most the height of the lattice.
 *
 * Departs from the paper: any model instead of k alone; the limit of outliers is --max-suppressed rather than k. */
#include "engine/lattice/evaluator.h"

#include <string.h>

static void explain(kn_trace *trace, const kn_full_domain *domain, const kn_node *node, const uint32_t *levels,
                    uint32_t generalized)
{
    if (trace == NULL || !trace->explain) return;
    const kn_lattice *lattice = domain->lattice;
    if (generalized != KN_NONE)
        kn_buffer_printf(&trace->explanation,
                         "generalize %s from %u distinct values to %u: ", lattice->tuples->domains[generalized]->name,
                         lattice->columns[generalized].levels[levels[generalized] - 1].n,
                         lattice->columns[generalized].levels[levels[generalized]].n);
    kn_levels_text(&trace->explanation, levels, lattice->tuples->n_qis);
    kn_buffer_printf(&trace->explanation, " leaves %llu outliers, %llu allowed\n",
                     (unsigned long long)node->n_suppressed, (unsigned long long)domain->task->max_suppressed);
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    kn_evaluator *evaluator = NULL;
    kn_batch batches[2] = {0};
    uint32_t *levels = NULL, column = KN_NONE;
    kn_node node;
    KN_TRY(kn_full_domain_new(&domain, task, 0, err));
    KN_TRY(kn_evaluator_new(&evaluator, domain, err));
    KN_NEW(levels, task->tuples->n_qis);
    memcpy(levels, domain->lattice->base.levels, task->tuples->n_qis * sizeof *levels);
    const kn_batch *at = &domain->base;
    for (;;) {
        KN_TRY(kn_tick(task->ticker, "search", -1, err));
        KN_TRY(kn_evaluate(&node, NULL, evaluator, at, false, err));
        answer->n_nodes++;
        explain(task->trace, domain, &node, levels, column);
        if (node.feasible) break;
        column = kn_lattice_widest(domain->lattice, levels);
        if (column == KN_NONE) KN_TRY(kn_full_domain_refuse(domain, err));
        levels[column]++;
        kn_batch *next = &batches[at == &batches[0]];
        KN_TRY(kn_batch_roll(next, at, levels, evaluator, err));
        at = next;
    }
    KN_TRY(kn_full_domain_answer(answer, domain, levels, err));
done:
    for (int i = 0; domain != NULL && i < 2; i++) kn_batch_free(&batches[i], domain);
    kn_free(levels);
    kn_evaluator_free(evaluator);
    kn_full_domain_free(domain);
    return status;
}

const kn_algorithm kn_algorithm_datafly = {
    .name = "datafly",
    .summary = "greedy: generalize the column with most distinct values until few enough rows are outliers",
    .citation = "Sweeney, Datafly: a system for providing anonymity in medical data, 1998",
    .recoding = KN_RECODING_LEVELS,
    .any_measure = true,
    .all_or_nothing = true,
    .search = search,
};
