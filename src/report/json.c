/* The result as one JSON object with stable keys. No raw values: names of columns, counts and figures only. */
#include "report/facts.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static void class_sizes(const kn_release *r, uint32_t *least, uint32_t *most, double *mean)
{
    uint64_t sum = 0;
    *least = r->n_classes != 0 ? UINT32_MAX : 0;
    *most = 0;
    for (uint32_t c = 0; c < r->n_classes; c++) {
        uint32_t n = r->class_persons[c];
        if (n < *least) *least = n;
        if (n > *most) *most = n;
        sum += n;
    }
    *mean = r->n_classes != 0 ? (double)sum / r->n_classes : 0;
}

static json_t *models_json(const kn_facts *facts)
{
    json_t *list = json_array();
    for (size_t i = 0; i < facts->n_models; i++) {
        const kn_model_fact *model = &facts->models[i];
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:b, s:o}", "name", model->name, "params", model->public_params,
                                        "holds", model->holds, "worst", number(model->worst)));
    }
    return list;
}

static json_t *losses_json(const kn_facts *facts)
{
    json_t *object = json_object();
    for (size_t i = 0; i < facts->n_losses; i++)
        json_object_set_new(object, facts->losses[i].name, number(facts->losses[i].value));
    return object;
}

static json_t *bound_json(const kn_facts *facts)
{
    if (!isfinite(facts->bound)) return json_null();
    double gap = facts->loss > 0 ? (facts->loss - facts->bound) / facts->loss : 0;
    return json_pack("{s:s, s:o, s:o}", "measure", facts->task->objective->type->name, "value", number(facts->bound),
                     "gap", number(gap > 0 ? gap : 0));
}

static json_t *guarantee_json(const kn_facts *facts)
{
    if (facts->answer->theorem == NULL) return json_null();
    return json_pack("{s:s, s:o, s:b}", "theorem", facts->answer->theorem, "ratio", number(facts->answer->ratio),
                     "holds", true);
}

static json_t *columns_json(const kn_facts *facts)
{
    json_t *list = json_array();
    for (uint32_t c = 0; c < facts->table->n_columns; c++) {
        const kn_column *column = &facts->table->columns[c];
        double loss = NAN;
        for (uint32_t q = 0; q < facts->tuples->n_qis; q++)
            if (facts->tuples->domains[q]->column == column) loss = facts->column_loss[q];
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", column->name, "role",
                                              kn_role_name(column->role), "loss", number(loss)));
    }
    return list;
}

static json_t *levels_json(const kn_facts *facts)
{
    json_t *list = json_array();
    for (uint32_t q = 0; facts->release->levels != NULL && q < facts->tuples->n_qis; q++)
        json_array_append_new(list, json_integer(facts->release->levels[q]));
    return list;
}

static json_t *trace_json(const kn_facts *facts)
{
    json_t *list = json_array();
    for (size_t i = 0; facts->trace != NULL && i < facts->trace->points.n; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "seconds", number(facts->trace->points.items[i].seconds),
                                              "loss", number(facts->trace->points.items[i].loss)));
    return list;
}

static json_t *seconds_json(const kn_seconds *s)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "read", s->read, "encode", s->encode, "search",
                     s->search, "bound", s->bound, "recode", s->recode, "write", s->write, "verify", s->verify, "total",
                     s->total);
}

static double loss_named(const kn_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->n_losses; i++)
        if (strcmp(facts->losses[i].name, name) == 0) return facts->losses[i].value;
    return NAN;
}

static json_t *top_json(const kn_facts *facts)
{
    json_t *top = json_array();
    for (size_t i = 0; i < facts->answer->n_top; i++) {
        const kn_good_node *node = &facts->answer->top[i];
        json_t *levels = json_array();
        for (uint32_t q = 0; q < facts->tuples->n_qis; q++)
            json_array_append_new(levels, json_integer(node->levels[q]));
        json_array_append_new(top, json_pack("{s:o, s:o, s:I}", "levels", levels, "loss", number(node->loss),
                                             "suppressed", (json_int_t)node->n_suppressed));
    }
    return top;
}

kn_status kn_facts_json(char **out, const kn_facts *facts, kn_error *err)
{
    static const char *const stopped[] = {"done", "budget", "time", "interrupt"};
    const kn_release *r = facts->release;
    uint32_t least, most;
    double mean;
    *out = NULL;
    class_sizes(r, &least, &most, &mean);
    json_t *root = json_object();
    json_object_set_new(root, "version", json_string(kn_version()));
    json_object_set_new(root, "input",
                        json_pack("{s:I, s:I, s:I}", "rows", (json_int_t)facts->table->n_rows, "persons",
                                  (json_int_t)facts->tuples->n_persons, "columns",
                                  (json_int_t)facts->table->n_columns));
    json_object_set_new(root, "algorithm", json_string(facts->algorithm->name));
    json_object_set_new(root, "measure", json_string(facts->task->objective->type->name));
    json_object_set_new(root, "seed", json_integer((json_int_t)facts->task->seed));
    json_object_set_new(root, "stopped", json_string(stopped[facts->answer->stopped]));
    json_object_set_new(root, "models", models_json(facts));
    json_object_set_new(root, "loss", losses_json(facts));
    json_object_set_new(root, "bound", bound_json(facts));
    json_object_set_new(root, "guarantee", guarantee_json(facts));
    json_object_set_new(root, "optimal", json_boolean(facts->answer->optimal));
    json_object_set_new(root, "classes",
                        json_pack("{s:I, s:I, s:f, s:I}", "count", (json_int_t)r->n_classes, "min", (json_int_t)least,
                                  "mean", mean, "max", (json_int_t)most));
    json_object_set_new(root, "suppressed",
                        json_pack("{s:I, s:I, s:o}", "rows", (json_int_t)r->n_suppressed, "removed",
                                  (json_int_t)r->n_removed, "cells", number(loss_named(facts, "suppressed-cells"))));
    json_object_set_new(root, "columns", columns_json(facts));
    json_object_set_new(root, "levels", levels_json(facts));
    if (facts->answer->n_top > 0) json_object_set_new(root, "top", top_json(facts));
    json_object_set_new(root, "progress", trace_json(facts));
    json_object_set_new(root, "seconds", seconds_json(&facts->seconds));
    json_object_set_new(root, "peak_bytes", json_integer((json_int_t)facts->peak_bytes));
    json_object_set_new(root, "blocks",
                        json_integer(facts->answer->n_blocks > 1 ? (json_int_t)facts->answer->n_blocks : 1));
    json_object_set_new(root, "nodes", json_integer((json_int_t)facts->answer->n_nodes));
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (text == NULL) return kn_error_set(err, KN_RESOURCES, "out of memory");
    kn_buffer buffer = {0};
    kn_buffer_text(&buffer, text);
    kn_buffer_char(&buffer, '\n');
    free(text);
    return kn_buffer_finish(out, &buffer, err);
}
