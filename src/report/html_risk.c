/* Class sizes and risk, before and after; without a release, of the table as it is. */
#include "report/html_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RISKIEST 10

/* --- Class sizes -------------------------------------------------------------------------------------------------- */

/* One row of the histogram: the same range of sizes before and after. */
typedef struct size_row {
    kn_size_bin before, after;
    words name;
} size_row;

static void rows_add(size_row *rows, size_t *n, const kn_risk_sizes *sizes, bool after)
{
    for (size_t b = 0; b < sizes->n_bins; b++) {
        const kn_size_bin *bin = &sizes->bins[b];
        size_t at = *n;
        while (at > 0 && rows[at - 1].before.from >= bin->from) at--;
        if (at == *n || rows[at].before.from != bin->from) {
            for (size_t i = *n; i > at; i--) rows[i] = rows[i - 1];
            rows[at] = (size_row){.before = {bin->from, bin->to, 0, 0}, .after = {bin->from, bin->to, 0, 0}};
            ++*n;
        }
        *(after ? &rows[at].after : &rows[at].before) = *bin;
    }
}

static void sizes_table(page *to, const size_row *rows, size_t n, bool both)
{
    static const kn_text headings[] = {KN_TEXT_SIZE, KN_TEXT_CLASSES_BEFORE, KN_TEXT_PERSONS_BEFORE,
                                       KN_TEXT_CLASSES_AFTER, KN_TEXT_PERSONS_AFTER};
    static const kn_text headings_alone[] = {KN_TEXT_SIZE, KN_TEXT_CLASSES, KN_TEXT_PERSONS};
    page_details(to);
    page_table(to, KN_TEXT_SIZES, NULL, NULL);
    page_head(to, both ? headings : headings_alone, both ? 5 : 3, 1);
    for (size_t i = 0; i < n; i++) {
        page_row(to);
        page_th(to, rows[i].name.text);
        page_td_figure(to, page_count(to, rows[i].before.n_classes).text);
        page_td_figure(to, page_count(to, rows[i].before.n_persons).text);
        if (both) page_td_figure(to, page_count(to, rows[i].after.n_classes).text);
        if (both) page_td_figure(to, page_count(to, rows[i].after.n_persons).text);
        page_row_end(to);
    }
    page_table_end(to);
    page_details_end(to);
}

static words share_text(const page *to, uint64_t n, uint64_t of)
{
    return page_percent(to, of > 0 ? (double)n / (double)of : 0);
}

kn_status part_sizes(page *to, const kn_report *report, kn_error *err)
{
    enum { MOST = 2 * KN_MAX_SIZE_BINS };
    kn_status status = KN_OK;
    size_row *rows = NULL;
    size_t n = 0;
    const char *labels[MOST];
    double values[2][MOST];
    words shown[2][MOST];
    bool both = report->facts->release != NULL;
    KN_NEW(rows, MOST);
    rows_add(rows, &n, &report->before, false);
    rows_add(rows, &n, &report->after, true);
    page_section(to, "sizes", KN_TEXT_SIZES);
    page_say(to, "p", both ? KN_TEXT_SIZES_TEXT : KN_TEXT_SIZES_TEXT_ALONE, NULL, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        words from = page_count(to, rows[i].before.from), until = page_count(to, rows[i].before.to);
        if (rows[i].before.from == rows[i].before.to) rows[i].name = from;
        else snprintf(rows[i].name.text, sizeof rows[i].name.text, "%.26s–%.26s", from.text, until.text);
        labels[i] = rows[i].name.text;
        values[0][i] = (double)rows[i].before.n_persons / fmax(1, (double)report->before.n_persons);
        values[1][i] = (double)rows[i].after.n_persons / fmax(1, (double)report->after.n_persons);
        shown[0][i] = share_text(to, rows[i].before.n_persons, report->before.n_persons);
        shown[1][i] = share_text(to, rows[i].after.n_persons, report->after.n_persons);
    }
    page_bars bars = {.title = KN_TEXT_SIZES_TITLE,
                      .desc = both ? KN_TEXT_SIZES_DESC : KN_TEXT_SIZES_DESC_ALONE,
                      .n = n,
                      .n_series = both ? 2 : 1,
                      .series = {KN_TEXT_BEFORE, KN_TEXT_AFTER},
                      .labels = labels,
                      .values = {values[0], values[1]},
                      .shown = {shown[0], shown[1]}};
    page_say(to, "h3", KN_TEXT_SIZES_TITLE, NULL, NULL, NULL);
    page_draw_bars(to, &bars);
    sizes_table(to, rows, n, both);
    if (report->facts->tuples->row_person != NULL) page_say(to, "p", KN_TEXT_SIZES_ONCE, NULL, NULL, NULL);
    page_figure_end(to);
    page_section_end(to);
done:
    kn_free(rows);
    return status;
}

/* --- Attackers ---------------------------------------------------------------------------------------------------- */

enum { N_FIGURES = 7, N_WITHOUT_JOURNALIST = 4 };

static void figures_of(double out[N_FIGURES], const kn_risk_sizes *sizes)
{
    const double figures[N_FIGURES] = {sizes->prosecutor.highest, sizes->prosecutor.average, sizes->prosecutor.lowest,
                                       sizes->marketer,           sizes->journalist.highest, sizes->journalist.average,
                                       sizes->journalist.lowest};
    memcpy(out, figures, sizeof figures);
}

static bool knows_population(const kn_report *report) { return report->fraction > 0 || report->populations != NULL; }

static void count_row(page *to, const char *name, const kn_report *report, uint64_t before, uint64_t after)
{
    const kn_risk_sizes *sizes[] = {&report->before, &report->after};
    const uint64_t counts[] = {before, after};
    page_row(to);
    page_th(to, name);
    for (int i = 0; i < (report->facts->release != NULL ? 2 : 1); i++) {
        words count = page_count(to, counts[i]), share = share_text(to, counts[i], sizes[i]->n_persons);
        char text[140];
        snprintf(text, sizeof text, "%s (%s)", count.text, share.text);
        page_td_figure(to, text);
    }
    page_row_end(to);
}

static void formatted(char *out, size_t n_bytes, const page *to, kn_text text, const char *a, const char *b)
{
    snprintf(out, n_bytes, page_text(to, text), a, b);
}

static void attackers(page *to, const kn_report *report)
{
    static const kn_text names[N_FIGURES] = {
        KN_TEXT_PROSECUTOR_HIGHEST, KN_TEXT_PROSECUTOR_AVERAGE, KN_TEXT_PROSECUTOR_LOWEST, KN_TEXT_MARKETER,
        KN_TEXT_JOURNALIST_HIGHEST, KN_TEXT_JOURNALIST_AVERAGE, KN_TEXT_JOURNALIST_LOWEST};
    const int n_figures = knows_population(report) ? N_FIGURES : N_WITHOUT_JOURNALIST;
    static const kn_text headings[] = {KN_TEXT_FIGURE_OF, KN_TEXT_BEFORE, KN_TEXT_AFTER};
    static const kn_text headings_alone[] = {KN_TEXT_FIGURE_OF, KN_TEXT_VALUE};
    bool both = report->facts->release != NULL;
    double values[2][N_FIGURES];
    words shown[2][N_FIGURES];
    const char *labels[N_FIGURES];
    char above[200];
    figures_of(values[0], &report->before);
    figures_of(values[1], &report->after);
    for (int i = 0; i < N_FIGURES; i++) {
        labels[i] = page_text(to, names[i]);
        for (int s = 0; s < 2; s++) shown[s][i] = page_percent(to, values[s][i]);
    }
    page_bars bars = {.title = both ? KN_TEXT_RISK_TITLE : KN_TEXT_RISK_ALONE,
                      .desc = both ? KN_TEXT_RISK_DESC : KN_TEXT_RISK_DESC_ALONE,
                      .n = (size_t)n_figures,
                      .n_series = both ? 2 : 1,
                      .series = {KN_TEXT_BEFORE, KN_TEXT_AFTER},
                      .labels = labels,
                      .values = {values[0], values[1]},
                      .shown = {shown[0], shown[1]}};
    page_draw_bars(to, &bars);
    page_figure_end(to);
    page_table(to, KN_TEXT_RISK_CAPTION, NULL, NULL);
    page_head(to, both ? headings : headings_alone, both ? 3 : 2, 1);
    for (int i = 0; i < n_figures; i++) {
        page_row(to);
        page_th(to, labels[i]);
        for (int s = 0; s < (both ? 2 : 1); s++) page_td_figure(to, shown[s][i].text);
        page_row_end(to);
    }
    formatted(above, sizeof above, to, KN_TEXT_ABOVE, page_count(to, kn_risk_smallest_accepted(report->threshold)).text,
              page_number(to, report->threshold).text);
    count_row(to, above, report, report->before.n_above, report->after.n_above);
    count_row(to, page_text(to, KN_TEXT_UNIQUE), report, report->before.n_unique, report->after.n_unique);
    page_table_end(to);
}

/* --- Disclosure, column sets, population -------------------------------------------------------------------------- */

/* A table cell: one figure of one side. */
static void disclosure_cell(page *to, kn_text what, const kn_disclosure *of)
{
    words shown = page_number(to, NAN);
    char text[140];
    const bool is_attack = what == KN_TEXT_ONE_VALUE || what == KN_TEXT_TWO_VALUES || what == KN_TEXT_SIMILAR_VALUES;
    if (of != NULL && what == KN_TEXT_CERTAIN) shown = page_count(to, of->n_certain);
    if (of != NULL && what == KN_TEXT_SHIFT) shown = page_percent(to, of->largest_shift);
    if (of != NULL && what == KN_TEXT_SHIFT_AVERAGE) shown = page_percent(to, of->average_shift);
    if (of == NULL || !is_attack) {
        page_td_figure(to, shown.text);
        return;
    }
    const uint64_t n = what == KN_TEXT_ONE_VALUE    ? of->n_one_value
                       : what == KN_TEXT_TWO_VALUES ? of->n_two_values
                                                    : of->n_similar;
    formatted(text, sizeof text, to, KN_TEXT_OF_CLASSES, page_count(to, n).text, page_count(to, of->n_classes).text);
    page_td_figure(to, text);
}

static void disclosure_row(page *to, const char *column, kn_text what, const kn_disclosure *before,
                           const kn_disclosure *after, bool both)
{
    const kn_disclosure *sides[] = {before, after};
    page_row(to);
    page_th(to, column);
    page_td(to, page_text(to, what));
    for (int i = 0; i < (both ? 2 : 1); i++) disclosure_cell(to, what, sides[i]);
    page_row_end(to);
}

static void disclosure(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_COLUMN, KN_TEXT_FIGURE_OF, KN_TEXT_BEFORE, KN_TEXT_AFTER};
    static const kn_text headings_alone[] = {KN_TEXT_COLUMN, KN_TEXT_FIGURE_OF, KN_TEXT_VALUE};
    static const kn_text what[] = {KN_TEXT_CERTAIN,        KN_TEXT_ONE_VALUE, KN_TEXT_TWO_VALUES,
                                   KN_TEXT_SIMILAR_VALUES, KN_TEXT_SHIFT,     KN_TEXT_SHIFT_AVERAGE};
    const kn_tuples *tuples = report->facts->tuples;
    const kn_disclosure *before = report->disclosure_before, *after = report->disclosure_after;
    bool both = report->facts->release != NULL;
    if (tuples->n_table_sensitive == 0 || (before == NULL && after == NULL)) return;
    page_table(to, KN_TEXT_DISCLOSURE_CAPTION, NULL, NULL);
    page_head(to, both ? headings : headings_alone, both ? 4 : 3, 2);
    for (uint32_t s = 0; s < tuples->n_table_sensitive; s++)
        for (size_t i = 0; i < sizeof what / sizeof *what; i++)
            disclosure_row(to, tuples->sensitive[s].column->name, what[i], before != NULL ? &before[s] : NULL,
                           after != NULL ? &after[s] : NULL, both);
    page_table_end(to);
}

static void column_sets(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_COLUMNS, KN_TEXT_SINGLED_OUT, KN_TEXT_MINIMAL};
    const kn_tuples *tuples = report->facts->tuples;
    size_t top[RISKIEST];
    size_t n = kn_column_risk_top(top, RISKIEST, report->sets, report->sets->max_size);
    page_say(to, "p", KN_TEXT_SETS_TEXT, page_count(to, report->sets->max_size).text,
             page_count(to, report->sets->n_with_minimal).text, NULL);
    if (n == 0) return;
    page_table(to, KN_TEXT_SETS_CAPTION, NULL, NULL);
    page_head(to, headings, 3, 1);
    for (size_t i = 0; i < n; i++) {
        const kn_column_set *set = &report->sets->sets[top[i]];
        bool first = true;
        page_row(to);
        page_raw(to, "<th scope=\"row\" class=\"t\">");
        for (uint32_t q = 0; q < tuples->n_qis; q++) {
            if (!(set->columns >> q & 1)) continue;
            if (!first) page_raw(to, ", ");
            page_user(to, tuples->domains[q]->name);
            first = false;
        }
        page_raw(to, "</th>");
        page_td_figure(to, page_count(to, set->n_unique).text);
        page_td_figure(to, page_count(to, set->n_minimal).text);
        page_row_end(to);
    }
    page_table_end(to);
}

static void estimate(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_ESTIMATOR, KN_TEXT_RESULT, KN_TEXT_ESTIMATE};
    if (!report->has_estimate) return;
    page_table(to, KN_TEXT_ESTIMATE_CAPTION, page_count(to, (uint64_t)llround(report->estimate.population)).text,
               page_number(to, report->estimate.fraction).text);
    page_head(to, headings, 3, 2);
    for (int e = 0; e < KN_N_ESTIMATORS; e++) {
        double n = report->estimate.n_unique[e];
        page_row(to);
        page_th(to, kn_estimator_name((kn_estimator)e));
        page_td(to, (int)report->estimate.chosen == e ? page_text(to, KN_TEXT_CHOSEN) : "");
        page_td_figure(to, isnan(n) ? page_text(to, KN_TEXT_NO_SOLUTION) : page_count(to, (uint64_t)llround(n)).text);
        page_row_end(to);
    }
    page_table_end(to);
}

static void attack(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_FIGURE_OF, KN_TEXT_PERSONS};
    const kn_attack_result *found = report->attack;
    const kn_table *table = report->facts->table;
    char fewer[200];
    if (found == NULL) return;
    formatted(fewer, sizeof fewer, to, KN_TEXT_ATTACK_FEWER, page_count(to, report->attack_k).text, "");
    const struct {
        const char *name;
        uint64_t n;
    } rows[] = {{page_text(to, KN_TEXT_ATTACK_PERSONS), found->n_persons},
                {page_text(to, KN_TEXT_ATTACK_NOT_FOUND), found->n_not_found},
                {fewer, found->n_fewer_than_k},
                {page_text(to, KN_TEXT_ATTACK_UNIQUE), found->n_unique}};
    page_say(to, "p", KN_TEXT_ATTACK_TEXT, report->attack_name, NULL, NULL);
    page_table(to, KN_TEXT_ATTACK_CAPTION, NULL, NULL);
    page_head(to, headings, 2, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        page_row(to);
        page_th(to, rows[i].name);
        page_td_figure(to, page_count(to, rows[i].n).text);
        page_row_end(to);
    }
    for (uint32_t c = 0, s = 0; c < table->n_columns; c++) {
        if (table->columns[c].role != KN_ROLE_SENSITIVE) continue;
        page_row(to);
        page_raw(to, "<th scope=\"row\" class=\"t\">");
        page_escaped(to, page_text(to, KN_TEXT_CERTAIN));
        page_raw(to, ": ");
        page_user(to, table->columns[c].name);
        page_raw(to, "</th>");
        page_td_figure(to, page_count(to, found->n_disclosed[s++]).text);
        page_row_end(to);
    }
    page_table_end(to);
}

void part_risk(page *to, const kn_report *report)
{
    page_section(to, "risk", report->facts->release != NULL ? KN_TEXT_RISK : KN_TEXT_RISK_ALONE);
    page_say(to, "p", KN_TEXT_RISK_TEXT, NULL, NULL, NULL);
    if (!knows_population(report)) page_say(to, "p", KN_TEXT_RISK_JOURNALIST_SAME, NULL, NULL, NULL);
    attackers(to, report);
    disclosure(to, report);
    estimate(to, report);
    attack(to, report);
    page_section_end(to);
}

void part_sets(page *to, const kn_report *report)
{
    if (report->sets == NULL) return;
    page_section(to, "sets", report->facts->release != NULL ? KN_TEXT_SETS : KN_TEXT_SETS_ALONE);
    column_sets(to, report);
    page_section_end(to);
}

/* One table has no release to judge: what it would tell as it is. */
static void risk_verdict(page *to, const kn_report *report)
{
    const kn_risk_sizes *sizes = &report->before;
    words n = page_count(to, sizes->n_persons), wanted = page_count(to, kn_risk_smallest_accepted(report->threshold));
    page_section(to, "short", KN_TEXT_SHORT);
    if (sizes->n_persons == 0) page_say(to, "p class=\"verdict broken\"", KN_TEXT_RISK_NOBODY, NULL, NULL, NULL);
    if (sizes->n_unique > 0)
        page_say(to, "p class=\"verdict broken\"", KN_TEXT_RISK_SINGLED, page_count(to, sizes->n_unique).text, n.text,
                 NULL);
    if (sizes->n_above > 0)
        page_say(to, "p class=\"verdict broken\"", KN_TEXT_RISK_SMALL, page_count(to, sizes->n_above).text, n.text,
                 wanted.text);
    else if (sizes->n_persons > 0)
        page_say(to, "p class=\"verdict\"", KN_TEXT_RISK_HIDDEN, page_count(to, sizes->smallest).text, wanted.text,
                 NULL);
    part_origin(to, &report->origin, NULL, NULL);
    page_section_end(to);
}

kn_status kn_report_risk_html(char **out, const kn_report *report, kn_error *err)
{
    kn_status status = KN_OK;
    page to = {.language = report->language, .unit = kn_facts_unit(report->facts)};
    *out = NULL;
    page_open(&to, KN_TEXT_RISK_REPORT, KN_TEXT_RISK_SUBTITLE, report->facts->data_name);
    risk_verdict(&to, report);
    KN_TRY(part_sizes(&to, report, err));
    part_risk(&to, report);
    part_sets(&to, report);
    part_limits(&to, report);
    page_close(&to);
    KN_TRY(kn_buffer_finish(out, &to.out, err));
done:
    kn_buffer_free(&to.out);
    return status;
}
