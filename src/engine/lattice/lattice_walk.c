/* Depth-first walk over the lattice; see the header. Cost: one roll-up per node, of the size of its source. */
#include "engine/lattice/lattice_walk.h"

#include <math.h>
#include <string.h>

kn_status kn_lattice_order(uint32_t **order, uint32_t *n_order, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    double *entropy = NULL;
    *n_order = 0;
    *order = NULL;
    KN_NEW(*order, (size_t)tuples->n_qis + 1);
    KN_NEW(entropy, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            double share = (double)kn_domain_code_rows(domain, code) / (tuples->n_rows > 0 ? tuples->n_rows : 1);
            if (share > 0) entropy[q] -= share * log2(share);
        }
        uint32_t at = (*n_order)++;
        for (; at > 0 && entropy[(*order)[at - 1]] < entropy[q]; at--) (*order)[at] = (*order)[at - 1];
        (*order)[at] = q;
    }
done:
    kn_free(entropy);
    return status;
}

/* What one thread keeps: per depth two results, used in turn, since a level is rolled up from the one below it. */
typedef struct walker {
    kn_roller *roller;
    kn_groups (*kept)[2];
    kn_groups leaf; /* where memory does not allow to keep results */
    uint32_t *levels;
} walker;

typedef struct walk_state {
    const kn_lattice_walk *walk;
    walker *walkers;
    size_t memory_each; /* per thread */
    size_t n_jobs;
} walk_state;

static size_t bytes_kept(const walker *w, const kn_lattice_walk *walk)
{
    size_t sum = 0;
    for (uint32_t d = 0; d < walk->n_order; d++)
        for (int i = 0; i < 2; i++) sum += kn_groups_bytes(walk->lattice, w->kept[d][i].capacity);
    return sum;
}

/* May a result of at most n groups be kept at this depth? Results of deeper depths may be dropped for it. */
static bool may_keep(walker *w, const walk_state *state, uint32_t depth, uint32_t n)
{
    const kn_lattice *lattice = state->walk->lattice;
    if (state->memory_each == 0) return true;
    size_t need = kn_groups_bytes(lattice, n);
    for (uint32_t d = state->walk->n_order; d > depth + 1 && bytes_kept(w, state->walk) + need > state->memory_each;
         d--)
        for (int i = 0; i < 2; i++) kn_groups_free(&w->kept[d - 1][i], lattice);
    return bytes_kept(w, state->walk) + need <= state->memory_each;
}

static kn_status descend(walker *w, const walk_state *state, const kn_groups *from, uint32_t depth, unsigned worker,
                         kn_error *err);

static kn_status visit(walker *w, const walk_state *state, const kn_groups *from, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = state->walk->lattice;
    bool same = true;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) same = same && from->levels[q] == w->levels[q];
    if (!same) {
        KN_TRY(kn_groups_roll(&w->leaf, from, w->levels, w->roller, err));
        from = &w->leaf;
    }
    KN_TRY(state->walk->visit(state->walk->context, from, worker, err));
done:
    return status;
}

/* All levels of the column at `depth`, from `from`, whose classes are those of w->levels or more specific ones. */
static kn_status each_level(walker *w, const walk_state *state, const kn_groups *from, uint32_t depth, unsigned worker,
                            kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice_walk *walk = state->walk;
    uint32_t q = walk->order[depth];
    const kn_lattice_column *column = &walk->lattice->columns[q];
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        w->levels[q] = l;
        if (walk->skip != NULL && walk->skip(walk->context, w->levels, depth + 1, worker)) continue;
        kn_groups *kept = &w->kept[depth][from == &w->kept[depth][0]];
        if (l > column->min_level && (from->n <= kept->capacity || may_keep(w, state, depth, from->n))) {
            KN_TRY(kn_groups_roll(kept, from, w->levels, w->roller, err));
            from = kept;
        }
        KN_TRY(descend(w, state, from, depth + 1, worker, err));
    }
done:
    w->levels[q] = column->min_level;
    return status;
}

static kn_status descend(walker *w, const walk_state *state, const kn_groups *from, uint32_t depth, unsigned worker,
                         kn_error *err)
{
    if (depth == state->walk->n_order) return visit(w, state, from, worker, err);
    return each_level(w, state, from, depth, worker, err);
}

static uint32_t n_job_columns(const kn_lattice_walk *walk) { return walk->n_order < 2 ? walk->n_order : 2; }

static uint32_t n_levels(const kn_lattice_walk *walk, uint32_t depth)
{
    const kn_lattice_column *column = &walk->lattice->columns[walk->order[depth]];
    return column->max_level - column->min_level + 1;
}

static kn_status run_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    walk_state *state = context;
    const kn_lattice_walk *walk = state->walk;
    walker *w = &state->walkers[worker];
    const kn_groups *from = &walk->lattice->base;
    size_t rest = job;
    KN_TRY(kn_tick(walk->ticker, walk->stage, (double)job / (double)state->n_jobs, err));
    for (uint32_t d = n_job_columns(walk); d-- > 0; rest /= n_levels(walk, d)) {
        const kn_lattice_column *column = &walk->lattice->columns[walk->order[d]];
        w->levels[walk->order[d]] = column->min_level + (uint32_t)(rest % n_levels(walk, d));
    }
    for (uint32_t d = 1; d <= n_job_columns(walk); d++)
        if (walk->skip != NULL && walk->skip(walk->context, w->levels, d, worker)) goto done;
    if (job > 0 && may_keep(w, state, 0, from->n)) {
        KN_TRY(kn_groups_roll(&w->kept[0][0], from, w->levels, w->roller, err));
        from = &w->kept[0][0];
    }
    KN_TRY(descend(w, state, from, n_job_columns(walk), worker, err));
done:
    return status;
}

kn_status kn_lattice_walk_run(const kn_lattice_walk *walk, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = walk->lattice;
    uint32_t n_qis = lattice->tuples->n_qis, n_workers = kn_pool_threads(walk->pool);
    walk_state state = {.walk = walk, .memory_each = walk->memory_bytes / n_workers, .n_jobs = 1};
    if (walk->memory_bytes > 0 && state.memory_each == 0) state.memory_each = 1;
    KN_NEW(state.walkers, n_workers);
    for (uint32_t i = 0; i < n_workers; i++) {
        walker *w = &state.walkers[i];
        KN_TRY(kn_roller_new(&w->roller, lattice, err));
        KN_NEW(w->kept, (size_t)walk->n_order + 1);
        KN_NEW(w->levels, n_qis);
        for (uint32_t q = 0; q < n_qis; q++) w->levels[q] = lattice->columns[q].min_level;
    }
    for (uint32_t d = 0; d < n_job_columns(walk); d++) state.n_jobs *= n_levels(walk, d);
    KN_TRY(kn_pool_run(walk->pool, state.n_jobs, run_job, &state, err));
done:
    for (uint32_t i = 0; state.walkers != NULL && i < n_workers; i++) {
        walker *w = &state.walkers[i];
        for (uint32_t d = 0; w->kept != NULL && d < walk->n_order; d++)
            for (int j = 0; j < 2; j++) kn_groups_free(&w->kept[d][j], lattice);
        kn_groups_free(&w->leaf, lattice);
        kn_roller_free(w->roller);
        kn_free(w->kept);
        kn_free(w->levels);
    }
    kn_free(state.walkers);
    return status;
}
