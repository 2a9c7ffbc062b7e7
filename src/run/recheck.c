/* From settings and domains to a verification request. */
#include "run/recheck.h"

#include <string.h>

static kn_status list_columns(kn_verify_column **out, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    KN_NEW(*out, table->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        const kn_column_choice *choice = &input->choices[c];
        const bool has_step = choice->grid_asked && choice->hierarchy == NULL && strcmp(choice->grid, "auto") != 0;
        (*out)[c] = (kn_verify_column){.name = column->name,
                                       .role = column->role,
                                       .type = column->type,
                                       .marks = column->marks,
                                       .is_person = column->is_person,
                                       .grid = has_step ? choice->grid : NULL,
                                       .min_level = input->choices[c].min_level,
                                       .is_withheld = input->withheld != NULL && input->withheld[c],
                                       .is_count = input->choices[c].is_count,
                                       .is_person_count = input->choices[c].is_person_count,
                                       .hide_name = !kn_settings_name_column(input->request->settings, column->name)};
        for (uint32_t q = 0; q < input->n_qis; q++)
            if (input->domains[q]->column == column) (*out)[c].domain = input->domains[q];
        for (uint32_t s = 0; input->tuples != NULL && s < input->tuples->n_table_sensitive; s++)
            if (input->tuples->sensitive[s].column == column) (*out)[c].tree = input->tuples->sensitive[s].tree;
    }
done:
    return status;
}

kn_status kn_recheck(kn_verdict **out, kn_input *input, const kn_written *written, kn_error *err)
{
    kn_status status = KN_OK;
    kn_verify_column *columns = NULL;
    const kn_request *request = input->request;
    const kn_words *specs = &request->models;
    kn_verify_model *models = NULL;
    char **names = NULL;
    *out = NULL;
    KN_TRY(list_columns(&columns, input, err));
    KN_NEW(models, specs->n);
    KN_NEW(names, specs->n);
    for (size_t i = 0; i < specs->n; i++) {
        const char *spec = specs->items[i];
        size_t n = strcspn(spec, ":");
        names[i] = kn_string_copy(spec, n, err);
        if (names[i] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        models[i] = (kn_verify_model){names[i], spec[n] == ':' ? spec + n + 1 : ""};
    }
    const kn_tables *tables = input->sources.tables;
    const kn_batches *release = written->batches, *original = NULL;
    if (release == NULL) KN_TRY(kn_tables_find(&release, tables, written->path, err));
    if (written->original_path != NULL) KN_TRY(kn_tables_find(&original, tables, written->original_path, err));
    /* Somebody's file beside a table in memory may have any delimiter. */
    bool as_written = written->release != NULL || written->original_path == NULL || kn_is_csv(written->original_path);
    kn_verify_request asked = {
        .release_path = written->path,
        .release_batches = release,
        .release_kind = written->kind,
        .original_batches = original,
        .tables = tables,
        .domains_path = written->original_path != NULL ? request->domains : NULL,
        .release_name = written->name,
        .original_path = written->original_path,
        .delimiter = as_written ? input->form.delimiter : input->csv.delimiter,
        .no_header = input->csv.no_header,
        .trim = input->csv.trim,
        .redact = input->redact,
        .encoding = input->csv.encoding,
        .null_values = input->csv.null_values,
        .n_null_values = input->csv.n_null_values,
        .invalid_is_missing = input->csv.invalid_is_missing,
        .columns = columns,
        .n_columns = input->table->n_columns,
        .derivations = written->original_path != NULL ? input->derived : NULL,
        .n_derivations = written->original_path != NULL ? input->n_derived : 0,
        .models = models,
        .n_models = specs->n,
        .certificate_path = written->certificate,
        .certificate_name = request->certificate,
        .measure = request->measure,
        .max_suppressed = input->max_suppressed == KN_UNLIMITED ? -1 : (int64_t)input->max_suppressed,
        .n_suppressed = written->release != NULL ? written->release->n_suppressed : 0,
        .every_check = written->release != NULL,
        .order = written->order,
        .n_order = written->n_order,
        .order_is_input = written->order_is_input,
        .ends_on_widths = written->guesses_trees,
        .counts_persons = request->person != NULL,
        .are_households = request->unit == KN_UNIT_HOUSEHOLD,
        .fold_sensitive = request->fold_sensitive,
        .guard_formulas = request->guard_formulas,
        .files = input->files,
        .pool = input->pool,
        .ticker = &input->ticker,
    };
    KN_TRY(kn_verify_files(out, &asked, err));
done:
    for (size_t i = 0; names != NULL && i < specs->n; i++) kn_free(names[i]);
    kn_free(names);
    kn_free(models);
    kn_free(columns);
    return status;
}
