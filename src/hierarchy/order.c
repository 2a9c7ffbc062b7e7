/* `order(low<medium<high)`: text in an order that the user knows; `natural`: in that of the numbers in it, 9 days
 * before 12 days (table/natural.h). Released as intervals, `low..medium`.
 *
 * Blanks around a value are ignored; '<' or '\' in a value is written '\<' or '\\'. Every value of the data must be
 * listed; listed values that the data does not have are left out of the domain. Numbers and dates may be listed too, by
 * any spelling that the data has; where their order is another than that of the numbers, runs are written as sets,
 * because 2..7 means what lies between 2 and 7. The missing value is never inside an interval, listed or not.
 * Where a tree is needed: groups of 2, 4, 8, ... neighbours, labelled with their ends, then *. */
#include "hierarchy/builders.h"

#include "table/natural.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The listed values as labels 0, 1, ... of `list`. */
static kn_status parse_list(kn_paths *list, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer item = {0};
    char shown[KN_SHOWN_BYTES];
    for (const char *at = arguments;; at++) {
        size_t n_kept = 0; /* without the blanks at the end; an escaped blank stays */
        kn_buffer_clear(&item);
        while (*at == ' ') at++;
        for (; *at != '\0' && *at != '<'; at++) {
            bool escaped = *at == '\\' && at[1] != '\0';
            if (escaped) at++;
            kn_buffer_char(&item, *at);
            if (escaped || *at != ' ') n_kept = item.n;
        }
        if (item.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        if (n_kept == 0)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"),
                       "hierarchy %s: an empty value; write order(low<medium<high)", list->name);
        if (kn_paths_find(list, item.bytes, n_kept) != KN_NONE)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"), "hierarchy %s: %s is listed twice", list->name,
                       kn_value_shown(shown, item.bytes, n_kept, list->redact));
        uint32_t id;
        KN_TRY(kn_paths_label(&id, list, item.bytes, n_kept, err));
        if (*at == '\0') break;
    }
done:
    kn_buffer_free(&item);
    return status;
}

/* rank[value]: its place in the list, by any of its spellings. */
static kn_status rank_values(uint32_t *rank, const kn_build *build, const kn_paths *list, kn_error *err)
{
    const kn_column *column = build->column;
    for (uint32_t value = 0; value < build->n_present; value++) rank[value] = KN_NONE;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        uint32_t value = kn_column_value(column, s);
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (value < build->n_present && rank[value] == KN_NONE) rank[value] = kn_paths_find(list, bytes, n);
    }
    char more[64];
    const uint32_t first = kn_build_first_missing(more, build, rank);
    if (first == KN_NONE) return KN_OK;
    const kn_status status = kn_build_note_lacking(build, rank, list->name, "list every value of the data", err);
    if (status != KN_OK) return status;
    return kn_build_refuse_value(build, first, err, "is not in %s%s; list every value of the data", list->name, more);
}

/* order[i]: the i-th value of the data in the list's order. */
static kn_status sort_values(uint32_t *order, const kn_build *build, const uint32_t *rank, uint32_t n_listed,
                             kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *value_at = NULL, n = 0;
    KN_NEW_RAW(value_at, n_listed);
    memset(value_at, 0xFF, n_listed * sizeof *value_at);
    for (uint32_t value = 0; value < build->n_present; value++) value_at[rank[value]] = value;
    for (uint32_t i = 0; i < n_listed; i++)
        if (value_at[i] != KN_NONE) order[n++] = value_at[i];
    assert(n == build->n_present);
done:
    kn_free(value_at);
    return status;
}

/* Whether a run of the order says something else when it is read as an interval of numbers or dates. */
static bool misleads(const kn_build *build, const uint32_t *order)
{
    if (build->column->type == KN_TYPE_TEXT) return false;
    for (uint32_t i = 1; i < build->n_present; i++)
        if (order[i] < order[i - 1]) return true;
    return false;
}

static kn_status push_group(kn_build *build, const uint32_t *order, uint32_t first, uint32_t last, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer label = {0};
    const uint32_t ends[] = {order[first], order[last]};
    if (first == last) {
        size_t n;
        const char *bytes = kn_build_value(build, order[first], &n);
        return kn_build_label(build, bytes, n, err);
    }
    bool as_set = build->naming == KN_NAMES_SET;
    kn_text_members(&label, build->column, build->main_spelling, as_set ? order + first : ends,
                    as_set ? last - first + 1 : 2, as_set);
    if (label.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_build_label(build, label.bytes, label.n, err));
done:
    kn_buffer_free(&label);
    return status;
}

static kn_status build_tree(kn_build *build, const uint32_t *order, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = build->n_present, n_groupings = 0;
    while (n_groupings < 31 && UINT32_C(2) << n_groupings < n) n_groupings++;
    build->paths.n_levels = n_groupings + 2;
    for (uint32_t i = 0; i < n; i++) {
        KN_TRY(kn_build_leaf(build, order[i], err));
        for (uint32_t g = 0; g < n_groupings; g++) {
            uint32_t first = i >> (g + 1) << (g + 1);
            uint64_t last = first + (UINT64_C(2) << g) - 1;
            KN_TRY(push_group(build, order, first, last < n ? (uint32_t)last : n - 1, err));
        }
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}

/* The domain whose values stand in this order. */
static kn_status build_in_order(kn_build *build, const uint32_t *order, kn_error *err)
{
    kn_status status = KN_OK;
    build->ends_mislead = misleads(build, order);
    build->naming = build->ends_mislead ? KN_NAMES_SET : KN_NAMES_ENDS;
    if (build->request->must_be_tree) {
        KN_TRY(build_tree(build, order, err));
    } else {
        KN_NEW_RAW(build->code_of_value, build->column->n_values);
        for (uint32_t i = 0; i < build->n_present; i++) build->code_of_value[order[i]] = i;
        if (build->column->has_missing) build->code_of_value[build->n_present] = build->n_present;
    }
done:
    return status;
}

kn_status kn_build_order(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths list = {.name = build->paths.name, .redact = build->request->redact};
    uint32_t *rank = NULL, *order = NULL;
    KN_TRY(parse_list(&list, arguments, err));
    KN_NEW_RAW(rank, build->n_present);
    KN_NEW_RAW(order, build->n_present);
    KN_TRY(rank_values(rank, build, &list, err));
    KN_TRY(sort_values(order, build, rank, (uint32_t)list.ends.n, err));
    KN_TRY(build_in_order(build, order, err));
done:
    kn_paths_free(&list);
    kn_free(rank);
    kn_free(order);
    return status;
}

static int by_numbers(const void *a, const void *b, void *context)
{
    const kn_build *build = context;
    size_t n_a, n_b;
    const char *x = kn_build_value(build, *(const uint32_t *)a, &n_a);
    const char *y = kn_build_value(build, *(const uint32_t *)b, &n_b);
    return kn_natural_compare(x, n_a, y, n_b);
}

/* Numbers and dates stand in their order already. */
kn_status kn_build_natural(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *order = NULL;
    KN_NEW_RAW(order, build->n_present);
    for (uint32_t value = 0; value < build->n_present; value++) order[value] = value;
    if (build->column->type == KN_TYPE_TEXT) qsort_r(order, build->n_present, sizeof *order, by_numbers, build);
    build->is_natural = build->column->type == KN_TYPE_TEXT;
    KN_TRY(build_in_order(build, order, err));
done:
    kn_free(order);
    return status;
}
