/* Rectification of a hierarchy for the entropy measure: Gionis and Tassa, "k-Anonymization with Minimal Loss of
 * Information", 4.2.2.
 *
 * The entropy measure prices a node B by H(X|B), the entropy of the column's values inside B. It is not monotone where
 * a node B' below B has a larger one: rare values with equal shares inside a domain that one value dominates. Then it
 * pays to suppress more, which no search should want. In: a domain with a tree and the data's counts. Out: the tree
 * without such nodes, on which the measure is monotone.
 *
 * The paper unifies B' with a sibling, or dissolves both when it has only one. A union of siblings is a set that the
 * user never allowed and that has no label, although the paper asks for a part of the given collection; and
 * dissolving B' alone repairs the edge as well. So here B' is removed and its children hang below B, from the root
 * downwards: a node stays iff its entropy is not above that of the nearest ancestor that stayed. What is left is part
 * of the given collection and contains the leaves and the root.
 *
 * Levels: where a node is gone, its children stand at its level too. A level that then repeats the one below is
 * dropped.
 * Cost: O(leaves * levels). */
#include "hierarchy/paths.h"
#include "hierarchy/tools.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* H(X|node) in bits, from sum of c log c over the leaves' counts c: log n - (that sum) / n. */
static kn_status node_entropies(double **out, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    double *sum_before = NULL;
    *out = NULL;
    KN_NEW(sum_before, (size_t)tree->n_leaves + 1);
    KN_NEW(*out, tree->n_nodes);
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        double count = (double)kn_domain_code_rows(domain, leaf);
        sum_before[leaf + 1] = sum_before[leaf] + (count > 0 ? count * log2(count) : 0);
    }
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes; node++) {
        uint32_t first = tree->first[node], last = tree->last[node];
        double n = (double)(domain->rows_before[last + 1] - domain->rows_before[first]);
        if (n > 0) (*out)[node] = log2(n) - (sum_before[last + 1] - sum_before[first]) / n;
    }
done:
    kn_free(sum_before);
    return status;
}

/* keeps[node]; nodes of a chain that covers the same leaves stay or go together, having one entropy. */
static kn_status choose_nodes(bool **keeps, uint32_t *n_removed, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    double *entropy = NULL, *ceiling = NULL; /* ceiling: entropy of the nearest ancestor that stays, or its own */
    *keeps = NULL;
    *n_removed = 0;
    KN_TRY(node_entropies(&entropy, domain, err));
    KN_NEW(*keeps, tree->n_nodes);
    KN_NEW(ceiling, tree->n_nodes);
    for (uint32_t node = tree->n_nodes; node-- > 0;) { /* parents have larger numbers */
        double above = node == tree->root ? entropy[node] : ceiling[tree->parent[node]];
        (*keeps)[node] = node < tree->n_leaves || node == tree->root || entropy[node] <= above + 1e-9;
        ceiling[node] = (*keeps)[node] && entropy[node] < above ? entropy[node] : above;
        *n_removed += !(*keeps)[node];
    }
done:
    kn_free(entropy);
    kn_free(ceiling);
    return status;
}

/* One row per leaf; a removed node's level is taken by what stands below it. One label per node, whatever its bytes. */
static kn_status push_rows(kn_paths *paths, const kn_tree *tree, const bool *keeps, const bool *level_stays,
                           kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        uint32_t id;
        KN_TRY(kn_paths_own_label(&id, paths, label, n, err));
        assert(id == node);
    }
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        uint32_t stands = leaf;
        for (uint32_t level = 0; level < tree->n_levels; level++) {
            if (keeps[tree->at_level[level][leaf]]) stands = tree->at_level[level][leaf];
            if (level_stays[level]) KN_TRY(kn_paths_push(paths, stands, err));
        }
    }
done:
    return status;
}

kn_status kn_hierarchy_rectify(kn_tree **out, uint32_t *n_removed, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    kn_paths paths = {.name = domain->name};
    bool *keeps = NULL, *level_stays = NULL;
    *out = NULL;
    assert(domain->kind == KN_DOMAIN_TREE);
    KN_TRY(choose_nodes(&keeps, n_removed, domain, err));
    KN_NEW(level_stays, tree->n_levels);
    level_stays[0] = true; /* the others where some leaf's node is new and stays, or where nothing was removed */
    for (uint32_t level = 1; level < tree->n_levels; level++) {
        bool any_removed = false;
        for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
            uint32_t node = tree->at_level[level][leaf];
            any_removed = any_removed || !keeps[node];
            if (keeps[node] && node != tree->at_level[level - 1][leaf]) level_stays[level] = true;
        }
        if (!any_removed) level_stays[level] = true;
    }
    for (uint32_t level = 0; level < tree->n_levels; level++) paths.n_levels += level_stays[level];
    KN_TRY(push_rows(&paths, tree, keeps, level_stays, err));
    KN_TRY(kn_tree_from_paths(out, &paths, err));
done:
    kn_paths_free(&paths);
    kn_free(keeps);
    kn_free(level_stays);
    return status;
}
