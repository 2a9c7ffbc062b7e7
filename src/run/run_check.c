/* `kanon check`: a policy against a table, without writing anything. All problems, not only the first: columns that are
 * new or gone, hierarchies that do not fit, models that no release can meet, an algorithm that cannot serve them; then
 * how large the search is, and roughly what it will cost. */
#include "base/json_writer.h"
#include "hierarchy/build.h"
#include "run/copies.h"
#include "run/people.h"
#include "run/hierarchy_table.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checking {
    const kn_request *request;
    kn_input *input;
    const kn_algorithm *algorithm;
    kn_buffer findings; /* one per line */
    size_t n_findings;
    double n_nodes;        /* of the lattice; 0: not a full-domain search */
    double search_seconds; /* of one thread; negative: nobody knows */
} checking;

static void finding(checking *about, const char *format, const char *text)
{
    kn_buffer_printf(&about->findings, format, text);
    kn_buffer_char(&about->findings, '\n');
    about->n_findings++;
}

/* True when a step failed in a way the user can mend: it is a finding then. Everything else ends the check. */
static bool is_finding(checking *about, kn_status *status, kn_error *inner, kn_error *err)
{
    if (*status == KN_OK) return false;
    if (*status == KN_USAGE || *status == KN_INPUT || *status == KN_NOT_MET) {
        finding(about, "%s", inner->message);
        *status = KN_OK;
        return true;
    }
    kn_error_pass(err, *status, inner);
    return true;
}

/* Columns of the table that the policy does not name. Names that the table lacks are reported by the reading itself. */
static kn_status columns_check(checking *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    KN_TRY(kn_input_open(&source, about->input, about->request->data, err));
    bool is_error = about->request->unlisted == KN_UNLISTED_ERROR;
    for (uint32_t c = 0; c < kn_source_n_columns(source); c++) {
        const char *name = kn_source_column_name(source, c);
        char shown[KN_SHOWN_BYTES];
        if (is_error && !kn_settings_name_column(about->request->settings, name))
            finding(about, "column '%s' is in the table, but has no role",
                    kn_settings_column_shown(shown, about->request->settings, name, c));
    }
done:
    kn_source_close(source);
    return status;
}

/* Every hierarchy on its own, so that one that is wrong does not hide the next. */
static kn_status hierarchies_check(checking *about, bool must_be_tree, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    kn_domain *domain = NULL;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        const kn_column_choice *choice = &input->choices[c];
        if (column->role != KN_ROLE_QUASI && !(column->role == KN_ROLE_SENSITIVE && choice->hierarchy != NULL))
            continue;
        kn_error inner = {0};
        status = kn_input_domain(&domain, input, c, must_be_tree, &inner);
        bool failed = is_finding(about, &status, &inner, err);
        if (status != KN_OK) goto done;
        if (!failed && domain->tree != NULL && column->role == KN_ROLE_QUASI) {
            uint32_t top =
                choice->max_level < domain->tree->n_levels - 1 ? choice->max_level : domain->tree->n_levels - 1;
            about->n_nodes *= top >= choice->min_level ? top - choice->min_level + 1 : 1;
        }
        kn_domain_free(domain);
        domain = NULL;
    }
done:
    return status;
}

/* Each model alone, then what they need together. */
static kn_status goals_check(checking *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    kn_error inner = {0};
    kn_models *alone = NULL;
    status = kn_input_need_k(about->request, &inner);
    if (is_finding(about, &status, &inner, err)) return status;
    KN_TRY(kn_tuples_histograms(input->tuples, input->pool, err));
    for (size_t m = 0; m < about->request->models.n; m++) {
        kn_error one = {0};
        status = kn_models_read(&alone, (const char *const *)&about->request->models.items[m], 1, input->tuples,
                                &input->other_sources, input->pool, &one);
        is_finding(about, &status, &one, err);
        kn_models_free(alone);
        alone = NULL;
        if (status != KN_OK) goto done;
    }
    if (about->n_findings > 0) goto done;
    status = kn_input_goals(input, &inner);
    if (is_finding(about, &status, &inner, err)) goto done;
    kn_task task = {.tuples = input->tuples,
                    .models = input->models,
                    .objective = input->objective,
                    .max_suppressed = input->max_suppressed,
                    .effort = about->request->effort,
                    .pool = input->pool};
    status = kn_algorithm_fits(about->algorithm, &task, &inner);
    if (is_finding(about, &status, &inner, err)) goto done;
    if (about->algorithm->seconds != NULL) about->search_seconds = about->algorithm->seconds(&task);
done:
    return status;
}

/* Rough on purpose: an order of magnitude before somebody starts a run over lunch. */
static void cost_estimate(double *seconds, double *bytes, const checking *about)
{
    const kn_input *input = about->input;
    double tuples = input->tuples->n_tuples, columns = fmax(1, input->n_qis);
    double search = tuples * columns * log2(tuples + 2) * 1.5e-7;
    if (kn_algorithm_has_levels(about->algorithm)) search = about->n_nodes * tuples * 2e-9 * columns;
    if (about->search_seconds >= 0) search = about->search_seconds / kn_pool_threads(input->pool);
    if (about->request->time_limit > 0) search = fmin(search, about->request->time_limit);
    *seconds = 2 * (input->seconds_read + input->seconds_encode) + search;
    *bytes = (double)kn_memory_peak() + tuples * (16 * columns + 64);
}

static kn_status result_make(kn_result **out, checking *about, const kn_buffer *without_values, kn_error *err)
{
    kn_status status = KN_OK;
    kn_result *result = NULL;
    kn_buffer text = {0};
    kn_json json = {0};
    double seconds = NAN, bytes = NAN;
    const kn_input *input = about->input;
    KN_TRY(kn_result_new(&result, err));
    if (about->n_findings == 0) {
        cost_estimate(&seconds, &bytes, about);
        kn_buffer_printf(
            &text, "The policy fits the table\n  rows          %u, %u distinct combinations of %u quasi-identifiers\n",
            input->table->n_rows, input->tuples->n_tuples, input->n_qis);
        kn_buffer_printf(&text, "  algorithm     %s\n", about->algorithm->name);
        if (kn_algorithm_has_levels(about->algorithm))
            kn_buffer_printf(&text, "  lattice       %.0f combinations of levels\n", about->n_nodes);
        kn_buffer_printf(&text, "  estimate      about %.*f s and %.0f MB\n", seconds < 10, fmax(0.1, seconds),
                         ceil(bytes / 1e6));
    } else {
        kn_buffer_printf(&text, "%zu problem%s\n", about->n_findings, about->n_findings == 1 ? "" : "s");
    }
    for (const char *at = about->findings.bytes; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, "\n");
        kn_buffer_printf(&text, "  - %.*s\n", (int)n, at);
        at += n + (at[n] != '\0');
    }
    kn_json_object(&json, NULL);
    kn_json_bool(&json, "fits", about->n_findings == 0);
    kn_json_array(&json, "problems");
    for (const char *at = without_values->bytes; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, "\n");
        kn_json_bytes(&json, NULL, at, n);
        at += n + (at[n] != '\0');
    }
    kn_json_end(&json);
    kn_json_real(&json, "seconds", seconds);
    kn_json_real(&json, "bytes", bytes);
    kn_json_end(&json);
    KN_TRY(kn_json_finish(&result->json, &json, err));
    KN_TRY(kn_buffer_finish(&result->text, &text, err));
    KN_TRY(kn_input_deliver(about->input, result, err));
    *out = result;
    result = NULL;
done:
    kn_buffer_free(&text);
    kn_result_free(result);
    return status;
}

static kn_status checks_make(checking *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    kn_error inner = {0};
    const char *params, *why;
    KN_TRY(columns_check(about, err));
    if (about->n_findings > 0) return KN_OK; /* the roles must be right before anything else means something */
    status = kn_input_algorithm(&about->algorithm, &params, &why, about->request, NULL, &inner);
    if (is_finding(about, &status, &inner, err)) return status;
    status = kn_input_read(input, about->request->data, KN_COLUMNS_OF_DATA, &inner);
    if (is_finding(about, &status, &inner, err)) return status;
    status = kn_copies_check(input, &inner);
    is_finding(about, &status, &inner, err);
    if (status != KN_OK) return status;
    bool trees = kn_algorithm_needs_trees(about->algorithm);
    about->n_nodes = 1;
    KN_TRY(hierarchies_check(about, trees, err));
    if (about->n_findings > 0) return KN_OK;
    status = kn_input_encode(input, trees, &inner);
    if (is_finding(about, &status, &inner, err)) return status;
    KN_TRY(goals_check(about, err));
done:
    return status;
}

kn_status kn_job_check(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    checking about = {.request = request, .search_seconds = -1}, redacted = {.request = request};
    *out = NULL;
    KN_TRY(kn_input_new(&about.input, request, KN_OUTPUT_IF_ASKED, err));
    KN_TRY(checks_make(&about, err));
    /* JSON carries no values of the data: the same checks again, saying less. */
    if (about.n_findings > 0) {
        KN_TRY(kn_input_new_beside(&redacted.input, about.input, err));
        redacted.input->redact = redacted.input->csv.redact = true;
        KN_TRY(checks_make(&redacted, err));
    }
    KN_TRY(result_make(out, &about, &redacted.findings, err));
    if (about.n_findings > 0) status = KN_USAGE; /* the text says why */
done:
    kn_buffer_free(&about.findings);
    kn_buffer_free(&redacted.findings);
    kn_input_free(redacted.input);
    kn_input_free(about.input);
    return status;
}
