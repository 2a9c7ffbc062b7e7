/* Iterated hill climbing, after [BA] 7.3: the paper takes letters out, always the one that gains most, until none
 * gains; then puts them in, likewise; and so on until neither gains. Then again from somewhere else.
 *
 * Departs from the paper. A column is not climbed letter by letter: the best of all its sets of cuts is taken, the
 * other columns being as they are (cut_column.c), one column after the other until none gains. Where that ends neither
 * phase gains; the two phases are left for letters that are nodes. And descents do not always begin at random: most
 * begin at the best set with one to three columns changed, and these are held until the others have settled around
 * them, so that they are not just changed back. On a census table both together find in a second what letters and
 * random beginnings miss by several percent in ten.
 *
 * Descents of a round are independent jobs that begin at the best of the rounds before, with random numbers of their
 * own: the same result for any number of threads. Cost: some ten columns per descent. */
#include "search/cuts/cut_climb.h"

#include "base/rng.h"
#include "search/cuts/cut_crew.h"

#include <math.h>
#include <string.h>

enum { DESCENTS_PER_ROUND = 4, ROUNDS_WITHOUT_GAIN = 300 };

typedef struct descent {
    uint8_t *in;
    bool held[KN_MOST_COLUMNS]; /* columns that are left as they are while the others settle */
    double value;
    uint64_t n_looks, work;
    bool is_release;
} descent;

typedef struct climber {
    kn_climb *climb;
    kn_cut_crew crew;
    descent descents[DESCENTS_PER_ROUND];
    uint64_t n_rounds;
    double until; /* kn_seconds_now() */
} climber;

static bool is_over(const climber *c)
{
    return kn_ticker_out_of_time(c->climb->task->ticker) || (c->until > 0 && kn_seconds_now() >= c->until);
}

/* A descent has its share of the work that is left. */
static bool has_done_enough(const climber *c, const descent *d, const kn_cut_moves *moves)
{
    const uint64_t left = c->climb->most_work - c->climb->work;
    return is_over(c) || moves->work - d->work >= left / DESCENTS_PER_ROUND;
}

/* `letter` comes with all that it needs. */
static void put_in(const kn_cuts *cuts, uint8_t *in, uint32_t letter)
{
    for (; letter != KN_NONE; letter = cuts->letters[letter].parent) in[letter] = 1;
}

static void clear_column(const kn_cuts *cuts, uint8_t *in, uint32_t q)
{
    for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
        if (cuts->letters[letter].q == q) in[letter] = 0;
}

/* Another beginning than the best set: some columns anew, to which the others then have to fit. */
static void change_columns(const kn_cuts *cuts, descent *d, kn_rng *rng)
{
    for (uint32_t n = 1 + kn_rng_below(rng, 3); n > 0; n--) {
        const uint32_t letter = kn_rng_below(rng, cuts->n_letters), q = cuts->letters[letter].q;
        d->held[q] = true;
        switch (kn_rng_below(rng, 4)) {
        case 0: clear_column(cuts, d->in, q); break;
        case 1: d->in[letter] ^= 1; break;
        default:
            clear_column(cuts, d->in, q);
            put_in(cuts, d->in, letter);
            for (uint32_t more = kn_rng_below(rng, 4); more > 0; more--) {
                const uint32_t other = kn_rng_below(rng, cuts->n_letters);
                if (cuts->letters[other].q == q) put_in(cuts, d->in, other);
            }
        }
    }
}

static void begin_somewhere(const climber *c, descent *d, size_t job, kn_rng *rng)
{
    const kn_cuts *cuts = c->climb->cuts;
    const bool anew = !c->climb->has_best || kn_rng_below(rng, 10) == 0;
    uint8_t *in = d->in;
    memset(d->held, 0, sizeof d->held);
    if (anew) memset(in, 0, cuts->n_letters);
    else memcpy(in, c->climb->letters, cuts->n_letters);
    if ((c->n_rounds == 0 && job == 0) || cuts->n_letters == 0) return;
    if (!anew && kn_rng_below(rng, 4) > 0) {
        change_columns(cuts, d, rng);
    } else {
        for (uint32_t letter = 0; letter < cuts->n_letters; letter++)
            if (in[letter] && kn_rng_below(rng, 4) == 0) in[letter] = 0;
        for (uint32_t n = anew ? kn_rng_below(rng, 25) : 2 + kn_rng_below(rng, 6); n > 0; n--)
            put_in(cuts, in, kn_rng_below(rng, cuts->n_letters));
    }
    kn_cut_tidy(cuts, in);
}

/* Every column as good as it can be with the others, in a random order, until none gains; first those that are not
 * held, then all. */
static void settle_columns(climber *c, kn_cut_path *path, kn_cut_moves *moves, descent *d, kn_rng *rng)
{
    const uint32_t n = c->climb->cuts->n_columns;
    uint32_t order[KN_MOST_COLUMNS];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = kn_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    kn_cut_moves_look(moves, d->in, false);
    d->n_looks++;
    for (int stage = 0; stage < 2; stage++)
        for (uint32_t i = 0, last_gain = 0; i < last_gain + n && !has_done_enough(c, d, moves); i++) {
            const uint32_t q = order[i % n];
            if (stage == 0 && d->held[q]) continue;
            d->n_looks++;
            if (kn_cut_column_best(path, moves, d->in, q, rng)) last_gain = i + 1;
        }
}

/* Both phases until neither gains. */
static void descend_by_letters(climber *c, kn_cut_moves *moves, descent *d)
{
    static const unsigned phases[] = {KN_FLIP_OUT, KN_FLIP_IN};
    bool gained = true;
    kn_cut_moves_look(moves, d->in, true);
    d->n_looks++;
    while (gained && !has_done_enough(c, d, moves)) {
        gained = false;
        for (int phase = 0; phase < 2; phase++)
            while (!has_done_enough(c, d, moves) && kn_cut_flip(moves, d->in, phases[phase], &d->n_looks))
                gained = true;
    }
}

static kn_status descend(void *context, size_t job, unsigned worker, kn_error *err)
{
    climber *c = context;
    const kn_cuts *cuts = c->climb->cuts;
    descent *d = &c->descents[job];
    kn_cut_moves *moves = c->crew.moves[worker];
    kn_rng rng = kn_rng_new(c->climb->task->seed, c->n_rounds * DESCENTS_PER_ROUND + job);
    double before;
    d->n_looks = 0;
    d->work = moves->work;
    begin_somewhere(c, d, job, &rng);
    do {
        settle_columns(c, c->crew.paths[worker], moves, d, &rng);
        before = kn_cut_value(cuts, &moves->now);
        if (cuts->has_nodes) descend_by_letters(c, moves, d);
    } while (kn_cut_value(cuts, &moves->now) < before && !has_done_enough(c, d, moves));
    d->work = moves->work - d->work;
    d->value = kn_cut_value(cuts, &moves->now);
    d->is_release = kn_cut_is_release(cuts, &moves->now);
    return KN_OK;
}

static bool take_best(climber *c)
{
    kn_climb *climb = c->climb;
    bool gained = false;
    for (size_t i = 0; i < DESCENTS_PER_ROUND; i++) {
        const descent *d = &c->descents[i];
        climb->n_looks += d->n_looks;
        climb->work += d->work;
        if (!d->is_release || (climb->has_best && !(d->value < climb->best - 1e-12 * fabs(climb->best)))) continue;
        climb->best = d->value;
        climb->has_best = gained = true;
        memcpy(climb->letters, d->in, climb->cuts->n_letters);
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
        if ((climb->n_looks >= climb->most_looks || climb->work >= climb->most_work) && c->n_rounds > 0) break;
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
    climber c = {.climb = climb};
    if (climb->seconds > 0) c.until = kn_seconds_now() + climb->seconds;
    KN_TRY(kn_cut_crew_new(&c.crew, cuts, climb->task->pool, err));
    for (size_t i = 0; i < DESCENTS_PER_ROUND; i++) KN_NEW(c.descents[i].in, cuts->n_letters);
    KN_TRY(climb_rounds(&c, err));
done:
    for (size_t i = 0; i < DESCENTS_PER_ROUND; i++) kn_free(c.descents[i].in);
    kn_cut_crew_free(&c.crew);
    return status;
}
