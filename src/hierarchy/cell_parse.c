/* Released text back to a generalized value: see kn_cell_parse in domain.h. The inverse of cell_text.c, except where
 * one text stands for two things: then the wider one is meant. */
#include "hierarchy/builders.h"

#include "base/bytes.h"
#include "hierarchy/bounds.h"
#include "table/dates.h"
#include "table/number.h"

#include <stdlib.h>
#include <string.h>

/* --- Values ---------------------------------------------------------------------------------------------------- */

static uint32_t n_present(const kn_column *column) { return column->n_values - (column->has_missing ? 1 : 0); }

/* The first spelling of `value` or of the next one that has any: spellings are sorted by value. */
static uint32_t first_spelling(const kn_column *column, uint32_t value)
{
    if (column->spelling_value == NULL) return value;
    uint32_t low = 0, high = column->n_spellings;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column->spelling_value[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

uint32_t kn_column_find_text(const kn_column *column, const char *bytes, size_t n_bytes)
{
    uint32_t low = 0, high = first_spelling(column, n_present(column));
    for (uint32_t s = high; s < column->n_spellings; s++) {
        size_t n;
        const char *spelling = kn_column_bytes(column, s, &n);
        if (n == n_bytes && memcmp(spelling, bytes, n) == 0) return s;
    }
    while (column->type == KN_TYPE_TEXT && low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t n;
        const char *spelling = kn_column_bytes(column, middle, &n);
        int order = kn_bytes_compare(bytes, n_bytes, spelling, n);
        if (order == 0) return middle;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return KN_NONE;
}

/* The first value not below `number`. */
static uint32_t lower_bound(const kn_column *column, double number)
{
    uint32_t low = 0, high = n_present(column);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column->number[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The spelling with these bytes among those of the values that share this number. */
static uint32_t find_spelled(const kn_column *column, double number, const char *bytes, size_t n_bytes)
{
    uint32_t value = lower_bound(column, number);
    for (uint32_t s = first_spelling(column, value); s < column->n_spellings; s++) {
        value = kn_column_value(column, s);
        if (value >= n_present(column) || column->number[value] != number) break;
        size_t n;
        const char *there = kn_column_bytes(column, s, &n);
        if (n == n_bytes && memcmp(there, bytes, n) == 0) return s;
    }
    return KN_NONE;
}

/* A spelling of the same number: long numbers may share a double and still differ. */
static uint32_t find_number(const kn_column *column, const char *bytes, size_t n_bytes)
{
    kn_decimal wanted, decimal;
    if (kn_decimal_parse(&wanted, bytes, n_bytes, true) == KN_NUMBER_NONE) return KN_NONE;
    double number = kn_decimal_double(&wanted);
    for (uint32_t value = lower_bound(column, number); value < n_present(column) && column->number[value] == number;
         value++) {
        size_t n;
        uint32_t spelling = first_spelling(column, value);
        const char *there = kn_column_bytes(column, spelling, &n);
        if (kn_decimal_parse(&decimal, there, n, true) != KN_NUMBER_NONE && kn_decimal_compare(&wanted, &decimal) == 0)
            return spelling;
    }
    return KN_NONE;
}

/* Which day a date means depends on the column's form, which its spellings show. */
static uint32_t find_date(const kn_column *column, const char *bytes, size_t n_bytes)
{
    for (unsigned form = 1; form < KN_DATE_ANY; form <<= 1) {
        kn_moment moment;
        if (!kn_date_parse(&moment, bytes, n_bytes, form)) continue;
        uint32_t spelling = find_spelled(column, kn_moment_number(&moment), bytes, n_bytes);
        if (spelling != KN_NONE) return spelling;
    }
    kn_moment day; /* as releases write it, whatever form the data has */
    if (!kn_date_parse(&day, bytes, n_bytes, KN_DATE_ISO)) return KN_NONE;
    const uint32_t value = lower_bound(column, kn_moment_number(&day));
    const bool found = value < n_present(column) && column->number[value] == kn_moment_number(&day);
    return found ? first_spelling(column, value) : KN_NONE;
}

/* The code of a value of the data, or KN_NONE. */
static uint32_t find_code(const kn_domain *domain, const char *bytes, size_t n_bytes)
{
    const kn_column *column = domain->column;
    uint32_t spelling = kn_column_find_text(column, bytes, n_bytes);
    if (spelling == KN_NONE && column->type == KN_TYPE_DATE) spelling = find_date(column, bytes, n_bytes);
    if (spelling == KN_NONE && (column->type == KN_TYPE_INT || column->type == KN_TYPE_DECIMAL))
        spelling = find_number(column, bytes, n_bytes);
    return spelling != KN_NONE ? domain->code_of_spelling[spelling] : KN_NONE;
}

/* --- Intervals and sets ---------------------------------------------------------------------------------------- */

/* Moves `*at` to the next unescaped `stop` or to the end; the text before it, unescaped, goes to `out`. */
static void read_member(kn_buffer *out, const char *bytes, size_t n_bytes, size_t *at, const char *stop)
{
    size_t n_stop = strlen(stop);
    kn_buffer_clear(out);
    kn_buffer_append(out, "", 0);
    for (; *at < n_bytes; ++*at) {
        if (n_bytes - *at >= n_stop && memcmp(bytes + *at, stop, n_stop) == 0) return;
        if (bytes[*at] == '\\' && *at + 1 < n_bytes) ++*at;
        kn_buffer_char(out, bytes[*at]);
    }
}

/* Which value is the first above an end of an interval that is no value of the data: numbers and ISO dates have their
 * own place, other texts none. */
static bool place_end(uint32_t *out, const kn_column *column, const kn_buffer *text)
{
    kn_moment moment;
    kn_decimal end, there;
    if (column->number == NULL || text->n == 0) return false;
    if (column->type == KN_TYPE_DATE) {
        if (!kn_date_parse(&moment, text->bytes, text->n, KN_DATE_ISO)) return false;
        *out = lower_bound(column, kn_moment_number(&moment));
        return true;
    }
    if (kn_decimal_parse(&end, text->bytes, text->n, true) == KN_NUMBER_NONE) return false;
    double number = kn_decimal_double(&end);
    *out = lower_bound(column, number);
    for (; *out < n_present(column) && column->number[*out] == number; ++*out) { /* they share a double and differ */
        size_t n;
        const char *bytes = kn_column_bytes(column, first_spelling(column, *out), &n);
        kn_decimal_parse(&there, bytes, n, true);
        if (kn_decimal_compare(&there, &end) > 0) break;
    }
    return true;
}

static kn_status find_end(uint32_t *code, const kn_domain *domain, const kn_buffer *text, bool is_left, kn_error *err)
{
    uint32_t value;
    *code = find_code(domain, text->n > 0 ? text->bytes : "", text->n);
    const bool is_value = *code != KN_NONE && *code != domain->missing; /* 99 may stand for a missing cell, too */
    if (!is_value && place_end(&value, domain->column, text)) {
        if (is_left ? value == n_present(domain->column) : value == 0)
            return kn_error_set(err, KN_INPUT, "no value of the data lies in that interval");
        uint32_t nearest = is_left ? value : value - 1;
        /* under order() numbers need not stand in their order, and nothing is between two of them */
        if (domain->coding != NULL || domain->code_of_spelling[first_spelling(domain->column, nearest)] == nearest)
            *code = nearest;
    }
    if (*code == KN_NONE)
        return kn_error_set(err, KN_INPUT, "the %s end of that interval is no value of the column",
                            is_left ? "left" : "right");
    return *code != domain->missing ? KN_OK : kn_error_set(err, KN_INPUT, "the missing value is in no interval");
}

/* A day as releases write it: a period where cells have a time of day. */
static bool parse_day(double *from, double *to, const char *bytes, size_t n_bytes)
{
    kn_moment moment;
    if (memchr(bytes, ':', n_bytes) != NULL || !kn_date_parse(&moment, bytes, n_bytes, KN_DATE_ISO)) return false;
    *from = kn_moment_number(&moment);
    *to = *from + 1;
    return true;
}

/* A period of the calendar among the values: first .. past-1. */
static bool place_period(uint32_t *first, uint32_t *past, const kn_domain *domain, const char *bytes, size_t n_bytes)
{
    double from, to;
    if (domain->column->type != KN_TYPE_DATE || domain->naming == KN_NAMES_ENDS || n_bytes == 0) return false;
    if (!kn_period_parse(&from, &to, bytes, n_bytes) && !parse_day(&from, &to, bytes, n_bytes)) return false;
    *first = lower_bound(domain->column, from);
    *past = lower_bound(domain->column, to);
    return true;
}

/* The code past the end of an interval without its right end. */
static kn_status find_past(uint32_t *past, const kn_domain *domain, const kn_buffer *text, kn_error *err)
{
    *past = find_code(domain, text->n > 0 ? text->bytes : "", text->n);
    if (*past != KN_NONE || place_end(past, domain->column, text)) return KN_OK;
    return kn_error_set(err, KN_INPUT, "the right end of that interval is no value of the column");
}

/* An end that is not there is the first or the last value. */
static bool open_end(uint32_t *code, const kn_domain *domain, const kn_buffer *text, bool is_left)
{
    if (text->n > 0 || domain->naming == KN_NAMES_ENDS || domain->column->number == NULL) return false;
    *code = is_left ? 0 : domain->n_codes - (domain->missing == domain->n_codes - 1 ? 1 : 0);
    return true;
}

static kn_status parse_interval(kn_cell *out, const kn_domain *domain, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    size_t at = 0;
    uint32_t first, past, ignored;
    read_member(&text, bytes, n_bytes, &at, "..");
    if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (at == n_bytes) {
        if (!place_period(&first, &past, domain, bytes, n_bytes))
            KN_FAIL(KN_INPUT, "neither a value of the column nor an interval");
        if (first == past) KN_FAIL(KN_INPUT, "no value of the data lies in that interval");
        *out = (kn_cell){first, past - 1, KN_NONE};
        goto done;
    }
    bool is_placed = open_end(&first, domain, &text, true), has_left = !is_placed;
    is_placed = is_placed || place_period(&first, &ignored, domain, text.bytes, text.n);
    if (!is_placed) KN_TRY(find_end(&first, domain, &text, true, err));
    at += 2;
    bool is_open = at < n_bytes && bytes[at] == '<';
    at += is_open;
    read_member(&text, bytes, n_bytes, &at, "..");
    if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (at < n_bytes) KN_FAIL(KN_INPUT, "an interval has two ends");
    if (has_left && !is_open && open_end(&past, domain, &text, false)) {
    } else if (is_open) {
        KN_TRY(find_past(&past, domain, &text, err));
    } else if (!place_period(&ignored, &past, domain, text.bytes, text.n)) {
        KN_TRY(find_end(&past, domain, &text, false, err));
        past++;
    }
    if (first >= past) KN_FAIL(KN_INPUT, "no value of the data lies in that interval");
    *out = (kn_cell){first, past - 1, KN_NONE};
    if (domain->coding != NULL && domain->kind == KN_DOMAIN_RANGES) kn_domain_widen(domain, &out->first, &out->last);
done:
    kn_buffer_free(&text);
    return status;
}

/* [a,b): an old way to write a..<b. */
static kn_status parse_half_open(kn_cell *out, const kn_domain *domain, const char *bytes, size_t n_bytes,
                                 kn_error *err)
{
    kn_status status = KN_OK;
    const char *comma = memchr(bytes, ',', n_bytes);
    kn_buffer low = {0}, high = {0};
    uint32_t first, past;
    if (comma == NULL || bytes[n_bytes - 1] != ')') KN_FAIL(KN_INPUT, "neither a value of the column nor an interval");
    kn_buffer_append(&low, bytes + 1, (size_t)(comma - bytes) - 1);
    kn_buffer_append(&high, comma + 1, (size_t)(bytes + n_bytes - comma) - 2);
    if (low.failed || high.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(find_end(&first, domain, &low, true, err));
    KN_TRY(find_past(&past, domain, &high, err));
    if (first >= past) KN_FAIL(KN_INPUT, "no value of the data lies in that interval");
    *out = (kn_cell){first, past - 1, KN_NONE};
done:
    kn_buffer_free(&low);
    kn_buffer_free(&high);
    return status;
}

typedef KN_VECTOR(uint32_t) code_list;

/* 12**, **12: the values that begin (end) with what is not masked and have no more characters. */
static kn_status read_mask(code_list *codes, const kn_domain *domain, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    bool suffix = domain->naming == KN_NAMES_SUFFIX;
    size_t n_kept = n_bytes, n_text = kn_count_characters(bytes, n_bytes);
    while (n_kept > 0 && bytes[suffix ? n_bytes - n_kept : n_kept - 1] == '*') n_kept--;
    const char *kept = suffix ? bytes + n_bytes - n_kept : bytes;
    for (uint32_t code = 0; code < domain->n_codes && n_kept < n_bytes; code++) {
        size_t n;
        if (code == domain->missing) continue;
        const char *value = kn_column_bytes(domain->column, domain->spelling_of_code[code], &n);
        if (n >= n_kept && memcmp(suffix ? value + n - n_kept : value, kept, n_kept) == 0 &&
            kn_count_characters(value, n) <= n_text)
            KN_PUSH(codes, code);
    }
    if (codes->n == 0) KN_FAIL(KN_INPUT, "neither a value of the column nor a mask that covers one");
done:
    return status;
}

static kn_status read_set(code_list *codes, const kn_domain *domain, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    if (n_bytes < 3 || bytes[0] != '{') KN_FAIL(KN_INPUT, "neither a value of the column nor a set");
    size_t at = 1, end = 1;
    read_member(&text, bytes, n_bytes, &end, "}");
    if (end != n_bytes - 1) KN_FAIL(KN_INPUT, "a set ends with its only }");
    for (bool more = true; more; at++) {
        const char *raw = bytes + at;
        read_member(&text, bytes, end, &at, "|");
        if (text.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        more = at < end;
        const size_t n_mark = strlen(KN_MISSING_MEMBER);
        bool is_missing = bytes + at == raw + n_mark && memcmp(raw, KN_MISSING_MEMBER, n_mark) == 0;
        uint32_t code = is_missing ? domain->missing : find_code(domain, text.n > 0 ? text.bytes : "", text.n);
        if (code == KN_NONE) KN_FAIL(KN_INPUT, "member %zu of that set is no value of the column", codes->n + 1);
        KN_PUSH(codes, code);
    }
done:
    kn_buffer_free(&text);
    return status;
}

static kn_status parse_set(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const char *bytes, size_t n_bytes,
                           kn_error *err)
{
    kn_status status = KN_OK;
    code_list codes = {0};
    KN_TRY(read_set(&codes, domain, bytes, n_bytes, err));
    KN_TRY(kn_domain_closure(out, domain, sets, codes.items, codes.n, err));
done:
    kn_free(codes.items);
    return status;
}

static int by_code(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Whether a text has the dots of an interval, unescaped. */
static kn_status has_dots(bool *out, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_buffer text = {0};
    size_t at = 0;
    read_member(&text, bytes, n_bytes, &at, "..");
    *out = at < n_bytes;
    kn_status status = text.failed ? kn_error_set(err, KN_RESOURCES, "out of memory") : KN_OK;
    kn_buffer_free(&text);
    return status;
}

/* What is no label of the tree: one made from the data and written for the rows of a release (written_label.c), or a
 * part between two cut points (part.c). */
static kn_status parse_written(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const char *bytes,
                               size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    code_list codes = {0};
    const bool is_mask = domain->naming == KN_NAMES_PREFIX || domain->naming == KN_NAMES_SUFFIX;
    bool is_interval;
    KN_TRY(has_dots(&is_interval, bytes, n_bytes, err));
    is_interval = is_interval && kn_part_form_of(domain, false) == KN_PART_INTERVAL;
    const bool is_set = n_bytes > 1 && bytes[0] == '{' && bytes[n_bytes - 1] == '}'; /* {x* is a mask of {x} */
    if (is_set) KN_TRY(read_set(&codes, domain, bytes, n_bytes, err));
    else if (domain->n_stretches > 0 && kn_stretches_parse(out, domain, bytes, n_bytes)) {
    } else if (is_interval) KN_TRY(parse_interval(out, domain, bytes, n_bytes, err));
    else if (is_mask) KN_TRY(read_mask(&codes, domain, bytes, n_bytes, err));
    else if (domain->naming == KN_NAMES_GRID && n_bytes > 0 && bytes[0] == '[')
        KN_TRY(parse_half_open(out, domain, bytes, n_bytes, err));
    else KN_FAIL(KN_INPUT, "neither a value of the column nor a label of its hierarchy");
    if (codes.n > 0) {
        uint32_t n = 0;
        qsort(codes.items, codes.n, sizeof *codes.items, by_code);
        for (size_t i = 0; i < codes.n; i++)
            if (n == 0 || codes.items[n - 1] != codes.items[i]) codes.items[n++] = codes.items[i];
        *out = (kn_cell){codes.items[0], codes.items[n - 1], KN_NONE};
        codes.n = n < out->last - out->first + 1 ? n : 0;
    }
    KN_TRY(kn_set_pool_add_label(&out->id, sets, codes.items, (uint32_t)codes.n, bytes, n_bytes, err));
    out->id += domain->tree->n_nodes;
done:
    kn_free(codes.items);
    return status;
}

/* The node whose label says, in other words, what the interval does: 2024-02-01..2024-02-29 is 2024-02. */
static uint32_t find_same_interval(const kn_domain *domain, const char *bytes, size_t n_bytes)
{
    const kn_tree *tree = domain->tree;
    kn_bounds wanted, there;
    bool included, same;
    if (domain->naming != KN_NAMES_FIXED ||
        !kn_bounds_of_text(&wanted, &included, domain->column->type, bytes, n_bytes) ||
        wanted.kind != KN_BOUNDS_INTERVAL)
        return KN_NONE;
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        if (!kn_bounds_of_text(&there, &same, domain->column->type, label, n)) continue;
        if (same == included && strcmp(there.min, wanted.min) == 0 && strcmp(there.max, wanted.max) == 0) return node;
    }
    return KN_NONE;
}

/* A label names the widest node that carries it. A leaf is written as the data spells it, which need not be its label.
 */
static kn_status parse_label(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const char *bytes,
                             size_t n_bytes, kn_error *err)
{
    const kn_tree *tree = domain->tree;
    uint32_t code = find_code(domain, bytes, n_bytes), node = kn_tree_find(tree, bytes, n_bytes);
    if (code == KN_NONE && node == KN_NONE) node = find_same_interval(domain, bytes, n_bytes);
    if (code == KN_NONE && node == KN_NONE) return parse_written(out, domain, sets, bytes, n_bytes, err);
    if (node == KN_NONE || (code != KN_NONE && (code < tree->first[node] || code > tree->last[node]))) node = code;
    *out = (kn_cell){tree->first[node], tree->last[node], node};
    return KN_OK;
}

/* Numbers that a release of levels has as 480**, read in a column that has no tree here. */
static kn_status parse_mask(kn_cell *out, const kn_domain *domain, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    code_list codes = {0};
    KN_TRY(read_mask(&codes, domain, bytes, n_bytes, err));
    *out = (kn_cell){codes.items[0], codes.items[codes.n - 1], KN_NONE};
    if (out->last - out->first + 1 != codes.n)
        KN_FAIL(KN_INPUT, "a mask of numbers of different lengths; give the column the hierarchy mask(right)");
done:
    kn_free(codes.items);
    return status;
}

kn_status kn_cell_parse(kn_cell *out, const kn_domain *domain, kn_set_pool *sets, const char *bytes, size_t n_bytes,
                        kn_error *err)
{
    *out = (kn_cell){0, 0, KN_NONE};
    if (domain->n_codes == 0) return kn_error_set(err, KN_INPUT, "the column has no values");
    if (n_bytes == 1 && *bytes == '*') {
        *out = kn_domain_root(domain);
        return KN_OK;
    }
    if (domain->kind == KN_DOMAIN_TREE) return parse_label(out, domain, sets, bytes, n_bytes, err);
    uint32_t code = find_code(domain, bytes, n_bytes);
    if (code != KN_NONE) {
        *out = kn_domain_leaf(domain, code);
        return KN_OK;
    }
    if (domain->subsets != NULL) {
        const uint32_t member = kn_subsets_find(domain->subsets, bytes, n_bytes);
        if (member != KN_NONE) return kn_domain_member_cell(out, domain, sets, member, err);
        return kn_error_set(err, KN_INPUT, "neither a value of the column nor a label of its hierarchy");
    }
    uint32_t group = domain->groups != NULL ? kn_tree_find(domain->groups, bytes, n_bytes) : KN_NONE;
    if (group != KN_NONE && bytes[0] != '{') return kn_domain_group_cell(out, domain, sets, group, err);
    if (domain->kind == KN_DOMAIN_SETS) return parse_set(out, domain, sets, bytes, n_bytes, err);
    const bool is_number = domain->column->type == KN_TYPE_INT || domain->column->type == KN_TYPE_DECIMAL;
    if (is_number && n_bytes > 1 && bytes[n_bytes - 1] == '*') return parse_mask(out, domain, bytes, n_bytes, err);
    bool half_open = n_bytes > 0 && bytes[0] == '[' && domain->naming != KN_NAMES_ENDS;
    return (half_open ? parse_half_open : parse_interval)(out, domain, bytes, n_bytes, err);
}
