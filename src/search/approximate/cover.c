/* A cover of the rows by cheap sets, made disjoint: at most 2(1 + ln 2k) times the best loss.
 *
 * [GT] 6.3 (Gionis, Tassa 2009, Theorem 6.6), after Meyerson and Williams 2004. In: distinct tuples, a tree for every
 * column. Out: classes of k to 2k-1 rows, each released as its closure.
 *
 *   cover      while rows are uncovered, take the set S of k to 2k-1 rows for which d(S) over the number of uncovered
 *              rows in S is least, d(S) being what a row of S pays.
 *   disjoint   a row in two sets leaves one that has more than k; two sets of k rows that share one are united.
 *
 * The paper looks at every subset of k to 2k-1 rows. But d(S) depends on the closure of S alone: so the step is a
 * minimum over *closures* C with at least k rows of d(C) / min(2k-1, uncovered rows in C), taken with up to 2k-1
 * uncovered rows, and filled up with covered ones to k. Closures are groups of lattice nodes, so the guarantee holds on
 * real tables. Where only suppression is allowed this is the result of Park and Shim 2007; see also Kenig and Tassa
 * 2012.
 *
 * The ratio of a closure only grows as rows get covered, so an old ratio is a lower bound and a queue by old ratios
 * gives the exact minimum: what is taken out is counted again, and goes back if it is not the least any more. Groups
 * are found in rounds: one walk over the lattice counts ratios, a second one collects those up to a limit that gives
 * about ROUND_SIZE groups; when the queue is through, no ratio is below the limit any more, and the next round begins.
 * A walk costs some ns per group, a look at one group (which of its rows are uncovered: near.h) some 1,000 ns, so
 * rounds are small.
 *
 * Relies on monotone prices, and for disjoint sets (disjoint.h, as they come) on sub-additive ones. Cost: two walks per
 * round; refused where nodes times tuples exceed `limit`. Memory: the rounds' groups and the walk's. */
#include "search/approximate/cover.h"

#include "engine/lattice/walk.h"
#include "search/approximate/approximate.h"
#include "search/approximate/disjoint.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROUND_SIZE = 1 << 17, RATIO_BITS = 16, N_RATIOS = 1 << RATIO_BITS };

typedef struct candidate {
    double ratio; /* not more than it is now */
    uint32_t node;
    uint32_t group; /* keys[group * n_words] */
} candidate;

/* What one thread finds. */
typedef struct finds {
    uint32_t *n_by_ratio; /* [bucket] */
    KN_VECTOR(candidate) candidates;
    KN_VECTOR(uint64_t) keys;
} finds;

typedef struct cover {
    const kn_task *task;
    uint32_t k;
    kn_near *near;
    kn_disjoint sets;
    /* a walk */
    kn_tuples tuples; /* the table's, with uncovered rows for persons */
    uint64_t *tuple_uncovered;
    kn_task inner;
    kn_full_domain *domain;
    finds *finds; /* [worker] */
    double limit; /* of the round; NAN: only count */
    KN_VECTOR(candidate) heap;
    KN_VECTOR(uint64_t) keys;
    double *price; /* [q]: of a group */
    uint64_t n_looks;
    kn_cover_watch watch;
    void *context;
} cover;

/* --- Rounds ----------------------------------------------------------------------------------------------------- */

/* Ratios that are equal in their first bits share a number, which grows with the ratio. */
static uint32_t bucket_of(double ratio)
{
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    return (uint32_t)(bits >> (63 - RATIO_BITS));
}

static double bucket_end(uint32_t bucket)
{
    uint64_t bits = (((uint64_t)bucket + 1) << (63 - RATIO_BITS)) - 1;
    double ratio;
    memcpy(&ratio, &bits, sizeof ratio);
    return ratio;
}

static uint32_t node_number(const kn_lattice *lattice, const uint32_t *levels)
{
    uint32_t number = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        number = number * (column->max_level - column->min_level + 1) + levels[q] - column->min_level;
    }
    return number;
}

/* Does nothing in the node's groups cost less than the limit? */
static bool too_dear(const cover *c, const uint32_t *levels)
{
    const kn_lattice *lattice = c->domain->lattice;
    double least = 0;
    for (uint32_t q = 0; q < c->tuples.n_qis; q++) {
        const kn_lattice_level *level = &lattice->columns[q].levels[levels[q]];
        double cheapest = INFINITY;
        for (uint32_t i = 0; i < level->n; i++)
            cheapest = fmin(cheapest, c->task->objective->node_price[q][level->node[i]]);
        least += cheapest;
    }
    return least / (2.0 * c->k - 1) > c->limit;
}

static kn_status visit(void *context, const kn_batch *batch, kn_evaluator *evaluator, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    cover *c = context;
    finds *own = &c->finds[worker];
    const kn_lattice *lattice = c->domain->lattice;
    const kn_groups *groups = &batch->groups;
    const uint32_t n_words = lattice->n_words, most = 2 * c->k - 1;
    const bool count = isnan(c->limit);
    if (!count && too_dear(c, groups->levels)) return KN_OK;
    const uint32_t node = node_number(lattice, groups->levels);
    for (uint32_t g = 0; g < groups->n; g++) {
        const uint64_t n_uncovered = kn_groups_persons(lattice, groups, g);
        if (n_uncovered == 0 || kn_groups_rows(lattice, groups, g) < c->k) continue;
        double price = 0;
        for (uint32_t q = 0; q < c->tuples.n_qis; q++)
            price += c->task->objective->node_price[q][kn_groups_node(lattice, groups, g, q)];
        double ratio = price / (double)(n_uncovered < most ? n_uncovered : most);
        if (count) {
            own->n_by_ratio[bucket_of(ratio)]++;
        } else if (ratio <= c->limit) {
            uint32_t group = (uint32_t)(own->keys.n / n_words);
            KN_PUSH(&own->candidates, ((candidate){ratio, node, group}));
            for (uint32_t w = 0; w < n_words; w++) KN_PUSH(&own->keys, groups->keys[(size_t)g * n_words + w]);
        }
    }
done:
    return status;
}

/* Largest ratio of a round: about ROUND_SIZE groups are not above it, and always some. */
static double round_limit(const cover *c)
{
    uint64_t n = 0;
    for (uint32_t bucket = 0; bucket < N_RATIOS; bucket++) {
        uint64_t here = 0;
        for (unsigned i = 0; i < kn_pool_threads(c->task->pool); i++) here += c->finds[i].n_by_ratio[bucket];
        n += here;
        if (here > 0 && n >= ROUND_SIZE) return bucket_end(bucket);
    }
    return INFINITY;
}

/* Equal ratios: by node, then by key, so that the order does not depend on who found them. */
static bool is_before(const cover *c, const candidate *a, const candidate *b)
{
    if (a->ratio != b->ratio) return a->ratio < b->ratio;
    if (a->node != b->node) return a->node < b->node;
    const uint32_t n_words = c->domain->lattice->n_words;
    const uint64_t *x = c->keys.items + (size_t)a->group * n_words, *y = c->keys.items + (size_t)b->group * n_words;
    for (uint32_t w = 0; w < n_words; w++)
        if (x[w] != y[w]) return x[w] < y[w];
    return false;
}

static void sift_down(cover *c, size_t at)
{
    candidate *heap = c->heap.items;
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        if (left < c->heap.n && is_before(c, &heap[left], &heap[least])) least = left;
        if (left + 1 < c->heap.n && is_before(c, &heap[left + 1], &heap[least])) least = left + 1;
        if (least == at) return;
        candidate swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

/* What all threads found becomes the queue. */
static kn_status make_heap(cover *c, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_words = c->domain->lattice->n_words;
    c->heap.n = c->keys.n = 0;
    for (unsigned i = 0; i < kn_pool_threads(c->task->pool); i++) {
        finds *own = &c->finds[i];
        const uint32_t before = (uint32_t)(c->keys.n / n_words);
        KN_RESERVE(&c->heap, own->candidates.n);
        KN_RESERVE(&c->keys, own->keys.n);
        for (size_t j = 0; j < own->candidates.n; j++) {
            candidate item = own->candidates.items[j];
            item.group += before;
            c->heap.items[c->heap.n++] = item;
        }
        for (size_t j = 0; j < own->keys.n; j++) c->keys.items[c->keys.n++] = own->keys.items[j];
        own->candidates.n = own->keys.n = 0;
    }
    for (size_t i = c->heap.n / 2; i-- > 0;) sift_down(c, i);
done:
    return status;
}

/* The groups with the least ratios, as the queue. */
static kn_status begin_round(cover *c, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain_free(c->domain);
    c->domain = NULL;
    for (uint32_t p = 0; p < c->near->n; p++) c->tuple_uncovered[c->near->tuple[p]] = c->sets.uncovered[p];
    KN_TRY(kn_full_domain_new_for(&c->domain, &c->inner, NULL, 0, 0, err));
    for (unsigned i = 0; i < kn_pool_threads(c->task->pool); i++)
        memset(c->finds[i].n_by_ratio, 0, N_RATIOS * sizeof *c->finds[i].n_by_ratio);
    c->limit = NAN;
    KN_TRY(kn_each_batch(c->domain, visit, c, err));
    c->limit = round_limit(c);
    KN_TRY(kn_each_batch(c->domain, visit, c, err));
    KN_TRY(make_heap(c, err));
    assert(c->heap.n > 0);
done:
    return status;
}

/* --- One group -------------------------------------------------------------------------------------------------- */

/* Its leaves in every column, and what a row of it pays. */
static double open_group(cover *c, const candidate *item)
{
    const kn_lattice *lattice = c->domain->lattice;
    const uint64_t *key = c->keys.items + (size_t)item->group * lattice->n_words;
    uint32_t rest = item->node;
    double price = 0;
    for (uint32_t q = c->near->n_qis; q-- > 0;) {
        const kn_lattice_column *column = &lattice->columns[q];
        const uint32_t n_levels = column->max_level - column->min_level + 1;
        const kn_lattice_level *level = &column->levels[column->min_level + rest % n_levels];
        const uint32_t at = (uint32_t)(key[column->word] >> column->shift) & (uint32_t)((1ull << column->n_bits) - 1);
        const kn_tree *tree = c->tuples.domains[q]->tree;
        rest /= n_levels;
        c->sets.low[q] = tree->first[level->node[at]];
        c->sets.high[q] = tree->last[level->node[at]];
        c->price[q] = c->task->objective->node_price[q][level->node[at]];
    }
    for (uint32_t q = 0; q < c->near->n_qis; q++) price += c->price[q]; /* in the order in which it was found */
    return price;
}

static void take(cover *c, double ratio, uint32_t n)
{
    if (c->watch != NULL) c->watch(c->context, ratio, c->sets.row_class);
    kn_disjoint_open(&c->sets);
    uint32_t centre = kn_disjoint_put_region(&c->sets, n);
    kn_disjoint_close(&c->sets, centre);
}

/* The group with the least ratio, again and again, until no ratio is within the round's limit. */
static kn_status play_round(cover *c, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t most = 2 * c->k - 1;
    while (c->heap.n > 0 && c->sets.n_uncovered > 0) {
        candidate *top = &c->heap.items[0];
        double price = open_group(c, top);
        uint32_t n = kn_disjoint_count(&c->sets, most);
        double ratio = n == 0 ? INFINITY : price / (n < most ? n : most);
        if (c->n_looks++ % 256 == 0)
            KN_TRY(kn_tick(c->task->ticker, "cover", 1 - (double)c->sets.n_uncovered / (double)c->tuples.n_rows, err));
        if (ratio <= top->ratio) {
            take(c, ratio, n < most ? n : most);
        } else if (ratio <= c->limit) {
            top->ratio = ratio;
            sift_down(c, 0);
        } else {
            *top = c->heap.items[--c->heap.n];
            sift_down(c, 0);
        }
    }
done:
    return status;
}

/* --- The whole -------------------------------------------------------------------------------------------------- */

static kn_status cover_init(cover *c, uint32_t *row_class, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = c->task->tuples;
    KN_TRY(kn_near_new(&c->near, c->task->objective, err));
    KN_TRY(kn_disjoint_init(&c->sets, c->near, row_class, c->k, err));
    KN_NEW(c->price, tuples->n_qis);
    KN_NEW_RAW(c->tuple_uncovered, tuples->n_tuples);
    c->tuples = *tuples;
    c->tuples.persons = c->tuples.persons_once = c->tuple_uncovered;
    c->tuples.n_repeats = 0;
    c->inner = *c->task;
    c->inner.tuples = &c->tuples;
    KN_NEW(c->finds, kn_pool_threads(c->task->pool));
    for (unsigned i = 0; i < kn_pool_threads(c->task->pool); i++) KN_NEW_RAW(c->finds[i].n_by_ratio, N_RATIOS);
done:
    return status;
}

static void cover_free(cover *c)
{
    for (unsigned i = 0; c->finds != NULL && i < kn_pool_threads(c->task->pool); i++) {
        kn_free(c->finds[i].n_by_ratio);
        kn_free(c->finds[i].candidates.items);
        kn_free(c->finds[i].keys.items);
    }
    kn_free(c->finds);
    kn_free(c->heap.items);
    kn_free(c->keys.items);
    kn_free(c->tuple_uncovered);
    kn_free(c->price);
    kn_full_domain_free(c->domain);
    kn_disjoint_free(&c->sets);
    kn_near_free(c->near);
}

kn_status kn_cover_classes(uint32_t *row_class, uint32_t *n_classes, uint64_t *n_looks, const kn_task *task, uint32_t k,
                           kn_cover_watch watch, void *context, kn_error *err)
{
    kn_status status = KN_OK;
    cover c = {.task = task, .k = k, .watch = watch, .context = context};
    assert(task->tuples->n_rows >= k);
    KN_TRY(cover_init(&c, row_class, err));
    while (c.sets.n_uncovered > 0) {
        KN_TRY(begin_round(&c, err));
        KN_TRY(play_round(&c, err));
    }
    kn_disjoint_number(&c.sets, n_classes);
    *n_looks = c.n_looks;
done:
    cover_free(&c);
    return status;
}

static kn_status refuse_large(const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    double n_nodes = 1, limit = kn_args_number(task->args, "limit");
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) n_nodes *= task->tuples->domains[q]->tree->n_levels;
    if (n_nodes * task->tuples->n_tuples > limit || n_nodes > UINT32_MAX)
        KN_FAIL(KN_RESOURCES,
                "cover looks at every group of %.0f lattice nodes, with %u distinct tuples more than its limit of %.0f "
                "in all; choose forest, give hierarchies fewer levels, or raise cover:limit=",
                n_nodes, task->tuples->n_tuples, limit);
done:
    return status;
}

static kn_status cover_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = (uint32_t)task->tuples->n_rows, k = kn_approximate_k(task);
    uint32_t *row_class = NULL, n_classes = n > 0;
    uint64_t n_looks = 0;
    KN_TRY(kn_tick(task->ticker, "cover", 0, err));
    KN_TRY(refuse_large(task, err));
    KN_NEW(row_class, n);
    if (n >= k) KN_TRY(kn_cover_classes(row_class, &n_classes, &n_looks, task, k, NULL, NULL, err));
    KN_TRY(kn_approximate_answer(answer, task, row_class, n_classes, "cover", err));
    kn_approximate_guarantee(answer, task, "Gionis, Tassa 2009, Theorem 6.6", 2 * (1 + log(2.0 * k)),
                             KN_PROOF_NO_SUPPRESSION);
    answer->n_nodes = n_looks;
done:
    kn_free(row_class);
    return status;
}

static const kn_param params[] = {
    {.name = "limit",
     .type = KN_PARAM_NUMBER,
     .preset = "2e9",
     .min = 1,
     .max = 1e15,
     .help = "lattice nodes times distinct tuples, above which it refuses"},
};

const kn_algorithm kn_algorithm_cover = {
    .name = "cover",
    .summary = "the cheapest sets that cover all rows, made disjoint; at most 2(1 + ln 2k) times the best loss",
    .citation = "Gionis, Tassa, k-anonymization with minimal loss of information, 2009, 6.3; Park, Shim 2007",
    .recoding = KN_RECODING_LOCAL,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .needs_cell_measure = true,
    .needs_trees = true,
    .all_or_nothing = true,
    .search = cover_search,
};
