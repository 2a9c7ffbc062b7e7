/* Groups kept for rounds over them; see the header. */
#include "bound/group_store.h"

#include "bound/top_rows.h"

#include <stdatomic.h>
#include <string.h>

enum { CHUNK_MEMBERS = 1 << 18, KEEP_STEPS = 3 };
static const float FAR_BELOW = 0.5f;

typedef struct filling {
    const kn_bound_problem *problem;
    kn_group_store *store;
    const float *caps;
    double scale;
    uint64_t max_members;
    kn_valued_point **scratch; /* [worker][point] */
    kn_group_walk *walk;
    atomic_uint_fast64_t n_members;
} filling;

static kn_status keep(void *context, const kn_group *group, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    filling *f = context;
    kn_store_part *part = &f->store->parts[job];
    kn_valued_point *scratch = f->scratch[worker];
    const float price = (float)(group->price / f->scale);
    float most = 0;
    for (uint32_t i = 0; i < group->n_points; i++) {
        scratch[i] = (kn_valued_point){f->caps[group->points[i]], group->points[i]};
        if (scratch[i].value > most) most = scratch[i].value;
    }
    if (most <= price) goto done;
    const kn_top_rows top = kn_top_rows_of(scratch, group->n_points, f->problem->rows, f->problem->k);
    if (top.sum <= (double)price * (double)f->problem->k) goto done;
    /* What stays far below the price counts only as long as there are fewer than k above it. */
    const float threshold = FAR_BELOW * (top.kth < price ? top.kth : price);
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->n_points; i++) n += f->caps[group->points[i]] >= threshold;
    if (atomic_fetch_add(&f->n_members, n) + n > f->max_members) {
        atomic_store(&f->walk->enough, true);
        goto done;
    }
    KN_RESERVE(&part->members, n);
    for (uint32_t i = 0; i < group->n_points; i++)
        if (f->caps[group->points[i]] >= threshold) part->members.items[part->members.n++] = group->points[i];
    KN_PUSH(&part->ends, part->members.n);
    KN_PUSH(&part->prices, price);
done:
    return status;
}

/* One list of all groups, in the order of the parts, and its chunks. */
static kn_status list_groups(kn_group_store *store, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t j = 0; j < store->n_parts; j++) store->n_groups += store->parts[j].ends.n;
    KN_NEW_RAW(store->groups, store->n_groups);
    KN_NEW(store->chunk_ends, store->n_members / CHUNK_MEMBERS + 1);
    size_t at = 0;
    uint64_t in_chunk = 0;
    for (size_t j = 0; j < store->n_parts; j++) {
        const kn_store_part *part = &store->parts[j];
        for (size_t i = 0; i < part->ends.n; i++) {
            const uint64_t start = i > 0 ? part->ends.items[i - 1] : 0;
            const uint32_t n = (uint32_t)(part->ends.items[i] - start);
            store->groups[at++] = (kn_kept_group){part->members.items + start, n, part->prices.items[i], 0, 0};
            in_chunk += n;
            if (in_chunk < CHUNK_MEMBERS) continue;
            store->chunk_ends[store->n_chunks++] = at;
            in_chunk = 0;
        }
    }
    if (in_chunk > 0) store->chunk_ends[store->n_chunks++] = at;
done:
    return status;
}

kn_status kn_group_store_new(kn_group_store **out, const kn_bound_problem *problem, uint32_t price_limit,
                             const float *caps, double scale, uint64_t max_members, kn_error *err)
{
    kn_status status = KN_OK;
    kn_group_store *store = NULL;
    const unsigned n_threads = kn_pool_threads(problem->task->pool);
    filling f = {.problem = problem, .caps = caps, .scale = scale, .max_members = max_members};
    kn_group_walk walk = {.price_limit = price_limit, .member_steps = KEEP_STEPS};
    *out = NULL;
    KN_NEW(store, 1);
    f.store = store;
    f.walk = &walk;
    store->n_parts = kn_group_jobs(problem);
    KN_NEW(store->parts, store->n_parts);
    KN_NEW(f.scratch, n_threads);
    for (unsigned w = 0; w < n_threads; w++) KN_NEW_RAW(f.scratch[w], problem->n_points);
    KN_TRY(kn_each_group(&walk, problem, keep, &f, err));
    store->n_members = atomic_load(&f.n_members);
    if (!walk.done || store->n_members > max_members) goto done;
    KN_TRY(list_groups(store, err));
    *out = store;
    store = NULL;
done:
    for (unsigned w = 0; f.scratch != NULL && w < n_threads; w++) kn_free(f.scratch[w]);
    kn_free(f.scratch);
    kn_group_store_free(store);
    return status;
}

void kn_group_store_free(kn_group_store *store)
{
    if (store == NULL) return;
    for (size_t j = 0; store->parts != NULL && j < store->n_parts; j++) {
        kn_free(store->parts[j].members.items);
        kn_free(store->parts[j].ends.items);
        kn_free(store->parts[j].prices.items);
    }
    kn_free(store->parts);
    kn_free(store->groups);
    kn_free(store->chunk_ends);
    kn_free(store);
}
