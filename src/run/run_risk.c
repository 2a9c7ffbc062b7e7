/* `kanon risk`: what attackers can do with a table as it is: an original before it is anonymized, or a release.
 *
 * A release has intervals, sets and labels where the original has values, and no identifiers: so the columns are taken
 * by name, types are whatever the cells look like (text stays text where the policy says so: `10` and `10e0` are then
 * two values), and hierarchies serve the attack only, those of sensitive columns to tell which values are similar. */
#include "base/param.h"
#include "hierarchy/build.h"
#include "report/report_data.h"
#include "run/people.h"
#include "run/hierarchy_table.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/notes.h"
#include "run/result.h"
#include "run/run_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct risk_run {
    const kn_request *request;
    kn_input *input;
    kn_column_choice *asked; /* per column, with the hierarchies that serve the attack */
    kn_facts facts;
    kn_report report;
    kn_population *population;
    uint64_t *populations;
    kn_table *known; /* the attacker's file */
    kn_attack_column *columns;
    size_t n_columns;
    kn_tree **trees;
    char **orders;
    uint32_t *sensitive;
    size_t n_sensitive;
    double promised_k; /* 0: none was */
    kn_attack_result *attack;
} risk_run;

static kn_status table_read(risk_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = run->input;
    kn_source *source = NULL;
    const char **names = NULL;
    kn_column_plan *plans = NULL;
    input->csv.guarded_names = input->request->guard_formulas || kn_schema_is_guarded(input->schema);
    KN_TRY(kn_input_open(&source, input, run->request->data, err));
    KN_TRY(kn_input_join_bounds(source, input, err));
    KN_TRY(kn_input_derive(source, input, true, err));
    uint32_t n = kn_source_n_columns(source);
    KN_NEW(names, n);
    KN_NEW(plans, n);
    for (uint32_t c = 0; c < n; c++) names[c] = kn_source_column_name(source, c);
    KN_TRY(kn_settings_columns(&input->choices, run->request->settings, names, n, KN_COLUMNS_OF_RELEASE,
                               &input->warnings, NULL, &input->ticker, err));
    kn_schema_apply(input->choices, names, n, input->schema, run->request->settings);
    KN_NEW(run->asked, n + 1);
    for (uint32_t c = 0; c < n; c++) {
        const kn_type type = input->choices[c].type == KN_TYPE_TEXT ? KN_TYPE_TEXT : KN_TYPE_AUTO;
        plans[c] = (kn_column_plan){input->choices[c].role, type,
                                    input->choices[c].is_person ? KN_USE_PERSON : KN_USE_NOTHING};
        run->asked[c] = input->choices[c];
        /* equal or not is all that counts here; a sensitive column's tells which values are similar */
        if (input->choices[c].role != KN_ROLE_SENSITIVE) input->choices[c].hierarchy = NULL;
        input->choices[c].grid = input->choices[c].top = input->choices[c].bottom = input->choices[c].round = NULL;
    }
    KN_TRY(kn_source_read(&input->table, source, plans, input->pool, &input->ticker, err));
    KN_TRY(kn_input_fold(input, err));
    input->form = kn_source_form(source);
    kn_input_warn_unnamed(input);
    kn_note_table(input);
    if (run->request->person != NULL && input->table->person == KN_NONE)
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_ROWS_ARE_PERSONS, kn_piece_name(run->request->person)));
done:
    kn_source_close(source);
    kn_free(names);
    kn_free(plans);
    return status;
}

/* --- The population ----------------------------------------------------------------------------------------------- */

static kn_status population_read(risk_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_population_asked *asked = &run->request->population;
    const kn_tuples *tuples = run->input->tuples;
    kn_cell *cells = NULL;
    run->report.fraction = asked->fraction;
    if (asked->file == NULL) return KN_OK;
    KN_TRY(
        kn_population_read(&run->population, asked->file, &run->input->other_sources, tuples, run->input->pool, err));
    KN_NEW(run->populations, tuples->n_tuples + 1);
    KN_NEW(cells, tuples->n_qis + 1);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        for (uint32_t q = 0; q < tuples->n_qis; q++) cells[q] = kn_domain_leaf(tuples->domains[q], tuples->codes[q][t]);
        uint64_t n = kn_population_count(run->population, cells, NULL);
        run->populations[t] = n > tuples->persons[t] ? n : tuples->persons[t];
        if (t % 1024 == 0) KN_TRY(kn_tick(&run->input->ticker, "population", (double)t / tuples->n_tuples, err));
    }
    run->report.populations = run->populations;
done:
    kn_free(cells);
    return status;
}

/* --- The attack --------------------------------------------------------------------------------------------------- */

static bool is_spec(const char *hierarchy)
{
    size_t n;
    const kn_hierarchy_spec *specs = kn_hierarchy_specs(&n);
    for (size_t i = 0; i < n; i++)
        if (strlen(specs[i].name) == strcspn(hierarchy, "(") &&
            strncmp(specs[i].name, hierarchy, strlen(specs[i].name)) == 0)
            return true;
    return false;
}

/* The hierarchy file of a column, as published with a release. The labels of SPECs speak for themselves. */
static kn_status tree_read(kn_tree **out, kn_input *input, const kn_column_choice *asked, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer path = {0};
    const char *file = asked->hierarchy;
    *out = NULL;
    if (file == NULL || is_spec(file)) return KN_OK;
    if (asked->hierarchy_folder != NULL && file[0] != '/' && !kn_is_table_name(file))
        kn_buffer_printf(&path, "%s/", asked->hierarchy_folder);
    kn_buffer_text(&path, file);
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_input_tree(out, input, path.bytes, err));
done:
    kn_buffer_free(&path);
    return status;
}

/* How the cells of a column are read: by what the policy says of its type and hierarchy. Where it says nothing of a
 * hierarchy, there was none with words of its own. */
static kn_status reading_make(risk_run *run, size_t c, const kn_column_choice *asked, kn_error *err)
{
    kn_status status = KN_OK;
    kn_cell_reading *reading = &run->columns[c].reading;
    const char *order = "order(", *spec = asked->hierarchy;
    KN_TRY(tree_read(&run->trees[c], run->input, asked, err));
    reading->tree = run->trees[c];
    reading->type = asked->type;
    reading->leading_zeros = asked->type != KN_TYPE_AUTO;
    const bool may_have_groups = spec == NULL || strcmp(spec, "similar") == 0 || strcmp(spec, "auto") == 0;
    if (may_have_groups) reading->group_of = run->input->table->columns[run->columns[c].release].name;
    reading->words_are_values = spec != NULL ? reading->tree == NULL : run->request->policy_path != NULL;
    reading->is_natural = spec != NULL && strcmp(spec, "natural") == 0;
    if (spec != NULL && strncmp(spec, order, strlen(order)) == 0) {
        run->orders[c] = kn_string_copy(spec + strlen(order), strlen(spec) - strlen(order) - 1, err);
        if (run->orders[c] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        reading->order = run->orders[c];
    }
done:
    return status;
}

/* What labels mean by the schema, of the values that the attacker knows. */
static kn_status labels_read(risk_run *run, size_t c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_attack_column *column = &run->columns[c];
    char *text = NULL;
    size_t n_bytes;
    const bool has_order = column->reading.order != NULL || column->reading.is_natural;
    if (run->input->schema == NULL || run->trees[c] != NULL || has_order) return KN_OK;
    KN_TRY(kn_schema_lines(&text, &n_bytes, run->input->schema, run->input->table->columns[column->release].name,
                           &run->known->columns[column->known], false, err));
    run->columns[c].reading.words_are_values = true;
    if (text == NULL) goto done;
    KN_TRY(kn_tree_parse(&run->trees[c], text, n_bytes, run->request->schema, run->input->redact, err));
    run->columns[c].reading.tree = run->trees[c];
done:
    kn_free(text);
    return status;
}

/* A classification that everybody shares says what is above the values that the attacker knows. */
static kn_status classes_read(risk_run *run, size_t c, kn_error *err)
{
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    const kn_column *known = &run->known->columns[run->columns[c].known];
    const char *spec = run->asked[run->columns[c].release].hierarchy;
    const kn_hierarchy_request request = {.spec = spec, .must_be_tree = true, .weight = 1, .max_level = KN_NONE};
    if (spec == NULL || !kn_hierarchy_is_class(spec)) goto done;
    KN_TRY(kn_domain_build(&domain, known, run->known->source, run->known->n_rows, &request, err));
    run->trees[c] = domain->tree;
    domain->tree = NULL;
    run->columns[c].reading.tree = run->trees[c];
done:
    kn_domain_free(domain);
    return status;
}

/* The QIs that the attacker's file has too. */
static kn_status known_read(risk_run *run, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    kn_source *source = NULL;
    kn_column_plan *plans = NULL;
    const kn_table *table = run->input->table;
    KN_TRY(kn_source_open(&source, path, &run->input->sources, err));
    KN_TRY(kn_input_derive(source, run->input, true, err)); /* what the release tells, the attacker computes */
    uint32_t n = kn_source_n_columns(source);
    KN_NEW(plans, n);
    KN_NEW(run->columns, table->n_columns + 1);
    KN_NEW(run->trees, table->n_columns + 1);
    KN_NEW(run->orders, table->n_columns + 1);
    const char *person = run->request->person;
    for (uint32_t c = 0; c < n; c++) {
        uint32_t release = kn_table_find(table, kn_source_column_name(source, c));
        bool known = release != KN_NONE && table->columns[release].role == KN_ROLE_QUASI;
        plans[c] = (kn_column_plan){known ? KN_ROLE_QUASI : KN_ROLE_DROPPED, KN_TYPE_AUTO, KN_USE_NOTHING};
        if (!known && person != NULL && strcmp(person, kn_source_column_name(source, c)) == 0)
            plans[c] = (kn_column_plan){KN_ROLE_IDENTIFIER, KN_TYPE_AUTO, KN_USE_PERSON};
        if (!known) continue;
        plans[c].type = run->asked[release].type;
        run->columns[run->n_columns] = (kn_attack_column){.release = release, .known = c};
        KN_TRY(reading_make(run, run->n_columns++, &run->asked[release], err));
    }
    if (run->n_columns == 0)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "attack"),
                   "--attack %.500s: it has none of the quasi-identifiers as a column", path);
    KN_TRY(kn_source_read(&run->known, source, plans, run->input->pool, &run->input->ticker, err));
    for (size_t i = 0; i < run->n_columns; i++) KN_TRY(classes_read(run, i, err));
    for (size_t c = 0; c < run->n_columns; c++) KN_TRY(labels_read(run, c, err));
done:
    kn_source_close(source);
    kn_free(plans);
    return status;
}

/* The k that was promised, by -k or the policy; 0: none was. */
static kn_status promised_k(double *out, const kn_request *request, kn_error *err)
{
    static const char model[] = "k-anonymity:k=";
    *out = 0;
    for (size_t i = 0; i < request->models.n; i++) {
        const char *spec = request->models.items[i], *text = spec + strlen(model);
        if (strncmp(spec, model, strlen(model)) != 0) continue;
        if (!kn_param_number(out, text) || *out < 1 || *out > 1e9 || *out != floor(*out))
            return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "k"),
                                   "-k: '%.40s' is not a whole number from 1 to 1000000000", text);
    }
    return KN_OK;
}

/* A person whom nobody released fits no row; more than a few are rather a sign that cells were misread. */
static void warn_of_not_found(risk_run *run)
{
    enum { A_FEW = 3 };
    const kn_attack_result *found = run->attack;
    if (found->n_not_found < A_FEW || (double)found->n_not_found <= 0.01 * (double)found->n_persons) return;
    kn_sentences_add(&run->input->warnings,
                     KN_SAID(KN_SAY_NOT_FOUND, kn_piece_number("%llu", (unsigned long long)found->n_not_found),
                             kn_piece_number("%llu", (unsigned long long)found->n_persons)));
}

static kn_status attack_make(risk_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    const char *path = run->request->attack;
    const kn_table *table = run->input->table;
    if (path == NULL) return KN_OK;
    KN_TRY(promised_k(&run->promised_k, run->request, err));
    const kn_attack_options options = {.k = run->promised_k > 0 ? (uint64_t)run->promised_k : 2,
                                       .guard_formulas =
                                           run->request->guard_formulas || kn_schema_is_guarded(run->input->schema),
                                       .redact = run->input->redact};
    KN_TRY(known_read(run, path, err));
    KN_NEW(run->sensitive, table->n_columns + 1);
    for (uint32_t c = 0; c < table->n_columns; c++)
        if (table->columns[c].role == KN_ROLE_SENSITIVE) run->sensitive[run->n_sensitive++] = c;
    KN_TRY(kn_attack_run(&run->attack, table, run->known, run->columns, run->n_columns, run->sensitive,
                         run->n_sensitive, &options, run->input->pool, &run->input->ticker, err));
    warn_of_not_found(run);
    run->report.attack = run->attack;
    run->report.attack_name = path;
    run->report.attack_k = options.k;
done:
    return status;
}

static kn_status results_make(kn_result **out, risk_run *run, kn_error *err)
{
    kn_status status = KN_OK;
    kn_result *result = NULL;
    char *html = NULL;
    kn_targets *targets = run->input->targets;
    run->report.language = run->request->language;
    run->report.origin = kn_run_page_origin(run->request);
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_report_risk_text(&result->text, &run->report, err));
    KN_TRY(kn_report_risk_json(&result->json, &run->report, err));
    if (run->request->report != NULL) {
        KN_TRY(kn_report_risk_html(&html, &run->report, err));
        KN_TRY(kn_targets_text(targets, "report", html, err));
    }
    KN_TRY(kn_input_deliver(run->input, result, err));
    *out = result;
    result = NULL;
done:
    kn_result_free(result);
    kn_free(html);
    return status;
}

static void clean_up(risk_run *run)
{
    kn_report_free(&run->report);
    kn_attack_result_free(run->attack);
    for (size_t i = 0; i < run->n_columns; i++) {
        kn_tree_free(run->trees[i]);
        kn_free(run->orders[i]);
    }
    kn_free(run->orders);
    kn_free(run->trees);
    kn_free(run->asked);
    kn_free(run->columns);
    kn_free(run->sensitive);
    kn_table_free(run->known);
    kn_population_free(run->population);
    kn_free(run->populations);
    kn_input_free(run->input);
}

kn_status kn_job_risk(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    risk_run run = {.request = request};
    *out = NULL;
    KN_TRY(kn_input_new(&run.input, request, KN_OUTPUT_IF_ASKED, err));
    KN_TRY(table_read(&run, err));
    if (run.input->table->n_rows == 0) kn_sentences_add(&run.input->warnings, kn_said(KN_SAY_EMPTY_TABLE));
    KN_TRY(kn_input_encode(run.input, false, err));
    if (run.input->n_qis == 0) KN_TRY(kn_input_ask_for_qis(err));
    KN_TRY(kn_tuples_histograms(run.input->tuples, run.input->pool, err));
    run.report.threshold = request->threshold;
    run.facts.table = run.input->table;
    if (run.input->table->person != KN_NONE) run.facts.unit = request->unit; /* otherwise rows are counted */
    run.facts.tuples = run.input->tuples;
    run.facts.data_name = run.input->table->source;
    run.report.facts = &run.facts;
    run.report.redact = run.input->redact;
    KN_TRY(population_read(&run, err));
    KN_TRY(attack_make(&run, err));
    KN_TRY(kn_report_analyse(&run.report, run.input->pool, &run.input->ticker, err));
    KN_TRY(results_make(out, &run, err));
    /* A release in which somebody fits fewer than the k rows that were promised does not keep the promise. */
    if (run.attack != NULL && run.attack->n_fewer_than_k > 0 && run.promised_k > 0)
        KN_FAIL(KN_NOT_MET, "%llu named persons fit fewer than %llu rows",
                (unsigned long long)run.attack->n_fewer_than_k, (unsigned long long)run.report.attack_k);
done:
    clean_up(&run);
    return status;
}
