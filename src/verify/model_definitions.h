/* What the two halves of counting models again share: model_definitions.c says what a model asks of one class,
 * recount_models.c counts the classes and finds the worst. */
#ifndef KN_VERIFY_MODEL_DEFINITIONS_H
#define KN_VERIFY_MODEL_DEFINITIONS_H

#include "base/param.h"
#include "verify/checks.h"

struct counting;
typedef struct judgement {
    double value;   /* in the model's unit */
    double badness; /* the worst class has the most */
    bool holds;
} judgement;

/* What is broken before what holds, then the worse value, then the earlier one. */
static inline bool kn_judgement_is_worse(const judgement *a, const judgement *b)
{
    if (a->holds != b->holds) return !a->holds;
    return a->badness > b->badness;
}

typedef struct model_kind {
    const char *name;
    const kn_param *params;
    size_t n_params;
    bool sensitive, reference, population, persons; /* what it is counted from, besides rows */
    judgement (*judge)(const struct counting *counting);
    /* NULL, or how many different values every class has for which it holds, whatever else. */
    double (*least_values)(const struct counting *counting);
    double (*least_rows)(const struct counting *counting); /* the same of rows, besides those */
    kn_say unit;                                           /* of the value, for the finding; each has its own */
} model_kind;

/* One class's values and counts, and what they are compared with. */
typedef struct counting {
    kn_recount *recount;
    const model_kind *kind;
    kn_args args;
    uint32_t column; /* sensitive, index into the request's columns */
    kn_values *values;
    /* What is judged: the classes, or their parts that agree in the other sensitive columns. */
    const kn_row_groups *groups;
    const uint32_t *group_start, *group_members;
    struct parts {
        kn_row_groups *groups;
        uint32_t *start, *members;
        kn_key_column *keys;
        uint32_t **maps;  /* [column of the request]: released code -> value, of the other sensitive columns */
    } parts;              /* where these are owned: joint=yes */
    uint64_t *reference;  /* n_values: rows of the original, and before[v]: of smaller values */
    uint64_t *before;     /* n_values + 1 */
    uint64_t *before_sum; /* n_values + 1: sums of `before`[1..v], for the ordered distance */
    uint32_t n_reference; /* values that the original has */
    const kn_tree *tree;
    uint32_t *leaf_of_value;
    uint64_t *node_reference, *node_count; /* per tree node: rows of the original, of the class */
    double *node_hands;                    /* per tree node: what its children with too much hand out */
    uint32_t *touched;                     /* nodes above present values */
    bool *is_protected;
    uint64_t *count;   /* n_values, of the class at hand */
    uint32_t *present; /* values of the class, ascending */
    uint32_t n_present;
    uint64_t *sorted; /* n_values, scratch */
    uint64_t n_rows, n_persons, n_population;
    bool persons_open; /* asked for, but not known: between the fewest and the rows */
} counting;

/* NULL: there is no such model. */
const model_kind *kn_model_kind_find(const char *name);

#endif
