/* Values to text.
 *
 * Floats: the shortest decimal inside the interval of numbers that round to the value. Most values people have are
 * decimals of few digits, found by one multiplication and one division, both exact enough to prove it: r / 10^k with r
 * and 10^k below 2^53 is the double nearest to that decimal, and of two decimals of at most 15 digits no double is
 * nearest to both. The others go through the C library at 15, 16, 17 digits. Just below a power of two the interval is
 * narrower than above: there the decimal next to the nearest one may be the only short one inside. */
#include "source/arrow/spell.h"

#include "table/dates.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Whole numbers ----------------------------------------------------------------------------------------------- */

static size_t put_digits(char *out, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    for (size_t i = 0; i < n; i++) out[i] = digits[n - 1 - i];
    return n;
}

static size_t put_padded(char *out, uint64_t value, unsigned n_digits)
{
    for (unsigned i = n_digits; i > 0; i--) {
        out[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
    return n_digits;
}

static uint64_t load_unsigned(const void *raw, unsigned width)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (width) {
    case 1: return memcpy(&one, raw, 1), one;
    case 2: return memcpy(&two, raw, 2), two;
    case 4: return memcpy(&four, raw, 4), four;
    default: return memcpy(&eight, raw, 8), eight;
    }
}

static int64_t load_signed(const void *raw, unsigned width)
{
    unsigned shift = 64 - 8 * width;
    return (int64_t)(load_unsigned(raw, width) << shift) >> shift;
}

static size_t spell_int(char *out, int64_t value)
{
    if (value >= 0) return put_digits(out, (uint64_t)value);
    out[0] = '-';
    return 1 + put_digits(out + 1, 0 - (uint64_t)value);
}

/* --- Floats ------------------------------------------------------------------------------------------------------ */

/* A value and the decimals that mean it: between halfway to the value below and halfway to the one above. */
typedef struct float_value {
    double value; /* above 0 and finite */
    unsigned width;
    double low, high; /* exact for the narrow types, not set for doubles */
    bool is_even;
    int min_digits, max_digits;
    double safe; /* whole numbers below have so few digits that no two of them mean the same value */
} float_value;

static double half_to_double(uint16_t bits)
{
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, (int)exponent - 25);
    return bits >> 15 != 0 ? -value : value;
}

static double single_to_double(uint32_t bits)
{
    float single;
    memcpy(&single, &bits, sizeof single);
    return single;
}

static double load_float(const void *raw, unsigned width)
{
    double value;
    if (width == 2) return half_to_double((uint16_t)load_unsigned(raw, 2));
    if (width == 4) return single_to_double((uint32_t)load_unsigned(raw, 4));
    return memcpy(&value, raw, sizeof value), value;
}

static float_value float_of(const void *raw, unsigned width)
{
    float_value f = {fabs(load_float(raw, width)), width, 0, 0, false, 15, 17, 1e15};
    if (width == 8) {
        if (f.value < DBL_MIN) f.min_digits = 1; /* few bits, few digits */
        return f;
    }
    uint32_t bits = (uint32_t)load_unsigned(raw, width) & (width == 4 ? 0x7FFFFFFFu : 0x7FFFu);
    double next = width == 4 ? single_to_double(bits + 1) : half_to_double((uint16_t)(bits + 1));
    double last = width == 4 ? single_to_double(bits - 1) : half_to_double((uint16_t)(bits - 1));
    if (isinf(next)) next = 2 * f.value - last;
    f.min_digits = 1;
    f.max_digits = width == 4 ? 9 : 5;
    f.safe = width == 4 ? 1e6 : 1e3;
    f.is_even = bits % 2 == 0;
    f.low = (last + f.value) / 2;
    f.high = (f.value + next) / 2;
    return f;
}

/* d1 d2 d3 ... times 10^exponent, the point after d1. */
typedef struct digits {
    char at[20];
    int n, exponent;
} digits;

/* Without a point, so that every locale reads it alike. Halfway between two values the even one is meant. */
static bool means_it(const digits *d, const float_value *f)
{
    char text[40];
    memcpy(text, d->at, (size_t)d->n);
    snprintf(text + d->n, sizeof text - (size_t)d->n, "e%d", d->exponent - d->n + 1);
    if (f->width == 8) return strtod(text, NULL) == f->value;
    if (f->width == 4) return (double)strtof(text, NULL) == f->value;
    double read = strtod(text, NULL);
    return (read > f->low && read < f->high) || (f->is_even && (read == f->low || read == f->high));
}

static bool try_digits(digits *out, const float_value *f, int n_digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*e", n_digits - 1, f->value);
    out->n = 0;
    const char *at = text;
    for (; *at != 'e'; at++) /* the point is the locale's */
        if (*at >= '0' && *at <= '9') out->at[out->n++] = *at;
    bool negative = at[1] == '-';
    out->exponent = 0;
    for (at += 2; *at != '\0'; at++) out->exponent = 10 * out->exponent + (*at - '0');
    if (negative) out->exponent = -out->exponent;
    if (means_it(out, f)) return true;
    for (int i = out->n - 1; i >= 0; i--) { /* the next decimal above */
        if (out->at[i] != '9') {
            out->at[i]++;
            return means_it(out, f);
        }
        out->at[i] = '0';
    }
    return false;
}

static void find_digits(digits *out, const float_value *f)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    double value = f->value;
    for (int k = 0; k <= 6 && value < f->safe; k++) {
        double whole = rint(value * powers[k]);
        double read = whole / powers[k];
        if (whole >= f->safe || whole < 1) continue;
        if (f->width == 8 ? read != value : read <= f->low || read >= f->high) continue;
        out->n = (int)put_digits(out->at, (uint64_t)whole);
        out->exponent = out->n - 1 - k;
        goto strip;
    }
    for (int n = f->min_digits; n <= f->max_digits; n++)
        if (try_digits(out, f, n)) break;
strip:
    while (out->n > 1 && out->at[out->n - 1] == '0') out->n--;
}

static size_t layout_digits(char *out, const digits *d)
{
    size_t n = 0;
    if (d->exponent >= 16 || d->exponent < -5) {
        out[n++] = d->at[0];
        if (d->n > 1) out[n++] = '.';
        memcpy(out + n, d->at + 1, (size_t)d->n - 1);
        n += (size_t)d->n - 1;
        out[n++] = 'e';
        out[n++] = d->exponent < 0 ? '-' : '+';
        uint64_t size = (uint64_t)(d->exponent < 0 ? -d->exponent : d->exponent);
        return n + (size >= 100 ? put_digits(out + n, size) : put_padded(out + n, size, 2));
    }
    if (d->exponent < 0) {
        out[n++] = '0';
        out[n++] = '.';
        for (int i = -1; i > d->exponent; i--) out[n++] = '0';
        memcpy(out + n, d->at, (size_t)d->n);
        return n + (size_t)d->n;
    }
    for (int i = 0; i < d->n || i <= d->exponent; i++) {
        if (i == d->exponent + 1) out[n++] = '.';
        out[n++] = i < d->n ? d->at[i] : '0';
    }
    return n;
}

static size_t spell_float(char *out, const void *raw, unsigned width)
{
    size_t n = 0;
    digits d = {{0}, 0, 0};
    double value = load_float(raw, width);
    if (signbit(value)) out[n++] = '-';
    if (isinf(value)) return memcpy(out + n, "inf", 3), n + 3;
    if (value == 0) return out[n] = '0', n + 1;
    float_value f = float_of(raw, width);
    find_digits(&d, &f);
    return n + layout_digits(out + n, &d);
}

bool kn_arrow_is_nan(const kn_arrow_type *type, const void *raw) { return isnan(load_float(raw, type->width)); }

/* --- Decimals ---------------------------------------------------------------------------------------------------- */

/* The magnitude as digits, least significant first; limbs are divided down in place. */
static size_t magnitude_digits(char *out, uint32_t *limbs, unsigned n_limbs)
{
    size_t n = 0;
    for (;;) {
        uint64_t rest = 0;
        bool zero = true;
        for (unsigned i = n_limbs; i > 0; i--) {
            uint64_t part = rest << 32 | limbs[i - 1];
            limbs[i - 1] = (uint32_t)(part / 1000000000);
            rest = part % 1000000000;
            zero &= limbs[i - 1] == 0;
        }
        for (int i = 0; i < 9 && (!zero || rest != 0 || (n == 0 && i == 0)); i++, rest /= 10)
            out[n++] = (char)('0' + rest % 10);
        if (zero) return n;
    }
}

static size_t spell_decimal(char *out, const void *raw, unsigned width, int32_t scale)
{
    uint32_t limbs[8];
    char reversed[90];
    unsigned n_limbs = width / 4;
    size_t n = 0;
    for (unsigned i = 0; i < n_limbs; i++) limbs[i] = (uint32_t)load_unsigned((const char *)raw + 4 * i, 4);
    if (limbs[n_limbs - 1] >> 31 != 0) { /* two's complement */
        uint64_t carry = 1;
        for (unsigned i = 0; i < n_limbs; i++) {
            carry += (uint32_t)~limbs[i];
            limbs[i] = (uint32_t)carry;
            carry >>= 32;
        }
        out[n++] = '-';
    }
    size_t n_digits = magnitude_digits(reversed, limbs, n_limbs);
    bool is_zero = n_digits == 1 && reversed[0] == '0';
    size_t n_after = scale > 0 ? (size_t)scale : 0, n_before = n_digits > n_after ? n_digits - n_after : 0;
    if (n_before == 0) out[n++] = '0';
    for (size_t i = 0; i < n_before; i++) out[n++] = reversed[n_digits - 1 - i];
    for (int32_t i = scale; i < 0 && !is_zero; i++) out[n++] = '0';
    if (n_after > 0) out[n++] = '.';
    for (size_t i = n_after; i > 0; i--) out[n++] = i <= n_digits ? reversed[i - 1] : '0';
    return n;
}

/* --- Dates and times --------------------------------------------------------------------------------------------- */

static size_t spell_days(char *out, int64_t days)
{
    kn_date date = kn_date_from_days(days);
    /* The 32-bit year of kn_date is too small for what a timestamp in seconds can hold: count eras of 400 years. */
    int64_t era_days = 146097, shift = days / era_days, year;
    if (days < -INT32_MAX || days > INT32_MAX) date = kn_date_from_days(days - shift * era_days);
    else shift = 0;
    year = date.year + 400 * shift;
    size_t n = 0;
    if (year < 0) out[n++] = '-';
    if (year > 9999) out[n++] = '+';
    uint64_t size = (uint64_t)(year < 0 ? -year : year);
    n += size > 9999 ? put_digits(out + n, size) : put_padded(out + n, size, 4);
    out[n++] = '-';
    n += put_padded(out + n, date.month, 2);
    out[n++] = '-';
    return n + put_padded(out + n, date.day, 2);
}

/* `units` since midnight. */
static size_t spell_time(char *out, uint64_t units, uint32_t per_second)
{
    uint64_t seconds = units / per_second, fraction = units % per_second;
    unsigned n_digits = per_second == 1 ? 0 : per_second == 1000 ? 3 : per_second == 1000000 ? 6 : 9;
    size_t n = put_padded(out, seconds / 3600, 2);
    out[n++] = ':';
    n += put_padded(out + n, seconds / 60 % 60, 2);
    out[n++] = ':';
    n += put_padded(out + n, seconds % 60, 2);
    if (fraction == 0) return n;
    for (; fraction % 10 == 0; fraction /= 10) n_digits--;
    out[n++] = '.';
    return n + put_padded(out + n, fraction, n_digits);
}

static size_t spell_moment(char *out, int64_t units, const kn_arrow_type *type)
{
    int64_t per_day = (int64_t)86400 * type->per_second, days = units / per_day, rest = units % per_day;
    if (rest < 0) {
        rest += per_day;
        days--;
    }
    size_t n = spell_days(out, days);
    if (type->kind == KN_ARROW_DATE && rest == 0) return n;
    out[n++] = 'T';
    n += spell_time(out + n, (uint64_t)rest, type->per_second);
    if (type->has_zone) out[n++] = 'Z';
    return n;
}

size_t kn_arrow_spell(char out[KN_SPELLED_BYTES], const kn_arrow_type *type, const void *raw)
{
    int64_t units;
    switch (type->kind) {
    case KN_ARROW_BOOL:
        if (*(const char *)raw != 0) return memcpy(out, "true", 4), 4;
        return memcpy(out, "false", 5), 5;
    case KN_ARROW_INT: return spell_int(out, load_signed(raw, type->width));
    case KN_ARROW_UINT: return put_digits(out, load_unsigned(raw, type->width));
    case KN_ARROW_FLOAT: return spell_float(out, raw, type->width);
    case KN_ARROW_DECIMAL: return spell_decimal(out, raw, type->width, type->scale);
    case KN_ARROW_DATE:
        if (type->per_second == 0) return spell_days(out, load_signed(raw, 4));
        return spell_moment(out, load_signed(raw, 8), type);
    case KN_ARROW_TIMESTAMP: return spell_moment(out, load_signed(raw, 8), type);
    case KN_ARROW_TIME:
        units = load_signed(raw, type->width);
        if (units < 0 || units >= (int64_t)86400 * type->per_second) return 0;
        return spell_time(out, (uint64_t)units, type->per_second);
    default: return 0;
    }
}
