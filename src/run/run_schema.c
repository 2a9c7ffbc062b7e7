/* One object: columns in the order of the released file, each with name, type, role, whether released cells are
 * missing; for generalized columns the form of a cell, and of a hierarchy the labels that occur.
 *
 * The schema travels with the release, so it says nothing that the release does not. A label of a tree made from the
 * data is a part of somebody's value, and how many values are below it or how many levels the tree has tells of rows
 * that were removed: levels stand here where a file or the words of a SPEC fix them, numbers of values where a file
 * does. */
#include "run/run_schema.h"

#include "base/json_writer.h"

static void put_label(kn_json *json, const kn_release *release, const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    size_t n;
    const char *label = node < tree->n_nodes ? kn_tree_label(tree, node, &n)
                                             : kn_set_pool_text(release->sets, node - tree->n_nodes, &n);
    kn_json_object(json, NULL);
    kn_json_bytes(json, "label", label, n);
    const bool is_node = node < tree->n_nodes; /* otherwise written for the rows of the release */
    if (is_node && domain->origin != KN_FROM_DATA) kn_json_count(json, "level", tree->level[node]);
    if (is_node && domain->origin == KN_FROM_FILE)
        kn_json_count(json, "values", tree->last[node] - tree->first[node] + 1);
    kn_json_end(json);
}

/* What released cells say besides a value itself: inner nodes, from the leaves towards the root. */
static kn_status put_labels(kn_json *json, const kn_release *release, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = release->tuples->domains[q];
    const kn_tree *tree = domain->tree;
    bool *occurs = NULL;
    uint32_t n_labels = tree->n_nodes;
    for (uint32_t c = 0; c < release->n_classes; c++) {
        uint32_t id = release->cells[(size_t)c * release->tuples->n_qis + q].id;
        if (id >= n_labels) n_labels = id + 1;
    }
    KN_NEW(occurs, n_labels);
    for (uint32_t c = 0; c < release->n_classes; c++) {
        uint32_t id = release->cells[(size_t)c * release->tuples->n_qis + q].id;
        size_t n;
        const char *label = id < tree->n_nodes ? kn_tree_label(tree, id, &n) : NULL;
        occurs[label != NULL ? kn_tree_find(tree, label, n) : id] = true; /* of several nodes the one it means */
    }
    kn_json_array(json, "labels");
    for (uint32_t id = tree->n_leaves; id < n_labels; id++)
        if (occurs[id]) put_label(json, release, domain, id);
    kn_json_end(json);
done:
    kn_free(occurs);
    return status;
}

/* Whether some cell is no value; a label above a single value is none. */
static bool is_generalized(const kn_release *release, uint32_t q)
{
    const kn_domain *domain = release->tuples->domains[q];
    bool all_single = release->n_suppressed == release->n_removed;
    for (uint32_t c = 0; c < release->n_classes && all_single; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * release->tuples->n_qis + q];
        all_single = domain->tree != NULL ? cell->id < domain->tree->n_leaves : cell->first == cell->last;
    }
    return !all_single;
}

/* Whether some released cell of the column is missing. */
static bool is_nullable(const kn_release *release, const kn_column *column, uint32_t q)
{
    const uint32_t n_qis = release->tuples->n_qis;
    if (q < n_qis) {
        const uint32_t missing = release->tuples->domains[q]->missing;
        for (uint32_t c = 0; missing != KN_NONE && c < release->n_classes; c++) {
            const kn_cell *cell = &release->cells[(size_t)c * n_qis + q];
            if (cell->first == missing && cell->last == missing) return true;
        }
        return false;
    }
    for (uint32_t row = 0; column->has_missing && row < release->tuples->n_rows; row++)
        if (kn_column_value(column, kn_column_code(column, row)) == column->n_values - 1 &&
            (release->row_class[row] != KN_NONE || release->n_removed == 0))
            return true;
    return false;
}

static kn_status put_quasi(kn_json *json, const kn_release *release, uint32_t q, bool generalized, kn_error *err)
{
    kn_status status = KN_OK;
    static const char *const forms[] = {"label", "interval", "set"};
    const kn_domain *domain = release->tuples->domains[q];
    kn_json_text(json, "cells", forms[domain->kind]);
    kn_json_bool(json, "generalized", generalized);
    kn_json_text(json, "original_type", kn_type_name(domain->column->type));
    if (kn_domain_grid_name(domain) != NULL) kn_json_text(json, "grid", kn_domain_grid_name(domain));
    if (domain->tree == NULL) goto done;
    if (domain->origin != KN_FROM_DATA) {
        kn_json_count(json, "levels", domain->tree->n_levels);
        if (release->levels != NULL) kn_json_count(json, "level", release->levels[q]);
    }
    KN_TRY(put_labels(json, release, q, err));
done:
    return status;
}

static kn_status put_column(kn_json *json, const kn_release *release, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t q = 0;
    while (q < release->tuples->n_qis && release->tuples->domains[q]->column != column) q++;
    bool is_quasi = q < release->tuples->n_qis, generalized = is_quasi && is_generalized(release, q);
    kn_json_object(json, NULL);
    kn_json_text(json, "name", column->name);
    kn_json_text(json, "role", kn_role_name(column->role));
    /* A cell that was generalized is text, whatever the column was. */
    kn_json_text(json, "type", generalized ? "text" : kn_type_name(column->type));
    kn_json_bool(json, "nullable", is_nullable(release, column, q));
    if (is_quasi) KN_TRY(put_quasi(json, release, q, generalized, err));
    kn_json_end(json);
done:
    return status;
}

kn_status kn_run_schema(char **out, const kn_release *release, const kn_text_form *form, const kn_request *request,
                        kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = release->tuples->table;
    kn_json json = {0};
    *out = NULL;
    if (request->schema == NULL) return KN_OK;
    kn_json_object(&json, NULL);
    kn_json_text(&json, "version", kn_version());
    kn_json_bytes(&json, "delimiter", &form->delimiter, 1);
    kn_json_bool(&json, "header", form->has_header);
    kn_json_text(&json, "suppressed", "*");
    kn_json_array(&json, "columns");
    for (uint32_t c = 0; c < table->n_columns; c++) {
        kn_role role = table->columns[c].role;
        if (role == KN_ROLE_IDENTIFIER || role == KN_ROLE_DROPPED) continue;
        KN_TRY(put_column(&json, release, &table->columns[c], err));
    }
    kn_json_end(&json);
    kn_json_end(&json);
    KN_TRY(kn_json_finish(out, &json, err));
done:
    kn_buffer_free(&json.out);
    return status;
}
