/* Definitions of derived columns as users write them. */
#include "table/derivation.h"

#include "base/words.h"
#include "table/dates.h"

#include <string.h>

static const char *const unit_names[] = {
    [KN_DERIVED_AGE] = "age",         [KN_DERIVED_YEARS] = "years", [KN_DERIVED_MONTHS] = "months",
    [KN_DERIVED_WEEKS] = "weeks",     [KN_DERIVED_DAYS] = "days",   [KN_DERIVED_HOURS] = "hours",
    [KN_DERIVED_MINUTES] = "minutes",
};
enum { N_UNITS = sizeof unit_names / sizeof *unit_names };

const char *kn_derived_unit_name(kn_derived_unit unit) { return unit_names[unit]; }

void kn_derivation_free(kn_derivation *derivation)
{
    kn_free(derivation->name);
    kn_free(derivation->from.column);
    kn_free(derivation->to.column);
    *derivation = (kn_derivation){0};
}

/* Blanks around it do not count. */
static kn_status end_parse(kn_derived_end *out, const char *text, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n = strlen(text);
    kn_moment moment;
    while (n > 0 && text[n - 1] == ' ') n--;
    while (n > 0 && *text == ' ') text++, n--;
    if (n == 0) KN_FAIL(KN_USAGE, "a column or a date is missing");
    if (kn_date_parse(&moment, text, n, KN_DATE_ISO)) {
        if (moment.has_time) KN_FAIL(KN_USAGE, "'%.40s' is a time; write a date as 2024-12-31", text);
        out->days = moment.days;
        goto done;
    }
    out->column = kn_string_copy(text, n, err);
    if (out->column == NULL) status = KN_RESOURCES;
done:
    return status;
}

/* "(a, b)" */
static kn_status ends_parse(kn_derivation *out, const char *inside, kn_error *err)
{
    kn_status status = KN_OK;
    char *text = NULL;
    KN_NEW(text, strlen(inside) + 1);
    if (!kn_words_next(text, &inside)) KN_FAIL(KN_USAGE, "two are needed, columns or dates");
    KN_TRY(end_parse(&out->from, text, err));
    if (!kn_words_next(text, &inside)) KN_FAIL(KN_USAGE, "two are needed, columns or dates");
    KN_TRY(end_parse(&out->to, text, err));
    if (kn_words_next(text, &inside)) KN_FAIL(KN_USAGE, "two are needed, not more; a comma in a name is written \\,");
    if (out->from.column == NULL && out->to.column == NULL)
        KN_FAIL(KN_USAGE, "one of the two is a column; between two dates every row would have the same");
done:
    kn_free(text);
    return status;
}

kn_status kn_derivation_parse(kn_derivation *out, const char *name, const char *spec, kn_error *err)
{
    kn_status status = KN_OK;
    char *inside = NULL;
    const size_t n = strlen(spec), n_word = strcspn(spec, "(");
    size_t unit = 0;
    *out = (kn_derivation){0};
    while (unit < N_UNITS && (strlen(unit_names[unit]) != n_word || strncmp(spec, unit_names[unit], n_word) != 0))
        unit++;
    if (unit == N_UNITS || n < n_word + 2 || spec[n - 1] != ')')
        KN_FAIL(KN_USAGE,
                "'%.80s' is none of age(BIRTH, AT), years, months, weeks, days, hours or minutes(FROM, TO); each of "
                "these is a column of dates, or a date as 2024-12-31",
                spec);
    out->unit = (kn_derived_unit)unit;
    inside = kn_string_copy(spec + n_word + 1, n - n_word - 2, err);
    out->name = kn_string_copy(name, strlen(name), err);
    if (inside == NULL || out->name == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_error inner = {0};
    status = ends_parse(out, inside, &inner);
    if (status != KN_OK) status = kn_error_set(err, status, "'%.80s': %.300s", spec, inner.message);
done:
    kn_free(inside);
    if (status != KN_OK) kn_derivation_free(out);
    return status;
}
