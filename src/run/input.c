/* A request to tuples, models and objective. */
#include "run/input.h"

#include "duckdb/duckdb.h"
#include "hierarchy/builders.h"
#include "run/as_it_comes.h"
#include "run/bad_cells.h"
#include "run/column_looks.h"
#include "run/notes.h"
#include "run/hierarchy_table.h"
#include "run/result.h"
#include "run/whole.h"
#include "table/fold_column.h"

#include <string.h>

/* --- options of the run and of the table format --------------------------------------------------------------- */

static kn_csv_options csv_options(const kn_request *request, kn_files *files)
{
    return (kn_csv_options){
        .delimiter = request->delimiter,
        .no_header = request->no_header,
        .trim = request->trim,
        .encoding = request->encoding,
        .null_values = (const char *const *)request->null.items,
        .n_null_values = request->null.n,
        .decimal = request->decimal,
        .invalid_is_missing = request->invalid == KN_INVALID_MISSING,
        .redact = request->redact,
        .files = files,
    };
}

/* `first` NULL: the run has files of its own. */
static kn_status input_new(kn_input **out, const kn_request *request, const kn_input *first, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    *out = NULL;
    KN_NEW(input, 1);
    input->request = request;
    input->redact = request->redact;
    input->ticker.progress = request->progress;
    input->ticker.user = request->progress_user;
    input->ticker.cancel = request->cancel;
    input->shares_files = first != NULL;
    if (first != NULL) input->files = first->files;
    else KN_TRY(kn_files_new(&input->files, &input->ticker, err));
    input->csv = input->other_csv = csv_options(request, input->files);
    input->other_csv.delimiter = '\0';
    KN_TRY(kn_pool_new(&input->pool, (unsigned)request->threads, err));
    kn_pool_watch(input->pool, &input->ticker);
    const kn_tables *tables = first != NULL ? first->sources.tables : request->tables;
    input->sources = (kn_source_options){&input->csv, tables, &input->ticker, kn_pool_threads(input->pool)};
    input->other_sources = input->sources;
    input->other_sources.csv = &input->other_csv;
    *out = input;
    input = NULL;
done:
    kn_input_free(input);
    return status;
}

/* --sql is run here, once; who reads the table again, for the verdict too, reads what it answered. */
static kn_status answer_query(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *answer = NULL;
    const kn_request *request = input->request;
    const kn_duckdb_options options = {.name = "the query",
                                       .files = input->files,
                                       .ticker = &input->ticker,
                                       .redact = input->redact,
                                       .n_threads = kn_pool_threads(input->pool)};
    if (request->sql == NULL) return KN_OK;
    KN_TRY(kn_duckdb_query(&answer, request->sql, KN_SQL_TABLE, &options, err));
    for (size_t i = 0; i < request->tables->items.n; i++) {
        atomic_fetch_add(&request->tables->items.items[i]->n_holders, 1);
        KN_TRY(kn_tables_put(&input->tables, request->tables->items.items[i], err));
    }
    status = kn_tables_put(&input->tables, answer, err); /* which takes it */
    answer = NULL;
    input->sources.tables = input->other_sources.tables = &input->tables;
done:
    kn_batches_drop(answer);
    return status;
}

kn_status kn_input_new(kn_input **out, const kn_request *request, kn_output_use use, kn_error *err)
{
    kn_status status = KN_OK;
    *out = NULL;
    if (request->unit == KN_UNIT_HOUSEHOLD && request->person == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "unit"),
                   "unit household: which column tells households apart? Name it as person");
    KN_TRY(input_new(out, request, NULL, err));
    KN_TRY(kn_targets_new(&(*out)->targets, request, (*out)->files, use, err));
    KN_TRY(answer_query(*out, err));
    if (use == KN_OUTPUT_IF_ASKED && request->schema != NULL)
        KN_TRY(kn_schema_read(&(*out)->schema, request->schema, (*out)->files, err));
    if ((*out)->schema != NULL) {
        kn_schema_reading(&(*out)->csv, (*out)->schema);
        kn_schema_reading(&(*out)->other_csv, (*out)->schema);
    }
    if (request->policy_id != NULL) KN_TRY(kn_files_add((*out)->files, *request->policy_id, err));
done:
    if (status != KN_OK) {
        kn_input_free(*out);
        *out = NULL;
    }
    return status;
}

kn_status kn_input_new_beside(kn_input **out, const kn_input *first, kn_error *err)
{
    return input_new(out, first->request, first, err);
}

void kn_input_forget_domains(kn_input *input)
{
    kn_tuples_free(input->tuples);
    for (uint32_t q = 0; input->domains != NULL && q < input->n_qis; q++) kn_domain_free(input->domains[q]);
    kn_free(input->domains);
    input->tuples = NULL;
    input->domains = NULL;
}

void kn_input_free(kn_input *input)
{
    if (input == NULL) return;
    kn_models_free(input->models);
    kn_objective_free(input->objective);
    kn_input_forget_domains(input);
    kn_free(input->choices);
    kn_free(input->withheld);
    kn_free(input->derived);
    kn_free(input->n_invalid);
    kn_schema_free(input->schema);
    kn_table_free(input->table);
    kn_targets_free(input->targets);
    if (!input->shares_files) kn_files_free(input->files);
    kn_pool_free(input->pool);
    kn_tables_free(&input->tables);
    kn_buffer_free(&input->warnings);
    kn_free(input);
}

/* --- read ------------------------------------------------------------------------------------------------------ */

static kn_column_plan plan_of(const kn_column_choice *choice)
{
    const bool is_count = choice->is_count || choice->is_person_count;
    const kn_column_use use = is_count ? KN_USE_COUNT : choice->is_person ? KN_USE_PERSON : KN_USE_NOTHING;
    return (kn_column_plan){choice->role, is_count ? KN_TYPE_INT : choice->type, use};
}

/* What a table with counts cannot be asked for is refused where it is asked for, before the search. */
static kn_status count_records(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_request *request = input->request;
    uint32_t count = KN_NONE, person_count = KN_NONE;
    if (request->count == NULL && request->person_count == NULL) return KN_OK;
    if (request->count == NULL || (request->person_count != NULL && request->person == NULL))
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "person-count"),
                   "--person-count is about records that --count and --person are about, too; name those columns");
    if (request->order != KN_ORDER_INPUT)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "count"),
                   "--count: what comes back says for each record, in their order, what its rows become: it is for the "
                   "engine that counted them, and no release. Say --order input");
    if (request->cells == KN_CELLS_BOTH)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "cells"),
                   "--cells both writes means of rows, and a record is none; "
                   "say --cells labels or bounds");
    const char *about_rows = request->polish                ? "polish"
                             : request->certificate != NULL ? "certificate"
                             : request->codebook != NULL    ? "codebook"
                             : request->ledger != NULL      ? "ledger"
                                                            : NULL;
    if (about_rows != NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = about_rows),
                   "--%s is about single rows, and a record with a --count is many; leave it out", about_rows);
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        if (input->choices[c].is_count) count = c;
        if (input->choices[c].is_person_count) person_count = c;
    }
    KN_TRY(kn_table_count(input->table, count, person_count, err));
done:
    return status;
}

static kn_status choose_columns(kn_input *input, const kn_source *source, kn_columns_mode mode, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = kn_source_n_columns(source);
    const char **names = NULL;
    KN_NEW(names, n);
    for (uint32_t i = 0; i < n; i++) names[i] = kn_source_column_name(source, i);
    kn_buffer *warnings = input->schema == NULL ? &input->warnings : NULL; /* what nobody mentions, the schema does */
    KN_TRY(kn_settings_columns(&input->choices, input->request->settings, names, n, mode, warnings, input->problems,
                               &input->ticker, err));
    kn_schema_apply(input->choices, names, n, input->schema, input->request->settings);
    if (mode == KN_COLUMNS_OF_RELEASE) /* intervals and labels are no numbers, whatever the original's type was */
        for (uint32_t i = 0; i < n; i++)
            if (input->choices[i].role == KN_ROLE_QUASI) input->choices[i].type = KN_TYPE_TEXT;
done:
    kn_free(names);
    return status;
}

void kn_input_warn_unnamed(kn_input *input)
{
    const uint32_t c = input->form.first_unnamed;
    if (input->form.n_unnamed == 0 || (input->choices != NULL && input->choices[c].role != KN_ROLE_DROPPED)) return;
    const kn_piece first = kn_piece_name(input->table->columns[c].name);
    kn_sentences_add(&input->warnings,
                     input->form.n_unnamed == 1
                         ? KN_SAID(KN_SAY_COLUMN_WITHOUT_NAME, first)
                         : KN_SAID(KN_SAY_COLUMNS_WITHOUT_NAME, kn_piece_number("%u", input->form.n_unnamed), first));
}

static kn_status read_table(kn_input *input, kn_source *source, kn_columns_mode mode, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = kn_source_n_columns(source);
    kn_column_plan *plans = NULL;
    kn_whole whole = {0};
    const bool is_data = mode == KN_COLUMNS_OF_DATA || mode == KN_COLUMNS_OF_ORIGINAL;
    KN_NEW(plans, n);
    if (is_data) KN_TRY(kn_whole_read(&whole, input, err));
    for (uint32_t i = 0; i < n; i++) {
        plans[i] = plan_of(&input->choices[i]);
        if (kn_whole_has(&whole, plans[i].role)) plans[i].type = KN_TYPE_TEXT;
    }
    KN_TRY(kn_source_read(&input->table, source, plans, input->pool, &input->ticker, err));
    if (mode == KN_COLUMNS_OF_DATA) KN_TRY(count_records(input, err));
    if (is_data) KN_TRY(kn_whole_take(input, &whole, err));
    input->form = kn_source_form(source);
    kn_input_warn_unnamed(input);
    if (!kn_is_csv(input->path)) {
        if (input->csv.delimiter != '\0') input->form.delimiter = input->csv.delimiter;
        input->form.has_header = !input->csv.no_header;
    }
done:
    kn_whole_clear(&whole);
    kn_free(plans);
    return status;
}

kn_status kn_input_fold(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    bool fold = input->request->fold_sensitive;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        kn_column *column = &input->table->columns[c];
        uint32_t n_fewer;
        if (column->role != KN_ROLE_SENSITIVE) continue;
        KN_TRY(fold ? kn_column_fold(column, input->table->n_rows, err) : kn_column_count_folds(&n_fewer, column, err));
        if (!fold && n_fewer > 0)
            kn_sentences_add(&input->warnings,
                             KN_SAID(KN_SAY_FOLDS, kn_piece_text(column->name), kn_piece_number("%u", column->n_values),
                                     kn_piece_number("%u", column->n_values - n_fewer)));
    }
done:
    return status;
}

/* A copied column in which nearly everybody has a value of their own gives the person away by itself. */
static kn_status warn_of_copied_columns(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    enum { FEW_ROWS = 20 };
    const kn_table *table = input->table;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (column->role != KN_ROLE_SENSITIVE && column->role != KN_ROLE_INSENSITIVE) continue;
        char shown[KN_SHOWN_BYTES];
        if (column->whole_rows == NULL && kn_table_rows(table) >= FEW_ROWS &&
            column->n_values > 0.9 * (double)kn_table_rows(table))
            kn_sentences_add(
                &input->warnings,
                KN_SAID(KN_SAY_COPY_IDENTIFIES,
                        kn_piece_text(kn_settings_column_shown(shown, input->request->settings, column->name, c)),
                        kn_piece_number("%u", column->n_values),
                        kn_piece_number("%llu", (unsigned long long)kn_table_rows(table))));
        else {
            kn_looks looks;
            KN_TRY(kn_column_looks(&looks, column, table->n_rows, err));
            if (looks.look != KN_LOOKS_PLAIN)
                kn_sentences_add(
                    &input->warnings,
                    KN_SAID(KN_SAY_COPY_LOOKS_PERSONAL,
                            kn_piece_text(kn_settings_column_shown(shown, input->request->settings, column->name, c)),
                            kn_piece_part(kn_said(looks.reason))));
        }
    }
done:
    return status;
}

const char *kn_input_usual_grid(const kn_column *column)
{
    const bool is_number = column->type == KN_TYPE_INT || column->type == KN_TYPE_DECIMAL;
    return is_number && kn_name_is_age(column->name) ? "1" : "auto";
}

static void choose_grid(kn_column_choice *choice, const kn_column *column)
{
    if (choice->grid != NULL || choice->hierarchy != NULL || column->role != KN_ROLE_QUASI) return;
    choice->grid = choice->round != NULL ? choice->round : kn_input_usual_grid(column);
}

static void warn_of_exact(kn_input *input, uint32_t c)
{
    const kn_column *column = &input->table->columns[c];
    char shown[KN_SHOWN_BYTES];
    const char *grid = input->choices[c].grid;
    const bool is_exact = grid != NULL && strcmp(grid, "exact") == 0;
    if (column->role != KN_ROLE_QUASI || !is_exact || input->choices[c].hierarchy != NULL) return;
    if (input->schema != NULL) return; /* it tells of a release that is out */
    kn_sentences_add(&input->warnings,
                     KN_SAID(KN_SAY_GRID_EXACT, kn_piece_text(kn_settings_column_shown(shown, input->request->settings,
                                                                                       column->name, c))));
}

/* A name or a number of people that somebody calls a quasi-identifier would be released as sets of names. Without a
 * hierarchy that says what else could be told, nothing is. */
static kn_status withhold_personal(kn_input *input, bool warn, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    KN_NEW(input->withheld, table->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        char shown[KN_SHOWN_BYTES];
        kn_looks looks;
        if (column->role != KN_ROLE_QUASI || input->choices[c].hierarchy != NULL || input->choices[c].release_values)
            continue;
        KN_TRY(kn_column_looks(&looks, column, table->n_rows, err));
        if (looks.look == KN_LOOKS_PLAIN) continue;
        bool on_grid = looks.look == KN_LOOKS_COORDINATE && column->type == KN_TYPE_DECIMAL;
        if (on_grid && input->choices[c].grid == NULL) input->choices[c].grid = "0.1";
        if (on_grid) continue; /* a region, not a house */
        input->withheld[c] = true;
        if (warn)
            kn_sentences_add(
                &input->warnings,
                KN_SAID(KN_SAY_WITHHELD,
                        kn_piece_text(kn_settings_column_shown(shown, input->request->settings, column->name, c)),
                        kn_piece_part(kn_said(looks.reason))));
    }
done:
    return status;
}

/* In a release * means "anything". The value * of the data, copied, could not be told from it, and whoever reads the
 * release back would see more loss, or a suppressed row, where there is none. A * that stands for something unknown is
 * a missing cell that may be any value: then it is released as what it is. */
static kn_status refuse_stars(const kn_input *input, kn_error *err)
{
    char shown[KN_SHOWN_BYTES];
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        uint32_t star = column->role == KN_ROLE_QUASI ? kn_column_find_text(column, "*", 1) : KN_NONE;
        if (star == KN_NONE) continue;
        bool is_missing = column->has_missing && kn_column_value(column, star) == column->n_values - 1;
        if (is_missing && input->request->missing == KN_MISSING_WILDCARD) continue;
        kn_status status = kn_error_set_at(
            err, KN_INPUT,
            KN_PLACE(.file = input->table->source, .line = column->first_line[star], .column = column->name),
            "%s, line %llu, column %s: the value %s would be ambiguous, because in a release * means any value; "
            "rename it in the data, or, if it stands for something unknown, say --null '*' --missing wildcard",
            input->table->source, (unsigned long long)column->first_line[star], column->name,
            kn_value_shown(shown, "*", 1, false));
        status = kn_problem_note(input->problems, status, err);
        if (status != KN_OK) return status;
    }
    return KN_OK;
}

kn_status kn_input_open(kn_source **out, kn_input *input, const char *path, kn_error *err)
{
    *out = NULL;
    if (path == NULL)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "data"),
                               "which table? Give the name of a CSV, Parquet or JSON file, or - for standard input");
    input->path = path;
    if (strcmp(path, "-") == 0) input->csv.name = "standard input";
    if (strcmp(path, KN_SQL_TABLE) == 0) input->csv.name = "the query";
    return kn_source_open(out, path, &input->sources, err);
}

static bool has_column(const kn_source *source, const char *name)
{
    for (uint32_t c = 0; c < kn_source_n_columns(source); c++)
        if (strcmp(kn_source_column_name(source, c), name) == 0) return true;
    return false;
}

/* The table has the dates, and not the column itself. */
static bool is_derivable(const kn_source *source, const kn_derivation *derivation)
{
    return !has_column(source, derivation->name) &&
           (derivation->from.column == NULL || has_column(source, derivation->from.column)) &&
           (derivation->to.column == NULL || has_column(source, derivation->to.column));
}

kn_status kn_input_derive(kn_source *source, kn_input *input, bool where_possible, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_request *request = input->request;
    kn_free(input->derived);
    kn_free(input->n_invalid);
    input->derived = NULL;
    input->n_invalid = NULL;
    input->n_derived = 0;
    size_t n_told; /* by a schema, which stands for the policy */
    const kn_derivation *told = kn_schema_derivations(&n_told, input->schema);
    KN_NEW(input->derived, request->n_derivations + n_told + 1);
    KN_NEW(input->n_invalid, request->n_derivations + n_told + 1);
    for (size_t d = 0; d < request->n_derivations; d++)
        if (!where_possible || is_derivable(source, &request->derivations[d]))
            input->derived[input->n_derived++] = request->derivations[d];
    for (size_t d = 0; d < n_told; d++) {
        bool is_asked = false;
        for (size_t i = 0; i < request->n_derivations; i++)
            is_asked |= strcmp(request->derivations[i].name, told[d].name) == 0;
        if (!is_asked && is_derivable(source, &told[d])) input->derived[input->n_derived++] = told[d];
    }
    KN_TRY(kn_source_derive(source, input->derived, input->n_derived, input->n_invalid, &input->sources, err));
done:
    return status;
}

static void warn_of_underivable(kn_input *input)
{
    for (size_t d = 0; d < input->n_derived; d++)
        if (input->n_invalid[d] > 0)
            kn_sentences_add(&input->warnings,
                             KN_SAID(KN_SAY_NOT_DERIVED, kn_piece_text(input->derived[d].name),
                                     kn_piece_number("%llu", (unsigned long long)input->n_invalid[d])));
}

/* Of decimals intervals do not hold their upper end, unless they end at values of the data. */
static bool has_upper_end(const kn_settings *settings, const char *name)
{
    const char *type = kn_settings_detail(settings, "type", name), *grid = kn_settings_detail(settings, "grid", name);
    return type == NULL || strcmp(type, "decimal") != 0 || (grid != NULL && strcmp(grid, "exact") == 0);
}

kn_status kn_input_join_bounds(kn_source *source, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    static const char end[] = "_kind";
    const kn_settings *settings = input->request->settings;
    const uint32_t n_columns = kn_source_n_columns(source);
    kn_bounds_join *joins = NULL;
    char **names = NULL;
    size_t n = 0;
    KN_NEW(joins, n_columns + 1);
    KN_NEW(names, n_columns + 1);
    for (uint32_t c = 0; c < n_columns; c++) {
        const char *name = kn_source_column_name(source, c);
        const size_t n_name = strlen(name);
        if (n_name < strlen(end) || strcmp(name + n_name - strlen(end), end) != 0) continue;
        names[n] = kn_string_copy(name, n_name - strlen(end), err);
        if (names[n] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        bool included;
        if (input->schema != NULL && kn_schema_has_bounds(&included, input->schema, names[n]))
            joins[n] = (kn_bounds_join){names[n], included};
        else if (kn_settings_name_column(settings, names[n]) && !kn_settings_name_column(settings, name))
            joins[n] = (kn_bounds_join){names[n], has_upper_end(settings, names[n])};
        else joins[n] = (kn_bounds_join){"", true}; /* of no column */
        n++;
    }
    KN_TRY(kn_source_join_bounds(source, joins, n, &input->sources, err));
done:
    for (size_t i = 0; names != NULL && i < n; i++) kn_free(names[i]);
    kn_free(names);
    kn_free(joins);
    return status;
}

kn_status kn_input_read(kn_input *input, const char *path, kn_columns_mode mode, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    double began = kn_seconds_now();
    KN_TRY(kn_input_open(&source, input, path, err));
    if (mode == KN_COLUMNS_OF_RELEASE) KN_TRY(kn_input_join_bounds(source, input, err));
    else KN_TRY(kn_input_derive(source, input, false, err));
    KN_TRY(choose_columns(input, source, mode, err));
    status = read_table(input, source, mode, err);
    if (status == KN_INPUT && input->problems != NULL) { /* once more, without the cells that are no good */
        kn_source_close(source);
        source = NULL;
        KN_TRY(kn_bad_cells_note(input, err));
        KN_TRY(kn_input_open(&source, input, path, err));
        if (mode != KN_COLUMNS_OF_RELEASE) KN_TRY(kn_input_derive(source, input, false, err));
        status = read_table(input, source, mode, err);
    }
    if (status != KN_OK) goto done;
    KN_TRY(kn_input_fold(input, err));
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        kn_column_choice *choice = &input->choices[c];
        choice->grid_asked = choice->grid != NULL && strcmp(choice->grid, "exact") != 0;
        choice->grid_told = mode != KN_COLUMNS_OF_DATA; /* whoever reads a release does not search */
    }
    if (mode == KN_COLUMNS_OF_DATA || mode == KN_COLUMNS_OF_ORIGINAL)
        KN_TRY(withhold_personal(input, mode == KN_COLUMNS_OF_DATA, err));
    for (uint32_t c = 0; (mode == KN_COLUMNS_OF_DATA || mode == KN_COLUMNS_OF_ORIGINAL) && c < input->table->n_columns;
         c++) {
        if (mode == KN_COLUMNS_OF_DATA) warn_of_exact(input, c);
        choose_grid(&input->choices[c], &input->table->columns[c]);
    }
    if (mode == KN_COLUMNS_OF_DATA || mode == KN_COLUMNS_OF_HIERARCHY) {
        KN_TRY(kn_input_notice(input, err));
        warn_of_underivable(input);
    }
    if (mode == KN_COLUMNS_OF_DATA) {
        KN_TRY(refuse_stars(input, err));
        KN_TRY(warn_of_copied_columns(input, err));
    }
    input->seconds_read = kn_seconds_now() - began;
    kn_note_table(input);
done:
    kn_source_close(source);
    return status;
}

/* --- encode ---------------------------------------------------------------------------------------------------- */

static kn_status list_quasi(uint32_t **out, uint32_t *n_quasi, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    *n_quasi = 0;
    KN_NEW(*out, table->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        if (table->columns[c].role != KN_ROLE_QUASI) continue;
        uint32_t at = (*n_quasi)++; /* insertion by order of mention */
        while (at > 0 && input->choices[(*out)[at - 1]].mention > input->choices[c].mention) {
            (*out)[at] = (*out)[at - 1];
            at--;
        }
        (*out)[at] = c;
    }
done:
    return status;
}

/* Folded spellings are one value, so a hierarchy cannot place them differently. */
static kn_status check_folded_leaves(const kn_domain *domain, const kn_input *input, kn_error *err)
{
    const kn_column *column = domain->column;
    char shown[KN_SHOWN_BYTES];
    for (uint32_t s = 0; column->is_folded && s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        uint32_t leaf = kn_tree_find_leaf(domain->tree, bytes, n);
        if (leaf == KN_NONE || leaf == domain->code_of_spelling[s]) continue;
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.column = column->name),
                               "column '%s': the hierarchy lists %s and another spelling of it, which --fold-sensitive "
                               "takes as one value; list one of them",
                               column->name, kn_value_shown(shown, bytes, n, input->redact));
    }
    return KN_OK;
}

/* A hierarchy given for a sensitive column serves t-closeness with the hierarchical distance. */
static kn_status sensitive_trees(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    for (uint32_t s = 0; s < input->tuples->n_table_sensitive; s++) {
        kn_sensitive *sensitive = &input->tuples->sensitive[s];
        uint32_t column = (uint32_t)(sensitive->column - input->table->columns);
        if (input->choices[column].hierarchy == NULL) continue;
        KN_TRY(kn_input_domain(&domain, input, column, true, err));
        KN_TRY(check_folded_leaves(domain, input, err));
        KN_OWN(&input->tuples->memory, sensitive->leaf_of_value, sensitive->n_values);
        for (uint32_t i = 0; i < sensitive->column->n_spellings; i++)
            sensitive->leaf_of_value[kn_column_value(sensitive->column, i)] = domain->code_of_spelling[i];
        sensitive->tree = domain->tree;
        domain->tree = NULL;
        kn_domain_free(domain);
        domain = NULL;
    }
done:
    kn_domain_free(domain);
    return status;
}

kn_status kn_input_ask_for_qis(kn_error *err)
{
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "qi"),
                           "which columns could an attacker know? Name them with --qi; 'kanon profile' suggests some");
}

/* A table may be released without quasi-identifiers where somebody said so of every column, or in a policy. Flags that
 * leave columns out and name no quasi-identifier have rather forgotten them; and nothing is released without columns.
 */
kn_status kn_input_need_qis(const kn_input *input, kn_error *err)
{
    bool is_copied = false, is_left_out = false;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_role role = input->table->columns[c].role;
        if (role == KN_ROLE_QUASI) return KN_OK;
        is_copied = is_copied || role == KN_ROLE_SENSITIVE || role == KN_ROLE_INSENSITIVE;
        is_left_out = is_left_out || role == KN_ROLE_DROPPED;
    }
    const bool is_meant = is_copied && (input->request->policy_path != NULL || !is_left_out);
    return is_meant ? KN_OK : kn_input_ask_for_qis(err);
}

/* A search over levels gives a column without a hierarchy intervals of its own. */
static void warn_of_grid(kn_input *input, uint32_t c)
{
    const kn_column *column = &input->table->columns[c];
    kn_column_choice *choice = &input->choices[c];
    char shown[KN_SHOWN_BYTES];
    const bool is_withheld = input->withheld != NULL && input->withheld[c];
    if (!choice->grid_asked || choice->grid_told || choice->hierarchy != NULL || choice->round != NULL || is_withheld)
        return;
    choice->grid_told = true;
    kn_sentences_add(&input->warnings,
                     KN_SAID(KN_SAY_GRID_UNUSED, kn_piece_text(kn_settings_column_shown(shown, input->request->settings,
                                                                                        column->name, c))));
}

kn_status kn_input_encode(kn_input *input, bool must_be_tree, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *quasi = NULL;
    double began = kn_seconds_now();
    KN_TRY(kn_input_need_qis(input, err));
    KN_TRY(list_quasi(&quasi, &input->n_qis, input, err));
    KN_NEW(input->domains, input->n_qis);
    for (uint32_t q = 0; q < input->n_qis; q++) {
        KN_TRY(kn_input_domain(&input->domains[q], input, quasi[q], must_be_tree, err));
        if (must_be_tree) warn_of_grid(input, quasi[q]);
        KN_TRY(kn_tick(&input->ticker, "encoding", (double)q / input->n_qis, err));
    }
    KN_TRY(kn_tuples_new(&input->tuples, input->table, input->domains, input->n_qis, input->pool, &input->ticker, err));
    KN_TRY(sensitive_trees(input, err));
    input->seconds_encode = kn_seconds_now() - began;
    kn_note_columns(input);
done:
    kn_free(quasi);
    return status;
}

bool kn_input_may_have_trees(const kn_input *input)
{
    const kn_algorithm *algorithm;
    const char *params, *why;
    return strcmp(input->request->algorithm, "auto") == 0 &&
           kn_input_algorithm(&algorithm, &params, &why, input->request, input->table, NULL) == KN_OK &&
           !kn_algorithm_needs_trees(algorithm);
}

kn_status kn_input_encode_again(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error first = {0}, ignored = {0};
    const kn_algorithm *algorithm;
    const char *params, *why;
    KN_TRY(kn_input_algorithm(&algorithm, &params, &why, input->request, input->table, err));
    status = kn_input_encode(input, kn_algorithm_needs_trees(algorithm), &first);
    /* a top that is on the tree's widths, but on no grid; numbers too large for one */
    if ((status == KN_USAGE || status == KN_INPUT) && kn_input_may_have_trees(input)) {
        kn_input_forget_domains(input);
        if (kn_input_encode(input, true, &ignored) == KN_OK) return KN_OK;
    }
    if (status != KN_OK) kn_error_pass(err, status, &first);
done:
    return status;
}

/* Whatever the command, so that a job at night sees what a person would have read. */
static kn_status add_warnings(kn_result *result, const kn_input *input, kn_error *err)
{
    kn_json json;
    kn_json_resume(&json, result->json);
    result->json = NULL;
    kn_sentences_json(&json, "warnings", &input->warnings);
    kn_json_end(&json);
    return kn_json_finish(&result->json, &json, err);
}

kn_status kn_input_deliver(kn_input *input, kn_result *result, kn_error *err)
{
    kn_status status = KN_OK;
    if (result->json != NULL) KN_TRY(add_warnings(result, input, err));
    KN_TRY(kn_sentences_finish(&result->warnings, &input->warnings, err));
    if (result->json != NULL) KN_TRY(kn_targets_text(input->targets, "json", result->json, err));
    KN_TRY(kn_targets_commit(input->targets, &input->ticker, err));
    KN_TRY(kn_targets_keep(input->targets, result, err));
done:
    return status;
}
