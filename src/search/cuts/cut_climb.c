/* Iterated 2-phase hill climbing, [BA] 7.3: letters are taken out, always the one that gains most, until none gains;
 * then put in, likewise; and so on until neither gains. Then again from somewhere else.
 *
 * Departs from the paper, which always begins at random: nine of ten descents begin at the best set with a quarter of
 * its letters gone and some others put in, which finds better ones sooner, and a descent that ends near the best goes
 * on walking: always to the cheapest neighbour, also uphill, except that a letter that was flipped is left alone for
 * some steps (tabu search, Glover 1989). So a cut moves or is exchanged for another in two steps, of which the first
 * one loses. Walks also pass through sets that suppress too many rows, whose price rises while they do so and falls
 * while they do not. All neighbours are priced in one go (cut_moves.h). Descents of a round are independent jobs that
 * begin at the best of the rounds before, with random numbers of their own: the same result for any number of threads.
 *
 * Cost: about letters in force looks per descent, and some dozen per walk. */
#include "search/cuts/cut_climb.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { DESCENTS_PER_ROUND = 4, ROUNDS_WITHOUT_GAIN = 40, STEPS_WITHOUT_GAIN = 40 };

typedef struct descent {
    uint8_t *in, *best_in; /* where it is, and the cheapest release that it met, once has_best */
    double best;
    bool has_best;
    uint32_t *barred_until; /* [letter]: the step of a walk from which on it may be flipped again */
    uint64_t n_looks;
} descent;

typedef struct climber {
    kn_climb *climb;
    kn_cut_moves **moves; /* per thread */
    unsigned n_moves;
    kn_cut_worker *worker; /* its first frame has the items */
    descent descents[DESCENTS_PER_ROUND];
    uint64_t n_rounds;
    double until; /* kn_seconds_now() */
} climber;

static bool is_over(const climber *c)
{
    return kn_ticker_out_of_time(c->climb->task->ticker) || (c->until > 0 && kn_seconds_now() >= c->until);
}

/* `letter` comes with all that it needs. */
static void put_in(const kn_cuts *cuts, uint8_t *in, uint32_t letter)
{
    for (; letter != KN_NONE; letter = cuts->letters[letter].parent) in[letter] = 1;
}

static void begin_somewhere(const climber *c, uint8_t *in, size_t job, kn_rng *rng)
{
    const kn_cuts *cuts = c->climb->cuts;
    const bool anew = !c->climb->has_best || kn_rng_below(rng, 10) == 0;
    uint32_t n_more = anew ? kn_rng_below(rng, 25) : 2 + kn_rng_below(rng, 6);
    if (anew) memset(in, 0, cuts->n_letters);
    else memcpy(in, c->climb->letters, cuts->n_letters);
    if (c->n_rounds == 0 && job == 0) return;
    if (!anew && kn_rng_below(rng, 2) == 0) { /* some columns begin again: what they used up is free for others */
        for (uint32_t n = 1 + kn_rng_below(rng, 3); n > 0; n--) {
            const uint32_t q = kn_rng_below(rng, cuts->n_columns);
            for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
                if (cuts->letters[letter].q == q) in[letter] = 0;
        }
        n_more = kn_rng_below(rng, 3);
    }
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        if (in[letter] && kn_rng_below(rng, 4) == 0) in[letter] = 0;
    kn_cut_tidy(cuts, in);
    while (cuts->n_letters > 0 && n_more-- > 0) put_in(cuts, in, kn_rng_below(rng, cuts->n_letters));
}

/* The best flip of a phase: letters out, or letters in. KN_NONE: none gains. */
static uint32_t best_flip(const kn_cut_moves *moves, const uint8_t *in, bool out)
{
    const kn_cuts *cuts = moves->cuts;
    uint32_t best = KN_NONE;
    double least = kn_cut_value(cuts, &moves->now);
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        if ((in[letter] != 0) != out || isinf(moves->flipped[letter].cost)) continue;
        const double value = kn_cut_value(cuts, &moves->flipped[letter]);
        if (value < least - 1e-12 * fabs(least)) least = value, best = letter;
    }
    return best;
}

/* Looks at where a descent is; true when it is the cheapest release that it met. */
static bool look(kn_cut_moves *moves, descent *d)
{
    const kn_cuts *cuts = moves->cuts;
    kn_cut_moves_look(moves, d->in, true);
    d->n_looks++;
    if (!kn_cut_is_release(cuts, &moves->now)) return false;
    if (d->has_best && !(moves->now.cost < d->best - 1e-12 * fabs(d->best))) return false;
    d->best = moves->now.cost;
    d->has_best = true;
    memcpy(d->best_in, d->in, cuts->n_letters);
    return true;
}

/* Both phases until neither gains. */
static void descend_from(climber *c, kn_cut_moves *moves, descent *d)
{
    bool gained = true;
    look(moves, d);
    while (gained && !is_over(c)) {
        gained = false;
        for (int phase = 0; phase < 2; phase++) {
            uint32_t letter;
            while ((letter = best_flip(moves, d->in, phase == 0)) != KN_NONE && !is_over(c)) {
                d->in[letter] ^= 1;
                gained = true;
                look(moves, d);
            }
        }
    }
}

/* The next step of a walk; `strict`: what a row suppressed beyond the limit costs, in rows that are suppressed within
 * it. KN_NONE: every letter is barred. */
static uint32_t best_step(const kn_cut_moves *moves, const descent *d, uint32_t step, double strict)
{
    const kn_cuts *cuts = moves->cuts;
    const double row = cuts->bound->suppressed(cuts, 1), price = strict * (row > 0 ? row : 1);
    uint32_t best = KN_NONE;
    double least = INFINITY;
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++) {
        const kn_cut_cost *flipped = &moves->flipped[letter];
        const double over = flipped->n_suppressed - (double)cuts->max_suppressed;
        const double value = flipped->cost + (over > 0 ? over * price : 0);
        if (!(value < least) || flipped->n_suppressed >= cuts->n_rows) continue;
        const bool is_best = over <= 0 && flipped->cost < d->best - 1e-12 * fabs(d->best); /* whatever is barred */
        if (d->barred_until[letter] > step && !is_best) continue;
        least = value;
        best = letter;
    }
    return best;
}

static void walk(climber *c, kn_cut_moves *moves, descent *d, kn_rng *rng)
{
    double strict = 1;
    uint32_t last_gain = 0;
    memset(d->barred_until, 0, c->climb->cuts->n_letters * sizeof *d->barred_until);
    for (uint32_t step = 1; step <= last_gain + STEPS_WITHOUT_GAIN && !is_over(c); step++) {
        const uint32_t letter = best_step(moves, d, step, strict);
        if (letter == KN_NONE) continue;
        d->barred_until[letter] = step + 2 + kn_rng_below(rng, d->in[letter] ? 12 : 6);
        d->in[letter] ^= 1;
        if (look(moves, d)) last_gain = step;
        strict *= moves->now.n_suppressed > (double)c->climb->cuts->max_suppressed ? 1.3 : 0.9;
    }
}

static kn_status descend(void *context, size_t job, unsigned worker, kn_error *err)
{
    climber *c = context;
    descent *d = &c->descents[job];
    kn_cut_moves *moves = c->moves[worker];
    kn_rng rng = kn_rng_new(c->climb->task->seed, c->n_rounds * DESCENTS_PER_ROUND + job);
    const double best = c->climb->best, near = c->climb->has_best ? best + 0.05 * fabs(best) : INFINITY;
    d->n_looks = 0;
    d->has_best = false;
    d->best = INFINITY;
    begin_somewhere(c, d->in, job, &rng);
    descend_from(c, moves, d);
    if (kn_cut_value(c->climb->cuts, &moves->now) < near) walk(c, moves, d, &rng);
    return KN_OK;
}

static bool take_best(climber *c)
{
    kn_climb *climb = c->climb;
    bool gained = false;
    for (size_t i = 0; i < DESCENTS_PER_ROUND; i++) {
        const descent *d = &c->descents[i];
        climb->n_looks += d->n_looks;
        if (!d->has_best || (climb->has_best && !(d->best < climb->best - 1e-12 * fabs(climb->best)))) continue;
        climb->best = d->best;
        climb->has_best = gained = true;
        memcpy(climb->letters, d->best_in, climb->cuts->n_letters);
        if (climb->improved != NULL) climb->improved(climb->user, climb->best);
    }
    return gained;
}

static kn_status climb_rounds(climber *c, kn_error *err)
{
    kn_status status = KN_OK;
    kn_climb *climb = c->climb;
    kn_ticker *ticker = climb->task->ticker;
    kn_error ignored = {0};
    uint64_t last_gain = 0;
    for (;; c->n_rounds++) {
        climb->stopped = KN_STOPPED_BUDGET;
        if (climb->n_looks >= climb->most_looks && c->n_rounds > 0) break;
        climb->stopped = KN_STOPPED_STILL;
        if (!climb->patient && c->n_rounds > last_gain + ROUNDS_WITHOUT_GAIN) break;
        climb->stopped = kn_ticker_cancelled(ticker) ? KN_STOPPED_INTERRUPT : KN_STOPPED_TIME;
        if (c->n_rounds > 0 && is_over(c)) break;
        KN_TRY(kn_pool_run(climb->task->pool, DESCENTS_PER_ROUND, descend, c, err));
        if (take_best(c)) last_gain = c->n_rounds;
        climb->stopped = KN_STOPPED_INTERRUPT;
        if (kn_tick(ticker, "search", -1, &ignored) != KN_OK) break;
    }
done:
    return status;
}

kn_status kn_cut_climb(kn_climb *climb, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cuts *cuts = climb->cuts;
    climber c = {.climb = climb, .n_moves = kn_pool_threads(climb->task->pool)};
    if (climb->seconds > 0) c.until = kn_seconds_now() + climb->seconds;
    KN_TRY(kn_cut_worker_new(&c.worker, cuts, err));
    KN_TRY(kn_cut_merged_items(c.worker, err));
    KN_NEW(c.moves, c.n_moves);
    for (unsigned i = 0; i < c.n_moves; i++)
        KN_TRY(kn_cut_moves_new(&c.moves[i], cuts, &c.worker->frames[0].items, err));
    for (size_t i = 0; i < DESCENTS_PER_ROUND; i++) {
        KN_NEW(c.descents[i].in, cuts->n_letters);
        KN_NEW(c.descents[i].best_in, cuts->n_letters);
        KN_NEW(c.descents[i].barred_until, cuts->n_letters);
    }
    KN_TRY(climb_rounds(&c, err));
done:
    for (unsigned i = 0; c.moves != NULL && i < c.n_moves; i++) kn_cut_moves_free(c.moves[i]);
    for (size_t i = 0; i < DESCENTS_PER_ROUND; i++) {
        kn_free(c.descents[i].in);
        kn_free(c.descents[i].best_in);
        kn_free(c.descents[i].barred_until);
    }
    kn_free(c.moves);
    kn_cut_worker_free(c.worker);
    return status;
}
