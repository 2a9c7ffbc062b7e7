/* A released file recounted: read it, compare its columns, group its rows, count every model, and hold it against the
 * original where that is given. The checks in their order:
 *
 *   well-formed table, columns, no identifier left       read_files.c, check_columns.c
 *   rows accounted for, copied columns unchanged,
 *   values generalize the original                       compare_rows.c, with the original
 *   suppressed rows                                      within the limit
 *   every model                                          recount_models.c
 *
 * Each ends as held, broken (naming the class, or the line and column) or not made (saying why). They are listed before
 * the files are opened, as not made: a check that is never reached leaves the verdict undecided, it does not vanish. A
 * class is made of released bytes: two spellings of one number, or a blank before it, are two cells to whoever reads
 * the file, so they are two classes here, also where --trim is said.
 *
 * For cost and memory see sheet.c. */
#include "verify/certificate.h"

#include "verify/released_bounds.h"

#include "base/formula.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Findings -------------------------------------------------------------------------------------------------- */

static kn_status list_checks(kn_recount *recount, kn_error *err)
{
    static const char *const names[] = {
        [KN_SLOT_TABLE] = KN_CHECK_TABLE,
        [KN_SLOT_COLUMNS] = KN_CHECK_COLUMNS,
        [KN_SLOT_IDENTIFIERS] = KN_CHECK_IDENTIFIERS,
        [KN_SLOT_ROWS] = KN_CHECK_ROWS,
        [KN_SLOT_COPIES] = KN_CHECK_COPIES,
        [KN_SLOT_VALUES] = KN_CHECK_VALUES,
        [KN_SLOT_SUPPRESSED] = KN_CHECK_SUPPRESSED,
    };
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    const bool has_certificate = request->certificate_path != NULL; /* behind the models */
    const bool has_levels = kn_recount_asks_for_levels(request);
    recount->levels_slot = has_levels ? KN_SLOT_MODELS + request->n_models + has_certificate : SIZE_MAX;
    KN_NEW(recount->checks, KN_SLOT_MODELS + request->n_models + has_certificate + has_levels);
    recount->n_checks = KN_SLOT_MODELS + request->n_models + has_certificate + has_levels;
    for (size_t slot = 0; slot < recount->n_checks; slot++) {
        bool is_asked = request->every_check || slot <= KN_SLOT_COLUMNS || slot >= KN_SLOT_MODELS ||
                        (slot == KN_SLOT_ROWS && request->order_is_input) ||
                        (slot == KN_SLOT_SUPPRESSED && request->max_suppressed >= 0);
        recount->checks[slot] = (kn_check){.name = slot < KN_SLOT_MODELS          ? names[slot]
                                                   : slot == recount->levels_slot ? KN_CHECK_LEVELS
                                                   : slot == KN_SLOT_MODELS + request->n_models
                                                       ? KN_CHECK_CERTIFICATE
                                                       : kn_recount_model_name(&request->models[slot - KN_SLOT_MODELS]),
                                           .state = KN_CHECK_NOT_MADE,
                                           .asked = is_asked,
                                           .worst = NAN};
    }
done:
    return status;
}

kn_status kn_recount_note(kn_recount *recount, size_t slot, kn_check_state state, kn_buffer detail, kn_error *err)
{
    kn_check *check = &recount->checks[slot];
    assert(slot < recount->n_checks && check->detail.n == 0);
    check->detail = detail;
    check->state = state;
    return detail.failed ? kn_error_set(err, KN_RESOURCES, "out of memory") : KN_OK;
}

const char *kn_recount_cell_shown(char buffer[KN_SHOWN_BYTES], const kn_recount *recount, const kn_sheet_column *column,
                                  uint32_t code)
{
    size_t n_bytes;
    const char *bytes = kn_text(column, code, &n_bytes);
    return kn_value_shown(buffer, bytes, n_bytes, recount->request->redact);
}

kn_say kn_recount_unit(const kn_recount *recount, kn_say person, kn_say household)
{
    return recount->request->are_households ? household : person;
}

void kn_recount_add_cell(kn_buffer *cells, const char *name, const char *shown)
{
    kn_buffer cell = KN_SAID(KN_SAY_CELL, kn_piece_name(name), kn_piece_text(shown));
    *cells = cells->n == 0 && !cells->failed ? cell : KN_SAID(KN_SAY_LIST, kn_piece_part(*cells), kn_piece_part(cell));
}

kn_buffer kn_recount_say_class(const kn_recount *recount, uint32_t class_index)
{
    uint32_t row = recount->classes->first_row[class_index],
             n_rows = (uint32_t)kn_recount_class_rows(recount, class_index);
    kn_piece line = kn_piece_number("%llu", (unsigned long long)kn_sheet_line(recount->release, row));
    kn_buffer cells = {0}, size = KN_SAID(n_rows == 1 ? KN_SAY_ROW : KN_SAY_ROWS, kn_piece_number("%u", n_rows)), said;
    char shown[KN_SHOWN_BYTES];
    for (size_t q = 0; q < recount->n_qis; q++) {
        const kn_sheet_column *column = &recount->release->columns[recount->in_release[recount->qis[q]]];
        kn_recount_add_cell(&cells, recount->request->columns[recount->qis[q]].name,
                            kn_recount_cell_shown(shown, recount, column, kn_sheet_code(column, row)));
    }
    if (recount->class_persons != NULL) {
        const unsigned long long n_persons = recount->class_persons[class_index];
        size =
            KN_SAID(KN_SAY_LIST, kn_piece_part(size),
                    kn_piece_part(KN_SAID(n_persons == 1 ? kn_recount_unit(recount, KN_SAY_PERSON, KN_SAY_HOUSEHOLD)
                                                         : kn_recount_unit(recount, KN_SAY_PERSONS, KN_SAY_HOUSEHOLDS),
                                          kn_piece_number("%llu", n_persons))));
    }
    if (cells.n == 0 && !cells.failed) said = KN_SAID(KN_SAY_CLASS_ALONE, kn_piece_part(size), line);
    else said = KN_SAID(KN_SAY_CLASS, kn_piece_part(cells), kn_piece_part(size), line);
    return said;
}

/* --- Counts ----------------------------------------------------------------------------------------------------- */

uint64_t kn_recount_group_rows(const kn_recount *recount, const kn_row_groups *groups, const uint32_t *start,
                               const uint32_t *members, uint32_t group)
{
    uint64_t n = 0;
    if (recount->record_rows == NULL) return groups->group_rows[group];
    for (uint32_t i = start[group]; i < start[group + 1]; i++) n += kn_recount_rows(recount, members[i]);
    return n;
}

uint64_t kn_recount_class_rows(const kn_recount *recount, uint32_t class_index)
{
    return kn_recount_group_rows(recount, recount->classes, recount->class_start, recount->class_rows, class_index);
}

uint64_t kn_recount_count_read(const char *bytes, size_t n_bytes)
{
    enum { MOST_DIGITS = 18 };
    const char *at = bytes, *end = bytes + n_bytes;
    uint64_t count = 0;
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t')) end--;
    if (at < end && *at == '+') at++;
    for (const char *first = at; at < end && at < first + MOST_DIGITS && *at >= '0' && *at <= '9'; at++)
        count = count * 10 + (uint64_t)(*at - '0');
    return at == end ? count : 0;
}

/* What a column of the original counts; a text that is no number counts nothing. */
static kn_status read_counts(uint64_t **out, const kn_sheet *original, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet_column *texts = &original->columns[column];
    uint64_t *counts = NULL;
    KN_NEW(counts, texts->n_texts + (size_t)1);
    KN_NEW(*out, original->n_rows + (size_t)1);
    for (uint32_t i = 0; i < texts->n_texts; i++) {
        size_t n_bytes;
        const char *bytes = kn_text(texts, i, &n_bytes);
        counts[i] = kn_recount_count_read(bytes, n_bytes);
    }
    for (uint32_t row = 0; row < original->n_rows; row++) (*out)[row] = counts[kn_sheet_code(texts, row)];
done:
    kn_free(counts);
    return status;
}

static kn_status count_records(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (request->columns[c].is_count) KN_TRY(read_counts(&recount->record_rows, recount->original, c, err));
        if (request->columns[c].is_person_count)
            KN_TRY(read_counts(&recount->record_persons, recount->original, c, err));
    }
done:
    return status;
}

/* --- Dictionaries ---------------------------------------------------------------------------------------------- */

bool kn_domains_row_is_of(const kn_recount *recount, uint32_t row, uint32_t column)
{
    const kn_sheet_column *names = &recount->domains->columns[recount->in_domains[0]];
    const char *name = recount->request->columns[column].name;
    size_t n_bytes;
    const char *bytes = kn_text(names, kn_sheet_code(names, row), &n_bytes);
    return n_bytes == strlen(name) && memcmp(bytes, name, n_bytes) == 0;
}

/* Values of the whole table that its part has not are values all the same. */
static kn_status add_domain_texts(kn_recount *recount, uint32_t c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet *domains = recount->domains;
    const kn_verify_column *column = &recount->request->columns[c]; /* dates show together which form they have */
    if (domains == NULL || recount->original == NULL) return KN_OK;
    if (column->role != KN_ROLE_SENSITIVE && column->type != KN_TYPE_DATE) return KN_OK;
    for (uint32_t row = 0; row < domains->n_rows; row++) {
        uint32_t code;
        size_t n_bytes;
        if (!kn_domains_row_is_of(recount, row, c)) continue;
        const kn_sheet_column *value = &domains->columns[recount->in_domains[1]];
        const char *bytes = kn_text(value, kn_sheet_code(value, row), &n_bytes);
        KN_TRY(kn_text_add(&code, &recount->original->columns[recount->in_original[c]], bytes, n_bytes, err));
    }
done:
    return status;
}

/* Released texts as texts of the original. A sensitive text that the original does not have is added to its
 * dictionary, with no rows: models count it as the value that it is. */
static kn_status match_dictionary(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = context;
    uint32_t c = (uint32_t)job;
    const kn_verify_request *request = recount->request;
    const kn_sheet *dates = recount->original != NULL ? recount->original : recount->release;
    uint32_t at = recount->original != NULL ? recount->in_original[c] : recount->in_release[c];
    if (at == KN_NONE) goto done;
    KN_TRY(add_domain_texts(recount, c, err));
    recount->readings[c] = (kn_reading){.type = request->columns[c].type,
                                        .marks = request->columns[c].marks,
                                        .invalid_is_missing = request->invalid_is_missing,
                                        .null_values = request->null_values,
                                        .n_null_values = request->n_null_values};
    kn_reading_find_dates(&recount->readings[c], &dates->columns[at]);
    if (recount->original != NULL && request->columns[c].role == KN_ROLE_QUASI)
        kn_texts_make_plain(&recount->original->columns[at], &recount->readings[c]);
    recount->readings[c].fold = request->fold_sensitive && request->columns[c].role == KN_ROLE_SENSITIVE;
    if (recount->original == NULL || recount->in_release[c] == KN_NONE) goto done;
    const kn_sheet_column *from = &recount->release->columns[recount->in_release[c]];
    kn_sheet_column *to = &recount->original->columns[at];
    KN_NEW_RAW(recount->to_original[c], from->n_texts);
    for (uint32_t i = 0; i < from->n_texts; i++) {
        size_t n_bytes;
        const char *bytes = kn_text(from, i, &n_bytes);
        if (request->guard_formulas) bytes = kn_formula_unguard(bytes, &n_bytes);
        if (request->columns[c].role == KN_ROLE_SENSITIVE)
            KN_TRY(kn_text_add(&recount->to_original[c][i], to, bytes, n_bytes, err));
        else recount->to_original[c][i] = kn_text_find(to, bytes, n_bytes);
        const kn_domain *domain = request->columns[c].domain; /* a missing cell that may be any value is no copy */
        if (domain != NULL && domain->missing_is_wildcard && kn_text_is_missing(&recount->readings[c], bytes, n_bytes))
            recount->to_original[c][i] = KN_NONE;
    }
done:
    return status;
}

/* --- Classes and persons --------------------------------------------------------------------------------------- */

static bool is_star(const kn_sheet_column *column, uint32_t code)
{
    size_t n_bytes;
    const char *bytes = kn_text(column, code, &n_bytes);
    return n_bytes == 1 && bytes[0] == '*';
}

kn_status kn_recount_make_classes(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_recount_find_bounds(recount, err));
    KN_TRY(kn_recount_place(recount, err));
    if (!recount->has_all_qis) goto done;
    size_t n_keys = recount->n_qis;
    KN_NEW(recount->keys, recount->n_qis + KN_N_BOUND_PARTS * recount->n_bounds);
    for (size_t q = 0; q < recount->n_qis; q++) recount->keys[q].column = recount->in_release[recount->qis[q]];
    for (size_t i = 0; i < recount->n_bounds; i++)
        for (int part = 0; part < KN_N_BOUND_PARTS; part++)
            if (recount->bounds[i].made == KN_NONE && recount->bounds[i].parts[part] != KN_NONE)
                recount->keys[n_keys++].column = recount->bounds[i].parts[part];
    KN_TRY(kn_row_groups_make(&recount->classes, recount->release, recount->keys, n_keys, err));
    KN_TRY(kn_row_groups_rows(&recount->class_start, &recount->class_rows, recount->classes, err));
    for (uint32_t g = 0; g < recount->classes->n_groups && recount->suppressed_class == KN_NONE; g++) {
        size_t q = 0;
        for (; q < recount->n_qis; q++) {
            const kn_sheet_column *column = &recount->release->columns[recount->keys[q].column];
            if (!is_star(column, kn_sheet_code(column, recount->classes->first_row[g]))) break;
        }
        if (q == recount->n_qis && q > 0) recount->suppressed_class = g;
    }
done:
    return status;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t count_distinct(uint64_t *items, uint32_t n)
{
    uint32_t n_distinct = n > 0;
    qsort(items, n, sizeof *items, by_size);
    for (uint32_t i = 1; i < n; i++) n_distinct += items[i] != items[i - 1];
    return n_distinct;
}

/* The fewest persons that can have so many rows: those with most rows of their own. */
static kn_status bound_persons(kn_recount *recount, uint32_t person, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_row_groups *classes = recount->classes;
    uint32_t n_rows = recount->original->n_rows, n_persons = 0;
    uint64_t *rows = NULL; /* fingerprints; then, for the persons with most rows, how many they have together */
    KN_NEW_RAW(rows, n_rows);
    for (uint32_t row = 0; row < n_rows; row++)
        rows[row] = kn_sheet_fingerprint(&recount->original->columns[person], row);
    qsort(rows, n_rows, sizeof *rows, by_size);
    for (uint32_t begin = 0, end; begin < n_rows; begin = end) {
        for (end = begin + 1; end < n_rows && rows[end] == rows[begin];) end++;
        rows[n_persons++] = end - begin;
    }
    qsort(rows, n_persons, sizeof *rows, by_size);
    KN_NEW(recount->fewest_persons, classes->n_groups);
    for (uint32_t g = 0; g < classes->n_groups; g++) {
        uint64_t n_covered = 0;
        uint32_t n = 0;
        while (n < n_persons && n_covered < classes->group_rows[g]) n_covered += rows[n_persons - 1 - n++];
        recount->fewest_persons[g] = n;
    }
done:
    kn_free(rows);
    return status;
}

/* Persons of each class. Rows without a person count as one person: too few rather than too many; so would two persons
 * whose fingerprints met. */
static kn_status count_persons(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *persons = NULL;
    uint32_t largest = 0, person = kn_verify_person_column(recount->request);
    const kn_row_groups *classes = recount->classes;
    recount->asks_for_persons = person != KN_NONE || recount->request->counts_persons;
    recount->persons_reason = recount->original == NULL ? KN_SAY_NO_ORIGINAL
                              : person == KN_NONE       ? KN_SAY_NO_PERSON_COLUMN
                                                        : KN_SAY_NO_ORDER;
    if (person == KN_NONE || classes == NULL || recount->original == NULL) goto done;
    if (recount->order == NULL) {
        KN_TRY(bound_persons(recount, person, err));
        goto done;
    }
    for (uint32_t g = 0; g < classes->n_groups; g++)
        if (classes->group_rows[g] > largest) largest = classes->group_rows[g];
    KN_NEW_RAW(persons, largest);
    KN_NEW(recount->class_persons, classes->n_groups);
    for (uint32_t g = 0; g < classes->n_groups; g++) {
        const uint32_t *rows = recount->class_rows + recount->class_start[g];
        uint32_t n_known = 0;
        for (uint32_t i = 0; i < classes->group_rows[g]; i++) {
            const uint32_t from = recount->order[rows[i]];
            const uint64_t who = kn_sheet_fingerprint(&recount->original->columns[person], from);
            if (who == 0 && recount->record_persons != NULL) recount->class_persons[g] += recount->record_persons[from];
            else persons[n_known++] = who;
        }
        recount->class_persons[g] += count_distinct(persons, n_known);
    }
done:
    kn_free(persons);
    return status;
}

/* --- Suppressed rows ------------------------------------------------------------------------------------------- */

/* Can * in every QI also be a class that was generalized to the top? *known is false where a domain is not known and
 * the others do not decide it. */
static bool star_is_a_root(bool *known, const kn_recount *recount)
{
    *known = true;
    for (size_t q = 0; q < recount->n_qis; q++) {
        const kn_domain *domain = recount->request->columns[recount->qis[q]].domain;
        size_t n_bytes;
        if (domain == NULL) *known = false;
        if (domain == NULL || domain->kind == KN_DOMAIN_SETS) continue;
        if (domain->kind ==
            KN_DOMAIN_RANGES) { /* all values are an interval, unless one is missing or its ends are open */
            if (domain->missing == KN_NONE && !domain->is_open) return *known = true, false;
            continue;
        }
        const char *label = kn_tree_label(domain->tree, domain->tree->root, &n_bytes);
        if (n_bytes != 1 || label[0] != '*') return *known = true, false;
    }
    return true;
}

static uint64_t rows_suppressed(const kn_recount *recount)
{
    return recount->suppressed_class != KN_NONE ? kn_recount_class_rows(recount, recount->suppressed_class) : 0;
}

static uint64_t rows_released(const kn_recount *recount)
{
    uint64_t n = 0;
    if (recount->record_rows == NULL) return recount->release->n_rows;
    for (uint32_t row = 0; row < recount->release->n_rows; row++) n += kn_recount_rows(recount, row);
    return n;
}

static uint64_t rows_removed(const kn_recount *recount)
{
    if (recount->original == NULL || recount->original->n_rows < recount->release->n_rows) return 0;
    if (recount->record_rows == NULL) return recount->original->n_rows - recount->release->n_rows;
    uint64_t n = 0;
    for (uint32_t row = 0; row < recount->original->n_rows; row++) n += recount->record_rows[row];
    return n - rows_released(recount);
}

/* Rows with * everywhere are suppressed, unless * is the top of every QI: then they are a class like any other, as far
 * as the file tells, and only whoever wrote it can say how many of them are suppressed all the same. */
static kn_status check_suppressed(kn_recount *recount, kn_error *err)
{
    const kn_verify_request *request = recount->request;
    const bool has_original = recount->original != NULL;
    unsigned long long stars = rows_suppressed(recount), removed = rows_removed(recount);
    kn_piece n_stars = kn_piece_number("%llu", stars), n_removed = kn_piece_number("%llu", removed);
    kn_buffer found = {0};
    kn_check_state state = KN_CHECK_NOT_MADE;
    if (request->max_suppressed < 0) {
        found = KN_SAID(KN_SAY_STARS_NO_LIMIT, n_stars, n_removed);
    } else {
        unsigned long long limit = (unsigned long long)request->max_suppressed, said = request->n_suppressed;
        bool is_known, may_be_top = star_is_a_root(&is_known, recount) && stars + removed > limit;
        unsigned long long least = removed, most = removed; /* how many are suppressed */
        found = KN_SAID(KN_SAY_STARS, n_stars, n_removed, kn_piece_number("%llu", limit));
        if (!may_be_top) {
            least = most = removed + stars;
        } else if (request->every_check) {
            least = most = said > removed ? said : removed;
            kn_sentence_join(&found, KN_SAID(KN_SAY_STARS_ARE_SUPPRESSED, kn_piece_number("%llu", said)));
        } else if (is_known) {
            kn_sentence_join(&found, kn_said(KN_SAY_STARS_ARE_GENERALIZED));
        } else {
            most = removed + stars;
            kn_sentence_join(&found, kn_said(KN_SAY_STARS_MAY_BE_GENERALIZED));
        }
        if (least > limit) state = KN_CHECK_BROKEN;
        else if (most <= limit && has_original) state = KN_CHECK_HOLDS;
    }
    if (!has_original) kn_sentence_join(&found, kn_said(KN_SAY_REMOVED_UNKNOWN));
    return kn_recount_note(recount, KN_SLOT_SUPPRESSED, state, found, err);
}

/* --- All checks ------------------------------------------------------------------------------------------------ */

static kn_status check_table(kn_recount *recount, kn_error *err)
{
    const kn_buffer unguarded = kn_recount_describe_unguarded(recount);
    if (unguarded.n > 0 || unguarded.failed)
        return kn_recount_note(recount, KN_SLOT_TABLE, KN_CHECK_BROKEN, unguarded, err);
    return kn_recount_note(recount, KN_SLOT_TABLE, KN_CHECK_HOLDS,
                           KN_SAID(KN_SAY_TABLE_SIZE, kn_piece_number("%u", recount->release->n_rows),
                                   kn_piece_number("%u", recount->n_file_columns)),
                           err);
}

static kn_status check_release(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    KN_NEW(recount->in_original, request->n_columns);
    for (uint32_t c = 0; c < request->n_columns; c++) { /* what was only read to derive from is not compared */
        bool there = kn_verify_is_released(request->columns[c].role) || request->columns[c].is_person;
        recount->in_original[c] =
            recount->original != NULL && there && recount->original->columns[c].stored ? c : KN_NONE;
    }
    KN_NEW(recount->to_original, request->n_columns);
    KN_NEW(recount->readings, request->n_columns);
    KN_TRY(kn_pool_run(request->pool, request->n_columns, match_dictionary, recount, err));
    KN_TRY(check_table(recount, err));
    KN_TRY(kn_recount_check_columns(recount, err));
    if (recount->original != NULL) {
        KN_TRY(count_records(recount, err));
        KN_TRY(kn_recount_compare(recount, err));
    } else {
        for (size_t slot = KN_SLOT_ROWS; slot <= KN_SLOT_VALUES; slot++)
            KN_TRY(kn_recount_note(recount, slot, KN_CHECK_NOT_MADE, kn_said(KN_SAY_NO_ORIGINAL), err));
        if (recount->levels_slot != SIZE_MAX)
            KN_TRY(kn_recount_note(recount, recount->levels_slot, KN_CHECK_NOT_MADE, kn_said(KN_SAY_NO_ORIGINAL), err));
    }
    KN_TRY(kn_recount_check_identifiers(recount, err));
    KN_TRY(check_suppressed(recount, err));
    KN_TRY(count_persons(recount, err));
    KN_TRY(kn_recount_models(recount, err));
    if (request->certificate_path != NULL)
        KN_TRY(kn_recount_certificate(recount, KN_SLOT_MODELS + request->n_models, err));
done:
    return status;
}

static kn_status run_checks(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(list_checks(recount, err));
    KN_TRY(kn_recount_read_files(recount, err));
    if (recount->release->problem != NULL) {
        KN_TRY(kn_recount_note(recount, KN_SLOT_TABLE, KN_CHECK_BROKEN,
                               KN_SAID(KN_SAY_TEXT, kn_piece_text(recount->release->problem)), err));
        for (size_t slot = KN_SLOT_TABLE + 1; slot < recount->n_checks; slot++)
            KN_TRY(kn_recount_note(recount, slot, KN_CHECK_NOT_MADE, kn_said(KN_SAY_NO_TABLE), err));
        goto done;
    }
    KN_TRY(check_release(recount, err));
done:
    return status;
}

static kn_status make_verdict(kn_verdict **out, kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    kn_verdict *verdict = NULL;
    const kn_row_groups *classes = recount->classes;
    KN_NEW(verdict, 1);
    *verdict = (kn_verdict){.state = kn_verdict_of_checks(recount->checks, recount->n_checks),
                            .n_checks = recount->n_checks,
                            .checks = recount->checks,
                            .n_rows = rows_released(recount),
                            .n_classes = classes != NULL ? classes->n_groups : 0};
    recount->checks = NULL;
    recount->n_checks = 0;
    if (recount->asks_for_persons)
        verdict->counted = recount->class_persons == NULL     ? "rows"
                           : recount->request->are_households ? "households"
                                                              : "persons";
    for (uint32_t g = 0; classes != NULL && g < classes->n_groups; g++) {
        uint64_t size = recount->class_persons != NULL ? recount->class_persons[g] : kn_recount_class_rows(recount, g);
        if (g == 0 || size < verdict->smallest_class) verdict->smallest_class = size;
    }
    if (classes != NULL) verdict->n_suppressed = rows_suppressed(recount);
    verdict->n_removed = rows_removed(recount);
    *out = verdict;
done:
    return status;
}

static void recount_free(kn_recount *recount)
{
    for (size_t c = 0; recount->to_original != NULL && c < recount->request->n_columns; c++)
        kn_free(recount->to_original[c]);
    kn_free(recount->to_original);
    kn_free(recount->readings);
    kn_free(recount->in_release);
    kn_free(recount->in_original);
    kn_free(recount->qis);
    kn_free(recount->keys);
    kn_free(recount->bounds);
    kn_row_groups_free(recount->classes);
    kn_free(recount->class_start);
    kn_free(recount->class_rows);
    kn_free(recount->class_persons);
    kn_free(recount->record_rows);
    kn_free(recount->record_persons);
    kn_free(recount->fewest_persons);
    kn_free(recount->found_order);
    for (size_t i = 0; i < recount->n_checks; i++) kn_buffer_free(&recount->checks[i].detail);
    kn_free(recount->checks);
    kn_sheet_free(recount->release);
    kn_sheet_free(recount->original);
    kn_sheet_free(recount->domains);
}

kn_status kn_verify_files(kn_verdict **out, const kn_verify_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount recount = {.request = request, .suppressed_class = KN_NONE};
    *out = NULL;
    KN_TRY(run_checks(&recount, err));
    KN_TRY(make_verdict(out, &recount, err));
done:
    recount_free(&recount);
    return status;
}
