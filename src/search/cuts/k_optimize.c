/* k-optimize: the proven best set of cut points, [BA] 4 to 6.
 *
 * In: ordered domains, models, a measure with a bound (cut_bounds.h), --max-suppressed. Out: the cheapest set of cuts,
 * proven; when time, effort or patience end first, the best found and a bound that every release stays above.
 *
 * The tree is searched best-first at the top and depth-first below: open nodes stand in a heap by their bounds; a round
 * takes the 16 lowest, searches each depth-first for some hundred evaluations (cut_search.c), and puts back what is
 * left of them. So the least bound in the heap rises all the time and is what is proven: a depth-first search alone has
 * proven next to nothing until its end. All jobs of a round know the best release of the rounds before it and no more,
 * and are evaluated in their order afterwards: number and size of jobs do not depend on threads, nor does the result.
 * Of several sets of equal cost the first one found in this order is returned.
 *
 * Begins with a release by hill climbing (begin=climb, 7.3 of the paper), with the optimum for twice the k
 * (begin=larger-k, 5.6), or with the optimum without suppression (begin=unsuppressed, 7.2); `cost=` tells one that is
 * known already. */
#include "search/cuts/cut_climb.h"
#include "search/cuts/cut_crew.h"
#include "search/cuts/cut_report.h"
#include "search/cuts/cut_search.h"
#include "search/cuts/cut_state.h"

#include <math.h>
#include <string.h>

enum { JOBS_PER_ROUND = 16, LEAST_EVALUATIONS = 256 };

/* Without --effort a search ends after so many cells of items, less than a minute of one processor. */
static const uint64_t default_cells = 6000000000;

typedef struct optimizer {
    const kn_task *task;
    kn_cuts *cuts;
    kn_cut_worker **workers; /* per thread */
    unsigned n_workers;
    kn_cut_state state; /* open nodes, the best release, counts */
    kn_cut_search jobs[JOBS_PER_ROUND];
    uint8_t *nodes[JOBS_PER_ROUND]; /* where they begin; owned */
    double began;
    kn_saved_search *saved;              /* NULL: nobody goes on later */
    double save_at;                      /* kn_seconds_now() */
    double told;                         /* the bound that was noted last */
    bool is_part;                        /* solves a harder problem for another one */
    uint64_t n_evaluations, n_looked_up; /* of this run */
} optimizer;

/* --- Rounds ---------------------------------------------------------------------------------------------------- */

static kn_status run_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    optimizer *o = context;
    return kn_cut_search_run(&o->jobs[job], o->workers[worker], o->nodes[job], o->task->ticker, err);
}

static void drop_jobs(optimizer *o)
{
    for (size_t i = 0; i < JOBS_PER_ROUND; i++) {
        kn_cut_search *job = &o->jobs[i];
        for (size_t n = 0; n < job->left.n; n++) kn_free(job->left.items[n].state);
        job->left.n = 0;
        kn_free(o->nodes[i]);
        o->nodes[i] = NULL;
    }
}

static void note_best(optimizer *o)
{
    const kn_cut_curve curve = {o->task, o->cuts, o->began};
    kn_cut_curve_note((void *)&curve, o->state.best);
}

/* What the jobs found, in their order; what they left goes back to the open nodes. */
static kn_status gather(optimizer *o, size_t n_jobs, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < n_jobs; i++) {
        kn_cut_search *job = &o->jobs[i];
        o->state.counts.n_nodes += job->counts.n_nodes;
        o->state.counts.n_evaluations += job->counts.n_evaluations;
        o->n_evaluations += job->counts.n_evaluations;
        o->n_looked_up += job->counts.n_looked_up;
        for (int rule = 0; rule < KN_N_CUT_RULES; rule++) o->state.counts.by_rule[rule] += job->counts.by_rule[rule];
        if (job->has_found && job->best < o->state.best) {
            o->state.best = job->best;
            o->state.has_best = true;
            memcpy(o->state.letters, job->found, o->cuts->n_letters);
            note_best(o);
        }
        while (job->left.n > 0) {
            kn_open_node *node = &job->left.items[job->left.n - 1];
            KN_TRY(kn_cut_state_push(&o->state, node->bound, node->state, err));
            job->left.n--;
        }
    }
done:
    return status;
}

/* How long a job may be: longer when there are many open nodes, so that their number stays in bounds. */
static uint64_t evaluations_per_job(size_t n_open, uint32_t n_letters)
{
    enum { MOST_OPEN = 1 << 14, MOST_BYTES = 1 << 23 };
    uint64_t n = LEAST_EVALUATIONS;
    size_t many = MOST_BYTES / (n_letters + 1);
    if (many > MOST_OPEN) many = MOST_OPEN;
    for (many += JOBS_PER_ROUND; n_open > many; many *= 2) n *= 4;
    return n;
}

static kn_status run_round(optimizer *o, kn_error *err)
{
    kn_status status = KN_OK;
    const uint64_t most = evaluations_per_job(o->state.open.n, o->cuts->n_letters);
    size_t n_jobs = 0;
    for (; n_jobs < JOBS_PER_ROUND && o->state.open.n > 0; n_jobs++) {
        kn_cut_search *job = &o->jobs[n_jobs];
        if (o->state.open.items[0].bound >= kn_cut_better(o->cuts, o->state.best)) break;
        o->nodes[n_jobs] = kn_cut_state_pop(&o->state);
        job->best = o->state.best;
        job->has_found = false;
        job->most_evaluations = most;
        job->counts = (kn_cut_counts){0};
    }
    KN_TRY(kn_pool_run(o->task->pool, n_jobs, run_job, o, err));
    KN_TRY(gather(o, n_jobs, err));
done:
    drop_jobs(o);
    return status;
}

static bool is_closed(const optimizer *o)
{
    return o->state.open.n == 0 || o->state.open.items[0].bound >= kn_cut_better(o->cuts, o->state.best);
}

static double proven(const optimizer *o) { return is_closed(o) ? o->state.best : o->state.open.items[0].bound; }

/* What is known now, for whoever keeps it. */
static kn_status save(optimizer *o, kn_saved_search *saved, kn_error *err)
{
    kn_status status = KN_OK;
    const double began = kn_seconds_now();
    KN_TRY(kn_cut_state_save(&saved->next, &o->state, o->cuts, err));
    if (saved->keep != NULL) KN_TRY(saved->keep(saved->user, &saved->next, err));
    const double now = kn_seconds_now(), pause = 20 * (now - began); /* saving takes a twentieth of the time at most */
    o->save_at = now + (pause > saved->every_seconds ? pause : saved->every_seconds);
done:
    return status;
}

/* The bound over time, in some hundred points: where there are more, every second one goes. */
static void note_bound(optimizer *o)
{
    enum { MOST_POINTS = 400 };
    kn_trace *trace = o->task->trace;
    kn_error *err = NULL;
    kn_status status = KN_OK;
    if (trace == NULL || o->is_part || !isfinite(proven(o)) || !(proven(o) > o->told)) return;
    o->told = proven(o);
    const kn_trace_point point = {kn_seconds_now() - o->began, kn_cuts_loss(o->cuts, o->told)};
    if (trace->bounds.n == MOST_POINTS) {
        trace->bounds.n /= 2;
        for (size_t i = 0; i < trace->bounds.n; i++) trace->bounds.items[i] = trace->bounds.items[2 * i];
    }
    KN_PUSH(&trace->bounds, point);
done:
    (void)status; /* a curve with a point less */
}

static kn_status run_rounds(kn_stopped *stopped, optimizer *o, kn_error *err)
{
    kn_status status = KN_OK;
    kn_ticker *ticker = o->task->ticker;
    kn_error ignored = {0};
    const uint64_t effort = o->task->effort;
    *stopped = KN_STOPPED_DONE;
    while (!is_closed(o)) {
        *stopped = kn_ticker_cancelled(ticker) ? KN_STOPPED_INTERRUPT : KN_STOPPED_TIME;
        if (kn_ticker_out_of_time(ticker)) goto done;
        *stopped = KN_STOPPED_BUDGET;
        if (effort > 0 ? o->n_evaluations >= effort : o->n_looked_up >= default_cells) goto done;
        *stopped = KN_STOPPED_INTERRUPT;
        if (kn_tick(ticker, "search", -1, &ignored) != KN_OK) goto done;
        KN_TRY(run_round(o, err));
        note_bound(o);
        if (o->saved != NULL && o->saved->keep != NULL && kn_seconds_now() >= o->save_at)
            KN_TRY(save(o, o->saved, err));
    }
    *stopped = KN_STOPPED_DONE;
done:
    return status;
}

/* --- Beginning ------------------------------------------------------------------------------------------------- */

/* Takes a set of letters as the best release, if it is one and cheaper. */
static kn_status offer(optimizer *o, const uint8_t *letters, kn_error *err)
{
    kn_status status = KN_OK;
    double cost, n_suppressed;
    KN_TRY(kn_cut_letters_cost(&cost, &n_suppressed, o->workers[0], letters, err));
    if (!(cost < o->state.best) || n_suppressed > (double)o->task->max_suppressed) goto done;
    o->state.best = cost;
    o->state.has_best = true;
    memcpy(o->state.letters, letters, o->cuts->n_letters);
    note_best(o);
done:
    return status;
}

static void note_climb(void *user, double cost)
{
    optimizer *o = user;
    const double best = o->state.best;
    if (!(cost < best)) return;
    o->state.best = cost;
    note_best(o);
    o->state.best = best;
}

static kn_status begin_by_climbing(optimizer *o, kn_error *err)
{
    kn_status status = KN_OK;
    enum { MOST_LOOKS = 4000, MOST_WORK = 500000000 };
    kn_climb climb = {.cuts = o->cuts,
                      .task = o->task,
                      .most_looks = MOST_LOOKS,
                      .most_work = MOST_WORK,
                      .improved = note_climb,
                      .user = o};
    KN_NEW(climb.letters, o->cuts->n_letters + (size_t)1);
    KN_TRY(kn_cut_climb(&climb, err));
    if (climb.has_best) KN_TRY(offer(o, climb.letters, err));
done:
    kn_free(climb.letters);
    return status;
}

static kn_status optimize(kn_stopped *stopped, optimizer *o, double more_rows, bool climb, kn_error *err);
static void clean_up(optimizer *o);

/* The optimum of a harder problem is a release of this one: for twice the rows in a class, or without suppression. */
static kn_status begin_by_harder(optimizer *o, double more_rows, uint64_t max_suppressed, kn_error *err)
{
    kn_status status = KN_OK;
    kn_task task = *o->task;
    kn_stopped stopped;
    optimizer harder = {.task = &task, .began = o->began, .is_part = true};
    task.max_suppressed = max_suppressed;
    KN_TRY(optimize(&stopped, &harder, more_rows, true, err));
    if (harder.state.has_best) KN_TRY(offer(o, harder.state.letters, err));
done:
    clean_up(&harder);
    return status;
}

static kn_status begin(optimizer *o, bool climb, kn_error *err)
{
    kn_status status = KN_OK;
    uint8_t *root = NULL;
    const kn_args *args = o->task->args;
    if (!o->is_part && kn_args_get(args, "cost")->chosen) {
        const double cost = kn_cuts_cost(o->cuts, kn_args_number(args, "cost"));
        o->state.best = nextafter(cost + 1e-9 * fabs(cost), INFINITY); /* what costs as much is welcome */
    }
    if (!o->is_part && kn_args_is(args, "begin", "larger-k"))
        KN_TRY(begin_by_harder(o, 2, o->task->max_suppressed, err));
    if (!o->is_part && kn_args_is(args, "begin", "unsuppressed")) KN_TRY(begin_by_harder(o, 1, 0, err));
    if (climb) KN_TRY(begin_by_climbing(o, err));
    KN_NEW_RAW(root, o->cuts->n_letters + (size_t)1);
    memset(root, KN_LETTER_TAIL, o->cuts->n_letters + (size_t)1);
    uint8_t *taken = root;
    root = NULL;
    KN_TRY(kn_cut_state_push(&o->state, -INFINITY, taken, err));
done:
    kn_free(root);
    return status;
}

/* --- All of it ------------------------------------------------------------------------------------------------- */

static kn_status prepare(optimizer *o, double more_rows, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cuts_new(&o->cuts, o->task, more_rows, err));
    o->state.n_letters = o->cuts->n_letters;
    o->state.best = INFINITY;
    o->told = -INFINITY;
    KN_NEW(o->state.letters, o->cuts->n_letters + (size_t)1);
    for (size_t i = 0; i < JOBS_PER_ROUND; i++) {
        o->jobs[i].cuts = o->cuts;
        KN_NEW(o->jobs[i].found, o->cuts->n_letters + (size_t)1);
    }
    o->n_workers = kn_pool_threads(o->task->pool);
    KN_NEW(o->workers, o->n_workers);
    for (unsigned i = 0; i < o->n_workers; i++) KN_TRY(kn_cut_worker_new(&o->workers[i], o->cuts, err));
done:
    return status;
}

static void clean_up(optimizer *o)
{
    drop_jobs(o);
    for (size_t i = 0; i < JOBS_PER_ROUND; i++) {
        kn_free(o->jobs[i].found);
        kn_free(o->jobs[i].left.items);
    }
    for (unsigned i = 0; o->workers != NULL && i < o->n_workers; i++) kn_cut_worker_free(o->workers[i]);
    kn_free(o->workers);
    kn_cut_state_free(&o->state);
    kn_cuts_free(o->cuts);
}

/* Looks at the best release that was saved again: it may be the one that is returned, and no bound vouches for it. */
static kn_status check_best(optimizer *o, kn_error *err)
{
    kn_status status = KN_OK;
    double cost, n_suppressed;
    if (!o->state.has_best) return KN_OK;
    KN_TRY(kn_cut_letters_cost(&cost, &n_suppressed, o->workers[0], o->state.letters, err));
    if (n_suppressed > (double)o->task->max_suppressed || !(fabs(cost - o->state.best) <= 1e-9 * (fabs(cost) + 1)))
        KN_FAIL(KN_INPUT, "it is damaged");
done:
    return status;
}

/* What another run knew. */
static kn_status load(optimizer *o, kn_error *err)
{
    kn_error own = {0};
    kn_status status = kn_cut_state_load(&o->state, o->cuts, o->saved->bytes, o->saved->n_bytes, &own);
    if (status == KN_OK) status = check_best(o, &own);
    if (status == KN_OK && !o->state.has_best && isfinite(o->state.best) && !kn_args_get(o->task->args, "cost")->chosen)
        status = kn_error_set(&own, KN_INPUT, "it was saved by a search that was told cost=, and this one was not");
    if (status != KN_INPUT) return kn_error_pass(err, status, &own);
    return kn_error_set(err, status, "%.1000s cannot be gone on with: %s; remove it, or name another file",
                        o->saved->name != NULL ? o->saved->name : "what was saved", own.message);
}

static kn_status optimize(kn_stopped *stopped, optimizer *o, double more_rows, bool climb, kn_error *err)
{
    kn_status status = KN_OK;
    o->saved = o->is_part ? NULL : o->task->saved;
    const bool resumes = o->saved != NULL && o->saved->bytes != NULL;
    KN_TRY(prepare(o, more_rows, err));
    if (resumes) KN_TRY(load(o, err));
    if (resumes && o->state.has_best) note_best(o);
    if (!resumes) KN_TRY(begin(o, climb, err));
    KN_TRY(run_rounds(stopped, o, err));
    if (o->saved != NULL) KN_TRY(save(o, o->saved, err));
done:
    return status;
}

/* What was counted, for the JSON and the explanation. */
static kn_status list_counts(kn_trace *trace, const optimizer *o, kn_error *err)
{
    static const struct {
        const char *key, *text;
    } rules[KN_N_CUT_RULES] = {
        {"closed_by_bound", "nodes closed by their bound"},
        {"closed_by_suppression", "nodes closed because they suppress too many rows"},
        {"dropped_by_bound", "letters dropped by the bound with them"},
        {"dropped_by_suppression", "letters dropped because they suppress too many rows"},
        {"dropped_as_useless", "letters dropped because they gain nowhere"},
        {"taken_at_once", "letters taken at once because they cost nothing"},
    };
    kn_status status = KN_OK;
    const kn_cut_counts *counts = &o->state.counts;
    const kn_trace_count totals[] = {{"letters", "letters", o->cuts->n_letters},
                                     {"nodes", "nodes visited", counts->n_nodes},
                                     {"evaluations", "evaluations", counts->n_evaluations},
                                     {"open", "nodes left open", is_closed(o) ? 0 : o->state.open.n}};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) KN_PUSH(&trace->counts, totals[i]);
    for (int rule = 0; rule < KN_N_CUT_RULES; rule++) {
        const kn_trace_count count = {rules[rule].key, rules[rule].text, counts->by_rule[rule]};
        KN_PUSH(&trace->counts, count);
    }
done:
    return status;
}

static void explain(const optimizer *o)
{
    const kn_trace *trace = o->task->trace;
    kn_buffer *text = &o->task->trace->explanation;
    for (size_t i = 0; i < trace->counts.n; i++)
        kn_buffer_printf(text, "%12llu %s\n", (unsigned long long)trace->counts.items[i].n,
                         trace->counts.items[i].text);
    for (size_t i = 0; i < trace->bounds.n; i += 1 + trace->bounds.n / 10)
        kn_buffer_printf(text, "after %.1f s: no release loses less than %.6g\n", trace->bounds.items[i].seconds,
                         trace->bounds.items[i].loss);
    if (!is_closed(o))
        kn_buffer_printf(text, "proven: no release loses less than %.6g; the best found loses %.6g\n",
                         kn_cuts_loss(o->cuts, proven(o)), kn_cuts_loss(o->cuts, o->state.best));
}

static kn_status search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    optimizer o = {.task = task, .began = kn_seconds_now()};
    kn_stopped stopped;
    KN_TRY(optimize(&stopped, &o, 1, !kn_args_is(task->args, "begin", "nothing"), err));
    if (task->trace != NULL) KN_TRY(list_counts(task->trace, &o, err));
    if (task->trace != NULL && task->trace->explain) explain(&o);
    if (!o.state.has_best && is_closed(&o) && isfinite(o.state.best))
        KN_FAIL(KN_NOT_MET, "no set of cuts loses as little as cost=%s says; leave it out",
                kn_args_text(task->args, "cost"));
    if (!o.state.has_best && is_closed(&o))
        KN_FAIL(KN_NOT_MET, "no set of cuts meets the models, not even the whole table as one class; allow more "
                            "suppressed rows with --max-suppressed, or ask for less");
    if (!o.state.has_best && stopped == KN_STOPPED_INTERRUPT)
        KN_FAIL(KN_INTERRUPTED, "interrupted before a release was found; nothing was written");
    if (!o.state.has_best)
        KN_FAIL(KN_NOT_MET,
                "no release was found before the search had to stop; allow it more time, or more suppressed "
                "rows with --max-suppressed, or ask for less");
    KN_TRY(kn_cuts_answer(answer, o.cuts, o.state.letters, err));
    answer->stopped = stopped;
    answer->n_nodes = o.state.counts.n_evaluations;
    answer->optimal = is_closed(&o);
    answer->bound = isfinite(proven(&o)) ? kn_cuts_loss(o.cuts, proven(&o)) : (double)NAN;
done:
    clean_up(&o);
    return status;
}

/* A guess at what nobody knows beforehand. Measured on a census table, and within a factor of three there: evaluations
 * grow with letters and with what k leaves to cut, ten times as many where rows may be suppressed. */
static double expected_seconds(const kn_task *task)
{
    enum { FIRST_LOOKS = 4000 };
    const kn_tuples *t = task->tuples;
    const double seconds_per_cell = 6e-9, k = fmax(1, (double)task->models->min_persons);
    double n_letters = 0;
    for (uint32_t q = 0; q < t->n_qis; q++) n_letters += t->domains[q]->n_codes - 1.0;
    double n_evaluations = 5 * n_letters * sqrt((double)t->n_rows / k) * (task->max_suppressed > 0 ? 10 : 1);
    if (task->effort > 0) n_evaluations = fmin(n_evaluations, (double)task->effort);
    const double n_cells = n_evaluations * t->n_tuples * t->n_qis / 8;
    kn_task first = *task;
    first.effort = FIRST_LOOKS;
    return seconds_per_cell * (task->effort > 0 ? n_cells : fmin(n_cells, (double)default_cells)) +
           fmin(kn_cut_expected_seconds(&first, FIRST_LOOKS), 2);
}

static const kn_param params[] = {
    KN_CUTS_PARAMS,
    {.name = "begin",
     .type = KN_PARAM_CHOICE,
     .choices = "climb|nothing|larger-k|unsuppressed",
     .preset = "climb",
     .help = "the first release: by hill climbing, none, or the optimum for twice the k or without suppression"},
    {.name = "cost", .type = KN_PARAM_NUMBER, .min = 0, .max = 1e300, .help = "a loss that is known to be possible"},
};

const kn_algorithm kn_algorithm_k_optimize = {
    .name = "k-optimize",
    .summary = "the proven best cut points per column, by set enumeration and bounds",
    .citation = "Bayardo, Agrawal, Data privacy through optimal k-anonymization, 2005",
    .recoding = KN_RECODING_CUTS,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .exact = true,
    .can_resume = true,
    .seconds = expected_seconds,
    .search = search,
};
