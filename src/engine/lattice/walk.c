/* The walk over all nodes; see the header. Cost: one roll-up per batch, of the size of its source. */
#include "engine/lattice/walk.h"

#include <string.h>

/* What one thread keeps: per depth two results, used in turn, since a level is rolled up from the one below it. */
typedef struct walker {
    kn_evaluator *evaluator;
    kn_batch (*kept)[2];
    kn_batch leaf; /* where memory does not allow to keep results */
    uint32_t *levels;
} walker;

typedef struct walk {
    kn_owner memory;
    const kn_full_domain *domain;
    kn_batch_visitor visit;
    void *context;
    walker *walkers;
    uint32_t n_workers, n_fixed; /* n_fixed: columns whose levels are the jobs */
    size_t n_jobs, memory_each;
} walk;

static uint32_t n_levels(const walk *w, uint32_t depth)
{
    return kn_lattice_levels(w->domain->lattice, w->domain->outer[depth]);
}

/* May what is rolled up from `from` be kept at this depth? */
static bool may_keep(const walk *w, const walker *own, uint32_t depth, const kn_batch *from)
{
    if (w->memory_each == 0) return true;
    size_t sum = kn_batch_bytes(w->domain, from);
    for (uint32_t d = 0; d < depth; d++)
        for (int i = 0; i < 2; i++) sum += kn_batch_bytes(w->domain, &own->kept[d][i]);
    return sum <= w->memory_each;
}

static kn_status descend(walk *w, const kn_batch *from, uint32_t depth, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = w->domain;
    walker *own = &w->walkers[worker];
    if (depth == domain->n_outer) {
        bool same = true;
        for (uint32_t d = 0; d < depth; d++)
            same = same && kn_batch_levels(domain, from)[domain->outer[d]] == own->levels[domain->outer[d]];
        if (!same) KN_TRY(kn_batch_roll(&own->leaf, from, own->levels, own->evaluator, err));
        return w->visit(w->context, same ? from : &own->leaf, own->evaluator, worker, err);
    }
    const uint32_t q = domain->outer[depth];
    const kn_lattice_column *column = &domain->lattice->columns[q];
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        kn_batch *kept = &own->kept[depth][from == &own->kept[depth][0]];
        own->levels[q] = l;
        if (l > column->min_level && may_keep(w, own, depth, from)) {
            KN_TRY(kn_batch_roll(kept, from, own->levels, own->evaluator, err));
            from = kept;
        }
        KN_TRY(descend(w, from, depth + 1, worker, err));
    }
    own->levels[q] = column->min_level;
done:
    return status;
}

static kn_status run_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    walk *w = context;
    const kn_full_domain *domain = w->domain;
    walker *own = &w->walkers[worker];
    const kn_batch *from = &domain->base;
    size_t rest = job;
    KN_TRY(kn_tick(domain->task->ticker, "search", (double)job / (double)w->n_jobs, err));
    for (uint32_t q = 0; q < domain->task->tuples->n_qis; q++) own->levels[q] = domain->lattice->columns[q].min_level;
    for (uint32_t d = w->n_fixed; d-- > 0; rest /= n_levels(w, d))
        own->levels[domain->outer[d]] += (uint32_t)(rest % n_levels(w, d));
    if (job > 0 && may_keep(w, own, 0, from)) {
        KN_TRY(kn_batch_roll(&own->kept[0][0], from, own->levels, own->evaluator, err));
        from = &own->kept[0][0];
    }
    KN_TRY(descend(w, from, w->n_fixed, worker, err));
done:
    return status;
}

kn_status kn_each_batch(const kn_full_domain *domain, kn_batch_visitor visit, void *context, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_task *task = domain->task;
    walk w = {.domain = domain,
              .visit = visit,
              .context = context,
              .n_workers = kn_pool_threads(task->pool),
              .n_fixed = domain->n_outer < 2 ? domain->n_outer : 2,
              .n_jobs = 1};
    w.memory_each = task->memory_bytes / w.n_workers + (task->memory_bytes > 0);
    KN_OWN(&w.memory, w.walkers, w.n_workers);
    for (uint32_t i = 0; i < w.n_workers; i++) {
        KN_TRY(kn_evaluator_new(&w.walkers[i].evaluator, domain, err));
        KN_OWN(&w.memory, w.walkers[i].kept, (size_t)domain->n_outer + 1);
        KN_OWN(&w.memory, w.walkers[i].levels, task->tuples->n_qis);
    }
    for (uint32_t d = 0; d < w.n_fixed; d++) w.n_jobs *= n_levels(&w, d);
    KN_TRY(kn_pool_run(task->pool, w.n_jobs, run_job, &w, err));
done:
    for (uint32_t i = 0; w.walkers != NULL && i < w.n_workers; i++) {
        walker *own = &w.walkers[i];
        for (uint32_t d = 0; own->kept != NULL && d < domain->n_outer; d++)
            for (int j = 0; j < 2; j++) kn_batch_free(&own->kept[d][j], domain);
        kn_batch_free(&own->leaf, domain);
        kn_evaluator_free(own->evaluator);
    }
    kn_owner_free(&w.memory);
    return status;
}

/* --- One by one ------------------------------------------------------------------------------------------------ */

typedef struct node_walk {
    kn_node_visitor visit;
    void *context;
    bool details;
} node_walk;

static kn_status visit_batch(void *context, const kn_batch *batch, kn_evaluator *evaluator, unsigned worker,
                             kn_error *err)
{
    const node_walk *w = context;
    return kn_evaluate_nodes(evaluator, batch, w->details, w->visit, w->context, worker, err);
}

kn_status kn_each_node(const kn_full_domain *domain, bool details, kn_node_visitor visit, void *context, kn_error *err)
{
    return kn_each_batch(domain, visit_batch, &(node_walk){visit, context, details}, err);
}
