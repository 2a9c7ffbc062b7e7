/* JSON is YAML, which base/ reads: the schema is kept as it was read.
 *
 * The labels of a hierarchy nest: ordered by how many values they hold, those around a value are its line. Where they
 * do not, they are some of a collection of subsets, and what two have in common is added to them: a collection has
 * that, whether or not a cell says it. */
#include "run/schema_read.h"

#include "duckdb/duckdb.h"
#include "base/buffer.h"
#include "base/formula.h"
#include "hierarchy/bounds.h"
#include "hierarchy/builders.h"
#include "hierarchy/released_cell.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

struct kn_schema {
    kn_yaml *root;
    char *path;
    char **orders; /* one per column: "order(a<b)", "natural", or NULL */
    size_t n_orders;
    const char **nulls; /* the texts of the tree */
    size_t n_nulls;
    bool is_guarded; /* labels may begin with the ' before a formula */
    kn_derivation *derivations;
    size_t n_derivations;
};

static const kn_yaml *columns_of(const kn_schema *schema)
{
    const kn_yaml *columns = schema->root != NULL ? kn_yaml_find(schema->root, "columns") : NULL;
    return columns != NULL ? columns->first : NULL;
}

static const char *text_of(const kn_yaml *node, const char *key)
{
    const kn_yaml *value = node != NULL && node->kind == KN_YAML_MAPPING ? kn_yaml_find(node, key) : NULL;
    const bool is_null = value != NULL && value->is_plain && value->text != NULL && strcmp(value->text, "null") == 0;
    return value != NULL && value->kind == KN_YAML_SCALAR && !is_null ? value->text : NULL;
}

static bool is_true(const kn_yaml *node, const char *key)
{
    const char *text = text_of(node, key);
    return text != NULL && strcmp(text, "true") == 0;
}

/* A label without the guard that the file has before it. */
static const char *label_text(const kn_schema *schema, const kn_yaml *label)
{
    const char *text = text_of(label, "label");
    size_t n = text != NULL ? strlen(text) : 0;
    return text != NULL && schema->is_guarded ? kn_formula_unguard(text, &n) : text;
}

/* --- The file ---------------------------------------------------------------------------------------------------- */

static kn_status note_orders(kn_schema *schema, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    for (const kn_yaml *column = columns_of(schema); column != NULL; column = column->next) schema->n_orders++;
    if (schema->n_orders == 0 || text_of(schema->root, "suppressed") == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "schema", .file = path),
                   "--schema %.500s: it has no columns; give the file that --schema wrote with the release", path);
    KN_NEW(schema->orders, schema->n_orders);
    size_t c = 0;
    for (const kn_yaml *column = columns_of(schema); column != NULL; column = column->next, c++) {
        kn_buffer spec = {0};
        if (text_of(column, "name") == NULL || text_of(column, "role") == NULL)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "schema", .file = path, .line = column->line),
                       "%.500s:%u: a column has no name or no role; give the file that --schema wrote with the release",
                       path, column->line);
        const bool is_natural = is_true(column, "natural_order");
        if (text_of(column, "order") == NULL && !is_natural) continue;
        if (is_natural) kn_buffer_text(&spec, "natural");
        else kn_buffer_printf(&spec, "order(%s)", text_of(column, "order"));
        KN_TRY(kn_buffer_finish(&schema->orders[c], &spec, err));
    }
done:
    return status;
}

static bool is_list_of(const kn_yaml *list, kn_yaml_kind kind)
{
    bool holds = list->kind == KN_YAML_LIST;
    for (const kn_yaml *one = list->first; one != NULL; one = one->next)
        holds &= one->kind == kind && (kind != KN_YAML_SCALAR || one->text != NULL);
    return holds;
}

/* What is read later, of labels that it is asked for, relies on this. */
static kn_status check_labels(const kn_schema *schema, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    for (const kn_yaml *column = columns_of(schema); column != NULL; column = column->next) {
        const kn_yaml *labels = kn_yaml_find(column, "labels"), *wrong = NULL;
        if (labels == NULL) continue;
        if (!is_list_of(labels, KN_YAML_MAPPING)) wrong = labels;
        for (const kn_yaml *label = labels->first; label != NULL && wrong == NULL; label = label->next) {
            const kn_yaml *members = kn_yaml_find(label, "members");
            if (members != NULL && !is_list_of(members, KN_YAML_SCALAR)) wrong = members;
        }
        if (wrong != NULL)
            KN_FAIL_AT(
                KN_USAGE,
                KN_PLACE(.option = "schema", .file = path, .line = wrong->line, .column = text_of(column, "name")),
                "%.500s:%u: column %.80s: %s; give the file that --schema wrote with the release", path, wrong->line,
                text_of(column, "name"),
                wrong == labels ? "its labels are no list of labels" : "the members of a label are no list of values");
    }
done:
    return status;
}

static kn_status note_reading(kn_schema *schema, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_yaml *reading = kn_yaml_find(schema->root, "reading");
    const kn_yaml *nulls = reading != NULL && reading->kind == KN_YAML_MAPPING ? kn_yaml_find(reading, "null") : NULL;
    schema->is_guarded = is_true(reading, "guard_formulas");
    for (const kn_yaml *null = nulls != NULL ? nulls->first : NULL; null != NULL; null = null->next) schema->n_nulls++;
    KN_NEW(schema->nulls, schema->n_nulls + 1);
    schema->n_nulls = 0;
    for (const kn_yaml *null = nulls != NULL ? nulls->first : NULL; null != NULL; null = null->next)
        if (null->kind == KN_YAML_SCALAR && null->text != NULL) schema->nulls[schema->n_nulls++] = null->text;
done:
    return status;
}

/* A column in bounds has it once for each part. */
static kn_status note_derivations(kn_schema *schema, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error inner = {0};
    KN_NEW(schema->derivations, schema->n_orders);
    for (const kn_yaml *column = columns_of(schema); column != NULL; column = column->next) {
        const char *spec = text_of(column, "derived"), *name = text_of(column, "of");
        bool known = spec == NULL;
        if (name == NULL) name = text_of(column, "name");
        for (size_t d = 0; d < schema->n_derivations; d++) known |= strcmp(schema->derivations[d].name, name) == 0;
        if (known) continue;
        status = kn_derivation_parse(&schema->derivations[schema->n_derivations], name, spec, &inner);
        if (status != KN_OK)
            KN_FAIL_AT(status, KN_PLACE(.option = "schema", .file = path, .line = column->line), "%.500s:%u: %.600s",
                       path, column->line, inner.message);
        schema->n_derivations++;
    }
done:
    return status;
}

void kn_schema_reading(kn_csv_options *csv, const kn_schema *schema)
{
    const kn_yaml *reading = kn_yaml_find(schema->root, "reading");
    const char *decimal = text_of(reading, "decimal"), *invalid = text_of(reading, "invalid");
    if (csv->n_null_values == 0) {
        csv->null_values = schema->nulls;
        csv->n_null_values = schema->n_nulls;
    }
    if (csv->decimal == KN_DECIMAL_AUTO && decimal != NULL)
        csv->decimal = strcmp(decimal, "comma") == 0 ? KN_DECIMAL_COMMA : KN_DECIMAL_POINT;
    csv->trim |= is_true(reading, "trim");
    csv->invalid_is_missing |= invalid != NULL && strcmp(invalid, "missing") == 0;
}

bool kn_schema_is_guarded(const kn_schema *schema) { return schema != NULL && schema->is_guarded; }

const kn_derivation *kn_schema_derivations(size_t *n, const kn_schema *schema)
{
    *n = schema != NULL ? schema->n_derivations : 0;
    return schema != NULL ? schema->derivations : NULL;
}

kn_status kn_schema_read(kn_schema **out, const char *path, kn_files *files, kn_error *err)
{
    kn_status status = KN_OK;
    kn_schema *schema = NULL;
    char *text = NULL;
    size_t n_bytes;
    *out = NULL;
    KN_NEW(schema, 1);
    const kn_duckdb_options duckdb = {.files = files};
    if (kn_file_kind_of(path) == KN_FILE_PARQUET) {
        KN_TRY(kn_error_about(err, kn_duckdb_schema(&text, path, &duckdb, err), KN_PLACE(.option = "schema")));
        n_bytes = strlen(text);
    } else {
        status = kn_paths_read_file(&text, &n_bytes, path, files, err);
        KN_TRY(kn_error_about(err, status, KN_PLACE(.option = "schema")));
    }
    KN_TRY(kn_error_about(err, kn_yaml_parse(&schema->root, text, n_bytes, path, err), KN_PLACE(.option = "schema")));
    KN_TRY(note_orders(schema, path, err));
    KN_TRY(check_labels(schema, path, err));
    schema->path = kn_string_copy(path, strlen(path), err);
    if (schema->path == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(note_reading(schema, err));
    KN_TRY(note_derivations(schema, path, err));
    *out = schema;
    schema = NULL;
done:
    kn_free(text);
    kn_schema_free(schema);
    return status;
}

void kn_schema_free(kn_schema *schema)
{
    if (schema == NULL) return;
    for (size_t i = 0; schema->orders != NULL && i < schema->n_orders; i++) kn_free(schema->orders[i]);
    kn_free(schema->orders);
    kn_free(schema->nulls);
    kn_free(schema->path);
    for (size_t i = 0; i < schema->n_derivations; i++) kn_derivation_free(&schema->derivations[i]);
    kn_free(schema->derivations);
    kn_yaml_free(schema->root);
    kn_free(schema);
}

/* --- Columns ----------------------------------------------------------------------------------------------------- */

/* The column of that name, or, where only its bounds are released, one of those. */
static const kn_yaml *find_column(const kn_schema *schema, const char *name, size_t *index)
{
    const kn_yaml *found = NULL;
    size_t c = 0;
    for (const kn_yaml *column = columns_of(schema); column != NULL; column = column->next, c++) {
        const char *of = text_of(column, "of");
        const bool is_it = of == NULL && strcmp(text_of(column, "name"), name) == 0;
        if (!is_it && (found != NULL || of == NULL || strcmp(of, name) != 0)) continue;
        found = column;
        if (index != NULL) *index = c;
        if (is_it) break;
    }
    return found;
}

bool kn_schema_has_bounds(bool *max_included, const kn_schema *schema, const char *name)
{
    for (const kn_yaml *column = columns_of(schema); column != NULL; column = column->next) {
        const char *of = text_of(column, "of"), *part = text_of(column, "part");
        if (of == NULL || part == NULL || strcmp(of, name) != 0 || strcmp(part, "max") != 0) continue;
        *max_included = is_true(column, "max_included");
        return true;
    }
    return false;
}

static kn_role role_of(const char *text)
{
    for (kn_role role = KN_ROLE_IDENTIFIER; role < KN_ROLE_DROPPED; role++)
        if (strcmp(kn_role_name(role), text) == 0) return role;
    return KN_ROLE_DROPPED;
}

static kn_type type_of(const kn_yaml *column)
{
    const char *text = text_of(column, "original_type");
    if (text == NULL) text = text_of(column, "type");
    for (kn_type type = KN_TYPE_INT; text != NULL && type <= KN_TYPE_TEXT; type++)
        if (strcmp(kn_type_name(type), text) == 0) return type;
    return KN_TYPE_AUTO;
}

void kn_schema_apply(kn_column_choice *choices, const char *const *names, uint32_t n_names, const kn_schema *schema,
                     const kn_settings *settings)
{
    for (uint32_t c = 0; schema != NULL && c < n_names; c++) {
        size_t at;
        const kn_yaml *column = find_column(schema, names[c], &at);
        if (column == NULL || kn_settings_name_column(settings, names[c])) continue;
        choices[c].role = role_of(text_of(column, "role"));
        choices[c].mention = (uint32_t)at;
        if (choices[c].role == KN_ROLE_QUASI && choices[c].type == KN_TYPE_AUTO) choices[c].type = type_of(column);
        if (choices[c].role != KN_ROLE_QUASI) continue;
        if (choices[c].hierarchy == NULL) choices[c].hierarchy = schema->orders[at];
        const char *class_name = text_of(column, "hierarchy");
        if (choices[c].hierarchy == NULL && class_name != NULL && kn_hierarchy_is_class(class_name))
            choices[c].hierarchy = class_name;
        if (choices[c].hierarchy == NULL && choices[c].grid == NULL) choices[c].grid = text_of(column, "grid");
        if (choices[c].hierarchy == NULL && choices[c].grid == NULL && choices[c].type != KN_TYPE_TEXT)
            choices[c].grid = "exact";
    }
}

/* --- Labels ------------------------------------------------------------------------------------------------------ */

typedef struct schema_label {
    const kn_yaml *node;
    const char *text;
    bool *holds; /* [value] */
    size_t n;    /* values it holds */
    size_t level;
} schema_label;

typedef struct nesting {
    KN_VECTOR(const char *) values;
    KN_VECTOR(schema_label) labels;
    KN_VECTOR(char *) made; /* labels for what others have in common */
    const char *root;
    kn_cell_reading reading;
    const kn_schema *schema;
    const char *name; /* of the column */
    bool has_sets;    /* any set of few values, beside its groups */
} nesting;

static int by_size(const void *a, const void *b)
{
    const schema_label *x = a, *y = b;
    if (x->n != y->n) return x->n < y->n ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool is_member(const kn_yaml *label, const char *value)
{
    const kn_yaml *members = kn_yaml_find(label, "members");
    for (const kn_yaml *m = members != NULL ? members->first : NULL; m != NULL; m = m->next)
        if (strcmp(m->text, value) == 0 && !(m->is_plain && strcmp(m->text, "null") == 0)) return true;
    return false;
}

/* Whether the label means the value: a member, inside the bounds, or as the label itself reads. */
static kn_status label_holds(bool *out, const nesting *nest, const kn_yaml *label, const char *value, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    kn_released_cell cell;
    kn_known_value known;
    *out = is_member(label, value);
    if (*out || kn_yaml_find(label, "members") != NULL) goto done;
    if (kn_yaml_find(label, "min") != NULL) {
        const char *min = text_of(label, "min"), *max = text_of(label, "max");
        kn_buffer_printf(&text, "%s..%s%s", min != NULL ? min : "",
                         max != NULL && !is_true(label, "max_included") ? "<" : "", max != NULL ? max : "");
    } else {
        kn_buffer_text(&text, label_text(nest->schema, label));
    }
    if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_released_cell_read(&cell, &nest->reading, text.bytes, text.n);
    kn_known_value_read(&known, &nest->reading, value, strlen(value));
    *out = kn_released_cell_covers(&cell, &nest->reading, &known);
done:
    kn_buffer_free(&text);
    return status;
}

/* Every value once: those of the table and those that the schema lists. */
static kn_status gather_values(nesting *nest, const kn_yaml *labels, char **texts, size_t n_texts, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n = 0;
    for (size_t i = 0; i < n_texts; i++) KN_PUSH(&nest->values, texts[i]);
    for (const kn_yaml *label = labels; label != NULL; label = label->next) {
        const kn_yaml *members = kn_yaml_find(label, "members");
        for (const kn_yaml *m = members != NULL ? members->first : NULL; m != NULL; m = m->next)
            if (!(m->is_plain && strcmp(m->text, "null") == 0)) KN_PUSH(&nest->values, m->text);
    }
    if (nest->values.n > 1) qsort(nest->values.items, nest->values.n, sizeof *nest->values.items, by_text);
    for (size_t i = 0; i < nest->values.n; i++)
        if (n == 0 || strcmp(nest->values.items[n - 1], nest->values.items[i]) != 0)
            nest->values.items[n++] = nest->values.items[i];
    nest->values.n = n;
done:
    return status;
}

/* A value below it only people have who are not in the release: see docs/cells.md. */
static kn_status says_nothing(const kn_schema *schema, const char *name, const kn_yaml *label, kn_error *err)
{
    return kn_error_set_at(err, KN_USAGE,
                           KN_PLACE(.option = "schema", .file = schema->path, .line = label->line, .column = name),
                           "%.500s:%u: column %.80s: it does not say what the label '%.80s' means; give the hierarchy "
                           "of that column, by --hierarchy or the policy",
                           schema->path, label->line, name, label_text(schema, label));
}

/* A set of values says itself what it means, beside groups too. */
static bool is_set(const kn_schema *schema, const kn_yaml *label)
{
    const char *text = label_text(schema, label);
    return text != NULL && text[0] == '{';
}

static kn_status gather_labels(nesting *nest, const kn_yaml *labels, kn_error *err)
{
    kn_status status = KN_OK;
    nest->root = "*";
    for (const kn_yaml *label = labels; label != NULL; label = label->next) {
        schema_label found = {.node = label, .text = label_text(nest->schema, label)};
        if (found.text == NULL || (nest->has_sets && is_set(nest->schema, label))) continue;
        if (is_true(label, "any") || strcmp(found.text, "*") == 0) {
            nest->root = found.text;
            continue;
        }
        static const char *const meanings[] = {"members", "min", "begins_with", "ends_with"};
        size_t m = 0;
        while (m < 4 && kn_yaml_find(label, meanings[m]) == NULL) m++;
        if (m == 4) KN_TRY(says_nothing(nest->schema, nest->name, label, err));
        KN_PUSH(&nest->labels, found);
        schema_label *at = &nest->labels.items[nest->labels.n - 1];
        KN_NEW(at->holds, nest->values.n + 1);
        for (size_t v = 0; v < nest->values.n; v++) {
            KN_TRY(label_holds(&at->holds[v], nest, label, nest->values.items[v], err));
            at->n += at->holds[v];
        }
    }
    if (nest->labels.n > 1) qsort(nest->labels.items, nest->labels.n, sizeof *nest->labels.items, by_size);
done:
    return status;
}

/* Every label stands above those inside it, at one level for all values; returns the highest. */
static size_t set_levels(nesting *nest)
{
    size_t highest = 0;
    for (bool changed = true; changed && highest <= nest->labels.n;) {
        changed = false;
        for (size_t v = 0; v < nest->values.n; v++) {
            size_t below = 0;
            for (size_t i = 0; i < nest->labels.n; i++) {
                schema_label *label = &nest->labels.items[i];
                if (!label->holds[v]) continue;
                changed |= label->level < below + 1;
                if (label->level < below + 1) label->level = below + 1;
                below = label->level;
            }
            if (below > highest) highest = below;
        }
    }
    return highest;
}

/* The value, at each level the label there or the one before it again, the root. */
static void put_line(kn_buffer *lines, const nesting *nest, size_t value, size_t n_levels)
{
    const char *last = nest->values.items[value];
    size_t i = 0;
    kn_buffer_quoted(lines, last, strlen(last));
    for (size_t level = 1; level <= n_levels; level++) {
        for (; i < nest->labels.n && (!nest->labels.items[i].holds[value] || nest->labels.items[i].level <= level); i++)
            if (nest->labels.items[i].holds[value]) last = nest->labels.items[i].text;
        kn_buffer_char(lines, ';');
        kn_buffer_quoted(lines, last, strlen(last));
    }
    kn_buffer_char(lines, ';');
    kn_buffer_quoted(lines, nest->root, strlen(nest->root));
    kn_buffer_char(lines, '\n');
}

/* --- Labels that do not nest -------------------------------------------------------------------------------------- */

static bool labels_nest(const nesting *nest)
{
    for (size_t i = 0; i < nest->labels.n; i++)
        for (size_t j = i + 1; j < nest->labels.n; j++) {
            const schema_label *a = &nest->labels.items[i], *b = &nest->labels.items[j]; /* by size */
            size_t n = 0;
            for (size_t v = 0; v < nest->values.n; v++) n += a->holds[v] && b->holds[v];
            if (n > 0 && n < a->n) return false;
        }
    return true;
}

static bool is_label(const nesting *nest, const bool *holds)
{
    for (size_t i = 0; i < nest->labels.n; i++)
        if (memcmp(nest->labels.items[i].holds, holds, nest->values.n * sizeof *holds) == 0) return true;
    return false;
}

/* What two labels have in common, if it is several values and no label yet. */
static kn_status add_common(nesting *nest, size_t i, size_t j, kn_error *err)
{
    kn_status status = KN_OK;
    schema_label common = {0};
    kn_buffer text = {0};
    char *label = NULL;
    KN_NEW(common.holds, nest->values.n + 1);
    for (size_t v = 0; v < nest->values.n; v++) {
        common.holds[v] = nest->labels.items[i].holds[v] && nest->labels.items[j].holds[v];
        if (!common.holds[v]) continue;
        kn_buffer_text(&text, common.n++ == 0 ? "{" : "|");
        kn_buffer_text(&text, nest->values.items[v]);
    }
    kn_buffer_char(&text, '}');
    if (common.n < 2 || is_label(nest, common.holds)) goto done;
    if (nest->labels.n >= KN_MAX_SUBSETS)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "schema"),
                   "--schema: its labels have too much in common; give the hierarchy by --hierarchy or the policy");
    KN_TRY(kn_buffer_finish(&label, &text, err));
    common.text = label;
    KN_PUSH(&nest->made, label);
    label = NULL;
    KN_PUSH(&nest->labels, common);
    common.holds = NULL;
done:
    kn_free(common.holds);
    kn_free(label);
    kn_buffer_free(&text);
    return status;
}

static kn_status put_subsets(kn_buffer *lines, nesting *nest, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t j = 1; j < nest->labels.n; j++) /* what is added is looked at in its turn */
        for (size_t i = 0; i < j; i++) KN_TRY(add_common(nest, i, j, err));
    kn_buffer_text(lines, KN_SUBSETS_LINE "\n");
    for (size_t v = 0; v < nest->values.n; v++) {
        kn_buffer_quoted(lines, nest->values.items[v], strlen(nest->values.items[v]));
        for (size_t i = 0; i < nest->labels.n; i++) {
            if (!nest->labels.items[i].holds[v]) continue;
            kn_buffer_char(lines, ';');
            kn_buffer_quoted(lines, nest->labels.items[i].text, strlen(nest->labels.items[i].text));
        }
        kn_buffer_char(lines, '\n');
    }
done:
    return status;
}

/* --- The lines --------------------------------------------------------------------------------------------------- */

/* The texts of a column's values, without the missing one. */
static kn_status value_texts(char ***out, size_t *n_out, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    *n_out = 0;
    KN_NEW(*out, column->n_spellings + 1);
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        const uint32_t value = kn_column_value(column, s);
        if (column->has_missing && value == column->n_values - 1) continue;
        if (column->type != KN_TYPE_TEXT && s > 0 && kn_column_value(column, s - 1) == value) continue;
        (*out)[*n_out] = kn_string_copy(bytes, n, err);
        if ((*out)[*n_out] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        ++*n_out;
    }
done:
    return status;
}

/* A set, an interval that is written as one, a mask: no hierarchy is needed. */
static bool says_itself(const kn_schema *schema, const kn_yaml *label, kn_type type, bool masks)
{
    const char *text = label_text(schema, label);
    kn_bounds bounds;
    bool included;
    if (text == NULL || strcmp(text, "*") == 0) return true;
    if (text[0] == '{') return type == KN_TYPE_TEXT; /* numbers make intervals by themselves */
    if (kn_yaml_find(label, "begins_with") != NULL || kn_yaml_find(label, "ends_with") != NULL) return !masks;
    return kn_yaml_find(label, "min") != NULL && kn_bounds_of_text(&bounds, &included, type, text, strlen(text));
}

kn_status kn_schema_lines(char **text, size_t *n_bytes, const kn_schema *schema, const char *name,
                          const kn_column *values, bool masks, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_yaml *column = schema != NULL ? find_column(schema, name, NULL) : NULL;
    const char *cells = text_of(column, "cells");
    nesting nest = {.schema = schema, .name = name, .has_sets = cells != NULL && strcmp(cells, "set") == 0};
    kn_buffer lines = {0};
    char **texts = NULL;
    size_t n_texts = 0;
    *text = NULL;
    *n_bytes = 0;
    const bool is_known = cells != NULL && (strcmp(cells, "label") == 0 || nest.has_sets);
    if (!is_known || kn_yaml_find(column, "labels") == NULL) return KN_OK;
    const kn_yaml *labels = kn_yaml_find(column, "labels")->first;
    /* Of words in an order, first..last says what it means. */
    const bool has_order = is_true(column, "natural_order") || text_of(column, "order") != NULL;
    bool needed = false;
    for (const kn_yaml *label = labels; label != NULL; label = label->next) {
        const bool is_clear = (nest.has_sets && is_set(schema, label)) ||
                              (has_order && kn_yaml_find(label, "members") == NULL) ||
                              says_itself(schema, label, values->type, masks);
        needed = needed || !is_clear;
    }
    if (!needed) return KN_OK;
    nest.reading = (kn_cell_reading){.type = values->type, .leading_zeros = true, .words_are_values = true};
    KN_TRY(value_texts(&texts, &n_texts, values, err));
    unsigned forms = KN_DATE_ANY;
    for (size_t i = 0; i < n_texts && values->type == KN_TYPE_DATE; i++)
        forms &= kn_date_forms(texts[i], strlen(texts[i]), forms);
    nest.reading.form = (kn_date_form)(forms & ~(forms - 1)); /* the first that they all have */
    KN_TRY(gather_values(&nest, labels, texts, n_texts, err));
    KN_TRY(gather_labels(&nest, labels, err));
    if (nest.has_sets || labels_nest(&nest)) { /* groups nest */
        if (nest.has_sets) kn_buffer_text(&lines, KN_MADE_FROM_DATA "\n");
        const size_t n_levels = set_levels(&nest);
        for (size_t v = 0; v < nest.values.n; v++) put_line(&lines, &nest, v, n_levels);
    } else {
        KN_TRY(put_subsets(&lines, &nest, err));
    }
    *n_bytes = lines.n;
    if (nest.values.n > 0) KN_TRY(kn_buffer_finish(text, &lines, err));
done:
    for (size_t i = 0; i < nest.labels.n; i++) kn_free(nest.labels.items[i].holds);
    for (size_t i = 0; i < nest.made.n; i++) kn_free(nest.made.items[i]);
    kn_free(nest.made.items);
    kn_free(nest.labels.items);
    kn_free(nest.values.items);
    for (size_t i = 0; texts != NULL && i < n_texts; i++) kn_free(texts[i]);
    kn_free(texts);
    kn_buffer_free(&lines);
    return status;
}
