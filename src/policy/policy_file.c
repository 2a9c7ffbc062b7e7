/* The policy file: YAML in, settings out.
 *
 * Every key of the schema below leads to options of options.def, so the policy and the flags speak one language and the
 * later stages know nothing of YAML. Scalars are text until our own schema reads them: the country code NO stays NO,
 * 01234 keeps its zero. What the schema does not know is an error at its line and column, with the nearest known word.
 * yaml.c refuses what hides something: a policy is to be read from top to bottom by whoever signs for it.
 *
 * All slips are told at once: every loop over keys, columns, models and parameters hands what failed to
 * kn_policy_note_slip and goes on, and what builds on the part with the slip (a role, a whole model) is left out
 * instead of being told of too. Only what yaml.c refuses stands alone, because nobody knows what was meant behind it.
 */
#include "policy/policy_read.h"
#include "policy/column_names.h"

#include "base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_POLICY_BYTES (1 << 20)

static kn_status read_null_values(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                  const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    kn_buffer list = {0};
    if (value == NULL || value->kind != KN_YAML_LIST) KN_FAIL(KN_USAGE, "%s: null_values is a list: [\"\", NA]", where);
    if (value->first == NULL)
        KN_FAIL(KN_USAGE, "%s: null_values is empty; leave it out: then the empty cell is missing", where);
    KN_TRY(kn_policy_append_list(&list, load, field->name, value, ',', where));
    if (list.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    /* The empty cell alone is the default, and an empty option has no value. */
    if (list.n > 0) KN_TRY(kn_settings_add(load->settings, "null", list.bytes, where, err));
done:
    kn_buffer_free(&list);
    return status;
}

static const kn_policy_key input_keys[] = {
    {"null_values", read_null_values, NULL},           {"encoding", kn_policy_read_option, "encoding"},
    {"delimiter", kn_policy_read_option, "delimiter"}, {"header", kn_policy_read_switch, "no-header"},
    {"trim", kn_policy_read_switch, "trim"},           {"decimal", kn_policy_read_option, "decimal"},
    {"invalid", kn_policy_read_option, "invalid"},
};

static kn_status read_input(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value, const char *where,
                            void *context)
{
    return kn_policy_read_mapping(load, value, "input", input_keys, sizeof input_keys / sizeof *input_keys, where,
                                  NULL);
}

static const kn_policy_key suppression_keys[] = {{"max", kn_policy_read_option, "max-suppressed"}};
static const kn_policy_key risk_keys[] = {{"threshold", kn_policy_read_option, "threshold"}};

static kn_status read_suppression(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                  const char *where, void *context)
{
    return kn_policy_read_mapping(load, value, "suppression", suppression_keys, 1, where, NULL);
}

static kn_status read_risk(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value, const char *where,
                           void *context)
{
    return kn_policy_read_mapping(load, value, "risk", risk_keys, 1, where, NULL);
}

static kn_status read_version(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                              const char *where, void *context)
{
    char *text = NULL;
    kn_status status = kn_policy_text(&text, load, "version", value, where);
    if (status == KN_OK && strcmp(text, "1") != 0)
        status = kn_error_set(load->err, KN_USAGE,
                              "%s: version '%.40s' of the policy is not known here; this program knows 1", where, text);
    if (status == KN_OK) *(bool *)context = true;
    kn_free(text);
    return status;
}

/* Relative to the policy, as all names of files in it. */
static kn_status read_target(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                             const char *where, void *context)
{
    kn_status status = KN_OK;
    kn_error *err = load->err;
    char place[KN_POLICY_PLACE_BYTES], *text = NULL;
    const char *folder = load->settings->policy_folder;
    kn_buffer path = {0};
    KN_TRY(kn_policy_text(&text, load, field->name, value, where));
    if (text[0] != '/' && strcmp(folder, ".") != 0) kn_buffer_printf(&path, "%s/", folder);
    kn_buffer_text(&path, text);
    if (path.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    kn_policy_place(place, load, value, where);
    KN_TRY(kn_settings_add(load->settings, field->option, path.bytes, place, err));
done:
    kn_free(text);
    kn_buffer_free(&path);
    return status;
}

static const kn_policy_key policy_keys[] = {
    {"version", read_version, NULL},
    {"input", read_input, NULL},
    {"person", kn_policy_read_option, "person"},
    {"unit", kn_policy_read_option, "unit"},
    {"unlisted_columns", kn_policy_read_option, "unlisted"},
    {"columns", kn_policy_read_columns, NULL},
    {"models", kn_policy_read_models, NULL},
    {"suppression", read_suppression, NULL},
    {"missing", kn_policy_read_option, "missing"},
    {"fold_sensitive", kn_policy_read_switch, "fold-sensitive"},
    {"allow_copy", kn_policy_read_switch, "allow-copy"},
    {"algorithm", kn_policy_read_entry, "algorithm"},
    {"measure", kn_policy_read_entry, "measure"},
    {"recoding", kn_policy_read_option, "recoding"},
    {"risk", read_risk, NULL},
    {"seed", kn_policy_read_option, "seed"},
    {"effort", kn_policy_read_option, "effort"},
    {"time_limit", kn_policy_read_option, "time-limit"},
    {"order", kn_policy_read_option, "order"},
    {"cells", kn_policy_read_option, "cells"},
    {"language", kn_policy_read_option, "language"},
    {"codebook", read_target, "codebook"},
    {"ledger", kn_policy_read_option, "ledger"},
};

/* --- The file ----------------------------------------------------------------------------------------------------- */

/* By read(), which needs no memory of the C library's. */
static kn_status file_text(char **out, size_t *n_bytes, kn_settings *settings, const char *path, kn_error *err)
{
    kn_status status = KN_OK;
    char *bytes = NULL;
    int file = -1;
    ssize_t n = 1;
    *out = NULL;
    KN_TRY(kn_files_open(&file, NULL, path, err));
    if (file < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
    settings->policy_is_file = kn_file_identify(&settings->policy_id, file);
    KN_NEW(bytes, MAX_POLICY_BYTES + 1);
    *n_bytes = 0;
    while (n != 0 && *n_bytes < MAX_POLICY_BYTES) {
        n = read(file, bytes + *n_bytes, MAX_POLICY_BYTES - *n_bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_FAIL(KN_INPUT, "%.1000s: %s", path, strerror(errno));
        *n_bytes += (size_t)n;
    }
    *out = bytes;
    bytes = NULL;
done:
    if (file >= 0) close(file);
    kn_free(bytes);
    return status;
}

/* A NUL byte, which some editors show as the end of the file; wide characters are full of them. */
static kn_status check_bytes(const char *path, const char *text, size_t n_bytes, kn_error *err)
{
    bool is_marked = n_bytes >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
    bool is_wide = n_bytes >= 2 && (text[0] == '\0') != (text[1] == '\0'); /* a policy starts with ASCII */
    bool is_wider = n_bytes >= 4 && text[0] == '\0' && text[1] == '\0' && (text[2] != '\0' || text[3] != '\0');
    if (is_marked || is_wide || is_wider)
        return kn_error_set(err, KN_USAGE,
                            "%.1000s: the policy is UTF-16 or UTF-32; save it as UTF-8 (iconv -f utf-16 -t utf-8)",
                            path);
    const char *nul = memchr(text, '\0', n_bytes);
    if (nul == NULL) return KN_OK;
    unsigned line = 1, character = 1;
    for (const char *at = text; at < nul; at++) {
        bool ends_line = *at == '\n' || (*at == '\r' && at[1] != '\n');
        line += ends_line;
        if (ends_line) character = 1;
        else character += ((unsigned char)*at & 0xC0) != 0x80; /* characters, as the parser counts them */
    }
    return kn_error_set(err, KN_USAGE,
                        "%.1000s:%u:%u: a NUL byte; a policy is text, and what stands behind this byte would be lost: "
                        "remove it",
                        path, line, character);
}

static kn_status remember_path(kn_settings *settings, const char *path, kn_error *err)
{
    const char *slash = strrchr(path, '/');
    size_t n_folder = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    kn_free(settings->policy_path);
    kn_free(settings->policy_folder);
    settings->policy_path = kn_string_copy(path, strlen(path), err);
    settings->policy_folder = kn_string_copy(slash == NULL ? "." : path, n_folder, err);
    if (settings->policy_path == NULL || settings->policy_folder == NULL) return KN_RESOURCES;
    return KN_OK;
}

static kn_status check_only(const kn_settings *settings, kn_error *err)
{
    if (settings->policy_path == NULL) return KN_OK;
    return kn_error_set(err, KN_USAGE, "a policy was read already (%.500s); give one", settings->policy_path);
}

/* What is said of columns is looked at beside the data. Where that is not going to happen, what needs no data is told
 * of here: the same slips, or somebody would mend the file twice. */
static kn_status note_details(kn_policy_loader *load)
{
    kn_status status = KN_OK;
    kn_column_names names = {0};
    KN_TRY(kn_column_names_make(&names, load->settings, NULL, 0, load->err));
    for (size_t i = 0; i < load->settings->items.n; i++) {
        const kn_setting *setting = &load->settings->items.items[i];
        if (setting->where == NULL || setting->field->kind != KN_FIELD_DETAIL) continue;
        KN_TRY(kn_policy_note_slip(load, kn_setting_check_detail(load->settings, &names, setting, load->err)));
    }
done:
    kn_column_names_free(&names);
    return status;
}

static kn_status read_policy(kn_settings *settings, const char *text, size_t n_bytes, const char *path,
                             kn_entries_fn *entries, kn_error *err)
{
    kn_status status = KN_OK;
    bool has_version = false;
    kn_yaml *root = NULL;
    kn_sha256 hash;
    kn_policy_loader load = {settings, entries, path, err};
    if (n_bytes >= MAX_POLICY_BYTES) KN_FAIL(KN_USAGE, "%.1000s: a policy has less than 1 MB", path);
    kn_sha256_begin(&hash); /* of what is obeyed: the file may change, and a pipe is read once */
    kn_sha256_add(&hash, text, n_bytes);
    kn_sha256_end(settings->policy_hash, &hash);
    KN_TRY(check_bytes(path, text, n_bytes, err));
    KN_TRY(kn_yaml_parse(&root, text, n_bytes, path, err));
    KN_TRY(remember_path(settings, path, err));
    if (root == NULL) KN_FAIL(KN_USAGE, "%.1000s: the policy is empty", path);
    KN_TRY(kn_policy_read_mapping(&load, root, "the policy", policy_keys, sizeof policy_keys / sizeof *policy_keys,
                                  path, &has_version));
    if (!has_version && kn_policy_n_slips(&load) < KN_POLICY_MOST_SLIPS && kn_yaml_find(root, "version") == NULL)
        status =
            kn_policy_note_slip(&load, kn_error_set(err, KN_USAGE, "%.1000s: the policy must say 'version: 1'", path));
    if (status == KN_OK && kn_policy_n_slips(&load) > 0) status = note_details(&load);
done:
    kn_yaml_free(root);
    return status;
}

static bool is_before(const kn_problem *one, const kn_problem *other)
{
    const kn_error *a = &one->about, *b = &other->about;
    if ((a->line == 0) != (b->line == 0)) return b->line == 0;
    return a->line != b->line ? a->line < b->line : a->character < b->character;
}

/* By their places; what has none comes last. */
static void sort_slips(kn_problems *slips)
{
    for (size_t i = 1; i < slips->items.n; i++)
        for (size_t at = i; at > 0 && is_before(&slips->items.items[at], &slips->items.items[at - 1]); at--) {
            const kn_problem later = slips->items.items[at - 1];
            slips->items.items[at - 1] = slips->items.items[at];
            slips->items.items[at] = later;
        }
}

/* The first problem for `err`, all of them for kn_settings_nth_problem. */
static kn_status tell(kn_settings *settings, kn_status status, const char *path, kn_error *found, kn_error *err)
{
    kn_problems *slips = &settings->problems;
    status = kn_problem_note(slips, kn_policy_slip_placed(status, path, found), found);
    if (status != KN_OK) { /* memory: nobody knows what else is wrong */
        kn_problems_free(slips);
        return kn_error_pass(err, status, found);
    }
    sort_slips(slips);
    if (slips->items.n == 0) return KN_OK;
    return kn_error_pass(err, slips->items.items[0].about.code, &slips->items.items[0].about);
}

kn_status kn_policy_load_text(kn_settings *settings, const char *text, size_t n_bytes, const char *path,
                              kn_entries_fn *entries, kn_error *err)
{
    kn_error found = {0};
    kn_problems_free(&settings->problems);
    kn_status status = check_only(settings, &found);
    if (status == KN_OK) status = read_policy(settings, text, n_bytes, path, entries, &found);
    return tell(settings, status, path, &found, err);
}

kn_status kn_policy_load(kn_settings *settings, const char *path, kn_entries_fn *entries, kn_error *err)
{
    kn_status status = KN_OK;
    kn_error found = {0};
    char *text = NULL;
    size_t n_bytes = 0;
    kn_problems_free(&settings->problems);
    KN_TRY(check_only(settings, &found));
    KN_TRY(file_text(&text, &n_bytes, settings, path, &found));
    KN_TRY(read_policy(settings, text, n_bytes, path, entries, &found));
done:
    kn_free(text);
    return tell(settings, status, path, &found, err);
}
