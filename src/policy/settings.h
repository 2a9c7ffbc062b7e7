/* What the user asked for: a list of (option, value), from flags and from the policy file. A flag overrides the
 * policy; of two equal flags the last one counts, except for options that add up.
 *
 * Options are named like the long flags (options.c is the table); "data", "release" and "what" stand for the arguments
 * without a flag. The policy file is translated into the same options, so every later stage knows one vocabulary. */
#ifndef KN_POLICY_SETTINGS_H
#define KN_POLICY_SETTINGS_H

#include "base/buffer.h"
#include "base/param.h"
#include "base/files.h"
#include "base/sha256.h"
#include "base/tick.h"
#include "table/batches.h"
#include "table/table.h"

typedef struct kn_setting {
    char *option, *value;
    char *where; /* "policy.yaml:12:5", with ": key" where the key says more; NULL: a flag */
} kn_setting;

struct kn_settings {
    kn_account *account;
    KN_VECTOR(kn_setting) items;
    kn_tables tables;    /* in memory; values name them `table:NAME` */
    char *policy_path;   /* NULL without one */
    char *policy_folder; /* file names in the policy are relative to it */
    char policy_hash[KN_SHA256_HEX];
    bool policy_is_file; /* and no pipe */
    kn_file_id policy_id;
    kn_progress_fn progress;
    void *progress_user;
    const volatile int *cancel;
    /* Told where the release is after it was written and before it is verified: its path, or its arrays in memory. For
     * tests, which spoil it there: no function, flag or variable of the environment sets it. */
    void (*after_write)(void *user, const char *path, const kn_batches *batches);
    void *after_write_user;
};

/* Checks that the option exists and the value has its form. `where` NULL: a flag. */
kn_status kn_settings_add(kn_settings *settings, const char *option, const char *value, const char *where,
                          kn_error *err);

/* The value in force, NULL when nobody set it. */
const char *kn_settings_text(const kn_settings *settings, const char *option);
const kn_setting *kn_settings_find(const kn_settings *settings, const char *option);
bool kn_settings_flag(const kn_settings *settings, const char *option);
/* The preset when nobody set it. kn_settings_add has checked that it is a number inside the option's bounds. */
double kn_settings_number(const kn_settings *settings, const char *option, double preset);
/* "5" rows or "2%" of them, as the user wrote it; 0 when nobody set it. */
double kn_settings_suppression(const kn_settings *settings, bool *is_percent);
/* A level of a hierarchy: a whole number from 0. `text` need not end after n_bytes. */
bool kn_level_read(uint32_t *out, const char *text, size_t n_bytes);
/* The n-th setting of an option that adds up: flags if there are any, otherwise the policy's. NULL past the end. */
const kn_setting *kn_settings_nth(const kn_settings *settings, const char *option, size_t n);
/* Whether a setting counts: a flag always does; a policy's unless a flag says otherwise about the same column (roles
 * and COL=... options), the same model of the same column (--model; one that names no column protects the only
 * sensitive one; -k is k-anonymity), or the same option (all others). A flag never takes away what it does not mention.
 */
bool kn_setting_in_force(const kn_settings *settings, const kn_setting *setting);
/* The model that a setting of -k or --model asks for, appended to `spec`: "k-anonymity:k=5". */
void kn_setting_model(kn_buffer *spec, const kn_setting *setting);
/* What messages call the place of a setting: "--qi", or "policy.yaml:12:5". `buffer` as large as KN_SHOWN_BYTES. */
const char *kn_setting_place(char *buffer, const kn_setting *setting);

/* Adds option and place of a setting to a message about it, and the column where one is named; returns `status`. */
kn_status kn_setting_about(kn_error *err, kn_status status, const kn_setting *setting, const char *column);

/* The settings of one column of the data, resolved. */
typedef struct kn_column_choice {
    kn_role role;
    uint32_t mention; /* 0, 1, ...: in which order roles were given; quasi-identifiers are reported in it */
    kn_type type;
    bool is_person;
    const char *hierarchy;        /* SPEC or file; NULL: none. Borrowed from the settings */
    const char *hierarchy_folder; /* NULL: the current folder */
    const char *hierarchy_where;  /* in the policy; NULL: a flag */
    double weight;
    uint32_t min_level, max_level; /* KN_NONE: no upper limit */
} kn_column_choice;

typedef enum kn_columns_mode {
    KN_COLUMNS_OF_DATA,     /* every name in the settings must be there; unlisted columns as the user says */
    KN_COLUMNS_OF_ORIGINAL, /* behind a release: every name must be there, unlisted columns are just not listed */
    KN_COLUMNS_OF_RELEASE,  /* a released file: identifiers may be missing, unlisted columns are just not listed */
    KN_COLUMNS_OF_HIERARCHY /* a table of which only the columns with a hierarchy matter: they are quasi-identifiers */
} kn_columns_mode;

/* One choice per column name of the data. Names that the data does not have, two roles for one column, unlisted
 * columns under `error`: KN_USAGE. Columns left out because nobody mentioned them are appended to `warnings`, one
 * line. *out is yours to kn_free. */
kn_status kn_settings_columns(kn_column_choice **out, const kn_settings *settings, const char *const *names,
                              uint32_t n_names, kn_columns_mode mode, kn_buffer *warnings, kn_error *err);

/* What messages call a column of a file: its name. Under --redact `#3`, unless the user named it: where there is no
 * header after all, the names are the first person's data. `buffer` as large as KN_SHOWN_BYTES. */
const char *kn_settings_column_shown(char *buffer, const kn_settings *settings, const char *name, uint32_t index);
/* Whether some setting gives the column a role. */
bool kn_settings_name_column(const kn_settings *settings, const char *name);

/* A model, measure or algorithm that a policy may name. Their registries are no business of policy/: run/ lists them.
 */
typedef struct kn_entry {
    const char *name;
    const kn_param *params;
    size_t n_params;
} kn_entry;
#define KN_MAX_ENTRIES 64
/* `what` is "model", "measure" or "algorithm"; returns how many there are. */
typedef size_t kn_entries_fn(kn_entry out[KN_MAX_ENTRIES], const char *what);

/* Translates a policy file into settings (policy_file.c). */
kn_status kn_policy_load(kn_settings *settings, const char *path, kn_entries_fn *entries, kn_error *err);

#endif
