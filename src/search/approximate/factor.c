/* Factors by matching, and classes from factors; see the header. */
#include "search/approximate/factor.h"

#include "base/hash.h"
#include "search/approximate/approximate.h"
#include "search/approximate/matching.h"
#include "search/approximate/near.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NEW = 6, VERTICES_PER_JOB = 64 };
static const double LARGEST_WEIGHT = 0x1p34;

typedef struct edge {
    uint32_t a, b; /* a < b; vertices of the part, from 0 */
    int64_t weight;
} edge;

typedef KN_VECTOR(edge) edge_list;

/* What all parts share. */
typedef struct rows {
    const kn_task *task;
    uint32_t k, n_near;
    kn_near *near;
    uint32_t *first, *row; /* vertices: near.h */
    uint32_t *at;          /* [vertex]: its position */
    double unit;           /* weight of distance 1 */
    kn_factor *out;
    uint32_t n_parts;
} rows;

/* Vertices begin .. begin + n - 1, solved by themselves. */
typedef struct part {
    const rows *rows;
    kn_pool *pool;
    uint32_t begin, n;
    edge_list edges;
    uint64_t *known; /* hash set of edges, a * n + b; UINT64_MAX: free */
    size_t n_slots;
    int64_t must;        /* M */
    int64_t scale;       /* a missing edge: scale * weight + offset[a] + offset[b] < 0, blossoms aside */
    int64_t *offset;     /* [vertex] */
    int64_t *box_offset; /* [box]: least one; INT64_MAX: none of the part */
    kn_matching matching;
    kn_view *views;   /* [worker] */
    edge_list *found; /* [job]: missing edges */
} part;

static int64_t weight_of(const rows *r, double distance) { return llround(distance * r->unit); }

/* --- Edges ------------------------------------------------------------------------------------------------------ */

static uint64_t *slot_of(const part *p, uint64_t key)
{
    size_t at = (key * kn_hash_key[0] >> 20) & (p->n_slots - 1);
    while (p->known[at] != UINT64_MAX && p->known[at] != key) at = (at + 1) & (p->n_slots - 1);
    return &p->known[at];
}

static bool is_known(const part *p, uint32_t a, uint32_t b)
{
    return *slot_of(p, a < b ? (uint64_t)a * p->n + b : (uint64_t)b * p->n + a) != UINT64_MAX;
}

static kn_status add_edge(part *p, uint32_t a, uint32_t b, int64_t weight, kn_error *err)
{
    kn_status status = KN_OK;
    if (a == b) return KN_OK;
    if (a > b) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    if (2 * (p->edges.n + 1) > p->n_slots) {
        kn_free(p->known);
        p->n_slots = p->n_slots > 0 ? 2 * p->n_slots : 1024;
        KN_NEW_RAW(p->known, p->n_slots);
        memset(p->known, 0xFF, p->n_slots * sizeof *p->known);
        for (size_t e = 0; e < p->edges.n; e++) {
            uint64_t key = (uint64_t)p->edges.items[e].a * p->n + p->edges.items[e].b;
            *slot_of(p, key) = key;
        }
    }
    uint64_t key = (uint64_t)a * p->n + b, *slot = slot_of(p, key);
    if (*slot != UINT64_MAX) return KN_OK;
    *slot = key;
    KN_PUSH(&p->edges, ((edge){a, b, weight}));
done:
    return status;
}

/* Vertex v of the part with the n next ones of its equals, and with one row of each near tuple. */
static kn_status add_near(part *p, const kn_neighbours *found, uint32_t v, kn_error *err)
{
    kn_status status = KN_OK;
    const rows *r = p->rows;
    const uint32_t position = r->at[p->begin + v];
    for (size_t i = 0; i < found->list.n; i++) {
        const kn_neighbour *to = &found->list.items[i];
        const uint32_t first = r->first[to->position], n = r->first[to->position + 1] - first;
        const uint32_t own = p->begin + v - r->first[position], n_edges = to->position == position ? 2 : 1;
        for (uint32_t j = 1; j <= n_edges; j++) {
            const uint32_t other = first + (to->position == position ? own + j : own) % n;
            if (other < p->begin || other >= p->begin + p->n) continue;
            KN_TRY(add_edge(p, v, other - p->begin, weight_of(r, to->distance), err));
        }
    }
done:
    return status;
}

/* All in a ring, so that there always is a factor, and each with its neighbours. */
static kn_status first_edges(part *p, kn_error *err)
{
    kn_status status = KN_OK;
    const rows *r = p->rows;
    kn_neighbours found = {0};
    for (uint32_t v = 0; v < p->n; v++) {
        const uint32_t position = r->at[p->begin + v], next = v + 1 < p->n ? v + 1 : 0;
        if (v == 0 || position != p->views[0].from) {
            kn_view_from(&p->views[0], position);
            KN_TRY(kn_view_nearest(&found, &p->views[0], NULL, NULL, 1, r->n_near, err));
        }
        int64_t weight = weight_of(r, kn_view_distance(&p->views[0], r->at[p->begin + next]));
        KN_TRY(add_edge(p, v, next, weight, err));
        KN_TRY(add_near(p, &found, v, err));
        if (v % 256 == 0) KN_TRY(kn_tick(r->task->ticker, "matching", 0, err));
    }
done:
    kn_free(found.list.items);
    return status;
}

/* --- Matching --------------------------------------------------------------------------------------------------- */

static void edges_of_two(kn_matching_edge *out, const part *p)
{
    size_t n = 0;
    for (size_t e = 0; e < p->edges.n; e++) {
        const edge *from = &p->edges.items[e];
        out[n++] = (kn_matching_edge){2 * from->a, 2 * from->b, 2 * p->must - from->weight};
        out[n++] = (kn_matching_edge){2 * from->a, 2 * from->b + 1, p->must - from->weight};
        out[n++] = (kn_matching_edge){2 * from->a + 1, 2 * from->b, p->must - from->weight};
    }
}

static void edges_of_three(kn_matching_edge *out, const part *p)
{
    size_t n = 0;
    for (size_t e = 0; e < p->edges.n; e++) {
        const edge *from = &p->edges.items[e];
        const uint32_t gadget = 2 * p->n + 2 * (uint32_t)e;
        for (uint32_t copy = 0; copy < 2; copy++) {
            out[n++] = (kn_matching_edge){2 * from->a + copy, gadget, -from->weight};
            out[n++] = (kn_matching_edge){2 * from->b + copy, gadget + 1, -from->weight};
        }
        out[n++] = (kn_matching_edge){gadget, gadget + 1, 0};
    }
}

static kn_status match(part *p, kn_error *err)
{
    kn_status status = KN_OK;
    const rows *r = p->rows;
    const bool two = r->k == 2;
    const size_t n_edges = p->edges.n * (two ? 3 : 5);
    kn_matching_edge *edges = NULL;
    uint32_t n_vertices = 2 * p->n + (two ? 0 : 2 * (uint32_t)p->edges.n);
    if (r->task->memory_bytes > 0 && kn_matching_bytes(n_vertices, n_edges) > r->task->memory_bytes)
        KN_FAIL(KN_RESOURCES,
                "the matching of %u rows takes about %zu MB, more than is allowed; allow more memory, or "
                "solve the table in parts with block=",
                p->n, kn_matching_bytes(n_vertices, n_edges) >> 20);
    KN_NEW_RAW(edges, n_edges);
    kn_matching_problem problem = {n_vertices, n_edges, edges, !two};
    if (two) edges_of_two(edges, p);
    else edges_of_three(edges, p);
    kn_matching_free(&p->matching);
    KN_TRY(kn_matching_find(&p->matching, &problem, r->task->ticker, err));
done:
    kn_free(edges);
    return status;
}

/* Is the edge taken? */
static bool is_used(const part *p, size_t e)
{
    const bool *used = p->matching.used;
    return p->rows->k == 2 ? used[3 * e] || used[3 * e + 1] || used[3 * e + 2] : !used[5 * e + 4];
}

/* --- Pricing ---------------------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* What an edge that is not there would add to the dual where it is negative; it is missing then. */
static int64_t slack(const part *p, uint32_t a, uint32_t b, int64_t weight)
{
    const kn_matching *m = &p->matching;
    const int64_t w = KN_MATCHING_SCALE * weight, must = KN_MATCHING_SCALE * p->must;
    if (p->rows->k == 2) {
        int64_t both = m->dual[2 * a] + m->dual[2 * b] + kn_matching_common(m, 2 * a, 2 * b) - 2 * must + w;
        int64_t first = m->dual[2 * a] + m->dual[2 * b + 1] + kn_matching_common(m, 2 * a, 2 * b + 1) - must + w;
        int64_t second = m->dual[2 * a + 1] + m->dual[2 * b] + kn_matching_common(m, 2 * a + 1, 2 * b) - must + w;
        return least(both, least(first, second));
    }
    /* the gadget joins the blossoms that hold all four copies */
    int64_t common = least(kn_matching_common(m, 2 * a, 2 * a + 1), kn_matching_common(m, 2 * b, 2 * b + 1));
    common = least(common, kn_matching_common(m, 2 * a, 2 * b));
    return 2 * w + least(m->dual[2 * a], m->dual[2 * a + 1]) + least(m->dual[2 * b], m->dual[2 * b + 1]) + common;
}

static void set_offsets(part *p)
{
    const rows *r = p->rows;
    const kn_matching *m = &p->matching;
    p->scale = KN_MATCHING_SCALE * (r->k == 2 ? 1 : 2);
    for (uint32_t v = 0; v < p->n; v++)
        p->offset[v] = least(m->dual[2 * v] - KN_MATCHING_SCALE * p->must, m->dual[2 * v + 1]);
    for (uint32_t b = r->near->n_boxes; b-- > 0;) {
        const kn_box *box = &r->near->boxes[b];
        p->box_offset[b] = INT64_MAX;
        if (box->low != KN_NONE) {
            p->box_offset[b] = least(p->box_offset[box->low], p->box_offset[box->high]);
            continue;
        }
        for (uint32_t v = r->first[box->begin]; v < r->first[box->end]; v++)
            if (v >= p->begin && v < p->begin + p->n)
                p->box_offset[b] = least(p->box_offset[b], p->offset[v - p->begin]);
    }
}

typedef struct missing {
    int64_t slack;
    edge edge;
} missing;

/* The worst missing edges of one vertex, to vertices after it. */
typedef struct pricing {
    const part *part;
    const kn_view *view;
    uint32_t v;
    uint32_t n;
    missing worst[MOST_NEW];
} pricing;

static void keep_missing(pricing *ask, uint32_t to, int64_t weight)
{
    const part *p = ask->part;
    int64_t by = slack(p, ask->v, to, weight);
    if (by >= 0 || (ask->n == MOST_NEW && by >= ask->worst[MOST_NEW - 1].slack) || is_known(p, ask->v, to)) return;
    uint32_t at = ask->n < MOST_NEW ? ask->n++ : MOST_NEW - 1;
    for (; at > 0 && ask->worst[at - 1].slack > by; at--) ask->worst[at] = ask->worst[at - 1];
    ask->worst[at] = (missing){by, {ask->v, to, weight}};
}

static void price_box(pricing *ask, uint32_t b)
{
    const part *p = ask->part;
    const rows *r = p->rows;
    const kn_box *box = &r->near->boxes[b];
    const uint32_t after = p->begin + ask->v + 1;
    if (p->box_offset[b] == INT64_MAX || r->first[box->end] <= after) return;
    const int64_t limit = -p->offset[ask->v]; /* scale * weight + the other's offset must be below it */
    if (p->scale * weight_of(r, kn_view_box(ask->view, b)) + p->box_offset[b] >= limit) return;
    if (box->low != KN_NONE) {
        price_box(ask, box->low);
        price_box(ask, box->high);
        return;
    }
    for (uint32_t position = box->begin; position < box->end; position++) {
        if (r->first[position + 1] <= after) continue;
        int64_t weight = weight_of(r, kn_view_distance(ask->view, position));
        for (uint32_t v = r->first[position]; v < r->first[position + 1]; v++) {
            if (v < after || v >= p->begin + p->n) continue;
            if (p->scale * weight + p->offset[v - p->begin] < limit) keep_missing(ask, v - p->begin, weight);
        }
    }
}

static kn_status job_price(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    part *p = context;
    const rows *r = p->rows;
    kn_view *view = &p->views[worker];
    uint32_t begin = (uint32_t)job * VERTICES_PER_JOB, end = begin + VERTICES_PER_JOB;
    p->found[job].n = 0;
    view->from = KN_NONE;
    for (uint32_t v = begin; v < end && v < p->n; v++) {
        pricing ask = {.part = p, .view = view, .v = v};
        if (view->from != r->at[p->begin + v]) kn_view_from(view, r->at[p->begin + v]);
        price_box(&ask, 0);
        for (uint32_t i = 0; i < ask.n; i++) KN_PUSH(&p->found[job], ask.worst[i].edge);
    }
    KN_TRY(kn_tick(r->task->ticker, "matching", -1, err));
done:
    return status;
}

/* Adds what is missing; *n_added 0: the matching is the best of the complete graph. */
static kn_status price(part *p, size_t *n_added, kn_error *err)
{
    kn_status status = KN_OK;
    const size_t n_jobs = ((size_t)p->n + VERTICES_PER_JOB - 1) / VERTICES_PER_JOB, n_before = p->edges.n;
    set_offsets(p);
    KN_TRY(kn_pool_run(p->pool, n_jobs, job_price, p, err));
    for (size_t job = 0; job < n_jobs; job++)
        for (size_t i = 0; i < p->found[job].n; i++) {
            const edge *more = &p->found[job].items[i];
            KN_TRY(add_edge(p, more->a, more->b, more->weight, err));
        }
    *n_added = p->edges.n - n_before;
done:
    return status;
}

/* --- A part ----------------------------------------------------------------------------------------------------- */

static kn_status part_init(part *p, kn_error *err)
{
    kn_status status = KN_OK;
    const unsigned n_threads = kn_pool_threads(p->pool);
    p->must = p->rows->k == 2 ? (int64_t)LARGEST_WEIGHT * 2 * (p->n + 1) : 0;
    KN_NEW_RAW(p->offset, p->n);
    KN_NEW_RAW(p->box_offset, p->rows->near->n_boxes);
    KN_NEW(p->found, p->n / VERTICES_PER_JOB + 1);
    KN_NEW(p->views, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(kn_view_init(&p->views[i], p->rows->near, err));
done:
    return status;
}

static void part_free(part *p)
{
    for (unsigned i = 0; p->views != NULL && i < kn_pool_threads(p->pool); i++)
        if (p->views[i].near != NULL) kn_view_free(&p->views[i]);
    for (size_t job = 0; p->found != NULL && job <= p->n / VERTICES_PER_JOB; job++) kn_free(p->found[job].items);
    kn_free(p->views);
    kn_free(p->found);
    kn_free(p->offset);
    kn_free(p->box_offset);
    kn_free(p->known);
    kn_free(p->edges.items);
    kn_matching_free(&p->matching);
}

static void take_edge(kn_factor *out, uint32_t a, uint32_t b)
{
    assert(out->mate[a][1] == KN_NONE && out->mate[b][1] == KN_NONE);
    out->mate[a][out->mate[a][0] != KN_NONE] = b;
    out->mate[b][out->mate[b][0] != KN_NONE] = a;
}

static kn_status solve_part(part *p, uint32_t *n_rounds, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_added;
    KN_TRY(part_init(p, err));
    KN_TRY(first_edges(p, err));
    do {
        KN_TRY(match(p, err));
        KN_TRY(price(p, &n_added, err));
        ++*n_rounds;
    } while (n_added > 0);
    for (size_t e = 0; e < p->edges.n; e++)
        if (is_used(p, e)) take_edge(p->rows->out, p->begin + p->edges.items[e].a, p->begin + p->edges.items[e].b);
done:
    return status;
}

static kn_status job_part(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    const rows *r = context;
    const uint64_t n = r->out->n;
    uint32_t n_rounds = 0;
    part p = {.rows = r, .begin = (uint32_t)(n * job / r->n_parts), .pool = r->n_parts == 1 ? r->task->pool : NULL};
    p.n = (uint32_t)(n * (job + 1) / r->n_parts) - p.begin;
    KN_TRY(solve_part(&p, &n_rounds, err));
    if (r->n_parts == 1) {
        r->out->n_rounds = n_rounds;
        r->out->n_edges = p.edges.n;
    }
done:
    part_free(&p);
    return status;
}

/* --- The whole table -------------------------------------------------------------------------------------------- */

void kn_factor_free(kn_factor *factor)
{
    kn_free(factor->row);
    kn_free(factor->mate);
    *factor = (kn_factor){0};
}

static kn_status add_weights(kn_factor *out, const rows *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_view view = {0};
    KN_TRY(kn_view_init(&view, r->near, err));
    for (uint32_t v = 0; v < out->n; v++) {
        kn_view_from(&view, r->at[v]);
        for (int i = 0; i < 2; i++)
            if (out->mate[v][i] != KN_NONE && out->mate[v][i] > v)
                out->weight += kn_view_distance(&view, r->at[out->mate[v][i]]);
    }
done:
    if (view.near != NULL) kn_view_free(&view);
    return status;
}

kn_status kn_factor_find(kn_factor *out, uint32_t *n_blocks, const kn_task *task, uint32_t k, uint32_t block,
                         uint32_t n_near, kn_error *err)
{
    kn_status status = KN_OK;
    rows r = {.task = task, .k = k, .n_near = n_near, .out = out, .n_parts = 1};
    double most = 0;
    *out = (kn_factor){.n = (uint32_t)task->tuples->n_rows};
    assert((k == 2 || k == 3) && out->n >= k);
    if (block > 0) r.n_parts = (out->n + block - 1) / block;
    while (out->n / r.n_parts < k) r.n_parts--;
    *n_blocks = r.n_parts;
    KN_TRY(kn_near_new(&r.near, task->objective, err));
    KN_TRY(kn_near_rows(&r.first, &out->row, r.near, err));
    KN_NEW_RAW(r.at, out->n);
    KN_NEW_RAW(out->mate, out->n);
    memset(out->mate, 0xFF, out->n * sizeof *out->mate);
    for (uint32_t p = 0; p < r.near->n; p++)
        for (uint32_t v = r.first[p]; v < r.first[p + 1]; v++) r.at[v] = p;
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        double dearest = 0; /* not always the root's */
        const kn_domain *domain = task->tuples->domains[q];
        dearest = task->objective->root_price[q];
        for (uint32_t node = 0; domain->kind == KN_DOMAIN_TREE && node < domain->tree->n_nodes; node++)
            dearest = fmax(dearest, task->objective->node_price[q][node]);
        most += dearest;
    }
    r.unit = most > 0 ? LARGEST_WEIGHT / most : 1;
    KN_TRY(kn_pool_run(r.n_parts > 1 ? task->pool : NULL, r.n_parts, job_part, &r, err));
    KN_TRY(add_weights(out, &r, err));
done:
    kn_free(r.first);
    kn_free(r.at);
    kn_near_free(r.near);
    if (status != KN_OK) kn_factor_free(out);
    return status;
}

/* --- Classes ---------------------------------------------------------------------------------------------------- */

/* Paths and cycles into runs of k to 2k-1 vertices: the cheapest, by dynamic programming. */
typedef struct splitting {
    const kn_factor *factor;
    uint32_t k;
    kn_growing growing;
    uint32_t *line;      /* the vertices of a component in their order */
    double *best;        /* [i]: cost of the first i of them */
    uint32_t *from;      /* [i]: where the last run begins */
    uint32_t *best_from; /* of the best rotation */
    uint32_t *row_class, n_classes;
} splitting;

static uint32_t follow(splitting *s, uint32_t v, bool *seen)
{
    uint32_t n = 0;
    while (v != KN_NONE) {
        seen[v] = true;
        s->line[n++] = v;
        const uint32_t *mate = s->factor->mate[v];
        v = mate[0] != KN_NONE && !seen[mate[0]] ? mate[0] : mate[1] != KN_NONE && !seen[mate[1]] ? mate[1] : KN_NONE;
    }
    return n;
}

/* Cost of the line turned by `turn`, with `from` filled. */
static double cut_line(splitting *s, uint32_t n, uint32_t turn)
{
    const kn_tuples *tuples = s->growing.tuples;
    for (uint32_t i = 1; i <= n; i++) s->best[i] = INFINITY;
    s->best[0] = 0;
    for (uint32_t begin = 0; begin < n; begin++) {
        if (isinf(s->best[begin])) continue;
        kn_growing_clear(&s->growing);
        for (uint32_t end = begin + 1; end <= n && end < begin + 2 * s->k; end++) {
            uint32_t at = end - 1 + turn < n ? end - 1 + turn : end - 1 + turn - n;
            kn_growing_add(&s->growing, tuples->row_tuple[s->factor->row[s->line[at]]]);
            if (end - begin < s->k) continue;
            double cost = s->best[begin] + (end - begin) * kn_growing_price(&s->growing);
            if (cost >= s->best[end]) continue;
            s->best[end] = cost;
            s->from[end] = begin;
        }
    }
    return s->best[n];
}

/* Some run of a cycle begins at one of any 2k-1 vertices in a row: these are all the turns there are. */
static void split(splitting *s, uint32_t n, bool is_cycle)
{
    uint32_t n_turns = is_cycle ? (2 * s->k - 1 < n ? 2 * s->k - 1 : n) : 1, best_turn = 0;
    double least_cost = INFINITY;
    for (uint32_t turn = 0; turn < n_turns; turn++) {
        double cost = cut_line(s, n, turn);
        if (cost >= least_cost) continue;
        least_cost = cost;
        best_turn = turn;
        memcpy(s->best_from, s->from, ((size_t)n + 1) * sizeof *s->from);
    }
    for (uint32_t end = n; end > 0; end = s->best_from[end]) {
        for (uint32_t i = s->best_from[end]; i < end; i++)
            s->row_class[s->factor->row[s->line[(i + best_turn) % n]]] = s->n_classes;
        s->n_classes++;
    }
}

static kn_status split_all(uint32_t *row_class, uint32_t *n_classes, const kn_factor *factor, const kn_task *task,
                           uint32_t k, kn_error *err)
{
    kn_status status = KN_OK;
    splitting s = {.factor = factor, .k = k, .row_class = row_class};
    kn_pricer *pricer = NULL;
    bool *seen = NULL;
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    KN_TRY(kn_growing_init(&s.growing, pricer, task->tuples, err));
    KN_NEW(seen, factor->n);
    KN_NEW_RAW(s.line, factor->n);
    KN_NEW_RAW(s.best, (size_t)factor->n + 1);
    KN_NEW_RAW(s.from, (size_t)factor->n + 1);
    KN_NEW_RAW(s.best_from, (size_t)factor->n + 1);
    for (uint32_t v = 0; v < factor->n; v++) /* paths from their ends, then cycles */
        if (!seen[v] && factor->mate[v][1] == KN_NONE) split(&s, follow(&s, v, seen), false);
    for (uint32_t v = 0; v < factor->n; v++)
        if (!seen[v]) split(&s, follow(&s, v, seen), true);
    *n_classes = s.n_classes;
done:
    kn_free(seen);
    kn_free(s.line);
    kn_free(s.best);
    kn_free(s.from);
    kn_free(s.best_from);
    kn_growing_free(&s.growing);
    kn_pricer_free(pricer);
    return status;
}

/* --- The algorithms --------------------------------------------------------------------------------------------- */

static bool is_binary(const kn_tuples *tuples)
{
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        uint32_t n = 0;
        for (uint32_t code = 0; code < domain->n_codes; code++) n += kn_domain_seen_rows(domain, code) > 0;
        if (n > 2 || (domain->missing != KN_NONE && domain->missing_is_wildcard)) return false;
    }
    return true;
}

static kn_status refuse_large(const kn_task *task, const kn_factor_claim *claim, uint32_t block, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = (uint32_t)task->tuples->n_rows;
    const double limit = kn_args_number(task->args, "limit");
    if (block == 0 && n > limit)
        KN_FAIL(KN_RESOURCES,
                "%s solves tables of up to %.0f rows, and this one has %u; choose forest or cover, which carry a proof "
                "too, raise limit=, or give up the proof and solve the table in parts with block=%.0f",
                claim->name, limit, n, limit < 10000 ? limit : 10000);
done:
    return status;
}

kn_status kn_factor_search(kn_answer *answer, const kn_task *task, const kn_factor_claim *claim, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = (uint32_t)task->tuples->n_rows, block = (uint32_t)kn_args_number(task->args, "block");
    uint32_t *row_class = NULL, n_classes = n > 0, n_blocks = 1;
    kn_factor factor = {0};
    KN_TRY(kn_tick(task->ticker, claim->name, 0, err));
    KN_TRY(refuse_large(task, claim, block, err));
    KN_NEW(row_class, n);
    if (n >= claim->k) {
        KN_TRY(kn_factor_find(&factor, &n_blocks, task, claim->k, block, KN_FACTOR_NEAR, err));
        KN_TRY(split_all(row_class, &n_classes, &factor, task, claim->k, err));
    }
    KN_TRY(kn_approximate_answer(answer, task, row_class, n_classes, claim->name, err));
    const bool binary = is_binary(task->tuples);
    kn_approximate_guarantee(answer, task, binary ? claim->theorem_binary : claim->theorem,
                             binary ? claim->ratio_binary : claim->ratio,
                             binary ? KN_PROOF_NO_SUPPRESSION : claim->proof);
    if (answer->guarantee.holds && n_blocks > 1) {
        answer->guarantee.holds = false;
        answer->guarantee.unproven = KN_SAY_UNPROVEN_BLOCKS;
    }
    answer->n_blocks = n_blocks;
    answer->n_nodes = factor.n_edges;
    if (task->trace != NULL && task->trace->explain)
        kn_buffer_printf(&task->trace->explanation, "%s: the factor weighs %.9g (prices summed over its edges)%s\n",
                         claim->name, factor.weight, n_blocks > 1 ? "; solved in parts" : ", proven least");
done:
    kn_free(row_class);
    kn_factor_free(&factor);
    return status;
}

const kn_param kn_factor_params[] = {
    {.name = "limit",
     .type = KN_PARAM_INT,
     .preset = "50000",
     .min = 1,
     .max = 1000000,
     .help = "rows that are solved at once; larger tables are refused"},
    {.name = "block",
     .type = KN_PARAM_INT,
     .preset = "0",
     .min = 0,
     .max = 1000000,
     .help = "solve the table in parts of at most so many rows, without a proof; 0: all at once"},
};
