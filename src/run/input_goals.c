/* What a request wants of a release: k, models and objective, the thresholds, the cells and the algorithm. */
#include "run/input.h"

#include "base/suggest.h"
#include "duckdb/duckdb.h"
#include "hierarchy/builders.h"
#include "run/notes.h"
#include "run/people.h"
#include "sink/sink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

kn_status kn_input_need_k(const kn_request *request, kn_error *err)
{
    for (size_t i = 0; i < request->models.n; i++)
        if (strncmp(request->models.items[i], "k-anonymity", strlen("k-anonymity")) == 0) return KN_OK;
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "k"),
                           "how many people must look alike? Give -k N (1 asks for nothing)");
}

/* At most as many rows as there are. */
void kn_input_suppression(kn_input *input)
{
    double limit = input->request->max_suppressed.amount;
    const uint64_t n_rows = kn_table_rows(input->table);
    if (input->request->max_suppressed.is_percent) limit = floor(limit * (double)n_rows / 100 + 1e-9);
    input->max_suppressed = limit < (double)n_rows ? (uint64_t)limit : n_rows;
}

/* A model protects a column when it looks at the values there. */
static bool is_protected(const kn_input *input, const char *name)
{
    for (size_t m = 0; m < input->models->n; m++) {
        const kn_model *model = &input->models->items[m];
        if ((model->type->needs & KN_NEEDS_HISTOGRAM) == 0) continue;
        const char *column = kn_args_text(&model->args, "column");
        if (column == NULL || strcmp(column, name) == 0) return true; /* left out: there is only one */
    }
    return false;
}

/* A threshold beyond which a few people are tells of them. Counted in persons where they are known. */
static kn_status check_threshold(kn_input *input, const kn_domain *domain, const char *option, const char *text,
                                 bool is_top, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = input->tuples;
    bool *seen = NULL;
    uint64_t n = 0;
    const kn_coding *coding = domain->coding;
    const uint32_t value = is_top ? coding->top : coding->bottom == KN_NONE ? KN_NONE : 0;
    if (tuples->row_person != NULL) KN_NEW(seen, tuples->n_person_numbers + (size_t)1);
    if (domain->column->whole_rows != NULL) goto done; /* is for whoever has the whole table */
    for (uint32_t row = 0; value != KN_NONE && row < tuples->n_records; row++) {
        const uint32_t at = kn_column_value(domain->column, kn_column_code(domain->column, row));
        if (at >= coding->n_values || kn_coding_value(coding, at) != value ||
            (is_top ? at < coding->top : at > coding->bottom))
            continue;
        if (tuples->row_person == NULL) n += kn_tuples_count(tuples, row);
        for (uint64_t i = 0; tuples->row_person != NULL && i < kn_tuples_persons(tuples, row); i++) {
            n += !seen[tuples->row_person[row] + i];
            seen[tuples->row_person[row] + i] = true;
        }
    }
    if (n == 0) {
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_NOBODY_BEYOND, kn_piece_text(domain->name),
                                                   kn_piece_text(option), kn_piece_text(text)));
    } else if (n < input->models->min_persons) {
        KN_FAIL_AT(
            KN_USAGE, KN_PLACE(.option = option, .column = domain->name),
            "column %s: only %llu persons are beyond %s: %.40s, fewer than k, so that the threshold tells of them; "
            "choose one with at least %llu beyond it",
            domain->name, (unsigned long long)n, option, text, (unsigned long long)input->models->min_persons);
    }
done:
    kn_free(seen);
    return status;
}

kn_status kn_input_thresholds(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t q = 0; q < input->n_qis; q++) {
        const kn_domain *domain = input->domains[q];
        const char *top = kn_domain_top(domain), *bottom = kn_domain_bottom(domain);
        if (top != NULL) status = check_threshold(input, domain, "top", top, true, err);
        KN_TRY(kn_problem_note(input->problems, status, err));
        if (bottom != NULL) status = check_threshold(input, domain, "bottom", bottom, false, err);
        KN_TRY(kn_problem_note(input->problems, status, err));
    }
done:
    return status;
}

/* Groups made from the data are for columns that somebody could look through. */
static void warn_of_ungrouped(kn_input *input, const kn_domain *domain)
{
    const kn_column *column = domain->column;
    char shown[KN_SHOWN_BYTES];
    if (domain->tree == NULL || domain->naming != KN_NAMES_GROUP || column->n_values <= KN_MOST_SIMILAR) return;
    kn_sentences_add(&input->warnings,
                     KN_SAID(KN_SAY_TOO_MANY_TO_GROUP,
                             kn_piece_text(kn_settings_column_shown(shown, input->request->settings, column->name,
                                                                    (uint32_t)(column - input->table->columns))),
                             kn_piece_number("%u", column->n_values), kn_piece_number("%u", KN_MOST_SIMILAR)));
}

/* `similar` by itself. Where `auto` pools rare values nobody asked for similar ones. */
static void warn_of_similar(kn_input *input, const kn_domain *domain, const char *name)
{
    const bool has_groups = domain->n_codes > KN_SMALL_SET && domain->n_codes <= KN_MOST_SIMILAR;
    if (has_groups) kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_SIMILAR_ALONE, kn_piece_text(name)));
}

/* A classification that does not know more than a tenth of the cells, or of the values and more than `auto` lets pass
 * as slips of the pen: the column probably holds something else, or in other words. */
static void warn_of_unclassified(kn_input *input, const kn_domain *domain, const char *name)
{
    static const double most = 0.1, most_slips = 0.01;
    const kn_tree *tree = domain->tree;
    const uint32_t other = tree != NULL ? kn_tree_find(tree, "other", strlen("other")) : KN_NONE;
    uint64_t n_rows = 0, n_other_rows = 0;
    uint32_t n_values = 0, n_other = 0;
    if (other == KN_NONE) return;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        const bool is_other = code >= tree->first[other] && code <= tree->last[other];
        if (code == domain->missing) continue;
        n_values++;
        n_other += is_other;
        n_rows += kn_domain_seen_rows(domain, code);
        n_other_rows += is_other ? kn_domain_seen_rows(domain, code) : 0;
    }
    const double share = n_rows > 0 ? (double)n_other_rows / (double)n_rows : 0;
    if (share <= most && (n_other <= most * n_values || share <= most_slips)) return;
    kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_UNCLASSIFIED, kn_piece_text(name),
                                               kn_piece_text(domain->class_name), kn_piece_number("%u", n_other),
                                               kn_piece_number("%u", n_values), kn_piece_number("%.2g", share)));
}

void kn_input_warn_hierarchy(kn_input *input, const kn_domain *domain, const char *spec, uint32_t n_others)
{
    const kn_column *column = domain->column;
    char shown[KN_SHOWN_BYTES];
    const char *name = kn_settings_column_shown(shown, input->request->settings, column->name,
                                                (uint32_t)(column - input->table->columns));
    if (spec != NULL && strcmp(spec, "similar") == 0 && n_others == 0) warn_of_similar(input, domain, name);
    if (domain->class_name != NULL) warn_of_unclassified(input, domain, name);
}

void kn_input_warn(kn_input *input)
{
    if (input->table->n_rows == 0) kn_sentences_add(&input->warnings, kn_said(KN_SAY_EMPTY_TABLE));
    if (input->n_qis == 0) kn_sentences_add(&input->warnings, kn_said(KN_SAY_NO_QUASI_IDENTIFIERS));
    for (uint32_t q = 0; q < input->n_qis; q++) {
        const size_t c = (size_t)(input->domains[q]->column - input->table->columns);
        warn_of_ungrouped(input, input->domains[q]);
        kn_input_warn_hierarchy(input, input->domains[q], input->choices[c].hierarchy, input->n_qis - 1);
    }
    for (uint32_t s = 0; s < input->tuples->n_table_sensitive; s++) {
        const char *name = input->tuples->sensitive[s].column->name;
        if (!is_protected(input, name))
            kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_UNPROTECTED, kn_piece_text(name)));
    }
}

kn_status kn_input_goals(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_request *request = input->request;
    KN_TRY(kn_input_need_k(request, err));
    status = kn_models_read(&input->models, (const char *const *)request->models.items, request->models.n,
                            input->tuples, &input->other_sources, input->pool, err);
    KN_TRY(kn_error_about(err, status, KN_PLACE(.option = "model")));
    KN_TRY(kn_measure_join(request->measure, input->tuples, err));
    status = kn_objective_new(&input->objective, request->measure, input->tuples, err);
    KN_TRY(kn_error_about(err, status, KN_PLACE(.option = "measure")));
    kn_input_suppression(input);
    if ((input->models->needs & KN_NEEDS_HISTOGRAM) != 0 || input->objective->type->needs != 0)
        KN_TRY(kn_tuples_histograms(input->tuples, input->pool, err));
    KN_TRY(kn_models_possible(input->models, input->tuples, input->max_suppressed, err));
    KN_TRY(kn_input_thresholds(input, err));
    kn_input_warn(input);
    kn_note_goals(input);
done:
    return status;
}

kn_file_kind kn_output_kind(const kn_request *request)
{
    return request->output != NULL ? kn_file_kind_of(request->output) : KN_FILE_CSV;
}

/* Who asks for bounds gets labels there. */
static void warn_of_times(kn_input *input, const kn_released_column *columns, uint32_t n_columns)
{
    for (uint32_t c = 0; c < n_columns; c++)
        if (columns[c].form.has_times)
            kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_BOUNDS_ARE_DAYS, kn_piece_text(columns[c].column->name)));
}

kn_status kn_input_cells(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_released_column *columns = NULL;
    uint32_t n_columns = 0;
    const char **names = NULL, *target = input->request->output;
    const kn_file_kind kind = kn_output_kind(input->request);
    if (kind == KN_FILE_JSON)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "output", .file = target),
                   "%.200s: a release is written as CSV or, to NAME.parquet, as Parquet; choose another name", target);
    if (input->request->cells != KN_CELLS_LABELS && input->csv.no_header)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "cells"),
                   "--cells: columns of bounds are known by their names, and a file without a header has none; say "
                   "--cells labels, or give the table a header");
    KN_TRY(kn_released_plan(&columns, &n_columns, input->tuples, input->request->cells, err));
    KN_NEW(names, n_columns);
    for (uint32_t c = 0; c < n_columns; c++) names[c] = columns[c].name;
    warn_of_times(input, columns, n_columns);
    if (kind == KN_FILE_PARQUET) KN_TRY(kn_duckdb_can_write(names, n_columns, target, err));
done:
    kn_free(names);
    kn_released_columns_free(columns, n_columns);
    return status;
}

/* Does a model count people of a population file? Local searches cannot. */
static bool needs_population(const kn_request *request)
{
    char name[64];
    for (size_t i = 0; i < request->models.n; i++) {
        const char *spec = request->models.items[i];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
        const kn_privacy *type = kn_privacy_find(name);
        if (type != NULL && (type->needs & KN_NEEDS_POPULATION) != 0) return true;
    }
    return false;
}

/* Exact when the table is tiny and the measure a sum over cells; otherwise what loses least. */
static const kn_algorithm *choose_algorithm(const char **why, const kn_request *request, const kn_table *table)
{
    enum { TINY_ROWS = 12 };
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(request->measure, ":"), request->measure);
    const kn_measure *type = kn_measure_find(name);
    if (request->count != NULL && request->given == NULL) {
        *why = "auto: the best full-domain recoding, because the table has counts";
        return kn_algorithm_find("optimal");
    }
    if (request->recoding == KN_ASKED_GLOBAL) {
        *why = "auto: the best full-domain recoding, because --recoding global was asked for";
        return kn_algorithm_find("optimal");
    }
    if (request->n_levels > 0) {
        *why = "auto: the best full-domain recoding, because levels were limited";
        return kn_algorithm_find("optimal");
    }
    if (needs_population(request)) {
        *why = "auto: the best full-domain recoding, because a model counts people of a population file";
        return kn_algorithm_find("optimal");
    }
    if (table != NULL && request->given == NULL && table->n_rows <= TINY_ROWS && type != NULL &&
        type->price_cell != NULL) {
        *why = "auto: the table is small enough to try every partition";
        return kn_algorithm_find("exhaustive");
    }
    const kn_algorithm *cluster = kn_algorithm_find("cluster");
    *why = "auto: local recoding loses least, and nothing asked for a global one";
    return cluster != NULL ? cluster : kn_algorithm_find("mondrian");
}

kn_status kn_input_named_algorithm(const kn_algorithm **out, const char **params, const char *spec, const char *option,
                                   kn_error *err)
{
    char name[64];
    size_t n = strcspn(spec, ":");
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), spec);
    *params = spec[n] == ':' ? spec + n + 1 : NULL;
    *out = kn_algorithm_find(name);
    if (*out != NULL) return KN_OK;
    size_t n_all;
    const kn_algorithm *const *all = kn_algorithm_all(&n_all);
    const char *nearest = NULL;
    for (size_t i = 0; i < n_all; i++) {
        const char *const both[] = {all[i]->name, nearest};
        nearest = kn_suggest(name, both, nearest != NULL ? 2 : 1);
    }
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = option),
                           "there is no algorithm '%s'%s%s%s; 'kanon list algorithms' shows them", name,
                           nearest != NULL ? " (did you mean '" : "", nearest != NULL ? nearest : "",
                           nearest != NULL ? "'?)" : "");
}

kn_status kn_input_algorithm(const kn_algorithm **out, const char **params, const char **why, const kn_request *request,
                             const kn_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    *why = NULL;
    *out = NULL;
    *params = NULL;
    if (strcmp(request->algorithm, "auto") == 0) {
        *out = choose_algorithm(why, request, table);
        goto done;
    }
    KN_TRY(kn_input_named_algorithm(out, params, request->algorithm, "algorithm", err));
    if (request->recoding == KN_ASKED_GLOBAL && (*out)->recoding == KN_RECODING_LOCAL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "recoding"), "%s recodes locally, and --recoding global was asked for",
                   (*out)->name);
done:
    return status;
}
