/* Boxes of tuples, and the nearest in them; see the header. */
#include "search/approximate/near.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_IN_LEAF = 12, MOST_TABLE_CODES = 512 };

/* --- Prices ---------------------------------------------------------------------------------------------------- */

double kn_near_price(const kn_near *near, uint32_t q, uint32_t a, uint32_t b)
{
    const kn_domain *domain = near->tuples->domains[q];
    kn_span span = {.first = a < b ? a : b, .last = a < b ? b : a};
    const struct kn_column_price *column = &near->pricer->columns[q];
    if (domain->missing_is_wildcard && (a == domain->missing || b == domain->missing)) return column->root_price;
    if (domain->kind == KN_DOMAIN_SETS) {
        kn_span_add_value(&span, column, a);
        if (a != b) kn_span_add_value(&span, column, b);
    }
    return kn_pricer_price(near->pricer, q, &span);
}

bool kn_prices_grow(const kn_tree *tree, const double *node_price)
{
    for (uint32_t node = 0; node < tree->n_nodes; node++)
        if (node_price[tree->parent[node]] < node_price[node] - KN_PRICE_TOLERANCE) return false;
    return true;
}

static kn_status price_columns(kn_near *near, const kn_objective *objective, kn_error *err)
{
    kn_status status = KN_OK;
    near->monotone = objective->type->monotone;
    KN_NEW(near->ordered, near->n_qis);
    KN_NEW(near->table, near->n_qis);
    for (uint32_t q = 0; q < near->n_qis; q++) {
        const kn_domain *domain = near->tuples->domains[q];
        if (domain->kind == KN_DOMAIN_TREE)
            near->ordered[q] = kn_prices_grow(domain->tree, near->pricer->columns[q].node_price);
        else near->ordered[q] = domain->kind == KN_DOMAIN_RANGES && objective->type->monotone;
        const uint32_t n = domain->n_codes;
        if (n > MOST_TABLE_CODES) continue;
        KN_NEW_RAW(near->table[q], (size_t)n * n);
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++) near->table[q][(size_t)a * n + b] = kn_near_price(near, q, a, b);
    }
done:
    return status;
}

/* --- Boxes ----------------------------------------------------------------------------------------------------- */

typedef struct coded {
    uint32_t code, tuple;
} coded;

static int by_code(const void *a, const void *b)
{
    const coded *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return x->tuple < y->tuple ? -1 : x->tuple > y->tuple;
}

static void find_ends(kn_near *near, uint32_t box)
{
    for (uint32_t q = 0; q < near->n_qis; q++) {
        uint32_t first = KN_NONE, last = 0;
        for (uint32_t i = near->boxes[box].begin; i < near->boxes[box].end; i++) {
            uint32_t code = near->tuples->codes[q][near->tuple[i]];
            if (code < first) first = code;
            if (code > last) last = code;
        }
        near->first[(size_t)box * near->n_qis + q] = first;
        near->last[(size_t)box * near->n_qis + q] = last;
    }
}

/* The column in which the box is widest, by price; it has more than one value there. */
static uint32_t widest(const kn_near *near, uint32_t box)
{
    uint32_t chosen = KN_NONE;
    double most = -1;
    for (uint32_t q = 0; q < near->n_qis; q++) {
        uint32_t first = near->first[(size_t)box * near->n_qis + q], last = near->last[(size_t)box * near->n_qis + q];
        if (first == last) continue;
        double price = kn_near_price(near, q, first, last);
        if (price <= most) continue;
        most = price;
        chosen = q;
    }
    return chosen;
}

/* Where to cut sorted values: between two children of their closure, or between two values; as near the middle as can
 * be. */
static uint32_t cut_place(const coded *sorted, uint32_t n, const kn_domain *domain)
{
    const kn_tree *tree = domain->tree;
    uint32_t closure = tree != NULL ? kn_closure_node(tree, sorted[0].code, sorted[n - 1].code) : KN_NONE;
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (sorted[i].code == sorted[i - 1].code) continue;
        if (tree != NULL && kn_closure_node(tree, sorted[i - 1].code, sorted[i].code) != closure) continue;
        if (best == 0 || abs((int)(2 * i) - (int)n) < abs((int)(2 * best) - (int)n)) best = i;
    }
    return best;
}

/* Cuts the box and those that come of it. `scratch` has room for all tuples. */
static void cut(kn_near *near, uint32_t box, coded *scratch)
{
    find_ends(near, box);
    const uint32_t begin = near->boxes[box].begin, n = near->boxes[box].end - begin;
    near->boxes[box].low = near->boxes[box].high = KN_NONE;
    uint32_t q = n > MOST_IN_LEAF ? widest(near, box) : KN_NONE;
    if (q == KN_NONE) return;
    for (uint32_t i = 0; i < n; i++)
        scratch[i] = (coded){near->tuples->codes[q][near->tuple[begin + i]], near->tuple[begin + i]};
    qsort(scratch, n, sizeof *scratch, by_code);
    for (uint32_t i = 0; i < n; i++) near->tuple[begin + i] = scratch[i].tuple;
    uint32_t at = cut_place(scratch, n, near->tuples->domains[q]), low = near->n_boxes++, high = near->n_boxes++;
    near->boxes[box].low = low;
    near->boxes[box].high = high;
    near->boxes[low] = (kn_box){.begin = begin, .end = begin + at};
    near->boxes[high] = (kn_box){.begin = begin + at, .end = begin + n};
    cut(near, low, scratch);
    cut(near, high, scratch);
}

kn_status kn_near_new(kn_near **out, const kn_objective *objective, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = objective->tuples;
    kn_near *near = NULL;
    coded *scratch = NULL;
    *out = NULL;
    KN_NEW(near, 1);
    near->tuples = tuples;
    near->n = tuples->n_tuples;
    near->n_qis = tuples->n_qis;
    KN_TRY(kn_pricer_new(&near->pricer, objective, err));
    KN_TRY(price_columns(near, objective, err));
    const size_t n = near->n, most_boxes = 2 * n + 1, n_ends = most_boxes * near->n_qis;
    KN_NEW_RAW(near->tuple, n);
    KN_NEW_RAW(near->position, n);
    KN_NEW_RAW(near->rows, n);
    KN_NEW_RAW(near->codes, n * near->n_qis);
    KN_NEW_RAW(near->boxes, most_boxes);
    KN_NEW_RAW(near->first, n_ends);
    KN_NEW_RAW(near->last, n_ends);
    KN_NEW_RAW(scratch, n);
    for (uint32_t t = 0; t < near->n; t++) near->tuple[t] = t;
    near->boxes[near->n_boxes++] = (kn_box){.begin = 0, .end = near->n};
    cut(near, 0, scratch);
    for (uint32_t i = 0; i < near->n; i++) {
        near->position[near->tuple[i]] = i;
        near->rows[i] = (uint32_t)tuples->rows[near->tuple[i]];
        for (uint32_t q = 0; q < near->n_qis; q++)
            near->codes[(size_t)i * near->n_qis + q] = tuples->codes[q][near->tuple[i]];
    }
    *out = near;
    near = NULL;
done:
    kn_free(scratch);
    kn_near_free(near);
    return status;
}

void kn_near_free(kn_near *near)
{
    if (near == NULL) return;
    for (uint32_t q = 0; near->table != NULL && q < near->n_qis; q++) kn_free(near->table[q]);
    kn_pricer_free(near->pricer);
    kn_free(near->table);
    kn_free(near->ordered);
    kn_free(near->tuple);
    kn_free(near->position);
    kn_free(near->rows);
    kn_free(near->codes);
    kn_free(near->boxes);
    kn_free(near->first);
    kn_free(near->last);
    kn_free(near);
}

kn_status kn_near_rows(uint32_t **first, uint32_t **row, const kn_near *near, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *start = NULL, *members = NULL, n = 0;
    *first = *row = NULL;
    KN_TRY(kn_tuples_rows(&start, &members, near->tuples, err));
    KN_NEW_RAW(*first, (size_t)near->n + 1);
    KN_NEW_RAW(*row, near->tuples->n_rows);
    for (uint32_t p = 0; p < near->n; p++) {
        const uint32_t tuple = near->tuple[p];
        (*first)[p] = n;
        for (uint32_t i = start[tuple]; i < start[tuple + 1]; i++) (*row)[n++] = members[i];
    }
    (*first)[near->n] = n;
done:
    kn_free(start);
    kn_free(members);
    return status;
}

kn_status kn_near_sum(uint32_t **box_rows, const kn_near *near, const uint32_t *rows, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(*box_rows, near->n_boxes);
    for (uint32_t b = near->n_boxes; b-- > 0;) { /* halves have larger numbers */
        const kn_box *box = &near->boxes[b];
        if (box->low != KN_NONE) (*box_rows)[b] = (*box_rows)[box->low] + (*box_rows)[box->high];
        else
            for (uint32_t i = box->begin; i < box->end; i++) (*box_rows)[b] += rows[i];
    }
done:
    return status;
}

void kn_near_subtract(uint32_t *box_rows, const kn_near *near, uint32_t position, uint32_t n)
{
    for (uint32_t b = 0; b != KN_NONE;) {
        const kn_box *box = &near->boxes[b];
        box_rows[b] -= n;
        if (box->low == KN_NONE) return;
        b = position < near->boxes[box->low].end ? box->low : box->high;
    }
}

/* --- Views ----------------------------------------------------------------------------------------------------- */

kn_status kn_view_init(kn_view *view, const kn_near *near, kn_error *err)
{
    kn_status status = KN_OK;
    *view = (kn_view){.near = near};
    KN_NEW(view->row, near->n_qis);
    KN_NEW(view->least, near->n_qis);
done:
    if (status != KN_OK) kn_view_free(view);
    return status;
}

void kn_view_free(kn_view *view)
{
    kn_free(view->row);
    kn_free(view->least);
    *view = (kn_view){0};
}

/* What any other value costs at least beside this one, of a column whose prices know no order. */
static double least_price(const kn_view *view, uint32_t q, uint32_t code)
{
    const kn_near *near = view->near;
    double least = INFINITY;
    if (view->row[q] == NULL && near->monotone) return kn_near_price(near, q, code, code);
    for (uint32_t other = 0; other < near->tuples->domains[q]->n_codes; other++)
        if (other != code) least = fmin(least, kn_view_price(view, q, other));
    return least;
}

void kn_view_from(kn_view *view, uint32_t position)
{
    const kn_near *near = view->near;
    view->from = position;
    for (uint32_t q = 0; q < near->n_qis; q++) {
        const uint32_t code = near->codes[(size_t)position * near->n_qis + q], n = near->tuples->domains[q]->n_codes;
        view->row[q] = near->table[q] != NULL ? near->table[q] + (size_t)code * n : NULL;
        if (!near->ordered[q]) view->least[q] = least_price(view, q, code);
    }
}

double kn_view_box(const kn_view *view, uint32_t box)
{
    const kn_near *near = view->near;
    const uint32_t *codes = near->codes + (size_t)view->from * near->n_qis;
    const uint32_t *first = near->first + (size_t)box * near->n_qis, *last = near->last + (size_t)box * near->n_qis;
    double sum = 0;
    for (uint32_t q = 0; q < near->n_qis; q++) {
        const uint32_t code = codes[q], nearest = code < first[q] ? first[q] : code > last[q] ? last[q] : code;
        if (near->ordered[q]) sum += kn_view_price(view, q, nearest);
        else sum += nearest == code ? fmin(view->least[q], kn_view_price(view, q, code)) : view->least[q];
    }
    return sum;
}

/* --- The nearest ------------------------------------------------------------------------------------------------ */

typedef struct question {
    const kn_view *view;
    const uint32_t *rows, *box_rows;
    uint32_t n_self;
    uint64_t n_wanted;
    kn_neighbours *out;
} question;

static uint32_t rows_at(const question *ask, uint32_t position)
{
    uint32_t n = (ask->rows != NULL ? ask->rows : ask->view->near->rows)[position];
    return position == ask->view->from ? n - ask->n_self : n;
}

static double farthest(const question *ask)
{
    const kn_neighbours *out = ask->out;
    return out->n_rows >= ask->n_wanted ? out->list.items[out->list.n - 1].distance : INFINITY;
}

static kn_status offer(question *ask, uint32_t position, double distance, kn_error *err)
{
    kn_status status = KN_OK;
    kn_neighbours *out = ask->out;
    uint32_t n_rows = rows_at(ask, position);
    if (n_rows == 0) return KN_OK;
    KN_RESERVE(&out->list, 1);
    size_t at = out->list.n++;
    for (; at > 0 && out->list.items[at - 1].distance > distance; at--) out->list.items[at] = out->list.items[at - 1];
    out->list.items[at] = (kn_neighbour){position, distance};
    out->n_rows += n_rows;
    for (;;) {
        uint32_t n_last = rows_at(ask, out->list.items[out->list.n - 1].position);
        if (out->n_rows - n_last < ask->n_wanted) break;
        out->n_rows -= n_last;
        out->list.n--;
    }
done:
    return status;
}

static kn_status look_into(question *ask, uint32_t b, double bound, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_box *box = &ask->view->near->boxes[b];
    if (bound >= farthest(ask) || (ask->box_rows != NULL && ask->box_rows[b] == 0)) return KN_OK;
    if (box->low == KN_NONE) {
        for (uint32_t i = box->begin; i < box->end; i++) {
            double distance = kn_view_distance(ask->view, i);
            if (distance < farthest(ask)) KN_TRY(offer(ask, i, distance, err));
        }
        goto done;
    }
    double low = kn_view_box(ask->view, box->low), high = kn_view_box(ask->view, box->high);
    bool low_first = low < high || (low == high && ask->view->from < ask->view->near->boxes[box->low].end);
    KN_TRY(look_into(ask, low_first ? box->low : box->high, low_first ? low : high, err));
    KN_TRY(look_into(ask, low_first ? box->high : box->low, low_first ? high : low, err));
done:
    return status;
}

kn_status kn_view_nearest(kn_neighbours *out, const kn_view *view, const uint32_t *rows, const uint32_t *box_rows,
                          uint32_t n_self, uint64_t n_wanted, kn_error *err)
{
    question ask = {view, rows, box_rows, n_self, n_wanted, out};
    out->list.n = 0;
    out->n_rows = 0;
    if (n_wanted == 0 || view->near->n == 0) return KN_OK;
    return look_into(&ask, 0, 0, err);
}
