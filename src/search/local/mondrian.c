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
 * widest column first (normalized), in it the allowable cut next to the median.
 *
 * Values are cut in the order of the domain's codes: numbers by value, text by frequency, a hierarchy by its leaves
 * (a class's closure is then the lowest node above its first and last leaf). A cut that narrows nothing, say between
 * two leaves of one node, is still made when nothing better is allowable: smaller classes never cost more under a
 * monotone measure, later cuts may gain by it, and the definition of minimal asks for it.
 *
 * Nothing is suppressed: where even the whole table breaks a model, it stays one class, and recoding refuses it. A
 * time limit stops the cutting; the classes reached by then are the answer.
 *
 * Cost: a class of m items and r columns is sorted by each column (by counting) and scanned twice; a column that
 * already covers all that the class covers needs no further look, so scans of large classes cost about m per column,
 * of small ones m * r. Large classes are cut column by column on the pool, small ones each in one job; the outcome of a
 * cut depends on its class only, so results are the same for any number of threads. */
#include "engine/closure/closure.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SMALL_ITEMS = 16384, /* from here on a class and all its cuts are one job */
    WASTE_CLASSES = 64,  /* sides of more than this many classes fill them evenly enough */
};

typedef struct node {
    uint32_t begin, end; /* of the records */
    kn_span *spans;      /* n_qis */
} node;

/* The best cut known: `n_left` records in the order of the column go left; 0: there is none. */
typedef struct cut {
    double loss, imbalance;
    uint32_t column, n_left;
} cut;

static const cut no_cut = {INFINITY, INFINITY, KN_NONE, 0};

/* Records of a node that stand together in the order of a column. */
typedef struct group {
    uint32_t begin; /* in the order; it ends where the next one begins */
    uint32_t code, n_rows, n_persons;
} group;

/* What one thread works with. */
typedef struct bench {
    uint32_t *order, *order_spare; /* records of a node in the order of one column */
    uint32_t *bucket;              /* of the counting sort */
    group *groups;                 /* n_groups and a closing one */
    uint32_t n_groups;
    double *left_price; /* per group */
    uint32_t **stamp;   /* SETS: [q][code], the number of the scan that last met the value */
    uint32_t scan;
    uint32_t *active; /* columns that may still grow in this scan */
    kn_span *spans, *small_spans;
    double *prices;
    kn_tally whole, right;
    kn_tally_view view;
} bench;

typedef struct search {
    const kn_task *task;
    const kn_items *items;
    const kn_pricer *pricer;
    uint32_t n_qis, stride;
    uint32_t *records, *spare; /* one per item: item, rows, persons, codes; classes are ranges of them */
    bool *begins_class;
    bool relaxed, by_median;
    double *waste; /* [persons] below n_waste */
    uint64_t n_waste, min_persons;
    bench *benches;
    atomic_bool out_of_time;
    atomic_uint_fast64_t n_cuts, n_items_done;
    /* the level of large classes that is being cut */
    node *large;
    cut *cuts;      /* [large * n_qis + q] */
    node *children; /* [2 * large], and whether there are any */
} search;

enum { RECORD_ITEM, RECORD_ROWS, RECORD_PERSONS, RECORD_CODES };

static inline const uint32_t *record_at(const search *s, const node *n, uint32_t index)
{
    return s->records + (size_t)(n->begin + index) * s->stride;
}

static inline uint32_t code_at(const search *s, const node *n, uint32_t index, uint32_t q)
{
    return record_at(s, n, index)[RECORD_CODES + q];
}

/* --- Spans ----------------------------------------------------------------------------------------------------- */

static uint32_t new_scan(search *s, bench *b)
{
    if (++b->scan == 0) {
        for (uint32_t q = 0; q < s->n_qis; q++)
            if (b->stamp[q] != NULL) memset(b->stamp[q], 0, s->pricer->columns[q].domain->n_codes * sizeof **b->stamp);
        b->scan = 1;
    }
    return b->scan;
}

/* True when the span grew. */
static inline bool span_add(const search *s, bench *b, uint32_t scan, uint32_t q, kn_span *span, uint32_t code)
{
    uint32_t *stamp = b->stamp[q];
    if (stamp != NULL) {
        if (stamp[code] == scan) return false;
        stamp[code] = scan;
        kn_span_add_value(span, &s->pricer->columns[q], code);
    } else if (code >= span->first && code <= span->last) {
        return false;
    }
    if (code < span->first) span->first = code;
    if (code > span->last) span->last = code; /* 0 in an empty span */
    return true;
}

static void find_spans(search *s, bench *b, node *n)
{
    uint32_t scan = new_scan(s, b);
    for (uint32_t q = 0; q < s->n_qis; q++) n->spans[q] = kn_span_empty();
    for (uint32_t i = 0; i < n->end - n->begin; i++) {
        const uint32_t *codes = record_at(s, n, i) + RECORD_CODES;
        for (uint32_t q = 0; q < s->n_qis; q++) span_add(s, b, scan, q, &n->spans[q], codes[q]);
    }
}

static inline bool same_extent(const kn_span *a, const kn_span *b)
{
    return a->first == b->first && a->last == b->last && a->n_values == b->n_values;
}

/* --- Order by one column --------------------------------------------------------------------------------------- */

/* Stable, by 8 bits of (code - first). */
static void radix_pass(const search *s, bench *b, const node *n, uint32_t q, uint32_t shift)
{
    uint32_t n_items = n->end - n->begin, first = n->spans[q].first, begin[257] = {0};
    for (uint32_t i = 0; i < n_items; i++) begin[(((code_at(s, n, i, q) - first) >> shift) & 255) + 1]++;
    for (uint32_t v = 0; v < 256; v++) begin[v + 1] += begin[v];
    for (uint32_t i = 0; i < n_items; i++) {
        uint32_t index = b->order[i];
        b->order_spare[begin[((code_at(s, n, index, q) - first) >> shift) & 255]++] = index;
    }
    uint32_t *swap = b->order;
    b->order = b->order_spare;
    b->order_spare = swap;
}

static void counting_sort(const search *s, bench *b, const node *n, uint32_t q)
{
    uint32_t n_items = n->end - n->begin, first = n->spans[q].first, n_codes = n->spans[q].last - first + 1;
    memset(b->bucket, 0, (size_t)n_codes * sizeof *b->bucket);
    for (uint32_t i = 0; i < n_items; i++) b->bucket[code_at(s, n, i, q) - first]++;
    for (uint32_t v = 0, before = 0; v < n_codes; v++) {
        uint32_t count = b->bucket[v];
        b->bucket[v] = before;
        before += count;
    }
    for (uint32_t i = 0; i < n_items; i++) b->order[b->bucket[code_at(s, n, i, q) - first]++] = i;
}

/* The records of a node in the order of column q, those of one code as they stand. */
static void sort_by_column(const search *s, bench *b, const node *n, uint32_t q)
{
    uint32_t n_items = n->end - n->begin, range = n->spans[q].last - n->spans[q].first;
    if (range / 2 < n_items) {
        counting_sort(s, b, n, q);
        return;
    }
    for (uint32_t i = 0; i < n_items; i++) b->order[i] = i;
    for (uint32_t shift = 0; shift < 32 && range >> shift != 0; shift += 8) radix_pass(s, b, n, q, shift);
}

/* Groups of the order that no cut may run through: equal codes, or single items when cuts are relaxed. */
static void find_groups(const search *s, bench *b, const node *n, uint32_t q)
{
    uint32_t n_items = n->end - n->begin, n_groups = 0, last_code = KN_NONE;
    for (uint32_t i = 0; i < n_items; i++) {
        const uint32_t *record = record_at(s, n, b->order[i]);
        uint32_t code = record[RECORD_CODES + q];
        if (s->relaxed || code != last_code) b->groups[n_groups++] = (group){.begin = i, .code = code};
        last_code = code;
        b->groups[n_groups - 1].n_rows += record[RECORD_ROWS];
        b->groups[n_groups - 1].n_persons += record[RECORD_PERSONS];
    }
    b->groups[n_groups].begin = n_items;
    b->n_groups = n_groups;
}

/* The same without looking at the records in their new order, for nodes that no cache holds. */
static void count_groups(const search *s, bench *b, const node *n, uint32_t q)
{
    uint32_t n_items = n->end - n->begin, first = n->spans[q].first, n_codes = n->spans[q].last - first + 1;
    uint32_t n_groups = 0, begin = 0;
    memset(b->groups, 0, (size_t)n_codes * sizeof *b->groups);
    for (uint32_t i = 0; i < n_items; i++) {
        const uint32_t *record = record_at(s, n, i);
        group *g = &b->groups[record[RECORD_CODES + q] - first];
        g->n_rows += record[RECORD_ROWS];
        g->n_persons += record[RECORD_PERSONS];
    }
    for (uint32_t v = 0; v < n_codes; v++) { /* the counting sort left the ends of the buckets */
        if (b->bucket[v] == begin) continue;
        group g = b->groups[v];
        g.begin = begin;
        g.code = first + v;
        b->groups[n_groups++] = g;
        begin = b->bucket[v];
    }
    b->groups[n_groups].begin = n_items;
    b->n_groups = n_groups;
}

static void order_by_column(const search *s, bench *b, const node *n, uint32_t q)
{
    uint32_t n_items = n->end - n->begin, range = n->spans[q].last - n->spans[q].first;
    sort_by_column(s, b, n, q);
    if (!s->relaxed && range < n_items) count_groups(s, b, n, q);
    else find_groups(s, b, n, q);
}

/* --- The best cut in one column -------------------------------------------------------------------------------- */

/* One pass over the groups of a column, from the left or from the right. */
typedef struct pass {
    uint32_t scan, n_active;
    uint64_t n_rows, n_persons;
    double price; /* of the closure of what was passed, as of the last call of pass_price */
    bool changed;
} pass;

static pass pass_start(search *s, bench *b, uint32_t column)
{
    pass p = {.scan = new_scan(s, b)};
    for (uint32_t q = 0; q < s->n_qis; q++) {
        b->spans[q] = kn_span_empty();
        b->prices[q] = 0;
        if (q != column) b->active[p.n_active++] = q;
    }
    return p;
}

/* A column that covers all of the node leaves the active ones. */
static void pass_add(search *s, bench *b, pass *p, const node *n, uint32_t column, uint32_t index)
{
    const group *g = &b->groups[index];
    p->n_rows += g->n_rows;
    p->n_persons += g->n_persons;
    p->changed = true;
    if (span_add(s, b, p->scan, column, &b->spans[column], g->code)) b->prices[column] = NAN;
    for (uint32_t i = g->begin; i < g[1].begin && p->n_active > 0; i++) {
        const uint32_t *codes = record_at(s, n, b->order[i]) + RECORD_CODES;
        for (uint32_t a = 0; a < p->n_active; a++) {
            uint32_t q = b->active[a];
            if (!span_add(s, b, p->scan, q, &b->spans[q], codes[q])) continue;
            b->prices[q] = NAN; /* to be priced again */
            if (same_extent(&b->spans[q], &n->spans[q])) b->active[a--] = b->active[--p->n_active];
        }
    }
}

/* Price of one row in the closure of what was passed. */
static double pass_price(const search *s, bench *b, pass *p)
{
    if (!p->changed) return p->price;
    p->price = 0;
    for (uint32_t q = 0; q < s->n_qis; q++) {
        if (isnan(b->prices[q])) b->prices[q] = kn_pricer_price(s->pricer, q, &b->spans[q]);
        p->price += b->prices[q];
    }
    p->changed = false;
    return p->price;
}

static double waste(const search *s, uint64_t n_persons) { return n_persons < s->n_waste ? s->waste[n_persons] : 1; }

static bool better(const cut *a, const cut *b)
{
    if (a->loss != b->loss) return a->loss < b->loss;
    return a->imbalance < b->imbalance;
}

static void fill_left_prices(search *s, bench *b, const node *n, uint32_t q)
{
    pass p = pass_start(s, b, q);
    for (uint32_t g = 0; g + 1 < b->n_groups; g++) {
        pass_add(s, b, &p, n, q, g);
        if (p.n_persons >= s->min_persons) b->left_price[g] = pass_price(s, b, &p);
    }
}

static bool histograms_allow(search *s, bench *b)
{
    return s->task->models->counts_only || (kn_tally_holds(s->task->models, &b->right, NULL, s->items, &b->view) &&
                                            kn_tally_holds(s->task->models, &b->whole, &b->right, s->items, &b->view));
}

static void tally_group(search *s, bench *b, const node *n, uint32_t g)
{
    for (uint32_t i = b->groups[g].begin; i < b->groups[g + 1].begin; i++)
        kn_tally_add(&b->right, s->items, record_at(s, n, b->order[i])[RECORD_ITEM]);
}

static void tally_node(search *s, bench *b, const node *n)
{
    kn_tally_clear(&b->whole, s->items);
    kn_tally_clear(&b->right, s->items);
    for (uint32_t i = 0; i < n->end - n->begin; i++) kn_tally_add(&b->whole, s->items, record_at(s, n, i)[RECORD_ITEM]);
}

/* Weighted share of the column's values that lie between the node's first and last. */
static double normalized_width(const search *s, const node *n, uint32_t q)
{
    const kn_domain *domain = s->pricer->columns[q].domain;
    uint32_t n_steps = domain->kind == KN_DOMAIN_SETS ? n->spans[q].n_values - 1 : n->spans[q].last - n->spans[q].first;
    return domain->n_codes > 1 ? domain->weight * n_steps / (domain->n_codes - 1) : 0;
}

static cut best_in_column(search *s, bench *b, const node *n, uint32_t q)
{
    cut best = no_cut;
    uint64_t n_rows = 0, n_persons = 0;
    bool histograms = !s->task->models->counts_only;
    if (n->spans[q].first == n->spans[q].last && !s->relaxed) return best;
    order_by_column(s, b, n, q);
    for (uint32_t g = 0; g < b->n_groups; g++) n_rows += b->groups[g].n_rows, n_persons += b->groups[g].n_persons;
    if (n_persons < 2 * s->min_persons) return best;
    if (histograms) tally_node(s, b, n);
    if (!s->by_median) fill_left_prices(s, b, n, q);
    double width = normalized_width(s, n, q); /* `choose=median`: the widest has the least "loss" wherever it is cut */
    pass p = pass_start(s, b, q);
    if (s->by_median) p.n_active = 0;
    for (uint32_t g = b->n_groups - 1; g > 0; g--) {
        pass_add(s, b, &p, n, q, g);
        if (histograms) tally_group(s, b, n, g);
        uint64_t left_persons = n_persons - p.n_persons;
        if (left_persons < s->min_persons) break;
        if (p.n_persons < s->min_persons) continue;
        double left_rows = (double)(n_rows - p.n_rows), right_rows = (double)p.n_rows;
        cut candidate = {.column = q, .n_left = b->groups[g].begin, .imbalance = fabs(left_rows - right_rows)};
        candidate.loss = s->by_median ? -width
                                      : left_rows * b->left_price[g - 1] * waste(s, left_persons) +
                                            right_rows * pass_price(s, b, &p) * waste(s, p.n_persons);
        if (better(&candidate, &best) && histograms_allow(s, b)) best = candidate;
    }
    return best;
}

/* --- Cutting --------------------------------------------------------------------------------------------------- */

/* Puts the records of the node into the order of the cut's column, so that the two sides are ranges again. */
static void make_cut(search *s, bench *b, const node *n, const cut *c)
{
    uint32_t n_items = n->end - n->begin;
    size_t record_bytes = s->stride * sizeof *s->records;
    uint32_t *to = s->spare + (size_t)n->begin * s->stride;
    sort_by_column(s, b, n, c->column);
    for (uint32_t i = 0; i < n_items; i++)
        memcpy(to + (size_t)i * s->stride, record_at(s, n, b->order[i]), record_bytes);
    memcpy(s->records + (size_t)n->begin * s->stride, to, n_items * record_bytes);
    atomic_fetch_add(&s->n_cuts, 1);
}

static void finish_class(search *s, const node *n)
{
    s->begins_class[n->begin] = true;
    atomic_fetch_add(&s->n_items_done, n->end - n->begin);
}

static kn_status tick(search *s, kn_error *err)
{
    if (!kn_ticker_cancelled(s->task->ticker) && kn_ticker_out_of_time(s->task->ticker))
        atomic_store(&s->out_of_time, true);
    double done = (double)atomic_load(&s->n_items_done) / (s->items->n + 1.0);
    return kn_tick(s->task->ticker, "mondrian", done, err);
}

/* The rest of a small class: the smaller side first, so that the stack stays within log2(n). */
static kn_status cut_small(search *s, bench *b, node first, kn_error *err)
{
    kn_status status = KN_OK;
    node stack[64];
    uint32_t n_stack = 0;
    stack[n_stack++] = first;
    while (n_stack > 0) {
        node n = stack[--n_stack];
        n.spans = b->small_spans;
        cut best = no_cut;
        KN_TRY(tick(s, err));
        if (!atomic_load(&s->out_of_time)) {
            find_spans(s, b, &n);
            for (uint32_t q = 0; q < s->n_qis; q++) {
                cut candidate = best_in_column(s, b, &n, q);
                if (better(&candidate, &best)) best = candidate;
            }
        }
        if (best.n_left == 0) {
            finish_class(s, &n);
            continue;
        }
        make_cut(s, b, &n, &best);
        node left = {n.begin, n.begin + best.n_left, NULL}, right = {left.end, n.end, NULL};
        bool left_larger = left.end - left.begin > right.end - right.begin;
        assert(n_stack + 2 <= 64);
        stack[n_stack++] = left_larger ? left : right;
        stack[n_stack++] = left_larger ? right : left;
    }
done:
    return status;
}

static kn_status job_small(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    return cut_small(s, &s->benches[worker], s->large[job], err);
}

static kn_status job_column(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    s->cuts[job] = no_cut;
    if (!atomic_load(&s->out_of_time))
        s->cuts[job] = best_in_column(s, &s->benches[worker], &s->large[job / s->n_qis], (uint32_t)(job % s->n_qis));
    return tick(s, err);
}

/* Cuts one large class at the best of its columns' cuts; no children: it is finished. */
static kn_status job_cut(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    node *n = &s->large[job], *left = &s->children[2 * job], *right = left + 1;
    const cut *best = &s->cuts[job * s->n_qis];
    for (uint32_t q = 1; q < s->n_qis; q++)
        if (better(&s->cuts[job * s->n_qis + q], best)) best = &s->cuts[job * s->n_qis + q];
    left->begin = left->end = right->begin = right->end = 0;
    if (best->n_left == 0) {
        finish_class(s, n);
        return KN_OK;
    }
    make_cut(s, &s->benches[worker], n, best);
    left->begin = n->begin;
    left->end = right->begin = n->begin + best->n_left;
    right->end = n->end;
    if (left->end - left->begin > SMALL_ITEMS) find_spans(s, &s->benches[worker], left);
    if (right->end - right->begin > SMALL_ITEMS) find_spans(s, &s->benches[worker], right);
    return KN_OK;
}

typedef KN_VECTOR(node) node_list;

static void node_list_free(node_list *list)
{
    for (size_t i = 0; i < list->n; i++) kn_free(list->items[i].spans);
    kn_free(list->items);
    *list = (node_list){0};
}

/* One level: cuts every class of `large`, sorts the children into the next level and the small ones. */
static kn_status cut_level(search *s, node_list *large, node_list *next, node_list *small, kn_error *err)
{
    kn_status status = KN_OK;
    kn_span *spans = NULL;
    size_t n_large = large->n;
    KN_NEW_RAW(s->cuts, n_large * s->n_qis);
    KN_NEW(s->children, 2 * n_large);
    for (size_t i = 0; i < 2 * n_large; i++) KN_NEW_RAW(s->children[i].spans, s->n_qis);
    s->large = large->items;
    KN_TRY(kn_pool_run(s->task->pool, n_large * s->n_qis, job_column, s, err));
    KN_TRY(kn_pool_run(s->task->pool, n_large, job_cut, s, err));
    for (size_t i = 0; i < 2 * n_large; i++) {
        node *child = &s->children[i];
        if (child->end == child->begin) continue;
        KN_PUSH(child->end - child->begin > SMALL_ITEMS ? next : small, *child);
        child->spans = NULL;
    }
done:
    kn_free(spans);
    for (size_t i = 0; s->children != NULL && i < 2 * n_large; i++) kn_free(s->children[i].spans);
    kn_free(s->children);
    kn_free(s->cuts);
    s->children = NULL;
    s->cuts = NULL;
    return status;
}

static kn_status cut_all(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    node_list large = {0}, next = {0}, small = {0};
    node root = {0, s->items->n, NULL};
    if (root.end > SMALL_ITEMS) {
        KN_NEW_RAW(root.spans, s->n_qis);
        find_spans(s, &s->benches[0], &root);
        KN_PUSH(&large, root);
        root.spans = NULL;
    } else if (root.end > 0) {
        KN_PUSH(&small, root);
    }
    while (large.n > 0) {
        KN_TRY(cut_level(s, &large, &next, &small, err));
        node_list_free(&large);
        large = next;
        next = (node_list){0};
    }
    s->large = small.items;
    KN_TRY(kn_pool_run(s->task->pool, small.n, job_small, s, err));
done:
    kn_free(root.spans);
    node_list_free(&large);
    node_list_free(&next);
    node_list_free(&small);
    return status;
}

/* --- Setting up ------------------------------------------------------------------------------------------------ */

static void bench_free(const search *s, bench *b)
{
    kn_free(b->order);
    kn_free(b->order_spare);
    kn_free(b->bucket);
    kn_free(b->groups);
    kn_free(b->left_price);
    for (uint32_t q = 0; b->stamp != NULL && q < s->n_qis; q++) kn_free(b->stamp[q]);
    kn_free(b->stamp);
    kn_free(b->active);
    kn_free(b->spans);
    kn_free(b->small_spans);
    kn_free(b->prices);
    kn_tally_free(&b->whole);
    kn_tally_free(&b->right);
    kn_tally_view_free(&b->view);
}

static kn_status bench_init(const search *s, bench *b, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = s->items->n;
    KN_NEW_RAW(b->order, n);
    KN_NEW_RAW(b->order_spare, n);
    KN_NEW_RAW(b->bucket, 2 * (size_t)n + 2);
    KN_NEW_RAW(b->groups, (size_t)n + 1);
    KN_NEW_RAW(b->left_price, n);
    KN_NEW(b->stamp, s->n_qis);
    for (uint32_t q = 0; q < s->n_qis; q++) {
        const kn_domain *domain = s->pricer->columns[q].domain;
        if (domain->kind == KN_DOMAIN_SETS) KN_NEW(b->stamp[q], domain->n_codes);
    }
    KN_NEW(b->active, s->n_qis);
    KN_NEW(b->spans, s->n_qis);
    KN_NEW(b->small_spans, s->n_qis);
    KN_NEW(b->prices, s->n_qis);
    KN_TRY(kn_tally_init(&b->whole, s->items, err));
    KN_TRY(kn_tally_init(&b->right, s->items, err));
    KN_TRY(kn_tally_view_init(&b->view, s->items, err));
done:
    return status;
}

static kn_status fill_records(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_items *items = s->items;
    const kn_tuples *tuples = items->tuples;
    KN_NEW_RAW(s->records, (size_t)items->n * s->stride);
    KN_NEW_RAW(s->spare, (size_t)items->n * s->stride);
    KN_NEW(s->begins_class, items->n);
    for (uint32_t i = 0; i < items->n; i++) {
        uint32_t *record = s->records + (size_t)i * s->stride;
        record[RECORD_ITEM] = i;
        record[RECORD_ROWS] = kn_items_rows(items, i);
        record[RECORD_PERSONS] = items->persons[i];
        for (uint32_t q = 0; q < s->n_qis; q++) record[RECORD_CODES + q] = tuples->codes[q][items->tuple[i]];
    }
done:
    return status;
}

static kn_status fill_waste(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t k = s->min_persons, n = WASTE_CLASSES * k;
    if (n > s->items->tuples->n_persons) n = (uint64_t)s->items->tuples->n_persons + 1;
    KN_NEW_RAW(s->waste, n);
    for (uint64_t p = 0; p < n; p++) s->waste[p] = p < k ? 1 : cbrt((double)p / (double)(k * (p / k)));
    s->n_waste = n;
done:
    return status;
}

static kn_status make_answer(kn_answer *answer, const search *s, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *item_class = NULL, n_classes = 0;
    KN_NEW_RAW(item_class, s->items->n);
    for (uint32_t i = 0; i < s->items->n; i++) {
        n_classes += s->begins_class[i];
        item_class[s->records[(size_t)i * s->stride + RECORD_ITEM]] = n_classes - 1;
    }
    KN_TRY(kn_items_answer(answer, s->items, item_class, n_classes, err));
    answer->stopped = atomic_load(&s->out_of_time) ? KN_STOPPED_TIME : KN_STOPPED_DONE;
    answer->n_nodes = atomic_load(&s->n_cuts);
done:
    kn_free(item_class);
    return status;
}

static kn_status mondrian_search(kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_items *items = NULL;
    kn_pricer *pricer = NULL;
    search s = {.task = task, .n_qis = task->tuples->n_qis, .stride = task->tuples->n_qis + RECORD_CODES};
    unsigned n_threads = kn_pool_threads(task->pool);
    s.relaxed = kn_args_is(task->args, "cut", "relaxed");
    s.by_median = kn_args_is(task->args, "choose", "median");
    s.min_persons = task->models->min_persons > 0 ? task->models->min_persons : 1;
    bool histograms = (task->models->needs & KN_NEEDS_HISTOGRAM) != 0;
    KN_TRY(kn_items_new(&items, task->tuples, s.relaxed ? 1 : KN_WHOLE_TUPLES, histograms, err));
    KN_TRY(kn_pricer_new(&pricer, task->objective, err));
    s.items = items;
    s.pricer = pricer;
    KN_TRY(fill_records(&s, err));
    KN_TRY(fill_waste(&s, err));
    KN_NEW(s.benches, n_threads);
    for (unsigned i = 0; i < n_threads; i++) KN_TRY(bench_init(&s, &s.benches[i], err));
    KN_TRY(cut_all(&s, err));
    KN_TRY(make_answer(answer, &s, err));
done:
    for (unsigned i = 0; s.benches != NULL && i < n_threads; i++) bench_free(&s, &s.benches[i]);
    kn_free(s.benches);
    kn_free(s.waste);
    kn_free(s.records);
    kn_free(s.spare);
    kn_free(s.begins_class);
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
    .search = mondrian_search,
};
