/* Results and the version. */
#include "run/result.h"

#include "sink/arrow_write.h"

#include <string.h>

const char *kn_version(void) { return KN_VERSION; }

kn_status kn_result_new(kn_result **out, kn_error *err)
{
    kn_status status = KN_OK;
    *out = NULL;
    KN_NEW(*out, 1);
done:
    return status;
}

void kn_result_free(kn_result *result)
{
    if (result == NULL) return;
    kn_free(result->json);
    kn_free(result->text);
    kn_free(result->warnings);
    kn_batches_drop(result->batches);
    kn_free(result->null_text);
    kn_free(result->records);
    for (size_t i = 0; i < KN_N_KEPT; i++) kn_free(result->kept[i].text);
    kn_free(result);
}

const char *kn_result_json(const kn_result *result) { return result->json != NULL ? result->json : "{}\n"; }
const char *kn_result_text(const kn_result *result) { return result->text != NULL ? result->text : ""; }
const char *kn_result_warnings(const kn_result *result) { return result->warnings != NULL ? result->warnings : ""; }

const char *kn_result_kept(const kn_result *result, const char *option)
{
    for (size_t i = 0; i < KN_N_KEPT; i++)
        if (result->kept[i].option != NULL && strcmp(result->kept[i].option, option) == 0) return result->kept[i].text;
    return NULL;
}

const uint32_t *kn_result_records(const kn_result *result, size_t *n)
{
    *n = result->n_records;
    return result->records;
}

static kn_status has_table(const kn_result *result, kn_error *err)
{
    if (result->batches != NULL) return KN_OK;
    return kn_error_set(
        err, KN_USAGE,
        "the result has no table: only kn_anonymize makes one, of a table in memory or with `output` set "
        "to \"table:\"");
}

kn_status kn_result_table(const kn_result *result, struct ArrowArrayStream *out, kn_error *err)
{
    *out = (struct ArrowArrayStream){.release = NULL};
    kn_status status = has_table(result, err);
    if (status != KN_OK) return status;
    return kn_batches_export(out, result->batches, err);
}

kn_status kn_result_csv(const kn_result *result, kn_write_fn write, void *user, kn_error *err)
{
    kn_status status = has_table(result, err);
    if (status != KN_OK) return status;
    return kn_arrays_to_csv(result->batches, result->null_text, &result->form, write, user, err);
}
