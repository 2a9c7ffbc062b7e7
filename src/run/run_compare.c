/* `kanon compare`: one table, several algorithms and several k. The table is read once; domains and tuples are made
 * once for searches that need trees everywhere and once for those that do not. A run that is refused is a row with the
 * reason, not the end of the comparison. Nothing is released. */
#include "sink/output_file.h"
#include "recode/recode.h"
#include "report/compare.h"
#include "risk/risk.h"
#include "run/input.h"
#include "run/people.h"
#include "run/jobs.h"
#include "run/notes.h"
#include "run/result.h"
#include "run/run_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One encoding of the table. */
typedef struct encoding {
    bool made;
    kn_status status; /* of making it */
    kn_error reason;
    kn_domain **domains;
    kn_tuples *tuples;
} encoding;

typedef struct comparing {
    const kn_request *request;
    kn_input *input;
    encoding encodings[2]; /* trees everywhere: 1 */
    uint32_t n_qis;
    const kn_words *algorithms;    /* those asked for, or the one in force */
    const kn_algorithm *automatic; /* what "auto" stands for */
    kn_words in_force, ks;
    kn_compare compare;
} comparing;

static kn_status encode(encoding **out, comparing *all, bool trees, kn_error *err)
{
    kn_status status = KN_OK;
    encoding *one = &all->encodings[trees];
    kn_input *input = all->input;
    if (!one->made) {
        input->domains = NULL;
        input->tuples = NULL;
        status = kn_input_encode(input, trees, err);
        one->domains = input->domains;
        one->tuples = input->tuples;
        all->n_qis = input->n_qis;
        one->made = true;
        if (status == KN_OK) status = kn_tuples_histograms(one->tuples, input->pool, err);
        one->status = status;
        if (status != KN_OK && err != NULL) one->reason = *err;
    }
    if (one->status != KN_OK) return kn_error_pass(err, one->status, &one->reason);
    input->domains = one->domains;
    input->tuples = one->tuples;
    *out = one;
    return status;
}

static kn_status models_make(kn_models **out, const comparing *all, const char *k, kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    char first[64];
    const char **specs = NULL;
    size_t n = 1;
    KN_NEW(specs, all->request->models.n + 1);
    snprintf(first, sizeof first, "k-anonymity:k=%.40s", k);
    specs[0] = first;
    for (size_t i = 0; i < all->request->models.n; i++) {
        const char *spec = all->request->models.items[i];
        if (strncmp(spec, "k-anonymity", strlen("k-anonymity")) != 0) specs[n++] = spec;
    }
    KN_TRY(kn_models_read(out, specs, n, tuples, &all->input->other_sources, all->input->pool, err));
done:
    kn_free(specs);
    return status;
}

static kn_status search_and_count(kn_compare_row *row, const kn_algorithm *algorithm, const kn_task *task,
                                  kn_error *err)
{
    kn_status status = KN_OK;
    kn_answer answer = {.bound = NAN};
    kn_release *release = NULL;
    kn_risk_classes classes = {0};
    kn_risk_sizes risk;
    double began = kn_seconds_now();
    KN_TRY(kn_algorithm_fits(algorithm, task, err));
    KN_TRY(kn_algorithm_run(&answer, algorithm, task, task->ticker->search_deadline, err));
    row->seconds = kn_seconds_now() - began;
    KN_TRY(kn_recode(&release, &answer, task, err));
    KN_TRY(kn_objective_loss(&row->loss, task->objective, release, err));
    KN_TRY(kn_risk_classes_of_release(&classes, release, err));
    kn_risk_sizes_count(&risk, &classes, NULL, 1, KN_RISK_THRESHOLD);
    row->average_risk = risk.prosecutor.average;
    row->highest_risk = risk.prosecutor.highest;
    row->n_classes = kn_release_seen_classes(release);
    row->n_suppressed = release->n_suppressed;
done:
    kn_risk_classes_free(&classes);
    kn_release_free(release);
    kn_answer_free(&answer);
    return status;
}

static const char *named_search(const comparing *all, const char *spec)
{
    return strcmp(spec, "auto") == 0 ? all->automatic->name : spec;
}

/* One algorithm with one k. */
static kn_status run_one(kn_compare_row *row, comparing *all, const char *spec, const char *k, kn_error *err)
{
    kn_status status = KN_OK;
    kn_args args = {0};
    kn_models *models = NULL;
    kn_objective *objective = NULL;
    encoding *one = NULL;
    const kn_request *request = all->request;
    const kn_algorithm *algorithm;
    const char *params;
    KN_TRY(kn_input_named_algorithm(&algorithm, &params, spec, "algorithms", err));
    KN_TRY(kn_args_parse(&args, algorithm->name, algorithm->params, algorithm->n_params, params, err));
    KN_TRY(encode(&one, all, kn_algorithm_needs_trees(algorithm), err));
    KN_TRY(models_make(&models, all, k, one->tuples, err));
    KN_TRY(kn_measure_join(request->measure, one->tuples, err));
    KN_TRY(kn_objective_new(&objective, request->measure, one->tuples, err));
    kn_input_suppression(all->input);
    kn_ticker_limit(&all->input->ticker, request->time_limit);
    kn_task task = {.tuples = one->tuples,
                    .models = models,
                    .objective = objective,
                    .args = &args,
                    .max_suppressed = all->input->max_suppressed,
                    .seed = request->seed,
                    .effort = request->effort,
                    .pool = all->input->pool,
                    .ticker = &all->input->ticker};
    KN_TRY(search_and_count(row, algorithm, &task, err));
done:
    kn_objective_free(objective);
    kn_models_free(models);
    kn_args_free(&args);
    return status;
}

static kn_status runs_make(comparing *all, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(all->compare.rows, all->algorithms->n * all->ks.n + 1);
    for (size_t a = 0; a < all->algorithms->n; a++)
        for (size_t i = 0; i < all->ks.n; i++) {
            kn_compare_row *row = &all->compare.rows[all->compare.n_rows];
            kn_error inner = {0};
            const char *spec = named_search(all, all->algorithms->items[a]);
            *row = (kn_compare_row){.k = strtoull(all->ks.items[i], NULL, 10), .loss = NAN};
            row->algorithm = kn_string_copy(spec, strlen(spec), err);
            if (row->algorithm == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
            all->compare.n_rows++;
            kn_note(all->input, "%s with k=%s", row->algorithm, all->ks.items[i]);
            status = run_one(row, all, spec, all->ks.items[i], &inner);
            if (status == KN_OK) kn_note_stage(all->input, "search", row->seconds);
            if (status == KN_OK) continue;
            if (status == KN_INTERRUPTED || status == KN_RESOURCES || status == KN_INPUT)
                KN_TRY(kn_error_pass(err, status, &inner));
            row->refusal = kn_string_copy(inner.message, strlen(inner.message), err);
            if (row->refusal == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
            status = KN_OK;
        }
    kn_compare_frontier(&all->compare);
done:
    return status;
}

static kn_status request_read(comparing *all, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_request *request = all->request;
    const char *params, *why;
    const kn_algorithm *chosen;
    if (request->k == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "k"), "how many people must look alike? Give a list: -k 2,5,10");
    KN_TRY(kn_words_parse(&all->ks, request->k, err));
    for (size_t i = 0; i < all->ks.n; i++)
        if (strspn(all->ks.items[i], "0123456789") != strlen(all->ks.items[i]))
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "k"), "--k: '%.40s' is not a number", all->ks.items[i]);
    kn_request automatic = *request;
    automatic.algorithm = "auto";
    KN_TRY(kn_input_algorithm(&all->automatic, &params, &why, &automatic, all->input->table, err));
    all->algorithms = &request->algorithms;
    if (request->algorithms.n == 0) {
        KN_TRY(kn_input_algorithm(&chosen, &params, &why, request, all->input->table, err));
        KN_TRY(kn_words_parse(&all->in_force, request->algorithm, err));
        all->algorithms = &all->in_force;
    }
    for (size_t i = 0; i < all->algorithms->n; i++) { /* a name that does not exist is a slip, not a result */
        const char *spec = named_search(all, all->algorithms->items[i]);
        KN_TRY(kn_input_named_algorithm(&chosen, &params, spec, "algorithms", err));
    }
done:
    return status;
}

static kn_status results_make(kn_result **out, comparing *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_result *result = NULL;
    char *csv = NULL, *html = NULL;
    kn_targets *targets = all->input->targets;
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_compare_text(&result->text, &all->compare, err));
    KN_TRY(kn_compare_json(&result->json, &all->compare, err));
    KN_TRY(kn_compare_csv(&csv, &all->compare, err));
    KN_TRY(kn_targets_text(targets, "output", csv, err));
    if (all->request->report != NULL) {
        KN_TRY(kn_compare_html(&html, &all->compare, all->request->language, err));
        KN_TRY(kn_targets_text(targets, "report", html, err));
    }
    KN_TRY(kn_input_deliver(all->input, result, err));
    *out = result;
    result = NULL;
done:
    kn_free(csv);
    kn_free(html);
    kn_result_free(result);
    return status;
}

static void clean_up(comparing *all)
{
    for (int e = 0; e < 2; e++) {
        kn_tuples_free(all->encodings[e].tuples);
        for (uint32_t q = 0; all->encodings[e].domains != NULL && q < all->n_qis; q++)
            kn_domain_free(all->encodings[e].domains[q]);
        kn_free(all->encodings[e].domains);
    }
    for (size_t i = 0; i < all->compare.n_rows; i++) {
        kn_free(all->compare.rows[i].algorithm);
        kn_free(all->compare.rows[i].refusal);
    }
    kn_free(all->compare.rows);
    kn_words_free(&all->in_force);
    kn_words_free(&all->ks);
    if (all->input != NULL) {
        all->input->domains = NULL;
        all->input->tuples = NULL;
    }
    kn_input_free(all->input);
}

kn_status kn_job_compare(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    comparing all = {.request = request};
    *out = NULL;
    KN_TRY(kn_input_new(&all.input, request, KN_OUTPUT_IF_ASKED, err));
    KN_TRY(kn_input_read(all.input, request->data, KN_COLUMNS_OF_DATA, err));
    if (all.input->table->n_rows == 0) kn_sentences_add(&all.input->warnings, kn_said(KN_SAY_EMPTY_TABLE));
    KN_TRY(kn_input_need_qis(all.input, err)); /* before it is the reason of every row */
    KN_TRY(request_read(&all, err));
    all.compare.data_name = all.input->table->source;
    all.compare.origin = kn_run_page_origin(request);
    all.compare.measure = request->measure;
    KN_TRY(runs_make(&all, err));
    KN_TRY(results_make(out, &all, err));
done:
    clean_up(&all);
    return status;
}
