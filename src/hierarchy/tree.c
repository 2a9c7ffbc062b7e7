/* From paths to a tree.
 *
 * In: rows of labels, leaf first, root last. Out: leaves numbered in pre-order with children as they first appear,
 * inner nodes after them level by level, the root last. A node is a (level, label) pair; that is sound because the
 * rules are checked first:
 *   - one root: every row ends with the same label;
 *   - one parent: rows that agree at a level agree at the next one;
 *   - one place: a label that stands at several levels does so along one path.
 * Cost: O(rows * levels), no recursion. */
#include "hierarchy/paths.h"

#include "base/hash.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void kn_tree_free(kn_tree *tree)
{
    if (tree == NULL) return;
    kn_free(tree->parent);
    kn_free(tree->first);
    kn_free(tree->last);
    kn_free(tree->level);
    if (tree->at_level != NULL)
        for (uint32_t l = 0; l < tree->n_levels; l++) kn_free(tree->at_level[l]);
    kn_free(tree->at_level);
    kn_free(tree->label_bytes);
    kn_free(tree->label_offset);
    kn_free(tree->slots);
    kn_free(tree);
}

static uint32_t first_slot(const kn_tree *tree, const char *label, size_t n_bytes)
{
    return (uint32_t)kn_hash_bytes(label, n_bytes) & (tree->n_slots - 1);
}

static bool has_label(const kn_tree *tree, uint32_t node, const char *label, size_t n_bytes)
{
    size_t n;
    const char *bytes = kn_tree_label(tree, node, &n);
    return n == n_bytes && memcmp(bytes, label, n) == 0;
}

uint32_t kn_tree_find(const kn_tree *tree, const char *label, size_t n_bytes)
{
    uint32_t found = KN_NONE;
    for (uint32_t slot = first_slot(tree, label, n_bytes); tree->slots[slot] != KN_NONE;
         slot = (slot + 1) & (tree->n_slots - 1)) {
        uint32_t node = tree->slots[slot];
        /* node numbers grow towards the root */
        if (has_label(tree, node, label, n_bytes) && (found == KN_NONE || node > found)) found = node;
    }
    return found;
}

void kn_tree_digest(char hex[KN_SHA256_HEX], const kn_tree *tree)
{
    kn_sha256 hash;
    kn_sha256_begin(&hash);
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++)
        for (uint32_t level = 0; level < tree->n_levels; level++) {
            size_t n_bytes;
            const char *label = kn_tree_label(tree, tree->at_level[level][leaf], &n_bytes);
            const uint64_t length = n_bytes;
            kn_sha256_add(&hash, &length, sizeof length);
            kn_sha256_add(&hash, label, n_bytes);
        }
    kn_sha256_end(hex, &hash);
}

uint32_t kn_tree_find_leaf(const kn_tree *tree, const char *label, size_t n_bytes)
{
    for (uint32_t slot = first_slot(tree, label, n_bytes); tree->slots[slot] != KN_NONE;
         slot = (slot + 1) & (tree->n_slots - 1)) {
        uint32_t node = tree->slots[slot];
        if (node < tree->n_leaves && has_label(tree, node, label, n_bytes)) return node;
    }
    return KN_NONE;
}

/* --- The rules ------------------------------------------------------------------------------------------------- */

enum { PLACE_BYTES = 40 };

/* "line 12", or "row 3" of computed paths. */
static const char *place(char buffer[PLACE_BYTES], const kn_paths *paths, uint32_t row)
{
    unsigned long long line = kn_paths_line(paths, row);
    if (line > 0) snprintf(buffer, PLACE_BYTES, "line %llu", line);
    else snprintf(buffer, PLACE_BYTES, "row %u", row + 1);
    return buffer;
}

static kn_status two_parents(const kn_paths *paths, uint32_t row, uint32_t earlier, uint32_t level, kn_error *err)
{
    char label[KN_SHOWN_BYTES], here[KN_SHOWN_BYTES], there[KN_SHOWN_BYTES], place_here[PLACE_BYTES],
        place_there[PLACE_BYTES];
    kn_paths_shown(label, paths, kn_paths_at(paths, row, level));
    kn_paths_shown(here, paths, kn_paths_at(paths, row, level + 1));
    kn_paths_shown(there, paths, kn_paths_at(paths, earlier, level + 1));
    place(place_here, paths, row);
    place(place_there, paths, earlier);
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, row)),
                           "%s, %s, column %u: %s has the parent %s, but in %s it has the parent %s; a label can stand "
                           "below one parent only: rename one of the two or give them the same parent",
                           paths->name, place_here, level + 1, label, here, place_there, there);
}

static kn_status check_root(const kn_paths *paths, kn_error *err)
{
    uint32_t top = paths->n_levels - 1, root = kn_paths_at(paths, 0, top), row = 1;
    while (row < kn_paths_rows(paths) && kn_paths_at(paths, row, top) == root) row++;
    if (row == kn_paths_rows(paths)) return KN_OK;
    /* the first line alone differs: column names, most likely */
    bool header = row == 1 && kn_paths_rows(paths) > 2 && kn_paths_at(paths, 2, top) == kn_paths_at(paths, 1, top);
    char here[KN_SHOWN_BYTES], there[KN_SHOWN_BYTES], place_here[PLACE_BYTES], place_there[PLACE_BYTES];
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, row)),
        header ? "%s, %s: the root is %s, but in %s it is %s; every line must end with the same label, and "
                 "there is no header line: remove it if that is one"
               : "%s, %s: the root is %s, but in %s it is %s; every line must end with the same label: "
                 "add a common root such as * as last column",
        paths->name, place(place_here, paths, row), kn_paths_shown(here, paths, kn_paths_at(paths, row, top)),
        place(place_there, paths, 0), kn_paths_shown(there, paths, root));
}

/* Whoever reads * in a release takes it for any value, so nothing narrower may be called so. A leaf may: data that has
 * it is refused by itself, unless it stands for the missing value. */
static kn_status check_stars(const kn_paths *paths, kn_error *err)
{
    const uint32_t star = kn_paths_find(paths, "*", 1), top = paths->n_levels - 1;
    char here[PLACE_BYTES], root[KN_SHOWN_BYTES];
    if (star == KN_NONE || kn_paths_at(paths, 0, top) == star) return KN_OK;
    for (uint32_t row = 0; row < kn_paths_rows(paths); row++)
        for (uint32_t l = 1; l < top; l++)
            if (kn_paths_at(paths, row, l) == star && kn_paths_at(paths, row, 0) != star)
                return kn_error_set_at(
                    err, KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, row)),
                    "%s, %s, column %u: the label '*' below the root %s would be ambiguous, because in "
                    "a release * means any value; rename it",
                    paths->name, place(here, paths, row), l + 1,
                    kn_paths_shown(root, paths, kn_paths_at(paths, 0, top)));
    return KN_OK;
}

kn_status kn_paths_check(const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_rows = kn_paths_rows(paths), *first_row = NULL;
    if (paths->cells.n == 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name), "%s: the hierarchy is empty", paths->name);
    assert(paths->cells.n % paths->n_levels == 0);
    KN_TRY(check_root(paths, err));
    KN_TRY(check_stars(paths, err));
    KN_NEW_RAW(first_row, paths->ends.n);
    for (uint32_t l = 0; l + 1 < paths->n_levels; l++) {
        memset(first_row, 0xFF, paths->ends.n * sizeof *first_row);
        for (uint32_t r = 0; r < n_rows; r++) {
            uint32_t *earlier = &first_row[kn_paths_at(paths, r, l)];
            if (*earlier == KN_NONE) *earlier = r;
            else if (kn_paths_at(paths, r, l + 1) != kn_paths_at(paths, *earlier, l + 1))
                KN_TRY(two_parents(paths, r, *earlier, l, err));
        }
    }
done:
    kn_free(first_row);
    return status;
}

/* --- Nodes as they appear, before numbering -------------------------------------------------------------------- */

typedef struct draft {
    uint32_t n_levels, n_leaves, n_nodes; /* leaves are nodes 0 .. n_leaves-1 in order of appearance */
    uint32_t *leaf_row;                   /* n_leaves: the row where it first stands */
    uint32_t *node;                       /* [level * n_leaves + leaf] */
    uint32_t *label, *row;                /* per node; the row where it first stands */
    uint32_t *parent, *n_children, *first_child, *last_child, *next_sibling;
    uint32_t *same_as; /* the lowest node of a chain of single children with one label */
    uint32_t *order;   /* leaves in pre-order */
} draft;

static void draft_free(draft *d)
{
    uint32_t *arrays[] = {d->leaf_row,    d->node,       d->label,        d->row,     d->parent, d->n_children,
                          d->first_child, d->last_child, d->next_sibling, d->same_as, d->order};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) kn_free(arrays[i]);
}

/* Leaves, then the nodes of each level, each in order of first appearance. */
static kn_status draft_nodes(draft *d, const kn_paths *paths, uint32_t *node_of_label, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_rows = kn_paths_rows(paths);
    KN_NEW_RAW(d->leaf_row, n_rows);
    memset(node_of_label, 0xFF, paths->ends.n * sizeof *node_of_label);
    for (uint32_t r = 0; r < n_rows; r++) {
        uint32_t label = kn_paths_at(paths, r, 0);
        if (node_of_label[label] != KN_NONE) continue;
        node_of_label[label] = d->n_leaves;
        d->leaf_row[d->n_leaves++] = r;
    }
    size_t n_cells = (size_t)d->n_leaves * d->n_levels;
    if (n_cells >= KN_NONE) KN_FAIL(KN_RESOURCES, "%s: more than 2^32 leaves times levels", paths->name);
    KN_NEW_RAW(d->node, n_cells);
    KN_NEW_RAW(d->label, n_cells);
    KN_NEW_RAW(d->row, n_cells);
    for (uint32_t l = 0; l < d->n_levels; l++) {
        memset(node_of_label, 0xFF, paths->ends.n * sizeof *node_of_label);
        for (uint32_t i = 0; i < d->n_leaves; i++) {
            uint32_t label = kn_paths_at(paths, d->leaf_row[i], l);
            if (node_of_label[label] == KN_NONE) {
                node_of_label[label] = d->n_nodes;
                d->label[d->n_nodes] = label;
                d->row[d->n_nodes++] = d->leaf_row[i];
            }
            d->node[(size_t)l * d->n_leaves + i] = node_of_label[label];
        }
    }
done:
    return status;
}

static kn_status draft_links(draft *d, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t **arrays[] = {&d->parent, &d->first_child, &d->last_child, &d->next_sibling};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        KN_NEW_RAW(*arrays[i], d->n_nodes);
        memset(*arrays[i], 0xFF, d->n_nodes * sizeof **arrays[i]);
    }
    KN_NEW(d->n_children, d->n_nodes);
    KN_NEW(d->same_as, d->n_nodes);
    for (uint32_t l = 0; l + 1 < d->n_levels; l++)
        for (uint32_t i = 0; i < d->n_leaves; i++) {
            uint32_t child = d->node[(size_t)l * d->n_leaves + i], parent = d->node[(size_t)(l + 1) * d->n_leaves + i];
            if (d->parent[child] != KN_NONE) continue;
            d->parent[child] = parent;
            if (d->n_children[parent]++ == 0) d->first_child[parent] = child;
            else d->next_sibling[d->last_child[parent]] = child;
            d->last_child[parent] = child;
        }
    for (uint32_t node = 0; node < d->n_nodes; node++) { /* children have smaller numbers */
        uint32_t child = d->first_child[node];
        bool same = d->n_children[node] == 1 && d->label[child] == d->label[node];
        d->same_as[node] = same ? d->same_as[child] : node;
    }
done:
    return status;
}

static kn_status draft_order(draft *d, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(d->order, d->n_leaves);
    uint32_t n = 0, node = d->n_nodes - 1;
    for (;;) {
        while (d->first_child[node] != KN_NONE) node = d->first_child[node];
        d->order[n++] = node;
        while (d->next_sibling[node] == KN_NONE && d->parent[node] != KN_NONE) node = d->parent[node];
        if (d->next_sibling[node] == KN_NONE) break;
        node = d->next_sibling[node];
    }
    assert(n == d->n_leaves);
done:
    return status;
}

/* --- The tree -------------------------------------------------------------------------------------------------- */

/* Numbers the nodes; `final` and `draft_of` lead from draft to tree and back. */
static kn_status number_nodes(kn_tree *tree, const draft *d, uint32_t *final, uint32_t *draft_of, kn_error *err)
{
    kn_status status = KN_OK;
    tree->n_leaves = d->n_leaves;
    KN_NEW(tree->at_level, d->n_levels);
    KN_NEW_RAW(tree->first, d->n_nodes);
    KN_NEW_RAW(tree->last, d->n_nodes);
    KN_NEW_RAW(tree->level, d->n_nodes);
    memset(final, 0xFF, d->n_nodes * sizeof *final);
    for (uint32_t l = 0; l < d->n_levels; l++) {
        uint32_t n_before = tree->n_nodes;
        KN_NEW_RAW(tree->at_level[l], d->n_leaves);
        tree->n_levels = l + 1;
        for (uint32_t leaf = 0; leaf < d->n_leaves; leaf++) {
            uint32_t node = d->same_as[d->node[(size_t)l * d->n_leaves + d->order[leaf]]];
            if (final[node] == KN_NONE) {
                final[node] = tree->n_nodes;
                draft_of[tree->n_nodes] = node;
                tree->first[tree->n_nodes] = leaf;
                tree->level[tree->n_nodes++] = l;
            }
            tree->last[final[node]] = leaf;
            tree->at_level[l][leaf] = final[node];
        }
        /* the rest repeats the root: levels above it say nothing */
        if (n_before + 1 == tree->n_nodes && d->same_as[d->n_nodes - 1] == draft_of[n_before]) break;
    }
    tree->root = tree->n_nodes - 1;
done:
    return status;
}

static kn_status link_parents(kn_tree *tree, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(tree->parent, tree->n_nodes);
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        uint32_t leaf = tree->first[node], up = tree->level[node];
        while (up + 1 < tree->n_levels && tree->at_level[up][leaf] == node) up++;
        tree->parent[node] = tree->at_level[up][leaf];
    }
    assert(tree->parent[tree->root] == tree->root);
done:
    return status;
}

static kn_status copy_labels(kn_tree *tree, const draft *d, const kn_paths *paths, const uint32_t *draft_of,
                             kn_error *err)
{
    kn_status status = KN_OK;
    size_t n;
    KN_NEW(tree->label_offset, (size_t)tree->n_nodes + 1);
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        kn_paths_bytes(paths, d->label[draft_of[node]], &n);
        tree->label_offset[node + 1] = tree->label_offset[node] + n;
    }
    KN_NEW_RAW(tree->label_bytes, tree->label_offset[tree->n_nodes] + 1);
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        const char *bytes = kn_paths_bytes(paths, d->label[draft_of[node]], &n);
        memcpy(tree->label_bytes + tree->label_offset[node], bytes, n);
    }
done:
    return status;
}

static kn_status two_places(const kn_paths *paths, const draft *d, uint32_t a, uint32_t b, kn_error *err)
{
    char label[KN_SHOWN_BYTES], place_a[PLACE_BYTES], place_b[PLACE_BYTES];
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, d->row[b])),
                           "%s, %s: %s stands for something else than in %s; a label may repeat only along one path "
                           "from leaf to root: rename one of the two",
                           paths->name, place(place_b, paths, d->row[b]), kn_paths_shown(label, paths, d->label[a]),
                           place(place_a, paths, d->row[a]));
}

static kn_status index_labels(kn_tree *tree, const draft *d, const kn_paths *paths, const uint32_t *draft_of,
                              kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t n_slots = 4;
    while (n_slots < (uint64_t)tree->n_nodes * 2) n_slots *= 2;
    if (n_slots > UINT32_C(1) << 31) KN_FAIL(KN_RESOURCES, "%s: more than 2^30 nodes", paths->name);
    KN_NEW_RAW(tree->slots, n_slots);
    memset(tree->slots, 0xFF, n_slots * sizeof *tree->slots);
    tree->n_slots = (uint32_t)n_slots;
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        uint32_t slot = first_slot(tree, label, n);
        for (; tree->slots[slot] != KN_NONE; slot = (slot + 1) & (tree->n_slots - 1)) {
            uint32_t other = tree->slots[slot];
            bool on_one_path = tree->first[node] <= tree->first[other] && tree->last[node] >= tree->last[other];
            if (!on_one_path && d->label[draft_of[node]] == d->label[draft_of[other]])
                return two_places(paths, d, draft_of[other], draft_of[node], err);
        }
        tree->slots[slot] = node;
    }
done:
    return status;
}

kn_status kn_tree_from_paths(kn_tree **out, const kn_paths *paths, kn_error *err)
{
    return kn_tree_from_paths_with(out, NULL, paths, err);
}

kn_status kn_tree_from_paths_with(kn_tree **out, uint32_t *leaf_of_label, const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    draft d = {.n_levels = paths->n_levels};
    uint32_t *scratch = NULL, *draft_of = NULL;
    kn_tree *tree = NULL;
    *out = NULL;
    KN_TRY(kn_paths_check(paths, err));
    KN_NEW_RAW(scratch, paths->ends.n);
    KN_TRY(draft_nodes(&d, paths, scratch, err));
    KN_TRY(draft_links(&d, err));
    KN_TRY(draft_order(&d, err));
    kn_free(scratch);
    KN_NEW_RAW(scratch, d.n_nodes);
    KN_NEW_RAW(draft_of, d.n_nodes);
    KN_NEW(tree, 1);
    KN_TRY(number_nodes(tree, &d, scratch, draft_of, err));
    KN_TRY(link_parents(tree, err));
    KN_TRY(copy_labels(tree, &d, paths, draft_of, err));
    KN_TRY(index_labels(tree, &d, paths, draft_of, err));
    if (leaf_of_label != NULL) {
        memset(leaf_of_label, 0xFF, paths->ends.n * sizeof *leaf_of_label);
        for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) leaf_of_label[d.label[draft_of[leaf]]] = leaf;
    }
    *out = tree;
    tree = NULL;
done:
    kn_tree_free(tree);
    kn_free(scratch);
    kn_free(draft_of);
    draft_free(&d);
    return status;
}
