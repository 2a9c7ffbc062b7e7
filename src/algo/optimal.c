/* optimal: the proven best node of the lattice under any measure and any set of models. */
#include "algo/full_domain.h"

#include <string.h>

/* Best node of one thread. */
typedef struct best_node {
    bool found;
    kn_node node;
    uint32_t *levels;
    uint64_t n_nodes;
} best_node;

typedef struct state {
    const kn_full_domain *domain;
    kn_evaluator **evaluators;
    best_node *best;
} state;

static void offer(best_node *best, const kn_node *node, const uint32_t *levels, uint32_t n_qis)
{
    best->n_nodes++;
    if (!node->feasible) return;
    if (best->found && kn_node_compare(node, levels, &best->node, best->levels, n_qis) >= 0) return;
    best->found = true;
    best->node = *node;
    memcpy(best->levels, levels, n_qis * sizeof *levels);
}

static kn_status visit(void *context, const kn_groups *groups, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    state *s = context;
    const kn_lattice *lattice = s->domain->lattice;
    uint32_t n_qis = lattice->tuples->n_qis, variant_levels[64], *levels = variant_levels;
    kn_node nodes[KN_LATTICE_LANES];
    if (!s->domain->lanes) {
        KN_TRY(kn_evaluate(nodes, s->evaluators[worker], groups, err));
        offer(&s->best[worker], nodes, groups->levels, n_qis);
        return KN_OK;
    }
    if (n_qis > 64) KN_NEW_RAW(levels, n_qis);
    KN_TRY(kn_evaluate_lanes(nodes, s->evaluators[worker], groups));
    memcpy(levels, groups->levels, n_qis * sizeof *levels);
    for (uint32_t v = 0; v < 1u << lattice->n_riders; v++) {
        for (uint32_t r = 0; r < lattice->n_riders; r++)
            levels[lattice->riders[r]] = lattice->columns[lattice->riders[r]].min_level + (v >> r & 1);
        offer(&s->best[worker], &nodes[v], levels, n_qis);
    }
done:
    if (levels != variant_levels) kn_free(levels);
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    state all = {0};
    kn_full_domain *domain = NULL;
    uint32_t n_workers = kn_pool_threads(task->pool), n_qis = task->tuples->n_qis;
    KN_TRY(kn_full_domain_new(&domain, task, 9, err));
    all.domain = domain;
    KN_NEW(all.evaluators, n_workers);
    KN_NEW(all.best, n_workers);
    for (uint32_t w = 0; w < n_workers; w++) {
        KN_TRY(kn_evaluator_new(&all.evaluators[w], domain, err));
        KN_NEW(all.best[w].levels, n_qis);
    }
    kn_lattice_walk walk = {.lattice = domain->lattice, .order = domain->order, .n_order = domain->n_order,
                            .memory_bytes = task->memory_bytes, .pool = task->pool, .ticker = task->ticker,
                            .stage = "search", .context = &all, .visit = visit};
    KN_TRY(kn_lattice_walk_run(&walk, err));
    best_node *best = NULL;
    for (uint32_t w = 0; w < n_workers; w++) {
        best_node *own = &all.best[w];
        answer->n_nodes += own->n_nodes;
        if (own->found && (best == NULL || kn_node_compare(&own->node, own->levels, &best->node, best->levels, n_qis) < 0))
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

const kn_algorithm kn_algorithm_optimal = {
    .name = "optimal",
    .summary = "the proven best level per column under any measure and any models",
    .citation = "ours; roll-up and tagging after LeFevre, DeWitt, Ramakrishnan, Incognito, 2005",
    .recoding = KN_RECODING_LEVELS,
    .exact = true,
    .search = search,
};
