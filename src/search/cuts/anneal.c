/* anneal: simulated annealing over cut points, after Winkler (Using simulated annealing for k-anonymity, 2002; [BA] 2).
 *
 * A step puts one letter in or takes one out, at random, or does both at once; what costs more is accepted with the
 * chance exp(-more / temperature), and the temperature falls geometrically from a hundredth of the cost of the release
 * without cuts to next to nothing. Rows suppressed beyond the limit have a price that rises meanwhile, so that the
 * chain can pass through sets that are no releases. The paper gives neither moves nor schedule; these are ours. Some
 * chains run side by side, each with random numbers of its own, and the best set that any of them met is returned: the
 * same for any number of threads. At the end the best set of each chain goes downhill, one letter at a time, as far as
 * that gains.
 *
 * Cost: one pricing per step. Effort is the number of steps of all chains; nothing is proven. */
#include "search/cuts/cut_moves.h"
#include "search/cuts/cut_report.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { N_CHAINS = 4, STEPS_PER_ROUND = 250, DEFAULT_STEPS = 24000 };

typedef struct chain {
    kn_rng rng;
    uint8_t *in, *best_in;
    double value, best;
    bool has_best;
} chain;

typedef struct annealer {
    const kn_task *task;
    kn_cuts *cuts;
    kn_cut_worker *worker; /* its first frame has the items */
    kn_cut_moves **moves;  /* per thread */
    unsigned n_moves;
    chain chains[N_CHAINS];
    double hottest;
    uint64_t n_steps, most_steps; /* of all chains */
    double best;                  /* of all chains, as told */
    bool has_best;
} annealer;

/* `strict`: what a row beyond the limit costs, in rows that are suppressed within it. */
static double look(kn_cut_moves *moves, chain *c, double strict)
{
    const kn_cuts *cuts = moves->cuts;
    kn_cut_moves_look(moves, c->in, false);
    const double over = moves->now.n_suppressed - (double)cuts->max_suppressed, row = cuts->bound->suppressed(cuts, 1);
    double value = moves->now.cost + (over > 0 ? over * strict * (row > 0 ? row : 1) : 0);
    if (moves->now.has_class && over <= 0 && (!c->has_best || value < c->best)) {
        c->best = value;
        c->has_best = true;
        memcpy(c->best_in, c->in, cuts->n_letters);
    }
    return value;
}

/* A letter of the other kind, in for out or out for in, every second time; often one of the same column, which moves a
 * cut. KN_NONE: none. */
static uint32_t draw_other(chain *c, const kn_cuts *cuts, uint32_t letter)
{
    const bool same = kn_rng_below(&c->rng, 2) == 0;
    uint32_t n_seen = 0, found = KN_NONE;
    if (kn_rng_below(&c->rng, 2) == 0) return KN_NONE;
    for (uint32_t other = 0; other < cuts->n_letters; other++) {
        if (c->in[other] == c->in[letter] || (same && cuts->letters[other].q != cuts->letters[letter].q)) continue;
        if (kn_rng_below(&c->rng, ++n_seen) == 0) found = other;
    }
    return found;
}

/* Downhill from the best set of a chain. */
static kn_status finish_chain(void *context, size_t job, unsigned worker, kn_error *err)
{
    annealer *a = context;
    chain *c = &a->chains[job];
    kn_cut_moves *moves = a->moves[worker];
    if (!c->has_best) memcpy(c->best_in, c->in, a->cuts->n_letters);
    memcpy(c->in, c->best_in, a->cuts->n_letters);
    kn_cut_descend(moves, c->in, UINT32_MAX, a->task->ticker);
    look(moves, c, 1); /* keeps it where it is better */
    return KN_OK;
}

static kn_status run_chain(void *context, size_t job, unsigned worker, kn_error *err)
{
    annealer *a = context;
    chain *c = &a->chains[job];
    const kn_cuts *cuts = a->cuts;
    const double begun = (double)a->n_steps / (double)a->most_steps, strict = 0.1 * pow(1e3, begun < 1 ? begun : 1);
    c->value = look(a->moves[worker], c, strict);
    for (uint32_t step = 0; step < STEPS_PER_ROUND && cuts->n_letters > 0; step++) {
        const double done = ((double)a->n_steps / N_CHAINS + step) / ((double)a->most_steps / N_CHAINS);
        const double temperature = a->hottest * pow(1e-4, done < 1 ? done : 1);
        const uint32_t letter = kn_rng_below(&c->rng, cuts->n_letters), other = draw_other(c, cuts, letter);
        const double chance = kn_rng_unit(&c->rng);
        if (kn_ticker_out_of_time(a->task->ticker)) break;
        if (!kn_cut_may_flip(cuts, c->in, letter)) continue;
        c->in[letter] ^= 1;
        const bool exchange = other != KN_NONE && kn_cut_may_flip(cuts, c->in, other);
        if (exchange) c->in[other] ^= 1;
        const double value = look(a->moves[worker], c, strict);
        if (value <= c->value || chance < exp((c->value - value) / temperature)) {
            c->value = value;
        } else {
            if (exchange) c->in[other] ^= 1;
            c->in[letter] ^= 1;
        }
    }
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

static kn_status prepare(annealer *a, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cuts_new(&a->cuts, a->task, 1, err));
    KN_TRY(kn_cut_worker_new(&a->worker, a->cuts, err));
    KN_TRY(kn_cut_merged_items(a->worker, err));
    a->n_moves = kn_pool_threads(a->task->pool);
    KN_NEW(a->moves, a->n_moves);
    for (unsigned i = 0; i < a->n_moves; i++)
        KN_TRY(kn_cut_moves_new(&a->moves[i], a->cuts, &a->worker->frames[0].items, err));
    for (size_t i = 0; i < N_CHAINS; i++) {
        a->chains[i].rng = kn_rng_new(a->task->seed, i);
        KN_NEW(a->chains[i].in, a->cuts->n_letters + (size_t)1);
        KN_NEW(a->chains[i].best_in, a->cuts->n_letters + (size_t)1);
    }
    a->most_steps = a->task->effort > 0 ? a->task->effort : DEFAULT_STEPS;
    kn_cut_moves_look(a->moves[0], a->chains[0].in, false); /* no cuts */
    a->hottest = 1e-2 * fabs(a->moves[0]->now.cost) + 1e-9;
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
    kn_free(a.moves);
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
