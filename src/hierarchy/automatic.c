/* `auto`: which hierarchy a column gets when nobody said, and what `profile` suggests, besides the words of a scale
 * (auto_scale.c); the same for the same data.
 *
 *   countries, ICD-10, NACE, postal codes   where the name and 99 % of the cells say so: auto_class.c
 *   codes     by their beginnings: auto_code.c
 *   text      of numbers with something around them, 12 days, 40%, 9:30, <5, in their order, and of numbers and words
 *             where at least half of the rows have numbers: auto_natural.c
 *   numbers   round intervals that hold enough rows: auto_number.c
 *   dates     months, quarters, years, 5 years, decades: auto_date.c
 *   text      up to 5 values: the rare ones pooled, `{x|y|z}`: those that make up at most 1/16, then 1/4, then 1/2 of
 *             the rows; frequent values keep their names as long as possible
 *   text      groups of values that occur with the same values of the other quasi-identifiers: auto_tree.c; of more
 *             than 2000 values none: suppress */
#include "hierarchy/builders.h"

#include <stdio.h>
#include <string.h>

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

/* A SPEC that is not `auto` itself; "": none suits. */
static void choose_spec(char spec[KN_SPEC_BYTES], const kn_build *build)
{
    spec[0] = '\0';
    if (build->n_present >= 2 &&
        (kn_auto_class(spec, build) || kn_auto_unread_dates(spec, build) || kn_auto_natural(spec, build) ||
         kn_auto_code(spec, build) || kn_auto_numbers_and_words(spec, build)))
        return;
    spec[0] = '\0';
}

kn_status kn_build_auto(kn_build *build, const char *arguments, kn_error *err)
{
    char spec[KN_SPEC_BYTES];
    if (build->n_present < 2) return kn_build_suppress(build, "", err);
    choose_spec(spec, build);
    if (spec[0] != '\0') return kn_build_spec(build, spec, err);
    switch (build->column->type) {
    case KN_TYPE_INT:
    case KN_TYPE_DECIMAL: return kn_build_auto_numbers(build, err);
    case KN_TYPE_DATE: return kn_build_auto_dates(build, err);
    default: return build->n_present <= KN_SMALL_SET ? build_pools(build, err) : kn_build_similar(build, "", err);
    }
}

kn_status kn_hierarchy_suggest(kn_suggestion *out, const kn_column *column, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_hierarchy_request request = {0};
    kn_build build = {.column = column, .n_rows = n_rows, .request = &request};
    *out = (kn_suggestion){0};
    KN_TRY(kn_build_start(&build, err));
    if (build.n_present < 2) goto done;
    choose_spec(out->spec, &build);
    if (out->spec[0] != '\0') goto done;
    if (column->type == KN_TYPE_DATE) snprintf(out->grid, sizeof out->grid, "%s", kn_auto_date_grid(&build));
    if (kn_build_is_age(&build)) snprintf(out->grid, sizeof out->grid, "5");
    if (column->type == KN_TYPE_TEXT && build.n_present > KN_SMALL_SET)
        snprintf(out->spec, sizeof out->spec, "similar");
done:
    kn_build_end(&build);
    return status;
}
