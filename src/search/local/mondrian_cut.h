/* What the two halves of Mondrian share: mondrian.c decides which classes are cut and when, mondrian_cut.c finds the
 * best cut of one class. */
#ifndef KN_SEARCH_LOCAL_MONDRIAN_CUT_H
#define KN_SEARCH_LOCAL_MONDRIAN_CUT_H

#include "engine/closure/closure.h"

#include <math.h>
#include <stdatomic.h>

enum {
    KN_MONDRIAN_BITS = 2048, /* of the sets in a reach; where there are many groups fewer */
    KN_MONDRIAN_SETS = 16,   /* columns with bits */
};

typedef struct kn_mondrian_node {
    uint32_t begin, end; /* of the records */
    uint64_t n_persons;
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
    uint32_t *first_bit;     /* [q]: SETS: of the column's values by rank; KN_NONE: no set, or too many values */
    struct bit_value {
        uint32_t q, code;
    } bits[KN_MONDRIAN_BITS];
    uint32_t n_sets, sets[KN_MONDRIAN_SETS]; /* columns with bits */
    uint32_t n_wide, *wide;                  /* SETS of too many values */
    uint32_t group_words;
} kn_mondrian_ranking;

/* What one thread works with. */
typedef struct kn_mondrian_bench {
    kn_owner memory; /* all arrays */
    kn_mondrian_ranking ranking;
    struct code_set *codes;  /* [q]; empty between uses */
    uint32_t *groups;        /* of the columns that are counted together */
    uint32_t *order, *begin; /* records by one column, and where its values begin; only where somebody looks at them */
    double *left_price;      /* per group */
    uint32_t *reach;         /* of what was passed, as in a group */
    kn_growing growing;      /* the closure of what was passed */
    uint32_t n_active, *active; /* wide columns that may still grow in this pass */
    kn_tally whole, right;
} kn_mondrian_bench;

typedef struct kn_mondrian {
    kn_owner memory; /* all arrays but those of a level */
    const kn_task *task;
    const kn_items *items;
    const kn_pricer *pricer;
    uint32_t n_qis, stride;
    uint32_t n_ordered, n_lanes; /* columns that are no sets; in whole vectors */
    uint32_t max_bits;           /* of the sets in a reach */
    uint32_t *ordered;           /* [lane]: its column */
    uint32_t *place;             /* [q]: of its code in a record; those of ordered columns come first */
    uint32_t *records, *spare;   /* one per item: item, rows, persons, codes; classes are ranges of them */
    bool *begins_class;
    bool relaxed, by_median;
    bool first_column; /* among equally wide columns the first is cut, otherwise the one that is cut most evenly */
    double **places;   /* [q][code]: what widths are measured by */
    double *waste;     /* [persons] below n_waste */
    uint64_t n_waste, min_persons;
    kn_mondrian_bench *benches;
    atomic_bool out_of_time;
    atomic_uint_fast64_t n_cuts, n_items_done;
    kn_mondrian_node current; /* the large class whose columns are shared out */
    unsigned n_shares;
    kn_mondrian_cut *share_cuts; /* [share] */
    /* the level of large classes that is being cut */
    kn_mondrian_node *large;
    kn_mondrian_cut *cuts;      /* [large] */
    kn_mondrian_node *children; /* [2 * large], and whether there are any */
} kn_mondrian;

enum { RECORD_ITEM, RECORD_ROWS, RECORD_PERSONS, RECORD_CODES };

static inline uint32_t *kn_mondrian_record(const kn_mondrian *s, const kn_mondrian_node *n, uint32_t index)
{
    return s->records + (size_t)(n->begin + index) * s->stride;
}

static inline uint32_t kn_mondrian_records(const kn_mondrian_node *n) { return n->end - n->begin; }

/* Room for what a thread works with; sets max_bits before the first. */
void kn_mondrian_choose_bits(kn_mondrian *s);
kn_status kn_mondrian_bench_init(const kn_mondrian *s, kn_mondrian_bench *b, kn_error *err);
void kn_mondrian_bench_free(kn_mondrian_bench *b);

/* Which values the class has in the columns from .. to-1; then, once all columns are known, the places of their bits.
 */
void kn_mondrian_rank(const kn_mondrian *s, kn_mondrian_bench *b, kn_mondrian_ranking *r, const kn_mondrian_node *n,
                      uint32_t from, uint32_t to);
void kn_mondrian_place_bits(const kn_mondrian *s, kn_mondrian_ranking *r);
/* b->order: the class's records by column q, which is ranked. */
void kn_mondrian_sort(const kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                      const kn_mondrian_node *n, uint32_t q);
/* The best allowable cut in the columns from .. to-1, and which of two is the better one. */
kn_mondrian_cut kn_mondrian_best_cut(kn_mondrian *s, kn_mondrian_bench *b, const kn_mondrian_ranking *r,
                                     const kn_mondrian_node *n, uint32_t from, uint32_t to);
bool kn_mondrian_better(const kn_mondrian *s, const kn_mondrian_cut *a, const kn_mondrian_cut *b);

#endif
