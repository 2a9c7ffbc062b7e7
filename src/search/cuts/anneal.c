/* anneal: simulated annealing over cut points, after Winkler (Using simulated annealing for k-anonymity, 2002; [BA] 2).
 *
 * A step draws the cuts of one column anew, the others staying: of all their sets each with the chance exp(-cost /
 * temperature) has it (heat bath, cut_column.c), which takes no longer than to price a few of them. Where letters are
 * nodes of a hierarchy, one is flipped, or exchanged for another, and what costs more is accepted with the chance
 * exp(-more / temperature). The temperature falls geometrically. A suppressed row is cheap at first, and beyond that
 * costs ever more while there are too many of them and less again while there are not, so that the chain can pass
 * through sets that suppress too much: sets of cuts that are both good are seldom next to each other otherwise. The
 * paper gives neither moves nor schedule; these are ours. Some chains run side by side, each with random numbers of its
 * own, and the best set that any of them met is returned: the same for any number of threads. At the end the best set
 * of each chain goes downhill as far as that gains, column by column.
 *
 * Cost: a look at a column per step. Effort is the number of steps of all chains; without it there are at most 12,000
 * of them, fewer where they are more work (cut_crew.h) or time is short: what part of its way a chain has gone decides
 * about temperature and prices. Nothing is proven. */
#include "search/cuts/cut_crew.h"
#include "search/cuts/cut_report.h"

#include <math.h>
#include <string.h>

/* A suppressed row begins with this share of its price and has all of it after this share of the way. */
#define CHEAPEST  0.01
#define DEAR_FROM 0.8
enum { N_CHAINS = 4, STEPS_PER_ROUND = 100, DEFAULT_STEPS = 12000 };

typedef struct chain {
    kn_rng rng;
    uint8_t *in, *best_in;
    double extra;  /* what a suppressed row costs more because there were too many of them ... */
    double dearer; /* ... and what it costs beyond its price, or less than that while it is hot */
    double best;
    bool has_best;
    uint64_t n_steps, work;
} chain;

typedef struct annealer {
    const kn_task *task;
    kn_cuts *cuts;
    kn_cut_crew crew;
    chain chains[N_CHAINS];
    double hottest;
    uint64_t most_steps, most_work; /* of a chain */
    double best;                    /* of all chains, as told */
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
static void adjust(chain *c, const kn_cut_moves *moves, double done)
{
    const kn_cuts *cuts = moves->cuts;
    const double price = cuts->bound->suppressed(cuts, 1), row = fmax(price, 1), most = row * cuts->n_rows;
    if (moves->now.n_suppressed > (double)cuts->max_suppressed) c->extra = fmin(fmax(2 * c->extra, 0.1 * row), most);
    else c->extra *= 0.5;
    c->dearer = c->extra - price * (1 - pow(CHEAPEST, fmax(0, 1 - done / DEAR_FROM)));
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

/* How much of its way a chain has gone, by steps, work or time; 1: all of it. A time limit that is long enough changes
 * nothing, so that the same seed gives the same: only what time is ahead by more than a twentieth counts. */
static double progress_of(const annealer *a, const chain *c)
{
    const kn_ticker *ticker = a->task->ticker;
    const double spare = 0.05, by_steps = (double)c->n_steps / (double)a->most_steps;
    double done = fmax(by_steps, (double)c->work / (double)a->most_work);
    if (ticker != NULL && ticker->search_deadline > 0) {
        const double all = ticker->search_deadline - ticker->search_began;
        done = fmax(done, ((kn_seconds_now() - ticker->search_began) / all - spare) / (1 - spare));
    }
    return fmin(done, 1);
}

static kn_status run_chain(void *context, size_t job, unsigned worker, kn_error *err)
{
    annealer *a = context;
    chain *c = &a->chains[job];
    const kn_cuts *cuts = a->cuts;
    kn_cut_moves *moves = a->crew.moves[worker];
    const uint64_t before = moves->work - c->work;
    kn_cut_moves_look(moves, c->in, false);
    keep(c, moves);
    for (uint32_t step = 0; step < STEPS_PER_ROUND && cuts->n_letters > 0; step++) {
        const double done = progress_of(a, c), temperature = a->hottest * pow(1e-3, done);
        if (done >= 1 || kn_ticker_out_of_time(a->task->ticker)) break;
        uint32_t q = kn_rng_below(&c->rng, cuts->n_columns);
        while (cuts->columns[q].n_positions < 2) q = (q + 1) % cuts->n_columns;
        if (cuts->columns[q].form == KN_PART_NODE) flip_nodes(c, moves, q, temperature);
        else kn_cut_column_draw(a->crew.paths[worker], moves, c->in, q, temperature, c->dearer, &c->rng);
        keep(c, moves);
        adjust(c, moves, done);
        c->work = moves->work - before;
        c->n_steps++;
    }
    return KN_OK;
}

/* Downhill from the best set of a chain. */
static kn_status finish_chain(void *context, size_t job, unsigned worker, kn_error *err)
{
    annealer *a = context;
    chain *c = &a->chains[job];
    kn_cut_moves *moves = a->crew.moves[worker];
    const uint32_t n = a->cuts->n_columns;
    if (c->has_best) memcpy(c->in, c->best_in, a->cuts->n_letters);
    kn_cut_moves_look(moves, c->in, false);
    for (uint32_t i = 0, last_gain = 0; i < last_gain + n && !kn_ticker_out_of_time(a->task->ticker); i++)
        if (kn_cut_column_best(a->crew.paths[worker], moves, c->in, i % n, &c->rng)) last_gain = i + 1;
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
    double done = 0;
    for (bool begun = false;; begun = true) {
        *stopped = kn_ticker_cancelled(ticker) ? KN_STOPPED_INTERRUPT : KN_STOPPED_TIME;
        if (begun && kn_ticker_out_of_time(ticker)) break;
        *stopped = a->task->effort > 0 ? KN_STOPPED_BUDGET : KN_STOPPED_DONE;
        if (done >= 1 || a->cuts->n_letters == 0) break;
        KN_TRY(kn_pool_run(a->task->pool, N_CHAINS, run_chain, a, err));
        tell(a, curve);
        *stopped = KN_STOPPED_INTERRUPT;
        done = 1;
        for (size_t i = 0; i < N_CHAINS; i++) done = fmin(done, progress_of(a, &a->chains[i]));
        if (kn_tick(ticker, "search", done, &ignored) != KN_OK) break;
    }
    KN_TRY(kn_pool_run(a->task->pool, N_CHAINS, finish_chain, a, err));
    tell(a, curve);
done:
    return status;
}

/* A tenth of what a release costs whose columns were cut as well as could be, one after the other: the first one. */
static void find_hottest(annealer *a)
{
    kn_cut_moves *moves = a->crew.moves[0];
    chain *first = &a->chains[0];
    kn_cut_moves_look(moves, first->in, false);
    for (uint32_t q = 0; q < a->cuts->n_columns && !kn_ticker_out_of_time(a->task->ticker); q++)
        kn_cut_column_best(a->crew.paths[0], moves, first->in, q, &first->rng);
    a->hottest = 0.1 * fabs(moves->now.cost) + 1e-9;
    keep(first, moves);
    memset(first->in, 0, a->cuts->n_letters);
}

static kn_status prepare(annealer *a, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cuts_new(&a->cuts, a->task, 1, err));
    KN_TRY(kn_cut_crew_new(&a->crew, a->cuts, a->task->pool, err));
    for (size_t i = 0; i < N_CHAINS; i++) {
        a->chains[i].rng = kn_rng_new(a->task->seed, i);
        KN_NEW(a->chains[i].in, a->cuts->n_letters + (size_t)1);
        KN_NEW(a->chains[i].best_in, a->cuts->n_letters + (size_t)1);
    }
    const uint64_t effort = a->task->effort;
    a->most_steps = ((effort > 0 ? effort : DEFAULT_STEPS) + N_CHAINS - 1) / N_CHAINS;
    a->most_work = effort > 0 ? UINT64_MAX : KN_CUTS_DEFAULT_WORK / N_CHAINS;
    find_hottest(a);
done:
    return status;
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    annealer a = {.task = task};
    kn_stopped stopped;
    uint64_t n_steps = 0;
    KN_TRY(prepare(&a, err));
    kn_cut_curve curve = {task, a.cuts, kn_seconds_now()};
    KN_TRY(cool(&stopped, &a, &curve, err));
    const chain *best = best_chain(&a);
    for (size_t i = 0; i < N_CHAINS; i++) n_steps += a.chains[i].n_steps;
    KN_TRY(kn_cut_found(answer, a.cuts, best != NULL ? best->best_in : NULL, stopped, n_steps, err));
done:
    for (size_t i = 0; i < N_CHAINS; i++) {
        kn_free(a.chains[i].in);
        kn_free(a.chains[i].best_in);
    }
    kn_cut_crew_free(&a.crew);
    kn_cuts_free(a.cuts);
    return status;
}

static double expected_seconds(const kn_task *task) { return kn_cut_expected_seconds(task, DEFAULT_STEPS); }

static const kn_param params[] = {KN_CUTS_PARAMS};

const kn_algorithm kn_algorithm_anneal = {
    .name = "anneal",
    .summary = "good cut points per column, by simulated annealing",
    .citation = "Winkler, Using simulated annealing for k-anonymity, 2002",
    .recoding = KN_RECODING_CUTS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .seconds = expected_seconds,
    .search = search,
};
