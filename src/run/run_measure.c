/* `kanon measure`: every measure of a release, from the two files alone. */
#include "base/json_writer.h"
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
    kn_json_count(&json, "classes", facts->release->n_classes);
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

kn_status kn_job_measure(kn_result **out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_release *release = NULL;
    kn_result *result = NULL;
    kn_facts facts = {0};
    const char *path = kn_settings_text(settings, "release");
    *out = NULL;
    if (path == NULL) KN_FAIL(KN_USAGE, "which release? Give DATA and RELEASE");
    KN_TRY(kn_input_new(&input, settings, false, err));
    KN_TRY(kn_input_read(input, "data", KN_COLUMNS_OF_DATA, err));
    KN_TRY(kn_input_encode(input, false, err));
    kn_input_suppression(input);
    KN_TRY(kn_release_read(&release, path, &input->csv, input->tuples, kn_settings_flag(settings, "guard-formulas"),
                           input->max_suppressed > 0, input->pool, &input->ticker, err));
    facts.tuples = input->tuples;
    facts.release = release;
    KN_TRY(kn_facts_losses(&facts, input->pool, err));
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(losses_text(result, &facts, err));
    KN_TRY(kn_buffer_finish(&result->warnings, &input->warnings, err));
    KN_TRY(kn_targets_text(input->targets, "json", result->json, err));
    KN_TRY(kn_targets_commit(input->targets, &input->ticker, err));
    *out = result;
    result = NULL;
done:
    kn_facts_free(&facts);
    kn_result_free(result);
    kn_release_free(release);
    kn_input_free(input);
    return status;
}
