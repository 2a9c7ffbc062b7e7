/* Type inference and the order of a dictionary.
 *
 * Every spelling gets a 64-bit key whose order is the order of the values wherever keys differ: the bits of the nearest
 * double for numbers, day and time for dates, eight bytes behind the prefix that all share for text. Sorted lists are
 * merged two by two, equal spellings become one. Cost: linear in the number of spellings for the usual column.
 *
 * Sorting, not hashing, is what joins the lists of several readers: it has to be done anyway, and it runs through
 * memory in order. */
#include "table/inference.h"

#include "base/bytes.h"

#include <math.h>
#include <string.h>

enum { FIRST_DAY = -719164 }; /* below year 1, whatever the zone */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool kn_spelling_is_missing(const char *bytes, size_t n_bytes, const kn_infer_options *options)
{
    while (n_bytes > 0 && is_blank(bytes[0])) bytes++, n_bytes--;
    while (n_bytes > 0 && is_blank(bytes[n_bytes - 1])) n_bytes--;
    if (n_bytes == 0) return true;
    for (size_t i = 0; i < options->n_null_values; i++)
        if (strlen(options->null_values[i]) == n_bytes && memcmp(options->null_values[i], bytes, n_bytes) == 0)
            return true;
    return false;
}

/* --- Looking: what every spelling of a list could be ------------------------------------------------------------- */

static uint64_t key_of_number(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

double kn_number_of_key(uint64_t key)
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
        const char *bytes = kn_item_bytes(o, &state->items[i], &n_bytes);
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
    state->forms = KN_DATE_ANY;
    if (state->numbers && !is_declared(o)) state->forms = KN_DATE_COMPACT;
    for (uint32_t i = 0; i < state->n_present && state->forms != 0; i++) {
        size_t n_bytes;
        kn_moment moment;
        const char *bytes = kn_item_bytes(o, &state->items[i], &n_bytes);
        state->forms = forms_of(o, bytes, n_bytes, state->forms);
        if (kn_date_parse(&moment, bytes, n_bytes, state->forms)) {
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
        const char *bytes = kn_item_bytes(o, &state->items[i], &n_bytes);
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
        const char *bytes = kn_item_bytes_in(&o->lists[list], i, &n_bytes);
        if (kn_spelling_is_missing(bytes, n_bytes, o->options)) {
            state->items[n - ++n_missing] = (kn_item){0, i, list};
        } else if (o->options->type != KN_TYPE_TEXT && kn_is_null_word(bytes, n_bytes)) {
            state->items[state->n_present + state->n_words++] = (kn_item){0, i, list};
        } else {
            state->items[state->n_present + state->n_words] = state->items[state->n_present];
            state->items[state->n_present++] = (kn_item){0, i, list};
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

/* The marks that most numbers of a declared column have, or what the user said. */
static kn_marks usual_marks(const kn_inference *o)
{
    kn_number_readings readings = {{0}, {0}};
    kn_marks marks;
    if (o->options->decimal == KN_DECIMAL_COMMA) return KN_MARKS_COMMA;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present; i++) {
            size_t n;
            const char *bytes = kn_item_bytes(o, &o->states[l].items[i], &n);
            kn_number_readings_add(&readings, bytes, n, true, 1);
        }
    if (o->options->decimal == KN_DECIMAL_POINT) readings.n_numbers[KN_MARKS_COMMA] = 0; /* 1e5 is one without marks */
    return kn_number_usual_marks(&marks, &readings) ? marks : KN_MARKS_POINT; /* find_marks tells that it is unclear */
}

/* The first line where a declared type does not fit what stands before it. Rare, so it may be slow. */
static kn_item first_misfit(kn_inference *o)
{
    size_t n = 0;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present; i++) {
            kn_item it = o->states[l].items[i];
            it.key = o->lists[l].first_line[it.spelling];
            o->items[n++] = it;
        }
    kn_items_sort_by_key(o->items, o->scratch, (uint32_t)n);
    const kn_marks marks = o->options->type != KN_TYPE_DATE ? usual_marks(o) : KN_MARKS_PLAIN;
    unsigned forms = ~0u;
    bool zones = false, bare_times = false;
    for (size_t i = 0; i < n; i++) {
        size_t n_bytes, n_plain;
        double number;
        kn_moment moment;
        char plain[KN_MARKED_BYTES];
        const char *bytes = kn_item_bytes(o, &o->items[i], &n_bytes), *text = marks != KN_MARKS_PLAIN ? plain : bytes;
        n_plain = marks != KN_MARKS_PLAIN ? kn_number_plain(plain, bytes, n_bytes, marks) : n_bytes;
        kn_number_kind kind = kn_number_read(&number, text, n_plain, true);
        bool fits = o->options->type == KN_TYPE_INT ? kind == KN_NUMBER_WHOLE : kind != KN_NUMBER_NONE;
        if (o->options->type == KN_TYPE_DATE) {
            forms &= kn_date_forms(bytes, n_bytes, KN_DATE_ANY);
            if (kn_date_parse(&moment, bytes, n_bytes, KN_DATE_ANY)) {
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
    kn_item misfit = first_misfit(o);
    const char *bytes = kn_item_bytes(o, &misfit, &n_bytes);
    return kn_error_set_at(
        err, KN_INPUT,
        KN_PLACE(.file = o->options->source, .line = o->lists[misfit.list].first_line[misfit.spelling],
                 .column = o->column_name, .option = "type"),
        "%s:%llu: column '%s': %s is not %s; give the column another type, name the value with --null if it means "
        "a missing one, or say --invalid missing",
        o->options->source, (unsigned long long)o->lists[misfit.list].first_line[misfit.spelling], o->column_name,
        kn_value_shown(shown, bytes, n_bytes, o->options->redact), wanted[o->options->type]);
}

/* Three digits each, of a number that is the same one in both ways: 1 of 999, 2 of 1 234; 0 of 1.234. */
static size_t count_groups(const char *bytes, size_t n)
{
    char point[KN_MARKED_BYTES], comma[KN_MARKED_BYTES];
    const size_t n_point = kn_number_plain(point, bytes, n, KN_MARKS_POINT);
    const size_t n_comma = kn_number_plain(comma, bytes, n, KN_MARKS_COMMA);
    const bool has_sign = n_point > 0 && (point[0] == '-' || point[0] == '+');
    return n_point == n_comma && memcmp(point, comma, n_point) == 0 ? (n_point - has_sign + 2) / 3 : 0;
}

/* The one way in which all numbers of the column can be read, or what the user said; PLAIN: there is none. Numbers with
 * blanks or apostrophes may be the same in both; where all have as many digits they may be no quantities, though: those
 * of telephones are written so, though not with marks that a typesetter knows. */
static kn_marks find_marks(const kn_inference *o)
{
    unsigned ways = KN_MARKS_POINT | KN_MARKS_COMMA;
    size_t least_groups = SIZE_MAX, most_groups = 0;
    bool is_quantity = is_declared(o);
    if (o->options->decimal == KN_DECIMAL_POINT) ways = KN_MARKS_POINT;
    if (o->options->decimal == KN_DECIMAL_COMMA) ways = KN_MARKS_COMMA;
    if (o->dropped_by != KN_MARKS_PLAIN) ways = o->dropped_by;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present && ways != 0; i++) {
            size_t n;
            const char *bytes = kn_item_bytes(o, &o->states[l].items[i], &n);
            const size_t n_groups = count_groups(bytes, n);
            if (n_groups < least_groups) least_groups = n_groups;
            if (n_groups > most_groups) most_groups = n_groups;
            is_quantity = is_quantity || kn_number_has_wide_mark(bytes, n);
            ways &= kn_number_ways(bytes, n, is_declared(o));
        }
    if (ways == (KN_MARKS_POINT | KN_MARKS_COMMA) && least_groups > 0 && (least_groups < most_groups || is_quantity))
        return KN_MARKS_POINT;
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
            const char *bytes = kn_item_bytes(o, &o->states[l].items[i], &n);
            n = kn_number_plain(plain, bytes, n, o->marks);
            whole &= kn_number_read(&number, plain, n, true) == KN_NUMBER_WHOLE;
            o->states[l].items[i].key = key_of_number(number);
        }
    return whole;
}

/* The form that most dates of a declared column have. */
static kn_date_form usual_form(const kn_inference *o)
{
    uint32_t n_fit[KN_DATE_N_FORMS] = {0}, best = 0;
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->states[l].n_present; i++) {
            size_t n;
            const char *bytes = kn_item_bytes(o, &o->states[l].items[i], &n);
            unsigned forms = kn_date_forms(bytes, n, KN_DATE_ANY);
            for (uint32_t f = 0; f < KN_DATE_N_FORMS; f++) n_fit[f] += forms >> f & 1;
        }
    for (uint32_t f = 1; f < KN_DATE_N_FORMS; f++)
        if (n_fit[f] > n_fit[best]) best = f;
    return (kn_date_form)(1u << best);
}

static bool fits_type(const kn_inference *o, const char *bytes, size_t n, kn_date_form form, kn_marks marks)
{
    double number;
    kn_moment moment;
    char plain[KN_MARKED_BYTES];
    if (o->options->type == KN_TYPE_DATE) return kn_date_parse(&moment, bytes, n, form);
    if (marks != KN_MARKS_PLAIN) {
        n = kn_number_plain(plain, bytes, n, marks);
        bytes = plain;
    }
    kn_number_kind kind = kn_number_read(&number, bytes, n, true);
    return o->options->type == KN_TYPE_INT ? kind == KN_NUMBER_WHOLE : kind != KN_NUMBER_NONE;
}

/* What a declared type does not fit goes to the missing cells, and the lists are looked at again. */
static void drop_misfits(kn_inference *o)
{
    const bool are_dates = o->options->type == KN_TYPE_DATE;
    const kn_date_form form = are_dates ? usual_form(o) : (kn_date_form)0;
    const kn_marks marks = are_dates ? KN_MARKS_PLAIN : usual_marks(o);
    o->dropped_by = marks;
    for (uint32_t l = 0; l < o->n_lists; l++) {
        list_state *state = &o->states[l];
        uint32_t n_kept = 0, n_before = state->n_present, n_dropped = 0;
        for (uint32_t i = 0; i < n_before; i++) {
            size_t n;
            const kn_item it = state->items[i];
            const char *bytes = kn_item_bytes(o, &it, &n);
            if (fits_type(o, bytes, n, form, marks)) state->items[n_kept++] = it;
            else state->scratch[n_dropped++] = it;
        }
        if (n_dropped > 0) memcpy(state->items + n_kept, state->scratch, n_dropped * sizeof *state->items);
        state->n_present = n_kept;
        state->n_zones = state->n_times = 0;
        if (are_dates) look_for_dates(o, state);
        else look_for_numbers(o, state);
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
        if (!present && o->options->decimal == KN_DECIMAL_COMMA) o->marks = KN_MARKS_COMMA; /* 1.5 is no number */
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
        const char *bytes = kn_item_bytes(o, &state->items[i], &n_bytes);
        kn_date_parse(&moment, bytes, n_bytes, o->form);
        state->items[i].key = (uint64_t)(moment.days - FIRST_DAY) << 42 | moment.nanoseconds >> 5;
    }
}

void kn_inference_sort(kn_inference *o, uint32_t list)
{
    list_state *state = &o->states[list];
    if (o->type == KN_TYPE_DATE) set_date_keys(o, state);
    for (uint32_t i = 0; o->type == KN_TYPE_TEXT && i < state->n_present; i++)
        state->items[i].key = kn_item_text_key(o, &state->items[i], 0);
    kn_items_sort(o, state->items, state->scratch, state->n_present, 0);
}

/* --- Beginning and end ---------------------------------------------------------------------------------------------
 */

static void set_reference(kn_inference *o)
{
    for (uint32_t l = 0; l < o->n_lists; l++)
        for (uint32_t i = 0; i < o->lists[l].n; i++) {
            size_t n_bytes;
            const char *bytes = kn_item_bytes_in(&o->lists[l], i, &n_bytes);
            if (kn_spelling_is_missing(bytes, n_bytes, o->options)) continue;
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
