/* One object: columns in the order of the released file, each with name, type, role, whether cells may be missing; for
 * generalized columns the form of a cell, and the labels of a hierarchy with their levels. Labels are published with a
 * hierarchy; values that stand in the data only are not listed. */
#include "run/run_schema.h"

#include "sink/output_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Inner nodes: what a cell may say besides a value itself. */
static json_t *labels_json(const kn_tree *tree)
{
    json_t *list = json_array();
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        json_array_append_new(list, json_pack("{s:o, s:I, s:I}", "label", json_stringn(label, n), "level",
                                              (json_int_t)tree->level[node], "values",
                                              (json_int_t)(tree->last[node] - tree->first[node] + 1)));
    }
    return list;
}

/* A cell that was generalized is text, whatever the column was. */
static json_t *quasi_json(const kn_release *release, uint32_t q)
{
    const kn_domain *domain = release->tuples->domains[q];
    static const char *const forms[] = {"label", "interval", "set"};
    bool all_single = release->n_suppressed == release->n_removed;
    for (uint32_t c = 0; c < release->n_classes && all_single; c++)
        all_single = kn_cell_size(&release->cells[(size_t)c * release->tuples->n_qis + q], domain, release->sets) == 1;
    json_t *object = json_pack("{s:s, s:s, s:b}", "type", all_single ? kn_type_name(domain->column->type) : "text",
                               "cells", forms[domain->kind], "generalized", !all_single);
    json_object_set_new(object, "original_type", json_string(kn_type_name(domain->column->type)));
    if (domain->tree != NULL) {
        json_object_set_new(object, "levels", json_integer((json_int_t)domain->tree->n_levels));
        json_object_set_new(object, "labels", labels_json(domain->tree));
    }
    if (release->levels != NULL) json_object_set_new(object, "level", json_integer((json_int_t)release->levels[q]));
    return object;
}

static json_t *column_json(const kn_release *release, const kn_column *column)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:b}", "name", column->name, "role", kn_role_name(column->role), "type",
                               kn_type_name(column->type), "nullable", column->has_missing);
    for (uint32_t q = 0; q < release->tuples->n_qis; q++)
        if (release->tuples->domains[q]->column == column) json_object_update_new(object, quasi_json(release, q));
    return object;
}

kn_status kn_run_schema(const kn_release *release, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    const char *target = kn_settings_text(settings, "schema");
    const kn_table *table = release->tuples->table;
    kn_buffer text = {0};
    if (target == NULL) return KN_OK;
    json_t *columns = json_array();
    for (uint32_t c = 0; c < table->n_columns; c++) {
        kn_role role = table->columns[c].role;
        if (role == KN_ROLE_IDENTIFIER || role == KN_ROLE_DROPPED) continue;
        json_array_append_new(columns, column_json(release, &table->columns[c]));
    }
    char delimiter[2] = {table->delimiter, '\0'};
    json_t *root = json_pack("{s:s, s:s, s:b, s:s, s:o}", "version", kn_version(), "delimiter", delimiter, "header",
                             table->has_header, "suppressed", "*", "columns", columns);
    char *dumped = root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (dumped == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_buffer_text(&text, dumped);
    kn_buffer_char(&text, '\n');
    free(dumped);
    if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_output_text(target, text.bytes, err));
done:
    kn_buffer_free(&text);
    return status;
}
