/* Do two classes of a release cover a common tuple?
 *
 * Global recodings and strict cuts never do; local recodings may. What holds for one tuple is much cheaper to know for
 * a release whose classes are apart, so it pays to ask: the classes' boxes go into a tree by their centres, every part
 * knows how far its boxes reach, and of every part the one half asks the other for boxes that meet. Stops at the first
 * that do.
 *
 * Cost: O(c log c) for c classes to build; a question then visits the parts along the border of the halves, few when
 * the classes are apart. Only with many overlapping parts would it be slow, and then an overlap is found early. */
#include "classes/release_overlap.h"

#include "classes/box_tree.h"

#include <stdatomic.h>

enum { PARTS_PER_JOB = 64 };

typedef struct search {
    const kn_release *release;
    const kn_box_tree *tree; /* a place is a class */
    const uint32_t *reach;   /* [(part * n_qis + q) * 2]: lowest first and highest last code of its boxes */
    const uint32_t *boxes;   /* [(place * n_qis + q) * 2]: first and last code; in the order in which they are asked */
    atomic_bool found;
} search;

static const kn_cell *cells_at(const search *s, uint32_t place)
{
    return &s->release->cells[(size_t)s->tree->order[place] * s->release->tuples->n_qis];
}

static bool cells_meet(const kn_domain *domain, const kn_set_pool *sets, const kn_cell *a, const kn_cell *b)
{
    uint32_t n_a, n_b, i = 0, j = 0;
    if (a->last < b->first || b->last < a->first) return false;
    if (kn_cell_equal(a, b)) return true;
    const uint32_t *x = kn_cell_members(a, domain, sets, &n_a), *y = kn_cell_members(b, domain, sets, &n_b);
    if (x == NULL && y == NULL) return true;
    if (x == NULL || y == NULL) {
        const kn_cell *range = x == NULL ? a : b, *gaps = x == NULL ? b : a;
        const uint32_t *codes = x == NULL ? y : x, n = x == NULL ? n_b : n_a;
        if (range->first == range->last) return kn_cell_covers(gaps, domain, sets, range->first);
        while (i < n && codes[i] < range->first) i++;
        return i < n && codes[i] <= range->last;
    }
    while (i < n_a && j < n_b) {
        if (x[i] == y[j]) return true;
        if (x[i] < y[j]) i++;
        else j++;
    }
    return false;
}

/* Two boxes of first and last codes. */
static bool boxes_meet(const uint32_t *a, const uint32_t *b, uint32_t n_qis)
{
    for (uint32_t q = 0; q < n_qis; q++)
        if (a[2 * q] > b[2 * q + 1] || a[2 * q + 1] < b[2 * q]) return false;
    return true;
}

static bool classes_meet(const search *s, uint32_t place, uint32_t other)
{
    const kn_tuples *tuples = s->release->tuples;
    size_t width = (size_t)tuples->n_qis * 2;
    if (!boxes_meet(&s->boxes[place * width], &s->boxes[other * width], tuples->n_qis)) return false;
    const kn_cell *a = cells_at(s, place), *b = cells_at(s, other);
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        if (!cells_meet(tuples->domains[q], s->release->sets, &a[q], &b[q])) return false;
    return true;
}

static uint32_t part_size(const kn_box_part *part) { return part->end - part->begin; }

/* Whether a class of part a meets one of part b; the two have no class in common. The larger is taken apart first. */
static bool parts_meet(const search *s, uint32_t a, uint32_t b)
{
    uint32_t n_qis = s->release->tuples->n_qis;
    size_t width = (size_t)n_qis * 2;
    const kn_box_part *x = &s->tree->parts.items[a], *y = &s->tree->parts.items[b];
    if (!boxes_meet(&s->reach[a * width], &s->reach[b * width], n_qis)) return false;
    if (x->child != 0 && (y->child == 0 || part_size(x) >= part_size(y)))
        return parts_meet(s, x->child, b) || parts_meet(s, x->child + 1, b);
    if (y->child != 0) return parts_meet(s, a, y->child) || parts_meet(s, a, y->child + 1);
    for (uint32_t place = x->begin; place < x->end; place++) {
        if (!boxes_meet(&s->boxes[place * width], &s->reach[b * width], n_qis)) continue;
        for (uint32_t other = y->begin; other < y->end; other++)
            if (classes_meet(s, place, other)) return true;
    }
    return false;
}

/* Two classes of one part that are in the same of its children, if it has any, are that child's business. */
static bool meets_itself(const search *s, uint32_t i)
{
    const kn_box_part *part = &s->tree->parts.items[i];
    if (part->child != 0) return parts_meet(s, part->child, part->child + 1);
    for (uint32_t place = part->begin; place < part->end; place++)
        for (uint32_t other = place + 1; other < part->end; other++)
            if (classes_meet(s, place, other)) return true;
    return false;
}

static kn_status search_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    search *s = context;
    for (size_t i = job * PARTS_PER_JOB; i < s->tree->parts.n && i < (job + 1) * PARTS_PER_JOB; i++) {
        if (atomic_load_explicit(&s->found, memory_order_relaxed)) break;
        if (meets_itself(s, (uint32_t)i)) atomic_store(&s->found, true);
    }
    return KN_OK;
}

/* Children stand after their parent, so one pass backwards does it. */
static void find_reach(uint32_t *reach, const search *s)
{
    uint32_t n_qis = s->release->tuples->n_qis;
    for (size_t i = s->tree->parts.n; i-- > 0;) {
        const kn_box_part *part = &s->tree->parts.items[i];
        for (uint32_t q = 0; q < n_qis; q++) {
            uint32_t low = UINT32_MAX, high = 0;
            for (uint32_t c = part->child; part->child != 0 && c < part->child + 2; c++) {
                const uint32_t *below = &reach[((size_t)c * n_qis + q) * 2];
                if (below[0] < low) low = below[0];
                if (below[1] > high) high = below[1];
            }
            for (uint32_t place = part->begin; part->child == 0 && place < part->end; place++) {
                const uint32_t *box = &s->boxes[((size_t)place * n_qis + q) * 2];
                if (box[0] < low) low = box[0];
                if (box[1] > high) high = box[1];
            }
            reach[(i * n_qis + q) * 2] = low;
            reach[(i * n_qis + q) * 2 + 1] = high;
        }
    }
}

static kn_status centre_tree(kn_box_tree **out, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = release->tuples->n_qis, **centres = NULL;
    KN_NEW(centres, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) {
        KN_NEW_RAW(centres[q], release->n_classes);
        for (uint32_t c = 0; c < release->n_classes; c++) {
            const kn_cell *cell = &release->cells[(size_t)c * n_qis + q];
            centres[q][c] = cell->first + cell->last;
        }
    }
    KN_TRY(kn_box_tree_new(out, release->n_classes, n_qis, centres, NULL, err));
done:
    for (uint32_t q = 0; centres != NULL && q < n_qis; q++) kn_free(centres[q]);
    kn_free(centres);
    return status;
}

kn_status kn_release_overlaps(bool *out, const kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_box_tree *tree = NULL;
    uint32_t *reach = NULL, *boxes = NULL, n_qis = release->tuples->n_qis;
    search s = {.release = release};
    *out = false;
    if (release->levels != NULL || release->n_classes < 2) return KN_OK;
    KN_TRY(centre_tree(&tree, release, err));
    KN_NEW_RAW(reach, tree->parts.n * n_qis * 2);
    KN_NEW_RAW(boxes, (size_t)release->n_classes * n_qis * 2);
    s.tree = tree;
    for (uint32_t place = 0; place < release->n_classes; place++)
        for (uint32_t q = 0; q < n_qis; q++) {
            boxes[((size_t)place * n_qis + q) * 2] = cells_at(&s, place)[q].first;
            boxes[((size_t)place * n_qis + q) * 2 + 1] = cells_at(&s, place)[q].last;
        }
    s.boxes = boxes;
    find_reach(reach, &s);
    s.reach = reach;
    KN_TRY(kn_pool_run(pool, (tree->parts.n + PARTS_PER_JOB - 1) / PARTS_PER_JOB, search_job, &s, err));
    *out = atomic_load(&s.found);
done:
    kn_free(reach);
    kn_free(boxes);
    kn_box_tree_free(tree);
    return status;
}
