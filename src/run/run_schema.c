/* One object: columns in the order of the released file, each with name, type, role, whether released cells are
 * missing; for generalized columns the form of a cell, and every label that occurs with what it means: the bounds of an
 * interval, the members of a set, of a label of a file or of a group made from the data, the rest of a mask. That is
 * read from the text as anybody reads it (hierarchy/released_cell.h), so the schema and the file cannot say two things.
 *
 * The schema travels with the release, so it says nothing that the release does not. A label of a tree made from the
 * data is a part of somebody's value, and how many values are below it or how many levels the tree has tells of rows
 * that were removed: such a group has the members that released rows below it have (group_members.h), and levels stand
 * here where a file or the words of a SPEC fix them, numbers of values where a file
 * does. */
#include "run/run_schema.h"

#include "base/formula.h"
#include "base/json_writer.h"
#include "hierarchy/released_cell.h"
#include "hierarchy/bounds.h"
#include "run/group_members.h"
#include "sink/sink.h"
#include "table/dates.h"
#include "table/natural.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- What a label means --------------------------------------------------------------------------------------------
 */

/* A day, where an interval of dates begins or ends at one. */
static void put_day(kn_json *json, const char *key, double days)
{
    char text[KN_DATE_BYTES];
    if (isfinite(days)) kn_json_text(json, key, kn_date_text(text, kn_date_of_number(days)));
    else kn_json_null(json, key);
}

static void put_number(kn_json *json, const char *key, bool has_end, const kn_known_value *end)
{
    if (has_end) kn_json_real(json, key, kn_decimal_double(&end->decimal));
    else kn_json_null(json, key);
}

/* min, max and whether max is one of the values; null where the end is open. */
static void put_bounds(kn_json *json, const kn_released_cell *cell, const kn_cell_reading *reading)
{
    if (reading->type != KN_TYPE_DATE) {
        put_number(json, "min", cell->has_low, &cell->low);
        put_number(json, "max", cell->has_high, &cell->high);
        kn_json_bool(json, "max_included", !cell->is_open);
        return;
    }
    bool whole_days = cell->from == floor(cell->from) && cell->to == floor(cell->to);
    put_day(json, "min", cell->from);
    put_day(json, "max", whole_days ? cell->to - 1 : cell->to);
    kn_json_bool(json, "max_included", true);
}

/* 2024-01-31 where values have a time of day. */
static void put_whole_day(kn_json *json, const kn_known_value *label, kn_type type)
{
    if (type != KN_TYPE_DATE || !label->is_time || label->time != floor(label->time)) return;
    put_day(json, "min", label->time);
    put_day(json, "max", label->time);
    kn_json_bool(json, "max_included", true);
}

static void put_bound(kn_json *json, const char *key, const char *text, bool is_date)
{
    double number;
    if (text[0] == '\0') kn_json_null(json, key);
    else if (is_date) kn_json_text(json, key, text);
    else if (kn_number_read(&number, text, strlen(text), true) != KN_NUMBER_NONE) kn_json_real(json, key, number);
}

static kn_status put_members(kn_json *json, const kn_released_cell *cell, kn_error *err)
{
    kn_status status = KN_OK;
    char *scratch = NULL;
    kn_bytes member;
    KN_NEW(scratch, cell->text.n + 1);
    kn_json_array(json, "members");
    for (size_t at = 1; kn_released_set_next(&member, cell, &at, scratch);) {
        if (member.n == 0) kn_json_null(json, NULL);
        else kn_json_bytes(json, NULL, member.bytes, member.n);
    }
    kn_json_end(json);
done:
    kn_free(scratch);
    return status;
}

static void put_mask(kn_json *json, const char *label, size_t n)
{
    size_t n_stars = 0, n_characters = 0;
    for (size_t i = 0; i < n; i++) {
        n_stars += label[i] == '*';
        n_characters += ((unsigned char)label[i] & 0xC0) != 0x80;
    }
    bool left = label[0] == '*';
    kn_json_bytes(json, left ? "ends_with" : "begins_with", left ? label + n_stars : label, n - n_stars);
    kn_json_count(json, "max_length", n_characters);
}

/* Whether the values below a node may be told: a file may be made from the data, so only where it lists nobody's value
 * that no released row has; one that is released as everything has none. */
static kn_status may_list(bool *out, const kn_release *release, const kn_domain *domain, const uint32_t *codes,
                          uint32_t first, uint32_t n_codes, kn_error *err)
{
    kn_status status = KN_OK;
    bool *seen = NULL;
    *out = true;
    const uint32_t n_qis = release->tuples->n_qis;
    const kn_cell root = kn_domain_root(domain);
    uint32_t q = 0;
    while (q + 1 < n_qis && release->tuples->domains[q] != domain) q++;
    KN_NEW(seen, domain->n_codes);
    for (uint32_t row = 0; row < release->tuples->n_records; row++) {
        const uint32_t class_index = release->row_class[row];
        if (class_index != KN_NONE && !kn_cell_equal(&release->cells[(size_t)class_index * n_qis + q], &root))
            seen[domain->code_of_spelling[kn_column_code(domain->column, row)]] = true;
    }
    for (uint32_t i = 0; i < n_codes; i++) {
        const uint32_t code = codes != NULL ? codes[i] : first + i;
        *out &= seen[code] || domain->spelling_of_code[code] == KN_NONE;
    }
done:
    kn_free(seen);
    return status;
}

/* The values codes[0], ... (NULL: first, first + 1, ...) as `tree`, whose leaves they are, calls them. */
static kn_status put_values(kn_json *json, const kn_release *release, const kn_domain *domain, const kn_tree *tree,
                            const uint32_t *codes, uint32_t first, uint32_t n_codes, kn_error *err)
{
    kn_status status = KN_OK;
    bool listed;
    KN_TRY(may_list(&listed, release, domain, codes, first, n_codes, err));
    if (!listed) goto done;
    kn_json_array(json, "members");
    for (uint32_t i = 0; i < n_codes; i++) {
        const uint32_t code = codes != NULL ? codes[i] : first + i;
        size_t n;
        const char *value = kn_tree_label(tree, code, &n);
        if (code == domain->missing) kn_json_null(json, NULL);
        else kn_json_bytes(json, NULL, value, n);
    }
    kn_json_end(json);
done:
    return status;
}

/* A label of a file: from where to where, where it says so, or the values below it. */
static kn_status put_node(kn_json *json, const kn_release *release, const kn_domain *domain, uint32_t node,
                          kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    kn_bounds bounds;
    bool included;
    if (node == tree->root) {
        kn_json_bool(json, "any", true);
        goto done;
    }
    if (kn_bounds_of_node(&bounds, &included, domain, node)) {
        const bool is_date = domain->column->type == KN_TYPE_DATE;
        put_bound(json, "min", bounds.min, is_date);
        put_bound(json, "max", bounds.max, is_date);
        kn_json_bool(json, "max_included", included);
        goto done;
    }
    KN_TRY(put_values(json, release, domain, tree, NULL, tree->first[node], tree->last[node] - tree->first[node] + 1,
                      err));
done:
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    const kn_bytes *x = a, *y = b;
    const int order = memcmp(x->bytes, y->bytes, x->n < y->n ? x->n : y->n);
    return order != 0 ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* A group made from the data: the values of released rows below it, sorted, because where they stand in the tree may
 * tell of other rows. */
static kn_status put_group(kn_json *json, const kn_group_members *groups, const kn_domain *domain, uint32_t node,
                           kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = groups->tree;
    kn_bytes *values = NULL;
    size_t n = 0;
    bool has_missing = false;
    if (node == tree->root) {
        kn_json_bool(json, "any", true);
        goto done;
    }
    KN_NEW(values, tree->last[node] - tree->first[node] + (size_t)1);
    for (uint32_t code = tree->first[node]; code <= tree->last[node]; code++) {
        if (!kn_group_has(groups, node, code)) continue;
        if (code == domain->missing) has_missing = true;
        else values[n].bytes = kn_tree_label(tree, code, &values[n].n), n++;
    }
    if (n > 1) qsort(values, n, sizeof *values, by_bytes);
    kn_json_array(json, "members");
    for (size_t i = 0; i < n; i++) kn_json_bytes(json, NULL, values[i].bytes, values[i].n);
    if (has_missing) kn_json_null(json, NULL);
    kn_json_end(json);
done:
    kn_free(values);
    return status;
}

static kn_status put_meaning(kn_json *json, const kn_release *release, const kn_domain *domain,
                             const kn_group_members *groups, const char *label, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const bool is_words = domain->naming == KN_NAMES_ENDS && domain->column->type == KN_TYPE_TEXT;
    const kn_cell_reading reading = {.type = domain->column->type,
                                     .leading_zeros = true,
                                     .tree = domain->origin == KN_FROM_FILE ? domain->tree : NULL,
                                     .words_are_values = true};
    kn_released_cell cell;
    const kn_subsets *subsets = domain->subsets;
    if (subsets != NULL) {
        const uint32_t member = kn_subsets_find(subsets, label, n);
        kn_json_count(json, "values", kn_subsets_size(subsets, member));
        KN_TRY(put_values(json, release, domain, subsets->lines, subsets->codes + subsets->start[member], 0,
                          kn_subsets_size(subsets, member), err));
        goto done;
    }
    kn_released_cell_read(&cell, &reading, label, n);
    const uint32_t group = cell.kind != KN_CELL_ANY ? kn_group_named(groups, label, n) : KN_NONE;
    if (group != KN_NONE) {
        KN_TRY(put_group(json, groups, domain, group, err));
        goto done;
    }
    if (cell.kind == KN_CELL_LABEL) {
        KN_TRY(put_node(json, release, domain, kn_tree_find(domain->tree, label, n), err));
        goto done;
    }
    if (is_words) goto done; /* from one word to another: the column's order says which lie between */
    switch (cell.kind) {
    case KN_CELL_INTERVAL: put_bounds(json, &cell, &reading); break;
    case KN_CELL_SET: KN_TRY(put_members(json, &cell, err)); break;
    case KN_CELL_MASK: put_mask(json, label, n); break;
    case KN_CELL_VALUE: put_whole_day(json, &cell.value, reading.type); break;
    default: break;
    }
done:
    return status;
}

/* --- Labels of hierarchies -----------------------------------------------------------------------------------------
 */

/* As the file has it: with the guard before what a spreadsheet would take for a formula. */
static void put_label_text(kn_json *json, const kn_request *request, const char *label, size_t n)
{
    kn_buffer text = {0};
    if (request->guard_formulas && kn_is_formula(label, n)) kn_buffer_char(&text, '\'');
    kn_buffer_append(&text, label, n);
    json->out.failed |= text.failed;
    if (!text.failed) kn_json_bytes(json, "label", text.bytes, text.n);
    kn_buffer_free(&text);
}

static kn_status put_label(kn_json *json, const kn_release *release, const kn_domain *domain,
                           const kn_group_members *groups, uint32_t node, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    size_t n;
    const char *label = node < tree->n_nodes ? kn_tree_label(tree, node, &n)
                                             : kn_set_pool_text(release->sets, node - tree->n_nodes, &n);
    kn_json_object(json, NULL);
    put_label_text(json, request, label, n);
    const bool is_node = node < tree->n_nodes; /* otherwise written for the rows of the release */
    if (is_node && domain->origin != KN_FROM_DATA) kn_json_count(json, "level", tree->level[node]);
    if (is_node && domain->origin == KN_FROM_FILE)
        kn_json_count(json, "values", tree->last[node] - tree->first[node] + 1);
    KN_TRY(put_meaning(json, release, domain, groups, label, n, err));
    kn_json_end(json);
done:
    return status;
}

/* What released cells say besides a value itself: inner nodes, from the leaves towards the root. */
static kn_status put_labels(kn_json *json, const kn_release *release, uint32_t q, const kn_group_members *groups,
                            const kn_request *request, kn_error *err)
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
        if (occurs[id]) KN_TRY(put_label(json, release, domain, groups, id, request, err));
    kn_json_end(json);
done:
    kn_free(occurs);
    return status;
}

typedef KN_VECTOR(char *) text_list;

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Without a hierarchy: the intervals and sets of the classes, as they are written, with repeats. Suppressed rows are *,
 * and the range of the whole column is nobody's label. */
static kn_status list_cells(text_list *out, const kn_release *release, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = release->tuples->domains[q];
    kn_buffer text = {0};
    KN_RESERVE(out, release->n_classes);
    for (uint32_t c = 0; c < release->n_classes; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * release->tuples->n_qis + q];
        if (kn_cell_is_value(cell, domain)) continue;
        kn_cell_text(&text, cell, domain, release->sets);
        if (!text.failed && text.n == 1 && text.bytes[0] == '*') {
            kn_buffer_clear(&text);
            continue;
        }
        KN_TRY(kn_buffer_finish(&out->items[out->n], &text, err));
        out->n++;
    }
done:
    kn_buffer_free(&text);
    return status;
}

/* Sorted, because the order in which a search found its classes may tell of the order of the rows. */
static kn_status put_cells(kn_json *json, const kn_release *release, uint32_t q, const kn_group_members *groups,
                           const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    text_list list = {0};
    KN_TRY(list_cells(&list, release, q, err));
    if (list.n > 1) qsort(list.items, list.n, sizeof *list.items, by_text);
    kn_json_array(json, "labels");
    for (size_t i = 0; i < list.n; i++) {
        if (i > 0 && strcmp(list.items[i], list.items[i - 1]) == 0) continue;
        kn_json_object(json, NULL);
        put_label_text(json, request, list.items[i], strlen(list.items[i]));
        KN_TRY(
            put_meaning(json, release, release->tuples->domains[q], groups, list.items[i], strlen(list.items[i]), err));
        kn_json_end(json);
    }
    kn_json_end(json);
done:
    for (size_t i = 0; i < list.n; i++) kn_free(list.items[i]);
    kn_free(list.items);
    return status;
}

/* Whether some cell is no value; a label above a single value is none. */
static bool is_generalized(const kn_release *release, uint32_t q)
{
    const kn_domain *domain = release->tuples->domains[q];
    bool all_single = release->n_suppressed == release->n_removed;
    for (uint32_t c = 0; c < release->n_classes && all_single; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * release->tuples->n_qis + q];
        all_single = domain->tree != NULL ? cell->id < domain->tree->n_leaves : kn_cell_is_value(cell, domain);
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
    for (uint32_t row = 0; column->has_missing && row < release->tuples->n_records; row++)
        if (kn_column_value(column, kn_column_code(column, row)) == column->n_values - 1 &&
            (release->row_class[row] != KN_NONE || release->n_removed == 0))
            return true;
    return false;
}

static kn_status put_quasi(kn_json *json, const kn_release *release, uint32_t q, bool generalized,
                           const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    static const char *const forms[] = {"label", "interval", "set"};
    kn_group_members groups = {0};
    const kn_domain *domain = release->tuples->domains[q];
    kn_json_text(json, "cells", domain->subsets != NULL ? "label" : forms[domain->kind]);
    kn_json_bool(json, "generalized", generalized);
    kn_json_text(json, "original_type", kn_type_name(domain->column->type));
    if (kn_domain_grid_name(domain) != NULL) kn_json_text(json, "grid", kn_domain_grid_name(domain));
    if (domain->naming == KN_NAMES_GROUP) kn_json_bool(json, "made_from_data", true);    /* the groups of values */
    if (domain->class_name != NULL) kn_json_text(json, "hierarchy", domain->class_name); /* public, so its labels are */
    if (kn_domain_top(domain) != NULL) kn_json_text(json, "top", kn_domain_top(domain));
    if (kn_domain_bottom(domain) != NULL) kn_json_text(json, "bottom", kn_domain_bottom(domain));
    if (kn_domain_round(domain) != NULL) kn_json_text(json, "round", kn_domain_round(domain));
    KN_TRY(kn_group_members_find(&groups, release, q, err));
    if (domain->tree == NULL) {
        KN_TRY(put_cells(json, release, q, &groups, request, err));
        goto done;
    }
    if (domain->origin != KN_FROM_DATA) {
        kn_json_count(json, "levels", domain->tree->n_levels);
        if (release->levels != NULL) kn_json_count(json, "level", release->levels[q]);
    }
    KN_TRY(put_labels(json, release, q, &groups, request, err));
done:
    kn_group_members_free(&groups);
    return status;
}

/* order(low<medium<high): its words, as the policy has them. */
static kn_status put_order(kn_json *json, const kn_column *column, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    static const char begin[] = "order(";
    const char *spec = kn_settings_detail(request->settings, "hierarchy", column->name);
    char *words = NULL;
    if (spec == NULL || strncmp(spec, begin, strlen(begin)) != 0) return KN_OK;
    words = kn_string_copy(spec + strlen(begin), strlen(spec) - strlen(begin) - 1, err);
    if (words == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_json_text(json, "order", words);
done:
    kn_free(words);
    return status;
}

/* `natural`, or a file that it was saved to: then the values below its labels stand in that order. */
static bool is_natural(const kn_domain *domain)
{
    const kn_tree *tree = domain->tree;
    size_t n_before = 0;
    const char *before = NULL;
    if (domain->is_natural || !domain->is_marked) return domain->is_natural;
    if (domain->naming != KN_NAMES_ENDS || domain->column->type != KN_TYPE_TEXT || tree == NULL) return false;
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        size_t n;
        const char *label = kn_tree_label(tree, leaf, &n);
        if (leaf == domain->missing) continue;
        if (before != NULL && kn_natural_compare(before, n_before, label, n) > 0) return false;
        before = label;
        n_before = n;
    }
    return true;
}

/* age(birth_date,2024-12-31): how it was computed, as the policy has it. */
static void put_derivation(kn_json *json, const kn_column *column, const kn_request *request)
{
    const char *spec = kn_settings_detail(request->settings, "derive", column->name);
    if (spec != NULL) kn_json_text(json, "derived", spec);
}

/* A column of bounds, or of means. */
static void put_part(kn_json *json, const kn_released_column *out, const kn_domain *domain, const kn_request *request)
{
    static const char *const parts[] = {"cell", "min", "max", "kind", "mean"};
    const bool is_kind = out->part == KN_PART_KIND;
    kn_json_text(json, "name", out->name);
    kn_json_text(json, "role", kn_role_name(out->column->role));
    kn_json_text(json, "type", is_kind ? "text" : kn_type_name(out->column->type));
    kn_json_bool(json, "nullable", !is_kind);
    kn_json_text(json, "cells", "bounds");
    kn_json_text(json, "part", parts[out->part]);
    kn_json_text(json, "of", out->column->name);
    put_derivation(json, out->column, request);
    kn_json_text(json, "original_type", kn_type_name(out->column->type));
    if (out->part == KN_PART_MAX) kn_json_bool(json, "max_included", out->form.max_included);
    const char *grid = out->part == KN_PART_MEAN ? kn_domain_mean_grid(domain) : kn_domain_grid_name(domain);
    if (grid != NULL && !is_kind) kn_json_text(json, "grid", grid);
}

static kn_status put_column(kn_json *json, const kn_release *release, const kn_released_column *out,
                            const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = out->column;
    const bool is_quasi = out->q != KN_NONE, generalized = is_quasi && is_generalized(release, out->q);
    kn_json_object(json, NULL);
    if (out->part != KN_PART_CELL) {
        put_part(json, out, release->tuples->domains[out->q], request);
        kn_json_end(json);
        goto done;
    }
    kn_json_text(json, "name", column->name);
    kn_json_text(json, "role", kn_role_name(column->role));
    put_derivation(json, column, request);
    /* A cell that was generalized is text, whatever the column was. */
    kn_json_text(json, "type", generalized ? "text" : kn_type_name(column->type));
    kn_json_bool(json, "nullable", is_nullable(release, column, is_quasi ? out->q : release->tuples->n_qis));
    if (is_quasi) KN_TRY(put_order(json, column, request, err));
    if (is_quasi && is_natural(release->tuples->domains[out->q])) kn_json_bool(json, "natural_order", true);
    if (is_quasi) KN_TRY(put_quasi(json, release, out->q, generalized, request, err));
    kn_json_end(json);
done:
    return status;
}

/* How the cells were read, so that whoever reads them by the schema reads the same. */
static void put_reading(kn_json *json, const kn_request *request)
{
    kn_json_object(json, "reading");
    kn_json_array(json, "null");
    for (size_t i = 0; i < request->null.n; i++) kn_json_text(json, NULL, request->null.items[i]);
    kn_json_end(json);
    kn_json_text(json, "invalid", request->invalid == KN_INVALID_MISSING ? "missing" : "error");
    if (request->decimal != KN_DECIMAL_AUTO)
        kn_json_text(json, "decimal", request->decimal == KN_DECIMAL_COMMA ? "comma" : "point");
    kn_json_bool(json, "trim", request->trim);
    kn_json_bool(json, "guard_formulas", request->guard_formulas);
    kn_json_end(json);
}

kn_status kn_run_schema(char **out, const kn_release *release, const kn_text_form *form, const kn_request *request,
                        kn_error *err)
{
    kn_status status = KN_OK;
    kn_json json = {0};
    kn_released_column *columns = NULL;
    uint32_t n_columns = 0;
    *out = NULL;
    KN_TRY(kn_released_plan(&columns, &n_columns, release->tuples, request->cells, err));
    kn_json_object(&json, NULL);
    kn_json_text(&json, "version", kn_version());
    kn_json_bytes(&json, "delimiter", &form->delimiter, 1);
    kn_json_bool(&json, "header", form->has_header);
    kn_json_text(&json, "suppressed", "*");
    put_reading(&json, request);
    kn_json_array(&json, "columns");
    for (uint32_t c = 0; c < n_columns; c++) KN_TRY(put_column(&json, release, &columns[c], request, err));
    kn_json_end(&json);
    kn_json_end(&json);
    KN_TRY(kn_json_finish(out, &json, err));
done:
    kn_released_columns_free(columns, n_columns);
    kn_buffer_free(&json.out);
    return status;
}
