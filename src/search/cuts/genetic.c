/* genetic: Iyengar's genetic algorithm over cut points (Transforming data to satisfy privacy constraints, 2002; [BA]
 * 2).
 *
 * An individual is a set of letters, as a string of bits in the order of the columns. A generation replaces all but the
 * best two: parents are the better of two drawn at random, a child takes its bits from one parent up to a random place
 * and from the other beyond it, and each bit flips with a chance of one in the number of letters. Sets that suppress
 * too much live on at a price, so that populations can pass through them.
 *
 * Departs from the paper in the sizes, which are parameters, and in mending: letters that lack what they need go, and a
 * child is born with three columns, drawn at random, cut as well as they can be (cut_column.c; where letters are nodes,
 * with the best three flips made), because crossing two releases hardly ever gives one. (Without that, Adult at k=100
 * ended 18 % above the optimum; with flips alone at k=25 11 %.) The children of a generation are independent jobs with
 * random numbers of their own: the same for any number of threads. Ends after `patience` generations without gain, or
 * when effort (looks at a set and its neighbours) or time end.
 * Nothing is proven. */
#include "search/cuts/cut_crew.h"
#include "search/cuts/cut_report.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

typedef struct individual {
    uint8_t *in;
    double value;
    uint64_t n_looks, work;
    bool is_release;
} individual;

typedef struct breeder {
    const kn_task *task;
    kn_cuts *cuts;
    kn_cut_crew crew;
    uint32_t n;              /* of a generation */
    individual *old, *young; /* [n] each, the best first */
    uint8_t *letters;        /* the best release */
    double best;
    bool has_best;
    uint64_t generation, n_looks, work;
} breeder;

enum { N_ELITE = 2, N_MENDED = 3 };

static const individual *draw_parent(const breeder *b, kn_rng *rng)
{
    const uint32_t one = kn_rng_below(rng, b->n), other = kn_rng_below(rng, b->n);
    return &b->old[one < other ? one : other]; /* they are sorted */
}

/* The first generation: the empty set, then sets of more and more letters. */
static void make_first(const breeder *b, uint8_t *in, size_t i, kn_rng *rng)
{
    const uint32_t n_letters = b->cuts->n_letters;
    const double share = (double)i / b->n * 0.5;
    for (uint32_t letter = 0; letter < n_letters; letter++) in[letter] = kn_rng_unit(rng) < share;
}

static void make_child(const breeder *b, uint8_t *in, kn_rng *rng)
{
    const uint32_t n_letters = b->cuts->n_letters;
    const individual *mother = draw_parent(b, rng), *father = draw_parent(b, rng);
    const uint32_t at = kn_rng_below(rng, n_letters + 1);
    memcpy(in, mother->in, at);
    memcpy(in + at, father->in + at, n_letters - at);
    for (uint32_t letter = 0; letter < n_letters; letter++)
        if (kn_rng_below(rng, n_letters) == 0) in[letter] ^= 1;
}

/* Three columns, drawn at random, as good as they can be. */
static void mend(const breeder *b, individual *one, unsigned worker, kn_rng *rng)
{
    const kn_cuts *cuts = b->cuts;
    kn_cut_moves *moves = b->crew.moves[worker];
    const uint64_t before = moves->work;
    if (cuts->has_nodes) {
        one->n_looks = kn_cut_descend(moves, one->in, N_MENDED, b->task->ticker);
    } else {
        kn_cut_moves_look(moves, one->in, false);
        for (int i = 0; i < N_MENDED && !kn_ticker_out_of_time(b->task->ticker); i++)
            kn_cut_column_best(b->crew.paths[worker], moves, one->in, kn_rng_below(rng, cuts->n_columns), rng);
        one->n_looks = 1 + N_MENDED;
    }
    one->work = moves->work - before;
    one->value = kn_cut_value(cuts, &moves->now);
    one->is_release = kn_cut_is_release(cuts, &moves->now);
}

static kn_status make_one(void *context, size_t job, unsigned worker, kn_error *err)
{
    breeder *b = context;
    individual *young = &b->young[job];
    kn_rng rng = kn_rng_new(b->task->seed, b->generation * b->n + job);
    if (b->generation > 0 && job < N_ELITE) {
        uint8_t *in = young->in;
        *young = b->old[job];
        young->in = in;
        young->n_looks = young->work = 0; /* it was looked at before */
        memcpy(in, b->old[job].in, b->cuts->n_letters);
        return KN_OK;
    }
    if (b->generation == 0) make_first(b, young->in, job, &rng);
    else make_child(b, young->in, &rng);
    kn_cut_tidy(b->cuts, young->in);
    mend(b, young, worker, &rng);
    return KN_OK;
}

/* The best first; equals as they came. */
static void sort(individual *all, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const individual one = all[i];
        uint32_t at = i;
        for (; at > 0 && all[at - 1].value > one.value; at--) all[at] = all[at - 1];
        all[at] = one;
    }
}

static kn_status breed(bool *gained, breeder *b, kn_cut_curve *curve, kn_error *err)
{
    kn_status status = KN_OK;
    *gained = false;
    KN_TRY(kn_pool_run(b->task->pool, b->n, make_one, b, err));
    for (uint32_t i = 0; i < b->n; i++) {
        b->n_looks += b->young[i].n_looks;
        b->work += b->young[i].work;
    }
    individual *swap = b->old;
    b->old = b->young;
    b->young = swap;
    sort(b->old, b->n);
    const individual *best = &b->old[0];
    if (!best->is_release || (b->has_best && !(best->value < b->best - 1e-12 * fabs(b->best)))) goto done;
    b->best = best->value;
    b->has_best = *gained = true;
    memcpy(b->letters, best->in, b->cuts->n_letters);
    kn_cut_curve_note(curve, b->best);
done:
    return status;
}

static kn_status evolve(kn_stopped *stopped, breeder *b, kn_cut_curve *curve, kn_error *err)
{
    kn_status status = KN_OK;
    kn_ticker *ticker = b->task->ticker;
    kn_error ignored = {0};
    const uint64_t patience = (uint64_t)kn_args_number(b->task->args, "patience"), effort = b->task->effort;
    uint64_t last_gain = 0;
    for (;; b->generation++) {
        bool gained;
        *stopped = KN_STOPPED_BUDGET;
        if (effort > 0 ? b->n_looks >= effort : b->work >= KN_CUTS_DEFAULT_WORK) break;
        *stopped = KN_STOPPED_STILL;
        if (effort == 0 && b->generation > last_gain + patience) break;
        *stopped = kn_ticker_cancelled(ticker) ? KN_STOPPED_INTERRUPT : KN_STOPPED_TIME;
        if (b->generation > 0 && kn_ticker_out_of_time(ticker)) break;
        KN_TRY(breed(&gained, b, curve, err));
        if (gained) last_gain = b->generation;
        *stopped = KN_STOPPED_INTERRUPT;
        if (kn_tick(ticker, "search", -1, &ignored) != KN_OK) break;
    }
done:
    return status;
}

static kn_status prepare(breeder *b, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cuts_new(&b->cuts, b->task, 1, err));
    KN_TRY(kn_cut_crew_new(&b->crew, b->cuts, b->task->pool, err));
    b->n = (uint32_t)kn_args_number(b->task->args, "population");
    KN_NEW(b->letters, b->cuts->n_letters + (size_t)1);
    KN_NEW(b->old, b->n);
    KN_NEW(b->young, b->n);
    for (uint32_t i = 0; i < b->n; i++) {
        KN_NEW(b->old[i].in, b->cuts->n_letters + (size_t)1);
        KN_NEW(b->young[i].in, b->cuts->n_letters + (size_t)1);
    }
done:
    return status;
}

static void clean_up(breeder *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        if (b->old != NULL) kn_free(b->old[i].in);
        if (b->young != NULL) kn_free(b->young[i].in);
    }
    kn_free(b->old);
    kn_free(b->young);
    kn_free(b->letters);
    kn_cut_crew_free(&b->crew);
    kn_cuts_free(b->cuts);
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    breeder b = {.task = task};
    kn_stopped stopped;
    KN_TRY(prepare(&b, err));
    kn_cut_curve curve = {task, b.cuts, kn_seconds_now()};
    KN_TRY(evolve(&stopped, &b, &curve, err));
    KN_TRY(kn_cut_found(answer, b.cuts, b.has_best ? b.letters : NULL, stopped, b.n_looks, err));
done:
    clean_up(&b);
    return status;
}

static double expected_seconds(const kn_task *task)
{
    const double n_generations = 30 + kn_args_number(task->args, "patience");
    return kn_cut_expected_seconds(task, n_generations * kn_args_number(task->args, "population") * (1 + N_MENDED));
}

static const kn_param params[] = {
    KN_CUTS_PARAMS,
    {.name = "population",
     .type = KN_PARAM_INT,
     .preset = "40",
     .min = 4,
     .max = 10000,
     .help = "sets of a generation"},
    {.name = "patience",
     .type = KN_PARAM_INT,
     .preset = "40",
     .min = 1,
     .max = 1000000,
     .help = "generations without gain after which it ends"},
};

const kn_algorithm kn_algorithm_genetic = {
    .name = "genetic",
    .summary = "good cut points per column, by crossing and mutating sets of cuts",
    .citation = "Iyengar, Transforming data to satisfy privacy constraints, 2002",
    .recoding = KN_RECODING_CUTS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .seconds = expected_seconds,
    .search = search,
};
