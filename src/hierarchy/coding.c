/* Top and bottom coding: `top: 90` makes one of all values from 90 on, `bottom: 18` of all below 18, for everybody and
 * at every level. Rounding: `round: 100` makes one of all values from one multiple of 100 up to the next.
 *
 * All rows of such a *zone* have one code, that of its first value, and that code is never released as a value: its
 * least cell is the zone. The other values of the zone stay in the domain, so that the zone is priced like any other
 * generalization of them. Without a hierarchy the zone is a grid cell, and intervals that reach it have an open end. In
 * a hierarchy its values get a node of their own, `90..`, below every label that holds them all; a label of intervals
 * on both sides of the threshold goes on to the open end, `80..`, whether or not anybody beyond has it: that nobody
 * does would be told otherwise. A file that has such a label is refused.
 *
 * With rounding every value is in such a zone: without a hierarchy the step is the grid's, and a zone a grid cell; in a
 * hierarchy a zone is a label of the first level, which must be an interval between multiples of the step. `auto` and
 * `suppress` get such labels, of other hierarchies it is checked. */
#include "hierarchy/builders.h"

#include "hierarchy/bounds.h"
#include "table/dates.h"
#include "table/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static kn_status wrong_threshold(const kn_build *build, const char *option, const char *text, const char *why,
                                 kn_error *err)
{
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = option, .column = build->column->name),
                           "column %s: %s: %.40s %s", build->column->name, option, text, why);
}

static kn_status read_threshold(double *out, const kn_build *build, const char *option, const char *text, kn_error *err)
{
    kn_moment moment;
    if (build->column->type == KN_TYPE_DATE) {
        if (!kn_date_parse(&moment, text, strlen(text), KN_DATE_ISO) || moment.has_time)
            return wrong_threshold(build, option, text, "is no date; write it as 2010-01-01", err);
        *out = kn_moment_number(&moment);
        return KN_OK;
    }
    if (build->column->type == KN_TYPE_TEXT)
        return wrong_threshold(build, option, text, "needs numbers or dates, and the column is text", err);
    if (kn_number_read(out, text, strlen(text), false) == KN_NUMBER_NONE)
        return wrong_threshold(build, option, text, "is no number", err);
    if (build->column->type == KN_TYPE_INT && *out != floor(*out))
        return wrong_threshold(build, option, text, "is no whole number, and the column has only those", err);
    return KN_OK;
}

void kn_coding_free(kn_coding *coding)
{
    if (coding == NULL) return;
    kn_free(coding->zone);
    kn_free(coding);
}

static kn_status read_rounding(kn_coding *out, const kn_build *build, const char *text, kn_error *err)
{
    kn_error inner = {0};
    const kn_type type = build->column->type;
    if (type == KN_TYPE_DATE)
        return wrong_threshold(build, "round", text, "needs numbers; for dates give a hierarchy and a min_level", err);
    if (type == KN_TYPE_TEXT)
        return wrong_threshold(build, "round", text, "needs numbers, and the column is text", err);
    if (strchr(text, ',') != NULL || strlen(text) >= sizeof out->round_text ||
        kn_widths_parse(&out->step, "round", text, &inner) != KN_OK)
        return wrong_threshold(build, "round", text, "is no step: a number above 0 with at most 9 decimals", err);
    if (type == KN_TYPE_INT && (out->step.scale > 0 || out->step.units[0] < 2))
        return wrong_threshold(build, "round", text, "must be a whole number above 1, as the column has only those",
                               err);
    snprintf(out->round_text, sizeof out->round_text, "%s", text);
    return KN_OK;
}

/* Which values are in a zone. The column's values stand in their order. */
kn_status kn_build_zones(kn_coding **out, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    kn_coding *coding = NULL;
    const char *top = build->request->top, *bottom = build->request->bottom;
    const double *number = build->column->number;
    double low = -INFINITY, high = INFINITY;
    *out = NULL;
    const char *round = build->request->round;
    if ((top == NULL && bottom == NULL && round == NULL) || build->n_present == 0) return KN_OK;
    KN_NEW(coding, 1);
    *coding = (kn_coding){.top = KN_NONE, .bottom = KN_NONE, .n_values = build->n_present};
    if (round != NULL) KN_TRY(read_rounding(coding, build, round, err));
    if (top != NULL) KN_TRY(read_threshold(&high, build, "top", top, err));
    if (bottom != NULL) KN_TRY(read_threshold(&low, build, "bottom", bottom, err));
    if (low > high)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "bottom", .column = build->column->name),
                   "column %s: bottom: %.40s is above top: %.40s", build->column->name, bottom, top);
    for (uint32_t value = 0; value < build->n_present; value++) {
        if (number[value] < low) coding->bottom = value;
        if (number[value] >= high && coding->top == KN_NONE) coding->top = value;
    }
    coding->low = low;
    coding->high = high;
    snprintf(coding->top_text, sizeof coding->top_text, "%s", top != NULL ? top : "");
    snprintf(coding->bottom_text, sizeof coding->bottom_text, "%s", bottom != NULL ? bottom : "");
    *out = coding;
    coding = NULL;
done:
    kn_coding_free(coding);
    return status;
}

kn_status kn_coding_zones(kn_coding *coding, const uint32_t *cell_of_code, uint32_t n_cells,
                          const uint32_t *code_of_value, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *first = NULL; /* [cell] */
    KN_NEW_RAW(first, (size_t)n_cells + 1);
    memset(first, 0xFF, n_cells * sizeof *first);
    KN_NEW_RAW(coding->zone, (size_t)coding->n_values + 1);
    for (uint32_t value = 0; value < coding->n_values; value++) {
        uint32_t *zone = &first[cell_of_code[code_of_value[value]]];
        if (*zone == KN_NONE) *zone = value;
        coding->zone[value] = *zone;
    }
done:
    kn_free(first);
    return status;
}

/* --- Without a hierarchy ----------------------------------------------------------------------------------------- */

/* As decimals: 0.3 is three times 0.1. */
static bool is_multiple(int64_t *times, const kn_widths *widths, double number, const char *text, size_t n)
{
    char label[KN_INTERVAL_BYTES];
    double there;
    if (!kn_widths_fit(widths, number)) return false;
    *times = kn_widths_interval_of(widths, number, text, n);
    kn_widths_multiple_text(label, sizeof label, widths, *times);
    return kn_number_read(&there, label, strlen(label), false) != KN_NUMBER_NONE && there == number;
}

/* A threshold must begin a grid cell: otherwise the last interval before it would not end on the grid. */
static kn_status on_grid(int64_t *interval, const kn_build *build, const kn_grid *grid, const char *option,
                         const char *text, double number, kn_error *err)
{
    char why[160];
    if (grid->by_unit) *interval = kn_date_unit_index(grid->unit, number);
    const bool begins = grid->by_unit ? kn_date_unit_index(grid->unit, number - 1) < *interval
                                      : is_multiple(interval, &grid->widths, number, text, strlen(text));
    if (begins) return KN_OK;
    snprintf(why, sizeof why, "is not on the column's grid, %s; choose one that is, or another grid", grid->name);
    return wrong_threshold(build, option, text, why, err);
}

kn_status kn_grid_code(kn_grid *grid, kn_coding *coding, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    if (coding->top_text[0] != '\0')
        KN_TRY(on_grid(&coding->top_interval, build, grid, "top", coding->top_text, coding->high, err));
    if (coding->bottom_text[0] != '\0')
        KN_TRY(on_grid(&coding->bottom_interval, build, grid, "bottom", coding->bottom_text, coding->low, err));
    for (uint32_t code = 0; code < build->n_present; code++) {
        if (coding->bottom != KN_NONE && code <= coding->bottom)
            grid->first[code] = 0, grid->last[code] = coding->bottom;
        if (coding->top != KN_NONE && code >= coding->top)
            grid->first[code] = coding->top, grid->last[code] = build->n_present - 1;
    }
done:
    return status;
}

/* `80..`, `..17`, `..<18`; both ends open cannot be: that is everything. */
void kn_coded_text(kn_buffer *out, const kn_domain *domain, uint32_t first, uint32_t last)
{
    const kn_grid *grid = domain->grid;
    const kn_coding *coding = domain->coding;
    const bool open_low = coding->bottom != KN_NONE && first <= coding->bottom;
    const bool open_high = coding->top != KN_NONE && last >= coding->top;
    char label[KN_INTERVAL_BYTES];
    if (open_high) {
        const int64_t from = first >= coding->top ? coding->top_interval : grid->interval[first];
        if (grid->by_unit) kn_date_unit_text(label, sizeof label, grid->unit, from, from + 1);
        else kn_widths_multiple_text(label, sizeof label, &grid->widths, from);
        char *dots = strstr(label, ".."); /* a decade is 2010..2019 */
        if (dots != NULL) *dots = '\0';
        kn_buffer_printf(out, "%s..", label);
        return;
    }
    const int64_t to = open_low && last <= coding->bottom ? coding->bottom_interval : grid->interval[last] + 1;
    if (!open_low) {
        kn_grid_text(out, grid, domain->column->type, grid->interval[first], to);
        return;
    }
    if (grid->by_unit) kn_date_unit_text(label, sizeof label, grid->unit, to - 1, to);
    else kn_interval_text(label, &grid->widths, domain->column->type, to - 1, to);
    const char *dots =
        strstr(label, ".."); /* what stands behind them: the end, with < where it is none of the values */
    kn_buffer_printf(out, "..%s", dots != NULL ? dots + 2 : label);
}

/* --- In a hierarchy ---------------------------------------------------------------------------------------------- */

typedef struct zone {
    const char *option, *threshold;
    double from, below; /* its numbers */
    bool is_top;
    char label[KN_BOUND_BYTES + 4];
    bool *rows; /* [row of the paths] */
} zone;

/* The number of a leaf: a value of the data, or what its label says. */
static double leaf_number(const kn_build *build, const uint32_t *value_of_label, uint32_t label)
{
    size_t n;
    double number;
    kn_moment moment;
    if (value_of_label[label] != KN_NONE) return build->column->number[value_of_label[label]];
    const char *bytes = kn_paths_bytes(&build->paths, label, &n);
    if (build->column->type == KN_TYPE_DATE)
        return kn_date_parse(&moment, bytes, n, KN_DATE_ISO) ? kn_moment_number(&moment) : (double)NAN;
    return kn_number_read(&number, bytes, n, true) != KN_NUMBER_NONE ? number : (double)NAN;
}

static kn_status find_zone(zone *out, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_paths *paths = &build->paths;
    uint32_t *value_of_label = NULL, n_rows = kn_paths_rows(paths);
    KN_NEW_RAW(value_of_label, paths->ends.n);
    memset(value_of_label, 0xFF, paths->ends.n * sizeof *value_of_label);
    for (uint32_t value = 0; value < build->n_present; value++)
        if (build->label_of_value[value] != KN_NONE) value_of_label[build->label_of_value[value]] = value;
    KN_NEW(out->rows, n_rows + 1);
    for (uint32_t row = 0; row < n_rows; row++) {
        double number = leaf_number(build, value_of_label, paths->cells.items[(size_t)row * paths->n_levels]);
        out->rows[row] = number >= out->from && number < out->below;
    }
done:
    kn_free(value_of_label);
    return status;
}

/* `suppress` has no level between value and root, and the levels of `auto` nobody chose: their own one for the zones.
 */
static kn_status add_level(kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths *paths = &build->paths;
    const uint32_t n_rows = kn_paths_rows(paths), n = paths->n_levels;
    if ((n != 2 && build->origin != KN_FROM_DATA) || build->request->round != NULL) return KN_OK;
    KN_RESERVE(&paths->cells, (size_t)n_rows * (n + 1));
    for (uint32_t row = n_rows; row-- > 0;) {
        uint32_t *from = paths->cells.items + (size_t)row * n, *to = paths->cells.items + (size_t)row * (n + 1);
        memmove(to + 1, from, n * sizeof *to);
        to[0] = to[1];
    }
    paths->n_levels = n + 1;
    paths->cells.n = (size_t)n_rows * (n + 1);
done:
    return status;
}

/* False: the label is no interval. */
static bool label_bounds(kn_bounds *bounds, bool *included, const kn_build *build, uint32_t label)
{
    size_t n;
    const char *bytes = kn_paths_bytes(&build->paths, label, &n);
    return kn_bounds_of_text(bounds, included, build->column->type, bytes, n);
}

/* A label that lies on both sides of the threshold, with its far end open; false: it is no interval. */
static bool open_label(kn_buffer *out, const kn_build *build, const zone *z, uint32_t label)
{
    kn_bounds bounds;
    bool included;
    if (!label_bounds(&bounds, &included, build, label)) return false;
    if (z->is_top) kn_buffer_printf(out, "%s..", bounds.min);
    else kn_buffer_printf(out, "..%s%s", included ? "" : "<", bounds.max);
    return true;
}

/* An interval with numbers on both sides of the threshold, whether or not a leaf below it has them; *is_open: without
 * an end there. */
static bool reaches_across(bool *is_open, const kn_build *build, const zone *z, uint32_t label)
{
    kn_bounds bounds;
    bool included;
    if (!label_bounds(&bounds, &included, build, label)) return false;
    const double threshold = z->is_top ? z->from : z->below;
    *is_open = (z->is_top ? bounds.max : bounds.min)[0] == '\0';
    const double low = kn_bounds_end(build->column->type, bounds.min, -INFINITY);
    const double high = kn_bounds_end(build->column->type, bounds.max, INFINITY);
    return low < threshold && (included ? high >= threshold : high > threshold);
}

/* What is known of the labels of one level. */
typedef struct level_labels {
    bool *in_zone; /* [label] a row of the zone has it */
    bool *is_both; /* [label] it reaches across the threshold: a row outside the zone has it, and one inside has or
                      could */
    uint32_t both; /* one of those; KN_NONE: none */
    uint32_t n_in_zone;
} level_labels;

static kn_status find_labels(level_labels *out, const kn_build *build, const zone *z, uint32_t level, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_paths *paths = &build->paths;
    const uint32_t *labels = paths->cells.items + level;
    const uint32_t n_rows = kn_paths_rows(paths), n_levels = paths->n_levels;
    out->both = KN_NONE;
    KN_NEW(out->in_zone, paths->ends.n + 1);
    KN_NEW(out->is_both, paths->ends.n + 1);
    for (uint32_t row = 0; row < n_rows; row++) {
        const uint32_t label = labels[(size_t)row * n_levels];
        out->n_in_zone += z->rows[row] && !out->in_zone[label];
        out->in_zone[label] |= z->rows[row];
    }
    for (uint32_t row = 0, before = KN_NONE; row < n_rows; row++) {
        const uint32_t label = labels[(size_t)row * n_levels];
        bool is_open;
        if (z->rows[row] || label == before) continue;
        before = label;
        if (out->is_both[label] || !(out->in_zone[label] || reaches_across(&is_open, build, z, label))) continue;
        out->is_both[label] = true;
        out->both = label;
    }
done:
    return status;
}

static kn_status inside_label(const kn_build *build, const zone *z, kn_error *err)
{
    return kn_error_set_at(
        err, KN_USAGE, KN_PLACE(.option = z->option, .column = build->column->name),
        "column %s: %s: %.40s lies inside a label of its hierarchy; choose a threshold where labels end",
        build->column->name, z->option, z->threshold);
}

/* The labels of a file stay as they are, so that none below the root may begin before the threshold and end beyond. */
static kn_status check_file(const kn_build *build, const zone *z, kn_error *err)
{
    const kn_paths *paths = &build->paths;
    const uint32_t n_rows = kn_paths_rows(paths), n_levels = paths->n_levels;
    for (uint32_t level = 1; level + 1 < n_levels; level++)
        for (uint32_t row = 0, before = KN_NONE; row < n_rows; row++) {
            const uint32_t label = paths->cells.items[(size_t)row * n_levels + level];
            bool is_open;
            if (label == before) continue;
            before = label;
            if (reaches_across(&is_open, build, z, label) && !is_open) return inside_label(build, z, err);
        }
    return KN_OK;
}

/* One level: rows of the zone get its label; where a label reaches across the threshold, they and all who have that one
 * get it with an open end. */
static kn_status code_level(kn_build *build, const zone *z, uint32_t level, uint32_t own, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths *paths = &build->paths;
    const uint32_t n_rows = kn_paths_rows(paths), n_levels = paths->n_levels;
    level_labels found = {0};
    kn_buffer text = {0};
    KN_TRY(find_labels(&found, build, z, level, err));
    const bool is_file = build->origin == KN_FROM_FILE;
    uint32_t wide = found.both;
    if (wide != KN_NONE && (level == 1 || (is_file && found.n_in_zone > 1))) KN_TRY(inside_label(build, z, err));
    if (wide != KN_NONE && !is_file) {
        if (!open_label(&text, build, z, wide))
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = z->option, .column = build->column->name),
                       "column %s: %s needs a hierarchy of intervals", build->column->name, z->option);
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        if (strcmp(text.bytes, "..") == 0) /* open on both sides it would be a second word for everything */
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = z->option, .column = build->column->name),
                       "column %s: a label of its hierarchy reaches from below bottom to beyond top; take a hierarchy "
                       "with narrower intervals",
                       build->column->name);
        KN_TRY(kn_paths_label(&wide, paths, text.bytes, text.n, err));
    }
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t *label = &paths->cells.items[(size_t)row * n_levels + level];
        if (z->rows[row]) *label = wide != KN_NONE ? wide : own;
        else if (*label != wide && found.is_both[*label]) *label = wide;
    }
done:
    kn_free(found.in_zone);
    kn_free(found.is_both);
    kn_buffer_free(&text);
    return status;
}

static kn_status code_zone(kn_build *build, zone *z, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths *paths = &build->paths;
    uint32_t own;
    if (build->origin == KN_FROM_FILE) KN_TRY(check_file(build, z, err));
    KN_TRY(find_zone(z, build, err));
    KN_TRY(kn_paths_label(&own, paths, z->label, strlen(z->label), err));
    for (uint32_t level = 1; level + 1 < paths->n_levels; level++) KN_TRY(code_level(build, z, level, own, err));
done:
    kn_free(z->rows);
    return status;
}

/* Of whole numbers and days the last one below the threshold. */
static void below_text(char *out, size_t n_out, const kn_build *build, const kn_coding *coding)
{
    char day[KN_DATE_BYTES];
    if (build->column->type == KN_TYPE_DATE)
        snprintf(out, n_out, "..%s", kn_date_text(day, kn_date_of_number(coding->low - 1)));
    else if (build->column->type == KN_TYPE_INT) snprintf(out, n_out, "..%.0f", coding->low - 1);
    else snprintf(out, n_out, "..<%s", coding->bottom_text);
}

static kn_status rebuild_paths(kn_build *build, const kn_widths *widths, kn_error *err)
{
    const kn_paths fresh = {.name = build->paths.name, .redact = build->paths.redact};
    kn_paths_free(&build->paths);
    build->paths = fresh;
    memset(build->label_of_value, 0xFF, build->column->n_values * sizeof *build->label_of_value);
    build->naming = KN_NAMES_FIXED;
    return kn_build_widths(build, widths, err);
}

/* The step, and of the widths that `auto` chose those that are multiples of the one before. */
kn_status kn_build_round_paths(kn_build *build, const kn_coding *coding, kn_error *err)
{
    kn_status status = KN_OK;
    kn_widths widths = coding->step;
    if (coding->round_text[0] == '\0') return KN_OK;
    const bool is_auto = build->naming == KN_NAMES_GRID;
    if (!is_auto && (build->paths.n_levels > 2 || build->origin == KN_FROM_FILE)) return KN_OK;
    if (!is_auto && build->grid == NULL) KN_NEW(build->grid, 1); /* for means */
    for (uint32_t i = 0; is_auto && i < build->grid->widths.n && widths.n < KN_MAX_WIDTHS; i++) {
        const kn_widths *theirs = &build->grid->widths;
        int64_t units = theirs->units[i], scale = theirs->scale;
        for (; scale < widths.scale && units < INT64_MAX / 100; scale++) units *= 10;
        for (; scale > widths.scale && units % 10 == 0; scale--) units /= 10;
        const int64_t last = widths.units[widths.n - 1];
        if (scale == widths.scale && units > last && units % last == 0) widths.units[widths.n++] = units;
    }
    build->grid->widths = widths;
    build->grid->mean.n = 0;
    kn_widths_text(build->grid->name, sizeof build->grid->name, &widths);
    KN_TRY(rebuild_paths(build, &widths, err));
done:
    return status;
}

/* An end of a label: open, or a multiple of the step; `past`: what is added to it is the first number behind. */
static bool end_is_round(const kn_coding *coding, const char *text, int past)
{
    char label[KN_BOUND_BYTES];
    double number;
    int64_t times;
    if (text[0] == '\0') return true;
    if (kn_number_read(&number, text, strlen(text), true) == KN_NUMBER_NONE) return false;
    if (past > 0) {
        number += past;
        snprintf(label, sizeof label, "%.0f", number);
        text = label;
    }
    return is_multiple(&times, &coding->step, number, text, strlen(text));
}

static bool label_is_round(const kn_build *build, const kn_coding *coding, uint32_t label)
{
    size_t n;
    kn_bounds bounds;
    bool included;
    const char *bytes = kn_paths_bytes(&build->paths, label, &n);
    if (!kn_bounds_of_text(&bounds, &included, build->column->type, bytes, n)) return false;
    if (bounds.max[0] != '\0' && included && build->column->type != KN_TYPE_INT) return false;
    return end_is_round(coding, bounds.min, 0) && end_is_round(coding, bounds.max, included ? 1 : 0);
}

kn_status kn_build_check_round(const kn_build *build, const kn_coding *coding, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_paths *paths = &build->paths;
    const uint32_t n_levels = paths->n_levels;
    const uint32_t missing = build->column->has_missing ? build->label_of_value[build->n_present] : KN_NONE;
    for (uint32_t row = 0; coding->round_text[0] != '\0' && row < kn_paths_rows(paths); row++) {
        const uint32_t *labels = paths->cells.items + (size_t)row * n_levels;
        char shown[KN_SHOWN_BYTES];
        size_t n;
        if (labels[0] == missing || labels[1] == labels[n_levels - 1] || label_is_round(build, coding, labels[1]))
            continue;
        const char *bytes = kn_paths_bytes(paths, labels[1], &n);
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "round", .column = build->column->name),
                   "column %s: round: %.40s needs a hierarchy whose lowest labels are intervals between multiples of "
                   "it, and %s is none",
                   build->column->name, coding->round_text, kn_value_shown(shown, bytes, n, build->request->redact));
    }
done:
    return status;
}

kn_status kn_build_code_paths(kn_build *build, const kn_coding *coding, kn_error *err)
{
    kn_status status = KN_OK;
    if (build->naming == KN_NAMES_GRID) { /* auto: its outermost intervals would begin and end where the data does */
        const kn_widths widths = build->grid->widths;
        KN_TRY(rebuild_paths(build, &widths, err));
    }
    if (build->naming != KN_NAMES_FIXED || build->paths.n_levels < 2)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "top", .column = build->column->name),
                   "column %s: top, bottom and round need intervals, and its hierarchy makes others",
                   build->column->name);
    KN_TRY(add_level(build, err));
    if (coding->top_text[0] != '\0') {
        zone z = {"top", coding->top_text, coding->high, INFINITY, .is_top = true};
        snprintf(z.label, sizeof z.label, "%s..", coding->top_text);
        KN_TRY(code_zone(build, &z, err));
    }
    if (coding->bottom_text[0] != '\0') {
        zone z = {"bottom", coding->bottom_text, -INFINITY, coding->low, .is_top = false};
        below_text(z.label, sizeof z.label, build, coding);
        KN_TRY(code_zone(build, &z, err));
    }
done:
    return status;
}
