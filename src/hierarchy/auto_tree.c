/* `similar`: text without any structure of its own, in groups of values that occur with the same values of the other
 * quasi-identifiers. Towns of one county, say, get together because the county, or the postal code, stands beside them.
 *
 * In: the column, and the other quasi-identifiers (request->others); never a sensitive column and never an identifier:
 * the groups are released, and must not tell what they were made of. Each other column has a few bins (its values; the
 * most frequent ones and the rest; beginnings of codes; eighths of numbers and dates). A value is the point of the
 * roots of its shares in all bins, so that squared distances are those of Hellinger, one column as much as another; the
 * shares are smoothed by one row of the whole table. Points are merged by Ward's rule, weighted by their rows (J. Ward,
 * Hierarchical grouping to optimize an objective function, JASA 1963), with chains of nearest neighbours, O(values^2).
 * The merge tree is cut where groups have at most 5, 25, 125, ... values. Without other
 * columns the rarest values get together. The same data gives the same tree.
 *
 * Out: paths. A group of up to 5 values is the set of them, `{a|b|c}`, a larger one has a number inside its parent's,
 * `town group 2.1`: it names no value, because the values of a group that large may be of people who were removed. */
#include "hierarchy/builders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BINS = 64, MIN_BINS = 4, ALL_BINS = 256, NUMBER_BINS = 8, MAX_GROUP_LEVELS = 8 };

/* --- Points ------------------------------------------------------------------------------------------------------- */

typedef struct points {
    uint32_t n, n_bins;
    float *at;      /* n * n_bins */
    double *weight; /* n: rows */
} points;

/* Numbers and dates by eighths of the rows. */
static void bins_of_numbers(uint8_t *bin, const kn_build *other)
{
    uint64_t n_rows = 0, before = 0;
    for (uint32_t value = 0; value < other->n_present; value++) n_rows += other->value_rows[value];
    for (uint32_t value = 0; value < other->n_present; value++) {
        bin[value] = (uint8_t)(before * NUMBER_BINS / (n_rows + 1));
        before += other->value_rows[value];
    }
}

/* Codes by as many characters as give few enough different beginnings; values are sorted by bytes. */
static bool bins_of_codes(uint8_t *bin, const kn_build *other, uint32_t max_bins)
{
    char spec[KN_SPEC_BYTES];
    if (!kn_auto_code(spec, other)) return false;
    bool found = false;
    for (size_t n_first = 1; n_first < 8; n_first++) {
        uint32_t n_bins = 0;
        for (uint32_t pass = 0; pass < 2 && n_bins <= max_bins; pass++) {
            const char *before = NULL;
            size_t n_before = 0;
            n_bins = 0;
            for (uint32_t value = 0; value < other->n_present; value++) {
                size_t n;
                const char *bytes = kn_build_value(other, value, &n);
                if (n > n_first) n = n_first;
                if (before == NULL || n != n_before || memcmp(before, bytes, n) != 0) n_bins++;
                if (pass == 1) bin[value] = (uint8_t)(n_bins - 1);
                before = bytes;
                n_before = n;
            }
            if (n_bins > max_bins) return found;
        }
        found = true;
    }
    return found;
}

/* bin[value] for each value of another column; returns how many there are. */
static kn_status bins_of(uint8_t *bin, uint32_t *n_bins, const kn_build *other, uint32_t max_bins, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    const bool is_text = other->column->type == KN_TYPE_TEXT;
    uint32_t n = other->column->n_values;
    if (!is_text && n > max_bins) {
        bins_of_numbers(bin, other);
        if (other->column->has_missing) bin[n - 1] = NUMBER_BINS;
        *n_bins = NUMBER_BINS + 1;
        goto done;
    }
    *n_bins = max_bins;
    if (n > max_bins && bins_of_codes(bin, other, max_bins - 1)) {
        if (other->column->has_missing) bin[n - 1] = (uint8_t)(max_bins - 1);
        goto done;
    }
    KN_TRY(kn_build_by_frequency(&order, other, n, err));
    for (uint32_t i = 0; i < n; i++) bin[order[i]] = (uint8_t)(i < max_bins ? i : max_bins - 1);
done:
    kn_free(order);
    return status;
}

/* The shares of one other column, as roots, to columns first_bin .. of the points. */
static kn_status add_column(points *p, uint32_t *first_bin, const kn_build *build, const kn_column *other,
                            uint32_t max_bins, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_hierarchy_request request = {0};
    kn_build beside = {.column = other, .n_rows = build->n_rows, .request = &request};
    uint8_t *bin = NULL;
    double *all = NULL, n_rows = 0;
    uint32_t n_bins;
    KN_TRY(kn_build_start(&beside, err));
    KN_NEW(bin, (size_t)other->n_values + 1);
    KN_TRY(bins_of(bin, &n_bins, &beside, max_bins, err));
    KN_NEW(all, n_bins);
    for (uint32_t row = 0; row < build->n_rows; row++) {
        uint32_t value = kn_column_value(build->column, kn_column_code(build->column, row));
        uint32_t b = bin[kn_column_value(other, kn_column_code(other, row))];
        const double count = (double)kn_column_count(other, row);
        all[b] += count;
        n_rows += count;
        if (value < p->n) p->at[(size_t)value * p->n_bins + *first_bin + b] += (float)count;
    }
    for (uint32_t value = 0; value < p->n; value++)
        for (uint32_t b = 0; b < n_bins; b++) {
            float *at = &p->at[(size_t)value * p->n_bins + *first_bin + b];
            *at = (float)sqrt((*at + all[b] / n_rows) / (p->weight[value] + 1));
        }
    *first_bin += n_bins;
done:
    kn_build_end(&beside);
    kn_free(bin);
    kn_free(all);
    return status;
}

static kn_status make_points(points *p, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_hierarchy_request *request = build->request;
    uint32_t n_used = request->n_others, first_bin = 0;
    if (n_used > ALL_BINS / MIN_BINS) n_used = ALL_BINS / MIN_BINS;
    uint32_t max_bins = n_used > 0 ? ALL_BINS / n_used : 0;
    if (max_bins > MAX_BINS) max_bins = MAX_BINS;
    p->n = build->n_present;
    p->n_bins = n_used * (max_bins > NUMBER_BINS ? max_bins : NUMBER_BINS + 1);
    KN_NEW(p->at, (size_t)p->n * p->n_bins + 1);
    KN_NEW(p->weight, p->n);
    for (uint32_t value = 0; value < p->n; value++) p->weight[value] = (double)build->value_rows[value];
    for (uint32_t i = 0; i < n_used; i++) KN_TRY(add_column(p, &first_bin, build, request->others[i], max_bins, err));
done:
    return status;
}

/* --- Merging ------------------------------------------------------------------------------------------------------ */

/* Node i < n is a value, n + m the m-th merge. */
typedef struct merges {
    uint32_t n, *left, *right, *size; /* of merge m; size of node i */
} merges;

static double merge_cost(const points *p, uint32_t a, uint32_t b)
{
    const float *x = p->at + (size_t)a * p->n_bins, *y = p->at + (size_t)b * p->n_bins;
    double sum = 0;
    for (uint32_t i = 0; i < p->n_bins; i++) sum += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
    return sum * p->weight[a] * p->weight[b] / (p->weight[a] + p->weight[b]);
}

/* Point a becomes the weighted mean of both. */
static void merge_points(points *p, uint32_t a, uint32_t b)
{
    float *x = p->at + (size_t)a * p->n_bins;
    const float *y = p->at + (size_t)b * p->n_bins;
    double share = p->weight[b] / (p->weight[a] + p->weight[b]);
    for (uint32_t i = 0; i < p->n_bins; i++) x[i] = (float)((1 - share) * x[i] + share * y[i]);
    p->weight[a] += p->weight[b];
}

/* Chains of nearest neighbours: each one's nearest is the next, until two are each other's. */
static kn_status merge_all(merges *out, points *p, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *node = NULL, *chain = NULL, n_chain = 0, n_merges = 0;
    KN_NEW(node, p->n); /* of a point; KN_NONE: merged into another */
    KN_NEW(chain, p->n);
    for (uint32_t i = 0; i < p->n; i++) {
        node[i] = i;
        out->size[i] = 1;
    }
    while (n_merges + 1 < p->n) {
        for (uint32_t i = 0; n_chain == 0; i++)
            if (node[i] != KN_NONE) chain[n_chain++] = i;
        const uint32_t tip = chain[n_chain - 1];
        uint32_t nearest = n_chain > 1 ? chain[n_chain - 2] : KN_NONE;
        double least = nearest != KN_NONE ? merge_cost(p, tip, nearest) : INFINITY;
        for (uint32_t i = 0; i < p->n; i++) {
            if (node[i] == KN_NONE || i == tip) continue;
            const double cost = merge_cost(p, tip, i);
            if (cost < least || nearest == KN_NONE) {
                least = cost;
                nearest = i;
            }
        }
        if (n_chain < 2 || nearest != chain[n_chain - 2]) {
            chain[n_chain++] = nearest;
            continue;
        }
        out->left[n_merges] = node[nearest];
        out->right[n_merges] = node[tip];
        out->size[p->n + n_merges] = out->size[node[nearest]] + out->size[node[tip]];
        merge_points(p, nearest, tip);
        node[nearest] = p->n + n_merges++;
        node[tip] = KN_NONE;
        n_chain -= 2;
    }
done:
    kn_free(node);
    kn_free(chain);
    return status;
}

/* --- Groups ------------------------------------------------------------------------------------------------------- */

/* Values in the order of the tree, and per level the first place of each value's group in that order. */
typedef struct groups {
    uint32_t n, n_levels;
    uint32_t *order;                   /* place: value */
    uint32_t *first[MAX_GROUP_LEVELS]; /* [level][place] */
} groups;

static uint32_t max_size(uint32_t level)
{
    uint32_t size = KN_SMALL_SET;
    while (level-- > 0) size *= KN_SMALL_SET;
    return size;
}

/* A merge of few enough values is a group, whatever is below. */
static kn_status cut_merges(groups *g, const merges *m, kn_error *err)
{
    kn_status status = KN_OK;
    struct open {
        uint32_t node, n_cut; /* levels above have their group already; they are the last n_cut */
    } *stack = NULL;
    uint32_t n_stack = 0, place = 0;
    KN_NEW(stack, (size_t)g->n + 1);
    stack[n_stack++] = (struct open){2 * g->n - 2, 0};
    while (n_stack > 0) {
        struct open top = stack[--n_stack];
        while (top.n_cut < g->n_levels && m->size[top.node] <= max_size(g->n_levels - 1 - top.n_cut)) {
            const uint32_t level = g->n_levels - 1 - top.n_cut++;
            for (uint32_t i = 0; i < m->size[top.node]; i++) g->first[level][place + i] = place;
        }
        if (top.node < g->n) {
            g->order[place++] = top.node;
            continue;
        }
        stack[n_stack++] = (struct open){m->right[top.node - g->n], top.n_cut};
        stack[n_stack++] = (struct open){m->left[top.node - g->n], top.n_cut};
    }
done:
    kn_free(stack);
    return status;
}

static kn_status group_similar(groups *g, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    points p = {0};
    merges m = {.n = g->n};
    KN_TRY(make_points(&p, build, err));
    KN_NEW(m.left, g->n);
    KN_NEW(m.right, g->n);
    KN_NEW(m.size, 2 * (size_t)g->n);
    KN_TRY(merge_all(&m, &p, err));
    KN_TRY(cut_merges(g, &m, err));
done:
    kn_free(p.at);
    kn_free(p.weight);
    kn_free(m.left);
    kn_free(m.right);
    kn_free(m.size);
    return status;
}

/* Nothing tells which values are alike: the rarest get together. */
static kn_status group_rare(groups *g, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    KN_TRY(kn_build_by_frequency(&order, build, g->n, err));
    for (uint32_t place = 0; place < g->n; place++) {
        g->order[place] = order[g->n - 1 - place];
        for (uint32_t level = 0; level < g->n_levels; level++) g->first[level][place] = place - place % max_size(level);
    }
done:
    kn_free(order);
    return status;
}

/* --- Labels ------------------------------------------------------------------------------------------------------- */

static uint32_t group_past(const groups *g, uint32_t level, uint32_t place)
{
    uint32_t past = place + 1;
    while (past < g->n && g->first[level][past] == g->first[level][place]) past++;
    return past;
}

static uint64_t group_rows(const groups *g, const kn_build *build, uint32_t level, uint32_t first)
{
    uint64_t n_rows = 0;
    for (uint32_t place = first; place < group_past(g, level, first); place++)
        n_rows += build->value_rows[g->order[place]];
    return n_rows;
}

/* Its number among the large groups of its parent, the one with most rows first. */
static uint32_t group_number(const groups *g, const kn_build *build, uint32_t level, uint32_t first)
{
    const uint32_t above = level + 1;
    uint32_t from = above < g->n_levels ? g->first[above][first] : 0, number = 1;
    uint32_t to = above < g->n_levels ? group_past(g, above, from) : g->n;
    uint64_t n_rows = group_rows(g, build, level, first);
    for (uint32_t place = from; place < to; place = group_past(g, level, place)) {
        uint64_t others = group_rows(g, build, level, place);
        bool is_large = group_past(g, level, place) - place > KN_SMALL_SET;
        number += place != first && is_large && (others > n_rows || (others == n_rows && place < first));
    }
    return number;
}

/* The label of the group of `level` that begins at place `first`. */
static void group_label(kn_buffer *out, const groups *g, const kn_build *build, uint32_t level, uint32_t first)
{
    const uint32_t past = group_past(g, level, first);
    size_t n;
    kn_buffer_clear(out);
    if (past - first == 1) {
        const char *bytes = kn_build_value(build, g->order[first], &n);
        kn_buffer_append(out, bytes, n);
        return;
    }
    if (past - first <= KN_SMALL_SET) {
        kn_text_members(out, build->column, build->main_spelling, g->order + first, past - first, true);
        return;
    }
    const char *name = build->column->name + strspn(build->column->name, " ");
    kn_buffer_printf(out, "%s group ", name);
    for (uint32_t at = g->n_levels; at-- > level;) {
        const uint32_t from = g->first[at][first];
        /* a group that is its parent has its number */
        if (at + 1 < g->n_levels && from == g->first[at + 1][first] &&
            group_past(g, at, from) == group_past(g, at + 1, from))
            continue;
        kn_buffer_printf(out, "%s%u", out->bytes[out->n - 1] == ' ' ? "" : ".", group_number(g, build, at, from));
    }
    while (!out->failed && kn_column_find_text(build->column, out->bytes, out->n) != KN_NONE) kn_buffer_char(out, '\'');
}

static kn_status push_groups(kn_build *build, const groups *g, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer labels[MAX_GROUP_LEVELS] = {{0}};
    build->naming = KN_NAMES_GROUP;
    build->origin = KN_FROM_DATA;
    build->paths.n_levels = g->n_levels + 2;
    for (uint32_t place = 0; place < g->n; place++) {
        KN_TRY(kn_build_leaf(build, g->order[place], err));
        for (uint32_t level = 0; level < g->n_levels; level++) {
            if (g->first[level][place] == place) group_label(&labels[level], g, build, level, place);
            if (labels[level].failed) KN_FAIL(KN_RESOURCES, "out of memory");
            KN_TRY(kn_build_label(build, labels[level].bytes, labels[level].n, err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    for (uint32_t level = 0; level < MAX_GROUP_LEVELS; level++) kn_buffer_free(&labels[level]);
    return status;
}

kn_status kn_build_similar(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    groups g = {.n = build->n_present};
    build->naming = KN_NAMES_GROUP;
    if (g.n <= KN_SMALL_SET || g.n > KN_MOST_SIMILAR) {
        KN_TRY(kn_build_suppress(build, "", err));
        goto done;
    }
    if (build->column->whole_rows != NULL && build->request->n_others > 0)
        KN_FAIL(
            KN_USAGE,
            "hierarchy similar: it groups values by the rows of the whole table, and --domains has its values only; "
            "give column %s a file, which 'kanon hierarchy' makes of the whole table",
            build->column->name);
    while (max_size(g.n_levels) < g.n) g.n_levels++;
    KN_NEW(g.order, g.n);
    for (uint32_t level = 0; level < g.n_levels; level++) KN_NEW(g.first[level], g.n);
    KN_TRY(build->request->n_others > 0 ? group_similar(&g, build, err) : group_rare(&g, build, err));
    KN_TRY(push_groups(build, &g, err));
done:
    kn_free(g.order);
    for (uint32_t level = 0; level < MAX_GROUP_LEVELS; level++) kn_free(g.first[level]);
    return status;
}
