/* Any bytes as a policy: YAML that is refused with its place, or a tree in which every node has one; then settings that
 * are refused with the file's name, every problem once and in its order, or that are saved and read back as the same
 * settings. */
#include "base/yaml.h"
#include "fuzz.h"

#include "../tests/same_settings.h"

#include <string.h>

static void check_node(const kn_yaml *node, unsigned depth)
{
    require(depth < 100 && node->line > 0 && node->column > 0);
    require((node->kind == KN_YAML_SCALAR) == (node->text != NULL));
    if (node->text != NULL) require(node->text[node->n_bytes] == '\0' && node->first == NULL);
    for (const kn_yaml *item = node->first; item != NULL; item = item->next) {
        check_node(item, depth + 1);
        require((node->kind == KN_YAML_MAPPING) == (item->value != NULL));
        if (item->value != NULL) check_node(item->value, depth + 1);
        if (item->value != NULL) require(item->kind == KN_YAML_SCALAR);
    }
}

static int append(void *user, const char *bytes, size_t n_bytes)
{
    kn_buffer_append(user, bytes, n_bytes);
    return 0;
}

/* The first is what the function told; places never go back, and what has none comes last. */
static void check_problems(const kn_settings *settings, const kn_error *told)
{
    const kn_error *problem, *before = NULL;
    size_t n = 0;
    for (; (problem = kn_settings_nth_problem(settings, n)) != NULL; n++, before = problem) {
        require(problem->code == KN_USAGE && strncmp(problem->message, "fuzz.yaml", 9) == 0);
        if (n == 0) require(memcmp(problem, told, sizeof *told) == 0);
        if (before == NULL || problem->line == 0) continue;
        require(before->line > 0 && before->line <= problem->line);
        require(before->line < problem->line || before->character <= problem->character);
    }
    require(n > 0 && n <= 51);
}

static void check_settings(const char *text, size_t n_bytes)
{
    kn_error err = {0};
    kn_settings *settings = NULL, *again = NULL;
    kn_buffer saved = {0};
    require(kn_settings_new(&settings, NULL) == KN_OK && kn_settings_new(&again, NULL) == KN_OK);
    kn_status status = kn_settings_load_text(settings, text, n_bytes, "fuzz.yaml", &err);
    if (status != KN_OK) {
        require(status == KN_USAGE && strncmp(err.message, "fuzz.yaml", 9) == 0);
        check_problems(settings, &err);
    } else {
        require(kn_settings_nth_problem(settings, 0) == NULL);
        status = kn_settings_save(settings, append, &saved, &err);
        require(status == KN_OK || (status == KN_USAGE && err.message[0] != '\0'));
        if (status == KN_OK) {
            require(!saved.failed);
            require(kn_settings_load_text(again, saved.bytes, saved.n, "saved.yaml", &err) == KN_OK);
            require(differing_option(settings, again) == NULL);
        }
    }
    kn_buffer_free(&saved);
    kn_settings_free(settings);
    kn_settings_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_yaml *root;
    kn_error err = {0};
    if (kn_yaml_parse(&root, (const char *)data, size, "fuzz.yaml", &err) != KN_OK) {
        require(root == NULL && strncmp(err.message, "fuzz.yaml:", 10) == 0);
    } else if (root != NULL) {
        check_node(root, 0);
        kn_yaml_free(root);
    }
    check_settings((const char *)data, size);
    return 0;
}
