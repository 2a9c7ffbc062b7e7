/* The registry of privacy models, and the models in force for one run. */
#include "privacy/privacy.h"

#include <assert.h>
#include <string.h>

#define KN_PRIVACY(name) extern const kn_privacy kn_privacy_##name;
#include "privacy/privacy.def"
#undef KN_PRIVACY

static const kn_privacy *const registry[] = {
#define KN_PRIVACY(name) &kn_privacy_##name,
#include "privacy/privacy.def"
#undef KN_PRIVACY
};

enum { N_REGISTRY = sizeof registry / sizeof *registry };

const kn_privacy *const *kn_privacy_all(size_t *n)
{
    *n = N_REGISTRY;
    return registry;
}

static const kn_privacy *find(const char *name, size_t n_bytes)
{
    for (size_t i = 0; i < N_REGISTRY; i++)
        if (strlen(registry[i]->name) == n_bytes && memcmp(registry[i]->name, name, n_bytes) == 0) return registry[i];
    return NULL;
}

const kn_privacy *kn_privacy_find(const char *name) { return find(name, strlen(name)); }

static kn_status unknown_model(const char *spec, int n_bytes, kn_error *err)
{
    kn_buffer names = {0};
    for (size_t i = 0; i < N_REGISTRY; i++) kn_buffer_printf(&names, "%s%s", i > 0 ? ", " : "", registry[i]->name);
    kn_status status = kn_error_set(err, KN_USAGE, "there is no privacy model '%.*s'; there are %s",
                                    n_bytes < 40 ? n_bytes : 40, spec, names.failed ? "others" : names.bytes);
    kn_buffer_free(&names);
    return status;
}

static kn_status model_open(kn_model *model, const char *spec, const kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_bytes = strcspn(spec, ":");
    model->type = find(spec, n_bytes);
    if (model->type == NULL) KN_TRY(unknown_model(spec, (int)n_bytes, err));
    const char *params = spec[n_bytes] == ':' ? spec + n_bytes + 1 : "";
    KN_TRY(kn_args_parse(&model->args, model->type->name, model->type->params, model->type->n_params, params, err));
    KN_TRY(model->type->prepare(&model->state, tuples, &model->args, err));
done:
    return status;
}

kn_status kn_models_new(kn_models **out, const char *const *specs, size_t n_specs, const kn_tuples *tuples,
                        kn_error *err)
{
    kn_status status = KN_OK;
    kn_models *models = NULL;
    *out = NULL;
    KN_NEW(models, 1);
    KN_NEW(models->items, n_specs);
    models->monotone = models->counts_only = true;
    models->min_persons = 1;
    for (size_t i = 0; i < n_specs; i++) {
        kn_model *model = &models->items[models->n++];
        KN_TRY(model_open(model, specs[i], tuples, err));
        const kn_privacy *type = model->type;
        models->needs |= type->needs;
        models->monotone = models->monotone && type->monotone;
        models->counts_only = models->counts_only && type->counts_only;
        uint64_t persons = type->min_persons(model->state);
        if (persons > models->min_persons) models->min_persons = persons;
    }
    *out = models;
    models = NULL;
done:
    kn_models_free(models);
    return status;
}

void kn_models_free(kn_models *models)
{
    if (models == NULL) return;
    for (size_t i = 0; i < models->n; i++) {
        kn_model *model = &models->items[i];
        if (model->state != NULL) model->type->discard(model->state);
        kn_args_free(&model->args);
    }
    kn_free(models->items);
    kn_free(models);
}

bool kn_models_hold(const kn_models *models, const kn_class_counts *counts)
{
    if (counts->n_persons < models->min_persons) return false;
    if (models->counts_only) return true;
    for (size_t i = 0; i < models->n; i++)
        if (!models->items[i].type->holds(models->items[i].state, counts)) return false;
    return true;
}
