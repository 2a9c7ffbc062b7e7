/* A copied column is released as it is. One that stands one-to-one with a quasi-identifier undoes every generalization
 * of it: job_code beside job, the same column under two names. One that nearly does deserves a warning.
 *
 * With n(c) rows of value c of the copied column, n(c,q) of them with value q of the quasi-identifier:
 *   one-to-one  every c has one q and every q one c. It counts where some value repeats, because of two columns without
 *               repeats nothing can be said, or where the two spell every row the same.
 *   told        the share of rows, among those with n(c) >= 2, whose q the other rows with the same c tell: the most
 *               frequent q among them. Leaving the row itself out keeps rare values from looking like knowledge.
 *   guessed     the share of the most frequent q among the same rows.
 * A warning is due when telling avoids at least half of the mistakes of guessing, (told - guessed) / (1 - guessed) >=
 * 1/2 (Goodman and Kruskal's lambda, 1954, with the row left out), over 20 rows or more.
 *
 * Cost: for one-to-one a pass that ends at the first pair that contradicts, mostly within a few rows. For the rest a
 * matrix of counts where it is small, otherwise a sort of the rows of some values of c, at most MOST_SORTED of them,
 * drawn by their code: all rows of such a value, or none. Pairs of columns run on the pool. */
#include "run/copies.h"

#include "base/hash.h"
#include "base/radix_sort.h"

#include <string.h>

enum { FEW_ROWS = 20, MOST_CELLS = 1 << 20, MOST_SORTED = 1 << 17 };

static uint32_t value_at(const kn_column *column, uint32_t row)
{
    return kn_column_value(column, kn_column_code(column, row));
}

/* --- One-to-one -------------------------------------------------------------------------------------------------- */

static bool same_text(const kn_column *a, const kn_column *b, uint32_t row)
{
    size_t n_a, n_b;
    const char *x = kn_column_bytes(a, kn_column_code(a, row), &n_a),
               *y = kn_column_bytes(b, kn_column_code(b, row), &n_b);
    return n_a == n_b && memcmp(x, y, n_a) == 0;
}

/* As many values here as there, and all of them occur: where every c has one q, every q has one c. */
static kn_status find_one_to_one(bool *out, const kn_column *copied, const kn_column *quasi, uint32_t n_rows,
                                 kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *to_quasi = NULL; /* value + 1; 0: none yet */
    bool same = true;
    *out = false;
    if (quasi->whole_rows != NULL) return KN_OK; /* a part shows too little: it is for whoever has the whole table */
    if (copied->n_values != quasi->n_values || quasi->n_values < 2) return KN_OK;
    KN_NEW(to_quasi, copied->n_values);
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t c = value_at(copied, row), q = value_at(quasi, row);
        if (to_quasi[c] == 0) {
            to_quasi[c] = q + 1;
            same = same && same_text(copied, quasi, row);
        }
        if (to_quasi[c] != q + 1) goto done;
    }
    *out = same || quasi->n_values < kn_column_rows(copied, n_rows);
done:
    kn_free(to_quasi);
    return status;
}

/* --- Told and guessed -------------------------------------------------------------------------------------------- */

typedef struct tally {
    uint64_t n_rows;      /* with a value that repeats */
    double n_told;        /* a tie counts half */
    uint64_t *quasi_rows; /* per value of the quasi-identifier, of these rows */
} tally;

/* The counts n(c,q) of one c: the largest, the second largest, all. */
typedef struct largest_counts {
    uint64_t first, second, n;
} largest_counts;

static void take_count(largest_counts *of, uint64_t count)
{
    of->n += count;
    if (count > of->first) {
        of->second = of->first;
        of->first = count;
    } else if (count > of->second) {
        of->second = count;
    }
}

/* Without itself, a row of the most frequent q sees one less of it; a row of another q is told wrong, or, of several
 * that are most frequent, each. */
static void add_value(tally *sum, const largest_counts *of)
{
    sum->n_rows += of->n;
    if (of->first - 1 > of->second) sum->n_told += (double)of->first;
    else if (of->first - 1 == of->second) sum->n_told += (double)of->first / 2;
}

static kn_status count_densely(tally *sum, const kn_column *copied, const kn_column *quasi, uint32_t n_rows,
                               kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_quasi = quasi->n_values;
    uint64_t *matrix = NULL;
    KN_NEW(matrix, (size_t)copied->n_values * n_quasi);
    for (uint32_t row = 0; row < n_rows; row++)
        matrix[(size_t)value_at(copied, row) * n_quasi + value_at(quasi, row)] += kn_column_count(copied, row);
    for (uint32_t c = 0; c < copied->n_values; c++) {
        const uint64_t *counts = matrix + (size_t)c * n_quasi;
        largest_counts largest = {0};
        for (uint32_t q = 0; q < n_quasi; q++) take_count(&largest, counts[q]);
        if (largest.n < 2) continue;
        add_value(sum, &largest);
        for (uint32_t q = 0; q < n_quasi; q++) sum->quasi_rows[q] += counts[q];
    }
done:
    kn_free(matrix);
    return status;
}

static kn_status count_sorted(tally *sum, const kn_column *copied, const kn_column *quasi, uint32_t n_rows,
                              kn_error *err)
{
    kn_status status = KN_OK;
    const uint64_t one_in = kn_column_rows(copied, n_rows) / MOST_SORTED + 1;
    uint64_t *keys = NULL;
    uint32_t *rows = NULL, n = 0;
    KN_NEW_RAW(keys, MOST_SORTED);
    KN_NEW_RAW(rows, MOST_SORTED);
    for (uint32_t row = 0; row < n_rows && n < MOST_SORTED; row++) {
        uint32_t c = value_at(copied, row);
        if (one_in > 1 && kn_checksum_combine(7, c) % one_in != 0) continue;
        rows[n] = row;
        keys[n++] = (uint64_t)c << 32 | value_at(quasi, row);
    }
    KN_TRY(kn_radix_sort(keys, rows, n, 64, NULL, err));
    for (uint32_t first = 0, end; first < n; first = end) {
        largest_counts largest = {0};
        for (end = first; end < n && keys[end] >> 32 == keys[first] >> 32;) {
            uint64_t count = 0;
            for (uint32_t from = end; end < n && keys[end] == keys[from]; end++)
                count += kn_column_count(copied, rows[end]);
            take_count(&largest, count);
        }
        if (largest.n < 2) continue;
        add_value(sum, &largest);
        for (uint32_t i = first; i < end; i++) sum->quasi_rows[(uint32_t)keys[i]] += kn_column_count(copied, rows[i]);
    }
done:
    kn_free(keys);
    kn_free(rows);
    return status;
}

kn_status kn_copy_compare(kn_copy *out, const kn_column *copied, const kn_column *quasi, uint32_t n_rows, kn_error *err)
{
    kn_status status = KN_OK;
    tally sum = {0};
    uint64_t most = 0;
    *out = (kn_copy){0};
    KN_TRY(find_one_to_one(&out->one_to_one, copied, quasi, n_rows, err));
    if (kn_column_rows(copied, n_rows) < FEW_ROWS || quasi->n_values < 2 || copied->n_values < 2) goto done;
    KN_NEW(sum.quasi_rows, quasi->n_values);
    if ((uint64_t)copied->n_values * quasi->n_values <= MOST_CELLS)
        KN_TRY(count_densely(&sum, copied, quasi, n_rows, err));
    else KN_TRY(count_sorted(&sum, copied, quasi, n_rows, err));
    for (uint32_t q = 0; q < quasi->n_values; q++)
        if (sum.quasi_rows[q] > most) most = sum.quasi_rows[q];
    if (sum.n_rows < FEW_ROWS) goto done;
    out->told = sum.n_told / (double)sum.n_rows;
    out->guessed = (double)most / (double)sum.n_rows;
done:
    kn_free(sum.quasi_rows);
    return status;
}

bool kn_copy_tells(const kn_copy *copy)
{
    return copy->guessed < 1 && copy->told - copy->guessed >= 0.5 * (1 - copy->guessed);
}

/* --- All pairs --------------------------------------------------------------------------------------------------- */

typedef struct pair {
    uint32_t copied, quasi;
    kn_copy copy;
} pair;

typedef struct pairs {
    const kn_table *table;
    pair *items;
} pairs;

static kn_status compare_pair(void *context, size_t job, unsigned worker, kn_error *err)
{
    pairs *all = context;
    pair *one = &all->items[job];
    const kn_column *columns = all->table->columns;
    return kn_copy_compare(&one->copy, &columns[one->copied], &columns[one->quasi], all->table->n_rows, err);
}

static kn_status report_pair(kn_input *input, const pair *one, kn_error *err)
{
    const kn_column *copied = &input->table->columns[one->copied], *quasi = &input->table->columns[one->quasi];
    char shown[KN_SHOWN_BYTES];
    const char *name = kn_settings_column_shown(shown, input->request->settings, copied->name, one->copied);
    bool is_sensitive = copied->role == KN_ROLE_SENSITIVE;
    if (one->copy.one_to_one && !is_sensitive && !input->request->allow_copy)
        return kn_error_set_at(
            err, KN_USAGE, KN_PLACE(.option = "allow-copy", .column = name),
            "column '%.80s' is copied and stands one-to-one with the quasi-identifier '%.80s': whoever "
            "reads it knows '%.80s', however that is generalized; make it a quasi-identifier or leave "
            "it out, or say --allow-copy",
            name, quasi->name, quasi->name);
    if (one->copy.one_to_one)
        kn_sentences_add(&input->warnings,
                         KN_SAID(is_sensitive ? KN_SAY_SENSITIVE_TELLS : KN_SAY_COPY_TELLS, kn_piece_text(name),
                                 kn_piece_text(quasi->name), kn_piece_text(quasi->name)));
    else if (!is_sensitive && kn_copy_tells(&one->copy))
        kn_sentences_add(&input->warnings,
                         KN_SAID(KN_SAY_COPY_TELLS_SHARE, kn_piece_text(name), kn_piece_text(quasi->name),
                                 kn_piece_number("%.2f", one->copy.told), kn_piece_number("%.2f", one->copy.guessed)));
    return KN_OK;
}

static bool is_copied(const kn_column *column)
{
    return column->role == KN_ROLE_INSENSITIVE || column->role == KN_ROLE_SENSITIVE;
}

kn_status kn_copies_check(kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_table *table = input->table;
    pairs all = {.table = table};
    size_t n = 0;
    size_t n_copied = 0, n_quasi = 0;
    for (uint32_t c = 0; c < table->n_columns; c++) {
        n_copied += is_copied(&table->columns[c]);
        n_quasi += table->columns[c].role == KN_ROLE_QUASI;
    }
    KN_NEW(all.items, n_copied * n_quasi + 1);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        if (!is_copied(&table->columns[c])) continue;
        for (uint32_t q = 0; q < table->n_columns; q++)
            if (table->columns[q].role == KN_ROLE_QUASI) all.items[n++] = (pair){.copied = c, .quasi = q};
    }
    KN_TRY(kn_pool_run(input->pool, n, compare_pair, &all, err));
    for (size_t i = 0; i < n; i++)
        KN_TRY(kn_problem_note(input->problems, report_pair(input, &all.items[i], err), err));
done:
    kn_free(all.items);
    return status;
}
