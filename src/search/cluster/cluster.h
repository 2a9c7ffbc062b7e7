/* What the files of `cluster` share. Start reading in cluster.c.
 *
 * A *record* is one row in the search. A record is a vector of 16-bit *lanes*, so that closures and prices are a few
 * vector instructions:
 *
 *   equal lanes   one per (TREE column, level), holding the ancestor at that level; the join of two records keeps a
 *                 lane where they agree and sets it to KN_STAR (all ones) where they do not. A record carries a weight
 *                 per lane, the rise in price from this level to the next; the price of a class is the sum of the
 *                 weights of its starred lanes, as seen by any of its records
 *                 one per subset of a collection too, saying whether the value is in it
 *   least lanes   two per RANGES column: low end and complemented high end; the join is the minimum
 *   union lanes   up to 64 per SETS column: a bit per value (values beyond share bits); the join is the union. A scan
 *                 over classes sees them folded into eight at most. Where larger sets are released as nodes of a tree
 *                 (`groups`), that has equal lanes, too, whose price counts for them only
 *
 * Prices are integers ("units"): the root of all columns together is KN_UNITS_ROOT. So sums do not depend on the order
 * of addition, and every instruction set finds the same answer. Decisions that rounding could turn are taken on exact
 * prices (kn_cluster_exact). */
#ifndef KN_SEARCH_CLUSTER_CLUSTER_H
#define KN_SEARCH_CLUSTER_CLUSTER_H

#include "search/search.h"
#include "engine/closure/closure.h"
#include "base/lanes.h"
#include "base/rng.h"

#define KN_STAR    0xFFFFu /* an equal lane on which a class disagrees */
#define KN_NO_LANE 0xFFFEu /* what no lane of a class holds: a starred lane of a key never matches */
enum {
    KN_LANES = 16, /* lanes of one vector */
    KN_CHUNK = 32, /* classes that a scan looks at together */
    KN_UNITS_ROOT = 30000,
    KN_SUBSET_LANES = 64,
    KN_SET_LANES = 64,
    KN_FOLDED_LANES = 8,    /* the same, as a scan sees them */
    KN_NOISE = 1 << 14,     /* numbers of noise at most */
    KN_SITE_RECORDS = 2048, /* largest neighbourhood that is rebuilt, four times k where that is more, but: */
    KN_MAX_SITE_RECORDS = 8192,
    KN_SITE_GROUPS = 32,
    KN_SITE_HOMES = 4096,                         /* classes, at most, in which its records may be guests */
    KN_SITE_SEED_WORDS = KN_MAX_SITE_RECORDS / 64 /* a bit per record, where the best pattern of a seed is searched */
};

typedef kn_lanes16_u16 kn_lanes;

/* --- The problem: the whole table, read only once it is made (cluster_problem.c) ------------------------------- */

typedef struct kn_cluster_equal {
    uint32_t q;
    const uint32_t *value; /* by code: the ancestor */
    uint32_t *owned;       /* the same where it is not the tree's */
    int16_t *weight;       /* by code: units that are added where the lane disagrees */
    uint32_t n_values;     /* values are below this */
} kn_cluster_equal;

typedef struct kn_cluster_range {
    uint32_t q;
    uint16_t *low, *high_complement; /* by code, the domain spread over 0 .. 65535 */
    uint16_t jump, factor;           /* units = (span > 0 ? jump : 0) + span * factor / 65536 */
} kn_cluster_range;

typedef struct kn_cluster_set {
    uint32_t q;
    uint32_t first_lane;         /* of the union lanes */
    uint32_t n_lanes, n_folded;  /* the first is a multiple of the second: lane j is folded into j % n_folded */
    uint16_t step, jump, factor; /* the same with span = (bits - 1) * step */
    /* Sets of more values are nodes of the tree that has these equal lanes; then all bits of a class's pattern are set.
     * KN_NONE: there is none. */
    uint32_t max_members;
    uint32_t first_equal, n_equal;
} kn_cluster_set;

typedef struct kn_cluster_problem {
    kn_owner memory; /* all arrays below but those that grow */
    const kn_task *task;
    const kn_tuples *tuples;
    kn_pricer *pricer; /* owned */
    uint32_t k;        /* persons that a class needs at least */
    bool counts_only;  /* and that is all it needs */
    bool monotone;     /* generalizing never lowers the price: prices bound moves from below */
    uint32_t n_records;
    uint32_t *record_tuple, *record_row;
    uint8_t *record_person; /* 1 where the record counts as a person, NULL: all do */
    /* Rows of frequent tuples that are classes of their own and need no search: class n is rows
     * reserved_start[n] .. reserved_start[n+1]-1 of reserved_rows. */
    uint32_t n_reserved;
    KN_VECTOR(uint32_t) reserved_start, reserved_rows;

    uint32_t n_equal, n_ranges, n_sets;
    kn_cluster_equal *equal;
    kn_cluster_range *ranges;
    kn_cluster_set *sets;
    /* The prices of ranges and sets, lane by lane, for whole vectors of a pattern: those of ranges, then of sets. Sets
     * of several lanes or with groups have none, and are priced one by one. */
    uint32_t n_vectors_range, n_vectors_set;
    kn_lanes *lane_step, *lane_factor, *lane_jump;
    uint32_t n_wide, *wide; /* those sets */
    int16_t **base;         /* [q][code]: units that a record pays whatever its class is */
    uint32_t *column_first; /* n_qis + 1: the equal lanes of each column, from the leaves up */
    int32_t root_units;     /* what a suppressed row pays */
    bool uniform;           /* weights depend on the lane only */
    bool same_for_all;      /* every record of a class sees the same price */
    bool units_exact;       /* units are prices, up to one common factor */
    bool units_close;       /* units are prices, up to rounding; not where ranges or sets are not linear */
    bool units_lead;        /* or nearly: what they say is worth following; exact prices decide */
    bool lanes_exact;       /* a class whose lanes contain a record's contains the record */
    bool sets_need_making;  /* the measure prices finished sets only */
    int64_t **exact;        /* [q][node] exact prices of the nodes of trees and groups */
    double exact_scale;     /* exact price = price * exact_scale, rounded */
    int64_t exact_root;     /* of all columns */
} kn_cluster_problem;

/* may_set_aside: rows of frequent tuples may become classes of their own that are not searched. */
kn_status kn_cluster_problem_new(kn_cluster_problem **out, const kn_task *task, bool may_set_aside, kn_error *err);
void kn_cluster_problem_free(kn_cluster_problem *problem);

/* --- A solution: all classes ------------------------------------------------------------------------------------ */

typedef struct kn_cluster_solution {
    uint32_t n;        /* classes */
    uint32_t *start;   /* n + 1 */
    uint32_t *members; /* records, class by class, then the suppressed ones */
    uint32_t n_suppressed;
} kn_cluster_solution;

/* --- A block: some classes, as lanes, with all scratch memory of one thread (cluster_block.c) ------------------- */

typedef struct kn_cluster_class {
    int32_t size, persons;
    int32_t price;  /* units per row */
    uint32_t first; /* members stand at first .. first+size-1 of the arena */
    uint32_t capacity;
    /* Asked for since the class last changed: the exact price, and what its rows pay above what they must. */
    bool has_exact, has_above;
    int32_t above; /* units per row */
    int64_t exact;
} kn_cluster_class;

typedef struct kn_site_joined {
    uint32_t when; /* by the site's clock */
    int32_t price; /* of a group once a record has joined */
} kn_site_joined;

/* What is tried with a site. */
typedef enum kn_cluster_way {
    KN_CLUSTER_STEP,     /* one or two records move, nothing is built */
    KN_CLUSTER_BUILD,    /* its classes are built anew */
    KN_CLUSTER_EXCHANGE, /* and may exchange records with others */
    KN_CLUSTER_WAYS
} kn_cluster_way;

typedef struct kn_cluster_site {
    uint32_t n, capacity; /* records */
    uint32_t *record;     /* of the block */
    kn_lanes *lanes;      /* n * n_vectors */
    uint16_t *chunks; /* [chunk][lane][record of the chunk]: the same for scans; of a set, the number of the value */
    kn_lanes *without, *tail; /* n * n_vectors: its group without this record; scratch */
    uint8_t *is_spare;        /* its group has the same pattern without it; then it has no `without` */
    int32_t *without_price;
    int16_t *joined_price;                     /* building: of the group that grows */
    uint16_t *held;                            /* [chunk][set][record of the chunk]: it has the record's value */
    uint32_t *n_values;                        /* of each set, in it */
    int32_t n_held;                            /* of its members, the values of so many are marked */
    int32_t least_without[KN_SITE_GROUPS + 1]; /* of a group's records */
    kn_site_joined *joined;                    /* refining: [record][group] */
    uint32_t first_donor;                      /* records from here on have a class of their own to stay in */
    int32_t *outside_price; /* what a record pays outside the groups: suppressed, or in another class */
    uint32_t *home;         /* that class: a donor's own, or one that contains the record already; or KN_NONE */
    uint8_t *home_known;    /* whether it has been looked for */
    kn_cluster_way way;
    bool gains;                                                   /* it has become cheaper */
    uint32_t n_tried[KN_CLUSTER_WAYS], n_gained[KN_CLUSTER_WAYS]; /* by the way, in this job */
    bool homes_known; /* the classes that may contain one of the records have been looked for: */
    uint32_t n_homes, *home_class;
    uint32_t n_home_lanes, *home_lane; /* lanes on which the records differ */
    uint16_t *home_centre;             /* [chunk][lane][class of the chunk] of those classes and lanes */
    uint32_t n_chosen;
    const uint32_t *chosen; /* the classes that are rebuilt: no home for anybody */
    int64_t outside_total;  /* of all that are outside */
    uint32_t n_suppressed;  /* of those outside that are no donors */
    uint32_t n_groups;
    int32_t size[KN_SITE_GROUPS + 1], persons[KN_SITE_GROUPS + 1], price[KN_SITE_GROUPS + 1];
    uint32_t *members[KN_SITE_GROUPS + 1];                 /* the last one holds those outside */
    kn_lanes *pattern;                                     /* groups * n_vectors */
    uint32_t *left, *matches;                              /* scratch: records */
    uint32_t clock, changed[KN_SITE_GROUPS + 1], *checked; /* refining: when a group last changed, a record was tried */
    bool refused;                                          /* by a model, what the prices asked for */
    double heat;                                           /* as in the job */
    uint8_t *taken;
    uint64_t *bits, *bits_left; /* lanes * words, twice; the same once, and one more */
    uint32_t *order;            /* scratch: lanes */
    int64_t *key;
} kn_cluster_site;

typedef struct kn_cluster_block {
    kn_owner memory; /* all arrays below */
    const kn_cluster_problem *problem;
    kn_rng rng;
    atomic_bool *stop; /* set by anybody: come to an end */
    uint64_t work;     /* units of work done */

    uint32_t n_records, record_capacity;
    uint32_t *global; /* record of the problem */
    kn_lanes *lanes;  /* n_records * n_vectors */
    int16_t *weight;  /* n_records * weight_stride, or one row for all when the stride is 0 */
    size_t weight_stride;
    int16_t *base;
    uint8_t *person;
    uint32_t n_equal, n_vectors_equal, n_vectors_least, n_vectors; /* this block's lanes */
    uint8_t *lane_state; /* of the problem's lanes: always starred, always kept, or active + position */
    uint32_t *lane_position;
    uint32_t *set_equal; /* of a set with groups: where its equal lanes begin */

    uint32_t n_classes, class_capacity;
    kn_cluster_class *classes;
    uint32_t n_lanes;           /* of the class arrays: equal, least and union lanes */
    uint32_t n_lanes_site;      /* of the site's chunks: equal and least lanes, one for each set */
    kn_lanes *patterns;         /* class_capacity * n_vectors */
    uint16_t *centre;           /* [chunk][lane][class of the chunk]: the same for scans, sets folded */
    uint16_t *price16, *factor; /* for the gate of the scan */
    int16_t *slack;
    uint32_t *arena, *arena_spare; /* members */
    size_t arena_n, arena_capacity;
    uint32_t *class_of, *place; /* of a record: its class and its place there */

    uint32_t n_suppressed, max_suppressed;
    uint32_t *suppressed; /* records */

    uint32_t noise_mask; /* how many there are, a power of two, less one */
    int32_t *noise;
    int16_t *noise16;           /* the same, cut to 16 bits; then its beginning again */
    int32_t penalty;            /* units per missing person */
    uint16_t *folded;           /* scratch: a record as the class arrays have it */
    kn_lanes *key, *key_weight; /* broadcast record */
    int32_t key_total;          /* of its weights */
    kn_lanes *pattern_a, *pattern_b;
    uint32_t *scratch, *targets; /* record_capacity each */
    uint32_t *value_number;      /* scratch of the loader, by value; all 0 between uses */
    uint16_t *columns;           /* scratch of the loader: lane by lane */
    kn_cluster_site site;

    uint32_t *sensitive;        /* [column * record_capacity + record], where models ask for histograms */
    uint32_t *histogram_values; /* as many as `sensitive` */
    uint64_t *histogram_counts; /* the same */
    kn_histogram *histograms;   /* of the records that were counted last */
    uint32_t *value_counts;     /* scratch, by sensitive value; all 0 between uses */
    uint32_t *codes;            /* record_capacity */
    kn_set_pool *set_pool;      /* sets that had to be made to be priced */
    uint32_t n_pooled;
} kn_cluster_block;

typedef enum kn_cluster_op {
    KN_CLUSTER_GREEDY,
    KN_CLUSTER_ANNEAL,
    KN_CLUSTER_REPAIR,
    KN_CLUSTER_REBUILD
} kn_cluster_op;

/* One epoch's work on every block. Temperatures and penalties are in units. */
typedef struct kn_cluster_job {
    kn_cluster_op op;
    bool repair;      /* afterwards make every class hold */
    bool may_give_up; /* repair may stop half-way when asked to */
    uint32_t n_sweeps;
    double hot, cold; /* temperature of the first and of the last sweep */
    double penalty_first, penalty_last;
    double tries_per_class; /* REBUILD */
    uint64_t max_work;      /* REBUILD: of a block, from which on nothing more is tried */
    double near_noise;      /* REBUILD: units */
    double heat;            /* REBUILD: by what part of its price a site may become dearer, on average */
} kn_cluster_job;

kn_status kn_cluster_block_new(kn_cluster_block **out, const kn_cluster_problem *problem, uint32_t max_records,
                               kn_error *err);
void kn_cluster_block_free(kn_cluster_block *block);
/* Loads classes[0..n_classes) of the solution and the given suppressed records; together at most max_records. */
void kn_cluster_block_load(kn_cluster_block *block, const kn_cluster_solution *solution, const uint32_t *classes,
                           uint32_t n_classes, const uint32_t *suppressed, uint32_t n_suppressed);

/* Does a class with this pattern keep the problem's equal lane j? */
bool kn_cluster_lane_kept(const kn_cluster_block *block, uint32_t j, const kn_lanes *pattern);
/* Exact price of a class per row, in 2^-30 of the root of all columns. */
int64_t kn_cluster_exact(kn_cluster_block *block, const uint32_t *members, uint32_t n_members, const kn_lanes *pattern);
/* Do the models hold for these records of the block as a class? */
bool kn_cluster_holds(kn_cluster_block *block, const uint32_t *members, uint32_t n_members, int32_t n_persons);
/* The same in steps, for a class that grows: count its records, then one more at a time, and ask. Only where models
 * look at more than counts (`counts_only`); kn_cluster_holds counts anew. */
void kn_cluster_count(kn_cluster_block *block, const uint32_t *members, uint32_t n_members);
void kn_cluster_count_one(kn_cluster_block *block, uint32_t record);
bool kn_cluster_counted_hold(const kn_cluster_block *block, uint32_t n_members, int32_t n_persons);
/* How many of the counted records have the first sensitive value of this one. */
uint32_t kn_cluster_counted_like(const kn_cluster_block *block, uint32_t record);
/* Noise of annealing at a temperature (0: none), and for the choice of near classes. */
void kn_cluster_noise(kn_cluster_block *block, double temperature);
void kn_cluster_near_noise(kn_cluster_block *block, double units);
/* How many times its price a site may have afterwards: 1 without heat, a random number above it otherwise. */
double kn_cluster_allowed(kn_cluster_block *block, double heat);
/* Sets *stop when time is up or somebody asked to stop; called now and then. */
void kn_cluster_poll(kn_cluster_block *block);
/* Temperature and penalty of a sweep that stands at `part` (0..1) of the job. */
void kn_cluster_cool(kn_cluster_block *block, const kn_cluster_job *job, double part);

/* --- The engine, compiled once per instruction set (cluster_engine.h) -------------------------------------------- */

typedef void kn_cluster_engine(kn_cluster_block *block, const kn_cluster_job *job);

kn_cluster_engine kn_cluster_run_plain; /* for any machine; the reference for the others */
kn_cluster_engine kn_cluster_run_avx2;  /* on x86-64 only */

#endif
