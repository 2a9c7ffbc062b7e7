/* mingen: look at every node of the lattice and take the best. The oracle for small lattices.
 *
 * Sweeney's exhaustive search, [SV] 3.2 and [Bayardo, Agrawal 2005] section 2, with the task's measure as preference.
 * In: tuples, models, measure. Out: the best feasible node, ties as in full_domain.h. Relies on nothing: no bound, no
 * monotonicity. Cost: one roll-up and one evaluation per node, so lattices beyond `max_nodes` are refused. */
#include "engine/lattice/walk.h"

#include <string.h>

/* Best node of one thread. */
typedef struct best_node {
    bool found;
    kn_node node;
    uint32_t *levels, n_qis;
    uint64_t n_nodes;
} best_node;

static kn_status visit(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                       unsigned worker, kn_error *err)
{
    best_node *best = (best_node *)context + worker;
    best->n_nodes++;
    if (!node->feasible) return KN_OK;
    if (best->found && kn_node_compare(node, levels, &best->node, best->levels, best->n_qis) >= 0) return KN_OK;
    best->found = true;
    best->node = *node;
    memcpy(best->levels, levels, best->n_qis * sizeof *levels);
    return KN_OK;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    best_node *all = NULL, *best = NULL;
    kn_full_domain *domain = NULL;
    uint32_t n_workers = kn_pool_threads(task->pool), n_qis = task->tuples->n_qis;
    KN_TRY(kn_full_domain_new(&domain, task, 0, err));
    double max_nodes = kn_args_number(task->args, "max-nodes");
    if (domain->lattice->n_nodes > max_nodes)
        KN_FAIL(KN_USAGE,
                "mingen looks at every node and the lattice has %.0f, more than max-nodes=%.0f; choose optimal",
                domain->lattice->n_nodes, max_nodes);
    KN_NEW(all, n_workers);
    for (uint32_t w = 0; w < n_workers; w++) {
        all[w].n_qis = n_qis;
        KN_NEW(all[w].levels, n_qis);
    }
    KN_TRY(kn_each_node(domain, false, visit, all, err));
    for (best_node *own = all; own < all + n_workers; own++) {
        answer->n_nodes += own->n_nodes;
        if (own->found &&
            (best == NULL || kn_node_compare(&own->node, own->levels, &best->node, best->levels, n_qis) < 0))
            best = own;
    }
    if (best == NULL) KN_TRY(kn_full_domain_refuse(domain, err));
    KN_TRY(kn_full_domain_answer(answer, domain, best->levels, err));
    answer->optimal = true;
    answer->bound = best->node.loss;
done:
    for (uint32_t w = 0; all != NULL && w < n_workers; w++) kn_free(all[w].levels);
    kn_free(all);
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
    .search = search,
};
