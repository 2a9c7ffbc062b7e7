/* Where libduckdb is looked for: where KANON_DUCKDB says, in the user's own folder, where `make duckdb` puts it, and in
 * the folders of the system. Only absolute paths: neither the current folder nor LD_LIBRARY_PATH decides which code
 * runs on the data. */
#include "duckdb/duckdb_api.h"

#include "base/buffer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char LIBRARY[] = "libduckdb.so";

static bool has_ending(const char *path, size_t n, const char *ending)
{
    const size_t n_ending = strlen(ending);
    return n > n_ending && strncasecmp(path + n - n_ending, ending, n_ending) == 0;
}

kn_file_kind kn_file_kind_of(const char *path)
{
    static const char *const json[] = {".json", ".jsonl", ".ndjson"}, *const packed[] = {".gz", ".zst"};
    size_t n = strlen(path);
    if (kn_is_table_name(path)) return KN_FILE_CSV;
    if (has_ending(path, n, ".parquet")) return KN_FILE_PARQUET;
    for (size_t i = 0; i < 2; i++)
        if (has_ending(path, n, packed[i])) n -= strlen(packed[i]);
    for (size_t i = 0; i < 3; i++)
        if (has_ending(path, n, json[i])) return KN_FILE_JSON;
    return KN_FILE_CSV;
}

bool kn_is_csv(const char *path) { return !kn_is_table_name(path) && kn_file_kind_of(path) == KN_FILE_CSV; }

/* --- Where -------------------------------------------------------------------------------------------------------- */

/* XDG_DATA_HOME/kanon, by default ~/.local/share/kanon; the standard says that a relative one is none. False: none. */
static bool own_folder(kn_buffer *out)
{
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    if (data != NULL && data[0] == '/') kn_buffer_printf(out, "%s/kanon/%s", data, LIBRARY);
    else if (home != NULL && home[0] == '/') kn_buffer_printf(out, "%s/.local/share/kanon/%s", home, LIBRARY);
    return out->n > 0;
}

/* The path of the library; where nobody has it, how to get it. */
static kn_status find_library(kn_buffer *out, kn_error *err)
{
    static const char *const folders[] = {
        "/usr/local/lib/kanon",       "/usr/local/lib", "/usr/lib", "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/usr/lib64"};
    kn_status status = KN_OK;
    const char *asked = secure_getenv("KANON_DUCKDB");
    if (asked != NULL && asked[0] != '\0') {
        if (asked[0] != '/')
            KN_FAIL(KN_USAGE, "KANON_DUCKDB is '%.500s'; give the library's whole path, from / on", asked);
        kn_buffer_text(out, asked);
        goto done;
    }
    if (own_folder(out) && !out->failed && access(out->bytes, R_OK) == 0) goto done;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        kn_buffer_clear(out);
        kn_buffer_printf(out, "%s/%s", folders[i], LIBRARY);
        if (!out->failed && access(out->bytes, R_OK) == 0) goto done;
    }
    if (!out->failed)
        KN_FAIL(KN_USAGE,
                "Parquet, JSON and SQL need libduckdb %d.%d or later, which is not installed; `make duckdb` "
                "in kanon's folder installs it for you, or set KANON_DUCKDB to its path",
                KN_DUCKDB_MAJOR, KN_DUCKDB_MINOR);
done:
    if (out->failed) status = kn_error_set(err, KN_RESOURCES, "out of memory");
    return status;
}

/* --- Loading ------------------------------------------------------------------------------------------------------ */

static kn_status check_version(const kn_duckdb_api *api, const char *path, kn_error *err)
{
    int major = 0, minor = 0;
    const char *version = api->library_version != NULL ? api->library_version() : "unknown";
    sscanf(version, "v%d.%d", &major, &minor);
    if (major > KN_DUCKDB_MAJOR || (major == KN_DUCKDB_MAJOR && minor >= KN_DUCKDB_MINOR)) return KN_OK;
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.file = path),
                           "%.500s: DuckDB %.40s is too old; %d.%d or later is needed: `make duckdb` in kanon's folder "
                           "installs one, or set KANON_DUCKDB to its path",
                           path, version, KN_DUCKDB_MAJOR, KN_DUCKDB_MINOR);
}

/* A library is not closed again: DuckDB's threads and destructors may still run. */
kn_status kn_duckdb_load(kn_duckdb_api *out, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer path = {0};
    *out = (kn_duckdb_api){0};
    KN_TRY(find_library(&path, err));
    void *library = dlopen(path.bytes, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.file = path.bytes),
                   "libduckdb cannot be loaded: %.500s; `make duckdb` in kanon's folder installs one, or set "
                   "KANON_DUCKDB to its path",
                   dlerror());
    const char *missing = NULL;
    void *found;
#define FIND(type, name, arguments)                                                                                    \
    found = dlsym(library, "duckdb_" #name);                                                                           \
    if (found == NULL) missing = "duckdb_" #name;                                                                      \
    memcpy(&out->name, &found, sizeof found);
    KN_DUCKDB_CALLS(FIND)
#undef FIND
    KN_TRY(check_version(out, path.bytes, err));
    if (missing != NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.file = path.bytes), "%.500s is no whole libduckdb: it lacks %s", path.bytes,
                   missing);
done:
    kn_buffer_free(&path);
    return status;
}
