/* Lower bounds: what the releases below a node of the search cost at least. One file per kind of measure, with the
 * proof in its opening comment.
 *
 * A node has a head (letters in force), a tail (letters that its descendants may add) and the allset, both together.
 * Its classes are those of the head that may be released; what the head suppresses stays suppressed (Observation 5.1,
 * for models whose failing classes have only failing subsets; without suppression a failing class ends the subtree for
 * every monotone model). Its items are the classes of the allset, of which every class of every descendant is a union
 * (Observation 5.2). */
#ifndef KN_SEARCH_CUTS_CUT_BOUNDS_H
#define KN_SEARCH_CUTS_CUT_BOUNDS_H

#include "search/cuts/cuts.h"

/* What taking a letter does to one class. */
typedef struct kn_split {
    double bound;      /* the class's rows cost at least this below a node with the letter */
    double suppressed; /* rows that fall out at once */
    bool gains;        /* without such a letter the class's rows cost at least what they cost now */
} kn_split;

struct kn_cut_frame;
struct kn_cut_worker;

typedef struct kn_cut_bound {
    const char *name; /* for messages */
    bool (*fits)(const kn_objective *objective, uint64_t max_suppressed);
    kn_status (*prepare)(kn_cuts *cuts, kn_error *err); /* may be NULL */
    /* KN_LANE_BOUND of an item, from its other lanes. NULL: lanes add up */
    double (*item)(const kn_cuts *cuts, const double *lanes);
    double (*suppressed)(const kn_cuts *cuts, double n_rows);
    /* A released class; first and last: its parts, [column] (cell measures). */
    double (*price)(const kn_cuts *cuts, const double *lanes, const uint16_t *first, const uint16_t *last);
    /* Fills worker->cost, ->bound and ->letters of a frame. */
    void (*evaluate)(struct kn_cut_worker *worker, struct kn_cut_frame *frame);
    /* From the sum to the loss that is reported and back; NULL: they are the same. */
    double (*loss)(const kn_cuts *cuts, double cost);
    double (*cost)(const kn_cuts *cuts, double loss);
    bool grows;           /* a class that grows costs no less */
    bool useless_letters; /* a letter that gains nowhere may be dropped */
    bool by_cell;         /* a cell measure: letters lower prices without splitting a class */
} kn_cut_bound;

extern const kn_cut_bound kn_cut_bound_dm, kn_cut_bound_cm, kn_cut_bound_average, kn_cut_bound_cells;

#endif
