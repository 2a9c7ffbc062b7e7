/* Where cut points may part a hierarchy's numbers or dates: an interval would otherwise end at two persons' cells.
 *
 * Leaves stand in the order of their numbers. A *stretch* is a run of them that no cut parts: what the hierarchy's
 * lowest labels hold where these are intervals one after the other (5 years, a month), and otherwise, under words or
 * directly below the root, a cell of the grid that the column would have without a hierarchy. A part that is no single
 * value is released from the beginning of its first stretch to the end of its last one. Where neither can be told,
 * parts are nodes. */
#include "hierarchy/bounds.h"
#include "hierarchy/builders.h"
#include "table/dates.h"
#include "table/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double leaf_number(const kn_domain *domain, uint32_t leaf)
{
    const kn_column *column = domain->column;
    size_t n;
    double number;
    kn_moment moment;
    if (domain->spelling_of_code[leaf] != KN_NONE)
        return column->number[kn_column_value(column, domain->spelling_of_code[leaf])];
    const char *bytes = kn_tree_label(domain->tree, leaf, &n);
    if (column->type == KN_TYPE_DATE)
        return kn_date_parse(&moment, bytes, n, KN_DATE_ISO) ? kn_moment_number(&moment) : (double)NAN;
    return kn_number_read(&number, bytes, n, true) != KN_NUMBER_NONE ? number : (double)NAN;
}

/* All leaves, not only those that the data has, and the missing one outside. */
static bool leaves_ascend(const kn_domain *domain)
{
    double last = -INFINITY;
    if (domain->missing != KN_NONE && domain->missing > 0 && domain->missing + 1 < domain->n_codes) return false;
    for (uint32_t leaf = 0; leaf < domain->n_codes; leaf++) {
        if (leaf == domain->missing) continue;
        const double number = leaf_number(domain, leaf);
        if (!(number > last)) return false;
        last = number;
    }
    return true;
}

/* The two ends as the label writes them: `a..b`, `a..<b`, `a..`, `..b`; a value or a period is both; false: too long.
 */
static bool split_label(kn_stretch *out, const char *label, size_t n, const kn_bounds *bounds, bool included)
{
    const char *dots = NULL;
    for (size_t i = 0; i + 1 < n && dots == NULL; i++)
        if (label[i] == '.' && label[i + 1] == '.') dots = label + i;
    if (label[0] == '[') { /* an old way to write a..<b */
        const int n_low = snprintf(out->low, sizeof out->low, "%s", bounds->min);
        const int n_high = snprintf(out->high, sizeof out->high, "%s%s", included ? "" : "<", bounds->max);
        return n_low < KN_STRETCH_BYTES && n_high < KN_STRETCH_BYTES;
    }
    const size_t n_low = dots != NULL ? (size_t)(dots - label) : n;
    const char *high = dots != NULL ? dots + 2 : label;
    const size_t n_high = n - (size_t)(high - label);
    if (n_low >= KN_STRETCH_BYTES || n_high >= KN_STRETCH_BYTES) return false;
    memcpy(out->low, label, n_low);
    memcpy(out->high, high, n_high);
    return true;
}

static bool add_stretch(kn_domain *domain, uint32_t first, uint32_t last, const char *label, size_t n,
                        const kn_bounds *bounds, bool included)
{
    kn_stretch *stretch = &domain->stretches[domain->n_stretches];
    *stretch = (kn_stretch){.first = first, .last = last};
    for (uint32_t leaf = first; leaf <= last; leaf++) domain->stretch_of_code[leaf] = domain->n_stretches;
    domain->n_stretches++;
    return split_label(stretch, label, n, bounds, included);
}

/* Labels of the first level; false: some of them is no interval, or two overlap. */
static bool take_labels(kn_domain *domain)
{
    const kn_tree *tree = domain->tree;
    double before = -INFINITY;
    bool fine = tree->n_levels > 2;
    for (uint32_t leaf = 0; fine && leaf < domain->n_codes;) {
        const uint32_t node = tree->at_level[1][leaf];
        kn_bounds bounds;
        bool included;
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        if (leaf == domain->missing) {
            fine = tree->first[node] == tree->last[node] && add_stretch(domain, leaf, leaf, "", 0, NULL, true);
            leaf++;
            continue;
        }
        fine = node != tree->root && kn_bounds_of_node(&bounds, &included, domain, node);
        if (!fine) break;
        const double low = kn_bounds_end(domain->column->type, bounds.min, -INFINITY);
        fine = low > before && add_stretch(domain, leaf, tree->last[node], label, n, &bounds, included);
        before = kn_bounds_end(domain->column->type, bounds.max, INFINITY);
        if (!included) before = nextafter(before, -INFINITY);
        leaf = tree->last[node] + 1;
    }
    if (!fine) domain->n_stretches = 0;
    return fine;
}

static bool take_grid(kn_domain *domain, const kn_grid *grid)
{
    bool fine = true;
    for (uint32_t leaf = 0, next; fine && leaf < domain->n_codes; leaf = next) {
        kn_buffer text = {0};
        next = leaf + 1;
        int64_t interval = 0;
        for (uint32_t code = leaf; leaf != domain->missing && code < domain->n_codes && code != domain->missing;
             code++) {
            size_t n;
            const uint32_t spelling = domain->spelling_of_code[code];
            const char *bytes = spelling != KN_NONE ? kn_column_bytes(domain->column, spelling, &n)
                                                    : kn_tree_label(domain->tree, code, &n);
            const double number = leaf_number(domain, code);
            if (!grid->by_unit && !kn_widths_fit(&grid->widths, number)) return false;
            const int64_t this = kn_grid_interval(grid, number, bytes, n);
            if (code > leaf && this != interval) break;
            interval = this;
            next = code + 1;
        }
        if (leaf != domain->missing) kn_grid_text(&text, grid, domain->column->type, interval, interval + 1);
        fine = !text.failed && add_stretch(domain, leaf, next - 1, text.n > 0 ? text.bytes : "", text.n, NULL, true);
        kn_buffer_free(&text);
    }
    return fine;
}

kn_status kn_build_stretches(kn_domain *domain, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    kn_grid *grid = NULL;
    const char *asked = build->request->grid;
    const bool is_number = domain->column->type != KN_TYPE_TEXT && domain->column->number != NULL;
    if (asked == NULL || strcmp(asked, "exact") == 0 || !is_number || domain->coding != NULL) return KN_OK;
    if (domain->kind != KN_DOMAIN_TREE || domain->naming == KN_NAMES_ENDS || build->n_present == 0) return KN_OK;
    if (kn_part_form_of(domain, false) != KN_PART_INTERVAL) { /* masks of numbers; a file may group codes, as sets do */
        domain->parts_are_nodes = domain->origin != KN_FROM_FILE;
        return KN_OK;
    }
    KN_NEW(domain->stretches, domain->n_codes);
    KN_NEW(domain->stretch_of_code, domain->n_codes);
    bool fine = leaves_ascend(domain);
    if (fine && !take_labels(domain)) {
        kn_error too_large = {0};
        fine = kn_build_grid(&grid, build, &too_large) == KN_OK && grid != NULL && take_grid(domain, grid);
    }
    domain->parts_are_nodes = !fine;
done:
    kn_grid_free(grid);
    return status;
}

void kn_stretches_text(kn_buffer *out, const kn_domain *domain, uint32_t first, uint32_t last)
{
    const kn_stretch *low = &domain->stretches[domain->stretch_of_code[first]];
    const kn_stretch *high = &domain->stretches[domain->stretch_of_code[last]];
    if (low == high && strcmp(low->low, low->high) == 0) kn_buffer_text(out, low->low); /* a period */
    else kn_buffer_printf(out, "%s..%s", low->low, high->high);
}

bool kn_stretches_parse(kn_cell *out, const kn_domain *domain, const char *bytes, size_t n_bytes)
{
    uint32_t first = KN_NONE;
    for (uint32_t i = 0; i < domain->n_stretches; i++) {
        const kn_stretch *stretch = &domain->stretches[i];
        const size_t n_low = strlen(stretch->low), n_high = strlen(stretch->high);
        if (stretch->first == domain->missing) continue;
        if (n_bytes == n_low && memcmp(bytes, stretch->low, n_low) == 0 && strcmp(stretch->low, stretch->high) == 0) {
            *out = (kn_cell){stretch->first, stretch->last, KN_NONE};
            return true;
        }
        if (first == KN_NONE && n_bytes >= n_low + 2 && memcmp(bytes, stretch->low, n_low) == 0 &&
            memcmp(bytes + n_low, "..", 2) == 0)
            first = i;
        if (first == KN_NONE) continue;
        const size_t n_first = strlen(domain->stretches[first].low) + 2;
        if (n_bytes != n_first + n_high || memcmp(bytes + n_first, stretch->high, n_high) != 0) continue;
        *out = (kn_cell){domain->stretches[first].first, stretch->last, KN_NONE};
        return true;
    }
    return false;
}
