/* Starting partitions: [BA] 7.1. Every value its own position; widths, as the paper's 5-year ages; or the
 * discretization of its footnote 1, Fayyad and Irani 1993: a run of values is cut where the class information is
 * greatest, as long as that is worth its description, and each half again.
 *
 * Cost: linear in the values of the column; start=classes values times classes times depth. */
#include "search/cuts/cut_start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Widths ---------------------------------------------------------------------------------------------------- */

/* The entry of coarse= for a column: its width, 0 when there is none. */
static double width_of(const kn_task *task, const char *name)
{
    const char *at = kn_args_text(task->args, "coarse");
    while (at != NULL && *at != '\0') {
        size_t n = strcspn(at, "|"), n_name = n;
        while (n_name > 0 && at[n_name - 1] != ':') n_name--;
        if (n_name > 0 && strlen(name) == n_name - 1 && memcmp(at, name, n_name - 1) == 0) return atof(at + n_name);
        at += n + (at[n] == '|');
    }
    return 0;
}

static kn_status check_entry(const char *entry, size_t n, const kn_task *task, bool nodes, kn_error *err)
{
    kn_status status = KN_OK;
    char text[64];
    double width;
    size_t n_name = n;
    while (n_name > 0 && entry[n_name - 1] != ':') n_name--;
    snprintf(text, sizeof text, "%.*s", (int)(n - n_name < 63 ? n - n_name : 63), entry + n_name);
    if (n_name < 2 || !kn_param_number(&width, text) || !(width > 0))
        KN_FAIL(KN_USAGE,
                "%s: coarse=%.*s: write COLUMN:WIDTH, the width a number above 0, several with | between them",
                task->args->owner, (int)(n < 40 ? n : 40), entry);
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) {
        const kn_domain *domain = task->tuples->domains[q];
        if (strlen(domain->name) != n_name - 1 || memcmp(domain->name, entry, n_name - 1) != 0) continue;
        if (domain->column->number == NULL || kn_part_form_of(domain, nodes) != KN_PART_INTERVAL)
            KN_FAIL(KN_USAGE, "%s: coarse: the values of '%s' do not stand in the order of numbers", task->args->owner,
                    domain->name);
        goto done;
    }
    KN_FAIL(KN_USAGE, "%s: coarse: '%.*s' is no quasi-identifier", task->args->owner,
            (int)(n_name - 1 < 40 ? n_name - 1 : 40), entry);
done:
    return status;
}

kn_status kn_cut_check_coarse(const kn_task *task, bool nodes, kn_error *err)
{
    kn_status status = KN_OK;
    const char *at = kn_args_text(task->args, "coarse");
    while (at != NULL && *at != '\0') {
        size_t n = strcspn(at, "|");
        KN_TRY(check_entry(at, n, task, nodes, err));
        at += n + (at[n] == '|');
    }
done:
    return status;
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

static double number_of(const kn_domain *domain, uint32_t code)
{
    return domain->column->number[kn_column_value(domain->column, domain->spelling_of_code[code])];
}

/* Whether a position begins at this code, `before` being the value of the data before it. */
static bool begins(const kn_domain *domain, uint32_t before, uint32_t code, double width)
{
    if (before == domain->missing || code == domain->missing) return true;
    if (domain->grid_first != NULL && domain->grid_first[code] != code) return false; /* inside a grid cell */
    if (domain->stretches != NULL && domain->stretch_of_code[before] == domain->stretch_of_code[code]) return false;
    if (width == 0) return true;
    return floor(number_of(domain, before) / width) != floor(number_of(domain, code) / width);
}

static kn_status start_at_values(kn_cut_column *column, double width, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = column->domain;
    uint32_t before = KN_NONE;
    KN_NEW(column->start, domain->n_codes + (size_t)2);
    column->n_positions = 1;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (column->form == KN_PART_NODE) {
            column->start[code] = code;
            column->n_positions = code + 1;
            continue;
        }
        if (kn_domain_seen_rows(domain, code) == 0) continue;
        if (before != KN_NONE && begins(domain, before, code, width)) column->start[column->n_positions++] = code;
        before = code;
    }
    column->start[column->n_positions] = domain->n_codes;
done:
    return status;
}

/* --- Classes --------------------------------------------------------------------------------------------------- */

typedef struct discretizer {
    uint32_t n_values;
    uint64_t *before; /* [position * n_values + value]: rows before the position */
    bool *cut;        /* [position] */
} discretizer;

/* Bits per row of the class column in positions first .. last-1; *n_classes: values that occur. */
static double entropy(const discretizer *d, uint32_t first, uint32_t last, double *n_rows, double *n_classes)
{
    double n_log_n = 0;
    *n_rows = *n_classes = 0;
    for (uint32_t v = 0; v < d->n_values; v++) {
        double n = (double)(d->before[(size_t)last * d->n_values + v] - d->before[(size_t)first * d->n_values + v]);
        *n_rows += n;
        *n_classes += n > 0;
        if (n > 1) n_log_n += n * log2(n);
    }
    return *n_rows > 0 ? log2(*n_rows) - n_log_n / *n_rows : 0;
}

/* Cuts first .. last-1 where the entropy of both sides is least, if the gain pays for the description: their (8). */
static void discretize(discretizer *d, uint32_t first, uint32_t last)
{
    double n, k, n1, k1, n2, k2, h = entropy(d, first, last, &n, &k), least = INFINITY, h1 = 0, h2 = 0;
    uint32_t best = first;
    for (uint32_t p = first + 1; p < last; p++) {
        double left = entropy(d, first, p, &n1, &k1), right = entropy(d, p, last, &n2, &k2);
        double both = n > 0 ? (n1 * left + n2 * right) / n : 0;
        if (both < least) least = both, best = p;
    }
    if (best == first || n < 2) return;
    h1 = entropy(d, first, best, &n1, &k1);
    h2 = entropy(d, best, last, &n2, &k2);
    double cost = log2(pow(3, k) - 2) - (k * h - k1 * h1 - k2 * h2);
    if (!(h - least > (log2(n - 1) + cost) / n)) return;
    d->cut[best] = true;
    discretize(d, first, best);
    discretize(d, best, last);
}

static kn_status keep_class_changes(kn_cut_column *column, uint32_t q, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = task->tuples;
    const kn_sensitive *classes = &t->sensitive[0];
    discretizer d = {.n_values = classes->n_values};
    uint32_t *position_of = NULL, n = 1;
    KN_NEW(d.before, (column->n_positions + (size_t)1) * d.n_values);
    KN_NEW(d.cut, column->n_positions);
    KN_NEW(position_of, column->domain->n_codes);
    for (uint32_t p = 0; p < column->n_positions; p++)
        for (uint32_t code = column->start[p]; code < column->start[p + 1]; code++) position_of[code] = p;
    for (uint32_t row = 0; row < t->n_records; row++) {
        uint32_t value = kn_column_value(classes->column, kn_column_code(classes->column, row));
        d.before[(position_of[t->codes[q][t->row_tuple[row]]] + (size_t)1) * d.n_values + value] +=
            kn_tuples_count(t, row);
    }
    for (size_t i = d.n_values; i < (column->n_positions + (size_t)1) * d.n_values; i++)
        d.before[i] += d.before[i - d.n_values];
    discretize(&d, 0, column->n_positions);
    for (uint32_t p = 1; p < column->n_positions; p++)
        if (d.cut[p]) column->start[n++] = column->start[p];
    column->start[n] = column->domain->n_codes;
    column->n_positions = n;
done:
    kn_free(d.before);
    kn_free(d.cut);
    kn_free(position_of);
    return status;
}

kn_status kn_cut_start(kn_cut_column *column, uint32_t q, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const bool by_class = kn_args_is(task->args, "start", "classes");
    KN_TRY(start_at_values(column, width_of(task, column->domain->name), err));
    if (by_class && task->tuples->n_sensitive == 0)
        KN_FAIL(KN_USAGE, "%s: start=classes needs a sensitive column", task->args->owner);
    if (by_class && column->form != KN_PART_NODE) KN_TRY(keep_class_changes(column, q, task, err));
    if (column->n_positions > KN_MOST_POSITIONS)
        KN_FAIL(KN_USAGE,
                "%s: column '%s' has %u values, and at most %u can be told apart; give it a width with coarse=",
                task->args->owner, column->domain->name, column->n_positions, KN_MOST_POSITIONS);
done:
    return status;
}
