/* `kanon list`: the registries as a person and as a program want them. */
#include "search/search.h"
#include "hierarchy/build.h"
#include "policy/settings.h"
#include "run/result.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    const char *name, *summary, *citation;
    const kn_param *params;
    size_t n_params;
} entry;

static json_t *param_json(const kn_param *param)
{
    static const char *const types[] = {"int", "number", "choice", "bool", "text"};
    json_t *object = json_pack("{s:s, s:s, s:b, s:s}", "name", param->name, "type", types[param->type], "required",
                               param->required, "help", param->help != NULL ? param->help : "");
    if (param->preset != NULL) json_object_set_new(object, "default", json_string(param->preset));
    if (param->choices != NULL) json_object_set_new(object, "choices", json_string(param->choices));
    if (param->type == KN_PARAM_INT || param->type == KN_PARAM_NUMBER) {
        json_object_set_new(object, "min", json_real(param->min));
        json_object_set_new(object, "max", json_real(param->max));
    }
    return object;
}

static void add_entry(kn_buffer *text, json_t *list, const entry *e)
{
    kn_buffer_printf(text, "%s\n    %s\n", e->name, e->summary);
    json_t *params = json_array();
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
        json_array_append_new(params, param_json(param));
    }
    if (e->citation != NULL) kn_buffer_printf(text, "    %s\n", e->citation);
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "name", e->name, "summary", e->summary, "citation",
                                          e->citation != NULL ? e->citation : "", "params", params));
}

static kn_status list_entries(kn_buffer *text, json_t *list, const char *what, kn_error *err)
{
    size_t n;
    if (strcmp(what, "algorithms") == 0) {
        const kn_algorithm *const *all = kn_algorithm_all(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, list,
                      &(entry){all[i]->name, all[i]->summary, all[i]->citation, all[i]->params, all[i]->n_params});
    } else if (strcmp(what, "measures") == 0) {
        const kn_measure *const *all = kn_measure_all(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, list,
                      &(entry){all[i]->name, all[i]->summary, all[i]->citation, all[i]->params, all[i]->n_params});
    } else if (strcmp(what, "models") == 0) {
        const kn_privacy *const *all = kn_privacy_all(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, list,
                      &(entry){all[i]->name, all[i]->summary, all[i]->citation, all[i]->params, all[i]->n_params});
    } else if (strcmp(what, "hierarchies") == 0) {
        const kn_hierarchy_spec *all = kn_hierarchy_specs(&n);
        for (size_t i = 0; i < n; i++)
            add_entry(text, list, &(entry){.name = all[i].syntax, .summary = all[i].summary});
        add_entry(text, list,
                  &(entry){.name = "FILE", .summary = "one line per value: value first, root last, separated by ;"});
    } else {
        return kn_error_set(err, KN_USAGE, "list what? algorithms, measures, models or hierarchies, not '%.40s'", what);
    }
    return KN_OK;
}

kn_status kn_list(kn_result **out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_result *result = NULL;
    kn_buffer text = {0}, json = {0};
    json_t *list = json_array();
    char *dumped = NULL;
    const char *what = kn_settings_text(settings, "what");
    *out = NULL;
    if (what == NULL) KN_FAIL(KN_USAGE, "list what? algorithms, measures, models or hierarchies");
    KN_TRY(list_entries(&text, list, what, err));
    KN_TRY(kn_result_new(&result, err));
    json_t *root = json_object();
    json_object_set(root, what, list);
    dumped = json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    if (dumped == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_buffer_printf(&json, "%s\n", dumped);
    KN_TRY(kn_buffer_finish(&result->text, &text, err));
    KN_TRY(kn_buffer_finish(&result->json, &json, err));
    KN_TRY(kn_result_save_json(result, settings, err));
    *out = result;
    result = NULL;
done:
    free(dumped);
    json_decref(list);
    kn_buffer_free(&text);
    kn_buffer_free(&json);
    kn_result_free(result);
    return status;
}
