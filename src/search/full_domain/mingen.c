/* mingen: look at every node of the lattice and take the best. The oracle for small lattices.
 *
 * Sweeney's exhaustive search, [SV] 3.2 and [Bayardo, Agrawal 2005] section 2, with the task's measure as preference.
 * In: tuples, models, measure. Out: the best feasible node, ties as in full_domain.h. Relies on nothing: no bound, no
 * monotonicity. Cost: one roll-up and one evaluation per node, so lattices beyond `max_nodes` are refused. */
#include "engine/lattice/evaluator.h"

#include <string.h>

/* Best node of one thread. */
typedef struct best_node {
    bool found;
    kn_node node;
    uint32_t *levels;
    uint64_t n_nodes;
} best_node;

typedef struct exhaustive {
    const kn_full_domain *domain;
    kn_evaluator **evaluators;
    best_node *best;
} exhaustive;

static kn_status visit(void *context, const kn_groups *groups, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    exhaustive *search = context;
    best_node *best = &search->best[worker];
    uint32_t n_qis = search->domain->task->tuples->n_qis;
    kn_node node;
    KN_TRY(kn_evaluate(&node, search->evaluators[worker], groups, err));
    best->n_nodes++;
    if (!node.feasible) goto done;
    if (best->found && kn_node_compare(&node, groups->levels, &best->node, best->levels, n_qis) >= 0) goto done;
    best->found = true;
    best->node = node;
    memcpy(best->levels, groups->levels, n_qis * sizeof *best->levels);
done:
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    exhaustive all = {0};
    kn_full_domain *domain = NULL;
    uint32_t n_workers = kn_pool_threads(task->pool), n_qis = task->tuples->n_qis;
    KN_TRY(kn_full_domain_new(&domain, task, 0, err));
    double max_nodes = kn_args_number(task->args, "max-nodes");
    if (domain->lattice->n_nodes > max_nodes)
        KN_FAIL(KN_USAGE,
                "mingen looks at every node and the lattice has %.0f, more than max-nodes=%.0f; choose optimal",
                domain->lattice->n_nodes, max_nodes);
    all.domain = domain;
    KN_NEW(all.evaluators, n_workers);
    KN_NEW(all.best, n_workers);
    for (uint32_t w = 0; w < n_workers; w++) {
        KN_TRY(kn_evaluator_new(&all.evaluators[w], domain, NULL, err));
        KN_NEW(all.best[w].levels, n_qis);
    }
    kn_lattice_walk walk = {.lattice = domain->lattice,
                            .order = domain->order,
                            .n_order = domain->n_order,
                            .memory_bytes = task->memory_bytes,
                            .pool = task->pool,
                            .ticker = task->ticker,
                            .stage = "search",
                            .context = &all,
                            .visit = visit};
    KN_TRY(kn_lattice_walk_run(&walk, err));
    best_node *best = NULL;
    for (uint32_t w = 0; w < n_workers; w++) {
        best_node *own = &all.best[w];
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
    for (uint32_t w = 0; all.best != NULL && w < n_workers; w++) kn_free(all.best[w].levels);
    for (uint32_t w = 0; all.evaluators != NULL && w < n_workers; w++) kn_evaluator_free(all.evaluators[w]);
    kn_free(all.evaluators);
    kn_free(all.best);
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
