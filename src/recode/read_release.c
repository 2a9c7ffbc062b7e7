/* The way back: a released file becomes a kn_release against the original's domains, for `kanon measure`.
 *
 * Rows with equal cells in every QI are a class. Where suppression was allowed, rows with * in every QI are
 * taken as suppressed; otherwise they are a class of everything. Rows that the original has and the release has not
 * were removed. No row is matched with its original: every measure follows from classes, cells and histograms. */
#include "recode/recode.h"

#include "base/bytes.h"
#include "base/formula.h"
#include "hierarchy/build.h"
#include "classes/histogram.h"
#include "classes/cells.h"

#include <stdlib.h>
#include <string.h>

typedef struct reading {
    const kn_tuples *tuples;
    kn_table *table;      /* the released file */
    uint32_t *column_of;  /* [q]: its column in the file */
    kn_cell **cells;      /* [q][spelling] */
    uint32_t **same_cell; /* [q][spelling]: number of its cell; equal cells, equal numbers */
    uint32_t *n_cells;    /* [q] */
    kn_release *release;
    const kn_release_options *options;
} reading;

static kn_status plan_columns(kn_column_plan **plans, const kn_source *source, const kn_tuples *tuples,
                              const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n = kn_source_n_columns(source), n_found = 0;
    KN_NEW(*plans, n);
    for (uint32_t c = 0; c < n; c++) {
        const char *name = kn_source_column_name(source, c);
        uint32_t original = kn_table_find(tuples->table, name);
        kn_role role = original == KN_NONE ? KN_ROLE_DROPPED : tuples->table->columns[original].role;
        if (role == KN_ROLE_INSENSITIVE || role == KN_ROLE_IDENTIFIER) role = KN_ROLE_DROPPED;
        n_found += role == KN_ROLE_QUASI || role == KN_ROLE_SENSITIVE;
        (*plans)[c] = (kn_column_plan){role, KN_TYPE_TEXT, KN_USE_NOTHING};
    }
    if (n_found != tuples->n_qis + tuples->n_table_sensitive)
        for (uint32_t c = 0; c < tuples->table->n_columns; c++) {
            const kn_column *column = &tuples->table->columns[c];
            if (column->role != KN_ROLE_QUASI && column->role != KN_ROLE_SENSITIVE) continue;
            bool found = false;
            for (uint32_t i = 0; i < n; i++) found |= strcmp(kn_source_column_name(source, i), column->name) == 0;
            if (!found)
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path, .column = column->name),
                           "%s: the release has no column '%s'", path, column->name);
        }
done:
    return status;
}

static bool is_missing(const kn_column *column, uint32_t spelling)
{
    return column->has_missing && kn_column_value(column, spelling) == column->n_values - 1;
}

static kn_status parse_cells(reading *r, uint32_t q, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = r->tuples->domains[q];
    const kn_column *column = &r->table->columns[r->column_of[q]];
    KN_NEW(r->cells[q], column->n_spellings);
    KN_NEW(r->same_cell[q], column->n_spellings);
    for (uint32_t i = 0; i < column->n_spellings; i++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, i, &n);
        kn_error reason = {0};
        if (r->options->guard_formulas) bytes = kn_formula_unguard(bytes, &n);
        status = kn_cell_parse(&r->cells[q][i], domain, r->release->sets, bytes, n, &reason);
        if (status == KN_INPUT && domain->missing != KN_NONE && is_missing(column, i)) { /* in another spelling */
            r->cells[q][i] = kn_domain_leaf(domain, domain->missing);
            status = KN_OK;
        }
        if (status != KN_OK) {
            char shown[KN_SHOWN_BYTES];
            KN_FAIL_AT(status, KN_PLACE(.file = path, .line = column->first_line[i], .column = column->name),
                       "%s:%llu: column '%s': %s is no generalization of the column's values: %s", path,
                       (unsigned long long)column->first_line[i], column->name,
                       kn_value_shown(shown, bytes, n, r->options->redact), reason.message);
        }
    }
    KN_TRY(kn_cells_group(r->same_cell[q], &r->n_cells[q], NULL, r->cells[q], column->n_spellings, 1, 1, NULL, NULL,
                          NULL, err));
done:
    return status;
}

static bool is_star(const reading *r, uint32_t q, uint32_t row)
{
    const kn_column *column = &r->table->columns[r->column_of[q]];
    size_t n;
    const char *bytes = kn_column_bytes(column, kn_column_code(column, row), &n);
    return n == 1 && *bytes == '*';
}

/* Rows with equal cells; (*first)[group] is one of them. */
static kn_status group_rows(uint32_t *row_group, uint32_t *n_groups, uint32_t **first, const reading *r, kn_pool *pool,
                            kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = r->tuples->n_qis;
    kn_group_column *columns = NULL;
    KN_NEW(columns, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) {
        const kn_column *column = &r->table->columns[r->column_of[q]];
        columns[q] = (kn_group_column){column->codes, column->code_bytes, r->same_cell[q], r->n_cells[q]};
    }
    KN_TRY(kn_group(row_group, n_groups, first, r->table->n_rows, columns, n_qis, pool, ticker, err));
done:
    kn_free(columns);
    return status;
}

static void take_cells(kn_cell *cells, const reading *r, uint32_t row)
{
    for (uint32_t q = 0; q < r->tuples->n_qis; q++)
        cells[q] = r->cells[q][kn_column_code(&r->table->columns[r->column_of[q]], row)];
}

static bool is_all_stars(const reading *r, uint32_t row)
{
    uint32_t q = 0;
    while (q < r->tuples->n_qis && is_star(r, q, row)) q++;
    return q == r->tuples->n_qis && q > 0;
}

/* Classes of equal cells; rows of stars become the suppressed rows. A class that is as general in every column, and
 * says so otherwise in one of them (1..9), stays one. */
static kn_status classify(reading *r, uint32_t *row_class, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_release *release = r->release;
    const uint32_t n_qis = r->tuples->n_qis, n_rows = r->table->n_rows;
    uint32_t n_groups, *first = NULL;
    bool *is_class = NULL;
    KN_TRY(group_rows(row_class, &n_groups, &first, r, pool, ticker, err));
    KN_NEW(is_class, n_groups);
    for (uint32_t row = 0; row < n_rows; row++) {
        if (r->options->may_suppress && is_all_stars(r, row)) row_class[row] = KN_NONE;
        else is_class[row_class[row]] = true;
    }
    KN_NEW(release->cells, (size_t)n_groups * n_qis);
    KN_NEW(release->class_rows, (size_t)n_groups + 1);
    for (uint32_t g = 0; g < n_groups; g++) {
        if (!is_class[g]) continue;
        take_cells(release->cells + (size_t)release->n_classes * n_qis, r, first[g]);
        first[g] = release->n_classes++; /* from here on `first` renumbers the groups */
    }
    for (uint32_t row = 0; row < n_rows; row++) {
        row_class[row] = row_class[row] == KN_NONE ? release->n_classes : first[row_class[row]];
        release->class_rows[row_class[row]]++;
    }
    release->class_persons = release->class_rows;
    release->n_removed = r->tuples->n_rows - n_rows;
    release->n_suppressed = release->class_rows[release->n_classes] + release->n_removed;
    release->n_suppressed_persons = release->n_suppressed;
done:
    kn_free(first);
    kn_free(is_class);
    return status;
}

typedef struct spelling_key {
    const char *bytes;
    size_t n_bytes;
    uint32_t value;
} spelling_key;

static int compare_spellings(const void *a, const void *b)
{
    const spelling_key *x = a, *y = b;
    return kn_bytes_compare(x->bytes, x->n_bytes, y->bytes, y->n_bytes);
}

/* For each spelling of the released sensitive column the original's value. */
static kn_status match_values(uint32_t **out, const kn_column *released, const kn_column *original, const char *path,
                              bool guard_formulas, bool redact, kn_error *err)
{
    kn_status status = KN_OK;
    spelling_key *keys = NULL;
    KN_NEW(keys, original->n_spellings);
    KN_NEW(*out, released->n_spellings);
    for (uint32_t i = 0; i < original->n_spellings; i++) {
        keys[i].bytes = kn_column_bytes(original, i, &keys[i].n_bytes);
        keys[i].value = kn_column_value(original, i);
    }
    qsort(keys, original->n_spellings, sizeof *keys, compare_spellings);
    for (uint32_t i = 0; i < released->n_spellings; i++) {
        spelling_key key = {0};
        key.bytes = kn_column_bytes(released, i, &key.n_bytes);
        if (guard_formulas) key.bytes = kn_formula_unguard(key.bytes, &key.n_bytes);
        spelling_key *found = bsearch(&key, keys, original->n_spellings, sizeof *keys, compare_spellings);
        char shown[KN_SHOWN_BYTES];
        if (found == NULL)
            KN_FAIL(KN_INPUT, "%s:%llu: column '%s': the original has no value %s", path,
                    (unsigned long long)released->first_line[i], released->name,
                    kn_value_shown(shown, key.bytes, key.n_bytes, redact));
        (*out)[i] = found->value;
    }
done:
    kn_free(keys);
    return status;
}

/* The suppressed rows' histogram is what the original has and the classes have not. */
static kn_status complete_histogram(kn_histograms *h, const kn_sensitive *sensitive, uint32_t n_classes, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *left = NULL;
    uint32_t end = h->start[n_classes], n = end;
    KN_NEW(left, sensitive->n_values);
    memcpy(left, sensitive->value_rows, sensitive->n_values * sizeof *left);
    for (uint32_t i = 0; i < end; i++) left[h->values[i]] -= h->counts[i];
    uint32_t *values = kn_array_resize(h->values, (size_t)end + sensitive->n_values, sizeof *values, err);
    if (values == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    h->values = values;
    uint64_t *counts = kn_array_resize(h->counts, (size_t)end + sensitive->n_values, sizeof *counts, err);
    if (counts == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    h->counts = counts;
    for (uint32_t v = 0; v < sensitive->n_values; v++) {
        if (left[v] == 0 || left[v] > sensitive->value_rows[v]) continue;
        values[n] = v;
        counts[n++] = left[v];
    }
    h->start[n_classes + 1] = n;
done:
    kn_free(left);
    return status;
}

static kn_status count_histograms(reading *r, const uint32_t *row_class, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *values = NULL;
    const kn_tuples *t = r->tuples;
    KN_NEW(r->release->histograms, t->n_sensitive);
    for (uint32_t s = 0; s < t->n_table_sensitive; s++) {
        kn_histograms *h = &r->release->histograms[s];
        const kn_column *original = t->sensitive[s].column;
        kn_column released = r->table->columns[kn_table_find(r->table, original->name)];
        KN_TRY(match_values(&values, &released, original, path, r->options->guard_formulas, r->options->redact, err));
        released.spelling_value = values; /* counted in the original's values */
        released.n_values = t->sensitive[s].n_values;
        KN_TRY(kn_histograms_count(h, &released, row_class, r->table->n_rows, r->release->n_classes + 1, err));
        KN_TRY(complete_histogram(h, &t->sensitive[s], r->release->n_classes, err));
        kn_free(values);
        values = NULL;
    }
done:
    kn_free(values);
    return status;
}

static kn_status read_table(reading *r, kn_source *source, const char *name, kn_pool *pool, kn_ticker *ticker,
                            kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_plan *plans = NULL;
    KN_TRY(plan_columns(&plans, source, r->tuples, name, err));
    KN_TRY(kn_source_read(&r->table, source, plans, pool, ticker, err));
    if (r->table->n_rows > r->tuples->n_rows)
        KN_FAIL(KN_INPUT, "%s has %u rows, the original only %llu", name, r->table->n_rows,
                (unsigned long long)r->tuples->n_rows);
done:
    kn_free(plans);
    return status;
}

static kn_status reading_start(reading *r, const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = r->tuples;
    KN_NEW(r->release, 1);
    r->release->tuples = tuples;
    KN_TRY(kn_set_pool_new(&r->release->sets, err));
    KN_NEW(r->column_of, tuples->n_qis);
    KN_NEW(r->cells, tuples->n_qis);
    KN_NEW(r->same_cell, tuples->n_qis);
    KN_NEW(r->n_cells, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        r->column_of[q] = kn_table_find(r->table, tuples->domains[q]->name);
        KN_TRY(parse_cells(r, q, name, err));
    }
done:
    return status;
}

static void reading_clear(reading *r)
{
    for (uint32_t q = 0; q < r->tuples->n_qis; q++) {
        if (r->cells != NULL) kn_free(r->cells[q]);
        if (r->same_cell != NULL) kn_free(r->same_cell[q]);
    }
    kn_free(r->cells);
    kn_free(r->same_cell);
    kn_free(r->n_cells);
    kn_free(r->column_of);
    kn_table_free(r->table);
    kn_release_free(r->release);
}

kn_status kn_release_read(kn_release **out, kn_source *source, const char *name, const kn_tuples *tuples,
                          const kn_release_options *options, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    reading r = {.tuples = tuples, .options = options};
    uint32_t *row_class = NULL;
    *out = NULL;
    KN_TRY(read_table(&r, source, name, pool, ticker, err));
    KN_TRY(reading_start(&r, name, err));
    KN_NEW_RAW(row_class, r.table->n_rows);
    KN_TRY(classify(&r, row_class, pool, ticker, err));
    KN_TRY(count_histograms(&r, row_class, name, err));
    *out = r.release;
    r.release = NULL;
done:
    kn_free(row_class);
    reading_clear(&r);
    return status;
}

/* --- Record by record ----------------------------------------------------------------------------------------------
 */

/* Every quasi-identifier, and at most one column more, `*flag`: 1 where a record is suppressed. */
static kn_status plan_given(kn_column_plan **plans, uint32_t *flag, const kn_source *source, const kn_tuples *tuples,
                            const char *name, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = kn_source_n_columns(source);
    uint32_t n_found = 0;
    *flag = KN_NONE;
    KN_NEW(*plans, n);
    for (uint32_t c = 0; c < n; c++) {
        uint32_t q = 0;
        while (q < tuples->n_qis && strcmp(kn_source_column_name(source, c), tuples->domains[q]->name) != 0) q++;
        (*plans)[c] =
            (kn_column_plan){q < tuples->n_qis ? KN_ROLE_QUASI : KN_ROLE_INSENSITIVE, KN_TYPE_TEXT, KN_USE_NOTHING};
        n_found += q < tuples->n_qis;
        if (q == tuples->n_qis) *flag = c;
    }
    if (n_found != tuples->n_qis || n > n_found + 1)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "given", .file = name),
                   "%s: --given has a column for each of the %u quasi-identifiers, and at most one more, which is 1 "
                   "for suppressed records; it has %u and %u others",
                   name, tuples->n_qis, n_found, n - n_found);
done:
    return status;
}

static kn_status classify_records(reading *r, uint32_t flag, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_release *release = r->release;
    const uint32_t n_qis = r->tuples->n_qis, n_records = r->table->n_rows;
    uint32_t *first = NULL;
    KN_NEW_RAW(release->row_class, n_records);
    KN_TRY(group_rows(release->row_class, &release->n_classes, &first, r, pool, ticker, err));
    KN_NEW(release->cells, (size_t)release->n_classes * n_qis);
    for (uint32_t c = 0; c < release->n_classes; c++) take_cells(release->cells + (size_t)c * n_qis, r, first[c]);
    for (uint32_t row = 0; flag != KN_NONE && row < n_records; row++) {
        const kn_column *column = &r->table->columns[flag];
        size_t n;
        const char *text = kn_column_bytes(column, kn_column_code(column, row), &n);
        if (n == 1 && *text == '1') release->row_class[row] = KN_NONE;
    }
done:
    kn_free(first);
    return status;
}

kn_status kn_release_read_records(kn_release **out, kn_source *source, const char *name, const kn_tuples *tuples,
                                  const kn_release_options *options, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    reading r = {.tuples = tuples, .options = options};
    kn_column_plan *plans = NULL;
    uint32_t flag;
    *out = NULL;
    KN_TRY(plan_given(&plans, &flag, source, tuples, name, err));
    KN_TRY(kn_source_read(&r.table, source, plans, pool, ticker, err));
    if (r.table->n_rows != tuples->n_records)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "given", .file = name),
                   "%s has %u records, and the table %u; --given says of each of them, in their order, what it became",
                   name, r.table->n_rows, tuples->n_records);
    KN_TRY(reading_start(&r, name, err));
    KN_TRY(classify_records(&r, flag, pool, ticker, err));
    *out = r.release;
    r.release = NULL;
done:
    kn_free(plans);
    reading_clear(&r);
    return status;
}
