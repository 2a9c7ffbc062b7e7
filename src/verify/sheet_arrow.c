/* The reader of verify/ for tables in memory: Arrow arrays -> dictionaries and codes, column by column.
 *
 * It has its own reading of the interface's types and its own way to every spelling that kanon_arrow.h promises: what
 * source/arrow/ gets wrong must not be got wrong here again. Values of up to eight bytes that were seen lately are
 * found in a small table by their bits, so that a column of few values is not spelled row by row.
 *
 * A broken array (offsets that descend, indices beyond the dictionary, bytes that are no text) is no table: `problem`
 * says so, as for a malformed file. So does, in a release, a dictionary with entries that no row has: whoever gets the
 * arrays gets those values, too. */
#include "verify/sheet.h"

#include "base/buffer.h"
#include "base/characters.h"
#include "base/formula.h"
#include "base/hash.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECENT_BITS = 10, N_RECENT = 1 << RECENT_BITS, TEXT_BYTES = 512, FIRST_ROWS = 256 };

/* How values of a column lie in memory. */
typedef struct layout {
    char family;  /* n b i u f d D t T: null, bits, integers, floats, decimals, dates, times, timestamps; s v: strings,
                     views; 0: cannot be read */
    int n_bytes;  /* of a value, or of a string's offset */
    int scale;    /* decimals */
    int n_digits; /* of the fraction of a second; -1: dates in days */
    bool zone;
} layout;

typedef struct recent {
    uint64_t bits, found;
    bool taken;
} recent;

typedef struct decoder {
    const kn_sheet_options *options;
    kn_sheet *sheet;
    kn_sheet_column *column;
    layout values, indices; /* indices.family 0: plain values */
    bool hashed;            /* fingerprints instead of codes */
    bool trims;
    uint32_t *codes;
    uint64_t *prints;
    size_t n_pending, room;
    recent recents[N_RECENT];
} decoder;

static kn_status note(kn_sheet *sheet, kn_error *err, const char *format, ...) KN_PRINTF(3, 4);

static kn_status note(kn_sheet *sheet, kn_error *err, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    kn_text_mend(text, sizeof text);
    if (sheet->problem != NULL) return KN_OK;
    sheet->problem = kn_string_copy(text, strlen(text), err);
    return sheet->problem != NULL ? KN_OK : KN_RESOURCES;
}

#define BROKEN(d, ...)                                                                                                 \
    do {                                                                                                               \
        char what_[160];                                                                                               \
        snprintf(what_, sizeof what_, __VA_ARGS__);                                                                    \
        status = note((d)->sheet, err, "%.100s, column '%.80s': %s", (d)->options->name, (d)->column->name, what_);    \
        goto done;                                                                                                     \
    } while (0)

/* --- Types ------------------------------------------------------------------------------------------------------- */

static int digits_of_unit(char unit)
{
    return unit == 's' ? 0 : unit == 'm' ? 3 : unit == 'u' ? 6 : unit == 'n' ? 9 : -2;
}

static layout layout_of(const char *format)
{
    static const char integers[] = "cCsSiIlL";
    const char *found;
    int precision, bits = 128, n_read = 0;
    layout none = {0}, l = {0};
    if (format == NULL || format[0] == '\0') return none;
    if (format[1] == '\0') {
        char c = format[0];
        if ((found = strchr(integers, c)) != NULL)
            return (layout){.family = c >= 'a' ? 'i' : 'u', .n_bytes = 1 << (found - integers) / 2};
        if (c == 'n' || c == 'b') return (layout){.family = c};
        if (c == 'e' || c == 'f' || c == 'g')
            return (layout){.family = 'f', .n_bytes = c == 'e' ? 2 : c == 'f' ? 4 : 8};
        if (c == 'u' || c == 'z') return (layout){.family = 's', .n_bytes = 4};
        if (c == 'U' || c == 'Z') return (layout){.family = 's', .n_bytes = 8};
        return none;
    }
    if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0) return (layout){.family = 'v', .n_bytes = 16};
    if (strcmp(format, "tdD") == 0) return (layout){.family = 'D', .n_bytes = 4, .n_digits = -1};
    if (strcmp(format, "tdm") == 0) return (layout){.family = 'D', .n_bytes = 8, .n_digits = 3};
    if (strncmp(format, "tt", 2) == 0 && digits_of_unit(format[2]) >= 0 && format[3] == '\0')
        return (layout){
            .family = 't', .n_bytes = strchr("sm", format[2]) != NULL ? 4 : 8, .n_digits = digits_of_unit(format[2])};
    if (strncmp(format, "ts", 2) == 0 && digits_of_unit(format[2]) >= 0 && format[3] == ':')
        return (layout){.family = 'T', .n_bytes = 8, .n_digits = digits_of_unit(format[2]), .zone = format[4] != '\0'};
    if (sscanf(format, "d:%d,%d%n,%d%n", &precision, &l.scale, &n_read, &bits, &n_read) < 2 || format[n_read] != '\0' ||
        bits < 32 || bits > 256 || (bits & (bits - 1)) != 0 || abs(l.scale) > 300)
        return none;
    l.family = 'd';
    l.n_bytes = bits / 8;
    return l;
}

/* --- Numbers as text --------------------------------------------------------------------------------------------- */

static double half_value(unsigned bits)
{
    double fraction = bits & 0x3ff;
    int exponent = (int)(bits >> 10 & 0x1f);
    if (exponent == 0x1f) return fraction != 0 ? NAN : INFINITY;
    return exponent == 0 ? fraction * 0x1p-24 : (1 + fraction * 0x1p-10) * pow(2, exponent - 15);
}

/* Does the text, read in the width of the value, give the value? */
static bool reads_back(const char *text, double value, int n_bytes, unsigned half_bits)
{
    if (n_bytes == 8) return strtod(text, NULL) == value;
    if (n_bytes == 4) return strtof(text, NULL) == (float)value;
    double read = strtod(text, NULL), below = half_value(half_bits - 1),
           above = half_bits == 0x7bff ? 65536 : half_value(half_bits + 1);
    double to_below = 2 * read - below - value, to_above = above + value - 2 * read; /* halfway: 0 */
    return half_bits % 2 == 0 ? to_below >= 0 && to_above >= 0 : to_below > 0 && to_above > 0;
}

/* The shortest scientific notation that reads back; a power of two may need the decimal above the nearest one. */
static void shortest(char text[64], double value, int n_bytes, unsigned half_bits)
{
    int most = n_bytes == 8 ? 17 : n_bytes == 4 ? 9 : 5;
    int least = n_bytes == 8 && value >= 0x1p-1022 ? 15 : n_bytes == 4 && value >= 0x1p-126 ? 6 : 1;
    for (int n = least; n <= most; n++) {
        snprintf(text, 64, "%.*e", n - 1, value);
        if (reads_back(text, value, n_bytes, half_bits)) return;
        char *last = strchr(text, 'e') - 1;
        while (last > text && *last == '9') *last-- = '0';
        if (*last >= '0' && *last < '9') {
            ++*last;
            if (reads_back(text, value, n_bytes, half_bits)) return;
        }
    }
    snprintf(text, 64, "%.*e", most - 1, value);
}

static size_t float_text(char *out, double value, int n_bytes, unsigned half_bits)
{
    char text[64], digits[32];
    size_t n = 0;
    int n_digits = 0, exponent;
    if (signbit(value)) out[n++] = '-';
    value = fabs(value);
    if (isinf(value)) return n + (size_t)sprintf(out + n, "inf");
    if (value == 0) return n + (size_t)sprintf(out + n, "0");
    shortest(text, value, n_bytes, half_bits);
    char *e = strchr(text, 'e');
    exponent = atoi(e + 1);
    for (char *at = text; at < e; at++)
        if (*at >= '0' && *at <= '9') digits[n_digits++] = *at;
    while (n_digits > 1 && digits[n_digits - 1] == '0') n_digits--;
    if (exponent < -5 || exponent > 15)
        return n + (size_t)sprintf(out + n, "%c%s%.*se%+03d", digits[0], n_digits > 1 ? "." : "", n_digits - 1,
                                   digits + 1, exponent);
    for (int i = exponent < 0 ? exponent : 0; i < n_digits || i <= exponent; i++) {
        if (i == exponent + 1) out[n++] = '.';
        out[n++] = i >= 0 && i < n_digits ? digits[i] : '0';
    }
    return n;
}

/* The number in base 256, highest byte first, divided by ten again and again. */
static size_t decimal_text(char *out, const unsigned char *raw, int n_bytes, int scale)
{
    unsigned char number[32];
    char digits[400];
    int n_digits = 0;
    size_t n = 0;
    bool negative = (raw[n_bytes - 1] & 0x80) != 0, more = true;
    int borrow = 1;
    for (int i = 0; i < n_bytes; i++) {
        int byte = raw[i];
        if (negative) {
            byte = (255 - byte) + borrow;
            borrow = byte >> 8;
        }
        number[n_bytes - 1 - i] = (unsigned char)byte;
    }
    while (more) {
        int rest = 0;
        more = false;
        for (int i = 0; i < n_bytes; i++) {
            int part = rest * 256 + number[i];
            number[i] = (unsigned char)(part / 10);
            rest = part % 10;
            more |= number[i] != 0;
        }
        digits[n_digits++] = (char)('0' + rest);
    }
    bool zero = n_digits == 1 && digits[0] == '0';
    while (n_digits <= scale) digits[n_digits++] = '0';
    if (negative) out[n++] = '-';
    for (int i = n_digits - 1; i >= 0; i--) {
        out[n++] = digits[i];
        if (i == scale && i > 0) out[n++] = '.';
    }
    for (int i = 0; i < -scale && !zero; i++) out[n++] = '0';
    return n;
}

/* --- Dates as text ----------------------------------------------------------------------------------------------- */

static bool leaps(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

static size_t day_text(char *out, int64_t days)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int64_t cycles = days / 146097, year, month = 0;
    if (days % 146097 < 0) cycles--;
    days -= cycles * 146097;
    for (year = 1970 + 400 * cycles; days >= 365 + leaps(year); year++) days -= 365 + leaps(year);
    while (days >= month_days[month] + (month == 1 && leaps(year))) {
        days -= month_days[month] + (month == 1 && leaps(year));
        month++;
    }
    const char *sign = year < 0 ? "-" : year > 9999 ? "+" : "";
    return (size_t)sprintf(out, "%s%04lld-%02d-%02d", sign, (long long)(year < 0 ? -year : year), (int)month + 1,
                           (int)days + 1);
}

static int64_t power_of_ten(int n) { return n == 0 ? 1 : 10 * power_of_ten(n - 1); }

static size_t clock_text(char *out, int64_t units, int n_digits)
{
    int64_t per_second = power_of_ten(n_digits), seconds = units / per_second;
    size_t n =
        (size_t)sprintf(out, "%02d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60));
    if (units % per_second == 0) return n;
    n += (size_t)sprintf(out + n, ".%0*lld", n_digits, (long long)(units % per_second));
    while (out[n - 1] == '0') n--;
    return n;
}

static size_t moment_text(char *out, int64_t units, const layout *l)
{
    if (l->n_digits < 0) return day_text(out, units);
    int64_t per_day = 86400 * power_of_ten(l->n_digits), in_day = (units % per_day + per_day) % per_day;
    size_t n = day_text(out, units / per_day - (units < 0 && in_day != 0));
    if (l->family == 'D' && in_day == 0) return n;
    out[n++] = 'T';
    n += clock_text(out + n, in_day, l->n_digits);
    if (l->zone) out[n++] = 'Z';
    return n;
}

/* --- Values ------------------------------------------------------------------------------------------------------ */

static uint64_t bits_at(const void *buffer, int64_t i, int n_bytes)
{
    uint64_t bits = 0;
    const unsigned char *at = (const unsigned char *)buffer + i * n_bytes;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int b = 0; b < n_bytes; b++) bits = bits << 8 | at[b];
#else
    switch (n_bytes) { /* a constant size for each memcpy */
    case 1: return at[0];
    case 2: return memcpy(&bits, at, 2), bits;
    case 4: return memcpy(&bits, at, 4), bits;
    default: return memcpy(&bits, at, 8), bits;
    }
#endif
    return bits;
}

static int64_t with_sign(uint64_t bits, int n_bytes)
{
    uint64_t top = (uint64_t)1 << (8 * n_bytes - 1);
    return (int64_t)((bits ^ top) - top);
}

static double float_of(uint64_t bits, int n_bytes)
{
    float single;
    double value;
    uint32_t low = (uint32_t)bits;
    if (n_bytes == 2) return (bits >> 15 != 0 ? -1 : 1) * half_value((unsigned)bits & 0x7fff);
    if (n_bytes == 4) return memcpy(&single, &low, 4), single;
    return memcpy(&value, &bits, 8), value;
}

/* The text of a value of up to eight bytes; *missing for NaN. False: no value of its type. */
static bool text_of_bits(char *out, size_t *n, bool *missing, const layout *l, uint64_t bits)
{
    double number;
    int64_t whole = l->n_bytes > 0 ? with_sign(bits, l->n_bytes) : 0;
    *missing = false;
    switch (l->family) {
    case 'b': return *n = (size_t)sprintf(out, "%s", bits != 0 ? "true" : "false"), true;
    case 'i': return *n = (size_t)sprintf(out, "%lld", (long long)whole), true;
    case 'u': return *n = (size_t)sprintf(out, "%llu", (unsigned long long)bits), true;
    case 'D':
    case 'T': return *n = moment_text(out, whole, l), true;
    case 't':
        if (whole < 0 || whole >= 86400 * power_of_ten(l->n_digits)) return false;
        return *n = clock_text(out, whole, l->n_digits), true;
    case 'f':
        number = float_of(bits, l->n_bytes);
        *missing = isnan(number);
        if (!*missing) *n = float_text(out, number, l->n_bytes, (unsigned)bits & 0x7fff);
        return true;
    default: return *n = decimal_text(out, (const unsigned char *)&bits, l->n_bytes, l->scale), true;
    }
}

/* By the letter of RFC 3629; NUL is no text either. */
static bool is_text(const char *bytes, size_t n_bytes)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + n_bytes;
    while (at < end) {
        uint32_t point = *at++, least;
        int n_more = point < 0x80 ? 0 : point >= 0xf0 ? 3 : point >= 0xe0 ? 2 : 1;
        if (point == 0 || (point >= 0x80 && point < 0xc0) || point > 0xf7 || end - at < n_more) return false;
        if (n_more > 0) point &= 0x3fu >> n_more;
        least = n_more == 1 ? 0x80 : n_more == 2 ? 0x800 : 0x10000;
        for (int i = 0; i < n_more; i++, at++) {
            if (*at >> 6 != 2) return false;
            point = point << 6 | (*at & 0x3f);
        }
        if (n_more > 0 && (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))) return false;
    }
    return true;
}

/* What a text is stored as: its code, or its fingerprint. */
static kn_status found_text(uint64_t *found, decoder *d, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t code, n_before = d->column->n_texts;
    if (d->hashed) {
        *found = d->options->fingerprint(d->options->context, bytes, n_bytes);
        return KN_OK;
    }
    KN_TRY(kn_text_add(&code, d->column, bytes, n_bytes, err));
    *found = code;
    if (d->column->n_texts > n_before && !is_text(bytes, n_bytes)) BROKEN(d, "a string that is not valid UTF-8");
done:
    return status;
}

static kn_status found_null(uint64_t *found, decoder *d, kn_error *err)
{
    const char *text = d->options->null_text != NULL ? d->options->null_text : "";
    return found_text(found, d, text, strlen(text), err);
}

static kn_status found_bits(uint64_t *found, decoder *d, uint64_t bits, kn_error *err)
{
    kn_status status = KN_OK;
    recent *seen = &d->recents[kn_hash_u64(bits) >> (64 - RECENT_BITS)];
    char text[TEXT_BYTES];
    size_t n = 0;
    bool missing;
    if (seen->taken && seen->bits == bits) {
        *found = seen->found;
        return KN_OK;
    }
    if (!text_of_bits(text, &n, &missing, &d->values, bits)) BROKEN(d, "a time of day that no day has");
    if (missing) KN_TRY(found_null(found, d, err));
    else KN_TRY(found_text(found, d, text, n, err));
    *seen = (recent){bits, *found, true};
done:
    return status;
}

static bool bit_at(const void *bits, int64_t i) { return (((const unsigned char *)bits)[i >> 3] >> (i & 7) & 1) != 0; }

static kn_status found_string(uint64_t *found, decoder *d, const char *bytes, int64_t n_bytes, kn_error *err)
{
    for (; d->trims && n_bytes > 0 && (bytes[0] == ' ' || bytes[0] == '\t'); n_bytes--) bytes++;
    while (d->trims && n_bytes > 0 && (bytes[n_bytes - 1] == ' ' || bytes[n_bytes - 1] == '\t')) n_bytes--;
    return found_text(found, d, bytes, (size_t)n_bytes, err);
}

static kn_status found_view(uint64_t *found, decoder *d, const struct ArrowArray *array, int64_t i, kn_error *err)
{
    kn_status status = KN_OK;
    const char *view = (const char *)array->buffers[1] + 16 * i;
    int64_t length = with_sign(bits_at(view, 0, 4), 4), n_others = array->n_buffers - 3;
    int64_t buffer = with_sign(bits_at(view, 2, 4), 4), place = with_sign(bits_at(view, 3, 4), 4);
    if (length < 0) BROKEN(d, "a view of negative length");
    if (length <= 12) return found_string(found, d, view + 4, length, err);
    if (buffer < 0 || buffer >= n_others || place < 0 || array->buffers[2 + buffer] == NULL ||
        place + length > with_sign(bits_at(array->buffers[array->n_buffers - 1], buffer, 8), 8))
        BROKEN(d, "a view that points nowhere");
    KN_TRY(found_string(found, d, (const char *)array->buffers[2 + buffer] + place, length, err));
done:
    return status;
}

/* Value i of an array, counted from its buffers' start, whose shape was checked. A found problem leaves *found 0. */
static kn_status found_value(uint64_t *found, decoder *d, const struct ArrowArray *array, int64_t i, kn_error *err)
{
    kn_status status = KN_OK;
    const layout *l = &d->values;
    *found = 0;
    if (l->family == 'n' || (array->null_count != 0 && array->buffers[0] != NULL && !bit_at(array->buffers[0], i)))
        return found_null(found, d, err);
    if (l->family == 'b') return found_bits(found, d, bit_at(array->buffers[1], i), err);
    if (l->family == 'v') return found_view(found, d, array, i, err);
    if (l->family == 's') {
        int64_t begin = with_sign(bits_at(array->buffers[1], i, l->n_bytes), l->n_bytes);
        int64_t end = with_sign(bits_at(array->buffers[1], i + 1, l->n_bytes), l->n_bytes);
        int64_t most = with_sign(bits_at(array->buffers[1], array->offset + array->length, l->n_bytes), l->n_bytes);
        if (begin < 0 || end < begin || end > most || (end > begin && array->buffers[2] == NULL))
            BROKEN(d, "offsets that descend");
        return found_string(found, d, end > begin ? (const char *)array->buffers[2] + begin : "", end - begin, err);
    }
    if (l->n_bytes <= 8) return found_bits(found, d, bits_at(array->buffers[1], i, l->n_bytes), err);
    char text[TEXT_BYTES];
    size_t n = decimal_text(text, (const unsigned char *)array->buffers[1] + i * l->n_bytes, l->n_bytes, l->scale);
    KN_TRY(found_text(found, d, text, n, err));
done:
    return status;
}

/* --- Columns ----------------------------------------------------------------------------------------------------- */

static kn_status check_shape(decoder *d, const struct ArrowArray *array, const layout *l, kn_error *err)
{
    kn_status status = KN_OK;
    int64_t n_wanted = l->family == 'n' ? 0 : l->family == 's' ? 3 : 2;
    if (array->length < 0 || array->offset < 0) BROKEN(d, "a negative length or offset");
    if (l->family == 'v' ? array->n_buffers < 3 : array->n_buffers != n_wanted)
        BROKEN(d, "%lld buffers", (long long)array->n_buffers);
    if (n_wanted == 0 || array->length == 0) goto done;
    if (array->buffers == NULL || array->buffers[1] == NULL) BROKEN(d, "a buffer is missing");
    if (array->null_count > 0 && array->buffers[0] == NULL) BROKEN(d, "nulls that are not marked");
    if (l->family == 'v' && array->n_buffers > 3 && array->buffers[array->n_buffers - 1] == NULL)
        BROKEN(d, "a buffer is missing");
done:
    return status;
}

static kn_status push(decoder *d, uint64_t found, kn_error *err)
{
    kn_status status = KN_OK;
    if (d->n_pending == d->room) {
        d->room = d->room == 0 ? FIRST_ROWS : 4 * d->room < KN_CHUNK_ROWS ? 4 * d->room : KN_CHUNK_ROWS;
        if (d->hashed) KN_GROW(d->prints, d->room);
        else KN_GROW(d->codes, d->room);
    }
    if (d->hashed) d->prints[d->n_pending++] = found;
    else d->codes[d->n_pending++] = (uint32_t)found;
    if (d->n_pending < KN_CHUNK_ROWS) return KN_OK;
    KN_TRY(kn_sheet_pack(d->column, d->hashed ? NULL : d->codes, d->prints, d->n_pending, err));
    d->n_pending = 0;
    KN_TRY(kn_tick(d->options->ticker, "verify", -1, err));
done:
    return status;
}

/* Each entry is looked at when the first row has it. */
static kn_status decode_indices(decoder *d, const struct ArrowArray *array, int64_t first, int64_t n, kn_error *err)
{
    kn_status status = KN_OK;
    const struct ArrowArray *dictionary = array->dictionary;
    const layout *l = &d->indices;
    uint64_t *entries = NULL, null_entry = 0;
    uint8_t *known = NULL;
    bool null_known = false;
    int64_t n_used = 0;
    KN_TRY(check_shape(d, array, l, err));
    if (dictionary == NULL) BROKEN(d, "indices without a dictionary");
    KN_TRY(check_shape(d, dictionary, &d->values, err));
    if (d->sheet->problem != NULL) goto done;
    KN_NEW_RAW(entries, (size_t)dictionary->length);
    KN_NEW(known, (size_t)dictionary->length);
    for (int64_t i = first; i < first + n && d->sheet->problem == NULL; i++) {
        if (array->null_count != 0 && array->buffers[0] != NULL && !bit_at(array->buffers[0], i)) {
            if (!null_known) KN_TRY(found_null(&null_entry, d, err));
            null_known = true;
            KN_TRY(push(d, null_entry, err));
            continue;
        }
        uint64_t bits = bits_at(array->buffers[1], i, l->n_bytes);
        int64_t index = l->family == 'i' || l->n_bytes == 8 ? with_sign(bits, l->n_bytes) : (int64_t)bits;
        if (index < 0 || index >= dictionary->length)
            BROKEN(d, "index %lld in a dictionary of %lld", (long long)index, (long long)dictionary->length);
        if (!known[index]) KN_TRY(found_value(&entries[index], d, dictionary, dictionary->offset + index, err));
        n_used += !known[index];
        known[index] = 1;
        KN_TRY(push(d, entries[index], err));
    }
    if (d->options->only_used && n_used < dictionary->length && d->sheet->problem == NULL)
        BROKEN(d, "the dictionary holds %lld values that no row has; they would leave, too",
               (long long)(dictionary->length - n_used));
done:
    kn_free(entries);
    kn_free(known);
    return status;
}

static kn_status decode_batch(decoder *d, const struct ArrowArray *batch, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    const struct ArrowArray *array = batch->children[column];
    int64_t first = batch->offset + array->offset;
    uint64_t found;
    if (d->indices.family != 0) return decode_indices(d, array, first, batch->length, err);
    KN_TRY(check_shape(d, array, &d->values, err));
    for (int64_t i = first; i < first + batch->length && d->sheet->problem == NULL; i++) {
        KN_TRY(found_value(&found, d, array, i, err));
        KN_TRY(push(d, found, err));
    }
done:
    return status;
}

static kn_status decode_column(kn_sheet *sheet, uint32_t c, const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_batches *batches = NULL;
    const struct ArrowSchema *schema = options->batches->schema.children[c];
    decoder *d = NULL;
    uint32_t at;
    KN_NEW(d, 1);
    d->options = options;
    d->sheet = sheet;
    d->column = &sheet->columns[c];
    d->hashed = options->fingerprint != NULL && options->fingerprint_column == c;
    d->trims = options->trim &&
               (options->keeps_blanks == NULL || !options->keeps_blanks(options->context, c, d->column->name));
    d->values = layout_of(schema->dictionary != NULL ? schema->dictionary->format : schema->format);
    if (schema->dictionary != NULL) d->indices = layout_of(schema->format);
    bool readable = d->values.family != 0;
    if (schema->dictionary != NULL)
        readable &= (d->indices.family == 'i' || d->indices.family == 'u') && schema->dictionary->dictionary == NULL;
    if (!readable) BROKEN(d, "a type that cannot be read, Arrow format '%.20s'", schema->format);
    KN_TRY(kn_batches_column(&batches, &at, options->batches, c, err));
    for (size_t b = 0; b < batches->arrays.n && sheet->problem == NULL; b++)
        KN_TRY(decode_batch(d, &batches->arrays.items[b], at, err));
    if (d->n_pending > 0) KN_TRY(kn_sheet_pack(d->column, d->codes, d->prints, d->n_pending, err));
done:
    kn_batches_drop(batches);
    if (d != NULL) {
        kn_free(d->codes);
        kn_free(d->prints);
    }
    kn_free(d);
    return status;
}

kn_status kn_sheet_of_batches(kn_sheet **out, const kn_sheet_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_batches *batches = options->batches;
    kn_sheet *sheet = NULL;
    *out = NULL;
    KN_NEW(sheet, 1);
    KN_NEW(sheet->columns, (size_t)batches->schema.n_children);
    sheet->n_columns = (uint32_t)batches->schema.n_children;
    /* What was added up when the batches came is not believed: these arrays are what leaves. */
    if (batches->pull != NULL) sheet->n_rows = batches->n_rows; /* which every column must have */
    for (size_t b = 0; b < batches->arrays.n; b++) sheet->n_rows += (uint32_t)batches->arrays.items[b].length;
    for (uint32_t c = 0; c < sheet->n_columns; c++) {
        const char *name = batches->schema.children[c]->name;
        kn_sheet_column *column = &sheet->columns[c];
        size_t n_name = name != NULL ? strlen(name) : 0;
        if (options->guarded_names && name != NULL) name = kn_formula_unguard(name, &n_name);
        column->name = kn_string_copy(name != NULL ? name : "", n_name, err);
        if (column->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        column->stored = options->wants == NULL || options->wants(options->context, c, column->name);
    }
    for (uint32_t c = 0; c < sheet->n_columns && sheet->problem == NULL; c++)
        if (sheet->columns[c].stored) KN_TRY(decode_column(sheet, c, options, err));
    if (sheet->problem != NULL) sheet->n_rows = 0;
    *out = sheet;
    sheet = NULL;
done:
    kn_sheet_free(sheet);
    return status;
}
