/* The k-d tree of box_tree.h. */
#include "classes/box_tree.h"

#include <assert.h>

enum { BLOCK = 16, MAX_DEPTH = 96, MAX_SAMPLE = 60 };

/* --- Building -------------------------------------------------------------------------------------------------- */

/* A coordinate at about the median, above the lowest, so that both sides get points. */
static uint32_t cut_value(const kn_box_tree *tree, const kn_box_part *part, uint32_t dim, uint32_t lowest)
{
    uint32_t sample[MAX_SAMPLE], n_points = part->end - part->begin;
    uint32_t n = n_points < 4096 ? MAX_SAMPLE / 4 : MAX_SAMPLE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = part->begin + (uint32_t)((uint64_t)n_points * i / n), j = i;
        uint32_t x = tree->coordinates[(size_t)place * tree->n_dims + dim];
        for (; j > 0 && sample[j - 1] > x; j--) sample[j] = sample[j - 1];
        sample[j] = x;
    }
    return sample[n / 2] > lowest ? sample[n / 2] : lowest + 1;
}

static void swap_places(kn_box_tree *tree, uint32_t a, uint32_t b)
{
    uint32_t *x = &tree->coordinates[(size_t)a * tree->n_dims], *y = &tree->coordinates[(size_t)b * tree->n_dims];
    for (uint32_t dim = 0; dim < tree->n_dims; dim++) {
        uint32_t kept = x[dim];
        x[dim] = y[dim];
        y[dim] = kept;
    }
    uint32_t kept = tree->order[a];
    tree->order[a] = tree->order[b];
    tree->order[b] = kept;
}

/* Places below the cut first; returns where the others begin. */
static uint32_t divide(kn_box_tree *tree, const kn_box_part *part, uint32_t dim, uint32_t cut)
{
    uint32_t low = part->begin, high = part->end;
    while (low < high) {
        if (tree->coordinates[(size_t)low * tree->n_dims + dim] < cut) low++;
        else swap_places(tree, low, --high);
    }
    return low;
}

static void find_bounds(uint32_t *bounds, const kn_box_tree *tree, const kn_box_part *part)
{
    for (uint32_t dim = 0; dim < tree->n_dims; dim++) {
        bounds[2 * dim] = UINT32_MAX;
        bounds[2 * dim + 1] = 0;
    }
    for (uint32_t place = part->begin; place < part->end; place++) {
        const uint32_t *point = &tree->coordinates[(size_t)place * tree->n_dims];
        for (uint32_t dim = 0; dim < tree->n_dims; dim++) {
            if (point[dim] < bounds[2 * dim]) bounds[2 * dim] = point[dim];
            if (point[dim] > bounds[2 * dim + 1]) bounds[2 * dim + 1] = point[dim];
        }
    }
}

/* The dimension of which the part covers the largest share; n_dims when all its points are one. */
static uint32_t widest(const uint32_t *bounds, const uint32_t *all, uint32_t n_dims)
{
    uint32_t best = n_dims;
    double best_share = 0;
    for (uint32_t dim = 0; dim < n_dims; dim++) {
        double spread = (double)bounds[2 * dim + 1] - bounds[2 * dim];
        double share = spread > 0 ? spread / ((double)all[2 * dim + 1] - all[2 * dim]) : 0;
        if (share > best_share) {
            best_share = share;
            best = dim;
        }
    }
    return best;
}

typedef KN_VECTOR(uint32_t) kn_bounds;

static kn_status push_part(kn_box_tree *tree, kn_bounds *bounds, uint32_t begin, uint32_t end, kn_error *err)
{
    kn_status status = KN_OK;
    kn_box_part part = {begin, end, 0};
    KN_PUSH(&tree->parts, part);
    KN_RESERVE(bounds, (size_t)tree->n_dims * 2);
    find_bounds(bounds->items + bounds->n, tree, &part);
    bounds->n += (size_t)tree->n_dims * 2;
done:
    tree->bounds = bounds->items;
    return status;
}

/* Parts are cut in the order in which they were made, so parents stand before children. */
static kn_status cut_parts(kn_box_tree *tree, kn_error *err)
{
    kn_status status = KN_OK;
    kn_bounds bounds = {0};
    uint32_t n_dims = tree->n_dims, end_of_level = 1, depth = 0;
    KN_TRY(push_part(tree, &bounds, 0, tree->n_points, err));
    for (uint32_t i = 0; i < tree->parts.n; i++) {
        if (i == end_of_level) {
            end_of_level = (uint32_t)tree->parts.n;
            depth++;
        }
        kn_box_part part = tree->parts.items[i];
        const uint32_t *mine = &bounds.items[(size_t)i * n_dims * 2];
        uint32_t dim = widest(mine, bounds.items, n_dims);
        if (part.end - part.begin <= BLOCK || dim == n_dims || depth + 2 >= MAX_DEPTH) continue;
        uint32_t middle = divide(tree, &part, dim, cut_value(tree, &part, dim, mine[2 * dim]));
        assert(middle > part.begin && middle < part.end);
        tree->parts.items[i].child = (uint32_t)tree->parts.n;
        KN_TRY(push_part(tree, &bounds, part.begin, middle, err));
        KN_TRY(push_part(tree, &bounds, middle, part.end, err));
    }
done:
    return status;
}

kn_status kn_box_tree_new(kn_box_tree **out, uint32_t n_points, uint32_t n_dims, uint32_t *const *coordinates,
                          const uint64_t *weights, kn_error *err)
{
    kn_status status = KN_OK;
    kn_box_tree *tree = NULL;
    *out = NULL;
    KN_NEW(tree, 1);
    tree->n_points = n_points;
    tree->n_dims = n_dims;
    KN_NEW_RAW(tree->order, n_points);
    KN_NEW_RAW(tree->coordinates, (size_t)n_points * n_dims);
    KN_NEW(tree->weight_before, (size_t)n_points + 1);
    for (uint32_t i = 0; i < n_points; i++) tree->order[i] = i;
    for (uint32_t dim = 0; dim < n_dims; dim++)
        for (uint32_t i = 0; i < n_points; i++) tree->coordinates[(size_t)i * n_dims + dim] = coordinates[dim][i];
    KN_TRY(cut_parts(tree, err));
    for (uint32_t place = 0; place < n_points; place++)
        tree->weight_before[place + 1] =
            tree->weight_before[place] + (weights != NULL ? weights[tree->order[place]] : 1);
    *out = tree;
    tree = NULL;
done:
    kn_box_tree_free(tree);
    return status;
}

void kn_box_tree_free(kn_box_tree *tree)
{
    if (tree == NULL) return;
    kn_free(tree->order);
    kn_free(tree->coordinates);
    kn_free(tree->weight_before);
    kn_free(tree->parts.items);
    kn_free(tree->bounds);
    kn_free(tree);
}

/* --- Questions ------------------------------------------------------------------------------------------------- */

kn_box_side kn_cell_side(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    kn_box_side side = {cell->first, cell->last, NULL, 0, 0};
    side.codes = kn_cell_members(cell, domain, sets, &side.n_codes);
    if (side.codes != NULL && side.last < 64)
        for (uint32_t i = 0; i < side.n_codes; i++) side.mask |= (uint64_t)1 << side.codes[i];
    return side;
}

/* How many of the codes lie below x. */
static uint32_t codes_below(const kn_box_side *side, uint64_t x)
{
    uint32_t low = 0, high = side->n_codes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (side->codes[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low;
}

typedef enum overlap { OUTSIDE, CUT, INSIDE } overlap;

/* `low` and `high` are not both outside first..last on the same side. */
static overlap set_overlap(const kn_box_side *side, uint32_t low, uint32_t high)
{
    if (side->mask != 0) {
        uint64_t from_low = side->mask >> low, n_bits = (uint64_t)high - low + 1;
        uint64_t wanted = n_bits < 64 ? ((uint64_t)1 << n_bits) - 1 : UINT64_MAX;
        return (from_low & wanted) == 0 ? OUTSIDE : (from_low & wanted) == wanted ? INSIDE : CUT;
    }
    uint32_t n = codes_below(side, (uint64_t)high + 1) - codes_below(side, low);
    return n == 0 ? OUTSIDE : n == high - low + 1 ? INSIDE : CUT;
}

static overlap part_overlap(const kn_box_tree *tree, uint32_t part, const kn_box_side *box)
{
    const uint32_t *bounds = &tree->bounds[(size_t)part * tree->n_dims * 2];
    overlap result = INSIDE;
    for (uint32_t dim = 0; dim < tree->n_dims; dim++) {
        uint32_t low = bounds[2 * dim], high = bounds[2 * dim + 1];
        const kn_box_side *side = &box[dim];
        if (high < side->first || low > side->last) return OUTSIDE;
        if (low < side->first || high > side->last) {
            result = CUT;
        } else if (side->codes != NULL) {
            overlap here = set_overlap(side, low, high);
            if (here == OUTSIDE) return OUTSIDE;
            if (here == CUT) result = CUT;
        }
    }
    return result;
}

static bool point_inside(const kn_box_tree *tree, uint32_t place, const kn_box_side *box)
{
    const uint32_t *point = &tree->coordinates[(size_t)place * tree->n_dims];
    for (uint32_t dim = 0; dim < tree->n_dims; dim++) {
        if (point[dim] < box[dim].first || point[dim] > box[dim].last) return false;
        if (box[dim].codes != NULL && set_overlap(&box[dim], point[dim], point[dim]) != INSIDE) return false;
    }
    return true;
}

/* Where the answer goes: a weight, or sums by part and place. */
typedef struct answer {
    uint64_t weight, n_visits;
    double amount, *by_part, *by_place;
} answer;

static void take_part(answer *a, const kn_box_tree *tree, uint32_t part)
{
    const kn_box_part *whole = &tree->parts.items[part];
    if (a->by_part != NULL) a->by_part[part] += a->amount;
    else a->weight += tree->weight_before[whole->end] - tree->weight_before[whole->begin];
}

static void take_points(answer *a, const kn_box_tree *tree, uint32_t part, const kn_box_side *box)
{
    for (uint32_t place = tree->parts.items[part].begin; place < tree->parts.items[part].end; place++) {
        if (!point_inside(tree, place, box)) continue;
        if (a->by_place != NULL) a->by_place[place] += a->amount;
        else a->weight += tree->weight_before[place + 1] - tree->weight_before[place];
    }
}

static void ask(answer *a, const kn_box_tree *tree, const kn_box_side *box)
{
    uint32_t stack[MAX_DEPTH + 2], n = 0;
    stack[n++] = 0;
    while (n > 0) {
        uint32_t part = stack[--n], child = tree->parts.items[part].child;
        overlap how = part_overlap(tree, part, box);
        a->n_visits++;
        if (how == INSIDE) {
            take_part(a, tree, part);
        } else if (how == CUT && child == 0) {
            take_points(a, tree, part, box);
        } else if (how == CUT) {
            stack[n++] = child;
            stack[n++] = child + 1;
        }
    }
}

uint64_t kn_box_tree_weight(const kn_box_tree *tree, const kn_box_side *box)
{
    answer a = {0};
    ask(&a, tree, box);
    return a.weight;
}

uint64_t kn_box_tree_visits(const kn_box_tree *tree, const kn_box_side *box)
{
    answer a = {0};
    ask(&a, tree, box);
    return a.n_visits;
}

void kn_box_tree_add(const kn_box_tree *tree, const kn_box_side *box, double amount, double *by_part, double *by_place)
{
    answer a = {.amount = amount, .by_part = by_part, .by_place = by_place};
    ask(&a, tree, box);
}

void kn_box_tree_spread(const kn_box_tree *tree, double *by_part, double *by_place)
{
    for (uint32_t i = 0; i < tree->parts.n; i++) {
        const kn_box_part *part = &tree->parts.items[i];
        if (part->child != 0) {
            by_part[part->child] += by_part[i];
            by_part[part->child + 1] += by_part[i];
            continue;
        }
        for (uint32_t place = part->begin; place < part->end; place++) by_place[place] += by_part[i];
    }
}
