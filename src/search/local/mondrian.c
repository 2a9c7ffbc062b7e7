/* Mondrian: cut the table by one column at one value, again and again, as long as both sides satisfy every model.
 *
 * [SV] 4.1.2, after LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.
 * In: distinct tuples with counts. Out: classes, each released as its closure.
 *
 * `cut=strict`: tuples with equal values stay together. The result is minimal (Definition 4.3: no allowable cut on any
 * column at any value is left), so with k-anonymity alone no class has more than 2n(k-1)+o rows, n columns, o copies of
 * one tuple. `cut=relaxed`: a cut may run through equal values, between any two persons; no class then has 2k or more.
 *
 * Where it departs from the paper: Figure 16 takes the widest column and its median, and stops when that one cut is not
 * allowable. Here (`choose=loss`) every value of every column is a candidate, and the cut that leaves the least loss is
 * made: rows * price of the closure, summed over the two sides, all columns counted, since a cut in one column also
 * narrows the others. A side that cannot fill classes of k evenly will end in larger classes; its loss is weighted up
 * by the cube root of persons / (k * floor(persons / k)). `choose=median` is the paper's order of preference: the
 * widest column first (normalized), in it the allowable cut next to the median. The paper leaves open which of equally
 * wide columns is cut (`ties`), and measures numbers by value (`widths=values`). On Adult with
 * suppression, k=50, the first column and values give .724, even cuts and ranks .759; with hierarchies, k=10, .177 and
 * .167; `choose=loss` gives .505 and .106.
 *
 * Values are cut in the order of the domain's codes: numbers by value, text by frequency, a hierarchy by its leaves
 * (a class's closure is then the lowest node above its first and last leaf). A cut that narrows nothing, say between
 * two leaves of one node, is still made when nothing better is allowable: smaller classes never cost more under a
 * monotone measure, later cuts may gain by it, and the definition of minimal asks for it.
 *
 * `stop=N`: a class of fewer persons is not cut any more. Cuts are made from the top, and each depends on its class
 * alone, so what is left are classes of which the rest of the cuts may be made elsewhere: whoever runs the same search
 * on each of them, with the domains of the whole table, ends with the classes that one search would have ended with.
 *
 * Measures that are no sum over cells are followed through the prices of kn_pricer, which the result says. Nothing is
 * suppressed: where even the whole table breaks a model, it stays one class, and recoding refuses it. A
 * time limit stops the cutting; the classes reached by then are the answer.
 *
 * Cost: that of finding the best cut of a class, see mondrian_cut.c, once for each class on the way. A class of more
 * records than a thread's share of the table has its columns shared out among the threads; large ones are a job each,
 * small ones a job with all their cuts. The outcome of a cut depends on its class only, so results are the same for any
 * number of threads. */
#include "search/local/mondrian_cut.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SMALL_ITEMS = 16384,  /* a class of these and all its cuts are one job, ... */
    JOBS_PER_THREAD = 16, /* ... and larger ones, as long as so many of them make up a thread's work */
    TICK_RECORDS = 4096,  /* are looked at between two ticks */
    WASTE_CLASSES = 64,   /* sides of more than this many classes fill them evenly enough */
};

/* --- Cutting --------------------------------------------------------------------------------------------------- */

static inline void copy_record(const kn_mondrian *s, uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < s->stride; i += 2) memcpy(to + i, from + i, 2 * sizeof *to);
}

/* The two parts become ranges of the other array; within them the records stay in their order. Where a record goes is
 * looked up: there is nothing to guess. */
static void divide(kn_mondrian *s, const kn_mondrian_node *n, const kn_mondrian_cut *c)
{
    const uint32_t place = s->place[c->column], code = c->code, stride = s->stride;
    uint32_t *to[2] = {s->records[!n->side] + (size_t)n->begin * stride, NULL};
    const uint32_t *record = kn_mondrian_record(s, n, 0), *end = record + (size_t)kn_mondrian_records(n) * stride;
    to[1] = to[0] + (size_t)c->n_left * stride;
    for (; record < end; record += stride) {
        uint32_t **part = &to[record[place] >= code];
        copy_record(s, *part, record);
        *part += stride;
    }
}

/* The same for relaxed cuts, which put the records into the order of the cut's column. */
static void divide_in_order(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, const kn_mondrian_cut *c)
{
    uint32_t *to = s->records[!n->side] + (size_t)n->begin * s->stride;
    kn_mondrian_rank(s, b, &b->ranking, n, c->column, c->column + 1);
    kn_mondrian_sort(s, b, &b->ranking, n, c->column);
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++)
        copy_record(s, to + (size_t)i * s->stride, kn_mondrian_record(s, n, b->order[i]));
}

static void make_cut(kn_mondrian_node *left, kn_mondrian_node *right, kn_mondrian *s, kn_mondrian_bench *b,
                     const kn_mondrian_node *n, const kn_mondrian_cut *c)
{
    if (s->relaxed) divide_in_order(s, b, n, c);
    else divide(s, n, c);
    *left = (kn_mondrian_node){n->begin, n->begin + c->n_left, !n->side, c->left_persons, n->varied};
    *right = (kn_mondrian_node){left->end, n->end, !n->side, n->n_persons - c->left_persons, n->varied};
    b->n_cuts++;
}

static void finish_class(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n)
{
    s->begins_class[n->begin] = true;
    for (uint32_t i = 0; i < kn_mondrian_records(n); i++)
        s->items_by_class[n->begin + i] = kn_mondrian_record(s, n, i)[RECORD_ITEM];
    b->n_items_done += kn_mondrian_records(n);
}

static kn_status tick(kn_mondrian *s, kn_mondrian_bench *b, kn_error *err)
{
    atomic_fetch_add(&s->n_items_done, b->n_items_done);
    b->n_items_done = 0;
    if (!kn_ticker_cancelled(s->task->ticker) && kn_ticker_out_of_time(s->task->ticker))
        atomic_store(&s->out_of_time, true);
    double done = (double)atomic_load(&s->n_items_done) / (s->items->n + 1.0);
    return kn_tick(s->task->ticker, "mondrian", done, err);
}

/* Both sides of a cut must fill a class. */
static bool may_be_cut(kn_mondrian *s, const kn_mondrian_node *n)
{
    return n->n_persons >= 2 * s->min_persons && n->n_persons >= s->stop_persons && !atomic_load(&s->out_of_time);
}

/* The best cut of a class, found by one thread. */
static kn_mondrian_cut find_cut(kn_mondrian *s, kn_mondrian_bench *b, kn_mondrian_node *n)
{
    kn_mondrian_ranking *r = &b->ranking;
    if (!may_be_cut(s, n)) return kn_mondrian_no_cut;
    kn_mondrian_rank(s, b, r, n, 0, s->n_qis);
    kn_mondrian_find_live(s, r, n);
    bool ask_models = kn_mondrian_asks_first(s);
    kn_mondrian_cut best = kn_mondrian_best_cut(s, b, r, n, 0, r->n_live, ask_models);
    if (ask_models || best.n_left == 0 || kn_mondrian_allows(s, b, n, &best)) return best;
    return kn_mondrian_best_cut(s, b, r, n, 0, r->n_live, true);
}

/* The rest of a small class: the smaller side first, so that the stack stays within log2(n). */
static kn_status cut_small(kn_mondrian *s, kn_mondrian_bench *b, kn_mondrian_node first, kn_error *err)
{
    kn_status status = KN_OK;
    kn_mondrian_node stack[64], left, right;
    uint32_t n_stack = 0, until_tick = 0;
    stack[n_stack++] = first;
    while (n_stack > 0) {
        kn_mondrian_node n = stack[--n_stack];
        if (until_tick <= kn_mondrian_records(&n)) {
            KN_TRY(tick(s, b, err));
            until_tick = TICK_RECORDS;
        } else {
            until_tick -= kn_mondrian_records(&n);
        }
        kn_mondrian_cut best = find_cut(s, b, &n);
        if (best.n_left == 0) {
            finish_class(s, b, &n);
            continue;
        }
        make_cut(&left, &right, s, b, &n, &best);
        bool left_larger = kn_mondrian_records(&left) > kn_mondrian_records(&right);
        assert(n_stack + 2 <= 64);
        stack[n_stack++] = left_larger ? left : right;
        stack[n_stack++] = left_larger ? right : left;
    }
done:
    return status;
}

static kn_status job_small(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_mondrian *s = context;
    return cut_small(s, &s->benches[worker], s->large[job], err);
}

/* Shared classes: all threads read the ranking of the first bench. */
static bool is_shared(const kn_mondrian *s, const kn_mondrian_node *n)
{
    return kn_mondrian_records(n) > s->share_items;
}

static uint32_t share_begin(const kn_mondrian *s, uint32_t n_columns, size_t share)
{
    return (uint32_t)(n_columns * share / s->n_shares);
}

static kn_status job_rank(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_mondrian *s = context;
    kn_mondrian_rank(s, &s->benches[worker], &s->benches[0].ranking, &s->current, share_begin(s, s->n_qis, job),
                     share_begin(s, s->n_qis, job + 1));
    return tick(s, &s->benches[worker], err);
}

static kn_status job_columns(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_mondrian *s = context;
    const kn_mondrian_ranking *r = &s->benches[0].ranking;
    s->share_cuts[job] = kn_mondrian_best_cut(s, &s->benches[worker], r, &s->current, share_begin(s, r->n_live, job),
                                              share_begin(s, r->n_live, job + 1), s->ask_models);
    return tick(s, &s->benches[worker], err);
}

static kn_status best_of_shares(kn_mondrian_cut *best, kn_mondrian *s, bool ask_models, kn_error *err)
{
    kn_status status = KN_OK;
    *best = kn_mondrian_no_cut;
    s->ask_models = ask_models;
    KN_TRY(kn_pool_run(s->task->pool, s->n_shares, job_columns, s, err));
    for (unsigned share = 0; share < s->n_shares; share++)
        if (kn_mondrian_better(s, &s->share_cuts[share], best)) *best = s->share_cuts[share];
done:
    return status;
}

static kn_status find_shared_cut(kn_mondrian_cut *best, kn_mondrian *s, kn_mondrian_node *n, kn_error *err)
{
    kn_status status = KN_OK;
    *best = kn_mondrian_no_cut;
    s->current = *n;
    if (!may_be_cut(s, n)) return KN_OK;
    KN_TRY(kn_pool_run(s->task->pool, s->n_shares, job_rank, s, err));
    kn_mondrian_find_live(s, &s->benches[0].ranking, n);
    bool ask_models = kn_mondrian_asks_first(s);
    KN_TRY(best_of_shares(best, s, ask_models, err));
    if (ask_models || best->n_left == 0 || kn_mondrian_allows(s, &s->benches[0], n, best)) goto done;
    KN_TRY(best_of_shares(best, s, true, err));
done:
    return status;
}

/* Cuts one large class; no children: it is finished. */
static kn_status job_cut(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_mondrian *s = context;
    kn_mondrian_bench *b = &s->benches[worker];
    kn_mondrian_node *n = &s->large[job], *left = &s->children[2 * job], *right = left + 1;
    *left = *right = (kn_mondrian_node){0};
    if (!is_shared(s, n)) s->cuts[job] = find_cut(s, b, n);
    if (s->cuts[job].n_left == 0) finish_class(s, b, n);
    else make_cut(left, right, s, b, n, &s->cuts[job]);
    return tick(s, b, err);
}

typedef KN_VECTOR(kn_mondrian_node) node_list;

static int compare_nodes(const void *a, const void *b)
{
    const kn_mondrian_node *x = a, *y = b;
    uint32_t n_x = kn_mondrian_records(x), n_y = kn_mondrian_records(y);
    if (n_x != n_y) return n_x > n_y ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The largest come first, so that no thread begins a long job when the others have done all of theirs. */
static void line_up(kn_mondrian *s, const node_list *nodes)
{
    s->large = nodes->items;
    if (nodes->n > 1) qsort(nodes->items, nodes->n, sizeof *nodes->items, compare_nodes);
}

/* One level: cuts every class of `large`, sorts the children into the next level and the small ones. */
static kn_status cut_level(kn_mondrian *s, node_list *large, node_list *next, node_list *small, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_large = large->n;
    KN_NEW_RAW(s->cuts, n_large);
    KN_NEW(s->children, 2 * n_large);
    line_up(s, large);
    for (size_t i = 0; i < n_large && is_shared(s, &s->large[i]); i++)
        KN_TRY(find_shared_cut(&s->cuts[i], s, &s->large[i], err));
    KN_TRY(kn_pool_run(s->task->pool, n_large, job_cut, s, err));
    for (size_t i = 0; i < 2 * n_large; i++)
        if (kn_mondrian_records(&s->children[i]) > 0)
            KN_PUSH(kn_mondrian_records(&s->children[i]) > s->job_items ? next : small, s->children[i]);
done:
    kn_free(s->children);
    kn_free(s->cuts);
    s->children = NULL;
    s->cuts = NULL;
    return status;
}

static kn_status cut_all(kn_mondrian *s, kn_error *err)
{
    kn_status status = KN_OK;
    node_list large = {0}, next = {0}, small = {0};
    kn_mondrian_node root = {.end = s->items->n, .varied = UINT64_MAX};
    for (uint32_t i = 0; i < root.end; i++) root.n_persons += s->items->persons[i];
    if (root.end > 0) KN_PUSH(root.end > s->job_items ? &large : &small, root);
    while (large.n > 0) {
        KN_TRY(cut_level(s, &large, &next, &small, err));
        kn_free(large.items);
        large = next;
        next = (node_list){0};
    }
    line_up(s, &small);
    KN_TRY(kn_pool_run(s->task->pool, small.n, job_small, s, err));
done:
    kn_free(large.items);
    kn_free(next.items);
    kn_free(small.items);
    return status;
}

/* --- Setting up ------------------------------------------------------------------------------------------------ */

/* Ordered columns first, in lanes. */
static kn_status place_columns(kn_mondrian *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = 0;
    KN_OWN(&s->memory, s->ordered, s->n_qis);
    KN_OWN(&s->memory, s->place, s->n_qis);
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (s->pricer->columns[q].domain->kind != KN_DOMAIN_SETS) {
            s->ordered[n] = q;
            s->place[q] = RECORD_CODES + n++;
        }
    s->n_ordered = n;
    s->n_lanes = (n + 3) / 4 * 4;
    s->stride = (RECORD_CODES + (s->n_qis > s->n_lanes ? s->n_qis : s->n_lanes) + 1) / 2 * 2;
    for (uint32_t q = 0; q < s->n_qis; q++)
        if (s->pricer->columns[q].domain->kind == KN_DOMAIN_SETS) s->place[q] = RECORD_CODES + n++;
done:
    return status;
}

static kn_status job_fill(void *context, size_t job, unsigned worker, kn_error *err)
{
    const kn_mondrian *s = context;
    const kn_items *items = s->items;
    const uint32_t begin = (uint32_t)job * SMALL_ITEMS, n_left = items->n - begin;
    for (uint32_t i = begin; i < begin + (n_left < SMALL_ITEMS ? n_left : SMALL_ITEMS); i++) {
        uint32_t *record = s->records[0] + (size_t)i * s->stride;
        record[RECORD_ITEM] = i;
        record[RECORD_ROWS] = kn_items_rows(items, i);
        record[RECORD_PERSONS] = items->persons[i];
        for (uint32_t q = 0; q < s->n_qis; q++) record[s->place[q]] = items->tuples->codes[q][items->tuple[i]];
    }
    return KN_OK;
}

static kn_status fill_records(kn_mondrian *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_items *items = s->items;
    KN_OWN(&s->memory, s->records[0], ((size_t)items->n + 1) * s->stride);
    KN_OWN_RAW(&s->memory, s->records[1], ((size_t)items->n + 1) * s->stride);
    KN_OWN(&s->memory, s->begins_class, items->n);
    KN_OWN_RAW(&s->memory, s->items_by_class, items->n);
    KN_TRY(kn_pool_run(s->task->pool, (items->n + (size_t)SMALL_ITEMS - 1) / SMALL_ITEMS, job_fill, s, err));
done:
    return status;
}

static kn_status fill_waste(kn_mondrian *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t k = s->min_persons, n = WASTE_CLASSES * k;
    if (n > s->items->tuples->n_persons) n = (uint64_t)s->items->tuples->n_persons + 1;
    KN_OWN_RAW(&s->memory, s->waste, n);
    for (uint64_t p = 0; p < n; p++) s->waste[p] = p < k ? 1 : cbrt((double)p / (double)(k * (p / k)));
    s->n_waste = n;
done:
    return status;
}

static kn_status make_answer(kn_answer *answer, const kn_mondrian *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *item_class = NULL, n_classes = 0;
    KN_NEW_RAW(item_class, s->items->n);
    for (uint32_t i = 0; i < s->items->n; i++) {
        n_classes += s->begins_class[i];
        item_class[s->items_by_class[i]] = n_classes - 1;
    }
    KN_TRY(kn_items_answer(answer, s->items, item_class, n_classes, err));
    answer->stopped = atomic_load(&s->out_of_time) ? KN_STOPPED_TIME : KN_STOPPED_DONE;
    for (unsigned i = 0; i < kn_pool_threads(s->task->pool); i++) answer->n_nodes += s->benches[i].n_cuts;
    answer->followed = kn_pricer_followed(s->pricer);
done:
    kn_free(item_class);
    return status;
}

static kn_status mondrian_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_items *items = NULL;
    kn_pricer *pricer = NULL;
    kn_mondrian s = {.task = task, .n_qis = task->tuples->n_qis};
    unsigned n_threads = kn_pool_threads(task->pool);
    s.relaxed = kn_args_is(task->args, "cut", "relaxed");
    s.by_median = kn_args_is(task->args, "choose", "median");
    s.first_column = s.by_median && kn_args_is(task->args, "ties", "first");
    bool by_value = kn_args_is(task->args, "widths", "values");
    s.min_persons = task->models->min_persons > 0 ? task->models->min_persons : 1;
    s.stop_persons = (uint64_t)kn_args_number(task->args, "stop");
    s.n_shares = n_threads < s.n_qis ? n_threads : s.n_qis;
    bool histograms = (task->models->needs & KN_NEEDS_HISTOGRAM) != 0;
    if (s.relaxed && task->tuples->table->counts != NULL)
        KN_FAIL_AT(
            KN_USAGE, KN_PLACE(.option = "algorithm"),
            "mondrian: cut=relaxed parts rows with equal values, and a record with a --count stays one; leave it "
            "out");
    KN_TRY(kn_items_new(&items, task->tuples, s.relaxed ? 1 : KN_WHOLE_TUPLES, histograms, err));
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    s.share_items = items->n / n_threads;
    s.job_items = items->n / (n_threads * JOBS_PER_THREAD);
    /* Where time may be over before all is cut, all classes get small before the first of them is done. */
    bool has_limit = task->ticker != NULL && task->ticker->search_deadline > 0;
    if (s.job_items < SMALL_ITEMS || has_limit) s.job_items = SMALL_ITEMS;
    s.items = items;
    s.pricer = pricer;
    s.monotone = kn_pricer_is_monotone(pricer);
    KN_OWN(&s.memory, s.places, s.n_qis);
    for (uint32_t q = 0; q < s.n_qis; q++)
        KN_TRY(kn_code_places(&s.places[q], task->tuples->domains[q], by_value, err));
    KN_TRY(place_columns(&s, err));
    KN_TRY(kn_mondrian_prepare_bits(&s, err));
    KN_TRY(fill_records(&s, err));
    KN_TRY(fill_waste(&s, err));
    KN_OWN_RAW(&s.memory, s.share_cuts, n_threads);
    KN_OWN(&s.memory, s.benches, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(kn_mondrian_bench_init(&s, &s.benches[i], err));
    KN_TRY(cut_all(&s, err));
    KN_TRY(make_answer(answer, &s, err));
done:
    for (unsigned i = 0; s.benches != NULL && i < n_threads; i++) kn_mondrian_bench_free(&s.benches[i]);
    for (uint32_t q = 0; s.places != NULL && q < s.n_qis; q++) kn_free(s.places[q]);
    kn_owner_free(&s.memory);
    kn_pricer_free(pricer);
    kn_items_free(items);
    return status;
}

static const kn_param params[] = {
    {.name = "cut",
     .type = KN_PARAM_CHOICE,
     .preset = "strict",
     .choices = "strict|relaxed",
     .help = "relaxed: rows with equal values may be cut apart, classes stay below 2k"},
    {.name = "choose",
     .type = KN_PARAM_CHOICE,
     .preset = "loss",
     .choices = "loss|median",
     .help = "loss: the cut that leaves the least loss; median: the paper's, the median of the widest column"},
    {.name = "ties",
     .type = KN_PARAM_CHOICE,
     .preset = "first",
     .choices = "first|even",
     .help = "choose=median: of equally wide columns cut the first, or the one that is cut most evenly"},
    {.name = "widths",
     .type = KN_PARAM_CHOICE,
     .preset = "values",
     .choices = "values|ranks",
     .help =
         "choose=median: widths of numbers and dates by their values, or by their places among the distinct values"},
    {.name = "stop",
     .type = KN_PARAM_INT,
     .preset = "0",
     .min = 0,
     .max = 4294967295.0,
     .help = "classes of fewer persons are not cut any more, for engines that cut them elsewhere; 0: all are cut"},
};

const kn_algorithm kn_algorithm_mondrian = {
    .name = "mondrian",
    .summary = "cuts the table by one column at a time while both sides satisfy the models",
    .citation =
        "LeFevre, DeWitt, Ramakrishnan, Mondrian multidimensional k-anonymity, 2006; Ciriani et al. 2007, 4.1.2",
    .recoding = KN_RECODING_LOCAL,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .any_measure = true,
    .whole_tuples = true,
    .search = mondrian_search,
};
