/* Mappings of a policy file: keys by a table, values as options, and slips with their places. */
#include "policy/policy_read.h"

#include "base/buffer.h"
#include "base/suggest.h"

#include <stdio.h>
#include <string.h>

/* --- Slips -------------------------------------------------------------------------------------------------------- */

kn_status kn_policy_slip_placed(kn_status status, const char *path, kn_error *err)
{
    char file[KN_FILE_BYTES];
    kn_place place;
    if (status == KN_OK) return status;
    kn_place_split(&place, file, err->message);
    place.file = path;
    return kn_error_about(err, status, &place);
}

size_t kn_policy_n_slips(const kn_policy_loader *load) { return load->settings->problems.items.n; }

kn_status kn_policy_note_slip(kn_policy_loader *load, kn_status status)
{
    if (status == KN_OK || kn_policy_n_slips(load) >= KN_POLICY_MOST_SLIPS) return status;
    status =
        kn_problem_note(&load->settings->problems, kn_policy_slip_placed(status, load->path, load->err), load->err);
    if (status == KN_OK && kn_policy_n_slips(load) == KN_POLICY_MOST_SLIPS)
        status = kn_error_set(load->err, KN_USAGE, "%.1000s: the first %d problems; there may be more", load->path,
                              KN_POLICY_MOST_SLIPS);
    return status;
}

/* --- Nodes and their places --------------------------------------------------------------------------------------- */

const char *kn_policy_place(char buffer[KN_POLICY_PLACE_BYTES], const kn_policy_loader *load, const kn_yaml *node,
                            const char *otherwise)
{
    if (node != NULL && node->kind == KN_YAML_SCALAR)
        snprintf(buffer, KN_POLICY_PLACE_BYTES, "%.150s:%u:%u", load->path, node->line, node->column);
    else snprintf(buffer, KN_POLICY_PLACE_BYTES, "%s", otherwise);
    return buffer;
}

const char *kn_policy_place_key(char buffer[KN_POLICY_PLACE_BYTES], const kn_policy_loader *load, const char *name,
                                const kn_yaml *node, const char *otherwise)
{
    char place[KN_POLICY_PLACE_BYTES];
    snprintf(buffer, KN_POLICY_PLACE_BYTES, "%.*s: %.20s", KN_POLICY_PLACE_BYTES - 24,
             kn_policy_place(place, load, node, otherwise), name);
    return buffer;
}

kn_status kn_policy_text(char **out, kn_policy_loader *load, const char *name, const kn_yaml *node, const char *where)
{
    char place[KN_POLICY_PLACE_BYTES];
    *out = NULL;
    if (node == NULL || node->kind != KN_YAML_SCALAR)
        return kn_error_set(load->err, KN_USAGE, "%s: '%s' takes one value, not a list or a mapping", where, name);
    if (kn_yaml_is_nothing(node))
        return kn_error_set(load->err, KN_USAGE, "%s: '%s' needs a value", kn_policy_place(place, load, node, where),
                            name);
    if (memchr(node->text, '\0', node->n_bytes) != NULL)
        return kn_error_set(load->err, KN_USAGE, "%s: a NUL byte in '%s'", kn_policy_place(place, load, node, where),
                            name);
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

static kn_status unknown_key(kn_policy_loader *load, const char *name, const char *inside, const kn_policy_key *keys,
                             size_t n_keys, const char *where)
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
static kn_status read_key(kn_policy_loader *load, const kn_yaml *key_node, const char *inside,
                          const kn_policy_key *keys, size_t n_keys, const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[KN_POLICY_PLACE_BYTES], *name = NULL;
    size_t i = 0;
    kn_policy_place(place, load, key_node, where);
    KN_TRY(kn_policy_text(&name, load, inside, key_node, where));
    while (i < n_keys && strcmp(keys[i].name, name) != 0) i++;
    if (i == n_keys) KN_TRY(unknown_key(load, name, inside, keys, n_keys, place));
    KN_TRY(keys[i].read(load, &keys[i], key_node->value, place, context));
done:
    kn_free(name);
    return status;
}

kn_status kn_policy_read_mapping(kn_policy_loader *load, const kn_yaml *node, const char *inside,
                                 const kn_policy_key *keys, size_t n_keys, const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    if (node == NULL || node->kind != KN_YAML_MAPPING)
        KN_FAIL(KN_USAGE, "%s: %s must be a mapping of keys and values, such as {%s: ...}", where, inside,
                keys[0].name);
    if (node->first == NULL) KN_FAIL(KN_USAGE, "%s: %s is empty; fill it in or leave it out", where, inside);
    for (const kn_yaml *key_node = node->first; key_node != NULL; key_node = key_node->next)
        KN_TRY(kn_policy_note_slip(load, read_key(load, key_node, inside, keys, n_keys, where, context)));
done:
    return status;
}

kn_status kn_policy_read_option(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                const char *where, void *context)
{
    kn_status status = KN_OK;
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    KN_TRY(kn_policy_text(&text, load, field->name, value, where));
    kn_policy_place_key(place, load, field->name, value, where);
    KN_TRY(kn_settings_add(load->settings, field->option, text, place, load->err));
done:
    kn_free(text);
    return status;
}

static bool is_yes(const char *text) { return strcmp(text, "yes") == 0 || strcmp(text, "true") == 0; }
static bool is_no(const char *text) { return strcmp(text, "no") == 0 || strcmp(text, "false") == 0; }

kn_status kn_policy_read_switch(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    KN_TRY(kn_policy_text(&text, load, field->name, value, where));
    kn_policy_place(place, load, value, where);
    if (!is_yes(text) && !is_no(text))
        KN_FAIL(KN_USAGE, "%s: '%s' is yes or no, not '%.40s'", place, field->name, text);
    bool on = is_yes(text) != (strcmp(field->name, "header") == 0);
    KN_TRY(kn_settings_add(load->settings, field->option, on ? "yes" : "no", place, err));
done:
    kn_free(text);
    return status;
}

kn_status kn_policy_append_list(kn_buffer *out, kn_policy_loader *load, const char *name, const kn_yaml *list,
                                char separator, const char *where)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char *text = NULL;
    size_t n = 0;
    if (list->first == NULL) KN_FAIL(KN_USAGE, "%s: '%s' is an empty list; fill it in or leave it out", where, name);
    for (const kn_yaml *item = list->first; item != NULL; item = item->next) {
        status = kn_policy_text(&text, load, name, item, where);
        KN_TRY(kn_policy_note_slip(load, status));
        if (text == NULL) continue;
        if (n++ > 0) kn_buffer_char(out, separator);
        kn_policy_escape(out, text, separator);
        kn_free(text);
        text = NULL;
    }
done:
    kn_free(text);
    return status;
}

void kn_policy_escape(kn_buffer *out, const char *text, char also)
{
    for (; *text != '\0'; text++) {
        if (*text == ',' || *text == also) kn_buffer_char(out, '\\');
        kn_buffer_char(out, *text);
    }
}
