/* What a run was asked for: every option resolved once, defaults applied, as fields with types. Behind it is the list
 * of settings that flags and the policy file made (settings.h), which nobody outside policy/ reads.
 *
 * options.def says which option fills which field. Texts are borrowed from the settings. */
#ifndef KN_POLICY_REQUEST_H
#define KN_POLICY_REQUEST_H

#include "base/buffer.h"
#include "base/files.h"
#include "base/language.h"
#include "base/param.h"
#include "base/problems.h"
#include "base/sentence.h"
#include "base/sha256.h"
#include "base/unit.h"
#include "base/words.h"
#include "base/yaml.h"
#include "table/batches.h"
#include "table/derivation.h"
#include "table/table.h"
#include "table/text_form.h"

/* The values of the choices, in the order of their words. */
typedef enum kn_unlisted { KN_UNLISTED_ERROR, KN_UNLISTED_DROP, KN_UNLISTED_INSENSITIVE } kn_unlisted;
typedef enum kn_missing { KN_MISSING_VALUE, KN_MISSING_WILDCARD } kn_missing;
typedef enum kn_invalid { KN_INVALID_ERROR, KN_INVALID_MISSING } kn_invalid;
typedef enum kn_recipient { KN_RECIPIENT_PUBLIC, KN_RECIPIENT_CONTRACT, KN_RECIPIENT_INTERNAL } kn_recipient;
typedef enum kn_recoding_asked { KN_ASKED_LOCAL, KN_ASKED_GLOBAL } kn_recoding_asked;

/* "5" rows or "2%" of them. */
typedef struct kn_row_limit {
    bool given, is_percent;
    double amount;
} kn_row_limit;

/* "0.1" of the population, or a file of it; neither when nobody set it. */
typedef struct kn_population_asked {
    double fraction;
    const char *file;
} kn_population_asked;

typedef struct kn_setting {
    const struct kn_field *field; /* policy/'s own */
    char *option, *value;
    char *where;     /* "policy.yaml:12:5", with ": key" where the key says more; NULL: a flag */
    size_t n_column; /* of "COLUMN=VALUE": the name's bytes; 0: not known, and a name may hold a '=' */
} kn_setting;

/* What the answer of --sql is called among the tables in memory. */
#define KN_SQL_TABLE KN_TABLE_PREFIX "--sql"

typedef struct kn_request {
    const kn_settings *settings; /* for what depends on the columns of a table: kn_settings_columns */
    const kn_tables *tables;     /* in memory */

    const char *data, *release, *original, *what;
    const char *sql; /* then `data` is KN_SQL_TABLE */
    const char *output, *report, *json, *schema, *codebook, *certificate, *state, *ledger;
    const char *ledger_folder; /* that its name is relative to; NULL: the current one */
    bool force;
    kn_row_order order;
    kn_cells_form cells;
    bool guard_formulas;
    kn_language language;

    kn_unlisted unlisted; /* by default an error with a policy, dropped without */
    const char *person;
    kn_unit unit;
    const char *count, *person_count; /* columns of an engine's table: rows and persons that a record stands for */
    const char *domains;              /* of the table that the data is a part of; NULL: it is whole */
    const char *given;                /* what the records became elsewhere; NULL: that is to be searched */
    size_t n_hierarchies, n_levels;   /* of --hierarchy and --level */
    kn_derivation *derivations;       /* --derive, those in force */
    size_t n_derivations;
    kn_missing missing;

    const char *k;                   /* as written: a number, or for comparisons a list */
    kn_words models;                 /* in force, -k among them: "k-anonymity:k=5", ... */
    const kn_setting **asked_models; /* each as it was asked for */
    kn_recipient recipient;
    bool fold_sensitive, allow_copy;
    kn_row_limit max_suppressed;
    kn_population_asked population;
    const char *attack;
    double threshold;

    const char *algorithm, *measure; /* with their parameters */
    kn_words algorithms;
    kn_recoding_asked recoding;
    bool explain, certify, polish;
    uint64_t effort, seed, threads; /* 0 threads: as many as there are cores */
    double time_limit;              /* in seconds; 0: none */
    size_t memory;                  /* in bytes; 0: no limit */

    char delimiter; /* '\0': to be detected */
    bool no_header, trim;
    kn_words null;
    kn_decimal_asked decimal;
    kn_invalid invalid;
    kn_encoding encoding;

    bool redact, verbose;

    /* All settings in force but the models, in their order, for the report. */
    const kn_setting **listed;
    size_t n_listed;
    const char *policy_path; /* NULL without one */
    const char *policy_hash;
    const kn_file_id *policy_id; /* NULL where it is no file */
    kn_progress_fn progress;
    void *progress_user;
    kn_note_fn note; /* NULL: nobody listens */
    void *note_user;
    unsigned text_width; /* of lines where the text is shown; 0: nobody said */
    const volatile int *cancel;
    /* Told where the release is after it was written and before it is verified: its path, or its arrays in memory. For
     * tests, which spoil it there: no function, flag or variable of the environment sets it. */
    void (*after_write)(void *user, const char *path, const kn_batches *batches);
    void *after_write_user;
} kn_request;

/* The settings must stay as they are while the request lives. */
kn_status kn_request_new(kn_request **out, const kn_settings *settings, kn_error *err);
void kn_request_free(kn_request *request);

/* The settings of one column of the data, resolved. */
typedef struct kn_column_choice {
    kn_role role;
    uint32_t mention; /* 0, 1, ...: in which order roles were given; quasi-identifiers are reported in it */
    kn_type type;
    bool is_person, is_count, is_person_count;
    const char *hierarchy;        /* SPEC or file; NULL: none. Borrowed from the settings */
    const char *hierarchy_folder; /* NULL: the current folder */
    const char *hierarchy_where;  /* in the policy; NULL: a flag */
    double weight;
    uint32_t min_level, max_level; /* KN_NONE: no upper limit */
    const char *grid;              /* of numbers and dates without a hierarchy; NULL: as the data suggests */
    bool grid_asked, grid_told;    /* it is somebody's; they were told that it is not used */
    const char *top, *bottom;      /* thresholds of top and bottom coding; NULL: none */
    const char *round;             /* the step of rounding; NULL: none */
    bool release_values;           /* although the column looks like one that identifies people */
} kn_column_choice;

typedef enum kn_columns_mode {
    KN_COLUMNS_OF_DATA,     /* every name in the settings must be there; unlisted columns as the user says */
    KN_COLUMNS_OF_ORIGINAL, /* behind a release: every name must be there, unlisted columns are just not listed */
    KN_COLUMNS_OF_RELEASE,  /* a released file: identifiers may be missing, unlisted columns are just not listed */
    KN_COLUMNS_OF_HIERARCHY /* a table of which only the columns with a hierarchy matter: they are quasi-identifiers */
} kn_columns_mode;

/* One choice per column name of the data. Names that the data does not have, two roles for one column, unlisted
 * columns under `error`: KN_USAGE. Columns left out because nobody mentioned them are appended to `warnings`, as a
 * sentence. With `problems` all of this is listed there, and the choices are made without it. *out is yours to kn_free.
 */
kn_status kn_settings_columns(kn_column_choice **out, const kn_settings *settings, const char *const *names,
                              uint32_t n_names, kn_columns_mode mode, kn_buffer *warnings, kn_problems *problems,
                              kn_ticker *ticker, kn_error *err);

/* What messages call a column of a file: its name. Under --redact `#3`, unless the user named it: where there is no
 * header after all, the names are the first person's data. `buffer` as large as KN_SHOWN_BYTES. */
const char *kn_settings_column_shown(char *buffer, const kn_settings *settings, const char *name, uint32_t index);
/* Whether some setting gives the column a role. */
bool kn_settings_name_column(const kn_settings *settings, const char *name);
/* What is said of a column by an option of the form COL=VALUE: "grid", "type"; NULL: nothing. Flags before the policy.
 */
const char *kn_settings_detail(const kn_settings *settings, const char *option, const char *name);
/* Where the policy says it: "policy.yaml:12:5"; NULL: a flag does, or nobody. */
const char *kn_settings_detail_where(const kn_settings *settings, const char *option, const char *name);

/* --- Making settings --------------------------------------------------------------------------------------------- */

/* Checks that the option exists and the value has its form. `where` NULL: a flag. */
kn_status kn_settings_add(kn_settings *settings, const char *option, const char *value, const char *where,
                          kn_error *err);
/* Of the settings and, by its allocator, of the runs made with them. */
kn_account *kn_settings_account(const kn_settings *settings);

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
kn_status kn_policy_load_text(kn_settings *settings, const char *text, size_t n_bytes, const char *path,
                              kn_entries_fn *entries, kn_error *err);

#endif
