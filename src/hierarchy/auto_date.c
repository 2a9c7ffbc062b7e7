/* `auto` for dates: date(month,quarter,year,5years,decade), without the units that do not divide the data; days first
 * where cells have times. Dates of one month are divided by weeks. The labels are the calendar's: of the data they tell
 * which units it spans.
 *
 * A column without a tree has a grid: the finest unit of day, month, quarter and year of which at most 64 cover the
 * middle 90 % of the rows. */
#include "hierarchy/builders.h"

#include <math.h>

enum { MAX_DATE_UNITS = 64 };

const char *kn_auto_date_grid(const kn_build *build)
{
    static const kn_date_unit starts[] = {KN_DAY, KN_MONTH, KN_QUARTER};
    static const char *const names[] = {"day", "month", "quarter", "year"};
    double low, high;
    size_t start = 0;
    kn_build_middle(&low, &high, build);
    while (start < 3 &&
           kn_date_unit_index(starts[start], high) - kn_date_unit_index(starts[start], low) >= MAX_DATE_UNITS)
        start++;
    return names[start];
}

kn_status kn_build_auto_dates(kn_build *build, kn_error *err)
{
    static const kn_date_unit all[] = {KN_MONTH, KN_QUARTER, KN_YEAR, KN_FIVE_YEARS, KN_DECADE};
    const double *number = build->column->number;
    const double first = number[0], last = number[build->n_present - 1];
    kn_date_unit units[8];
    uint32_t n_units = 0;
    bool has_times = false;
    for (uint32_t value = 0; value < build->n_present; value++)
        has_times = has_times || floor(number[value]) != number[value];
    if (has_times) units[n_units++] = KN_DAY; /* otherwise a day is a leaf already */
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (kn_date_unit_index(all[i], first) != kn_date_unit_index(all[i], last)) units[n_units++] = all[i];
    const bool one_month = n_units == (has_times ? 1 : 0);
    if (one_month && kn_date_unit_index(KN_WEEK, first) != kn_date_unit_index(KN_WEEK, last))
        units[n_units++] = KN_WEEK;
    return n_units > 0 ? kn_build_units(build, units, n_units, err) : kn_build_suppress(build, "", err);
}
