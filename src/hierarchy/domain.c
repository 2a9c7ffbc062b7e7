/* Generalized values of one quasi-identifier: closure, size, coverage. How they are written and read back is in
 * cell_text.c. */
#include "hierarchy/builders.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void kn_domain_free(kn_domain *domain)
{
    if (domain == NULL) return;
    kn_free(domain->code_of_spelling);
    kn_free(domain->spelling_of_code);
    kn_tree_free(domain->tree);
    kn_tree_free(domain->groups);
    kn_subsets_free(domain->subsets);
    kn_free(domain->rows_before);
    kn_free(domain->seen_before);
    kn_grid_free(domain->grid);
    kn_coding_free(domain->coding);
    kn_free(domain->coded);
    kn_free(domain->stretches);
    kn_free(domain->stretch_of_code);
    kn_free(domain);
}

static kn_cell node_cell(const kn_tree *tree, uint32_t node)
{
    return (kn_cell){tree->first[node], tree->last[node], node};
}

kn_cell kn_domain_root(const kn_domain *domain)
{
    uint32_t id = domain->kind == KN_DOMAIN_TREE ? domain->tree->root : KN_NONE;
    return (kn_cell){0, domain->n_codes - 1, id};
}

kn_cell kn_domain_leaf(const kn_domain *domain, uint32_t code)
{
    assert(code < domain->n_codes);
    if (code == domain->missing && domain->missing_is_wildcard) return kn_domain_root(domain);
    if (kn_domain_is_coded(domain, code) && domain->kind == KN_DOMAIN_TREE)
        return node_cell(domain->tree, domain->coded[code]);
    kn_cell cell = {code, code, domain->kind == KN_DOMAIN_TREE ? code : KN_NONE};
    if (domain->kind == KN_DOMAIN_RANGES) kn_domain_widen(domain, &cell.first, &cell.last);
    return cell;
}

kn_cell kn_domain_node_cell(const kn_domain *domain, uint32_t node)
{
    if (node < domain->n_codes && kn_domain_is_coded(domain, node)) node = domain->coded[node];
    const kn_cell cell = node_cell(domain->tree, node);
    const bool is_missing = cell.first == domain->missing && cell.last == domain->missing;
    return is_missing && domain->missing_is_wildcard ? kn_domain_root(domain) : cell;
}

kn_cell kn_domain_at_level(const kn_domain *domain, uint32_t code, uint32_t level)
{
    assert(domain->kind == KN_DOMAIN_TREE && code < domain->n_codes && level < domain->tree->n_levels);
    if (code == domain->missing && domain->missing_is_wildcard) return kn_domain_root(domain);
    const uint32_t node = domain->tree->at_level[level][code];
    if (node == code) return kn_domain_leaf(domain, code);
    return node_cell(domain->tree, node);
}

static int by_code(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Puts the codes, at least one, into `sorted`, each once; returns how many. Mostly they are few. */
static uint32_t sort_codes(uint32_t *sorted, const uint32_t *codes, size_t n_codes)
{
    enum { FEW = 64 };
    uint32_t n = 0;
    if (n_codes > FEW) {
        memcpy(sorted, codes, n_codes * sizeof *sorted);
        qsort(sorted, n_codes, sizeof *sorted, by_code);
        for (size_t i = 0; i < n_codes; i++)
            if (n == 0 || sorted[n - 1] != sorted[i]) sorted[n++] = sorted[i];
        return n;
    }
    sorted[n++] = codes[0];
    for (size_t i = 1; i < n_codes; i++) {
        uint32_t at = n;
        while (at > 0 && sorted[at - 1] > codes[i]) at--;
        if (at > 0 && sorted[at - 1] == codes[i]) continue;
        memmove(sorted + at + 1, sorted + at, (n - at) * sizeof *sorted);
        sorted[at] = codes[i];
        n++;
    }
    return n;
}

/* The codes, sorted and each once, as a member of the pool. */
static kn_status set_of(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const uint32_t *codes, size_t n_codes,
                        kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t few[64], *sorted = few, *many = NULL;
    if (n_codes > sizeof few / sizeof *few) {
        KN_NEW_RAW(many, n_codes);
        sorted = many;
    }
    const uint32_t n = sort_codes(sorted, codes, n_codes);
    *out = (kn_cell){sorted[0], sorted[n - 1], KN_NONE};
    uint32_t node;
    if (!kn_domain_is_small(&node, domain, out->first, out->last, n)) {
        KN_TRY(kn_domain_group_cell(out, domain, sets, node, err));
        goto done;
    }
    if (n > 1 && n < domain->n_codes) KN_TRY(kn_set_pool_add(&out->id, sets, sorted, n, err));
done:
    kn_free(many);
    return status;
}

kn_status kn_domain_group_cell(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, uint32_t node, kn_error *err)
{
    const kn_tree *tree = domain->groups;
    size_t n;
    const char *label = kn_tree_label(tree, node, &n);
    *out = (kn_cell){tree->first[node], tree->last[node], KN_NONE};
    if (node == tree->root) return KN_OK;
    return kn_set_pool_add_label(&out->id, sets, NULL, 0, label, n, err);
}

kn_status kn_domain_member_cell(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, uint32_t member,
                                kn_error *err)
{
    const kn_subsets *subsets = domain->subsets;
    const uint32_t *codes = subsets->codes + subsets->start[member], n_codes = kn_subsets_size(subsets, member);
    size_t n;
    if (member < subsets->n_codes || member == subsets->root) {
        *out = member == subsets->root ? kn_domain_root(domain) : kn_domain_leaf(domain, member);
        return KN_OK;
    }
    const char *label = kn_subsets_label(subsets, member, &n);
    *out = (kn_cell){codes[0], codes[n_codes - 1], KN_NONE};
    return kn_set_pool_add_label(&out->id, sets, codes, n_codes, label, n, err);
}

static kn_status close_in_subsets(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const uint32_t *codes,
                                  size_t n_codes, kn_error *err)
{
    uint32_t member = codes[0];
    for (size_t i = 1; i < n_codes; i++) member = kn_subsets_with(domain->subsets, member, codes[i]);
    return kn_domain_member_cell(out, domain, sets, member, err);
}

kn_status kn_domain_closure(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const uint32_t *codes,
                            size_t n_codes, kn_error *err)
{
    assert(n_codes > 0);
    uint32_t first = codes[0], last = codes[0];
    for (size_t i = 0; i < n_codes; i++) {
        if (codes[i] == domain->missing && domain->missing_is_wildcard) {
            *out = kn_domain_root(domain);
            return KN_OK;
        }
        if (codes[i] < first) first = codes[i];
        if (codes[i] > last) last = codes[i];
    }
    assert(last < domain->n_codes);
    *out = kn_domain_leaf(domain, first);
    if (first == last) return KN_OK;
    if (domain->subsets != NULL) return close_in_subsets(out, domain, sets, codes, n_codes, err);
    if (domain->kind == KN_DOMAIN_SETS) return set_of(out, domain, sets, codes, n_codes, err);
    if (domain->kind == KN_DOMAIN_TREE) *out = node_cell(domain->tree, kn_tree_join(domain->tree, first, last));
    else if (last == domain->missing) *out = kn_domain_root(domain);
    else {
        kn_domain_widen(domain, &first, &last);
        *out = (kn_cell){first, last, KN_NONE};
    }
    return KN_OK;
}

const uint32_t *kn_cell_members(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets,
                                uint32_t *n_codes)
{
    const uint32_t n_nodes = domain->kind == KN_DOMAIN_TREE ? domain->tree->n_nodes : 0;
    *n_codes = 0;
    if (domain->kind == KN_DOMAIN_RANGES || cell->id == KN_NONE || cell->id < n_nodes) return NULL;
    const uint32_t *codes = kn_set_pool_get(sets, cell->id - n_nodes, n_codes);
    return *n_codes > 0 ? codes : NULL;
}

uint32_t kn_cell_size(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    uint32_t n;
    return kn_cell_members(cell, domain, sets, &n) != NULL ? n : cell->last - cell->first + 1;
}

static uint64_t cell_rows(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets, const uint64_t *before)
{
    uint32_t n;
    const uint32_t *codes = kn_cell_members(cell, domain, sets, &n);
    if (codes == NULL) return before[cell->last + 1] - before[cell->first];
    uint64_t rows = 0;
    for (uint32_t i = 0; i < n; i++) rows += before[codes[i] + 1] - before[codes[i]];
    return rows;
}

uint64_t kn_cell_rows(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    return cell_rows(cell, domain, sets, domain->rows_before);
}

uint64_t kn_cell_seen_rows(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    return cell_rows(cell, domain, sets, domain->seen_before != NULL ? domain->seen_before : domain->rows_before);
}

bool kn_cell_covers(const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets, uint32_t code)
{
    if (code < cell->first || code > cell->last) return false;
    uint32_t n;
    const uint32_t *codes = kn_cell_members(cell, domain, sets, &n);
    return codes == NULL || bsearch(&code, codes, n, sizeof *codes, by_code) != NULL;
}
