/* The list of settings: adding, checking, looking up. */
#include "policy/settings.h"

#include <stdio.h>
#include <string.h>

bool kn_level_read(uint32_t *out, const char *text, size_t n_bytes)
{
    *out = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        if (text[i] < '0' || text[i] > '9' || *out > 99999999) return false;
        *out = 10 * *out + (uint32_t)(text[i] - '0');
    }
    return n_bytes > 0;
}

const char *kn_setting_place(char *buffer, const kn_setting *setting)
{
    if (setting->where != NULL) {
        snprintf(buffer, KN_SHOWN_BYTES, "%s", setting->where);
    } else {
        snprintf(buffer, KN_SHOWN_BYTES, "%s%s", setting->field->is_bare ? "" : "--", setting->option);
    }
    return buffer;
}

kn_status kn_setting_about(kn_error *err, kn_status status, const kn_setting *setting, const char *column)
{
    char file[KN_FILE_BYTES];
    kn_place place;
    if (status == KN_OK) return status;
    kn_place_split(&place, file, setting->where);
    place.option = setting->option;
    place.column = column;
    return kn_error_about(err, status, &place);
}

kn_status kn_settings_add(kn_settings *settings, const char *option, const char *value, const char *where,
                          kn_error *err)
{
    kn_status status = KN_OK;
    kn_setting item = {0};
    char place[KN_SHOWN_BYTES];
    if (value == NULL) value = "yes";
    const kn_field *field = kn_field_find(option);
    if (field == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = option), "there is no option '%.40s'; --help lists them", option);
    item.field = field;
    item.option = kn_string_copy(option, strlen(option), err);
    item.value = kn_string_copy(value, strlen(value), err);
    if (item.option == NULL || item.value == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    if (where != NULL && (item.where = kn_string_copy(where, strlen(where), err)) == NULL)
        KN_FAIL(KN_RESOURCES, "out of memory");
    kn_setting_place(place, &item);
    KN_TRY(kn_setting_about(err, kn_field_check(field, value, place, err), &item, NULL));
    KN_PUSH(&settings->items, item);
    item = (kn_setting){0};
done:
    kn_free(item.option);
    kn_free(item.value);
    kn_free(item.where);
    return status;
}

kn_status kn_settings_new_with(kn_settings **out, const kn_allocator *allocator, kn_error *err)
{
    kn_status status = KN_OK;
    kn_account *account = NULL;
    kn_scope before;
    *out = NULL;
    KN_TRY(kn_account_new(&account, allocator, err));
    KN_TRY(kn_scope_enter(&before, account, err));
    *out = kn_array_alloc(1, sizeof **out, err);
    kn_scope_leave(&before);
    if (*out == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    (*out)->account = account;
    account = NULL;
done:
    kn_account_free(account);
    return status;
}

kn_account *kn_settings_account(const kn_settings *settings) { return settings->account; }

kn_status kn_settings_new(kn_settings **out, kn_error *err) { return kn_settings_new_with(out, NULL, err); }

void kn_settings_free(kn_settings *settings)
{
    if (settings == NULL) return;
    for (size_t i = 0; i < settings->items.n; i++) {
        kn_free(settings->items.items[i].option);
        kn_free(settings->items.items[i].value);
        kn_free(settings->items.items[i].where);
    }
    kn_free(settings->items.items);
    kn_problems_free(&settings->problems);
    kn_tables_free(&settings->tables);
    kn_free(settings->policy_path);
    kn_free(settings->policy_folder);
    kn_account *account = settings->account;
    kn_free(settings);
    kn_account_free(account);
}

const kn_error *kn_settings_nth_problem(const kn_settings *settings, size_t n)
{
    return settings != NULL && n < settings->problems.items.n ? &settings->problems.items.items[n].about : NULL;
}

static kn_status take_table(kn_settings *settings, const char *name, struct ArrowArrayStream *stream, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *batches = NULL;
    kn_buffer path = {0};
    kn_buffer_printf(&path, KN_TABLE_PREFIX "%s", name);
    KN_TRY(kn_batches_pull(&batches, stream, path.failed ? KN_TABLE_PREFIX : path.bytes, err));
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    const kn_field *field = kn_field_find(name);
    if (field != NULL && field->is_table) KN_TRY(kn_settings_add(settings, name, path.bytes, NULL, err));
    kn_batches *taken = batches;
    batches = NULL;
    KN_TRY(kn_tables_put(&settings->tables, taken, err));
done:
    kn_batches_drop(batches);
    kn_buffer_free(&path);
    return status;
}

kn_status kn_settings_set_table(kn_settings *settings, const char *name, struct ArrowArrayStream *stream, kn_error *err)
{
    kn_scope before;
    kn_status status = kn_scope_enter(&before, settings->account, err);
    if (status != KN_OK) return status;
    status = take_table(settings, name, stream, err);
    kn_scope_leave(&before);
    return status;
}

void kn_settings_on_progress(kn_settings *settings, kn_progress_fn progress, void *user)
{
    settings->progress = progress;
    settings->progress_user = user;
}

void kn_settings_on_note(kn_settings *settings, kn_note_fn note, void *user)
{
    settings->note = note;
    settings->note_user = user;
}

void kn_settings_text_width(kn_settings *settings, unsigned n_characters) { settings->text_width = n_characters; }

void kn_settings_on_cancel(kn_settings *settings, const volatile int *cancel) { settings->cancel = cancel; }

const kn_setting *kn_settings_find(const kn_settings *settings, const char *option)
{
    const kn_setting *found = NULL;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (strcmp(item->option, option) != 0) continue;
        if (found == NULL || item->where == NULL || found->where != NULL) found = item;
    }
    return found;
}

const char *kn_settings_text(const kn_settings *settings, const char *option)
{
    const kn_setting *found = kn_settings_find(settings, option);
    return found != NULL ? found->value : NULL;
}

bool kn_settings_flag(const kn_settings *settings, const char *option)
{
    const char *text = kn_settings_text(settings, option);
    return text != NULL && strcmp(text, "yes") == 0;
}

bool kn_setting_fits_column(const kn_setting *setting, const char *name, size_t n_bytes)
{
    return (setting->n_column == 0 || setting->n_column == n_bytes) && strncmp(setting->value, name, n_bytes) == 0 &&
           setting->value[n_bytes] == '=';
}

typedef struct slice {
    const char *bytes;
    size_t n;
} slice;

static bool same_until(const char *a, const char *b, char end)
{
    const char stop[] = {end, '\0'};
    size_t n = strcspn(a, stop);
    return n == strcspn(b, stop) && memcmp(a, b, n) == 0;
}

/* The next item of a comma list as it is written, "\\," and all: what two settings say is compared without unescaping
 * it, since a comma is the only thing that anybody escapes. False at the end; *list is NULL after the last item. */
static bool next_item(slice *item, const char **list)
{
    if (*list == NULL) return false;
    const char *end = *list;
    while (*end != '\0' && *end != ',') end += end[0] == '\\' && end[1] == ',' ? 2 : 1;
    *item = (slice){*list, (size_t)(end - *list)};
    *list = *end == ',' ? end + 1 : NULL;
    return true;
}

static bool same_slice(slice a, slice b) { return a.n == b.n && (a.n == 0 || memcmp(a.bytes, b.bytes, a.n) == 0); }

static bool list_holds(const char *list, slice wanted)
{
    for (slice item; next_item(&item, &list);)
        if (same_slice(item, wanted)) return true;
    return false;
}

/* A policy's role for a column, to which some flag gives another one. */
static bool role_is_overridden(const kn_settings *settings, const kn_setting *role)
{
    for (size_t i = 0; role->where != NULL && i < settings->items.n; i++) {
        const kn_setting *flag = &settings->items.items[i];
        if (flag->where == NULL && flag->field->kind == KN_FIELD_ROLE &&
            list_holds(flag->value, (slice){role->value, strlen(role->value)}))
            return true;
    }
    return false;
}

/* The only sensitive column: models that name none protect it. Empty when there are several, or none. */
static slice only_sensitive(const kn_settings *settings)
{
    slice only = {NULL, 0}, name;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *role = &settings->items.items[i];
        if (strcmp(role->option, "sensitive") != 0 || role_is_overridden(settings, role)) continue;
        for (const char *list = role->value; next_item(&name, &list);) {
            if (only.bytes != NULL && !same_slice(only, name)) return (slice){NULL, 0};
            only = name;
        }
    }
    return only;
}

/* What "column=" says in "l-diversity:column=a,l=2"; otherwise the only sensitive column. */
static slice model_column(const kn_settings *settings, const char *spec)
{
    static const char key[] = "column=";
    const char *params = strchr(spec, ':');
    slice item;
    if (params != NULL) params++;
    while (next_item(&item, &params))
        if (item.n >= strlen(key) && memcmp(item.bytes, key, strlen(key)) == 0)
            return (slice){item.bytes + strlen(key), item.n - strlen(key)};
    return only_sensitive(settings);
}

/* Both are of options that may be repeated; `flag` is a flag. */
static bool flag_overrides(const kn_settings *settings, const kn_setting *flag, const kn_setting *setting)
{
    if (strcmp(setting->option, "model") == 0 && strcmp(flag->option, "k") == 0)
        return same_until(setting->value, "k-anonymity", ':');
    if (strcmp(flag->option, setting->option) != 0) return false;
    if (strcmp(setting->option, "model") == 0)
        return same_until(flag->value, setting->value, ':') &&
               same_slice(model_column(settings, flag->value), model_column(settings, setting->value));
    if (setting->field->kind == KN_FIELD_DETAIL) return kn_setting_fits_column(flag, setting->value, setting->n_column);
    return true;
}

bool kn_setting_in_force(const kn_settings *settings, const kn_setting *setting)
{
    if (setting->where == NULL) return true;
    if (setting->field->kind == KN_FIELD_ROLE) return !role_is_overridden(settings, setting);
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *flag = &settings->items.items[i];
        if (flag->where == NULL && flag_overrides(settings, flag, setting)) return false;
    }
    return true;
}

const kn_setting *kn_settings_nth(const kn_settings *settings, const char *option, size_t n)
{
    bool any_flag = false;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (strcmp(item->option, option) == 0 && item->where == NULL) any_flag = true;
    }
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (strcmp(item->option, option) != 0 || (any_flag && item->where != NULL)) continue;
        if (n-- == 0) return item;
    }
    return NULL;
}
