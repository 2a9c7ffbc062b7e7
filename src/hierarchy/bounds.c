/* Labels to bounds and back: see bounds.h. */
#include "hierarchy/bounds.h"

#include "hierarchy/builders.h"
#include "hierarchy/released_cell.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *kn_bounds_kind_name(kn_bounds_kind kind)
{
    static const char *const names[KN_N_BOUNDS_KINDS] = {"value", "interval", "suppressed", "missing"};
    return names[kind];
}

/* --- Numbers as text --------------------------------------------------------------------------------------------- */

/* The number in full, without needless zeros; false where that would be long. */
static bool decimal_text(char out[KN_BOUND_BYTES], const kn_decimal *number)
{
    const int n_digits = (int)number->n_digits, point = number->exponent; /* digits before the point */
    int at = 0, digit = 0;
    if (n_digits == 0) return snprintf(out, KN_BOUND_BYTES, "0") > 0;
    if (n_digits + (point < 0 ? -point : 0) > 30 || point > 30) return false;
    if (number->negative) out[at++] = '-';
    if (point <= 0) out[at++] = '0', out[at++] = '.';
    for (int zero = point; zero < 0; zero++) out[at++] = '0';
    for (const char *from = number->digits; digit < n_digits; from++) {
        if (*from == '.') continue;
        if (digit == point && point > 0) out[at++] = '.';
        out[at++] = *from;
        digit++;
    }
    for (; digit < point; digit++) out[at++] = '0';
    out[at] = '\0';
    return true;
}

/* In any locale. */
static double number_of(const char *text)
{
    double number;
    kn_number_read(&number, text, strlen(text), true);
    return number;
}

void kn_bounds_number_text(char out[KN_BOUND_BYTES], double number)
{
    char text[KN_BOUND_BYTES];
    kn_decimal decimal;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        char *comma = strchr(text, ','); /* some locale's */
        if (comma != NULL) *comma = '.';
        if (number_of(text) == number) break;
    }
    kn_decimal_parse(&decimal, text, strlen(text), true);
    if (!decimal_text(out, &decimal)) snprintf(out, KN_BOUND_BYTES, "%s", text);
}

/* Whether a 64-bit integer, or the double that prints so, is the number: otherwise a typed column would tell another.
 */
static bool fits_type(const char *text, kn_type type)
{
    char back[KN_BOUND_BYTES];
    errno = 0;
    if (type == KN_TYPE_INT) {
        strtoll(text, NULL, 10);
        return errno == 0;
    }
    kn_bounds_number_text(back, number_of(text));
    return strcmp(text, back) == 0;
}

static void day_text(char out[KN_BOUND_BYTES], double days)
{
    char text[KN_DATE_BYTES];
    snprintf(out, KN_BOUND_BYTES, "%s", kn_date_text(text, kn_date_of_number(days)));
}

/* The value of a code. */
static bool value_text(char out[KN_BOUND_BYTES], const kn_domain *domain, uint32_t code)
{
    const kn_column *column = domain->column;
    const uint32_t spelling = domain->spelling_of_code[code];
    if (spelling == KN_NONE) return false;
    if (column->type == KN_TYPE_DATE) {
        double days = column->number[kn_column_value(column, spelling)];
        day_text(out, days);
        return days == floor(days);
    }
    size_t n;
    kn_decimal number;
    const char *bytes = kn_column_bytes(column, spelling, &n);
    return kn_decimal_parse(&number, bytes, n, true) != KN_NUMBER_NONE && decimal_text(out, &number) &&
           fits_type(out, column->type);
}

/* --- Labels to bounds -------------------------------------------------------------------------------------------- */

/* Of whole numbers one less. */
static bool one_less(char out[KN_BOUND_BYTES])
{
    errno = 0;
    long long number = strtoll(out, NULL, 10);
    if (errno != 0 || number == INT64_MIN) return false;
    snprintf(out, KN_BOUND_BYTES, "%lld", number - 1);
    return true;
}

bool kn_bounds_of_text(kn_bounds *out, bool *included, kn_type type, const char *text, size_t n)
{
    const kn_cell_reading reading = {.type = type, .leading_zeros = true, .words_are_values = true};
    kn_released_cell cell;
    kn_released_cell_read(&cell, &reading, text, n);
    *out = (kn_bounds){.kind = cell.kind == KN_CELL_VALUE ? KN_BOUNDS_VALUE : KN_BOUNDS_INTERVAL};
    *included = true;
    if (cell.kind == KN_CELL_VALUE) {
        if (cell.value.is_time) day_text(out->min, cell.value.time);
        else if (!cell.value.is_number || !decimal_text(out->min, &cell.value.decimal)) return false;
        memcpy(out->max, out->min, sizeof out->max);
        return true;
    }
    if (cell.kind != KN_CELL_INTERVAL) return false;
    if (type == KN_TYPE_DATE) {
        if (isfinite(cell.from)) day_text(out->min, cell.from);
        if (isfinite(cell.to)) day_text(out->max, cell.to - 1);
        return (!isfinite(cell.from) || cell.from == floor(cell.from)) &&
               (!isfinite(cell.to) || cell.to == floor(cell.to));
    }
    if (cell.has_low && !decimal_text(out->min, &cell.low.decimal)) return false;
    if (cell.has_high && !decimal_text(out->max, &cell.high.decimal)) return false;
    *included = !cell.is_open || !cell.has_high;
    if (type != KN_TYPE_INT) return true;
    if (strchr(out->min, '.') != NULL || strchr(out->max, '.') != NULL) return false;
    if (*included) return true;
    *included = true;
    return one_less(out->max);
}

double kn_bounds_end(kn_type type, const char *text, double if_open)
{
    kn_moment moment;
    if (text[0] == '\0') return if_open;
    if (type != KN_TYPE_DATE) return number_of(text);
    return kn_date_parse(&moment, text, strlen(text), KN_DATE_ISO) ? kn_moment_number(&moment) : if_open;
}

kn_status kn_bounds_of_cell(kn_bounds *out, const kn_domain *domain, const kn_bounds_form *form, const kn_cell *cell,
                            const kn_set_pool *sets, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    const kn_column *column = domain->column;
    bool included = true, fine = true;
    *out = (kn_bounds){.kind = KN_BOUNDS_SUPPRESSED};
    if (kn_cell_is_value(cell, domain)) {
        out->kind = cell->first == domain->missing ? KN_BOUNDS_MISSING : KN_BOUNDS_VALUE;
        if (out->kind == KN_BOUNDS_VALUE) fine = value_text(out->min, domain, cell->first);
        memcpy(out->max, out->min, sizeof out->max);
    } else {
        kn_cell_text(&text, cell, domain, sets);
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        const bool is_root = cell->first == 0 && cell->last + 1 == domain->n_codes;
        if (text.n == 1 && text.bytes[0] == '*') goto done;
        if (domain->kind == KN_DOMAIN_RANGES && domain->grid_first == NULL) { /* the data's own dates, in its form */
            out->kind = KN_BOUNDS_INTERVAL;
            fine = value_text(out->min, domain, cell->first) && value_text(out->max, domain, cell->last);
        } else {
            fine = kn_bounds_of_text(out, &included, column->type, text.bytes, text.n);
        }
        if (!fine && is_root && domain->kind == KN_DOMAIN_TREE) { /* a word for everything */
            *out = (kn_bounds){.kind = KN_BOUNDS_SUPPRESSED};
            fine = true;
        }
    }
    if (!fine || (out->kind == KN_BOUNDS_INTERVAL && out->max[0] != '\0' && included != form->max_included))
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "cells", .column = column->name),
                   "column %s: the release has intervals with and without their upper end, or ends that are no bounds, "
                   "so that columns of bounds cannot tell them; say --cells labels",
                   column->name);
done:
    kn_buffer_free(&text);
    return status;
}

/* --- Which columns ----------------------------------------------------------------------------------------------- */

typedef struct node_bounds {
    kn_bounds bounds;
    const char *label;
    size_t n_label;
} node_bounds;

static int by_bounds(const void *a, const void *b)
{
    const node_bounds *x = a, *y = b;
    int order = strcmp(x->bounds.min, y->bounds.min);
    if (order == 0) order = strcmp(x->bounds.max, y->bounds.max);
    return order != 0 ? order : (x->bounds.kind > y->bounds.kind) - (x->bounds.kind < y->bounds.kind);
}

bool kn_bounds_of_node(kn_bounds *out, bool *included, const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    const kn_cell_reading reading = {.type = domain->column->type, .leading_zeros = true, .words_are_values = true};
    size_t n;
    const char *label = kn_tree_label(tree, node, &n);
    kn_released_cell cell;
    if (!kn_bounds_of_text(out, included, reading.type, label, n)) return false;
    kn_released_cell_read(&cell, &reading, label, n);
    for (uint32_t leaf = tree->first[node]; leaf <= tree->last[node]; leaf++) {
        kn_known_value value;
        const uint32_t spelling = domain->spelling_of_code[leaf];
        if (leaf == domain->missing) return false;
        const char *bytes =
            spelling != KN_NONE ? kn_column_bytes(domain->column, spelling, &n) : kn_tree_label(tree, leaf, &n);
        kn_known_value_read(&value, &reading, bytes, n);
        if (spelling != KN_NONE && reading.type == KN_TYPE_DATE) { /* in whatever form */
            value.is_time = true;
            value.time = domain->column->number[kn_column_value(domain->column, spelling)];
        }
        if (!(value.is_number || value.is_time) || !kn_released_cell_covers(&cell, &reading, &value)) return false;
    }
    return true;
}

/* Labels below the root: values and intervals, all with or all without their upper end, and no two the same one. */
static kn_status read_tree(kn_bounds_form *out, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    const kn_type type = domain->column->type;
    node_bounds *nodes = NULL;
    uint32_t n_nodes = 0;
    bool fine = true, included, any = false;
    KN_NEW(nodes, tree->n_nodes);
    out->max_included = type != KN_TYPE_DECIMAL || kn_part_ends_at_values(domain); /* of what cut points make */
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes && fine; node++) {
        node_bounds *at = &nodes[n_nodes];
        at->label = kn_tree_label(tree, node, &at->n_label);
        fine = kn_bounds_of_node(&at->bounds, &included, domain, node);
        if (!fine && node == tree->root) { /* a word for everything */
            fine = true;
            continue;
        }
        n_nodes++;
        if (!fine || at->bounds.kind != KN_BOUNDS_INTERVAL || at->bounds.max[0] == '\0') continue;
        fine = !any || included == out->max_included;
        out->max_included = included;
        any = true;
    }
    if (fine && n_nodes > 1) qsort(nodes, n_nodes, sizeof *nodes, by_bounds);
    for (uint32_t i = 1; i < n_nodes && fine; i++)
        fine = by_bounds(&nodes[i], &nodes[i - 1]) != 0 ||
               (nodes[i].n_label == nodes[i - 1].n_label &&
                memcmp(nodes[i].label, nodes[i - 1].label, nodes[i].n_label) == 0);
    out->has_bounds = fine;
done:
    kn_free(nodes);
    return status;
}

kn_status kn_bounds_form_of(kn_bounds_form *out, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_type type = domain->column->type;
    char text[KN_BOUND_BYTES];
    *out = (kn_bounds_form){0};
    if ((type != KN_TYPE_INT && type != KN_TYPE_DECIMAL && type != KN_TYPE_DATE) || domain->naming == KN_NAMES_SET ||
        domain->kind == KN_DOMAIN_SETS)
        return KN_OK;
    uint32_t n_values = 0;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing || domain->spelling_of_code[code] == KN_NONE) continue;
        if (!value_text(text, domain, code)) {
            out->has_times = type == KN_TYPE_DATE;
            return KN_OK;
        }
        n_values++;
    }
    if (n_values == 0) return KN_OK; /* withheld, or nothing there */
    out->has_bounds = true;
    out->max_included = type != KN_TYPE_DECIMAL || domain->grid_first == NULL;
    if (domain->kind == KN_DOMAIN_TREE) KN_TRY(read_tree(out, domain, err));
    out->has_mean = out->has_bounds && kn_domain_mean_grid(domain) != NULL;
done:
    return status;
}

/* --- Means ------------------------------------------------------------------------------------------------------- */

void kn_bounds_mean(char out[KN_BOUND_BYTES], const kn_domain *domain, const kn_bounds_form *form,
                    const kn_bounds *bounds, double mean)
{
    const kn_grid *grid = domain->grid;
    out[0] = '\0';
    if (bounds->kind == KN_BOUNDS_VALUE) memcpy(out, bounds->min, KN_BOUND_BYTES);
    if (bounds->kind != KN_BOUNDS_INTERVAL || grid == NULL) return;
    /* Beyond a top or bottom the mean would tell of somebody far away. */
    if (bounds->min[0] == '\0' || bounds->max[0] == '\0') return;
    if (grid->by_unit) {
        char label[KN_INTERVAL_BYTES];
        double from, to;
        int64_t unit = kn_date_unit_index(grid->unit, mean);
        kn_date_unit_text(label, sizeof label, grid->unit, unit, unit + 1);
        if (grid->unit == KN_DAY) day_text(out, floor(mean));
        else if (kn_period_parse(&from, &to, label, strlen(label))) day_text(out, from);
        if (strcmp(out, bounds->min) < 0) memcpy(out, bounds->min, KN_BOUND_BYTES);
        return;
    }
    const kn_widths *widths = grid->mean.n > 0 ? &grid->mean : &grid->widths;
    double step = kn_widths_step(widths), nearest = floor(mean / step + 0.5);
    double low = ceil(number_of(bounds->min) / step - 1e-9), high = floor(number_of(bounds->max) / step + 1e-9);
    if (!form->max_included && high * step >= number_of(bounds->max) - step * 1e-9) high--;
    if (nearest > high) nearest = high;
    if (nearest < low) nearest = low;
    if (low <= high) kn_widths_multiple_text(out, KN_BOUND_BYTES, widths, (int64_t)nearest);
}
