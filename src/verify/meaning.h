/* Does a released text generalize an original one? Every distinct text of both files is understood once; a pair is then
 * a few comparisons. */
#ifndef KN_VERIFY_MEANING_H
#define KN_VERIFY_MEANING_H

#include "hierarchy/domain.h"
#include "verify/values.h"

/* An original text. */
typedef struct kn_original_text {
    bool missing;
    uint32_t leaf;   /* of the tree, or KN_NONE */
    double number;   /* NAN when it is none; see kn_meaning.ranks */
    double position; /* in the order that intervals are made of; NAN: never inside one */
} kn_original_text;

/* A released text: everything that it can stand for. */
typedef struct kn_released_text {
    const char *bytes; /* without guard, and without blanks where those do not count */
    size_t n_bytes;
    bool everything;                  /* * */
    bool missing;                     /* the missing value, or a set that holds it */
    bool masked;                      /* 130** */
    uint32_t same;                    /* original text with the same bytes, or KN_NONE */
    double number;                    /* NAN when it is none */
    double position;                  /* where that stands among the original's positions */
    double low, high;                 /* interval, both ends included; NAN when it is none */
    uint32_t first_node, n_nodes;     /* tree nodes with that label */
    uint32_t first_member, n_members; /* of a set, as original texts, ascending */
} kn_released_text;

typedef struct kn_meaning {
    const kn_sheet_column *original_column, *released_column;
    const kn_domain *domain;
    const kn_tree *tree; /* whose nodes are labels, the domain's or its groups; NULL: there are none */
    kn_reading reading;
    kn_original_text *originals; /* original_column->n_texts */
    kn_released_text *releaseds; /* released_column->n_texts */
    KN_VECTOR(uint32_t) nodes, members;
    /* Set where the original has numbers of more digits than a double keeps. Numbers, positions and the ends of
     * intervals are then ranks among the original's values (between two of them: a half), so that comparing is exact.
     */
    kn_values *ranks;
} kn_meaning;

typedef struct kn_meaning_options {
    bool trim;           /* blanks around labels and released texts are not part of them */
    bool guard_formulas; /* a released ' before a formula is not part of the text */
} kn_meaning_options;

/* What is passed must outlive the result. */
kn_status kn_meaning_make(kn_meaning **out, const kn_sheet_column *original, const kn_sheet_column *released,
                          const kn_domain *domain, const kn_reading *reading, const kn_meaning_options *options,
                          kn_error *err);
void kn_meaning_free(kn_meaning *meaning);
bool kn_meaning_covers(const kn_meaning *meaning, uint32_t original, uint32_t released);
/* A released text that stands for nothing, and has the form of a group's label: `town group 2.1`. Only who knows the
 * hierarchy of the run knows what is in it. */
bool kn_meaning_is_strange_group(const kn_meaning *meaning, uint32_t released);

/* Leaves of the texts of a sensitive column in a tree; KN_NONE for a text that is none. *out is yours to kn_free. */
kn_status kn_leaves_of_texts(uint32_t **out, const kn_sheet_column *column, const kn_tree *tree,
                             const kn_reading *reading, bool trim, kn_error *err);

#endif
