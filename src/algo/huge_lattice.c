/* Lattices too large for a sweep; see the header. Cost: one roll-up from the base per node looked at; for prefixes, from
 * the tuples projected on the prefix's columns. Memory: those projections and the open prefixes. */
#include "algo/huge_lattice.h"

#include <math.h>
#include <string.h>

/* An open prefix: levels of the first `depth` columns of the order. */
typedef struct prefix {
    int64_t bound; /* in units */
    uint32_t depth;
    size_t levels; /* where they stand in the pool of levels */
} prefix;

typedef struct huge {
    const kn_full_domain *domain;
    const kn_lattice *lattice;
    kn_evaluator *evaluator;
    kn_ranking *ranking;
    kn_sweep_result *result;
    uint32_t n_qis;
    uint32_t *levels, *trial;
    int64_t *least_price; /* [depth]: of all columns from there on, at their cheapest */
    kn_groups *projected; /* [depth]: the tuples with the columns from there on fully general */
    kn_groups first, rolled;
    KN_VECTOR(prefix) heap;
    KN_VECTOR(uint8_t) pool; /* levels of prefixes, n_qis each */
    uint64_t work, effort;
} huge;

static bool must_stop(huge *h, uint64_t effort)
{
    kn_ticker *ticker = h->domain->task->ticker;
    if (h->ranking->n == 0) return false;
    if (h->work >= effort) h->result->stopped = KN_STOPPED_BUDGET;
    else if (kn_ticker_cancelled(ticker)) h->result->stopped = KN_STOPPED_INTERRUPT;
    else if (kn_ticker_out_of_time(ticker)) h->result->stopped = KN_STOPPED_TIME;
    else return false;
    return true;
}

static kn_status look_at(kn_node *node, huge *h, const uint32_t *levels, const kn_groups *from, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_tick(h->domain->task->ticker, "search", -1, err));
    KN_TRY(kn_groups_roll(&h->rolled, from, levels, kn_evaluator_roller(h->evaluator), err));
    KN_TRY(kn_evaluate(node, h->evaluator, &h->rolled, err));
    h->work += from->n + h->rolled.n;
    h->result->n_nodes++;
    kn_ranking_offer(h->ranking, node, levels);
done:
    return status;
}

/* --- Incumbent ------------------------------------------------------------------------------------------------- */

/* Tries levels with column `down` one lower and `up` one higher (KN_NONE: none); keeps the best in *best. */
static kn_status try_step(bool *improved, kn_node *best, uint32_t *best_levels, huge *h, const uint32_t *levels,
                          uint32_t down, uint32_t up, kn_error *err)
{
    kn_status status = KN_OK;
    kn_node node;
    memcpy(h->trial, levels, h->n_qis * sizeof *levels);
    if (h->trial[down] == h->lattice->columns[down].min_level) goto done;
    h->trial[down]--;
    if (up != KN_NONE && (up == down || h->trial[up]++ == h->lattice->columns[up].max_level)) goto done;
    KN_TRY(look_at(&node, h, h->trial, &h->lattice->base, err));
    if (!node.feasible || kn_node_compare(&node, h->trial, best, best_levels, h->n_qis) >= 0) goto done;
    *improved = true;
    *best = node;
    memcpy(best_levels, h->trial, h->n_qis * sizeof *best_levels);
done:
    return status;
}

static kn_status find_incumbent(huge *h, uint64_t effort, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *best_levels = NULL;
    kn_node best;
    KN_NEW(best_levels, h->n_qis);
    for (uint32_t q = 0; q < h->n_qis; q++) h->levels[q] = best_levels[q] = h->lattice->columns[q].max_level;
    KN_TRY(look_at(&best, h, h->levels, &h->lattice->base, err));
    if (!best.feasible) best.loss = INFINITY;
    for (bool improved = true; improved && !must_stop(h, effort);) {
        improved = false;
        for (uint32_t q = 0; q < h->n_qis && !must_stop(h, effort); q++)
            KN_TRY(try_step(&improved, &best, best_levels, h, h->levels, q, KN_NONE, err));
        for (uint32_t q = 0; q < h->n_qis && !improved; q++) /* the first exchange that gains */
            for (uint32_t up = 0; up < h->n_qis && !improved && !must_stop(h, effort); up++)
                KN_TRY(try_step(&improved, &best, best_levels, h, h->levels, q, up, err));
        memcpy(h->levels, best_levels, h->n_qis * sizeof *best_levels);
    }
done:
    kn_free(best_levels);
    return status;
}

/* --- Bound ----------------------------------------------------------------------------------------------------- */

static bool heap_before(const prefix *a, const prefix *b)
{
    if (a->bound != b->bound) return a->bound < b->bound;
    return a->depth != b->depth ? a->depth > b->depth : a->levels < b->levels;
}

static kn_status heap_push(huge *h, const prefix *item, kn_error *err)
{
    kn_status status = KN_OK;
    KN_PUSH(&h->heap, *item);
    prefix *items = h->heap.items;
    for (size_t i = h->heap.n - 1; i > 0 && heap_before(&items[i], &items[(i - 1) / 2]); i = (i - 1) / 2) {
        prefix moved = items[i];
        items[i] = items[(i - 1) / 2];
        items[(i - 1) / 2] = moved;
    }
done:
    return status;
}

static prefix heap_pop(huge *h)
{
    prefix *items = h->heap.items, top = items[0];
    items[0] = items[--h->heap.n];
    for (size_t i = 0;;) {
        size_t child = 2 * i + 1;
        if (child >= h->heap.n) break;
        if (child + 1 < h->heap.n && heap_before(&items[child + 1], &items[child])) child++;
        if (!heap_before(&items[child], &items[i])) break;
        prefix moved = items[i];
        items[i] = items[child];
        items[child] = moved;
        i = child;
    }
    return top;
}

static int64_t units_to_beat(const huge *h)
{
    const kn_ranking *ranking = h->ranking;
    return ranking->n == ranking->capacity ? ranking->items[ranking->n - 1].node.units : INT64_MAX;
}

/* What `size` columns of the order from `depth` on cost at least, together: the cheapest of their level vectors that
 * may be part of a feasible node, with the rows that their values alone suppress. */
static kn_status least_together(int64_t *least, huge *h, uint32_t depth, uint32_t size, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *columns = h->domain->order + depth;
    *least = INT64_MAX;
    for (uint32_t q = 0; q < h->n_qis; q++) h->levels[q] = h->lattice->columns[q].max_level;
    for (uint32_t i = 0; i < size; i++) h->levels[columns[i]] = h->lattice->columns[columns[i]].min_level;
    KN_TRY(kn_groups_roll(&h->first, &h->lattice->base, h->levels, kn_evaluator_roller(h->evaluator), err));
    h->work += h->lattice->base.n;
    for (;;) {
        int64_t price = 0;
        kn_node node;
        uint32_t i = 0;
        for (uint32_t j = 0; j < size; j++) price += h->domain->table_sum[columns[j]][h->levels[columns[j]]];
        if (price < *least) {
            KN_TRY(look_at(&node, h, h->levels, &h->first, err));
            bool closed = node.n_sure > h->domain->task->max_suppressed || (!node.feasible && h->domain->upward_closed);
            if (!closed && price + node.sure_units < *least) *least = price + node.sure_units;
        }
        for (; i < size; i++) {
            if (h->levels[columns[i]]++ < h->lattice->columns[columns[i]].max_level) break;
            h->levels[columns[i]] = h->lattice->columns[columns[i]].min_level;
        }
        if (i == size) break;
    }
done:
    return status;
}

/* Columns cost what they cost, so bounds of disjoint groups of columns add up: each suffix of the order is cut into
 * runs of one to three columns so that the sum is largest. A run's bound counts its own columns only, provided that a
 * suppressed row pays nothing more for a column at its most general level. */
static kn_status suffix_bounds(huge *h, kn_error *err)
{
    enum { MOST_TOGETHER = 3, MOST_VECTORS = 256 };
    kn_status status = KN_OK;
    const kn_full_domain *domain = h->domain;
    bool alone = false;
    for (uint32_t q = 0; q < h->n_qis; q++) {
        const kn_lattice_column *column = &h->lattice->columns[q];
        for (uint32_t p = 0; p < column->levels[column->max_level].n; p++)
            alone = alone || domain->gap[q][column->max_level][p] != 0;
    }
    for (uint32_t d = h->n_qis; d-- > 0;) {
        double n_vectors = 1;
        for (uint32_t size = 1; size <= MOST_TOGETHER && d + size <= h->n_qis; size++) {
            const kn_lattice_column *column = &h->lattice->columns[domain->order[d + size - 1]];
            int64_t least = INT64_MAX;
            n_vectors *= column->max_level - column->min_level + 1;
            if (size > 1 && (alone || n_vectors > MOST_VECTORS || must_stop(h, h->effort))) break;
            if (alone)
                for (uint32_t l = column->min_level; l <= column->max_level; l++)
                    least = domain->table_sum[domain->order[d]][l] < least ? domain->table_sum[domain->order[d]][l] : least;
            else
                KN_TRY(least_together(&least, h, d, size, err));
            if (least == INT64_MAX) continue; /* nothing is feasible: the search will find out */
            if (size == 1 || least + h->least_price[d + size] > h->least_price[d])
                h->least_price[d] = least + h->least_price[d + size];
        }
    }
done:
    return status;
}

/* Cheapest continuation of each prefix, and the tuples by the columns of each prefix. */
static kn_status prepare_bounds(huge *h, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = h->domain;
    KN_NEW(h->least_price, (size_t)h->n_qis + 1);
    KN_NEW(h->projected, (size_t)h->n_qis + 1);
    KN_TRY(suffix_bounds(h, err));
    for (uint32_t q = 0; q < h->n_qis; q++) h->levels[q] = h->lattice->columns[q].min_level;
    for (uint32_t d = h->n_qis; d > 0; d--) {
        const kn_groups *from = d == h->n_qis ? &h->lattice->base : &h->projected[d + 1];
        KN_TRY(kn_groups_roll(&h->projected[d], from, h->levels, kn_evaluator_roller(h->evaluator), err));
        h->levels[domain->order[d - 1]] = h->lattice->columns[domain->order[d - 1]].max_level;
    }
done:
    return status;
}

/* The nodes one column further than a prefix. */
static kn_status expand(huge *h, const prefix *open, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *order = h->domain->order, q = order[open->depth];
    const kn_lattice_column *column = &h->lattice->columns[q];
    const kn_groups *from = &h->projected[open->depth + 1];
    for (uint32_t i = 0; i < h->n_qis; i++) h->levels[i] = h->lattice->columns[i].max_level;
    int64_t price = h->least_price[open->depth + 1];
    for (uint32_t d = 0; d < open->depth; d++) {
        h->levels[order[d]] = h->pool.items[open->levels + d];
        price += h->domain->table_sum[order[d]][h->levels[order[d]]];
    }
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        kn_node node;
        h->levels[q] = l;
        if (l == column->min_level) {
            KN_TRY(kn_groups_roll(&h->first, from, h->levels, kn_evaluator_roller(h->evaluator), err));
            h->work += from->n;
            from = &h->first;
        }
        KN_TRY(look_at(&node, h, h->levels, from, err));
        prefix next = {price + h->domain->table_sum[q][l] + node.sure_units, open->depth + 1, h->pool.n};
        bool closed = node.n_sure > h->domain->task->max_suppressed || (!node.feasible && h->domain->upward_closed);
        if (closed || next.bound > units_to_beat(h)) continue;
        KN_RESERVE(&h->pool, h->n_qis);
        for (uint32_t d = 0; d < next.depth; d++) h->pool.items[h->pool.n + d] = (uint8_t)h->levels[order[d]];
        h->pool.n += h->n_qis;
        KN_TRY(heap_push(h, &next, err));
    }
done:
    return status;
}

static kn_status prove_bound(huge *h, kn_error *err)
{
    kn_status status = KN_OK;
    prefix root = {0};
    KN_TRY(prepare_bounds(h, err));
    int64_t bound = h->least_price[0];
    KN_TRY(heap_push(h, &root, err));
    h->result->stopped = KN_STOPPED_DONE;
    while (h->heap.n > 0) {
        if (h->heap.items[0].bound > bound) bound = h->heap.items[0].bound;
        if (must_stop(h, h->effort)) break;
        prefix open = heap_pop(h);
        if (open.bound > units_to_beat(h)) {
            h->heap.n = 0; /* what is left is worse still */
            break;
        }
        if (open.depth < h->n_qis) KN_TRY(expand(h, &open, err));
    }
    if (h->heap.n == 0) {
        h->result->complete = true;
        if (h->ranking->n > 0) h->result->bound = h->ranking->items[0].node.loss;
    } else if (h->ranking->n > 0) {
        int64_t reached = h->ranking->items[0].node.units;
        h->result->bound = kn_full_domain_loss(h->domain, bound < reached ? bound : reached);
    }
done:
    return status;
}

kn_status kn_huge_lattice(kn_sweep_result *result, kn_ranking *ranking, const kn_full_domain *domain, uint64_t effort,
                          kn_error *err)
{
    enum { DEFAULT_PASSES = 20000 };
    kn_status status = KN_OK;
    huge h = {.domain = domain, .lattice = domain->lattice, .ranking = ranking, .result = result,
              .n_qis = domain->task->tuples->n_qis};
    *result = (kn_sweep_result){.bound = NAN};
    h.effort = effort > 0 ? effort : (uint64_t)DEFAULT_PASSES * (domain->lattice->base.n + 1);
    KN_TRY(kn_evaluator_new(&h.evaluator, domain, domain->task->pool, err));
    KN_NEW(h.levels, h.n_qis);
    KN_NEW(h.trial, h.n_qis);
    KN_TRY(find_incumbent(&h, h.effort / 2, err));
    bool bounded = domain->table_sum != NULL && domain->monotone_prices;
    if (bounded && (result->stopped == KN_STOPPED_DONE || result->stopped == KN_STOPPED_BUDGET))
        KN_TRY(prove_bound(&h, err));
    else if (result->stopped == KN_STOPPED_DONE) result->stopped = KN_STOPPED_BUDGET; /* nothing is proven */
done:
    for (uint32_t d = 0; h.projected != NULL && d <= h.n_qis; d++) kn_groups_free(&h.projected[d], domain->lattice);
    kn_groups_free(&h.first, domain->lattice);
    kn_groups_free(&h.rolled, domain->lattice);
    kn_evaluator_free(h.evaluator);
    kn_free(h.projected);
    kn_free(h.least_price);
    kn_free(h.levels);
    kn_free(h.trial);
    kn_free(h.heap.items);
    kn_free(h.pool.items);
    return status;
}
