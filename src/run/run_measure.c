/* `kanon measure`: every measure of a release, from the two files alone. */
#include "recode/recode.h"
#include "report/facts.h"
#include "run/input.h"
#include "run/result.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static kn_status losses_text(kn_result *result, const kn_facts *facts, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0}, json = {0};
    json_t *losses = json_object(), *root;
    for (size_t i = 0; i < facts->n_losses; i++) {
        const kn_loss *loss = &facts->losses[i];
        if (isfinite(loss->value)) kn_buffer_printf(&text, "%-22s %.10g\n", loss->name, loss->value);
        else kn_buffer_printf(&text, "%-22s -\n", loss->name);
        json_object_set_new(losses, loss->name, isfinite(loss->value) ? json_real(loss->value) : json_null());
    }
    root = json_pack("{s:{s:I, s:I}, s:I, s:o}", "input", "rows", (json_int_t)facts->tuples->n_rows, "persons",
                     (json_int_t)facts->tuples->n_persons, "classes", (json_int_t)facts->release->n_classes, "loss",
                     losses);
    char *dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (dumped == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_buffer_text(&json, dumped);
    kn_buffer_char(&json, '\n');
    free(dumped);
    KN_TRY(kn_buffer_finish(&result->text, &text, err));
    KN_TRY(kn_buffer_finish(&result->json, &json, err));
done:
    kn_buffer_free(&text);
    kn_buffer_free(&json);
    return status;
}

kn_status kn_measure_files(kn_result **out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_release *release = NULL;
    kn_result *result = NULL;
    kn_facts facts = {0};
    const char *path = kn_settings_text(settings, "release");
    *out = NULL;
    if (path == NULL) KN_FAIL(KN_USAGE, "which release? Give DATA and RELEASE");
    KN_TRY(kn_input_new(&input, settings, err));
    KN_TRY(kn_input_read(input, "data", KN_COLUMNS_OF_DATA, NULL, 0, err));
    KN_TRY(kn_input_encode(input, false, err));
    kn_input_suppression(input);
    KN_TRY(kn_release_read(&release, path, &input->csv, input->tuples, kn_settings_flag(settings, "guard-formulas"),
                           input->max_suppressed > 0, input->pool, &input->ticker, err));
    facts.tuples = input->tuples;
    facts.release = release;
    KN_TRY(kn_facts_losses(&facts, input->pool, err));
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(losses_text(result, &facts, err));
    KN_TRY(kn_result_save_json(result, settings, err));
    KN_TRY(kn_buffer_finish(&result->warnings, &input->warnings, err));
    *out = result;
    result = NULL;
done:
    kn_facts_free(&facts);
    kn_result_free(result);
    kn_release_free(release);
    kn_input_free(input);
    return status;
}
