/* Disjoint sets as they come; see the header. */
#include "search/approximate/disjoint.h"

#include <assert.h>
#include <math.h>
#include <string.h>

kn_status kn_disjoint_init(kn_disjoint *d, kn_near *near, uint32_t *row_class, uint32_t k, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_rows = (uint32_t)near->tuples->n_rows;
    *d = (kn_disjoint){.near = near, .k = k, .n_uncovered = n_rows, .row_class = row_class, .radius = INFINITY};
    memset(row_class, 0xFF, n_rows * sizeof *row_class);
    KN_TRY(kn_view_init(&d->view, near, err));
    KN_TRY(kn_near_rows(&d->first, &d->row, near, err));
    KN_NEW_RAW(d->uncovered, near->n);
    memcpy(d->uncovered, near->rows, near->n * sizeof *d->uncovered);
    KN_TRY(kn_near_sum(&d->box_uncovered, near, d->uncovered, err));
    KN_NEW_RAW(d->size, n_rows);
    KN_NEW_RAW(d->united, n_rows);
    KN_NEW(d->low, near->n_qis);
    KN_NEW_RAW(d->high, near->n_qis);
    for (uint32_t q = 0; q < near->n_qis; q++) d->high[q] = near->tuples->domains[q]->n_codes - 1;
done:
    return status;
}

void kn_disjoint_free(kn_disjoint *d)
{
    kn_free(d->first);
    kn_free(d->row);
    kn_free(d->uncovered);
    kn_free(d->box_uncovered);
    kn_free(d->size);
    kn_free(d->united);
    kn_free(d->low);
    kn_free(d->high);
    if (d->view.near != NULL) kn_view_free(&d->view);
}

/* --- Regions ---------------------------------------------------------------------------------------------------- */

static bool is_inside(const kn_disjoint *d, uint32_t position)
{
    const uint32_t *codes = d->near->codes + (size_t)position * d->near->n_qis;
    for (uint32_t q = 0; q < d->near->n_qis; q++)
        if (codes[q] < d->low[q] || codes[q] > d->high[q]) return false;
    return true;
}

typedef enum overlap { APART, PARTLY, WHOLLY } overlap;

static overlap box_overlap(const kn_disjoint *d, uint32_t box)
{
    const uint32_t *first = d->near->first + (size_t)box * d->near->n_qis;
    const uint32_t *last = d->near->last + (size_t)box * d->near->n_qis;
    overlap all = WHOLLY;
    for (uint32_t q = 0; q < d->near->n_qis; q++) {
        if (last[q] < d->low[q] || first[q] > d->high[q]) return APART;
        if (first[q] < d->low[q] || last[q] > d->high[q]) all = PARTLY;
    }
    return all;
}

/* Uncovered rows of the group in a box; counting may stop once there are `enough`. */
static uint32_t count_uncovered(const kn_disjoint *d, uint32_t b, uint32_t enough)
{
    const kn_box *box = &d->near->boxes[b];
    uint32_t n = 0;
    if (d->box_uncovered[b] == 0) return 0;
    overlap how = box_overlap(d, b);
    if (how != PARTLY) return how == WHOLLY ? d->box_uncovered[b] : 0;
    if (box->low == KN_NONE) {
        for (uint32_t p = box->begin; p < box->end; p++)
            if (d->uncovered[p] > 0 && is_inside(d, p)) n += d->uncovered[p];
        return n;
    }
    n = count_uncovered(d, box->low, enough);
    return n < enough ? n + count_uncovered(d, box->high, enough - n) : n;
}

uint32_t kn_disjoint_count(const kn_disjoint *d, uint32_t enough) { return count_uncovered(d, 0, enough); }

/* --- Sets ------------------------------------------------------------------------------------------------------- */

static uint32_t class_of(const kn_disjoint *d, uint32_t vertex)
{
    uint32_t class = d->row_class[d->row[vertex]];
    while (d->united[class] != class) class = d->united[class] = d->united[d->united[class]];
    return class;
}

static void put_row(kn_disjoint *d, uint32_t vertex, uint32_t class)
{
    d->row_class[d->row[vertex]] = class;
    d->size[class]++;
}

void kn_disjoint_open(kn_disjoint *d)
{
    const uint32_t class = d->n_classes++;
    d->united[class] = class;
    d->size[class] = 0;
}

void kn_disjoint_put(kn_disjoint *d, uint32_t position, uint32_t n)
{
    assert(n <= d->uncovered[position]);
    for (uint32_t i = 0; i < n; i++) put_row(d, d->first[position + 1] - d->uncovered[position] + i, d->n_classes - 1);
    d->uncovered[position] -= n;
    d->n_uncovered -= n;
    kn_near_subtract(d->box_uncovered, d->near, position, n);
}

/* Returns how many it put. */
static uint32_t put_box(kn_disjoint *d, uint32_t b, uint32_t n, uint32_t *centre)
{
    const kn_box *box = &d->near->boxes[b];
    uint32_t n_put = 0;
    if (d->box_uncovered[b] == 0 || n == 0 || box_overlap(d, b) == APART) return 0;
    if (box->low != KN_NONE) {
        n_put = put_box(d, box->low, n, centre);
        return n_put + put_box(d, box->high, n - n_put, centre);
    }
    for (uint32_t p = box->begin; p < box->end && n_put < n; p++) {
        if (d->uncovered[p] == 0 || !is_inside(d, p)) continue;
        const uint32_t here = d->uncovered[p] < n - n_put ? d->uncovered[p] : n - n_put;
        if (*centre == KN_NONE) *centre = p;
        kn_disjoint_put(d, p, here);
        n_put += here;
    }
    return n_put;
}

uint32_t kn_disjoint_put_region(kn_disjoint *d, uint32_t n)
{
    uint32_t centre = KN_NONE;
    put_box(d, 0, n, &centre);
    return centre;
}

/* The covered row of the region nearest to the view, outside the new class: with `spare` in a class of more than k. */
static void find_nearest(kn_disjoint *d, uint32_t b, uint32_t class, bool spare)
{
    const kn_box *box = &d->near->boxes[b];
    if (box_overlap(d, b) == APART) return;
    const double bound = kn_view_box(&d->view, b);
    if (bound >= d->nearest_distance || bound > d->radius) return;
    if (box->low != KN_NONE) {
        find_nearest(d, box->low, class, spare);
        find_nearest(d, box->high, class, spare);
        return;
    }
    for (uint32_t p = box->begin; p < box->end; p++) {
        const double distance = kn_view_distance(&d->view, p);
        if (distance >= d->nearest_distance || distance > d->radius || !is_inside(d, p)) continue;
        for (uint32_t v = d->first[p]; v < d->first[p + 1] - d->uncovered[p]; v++) {
            const uint32_t of = class_of(d, v);
            if (of == class || (spare && d->size[of] <= d->k)) continue;
            d->nearest = v;
            d->nearest_distance = distance;
            break;
        }
    }
}

static bool has_nearest(kn_disjoint *d, uint32_t class, bool spare)
{
    d->nearest = KN_NONE;
    d->nearest_distance = INFINITY;
    find_nearest(d, 0, class, spare);
    return d->nearest != KN_NONE;
}

void kn_disjoint_close(kn_disjoint *d, uint32_t centre)
{
    const uint32_t class = d->n_classes - 1;
    if (d->size[class] >= d->k) return;
    kn_view_from(&d->view, centre);
    while (d->size[class] < d->k && has_nearest(d, class, true)) {
        d->size[class_of(d, d->nearest)]--;
        put_row(d, d->nearest, class);
    }
    if (d->size[class] >= d->k) return;
    bool found = has_nearest(d, class, false);
    assert(found);
    (void)found;
    const uint32_t other = class_of(d, d->nearest);
    d->united[class] = other;
    d->size[other] += d->size[class];
    d->size[class] = 0;
}

void kn_disjoint_number(kn_disjoint *d, uint32_t *n_classes)
{
    const uint32_t n = (uint32_t)d->near->tuples->n_rows;
    *n_classes = 0;
    for (uint32_t v = 0; v < n; v++) d->row_class[d->row[v]] = class_of(d, v);
    for (uint32_t class = 0; class < d->n_classes; class ++)
        d->united[class] = d->size[class] > 0 ? (*n_classes)++ : KN_NONE;
    for (uint32_t row = 0; row < n; row++) d->row_class[row] = d->united[d->row_class[row]];
}
