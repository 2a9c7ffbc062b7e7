/* A set of letters and all its neighbours: what the release costs, and what it would cost with one letter more or one
 * less. Hill climbing, annealing and the genetic search stand on it. */
#ifndef KN_SEARCH_CUTS_CUT_MOVES_H
#define KN_SEARCH_CUTS_CUT_MOVES_H

#include "search/cuts/cut_frame.h"

typedef struct kn_cut_cost {
    double cost, n_suppressed;
    bool has_class; /* some rows are released */
} kn_cut_cost;

typedef struct kn_cut_moves {
    const kn_cuts *cuts;
    const kn_items *items; /* borrowed: merged where positions are coarse */
    kn_cut_cost now;       /* of the letters looked at last */
    /* [letter]: with the letter put in or taken out; cost INFINITY where it cannot be. Where persons have several
     * tuples, it can cost more than this says: a person on both sides of a cut is counted on both, and twice without */
    kn_cut_cost *flipped;
    uint32_t *offset;                     /* [column]: its first position among all */
    uint16_t *part_first, *part_last;     /* [offset + position] */
    uint16_t *keys;                       /* [class * n_keys + q]: first positions of its parts */
    double *lanes;                        /* [class * n_lanes + lane] */
    uint32_t *class_of, *start, *members; /* items and classes */
    uint32_t n_classes;
    uint32_t *slots, *stamps, stamp, n_slots;
    uint16_t *merged_keys; /* of classes that a missing letter would merge ... */
    double *merged_lanes, *sums, *parts;
    uint32_t *last_person; /* [class]: who was counted last; persons with several tuples only */
    uint8_t *barred;       /* [letter]: see kn_cut_flip */
    uint64_t work;         /* so far, in steps of some nanoseconds: see cut_crew.h */
    uint32_t n_positions;
} kn_cut_moves;

/* `items`: see kn_cut_merged_items. */
kn_status kn_cut_moves_new(kn_cut_moves **out, const kn_cuts *cuts, const kn_items *items, kn_error *err);
void kn_cut_moves_free(kn_cut_moves *moves);
/* Fills `now`; with `all` also `flipped`. */
void kn_cut_moves_look(kn_cut_moves *moves, const uint8_t *in, bool all);
/* The same as a look, without `all`, at letters whose classes somebody has found: keys and lanes stand in `merged_keys`
 * and `merged_lanes`, items in cells, cells in classes. */
void kn_cut_moves_take(kn_cut_moves *moves, const uint8_t *in, const uint32_t *cell_of, const uint32_t *class_of_cell,
                       uint32_t n_classes);
/* Classes that differ in column q alone are a group: group_of[class]; returns their number. */
uint32_t kn_cut_moves_groups(kn_cut_moves *moves, uint32_t *group_of, uint32_t q);
enum { KN_FLIP_OUT = 1, KN_FLIP_IN = 2 };
/* Flips the letter that gains most, of those in force (KN_FLIP_OUT) or the others (KN_FLIP_IN), and looks again; false:
 * none gains. */
bool kn_cut_flip(kn_cut_moves *moves, uint8_t *in, unsigned kinds, uint64_t *n_looks);
/* Flips the letter that gains most, at most so many times, until none gains or time is out: `now` is of what `in` is
 * then. Returns the number of looks. */
uint64_t kn_cut_descend(kn_cut_moves *moves, uint8_t *in, uint32_t most_flips, kn_ticker *ticker);
/* The letters of a set that lack what they need go. */
void kn_cut_tidy(const kn_cuts *cuts, uint8_t *in);
static inline bool kn_cut_is_release(const kn_cuts *cuts, const kn_cut_cost *cost)
{
    return cost->has_class && cost->n_suppressed <= (double)cuts->max_suppressed;
}
/* One number to compare by: rows suppressed beyond the limit cost more than any release. */
double kn_cut_value(const kn_cuts *cuts, const kn_cut_cost *cost);
/* Whether a letter may be put in (its parent is) or taken out (no child is). */
bool kn_cut_may_flip(const kn_cuts *cuts, const uint8_t *in, uint32_t letter);

#endif
