/* The list of settings: adding, checking, looking up. */
#include "policy/settings.h"

#include "base/param.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Arguments without a flag. */
static const char *const bare_options[] = {"data", "release", "what"};
/* Options whose value is a table. */
static const char table_options[] = "data|release|original|attack|population";

static const kn_option *find_option(const char *name)
{
    size_t n;
    const kn_option *all = kn_options(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0) return &all[i];
    return NULL;
}

static bool is_bare_option(const char *name)
{
    for (size_t i = 0; i < sizeof bare_options / sizeof *bare_options; i++)
        if (strcmp(bare_options[i], name) == 0) return true;
    return false;
}

static bool is_one_of(const char *words, const char *value)
{
    size_t n_bytes = strlen(value);
    for (const char *word = words;; word++) {
        size_t n = strcspn(word, "|");
        if (n == n_bytes && memcmp(word, value, n) == 0) return true;
        word += n;
        if (*word == '\0') return false;
    }
}

/* An argument of the form "a|b|c" in lower case is a choice; the table says so itself. */
static bool is_choice(const char *argument)
{
    return argument != NULL && strchr(argument, '|') != NULL &&
           strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789-|") == strlen(argument);
}

/* Options that are numbers, with their bounds. -k is not among them: it may be a list, and its model checks it. */
static const struct range {
    const char *option;
    double min, max;
    bool whole;
} ranges[] = {
    {"threshold", 0, 1, false},    {"effort", 0, 1e18, true},
    {"time-limit", 0, 1e9, false}, {"seed", 0, 9007199254740992.0, true},
    {"threads", 1, 1024, true},    {"memory", 1 << 20, 1e15, false},
};

/* A number; for --memory with K, M, G or T behind it. */
static bool read_number(double *out, const char *option, const char *text)
{
    const char *const units = "KMGT";
    char digits[64];
    size_t n = strlen(text);
    const char *unit = n > 0 && strcmp(option, "memory") == 0 ? strchr(units, text[n - 1]) : NULL;
    if (unit == NULL) return kn_param_number(out, text);
    if (n > sizeof digits) return false;
    memcpy(digits, text, n - 1);
    digits[n - 1] = '\0';
    bool is_number = kn_param_number(out, digits);
    *out *= pow(1024, (double)(unit - units + 1));
    return is_number;
}

static bool read_suppression(double *out, bool *is_percent, const char *text)
{
    char digits[64];
    size_t n = strlen(text);
    *is_percent = n > 0 && text[n - 1] == '%';
    if (*is_percent) n--;
    if (n >= sizeof digits) return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    return kn_param_number(out, digits) && *out >= 0 && (*is_percent ? *out <= 100 : *out == floor(*out));
}

bool kn_level_read(uint32_t *out, const char *text, size_t n_bytes)
{
    *out = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        if (text[i] < '0' || text[i] > '9' || *out > 99999999) return false;
        *out = 10 * *out + (uint32_t)(text[i] - '0');
    }
    return n_bytes > 0;
}

static kn_status check_number(const kn_option *option, const char *value, const char *place, kn_error *err)
{
    double number;
    bool is_percent;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct range *range = &ranges[i];
        if (strcmp(range->option, option->name) != 0) continue;
        if (!read_number(&number, option->name, value) || number < range->min || number > range->max ||
            (range->whole && number != floor(number)))
            return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not a %snumber from %g to %g", place, value,
                                range->whole ? "whole " : "", range->min, range->max);
    }
    if (strcmp(option->name, "max-suppressed") == 0 && !read_suppression(&number, &is_percent, value))
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither a number of rows nor a percentage from 0%% to 100%%",
                            place, value);
    return KN_OK;
}

static kn_status check_value(const kn_option *option, const char *value, const char *place, kn_error *err)
{
    if (option->argument == NULL) {
        if (is_one_of("yes|no", value)) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither yes nor no", place, value);
    }
    if (*value == '\0') return kn_error_set(err, KN_USAGE, "%s needs a value: %s", place, option->argument);
    if (is_choice(option->argument) && !is_one_of(option->argument, value))
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is none of %s", place, value, option->argument);
    if (strncmp(option->argument, "COL=", 4) == 0 && strchr(value, '=') == NULL)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not of the form %s", place, value, option->argument);
    return check_number(option, value, place, err);
}

const char *kn_setting_place(char *buffer, const kn_setting *setting)
{
    if (setting->where != NULL) {
        snprintf(buffer, KN_SHOWN_BYTES, "%s", setting->where);
    } else {
        snprintf(buffer, KN_SHOWN_BYTES, "%s%s", is_bare_option(setting->option) ? "" : "--", setting->option);
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
    if (value == NULL) value = "yes";
    const kn_option *known = find_option(option);
    if (known == NULL && !is_bare_option(option))
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = option), "there is no option '%.40s'; --help lists them", option);
    item.option = kn_string_copy(option, strlen(option), err);
    item.value = kn_string_copy(value, strlen(value), err);
    if (item.option == NULL || item.value == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    if (where != NULL && (item.where = kn_string_copy(where, strlen(where), err)) == NULL)
        KN_FAIL(KN_RESOURCES, "out of memory");
    if (known != NULL) {
        char place[KN_SHOWN_BYTES];
        KN_TRY(kn_setting_about(err, check_value(known, value, kn_setting_place(place, &item), err), &item, NULL));
    }
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
    kn_tables_free(&settings->tables);
    kn_free(settings->policy_path);
    kn_free(settings->policy_folder);
    kn_account *account = settings->account;
    kn_free(settings);
    kn_account_free(account);
}

static kn_status take_table(kn_settings *settings, const char *name, struct ArrowArrayStream *stream, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *batches = NULL;
    kn_buffer path = {0};
    kn_buffer_printf(&path, KN_TABLE_PREFIX "%s", name);
    KN_TRY(kn_batches_pull(&batches, stream, path.failed ? KN_TABLE_PREFIX : path.bytes, err));
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (is_one_of(table_options, name)) KN_TRY(kn_settings_add(settings, name, path.bytes, NULL, err));
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

double kn_settings_number(const kn_settings *settings, const char *option, double preset)
{
    const char *text = kn_settings_text(settings, option);
    double number = preset;
    if (text != NULL) read_number(&number, option, text);
    return number;
}

double kn_settings_suppression(const kn_settings *settings, bool *is_percent)
{
    const char *text = kn_settings_text(settings, "max-suppressed");
    double number = 0;
    *is_percent = false;
    if (text != NULL) read_suppression(&number, is_percent, text);
    return number;
}

typedef struct slice {
    const char *bytes;
    size_t n;
} slice;

static bool is_role(const char *option) { return is_one_of("qi|sensitive|identifier|insensitive", option); }

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
        if (flag->where == NULL && is_role(flag->option) &&
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
    const kn_option *option = find_option(setting->option);
    if (strcmp(setting->option, "model") == 0 && strcmp(flag->option, "k") == 0)
        return same_until(setting->value, "k-anonymity", ':');
    if (strcmp(flag->option, setting->option) != 0) return false;
    if (strcmp(setting->option, "model") == 0)
        return same_until(flag->value, setting->value, ':') &&
               same_slice(model_column(settings, flag->value), model_column(settings, setting->value));
    if (option != NULL && option->argument != NULL && strncmp(option->argument, "COL=", 4) == 0)
        return same_until(flag->value, setting->value, '=');
    return true;
}

bool kn_setting_in_force(const kn_settings *settings, const kn_setting *setting)
{
    if (setting->where == NULL) return true;
    if (is_role(setting->option)) return !role_is_overridden(settings, setting);
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *flag = &settings->items.items[i];
        if (flag->where == NULL && flag_overrides(settings, flag, setting)) return false;
    }
    return true;
}

void kn_setting_model(kn_buffer *spec, const kn_setting *setting)
{
    kn_buffer_printf(spec, "%s%s", strcmp(setting->option, "k") == 0 ? "k-anonymity:k=" : "", setting->value);
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
