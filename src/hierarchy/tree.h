/* A generalization tree over the codes of one column.
 *
 * Leaves are 0 .. n_leaves-1 in pre-order, so a node is a range of leaves; inner nodes follow, the root is the last
 * node. `at_level` is the full-domain view: level 0 is the leaf itself, level n_levels-1 the root; a node with one
 * child is kept, because levels need it. Children stand as they first appear in the file.
 *
 * The closure of a set of leaves is the lowest node whose range holds them. */
#ifndef KN_HIERARCHY_TREE_H
#define KN_HIERARCHY_TREE_H

#include "table/table.h"

typedef struct kn_tree {
    uint32_t n_leaves, n_nodes, root;
    uint32_t n_levels;   /* height + 1; 1 for a tree that is a single leaf */
    uint32_t *parent;    /* n_nodes; the root's is itself */
    uint32_t *first;     /* n_nodes; first and last leaf of the range, both included */
    uint32_t *last;      /* n_nodes */
    uint32_t *level;     /* n_nodes; lowest level at which the node stands */
    uint32_t **at_level; /* [n_levels][n_leaves]: node of a leaf at a level */
    char *label_bytes;
    uint64_t *label_offset; /* n_nodes + 1 */
} kn_tree;

void kn_tree_free(kn_tree *tree);

static inline const char *kn_tree_label(const kn_tree *tree, uint32_t node, size_t *n_bytes)
{
    *n_bytes = (size_t)(tree->label_offset[node + 1] - tree->label_offset[node]);
    return tree->label_bytes + tree->label_offset[node];
}

/* Lowest node whose range covers both nodes. */
static inline uint32_t kn_tree_join(const kn_tree *tree, uint32_t a, uint32_t b)
{
    uint32_t first = tree->first[b], last = tree->last[b];
    while (tree->first[a] > first || tree->last[a] < last) a = tree->parent[a];
    if (tree->first[a] == first && tree->last[a] == last)
        return tree->level[a] < tree->level[b] ? a : b; /* a chain of single children: the lowest */
    return a;
}

#endif
