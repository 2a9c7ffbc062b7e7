/* The tokenizer. Delimiters and line ends are found 64 bytes at a time as bit masks (AVX2, SSE2, or plain words of
 * eight bytes; the same code around them is compiled once for each). Quoted cells are the exception: the walk leaves
 * the masks, looks for the closing quote, and comes back. Unlike readers that find quotes by parity, this keeps a quote
 * inside an unquoted cell literal.
 *
 * Splitting a text at record ends visits only its quotes, so that blocks can be cut before anybody has parsed them. */
#include "source/csv/csv_tokens.h"
#include "base/lanes.h"

#include <assert.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
static inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/* --- Words of eight bytes ------------------------------------------------------------------------------------------
 */

#define EACH_BYTE(byte) ((uint64_t)0x0101010101010101u * (unsigned char)(byte))
#define HIGH_BITS       EACH_BYTE(0x80)

/* The high bit of every zero byte, exact up to the lowest one. */
KN_INLINE uint64_t zero_bytes(uint64_t word) { return (word - EACH_BYTE(1)) & ~word & HIGH_BITS; }

/* Little endian, so that the first byte is the lowest. */
KN_INLINE uint64_t load_word(const char *text)
{
    uint64_t word;
    memcpy(&word, text, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* --- Masks: bit i set when byte i is the delimiter, LF or CR ----------------------------------------------------- */

typedef uint64_t (*mask_fn)(const char *text, char delimiter);

/* Exact for every byte: bytes are compared with their high bits taken out of the carries. */
KN_INLINE uint64_t equal_bytes(uint64_t word, char byte)
{
    uint64_t difference = word ^ EACH_BYTE(byte);
    return ~(((difference & ~HIGH_BITS) + ~HIGH_BITS) | difference) & HIGH_BITS;
}

KN_INLINE uint64_t mask_scalar(const char *text, char delimiter)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t word = load_word(text + 8 * i);
        uint64_t found = equal_bytes(word, delimiter) | equal_bytes(word, '\n') | equal_bytes(word, '\r');
        mask |= ((found >> 7) * 0x0102040810204080u >> 56) << (8 * i); /* gathers the eight bits */
    }
    return mask;
}

KN_INLINE uint64_t quotes_scalar(const char *text)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= ((equal_bytes(load_word(text + 8 * i), '"') >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    return mask;
}

#if defined(__x86_64__)
KN_INLINE uint64_t mask_sse2(const char *text, char delimiter)
{
    uint64_t mask = 0;
    const __m128i delimiters = _mm_set1_epi8(delimiter), lf = _mm_set1_epi8('\n'), cr = _mm_set1_epi8('\r');
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
        __m128i found = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, lf)),
                                     _mm_cmpeq_epi8(bytes, cr));
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(found) << (16 * i);
    }
    return mask;
}

KN_INLINE uint64_t quotes_sse2(const char *text)
{
    uint64_t mask = 0;
    const __m128i quotes = _mm_set1_epi8('"');
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + 16 * i));
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, quotes)) << (16 * i);
    }
    return mask;
}

__attribute__((target("avx2,bmi"))) KN_INLINE uint64_t mask_avx2(const char *text, char delimiter)
{
    uint64_t mask = 0;
    const __m256i delimiters = _mm256_set1_epi8(delimiter), lf = _mm256_set1_epi8('\n'), cr = _mm256_set1_epi8('\r');
    for (int i = 0; i < 2; i++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32 * i));
        __m256i found =
            _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(bytes, delimiters), _mm256_cmpeq_epi8(bytes, lf)),
                            _mm256_cmpeq_epi8(bytes, cr));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_epi8(found) << (32 * i);
    }
    return mask;
}
#endif

KN_INLINE uint64_t quotes_of(const char *text, kn_csv_kernel kernel)
{
#if defined(__x86_64__)
    if (kernel != KN_CSV_SCALAR) return quotes_sse2(text);
#endif
    return quotes_scalar(text);
}

kn_csv_kernel kn_csv_best_kernel(void)
{
#if defined(__x86_64__)
    return kn_has_avx2() ? KN_CSV_AVX2 : KN_CSV_SSE2;
#else
    return KN_CSV_SCALAR;
#endif
}

/* --- Quoted cells ------------------------------------------------------------------------------------------------ */

static uint32_t count_line_ends(const char *text, size_t n_bytes)
{
    uint32_t n = 0;
    for (size_t i = 0; i < n_bytes; i++) n += text[i] == '\n' || (text[i] == '\r' && text[i + 1] != '\n');
    return n;
}

uint32_t kn_csv_unescape(char *cell, uint32_t n_bytes)
{
    char *quote = memchr(cell, '"', n_bytes);
    if (quote == NULL) return n_bytes;
    const char *from = quote, *end = cell + n_bytes;
    char *to = quote;
    while (from < end) {
        *to++ = *from;
        from += *from == '"' ? 2 : 1;
    }
    return (uint32_t)(to - cell);
}

/* The quote at `open` opens a cell: where its closing one stands, or n_bytes. */
static size_t closing_quote(const char *text, size_t open, size_t n_bytes)
{
    for (size_t at = open + 1; at < n_bytes; at += 2) {
        const char *quote = memchr(text + at, '"', n_bytes - at);
        if (quote == NULL) return n_bytes;
        at = (size_t)(quote - text);
        if (at + 1 >= n_bytes || text[at + 1] != '"') return at;
    }
    return n_bytes;
}

static void trim_cell(kn_cell_texts texts, kn_text_cell *cell)
{
    const char *bytes = kn_text_cell_bytes(texts, *cell);
    while (cell->n_bytes > 0 && is_blank(bytes[cell->n_bytes - 1])) cell->n_bytes--;
    for (; cell->n_bytes > 0 && is_blank(*bytes); bytes++) cell->at++, cell->n_bytes--;
}

/* Where a quoted cell that starts at `at` has its quote; NO_QUOTE when the cell is not quoted. */
#define NO_QUOTE SIZE_MAX
KN_INLINE size_t opening_quote(const char *text, size_t at, const kn_csv_dialect *dialect)
{
    if (__builtin_expect(dialect->trim, 0))
        while (is_blank(text[at]) && text[at] != dialect->delimiter) at++;
    return text[at] == '"' ? at : NO_QUOTE;
}

/* Not in place: another thread may be reading the bytes behind its own block. */
static void unescape_aside(kn_csv_walk *walk, kn_text_cell *cell)
{
    static const char padding[KN_DICTIONARY_PADDING] = {0};
    kn_buffer *out = walk->unescaped;
    size_t at = out->n;
    kn_buffer_append(out, walk->text + cell->at, cell->n_bytes);
    if (!out->failed) cell->n_bytes = kn_csv_unescape(out->bytes + at, cell->n_bytes);
    kn_buffer_append(out, padding, sizeof padding);
    cell->at = KN_SECOND_TEXT | (uint32_t)at;
}

/* The cell whose quote is at `open`: sets the cell, returns where it is followed by delimiter or line end; 0 after a
 * fault. Not inlined: the hot loop is about cells without quotes. */
static __attribute__((noinline)) size_t quoted_cell(kn_csv_walk *walk, size_t open, uint32_t column, kn_text_cell *cell)
{
    const char *text = walk->text;
    size_t at = open + 1, end = walk->n_bytes;
    uint32_t n_lines = 0;
    bool doubled = false;
    /* Quotes and line ends in one pass, eight bytes at a time; the lowest bit found is a true one. */
    for (; at < end; at++) {
        uint64_t word = load_word(text + at);
        uint64_t found =
            zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes(word ^ EACH_BYTE('\n')) | zero_bytes(word ^ EACH_BYTE('\r'));
        if (found == 0) {
            at += 7;
            continue;
        }
        at += (size_t)__builtin_ctzll(found) / 8;
        if (text[at] == '\n' || (text[at] == '\r' && text[at + 1] != '\n')) n_lines++;
        if (text[at] != '"') continue;
        if (text[at + 1] != '"' || at + 1 >= end) break;
        doubled = true;
        at++;
    }
    if (at >= end) {
        walk->fault = (kn_csv_fault){KN_CSV_OPEN_QUOTE, walk->line, column, open};
        return 0;
    }
    size_t close = at;
    walk->line += n_lines;
    size_t after = close + 1;
    if (walk->dialect.trim)
        while (is_blank(text[after]) && text[after] != walk->dialect.delimiter) after++;
    if (text[after] != walk->dialect.delimiter && !is_line_end(text[after])) {
        walk->fault = (kn_csv_fault){KN_CSV_AFTER_QUOTE, walk->line, column, after};
        return 0;
    }
    cell->at = (uint32_t)(open + 1);
    cell->n_bytes = (uint32_t)(close - open - 1);
    if (doubled) unescape_aside(walk, cell);
    return after;
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

static bool only_line_ends(const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (!is_line_end(text[i])) return false;
    return true;
}

static void refuse_short_record(kn_csv_walk *walk, size_t start, size_t end, uint32_t n_cells, uint32_t start_line)
{
    bool blank = n_cells == 1 && end == start;
    kn_csv_fault_kind kind = KN_CSV_TOO_FEW;
    if (blank && only_line_ends(walk->text + end, walk->n_bytes - end)) kind = KN_CSV_BLANK_LINE;
    walk->fault = (kn_csv_fault){kind, start_line, blank ? 0 : n_cells, end};
}

/* Longer than a screen: the hot loop of reading. `mask` holds the delimiters and line ends of the 64 bytes at `window`
 * that are not behind the walk yet. */
KN_INLINE uint32_t walk_rows(kn_csv_walk *walk, kn_text_cell *cells, uint32_t *lines, uint32_t max_rows,
                             mask_fn mask_of)
{
    const char *text = walk->text;
    const kn_csv_dialect dialect = walk->dialect;
    const uint32_t n_columns = walk->n_columns;
    size_t at = walk->at, window = at;
    uint32_t row = 0;
    if (at >= walk->n_bytes) return 0;
    uint64_t mask = mask_of(text + window, dialect.delimiter);
    while (row < max_rows && at < walk->n_bytes) {
        size_t end, start = at;
        uint32_t start_line = walk->line, column = 0;
        kn_text_cell *cell = cells + row;
        for (;; column++, cell += max_rows) {
            size_t open = opening_quote(text, at, &dialect);
            if (column == n_columns) {
                walk->fault = (kn_csv_fault){KN_CSV_TOO_MANY, walk->line, column, at};
                return row;
            }
            if (__builtin_expect(open != NO_QUOTE, 0)) {
                end = quoted_cell(walk, open, column, cell);
                if (end == 0) return row;
                if (end >= window + 64) {
                    window = end;
                    mask = mask_of(text + window, dialect.delimiter);
                } else {
                    mask &= ~(uint64_t)0 << (end - window);
                }
                mask &= mask - 1;
            } else {
                while (mask == 0) {
                    window += 64;
                    mask = mask_of(text + window, dialect.delimiter);
                }
                end = window + (size_t)__builtin_ctzll(mask);
                mask &= mask - 1;
                *cell = (kn_text_cell){(uint32_t)at, (uint32_t)(end - at)};
            }
            if (__builtin_expect(dialect.trim, 0)) trim_cell((kn_cell_texts){text, walk->unescaped->bytes}, cell);
            at = end + 1;
            if (text[end] != dialect.delimiter) break;
        }
        if (column + 1 != n_columns) {
            refuse_short_record(walk, start, end, column + 1, start_line);
            return row;
        }
        if (text[end] == '\r' && text[at] == '\n' && at < walk->n_bytes) {
            if (mask == 0) {
                window += 64;
                mask = mask_of(text + window, dialect.delimiter);
            }
            mask &= mask - 1;
            at++;
            walk->n_crlf++;
        }
        lines[row++] = start_line;
        walk->line++;
        walk->at = at;
    }
    return row;
}

static uint32_t walk_rows_scalar(kn_csv_walk *walk, kn_text_cell *cells, uint32_t *lines, uint32_t max_rows)
{
    return walk_rows(walk, cells, lines, max_rows, mask_scalar);
}

#if defined(__x86_64__)
static uint32_t walk_rows_sse2(kn_csv_walk *walk, kn_text_cell *cells, uint32_t *lines, uint32_t max_rows)
{
    return walk_rows(walk, cells, lines, max_rows, mask_sse2);
}

__attribute__((target("avx2,bmi"))) static uint32_t walk_rows_avx2(kn_csv_walk *walk, kn_text_cell *cells,
                                                                   uint32_t *lines, uint32_t max_rows)
{
    return walk_rows(walk, cells, lines, max_rows, mask_avx2);
}
#endif

uint32_t kn_csv_walk_rows(kn_csv_walk *walk, kn_text_cell *cells, uint32_t *lines, uint32_t max_rows)
{
    assert(walk->n_bytes == 0 || is_line_end(walk->text[walk->n_bytes - 1]));
    if (walk->fault.kind != KN_CSV_FINE) return 0;
    kn_buffer_clear(walk->unescaped);
#if defined(__x86_64__)
    if (walk->kernel == KN_CSV_AVX2) return walk_rows_avx2(walk, cells, lines, max_rows);
    if (walk->kernel == KN_CSV_SSE2) return walk_rows_sse2(walk, cells, lines, max_rows);
#endif
    return walk_rows_scalar(walk, cells, lines, max_rows);
}

/* --- One record, the plain way ------------------------------------------------------------------------------------ */

static size_t plain_cell_end(const char *text, size_t at, size_t n, char delimiter)
{
    while (at < n && text[at] != delimiter && !is_line_end(text[at])) at++;
    return at;
}

/* Like quoted_cell, without changing the text. Returns n when the text ends first. */
static size_t quoted_cell_end(const char *text, size_t open, size_t n, kn_csv_dialect dialect, kn_text_cell *cell,
                              kn_csv_fault *fault)
{
    size_t close = closing_quote(text, open, n);
    if (close + 1 >= n) return n;
    *cell = (kn_text_cell){(uint32_t)(open + 1), (uint32_t)(close - open - 1)};
    size_t after = close + 1;
    if (dialect.trim)
        while (after < n && is_blank(text[after]) && text[after] != dialect.delimiter) after++;
    if (after < n && text[after] != dialect.delimiter && !is_line_end(text[after])) {
        fault->kind = KN_CSV_AFTER_QUOTE;
        fault->line += count_line_ends(text + open, close - open);
        fault->at = after;
    }
    return after;
}

uint32_t kn_csv_record(const char *text, size_t n, kn_csv_dialect dialect, kn_text_cell *cells, uint32_t max_cells,
                       size_t *n_bytes, kn_csv_fault *fault)
{
    size_t at = 0;
    uint32_t n_cells = 0;
    *n_bytes = 0;
    *fault = (kn_csv_fault){0};
    for (;;) {
        kn_text_cell cell = {(uint32_t)at, 0};
        size_t open = opening_quote(text, at, &dialect), end;
        fault->column = n_cells;
        if (open != NO_QUOTE && open < n) {
            fault->at = open;
            end = quoted_cell_end(text, open, n, dialect, &cell, fault);
            if (fault->kind != KN_CSV_FINE) return n_cells;
        } else {
            end = plain_cell_end(text, at, n, dialect.delimiter);
            cell.n_bytes = (uint32_t)(end - at);
        }
        if (end >= n) return n_cells;
        if (dialect.trim) trim_cell((kn_cell_texts){text, NULL}, &cell);
        if (cells != NULL && n_cells < max_cells) cells[n_cells] = cell;
        n_cells++;
        at = end + 1;
        if (text[end] == dialect.delimiter) continue;
        *n_bytes = at + (text[end] == '\r' && at < n && text[at] == '\n');
        return n_cells;
    }
}

uint32_t kn_csv_column_at(const char *text, size_t at, kn_csv_dialect dialect)
{
    kn_text_cell cell;
    kn_csv_fault fault = {0};
    uint32_t column = 0;
    for (size_t start = 0;; column++) {
        size_t open = opening_quote(text, start, &dialect);
        size_t end = open < at ? quoted_cell_end(text, open, at + 1, dialect, &cell, &fault)
                               : plain_cell_end(text, start, at + 1, dialect.delimiter);
        if (end >= at) return column;
        start = end + 1;
    }
}

/* --- Cutting a text at record ends ---------------------------------------------------------------------------------
 */

void kn_csv_splitter_start(kn_csv_splitter *splitter, const char *text, size_t n_bytes, kn_csv_dialect dialect,
                           kn_csv_kernel kernel)
{
    *splitter = (kn_csv_splitter){.text = text, .n_bytes = n_bytes, .dialect = dialect, .kernel = kernel};
    splitter->has_quotes = n_bytes > 0 && memchr(text, '"', n_bytes) != NULL;
}

/* Whether the quote at `at`, met outside of quoted cells, opens one. */
static bool opens_cell(const kn_csv_splitter *splitter, size_t at)
{
    const char *text = splitter->text;
    char delimiter = splitter->dialect.delimiter;
    if (splitter->dialect.trim)
        while (at > 0 && is_blank(text[at - 1]) && text[at - 1] != delimiter) at--;
    return at == 0 || text[at - 1] == delimiter || is_line_end(text[at - 1]);
}

/* Looks at every quote before `end` that was not seen yet. */
static void pass_quotes(kn_csv_splitter *splitter, size_t end)
{
    const char *text = splitter->text;
    while (splitter->at < end) {
        uint64_t mask = quotes_of(text + splitter->at, splitter->kernel);
        size_t n = end - splitter->at < 64 ? end - splitter->at : 64;
        if (n < 64) mask &= ((uint64_t)1 << n) - 1;
        for (; mask != 0; mask &= mask - 1) {
            size_t quote = splitter->at + (size_t)__builtin_ctzll(mask);
            if (quote < splitter->skip) continue;
            if (!splitter->inside) splitter->inside = opens_cell(splitter, quote);
            else if (quote + 1 < splitter->n_bytes && text[quote + 1] == '"') splitter->skip = quote + 2;
            else splitter->inside = false;
        }
        splitter->at += n;
    }
}

/* Passes quotes until the cell that is open is closed; false when the text ends first. */
static bool leave_cell(kn_csv_splitter *splitter)
{
    while (splitter->inside && splitter->at < splitter->n_bytes) {
        const char *quote = memchr(splitter->text + splitter->at, '"', splitter->n_bytes - splitter->at);
        if (quote == NULL) {
            splitter->at = splitter->n_bytes;
            return false;
        }
        pass_quotes(splitter, (size_t)(quote - splitter->text) + 1);
    }
    return !splitter->inside;
}

/* First line end at or after `at`: the place behind it; 0 when there is none. */
static size_t behind_line_end(const kn_csv_splitter *splitter, size_t at, bool is_last)
{
    const char *text = splitter->text;
    while (at < splitter->n_bytes && !is_line_end(text[at])) at++;
    if (at == splitter->n_bytes) return 0;
    if (text[at] == '\n') return at + 1;
    if (at + 1 == splitter->n_bytes) return is_last ? at + 1 : 0; /* the LF of a CRLF may follow */
    return text[at + 1] == '\n' ? at + 2 : at + 1;
}

size_t kn_csv_split(kn_csv_splitter *splitter, size_t wanted, bool is_last)
{
    if (wanted > splitter->n_bytes) return 0;
    if (!splitter->has_quotes) return behind_line_end(splitter, wanted, is_last);
    pass_quotes(splitter, wanted);
    for (;;) {
        if (!leave_cell(splitter)) return 0;
        size_t end = behind_line_end(splitter, splitter->at > wanted ? splitter->at : wanted, is_last);
        pass_quotes(splitter, end != 0 ? end : splitter->n_bytes);
        /* A cell that opens before that line end hides it. */
        if (!splitter->inside) return end;
    }
}
