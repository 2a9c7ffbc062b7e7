/* The epochs of `cluster`: the classes of the whole table are sorted by a random member's traits in random order (those
 * that classes keep tend to come first), cut into blocks of some ten thousand records, and each block is a job of its
 * own. The next epoch cuts along another order, so classes meet others in time. Memory beyond a few integers per row is
 * that of one block per thread, and the answer does not depend on the number of threads: a job's randomness comes from
 * its epoch and number. */
#include "search/cluster/cluster_epochs.h"
#include "search/cluster/cluster_lanes.h"
#include "base/radix_sort.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK_RECORDS = 24000, /* up to 100,000 records; then less, because scans cost as much as a block is large */
    LEAST_BLOCK_RECORDS = 6000,
    SPLIT_RECORDS = 2500, /* from this size on there are two blocks, so that two threads have work */
    /* Or from this size on, where there are so many classes that it does no harm: three seeds, at equal work, Synthea's
     * patients under t-closeness, k = 11, 0.5 % more loss, german under l-diversity, k = 10, 0.6 % less. */
    SPLIT_SOONER = 1000,
    SPLIT_CLASSES = 100,
    CLASSES_PER_BLOCK = 12, /* at least so many of them */
};
uint32_t kn_cluster_count_blocks(uint64_t n_records, uint64_t k)
{
    uint64_t least = CLASSES_PER_BLOCK * k, size = BLOCK_RECORDS;
    if (n_records > 100000) size = (uint64_t)(BLOCK_RECORDS * sqrt(1e5 / (double)n_records));
    if (size < LEAST_BLOCK_RECORDS) size = LEAST_BLOCK_RECORDS;
    if (size < least) size = least;
    uint64_t n = (n_records + size - 1) / size;
    const bool is_large = n_records >= (n_records >= SPLIT_CLASSES * k ? SPLIT_SOONER : SPLIT_RECORDS);
    if (n == 1 && is_large && n_records / 2 >= least) n = 2;
    if (n > 2) n += n % 2;
    return n > 0 ? (uint32_t)n : 1;
}

static uint32_t bits_for(uint32_t n_values)
{
    uint32_t n_bits = 1;
    while (n_bits < 32 && n_values > 1u << n_bits) n_bits++;
    return n_bits;
}

/* Equal lanes, then ranges, then sets. */
static kn_status make_traits(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cluster_problem *problem = run->problem;
    kn_domain *const *domains = problem->tuples->domains;
    KN_OWN(&run->memory, run->traits, problem->n_equal + problem->n_ranges + problem->n_sets);
    for (uint32_t j = 0; j < problem->n_equal; j++) {
        const kn_cluster_equal *lane = &problem->equal[j];
        run->traits[run->n_traits++] =
            (kn_cluster_trait){.q = lane->q, .value = lane->value, .n_bits = bits_for(lane->n_values)};
    }
    for (uint32_t r = 0; r < problem->n_ranges; r++) {
        uint32_t q = problem->ranges[r].q, *byte = NULL;
        KN_OWN(&run->memory, byte, domains[q]->n_codes);
        for (uint32_t code = 0; code < domains[q]->n_codes; code++) byte[code] = problem->ranges[r].low[code] >> 8;
        run->traits[run->n_traits++] = (kn_cluster_trait){.q = q, .value = byte, .n_bits = 8};
    }
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        uint32_t q = problem->sets[s].q;
        run->traits[run->n_traits++] = (kn_cluster_trait){.q = q, .n_bits = bits_for(domains[q]->n_codes)};
    }
done:
    return status;
}

static kn_status search_memory(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cluster_problem *problem = run->problem;
    size_t n = problem->n_records, n_blocks = run->n_blocks = kn_cluster_count_blocks(n, problem->k);
    run->n_workers = kn_pool_threads(run->task->pool);
    run->rng = kn_rng_new(run->task->seed, 0);
    KN_OWN(&run->memory, run->blocks, run->n_workers);
    KN_OWN_RAW(&run->memory, run->now.start, n + 1);
    KN_OWN_RAW(&run->memory, run->now.members, n);
    KN_OWN_RAW(&run->memory, run->next.start, n + 1);
    KN_OWN_RAW(&run->memory, run->next.members, n);
    KN_OWN_RAW(&run->memory, run->keys, n);
    KN_OWN_RAW(&run->memory, run->order, n);
    KN_OWN(&run->memory, run->first_class, n_blocks + 1);
    KN_OWN(&run->memory, run->first_record, n_blocks + 1);
    KN_OWN(&run->memory, run->first_suppressed, n_blocks + 1);
    KN_OWN(&run->memory, run->may_suppress, n_blocks);
    KN_OWN(&run->memory, run->results, n_blocks);
    KN_TRY(make_traits(run, err));
    KN_OWN(&run->memory, run->kept, n_blocks * run->n_traits);
done:
    return status;
}

kn_status kn_cluster_search_begin(kn_cluster_search *run, bool may_set_aside, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_cluster_problem_new(&run->problem, run->task, may_set_aside, err));
    KN_TRY(search_memory(run, err));
    const kn_cluster_problem *problem = run->problem;
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

void kn_cluster_copy_solution(kn_cluster_solution *to, const kn_cluster_solution *from, uint32_t n_records)
{
    to->n = from->n;
    to->n_suppressed = from->n_suppressed;
    memcpy(to->start, from->start, ((size_t)from->n + 1) * sizeof *to->start);
    memcpy(to->members, from->members, (size_t)n_records * sizeof *to->members);
}

kn_status kn_cluster_search_copy(kn_cluster_search *run, const kn_cluster_search *from, const kn_task *task,
                                 kn_error *err)
{
    kn_status status = KN_OK;
    *run = (kn_cluster_search){.task = task,
                               .problem = from->problem,
                               .is_copy = true,
                               .engine = from->engine,
                               .epoch = from->epoch,
                               .budget = from->budget,
                               .feasible = from->feasible,
                               .exact = from->exact};
    KN_TRY(search_memory(run, err));
    kn_cluster_copy_solution(&run->now, &from->now, from->problem->n_records);
done:
    return status;
}

void kn_cluster_search_free(kn_cluster_search *run)
{
    for (uint32_t w = 0; run->blocks != NULL && w < run->n_workers; w++) kn_cluster_block_free(run->blocks[w]);
    kn_owner_free(&run->memory);
    kn_free(run->standings.items);
    kn_free(run->saved.start);
    kn_free(run->saved.members);
    kn_answer_free(&run->cuts);
    if (!run->is_copy) kn_cluster_problem_free(run->problem);
}

/* --- One epoch -------------------------------------------------------------------------------------------------- */

static uint32_t trait_value(const kn_cluster_search *run, const kn_cluster_trait *trait, uint32_t record)
{
    uint32_t code = run->problem->tuples->codes[trait->q][run->problem->record_tuple[record]];
    return trait->value != NULL ? trait->value[code] : code;
}

/* What records are sorted by: as many traits as fit. */
static uint64_t record_key(const kn_cluster_search *run, uint32_t record, const uint32_t *order)
{
    uint32_t n_bits = 0;
    uint64_t key = 0;
    for (uint32_t x = 0; x < run->n_traits; x++) {
        const kn_cluster_trait *trait = &run->traits[order[x]];
        if (n_bits + trait->n_bits > 64) continue;
        key = key << trait->n_bits | trait_value(run, trait, record);
        n_bits += trait->n_bits;
    }
    return key;
}

kn_status kn_cluster_sort_records(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    KN_NEW(order, run->n_traits);
    for (uint32_t j = 0; j < run->n_traits; j++) {
        uint32_t x = j;
        for (; x > 0 && run->traits[order[x - 1]].n_bits > run->traits[j].n_bits; x--) order[x] = order[x - 1];
        order[x] = j;
    }
    for (uint32_t i = 0; i < run->problem->n_records; i++) {
        run->now.members[i] = i;
        run->keys[i] = record_key(run, i, order);
    }
    KN_TRY(kn_radix_sort(run->keys, run->now.members, run->problem->n_records, 64, run->task->pool, err));
done:
    kn_free(order);
    return status;
}

/* How strongly a trait is drawn to the front. Blocks that are cut along what classes keep part few classes that belong
 * together. Ranges and sets had come in turn; three seeds, LM: Adult without hierarchies, k = 5, 0.00944 then, 0.00917
 * with the third power and 0.00914 so; 10,000 generated people, k = 5, 0.02713, 0.02705 and 0.02695. */
static double pull(const kn_cluster_trait *trait)
{
    double cube = (trait->share + 0.02) * (trait->share + 0.02) * (trait->share + 0.02);
    return cube * cube;
}

/* The traits in random order, those first that classes keep; repair takes them strictly by that. */
static void order_traits(kn_cluster_search *run, uint32_t *order, bool strictly)
{
    const kn_cluster_trait *traits = run->traits;
    for (uint32_t j = 0; j < run->n_traits; j++) order[j] = j;
    for (uint32_t place = 0; place < run->n_traits; place++) {
        uint32_t chosen = place;
        double total = 0, at;
        for (uint32_t x = place; x < run->n_traits; x++) total += pull(&traits[order[x]]);
        at = kn_rng_unit(&run->rng) * total;
        for (uint32_t x = place; x < run->n_traits; x++) {
            if (strictly && traits[order[x]].share > traits[order[chosen]].share) chosen = x;
            if (strictly || at < 0) continue;
            chosen = x;
            at -= pull(&traits[order[x]]);
        }
        uint32_t j = order[place];
        order[place] = order[chosen];
        order[chosen] = j;
    }
}

/* Sorts the classes and cuts them into blocks of about equal numbers of records. */
static kn_status cut_blocks(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_cluster_solution *now = &run->now;
    uint32_t n_records = now->start[now->n], *traits = NULL, block = 0;
    KN_NEW(traits, run->n_traits);
    order_traits(run, traits, run->job->repair);
    for (uint32_t c = 0; c < now->n; c++) {
        uint32_t size = now->start[c + 1] - now->start[c];
        uint32_t someone = now->members[now->start[c] + kn_rng_below(&run->rng, size)];
        run->order[c] = c;
        run->keys[c] = record_key(run, someone, traits);
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
    kn_free(traits);
    return status;
}

static bool keeps_trait(const kn_cluster_search *run, const kn_cluster_trait *trait, const uint32_t *records,
                        uint32_t n)
{
    uint32_t value = trait_value(run, trait, records[0]), x = 1;
    while (x < n && trait_value(run, trait, records[x]) == value) x++;
    return x == n;
}

/* The block's classes go to where its records stood; sizes into next.start at the same place. */
static void store_block(kn_cluster_search *run, kn_cluster_block *block, uint32_t number)
{
    uint32_t at = run->first_record[number] + run->first_suppressed[number], n = 0;
    uint32_t *members = run->next.members + at, *sizes = run->next.start + at;
    uint64_t *kept = run->kept + (size_t)number * run->n_traits;
    kn_cluster_block_result *result = &run->results[number];
    *result = (kn_cluster_block_result){.n_suppressed = block->n_suppressed, .work = block->work};
    memset(kept, 0, run->n_traits * sizeof *kept);
    for (uint32_t h = 0; h < block->n_classes; h++) {
        const kn_cluster_class *class = &block->classes[h];
        if (class->size == 0) continue;
        const uint32_t *inside = block->arena + class->first;
        sizes[result->n_classes++] = (uint32_t) class->size;
        uint32_t *own = members + n;
        for (int32_t x = 0; x < class->size; x++) members[n++] = block->global[inside[x]];
        class_get_pattern(block, h, block->pattern_a);
        result->exact += class->size * kn_cluster_exact(block, inside, (uint32_t) class->size, block->pattern_a);
        if (run->job->repair) result->n_bad += !kn_cluster_holds(block, inside, (uint32_t) class->size, class->persons);
        for (uint32_t j = 0; j < run->n_traits; j++)
            if (keeps_trait(run, &run->traits[j], own, (uint32_t) class->size)) kept[j] += (uint64_t) class->size;
    }
    for (uint32_t x = 0; x < block->n_suppressed; x++) members[n++] = block->global[block->suppressed[x]];
    result->exact += block->n_suppressed * run->problem->exact_root;
}

bool kn_cluster_given_up(kn_cluster_search *run) { return run->has_saved && atomic_load(&run->stop); }

static kn_status run_block(void *context, size_t number, unsigned worker, kn_error *err)
{
    kn_cluster_search *run = context;
    if (kn_cluster_given_up(run)) {
        run->results[number] = (kn_cluster_block_result){0};
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
static void collect(kn_cluster_search *run)
{
    kn_cluster_solution *now = &run->now, *next = &run->next;
    uint32_t n_classes = 0, n_members = 0;
    now->n_suppressed = 0;
    run->exact = 0;
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
        run->exact += run->results[b].exact;
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
    for (uint32_t j = 0; j < run->n_traits; j++) {
        uint64_t sum = 0;
        for (uint32_t b = 0; b < run->n_blocks; b++) sum += run->kept[(size_t)b * run->n_traits + j];
        run->traits[j].share = (double)sum / run->problem->n_records;
    }
}

kn_status kn_cluster_note_loss(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    int64_t exact = run->exact;
    if (run->has_saved && exact > run->saved_exact) exact = run->saved_exact;
    kn_trace_point point = {kn_seconds_now() - run->began, (double)exact * run->unit_loss + run->fixed_loss};
    if (run->feasible && run->task->trace != NULL) KN_PUSH(&run->task->trace->points, point);
done:
    return status;
}

kn_status kn_cluster_tell(kn_cluster_search *run, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error ignored = {0};
    double done_part = run->budget > 0 ? (double)run->work / (double)run->budget : -1;
    KN_TRY(kn_cluster_note_loss(run, err));
    if (kn_tick(run->task->ticker, "search", done_part < 1 ? done_part : 1, &ignored) != KN_OK)
        atomic_store(&run->stop, true);
done:
    return status;
}

/* Blocks are cut between classes, so a large class makes a large block: then the threads need larger scratch memory,
 * which they make when they first need it. */
static void fit_blocks(kn_cluster_search *run)
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

kn_status kn_cluster_epoch(kn_cluster_search *run, const kn_cluster_job *job, kn_error *err)
{
    kn_status status = KN_OK;
    run->job = job;
    run->epoch++;
    KN_TRY(cut_blocks(run, err));
    fit_blocks(run);
    KN_TRY(kn_pool_run(run->task->pool, run->n_blocks, run_block, run, err));
    collect(run);
    KN_TRY(kn_cluster_tell(run, err));
done:
    return status;
}
