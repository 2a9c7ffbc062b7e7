/* The result as one JSON object with stable keys. No raw values: names of columns, counts and figures only. */
#include "report/facts.h"

#include "base/json_writer.h"
#include "base/sentence.h"

#include <math.h>
#include <string.h>

static void class_sizes(const kn_release *r, uint64_t *least, uint64_t *most, double *mean)
{
    uint64_t sum = 0;
    const uint32_t n_classes = kn_release_seen_classes(r);
    *least = n_classes != 0 ? UINT64_MAX : 0;
    *most = 0;
    for (uint32_t c = 0; c < n_classes; c++) {
        const uint64_t n = kn_release_seen_persons(r, c);
        if (n < *least) *least = n;
        if (n > *most) *most = n;
        sum += n;
    }
    *mean = n_classes != 0 ? (double)sum / n_classes : 0;
}

static void put_input(kn_json *json, const kn_facts *facts)
{
    kn_json_object(json, "input");
    kn_json_count(json, "rows", facts->tuples->n_rows);
    kn_json_count(json, "persons", facts->tuples->n_persons);
    kn_json_count(json, "columns", facts->table->n_columns);
    kn_json_end(json);
    kn_json_object(json, "released");
    kn_json_count(json, "rows", facts->tuples->n_rows - facts->release->n_removed);
    kn_json_count(json, "persons", facts->n_released_persons);
    kn_json_end(json);
}

static void put_models(kn_json *json, const kn_facts *facts)
{
    kn_json_array(json, "models");
    for (size_t i = 0; i < facts->n_models; i++) {
        const kn_model_fact *model = &facts->models[i];
        kn_json_object(json, NULL);
        kn_json_text(json, "name", model->name);
        kn_json_text(json, "params", model->public_params);
        kn_json_bool(json, "holds", model->holds);
        kn_json_real(json, "worst", model->worst);
        kn_json_end(json);
    }
    kn_json_end(json);
}

static void put_losses(kn_json *json, const kn_facts *facts)
{
    kn_json_object(json, "loss");
    for (size_t i = 0; i < facts->n_losses; i++) kn_json_real(json, facts->losses[i].name, facts->losses[i].value);
    kn_json_end(json);
}

static void put_gap(kn_json *json, const kn_facts *facts, double bound)
{
    double gap = facts->loss > 0 ? (facts->loss - bound) / facts->loss : 0;
    kn_json_text(json, "measure", facts->objective->type->name);
    kn_json_real(json, "value", bound);
    kn_json_real(json, "gap", gap > 0 ? gap : 0);
}

/* "bound": the nearest one, over releases of the search's kind where it proved something of those. "any_bound": over
 * all releases, cell by cell, or why there is none. */
static void put_bound(kn_json *json, const kn_facts *facts)
{
    const kn_lower_bound *any = &facts->any;
    const bool own = isfinite(facts->bound);
    if (own || kn_is_bounded(any)) {
        kn_json_object(json, "bound");
        put_gap(json, facts, own ? facts->bound : any->value);
        kn_json_text(json, "over", own ? facts->kind : "any");
        kn_json_end(json);
    } else {
        kn_json_null(json, "bound");
    }
    kn_json_object(json, "any_bound");
    if (kn_is_bounded(any)) {
        put_gap(json, facts, any->value);
        kn_json_text(json, "method", any->method);
        kn_json_bool(json, "certified", any->is_certified);
        kn_json_bool(json, "partial", any->is_partial);
        kn_json_count(json, "k", any->k);
    } else {
        kn_json_null(json, "value");
        if (any->why != KN_SAY_NOTHING) kn_json_text(json, "reason", kn_sentence_english(any->why));
    }
    kn_json_end(json);
}

static void put_guarantee(kn_json *json, const kn_facts *facts)
{
    if (facts->guarantee.theorem == NULL) {
        kn_json_null(json, "guarantee");
        return;
    }
    kn_json_object(json, "guarantee");
    kn_json_text(json, "theorem", facts->guarantee.theorem);
    kn_json_real(json, "ratio", facts->guarantee.ratio);
    kn_json_bool(json, "holds", facts->guarantee.holds);
    kn_json_text(json, "optimum",
                 facts->guarantee.optimum == KN_OPTIMUM_SUPPRESSED ? "rows in classes or suppressed"
                                                                   : "rows in classes");
    if (!facts->guarantee.holds) {
        kn_buffer text = {0};
        kn_sentence_say(&text, kn_facts_unproven(facts), NULL);
        kn_json_text(json, "reason", text.failed ? "" : text.bytes);
        json->out.failed |= text.failed;
        kn_buffer_free(&text);
    }
    kn_json_real(json, "certified", facts->loss > 0 ? facts->loss / kn_facts_least(facts) : 1);
    kn_json_end(json);
}

static double loss_named(const kn_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->n_losses; i++)
        if (strcmp(facts->losses[i].name, name) == 0) return facts->losses[i].value;
    return NAN;
}

static void put_counts(kn_json *json, const kn_facts *facts)
{
    const kn_release *r = facts->release;
    uint64_t least, most;
    double mean;
    class_sizes(r, &least, &most, &mean);
    kn_json_object(json, "classes");
    kn_json_count(json, "count", kn_release_seen_classes(r));
    kn_json_count(json, "min", least);
    kn_json_real(json, "mean", mean);
    kn_json_count(json, "max", most);
    kn_json_end(json);
    if (facts->n_clusters > 0) {
        kn_json_object(json, "clusters");
        kn_json_count(json, "count", facts->n_clusters);
        kn_json_real(json, "average_diversity", facts->cluster_diversity);
        kn_json_end(json);
    } else {
        kn_json_null(json, "clusters");
    }
    kn_json_object(json, "suppressed");
    kn_json_count(json, "rows", r->n_suppressed);
    kn_json_count(json, "removed", r->n_removed);
    kn_json_real(json, "cells", loss_named(facts, "suppressed-cells"));
    kn_json_end(json);
}

static void put_columns(kn_json *json, const kn_facts *facts)
{
    kn_json_array(json, "columns");
    for (uint32_t c = 0; c < facts->table->n_columns; c++) {
        const kn_column *column = &facts->table->columns[c];
        double loss = NAN;
        for (uint32_t q = 0; q < facts->tuples->n_qis; q++)
            if (facts->tuples->domains[q]->column == column) loss = facts->column_loss[q];
        kn_json_object(json, NULL);
        kn_json_text(json, "name", column->name);
        kn_json_text(json, "role", kn_role_name(column->role));
        kn_json_real(json, "loss", loss);
        kn_json_end(json);
    }
    kn_json_end(json);
}

static void put_levels(kn_json *json, const uint32_t *levels, const kn_facts *facts)
{
    kn_json_array(json, "levels");
    for (uint32_t q = 0; levels != NULL && q < facts->tuples->n_qis; q++) kn_json_count(json, NULL, levels[q]);
    kn_json_end(json);
}

static void put_top(kn_json *json, const kn_facts *facts)
{
    if (facts->n_top == 0) return;
    kn_json_array(json, "top");
    for (size_t i = 0; i < facts->n_top; i++) {
        const kn_good_node *node = &facts->top[i];
        kn_json_object(json, NULL);
        put_levels(json, node->levels, facts);
        kn_json_real(json, "loss", node->loss);
        kn_json_count(json, "suppressed", node->n_suppressed);
        kn_json_end(json);
    }
    kn_json_end(json);
}

static void put_points(kn_json *json, const char *key, const char *what, const kn_trace_point *points, size_t n)
{
    kn_json_array(json, key);
    for (size_t i = 0; i < n; i++) {
        kn_json_object(json, NULL);
        kn_json_real(json, "seconds", points[i].seconds);
        kn_json_real(json, what, points[i].loss);
        kn_json_end(json);
    }
    kn_json_end(json);
}

/* The best release and what was proven, over time; how often each rule was used. */
static void put_course(kn_json *json, const kn_facts *facts)
{
    static const kn_trace none = {0};
    const kn_trace *trace = facts->trace != NULL ? facts->trace : &none;
    put_points(json, "progress", "loss", trace->points.items, trace->points.n);
    if (trace->bounds.n > 0) put_points(json, "proven", "bound", trace->bounds.items, trace->bounds.n);
    if (trace->counts.n == 0) return;
    kn_json_object(json, "counts");
    for (size_t i = 0; i < trace->counts.n; i++)
        kn_json_count(json, trace->counts.items[i].key, trace->counts.items[i].n);
    kn_json_end(json);
}

static void put_seconds(kn_json *json, const kn_seconds *s)
{
    kn_json_object(json, "seconds");
    kn_json_real(json, "read", s->read);
    kn_json_real(json, "encode", s->encode);
    kn_json_real(json, "search", s->search);
    kn_json_real(json, "bound", s->bound);
    kn_json_real(json, "recode", s->recode);
    kn_json_real(json, "write", s->write);
    kn_json_real(json, "verify", s->verify);
    kn_json_real(json, "measure", s->measure);
    kn_json_real(json, "report", s->report);
    kn_json_real(json, "total", s->total);
    kn_json_end(json);
}

kn_status kn_facts_json(char **out, const kn_facts *facts, kn_error *err)
{
    static const char *const stopped[] = {"done", "budget", "time", "interrupt", "still"};
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_json_text(&json, "version", kn_version());
    put_input(&json, facts);
    kn_json_text(&json, "algorithm", facts->algorithm);
    kn_json_text(&json, "measure", facts->objective->type->name);
    kn_json_count(&json, "seed", facts->seed);
    kn_json_text(&json, "stopped", stopped[facts->stopped]);
    put_models(&json, facts);
    put_losses(&json, facts);
    put_bound(&json, facts);
    put_guarantee(&json, facts);
    if (facts->polished) {
        kn_json_object(&json, "polished");
        kn_json_bool(&json, "better", isfinite(facts->polished_from));
        kn_json_real(&json, "from", facts->polished_from);
        kn_json_end(&json);
    }
    kn_json_bool(&json, "optimal", facts->optimal);
    put_counts(&json, facts);
    put_columns(&json, facts);
    put_levels(&json, facts->release->levels, facts);
    put_top(&json, facts);
    put_course(&json, facts);
    put_seconds(&json, &facts->seconds);
    kn_json_count(&json, "peak_bytes", facts->peak_bytes);
    kn_json_count(&json, "blocks", facts->n_blocks > 1 ? facts->n_blocks : 1);
    kn_json_count(&json, "nodes", facts->n_nodes);
    kn_json_end(&json);
    return kn_json_finish(out, &json, err);
}
