/* `kanon risk` for a terminal and as JSON: counts, shares and names of columns; no values. */
#include "report/page.h"
#include "report/report_data.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RISKIEST 5

static const page plain = {.language = KN_LANGUAGE_EN};

static void line(kn_buffer *out, const char *label) { kn_buffer_printf(out, "  %-14s", label); }

static void range_line(kn_buffer *out, const char *name, const kn_risk_range *range)
{
    line(out, name);
    kn_buffer_printf(out, "highest %s, average %s, lowest %s\n", page_percent(&plain, range->highest).text,
                     page_percent(&plain, range->average).text, page_percent(&plain, range->lowest).text);
}

static void set_names(kn_buffer *out, const kn_tuples *tuples, uint64_t columns)
{
    bool first = true;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        if (!(columns >> q & 1)) continue;
        kn_buffer_printf(out, "%s%s", first ? "" : ", ", tuples->domains[q]->name);
        first = false;
    }
}

static void size_lines(kn_buffer *out, const kn_risk_sizes *sizes)
{
    size_t used = 16;
    line(out, "class sizes");
    for (size_t b = 0; b < sizes->n_bins; b++) {
        char item[120];
        words from = page_count(&plain, sizes->bins[b].from), to = page_count(&plain, sizes->bins[b].to);
        words persons = page_count(&plain, sizes->bins[b].n_persons);
        bool single = sizes->bins[b].from == sizes->bins[b].to;
        int n = snprintf(item, sizeof item, "%.30s%s%.30s: %.30s", from.text, single ? "" : "-", single ? "" : to.text,
                         persons.text);
        if (used + (size_t)n + 2 > 80 && b > 0) {
            kn_buffer_text(out, ",\n                ");
            used = 16;
        } else if (b > 0) {
            kn_buffer_text(out, ", ");
            used += 2;
        }
        kn_buffer_append(out, item, (size_t)n);
        used += (size_t)n;
    }
    kn_buffer_text(out, sizes->n_bins > 0 ? " persons\n" : "none\n");
}

static void set_lines(kn_buffer *out, const kn_report *report)
{
    size_t top[RISKIEST], n;
    if (report->sets == NULL) return;
    n = kn_column_risk_top(top, RISKIEST, report->sets, report->sets->max_size);
    for (size_t i = 0; i < n; i++) {
        const kn_column_set *set = &report->sets->sets[top[i]];
        if (set->n_unique == 0) break;
        line(out, i == 0 ? "single out" : "");
        kn_buffer_printf(out, "%9s by ", page_count(&plain, set->n_unique).text);
        set_names(out, report->facts->tuples, set->columns);
        kn_buffer_char(out, '\n');
    }
    line(out, "minimal");
    kn_buffer_printf(out, "%s persons are unique on a set of up to %u columns (",
                     page_count(&plain, report->sets->n_with_minimal).text, report->sets->max_size);
    for (uint32_t size = 1; size <= report->sets->max_size; size++)
        kn_buffer_printf(out, "%ssize %u: %s", size > 1 ? ", " : "", size,
                         page_count(&plain, report->sets->minimal_of_size[size]).text);
    kn_buffer_text(out, ")\n");
}

static void disclosure_lines(kn_buffer *out, const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    for (uint32_t s = 0; s < tuples->n_sensitive && report->disclosure_before != NULL; s++) {
        const kn_disclosure *about = &report->disclosure_before[s];
        line(out, s == 0 ? "learned" : "");
        kn_buffer_printf(out, "%s: for certain about %s persons; belief shifts by up to %s\n",
                         tuples->sensitive[s].column->name, page_count(&plain, about->n_certain).text,
                         page_percent(&plain, about->largest_shift).text);
    }
}

static void estimate_lines(kn_buffer *out, const kn_report *report)
{
    if (!report->has_estimate) return;
    for (int e = 0; e < KN_N_ESTIMATORS; e++) {
        double n = report->estimate.n_unique[e];
        line(out, e == 0 ? "population" : "");
        kn_buffer_printf(out, "%-7s ", kn_estimator_name((kn_estimator)e));
        if (isnan(n)) kn_buffer_text(out, "no solution");
        else
            kn_buffer_printf(out, "%s unique of %s (%s)", page_count(&plain, (uint64_t)llround(n)).text,
                             page_count(&plain, (uint64_t)llround(report->estimate.population)).text,
                             page_percent(&plain, n / report->estimate.population).text);
        kn_buffer_text(out, (int)report->estimate.chosen == e ? "  <- Dankar's choice\n" : "\n");
    }
}

static void attack_lines(kn_buffer *out, const kn_report *report)
{
    const kn_attack_result *found = report->attack;
    const kn_table *table = report->facts->table;
    if (found == NULL) return;
    line(out, "attack");
    kn_buffer_printf(out, "%s named persons: %s fit fewer than %s rows, %s exactly one, %s none\n",
                     page_count(&plain, found->n_persons).text, page_count(&plain, found->n_fewer_than_k).text,
                     page_count(&plain, report->attack_k).text, page_count(&plain, found->n_unique).text,
                     page_count(&plain, found->n_not_found).text);
    for (uint32_t c = 0, s = 0; c < table->n_columns; c++) {
        if (table->columns[c].role != KN_ROLE_SENSITIVE) continue;
        line(out, "");
        kn_buffer_printf(out, "%s is disclosed for %s of them\n", table->columns[c].name,
                         page_count(&plain, found->n_disclosed[s++]).text);
    }
}

kn_status kn_report_risk_text(char **out, const kn_report *report, kn_error *err)
{
    const kn_risk_sizes *sizes = &report->before;
    kn_buffer text = {0};
    kn_buffer_printf(&text, "%s persons in %s classes; %s are alone in theirs\n",
                     page_count(&plain, sizes->n_persons).text, page_count(&plain, sizes->n_classes).text,
                     page_count(&plain, sizes->n_unique).text);
    range_line(&text, "prosecutor", &sizes->prosecutor);
    range_line(&text, "journalist", &sizes->journalist);
    line(&text, "marketer");
    kn_buffer_printf(&text, "expects to be right about %s\n", page_percent(&plain, sizes->marketer).text);
    line(&text, "exposed");
    kn_buffer_printf(&text, "%s persons in classes smaller than %s (threshold %s)\n",
                     page_count(&plain, sizes->n_above).text,
                     page_count(&plain, kn_risk_smallest_accepted(report->threshold)).text,
                     page_number(&plain, report->threshold).text);
    size_lines(&text, sizes);
    set_lines(&text, report);
    disclosure_lines(&text, report);
    estimate_lines(&text, report);
    attack_lines(&text, report);
    return kn_buffer_finish(out, &text, err);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *range_json(const kn_risk_range *range)
{
    return json_pack("{s:f, s:f, s:f}", "highest", range->highest, "average", range->average, "lowest", range->lowest);
}

static json_t *sets_json(const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    json_t *list = json_array();
    for (size_t s = 0; report->sets != NULL && s < report->sets->n_sets; s++) {
        const kn_column_set *set = &report->sets->sets[s];
        json_t *names = json_array();
        for (uint32_t q = 0; q < tuples->n_qis; q++)
            if (set->columns >> q & 1) json_array_append_new(names, json_string(tuples->domains[q]->name));
        json_array_append_new(list,
                              json_pack("{s:o, s:I, s:I, s:I}", "columns", names, "unique", (json_int_t)set->n_unique,
                                        "minimal", (json_int_t)set->n_minimal, "groups", (json_int_t)set->n_groups));
    }
    return list;
}

static json_t *sensitive_json(const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    json_t *list = json_array();
    for (uint32_t s = 0; s < tuples->n_sensitive && report->disclosure_before != NULL; s++) {
        const kn_disclosure *about = &report->disclosure_before[s];
        json_array_append_new(list, json_pack("{s:s, s:I, s:f, s:f}", "name", tuples->sensitive[s].column->name,
                                              "certain", (json_int_t)about->n_certain, "largest_shift",
                                              about->largest_shift, "average_shift", about->average_shift));
    }
    return list;
}

static json_t *population_json(const kn_report *report)
{
    if (!report->has_estimate) return json_null();
    const kn_risk_estimate *estimate = &report->estimate;
    return json_pack("{s:f, s:f, s:o, s:o, s:o, s:s}", "fraction", estimate->fraction, "persons", estimate->population,
                     "zayatz", number(estimate->n_unique[KN_ESTIMATOR_ZAYATZ]), "pitman",
                     number(estimate->n_unique[KN_ESTIMATOR_PITMAN]), "snb",
                     number(estimate->n_unique[KN_ESTIMATOR_SNB]), "chosen", kn_estimator_name(estimate->chosen));
}

static json_t *attack_json(const kn_report *report)
{
    const kn_attack_result *found = report->attack;
    const kn_table *table = report->facts->table;
    if (found == NULL) return json_null();
    json_t *disclosed = json_object();
    for (uint32_t c = 0, s = 0; c < table->n_columns; c++)
        if (table->columns[c].role == KN_ROLE_SENSITIVE)
            json_object_set_new(disclosed, table->columns[c].name, json_integer((json_int_t)found->n_disclosed[s++]));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "persons", (json_int_t)found->n_persons, "k",
                     (json_int_t)report->attack_k, "fewer_than_k", (json_int_t)found->n_fewer_than_k, "unique",
                     (json_int_t)found->n_unique, "not_found", (json_int_t)found->n_not_found, "smallest",
                     (json_int_t)found->smallest, "expected_hits", found->expected_hits, "disclosed", disclosed);
}

kn_status kn_report_risk_json(char **out, const kn_report *report, kn_error *err)
{
    const kn_risk_sizes *sizes = &report->before;
    json_t *bins = json_array(), *contributions = json_object(), *root = json_object();
    *out = NULL;
    for (size_t b = 0; b < sizes->n_bins; b++)
        json_array_append_new(bins,
                              json_pack("{s:I, s:I, s:I, s:I}", "from", (json_int_t)sizes->bins[b].from, "to",
                                        (json_int_t)sizes->bins[b].to, "classes", (json_int_t)sizes->bins[b].n_classes,
                                        "persons", (json_int_t)sizes->bins[b].n_persons));
    for (uint32_t q = 0; report->sets != NULL && q < report->facts->tuples->n_qis; q++)
        json_object_set_new(contributions, report->facts->tuples->domains[q]->name,
                            number(report->sets->contribution[q]));
    json_object_set_new(root, "version", json_string(kn_version()));
    json_object_set_new(root, "persons", json_integer((json_int_t)sizes->n_persons));
    json_object_set_new(root, "classes", json_integer((json_int_t)sizes->n_classes));
    json_object_set_new(root, "unique", json_integer((json_int_t)sizes->n_unique));
    json_object_set_new(root, "prosecutor", range_json(&sizes->prosecutor));
    json_object_set_new(root, "journalist", range_json(&sizes->journalist));
    json_object_set_new(root, "marketer", number(sizes->marketer));
    json_object_set_new(root, "threshold", number(sizes->threshold));
    json_object_set_new(root, "above_threshold", json_integer((json_int_t)sizes->n_above));
    json_object_set_new(root, "sizes", bins);
    json_object_set_new(root, "column_sets", sets_json(report));
    json_object_set_new(root, "contributions", contributions);
    json_object_set_new(root, "sensitive", sensitive_json(report));
    json_object_set_new(root, "population", population_json(report));
    json_object_set_new(root, "attack", attack_json(report));
    char *dumped = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (dumped == NULL) return kn_error_set(err, KN_RESOURCES, "out of memory");
    kn_buffer text = {0};
    kn_buffer_text(&text, dumped);
    kn_buffer_char(&text, '\n');
    free(dumped);
    return kn_buffer_finish(out, &text, err);
}
