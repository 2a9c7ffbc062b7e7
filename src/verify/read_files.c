/* The files of a request as sheets: the release, the original with what is derived from it, and the values of the whole
 * table where the original is a part. Release and original are read at the same time, one job each; see sheet.c. */
#include "verify/released_bounds.h"

#include "base/hash.h"

#include <string.h>

/* --- What is read of a file ------------------------------------------------------------------------------------ */

static bool wants_original(const void *context, uint32_t index, const char *name)
{
    const kn_verify_request *request = context;
    if (index >= request->n_columns) return false;
    const kn_verify_column *column = &request->columns[index];
    return kn_verify_is_released(column->role) || column->is_person || column->is_count || column->is_person_count ||
           kn_derives_from(request, column->name);
}

/* Equal for equal persons: a number in another spelling, or another way to say that it is missing, is the same. */
static uint64_t person_fingerprint(const void *context, const char *bytes, size_t n_bytes)
{
    const kn_verify_request *request = context;
    kn_reading reading = {.type = request->columns[kn_verify_person_column(request)].type,
                          .marks = request->columns[kn_verify_person_column(request)].marks,
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
    return kn_verify_column_of_released(request, index, name) != KN_NONE ||
           (!kn_verify_is_unnamed(request) && kn_bounds_is_part(request, name));
}

/* Classes are made of released bytes, blanks too. */
static bool keeps_blanks(const void *context, uint32_t index, const char *name)
{
    const kn_verify_request *request = context;
    uint32_t column = kn_verify_column_of_released(request, index, name);
    return column != KN_NONE && request->columns[column].role == KN_ROLE_QUASI;
}

/* --- The files ------------------------------------------------------------------------------------------------- */

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
                                .null_text = request->n_null_values > 0 ? request->null_values[0] : NULL,
                                .fingerprint_column = KN_NONE,
                                .context = request,
                                .files = request->files,
                                .ticker = request->ticker,
                                .redact = request->redact,
                                .n_threads = kn_pool_threads(request->pool)};
    if (job == 0) {
        options.path = request->release_path;
        options.kind = request->release_kind;
        options.batches = request->release_batches;
        options.only_used = true;
        options.name = request->release_name != NULL ? request->release_name : request->release_path;
        options.wants = wants_release;
        options.keeps_blanks = keeps_blanks;
        options.guarded_names = request->guard_formulas;
        options.expected = files->released_names;
        options.n_expected = files->n_released;
        KN_TRY(kn_sheet_read(&files->recount->release, &options, err));
        if (request->encoding != KN_ENCODING_UTF8 && options.batches == NULL && options.kind == KN_FILE_CSV &&
            !all_utf8(files->recount->release)) { /* not ours: in the original's encoding */
            kn_sheet_free(files->recount->release);
            options.encoding = request->encoding;
            KN_TRY(kn_sheet_read(&files->recount->release, &options, err));
        }
        if (files->recount->release->problem == NULL) KN_TRY(kn_recount_make_classes(files->recount, err));
    } else {
        options.path = request->original_path;
        options.kind = kn_file_kind_of(options.path);
        options.name = strcmp(options.path, "-") == 0 ? "standard input" : options.path;
        options.batches = request->original_batches;
        options.encoding = request->encoding;
        options.wants = wants_original;
        options.fingerprint_column = kn_verify_person_column(request);
        if (options.fingerprint_column != KN_NONE) options.fingerprint = person_fingerprint;
        options.expected = files->all_names;
        options.n_expected = kn_verify_n_file_columns(request);
        KN_TRY(kn_sheet_read(&files->recount->original, &options, err));
    }
done:
    return status;
}

static bool wants_all(const void *context, uint32_t index, const char *name) { return true; }

static kn_status read_domains(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    static const char *const names[] = {"column", "value", "rows"};
    const kn_verify_request *request = recount->request;
    kn_sheet_options options = {.path = request->domains_path,
                                .name = request->domains_path,
                                .trim = request->trim,
                                .encoding = request->encoding,
                                .null_text = request->n_null_values > 0 ? request->null_values[0] : NULL,
                                .fingerprint_column = KN_NONE,
                                .wants = wants_all,
                                .files = request->files,
                                .ticker = request->ticker,
                                .redact = request->redact,
                                .expected = names,
                                .n_expected = 3,
                                .n_threads = kn_pool_threads(request->pool)};
    if (request->domains_path == NULL) return KN_OK;
    options.kind = kn_file_kind_of(options.path);
    KN_TRY(kn_tables_find(&options.batches, request->tables, options.path, err));
    KN_TRY(kn_sheet_read(&recount->domains, &options, err));
    if (recount->domains->problem != NULL) KN_FAIL(KN_INPUT, "%s", recount->domains->problem);
    for (int i = 0; i < 3; i++) {
        recount->in_domains[i] = kn_sheet_find(recount->domains, names[i]);
        if (recount->in_domains[i] == KN_NONE)
            KN_FAIL(KN_INPUT, "%s has no column '%s'", request->domains_path, names[i]);
    }
done:
    return status;
}

static kn_status check_original(const kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    const kn_sheet *original = recount->original;
    char shown[KN_SHOWN_BYTES];
    if (original->problem != NULL) KN_FAIL(KN_INPUT, "%s", original->problem);
    if (original->n_columns != kn_verify_n_file_columns(request))
        KN_FAIL(KN_INPUT, "%s has %u columns where %zu are expected", request->original_path, original->n_columns,
                kn_verify_n_file_columns(request));
    for (uint32_t c = 0; c < original->n_columns; c++)
        if (strcmp(original->columns[c].name, request->columns[c].name) != 0)
            KN_FAIL(KN_INPUT, "%s: column %u is '%.40s', expected '%.40s'", request->original_path, c + 1,
                    request->redact ? "(redacted)" : original->columns[c].name,
                    kn_recount_column_shown(shown, recount, c));
done:
    return status;
}

kn_status kn_recount_read_files(kn_recount *recount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    reading_job files = {.recount = recount};
    KN_NEW(files.all_names, request->n_columns);
    KN_NEW(files.released_names, request->n_columns);
    for (size_t c = 0; c < request->n_columns; c++) {
        files.all_names[c] = request->columns[c].name;
        if (kn_verify_is_released(request->columns[c].role))
            files.released_names[files.n_released++] = request->columns[c].name;
    }
    KN_TRY(kn_pool_run(request->pool, request->original_path != NULL ? 2 : 1, read_file, &files, err));
    if (recount->original != NULL) KN_TRY(check_original(recount, err));
    KN_TRY(read_domains(recount, err));
    if (recount->original != NULL) KN_TRY(kn_sheet_derive(recount->original, request, err));
done:
    kn_free(files.all_names);
    kn_free(files.released_names);
    return status;
}
