/* The best local recoding we know: annealing, repair, large-neighbourhood search.
 *
 * In: tuples, models, a measure that is a sum over cells. Out: a class per row. No paper; the starting point is the
 * sequential clustering of Goldberger and Tassa (2010), the last phase is large-neighbourhood search (Shaw 1998).
 *
 *   0. cut        large tables only: the classes of mondrian, repaired, so that a release is there early
 *   1. start      random classes of half the size that is needed or less, then greedy sweeps
 *   2. anneal     one record after the other moves, under falling noise; small classes are possible but pay for it
 *   3. repair     classes that break a model are dissolved or merged. From here on every state holds all models
 *   4. rebuild    small groups of near classes are built anew and kept when not worse, until the budget is used up;
 *                 on small tables also when a little worse, at first: the best state of that time is where it goes on
 *                 (several times over where they have few classes: the best of these is the answer)
 *
 * Each phase works in *epochs* (cluster_epochs.c): the classes are cut into blocks of some ten thousand records, along
 * another order each time, and the blocks are independent jobs. So time is linear in the number of rows.
 *
 * Polishing begins with the classes of another search (polish.h): large ones are split, then 4.
 *
 * A release exists whenever the whole table as one class satisfies the models: repair merges until everything holds.
 * Work is counted in looks of one record at the classes of its block. Left to itself the search ends when it stands
 * still (is_still), or after so many looks as take a few seconds for ordinary tables; with `effort` it takes what it
 * is given, unless there is nothing left to lose. A time limit that is too short for the budget shortens the annealing,
 * so that all phases fit; where it is very short, mondrian's classes come first, and what is not ready in time is given
 * up for them. */
#include "search/cluster/cluster_epochs.h"
#include "search/cluster/polish.h"

#include <math.h>
#include <string.h>

enum {
    GREEDY_SWEEPS = 2,
    MAX_EPOCH_SWEEPS = 4,
    /* Of annealing. Repair undoes much of what more of them gain, and rebuilding makes better use of the time: 10,000
     * generated people, k = 5, after 4 CPU seconds 0.9, 1.6 and 3.0 % above what a long search finds with 8, 15 and 30
     * sweeps; k = 10: 1.2, 2.2 and 1.8; Adult with hierarchies, k = 5: -0.1, 0.3 and 0.4. */
    SWEEPS = 8,
    CUT_RECORDS = 200000, /* beyond this many, mondrian's classes are there first */
    CUT_K = 20,           /* from this k on mondrian's classes are where intervals and sets begin */
    LARGE_K = 500,        /* from this k on the budget falls */
    REPLICAS = 4,         /* of the rebuilding, for small tables of few classes, while it is hot */
    REPLICAS_KEPT = 2,    /* afterwards */
};
/* Temperatures in mean prices of a row after the greedy sweeps; HOT is for k = 10 and rises with the size of the
 * classes. Penalties, and the noise of the greedy sweeps, in mean root prices of a column. */
static const double HOT = 0.1, HOT_POWER = 0.4, COLD = 0.03, GREEDY = 0.02, PENALTY_FIRST = 3, PENALTY_LAST = 6;
static const double ANNEAL_SHARE = 0.4; /* of the budget */
static const double REPAIR_SWEEPS = 2;  /* repair takes less time than so many sweeps */
static const double CUT_SECONDS =
    2e-5; /* per record: with less time than that, too, mondrian's classes are there first */
static const double TRIES_PER_CLASS = 20; /* rebuilding, per epoch */
/* Rebuilding stands still when the second half of its work gained less than this part of the loss. What is left to gain
 * falls with every doubling, so a budget several times as large would gain about twice that. */
static const double STILL = 0.003;
/* That is asked only after so many looks, the sum of these. Small tables stay on a plateau for a while and then gain
 * several percent at once; how long depends on the number of classes that there are to try, each of which must have had
 * its turn some ten times over. Where there are many, what they gain together shows sooner. */
static const double LEAST_REBUILD = 20000, LEAST_PER_RECORD = 2, LEAST_PER_CLASS = 1000, MAX_FOR_CLASSES = 400000;
static const double NEAR_NOISE = 1.8; /* mean prices of a row: brings in other neighbours than the very nearest */
/* Rebuilding with heat, where the budget has so many looks for a record: a part of the budget, in which the heat halves
 * so many times. With 400 looks, two seeds, LM without heat and with it: 1,171 patients of Synthea, k = 50, 0.2009 and
 * 0.1917; 1,000 of german, k = 5, 0.1142 and 0.1135; 1,000 generated people, k = 50, 0.2703 and 0.2699. Larger tables
 * gain nothing: Adult, k = 5, is where it was, 5,000 of febrl, k = 50, 0.5 % above. */
static const double HEAT = 0.01, HEAT_SHARE = 0.2, HEAT_HALVINGS = 4, HEAT_LOOKS = 150;
/* A table is rebuilt several times where that takes no more than some four CPU seconds: a look takes as long as so many
 * records and k more. 1,171 patients of Synthea, k = 50, four seeds: 0.1975 once, 0.1956 twice, 0.1929 as below; 1,000
 * generated people, k = 50: 0.2700, 0.2688 and 0.2688. */
static const double LOOK_RECORDS = 30, MAX_REPLICA_COST = 4.5e7;
static const uint64_t REPLICA_SEED = 0x9e3779b97f4a7c15; /* the next one's seed is that much higher */
static const double ROW_SECONDS = 3.3e-4; /* of CPU time, which the default budget may take in any case */
/* And which it may not exceed: small tables are done in two to three seconds of two threads. */
static const double MAX_SECONDS = 4.5, MAX_ROW_SECONDS = 1.8e-3;
static const double LOOK_SHARE = 0.75; /* of what look_seconds says: what a search is expected to take */
static const double COLD_PER_HOT = 2;  /* looks at least without heat, per look with it, before it may stand still */

/* --- The phases ------------------------------------------------------------------------------------------------- */

static double column_units(const kn_cluster_search *run)
{
    return (double)run->problem->root_units / (run->problem->tuples->n_qis > 0 ? run->problem->tuples->n_qis : 1);
}

/* What a row costs on average after the last epoch. */
static double row_units(const kn_cluster_search *run)
{
    double units = (double)run->exact / run->problem->n_records * run->problem->root_units * 0x1p-30;
    return units > 1 ? units : 1;
}

/* Classes that have next to nothing in common leave the greedy sweeps free to find what belongs together: random
 * records, though each block takes them from one stretch of the sorted table. */
static void shuffle_blocks(kn_cluster_search *run)
{
    uint64_t n = run->problem->n_records;
    uint32_t *members = run->now.members;
    for (uint32_t b = 0; b < run->n_blocks; b++) {
        uint32_t first = (uint32_t)(n * b / run->n_blocks), last = (uint32_t)(n * (b + 1) / run->n_blocks);
        for (uint32_t i = last; i-- > first + 1;) {
            uint32_t x = first + kn_rng_below(&run->rng, i - first + 1), record = members[i];
            members[i] = members[x];
            members[x] = record;
        }
    }
}

/* Half of what a class needs, and less than that where it needs many: small classes have more in common. */
static uint32_t first_class_size(uint32_t k)
{
    if (k <= 3) return 1;
    return k <= 10 ? k / 2 : (uint32_t)(1.6 * sqrt(k));
}

/* Sorted records, cut into blocks, shuffled, and cut into small classes. */
static kn_status start(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = run->problem->n_records, size = first_class_size(run->problem->k);
    KN_TRY(kn_cluster_sort_records(run, err));
    shuffle_blocks(run);
    run->now.n = n / size > 0 ? n / size : 1;
    for (uint32_t c = 0; c <= run->now.n; c++) run->now.start[c] = (uint32_t)((uint64_t)n * c / run->now.n);
    double units = column_units(run);
    kn_cluster_job greedy = {
        .op = KN_CLUSTER_GREEDY, .n_sweeps = GREEDY_SWEEPS, .hot = GREEDY * units, .cold = GREEDY * units};
    run->began_sweeps = kn_seconds_now();
    KN_TRY(kn_cluster_epoch(run, &greedy, err));
done:
    return status;
}

/* Makes the classes of an answer the present state. Rows that the problem has set aside are missing from them. */
static kn_status take_classes(kn_cluster_search *run, const uint32_t *row_class, uint32_t n_classes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_solution *now = &run->now;
    uint32_t n = run->problem->n_records, *place = NULL, at = 0;
    const uint32_t *record_row = run->problem->record_row;
    KN_NEW(place, (size_t)n_classes + 1); /* the last one is for suppressed rows */
    for (uint32_t i = 0; i < n; i++)
        place[row_class[record_row[i]] == KN_NONE ? n_classes : row_class[record_row[i]]]++;
    now->n_suppressed = place[n_classes];
    for (uint32_t c = 0; c <= n_classes; c++) { /* sizes become places; classes without a record are left out */
        uint32_t size = place[c];
        place[c] = at;
        if (size > 0 && c < n_classes) now->start[now->n++] = at;
        at += size;
    }
    now->start[now->n] = n - now->n_suppressed;
    for (uint32_t i = 0; i < n; i++)
        now->members[place[row_class[record_row[i]] == KN_NONE ? n_classes : row_class[record_row[i]]]++] = i;
done:
    kn_free(place);
    return status;
}

/* The classes of mondrian: there in a second or two per million rows, long before annealing has got as far. Repair sees
 * to those that miss rows which were set aside; where time is over by then they are the answer (`cuts`) as they are,
 * since each cut left two sides that hold. Who asks to stop before there is any release waits for this one; who asks
 * again gets none. */
static kn_status start_from_cuts(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_algorithm *mondrian = kn_algorithm_find("mondrian");
    kn_args args = {0};
    kn_answer cuts = {0};
    kn_task task = *run->task;
    KN_TRY(kn_args_parse(&args, mondrian->name, mondrian->params, mondrian->n_params, NULL, err));
    task.args = &args;
    task.trace = NULL;
    kn_error ignored = {0};
    status = mondrian->search(&cuts, &task, &ignored);
    if (status == KN_INTERRUPTED) {
        atomic_store(&run->stop, true);
        run->is_interrupted = true;
        kn_ticker_serve(task.ticker);
        kn_answer_free(&cuts);
        status = mondrian->search(&cuts, &task, err);
    } else if (status != KN_OK) {
        kn_error_pass(err, status, &ignored);
    }
    if (status != KN_OK) goto done;
    if (cuts.n_classes > 1 && (atomic_load(&run->stop) || kn_ticker_out_of_time(task.ticker))) {
        atomic_store(&run->stop, true);
        run->cuts = cuts;
        cuts = (kn_answer){0};
        goto done;
    }
    KN_TRY(take_classes(run, cuts.row_class, cuts.n_classes, err));
done:
    kn_args_free(&args);
    kn_answer_free(&cuts);
    return status;
}

static kn_status anneal(kn_cluster_search *run, uint32_t n_sweeps, kn_error *err)
{
    kn_status status = KN_OK;
    double units = column_units(run), price = row_units(run), cold = price * COLD;
    double hot = price * HOT * pow(run->problem->k / 10.0, HOT_POWER);
    uint32_t n_epochs = (n_sweeps + MAX_EPOCH_SWEEPS - 1) / MAX_EPOCH_SWEEPS, done_sweeps = 0;
    for (uint32_t e = 0; e < n_epochs && !atomic_load(&run->stop); e++) {
        double from = (double)e / n_epochs, to = (double)(e + 1) / n_epochs;
        uint32_t upto = (uint32_t)((uint64_t)n_sweeps * (e + 1) / n_epochs);
        kn_cluster_job job = {.op = KN_CLUSTER_ANNEAL,
                              .n_sweeps = upto - done_sweeps,
                              .hot = hot * pow(cold / hot, from),
                              .cold = hot * pow(cold / hot, to),
                              .penalty_first = units * (PENALTY_FIRST + (PENALTY_LAST - PENALTY_FIRST) * from),
                              .penalty_last = units * (PENALTY_FIRST + (PENALTY_LAST - PENALTY_FIRST) * to)};
        done_sweeps = upto;
        KN_TRY(kn_cluster_epoch(run, &job, err));
    }
done:
    return status;
}

/* In blocks; when a block cannot make all its classes hold, again in half as many, at last in one. Sets `feasible`
 * unless not even that helps, or it was given up. */
static kn_status repair(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_blocks = run->n_blocks, n_bad = 0;
    kn_cluster_job job = {.op = KN_CLUSTER_REPAIR, .repair = true, .may_give_up = run->has_saved};
    for (;;) {
        KN_TRY(kn_cluster_epoch(run, &job, err));
        if (kn_cluster_given_up(run)) goto done;
        n_bad = 0;
        for (uint32_t b = 0; b < run->n_blocks; b++) n_bad += run->results[b].n_bad;
        if (n_bad == 0 || run->n_blocks == 1) break;
        run->n_blocks = (run->n_blocks + 1) / 2;
    }
    run->feasible = n_bad == 0;
    KN_TRY(kn_cluster_note_loss(run, err));
done:
    for (uint32_t b = run->n_blocks; b < n_blocks; b++) run->results[b] = (kn_cluster_block_result){0};
    run->n_blocks = n_blocks;
    return status;
}

static kn_status must_be_feasible(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    if (!run->feasible && !kn_cluster_given_up(run))
        KN_FAIL(KN_NOT_MET, "not even the whole table as one class satisfies the models; relax them or drop a column");
done:
    return status;
}

/* Before so many looks of rebuilding nobody asks whether it stands still. */
static double least_rebuild(double n_records, double n_classes)
{
    return LEAST_REBUILD + LEAST_PER_RECORD * n_records + fmin(LEAST_PER_CLASS * n_classes, MAX_FOR_CLASSES);
}

/* Has the rebuilding come to a stand? Asked before its first epoch and after each. Where nothing is lost there is
 * nothing to gain. */
static kn_status look_for_stillness(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_standing now = {run->work, run->exact};
    KN_PUSH(&run->standings, now);
    const kn_cluster_standing *all = run->standings.items;
    uint64_t done = now.work - all[0].work;
    while (run->half + 1 < run->standings.n && all[run->half + 1].work - all[0].work <= done / 2) run->half++;
    run->is_still = now.exact == 0;
    double least = fmax(least_rebuild(run->problem->n_records, run->now.n), COLD_PER_HOT * (double)run->hot_work);
    if (run->task->effort == 0 && (double)done >= least)
        run->is_still |= (double)(all[run->half].exact - now.exact) < STILL * (double)now.exact;
done:
    return status;
}

static kn_cluster_job rebuilding(const kn_cluster_search *run, double heat)
{
    kn_cluster_job job = {.op = KN_CLUSTER_REBUILD,
                          .tries_per_class = TRIES_PER_CLASS,
                          .near_noise = NEAR_NOISE * row_units(run),
                          .heat = heat};
    job.max_work = UINT64_MAX;
    if (run->by_time) return job;
    /* A try costs about two looks and one more per eight records. */
    double left = (double)(run->budget - run->work);
    double tries = left / (2 + run->problem->k * 3 / 8.0) / run->now.n;
    if (tries < job.tries_per_class) job.tries_per_class = tries;
    job.max_work = (uint64_t)left / run->n_blocks + 1;
    return job;
}

/* No limit worth the name, or nothing to generalize. */
static bool asks_nothing(const kn_task *task)
{
    const kn_models *models = task->models;
    return task->tuples->n_qis == 0 ||
           (models->counts_only && models->min_persons <= 1 && task->tuples->row_person == NULL);
}

/* What a look takes, measured within a factor of two from 1,000 to 30,000 rows: a part that goes by the vectors of a
 * record, more of them where classes are large, and one by the lanes of all classes of a block, which are scanned. */
static double look_seconds(const kn_task *task, double n_classes, double k)
{
    uint32_t n_equal = 0, n_ranges = 0, n_union = 0, n_folded = 0;
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain *domain = task->tuples->domains[q];
        uint32_t n_lanes = (domain->n_codes + KN_LANES - 1) / KN_LANES;
        const bool is_set = domain->kind == KN_DOMAIN_SETS;
        n_ranges += domain->kind == KN_DOMAIN_RANGES;
        n_equal += domain->tree != NULL ? domain->tree->n_levels - 1 : !is_set;
        if (domain->groups != NULL) n_equal += domain->groups->n_levels - 1;
        if (is_set) n_union += n_lanes < KN_SET_LANES ? n_lanes : KN_SET_LANES;
        if (is_set) n_folded += n_lanes < KN_FOLDED_LANES ? n_lanes : KN_FOLDED_LANES;
    }
    double vectors = ceil(n_equal / 16.0) + ceil(n_ranges / 8.0) + ceil(n_union / 16.0);
    return 9e-7 * vectors * (1 + 0.35 * log2(fmax(k / 5, 1))) * (task->models->counts_only ? 1 : 1.3) +
           4.4e-11 * n_classes * (n_equal + 2 * n_ranges + n_folded);
}

/* Intervals and sets take longer to price than labels; then a table of 10,000 rows has what two threads do in some two
 * seconds, and more where columns are few and have few values, so that a look takes little: Adult without hierarchies.
 * Models that look at sensitive values refuse most of what is tried, so that they need more: by that number of
 * looks they have lost what took 2,000,000 before groups were priced exactly and ways tried as often as they gain
 * (docs/experiments/time.md). Large classes take several times as long per look, and few of them need fewer. */
static double looks_by_size(const kn_task *task, uint32_t n_records)
{
    double n = n_records, looks = fmin(fmax(2e6, 12 * n), 2000 * n);
    double few = task->models->counts_only ? 5e5 + 40 * n : fmax(fmin(5e5 + 150 * n, 1.25e6), 40 * n);
    bool has_trees_only = true;
    for (uint32_t q = 0; q < task->tuples->n_qis; q++)
        has_trees_only = has_trees_only && task->tuples->domains[q]->kind == KN_DOMAIN_TREE;
    double k = fmax((double)task->models->min_persons, 1), n_rows = (double)task->tuples->n_rows;
    if (task->models->counts_only) few = fmax(few, ROW_SECONDS * n_rows / look_seconds(task, n / k / 2, 1));
    few = fmin(few, fmax(MAX_SECONDS, MAX_ROW_SECONDS * n_rows) / look_seconds(task, n / k / 2, k));
    if (!has_trees_only && n < 5e4) looks = fmin(looks, few);
    double least = (SWEEPS + 4) * n + 2 * least_rebuild(n, n / k);
    return fmin(looks, fmax(looks * LARGE_K / k, least));
}

static bool has_heat_by_size(const kn_task *task, uint32_t n_records)
{
    return task->models->counts_only && looks_by_size(task, n_records) >= HEAT_LOOKS * n_records;
}

/* How many times the looks of one rebuilding are taken: of several where a table is small and one block. */
static double times_looks(const kn_task *task, uint32_t n_records)
{
    const uint64_t k = task->models->min_persons > 1 ? task->models->min_persons : 1;
    const double cost = looks_by_size(task, n_records) * ((double)k + LOOK_RECORDS);
    if (!has_heat_by_size(task, n_records) || cost > MAX_REPLICA_COST) return 1;
    if (kn_cluster_count_blocks(n_records, k) > 1) return 1;
    return HEAT_SHARE * REPLICAS + (1 - HEAT_SHARE) * REPLICAS_KEPT;
}

static uint64_t budget_of(const kn_task *task, uint32_t n_records)
{
    if (task->effort > 0) return task->effort;
    return (uint64_t)(looks_by_size(task, n_records) * times_looks(task, n_records));
}

/* Measured, within a factor of three: with so few classes a search soon stands still. Of several threads no more have
 * work than there are blocks. Many looks end early, and idle cores are faster than those look_seconds was measured on.
 */
static double expected_seconds(const kn_task *task)
{
    double n = (double)task->tuples->n_rows, k = fmax((double)task->models->min_persons, 1);
    double n_blocks = kn_cluster_count_blocks(task->tuples->n_rows, (uint64_t)k),
           n_threads = kn_pool_threads(task->pool);
    double times = times_looks(task, (uint32_t)n), n_parts = times > 1 ? REPLICAS_KEPT : n_blocks;
    double looks = (double)budget_of(task, (uint32_t)n);
    if (times == 1) looks = fmin(looks, (SWEEPS + 4) * n + 6 * least_rebuild(n, n / k));
    double seconds = LOOK_SHARE * look_seconds(task, n / k / n_blocks, k) * looks * fmax(1, n_threads / n_parts);
    return asks_nothing(task) ? 0 : seconds;
}

static double seconds_left(const kn_cluster_search *run)
{
    const kn_ticker *ticker = run->task->ticker;
    return ticker != NULL && ticker->search_deadline > 0 ? ticker->search_deadline - kn_seconds_now() : INFINITY;
}

/* How many sweeps of annealing fit into the budget. A time limit below it is found from the speed so far. */
static uint32_t plan(kn_cluster_search *run)
{
    double n = run->problem->n_records, budget = (double)run->budget;
    const kn_ticker *ticker = run->task->ticker;
    if (ticker != NULL && ticker->search_deadline > 0) {
        double now = kn_seconds_now(), seconds_per_look = (now - run->began_sweeps) / (GREEDY_SWEEPS * n);
        double affordable = (ticker->search_deadline - now) / seconds_per_look;
        if (affordable < budget) {
            run->by_time = true;
            budget = affordable > 0 ? affordable : 0;
        }
    }
    return (uint32_t)fmax(fmin(fmin(ANNEAL_SHARE * budget / n, budget / n - REPAIR_SWEEPS), SWEEPS), 0);
}

/* --- A state that is put by ----------------------------------------------------------------------------------------
 */

/* The present state, which holds all models, is put by: what comes next may be given up for it. */
static kn_status put_by(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = run->problem->n_records;
    if (run->saved.start == NULL) {
        KN_NEW_RAW(run->saved.start, (size_t)n + 1);
        KN_NEW_RAW(run->saved.members, n);
    }
    kn_cluster_copy_solution(&run->saved, &run->now, n);
    run->saved_exact = run->exact;
    run->has_saved = true;
done:
    return status;
}

/* It is the present state again where that is worse, or was given up (not `feasible`). */
static void take_back(kn_cluster_search *run)
{
    run->has_saved = false;
    if (!run->feasible || run->exact > run->saved_exact) {
        kn_cluster_copy_solution(&run->now, &run->saved, run->problem->n_records);
        run->exact = run->saved_exact;
    }
    run->feasible = true;
    kn_free(run->saved.start);
    kn_free(run->saved.members);
    run->saved = (kn_cluster_solution){0};
}

/* --- Rebuilding, epoch by epoch ------------------------------------------------------------------------------- */

/* Where there are so many looks for a record that sites may become a little worse at first. */
static bool has_heat(const kn_cluster_search *run)
{
    const double looks = looks_by_size(run->task, run->problem->n_records);
    return has_heat_by_size(run->task, run->problem->n_records) && !run->by_time && (double)run->budget >= looks / 2 &&
           run->now.n >= 2;
}

/* And so many, given or not, that there is enough for several, and time: a short limit is better used by one. */
static bool has_replicas(const kn_cluster_search *run)
{
    const uint32_t n = run->problem->n_records;
    const double times = times_looks(run->task, n);
    if (seconds_left(run) < expected_seconds(run->task)) return false;
    return has_heat(run) && times > 1 && (double)run->budget >= times / 2 * looks_by_size(run->task, n);
}

static kn_status begin_cold(kn_cluster_search *run, kn_error *err)
{
    run->phase = KN_CLUSTER_COLD;
    if (kn_ticker_out_of_time(run->task->ticker)) atomic_store(&run->stop, true);
    return look_for_stillness(run, err);
}

/* heat 0: none. */
static kn_status begin_rebuilding(kn_cluster_search *run, double heat, kn_error *err)
{
    run->phase = KN_CLUSTER_HOT;
    run->heat = heat;
    run->hot_began = run->work;
    return heat > 0 ? put_by(run, err) : begin_cold(run, err);
}

/* With heat sites may become a little worse, less and less so; of all states that it comes to the best stays. It takes
 * the same looks whatever the budget is, so that more of it goes on from where less of it ends. */
static kn_status rebuild_hot(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    double looks = HEAT_SHARE * looks_by_size(run->task, run->problem->n_records);
    double part = (double)(run->work - run->hot_began) / looks;
    kn_cluster_job job = rebuilding(run, run->heat * exp2(-HEAT_HALVINGS * part));
    if (part < 1 && !atomic_load(&run->stop) && run->work < run->budget && job.tries_per_class >= 1) {
        KN_TRY(kn_cluster_epoch(run, &job, err));
        if (!atomic_load(&run->stop) && run->exact < run->saved_exact) KN_TRY(put_by(run, err));
        goto done;
    }
    run->hot_work = run->work - run->hot_began;
    run->feasible = !atomic_load(&run->stop); /* blocks that were told to stop may have left nothing */
    take_back(run);
    KN_TRY(begin_cold(run, err));
done:
    return status;
}

static kn_status rebuild_cold(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    run->phase = KN_CLUSTER_DONE;
    if (atomic_load(&run->stop) || run->is_still || !(run->by_time || run->work < run->budget)) goto done;
    kn_cluster_job job = rebuilding(run, 0);
    if (run->standings.n > 1 && job.tries_per_class < 1) goto done; /* less than it costs to load the blocks */
    KN_TRY(kn_cluster_epoch(run, &job, err));
    KN_TRY(look_for_stillness(run, err));
    run->phase = KN_CLUSTER_COLD;
done:
    return status;
}

static kn_status rebuild_epoch(kn_cluster_search *run, kn_error *err)
{
    return run->phase == KN_CLUSTER_HOT ? rebuild_hot(run, err) : rebuild_cold(run, err);
}

static kn_status rebuild(kn_cluster_search *run, double heat, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(begin_rebuilding(run, heat, err));
    while (run->phase != KN_CLUSTER_DONE) KN_TRY(rebuild_epoch(run, err));
done:
    return status;
}

/* --- The same several times over ------------------------------------------------------------------------------ */

/* Small tables of few classes are one block, which leaves threads without work, and where the heat takes them is a
 * matter of luck: so they are rebuilt several times from the same state, every other time with twice the heat. The
 * better half of them goes on without heat, and the best is the answer. */
typedef struct replicas {
    kn_cluster_phase phase; /* who is beyond it waits for the others */
    kn_task task[REPLICAS];
    kn_cluster_search run[REPLICAS];
} replicas;

static kn_status replica_epoch(void *context, size_t number, unsigned worker, kn_error *err)
{
    kn_cluster_search *run = &((replicas *)context)->run[number];
    (void)worker;
    return run->phase == ((const replicas *)context)->phase ? rebuild_epoch(run, err) : KN_OK;
}

/* They all go on from the present state; nobody asks them from outside, and they tell nobody. */
static kn_status begin_replicas(replicas *all, const kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t r = 0; r < REPLICAS; r++) {
        all->task[r] = *run->task;
        all->task[r].seed += r * REPLICA_SEED;
        all->task[r].pool = NULL;
        all->task[r].ticker = NULL; /* blocks look at the problem's */
        all->task[r].trace = NULL;
        KN_TRY(kn_cluster_search_copy(&all->run[r], run, &all->task[r], err));
        KN_TRY(begin_rebuilding(&all->run[r], HEAT * (1 + r % 2), err));
    }
done:
    return status;
}

/* The best state that any of them has come to. */
static void gather_replicas(kn_cluster_search *run, const replicas *all, uint64_t began)
{
    run->work = began;
    for (uint32_t r = 0; r < REPLICAS; r++) {
        const kn_cluster_search *one = &all->run[r];
        const kn_cluster_solution *best = &one->now;
        int64_t exact = one->exact;
        run->work += one->work;
        if (atomic_load(&one->stop)) atomic_store(&run->stop, true);
        if (one->has_saved && (one->saved_exact < exact || atomic_load(&one->stop))) {
            best = &one->saved;
            exact = one->saved_exact;
        }
        if (exact >= run->exact) continue;
        kn_cluster_copy_solution(&run->now, best, run->problem->n_records);
        run->exact = exact;
        run->is_still = one->is_still;
    }
}

/* What is left is for the best of them. */
static void choose_replicas(const kn_cluster_search *run, replicas *all)
{
    const uint64_t left = run->budget > run->work ? run->budget - run->work : 0;
    for (uint32_t r = 0; r < REPLICAS; r++) {
        kn_cluster_search *one = &all->run[r];
        uint32_t n_better = 0;
        for (uint32_t x = 0; x < REPLICAS; x++)
            n_better += all->run[x].exact < one->exact || (all->run[x].exact == one->exact && x < r);
        one->budget = one->work + left / REPLICAS_KEPT;
        if (n_better >= REPLICAS_KEPT) one->phase = KN_CLUSTER_DONE;
    }
}

static kn_status rebuild_replicas(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    replicas *all = NULL;
    const uint64_t began = run->work;
    KN_NEW(all, 1);
    KN_TRY(begin_replicas(all, run, err));
    while (all->phase != KN_CLUSTER_DONE) {
        KN_TRY(kn_pool_run(run->task->pool, REPLICAS, replica_epoch, all, err));
        gather_replicas(run, all, began);
        KN_TRY(kn_cluster_tell(run, err));
        if (atomic_load(&run->stop)) break;
        kn_cluster_phase first = KN_CLUSTER_DONE;
        for (uint32_t r = 0; r < REPLICAS; r++) first = all->run[r].phase < first ? all->run[r].phase : first;
        if (first == KN_CLUSTER_COLD && all->phase == KN_CLUSTER_HOT) choose_replicas(run, all);
        all->phase = first;
    }
done:
    for (uint32_t r = 0; all != NULL && r < REPLICAS; r++) kn_cluster_search_free(&all->run[r]);
    kn_free(all);
    return status;
}

/* --- From records to rows --------------------------------------------------------------------------------------- */

static kn_status answer_rows(kn_answer *answer, const kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cluster_problem *problem = run->problem;
    const kn_cluster_solution *now = &run->now;
    KN_NEW_RAW(answer->row_class, run->task->tuples->n_rows);
    for (uint32_t c = 0; c < now->n; c++)
        for (uint32_t x = now->start[c]; x < now->start[c + 1]; x++)
            answer->row_class[problem->record_row[now->members[x]]] = c;
    for (uint32_t x = 0; x < now->n_suppressed; x++)
        answer->row_class[problem->record_row[now->members[now->start[now->n] + x]]] = KN_NONE;
    for (uint32_t c = 0; c < problem->n_reserved; c++)
        for (uint32_t x = problem->reserved_start.items[c]; x < problem->reserved_start.items[c + 1]; x++)
            answer->row_class[problem->reserved_rows.items[x]] = now->n + c;
    answer->n_classes = now->n + problem->n_reserved;
done:
    return status;
}

static kn_stopped why_stopped(kn_cluster_search *run)
{
    if (!atomic_load(&run->stop)) return run->is_still ? KN_STOPPED_STILL : KN_STOPPED_BUDGET;
    if (run->is_interrupted) return KN_STOPPED_INTERRUPT;
    kn_ticker *ticker = run->task->ticker;
    bool late = ticker->search_deadline > 0 && kn_seconds_now() >= ticker->search_deadline;
    return late && !kn_ticker_cancelled(ticker) ? KN_STOPPED_TIME : KN_STOPPED_INTERRUPT;
}

static kn_cluster_engine *choose_engine(const char *name)
{
#if defined(__x86_64__)
    if (kn_has_avx2() && strcmp(name, "plain") != 0) return kn_cluster_run_avx2;
#endif
    return kn_cluster_run_plain;
}

/* These classes, as they are. */
static kn_status answer_given(kn_answer *answer, const kn_task *task, const uint32_t *row_class, uint32_t n_classes,
                              kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(answer->row_class, task->tuples->n_rows);
    memcpy(answer->row_class, row_class, task->tuples->n_rows * sizeof *row_class);
    answer->n_classes = n_classes;
done:
    return status;
}

/* Closures of random records are whole columns where there are intervals and sets: of large classes annealing finds
 * few, and cuts find good ones at once. Generated people, k = 20, 50, 200: 1 % more, then 7 and 5 % less loss than from
 * annealing at equal work, Adult without hierarchies 5, 10 and 12 % less, 20,000 people at k = 1000 15 % less. With
 * hierarchies it is 0.2 to 1.7 % more. */
static bool begins_with_cuts(const kn_cluster_search *run)
{
    const kn_tuples *tuples = run->task->tuples;
    if (run->problem->k < CUT_K) return false;
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (tuples->domains[q]->kind != KN_DOMAIN_TREE) return true;
    return false;
}

/* The first state that holds all models: annealed, or cut, or the better of the two. Large tables are cut first, so
 * that a release is there early; what annealing finds replaces it when it is better, and is given up when time is over.
 * Under models that look at sensitive values too: annealing does not see them, and repair may have to join everything.
 */
static kn_status reach_feasible(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_args *args = run->task->args;
    uint32_t n = run->problem->n_records;
    bool large = n > CUT_RECORDS || seconds_left(run) < CUT_SECONDS * n, by_values = !run->problem->counts_only;
    bool by_cuts = kn_args_is(args, "start", "cuts") || (kn_args_is(args, "start", "auto") && begins_with_cuts(run));
    bool cuts = by_cuts || (kn_args_is(args, "start", "auto") && (large || by_values)), anneals = !by_cuts;
    if (cuts) {
        KN_TRY(start_from_cuts(run, err));
        if (run->cuts.row_class != NULL) goto done;
        cuts = run->now.n > 0;
    }
    if (cuts) {
        KN_TRY(repair(run, err));
        KN_TRY(must_be_feasible(run, err));
        if (!anneals || atomic_load(&run->stop)) goto done;
        KN_TRY(put_by(run, err));
        run->now.n_suppressed = 0;
        run->feasible = false;
        run->epoch = 0;
    }
    KN_TRY(start(run, err));
    KN_TRY(anneal(run, plan(run), err));
    if (!cuts && kn_args_is(args, "start", "auto") && kn_ticker_cancelled(run->task->ticker)) {
        run->now.n = 0; /* what is half annealed takes longer to repair than cuts, and loses more */
        KN_TRY(start_from_cuts(run, err));
        if (run->cuts.row_class != NULL) goto done;
    }
    KN_TRY(repair(run, err));
    KN_TRY(must_be_feasible(run, err));
    if (cuts) take_back(run);
done:
    return status;
}

static kn_status cluster_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_search run = {.task = task, .began = kn_seconds_now()};
    *answer = (kn_answer){.recoding = KN_RECODING_LOCAL, .bound = NAN};
    if (asks_nothing(task)) { /* every tuple is a class of its own */
        answer->optimal = task->objective->type->monotone;
        return answer_given(answer, task, task->tuples->row_tuple, task->tuples->n_tuples, err);
    }
    run.engine = choose_engine(kn_args_text(task->args, "engine"));
    KN_TRY(kn_cluster_search_begin(&run, true, err));
    if (run.problem->n_records > 0) {
        run.budget = budget_of(task, run.problem->n_records);
        KN_TRY(reach_feasible(&run, err));
        if (run.cuts.row_class != NULL) {
            KN_TRY(answer_given(answer, task, run.cuts.row_class, run.cuts.n_classes, err));
        } else if (has_replicas(&run)) {
            KN_TRY(rebuild_replicas(&run, err));
        } else {
            KN_TRY(rebuild(&run, has_heat(&run) ? HEAT : 0, err));
        }
    }
    if (answer->row_class == NULL) KN_TRY(answer_rows(answer, &run, err));
    answer->stopped = why_stopped(&run);
    answer->n_nodes = run.work;
done:
    kn_cluster_search_free(&run);
    if (status != KN_OK) kn_answer_free(answer);
    return status;
}

/* --- From given classes ------------------------------------------------------------------------------------------- */

/* Prices are rounded, each cell's by less than one: what gains no more than that over all cells may have gained
 * nothing. */
static int64_t rounding(const kn_cluster_search *run)
{
    return (int64_t)run->problem->n_records * run->problem->tuples->n_qis;
}

/* Sets `*better` when the search got below the given classes; they stand in `now` at first. */
static kn_status improve(bool *better, kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_job look = {.op = KN_CLUSTER_REPAIR};
    KN_TRY(kn_cluster_epoch(run, &look, err));
    int64_t given = run->exact;
    if (kn_ticker_out_of_time(run->task->ticker)) atomic_store(&run->stop, true);
    if (atomic_load(&run->stop) || run->work >= run->budget) goto done;
    KN_TRY(repair(run, err));
    if (!run->feasible) goto done; /* persons count at one of their rows here: classes that hold may seem not to */
    KN_TRY(rebuild(run, 0, err));
    *better = given - run->exact > rounding(run);
done:
    return status;
}

kn_status kn_cluster_polish(kn_answer *answer, bool *better, const kn_task *task, const uint32_t *row_class,
                            uint32_t n_classes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_search run = {.task = task, .engine = choose_engine("auto"), .began = kn_seconds_now()};
    *answer = (kn_answer){.recoding = KN_RECODING_LOCAL, .bound = NAN};
    *better = false;
    KN_TRY(kn_algorithm_fits(kn_algorithm_find("cluster"), task, err));
    if (!asks_nothing(task) && task->tuples->n_rows > 0) {
        KN_TRY(kn_cluster_search_begin(&run, false, err));
        run.budget = budget_of(task, run.problem->n_records);
        KN_TRY(take_classes(&run, row_class, n_classes, err));
        if (run.now.n > 0) KN_TRY(improve(better, &run, err));
    }
    if (*better) KN_TRY(answer_rows(answer, &run, err));
    else KN_TRY(answer_given(answer, task, row_class, n_classes, err));
    answer->stopped = why_stopped(&run);
    answer->n_nodes = run.work;
done:
    kn_cluster_search_free(&run);
    if (status != KN_OK) kn_answer_free(answer);
    return status;
}

static const kn_param params[] = {
    {.name = "start",
     .type = KN_PARAM_CHOICE,
     .preset = "auto",
     .choices = "auto|anneal|cuts",
     .help =
         "anneal: from random small classes; cuts: from mondrian's classes; auto: from k=20 on cuts, unless "
         "all columns have hierarchies; for more than 200,000 rows, and with models beyond class sizes, the better of "
         "both"},
    {.name = "engine",
     .type = KN_PARAM_CHOICE,
     .preset = "auto",
     .choices = "auto|plain",
     .help = "auto: the fastest vector instructions of this machine; plain: none of them (the answer is the same)"},
};

const kn_algorithm kn_algorithm_cluster = {
    .name = "cluster",
    .summary = "classes of rows by annealing and large-neighbourhood search: the least loss we know",
    .citation = "after Goldberger and Tassa, Efficient anonymizations with enhanced utility, 2010, 6.3; Shaw 1998",
    .recoding = KN_RECODING_LOCAL,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs_cell_measure = true,
    .asks_must_pay = true,
    .seconds = expected_seconds,
    .search = cluster_search,
};
