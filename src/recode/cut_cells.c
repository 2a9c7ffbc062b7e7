/* Cells of a recoding by cut points: each part of each column as kn_part_cell writes it for the rows that are released,
 * whichever class they are in. So what looked the same looks the same, and no label tells of rows that are gone.
 *
 * In: a release whose rows have classes, and the answer's parts. Out: its cells. Cost: a pass over the rows for each
 * column. */
#include "recode/recode.h"

#include <string.h>

/* Parts that were written alike (`*` for missing cells that may be anything, and for all the others) are in one class
 * since then; what it has goes on covering them, and says nothing of rows that are gone. */
static const uint32_t MIXED = UINT32_MAX - 1;

typedef struct column_parts {
    const kn_domain *domain;
    const uint32_t *part; /* [code] */
    bool *occurs;         /* [code] */
    kn_cell *cells;       /* [part] */
    uint32_t *part_of;    /* [class]: of its rows; KN_NONE: there are none left, MIXED: of several */
} column_parts;

static void look_at_rows(column_parts *parts, const kn_release *r, uint32_t q)
{
    const kn_tuples *t = r->tuples;
    for (uint32_t row = 0; row < t->n_records; row++) {
        const uint32_t c = r->row_class[row], code = t->codes[q][t->row_tuple[row]];
        if (c == KN_NONE) continue;
        parts->occurs[code] = true;
        if (parts->part_of[c] == KN_NONE) parts->part_of[c] = parts->part[code];
        else if (parts->part_of[c] != parts->part[code]) parts->part_of[c] = MIXED;
    }
}

static kn_status write_parts(column_parts *parts, kn_release *r, bool nodes, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = parts->domain;
    const kn_part_form form = kn_part_form_of(domain, nodes);
    for (uint32_t first = 0, last; first < domain->n_codes; first = last + 1) {
        bool has_rows = parts->occurs[first];
        for (last = first; last + 1 < domain->n_codes && parts->part[last + 1] == parts->part[first]; last++)
            has_rows |= parts->occurs[last + 1];
        if (!has_rows) continue;
        KN_TRY(kn_part_cell(&parts->cells[parts->part[first]], domain, form, r->sets, parts->occurs, first, last, err));
    }
done:
    return status;
}

static kn_status write_column(bool *changed, kn_release *r, const kn_answer *answer, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = r->tuples->n_qis;
    column_parts parts = {.domain = r->tuples->domains[q], .part = answer->part[q]};
    KN_NEW(parts.occurs, parts.domain->n_codes);
    KN_NEW(parts.cells, parts.domain->n_codes);
    KN_NEW_RAW(parts.part_of, r->n_classes);
    memset(parts.part_of, 0xFF, r->n_classes * sizeof *parts.part_of);
    look_at_rows(&parts, r, q);
    KN_TRY(write_parts(&parts, r, answer->part_nodes, err));
    for (uint32_t c = 0; c < r->n_classes; c++) {
        if (parts.part_of[c] == KN_NONE || parts.part_of[c] == MIXED) continue;
        const kn_cell *cell = &parts.cells[parts.part_of[c]];
        kn_cell *old = &r->cells[(size_t)c * n_qis + q];
        *changed = *changed || !kn_cell_equal(old, cell);
        *old = *cell;
    }
done:
    kn_free(parts.occurs);
    kn_free(parts.cells);
    kn_free(parts.part_of);
    return status;
}

kn_status kn_release_cut_cells(bool *changed, kn_release *r, const kn_answer *answer, bool nodes_too, kn_error *err)
{
    kn_status status = KN_OK;
    *changed = false;
    for (uint32_t q = 0; r->n_classes > 0 && q < r->tuples->n_qis; q++)
        if (nodes_too || kn_part_form_of(r->tuples->domains[q], answer->part_nodes) != KN_PART_NODE)
            KN_TRY(write_column(changed, r, answer, q, err));
done:
    return status;
}
