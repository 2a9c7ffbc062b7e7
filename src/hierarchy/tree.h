/* A generalization tree over the codes of one column.
 *
 * Leaves are 0 .. n_leaves-1 in pre-order, so a node is a range of leaves; inner nodes follow, the root is the last
 * node. `at_level` is the full-domain view: level 0 is the leaf itself, level n_levels-1 the root; a node with one
 * child is kept, because levels need it. Children stand as they first appear in the file.
 *
 * The closure of a set of leaves is the lowest node whose range holds them.
 *
 * What a label means: nodes of one level with equal labels are one node. A node with a single child of the same label
 * is that child: it stands at both levels (an unbalanced tree is written so: `a;a;x;*`). Otherwise a label may repeat
 * only along one path from leaf to root (`Unknown` below a wider `Unknown`); it then names the widest node that
 * carries it, because whoever reads the release cannot know that less was meant. */
#ifndef KN_HIERARCHY_TREE_H
#define KN_HIERARCHY_TREE_H

#include "base/sha256.h"
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
    uint32_t *slots;        /* hash table of the nodes by label, for kn_tree_find; KN_NONE: free */
    uint32_t n_slots;       /* a power of two */
    bool is_collection;     /* no tree, but the lines of a collection of subsets (subsets.h): a label names all nodes
                               that have it */
} kn_tree;

void kn_tree_free(kn_tree *tree);

static inline const char *kn_tree_label(const kn_tree *tree, uint32_t node, size_t *n_bytes)
{
    *n_bytes = (size_t)(tree->label_offset[node + 1] - tree->label_offset[node]);
    return tree->label_bytes + tree->label_offset[node];
}

/* The widest node with this label, or KN_NONE. */
uint32_t kn_tree_find(const kn_tree *tree, const char *label, size_t n_bytes);
/* The leaf with this label, or KN_NONE. */
uint32_t kn_tree_find_leaf(const kn_tree *tree, const char *label, size_t n_bytes);

/* What the tree is, as a SHA-256: the labels of every leaf's path. */
void kn_tree_digest(char hex[KN_SHA256_HEX], const kn_tree *tree);

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
