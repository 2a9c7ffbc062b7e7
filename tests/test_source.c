/* source/ and sink/: the CSV reader against a parser that looks at one character at a time, and files that appear whole
 * or not at all. */
#include "file_support.h"
#include "support.h"

#include "base/buffer.h"
#include "base/pool.h"
#include "source/csv/csv_header.h"
#include "source/csv/csv_read.h"
#include "source/csv/csv_tuning.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <signal.h>

static kn_pool *pools[5];

static int make_folder_and_pools(void **state)
{
    for (unsigned i = 2; i <= 4; i++)
        if (kn_pool_new(&pools[i], i, NULL) != KN_OK) return -1;
    return make_folder(state);
}

static int remove_folder_and_pools(void **state)
{
    for (unsigned i = 2; i <= 4; i++) kn_pool_free(pools[i]);
    return remove_folder(state);
}

/* --- Reading with every cut of the work -------------------------------------------------------------------------- */

typedef struct way {
    unsigned n_threads;
    kn_csv_tuning tuning;
} way;

static const way plain_way = {1, {1 << 20, 4, KN_CSV_SCALAR}};

static way random_way(kn_rng *rng)
{
    static const size_t sizes[] = {1, 2, 3, 7, 16, 40, 64, 100, 333, 1000, 100000};
    way w = {1 + kn_rng_below(rng, 4), {sizes[kn_rng_below(rng, 11)], 1 + kn_rng_below(rng, 4), KN_CSV_SCALAR}};
    kn_csv_kernel best = kn_csv_best_kernel();
    w.tuning.kernel = (kn_csv_kernel)kn_rng_below(rng, (uint32_t)best + 1);
    return w;
}

/* How the files looked that were read last. */
static struct {
    const kn_table *table;
    kn_text_form form;
} forms[8];

static kn_text_form form_of(const kn_table *table)
{
    for (size_t i = 0; i < 8; i++)
        if (forms[i].table == table) return forms[i].form;
    fail_msg("a table that was not read lately");
    return forms[0].form;
}

static void note_form(const kn_table *table, const kn_csv_reader *reader)
{
    memmove(forms + 1, forms, sizeof forms - sizeof *forms);
    forms[0].table = table;
    forms[0].form = kn_csv_form(reader);
}

static kn_status read_path(kn_table **out, const char *path, const kn_csv_options *options, kn_role role, way w,
                           kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_csv_reader *reader = NULL;
    kn_column_plan *plans = NULL;
    *out = NULL;
    KN_TRY(kn_csv_open(&reader, path, options, err));
    kn_csv_tune(reader, &w.tuning);
    KN_NEW(plans, kn_csv_n_columns(reader));
    for (uint32_t i = 0; i < kn_csv_n_columns(reader); i++) plans[i].role = role;
    KN_TRY(kn_csv_read(out, reader, plans, pools[w.n_threads], ticker, err));
    note_form(*out, reader);
done:
    kn_free(plans);
    kn_csv_close(reader);
    return status;
}

static kn_status read_text(kn_table **out, const char *text, size_t n_bytes, const kn_csv_options *options, way w,
                           kn_error *err)
{
    const char *path = path_of("data.csv");
    write_file(path, text, n_bytes);
    return read_path(out, path, options, KN_ROLE_INSENSITIVE, w, NULL, err); /* cells keep their bytes */
}

static const char *cell_of(const kn_table *table, uint32_t row, uint32_t column, size_t *n_bytes)
{
    const kn_column *c = &table->columns[column];
    return kn_column_bytes(c, kn_column_code(c, row), n_bytes);
}

static void assert_cell(const kn_table *table, uint32_t row, uint32_t column, const char *text)
{
    size_t n_bytes;
    const char *bytes = cell_of(table, row, column, &n_bytes);
    if (n_bytes != strlen(text) || memcmp(bytes, text, n_bytes) != 0)
        fail_msg("row %u, column %u: '%.*s', expected '%s'", row, column, (int)n_bytes, bytes, text);
}

static void assert_same_tables(const kn_table *a, const kn_table *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    assert_int_equal(a->n_columns, b->n_columns);
    assert_string_equal(form_of(a).line_end, form_of(b).line_end);
    for (uint32_t i = 0; i < a->n_columns; i++) {
        const kn_column *x = &a->columns[i], *y = &b->columns[i];
        assert_int_equal(x->n_spellings, y->n_spellings);
        assert_int_equal(x->n_values, y->n_values);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->code_bytes, y->code_bytes);
        assert_memory_equal(x->offset, y->offset, (x->n_spellings + 1) * sizeof *x->offset);
        assert_memory_equal(x->bytes, y->bytes, x->offset[x->n_spellings]);
        assert_memory_equal(x->first_line, y->first_line, x->n_spellings * sizeof *x->first_line);
        assert_memory_equal(x->codes, y->codes, (size_t)a->n_rows * x->code_bytes);
    }
}

/* --- The oracle: one character at a time ---------------------------------------------------------------------------
 */

typedef struct oracle {
    KN_VECTOR(char *) cells; /* row by row */
    uint32_t n_columns;
    const char *fault; /* words that the message must have; NULL: fine */
    uint32_t line;
} oracle;

static void oracle_free(oracle *o)
{
    for (size_t i = 0; i < o->cells.n; i++) kn_free(o->cells.items[i]);
    kn_free(o->cells.items);
}

static bool at_line_end(const char *p, const char *end) { return p == end || *p == '\n' || *p == '\r'; }
static bool at_blank(const char *p, const char *end) { return p < end && (*p == ' ' || *p == '\t'); }

static void oracle_push(oracle *o, const char *bytes, size_t n, bool trim)
{
    kn_status status = KN_OK;
    kn_error *err = NULL;
    while (trim && n > 0 && (bytes[0] == ' ' || bytes[0] == '\t')) bytes++, n--;
    while (trim && n > 0 && (bytes[n - 1] == ' ' || bytes[n - 1] == '\t')) n--;
    KN_PUSH(&o->cells, kn_string_copy(bytes, n, NULL));
done:
    assert_int_equal(status, KN_OK);
}

/* One cell; returns where it ends, or NULL after a fault. */
static const char *oracle_cell(oracle *o, const char *p, const char *end, char delimiter, bool trim)
{
    char *cell = malloc((size_t)(end - p) + 1);
    size_t n = 0;
    const char *quote = p;
    while (trim && at_blank(quote, end) && *quote != delimiter) quote++;
    if (quote == end || *quote != '"') {
        while (!at_line_end(p, end) && *p != delimiter) cell[n++] = *p++;
        oracle_push(o, cell, n, trim);
        free(cell);
        return p;
    }
    uint32_t open_line = o->line;
    for (p = quote + 1;; p++) {
        if (p == end) {
            o->fault = "never closed";
            o->line = open_line;
            break;
        }
        if (*p == '"' && (p + 1 == end || p[1] != '"')) {
            p++;
            while (trim && at_blank(p, end) && *p != delimiter) p++;
            if (!at_line_end(p, end) && *p != delimiter) o->fault = "after a closing quote";
            break;
        }
        if (*p == '"') p++;
        if (*p == '\n' || (*p == '\r' && (p + 1 == end || p[1] != '\n'))) o->line++;
        cell[n++] = *p;
    }
    if (o->fault == NULL) oracle_push(o, cell, n, trim);
    free(cell);
    return o->fault == NULL ? p : NULL;
}

static bool only_line_ends(const char *p, const char *end)
{
    while (p < end && (*p == '\n' || *p == '\r')) p++;
    return p == end;
}

/* `text` without its header; the first line is number 2. */
static void oracle_parse(oracle *o, const char *p, const char *end, char delimiter, bool trim)
{
    o->line = 2;
    while (p < end) {
        uint32_t n_cells = 0, start_line = o->line;
        if (o->n_columns > 1 && at_line_end(p, end)) {
            if (only_line_ends(p, end)) return;
            o->fault = "blank line";
            return;
        }
        for (;;) {
            if (n_cells == o->n_columns) {
                o->fault = "cell more";
                return;
            }
            p = oracle_cell(o, p, end, delimiter, trim);
            if (p == NULL) return;
            n_cells++;
            if (at_line_end(p, end)) break;
            p++;
        }
        if (n_cells != o->n_columns) {
            o->fault = "where the header has";
            o->line = start_line;
            return;
        }
        if (p < end && *p == '\r' && p + 1 < end && p[1] == '\n') p++;
        if (p < end) p++;
        o->line++;
    }
}

static void compare_with_oracle(const char *text, size_t n_bytes, size_t n_header, uint32_t n_columns,
                                const kn_csv_options *options, way w)
{
    oracle o = {.n_columns = n_columns};
    kn_table *table;
    kn_error err = {0};
    oracle_parse(&o, text + n_header, text + n_bytes, options->delimiter, options->trim);
    kn_status status = read_text(&table, text, n_bytes, options, w, &err);
    if (o.fault != NULL) {
        char place[64];
        snprintf(place, sizeof place, "data.csv:%u:", o.line);
        if (status != KN_INPUT || strstr(err.message, place) == NULL || strstr(err.message, o.fault) == NULL)
            fail_msg("'%s' (block %zu, %u threads): status %d, '%s', expected %s %s", text, w.tuning.block_bytes,
                     w.n_threads, status, err.message, place, o.fault);
    } else {
        if (status != KN_OK) fail_msg("'%s': %s", text, err.message);
        if ((size_t)table->n_rows * n_columns != o.cells.n)
            fail_msg("'%s' (block %zu): %u rows, expected %zu", text, w.tuning.block_bytes, table->n_rows,
                     o.cells.n / n_columns);
        for (size_t i = 0; i < o.cells.n; i++)
            assert_cell(table, (uint32_t)(i / n_columns), (uint32_t)(i % n_columns), o.cells.items[i]);
    }
    kn_table_free(table);
    oracle_free(&o);
}

static void random_texts_are_read_as_one_character_at_a_time_says(void **state)
{
    static const char *const headers[] = {"h\n", "h,i\r\n", "h,i,j\r"};
    kn_rng rng = kn_rng_new(1, 0);
    char text[700];
    for (int round = 0; round < 6000; round++) {
        uint32_t n_columns = 1 + kn_rng_below(&rng, 3);
        const char *header = headers[n_columns - 1];
        size_t n = strlen(header), limit = n + kn_rng_below(&rng, round % 10 == 0 ? 500 : 24);
        memcpy(text, header, n);
        /* Few alphabets reach a valid table often; others are nothing but trouble. */
        const char *alphabet = kn_rng_below(&rng, 2) ? "ab\"\",,\n\n\r " : "aaaabbb,,\n\"";
        size_t n_alphabet = strlen(alphabet);
        if (header[n - 1] == '\r') text[n++] = 'x';
        while (n < limit) text[n++] = alphabet[kn_rng_below(&rng, (uint32_t)n_alphabet)];
        text[n] = '\0';
        kn_csv_options options = {.delimiter = ',', .trim = kn_rng_below(&rng, 4) == 0};
        compare_with_oracle(text, n, strlen(header), n_columns, &options, random_way(&rng));
    }
}

/* --- Round trips -------------------------------------------------------------------------------------------------- */

static const char *const pieces[] = {"a",    "b",  "7",  ",", ";", "\"",       "\n",
                                     "\r\n", "\r", " ",  "'", "-", "0",        "x",
                                     "\t",   "|",  "\\", "é", "ü", "\xC2\xA7", "long text here"};
enum { N_PIECES = sizeof pieces / sizeof *pieces };

static void random_cell(kn_buffer *cell, kn_rng *rng, bool wide)
{
    kn_buffer_clear(cell);
    kn_buffer_append(cell, "", 0);
    for (uint32_t n = kn_rng_below(rng, 5); n > 0; n--) kn_buffer_text(cell, pieces[kn_rng_below(rng, N_PIECES)]);
    if (wide && kn_rng_below(rng, 3) == 0)
        kn_buffer_text(cell, kn_rng_below(rng, 2) ? "\xE2\x82\xAC" : "\xF0\x9F\x98\x80");
}

static void append_quoted(kn_buffer *out, const char *cell, char delimiter, kn_rng *rng)
{
    bool needed = strpbrk(cell, "\"\r\n") != NULL || strchr(cell, delimiter) != NULL;
    if (!needed && kn_rng_below(rng, 3) != 0) {
        kn_buffer_text(out, cell);
        return;
    }
    kn_buffer_char(out, '"');
    for (; *cell != '\0'; cell++) {
        if (*cell == '"') kn_buffer_char(out, '"');
        kn_buffer_char(out, *cell);
    }
    kn_buffer_char(out, '"');
}

static uint32_t next_point(const char **p)
{
    const unsigned char *u = (const unsigned char *)*p;
    int n = u[0] < 0x80 ? 1 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    uint32_t point = n == 1 ? u[0] : u[0] & (0x7Fu >> n);
    for (int i = 1; i < n; i++) point = point << 6 | (u[i] & 63);
    *p += n;
    return point;
}

static void put_unit(kn_buffer *out, uint32_t unit, bool big_endian)
{
    kn_buffer_char(out, (char)(big_endian ? unit >> 8 : unit & 255));
    kn_buffer_char(out, (char)(big_endian ? unit & 255 : unit >> 8));
}

/* 0 UTF-8, 1 UTF-8 with mark, 2 UTF-16 little, 3 UTF-16 big endian, 4 Latin-1 */
static void encode(kn_buffer *out, const char *text, int how)
{
    kn_buffer_clear(out);
    if (how == 1) kn_buffer_text(out, "\xEF\xBB\xBF");
    if (how == 2 || how == 3) put_unit(out, 0xFEFF, how == 3);
    if (how <= 1) kn_buffer_text(out, text);
    while (how >= 2 && *text != '\0') {
        uint32_t point = next_point(&text);
        if (how == 4) {
            kn_buffer_char(out, (char)point);
        } else if (point < 0x10000) {
            put_unit(out, point, how == 3);
        } else {
            put_unit(out, 0xD800 + ((point - 0x10000) >> 10), how == 3);
            put_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FF), how == 3);
        }
    }
}

static void one_round_trip(kn_rng *rng, kn_buffer *text, kn_buffer *file, kn_buffer *cell)
{
    static const char delimiters[] = {',', ';', '\t', '|'};
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    int how = (int)kn_rng_below(rng, 5);
    char delimiter = delimiters[kn_rng_below(rng, 4)];
    uint32_t n_columns = 1 + kn_rng_below(rng, 5), n_rows = kn_rng_below(rng, 40);
    const char *end = ends[kn_rng_below(rng, 3)];
    char *cells[200];
    kn_buffer_clear(text);
    for (uint32_t i = 0; i < n_columns; i++) kn_buffer_printf(text, "%.*sname %u", i > 0, &delimiter, i);
    kn_buffer_text(text, end);
    for (uint32_t i = 0; i < n_rows * n_columns; i++) {
        random_cell(cell, rng, how < 4);
        if (n_columns > 1 && i % n_columns == 0 && cell->n == 0) kn_buffer_char(cell, 'q'); /* no blank lines */
        cells[i] = kn_string_copy(cell->bytes, cell->n, NULL);
        append_quoted(text, cells[i], delimiter, rng);
        bool last = i + 1 == n_rows * n_columns && n_columns > 1 && kn_rng_below(rng, 2) == 0;
        if (last) break;
        if ((i + 1) % n_columns != 0) kn_buffer_char(text, delimiter);
        else kn_buffer_text(text, kn_rng_below(rng, 10) == 0 && *end != '\r' ? "\n" : end);
    }
    encode(file, text->bytes, how);
    kn_csv_options options = {.delimiter = delimiter, .encoding = how == 4 ? KN_ENCODING_LATIN1 : KN_ENCODING_UTF8};
    kn_table *reference = NULL, *table = NULL;
    assert_ok(read_text(&reference, file->bytes, file->n, &options, plain_way, err));
    assert_int_equal(reference->n_rows, n_rows);
    for (uint32_t i = 0; i < n_rows * n_columns; i++) {
        assert_cell(reference, i / n_columns, i % n_columns, cells[i]);
        kn_free(cells[i]);
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(read_text(&table, file->bytes, file->n, &options, random_way(rng), err));
        assert_same_tables(reference, table);
        kn_table_free(table);
    }
    kn_table_free(reference);
}

static void random_tables_come_back_whatever_quoting_ends_encoding_and_threads(void **state)
{
    kn_rng rng = kn_rng_new(2, 0);
    kn_buffer text = {0}, file = {0}, cell = {0};
    for (int round = 0; round < 400; round++) one_round_trip(&rng, &text, &file, &cell);
    kn_buffer_free(&text);
    kn_buffer_free(&file);
    kn_buffer_free(&cell);
}

static void codes_first_lines_and_order_do_not_depend_on_threads(void **state)
{
    kn_rng rng = kn_rng_new(3, 0);
    kn_buffer text = {0};
    kn_buffer_text(&text, "id,few,note\n");
    for (uint32_t i = 0; i < 20000; i++)
        kn_buffer_printf(&text, "%u,%u,%s%u\n", kn_rng_below(&rng, 1000000), kn_rng_below(&rng, 300),
                         i % 7 == 0 ? "\"with, comma\"" : "text number ", i % 7 == 0 ? 0 : kn_rng_below(&rng, 3000));
    for (char *p = text.bytes; (p = strstr(p, "\"0\n")) != NULL; p++) memmove(p + 1, p + 2, strlen(p + 2) + 1);
    kn_csv_options options = {0};
    kn_table *reference, *table;
    assert_ok(read_text(&reference, text.bytes, strlen(text.bytes), &options, plain_way, err));
    for (unsigned threads = 1; threads <= 4; threads++) {
        assert_ok(
            read_text(&table, text.bytes, strlen(text.bytes), &options, (way){threads, {5000, 2, KN_CSV_SSE2}}, err));
        assert_same_tables(reference, table);
        kn_table_free(table);
    }
    for (uint32_t row = 0; row < reference->n_rows; row++)
        for (uint32_t c = 0; c < 3; c++)
            assert_true(reference->columns[c].first_line[kn_column_code(&reference->columns[c], row)] <= row + 2);
    kn_table_free(reference);
    kn_buffer_free(&text);
}

/* --- Dictionaries ------------------------------------------------------------------------------------------------- */

/* Feeds numbers as cells, in blocks of 4096; counts cells whose code does not lead back to their bytes. */
static void feed(kn_dictionary *dictionary, const uint32_t *numbers, uint32_t n, uint64_t n_expected, uint32_t *codes)
{
    static char text[4096 * 16 + KN_CSV_PADDING];
    for (uint32_t first = 0; first < n; first += 4096) {
        kn_text_cell cells[256];
        uint32_t lines[256], at = 0;
        for (uint32_t batch = first; batch < first + 4096 && batch < n; batch += 256) {
            uint32_t n_cells = n - batch < 256 ? n - batch : 256;
            for (uint32_t i = 0; i < n_cells; i++) {
                /* short cells, and cells longer than a key */
                const char *format = numbers[batch + i] % 2 == 0 ? "%u" : "odd %08u";
                uint32_t n_bytes = (uint32_t)sprintf(text + at, format, numbers[batch + i]);
                cells[i] = (kn_text_cell){at, n_bytes};
                lines[i] = batch + i;
                at += n_bytes;
            }
            assert_ok(kn_dictionary_codes(codes + batch, dictionary, (kn_cell_texts){text, NULL}, cells, lines, 0,
                                          n_cells, err));
        }
        assert_ok(kn_dictionary_adapt(dictionary, n_expected, err));
    }
}

static void assert_codes_lead_back(const kn_dictionary *dictionary, const uint32_t *numbers, uint32_t n,
                                   const uint32_t *codes)
{
    for (uint32_t i = 0; i < n; i++) {
        char expected[32];
        size_t n_expected = (size_t)sprintf(expected, numbers[i] % 2 == 0 ? "%u" : "odd %08u", numbers[i]);
        const uint64_t *offset = dictionary->offset.items + codes[i];
        assert_int_equal(offset[1] - offset[0], n_expected);
        assert_memory_equal(dictionary->bytes.items + offset[0], expected, n_expected);
        assert_true(dictionary->first_line.items[codes[i]] <= i);
    }
}

static void a_dictionary_appends_while_cells_are_new_and_looks_up_again_when_they_repeat(void **state)
{
    enum { N = 400000 };
    uint32_t *numbers = malloc(N * sizeof *numbers), *codes = malloc(N * sizeof *codes);
    kn_dictionary dictionary = {0};
    for (uint32_t i = 0; i < N; i++) numbers[i] = i < N / 2 ? i : i % 1000 * 7;
    feed(&dictionary, numbers, N / 2, N, codes);
    assert_true(dictionary.appending);
    assert_int_equal(dictionary.n, N / 2);
    for (uint32_t i = N / 2; i < N; i += 50000) feed(&dictionary, numbers + i, 50000, N, codes + i);
    assert_false(dictionary.appending);
    assert_true(dictionary.n < N / 2 + 3 * 4096); /* noticed after a block or two */
    for (uint32_t i = 0; i < dictionary.n; i++) dictionary.first_line.items[i] = 0;
    assert_codes_lead_back(&dictionary, numbers, N, codes);
    kn_dictionary_free(&dictionary);

    /* a million values, ten times each: new ones for a long time, but not many for the file */
    kn_rng rng = kn_rng_new(4, 0);
    for (uint32_t i = 0; i < N; i++) numbers[i] = kn_rng_below(&rng, 1000000);
    feed(&dictionary, numbers, N, 10000000, codes);
    assert_false(dictionary.appending);
    assert_codes_lead_back(&dictionary, numbers, N, codes);
    kn_dictionary_free(&dictionary);

    /* a pipe: nobody knows how much will come */
    for (uint32_t i = 0; i < N; i++) numbers[i] = i;
    feed(&dictionary, numbers, N, UINT64_MAX, codes);
    assert_false(dictionary.appending);
    kn_dictionary_free(&dictionary);
    free(numbers);
    free(codes);
}

static void nearly_unique_columns_with_repeats_come_back(void **state)
{
    kn_buffer text = {0};
    kn_csv_options options = {0};
    kn_table *reference, *table;
    kn_buffer_text(&text, "id,x\n");
    for (uint32_t i = 0; i < 160000; i++)
        kn_buffer_printf(&text, "P%07u,%u\n", (i < 120000 ? i : i - 110000) * 37, i % 3);
    assert_ok(read_text(&reference, text.bytes, text.n, &options, (way){1, {4 << 20, 1, KN_CSV_SCALAR}}, err));
    assert_int_equal(reference->columns[0].n_spellings, 120000);
    assert_cell(reference, 120001, 0, "P0370037");
    for (unsigned threads = 1; threads <= 4; threads++) {
        assert_ok(read_text(&table, text.bytes, text.n, &options, (way){threads, {40000, 2, KN_CSV_SSE2}}, err));
        assert_same_tables(reference, table);
        kn_table_free(table);
    }
    kn_table_free(reference);
    kn_buffer_free(&text);
}

/* --- What is refused, and where --------------------------------------------------------------------------------------
 */

typedef struct refusal {
    const char *text;
    size_t n_bytes;
    const char *message; /* all of it behind the folder */
} refusal;

#define TEXT(literal) literal, sizeof literal - 1

static void every_refusal_names_its_place(void **state)
{
    static const refusal refusals[] = {
        {TEXT(""), "data.csv: the file is empty; a table needs at least a header line"},
        {TEXT("\xEF\xBB\xBF"), "data.csv: the file is empty; a table needs at least a header line"},
        {TEXT(" ,\t\n1,2\n"),
         "data.csv:1: no column has a name; give them names, or use --no-header if the first line is data"},
        {TEXT("a,b,c,b\n"), "data.csv:1: columns 2 and 4 are both called 'b'; rename one"},
        {TEXT("a,b\n1,2\n3\n"), "data.csv:3: 1 cell where the header has 2; the first one missing is column 'b'; "
                                "complete the line (an empty cell "
                                "needs its delimiter too)"},
        {TEXT("a,b,c\n1,2,3\n3,4\n"), "data.csv:3: 2 cells where the header has 3; the first one missing is column "
                                      "'c'; complete the line (an empty cell "
                                      "needs its delimiter too)"},
        {TEXT("a,b\n\"1\",2,3\n"),
         "data.csv:2: column 3: '3' is one cell more than the header has (2); quote cells that "
         "contain the delimiter, or name the first column too (R's write.table leaves that out)"},
        {TEXT("a,b\n1,2\n\"x\ny\",4,five,6\n"), "data.csv:4: column 3: 'five' is one cell more than the header has "
                                                "(2); quote cells that contain the delimiter"},
        {TEXT("a,b\n1,2\n1, \"Smith, J\"\n"),
         "data.csv:3: column 3: ' J\"' is one cell more than the header has (2); a blank stands before a quote, which "
         "is then part of the text: say --trim, or remove the blank"},
        {TEXT("a,b\n1,2\n  \"Smith, J\",7\n"),
         "data.csv:3: column 3: '7' is one cell more than the header has (2); a blank stands before a quote, which is "
         "then part of the text: say --trim, or remove the blank"},
        {TEXT("a,b,c\n1,2,3\n1, \"Smith\nJ\",4\n"),
         "data.csv:3: 2 cells where the header has 3; a blank stands before a quote, which is then part of the text: "
         "say --trim, or remove the blank"},
        {TEXT("a,b\n1,2\n5 \"Smith\",x y\"z, J\n"),
         "data.csv:3: column 3: ' J' is one cell more than the header has (2); quote cells that contain the delimiter"},
        {TEXT("Visits 2024\na,b,c\n1,2,3\n"),
         "data.csv:2: column 2: 'b' is one cell more than the header has (1); quote cells that contain the delimiter, "
         "or remove what stands above the header, if line 1 is a title"},
        {TEXT("a,b\n1,2\n\n3,4\n"),
         "data.csv:3: a blank line inside the table; only the end of the file may have them"},
        {TEXT("a,b\r\n1,\"x\r\ny\"z\r\n"),
         "data.csv:3: column 'b': 'z' after a closing quote; write quotes inside a quoted cell twice"},
        {TEXT("a,b\n1,2\n3,\"x\n4,5\n"),
         "data.csv:3: column 'b': the quote that opens here is never closed; close it, or, if it "
         "belongs to the text, write it twice and the cell in quotes"},
        {TEXT("a,b\n1,2\n\"x\ny\",\xE9t\xE9\n"), "data.csv:4: column 'b': byte 0xE9 (byte 15 of the file) is not valid "
                                                 "UTF-8; convert the file, or use --encoding "
                                                 "latin-1"},
        {TEXT("a,b\n1,2\n3,\0\n"), "data.csv:3: column 'b': a NUL byte (byte 11); this is no text file, or UTF-16 "
                                   "without a byte order mark (then use "
                                   "--encoding utf-16)"},
        {TEXT("a,\xC3(\n1,2\n"),
         "data.csv:1: column 2: byte 0xC3 is not valid UTF-8; convert the file, or use --encoding latin-1"},
        {TEXT("a,\"b\nc\n1,2\n"),
         "data.csv:1: column 2: the quote that opens here is never closed; close it, or, if it "
         "belongs to the name, write it twice and the name in quotes"},
        {TEXT("a,\"b\"c\n1,2\n"),
         "data.csv:1: column 2: text after a closing quote; write quotes inside a quoted cell twice"},
        {TEXT("\xFF\xFE"
              "a\0,\0b\0\n\0"
              "1\0,\0\x00\xD8\n\0"),
         "data.csv:2: column 'b': half a character; this is not valid UTF-16"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            kn_error err = {0};
            kn_table *table;
            kn_csv_options options = {.delimiter = ','};
            way w = {threads, {threads == 1 ? 1000 : 1, 2, kn_csv_best_kernel()}};
            assert_int_equal(read_text(&table, r->text, r->n_bytes, &options, w, &err), KN_INPUT);
            assert_null(table);
            assert_string_equal(err.message + strlen(folder) + 1, r->message);
        }
    }
}

static void a_redacted_message_shows_no_cell(void **state)
{
    kn_error err = {0};
    kn_table *table;
    kn_csv_options options = {.delimiter = ',', .redact = true};
    assert_int_equal(read_text(&table, TEXT("a,b\n1,2,secret\n"), &options, plain_way, &err), KN_INPUT);
    assert_null(strstr(err.message, "secret"));
    assert_non_null(strstr(err.message, "(redacted)"));
}

static void what_is_no_readable_file_is_refused(void **state)
{
    kn_csv_reader *reader;
    kn_csv_options options = {0};
    kn_error err = {0}, err_2 = {0}, err_3 = {0};
    assert_int_equal(kn_csv_open(&reader, path_of("none.csv"), &options, &err), KN_INPUT);
    assert_non_null(strstr(err.message, "none.csv: cannot be opened: No such file"));
    assert_int_equal(kn_csv_open(&reader, folder, &options, &err_2), KN_INPUT);
    assert_non_null(strstr(err_2.message, "is a folder"));
    options.delimiter = '"';
    assert_int_equal(kn_csv_open(&reader, path_of("none.csv"), &options, &err_3), KN_USAGE);
}

/* --- What is accepted
 * ------------------------------------------------------------------------------------------------- */

static void assert_reads(const char *text, const kn_csv_options *options, uint32_t n_rows, uint32_t n_columns)
{
    kn_table *table;
    assert_ok(read_text(&table, text, strlen(text), options, plain_way, err));
    if (table->n_rows != n_rows || table->n_columns != n_columns)
        fail_msg("'%s': %u x %u", text, table->n_rows, table->n_columns);
    kn_table_free(table);
}

static void blank_lines_are_fine_at_the_end_and_cells_in_one_column(void **state)
{
    kn_csv_options options = {.delimiter = ','};
    assert_reads("a,b\n1,2\n\n\n\n", &options, 1, 2);
    assert_reads("a,b\n1,2\r\n\r\n", &options, 1, 2);
    assert_reads("a,b\n", &options, 0, 2);
    assert_reads("a,b", &options, 0, 2);
    assert_reads("a\n1\n\n2\n", &options, 3, 1);
    assert_reads("a\n1\n\n", &options, 2, 1);
    assert_reads("a\n\n", &options, 1, 1);
    options.no_header = true;
    assert_reads("1,2\n3,4", &options, 2, 2);
}

static void the_delimiter_is_found(void **state)
{
    static const struct {
        const char *text;
        char delimiter;
    } cases[] = {
        {"a,b\n1,2\n", ','},
        {"a;b\n1,5;2,5\n3,5;4,5\n", ';'},
        {"a\tb, c\n1\tx, y\n2\tz\n", '\t'},
        {"a|b|c\n1|2;5|3\n", '|'},
        {"name\nSmith, John\nDoe, Jane\n", ','},
        {"a;b;c,d\n1;2;3\n4;5;6\n", ';'},
        {"\"x;y\",b\n\"1;2\",3\n", ','},
        {"id;comment\n1;\"a, b, c\"\n2;\"d, e, f\"\n", ';'},
        {"id;comment\n1;a, b\n2;d, e\n", ';'},
        {"a,b;c\n", ','},
        {"single\n", ','},
        {"a;b\n1;\"x\ny,z\"\n2;w\n", ';'},
        {"a,b,c\n1,2\n", ','},
        {"Alter;Größe, cm;Gewicht, kg\n30;180,5;75,5\n31;170,0;65,5\n", ';'},
        {"Größe, cm;Gewicht, kg\n180,5;75,5\n170,0;65,5\n", ';'},
        {"a,b;c\n1,2\n3,4\n", ','},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char found = kn_csv_detect_delimiter(cases[i].text, strlen(cases[i].text), false);
        if (found != cases[i].delimiter) fail_msg("'%s': found '%c'", cases[i].text, found);
    }
}

static void cells_keep_their_bytes_and_columns_get_types(void **state)
{
    static const char *const nulls[] = {"", "NA"};
    kn_csv_options options = {.delimiter = ',', .null_values = nulls, .n_null_values = 2};
    kn_table *table;
    assert_ok(
        read_text(&table,
                  TEXT("n,d,zip,when,t\n1,1.0,01234,2024-01-31,x\n1.0,NA,1,2023-12-31,NaN\n 1,2,22,NA,inf\nNA,1e0,3,,"
                       "x \n"),
                  &options, plain_way, err));
    assert_int_equal(table->columns[0].type, KN_TYPE_DECIMAL);
    assert_int_equal(table->columns[0].n_spellings, 4);
    assert_int_equal(table->columns[0].n_values, 2);
    assert_true(table->columns[0].has_missing);
    assert_cell(table, 0, 0, "1");
    assert_cell(table, 1, 0, "1.0");
    assert_cell(table, 2, 0, " 1");
    assert_int_equal(table->columns[1].n_values, 3);
    assert_int_equal(table->columns[2].type, KN_TYPE_TEXT);
    assert_int_equal(table->columns[3].type, KN_TYPE_DATE);
    assert_int_equal(table->columns[3].n_values, 3);
    assert_int_equal(table->columns[3].n_spellings, 4);
    assert_int_equal((int)table->columns[3].number[1] - (int)table->columns[3].number[0], 31);
    assert_int_equal(table->columns[4].type, KN_TYPE_TEXT);
    kn_table_free(table);
}

static void columns_that_nobody_keeps_are_checked_and_not_stored(void **state)
{
    kn_table *table;
    kn_csv_options options = {.delimiter = ','};
    const char *path = path_of("data.csv");
    write_file(path, TEXT("a,b\n1,2\n3,4\n"));
    assert_ok(read_path(&table, path, &options, KN_ROLE_IDENTIFIER, plain_way, NULL, err));
    assert_int_equal(table->n_rows, 2);
    assert_null(table->columns[0].codes);
    assert_int_equal(table->columns[0].type, KN_TYPE_AUTO);
    kn_table_free(table);
    write_file(path, TEXT("a,b\n1,2\n\xFF,4\n"));
    assert_int_equal(read_path(&table, path, &options, KN_ROLE_DROPPED, plain_way, NULL, NULL), KN_INPUT);
}

static void the_person_column_is_stored(void **state)
{
    kn_table *table;
    kn_csv_reader *reader;
    kn_csv_options options = {.delimiter = ','};
    const char *path = path_of("data.csv");
    write_file(path, TEXT("who,b\nx,2\ny,4\nx,5\n"));
    kn_column_plan plans[2] = {{.role = KN_ROLE_IDENTIFIER, .use = KN_USE_PERSON}, {.role = KN_ROLE_QUASI}};
    assert_ok(kn_csv_open(&reader, path, &options, err));
    assert_ok(kn_csv_read(&table, reader, plans, NULL, NULL, err));
    assert_int_equal(table->person, 0);
    assert_int_equal(table->columns[0].n_values, 2);
    kn_csv_close(reader);
    kn_table_free(table);
}

static void a_field_of_ten_megabytes_is_a_field(void **state)
{
    size_t n = 10 << 20;
    char *text = malloc(n + 64);
    size_t at = (size_t)sprintf(text, "a,b\n1,\"");
    memset(text + at, 'x', n);
    text[at + n / 2] = '\n';
    strcpy(text + at + n, "\"\n2,y\n");
    kn_csv_options options = {0};
    kn_table *table;
    assert_ok(read_text(&table, text, strlen(text), &options, (way){2, {1 << 16, 2, KN_CSV_SSE2}}, err));
    size_t n_bytes;
    cell_of(table, 0, 1, &n_bytes);
    assert_int_equal(n_bytes, n);
    assert_cell(table, 1, 1, "y");
    assert_int_equal(table->columns[0].first_line[1], 4);
    kn_table_free(table);
    free(text);
}

static void a_pipe_as_stdin_is_read_in_whatever_pieces_it_comes(void **state)
{
    int ends[2], old_stdin = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (int i = 0; i < 2000; i++) {
            char line[64];
            int n = i == 0 ? sprintf(line, "a;b\n") : sprintf(line, "%d;\"x %d\"\n", i, i % 10);
            if (write(ends[1], line, (size_t)n) != n) _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    kn_table *table;
    kn_csv_options options = {0};
    assert_ok(read_path(&table, "-", &options, KN_ROLE_QUASI, (way){2, {1000, 2, KN_CSV_SSE2}}, NULL, err));
    assert_int_equal(table->n_rows, 1999);
    assert_string_equal(table->source, "stdin");
    assert_int_equal(table->columns[1].n_values, 10);
    kn_table_free(table);
    dup2(old_stdin, STDIN_FILENO);
    close(old_stdin);
    waitpid(child, NULL, 0);
}

/* --- Files as they come
 * ------------------------------------------------------------------------------------------------ */

static const char *data_folder(void)
{
    const char *data = getenv("KANON_DATA");
    if (data == NULL) print_message("KANON_DATA is not set: test of real files skipped\n");
    if (data == NULL) skip();
    return data;
}

static void csv_spectrum_is_read_as_its_json_says(void **state)
{
    static const char *const names[] = {
        "comma_in_quotes",     "empty",  "empty_crlf", "escaped_quotes", "json", "newlines", "newlines_crlf",
        "quotes_and_newlines", "simple", "utf8",       "simple_crlf"};
    /* Not location_coordinates: its JSON has another phone number than its CSV. */
    const char *data = data_folder();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512];
        kn_table *table;
        kn_csv_options options = {0};
        snprintf(path, sizeof path, "%s/csv/csv-spectrum/csvs/%s.csv", data, names[i]);
        assert_ok(read_path(&table, path, &options, KN_ROLE_QUASI, plain_way, NULL, err));
        snprintf(path, sizeof path, "%s/csv/csv-spectrum/json/%s.json", data, names[i]);
        json_t *rows = json_load_file(path, 0, NULL);
        assert_non_null(rows);
        if (!json_is_array(rows)) rows = json_pack("[o]", rows);
        assert_int_equal(json_array_size(rows), table->n_rows);
        for (uint32_t row = 0; row < table->n_rows; row++) {
            json_t *object = json_array_get(rows, row);
            assert_int_equal(json_object_size(object), table->n_columns);
            for (uint32_t c = 0; c < table->n_columns; c++) {
                json_t *cell = json_object_get(object, table->columns[c].name);
                assert_true(json_is_string(cell));
                assert_cell(table, row, c, json_string_value(cell));
            }
        }
        json_decref(rows);
        kn_table_free(table);
    }
}

static void univocity_files_are_read_or_refused_with_their_place(void **state)
{
    static const struct {
        const char *name, *fault; /* NULL: read */
        uint32_t n_rows, n_columns;
    } files[] = {
        {"csv__essential.csv", ":4: column 2: 'Make' is one cell more", 0,
         0}, /* needs lines skipped: not ours to guess */
        {"csv__test.csv", ":1: column 2: text after a closing quote", 0, 0},
        {"csv__iterating_test.csv", ":4: 2 cells where the header has 3", 0, 0},
        {"examples__escape.csv", "text after a closing quote", 0, 0},
        {"issues__github_1__input.csv", ":2: column 4: 'fourth' is one cell more", 0, 0},
        {"issues__github_177__input.csv", NULL, 2, 32},
    };
    const char *data = data_folder();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        kn_table *table;
        kn_error err = {0};
        kn_csv_options options = {.delimiter = ','};
        snprintf(path, sizeof path, "%s/csv/univocity/%s", data, files[i].name);
        kn_status status = read_path(&table, path, &options, KN_ROLE_QUASI, plain_way, NULL, &err);
        if (files[i].fault != NULL
                ? status != KN_INPUT || strstr(err.message, files[i].fault) == NULL
                : status != KN_OK || table->n_rows != files[i].n_rows || table->n_columns != files[i].n_columns)
            fail_msg("%s: status %d, %s", files[i].name, status, err.message);
        kn_table_free(table);
    }
}

static void real_tables_have_their_rows(void **state)
{
    static const struct {
        const char *name;
        uint32_t n_rows, n_columns;
        char delimiter;
    } files[] = {
        {"adult/adult_30162.csv", 30162, 15, ','},
        {"fars/fars.csv", 100937, 8, ';'},
        {"creditcard/creditcard.csv", 30000, 25, ';'},
        {"synthea/patients.csv", 1171, 25, ','},
        {"titanic/titanic.csv", 891, 12, ','},
        {"febrl/dataset4b.csv", 5000, 11, ','},
        {"german/german_data_credit.csv", 1000, 22, ','},
        {"italia/italia.csv", 100, 5, ';'},
    };
    const char *data = data_folder();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        kn_table *table, *again;
        kn_csv_options options = {0};
        snprintf(path, sizeof path, "%s/%s", data, files[i].name);
        assert_ok(read_path(&table, path, &options, KN_ROLE_QUASI, plain_way, NULL, err));
        assert_int_equal(table->n_rows, files[i].n_rows);
        assert_int_equal(table->n_columns, files[i].n_columns);
        assert_int_equal(form_of(table).delimiter, files[i].delimiter);
        assert_ok(
            read_path(&again, path, &options, KN_ROLE_QUASI, (way){3, {10000, 2, kn_csv_best_kernel()}}, NULL, err));
        assert_same_tables(table, again);
        kn_table_free(table);
        kn_table_free(again);
    }
}

/* --- Failure
 * ------------------------------------------------------------------------------------------------------------- */

static const char small_table[] = "a,b,c\n1,\"x \"\"y\"\"\",2024-01-01\n2,,2023-05-06\n01,zz,\nlonger than eight,1,2\n";

static void every_allocation_may_fail(void **state)
{
    kn_csv_options options = {0};
    const char *path = path_of("data.csv");
    write_file(path, TEXT(small_table));
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        way w = {threads, {20, 1, KN_CSV_SCALAR}};
        for (size_t nth = 1;; nth++) {
            kn_table *table;
            kn_error err = {0};
            size_t before = kn_memory_used();
            kn_memory_fail_at(nth);
            kn_status status = read_path(&table, path, &options, KN_ROLE_QUASI, w, NULL, &err);
            size_t n_allocations = kn_memory_allocations();
            kn_memory_fail_at(0);
            if (n_allocations < nth) {
                assert_int_equal(status, KN_OK);
                kn_table_free(table);
                break;
            }
            assert_int_equal(status, KN_RESOURCES);
            assert_memory_equal(err.message, "out of memory", strlen("out of memory")); /* how much, after it */
            assert_null(table);
            assert_int_equal(kn_memory_used(), before);
        }
    }
}

static void every_tick_may_cancel(void **state)
{
    kn_csv_options options = {0};
    const char *path = path_of("data.csv");
    write_file(path, TEXT(small_table));
    for (unsigned threads = 1; threads <= 3; threads++) {
        for (size_t nth = 1;; nth++) {
            kn_table *table;
            kn_error err = {0};
            kn_ticker ticker = {0};
            atomic_store(&ticker.fail_at, nth);
            kn_status status =
                read_path(&table, path, &options, KN_ROLE_QUASI, (way){threads, {10, 1, KN_CSV_SCALAR}}, &ticker, &err);
            if (status == KN_OK) {
                assert_true(nth > 5);
                kn_table_free(table);
                break;
            }
            assert_int_equal(status, KN_INTERRUPTED);
            assert_null(table);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts_are_read_as_one_character_at_a_time_says),
        cmocka_unit_test(random_tables_come_back_whatever_quoting_ends_encoding_and_threads),
        cmocka_unit_test(codes_first_lines_and_order_do_not_depend_on_threads),
        cmocka_unit_test(a_dictionary_appends_while_cells_are_new_and_looks_up_again_when_they_repeat),
        cmocka_unit_test(nearly_unique_columns_with_repeats_come_back),
        cmocka_unit_test(every_refusal_names_its_place),
        cmocka_unit_test(a_redacted_message_shows_no_cell),
        cmocka_unit_test(what_is_no_readable_file_is_refused),
        cmocka_unit_test(blank_lines_are_fine_at_the_end_and_cells_in_one_column),
        cmocka_unit_test(the_delimiter_is_found),
        cmocka_unit_test(cells_keep_their_bytes_and_columns_get_types),
        cmocka_unit_test(columns_that_nobody_keeps_are_checked_and_not_stored),
        cmocka_unit_test(the_person_column_is_stored),
        cmocka_unit_test(a_field_of_ten_megabytes_is_a_field),
        cmocka_unit_test(a_pipe_as_stdin_is_read_in_whatever_pieces_it_comes),
        cmocka_unit_test(csv_spectrum_is_read_as_its_json_says),
        cmocka_unit_test(univocity_files_are_read_or_refused_with_their_place),
        cmocka_unit_test(real_tables_have_their_rows),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_tick_may_cancel),
    };
    return cmocka_run_group_tests_name("io", tests, make_folder_and_pools, remove_folder_and_pools);
}
