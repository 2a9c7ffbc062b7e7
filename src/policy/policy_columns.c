/* `columns:` of a policy file: a role for each, and what is said of its values. */
#include "policy/policy_read.h"

#include "base/buffer.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

typedef struct column {
    const char *name;
    bool has_role;
    char *min_level, *max_level;
    char level_place[KN_POLICY_PLACE_BYTES];
} column;

static const char *const role_words[] = {"identifier", "quasi", "sensitive", "insensitive"};
static const char *const role_options[] = {"identifier", "qi", "sensitive", "insensitive"};

static kn_status read_role(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value, const char *where,
                           void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    column *about = context;
    kn_buffer name = {0};
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    KN_TRY(kn_policy_text(&text, load, "role", value, where));
    kn_policy_place(place, load, value, where);
    size_t i = 0;
    while (i < 4 && strcmp(role_words[i], text) != 0) i++;
    if (i == 4) {
        const char *near = kn_suggest(text, role_words, 4);
        KN_FAIL(KN_USAGE, "%s: '%.40s' is no role%s%s%s; identifier, quasi, sensitive or insensitive", place, text,
                near != NULL ? " (did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?)" : "");
    }
    kn_policy_escape(&name, about->name, 0);
    if (name.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (name.n == 0) KN_FAIL(KN_USAGE, "%s: a column without a name", place);
    KN_TRY(kn_settings_add(load->settings, role_options[i], name.bytes, place, err));
    about->has_role = true;
done:
    kn_free(text);
    kn_buffer_free(&name);
    return status;
}

/* "COL=VALUE" */
static kn_status add_detail(kn_policy_loader *load, const char *option, const column *about, const char *value,
                            const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer pair = {0};
    kn_buffer_printf(&pair, "%s=%s", about->name, value);
    if (pair.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_settings_add(load->settings, option, pair.bytes, where, err));
    load->settings->items.items[load->settings->items.n - 1].n_column = strlen(about->name);
done:
    kn_buffer_free(&pair);
    return status;
}

static kn_status check_derivation(kn_policy_loader *load, const column *about, const char *spec, const char *where)
{
    kn_derivation derivation = {0};
    kn_error inner = {0};
    kn_status status = kn_derivation_parse(&derivation, about->name, spec, &inner);
    kn_derivation_free(&derivation);
    if (status == KN_OK) return KN_OK;
    status = kn_error_set(load->err, status, "%s: %.600s", where, inner.message);
    return kn_error_about(load->err, status, KN_PLACE(.option = "derive"));
}

static kn_status read_detail(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                             const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    KN_TRY(kn_policy_text(&text, load, field->name, value, where));
    kn_policy_place_key(place, load, field->name, value, where);
    if (strcmp(field->option, "derive") == 0) KN_TRY(check_derivation(load, context, text, place));
    KN_TRY(add_detail(load, field->option, context, text, place));
done:
    kn_free(text);
    return status;
}

static kn_status read_file(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value, const char *where,
                           void *context)
{
    kn_status status = KN_OK;
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    kn_buffer path = {0};
    KN_TRY(kn_policy_text(&text, load, field->name, value, where));
    /* "./suppress" is a file, "suppress" a SPEC. */
    kn_buffer_printf(&path, "%s%s", text[0] == '/' ? "" : "./", text);
    kn_error *err = load->err;
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(add_detail(load, "hierarchy", context, path.bytes, kn_policy_place(place, load, value, where)));
done:
    kn_free(text);
    kn_buffer_free(&path);
    return status;
}

static const kn_policy_key hierarchy_keys[] = {{"file", read_file, "hierarchy"}};

/* hierarchy: "intervals(5,10)" or hierarchy: {file: country.csv} */
static kn_status read_hierarchy(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                const char *where, void *context)
{
    if (value != NULL && value->kind == KN_YAML_MAPPING)
        return kn_policy_read_mapping(load, value, "hierarchy", hierarchy_keys, 1, where, context);
    return read_detail(load, field, value, where, context);
}

static kn_status read_level(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value, const char *where,
                            void *context)
{
    kn_status status = KN_OK;
    column *about = context;
    uint32_t number;
    char **level = strcmp(field->name, "min_level") == 0 ? &about->min_level : &about->max_level;
    kn_free(*level);
    KN_TRY(kn_policy_text(level, load, field->name, value, where));
    kn_policy_place_key(about->level_place, load, field->name, value, where);
    if (kn_level_read(&number, *level, strlen(*level))) goto done;
    status =
        kn_error_set(load->err, KN_USAGE, "%s: '%.40s' is no level; write a whole number from 0 (the value as it is)",
                     about->level_place, *level);
    kn_free(*level);
    *level = NULL;
done:
    return status;
}

static const kn_policy_key column_keys[] = {
    {"role", read_role, NULL},          {"type", read_detail, "type"},
    {"derive", read_detail, "derive"},  {"hierarchy", read_hierarchy, "hierarchy"},
    {"weight", read_detail, "weight"},  {"min_level", read_level, "level"},
    {"max_level", read_level, "level"}, {"grid", read_detail, "grid"},
    {"top", read_detail, "top"},        {"bottom", read_detail, "bottom"},
    {"round", read_detail, "round"},    {"release_values", read_detail, "release-values"},
};

static kn_status read_column(kn_policy_loader *load, column *about, const kn_yaml *value, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer levels = {0};
    const size_t n_before = kn_policy_n_slips(load);
    char inside[KN_SHOWN_BYTES + 16], shown[KN_SHOWN_BYTES];
    snprintf(inside, sizeof inside, "column %s", kn_value_shown(shown, about->name, strlen(about->name), false));
    if (!kn_yaml_is_nothing(value) && value->kind == KN_YAML_SCALAR) { /* age: quasi */
        KN_TRY(read_role(load, &column_keys[0], value, where, about));
        goto done;
    }
    KN_TRY(kn_policy_read_mapping(load, value, inside, column_keys, sizeof column_keys / sizeof *column_keys, where,
                                  about));
    if (!about->has_role && kn_policy_n_slips(load) == n_before) /* otherwise one of them may be the role */
        KN_FAIL(KN_USAGE, "%s: %s has no role; identifier, quasi, sensitive or insensitive", where, inside);
    if (about->min_level != NULL || about->max_level != NULL) {
        kn_buffer_printf(&levels, "%s..%s", about->min_level != NULL ? about->min_level : "0",
                         about->max_level != NULL ? about->max_level : "");
        if (levels.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        KN_TRY(add_detail(load, "level", about, levels.bytes, about->level_place));
    }
done:
    kn_free(about->min_level);
    kn_free(about->max_level);
    kn_buffer_free(&levels);
    return status;
}

kn_status kn_policy_read_columns(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                 const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[KN_POLICY_PLACE_BYTES], *name = NULL;
    if (value == NULL || value->kind != KN_YAML_MAPPING)
        KN_FAIL(KN_USAGE, "%s: columns is a mapping, one key per column", where);
    if (value->first == NULL) KN_FAIL(KN_USAGE, "%s: columns is empty; give every column a role", where);
    for (const kn_yaml *key_node = value->first; key_node != NULL; key_node = key_node->next) {
        kn_policy_place(place, load, key_node, where);
        status = kn_policy_text(&name, load, "columns", key_node, where);
        column about = {.name = name};
        if (status == KN_OK) status = read_column(load, &about, key_node->value, place);
        KN_TRY(kn_policy_note_slip(load, status));
        kn_free(name);
        name = NULL;
    }
done:
    kn_free(name);
    return status;
}
