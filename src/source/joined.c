/* A release in bounds, read as one in labels: see kn_source_join_bounds.
 *
 * Rows with equal bounds and kind are one text. Cost: one pass over the rows of each such column, with a hash table. */
#include "source/combined.h"

#include "source/csv/csv_read.h"

#include <string.h>

enum { MIN, MAX, KIND, N_PARTS };

typedef struct joined_column {
    const char *name;        /* among the reader's */
    uint32_t parts[N_PARTS]; /* columns of the file; of one that stands as it is, the first */
    bool is_joined, max_included;
} joined_column;

typedef struct joined_reader {
    kn_combined all; /* its names are its own */
    joined_column *columns;
} joined_reader;

static void joined_free(joined_reader *reader)
{
    if (reader == NULL) return;
    for (uint32_t c = 0; c < reader->all.n_columns; c++) kn_free(reader->all.names[c]);
    kn_free(reader->columns);
    kn_free(reader->all.names);
    kn_free(reader);
}

static void joined_close(void *reader)
{
    joined_reader *joined = reader;
    joined->all.inner.type->close(joined->all.inner.reader);
    joined_free(joined);
}

/* --- Texts ------------------------------------------------------------------------------------------------------- */

typedef struct part_text {
    const char *bytes;
    size_t n;
} part_text;

static bool says(part_text text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.bytes, word, text.n) == 0;
}

/* The cell that a row of bounds says, as docs/cells.md writes it; false: they are no bounds. */
static bool put_cell(kn_buffer *out, const joined_reader *reader, const joined_column *column, const part_text *parts)
{
    const part_text min = parts[MIN], max = parts[MAX];
    const char *null_text =
        reader->all.cells != NULL && reader->all.cells->n_null_values > 0 ? reader->all.cells->null_values[0] : "";
    if (says(parts[KIND], "value")) {
        kn_buffer_append(out, min.bytes, min.n);
        return min.n > 0 && min.n == max.n && memcmp(min.bytes, max.bytes, min.n) == 0;
    }
    if (says(parts[KIND], "interval")) {
        kn_buffer_append(out, min.bytes, min.n);
        kn_buffer_text(out, max.n > 0 && !column->max_included ? "..<" : "..");
        kn_buffer_append(out, max.bytes, max.n);
        return min.n > 0 || max.n > 0;
    }
    if (min.n > 0 || max.n > 0) return false;
    if (says(parts[KIND], "suppressed")) kn_buffer_char(out, '*');
    else if (says(parts[KIND], "missing")) kn_buffer_text(out, null_text);
    else return false;
    return true;
}

static kn_status refuse_bounds(const joined_reader *reader, const joined_column *column, const kn_table *table,
                               const part_text *parts, uint64_t line, kn_error *err)
{
    char shown[N_PARTS][KN_SHOWN_BYTES];
    for (int p = 0; p < N_PARTS; p++)
        kn_value_shown(shown[p], parts[p].bytes, parts[p].n, reader->all.cells != NULL && reader->all.cells->redact);
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = table->source, .line = line, .column = column->name),
        "%s, line %llu: %s_min %s, %s_max %s and %s_kind %s are no bounds; docs/cells.md has their form", table->source,
        (unsigned long long)line, column->name, shown[MIN], column->name, shown[MAX], column->name, shown[KIND]);
}

/* Fills `out` from its parts in the file. */
static kn_status join_column(kn_column *out, const joined_reader *reader, const joined_column *column,
                             const kn_table *table, kn_type type, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *parts[N_PARTS];
    kn_combinations rows = {0};
    kn_buffer bytes = {0};
    uint64_t *offset = NULL, *line = NULL;
    for (int p = 0; p < N_PARTS; p++) parts[p] = &table->columns[column->parts[p]];
    KN_TRY(kn_combinations_make(&rows, parts, N_PARTS, table->n_rows, err));
    KN_NEW(offset, (size_t)rows.n + 1);
    KN_NEW(line, rows.n);
    for (uint32_t t = 0; t < rows.n; t++) {
        part_text texts[N_PARTS];
        for (int p = 0; p < N_PARTS; p++) {
            uint32_t code = kn_column_code(parts[p], rows.first_row[t]);
            texts[p].bytes = kn_column_bytes(parts[p], code, &texts[p].n);
            bool is_missing = parts[p]->has_missing && kn_column_value(parts[p], code) == parts[p]->n_values - 1;
            /* In a file an open end is empty, and other spellings of a missing cell are numbers; in memory it is null.
             */
            if (p != KIND && is_missing && reader->all.inner.type != &kn_source_csv) texts[p].n = 0;
            if (parts[p]->first_line[code] > line[t]) line[t] = parts[p]->first_line[code]; /* none of them is later */
        }
        if (!put_cell(&bytes, reader, column, texts)) KN_TRY(refuse_bounds(reader, column, table, texts, line[t], err));
        offset[t + 1] = bytes.n;
    }
    const kn_infer_options options = {.type = type,
                                      .null_values = reader->all.cells != NULL ? reader->all.cells->null_values : NULL,
                                      .n_null_values = reader->all.cells != NULL ? reader->all.cells->n_null_values : 0,
                                      .source = table->source,
                                      .redact = reader->all.cells != NULL && reader->all.cells->redact};
    KN_TRY(kn_column_of_texts(out, &rows, &bytes, offset, line, &options, table->n_rows, err));
done:
    kn_combinations_free(&rows);
    kn_free(offset);
    kn_free(line);
    kn_buffer_free(&bytes);
    return status;
}

/* --- The source -------------------------------------------------------------------------------------------------- */

static kn_status fill_columns(kn_table *whole, void *opaque, kn_table *inner, const kn_column_plan *plans,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const joined_reader *reader = opaque;
    for (uint32_t c = 0; c < reader->all.n_columns; c++) {
        const joined_column *column = &reader->columns[c];
        if (!column->is_joined) kn_column_take(&whole->columns[c], &inner->columns[column->parts[MIN]]);
        else if (kn_plan_is_stored(&plans[c]))
            KN_TRY(join_column(&whole->columns[c], reader, column, inner, plans[c].type, err));
    }
done:
    return status;
}

static kn_status joined_read(kn_table **out, void *opaque, const kn_column_plan *plans, kn_pool *pool,
                             kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    joined_reader *reader = opaque;
    kn_column_plan *inner_plans = NULL;
    *out = NULL;
    KN_NEW(inner_plans, kn_source_n_columns(&reader->all.inner));
    for (uint32_t c = 0; c < reader->all.n_columns; c++) {
        const joined_column *column = &reader->columns[c];
        for (int p = 0; p < (column->is_joined ? N_PARTS : 1); p++) {
            inner_plans[column->parts[p]] = plans[c];
            if (column->is_joined) inner_plans[column->parts[p]].type = KN_TYPE_TEXT;
        }
    }
    KN_TRY(kn_combined_read(out, reader, inner_plans, plans, fill_columns, pool, ticker, err));
done:
    kn_free(inner_plans);
    return status;
}

static const kn_source_type joined_type = {kn_combined_n_columns, kn_combined_name, joined_read, kn_combined_form,
                                           joined_close};

static uint32_t find_column(const kn_source *source, const char *name, const char *end)
{
    const size_t n_name = strlen(name);
    for (uint32_t c = 0; c < kn_source_n_columns(source); c++) {
        const char *there = kn_source_column_name(source, c);
        if (strncmp(there, name, n_name) == 0 && strcmp(there + n_name, end) == 0) return c;
    }
    return KN_NONE;
}

static bool find_parts(uint32_t parts[N_PARTS], const kn_source *source, const char *name)
{
    static const char *const ends[] = {"_min", "_max", "_kind"};
    if (find_column(source, name, "") != KN_NONE) return false;
    for (int p = 0; p < N_PARTS; p++) {
        parts[p] = find_column(source, name, ends[p]);
        if (parts[p] == KN_NONE) return false;
    }
    return true;
}

static kn_status add_column(joined_reader *reader, const char *name, const joined_column *like, kn_error *err)
{
    kn_status status = KN_OK;
    char *own_name = kn_string_copy(name, strlen(name), err);
    if (own_name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    reader->columns[reader->all.n_columns] = *like;
    reader->columns[reader->all.n_columns].name = own_name;
    reader->all.names[reader->all.n_columns++] = own_name;
done:
    return status;
}

kn_status kn_source_join_bounds(kn_source *source, const kn_bounds_join *joins, size_t n_joins,
                                const kn_source_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    joined_reader *reader = NULL;
    joined_column *found = NULL; /* [join] */
    bool any = false;
    const uint32_t n_inner = kn_source_n_columns(source);
    KN_NEW(found, n_joins + 1);
    for (size_t j = 0; j < n_joins; j++) {
        found[j].is_joined = find_parts(found[j].parts, source, joins[j].name);
        found[j].max_included = joins[j].max_included;
        any |= found[j].is_joined;
    }
    if (!any) goto done;
    KN_NEW(reader, 1);
    reader->all.cells = options != NULL ? options->csv : NULL;
    KN_NEW(reader->columns, n_inner);
    KN_NEW(reader->all.names, n_inner);
    for (uint32_t c = 0; c < n_inner; c++) {
        const joined_column plain = {.parts = {c}};
        size_t part = N_PARTS, join = 0;
        for (size_t j = 0; j < n_joins; j++)
            for (size_t p = 0; p < N_PARTS && found[j].is_joined; p++)
                if (found[j].parts[p] == c) part = p, join = j;
        if (part == N_PARTS) KN_TRY(add_column(reader, kn_source_column_name(source, c), &plain, err));
        else if (part == MIN) KN_TRY(add_column(reader, joins[join].name, &found[join], err));
    }
    kn_combined_cover(source, &joined_type, reader);
    reader = NULL;
done:
    kn_free(found);
    joined_free(reader);
    return status;
}
