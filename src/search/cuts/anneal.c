/* anneal: simulated annealing over cut points, after Winkler (Using simulated annealing for k-anonymity, 2002; [BA] 2).
 *
 * A step draws the cuts of one column anew, the others staying: of all their sets each with the chance exp(-cost /
 * temperature) has it (heat bath, cut_column.c), which takes no longer than to price a few of them. Where letters are
 * nodes of a hierarchy, one is flipped, or exchanged for another, and what costs more is accepted with the chance
 * exp(-more / temperature). The temperature falls geometrically. A suppressed row costs more than its price, ever more
 * while there are too many of them and less again while there are not, so that the chain can pass through sets that are
 * no releases. The paper gives neither moves nor schedule; these are ours. Some chains run side by side, each with
 * random numbers of its own, and the best set that any of them met is returned: the same for any number of threads. At
 * the end the best set of each chain goes downhill as far as that gains, column by column.
 *
 * Cost: a look at a column per step. Effort is the number of steps of all chains; nothing is proven. */
#include "search/cuts/cut_column.h"
#include "search/cuts/cut_report.h"

#include <math.h>
#include <string.h>

enum { N_CHAINS = 4, STEPS_PER_ROUND = 100, DEFAULT_STEPS = 12000 };

typedef struct chain {
    kn_rng rng;
    uint8_t *in, *best_in;
    double dearer; /* what a suppressed row costs beyond its price */
    double best;
    bool has_best;
} chain;

typedef struct annealer {
    const kn_task *task;
    kn_cuts *cuts;
    kn_cut_worker *worker; /* its first frame has the items */
    kn_cut_moves **moves;  /* per thread */
    kn_cut_path **paths;
    unsigned n_moves;
    chain chains[N_CHAINS];
    double hottest;
    uint64_t n_steps, most_steps; /* of all chains */
    double best;                  /* of all chains, as told */
    bool has_best;
} annealer;

/* Keeps what was looked at last where it is better. */
static void keep(chain *c, const kn_cut_moves *moves)
{
    if (!kn_cut_is_release(moves->cuts, &moves->now) || (c->has_best && moves->now.cost >= c->best)) return;
    c->best = moves->now.cost;
    c->has_best = true;
    memcpy(c->best_in, c->in, moves->cuts->n_letters);
}

/* Twice as dear when there are too many, half as dear when there are not: slower changes leave the chain among
 * releases, from where it finds fewer others. */
static void adjust(chain *c, const kn_cut_moves *moves)
{
    const kn_cuts *cuts = moves->cuts;
    const double row = fmax(cuts->bound->suppressed(cuts, 1), 1), most = row * cuts->n_rows;
    if (moves->now.n_suppressed > (double)cuts->max_suppressed) c->dearer = fmin(fmax(2 * c->dearer, 0.1 * row), most);
    else c->dearer *= 0.5;
}

static double value_of(const chain *c, const kn_cut_cost *cost) { return cost->cost + c->dearer * cost->n_suppressed; }

/* One letter of a column of nodes, and every second time one of the other kind, in for out or out for in. */
static void flip_nodes(chain *c, kn_cut_moves *moves, uint32_t q, double temperature)
{
    const kn_cuts *cuts = moves->cuts;
    const kn_cut_column *column = &cuts->columns[q];
    const double before = value_of(c, &moves->now), chance = kn_rng_unit(&c->rng);
    const uint32_t n = column->n_positions - 1, letter = column->letter_at[1 + kn_rng_below(&c->rng, n)],
                   other = column->letter_at[1 + kn_rng_below(&c->rng, n)];
    const bool exchange = kn_rng_below(&c->rng, 2) == 0 && other != letter && c->in[other] != c->in[letter];
    if (!kn_cut_may_flip(cuts, c->in, letter)) return;
    c->in[letter] ^= 1;
    const bool both = exchange && kn_cut_may_flip(cuts, c->in, other);
    if (both) c->in[other] ^= 1;
    kn_cut_moves_look(moves, c->in, false);
    const double value = value_of(c, &moves->now);
    if (value <= before || chance < exp((before - value) / temperature)) return;
    if (both) c->in[other] ^= 1;
    c->in[letter] ^= 1;
    kn_cut_moves_look(moves, c->in, false);
}

static kn_status run_chain(void *context, size_t job, unsigned worker, kn_error *err)
{
    annealer *a = context;
    chain *c = &a->chains[job];
    const kn_cuts *cuts = a->cuts;
    kn_cut_moves *moves = a->moves[worker];
    kn_cut_moves_look(moves, c->in, false);
    keep(c, moves);
    for (uint32_t step = 0; step < STEPS_PER_ROUND && cuts->n_letters > 0; step++) {
        const double done = ((double)a->n_steps + (double)N_CHAINS * step) / (double)a->most_steps;
        const double temperature = a->hottest * pow(1e-3, done < 1 ? done : 1);
        uint32_t q = kn_rng_below(&c->rng, cuts->n_columns);
        while (cuts->columns[q].n_positions < 2) q = (q + 1) % cuts->n_columns;
        if (kn_ticker_out_of_time(a->task->ticker)) break;
        if (cuts->columns[q].form == KN_PART_NODE) flip_nodes(c, moves, q, temperature);
        else kn_cut_column_draw(a->paths[worker], moves, c->in, q, temperature, c->dearer, &c->rng);
        keep(c, moves);
        adjust(c, moves);
    }
    return KN_OK;
}

/* Downhill from the best set of a chain. */
static kn_status finish_chain(void *context, size_t job, unsigned worker, kn_error *err)
{
    annealer *a = context;
    chain *c = &a->chains[job];
    kn_cut_moves *moves = a->moves[worker];
    const uint32_t n = a->cuts->n_columns;
    if (c->has_best) memcpy(c->in, c->best_in, a->cuts->n_letters);
    kn_cut_moves_look(moves, c->in, false);
    for (uint32_t i = 0, last_gain = 0; i < last_gain + n && !kn_ticker_out_of_time(a->task->ticker); i++)
        if (kn_cut_column_best(a->paths[worker], moves, c->in, i % n)) last_gain = i + 1;
    if (a->cuts->has_nodes) kn_cut_descend(moves, c->in, UINT32_MAX, a->task->ticker);
    keep(c, moves);
    return KN_OK;
}

static chain *best_chain(annealer *a)
{
    chain *best = NULL;
    for (size_t i = 0; i < N_CHAINS; i++)
        if (a->chains[i].has_best && (best == NULL || a->chains[i].best < best->best)) best = &a->chains[i];
    return best;
}

/* A point of the curve, when some chain has found something better. */
static void tell(annealer *a, kn_cut_curve *curve)
{
    const chain *best = best_chain(a);
    if (best == NULL || (a->has_best && !(best->best < a->best))) return;
    a->best = best->best;
    a->has_best = true;
    kn_cut_curve_note(curve, a->best);
}

static kn_status cool(kn_stopped *stopped, annealer *a, kn_cut_curve *curve, kn_error *err)
{
    kn_status status = KN_OK;
    kn_ticker *ticker = a->task->ticker;
    kn_error ignored = {0};
    for (;;) {
        *stopped = a->task->effort > 0 ? KN_STOPPED_BUDGET : KN_STOPPED_DONE;
        if (a->n_steps >= a->most_steps) break;
        *stopped = kn_ticker_cancelled(ticker) ? KN_STOPPED_INTERRUPT : KN_STOPPED_TIME;
        if (a->n_steps > 0 && kn_ticker_out_of_time(ticker)) break;
        KN_TRY(kn_pool_run(a->task->pool, N_CHAINS, run_chain, a, err));
        a->n_steps += N_CHAINS * STEPS_PER_ROUND;
        tell(a, curve);
        *stopped = KN_STOPPED_INTERRUPT;
        if (kn_tick(ticker, "search", (double)a->n_steps / (double)a->most_steps, &ignored) != KN_OK) break;
    }
    KN_TRY(kn_pool_run(a->task->pool, N_CHAINS, finish_chain, a, err));
    tell(a, curve);
done:
    return status;
}

/* A tenth of what a release costs whose columns were cut as well as could be, one after the other. */
static void find_hottest(annealer *a)
{
    kn_cut_moves_look(a->moves[0], a->chains[0].in, false);
    for (uint32_t q = 0; q < a->cuts->n_columns; q++) kn_cut_column_best(a->paths[0], a->moves[0], a->chains[0].in, q);
    a->hottest = 0.1 * fabs(a->moves[0]->now.cost) + 1e-9;
    memset(a->chains[0].in, 0, a->cuts->n_letters);
}

static kn_status prepare(annealer *a, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cuts_new(&a->cuts, a->task, 1, err));
    KN_TRY(kn_cut_worker_new(&a->worker, a->cuts, err));
    KN_TRY(kn_cut_merged_items(a->worker, err));
    a->n_moves = kn_pool_threads(a->task->pool);
    KN_NEW(a->moves, a->n_moves);
    KN_NEW(a->paths, a->n_moves);
    for (unsigned i = 0; i < a->n_moves; i++) {
        KN_TRY(kn_cut_moves_new(&a->moves[i], a->cuts, &a->worker->frames[0].items, err));
        KN_TRY(kn_cut_path_new(&a->paths[i], a->cuts, &a->worker->frames[0].items, err));
    }
    for (size_t i = 0; i < N_CHAINS; i++) {
        a->chains[i].rng = kn_rng_new(a->task->seed, i);
        KN_NEW(a->chains[i].in, a->cuts->n_letters + (size_t)1);
        KN_NEW(a->chains[i].best_in, a->cuts->n_letters + (size_t)1);
    }
    a->most_steps = a->task->effort > 0 ? a->task->effort : DEFAULT_STEPS;
    find_hottest(a);
done:
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    annealer a = {.task = task};
    kn_stopped stopped;
    KN_TRY(prepare(&a, err));
    kn_cut_curve curve = {task, a.cuts, kn_seconds_now()};
    KN_TRY(cool(&stopped, &a, &curve, err));
    const chain *best = best_chain(&a);
    KN_TRY(kn_cut_found(answer, a.cuts, best != NULL ? best->best_in : NULL, stopped, a.n_steps, err));
done:
    for (size_t i = 0; i < N_CHAINS; i++) {
        kn_free(a.chains[i].in);
        kn_free(a.chains[i].best_in);
    }
    for (unsigned i = 0; a.moves != NULL && i < a.n_moves; i++) kn_cut_moves_free(a.moves[i]);
    for (unsigned i = 0; a.paths != NULL && i < a.n_moves; i++) kn_cut_path_free(a.paths[i]);
    kn_free(a.moves);
    kn_free(a.paths);
    kn_cut_worker_free(a.worker);
    kn_cuts_free(a.cuts);
    return status;
}

static const kn_param params[] = {KN_CUTS_PARAMS};

const kn_algorithm kn_algorithm_anneal = {
    .name = "anneal",
    .summary = "good cut points per column, by simulated annealing",
    .citation = "Winkler, Using simulated annealing for k-anonymity, 2002",
    .recoding = KN_RECODING_CUTS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .search = search,
};
