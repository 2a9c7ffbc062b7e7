/* Reading and decoding. read(), not a mapping: a file that somebody truncates must not crash us. */
#include "source/csv/csv_source.h"

#include "base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_BYTES = 1 << 18, MARK_BYTES = 4, TELLING_BYTES = 1 << 10 };
enum { MOST_DECODED = 3 }; /* bytes that one raw byte may become */

static kn_status read_file(kn_csv_source *source, void *out, size_t capacity, size_t *n_bytes, kn_ticker *ticker,
                           kn_error *err)
{
    kn_status status = KN_OK;
    *n_bytes = 0;
    while (*n_bytes < capacity && !source->at_end) {
        ssize_t n = read(source->file, (char *)out + *n_bytes, capacity - *n_bytes);
        if (n < 0 && errno == EINTR) {
            KN_TRY(kn_tick(ticker, "reading", kn_csv_source_fraction(source), err));
        } else if (n < 0) {
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = source->name), "%s: cannot be read: %s", source->name,
                       strerror(errno));
        } else if (n == 0 && atomic_load(&source->n_read) < source->size_bytes) {
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = source->name), "%s: became shorter while it was read; run it again",
                       source->name);
        } else if (n == 0) {
            source->at_end = true;
        } else {
            *n_bytes += (size_t)n;
            atomic_fetch_add(&source->n_read, (uint_fast64_t)n);
        }
    }
done:
    return status;
}

static bool starts_with(const kn_csv_source *source, const char *bytes, size_t n_bytes)
{
    return source->n_raw >= n_bytes && memcmp(source->raw, bytes, n_bytes) == 0;
}

/* Without a mark: delimiters and line ends are ASCII, so that one byte of a pair is zero much more often. */
static bool is_big_endian(const kn_csv_source *source)
{
    size_t n_zero[2] = {0, 0};
    for (size_t i = 0; i < source->n_raw; i++) n_zero[i % 2] += source->raw[i] == 0;
    return n_zero[0] > n_zero[1];
}

static void detect_encoding(kn_csv_source *source, kn_encoding encoding)
{
    source->bytes = encoding == KN_ENCODING_LATIN1 ? KN_BYTES_LATIN1 : KN_BYTES_UTF8;
    if (encoding == KN_ENCODING_UTF16) source->bytes = is_big_endian(source) ? KN_BYTES_UTF16_BE : KN_BYTES_UTF16_LE;
    if (starts_with(source, "\xEF\xBB\xBF", 3)) {
        source->bytes = KN_BYTES_UTF8;
        source->bom_bytes = 3;
    } else if (starts_with(source, "\xFF\xFE", 2)) {
        source->bytes = KN_BYTES_UTF16_LE;
        source->bom_bytes = 2;
    } else if (starts_with(source, "\xFE\xFF", 2)) {
        source->bytes = KN_BYTES_UTF16_BE;
        source->bom_bytes = 2;
    }
    source->n_raw -= source->bom_bytes;
    memmove(source->raw, source->raw + source->bom_bytes, source->n_raw);
}

kn_status kn_csv_source_open(kn_csv_source *out, const char *path, kn_encoding encoding, kn_files *files, kn_error *err)
{
    kn_status status = KN_OK;
    struct stat about;
    bool is_stdin = strcmp(path, "-") == 0;
    *out = (kn_csv_source){.name = is_stdin ? "stdin" : path, .file = -1};
    size_t n_first = encoding == KN_ENCODING_UTF16 ? TELLING_BYTES : MARK_BYTES;
    KN_TRY(kn_files_open(&out->file, files, path, err));
    if (out->file < 0) KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(out->file, &about) == 0 && S_ISDIR(about.st_mode))
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: is a folder, not a file", path);
    if (fstat(out->file, &about) == 0 && S_ISREG(about.st_mode)) out->size_bytes = (uint64_t)about.st_size;
    posix_fadvise(out->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    /* not more than the file's size, which buffers are made for, even if it grows */
    if (out->size_bytes > 0 && out->size_bytes < n_first)
        n_first = out->size_bytes > MARK_BYTES ? (size_t)out->size_bytes : MARK_BYTES;
    out->raw_capacity = n_first;
    KN_NEW_RAW(out->raw, out->raw_capacity);
    KN_TRY(read_file(out, out->raw, n_first, &out->n_raw, NULL, err));
    const char *kind = kn_binary_kind((const char *)out->raw, out->n_raw);
    if (kind != NULL)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: is %s, not a table of text; %ssave it as CSV", path, kind,
                   strstr(kind, "Parquet") != NULL ? "give it a name that ends in .parquet, or " : "");
    if (kn_packing_of((const char *)out->raw, out->n_raw) != KN_PACKED_NOT) /* what was packed once is unpacked here */
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = path), "%s: is packed twice; unpack it once", path);
    detect_encoding(out, encoding);
    if (out->bytes != KN_BYTES_UTF8) { /* which is read where it goes */
        const size_t bound = kn_csv_source_bound(out, RAW_BYTES);
        if (bound > out->raw_capacity) out->raw_capacity = bound;
        KN_GROW(out->raw, out->raw_capacity);
    }
done:
    if (status != KN_OK) kn_csv_source_close(out);
    return status;
}

void kn_csv_source_close(kn_csv_source *source)
{
    if (source->file >= 0) close(source->file);
    source->file = -1;
    kn_free(source->raw);
    source->raw = NULL;
}

size_t kn_csv_source_bound(const kn_csv_source *source, size_t n_bytes)
{
    enum { SPARE = 64 };
    return source->size_bytes > 0 && source->size_bytes < n_bytes / MOST_DECODED - SPARE
               ? MOST_DECODED * source->size_bytes + SPARE
               : n_bytes;
}

double kn_csv_source_fraction(const kn_csv_source *source)
{
    return source->size_bytes > 0 ? (double)atomic_load(&source->n_read) / (double)source->size_bytes : -1;
}

static char *put_utf8(char *out, uint32_t point)
{
    if (point < 0x80) {
        *out++ = (char)point;
    } else if (point < 0x800) {
        *out++ = (char)(0xC0 | point >> 6);
        *out++ = (char)(0x80 | (point & 63));
    } else if (point < 0x10000) {
        *out++ = (char)(0xE0 | point >> 12);
        *out++ = (char)(0x80 | (point >> 6 & 63));
        *out++ = (char)(0x80 | (point & 63));
    } else {
        *out++ = (char)(0xF0 | point >> 18);
        *out++ = (char)(0x80 | (point >> 12 & 63));
        *out++ = (char)(0x80 | (point >> 6 & 63));
        *out++ = (char)(0x80 | (point & 63));
    }
    return out;
}

static uint32_t utf16_unit(const kn_csv_source *source, size_t at)
{
    const unsigned char *raw = source->raw + at;
    return source->bytes == KN_BYTES_UTF16_BE ? (uint32_t)raw[0] << 8 | raw[1] : (uint32_t)raw[1] << 8 | raw[0];
}

/* Decodes what is whole in `raw`, keeps the rest; returns the end of the text. A unit gives at most three bytes, half
 * a pair gives three invalid ones (a surrogate in UTF-8's pattern), a lone byte at the end of the file one. */
static char *decode_utf16(kn_csv_source *source, char *out)
{
    size_t at = 0;
    while (at + 2 <= source->n_raw) {
        uint32_t unit = utf16_unit(source, at);
        if (unit >= 0xD800 && unit < 0xDC00) {
            if (at + 4 > source->n_raw && !source->at_end) break;
            uint32_t low = at + 4 <= source->n_raw ? utf16_unit(source, at + 2) : 0;
            if (low >= 0xDC00 && low < 0xE000) {
                unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                at += 2;
            }
        }
        out = put_utf8(out, unit);
        at += 2;
    }
    if (source->at_end && at + 1 == source->n_raw) {
        *out++ = '\xFF';
        at++;
    }
    source->n_raw -= at;
    memmove(source->raw, source->raw + at, source->n_raw);
    return out;
}

/* The bytes 0x80 to 0x9F as Windows writes them, 0x80 for the euro sign: files called Latin-1 are its, and what Latin-1
 * has there stands in no table. Five have no sign and stay what they are. */
static uint32_t latin1_point(unsigned char byte)
{
    static const uint16_t signs[32] = {0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                       0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                       0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                       0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    return byte >= 0x80 && byte < 0xA0 ? signs[byte - 0x80] : byte;
}

static char *decode_latin1(kn_csv_source *source, char *out)
{
    for (size_t i = 0; i < source->n_raw; i++) out = put_utf8(out, latin1_point(source->raw[i]));
    source->n_raw = 0;
    return out;
}

static kn_status read_decoded(kn_csv_source *source, char *out, size_t capacity, size_t *n_bytes, kn_ticker *ticker,
                              kn_error *err)
{
    kn_status status = KN_OK;
    char *end = out;
    while (!(source->at_end && source->n_raw == 0)) {
        size_t room = (capacity - (size_t)(end - out)) / MOST_DECODED, n_more = 0;
        if (room < 8) break;
        if (room > source->raw_capacity) room = source->raw_capacity;
        if (room > source->n_raw)
            KN_TRY(read_file(source, source->raw + source->n_raw, room - source->n_raw, &n_more, ticker, err));
        source->n_raw += n_more;
        end = source->bytes == KN_BYTES_LATIN1 ? decode_latin1(source, end) : decode_utf16(source, end);
    }
    *n_bytes = (size_t)(end - out);
done:
    return status;
}

kn_status kn_csv_source_read(kn_csv_source *source, char *out, size_t capacity, size_t *n_bytes, kn_ticker *ticker,
                             kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_more = 0;
    *n_bytes = 0;
    capacity--; /* for the line feed */
    if (source->bytes == KN_BYTES_UTF8) {
        memcpy(out, source->raw, source->n_raw);
        *n_bytes = source->n_raw;
        source->n_raw = 0;
        KN_TRY(read_file(source, out + *n_bytes, capacity - *n_bytes, &n_more, ticker, err));
        *n_bytes += n_more;
    } else {
        KN_TRY(read_decoded(source, out, capacity, n_bytes, ticker, err));
    }
    if (*n_bytes > 0) source->line_open = out[*n_bytes - 1] != '\n' && out[*n_bytes - 1] != '\r';
    if (source->at_end && source->n_raw == 0 && source->line_open) {
        out[(*n_bytes)++] = '\n';
        source->line_open = false;
    }
done:
    return status;
}
