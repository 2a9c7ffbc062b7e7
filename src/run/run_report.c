/* Settings, hashes and date, put beside the facts. */
#include "run/run_report.h"

#include "base/sha256.h"
#include "report/report_data.h"
#include "run/run_lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* SOURCE_DATE_EPOCH makes reports reproducible, as it does for builds. */
kn_page_origin kn_run_page_origin(const kn_request *request)
{
    kn_page_origin origin = {.policy_path = request->policy_path};
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    time_t now = fixed != NULL ? (time_t)strtoll(fixed, NULL, 10) : time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) == NULL || strftime(origin.date, sizeof origin.date, "%Y-%m-%d %H:%M UTC", &parts) == 0)
        origin.date[0] = '\0';
    if (request->policy_path != NULL) strcpy(origin.policy_hash, request->policy_hash);
    return origin;
}

/* Only what is in force: what a flag overrides in the policy is left out. Models without the values of the data that
 * some of them name; -k is among the others. */
static kn_status list_settings(kn_report_setting **out, size_t *n, const kn_request *request, const kn_facts *facts,
                               kn_error *err)
{
    kn_status status = KN_OK;
    *n = 0;
    KN_NEW(*out, request->n_listed + facts->n_models + 1);
    for (size_t i = 0; i < request->n_listed; i++) {
        const kn_setting *item = request->listed[i];
        (*out)[(*n)++] = (kn_report_setting){.option = item->option, .value = item->value, .where = item->where};
    }
    for (size_t m = 0; m < facts->n_models && m < request->models.n; m++) {
        const kn_setting *asked = request->asked_models[m];
        if (strcmp(asked->option, "model") != 0) continue;
        (*out)[(*n)++] = (kn_report_setting){.option = asked->option,
                                             .value = facts->models[m].name,
                                             .params = facts->models[m].public_params,
                                             .where = asked->where};
    }
done:
    return status;
}

/* Only where the search was one over levels, and the lattice is small enough to be looked at. */
static kn_status list_nodes(kn_report_node **out, size_t *n, const kn_task *task, const uint32_t *levels, kn_error *err)
{
    enum { MOST_NODES = 5000, MOST_WORK = 60000000 }; /* nodes times tuples */
    kn_status status = KN_OK;
    const kn_tuples *tuples = task->tuples;
    kn_lattice_table *table = NULL;
    double n_nodes = 1;
    if (levels == NULL) return KN_OK;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (tuples->domains[q]->tree == NULL) return KN_OK;
        n_nodes *= tuples->domains[q]->tree->n_levels;
    }
    if (n_nodes > MOST_NODES || n_nodes * tuples->n_tuples > MOST_WORK) return KN_OK;
    KN_TRY(kn_lattice_table_new(&table, task, NULL, 0, MOST_NODES, err));
    KN_TRY(kn_run_nodes(out, table, levels, err));
    *n = table->n;
done:
    kn_lattice_table_free(table);
    return status;
}

kn_status kn_run_report(char **out, kn_input *input, const kn_facts *facts, const kn_task *task,
                        const char *release_path, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_request *request = input->request;
    kn_report_setting *list = NULL;
    kn_report_node *nodes = NULL;
    kn_report report = {.facts = facts,
                        .language = request->language,
                        .origin = kn_run_page_origin(request),
                        .warnings = &input->warnings,
                        .redact = input->redact};
    *out = NULL;
    if (request->report == NULL) return KN_OK;
    report.threshold = request->threshold;
    KN_TRY(list_settings(&list, &report.n_settings, request, facts, err));
    report.settings = list;
    if (release_path != NULL) KN_TRY(kn_sha256_file(report.release_hash, release_path, err));
    for (uint32_t s = 0; s < input->tuples->n_sensitive; s++)
        if (input->tuples->sensitive[s].by_tuple.start == NULL) {
            KN_TRY(kn_tuples_histograms(input->tuples, input->pool, err));
            break;
        }
    KN_TRY(list_nodes(&nodes, &report.n_nodes, task, facts->release->levels, err));
    report.nodes = nodes;
    KN_TRY(kn_report_analyse(&report, input->pool, &input->ticker, err));
    KN_TRY(kn_report_html(out, &report, err));
done:
    kn_report_free(&report);
    kn_free(nodes);
    kn_free(list);
    return status;
}
