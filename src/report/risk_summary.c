/* `kanon risk` for a terminal and as JSON: counts, shares and names of columns; no values. */
#include "base/json_writer.h"
#include "report/page.h"
#include "report/report_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RISKIEST 5

static void line(kn_buffer *out, const char *label) { kn_buffer_printf(out, "  %-14s", label); }

static void range_line(kn_buffer *out, const char *name, const kn_risk_range *range)
{
    line(out, name);
    kn_buffer_printf(out, "highest %s, average %s, lowest %s\n", page_percent(&page_plain, range->highest).text,
                     page_percent(&page_plain, range->average).text, page_percent(&page_plain, range->lowest).text);
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

static void size_lines(kn_buffer *out, const kn_risk_sizes *sizes, kn_unit unit)
{
    size_t used = 16;
    line(out, "class sizes");
    for (size_t b = 0; b < sizes->n_bins; b++) {
        char item[120];
        words from = page_count(&page_plain, sizes->bins[b].from), to = page_count(&page_plain, sizes->bins[b].to);
        words persons = page_count(&page_plain, sizes->bins[b].n_persons);
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
    const uint64_t n = sizes->n_bins == 1 ? sizes->bins[0].n_persons : sizes->n_bins;
    kn_buffer_printf(out, "%s%s\n", n > 0 ? " " : "", n > 0 ? kn_unit_word(unit, n) : "none");
}

/* Somebody may be unique on several sets none of which holds another: those are counted, not persons. */
static void minimal_lines(kn_buffer *out, const kn_report *report)
{
    const kn_column_risk *sets = report->sets;
    const uint64_t n = sets->n_with_minimal;
    line(out, "minimal");
    kn_buffer_printf(out, "%s %s %s unique on a set of up to %u column%s\n", page_count(&page_plain, n).text,
                     kn_unit_word(report->facts->unit, n), n == 1 ? "is" : "are", sets->max_size,
                     sets->max_size == 1 ? "" : "s");
    if (n == 0) return;
    line(out, "");
    kn_buffer_text(out, "smallest such sets, of which one may have several: ");
    for (uint32_t size = 1; size <= sets->max_size; size++)
        kn_buffer_printf(out, "%s%s of %u", size > 1 ? ", " : "",
                         page_count(&page_plain, sets->minimal_of_size[size]).text, size);
    kn_buffer_text(out, sets->max_size == 1 ? " column\n" : " columns\n");
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
        kn_buffer_printf(out, "%9s by ", page_count(&page_plain, set->n_unique).text);
        set_names(out, report->facts->tuples, set->columns);
        kn_buffer_char(out, '\n');
    }
    minimal_lines(out, report);
}

static void disclosure_lines(kn_buffer *out, const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    for (uint32_t s = 0; s < tuples->n_table_sensitive && report->disclosure_before != NULL; s++) {
        const kn_disclosure *about = &report->disclosure_before[s];
        line(out, s == 0 ? "learned" : "");
        kn_buffer_printf(out, "%s: for certain about %s %s; belief shifts by up to %s\n",
                         tuples->sensitive[s].column->name, page_count(&page_plain, about->n_certain).text,
                         kn_unit_word(report->facts->unit, about->n_certain),
                         page_percent(&page_plain, about->largest_shift).text);
        line(out, "");
        kn_buffer_printf(
            out, "of %s classes %s have one value of it, %s two (who can exclude one knows the other), %s ",
            page_count(&page_plain, about->n_classes).text, page_count(&page_plain, about->n_one_value).text,
            page_count(&page_plain, about->n_two_values).text, page_count(&page_plain, about->n_similar).text);
        kn_buffer_text(out, "several but similar ones\n");
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
            kn_buffer_printf(out, "%s unique of %s (%s)", page_count(&page_plain, (uint64_t)llround(n)).text,
                             page_count(&page_plain, (uint64_t)llround(report->estimate.population)).text,
                             page_percent(&page_plain, n / report->estimate.population).text);
        kn_buffer_text(out, (int)report->estimate.chosen == e ? "  <- Dankar's choice\n" : "\n");
    }
}

static void attack_lines(kn_buffer *out, const kn_report *report)
{
    const kn_attack_result *found = report->attack;
    const kn_table *table = report->facts->table;
    if (found == NULL) return;
    line(out, "attack");
    kn_buffer_printf(out, "%s named person%s: %s fit fewer than %s rows, %s exactly one, %s none\n",
                     page_count(&page_plain, found->n_persons).text, found->n_persons == 1 ? "" : "s",
                     page_count(&page_plain, found->n_fewer_than_k).text,
                     page_count(&page_plain, report->attack_k).text, page_count(&page_plain, found->n_unique).text,
                     page_count(&page_plain, found->n_not_found).text);
    for (uint32_t c = 0, s = 0; c < table->n_columns; c++) {
        if (table->columns[c].role != KN_ROLE_SENSITIVE) continue;
        line(out, "");
        kn_buffer_printf(out, "%s is disclosed for %s of them\n", table->columns[c].name,
                         page_count(&page_plain, found->n_disclosed[s++]).text);
    }
}

kn_status kn_report_risk_text(char **out, const kn_report *report, kn_error *err)
{
    const kn_risk_sizes *sizes = &report->before;
    const kn_unit unit = report->facts->unit;
    kn_buffer text = {0};
    kn_buffer_printf(&text, "%s %s in %s class%s; %s %s alone in theirs\n",
                     page_count(&page_plain, sizes->n_persons).text, kn_unit_word(unit, sizes->n_persons),
                     page_count(&page_plain, sizes->n_classes).text, sizes->n_classes == 1 ? "" : "es",
                     page_count(&page_plain, sizes->n_unique).text, sizes->n_unique == 1 ? "is" : "are");
    range_line(&text, "prosecutor", &sizes->prosecutor);
    range_line(&text, "journalist", &sizes->journalist);
    line(&text, "marketer");
    kn_buffer_printf(&text, "expects to be right about %s\n", page_percent(&page_plain, sizes->marketer).text);
    line(&text, "exposed");
    kn_buffer_printf(&text, "%s %s in classes smaller than %s (threshold %s)\n",
                     page_count(&page_plain, sizes->n_above).text, kn_unit_word(unit, sizes->n_above),
                     page_count(&page_plain, kn_risk_smallest_accepted(report->threshold)).text,
                     page_number(&page_plain, report->threshold).text);
    size_lines(&text, sizes, report->facts->unit);
    set_lines(&text, report);
    disclosure_lines(&text, report);
    estimate_lines(&text, report);
    attack_lines(&text, report);
    return kn_buffer_finish(out, &text, err);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void put_range(kn_json *json, const char *key, const kn_risk_range *range)
{
    kn_json_object(json, key);
    kn_json_real(json, "highest", range->highest);
    kn_json_real(json, "average", range->average);
    kn_json_real(json, "lowest", range->lowest);
    kn_json_end(json);
}

static void put_sizes(kn_json *json, const kn_risk_sizes *sizes)
{
    kn_json_count(json, "persons", sizes->n_persons);
    kn_json_count(json, "classes", sizes->n_classes);
    kn_json_count(json, "unique", sizes->n_unique);
    put_range(json, "prosecutor", &sizes->prosecutor);
    put_range(json, "journalist", &sizes->journalist);
    kn_json_real(json, "marketer", sizes->marketer);
    kn_json_real(json, "threshold", sizes->threshold);
    kn_json_count(json, "above_threshold", sizes->n_above);
    kn_json_array(json, "sizes");
    for (size_t b = 0; b < sizes->n_bins; b++) {
        kn_json_object(json, NULL);
        kn_json_count(json, "from", sizes->bins[b].from);
        kn_json_count(json, "to", sizes->bins[b].to);
        kn_json_count(json, "classes", sizes->bins[b].n_classes);
        kn_json_count(json, "persons", sizes->bins[b].n_persons);
        kn_json_end(json);
    }
    kn_json_end(json);
}

void kn_report_put_sets(kn_json *json, const kn_tuples *tuples, const kn_column_risk *sets)
{
    kn_json_array(json, "column_sets");
    for (size_t s = 0; sets != NULL && s < sets->n_sets; s++) {
        const kn_column_set *set = &sets->sets[s];
        kn_json_object(json, NULL);
        kn_json_array(json, "columns");
        for (uint32_t q = 0; q < tuples->n_qis; q++)
            if (set->columns >> q & 1) kn_json_text(json, NULL, tuples->domains[q]->name);
        kn_json_end(json);
        kn_json_count(json, "unique", set->n_unique);
        kn_json_count(json, "minimal", set->n_minimal);
        kn_json_count(json, "groups", set->n_groups);
        kn_json_end(json);
    }
    kn_json_end(json);
}

static void put_contributions(kn_json *json, const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    kn_json_object(json, "contributions");
    for (uint32_t q = 0; report->sets != NULL && q < tuples->n_qis; q++)
        kn_json_real(json, tuples->domains[q]->name, report->sets->contribution[q]);
    kn_json_end(json);
}

static void put_sensitive(kn_json *json, const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    kn_json_array(json, "sensitive");
    for (uint32_t s = 0; s < tuples->n_table_sensitive && report->disclosure_before != NULL; s++) {
        const kn_disclosure *about = &report->disclosure_before[s];
        kn_json_object(json, NULL);
        kn_json_text(json, "name", tuples->sensitive[s].column->name);
        kn_json_count(json, "certain", about->n_certain);
        kn_json_real(json, "largest_shift", about->largest_shift);
        kn_json_real(json, "average_shift", about->average_shift);
        kn_json_count(json, "classes", about->n_classes);
        kn_json_count(json, "one_value", about->n_one_value);
        kn_json_count(json, "two_values", about->n_two_values);
        kn_json_count(json, "similar", about->n_similar);
        kn_json_end(json);
    }
    kn_json_end(json);
}

static void put_population(kn_json *json, const kn_report *report)
{
    const kn_risk_estimate *estimate = &report->estimate;
    if (!report->has_estimate) {
        kn_json_null(json, "population");
        return;
    }
    kn_json_object(json, "population");
    kn_json_real(json, "fraction", estimate->fraction);
    kn_json_real(json, "persons", estimate->population);
    kn_json_real(json, "zayatz", estimate->n_unique[KN_ESTIMATOR_ZAYATZ]);
    kn_json_real(json, "pitman", estimate->n_unique[KN_ESTIMATOR_PITMAN]);
    kn_json_real(json, "snb", estimate->n_unique[KN_ESTIMATOR_SNB]);
    kn_json_text(json, "chosen", kn_estimator_name(estimate->chosen));
    kn_json_end(json);
}

static void put_attack(kn_json *json, const kn_report *report)
{
    const kn_attack_result *found = report->attack;
    const kn_table *table = report->facts->table;
    if (found == NULL) {
        kn_json_null(json, "attack");
        return;
    }
    kn_json_object(json, "attack");
    kn_json_count(json, "persons", found->n_persons);
    kn_json_count(json, "k", report->attack_k);
    kn_json_count(json, "fewer_than_k", found->n_fewer_than_k);
    kn_json_count(json, "unique", found->n_unique);
    kn_json_count(json, "not_found", found->n_not_found);
    kn_json_count(json, "smallest", found->smallest);
    kn_json_real(json, "expected_hits", found->expected_hits);
    kn_json_object(json, "disclosed");
    for (uint32_t c = 0, s = 0; c < table->n_columns; c++)
        if (table->columns[c].role == KN_ROLE_SENSITIVE)
            kn_json_count(json, table->columns[c].name, found->n_disclosed[s++]);
    kn_json_end(json);
    kn_json_end(json);
}

kn_status kn_report_risk_json(char **out, const kn_report *report, kn_error *err)
{
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_json_text(&json, "version", kn_version());
    put_sizes(&json, &report->before);
    kn_report_put_sets(&json, report->facts->tuples, report->sets);
    put_contributions(&json, report);
    put_sensitive(&json, report);
    put_population(&json, report);
    put_attack(&json, report);
    kn_json_end(&json);
    return kn_json_finish(out, &json, err);
}
