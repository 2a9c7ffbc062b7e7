/* Bounds, means and grids, read again: own splitting of cells, own calendar, own multiples.
 *
 * A row's bounds say a cell as docs/cells.md writes it, and from there on the column is checked like one of labels. In
 * a release with both, the two must say the same. Numbers are compared as exact decimals, dates as days. */
#include "verify/released_bounds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const part_ends[KN_N_BOUND_PARTS] = {"_min", "_max", "_kind", "_mean"};

typedef struct words {
    const char *bytes;
    size_t n;
} words;

static bool is_word(words text, const char *word)
{
    return text.n == strlen(word) && memcmp(text.bytes, word, text.n) == 0;
}

/* Where an interval's two dots stand; those of its ends are escaped: "1." to "60" is written 1\...60. */
static size_t find_dots(words text)
{
    size_t at = 0;
    while (at + 1 < text.n && (memcmp(text.bytes + at, "..", 2) != 0 || (at > 0 && text.bytes[at - 1] == '\\'))) at++;
    return at;
}

/* --- Finding them ------------------------------------------------------------------------------------------------ */

static bool has_column(const kn_verify_request *request, const char *name)
{
    for (size_t c = 0; c < request->n_columns; c++) {
        if (strcmp(request->columns[c].name, name) != 0) continue;
        /* without the original, the columns of the release are listed, whether somebody named them or not */
        return request->original_path != NULL || request->columns[c].role != KN_ROLE_DROPPED;
    }
    return false;
}

static bool is_part_of(const kn_verify_column *column, const char *name, const char *end)
{
    const size_t n = strlen(column->name);
    return column->role == KN_ROLE_QUASI && strncmp(name, column->name, n) == 0 && strcmp(name + n, end) == 0;
}

bool kn_bounds_is_part(const kn_verify_request *request, const char *name)
{
    if (name == NULL || has_column(request, name)) return false;
    for (size_t c = 0; c < request->n_columns; c++)
        for (int part = 0; part < KN_N_BOUND_PARTS; part++)
            if (is_part_of(&request->columns[c], name, part_ends[part])) return true;
    return false;
}

static uint32_t find_part(const kn_recount *recount, uint32_t column, int part)
{
    const kn_verify_request *request = recount->request;
    for (uint32_t at = 0; at < recount->release->n_columns; at++) {
        const char *name = recount->release->columns[at].name;
        if (is_part_of(&request->columns[column], name, part_ends[part]) && !has_column(request, name)) return at;
    }
    return KN_NONE;
}

/* Whether intervals of the column hold their upper end: those of decimals on a grid do not, nor those of a hierarchy
 * that writes them so. Under one without intervals those between cut points are on a grid, unless it is exact. */
static bool has_upper_end(const kn_verify_column *column)
{
    const kn_domain *domain = column->domain;
    if (column->type != KN_TYPE_DECIMAL) return true;
    if (domain == NULL) return false;
    if (domain->kind != KN_DOMAIN_TREE) return kn_domain_grid_name(domain) == NULL;
    for (uint32_t node = domain->tree->n_leaves; node < domain->tree->n_nodes; node++) {
        words label;
        label.bytes = kn_tree_label(domain->tree, node, &label.n);
        const size_t dots = find_dots(label);
        if (label.n > 0 && label.bytes[0] == '[') return false;
        if (dots + 2 < label.n) return label.bytes[dots + 2] != '<'; /* all of them, or the column has no bounds */
    }
    return kn_part_ends_at_values(domain);
}

/* The text of a part in a row. An end that is open is empty; in memory and in Parquet it is null, which is read as the
 * first spelling of a missing cell. Other spellings of it are numbers like any other here: 99 may be where an interval
 * ends. */
static words part_text(const kn_recount *recount, const kn_released_bounds *bounds, int part, uint32_t row)
{
    const kn_sheet_column *column = &recount->release->columns[bounds->parts[part]];
    const kn_verify_request *request = recount->request;
    const bool is_csv = request->release_batches == NULL && request->release_kind == KN_FILE_CSV;
    const bool has_nulls = !is_csv && request->n_null_values > 0;
    words text;
    text.bytes = kn_text(column, kn_sheet_code(column, row), &text.n);
    if (part != KN_BOUND_KIND && has_nulls && is_word(text, request->null_values[0])) text.n = 0;
    return text;
}

/* The cell; false where the row has no bounds. */
static bool cell_of_bounds(kn_buffer *out, const kn_recount *recount, const kn_released_bounds *bounds, uint32_t row)
{
    const kn_verify_request *request = recount->request;
    const words min = part_text(recount, bounds, KN_BOUND_MIN, row),
                max = part_text(recount, bounds, KN_BOUND_MAX, row),
                kind = part_text(recount, bounds, KN_BOUND_KIND, row);
    kn_buffer_clear(out);
    if (is_word(kind, "interval")) {
        kn_buffer_append(out, min.bytes, min.n);
        kn_buffer_text(out, max.n > 0 && !has_upper_end(&request->columns[bounds->column]) ? "..<" : "..");
        kn_buffer_append(out, max.bytes, max.n);
        return min.n + max.n > 0;
    }
    if (is_word(kind, "value")) {
        kn_buffer_append(out, min.bytes, min.n);
        return min.n > 0 && min.n == max.n && memcmp(min.bytes, max.bytes, min.n) == 0;
    }
    if (is_word(kind, "suppressed")) kn_buffer_char(out, '*');
    else if (is_word(kind, "missing")) kn_buffer_text(out, request->n_null_values > 0 ? request->null_values[0] : "");
    else kn_buffer_text(out, "{no bounds");
    return min.n + max.n == 0 && (is_word(kind, "suppressed") || is_word(kind, "missing"));
}

/* A column of cells at the end of the release. */
static kn_status make_column(kn_recount *recount, kn_released_bounds *bounds, kn_error *err)
{
    kn_status status = KN_OK;
    kn_sheet *release = recount->release;
    const char *name = recount->request->columns[bounds->column].name;
    kn_buffer text = {0};
    uint32_t *codes = NULL;
    kn_sheet_column *moved = kn_array_resize(release->columns, (size_t)release->n_columns + 1, sizeof *moved, err);
    if (moved == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    release->columns = moved;
    kn_sheet_column *column = &moved[release->n_columns];
    *column = (kn_sheet_column){.stored = true};
    bounds->made = release->n_columns++;
    column->name = kn_string_copy(name, strlen(name), err);
    if (column->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_NEW_RAW(codes, kn_sheet_chunk_rows(release));
    for (uint32_t row = 0; row < release->n_rows; row++) {
        if (!cell_of_bounds(&text, recount, bounds, row) && bounds->wrong_row == KN_NONE) bounds->wrong_row = row;
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        KN_TRY(kn_text_add(&codes[row % KN_CHUNK_ROWS], column, text.bytes != NULL ? text.bytes : "", text.n, err));
        if ((row + 1) % KN_CHUNK_ROWS == 0 || row + 1 == release->n_rows)
            KN_TRY(kn_sheet_pack(column, codes, NULL, row % KN_CHUNK_ROWS + 1, err));
    }
done:
    kn_free(codes);
    kn_buffer_free(&text);
    return status;
}

kn_status kn_recount_find_bounds(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    recount->n_file_columns = recount->release->n_columns;
    if (request->no_header && request->release_batches == NULL) return KN_OK;
    KN_NEW(recount->bounds, request->n_columns);
    for (uint32_t c = 0; c < request->n_columns; c++) {
        kn_released_bounds found = {.column = c, .made = KN_NONE, .wrong_row = KN_NONE};
        if (request->columns[c].role != KN_ROLE_QUASI) continue;
        for (int part = 0; part < KN_N_BOUND_PARTS; part++) found.parts[part] = find_part(recount, c, part);
        if (found.parts[KN_BOUND_MIN] == KN_NONE || found.parts[KN_BOUND_MAX] == KN_NONE ||
            found.parts[KN_BOUND_KIND] == KN_NONE)
            continue;
        if (kn_sheet_find(recount->release, request->columns[c].name) == KN_NONE)
            KN_TRY(make_column(recount, &found, err));
        recount->bounds[recount->n_bounds++] = found;
    }
done:
    return status;
}

/* --- Cells as ends ----------------------------------------------------------------------------------------------- */

/* A cell of numbers or dates. Numbers: canonical texts; dates: days, the first one beyond as `past`. */
typedef struct ends {
    enum { ENDS_NONE, ENDS_VALUE, ENDS_INTERVAL, ENDS_ANY, ENDS_MISSING } kind;
    bool has_low, has_high, without_high;
    char low[KN_CANONICAL_BYTES], high[KN_CANONICAL_BYTES];
    double first, past, least, most; /* dates; numbers */
} ends;

static bool read_end(ends *out, const kn_reading *of_cells, words text, bool high)
{
    double number, past;
    const kn_reading of_ends = kn_reading_of_ends(of_cells), *reading = &of_ends;
    if (reading->type == KN_TYPE_DATE) {
        const kn_text_kind kind = kn_text_read(&number, NULL, reading, text.bytes, text.n);
        past = kn_text_is_day(reading, text.bytes, text.n) ? number + 1 : nextafter(number, INFINITY);
        if (kind != KN_TEXT_NUMBER && !kn_period_read(&number, &past, text.bytes, text.n)) return false;
        if (!high) out->first = number;
        else out->past = out->without_high ? number : past;
        return true;
    }
    if (kn_text_read(&number, high ? out->high : out->low, reading, text.bytes, text.n) != KN_TEXT_NUMBER) return false;
    if (high) out->most = number;
    else out->least = number;
    return true;
}

/* Of whole numbers, up to but without b is up to b - 1. */
static void close_end(ends *out, const kn_reading *reading)
{
    char text[32];
    double number;
    if (reading->type != KN_TYPE_INT || !out->without_high || fabs(out->most) > 9e15) return;
    int n = snprintf(text, sizeof text, "%.0f", out->most - 1);
    out->without_high = false;
    const kn_reading of_ends = kn_reading_of_ends(reading);
    kn_text_read(&number, out->high, &of_ends, text, (size_t)n);
    out->most = number;
}

/* An end without the escaped dot that it begins or ends with. */
static words plain_end(words end)
{
    if (end.n >= 2 && memcmp(end.bytes, "\\.", 2) == 0) end.bytes++, end.n--;
    if (end.n >= 2 && memcmp(end.bytes + end.n - 2, "\\.", 2) == 0) end.n -= 2;
    return end;
}

static ends read_cell(const kn_reading *reading, words text)
{
    ends out = {.kind = ENDS_NONE, .first = -INFINITY, .past = INFINITY, .least = -INFINITY, .most = INFINITY};
    const size_t dots = find_dots(text);
    words low = text, high = {NULL, 0};
    if (is_word(text, "*")) out.kind = ENDS_ANY;
    else if (kn_text_is_missing(reading, text.bytes, text.n)) out.kind = ENDS_MISSING;
    if (out.kind != ENDS_NONE) return out;
    const char *comma = memchr(text.bytes, ',', text.n);
    const bool old = text.n > 4 && text.bytes[0] == '[' && text.bytes[text.n - 1] == ')' && comma != NULL;
    if (old) {
        low = (words){text.bytes + 1, (size_t)(comma - text.bytes) - 1};
        high = (words){comma + 1, text.n - (size_t)(comma - text.bytes) - 2};
        out.without_high = true;
    } else if (dots + 1 < text.n) {
        low.n = dots;
        high = (words){text.bytes + dots + 2, text.n - dots - 2};
        out.without_high = high.n > 0 && high.bytes[0] == '<';
        high.bytes += out.without_high;
        high.n -= out.without_high;
        low = plain_end(low);
        high = plain_end(high);
    } else { /* a value, or a period */
        double number;
        const bool is_value = kn_text_read(&number, NULL, reading, text.bytes, text.n) == KN_TEXT_NUMBER ||
                              (reading->type == KN_TYPE_DATE && text.n == 10);
        out.has_low = out.has_high = true;
        if (read_end(&out, reading, text, false) && read_end(&out, reading, text, true))
            out.kind = is_value ? ENDS_VALUE : ENDS_INTERVAL;
        return out;
    }
    out.has_low = low.n > 0;
    out.has_high = high.n > 0;
    if (!out.has_low && !out.has_high) return out;
    if (out.has_low && !read_end(&out, reading, low, false)) return out;
    if (out.has_high && !read_end(&out, reading, high, true)) return out;
    out.kind = ENDS_INTERVAL;
    if (out.has_high) close_end(&out, reading);
    return out;
}

static bool same_ends(const kn_reading *reading, const ends *a, const ends *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind != ENDS_VALUE && a->kind != ENDS_INTERVAL) return true;
    if (reading->type == KN_TYPE_DATE) return a->first == b->first && a->past == b->past;
    if (a->has_low != b->has_low || a->has_high != b->has_high) return false;
    if (a->has_low && strcmp(a->low, b->low) != 0) return false;
    return !a->has_high || (strcmp(a->high, b->high) == 0 && a->without_high == b->without_high);
}

/* --- Grids ------------------------------------------------------------------------------------------------------- */

/* digits * 10^power of a canonical text, in units of 10^unit; false: too long to be on any grid. */
static bool scaled(int64_t *out, const char *canonical, int unit)
{
    enum { MOST_DIGITS = 18 };
    const char *e = strchr(canonical, 'e');
    *out = 0;
    if (e == NULL) return true; /* zero */
    const long n_digits = e - canonical - 1, power = atoi(e + 1);
    if (power < unit || n_digits + power - unit > MOST_DIGITS) return false;
    for (const char *at = canonical + 1; at < e; at++) *out = *out * 10 + (*at - '0');
    for (long i = unit; i < power; i++) *out *= 10;
    if (canonical[0] == '-') *out = -*out;
    return true;
}

static int power_of(const char *canonical)
{
    const char *e = strchr(canonical, 'e');
    return e != NULL ? atoi(e + 1) : 0;
}

/* A multiple of the step, or, with `add`, one less than a multiple. */
static bool on_step(const kn_reading *reading, const char *step, const char *canonical, int add)
{
    char text[KN_CANONICAL_BYTES];
    double number;
    int64_t width, value;
    if (kn_text_read(&number, text, reading, step, strlen(step)) != KN_TEXT_NUMBER || number <= 0) return false;
    int unit = power_of(text) < power_of(canonical) ? power_of(text) : power_of(canonical);
    if (add != 0 && unit > 0) unit = 0;
    if (!scaled(&width, text, unit) || !scaled(&value, canonical, unit)) return false;
    for (int i = unit; add != 0 && i < 0; i++) add *= 10;
    return (value + add) % width == 0;
}

/* The first day of the unit that a day lies in. */
static double unit_start(const char *unit, double number)
{
    int64_t day = (int64_t)floor(number), shifted = day + 719468; /* from 0000-03-01 */
    if (strcmp(unit, "day") == 0) return (double)day;
    if (strcmp(unit, "week") == 0) return (double)(day - ((day + 3) % 7 + 7) % 7);
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097, in_era = shifted - era * 146097;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * year + year / 4 - year / 100), march = (5 * in_year + 2) / 153;
    int month = (int)(march < 10 ? march + 3 : march - 9);
    year += era * 400 + (month <= 2);
    if (strcmp(unit, "quarter") == 0) month -= (month - 1) % 3;
    else if (strcmp(unit, "halfyear") == 0) month -= (month - 1) % 6;
    else if (strcmp(unit, "month") != 0) month = 1;
    if (strcmp(unit, "5years") == 0) year -= year % 5;
    if (strcmp(unit, "decade") == 0) year -= year % 10;
    if (strcmp(unit, "century") == 0) year -= year % 100;
    return (double)kn_month_start((int)year, month);
}

/* The cell is a value, or ends on the grid: of whole numbers one may hold its upper end. */
static bool on_grid(const kn_reading *reading, const char *grid, const ends *cell)
{
    if (cell->kind != ENDS_INTERVAL) return true;
    if (reading->type == KN_TYPE_DATE)
        return (!isfinite(cell->first) || unit_start(grid, cell->first) == cell->first) &&
               (!isfinite(cell->past) || unit_start(grid, cell->past) == cell->past);
    const bool is_closed = cell->has_high && !cell->without_high;
    if (is_closed && reading->type != KN_TYPE_INT) return false;
    return (!cell->has_low || on_step(reading, grid, cell->low, 0)) &&
           (!cell->has_high || on_step(reading, grid, cell->high, is_closed ? 1 : 0));
}

static int64_t floor_of_quotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }

bool kn_in_one_grid_cell(const kn_reading *reading, const char *grid, const char *a, size_t n_a, const char *b,
                         size_t n_b)
{
    char step[KN_CANONICAL_BYTES], texts[2][KN_CANONICAL_BYTES];
    double width = 0, numbers[2];
    int64_t units, scaled_numbers[2];
    if (kn_text_read(&numbers[0], texts[0], reading, a, n_a) != KN_TEXT_NUMBER ||
        kn_text_read(&numbers[1], texts[1], reading, b, n_b) != KN_TEXT_NUMBER)
        return false;
    if (reading->type == KN_TYPE_DATE) return unit_start(grid, numbers[0]) == unit_start(grid, numbers[1]);
    const kn_reading plain = {.type = KN_TYPE_DECIMAL};
    if (kn_text_read(&width, step, &plain, grid, strlen(grid)) != KN_TEXT_NUMBER || width <= 0) return false;
    int unit = power_of(step);
    for (int i = 0; i < 2; i++) unit = power_of(texts[i]) < unit ? power_of(texts[i]) : unit;
    if (scaled(&units, step, unit) && scaled(&scaled_numbers[0], texts[0], unit) &&
        scaled(&scaled_numbers[1], texts[1], unit))
        return floor_of_quotient(scaled_numbers[0], units) == floor_of_quotient(scaled_numbers[1], units);
    return floor(numbers[0] / width) == floor(numbers[1] / width);
}

static kn_piece line_of(const kn_recount *recount, uint32_t row)
{
    return kn_piece_number("%llu", (unsigned long long)kn_sheet_line(recount->release, row));
}

static uint32_t first_row_of(const kn_sheet *sheet, const kn_sheet_column *column, uint32_t code)
{
    uint32_t row = 0;
    while (row < sheet->n_rows && kn_sheet_code(column, row) != code) row++;
    return row;
}

/* What intervals end on: the column's grid, or where it matters multiples of the smallest width of its tree. A top and
 * a bottom are ends of their own, and rounding is looked at elsewhere. */
static const char *grid_of(const kn_verify_request *request, const kn_verify_column *about)
{
    const kn_domain *domain = about->domain;
    const bool is_number = about->type == KN_TYPE_INT || about->type == KN_TYPE_DECIMAL;
    if (domain == NULL) return NULL;
    if (domain->kind != KN_DOMAIN_TREE) return kn_domain_grid_name(domain);
    if (kn_domain_top(domain) != NULL || kn_domain_bottom(domain) != NULL || kn_domain_round(domain) != NULL)
        return NULL;
    if (about->grid != NULL && about->type == KN_TYPE_DATE) return about->grid;
    if (about->grid == NULL && (!request->ends_on_widths || kn_part_ends_at_values(domain))) return NULL;
    return is_number ? kn_domain_mean_grid(domain) : NULL;
}

static bool is_label(const kn_domain *domain, words text);

/* An automatic tree has intervals of its own, whatever grid was asked for: its labels, and what begins and ends where
 * some of them do. */
static bool is_of_labels(const kn_reading *reading, const kn_domain *domain, const ends *cell, words text)
{
    const kn_tree *tree = domain->tree;
    bool begins = !cell->has_low, ends_there = !cell->has_high;
    if (domain->kind != KN_DOMAIN_TREE) return false;
    if (is_label(domain, text)) return true;
    if (reading->type != KN_TYPE_DATE || cell->kind != ENDS_INTERVAL) return false;
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes && !(begins && ends_there); node++) {
        words label;
        label.bytes = kn_tree_label(tree, node, &label.n);
        const ends one = read_cell(reading, label);
        begins = begins || (one.kind == ENDS_INTERVAL && one.first == cell->first);
        ends_there = ends_there || (one.kind == ENDS_INTERVAL && one.past == cell->past);
    }
    return begins && ends_there;
}

/* Several values, where those of one cell of the grid should not be told apart. */
static bool is_list(const kn_verify_column *about, const char *grid, const ends *cell, words text)
{
    if (about->type == KN_TYPE_INT && strcmp(grid, "1") == 0) return false;
    return cell->kind == ENDS_NONE && text.n > 2 && text.bytes[0] == '{' && memchr(text.bytes, '|', text.n) != NULL;
}

kn_buffer kn_recount_describe_grid(const kn_recount *recount, uint32_t column)
{
    const char *grid = grid_of(recount->request, &recount->request->columns[column]);
    char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
    if (grid == NULL || recount->in_release[column] == KN_NONE) return (kn_buffer){0};
    const kn_sheet_column *released = &recount->release->columns[recount->in_release[column]];
    for (uint32_t i = 0; i < released->n_texts; i++) {
        words text;
        text.bytes = kn_text(released, i, &text.n);
        if (text.n > 0 && text.bytes[0] == '\'') text.bytes++, text.n--; /* a guard: no number begins so */
        const ends at = read_cell(&recount->readings[column], text);
        const bool lists = is_list(&recount->request->columns[column], grid, &at, text);
        if (!lists && on_grid(&recount->readings[column], grid, &at)) continue;
        if (is_of_labels(&recount->readings[column], recount->request->columns[column].domain, &at, text)) continue;
        return KN_SAID(KN_SAY_CELL_OFF_GRID, line_of(recount, first_row_of(recount->release, released, i)),
                       kn_piece_name(kn_recount_column_shown(name, recount, column)),
                       kn_piece_text(kn_recount_cell_shown(cell, recount, released, i)), kn_piece_text(grid));
    }
    return (kn_buffer){0};
}

bool kn_cells_say_the_same(const kn_reading *reading, const char *a, size_t n_a, const char *b, size_t n_b)
{
    const ends one = read_cell(reading, (words){a, n_a}), other = read_cell(reading, (words){b, n_b});
    return one.kind == ENDS_INTERVAL && same_ends(reading, &one, &other);
}

kn_buffer kn_recount_describe_withheld(const kn_recount *recount, uint32_t column)
{
    char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
    if (!recount->request->columns[column].is_withheld || recount->in_release[column] == KN_NONE) return (kn_buffer){0};
    const kn_sheet_column *released = &recount->release->columns[recount->in_release[column]];
    for (uint32_t i = 0; i < released->n_texts; i++) {
        words text;
        text.bytes = kn_text(released, i, &text.n);
        if (is_word(text, "*")) continue;
        return KN_SAID(KN_SAY_CELL_WITHHELD, line_of(recount, first_row_of(recount->release, released, i)),
                       kn_piece_name(kn_recount_column_shown(name, recount, column)),
                       kn_piece_text(kn_recount_cell_shown(cell, recount, released, i)));
    }
    return (kn_buffer){0};
}

static bool is_label(const kn_domain *domain, words text)
{
    for (uint32_t node = 0; domain->tree != NULL && node < domain->tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(domain->tree, node, &n);
        if (n == text.n && memcmp(label, text.bytes, n) == 0) return true;
    }
    return false;
}

/* Whether a cell tells less than a step of rounding apart. A hierarchy file may have words above its intervals; sets
 * and masks would be of values. */
static bool is_finer(const kn_reading *reading, const kn_domain *domain, const ends *cell, words text)
{
    if (cell->kind == ENDS_NONE) return !is_label(domain, text);
    return cell->kind == ENDS_VALUE || !on_grid(reading, kn_domain_round(domain), cell);
}

/* A threshold, as cells are read. */
typedef struct threshold {
    const char *text;
    double at;
    bool is_top;
} threshold;

static bool read_threshold(threshold *out, const kn_reading *reading, const char *text, bool is_top)
{
    kn_reading plain = *reading;
    plain.day_order = KN_DAY_ISO;
    *out = (threshold){.text = text, .is_top = is_top};
    return text != NULL && kn_text_read(&out->at, NULL, &plain, text, strlen(text)) == KN_TEXT_NUMBER;
}

/* Whether a cell ends at or above the top, or begins below the bottom. */
static bool ends_beyond(const kn_reading *reading, const ends *cell, const threshold *t)
{
    if (cell->kind != ENDS_VALUE && cell->kind != ENDS_INTERVAL) return false;
    if (reading->type == KN_TYPE_DATE)
        return t->is_top ? isfinite(cell->past) && cell->past > t->at : isfinite(cell->first) && cell->first < t->at;
    if (!t->is_top) return cell->has_low && cell->least < t->at;
    return cell->has_high && (cell->without_high ? cell->most > t->at : cell->most >= t->at);
}

/* Whether all of an interval lies beyond, and it leaves out some of what does: `91..` under a top of 90. */
static bool is_part_of_beyond(const kn_reading *reading, const ends *cell, const threshold *t)
{
    if (cell->kind != ENDS_INTERVAL) return false;
    if (reading->type == KN_TYPE_DATE)
        return t->is_top ? isfinite(cell->first) && cell->first > t->at : isfinite(cell->past) && cell->past < t->at;
    if (t->is_top) return cell->has_low && cell->least > t->at;
    const bool is_last = reading->type == KN_TYPE_INT && !cell->without_high && cell->most == t->at - 1;
    return cell->has_high && cell->most < t->at && !is_last;
}

/* Whether a cell that is neither value nor interval, a set or a mask, holds a value beyond. */
static bool holds_beyond(const kn_reading *reading, const kn_meaning *meaning, uint32_t released, const threshold *t)
{
    const kn_sheet_column *originals = meaning->original_column;
    for (uint32_t i = 0; i < originals->n_texts; i++) {
        words text;
        text.bytes = kn_text(originals, i, &text.n);
        const ends value = read_cell(reading, text);
        if (ends_beyond(reading, &value, t) && kn_meaning_covers(meaning, i, released)) return true;
    }
    return false;
}

/* Whether a cell tells somebody at or above the top, or below the bottom, from others there. A hierarchy that knows
 * the threshold may have words for more than them. */
static bool is_beyond(const kn_reading *reading, const kn_domain *domain, const kn_meaning *meaning, uint32_t released,
                      const ends *cell, words text, const threshold *t)
{
    if (ends_beyond(reading, cell, t)) return true;
    if (is_part_of_beyond(reading, cell, t)) return !is_label(domain, text);
    return cell->kind == ENDS_NONE && meaning != NULL && holds_beyond(reading, meaning, released, t) &&
           !is_label(domain, text);
}

/* The word of the hierarchy for everything. */
static bool is_root(const kn_domain *domain, words text)
{
    size_t n;
    if (domain == NULL || domain->kind != KN_DOMAIN_TREE) return false;
    const char *label = kn_tree_label(domain->tree, domain->tree->root, &n);
    return n == text.n && memcmp(label, text.bytes, n) == 0;
}

kn_buffer kn_recount_describe_coding(const kn_recount *recount, uint32_t column, const kn_meaning *meaning)
{
    const kn_domain *domain = recount->request->columns[column].domain;
    char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
    const kn_reading *reading = &recount->readings[column];
    const char *round = domain != NULL ? kn_domain_round(domain) : NULL;
    threshold top = {0}, bottom = {0};
    const bool has_top = domain != NULL && read_threshold(&top, reading, kn_domain_top(domain), true);
    const bool has_bottom = domain != NULL && read_threshold(&bottom, reading, kn_domain_bottom(domain), false);
    if ((!has_top && !has_bottom && round == NULL) || recount->in_release[column] == KN_NONE) return (kn_buffer){0};
    const kn_sheet_column *released = &recount->release->columns[recount->in_release[column]];
    for (uint32_t i = 0; i < released->n_texts; i++) {
        words text;
        text.bytes = kn_text(released, i, &text.n);
        if (text.n > 0 && text.bytes[0] == '\'') text.bytes++, text.n--;
        if (is_root(domain, text)) continue; /* however it is called */
        const ends at = read_cell(reading, text);
        const bool above = has_top && is_beyond(reading, domain, meaning, i, &at, text, &top);
        const bool below = has_bottom && is_beyond(reading, domain, meaning, i, &at, text, &bottom);
        const bool finer = round != NULL && is_finer(reading, domain, &at, text);
        if (!above && !below && !finer) continue;
        return KN_SAID(KN_SAY_CELL_BEYOND, line_of(recount, first_row_of(recount->release, released, i)),
                       kn_piece_name(kn_recount_column_shown(name, recount, column)),
                       kn_piece_text(kn_recount_cell_shown(cell, recount, released, i)),
                       kn_piece_text(above   ? "top"
                                     : below ? "bottom"
                                             : "round"),
                       kn_piece_text(above   ? top.text
                                     : below ? bottom.text
                                             : round));
    }
    return (kn_buffer){0};
}

/* --- What is wrong ----------------------------------------------------------------------------------------------- */

static const char *shown(char buffer[KN_SHOWN_BYTES], const kn_recount *recount, const kn_released_bounds *bounds,
                         int part, uint32_t row)
{
    const kn_sheet_column *column = &recount->release->columns[bounds->parts[part]];
    return kn_recount_cell_shown(buffer, recount, column, kn_sheet_code(column, row));
}

static kn_buffer say_bounds(const kn_recount *recount, const kn_released_bounds *bounds, kn_say what, uint32_t row)
{
    char name[KN_SHOWN_BYTES], min[KN_SHOWN_BYTES], max[KN_SHOWN_BYTES], kind[KN_SHOWN_BYTES];
    return KN_SAID(what, line_of(recount, row), kn_piece_name(kn_recount_column_shown(name, recount, bounds->column)),
                   kn_piece_text(shown(min, recount, bounds, KN_BOUND_MIN, row)),
                   kn_piece_text(shown(max, recount, bounds, KN_BOUND_MAX, row)),
                   kn_piece_text(shown(kind, recount, bounds, KN_BOUND_KIND, row)));
}

static kn_buffer say_mean(const kn_recount *recount, const kn_released_bounds *bounds, kn_say what, uint32_t row)
{
    char name[KN_SHOWN_BYTES], mean[KN_SHOWN_BYTES];
    return KN_SAID(what, line_of(recount, row), kn_piece_name(kn_recount_column_shown(name, recount, bounds->column)),
                   kn_piece_text(shown(mean, recount, bounds, KN_BOUND_MEAN, row)));
}

/* Inside the bounds and, where a grid is known, on it; a cell of one value has it as its mean, others than intervals
 * have none. */
static kn_say wrong_mean(const kn_recount *recount, const kn_released_bounds *bounds, const kn_reading *reading,
                         const ends *said, words mean)
{
    const kn_domain *domain = recount->request->columns[bounds->column].domain;
    const char *grid = domain != NULL ? kn_domain_mean_grid(domain) : NULL;
    if (mean.n == 0) return said->kind == ENDS_VALUE ? KN_SAY_MEAN_OUTSIDE : KN_SAY_NOTHING;
    const kn_reading plain = kn_reading_of_ends(reading);
    const ends at = read_cell(&plain, mean);
    if (at.kind != ENDS_VALUE || (said->kind != ENDS_VALUE && said->kind != ENDS_INTERVAL)) return KN_SAY_MEAN_OUTSIDE;
    if (said->kind == ENDS_VALUE) return same_ends(reading, said, &at) ? KN_SAY_NOTHING : KN_SAY_MEAN_OUTSIDE;
    if (!said->has_low || !said->has_high) return KN_SAY_MEAN_OUTSIDE; /* it would tell what lies beyond the open end */
    const bool is_date = reading->type == KN_TYPE_DATE;
    const bool inside =
        is_date ? said->first <= at.first && at.first < said->past
                : said->least <= at.least && (said->without_high ? at.least < said->most : at.least <= said->most);
    if (!inside) return KN_SAY_MEAN_OUTSIDE;
    if (grid == NULL) return KN_SAY_NOTHING;
    const bool fits =
        is_date ? unit_start(grid, at.first) == at.first || at.first == said->first : on_step(reading, grid, at.low, 0);
    return fits ? KN_SAY_NOTHING : KN_SAY_MEAN_OFF_GRID;
}

/* What the bounds are, where nobody says it: without the original. */
static kn_type guess_type(const kn_recount *recount, const kn_released_bounds *bounds)
{
    const kn_reading dates = {.type = KN_TYPE_DATE, .day_order = KN_DAY_ISO};
    for (int part = KN_BOUND_MIN; part <= KN_BOUND_MAX; part++) {
        const kn_sheet_column *column = &recount->release->columns[bounds->parts[part]];
        for (uint32_t i = 0; i < column->n_texts; i++) {
            size_t n;
            double number;
            const char *bytes = kn_text(column, i, &n);
            if (kn_text_read(&number, NULL, &dates, bytes, n) == KN_TEXT_NUMBER) return KN_TYPE_DATE;
        }
    }
    return KN_TYPE_DECIMAL;
}

/* The first row whose bounds are none, are not what the label says, or whose mean cannot be. */
static kn_buffer describe_one(const kn_recount *recount, const kn_released_bounds *bounds)
{
    const kn_verify_column *about = &recount->request->columns[bounds->column];
    const kn_sheet_column *labels = &recount->release->columns[recount->in_release[bounds->column]];
    const kn_reading *original = &recount->readings[bounds->column];
    kn_reading plain = *original; /* of bounds, whatever form the data has */
    kn_buffer text = {0}, problem = {0};
    const bool is_typed = about->type != KN_TYPE_TEXT && about->type != KN_TYPE_AUTO;
    plain.type = is_typed ? about->type : guess_type(recount, bounds);
    plain.day_order = KN_DAY_ISO;
    if (bounds->wrong_row != KN_NONE) return say_bounds(recount, bounds, KN_SAY_BOUNDS_NONE, bounds->wrong_row);
    for (uint32_t g = 0; g < recount->classes->n_groups && problem.n == 0; g++) {
        const uint32_t row = recount->classes->first_row[g];
        if (!cell_of_bounds(&text, recount, bounds, row)) {
            problem = say_bounds(recount, bounds, KN_SAY_BOUNDS_NONE, row);
            break;
        }
        const ends said = read_cell(&plain, (words){text.bytes != NULL ? text.bytes : "", text.n});
        if (bounds->made == KN_NONE && is_typed) {
            words label;
            label.bytes = kn_text(labels, kn_sheet_code(labels, row), &label.n);
            if (label.n > 1 && label.bytes[0] == '\'') label.bytes++, label.n--;
            ends read = read_cell(original->type == about->type ? original : &plain, label);
            if (read.kind == ENDS_NONE && is_root(about->domain, label)) read.kind = ENDS_ANY;
            const bool unknown = read.kind == ENDS_NONE && recount->original == NULL;
            if (!unknown && !same_ends(&plain, &said, &read))
                problem = say_bounds(recount, bounds, KN_SAY_BOUNDS_DISAGREE, row);
        }
        if (bounds->parts[KN_BOUND_MEAN] == KN_NONE || problem.n > 0) continue;
        const kn_say what = wrong_mean(recount, bounds, &plain, &said, part_text(recount, bounds, KN_BOUND_MEAN, row));
        if (what != KN_SAY_NOTHING) problem = say_mean(recount, bounds, what, row);
    }
    problem.failed |= text.failed;
    kn_buffer_free(&text);
    return problem;
}

kn_buffer kn_recount_describe_bounds(const kn_recount *recount)
{
    kn_buffer problem = {0};
    for (size_t i = 0; i < recount->n_bounds && problem.n == 0 && recount->classes != NULL; i++)
        problem = describe_one(recount, &recount->bounds[i]);
    return problem;
}

/* --- Means ------------------------------------------------------------------------------------------------------- */

typedef struct person_number {
    uint64_t person;
    double number;
} person_number;

static int by_person(const void *a, const void *b)
{
    const person_number *x = a, *y = b;
    if (x->person != y->person) return x->person < y->person ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Everybody of a class counts once. */
static double mean_of(person_number *members, uint32_t n)
{
    double total = 0, n_persons = 0;
    qsort(members, n, sizeof *members, by_person);
    for (uint32_t i = 0, end; i < n; i = end) {
        double sum = 0;
        for (end = i; end < n && members[end].person == members[i].person; end++) sum += members[end].number;
        total += sum / (double)(end - i);
        n_persons++;
    }
    return total / n_persons;
}

/* Within half a step of the true mean, or moved inside the bounds. */
static bool is_mean(const kn_recount *recount, const kn_released_bounds *bounds, const kn_reading *reading,
                    uint32_t row, double mean)
{
    const kn_domain *domain = recount->request->columns[bounds->column].domain;
    const char *grid = domain != NULL ? kn_domain_mean_grid(domain) : NULL;
    const words text = part_text(recount, bounds, KN_BOUND_MEAN, row);
    const ends at = read_cell(reading, text);
    if (text.n == 0 || grid == NULL || at.kind != ENDS_VALUE) return true; /* said elsewhere */
    if (reading->type == KN_TYPE_DATE) {
        const words min = part_text(recount, bounds, KN_BOUND_MIN, row);
        return unit_start(grid, mean) == at.first || read_cell(reading, min).first == at.first;
    }
    double step;
    kn_text_read(&step, NULL, reading, grid, strlen(grid));
    const double away = fabs(at.least - mean);
    if (away <= step * (0.5 + 1e-6)) return true;
    kn_buffer cell = {0};
    cell_of_bounds(&cell, recount, bounds, row);
    const ends said = read_cell(reading, (words){cell.bytes != NULL ? cell.bytes : "", cell.n});
    kn_buffer_free(&cell);
    /* the next point of the grid towards the mean lies outside */
    const double next = at.least < mean ? at.least + step : at.least - step;
    return said.kind == ENDS_VALUE || next > said.most - (said.without_high ? step * 1e-9 : -step * 1e-9) ||
           next < said.least - step * 1e-9;
}

bool kn_recount_has_means(const kn_recount *recount)
{
    for (size_t i = 0; i < recount->n_bounds; i++)
        if (recount->bounds[i].parts[KN_BOUND_MEAN] != KN_NONE) return true;
    return false;
}

kn_status kn_recount_describe_means(kn_buffer *problem, const kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    person_number *members = NULL;
    uint32_t person = 0, largest = 0;
    const kn_row_groups *classes = recount->classes;
    *problem = (kn_buffer){0};
    if (classes == NULL || recount->order == NULL) return KN_OK;
    while (person < recount->request->n_columns && !recount->request->columns[person].is_person) person++;
    for (uint32_t g = 0; g < classes->n_groups; g++)
        if (classes->group_rows[g] > largest) largest = classes->group_rows[g];
    KN_NEW_RAW(members, largest);
    for (size_t i = 0; i < recount->n_bounds; i++) {
        const kn_released_bounds *bounds = &recount->bounds[i];
        const kn_sheet_column *values = &recount->original->columns[recount->in_original[bounds->column]];
        kn_reading plain = kn_reading_of_ends(&recount->readings[bounds->column]);
        plain.day_order = KN_DAY_ISO;
        for (uint32_t g = 0; g < classes->n_groups && bounds->parts[KN_BOUND_MEAN] != KN_NONE; g++) {
            uint32_t n = 0;
            for (uint32_t r = recount->class_start[g]; r < recount->class_start[g + 1]; r++) {
                const uint32_t from = recount->order[recount->class_rows[r]];
                size_t n_bytes;
                const char *bytes = kn_text(values, kn_sheet_code(values, from), &n_bytes);
                double number;
                if (kn_text_read(&number, NULL, &recount->readings[bounds->column], bytes, n_bytes) != KN_TEXT_NUMBER)
                    continue;
                members[n++] = (person_number){person < recount->request->n_columns
                                                   ? kn_sheet_fingerprint(&recount->original->columns[person], from)
                                                   : from,
                                               number};
            }
            if (n == 0 || is_mean(recount, bounds, &plain, classes->first_row[g], mean_of(members, n))) continue;
            *problem = say_mean(recount, bounds, KN_SAY_MEAN_DIFFERS, classes->first_row[g]);
            goto done;
        }
    }
done:
    kn_free(members);
    return status;
}
