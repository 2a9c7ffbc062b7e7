/* A released file recounted: read it, compare its columns, group its rows, count every model, and hold it against the
 * original where that is given. The checks in their order:
 *
 *   well-formed table, columns, no identifier left       from the release and the list of columns
 *   rows accounted for, copied columns unchanged,
 *   values generalize the original                       compare_rows.c, with the original
 *   suppressed rows                                      within the limit
 *   every model                                          recount_models.c
 *
 * Each ends as held, broken (naming the class, or the line and column) or not made (saying why). A class is made of
 * released bytes: two spellings of one number are two cells to whoever reads the file, so they are two classes here.
 *
 * Reading takes one job per file; see sheet.c for cost and memory. */
#include "verify/checks.h"

#include "base/hash.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Findings -------------------------------------------------------------------------------------------------- */

kn_status kn_recount_note(kn_recount *recount, const char *name, kn_check_state state, double worst, kn_error *err,
                          const char *format, ...)
{
    kn_status status = KN_OK;
    char *detail = NULL;
    va_list arguments, again;
    assert(format != NULL);
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t n_bytes = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    KN_NEW(detail, n_bytes);
    vsnprintf(detail, n_bytes, format, again);
    KN_PUSH(&recount->checks, ((kn_check){name, state, worst, detail}));
    detail = NULL;
done:
    va_end(arguments);
    va_end(again);
    kn_free(detail);
    return status;
}

void kn_recount_show_text(kn_buffer *out, const kn_recount *recount, const kn_sheet_column *column, uint32_t code)
{
    char shown[KN_SHOWN_BYTES];
    size_t n_bytes;
    const char *bytes = kn_text(column, code, &n_bytes);
    kn_buffer_text(out, kn_value_shown(shown, bytes, n_bytes, recount->request->redact));
}

void kn_recount_show_class(kn_buffer *out, const kn_recount *recount, uint32_t class_index)
{
    uint32_t row = recount->classes->first_row[class_index], n_rows = recount->classes->group_rows[class_index];
    kn_buffer_text(out, "class");
    for (size_t q = 0; q < recount->n_qis; q++) {
        const kn_sheet_column *column = &recount->release->columns[recount->in_release[recount->qis[q]]];
        kn_buffer_printf(out, "%s %.40s=", q > 0 ? "," : "", recount->request->columns[recount->qis[q]].name);
        kn_recount_show_text(out, recount, column, kn_sheet_code(column, row));
    }
    kn_buffer_printf(out, " (%u row%s, ", n_rows, n_rows == 1 ? "" : "s");
    if (recount->class_persons != NULL)
        kn_buffer_printf(out, "%u person%s, ", recount->class_persons[class_index],
                         recount->class_persons[class_index] == 1 ? "" : "s");
    kn_buffer_printf(out, "first on line %llu)", (unsigned long long)kn_sheet_line(recount->release, row));
}

/* --- Reading --------------------------------------------------------------------------------------------------- */

static bool is_released(kn_role role)
{
    return role == KN_ROLE_QUASI || role == KN_ROLE_SENSITIVE || role == KN_ROLE_INSENSITIVE;
}

static bool wants_original(const void *context, uint32_t index, const char *name)
{
    const kn_verify_request *request = context;
    if (index >= request->n_columns) return false;
    const kn_verify_column *column = &request->columns[index];
    return is_released(column->role) || (column->is_person && request->order != NULL);
}

static uint32_t person_column(const kn_verify_request *request)
{
    for (uint32_t c = 0; c < request->n_columns; c++)
        if (request->columns[c].is_person) return c;
    return KN_NONE;
}

/* Equal for equal persons: a number in another spelling, or another way to say that it is missing, is the same. */
static uint64_t person_fingerprint(const void *context, const char *bytes, size_t n_bytes)
{
    const kn_verify_request *request = context;
    kn_reading reading = {.type = request->columns[person_column(request)].type,
                          .null_values = request->null_values,
                          .n_null_values = request->n_null_values};
    char canonical[KN_CANONICAL_BYTES];
    double number;
    size_t n_digits = 0;
    if (reading.type == KN_TYPE_DATE) reading.type = KN_TYPE_TEXT; /* identity by bytes is as good */
    if (kn_text_is_missing(&reading, bytes, n_bytes)) return 0;
    while (n_digits < n_bytes && bytes[n_digits] >= '0' && bytes[n_digits] <= '9') n_digits++;
    if (n_digits == n_bytes && n_bytes < 40 && bytes[0] != '0' && bytes[n_bytes - 1] != '0' &&
        (reading.type == KN_TYPE_INT || reading.type == KN_TYPE_DECIMAL)) { /* its canonical text without the trouble */
        canonical[0] = '+';
        memcpy(canonical + 1, bytes, n_bytes);
        memcpy(canonical + 1 + n_bytes, "e0", 2);
        return kn_hash_bytes(canonical, n_bytes + 3);
    }
    if (kn_text_read(&number, canonical, &reading, bytes, n_bytes) == KN_TEXT_NUMBER)
        return kn_hash_bytes(canonical, strlen(canonical));
    return kn_hash_bytes(bytes, n_bytes);
}

static bool wants_release(const void *context, uint32_t index, const char *name)
{
    const kn_verify_request *request = context;
    if (request->no_header) return true;
    for (size_t c = 0; c < request->n_columns; c++)
        if (is_released(request->columns[c].role) && strcmp(request->columns[c].name, name) == 0) return true;
    return false;
}

/* --- Columns --------------------------------------------------------------------------------------------------- */

/* Where the request's columns are in the files: by name, or by place where the files have no header. */
static kn_status place_released(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    uint32_t place = 0;
    KN_NEW(recount->in_release, request->n_columns);
    KN_NEW(recount->qis, request->n_columns);
    recount->has_all_qis = true;
    for (uint32_t c = 0; c < request->n_columns; c++) {
        recount->in_release[c] = KN_NONE;
        if (!is_released(request->columns[c].role)) continue;
        if (!request->no_header) recount->in_release[c] = kn_sheet_find(recount->release, request->columns[c].name);
        else if (place < recount->release->n_columns) recount->in_release[c] = place++;
        if (request->columns[c].role != KN_ROLE_QUASI) continue;
        recount->qis[recount->n_qis++] = c;
        recount->has_all_qis &= recount->in_release[c] != KN_NONE;
    }
done:
    return status;
}

/* What is wrong with the released columns, or nothing. Their order is known only with the original. */
static void describe_columns(kn_buffer *problem, const kn_recount *recount)
{
    const kn_verify_request *request = recount->request;
    const kn_sheet *release = recount->release;
    uint32_t n_expected = 0, last = KN_NONE;
    for (uint32_t c = 0; c < request->n_columns; c++) {
        if (!is_released(request->columns[c].role)) continue;
        n_expected++;
        uint32_t at = recount->in_release[c];
        if (at == KN_NONE) {
            kn_buffer_printf(problem, "column '%.40s' is missing; ", request->columns[c].name);
            continue;
        }
        if (recount->original != NULL && last != KN_NONE && at < last)
            kn_buffer_printf(problem, "column '%.40s' is not where the original has it; ", request->columns[c].name);
        last = at;
    }
    for (uint32_t at = 0; at < release->n_columns && !request->no_header; at++) {
        const char *name = release->columns[at].name;
        if (!wants_release(request, at, name)) kn_buffer_printf(problem, "column '%.40s' should not be there; ", name);
        else if (kn_sheet_find(release, name) != at) kn_buffer_printf(problem, "column '%.40s' is there twice; ", name);
    }
    if (problem->n == 0 && release->n_columns != n_expected)
        kn_buffer_printf(problem, "%u columns where %u are expected; ", release->n_columns, n_expected);
    if (problem->n >= 2 && !problem->failed) problem->bytes[problem->n -= 2] = '\0';
}

static kn_status check_columns(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer problem = {0};
    describe_columns(&problem, recount);
    if (problem.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (problem.n > 0)
        KN_TRY(kn_recount_note(recount, KN_CHECK_COLUMNS, KN_CHECK_BROKEN, NAN, err, "%s", problem.bytes));
    else
        KN_TRY(kn_recount_note(recount, KN_CHECK_COLUMNS, KN_CHECK_HOLDS, NAN, err, "%u columns%s",
                               recount->release->n_columns,
                               recount->request->no_header ? "; only their number is checked, the file has no header"
                               : recount->original == NULL ? "; their order is not checked without the original"
                                                           : ", in the original's order"));
done:
    kn_buffer_free(&problem);
    return status;
}

static kn_status check_identifiers(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    const char *found = NULL;
    kn_role role = KN_ROLE_IDENTIFIER;
    for (size_t c = 0; c < request->n_columns && !request->no_header; c++) {
        if (is_released(request->columns[c].role)) continue;
        if (kn_sheet_find(recount->release, request->columns[c].name) == KN_NONE) continue;
        found = request->columns[c].name;
        role = request->columns[c].role;
        break;
    }
    if (request->no_header)
        KN_TRY(kn_recount_note(recount, KN_CHECK_IDENTIFIERS, KN_CHECK_NOT_MADE, NAN, err, "the file has no header"));
    else if (found != NULL)
        KN_TRY(kn_recount_note(recount, KN_CHECK_IDENTIFIERS, KN_CHECK_BROKEN, NAN, err,
                               "column '%.40s' is %s and must not be in the release", found,
                               role == KN_ROLE_IDENTIFIER ? "an identifier" : "not to be released"));
    else
        KN_TRY(kn_recount_note(recount, KN_CHECK_IDENTIFIERS, KN_CHECK_HOLDS, NAN, err,
                               "no column of the release has the name of an identifier or of a dropped column"));
done:
    return status;
}

/* --- Dictionaries ---------------------------------------------------------------------------------------------- */

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
    recount->readings[c] =
        kn_reading_of(request->columns[c].type, &dates->columns[at], request->null_values, request->n_null_values);
    if (recount->original == NULL || recount->in_release[c] == KN_NONE) goto done;
    const kn_sheet_column *from = &recount->release->columns[recount->in_release[c]];
    kn_sheet_column *to = &recount->original->columns[at];
    KN_NEW_RAW(recount->to_original[c], from->n_texts);
    for (uint32_t i = 0; i < from->n_texts; i++) {
        size_t n_bytes;
        const char *bytes = kn_text(from, i, &n_bytes);
        if (request->columns[c].role == KN_ROLE_SENSITIVE)
            KN_TRY(kn_text_add(&recount->to_original[c][i], to, bytes, n_bytes, err));
        else recount->to_original[c][i] = kn_text_find(to, bytes, n_bytes);
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

static kn_status make_classes(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(place_released(recount, err));
    if (!recount->has_all_qis) goto done;
    KN_NEW(recount->keys, recount->n_qis);
    for (size_t q = 0; q < recount->n_qis; q++) recount->keys[q].column = recount->in_release[recount->qis[q]];
    KN_TRY(kn_row_groups_make(&recount->classes, recount->release, recount->keys, recount->n_qis, err));
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

/* Persons of each class. Rows without a person count as one person: too few rather than too many; so would two persons
 * whose fingerprints met. */
static kn_status count_persons(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *persons = NULL;
    uint32_t largest = 0, person = person_column(recount->request);
    if (person == KN_NONE || recount->classes == NULL) goto done;
    if (recount->original == NULL || recount->order == NULL) {
        recount->persons_reason = recount->original == NULL ? "the original is not given"
                                                            : "which original row a released row was is not known";
        goto done;
    }
    const kn_row_groups *classes = recount->classes;
    for (uint32_t g = 0; g < classes->n_groups; g++)
        if (classes->group_rows[g] > largest) largest = classes->group_rows[g];
    KN_NEW_RAW(persons, largest);
    KN_NEW(recount->class_persons, classes->n_groups);
    for (uint32_t g = 0; g < classes->n_groups; g++) {
        const uint32_t *rows = recount->class_rows + recount->class_start[g];
        for (uint32_t i = 0; i < classes->group_rows[g]; i++)
            persons[i] = kn_sheet_fingerprint(&recount->original->columns[person], recount->order[rows[i]]);
        recount->class_persons[g] = count_distinct(persons, classes->group_rows[g]);
    }
done:
    kn_free(persons);
    return status;
}

/* --- Suppressed rows ------------------------------------------------------------------------------------------- */

/* Can * in every QI also be a class that was generalized to the top? */
static bool star_is_a_root(const kn_recount *recount)
{
    for (size_t q = 0; q < recount->n_qis; q++) {
        const kn_domain *domain = recount->request->columns[recount->qis[q]].domain;
        size_t n_bytes;
        if (domain == NULL || domain->kind == KN_DOMAIN_SETS) continue;
        if (domain->kind == KN_DOMAIN_RANGES) { /* all values are an interval, unless one of them is missing */
            if (domain->missing == KN_NONE) return false;
            continue;
        }
        const char *label = kn_tree_label(domain->tree, domain->tree->root, &n_bytes);
        if (n_bytes != 1 || label[0] != '*') return false;
    }
    return true;
}

static uint64_t rows_suppressed(const kn_recount *recount)
{
    return recount->suppressed_class != KN_NONE ? recount->classes->group_rows[recount->suppressed_class] : 0;
}

static uint64_t rows_removed(const kn_recount *recount)
{
    if (recount->original == NULL || recount->original->n_rows < recount->release->n_rows) return 0;
    return recount->original->n_rows - recount->release->n_rows;
}

static kn_status check_suppressed(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    unsigned long long stars = rows_suppressed(recount), removed = rows_removed(recount);
    long long limit = recount->request->max_suppressed;
    const char *without = recount->original == NULL ? "; removed rows cannot be counted without the original" : "";
    kn_check_state state = KN_CHECK_HOLDS;
    if (limit < 0) {
        KN_TRY(kn_recount_note(recount, KN_CHECK_SUPPRESSED, KN_CHECK_NOT_MADE, NAN, err,
                               "no limit is given; %llu rows have * everywhere, %llu are removed%s", stars, removed,
                               without));
        goto done;
    }
    if ((long long)(stars + removed) > limit) state = KN_CHECK_BROKEN;
    if (state == KN_CHECK_BROKEN && (long long)removed <= limit && star_is_a_root(recount)) {
        KN_TRY(
            kn_recount_note(recount, KN_CHECK_SUPPRESSED, KN_CHECK_NOT_MADE, NAN, err,
                            "%llu rows have * everywhere, more than the limit of %lld, but * is also the most general "
                            "value of every quasi-identifier: the file does not tell suppressed rows from such a class",
                            stars, limit));
        goto done;
    }
    KN_TRY(kn_recount_note(recount, KN_CHECK_SUPPRESSED, state, NAN, err,
                           "%llu rows with * everywhere and %llu removed, at most %lld allowed%s", stars, removed,
                           limit, without));
done:
    return status;
}

/* --- Files ----------------------------------------------------------------------------------------------------- */

typedef struct reading_job {
    kn_recount *recount;
    const char **all_names, **released_names;
    size_t n_released;
} reading_job;

static bool is_utf8(const char *text, size_t n_bytes)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + n_bytes;
    while (at < end) {
        int more = *at < 0x80                  ? 0
                   : *at >= 0xc2 && *at < 0xe0 ? 1
                   : (*at & 0xf0) == 0xe0      ? 2
                   : *at >= 0xf0 && *at < 0xf5 ? 3
                                               : -1;
        if (more < 0 || end - at <= more) return false;
        for (at++; more > 0; more--, at++)
            if ((*at & 0xc0) != 0x80) return false;
    }
    return true;
}

static bool all_utf8(const kn_sheet *cells)
{
    for (uint32_t c = 0; c < cells->n_columns; c++) {
        if (!is_utf8(cells->columns[c].name, strlen(cells->columns[c].name))) return false;
        for (uint32_t i = 0; cells->columns[c].stored && i < cells->columns[c].n_texts; i++) {
            size_t n_bytes;
            const char *bytes = kn_text(&cells->columns[c], i, &n_bytes);
            if (!is_utf8(bytes, n_bytes)) return false;
        }
    }
    return true;
}

/* The original is the larger file: meanwhile the classes of the release are made. */
static kn_status read_file(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    reading_job *files = context;
    const kn_verify_request *request = files->recount->request;
    kn_sheet_options options = {.delimiter = request->delimiter,
                                .no_header = request->no_header,
                                .trim = request->trim,
                                .fingerprint_column = KN_NONE,
                                .context = request,
                                .ticker = request->ticker};
    if (job == 0) {
        options.path = request->release_path;
        options.name = request->release_name != NULL ? request->release_name : request->release_path;
        options.wants = wants_release;
        options.expected = files->released_names;
        options.n_expected = files->n_released;
        KN_TRY(kn_sheet_read(&files->recount->release, &options, err));
        if (request->latin1 && !all_utf8(files->recount->release)) { /* not ours: in the original's encoding */
            kn_sheet_free(files->recount->release);
            options.latin1 = true;
            KN_TRY(kn_sheet_read(&files->recount->release, &options, err));
        }
        if (files->recount->release->problem == NULL) KN_TRY(make_classes(files->recount, err));
    } else {
        options.path = options.name = request->original_path;
        options.latin1 = request->latin1;
        options.wants = wants_original;
        if (request->order != NULL) options.fingerprint_column = person_column(request);
        if (options.fingerprint_column != KN_NONE) options.fingerprint = person_fingerprint;
        options.expected = files->all_names;
        options.n_expected = request->n_columns;
        KN_TRY(kn_sheet_read(&files->recount->original, &options, err));
    }
done:
    return status;
}

static kn_status check_original(const kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    const kn_sheet *original = recount->original;
    if (original->problem != NULL) KN_FAIL(KN_INPUT, "%s", original->problem);
    if (original->n_columns != request->n_columns)
        KN_FAIL(KN_INPUT, "%s has %u columns where %zu are expected", request->original_path, original->n_columns,
                request->n_columns);
    for (uint32_t c = 0; c < request->n_columns; c++)
        if (strcmp(original->columns[c].name, request->columns[c].name) != 0)
            KN_FAIL(KN_INPUT, "%s: column %u is '%.40s', expected '%.40s'", request->original_path, c + 1,
                    original->columns[c].name, request->columns[c].name);
done:
    return status;
}

static kn_status read_files(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    reading_job files = {.recount = recount};
    KN_NEW(files.all_names, request->n_columns);
    KN_NEW(files.released_names, request->n_columns);
    for (size_t c = 0; c < request->n_columns; c++) {
        files.all_names[c] = request->columns[c].name;
        if (is_released(request->columns[c].role)) files.released_names[files.n_released++] = request->columns[c].name;
    }
    KN_TRY(kn_pool_run(request->pool, request->original_path != NULL ? 2 : 1, read_file, &files, err));
    if (recount->original != NULL) KN_TRY(check_original(recount, err));
done:
    kn_free(files.all_names);
    kn_free(files.released_names);
    return status;
}

/* --- The verdict ----------------------------------------------------------------------------------------------- */

static kn_status check_release(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    const char *why = "the original is not given";
    KN_NEW(recount->in_original, request->n_columns);
    for (uint32_t c = 0; c < request->n_columns; c++)
        recount->in_original[c] = recount->original != NULL && recount->original->columns[c].stored ? c : KN_NONE;
    KN_TRY(check_columns(recount, err));
    KN_TRY(check_identifiers(recount, err));
    KN_NEW(recount->to_original, request->n_columns);
    KN_NEW(recount->readings, request->n_columns);
    KN_TRY(kn_pool_run(request->pool, request->n_columns, match_dictionary, recount, err));
    if (recount->original != NULL) {
        KN_TRY(kn_recount_compare(recount, err));
    } else {
        KN_TRY(kn_recount_note(recount, KN_CHECK_ROWS, KN_CHECK_NOT_MADE, NAN, err, "%s", why));
        KN_TRY(kn_recount_note(recount, KN_CHECK_COPIES, KN_CHECK_NOT_MADE, NAN, err, "%s", why));
        KN_TRY(kn_recount_note(recount, KN_CHECK_VALUES, KN_CHECK_NOT_MADE, NAN, err, "%s", why));
    }
    KN_TRY(check_suppressed(recount, err));
    KN_TRY(count_persons(recount, err));
    KN_TRY(kn_recount_models(recount, err));
done:
    return status;
}

static kn_status run_checks(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(read_files(recount, err));
    if (recount->release->problem != NULL) {
        KN_TRY(kn_recount_note(recount, KN_CHECK_TABLE, KN_CHECK_BROKEN, NAN, err, "%s", recount->release->problem));
        goto done;
    }
    KN_TRY(kn_recount_note(recount, KN_CHECK_TABLE, KN_CHECK_HOLDS, NAN, err, "%u rows, %u columns",
                           recount->release->n_rows, recount->release->n_columns));
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
    *verdict = (kn_verdict){.holds = true,
                            .n_checks = recount->checks.n,
                            .checks = recount->checks.items,
                            .n_rows = recount->release->n_rows,
                            .n_classes = classes != NULL ? classes->n_groups : 0};
    recount->checks.items = NULL;
    recount->checks.n = 0;
    for (size_t i = 0; i < verdict->n_checks; i++) verdict->holds &= verdict->checks[i].state != KN_CHECK_BROKEN;
    for (uint32_t g = 0; classes != NULL && g < classes->n_groups; g++) {
        uint32_t size = recount->class_persons != NULL ? recount->class_persons[g] : classes->group_rows[g];
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
    kn_row_groups_free(recount->classes);
    kn_free(recount->class_start);
    kn_free(recount->class_rows);
    kn_free(recount->class_persons);
    for (size_t i = 0; i < recount->checks.n; i++) kn_free(recount->checks.items[i].detail);
    kn_free(recount->checks.items);
    kn_sheet_free(recount->release);
    kn_sheet_free(recount->original);
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

void kn_verdict_free(kn_verdict *verdict)
{
    if (verdict == NULL) return;
    for (size_t i = 0; i < verdict->n_checks; i++) kn_free(verdict->checks[i].detail);
    kn_free(verdict->checks);
    kn_free(verdict);
}
