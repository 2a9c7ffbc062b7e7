/* Which kind of table, and what all kinds share. */
#include "source/source.h"

#include "base/hash.h"
#include "duckdb/duckdb.h"
#include "source/arrow/arrow_read.h"
#include "source/csv/csv_read.h"

#include <string.h>

kn_status kn_source_open(kn_source **out, const char *path, const kn_source_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    const kn_batches *batches;
    kn_csv_reader *csv = NULL;
    kn_arrow_reader *arrow = NULL;
    const kn_file_kind kind = kn_file_kind_of(path);
    *out = NULL;
    KN_NEW(source, 1);
    static const kn_csv_options plain_csv = {0};
    const kn_csv_options *cells = options != NULL ? options->csv : &plain_csv;
    KN_TRY(kn_tables_find(&batches, options != NULL ? options->tables : NULL, path, err));
    if (kind != KN_FILE_CSV) {
        const kn_duckdb_options duckdb = {.name = cells->name,
                                          .files = cells->files,
                                          .ticker = options != NULL ? options->ticker : NULL,
                                          .redact = cells->redact,
                                          .n_threads = options != NULL ? options->n_threads : 0};
        KN_TRY(kn_duckdb_open(&source->opened, path, kind, &duckdb, err));
        batches = source->opened;
    }
    if (batches != NULL) {
        kn_arrow_options how = {.null_values = cells->null_values,
                                .n_null_values = cells->n_null_values,
                                .decimal = cells->decimal,
                                .invalid_is_missing = cells->invalid_is_missing,
                                .trim = cells->trim,
                                .redact = cells->redact,
                                .guarded_names = cells->guarded_names,
                                .name = cells->name};
        KN_TRY(kn_arrow_open(&arrow, batches, &how, err));
        source->type = &kn_source_arrow;
        source->reader = arrow;
    } else {
        KN_TRY(kn_csv_open(&csv, path, cells, err));
        source->type = &kn_source_csv;
        source->reader = csv;
    }
    *out = source;
    source = NULL;
done:
    kn_source_close(source);
    return status;
}

void kn_source_close(kn_source *source)
{
    if (source == NULL) return;
    if (source->type != NULL) source->type->close(source->reader);
    kn_batches_drop(source->opened);
    kn_free(source);
}

/* A hash table: a header may have thousands of columns. */
kn_status kn_names_check(char *const *names, uint32_t n_names, const char *where, bool redact, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *slots = NULL; /* column + 1; 0: free */
    size_t n_slots = 16;
    while (n_slots < 2 * (size_t)n_names) n_slots *= 2;
    KN_NEW(slots, n_slots);
    for (uint32_t i = 0; i < n_names; i++) {
        size_t at = (size_t)kn_hash_bytes(names[i], strlen(names[i])) & (n_slots - 1);
        for (; slots[at] != 0; at = (at + 1) & (n_slots - 1)) {
            uint32_t other = slots[at] - 1;
            char shown[KN_SHOWN_BYTES];
            if (strcmp(names[other], names[i]) == 0)
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.column = redact ? NULL : names[i]),
                           "%s: columns %u and %u are both called %s; rename one", where, other + 1, i + 1,
                           kn_value_shown(shown, names[i], strlen(names[i]), redact));
        }
        slots[at] = i + 1;
    }
done:
    kn_free(slots);
    return status;
}

kn_status kn_table_new(kn_table **out, const char *source, char *const *names, const kn_column_plan *plans,
                       uint32_t n_columns, kn_error *err)
{
    kn_status status = KN_OK;
    kn_table *table = NULL;
    *out = NULL;
    KN_NEW(table, 1);
    KN_NEW(table->columns, n_columns);
    table->n_columns = n_columns;
    table->person = KN_NONE;
    table->source = kn_string_copy(source, strlen(source), err);
    if (table->source == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    for (uint32_t i = 0; i < n_columns; i++) {
        kn_column *column = &table->columns[i];
        column->name = kn_string_copy(names[i], strlen(names[i]), err);
        if (column->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->role = plans[i].role;
        column->is_person = plans[i].use == KN_USE_PERSON;
        if (column->is_person) table->person = i;
    }
    *out = table;
    table = NULL;
done:
    kn_table_free(table);
    return status;
}

kn_status kn_column_new_codes(kn_column *column, size_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    column->code_bytes = column->n_spellings <= 1u << 8 ? 1 : column->n_spellings <= 1u << 16 ? 2 : 4;
    column->codes = kn_array_alloc_raw(n_rows, column->code_bytes, err);
    if (column->codes == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

#define REWRITE(to_type, from_type)                                                                                    \
    for (size_t i = 0; i < n; i++) ((to_type *)to)[i] = (to_type)new_code[((const from_type *)from)[i]]
#define REWRITE_FROM(from_type)                                                                                        \
    do {                                                                                                               \
        if (to_bytes == 1) REWRITE(uint8_t, from_type);                                                                \
        else if (to_bytes == 2) REWRITE(uint16_t, from_type);                                                          \
        else REWRITE(uint32_t, from_type);                                                                             \
    } while (0)

void kn_codes_rewrite(void *to, unsigned to_bytes, const void *from, unsigned from_bytes, size_t n,
                      const uint32_t *new_code)
{
    if (from_bytes == 1) REWRITE_FROM(uint8_t);
    else if (from_bytes == 2) REWRITE_FROM(uint16_t);
    else REWRITE_FROM(uint32_t);
}
