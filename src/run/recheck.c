/* From settings and domains to a verification request; the verdict as text and JSON. */
#include "run/recheck.h"

#include "base/json_writer.h"

#include <string.h>

static kn_status list_columns(kn_verify_column **out, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    KN_NEW(*out, table->n_columns);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        (*out)[c] = (kn_verify_column){
            .name = column->name, .role = column->role, .type = column->type, .is_person = column->is_person};
        for (uint32_t q = 0; q < input->n_qis; q++)
            if (input->domains[q]->column == column) (*out)[c].domain = input->domains[q];
        for (uint32_t s = 0; input->tuples != NULL && s < input->tuples->n_sensitive; s++)
            if (input->tuples->sensitive[s].column == column) (*out)[c].tree = input->tuples->sensitive[s].tree;
    }
done:
    return status;
}

kn_status kn_recheck(kn_verdict **out, kn_input *input, const char *release_path, const char *release_name,
                     const char *original_path, const kn_known_order *order, kn_error *err)
{
    kn_status status = KN_OK;
    kn_verify_column *columns = NULL;
    kn_verify_model *models = NULL;
    char **names = NULL;
    *out = NULL;
    KN_TRY(list_columns(&columns, input, err));
    KN_NEW(models, input->n_models);
    KN_NEW(names, input->n_models);
    for (size_t i = 0; i < input->n_models; i++) {
        const char *spec = input->model_specs[i];
        size_t n = strcspn(spec, ":");
        names[i] = kn_string_copy(spec, n, err);
        if (names[i] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        models[i] = (kn_verify_model){names[i], spec[n] == ':' ? spec + n + 1 : ""};
    }
    kn_verify_request request = {
        .release_path = release_path,
        .release_name = release_name,
        .original_path = original_path,
        .delimiter = input->table->delimiter,
        .no_header = input->csv.no_header,
        .trim = input->csv.trim,
        .redact = input->redact,
        .latin1 = input->csv.encoding == KN_ENCODING_LATIN1,
        .null_values = input->csv.null_values,
        .n_null_values = input->csv.n_null_values,
        .columns = columns,
        .n_columns = input->table->n_columns,
        .models = models,
        .n_models = input->n_models,
        .max_suppressed = input->max_suppressed == KN_UNLIMITED ? -1 : (int64_t)input->max_suppressed,
        .order = order != NULL ? order->rows : NULL,
        .n_order = order != NULL ? order->n : 0,
        .order_is_input = order != NULL && order->is_input,
        .counts_persons = kn_settings_text(input->settings, "person") != NULL,
        .guard_formulas = kn_settings_flag(input->settings, "guard-formulas"),
        .pool = input->pool,
        .ticker = &input->ticker,
    };
    KN_TRY(kn_verify_files(out, &request, err));
done:
    for (size_t i = 0; names != NULL && i < input->n_models; i++) kn_free(names[i]);
    kn_free(names);
    kn_free(models);
    kn_free(columns);
    return status;
}

kn_status kn_verdict_status(const kn_verdict *verdict, bool all_models, kn_error *err)
{
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        const char *detail = check->detail != NULL ? check->detail : "";
        if (check->state == KN_CHECK_BROKEN)
            return kn_error_set(err, KN_NOT_MET, "%s does not hold: %s", check->name, detail);
        if (all_models && check->state == KN_CHECK_NOT_MADE && kn_privacy_find(check->name) != NULL)
            return kn_error_set(err, KN_NOT_MET, "%s could not be recounted on the written file: %s", check->name,
                                detail);
    }
    return KN_OK;
}

kn_status kn_verdict_text(char **out, const kn_verdict *verdict, kn_error *err)
{
    static const char *const states[] = {"holds", "BROKEN", "not made"};
    kn_buffer text = {0};
    kn_buffer_printf(&text, "%s: %llu rows in %llu classes, %llu suppressed, smallest class %llu\n",
                     verdict->holds ? "Holds" : "BROKEN", (unsigned long long)verdict->n_rows,
                     (unsigned long long)verdict->n_classes, (unsigned long long)verdict->n_suppressed,
                     (unsigned long long)verdict->smallest_class);
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        kn_buffer_printf(&text, "  %-9s %s", states[check->state], check->name);
        if (check->detail != NULL && *check->detail != '\0') kn_buffer_printf(&text, ": %s", check->detail);
        kn_buffer_char(&text, '\n');
    }
    return kn_buffer_finish(out, &text, err);
}

kn_status kn_verdict_json(char **out, const kn_verdict *verdict, kn_error *err)
{
    static const char *const states[] = {"holds", "broken", "not made"};
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_json_bool(&json, "holds", verdict->holds);
    kn_json_count(&json, "rows", verdict->n_rows);
    kn_json_count(&json, "classes", verdict->n_classes);
    kn_json_count(&json, "suppressed", verdict->n_suppressed);
    kn_json_count(&json, "smallest_class", verdict->smallest_class);
    kn_json_array(&json, "checks");
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        kn_json_object(&json, NULL);
        kn_json_text(&json, "name", check->name);
        kn_json_text(&json, "state", states[check->state]);
        kn_json_real(&json, "worst", check->worst);
        /* Details name classes and cells; only the reason why a check was not made is free of values. */
        kn_json_text(&json, "detail", check->state == KN_CHECK_NOT_MADE && check->detail != NULL ? check->detail : "");
        kn_json_end(&json);
    }
    kn_json_end(&json);
    kn_json_end(&json);
    return kn_json_finish(out, &json, err);
}
