/* Means, distributions and crosstabs of the table before and after, for the appendix of the report.
 *
 * After: a cell counts evenly for all values that it may be, as somebody would guess who knows no more; cells that may
 * be any value are left out. The report may be shown to others, so that what is said of the table before is said of
 * groups only: every category has at least k persons, in crosstabs every cell, otherwise categories are merged until
 * they have, or there is no picture; categories at either end are open; a mean is rounded to steps that k persons
 * together can move it by. A text is named only where the release names it, alone or in a set; with --redact none is.
 */
#include "report/html_parts.h"

#include "base/characters.h"
#include "table/dates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ACROSS = 5, /* columns of a crosstab */
    MOST_CATEGORIES = 7,
    OTHERS = MOST_CATEGORIES,
    N_CATEGORIES,
    NOWHERE = 255,
    MOST_COLUMNS = 12,
    LABEL_BYTES = 80
};

#define MOST_OTHERS 0.75 /* of the persons */

/* A column as rows have it: a value each. */
typedef struct series {
    const char *name;
    kn_type type;
    const kn_column *column;
    const kn_domain *domain; /* NULL: copied */
    uint32_t q, n_values, missing;
    uint32_t *row_value; /* [row] */
    double *number;      /* [value]: the number, of a date its year; NAN: none */
    uint32_t *spelling;  /* [value]: one of it; KN_NONE: no row has it */
} series;

/* Values in categories. */
typedef struct axis {
    size_t n;
    char labels[N_CATEGORIES][LABEL_BYTES];
    uint8_t *of_value; /* [value] */
} axis;

static void series_free(series *all)
{
    kn_free(all->row_value);
    kn_free(all->number);
    kn_free(all->spelling);
}

static double plain_number(const kn_column *column, uint32_t value)
{
    const double number = column->number[value];
    return column->type == KN_TYPE_DATE && isfinite(number) ? kn_date_of_number(number).year : number;
}

static kn_status series_make(series *out, const kn_report *report, const kn_column *column, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = report->facts->tuples;
    const kn_domain *domain = q != KN_NONE ? tuples->domains[q] : NULL;
    const bool has_numbers = column->type != KN_TYPE_TEXT;
    *out = (series){.name = column->name, .type = column->type, .column = column, .domain = domain, .q = q};
    out->n_values = domain != NULL ? domain->n_codes : column->n_values;
    out->missing = domain != NULL ? domain->missing : column->has_missing ? column->n_values - 1 : KN_NONE;
    KN_NEW(out->row_value, tuples->n_rows + (size_t)1);
    KN_NEW(out->number, out->n_values + (size_t)1);
    KN_NEW(out->spelling, out->n_values + (size_t)1);
    for (uint32_t v = 0; v < out->n_values; v++) {
        out->spelling[v] = domain != NULL ? domain->spelling_of_code[v] : KN_NONE;
        out->number[v] = NAN;
    }
    for (uint32_t s = column->n_spellings; s-- > 0;) {
        const uint32_t v = domain != NULL ? domain->code_of_spelling[s] : kn_column_value(column, s);
        out->spelling[v] = s;
        if (has_numbers && v != out->missing) out->number[v] = plain_number(column, kn_column_value(column, s));
    }
    for (uint32_t row = 0; row < tuples->n_rows; row++)
        out->row_value[row] = domain != NULL ? tuples->codes[q][tuples->row_tuple[row]]
                                             : kn_column_value(column, kn_column_code(column, row));
done:
    return status;
}

/* --- Categories -----------------------------------------------------------------------------------------------------
 */

/* Persons of each category, or of each pair of them (`second` NULL: of one column). */
static kn_status count_persons(uint32_t *counts, const kn_tuples *tuples, const series *first, const axis *a,
                               const series *second, const axis *b, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *seen = NULL;
    memset(counts, 0, N_CATEGORIES * N_CATEGORIES * sizeof *counts);
    KN_NEW(seen, tuples->n_persons + (size_t)1);
    for (uint32_t row = 0; row < tuples->n_rows; row++) {
        const uint8_t i = a->of_value[first->row_value[row]];
        const uint8_t j = second != NULL ? b->of_value[second->row_value[row]] : 0;
        const uint32_t person = tuples->row_person != NULL ? tuples->row_person[row] : row;
        if (i == NOWHERE || j == NOWHERE) continue;
        const unsigned at = (unsigned)i * N_CATEGORIES + j;
        counts[at] += (seen[person] >> at & 1) == 0;
        seen[person] |= UINT64_C(1) << at;
    }
done:
    kn_free(seen);
    return status;
}

/* 1, 2 or 5 times a power of ten, at least x. */
static double round_step(double x)
{
    const double power = pow(10, floor(log10(x)));
    return x <= power * 1.000001 ? power : x <= 2 * power ? 2 * power : x <= 5 * power ? 5 * power : 10 * power;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Round edges between the 5th and the 95th of 100 rows. */
static kn_status edges_make(double *edges, size_t *n_edges, const series *all, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    double *numbers = NULL;
    size_t n = 0;
    *n_edges = 0;
    KN_NEW(numbers, n_rows + (size_t)1);
    for (uint32_t row = 0; row < n_rows; row++)
        if (isfinite(all->number[all->row_value[row]])) numbers[n++] = all->number[all->row_value[row]];
    if (n < 2) goto done;
    qsort(numbers, n, sizeof *numbers, by_size);
    const double low = numbers[n / 20], high = numbers[n - 1 - n / 20];
    if (!(high > low)) goto done;
    double step = round_step((high - low) / (MOST_CATEGORIES - 2));
    if (all->type != KN_TYPE_DECIMAL && step < 1) step = 1;
    for (double edge = ceil(low / step) * step; edge <= high && *n_edges < MOST_CATEGORIES - 1; edge += step)
        if (edge > numbers[0]) edges[(*n_edges)++] = edge;
done:
    kn_free(numbers);
    return status;
}

static void axis_of_edges(axis *out, const series *all, const double *edges, size_t n_edges)
{
    const bool whole = all->type != KN_TYPE_DECIMAL;
    out->n = n_edges + 1;
    for (uint32_t v = 0; v < all->n_values; v++) {
        uint8_t category = 0;
        while (category < n_edges && all->number[v] >= edges[category]) category++;
        out->of_value[v] = isfinite(all->number[v]) ? category : NOWHERE;
    }
    for (size_t i = 0; i <= n_edges; i++) {
        char *label = out->labels[i];
        const double low = i > 0 ? edges[i - 1] : 0, high = i < n_edges ? edges[i] : 0;
        if (i == 0) snprintf(label, LABEL_BYTES, "< %.12g", high);
        else if (i == n_edges) snprintf(label, LABEL_BYTES, "≥ %.12g", low);
        else if (!whole) snprintf(label, LABEL_BYTES, "%.12g – < %.12g", low, high);
        else if (low == high - 1) snprintf(label, LABEL_BYTES, "%.12g", low);
        else snprintf(label, LABEL_BYTES, "%.12g – %.12g", low, high - 1);
    }
}

/* Edges go until every category has enough persons. */
static kn_status axis_of_numbers(axis *out, const series *all, const kn_tuples *tuples, uint64_t least, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t counts[N_CATEGORIES * N_CATEGORIES];
    double edges[MOST_CATEGORIES];
    size_t n_edges;
    KN_TRY(edges_make(edges, &n_edges, all, (uint32_t)tuples->n_rows, err));
    for (;;) {
        size_t few = 0;
        axis_of_edges(out, all, edges, n_edges);
        KN_TRY(count_persons(counts, tuples, all, out, NULL, NULL, err));
        while (few <= n_edges && counts[few * N_CATEGORIES] >= least) few++;
        if (few > n_edges || n_edges == 0) break;
        const size_t gone = few == n_edges ? few - 1 : few;
        for (size_t i = gone; i + 1 < n_edges; i++) edges[i] = edges[i + 1];
        n_edges--;
    }
done:
    return status;
}

static void label_of(char label[LABEL_BYTES], const series *all, uint32_t value)
{
    enum { SHOWN = LABEL_BYTES - sizeof KN_ELLIPSIS }; /* as much as a picture has room for */
    size_t n = 0;
    const char *bytes = value != all->missing ? kn_column_bytes(all->column, all->spelling[value], &n) : "";
    const size_t shown = kn_text_cut(bytes, n, SHOWN);
    if (n == 0) snprintf(label, LABEL_BYTES, "–");
    else snprintf(label, LABEL_BYTES, "%.*s%s", (int)shown, bytes, shown < n ? KN_ELLIPSIS : "");
}

/* The values that released cells name. */
static kn_status find_named(bool *named, const kn_release *release, const series *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    for (uint32_t row = 0; all->domain == NULL && row < release->tuples->n_rows; row++)
        if (release->row_class[row] != KN_NONE || release->n_removed == 0) named[all->row_value[row]] = true;
    for (uint32_t c = 0; all->domain != NULL && c < release->n_classes; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * release->tuples->n_qis + all->q];
        uint32_t n_members;
        const uint32_t *members = kn_cell_members(cell, all->domain, release->sets, &n_members);
        if (kn_cell_is_value(cell, all->domain)) named[cell->first] = true;
        else if (members != NULL) { /* or it is the name of a group */ kn_buffer_clear(&text);
            kn_cell_text(&text, cell, all->domain, release->sets);
            if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
            for (uint32_t i = 0; i < n_members && text.n > 0 && text.bytes[0] == '{'; i++) named[members[i]] = true;
        }
    }
done:
    kn_buffer_free(&text);
    return status;
}

/* The most frequent values, as many as have enough persons and leave enough, or none, to the others. */
static kn_status axis_of_words(axis *out, const series *all, const kn_report *report, uint64_t least, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = report->facts->tuples;
    uint32_t counts[N_CATEGORIES * N_CATEGORIES], chosen[MOST_CATEGORIES], *rows = NULL;
    size_t n = 0;
    bool *named = NULL;
    KN_NEW(rows, all->n_values + (size_t)1);
    KN_NEW(named, all->n_values + (size_t)1);
    KN_TRY(find_named(named, report->facts->release, all, err));
    for (uint32_t row = 0; row < tuples->n_rows; row++) rows[all->row_value[row]] += named[all->row_value[row]];
    for (; n < MOST_CATEGORIES; n++) {
        uint32_t best = KN_NONE;
        for (uint32_t v = 0; v < all->n_values; v++)
            if (rows[v] >= least && (best == KN_NONE || rows[v] > rows[best])) best = v;
        if (best == KN_NONE) break;
        chosen[n] = best;
        rows[best] = 0;
    }
    for (;; n--) {
        memset(out->of_value, (int)n, all->n_values);
        for (size_t i = 0; i < n; i++) out->of_value[chosen[i]] = (uint8_t)i;
        KN_TRY(count_persons(counts, tuples, all, out, NULL, NULL, err));
        bool enough = counts[n * N_CATEGORIES] == 0 || counts[n * N_CATEGORIES] >= least;
        for (size_t i = 0; i < n; i++) enough &= counts[i * N_CATEGORIES] >= least;
        if (enough || n == 0) break;
    }
    for (size_t i = 0; i < n; i++) label_of(out->labels[i], all, chosen[i]);
    snprintf(out->labels[n], LABEL_BYTES, "%s",
             kn_text_get(report->language, kn_facts_unit(report->facts), KN_TEXT_COMPARED_OTHERS));
    out->n = n + (counts[n * N_CATEGORIES] > 0);
    double share = n > 0 ? (double)counts[n * N_CATEGORIES] / (double)tuples->n_persons : 1;
    if (share > MOST_OTHERS) out->n = 0; /* says nothing */
done:
    kn_free(rows);
    kn_free(named);
    return status;
}

static kn_status axis_make(axis *out, const series *all, const kn_report *report, uint64_t least, kn_error *err)
{
    kn_status status = KN_OK;
    *out = (axis){0};
    KN_NEW(out->of_value, all->n_values + (size_t)1);
    if (all->type != KN_TYPE_TEXT) KN_TRY(axis_of_numbers(out, all, report->facts->tuples, least, err));
    else if (!report->redact) KN_TRY(axis_of_words(out, all, report, least, err));
done:
    return status;
}

/* --- After ----------------------------------------------------------------------------------------------------------
 */

/* How a class counts for the categories; all 0 where it tells nothing. */
static void class_weights(double weights[N_CATEGORIES], const kn_release *release, uint32_t class_index,
                          const series *all, const axis *about)
{
    const kn_cell *cell = &release->cells[(size_t)class_index * release->tuples->n_qis + all->q];
    uint32_t n_members, n = 0;
    const uint32_t *members = kn_cell_members(cell, all->domain, release->sets, &n_members);
    memset(weights, 0, N_CATEGORIES * sizeof *weights);
    if (kn_cell_size(cell, all->domain, release->sets) == all->domain->n_codes && all->domain->n_codes > 1) return;
    if (members == NULL) n_members = cell->last - cell->first + 1;
    for (uint32_t i = 0; i < n_members; i++) {
        const uint32_t value = members != NULL ? members[i] : cell->first + i;
        if (about->of_value[value] == NOWHERE) continue;
        weights[about->of_value[value]]++;
        n++;
    }
    for (int c = 0; c < N_CATEGORIES && n > 0; c++) weights[c] /= n;
}

/* The mean of what cells say, each evenly over the numbers that it may be; NAN where they say none. */
static double mean_after(const kn_release *release, const series *all)
{
    double sum = 0, n_rows = 0;
    for (uint32_t c = 0; c < release->n_classes; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * release->tuples->n_qis + all->q];
        double within = 0, n = 0;
        uint32_t n_members;
        const uint32_t *members = kn_cell_members(cell, all->domain, release->sets, &n_members);
        if (kn_cell_size(cell, all->domain, release->sets) == all->domain->n_codes && all->domain->n_codes > 1)
            continue;
        if (members == NULL) n_members = cell->last - cell->first + 1;
        for (uint32_t i = 0; i < n_members; i++) {
            const double number = all->number[members != NULL ? members[i] : cell->first + i];
            if (isfinite(number)) within += number, n++;
        }
        if (n > 0) sum += within / n * (double)release->class_rows[c], n_rows += (double)release->class_rows[c];
    }
    return n_rows > 0 ? sum / n_rows : NAN;
}

/* Both means, in steps that `least` persons together can move them by, the spread being what it is. */
static bool means(double out[2], const kn_report *report, const series *all, uint64_t least)
{
    const uint32_t n_rows = (uint32_t)report->facts->tuples->n_rows;
    double sum = 0, n = 0, low = INFINITY, high = -INFINITY;
    for (uint32_t row = 0; row < n_rows; row++) {
        const double number = all->number[all->row_value[row]];
        if (!isfinite(number)) continue;
        sum += number, n++;
        low = fmin(low, number), high = fmax(high, number);
    }
    if (n < (double)least || !(high > low)) return false;
    const double step = round_step((high - low) * (double)least / n);
    out[0] = round(sum / n / step) * step;
    out[1] = round(mean_after(report->facts->release, all) / step) * step;
    return isfinite(out[1]);
}

/* False: no cell of the column tells anything any more. */
static bool shares(double before[N_CATEGORIES], double after[N_CATEGORIES], const kn_report *report, const series *all,
                   const axis *about)
{
    const kn_release *release = report->facts->release;
    double n_before = 0, n_after = 0;
    memset(before, 0, N_CATEGORIES * sizeof *before);
    memset(after, 0, N_CATEGORIES * sizeof *after);
    for (uint32_t row = 0; row < release->tuples->n_rows; row++) {
        const uint8_t i = about->of_value[all->row_value[row]];
        if (i != NOWHERE) before[i]++, n_before++;
    }
    for (uint32_t c = 0; c < release->n_classes; c++) {
        double weights[N_CATEGORIES];
        class_weights(weights, release, c, all, about);
        for (size_t i = 0; i < about->n; i++) {
            after[i] += weights[i] * (double)release->class_rows[c];
            n_after += weights[i] * (double)release->class_rows[c];
        }
    }
    for (size_t i = 0; i < about->n; i++) {
        before[i] = n_before > 0 ? before[i] / n_before : 0;
        after[i] = n_after > 0 ? after[i] / n_after : 0;
    }
    return n_after > 0;
}

/* --- The page -------------------------------------------------------------------------------------------------------
 */

static words whole_percent(const page *to, double share)
{
    words shown;
    if (share > 0 && share < 0.005) snprintf(shown.text, sizeof shown.text, "<1");
    else snprintf(shown.text, sizeof shown.text, "%.0f", 100 * share);
    strcat(shown.text, to->language == KN_LANGUAGE_DE ? " %" : "%");
    return shown;
}

static void distribution(page *to, const kn_report *report, const series *all, const axis *about)
{
    static const kn_text headings[] = {KN_TEXT_VALUE, KN_TEXT_BEFORE, KN_TEXT_AFTER};
    double before[N_CATEGORIES], after[N_CATEGORIES];
    const char *labels[N_CATEGORIES];
    words shown[2][N_CATEGORIES];
    if (!shares(before, after, report, all, about)) return;
    for (size_t i = 0; i < about->n; i++) {
        labels[i] = about->labels[i];
        shown[0][i] = whole_percent(to, before[i]);
        shown[1][i] = whole_percent(to, after[i]);
    }
    const page_bars bars = {.title = KN_TEXT_COMPARED_PICTURE,
                            .desc = KN_TEXT_COMPARED_DESC,
                            .n = about->n,
                            .n_series = 2,
                            .series = {KN_TEXT_BEFORE, KN_TEXT_AFTER},
                            .labels = labels,
                            .values = {before, after},
                            .shown = {shown[0], shown[1]}};
    page_raw(to, "<h3>");
    page_escaped(to, all->name);
    page_raw(to, "</h3>\n");
    page_draw_bars(to, &bars);
    page_details(to);
    page_table(to, KN_TEXT_COMPARED_OF, all->name, NULL);
    page_head(to, headings, 3, 1);
    for (size_t i = 0; i < about->n; i++) {
        page_row(to);
        page_th(to, labels[i]);
        page_td_figure(to, shown[0][i].text);
        page_td_figure(to, shown[1][i].text);
        page_row_end(to);
    }
    page_table_end(to);
    page_details_end(to);
    page_figure_end(to);
}

/* Two columns: every cell has enough persons, or the last category of the longer side joins the one before it. */
static kn_status pairs_merge(axis *a, const series *first, axis *b, const series *second, const kn_report *report,
                             uint64_t least, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t counts[N_CATEGORIES * N_CATEGORIES];
    for (;;) {
        bool enough = b->n <= MOST_ACROSS;
        KN_TRY(count_persons(counts, report->facts->tuples, first, a, second, b, err));
        for (size_t i = 0; i < a->n; i++)
            for (size_t j = 0; j < b->n; j++) enough &= counts[i * N_CATEGORIES + j] >= least;
        if (enough || a->n < 2 || b->n < 2) break;
        axis *longer = a->n >= b->n && b->n <= MOST_ACROSS ? a : b;
        const series *all = longer == a ? first : second;
        const uint8_t last = (uint8_t)--longer->n;
        for (uint32_t v = 0; v < all->n_values; v++)
            if (longer->of_value[v] == last) longer->of_value[v] = (uint8_t)(last - 1);
        if (all->type == KN_TYPE_TEXT) {
            snprintf(longer->labels[last - 1], LABEL_BYTES, "%s",
                     kn_text_get(report->language, kn_facts_unit(report->facts), KN_TEXT_COMPARED_OTHERS));
            continue;
        }
        char *dash = strstr(longer->labels[last - 1], " – "); /* "20 – 29" becomes open */
        char label[LABEL_BYTES + 8];
        if (dash != NULL) *dash = '\0';
        snprintf(label, sizeof label, "≥ %s", longer->labels[last - 1]);
        snprintf(longer->labels[last - 1], LABEL_BYTES, "%.*s", LABEL_BYTES - 1, label);
    }
done:
    return status;
}

static bool pair_shares(double before[N_CATEGORIES][N_CATEGORIES], double after[N_CATEGORIES][N_CATEGORIES],
                        const kn_release *release, const series *first, const axis *a, const series *second,
                        const axis *b)
{
    double n_before = 0, n_after = 0;
    memset(before, 0, N_CATEGORIES * sizeof *before);
    memset(after, 0, N_CATEGORIES * sizeof *after);
    for (uint32_t row = 0; row < release->tuples->n_rows; row++) {
        double weights[N_CATEGORIES];
        const uint8_t i = a->of_value[first->row_value[row]], j = b->of_value[second->row_value[row]];
        if (j == NOWHERE) continue;
        if (i != NOWHERE) before[i][j]++, n_before++;
        if (release->row_class[row] == KN_NONE) continue;
        class_weights(weights, release, release->row_class[row], first, a);
        for (size_t c = 0; c < a->n; c++) after[c][j] += weights[c], n_after += weights[c];
    }
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++) {
            before[i][j] /= n_before > 0 ? n_before : 1;
            after[i][j] /= n_after > 0 ? n_after : 1;
        }
    return n_after > 0;
}

static void crosstab(page *to, const kn_report *report, const series *first, const axis *a, const series *second,
                     const axis *b)
{
    double before[N_CATEGORIES][N_CATEGORIES], after[N_CATEGORIES][N_CATEGORIES];
    if (!pair_shares(before, after, report->facts->release, first, a, second, b)) return;
    page_table(to, KN_TEXT_COMPARED_CROSSTAB, first->name, second->name);
    page_raw(to, "<thead><tr>");
    page_th_column(to, first->name);
    for (size_t j = 0; j < b->n; j++) {
        page_raw(to, "<th scope=\"col\" class=\"n\">");
        page_escaped(to, b->labels[j]);
        page_raw(to, "</th>");
    }
    page_raw(to, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < a->n; i++) {
        page_row(to);
        page_th(to, a->labels[i]);
        for (size_t j = 0; j < b->n; j++) {
            char text[2 * sizeof(words) + 8];
            snprintf(text, sizeof text, "%s → %s", whole_percent(to, before[i][j]).text,
                     whole_percent(to, after[i][j]).text);
            page_td_figure(to, text);
        }
        page_row_end(to);
    }
    page_table_end(to);
}

/* Every sensitive column with the quasi-identifier that lost least. */
static kn_status crosstabs(page *to, const kn_report *report, const series *columns, uint32_t n, uint64_t least,
                           kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = report->facts->tuples;
    series other = {0};
    axis a = {0}, b = {0};
    for (uint32_t s = 0; s < tuples->n_table_sensitive && s < 3; s++) {
        uint32_t best = KN_NONE;
        KN_TRY(series_make(&other, report, tuples->sensitive[s].column, KN_NONE, err));
        for (uint32_t q = 0; q < n; q++) {
            const double loss = report->facts->column_loss[q];
            if (best == KN_NONE || loss < report->facts->column_loss[best]) best = q;
        }
        if (best != KN_NONE) {
            KN_TRY(axis_make(&a, &columns[best], report, least, err));
            KN_TRY(axis_make(&b, &other, report, least, err));
            if (a.n > 1 && b.n > 1) KN_TRY(pairs_merge(&a, &columns[best], &b, &other, report, least, err));
            if (a.n > 1 && b.n > 1) crosstab(to, report, &columns[best], &a, &other, &b);
        }
        kn_free(a.of_value);
        kn_free(b.of_value);
        a = b = (axis){0};
        series_free(&other);
        other = (series){0};
    }
done:
    kn_free(a.of_value);
    kn_free(b.of_value);
    series_free(&other);
    return status;
}

static void means_table(page *to, const kn_report *report, const series *columns, uint32_t n, uint64_t least)
{
    static const kn_text headings[] = {KN_TEXT_COLUMN, KN_TEXT_BEFORE, KN_TEXT_AFTER};
    bool any = false;
    for (uint32_t q = 0; q < n; q++) {
        double both[2];
        if (columns[q].type == KN_TYPE_TEXT || !means(both, report, &columns[q], least)) continue;
        if (!any) {
            page_table(to, KN_TEXT_COMPARED_MEANS, NULL, NULL);
            page_head(to, headings, 3, 1);
        }
        any = true;
        page_row(to);
        page_th(to, columns[q].name);
        for (int i = 0; i < 2; i++) {
            const double shown = columns[q].type == KN_TYPE_DATE ? round(both[i]) : both[i]; /* of dates the year */
            page_td_figure(to, page_value(to, shown).text);
        }
        page_row_end(to);
    }
    if (any) page_table_end(to);
}

/* k of the release, at least 2. */
static uint64_t least_persons(const kn_facts *facts)
{
    uint64_t least = 2;
    for (size_t m = 0; m < facts->n_models; m++) {
        unsigned long long k;
        if (strcmp(facts->models[m].name, "k-anonymity") == 0 && facts->models[m].params != NULL &&
            sscanf(facts->models[m].params, "k=%llu", &k) == 1 && k > least)
            least = k;
    }
    return least;
}

/* A table with counts has no rows to look at: what its engine released is compared there. */
bool can_be_compared(const kn_report *report) { return report->facts->table->counts == NULL; }

kn_status part_compared(page *to, const kn_report *report, kn_error *err)
{
    kn_status status = KN_OK;
    if (!can_be_compared(report)) return KN_OK;
    const kn_tuples *tuples = report->facts->tuples;
    const uint32_t n = tuples->n_qis < MOST_COLUMNS ? tuples->n_qis : MOST_COLUMNS;
    const uint64_t least = least_persons(report->facts);
    series *columns = NULL;
    axis about = {0};
    page_section(to, "compared", KN_TEXT_COMPARED);
    page_say(to, "p", KN_TEXT_COMPARED_TEXT, page_count(to, least).text, NULL, NULL);
    if (n < tuples->n_qis)
        page_say(to, "p", KN_TEXT_COMPARED_FIRST, page_count(to, tuples->n_qis).text, page_count(to, n).text, NULL);
    KN_NEW(columns, n + (size_t)1);
    for (uint32_t q = 0; q < n; q++) KN_TRY(series_make(&columns[q], report, tuples->domains[q]->column, q, err));
    means_table(to, report, columns, n, least);
    for (uint32_t q = 0; q < n; q++) {
        KN_TRY(axis_make(&about, &columns[q], report, least, err));
        if (about.n > 1) distribution(to, report, &columns[q], &about);
        kn_free(about.of_value);
        about = (axis){0};
    }
    KN_TRY(crosstabs(to, report, columns, n, least, err));
    page_section_end(to);
done:
    kn_free(about.of_value);
    for (uint32_t q = 0; columns != NULL && q < n; q++) series_free(&columns[q]);
    kn_free(columns);
    return status;
}
