/* `auto`: a tree from the data alone, the same for the same data.
 *
 *   numbers   round intervals that hold enough rows: see automatic_numbers.c
 *   dates     the finest unit of day, month, quarter, year of which at most 64 cover the middle 90 % of the rows,
 *             then the larger ones that still divide the data: day week, month quarter year decade, ...
 *   codes     text that looks like codes (all of one length of 2 to 16 characters, letters, digits, '-' and '.',
 *             a digit in each, fewer first parts than values): mask(right)
 *   text      up to 64 values: the rare ones pooled, `{x|y|z}`: those that make up at most 1/16, then 1/4, then 1/2
 *             of the rows; frequent values keep their names as long as possible
 *   others    suppress */
#include "hierarchy/builders.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POOLED_VALUES = 64, MAX_CODE_CHARACTERS = 16, MAX_DATE_UNITS = 64 };

/* --- Dates ---------------------------------------------------------------------------------------------------- */

void kn_build_middle(double *low, double *high, const kn_build *build)
{
    const double *number = build->column->number;
    uint64_t n_rows = 0, seen = 0;
    for (uint32_t value = 0; value < build->n_present; value++) n_rows += build->value_rows[value];
    *low = number[0];
    *high = number[build->n_present - 1];
    double from = *high, to = *high;
    bool in_middle = false;
    for (uint32_t value = 0; value < build->n_present; value++) {
        seen += build->value_rows[value];
        if (!in_middle && seen * 20 >= n_rows) {
            from = number[value];
            in_middle = true;
        }
        if (seen * 20 >= n_rows * 19) {
            to = number[value];
            break;
        }
    }
    if (from < to) {
        *low = from;
        *high = to;
    }
}

static kn_status build_dates(kn_build *build, kn_error *err)
{
    static const kn_date_unit starts[] = {KN_DAY, KN_MONTH, KN_QUARTER, KN_YEAR};
    static const kn_date_unit after_day[] = {KN_WEEK};
    static const kn_date_unit after_others[] = {KN_MONTH, KN_QUARTER, KN_YEAR, KN_DECADE, KN_CENTURY};
    const double *number = build->column->number;
    double low, high, first = number[0], last = number[build->n_present - 1];
    kn_date_unit units[8];
    uint32_t n_units = 0, start = 0;
    kn_build_middle(&low, &high, build);
    while (start < 3 &&
           kn_date_unit_index(starts[start], high) - kn_date_unit_index(starts[start], low) >= MAX_DATE_UNITS)
        start++;
    bool has_times = false;
    for (uint32_t value = 0; value < build->n_present; value++)
        has_times = has_times || floor(number[value]) != number[value];
    if (start > 0 || has_times) units[n_units++] = starts[start]; /* a day is a leaf already where there are no times */
    const kn_date_unit *next = start == 0 ? after_day : after_others;
    for (size_t i = 0; i < (start == 0 ? sizeof after_day : sizeof after_others) / sizeof *next; i++)
        if (next[i] > starts[start] && kn_date_unit_index(next[i], first) != kn_date_unit_index(next[i], last))
            units[n_units++] = next[i];
    return n_units > 0 ? kn_build_units(build, units, n_units, err) : kn_build_suppress(build, "", err);
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

static bool is_code(const char *bytes, size_t n, size_t n_expected)
{
    bool has_digit = false;
    if (n != n_expected) return false;
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !((c | 32) >= 'a' && (c | 32) <= 'z') && c != '-' && c != '.') return false;
        has_digit = has_digit || digit;
    }
    return has_digit;
}

/* Values of a text column are sorted by bytes, so equal first parts are neighbours. */
static bool looks_like_codes(const kn_build *build)
{
    size_t n_expected, n_before = 0;
    uint32_t n_first_parts = 0;
    const char *before = NULL;
    if (build->n_present < 3) return false;
    kn_build_value(build, 0, &n_expected);
    if (n_expected < 2 || n_expected > MAX_CODE_CHARACTERS) return false;
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        if (!is_code(bytes, n, n_expected)) return false;
        if (before == NULL || memcmp(before, bytes, n_before) != 0) n_first_parts++;
        before = bytes;
        n_before = n - 1;
    }
    return n_first_parts < build->n_present;
}

/* How many of the most frequent values keep their names when the rest, at most 1/share of the rows, is pooled. */
static uint32_t count_kept(const kn_build *build, const uint32_t *by_frequency, uint64_t share)
{
    uint64_t n_rows = 0, pooled = 0;
    uint32_t n_kept = build->n_present;
    for (uint32_t value = 0; value < build->n_present; value++) n_rows += build->value_rows[value];
    while (n_kept > 0 && (pooled + build->value_rows[by_frequency[n_kept - 1]]) * share <= n_rows)
        pooled += build->value_rows[by_frequency[--n_kept]];
    return n_kept;
}

static kn_status build_pools(kn_build *build, kn_error *err)
{
    static const uint64_t shares[] = {16, 4, 2};
    kn_status status = KN_OK;
    kn_buffer labels[3] = {{0}};
    uint32_t *by_frequency = NULL, n_kept[3], n_pools = 0;
    KN_TRY(kn_build_by_frequency(&by_frequency, build, build->n_present, err));
    for (int i = 0; i < 3; i++) {
        uint32_t kept = count_kept(build, by_frequency, shares[i]);
        uint32_t before = n_pools > 0 ? n_kept[n_pools - 1] : build->n_present - 1; /* a pool of one is none */
        if (kept >= before || kept == 0) continue;
        kn_text_members(&labels[n_pools], build->column, build->main_spelling, by_frequency + kept,
                        build->n_present - kept, true);
        if (labels[n_pools].failed) KN_FAIL(KN_RESOURCES, "out of memory");
        n_kept[n_pools++] = kept;
    }
    build->naming = KN_NAMES_SET;
    build->paths.n_levels = n_pools + 2;
    for (uint32_t i = 0; i < build->n_present; i++) {
        size_t n;
        const char *bytes = kn_build_value(build, by_frequency[i], &n);
        KN_TRY(kn_build_leaf(build, by_frequency[i], err));
        for (uint32_t p = 0; p < n_pools; p++) {
            bool pooled = i >= n_kept[p];
            KN_TRY(kn_build_label(build, pooled ? labels[p].bytes : bytes, pooled ? labels[p].n : n, err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    for (int i = 0; i < 3; i++) kn_buffer_free(&labels[i]);
    kn_free(by_frequency);
    return status;
}

kn_status kn_build_auto(kn_build *build, const char *arguments, kn_error *err)
{
    if (build->n_present < 2) return kn_build_suppress(build, "", err);
    switch (build->column->type) {
    case KN_TYPE_INT:
    case KN_TYPE_DECIMAL: return kn_build_auto_numbers(build, err);
    case KN_TYPE_DATE: return build_dates(build, err);
    default: break;
    }
    if (looks_like_codes(build)) return kn_build_mask(build, "right", err);
    return build->n_present <= MAX_POOLED_VALUES ? build_pools(build, err) : kn_build_suppress(build, "", err);
}
