/* Every node, evaluated; see the header. */
#include "engine/lattice/all_nodes.h"

#include <string.h>

typedef struct worker {
    kn_evaluator *evaluator;
    kn_blocks (*kept)[2];
    kn_blocks leaf; /* where memory does not allow to keep results */
    uint32_t *levels, *node_levels;
    kn_node *nodes;
    double *losses;
    kn_node_sums *sums;              /* figures of groups ... */
    kn_block_figures *block_figures; /* ... and of blocks */
} worker;

typedef struct state {
    const kn_full_domain *domain;
    const kn_figures *figures;
    kn_node_visitor visit;
    void *context;
    worker *workers;
    uint32_t n_workers;
    size_t n_jobs;
    size_t memory_each;
} state;

static kn_status visit_groups(void *context, const kn_groups *groups, unsigned w, kn_error *err)
{
    kn_status status = KN_OK;
    state *s = context;
    worker *own = &s->workers[w];
    if (s->figures != NULL)
        kn_figures_of_groups(own->nodes, own->losses, s->figures, own->sums, own->evaluator, groups);
    else KN_TRY(kn_evaluate(own->nodes, own->evaluator, groups, err));
    KN_TRY(s->visit(s->context, own->nodes, own->losses, groups->levels, w, err));
done:
    return status;
}

static kn_status visit_blocks(state *s, const kn_blocks *blocks, unsigned w, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = s->domain->blocks;
    worker *own = &s->workers[w];
    const size_t n_measures = s->figures != NULL ? s->figures->n : 0;
    bool same = true;
    for (uint32_t d = 0; d < b->n_outer; d++) same = same && blocks->levels[b->outer[d]] == own->levels[b->outer[d]];
    if (!same) {
        KN_TRY(kn_blocks_roll(&own->leaf, blocks, own->levels, kn_evaluator_block_roller(own->evaluator), err));
        blocks = &own->leaf;
    }
    if (s->figures != NULL) kn_figures_of_blocks(own->nodes, own->losses, own->block_figures, blocks);
    else kn_evaluate_blocks(own->nodes, own->evaluator, blocks, false);
    for (uint32_t c = 0; c < b->n_combos; c++)
        for (uint32_t v = 0; v < 1u << b->n_riders; v++) {
            kn_block_levels(own->node_levels, b, blocks, c, v);
            size_t at = c * KN_LATTICE_LANES + v;
            const double *losses = own->losses != NULL ? own->losses + at * n_measures : NULL;
            KN_TRY(s->visit(s->context, &own->nodes[at], losses, own->node_levels, w, err));
        }
done:
    return status;
}

static bool may_keep(const state *s, const worker *own, uint32_t depth, const kn_blocks *from)
{
    const kn_block_lattice *b = s->domain->blocks;
    if (s->memory_each == 0) return true;
    size_t sum = kn_blocks_bytes(b, from);
    for (uint32_t d = 0; d < depth; d++)
        for (int i = 0; i < 2; i++) sum += kn_blocks_bytes(b, &own->kept[d][i]);
    return sum <= s->memory_each;
}

static kn_status descend(state *s, const kn_blocks *from, uint32_t depth, unsigned w, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = s->domain->blocks;
    worker *own = &s->workers[w];
    if (depth == b->n_outer) return visit_blocks(s, from, w, err);
    uint32_t q = b->outer[depth];
    const kn_lattice_column *column = &b->lattice->columns[q];
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        own->levels[q] = l;
        kn_blocks *kept = &own->kept[depth][from == &own->kept[depth][0]];
        if (l > column->min_level && may_keep(s, own, depth, from)) {
            KN_TRY(kn_blocks_roll(kept, from, own->levels, kn_evaluator_block_roller(own->evaluator), err));
            from = kept;
        }
        KN_TRY(descend(s, from, depth + 1, w, err));
    }
    own->levels[q] = column->min_level;
done:
    return status;
}

static uint32_t n_levels(const state *s, uint32_t depth)
{
    const kn_lattice_column *column = &s->domain->lattice->columns[s->domain->blocks->outer[depth]];
    return column->max_level - column->min_level + 1;
}

static kn_status run_job(void *context, size_t job, unsigned w, kn_error *err)
{
    kn_status status = KN_OK;
    state *s = context;
    const kn_block_lattice *b = s->domain->blocks;
    worker *own = &s->workers[w];
    const kn_blocks *from = &b->base;
    uint32_t n_fixed = b->n_outer < 2 ? b->n_outer : 2;
    size_t rest = job;
    KN_TRY(kn_tick(s->domain->task->ticker, "search", (double)job / (double)s->n_jobs, err));
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) own->levels[q] = b->lattice->columns[q].min_level;
    for (uint32_t d = n_fixed; d-- > 0; rest /= n_levels(s, d))
        own->levels[b->outer[d]] += (uint32_t)(rest % n_levels(s, d));
    if (job > 0 && may_keep(s, own, 0, from)) {
        KN_TRY(kn_blocks_roll(&own->kept[0][0], from, own->levels, kn_evaluator_block_roller(own->evaluator), err));
        from = &own->kept[0][0];
    }
    KN_TRY(descend(s, from, n_fixed, w, err));
done:
    return status;
}

static kn_status run_blocks(state *s, kn_error *err)
{
    const kn_block_lattice *b = s->domain->blocks;
    s->n_jobs = 1;
    for (uint32_t d = 0; d < 2 && d < b->n_outer; d++) s->n_jobs *= n_levels(s, d);
    return kn_pool_run(s->domain->task->pool, s->n_jobs, run_job, s, err);
}

static kn_status worker_new(worker *own, const state *s, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t most_nodes = KN_BLOCK_MAX_COMBOS * KN_LATTICE_LANES, n_qis = s->domain->task->tuples->n_qis;
    KN_TRY(kn_evaluator_new(&own->evaluator, s->domain, NULL, err));
    KN_NEW(own->kept, (size_t)s->domain->n_order + 1);
    KN_NEW(own->levels, n_qis);
    KN_NEW(own->node_levels, n_qis);
    KN_NEW(own->nodes, most_nodes);
    if (s->figures == NULL) goto done;
    KN_NEW(own->losses, most_nodes * s->figures->n + 1);
    if (s->domain->blocks != NULL) KN_TRY(kn_block_figures_new(&own->block_figures, s->figures, err));
    else KN_TRY(kn_node_sums_new(&own->sums, s->figures, err));
done:
    return status;
}

static void worker_free(worker *own, uint32_t n_order)
{
    for (uint32_t d = 0; own->kept != NULL && d <= n_order; d++)
        for (int i = 0; i < 2; i++) kn_blocks_free(&own->kept[d][i]);
    kn_free(own->kept);
    kn_blocks_free(&own->leaf);
    kn_free(own->levels);
    kn_free(own->node_levels);
    kn_free(own->nodes);
    kn_free(own->losses);
    kn_node_sums_free(own->sums);
    kn_block_figures_free(own->block_figures);
    kn_evaluator_free(own->evaluator);
}

kn_status kn_all_nodes(const kn_full_domain *domain, const kn_figures *figures, kn_node_visitor visit, void *context,
                       kn_error *err)
{
    kn_status status = KN_OK;
    const kn_task *task = domain->task;
    state s = {.domain = domain,
               .figures = figures,
               .visit = visit,
               .context = context,
               .n_workers = kn_pool_threads(task->pool)};
    s.memory_each = task->memory_bytes / s.n_workers + (task->memory_bytes > 0);
    KN_NEW(s.workers, s.n_workers);
    for (uint32_t w = 0; w < s.n_workers; w++) KN_TRY(worker_new(&s.workers[w], &s, err));
    if (domain->blocks != NULL) {
        KN_TRY(run_blocks(&s, err));
    } else {
        kn_lattice_walk walk = {.lattice = domain->lattice,
                                .order = domain->order,
                                .n_order = domain->n_order,
                                .memory_bytes = task->memory_bytes,
                                .pool = task->pool,
                                .ticker = task->ticker,
                                .stage = "search",
                                .context = &s,
                                .visit = visit_groups};
        KN_TRY(kn_lattice_walk_run(&walk, err));
    }
done:
    for (uint32_t w = 0; s.workers != NULL && w < s.n_workers; w++) worker_free(&s.workers[w], domain->n_order);
    kn_free(s.workers);
    return status;
}
