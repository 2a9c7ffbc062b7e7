/* Top-down sweep with pulled bounds; see the header. Memory: 16 bytes per node of the lattice, and the classes along
 * one branch. Nodes are numbered by mixed radix, so a column's level is a stride. */
#include "engine/lattice/sweep.h"

#include <math.h>
#include <string.h>

/* --- Ranking --------------------------------------------------------------------------------------------------- */

kn_status kn_ranking_new(kn_ranking *ranking, size_t capacity, uint32_t n_qis, kn_error *err)
{
    kn_status status = KN_OK;
    *ranking = (kn_ranking){.capacity = capacity, .n_qis = n_qis};
    KN_OWN(&ranking->memory, ranking->items, capacity + 1); /* one more, to insert before the last one falls out */
    for (size_t i = 0; i <= capacity; i++) KN_OWN(&ranking->memory, ranking->items[i].levels, n_qis);
done:
    return status;
}

void kn_ranking_free(kn_ranking *ranking)
{
    kn_owner_free(&ranking->memory);
    *ranking = (kn_ranking){0};
}

void kn_ranking_offer(kn_ranking *ranking, const kn_node *node, const uint32_t *levels)
{
    if (!node->feasible) return;
    size_t at = ranking->n;
    kn_ranked_node fresh = ranking->items[at];
    for (size_t i = 0; i < ranking->n; i++) {
        int order = kn_node_compare(node, levels, &ranking->items[i].node, ranking->items[i].levels, ranking->n_qis);
        if (order == 0) return; /* known already */
        if (order < 0 && i < at) at = i;
    }
    if (at == ranking->capacity) return;
    memmove(&ranking->items[at + 1], &ranking->items[at], (ranking->n - at) * sizeof *ranking->items);
    fresh.node = *node;
    memcpy(fresh.levels, levels, ranking->n_qis * sizeof *levels);
    ranking->items[at] = fresh;
    if (ranking->n < ranking->capacity) ranking->n++;
}

/* --- State ----------------------------------------------------------------------------------------------------- */

/* What is known of a node and of everything below it. */
typedef struct known {
    int64_t penalty;     /* suppressed rows pay at least this more than their cells */
    uint32_t suppressed; /* rows, at least; no more than fit */
    uint32_t evaluated;  /* the node itself, not only one above it */
} known;

typedef struct sweep {
    kn_owner memory; /* all arrays but `feasible` */
    const kn_full_domain *domain;
    const kn_lattice_column *columns; /* the lattice's */
    kn_evaluator *evaluator;
    kn_ranking *ranking; /* what is wanted: the best nodes ... */
    uint8_t *feasible;   /* ... or which are feasible; the other one is NULL */
    kn_sweep_result *result;
    uint32_t n_qis, n_depths;
    uint32_t *order;      /* columns: those that are rolled up, [depth], then the others */
    size_t *n_under;      /* [depth]: nodes that share the levels of the columns before */
    uint32_t *levels;     /* of the branch; of columns still open the least ones of interest */
    uint32_t *at;         /* of the node looked at */
    uint32_t *low, *high; /* [depth * n_qis]: levels of the open nodes there, at least and at most */
    uint32_t *held;       /* [depth * n_qis]: `levels` as they were above */
    size_t n_nodes;
    known *nodes;      /* [number] */
    bool bounded;      /* penalties bound the loss */
    kn_batch *batches; /* [depth] */
    uint64_t work, effort;
    size_t memory_bytes;
} sweep;

double kn_sweep_most_nodes(size_t memory_bytes)
{
    enum { MOST_NODES = 1 << 23, ALWAYS = 1 << 16 }; /* a megabyte is always there */
    double most = (double)memory_bytes / 2 / sizeof(known);
    if (memory_bytes == 0 || most > MOST_NODES) return MOST_NODES;
    return most < ALWAYS ? ALWAYS : most;
}

static kn_status sweep_new(sweep *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = s->domain;
    const kn_lattice *lattice = domain->lattice;
    const size_t n_depths = s->n_depths = domain->n_outer, n_qis = s->n_qis = lattice->tuples->n_qis;
    s->columns = lattice->columns;
    s->bounded = domain->bounded && s->ranking != NULL;
    s->memory_bytes = domain->task->memory_bytes;
    s->n_nodes = (size_t)lattice->n_nodes;
    KN_OWN(&s->memory, s->order, n_qis);
    KN_OWN(&s->memory, s->levels, n_qis);
    KN_OWN(&s->memory, s->at, n_qis);
    KN_OWN(&s->memory, s->n_under, n_depths + 1);
    KN_OWN(&s->memory, s->low, (n_depths + 1) * n_qis);
    KN_OWN(&s->memory, s->high, (n_depths + 1) * n_qis);
    KN_OWN(&s->memory, s->held, (n_depths + 1) * n_qis);
    KN_OWN(&s->memory, s->batches, n_depths + 1);
    KN_OWN(&s->memory, s->nodes, s->n_nodes);
    for (uint32_t q = 0; q < n_qis; q++) s->levels[q] = s->columns[q].min_level;
    kn_full_domain_roll_order(s->order, domain);
    s->n_under[0] = s->n_nodes;
    for (uint32_t d = 0; d < n_depths; d++) s->n_under[d + 1] = s->n_under[d] / kn_lattice_levels(lattice, s->order[d]);
    KN_TRY(kn_evaluator_new(&s->evaluator, domain, err));
done:
    return status;
}

static void sweep_free(sweep *s)
{
    for (uint32_t d = 0; s->batches != NULL && d <= s->n_depths; d++) kn_batch_free(&s->batches[d], s->domain);
    kn_evaluator_free(s->evaluator);
    kn_owner_free(&s->memory);
}

/* --- Bounds ---------------------------------------------------------------------------------------------------- */

/* What a node would have to lose less than (in units) to be of interest. */
static int64_t units_to_beat(const sweep *s)
{
    const kn_ranking *ranking = s->ranking;
    if (!s->bounded || ranking->n < ranking->capacity) return INT64_MAX;
    return kn_units_tied(ranking->items[ranking->n - 1].node.units);
}

/* A node that could only tie is open: ties are decided by the rows suppressed and the levels. */
static bool is_open(const sweep *s, const known *node, int64_t price, int64_t to_beat)
{
    if (node->evaluated || node->suppressed > s->domain->task->max_suppressed) return false;
    return !s->bounded || price + node->penalty <= to_beat;
}

static void pull(const sweep *s, size_t at, const uint32_t *levels)
{
    known *node = &s->nodes[at];
    for (uint32_t q = 0; q < s->n_qis; q++) {
        if (levels[q] == s->columns[q].max_level) continue;
        const known *above = &s->nodes[at + s->columns[q].stride];
        if (above->penalty > node->penalty) node->penalty = above->penalty;
        if (above->suppressed > node->suppressed) node->suppressed = above->suppressed;
    }
}

static int64_t level_price(const sweep *s, uint32_t q, uint32_t level)
{
    return s->domain->table_sum != NULL ? s->domain->table_sum[q][level] : 0;
}

/* Of all columns; with what suppressed rows may pay less, no feasible node there loses less than it plus the penalty.
 */
static int64_t levels_price(const sweep *s, const uint32_t *levels)
{
    int64_t price = s->domain->least_more;
    for (uint32_t q = 0; q < s->n_qis; q++) price += level_price(s, q, levels[q]);
    return price;
}

/* Is a node open? / *least: the smallest bound of an open one / low and high at that depth: their levels. */
typedef enum look_for { ANY_OPEN, LEAST_BOUND, LEVELS } look_for;

static void note_levels(sweep *s, uint32_t depth, const uint32_t *levels, bool first)
{
    uint32_t *low = s->low + (size_t)depth * s->n_qis, *high = s->high + (size_t)depth * s->n_qis;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        if (first || levels[q] < low[q]) low[q] = levels[q];
        if (first || levels[q] > high[q]) high[q] = levels[q];
    }
}

/* Pulls bounds for the nodes that share the levels of the first `depth` columns, most general first; returns whether
 * one is open, with ANY_OPEN as soon as one is found. */
static bool look(sweep *s, uint32_t depth, look_for what, int64_t *least)
{
    uint32_t *levels = s->at;
    const int64_t to_beat = units_to_beat(s);
    bool found = false;
    memcpy(levels, s->levels, s->n_qis * sizeof *levels);
    for (uint32_t i = depth; i < s->n_qis; i++) levels[s->order[i]] = s->columns[s->order[i]].max_level;
    size_t at = kn_lattice_number(s->domain->lattice, levels);
    int64_t price = levels_price(s, levels);
    for (;;) {
        pull(s, at, levels);
        if (is_open(s, &s->nodes[at], price, to_beat)) {
            if (what == ANY_OPEN) return true;
            if (what == LEVELS) note_levels(s, depth, levels, !found);
            else if (price + s->nodes[at].penalty < *least) *least = price + s->nodes[at].penalty;
            found = true;
        }
        uint32_t i = depth;
        for (; i < s->n_qis; i++) { /* the next node, like a clock that runs backwards */
            const uint32_t q = s->order[i];
            const kn_lattice_column *column = &s->columns[q];
            const bool turns = levels[q] == column->min_level;
            price -= level_price(s, q, levels[q]);
            at -= (levels[q] - column->min_level) * column->stride;
            levels[q] = turns ? column->max_level : levels[q] - 1;
            at += (levels[q] - column->min_level) * column->stride;
            price += level_price(s, q, levels[q]);
            if (!turns) break;
        }
        if (i == s->n_qis) return found;
    }
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

static kn_status note_node(void *context, const kn_node *node, const double *losses, const uint32_t *levels,
                           unsigned worker, kn_error *err)
{
    sweep *s = context;
    const size_t at = kn_lattice_number(s->domain->lattice, levels);
    known *own = &s->nodes[at];
    if (own->evaluated) return KN_OK;
    uint64_t sure = node->n_sure;
    if (!node->feasible && s->domain->upward_closed) sure = UINT32_MAX; /* closes what lies below */
    own->evaluated = true;
    own->penalty = s->domain->table_sum == NULL || s->domain->monotone_prices ? node->sure_units : 0;
    own->suppressed = sure < UINT32_MAX ? (uint32_t)sure : UINT32_MAX;
    s->result->n_nodes++;
    if (s->feasible != NULL) s->feasible[at] = node->feasible;
    else kn_ranking_offer(s->ranking, node, levels);
    return KN_OK;
}

static kn_status evaluate_leaf(sweep *s, const kn_batch *batch, kn_error *err)
{
    s->work += kn_batch_size(s->domain, batch);
    return kn_evaluate_nodes(s->evaluator, batch, false, note_node, s, 0, err);
}

/* Keeps classes along the branch only while they fit; what is not kept is rolled up from further away. */
static bool may_keep(const sweep *s, uint32_t depth, uint32_t n)
{
    if (s->memory_bytes == 0 || depth == s->n_depths) return true;
    size_t sum = s->n_nodes * sizeof *s->nodes;
    for (uint32_t d = 0; d < depth; d++) sum += kn_batch_bytes(s->domain, &s->batches[d]);
    return sum + kn_groups_bytes(s->domain->lattice, n) * 3 <= s->memory_bytes;
}

static kn_status roll(sweep *s, uint32_t depth, const kn_batch **batch, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *at = kn_batch_levels(s->domain, *batch), n = kn_batch_size(s->domain, *batch);
    bool same = true;
    for (uint32_t d = 0; d < s->n_depths; d++) same = same && at[s->order[d]] == s->levels[s->order[d]];
    if (same || !may_keep(s, depth, n)) goto done;
    KN_TRY(kn_batch_roll(&s->batches[depth], *batch, s->levels, s->evaluator, err));
    s->work += n;
    *batch = &s->batches[depth];
done:
    return status;
}

static bool must_stop(sweep *s)
{
    kn_ticker *ticker = s->domain->task->ticker;
    if (s->result->stopped != KN_STOPPED_DONE) return true;
    if (s->ranking == NULL || s->ranking->n == 0) return false;
    if (s->effort > 0 && s->work >= s->effort) s->result->stopped = KN_STOPPED_BUDGET;
    else if (kn_ticker_cancelled(ticker)) s->result->stopped = KN_STOPPED_INTERRUPT;
    else if (kn_ticker_out_of_time(ticker)) s->result->stopped = KN_STOPPED_TIME;
    return s->result->stopped != KN_STOPPED_DONE;
}

static kn_status descend(sweep *s, uint32_t depth, const kn_batch *batch, kn_error *err);

/* The levels of one column, most general first. */
static kn_status descend_levels(sweep *s, uint32_t depth, const kn_batch *batch, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t q = s->order[depth], least = s->levels[q];
    for (uint32_t l = s->columns[q].max_level + 1; l-- > least;) {
        s->levels[q] = l;
        KN_TRY(descend(s, depth + 1, batch, err));
    }
    s->levels[q] = least;
done:
    return status;
}

/* Where classes are many and nodes few, it pays to look at all the nodes first. */
static bool surveys(const sweep *s, uint32_t depth, const kn_batch *batch)
{
    enum { LEAST_CLASSES = 1 << 15 };
    const uint32_t n = kn_batch_size(s->domain, batch);
    return n >= LEAST_CLASSES && n / 4 >= s->n_under[depth];
}

/* Classes are rolled up at once to the least levels that an open node has. */
static void lift(sweep *s, uint32_t depth)
{
    const uint32_t *low = s->low + (size_t)depth * s->n_qis;
    for (uint32_t d = depth; d < s->n_depths; d++) s->levels[s->order[d]] = low[s->order[d]];
}

/* All open nodes may suppress too much. The least node above them is of no interest itself, but if it suppresses too
 * much it closes them all, and it has fewer classes than any of them. */
static kn_status probe(sweep *s, uint32_t depth, const kn_batch *batch, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *high = s->high + (size_t)depth * s->n_qis;
    const kn_task *task = s->domain->task;
    const known *node = &s->nodes[kn_lattice_number(s->domain->lattice, high)];
    double most_suppressed = (double)task->models->min_persons - 1; /* times the classes that could be */
    for (uint32_t q = 0; q < s->n_qis; q++) most_suppressed *= s->columns[q].levels[high[q]].n;
    if (most_suppressed <= (double)task->max_suppressed || node->evaluated) return KN_OK;
    if (is_open(s, node, levels_price(s, high), units_to_beat(s))) return KN_OK; /* it is visited first anyway */
    for (uint32_t d = depth; d < s->n_depths; d++) s->levels[s->order[d]] = high[s->order[d]];
    KN_TRY(roll(s, s->n_depths, &batch, err));
    KN_TRY(evaluate_leaf(s, batch, err));
done:
    lift(s, depth);
    return status;
}

static kn_status descend(sweep *s, uint32_t depth, const kn_batch *batch, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *held = s->held + (size_t)depth * s->n_qis;
    bool survey = depth < s->n_depths && surveys(s, depth, batch);
    if (must_stop(s) || !look(s, depth, survey ? LEVELS : ANY_OPEN, NULL)) return KN_OK;
    KN_TRY(kn_tick(s->domain->task->ticker, "search", -1, err));
    memcpy(held, s->levels, s->n_qis * sizeof *held);
    if (survey) lift(s, depth);
    KN_TRY(roll(s, depth, &batch, err));
    if (depth == s->n_depths) return evaluate_leaf(s, batch, err);
    if (survey) KN_TRY(probe(s, depth, batch, err));
    KN_TRY(descend_levels(s, depth, batch, err));
    memcpy(s->levels, held, s->n_qis * sizeof *held);
done:
    return status;
}

kn_status kn_sweep_feasible(uint8_t **feasible, uint64_t *n_evaluated, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_sweep_result result = {0};
    kn_full_domain *domain = NULL;
    sweep s = {.result = &result};
    *feasible = NULL;
    KN_TRY(kn_full_domain_new_for(&domain, task, NULL, 0, KN_MOST_COMBOS, err));
    s.domain = domain;
    KN_TRY(sweep_new(&s, err));
    KN_NEW(s.feasible, s.n_nodes);
    KN_TRY(descend(&s, 0, &domain->base, err));
    *feasible = s.feasible;
    s.feasible = NULL;
    *n_evaluated = result.n_nodes;
done:
    kn_free(s.feasible);
    sweep_free(&s);
    kn_full_domain_free(domain);
    return status;
}

kn_status kn_sweep(kn_sweep_result *result, kn_ranking *ranking, const kn_full_domain *domain, uint64_t effort,
                   kn_error *err)
{
    kn_status status = KN_OK;
    sweep s = {.domain = domain, .ranking = ranking, .result = result, .effort = effort};
    *result = (kn_sweep_result){.bound = NAN};
    KN_TRY(sweep_new(&s, err));
    KN_TRY(descend(&s, 0, &domain->base, err));
    result->complete = result->stopped == KN_STOPPED_DONE;
    if (ranking->n == 0) goto done;
    result->bound = ranking->items[0].node.loss;
    if (!result->complete) {
        int64_t least = ranking->items[0].node.units;
        look(&s, 0, LEAST_BOUND, &least);
        result->bound = s.bounded ? kn_full_domain_loss(domain, least) : NAN;
    }
done:
    sweep_free(&s);
    return status;
}
