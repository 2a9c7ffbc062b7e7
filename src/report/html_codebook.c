/* The page for whoever gets the release: see codebook.h. */
#include "report/codebook.h"

#include "base/characters.h"
#include "base/param.h"
#include "base/yaml.h"
#include "report/html_parts.h"
#include "report/page.h"
#include "report/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LABELS = 60, MOST_VALUES = 25, MOST_MEMBERS = 125 };

/* --- What released rows say -----------------------------------------------------------------------------------------
 */

/* A text of released cells, and in how many rows. */
typedef struct cell_count {
    char *text;
    uint64_t n_rows;
} cell_count;

typedef struct cell_counts {
    cell_count *items; /* sorted by text, each once */
    size_t n;
    uint64_t n_rows, n_exact, n_missing, n_stars;
    uint64_t n_untold; /* stars and others that tell nothing */
} cell_counts;

static int by_text(const void *a, const void *b)
{
    return strcmp(((const cell_count *)a)->text, ((const cell_count *)b)->text);
}

static void counts_free(cell_counts *counts)
{
    for (size_t i = 0; i < counts->n; i++) kn_free(counts->items[i].text);
    kn_free(counts->items);
}

static void counts_merge(cell_counts *counts)
{
    size_t n = 0;
    if (counts->n > 1) qsort(counts->items, counts->n, sizeof *counts->items, by_text);
    for (size_t i = 0; i < counts->n; i++) {
        if (n > 0 && strcmp(counts->items[n - 1].text, counts->items[i].text) == 0) {
            counts->items[n - 1].n_rows += counts->items[i].n_rows;
            kn_free(counts->items[i].text);
        } else counts->items[n++] = counts->items[i];
    }
    counts->n = n;
}

/* Of a generalized column: by class, as its cells are written. */
static kn_status counts_of_quasi(cell_counts *out, const kn_release *release, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = release->tuples->domains[q];
    kn_buffer text = {0};
    KN_NEW(out->items, release->n_classes + (size_t)1);
    for (uint32_t c = 0; c < release->n_classes; c++) {
        const kn_cell *cell = &release->cells[(size_t)c * release->tuples->n_qis + q];
        const uint64_t n_rows = release->class_rows[c];
        const bool is_missing =
            domain->missing != KN_NONE && cell->first == domain->missing && cell->last == cell->first;
        kn_cell_text(&text, cell, domain, release->sets);
        kn_buffer_text(&text, "");
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        const kn_told told = kn_cell_told(release, q, cell, text.bytes);
        const bool is_star = strcmp(text.bytes, "*") == 0;
        out->n_rows += n_rows;
        if (is_missing) out->n_missing += n_rows;
        else if (told == KN_TOLD_VALUE) out->n_exact += n_rows;
        if (!is_missing && told == KN_TOLD_NOTHING) out->n_untold += n_rows;
        if (!is_missing && is_star) out->n_stars += n_rows;
        if (is_missing || is_star || text.n == 0) {
            kn_buffer_clear(&text);
            continue;
        }
        KN_TRY(kn_buffer_finish(&out->items[out->n].text, &text, err));
        out->items[out->n++].n_rows = n_rows;
    }
    out->n_rows += release->n_suppressed - release->n_removed;
    out->n_stars += release->n_suppressed - release->n_removed;
    out->n_untold += release->n_suppressed - release->n_removed;
    counts_merge(out);
done:
    kn_buffer_free(&text);
    return status;
}

/* Of a copied one: by spelling, of rows that were released. */
static kn_status counts_of_copied(cell_counts *out, const kn_release *release, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL;
    KN_NEW(rows, column->n_spellings + (size_t)1);
    KN_NEW(out->items, column->n_spellings + (size_t)1);
    for (uint32_t row = 0; row < release->tuples->n_rows; row++)
        if (release->row_class[row] != KN_NONE || release->n_removed == 0) rows[kn_column_code(column, row)]++;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        const bool is_missing = column->has_missing && kn_column_value(column, s) == column->n_values - 1;
        out->n_rows += rows[s];
        if (is_missing) out->n_missing += rows[s];
        if (is_missing || rows[s] == 0) continue;
        out->n_exact += rows[s];
        out->items[out->n].text = kn_string_copy(bytes, n, err);
        if (out->items[out->n].text == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        out->items[out->n++].n_rows = rows[s]; /* in the order of their values */
    }
done:
    kn_free(rows);
    return status;
}

static uint64_t rows_with(const cell_counts *counts, const char *text)
{
    const cell_count wanted = {.text = (char *)text};
    const cell_count *found = bsearch(&wanted, counts->items, counts->n, sizeof wanted, by_text);
    return found != NULL ? found->n_rows : 0;
}

/* --- What a label means ---------------------------------------------------------------------------------------------
 */

static const char *text_of(const kn_yaml *node, const char *key)
{
    const kn_yaml *value = node != NULL && node->kind == KN_YAML_MAPPING ? kn_yaml_find(node, key) : NULL;
    if (value == NULL || value->kind != KN_YAML_SCALAR) return NULL;
    return value->is_plain && strcmp(value->text, "null") == 0 ? NULL : value->text;
}

/* Each by itself: a member may hold commas. */
static void put_members(page *to, const kn_yaml *members)
{
    const char *text = page_text(to, KN_TEXT_BOOK_ONE_OF), *behind = strstr(text, "%s");
    size_t n = 0;
    page_raw(to, "<td class=\"v\">");
    page_escape(to, text, (size_t)(behind - text));
    for (const kn_yaml *member = members->first; member != NULL; member = member->next, n++) {
        if (n >= MOST_MEMBERS) continue;
        const bool is_null = member->is_plain && member->text != NULL && strcmp(member->text, "null") == 0;
        if (n > 0) page_raw(to, ", ");
        if (is_null) page_escaped(to, page_text(to, KN_TEXT_BOOK_MISSING));
        else {
            const char *shown = member->text != NULL ? member->text : "";
            page_raw(to, kn_has_right_to_left(shown) ? "<code dir=\"auto\">" : "<code>");
            page_breaking(to, shown);
            page_raw(to, "</code>");
        }
    }
    if (n > MOST_MEMBERS) page_raw(to, ", …");
    page_escaped(to, behind + 2);
    page_raw(to, "</td>");
}

/* An end of an interval as a person writes it: JSON has 30 as 30.0. */
static words end_shown(const char *text)
{
    words shown = {""};
    size_t n = text != NULL ? strlen(text) : 0;
    if (n > 2 && strcmp(text + n - 2, ".0") == 0) n -= 2;
    if (n < sizeof shown.text && n > 0) memcpy(shown.text, text, n);
    return shown;
}

static void put_bounds(page *to, const kn_yaml *label)
{
    const char *min = text_of(label, "min"), *max = text_of(label, "max"), *included = text_of(label, "max_included");
    const words low = end_shown(min), high = end_shown(max);
    const bool has_end = included == NULL || strcmp(included, "true") == 0;
    if (min == NULL && max == NULL) page_say(to, "td", KN_TEXT_BOOK_ANY, NULL, NULL, NULL);
    else if (max == NULL) page_say(to, "td", KN_TEXT_BOOK_AND_MORE, low.text, NULL, NULL);
    else if (min == NULL)
        page_say(to, "td", has_end ? KN_TEXT_BOOK_AND_LESS : KN_TEXT_BOOK_BELOW, high.text, NULL, NULL);
    else if (strcmp(min, max) == 0) page_td_values(to, low.text);
    else page_say(to, "td", has_end ? KN_TEXT_BOOK_FROM_TO : KN_TEXT_BOOK_UP_TO, low.text, high.text, NULL);
}

static void put_meaning(page *to, const kn_yaml *label)
{
    const char *begins = text_of(label, "begins_with"), *ends = text_of(label, "ends_with"),
               *length = text_of(label, "max_length");
    const kn_yaml *members = kn_yaml_find(label, "members");
    if (text_of(label, "any") != NULL) page_say(to, "td", KN_TEXT_BOOK_ANY, NULL, NULL, NULL);
    else if (text_of(label, "max_included") != NULL) put_bounds(to, label);
    else if (members != NULL) put_members(to, members);
    else if (begins != NULL && *begins != '\0') page_say(to, "td", KN_TEXT_BOOK_BEGINS, begins, length, NULL);
    else if (ends != NULL && *ends != '\0') page_say(to, "td", KN_TEXT_BOOK_ENDS, ends, length, NULL);
    else if (length != NULL) page_say(to, "td", KN_TEXT_BOOK_ANY, NULL, NULL, NULL);
    else page_say(to, "td", KN_TEXT_BOOK_GROUP, NULL, NULL, NULL);
}

/* --- Columns --------------------------------------------------------------------------------------------------------
 */

static const kn_column *column_of(const kn_codebook *book, const kn_yaml *column, uint32_t *q)
{
    const char *name = text_of(column, "of") != NULL ? text_of(column, "of") : text_of(column, "name");
    const uint32_t c = kn_table_find(book->table, name);
    const kn_tuples *tuples = book->release->tuples;
    *q = KN_NONE;
    for (uint32_t i = 0; c != KN_NONE && i < tuples->n_qis; i++)
        if (tuples->domains[i]->column == &book->table->columns[c]) *q = i;
    return c != KN_NONE ? &book->table->columns[c] : NULL;
}

static void figures(page *to, uint64_t n_rows, uint64_t n_all)
{
    page_td_figure(to, page_count(to, n_rows).text);
    page_td_figure(to, page_percent(to, n_all > 0 ? (double)n_rows / (double)n_all : 0).text);
}

/* Begins a row. A label is one word; between the members of a set a line may break. */
static void cell_head(page *to, const char *text)
{
    enum { MOST_LABEL = 20 };
    page_raw(to, strlen(text) <= MOST_LABEL ? "<tr><th scope=\"row\" class=\"v l\">"
                                            : "<tr><th scope=\"row\" class=\"v\">");
    page_breaking(to, text);
    page_raw(to, "</th>");
}

static void special_row(page *to, kn_text cell, kn_text meaning, uint64_t n_rows, uint64_t n_all)
{
    if (n_rows == 0) return;
    page_row(to);
    page_th(to, page_text(to, cell));
    page_td(to, page_text(to, meaning));
    figures(to, n_rows, n_all);
    page_row_end(to);
}

/* An end of an interval as a number; open ones are outermost, and texts (dates) stay to be compared as such. */
static double end_number(const char *text, double open)
{
    double number;
    if (text == NULL) return open;
    return kn_param_number(&number, text) ? number : 0;
}

static int by_ends(const void *a, const void *b)
{
    const kn_yaml *x = *(const kn_yaml *const *)a, *y = *(const kn_yaml *const *)b;
    static const char *const keys[] = {"min", "max"};
    for (int k = 0; k < 2; k++) {
        const char *s = text_of(x, keys[k]), *t = text_of(y, keys[k]);
        const double open = k == 0 ? -INFINITY : INFINITY, p = end_number(s, open), q = end_number(t, open);
        if (p != q) return p < q ? -1 : 1;
        const int order = s != NULL && t != NULL ? strcmp(s, t) : 0;
        if (order != 0) return order;
    }
    return strcmp(text_of(x, "label"), text_of(y, "label"));
}

/* Intervals from the lowest to the highest, others as the schema has them. */
static kn_status labels_list(const kn_yaml ***out, size_t *n, const kn_yaml *column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_yaml *labels = kn_yaml_find(column, "labels");
    bool all_bounds = true;
    *n = 0;
    for (const kn_yaml *label = labels != NULL ? labels->first : NULL; label != NULL; label = label->next) ++*n;
    KN_NEW(*out, *n + 1);
    *n = 0;
    for (const kn_yaml *label = labels != NULL ? labels->first : NULL; label != NULL; label = label->next) {
        const char *text = text_of(label, "label");
        if (text == NULL || strcmp(text, "*") == 0) continue;
        all_bounds &= text_of(label, "max_included") != NULL;
        (*out)[(*n)++] = label;
    }
    if (all_bounds && *n > 1) qsort(*out, *n, sizeof **out, by_ends);
done:
    return status;
}

static kn_status labels_table(page *to, const kn_yaml *column, const cell_counts *counts, kn_error *err)
{
    kn_status status = KN_OK;
    static const kn_text headings[] = {KN_TEXT_BOOK_CELL, KN_TEXT_BOOK_MEANS, KN_TEXT_ROWS, KN_TEXT_BOOK_SHARE};
    const kn_yaml **labels = NULL;
    size_t n = 0;
    KN_TRY(labels_list(&labels, &n, column, err));
    page_table(to, KN_TEXT_BOOK_LABELS, text_of(column, "name"), NULL);
    page_head(to, headings, 4, 2);
    for (size_t i = 0; i < n && i < MOST_LABELS; i++) {
        const char *text = text_of(labels[i], "label");
        cell_head(to, text);
        put_meaning(to, labels[i]);
        figures(to, rows_with(counts, text), counts->n_rows);
        page_row_end(to);
    }
    uint64_t n_more = 0;
    for (size_t i = MOST_LABELS; i < n; i++) n_more += rows_with(counts, text_of(labels[i], "label"));
    if (n > MOST_LABELS) {
        page_row(to);
        page_say(to, "th scope=\"row\"", KN_TEXT_BOOK_MORE, page_count(to, n - MOST_LABELS).text, NULL, NULL);
        page_td(to, page_text(to, KN_TEXT_BOOK_MORE_MEANS));
        figures(to, n_more, counts->n_rows);
        page_row_end(to);
    }
    special_row(to, KN_TEXT_BOOK_EXACT, KN_TEXT_BOOK_EXACT_MEANS, counts->n_exact, counts->n_rows);
    special_row(to, KN_TEXT_BOOK_STAR, KN_TEXT_BOOK_ANY, counts->n_stars, counts->n_rows);
    special_row(to, KN_TEXT_BOOK_MISSING, KN_TEXT_BOOK_MISSING_MEANS, counts->n_missing, counts->n_rows);
    page_table_end(to);
done:
    kn_free(labels);
    return status;
}

static void values_table(page *to, const kn_yaml *column, const kn_column *about, const cell_counts *counts)
{
    static const kn_text headings[] = {KN_TEXT_VALUE, KN_TEXT_ROWS, KN_TEXT_BOOK_SHARE};
    if (counts->n == 0) return;
    if (counts->n > MOST_VALUES) {
        const bool is_ordered = about->type != KN_TYPE_TEXT;
        page_say(to, "p", is_ordered ? KN_TEXT_BOOK_MANY_FROM : KN_TEXT_BOOK_MANY, page_count(to, counts->n).text,
                 is_ordered ? counts->items[0].text : NULL, is_ordered ? counts->items[counts->n - 1].text : NULL);
        return;
    }
    page_table(to, KN_TEXT_BOOK_VALUES, text_of(column, "name"), NULL);
    page_head(to, headings, 3, 1);
    for (size_t i = 0; i < counts->n; i++) {
        cell_head(to, counts->items[i].text);
        figures(to, counts->items[i].n_rows, counts->n_rows);
        page_row_end(to);
    }
    if (counts->n_missing > 0) {
        page_row(to);
        page_th(to, page_text(to, KN_TEXT_BOOK_MISSING));
        figures(to, counts->n_missing, counts->n_rows);
        page_row_end(to);
    }
    page_table_end(to);
}

/* A step of numbers as it is, a unit of the calendar in words. */
static const char *step_text(const page *to, const char *grid)
{
    static const struct {
        const char *unit;
        kn_text text;
    } units[] = {{"day", KN_TEXT_BOOK_DAY},         {"week", KN_TEXT_BOOK_WEEK},         {"month", KN_TEXT_BOOK_MONTH},
                 {"quarter", KN_TEXT_BOOK_QUARTER}, {"halfyear", KN_TEXT_BOOK_HALFYEAR}, {"year", KN_TEXT_BOOK_YEAR},
                 {"5years", KN_TEXT_BOOK_5YEARS},   {"decade", KN_TEXT_BOOK_DECADE}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].unit, grid) == 0) return page_text(to, units[i].text);
    return grid;
}

/* What the settings fix for everybody. */
static void settings_text(page *to, const kn_yaml *column)
{
    static const struct {
        const char *key;
        kn_text text;
    } notes[] = {
        {"derived", KN_TEXT_BOOK_DERIVED}, {"grid", KN_TEXT_BOOK_GRID},   {"top", KN_TEXT_BOOK_TOP},
        {"bottom", KN_TEXT_BOOK_BOTTOM},   {"round", KN_TEXT_BOOK_ROUND}, {"order", KN_TEXT_BOOK_ORDER},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        const char *said = text_of(column, notes[i].key);
        if (said == NULL) continue;
        page_say(to, "p", notes[i].text, notes[i].text == KN_TEXT_BOOK_GRID ? step_text(to, said) : said, NULL, NULL);
    }
    if (text_of(column, "made_from_data") != NULL) page_say(to, "p", KN_TEXT_BOOK_MADE, NULL, NULL, NULL);
}

static kn_text holds_text(const kn_yaml *column)
{
    static const struct {
        const char *part;
        kn_text text;
    } parts[] = {{"min", KN_TEXT_BOOK_PART_MIN},
                 {"max", KN_TEXT_BOOK_PART_MAX},
                 {"kind", KN_TEXT_BOOK_PART_KIND},
                 {"mean", KN_TEXT_BOOK_PART_MEAN}};
    static const struct {
        const char *type;
        kn_text text;
    } types[] = {{"int", KN_TEXT_BOOK_INT}, {"decimal", KN_TEXT_BOOK_DECIMAL}, {"date", KN_TEXT_BOOK_DATE}};
    const char *part = text_of(column, "part"), *type = text_of(column, "original_type");
    for (size_t i = 0; part != NULL && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].part, part) == 0) return parts[i].text;
    if (type == NULL) type = text_of(column, "type");
    for (size_t i = 0; type != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].type, type) == 0) return types[i].text;
    return KN_TEXT_BOOK_TEXT;
}

static kn_status counts_of(cell_counts *out, const kn_codebook *book, const kn_yaml *column, kn_error *err)
{
    uint32_t q;
    const kn_column *about = column_of(book, column, &q);
    *out = (cell_counts){0};
    if (about == NULL || text_of(column, "part") != NULL) return KN_OK;
    return q != KN_NONE ? counts_of_quasi(out, book->release, q, err)
                        : counts_of_copied(out, book->release, about, err);
}

static kn_status overview(page *to, const kn_codebook *book, const kn_yaml *columns, kn_error *err)
{
    static const kn_text headings[] = {KN_TEXT_COLUMN, KN_TEXT_BOOK_HOLDS, KN_TEXT_BOOK_AS_RECORDED,
                                       KN_TEXT_GENERALIZED, KN_TEXT_SUPPRESSED};
    kn_status status = KN_OK;
    page_section(to, "columns", KN_TEXT_BOOK_COLUMNS);
    page_say(to, "p", KN_TEXT_BOOK_COLUMNS_TEXT, NULL, NULL, NULL);
    page_table(to, KN_TEXT_BOOK_LOST, NULL, NULL);
    page_head(to, headings, 5, 2);
    for (const kn_yaml *column = columns; column != NULL; column = column->next) {
        cell_counts counts;
        KN_TRY(counts_of(&counts, book, column, err));
        const double n = counts.n_rows > 0 ? (double)counts.n_rows : 1;
        const uint64_t n_kept = counts.n_exact + counts.n_missing;
        page_row(to);
        page_th(to, text_of(column, "name"));
        page_td_word(to, page_text(to, holds_text(column)));
        const bool is_part = text_of(column, "part") != NULL;
        page_td_figure(to, is_part ? "" : page_percent(to, (double)n_kept / n).text);
        page_td_figure(to,
                       is_part ? "" : page_percent(to, (double)(counts.n_rows - n_kept - counts.n_untold) / n).text);
        page_td_figure(to, is_part ? "" : page_percent(to, (double)counts.n_untold / n).text);
        page_row_end(to);
        counts_free(&counts);
    }
    page_table_end(to);
    page_section_end(to);
done:
    return status;
}

static kn_status column_section(page *to, const kn_codebook *book, const kn_yaml *column, unsigned number,
                                kn_error *err)
{
    kn_status status = KN_OK;
    cell_counts counts = {0};
    uint32_t q;
    const kn_column *about = column_of(book, column, &q);
    if (about == NULL || text_of(column, "part") != NULL) goto done;
    KN_TRY(counts_of(&counts, book, column, err));
    kn_buffer_printf(&to->out, "<section aria-labelledby=\"c%u\">\n<h3 id=\"c%u\">", number, number);
    page_escaped(to, about->name);
    page_raw(to, "</h3>\n");
    const bool is_changed = counts.n_exact + counts.n_missing < counts.n_rows;
    page_say(to, "p", is_changed ? KN_TEXT_BOOK_IS_QUASI : KN_TEXT_BOOK_IS_COPIED, NULL, NULL, NULL);
    settings_text(to, column);
    if (q != KN_NONE) KN_TRY(labels_table(to, column, &counts, err));
    else values_table(to, column, about, &counts);
    page_section_end(to);
done:
    counts_free(&counts);
    return status;
}

/* --- The page -------------------------------------------------------------------------------------------------------
 */

static void notation(page *to)
{
    static const struct {
        const char *cell;
        kn_text means;
    } rows[] = {
        {"34", KN_TEXT_BOOK_EXACT_MEANS}, {"30..39", KN_TEXT_BOOK_N_RANGE},     {"1.5..<2", KN_TEXT_BOOK_N_OPEN},
        {"90..", KN_TEXT_BOOK_N_TOP},     {"..17", KN_TEXT_BOOK_N_BOTTOM},      {"{a|b}", KN_TEXT_BOOK_N_SET},
        {"48***", KN_TEXT_BOOK_N_MASK},   {"2020..2024", KN_TEXT_BOOK_N_YEARS}, {"*", KN_TEXT_BOOK_ANY},
    };
    static const kn_text headings[] = {KN_TEXT_BOOK_CELL, KN_TEXT_BOOK_MEANS};
    page_section(to, "reading", KN_TEXT_BOOK_READING);
    page_table(to, KN_TEXT_BOOK_NOTATION, NULL, NULL);
    page_head(to, headings, 2, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        page_row(to);
        page_th(to, rows[i].cell);
        page_td(to, page_text(to, rows[i].means));
        page_row_end(to);
    }
    page_table_end(to);
    page_section_end(to);
}

/* The column that a model protects: it names it, or there is one sensitive column only. */
static const char *protected_column(const kn_codebook *book, const kn_model_fact *model)
{
    if (model->column != NULL) return model->column;
    for (uint32_t c = 0; c < book->table->n_columns; c++)
        if (book->table->columns[c].role == KN_ROLE_SENSITIVE) return book->table->columns[c].name;
    return "?";
}

static void promises(page *to, const kn_codebook *book)
{
    static const kn_text headings[] = {KN_TEXT_MODEL, KN_TEXT_BOOK_MEANS, KN_TEXT_PARAMETERS};
    page_table(to, KN_TEXT_BOOK_PROMISES, NULL, NULL);
    page_head(to, headings, 3, 3);
    for (size_t m = 0; m < book->n_models; m++) {
        kn_buffer text = {0};
        page_row(to);
        page_th(to, book->models[m].name);
        report_promise(&text, to, &book->models[m], protected_column(book, &book->models[m]));
        page_td_values(to, text.failed ? "" : text.bytes);
        to->out.failed |= text.failed;
        kn_buffer_free(&text);
        page_td_values(to, book->models[m].public_params != NULL ? book->models[m].public_params : "");
        page_row_end(to);
    }
    page_table_end(to);
}

static void care(page *to, const kn_codebook *book)
{
    page_section(to, "care", KN_TEXT_BOOK_CARE);
    page_raw(to, "<ul>\n");
    page_say(to, "li", KN_TEXT_BOOK_CARE_RANGES, NULL, NULL, NULL);
    page_say(to, "li", KN_TEXT_BOOK_CARE_STARS, NULL, NULL, NULL);
    if (book->is_sorted) page_say(to, "li", KN_TEXT_BOOK_CARE_ORDER, NULL, NULL, NULL);
    page_raw(to, "</ul>\n");
    page_section_end(to);
}

kn_status kn_codebook_html(char **out, const kn_codebook *book, kn_error *err)
{
    kn_status status = KN_OK;
    page to = {.language = book->language};
    kn_yaml *schema = NULL;
    unsigned n = 0;
    *out = NULL;
    KN_TRY(kn_yaml_parse(&schema, book->schema, strlen(book->schema), "the schema", err));
    const kn_yaml *list = kn_yaml_find(schema, "columns"), *columns = list != NULL ? list->first : NULL;
    for (const kn_yaml *column = columns; column != NULL; column = column->next) n++;
    page_open(&to, KN_TEXT_BOOK_TITLE, KN_TEXT_BOOK_SUBTITLE,
              book->name != NULL ? book->name : page_text(&to, KN_TEXT_THIS_RELEASE));
    page_say(&to, "p", KN_TEXT_BOOK_SIZE,
             page_count(&to, book->release->tuples->n_rows - book->release->n_removed).text, page_count(&to, n).text,
             NULL);
    page_say(&to, "p", KN_TEXT_BOOK_WHY, NULL, NULL, NULL);
    promises(&to, book);
    notation(&to);
    KN_TRY(overview(&to, book, columns, err));
    n = 0;
    for (const kn_yaml *column = columns; column != NULL; column = column->next)
        KN_TRY(column_section(&to, book, column, n++, err));
    care(&to, book);
    page_close(&to);
    KN_TRY(kn_buffer_finish(out, &to.out, err));
done:
    kn_buffer_free(&to.out);
    kn_yaml_free(schema);
    return status;
}
