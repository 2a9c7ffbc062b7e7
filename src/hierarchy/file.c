/* Hierarchy files: one line per leaf, leaf first, root last.
 *
 * In: UTF-8 (a byte order mark is fine), lines ended by LF, CRLF or CR, the last one by nothing if need be. Labels are
 * separated by ';' when one stands outside quotes, otherwise by ','; they are quoted as in CSV: a quote opens only at
 * the start of a label, "" inside quotes is one quote, a quote inside an unquoted label is literal. Empty lines are
 * skipped; blanks belong to the label. Out: paths, to be checked by kn_tree_from_paths.
 *
 * A first line that says so marks a hierarchy made from the data: its labels are then written for the values of
 * released rows, as if it had been made in the same run: intervals whose ends are the first and the last value below
 * them (order, natural), sets, names of groups. Other intervals of numbers and dates stay as they are. The line
 * `# subsets` marks a collection of subsets: behind each value stand the labels that hold it, as many as there are.
 *
 * A value of the data belongs to the leaf with its bytes. Values of number and date columns that are not found so are
 * looked for by value: 1.0 finds the leaf 1. All spellings of a value have one leaf, those in the file too. */
#include "hierarchy/bounds.h"
#include "hierarchy/builders.h"

#include "table/dates.h"
#include "table/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Bytes ----------------------------------------------------------------------------------------------------- */

kn_status kn_paths_read_file(char **bytes, size_t *n_bytes, const char *path, kn_files *files, kn_error *err)
{
    kn_status status = KN_OK;
    KN_VECTOR(char) text = {0};
    struct stat info;
    *bytes = NULL;
    *n_bytes = 0;
    int file = -1;
    KN_TRY(kn_files_open(&file, files, path, err));
    if (file < 0) KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(file, &info) == 0 && S_ISDIR(info.st_mode))
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: cannot be read: it is a folder", path);
    for (;;) {
        KN_RESERVE(&text, 65536);
        ssize_t n = read(file, text.items + text.n, 65535);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: cannot be read: %s", path, strerror(errno));
        if (n == 0) break;
        text.n += (size_t)n;
    }
    text.items[text.n] = '\0';
    *bytes = text.items;
    *n_bytes = text.n;
    text.items = NULL;
done:
    if (file >= 0) close(file);
    kn_free(text.items);
    return status;
}

/* Length of the well-formed UTF-8 character at `bytes`, 0 when there is none (RFC 3629). */
static size_t character_bytes(const unsigned char *bytes, size_t n)
{
    unsigned char lead = bytes[0];
    if (lead < 0x80) return 1;
    size_t length = lead >= 0xC2 && lead <= 0xDF ? 2 : (lead & 0xF0) == 0xE0 ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80) return 0;
    if ((lead == 0xE0 && bytes[1] < 0xA0) || (lead == 0xED && bytes[1] > 0x9F) || (lead == 0xF0 && bytes[1] < 0x90) ||
        (lead == 0xF4 && bytes[1] > 0x8F))
        return 0;
    return length;
}

static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/* ';' when one stands outside quotes. Which separator opens a field is not known yet, so a quote after either opens. */
static char detect_delimiter(const char *bytes, size_t n_bytes)
{
    bool quoted = false, at_start = true;
    for (size_t i = 0; i < n_bytes; i++) {
        char c = bytes[i];
        if (quoted) {
            quoted = c != '"';
            continue;
        }
        if (c == ';') return ';';
        /* a doubled quote closes and opens again: the same as staying inside */
        quoted = c == '"' && (at_start || (i > 0 && bytes[i - 1] == '"'));
        at_start = c == ',' || is_line_end(c);
    }
    return ',';
}

/* --- Lines ----------------------------------------------------------------------------------------------------- */

enum { MAX_LEVELS = 255 };

typedef struct reader {
    const char *bytes;
    size_t n, at;
    uint64_t line; /* of `at` */
    char delimiter;
    kn_buffer label;             /* scratch */
    KN_VECTOR(uint32_t) lengths; /* of subsets: labels per line */
} reader;

/* Steps over one line end: LF, CRLF or CR. */
static void skip_line_end(reader *in)
{
    if (in->bytes[in->at] == '\r' && in->at + 1 < in->n && in->bytes[in->at + 1] == '\n') in->at++;
    in->at++;
    in->line++;
}

static kn_status check_text(const kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    uint64_t line = 1, character = 1;
    if (n_bytes >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0))
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = paths->name),
                               "%s: the hierarchy is UTF-16; save it as UTF-8", paths->name);
    for (size_t i = 0; i < n_bytes; character++) {
        size_t n = character_bytes((const unsigned char *)bytes + i, n_bytes - i);
        if (n == 0)
            return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = paths->name, .line = line),
                                   "%s, line %llu: byte 0x%02X is not UTF-8; save the hierarchy as UTF-8", paths->name,
                                   (unsigned long long)line, (unsigned)(unsigned char)bytes[i]);
        if (bytes[i] == '\0')
            return kn_error_set_at(
                err, KN_INPUT, KN_PLACE(.file = paths->name, .line = line, .character = character),
                "%s, line %llu, character %llu: a NUL byte; this is no text file, or UTF-16: save the "
                "hierarchy as UTF-8",
                paths->name, (unsigned long long)line, (unsigned long long)character);
        if (bytes[i] == '\n' || (bytes[i] == '\r' && (i + 1 == n_bytes || bytes[i + 1] != '\n'))) {
            line++;
            character = 0;
        }
        i += n;
    }
    return KN_OK;
}

/* The rest of a quoted label after its opening quote, to in->label. */
static kn_status read_quoted(reader *in, const kn_paths *paths, kn_error *err)
{
    uint64_t start = in->line;
    for (;;) {
        if (in->at == in->n)
            return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = paths->name, .line = start),
                                   "%s, line %llu: a quoted label is never closed; add the missing \"", paths->name,
                                   (unsigned long long)start);
        char c = in->bytes[in->at];
        if (c == '"' && in->at + 1 < in->n && in->bytes[in->at + 1] == '"') {
            kn_buffer_char(&in->label, '"');
            in->at += 2;
        } else if (c == '"') {
            in->at++;
            break;
        } else if (is_line_end(c)) {
            size_t from = in->at;
            skip_line_end(in);
            kn_buffer_append(&in->label, in->bytes + from, in->at - from);
        } else {
            kn_buffer_char(&in->label, c);
            in->at++;
        }
    }
    if (in->at < in->n && in->bytes[in->at] != in->delimiter && !is_line_end(in->bytes[in->at]))
        return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = paths->name, .line = in->line),
                               "%s, line %llu: text after a closing quote; a quote inside a quoted label is "
                               "written twice",
                               paths->name, (unsigned long long)in->line);
    return KN_OK;
}

/* One label into the paths; `column` counts from 1. */
static kn_status read_label(reader *in, kn_paths *paths, uint64_t line, uint32_t column, kn_error *err)
{
    kn_status status = KN_OK;
    const char *label = in->bytes + in->at;
    size_t n = 0;
    if (in->at < in->n && *label == '"') {
        in->at++;
        kn_buffer_clear(&in->label);
        KN_TRY(read_quoted(in, paths, err));
        if (in->label.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        label = in->label.bytes;
        n = in->label.n;
    } else {
        while (in->at < in->n && in->bytes[in->at] != in->delimiter && !is_line_end(in->bytes[in->at])) in->at++;
        n = (size_t)(in->bytes + in->at - label);
    }
    if (n == 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name, .line = line),
                   "%s, line %llu: label %u is empty; every line needs a label for each level, without a '%c' at its "
                   "end",
                   paths->name, (unsigned long long)line, column, in->delimiter);
    KN_TRY(kn_paths_push_label(paths, label, n, err));
done:
    return status;
}

static kn_status read_line(reader *in, kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t line = in->line;
    uint32_t n_labels = 0;
    for (;;) {
        if (n_labels == MAX_LEVELS)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name, .line = line), "%s, line %llu: more than %d labels",
                       paths->name, (unsigned long long)line, MAX_LEVELS);
        KN_TRY(read_label(in, paths, line, ++n_labels, err));
        if (in->at == in->n || is_line_end(in->bytes[in->at])) break;
        in->at++; /* the delimiter */
    }
    if (in->at < in->n) skip_line_end(in);
    if (paths->is_subsets) {
        KN_PUSH(&in->lengths, n_labels);
        KN_PUSH(&paths->lines, line);
        goto done;
    }
    if (paths->n_levels == 0) paths->n_levels = n_labels;
    if (n_labels != paths->n_levels)
        KN_FAIL_AT(
            KN_INPUT, KN_PLACE(.file = paths->name, .line = line),
            "%s, line %llu: %u label%s, but line %llu has %u; all lines must have the same number: repeat a label "
            "where a branch is shorter",
            paths->name, (unsigned long long)line, n_labels, n_labels == 1 ? "" : "s",
            (unsigned long long)paths->lines.items[0], paths->n_levels);
    KN_PUSH(&paths->lines, line);
done:
    return status;
}

/* Lines of equal length, as kn_paths.is_subsets says. The label * is everything wherever it stands. */
static kn_status fill_up(reader *in, kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    KN_VECTOR(uint32_t) cells = {0};
    uint32_t longest = 1, star;
    for (size_t row = 0; row < in->lengths.n; row++)
        if (in->lengths.items[row] > longest) longest = in->lengths.items[row];
    KN_TRY(kn_paths_label(&star, paths, "*", 1, err));
    for (size_t row = 0, at = 0; row < in->lengths.n; at += in->lengths.items[row++]) {
        uint32_t last = paths->cells.items[at];
        for (uint32_t l = 0; l < longest; l++) {
            const bool is_label = l < in->lengths.items[row] && (l == 0 || paths->cells.items[at + l] != star);
            if (is_label) last = paths->cells.items[at + l];
            KN_PUSH(&cells, last);
        }
        KN_PUSH(&cells, star);
    }
    kn_free(paths->cells.items);
    paths->cells.items = cells.items;
    paths->cells.n = cells.n;
    paths->cells.capacity = cells.capacity;
    cells.items = NULL;
    paths->n_levels = longest + 1;
done:
    kn_free(cells.items);
    return status;
}

static bool begins_with(const char *bytes, size_t n_bytes, const char *line)
{
    return n_bytes >= strlen(line) && memcmp(bytes, line, strlen(line)) == 0;
}

kn_status kn_paths_parse(kn_paths *paths, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    if (n_bytes >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        n_bytes -= 3;
    }
    reader in = {.bytes = bytes, .n = n_bytes, .line = 1, .delimiter = detect_delimiter(bytes, n_bytes)};
    KN_TRY(check_text(paths, bytes, n_bytes, err));
    const size_t n_mark = strlen(KN_SUBSETS_LINE);
    paths->made_from_data = begins_with(bytes, n_bytes, KN_MADE_FROM_DATA);
    paths->is_subsets =
        begins_with(bytes, n_bytes, KN_SUBSETS_LINE) && (n_bytes == n_mark || is_line_end(bytes[n_mark]));
    const bool is_marked = paths->made_from_data || paths->is_subsets;
    while (is_marked && in.at < in.n && !is_line_end(in.bytes[in.at])) in.at++;
    while (in.at < in.n) {
        if (is_line_end(in.bytes[in.at])) skip_line_end(&in);
        else KN_TRY(read_line(&in, paths, err));
        if (paths->lines.n >= KN_NONE / 2) KN_FAIL(KN_RESOURCES, "%s: more than 2^31 lines", paths->name);
    }
    if (paths->is_subsets) KN_TRY(fill_up(&in, paths, err));
done:
    kn_buffer_free(&in.label);
    kn_free(in.lengths.items);
    return status;
}

/* --- Values of the data ---------------------------------------------------------------------------------------- */

typedef struct numbered_label {
    double number;
    uint32_t label;
} numbered_label;

static int by_number(const void *a, const void *b)
{
    const numbered_label *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->label > y->label) - (x->label < y->label); /* the first in the file wins */
}

/* What a label means in a column of this type; false: no number, no date. Of dates only the forms that cannot be
 * mistaken for one another. */
static bool label_number(double *out, kn_type type, const char *bytes, size_t n_bytes)
{
    kn_moment moment;
    kn_decimal decimal;
    if (type != KN_TYPE_DATE) {
        if (kn_decimal_parse(&decimal, bytes, n_bytes, true) == KN_NUMBER_NONE) return false;
        *out = kn_decimal_double(&decimal);
        return true;
    }
    if (!kn_date_parse(&moment, bytes, n_bytes, KN_DATE_CLEAR)) return false;
    *out = kn_moment_number(&moment);
    return true;
}

/* The leaves that are numbers, by value. */
static kn_status number_leaves(numbered_label **out, size_t *n_out, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_paths *paths = &build->paths;
    numbered_label *leaves = NULL;
    size_t n_leaves = 0;
    *out = NULL;
    *n_out = 0;
    if (build->column->number == NULL) goto done;
    KN_NEW_RAW(leaves, kn_paths_rows(paths));
    for (uint32_t r = 0; r < kn_paths_rows(paths); r++) {
        uint32_t label = paths->cells.items[(size_t)r * paths->n_levels];
        size_t n;
        const char *bytes = kn_paths_bytes(paths, label, &n);
        double number;
        if (label_number(&number, build->column->type, bytes, n)) leaves[n_leaves++] = (numbered_label){number, label};
    }
    qsort(leaves, n_leaves, sizeof *leaves, by_number);
    *out = leaves;
    *n_out = n_leaves;
done:
    return status;
}

/* Long numbers may share a double and still differ. */
static bool same_number(const kn_build *build, uint32_t value, uint32_t label)
{
    kn_decimal a, b;
    size_t n_a, n_b;
    const char *bytes_a = kn_build_value(build, value, &n_a), *bytes_b = kn_paths_bytes(&build->paths, label, &n_b);
    return build->column->type == KN_TYPE_DATE ||
           (kn_decimal_parse(&a, bytes_a, n_a, true) != KN_NUMBER_NONE &&
            kn_decimal_parse(&b, bytes_b, n_b, true) != KN_NUMBER_NONE && kn_decimal_compare(&a, &b) == 0);
}

/* Which row a leaf's label stands in first. */
static kn_status leaf_rows(uint32_t **out, const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(*out, paths->ends.n);
    for (uint32_t r = kn_paths_rows(paths); r-- > 0;) (*out)[paths->cells.items[(size_t)r * paths->n_levels]] = r;
done:
    return status;
}

static bool labels_are_one_number(const kn_build *build, uint32_t a, uint32_t b)
{
    kn_decimal x, y;
    size_t n_a, n_b;
    const char *bytes_a = kn_paths_bytes(&build->paths, a, &n_a), *bytes_b = kn_paths_bytes(&build->paths, b, &n_b);
    if (build->column->type == KN_TYPE_DATE) return true;
    kn_decimal_parse(&x, bytes_a, n_a, true);
    kn_decimal_parse(&y, bytes_b, n_b, true);
    return kn_decimal_compare(&x, &y) == 0;
}

/* One number is one leaf, however it is spelled: rows with a spelling that comes later go, if they say the same. */
static kn_status merge_spellings(kn_build *build, const numbered_label *leaves, size_t n_leaves, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths *paths = &build->paths;
    const size_t n_levels = paths->n_levels;
    uint32_t *row = NULL, n_kept = 0;
    bool *goes = NULL;
    KN_TRY(leaf_rows(&row, paths, err));
    KN_NEW(goes, paths->ends.n);
    for (size_t i = 1; i < n_leaves; i++)
        for (size_t j = i; j-- > 0 && leaves[j].number == leaves[i].number;) {
            uint32_t first = leaves[j].label, again = leaves[i].label;
            if (first == again || goes[first] || !labels_are_one_number(build, first, again)) continue;
            const uint32_t *above = &paths->cells.items[row[first] * n_levels + 1];
            const uint32_t *other = &paths->cells.items[row[again] * n_levels + 1];
            char here[KN_SHOWN_BYTES], there[KN_SHOWN_BYTES];
            size_t n_here, n_there;
            const char *bytes = kn_paths_bytes(paths, again, &n_here), *known = kn_paths_bytes(paths, first, &n_there);
            if (memcmp(above, other, (n_levels - 1) * sizeof *above) != 0)
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name, .line = paths->lines.items[row[again]]),
                           "%s, line %llu: %s is the same as %s in line %llu, but below another label; one value of "
                           "column %s has one place",
                           paths->name, (unsigned long long)paths->lines.items[row[again]],
                           kn_value_shown(here, bytes, n_here, paths->redact),
                           kn_value_shown(there, known, n_there, paths->redact),
                           (unsigned long long)paths->lines.items[row[first]], build->column->name);
            goes[again] = true;
        }
    for (uint32_t r = 0; r < kn_paths_rows(paths); r++) {
        if (goes[paths->cells.items[r * n_levels]]) continue;
        memmove(&paths->cells.items[n_kept * n_levels], &paths->cells.items[r * n_levels],
                n_levels * sizeof *paths->cells.items);
        paths->lines.items[n_kept++] = paths->lines.items[r];
    }
    paths->cells.n = n_kept * n_levels;
    paths->lines.n = n_kept;
done:
    kn_free(row);
    kn_free(goes);
    return status;
}

static uint32_t find_number(const numbered_label *leaves, size_t n_leaves, const kn_build *build, uint32_t value)
{
    double number = build->column->number[value];
    size_t low = 0, high = n_leaves;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (leaves[middle].number < number) low = middle + 1;
        else high = middle;
    }
    for (; low < n_leaves && leaves[low].number == number; low++)
        if (same_number(build, value, leaves[low].label)) return leaves[low].label;
    return KN_NONE;
}

/* label -> true when it is a leaf: labels of inner nodes share the numbering. */
static kn_status mark_leaves(bool **out, const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(*out, paths->ends.n);
    for (uint32_t r = 0; r < kn_paths_rows(paths); r++) (*out)[paths->cells.items[(size_t)r * paths->n_levels]] = true;
done:
    return status;
}

static uint32_t find_label(const kn_paths *paths, const bool *is_leaf, const char *bytes, size_t n_bytes)
{
    uint32_t id = kn_paths_find(paths, bytes, n_bytes);
    return id != KN_NONE && is_leaf[id] ? id : KN_NONE;
}

/* Values by their bytes: the main spelling first, then the others. */
static void match_bytes(kn_build *build, const bool *is_leaf)
{
    const kn_column *column = build->column;
    for (uint32_t value = 0; value < column->n_values; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        build->label_of_value[value] = find_label(&build->paths, is_leaf, bytes, n);
    }
    for (uint32_t s = 0; column->spelling_value != NULL && s < column->n_spellings; s++) {
        uint32_t *label = &build->label_of_value[column->spelling_value[s]];
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (*label == KN_NONE) *label = find_label(&build->paths, is_leaf, bytes, n);
    }
}

/* The spelling without blanks around it, or with one before it: would --trim, or a cleaner hierarchy, help? */
static bool matches_trimmed(const kn_build *build, const bool *is_leaf, const char *bytes, size_t n_bytes)
{
    size_t n_all = n_bytes;
    while (n_bytes > 0 && (bytes[n_bytes - 1] == ' ' || bytes[n_bytes - 1] == '\t')) n_bytes--;
    while (n_bytes > 0 && (*bytes == ' ' || *bytes == '\t')) {
        bytes++;
        n_bytes--;
    }
    return n_bytes < n_all && find_label(&build->paths, is_leaf, bytes, n_bytes) != KN_NONE;
}

static kn_status report_missing(const kn_build *build, const bool *is_leaf, kn_error *err)
{
    kn_status status = KN_OK;
    char more[64], in[KN_FILE_BYTES];
    uint32_t first = kn_build_first_missing(more, build, build->label_of_value);
    if (first == KN_NONE) return KN_OK;
    size_t n;
    const char *bytes = kn_column_bytes(build->column, first, &n);
    const bool is_trimmed = matches_trimmed(build, is_leaf, bytes, n);
    snprintf(in, sizeof in, "the hierarchy %s", build->paths.name);
    KN_TRY(kn_build_note_lacking(build, build->label_of_value, in,
                                 is_trimmed ? "without the blanks around it the first is: use --trim"
                                            : "add a line for each value there, or correct the data",
                                 err));
    status = kn_build_refuse_value(build, first, err, "is not in %s%s; %s", in, more,
                                   is_trimmed ? "without the blanks around it, it is: use --trim"
                                              : "add a line for it there, or correct the data");
done:
    return status;
}

/* Below the root. The ends of intervals are round, and no set of few numbers tells less. */
static bool labels_are_intervals(const kn_build *build)
{
    const kn_paths *paths = &build->paths;
    for (size_t i = 0; i < paths->cells.n; i++) {
        kn_bounds bounds;
        bool included;
        size_t n;
        const size_t level = i % paths->n_levels;
        if (level == 0 || level + 1 == paths->n_levels) continue;
        const char *label = kn_paths_bytes(paths, paths->cells.items[i], &n);
        if (!kn_bounds_of_text(&bounds, &included, build->column->type, label, n)) return false;
    }
    return build->column->type != KN_TYPE_TEXT;
}

/* Whether the label goes on with this value, as kn_text_members writes it, and where behind it. */
static bool goes_on_with(const char **at, const char *end, const char *value, size_t n_bytes)
{
    for (; n_bytes > 0 && *at < end; value++, n_bytes--) {
        if (**at == '\\' && *at + 1 < end) ++*at;
        if (*(*at)++ != *value) return false;
    }
    return n_bytes == 0;
}

/* first..last */
static bool label_has_ends(const kn_paths *paths, uint32_t label, uint32_t first, uint32_t last)
{
    size_t n, n_first, n_last;
    const char *at = kn_paths_bytes(paths, label, &n), *end = at + n;
    const char *from = kn_paths_bytes(paths, first, &n_first), *to = kn_paths_bytes(paths, last, &n_last);
    if (!goes_on_with(&at, end, from, n_first) || end - at < 2 || at[0] != '.' || at[1] != '.') return false;
    at += 2;
    return goes_on_with(&at, end, to, n_last) && at == end;
}

/* Whether every label below the root stands for neighbouring lines and names the first and the last of them, as those
 * of order() and natural do; only the missing value, in the last line, may be below the root alone. */
static bool labels_are_ends(const kn_paths *paths)
{
    const uint32_t n_rows = kn_paths_rows(paths);
    bool any = false;
    for (uint32_t level = 1; level + 1 < paths->n_levels; level++) {
        for (uint32_t row = 0, past; row < n_rows; row = past) {
            const uint32_t label = kn_paths_at(paths, row, level), leaf = kn_paths_at(paths, row, 0);
            for (past = row + 1; past < n_rows && kn_paths_at(paths, past, level) == label;) past++;
            const bool is_root = label == kn_paths_at(paths, row, paths->n_levels - 1);
            if (past == row + 1 && (label == leaf || (is_root && past == n_rows))) continue;
            if (!label_has_ends(paths, label, leaf, kn_paths_at(paths, past - 1, 0))) return false;
            any = true;
        }
    }
    return any;
}

/* Whether the name of a group that is too large to be written as the set of its values may say some of them. */
static kn_status has_names_of_values(bool *out, const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *n_lines = NULL;
    *out = false;
    KN_NEW(n_lines, paths->ends.n);
    for (size_t i = 0; i < paths->cells.n; i++) {
        const size_t level = i % paths->n_levels;
        const uint32_t label = paths->cells.items[i];
        size_t n;
        if (level == 0 || level + 1 == paths->n_levels || ++n_lines[label] != KN_SMALL_SET + 1) continue;
        const char *bytes = kn_paths_bytes(paths, label, &n);
        *out |= n > 1 && bytes[0] == '{' && bytes[n - 1] == '}';
        for (size_t b = 1; b < n; b++) *out |= bytes[b - 1] == '.' && bytes[b] == '.';
    }
done:
    kn_free(n_lines);
    return status;
}

/* How the labels of a file that was made from the data name values. Where some are names and some say values, all are
 * written as sets. */
static kn_status name_made(kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    bool any;
    KN_TRY(has_names_of_values(&any, &build->paths, err));
    if (labels_are_ends(&build->paths)) build->naming = KN_NAMES_ENDS;
    else if (!labels_are_intervals(build)) build->naming = any ? KN_NAMES_SET : KN_NAMES_GROUP;
done:
    return status;
}

/* What is wrong with a file that cannot be read is its name: the message says for which column it was given, and where.
 */
static kn_status read_lines(char **text, size_t *n_bytes, const kn_build *build, const char *path, kn_error *err)
{
    const char *where = build->request->where;
    kn_status status = kn_paths_read_file(text, n_bytes, path, build->request->files, err);
    if (status != KN_INPUT || err == NULL) return status;
    char file[KN_FILE_BYTES];
    kn_place place;
    const kn_error plain = *err;
    err->message[0] = '\0'; /* the first message would win */
    kn_place_split(&place, file, where);
    if (where == NULL) place.file = path;
    place.option = "hierarchy";
    place.column = build->column->name;
    return kn_error_set_at(err, KN_INPUT, &place, "%s%scolumn %s: hierarchy %s", where != NULL ? where : "",
                           where != NULL ? ": " : "", build->column->name, plain.message);
}

static kn_status match_file(kn_build *build, const char *path, bool must_find_all, kn_error *err)
{
    kn_status status = KN_OK;
    char *text = NULL;
    bool *is_leaf = NULL;
    kn_subsets *subsets = NULL;
    numbered_label *leaves = NULL;
    size_t n_bytes, n_leaves;
    build->paths.name = path;
    const char *lines = build->request->text;
    if (lines == NULL) KN_TRY(read_lines(&text, &n_bytes, build, path, err));
    else n_bytes = build->request->n_text_bytes;
    KN_TRY(kn_paths_parse(&build->paths, lines != NULL ? lines : text, n_bytes, err));
    if (build->paths.made_from_data) {
        build->origin = KN_FROM_DATA;
        KN_TRY(name_made(build, err));
    }
    /* a wrong file comes before what it lacks */
    KN_TRY(build->paths.is_subsets ? kn_subsets_from_paths(&subsets, NULL, &build->paths, err)
                                   : kn_paths_check(&build->paths, err));
    KN_TRY(number_leaves(&leaves, &n_leaves, build, err));
    if (n_leaves > 0) KN_TRY(merge_spellings(build, leaves, n_leaves, err));
    KN_TRY(mark_leaves(&is_leaf, &build->paths, err));
    match_bytes(build, is_leaf);
    for (uint32_t value = 0; value < build->n_present; value++)
        if (build->label_of_value[value] == KN_NONE && n_leaves > 0)
            build->label_of_value[value] = find_number(leaves, n_leaves, build, value);
    if (must_find_all) KN_TRY(report_missing(build, is_leaf, err));
done:
    kn_free(text);
    kn_free(is_leaf);
    kn_free(leaves);
    kn_subsets_free(subsets);
    return status;
}

kn_status kn_build_match_file(kn_build *build, const char *path, kn_error *err)
{
    return match_file(build, path, false, err);
}

kn_status kn_build_file(kn_build *build, const char *path, kn_error *err) { return match_file(build, path, true, err); }
