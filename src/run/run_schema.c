/* One object: columns in the order of the released file, each with name, type, role, whether cells may be missing; for
 * generalized columns the form of a cell, and the labels of a hierarchy with their levels. Labels are published with a
 * hierarchy; values that stand in the data only are not listed. */
#include "run/run_schema.h"

#include "base/json_writer.h"
#include "sink/output_file.h"

/* Inner nodes: what a cell may say besides a value itself. */
static void put_labels(kn_json *json, const kn_tree *tree)
{
    kn_json_array(json, "labels");
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        kn_json_object(json, NULL);
        kn_json_bytes(json, "label", label, n);
        kn_json_count(json, "level", tree->level[node]);
        kn_json_count(json, "values", tree->last[node] - tree->first[node] + 1);
        kn_json_end(json);
    }
    kn_json_end(json);
}

static bool is_generalized(const kn_release *release, uint32_t q)
{
    const uint32_t n_qis = release->tuples->n_qis;
    bool all_single = release->n_suppressed == release->n_removed;
    for (uint32_t c = 0; c < release->n_classes && all_single; c++)
        all_single =
            kn_cell_size(&release->cells[(size_t)c * n_qis + q], release->tuples->domains[q], release->sets) == 1;
    return !all_single;
}

static void put_quasi(kn_json *json, const kn_release *release, uint32_t q, bool generalized)
{
    static const char *const forms[] = {"label", "interval", "set"};
    const kn_domain *domain = release->tuples->domains[q];
    kn_json_text(json, "cells", forms[domain->kind]);
    kn_json_bool(json, "generalized", generalized);
    kn_json_text(json, "original_type", kn_type_name(domain->column->type));
    if (domain->tree != NULL) {
        kn_json_count(json, "levels", domain->tree->n_levels);
        put_labels(json, domain->tree);
    }
    if (release->levels != NULL) kn_json_count(json, "level", release->levels[q]);
}

static void put_column(kn_json *json, const kn_release *release, const kn_column *column)
{
    uint32_t q = 0;
    while (q < release->tuples->n_qis && release->tuples->domains[q]->column != column) q++;
    bool is_quasi = q < release->tuples->n_qis, generalized = is_quasi && is_generalized(release, q);
    kn_json_object(json, NULL);
    kn_json_text(json, "name", column->name);
    kn_json_text(json, "role", kn_role_name(column->role));
    /* A cell that was generalized is text, whatever the column was. */
    kn_json_text(json, "type", generalized ? "text" : kn_type_name(column->type));
    kn_json_bool(json, "nullable", column->has_missing);
    if (is_quasi) put_quasi(json, release, q, generalized);
    kn_json_end(json);
}

kn_status kn_run_schema(const kn_release *release, const kn_settings *settings, kn_error *err)
{
    kn_status status = KN_OK;
    const char *target = kn_settings_text(settings, "schema");
    const kn_table *table = release->tuples->table;
    kn_json json = {0};
    char *text = NULL;
    if (target == NULL) return KN_OK;
    kn_json_object(&json, NULL);
    kn_json_text(&json, "version", kn_version());
    kn_json_bytes(&json, "delimiter", &table->delimiter, 1);
    kn_json_bool(&json, "header", table->has_header);
    kn_json_text(&json, "suppressed", "*");
    kn_json_array(&json, "columns");
    for (uint32_t c = 0; c < table->n_columns; c++) {
        kn_role role = table->columns[c].role;
        if (role != KN_ROLE_IDENTIFIER && role != KN_ROLE_DROPPED) put_column(&json, release, &table->columns[c]);
    }
    kn_json_end(&json);
    kn_json_end(&json);
    KN_TRY(kn_json_finish(&text, &json, err));
    KN_TRY(kn_output_text(target, text, err));
done:
    kn_free(text);
    return status;
}
