/* From settings and the header of the data to one choice per column. */
#include "policy/settings.h"

#include "base/param.h"
#include "base/words.h"

#include <stdio.h>
#include <string.h>

typedef struct header {
    const char *const *names;
    uint32_t n;
    kn_columns_mode mode;
    const kn_settings *settings;
} header;

static uint32_t find_name(const header *head, const char *name, size_t n_bytes)
{
    for (uint32_t i = 0; i < head->n; i++)
        if (strlen(head->names[i]) == n_bytes && memcmp(head->names[i], name, n_bytes) == 0) return i;
    return KN_NONE;
}

bool kn_settings_name_column(const kn_settings *settings, const char *name)
{
    const char *person = kn_settings_text(settings, "person");
    if (person != NULL && strcmp(person, name) == 0) return true;
    for (size_t i = 0; i < settings->items.n; i++)
        if (settings->items.items[i].field->kind == KN_FIELD_ROLE &&
            kn_words_hold(settings->items.items[i].value, name))
            return true;
    return false;
}

const char *kn_settings_detail(const kn_settings *settings, const char *option, const char *name)
{
    const char *found = NULL;
    for (int flags = 0; flags < 2; flags++)
        for (size_t i = 0; i < settings->items.n; i++) {
            const kn_setting *setting = &settings->items.items[i];
            const size_t n = strlen(name);
            if (strcmp(setting->option, option) != 0 || (setting->where == NULL) != flags) continue;
            if (strncmp(setting->value, name, n) == 0 && setting->value[n] == '=') found = setting->value + n + 1;
        }
    return found;
}

const char *kn_settings_column_shown(char *buffer, const kn_settings *settings, const char *name, uint32_t index)
{
    if (!kn_settings_flag(settings, "redact") || kn_settings_name_column(settings, name)) return name;
    snprintf(buffer, KN_SHOWN_BYTES, "#%u", index + 1);
    return buffer;
}

static kn_status unknown_column(const header *head, const kn_setting *setting, const char *name, size_t n_bytes,
                                kn_error *err)
{
    kn_buffer list = {0};
    char place[KN_SHOWN_BYTES], shown[KN_SHOWN_BYTES];
    for (uint32_t i = 0; i < head->n && list.n < 600; i++)
        kn_buffer_printf(&list, "%s%s", i != 0 ? ", " : "",
                         kn_settings_column_shown(shown, head->settings, head->names[i], i));
    kn_status status =
        kn_error_set(err, KN_USAGE, "%s: the data has no column '%.*s'; it has %s", kn_setting_place(place, setting),
                     (int)(n_bytes < 80 ? n_bytes : 80), name, list.bytes != NULL ? list.bytes : "none");
    kn_buffer_free(&list);
    return kn_setting_about(err, status, setting, NULL);
}

/* A role from a flag replaces one from the policy; two roles from one source are a contradiction. */
static kn_status set_role(kn_column_choice *choice, const kn_setting **given_by, uint32_t *n_mentions, kn_role role,
                          const kn_setting *setting, const char *name, kn_error *err)
{
    const kn_setting *before = *given_by;
    if (before != NULL && before->where == NULL && setting->where != NULL) return KN_OK;
    if (before != NULL && (before->where == NULL) == (setting->where == NULL) && choice->role != role) {
        char place[KN_SHOWN_BYTES];
        return kn_error_set(err, KN_USAGE, "%s: column '%.80s' is %s already and cannot be %s too; name it once",
                            kn_setting_place(place, setting), name, kn_role_name(choice->role), kn_role_name(role));
    }
    if (before == NULL) choice->mention = (*n_mentions)++;
    choice->role = role;
    *given_by = setting;
    return KN_OK;
}

/* "a,b": each name gets the role. A column whose name holds a comma is written with "\,". */
static kn_status set_roles(kn_column_choice *choices, const kn_setting **given_by, uint32_t *n_mentions,
                           const header *head, kn_role role, const kn_setting *setting, kn_error *err)
{
    kn_status status = KN_OK;
    char *name = NULL;
    KN_NEW(name, strlen(setting->value) + 1);
    for (const char *from = setting->value; kn_words_next(name, &from);) {
        uint32_t column = find_name(head, name, strlen(name));
        bool may_be_missing =
            head->mode == KN_COLUMNS_OF_HIERARCHY ||
            (head->mode == KN_COLUMNS_OF_RELEASE && role != KN_ROLE_QUASI && role != KN_ROLE_SENSITIVE);
        if (column == KN_NONE && may_be_missing) continue;
        if (column == KN_NONE) KN_TRY(unknown_column(head, setting, name, strlen(name), err));
        status = set_role(&choices[column], &given_by[column], n_mentions, role, setting, head->names[column], err);
        KN_TRY(kn_setting_about(err, status, setting, head->names[column]));
    }
done:
    kn_free(name);
    return status;
}

static kn_status parse_type(kn_type *type, const char *text, const char *place, kn_error *err)
{
    for (kn_type t = KN_TYPE_AUTO; t <= KN_TYPE_TEXT; t++)
        if (strcmp(kn_type_name(t), text) == 0) {
            *type = t;
            return KN_OK;
        }
    return kn_error_set(err, KN_USAGE, "%s: '%.40s' is no type; int, decimal, date or text", place, text);
}

static kn_status parse_levels(kn_column_choice *choice, const char *text, const char *place, kn_error *err)
{
    const char *dots = strstr(text, ".."), *last = dots != NULL ? dots + 2 : "";
    uint32_t min = 0, max = KN_NONE;
    bool fine = dots != NULL && (dots == text || kn_level_read(&min, text, (size_t)(dots - text))) &&
                (*last == '\0' || kn_level_read(&max, last, strlen(last)));
    if (!fine)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not MIN..MAX, whole numbers from 0 (the value as it is)",
                            place, text);
    if (min > max)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' leaves no level: %u is above %u", place, text, min, max);
    choice->min_level = min;
    choice->max_level = max;
    return KN_OK;
}

/* One "COL=VALUE" setting. */
static kn_status set_detail(kn_column_choice *choice, const kn_settings *settings, const kn_setting *setting,
                            const char *value, kn_error *err)
{
    char place[KN_SHOWN_BYTES];
    kn_setting_place(place, setting);
    if (strcmp(setting->option, "type") == 0) return parse_type(&choice->type, value, place, err);
    if (strcmp(setting->option, "level") == 0) return parse_levels(choice, value, place, err);
    if (strcmp(setting->option, "hierarchy") == 0) {
        choice->hierarchy = value;
        choice->hierarchy_folder = setting->where != NULL ? settings->policy_folder : NULL;
        choice->hierarchy_where = setting->where;
        return KN_OK;
    }
    if (strcmp(setting->option, "grid") == 0) {
        choice->grid = value;
        return KN_OK;
    }
    if (strcmp(setting->option, "top") == 0 || strcmp(setting->option, "bottom") == 0) {
        *(strcmp(setting->option, "top") == 0 ? &choice->top : &choice->bottom) = value;
        return KN_OK;
    }
    if (strcmp(setting->option, "round") == 0) {
        choice->round = value;
        return KN_OK;
    }
    if (strcmp(setting->option, "release-values") == 0) {
        choice->release_values = strcmp(value, "yes") == 0;
        if (choice->release_values || strcmp(value, "no") == 0) return KN_OK;
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is neither yes nor no", place, value);
    }
    if (!kn_param_number(&choice->weight, value) || choice->weight < 0)
        return kn_error_set(err, KN_USAGE, "%s: '%.40s' is not a number of at least 0", place, value);
    return KN_OK;
}

/* Levels and weights are of generalized columns. On another one they would be ignored, and somebody meant something. */
static kn_status serves_role(const kn_column_choice *choice, const kn_setting *setting, const char *name, kn_error *err)
{
    char place[KN_SHOWN_BYTES];
    bool for_all = strcmp(setting->option, "type") == 0 || strcmp(setting->option, "hierarchy") == 0;
    if (for_all || choice->role == KN_ROLE_QUASI) return KN_OK;
    return kn_error_set(err, KN_USAGE, "%s: column '%.80s' is %s, and only a quasi-identifier has a %s; remove it",
                        kn_setting_place(place, setting), name, kn_role_name(choice->role), setting->option);
}

/* Policy first, flags after it, so that flags have the last word for each column. */
static kn_status set_details(kn_column_choice *choices, const kn_setting *const *given_by, const kn_settings *settings,
                             const header *head, bool flags, kn_error *err)
{
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *setting = &settings->items.items[i];
        if (setting->field->kind != KN_FIELD_DETAIL || (setting->where == NULL) != flags) continue;
        /* A column name may hold '=': the longest name that fits counts. */
        uint32_t column = KN_NONE;
        const char *value = NULL;
        for (const char *equals = strchr(setting->value, '='); equals != NULL; equals = strchr(equals + 1, '=')) {
            uint32_t found = find_name(head, setting->value, (size_t)(equals - setting->value));
            if (found == KN_NONE) continue;
            column = found;
            value = equals + 1;
        }
        if (column == KN_NONE && head->mode == KN_COLUMNS_OF_RELEASE) continue;
        if (column == KN_NONE) return unknown_column(head, setting, setting->value, strcspn(setting->value, "="), err);
        kn_status status = set_detail(&choices[column], settings, setting, value, err);
        const kn_setting *role = given_by[column]; /* a flag may take a column away from what the policy says of it */
        bool overridden = role != NULL && role->where == NULL && setting->where != NULL;
        if (status == KN_OK && head->mode == KN_COLUMNS_OF_DATA && !overridden)
            status = serves_role(&choices[column], setting, head->names[column], err);
        if (status != KN_OK) return kn_setting_about(err, status, setting, head->names[column]);
    }
    return KN_OK;
}

static kn_status place_unlisted(kn_column_choice *choices, const kn_setting *const *given_by,
                                const kn_settings *settings, const header *head, kn_buffer *warnings, kn_error *err)
{
    const char *how = kn_settings_text(settings, "unlisted");
    if (how == NULL) how = settings->policy_path != NULL ? "error" : "drop";
    uint32_t n_dropped = 0;
    kn_buffer names = {0};
    char shown[KN_SHOWN_BYTES];
    for (uint32_t i = 0; i < head->n; i++) {
        if (given_by[i] != NULL) continue;
        if (strcmp(how, "insensitive") == 0) {
            choices[i].role = KN_ROLE_INSENSITIVE;
            continue;
        }
        choices[i].role = KN_ROLE_DROPPED;
        kn_buffer_printf(&names, "%s%s", n_dropped++ != 0 ? ", " : "",
                         kn_settings_column_shown(shown, settings, head->names[i], i));
    }
    kn_status status = KN_OK;
    if (head->mode != KN_COLUMNS_OF_DATA) n_dropped = 0;
    if (n_dropped != 0 && strcmp(how, "error") == 0)
        status = kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "unlisted"),
                                 "no role for column%s %.900s; give each a role, or say --unlisted drop or insensitive",
                                 n_dropped == 1 ? "" : "s", names.bytes);
    else if (n_dropped != 0 && warnings != NULL) {
        enum { MOST_BYTES = 600 };
        kn_say how_many = names.n > MOST_BYTES ? KN_SAY_LEFT_OUT_MANY : KN_SAY_LEFT_OUT;
        if (names.n > MOST_BYTES) names.bytes[MOST_BYTES] = '\0';
        kn_sentences_add(warnings, KN_SAID(how_many, kn_piece_text(names.failed ? "" : names.bytes)));
        warnings->failed |= names.failed;
    }
    kn_buffer_free(&names);
    return status;
}

kn_status kn_settings_columns(kn_column_choice **out, const kn_settings *settings, const char *const *names,
                              uint32_t n_names, kn_columns_mode mode, kn_buffer *warnings, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_choice *choices = NULL;
    const kn_setting **given_by = NULL;
    header head = {names, n_names, mode, settings};
    char place[KN_SHOWN_BYTES];
    uint32_t n_mentions = 0;
    *out = NULL;
    KN_NEW(choices, n_names);
    KN_NEW(given_by, n_names);
    for (uint32_t i = 0; i < n_names; i++)
        choices[i] = (kn_column_choice){.role = KN_ROLE_DROPPED, .weight = 1, .max_level = KN_NONE};

    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *setting = &settings->items.items[i];
        if (setting->field->kind == KN_FIELD_ROLE)
            KN_TRY(set_roles(choices, given_by, &n_mentions, &head, setting->field->role, setting, err));
    }
    const kn_setting *person = kn_settings_find(settings, "person");
    if (person != NULL) {
        uint32_t column = find_name(&head, person->value, strlen(person->value));
        if (column == KN_NONE && mode != KN_COLUMNS_OF_RELEASE)
            KN_TRY(unknown_column(&head, person, person->value, strlen(person->value), err));
        if (column == KN_NONE) goto details;
        if (given_by[column] != NULL && choices[column].role != KN_ROLE_IDENTIFIER)
            KN_TRY(kn_setting_about(
                err,
                kn_error_set(err, KN_USAGE, "%s: the person column '%.80s' is an identifier and cannot be %s too",
                             kn_setting_place(place, person), person->value, kn_role_name(choices[column].role)),
                person, person->value));
        choices[column].role = KN_ROLE_IDENTIFIER;
        choices[column].is_person = true;
        given_by[column] = person;
    }
details:
    KN_TRY(set_details(choices, given_by, settings, &head, false, err));
    KN_TRY(set_details(choices, given_by, settings, &head, true, err));
    KN_TRY(place_unlisted(choices, given_by, settings, &head, warnings, err));
    for (uint32_t i = 0; mode == KN_COLUMNS_OF_HIERARCHY && i < n_names; i++)
        if (choices[i].hierarchy != NULL) choices[i].role = KN_ROLE_QUASI;
    *out = choices;
    choices = NULL;
done:
    kn_free(choices);
    kn_free(given_by);
    return status;
}
