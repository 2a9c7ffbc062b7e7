/* `kanon hierarchy make` and `check`. */
#include "hierarchy/tools.h"

#include "hierarchy/builders.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LISTED = 10 };

/* Labels that name values, or intervals that end where the data does: a release that says them as they are would tell
 * of people who are not in it. Masks in a file tell how long the longest value is, which is no value of anybody's. */
static bool tells_of_data(const kn_domain *domain)
{
    switch (domain->naming) {
    case KN_NAMES_SET:
    case KN_NAMES_ENDS:
    case KN_NAMES_GRID:
    case KN_NAMES_GROUP: return true;
    case KN_NAMES_FIXED:
    case KN_NAMES_PREFIX:
    case KN_NAMES_SUFFIX: break;
    }
    return domain->is_marked;
}

kn_status kn_hierarchy_to_text(char **text, const kn_tree *tree, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    char *lines = NULL;
    kn_buffer whole = {0};
    *text = NULL;
    KN_TRY(kn_tree_to_text(&lines, tree, err));
    if (tells_of_data(domain) && tree->n_levels > 2)
        kn_buffer_text(&whole, KN_MADE_FROM_DATA "; delete this line to declare the hierarchy public\n");
    kn_buffer_text(&whole, lines);
    KN_TRY(kn_buffer_finish(text, &whole, err));
done:
    kn_free(lines);
    return status;
}

kn_status kn_hierarchy_make(char **text, const kn_column *column, const char *data_name, uint32_t n_rows,
                            const kn_hierarchy_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    kn_hierarchy_request as_tree = *request;
    *text = NULL;
    as_tree.must_be_tree = true;
    KN_TRY(kn_domain_build(&domain, column, data_name, n_rows, &as_tree, err));
    KN_TRY(kn_hierarchy_to_text(text, domain->tree, domain, err));
done:
    kn_domain_free(domain);
    return status;
}

/* --- check ----------------------------------------------------------------------------------------------------- */

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

/* Leaves of a balanced tree all stand at level 0 only. */
static void describe_balance(kn_buffer *out, const kn_tree *tree)
{
    uint32_t n_short = 0, n_single = 0;
    for (uint32_t leaf = 0; tree->n_levels > 1 && leaf < tree->n_leaves; leaf++)
        n_short += tree->at_level[1][leaf] == leaf;
    for (uint32_t node = 0; node < tree->root; node++) {
        uint32_t parent = tree->parent[node];
        n_single += tree->first[node] == tree->first[parent] && tree->last[node] == tree->last[parent];
    }
    if (n_short == 0) kn_buffer_text(out, "  balanced: every leaf has a parent at level 1\n");
    else
        kn_buffer_printf(out, "  unbalanced: %u %s at level 1 and above too\n", n_short,
                         n_short == 1 ? "leaf stands" : "leaves stand");
    if (n_single > 0) kn_buffer_printf(out, "  %u node%s the only child\n", n_single, n_single == 1 ? " is" : "s are");
}

static void describe_levels(kn_buffer *out, const kn_tree *tree)
{
    for (uint32_t level = 0; level < tree->n_levels; level++) {
        uint32_t n_nodes = 0, largest = 0;
        for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
            uint32_t node = tree->at_level[level][leaf];
            if (tree->first[node] != leaf) continue;
            n_nodes++;
            uint32_t size = tree->last[node] - tree->first[node] + 1;
            if (size > largest) largest = size;
        }
        kn_buffer_printf(out, "  level %u: %u value%s", level, n_nodes, plural(n_nodes));
        if (level > 0) kn_buffer_printf(out, ", the widest covers %u", largest);
        kn_buffer_char(out, '\n');
    }
}

/* Labels that stand for a leaf or node and for a wider one above it. */
static void describe_repeats(kn_buffer *out, const kn_tree *tree, bool redact)
{
    uint32_t n_repeated = 0, example = KN_NONE;
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        if (kn_tree_find(tree, label, n) == node) continue;
        if (n_repeated++ == 0) example = node;
    }
    if (n_repeated == 0) return;
    char shown[KN_SHOWN_BYTES];
    size_t n;
    const char *label = kn_tree_label(tree, example, &n);
    kn_buffer_printf(out,
                     "  %u label%s also the label of a wider node above (%s): in a release the wider one is meant\n",
                     n_repeated, n_repeated == 1 ? " is" : "s are", kn_value_shown(shown, label, n, redact));
}

typedef struct lacking_value {
    uint64_t line;
    uint32_t spelling;
} lacking_value;

static int by_line(const void *a, const void *b)
{
    const lacking_value *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->spelling > y->spelling) - (x->spelling < y->spelling);
}

/* Values of the data that no leaf stands for, in the order of the data's lines. */
static kn_status list_lacking(lacking_value **out, uint32_t *n_out, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    *out = NULL;
    *n_out = 0;
    KN_NEW_RAW(*out, build->n_present);
    for (uint32_t value = 0; value < build->n_present; value++) {
        if (build->label_of_value[value] != KN_NONE) continue;
        uint32_t spelling = build->main_spelling[value];
        (*out)[(*n_out)++] = (lacking_value){build->column->first_line[spelling], spelling};
    }
    qsort(*out, *n_out, sizeof **out, by_line);
done:
    return status;
}

static kn_status describe_data(kn_buffer *out, uint32_t *n_lacking, const kn_build *build, const kn_tree *tree,
                               kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = build->column;
    lacking_value *lacking = NULL;
    KN_TRY(list_lacking(&lacking, n_lacking, build, err));
    uint32_t n_used = 0;
    for (uint32_t value = 0; value < column->n_values; value++) n_used += build->label_of_value[value] != KN_NONE;
    kn_buffer_printf(out, "%s, column %s: %u value%s, %u not in the hierarchy; %u of %u leaves are used\n",
                     build->data_name, column->name, build->n_present, plural(build->n_present), *n_lacking, n_used,
                     tree->n_leaves);
    for (uint32_t i = 0; i < *n_lacking && i < MAX_LISTED && !build->request->redact; i++) {
        char shown[KN_SHOWN_BYTES];
        size_t n;
        const char *bytes = kn_column_bytes(column, lacking[i].spelling, &n);
        kn_buffer_printf(out, "  line %llu: %s is not in the hierarchy\n", (unsigned long long)lacking[i].line,
                         kn_value_shown(shown, bytes, n, false));
    }
    if (*n_lacking > MAX_LISTED && !build->request->redact)
        kn_buffer_printf(out, "  ... and %u more\n", *n_lacking - MAX_LISTED);
    if (column->has_missing)
        kn_buffer_text(out, build->label_of_value[build->n_present] != KN_NONE
                                ? "  missing cells are a leaf of the hierarchy\n"
                                : "  missing cells become a leaf of their own below the root\n");
done:
    kn_free(lacking);
    return status;
}

/* Labels of a collection of subsets: how many there are, and how many values they hold. */
static void describe_subsets(kn_buffer *out, const kn_tree *lines)
{
    uint32_t n_subsets = 0, least = UINT32_MAX, most = 0;
    for (uint32_t node = lines->n_leaves; node < lines->root; node++) {
        uint32_t n_values;
        if (!kn_lines_subset(&n_values, lines, node)) continue;
        n_subsets++;
        if (n_values < least) least = n_values;
        if (n_values > most) most = n_values;
    }
    kn_buffer_printf(out, "  a collection of subsets: %u label%s", n_subsets, plural(n_subsets));
    if (n_subsets > 0) kn_buffer_printf(out, " of %u to %u values", least, most);
    kn_buffer_text(out, "; any values have one smallest label around them\n");
}

kn_status kn_hierarchy_check(char **text, uint32_t *n_lacking, const kn_column *column, const char *data_name,
                             uint32_t n_rows, const kn_hierarchy_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_build build = {.column = column, .data_name = data_name, .n_rows = n_rows, .request = request};
    kn_tree *tree = NULL;
    kn_buffer out = {0};
    char *path = NULL;
    *text = NULL;
    *n_lacking = 0;
    KN_TRY(kn_build_file_name(&path, request, err));
    if (column != NULL) {
        KN_TRY(kn_build_start(&build, err));
        KN_TRY(kn_build_match_file(&build, path, err));
        if (build.paths.is_subsets) KN_TRY(kn_subsets_lines(&tree, &build.paths, err));
        else KN_TRY(kn_tree_from_paths(&tree, &build.paths, err));
    } else {
        KN_TRY(request->text != NULL
                   ? kn_tree_parse(&tree, request->text, request->n_text_bytes, path, request->redact, err)
                   : kn_tree_read(&tree, path, request->redact, request->files, err));
    }
    if (tree->is_collection) {
        kn_buffer_printf(&out, "%s: %u value%s\n", path, tree->n_leaves, plural(tree->n_leaves));
        describe_subsets(&out, tree);
    } else {
        kn_buffer_printf(&out, "%s: %u %s, %u node%s, %u level%s\n", path, tree->n_leaves,
                         tree->n_leaves == 1 ? "leaf" : "leaves", tree->n_nodes, plural(tree->n_nodes), tree->n_levels,
                         plural(tree->n_levels));
        describe_levels(&out, tree);
        describe_balance(&out, tree);
        describe_repeats(&out, tree, request->redact);
    }
    if (column != NULL) KN_TRY(describe_data(&out, n_lacking, &build, tree, err));
    KN_TRY(kn_buffer_finish(text, &out, err));
done:
    kn_tree_free(tree);
    kn_buffer_free(&out);
    kn_build_end(&build);
    kn_free(path);
    return status;
}
