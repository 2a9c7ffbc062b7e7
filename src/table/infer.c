/* Type inference and the order of a dictionary.
 *
 * Every spelling gets a 64-bit key whose order is the order of the values wherever keys differ: the bits of the nearest
 * double for numbers, day and time for dates, eight bytes behind the prefix that all share for text. Keys are sorted by
 * radix (least significant digit first, digits that are the same everywhere skipped); runs of equal keys are then
 * sorted by an exact comparison, or, for text, by the next eight bytes. Sorted lists are merged two by two, equal
 * spellings become one. Cost: linear in the number of spellings for the usual column.
 *
 * Sorting, not hashing, is what joins the lists of several readers: it has to be done anyway, and it runs through
 * memory in order. */
#include "table/infer.h"

#include "base/bytes.h"
#include "table/dates.h"
#include "table/number.h"

#include <math.h>
#include <string.h>

enum {
    SMALL = 512,
    MAX_TEXT_DEPTH = 8,
    FIRST_DAY = -719164, /* below year 1, whatever the zone */
    DIGIT_BITS = 11,
    N_DIGITS = 6,
    AHEAD = 24 /* items whose bytes are fetched before their turn */
};

typedef struct item {
    uint64_t key;
    uint32_t spelling, list;
} item;

typedef struct list_state {
    item *items, *scratch; /* room for every spelling of the list */
    uint32_t n_present;    /* items[0 .. n_present) are values, ... */
    uint32_t n_words;      /* ... n_words behind them are if the column is text, the rest is missing */
    bool numbers, whole;   /* all of them are; then the keys are set */
    unsigned forms;        /* of dates that all of them have */
    uint32_t n_zones, n_times;
    size_t n_prefix; /* bytes that all share with the reference */
} list_state;

typedef struct kn_inference {
    const kn_spellings *lists;
    uint32_t n_lists;
    const kn_infer_options *options;
    const char *column_name;
    list_state *states;
    item *items, *scratch; /* of all lists, one after the other */
    size_t n_items;
    const char *reference; /* any present spelling; NULL: there is none */
    size_t n_reference;

    /* after kn_inference_decide */
    kn_type type;
    kn_marks marks;
    kn_date_form form;
    bool exchangeable; /* dates: day and month could be exchanged in every one */
    size_t n_prefix;
} kn_inference;

static inline const char *bytes_in(const kn_spellings *spellings, uint32_t i, size_t *n_bytes)
{
    *n_bytes = (size_t)(spellings->offset[i + 1] - spellings->offset[i]);
    return spellings->bytes + spellings->offset[i];
}

static inline const char *bytes_of(const kn_inference *o, const item *it, size_t *n_bytes)
{
    return bytes_in(&o->lists[it->list], it->spelling, n_bytes);
}

/* memcpy for the few bytes of a cell, without the call; never reads or writes beyond them. */
static inline void copy_bytes(char *to, const char *from, size_t n)
{
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + n - 8, 8);
        memcpy(to, &first, 8);
        memcpy(to + n - 8, &last, 8);
    } else if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + n - 4, 4);
        memcpy(to, &first, 4);
        memcpy(to + n - 4, &last, 4);
    } else if (n > 0) {
        char first = from[0], middle = from[n / 2], last = from[n - 1];
        to[0] = first;
        to[n / 2] = middle;
        to[n - 1] = last;
    }
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool is_missing(const char *bytes, size_t n_bytes, const kn_infer_options *options)
{
    while (n_bytes > 0 && is_blank(bytes[0])) bytes++, n_bytes--;
    while (n_bytes > 0 && is_blank(bytes[n_bytes - 1])) n_bytes--;
    if (n_bytes == 0) return true;
    for (size_t i = 0; i < options->n_null_values; i++)
        if (strlen(options->null_values[i]) == n_bytes && memcmp(options->null_values[i], bytes, n_bytes) == 0)
            return true;
    return false;
}

/* --- Sorting --------------------------------------------------------------------------------------------------- */

static int compare_bytes(const kn_inference *o, const item *a, const item *b)
{
    size_t n_a, n_b;
    const char *bytes_a = bytes_of(o, a, &n_a), *bytes_b = bytes_of(o, b, &n_b);
    return kn_bytes_compare(bytes_a, n_a, bytes_b, n_b);
}

/* A spelling of a column of numbers; `plain` holds it while its marks are taken away. */
static void read_decimal(kn_decimal *out, const kn_inference *o, const item *it, char plain[KN_MARKED_BYTES])
{
    size_t n;
    const char *bytes = bytes_of(o, it, &n);
    if (o->marks != KN_MARKS_PLAIN) {
        n = kn_number_plain(plain, bytes, n, o->marks);
        bytes = plain;
    }
    kn_decimal_parse(out, bytes, n, true);
}

/* Exact: 0 when both spellings mean the same value. Text has one spelling per value. */
static int compare_values(const kn_inference *o, const item *a, const item *b)
{
    size_t n_a, n_b;
    const char *bytes_a = bytes_of(o, a, &n_a), *bytes_b = bytes_of(o, b, &n_b);
    if (o->type == KN_TYPE_INT || o->type == KN_TYPE_DECIMAL) {
        kn_decimal x, y;
        char plain_x[KN_MARKED_BYTES], plain_y[KN_MARKED_BYTES];
        read_decimal(&x, o, a, plain_x);
        read_decimal(&y, o, b, plain_y);
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

static inline bool comes_before(const kn_inference *o, const item *a, const item *b)
{
    if (a->key != b->key) return a->key < b->key;
    int bytes = compare_bytes(o, a, b);
    if (bytes == 0 || o->type == KN_TYPE_TEXT) return bytes < 0;
    int values = compare_values(o, a, b);
    return values != 0 ? values < 0 : bytes < 0;
}

static void merge_runs(const kn_inference *o, item *out, const item *a, size_t n_a, const item *b, size_t n_b)
{
    const item *end_a = a + n_a, *end_b = b + n_b;
    while (a < end_a && b < end_b) *out++ = comes_before(o, b, a) ? *b++ : *a++;
    memcpy(out, a, (size_t)(end_a - a) * sizeof *out);
    out += end_a - a;
    memcpy(out, b, (size_t)(end_b - b) * sizeof *out);
}

/* Merge sort by key, value, bytes; sorted insertion for the smallest runs. */
static void sort_by_comparison(const kn_inference *o, item *items, item *scratch, size_t n)
{
    if (n <= 8) {
        for (size_t i = 1; i < n; i++) {
            item moving = items[i];
            size_t j = i;
            for (; j > 0 && comes_before(o, &moving, &items[j - 1]); j--) items[j] = items[j - 1];
            items[j] = moving;
        }
        return;
    }
    size_t half = n / 2, left = 0, right = half, to = 0;
    sort_by_comparison(o, items, scratch, half);
    sort_by_comparison(o, items + half, scratch, n - half);
    memcpy(scratch, items, half * sizeof *items);
    while (left < half && right < n)
        items[to++] = comes_before(o, &items[right], &scratch[left]) ? items[right++] : scratch[left++];
    memcpy(items + to, scratch + left, (half - left) * sizeof *items);
}

static void sort_by_radix(item *items, item *scratch, uint32_t n)
{
    enum { MASK = (1 << DIGIT_BITS) - 1 };
    uint32_t n_keys[N_DIGITS][1 << DIGIT_BITS] = {{0}};
    for (uint32_t i = 0; i < n; i++)
        for (int digit = 0; digit < N_DIGITS; digit++) n_keys[digit][items[i].key >> (DIGIT_BITS * digit) & MASK]++;
    item *from = items, *to = scratch;
    for (int digit = 0; digit < N_DIGITS; digit++) {
        uint32_t *next = n_keys[digit], sum = 0;
        int shift = DIGIT_BITS * digit;
        if (next[from[0].key >> shift & MASK] == n) continue;
        for (int i = 0; i <= MASK; i++) {
            uint32_t n_equal = next[i];
            next[i] = sum;
            sum += n_equal;
        }
        for (uint32_t i = 0; i < n; i++) to[next[from[i].key >> shift & MASK]++] = from[i];
        item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

/* Bytes skipped .. skipped+7 as a number whose order is theirs; zeros behind the end. */
static inline uint64_t text_key(const kn_inference *o, const item *it, uint32_t depth)
{
    size_t n_bytes, skipped = o->n_prefix + (size_t)depth * 8;
    const char *bytes = bytes_of(o, it, &n_bytes);
    char eight[8] = {0};
    uint64_t key;
    if (n_bytes > skipped) copy_bytes(eight, bytes + skipped, n_bytes - skipped < 8 ? n_bytes - skipped : 8);
    memcpy(&key, eight, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return key;
#else
    return __builtin_bswap64(key);
#endif
}

/* Items carry the keys of `depth` (text: all agree on the bytes before) and get them back. */
static void sort_items(const kn_inference *o, item *items, item *scratch, uint32_t n, uint32_t depth)
{
    if (n <= SMALL || depth >= MAX_TEXT_DEPTH) {
        sort_by_comparison(o, items, scratch, n);
        return;
    }
    sort_by_radix(items, scratch, n);
    for (uint32_t first = 0, last; first < n; first = last) {
        uint64_t key = items[first].key;
        for (last = first + 1; last < n && items[last].key == key; last++) {
        }
        if (last - first == 1) continue;
        if (o->type == KN_TYPE_TEXT && last - first > SMALL) {
            for (uint32_t i = first; i < last; i++) items[i].key = text_key(o, &items[i], depth + 1);
            sort_items(o, items + first, scratch, last - first, depth + 1);
            for (uint32_t i = first; i < last; i++) items[i].key = key;
        } else {
            sort_by_comparison(o, items + first, scratch, last - first);
        }
    }
}

/* --- Looking: what every spelling of a list could be ------------------------------------------------------------- */

static uint64_t key_of_number(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

static double number_of_key(uint64_t key)
{
    uint64_t bits = key >> 63 != 0 ? key & ~((uint64_t)1 << 63) : ~key;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static bool is_declared(const kn_inference *o) { return o->options->type != KN_TYPE_AUTO; }

static void look_for_numbers(const kn_inference *o, list_state *state)
{
    state->numbers = state->whole = true;
    for (uint32_t i = 0; i < state->n_present; i++) {
        size_t n_bytes;
        double number;
        const char *bytes = bytes_of(o, &state->items[i], &n_bytes);
        kn_number_kind kind = kn_number_read(&number, bytes, n_bytes, is_declared(o));
        state->numbers = kind != KN_NUMBER_NONE;
        if (!state->numbers) break;
        state->whole = state->whole && kind == KN_NUMBER_WHOLE;
        state->items[i].key = key_of_number(number);
    }
}

/* Nobody said that they are dates: numbers that are dates by chance do not count. */
static unsigned forms_of(const kn_inference *o, const char *bytes, size_t n_bytes, unsigned forms)
{
    forms = kn_date_forms(bytes, n_bytes, forms);
    if (!is_declared(o) && (forms & KN_DATE_COMPACT) && !kn_date_is_plausible(bytes, n_bytes))
        forms &= ~(unsigned)KN_DATE_COMPACT;
    return forms;
}

static void look_for_dates(const kn_inference *o, list_state *state)
{
    state->forms = KN_DATE_ISO | KN_DATE_DOTS | KN_DATE_DAY | KN_DATE_MONTH | KN_DATE_COMPACT;
    if (state->numbers && !is_declared(o)) state->forms = KN_DATE_COMPACT;
    for (uint32_t i = 0; i < state->n_present && state->forms != 0; i++) {
        size_t n_bytes;
        kn_moment moment;
        const char *bytes = bytes_of(o, &state->items[i], &n_bytes);
        state->forms = forms_of(o, bytes, n_bytes, state->forms);
        bool has_zones = state->forms == KN_DATE_ISO || state->forms == KN_DATE_COMPACT;
        if (has_zones && kn_date_parse(&moment, bytes, n_bytes, (kn_date_form)state->forms)) {
            state->n_zones += moment.has_zone;
            state->n_times += moment.has_time;
        }
    }
}

static void look_for_prefix(const kn_inference *o, list_state *state)
{
    state->n_prefix = o->n_reference;
    for (uint32_t i = 0; i < state->n_present + state->n_words && state->n_prefix > 0; i++) {
        size_t n_bytes, n = 0;
        const char *bytes = bytes_of(o, &state->items[i], &n_bytes);
        size_t limit = n_bytes < state->n_prefix ? n_bytes : state->n_prefix;
        while (n < limit && bytes[n] == o->reference[n]) n++;
        state->n_prefix = n;
    }
}

/* Values first, then words that may mean nothing, then what is missing. */
static void part_list(kn_inference *o, uint32_t list)
{
    list_state *state = &o->states[list];
    uint32_t n_missing = 0, n = o->lists[list].n;
    for (uint32_t i = 0; i < n; i++) {
        size_t n_bytes;
        const char *bytes = bytes_in(&o->lists[list], i, &n_bytes);
        if (is_missing(bytes, n_bytes, o->options)) {
            state->items[n - ++n_missing] = (item){0, i, list};
        } else if (o->options->type != KN_TYPE_TEXT && n_bytes < 16 && kn_is_null_word(bytes, n_bytes)) {
            state->items[state->n_present + state->n_words++] = (item){0, i, list};
        } else {
            state->items[state->n_present + state->n_words] = state->items[state->n_present];
            state->items[state->n_present++] = (item){0, i, list};
        }
    }
}

void kn_inference_look(kn_inference *o, uint32_t list)
{
    list_state *state = &o->states[list];
    kn_type declared = o->options->type;
    part_list(o, list);
    if (declared != KN_TYPE_TEXT && declared != KN_TYPE_DATE) look_for_numbers(o, state);
    bool may_be_dates = !state->numbers || state->n_present == 0 || state->whole;
    if (declared == KN_TYPE_DATE || (declared == KN_TYPE_AUTO && may_be_dates)) look_for_dates(o, state);
    if (declared == KN_TYPE_TEXT || (!state->numbers && state->forms == 0)) look_for_prefix(o, state);
    if (state->n_present + state->n_words == 0) state->n_prefix = o->n_reference;
}

/* --- Deciding ---------------------------------------------------------------------------------------------------- */

static bool dates_agree(kn_inference *o)
{
    unsigned forms = ~0u;
    uint64_t n_zones = 0, n_times = 0;
    for (uint32_t l = 0; l < o->n_lists; l++) {
        if (o->states[l].n_present == 0) continue;
        forms &= o->states[l].forms;
        n_zones += o->states[l].n_zones;
        n_times += o->states[l].n_times;
    }
    o->exchangeable = forms == (KN_DATE_DAY | KN_DATE_MONTH);
    o->form = (kn_date_form)forms;
    return forms != 0 && (forms & (forms - 1)) == 0 && (n_zones == 0 || n_zones == n_times);
}

/* The first line where a declared type does not fit what stands before it. Rare, so it may be slow. */
static item first_misfit(kn_inference *o)
{
    size_t n = 0;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present; i++) {
            item it = o->states[l].items[i];
            it.key = o->lists[l].first_line[it.spelling];
            o->items[n++] = it;
        }
    sort_by_radix(o->items, o->scratch, (uint32_t)n);
    unsigned forms = ~0u;
    bool zones = false, bare_times = false;
    for (size_t i = 0; i < n; i++) {
        size_t n_bytes;
        double number;
        kn_moment moment;
        const char *bytes = bytes_of(o, &o->items[i], &n_bytes);
        kn_number_kind kind = kn_number_read(&number, bytes, n_bytes, true);
        bool fits = o->options->type == KN_TYPE_INT ? kind == KN_NUMBER_WHOLE : kind != KN_NUMBER_NONE;
        if (o->options->type == KN_TYPE_DATE) {
            forms &= kn_date_forms(bytes, n_bytes, 31);
            if (kn_date_parse(&moment, bytes, n_bytes, KN_DATE_ISO) ||
                kn_date_parse(&moment, bytes, n_bytes, KN_DATE_COMPACT)) {
                zones = zones || moment.has_zone;
                bare_times = bare_times || (moment.has_time && !moment.has_zone);
            }
            fits = forms != 0 && !(zones && bare_times);
        }
        if (!fits) return o->items[i];
    }
    return o->items[0];
}

static kn_status refuse_misfit(kn_inference *o, kn_error *err)
{
    static const char *const wanted[] = {"", "a whole number", "a number", "a date in the form of the others", ""};
    size_t n_bytes;
    char shown[KN_SHOWN_BYTES];
    if (o->options->type == KN_TYPE_DATE && o->exchangeable)
        return kn_error_set_at(
            err, KN_INPUT, KN_PLACE(.file = o->options->source, .column = o->column_name, .option = "type"),
            "%s: column '%s': day and month could be exchanged in every date; write them as 2024-01-31, "
            "or give the column the type text",
            o->options->source, o->column_name);
    item misfit = first_misfit(o);
    const char *bytes = bytes_of(o, &misfit, &n_bytes);
    return kn_error_set_at(
        err, KN_INPUT,
        KN_PLACE(.file = o->options->source, .line = o->lists[misfit.list].first_line[misfit.spelling],
                 .column = o->column_name, .option = "type"),
        "%s:%llu: column '%s': %s is not %s; give the column another type, name the value with --null if it means "
        "a missing one, or say --invalid missing",
        o->options->source, (unsigned long long)o->lists[misfit.list].first_line[misfit.spelling], o->column_name,
        kn_value_shown(shown, bytes, n_bytes, o->options->redact), wanted[o->options->type]);
}

/* The one way in which all numbers of the column can be read, or what the user said; PLAIN: there is none. */
static kn_marks find_marks(const kn_inference *o)
{
    unsigned ways = KN_MARKS_POINT | KN_MARKS_COMMA;
    if (o->options->decimal == KN_DECIMAL_POINT) ways = KN_MARKS_POINT;
    if (o->options->decimal == KN_DECIMAL_COMMA) ways = KN_MARKS_COMMA;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present && ways != 0; i++) {
            size_t n;
            const char *bytes = bytes_of(o, &o->states[l].items[i], &n);
            ways &= kn_number_ways(bytes, n, is_declared(o));
        }
    return ways == KN_MARKS_POINT || ways == KN_MARKS_COMMA ? (kn_marks)ways : KN_MARKS_PLAIN;
}

/* The keys of numbers with marks, which were none when the lists were looked at. */
static bool set_marked_keys(kn_inference *o)
{
    bool whole = true;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present; i++) {
            size_t n;
            char plain[KN_MARKED_BYTES];
            double number;
            const char *bytes = bytes_of(o, &o->states[l].items[i], &n);
            n = kn_number_plain(plain, bytes, n, o->marks);
            whole &= kn_number_read(&number, plain, n, true) == KN_NUMBER_WHOLE;
            o->states[l].items[i].key = key_of_number(number);
        }
    return whole;
}

/* The form that most dates of a declared column have. */
static kn_date_form usual_form(const kn_inference *o)
{
    uint32_t n_fit[5] = {0}, best = 0;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present; i++) {
            size_t n;
            const char *bytes = bytes_of(o, &o->states[l].items[i], &n);
            unsigned forms = kn_date_forms(bytes, n, 31);
            for (uint32_t f = 0; f < 5; f++) n_fit[f] += forms >> f & 1;
        }
    for (uint32_t f = 1; f < 5; f++)
        if (n_fit[f] > n_fit[best]) best = f;
    return (kn_date_form)(1u << best);
}

static bool fits_type(const kn_inference *o, const char *bytes, size_t n, kn_date_form form)
{
    double number;
    kn_moment moment;
    char plain[KN_MARKED_BYTES];
    const kn_decimal_asked decimal = o->options->decimal;
    if (o->options->type == KN_TYPE_DATE) return kn_date_parse(&moment, bytes, n, form);
    if (decimal != KN_DECIMAL_AUTO) {
        n = kn_number_plain(plain, bytes, n, decimal == KN_DECIMAL_COMMA ? KN_MARKS_COMMA : KN_MARKS_POINT);
        bytes = plain;
    }
    kn_number_kind kind = kn_number_read(&number, bytes, n, true);
    return o->options->type == KN_TYPE_INT ? kind == KN_NUMBER_WHOLE : kind != KN_NUMBER_NONE;
}

/* What a declared type does not fit goes to the missing cells, and the lists are looked at again. */
static void drop_misfits(kn_inference *o)
{
    const kn_date_form form = usual_form(o);
    for (uint32_t l = 0; l < o->n_lists; l++) {
        list_state *state = &o->states[l];
        uint32_t n_kept = 0, n_before = state->n_present, n_dropped = 0;
        for (uint32_t i = 0; i < n_before; i++) {
            size_t n;
            const item it = state->items[i];
            const char *bytes = bytes_of(o, &it, &n);
            if (fits_type(o, bytes, n, form)) state->items[n_kept++] = it;
            else state->scratch[n_dropped++] = it;
        }
        if (n_dropped > 0) memcpy(state->items + n_kept, state->scratch, n_dropped * sizeof *state->items);
        state->n_present = n_kept;
        state->n_zones = state->n_times = 0;
        if (o->options->type != KN_TYPE_DATE) look_for_numbers(o, state);
        else look_for_dates(o, state);
    }
}

static kn_type type_found(kn_inference *o, bool *present)
{
    const kn_type declared = o->options->type;
    bool numbers = true, whole = true, compact = true;
    *present = false;
    for (uint32_t l = 0; l < o->n_lists; l++) {
        const list_state *state = &o->states[l];
        if (state->n_present == 0) continue;
        *present = true;
        numbers = numbers && state->numbers;
        whole = whole && state->whole;
        compact = compact && state->forms == KN_DATE_COMPACT;
    }
    o->marks = KN_MARKS_PLAIN;
    if (!*present || declared == KN_TYPE_TEXT) return KN_TYPE_TEXT; /* no number, so it has no marks */
    if (declared == KN_TYPE_DATE) return dates_agree(o) ? KN_TYPE_DATE : KN_TYPE_TEXT;
    if (declared == KN_TYPE_AUTO && numbers && whole && compact && dates_agree(o)) return KN_TYPE_DATE;
    if (!numbers || o->options->decimal == KN_DECIMAL_COMMA) {
        o->marks = find_marks(o);
        numbers = o->marks != KN_MARKS_PLAIN;
        if (numbers) whole = set_marked_keys(o);
    }
    if (numbers) return whole ? KN_TYPE_INT : KN_TYPE_DECIMAL;
    return declared == KN_TYPE_AUTO && dates_agree(o) ? KN_TYPE_DATE : KN_TYPE_TEXT;
}

/* Words that mean nothing among numbers are values among words. */
static void place_words(kn_inference *o)
{
    o->n_prefix = o->n_reference;
    for (uint32_t l = 0; l < o->n_lists; l++) {
        list_state *state = &o->states[l];
        if (state->n_present + state->n_words > 0 && state->n_prefix < o->n_prefix) o->n_prefix = state->n_prefix;
        if (o->type == KN_TYPE_TEXT) state->n_present += state->n_words;
        state->n_words = 0;
    }
}

kn_status kn_inference_decide(kn_inference *o, kn_error *err)
{
    kn_type declared = o->options->type;
    bool present;
    o->type = type_found(o, &present);
    if (declared == KN_TYPE_DECIMAL && o->type == KN_TYPE_INT) o->type = KN_TYPE_DECIMAL;
    if (present && declared != KN_TYPE_AUTO && declared != KN_TYPE_TEXT && declared != o->type &&
        o->options->invalid_is_missing && !o->exchangeable) {
        drop_misfits(o);
        o->type = type_found(o, &present);
        if (declared == KN_TYPE_DECIMAL && o->type == KN_TYPE_INT) o->type = KN_TYPE_DECIMAL;
    }
    if (!present) o->type = declared == KN_TYPE_AUTO ? KN_TYPE_TEXT : declared;
    if (present && declared != KN_TYPE_AUTO && declared != o->type) return refuse_misfit(o, err);
    place_words(o);
    return KN_OK;
}

static void set_date_keys(const kn_inference *o, list_state *state)
{
    for (uint32_t i = 0; i < state->n_present; i++) {
        size_t n_bytes;
        kn_moment moment;
        const char *bytes = bytes_of(o, &state->items[i], &n_bytes);
        kn_date_parse(&moment, bytes, n_bytes, o->form);
        state->items[i].key = (uint64_t)(moment.days - FIRST_DAY) << 42 | moment.nanoseconds >> 5;
    }
}

void kn_inference_sort(kn_inference *o, uint32_t list)
{
    list_state *state = &o->states[list];
    if (o->type == KN_TYPE_DATE) set_date_keys(o, state);
    for (uint32_t i = 0; o->type == KN_TYPE_TEXT && i < state->n_present; i++)
        state->items[i].key = text_key(o, &state->items[i], 0);
    sort_items(o, state->items, state->scratch, state->n_present, 0);
}

/* --- The column -------------------------------------------------------------------------------------------------- */

typedef struct in_order {
    item *items;
    uint32_t n_present, n;
} in_order;

/* Merges the present spellings of all lists: neighbours two by two, from one array into the other and back. */
static kn_status merge_lists(item **out, kn_inference *o, kn_error *err)
{
    kn_status status = KN_OK;
    struct run {
        const item *items;
        size_t n;
    } *runs = NULL;
    uint32_t n_runs = 0;
    item *to = o->scratch, *spare = o->items;
    KN_NEW(runs, o->n_lists + 1);
    for (uint32_t l = 0; l < o->n_lists; l++)
        if (o->states[l].n_present > 0) {
            runs[n_runs].items = o->states[l].items;
            runs[n_runs++].n = o->states[l].n_present;
        }
    while (n_runs > 1) {
        item *at = to;
        uint32_t n_merged = 0;
        for (uint32_t i = 0; i < n_runs; i += 2) {
            size_t n_b = i + 1 < n_runs ? runs[i + 1].n : 0;
            merge_runs(o, at, runs[i].items, runs[i].n, n_b != 0 ? runs[i + 1].items : runs[i].items, n_b);
            runs[n_merged++] = (struct run){at, runs[i].n + n_b};
            at += runs[n_merged - 1].n;
        }
        n_runs = n_merged;
        item *swapped = to;
        to = spare;
        spare = swapped;
    }
    /* One list alone may stand anywhere; what follows needs the room behind it. */
    if (n_runs == 1 && runs[0].items != spare) memmove(o->items, runs[0].items, runs[0].n * sizeof *o->items);
    *out = n_runs == 1 && runs[0].items == spare ? spare : o->items;
    if (*out == o->items) { /* the other one is done: its memory is wanted for the column */
        kn_free(o->scratch);
        o->scratch = NULL;
    } else {
        kn_free(o->items);
        o->items = NULL;
    }
done:
    kn_free(runs);
    return status;
}

/* Equal neighbours become one, the one of the smallest line; all of them get its code. */
static uint32_t drop_repeats(const kn_inference *o, item *items, size_t n, uint32_t first_code,
                             uint32_t *const *new_codes)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) __builtin_prefetch(&new_codes[items[i + AHEAD].list][items[i + AHEAD].spelling], 1);
        item it = items[i];
        item *last = &items[n_kept - (n_kept > 0)];
        if (n_kept > 0 && last->key == it.key && compare_bytes(o, last, &it) == 0) {
            uint64_t line = o->lists[it.list].first_line[it.spelling];
            if (line < o->lists[last->list].first_line[last->spelling]) *last = it;
        } else {
            items[n_kept++] = it;
        }
        new_codes[it.list][it.spelling] = first_code + (uint32_t)(n_kept - 1);
    }
    return (uint32_t)n_kept;
}

static void fetch_ahead(const kn_inference *o, const item *items, uint32_t i, uint32_t n)
{
    if (i + 2 * AHEAD < n) {
        const item *far = &items[i + 2 * AHEAD];
        __builtin_prefetch(&o->lists[far->list].offset[far->spelling]);
        __builtin_prefetch(&o->lists[far->list].first_line[far->spelling]);
    }
    if (i + AHEAD < n) {
        const item *near = &items[i + AHEAD];
        __builtin_prefetch(o->lists[near->list].bytes + o->lists[near->list].offset[near->spelling]);
    }
}

/* A missing cell that is so only because its column's type does not fit it. */
static bool is_invalid(const kn_inference *o, const char *bytes, size_t n_bytes)
{
    return o->options->invalid_is_missing && !is_missing(bytes, n_bytes, o->options) &&
           !kn_is_null_word(bytes, n_bytes);
}

static kn_status copy_spellings(kn_column *column, const kn_inference *o, const in_order *sorted, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t at = 0, n_all_bytes = 0;
    column->n_spellings = sorted->n;
    for (uint32_t l = 0; l < o->n_lists; l++)
        if (o->lists[l].n > 0) n_all_bytes += o->lists[l].offset[o->lists[l].n];
    KN_NEW_RAW(column->bytes, (size_t)n_all_bytes);
    KN_NEW_RAW(column->offset, (size_t)sorted->n + 1);
    KN_NEW_RAW(column->first_line, sorted->n);
    for (uint32_t i = 0; i < sorted->n; i++) {
        size_t n_bytes;
        const item *it = &sorted->items[i];
        fetch_ahead(o, sorted->items, i, sorted->n);
        const char *bytes = bytes_of(o, it, &n_bytes);
        char plain[KN_MARKED_BYTES];
        if (i >= sorted->n_present && is_invalid(o, bytes, n_bytes)) {
            if (column->is_invalid == NULL) KN_NEW(column->is_invalid, sorted->n);
            column->is_invalid[i] = true;
            if (o->options->is_quasi) n_bytes = 0;
        }
        if (o->options->is_quasi && i < sorted->n_present && o->marks != KN_MARKS_PLAIN) {
            n_bytes = kn_number_plain(plain, bytes, n_bytes, o->marks);
            bytes = plain;
        }
        copy_bytes(column->bytes + at, bytes, n_bytes);
        column->offset[i] = at;
        column->first_line[i] = o->lists[it->list].first_line[it->spelling];
        at += n_bytes;
    }
    column->offset[sorted->n] = at;
    if (at < n_all_bytes) { /* there were repeats */
        char *shrunk = kn_array_resize(column->bytes, (size_t)at, 1, err);
        if (shrunk == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->bytes = shrunk;
    }
done:
    return status;
}

/* Spellings are in order; neighbours of equal value are one value. */
static kn_status number_values(kn_column *column, const kn_inference *o, const in_order *sorted, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *value_of = NULL, n_values = 0;
    bool text = column->type == KN_TYPE_TEXT;
    column->has_missing = sorted->n_present < sorted->n;
    column->n_values = sorted->n;
    if (text && sorted->n - sorted->n_present <= 1) return KN_OK;
    KN_NEW_RAW(value_of, sorted->n);
    for (uint32_t i = 0; i < sorted->n; i++) {
        const item *it = &sorted->items[i];
        bool same = i > sorted->n_present || (i > 0 && i < sorted->n_present && !text && it->key == it[-1].key &&
                                              compare_values(o, it, it - 1) == 0);
        n_values += !same;
        value_of[i] = n_values - 1;
    }
    column->n_values = n_values;
    if (n_values < sorted->n) {
        column->spelling_value = value_of;
        value_of = NULL;
    }
done:
    kn_free(value_of);
    return status;
}

static kn_status set_numbers(kn_column *column, const kn_inference *o, const in_order *sorted, kn_error *err)
{
    kn_status status = KN_OK;
    if (column->type == KN_TYPE_TEXT) return KN_OK;
    KN_NEW_RAW(column->number, column->n_values);
    for (uint32_t i = 0; i < sorted->n; i++) {
        double *number = &column->number[kn_column_value(column, i)];
        if (i >= sorted->n_present) {
            *number = NAN;
        } else if (column->type == KN_TYPE_DATE) {
            kn_moment moment;
            size_t n_bytes;
            const char *bytes = kn_column_bytes(column, i, &n_bytes);
            kn_date_parse(&moment, bytes, n_bytes, o->form);
            *number = kn_moment_number(&moment);
        } else {
            *number = number_of_key(sorted->items[i].key);
        }
    }
done:
    return status;
}

/* The spellings of the missing value, sorted by bytes, of all lists. */
static kn_status collect_missing(item **out, size_t *n, kn_inference *o, kn_error *err)
{
    kn_status status = KN_OK;
    item *missing = NULL, *scratch = NULL;
    *out = NULL;
    *n = 0;
    for (uint32_t l = 0; l < o->n_lists; l++) *n += o->lists[l].n - o->states[l].n_present;
    KN_NEW_RAW(missing, *n);
    KN_NEW_RAW(scratch, *n);
    size_t at = 0;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = o->states[l].n_present; i < o->lists[l].n; i++) missing[at++] = o->states[l].items[i];
    kn_type type = o->type;
    o->type = KN_TYPE_TEXT;
    sort_by_comparison(o, missing, scratch, *n);
    o->type = type;
    *out = missing;
    missing = NULL;
done:
    kn_free(missing);
    kn_free(scratch);
    return status;
}

kn_status kn_inference_finish(kn_column *column, uint32_t *const *new_codes, kn_inference *o, kn_error *err)
{
    kn_status status = KN_OK;
    in_order result = {0};
    item *missing = NULL;
    size_t n_present = 0, n_missing;
    for (uint32_t l = 0; l < o->n_lists; l++) n_present += o->states[l].n_present;
    column->type = o->type;
    column->marks = o->marks;
    KN_TRY(collect_missing(&missing, &n_missing, o, err));
    KN_TRY(merge_lists(&result.items, o, err));
    result.n_present = drop_repeats(o, result.items, n_present, 0, new_codes);
    n_missing = drop_repeats(o, missing, n_missing, result.n_present, new_codes);
    if (n_missing > 0) memcpy(result.items + result.n_present, missing, n_missing * sizeof *missing);
    result.n = result.n_present + (uint32_t)n_missing;
    KN_TRY(copy_spellings(column, o, &result, err));
    KN_TRY(number_values(column, o, &result, err));
    KN_TRY(set_numbers(column, o, &result, err));
done:
    kn_free(missing);
    return status;
}

/* --- Beginning and end ---------------------------------------------------------------------------------------------
 */

static void set_reference(kn_inference *o)
{
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->lists[l].n; i++) {
            size_t n_bytes;
            const char *bytes = bytes_in(&o->lists[l], i, &n_bytes);
            if (is_missing(bytes, n_bytes, o->options)) continue;
            o->reference = bytes;
            o->n_reference = n_bytes;
            return;
        }
}

kn_status kn_inference_new(kn_inference **out, const char *column_name, const kn_spellings *lists, uint32_t n_lists,
                           const kn_infer_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_inference *o = NULL;
    *out = NULL;
    KN_NEW(o, 1);
    o->lists = lists;
    o->n_lists = n_lists;
    o->options = options;
    o->column_name = column_name;
    for (uint32_t l = 0; l < n_lists; l++) o->n_items += lists[l].n;
    if (o->n_items >= UINT32_MAX) KN_FAIL(KN_RESOURCES, "more than four billion distinct values in one column");
    KN_NEW(o->states, n_lists);
    KN_NEW_RAW(o->items, o->n_items);
    KN_NEW_RAW(o->scratch, o->n_items);
    size_t at = 0;
    for (uint32_t l = 0; l < n_lists; l++) {
        o->states[l].items = o->items + at;
        o->states[l].scratch = o->scratch + at;
        at += lists[l].n;
    }
    set_reference(o);
    *out = o;
    o = NULL;
done:
    kn_inference_free(o);
    return status;
}

void kn_inference_free(kn_inference *o)
{
    if (o == NULL) return;
    kn_free(o->states);
    kn_free(o->items);
    kn_free(o->scratch);
    kn_free(o);
}

kn_status kn_column_set_spellings(kn_column *column, uint32_t **new_code, const kn_spellings *spellings,
                                  const kn_infer_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_inference *inference = NULL;
    uint32_t *codes = NULL;
    *new_code = NULL;
    KN_NEW_RAW(codes, spellings->n);
    KN_TRY(kn_inference_new(&inference, column->name, spellings, 1, options, err));
    kn_inference_look(inference, 0);
    KN_TRY(kn_inference_decide(inference, err));
    kn_inference_sort(inference, 0);
    KN_TRY(kn_inference_finish(column, &codes, inference, err));
    *new_code = codes;
    codes = NULL;
done:
    kn_free(codes);
    kn_inference_free(inference);
    return status;
}
