/* `kanon verify`: the checks that the files alone can show. With --original also that values generalize, that copied
 * columns are unchanged and that no identifier left; with --order input on both sides row by row. */
#include "run/recheck.h"
#include "run/result.h"

#include <string.h>

static kn_status released_names(char ***out, size_t *n, const char *path, const kn_csv_options *csv, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_reader *reader = NULL;
    *out = NULL;
    *n = 0;
    KN_TRY(kn_csv_open(&reader, path, csv, err));
    KN_NEW(*out, kn_csv_n_columns(reader));
    for (; *n < kn_csv_n_columns(reader); (*n)++) {
        const char *name = kn_csv_column_name(reader, (uint32_t)*n);
        (*out)[*n] = kn_string_copy(name, strlen(name), err);
        if ((*out)[*n] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    }
done:
    kn_csv_close(reader);
    return status;
}

/* Without the original the release itself says which columns there are. */
static kn_status read_columns(kn_input *input, const char *release, bool has_original, kn_error *err)
{
    kn_status status = KN_OK;
    char **names = NULL;
    size_t n_names = 0;
    kn_csv_options utf8 = input->csv;
    kn_error not_utf8 = {{0}};
    utf8.encoding = KN_ENCODING_UTF8;
    status = released_names(&names, &n_names, release, &utf8, &not_utf8);
    if (status != KN_OK && input->csv.encoding == KN_ENCODING_UTF8) KN_FAIL(status, "%s", not_utf8.message);
    if (status != KN_OK) KN_TRY(released_names(&names, &n_names, release, &input->csv, err));
    else if (!has_original)
        input->csv.encoding = KN_ENCODING_UTF8; /* a release of ours is UTF-8, whatever the table was */
    KN_TRY(kn_input_read(input, has_original ? "original" : "release",
                         has_original ? KN_COLUMNS_OF_ORIGINAL : KN_COLUMNS_OF_RELEASE, names, n_names, err));
    if (has_original) KN_TRY(kn_input_encode(input, false, err));
    KN_TRY(kn_input_model_specs(input, err));
    /* A limit is checked only where one is given: the default of 0 is the search's, not the reader's. */
    kn_input_suppression(input);
    if (kn_settings_text(input->settings, "max-suppressed") == NULL) input->max_suppressed = KN_UNLIMITED;
done:
    for (size_t i = 0; i < n_names; i++) kn_free(names[i]);
    kn_free(names);
    return status;
}

kn_status kn_verify(kn_result **out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_verdict *verdict = NULL;
    kn_result *result = NULL;
    uint32_t *order = NULL;
    const char *release = kn_settings_text(settings, "release"), *original = kn_settings_text(settings, "original");
    const char *order_text = kn_settings_text(settings, "order");
    *out = NULL;
    if (release == NULL) KN_FAIL(KN_USAGE, "which release? Give the name of a CSV file");
    KN_TRY(kn_input_new(&input, settings, err));
    if (strcmp(release, "-") == 0) KN_FAIL(KN_USAGE, "the release is read twice and cannot be standard input");
    KN_TRY(read_columns(input, release, original != NULL, err));
    bool same_order = original != NULL && order_text != NULL && strcmp(order_text, "input") == 0;
    if (same_order) {
        KN_NEW_RAW(order, input->table->n_rows);
        for (uint32_t row = 0; row < input->table->n_rows; row++) order[row] = row;
    }
    kn_known_order known = {order, input->table->n_rows, true};
    KN_TRY(kn_recheck(&verdict, input, release, release, original != NULL ? input->path : NULL,
                      same_order ? &known : NULL, err));
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_verdict_text(&result->text, verdict, err));
    KN_TRY(kn_verdict_json(&result->json, verdict, err));
    KN_TRY(kn_result_save_json(result, settings, err));
    KN_TRY(kn_buffer_finish(&result->warnings, &input->warnings, err));
    *out = result;
    result = NULL;
    KN_TRY(kn_verdict_status(verdict, false, err));
done:
    kn_free(order);
    kn_verdict_free(verdict);
    kn_result_free(result);
    kn_input_free(input);
    return status;
}
