/* gzip and zstd, block by block; memory does not depend on the file (zstd's window is at most 128 MB). */
#include "base/unpack.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { BLOCK_BYTES = 1 << 18, MOST_TIMES = 500 };
static const uint64_t HARMLESS_BYTES = (uint64_t)1 << 30;

kn_packing kn_packing_of(const char *bytes, size_t n)
{
    if (n >= 3 && memcmp(bytes, "\x1F\x8B\x08", 3) == 0) return KN_PACKED_GZIP;
    if (n >= 4 && memcmp(bytes, "\x28\xB5\x2F\xFD", 4) == 0) return KN_PACKED_ZSTD;
    return KN_PACKED_NOT;
}

const char *kn_binary_kind(const char *bytes, size_t n)
{
    static const struct {
        const char *magic, *kind;
    } kinds[] = {{"PAR1", "a Parquet file"},
                 {"PK\x03\x04", "an Excel workbook, or another zip archive"},
                 {"\xD0\xCF\x11\xE0", "an old Excel workbook"},
                 {"ARRO", "an Arrow file"},
                 {"%PDF", "a PDF document"},
                 {"$FL2", "a file of SPSS"},
                 {"$FL3", "a file of SPSS"},
                 {"<sta", "a file of Stata"},
                 {"RDX2", "a file of R"},
                 {"RDX3", "a file of R"},
                 {"BZh", "a file packed by bzip2"},
                 {"\xFD"
                  "7zX",
                  "a file packed by xz"}};
    if (n >= KN_MAGIC_BYTES && memcmp(bytes, "\0\0\0\0", KN_MAGIC_BYTES) == 0)
        return "a file of SAS, or another one of a program's own";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n_magic = strlen(kinds[i].magic);
        if (n >= n_magic && memcmp(bytes, kinds[i].magic, n_magic) == 0) return kinds[i].kind;
    }
    return NULL;
}

typedef struct unpacking {
    int to, from;
    const char *name, *folder;
    kn_ticker *ticker;
    unsigned char *in, *out;
    size_t n_in, at; /* bytes in `in`, and how many of them are done with */
    uint64_t n_read, n_written;
    bool at_end;
} unpacking;

/* More packed bytes, once all are done with. */
static kn_status fill(unpacking *u, kn_error *err)
{
    kn_status status = KN_OK;
    if (u->at < u->n_in || u->at_end) goto done;
    for (;;) {
        const ssize_t n = read(u->from, u->in, BLOCK_BYTES);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = u->name), "%.1000s: cannot be read: %s", u->name, strerror(errno));
        u->at_end = n == 0;
        u->n_in = (size_t)n;
        u->at = 0;
        u->n_read += (uint64_t)n;
        break;
    }
    KN_TRY(kn_tick(u->ticker, "unpacking", -1, err));
done:
    return status;
}

static kn_status put(unpacking *u, size_t n, kn_error *err)
{
    kn_status status = KN_OK;
    for (size_t at = 0; at < n;) {
        const ssize_t done_bytes = write(u->to, u->out + at, n - at);
        if (done_bytes < 0 && errno != EINTR)
            KN_FAIL(KN_INPUT, "%.1000s: cannot be unpacked to %.500s: %s; set TMPDIR to a folder with room", u->name,
                    u->folder, strerror(errno));
        if (done_bytes > 0) at += (size_t)done_bytes;
    }
    u->n_written += n;
    if (u->n_written > HARMLESS_BYTES && u->n_written / MOST_TIMES > u->n_read)
        KN_FAIL_AT(
            KN_INPUT, KN_PLACE(.file = u->name),
            "%.1000s: it grows more than %d times when unpacked, as no table does; unpack it yourself if it is one",
            u->name, MOST_TIMES);
done:
    return status;
}

static kn_status damaged(const unpacking *u, const char *kind, const char *why, kn_error *err)
{
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = u->name),
                           "%.1000s: the %s file is damaged or cut off (%.200s); copy it again", u->name, kind, why);
}

static voidpf take_memory(voidpf user, uInt n, uInt size) { return kn_array_alloc_raw(n, size, NULL); }
static void give_back(voidpf user, voidpf memory) { kn_free(memory); }

static kn_status unpack_gzip(unpacking *u, kn_error *err)
{
    kn_status status = KN_OK;
    z_stream z = {.zalloc = take_memory, .zfree = give_back};
    bool in_part = true;
    if (inflateInit2(&z, 15 + 16) != Z_OK) KN_FAIL(KN_RESOURCES, "out of memory");
    for (;;) {
        KN_TRY(fill(u, err));
        if (u->at_end && !in_part) break;
        if (u->at_end) KN_TRY(damaged(u, "gzip", "it ends too early", err));
        if (!in_part && inflateReset(&z) != Z_OK) KN_TRY(damaged(u, "gzip", "no further part", err));
        in_part = true;
        z.next_in = u->in + u->at;
        z.avail_in = (uInt)(u->n_in - u->at);
        z.next_out = u->out;
        z.avail_out = BLOCK_BYTES;
        const int result = inflate(&z, Z_NO_FLUSH);
        u->at = u->n_in - z.avail_in;
        if (result == Z_MEM_ERROR) KN_FAIL(KN_RESOURCES, "out of memory");
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
            KN_TRY(damaged(u, "gzip", z.msg != NULL ? z.msg : "no gzip", err));
        KN_TRY(put(u, BLOCK_BYTES - z.avail_out, err));
        if (result == Z_STREAM_END) in_part = false;
    }
done:
    inflateEnd(&z);
    return status;
}

static kn_status unpack_zstd(unpacking *u, kn_error *err)
{
    kn_status status = KN_OK;
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t left = 1; /* 0: a part has ended */
    if (stream == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    for (;;) {
        KN_TRY(fill(u, err));
        if (u->at_end && left == 0) break;
        if (u->at_end) KN_TRY(damaged(u, "zstd", "it ends too early", err));
        ZSTD_inBuffer in = {u->in, u->n_in, u->at};
        ZSTD_outBuffer out = {u->out, BLOCK_BYTES, 0};
        left = ZSTD_decompressStream(stream, &out, &in);
        if (ZSTD_isError(left)) KN_TRY(damaged(u, "zstd", ZSTD_getErrorName(left), err));
        u->at = in.pos;
        KN_TRY(put(u, out.pos, err));
    }
done:
    ZSTD_freeDStream(stream);
    return status;
}

kn_status kn_unpack(int to, int from, kn_packing packing, const char *name, const char *folder, kn_ticker *ticker,
                    kn_error *err)
{
    kn_status status = KN_OK;
    unpacking u = {.to = to, .from = from, .name = name, .folder = folder, .ticker = ticker};
    KN_NEW_RAW(u.in, BLOCK_BYTES);
    KN_NEW_RAW(u.out, BLOCK_BYTES);
    KN_TRY(packing == KN_PACKED_GZIP ? unpack_gzip(&u, err) : unpack_zstd(&u, err));
done:
    kn_free(u.in);
    kn_free(u.out);
    return status;
}
