/* Sequential clustering: move records one by one to the cluster where they cost least.
 *
 * [SC] 6.3 (Algorithm 1) and 7 (Algorithms 2 and 3, for models that look at a sensitive column).
 * In: items of one person each. Out: classes, each released as its closure.
 *
 *   start   a random partition into clusters of k0 = alpha * k. With models beyond counting: Algorithm 3, which gives
 *           every cluster its share of each sensitive value. Where the models do not hold for all of them (the paper's
 *           l > l1) fewer and larger clusters are tried; `fit=no` is the paper's answer, the trivial clustering, one
 *           class. (Clusters of k0 = 2 are never 3-diverse: without `fit` that answer would be the usual one.) Where
 *           they do not hold for the whole table (l > l0), the run is refused.
 *   passes  every item in turn goes to the cluster for which (22) is least, if that is below 0 and the models hold for
 *           both clusters; a singleton always goes. After each pass clusters above omega * k are split at random (by
 *           Algorithm 3 where models look at a sensitive column, if both halves hold). Until a pass moves nothing.
 *   end     clusters that break a model are united, the two closest first (class_members.c). There the paper ends
 *           (`settle=no`). Here passes go on (`settle=yes`), now between classes, where a move must leave both classes
 *           good: 3 % less loss on Adult at k = 10 to 100 (.299 to .290, .403 to .391, .443 to .434; seed 1).
 *
 * (22) has a sign slip: the loss of C_h before is subtracted like that of C_j. Algorithm 3 does not guarantee the sizes
 * k0 and k0 + 1 that Algorithm 2 says; nothing here relies on them. Passes have a cap (`passes`), because random splits
 * can go on for ever; two passes in a row that each change the loss by less than one part in 10,000 also end them ([SC]
 * 6.3: "until the improvements become sufficiently small"). Among equally good clusters the paper leaves the choice
 * open; here it is the one that has been left alone for the longest time (`ties=idle`), which spreads the first pass
 * over many clusters, or the first (`ties=first`): on Adult that loses 4 % more at k=10, 0.8 % less at k=50 and 3 %
 * less at k=100 (means of three seeds).
 *
 * Where else it departs from the paper: candidates come from a vector scan with rounded prices (closure_scan.h, for PMI
 * and the like value_scan.h), the move itself is decided by true prices. An item is compared only with clusters that
 * have changed since its last turn, unless its own has changed so that more would do: the others were too dear then and
 * are now, so nothing is missed, and late passes cost little. Tables of more than `whole` items are cut along the
 * Hilbert curve into blocks of about `block` items, each clustered by itself on the pool: cost then grows linearly; the
 * explanation and the result's `blocks` say so. Restarts take the best of several random starts. Under PMI with columns
 * of runs of values, where a scan interpolates, the best of its first proposals by true price is taken.
 *
 * Clusters with equal closures are one class of the release, and under DM, CM and their like a class does not cost what
 * its parts do: (22), which adds up clusters, prices something that is never released. There the passes above follow
 * the width of the closures; then clusters that look alike are united, and more passes move items by the true price of
 * the released classes, as long as both sides stay classes and look like no other. So the release never costs more
 * than the one by width, which is LM's on hierarchies. Several blocks: the same in each.
 *
 * Cost: a pass joins every item with every cluster of its block, n * block / k0 joins. Memory is linear. */
#include "engine/closure/class_members.h"
#include "engine/closure/value_scan.h"
#include "search/local/hilbert.h"
#include "search/local/sequential.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALL_GAIN = 1e-4;
enum { CLASS_PROPOSALS = 8 };

typedef struct settings {
    double alpha, omega;
    uint32_t n_restarts, max_passes, whole, block;
    bool fit, settle, first_of_equals;
    uint64_t k;
} settings;

/* What is known of an item since it was last looked at, and not moved. Clusters in slots before `seen` have not changed
 * since then, and none of them takes it for less than `floor`. */
typedef struct news {
    uint32_t seen;
    double floor;
    double limit; /* what its own cluster gains without it */
} news;

/* One block of items, clustered by itself. */
typedef struct block_run {
    const kn_task *task;
    const settings *settings;
    kn_items *items; /* of the whole table */
    const uint32_t *members;
    uint32_t n_members;
    kn_class_members *clusters;
    kn_scan *scan;
    kn_probe *probe;
    /* Slots of the scan stand in the order of their cluster's last change: a cluster that changes moves to the end. */
    uint32_t n_slots, n_open, max_slots;
    uint32_t *cluster_at;  /* [slot], KN_NONE: left behind */
    uint32_t *slot_of;     /* [cluster], KN_NONE: empty */
    uint32_t *open_before; /* [slot]: scratch */
    news *news;            /* [member] */
    uint32_t *shuffled;    /* n_members: scratch of splits */
    bool settled;          /* clusters are classes, and stay so */
    bool released;         /* and no two look alike */
    bool exact;            /* the scan prices joins as the objective does */
    kn_rng rng;
    uint64_t n_moves;
} block_run;

/* --- Random splits --------------------------------------------------------------------------------------------- */

static void shuffle(kn_rng *rng, uint32_t *list, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = kn_rng_below(rng, i), swap = list[i - 1];
        list[i - 1] = list[j];
        list[j] = swap;
    }
}

/* The sensitive value by which Algorithm 3 deals an item out: its first, in the first sensitive column, or in all of
 * them joined where a model looks at that. */
static uint32_t sensitive_value(const kn_items *items, uint32_t item)
{
    uint32_t n_columns = items->tuples->n_table_sensitive;
    const kn_histograms *column = &items->sensitive[n_columns < items->tuples->n_sensitive ? n_columns : 0];
    return column->values[column->start[item]];
}

typedef struct valued {
    uint32_t value, place, item;
} valued;

static int compare_valued(const void *a, const void *b)
{
    const valued *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Algorithm 3: part[i] for list[i], 0 .. n_parts-1. Items of value j are dealt out in random order; each part gets
 * floor(p_j / t) of them, and p_j mod t random parts get one more ((24), (25)). */
kn_status kn_sequential_deal(uint32_t *part, const kn_items *items, uint32_t *list, uint32_t n, uint32_t n_parts,
                             kn_rng *rng, kn_error *err)
{
    kn_status status = KN_OK;
    valued *sorted = NULL;
    uint32_t *permutation = NULL;
    KN_NEW_RAW(sorted, n);
    KN_NEW_RAW(permutation, n_parts);
    shuffle(rng, list, n);
    for (uint32_t i = 0; i < n; i++) sorted[i] = (valued){sensitive_value(items, list[i]), i, list[i]};
    qsort(sorted, n, sizeof *sorted, compare_valued);
    for (uint32_t i = 0; i < n_parts; i++) permutation[i] = i;
    for (uint32_t begin = 0, end; begin < n; begin = end) {
        for (end = begin; end < n && sorted[end].value == sorted[begin].value; end++) continue;
        shuffle(rng, permutation, n_parts);
        for (uint32_t i = begin; i < end; i++) part[i] = permutation[(i - begin) % n_parts];
    }
    for (uint32_t i = 0; i < n; i++) list[i] = sorted[i].item;
done:
    kn_free(sorted);
    kn_free(permutation);
    return status;
}

/* --- Start ----------------------------------------------------------------------------------------------------- */

/* The first n of r->shuffled, by Algorithm 3 where models look at sensitive values; part[i] as there. */
static kn_status deal(uint32_t *part, block_run *r, uint32_t n, uint32_t n_parts, kn_error *err)
{
    if (!r->task->models->counts_only && r->items->sensitive != NULL)
        return kn_sequential_deal(part, r->items, r->shuffled, n, n_parts, &r->rng, err);
    shuffle(&r->rng, r->shuffled, n);
    for (uint32_t i = 0; i < n; i++) part[i] = i % n_parts;
    return KN_OK;
}

/* Do the models that look at sensitive columns hold for every cluster? */
static bool all_hold(block_run *r)
{
    if (r->task->models->counts_only) return true;
    for (uint32_t cluster = 0; cluster < r->clusters->n; cluster++)
        if (r->clusters->head[cluster] != KN_NONE &&
            !kn_class_members_hold(r->clusters, cluster, KN_NONE, KN_NONE, false))
            return false;
    return true;
}

static kn_status deal_out(block_run *r, uint32_t n_clusters, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *part = NULL, n = r->n_members;
    KN_NEW_RAW(part, n);
    memcpy(r->shuffled, r->members, n * sizeof *r->shuffled);
    KN_TRY(deal(part, r, n, n_clusters, err));
    for (uint32_t i = 0; i < n; i++) {
        if (r->clusters->of_item[r->shuffled[i]] != KN_NONE) kn_class_members_remove(r->clusters, r->shuffled[i]);
        kn_class_members_add(r->clusters, part[i], r->shuffled[i]);
    }
    r->clusters->n = n_clusters;
done:
    kn_free(part);
    return status;
}

/* The random start; one cluster where the models do not hold for all of n / k0 (`fit`: of any smaller number). */
static kn_status start(block_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t k0 = (uint64_t)(r->settings->alpha * (double)r->settings->k);
    uint32_t n_clusters = (uint32_t)(r->n_members / (k0 > 0 ? k0 : 1));
    if (n_clusters == 0) n_clusters = 1;
    for (;; n_clusters = r->settings->fit ? n_clusters / 2 : 1) {
        KN_TRY(deal_out(r, n_clusters, err));
        if (n_clusters == 1 || all_hold(r)) break;
    }
done:
    return status;
}

/* --- Passes ---------------------------------------------------------------------------------------------------- */

/* Empty slots cost as much in a scan as others: the rest moves up. */
static void close_ranks(block_run *r)
{
    uint32_t n = 0, *before = r->open_before;
    for (uint32_t slot = 0; slot < r->n_slots; slot++) {
        uint32_t cluster = r->cluster_at[slot];
        before[slot] = n;
        if (cluster == KN_NONE) continue;
        if (n != slot) {
            kn_scan_copy(r->scan, n, slot);
            r->cluster_at[n] = cluster;
            r->slot_of[cluster] = n;
        }
        n++;
    }
    before[r->n_slots] = n;
    for (uint32_t slot = n; slot < r->n_slots; slot++) kn_scan_close(r->scan, slot);
    for (uint32_t i = 0; i < r->n_members; i++) r->news[i].seen = before[r->news[i].seen];
    r->n_slots = r->n_open = n;
}

static void leave_slot(block_run *r, uint32_t cluster)
{
    uint32_t slot = r->slot_of[cluster];
    if (slot == KN_NONE) return;
    kn_scan_close(r->scan, slot);
    r->cluster_at[slot] = r->slot_of[cluster] = KN_NONE;
    r->n_open--;
}

/* A cluster that has changed, whose closure the probe holds, goes to the last slot. */
static void take_last_slot(block_run *r, uint32_t cluster)
{
    leave_slot(r, cluster);
    if (r->n_slots == r->max_slots) close_ranks(r);
    r->slot_of[cluster] = r->n_slots;
    r->cluster_at[r->n_slots] = cluster;
    kn_scan_store(r->scan, r->n_slots++, r->probe);
    r->n_open++;
}

/* Price and slot of a cluster that has changed. */
static void refresh(block_run *r, uint32_t cluster)
{
    kn_class_members *c = r->clusters;
    if (c->head[cluster] == KN_NONE) {
        leave_slot(r, cluster);
        c->price[cluster] = c->cost[cluster] = 0;
        return;
    }
    kn_class_members_refresh(c, cluster);
    kn_class_members_load(c, r->probe, cluster);
    take_last_slot(r, cluster);
}

/* May the cluster lose or take the item? */
static bool may_change(block_run *r, uint32_t cluster, uint32_t without, uint32_t with)
{
    if (r->task->models->counts_only && !r->settled) return true;
    return kn_class_members_hold(r->clusters, cluster, without, with, r->settled);
}

/* The slot with the least delta of the probe's join that was not struck out; among equals by the tie rule. Slots stand
 * in the order of their last change. */
static uint32_t least_slot(const block_run *r, const int32_t *deltas)
{
    uint32_t best = kn_probe_least(r->probe);
    if (best == KN_NONE || !r->settings->first_of_equals) return best;
    for (uint32_t slot = best + 1; slot < r->n_slots; slot++)
        if (deltas[slot] == deltas[best] && r->cluster_at[slot] < r->cluster_at[best]) best = slot;
    return best;
}

/* The cluster that takes the item at least cost among those for which the models then hold; *cost is the true one.
 * KN_NONE when none costs less than `limit`. Where the scan prices joins truly its first choice is the answer;
 * otherwise it only proposes, and the best of several is taken. Only slots from `begin` on are
 * looked at; *floor becomes a cost below which none of the others was to be had. `left`: the closure of its own cluster
 * without it, where clusters are to stay different. */
static uint32_t best_cluster(block_run *r, uint32_t item, uint32_t begin, double limit, uint64_t left, double *cost,
                             double *floor)
{
    kn_class_members *c = r->clusters;
    uint32_t home_slot = r->slot_of[c->of_item[item]], chosen = KN_NONE, n_tries = r->exact ? 1 : CLASS_PROPOSALS;
    kn_probe_clear(r->probe);
    kn_probe_add(r->probe, r->items, item);
    const int32_t *deltas = kn_probe_join_from(r->probe, r->scan, begin, r->n_slots);
    kn_probe_strike(r->probe, home_slot);
    *cost = limit;
    *floor = INFINITY;
    while (n_tries > 0) {
        uint32_t slot = least_slot(r, deltas), best;
        if (slot == KN_NONE) break;
        best = r->cluster_at[slot];
        double this_cost = kn_class_members_cost_with(c, best, item) - c->cost[best];
        if (this_cost >= limit && r->exact) {
            *floor = this_cost;
            break;
        }
        if (may_change(r, best, KN_NONE, item)) {
            uint64_t closure = left + 1;
            bool alike = r->released && (kn_class_members_meets_with(&closure, c, best) || closure == left);
            n_tries--;
            if (this_cost < *cost && !alike) {
                *cost = this_cost;
                chosen = best;
            }
        }
        kn_probe_strike(r->probe, slot);
    }
    return chosen;
}

static void take_out(block_run *r, uint32_t item)
{
    kn_class_members *c = r->clusters;
    uint32_t home = c->of_item[item];
    kn_class_members_leave(c, item);
    if (c->head[home] == KN_NONE) {
        leave_slot(r, home);
        return;
    }
    kn_class_members_load(c, r->probe, home);
    take_last_slot(r, home);
}

static void put_in(block_run *r, uint32_t to, uint32_t item)
{
    kn_class_members *c = r->clusters;
    kn_class_members_join(c, to, item);
    kn_class_members_load(c, r->probe, to);
    take_last_slot(r, to);
}

/* Steps 3 to 7 of Algorithm 1, 5 to 12 of Algorithm 2, for the block's i-th item. What has not changed since the last
 * pass is not looked at again. */
static void move_item(block_run *r, uint32_t i)
{
    kn_class_members *c = r->clusters;
    uint32_t item = r->members[i], home = c->of_item[item];
    news *known = &r->news[i];
    bool alone = c->head[home] == item && c->next[item] == KN_NONE;
    double cost, floor, limit = known->limit;
    uint64_t left = 0;
    if (r->settled && alone) return;
    if (r->slot_of[home] >= known->seen || alone || r->released) {
        limit = INFINITY;
        if (!alone) {
            if (!may_change(r, home, item, KN_NONE)) return;
            limit = c->cost[home] - kn_class_members_cost_without(c, home, item) - 1e-12 * fabs(c->cost[home]);
            if (r->released && kn_class_members_meets_without(&left, c, home)) return;
        }
    }
    if (limit <= 0 && !c->by_class) return;
    bool old_ones_cost_more = limit <= known->floor && r->exact;
    if (old_ones_cost_more && known->seen == r->n_slots) return;
    uint32_t to = best_cluster(r, item, old_ones_cost_more ? known->seen : 0, limit, left, &cost, &floor);
    if (to == KN_NONE) {
        *known = (news){r->n_slots, old_ones_cost_more ? fmin(floor, known->floor) : floor, limit};
        return;
    }
    take_out(r, item);
    put_in(r, to, item);
    *known = (news){0, -INFINITY, 0};
    r->n_moves++;
}

/* Splits a cluster in two at random; the second half becomes a cluster of its own. */
static kn_status split(block_run *r, uint32_t cluster, kn_error *err)
{
    kn_status status = KN_OK;
    kn_class_members *c = r->clusters;
    uint32_t *part = NULL, n = 0, fresh = c->n;
    for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item]) r->shuffled[n++] = item;
    KN_NEW_RAW(part, n);
    KN_TRY(deal(part, r, n, 2, err));
    for (uint32_t i = 0; i < n; i++) {
        if (part[i] == 0) continue;
        kn_class_members_remove(c, r->shuffled[i]);
        kn_class_members_add(c, fresh, r->shuffled[i]);
    }
    bool useful = c->head[fresh] != KN_NONE && c->head[cluster] != KN_NONE;
    if (!useful || !kn_class_members_hold(c, cluster, KN_NONE, KN_NONE, false) ||
        !kn_class_members_hold(c, fresh, KN_NONE, KN_NONE, false)) {
        kn_class_members_unite(c, cluster, fresh);
        goto done;
    }
    c->n++;
    refresh(r, cluster);
    refresh(r, fresh);
done:
    kn_free(part);
    return status;
}

/* Numbers of empty clusters are used again: the last ones take their places. */
static void drop_empty(block_run *r)
{
    kn_class_members *c = r->clusters;
    for (uint32_t cluster = 0; cluster < c->n; cluster++) {
        while (c->n > cluster && c->head[c->n - 1] == KN_NONE) c->n--;
        if (cluster >= c->n) break;
        if (c->head[cluster] != KN_NONE) continue;
        uint32_t last = --c->n;
        kn_class_members_unite(c, cluster, last);
        kn_class_members_refresh(c, cluster);
        r->slot_of[cluster] = r->slot_of[last];
        r->cluster_at[r->slot_of[cluster]] = cluster;
        r->slot_of[last] = KN_NONE;
    }
}

static double total_loss(const kn_class_members *c)
{
    double loss = 0;
    for (uint32_t cluster = 0; cluster < c->n; cluster++) loss += c->cost[cluster];
    return loss;
}

static kn_status run_passes(block_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_class_members *c = r->clusters;
    double limit = r->settings->omega * (double)r->settings->k;
    uint32_t n_idle = 0;
    for (uint32_t cluster = 0; cluster < c->n; cluster++) refresh(r, cluster);
    for (uint32_t i = 0; i < r->n_members; i++) r->news[i] = (news){0, -INFINITY, 0};
    for (uint32_t pass = 0; pass < r->settings->max_passes; pass++) {
        uint64_t moves_before = r->n_moves;
        double loss_before = total_loss(c);
        bool late = false;
        for (uint32_t i = 0; i < r->n_members && !late; i++) {
            if (r->n_slots > r->n_open + r->n_open / 8 + 256) close_ranks(r);
            move_item(r, i);
            if (i % 256 != 0) continue;
            KN_TRY(kn_tick(r->task->ticker, "sequential", -1, err));
            late = kn_ticker_out_of_time(r->task->ticker);
        }
        if (r->n_moves == moves_before) break;
        /* a pass that loses had singletons that must go: it may gain next time */
        bool changed = fabs(loss_before - total_loss(c)) >= SMALL_GAIN * fabs(loss_before);
        n_idle = changed ? 0 : n_idle + 1;
        if (n_idle == 2) break;
        uint32_t n = r->settled || late ? 0 : c->n;
        for (uint32_t cluster = 0; cluster < n && c->n < c->capacity; cluster++)
            if ((double)c->persons[cluster] > limit) KN_TRY(split(r, cluster, err));
        drop_empty(r);
        if (late) break;
    }
done:
    return status;
}

/* --- One block ------------------------------------------------------------------------------------------------- */

/* The clusters as they will be released, and passes by what that costs. */
static kn_status improve_released(block_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    r->settled = r->released = r->clusters->by_class = true;
    r->exact = false;
    KN_TRY(kn_class_members_unite_alike(r->clusters, err));
    KN_TRY(run_passes(r, err));
done:
    return status;
}

static kn_status run_once(block_run *r, const kn_pricer *pricer, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    /* at the start n / k0; splits only ever make clusters of omega * k / 2 or more */
    uint32_t capacity = r->n_members + 2;
    uint64_t k0 = (uint64_t)(r->settings->alpha * (double)r->settings->k);
    if (k0 > 1) capacity = (uint32_t)(2 * r->n_members / k0 + 64);
    KN_TRY(kn_class_members_new(&r->clusters, r->task, r->items, pricer, capacity, err));
    r->max_slots = 2 * capacity;
    KN_NEW_RAW(r->cluster_at, r->max_slots);
    KN_NEW_RAW(r->open_before, (size_t)r->max_slots + 1);
    KN_NEW_RAW(r->slot_of, capacity);
    KN_NEW_RAW(r->news, r->n_members);
    memset(r->slot_of, 0xFF, capacity * sizeof *r->slot_of);
    KN_TRY(kn_scan_new(&r->scan, pricer, r->items, r->max_slots, 4 * r->settings->k, err));
    KN_TRY(kn_probe_new(&r->probe, r->scan, err));
    KN_TRY(start(r, err));
    const bool united = r->clusters->by_class && !kn_objective_is_additive(r->task->objective);
    if (united) r->clusters->by_class = false;
    r->exact = !r->clusters->by_class || kn_value_scan_is_exact(r->task->objective, r->items);
    if (r->clusters->n > 1) {
        KN_TRY(run_passes(r, err));
        KN_TRY(kn_class_members_merge_small(r->clusters, pool, "sequential", err));
        r->settled = r->settings->settle;
        if (r->settled) KN_TRY(run_passes(r, err));
        if (united) KN_TRY(improve_released(r, err));
    }
    r->clusters->by_class = r->clusters->by_class || united;
    for (uint32_t cluster = 0; cluster < r->clusters->n; cluster++) kn_class_members_refresh(r->clusters, cluster);
done:
    kn_probe_free(r->probe);
    kn_scan_free(r->scan);
    kn_free(r->cluster_at);
    kn_free(r->open_before);
    kn_free(r->slot_of);
    kn_free(r->news);
    r->probe = NULL;
    r->scan = NULL;
    return status;
}

typedef struct search {
    const kn_task *task;
    settings settings;
    kn_items *items;
    const kn_pricer *pricer;
    bool by_measure;    /* moves are decided by the measure itself */
    uint32_t *sequence; /* items by block */
    uint32_t n_blocks;
    uint32_t *item_class;    /* within its block */
    uint32_t *block_classes; /* classes of each block */
    uint64_t *block_moves;
    kn_pool *inner_pool; /* the pool when there is one block, otherwise NULL */
} search;

/* Block b is items first .. first + n - 1 of the sequence; sizes differ by at most one. */
static void block_bounds(const search *s, size_t b, uint32_t *begin, uint32_t *end)
{
    *begin = (uint32_t)((uint64_t)s->items->n * b / s->n_blocks);
    *end = (uint32_t)((uint64_t)s->items->n * (b + 1) / s->n_blocks);
}

static void keep_best(search *s, size_t block, const block_run *r)
{
    const kn_class_members *c = r->clusters;
    uint32_t n_classes = 0;
    for (uint32_t cluster = 0; cluster < c->n; cluster++) {
        if (c->head[cluster] == KN_NONE) continue;
        for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item]) s->item_class[item] = n_classes;
        n_classes++;
    }
    s->block_classes[block] = n_classes;
}

static kn_status job_block(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    search *s = context;
    uint32_t begin, end;
    double best = INFINITY;
    block_run r = {0};
    block_bounds(s, job, &begin, &end);
    for (uint32_t attempt = 0; attempt < s->settings.n_restarts; attempt++) {
        r = (block_run){.task = s->task, .settings = &s->settings, .items = s->items, .shuffled = r.shuffled};
        r.members = s->sequence + begin;
        r.n_members = end - begin;
        r.rng = kn_rng_new(s->task->seed, (uint64_t)job * s->settings.n_restarts + attempt);
        if (r.shuffled == NULL) KN_NEW_RAW(r.shuffled, r.n_members);
        KN_TRY(run_once(&r, s->pricer, s->inner_pool, err));
        double loss = total_loss(r.clusters);
        if (loss < best) {
            best = loss;
            keep_best(s, job, &r);
        }
        s->block_moves[job] += r.n_moves;
        kn_class_members_free(r.clusters);
        r.clusters = NULL;
        if (kn_ticker_out_of_time(s->task->ticker)) break;
    }
done:
    kn_class_members_free(r.clusters);
    kn_free(r.shuffled);
    return status;
}

/* --- The whole ------------------------------------------------------------------------------------------------- */

/* One block: the items as they stand. Several: along the Hilbert curve, so that a block holds what is near. */
static kn_status make_blocks(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_items *items = s->items;
    s->n_blocks = 1;
    if (items->n > s->settings.whole) s->n_blocks = items->n / s->settings.block + 1;
    /* every block must be able to hold a class */
    while (s->n_blocks > 1 && items->n / s->n_blocks < 4 * s->settings.k) s->n_blocks--;
    KN_NEW_RAW(s->sequence, items->n);
    KN_NEW(s->item_class, items->n);
    KN_NEW(s->block_classes, s->n_blocks);
    KN_NEW(s->block_moves, s->n_blocks);
    if (s->n_blocks == 1) {
        for (uint32_t i = 0; i < items->n; i++) s->sequence[i] = i;
        goto done;
    }
    KN_TRY(kn_hilbert_sequence(s->sequence, items, KN_HILBERT_RANKS, s->task, err));
done:
    return status;
}

static kn_status refuse_hopeless(const search *s, kn_error *err)
{
    kn_status status = KN_OK;
    kn_tally tally = {0};
    KN_TRY(kn_tally_init(&tally, s->items, err));
    for (uint32_t i = 0; i < s->items->n; i++) kn_tally_add(&tally, i);
    if (s->items->n > 0 && !kn_tally_holds(s->task->models, &tally, NULL))
        KN_FAIL(KN_NOT_MET, "sequential: the models do not hold for the table as one class, so no clustering meets "
                            "them; ask for less");
done:
    kn_tally_free(&tally);
    return status;
}

/* A block that no class of its own can serve is united with classes of other blocks. */
static kn_status join_blocks(kn_answer *answer, search *s, kn_error *err)
{
    kn_status status = KN_OK;
    kn_class_members *clusters = NULL;
    uint32_t n_classes = 0, begin, end;
    for (uint32_t b = 0; b < s->n_blocks; b++) n_classes += s->block_classes[b];
    KN_TRY(kn_class_members_new(&clusters, s->task, s->items, s->pricer, n_classes, err));
    for (uint32_t b = 0; b < s->n_blocks; b++) {
        block_bounds(s, b, &begin, &end);
        for (uint32_t i = begin; i < end; i++)
            kn_class_members_add(clusters, clusters->n + s->item_class[s->sequence[i]], s->sequence[i]);
        clusters->n += s->block_classes[b];
    }
    KN_TRY(kn_class_members_merge_small(clusters, s->task->pool, "sequential", err));
    KN_TRY(kn_class_members_answer(answer, clusters, err));
done:
    kn_class_members_free(clusters);
    return status;
}

static kn_status make_answer(kn_answer *answer, search *s, kn_error *err)
{
    kn_status status = KN_OK;
    if (s->n_blocks == 1) KN_TRY(kn_items_answer(answer, s->items, s->item_class, s->block_classes[0], err));
    else KN_TRY(join_blocks(answer, s, err));
    answer->n_blocks = s->n_blocks;
    if (!s->by_measure) answer->followed = kn_pricer_followed(s->pricer);
    for (uint32_t b = 0; b < s->n_blocks; b++) answer->n_nodes += s->block_moves[b];
    if (kn_ticker_out_of_time(s->task->ticker)) answer->stopped = KN_STOPPED_TIME;
    kn_trace *trace = s->task->trace;
    if (trace != NULL && trace->explain && s->n_blocks > 1)
        kn_buffer_printf(&trace->explanation,
                         "sequential: %u items in %u blocks along the Hilbert curve, each clustered by itself\n",
                         s->items->n, s->n_blocks);
done:
    return status;
}

static kn_status sequential_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_pricer *pricer = NULL;
    search s = {.task = task};
    s.settings = (settings){.alpha = kn_args_number(task->args, "alpha"),
                            .omega = kn_args_number(task->args, "omega"),
                            .n_restarts = (uint32_t)kn_args_number(task->args, "restarts"),
                            .max_passes = (uint32_t)kn_args_number(task->args, "passes"),
                            .whole = (uint32_t)kn_args_number(task->args, "whole"),
                            .block = (uint32_t)kn_args_number(task->args, "block"),
                            .fit = kn_args_is(task->args, "fit", "yes"),
                            .settle = kn_args_is(task->args, "settle", "yes"),
                            .first_of_equals = kn_args_is(task->args, "ties", "first"),
                            .k = task->models->min_persons > 0 ? task->models->min_persons : 1};
    KN_TRY(kn_tick(task->ticker, "sequential", 0, err));
    KN_TRY(kn_items_new(&s.items, task->tuples, 1, kn_task_needs_values(task), err));
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    s.pricer = pricer;
    s.by_measure = pricer->by_cell || kn_class_members_can_price(task->objective, s.items);
    KN_TRY(refuse_hopeless(&s, err));
    KN_TRY(make_blocks(&s, err));
    if (s.n_blocks == 1) {
        s.inner_pool = task->pool;
        KN_TRY(job_block(&s, 0, 0, err));
    } else {
        KN_TRY(kn_pool_run(task->pool, s.n_blocks, job_block, &s, err));
    }
    KN_TRY(make_answer(answer, &s, err));
done:
    kn_free(s.sequence);
    kn_free(s.item_class);
    kn_free(s.block_classes);
    kn_free(s.block_moves);
    kn_pricer_free(pricer);
    kn_items_free(s.items);
    return status;
}

static const kn_param params[] = {
    {.name = "alpha",
     .type = KN_PARAM_NUMBER,
     .preset = "0.5",
     .min = 0.001,
     .max = 100,
     .help = "clusters start with alpha * k items"},
    {.name = "omega",
     .type = KN_PARAM_NUMBER,
     .preset = "1.5",
     .min = 1,
     .max = 100,
     .help = "clusters above omega * k are split at random after a pass"},
    {.name = "restarts",
     .type = KN_PARAM_INT,
     .preset = "1",
     .min = 1,
     .max = 1000,
     .help = "random starts; the best result counts"},
    {.name = "passes",
     .type = KN_PARAM_INT,
     .preset = "100",
     .min = 1,
     .max = 100000,
     .help = "passes over the items at most"},
    {.name = "whole",
     .type = KN_PARAM_INT,
     .preset = "65536",
     .min = 1,
     .max = 100000000,
     .help = "tables of more items are clustered in blocks"},
    {.name = "block",
     .type = KN_PARAM_INT,
     .preset = "16384",
     .min = 16,
     .max = 100000000,
     .help = "items of a block, about"},
    {.name = "fit",
     .type = KN_PARAM_BOOL,
     .preset = "yes",
     .help = "where the models break at the start, start with fewer clusters; no: one class, as in the paper"},
    {.name = "settle",
     .type = KN_PARAM_BOOL,
     .preset = "yes",
     .help = "after small clusters were united, move records on, from class to class; no: end there, as in the paper"},
    {.name = "ties",
     .type = KN_PARAM_CHOICE,
     .preset = "idle",
     .choices = "idle|first",
     .help = "of clusters that cost the same, the one left alone for longest, or the first"},
};

/* Measured: 20,000 people, eight columns, 2 s. */
static double expected_seconds(const kn_task *task)
{
    const double n = task->tuples->n_tuples;
    return 6e-10 * n * n * task->tuples->n_qis;
}

const kn_algorithm kn_algorithm_sequential = {
    .name = "sequential",
    .summary = "moves records one by one to the class where they cost least",
    .citation = "Goldberger, Tassa, Efficient anonymizations with enhanced utility, 2010, 6.3 and 7",
    .recoding = KN_RECODING_LOCAL,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .any_measure = true,
    .seconds = expected_seconds,
    .search = sequential_search,
};
