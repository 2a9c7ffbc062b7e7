/* `kanon check`: a policy against a table, without writing anything. All problems, not only the first: columns that are
 * new or gone, hierarchies that do not fit, models that no release can meet, an algorithm that cannot serve them; then
 * how large the search is, and roughly what it will cost. */
#include "base/json_writer.h"
#include "hierarchy/build.h"
#include "report/page.h"
#include "run/bad_cells.h"
#include "run/copies.h"
#include "run/expected.h"
#include "run/people.h"
#include "run/hierarchy_table.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/notes.h"
#include "run/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct checking {
    const kn_request *request;
    kn_input *input;
    kn_problems problems;
    const kn_algorithm *algorithm;
    kn_args args;
    double n_nodes;        /* of the lattice; 0: not a full-domain search */
    double search_seconds; /* of one thread; negative: nobody knows */
} checking;

/* Every hierarchy on its own, so that one that is wrong does not hide the next. What cannot be built is suppressed in
 * the checks that follow. */
static kn_status hierarchies_check(checking *about, bool must_be_tree, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    kn_domain *domain = NULL;
    kn_lacking lacking = {0};
    about->n_nodes = 1;
    for (uint32_t c = 0; c < input->table->n_columns; c++) {
        const kn_column *column = &input->table->columns[c];
        kn_column_choice *choice = &input->choices[c];
        const size_t n_before = about->problems.items.n;
        if (column->role != KN_ROLE_QUASI && !(column->role == KN_ROLE_SENSITIVE && choice->hierarchy != NULL))
            continue;
        status = kn_input_domain_or_lacking(&domain, &lacking, input, c, must_be_tree, err);
        kn_error_about(err, status, KN_PLACE(.column = column->name));
        if (status == KN_INPUT && lacking.spellings != NULL) {
            *err = (kn_error){0};
            KN_TRY(kn_lacking_cells_note(input, column, &lacking, err));
        } else KN_TRY(kn_problem_note(&about->problems, status, err));
        kn_free(lacking.spellings);
        lacking.spellings = NULL;
        if (about->problems.items.n > n_before) {
            choice->hierarchy = column->role == KN_ROLE_QUASI ? "suppress" : NULL;
            choice->hierarchy_folder = choice->hierarchy_where = NULL;
            choice->grid = choice->top = choice->bottom = choice->round = NULL;
            choice->min_level = 0;
            choice->max_level = KN_NONE;
        } else if (domain->tree != NULL && column->role == KN_ROLE_QUASI) {
            uint32_t top =
                choice->max_level < domain->tree->n_levels - 1 ? choice->max_level : domain->tree->n_levels - 1;
            about->n_nodes *= top >= choice->min_level ? top - choice->min_level + 1 : 1;
        }
        kn_domain_free(domain);
        domain = NULL;
    }
done:
    kn_free(lacking.spellings);
    kn_domain_free(domain);
    return status;
}

/* A model of a column that is not there, or whose hierarchy is no good, would only say so again. */
static bool is_told_already(const checking *about, const char *model)
{
    const char *column = strstr(model, "column=");
    if (column == NULL) return false;
    column += strlen("column=");
    for (size_t i = 0; i < about->problems.items.n; i++) {
        const char *name = about->problems.items.items[i].about.column;
        const size_t n = strlen(name);
        if (n > 0 && strncmp(column, name, n) == 0 && (column[n] == '\0' || column[n] == ',')) return true;
    }
    return false;
}

/* Each model alone. Those that can be met become those of the run. */
static kn_status models_check(checking *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    const kn_words *asked = &about->request->models;
    const char **fine = NULL;
    size_t n_fine = 0;
    kn_models *alone = NULL;
    KN_NEW(fine, asked->n + 1);
    for (size_t m = 0; m < asked->n; m++) {
        const size_t n_before = about->problems.items.n;
        if (is_told_already(about, asked->items[m])) continue;
        status = kn_models_read(&alone, (const char *const *)&asked->items[m], 1, input->tuples, &input->other_sources,
                                input->pool, err);
        if (status == KN_OK) status = kn_models_possible(alone, input->tuples, input->max_suppressed, err);
        kn_error_about(err, status, KN_PLACE(.option = "model"));
        KN_TRY(kn_problem_note(&about->problems, status, err));
        kn_models_free(alone);
        alone = NULL;
        if (about->problems.items.n == n_before) fine[n_fine++] = asked->items[m];
    }
    KN_TRY(kn_models_read(&input->models, fine, n_fine, input->tuples, &input->other_sources, input->pool, err));
done:
    kn_models_free(alone);
    kn_free(fine);
    return status;
}

static kn_status measure_check(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_measure_join(input->request->measure, input->tuples, err));
    KN_TRY(kn_objective_new(&input->objective, input->request->measure, input->tuples, err));
done:
    return kn_error_about(err, status, KN_PLACE(.option = "measure"));
}

/* What the models, the measure and the algorithm need, one after the other, then together. */
static kn_status goals_check(checking *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    KN_TRY(kn_problem_note(&about->problems, kn_input_need_k(about->request, err), err));
    kn_input_suppression(input);
    KN_TRY(kn_tuples_histograms(input->tuples, input->pool, err));
    KN_TRY(models_check(about, err));
    KN_TRY(kn_problem_note(&about->problems, measure_check(input, err), err));
    KN_TRY(kn_input_thresholds(input, err));
    KN_TRY(kn_problem_note(&about->problems, kn_input_cells(input, err), err));
    if (about->algorithm == NULL || input->objective == NULL || input->models->n == 0) goto done;
    kn_task task = {.tuples = input->tuples,
                    .models = input->models,
                    .objective = input->objective,
                    .args = &about->args,
                    .max_suppressed = input->max_suppressed,
                    .effort = about->request->effort,
                    .pool = input->pool};
    KN_TRY(kn_problem_note(&about->problems, kn_algorithm_fits(about->algorithm, &task, err), err));
    kn_input_warn(input);
    kn_note_goals(input);
    if (about->algorithm->seconds != NULL) about->search_seconds = about->algorithm->seconds(&task);
done:
    return status;
}

/* Rough on purpose: an order of magnitude before somebody starts a run over lunch. */
static void cost_estimate(double *seconds, double *bytes, const checking *about)
{
    const kn_input *input = about->input;
    double tuples = input->tuples->n_tuples, columns = fmax(1, input->n_qis);
    double search = tuples * columns * log2(tuples + 2) * 1.5e-8;
    const double node =
        input->max_suppressed > 0 ? 1e-11 : 1e-12; /* a node with outliers is soon left where none may be */
    if (kn_algorithm_has_levels(about->algorithm)) search = tuples * columns * (3e-8 + about->n_nodes * node);
    if (about->search_seconds >= 0) search = about->search_seconds / kn_pool_threads(input->pool);
    *seconds = input->seconds_read + input->seconds_encode + search + kn_expected_after(input);
    if (about->request->time_limit > 0) *seconds = fmin(*seconds, fmax(about->request->time_limit, *seconds - search));
    *bytes = (double)kn_memory_peak() + tuples * (16 * columns + 64);
}

/* What the sentence is about, for a program; every key is always there. */
static void put_problem(kn_json *json, const kn_problem *problem)
{
    static const char *const kinds[] = {"other", "new_column", "missing_column", "bad_cells"};
    const kn_error *about = &problem->about;
    kn_json_object(json, NULL);
    kn_json_text(json, "kind", kinds[problem->kind]);
    kn_json_text(json, "option", about->option);
    kn_json_text(json, "column", about->column);
    kn_json_text(json, "perhaps", problem->perhaps);
    kn_json_count(json, "cells", problem->n_cells);
    kn_json_array(json, "lines");
    if (problem->kind == KN_PROBLEM_BAD_CELLS)
        for (size_t i = 0; i < KN_PROBLEM_LINES && problem->lines[i] > 0; i++)
            kn_json_count(json, NULL, problem->lines[i]);
    else if (about->line > 0) kn_json_count(json, NULL, about->line);
    kn_json_end(json);
    kn_json_text(json, "file", about->file);
    kn_json_end(json);
}

static kn_status result_make(kn_result **out, checking *about, const kn_problems *without_values, kn_error *err)
{
    kn_status status = KN_OK;
    kn_result *result = NULL;
    kn_buffer text = {0};
    kn_json json = {0};
    double seconds = NAN, bytes = NAN;
    const kn_input *input = about->input;
    const kn_problems *found = &about->problems;
    KN_TRY(kn_result_new(&result, err));
    if (found->items.n == 0) {
        cost_estimate(&seconds, &bytes, about);
        kn_buffer_printf(
            &text, "The policy fits the table\n  rows          %s, %s distinct combinations of %u quasi-identifiers\n",
            page_count(&page_plain, input->table->n_rows).text, page_count(&page_plain, input->tuples->n_tuples).text,
            input->n_qis);
        kn_buffer_printf(&text, "  algorithm     %s\n", about->algorithm->name);
        if (kn_algorithm_has_levels(about->algorithm))
            kn_buffer_printf(&text, "  lattice       %.0f combinations of levels\n", about->n_nodes);
        kn_buffer_printf(&text, "  estimate      about %.*f s and %.0f MB\n", seconds < 10, fmax(0.1, seconds),
                         ceil(bytes / 1e6));
    } else {
        kn_buffer_printf(&text, "%zu problem%s\n", found->items.n, found->items.n == 1 ? "" : "s");
    }
    for (size_t i = 0; i < found->items.n; i++)
        kn_buffer_printf(&text, "  - %s\n", found->items.items[i].about.message);
    kn_json_object(&json, NULL);
    kn_json_bool(&json, "fits", found->items.n == 0);
    kn_json_array(&json, "problems");
    for (size_t i = 0; i < without_values->items.n; i++)
        kn_json_text(&json, NULL, without_values->items.items[i].about.message);
    kn_json_end(&json);
    kn_json_array(&json, "details");
    for (size_t i = 0; i < without_values->items.n; i++) put_problem(&json, &without_values->items.items[i]);
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

static kn_status algorithm_check(checking *about, const kn_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    const char *params, *why;
    const kn_algorithm *chosen = NULL;
    KN_TRY(kn_input_algorithm(&chosen, &params, &why, about->request, table, err));
    KN_TRY(kn_args_parse(&about->args, chosen->name, chosen->params, chosen->n_params, params, err));
    about->algorithm = chosen;
    kn_note(about->input, "algorithm %s%s%s%s", chosen->name, why != NULL ? " (" : "", why != NULL ? why : "",
            why != NULL ? ")" : "");
done:
    return kn_error_about(err, status, KN_PLACE(.option = "algorithm"));
}

/* Every step notes what is wrong and leaves something that the next can work with. A file that is no table ends it with
 * that problem; one that cannot be opened, and a lack of memory, are no problems of the policy. */
static kn_status checks_make(checking *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = about->input;
    kn_problems *problems = &about->problems;
    kn_source *source = NULL;
    status = kn_input_open(&source, input, about->request->data, err);
    kn_source_close(source);
    if (status != KN_OK) return status;
    input->problems = problems;
    KN_TRY(kn_input_read(input, about->request->data, KN_COLUMNS_OF_DATA, err));
    KN_TRY(kn_problem_note(problems, algorithm_check(about, input->table, err), err));
    KN_TRY(kn_copies_check(input, err));
    bool trees = about->algorithm != NULL && kn_algorithm_needs_trees(about->algorithm);
    KN_TRY(hierarchies_check(about, trees, err));
    status = kn_input_need_qis(input, err);
    if (status != KN_OK && problems->items.n > 0) { /* the quasi-identifiers are among the missing columns */
        *err = (kn_error){0};
        return KN_OK;
    }
    if (status != KN_OK) goto done;
    KN_TRY(kn_input_encode(input, trees, err));
    KN_TRY(goals_check(about, err));
done:
    return kn_problem_note(problems, status, err);
}

static void checking_free(checking *about)
{
    kn_args_free(&about->args);
    kn_problems_free(&about->problems);
    kn_input_free(about->input);
}

kn_status kn_job_check(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    checking about = {.request = request, .search_seconds = -1}, redacted = {.request = request};
    kn_error inner = {0};
    *out = NULL;
    KN_TRY(kn_input_new(&about.input, request, KN_OUTPUT_IF_ASKED, err));
    status = checks_make(&about, &inner);
    /* JSON carries no values of the data: the same checks again, saying less. */
    if (status == KN_OK && about.problems.items.n > 0) {
        status = kn_input_new_beside(&redacted.input, about.input, &inner);
        if (status == KN_OK) redacted.input->redact = redacted.input->csv.redact = true;
        if (status == KN_OK) status = checks_make(&redacted, &inner);
    }
    KN_TRY(kn_error_pass(err, status, &inner));
    KN_TRY(result_make(out, &about, &redacted.problems, err));
    if (about.problems.items.n > 0) status = KN_USAGE; /* the text says why */
done:
    checking_free(&redacted);
    checking_free(&about);
    return status;
}
