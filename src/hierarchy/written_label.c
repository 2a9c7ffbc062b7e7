/* Labels that are made from the data, as a release writes them.
 *
 * A search needs labels before it knows who will be removed: the pool `{bishop|mason|pilot}`, the interval `30..97` up
 * to the largest value, a mask as long as the longest code. Written so, a label would name a value of somebody who was
 * removed because too few shared it. Once the released rows are known, each label is written for the values that rows
 * under it have:
 *   set     its members among them
 *   ends    from the first to the last of them
 *   grid    multiples of the level's width around them; where the node has the smallest or the largest value of the
 *           data, of the smallest width, so that the outermost intervals are no wider than need be
 *   group   of few of them: the set of them; otherwise its name, which no value is part of
 *   masks   as many characters as the longest value under any mask of the column
 * Where a lowest level is asked for, a group of which one value is left is written as *: neither that value nor one of
 * somebody who was removed may be named.
 * One label per node, whichever class a row is in: what looked the same looks the same. A cell then covers the values
 * of the data that the label as written covers, and is priced so. */
#include "hierarchy/builders.h"

#include <assert.h>
#include <string.h>

/* What is being written. */
typedef struct narrowed {
    const kn_domain *domain;
    uint32_t node, first, last; /* codes that the text covers ... */
    KN_VECTOR(uint32_t) codes;  /* ... where some between them are not */
    kn_buffer text;
} narrowed;

static kn_cell node_cell(const kn_tree *tree, uint32_t node)
{
    return (kn_cell){tree->first[node], tree->last[node], node};
}

/* A text that is a label already means that label's node: equal texts are equal cells. */
static kn_status finish(kn_cell *out, narrowed *n, kn_set_pool *sets, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = n->domain->tree;
    if (n->text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    uint32_t known = kn_tree_find(tree, n->text.bytes, n->text.n);
    bool same = known != KN_NONE && tree->first[known] == n->first && tree->last[known] == n->last;
    if (known != KN_NONE) {
        *out = node_cell(tree, same && n->codes.n == 0 ? known : n->node);
        goto done;
    }
    *out = (kn_cell){n->first, n->last, KN_NONE};
    KN_TRY(kn_set_pool_add_label(&out->id, sets, n->codes.items, (uint32_t)n->codes.n, n->text.bytes, n->text.n, err));
    out->id += tree->n_nodes;
done:
    return status;
}

/* The set of released members; contiguous ones are a range of codes. */
static kn_status name_set(narrowed *n, const kn_rows_below *released, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t code = n->first; code <= n->last; code++)
        if (released->codes[code]) KN_PUSH(&n->codes, code);
    kn_text_members(&n->text, n->domain->column, n->domain->spelling_of_code, n->codes.items, (uint32_t)n->codes.n,
                    true);
    if (n->codes.n == n->last - n->first + 1) n->codes.n = 0;
done:
    return status;
}

static void name_grid(narrowed *n)
{
    const kn_domain *domain = n->domain;
    const kn_tree *tree = domain->tree;
    const uint32_t first = tree->first[n->node], last = tree->last[n->node];
    const int64_t times = domain->grid->times[tree->level[n->node]], *interval = domain->grid->interval;
    const bool at_end = last + 1 == domain->n_codes || last + 1 == domain->missing;
    int64_t from = interval[n->first], to = interval[n->last] + 1;
    if (first > 0) from = kn_floor_divide(from, times) * times;
    if (!at_end) to = (kn_floor_divide(to - 1, times) + 1) * times;
    while (n->first > first && interval[n->first - 1] >= from) n->first--;
    while (n->last < last && interval[n->last + 1] < to) n->last++;
    char label[KN_INTERVAL_BYTES];
    size_t n_bytes = kn_grid_interval_text(label, domain->grid, domain->column->type, from, to);
    kn_buffer_append(&n->text, label, n_bytes);
}

/* The stars that only longer values needed go; values that are longer are then not meant. Where a lowest level is asked
 * for, as many stay as keep a mask of that level from being a value. */
static kn_status name_mask(narrowed *n, uint32_t n_longest, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = n->domain;
    const kn_tree *tree = domain->tree;
    uint32_t n_spare = tree->n_levels - 1 - n_longest; /* a level per character of the longest value, and * */
    size_t n_bytes;
    if (domain->min_level > 0 && n_spare >= domain->min_level) n_spare = domain->min_level - 1;
    n_longest = tree->n_levels - 1 - n_spare;
    const char *label = kn_tree_label(tree, n->node, &n_bytes);
    assert(n_spare < tree->n_levels && n_bytes >= n_spare);
    kn_buffer_append(&n->text, domain->naming == KN_NAMES_SUFFIX ? label + n_spare : label, n_bytes - n_spare);
    n->first = tree->last[n->node];
    n->last = tree->first[n->node];
    for (uint32_t code = tree->first[n->node]; code <= tree->last[n->node]; code++) {
        if (kn_domain_characters(domain, code) > n_longest) continue;
        if (code < n->first) n->first = code;
        if (code > n->last) n->last = code;
        KN_PUSH(&n->codes, code);
    }
    if (n->codes.n == n->last - n->first + 1) n->codes.n = 0;
done:
    return status;
}

uint32_t kn_domain_characters(const kn_domain *domain, uint32_t code)
{
    size_t n;
    if (domain->spelling_of_code[code] == KN_NONE) return 0; /* the one leaf of a table without rows */
    const char *bytes = kn_column_bytes(domain->column, domain->spelling_of_code[code], &n);
    return kn_count_characters(bytes, n);
}

kn_status kn_cell_narrow(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, uint32_t node,
                         const kn_rows_below *released, kn_error *err)
{
    kn_status status = KN_OK;
    narrowed n = {.domain = domain, .node = node, .first = released->first, .last = released->last};
    assert(domain->tree->n_leaves <= node && node < domain->tree->n_nodes && node != domain->tree->root);
    *out = node_cell(domain->tree, node);
    bool single = released->first == released->last;
    const bool is_named = domain->naming == KN_NAMES_SET || domain->naming == KN_NAMES_ENDS;
    if (single && domain->min_level > 0 && (is_named || domain->naming == KN_NAMES_GROUP)) {
        *out = kn_domain_root(domain);
        goto done;
    }
    switch (domain->naming) {
    case KN_NAMES_FIXED: goto done;
    case KN_NAMES_SET:
    case KN_NAMES_ENDS:
        if (single) {
            *out = kn_domain_leaf(domain, released->first);
            goto done;
        }
        if (domain->naming == KN_NAMES_SET) {
            KN_TRY(name_set(&n, released, err));
        } else {
            kn_text_members(&n.text, domain->column, domain->spelling_of_code, (uint32_t[]){n.first, n.last}, 2, false);
        }
        break;
    case KN_NAMES_GROUP:
        KN_TRY(name_set(&n, released, err));
        if ((n.codes.n > 0 ? n.codes.n : n.last - n.first + 1) > KN_SMALL_SET) goto done;
        if (single) *out = kn_domain_leaf(domain, released->first);
        if (single) goto done;
        break;
    case KN_NAMES_GRID: name_grid(&n); break;
    case KN_NAMES_PREFIX:
    case KN_NAMES_SUFFIX: KN_TRY(name_mask(&n, released->n_longest, err)); break;
    }
    KN_TRY(finish(out, &n, sets, err));
done:
    kn_free(n.codes.items);
    kn_buffer_free(&n.text);
    return status;
}
