/* Z-order curve, blocks, bounds. Cost: see the header. */
#include "partition/box_tree.h"

#include "base/radix_sort.h"

enum { BLOCK = 16, MAX_DEPTH = 32, KEY_BITS = 64 };

/* --- Building -------------------------------------------------------------------------------------------------- */

/* Interleaves the leading bits of the coordinates, each scaled to its own range. */
static kn_status curve_keys(uint64_t *keys, uint32_t n_points, uint32_t n_dims, uint32_t *const *coordinates,
                            kn_error *err)
{
    unsigned n_bits = n_dims > 0 ? KEY_BITS / n_dims : 0;
    if (n_bits == 0 && n_dims > 0) n_bits = 1;
    if (n_bits > 16) n_bits = 16;
    for (uint32_t dim = 0; dim < n_dims && dim < KEY_BITS; dim++) {
        uint32_t largest = 0;
        for (uint32_t i = 0; i < n_points; i++)
            if (coordinates[dim][i] > largest) largest = coordinates[dim][i];
        unsigned stride = n_dims < KEY_BITS ? n_dims : KEY_BITS;
        for (uint32_t i = 0; i < n_points; i++) {
            uint64_t scaled = ((uint64_t)coordinates[dim][i] << n_bits) / ((uint64_t)largest + 1), spread = 0;
            for (unsigned bit = 0; bit < n_bits; bit++) spread |= (scaled >> bit & 1) << (bit * stride);
            keys[i] |= spread << dim;
        }
    }
    return KN_OK;
}

static kn_status sort_places(kn_box_tree *tree, uint32_t *const *coordinates, const uint32_t *weights, kn_pool *pool,
                             kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *keys = NULL;
    uint32_t n = tree->n_points, n_dims = tree->n_dims;
    KN_NEW(keys, n);
    KN_NEW_RAW(tree->order, n);
    KN_NEW_RAW(tree->coordinates, (size_t)n * n_dims);
    KN_NEW(tree->weight_before, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) tree->order[i] = i;
    KN_TRY(curve_keys(keys, n, n_dims, coordinates, err));
    KN_TRY(kn_radix_sort(keys, tree->order, n, KEY_BITS, pool, err));
    for (uint32_t dim = 0; dim < n_dims; dim++)
        for (uint32_t place = 0; place < n; place++)
            tree->coordinates[(size_t)place * n_dims + dim] = coordinates[dim][tree->order[place]];
    for (uint32_t place = 0; place < n; place++)
        tree->weight_before[place + 1] =
            tree->weight_before[place] + (weights != NULL ? weights[tree->order[place]] : 1);
done:
    kn_free(keys);
    return status;
}

static void widen(uint32_t *bounds, uint32_t low, uint32_t high)
{
    if (low < bounds[0]) bounds[0] = low;
    if (high > bounds[1]) bounds[1] = high;
}

static kn_status bound_parts(kn_box_tree *tree, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_dims = tree->n_dims;
    KN_NEW_RAW(tree->bounds, (size_t)tree->n_parts * 4 * n_dims);
    for (size_t i = 0; i < (size_t)tree->n_parts * 2 * n_dims; i++) {
        tree->bounds[2 * i] = UINT32_MAX;
        tree->bounds[2 * i + 1] = 0;
    }
    for (uint32_t place = 0; place < tree->n_points; place++)
        for (uint32_t dim = 0; dim < n_dims; dim++) {
            uint32_t x = tree->coordinates[(size_t)place * n_dims + dim];
            widen(&tree->bounds[((size_t)(tree->n_parts + place / BLOCK) * n_dims + dim) * 2], x, x);
        }
    for (uint32_t part = tree->n_parts * 2 - 1; part > 1; part--)
        for (uint32_t dim = 0; dim < n_dims; dim++) {
            const uint32_t *mine = &tree->bounds[((size_t)part * n_dims + dim) * 2];
            widen(&tree->bounds[((size_t)(part / 2) * n_dims + dim) * 2], mine[0], mine[1]);
        }
done:
    return status;
}

kn_status kn_box_tree_new(kn_box_tree **out, uint32_t n_points, uint32_t n_dims, uint32_t *const *coordinates,
                          const uint32_t *weights, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_box_tree *tree = NULL;
    *out = NULL;
    KN_NEW(tree, 1);
    tree->n_points = n_points;
    tree->n_dims = n_dims;
    tree->n_parts = 1;
    while ((uint64_t)tree->n_parts * BLOCK < n_points) tree->n_parts *= 2;
    KN_TRY(sort_places(tree, coordinates, weights, pool, err));
    KN_TRY(bound_parts(tree, err));
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
    kn_free(tree->bounds);
    kn_free(tree);
}

/* --- Questions ------------------------------------------------------------------------------------------------- */

/* How many of the codes lie below x. */
static uint32_t codes_below(const kn_box_side *side, uint64_t x)
{
    uint32_t low = 0, high = side->n_codes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (side->codes[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

typedef enum overlap { OUTSIDE, CUT, INSIDE } overlap;

static overlap side_overlap(const kn_box_side *side, uint32_t low, uint32_t high)
{
    if (high < side->first || low > side->last) return OUTSIDE;
    if (side->codes == NULL) return low >= side->first && high <= side->last ? INSIDE : CUT;
    uint32_t n = codes_below(side, (uint64_t)high + 1) - codes_below(side, low);
    return n == 0 ? OUTSIDE : n == high - low + 1 ? INSIDE : CUT;
}

static overlap part_overlap(const kn_box_tree *tree, uint32_t part, const kn_box_side *box)
{
    const uint32_t *bounds = &tree->bounds[(size_t)part * tree->n_dims * 2];
    overlap result = INSIDE;
    if (tree->n_dims > 0 && bounds[0] > bounds[1]) return OUTSIDE;
    for (uint32_t dim = 0; dim < tree->n_dims; dim++) {
        overlap here = side_overlap(&box[dim], bounds[2 * dim], bounds[2 * dim + 1]);
        if (here == OUTSIDE) return OUTSIDE;
        if (here == CUT) result = CUT;
    }
    return result;
}

static bool point_inside(const kn_box_tree *tree, uint32_t place, const kn_box_side *box)
{
    const uint32_t *point = &tree->coordinates[(size_t)place * tree->n_dims];
    for (uint32_t dim = 0; dim < tree->n_dims; dim++)
        if (side_overlap(&box[dim], point[dim], point[dim]) != INSIDE) return false;
    return true;
}

/* Places of a part: a block has BLOCK of them, a part above twice its children's. */
static void part_places(const kn_box_tree *tree, uint32_t part, uint32_t *begin, uint32_t *end)
{
    uint64_t first = part, n_blocks = 1;
    while (first < tree->n_parts) {
        first *= 2;
        n_blocks *= 2;
    }
    uint64_t from = (first - tree->n_parts) * BLOCK, to = from + n_blocks * BLOCK;
    *begin = from < tree->n_points ? (uint32_t)from : tree->n_points;
    *end = to < tree->n_points ? (uint32_t)to : tree->n_points;
}

/* Where the answer goes: a weight, or sums by part and place. */
typedef struct answer {
    uint64_t weight;
    double amount, *by_part, *by_place;
} answer;

static void take_part(answer *a, const kn_box_tree *tree, uint32_t part)
{
    if (a->by_part != NULL) {
        a->by_part[part] += a->amount;
        return;
    }
    uint32_t begin, end;
    part_places(tree, part, &begin, &end);
    a->weight += tree->weight_before[end] - tree->weight_before[begin];
}

static void take_block(answer *a, const kn_box_tree *tree, uint32_t part, const kn_box_side *box)
{
    uint32_t begin, end;
    part_places(tree, part, &begin, &end);
    for (uint32_t place = begin; place < end; place++) {
        if (!point_inside(tree, place, box)) continue;
        if (a->by_place != NULL) {
            a->by_place[place] += a->amount;
        } else {
            a->weight += tree->weight_before[place + 1] - tree->weight_before[place];
        }
    }
}

static void ask(answer *a, const kn_box_tree *tree, const kn_box_side *box)
{
    uint32_t stack[MAX_DEPTH * 2], n = 0;
    stack[n++] = 1;
    while (n > 0) {
        uint32_t part = stack[--n];
        overlap how = part_overlap(tree, part, box);
        if (how == INSIDE) {
            take_part(a, tree, part);
        } else if (how == CUT && part >= tree->n_parts) {
            take_block(a, tree, part, box);
        } else if (how == CUT) {
            stack[n++] = 2 * part;
            stack[n++] = 2 * part + 1;
        }
    }
}

uint64_t kn_box_tree_weight(const kn_box_tree *tree, const kn_box_side *box)
{
    answer a = {0};
    ask(&a, tree, box);
    return a.weight;
}

void kn_box_tree_add(const kn_box_tree *tree, const kn_box_side *box, double amount, double *by_part, double *by_place)
{
    answer a = {.amount = amount, .by_part = by_part, .by_place = by_place};
    ask(&a, tree, box);
}

double kn_box_tree_total(const kn_box_tree *tree, uint32_t place, const double *by_part, const double *by_place)
{
    double sum = by_place[place];
    for (uint32_t part = tree->n_parts + place / BLOCK; part > 0; part /= 2) sum += by_part[part];
    return sum;
}
