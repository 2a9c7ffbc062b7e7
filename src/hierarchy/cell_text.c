/* How a generalized value is written: see kn_cell_text in domain.h. */
#include "hierarchy/builders.h"

#include <string.h>

/* Most texts have nothing that could be ambiguous. */
static bool is_plain(const char *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) switch (bytes[i]) {
        case '|':
        case '{':
        case '}':
        case '\\':
        case '.':
        case '<': return false;
        default: break;
        }
    return true;
}

/* Where a member stands. */
typedef enum place { IN_SET, FIRST_END, SECOND_END } place;

/* Escapes what is ambiguous there, and the first *n_more other characters that need no escape (counted down). */
static void append_escaped(kn_buffer *out, const char *bytes, size_t n_bytes, place where, size_t *n_more)
{
    if (*n_more == 0 && is_plain(bytes, n_bytes)) {
        kn_buffer_append(out, bytes, n_bytes);
        return;
    }
    for (size_t i = 0; i < n_bytes; i++) {
        bool special = strchr("|{}\\", bytes[i]) != NULL && bytes[i] != '\0';
        const bool outermost = where != IN_SET && (i == 0 || i + 1 == n_bytes);
        bool dots = bytes[i] == '.' &&
                    ((i + 1 < n_bytes && bytes[i + 1] == '.') || (i > 0 && bytes[i - 1] == '.') || outermost);
        bool opens = bytes[i] == '<' && i == 0 && where == SECOND_END; /* a..<b is without b */
        bool starts_character = ((unsigned char)bytes[i] & 0xC0) != 0x80;
        if (special || dots || opens) {
            kn_buffer_char(out, '\\');
        } else if (*n_more > 0 && starts_character && bytes[i] != 'N') { /* \N is the missing cell */
            kn_buffer_char(out, '\\');
            --*n_more;
        }
        kn_buffer_char(out, bytes[i]);
    }
}

/* An interval or a set; returns false when it has fewer than n_more characters that can be escaped. */
static bool append_members(kn_buffer *out, const kn_column *column, const uint32_t *spelling_of,
                           const uint32_t *members, uint32_t n_members, bool is_set, size_t n_more)
{
    if (is_set) kn_buffer_char(out, '{');
    for (uint32_t i = 0; i < n_members; i++) {
        size_t n;
        const uint32_t spelling = spelling_of[members[i]];
        const char *bytes = kn_column_bytes(column, spelling, &n);
        if (i > 0) kn_buffer_text(out, is_set ? "|" : "..");
        bool is_missing = column->has_missing && kn_column_value(column, spelling) == column->n_values - 1;
        if (is_missing) kn_buffer_text(out, KN_MISSING_MEMBER); /* however the data spells it */
        else append_escaped(out, bytes, n, is_set ? IN_SET : i == 0 ? FIRST_END : SECOND_END, &n_more);
    }
    if (is_set) kn_buffer_char(out, '}');
    return n_more == 0;
}

/* Everything, where no interval can say so: any set, and ordered values with the missing one among them. */
static bool is_star(const kn_cell *cell, const kn_domain *domain)
{
    if (cell->id != KN_NONE || cell->first != 0 || cell->last != domain->n_codes - 1) return false;
    return domain->kind == KN_DOMAIN_SETS || domain->is_open || domain->missing != KN_NONE ||
           domain->spelling_of_code[cell->first] == KN_NONE || domain->spelling_of_code[cell->last] == KN_NONE;
}

void kn_text_members(kn_buffer *out, const kn_column *column, const uint32_t *spelling_of, const uint32_t *members,
                     uint32_t n_members, bool is_set)
{
    size_t start = out->n;
    for (size_t n_more = 0;; n_more++) {
        bool more_is_possible = append_members(out, column, spelling_of, members, n_members, is_set, n_more);
        if (out->failed || !more_is_possible) return;
        /* no number or date is spelled like an interval or a set: only text and the missing value are looked for */
        if (kn_column_find_text(column, out->bytes + start, out->n - start) == KN_NONE) return;
        out->n = start;
    }
}

void kn_cell_text(kn_buffer *out, const kn_cell *cell, const kn_domain *domain, const kn_set_pool *sets)
{
    const kn_column *column = domain->column;
    size_t n;
    if (kn_cell_is_value(cell, domain) && domain->spelling_of_code[cell->first] != KN_NONE) {
        const char *bytes = kn_column_bytes(column, domain->spelling_of_code[cell->first], &n);
        kn_buffer_append(out, bytes, n);
    } else if (domain->kind == KN_DOMAIN_TREE) {
        const uint32_t n_nodes = domain->tree->n_nodes;
        const char *label = cell->id < n_nodes ? kn_tree_label(domain->tree, cell->id, &n)
                                               : kn_set_pool_text(sets, cell->id - n_nodes, &n);
        kn_buffer_append(out, label, n);
    } else if (is_star(cell, domain)) {
        kn_buffer_char(out, '*');
    } else if (domain->kind == KN_DOMAIN_RANGES && domain->grid_first != NULL) {
        const int64_t *interval = domain->grid->interval;
        if (domain->coding != NULL) kn_coded_text(out, domain, cell->first, cell->last);
        else kn_grid_text(out, domain->grid, column->type, interval[cell->first], interval[cell->last] + 1);
    } else if (domain->kind == KN_DOMAIN_RANGES) {
        const uint32_t ends[] = {cell->first, cell->last};
        kn_text_members(out, column, domain->spelling_of_code, ends, 2, false);
    } else {
        uint32_t n_codes;
        const uint32_t *codes = kn_set_pool_get(sets, cell->id, &n_codes);
        const char *label = kn_set_pool_text(sets, cell->id, &n);
        if (n > 0) kn_buffer_append(out, label, n); /* of a group or a named subset */
        else kn_text_members(out, column, domain->spelling_of_code, codes, n_codes, true);
    }
}
