/* Recount what was written. Own reader, own grouping, own models: nothing here is shared with source, classes, privacy,
 * measure, search or recode, so a mistake there cannot hide itself. The hierarchy's trees are taken as the definition
 * of what a label means. */
#ifndef KN_VERIFY_VERIFY_H
#define KN_VERIFY_VERIFY_H

#include "duckdb/duckdb.h"
#include "base/files.h"
#include "base/pool.h"
#include "base/sentence.h"
#include "base/tick.h"
#include "hierarchy/domain.h"
#include "table/derivation.h"
#include "table/text_form.h"

typedef struct kn_verify_column {
    const char *name;
    kn_role role;
    kn_type type;
    kn_marks marks; /* of its numbers */
    bool is_person;
    bool is_withheld;               /* all cells are * */
    uint32_t min_level;             /* that may be released, of quasi-identifiers; 0: any */
    bool is_count, is_person_count; /* rows and persons that a record of the original stands for; with `order` only */
    bool hide_name;          /* with `redact`: nobody named the column, so its name may be data; it is shown as #3 */
    const kn_domain *domain; /* QIs; NULL: only classes can be recounted, not that values generalize */
    const char *grid;        /* without a hierarchy: what somebody asked its intervals to end on; NULL: nobody did */
    const kn_tree *tree;     /* sensitive columns: the hierarchy for t-closeness with distance=hierarchical, or ordered
                                on text; NULL: none (the domain's is taken where a domain is given) */
} kn_verify_column;

typedef struct kn_verify_model {
    const char *name;   /* "l-diversity" */
    const char *params; /* "column=diagnosis,l=3" */
} kn_verify_model;

typedef struct kn_verify_request {
    const char *release_path, *release_name;                     /* where the bytes are, and what messages call them */
    kn_file_kind release_kind;                                   /* CSV where the release is in memory */
    const char *original_path;                                   /* NULL: checks that need it are not made */
    const struct kn_batches *release_batches, *original_batches; /* in memory, instead of files; NULL: files */
    const struct kn_tables *tables;                              /* what `table:NAME` means; NULL: nothing */
    const char *domains_path; /* columns column, value, rows: the original is a part of a table, and this are all values
                                 of that; classes are compared with it. NULL: the original is whole */
    char delimiter;           /* of both files; '\0': detect */
    bool no_header;           /* the files; tables in memory have names */
    bool trim, redact;
    kn_encoding encoding; /* of the original (and a population file); a release is UTF-8 unless it cannot be */
    const char *const *null_values;
    size_t n_null_values;
    bool invalid_is_missing; /* cells that a column's type does not fit; quasi-identifiers are released without them */
    const kn_verify_column *columns; /* the original's columns in file order (or, without it, what the policy lists, in
                                        any order) */
    size_t n_columns;
    const kn_derivation *derivations; /* the last columns: computed from the original's dates, in their order */
    size_t n_derivations;
    const kn_verify_model *models;
    size_t n_models;
    const char *certificate_path, *certificate_name; /* NULL: none is to be checked */
    const char *measure;                             /* that it is about */
    int64_t max_suppressed;                          /* rows; -1: not to be checked */
    bool every_check;      /* after a run, which has everything at hand: what could not be checked is not released */
    uint64_t n_suppressed; /* with every_check: as the run says. A file whose tops are all * cannot tell */
    const uint32_t *order; /* original row of each released row, when known; NULL otherwise */
    uint32_t n_order;
    bool order_is_input; /* the user says that the rows stand as in the original: `order` is 0, 1, ..., or NULL where
                            there is no original. With rows removed, which ones is found by fitting them */
    bool are_households; /* persons are called so */
    bool counts_persons; /* k is about persons, whether or not a column says who: rows enough prove nothing then */
    bool ends_on_widths; /* intervals of automatic trees end on multiples of the smallest width, too */
    bool fold_sensitive; /* sensitive texts that differ by case or blanks count as one value */
    bool guard_formulas; /* formulas in the release (base/formula.h) carry a leading ' */
    kn_files *files;     /* of the run; may be NULL */
    uint64_t max_candidate_work; /* steps after which comparing without the order gives up; 0: some ten seconds' */
    kn_pool *pool;
    kn_ticker *ticker;
} kn_verify_request;

typedef enum kn_check_state { KN_CHECK_HOLDS, KN_CHECK_BROKEN, KN_CHECK_NOT_MADE } kn_check_state;

/* What a check is about, and its place among the verdict's. */
typedef enum kn_check_slot {
    KN_SLOT_TABLE,
    KN_SLOT_COLUMNS,
    KN_SLOT_IDENTIFIERS,
    KN_SLOT_ROWS,
    KN_SLOT_COPIES,
    KN_SLOT_VALUES,
    KN_SLOT_SUPPRESSED,
    KN_SLOT_MODELS /* the first one's; the others follow */
} kn_check_slot;

typedef struct kn_check {
    const char *name; /* a model's ("k-anonymity"), or one of the KN_CHECK_ names below; static */
    kn_check_state state;
    bool asked;       /* the verdict waits for it: every model, a limit, an order, and what any release must be */
    double worst;     /* models: the worst class's value; otherwise NAN */
    kn_buffer detail; /* a sentence: what was found, or why the check was not made: class or line, column, bound */
} kn_check;

/* The detail as text: English where the catalogue is NULL. */
void kn_check_detail(kn_buffer *out, const kn_check *check, const kn_catalogue *catalogue);

/* By slot. */
#define KN_CHECK_CERTIFICATE "certificate"
#define KN_CHECK_TABLE       "well-formed table"
#define KN_CHECK_COLUMNS     "columns"
#define KN_CHECK_IDENTIFIERS "no identifier left"
#define KN_CHECK_ROWS        "rows accounted for"
#define KN_CHECK_SUPPRESSED  "suppressed rows"
#define KN_CHECK_COPIES      "copied columns unchanged"
#define KN_CHECK_VALUES      "values generalize the original"
#define KN_CHECK_LEVELS      "values at or above their lowest level" /* last, where a column has one */

typedef enum kn_verdict_state {
    KN_VERDICT_HOLDS,    /* nothing is broken, and everything that was asked for was checked */
    KN_VERDICT_BROKEN,   /* a check does not hold */
    KN_VERDICT_UNDECIDED /* nothing is broken, but something that was asked for could not be checked */
} kn_verdict_state;

typedef struct kn_verdict {
    kn_verdict_state state;
    size_t n_checks;
    kn_check *checks;           /* in the order in which they were made */
    uint64_t n_rows, n_classes; /* of the release; rows with * everywhere are one class */
    uint64_t n_suppressed;      /* rows of the release with * in every QI */
    uint64_t n_removed;         /* rows of the original that the release has not; 0 without the original */
    uint64_t smallest_class;    /* persons where known, otherwise rows; 0 without classes */
    const char
        *counted; /* "persons", "households" or "rows": what classes were counted in; NULL: nobody asked for persons */
} kn_verdict;

/* KN_OK whatever the verdict. KN_INPUT when a file cannot be opened or read, or the original or a population file is no
 * table with the columns it should have; a release that is no table is a broken check. KN_USAGE when a model's
 * parameters are wrong. */
kn_status kn_verify_files(kn_verdict **out, const kn_verify_request *request, kn_error *err);
void kn_verdict_free(kn_verdict *verdict);

/* verdict.c. The only place where checks become a state: broken before undecided, and no checks at all are undecided.
 */
kn_verdict_state kn_verdict_of_checks(const kn_check *checks, size_t n_checks);
/* KN_OK when it holds. Otherwise KN_NOT_MET, and the first check that is broken or could not be made as a message. */
kn_status kn_verdict_status(const kn_verdict *verdict, kn_error *err);
kn_status kn_verdict_text(char **out, const kn_verdict *verdict, kn_error *err);
/* "holds" is true, false, or null when undecided. */
kn_status kn_verdict_json(char **out, const kn_verdict *verdict, kn_error *err);

#endif
