/* Results and the version. */
#include "run/result.h"

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
    kn_free(result);
}

const char *kn_result_json(const kn_result *result) { return result->json != NULL ? result->json : "{}\n"; }
const char *kn_result_text(const kn_result *result) { return result->text != NULL ? result->text : ""; }
const char *kn_result_warnings(const kn_result *result) { return result->warnings != NULL ? result->warnings : ""; }

kn_status kn_result_table(const kn_result *result, struct ArrowArrayStream *out, kn_error *err)
{
    *out = (struct ArrowArrayStream){.release = NULL};
    if (result->batches == NULL)
        return kn_error_set(err, KN_USAGE,
                            "the result has no table: only kn_anonymize makes one, of a table in memory or with "
                            "`output` set to \"table:\"");
    return kn_batches_export(out, result->batches, err);
}
