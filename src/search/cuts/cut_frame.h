/* Nodes of the set-enumeration tree as the search holds them: classes of items, split when a letter is taken and
 * merged when one leaves the tail. A worker is what one thread needs. */
#ifndef KN_SEARCH_CUTS_CUT_FRAME_H
#define KN_SEARCH_CUTS_CUT_FRAME_H

#include "search/cuts/cut_bounds.h"

typedef enum kn_letter_state { KN_LETTER_OUT, KN_LETTER_TAIL, KN_LETTER_HEAD } kn_letter_state;

typedef struct kn_cut_frame {
    uint8_t *state; /* [letter]: kn_letter_state */
    kn_items items; /* by class */
    uint32_t n_classes;
    uint32_t *begin;      /* [class], n_classes + 1: its items */
    double *lanes;        /* [class * n_lanes + lane] */
    uint16_t *low, *high; /* [class * n_keys + q]: smallest and largest position of its items */
    double n_suppressed;
    uint32_t n_tail;                  /* letters */
    uint16_t *tail;                   /* by column, ascending: positions that a letter of the tail cuts before ... */
    uint32_t *tail_start;             /* [column], n_columns + 1: ... from here on */
    uint16_t *part_first, *part_last; /* [offset[q] + position]: its part under the head */
    uint16_t *all_last;               /* [offset[q] + position]: the last position of its part under the allset */
    double bound;
    uint32_t chosen; /* letter whose child is being searched, or KN_NONE */
    bool forced;     /* nothing without it can be better */
    size_t items_capacity, classes_capacity;
} kn_cut_frame;

/* What an evaluation found out about a letter of the tail. */
typedef struct kn_letter_view {
    double rise;       /* of the bound, when it is taken */
    double suppressed; /* rows that fall out when it is taken */
    double n_splits;   /* classes it splits */
    double worth;      /* about what the bound rises when it is left out: for the order of letters only */
    bool gains;
} kn_letter_view;

/* Of a hash table that is emptied by counting on: used when its stamp is the worker's. */
typedef struct kn_cut_slot {
    uint32_t stamp, item;
} kn_cut_slot;

struct kn_cut_exact;
typedef struct kn_cut_worker {
    const kn_cuts *cuts;
    kn_cut_frame *frames; /* by depth */
    uint32_t n_frames;
    uint32_t n_positions; /* of all columns */
    uint32_t *offset;     /* [column]: its first position among all */
    double *sums;         /* [(offset + position) * n_lanes]: of the class at hand, from its lowest position on */
    kn_letter_view *letters;
    struct kn_split *splits; /* of the class at hand ... */
    uint32_t *split_letter;  /* ... and their letters */
    double *split_worth;
    double *part_lanes;            /* of the split at hand */
    uint8_t *drop;                 /* [letter] */
    uint16_t *lookup;              /* [offset + position]: where merged items stand */
    uint16_t *dropped, *dropped_q; /* cuts of the letters that are dropped, by column */
    uint8_t *joined;               /* [offset + position]: dropped cuts were inside its part */
    kn_cut_slot *slots;            /* hash table of items */
    uint32_t stamp, n_slots;
    kn_items merged;            /* room for all items */
    double *least_price;        /* [offset + position]: cells only, as what follows */
    double *item_floor;         /* [item]: what its rows pay at least */
    double *floor_sums;         /* [position] of a column: of the class at hand */
    struct kn_cut_exact *exact; /* NULL: sums over items are exact */
    double cost, bound;         /* of the frame evaluated last; where there is `exact`, it costs no less */
} kn_cut_worker;

kn_status kn_cut_worker_new(kn_cut_worker **out, const kn_cuts *cuts, kn_error *err);
void kn_cut_worker_free(kn_cut_worker *worker);
/* The frame of a depth, with room for everything that is fixed in size. */
kn_status kn_cut_frame_at(kn_cut_frame **out, kn_cut_worker *worker, uint32_t depth, kn_error *err);
/* Classes and items from the table: the letters in HEAD in force, those in OUT never. */
kn_status kn_cut_frame_start(kn_cut_worker *worker, kn_cut_frame *frame, const uint8_t *state, kn_error *err);
/* The items of the table in the first frame, equal ones merged; not where persons have several of them. */
kn_status kn_cut_merged_items(kn_cut_worker *worker, kn_error *err);
/* What the letters with in[letter] cost, and how many rows they suppress; INFINITY when no row is released. */
kn_status kn_cut_letters_cost(double *cost, double *n_suppressed, kn_cut_worker *worker, const uint8_t *in,
                              kn_error *err);
/* The child that takes `letter` from the tail to the head. */
kn_status kn_cut_frame_take(kn_cut_worker *worker, kn_cut_frame *child, const kn_cut_frame *frame, uint32_t letter,
                            kn_error *err);
/* Takes the letters with worker->drop[letter], and those that need them, out of the tail; clears worker->drop. */
void kn_cut_frame_drop(kn_cut_worker *worker, kn_cut_frame *frame);

#endif
