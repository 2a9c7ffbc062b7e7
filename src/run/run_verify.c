/* `kanon verify`: the checks that the files alone can show. With --original also that values generalize, that copied
 * columns are unchanged and that no identifier left; with --order input on both sides row by row. */
#include "duckdb/duckdb.h"
#include "run/recheck.h"
#include "run/jobs.h"
#include "run/result.h"

#include <string.h>

/* A release of ours is UTF-8, whatever the table was; another one may be in the original's encoding. */
static void find_encoding(kn_input *input, const char *release)
{
    kn_csv_reader *reader = NULL;
    kn_csv_options utf8 = input->csv;
    if (!kn_is_csv(release)) return;
    utf8.encoding = KN_ENCODING_UTF8;
    if (kn_csv_open(&reader, release, &utf8, NULL) == KN_OK) input->csv.encoding = KN_ENCODING_UTF8;
    kn_csv_close(reader);
}

/* Without the original the release itself says which columns there are. */
static kn_status read_columns(kn_input *input, const char *original, kn_error *err)
{
    const kn_request *request = input->request;
    const bool has_original = original != NULL;
    kn_status status = KN_OK;
    if (!has_original) {
        input->csv.guarded_names = input->request->guard_formulas;
        find_encoding(input, request->release);
    }
    KN_TRY(kn_input_read(input, has_original ? original : request->release,
                         has_original ? KN_COLUMNS_OF_ORIGINAL : KN_COLUMNS_OF_RELEASE, err));
    if (has_original) KN_TRY(kn_input_encode_again(input, err));
    KN_TRY(kn_input_need_k(request, err));
    /* A limit is checked only where one is given: the default of 0 is the search's, not the reader's. */
    kn_input_suppression(input);
    if (!request->max_suppressed.given) input->max_suppressed = KN_UNLIMITED;
done:
    return status;
}

/* Broken as releases of a full-domain search are that are taken for those of a local one: values that it would write
 * otherwise, bounds and means that do not go with its labels and grid, or * everywhere in all rows, which is the top of
 * every tree there. */
static bool may_be_of_trees(const kn_verdict *verdict)
{
    const bool all_stars = verdict->n_rows > 0 && verdict->n_suppressed == verdict->n_rows;
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        if (check->name == NULL || check->state != KN_CHECK_BROKEN) continue;
        if (strcmp(check->name, KN_CHECK_VALUES) == 0 || strcmp(check->name, KN_CHECK_COLUMNS) == 0) return true;
        if (strcmp(check->name, KN_CHECK_SUPPRESSED) == 0 && all_stars) return true;
    }
    return false;
}

/* Where nobody says which search made the release, values are read as those of a local one. A full-domain search gives
 * columns without a hierarchy the automatic tree, whose intervals end elsewhere: what generalizes the original by
 * those is as good. */
static kn_status try_trees(kn_verdict **verdict, kn_input *input, const kn_written *written, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error ignored = {0};
    kn_verdict *again = NULL;
    kn_domain **domains = input->domains;
    kn_tuples *tuples = input->tuples;
    const size_t n_warnings = input->warnings.n;
    kn_written guess = *written;
    if (domains == NULL || !may_be_of_trees(*verdict) || !kn_input_may_have_trees(input)) return KN_OK;
    guess.guesses_trees = true;
    input->domains = NULL;
    input->tuples = NULL;
    status = kn_input_encode(input, true, &ignored);
    if (status == KN_OK) status = kn_recheck(&again, input, &guess, &ignored);
    if (status == KN_OK && again->state != KN_VERDICT_BROKEN) {
        kn_verdict *broken = *verdict;
        *verdict = again;
        again = broken;
    }
    if (status != KN_INTERRUPTED && status != KN_RESOURCES) status = KN_OK; /* no tree, then: the first word stands */
    else kn_error_pass(err, status, &ignored);
    kn_input_forget_domains(input);
    input->domains = domains;
    input->tuples = tuples;
    input->warnings.n = n_warnings;
    kn_verdict_free(again);
    return status;
}

kn_status kn_job_verify(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_verdict *verdict = NULL;
    kn_result *result = NULL;
    uint32_t *order = NULL;
    const char *release = request->release, *original = request->sql != NULL ? KN_SQL_TABLE : request->original;
    *out = NULL;
    if (release == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "release"),
                   "which release? Give the name of a CSV, Parquet or JSON file");
    if (request->sql != NULL && request->original != NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "sql"), "--sql is the original already; leave out --original");
    KN_TRY(kn_input_new(&input, request, KN_OUTPUT_IF_ASKED, err));
    KN_TRY(read_columns(input, original, err));
    bool same_order = request->order == KN_ORDER_INPUT;
    if (same_order && original != NULL) {
        KN_NEW_RAW(order, input->table->n_rows);
        for (uint32_t row = 0; row < input->table->n_rows; row++) order[row] = row;
    }
    kn_written written = {.path = release,
                          .kind = kn_file_kind_of(release),
                          .name = strcmp(release, "-") == 0 ? "standard input" : release,
                          .original_path = original != NULL ? input->path : NULL,
                          .certificate = request->certificate,
                          .order = order,
                          .n_order = input->table->n_rows,
                          .order_is_input = same_order};
    KN_TRY(kn_recheck(&verdict, input, &written, err));
    KN_TRY(try_trees(&verdict, input, &written, err));
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_verdict_text(&result->text, verdict, err));
    KN_TRY(kn_verdict_json(&result->json, verdict, err));
    KN_TRY(kn_input_deliver(input, result, err));
    *out = result;
    result = NULL;
    KN_TRY(kn_verdict_status(verdict, err));
done:
    kn_free(order);
    kn_verdict_free(verdict);
    kn_result_free(result);
    kn_input_free(input);
    return status;
}
