/* `kanon measure`: every measure of a release, from the two files alone. */
#include "duckdb/duckdb.h"
#include "base/json_writer.h"
#include "hierarchy/bounds.h"
#include "recode/recode.h"
#include "report/facts.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/result.h"

#include <math.h>

static kn_status losses_text(kn_result *result, const kn_facts *facts, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_json_object(&json, "input");
    kn_json_count(&json, "rows", facts->tuples->n_rows);
    kn_json_count(&json, "persons", facts->tuples->n_persons);
    kn_json_end(&json);
    kn_json_count(&json, "classes", kn_release_seen_classes(facts->release));
    kn_json_object(&json, "loss");
    for (size_t i = 0; i < facts->n_losses; i++) {
        const kn_loss *loss = &facts->losses[i];
        if (isfinite(loss->value)) kn_buffer_printf(&text, "%-22s %.10g\n", loss->name, loss->value);
        else kn_buffer_printf(&text, "%-22s -\n", loss->name);
        kn_json_real(&json, loss->name, loss->value);
    }
    kn_json_end(&json);
    kn_json_end(&json);
    KN_TRY(kn_json_finish(&result->json, &json, err));
    KN_TRY(kn_buffer_finish(&result->text, &text, err));
done:
    kn_buffer_free(&text);
    return status;
}

/* Without a header the columns of a release are those of the table that leave, in its order. */
static kn_status name_columns(kn_csv_options *csv, const char ***names, const kn_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(*names, table->n_columns);
    csv->names = *names;
    csv->n_names = 0;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_role role = table->columns[c].role;
        if (role != KN_ROLE_IDENTIFIER && role != KN_ROLE_DROPPED) (*names)[csv->n_names++] = table->columns[c].name;
    }
done:
    return status;
}

/* A release of ours is UTF-8, and looks otherwise like the table. */
static kn_status read_release(kn_release **out, kn_input *input, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_bounds_join *joins = NULL;
    const char **names = NULL;
    kn_csv_options csv = input->csv;
    csv.name = NULL;
    csv.encoding = KN_ENCODING_UTF8;
    const bool is_guarded = input->request->guard_formulas || kn_schema_is_guarded(input->schema);
    csv.guarded_names = is_guarded;
    if (kn_is_csv(input->path)) csv.delimiter = input->form.delimiter;
    kn_release_options options = {
        .guard_formulas = is_guarded, .may_suppress = input->max_suppressed > 0, .redact = input->redact};
    kn_source_options sources = input->sources;
    sources.csv = &csv;
    if (csv.no_header) KN_TRY(name_columns(&csv, &names, input->table, err));
    KN_TRY(kn_source_open(&source, path, &sources, err));
    KN_NEW(joins, input->n_qis + 1);
    for (uint32_t q = 0; q < input->n_qis; q++) {
        kn_bounds_form form;
        KN_TRY(kn_bounds_form_of(&form, input->domains[q], err));
        joins[q] = (kn_bounds_join){input->domains[q]->name, form.max_included};
    }
    KN_TRY(kn_source_join_bounds(source, joins, input->n_qis, &sources, err));
    KN_TRY(kn_release_read(out, source, path, input->tuples, &options, input->pool, &input->ticker, err));
done:
    kn_free(joins);
    kn_source_close(source);
    kn_free(names);
    return status;
}

/* Nobody may have said which search made the release: one with cells that are none of a local one's can be one with
 * automatic trees. A file that could not be read is no such release. */
static kn_status read_either(kn_release **out, kn_input *input, const char *path, kn_error *err)
{
    kn_error first = {0}, ignored = {0};
    const kn_status status = read_release(out, input, path, &first);
    if (status == KN_OK) return KN_OK;
    const bool is_about_cells = status == KN_INPUT && first.column[0] != '\0';
    if (!is_about_cells || !kn_input_may_have_trees(input)) return kn_error_pass(err, status, &first);
    kn_input_forget_domains(input);
    if (kn_input_encode(input, true, &ignored) == KN_OK && read_release(out, input, path, &ignored) == KN_OK)
        return KN_OK;
    return kn_error_pass(err, status, &first);
}

kn_status kn_job_measure(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_release *release = NULL;
    kn_result *result = NULL;
    kn_facts facts = {0};
    *out = NULL;
    if (request->release == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "release"), "which release? Give DATA and RELEASE");
    KN_TRY(kn_input_new(&input, request, KN_OUTPUT_IF_ASKED, err));
    input->labels_make_trees = true;
    KN_TRY(kn_input_read(input, request->data, KN_COLUMNS_OF_DATA, err));
    KN_TRY(kn_input_encode_again(input, err));
    kn_input_suppression(input);
    KN_TRY(read_either(&release, input, request->release, err));
    facts.tuples = input->tuples;
    facts.release = release;
    KN_TRY(kn_facts_losses(&facts, input->pool, err));
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(losses_text(result, &facts, err));
    KN_TRY(kn_input_deliver(input, result, err));
    *out = result;
    result = NULL;
done:
    kn_facts_free(&facts);
    kn_result_free(result);
    kn_release_free(release);
    kn_input_free(input);
    return status;
}
