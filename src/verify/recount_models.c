/* Every privacy model counted again from the released cells: what model_definitions.c asks of a class, asked of all.
 *
 * The suppressed rows are a class like any other. Several sensitive columns: a model protects the column that it names,
 * class by class. With joint=yes it is the stricter reading of [SV] 5: the other sensitive columns join the
 * quasi-identifier, and each of the smaller classes is judged.
 *
 * Cost per model: the rows, and what its definition costs for each class. */
#include "verify/model_definitions.h"

#include "base/fold.h"
#include "base/formula.h"
#include "base/words.h"
#include "verify/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- The sensitive column -------------------------------------------------------------------------------------- */

/* The column that a model protects: the one it names, or the only sensitive one. */
static kn_status find_sensitive(counting *c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = c->recount->request;
    const char *name = kn_args_text(&c->args, "column");
    size_t n_found = 0;
    for (uint32_t i = 0; i < request->n_columns; i++) {
        if (request->columns[i].role != KN_ROLE_SENSITIVE) continue;
        if (name != NULL && strcmp(name, request->columns[i].name) != 0) continue;
        c->column = i;
        n_found++;
    }
    if (n_found == 1) goto done;
    if (name != NULL) KN_FAIL(KN_USAGE, "%s: '%.40s' is no sensitive column", c->kind->name, name);
    KN_FAIL(KN_USAGE, "%s: %s; say which with column=", c->kind->name,
            n_found == 0 ? "there is no sensitive column" : "there are several sensitive columns");
done:
    return status;
}

/* The dictionary that values are made of: the original's where there is one. */
static const kn_sheet_column *dictionary(const counting *c)
{
    const kn_recount *recount = c->recount;
    if (recount->original != NULL) return &recount->original->columns[recount->in_original[c->column]];
    return &recount->release->columns[recount->in_release[c->column]];
}

static kn_status count_original(uint64_t *text_rows, const counting *c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet *original = c->recount->original;
    uint32_t *codes = NULL;
    KN_NEW_RAW(codes, kn_sheet_chunk_rows(original));
    for (size_t chunk = 0; chunk * KN_CHUNK_ROWS < original->n_rows; chunk++) {
        size_t n = kn_chunk_unpack(codes, original, c->recount->in_original[c->column], chunk);
        const uint64_t *rows = c->recount->record_rows;
        for (size_t i = 0; i < n; i++) text_rows[codes[i]] += rows != NULL ? rows[chunk * KN_CHUNK_ROWS + i] : 1;
    }
done:
    kn_free(codes);
    return status;
}

/* Of the whole table, as its list of values says; a number of rows that is none counts nothing. */
static void count_domains(uint64_t *text_rows, const counting *c)
{
    const kn_recount *recount = c->recount;
    const kn_sheet *domains = recount->domains;
    const kn_sheet_column *value = &domains->columns[recount->in_domains[1]],
                          *rows = &domains->columns[recount->in_domains[2]];
    for (uint32_t row = 0; row < domains->n_rows; row++) {
        size_t n_bytes, n_digits;
        if (!kn_domains_row_is_of(recount, row, c->column)) continue;
        const char *bytes = kn_text(value, kn_sheet_code(value, row), &n_bytes);
        const char *digits = kn_text(rows, kn_sheet_code(rows, row), &n_digits);
        const uint32_t text = kn_text_find(dictionary(c), bytes, n_bytes);
        if (text != KN_NONE) text_rows[text] += kn_recount_count_read(digits, n_digits);
    }
}

static kn_status count_reference(counting *c, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_values = c->values->n_values;
    uint64_t *text_rows = NULL;
    const kn_sheet_column *texts = dictionary(c);
    KN_NEW(c->reference, n_values);
    KN_NEW(c->before, n_values + (size_t)1);
    KN_NEW(c->before_sum, n_values + (size_t)1);
    KN_NEW(text_rows, texts->n_texts);
    if (c->recount->domains == NULL) KN_TRY(count_original(text_rows, c, err));
    else count_domains(text_rows, c);
    for (uint32_t i = 0; i < texts->n_texts; i++) c->reference[c->values->of_text[i]] += text_rows[i];
    for (uint32_t v = 0; v < n_values; v++) {
        c->n_reference += c->reference[v] > 0;
        c->before[v + 1] = c->before[v] + c->reference[v];
        c->before_sum[v + 1] = c->before_sum[v] + c->before[v + 1];
    }
done:
    kn_free(text_rows);
    return status;
}

static const kn_tree *tree_of(const kn_verify_column *column)
{
    return column->tree != NULL ? column->tree : column->domain != NULL ? column->domain->tree : NULL;
}

typedef struct placed {
    uint32_t value, leaf;
} placed;

static int by_leaf(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->leaf != y->leaf) return x->leaf < y->leaf ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* A value is the leaf that one of its texts is: with folding the tree need not list them all. */
static kn_status find_leaves(uint32_t **out, const counting *c, const uint32_t *leaf_of_text, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(*out, c->values->n_values);
    for (uint32_t v = 0; v < c->values->n_values; v++) (*out)[v] = KN_NONE;
    for (uint32_t i = 0; i < dictionary(c)->n_texts; i++)
        if (leaf_of_text[i] != KN_NONE) (*out)[c->values->of_text[i]] = leaf_of_text[i];
done:
    return status;
}

/* Text has no order of its own: the ordered distance takes the leaves of the hierarchy, where there is one. The missing
 * value stays the last. */
static kn_status order_by_tree(counting *c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_column *column = &c->recount->request->columns[c->column];
    const kn_reading *reading = &c->recount->readings[c->column];
    uint32_t n_values = c->values->n_values, *leaf_of_text = NULL, *leaf_of_value = NULL, *rank = NULL;
    placed *places = NULL;
    if (tree_of(column) == NULL || (reading->type != KN_TYPE_TEXT && reading->type != KN_TYPE_AUTO)) goto done;
    KN_TRY(kn_leaves_of_texts(&leaf_of_text, dictionary(c), tree_of(column), reading, c->recount->request->trim, err));
    KN_NEW(places, n_values);
    KN_NEW(rank, n_values);
    KN_TRY(find_leaves(&leaf_of_value, c, leaf_of_text, err));
    for (uint32_t v = 0; v < n_values; v++)
        places[v] = (placed){v, v == c->values->missing ? KN_NONE : leaf_of_value[v]};
    qsort(places, n_values, sizeof *places, by_leaf);
    for (uint32_t i = 0; i < n_values; i++) rank[places[i].value] = i;
    for (uint32_t i = 0; i < dictionary(c)->n_texts; i++) {
        c->values->of_text[i] = rank[c->values->of_text[i]];
        c->values->text_of_value[c->values->of_text[i]] = i;
    }
    if (c->values->missing != KN_NONE) c->values->missing = rank[c->values->missing];
done:
    kn_free(leaf_of_text);
    kn_free(leaf_of_value);
    kn_free(rank);
    kn_free(places);
    return status;
}

/* *reason is set when the values cannot be placed in a tree. */
static kn_status prepare_tree(counting *c, kn_say *reason, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_column *column = &c->recount->request->columns[c->column];
    uint32_t *leaf_of_text = NULL;
    c->tree = tree_of(column);
    if (c->tree == NULL) {
        *reason = KN_SAY_NO_HIERARCHY;
        goto done;
    }
    KN_NEW(c->node_reference, c->tree->n_nodes);
    KN_NEW(c->node_count, c->tree->n_nodes);
    KN_NEW(c->node_hands, c->tree->n_nodes);
    KN_NEW(c->touched, c->tree->n_nodes);
    KN_TRY(kn_leaves_of_texts(&leaf_of_text, dictionary(c), c->tree, &c->recount->readings[c->column],
                              c->recount->request->trim, err));
    KN_TRY(find_leaves(&c->leaf_of_value, c, leaf_of_text, err));
    for (uint32_t v = 0; v < c->values->n_values; v++) {
        uint32_t leaf = c->leaf_of_value[v];
        if (leaf == KN_NONE) {
            *reason = KN_SAY_VALUE_NOT_IN_HIERARCHY;
            goto done;
        }
        for (uint32_t node = leaf;; node = c->tree->parent[node]) {
            c->node_reference[node] += c->reference[v];
            if (node == c->tree->root) break;
        }
    }
done:
    kn_free(leaf_of_text);
    return status;
}

/* A value is protected by its bytes, or as the same number or date. False when no row has it. */
static bool protect(counting *c, const char *name, size_t n_bytes)
{
    bool found = false;
    const kn_reading *reading = &c->recount->readings[c->column];
    const kn_sheet_column *texts = dictionary(c);
    char wanted[KN_CANONICAL_BYTES] = "", canonical[KN_CANONICAL_BYTES] = "";
    double number;
    bool is_number = kn_text_read(&number, wanted, reading, name, n_bytes) == KN_TEXT_NUMBER;
    for (uint32_t i = 0; i < texts->n_texts; i++) {
        size_t n;
        const char *bytes = kn_text(texts, i, &n);
        if (c->recount->original == NULL && c->recount->request->guard_formulas) bytes = kn_formula_unguard(bytes, &n);
        bool same =
            reading->fold ? kn_fold_equal(bytes, n, name, n_bytes) : n == n_bytes && memcmp(bytes, name, n) == 0;
        if (!same && is_number && kn_text_read(&number, canonical, reading, bytes, n) == KN_TEXT_NUMBER)
            same = strcmp(canonical, wanted) == 0;
        if (same) c->is_protected[c->values->of_text[i]] = true;
        found |= same;
    }
    return found;
}

/* values=a|b, with "\\|" for a '|'. When no row has any of them, it is a slip of the pen: the check is not made. */
static kn_status mark_protected(counting *c, kn_say *reason, kn_error *err)
{
    kn_status status = KN_OK;
    bool any = false;
    const char *list = kn_args_text(&c->args, "values");
    char *name = NULL;
    if (list == NULL) goto done;
    KN_NEW(c->is_protected, c->values->n_values);
    KN_NEW(name, strlen(list) + 1);
    for (size_t n_bytes = 0;; list++) {
        if (*list == '\\' && list[1] == '|') {
            name[n_bytes++] = *++list;
        } else if (*list != '|' && *list != '\0') {
            name[n_bytes++] = *list;
        } else {
            any |= protect(c, name, n_bytes);
            n_bytes = 0;
            if (*list == '\0') break;
        }
    }
    if (!any) *reason = KN_SAY_NO_PROTECTED_VALUE;
done:
    kn_free(name);
    return status;
}

static kn_status prepare_sensitive(counting *c, kn_say *reason, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(find_sensitive(c, err));
    if (c->recount->in_release[c->column] == KN_NONE) {
        *reason = KN_SAY_NO_SENSITIVE;
        goto done;
    }
    if (c->kind->reference && c->recount->original == NULL) {
        *reason = KN_SAY_NO_REFERENCE;
        goto done;
    }
    KN_TRY(kn_values_make(&c->values, dictionary(c), &c->recount->readings[c->column], err));
    if (c->kind->unit == KN_SAY_DISTANCE && kn_args_is(&c->args, "distance", "ordered")) KN_TRY(order_by_tree(c, err));
    KN_NEW(c->count, c->values->n_values);
    KN_NEW(c->present, c->values->n_values);
    KN_NEW(c->sorted, c->values->n_values);
    if (c->kind->reference) KN_TRY(count_reference(c, err));
    if (c->kind->unit == KN_SAY_DISTANCE && kn_args_is(&c->args, "distance", "hierarchical"))
        KN_TRY(prepare_tree(c, reason, err));
    if (c->kind->unit == KN_SAY_SHARE_OF_VALUE) KN_TRY(mark_protected(c, reason, err));
done:
    return status;
}

/* --- Parts of classes ------------------------------------------------------------------------------------------ */

static bool is_joint(const counting *c)
{
    for (size_t i = 0; i < c->kind->n_params; i++)
        if (strcmp(c->kind->params[i].name, "joint") == 0) return kn_args_is(&c->args, "joint", "yes");
    return false;
}

/* Texts of one value are one key. */
static kn_status map_values(uint32_t **map, const kn_recount *recount, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    kn_values *values = NULL;
    const kn_sheet_column *released = &recount->release->columns[recount->in_release[column]], *texts = released;
    if (recount->original != NULL) texts = &recount->original->columns[recount->in_original[column]];
    KN_TRY(kn_values_make(&values, texts, &recount->readings[column], err));
    KN_NEW(*map, released->n_texts);
    for (uint32_t code = 0; code < released->n_texts; code++)
        (*map)[code] = values->of_text[recount->original != NULL ? recount->to_original[column][code] : code];
done:
    kn_values_free(values);
    return status;
}

/* The quasi-identifier with the other sensitive columns. */
static kn_status split_classes(counting *c, kn_say *reason, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_recount *recount = c->recount;
    const kn_verify_request *request = recount->request;
    size_t n_keys = recount->n_qis;
    KN_NEW(c->parts.keys, request->n_columns);
    KN_NEW(c->parts.maps, request->n_columns);
    if (n_keys > 0) memcpy(c->parts.keys, recount->keys, n_keys * sizeof *c->parts.keys);
    for (uint32_t i = 0; i < request->n_columns; i++) {
        if (request->columns[i].role != KN_ROLE_SENSITIVE || i == c->column) continue;
        if (recount->in_release[i] == KN_NONE) {
            *reason = KN_SAY_NO_SENSITIVE;
            goto done;
        }
        KN_TRY(map_values(&c->parts.maps[i], recount, i, err));
        c->parts.keys[n_keys++] = (kn_key_column){recount->in_release[i], c->parts.maps[i]};
    }
    KN_TRY(kn_row_groups_make(&c->parts.groups, recount->release, c->parts.keys, n_keys, err));
    KN_TRY(kn_row_groups_rows(&c->parts.start, &c->parts.members, c->parts.groups, err));
    c->groups = c->parts.groups;
    c->group_start = c->parts.start;
    c->group_members = c->parts.members;
done:
    return status;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void count_values(counting *c, uint32_t group)
{
    const kn_recount *recount = c->recount;
    const kn_sheet_column *column = &recount->release->columns[recount->in_release[c->column]];
    const uint32_t *to_original = recount->original != NULL ? recount->to_original[c->column] : NULL;
    for (uint32_t i = 0; i < c->n_present; i++) c->count[c->present[i]] = 0;
    c->n_present = 0;
    for (uint32_t i = c->group_start[group]; i < c->group_start[group + 1]; i++) {
        uint32_t code = kn_sheet_code(column, c->group_members[i]);
        uint32_t value = c->values->of_text[to_original != NULL ? to_original[code] : code];
        if (c->count[value] == 0) c->present[c->n_present++] = value;
        c->count[value] += kn_recount_rows(recount, c->group_members[i]);
    }
    qsort(c->present, c->n_present, sizeof *c->present, by_value);
}

/* --- The population -------------------------------------------------------------------------------------------- */

typedef struct population {
    kn_sheet *cells;
    kn_meaning **meanings; /* n_qis */
    size_t n_qis;
    kn_inside *inside;
} population;

static bool is_qi_name(const void *context, uint32_t index, const char *name)
{
    const kn_recount *recount = context;
    for (size_t q = 0; q < recount->n_qis; q++)
        if (strcmp(recount->request->columns[recount->qis[q]].name, name) == 0) return true;
    return false;
}

static void population_free(population *people)
{
    for (size_t q = 0; people->meanings != NULL && q < people->n_qis; q++) kn_meaning_free(people->meanings[q]);
    kn_free(people->meanings);
    kn_inside_free(people->inside);
    kn_sheet_free(people->cells);
}

static kn_status read_population(population *people, const counting *c, kn_say *reason, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = c->recount;
    const kn_verify_request *request = recount->request;
    const char *path = kn_args_text(&c->args, "population");
    kn_sheet_options options = {.path = path,
                                .name = path,
                                .kind = kn_file_kind_of(path),
                                .redact = request->redact,
                                .n_threads = kn_pool_threads(request->pool),
                                .null_text = request->n_null_values > 0 ? request->null_values[0] : NULL,
                                .no_header = request->no_header,
                                .trim = request->trim,
                                .encoding = request->encoding,
                                .wants = is_qi_name,
                                .context = recount,
                                .files = request->files,
                                .ticker = request->ticker};
    kn_meaning_options how = {request->trim, request->guard_formulas};
    uint32_t *columns = NULL;
    *people = (population){.n_qis = recount->n_qis};
    KN_NEW(columns, recount->n_qis);
    KN_NEW(people->meanings, recount->n_qis);
    KN_TRY(kn_tables_find(&options.batches, request->tables, path, err));
    KN_TRY(kn_sheet_read(&people->cells, &options, err));
    if (people->cells->problem != NULL) KN_FAIL(KN_INPUT, "%s", people->cells->problem);
    for (size_t q = 0; q < recount->n_qis; q++) {
        const kn_verify_column *column = &request->columns[recount->qis[q]];
        if (column->domain == NULL) {
            *reason = KN_SAY_NO_DOMAIN;
            goto done;
        }
        columns[q] = kn_sheet_find(people->cells, column->name);
        if (columns[q] == KN_NONE) KN_FAIL(KN_INPUT, "%s has no column '%.40s'", path, column->name);
        KN_TRY(kn_meaning_make(&people->meanings[q], &people->cells->columns[columns[q]],
                               &recount->release->columns[recount->in_release[recount->qis[q]]], column->domain,
                               &recount->readings[recount->qis[q]], &how, err));
    }
    KN_TRY(kn_inside_make(&people->inside, people->cells, columns, (const kn_meaning *const *)people->meanings,
                          recount->n_qis, NULL, 1, err));
done:
    kn_free(columns);
    return status;
}

static uint64_t count_people(population *people, const kn_recount *recount, uint32_t class_index, uint32_t *released,
                             uint64_t enough)
{
    for (size_t q = 0; q < recount->n_qis; q++)
        released[q] = kn_sheet_code(&recount->release->columns[recount->in_release[recount->qis[q]]],
                                    recount->classes->first_row[class_index]);
    return kn_inside_count(people->inside, 0, released, enough);
}

/* --- One model ------------------------------------------------------------------------------------------------- */

typedef struct finding {
    kn_check_state state;
    double worst;
    kn_buffer detail;
} finding;

static void discard(counting *c)
{
    kn_args_free(&c->args);
    kn_values_free(c->values);
    kn_free(c->reference);
    kn_free(c->before);
    kn_free(c->before_sum);
    kn_free(c->leaf_of_value);
    kn_free(c->node_reference);
    kn_free(c->node_count);
    kn_free(c->node_hands);
    kn_free(c->touched);
    kn_free(c->is_protected);
    kn_free(c->count);
    kn_free(c->present);
    kn_free(c->sorted);
    for (size_t i = 0; c->parts.maps != NULL && i < c->recount->request->n_columns; i++) kn_free(c->parts.maps[i]);
    kn_free(c->parts.maps);
    kn_free(c->parts.keys);
    kn_free(c->parts.start);
    kn_free(c->parts.members);
    kn_row_groups_free(c->parts.groups);
}

typedef struct worst_class {
    judgement judged;
    uint32_t class_index; /* KN_NONE: no class at all */
    uint32_t n_broken;
    uint32_t n_open; /* neither broken nor held, because persons are not known */
} worst_class;

static bool too_low(const counting *c, const judgement *judged)
{
    if (c->kind->unit == KN_SAY_SHARE_OF_POPULATION) return judged->value < kn_args_number(&c->args, "min");
    return judged->badness == -judged->value;
}

/* With persons that are not known, both ends of what they can be are judged. *open: one end holds and the other does
 * not, or they break the model at different sides. */
static judgement judge_class(bool *open, counting *c, uint32_t group, uint32_t class_index)
{
    const kn_recount *recount = c->recount;
    *open = false;
    c->n_rows = kn_recount_group_rows(recount, c->groups, c->group_start, c->group_members, group);
    c->n_persons = recount->class_persons != NULL ? recount->class_persons[class_index]
                                                  : kn_recount_class_rows(recount, class_index);
    judgement most = c->kind->judge(c);
    if (!c->persons_open) return most;
    c->n_persons = recount->fewest_persons != NULL ? recount->fewest_persons[class_index] : 1;
    judgement fewest = c->kind->judge(c);
    *open = most.holds != fewest.holds || (!most.holds && too_low(c, &most) != too_low(c, &fewest));
    if (!*open && !most.holds) return most;
    judgement shown = recount->fewest_persons != NULL ? fewest : most;
    shown.holds = true;
    return shown;
}

static kn_status judge_classes(worst_class *worst, counting *c, population *people, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_recount *recount = c->recount;
    uint32_t *released = NULL;
    bool *broken = NULL; /* [class] */
    KN_NEW(released, recount->n_qis);
    KN_NEW(broken, recount->classes->n_groups);
    *worst = (worst_class){.class_index = KN_NONE};
    for (uint32_t g = 0; g < c->groups->n_groups; g++) {
        bool open;
        uint32_t i = recount->classes->row_group[c->groups->first_row[g]];
        if (c->kind->sensitive) count_values(c, g);
        if (c->kind->population) {
            /* for k-map a class that holds and is no worse than the worst so far need not be counted to its end */
            bool cut = c->kind->unit == KN_SAY_OF_POPULATION && worst->class_index != KN_NONE;
            double enough = cut ? fmax(worst->judged.value, kn_args_number(&c->args, "k")) : 0;
            c->n_population = count_people(people, recount, i, released, cut ? (uint64_t)enough : UINT64_MAX);
        }
        judgement judged = judge_class(&open, c, g, i);
        worst->n_broken += !judged.holds && !broken[i];
        broken[i] |= !judged.holds;
        worst->n_open += open;
        if (worst->class_index == KN_NONE || kn_judgement_is_worse(&judged, &worst->judged)) {
            worst->judged = judged;
            worst->class_index = i;
        }
        if (g % 4096 == 0) KN_TRY(kn_tick(recount->request->ticker, "verify", -1, err));
    }
done:
    kn_free(broken);
    kn_free(released);
    return status;
}

/* "only 4 persons", "diversity 1.5, too low", "distance 0.4, too high"; or what the worst class reaches. */
static kn_buffer say_value(const finding *found, const counting *c, const judgement *judged)
{
    bool counts = c->kind->unit == KN_SAY_OF_PERSONS || c->kind->unit == KN_SAY_OF_POPULATION ||
                  c->kind->unit == KN_SAY_OF_VALUES;
    bool has_persons = c->recount->class_persons != NULL || (c->persons_open && c->recount->fewest_persons != NULL);
    bool broken = found->state == KN_CHECK_BROKEN;
    kn_say id = c->kind->unit == KN_SAY_OF_PERSONS && !has_persons ? KN_SAY_OF_ROWS : c->kind->unit;
    if (id == KN_SAY_OF_PERSONS) id = kn_recount_unit(c->recount, KN_SAY_OF_PERSONS, KN_SAY_OF_HOUSEHOLDS);
    if (c->kind->unit == KN_SAY_DIVERSITY && kn_args_is(&c->args, "kind", "recursive")) id = KN_SAY_LARGEST_OVER_RAREST;
    kn_piece unit = kn_piece_part(kn_said(id)), value = kn_piece_number("%.9g", judged->value);
    if (counts) return KN_SAID(broken ? KN_SAY_ONLY : KN_SAY_AT_LEAST, value, unit);
    return KN_SAID(!broken ? KN_SAY_AT_WORST : too_low(c, judged) ? KN_SAY_TOO_LOW : KN_SAY_TOO_HIGH, unit, value);
}

/* What was asked, as it was asked, but without values of the data: details go into reports. */
static kn_buffer say_asked(kn_buffer value, const counting *c, const char *params)
{
    kn_buffer asked = {0};
    char *item = kn_array_alloc(strlen(params) + 1, 1, NULL);
    if (item == NULL) asked.failed = true;
    while (item != NULL && kn_words_next(item, &params)) {
        size_t n_name = strcspn(item, "=");
        bool is_data = false;
        for (size_t i = 0; i < c->kind->n_params; i++)
            is_data |= c->kind->params[i].is_data && strlen(c->kind->params[i].name) == n_name &&
                       memcmp(c->kind->params[i].name, item, n_name) == 0;
        kn_buffer_printf(&asked, "%s%.*s%s", asked.n == 0 ? "" : ",", is_data ? (int)n_name : (int)strlen(item), item,
                         is_data ? "=(given)" : "");
    }
    kn_free(item);
    value = KN_SAID(KN_SAY_ASKED, kn_piece_part(value), kn_piece_text(asked.n > 0 ? asked.bytes : ""));
    value.failed |= asked.failed;
    kn_buffer_free(&asked);
    return value;
}

/* A class is named where it holds or breaks the model, not where nobody can say: such details are free of values. */
static kn_buffer describe(const finding *found, const counting *c, const worst_class *worst, const char *params)
{
    const kn_recount *recount = c->recount;
    if (worst->class_index == KN_NONE) return kn_said(KN_SAY_NO_ROWS);
    kn_buffer said = say_asked(say_value(found, c, &worst->judged), c, params != NULL ? params : "");
    if (found->state != KN_CHECK_NOT_MADE)
        said = KN_SAID(KN_SAY_NAMELY, kn_piece_part(said),
                       kn_piece_part(kn_recount_say_class(recount, worst->class_index)));
    if (worst->n_broken > 1)
        kn_sentence_join(&said, KN_SAID(KN_SAY_CLASSES_BREAK, kn_piece_number("%u", worst->n_broken)));
    if (c->persons_open && found->state != KN_CHECK_BROKEN) {
        kn_say counted = recount->fewest_persons != NULL
                             ? kn_recount_unit(recount, KN_SAY_FEWEST_PERSONS, KN_SAY_FEWEST_HOUSEHOLDS)
                             : kn_recount_unit(recount, KN_SAY_ROWS_NOT_PERSONS, KN_SAY_ROWS_NOT_HOUSEHOLDS);
        kn_sentence_join(&said, KN_SAID(KN_SAY_NAMELY, kn_piece_part(kn_said(counted)),
                                        kn_piece_part(kn_said(recount->persons_reason))));
    }
    return said;
}

static kn_status recount_model(finding *found, kn_recount *recount, const kn_verify_model *model, kn_error *err)
{
    kn_status status = KN_OK;
    counting c = {.recount = recount, .kind = kn_model_kind_find(model->name)};
    population people = {0};
    worst_class worst = {.class_index = KN_NONE};
    kn_say reason = KN_SAY_NOTHING;
    *found = (finding){.state = KN_CHECK_NOT_MADE, .worst = NAN};
    if (c.kind == NULL) {
        found->detail = KN_SAID(KN_SAY_NO_SUCH_MODEL, kn_piece_name(model->name));
        goto done;
    }
    KN_TRY(kn_args_parse(&c.args, model->name, c.kind->params, c.kind->n_params, model->params, err));
    if (c.kind->unit == KN_SAY_DIVERSITY && kn_args_is(&c.args, "kind", "recursive") &&
        kn_args_text(&c.args, "c") == NULL)
        KN_FAIL(KN_USAGE, "l-diversity needs c= for kind=recursive");
    if (!recount->has_all_qis) reason = KN_SAY_NO_QI;
    c.groups = recount->classes;
    c.group_start = recount->class_start;
    c.group_members = recount->class_rows;
    if (reason == KN_SAY_NOTHING && c.kind->sensitive) KN_TRY(prepare_sensitive(&c, &reason, err));
    if (reason == KN_SAY_NOTHING && is_joint(&c)) KN_TRY(split_classes(&c, &reason, err));
    if (reason == KN_SAY_NOTHING && c.kind->population) KN_TRY(read_population(&people, &c, &reason, err));
    if (reason != KN_SAY_NOTHING) {
        found->detail = kn_said(reason);
        goto done;
    }
    c.persons_open = c.kind->persons && recount->asks_for_persons && recount->class_persons == NULL &&
                     (c.kind->unit != KN_SAY_SHARE_OF_VALUE || kn_args_text(&c.args, "k") != NULL);
    KN_TRY(judge_classes(&worst, &c, &people, err));
    found->state = worst.n_broken > 0 ? KN_CHECK_BROKEN : worst.n_open > 0 ? KN_CHECK_NOT_MADE : KN_CHECK_HOLDS;
    if (worst.class_index != KN_NONE) found->worst = worst.judged.value;
    found->detail = describe(found, &c, &worst, model->params);
done:
    discard(&c);
    population_free(&people);
    return status;
}

typedef struct models_job {
    kn_recount *recount;
    finding *findings;
} models_job;

static kn_status run_model(void *context, size_t job, unsigned worker, kn_error *err)
{
    models_job *models = context;
    return recount_model(&models->findings[job], models->recount, &models->recount->request->models[job], err);
}

kn_status kn_recount_models(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    models_job models = {.recount = recount};
    KN_NEW(models.findings, request->n_models);
    KN_TRY(kn_pool_run(request->pool, request->n_models, run_model, &models, err));
    for (size_t i = 0; i < request->n_models; i++) {
        finding *found = &models.findings[i];
        recount->checks[KN_SLOT_MODELS + i].worst = found->worst;
        kn_buffer detail = found->detail;
        found->detail = (kn_buffer){0};
        KN_TRY(kn_recount_note(recount, KN_SLOT_MODELS + i, found->state, detail, err));
    }
done:
    for (size_t i = 0; models.findings != NULL && i < request->n_models; i++)
        kn_buffer_free(&models.findings[i].detail);
    kn_free(models.findings);
    return status;
}

/* --- What they force ------------------------------------------------------------------------------------------- */

/* Different values of c->column, and rows, that the model asks for; 0: it does not say. */
static kn_status least_of(double *n_values, double *n_rows, counting *c, const kn_verify_model *model, kn_error *err)
{
    kn_status status = KN_OK;
    *n_values = *n_rows = 0;
    KN_TRY(kn_args_parse(&c->args, model->name, c->kind->params, c->kind->n_params, model->params, err));
    if (c->kind->least_values == NULL && c->kind->least_rows == NULL) goto done;
    KN_TRY(find_sensitive(c, err));
    KN_TRY(kn_values_make(&c->values, dictionary(c), &c->recount->readings[c->column], err));
    KN_NEW(c->sorted, c->values->n_values);
    if (c->kind->reference) KN_TRY(count_reference(c, err));
    if (c->kind->least_values != NULL) *n_values = c->kind->least_values(c);
    *n_rows = c->kind->least_rows != NULL ? c->kind->least_rows(c) : *n_values;
done:
    return status;
}

kn_status kn_recount_least(uint64_t *persons, uint64_t *values, bool *all, kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    counting c = {.recount = recount};
    *persons = 1;
    *all = true;
    for (size_t i = 0; i < request->n_models; i++) {
        double n_values, n_rows, n_persons = 0;
        discard(&c);
        c = (counting){.recount = recount, .kind = kn_model_kind_find(request->models[i].name)};
        *all = *all && c.kind != NULL;
        if (c.kind == NULL) continue;
        KN_TRY(least_of(&n_values, &n_rows, &c, &request->models[i], err));
        if (n_values > (double)values[c.column]) values[c.column] = (uint64_t)n_values;
        /* where persons have several rows, one may have them all */
        if (!request->counts_persons) n_persons = n_rows;
        const bool has_k = c.kind->unit == KN_SAY_OF_PERSONS ||
                           (c.kind->unit == KN_SAY_SHARE_OF_VALUE && kn_args_text(&c.args, "k") != NULL);
        if (has_k) n_persons = fmax(n_persons, kn_args_number(&c.args, "k"));
        if (n_persons > (double)*persons) *persons = (uint64_t)n_persons;
        *all = *all && (has_k || n_rows > 0);
    }
done:
    discard(&c);
    return status;
}
