/* The thresholds of top and bottom coding that `profile` proposes.
 *
 * Ages: 90, where somebody is as old; with fewer than `least` persons there, the highest multiple of five that has so
 * many, which is only proposed where it is below 80. Other numbers: where a tail is long, that is, where the outermost
 * value is farther from the beginning of the tail (one in a hundred persons, and at least `least`, are there) than that
 * is from the median. The threshold is the next round number towards the median, a multiple of five steps of the
 * column's grid; where more than a tenth of all persons would be beyond it, there is none. */
#include "hierarchy/builders.h"

#include <math.h>
#include <string.h>

enum { OLD_AGE = 90, QUITE_OLD = 80, AGE_STEP = 5, ROUND_STEPS = 5, TAIL = 100, MOST_BEYOND = 10 };

/* Values are counted from the outer end: the first is the largest one (top), or the smallest (bottom). */
typedef struct tail {
    const kn_build *build;
    kn_widths widths; /* of the grid */
    bool is_top;
    uint32_t n_values, n_persons;
    uint32_t *reach; /* persons who have one of the values 0 .. i */
} tail;

static uint32_t value_at(const tail *t, uint32_t i) { return t->is_top ? t->n_values - 1 - i : i; }

static kn_status count_reach(tail *t, const uint32_t *row_person, uint32_t n_persons, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = t->build->column;
    uint32_t *outermost = NULL;
    KN_NEW_RAW(outermost, n_persons);
    memset(outermost, 0xFF, n_persons * sizeof *outermost);
    KN_NEW(t->reach, (size_t)t->n_values + 1);
    for (uint32_t row = 0; row < t->build->n_rows; row++) {
        const uint32_t value = kn_column_value(column, kn_column_code(column, row));
        const uint32_t person = row_person != NULL ? row_person[row] : row;
        if (value >= t->n_values) continue; /* missing */
        const uint32_t i = t->is_top ? t->n_values - 1 - value : value;
        if (i < outermost[person]) outermost[person] = i;
    }
    for (uint32_t person = 0; person < n_persons; person++)
        if (outermost[person] != KN_NONE) t->reach[outermost[person]]++;
    for (uint32_t i = 1; i < t->n_values; i++) t->reach[i] += t->reach[i - 1];
    t->n_persons = t->reach[t->n_values - 1];
done:
    kn_free(outermost);
    return status;
}

/* The outermost value that so many persons reach, or KN_NONE. */
static uint32_t reached_by(const tail *t, uint64_t n_persons)
{
    for (uint32_t i = 0; i < t->n_values; i++)
        if (t->reach[i] >= n_persons) return i;
    return KN_NONE;
}

static void set_threshold(kn_threshold *out, const tail *t, int64_t times)
{
    *out = (kn_threshold){0};
    for (uint32_t i = 0; i < t->n_values; i++) {
        const int64_t interval = kn_widths_interval(&t->widths, t->build, value_at(t, i));
        if (t->is_top ? interval >= times : interval < times) out->n_beyond = t->reach[i];
    }
    kn_widths_multiple_text(out->text, sizeof out->text, &t->widths, times);
}

static void age_threshold(kn_threshold *out, const tail *t, uint32_t least)
{
    set_threshold(out, t, OLD_AGE / AGE_STEP);
    out->is_sure = out->n_beyond >= least;
    if (out->is_sure) return;
    const uint32_t begin = reached_by(t, least);
    const bool is_wanted = out->n_beyond > 0 && begin != KN_NONE;
    *out = (kn_threshold){0};
    if (!is_wanted) return;
    const int64_t interval = kn_widths_interval(&t->widths, t->build, value_at(t, begin));
    set_threshold(out, t, interval);
    out->is_sure = interval >= QUITE_OLD / AGE_STEP;
}

static void tail_threshold(kn_threshold *out, const tail *t, uint32_t least)
{
    const double *number = t->build->column->number;
    const uint64_t share = ((uint64_t)t->n_persons + TAIL - 1) / TAIL;
    const uint32_t begin = reached_by(t, share > least ? share : least);
    const uint32_t median = reached_by(t, ((uint64_t)t->n_persons + 1) / 2);
    if (begin == KN_NONE || begin >= median) return;
    const double at = number[value_at(t, begin)];
    if (!(fabs(number[value_at(t, 0)] - at) > fabs(at - number[value_at(t, median)]))) return;
    const int64_t interval = kn_widths_interval(&t->widths, t->build, value_at(t, begin));
    set_threshold(out, t, (kn_floor_divide(interval, ROUND_STEPS) + (t->is_top ? 0 : 1)) * ROUND_STEPS);
    if ((uint64_t)out->n_beyond * MOST_BEYOND > t->n_persons) *out = (kn_threshold){0};
}

kn_status kn_thresholds_suggest(kn_suggestion *out, const kn_column *column, uint32_t n_rows,
                                const uint32_t *row_person, uint32_t n_persons, uint32_t least, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_hierarchy_request request = {0};
    kn_build build = {.column = column, .n_rows = n_rows, .request = &request};
    tail t = {.build = &build};
    if ((column->type != KN_TYPE_INT && column->type != KN_TYPE_DECIMAL) || out->spec[0] != '\0') return KN_OK;
    KN_TRY(kn_build_start(&build, err));
    if (build.n_present < 3) goto done;
    const bool is_age = kn_build_is_age(&build);
    t.n_values = build.n_present;
    if (is_age) t.widths = (kn_widths){.n = 1, .units = {AGE_STEP}};
    else kn_grid_choose_step(&t.widths, &build);
    if (!kn_widths_fit(&t.widths, column->number[0]) || !kn_widths_fit(&t.widths, column->number[t.n_values - 1]))
        goto done;
    for (int top = 0; top < 2; top++) {
        t.is_top = top == 1;
        KN_TRY(count_reach(&t, row_person, n_persons, err));
        if (!is_age) tail_threshold(t.is_top ? &out->top : &out->bottom, &t, least);
        else if (t.is_top) age_threshold(&out->top, &t, least);
        kn_free(t.reach);
        t.reach = NULL;
    }
done:
    kn_free(t.reach);
    kn_build_end(&build);
    return status;
}
