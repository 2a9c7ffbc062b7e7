/* Lattices too large for a sweep; see the header. Memory: the tuples, projected on the columns at hand, once per
 * column. */
#include "engine/lattice/huge_lattice.h"

#include "engine/lattice/column_search.h"
#include "engine/lattice/evaluator.h"
#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { ROLL_WORK = 8 }; /* a roll-up takes so much longer per tuple than a step of a search over columns */

/* What the first so many columns of an order cost at least. */
typedef struct chain {
    uint32_t *order;    /* the column that was added last is decided first: size - 1, size - 2, ... 0 */
    uint32_t size;      /* so many are known */
    int64_t *least;     /* [so many columns] */
    uint32_t *levels;   /* of the last cost; the other columns are fully general */
    uint64_t last_work; /* what the last one took */
    bool closed;        /* the next one would take too much memory */
} chain;

typedef struct huge {
    kn_owner memory; /* all arrays */
    const kn_full_domain *domain;
    const kn_lattice *lattice;
    kn_evaluator *evaluator;
    kn_ranking *ranking;
    kn_sweep_result *result;
    uint32_t n_qis;
    uint32_t *levels, *trial;
    kn_batch rolled;
    uint64_t work, effort;
    kn_rng rng;
    uint32_t *columns; /* scratch, and ... */
    int64_t *least;
    /* ... for the search near the best node */
    kn_column_search *near;
    uint32_t *near_columns, n_near;
    int64_t *near_least;
    uint64_t near_work, near_until, near_gain; /* done; when to stop; done when a better node was found last */
    /* Bounds. */
    kn_column_search *all;
    chain ends[2]; /* of the order: those that come last, those that come first */
    uint64_t bound_work;
} huge;

static bool must_stop(huge *h, uint64_t effort)
{
    kn_ticker *ticker = h->domain->task->ticker;
    if (h->work >= effort) h->result->stopped = KN_STOPPED_BUDGET;
    else if (kn_ticker_cancelled(ticker)) h->result->stopped = KN_STOPPED_INTERRUPT;
    else if (kn_ticker_out_of_time(ticker)) h->result->stopped = KN_STOPPED_TIME;
    else return false;
    return true;
}

/* Whoever asks for an end gets the best node so far, not an error. */
static kn_status tick(huge *h, kn_error *err)
{
    kn_ticker *ticker = h->domain->task->ticker;
    if (h->ranking->n > 0 && kn_ticker_cancelled(ticker)) return KN_OK;
    return kn_tick(ticker, "search", -1, err);
}

static kn_status look_at(kn_node *node, huge *h, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(tick(h, err));
    KN_TRY(kn_batch_roll(&h->rolled, &h->domain->base, levels, h->evaluator, err));
    KN_TRY(kn_evaluate(node, NULL, h->evaluator, &h->rolled, false, err));
    h->work += ROLL_WORK * (uint64_t)h->lattice->base.n;
    h->result->n_nodes++;
    kn_ranking_offer(h->ranking, node, levels);
done:
    return status;
}

static int64_t units_to_beat(const huge *h)
{
    const kn_ranking *ranking = h->ranking;
    return ranking->n == ranking->capacity ? kn_units_tied(ranking->items[ranking->n - 1].node.units) : INT64_MAX;
}

/* What each of the two searches over columns may take. */
static size_t search_bytes(const huge *h)
{
    enum { MOST_BYTES = 1 << 30 };
    return h->domain->task->memory_bytes > 0 ? h->domain->task->memory_bytes / 4 : MOST_BYTES;
}

/* --- Any measure: steps and exchanges -------------------------------------------------------------------------- */

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
    KN_TRY(look_at(&node, h, h->trial, err));
    if (!node.feasible || kn_node_compare(&node, h->trial, best, best_levels, h->n_qis) >= 0) goto done;
    *improved = true;
    *best = node;
    memcpy(best_levels, h->trial, h->n_qis * sizeof *best_levels);
done:
    return status;
}

/* Down from h->levels while there is something to gain. */
static kn_status descend(huge *h, uint64_t effort, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *best_levels = NULL;
    kn_node best;
    KN_NEW(best_levels, h->n_qis);
    memcpy(best_levels, h->levels, h->n_qis * sizeof *best_levels);
    KN_TRY(look_at(&best, h, h->levels, err));
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

static kn_status descend_from_top(huge *h, uint64_t effort, kn_error *err)
{
    for (uint32_t q = 0; q < h->n_qis; q++) h->levels[q] = h->lattice->columns[q].max_level;
    return descend(h, effort, err);
}

/* Again and again from the best node, with some columns made general. */
static kn_status descend_again(huge *h, kn_error *err)
{
    enum { MOST_CHANGED = 4, MOST_IN_VAIN = 100 };
    kn_status status = KN_OK;
    uint32_t in_vain = 0;
    while (in_vain++ < MOST_IN_VAIN && h->ranking->n > 0 && !must_stop(h, h->effort)) {
        const double before = h->ranking->items[0].node.loss;
        memcpy(h->levels, h->ranking->items[0].levels, h->n_qis * sizeof *h->levels);
        for (uint32_t i = 0; i < MOST_CHANGED; i++) {
            uint32_t q = kn_rng_below(&h->rng, h->n_qis);
            h->levels[q] = h->lattice->columns[q].max_level;
        }
        KN_TRY(descend(h, h->effort, err));
        if (h->ranking->items[0].node.loss < before) in_vain = 0;
    }
done:
    return status;
}

/* --- Cell measures: near the best node -------------------------------------------------------------------------- */

static kn_status breathe_near(void *context, uint64_t work, int64_t *limit, bool *stop, kn_error *err)
{
    kn_status status = KN_OK;
    huge *h = context;
    h->work += work;
    h->near_work += work;
    KN_TRY(tick(h, err));
    *stop = h->near_work >= h->near_until || must_stop(h, h->effort);
done:
    return status;
}

static kn_status found_near(void *context, const uint32_t *levels, int64_t *limit, kn_error *err)
{
    kn_status status = KN_OK;
    huge *h = context;
    kn_node node;
    KN_TRY(look_at(&node, h, levels, err));
    h->near_work += ROLL_WORK * (uint64_t)h->lattice->base.n;
    if (h->ranking->items[0].node.units <= *limit) h->near_gain = h->near_work;
    *limit = h->ranking->items[0].node.units - 1;
done:
    return status;
}

/* Draws n_near columns, half of them from those that the best node does not leave fully general; in the order of
 * h->ends[1], which is good to search in. */
static void draw_columns(huge *h)
{
    const uint32_t *levels = h->ranking->items[0].levels;
    uint32_t n = 0, n_left = h->n_near;
    memset(h->columns, 0, h->n_qis * sizeof *h->columns);
    for (uint32_t i = 0; n_left > 0; i++) {
        uint32_t q = kn_rng_below(&h->rng, h->n_qis);
        bool general = levels[q] == h->lattice->columns[q].max_level;
        if (h->columns[q] || (i < 2 * h->n_qis && i % 2 == general)) continue;
        h->columns[q] = 1;
        n_left--;
    }
    for (uint32_t i = 0; i < h->n_qis; i++)
        if (h->columns[h->ends[1].order[i]]) h->near_columns[n++] = h->ends[1].order[i];
}

/* Some columns of the best node get their best levels. More columns next time when there was nothing better, fewer when
 * there were too many to finish. */
static kn_status improve(huge *h, kn_error *err)
{
    enum { LEAST_COLUMNS = 4, FIRST_PASSES = 64, SHARE = 16 };
    kn_status status = KN_OK;
    const kn_column_hooks hooks = {h, breathe_near, found_near};
    const int64_t before = h->ranking->items[0].node.units;
    bool fits, stopped = false;
    draw_columns(h);
    h->near_until = h->near_work + FIRST_PASSES * (uint64_t)h->lattice->base.n + h->near_work / SHARE;
    KN_TRY(kn_column_search_set(&fits, h->near, h->near_columns, h->n_near, h->ranking->items[0].levels,
                                search_bytes(h), err));
    h->work += ROLL_WORK * (uint64_t)h->lattice->base.n;
    h->near_work += ROLL_WORK * (uint64_t)h->lattice->base.n;
    h->near_least[h->n_near] = 0;
    for (uint32_t i = h->n_near; fits && i-- > 1 && !stopped;)
        KN_TRY(kn_column_search_least(&h->near_least[i], NULL, &stopped, h->near, i, h->near_least, &hooks, err));
    if (fits && !stopped) KN_TRY(kn_column_search_all(&stopped, h->near, before - 1, h->near_least, &hooks, err));
    if ((!fits || stopped) && h->n_near > LEAST_COLUMNS) h->n_near--;
    else if (fits && !stopped && h->ranking->items[0].node.units == before && h->n_near + 1 < h->n_qis) h->n_near++;
done:
    return status;
}

/* --- Cell measures: bounds ------------------------------------------------------------------------------------- */

/* Is it the turn of the search for better nodes? It gets as much as the bound; less when it has gone for long without
 * finding any. */
static bool near_is_next(const huge *h)
{
    enum { LONG = 4, LESS = 8, FIRST_PASSES = 1000 };
    bool patient = h->near_work < LONG * h->near_gain + FIRST_PASSES * (uint64_t)h->lattice->base.n;
    return h->ranking->n > 0 && h->near_work < (patient ? h->bound_work : h->bound_work / LESS);
}

static kn_status breathe_bound(void *context, uint64_t work, int64_t *limit, bool *stop, kn_error *err)
{
    kn_status status = KN_OK;
    huge *h = context;
    h->work += work;
    h->bound_work += work;
    KN_TRY(tick(h, err));
    while (!(*stop = must_stop(h, h->effort)) && near_is_next(h)) KN_TRY(improve(h, err));
done:
    return status;
}

static kn_status breathe_proof(void *context, uint64_t work, int64_t *limit, bool *stop, kn_error *err)
{
    kn_status status = KN_OK;
    const huge *h = context;
    KN_TRY(breathe_bound(context, work, limit, stop, err));
    if (units_to_beat(h) < *limit) *limit = units_to_beat(h);
done:
    return status;
}

static kn_status found_proof(void *context, const uint32_t *levels, int64_t *limit, kn_error *err)
{
    kn_status status = KN_OK;
    huge *h = context;
    kn_node node;
    KN_TRY(look_at(&node, h, levels, err));
    if (units_to_beat(h) < *limit) *limit = units_to_beat(h);
done:
    return status;
}

/* One column more. With all of them the best nodes are proven. */
static kn_status lengthen(bool *stopped, huge *h, chain *end, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column_hooks hooks = {h, breathe_bound, NULL}, proof = {h, breathe_proof, found_proof};
    const uint32_t size = end->size + 1;
    const uint64_t before = h->bound_work;
    kn_node node;
    bool fits;
    int64_t *least = h->least;
    *stopped = false;
    for (uint32_t i = 0; i < size; i++) h->columns[i] = end->order[size - 1 - i];
    KN_TRY(kn_column_search_set(&fits, h->all, h->columns, size, NULL, search_bytes(h), err));
    end->closed = !fits;
    if (!fits) goto done;
    for (uint32_t i = 1; i <= size; i++) least[i] = end->least[size - i];
    if (size < h->n_qis) {
        KN_TRY(kn_column_search_least(&end->least[size], end->levels, stopped, h->all, 0, least, &hooks, err));
        h->result->complete = !*stopped && end->least[size] >= KN_COST_INFINITE;            /* nothing is feasible */
        if (!*stopped && !h->result->complete) KN_TRY(look_at(&node, h, end->levels, err)); /* may well be the best */
    } else {
        KN_TRY(kn_column_search_all(stopped, h->all, units_to_beat(h), least, &proof, err));
        h->result->complete = !*stopped;
    }
    KN_TRY(breathe_bound(h, ROLL_WORK * (uint64_t)h->lattice->base.n, NULL, stopped, err));
    if (!*stopped) end->size = size;
    end->last_work = h->bound_work - before;
done:
    return status;
}

/* Both ends and the cheapest levels of what is between them. */
static int64_t bound_of(const huge *h)
{
    const chain *last = &h->ends[0], *first = &h->ends[1];
    int64_t best = 0;
    for (uint32_t n_last = 0; n_last <= last->size && n_last < h->n_qis; n_last++) {
        uint32_t n_first = first->size < h->n_qis - n_last ? first->size : h->n_qis - n_last;
        int64_t sum = last->least[n_last] + first->least[n_first];
        for (uint32_t i = n_first; i < h->n_qis - n_last; i++)
            sum += h->domain->table_sum[first->order[i]][h->lattice->columns[first->order[i]].min_level];
        if (sum > best) best = sum;
    }
    return best;
}

/* Columns by what their least level saves per bit of information that it keeps, least first: the best node tends to be
 * made of the last ones, and then the others add nothing to what they cost. */
static kn_status order_columns(huge *h, kn_error *err)
{
    kn_status status = KN_OK;
    double *worth = NULL, n_rows = (double)h->domain->task->tuples->n_rows;
    uint64_t *rows = NULL;
    uint32_t *order = h->ends[1].order;
    KN_NEW(worth, h->n_qis);
    for (uint32_t q = 0; q < h->n_qis; q++) {
        const kn_domain *values = h->domain->task->tuples->domains[q];
        const kn_lattice_column *column = &h->lattice->columns[q];
        const kn_lattice_level *level = &column->levels[column->min_level];
        const int64_t *sum = h->domain->table_sum[q];
        double entropy = 0;
        KN_NEW(rows, level->n);
        for (uint32_t code = 0; code < values->n_codes; code++)
            if (level->of_code[code] != KN_NONE) rows[level->of_code[code]] += kn_domain_seen_rows(values, code);
        for (uint32_t p = 0; p < level->n; p++)
            if (rows[p] > 0) entropy -= (double)rows[p] / n_rows * log2((double)rows[p] / n_rows);
        kn_free(rows);
        rows = NULL;
        worth[q] = entropy > 0 ? (double)(sum[column->max_level] - sum[column->min_level]) / entropy : INFINITY;
        uint32_t at = q;
        for (; at > 0 && worth[order[at - 1]] > worth[q]; at--) order[at] = order[at - 1];
        order[at] = q;
    }
    for (uint32_t i = 0; i < h->n_qis; i++) h->ends[0].order[i] = order[h->n_qis - 1 - i];
done:
    kn_free(worth);
    kn_free(rows);
    return status;
}

/* Both ends grow, the one that took less last time first, until they meet; then the last columns go on alone. */
static kn_status raise_bound(huge *h, kn_error *err)
{
    kn_status status = KN_OK;
    chain *last = &h->ends[0], *first = &h->ends[1];
    bool stopped = false;
    while (!stopped && !h->result->complete && !must_stop(h, h->effort)) {
        bool met = last->size + first->size >= h->n_qis;
        bool behind = !met && !first->closed && (last->closed || first->last_work < last->last_work);
        if (last->closed && !behind) break;
        KN_TRY(lengthen(&stopped, h, behind ? first : last, err));
    }
    while (!h->result->complete && h->ranking->n > 0 && !must_stop(h, h->effort)) KN_TRY(improve(h, err));
done:
    return status;
}

static kn_status search_columns(huge *h, kn_error *err)
{
    enum { FIRST_COLUMNS = 8 };
    kn_status status = KN_OK;
    KN_TRY(kn_column_search_new(&h->near, h->domain, err));
    KN_TRY(kn_column_search_new(&h->all, h->domain, err));
    KN_OWN(&h->memory, h->near_columns, h->n_qis);
    KN_OWN(&h->memory, h->near_least, (size_t)h->n_qis + 1);
    KN_OWN(&h->memory, h->least, (size_t)h->n_qis + 1);
    for (int i = 0; i < 2; i++) {
        KN_OWN(&h->memory, h->ends[i].order, h->n_qis);
        KN_OWN(&h->memory, h->ends[i].least, (size_t)h->n_qis + 1);
        KN_OWN(&h->memory, h->ends[i].levels, h->n_qis);
        for (uint32_t q = 0; q < h->n_qis; q++) h->ends[i].levels[q] = h->lattice->columns[q].max_level;
    }
    KN_TRY(order_columns(h, err));
    h->n_near = h->n_qis <= FIRST_COLUMNS ? (h->n_qis + 1) / 2 : FIRST_COLUMNS;
    /* Models that say more than how many: a search that counts rows may not find what holds. */
    if (!h->domain->task->models->counts_only || h->lattice->has_persons)
        KN_TRY(descend_from_top(h, h->effort / 4, err));
    KN_TRY(raise_bound(h, err));
    if (h->result->complete) {
        h->result->stopped = KN_STOPPED_DONE;
        if (h->ranking->n > 0) h->result->bound = h->ranking->items[0].node.loss;
    } else if (h->ranking->n > 0) {
        int64_t bound = bound_of(h), reached = h->ranking->items[0].node.units;
        h->result->bound = kn_full_domain_loss(h->domain, bound < reached ? bound : reached);
    }
done:
    return status;
}

/* The most general node; when it is not feasible and no other can be, that is all there is to find. */
static kn_status look_at_top(huge *h, kn_error *err)
{
    kn_status status = KN_OK;
    kn_node top;
    for (uint32_t q = 0; q < h->n_qis; q++) h->levels[q] = h->lattice->columns[q].max_level;
    KN_TRY(look_at(&top, h, h->levels, err));
    h->result->complete = top.n_sure > h->domain->task->max_suppressed || (!top.feasible && h->domain->upward_closed);
done:
    return status;
}

kn_status kn_huge_lattice(kn_sweep_result *result, kn_ranking *ranking, const kn_full_domain *domain, uint64_t effort,
                          kn_error *err)
{
    enum { DEFAULT_PASSES = 200000 };
    kn_status status = KN_OK;
    huge h = {.domain = domain,
              .lattice = domain->lattice,
              .ranking = ranking,
              .result = result,
              .n_qis = domain->task->tuples->n_qis,
              .rng = kn_rng_new(domain->task->seed, 0)};
    *result = (kn_sweep_result){.bound = NAN};
    bool has_deadline = domain->task->ticker != NULL && domain->task->ticker->search_deadline > 0;
    h.effort = effort > 0     ? effort
               : has_deadline ? UINT64_MAX
                              : (uint64_t)DEFAULT_PASSES * (domain->lattice->base.n + 1);
    KN_TRY(kn_evaluator_new(&h.evaluator, domain, err));
    KN_OWN(&h.memory, h.levels, h.n_qis);
    KN_OWN(&h.memory, h.trial, h.n_qis);
    KN_OWN(&h.memory, h.columns, h.n_qis);
    KN_TRY(look_at_top(&h, err));
    if (result->complete) {
        result->stopped = KN_STOPPED_DONE;
    } else if (domain->table_sum != NULL && domain->monotone_prices) {
        KN_TRY(search_columns(&h, err));
    } else {
        KN_TRY(descend_from_top(&h, h.effort, err));
        KN_TRY(descend_again(&h, err));
        if (result->stopped == KN_STOPPED_DONE) result->stopped = KN_STOPPED_BUDGET; /* nothing is proven */
    }
done:
    kn_column_search_free(h.near);
    kn_column_search_free(h.all);
    kn_batch_free(&h.rolled, domain);
    kn_evaluator_free(h.evaluator);
    kn_owner_free(&h.memory);
    return status;
}
