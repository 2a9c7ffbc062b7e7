/* From a column and what the user said of its hierarchy to a kn_domain. */
#ifndef KN_HIERARCHY_BUILD_H
#define KN_HIERARCHY_BUILD_H

#include "base/files.h"
#include "hierarchy/domain.h"

/* Values of the data that its hierarchy does not have, for whoever lists all of them. */
typedef struct kn_lacking {
    bool *spellings;        /* of the column; NULL: the hierarchy has all; kn_free it */
    char in[KN_FILE_BYTES]; /* "the hierarchy zip.csv" */
    const char *advice;
} kn_lacking;

typedef struct kn_hierarchy_request {
    const char *spec; /* NULL: none given. "suppress", "intervals(5,10,20)", "mask(right)", "mask(left)",
                         "date(month,quarter,year)", "order(a<b<c)", "similar", "auto", ...; otherwise a file name */
    const char *text; /* the lines of the file where `spec` only names it; NULL: the file is read */
    size_t n_text_bytes;
    const char *base_folder;       /* file names in a policy are relative to it; NULL: the current folder */
    bool must_be_tree;             /* full-domain algorithms: a column without a hierarchy gets the automatic tree */
    double weight;                 /* 1 */
    uint32_t min_level, max_level; /* 0 and KN_NONE: no limits */
    bool redact;                   /* no values in messages */
    bool missing_is_wildcard;      /* see kn_domain */
    const char *top, *bottom;      /* thresholds of top and bottom coding; NULL: none */
    const char *round;             /* the step of rounding, then that of the grid too; NULL: none */
    const char *grid; /* of numbers and dates: "auto", a step or a unit; NULL or "exact": none. With a tree it is where
                         cut points may part them that its labels tell nothing of (stretches.c) */
    bool withheld;    /* no value of the column is released, every cell is *; `spec` does not count */
    const kn_column *const *others; /* the other quasi-identifiers, for `similar` */
    uint32_t n_others;
    const char *where;   /* "policy.yaml:12:5", for what is wrong with the SPEC; NULL: it was no policy's */
    kn_files *files;     /* of the run; may be NULL */
    kn_lacking *lacking; /* filled where that is what fails; NULL: the first one is enough */
} kn_hierarchy_request;

/* The SPECs, for help and `kanon list hierarchies`. */
typedef struct kn_hierarchy_spec {
    const char *name, *syntax, *summary;
} kn_hierarchy_spec;
const kn_hierarchy_spec *kn_hierarchy_specs(size_t *n);

/* A SPEC whose labels are the same for every table: country, icd10, nace, postcode. */
bool kn_hierarchy_is_class(const char *spec);
/* What `auto` would take, as a policy says it: a SPEC, or for numbers and dates the grid that a column without a
 * hierarchy has. Both "" where neither need be said. */
typedef struct kn_threshold {
    char text[32]; /* "": none */
    uint32_t n_beyond;
    bool is_sure; /* to be said, not only proposed */
} kn_threshold;
typedef struct kn_suggestion {
    char spec[320], grid[32];
    kn_threshold top, bottom;
} kn_suggestion;
kn_status kn_hierarchy_suggest(kn_suggestion *out, const kn_column *column, uint32_t n_rows, kn_error *err);
/* Adds round thresholds of top and bottom coding with at least `least` persons beyond them, where ages or long tails
 * need some. `row_person` NULL: every row is a person. */
kn_status kn_thresholds_suggest(kn_suggestion *out, const kn_column *column, uint32_t n_rows,
                                const uint32_t *row_person, uint32_t n_persons, uint32_t least, kn_error *err);

/* Where the words of a column are of a scale that many tables have, never, rarely, ..., always, and nothing but
 * `similar` was suggested: order() with the whole scale. Its text names no word
 * that fewer than `least` persons have but as one of the scale; that it is the longer one of two may tell that somebody
 * has a word of it. */
kn_status kn_scale_suggest(kn_suggestion *out, const kn_column *column, uint32_t n_rows, const uint32_t *row_person,
                           uint32_t n_persons, uint32_t least, kn_error *err);

/* The domain of `column` as a quasi-identifier. Fails with KN_INPUT naming file, line and value when the file is
 * wrong or the data has a value that is not in it (the data's line too). A missing value that the file does not know
 * becomes a leaf of its own directly below the root; where it may be any value it stands there whatever the file
 * says. */
kn_status kn_domain_build(kn_domain **out, const kn_column *column, const char *data_name, uint32_t n_rows,
                          const kn_hierarchy_request *request, kn_error *err);

/* One line per leaf, leaf first, root last, separated by ';': the file format that kn_domain_build reads. */
kn_status kn_tree_to_text(char **out, const kn_tree *tree, kn_error *err);
/* The text of a hierarchy file; `name` for messages. Of a collection of subsets the lines: kn_tree.is_collection. */
kn_status kn_tree_parse(kn_tree **out, const char *text, size_t n_bytes, const char *name, bool redact, kn_error *err);
/* Reads a hierarchy file without data (`kanon hierarchy check|show`). `files` may be NULL. */
kn_status kn_tree_read(kn_tree **out, const char *path, bool redact, kn_files *files, kn_error *err);

#endif
