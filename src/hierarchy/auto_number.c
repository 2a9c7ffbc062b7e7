/* `auto` for numbers: nested intervals with round ends, none of which holds few rows.
 *
 * The smallest width is round (1, 2 or 5 times a power of ten; at least 2 for whole numbers, 5 where they are eight to
 * twenty) and about thirty of it cover the middle 90 % of the rows, so outliers do not make the tree coarse; further
 * levels are round too (1, 5, 10, 50, 100, ... or 2, 10, 20, 100, ..., never 4 or 40, which nobody counts in) while at
 * least two widths cover that middle; then *. Ages have the widths that
 * tables of ages have, 5, 10 and 20 years, and everybody from 90 on is in one interval, `90..`. Ends are multiples of
 * the level's width, but a multiple that would leave fewer than 1/64 of the rows on a side (1/64 times as much at the
 * next level as it is wider, at most 1/4) is no end: sparse stretches become one wide interval. In a full-domain
 * release one sparse interval pushes the whole column up, and tails are where they are. Ends of such stretches are then
 * moved to multiples of wider levels where both sides keep enough rows (12..15 | 16..21 to 12..19 | 20..21), so that
 * there are as many intervals as before, and the best release loses no more. To have ends of sparse stretches at such
 * multiples only would be rounder still, and cost up to twice as much and more by one column (lm of the best
 * full-domain release by durations of German credit: 0.040, and 0.076 or 0.177; by capital gains of Adult: 0.058 and
 * 0.158), because values that many have (24 months, no gain) would come together with sparse ones beside them.
 *
 * In: the column's numbers with their rows. Out: paths. Widest level first, so that finer ends only divide coarser
 * intervals: a value before which an end stands knows the coarsest level of that end. Cost: O(values * levels). */
#include "hierarchy/builders.h"

#include "table/names.h"

#include <math.h>
#include <string.h>

enum { TARGET_INTERVALS = 32, MIN_SHARE = 64, FEW_NUMBERS = 20, NO_CUT = -1, TOP_AGE = 90, OLDEST = 130 };

/* Round widths for numbers whose middle is low..high; false when they do not fit whole numbers of 64 bits. */
static bool choose_widths(kn_widths *out, const kn_build *build, double low, double high)
{
    static const int64_t round[] = {1, 2, 5};
    bool whole = build->column->type == KN_TYPE_INT;
    double target = (high - low) / TARGET_INTERVALS;
    int exponent = (int)floor(log10(target)), pick = 0;
    if (exponent < -9) exponent = -9;
    if (whole && exponent < 0) exponent = 0;
    while (pick < 2 && (double)round[pick] * pow(10, exponent) < target) pick++;
    if ((double)round[pick] * pow(10, exponent) < target) {
        pick = 0;
        exponent++;
    }
    const bool few = whole && exponent == 0 && high - low < FEW_NUMBERS;
    if (whole && exponent == 0 && pick == 0) pick = few && high - low >= FEW_NUMBERS * 2 / 5 ? 2 : 1;
    if (exponent > 14) return false;
    *out = (kn_widths){.scale = exponent < 0 ? (uint32_t)-exponent : 0};
    double unit = pow(10, exponent < 0 ? exponent : 0);
    int64_t units = round[pick];
    for (int i = 0; i < exponent; i++) units *= 10;
    double widest = (high - low) / 2 / unit;
    if (few && high - low >= 10) widest = 10; /* years: 2006..2009 and 2010..2019 */
    for (bool came_from_two = false; out->n == 0 || ((double)units <= widest && out->n < KN_MAX_WIDTHS);) {
        out->units[out->n++] = units;
        const bool by_five = pick == 1 || (pick == 0 && !came_from_two && (double)units * 5 <= widest);
        came_from_two = pick == 1;
        units *= by_five ? 5 : 2;
        pick = pick == 0 ? (by_five ? 2 : 1) : 0;
    }
    return kn_widths_fit(out, build->column->number[0]) &&
           kn_widths_fit(out, build->column->number[build->n_present - 1]);
}

/* Of small children, or in tens of years, five years would be everybody. */
bool kn_build_is_age(const kn_build *build)
{
    enum { OLD_ENOUGH = 15 };
    const kn_column *column = build->column;
    const bool is_number = column->type == KN_TYPE_INT || column->type == KN_TYPE_DECIMAL;
    if (!is_number || build->n_present == 0 || !kn_name_is_age(column->name) || column->number[0] < 0) return false;
    const double highest = column->number[build->n_present - 1];
    return highest >= OLD_ENOUGH && highest <= OLDEST;
}

/* What tables of ages use; the spread of this one does not matter. */
static void choose_ages(kn_widths *out) { *out = (kn_widths){.n = 3, .units = {5, 10, 20}}; }

void kn_grid_free(kn_grid *grid)
{
    if (grid == NULL) return;
    kn_free(grid->interval);
    kn_free(grid->first);
    kn_free(grid->last);
    kn_free(grid);
}

typedef struct cuts {
    const kn_widths *widths;
    int64_t *interval; /* per value: which smallest width it lies in; the grid's */
    int64_t *at;       /* per value: the end before it, where there is one */
    int8_t *level;     /* per value: the coarsest level of that end, NO_CUT: none */
    uint32_t n_of_level[KN_MAX_WIDTHS];
} cuts;

/* Ends of one level inside values first .. past-1, an interval of the next coarser one. */
static void divide(cuts *c, const kn_build *build, uint32_t first, uint32_t past, uint32_t level, uint64_t min_rows)
{
    int64_t times = c->widths->units[level] / c->widths->units[0];
    uint64_t to_come = 0, since_cut = 0;
    for (uint32_t value = first; value < past; value++) to_come += build->value_rows[value];
    for (uint32_t value = first; value < past; value++) {
        int64_t block = kn_floor_divide(c->interval[value], times);
        bool new_block = value > first && block != kn_floor_divide(c->interval[value - 1], times);
        if (new_block && since_cut >= min_rows && to_come >= min_rows) {
            c->at[value] = block * times;
            c->level[value] = (int8_t)level;
            c->n_of_level[level]++;
            since_cut = 0;
        }
        since_cut += build->value_rows[value];
        to_come -= build->value_rows[value];
    }
}

/* The roundest multiple of a width wider than the level's that can stand before the value; false: none. */
static bool rounder_end(int64_t *end, uint32_t *step, const cuts *c, uint32_t level, uint32_t value)
{
    const int64_t times = c->widths->units[level] / c->widths->units[0];
    const int64_t from = (kn_floor_divide(c->interval[value - 1], times) + 1) * times;
    for (*step = c->widths->n - 1; *step > level; --*step) {
        const int64_t wider = c->widths->units[*step] / c->widths->units[0];
        *end = kn_floor_divide(c->interval[value], wider) * wider;
        if (*end >= from) return true;
    }
    return false;
}

/* Whether the values stand in one step of the level's width, which has enough rows by itself. */
static bool is_one_step(const cuts *c, uint32_t first, uint32_t past, uint32_t level)
{
    const int64_t times = c->widths->units[level] / c->widths->units[0];
    const int64_t from = first > 0 ? c->at[first] : c->interval[0];
    return kn_floor_divide(from, times) == kn_floor_divide(c->interval[past - 1], times);
}

/* Moves an end between two intervals, first .. past-1 together, to the roundest place that leaves both enough rows. A
 * step that has enough rows by itself takes in none of its right neighbour's values. */
static void round_end(cuts *c, const kn_build *build, uint32_t first, uint32_t cut, uint32_t past, uint32_t level,
                      uint64_t min_rows)
{
    const int64_t next = c->widths->units[level + 1] / c->widths->units[0];
    uint64_t to_come = 0, before = 0;
    uint32_t best = KN_NONE, best_step = 0;
    int64_t best_end = 0;
    if (kn_floor_divide(c->at[cut], next) * next == c->at[cut]) return;
    if (is_one_step(c, first, cut, level)) return;
    for (uint32_t value = first; value < past; value++) to_come += build->value_rows[value];
    for (uint32_t value = first; value < past; value++) {
        int64_t end;
        uint32_t step;
        const bool is_enough = value > first && before >= min_rows && to_come >= min_rows;
        before += build->value_rows[value];
        to_come -= build->value_rows[value];
        if (!is_enough || !rounder_end(&end, &step, c, level, value)) continue;
        if (best != KN_NONE && step <= best_step) continue;
        best = value;
        best_step = step;
        best_end = end;
    }
    if (best == KN_NONE) return;
    c->level[cut] = NO_CUT;
    c->level[best] = (int8_t)level;
    c->at[best] = best_end;
}

/* Ends of a level that the rows put where it is not round, from the right, so that each end makes room for the next. */
static void round_ends(cuts *c, const kn_build *build, uint32_t first, uint32_t past, uint32_t level, uint64_t min_rows)
{
    if (level + 1 == c->widths->n) return;
    for (uint32_t right = past, cut = past; cut-- > first + 1;) {
        if (c->level[cut] != (int)level) continue;
        uint32_t left = cut - 1;
        while (left > first && c->level[left] != (int)level) left--;
        round_end(c, build, left, cut, right, level, min_rows);
        for (cut = right; --cut > left && c->level[cut] != (int)level;) {
        }
        right = cut;
    }
}

static void divide_levels(cuts *c, const kn_build *build)
{
    uint64_t n_rows = 0;
    for (uint32_t value = 0; value < build->n_present; value++) n_rows += build->value_rows[value];
    for (uint32_t level = c->widths->n; level-- > 0;) {
        const uint64_t times = (uint64_t)(c->widths->units[level] / c->widths->units[0]);
        uint64_t min_rows = n_rows * (times < MIN_SHARE / 4 ? times : MIN_SHARE / 4) / MIN_SHARE;
        uint32_t first = 0;
        for (uint32_t value = 1; value <= build->n_present; value++) {
            if (value < build->n_present && c->level[value] == NO_CUT) continue;
            divide(c, build, first, value, level, min_rows > 0 ? min_rows : 1);
            round_ends(c, build, first, value, level, min_rows > 0 ? min_rows : 1);
            first = value;
        }
    }
}

/* The interval of a level around the current value, kept while values go by. */
typedef struct span {
    int64_t from, to;
    uint32_t past; /* first value beyond it */
} span;

static void next_span(span *s, const cuts *c, const kn_build *build, uint32_t value, uint32_t level)
{
    uint32_t n = build->n_present;
    s->from = value == 0 ? c->interval[0] : c->at[value];
    for (s->past = value + 1; s->past < n && c->level[s->past] < (int)level;) s->past++;
    s->to = s->past < n ? c->at[s->past] : c->interval[n - 1] + 1;
}

static kn_status push_rows(kn_build *build, const cuts *c, kn_error *err)
{
    kn_status status = KN_OK;
    span spans[KN_MAX_WIDTHS] = {{0}};
    uint32_t n_levels = 1;
    build->naming = KN_NAMES_GRID;
    build->grid->widths = *c->widths;
    kn_widths_text(build->grid->name, sizeof build->grid->name, c->widths);
    for (uint32_t level = 0; level < c->widths->n; level++)
        if (c->n_of_level[level] > 0) build->grid->times[n_levels++] = c->widths->units[level] / c->widths->units[0];
    const uint32_t lowest = build->request->min_level;
    if (lowest > 1 && lowest < n_levels) kn_grid_coarsen_means(build->grid, build->grid->times[lowest]);
    build->paths.n_levels = n_levels + 1;
    for (uint32_t value = 0; value < build->n_present; value++) {
        KN_TRY(kn_build_leaf(build, value, err));
        for (uint32_t level = 0; level < c->widths->n; level++) {
            if (c->n_of_level[level] == 0) continue; /* no more than the coarser one says */
            if (value == spans[level].past) next_span(&spans[level], c, build, value, level);
            char label[KN_INTERVAL_BYTES];
            size_t n =
                kn_grid_interval_text(label, build->grid, build->column->type, spans[level].from, spans[level].to);
            KN_TRY(kn_build_label(build, label, n, err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}

kn_status kn_build_auto_numbers(kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    kn_widths widths;
    cuts c = {.widths = &widths};
    double low, high;
    kn_build_middle(&low, &high, build);
    const bool is_age = kn_build_is_age(build);
    if (is_age) choose_ages(&widths);
    if (build->n_present < 3 || !(high > low) || (!is_age && !choose_widths(&widths, build, low, high))) {
        KN_TRY(kn_build_suppress(build, "", err));
        goto done;
    }
    KN_NEW(build->grid, 1);
    build->grid->top = is_age ? TOP_AGE / widths.units[0] : INT64_MAX;
    KN_NEW_RAW(build->grid->interval, build->n_present);
    c.interval = build->grid->interval;
    KN_NEW_RAW(c.at, build->n_present);
    KN_NEW_RAW(c.level, build->n_present);
    memset(c.level, NO_CUT, build->n_present);
    for (uint32_t value = 0; value < build->n_present; value++)
        c.interval[value] = kn_grid_below_top(build->grid, kn_widths_interval(&widths, build, value));
    divide_levels(&c, build);
    KN_TRY(push_rows(build, &c, err));
done:
    kn_free(c.at);
    kn_free(c.level);
    return status;
}
