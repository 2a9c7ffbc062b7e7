/* What was lost and why, the distance from the optimum, and some classes as they look. */
#include "report/html_parts.h"

#include "base/characters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Loss per column ---------------------------------------------------------------------------------------------- */

enum { MANY_COLUMNS = 12, MOST_BARS = 10 };

/* Then the part to sign has those that lost most, the appendix all of them. */
static bool has_many_columns(const kn_facts *facts) { return facts->tuples->n_qis > MANY_COLUMNS; }

static void columns_table(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_COLUMN,      KN_TEXT_LOSS,       KN_TEXT_UNCHANGED,
                                       KN_TEXT_GENERALIZED, KN_TEXT_SUPPRESSED, KN_TEXT_VALUES_BEFORE,
                                       KN_TEXT_VALUES_AFTER};
    const kn_tuples *tuples = report->facts->tuples;
    page_table(to, KN_TEXT_LOSS_TITLE, NULL, NULL);
    page_head(to, headings, 7, 1);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_report_column *column = &report->columns[q];
        double n = tuples->n_rows > 0 ? (double)tuples->n_rows : 1;
        page_row(to);
        page_th(to, tuples->domains[q]->name);
        page_td_figure(to, page_number(to, report->facts->column_loss[q]).text);
        page_td_figure(to, page_percent(to, (double)column->n_unchanged / n).text);
        page_td_figure(to, page_percent(to, (double)column->n_generalized / n).text);
        page_td_figure(to, page_percent(to, (double)column->n_suppressed / n).text);
        page_td_figure(to, page_count(to, column->n_values_before).text);
        page_td_figure(to, page_count(to, column->n_values_after).text);
        page_row_end(to);
    }
    page_table_end(to);
}

static void cell_shown(page *to, const kn_report *report, uint32_t q, const kn_cell *cell)
{
    enum { SHOWN = 120, MOST_LABEL = 20 };
    const kn_release *release = report->facts->release;
    kn_buffer text = {0};
    kn_cell_text(&text, cell, release->tuples->domains[q], release->sets);
    const size_t n = kn_text_cut(text.bytes, text.n, SHOWN);
    const bool is_label = n <= MOST_LABEL; /* which does not break, as sets do */
    if (n > 0) page_raw(to, is_label ? "<bdi class=\"l\">" : "<bdi>");
    const bool is_cut = n < text.n;
    if (is_cut) text.bytes[n] = '\0';
    if (n > 0) page_breaking(to, text.bytes);
    if (n > 0) page_raw(to, "</bdi>");
    if (is_cut) page_raw(to, KN_ELLIPSIS);
    if (text.n == 0) page_raw(to, "–");
    if (text.failed) to->out.failed = true;
    kn_buffer_free(&text);
}

static void costly_table(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_COLUMN, KN_TEXT_RELEASED_VALUE, KN_TEXT_SHARE_OF_LOSS, KN_TEXT_ROWS,
                                       KN_TEXT_SMALLEST_CLASS};
    if (report->n_costly == 0 || report->redact) return;
    page_say(to, "p", KN_TEXT_WHY_TEXT, NULL, NULL, NULL);
    page_table(to, KN_TEXT_WHY_CAPTION, NULL, NULL);
    page_head(to, headings, 5, 2);
    for (size_t i = 0; i < report->n_costly; i++) {
        const kn_report_value *value = &report->costly[i];
        page_row(to);
        page_th(to, report->facts->tuples->domains[value->q]->name);
        page_raw(to, "<td class=\"v\">");
        cell_shown(to, report, value->q, &value->cell);
        page_raw(to, "</td>");
        page_td_figure(to, page_percent(to, value->share).text);
        page_td_figure(to, page_count(to, value->n_rows).text);
        page_td_figure(to, page_count(to, value->smallest_class).text);
        page_row_end(to);
    }
    page_table_end(to);
}

static void measures_table(page *to, const kn_facts *facts)
{
    static const kn_text headings[] = {KN_TEXT_MEASURE, KN_TEXT_MEASURE_MEANS, KN_TEXT_VALUE};
    page_table(to, KN_TEXT_MEASURES, NULL, NULL);
    page_head(to, headings, 3, 2);
    for (size_t i = 0; i < facts->n_losses; i++) {
        if (isnan(facts->losses[i].value)) continue;
        const kn_measure *measure = kn_measure_find(facts->losses[i].name);
        page_row(to);
        page_th(to, facts->losses[i].name);
        page_td(to, kn_measure_text(to->language, measure));
        page_td_figure(to, page_number(to, facts->losses[i].value).text);
        page_row_end(to);
    }
    page_table_end(to);
}

/* The columns of the picture, by their loss where not all fit into it. */
static uint32_t columns_shown(uint32_t *out, const kn_facts *facts)
{
    const uint32_t n_qis = facts->tuples->n_qis;
    for (uint32_t q = 0; q < n_qis; q++) out[q] = q;
    if (!has_many_columns(facts)) return n_qis;
    for (uint32_t i = 0; i < MOST_BARS; i++)
        for (uint32_t j = n_qis - 1; j > i; j--)
            if (facts->column_loss[out[j]] > facts->column_loss[out[j - 1]]) {
                const uint32_t swapped = out[j];
                out[j] = out[j - 1];
                out[j - 1] = swapped;
            }
    return MOST_BARS;
}

static kn_status loss_picture(page *to, const kn_facts *facts, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = facts->tuples;
    const char **labels = NULL;
    double *values = NULL;
    words *shown = NULL;
    uint32_t *columns = NULL;
    KN_NEW(columns, tuples->n_qis + 1);
    KN_NEW(labels, tuples->n_qis + 1);
    KN_NEW(values, tuples->n_qis + 1);
    KN_NEW(shown, tuples->n_qis + 1);
    const uint32_t n = columns_shown(columns, facts);
    for (uint32_t i = 0; i < n; i++) {
        labels[i] = tuples->domains[columns[i]]->name;
        values[i] = facts->column_loss[columns[i]];
        shown[i] = page_number(to, values[i]);
    }
    const page_bars bars = {.title = KN_TEXT_LOSS_TITLE,
                            .desc = KN_TEXT_LOSS_DESC,
                            .n = n,
                            .n_series = 1,
                            .series = {KN_TEXT_LOSS},
                            .labels = labels,
                            .values = {values},
                            .shown = {shown}};
    page_draw_bars(to, &bars);
    page_figure_end(to);
done:
    kn_free(columns);
    kn_free(labels);
    kn_free(values);
    kn_free(shown);
    return status;
}

static void columns_text(page *to, const kn_report *report)
{
    const kn_release *release = report->facts->release;
    page_say(to, "p", KN_TEXT_LOST_CELLS, NULL, NULL, NULL);
    if (release->n_removed > 0)
        page_say(to, "p", KN_TEXT_LOST_REMOVED, page_count(to, release->n_removed).text, NULL, NULL);
    columns_table(to, report);
}

kn_status part_lost(page *to, const kn_report *report, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_facts *facts = report->facts;
    const uint32_t n_qis = facts->tuples->n_qis;
    page_section(to, "lost", KN_TEXT_LOST);
    const bool by_column = n_qis > 0 && isfinite(facts->column_loss[0]);
    page_say(to, "p", by_column ? KN_TEXT_LOST_TEXT : KN_TEXT_LOST_NO_COLUMNS, facts->objective->type->name, NULL,
             NULL);
    if (by_column) KN_TRY(loss_picture(to, facts, err));
    if (has_many_columns(facts))
        page_say(to, "p", by_column ? KN_TEXT_LOST_MOST : KN_TEXT_LOST_ELSEWHERE, page_count(to, n_qis).text, NULL,
                 NULL);
    else columns_text(to, report);
    page_section_end(to);
done:
    return status;
}

void part_values(page *to, const kn_report *report)
{
    page_section(to, "values", KN_TEXT_VALUES);
    if (has_many_columns(report->facts)) columns_text(to, report);
    costly_table(to, report);
    measures_table(to, report->facts);
    page_section_end(to);
}

/* --- Distance from the optimum ------------------------------------------------------------------------------------ */

static void bound_picture(page *to, const kn_facts *facts, double bound)
{
    const char *labels[] = {page_text(to, KN_TEXT_BOUND), page_text(to, KN_TEXT_THIS_RELEASE)};
    double values[] = {bound, facts->loss};
    words shown[] = {page_number(to, bound), page_number(to, facts->loss)};
    page_bars bars = {.title = KN_TEXT_BOUND_TITLE,
                      .desc = KN_TEXT_BOUND_DESC,
                      .n = 2,
                      .n_series = 1,
                      .series = {KN_TEXT_LOSS},
                      .labels = labels,
                      .values = {values},
                      .shown = {shown}};
    page_draw_bars(to, &bars);
    page_figure_end(to);
}

/* The two figures of the picture are in the sentence above it. */
static void gap_text(page *to, const kn_facts *facts, kn_text text, kn_text more, double bound, bool draw)
{
    page_say(to, "p", text, page_number(to, bound).text, page_number(to, facts->loss).text,
             page_percent(to, kn_facts_gap(facts, bound)).text);
    if (more != KN_TEXT_NONE) page_say(to, "p", more, NULL, NULL, NULL);
    if (draw) bound_picture(to, facts, bound);
}

/* What the theorem says, or why it says nothing, and what the bound makes of it. */
static void guarantee_text(page *to, const kn_facts *facts)
{
    const kn_guarantee *guarantee = &facts->guarantee;
    const double least = kn_facts_least(facts);
    words ratio = page_number(to, guarantee->ratio);
    if (guarantee->holds) {
        page_say(to, "p", KN_TEXT_THEOREM, guarantee->theorem, ratio.text, NULL);
        page_say(to, "p",
                 guarantee->optimum == KN_OPTIMUM_SUPPRESSED ? KN_TEXT_OPTIMUM_SUPPRESSED : KN_TEXT_OPTIMUM_CLASSES,
                 NULL, NULL, NULL);
    } else {
        kn_buffer text = {0};
        kn_sentence_say(&text, kn_facts_unproven(facts), kn_language_sentences(to->language));
        page_say(to, "p", KN_TEXT_THEOREM_NOT, ratio.text, guarantee->theorem, text.failed ? "" : text.bytes);
        to->out.failed |= text.failed;
        kn_buffer_free(&text);
    }
    if (least > 0 && facts->loss / least < guarantee->ratio)
        page_say(to, "p", KN_TEXT_RATIO_HERE, page_number(to, facts->loss / least).text, NULL, NULL);
}

/* What is proven of releases of this kind, then of all releases. */
static void bound_text(page *to, const kn_facts *facts)
{
    const kn_lower_bound *any = &facts->any;
    const bool own = !facts->optimal && isfinite(facts->bound);
    if (facts->optimal) page_say(to, "p", KN_TEXT_OPTIMAL, NULL, NULL, NULL);
    if (facts->guarantee.theorem != NULL) guarantee_text(to, facts);
    if (own) gap_text(to, facts, KN_TEXT_GAP, KN_TEXT_NONE, facts->bound, true);
    if (kn_is_bounded(any)) {
        const kn_text more = !any->is_certified ? KN_TEXT_QUICK_BOUND
                             : any->is_partial  ? KN_TEXT_PARTIAL_BOUND
                                                : KN_TEXT_NONE;
        gap_text(to, facts, KN_TEXT_ANY_GAP, more, any->value, !own);
    } else if (!own && !facts->optimal) {
        page_say(to, "p", KN_TEXT_NO_BOUND, NULL, NULL, NULL);
    }
}

static kn_status time_picture(page *to, const kn_trace *trace, kn_error *err)
{
    static const kn_text headings[] = {KN_TEXT_SECONDS, KN_TEXT_LOSS};
    kn_status status = KN_OK;
    double *x = NULL, *y = NULL;
    size_t n = trace->points.n, step = n > 40 ? (n + 39) / 40 : 1;
    KN_NEW(x, n);
    KN_NEW(y, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = trace->points.items[i].seconds;
        y[i] = trace->points.items[i].loss;
    }
    page_curve curve = {.title = KN_TEXT_TIME_TITLE,
                        .desc = KN_TEXT_TIME_DESC,
                        .x_name = KN_TEXT_SECONDS,
                        .y_name = KN_TEXT_LOSS,
                        .n = n,
                        .x = x,
                        .y = y};
    page_say(to, "h3", KN_TEXT_TIME_TITLE, NULL, NULL, NULL);
    page_draw_curve(to, &curve);
    page_details(to);
    page_table(to, KN_TEXT_TIME_TITLE, NULL, NULL);
    page_head(to, headings, 2, 0);
    for (size_t i = 0; i < n; i++) {
        if (i % step != 0 && i + 1 != n) continue;
        page_row(to);
        page_td_figure(to, page_number(to, x[i]).text);
        page_td_figure(to, page_number(to, y[i]).text);
        page_row_end(to);
    }
    page_table_end(to);
    page_details_end(to);
    page_figure_end(to);
done:
    kn_free(x);
    kn_free(y);
    return status;
}

void part_optimum(page *to, const kn_report *report)
{
    page_section(to, "optimum", KN_TEXT_OPTIMUM);
    bound_text(to, report->facts);
    page_section_end(to);
}

kn_status part_search(page *to, const kn_report *report, kn_error *err)
{
    static const kn_text stopped[] = {KN_TEXT_STOPPED_DONE, KN_TEXT_STOPPED_BUDGET, KN_TEXT_STOPPED_TIME,
                                      KN_TEXT_STOPPED_INTERRUPT, KN_TEXT_STOPPED_STILL};
    kn_status status = KN_OK;
    const kn_facts *facts = report->facts;
    page_section(to, "search", KN_TEXT_SEARCH);
    page_say(to, "p", stopped[facts->stopped], NULL, NULL, NULL);
    if (facts->trace != NULL && facts->trace->points.n > 1) KN_TRY(time_picture(to, facts->trace, err));
    if (report->n_nodes > 1) KN_TRY(part_lattice(to, report->nodes, report->n_nodes, err));
    page_section_end(to);
done:
    return status;
}

/* --- Classes as they look ----------------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 6 }; /* of a table that fits on paper; more become a list */

static void classes_head(page *to, const kn_tuples *tuples)
{
    page_raw(to, "<thead><tr>");
    page_say(to, "th scope=\"col\"", KN_TEXT_KIND, NULL, NULL, NULL);
    page_say(to, "th scope=\"col\" class=\"n\"", KN_TEXT_PERSONS, NULL, NULL, NULL);
    for (uint32_t q = 0; q < tuples->n_qis && tuples->n_qis <= MAX_COLUMNS; q++)
        page_th_column(to, tuples->domains[q]->name);
    if (tuples->n_qis > MAX_COLUMNS) page_say(to, "th scope=\"col\"", KN_TEXT_RELEASED_VALUE, NULL, NULL, NULL);
    page_raw(to, "</tr></thead>\n<tbody>\n");
}

static void class_cells(page *to, const kn_report *report, const kn_cell *cells)
{
    const kn_tuples *tuples = report->facts->tuples;
    const bool list = tuples->n_qis > MAX_COLUMNS;
    if (list) page_raw(to, "<td class=\"v\">");
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        page_raw(to, !list ? "<td class=\"v\">" : q > 0 ? "; " : "");
        if (list) page_user(to, tuples->domains[q]->name);
        if (list) page_raw(to, " ");
        cell_shown(to, report, q, &cells[q]);
        if (!list) page_raw(to, "</td>");
    }
    if (list) page_raw(to, "</td>");
}

void part_classes(page *to, const kn_report *report)
{
    static const kn_text kinds[] = {KN_TEXT_KIND_SMALLEST, KN_TEXT_KIND_LARGEST, KN_TEXT_KIND_COSTLIEST};
    const kn_release *release = report->facts->release;
    page_section(to, "look", KN_TEXT_LOOK);
    page_say(to, "p", report->redact ? KN_TEXT_LOOK_REDACTED : KN_TEXT_LOOK_TEXT, NULL, NULL, NULL);
    if (!report->redact) {
        page_table(to, KN_TEXT_LOOK_CAPTION, NULL, NULL);
        classes_head(to, release->tuples);
        for (size_t i = 0; i < report->n_examples; i++) {
            uint32_t c = report->examples[i].class_index;
            page_row(to);
            page_th(to, page_text(to, kinds[report->examples[i].kind]));
            page_td_figure(to, page_count(to, release->class_persons[c]).text);
            class_cells(to, report, &release->cells[(size_t)c * release->tuples->n_qis]);
            page_row_end(to);
        }
        page_table_end(to);
    }
    part_worst(to, report);
    page_section_end(to);
}
