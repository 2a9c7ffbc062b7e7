/* Settings by name and by policy: what a policy may name is in the registries, which policy/ does not know. */
#include "policy/request.h"
#include "search/search.h"

#include <string.h>

#define LIST_ENTRIES(type, all_of)                                                                                     \
    do {                                                                                                               \
        size_t n_all;                                                                                                  \
        const type *const *all = all_of(&n_all);                                                                       \
        for (size_t a = 0; a < n_all && n < KN_MAX_ENTRIES; a++)                                                       \
            out[n++] = (kn_entry){all[a]->name, all[a]->params, all[a]->n_params};                                     \
    } while (0)

static size_t list_entries(kn_entry out[KN_MAX_ENTRIES], const char *what)
{
    size_t n = 0;
    if (strcmp(what, "model") == 0) LIST_ENTRIES(kn_privacy, kn_privacy_all);
    if (strcmp(what, "measure") == 0) LIST_ENTRIES(kn_measure, kn_measure_all);
    if (strcmp(what, "algorithm") == 0) {
        out[n++] = (kn_entry){"auto", NULL, 0};
        LIST_ENTRIES(kn_algorithm, kn_algorithm_all);
    }
    return n;
}

kn_status kn_settings_load(kn_settings *settings, const char *policy_path, kn_error *err)
{
    kn_scope before;
    kn_status status = kn_scope_enter(&before, kn_settings_account(settings), err);
    if (status != KN_OK) return status;
    status = kn_policy_load(settings, policy_path, list_entries, err);
    kn_scope_leave(&before);
    return status;
}

kn_status kn_settings_load_text(kn_settings *settings, const char *text, size_t n_bytes, const char *name,
                                kn_error *err)
{
    kn_scope before;
    kn_status status = kn_scope_enter(&before, kn_settings_account(settings), err);
    if (status != KN_OK) return status;
    status = kn_policy_load_text(settings, text, n_bytes, name, list_entries, err);
    kn_scope_leave(&before);
    return status;
}

kn_status kn_settings_set(kn_settings *settings, const char *option, const char *value, kn_error *err)
{
    kn_scope before;
    if (strcmp(option, "policy") == 0) return kn_settings_load(settings, value, err);
    kn_status status = kn_scope_enter(&before, kn_settings_account(settings), err);
    if (status != KN_OK) return status;
    status = kn_settings_add(settings, option, value, NULL, err);
    kn_scope_leave(&before);
    return status;
}
