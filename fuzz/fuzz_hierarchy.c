/* Any bytes as a hierarchy file: refused with a message, or a tree that keeps its promises and reads back the same. */
#include "fuzz.h"
#include "hierarchy/tools.h"

#include <string.h>

static void check_tree(const kn_tree *tree)
{
    require(tree->root == tree->n_nodes - 1 && tree->parent[tree->root] == tree->root);
    require(tree->first[tree->root] == 0 && tree->last[tree->root] == tree->n_leaves - 1);
    require(tree->level[tree->root] == tree->n_levels - 1);
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        uint32_t parent = tree->parent[node];
        require(tree->first[parent] <= tree->first[node] && tree->last[parent] >= tree->last[node]);
        require(node == tree->root || (parent > node && tree->level[parent] > tree->level[node]));
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        uint32_t widest = kn_tree_find(tree, label, n);
        require(tree->first[widest] <= tree->first[node] && tree->last[widest] >= tree->last[node]);
    }
    for (uint32_t level = 0; level < tree->n_levels; level++)
        for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
            uint32_t node = tree->at_level[level][leaf];
            require(tree->first[node] <= leaf && leaf <= tree->last[node] && tree->level[node] <= level);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_tree *tree, *again;
    kn_error err = {0};
    char *text, *drawn;
    if (kn_tree_parse(&tree, (const char *)data, size, "fuzz.csv", false, &err) != KN_OK) {
        require(tree == NULL && err.message[0] != '\0');
        return 0;
    }
    kn_show_options options = {.width = 40, .max_lines = 20};
    require(kn_hierarchy_show(&drawn, tree, NULL, &options, &err) == KN_OK);
    kn_free(drawn);
    if (tree->is_collection) { /* lines of subsets, which are no tree */
        kn_tree_free(tree);
        return 0;
    }
    check_tree(tree);
    require(kn_tree_to_text(&text, tree, &err) == KN_OK);
    require(kn_tree_parse(&again, text, strlen(text), "again.csv", false, &err) == KN_OK);
    require(again->n_leaves == tree->n_leaves && again->n_nodes == tree->n_nodes && again->n_levels == tree->n_levels);
    uint64_t n_bytes = tree->label_offset[tree->n_nodes];
    require(n_bytes == again->label_offset[again->n_nodes] &&
            memcmp(tree->label_bytes, again->label_bytes, n_bytes) == 0);
    kn_free(text);
    kn_tree_free(tree);
    kn_tree_free(again);
    return 0;
}
