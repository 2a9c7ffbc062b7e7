/* FOREST and DECOMPOSE-COMPONENT: trees of near rows, cut into classes; at most max(2k-1, 3k-5) times the best loss.
 *
 * [AF] 4 (Aggarwal et al. 2005, Theorem 5), [GT] 6.4 for the entropy measures. In: distinct tuples. Out: classes of k
 * to max(2k-1, 3k-5) rows, each released as its closure.
 *
 *   grow   while a tree has fewer than k rows, its one row without an outgoing edge leads to the nearest row outside
 * the tree. No more than k-2 others are inside, so that is one of its k-1 nearest neighbours, and its row pays at least
 * as much in every k-anonymous release: the forest weighs at most the optimum. The tree whose next edge is shortest
 * grows first. cut    edges with at least k rows on both sides go, the heaviest first. A tree that is still too large
 * has a centre whose subtrees all have fewer than k rows; they are put together in groups of at least k, and the centre
 * goes with the last group.
 *
 * The property: a row of a class pays at most what the edges of the class's tree weigh together, because prices are
 * monotone and sub-additive; a row may be suppressed in the optimum, since nothing is dearer ([AF] 4, end). Column
 * weights are part of the prices. The sum over rows of the distance to their (k-1)st neighbour ([GT] Lemma 6.10) is a
 * lower bound and reported as such.
 *
 * Where it departs from the paper: DECOMPOSE as printed replaces a vertex by a Steiner vertex and goes on, and can be
 * left with a Steiner vertex whose subtrees it cannot part (k=3, four legs of 2); here the centre stays real until all
 * its subtrees are dealt out. Rows with equal values begin as trees of up to k of them. A class of 2k rows or more is
 * cut in two in the end, where its rows stand in the order of near.h, at the cheapest place: monotone prices make that
 * no worse.
 *
 * Cost: the nearest neighbours (near.h), then n log n; memory n * k. */
#include "search/approximate/forest.h"

#include "classes/group.h"
#include "search/approximate/approximate.h"
#include "search/approximate/near.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TUPLES_PER_JOB = 128 };

/* --- Neighbours ------------------------------------------------------------------------------------------------- */

typedef KN_VECTOR(kn_neighbour) neighbour_list;

typedef struct growth {
    const kn_task *task;
    uint32_t k;
    kn_near *near;
    kn_view *views; /* [worker] */
    kn_neighbours *found;
    neighbour_list *lists;   /* [job]: of its positions, one after the other */
    uint32_t *start, *end;   /* [position]: in its job's list */
    uint32_t *first;         /* [position]: its first vertex; n + 1 */
    uint32_t *at;            /* [vertex]: its position */
    uint32_t *turn;          /* [position]: the vertex that the next edge leads to */
    uint32_t *leader, *size; /* [vertex]: union-find; size of a leader's tree */
    kn_trees *trees;
} growth;

static kn_status job_neighbours(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    growth *g = context;
    neighbour_list *list = &g->lists[job];
    uint32_t begin = (uint32_t)job * TUPLES_PER_JOB, end = begin + TUPLES_PER_JOB;
    for (uint32_t p = begin; p < end && p < g->near->n; p++) {
        kn_neighbours *found = &g->found[worker];
        kn_view_from(&g->views[worker], p);
        KN_TRY(kn_view_nearest(found, &g->views[worker], NULL, NULL, 1, g->k - 1, err));
        g->start[p] = (uint32_t)list->n;
        KN_RESERVE(list, found->list.n);
        for (size_t i = 0; i < found->list.n; i++) list->items[list->n++] = found->list.items[i];
        g->end[p] = (uint32_t)list->n;
    }
    KN_TRY(kn_tick(g->task->ticker, "forest", (double)begin / g->near->n, err));
done:
    return status;
}

static kn_status find_neighbours(growth *g, kn_error *err)
{
    kn_status status = KN_OK;
    const unsigned n_threads = kn_pool_threads(g->task->pool);
    const size_t n_jobs = ((size_t)g->near->n + TUPLES_PER_JOB - 1) / TUPLES_PER_JOB;
    KN_NEW(g->views, n_threads);
    KN_NEW(g->found, n_threads);
    KN_NEW(g->lists, n_jobs);
    KN_NEW_RAW(g->start, g->near->n);
    KN_NEW_RAW(g->end, g->near->n);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(kn_view_init(&g->views[i], g->near, err));
    KN_TRY(kn_pool_run(g->task->pool, n_jobs, job_neighbours, g, err));
done:
    return status;
}

/* What the rows cost at least: each shares its class with k-1 others. */
static double neighbour_bound(const growth *g)
{
    double sum = 0;
    for (uint32_t p = 0; p < g->near->n; p++) {
        const kn_neighbour *list = g->lists[p / TUPLES_PER_JOB].items;
        if (g->k > 1) sum += g->near->rows[p] * list[g->end[p] - 1].distance;
        else
            for (uint32_t q = 0; q < g->near->n_qis; q++) {
                uint32_t code = g->near->codes[(size_t)p * g->near->n_qis + q];
                sum += g->near->rows[p] * kn_near_price(g->near, q, code, code);
            }
    }
    return sum;
}

/* --- FOREST ----------------------------------------------------------------------------------------------------- */

static uint32_t leader(const growth *g, uint32_t v)
{
    while (g->leader[v] != v) v = g->leader[v] = g->leader[g->leader[v]];
    return v;
}

static void lead(growth *g, uint32_t from, uint32_t to, double weight)
{
    uint32_t a = leader(g, from), b = leader(g, to);
    assert(a != b && g->trees->to[from] == KN_NONE);
    g->trees->to[from] = to;
    g->trees->weight[from] = weight;
    if (g->size[a] > g->size[b]) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    g->leader[a] = b;
    g->size[b] += g->size[a];
}

/* Rows with equal values in one chain, or, from 2k on, in chains of k to 2k-1. */
static void chain_equals(growth *g, uint32_t position)
{
    uint32_t begin = g->first[position], n = g->near->rows[position], n_chains = n / g->k > 0 ? n / g->k : 1;
    double same = 0;
    for (uint32_t q = 0; q < g->near->n_qis; q++) {
        uint32_t code = g->near->codes[(size_t)position * g->near->n_qis + q];
        same += kn_near_price(g->near, q, code, code);
    }
    for (uint32_t i = 0; i + 1 < n; i++)
        if ((uint64_t)(i + 1) * n_chains / n == (uint64_t)i * n_chains / n) lead(g, begin + i, begin + i + 1, same);
}

/* The shortest edge out of the tree of `root`, which has fewer than k vertices. Equal rows outside other than whole
 * trees do not exist: fewer than k of them are one chain. */
static const kn_neighbour *next_edge(const growth *g, uint32_t root)
{
    const uint32_t position = g->at[root], tree = leader(g, root);
    const kn_neighbour *list = g->lists[position / TUPLES_PER_JOB].items;
    for (uint32_t i = g->start[position]; i < g->end[position]; i++)
        if (leader(g, g->first[list[i].position]) != tree) return &list[i];
    assert(false);
    return NULL;
}

typedef struct waiting {
    double distance;
    uint32_t root;
} waiting;

static bool is_before(const waiting *a, const waiting *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->root < b->root;
}

static void sift_down(waiting *heap, size_t n, size_t at)
{
    for (;;) {
        size_t least = at, left = 2 * at + 1;
        if (left < n && is_before(&heap[left], &heap[least])) least = left;
        if (left + 1 < n && is_before(&heap[left + 1], &heap[least])) least = left + 1;
        if (least == at) return;
        waiting swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

/* A tree keeps its root while others come to it, and its next edge only gets longer: so a tree that is taken out is
 * looked at again, and goes back where its edge is not the shortest any more. */
static kn_status grow_trees(growth *g, kn_error *err)
{
    kn_status status = KN_OK;
    waiting *heap = NULL;
    size_t n = 0;
    KN_NEW_RAW(heap, g->trees->n);
    for (uint32_t v = 0; v < g->trees->n; v++) {
        if (g->trees->to[v] != KN_NONE || g->size[leader(g, v)] >= g->k) continue;
        heap[n++] = (waiting){next_edge(g, v)->distance, v};
    }
    for (size_t i = n / 2; i-- > 0;) sift_down(heap, n, i);
    while (n > 0) {
        const uint32_t root = heap[0].root;
        const kn_neighbour *edge = NULL;
        if (g->size[leader(g, root)] < g->k) edge = next_edge(g, root);
        if (edge != NULL && edge->distance > heap[0].distance) {
            heap[0].distance = edge->distance;
        } else {
            if (edge != NULL) {
                const uint32_t to = edge->position;
                lead(g, root, g->first[to] + g->turn[to]++ % g->near->rows[to], edge->distance);
            }
            heap[0] = heap[--n];
        }
        sift_down(heap, n, 0);
    }
done:
    kn_free(heap);
    return status;
}

static kn_status number_vertices(growth *g, uint32_t **rows, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = g->trees->n;
    KN_TRY(kn_near_rows(&g->first, rows, g->near, err));
    KN_NEW_RAW(g->at, n);
    KN_NEW(g->turn, g->near->n);
    KN_NEW_RAW(g->leader, n);
    KN_NEW_RAW(g->size, n);
    for (uint32_t p = 0; p < g->near->n; p++)
        for (uint32_t v = g->first[p]; v < g->first[p + 1]; v++) g->at[v] = p;
    for (uint32_t v = 0; v < n; v++) {
        g->leader[v] = v;
        g->size[v] = 1;
        g->trees->to[v] = KN_NONE;
    }
done:
    return status;
}

static void growth_free(growth *g)
{
    const size_t n = g->near != NULL ? g->near->n : 0;
    for (size_t i = 0; g->lists != NULL && i * TUPLES_PER_JOB < n; i++) kn_free(g->lists[i].items);
    for (unsigned i = 0; i < kn_pool_threads(g->task->pool); i++) {
        if (g->views != NULL) kn_view_free(&g->views[i]);
        if (g->found != NULL) kn_free(g->found[i].list.items);
    }
    kn_free(g->views);
    kn_free(g->found);
    kn_free(g->lists);
    kn_free(g->start);
    kn_free(g->end);
    kn_free(g->first);
    kn_free(g->at);
    kn_free(g->turn);
    kn_free(g->leader);
    kn_free(g->size);
    kn_near_free(g->near);
}

kn_status kn_forest_grow(kn_trees *trees, uint32_t **rows, double *bound, const kn_task *task, uint32_t k,
                         kn_error *err)
{
    kn_status status = KN_OK;
    growth g = {.task = task, .k = k, .trees = trees};
    *trees = (kn_trees){.n = (uint32_t)task->tuples->n_rows};
    *rows = NULL;
    assert(trees->n >= k && k > 0);
    KN_TRY(kn_near_new(&g.near, task->objective, err));
    KN_NEW_RAW(trees->to, trees->n);
    KN_NEW(trees->weight, trees->n);
    KN_TRY(number_vertices(&g, rows, err));
    KN_TRY(find_neighbours(&g, err));
    *bound = neighbour_bound(&g);
    for (uint32_t p = 0; p < g.near->n; p++) chain_equals(&g, p);
    KN_TRY(grow_trees(&g, err));
done:
    growth_free(&g);
    return status;
}

/* --- DECOMPOSE-COMPONENT ---------------------------------------------------------------------------------------- */

typedef struct subtree {
    uint32_t root, size;
} subtree;

typedef struct decomposition {
    const kn_trees *trees;
    uint32_t k, most;
    uint32_t *start, *edges; /* CSR: edges of a vertex, by the vertex that they lead from */
    bool *cut;               /* [vertex]: its edge is gone */
    uint32_t *component, n_components;
    uint32_t *queue, *came_from; /* scratch of walks; [vertex] */
    subtree *subtrees;           /* scratch: of a centre */
} decomposition;

static uint32_t other_end(const decomposition *d, uint32_t edge, uint32_t v)
{
    return edge == v ? d->trees->to[edge] : edge;
}

/* Vertices that v reaches without the edge to `without` (KN_NONE: with all), in queue and came_from; it stops once
 * there are `enough`. */
static uint32_t walk_from(decomposition *d, uint32_t v, uint32_t without, uint32_t enough)
{
    uint32_t n = 1;
    d->queue[0] = v;
    d->came_from[v] = without;
    for (uint32_t i = 0; i < n && n < enough; i++) {
        const uint32_t u = d->queue[i];
        for (uint32_t e = d->start[u]; e < d->start[u + 1] && n < enough; e++) {
            const uint32_t edge = d->edges[e], w = other_end(d, edge, u);
            if (d->cut[edge] || w == d->came_from[u]) continue;
            d->came_from[w] = u;
            d->queue[n++] = w;
        }
    }
    return n;
}

static kn_status list_edges(decomposition *d, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_trees *trees = d->trees;
    KN_NEW(d->start, (size_t)trees->n + 2);
    KN_NEW_RAW(d->edges, 2 * (size_t)trees->n);
    for (uint32_t v = 0; v < trees->n; v++) {
        if (trees->to[v] == KN_NONE) continue;
        d->start[v + 2]++;
        d->start[trees->to[v] + 2]++;
    }
    for (uint32_t v = 0; v < trees->n; v++) d->start[v + 2] += d->start[v + 1];
    for (uint32_t v = 0; v < trees->n; v++) {
        if (trees->to[v] == KN_NONE) continue;
        d->edges[d->start[v + 1]++] = v;
        d->edges[d->start[trees->to[v] + 1]++] = v;
    }
done:
    return status;
}

typedef struct heavy {
    double weight;
    uint32_t edge;
} heavy;

static int heaviest_first(const void *a, const void *b)
{
    const heavy *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Case A, all of it: an edge that cannot go now cannot go later, when trees are smaller. */
static kn_status cut_edges(decomposition *d, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_trees *trees = d->trees;
    heavy *edges = NULL;
    size_t n = 0;
    KN_NEW_RAW(edges, trees->n);
    for (uint32_t v = 0; v < trees->n; v++)
        if (trees->to[v] != KN_NONE) edges[n++] = (heavy){trees->weight[v], v};
    qsort(edges, n, sizeof *edges, heaviest_first);
    for (size_t i = 0; i < n; i++) {
        const uint32_t edge = edges[i].edge, to = trees->to[edge];
        d->cut[edge] = walk_from(d, edge, to, d->k) == d->k && walk_from(d, to, edge, d->k) == d->k;
    }
done:
    kn_free(edges);
    return status;
}

/* The vertex of the tree in queue[0..n-1] whose subtrees all have fewer than k vertices. `size` is scratch. */
static uint32_t find_centre(decomposition *d, uint32_t n, uint32_t *size)
{
    uint32_t centre = KN_NONE;
    for (uint32_t i = 0; i < n; i++) size[d->queue[i]] = 1;
    for (uint32_t i = n; i-- > 0 && centre == KN_NONE;) { /* leaves first: the first one with k below and in it */
        const uint32_t v = d->queue[i];
        if (size[v] >= d->k) centre = v;
        else size[d->came_from[v]] += size[v];
    }
    return centre;
}

static int by_root(const void *a, const void *b)
{
    const subtree *x = a, *y = b;
    return x->root < y->root ? -1 : x->root > y->root;
}

static void put_subtree(decomposition *d, const subtree *part, uint32_t centre)
{
    const uint32_t n = walk_from(d, part->root, centre, UINT32_MAX);
    assert(n == part->size);
    for (uint32_t i = 0; i < n; i++) d->component[d->queue[i]] = d->n_components;
}

/* The last two groups: all subtrees from the i-th on, n of them, and the centre; too many for one. */
static void part_last(decomposition *d, uint32_t centre, uint32_t i, uint32_t n, uint32_t rest)
{
    uint32_t whole = i, first = 0;
    while (whole < n && d->subtrees[whole].size + 1 != d->k) whole++;
    if (whole < n) { /* it and the centre are k */
        subtree swap = d->subtrees[i];
        d->subtrees[i] = d->subtrees[whole];
        d->subtrees[whole] = swap;
    }
    while (first + 1 < d->k) {
        first += d->subtrees[i].size;
        put_subtree(d, &d->subtrees[i++], centre);
    }
    const uint32_t second = rest - 1 - first;
    const bool with_second = second + 1 == d->k;
    assert(second + with_second >= d->k && first + !with_second >= d->k);
    if (!with_second) d->component[centre] = d->n_components;
    d->n_components++;
    for (; i < n; i++) put_subtree(d, &d->subtrees[i], centre);
    if (with_second) d->component[centre] = d->n_components;
    d->n_components++;
}

/* A tree of more than `most` vertices that no edge can be taken from: in queue[0..n-1]. */
static void part_around_centre(decomposition *d, uint32_t n, uint32_t *size)
{
    const uint32_t centre = find_centre(d, n, size);
    uint32_t n_subtrees = 0, rest = n, i = 0;
    assert(centre != KN_NONE);
    for (uint32_t e = d->start[centre]; e < d->start[centre + 1]; e++) {
        const uint32_t edge = d->edges[e], root = other_end(d, edge, centre);
        if (d->cut[edge]) continue;
        d->subtrees[n_subtrees++] = (subtree){root, walk_from(d, root, centre, UINT32_MAX)};
        assert(d->subtrees[n_subtrees - 1].size < d->k);
    }
    qsort(d->subtrees, n_subtrees, sizeof *d->subtrees, by_root);
    while (rest > d->most) {
        uint32_t group = 0, end = i;
        while (group < d->k && end < n_subtrees) group += d->subtrees[end++].size;
        if (group < d->k || rest - group < d->k) {
            part_last(d, centre, i, n_subtrees, rest);
            return;
        }
        for (; i < end; i++) put_subtree(d, &d->subtrees[i], centre);
        d->n_components++;
        rest -= group;
    }
    for (; i < n_subtrees; i++) put_subtree(d, &d->subtrees[i], centre);
    d->component[centre] = d->n_components++;
}

kn_status kn_forest_decompose(uint32_t *component, uint32_t *n_components, const kn_trees *trees, uint32_t k,
                              kn_error *err)
{
    kn_status status = KN_OK;
    decomposition d = {.trees = trees, .k = k, .component = component};
    uint32_t *size = NULL;
    d.most = k > 4 ? 3 * k - 5 : 2 * k - 1;
    KN_NEW(d.cut, trees->n);
    KN_NEW_RAW(d.queue, trees->n);
    KN_NEW_RAW(d.came_from, trees->n);
    KN_NEW_RAW(d.subtrees, trees->n);
    KN_NEW_RAW(size, trees->n);
    KN_TRY(list_edges(&d, err));
    KN_TRY(cut_edges(&d, err));
    for (uint32_t v = 0; v < trees->n; v++) component[v] = KN_NONE;
    for (uint32_t v = 0; v < trees->n; v++) {
        if (component[v] != KN_NONE) continue;
        uint32_t n = walk_from(&d, v, KN_NONE, UINT32_MAX);
        if (n > d.most) {
            part_around_centre(&d, n, size);
            continue;
        }
        for (uint32_t i = 0; i < n; i++) component[d.queue[i]] = d.n_components;
        d.n_components++;
    }
    *n_components = d.n_components;
done:
    kn_free(d.start);
    kn_free(d.edges);
    kn_free(d.cut);
    kn_free(d.queue);
    kn_free(d.came_from);
    kn_free(d.subtrees);
    kn_free(size);
    return status;
}

/* --- Classes of 2k and more ------------------------------------------------------------------------------------- */

/* Vertices members[0..n-1], in their order: the first *at of them apart from the others cost least; 0: nothing is
 * gained. `before` is scratch, n + 1. */
static uint32_t cheapest_cut(kn_growing *growing, const uint32_t *members, uint32_t n, const uint32_t *rows, uint32_t k,
                             double *before)
{
    const kn_tuples *tuples = growing->tuples;
    kn_growing_clear(growing);
    for (uint32_t i = 0; i < n; i++) {
        kn_growing_add(growing, tuples->row_tuple[rows[members[i]]]);
        before[i + 1] = (i + 1) * kn_growing_price(growing);
    }
    uint32_t best = 0;
    double least = before[n];
    kn_growing_clear(growing);
    for (uint32_t i = n; i-- > k;) {
        kn_growing_add(growing, tuples->row_tuple[rows[members[i]]]);
        double cost = before[i] + (n - i) * kn_growing_price(growing);
        if (n - i < k || cost > least) continue;
        least = cost;
        best = i;
    }
    return best;
}

static kn_status cut_large(uint32_t *component, uint32_t *n_components, const kn_task *task, const uint32_t *rows,
                           uint32_t k, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = (uint32_t)task->tuples->n_rows, n_before = *n_components;
    uint32_t *start = NULL, *members = NULL;
    double *before = NULL;
    kn_pricer *pricer = NULL;
    kn_growing growing = {0};
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    KN_TRY(kn_growing_init(&growing, pricer, task->tuples, err));
    KN_NEW_RAW(before, (size_t)n + 1);
    KN_TRY(kn_group_members(&start, &members, component, n, n_before, err));
    for (uint32_t c = 0; c < n_before; c++) {
        const uint32_t size = start[c + 1] - start[c];
        if (size < 2 * k) continue;
        uint32_t at = cheapest_cut(&growing, members + start[c], size, rows, k, before);
        if (at == 0) continue;
        for (uint32_t i = start[c]; i < start[c] + at; i++) component[members[i]] = *n_components;
        ++*n_components;
    }
done:
    kn_free(start);
    kn_free(members);
    kn_free(before);
    kn_growing_free(&growing);
    kn_pricer_free(pricer);
    return status;
}

/* --- The search ------------------------------------------------------------------------------------------------- */

static kn_status forest_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = (uint32_t)task->tuples->n_rows, k = kn_approximate_k(task);
    uint32_t *rows = NULL, *component = NULL, *row_class = NULL, n_components = n > 0, column;
    kn_trees trees = {0};
    double bound = 0;
    KN_TRY(kn_tick(task->ticker, "forest", 0, err));
    KN_NEW(row_class, n);
    if (n >= k) {
        KN_TRY(kn_forest_grow(&trees, &rows, &bound, task, k, err));
        KN_NEW_RAW(component, n);
        KN_TRY(kn_forest_decompose(component, &n_components, &trees, k, err));
        KN_TRY(cut_large(component, &n_components, task, rows, k, err));
        for (uint32_t v = 0; v < n; v++) row_class[rows[v]] = component[v];
    }
    KN_TRY(kn_approximate_answer(answer, task, row_class, n_components, "forest", err));
    kn_approximate_guarantee(answer, task, "Aggarwal et al. 2005, Theorem 5", k > 4 ? 3.0 * k - 5 : 2.0 * k - 1, 0);
    /* Every row of a class of k rows pays for k-1 others, whatever else the models ask for. */
    if (task->tuples->n_persons == n && kn_approximate_is_monotone(task, &column))
        answer->bound = (bound - task->objective->discount) * task->objective->scale;
    answer->n_nodes = n;
done:
    kn_free(rows);
    kn_free(component);
    kn_free(row_class);
    kn_free(trees.to);
    kn_free(trees.weight);
    return status;
}

/* Measured: 20,000 people, eight columns, 1 s. */
static double expected_seconds(const kn_task *task)
{
    const double n = task->tuples->n_tuples;
    return 6e-6 * n * task->tuples->n_qis;
}

const kn_algorithm kn_algorithm_forest = {
    .name = "forest",
    .summary = "trees of near rows cut into classes; at most max(2k-1, 3k-5) times the best loss",
    .citation = "Aggarwal et al., Approximation algorithms for k-anonymity, 2005, section 4; Gionis, Tassa 2009, 6.4",
    .recoding = KN_RECODING_LOCAL,
    .needs_cell_measure = true,
    .seconds = expected_seconds,
    .all_or_nothing = true,
    .search = forest_search,
};
