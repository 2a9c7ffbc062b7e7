/* Released rows climb from their value to the lowest group around their cell, and count there and above: as many steps
 * per row as the tree has levels, and a byte for each value at each level. */
#include "run/group_members.h"

#include "hierarchy/builders.h"

static kn_status number_entries(kn_group_members *out, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = out->tree;
    size_t n = 0;
    KN_NEW(out->start, tree->n_nodes);
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes; node++) {
        out->start[node] = n;
        n += tree->last[node] - tree->first[node] + (size_t)1;
    }
    KN_NEW(out->is_released, n + 1);
done:
    return status;
}

kn_status kn_group_members_find(kn_group_members *out, const kn_release *release, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    const kn_domain *domain = tuples->domains[q];
    *out = (kn_group_members){0};
    if (domain->naming != KN_NAMES_GROUP || domain->subsets != NULL) return KN_OK;
    const kn_tree *tree = domain->groups != NULL ? domain->groups : domain->tree;
    if (tree == NULL) return KN_OK;
    out->tree = tree;
    KN_TRY(number_entries(out, err));
    for (uint32_t row = 0; row < tuples->n_records; row++) {
        const uint32_t class_index = release->row_class[row];
        if (class_index == KN_NONE) continue;
        const kn_cell *cell = &release->cells[(size_t)class_index * tuples->n_qis + q];
        const uint32_t code = tuples->codes[q][tuples->row_tuple[row]];
        for (uint32_t node = code; node != tree->root;) {
            node = tree->parent[node];
            const bool is_around = tree->first[node] <= cell->first && cell->last <= tree->last[node];
            if (is_around) out->is_released[out->start[node] + (code - tree->first[node])] = true;
        }
    }
done:
    if (status != KN_OK) kn_group_members_free(out);
    return status;
}

void kn_group_members_free(kn_group_members *groups)
{
    kn_free(groups->start);
    kn_free(groups->is_released);
    *groups = (kn_group_members){0};
}

uint32_t kn_group_named(const kn_group_members *groups, const char *label, size_t n_bytes)
{
    const kn_tree *tree = groups->tree;
    const uint32_t node = tree != NULL ? kn_tree_find(tree, label, n_bytes) : KN_NONE;
    if (node == KN_NONE || node < tree->n_leaves) return KN_NONE;
    return tree->last[node] - tree->first[node] + 1 > KN_SMALL_SET ? node : KN_NONE; /* the others are sets */
}
