/* kanon: k-anonymization of tables about people.
 *
 * Anonymize a file:
 *
 *     kn_error err = {0};
 *     kn_settings *settings = NULL;
 *     kn_result *result = NULL;
 *     if (kn_settings_new(&settings, &err) == KN_OK &&
 *         kn_settings_set(settings, "data", "people.csv", &err) == KN_OK &&
 *         kn_settings_set(settings, "qi", "age,zip,sex", &err) == KN_OK &&
 *         kn_settings_set(settings, "sensitive", "diagnosis", &err) == KN_OK &&
 *         kn_settings_set(settings, "k", "5", &err) == KN_OK &&
 *         kn_settings_set(settings, "output", "release.csv", &err) == KN_OK &&
 *         kn_anonymize(&result, settings, &err) == KN_OK)
 *         puts(kn_result_text(result));
 *     else
 *         fputs(err.message, stderr);
 *     kn_result_free(result);
 *     kn_settings_free(settings);
 *
 * What can fail returns a kn_status and explains itself in the kn_error, which may be NULL. Outputs come first and are
 * set to NULL on entry. What comes through **out is yours: free it with the function of its type (NULL is fine). What
 * is returned as const is borrowed and lives as long as its parent. The library never exits, and prints nothing
 * but what a job is about: where no "output" is set, a release of a file, a policy or a table of nodes goes to standard
 * output, as from the program. Set it to a file, to "text:" or, for a release, to "table:" to keep it in memory. */
#ifndef KANON_H
#define KANON_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this header declares is all that the shared library exports. */
#if defined(__GNUC__)
#define KN_API __attribute__((visibility("default")))
#else
#define KN_API
#endif

/* The values are the exit codes of the program. */
typedef enum kn_status {
    KN_OK = 0,
    KN_NOT_MET = 1,      /* a guarantee does not hold or could not be checked, or no release exists that meets it */
    KN_USAGE = 2,        /* the settings or the policy are wrong */
    KN_INPUT = 3,        /* the data or a file is wrong, or cannot be read or written */
    KN_RESOURCES = 4,    /* memory or threads ran out */
    KN_INTERRUPTED = 130 /* the progress function or the cancel flag asked to stop */
} kn_status;

/* What went wrong. Zero-initialise it: kn_error err = {0}; (in C++: kn_error err = {};). `message` is a sentence for a
 * person; the rest says for a program what the sentence is about, and is "" or 0 where it is about no such thing. */
typedef struct kn_error {
    char message[2048];
    kn_status code;               /* what the function returned */
    char option[32];              /* the option to correct: "max-suppressed" */
    char file[1024];              /* the table, hierarchy, policy or output, cut when its name is longer */
    unsigned long long line;      /* in that file, from 1 */
    unsigned long long character; /* in that line, from 1: of a policy */
    char column[256];             /* the table's column, by name */
} kn_error;

KN_API const char *kn_version(void);

/* --- Settings: one option at a time, by the name of its command line flag -------------------------------------- */

typedef struct kn_settings kn_settings;

KN_API kn_status kn_settings_new(kn_settings **out, kn_error *err);
KN_API void kn_settings_free(kn_settings *settings);
/* Reads a policy file (YAML). What kn_settings_set sets, before or after, overrides it. */
KN_API kn_status kn_settings_load(kn_settings *settings, const char *policy_path, kn_error *err);
/* Everything that was wrong with the policy that could not be read, in the order of the file: the n-th problem, from 0,
 * which kn_settings_load told; NULL past the end. A text that is no YAML has one. Borrowed until the next load. */
KN_API const kn_error *kn_settings_nth_problem(const kn_settings *settings, size_t n);
/* `option` is a flag's long name without dashes ("max-suppressed"), or "data", "release", "what" for what has no flag.
 * Options that may be repeated ("hierarchy", "model", "weight") add up, though no two may say different things of one
 * column; lists ("qi") are separated by commas. Flags without an argument take "yes". */
KN_API kn_status kn_settings_set(kn_settings *settings, const char *option, const char *value, kn_error *err);

/* A policy that is no file. Messages call it `name`, and names of files in it are relative to the folder of `name`. */
KN_API kn_status kn_settings_load_text(kn_settings *settings, const char *text, size_t n_bytes, const char *name,
                                       kn_error *err);
/* The n-th setting in force, from 0, policy and options alike; false past the end. Both are borrowed. */
KN_API bool kn_settings_nth_in_force(const kn_settings *settings, size_t n, const char **option, const char **value);
/* What takes pieces of a text. Nonzero: no more of it, and whoever writes fails with KN_INPUT. */
typedef int (*kn_write_fn)(void *user, const char *bytes, size_t n_bytes);
/* The settings in force as a policy file, to be read by kn_settings_load. KN_USAGE for what no policy can hold: where
 * things are read from and written to, threads, tables in memory. Names of files are written as they were given. */
KN_API kn_status kn_settings_save(const kn_settings *settings, kn_write_fn write, void *user, kn_error *err);

/* Called at most ten times a second, always on the thread that called the job: fraction 0..1, or negative when unknown.
 * Nonzero asks to stop: the job then ends with KN_INTERRUPTED, or, if its search has a release already, with that. */
typedef int (*kn_progress_fn)(void *user, const char *stage, double fraction);
KN_API void kn_settings_on_progress(kn_settings *settings, kn_progress_fn progress, void *user);
/* Told what the job does and decides while it runs, a line at a time, on the thread that called it: what `-v` prints.
 * It holds no values of the data. */
typedef void (*kn_note_fn)(void *user, const char *text);
KN_API void kn_settings_on_note(kn_settings *settings, kn_note_fn note, void *user);
/* How many characters a line takes where the text of the result is shown: trees are drawn in so many. 0, as long as
 * nobody says: 100, as in files. */
KN_API void kn_settings_text_width(kn_settings *settings, unsigned n_characters);
/* Asks to stop whenever `cancel` was counted up, say by a signal handler; another thread counts with an atomic
 * operation. It is read on the thread that called the job. An anytime search answers the first request with its best
 * release. */
KN_API void kn_settings_on_cancel(kn_settings *settings, const volatile int *cancel);

/* --- Jobs ------------------------------------------------------------------------------------------------------ */

/* A job keeps everything to itself: threads, memory and its limit (the option "memory"), progress. So jobs may run at
 * once in several threads, with the same settings or others, and none sees another. Numbers are read and written in
 * the same way under every locale of the host.
 *
 * A result may exist beside a status that is not KN_OK: a verification that failed still has its findings. */
typedef struct kn_result kn_result;

KN_API kn_status kn_anonymize(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_verify(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_measure_files(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_lattice_nodes(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_risk(kn_result **out, const kn_settings *settings, kn_error *err);
/* "what": algorithms, measures, models or hierarchies. */
KN_API kn_status kn_list(kn_result **out, const kn_settings *settings, kn_error *err);
/* "what": make, check, show or rectify; "data": a hierarchy file, or a table together with "hierarchy". */
KN_API kn_status kn_hierarchy(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_profile(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_check_policy(kn_result **out, const kn_settings *settings, kn_error *err);
KN_API kn_status kn_compare_runs(kn_result **out, const kn_settings *settings, kn_error *err);

KN_API const char *kn_result_json(const kn_result *result); /* one object with stable keys; no raw values */
KN_API const char *kn_result_text(const kn_result *result); /* the summary for a person, no colour */
/* Things the user should know, one per line: columns left out, sensitive columns without a model. "" when none. */
KN_API const char *kn_result_warnings(const kn_result *result);
/* What an option that names a file to write (output, report, schema, json, certificate) would have written there, where
 * it was set to "text:"; NULL otherwise. Nothing of it was on the disk. */
KN_API const char *kn_result_kept(const kn_result *result, const char *option);
KN_API void kn_result_free(kn_result *result);

/* --- Memory ---------------------------------------------------------------------------------------------------- */

/* Where all memory of some settings, of the jobs run with them and of their results comes from, in place of malloc,
 * realloc and free. `allocate` and `resize` return memory aligned like malloc's, or NULL: then the job ends with
 * KN_RESOURCES. A job calls them from several threads at once, unless the option "threads" is 1. */
typedef struct kn_allocator {
    void *(*allocate)(void *user, size_t n_bytes);
    void *(*resize)(void *user, void *block, size_t n_bytes);
    void (*release)(void *user, void *block);
    void *user;
} kn_allocator;
/* Like kn_settings_new. The allocator is copied and must work until the settings and all results are freed. */
KN_API kn_status kn_settings_new_with(kn_settings **out, const kn_allocator *allocator, kn_error *err);

/* --- What there is: for help, completions, forms --------------------------------------------------------------- */

typedef enum kn_command {
    KN_COMMAND_ANONYMIZE = 1 << 0,
    KN_COMMAND_VERIFY = 1 << 1,
    KN_COMMAND_MEASURE = 1 << 2,
    KN_COMMAND_LATTICE = 1 << 3,
    KN_COMMAND_RISK = 1 << 4,
    KN_COMMAND_COMPARE = 1 << 5,
    KN_COMMAND_PROFILE = 1 << 6,
    KN_COMMAND_CHECK = 1 << 7,
    KN_COMMAND_HIERARCHY = 1 << 8,
    KN_COMMAND_LIST = 1 << 9,
    KN_COMMAND_GENERATE = 1 << 10
} kn_command;

typedef struct kn_option {
    const char *name;     /* "max-suppressed" */
    char letter;          /* 'k', or '\0' */
    const char *argument; /* "N|P%"; NULL: a flag */
    const char *group;    /* heading in the help */
    const char *help;
    unsigned commands; /* kn_command bits */
} kn_option;

KN_API const kn_option *kn_options(size_t *n);
/* The option of these commands (kn_command bits) that somebody probably meant: "max-suppressed" for "max-supressed" or
 * "max_suppressed". NULL when none is near. */
KN_API const char *kn_option_nearest(const char *name, unsigned commands);

#ifdef __cplusplus
}
#endif
#endif
