/* Settings in, a policy file out: the opposite of policy_file.c. What is written here reads back as the same settings.
 *
 * Columns stand in the order in which roles were given, each with everything that is said about it. What a policy has
 * no key for is refused, not left out: whoever saves a policy means all of it. */
#include "policy/settings.h"

#include "base/words.h"

#include <string.h>

/* An option with one value, and where a policy has it. */
static const struct line {
    const char *option, *group, *key;
} lines[] = {
    {"null", "input", "null_values"},
    {"encoding", "input", "encoding"},
    {"delimiter", "input", "delimiter"},
    {"no-header", "input", "header"},
    {"trim", "input", "trim"},
    {"decimal", "input", "decimal"},
    {"invalid", "input", "invalid"},
    {"person", NULL, "person"},
    {"unit", NULL, "unit"},
    {"unlisted", NULL, "unlisted_columns"},
    {"max-suppressed", "suppression", "max"},
    {"missing", NULL, "missing"},
    {"cells", NULL, "cells"},
    {"fold-sensitive", NULL, "fold_sensitive"},
    {"allow-copy", NULL, "allow_copy"},
    {"algorithm", NULL, "algorithm"},
    {"measure", NULL, "measure"},
    {"recoding", NULL, "recoding"},
    {"threshold", "risk", "threshold"},
    {"seed", NULL, "seed"},
    {"effort", NULL, "effort"},
    {"time-limit", NULL, "time_limit"},
    {"order", NULL, "order"},
    {"language", NULL, "language"},
    {"codebook", NULL, "codebook"},
    {"ledger", NULL, "ledger"},
};
enum { N_LINES = sizeof lines / sizeof *lines, FIRST_AFTER_COLUMNS = 9 };

/* What "COL=..." options are called as keys of a column. */
static const struct detail {
    const char *option, *key;
} details[] = {
    {"type", "type"},     {"derive", "derive"}, {"hierarchy", "hierarchy"},           {"weight", "weight"},
    {"level", NULL},      {"grid", "grid"},     {"release-values", "release_values"}, {"top", "top"},
    {"bottom", "bottom"}, {"round", "round"},
};
enum { N_DETAILS = sizeof details / sizeof *details };

static const char *role_word(kn_role role) { return role == KN_ROLE_QUASI ? "quasi" : kn_role_name(role); }

/* --- What a policy can hold --------------------------------------------------------------------------------------- */

static bool has_key(const char *option)
{
    for (size_t i = 0; i < N_LINES; i++)
        if (strcmp(lines[i].option, option) == 0) return true;
    for (size_t i = 0; i < N_DETAILS; i++)
        if (strcmp(details[i].option, option) == 0) return true;
    return strcmp(option, "k") == 0 || strcmp(option, "model") == 0;
}

/* The setting that gives the column a role, NULL when none does. */
static const kn_setting *role_of(const kn_settings *settings, const char *column, size_t n_bytes)
{
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (item->field->kind != KN_FIELD_ROLE || !kn_setting_in_force(settings, item)) continue;
        const char *at = item->value;
        while (at != NULL) { /* items as they are written: a comma in a name is escaped */
            const char *name = column, *name_end = column + n_bytes;
            for (; *at != '\0' && *at != ','; at++) {
                if (at[0] == '\\' && at[1] == ',') at++;
                if (name != NULL && name < name_end && *name == *at) name++;
                else name = NULL;
            }
            if (name == name_end) return item;
            at = *at == ',' ? at + 1 : NULL;
        }
    }
    return NULL;
}

/* Bytes of the name in "COLUMN=VALUE": the longest that has a role, as the run understands it; 0: none has. */
static size_t column_bytes(const kn_settings *settings, const kn_setting *detail)
{
    const char *value = detail->value;
    size_t n_bytes = 0;
    for (const char *equals = strchr(value, '='); equals != NULL; equals = strchr(equals + 1, '=')) {
        const size_t n = (size_t)(equals - value);
        if (kn_setting_fits_column(detail, value, n) && role_of(settings, value, n) != NULL) n_bytes = n;
    }
    return n_bytes;
}

static kn_status check_all(const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (!kn_setting_in_force(settings, item) || item->field->kind == KN_FIELD_ROLE) continue;
        if (!has_key(item->option))
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = item->option),
                       "'%s' is about one run: no policy holds it; give it with the run", item->option);
        if (item->field->kind == KN_FIELD_DETAIL && column_bytes(settings, item) == 0)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = item->option),
                       "%s '%.40s' is about a column without a role; a policy gives every column one", item->option,
                       item->value);
        if (strstr(item->value, "table:") != NULL &&
            (strcmp(item->option, "hierarchy") == 0 || strcmp(item->option, "model") == 0))
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = item->option),
                       "%s '%.40s' is a table in memory: no policy holds it; write it to a file and name that",
                       item->option, item->value);
    }
done:
    return status;
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* "a,b" as [a, b] */
static kn_status put_list(kn_buffer *out, const char *list, kn_error *err)
{
    kn_status status = KN_OK;
    char *item = NULL;
    size_t n = 0;
    KN_NEW(item, strlen(list) + 1);
    kn_buffer_char(out, '[');
    while (kn_words_next(item, &list)) {
        if (n++ > 0) kn_buffer_text(out, ", ");
        kn_yaml_put(out, item);
    }
    kn_buffer_char(out, ']');
done:
    kn_free(item);
    return status;
}

/* "name:a=1,b=2" as {a: 1, b: 2}, behind `first` */
static kn_status put_parameters(kn_buffer *out, const char *spec, const char *first, kn_error *err)
{
    kn_status status = KN_OK;
    char *item = NULL;
    const char *colon = strchr(spec, ':'), *at = colon != NULL ? colon + 1 : NULL;
    size_t n = 0;
    KN_NEW(item, strlen(spec) + 1);
    kn_buffer_printf(out, "{%s", first);
    while (kn_words_next(item, &at)) {
        char *value = strchr(item, '=');
        if (value == NULL) KN_FAIL(KN_USAGE, "'%.80s': '%.40s' is not name=value", spec, item);
        *value++ = '\0';
        kn_buffer_printf(out, "%s%s: ", *first != '\0' || n > 0 ? ", " : "", item);
        kn_yaml_put(out, value);
        n++;
    }
    kn_buffer_char(out, '}');
done:
    kn_free(item);
    return status;
}

/* An algorithm or a measure: its name, or {name: NAME, parameter: value}. */
static kn_status put_entry(kn_buffer *out, const char *spec, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer first = {0};
    size_t n = strcspn(spec, ":");
    if (spec[n] == '\0') {
        kn_yaml_put(out, spec);
        return KN_OK;
    }
    kn_buffer_printf(&first, "name: %.*s", (int)n, spec);
    if (first.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(put_parameters(out, spec, first.bytes, err));
done:
    kn_buffer_free(&first);
    return status;
}

static kn_status put_value(kn_buffer *out, const struct line *line, const char *value, kn_error *err)
{
    if (strcmp(line->option, "null") == 0) return put_list(out, value, err);
    if (strcmp(line->option, "algorithm") == 0 || strcmp(line->option, "measure") == 0)
        return put_entry(out, value, err);
    if (strcmp(line->option, "no-header") == 0) value = strcmp(value, "yes") == 0 ? "no" : "yes";
    kn_yaml_put(out, value);
    return KN_OK;
}

static kn_status put_lines(kn_buffer *out, const kn_settings *settings, size_t first, size_t end, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t i = first; i < end; i++) {
        const char *value = kn_settings_text(settings, lines[i].option), *group = lines[i].group;
        if (value == NULL) continue;
        bool opens = group != NULL, closes = group != NULL;
        for (size_t j = first; j < end; j++)
            if (j != i && group != NULL && lines[j].group == group &&
                kn_settings_text(settings, lines[j].option) != NULL) {
                if (j < i) opens = false;
                else closes = false;
            }
        if (opens) kn_buffer_printf(out, "%s: {", group);
        else if (group != NULL) kn_buffer_text(out, ", ");
        kn_buffer_printf(out, "%s: ", lines[i].key);
        KN_TRY(put_value(out, &lines[i], value, err));
        kn_buffer_text(out, group == NULL ? "\n" : closes ? "}\n" : "");
    }
done:
    return status;
}

/* The last word about a column, NULL when nothing is said. */
static const char *detail_of(const kn_settings *settings, const char *option, const char *column)
{
    const char *found = NULL;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (strcmp(item->option, option) == 0 && kn_setting_fits_column(item, column, strlen(column)) &&
            column_bytes(settings, item) == strlen(column) && kn_setting_in_force(settings, item))
            found = item->value + strlen(column) + 1;
    }
    return found;
}

static void put_column(kn_buffer *out, const kn_settings *settings, const char *name, kn_role role)
{
    kn_buffer_text(out, "  ");
    kn_yaml_put(out, name);
    kn_buffer_printf(out, ": {role: %s", role_word(role));
    for (size_t d = 0; d < N_DETAILS; d++) {
        const char *value = detail_of(settings, details[d].option, name);
        if (value == NULL) continue;
        if (details[d].key != NULL) {
            kn_buffer_printf(out, ", %s: ", details[d].key);
            kn_yaml_put(out, value);
            continue;
        }
        const char *dots = strstr(value, ".."); /* MIN..MAX */
        if (dots == NULL) dots = value + strlen(value);
        kn_buffer_printf(out, ", min_level: %.*s", dots > value ? (int)(dots - value) : 1, dots > value ? value : "0");
        if (dots[0] != '\0' && dots[2] != '\0') kn_buffer_printf(out, ", max_level: %s", dots + 2);
    }
    kn_buffer_text(out, "}\n");
}

static kn_status put_columns(kn_buffer *out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    char *name = NULL;
    size_t n = 0;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (item->field->kind != KN_FIELD_ROLE || !kn_setting_in_force(settings, item)) continue;
        kn_free(name);
        KN_NEW(name, strlen(item->value) + 1);
        for (const char *from = item->value; kn_words_next(name, &from);) {
            const kn_setting *role = role_of(settings, name, strlen(name));
            if (role != item && role->field->role != item->field->role)
                KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = item->option, .column = name),
                           "column '%.80s' is %s and cannot be %s too; name it once", name,
                           kn_role_name(role->field->role), kn_role_name(item->field->role));
            if (role != item) continue;
            if (n++ == 0) kn_buffer_text(out, "columns:\n");
            put_column(out, settings, name, item->field->role);
        }
    }
done:
    kn_free(name);
    return status;
}

static kn_status put_models(kn_buffer *out, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_setting *k = kn_settings_find(settings, "k");
    size_t n = 0;
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        bool is_model = strcmp(item->option, "model") == 0;
        if ((!is_model && item != k) || !kn_setting_in_force(settings, item)) continue;
        if (n++ == 0) kn_buffer_text(out, "models:\n");
        if (!is_model) {
            kn_buffer_printf(out, "  - k-anonymity: {k: %s}\n", item->value);
        } else if (strchr(item->value, ':') == NULL) {
            kn_buffer_printf(out, "  - %s\n", item->value);
        } else {
            kn_buffer_printf(out, "  - %.*s: ", (int)strcspn(item->value, ":"), item->value);
            KN_TRY(put_parameters(out, item->value, "", err));
            kn_buffer_char(out, '\n');
        }
    }
done:
    return status;
}

kn_status kn_settings_save(const kn_settings *settings, kn_write_fn write, void *user, kn_error *err)
{
    kn_buffer out = {0};
    kn_scope before;
    kn_status status = kn_scope_enter(&before, settings->account, err);
    if (status != KN_OK) return status;
    KN_TRY(check_all(settings, err));
    kn_buffer_text(&out, "version: 1\n");
    KN_TRY(put_lines(&out, settings, 0, FIRST_AFTER_COLUMNS, err));
    KN_TRY(put_columns(&out, settings, err));
    KN_TRY(put_models(&out, settings, err));
    KN_TRY(put_lines(&out, settings, FIRST_AFTER_COLUMNS, N_LINES, err));
    if (out.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (write(user, out.bytes, out.n) != 0) KN_FAIL(KN_INPUT, "the policy could not be written");
done:
    kn_buffer_free(&out);
    kn_scope_leave(&before);
    return status;
}

bool kn_settings_nth_in_force(const kn_settings *settings, size_t n, const char **option, const char **value)
{
    for (size_t i = 0; i < settings->items.n; i++) {
        const kn_setting *item = &settings->items.items[i];
        if (!kn_setting_in_force(settings, item) || n-- > 0) continue;
        *option = item->option;
        *value = item->value;
        return true;
    }
    return false;
}
