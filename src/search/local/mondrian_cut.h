/* What the parts of Mondrian share: mondrian.c decides which classes are cut and when, mondrian_cut.c finds the best
 * cut of one class. */
#ifndef KN_SEARCH_LOCAL_MONDRIAN_CUT_H
#define KN_SEARCH_LOCAL_MONDRIAN_CUT_H

#include "engine/closure/closure.h"

#include <math.h>
#include <stdatomic.h>

enum {
    KN_MONDRIAN_BITS = 2048, /* of values in a reach; where there are many groups fewer */
    KN_MONDRIAN_NEAR = 256,  /* of these, the ones that are added as vectors: two at most */
    KN_MONDRIAN_SETS = 16,   /* columns with bits, of each kind */
};

typedef struct kn_mondrian_node {
    uint32_t begin, end; /* of the records ... */
    uint32_t side;       /* ... in this one of their two arrays */
    uint64_t n_persons;
    uint64_t varied; /* a bit per column: 0 when its records are known to have one value; columns after 64 have none */
} kn_mondrian_node;

/* The best cut known: `n_left` records go left, of which `left_persons` persons; 0: there is none. Strict cuts: those
 * below `code`; relaxed ones: the first in the order of the column. */
typedef struct kn_mondrian_cut {
    double loss, imbalance;
    uint32_t column, n_left, code;
    uint64_t left_persons;
} kn_mondrian_cut;

static const kn_mondrian_cut kn_mondrian_no_cut = {INFINITY, INFINITY, KN_NONE, 0, 0, 0};

/* Which values the records of a node have, and where they stand in the reach of a group. */
typedef struct kn_mondrian_ranking {
    uint32_t *n;             /* [q]: distinct values */
    uint32_t **code, **rank; /* [q]: value by rank, ascending; rank by value */
    uint32_t n_live, *live;  /* columns that can be cut: of more than one value; for relaxed cuts all */
    uint32_t *first_bit;     /* [q]: of the column's values by rank; KN_NONE: it has none */
    struct bit_value {
        uint32_t q, code;
    } bits[KN_MONDRIAN_BITS + KN_MONDRIAN_NEAR];
    uint32_t n_near, near[KN_MONDRIAN_SETS]; /* columns of few values, whose bits are added as vectors, so many: */
    uint32_t near_vectors;
    uint32_t n_far, far[KN_MONDRIAN_SETS]; /* SETS of more values, whose bits are added one by one */
    uint32_t n_wide, *wide;                /* SETS of too many values */
    uint32_t n_lanes;                      /* of ordered columns; 0: there are none, or they are all near */
    uint32_t group_words;
} kn_mondrian_ranking;

/* What one thread works with. */
typedef struct kn_mondrian_bench {
    kn_owner memory; /* all arrays */
    kn_mondrian_ranking ranking;
    struct code_set *codes;  /* [q]; empty between uses */
    uint32_t *looked_at;     /* columns that are being ranked */
    uint32_t *groups;        /* of the columns that are counted together */
    uint32_t *order, *begin; /* records by one column, and where its values begin; only where somebody looks at them */
    double *left_price;      /* per group */
    uint32_t *reach;         /* of what was passed, as in a group */
    kn_growing growing;      /* the closure of what was passed */
    uint32_t n_active, *active; /* wide columns that may still grow in this pass */
    kn_tally whole, right;
    uint64_t n_cuts, n_items_done; /* the latter since the last tick */
} kn_mondrian_bench;

typedef struct kn_mondrian {
    kn_owner memory; /* all arrays but those of a level */
    const kn_task *task;
    const kn_items *items;
    const kn_pricer *pricer;
    uint32_t n_qis, stride;
    uint32_t n_ordered, n_lanes; /* columns that are no sets; in whole vectors */
    uint32_t max_bits;           /* of values in a reach */
    uint32_t *one_hot[3];        /* [vectors][bit * 4 * vectors]: that bit */
    uint32_t *ordered;           /* [lane]: its column */
    uint32_t *place;             /* [q]: of its code in a record; those of ordered columns come first */
    uint32_t *records[2];        /* one per item: item, rows, persons, codes; classes are ranges of them. A cut
                                    moves its class from one array to the other. */
    bool *begins_class;
    uint32_t *items_by_class; /* those of finished classes, where their records were */
    bool relaxed, by_median;
    bool monotone;     /* what grows does not become cheaper */
    bool first_column; /* among equally wide columns the first is cut, otherwise the one that is cut most evenly */
    double **places;   /* [q][code]: what widths are measured by */
    double *waste;     /* [persons] below n_waste */
    uint64_t n_waste, min_persons, stop_persons; /* classes below the last are not cut */
    kn_mondrian_bench *benches;
    atomic_bool out_of_time;
    atomic_uint_fast64_t n_items_done;
    kn_mondrian_node current; /* the large class whose columns are shared out */
    bool ask_models;          /* for it, now */
    unsigned n_shares;
    kn_mondrian_cut *share_cuts;     /* [share] */
    uint32_t share_items, job_items; /* a class of more records is shared out; one of no more is a job with its cuts */
    /* the level of large classes that is being cut */
    kn_mondrian_node *large;
    kn_mondrian_cut *cuts;      /* [large] */
    kn_mondrian_node *children; /* [2 * large], and whether there are any */
} kn_mondrian;

enum { RECORD_ITEM, RECORD_ROWS, RECORD_PERSONS, RECORD_CODES };

static inline uint32_t *kn_mondrian_record(const kn_mondrian *s, const kn_mondrian_node *n, uint32_t index)
{
    return s->records[n->side] + (size_t)(n->begin + index) * s->stride;
}

static inline uint32_t kn_mondrian_records(const kn_mondrian_node *n) { return n->end - n->begin; }

/* What all threads look at, once columns are placed; then room for what each works with. */
kn_status kn_mondrian_prepare_bits(kn_mondrian *s, kn_error *err);
kn_status kn_mondrian_bench_init(const kn_mondrian *s, kn_mondrian_bench *b, kn_error *err);
void kn_mondrian_bench_free(kn_mondrian_bench *b);

/* Which values the class has in the columns from .. to-1; then, once all columns are known, which of them are live,
 * which the class remembers, and the places of their bits. */
void kn_mondrian_rank(const kn_mondrian *s, kn_mondrian_bench *b, kn_mondrian_ranking *r, const kn_mondrian_node *n,
                      uint32_t from, uint32_t to);
void kn_mondrian_find_live(const kn_mondrian *s, kn_mondrian_ranking *r, kn_mondrian_node *n);
/* b->order: the class's records by column q, which is ranked. */
void kn_mondrian_sort(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                      const kn_mondrian_node *n, uint32_t q);
/* The best cut in the live columns from .. to-1 that leaves enough persons on both sides and, where they are asked,
 * sensitive values that the models allow; and which of two is the better one.
 *
 * Most cuts leave both sides such values. So nobody is asked at first: the best cut by numbers is the best of all if
 * the models allow it, which takes one look at the class (kn_mondrian_allows); otherwise every cut is asked about. */
kn_mondrian_cut kn_mondrian_best_cut(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                                     const kn_mondrian_node *n, uint32_t from, uint32_t to, bool ask_models);
/* Do the models hold on both sides of a strict cut? */
bool kn_mondrian_allows(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_node *n, const kn_mondrian_cut *c);
/* Relaxed cuts run through an order that is made for one column at a time: they are asked about there. */
static inline bool kn_mondrian_asks_first(const kn_mondrian *s) { return s->relaxed && !s->task->models->counts_only; }
bool kn_mondrian_better(const kn_mondrian *s, const kn_mondrian_cut *a, const kn_mondrian_cut *b);

#endif
