/* A tree drawn in plain text, root first:
 *
 *     *  (100 leaves)
 *     ├─ 0-19  (19 leaves)
 *     │  ├─ 0-9: 1, 2, 3, 4, ... 5 more
 *     │  └─ ...
 *
 * A node whose children are all leaves has them on its own line. Lines are cut at the width, counted in code points.
 * When the whole is longer than allowed, each node gets a share of the lines: first a line for every child, or as many
 * as fit and a count of the rest; what is left over goes to the children in turn. */
#include "hierarchy/tools.h"

#include <stdio.h>
#include <string.h>

typedef struct drawing {
    const kn_tree *tree;
    const kn_domain *domain; /* may be NULL */
    const kn_show_options *options;
    uint32_t *first_child, *next_sibling; /* KN_NONE: none */
    uint32_t *n_lines;                    /* per node: lines of its whole subtree */
    kn_buffer out, line, prefix;
} drawing;

static bool is_leaf(const drawing *d, uint32_t node) { return node < d->tree->n_leaves; }

/* All children are leaves: they stand on the node's own line. */
static bool is_bottom(const drawing *d, uint32_t node)
{
    for (uint32_t child = d->first_child[node]; child != KN_NONE; child = d->next_sibling[child])
        if (!is_leaf(d, child)) return false;
    return true;
}

static kn_status link_children(drawing *d, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = d->tree;
    KN_NEW_RAW(d->first_child, tree->n_nodes);
    KN_NEW_RAW(d->next_sibling, tree->n_nodes);
    KN_NEW_RAW(d->n_lines, tree->n_nodes);
    memset(d->first_child, 0xFF, tree->n_nodes * sizeof *d->first_child);
    memset(d->next_sibling, 0xFF, tree->n_nodes * sizeof *d->next_sibling);
    /* Nodes of a level stand by their first leaf, but an unbalanced tree has children of several levels: going through
     * the leaves backwards puts each child before its later siblings. */
    for (uint32_t leaf = tree->n_leaves; leaf-- > 0;)
        for (uint32_t node = leaf; node != tree->root && tree->first[node] == leaf; node = tree->parent[node]) {
            uint32_t parent = tree->parent[node];
            d->next_sibling[node] = d->first_child[parent];
            d->first_child[parent] = node;
        }
    for (uint32_t node = 0; node < tree->n_nodes; node++) { /* children have smaller numbers */
        d->n_lines[node] = 1;
        if (is_leaf(d, node) || is_bottom(d, node)) continue;
        for (uint32_t child = d->first_child[node]; child != KN_NONE; child = d->next_sibling[child])
            d->n_lines[node] += d->n_lines[child];
    }
done:
    return status;
}

/* --- One line -------------------------------------------------------------------------------------------------- */

static uint32_t count_characters(const char *bytes, size_t n)
{
    uint32_t n_characters = 0;
    for (size_t i = 0; i < n; i++) n_characters += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return n_characters;
}

/* U+202A .. U+202E and U+2066 .. U+2069. */
static bool is_direction(const char *text, size_t n_bytes)
{
    if (n_bytes < 3 || memcmp(text, "\xE2\x80", 2) < 0 || memcmp(text, "\xE2\x81", 2) > 0) return false;
    const unsigned char last = (unsigned char)text[2];
    return text[1] == '\x80' ? last >= 0xAA && last <= 0xAE : last >= 0xA6 && last <= 0xA9;
}

/* Control characters could steer the terminal, and those of direction turn round what stands beside them. */
static void append_label(kn_buffer *out, const drawing *d, uint32_t node)
{
    size_t n;
    const char *label = kn_tree_label(d->tree, node, &n);
    if (n == 0) kn_buffer_text(out, "(missing)");
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)label[i];
        bool c1_control = byte == 0xC2 && i + 1 < n && (unsigned char)label[i + 1] < 0xA0;
        const bool direction = is_direction(label + i, n - i);
        if (c1_control) i++;
        if (direction) i += 2;
        kn_buffer_char(out, byte < 0x20 || byte == 0x7F || c1_control || direction ? '?' : (char)byte);
    }
}

/* " (12 leaves, 340 rows)" of leaves first..last. */
static void append_count(kn_buffer *out, const drawing *d, uint32_t first, uint32_t last)
{
    uint32_t n = last - first + 1;
    kn_buffer_printf(out, "  (%u %s", n, n == 1 ? "leaf" : "leaves");
    if (d->domain != NULL) {
        unsigned long long rows = d->domain->rows_before[last + 1] - d->domain->rows_before[first];
        kn_buffer_printf(out, ", %llu row%s", rows, rows == 1 ? "" : "s");
    }
    kn_buffer_char(out, ')');
}

/* Writes d->line, cut at the width. */
static void end_line(drawing *d)
{
    uint32_t width = d->options->width;
    const char *bytes = d->line.n > 0 ? d->line.bytes : "";
    size_t n = d->line.n;
    if (width >= 4 && count_characters(bytes, n) > width) {
        uint32_t n_characters = 0;
        for (n = 0; n < d->line.n; n++)
            if (((unsigned char)bytes[n] & 0xC0) != 0x80 && n_characters++ == width - 3) break;
        kn_buffer_append(&d->out, bytes, n);
        kn_buffer_text(&d->out, "...");
    } else {
        kn_buffer_append(&d->out, bytes, n);
    }
    kn_buffer_char(&d->out, '\n');
    if (d->line.failed || d->prefix.failed) d->out.failed = true;
    kn_buffer_clear(&d->line);
}

/* ": a, b, c, ... 4 more" as far as the width allows; without a width at most a screen's worth. */
static void append_leaves(drawing *d, uint32_t node)
{
    uint32_t width = d->options->width != 0 ? d->options->width : 1000, shown = 0, n = 0;
    for (uint32_t child = d->first_child[node]; child != KN_NONE; child = d->next_sibling[child]) n++;
    uint32_t n_rest = (uint32_t)snprintf(NULL, 0, ", ... %u more", n);
    kn_buffer_char(&d->line, ':');
    for (uint32_t child = d->first_child[node]; child != KN_NONE; child = d->next_sibling[child], shown++) {
        size_t before = d->line.n;
        kn_buffer_text(&d->line, shown > 0 ? ", " : " ");
        append_label(&d->line, d, child);
        uint32_t reserve = shown + 1 < n ? n_rest : 0;
        if (shown > 0 && d->line.bytes != NULL && count_characters(d->line.bytes, d->line.n) + reserve > width) {
            d->line.n = before;
            kn_buffer_printf(&d->line, ", ... %u more", n - shown);
            return;
        }
    }
}

/* --- The drawing ----------------------------------------------------------------------------------------------- */

static void draw(drawing *d, uint32_t node, uint32_t budget);

static void draw_child(drawing *d, uint32_t child, uint32_t budget, bool is_last)
{
    bool ascii = d->options->ascii;
    size_t n_prefix = d->prefix.n;
    kn_buffer_append(&d->line, n_prefix > 0 ? d->prefix.bytes : "", n_prefix);
    kn_buffer_text(&d->line, ascii ? (is_last ? "`- " : "|- ") : is_last ? "└─ " : "├─ ");
    kn_buffer_text(&d->prefix, is_last ? "   " : ascii ? "|  " : "│  ");
    draw(d, child, budget);
    d->prefix.n = n_prefix;
}

/* `budget` lines for all children, at least one. */
static void draw_children(drawing *d, uint32_t node, uint32_t budget)
{
    uint32_t n = 0, n_shown;
    for (uint32_t child = d->first_child[node]; child != KN_NONE; child = d->next_sibling[child]) n++;
    n_shown = n <= budget ? n : budget - 1;
    uint32_t spare = n <= budget ? budget - n : 0, child = d->first_child[node];
    for (uint32_t i = 0; i < n_shown; i++, child = d->next_sibling[child]) {
        uint32_t share = spare / (n_shown - i), wanted = d->n_lines[child] - 1, extra = wanted < share ? wanted : share;
        if (extra == 1 && wanted > 1) extra = 0; /* one line would say no more than the count does */
        spare -= extra;
        draw_child(d, child, 1 + extra, i + 1 == n);
    }
    if (n_shown == n) return;
    kn_buffer_append(&d->line, d->prefix.n > 0 ? d->prefix.bytes : "", d->prefix.n);
    kn_buffer_printf(&d->line, "%s... %u more", d->options->ascii ? "`- " : "└─ ", n - n_shown);
    append_count(&d->line, d, d->tree->first[child], d->tree->last[node]);
    end_line(d);
}

/* The line has been begun by the parent. Recursion is as deep as the tree has levels, which the reader limits. */
static void draw(drawing *d, uint32_t node, uint32_t budget)
{
    append_label(&d->line, d, node);
    if (is_leaf(d, node)) {
        if (d->domain != NULL) append_count(&d->line, d, node, node);
        end_line(d);
        return;
    }
    append_count(&d->line, d, d->tree->first[node], d->tree->last[node]);
    bool bottom = is_bottom(d, node);
    if (bottom) append_leaves(d, node);
    end_line(d);
    if (!bottom && budget > 1) draw_children(d, node, budget - 1);
}

/* A collection of subsets is drawn label by label. */
static void list_subsets(drawing *d)
{
    const kn_tree *lines = d->tree;
    uint32_t n_values, n_lines = 0, n_left = 0;
    for (uint32_t node = lines->n_leaves; node < lines->root; node++) {
        size_t n, n_there;
        if (!kn_lines_subset(&n_values, lines, node)) continue;
        if (d->options->max_lines != 0 && ++n_lines >= d->options->max_lines) {
            n_left++;
            continue;
        }
        const char *label = kn_tree_label(lines, node, &n), *separator = ": ";
        kn_buffer_append(&d->line, label, n);
        for (uint32_t other = node; other < lines->root; other++) {
            const char *there = kn_tree_label(lines, other, &n_there);
            if (n != n_there || memcmp(label, there, n) != 0) continue;
            kn_buffer_text(&d->line, separator);
            there = kn_tree_label(lines, lines->first[other], &n_there);
            kn_buffer_append(&d->line, there, n_there);
            separator = ", ";
        }
        end_line(d);
    }
    if (n_left > 0) kn_buffer_printf(&d->out, "... %u more\n", n_left);
}

kn_status kn_hierarchy_show(char **text, const kn_tree *tree, const kn_domain *domain, const kn_show_options *options,
                            kn_error *err)
{
    kn_status status = KN_OK;
    drawing d = {.tree = tree, .domain = domain, .options = options};
    *text = NULL;
    if (tree->is_collection) {
        list_subsets(&d);
    } else {
        KN_TRY(link_children(&d, err));
        draw(&d, tree->root, options->max_lines != 0 ? options->max_lines : UINT32_MAX);
    }
    KN_TRY(kn_buffer_finish(text, &d.out, err));
done:
    kn_free(d.first_child);
    kn_free(d.next_sibling);
    kn_free(d.n_lines);
    kn_buffer_free(&d.out);
    kn_buffer_free(&d.line);
    kn_buffer_free(&d.prefix);
    return status;
}
