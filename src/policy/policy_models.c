/* `models:`, `algorithm:` and `measure:` of a policy file: an entry of a registry with its parameters. */
#include "policy/policy_read.h"

#include "base/buffer.h"
#include "base/param.h"
#include "base/suggest.h"

#include <string.h>

/* `what`: model, algorithm or measure. The name ends at a ':' at the latest. */
static kn_status find_entry(kn_entry *out, kn_policy_loader *load, const char *what, const char *name,
                            const char *where)
{
    kn_entry entries[KN_MAX_ENTRIES];
    const char *names[KN_MAX_ENTRIES];
    size_t n = load->entries(entries, what), n_bytes = strcspn(name, ":");
    for (size_t i = 0; i < n; i++) {
        names[i] = entries[i].name;
        if (strlen(names[i]) != n_bytes || memcmp(names[i], name, n_bytes) != 0) continue;
        *out = entries[i];
        return KN_OK;
    }
    const char *near = kn_suggest(name, names, n);
    return kn_error_set(load->err, KN_USAGE, "%s: there is no %s '%.*s'%s%s%s; 'kanon list %ss' shows them", where,
                        what, (int)(n_bytes < 63 ? n_bytes : 63), name, near != NULL ? " (did you mean '" : "",
                        near != NULL ? near : "", near != NULL ? "'?)" : "", what);
}

static kn_status find_param(const kn_param **out, kn_policy_loader *load, const kn_entry *owner, const char *name,
                            const char *where)
{
    kn_buffer list = {0};
    for (size_t i = 0; i < owner->n_params; i++) {
        kn_buffer_printf(&list, "%s%s", i > 0 ? ", " : "", owner->params[i].name);
        if (strcmp(owner->params[i].name, name) != 0) continue;
        *out = &owner->params[i];
        kn_buffer_free(&list);
        return KN_OK;
    }
    kn_status status = kn_error_set(load->err, KN_USAGE, "%s: %s has no parameter '%.40s'; it has %s", where,
                                    owner->name, name, list.bytes != NULL ? list.bytes : "none");
    kn_buffer_free(&list);
    return status;
}

/* One value, or a list where the parameter takes one. Names of files are relative to the policy. The registry's entry
 * knows what is allowed; a mistake is reported here, where the place is known. */
static kn_status append_parameter(kn_buffer *spec, kn_policy_loader *load, const kn_entry *owner, const char *name,
                                  const kn_yaml *value, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err, inner = {0};
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    const kn_param *param = NULL;
    KN_TRY(find_param(&param, load, owner, name, where));
    if (param->is_list && value != NULL && value->kind == KN_YAML_LIST) {
        KN_TRY(kn_policy_append_list(spec, load, name, value, '|', where));
        goto done;
    }
    KN_TRY(kn_policy_text(&text, load, name, value, where));
    status = kn_param_check(owner->name, param, text, &inner);
    if (status != KN_OK) KN_FAIL(status, "%s: %.1500s", kn_policy_place(place, load, value, where), inner.message);
    if (strcmp(name, "population") == 0 && text[0] != '/') {
        kn_policy_escape(spec, load->settings->policy_folder, 0);
        kn_buffer_char(spec, '/');
    }
    kn_policy_escape(spec, text, 0);
done:
    kn_free(text);
    return status;
}

/* {k: 11, ...} appended as ":k=11,..." */
static kn_status append_parameters(kn_buffer *spec, kn_policy_loader *load, const kn_yaml *node, const kn_entry *owner,
                                   const char *where, const char *except)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[KN_POLICY_PLACE_BYTES], *name = NULL;
    size_t n = 0;
    if (node == NULL || node->kind != KN_YAML_MAPPING)
        KN_FAIL(KN_USAGE, "%s: %s takes a mapping of its parameters", where, owner->name);
    for (const kn_yaml *key_node = node->first; key_node != NULL; key_node = key_node->next) {
        kn_policy_place(place, load, key_node, where);
        status = kn_policy_text(&name, load, owner->name, key_node, where);
        if (status == KN_OK && (except == NULL || strcmp(name, except) != 0)) {
            kn_buffer_printf(spec, "%c%s=", n++ == 0 ? ':' : ',', name);
            status = append_parameter(spec, load, owner, name, key_node->value, place);
        }
        KN_TRY(kn_policy_note_slip(load, status));
        kn_free(name);
        name = NULL;
    }
done:
    kn_free(name);
    return status;
}

/* The whole entry: also what is missing, and parameters written behind the name. */
static kn_status add_entry(kn_policy_loader *load, const char *option, const kn_entry *owner, const kn_buffer *spec,
                           const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err, inner = {0};
    kn_args args = {0};
    if (spec->failed) KN_FAIL(KN_RESOURCES, "out of memory");
    const char *params = strchr(spec->bytes, ':');
    status =
        kn_args_parse(&args, owner->name, owner->params, owner->n_params, params != NULL ? params + 1 : NULL, &inner);
    if (status != KN_OK) KN_FAIL(status, "%s: %.1500s", where, inner.message);
    KN_TRY(kn_settings_add(load->settings, option, spec->bytes, where, err));
done:
    kn_args_free(&args);
    return status;
}

/* One model: a name, or {name: {parameters}}. */
static kn_status read_model(kn_policy_loader *load, const kn_yaml *item, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[KN_POLICY_PLACE_BYTES], *name = NULL;
    const size_t n_before = kn_policy_n_slips(load);
    kn_buffer spec = {0};
    kn_entry model;
    if (item->kind == KN_YAML_SCALAR) {
        KN_TRY(kn_policy_text(&name, load, "models", item, where));
        kn_policy_place(place, load, item, where);
        KN_TRY(find_entry(&model, load, "model", name, place));
        kn_buffer_text(&spec, name);
    } else {
        const kn_yaml *key_node = item->kind == KN_YAML_MAPPING ? item->first : NULL;
        if (key_node == NULL) KN_FAIL(KN_USAGE, "%s: a model is a name or {name: {parameters}}", where);
        kn_policy_place(place, load, key_node, where);
        KN_TRY(kn_policy_text(&name, load, "models", key_node, where));
        if (key_node->next != NULL)
            KN_FAIL(KN_USAGE, "%s: one model per item; start the next one with a '-' of its own, and indent parameters",
                    place);
        KN_TRY(find_entry(&model, load, "model", name, place));
        kn_buffer_text(&spec, model.name);
        KN_TRY(append_parameters(&spec, load, key_node->value, &model, place, NULL));
    }
    if (kn_policy_n_slips(load) == n_before) KN_TRY(add_entry(load, "model", &model, &spec, place));
done:
    kn_free(name);
    kn_buffer_free(&spec);
    return status;
}

kn_status kn_policy_read_models(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    if (value == NULL || value->kind != KN_YAML_LIST)
        KN_FAIL(KN_USAGE, "%s: models is a list: '- k-anonymity: {k: 11}'", where);
    if (value->first == NULL) KN_FAIL(KN_USAGE, "%s: models is empty; name one or leave it out", where);
    for (const kn_yaml *item = value->first; item != NULL; item = item->next)
        KN_TRY(kn_policy_note_slip(load, read_model(load, item, where)));
done:
    return status;
}

/* A name, or {name: NAME, parameter: value}. */
kn_status kn_policy_read_entry(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                               const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[KN_POLICY_PLACE_BYTES], *name = NULL;
    const size_t n_before = kn_policy_n_slips(load);
    kn_buffer spec = {0};
    kn_entry found;
    bool is_mapping = value != NULL && value->kind == KN_YAML_MAPPING;
    const kn_yaml *name_node = is_mapping ? kn_yaml_find(value, "name") : value;
    if (name_node == NULL) KN_FAIL(KN_USAGE, "%s: %s needs a 'name'", where, field->name);
    KN_TRY(kn_policy_text(&name, load, field->name, name_node, where));
    kn_policy_place(place, load, name_node, where);
    KN_TRY(find_entry(&found, load, field->option, name, place));
    kn_buffer_text(&spec, is_mapping ? found.name : name);
    if (is_mapping) KN_TRY(append_parameters(&spec, load, value, &found, where, "name"));
    if (kn_policy_n_slips(load) == n_before) KN_TRY(add_entry(load, field->option, &found, &spec, place));
done:
    kn_free(name);
    kn_buffer_free(&spec);
    return status;
}
