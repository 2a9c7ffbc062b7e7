/* What the user asked for: a list of (option, value), from flags and from the policy file. A flag overrides the
 * policy; of two equal flags the last one counts, except for options that add up, and for what is said of a column: two
 * flags that say different things of one are refused.
 *
 * Options are named like the long flags (options.def is the table); "data", "release" and "what" stand for the
 * arguments without a flag. The policy file is translated into the same options, so there is one vocabulary. Private to
 * policy/: everybody else sees a kn_request. */
#ifndef KN_POLICY_SETTINGS_H
#define KN_POLICY_SETTINGS_H

#include "base/tick.h"
#include "policy/request.h"

struct kn_settings {
    kn_account *account;
    KN_VECTOR(kn_setting) items;
    kn_problems problems; /* of the policy that was refused; none otherwise */
    kn_tables tables;     /* in memory; values name them `table:NAME` */
    char *policy_path;    /* NULL without one */
    char *policy_folder;  /* file names in the policy are relative to it */
    char policy_hash[KN_SHA256_HEX];
    bool policy_is_file; /* and no pipe */
    kn_file_id policy_id;
    kn_progress_fn progress;
    void *progress_user;
    kn_note_fn note;
    void *note_user;
    unsigned text_width; /* 0: nobody said */
    const volatile int *cancel;
    void (*after_write)(void *user, const char *path, const kn_batches *batches); /* see kn_request */
    void *after_write_user;
};

/* --- Options and the fields that they fill ---------------------------------------------------------------------- */

typedef enum kn_field_kind {
    KN_FIELD_NONE,
    KN_FIELD_FLAG,
    KN_FIELD_TEXT,
    KN_FIELD_CHOICE,
    KN_FIELD_NUMBER,
    KN_FIELD_WHOLE,
    KN_FIELD_BYTES,
    KN_FIELD_LIST,
    KN_FIELD_CHARACTER,
    KN_FIELD_ROWS,
    KN_FIELD_POPULATION,
    KN_FIELD_ROLE,
    KN_FIELD_DETAIL
} kn_field_kind;

/* A line of options.def. */
typedef struct kn_field {
    const char *option, *argument;
    bool is_bare;  /* has no flag */
    bool is_table; /* the value may be a table in memory */
    kn_field_kind kind;
    size_t offset; /* in kn_request; of a DETAIL that is not counted SIZE_MAX */
    union {
        double number;
        const char *text;
    } preset;
    double min, max;
    kn_role role;
} kn_field;

const kn_field *kn_fields(size_t *n);
const kn_field *kn_field_find(const char *option);     /* NULL when there is none */
bool kn_field_is(const char *words, const char *word); /* one of "a|b|c" */
/* KN_USAGE where the value does not have the option's form. `place` begins the message. */
kn_status kn_field_check(const kn_field *field, const char *value, const char *place, kn_error *err);

/* --- The list ----------------------------------------------------------------------------------------------------- */

/* Whether "COLUMN=VALUE" can be about the column of this name, which need not end after n_bytes. */
bool kn_setting_fits_column(const kn_setting *setting, const char *name, size_t n_bytes);
/* The value in force, NULL when nobody set it. */
const char *kn_settings_text(const kn_settings *settings, const char *option);
const kn_setting *kn_settings_find(const kn_settings *settings, const char *option);
bool kn_settings_flag(const kn_settings *settings, const char *option);
/* The n-th setting of an option that adds up: flags if there are any, otherwise the policy's. NULL past the end. */
const kn_setting *kn_settings_nth(const kn_settings *settings, const char *option, size_t n);
/* A level of a hierarchy: a whole number from 0. `text` need not end after n_bytes. */
bool kn_level_read(uint32_t *out, const char *text, size_t n_bytes);
/* Whether a setting counts: a flag always does; a policy's unless a flag says otherwise about the same column (roles
 * and COL=... options), the same model of the same column (--model; one that names no column protects the only
 * sensitive one; -k is k-anonymity), or the same option (all others). A flag never takes away what it does not mention.
 */
bool kn_setting_in_force(const kn_settings *settings, const kn_setting *setting);
/* What messages call the place of a setting: "--qi", or "policy.yaml:12:5". `buffer` as large as KN_SHOWN_BYTES. */
const char *kn_setting_place(char *buffer, const kn_setting *setting);
/* Adds option and place of a setting to a message about it, and the column where one is named; returns `status`. */
kn_status kn_setting_about(kn_error *err, kn_status status, const kn_setting *setting, const char *column);

#endif
