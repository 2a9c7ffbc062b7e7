/* The policy file: YAML in, settings out.
 *
 * Every key of the schema below leads to options of options.c, so the policy and the flags speak one language and the
 * later stages know nothing of YAML. Scalars are text until our own schema reads them: the country code NO stays NO,
 * 01234 keeps its zero. What the schema does not know is an error at its line and column, with the nearest known word.
 * Anchors and aliases are refused: a policy is to be read from top to bottom by whoever signs for it. */
#include "policy/settings.h"

#include "base/buffer.h"
#include "base/suggest.h"
#include "algo/algo.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdio.h>
#include <string.h>

#define MAX_POLICY_BYTES (1 << 20)
#define PLACE_BYTES      (KN_SHOWN_BYTES)

typedef struct loader {
    kn_settings *settings;
    const char *path;
    kn_error *err;
} loader;

/* One key of a mapping: what reads its value, and the option that a plain value becomes. */
typedef struct key key;
struct key {
    const char *name;
    kn_status (*read)(loader *load, const key *field, struct fy_node *value, const char *where, void *context);
    const char *option;
};

/* --- Nodes and their places --------------------------------------------------------------------------------------- */

/* "policy.yaml:12:5" of a scalar; other nodes have no mark of their own, so their key's place stands for them. */
static const char *place_of(char buffer[PLACE_BYTES], const loader *load, struct fy_node *node, const char *otherwise)
{
    struct fy_token *token = fy_node_is_scalar(node) ? fy_node_get_scalar_token(node) : NULL;
    const struct fy_mark *mark = token != NULL ? fy_token_start_mark(token) : NULL;
    if (mark != NULL)
        snprintf(buffer, PLACE_BYTES, "%.150s:%d:%d", load->path, mark->line + 1, mark->column + 1);
    else
        snprintf(buffer, PLACE_BYTES, "%s", otherwise);
    return buffer;
}

/* The text of a scalar, yours to kn_free; an error for anything else. */
static kn_status text_of(char **out, loader *load, const char *name, struct fy_node *node, const char *where)
{
    char place[PLACE_BYTES];
    *out = NULL;
    if (node != NULL && fy_node_is_alias(node))
        return kn_error_set(load->err, KN_USAGE, "%s: aliases (*name) are not allowed in a policy; write it out",
                            where);
    if (node == NULL || !fy_node_is_scalar(node))
        return kn_error_set(load->err, KN_USAGE, "%s: '%s' takes one value, not a list or a mapping", where, name);
    size_t n_bytes = 0;
    const char *bytes = fy_node_get_scalar(node, &n_bytes);
    if (bytes == NULL || (n_bytes == 0 && fy_node_get_style(node) == FYNS_PLAIN))
        return kn_error_set(load->err, KN_USAGE, "%s: '%s' needs a value", place_of(place, load, node, where), name);
    if (memchr(bytes, '\0', n_bytes) != NULL)
        return kn_error_set(load->err, KN_USAGE, "%s: a NUL byte in '%s'", place_of(place, load, node, where), name);
    *out = kn_string_copy(bytes, n_bytes, load->err);
    return *out != NULL ? KN_OK : KN_RESOURCES;
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
    kn_status status = kn_error_set(load->err, KN_USAGE, "%s: %s has no key '%.40s'%s%s%s; it has %s", where, inside,
                                    name, near != NULL ? " (did you mean '" : "", near != NULL ? near : "",
                                    near != NULL ? "'?)" : "", list.bytes != NULL ? list.bytes : "none");
    kn_buffer_free(&list);
    return status;
}

/* Walks a mapping; each key is read by its row of the table. */
static kn_status read_mapping(loader *load, struct fy_node *node, const char *inside, const key *keys, size_t n_keys,
                              const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *name = NULL;
    kn_error *err = load->err;
    if (node == NULL || !fy_node_is_mapping(node))
        KN_FAIL(KN_USAGE, "%s: %s must be a mapping of keys and values", where, inside);
    struct fy_node_pair *pair;
    for (void *at = NULL; (pair = fy_node_mapping_iterate(node, &at)) != NULL;) {
        struct fy_node *key_node = fy_node_pair_key(pair);
        if (key_node == NULL) KN_FAIL(KN_USAGE, "%s: %s has a key that is empty", where, inside);
        place_of(place, load, key_node, where);
        KN_TRY(text_of(&name, load, inside, key_node, where));
        size_t i = 0;
        while (i < n_keys && strcmp(keys[i].name, name) != 0) i++;
        if (i == n_keys) KN_TRY(unknown_key(load, name, inside, keys, n_keys, place));
        KN_TRY(keys[i].read(load, &keys[i], fy_node_pair_value(pair), place, context));
        kn_free(name);
        name = NULL;
    }
done:
    kn_free(name);
    return status;
}

static kn_status read_option(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *text = NULL;
    KN_TRY(text_of(&text, load, field->name, value, where));
    KN_TRY(kn_settings_add(load->settings, field->option, text, place_of(place, load, value, where), load->err));
done:
    kn_free(text);
    return status;
}

static bool is_yes(const char *text) { return strcmp(text, "yes") == 0 || strcmp(text, "true") == 0; }
static bool is_no(const char *text) { return strcmp(text, "no") == 0 || strcmp(text, "false") == 0; }

/* yes, no, true or false. The option for `header` says the opposite of the key: no-header. */
static kn_status read_switch(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
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

/* Commas are escaped, because options separate lists and parameters by them. */
static void append_escaped(kn_buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == ',') kn_buffer_char(out, '\\');
        kn_buffer_char(out, *text);
    }
}

static kn_status read_null_values(loader *load, const key *field, struct fy_node *value, const char *where,
                                  void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer list = {0};
    char *text = NULL;
    size_t n = 0;
    if (value == NULL || !fy_node_is_sequence(value)) KN_FAIL(KN_USAGE, "%s: null_values is a list: [\"\", NA]", where);
    struct fy_node *item;
    for (void *at = NULL; (item = fy_node_sequence_iterate(value, &at)) != NULL;) {
        KN_TRY(text_of(&text, load, field->name, item, where));
        if (n++ > 0) kn_buffer_char(&list, ',');
        append_escaped(&list, text);
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
    {"trim", read_switch, "trim"},
};

static kn_status read_input(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
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

static kn_status read_role(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
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
    append_escaped(&name, about->name);
    if (name.failed || name.n == 0) KN_FAIL(KN_USAGE, "%s: a column without a name", place);
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
done:
    kn_buffer_free(&pair);
    return status;
}

static kn_status read_detail(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[PLACE_BYTES], *text = NULL;
    KN_TRY(text_of(&text, load, field->name, value, where));
    KN_TRY(add_detail(load, field->option, context, text, place_of(place, load, value, where)));
done:
    kn_free(text);
    return status;
}

static kn_status read_file(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
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
static kn_status read_hierarchy(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    if (value != NULL && fy_node_is_mapping(value))
        return read_mapping(load, value, "hierarchy", hierarchy_keys, 1, where, context);
    return read_detail(load, field, value, where, context);
}

static kn_status read_level(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    column *about = context;
    char **level = strcmp(field->name, "min_level") == 0 ? &about->min_level : &about->max_level;
    kn_free(*level);
    kn_status status = text_of(level, load, field->name, value, where);
    if (status == KN_OK) place_of(about->level_place, load, value, where);
    return status;
}

static const key column_keys[] = {
    {"role", read_role, NULL},         {"type", read_detail, "type"},      {"hierarchy", read_hierarchy, "hierarchy"},
    {"weight", read_detail, "weight"}, {"min_level", read_level, "level"}, {"max_level", read_level, "level"},
};

static kn_status read_column(loader *load, column *about, struct fy_node *value, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer levels = {0};
    char inside[KN_SHOWN_BYTES + 16], shown[KN_SHOWN_BYTES];
    snprintf(inside, sizeof inside, "column %s", kn_value_shown(shown, about->name, strlen(about->name), false));
    if (value != NULL && fy_node_is_scalar(value) && !fy_node_is_null(value)) { /* age: quasi */
        KN_TRY(read_role(load, &column_keys[0], value, where, about));
        goto done;
    }
    KN_TRY(read_mapping(load, value, inside, column_keys, sizeof column_keys / sizeof *column_keys, where, about));
    if (!about->has_role)
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

static kn_status read_columns(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    if (value == NULL || !fy_node_is_mapping(value))
        KN_FAIL(KN_USAGE, "%s: columns is a mapping, one key per column", where);
    struct fy_node_pair *pair;
    for (void *at = NULL; (pair = fy_node_mapping_iterate(value, &at)) != NULL;) {
        struct fy_node *key_node = fy_node_pair_key(pair);
        if (key_node == NULL) KN_FAIL(KN_USAGE, "%s: columns has a key that is empty", where);
        place_of(place, load, key_node, where);
        KN_TRY(text_of(&name, load, "columns", key_node, where));
        column about = {.name = name};
        KN_TRY(read_column(load, &about, fy_node_pair_value(pair), place));
        kn_free(name);
        name = NULL;
    }
done:
    kn_free(name);
    return status;
}

/* --- Models, algorithm, measure ----------------------------------------------------------------------------------- */

/* A list becomes a|b; one value stays as it is. Names of files are relative to the policy. */
static kn_status append_parameter(kn_buffer *spec, loader *load, const char *name, struct fy_node *value,
                                  const char *where)
{
    kn_status status = KN_OK;
    char *text = NULL;
    size_t n = 0;
    if (value != NULL && fy_node_is_sequence(value)) {
        struct fy_node *item;
        for (void *at = NULL; (item = fy_node_sequence_iterate(value, &at)) != NULL;) {
            KN_TRY(text_of(&text, load, name, item, where));
            if (n++ > 0) kn_buffer_char(spec, '|');
            append_escaped(spec, text);
            kn_free(text);
            text = NULL;
        }
        goto done;
    }
    KN_TRY(text_of(&text, load, name, value, where));
    if (strcmp(name, "population") == 0 && text[0] != '/') {
        append_escaped(spec, load->settings->policy_folder);
        kn_buffer_char(spec, '/');
    }
    append_escaped(spec, text);
done:
    kn_free(text);
    return status;
}

/* {k: 11, ...} appended as ":k=11,..." */
static kn_status append_parameters(kn_buffer *spec, loader *load, struct fy_node *node, const char *inside,
                                   const char *where, const char *except)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    size_t n = 0;
    if (node == NULL || !fy_node_is_mapping(node))
        KN_FAIL(KN_USAGE, "%s: %s takes a mapping of its parameters", where, inside);
    struct fy_node_pair *pair;
    for (void *at = NULL; (pair = fy_node_mapping_iterate(node, &at)) != NULL;) {
        struct fy_node *key_node = fy_node_pair_key(pair);
        if (key_node == NULL) KN_FAIL(KN_USAGE, "%s: %s has a key that is empty", where, inside);
        place_of(place, load, key_node, where);
        KN_TRY(text_of(&name, load, inside, key_node, where));
        if (except == NULL || strcmp(name, except) != 0) {
            kn_buffer_printf(spec, "%c%s=", n++ == 0 ? ':' : ',', name);
            KN_TRY(append_parameter(spec, load, name, fy_node_pair_value(pair), place));
        }
        kn_free(name);
        name = NULL;
    }
    if (spec->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    kn_free(name);
    return status;
}

/* The registry's entry knows which parameters there are; a mistake is reported here, where the place is known. */
static kn_status check_entry(loader *load, const char *what, const char *spec, const char *const *names, size_t n_names,
                             const kn_param *params, size_t n_params, bool found, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err, inner = {{0}};
    kn_args args = {0};
    char name[64];
    size_t n = strcspn(spec, ":");
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), spec);
    if (!found) {
        const char *near = kn_suggest(name, names, n_names);
        KN_FAIL(KN_USAGE, "%s: there is no %s '%s'%s%s%s; 'kanon list %ss' shows them", where, what, name,
                near != NULL ? " (did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?)" : "", what);
    }
    status = kn_args_parse(&args, name, params, n_params, spec[n] == ':' ? spec + n + 1 : NULL, &inner);
    if (status != KN_OK) KN_FAIL(status, "%s: %.1500s", where, inner.message);
done:
    kn_args_free(&args);
    return status;
}

static kn_status check_model(loader *load, const char *spec, const char *where)
{
    size_t n, length = strcspn(spec, ":"), found = KN_NONE;
    const char *names[64];
    const kn_privacy *const *all = kn_privacy_all(&n);
    for (size_t i = 0; i < n && i < 64; i++) {
        names[i] = all[i]->name;
        if (strlen(names[i]) == length && memcmp(names[i], spec, length) == 0) found = i;
    }
    bool is_there = found != KN_NONE;
    return check_entry(load, "model", spec, names, n < 64 ? n : 64, is_there ? all[found]->params : NULL,
                       is_there ? all[found]->n_params : 0, is_there, where);
}

static kn_status check_algorithm(loader *load, const char *spec, const char *where)
{
    size_t n, length = strcspn(spec, ":"), found = KN_NONE;
    const char *names[64] = {"auto"};
    const kn_algorithm *const *all = kn_algorithm_all(&n);
    if (strcmp(spec, "auto") == 0) return KN_OK;
    for (size_t i = 0; i < n && i < 63; i++) {
        names[i + 1] = all[i]->name;
        if (strlen(all[i]->name) == length && memcmp(all[i]->name, spec, length) == 0) found = i;
    }
    bool is_there = found != KN_NONE;
    return check_entry(load, "algorithm", spec, names, n < 63 ? n + 1 : 64, is_there ? all[found]->params : NULL,
                       is_there ? all[found]->n_params : 0, is_there, where);
}

static kn_status check_measure(loader *load, const char *spec, const char *where)
{
    size_t n, length = strcspn(spec, ":"), found = KN_NONE;
    const char *names[64];
    const kn_measure *const *all = kn_measure_all(&n);
    for (size_t i = 0; i < n && i < 64; i++) {
        names[i] = all[i]->name;
        if (strlen(names[i]) == length && memcmp(names[i], spec, length) == 0) found = i;
    }
    bool is_there = found != KN_NONE;
    return check_entry(load, "measure", spec, names, n < 64 ? n : 64, is_there ? all[found]->params : NULL,
                       is_there ? all[found]->n_params : 0, is_there, where);
}

/* One model: a name, or {name: {parameters}}. */
static kn_status read_model(loader *load, struct fy_node *item, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    kn_buffer spec = {0};
    snprintf(place, sizeof place, "%s", where);
    if (fy_node_is_scalar(item)) {
        KN_TRY(text_of(&name, load, "models", item, where));
        place_of(place, load, item, where);
        kn_buffer_text(&spec, name);
    } else {
        void *at = NULL;
        struct fy_node_pair *pair = fy_node_is_mapping(item) ? fy_node_mapping_iterate(item, &at) : NULL;
        if (pair == NULL || fy_node_pair_key(pair) == NULL)
            KN_FAIL(KN_USAGE, "%s: a model is a name or {name: {parameters}}", where);
        place_of(place, load, fy_node_pair_key(pair), where);
        KN_TRY(text_of(&name, load, "models", fy_node_pair_key(pair), where));
        if (fy_node_mapping_iterate(item, &at) != NULL)
            KN_FAIL(KN_USAGE, "%s: one model per item; start the next one with a '-' of its own, and indent parameters",
                    place);
        kn_buffer_text(&spec, name);
        KN_TRY(append_parameters(&spec, load, fy_node_pair_value(pair), name, place, NULL));
    }
    if (spec.failed || spec.n == 0) KN_FAIL(KN_USAGE, "%s: a model without a name", place);
    KN_TRY(check_model(load, spec.bytes, place));
    KN_TRY(kn_settings_add(load->settings, "model", spec.bytes, place, err));
done:
    kn_free(name);
    kn_buffer_free(&spec);
    return status;
}

static kn_status read_models(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    if (value == NULL || !fy_node_is_sequence(value))
        KN_FAIL(KN_USAGE, "%s: models is a list: '- k-anonymity: {k: 11}'", where);
    struct fy_node *item;
    for (void *at = NULL; (item = fy_node_sequence_iterate(value, &at)) != NULL;) KN_TRY(read_model(load, item, where));
done:
    return status;
}

/* A name, or {name: NAME, parameter: value}. */
static kn_status read_entry(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[PLACE_BYTES], *name = NULL;
    kn_buffer spec = {0};
    bool is_mapping = value != NULL && fy_node_is_mapping(value);
    struct fy_node *name_node = is_mapping ? fy_node_mapping_lookup_by_string(value, "name", 4) : value;
    if (name_node == NULL) KN_FAIL(KN_USAGE, "%s: %s needs a 'name'", where, field->name);
    KN_TRY(text_of(&name, load, field->name, name_node, where));
    place_of(place, load, name_node, where);
    kn_buffer_text(&spec, name);
    if (is_mapping) KN_TRY(append_parameters(&spec, load, value, field->name, where, "name"));
    if (spec.failed || spec.n == 0) KN_FAIL(KN_USAGE, "%s: %s without a name", place, field->name);
    if (strcmp(field->option, "algorithm") == 0)
        KN_TRY(check_algorithm(load, spec.bytes, place));
    else
        KN_TRY(check_measure(load, spec.bytes, place));
    KN_TRY(kn_settings_add(load->settings, field->option, spec.bytes, place, err));
done:
    kn_free(name);
    kn_buffer_free(&spec);
    return status;
}

static const key suppression_keys[] = {{"max", read_option, "max-suppressed"}};
static const key risk_keys[] = {{"threshold", read_option, "threshold"}};

static kn_status read_suppression(loader *load, const key *field, struct fy_node *value, const char *where,
                                  void *context)
{
    return read_mapping(load, value, "suppression", suppression_keys, 1, where, NULL);
}

static kn_status read_risk(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
{
    return read_mapping(load, value, "risk", risk_keys, 1, where, NULL);
}

static kn_status read_version(loader *load, const key *field, struct fy_node *value, const char *where, void *context)
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

static const key policy_keys[] = {
    {"version", read_version, NULL},
    {"input", read_input, NULL},
    {"person", read_option, "person"},
    {"unlisted_columns", read_option, "unlisted"},
    {"columns", read_columns, NULL},
    {"models", read_models, NULL},
    {"suppression", read_suppression, NULL},
    {"missing", read_option, "missing"},
    {"algorithm", read_entry, "algorithm"},
    {"measure", read_entry, "measure"},
    {"recoding", read_option, "recoding"},
    {"risk", read_risk, NULL},
    {"seed", read_option, "seed"},
    {"effort", read_option, "effort"},
    {"time_limit", read_option, "time-limit"},
    {"order", read_option, "order"},
    {"language", read_option, "language"},
};

/* --- The file ----------------------------------------------------------------------------------------------------- */

static kn_status file_text(char **out, size_t *n_bytes, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    char *bytes = NULL;
    FILE *file = fopen(path, "rb");
    *out = NULL;
    if (file == NULL) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    KN_NEW(bytes, MAX_POLICY_BYTES + 1);
    *n_bytes = fread(bytes, 1, MAX_POLICY_BYTES, file);
    if (ferror(file)) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    if (*n_bytes == MAX_POLICY_BYTES) KN_FAIL(KN_USAGE, "%.1000s: a policy has less than 1 MB", path);
    *out = bytes;
    bytes = NULL;
done:
    if (file != NULL) fclose(file);
    kn_free(bytes);
    return status;
}

/* The parser's first complaint, with its place. */
static kn_status syntax_error(const char *path, struct fy_diag *diag, kn_error *err)
{
    void *at = NULL;
    struct fy_diag_error *first = fy_diag_errors_iterate(diag, &at);
    if (first == NULL) return kn_error_set(err, KN_USAGE, "%.1000s: this is not YAML", path);
    return kn_error_set(err, KN_USAGE, "%.1000s:%d:%d: %.500s", path, first->line, first->column, first->msg);
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

kn_status kn_policy_load(kn_settings *settings, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    char *text = NULL;
    size_t n_bytes = 0;
    bool has_version = false;
    struct fy_document *document = NULL;
    struct fy_diag *diag = NULL;
    loader load = {settings, path, err};
    struct fy_diag_cfg diag_options;
    if (settings->policy_path != NULL)
        KN_FAIL(KN_USAGE, "a policy was read already (%.500s); give one", settings->policy_path);
    KN_TRY(file_text(&text, &n_bytes, path, err));
    fy_diag_cfg_default(&diag_options);
    diag_options.fp = NULL;
    diag = fy_diag_create(&diag_options);
    if (diag == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg options = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DISABLE_MMAP_OPT | FYPCF_JSON_NONE,
                                   .diag = diag};
    document = fy_document_build_from_string(&options, text, n_bytes);
    if (document == NULL) KN_TRY(syntax_error(path, diag, err));
    KN_TRY(remember_path(settings, path, err));
    struct fy_node *root = fy_document_root(document);
    if (root == NULL) KN_FAIL(KN_USAGE, "%.1000s: the policy is empty", path);
    KN_TRY(read_mapping(&load, root, "the policy", policy_keys, sizeof policy_keys / sizeof *policy_keys, path,
                        &has_version));
    if (!has_version) KN_FAIL(KN_USAGE, "%.1000s: the policy must say 'version: 1'", path);
done:
    fy_document_destroy(document);
    fy_diag_destroy(diag);
    kn_free(text);
    return status;
}
