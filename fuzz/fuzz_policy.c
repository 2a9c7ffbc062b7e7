/* Any bytes as a policy's YAML: refused with its place, or a tree in which every node has one. */
#include "base/yaml.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kn_yaml *root;
    kn_error err = {0};
    if (kn_yaml_parse(&root, (const char *)data, size, "fuzz.yaml", &err) != KN_OK) {
        require(root == NULL && strncmp(err.message, "fuzz.yaml:", 10) == 0);
        return 0;
    }
    if (root != NULL) check_node(root, 0);
    kn_yaml_free(root);
    return 0;
}
