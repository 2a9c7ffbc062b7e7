/* https://arrow.apache.org/docs/format/CDataInterface.html, "Data type description: format strings". */
#include "source/arrow/arrow_type.h"

#include <string.h>

static const struct plain_type {
    const char *format;
    kn_arrow_type type;
} plain_types[] = {
    {"n", {.kind = KN_ARROW_NULL}},
    {"b", {.kind = KN_ARROW_BOOL, .width = 1}},
    {"c", {.kind = KN_ARROW_INT, .width = 1}},
    {"s", {.kind = KN_ARROW_INT, .width = 2}},
    {"i", {.kind = KN_ARROW_INT, .width = 4}},
    {"l", {.kind = KN_ARROW_INT, .width = 8}},
    {"C", {.kind = KN_ARROW_UINT, .width = 1}},
    {"S", {.kind = KN_ARROW_UINT, .width = 2}},
    {"I", {.kind = KN_ARROW_UINT, .width = 4}},
    {"L", {.kind = KN_ARROW_UINT, .width = 8}},
    {"e", {.kind = KN_ARROW_FLOAT, .width = 2}},
    {"f", {.kind = KN_ARROW_FLOAT, .width = 4}},
    {"g", {.kind = KN_ARROW_FLOAT, .width = 8}},
    {"u", {.kind = KN_ARROW_STRING, .width = 4}},
    {"U", {.kind = KN_ARROW_STRING, .width = 8}},
    {"z", {.kind = KN_ARROW_STRING, .width = 4, .is_binary = true}},
    {"Z", {.kind = KN_ARROW_STRING, .width = 8, .is_binary = true}},
    {"vu", {.kind = KN_ARROW_VIEW, .width = 16}},
    {"vz", {.kind = KN_ARROW_VIEW, .width = 16, .is_binary = true}},
    {"tdD", {.kind = KN_ARROW_DATE, .width = 4}},
    {"tdm", {.kind = KN_ARROW_DATE, .width = 8, .per_second = 1000}},
    {"tts", {.kind = KN_ARROW_TIME, .width = 4, .per_second = 1}},
    {"ttm", {.kind = KN_ARROW_TIME, .width = 4, .per_second = 1000}},
    {"ttu", {.kind = KN_ARROW_TIME, .width = 8, .per_second = 1000000}},
    {"ttn", {.kind = KN_ARROW_TIME, .width = 8, .per_second = 1000000000}},
};

/* What people call the others. */
static const struct refused_type {
    const char *prefix, *name;
} refused_types[] = {
    {"+l", "a list"},
    {"+L", "a list"},
    {"+vl", "a list"},
    {"+vL", "a list"},
    {"+w", "a fixed-size list"},
    {"+s", "a struct"},
    {"+m", "a map"},
    {"+u", "a union"},
    {"+r", "run-end encoded"},
    {"w:", "fixed-size binary"},
    {"tD", "a duration"},
    {"ti", "an interval"},
};

/* "d:precision,scale" or "d:precision,scale,bits". */
static bool read_decimal(kn_arrow_type *out, const char *format)
{
    long numbers[3] = {0, 0, 128};
    const char *at = format + 2;
    for (int i = 0; i < 3; i++) {
        bool negative = *at == '-';
        at += negative;
        if (*at < '0' || *at > '9') return false;
        for (numbers[i] = 0; *at >= '0' && *at <= '9' && numbers[i] < 100000; at++)
            numbers[i] = 10 * numbers[i] + (*at - '0');
        if (negative) numbers[i] = -numbers[i];
        if (*at == '\0' && i > 0) break;
        if (*at++ != ',') return false;
    }
    bool known = numbers[2] == 32 || numbers[2] == 64 || numbers[2] == 128 || numbers[2] == 256;
    if (!known || numbers[0] < 1 || numbers[0] > 76 || numbers[1] < -300 || numbers[1] > 300) return false;
    *out = (kn_arrow_type){.kind = KN_ARROW_DECIMAL, .width = (unsigned)numbers[2] / 8, .scale = (int32_t)numbers[1]};
    return true;
}

static bool read_timestamp(kn_arrow_type *out, const char *format)
{
    uint32_t per_second = format[2] == 's'   ? 1
                          : format[2] == 'm' ? 1000
                          : format[2] == 'u' ? 1000000
                          : format[2] == 'n' ? 1000000000
                                             : 0;
    if (per_second == 0 || format[3] != ':') return false;
    *out = (kn_arrow_type){
        .kind = KN_ARROW_TIMESTAMP, .width = 8, .per_second = per_second, .has_zone = format[4] != '\0'};
    return true;
}

static bool read_format(kn_arrow_type *out, const char *format)
{
    for (size_t i = 0; i < sizeof plain_types / sizeof *plain_types; i++)
        if (strcmp(plain_types[i].format, format) == 0) {
            *out = plain_types[i].type;
            return true;
        }
    if (strncmp(format, "d:", 2) == 0) return read_decimal(out, format);
    return strncmp(format, "ts", 2) == 0 && read_timestamp(out, format);
}

static kn_status refuse(const char *format, const char *where, const char *name, kn_error *err)
{
    const char *called = "not a type that can be read";
    for (size_t i = 0; i < sizeof refused_types / sizeof *refused_types; i++)
        if (strncmp(refused_types[i].prefix, format, strlen(refused_types[i].prefix)) == 0)
            called = refused_types[i].name;
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = where, .column = name),
        "%s: column '%.80s' is %s (Arrow format '%.20s'); cast it to text or numbers, or leave it out", where, name,
        called, format);
}

kn_status kn_arrow_type_read(kn_arrow_type *out, const struct ArrowSchema *schema, const char *where, const char *name,
                             kn_error *err)
{
    kn_status status = KN_OK;
    kn_arrow_type index;
    *out = (kn_arrow_type){.kind = KN_ARROW_NULL};
    if (!read_format(out, schema->format)) KN_TRY(refuse(schema->format, where, name, err));
    if (schema->dictionary == NULL) goto done;
    index = *out;
    if (index.kind != KN_ARROW_INT && index.kind != KN_ARROW_UINT)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = where, .column = name),
                   "%s: column '%.80s' is a dictionary with indices of Arrow format '%.20s'; they must be integers",
                   where, name, schema->format);
    const struct ArrowSchema *values = schema->dictionary;
    if (values->format == NULL || values->dictionary != NULL)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = where, .column = name),
                   "%s: column '%.80s' is a dictionary of %s; cast it to text", where, name,
                   values->format == NULL ? "no type" : "dictionaries");
    if (!read_format(out, values->format)) KN_TRY(refuse(values->format, where, name, err));
    out->is_dictionary = true;
    out->index_width = index.width;
    out->index_signed = index.kind == KN_ARROW_INT;
done:
    return status;
}
