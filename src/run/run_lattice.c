/* `kanon lattice`: every full-domain generalization of a table with its smallest class, suppressed rows and measures,
 * as CSV; the feasible, the minimal and the best nodes counted in the summary. */
#include "run/run_lattice.h"
#include "run/input.h"
#include "run/jobs.h"
#include "run/result.h"
#include "run/run_report.h"

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

static kn_status write_page(const kn_lattice_facts *lattice, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    char *html = NULL;
    if (input->request->report == NULL) return KN_OK;
    KN_TRY(kn_lattice_facts_html(&html, lattice, input->request->language, err));
    KN_TRY(kn_targets_text(input->targets, "report", html, err));
done:
    kn_free(html);
    return status;
}

/* [SV] Definition 3.5: on any way up from the bottom the first allowed node is locally minimal. A node is met by a way
 * through a node right below that was met and is not allowed. Nodes stand by level vector, the last QI counting
 * fastest, so those below come first. */
static kn_status mark_locally_minimal(kn_report_node *nodes, const kn_lattice_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = table->tuples->n_qis;
    const uint32_t *lowest = table->levels;
    bool *met = NULL;
    KN_NEW(met, table->n);
    for (size_t i = 0; i < table->n; i++) {
        const uint32_t *levels = &table->levels[i * n_qis], *highest = &table->levels[(table->n - 1) * n_qis];
        size_t step = 1; /* to the node one level lower in column q */
        met[i] = i == 0;
        for (uint32_t q = n_qis; q-- > 0; step *= highest[q] - lowest[q] + 1)
            if (levels[q] > lowest[q] && met[i - step] && !nodes[i - step].allowed) met[i] = true;
        nodes[i].locally = met[i] && nodes[i].allowed;
    }
done:
    kn_free(met);
    return status;
}

kn_status kn_run_nodes(kn_report_node **out, const kn_lattice_table *table, const uint32_t *chosen, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = table->tuples->n_qis;
    kn_report_node *nodes = NULL;
    KN_NEW(nodes, table->n + 1);
    for (size_t i = 0; i < table->n; i++) {
        const kn_lattice_entry *entry = &table->entries[i];
        bool is_chosen = chosen != NULL ? true : i == table->best;
        for (uint32_t q = 0; q < n_qis && chosen != NULL; q++) is_chosen &= table->levels[i * n_qis + q] == chosen[q];
        nodes[i] = (kn_report_node){.height = entry->height,
                                    .allowed = entry->node.feasible,
                                    .minimal = entry->minimal,
                                    .chosen = is_chosen,
                                    .loss = entry->node.loss,
                                    .smallest_class = entry->node.smallest,
                                    .n_classes = entry->node.n_classes,
                                    .n_suppressed = entry->node.n_suppressed};
    }
    KN_TRY(mark_locally_minimal(nodes, table, err));
done:
    *out = nodes;
    return status;
}

kn_status kn_job_lattice(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_input *input = NULL;
    kn_objective **objectives = NULL;
    size_t n_objectives = 0;
    kn_lattice_table *table = NULL;
    kn_report_node *nodes = NULL;
    kn_result *result = NULL;
    kn_args no_args = {0};
    double began = kn_seconds_now();
    kn_lattice_facts lattice;
    *out = NULL;
    KN_TRY(kn_input_new(&input, request, KN_OUTPUT_STDOUT, err));
    KN_TRY(kn_input_read(input, request->data, KN_COLUMNS_OF_DATA, err));
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
                    .memory_bytes = request->memory > used_bytes ? request->memory - used_bytes : 0};
    double searched = kn_seconds_now();
    KN_TRY(kn_lattice_table_new(&table, &task, (const kn_objective *const *)objectives, n_objectives, MAX_NODES, err));
    double listed = kn_seconds_now();
    KN_TRY(kn_run_nodes(&nodes, table, NULL, err));
    lattice = (kn_lattice_facts){.data_name = input->table->source,
                                 .origin = kn_run_page_origin(input->request),
                                 .tuples = input->tuples,
                                 .objective = input->objective,
                                 .nodes = nodes,
                                 .n = table->n,
                                 .best = table->best,
                                 .levels = table->levels,
                                 .measures = table->measures,
                                 .n_measures = table->n_measures,
                                 .losses = table->losses};
    KN_TRY(kn_lattice_facts_csv(&lattice, input->form.delimiter, put_text, kn_targets_output(input->targets, "output"),
                                err));
    KN_TRY(write_page(&lattice, input, err));
    lattice.seconds = (kn_seconds){.read = input->seconds_read,
                                   .encode = input->seconds_encode,
                                   .search = listed - searched,
                                   .write = kn_seconds_now() - listed,
                                   .total = kn_seconds_now() - began};
    lattice.peak_bytes = kn_memory_peak();
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_lattice_facts_json(&result->json, &lattice, err));
    KN_TRY(kn_lattice_facts_text(&result->text, &lattice, err));
    KN_TRY(kn_input_deliver(input, result, err));
    *out = result;
    result = NULL;
done:
    for (size_t i = 0; objectives != NULL && i < n_objectives; i++) kn_objective_free(objectives[i]);
    kn_free(objectives);
    kn_free(nodes);
    kn_lattice_table_free(table);
    kn_result_free(result);
    kn_input_free(input);
    return status;
}
