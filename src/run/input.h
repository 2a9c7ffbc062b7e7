/* The first stages, shared by every job: from a request to a table, its domains, its distinct tuples, and the models
 * and the objective on them. Each step fills its part of the kn_input; later steps need the earlier ones. */
#ifndef KN_RUN_INPUT_H
#define KN_RUN_INPUT_H

#include "duckdb/duckdb.h"
#include "search/search.h"
#include "base/buffer.h"
#include "source/csv/csv_read.h"
#include "table/batches.h"
#include "policy/request.h"
#include "run/schema_read.h"
#include "run/targets.h"

#define KN_UNLIMITED UINT64_MAX /* max_suppressed that nobody checks */

typedef struct kn_input {
    const kn_request *request;
    kn_pool *pool;
    kn_ticker ticker;
    kn_buffer warnings; /* sentences */
    bool redact;
    kn_problems *problems; /* check: collected, and the work goes on; NULL: the first one ends it. Borrowed */
    kn_files *files;
    kn_targets *targets;
    kn_schema *schema;      /* that risk and measure read; NULL: none */
    bool labels_make_trees; /* measure: labels of the schema are hierarchies */
    bool shares_files;
    kn_tables tables; /* those of the request and the answer of --sql; empty without one */
    /* kn_input_read */
    const char *path;                         /* of the table, which can be read again even if it is a pipe; borrowed */
    kn_csv_options csv, other_csv;            /* of the table; of others, which may have their own delimiter */
    kn_source_options sources, other_sources; /* the same, for kn_source_open */
    kn_text_form form;                        /* of the table; a release is written like it */
    kn_table *table;
    kn_column_choice *choices; /* one per column */
    kn_derivation *derived;    /* of the request's, those that were added; what they hold is the request's */
    size_t n_derived;
    uint64_t *n_invalid; /* of each: cells that could not be computed */
    bool *withheld;      /* per column: a quasi-identifier that looks like it identifies people; NULL: none is */
    /* kn_input_encode */
    uint32_t n_qis;
    kn_domain **domains;
    kn_tuples *tuples;
    /* kn_input_goals */
    kn_models *models;
    kn_objective *objective;
    uint64_t max_suppressed;
    double seconds_read, seconds_encode;
} kn_input;

/* Threads, memory limit, progress, and the targets. `use`: of --output. */
kn_status kn_input_new(kn_input **out, const kn_request *request, kn_output_use use, kn_error *err);
/* Another one that reads the same files; it writes nothing. `first` outlives it. */
kn_status kn_input_new_beside(kn_input **out, const kn_input *first, kn_error *err);
void kn_input_free(kn_input *input);
/* Opens what the request names as data, original or release; NULL is an error. */
kn_status kn_input_open(kn_source **out, kn_input *input, const char *path, kn_error *err);
/* Adds the columns that the request derives from dates. `where_possible`: only those that the table has not, and of
 * which it has the dates, because it may be a release. */
kn_status kn_input_derive(kn_source *source, kn_input *input, bool where_possible, kn_error *err);
/* In a release: columns of bounds become the columns that the settings name (kn_source_join_bounds). */
kn_status kn_input_join_bounds(kn_source *source, const kn_input *input, kn_error *err);
/* Opens it, decides roles and types, and reads it. */
kn_status kn_input_read(kn_input *input, const char *path, kn_columns_mode mode, kn_error *err);
kn_status kn_input_ask_for_qis(kn_error *err); /* fails, with the question */
/* The same where neither flags nor a policy say which columns to generalize. After kn_input_read. */
kn_status kn_input_need_qis(const kn_input *input, kn_error *err);
/* `must_be_tree`: full-domain algorithms; columns without a hierarchy get the automatic tree. */
kn_status kn_input_encode(kn_input *input, bool must_be_tree, kn_error *err);
void kn_input_forget_domains(kn_input *input); /* what encoding made */
/* Nobody said which search made a release, and it was not taken for one that needs trees. */
bool kn_input_may_have_trees(const kn_input *input);
/* The same with the domains that `anonymize` had for this request: a release is read back as it was written. */
kn_status kn_input_encode_again(kn_input *input, kn_error *err);
kn_status kn_input_goals(kn_input *input, kn_error *err);
/* Parts of the whole, for `check`: thresholds of top and bottom coding beyond which fewer than k persons are, and,
 * after the encoding, cells that cannot be written as --cells and --output say. */
kn_status kn_input_thresholds(kn_input *input, kn_error *err);
kn_status kn_input_cells(kn_input *input, kn_error *err);
/* What --output says of the release's form. */
kn_file_kind kn_output_kind(const kn_request *request);
/* Warns of sensitive columns that no model protects, of columns with too many values to group, and of hierarchies that
 * found nothing to go by. */
void kn_input_warn(kn_input *input);
void kn_input_warn_hierarchy(kn_input *input, const kn_domain *domain, const char *spec, uint32_t n_others);

/* --fold-sensitive: sensitive values that differ by case or blanks become one; without it, a warning where there are
 * such values. After kn_input_read, which does it itself, or another reading. */
kn_status kn_input_fold(kn_input *input, kn_error *err);
/* Of columns that have no name in the file, and that nobody gave a role. */
void kn_input_warn_unnamed(kn_input *input);
/* KN_USAGE when no model of the request says how many people must look alike. */
kn_status kn_input_need_k(const kn_request *request, kn_error *err);
/* --max-suppressed in rows. */
void kn_input_suppression(kn_input *input);
/* The algorithm in force, its parameters' text (NULL: none), and why `auto` chose it (NULL: the user did). `table` may
 * be NULL while it is not read yet: then only the request is checked. */
kn_status kn_input_algorithm(const kn_algorithm **out, const char **params, const char **why, const kn_request *request,
                             const kn_table *table, kn_error *err);

/* "mondrian:strict=yes" of --`option`. */
kn_status kn_input_named_algorithm(const kn_algorithm **out, const char **params, const char *spec, const char *option,
                                   kn_error *err);

/* The end of a job: warnings go to the result, its JSON to where it was asked for, and every target takes its place. */
kn_status kn_input_deliver(kn_input *input, kn_result *result, kn_error *err);

#endif
