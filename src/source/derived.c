/* A table with columns that are computed from dates of the same row: see kn_source_derive and table/derivation.h.
 *
 * The dates are read as such, whatever their role, and those that nobody asked to keep are forgotten again. Rows with
 * equal dates are one text. Exact: moments are read again from the spellings, because a column's numbers are doubles.
 * Cost: one pass over the rows of each such column, with a hash table. */
#include "source/combined.h"

#include "source/csv/csv_read.h"
#include "table/dates.h"

#include <stdio.h>
#include <string.h>

enum { FROM, TO, N_ENDS };

typedef struct derived_reader {
    kn_combined all;                  /* its columns: the inner ones, then those derived */
    const kn_derivation *derivations; /* borrowed */
    size_t n_derivations;
    uint32_t (*ends)[N_ENDS]; /* [derivation]: columns of the inner source; KN_NONE: a date */
    uint64_t *n_invalid;      /* [derivation]; borrowed */
    uint32_t n_inner;
} derived_reader;

static void derived_free(derived_reader *reader)
{
    if (reader == NULL) return;
    kn_free(reader->ends);
    kn_free(reader->all.names);
    kn_free(reader);
}

static void derived_close(void *opaque)
{
    derived_reader *reader = opaque;
    reader->all.inner.type->close(reader->all.inner.reader);
    derived_free(reader);
}

/* --- What a row says ---------------------------------------------------------------------------------------------- */

typedef enum moment_state { PRESENT, MISSING, INVALID } moment_state;

typedef struct end_cell {
    kn_moment moment;
    moment_state state;
} end_cell;

/* One of the two, per spelling of its column; a single one for a date. */
typedef struct end_cells {
    const kn_column *column; /* NULL: a date */
    end_cell *cells;
    bool has_zone, has_bare_time;
} end_cells;

/* In the form in which the column was read: the number says which of d/m/y and m/d/y it is. */
static bool moment_of(kn_moment *out, const char *bytes, size_t n_bytes, double number)
{
    for (unsigned form = 1; form < KN_DATE_ANY; form <<= 1)
        if (kn_date_parse(out, bytes, n_bytes, form) && kn_moment_number(out) == number) return true;
    return false;
}

static kn_status end_read(end_cells *out, const kn_derived_end *end, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    out->column = column;
    KN_NEW(out->cells, column != NULL ? column->n_spellings + (size_t)1 : 1);
    if (column == NULL) out->cells[0].moment.days = end->days;
    for (uint32_t s = 0; column != NULL && s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        const uint32_t value = kn_column_value(column, s);
        end_cell *cell = &out->cells[s];
        if (column->has_missing && value == column->n_values - 1)
            cell->state = column->is_invalid != NULL && column->is_invalid[s] ? INVALID : MISSING;
        else if (!moment_of(&cell->moment, bytes, n, column->number[value])) cell->state = INVALID;
        out->has_zone |= cell->moment.has_zone;
        out->has_bare_time |= cell->moment.has_time && !cell->moment.has_zone;
    }
done:
    return status;
}

static uint32_t end_code(const end_cells *end, uint32_t row)
{
    return end->column != NULL ? kn_column_code(end->column, row) : 0;
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t whole_months(const kn_moment *from, const kn_moment *to)
{
    const kn_date a = kn_date_from_days(from->days), b = kn_date_from_days(to->days);
    return ((int64_t)b.year - a.year) * 12 + b.month - a.month - (b.day < a.day);
}

static int64_t whole_minutes(const kn_moment *from, const kn_moment *to)
{
    enum { DAY_MINUTES = 24 * 60 };
    const int64_t minute = INT64_C(60000000000);
    const int64_t days = to->days - from->days, nanoseconds = (int64_t)to->nanoseconds - (int64_t)from->nanoseconds;
    return days * DAY_MINUTES + floor_divide(nanoseconds, minute);
}

static int64_t whole_units(kn_derived_unit unit, const kn_moment *from, const kn_moment *to)
{
    switch (unit) {
    case KN_DERIVED_AGE:
    case KN_DERIVED_YEARS: return floor_divide(whole_months(from, to), 12);
    case KN_DERIVED_MONTHS: return whole_months(from, to);
    case KN_DERIVED_WEEKS: return floor_divide(to->days - from->days, 7);
    case KN_DERIVED_DAYS: return to->days - from->days;
    case KN_DERIVED_HOURS: return floor_divide(whole_minutes(from, to), 60);
    case KN_DERIVED_MINUTES: return whole_minutes(from, to);
    }
    return 0;
}

/* --- Rows to texts ------------------------------------------------------------------------------------------------ */

/* The line that a row stands on: exact where no cell before it holds a line end, otherwise no later than it. */
static uint64_t line_of(const derived_reader *reader, const end_cells ends[N_ENDS], uint32_t row)
{
    uint64_t line = row + UINT64_C(1) + kn_combined_form(reader).has_header;
    if (reader->all.inner.type != &kn_source_csv) line = row + UINT64_C(1);
    for (int e = 0; e < N_ENDS; e++)
        if (ends[e].column != NULL && ends[e].column->first_line[end_code(&ends[e], row)] > line)
            line = ends[e].column->first_line[end_code(&ends[e], row)];
    return line;
}

static kn_status refuse_age(const derived_reader *reader, const kn_derivation *derivation, const kn_table *table,
                            const end_cells ends[N_ENDS], uint32_t row, int64_t age, kn_error *err)
{
    char shown[KN_SHOWN_BYTES];
    size_t n;
    const bool redact = reader->all.cells != NULL && reader->all.cells->redact;
    const end_cells *end = &ends[ends[FROM].column != NULL ? FROM : TO];
    const char *bytes = kn_column_bytes(end->column, end_code(end, row), &n);
    const unsigned long long line = line_of(reader, ends, row);
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = table->source, .line = line, .column = end->column->name),
                           "%s, line %llu, column %s: %s makes column %s %s%s, and an age is from 0 to %d; correct the "
                           "date, say --invalid missing, or count years() instead",
                           table->source, line, end->column->name, kn_value_shown(shown, bytes, n, redact),
                           derivation->name, age < 0 ? "less than 0" : "more than ", age < 0 ? "" : "150", KN_MOST_AGE);
}

static bool means_missing(const derived_reader *reader, const char *text)
{
    for (size_t i = 0; reader->all.cells != NULL && i < reader->all.cells->n_null_values; i++)
        if (strcmp(reader->all.cells->null_values[i], text) == 0) return true;
    return false;
}

/* The cell of a pair of dates; nothing for a missing one. */
static kn_status pair_put(kn_buffer *out, derived_reader *reader, size_t d, const kn_table *table,
                          const end_cells ends[N_ENDS], const kn_combinations *all, uint32_t pair, kn_error *err)
{
    const kn_derivation *derivation = &reader->derivations[d];
    const uint32_t row = all->first_row[pair];
    const end_cell *from = &ends[FROM].cells[end_code(&ends[FROM], row)],
                   *to = &ends[TO].cells[end_code(&ends[TO], row)];
    bool is_invalid = from->state == INVALID || to->state == INVALID;
    if (from->state == PRESENT && to->state == PRESENT) {
        const int64_t units = whole_units(derivation->unit, &from->moment, &to->moment);
        is_invalid = derivation->unit == KN_DERIVED_AGE && (units < 0 || units > KN_MOST_AGE);
        if (is_invalid && (reader->all.cells == NULL || !reader->all.cells->invalid_is_missing))
            return refuse_age(reader, derivation, table, ends, row, units, err);
        if (!is_invalid) {
            char text[24];
            snprintf(text, sizeof text, "%lld", (long long)units);
            if (means_missing(reader, text))
                return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "null", .column = derivation->name),
                                       "column %s: %s is also how a missing cell is written (--null), so that nobody "
                                       "could tell them apart",
                                       derivation->name, reader->all.cells->redact ? "a value" : text);
            kn_buffer_text(out, text);
        }
    }
    if (is_invalid && reader->n_invalid != NULL) reader->n_invalid[d] += all->n_rows[pair];
    return KN_OK;
}

static kn_status zones_check(const kn_derivation *derivation, const end_cells ends[N_ENDS], kn_error *err)
{
    if (derivation->unit != KN_DERIVED_HOURS && derivation->unit != KN_DERIVED_MINUTES) return KN_OK;
    for (int e = 0; e < N_ENDS; e++)
        if (ends[e].has_zone && ends[1 - e].has_bare_time)
            return kn_error_set_at(err, KN_INPUT, KN_PLACE(.column = ends[e].column->name),
                                   "column %s: the times of %s have a zone and those of %s have none, so that nobody "
                                   "knows the %s between them",
                                   derivation->name, ends[e].column->name, ends[1 - e].column->name,
                                   kn_derived_unit_name(derivation->unit));
    return KN_OK;
}

static kn_status column_derive(kn_column *out, derived_reader *reader, size_t d, const kn_table *table, kn_type type,
                               kn_error *err)
{
    kn_status status = KN_OK;
    const kn_derivation *derivation = &reader->derivations[d];
    const kn_derived_end *const asked[N_ENDS] = {&derivation->from, &derivation->to};
    end_cells ends[N_ENDS] = {0};
    kn_combinations all = {0};
    const kn_column *columns[N_ENDS];
    size_t n_columns = 0;
    kn_buffer bytes = {0};
    uint64_t *offset = NULL, *line = NULL;
    for (int e = 0; e < N_ENDS; e++) {
        const uint32_t c = reader->ends[d][e];
        KN_TRY(end_read(&ends[e], asked[e], c != KN_NONE ? &table->columns[c] : NULL, err));
        if (ends[e].column != NULL) columns[n_columns++] = ends[e].column;
    }
    KN_TRY(zones_check(derivation, ends, err));
    KN_TRY(kn_combinations_make(&all, columns, n_columns, table->n_rows, err));
    KN_NEW(offset, (size_t)all.n + 1);
    KN_NEW(line, (size_t)all.n + 1);
    for (uint32_t p = 0; p < all.n; p++) {
        KN_TRY(pair_put(&bytes, reader, d, table, ends, &all, p, err));
        offset[p + 1] = bytes.n;
        line[p] = line_of(reader, ends, all.first_row[p]);
    }
    const kn_infer_options options = {.type =
                                          type == KN_TYPE_AUTO ? KN_TYPE_INT : type, /* no number is a missing cell */
                                      .source = table->source,
                                      .redact = reader->all.cells != NULL && reader->all.cells->redact};
    KN_TRY(kn_column_of_texts(out, &all, &bytes, offset, line, &options, table->n_rows, err));
done:
    for (int e = 0; e < N_ENDS; e++) kn_free(ends[e].cells);
    kn_combinations_free(&all);
    kn_buffer_free(&bytes);
    kn_free(offset);
    kn_free(line);
    return status;
}

/* --- The source --------------------------------------------------------------------------------------------------- */

static bool is_end(const derived_reader *reader, uint32_t column)
{
    for (size_t d = 0; d < reader->n_derivations; d++)
        if (reader->ends[d][FROM] == column || reader->ends[d][TO] == column) return true;
    return false;
}

/* Dates are read as dates, and kept until they were used. */
static kn_status plan_inner(kn_column_plan *plans, const derived_reader *reader, const kn_column_plan *asked,
                            kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t c = 0; c < reader->n_inner; c++) {
        plans[c] = asked[c];
        if (!is_end(reader, c)) continue;
        if (asked[c].use != KN_USE_NOTHING)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "derive", .column = reader->all.names[c]),
                       "column %s tells or counts persons or rows, and nothing is derived from it",
                       reader->all.names[c]);
        if (asked[c].type != KN_TYPE_AUTO && asked[c].type != KN_TYPE_DATE)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "derive", .column = reader->all.names[c]),
                       "column %s is declared as %s, and a column is derived from its dates; leave its type out",
                       reader->all.names[c], kn_type_name(asked[c].type));
        plans[c].type = KN_TYPE_DATE;
        if (!kn_plan_is_stored(&asked[c])) plans[c].role = KN_ROLE_INSENSITIVE;
    }
done:
    return status;
}

static kn_status fill_columns(kn_table *whole, void *opaque, kn_table *inner, const kn_column_plan *plans,
                              kn_error *err)
{
    kn_status status = KN_OK;
    derived_reader *reader = opaque;
    for (size_t d = 0; d < reader->n_derivations; d++) {
        const uint32_t c = reader->n_inner + (uint32_t)d;
        if (reader->n_invalid != NULL) reader->n_invalid[d] = 0;
        if (kn_plan_is_stored(&plans[c]))
            KN_TRY(column_derive(&whole->columns[c], reader, d, inner, plans[c].type, err));
    }
    for (uint32_t c = 0; c < reader->n_inner; c++)
        if (kn_plan_is_stored(&plans[c])) kn_column_take(&whole->columns[c], &inner->columns[c]);
done:
    return status;
}

static kn_status derived_read(kn_table **out, void *opaque, const kn_column_plan *plans, kn_pool *pool,
                              kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    derived_reader *reader = opaque;
    kn_column_plan *inner_plans = NULL;
    *out = NULL;
    KN_NEW(inner_plans, reader->n_inner + (size_t)1);
    KN_TRY(plan_inner(inner_plans, reader, plans, err));
    KN_TRY(kn_combined_read(out, reader, inner_plans, plans, fill_columns, pool, ticker, err));
done:
    kn_free(inner_plans);
    return status;
}

static const kn_source_type derived_type = {kn_combined_n_columns, kn_combined_name, derived_read, kn_combined_form,
                                            derived_close};

static uint32_t find_column(const kn_source *source, const char *name)
{
    for (uint32_t c = 0; c < kn_source_n_columns(source); c++)
        if (strcmp(kn_source_column_name(source, c), name) == 0) return c;
    return KN_NONE;
}

static kn_status find_end(uint32_t *out, const kn_source *source, const kn_derivation *derivation,
                          const kn_derived_end *end, kn_error *err)
{
    *out = end->column != NULL ? find_column(source, end->column) : KN_NONE;
    if (end->column == NULL || *out != KN_NONE) return KN_OK;
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "derive", .column = derivation->name),
                           "column '%.80s' is derived from '%.80s', and the data has no such column", derivation->name,
                           end->column);
}

kn_status kn_source_derive(kn_source *source, const kn_derivation *derivations, size_t n_derivations,
                           uint64_t *n_invalid, const kn_source_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    derived_reader *reader = NULL;
    if (n_derivations == 0) goto done;
    KN_NEW(reader, 1);
    reader->all.cells = options != NULL ? options->csv : NULL;
    reader->derivations = derivations;
    reader->n_derivations = n_derivations;
    reader->n_invalid = n_invalid;
    reader->n_inner = kn_source_n_columns(source);
    reader->all.n_columns = reader->n_inner + (uint32_t)n_derivations;
    KN_NEW(reader->ends, n_derivations);
    KN_NEW(reader->all.names, reader->all.n_columns);
    for (uint32_t c = 0; c < reader->n_inner; c++) reader->all.names[c] = (char *)kn_source_column_name(source, c);
    for (size_t d = 0; d < n_derivations; d++) {
        reader->all.names[reader->n_inner + d] = derivations[d].name;
        if (find_column(source, derivations[d].name) != KN_NONE)
            KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "derive", .column = derivations[d].name),
                       "the data has a column '%.80s' already; give the derived one another name", derivations[d].name);
        KN_TRY(find_end(&reader->ends[d][FROM], source, &derivations[d], &derivations[d].from, err));
        KN_TRY(find_end(&reader->ends[d][TO], source, &derivations[d], &derivations[d].to, err));
    }
    kn_combined_cover(source, &derived_type, reader);
    reader = NULL;
done:
    derived_free(reader);
    return status;
}
