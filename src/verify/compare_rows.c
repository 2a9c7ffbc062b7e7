/* The release against the original.
 *
 * With the order known (released row i was original row order[i]) every cell is compared with its own original: copied
 * cells byte for byte, QI cells by what they mean. One job per column.
 *
 * In the original's own order, but with rows removed, the released rows are found one after the other.
 *
 * Without any order, what every one must satisfy: the copied cells of the release, as tuples, are among those of the
 * original and not more often; and for every released row there are enough original rows with the same copied cells
 * whose values lie in its QI cells: rows of the release that agree in everything number at most their candidates. That
 * is necessary for a release of this original, not sufficient: a swap within the candidates stays unseen, and the
 * finding says that the order was not known. */
#include "verify/checks.h"

#include "verify/released_bounds.h"
#include "verify/inside.h"
#include "verify/match_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Some ten seconds. */
static const uint64_t MAX_CANDIDATE_WORK = 400000000;

static bool is_copied(const kn_verify_column *column)
{
    return column->role == KN_ROLE_SENSITIVE || column->role == KN_ROLE_INSENSITIVE;
}

static const kn_sheet_column *released(const kn_recount *recount, uint32_t c)
{
    return &recount->release->columns[recount->in_release[c]];
}

static const kn_sheet_column *original(const kn_recount *recount, uint32_t c)
{
    return &recount->original->columns[recount->in_original[c]];
}

static kn_piece line_of(const kn_sheet *sheet, uint32_t row)
{
    return kn_piece_number("%llu", (unsigned long long)kn_sheet_line(sheet, row));
}

typedef struct column_job {
    uint32_t column;     /* of the request */
    kn_meaning *meaning; /* QIs; NULL for copied columns */
    uint64_t n_wrong;
    uint32_t first_wrong; /* released row */
} column_job;

typedef struct comparison {
    kn_recount *recount;
    column_job *jobs;
    size_t n_jobs;
} comparison;

/* --- Rows ------------------------------------------------------------------------------------------------------ */

/* Each original row at most once. The order is used by later checks only when it can be right. */
static kn_status check_order(kn_recount *recount, kn_buffer *problem, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    uint8_t *seen = NULL;
    if (request->order == NULL) goto done;
    if (request->order_is_input && request->n_order != recount->release->n_rows) goto done; /* see fit_rows */
    if (request->n_order != recount->release->n_rows) {
        *problem = KN_SAID(KN_SAY_ROWS_WRITTEN, kn_piece_number("%u", recount->release->n_rows),
                           kn_piece_number("%u", request->n_order));
        goto done;
    }
    KN_NEW(seen, recount->original->n_rows / 8 + (size_t)1);
    for (uint32_t i = 0; i < request->n_order; i++) {
        uint32_t row = request->order[i];
        if (row >= recount->original->n_rows || (seen[row / 8] >> row % 8 & 1) != 0) {
            *problem = KN_SAID(row >= recount->original->n_rows ? KN_SAY_ROW_NOT_THERE : KN_SAY_ROW_TAKEN,
                               line_of(recount->release, i), kn_piece_number("%u", row + 1));
            goto done;
        }
        seen[row / 8] |= (uint8_t)(1 << row % 8);
    }
    recount->order = request->order;
done:
    kn_free(seen);
    return status;
}

static bool row_fits(const comparison *all, uint32_t row, uint32_t from)
{
    const kn_recount *recount = all->recount;
    for (size_t i = 0; i < all->n_jobs; i++) {
        const column_job *job = &all->jobs[i];
        uint32_t code = kn_sheet_code(released(recount, job->column), row);
        uint32_t value = kn_sheet_code(original(recount, job->column), from);
        if (recount->to_original[job->column][code] == value) continue;
        if (job->meaning == NULL || !kn_meaning_covers(job->meaning, value, code)) return false;
    }
    return true;
}

/* Rows in the original's order, some of them removed: each released row gets the first original row behind the last
 * one's that it can be. That finds a place for all of them whenever there is one. Going backwards finds the last such
 * place; where the two agree for every row, there is no other. */
static kn_status fit_rows(comparison *all, kn_buffer *problem, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = all->recount;
    uint32_t n_rows = recount->release->n_rows, from = 0, *first = NULL;
    bool only_one = true;
    KN_NEW_RAW(first, n_rows);
    for (uint32_t row = 0; row < n_rows; row++) {
        while (from < recount->original->n_rows && !row_fits(all, row, from)) from++;
        if (from == recount->original->n_rows) {
            *problem = KN_SAID(KN_SAY_ROW_NOT_IN_ORDER, line_of(recount->release, row));
            goto done;
        }
        first[row] = from++;
        if (row % KN_CHUNK_ROWS == 0) KN_TRY(kn_tick(recount->request->ticker, "verify", -1, err));
    }
    from = recount->original->n_rows;
    for (uint32_t row = n_rows; only_one && row-- > 0;) {
        while (!row_fits(all, row, --from)) continue;
        only_one = from == first[row];
    }
    if (only_one) {
        recount->order = recount->found_order = first;
        first = NULL;
    }
done:
    kn_free(first);
    return status;
}

static kn_status check_rows(comparison *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = all->recount;
    kn_buffer problem = {0}; /* or what was found */
    uint32_t n_release = recount->release->n_rows, n_original = recount->original->n_rows;
    bool fits = recount->request->order_is_input && n_release < n_original;
    KN_TRY(check_order(recount, &problem, err));
    if (fits) KN_TRY(fit_rows(all, &problem, err));
    kn_piece released_rows = kn_piece_number("%u", n_release), original_rows = kn_piece_number("%u", n_original);
    kn_check_state state = KN_CHECK_BROKEN;
    if (problem.n == 0 && !problem.failed && n_release > n_original) {
        problem = KN_SAID(KN_SAY_ROWS_TOO_MANY, released_rows, original_rows);
    } else if (problem.n == 0 && !problem.failed) {
        state = KN_CHECK_HOLDS;
        problem = KN_SAID(recount->order != NULL ? KN_SAY_ROWS_FOUND
                          : fits                 ? KN_SAY_ROWS_FOUND_FITTING
                                                 : KN_SAY_ROWS_FOUND_COUNTED,
                          released_rows, original_rows, kn_piece_number("%u", n_original - n_release));
    }
    return kn_recount_note(recount, KN_SLOT_ROWS, state, problem, err);
done:
    kn_buffer_free(&problem);
    return status;
}

/* --- Row by row ------------------------------------------------------------------------------------------------ */

static kn_status compare_column(void *context, size_t index, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    comparison *all = context;
    const kn_recount *recount = all->recount;
    column_job *job = &all->jobs[index];
    const kn_sheet_column *from = original(recount, job->column);
    const uint32_t *to_original = recount->to_original[job->column];
    enum { AHEAD = 24 }; /* released rows stand in another order: each original cell is somewhere else in memory */
    uint32_t *codes = NULL, last_original = KN_NONE, last_released = KN_NONE;
    bool last_covers = false;
    KN_NEW_RAW(codes, kn_sheet_chunk_rows(recount->release));
    for (size_t chunk = 0; chunk * KN_CHUNK_ROWS < recount->release->n_rows; chunk++) {
        const uint32_t *order = recount->order + chunk * KN_CHUNK_ROWS;
        size_t n = kn_chunk_unpack(codes, recount->release, recount->in_release[job->column], chunk);
        for (size_t i = 0; i < n; i++) {
            if (i + AHEAD < n) kn_sheet_prefetch(from, order[i + AHEAD]);
            uint32_t code = kn_sheet_code(from, order[i]);
            bool right = to_original[codes[i]] == code;
            if (!right && job->meaning != NULL) {
                if (code != last_original || codes[i] != last_released)
                    last_covers = kn_meaning_covers(job->meaning, code, codes[i]);
                last_original = code;
                last_released = codes[i];
                right = last_covers;
            }
            if (!right && job->n_wrong++ == 0) job->first_wrong = (uint32_t)(chunk * KN_CHUNK_ROWS + i);
        }
        KN_TRY(kn_tick(recount->request->ticker, "verify", -1, err));
    }
done:
    kn_free(codes);
    return status;
}

static kn_buffer say_wrong(const kn_recount *recount, const column_job *job)
{
    char name[KN_SHOWN_BYTES], wrong[KN_SHOWN_BYTES], right[KN_SHOWN_BYTES];
    uint32_t row = job->first_wrong, from = recount->order[row];
    const kn_sheet_column *here = released(recount, job->column), *there = original(recount, job->column);
    return KN_SAID(job->meaning != NULL ? KN_SAY_CELL_NOT_COVERED : KN_SAY_CELL_NOT_COPIED,
                   line_of(recount->release, row), kn_piece_name(kn_recount_column_shown(name, recount, job->column)),
                   kn_piece_text(kn_recount_cell_shown(wrong, recount, here, kn_sheet_code(here, row))),
                   kn_piece_text(kn_recount_cell_shown(right, recount, there, kn_sheet_code(there, from))),
                   line_of(recount->original, from));
}

/* `unknown`: names of columns, or nothing. */
static void add_unknown(kn_buffer *detail, const char *unknown)
{
    if (unknown[0] != '\0') kn_sentence_join(detail, KN_SAID(KN_SAY_DOMAIN_UNKNOWN, kn_piece_text(unknown)));
}

/* Says of the first group in a released row that nobody here knows how to know it. */
static void add_strange_group(kn_buffer *detail, const comparison *all, uint32_t row)
{
    char name[KN_SHOWN_BYTES];
    for (size_t i = 0; i < all->n_jobs; i++) {
        const column_job *job = &all->jobs[i];
        if (job->meaning == NULL) continue;
        if (!kn_meaning_is_strange_group(job->meaning, kn_sheet_code(released(all->recount, job->column), row)))
            continue;
        kn_sentence_join(detail, KN_SAID(KN_SAY_GROUP_UNKNOWN,
                                         kn_piece_name(kn_recount_column_shown(name, all->recount, job->column))));
        return;
    }
}

/* One finding for the copied columns or for the QIs: the first wrong cell, and how many there are. */
static kn_status report_jobs(comparison *all, bool copied, const char *unknown, kn_error *err)
{
    kn_recount *recount = all->recount;
    kn_buffer detail = {0};
    uint64_t n_wrong = 0;
    size_t n_columns = 0;
    const column_job *first = NULL;
    for (size_t i = 0; i < all->n_jobs; i++) {
        const column_job *job = &all->jobs[i];
        if ((job->meaning == NULL) != copied) continue;
        n_columns++;
        n_wrong += job->n_wrong;
        if (job->n_wrong > 0 && (first == NULL || job->first_wrong < first->first_wrong)) first = job;
    }
    if (first != NULL) detail = say_wrong(recount, first);
    if (n_wrong > 1)
        kn_sentence_join(&detail, KN_SAID(KN_SAY_CELLS_WRONG, kn_piece_number("%llu", (unsigned long long)n_wrong)));
    if (first != NULL && !copied) add_strange_group(&detail, all, first->first_wrong);
    if (first == NULL && (n_columns > 0 || unknown[0] == '\0'))
        detail = KN_SAID(n_columns == 1 ? KN_SAY_COLUMN_COMPARED : KN_SAY_COLUMNS_COMPARED,
                         kn_piece_number("%zu", n_columns));
    add_unknown(&detail, unknown);
    kn_check_state state = first != NULL ? KN_CHECK_BROKEN : unknown[0] != '\0' ? KN_CHECK_NOT_MADE : KN_CHECK_HOLDS;
    return kn_recount_note(recount, copied ? KN_SLOT_COPIES : KN_SLOT_VALUES, state, detail, err);
}

/* --- In any order ---------------------------------------------------------------------------------------------- */

typedef struct copied_tuples {
    kn_key_column *original_keys, *release_keys;
    size_t n_keys;
    kn_row_groups *groups; /* original rows with equal copied cells */
    uint32_t *match;       /* per released row: its group, or KN_NONE */
} copied_tuples;

static void copied_free(copied_tuples *copied)
{
    kn_free(copied->original_keys);
    kn_free(copied->release_keys);
    kn_row_groups_free(copied->groups);
    kn_free(copied->match);
}

static kn_status group_copied(copied_tuples *copied, const kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    *copied = (copied_tuples){0};
    KN_NEW(copied->original_keys, request->n_columns);
    KN_NEW(copied->release_keys, request->n_columns);
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (!is_copied(&request->columns[c]) || recount->in_release[c] == KN_NONE) continue;
        copied->original_keys[copied->n_keys] = (kn_key_column){recount->in_original[c], NULL};
        copied->release_keys[copied->n_keys++] = (kn_key_column){recount->in_release[c], recount->to_original[c]};
    }
    KN_TRY(kn_row_groups_make(&copied->groups, recount->original, copied->original_keys, copied->n_keys, err));
    KN_TRY(kn_row_groups_match(&copied->match, copied->groups, recount->release, copied->release_keys, err));
done:
    return status;
}

/* The copied cells of a released row that occur `n_rows` times in the original, too few. */
static kn_buffer say_copied(const kn_recount *recount, uint32_t row, uint32_t n_rows)
{
    const kn_verify_request *request = recount->request;
    kn_piece line = line_of(recount->release, row);
    kn_buffer cells = {0};
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (!is_copied(&request->columns[c]) || recount->in_release[c] == KN_NONE) continue;
        char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
        kn_recount_add_cell(
            &cells, kn_recount_column_shown(name, recount, c),
            kn_recount_cell_shown(cell, recount, released(recount, c), kn_sheet_code(released(recount, c), row)));
    }
    if (cells.n == 0 && !cells.failed) kn_sentence_join(&cells, KN_SAID(KN_SAY_TEXT, kn_piece_text("")));
    if (n_rows == 0) return KN_SAID(KN_SAY_COPY_NOWHERE, line, kn_piece_part(cells));
    return KN_SAID(n_rows == 1 ? KN_SAY_COPY_IN_ROW : KN_SAY_COPY_IN_ROWS, line, kn_piece_part(cells),
                   kn_piece_number("%u", n_rows));
}

/* The copied cells of the release are among those of the original, and not more often. */
static kn_status check_copied(kn_recount *recount, const copied_tuples *copied, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer detail = {0};
    uint32_t *left = NULL, n_rows = recount->release->n_rows, row = 0;
    const kn_row_groups *groups = copied->groups;
    KN_NEW_RAW(left, groups->n_groups);
    for (uint32_t g = 0; g < groups->n_groups; g++) left[g] = groups->group_rows[g]; /* of no rows there are none */
    while (row < n_rows && copied->match[row] != KN_NONE && left[copied->match[row]] > 0) left[copied->match[row++]]--;
    if (row == n_rows)
        detail = KN_SAID(copied->n_keys == 1 ? KN_SAY_COPY_OCCURS : KN_SAY_COPIES_OCCUR,
                         kn_piece_number("%zu", copied->n_keys));
    else detail = say_copied(recount, row, copied->match[row] == KN_NONE ? 0 : groups->group_rows[copied->match[row]]);
    KN_TRY(kn_recount_note(recount, KN_SLOT_COPIES, row == n_rows ? KN_CHECK_HOLDS : KN_CHECK_BROKEN, detail, err));
done:
    kn_free(left);
    return status;
}

/* A released row whose cell of some column has no original value left, and the column of the request. */
static kn_status find_misfit(uint32_t *row, uint32_t *column, const kn_recount *recount, const copied_tuples *copied,
                             const comparison *all, kn_error *err)
{
    kn_status status = KN_OK;
    *row = KN_NONE;
    for (size_t i = 0; i < all->n_jobs && *row == KN_NONE; i++) {
        const column_job *job = &all->jobs[i];
        if (job->meaning == NULL) continue;
        kn_column_match match = {.original = recount->original,
                                 .release = recount->release,
                                 .original_column = recount->in_original[job->column],
                                 .release_column = recount->in_release[job->column],
                                 .meaning = job->meaning,
                                 .original_group = copied->groups->row_group,
                                 .release_group = copied->match,
                                 .pool = recount->request->pool};
        *column = job->column;
        KN_TRY(kn_column_match_find(row, &match, err));
        KN_TRY(kn_tick(recount->request->ticker, "verify", -1, err));
    }
done:
    return status;
}

typedef struct crowded {
    uint32_t row; /* released; KN_NONE: none */
    uint64_t n_released, n_candidates;
} crowded;

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Finds released rows that agree in all cells and are more than their candidates. */
static kn_status find_crowded(crowded *out, const kn_recount *recount, const copied_tuples *copied, kn_inside *inside,
                              const uint32_t *qis, size_t n_qis, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *pairs = NULL; /* copied tuple of the original and row, for the rows of one class */
    uint32_t *texts = NULL, largest = 0;
    *out = (crowded){.row = KN_NONE};
    for (uint32_t g = 0; g < recount->classes->n_groups; g++)
        if (recount->classes->group_rows[g] > largest) largest = recount->classes->group_rows[g];
    KN_NEW_RAW(pairs, largest);
    KN_NEW_RAW(texts, n_qis);
    for (uint32_t g = 0; g < recount->classes->n_groups && out->row == KN_NONE; g++) {
        size_t n = 0;
        for (uint32_t i = recount->class_start[g]; i < recount->class_start[g + 1]; i++) {
            uint32_t row = recount->class_rows[i];
            if (copied->match[row] != KN_NONE) pairs[n++] = (uint64_t)copied->match[row] << 32 | row;
        }
        qsort(pairs, n, sizeof *pairs, compare_u64);
        for (size_t q = 0; q < n_qis; q++)
            texts[q] = kn_sheet_code(released(recount, qis[q]), recount->classes->first_row[g]);
        for (size_t i = 0, end; i < n && out->row == KN_NONE; i = end) {
            uint32_t group = (uint32_t)(pairs[i] >> 32);
            for (end = i + 1; end < n && (uint32_t)(pairs[end] >> 32) == group;) end++;
            uint64_t found = kn_inside_count(inside, group, texts, end - i);
            if (kn_inside_gave_up(inside)) goto done;
            if (found < end - i) *out = (crowded){(uint32_t)pairs[i], end - i, found};
        }
        if (g % 4096 == 0) KN_TRY(kn_tick(recount->request->ticker, "verify", -1, err));
    }
done:
    kn_free(pairs);
    kn_free(texts);
    return status;
}

typedef struct qi_columns {
    uint32_t *qis, *columns; /* of the request, of the original */
    const kn_meaning **meanings;
    size_t n;
} qi_columns;

static kn_status collect_qis(qi_columns *out, const kn_recount *recount, const comparison *all, kn_error *err)
{
    kn_status status = KN_OK;
    *out = (qi_columns){0};
    KN_NEW(out->qis, all->n_jobs);
    KN_NEW(out->columns, all->n_jobs);
    KN_NEW(out->meanings, all->n_jobs);
    for (size_t i = 0; i < all->n_jobs; i++) {
        if (all->jobs[i].meaning == NULL) continue;
        out->qis[out->n] = all->jobs[i].column;
        out->columns[out->n] = recount->in_original[all->jobs[i].column];
        out->meanings[out->n++] = all->jobs[i].meaning;
    }
done:
    return status;
}

static kn_buffer say_crowded(const kn_recount *recount, const crowded *found)
{
    unsigned long long n_released = found->n_released, n_candidates = found->n_candidates;
    return KN_SAID(
        KN_SAY_CANDIDATES_TOO_FEW, line_of(recount->release, found->row),
        kn_piece_part(kn_recount_say_class(recount, recount->classes->row_group[found->row])),
        kn_piece_part(
            KN_SAID(n_released == 1 ? KN_SAY_RELEASED_ROW : KN_SAY_RELEASED_ROWS, kn_piece_number("%llu", n_released))),
        kn_piece_part(KN_SAID(n_candidates == 1 ? KN_SAY_ROW : KN_SAY_ROWS, kn_piece_number("%llu", n_candidates))));
}

static kn_buffer say_misfit(const kn_recount *recount, uint32_t row, uint32_t column)
{
    char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
    uint32_t code = kn_sheet_code(released(recount, column), row);
    return KN_SAID(KN_SAY_CELL_LEFT_OVER, line_of(recount->release, row),
                   kn_piece_name(kn_recount_column_shown(name, recount, column)),
                   kn_piece_text(kn_recount_cell_shown(cell, recount, released(recount, column), code)));
}

static kn_status check_candidates(kn_recount *recount, const copied_tuples *copied, const comparison *all,
                                  const char *unknown, kn_error *err)
{
    kn_status status = KN_OK;
    kn_inside *inside = NULL;
    kn_buffer detail = {0};
    qi_columns qis = {0};
    crowded found = {.row = KN_NONE};
    uint32_t misfit = KN_NONE, column = 0;
    kn_check_state state = KN_CHECK_BROKEN;
    KN_TRY(collect_qis(&qis, recount, all, err));
    KN_TRY(kn_inside_make(&inside, recount->original, qis.columns, qis.meanings, qis.n, copied->groups->row_group,
                          copied->groups->n_groups, err));
    inside->max_work = recount->request->max_candidate_work;
    if (inside->max_work == 0) inside->max_work = MAX_CANDIDATE_WORK;
    KN_TRY(find_crowded(&found, recount, copied, inside, qis.qis, qis.n, err));
    if (found.row == KN_NONE) KN_TRY(find_misfit(&misfit, &column, recount, copied, all, err));
    if (found.row != KN_NONE) {
        detail = say_crowded(recount, &found);
        add_strange_group(&detail, all, found.row);
    } else if (misfit != KN_NONE) {
        detail = say_misfit(recount, misfit, column);
        add_strange_group(&detail, all, misfit);
    } else if (qis.n == 0 && unknown[0] != '\0') {
        state = KN_CHECK_NOT_MADE;
    } else if (kn_inside_gave_up(inside)) {
        state = KN_CHECK_NOT_MADE;
        detail = kn_said(KN_SAY_CANDIDATES_TOO_MANY);
    } else {
        state = unknown[0] != '\0' ? KN_CHECK_NOT_MADE : KN_CHECK_HOLDS;
        detail = kn_said(KN_SAY_CANDIDATES_ENOUGH);
    }
    add_unknown(&detail, unknown);
    KN_TRY(kn_recount_note(recount, KN_SLOT_VALUES, state, detail, err));
done:
    kn_inside_free(inside);
    kn_free(qis.qis);
    kn_free(qis.columns);
    kn_free(qis.meanings);
    return status;
}

/* --- Everything ------------------------------------------------------------------------------------------------ */

static kn_status make_meaning(void *context, size_t index, unsigned worker, kn_error *err)
{
    const comparison *all = context;
    const kn_recount *recount = all->recount;
    const uint32_t c = all->jobs[index].column;
    const kn_verify_column *column = &recount->request->columns[c];
    const kn_meaning_options how = {recount->request->trim, recount->request->guard_formulas};
    if (column->role != KN_ROLE_QUASI) return KN_OK;
    return kn_meaning_make(&all->jobs[index].meaning, original(recount, c), released(recount, c), column->domain,
                           &recount->readings[c], &how, err);
}

/* A job per column that can be compared; the QIs that cannot are named in `unknown`. */
static kn_status make_jobs(comparison *all, kn_buffer *unknown, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = all->recount;
    const kn_verify_request *request = recount->request;
    KN_NEW(all->jobs, request->n_columns);
    for (uint32_t c = 0; c < request->n_columns; c++) {
        const kn_verify_column *column = &request->columns[c];
        if (recount->in_release[c] == KN_NONE || recount->in_original[c] == KN_NONE) continue;
        if (column->role == KN_ROLE_QUASI && column->domain == NULL) {
            kn_buffer_text(unknown, unknown->n == 0 ? "'" : ", '");
            kn_buffer_cut(unknown, column->name, 40);
            kn_buffer_char(unknown, '\'');
            continue;
        }
        if (column->role != KN_ROLE_QUASI && !is_copied(column)) continue;
        all->jobs[all->n_jobs++] = (column_job){.column = c};
    }
    kn_buffer_text(unknown, "");
    if (unknown->failed) KN_FAIL(KN_RESOURCES, "out of memory");
    KN_TRY(kn_pool_run(request->pool, all->n_jobs, make_meaning, all, err));
done:
    return status;
}

static const kn_meaning *meaning_of(const comparison *all, uint32_t column)
{
    for (size_t i = 0; i < all->n_jobs; i++)
        if (all->jobs[i].column == column) return all->jobs[i].meaning;
    return NULL;
}

/* What every cell covers is not enough: an interval may end at somebody's value, a mean be another. */
static kn_status check_details(const comparison *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = all->recount;
    kn_check *values = &recount->checks[KN_SLOT_VALUES];
    kn_buffer problem = {0};
    for (size_t q = 0; q < recount->n_qis && problem.n == 0; q++)
        problem = kn_recount_describe_grid(recount, recount->qis[q]);
    for (size_t q = 0; q < recount->n_qis && problem.n == 0; q++)
        problem = kn_recount_describe_withheld(recount, recount->qis[q]);
    for (size_t q = 0; q < recount->n_qis && problem.n == 0; q++)
        problem = kn_recount_describe_coding(recount, recount->qis[q], meaning_of(all, recount->qis[q]));
    if (problem.n == 0) KN_TRY(kn_recount_describe_means(&problem, recount, err));
    if (problem.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (problem.n == 0 && values->state != KN_CHECK_BROKEN && recount->order == NULL && kn_recount_has_means(recount))
        kn_sentence_join(&values->detail, kn_said(KN_SAY_MEANS_NOT_COMPARED));
    if (problem.n == 0 || values->state == KN_CHECK_BROKEN) goto done;
    kn_buffer_free(&values->detail);
    values->detail = problem;
    values->state = KN_CHECK_BROKEN;
    problem = (kn_buffer){0};
done:
    kn_buffer_free(&problem);
    return status;
}

static kn_status check_levels(const comparison *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_recount *recount = all->recount;
    kn_buffer problem = {0};
    if (recount->levels_slot == SIZE_MAX) return KN_OK;
    bool is_known = recount->has_all_qis;
    for (uint32_t c = 0; c < recount->request->n_columns; c++)
        is_known = is_known && (recount->request->columns[c].min_level == 0 || meaning_of(all, c) != NULL);
    if (!is_known) return kn_recount_note(recount, recount->levels_slot, KN_CHECK_NOT_MADE, kn_said(KN_SAY_NO_QI), err);
    for (size_t i = 0; i < all->n_jobs && problem.n == 0 && !problem.failed; i++)
        KN_TRY(kn_recount_check_level(&problem, recount, all->jobs[i].column, all->jobs[i].meaning, err));
    const bool is_broken = problem.n > 0 || problem.failed;
    if (!is_broken) problem = kn_said(KN_SAY_LEVELS_KEPT);
    return kn_recount_note(recount, recount->levels_slot, is_broken ? KN_CHECK_BROKEN : KN_CHECK_HOLDS, problem, err);
done:
    kn_buffer_free(&problem);
    return status;
}

kn_status kn_recount_compare(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    comparison all = {.recount = recount};
    copied_tuples copied = {0};
    kn_buffer unknown = {0};
    KN_TRY(make_jobs(&all, &unknown, err));
    KN_TRY(check_rows(&all, err));
    if (recount->order != NULL) {
        KN_TRY(kn_pool_run(recount->request->pool, all.n_jobs, compare_column, &all, err));
        KN_TRY(report_jobs(&all, true, "", err));
        KN_TRY(report_jobs(&all, false, unknown.bytes, err));
    } else {
        KN_TRY(group_copied(&copied, recount, err));
        KN_TRY(check_copied(recount, &copied, err));
        if (recount->has_all_qis) KN_TRY(check_candidates(recount, &copied, &all, unknown.bytes, err));
        else KN_TRY(kn_recount_note(recount, KN_SLOT_VALUES, KN_CHECK_NOT_MADE, kn_said(KN_SAY_NO_QI), err));
    }
    KN_TRY(check_details(&all, err));
    KN_TRY(check_levels(&all, err));
done:
    for (size_t i = 0; i < all.n_jobs; i++) kn_meaning_free(all.jobs[i].meaning);
    kn_free(all.jobs);
    copied_free(&copied);
    kn_buffer_free(&unknown);
    return status;
}
