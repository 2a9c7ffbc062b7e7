/* Algorithms: "which generalization?" One file per search, one line in search.def. */
#ifndef KN_SEARCH_SEARCH_H
#define KN_SEARCH_SEARCH_H

#include "base/outcome.h"
#include "base/pool.h"
#include "base/sentence.h"
#include "base/tick.h"
#include "measure/measure.h"
#include "privacy/privacy.h"

typedef enum kn_recoding {
    KN_RECODING_LEVELS, /* global: one level per column. All domains are TREE */
    KN_RECODING_CUTS,   /* global: cut points per column, over the order of the codes */
    KN_RECODING_LOCAL   /* classes of rows, each released as its closure */
} kn_recoding;

/* What a search knew when it stopped, so that it can go on later; private like the data. */
typedef struct kn_saved_search {
    const char *bytes; /* NULL: it begins anew */
    const char *name;  /* for messages: where they come from */
    size_t n_bytes;
    kn_buffer next; /* what to save this time */
    /* Called with it now and then, and when the search ends; NULL: nobody keeps it meanwhile. */
    kn_status (*keep)(void *user, const kn_buffer *state, kn_error *err);
    void *user;
    double every_seconds; /* between two calls, at least */
} kn_saved_search;

enum { KN_PAY_BITS = 24 };

/* What a search is given. Everything is borrowed. */
typedef struct kn_task {
    const kn_tuples *tuples;
    const kn_models *models;
    const kn_objective *objective;
    const kn_args *args;     /* the algorithm's own parameters */
    uint64_t max_suppressed; /* rows */
    uint64_t seed;
    uint64_t effort;     /* work units; 0: the algorithm's default for this size */
    size_t memory_bytes; /* what the search may use for itself; 0: no limit */
    kn_pool *pool;
    kn_ticker *ticker;
    kn_trace *trace;        /* may be NULL */
    kn_saved_search *saved; /* may be NULL */
    /* [tuple]: in 2^-KN_PAY_BITS of the root's price. All rows together pay so much, whatever the release; a dear row
     * whose figure is high can hardly pay less. May be NULL. */
    const uint32_t *must_pay;
} kn_task;

// clang-format off
/* What a search returns. recode/ makes the release from it.
 *   LEVELS: `levels`; classes that break a model are suppressed by recode.
 *   CUTS:   `part`;  the same.
 *   LOCAL:  `row_class` and `n_classes`; KN_NONE is a suppressed row. Without `cells` each class is released as its
 *           closure; with `cells`, of trees only, as those. */
// clang-format on
typedef struct kn_answer {
    kn_recoding recoding;
    uint32_t *levels; /* n_qis */
    uint32_t **part;  /* [q][code]: number of the part between two cuts, non-decreasing in code; one allocation */
    bool part_nodes;  /* parts of columns with a hierarchy are nodes and have their labels */
    uint32_t n_classes;
    uint32_t *row_class; /* n_rows */
    kn_cell *cells;      /* [class * n_qis + q]; usually NULL */
    kn_stopped stopped;
    bool optimal; /* proven best of what this recoding can express, under the task's objective */
    double bound; /* proven lower bound of the reported loss, NAN: none */
    kn_guarantee guarantee;
    kn_say followed;   /* what it minimized instead of the measure: a sentence with the algorithm and the measure */
    uint32_t n_blocks; /* parts of the table that were searched each by itself; 0 and 1: the table was searched whole */
    size_t n_top;      /* the best nodes, best first, where several were asked for */
    kn_good_node *top;
    uint64_t n_nodes; /* lattice nodes, set-enumeration nodes or moves looked at */
} kn_answer;

typedef struct kn_algorithm {
    const char *name, *summary, *citation;
    kn_recoding recoding;
    const kn_param *params;
    size_t n_params;
    /* What it cannot take; a request outside is refused with the reason, in one place (kn_algorithm_fits). */
    bool needs_cell_measure; /* minimizes sums over cells only */
    bool needs_monotone_measure;
    bool any_measure;    /* searches without an objective (datafly): the measure is only reported */
    bool counts_only;    /* k-anonymity alone: no histogram models */
    bool no_suppression; /* ignores --max-suppressed: refuses it above 0 */
    bool levels_first;   /* begins with a level per column though it does not end with one: needs trees too */
    bool needs_trees;    /* looks at the nodes of trees, though not level by level */
    uint32_t only_k;     /* serves this k alone; 0: any */
    bool whole_tuples;   /* local, and yet makes classes of tuples: takes tables with counts */
    bool exact;          /* a run that is done is optimal */
    bool can_resume;     /* takes and gives kn_task.saved */
    bool asks_must_pay;  /* finds more with kn_task.must_pay */
    bool all_or_nothing; /* has nothing to return before its end */
    double (*seconds)(const kn_task *task); /* about what one thread takes here; NULL: little more than reading takes */
    kn_status (*search)(kn_answer *answer, const kn_task *task, kn_error *err);
} kn_algorithm;

const kn_algorithm *const *kn_algorithm_all(size_t *n);
const kn_algorithm *kn_algorithm_find(const char *name);
/* Its domains must all be trees, whose levels can be limited. */
static inline bool kn_algorithm_has_levels(const kn_algorithm *algorithm)
{
    return algorithm->recoding == KN_RECODING_LEVELS || algorithm->levels_first;
}
/* Its domains must all be trees. */
static inline bool kn_algorithm_needs_trees(const kn_algorithm *algorithm)
{
    return kn_algorithm_has_levels(algorithm) || algorithm->needs_trees;
}
/* KN_USAGE with the reason when this algorithm cannot serve these models, this objective or these domains. */
kn_status kn_algorithm_fits(const kn_algorithm *algorithm, const kn_task *task, kn_error *err);
/* Searches. What has nothing to return before its end is given up at `deadline` (kn_seconds_now(); 0: never). */
kn_status kn_algorithm_run(kn_answer *answer, const kn_algorithm *algorithm, const kn_task *task, double deadline,
                           kn_error *err);
void kn_answer_free(kn_answer *answer); /* what it holds, not the struct */

#endif
