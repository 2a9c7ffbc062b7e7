/* Which columns a custodian may want instead of dates: researchers ask for ages and durations, and these point at
 * people less than the dates do. No age is reached at a date that means an open end, 9999-12-31. A pair of columns
 * counts where at least 99 of 100 rows that have both dates have them in one order, and not all are equal. Cost: a pass
 * over the rows for each pair of columns of dates that stand side by side. */
#include "run/propose_derived.h"

#include "base/buffer.h"
#include "run/as_it_comes.h"
#include "table/dates.h"
#include "table/derivation.h"
#include "table/names.h"

#include <math.h>
#include <string.h>

enum { MOST_IDEAS = 6 };

typedef struct gathering {
    kn_derived_ideas *out;
    const kn_table *table;
} gathering;

static bool is_date(const kn_column *column) { return column->type == KN_TYPE_DATE && column->codes != NULL; }
static bool is_birth(const kn_column *column) { return is_date(column) && kn_name_is_birth(column->name); }

/* A column as a definition writes it. */
static void put_name(kn_buffer *out, const char *name)
{
    for (; *name != '\0'; name++) {
        if (*name == ',') kn_buffer_char(out, '\\');
        kn_buffer_char(out, *name);
    }
}

/* Not where the name is taken, or a name would not be read back as it is. */
static kn_status add(gathering *all, kn_buffer *name, kn_buffer *spec, const char *from, const char *reason,
                     kn_error *err)
{
    kn_status status = KN_OK;
    kn_derivation parsed = {0};
    kn_error inner = {0};
    kn_derived_idea idea = {.reason = reason};
    KN_TRY(kn_buffer_finish(&idea.name, name, err));
    KN_TRY(kn_buffer_finish(&idea.spec, spec, err));
    bool fits = kn_table_find(all->table, idea.name) == KN_NONE && all->out->n < MOST_IDEAS &&
                kn_derivation_parse(&parsed, idea.name, idea.spec, &inner) == KN_OK && parsed.from.column != NULL &&
                strcmp(parsed.from.column, from) == 0;
    idea.is_age = parsed.unit == KN_DERIVED_AGE;
    if (!fits) goto done;
    all->out->items[all->out->n++] = idea;
    idea = (kn_derived_idea){0};
done:
    kn_derivation_free(&parsed);
    kn_free(idea.name);
    kn_free(idea.spec);
    return status;
}

static double last_date(const kn_table *table)
{
    double last = NAN;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        uint32_t n = is_date(column) ? column->n_values - column->has_missing : 0;
        while (n > 0 && kn_column_means_no_date(column, n - 1)) n--;
        if (n > 0 && !(column->number[n - 1] <= last)) last = column->number[n - 1];
    }
    return last;
}

static kn_status add_age(gathering *all, const kn_column *birth, const kn_column *at, kn_error *err)
{
    kn_buffer name = {0}, spec = {0};
    const double last = last_date(all->table);
    if (at == NULL && !isfinite(last)) return KN_OK;
    kn_buffer_text(&name, at == NULL ? "age" : "age_at_");
    if (at != NULL) kn_buffer_text(&name, at->name);
    kn_buffer_text(&spec, "age(");
    put_name(&spec, birth->name);
    kn_buffer_text(&spec, ", ");
    if (at != NULL) put_name(&spec, at->name);
    else kn_buffer_printf(&spec, "%04d-12-31", (int)kn_date_of_number(last).year);
    kn_buffer_char(&spec, ')');
    return add(all, &name, &spec, birth->name, "whole years tell less of a person than the birth date", err);
}

/* How many rows have both dates, and in which order. */
typedef struct pair_count {
    uint32_t n_both, n_before, n_after;
} pair_count;

/* The day, as ages and days count: who was admitted at 17:25 and discharged the same day, without a time, was not
 * discharged before. NAN where it is missing. */
static double day_at(const kn_column *column, uint32_t row)
{
    return floor(column->number[kn_column_value(column, kn_column_code(column, row))]);
}

static pair_count count_pairs(const kn_column *a, const kn_column *b, uint32_t n_rows)
{
    pair_count count = {0};
    for (uint32_t row = 0; row < n_rows; row++) {
        const double x = day_at(a, row), y = day_at(b, row);
        if (isnan(x) || isnan(y)) continue;
        count.n_both++;
        count.n_before += x < y;
        count.n_after += x > y;
    }
    return count;
}

static kn_status add_days(gathering *all, const kn_column *a, const kn_column *b, kn_error *err)
{
    kn_buffer name = {0}, spec = {0};
    const pair_count count = count_pairs(a, b, all->table->n_rows);
    const double few = 0.01 * count.n_both;
    const bool forwards = count.n_before > few && count.n_after <= few,
               backwards = count.n_after > few && count.n_before <= few;
    if (!forwards && !backwards) return KN_OK;
    const kn_column *from = forwards ? a : b, *to = forwards ? b : a;
    if (is_birth(from)) return add_age(all, from, to, err);
    kn_buffer_printf(&name, "days_%s_to_%s", from->name, to->name);
    kn_buffer_text(&spec, "days(");
    put_name(&spec, from->name);
    kn_buffer_text(&spec, ", ");
    put_name(&spec, to->name);
    kn_buffer_char(&spec, ')');
    return add(all, &name, &spec, from->name, "how long it took tells less than when it was", err);
}

kn_status kn_derived_propose(kn_derived_ideas *out, const kn_table *table, kn_error *err)
{
    kn_status status = KN_OK;
    gathering all = {out, table};
    const kn_column *birth = NULL, *before = NULL;
    *out = (kn_derived_ideas){0};
    KN_NEW(out->items, MOST_IDEAS);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (is_birth(column) && birth == NULL) {
            KN_TRY(add_age(&all, column, NULL, err));
            birth = column;
        }
    }
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (!is_date(column) || column == birth) continue;
        if (birth != NULL) KN_TRY(add_days(&all, birth, column, err));
        if (before != NULL) KN_TRY(add_days(&all, before, column, err));
        before = column;
    }
done:
    if (status != KN_OK) kn_derived_ideas_free(out);
    return status;
}

void kn_derived_ideas_free(kn_derived_ideas *ideas)
{
    for (size_t i = 0; i < ideas->n; i++) {
        kn_free(ideas->items[i].name);
        kn_free(ideas->items[i].spec);
    }
    kn_free(ideas->items);
    *ideas = (kn_derived_ideas){0};
}
