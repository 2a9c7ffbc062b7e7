/* `kanon list`: the registries as a person and as a program want them. */
#include "base/json_writer.h"
#include "search/search.h"
#include "hierarchy/build.h"
#include "run/jobs.h"
#include "run/result.h"
#include "run/targets.h"

#include <string.h>

typedef struct entry {
    const char *name, *summary, *citation;
    const kn_param *params;
    size_t n_params;
} entry;

static void put_param(kn_json *json, const kn_param *param)
{
    static const char *const types[] = {"int", "number", "choice", "bool", "text"};
    kn_json_object(json, NULL);
    kn_json_text(json, "name", param->name);
    kn_json_text(json, "type", types[param->type]);
    kn_json_bool(json, "required", param->required);
    kn_json_text(json, "help", param->help != NULL ? param->help : "");
    if (param->preset != NULL) kn_json_text(json, "default", param->preset);
    if (param->choices != NULL) kn_json_text(json, "choices", param->choices);
    if (param->type == KN_PARAM_INT || param->type == KN_PARAM_NUMBER) {
        kn_json_real(json, "min", param->min);
        kn_json_real(json, "max", param->max);
    }
    kn_json_end(json);
}

static void add_entry(kn_buffer *text, kn_json *json, const entry *e)
{
    kn_buffer_printf(text, "%s\n    %s\n", e->name, e->summary);
    kn_json_object(json, NULL);
    kn_json_text(json, "name", e->name);
    kn_json_text(json, "summary", e->summary);
    kn_json_text(json, "citation", e->citation != NULL ? e->citation : "");
    kn_json_array(json, "params");
    for (size_t i = 0; i < e->n_params; i++) {
        const kn_param *param = &e->params[i];
        kn_buffer_printf(text, "    %s=%s", param->name,
                         param->choices != NULL         ? param->choices
                         : param->type == KN_PARAM_BOOL ? "yes|no"
                                                        : "");
        kn_buffer_printf(text, "%s%s%s%s\n", param->help != NULL ? "  " : "", param->help != NULL ? param->help : "",
                         param->preset != NULL ? "; default "
                         : param->required     ? "; required"
                                               : "",
                         param->preset != NULL ? param->preset : "");
        put_param(json, param);
    }
    if (e->citation != NULL) kn_buffer_printf(text, "    %s\n", e->citation);
    kn_json_end(json);
    kn_json_end(json);
}

static kn_status list_entries(kn_buffer *text, kn_json *json, const char *what, kn_error *err)
{
    size_t n;
    if (strcmp(what, "algorithms") == 0) {
        const kn_algorithm *const *all = kn_algorithm_all(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, json,
                      &(entry){all[i]->name, all[i]->summary, all[i]->citation, all[i]->params, all[i]->n_params});
    } else if (strcmp(what, "measures") == 0) {
        const kn_measure *const *all = kn_measure_all(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, json,
                      &(entry){all[i]->name, all[i]->summary, all[i]->citation, all[i]->params, all[i]->n_params});
    } else if (strcmp(what, "models") == 0) {
        const kn_privacy *const *all = kn_privacy_all(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, json,
                      &(entry){all[i]->name, all[i]->summary, all[i]->citation, all[i]->params, all[i]->n_params});
    } else if (strcmp(what, "hierarchies") == 0) {
        const kn_hierarchy_spec *all = kn_hierarchy_specs(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, json, &(entry){.name = all[i].syntax, .summary = all[i].summary});
        add_entry(text, json,
                  &(entry){.name = "FILE", .summary = "one line per value: value first, root last, separated by ;"});
    } else {
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "what"),
                               "list what? algorithms, measures, models or hierarchies, not '%.40s'", what);
    }
    return KN_OK;
}

kn_status kn_job_list(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_result *result = NULL;
    kn_files *files = NULL;
    kn_targets *targets = NULL;
    kn_buffer text = {0};
    kn_json json = {0};
    const char *what = request->what;
    *out = NULL;
    if (what == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "what"), "list what? algorithms, measures, models or hierarchies");
    kn_json_object(&json, NULL);
    kn_json_array(&json, what);
    KN_TRY(list_entries(&text, &json, what, err));
    kn_json_end(&json);
    kn_json_end(&json);
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_json_finish(&result->json, &json, err));
    KN_TRY(kn_buffer_finish(&result->text, &text, err));
    KN_TRY(kn_files_new(&files, NULL, err));
    KN_TRY(kn_targets_new(&targets, request, files, KN_OUTPUT_IF_ASKED, err));
    KN_TRY(kn_targets_text(targets, "json", result->json, err));
    KN_TRY(kn_targets_commit(targets, NULL, err));
    *out = result;
    result = NULL;
done:
    kn_buffer_free(&text);
    kn_buffer_free(&json.out);
    kn_targets_free(targets);
    kn_files_free(files);
    kn_result_free(result);
    return status;
}
