/* Which columns a release must have, in which order, and which it must not: those of identifiers and dropped columns.
 * In a file without a header a column is known by its place. */
#include "verify/released_bounds.h"

#include "base/formula.h"

#include <stdio.h>
#include <string.h>

/* --- The request's columns ------------------------------------------------------------------------------------- */

bool kn_verify_is_released(kn_role role)
{
    return role == KN_ROLE_QUASI || role == KN_ROLE_SENSITIVE || role == KN_ROLE_INSENSITIVE;
}

size_t kn_verify_n_file_columns(const kn_verify_request *request)
{
    return request->n_columns - request->n_derivations;
}

uint32_t kn_verify_person_column(const kn_verify_request *request)
{
    for (uint32_t c = 0; c < request->n_columns; c++)
        if (request->columns[c].is_person) return c;
    return KN_NONE;
}

bool kn_verify_is_unnamed(const kn_verify_request *request)
{
    return request->no_header && request->release_batches == NULL && request->release_kind == KN_FILE_CSV;
}

uint32_t kn_verify_column_of_released(const kn_verify_request *request, uint32_t index, const char *name)
{
    uint32_t place = 0;
    for (uint32_t c = 0; c < request->n_columns; c++) {
        bool there = kn_verify_is_released(request->columns[c].role);
        if (there && (kn_verify_is_unnamed(request) ? place == index : strcmp(request->columns[c].name, name) == 0))
            return c;
        place += there || request->original_path == NULL;
    }
    return KN_NONE;
}

/* --- Those of the release -------------------------------------------------------------------------------------- */

kn_status kn_recount_place(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    KN_NEW(recount->in_release, request->n_columns);
    KN_NEW(recount->qis, request->n_columns);
    recount->has_all_qis = true;
    for (uint32_t c = 0; c < request->n_columns; c++) recount->in_release[c] = KN_NONE;
    for (uint32_t at = 0; at < recount->release->n_columns; at++) {
        uint32_t c = kn_verify_column_of_released(request, at, recount->release->columns[at].name);
        if (c != KN_NONE && recount->in_release[c] == KN_NONE) recount->in_release[c] = at;
    }
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (request->columns[c].role != KN_ROLE_QUASI) continue;
        recount->qis[recount->n_qis++] = c;
        recount->has_all_qis &= recount->in_release[c] != KN_NONE;
    }
done:
    return status;
}

static bool has_no_role(const kn_verify_request *request, const char *name)
{
    for (size_t c = 0; c < request->n_columns; c++)
        if (strcmp(request->columns[c].name, name) == 0) return request->columns[c].role == KN_ROLE_DROPPED;
    return false;
}

static const char *number_shown(char buffer[KN_SHOWN_BYTES], uint32_t column)
{
    snprintf(buffer, KN_SHOWN_BYTES, "#%u", column + 1);
    return buffer;
}

const char *kn_recount_column_shown(char buffer[KN_SHOWN_BYTES], const kn_recount *recount, uint32_t column)
{
    const kn_verify_column *about = &recount->request->columns[column];
    return recount->request->redact && about->hide_name ? number_shown(buffer, column) : about->name;
}

/* Whether a column of the release is one of the bounds of some QI. */
static bool is_bound(const kn_recount *recount, uint32_t at)
{
    for (size_t i = 0; i < recount->n_bounds; i++)
        for (int part = 0; part < KN_N_BOUND_PARTS; part++)
            if (recount->bounds[i].parts[part] == at) return true;
    return false;
}

/* What is wrong with the released columns, or nothing. Their order is known only with the original. */
static kn_buffer describe_columns(const kn_recount *recount)
{
    const kn_verify_request *request = recount->request;
    const kn_sheet *release = recount->release;
    uint32_t n_expected = 0, last = KN_NONE;
    char shown[KN_SHOWN_BYTES];
    kn_buffer problem = {0};
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (!kn_verify_is_released(request->columns[c].role)) continue;
        n_expected++;
        uint32_t at = recount->in_release[c];
        for (size_t i = 0; i < recount->n_bounds; i++) {
            const kn_released_bounds *bounds = &recount->bounds[i];
            if (bounds->column != c) continue;
            n_expected += bounds->parts[KN_BOUND_MEAN] != KN_NONE ? 4u : 3u;
            if (bounds->made == KN_NONE) continue;
            n_expected--;
            at = bounds->parts[KN_BOUND_MIN];
        }
        if (at == KN_NONE) {
            kn_sentence_join(&problem,
                             KN_SAID(KN_SAY_COLUMN_MISSING, kn_piece_name(kn_recount_column_shown(shown, recount, c))));
            continue;
        }
        if (recount->original != NULL && last != KN_NONE && at < last)
            kn_sentence_join(&problem,
                             KN_SAID(KN_SAY_COLUMN_MOVED, kn_piece_name(kn_recount_column_shown(shown, recount, c))));
        last = at;
    }
    for (uint32_t at = 0; at < recount->n_file_columns && !kn_verify_is_unnamed(request); at++) {
        const char *name = release->columns[at].name;
        const char *calls = request->redact ? number_shown(shown, at) : name; /* the header may be a line of data */
        if (kn_verify_column_of_released(request, at, name) == KN_NONE && !is_bound(recount, at))
            kn_sentence_join(&problem,
                             KN_SAID(has_no_role(request, name) ? KN_SAY_COLUMN_NO_ROLE : KN_SAY_COLUMN_TOO_MANY,
                                     kn_piece_name(calls)));
        else if (kn_sheet_find(release, name) != at)
            kn_sentence_join(&problem, KN_SAID(KN_SAY_COLUMN_TWICE, kn_piece_name(calls)));
    }
    if (problem.n == 0 && recount->n_file_columns != n_expected)
        problem = KN_SAID(KN_SAY_COLUMNS_EXPECTED, kn_piece_number("%u", recount->n_file_columns),
                          kn_piece_number("%u", n_expected));
    return problem;
}

kn_buffer kn_recount_describe_unguarded(const kn_recount *recount)
{
    const kn_verify_request *request = recount->request;
    const kn_sheet *release = recount->release;
    char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
    const bool is_csv = request->release_batches == NULL && request->release_kind == KN_FILE_CSV;
    if (is_csv && release->bare_name != NULL)
        return KN_SAID(KN_SAY_NAME_UNGUARDED,
                       kn_piece_name(request->redact ? number_shown(name, kn_sheet_find(release, release->bare_name))
                                                     : release->bare_name));
    for (uint32_t c = 0; is_csv && request->guard_formulas && c < request->n_columns; c++) {
        const uint32_t at = recount->in_release[c];
        if (at == KN_NONE || at >= recount->n_file_columns) continue;
        const kn_sheet_column *column = &release->columns[at];
        for (uint32_t i = 0; i < column->n_texts; i++) {
            size_t n;
            const char *bytes = kn_text(column, i, &n);
            if (!kn_is_bare_formula(bytes, n)) continue;
            uint32_t row = 0;
            while (row + 1 < release->n_rows && kn_sheet_code(column, row) != i) row++;
            return KN_SAID(KN_SAY_CELL_UNGUARDED,
                           kn_piece_number("%llu", (unsigned long long)kn_sheet_line(release, row)),
                           kn_piece_name(kn_recount_column_shown(name, recount, c)),
                           kn_piece_text(kn_recount_cell_shown(cell, recount, column, i)));
        }
    }
    return (kn_buffer){0};
}

kn_status kn_recount_check_columns(kn_recount *recount, kn_error *err)
{
    kn_buffer problem = describe_columns(recount);
    if (problem.n == 0 && !problem.failed) problem = kn_recount_describe_bounds(recount);
    if (problem.n > 0 || problem.failed)
        return kn_recount_note(recount, KN_SLOT_COLUMNS, KN_CHECK_BROKEN, problem, err);
    kn_say found = kn_verify_is_unnamed(recount->request) ? KN_SAY_COLUMNS_COUNTED
                   : recount->original == NULL            ? KN_SAY_COLUMNS_NO_ORIGINAL
                                                          : KN_SAY_COLUMNS_IN_ORDER;
    return kn_recount_note(recount, KN_SLOT_COLUMNS, KN_CHECK_HOLDS,
                           KN_SAID(found, kn_piece_number("%u", recount->n_file_columns)), err);
}

/* Without names a column is what its cells are: an identifier in the place of another column is no copy of it, and does
 * not generalize it. So the check stands on those that compare every column with the original's in its place. */
static kn_status check_unnamed_identifiers(kn_recount *recount, kn_error *err)
{
    uint32_t n_expected = 0, n_columns = recount->n_file_columns;
    for (uint32_t c = 0; c < recount->request->n_columns; c++)
        n_expected += kn_verify_is_released(recount->request->columns[c].role);
    if (n_columns > n_expected)
        return kn_recount_note(
            recount, KN_SLOT_IDENTIFIERS, KN_CHECK_BROKEN,
            KN_SAID(KN_SAY_UNNAMED_TOO_MANY, kn_piece_number("%u", n_columns), kn_piece_number("%u", n_expected)), err);
    if (recount->original == NULL)
        return kn_recount_note(recount, KN_SLOT_IDENTIFIERS, KN_CHECK_NOT_MADE, kn_said(KN_SAY_UNNAMED_NO_ORIGINAL),
                               err);
    if (n_columns == n_expected && recount->checks[KN_SLOT_COPIES].state == KN_CHECK_HOLDS &&
        recount->checks[KN_SLOT_VALUES].state == KN_CHECK_HOLDS)
        return kn_recount_note(recount, KN_SLOT_IDENTIFIERS, KN_CHECK_HOLDS, kn_said(KN_SAY_UNNAMED_COMPARED), err);
    return kn_recount_note(recount, KN_SLOT_IDENTIFIERS, KN_CHECK_NOT_MADE, kn_said(KN_SAY_UNNAMED_NOT_COMPARED), err);
}

kn_status kn_recount_check_identifiers(kn_recount *recount, kn_error *err)
{
    const kn_verify_request *request = recount->request;
    char shown[KN_SHOWN_BYTES];
    if (kn_verify_is_unnamed(request)) return check_unnamed_identifiers(recount, err);
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (kn_verify_is_released(request->columns[c].role)) continue;
        uint32_t at = kn_sheet_find(recount->release, request->columns[c].name);
        if (at == KN_NONE || is_bound(recount, at)) continue;
        bool is_identifier = request->columns[c].role == KN_ROLE_IDENTIFIER;
        return kn_recount_note(recount, KN_SLOT_IDENTIFIERS, KN_CHECK_BROKEN,
                               KN_SAID(is_identifier ? KN_SAY_IDENTIFIER_LEFT : KN_SAY_DROPPED_LEFT,
                                       kn_piece_name(kn_recount_column_shown(shown, recount, c))),
                               err);
    }
    return kn_recount_note(recount, KN_SLOT_IDENTIFIERS, KN_CHECK_HOLDS, kn_said(KN_SAY_NO_IDENTIFIER), err);
}
