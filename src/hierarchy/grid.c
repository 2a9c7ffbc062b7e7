/* The grid of numbers and dates without a hierarchy: an interval's ends would otherwise be two persons' cells.
 *
 * Allowed are a value that a whole class shares, and runs of grid cells. In the codes of a domain a grid cell is a run
 * of neighbours, so the closure of codes first..last is first and last moved to the ends of their cells; everything
 * that prices or bounds a range of codes stays as it is.
 *
 * The step is what the policy says, or round: 1, 2 or 5 times a power of ten, at most a fiftieth of the range from the
 * 1st to the 99th percentile of the rows, at least what the data is recorded with; months for dates. Outliers do not
 * make it coarse, and one value more or less does not move it. */
#include "hierarchy/builders.h"

#include "table/dates.h"
#include "table/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 50, MAX_DECIMALS = 9 };

/* Decimals of the finest number. */
static int recorded_decimals(const kn_build *build)
{
    int most = 0;
    for (uint32_t s = 0; s < build->column->n_spellings; s++) {
        size_t n;
        kn_decimal number;
        const char *bytes = kn_column_bytes(build->column, s, &n);
        if (kn_column_value(build->column, s) >= build->n_present) continue;
        if (kn_decimal_parse(&number, bytes, n, true) == KN_NUMBER_NONE) continue;
        int decimals = (int)number.n_digits - number.exponent;
        if (number.n_digits > 0 && decimals > most) most = decimals;
    }
    return most < MAX_DECIMALS ? most : MAX_DECIMALS;
}

/* The number below which a share of the rows lies. */
static double percentile(const kn_build *build, double share)
{
    uint64_t n_rows = 0, below = 0;
    for (uint32_t value = 0; value < build->n_present; value++) n_rows += build->value_rows[value];
    for (uint32_t value = 0; value < build->n_present; value++) {
        below += build->value_rows[value];
        if ((double)below >= share * (double)n_rows) return build->column->number[value];
    }
    return build->column->number[build->n_present - 1];
}

void kn_grid_choose_step(kn_widths *out, const kn_build *build)
{
    static const int64_t round[] = {1, 2, 5};
    const double *number = build->column->number;
    int decimals = build->column->type == KN_TYPE_INT ? 0 : recorded_decimals(build);
    double range = percentile(build, 0.99) - percentile(build, 0.01);
    if (!(range > 0)) range = number[build->n_present - 1] - number[0];
    int exponent = range > 0 ? (int)floor(log10(range / CELLS) + 1e-9) : -decimals, pick = 0;
    double target = range / CELLS * (1 + 1e-9);
    while (pick < 2 && (double)round[pick + 1] * pow(10, exponent) <= target) pick++;
    if (exponent < -decimals) exponent = -decimals, pick = 0;
    if (exponent > 14) exponent = 14;
    *out = (kn_widths){.n = 1, .scale = exponent < 0 ? (uint32_t)-exponent : 0, .units = {round[pick]}};
    for (int i = 0; i < exponent; i++) out->units[0] *= 10;
}

static const char *const unit_names[] = {"day", "week", "month", "quarter", "halfyear", "year", "5years", "decade"};

static kn_status wrong_grid(const kn_build *build, const char *grid, kn_error *err)
{
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "grid", .column = build->column->name),
                           "column %s: '%.40s' is no grid; exact, %s", build->column->name, grid,
                           build->column->type == KN_TYPE_DATE
                               ? "day, week, month, quarter, halfyear, year, 5years or decade"
                               : "auto or a step: a number above 0 with at most 9 decimals");
}

static kn_status read_unit(kn_grid *out, const kn_build *build, const char *grid, kn_error *err)
{
    if (strcmp(grid, "auto") == 0) grid = "month";
    for (size_t i = 0; i < sizeof unit_names / sizeof *unit_names; i++)
        if (strcmp(grid, unit_names[i]) == 0) {
            out->by_unit = true;
            out->unit = (kn_date_unit)i;
            snprintf(out->name, sizeof out->name, "%s", grid);
            return KN_OK;
        }
    return wrong_grid(build, grid, err);
}

static kn_status read_step(kn_grid *out, const kn_build *build, const char *grid, kn_error *err)
{
    kn_error inner = {0};
    if (strcmp(grid, "auto") == 0) {
        kn_grid_choose_step(&out->widths, build);
    } else if (strchr(grid, ',') != NULL || kn_widths_parse(&out->widths, "grid", grid, &inner) != KN_OK) {
        return wrong_grid(build, grid, err);
    }
    kn_widths_text(out->name, sizeof out->name, &out->widths);
    return KN_OK;
}

/* The runs of codes in one cell. */
static kn_status find_runs(kn_grid *grid, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = build->n_present, n_codes = build->column->n_values;
    KN_NEW(grid->interval, (size_t)n + 1);
    KN_NEW(grid->first, (size_t)n_codes + 1);
    KN_NEW(grid->last, (size_t)n_codes + 1);
    for (uint32_t code = 0; code < n; code++) {
        size_t n_bytes;
        const char *bytes = kn_build_value(build, code, &n_bytes);
        grid->interval[code] = kn_grid_interval(grid, build->column->number[code], bytes, n_bytes);
    }
    for (uint32_t code = 0; code < n; code++)
        grid->first[code] = code > 0 && grid->interval[code] == grid->interval[code - 1] ? grid->first[code - 1] : code;
    for (uint32_t code = n; code-- > 0;)
        grid->last[code] =
            code + 1 < n && grid->interval[code] == grid->interval[code + 1] ? grid->last[code + 1] : code;
    if (n < n_codes) grid->first[n] = grid->last[n] = n;
done:
    return status;
}

int64_t kn_grid_interval(const kn_grid *grid, double number, const char *bytes, size_t n_bytes)
{
    return grid->by_unit ? kn_date_unit_index(grid->unit, number)
                         : kn_widths_interval_of(&grid->widths, number, bytes, n_bytes);
}

void kn_grid_text(kn_buffer *out, const kn_grid *grid, kn_type type, int64_t from, int64_t to)
{
    char label[KN_INTERVAL_BYTES];
    if (grid->by_unit) kn_date_unit_text(label, sizeof label, grid->unit, from, to);
    else kn_interval_text(label, &grid->widths, type, from, to);
    kn_buffer_text(out, label);
}

static bool is_automatic(const char *asked) { return asked == NULL || strcmp(asked, "auto") == 0; }

/* What was asked for, as steps or units; nothing of the values is looked at unless it is `auto`. */
static kn_status read_grid(kn_grid *out, const kn_build *build, const char *asked, kn_error *err)
{
    const kn_type type = build->column->type;
    if (type == KN_TYPE_TEXT)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "grid", .column = build->column->name),
                               "column %s: only numbers and dates have a grid, and it is text; give it a hierarchy",
                               build->column->name);
    return type == KN_TYPE_DATE ? read_unit(out, build, asked, err) : read_step(out, build, asked, err);
}

kn_status kn_build_check_grid(const kn_build *build, kn_error *err)
{
    const char *asked = build->request->grid;
    kn_grid grid = {0};
    const bool is_unknown = build->n_present == 0 && build->column->type == KN_TYPE_TEXT; /* it may be anything */
    return is_automatic(asked) || strcmp(asked, "exact") == 0 || is_unknown ? KN_OK
                                                                            : read_grid(&grid, build, asked, err);
}

kn_status kn_build_grid(kn_grid **out, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    kn_grid *grid = NULL;
    const char *asked = build->request->grid;
    *out = NULL;
    const kn_type type = build->column->type;
    if (build->n_present == 0) return kn_build_check_grid(build, err);
    if (asked == NULL || strcmp(asked, "exact") == 0) return KN_OK;
    if (type == KN_TYPE_TEXT && is_automatic(asked)) return KN_OK;
    KN_NEW(grid, 1);
    grid->top = INT64_MAX;
    KN_TRY(read_grid(grid, build, asked, err));
    bool fits = grid->by_unit || (kn_widths_fit(&grid->widths, build->column->number[0]) &&
                                  kn_widths_fit(&grid->widths, build->column->number[build->n_present - 1]));
    if (!fits && is_automatic(asked))
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "grid", .column = build->column->name),
                   "column %s: its numbers are beyond 9e15, too large for a grid, so that intervals would end at two "
                   "persons' cells; make it an identifier, give it a hierarchy, or say grid: exact",
                   build->column->name);
    if (!fits)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "grid", .column = build->column->name),
                   "column %s: its numbers are too large for the grid %s; say grid: exact", build->column->name, asked);
    KN_TRY(find_runs(grid, build, err));
    *out = grid;
    grid = NULL;
done:
    kn_grid_free(grid);
    return status;
}

void kn_grid_coarsen_means(kn_grid *grid, int64_t times)
{
    grid->mean = (kn_widths){.n = 1, .scale = grid->widths.scale, .units = {grid->widths.units[0] * times}};
    kn_widths_text(grid->name, sizeof grid->name, &grid->mean);
}

const char *kn_domain_top(const kn_domain *domain)
{
    return domain->coding != NULL && domain->coding->top_text[0] != '\0' ? domain->coding->top_text : NULL;
}

const char *kn_domain_bottom(const kn_domain *domain)
{
    return domain->coding != NULL && domain->coding->bottom_text[0] != '\0' ? domain->coding->bottom_text : NULL;
}

const char *kn_domain_round(const kn_domain *domain)
{
    return domain->coding != NULL && domain->coding->round_text[0] != '\0' ? domain->coding->round_text : NULL;
}

bool kn_domain_in_grid_cell(const kn_domain *domain, uint32_t code, double number, const char *bytes, size_t n_bytes)
{
    const kn_coding *coding = domain->coding;
    if (coding != NULL && coding->top != KN_NONE && code >= coding->top) return number >= coding->high;
    if (coding != NULL && coding->bottom != KN_NONE && code <= coding->bottom) return number < coding->low;
    return kn_grid_interval(domain->grid, number, bytes, n_bytes) == domain->grid->interval[code];
}

const char *kn_domain_grid_name(const kn_domain *domain)
{
    return domain->grid_first != NULL ? domain->grid->name : NULL;
}

const char *kn_domain_mean_grid(const kn_domain *domain)
{
    return domain->grid != NULL && domain->grid->name[0] != '\0' ? domain->grid->name : NULL;
}
