/* Delimiter detection and column names, the plain way: only the beginning of a file comes here. */
#include "source/csv/csv_header.h"

#include "base/formula.h"
#include "source/source.h"
#include "source/utf8.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SAMPLE_RECORDS = 1000 };

typedef struct candidate {
    char delimiter;
    uint32_t n_cells;    /* of the first record */
    uint32_t n_matching; /* records with as many cells */
    uint32_t n_records;
} candidate;

static candidate try_delimiter(const char *text, size_t n_bytes, kn_csv_dialect dialect)
{
    candidate c = {.delimiter = dialect.delimiter};
    for (size_t at = 0, n_record; at < n_bytes && c.n_records < SAMPLE_RECORDS; at += n_record) {
        kn_csv_fault fault;
        uint32_t n_cells = kn_csv_record(text + at, n_bytes - at, dialect, NULL, 0, &n_record, &fault);
        if (fault.kind != KN_CSV_FINE) {
            c.n_records++; /* this delimiter leaves text behind a quote: one record that does not match */
            break;
        }
        if (n_record == 0) break;
        bool blank = n_record <= 2 && (text[at] == '\n' || text[at] == '\r');
        if (blank && c.n_records > 0) continue;
        if (c.n_records++ == 0) c.n_cells = n_cells;
        c.n_matching += n_cells == c.n_cells;
    }
    return c;
}

/* Where commas and others part the records alike, the commas are those of numbers and of texts: `Alter;Größe, cm` above
 * `30;180,5`. */
static bool is_better(const candidate *a, const candidate *b)
{
    uint64_t share_a = (uint64_t)a->n_matching * b->n_records, share_b = (uint64_t)b->n_matching * a->n_records;
    if (share_a != share_b) return share_a > share_b;
    if (a->n_records > 1 && (a->delimiter == ',') != (b->delimiter == ',')) return b->delimiter == ',';
    return a->n_cells > b->n_cells;
}

char kn_csv_detect_delimiter(const char *text, size_t n_bytes, bool trim)
{
    static const char delimiters[] = {',', ';', '\t', '|'};
    candidate best = {.delimiter = ','};
    for (size_t i = 0; i < sizeof delimiters; i++) {
        candidate c = try_delimiter(text, n_bytes, (kn_csv_dialect){delimiters[i], trim});
        if (c.n_cells >= 2 && (best.n_cells == 0 || is_better(&c, &best))) best = c;
    }
    return best.delimiter;
}

size_t kn_csv_separator_line(char *delimiter, const char *text, size_t n_bytes)
{
    static const char begin[] = "sep=";
    const size_t n = sizeof begin - 1;
    if (n_bytes < n + 2 || strncasecmp(text, begin, n) != 0 || strchr("\"\r\n", text[n]) != NULL) return 0;
    const bool two = n_bytes > n + 2 && text[n + 1] == '\r' && text[n + 2] == '\n';
    if (!two && text[n + 1] != '\n') return 0;
    *delimiter = text[n];
    return n + (two ? 3 : 2);
}

static kn_status refuse_record(const kn_csv_fault *fault, const char *text, const char *source, kn_error *err)
{
    uint32_t line = 1;
    for (size_t i = 0; i < fault->at; i++) line += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
    if (fault->kind == KN_CSV_AFTER_QUOTE)
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = source, .line = line),
                               "%s:%u: column %u: text after a closing quote; write quotes inside a quoted cell twice",
                               source, line, fault->column + 1);
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = source, .line = line),
        "%s:%u: column %u: the quote that opens here is never closed; close it, or, if it belongs to the "
        "name, write it twice and the name in quotes",
        source, line, fault->column + 1);
}

static bool is_blank(const char *name) { return name[strspn(name, " \t")] == '\0'; }

/* By its place. R and pandas write row names and numbers as a first column without a name, spreadsheets empty last
 * ones.
 */
static char *name_by_place(uint32_t column, kn_error *err)
{
    char name[32];
    int n_bytes = snprintf(name, sizeof name, "column%u", column + 1);
    return kn_string_copy(name, (size_t)n_bytes, err);
}

static kn_status name_unnamed(kn_csv_header *header, const char *source, kn_error *err)
{
    kn_status status = KN_OK;
    for (uint32_t i = 0; i < header->n_columns; i++) {
        if (!is_blank(header->names[i])) continue;
        kn_free(header->names[i]);
        header->names[i] = name_by_place(i, err);
        if (header->names[i] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        if (header->n_unnamed++ == 0) header->first_unnamed = i;
    }
    if (header->n_unnamed == header->n_columns)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = source, .line = 1),
                   "%s:1: no column has a name; give them names, or use --no-header if the first line is data", source);
done:
    return status;
}

static void unguard(char *name)
{
    size_t n_bytes = strlen(name);
    const char *bytes = kn_formula_unguard(name, &n_bytes);
    memmove(name, bytes, n_bytes + 1);
}

static kn_status set_names(kn_csv_header *header, const char *text, const kn_text_cell *cells,
                           const kn_csv_options *options, const char *source, kn_error *err)
{
    kn_status status = KN_OK;
    bool no_header = options->no_header;
    char where[1024];
    KN_NEW(header->names, header->n_columns);
    for (uint32_t i = 0; i < header->n_columns; i++) {
        const char *given = i < options->n_names ? options->names[i] : NULL;
        header->names[i] = !no_header      ? kn_string_copy(text + cells[i].at, cells[i].n_bytes, err)
                           : given != NULL ? kn_string_copy(given, strlen(given), err)
                                           : name_by_place(i, err);
        if (header->names[i] == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        if (no_header) continue;
        bool quoted = cells[i].at > 0 && text[cells[i].at - 1] == '"';
        if (quoted) header->names[i][kn_csv_unescape(header->names[i], cells[i].n_bytes)] = '\0';
        if (options->guarded_names) unguard(header->names[i]);
    }
    if (!no_header) KN_TRY(name_unnamed(header, source, err));
    snprintf(where, sizeof where, "%s:1", source);
    KN_TRY(kn_error_about(err, kn_names_check(header->names, header->n_columns, where, options->redact, err),
                          KN_PLACE(.file = source, .line = 1)));
done:
    return status;
}

static kn_status check_bytes(const char *text, size_t n_bytes, const kn_text_cell *cells, uint32_t n_cells,
                             const char *source, kn_error *err)
{
    size_t bad = kn_utf8_bad_byte(text, n_bytes);
    uint32_t column = 0;
    if (bad == n_bytes) return KN_OK;
    while (column + 1 < n_cells && cells[column + 1].at <= bad) column++;
    if (text[bad] == '\0')
        return kn_error_set_at(
            err, KN_INPUT, KN_PLACE(.file = source, .line = 1),
            "%s:1: column %u: a NUL byte; this is no text file, or UTF-16 without a byte order mark (then "
            "use --encoding utf-16)",
            source, column + 1);
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = source, .line = 1, .option = "encoding"),
        "%s:1: column %u: byte 0x%02X is not valid UTF-8; convert the file, or use --encoding latin-1", source,
        column + 1, (unsigned)(unsigned char)text[bad]);
}

kn_status kn_csv_header_read(kn_csv_header *out, const char *text, size_t n_bytes, kn_csv_dialect dialect,
                             const kn_csv_options *options, const char *source, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_fault fault;
    kn_text_cell *cells = NULL;
    size_t n_record;
    *out = (kn_csv_header){0};
    if (n_bytes == 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = source), "%s: the file is empty; a table needs at least a header line",
                   source);
    uint32_t n_cells = kn_csv_record(text, n_bytes, dialect, NULL, 0, &n_record, &fault);
    if (fault.kind != KN_CSV_FINE || n_record == 0) KN_TRY(refuse_record(&fault, text, source, err));
    KN_NEW(cells, n_cells);
    kn_csv_record(text, n_bytes, dialect, cells, n_cells, &n_record, &fault);
    KN_TRY(check_bytes(text, n_record, cells, n_cells, source, err));
    out->n_columns = n_cells;
    KN_TRY(set_names(out, text, cells, options, source, err));
    if (!options->no_header) {
        out->n_bytes = n_record;
        for (size_t i = 0; i < n_record; i++)
            out->n_lines += text[i] == '\n' || (text[i] == '\r' && (i + 1 == n_record || text[i + 1] != '\n'));
    }
done:
    kn_free(cells);
    if (status != KN_OK) kn_csv_header_free(out);
    return status;
}

void kn_csv_header_free(kn_csv_header *header)
{
    for (uint32_t i = 0; header->names != NULL && i < header->n_columns; i++) kn_free(header->names[i]);
    kn_free(header->names);
    *header = (kn_csv_header){0};
}
