/* The best local recoding we know: annealing, repair, large-neighbourhood run.
 *
 * In: tuples, models, a measure that is a sum over cells. Out: a class per row. No paper; the starting point is the
 * sequential clustering of Goldberger and Tassa (2010), the last phase is large-neighbourhood search (Shaw 1998).
 *
 *   0. cut        large tables only: the classes of mondrian, repaired, so that a release is there early
 *   1. start      random classes of half the size that is needed or less, then greedy sweeps
 *   2. anneal     one record after the other moves, under falling noise; small classes are possible but pay for it
 *   3. repair     classes that break a model are dissolved or merged. From here on every state holds all models
 *   4. rebuild    small groups of near classes are built anew and kept when not worse, until the budget is used up
 *
 * Each phase works in *epochs*: classes are sorted by a random member under a random order of the lanes (lanes that
 * classes keep tend to come first), cut into blocks of some ten thousand records, and the blocks are independent jobs.
 * The next epoch cuts along another order. So time is linear in the number of rows, memory beyond two integers per row
 * is that of one block per thread, and the answer does not depend on the number of threads: a job's randomness comes
 * from its epoch and number.
 *
 * A release exists whenever the whole table as one class satisfies the models: repair merges until everything holds.
 * Work is counted in looks of one record at the classes of its block. Left to itself the search ends when it stands
 * still (is_still), or after so many looks as take a few seconds for ordinary tables; with `effort` it takes what it
 * is given, unless there is nothing left to lose. A time limit that is too short for the budget shortens the annealing,
 * so that all phases fit; where it is very short, mondrian's classes come first, and what is not ready in time is given
 * up for them. */
#include "search/cluster/cluster_lanes.h"
#include "base/radix_sort.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK_RECORDS = 24000, /* up to 100,000 records; then less, because scans cost as much as a block is large */
    LEAST_BLOCK_RECORDS = 6000,
    SPLIT_RECORDS = 6000,   /* from this size on there are two blocks, so that two threads have work */
    CLASSES_PER_BLOCK = 64, /* at least so many of them */
    GREEDY_SWEEPS = 2,
    MAX_EPOCH_SWEEPS = 4,
    /* Sweeps of annealing at most: up to k = 10, then as much less as k is larger, and no more than fit into so many
     * looks. Repair undoes much of what more of them gain, and rebuilding makes better use of the time. */
    MAX_SWEEPS = 60,
    LEAST_SWEEPS = 8,
    ANNEAL_LOOKS = 300000,
    CUT_RECORDS = 200000, /* beyond this many, mondrian's classes are there first */
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
static const double LEAST_REBUILD = 20000, LEAST_PER_RECORD = 2; /* looks before it may stand still: their sum */
static const double NEAR_NOISE = 1.8; /* mean prices of a row: brings in other neighbours than the very nearest */

typedef struct block_result {
    uint32_t n_classes, n_suppressed;
    uint32_t n_bad; /* classes that break a model, after repair */
    uint64_t work;
    int64_t exact; /* sum over rows */
} block_result;

/* Where the rebuilding stood after an epoch. */
typedef struct standing {
    uint64_t work;
    int64_t exact;
} standing;

typedef struct cluster_run {
    const kn_task *task;
    kn_cluster_problem *problem;
    kn_cluster_engine *engine;
    kn_cluster_solution now, next; /* next.start holds sizes, block by block, while an epoch runs */
    uint32_t n_blocks, n_workers, max_block_records;
    kn_cluster_block **blocks; /* per worker */
    const kn_cluster_job *job;
    uint64_t *keys;
    uint32_t *order;                                         /* classes, block by block */
    uint32_t *first_class, *first_record, *first_suppressed; /* n_blocks + 1 each */
    uint32_t *may_suppress;                                  /* per block: rows at most */
    block_result *results;
    uint64_t *kept;     /* [block][lane]: records whose class keeps the lane */
    double *lane_share; /* of all records, after the last epoch */
    kn_rng rng;
    uint32_t epoch;
    uint64_t work, budget;
    bool by_time; /* the time limit is shorter than the budget */
    KN_VECTOR(standing) standings;
    size_t half; /* the last of them up to which half of the rebuilding was done */
    bool is_still;
    bool feasible;
    bool has_saved; /* a feasible state is put by, of this price; what comes next may be given up */
    int64_t saved_exact;
    atomic_bool stop;
    double began, began_sweeps;
    double unit_loss, fixed_loss; /* loss = exact sum * unit_loss + fixed_loss */
} cluster_run;

/* --- One epoch -------------------------------------------------------------------------------------------------- */

/* The lanes in random order, those first that classes keep; repair takes them strictly by that. */
static void order_lanes(cluster_run *run, uint32_t *lanes, bool strictly)
{
    uint32_t n = run->problem->n_equal;
    for (uint32_t j = 0; j < n; j++) lanes[j] = j;
    for (uint32_t place = 0; place < n; place++) {
        uint32_t chosen = place;
        double total = 0, at;
        for (uint32_t x = place; x < n; x++) total += pow(run->lane_share[lanes[x]] + 0.02, 3);
        at = kn_rng_unit(&run->rng) * total;
        for (uint32_t x = place; x < n; x++) {
            if (strictly && run->lane_share[lanes[x]] > run->lane_share[lanes[chosen]]) chosen = x;
            if (strictly || at < 0) continue;
            chosen = x;
            at -= pow(run->lane_share[lanes[x]] + 0.02, 3);
        }
        uint32_t lane = lanes[place];
        lanes[place] = lanes[chosen];
        lanes[chosen] = lane;
    }
}

static uint32_t bits_for(uint32_t n_values)
{
    uint32_t n_bits = 1;
    while (n_bits < 32 && n_values > 1u << n_bits) n_bits++;
    return n_bits;
}

/* As many lanes as fit, then as many bits of ranges and sets as are left. */
static uint64_t record_key(const cluster_run *run, uint32_t record, const uint32_t *lanes)
{
    const kn_cluster_problem *problem = run->problem;
    uint32_t tuple = problem->record_tuple[record], n_bits = 0;
    uint64_t key = 0;
    for (uint32_t x = 0; x < problem->n_ranges + problem->n_sets; x++) {
        uint32_t y = (x + run->epoch) % (problem->n_ranges + problem->n_sets);
        bool range = y < problem->n_ranges;
        uint32_t q = range ? problem->ranges[y].q : problem->sets[y - problem->n_ranges].q;
        uint32_t code = problem->tuples->codes[q][tuple];
        if (n_bits + 8 > 40) break;
        key = key << 8 | (range ? problem->ranges[y].low[code] >> 8 : code < 255 ? code : 255);
        n_bits += 8;
    }
    for (uint32_t x = 0; x < problem->n_equal; x++) {
        const kn_cluster_equal *lane = &problem->equal[lanes[x]];
        uint32_t more = bits_for(lane->n_values);
        if (n_bits + more > 64) continue;
        key = key << more | lane->value[problem->tuples->codes[lane->q][tuple]];
        n_bits += more;
    }
    return key;
}

/* Sorts the classes and cuts them into blocks of about equal numbers of records. */
static kn_status cut_blocks(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cluster_solution *now = &run->now;
    uint32_t n_records = now->start[now->n], *lanes = NULL, block = 0;
    KN_NEW(lanes, run->problem->n_equal);
    order_lanes(run, lanes, run->job->repair);
    for (uint32_t c = 0; c < now->n; c++) {
        uint32_t size = now->start[c + 1] - now->start[c];
        uint32_t someone = now->members[now->start[c] + kn_rng_below(&run->rng, size)];
        run->order[c] = c;
        run->keys[c] = record_key(run, someone, lanes);
    }
    /* the first epoch takes the blocks as start() made them */
    if (run->n_blocks > 1 && run->epoch > 1)
        KN_TRY(kn_radix_sort(run->keys, run->order, now->n, 64, run->task->pool, err));
    run->first_class[0] = run->first_record[0] = run->first_suppressed[0] = 0;
    uint64_t n_cut = 0;
    for (uint32_t c = 0; c < now->n; c++) {
        n_cut += now->start[run->order[c] + 1] - now->start[run->order[c]];
        while (block + 1 < run->n_blocks && n_cut * run->n_blocks >= (uint64_t)n_records * (block + 1)) {
            block++;
            run->first_class[block] = c + 1;
            run->first_record[block] = (uint32_t)n_cut;
        }
    }
    for (block++; block <= run->n_blocks; block++) {
        run->first_class[block] = now->n;
        run->first_record[block] = n_records;
    }
    /* Suppressed records go round the blocks; what may still be suppressed is spread evenly. */
    uint64_t room = run->task->max_suppressed > now->n_suppressed ? run->task->max_suppressed - now->n_suppressed : 0;
    for (uint32_t b = 0; b < run->n_blocks; b++) {
        uint64_t first = (uint64_t)now->n_suppressed * b / run->n_blocks;
        uint64_t last = (uint64_t)now->n_suppressed * (b + 1) / run->n_blocks;
        uint64_t most = last - first + room * (b + 1) / run->n_blocks - room * b / run->n_blocks;
        run->first_suppressed[b + 1] = (uint32_t)last;
        run->may_suppress[b] = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
    }
done:
    kn_free(lanes);
    return status;
}

/* The block's classes go to where its records stood; sizes into next.start at the same place. */
static void store_block(cluster_run *run, kn_cluster_block *block, uint32_t number)
{
    uint32_t at = run->first_record[number] + run->first_suppressed[number], n = 0;
    uint32_t *members = run->next.members + at, *sizes = run->next.start + at;
    uint64_t *kept = run->kept + (size_t)number * run->problem->n_equal;
    block_result *result = &run->results[number];
    *result = (block_result){.n_suppressed = block->n_suppressed, .work = block->work};
    memset(kept, 0, run->problem->n_equal * sizeof *kept);
    for (uint32_t h = 0; h < block->n_classes; h++) {
        const kn_cluster_class *class = &block->classes[h];
        if (class->size == 0) continue;
        const uint32_t *inside = block->arena + class->first;
        sizes[result->n_classes++] = (uint32_t) class->size;
        for (int32_t x = 0; x < class->size; x++) members[n++] = block->global[inside[x]];
        class_get_pattern(block, h, block->pattern_a);
        result->exact += class->size * kn_cluster_exact(block, inside, (uint32_t) class->size, block->pattern_a);
        if (run->job->repair) result->n_bad += !kn_cluster_holds(block, inside, (uint32_t) class->size, class->persons);
        for (uint32_t j = 0; j < run->problem->n_equal; j++)
            if (kn_cluster_lane_kept(block, j, block->pattern_a)) kept[j] += (uint64_t) class->size;
    }
    for (uint32_t x = 0; x < block->n_suppressed; x++) members[n++] = block->global[block->suppressed[x]];
    result->exact += block->n_suppressed * run->problem->exact_root;
}

/* Time is up, and the state that was put by will be the answer. */
static bool given_up(cluster_run *run) { return run->has_saved && atomic_load(&run->stop); }

static kn_status run_block(void *context, size_t number, unsigned worker, kn_error *err)
{
    cluster_run *run = context;
    if (given_up(run)) {
        run->results[number] = (block_result){0};
        return KN_OK;
    }
    if (run->blocks[worker] == NULL) {
        kn_status status = kn_cluster_block_new(&run->blocks[worker], run->problem, run->max_block_records, err);
        if (status != KN_OK) return status;
    }
    kn_cluster_block *block = run->blocks[worker];
    uint32_t first = run->first_class[number];
    block->rng = kn_rng_new(run->task->seed, ((uint64_t)run->epoch << 32) + number + 1);
    block->stop = &run->stop;
    block->max_suppressed = run->may_suppress[number];
    kn_cluster_block_load(block, &run->now, run->order + first, run->first_class[number + 1] - first,
                          run->now.members + run->now.start[run->now.n] + run->first_suppressed[number],
                          run->first_suppressed[number + 1] - run->first_suppressed[number]);
    run->engine(block, run->job);
    store_block(run, block, (uint32_t)number);
    return KN_OK;
}

/* Gathers what the blocks left in `next` and makes it the present state. */
static void collect(cluster_run *run)
{
    kn_cluster_solution *now = &run->now, *next = &run->next;
    uint32_t n_classes = 0, n_members = 0;
    now->n_suppressed = 0;
    for (uint32_t b = 0; b < run->n_blocks; b++) {
        uint32_t at = run->first_record[b] + run->first_suppressed[b], from = at;
        for (uint32_t c = 0; c < run->results[b].n_classes; c++) {
            uint32_t size = next->start[at + c];
            now->start[n_classes++] = n_members;
            memcpy(now->members + n_members, next->members + from, size * sizeof *now->members);
            n_members += size;
            from += size;
        }
        run->work += run->results[b].work;
    }
    now->n = n_classes;
    now->start[n_classes] = n_members;
    for (uint32_t b = 0; b < run->n_blocks; b++) {
        uint32_t end = run->first_record[b + 1] + run->first_suppressed[b + 1];
        /* suppressed records stand behind the classes' members of their block */
        uint32_t n = run->results[b].n_suppressed;
        memcpy(now->members + n_members + now->n_suppressed, next->members + end - n, n * sizeof *now->members);
        now->n_suppressed += n;
    }
    for (uint32_t j = 0; j < run->problem->n_equal; j++) {
        uint64_t sum = 0;
        for (uint32_t b = 0; b < run->n_blocks; b++) sum += run->kept[(size_t)b * run->problem->n_equal + j];
        run->lane_share[j] = (double)sum / run->problem->n_records;
    }
}

/* Over all rows, after the last epoch. */
static int64_t exact_sum(const cluster_run *run)
{
    int64_t exact = 0;
    for (uint32_t b = 0; b < run->n_blocks; b++) exact += run->results[b].exact;
    return exact;
}

/* A point of the loss over time. */
static kn_status note_loss(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    int64_t exact = exact_sum(run);
    if (run->has_saved && exact > run->saved_exact) exact = run->saved_exact;
    kn_trace_point point = {kn_seconds_now() - run->began, (double)exact * run->unit_loss + run->fixed_loss};
    if (run->feasible && run->task->trace != NULL) KN_PUSH(&run->task->trace->points, point);
done:
    return status;
}

/* Blocks are cut between classes, so a large class makes a large block: then the threads need larger scratch memory,
 * which they make when they first need it. */
static void fit_blocks(cluster_run *run)
{
    uint32_t most = 0;
    for (uint32_t b = 0; b < run->n_blocks; b++) {
        uint32_t n =
            run->first_record[b + 1] - run->first_record[b] + run->first_suppressed[b + 1] - run->first_suppressed[b];
        if (n > most) most = n;
    }
    if (most <= run->max_block_records) return;
    for (uint32_t w = 0; w < run->n_workers; w++) {
        kn_cluster_block_free(run->blocks[w]);
        run->blocks[w] = NULL;
    }
    run->max_block_records = most + most / 16;
}

static kn_status run_epoch(cluster_run *run, const kn_cluster_job *job, kn_error *err)
{
    kn_status status = KN_OK;
    run->job = job;
    run->epoch++;
    KN_TRY(cut_blocks(run, err));
    fit_blocks(run);
    KN_TRY(kn_pool_run(run->task->pool, run->n_blocks, run_block, run, err));
    collect(run);
    KN_TRY(note_loss(run, err));
    kn_error ignored = {0};
    double done_part = run->budget > 0 ? (double)run->work / (double)run->budget : -1;
    if (kn_tick(run->task->ticker, "search", done_part < 1 ? done_part : 1, &ignored) != KN_OK)
        atomic_store(&run->stop, true);
done:
    return status;
}

/* --- The phases ------------------------------------------------------------------------------------------------- */

static double column_units(const cluster_run *run)
{
    return (double)run->problem->root_units / (run->problem->tuples->n_qis > 0 ? run->problem->tuples->n_qis : 1);
}

/* What a row costs on average after the last epoch. */
static double row_units(const cluster_run *run)
{
    double units = (double)exact_sum(run) / run->problem->n_records * run->problem->root_units * 0x1p-30;
    return units > 1 ? units : 1;
}

/* Classes that have next to nothing in common leave the greedy sweeps free to find what belongs together: random
 * records, though each block takes them from one stretch of the sorted table. */
static void shuffle_blocks(cluster_run *run)
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

/* Records sorted by lanes with few values first, cut into blocks, shuffled, and cut into small classes. */
static kn_status start(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cluster_problem *problem = run->problem;
    uint32_t n = problem->n_records, size = first_class_size(problem->k), *lanes = NULL;
    KN_NEW(lanes, problem->n_equal);
    for (uint32_t j = 0; j < problem->n_equal; j++) {
        uint32_t x = j;
        for (; x > 0 && problem->equal[lanes[x - 1]].n_values > problem->equal[j].n_values; x--)
            lanes[x] = lanes[x - 1];
        lanes[x] = j;
    }
    for (uint32_t i = 0; i < n; i++) {
        run->now.members[i] = i;
        run->keys[i] = record_key(run, i, lanes);
    }
    KN_TRY(kn_radix_sort(run->keys, run->now.members, n, 64, run->task->pool, err));
    shuffle_blocks(run);
    run->now.n = n / size > 0 ? n / size : 1;
    for (uint32_t c = 0; c <= run->now.n; c++) run->now.start[c] = (uint32_t)((uint64_t)n * c / run->now.n);
    double units = column_units(run);
    kn_cluster_job greedy = {
        .op = KN_CLUSTER_GREEDY, .n_sweeps = GREEDY_SWEEPS, .hot = GREEDY * units, .cold = GREEDY * units};
    run->began_sweeps = kn_seconds_now();
    KN_TRY(run_epoch(run, &greedy, err));
done:
    kn_free(lanes);
    return status;
}

/* The classes of mondrian: there in a second or two per million rows, long before annealing has got as far. Rows that
 * the problem has set aside are missing from them: repair sees to that. No class when it was told to stop. */
static kn_status start_from_cuts(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_algorithm *mondrian = kn_algorithm_find("mondrian");
    kn_args args = {0};
    kn_answer cuts = {0};
    kn_task task = *run->task;
    uint32_t *size = NULL, n = run->problem->n_records, *start = run->now.start;
    KN_TRY(kn_args_parse(&args, mondrian->name, mondrian->params, mondrian->n_params, NULL, err));
    task.args = &args;
    task.trace = NULL;
    status = mondrian->search(&cuts, &task, err);
    if (status == KN_INTERRUPTED) { /* somebody is waiting for what there is: no class yet */
        atomic_store(&run->stop, true);
        status = KN_OK;
        goto done;
    }
    if (status != KN_OK) goto done;
    KN_NEW(size, (size_t)cuts.n_classes + 1);
    for (uint32_t i = 0; i < n; i++) size[cuts.row_class[run->problem->record_row[i]]]++;
    uint32_t at = 0;
    for (uint32_t c = 0; c < cuts.n_classes; c++) { /* sizes become places; classes without a record are left out */
        if (size[c] == 0) continue;
        start[run->now.n++] = at;
        at += size[c];
        size[c] = at - size[c];
    }
    start[run->now.n] = at;
    for (uint32_t i = 0; i < n; i++) run->now.members[size[cuts.row_class[run->problem->record_row[i]]]++] = i;
done:
    kn_args_free(&args);
    kn_answer_free(&cuts);
    kn_free(size);
    return status;
}

static kn_status anneal(cluster_run *run, uint32_t n_sweeps, kn_error *err)
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
        KN_TRY(run_epoch(run, &job, err));
    }
done:
    return status;
}

/* In blocks; when a block cannot make all its classes hold, again in half as many, at last in one. */
static kn_status repair(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_blocks = run->n_blocks, n_bad = 0;
    kn_cluster_job job = {.op = KN_CLUSTER_REPAIR, .repair = true, .may_give_up = run->has_saved};
    for (;;) {
        KN_TRY(run_epoch(run, &job, err));
        if (given_up(run)) goto done;
        n_bad = 0;
        for (uint32_t b = 0; b < run->n_blocks; b++) n_bad += run->results[b].n_bad;
        if (n_bad == 0 || run->n_blocks == 1) break;
        run->n_blocks = (run->n_blocks + 1) / 2;
    }
    if (n_bad > 0)
        KN_FAIL(KN_NOT_MET, "not even the whole table as one class satisfies the models; relax them or drop a column");
    run->feasible = true;
    KN_TRY(note_loss(run, err));
done:
    for (uint32_t b = run->n_blocks; b < n_blocks; b++) run->results[b] = (block_result){0};
    run->n_blocks = n_blocks;
    return status;
}

/* Has the rebuilding come to a stand? Asked before its first epoch and after each. Where nothing is lost there is
 * nothing to gain. */
static kn_status look_for_stillness(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    standing now = {run->work, exact_sum(run)};
    KN_PUSH(&run->standings, now);
    const standing *all = run->standings.items;
    uint64_t done = now.work - all[0].work;
    while (run->half + 1 < run->standings.n && all[run->half + 1].work - all[0].work <= done / 2) run->half++;
    run->is_still = now.exact == 0;
    if (run->task->effort == 0 && (double)done >= LEAST_REBUILD + LEAST_PER_RECORD * run->problem->n_records)
        run->is_still |= (double)(all[run->half].exact - now.exact) < STILL * (double)now.exact;
done:
    return status;
}

static kn_status rebuild(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_epochs = 0;
    KN_TRY(look_for_stillness(run, err));
    if (kn_ticker_out_of_time(run->task->ticker)) atomic_store(&run->stop, true);
    while (!atomic_load(&run->stop) && !run->is_still && (run->by_time || run->work < run->budget)) {
        kn_cluster_job job = {
            .op = KN_CLUSTER_REBUILD, .tries_per_class = TRIES_PER_CLASS, .near_noise = NEAR_NOISE * row_units(run)};
        /* A try costs about two looks and one more per eight records. */
        double tries = (double)(run->budget - run->work) / (2 + run->problem->k * 3 / 8.0) / run->now.n;
        if (!run->by_time && tries < job.tries_per_class) job.tries_per_class = tries;
        if (n_epochs++ > 0 && job.tries_per_class < 1) break; /* less than it costs to load the blocks */
        KN_TRY(run_epoch(run, &job, err));
        KN_TRY(look_for_stillness(run, err));
    }
done:
    return status;
}

static void set_budget(cluster_run *run)
{
    double n = run->problem->n_records, per_record = 2e6 / n;
    per_record = per_record < 12 ? 12 : per_record > 2000 ? 2000 : per_record;
    run->budget = run->task->effort > 0 ? run->task->effort : (uint64_t)(n * per_record);
}

/* How many sweeps of annealing fit into the budget. A time limit below it is found from the speed so far. */
static uint32_t plan(cluster_run *run)
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
    double sweeps = fmin(ANNEAL_SHARE * budget / n, budget / n - REPAIR_SWEEPS);
    double most = fmin(fmin(10.0 / run->problem->k, 1) * MAX_SWEEPS, ANNEAL_LOOKS / n);
    return (uint32_t)fmax(fmin(sweeps, fmax(most, LEAST_SWEEPS)), 0);
}

/* --- From records to rows --------------------------------------------------------------------------------------- */

static kn_status answer_rows(kn_answer *answer, const cluster_run *run, kn_error *err)
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

static kn_stopped why_stopped(cluster_run *run)
{
    if (!atomic_load(&run->stop)) return run->is_still ? KN_STOPPED_STILL : KN_STOPPED_BUDGET;
    kn_ticker *ticker = run->task->ticker;
    bool late = ticker->search_deadline > 0 && kn_seconds_now() >= ticker->search_deadline;
    return late && !kn_ticker_cancelled(ticker) ? KN_STOPPED_TIME : KN_STOPPED_INTERRUPT;
}

/* The number of blocks depends on the data only. */
static uint32_t count_blocks(const kn_cluster_problem *problem)
{
    uint64_t least = (uint64_t)CLASSES_PER_BLOCK * problem->k, size = BLOCK_RECORDS;
    if (problem->n_records > 100000) size = (uint64_t)(BLOCK_RECORDS * sqrt(1e5 / problem->n_records));
    if (size < LEAST_BLOCK_RECORDS) size = LEAST_BLOCK_RECORDS;
    if (size < least) size = least;
    uint64_t n = (problem->n_records + size - 1) / size;
    if (n == 1 && problem->n_records >= SPLIT_RECORDS && problem->n_records / 2 >= least) n = 2;
    if (n > 2) n += n % 2;
    return n > 0 ? (uint32_t)n : 1;
}

static kn_status prepare(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cluster_problem_new(&run->problem, run->task, err));
    const kn_cluster_problem *problem = run->problem;
    size_t n = problem->n_records, n_blocks = run->n_blocks = count_blocks(problem);
    run->n_workers = kn_pool_threads(run->task->pool);
    run->rng = kn_rng_new(run->task->seed, 0);
    KN_NEW(run->blocks, run->n_workers);
    KN_NEW_RAW(run->now.start, n + 1);
    KN_NEW_RAW(run->now.members, n);
    KN_NEW_RAW(run->next.start, n + 1);
    KN_NEW_RAW(run->next.members, n);
    KN_NEW_RAW(run->keys, n);
    KN_NEW_RAW(run->order, n);
    KN_NEW(run->first_class, n_blocks + 1);
    KN_NEW(run->first_record, n_blocks + 1);
    KN_NEW(run->first_suppressed, n_blocks + 1);
    KN_NEW(run->may_suppress, n_blocks);
    KN_NEW(run->results, n_blocks);
    KN_NEW(run->kept, n_blocks * problem->n_equal);
    KN_NEW(run->lane_share, problem->n_equal);
    const kn_objective *objective = run->task->objective;
    run->unit_loss = problem->exact_scale > 0 ? objective->scale / problem->exact_scale : 0;
    run->fixed_loss = -objective->discount * objective->scale;
    for (size_t x = 0; x < problem->reserved_rows.n; x++)
        for (uint32_t q = 0; q < problem->tuples->n_qis; q++) {
            uint32_t tuple = problem->tuples->row_tuple[problem->reserved_rows.items[x]];
            kn_cell cell = kn_domain_leaf(problem->tuples->domains[q], problem->tuples->codes[q][tuple]);
            run->fixed_loss += objective->scale * kn_objective_price(objective, NULL, q, &cell);
        }
done:
    return status;
}

static void run_free(cluster_run *run)
{
    for (uint32_t w = 0; run->blocks != NULL && w < run->n_workers; w++) kn_cluster_block_free(run->blocks[w]);
    kn_free(run->blocks);
    kn_free(run->now.start);
    kn_free(run->now.members);
    kn_free(run->next.start);
    kn_free(run->next.members);
    kn_free(run->keys);
    kn_free(run->order);
    kn_free(run->first_class);
    kn_free(run->first_record);
    kn_free(run->first_suppressed);
    kn_free(run->may_suppress);
    kn_free(run->results);
    kn_free(run->kept);
    kn_free(run->lane_share);
    kn_free(run->standings.items);
    kn_cluster_problem_free(run->problem);
}

static kn_cluster_engine *choose_engine(const char *name)
{
#if defined(__x86_64__)
    if (kn_has_avx2() && strcmp(name, "plain") != 0) return kn_cluster_run_avx2;
#endif
    return kn_cluster_run_plain;
}

/* Without a limit worth the name, or without quasi-identifiers, every tuple is a class of its own. */
static kn_status answer_tuples(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(answer->row_class, task->tuples->n_rows);
    memcpy(answer->row_class, task->tuples->row_tuple, task->tuples->n_rows * sizeof *answer->row_class);
    answer->n_classes = task->tuples->n_tuples;
    answer->optimal = task->objective->type->monotone;
done:
    return status;
}

static void copy_solution(kn_cluster_solution *to, const kn_cluster_solution *from, uint32_t n_records)
{
    to->n = from->n;
    to->n_suppressed = from->n_suppressed;
    memcpy(to->start, from->start, ((size_t)from->n + 1) * sizeof *to->start);
    memcpy(to->members, from->members, (size_t)n_records * sizeof *to->members);
}

static double seconds_left(const cluster_run *run)
{
    const kn_ticker *ticker = run->task->ticker;
    return ticker != NULL && ticker->search_deadline > 0 ? ticker->search_deadline - kn_seconds_now() : INFINITY;
}

/* The first state that holds all models: annealed, or cut, or the better of the two. Large tables are cut first, so
 * that a release is there early; what annealing finds replaces it when it is better, and is given up when time is over.
 * Under models that look at sensitive values too: annealing does not see them, and repair may have to join everything.
 */
static kn_status reach_feasible(cluster_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_args *args = run->task->args;
    uint32_t n = run->problem->n_records;
    bool large = n > CUT_RECORDS || seconds_left(run) < CUT_SECONDS * n, by_values = !run->problem->counts_only;
    bool cuts = kn_args_is(args, "start", "cuts") || (kn_args_is(args, "start", "auto") && (large || by_values));
    bool anneals = !kn_args_is(args, "start", "cuts");
    kn_cluster_solution saved = {0};
    if (cuts) {
        KN_TRY(start_from_cuts(run, err));
        cuts = run->now.n > 0;
    }
    if (cuts) {
        KN_TRY(repair(run, err));
        if (!anneals || atomic_load(&run->stop)) goto done;
        KN_NEW_RAW(saved.start, (size_t)n + 1);
        KN_NEW_RAW(saved.members, n);
        copy_solution(&saved, &run->now, n);
        run->saved_exact = exact_sum(run);
        run->has_saved = true;
        run->now.n_suppressed = 0;
        run->feasible = false;
        run->epoch = 0;
    }
    KN_TRY(start(run, err));
    KN_TRY(anneal(run, plan(run), err));
    KN_TRY(repair(run, err));
    if (cuts && (!run->feasible || exact_sum(run) > run->saved_exact)) copy_solution(&run->now, &saved, n);
    run->has_saved = false;
done:
    kn_free(saved.start);
    kn_free(saved.members);
    return status;
}

static kn_status cluster_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    cluster_run run = {.task = task, .began = kn_seconds_now()};
    *answer = (kn_answer){.recoding = KN_RECODING_LOCAL, .bound = NAN};
    bool asks_nothing = task->models->counts_only && task->models->min_persons <= 1 && task->tuples->row_person == NULL;
    if (asks_nothing || task->tuples->n_qis == 0) return answer_tuples(answer, task, err);
    run.engine = choose_engine(kn_args_text(task->args, "engine"));
    KN_TRY(prepare(&run, err));
    if (run.problem->n_records > 0) {
        set_budget(&run);
        KN_TRY(reach_feasible(&run, err));
        KN_TRY(rebuild(&run, err));
    }
    KN_TRY(answer_rows(answer, &run, err));
    answer->stopped = why_stopped(&run);
    answer->n_nodes = run.work;
done:
    run_free(&run);
    if (status != KN_OK) kn_answer_free(answer);
    return status;
}

static const kn_param params[] = {
    {.name = "start",
     .type = KN_PARAM_CHOICE,
     .preset = "auto",
     .choices = "auto|anneal|cuts",
     .help = "anneal: from random small classes; cuts: from mondrian's classes; auto: for more than 200,000 rows, "
             "and with models beyond class sizes, the better of both"},
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
    .search = cluster_search,
};
