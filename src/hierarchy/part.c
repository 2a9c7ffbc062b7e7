/* Parts of a column between two cut points, as they are released: see kn_part_cell in domain.h.
 *
 * A hierarchy gives the order of the values, where intervals of numbers and dates may end (stretches.c), and its labels
 * where a part happens to be a node; otherwise a part is written as a column without a hierarchy would be: an interval,
 * or the set of its values. */
#include "hierarchy/builders.h"

#include <math.h>

/* Whether codes stand in the order of their numbers, so that an interval says what is in it. */
static bool is_ascending(const kn_domain *domain)
{
    const kn_column *column = domain->column;
    double last = -INFINITY;
    if (domain->kind == KN_DOMAIN_RANGES || domain->naming == KN_NAMES_ENDS) return true;
    if (domain->kind == KN_DOMAIN_SETS || column->number == NULL) return false;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing || domain->spelling_of_code[code] == KN_NONE) continue;
        double number = column->number[kn_column_value(column, domain->spelling_of_code[code])];
        if (!(number > last)) return false;
        last = number;
    }
    return true;
}

kn_part_form kn_part_form_of(const kn_domain *domain, bool nodes)
{
    if ((nodes || domain->coding != NULL || domain->parts_are_nodes) && domain->kind == KN_DOMAIN_TREE)
        return KN_PART_NODE;
    return is_ascending(domain) ? KN_PART_INTERVAL : KN_PART_SET;
}

/* What is neither a value nor a node of the tree: a text of its own. A text that is a label means the label's node. */
static kn_status tree_part(kn_cell *out, const kn_domain *domain, kn_part_form form, kn_set_pool *sets,
                           const uint32_t *codes, uint32_t n_codes, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    uint32_t first = codes[0], last = codes[n_codes - 1];
    const uint32_t ends[] = {first, last};
    const bool is_set = form == KN_PART_SET, has_gaps = is_set && n_codes < last - first + 1;
    kn_buffer text = {0};
    kn_part_widen(domain, &first, &last);
    if (domain->stretches != NULL) kn_stretches_text(&text, domain, first, last);
    else
        kn_text_members(&text, domain->column, domain->spelling_of_code, is_set ? codes : ends, is_set ? n_codes : 2,
                        is_set);
    if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    const uint32_t known = kn_tree_find(tree, text.bytes, text.n);
    if (known != KN_NONE) {
        const bool same = tree->first[known] == first && tree->last[known] == last && !has_gaps;
        *out = kn_domain_node_cell(domain, same ? known : kn_tree_join(tree, first, last));
        goto done;
    }
    *out = (kn_cell){first, last, KN_NONE};
    KN_TRY(kn_set_pool_add_label(&out->id, sets, codes, has_gaps ? n_codes : 0, text.bytes, text.n, err));
    out->id += tree->n_nodes;
done:
    kn_buffer_free(&text);
    return status;
}

kn_status kn_part_cell(kn_cell *out, const kn_domain *domain, kn_part_form form, kn_set_pool *sets, const bool *occurs,
                       uint32_t first, uint32_t last, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *codes = NULL, n = 0;
    const bool is_tree = domain->kind == KN_DOMAIN_TREE;
    *out = kn_domain_root(domain);
    if (is_tree && first == 0 && last == domain->n_codes - 1) return KN_OK;
    if (form == KN_PART_NODE) {
        *out = first == last ? kn_domain_leaf(domain, first)
                             : kn_domain_node_cell(domain, kn_tree_join(domain->tree, first, last));
        return KN_OK;
    }
    KN_NEW_RAW(codes, last - first + (size_t)1);
    for (uint32_t code = first; code <= last; code++)
        if (occurs[code]) codes[n++] = code;
    if (n == 1) {
        *out = kn_domain_leaf(domain, codes[0]);
    } else if (!is_tree) {
        KN_TRY(kn_domain_closure(out, domain, sets, codes, n, err));
    } else if (domain->missing != KN_NONE && domain->missing >= first && domain->missing <= last &&
               occurs[domain->missing] && (domain->missing_is_wildcard || form == KN_PART_INTERVAL)) {
        *out = kn_domain_root(domain);
    } else {
        uint32_t from = codes[0], to = codes[n - 1];
        kn_part_widen(domain, &from, &to);
        const uint32_t node = kn_tree_join(domain->tree, from, to);
        const uint32_t n_held = domain->stretches != NULL ? to - from + 1 : n;
        const bool is_node = domain->tree->last[node] - domain->tree->first[node] + 1 == n_held;
        /* a label made from the data would tell of other values, or of the length of the longest */
        if (is_node && domain->naming == KN_NAMES_FIXED) *out = kn_domain_node_cell(domain, node);
        else KN_TRY(tree_part(out, domain, form, sets, codes, n, err));
    }
done:
    kn_free(codes);
    return status;
}
