/* Type inference and the order of a dictionary.
 *
 * Every spelling gets a 64-bit key whose order is the order of the values wherever keys differ: the bits of the nearest
 * double for numbers, day and time for dates, the next eight bytes for text. Keys are sorted by radix (least
 * significant byte first, bytes that are the same everywhere skipped); runs of equal keys are then sorted by an exact
 * comparison, or, for text, by the next eight bytes. Cost: linear in the number of spellings for the usual column. */
#include "table/infer.h"

#include "table/dates.h"
#include "table/number.h"

#include <math.h>
#include <string.h>

enum { SMALL = 512, MAX_TEXT_DEPTH = 8, FIRST_DAY = -719164 /* below year 1, whatever the zone */ };

typedef struct item {
    uint64_t key;
    uint32_t spelling;
} item;

typedef struct order {
    const kn_spellings *spellings;
    const kn_infer_options *options;
    const char *column_name;
    kn_type type;
    kn_date_form form;
    bool exchangeable;  /* dates: day and month could be exchanged in every one */
    uint32_t n_present; /* items[0 .. n_present) are values, the rest is missing */
    item *items, *scratch;
} order;

static const char *bytes_of(const kn_spellings *spellings, uint32_t i, size_t *n_bytes)
{
    *n_bytes = (size_t)(spellings->offset[i + 1] - spellings->offset[i]);
    return spellings->bytes + spellings->offset[i];
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_missing(const char *bytes, size_t n_bytes, const kn_infer_options *options)
{
    while (n_bytes > 0 && is_blank(bytes[0])) bytes++, n_bytes--;
    while (n_bytes > 0 && is_blank(bytes[n_bytes - 1])) n_bytes--;
    if (options->n_null_values == 0) return n_bytes == 0;
    for (size_t i = 0; i < options->n_null_values; i++)
        if (strlen(options->null_values[i]) == n_bytes && memcmp(options->null_values[i], bytes, n_bytes) == 0)
            return true;
    return false;
}

/* --- Sorting --------------------------------------------------------------------------------------------------- */

static int compare_bytes(const order *o, uint32_t a, uint32_t b)
{
    size_t n_a, n_b;
    const char *bytes_a = bytes_of(o->spellings, a, &n_a), *bytes_b = bytes_of(o->spellings, b, &n_b);
    int difference = memcmp(bytes_a, bytes_b, n_a < n_b ? n_a : n_b);
    return difference != 0 ? difference : n_a < n_b ? -1 : n_a > n_b;
}

/* Exact: 0 when both spellings mean the same value. Text has one spelling per value. */
static int compare_values(const order *o, uint32_t a, uint32_t b)
{
    size_t n_a, n_b;
    const char *bytes_a = bytes_of(o->spellings, a, &n_a), *bytes_b = bytes_of(o->spellings, b, &n_b);
    if (o->type == KN_TYPE_INT || o->type == KN_TYPE_DECIMAL) {
        kn_decimal x, y;
        kn_decimal_parse(&x, bytes_a, n_a, true);
        kn_decimal_parse(&y, bytes_b, n_b, true);
        return kn_decimal_compare(&x, &y);
    }
    if (o->type == KN_TYPE_DATE) {
        kn_moment x, y;
        kn_date_parse(&x, bytes_a, n_a, o->form);
        kn_date_parse(&y, bytes_b, n_b, o->form);
        if (x.days != y.days) return x.days < y.days ? -1 : 1;
        return x.nanoseconds < y.nanoseconds ? -1 : x.nanoseconds > y.nanoseconds;
    }
    return compare_bytes(o, a, b);
}

static bool comes_before(const order *o, const item *a, const item *b)
{
    if (a->key != b->key) return a->key < b->key;
    int difference = compare_values(o, a->spelling, b->spelling);
    return difference != 0 ? difference < 0 : compare_bytes(o, a->spelling, b->spelling) < 0;
}

/* Merge sort by key, value, bytes; sorted insertion for the smallest runs. */
static void sort_by_comparison(const order *o, item *items, item *scratch, uint32_t n)
{
    if (n <= 8) {
        for (uint32_t i = 1; i < n; i++) {
            item moving = items[i];
            uint32_t j = i;
            for (; j > 0 && comes_before(o, &moving, &items[j - 1]); j--) items[j] = items[j - 1];
            items[j] = moving;
        }
        return;
    }
    uint32_t half = n / 2;
    sort_by_comparison(o, items, scratch, half);
    sort_by_comparison(o, items + half, scratch, n - half);
    memcpy(scratch, items, half * sizeof *items);
    uint32_t left = 0, right = half, to = 0;
    while (left < half && right < n)
        items[to++] = comes_before(o, &items[right], &scratch[left]) ? items[right++] : scratch[left++];
    memcpy(items + to, scratch + left, (half - left) * sizeof *items);
}

static void sort_by_radix(item *items, item *scratch, uint32_t n)
{
    uint32_t n_keys[8][256] = {{0}};
    for (uint32_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++) n_keys[byte][items[i].key >> (8 * byte) & 255]++;
    item *from = items, *to = scratch;
    for (int byte = 0; byte < 8; byte++) {
        if (n_keys[byte][from[0].key >> (8 * byte) & 255] == n) continue;
        uint32_t next[256], sum = 0;
        for (int digit = 0; digit < 256; digit++) {
            next[digit] = sum;
            sum += n_keys[byte][digit];
        }
        for (uint32_t i = 0; i < n; i++) to[next[from[i].key >> (8 * byte) & 255]++] = from[i];
        item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

static uint64_t text_key(const order *o, uint32_t spelling, uint32_t depth)
{
    size_t n_bytes, skipped = (size_t)depth * 8;
    const char *bytes = bytes_of(o->spellings, spelling, &n_bytes);
    unsigned char eight[8] = {0};
    if (n_bytes > skipped) memcpy(eight, bytes + skipped, n_bytes - skipped < 8 ? n_bytes - skipped : 8);
    uint64_t key = 0;
    for (int i = 0; i < 8; i++) key = key << 8 | eight[i];
    return key;
}

/* Items carry the keys of `depth` (text: bytes 8*depth ..; all items agree on the bytes before). */
static void sort_items(const order *o, item *items, item *scratch, uint32_t n, uint32_t depth)
{
    if (n <= SMALL || depth >= MAX_TEXT_DEPTH) {
        sort_by_comparison(o, items, scratch, n);
        return;
    }
    sort_by_radix(items, scratch, n);
    for (uint32_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && items[last].key == items[first].key; last++) {
        }
        if (last - first == 1) continue;
        if (o->type == KN_TYPE_TEXT && last - first > SMALL) {
            for (uint32_t i = first; i < last; i++) items[i].key = text_key(o, items[i].spelling, depth + 1);
            sort_items(o, items + first, scratch, last - first, depth + 1);
        } else {
            sort_by_comparison(o, items + first, scratch, last - first);
        }
    }
}

/* --- Types: each try_ sets the keys, or says which spelling does not fit ---------------------------------------- */

static uint64_t number_key(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

static bool try_numbers(order *o, bool only_whole, bool declared, uint32_t *misfit)
{
    bool all_whole = true;
    for (uint32_t i = 0; i < o->n_present; i++) {
        size_t n_bytes;
        kn_decimal decimal;
        const char *bytes = bytes_of(o->spellings, o->items[i].spelling, &n_bytes);
        kn_number_kind kind = kn_decimal_parse(&decimal, bytes, n_bytes, declared);
        if (kind == KN_NUMBER_NONE || (only_whole && kind != KN_NUMBER_WHOLE)) {
            *misfit = o->items[i].spelling;
            return false;
        }
        all_whole = all_whole && kind == KN_NUMBER_WHOLE;
        o->items[i].key = number_key(kn_decimal_double(&decimal));
    }
    o->type = all_whole && (only_whole || !declared) ? KN_TYPE_INT : KN_TYPE_DECIMAL;
    return true;
}

static bool try_dates(order *o, bool declared, uint32_t *misfit)
{
    unsigned forms = KN_DATE_ISO | KN_DATE_DOTS | KN_DATE_DAY | KN_DATE_MONTH | (declared ? KN_DATE_COMPACT : 0u);
    uint32_t n_zones = 0, n_times = 0;
    for (uint32_t i = 0; i < o->n_present; i++) {
        size_t n_bytes;
        const char *bytes = bytes_of(o->spellings, o->items[i].spelling, &n_bytes);
        forms = kn_date_forms(bytes, n_bytes, forms);
        *misfit = o->items[i].spelling;
        if (forms == 0) return false;
    }
    o->exchangeable = (forms & (forms - 1)) != 0;
    if (o->exchangeable) return false;
    o->form = (kn_date_form)forms;
    for (uint32_t i = 0; i < o->n_present; i++) {
        size_t n_bytes;
        kn_moment moment;
        const char *bytes = bytes_of(o->spellings, o->items[i].spelling, &n_bytes);
        kn_date_parse(&moment, bytes, n_bytes, o->form);
        n_zones += moment.has_zone;
        n_times += moment.has_time;
        *misfit = o->items[i].spelling;
        if (n_zones != 0 && n_zones != n_times) return false;
        o->items[i].key = (uint64_t)(moment.days - FIRST_DAY) << 42 | moment.nanoseconds >> 5;
    }
    o->type = KN_TYPE_DATE;
    return true;
}

static void set_text_keys(order *o)
{
    o->type = KN_TYPE_TEXT;
    for (uint32_t i = 0; i < o->n_present; i++) o->items[i].key = text_key(o, o->items[i].spelling, 0);
}

static kn_status refuse_misfit(const order *o, uint32_t misfit, kn_error *err)
{
    static const char *const wanted[] = {"", "a whole number", "a number", "a date in the form of the others", ""};
    size_t n_bytes;
    char shown[KN_SHOWN_BYTES];
    const char *bytes = bytes_of(o->spellings, misfit, &n_bytes);
    if (o->exchangeable)
        return kn_error_set(
            err, KN_INPUT,
            "%s: column '%s': day and month could be exchanged in every date; write them as 2024-01-31, "
            "or give the column the type text",
            o->options->source, o->column_name);
    return kn_error_set(err, KN_INPUT,
                        "%s:%llu: column '%s': %s is not %s; give the column another type, or name the value with "
                        "--null if it means a missing one",
                        o->options->source, (unsigned long long)o->spellings->first_line[misfit], o->column_name,
                        kn_value_shown(shown, bytes, n_bytes, o->options->redact), wanted[o->options->type]);
}

/* By line, so that the spelling refused does not depend on the order in which they were collected. */
static void sort_by_line(order *o)
{
    for (uint32_t i = 0; i < o->n_present; i++) o->items[i].key = o->spellings->first_line[o->items[i].spelling];
    if (o->n_present > 1) sort_by_radix(o->items, o->scratch, o->n_present);
}

static kn_status decide_type(order *o, kn_error *err)
{
    kn_type declared = o->options->type;
    uint32_t misfit = 0;
    bool fits;
    if (declared == KN_TYPE_AUTO) {
        if (o->n_present == 0 || (!try_numbers(o, false, false, &misfit) && !try_dates(o, false, &misfit)))
            set_text_keys(o);
        return KN_OK;
    }
    if (declared == KN_TYPE_TEXT || o->n_present == 0) {
        set_text_keys(o);
        o->type = declared;
        return KN_OK;
    }
    sort_by_line(o);
    fits =
        declared == KN_TYPE_DATE ? try_dates(o, true, &misfit) : try_numbers(o, declared == KN_TYPE_INT, true, &misfit);
    return fits ? KN_OK : refuse_misfit(o, misfit, err);
}

/* --- The column ------------------------------------------------------------------------------------------------ */

static kn_status copy_spellings(kn_column *column, uint32_t *new_code, const order *o, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_spellings *spellings = o->spellings;
    column->n_spellings = spellings->n;
    KN_NEW_RAW(column->bytes, (size_t)spellings->offset[spellings->n]);
    KN_NEW_RAW(column->offset, (size_t)spellings->n + 1);
    KN_NEW_RAW(column->first_line, spellings->n);
    uint64_t at = 0;
    for (uint32_t i = 0; i < spellings->n; i++) {
        size_t n_bytes;
        const char *bytes = bytes_of(spellings, o->items[i].spelling, &n_bytes);
        memcpy(column->bytes + at, bytes, n_bytes);
        column->offset[i] = at;
        column->first_line[i] = spellings->first_line[o->items[i].spelling];
        new_code[o->items[i].spelling] = i;
        at += n_bytes;
    }
    column->offset[spellings->n] = at;
done:
    return status;
}

/* Spellings are in order; equal neighbours are one value. */
static kn_status number_values(kn_column *column, const order *o, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_spellings = column->n_spellings;
    uint32_t *value_of = NULL;
    column->has_missing = o->n_present < n_spellings;
    column->n_values = n_spellings;
    bool text = column->type == KN_TYPE_TEXT;
    if (text && n_spellings - o->n_present <= 1) return KN_OK;
    KN_NEW_RAW(value_of, n_spellings);
    uint32_t n_values = 0;
    for (uint32_t i = 0; i < n_spellings; i++) {
        bool same = i > o->n_present || (i > 0 && i < o->n_present && !text && o->items[i].key == o->items[i - 1].key &&
                                         compare_values(o, o->items[i].spelling, o->items[i - 1].spelling) == 0);
        n_values += !same;
        value_of[i] = n_values - 1;
    }
    column->n_values = n_values;
    if (n_values < n_spellings) {
        column->spelling_value = value_of;
        value_of = NULL;
    }
done:
    kn_free(value_of);
    return status;
}

static kn_status set_numbers(kn_column *column, const order *o, kn_error *err)
{
    kn_status status = KN_OK;
    if (column->type == KN_TYPE_TEXT) return KN_OK;
    KN_NEW_RAW(column->number, column->n_values);
    for (uint32_t i = 0; i < column->n_spellings; i++) {
        size_t n_bytes;
        const char *bytes = kn_column_bytes(column, i, &n_bytes);
        double *number = &column->number[kn_column_value(column, i)];
        if (i >= o->n_present) {
            *number = NAN;
        } else if (column->type == KN_TYPE_DATE) {
            kn_moment moment;
            kn_date_parse(&moment, bytes, n_bytes, o->form);
            *number = kn_moment_number(&moment);
        } else {
            kn_decimal decimal;
            kn_decimal_parse(&decimal, bytes, n_bytes, true);
            *number = kn_decimal_double(&decimal);
        }
    }
done:
    return status;
}

/* Items: the values first, the missing spellings after them. */
static void split_missing(order *o)
{
    uint32_t n_missing = 0, n = o->spellings->n;
    for (uint32_t i = 0; i < n; i++) {
        size_t n_bytes;
        const char *bytes = bytes_of(o->spellings, i, &n_bytes);
        if (is_missing(bytes, n_bytes, o->options))
            o->items[n - ++n_missing] = (item){0, i};
        else
            o->items[o->n_present++] = (item){0, i};
    }
}

kn_status kn_column_set_spellings(kn_column *column, uint32_t **new_code, const kn_spellings *spellings,
                                  const kn_infer_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    order o = {.spellings = spellings, .options = options, .column_name = column->name};
    uint32_t *codes = NULL;
    *new_code = NULL;
    KN_NEW_RAW(o.items, spellings->n);
    KN_NEW_RAW(o.scratch, spellings->n);
    split_missing(&o);
    KN_TRY(decide_type(&o, err));
    column->type = o.type;
    sort_items(&o, o.items, o.scratch, o.n_present, 0);
    kn_type type = o.type;
    o.type = KN_TYPE_TEXT; /* the spellings of the missing value, by bytes */
    sort_by_comparison(&o, o.items + o.n_present, o.scratch, spellings->n - o.n_present);
    o.type = type;
    kn_free(o.scratch);
    o.scratch = NULL;
    KN_NEW_RAW(codes, spellings->n);
    KN_TRY(copy_spellings(column, codes, &o, err));
    KN_TRY(number_values(column, &o, err));
    KN_TRY(set_numbers(column, &o, err));
    *new_code = codes;
    codes = NULL;
done:
    kn_free(codes);
    kn_free(o.items);
    kn_free(o.scratch);
    return status;
}
