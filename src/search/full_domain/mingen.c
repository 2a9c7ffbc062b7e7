/* mingen: look at every node of the lattice and take the best. The oracle for small lattices.
 *
 * Sweeney's exhaustive search, [SV] 3.2 and [Bayardo, Agrawal 2005] section 2, with the task's measure as preference.
 * In: tuples, models, measure. Out: the best feasible node, ties as in full_domain.h. Relies on nothing: no bound, no
 * monotonicity. Cost: one roll-up and one evaluation per node, so lattices beyond `max_nodes` are refused. */
#include "engine/lattice/sweep.h"
#include "engine/lattice/walk.h"

static kn_status visit(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                       unsigned worker, kn_error *err)
{
    kn_ranking_offer((kn_ranking *)context + worker, node, levels);
    return KN_OK;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_ranking *best = NULL; /* one per thread */
    kn_full_domain *domain = NULL;
    uint32_t n_workers = kn_pool_threads(task->pool);
    KN_TRY(kn_full_domain_new(&domain, task, 0, err));
    double max_nodes = kn_args_number(task->args, "max-nodes");
    if (domain->lattice->n_nodes > max_nodes)
        KN_FAIL(KN_USAGE,
                "mingen looks at every node and the lattice has %.0f, more than max-nodes=%.0f; choose optimal",
                domain->lattice->n_nodes, max_nodes);
    KN_NEW(best, n_workers);
    for (uint32_t w = 0; w < n_workers; w++) KN_TRY(kn_ranking_new(&best[w], 1, task->tuples->n_qis, err));
    KN_TRY(kn_each_node(domain, false, visit, best, err));
    for (uint32_t w = 1; w < n_workers; w++)
        if (best[w].n > 0) kn_ranking_offer(best, &best[w].items[0].node, best[w].items[0].levels);
    answer->n_nodes = (uint64_t)domain->lattice->n_nodes;
    if (best->n == 0) KN_TRY(kn_full_domain_refuse(domain, err));
    KN_TRY(kn_full_domain_answer(answer, domain, best->items[0].levels, err));
    answer->optimal = true;
    answer->bound = best->items[0].node.loss;
done:
    for (uint32_t w = 0; best != NULL && w < n_workers; w++) kn_ranking_free(&best[w]);
    kn_free(best);
    kn_full_domain_free(domain);
    return status;
}

static const kn_param params[] = {
    {.name = "max-nodes",
     .type = KN_PARAM_INT,
     .preset = "1000000",
     .min = 1,
     .max = 1e12,
     .help = "refuse larger lattices"},
};

const kn_algorithm kn_algorithm_mingen = {
    .name = "mingen",
    .summary = "exhaustive: every level vector, the best under the measure",
    .citation = "Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, 2002",
    .recoding = KN_RECODING_LEVELS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .exact = true,
    .all_or_nothing = true,
    .search = search,
};
