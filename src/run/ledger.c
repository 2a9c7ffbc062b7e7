/* Format: lines of text. The first says what it is and holds a random key; each further one is a release, its fields
 * separated by tabs:
 *
 *   when, rows, k, seed, QIs, hash of the table's bytes, hash of the released bytes, sketch of the rows, seal
 *
 * All hashes are HMAC-SHA-256 (RFC 2104) under the key. The sketch is the SKETCH smallest of the rows' hashes
 * (bottom-k, Cohen and Kaplan 2007): of two tables it tells the share of rows that they have in common. A row's hash is
 * the sum of its cells' over the columns with a role, each with the column's name, so that neither the order of the
 * columns nor that of the rows counts. Names of columns are the only words in the file; who has it can test a guess of
 * a whole row, so it is readable by its owner alone.
 *
 * It only grows: every entry is one write at the end under a lock, after all others were read under the same lock. A
 * line whose seal does not fit (a crash, an editor) is told of and left alone. */
#include "run/ledger.h"

#include "base/sha256.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_LINE "kanon ledger 1: private like the data, never to be released; key "
enum { KEY_BYTES = 32, SKETCH = 128, N_FIELDS = 9, FIRST_BYTES = sizeof FIRST_LINE - 1 + 2 * KEY_BYTES + 1 };

struct kn_ledger {
    char *path;
    int file;
    unsigned char key[KEY_BYTES];
};

/* --- Keyed hashes ------------------------------------------------------------------------------------------------ */

static void bytes_of_hex(unsigned char *out, const char *hex, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        out[i] = (unsigned char)byte;
    }
}

static void hash_begin(kn_sha256 *hash, const kn_ledger *ledger, unsigned char pad)
{
    unsigned char block[64];
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < KEY_BYTES; i++) block[i] ^= ledger->key[i];
    kn_sha256_begin(hash);
    kn_sha256_add(hash, block, sizeof block);
}

/* The end of HMAC, for what was added since hash_begin(&inner, ledger, 0x36). */
static void hash_end(char hex[KN_SHA256_HEX], kn_sha256 *inner, const kn_ledger *ledger)
{
    unsigned char digest[32];
    kn_sha256 outer;
    kn_sha256_end(hex, inner);
    bytes_of_hex(digest, hex, sizeof digest);
    hash_begin(&outer, ledger, 0x5c);
    kn_sha256_add(&outer, digest, sizeof digest);
    kn_sha256_end(hex, &outer);
}

static void hash_text(char hex[KN_SHA256_HEX], const kn_ledger *ledger, const char *text, size_t n_bytes)
{
    kn_sha256 inner;
    hash_begin(&inner, ledger, 0x36);
    kn_sha256_add(&inner, text, n_bytes);
    hash_end(hex, &inner, ledger);
}

/* "-" for what is no file. */
static kn_status hash_file(char hex[KN_SHA256_HEX], const kn_ledger *ledger, kn_files *files, const char *path,
                           kn_error *err)
{
    kn_status status = KN_OK;
    char buffer[1 << 14];
    kn_sha256 inner;
    int file = -1;
    ssize_t n = 1;
    strcpy(hex, "-");
    if (path == NULL || kn_is_table_name(path)) goto done;
    KN_TRY(kn_files_open(&file, files, path, err));
    if (file < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    hash_begin(&inner, ledger, 0x36);
    while (n != 0) {
        n = read(file, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
        kn_sha256_add(&inner, buffer, (size_t)n);
    }
    hash_end(hex, &inner, ledger);
done:
    if (file >= 0) close(file);
    return status;
}

/* --- The sketch of a table --------------------------------------------------------------------------------------- */

static uint64_t hash_cell(const kn_ledger *ledger, const char *name, const char *bytes, size_t n_bytes)
{
    char hex[KN_SHA256_HEX], first[17] = "";
    kn_sha256 inner;
    hash_begin(&inner, ledger, 0x36);
    kn_sha256_add(&inner, name, strlen(name) + 1);
    kn_sha256_add(&inner, bytes, n_bytes);
    hash_end(hex, &inner, ledger);
    memcpy(first, hex, 16);
    return strtoull(first, NULL, 16);
}

/* Ascending, each once. */
static void sketch_add(uint64_t sketch[SKETCH], size_t *n, uint64_t value)
{
    size_t at = *n;
    while (at > 0 && sketch[at - 1] > value) at--;
    if (at == SKETCH || (at > 0 && sketch[at - 1] == value)) return;
    if (*n < SKETCH) ++*n;
    memmove(sketch + at + 1, sketch + at, (*n - at - 1) * sizeof *sketch);
    sketch[at] = value;
}

static kn_status sketch_make(uint64_t sketch[SKETCH], size_t *n, const kn_ledger *ledger, const kn_table *table,
                             kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *rows = NULL, *cells = NULL;
    *n = 0;
    KN_NEW(rows, (size_t)table->n_rows + 1);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const kn_column *column = &table->columns[c];
        if (column->role == KN_ROLE_DROPPED || column->codes == NULL) continue;
        KN_NEW(cells, (size_t)column->n_spellings + 1);
        for (uint32_t s = 0; s < column->n_spellings; s++) {
            size_t n_bytes;
            const char *bytes = kn_column_bytes(column, s, &n_bytes);
            cells[s] = hash_cell(ledger, column->name, bytes, n_bytes);
        }
        for (uint32_t row = 0; row < table->n_rows; row++) rows[row] += cells[kn_column_code(column, row)];
        kn_free(cells);
        cells = NULL;
    }
    for (uint32_t row = 0; row < table->n_rows; row++) sketch_add(sketch, n, rows[row]);
done:
    kn_free(rows);
    kn_free(cells);
    return status;
}

static bool holds(const uint64_t *sketch, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++)
        if (sketch[i] == value) return true;
    return false;
}

/* Of the distinct rows of both tables the share that is in both, by the smallest hashes of the union. */
static double share_in_common(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b)
{
    uint64_t both[SKETCH];
    size_t n = 0, n_common = 0;
    for (size_t i = 0; i < n_a; i++) sketch_add(both, &n, a[i]);
    for (size_t i = 0; i < n_b; i++) sketch_add(both, &n, b[i]);
    for (size_t i = 0; i < n; i++) n_common += holds(a, n_a, both[i]) && holds(b, n_b, both[i]);
    return n > 0 ? (double)n_common / (double)n : 0;
}

/* --- Entries ------------------------------------------------------------------------------------------------------ */

typedef struct entry {
    const char *fields[N_FIELDS]; /* when, rows, k, seed, QIs, table, release, sketch, seal */
    uint64_t sketch[SKETCH];
    size_t n_sketch;
} entry;
enum { WHEN, ROWS, K, SEED, QIS, DATA, RELEASE, ROW_HASHES, SEAL };

/* Cuts the line at its tabs; false: it is damaged. */
static bool entry_read(entry *out, char *line, const kn_ledger *ledger)
{
    char seal[KN_SHA256_HEX];
    char *last = strrchr(line, '\t'), *at = line;
    if (last == NULL) return false;
    hash_text(seal, ledger, line, (size_t)(last - line));
    if (strcmp(seal, last + 1) != 0) return false;
    for (size_t f = 0; f < N_FIELDS; f++) {
        out->fields[f] = at;
        at = strchr(at, '\t');
        if ((at == NULL) != (f + 1 == N_FIELDS)) return false;
        if (at != NULL) *at++ = '\0';
    }
    out->n_sketch = 0;
    for (const char *hex = out->fields[ROW_HASHES]; strlen(hex) >= 16 && out->n_sketch < SKETCH; hex += 16) {
        char one[17] = "";
        memcpy(one, hex, 16);
        out->sketch[out->n_sketch++] = strtoull(one, NULL, 16);
    }
    return true;
}

/* Names as words: a tab or a line end in one is a blank here. */
static void qis_text(kn_buffer *out, const kn_input *input)
{
    for (uint32_t q = 0; q < input->n_qis; q++) {
        if (q > 0) kn_buffer_text(out, ", ");
        for (const char *at = input->domains[q]->name; *at != '\0'; at++)
            kn_buffer_char(out, (unsigned char)*at < ' ' ? ' ' : *at);
    }
}

static kn_status entry_write(kn_buffer *line, entry *now, const kn_ledger *ledger, kn_input *input,
                             const char *release_path, kn_error *err)
{
    kn_status status = KN_OK;
    char when[32], data[KN_SHA256_HEX], release[KN_SHA256_HEX], seal[KN_SHA256_HEX];
    time_t clock = time(NULL);
    struct tm utc;
    KN_TRY(hash_file(data, ledger, input->files, input->path, err));
    KN_TRY(hash_file(release, ledger, NULL, release_path, err));
    KN_TRY(sketch_make(now->sketch, &now->n_sketch, ledger, input->table, err));
    strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", gmtime_r(&clock, &utc));
    kn_buffer_printf(line, "%s\t%u\t%llu\t%llu\t", when, input->table->n_rows,
                     (unsigned long long)input->models->min_persons, (unsigned long long)input->request->seed);
    qis_text(line, input);
    kn_buffer_printf(line, "\t%s\t%s\t", data, release);
    for (size_t i = 0; i < now->n_sketch; i++) kn_buffer_printf(line, "%016llx", (unsigned long long)now->sketch[i]);
    if (line->failed) KN_FAIL(KN_RESOURCES, "out of memory");
    hash_text(seal, ledger, line->bytes, line->n);
    kn_buffer_printf(line, "\t%s\n", seal);
    if (line->failed) KN_FAIL(KN_RESOURCES, "out of memory");
done:
    return status;
}

/* --- The file ----------------------------------------------------------------------------------------------------- */

static kn_status cannot(const kn_ledger *ledger, const char *what, kn_error *err)
{
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.option = "ledger", .file = ledger->path), "ledger %.800s: %s: %s",
                           ledger->path, what, strerror(errno));
}

static kn_status write_all(const kn_ledger *ledger, const char *bytes, size_t n_bytes, kn_error *err)
{
    while (n_bytes > 0) {
        ssize_t n = write(ledger->file, bytes, n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return cannot(ledger, "cannot be written", err);
        bytes += n;
        n_bytes -= (size_t)n;
    }
    return fsync(ledger->file) == 0 || errno == EINVAL ? KN_OK : cannot(ledger, "cannot be written", err);
}

static kn_status read_all(kn_buffer *out, const kn_ledger *ledger, kn_error *err)
{
    kn_status status = KN_OK;
    ssize_t n = 1;
    while (n != 0) {
        if (!kn_buffer_reserve(out, (1 << 16) + 1)) KN_FAIL(KN_RESOURCES, "out of memory");
        n = pread(ledger->file, out->bytes + out->n, 1 << 16, (off_t)out->n);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_TRY(cannot(ledger, "cannot be read", err));
        out->n += (size_t)n;
    }
    out->bytes[out->n] = '\0';
done:
    return status;
}

/* Under the lock: a new ledger gets its key, an old one gives it. */
static kn_status first_line(kn_ledger *ledger, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer all = {0};
    char line[FIRST_BYTES + 1];
    KN_TRY(read_all(&all, ledger, err));
    if (all.n == 0) {
        if (getrandom(ledger->key, KEY_BYTES, 0) != KEY_BYTES) KN_TRY(cannot(ledger, "no random key", err));
        size_t n = (size_t)snprintf(line, sizeof line, FIRST_LINE);
        for (size_t i = 0; i < KEY_BYTES; i++) n += (size_t)sprintf(line + n, "%02x", ledger->key[i]);
        line[n++] = '\n';
        KN_TRY(write_all(ledger, line, n, err));
        goto done;
    }
    const size_t n_words = strlen(FIRST_LINE);
    if (all.n < FIRST_BYTES || memcmp(all.bytes, FIRST_LINE, n_words) != 0 ||
        strspn(all.bytes + n_words, "0123456789abcdef") != 2 * KEY_BYTES || all.bytes[FIRST_BYTES - 1] != '\n')
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "ledger", .file = ledger->path, .line = 1),
                   "%.800s is no ledger, or its first line was changed; nothing was written to it; restore it, or name "
                   "another file",
                   ledger->path);
    bytes_of_hex(ledger->key, all.bytes + n_words, KEY_BYTES);
done:
    kn_buffer_free(&all);
    return status;
}

static kn_status lock(const kn_ledger *ledger, kn_error *err)
{
    while (flock(ledger->file, LOCK_EX) != 0)
        if (errno != EINTR) return cannot(ledger, "cannot be locked", err);
    return KN_OK;
}

kn_status kn_ledger_open(kn_ledger **out, const kn_input *input, kn_error *err)
{
    kn_status status = KN_OK;
    kn_ledger *ledger = NULL;
    kn_buffer path = {0};
    struct stat about;
    const kn_request *request = input->request;
    *out = NULL;
    if (request->ledger == NULL) return KN_OK;
    KN_NEW(ledger, 1);
    ledger->file = -1;
    if (request->ledger_folder != NULL && request->ledger[0] != '/')
        kn_buffer_printf(&path, "%s/", request->ledger_folder);
    kn_buffer_text(&path, request->ledger);
    KN_TRY(kn_buffer_finish(&ledger->path, &path, err));
    KN_TRY(kn_error_about(err, kn_files_guard(input->files, "ledger", ledger->path, err),
                          KN_PLACE(.option = "ledger", .file = ledger->path)));
    ledger->file = kn_file_growing(ledger->path);
    if (ledger->file < 0 || fstat(ledger->file, &about) != 0) KN_TRY(cannot(ledger, "cannot be opened", err));
    if (!S_ISREG(about.st_mode) || (about.st_mode & 077) != 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "ledger", .file = ledger->path), "ledger %.800s: %s", ledger->path,
                   S_ISREG(about.st_mode) ? "others than its owner may read it; say chmod 600, if it is a ledger"
                                          : "it is no file");
    KN_TRY(lock(ledger, err));
    KN_TRY(first_line(ledger, err));
    flock(ledger->file, LOCK_UN);
    *out = ledger;
    ledger = NULL;
done:
    kn_buffer_free(&path);
    kn_ledger_close(ledger);
    return status;
}

void kn_ledger_close(kn_ledger *ledger)
{
    if (ledger == NULL) return;
    if (ledger->file >= 0) close(ledger->file); /* and with it the lock */
    kn_free(ledger->path);
    kn_free(ledger);
}

/* --- Looking back ------------------------------------------------------------------------------------------------- */

typedef struct looking {
    entry last; /* of the releases to warn of, the last one */
    double share;
    uint32_t n_before, n_damaged;
    bool is_known; /* the same release of the same table */
} looking;

/* A tenth of the rows is enough to link the others; less is chance, or a few people. */
#define SHARE_TOLD 0.1

static void look_back(looking *out, char *lines, entry *now, const kn_ledger *ledger)
{
    for (char *line = lines, *next; *line != '\0'; line = next) {
        entry before;
        next = line + strcspn(line, "\n");
        if (*next == '\n') *next++ = '\0';
        if (*line == '\0') continue;
        if (!entry_read(&before, line, ledger)) {
            out->n_damaged++;
            continue;
        }
        const bool is_same_file =
            strcmp(now->fields[DATA], "-") != 0 && strcmp(now->fields[DATA], before.fields[DATA]) == 0;
        const double share =
            is_same_file ? 1 : share_in_common(now->sketch, now->n_sketch, before.sketch, before.n_sketch);
        if (share < SHARE_TOLD) continue;
        if (is_same_file && strcmp(now->fields[RELEASE], "-") != 0 &&
            strcmp(now->fields[RELEASE], before.fields[RELEASE]) == 0) {
            out->is_known = true; /* who has the one has the other */
            continue;
        }
        out->n_before++;
        out->last = before;
        out->share = share;
    }
}

static void warn(kn_input *input, const looking *found, const kn_ledger *ledger)
{
    const entry *last = &found->last;
    if (found->n_damaged > 0)
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_LEDGER_DAMAGED, kn_piece_text(ledger->path),
                                                   kn_piece_number("%u", found->n_damaged)));
    if (found->n_before == 0) return;
    if (found->share > 0.999)
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_RELEASED_BEFORE, kn_piece_text(last->fields[WHEN]),
                                                   kn_piece_text(last->fields[K]), kn_piece_text(last->fields[SEED]),
                                                   kn_piece_text(last->fields[QIS])));
    else
        kn_sentences_add(&input->warnings,
                         KN_SAID(KN_SAY_RELEASED_PARTLY, kn_piece_number("%.2f", found->share),
                                 kn_piece_text(last->fields[WHEN]), kn_piece_text(last->fields[K]),
                                 kn_piece_text(last->fields[SEED]), kn_piece_text(last->fields[QIS])));
    if (found->n_before > 1)
        kn_sentences_add(&input->warnings, KN_SAID(KN_SAY_RELEASED_OFTEN, kn_piece_number("%u", found->n_before - 1)));
}

kn_status kn_ledger_enter(kn_ledger *ledger, kn_input *input, const char *release_path, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer line = {0}, all = {0};
    char *copy = NULL;
    entry now;
    looking found = {0};
    if (ledger == NULL) return KN_OK;
    KN_TRY(entry_write(&line, &now, ledger, input, release_path, err));
    copy = kn_string_copy(line.bytes, line.n - 1, err);
    if (copy == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    entry_read(&now, copy, ledger);
    KN_TRY(lock(ledger, err));
    KN_TRY(read_all(&all, ledger, err));
    const bool is_whole = all.n > 0 && all.bytes[all.n - 1] == '\n';
    look_back(&found, all.bytes + (all.n > FIRST_BYTES ? FIRST_BYTES : all.n), &now, ledger);
    warn(input, &found, ledger);
    if (!found.is_known) {
        kn_buffer entry_line = {0};
        kn_buffer_printf(&entry_line, "%s", is_whole ? "" : "\n"); /* a torn line stays one */
        kn_buffer_append(&entry_line, line.bytes, line.n);
        status = entry_line.failed ? kn_error_set(err, KN_RESOURCES, "out of memory")
                                   : write_all(ledger, entry_line.bytes, entry_line.n, err);
        kn_buffer_free(&entry_line);
    }
    flock(ledger->file, LOCK_UN);
done:
    kn_buffer_free(&line);
    kn_buffer_free(&all);
    kn_free(copy);
    return status;
}
