/* Combinations of cells, and columns made of them; see the header. */
#include "source/combined.h"

#include "base/hash.h"

#include <string.h>

static uint64_t row_hash(const kn_column *const *columns, size_t n_columns, uint32_t row)
{
    uint64_t hash = 0;
    for (size_t c = 0; c < n_columns; c++) hash = kn_hash_combine(hash, kn_column_code(columns[c], row));
    return kn_hash_u64(hash);
}

static bool rows_agree(const kn_column *const *columns, size_t n_columns, uint32_t a, uint32_t b)
{
    for (size_t c = 0; c < n_columns; c++)
        if (kn_column_code(columns[c], a) != kn_column_code(columns[c], b)) return false;
    return true;
}

kn_status kn_combinations_make(kn_combinations *out, const kn_column *const *columns, size_t n_columns, uint32_t n_rows,
                               kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *slots = NULL;
    size_t n_slots = 64;
    while (n_slots < 2 * (size_t)n_rows) n_slots *= 2;
    KN_NEW_RAW(slots, n_slots);
    memset(slots, 0xFF, n_slots * sizeof *slots);
    KN_NEW_RAW(out->of_row, n_rows + (size_t)1);
    KN_NEW_RAW(out->first_row, n_rows + (size_t)1);
    KN_NEW(out->n_rows, n_rows + (size_t)1);
    for (uint32_t row = 0; row < n_rows; row++) {
        size_t at = (size_t)row_hash(columns, n_columns, row) & (n_slots - 1);
        while (slots[at] != KN_NONE && !rows_agree(columns, n_columns, out->first_row[slots[at]], row))
            at = (at + 1) & (n_slots - 1);
        if (slots[at] == KN_NONE) {
            out->first_row[out->n] = row;
            slots[at] = out->n++;
        }
        out->of_row[row] = slots[at];
        out->n_rows[slots[at]]++;
    }
done:
    kn_free(slots);
    return status;
}

void kn_combinations_free(kn_combinations *all)
{
    kn_free(all->of_row);
    kn_free(all->first_row);
    kn_free(all->n_rows);
}

kn_status kn_column_of_texts(kn_column *out, const kn_combinations *rows, const kn_buffer *bytes,
                             const uint64_t *offset, const uint64_t *line, const kn_infer_options *options,
                             uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *new_code = NULL;
    if (bytes->failed) KN_FAIL(KN_RESOURCES, "out of memory");
    const kn_spellings spellings = {rows->n, bytes->bytes != NULL ? bytes->bytes : "", offset, line};
    KN_TRY(kn_column_set_spellings(out, &new_code, &spellings, options, err));
    KN_TRY(kn_column_new_codes(out, n_rows, err));
    kn_codes_rewrite(out->codes, out->code_bytes, rows->of_row, sizeof *rows->of_row, n_rows, new_code);
done:
    kn_free(new_code);
    return status;
}

void kn_column_take(kn_column *to, kn_column *from)
{
    kn_column moved = *from;
    moved.name = to->name;
    *from = (kn_column){.name = from->name};
    *to = moved;
}

/* --- Sources over others ------------------------------------------------------------------------------------------ */

uint32_t kn_combined_n_columns(const void *reader) { return ((const kn_combined *)reader)->n_columns; }

const char *kn_combined_name(const void *reader, uint32_t column)
{
    return ((const kn_combined *)reader)->names[column];
}

kn_text_form kn_combined_form(const void *reader)
{
    const kn_source *inner = &((const kn_combined *)reader)->inner;
    return inner->type->form(inner->reader);
}

kn_status kn_combined_read(kn_table **out, void *reader, const kn_column_plan *inner_plans, const kn_column_plan *plans,
                           kn_combined_fill *fill, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_combined *own = reader;
    kn_table *inner = NULL, *whole = NULL;
    *out = NULL;
    KN_TRY(own->inner.type->read(&inner, own->inner.reader, inner_plans, pool, ticker, err));
    KN_TRY(kn_table_new(&whole, inner->source, own->names, plans, own->n_columns, err));
    whole->n_rows = inner->n_rows;
    KN_TRY(fill(whole, reader, inner, plans, err));
    *out = whole;
    whole = NULL;
done:
    kn_table_free(inner);
    kn_table_free(whole);
    return status;
}

void kn_combined_cover(kn_source *source, const kn_source_type *type, void *reader)
{
    ((kn_combined *)reader)->inner = *source;
    source->type = type; /* what is opened stays open with it */
    source->reader = reader;
}
