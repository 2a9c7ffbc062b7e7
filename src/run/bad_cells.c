/* Reads the table as `--invalid missing` would, every column as one that is copied, so that cells keep their bytes. A
 * column that cannot be read as its type even then (dates whose day and month could be exchanged) is noted and read as
 * it looks. Cost: a reading for each of those, and one more. */
#include "run/bad_cells.h"

#include <stdio.h>
#include <string.h>

static kn_status read_leniently(kn_table **out, kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_column_plan *plans = NULL;
    *out = NULL;
    input->csv.invalid_is_missing = true;
    KN_TRY(kn_input_open(&source, input, input->path, err));
    const uint32_t n = kn_source_n_columns(source);
    KN_NEW(plans, n + 1);
    for (uint32_t c = 0; c < n; c++) {
        const bool is_read = input->choices[c].role != KN_ROLE_DROPPED && input->choices[c].type != KN_TYPE_AUTO;
        plans[c] =
            (kn_column_plan){is_read ? KN_ROLE_INSENSITIVE : KN_ROLE_DROPPED, input->choices[c].type, KN_USE_NOTHING};
    }
    KN_TRY(kn_source_read(out, source, plans, input->pool, &input->ticker, err));
done:
    kn_source_close(source);
    kn_free(plans);
    return status;
}

/* The index of the column that an error is about, of those with a declared type; KN_NONE: of none. */
static uint32_t column_of(kn_input *input, const kn_error *about)
{
    kn_source *source = NULL;
    uint32_t found = KN_NONE;
    if (about->column[0] == '\0' || kn_input_open(&source, input, input->path, NULL) != KN_OK) return KN_NONE;
    for (uint32_t c = 0; c < kn_source_n_columns(source); c++)
        if (strcmp(kn_source_column_name(source, c), about->column) == 0 && input->choices[c].type != KN_TYPE_AUTO)
            found = c;
    kn_source_close(source);
    return found;
}

/* The spelling that stands first behind line `after`. */
static uint32_t next_bad(const kn_column *column, const bool *is_bad, unsigned long long after)
{
    uint32_t found = KN_NONE;
    for (uint32_t s = 0; s < column->n_spellings; s++)
        if (is_bad[s] && column->first_line[s] > after &&
            (found == KN_NONE || column->first_line[s] < column->first_line[found]))
            found = s;
    return found;
}

/* How many cells have one of the spellings, and the first places; a value that stands there again has its number. */
static kn_status find_cells(kn_problem *out, kn_buffer *places, const kn_input *input, const kn_column *column,
                            const bool *is_bad, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    uint32_t n_values = 0;
    char shown[KN_SHOWN_BYTES];
    unsigned long long line = 0;
    KN_TRY(kn_column_spelling_rows(&rows, column, n_rows, err));
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        out->n_cells += is_bad[s] ? rows[s] : 0;
        n_values += is_bad[s];
    }
    for (uint32_t i = 0; i < KN_PROBLEM_LINES && i < n_values; i++) {
        const uint32_t s = next_bad(column, is_bad, line);
        size_t n;
        if (s == KN_NONE) break; /* two on one line of a quoted cell */
        const char *bytes = kn_column_bytes(column, s, &n);
        out->lines[i] = line = column->first_line[s];
        kn_buffer_printf(places, "%sline %llu", i > 0 ? ", " : "", line);
        if (!input->redact) kn_buffer_printf(places, " %s", kn_value_shown(shown, bytes, n, false));
        if (rows[s] > 1) kn_buffer_printf(places, " (%llu cells)", (unsigned long long)rows[s]);
    }
    if (n_values > KN_PROBLEM_LINES) kn_buffer_text(places, ", ...");
    if (places->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    kn_free(rows);
    return status;
}

static kn_status note_column(kn_input *input, const kn_table *table, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    kn_problem problem = {.kind = KN_PROBLEM_BAD_CELLS};
    kn_buffer places = {0};
    KN_TRY(find_cells(&problem, &places, input, column, column->is_invalid, table->n_rows, err));
    kn_error_set_at(&problem.about, KN_INPUT,
                    KN_PLACE(.file = table->source, .line = problem.lines[0], .column = column->name, .option = "type"),
                    "%s: column '%s': %llu cell%s not of the type %s: %s; correct the data, give the column another "
                    "type, name values with --null if they mean a missing one, or say --invalid missing",
                    table->source, column->name, (unsigned long long)problem.n_cells,
                    problem.n_cells == 1 ? " is" : "s are", kn_type_name(column->type), places.bytes);
    KN_TRY(kn_problem_add(input->problems, &problem, err));
done:
    kn_buffer_free(&places);
    return status;
}

kn_status kn_lacking_cells_note(kn_input *input, const kn_column *column, const kn_lacking *lacking, kn_error *err)
{
    kn_status status = KN_OK;
    const char *source = input->table->source;
    kn_problem problem = {.kind = KN_PROBLEM_BAD_CELLS};
    kn_buffer places = {0};
    KN_TRY(find_cells(&problem, &places, input, column, lacking->spellings, input->table->n_rows, err));
    kn_error_set_at(&problem.about, KN_INPUT,
                    KN_PLACE(.file = source, .line = problem.lines[0], .column = column->name, .option = "hierarchy"),
                    "%s: column '%s': %llu cell%s not in %s: %s; %s", source, column->name,
                    (unsigned long long)problem.n_cells, problem.n_cells == 1 ? " is" : "s are", lacking->in,
                    places.bytes, lacking->advice);
    KN_TRY(kn_problem_add(input->problems, &problem, err));
done:
    kn_buffer_free(&places);
    return status;
}

kn_status kn_bad_cells_note(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_table *table = NULL;
    for (;;) {
        *err = (kn_error){0};
        status = read_leniently(&table, input, err);
        if (status != KN_INPUT) break;
        const uint32_t c = column_of(input, err);
        if (c == KN_NONE) break; /* the file itself is no good */
        KN_TRY(kn_problem_note(input->problems, status, err));
        input->choices[c].type = KN_TYPE_AUTO;
    }
    if (status != KN_OK) goto done;
    for (uint32_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].is_invalid != NULL) KN_TRY(note_column(input, table, &table->columns[c], err));
done:
    kn_table_free(table);
    return status;
}
