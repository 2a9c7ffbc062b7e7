/* The comparison as a terminal table, CSV, JSON, and a page with the risk-utility frontier. */
#include "report/compare.h"
#include "report/html_parts.h"

#include "base/characters.h"
#include "base/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kn_compare_frontier(kn_compare *compare)
{
    for (size_t i = 0; i < compare->n_rows; i++) {
        kn_compare_row *row = &compare->rows[i];
        row->on_frontier = row->refusal == NULL && isfinite(row->loss);
        for (size_t j = 0; j < compare->n_rows && row->on_frontier; j++) {
            const kn_compare_row *other = &compare->rows[j];
            if (other->refusal != NULL || !isfinite(other->loss)) continue;
            bool no_worse = other->loss <= row->loss && other->average_risk <= row->average_risk;
            bool better = other->loss < row->loss || other->average_risk < row->average_risk;
            row->on_frontier = !(no_worse && better); /* equal ones all are */
        }
    }
}

kn_status kn_compare_text(char **out, const kn_compare *compare, kn_error *err)
{
    kn_buffer text = {0};
    unsigned width = 9;
    for (size_t i = 0; i < compare->n_rows; i++) {
        const unsigned n = kn_text_columns(compare->rows[i].algorithm);
        if (n > width) width = n < 28 ? n : 28;
    }
    kn_buffer_printf(&text, "%-*s  %6s  %9s  %8s  %8s  %8s  %8s\n", (int)width, "algorithm", "k", compare->measure,
                     "risk", "classes", "suppr.", "seconds");
    for (size_t i = 0; i < compare->n_rows; i++) {
        const kn_compare_row *row = &compare->rows[i];
        kn_buffer_padded(&text, row->algorithm, width);
        kn_buffer_printf(&text, "  %6llu", (unsigned long long)row->k);
        if (row->refusal != NULL) kn_buffer_printf(&text, "  %s\n", row->refusal);
        else
            kn_buffer_printf(
                &text, "  %9.5g  %8s  %8s  %8s  %8s%s\n", row->loss, page_percent(&page_plain, row->average_risk).text,
                page_count(&page_plain, row->n_classes).text, page_count(&page_plain, row->n_suppressed).text,
                page_seconds(&page_plain, row->seconds).text, row->on_frontier ? " *" : "");
    }
    kn_buffer_text(&text, "* no other run is better in both loss and average risk\n");
    return kn_buffer_finish(out, &text, err);
}

kn_status kn_compare_csv(char **out, const kn_compare *compare, kn_error *err)
{
    kn_buffer text = {0};
    kn_buffer_text(&text,
                   "algorithm,k,measure,loss,average_risk,highest_risk,classes,suppressed,seconds,frontier,refusal\n");
    for (size_t i = 0; i < compare->n_rows; i++) {
        const kn_compare_row *row = &compare->rows[i];
        kn_buffer_cell(&text, row->algorithm, strlen(row->algorithm), ',');
        kn_buffer_printf(&text, ",%llu,%s,", (unsigned long long)row->k, compare->measure);
        if (row->refusal == NULL)
            kn_buffer_printf(&text, "%.15g,%.15g,%.15g,%llu,%llu,%.3f,%s,", row->loss, row->average_risk,
                             row->highest_risk, (unsigned long long)row->n_classes,
                             (unsigned long long)row->n_suppressed, row->seconds, row->on_frontier ? "yes" : "no");
        else kn_buffer_text(&text, ",,,,,,,");
        if (row->refusal != NULL) kn_buffer_cell(&text, row->refusal, strlen(row->refusal), ',');
        kn_buffer_char(&text, '\n');
    }
    return kn_buffer_finish(out, &text, err);
}

kn_status kn_compare_json(char **out, const kn_compare *compare, kn_error *err)
{
    kn_json json = {0};
    kn_json_object(&json, NULL);
    kn_json_text(&json, "version", kn_version());
    kn_json_text(&json, "measure", compare->measure);
    kn_json_array(&json, "runs");
    for (size_t i = 0; i < compare->n_rows; i++) {
        const kn_compare_row *row = &compare->rows[i];
        kn_json_object(&json, NULL);
        kn_json_text(&json, "algorithm", row->algorithm);
        kn_json_count(&json, "k", row->k);
        if (row->refusal != NULL) {
            kn_json_text(&json, "refusal", row->refusal);
        } else {
            kn_json_real(&json, "loss", row->loss);
            kn_json_real(&json, "average_risk", row->average_risk);
            kn_json_real(&json, "highest_risk", row->highest_risk);
            kn_json_count(&json, "classes", row->n_classes);
            kn_json_count(&json, "suppressed", row->n_suppressed);
            kn_json_real(&json, "seconds", row->seconds);
            kn_json_bool(&json, "frontier", row->on_frontier);
        }
        kn_json_end(&json);
    }
    kn_json_end(&json);
    kn_json_end(&json);
    return kn_json_finish(out, &json, err);
}

/* --- The page ----------------------------------------------------------------------------------------------------- */

static const kn_compare_row *const *sorted_by_loss(const kn_compare_row **rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && rows[j]->loss < rows[j - 1]->loss; j--) {
            const kn_compare_row *swap = rows[j];
            rows[j] = rows[j - 1];
            rows[j - 1] = swap;
        }
    return rows;
}

static kn_status frontier_draw(page *to, const kn_compare *compare, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_compare_row **rows = NULL;
    double *x = NULL, *y = NULL;
    bool *joined = NULL;
    char(*names)[64] = NULL;
    const char **labels = NULL;
    size_t n = 0;
    KN_NEW(rows, compare->n_rows + 1);
    KN_NEW(x, compare->n_rows + 1);
    KN_NEW(y, compare->n_rows + 1);
    KN_NEW(joined, compare->n_rows + 1);
    KN_NEW(names, compare->n_rows + 1);
    KN_NEW(labels, compare->n_rows + 1);
    for (size_t i = 0; i < compare->n_rows; i++)
        if (compare->rows[i].refusal == NULL && isfinite(compare->rows[i].loss)) rows[n++] = &compare->rows[i];
    sorted_by_loss(rows, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = rows[i]->loss;
        y[i] = rows[i]->average_risk;
        joined[i] = rows[i]->on_frontier;
        const size_t n_bytes = strlen(rows[i]->algorithm), n_shown = kn_text_cut(rows[i]->algorithm, n_bytes, 36);
        snprintf(names[i], sizeof names[i], "%.*s%s k=%llu", (int)n_shown, rows[i]->algorithm,
                 n_shown < n_bytes ? KN_ELLIPSIS : "", (unsigned long long)rows[i]->k);
        labels[i] = names[i];
    }
    page_curve curve = {.title = KN_TEXT_FRONTIER_TITLE,
                        .desc = KN_TEXT_FRONTIER_DESC,
                        .x_name = KN_TEXT_LOSS,
                        .y_name = KN_TEXT_AVERAGE_RISK,
                        .n = n,
                        .x = x,
                        .y = y,
                        .log_y = true,
                        .labels = labels,
                        .joined = joined};
    page_say(to, "p", KN_TEXT_FRONTIER_DESC, NULL, NULL, NULL);
    if (n > 0) {
        page_draw_curve(to, &curve);
        page_figure_end(to);
    }
done:
    kn_free(rows);
    kn_free(x);
    kn_free(y);
    kn_free(joined);
    kn_free(names);
    kn_free(labels);
    return status;
}

static void rows_table(page *to, const kn_compare *compare)
{
    static const kn_text headings[] = {KN_TEXT_ALGORITHM, KN_TEXT_ON_FRONTIER,     KN_TEXT_K_ASKED,
                                       KN_TEXT_LOSS,      KN_TEXT_AVERAGE_RISK,    KN_TEXT_HIGHEST_RISK,
                                       KN_TEXT_CLASSES,   KN_TEXT_ROWS_SUPPRESSED, KN_TEXT_SECONDS};
    page_table(to, KN_TEXT_RUNS_CAPTION, NULL, NULL);
    page_head(to, headings, 9, 2);
    for (size_t i = 0; i < compare->n_rows; i++) {
        const kn_compare_row *row = &compare->rows[i];
        if (row->refusal != NULL) continue;
        page_row(to);
        page_th(to, row->algorithm);
        page_td(to, page_text(to, row->on_frontier ? KN_TEXT_YES : KN_TEXT_NO));
        page_td_figure(to, page_count(to, row->k).text);
        page_td_figure(to, page_number(to, row->loss).text);
        page_td_figure(to, page_percent(to, row->average_risk).text);
        page_td_figure(to, page_percent(to, row->highest_risk).text);
        page_td_figure(to, page_count(to, row->n_classes).text);
        page_td_figure(to, page_count(to, row->n_suppressed).text);
        page_td_figure(to, page_seconds(to, row->seconds).text);
        page_row_end(to);
    }
    page_table_end(to);
}

static void refusals_table(page *to, const kn_compare *compare)
{
    static const kn_text headings[] = {KN_TEXT_ALGORITHM, KN_TEXT_K_ASKED, KN_TEXT_FINDING};
    size_t n = 0;
    for (size_t i = 0; i < compare->n_rows; i++) n += compare->rows[i].refusal != NULL;
    if (n == 0) return;
    page_table(to, KN_TEXT_REFUSALS_CAPTION, NULL, NULL);
    page_head(to, headings, 3, 3);
    for (size_t i = 0; i < compare->n_rows; i++) {
        const kn_compare_row *row = &compare->rows[i];
        if (row->refusal == NULL) continue;
        page_row(to);
        page_th(to, row->algorithm);
        page_td(to, page_count(to, row->k).text);
        page_td_english(to, row->refusal);
        page_row_end(to);
    }
    page_table_end(to);
}

kn_status kn_compare_html(char **out, const kn_compare *compare, kn_language language, kn_error *err)
{
    kn_status status = KN_OK;
    page to = {.language = language};
    *out = NULL;
    page_open(&to, KN_TEXT_COMPARE_REPORT, KN_TEXT_COMPARE_SUBTITLE, compare->data_name);
    page_section(&to, "frontier", KN_TEXT_FRONTIER_TITLE);
    part_origin(&to, &compare->origin, NULL, NULL);
    KN_TRY(frontier_draw(&to, compare, err));
    rows_table(&to, compare);
    refusals_table(&to, compare);
    page_section_end(&to);
    page_close(&to);
    KN_TRY(kn_buffer_finish(out, &to.out, err));
done:
    kn_buffer_free(&to.out);
    return status;
}
