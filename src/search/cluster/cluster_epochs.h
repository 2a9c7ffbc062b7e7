/* A search of `cluster` from its first classes to its last: all classes of the table, the blocks that they are cut
 * into, and what has been done. */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_EPOCHS_H
#define KN_SEARCH_CLUSTER_CLUSTER_EPOCHS_H

#include "search/cluster/cluster.h"

typedef struct kn_cluster_block_result {
    uint32_t n_classes, n_suppressed;
    uint32_t n_bad; /* classes that break a model, after repair */
    uint64_t work;
    int64_t exact; /* sum over rows */
} kn_cluster_block_result;

/* Where the rebuilding stood after an epoch. */
typedef struct kn_cluster_standing {
    uint64_t work;
    int64_t exact;
} kn_cluster_standing;

/* What records are sorted by: the value of an equal lane or a set, or where in its domain the value of a range is. */
typedef struct kn_cluster_trait {
    uint32_t q;
    const uint32_t *value; /* by code; NULL: the code */
    uint32_t n_bits;
    double share; /* of the records whose class has one value of it, after the last epoch */
} kn_cluster_trait;

typedef enum kn_cluster_phase { KN_CLUSTER_HOT, KN_CLUSTER_COLD, KN_CLUSTER_DONE } kn_cluster_phase;

typedef struct kn_cluster_search {
    kn_owner memory; /* all arrays below but the standings and what is put by */
    const kn_task *task;
    kn_cluster_problem *problem;
    bool is_copy; /* the problem is another's */
    kn_cluster_engine *engine;
    kn_cluster_solution now, next; /* next.start holds sizes, block by block, while an epoch runs */
    uint32_t n_blocks, n_workers, max_block_records;
    kn_cluster_block **blocks; /* per worker */
    const kn_cluster_job *job;
    uint64_t *keys;
    uint32_t *order;                                         /* classes, block by block */
    uint32_t *first_class, *first_record, *first_suppressed; /* n_blocks + 1 each */
    uint32_t *may_suppress;                                  /* per block: rows at most */
    kn_cluster_block_result *results;
    uint32_t n_traits;
    kn_cluster_trait *traits;
    uint64_t *kept; /* [block][trait]: records whose class keeps it */
    kn_rng rng;
    uint32_t epoch;
    uint64_t work, budget;
    bool by_time; /* the time limit is shorter than the budget */
    KN_VECTOR(kn_cluster_standing) standings;
    size_t half; /* the last of them up to which half of the rebuilding was done */
    bool is_still;
    bool is_interrupted;    /* somebody asked to stop, and was answered */
    kn_cluster_phase phase; /* of the rebuilding */
    double heat;            /* at its beginning */
    uint64_t hot_began;     /* looks before it */
    uint64_t hot_work;      /* looks that were rebuilt with heat */
    bool feasible;
    int64_t exact;  /* what the present state costs */
    bool has_saved; /* a feasible state is put by, of this price; what comes next may be given up */
    int64_t saved_exact;
    kn_cluster_solution saved;
    kn_answer cuts; /* mondrian's classes, where there is no time for more than them */
    atomic_bool stop;
    double began, began_sweeps;
    double unit_loss, fixed_loss; /* loss = exact sum * unit_loss + fixed_loss */
} kn_cluster_search;

/* How many blocks there are depends on the data only. */
uint32_t kn_cluster_count_blocks(uint64_t n_records, uint64_t k);
/* Makes the problem and all memory for `run->task`. may_set_aside: rows of frequent tuples may be classes of their own
 * that take no part. */
kn_status kn_cluster_search_begin(kn_cluster_search *run, bool may_set_aside, kn_error *err);
/* A search of its own that goes on from the present state of another, on one thread; it shares its problem. The task is
 * a copy of the other's, with the seed of this one. */
kn_status kn_cluster_search_copy(kn_cluster_search *run, const kn_cluster_search *from, const kn_task *task,
                                 kn_error *err);
void kn_cluster_search_free(kn_cluster_search *run); /* what it holds, not the struct */
void kn_cluster_copy_solution(kn_cluster_solution *to, const kn_cluster_solution *from, uint32_t n_records);
/* One job on all blocks, which then make up the present state. */
kn_status kn_cluster_epoch(kn_cluster_search *run, const kn_cluster_job *job, kn_error *err);
/* A point of the loss over time. */
kn_status kn_cluster_note_loss(kn_cluster_search *run, kn_error *err);
/* The same, and how far it has come to who asked for it; who may ask to stop. */
kn_status kn_cluster_tell(kn_cluster_search *run, kn_error *err);
/* Time is up, and the state that was put by will be the answer. */
bool kn_cluster_given_up(kn_cluster_search *run);
/* now.members: all records, sorted by their traits, those of few values first. */
kn_status kn_cluster_sort_records(kn_cluster_search *run, kn_error *err);

#endif
