/* The pipeline: read, encode, search, recode, verify, report. Start reading here.
 *
 *   kn_input_read     CSV to encoded columns                                      source/, table/
 *   kn_input_encode   domains with their hierarchies, distinct tuples with counts  hierarchy/, classes/
 *   kn_input_goals    models and measure                                          privacy/, measure/
 *   search            the algorithm's answer                                      search/
 *   kn_recode         classes and their generalized values                        recode/
 *   kn_recode_given   or what an engine made of the records, instead of both      recode/
 *   kn_bound_new      how little any release can lose                             bound/
 *   kn_release_write  the file, beside its target, not yet in its place; or kn_release_arrays in memory   sink/
 *   kn_recheck        the written file counted again by other code                verify/
 *   kn_facts_*        measures, JSON and summary                                  measure/, report/
 *   kn_input_deliver  only now JSON, report, schema and release take their places sink/ */
#include "bound/bound.h"
#include "duckdb/duckdb.h"
#include "measure/class_column.h"
#include "recode/recode.h"
#include "search/cluster/polish.h"
#include "report/codebook.h"
#include "report/facts.h"
#include "run/run_certificate.h"
#include "run/run_report.h"
#include "run/run_schema.h"
#include "run/run_state.h"
#include "run/copies.h"
#include "run/expected.h"
#include "run/input.h"
#include "run/recheck.h"
#include "run/jobs.h"
#include "run/ledger.h"
#include "run/notes.h"
#include "run/result.h"
#include "sink/arrow_write.h"
#include "sink/csv_write.h"

#include <math.h>
#include <string.h>

typedef struct run {
    kn_input *input;
    const kn_request *request;
    const kn_algorithm *algorithm;
    const char *algorithm_params, *why;
    kn_args args;
    kn_trace trace;
    kn_task task;
    kn_state_file state;
    kn_ledger *ledger; /* NULL: nobody asked for it */
    kn_answer answer;
    kn_bound *bound;
    kn_release *release;
    kn_output *output;            /* borrowed; NULL where the release stays in memory */
    kn_batches *batches;          /* NULL where it goes to a file */
    uint32_t *records, n_records; /* of a table with counts: those that were written, in their order */
    kn_verdict *verdict;
    kn_facts facts;
    double began, mark; /* of the run; of the stage under way */
    uint32_t *must_pay; /* of the task; NULL: none */
    bool has_bound;     /* the quick one was found before the search */
} run;

/* A stage ends here, and the next one begins: so the stages add up to the total. */
static void end_stage(run *r, const char *stage, double *seconds)
{
    double now = kn_seconds_now();
    *seconds = now - r->mark;
    kn_note_stage(r->input, stage, *seconds);
    r->mark = now;
    r->facts.seconds.total = now - r->began;
}

/* A time limit is for the whole run. Parts of it: what the quick bound may take, the least that a search gets, and what
 * is put by beyond what the rest is expected to take. The quick bound comes before a search that asks for it; otherwise
 * it has what is left once the release is verified, so that it makes up for what the rest took longer. A proof that was
 * asked for has a share of what search and proof have together, and what the search leaves of its own. */
static const double BOUND_SHARE = 0.05, LEAST_SEARCH = 0.05, LEAST_PROOF = 0.02, SPARE = 0.02, PROOF_SHARE = 0.5,
                    LONGER = 1.3;
/* It is not begun where it would take longer: so many times what reading took, and no less than so much per row. */
static const double BOUND_PER_READ = 15, BOUND_PER_ROW = 3e-6;

/* From so many rows on a search that asks for it is told what rows must pay (docs/certificate.md has what that gains).
 * Smaller tables were not measured. */
enum { LEAST_TOLD = 1000 };

static bool tells_search(const run *r)
{
    return r->algorithm->asks_must_pay && r->request->given == NULL && r->input->tuples->n_rows >= LEAST_TOLD;
}

static bool asks_for_proof(const kn_request *request) { return request->certify || request->certificate != NULL; }

static double seconds_left(const run *r) { return r->request->time_limit - (kn_seconds_now() - r->began); }

/* What is left once the rest of the run is over. A proof can do with less, so it leaves more than is expected. */
static double seconds_granted(const run *r)
{
    const double after = kn_expected_after(r->input) * (asks_for_proof(r->request) ? LONGER : 1);
    return seconds_left(r) - after - SPARE * r->request->time_limit;
}

/* The time that the search has, 0: no limit. */
static double limit_search(run *r)
{
    const double limit = r->request->time_limit;
    double granted = seconds_granted(r);
    if (limit <= 0) return 0;
    if (asks_for_proof(r->request)) granted *= 1 - PROOF_SHARE;
    else if (!r->has_bound) granted -= BOUND_SHARE * limit;
    return fmax(granted, LEAST_SEARCH * limit);
}

static kn_status prepare_task(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = r->input;
    const kn_request *request = r->request;
    status = kn_args_parse(&r->args, r->algorithm->name, r->algorithm->params, r->algorithm->n_params,
                           r->algorithm_params, err);
    KN_TRY(kn_error_about(err, status, KN_PLACE(.option = "algorithm")));
    r->trace.explain = request->explain;
    size_t used_bytes = kn_memory_used();
    r->task = (kn_task){
        .tuples = input->tuples,
        .models = input->models,
        .objective = input->objective,
        .args = &r->args,
        .max_suppressed = input->max_suppressed,
        .seed = request->seed,
        .effort = request->effort,
        .memory_bytes = request->memory > used_bytes ? request->memory - used_bytes : 0,
        .pool = input->pool,
        .ticker = &input->ticker,
        .trace = &r->trace,
    };
    kn_ticker_limit(&input->ticker, limit_search(r));
    if (request->given == NULL)
        KN_TRY(kn_error_about(err, kn_algorithm_fits(r->algorithm, &r->task, err), KN_PLACE(.option = "algorithm")));
    if (request->given != NULL && request->polish)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "polish"),
                   "--polish changes a release, and --given says what it is; leave one of them out");
    KN_TRY(kn_state_file_open(&r->state, request, r->algorithm, err));
    if (request->state != NULL) r->task.saved = &r->state.saved;
    if (request->certificate != NULL) KN_TRY(kn_certificate_possible(&r->task, err));
done:
    return status;
}

/* Under `grid: exact`, or an order, what cut points make of numbers and dates in a hierarchy ends at somebody's cell.
 */
static void warn_of_cuts(run *r)
{
    const kn_tuples *tuples = r->task.tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        char shown[KN_SHOWN_BYTES];
        if (r->answer.recoding != KN_RECODING_CUTS || domain->kind != KN_DOMAIN_TREE) continue;
        if (domain->column->type == KN_TYPE_TEXT || !kn_part_ends_at_values(domain) ||
            kn_part_form_of(domain, r->answer.part_nodes) == KN_PART_NODE)
            continue;
        const char *name = kn_settings_column_shown(shown, r->input->request->settings, domain->name,
                                                    (uint32_t)(domain->column - r->input->table->columns));
        kn_sentences_add(&r->input->warnings, KN_SAID(KN_SAY_GRID_EXACT, kn_piece_text(name)));
    }
}

/* A table without rows has one release: searches that make classes or cuts of rows are not asked. */
static kn_status search_rows(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    if (r->task.tuples->n_rows > 0 || r->algorithm->recoding == KN_RECODING_LEVELS)
        return kn_algorithm_run(&r->answer, r->algorithm, &r->task,
                                r->request->time_limit > 0 ? r->began + r->request->time_limit : 0, err);
    r->answer = (kn_answer){.recoding = KN_RECODING_LOCAL, .bound = NAN};
    r->answer.optimal = r->task.objective->type->monotone;
    KN_NEW(r->answer.row_class, 1);
done:
    return status;
}

/* An interrupted anytime search still answers; the request is then served and the run goes on to its end. */
static kn_status search(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    static const char *const stopped[] = {"done", "budget", "time", "interrupt", "still"};
    kn_note(r->input, "algorithm %s%s%s%s", r->algorithm->name, r->why != NULL ? " (" : "",
            r->why != NULL ? r->why : "", r->why != NULL ? ")" : "");
    KN_TRY(search_rows(r, err));
    kn_note(r->input, "searched until: %s; %llu nodes or moves looked at", stopped[r->answer.stopped],
            (unsigned long long)r->answer.n_nodes);
    if (r->answer.stopped == KN_STOPPED_INTERRUPT) kn_ticker_serve(&r->input->ticker);
    if (r->answer.followed != KN_SAY_NOTHING)
        kn_sentences_add(&r->input->warnings, KN_SAID(r->answer.followed, kn_piece_text(r->algorithm->name),
                                                      kn_piece_text(r->task.objective->type->name)));
    warn_of_cuts(r);
    end_stage(r, "search", &r->facts.seconds.search);
done:
    return status;
}

/* The clusters of a local recoding, before those that look alike become one class. Where all of them are classes, each
 * is the class of its number (recode.c), and has been counted. */
static kn_status count_clusters(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = r->task.tuples;
    kn_histograms own = {0};
    const kn_histograms *histograms = r->release->histograms;
    double sum = 0;
    r->facts.n_clusters = r->answer.recoding == KN_RECODING_LOCAL ? r->answer.n_classes : 0;
    r->facts.cluster_diversity = NAN;
    if (r->facts.n_clusters == 0 || tuples->n_table_sensitive == 0) goto done;
    if (r->release->n_classes != r->answer.n_classes || histograms == NULL) {
        KN_TRY(kn_histograms_count_on(&own, tuples->sensitive[0].column, r->answer.row_class, tuples->n_records,
                                      r->answer.n_classes, r->input->pool, err));
        histograms = &own;
    }
    for (uint32_t c = 0; c < r->answer.n_classes; c++) {
        kn_histogram one = kn_histogram_of(histograms, c);
        sum += kn_histogram_entropy(&one);
    }
    r->facts.cluster_diversity = sum / r->answer.n_classes;
done:
    kn_histograms_clear(&own);
    return status;
}

/* Cut points make intervals of a hierarchy's leaves, which bounds over its nodes say nothing about. */
static bool cuts_trees(const run *r)
{
    for (uint32_t q = 0; q < r->task.tuples->n_qis; q++)
        if (r->answer.recoding == KN_RECODING_CUTS && r->task.tuples->domains[q]->kind == KN_DOMAIN_TREE) return true;
    return false;
}

/* Nobody loses a release to its bound: without memory, or when somebody asks to stop, there is none, and that is said.
 */
static kn_status try_bound(kn_lower_bound *any, run *r, kn_bound_effort effort, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error own = {0};
    status = kn_bound_new(&r->bound, &r->task, effort, &own);
    if (status == KN_OK && kn_ticker_cancelled(r->task.ticker)) status = KN_INTERRUPTED; /* it stopped where it was */
    if (status == KN_INTERRUPTED || status == KN_RESOURCES) {
        any->why = status == KN_INTERRUPTED ? KN_SAY_UNBOUNDED_INTERRUPTED : KN_SAY_UNBOUNDED_MEMORY;
        kn_bound_free(r->bound);
        r->bound = NULL;
        return KN_OK;
    }
    if (status != KN_OK) return kn_error_pass(err, status, &own);
    any->value = r->bound->value;
    any->method = kn_bound_method_name(r->bound->method);
    any->is_partial = r->bound->is_partial;
    any->k = r->bound->k;
    any->why = r->bound->why;
    return KN_OK;
}

static kn_status limited_bound(run *r, kn_bound_effort effort, kn_error *err)
{
    kn_status status = KN_OK;
    kn_lower_bound *any = &r->facts.any;
    const double limit = r->request->time_limit;
    const bool certify = effort >= KN_BOUND_CERTIFY;
    const double granted =
        certify ? fmax(seconds_granted(r), LEAST_PROOF * limit) : fmin(BOUND_SHARE * limit, seconds_left(r));
    const double needed = fmax(BOUND_PER_READ * r->input->seconds_read, BOUND_PER_ROW * (double)r->task.tuples->n_rows);
    const bool no_time = limit > 0 && !certify && granted < needed;
    kn_ticker_limit(&r->input->ticker, limit > 0 ? granted : 0);
    *any = (kn_lower_bound){.value = NAN, .is_certified = certify};
    if (cuts_trees(r)) any->why = KN_SAY_UNBOUNDED_CUTS;
    else if (no_time) any->why = KN_SAY_UNBOUNDED_WORK;
    else KN_TRY(try_bound(any, r, effort, err));
done:
    return status;
}

/* A quick bound before the search, and what it says that rows must pay. Whoever asks to stop meanwhile stops the
 * search.
 */
static kn_status tell_search(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = r->task.tuples;
    double root = 0;
    if (!tells_search(r)) goto done;
    KN_TRY(limited_bound(r, KN_BOUND_CHEAP, err));
    r->has_bound = true;
    for (uint32_t q = 0; q < tuples->n_qis; q++) root += r->task.objective->root_price[q];
    if (r->bound != NULL && r->bound->dual != NULL && root > 0) {
        const kn_bound_problem *problem = r->bound->problem;
        KN_NEW(r->must_pay, tuples->n_tuples);
        const double scale = (1 << KN_PAY_BITS) * problem->unit / root;
        for (uint32_t t = 0; t < tuples->n_tuples; t++)
            r->must_pay[t] =
                (uint32_t)fmin((double)r->bound->dual->units[problem->of_tuple[t]] * scale, (double)UINT32_MAX);
        r->task.must_pay = r->must_pay;
    }
    kn_bound_free(r->bound);
    r->bound = NULL;
    kn_ticker_limit(&r->input->ticker, limit_search(r));
    end_stage(r, "bound", &r->facts.seconds.bound);
done:
    return status;
}

/* How little any release can lose. */
static kn_status find_bound(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    const bool certify = asks_for_proof(r->request);
    kn_bound_effort effort = r->answer.stopped == KN_STOPPED_DONE ? KN_BOUND_FREE : KN_BOUND_CHEAP;
    const double before = r->facts.seconds.bound;
    if (r->has_bound && !certify) goto done;
    if (certify) effort = r->request->certificate != NULL ? KN_BOUND_PROVE : KN_BOUND_CERTIFY;
    const kn_lower_bound quick = r->facts.any;
    KN_TRY(limited_bound(r, effort, err));
    /* with little time the quick one may say more */
    if (r->has_bound && kn_is_bounded(&quick) && kn_is_bounded(&r->facts.any) && quick.value > r->facts.any.value) {
        r->facts.any = quick;
        r->facts.any.is_certified = true;
    }
    if (r->facts.any.why == KN_SAY_UNBOUNDED_INTERRUPTED) kn_ticker_serve(&r->input->ticker);
    if (certify && r->facts.any.why != KN_SAY_NOTHING)
        kn_sentences_add(&r->input->warnings, KN_SAID(KN_SAY_NO_BOUND, kn_piece_part(kn_said(r->facts.any.why))));
    end_stage(r, "bound", &r->facts.seconds.bound);
    r->facts.seconds.bound += before;
done:
    return status;
}

/* --polish: cluster starts from the release's classes. What a theorem or a local search proved of the loss goes on
 * holding, because the loss under the same measure, over all rows, only falls; what was proven of levels or cut points
 * is not about the new release. */
static kn_status polish(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_answer polished = {0};
    bool better = false;
    double before, seconds;
    KN_TRY(kn_objective_loss(&before, r->task.objective, r->release, err));
    status = kn_cluster_polish(&polished, &better, &r->task, r->release->row_class, r->release->n_classes, err);
    KN_TRY(kn_error_about(err, status, KN_PLACE(.option = "polish")));
    r->facts.polished = true;
    r->facts.polished_from = NAN;
    if (polished.stopped == KN_STOPPED_INTERRUPT) kn_ticker_serve(&r->input->ticker);
    if (!better) goto done;
    r->facts.polished_from = before;
    polished.guarantee = r->answer.guarantee;
    polished.n_blocks = r->answer.n_blocks;
    polished.n_nodes += r->answer.n_nodes;
    if (r->answer.recoding == KN_RECODING_LOCAL) polished.bound = r->answer.bound;
    kn_answer_free(&r->answer);
    kn_release_free(r->release);
    r->answer = polished;
    r->release = NULL;
    polished = (kn_answer){0};
    KN_TRY(kn_recode(&r->release, &r->answer, &r->task, err));
done:
    end_stage(r, "polish", &seconds);
    r->facts.seconds.search += seconds;
    kn_answer_free(&polished);
    return status;
}

/* In place of a search and its recoding: what somebody else made of the records. */
static kn_status take_given(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    const kn_release_options options = {.guard_formulas = r->request->guard_formulas, .redact = r->input->redact};
    r->answer = (kn_answer){.recoding = KN_RECODING_LOCAL, .stopped = KN_STOPPED_DONE, .bound = NAN};
    KN_TRY(kn_source_open(&source, r->request->given, &r->input->other_sources, err));
    KN_TRY(kn_recode_given(&r->release, source, r->request->given, &r->task, &options, err));
    end_stage(r, "recode", &r->facts.seconds.recode);
done:
    kn_source_close(source);
    return status;
}

static kn_status search_and_recode(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(tell_search(r, err));
    KN_TRY(search(r, err));
    KN_TRY(kn_recode(&r->release, &r->answer, &r->task, err));
    end_stage(r, "recode", &r->facts.seconds.recode);
    if (r->request->polish) KN_TRY(polish(r, err));
done:
    return status;
}

/* What a null of the data is read as. */
static const char *null_text(const kn_input *input)
{
    return input->csv.n_null_values > 0 ? input->csv.null_values[0] : "";
}

/* By way of the arrays that stay in memory otherwise; what is verified is read from the file. */
static kn_status write_parquet(uint32_t **order, uint32_t *n_written, run *r, const kn_sink_options *options,
                               kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = r->input;
    kn_batches *batches = NULL;
    char *schema = NULL;
    const kn_duckdb_options duckdb = {.name = r->request->output,
                                      .ticker = &input->ticker,
                                      .redact = input->redact,
                                      .n_threads = kn_pool_threads(input->pool)};
    KN_TRY(kn_run_schema(&schema, r->release, &input->form, r->request, err));
    KN_TRY(kn_release_arrays(&batches, order, n_written, r->release, null_text(input), &input->form, options, err));
    KN_TRY(kn_duckdb_write(kn_output_path(r->output), batches, schema, &duckdb, err));
done:
    kn_batches_drop(batches);
    kn_free(schema);
    return status;
}

/* To a file beside its target, or to arrays in memory. */
static kn_status write_release(uint32_t **order, uint32_t *n_written, run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = r->input;
    const kn_request *request = r->request;
    if (request->order == KN_ORDER_INPUT) kn_sentences_add(&input->warnings, kn_said(KN_SAY_ORDER_INPUT));
    r->output = kn_targets_output(input->targets, "output");
    const kn_sink_options options = {request->order, request->cells, request->guard_formulas, input->pool,
                                     &input->ticker};
    if (r->output == NULL) {
        KN_TRY(kn_release_arrays(&r->batches, order, n_written, r->release, null_text(input), &input->form, &options,
                                 err));
    } else if (kn_output_kind(request) == KN_FILE_PARQUET) {
        KN_TRY(write_parquet(order, n_written, r, &options, err));
        KN_TRY(kn_output_flush(r->output, err));
    } else {
        KN_TRY(kn_release_write(order, n_written, r->output, r->release, &input->form, &options, err));
        KN_TRY(kn_output_flush(r->output, err));
    }
done:
    return status;
}

/* Why there is no bound, as a status. */
static kn_status unbounded_status(kn_say why)
{
    return why == KN_SAY_UNBOUNDED_INTERRUPTED ? KN_INTERRUPTED
           : why == KN_SAY_UNBOUNDED_MEMORY    ? KN_RESOURCES
                                               : KN_NOT_MET;
}

/* The certificate beside its target, to be checked with the release; NULL: nobody asked for it. */
static kn_status write_certificate(const char **path, run *r, kn_error *err)
{
    kn_status status = KN_OK;
    char *text = NULL;
    kn_output *output = kn_targets_output(r->input->targets, "certificate");
    *path = NULL;
    if (output == NULL) goto done;
    if (r->bound == NULL || r->bound->dual == NULL)
        KN_FAIL_AT(unbounded_status(r->facts.any.why), KN_PLACE(.option = "certificate"),
                   "there is no certificate: %s; nothing was written", kn_sentence_english(r->facts.any.why));
    KN_TRY(kn_certificate_text(&text, r->bound, &r->task, err));
    KN_TRY(kn_output_write(output, text, strlen(text), err));
    KN_TRY(kn_output_flush(output, err));
    *path = kn_output_path(output);
done:
    kn_free(text);
    return status;
}

static kn_status write_and_verify(run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = r->input;
    uint32_t *order = NULL, n_written;
    const char *target = r->request->output;
    const char *certificate;
    KN_TRY(write_certificate(&certificate, r, err));
    KN_TRY(write_release(&order, &n_written, r, err));
    kn_written written = {.path = r->output != NULL ? kn_output_path(r->output) : NULL,
                          .kind = r->output != NULL ? kn_output_kind(r->request) : KN_FILE_CSV,
                          .batches = r->batches,
                          .name = target == NULL || strcmp(target, "-") == 0 ? "the release" : target,
                          .original_path = input->path,
                          .certificate = certificate,
                          .release = r->release,
                          .order = order,
                          .n_order = n_written};
    end_stage(r, "write", &r->facts.seconds.write);
    if (r->request->after_write != NULL)
        r->request->after_write(r->request->after_write_user, written.path, written.batches);

    KN_TRY(kn_recheck(&r->verdict, input, &written, err));
    KN_TRY(kn_verdict_status(r->verdict, err));
    kn_note(input, "%u rows written, and counted again by other code", n_written);
    if (r->request->count != NULL) {
        r->records = order;
        r->n_records = n_written;
        order = NULL;
    }
    end_stage(r, "verify", &r->facts.seconds.verify);
done:
    kn_free(order);
    return status;
}

/* Among many quasi-identifiers everybody is alone, and little is left of each. */
static void warn_of_many(run *r)
{
    enum { MANY = 12 };
    const double lost_much = 0.5;
    const kn_facts *f = &r->facts;
    if (strcmp(f->objective->type->name, "lm") != 0 || f->tuples->n_qis <= MANY || !(f->loss > lost_much)) return;
    kn_sentences_add(&r->input->warnings, KN_SAID(KN_SAY_MANY_QIS, kn_piece_number("%u", f->tuples->n_qis),
                                                  kn_piece_number("%.2f", f->loss)));
}

static kn_status gather_facts(run *r, kn_error *err)
{
    static const char *const kinds[] = {"levels", "cuts", "local"};
    kn_facts *f = &r->facts;
    f->data_name = r->input->table->source;
    f->output_name = r->output != NULL ? r->request->output : NULL;
    f->table = r->input->table;
    f->unit = r->request->unit;
    f->tuples = r->input->tuples;
    f->release = r->release;
    f->objective = r->task.objective;
    f->verdict = r->verdict;
    f->algorithm = r->algorithm->name;
    f->algorithm_params = r->algorithm_params;
    f->why = r->why;
    f->seed = r->task.seed;
    f->stopped = r->answer.stopped;
    f->optimal = r->answer.optimal;
    f->kind = kinds[r->answer.recoding];
    f->guarantee = r->answer.guarantee;
    f->top = r->answer.top;
    f->n_top = r->answer.n_top;
    f->n_nodes = r->answer.n_nodes;
    f->n_blocks = r->answer.n_blocks;
    f->trace = &r->trace;
    kn_status status = kn_facts_measure(f, r->input->models, r->input->pool, err);
    if (status == KN_OK) warn_of_many(r);
    return status;
}

/* What the search proved about its own kind of recoding, unless the other bound says more. */
static void settle_bound(run *r)
{
    kn_facts *f = &r->facts;
    f->bound = f->optimal ? f->loss : r->answer.bound;
    /* of two bounds over local recodings the larger one */
    if (r->answer.recoding == KN_RECODING_LOCAL && !f->optimal && kn_is_bounded(&f->any) && f->any.value >= f->bound)
        f->bound = NAN;
}

/* NULL: nobody asked for one. The folder that the release stands in is nobody's business. */
static kn_status write_codebook(char **out, const run *r, const char *schema, kn_error *err)
{
    const char *name = r->output != NULL ? r->request->output : NULL, *slash = NULL;
    if (name != NULL && strcmp(name, "-") == 0) name = NULL;
    if (name != NULL) slash = strrchr(name, '/');
    const kn_codebook book = {.schema = schema,
                              .name = slash != NULL ? slash + 1 : name,
                              .table = r->input->table,
                              .release = r->release,
                              .models = r->facts.models,
                              .n_models = r->facts.n_models,
                              .is_sorted = r->request->order != KN_ORDER_INPUT,
                              .language = r->request->language};
    return r->request->codebook != NULL ? kn_codebook_html(out, &book, err) : KN_OK;
}

static kn_status keep_table(kn_result *result, run *r, kn_error *err)
{
    const char *text = null_text(r->input);
    if (r->batches == NULL) return KN_OK;
    result->form = r->input->form;
    result->null_text = kn_string_copy(text, strlen(text), err);
    if (result->null_text == NULL) return KN_RESOURCES;
    result->batches = r->batches;
    r->batches = NULL;
    result->records = r->records;
    result->n_records = r->n_records;
    r->records = NULL;
    return KN_OK;
}

static void clean_up(run *r)
{
    kn_facts_free(&r->facts);
    kn_verdict_free(r->verdict);
    kn_batches_drop(r->batches);
    kn_free(r->records);
    kn_bound_free(r->bound);
    kn_free(r->must_pay);
    kn_release_free(r->release);
    kn_answer_free(&r->answer);
    kn_args_free(&r->args);
    kn_state_file_close(&r->state);
    kn_ledger_close(r->ledger);
    kn_trace_free(&r->trace);
    kn_input_free(r->input);
}

kn_status kn_job_anonymize(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    run r = {.request = request, .began = kn_seconds_now()};
    kn_seconds *seconds = &r.facts.seconds;
    kn_result *result = NULL;
    char *report = NULL, *schema = NULL, *codebook = NULL;
    r.mark = r.began;
    *out = NULL;
    KN_TRY(kn_input_algorithm(&r.algorithm, &r.algorithm_params, &r.why, request, NULL, err));
    KN_TRY(kn_input_new(&r.input, request, KN_OUTPUT_RELEASE, err));
    KN_TRY(kn_ledger_open(&r.ledger, r.input, err));
    KN_TRY(kn_input_read(r.input, request->data, KN_COLUMNS_OF_DATA, err));
    end_stage(&r, "read", &seconds->read);
    KN_TRY(kn_copies_check(r.input, err));
    KN_TRY(kn_input_algorithm(&r.algorithm, &r.algorithm_params, &r.why, request, r.input->table, err));
    KN_TRY(kn_input_encode(r.input, kn_algorithm_needs_trees(r.algorithm), err));
    KN_TRY(kn_input_cells(r.input, err)); /* before the search */
    KN_TRY(kn_input_goals(r.input, err));
    KN_TRY(prepare_task(&r, err));
    end_stage(&r, "encode", &seconds->encode);
    if (request->given != NULL) KN_TRY(take_given(&r, err));
    else KN_TRY(search_and_recode(&r, err));
    kn_answer_reconsider(&r.answer, &r.task);
    if (asks_for_proof(request)) KN_TRY(find_bound(&r, err)); /* its certificate is written and verified */
    KN_TRY(write_and_verify(&r, err));
    KN_TRY(count_clusters(&r, err));
    KN_TRY(gather_facts(&r, err));
    end_stage(&r, "measure", &seconds->measure);
    if (!asks_for_proof(request)) KN_TRY(find_bound(&r, err));
    settle_bound(&r);
    r.facts.peak_bytes = kn_memory_peak();
    KN_TRY(kn_run_report(&report, r.input, &r.facts, &r.task, r.output != NULL ? kn_output_path(r.output) : NULL, err));
    if (request->schema != NULL || request->codebook != NULL)
        KN_TRY(kn_run_schema(&schema, r.release, &r.input->form, request, err));
    KN_TRY(write_codebook(&codebook, &r, schema, err));
    if (report != NULL) KN_TRY(kn_targets_text(r.input->targets, "report", report, err));
    if (schema != NULL) KN_TRY(kn_targets_text(r.input->targets, "schema", schema, err));
    if (codebook != NULL) KN_TRY(kn_targets_text(r.input->targets, "codebook", codebook, err));
    KN_TRY(kn_targets_sync(r.input->targets, err));
    r.facts.peak_bytes = kn_memory_peak();
    end_stage(&r, "report", &seconds->report);
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_facts_json(&result->json, &r.facts, err));
    KN_TRY(kn_facts_summary(&result->text, &r.facts, err));
    KN_TRY(kn_ledger_enter(r.ledger, r.input, r.output != NULL ? kn_output_path(r.output) : NULL, err));
    KN_TRY(kn_input_deliver(r.input, result, err));
    kn_note(r.input, "%u classes; %.0f MB of memory at most", kn_release_seen_classes(r.release),
            (double)r.facts.peak_bytes / 1e6);
    KN_TRY(keep_table(result, &r, err));
    *out = result;
    result = NULL;
    if (r.answer.stopped == KN_STOPPED_INTERRUPT)
        status = kn_error_set(err, KN_INTERRUPTED, "interrupted: this is the best release found until then");
    else if (r.facts.any.why == KN_SAY_UNBOUNDED_INTERRUPTED)
        status =
            kn_error_set(err, KN_INTERRUPTED, "interrupted: the release is complete, but nothing is proven about it");
done:
    kn_result_free(result);
    kn_free(report);
    kn_free(schema);
    kn_free(codebook);
    clean_up(&r);
    return status;
}
