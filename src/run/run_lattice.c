/* `kanon lattice`: every full-domain generalization of a table with its smallest class, suppressed rows and measures,
 * as CSV; the feasible, the minimal and the best nodes counted in the summary. */
#include "base/json_writer.h"
#include "engine/lattice/lattice_table.h"
#include "report/report_data.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/result.h"

#include <string.h>

enum { MAX_NODES = 1000000 };

/* The measures that a node can be priced by without recoding the table. */
static kn_status list_objectives(kn_objective ***out, size_t *n_objectives, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    KN_NEW(*out, n);
    *n_objectives = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i]->price_release != NULL || (all[i]->needs != 0 && input->tuples->n_sensitive == 0)) continue;
        KN_TRY(kn_objective_new(&(*out)[*n_objectives], all[i]->name, input->tuples, err));
        (*n_objectives)++;
    }
done:
    return status;
}

static kn_status put_text(void *context, const char *bytes, size_t n_bytes, kn_error *err)
{
    return kn_output_write(context, bytes, n_bytes, err);
}

static kn_status write_page(const kn_lattice_table *table, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const char *name = kn_settings_text(input->settings, "language");
    kn_language language = name != NULL ? kn_language_find(name) : KN_LANGUAGE_EN;
    char *html = NULL;
    if (kn_settings_text(input->settings, "report") == NULL) return KN_OK;
    KN_TRY(kn_report_lattice_html(&html, table, input->table->source,
                                  language < KN_N_LANGUAGES ? language : KN_LANGUAGE_EN, err));
    KN_TRY(kn_targets_text(input->targets, "report", html, err));
done:
    kn_free(html);
    return status;
}

static void append_levels(kn_buffer *text, const kn_lattice_table *table, size_t node)
{
    uint32_t n_qis = table->tuples->n_qis;
    for (uint32_t q = 0; q < n_qis; q++)
        kn_buffer_printf(text, "%s%u", q == 0 ? "[" : ",", table->levels[node * n_qis + q]);
    kn_buffer_char(text, ']');
}

typedef struct counts {
    size_t n_feasible, n_minimal;
} counts;

static counts count_nodes(const kn_lattice_table *table)
{
    counts found = {0};
    for (size_t i = 0; i < table->n; i++) {
        found.n_feasible += table->entries[i].node.feasible;
        found.n_minimal += table->entries[i].minimal;
    }
    return found;
}

static kn_status summarize(kn_result *result, const kn_lattice_table *table, const kn_objective *objective,
                           kn_error *err)
{
    enum { SHOWN = 10 };
    kn_buffer text = {0};
    counts found = count_nodes(table);
    kn_buffer_printf(&text, "%zu nodes, %zu feasible, %zu minimal\n", table->n, found.n_feasible, found.n_minimal);
    kn_buffer_printf(&text, "  %-14s", "minimal");
    for (size_t i = 0, shown = 0; i < table->n && shown < SHOWN; i++) {
        if (!table->entries[i].minimal) continue;
        if (shown++ != 0) kn_buffer_char(&text, ' ');
        append_levels(&text, table, i);
    }
    kn_buffer_printf(&text, "%s\n", found.n_minimal > SHOWN ? " ..." : "");
    if (table->best < table->n) {
        kn_buffer_printf(&text, "  %-14s", "best");
        append_levels(&text, table, table->best);
        const kn_node *node = &table->entries[table->best].node;
        kn_buffer_printf(&text, ", %s %.6g, %llu row%s suppressed\n", objective->type->name, node->loss,
                         (unsigned long long)node->n_suppressed, node->n_suppressed == 1 ? "" : "s");
    }
    return kn_buffer_finish(&result->text, &text, err);
}

static void put_levels(kn_json *json, const char *key, const kn_lattice_table *table, size_t node)
{
    uint32_t n_qis = table->tuples->n_qis;
    kn_json_array(json, key);
    for (uint32_t q = 0; q < n_qis; q++) kn_json_count(json, NULL, table->levels[node * n_qis + q]);
    kn_json_end(json);
}

static void put_best(kn_json *json, const kn_lattice_table *table)
{
    if (table->best >= table->n) {
        kn_json_null(json, "best");
        return;
    }
    const kn_node *node = &table->entries[table->best].node;
    kn_json_object(json, "best");
    put_levels(json, "levels", table, table->best);
    kn_json_real(json, "loss", node->loss);
    kn_json_count(json, "suppressed", node->n_suppressed);
    kn_json_end(json);
}

/* All minimal nodes; the full table is the CSV's. */
static kn_status put_json(kn_result *result, const kn_lattice_table *table, const kn_input *input,
                          const kn_seconds *seconds, kn_error *err)
{
    kn_json json = {0};
    counts found = count_nodes(table);
    kn_json_object(&json, NULL);
    kn_json_text(&json, "measure", input->objective->type->name);
    kn_json_count(&json, "nodes", table->n);
    kn_json_count(&json, "feasible", found.n_feasible);
    kn_json_array(&json, "minimal");
    for (size_t i = 0; i < table->n; i++)
        if (table->entries[i].minimal) put_levels(&json, NULL, table, i);
    kn_json_end(&json);
    put_best(&json, table);
    kn_json_object(&json, "seconds");
    kn_json_real(&json, "read", seconds->read);
    kn_json_real(&json, "encode", seconds->encode);
    kn_json_real(&json, "search", seconds->search);
    kn_json_real(&json, "write", seconds->write);
    kn_json_real(&json, "total", seconds->total);
    kn_json_end(&json);
    kn_json_count(&json, "peak_bytes", kn_memory_peak());
    kn_json_end(&json);
    return kn_json_finish(&result->json, &json, err);
}

kn_status kn_job_lattice(kn_result **out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_objective **objectives = NULL;
    size_t n_objectives = 0;
    kn_lattice_table *table = NULL;
    kn_result *result = NULL;
    kn_args no_args = {0};
    double began = kn_seconds_now(), memory_bytes = kn_settings_number(settings, "memory", 0);
    kn_seconds seconds = {0};
    *out = NULL;
    KN_TRY(kn_input_new(&input, settings, KN_OUTPUT_STDOUT, err));
    KN_TRY(kn_input_read(input, "data", KN_COLUMNS_OF_DATA, err));
    KN_TRY(kn_input_encode(input, true, err));
    KN_TRY(kn_tuples_histograms(input->tuples, input->pool, err));
    KN_TRY(kn_input_goals(input, err));
    KN_TRY(list_objectives(&objectives, &n_objectives, input, err));
    size_t used_bytes = kn_memory_used();
    kn_task task = {.tuples = input->tuples,
                    .models = input->models,
                    .objective = input->objective,
                    .args = &no_args,
                    .max_suppressed = input->max_suppressed,
                    .pool = input->pool,
                    .ticker = &input->ticker,
                    .memory_bytes = memory_bytes > (double)used_bytes ? (size_t)memory_bytes - used_bytes : 0};
    double searched = kn_seconds_now();
    KN_TRY(kn_lattice_table_new(&table, &task, (const kn_objective *const *)objectives, n_objectives, MAX_NODES, err));
    double listed = kn_seconds_now();
    KN_TRY(
        kn_lattice_table_csv(table, input->form.delimiter, put_text, kn_targets_output(input->targets, "output"), err));
    KN_TRY(write_page(table, input, err));
    seconds = (kn_seconds){.read = input->seconds_read,
                           .encode = input->seconds_encode,
                           .search = listed - searched,
                           .write = kn_seconds_now() - listed,
                           .total = kn_seconds_now() - began};
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(put_json(result, table, input, &seconds, err));
    KN_TRY(summarize(result, table, input->objective, err));
    KN_TRY(kn_buffer_finish(&result->warnings, &input->warnings, err));
    KN_TRY(kn_targets_text(input->targets, "json", result->json, err));
    KN_TRY(kn_targets_commit(input->targets, &input->ticker, err));
    *out = result;
    result = NULL;
done:
    for (size_t i = 0; objectives != NULL && i < n_objectives; i++) kn_objective_free(objectives[i]);
    kn_free(objectives);
    kn_lattice_table_free(table);
    kn_result_free(result);
    kn_input_free(input);
    return status;
}
