/* The policy file: YAML in, settings out.
 *
 * Every key of the schema below leads to options of options.def, so the policy and the flags speak one language and the
 * later stages know nothing of YAML. Scalars are text until our own schema reads them: the country code NO stays NO,
 * 01234 keeps its zero. What the schema does not know is an error at its line and column, with the nearest known word.
 * yaml.c refuses what hides something: a policy is to be read from top to bottom by whoever signs for it.
 *
 * All slips are told at once: every loop over keys, columns, models and parameters hands what failed to note_slip and
 * goes on, and what builds on the part with the slip (a role, a whole model) is left out instead of being told of too.
 * Only what yaml.c refuses stands alone, because nobody knows what was meant behind it. */
#include "policy/settings.h"

#include "base/buffer.h"
#include "base/param.h"
#include "base/suggest.h"
#include "base/yaml.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_POLICY_BYTES (1 << 20)
#define PLACE_BYTES      (KN_SHOWN_BYTES)
#define MOST_SLIPS       50

typedef struct loader {
    kn_settings *settings;
    kn_entries_fn *entries;
    const char *path;
    kn_error *err;
} loader;

/* One key of a mapping: what reads its value, and the option that a plain value becomes. */
typedef struct key key;
struct key {
    const char *name;
    kn_status (*read)(loader *load, const key *field, const kn_yaml *value, const char *where, void *context);
    const char *option;
};

/* --- Slips ---------------------------------------------------------------------------------------------------------
 */

/* Every message begins with its place. */
static kn_status with_place(kn_status status, const char *path, kn_error *err)
{
    char file[KN_FILE_BYTES];
    kn_place place;
    if (status == KN_OK) return status;
    kn_place_split(&place, file, err->message);
    place.file = path;
    return kn_error_about(err, status, &place);
}

static size_t n_slips(const loader *load) { return load->settings->problems.items.n; }

/* KN_OK: the slip is noted, go on. Anything else ends the reading: memory, or a file that is no policy at all. */
static kn_status note_slip(loader *load, kn_status status)
{
    if (status == KN_OK || n_slips(load) >= MOST_SLIPS) return status;
    status = kn_problem_note(&load->settings->problems, with_place(status, load->path, load->err), load->err);
    if (status == KN_OK && n_slips(load) == MOST_SLIPS)
        status = kn_error_set(load->err, KN_USAGE, "%.1000s: the first %d problems; there may be more", load->path,
                              MOST_SLIPS);
    return status;
}

/* --- Nodes and their places --------------------------------------------------------------------------------------- */

/* "policy.yaml:12:5" of a scalar; for lists and mappings their key's place stands. */
static const char *place_of(char buffer[PLACE_BYTES], const loader *load, const kn_yaml *node, const char *otherwise)
{
    if (node != NULL && node->kind == KN_YAML_SCALAR)
        snprintf(buffer, PLACE_BYTES, "%.150s:%u:%u", load->path, node->line, node->column);
    else snprintf(buffer, PLACE_BYTES, "%s", otherwise);
    return buffer;
}

/* The same with the key, for settings that are checked where nobody sees the key any more: "policy.yaml:12:5: seed". */
static const char *place_of_key(char buffer[PLACE_BYTES], const loader *load, const char *name, const kn_yaml *node,
                                const char *otherwise)
{
    char place[PLACE_BYTES];
    snprintf(buffer, PLACE_BYTES, "%.*s: %.20s", PLACE_BYTES - 24, place_of(place, load, node, otherwise), name);
    return buffer;
}

/* The text of a scalar, yours to kn_free; an error for anything else. */
static kn_status text_of(char **out, loader *load, const char *name, const kn_yaml *node, const char *where)
{
    char place[PLACE_BYTES];
    *out = NULL;
    if (node == NULL || node->kind != KN_YAML_SCALAR)
        return kn_error_set(load->err, KN_USAGE, "%s: '%s' takes one value, not a list or a mapping", where, name);
    if (kn_yaml_is_nothing(node))
        return kn_error_set(load->err, KN_USAGE, "%s: '%s' needs a value", place_of(place, load, node, where), name);
    if (memchr(node->text, '\0', node->n_bytes) != NULL)
        return kn_error_set(load->err, KN_USAGE, "%s: a NUL byte in '%s'", place_of(place, load, node, where), name);
    *out = kn_string_copy(node->text, node->n_bytes, load->err);
    return *out != NULL ? KN_OK : KN_RESOURCES;
}

/* What is asked for by a flag, and stands elsewhere in a policy. */
static const char *elsewhere(const char *name)
{
    static const struct {
        const char *name, *hint;
    } flags[] = {
        {"k", "; write models: [k-anonymity: {k: 5}]"},
        {"qi", "; write columns: {age: {role: quasi}}"},
        {"quasi", "; write columns: {age: {role: quasi}}"},
        {"sensitive", "; write columns: {diagnosis: {role: sensitive}}"},
        {"identifier", "; write columns: {name: {role: identifier}}"},
        {"insensitive", "; write columns: {ward: {role: insensitive}}"},
        {"max_suppressed", "; write suppression: {max: 2%}"},
        {"hierarchies", "; write columns: {zip: {role: quasi, hierarchy: {file: zip.csv}}}"},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].name, name) == 0) return flags[i].hint;
    return NULL;
}

static kn_status unknown_key(loader *load, const char *name, const char *inside, const key *keys, size_t n_keys,
                             const char *where)
{
    kn_buffer list = {0};
    const char *words[32];
    for (size_t i = 0; i < n_keys; i++) {
        kn_buffer_printf(&list, "%s%s", i > 0 ? ", " : "", keys[i].name);
        words[i] = keys[i].name;
    }
    const char *near = kn_suggest(name, words, n_keys);
    /* intervals(5,10) within braces, without quotes */
    const char *quote = name[0] != '\0' && name[strlen(name) - 1] == ')' ? "; a value with commas needs quotes" : "";
    const char *hint = strcmp(inside, "the policy") == 0 ? elsewhere(name) : NULL;
    if (hint != NULL) {
        near = NULL;
        quote = hint;
    }
    kn_status status = kn_error_set(load->err, KN_USAGE, "%s: %s has no key '%.40s'%s%s%s%s; it has %s", where, inside,
                                    name, near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                                    near != NULL ? "'?)" : "", quote, list.bytes != NULL ? list.bytes : "none");
    kn_buffer_free(&list);
    return status;
}

/* A key of a mapping is read by its row of the table. */
static kn_status read_key(loader *load, const kn_yaml *key_node, const char *inside, const key *keys, size_t n_keys,
                          const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *name = NULL;
    size_t i = 0;
    place_of(place, load, key_node, where);
    KN_TRY(text_of(&name, load, inside, key_node, where));
    while (i < n_keys && strcmp(keys[i].name, name) != 0) i++;
    if (i == n_keys) KN_TRY(unknown_key(load, name, inside, keys, n_keys, place));
    KN_TRY(keys[i].read(load, &keys[i], key_node->value, place, context));
done:
    kn_free(name);
    return status;
}

static kn_status read_mapping(loader *load, const kn_yaml *node, const char *inside, const key *keys, size_t n_keys,
                              const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    if (node == NULL || node->kind != KN_YAML_MAPPING)
        KN_FAIL(KN_USAGE, "%s: %s must be a mapping of keys and values, such as {%s: ...}", where, inside,
                keys[0].name);
    if (node->first == NULL) KN_FAIL(KN_USAGE, "%s: %s is empty; fill it in or leave it out", where, inside);
    for (const kn_yaml *key_node = node->first; key_node != NULL; key_node = key_node->next)
        KN_TRY(note_slip(load, read_key(load, key_node, inside, keys, n_keys, where, context)));
done:
    return status;
}

static kn_status read_option(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *text = NULL;
    KN_TRY(text_of(&text, load, field->name, value, where));
    place_of_key(place, load, field->name, value, where);
    KN_TRY(kn_settings_add(load->settings, field->option, text, place, load->err));
done:
    kn_free(text);
    return status;
}

static bool is_yes(const char *text) { return strcmp(text, "yes") == 0 || strcmp(text, "true") == 0; }
static bool is_no(const char *text) { return strcmp(text, "no") == 0 || strcmp(text, "false") == 0; }

/* yes, no, true or false. The option for `header` says the opposite of the key: no-header. */
static kn_status read_switch(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *text = NULL;
    KN_TRY(text_of(&text, load, field->name, value, where));
    place_of(place, load, value, where);
    if (!is_yes(text) && !is_no(text))
        KN_FAIL(KN_USAGE, "%s: '%s' is yes or no, not '%.40s'", place, field->name, text);
    bool on = is_yes(text) != (strcmp(field->name, "header") == 0);
    KN_TRY(kn_settings_add(load->settings, field->option, on ? "yes" : "no", place, err));
done:
    kn_free(text);
    return status;
}

/* Commas are escaped, because options separate lists and parameters by them; and `also`, unless it is 0. */
static void append_escaped(kn_buffer *out, const char *text, char also)
{
    for (; *text != '\0'; text++) {
        if (*text == ',' || *text == also) kn_buffer_char(out, '\\');
        kn_buffer_char(out, *text);
    }
}

static kn_status read_null_values(loader *load, const key *field, const kn_yaml *value, const char *where,
                                  void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer list = {0};
    char *text = NULL;
    size_t n = 0;
    if (value == NULL || value->kind != KN_YAML_LIST) KN_FAIL(KN_USAGE, "%s: null_values is a list: [\"\", NA]", where);
    if (value->first == NULL)
        KN_FAIL(KN_USAGE, "%s: null_values is empty; leave it out: then the empty cell is missing", where);
    for (const kn_yaml *item = value->first; item != NULL; item = item->next) {
        status = text_of(&text, load, field->name, item, where);
        KN_TRY(note_slip(load, status));
        if (text == NULL) continue;
        if (n++ > 0) kn_buffer_char(&list, ',');
        append_escaped(&list, text, 0);
        kn_free(text);
        text = NULL;
    }
    /* The empty cell alone is the default, and an empty option has no value. */
    if (list.n > 0) KN_TRY(kn_settings_add(load->settings, "null", list.bytes, where, err));
done:
    kn_free(text);
    kn_buffer_free(&list);
    return status;
}

static const key input_keys[] = {
    {"null_values", read_null_values, NULL}, {"encoding", read_option, "encoding"},
    {"delimiter", read_option, "delimiter"}, {"header", read_switch, "no-header"},
    {"trim", read_switch, "trim"},           {"decimal", read_option, "decimal"},
    {"invalid", read_option, "invalid"},
};

static kn_status read_input(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    return read_mapping(load, value, "input", input_keys, sizeof input_keys / sizeof *input_keys, where, NULL);
}

/* --- Columns ------------------------------------------------------------------------------------------------------ */

typedef struct column {
    const char *name;
    bool has_role;
    char *min_level, *max_level;
    char level_place[PLACE_BYTES];
} column;

static const char *const role_words[] = {"identifier", "quasi", "sensitive", "insensitive"};
static const char *const role_options[] = {"identifier", "qi", "sensitive", "insensitive"};

static kn_status read_role(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    column *about = context;
    kn_buffer name = {0};
    char place[PLACE_BYTES], *text = NULL;
    KN_TRY(text_of(&text, load, "role", value, where));
    place_of(place, load, value, where);
    size_t i = 0;
    while (i < 4 && strcmp(role_words[i], text) != 0) i++;
    if (i == 4) {
        const char *near = kn_suggest(text, role_words, 4);
        KN_FAIL(KN_USAGE, "%s: '%.40s' is no role%s%s%s; identifier, quasi, sensitive or insensitive", place, text,
                near != NULL ? " (did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?)" : "");
    }
    append_escaped(&name, about->name, 0);
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
static kn_status add_detail(loader *load, const char *option, const column *about, const char *value, const char *where)
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

static kn_status check_derivation(loader *load, const column *about, const char *spec, const char *where)
{
    kn_derivation derivation = {0};
    kn_error inner = {0};
    kn_status status = kn_derivation_parse(&derivation, about->name, spec, &inner);
    kn_derivation_free(&derivation);
    if (status == KN_OK) return KN_OK;
    status = kn_error_set(load->err, status, "%s: %.600s", where, inner.message);
    return kn_error_about(load->err, status, KN_PLACE(.option = "derive"));
}

static kn_status read_detail(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *text = NULL;
    KN_TRY(text_of(&text, load, field->name, value, where));
    place_of_key(place, load, field->name, value, where);
    if (strcmp(field->option, "derive") == 0) KN_TRY(check_derivation(load, context, text, place));
    KN_TRY(add_detail(load, field->option, context, text, place));
done:
    kn_free(text);
    return status;
}

static kn_status read_file(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *text = NULL;
    kn_buffer path = {0};
    KN_TRY(text_of(&text, load, field->name, value, where));
    /* "./suppress" is a file, "suppress" a SPEC. */
    kn_buffer_printf(&path, "%s%s", text[0] == '/' ? "" : "./", text);
    kn_error *err = load->err;
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(add_detail(load, "hierarchy", context, path.bytes, place_of(place, load, value, where)));
done:
    kn_free(text);
    kn_buffer_free(&path);
    return status;
}

static const key hierarchy_keys[] = {{"file", read_file, "hierarchy"}};

/* hierarchy: "intervals(5,10)" or hierarchy: {file: country.csv} */
static kn_status read_hierarchy(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    if (value != NULL && value->kind == KN_YAML_MAPPING)
        return read_mapping(load, value, "hierarchy", hierarchy_keys, 1, where, context);
    return read_detail(load, field, value, where, context);
}

static kn_status read_level(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    column *about = context;
    uint32_t number;
    char **level = strcmp(field->name, "min_level") == 0 ? &about->min_level : &about->max_level;
    kn_free(*level);
    KN_TRY(text_of(level, load, field->name, value, where));
    place_of_key(about->level_place, load, field->name, value, where);
    if (kn_level_read(&number, *level, strlen(*level))) goto done;
    status =
        kn_error_set(load->err, KN_USAGE, "%s: '%.40s' is no level; write a whole number from 0 (the value as it is)",
                     about->level_place, *level);
    kn_free(*level);
    *level = NULL;
done:
    return status;
}

static const key column_keys[] = {
    {"role", read_role, NULL},          {"type", read_detail, "type"},
    {"derive", read_detail, "derive"},  {"hierarchy", read_hierarchy, "hierarchy"},
    {"weight", read_detail, "weight"},  {"min_level", read_level, "level"},
    {"max_level", read_level, "level"}, {"grid", read_detail, "grid"},
    {"top", read_detail, "top"},        {"bottom", read_detail, "bottom"},
    {"round", read_detail, "round"},    {"release_values", read_detail, "release-values"},
};

static kn_status read_column(loader *load, column *about, const kn_yaml *value, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer levels = {0};
    const size_t n_before = n_slips(load);
    char inside[KN_SHOWN_BYTES + 16], shown[KN_SHOWN_BYTES];
    snprintf(inside, sizeof inside, "column %s", kn_value_shown(shown, about->name, strlen(about->name), false));
    if (!kn_yaml_is_nothing(value) && value->kind == KN_YAML_SCALAR) { /* age: quasi */
        KN_TRY(read_role(load, &column_keys[0], value, where, about));
        goto done;
    }
    KN_TRY(read_mapping(load, value, inside, column_keys, sizeof column_keys / sizeof *column_keys, where, about));
    if (!about->has_role && n_slips(load) == n_before) /* otherwise one of them may be the role */
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

static kn_status read_columns(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    if (value == NULL || value->kind != KN_YAML_MAPPING)
        KN_FAIL(KN_USAGE, "%s: columns is a mapping, one key per column", where);
    if (value->first == NULL) KN_FAIL(KN_USAGE, "%s: columns is empty; give every column a role", where);
    for (const kn_yaml *key_node = value->first; key_node != NULL; key_node = key_node->next) {
        place_of(place, load, key_node, where);
        status = text_of(&name, load, "columns", key_node, where);
        column about = {.name = name};
        if (status == KN_OK) status = read_column(load, &about, key_node->value, place);
        KN_TRY(note_slip(load, status));
        kn_free(name);
        name = NULL;
    }
done:
    kn_free(name);
    return status;
}

/* --- Models, algorithm, measure ----------------------------------------------------------------------------------- */

/* `what`: model, algorithm or measure. The name ends at a ':' at the latest. */
static kn_status find_entry(kn_entry *out, loader *load, const char *what, const char *name, const char *where)
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

static kn_status find_param(const kn_param **out, loader *load, const kn_entry *owner, const char *name,
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

/* ["a", "b|c"] as a|b\|c */
static kn_status append_list(kn_buffer *spec, loader *load, const char *name, const kn_yaml *list, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char *text = NULL;
    size_t n = 0;
    if (list->first == NULL) KN_FAIL(KN_USAGE, "%s: '%s' is an empty list; fill it in or leave it out", where, name);
    for (const kn_yaml *item = list->first; item != NULL; item = item->next) {
        status = text_of(&text, load, name, item, where);
        KN_TRY(note_slip(load, status));
        if (text == NULL) continue;
        if (n++ > 0) kn_buffer_char(spec, '|');
        append_escaped(spec, text, '|');
        kn_free(text);
        text = NULL;
    }
done:
    kn_free(text);
    return status;
}

/* One value, or a list where the parameter takes one. Names of files are relative to the policy. The registry's entry
 * knows what is allowed; a mistake is reported here, where the place is known. */
static kn_status append_parameter(kn_buffer *spec, loader *load, const kn_entry *owner, const char *name,
                                  const kn_yaml *value, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err, inner = {0};
    char place[PLACE_BYTES], *text = NULL;
    const kn_param *param = NULL;
    KN_TRY(find_param(&param, load, owner, name, where));
    if (param->is_list && value != NULL && value->kind == KN_YAML_LIST) {
        KN_TRY(append_list(spec, load, name, value, where));
        goto done;
    }
    KN_TRY(text_of(&text, load, name, value, where));
    status = kn_param_check(owner->name, param, text, &inner);
    if (status != KN_OK) KN_FAIL(status, "%s: %.1500s", place_of(place, load, value, where), inner.message);
    if (strcmp(name, "population") == 0 && text[0] != '/') {
        append_escaped(spec, load->settings->policy_folder, 0);
        kn_buffer_char(spec, '/');
    }
    append_escaped(spec, text, 0);
done:
    kn_free(text);
    return status;
}

/* {k: 11, ...} appended as ":k=11,..." */
static kn_status append_parameters(kn_buffer *spec, loader *load, const kn_yaml *node, const kn_entry *owner,
                                   const char *where, const char *except)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    size_t n = 0;
    if (node == NULL || node->kind != KN_YAML_MAPPING)
        KN_FAIL(KN_USAGE, "%s: %s takes a mapping of its parameters", where, owner->name);
    for (const kn_yaml *key_node = node->first; key_node != NULL; key_node = key_node->next) {
        place_of(place, load, key_node, where);
        status = text_of(&name, load, owner->name, key_node, where);
        if (status == KN_OK && (except == NULL || strcmp(name, except) != 0)) {
            kn_buffer_printf(spec, "%c%s=", n++ == 0 ? ':' : ',', name);
            status = append_parameter(spec, load, owner, name, key_node->value, place);
        }
        KN_TRY(note_slip(load, status));
        kn_free(name);
        name = NULL;
    }
done:
    kn_free(name);
    return status;
}

/* The whole entry: also what is missing, and parameters written behind the name. */
static kn_status add_entry(loader *load, const char *option, const kn_entry *owner, const kn_buffer *spec,
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
static kn_status read_model(loader *load, const kn_yaml *item, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    const size_t n_before = n_slips(load);
    kn_buffer spec = {0};
    kn_entry model;
    if (item->kind == KN_YAML_SCALAR) {
        KN_TRY(text_of(&name, load, "models", item, where));
        place_of(place, load, item, where);
        KN_TRY(find_entry(&model, load, "model", name, place));
        kn_buffer_text(&spec, name);
    } else {
        const kn_yaml *key_node = item->kind == KN_YAML_MAPPING ? item->first : NULL;
        if (key_node == NULL) KN_FAIL(KN_USAGE, "%s: a model is a name or {name: {parameters}}", where);
        place_of(place, load, key_node, where);
        KN_TRY(text_of(&name, load, "models", key_node, where));
        if (key_node->next != NULL)
            KN_FAIL(KN_USAGE, "%s: one model per item; start the next one with a '-' of its own, and indent parameters",
                    place);
        KN_TRY(find_entry(&model, load, "model", name, place));
        kn_buffer_text(&spec, model.name);
        KN_TRY(append_parameters(&spec, load, key_node->value, &model, place, NULL));
    }
    if (n_slips(load) == n_before) KN_TRY(add_entry(load, "model", &model, &spec, place));
done:
    kn_free(name);
    kn_buffer_free(&spec);
    return status;
}

static kn_status read_models(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    if (value == NULL || value->kind != KN_YAML_LIST)
        KN_FAIL(KN_USAGE, "%s: models is a list: '- k-anonymity: {k: 11}'", where);
    if (value->first == NULL) KN_FAIL(KN_USAGE, "%s: models is empty; name one or leave it out", where);
    for (const kn_yaml *item = value->first; item != NULL; item = item->next)
        KN_TRY(note_slip(load, read_model(load, item, where)));
done:
    return status;
}

/* A name, or {name: NAME, parameter: value}. */
static kn_status read_entry(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    const size_t n_before = n_slips(load);
    kn_buffer spec = {0};
    kn_entry found;
    bool is_mapping = value != NULL && value->kind == KN_YAML_MAPPING;
    const kn_yaml *name_node = is_mapping ? kn_yaml_find(value, "name") : value;
    if (name_node == NULL) KN_FAIL(KN_USAGE, "%s: %s needs a 'name'", where, field->name);
    KN_TRY(text_of(&name, load, field->name, name_node, where));
    place_of(place, load, name_node, where);
    KN_TRY(find_entry(&found, load, field->option, name, place));
    kn_buffer_text(&spec, is_mapping ? found.name : name);
    if (is_mapping) KN_TRY(append_parameters(&spec, load, value, &found, where, "name"));
    if (n_slips(load) == n_before) KN_TRY(add_entry(load, field->option, &found, &spec, place));
done:
    kn_free(name);
    kn_buffer_free(&spec);
    return status;
}

static const key suppression_keys[] = {{"max", read_option, "max-suppressed"}};
static const key risk_keys[] = {{"threshold", read_option, "threshold"}};

static kn_status read_suppression(loader *load, const key *field, const kn_yaml *value, const char *where,
                                  void *context)
{
    return read_mapping(load, value, "suppression", suppression_keys, 1, where, NULL);
}

static kn_status read_risk(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    return read_mapping(load, value, "risk", risk_keys, 1, where, NULL);
}

static kn_status read_version(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    char *text = NULL;
    kn_status status = text_of(&text, load, "version", value, where);
    if (status == KN_OK && strcmp(text, "1") != 0)
        status = kn_error_set(load->err, KN_USAGE,
                              "%s: version '%.40s' of the policy is not known here; this program knows 1", where, text);
    if (status == KN_OK) *(bool *)context = true;
    kn_free(text);
    return status;
}

/* Relative to the policy, as all names of files in it. */
static kn_status read_target(loader *load, const key *field, const kn_yaml *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *text = NULL;
    const char *folder = load->settings->policy_folder;
    kn_buffer path = {0};
    KN_TRY(text_of(&text, load, field->name, value, where));
    if (text[0] != '/' && strcmp(folder, ".") != 0) kn_buffer_printf(&path, "%s/", folder);
    kn_buffer_text(&path, text);
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    place_of(place, load, value, where);
    KN_TRY(kn_settings_add(load->settings, field->option, path.bytes, place, err));
done:
    kn_free(text);
    kn_buffer_free(&path);
    return status;
}

static const key policy_keys[] = {
    {"version", read_version, NULL},
    {"input", read_input, NULL},
    {"person", read_option, "person"},
    {"unit", read_option, "unit"},
    {"unlisted_columns", read_option, "unlisted"},
    {"columns", read_columns, NULL},
    {"models", read_models, NULL},
    {"suppression", read_suppression, NULL},
    {"missing", read_option, "missing"},
    {"fold_sensitive", read_switch, "fold-sensitive"},
    {"allow_copy", read_switch, "allow-copy"},
    {"algorithm", read_entry, "algorithm"},
    {"measure", read_entry, "measure"},
    {"recoding", read_option, "recoding"},
    {"risk", read_risk, NULL},
    {"seed", read_option, "seed"},
    {"effort", read_option, "effort"},
    {"time_limit", read_option, "time-limit"},
    {"order", read_option, "order"},
    {"cells", read_option, "cells"},
    {"language", read_option, "language"},
    {"codebook", read_target, "codebook"},
    {"ledger", read_option, "ledger"},
};

/* --- The file ----------------------------------------------------------------------------------------------------- */

/* By read(), which needs no memory of the C library's. */
static kn_status file_text(char **out, size_t *n_bytes, kn_settings *settings, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    char *bytes = NULL;
    int file = -1;
    ssize_t n = 1;
    *out = NULL;
    KN_TRY(kn_files_open(&file, NULL, path, err));
    if (file < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    settings->policy_is_file = kn_file_identify(&settings->policy_id, file);
    KN_NEW(bytes, MAX_POLICY_BYTES + 1);
    *n_bytes = 0;
    while (n != 0 && *n_bytes < MAX_POLICY_BYTES) {
        n = read(file, bytes + *n_bytes, MAX_POLICY_BYTES - *n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
        *n_bytes += (size_t)n;
    }
    *out = bytes;
    bytes = NULL;
done:
    if (file >= 0) close(file);
    kn_free(bytes);
    return status;
}

/* A NUL byte, which some editors show as the end of the file; wide characters are full of them. */
static kn_status check_bytes(const char *path, const char *text, size_t n_bytes, kn_error *err)
{
    bool is_marked = n_bytes >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
    bool is_wide = n_bytes >= 2 && (text[0] == '\0') != (text[1] == '\0'); /* a policy starts with ASCII */
    bool is_wider = n_bytes >= 4 && text[0] == '\0' && text[1] == '\0' && (text[2] != '\0' || text[3] != '\0');
    if (is_marked || is_wide || is_wider)
        return kn_error_set(err, KN_USAGE,
                            "%.1000s: the policy is UTF-16 or UTF-32; save it as UTF-8 (iconv -f utf-16 -t utf-8)",
                            path);
    const char *nul = memchr(text, '\0', n_bytes);
    if (nul == NULL) return KN_OK;
    unsigned line = 1, character = 1;
    for (const char *at = text; at < nul; at++) {
        bool ends_line = *at == '\n' || (*at == '\r' && at[1] != '\n');
        line += ends_line;
        if (ends_line) character = 1;
        else character += ((unsigned char)*at & 0xC0) != 0x80; /* characters, as the parser counts them */
    }
    return kn_error_set(err, KN_USAGE,
                        "%.1000s:%u:%u: a NUL byte; a policy is text, and what stands behind this byte would be lost: "
                        "remove it",
                        path, line, character);
}

static kn_status remember_path(kn_settings *settings, const char *path, kn_error *err)
{
    const char *slash = strrchr(path, '/');
    size_t n_folder = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    kn_free(settings->policy_path);
    kn_free(settings->policy_folder);
    settings->policy_path = kn_string_copy(path, strlen(path), err);
    settings->policy_folder = kn_string_copy(slash == NULL ? "." : path, n_folder, err);
    if (settings->policy_path == NULL || settings->policy_folder == NULL) return KN_RESOURCES;
    return KN_OK;
}

static kn_status check_only(const kn_settings *settings, kn_error *err)
{
    if (settings->policy_path == NULL) return KN_OK;
    return kn_error_set(err, KN_USAGE, "a policy was read already (%.500s); give one", settings->policy_path);
}

/* What is said of columns is looked at beside the data. Where that is not going to happen, what needs no data is told
 * of here: the same slips, or somebody would mend the file twice. */
static kn_status note_details(loader *load)
{
    kn_status status = KN_OK;
    for (size_t i = 0; i < load->settings->items.n; i++) {
        const kn_setting *setting = &load->settings->items.items[i];
        if (setting->where == NULL || setting->field->kind != KN_FIELD_DETAIL) continue;
        KN_TRY(note_slip(load, kn_setting_check_detail(load->settings, setting, load->err)));
    }
done:
    return status;
}

static kn_status read_policy(kn_settings *settings, const char *text, size_t n_bytes, const char *path,
                             kn_entries_fn *entries, kn_error *err)
{
    kn_status status = KN_OK;
    bool has_version = false;
    kn_yaml *root = NULL;
    kn_sha256 hash;
    loader load = {settings, entries, path, err};
    if (n_bytes >= MAX_POLICY_BYTES) KN_FAIL(KN_USAGE, "%.1000s: a policy has less than 1 MB", path);
    kn_sha256_begin(&hash); /* of what is obeyed: the file may change, and a pipe is read once */
    kn_sha256_add(&hash, text, n_bytes);
    kn_sha256_end(settings->policy_hash, &hash);
    KN_TRY(check_bytes(path, text, n_bytes, err));
    KN_TRY(kn_yaml_parse(&root, text, n_bytes, path, err));
    KN_TRY(remember_path(settings, path, err));
    if (root == NULL) KN_FAIL(KN_USAGE, "%.1000s: the policy is empty", path);
    KN_TRY(read_mapping(&load, root, "the policy", policy_keys, sizeof policy_keys / sizeof *policy_keys, path,
                        &has_version));
    if (!has_version && n_slips(&load) < MOST_SLIPS && kn_yaml_find(root, "version") == NULL)
        status = note_slip(&load, kn_error_set(err, KN_USAGE, "%.1000s: the policy must say 'version: 1'", path));
    if (status == KN_OK && n_slips(&load) > 0) status = note_details(&load);
done:
    kn_yaml_free(root);
    return status;
}

static bool is_before(const kn_problem *one, const kn_problem *other)
{
    const kn_error *a = &one->about, *b = &other->about;
    if ((a->line == 0) != (b->line == 0)) return b->line == 0;
    return a->line != b->line ? a->line < b->line : a->character < b->character;
}

/* By their places; what has none comes last. */
static void sort_slips(kn_problems *slips)
{
    for (size_t i = 1; i < slips->items.n; i++)
        for (size_t at = i; at > 0 && is_before(&slips->items.items[at], &slips->items.items[at - 1]); at--) {
            const kn_problem later = slips->items.items[at - 1];
            slips->items.items[at - 1] = slips->items.items[at];
            slips->items.items[at] = later;
        }
}

/* The first problem for `err`, all of them for kn_settings_nth_problem. */
static kn_status tell(kn_settings *settings, kn_status status, const char *path, kn_error *found, kn_error *err)
{
    kn_problems *slips = &settings->problems;
    status = kn_problem_note(slips, with_place(status, path, found), found);
    if (status != KN_OK) { /* memory: nobody knows what else is wrong */
        kn_problems_free(slips);
        return kn_error_pass(err, status, found);
    }
    sort_slips(slips);
    if (slips->items.n == 0) return KN_OK;
    return kn_error_pass(err, slips->items.items[0].about.code, &slips->items.items[0].about);
}

kn_status kn_policy_load_text(kn_settings *settings, const char *text, size_t n_bytes, const char *path,
                              kn_entries_fn *entries, kn_error *err)
{
    kn_error found = {0};
    kn_problems_free(&settings->problems);
    kn_status status = check_only(settings, &found);
    if (status == KN_OK) status = read_policy(settings, text, n_bytes, path, entries, &found);
    return tell(settings, status, path, &found, err);
}

kn_status kn_policy_load(kn_settings *settings, const char *path, kn_entries_fn *entries, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error found = {0};
    char *text = NULL;
    size_t n_bytes = 0;
    kn_problems_free(&settings->problems);
    KN_TRY(check_only(settings, &found));
    KN_TRY(file_text(&text, &n_bytes, settings, path, &found));
    KN_TRY(read_policy(settings, text, n_bytes, path, entries, &found));
done:
    kn_free(text);
    return tell(settings, status, path, &found, err);
}
