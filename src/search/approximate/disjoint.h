/* Sets that cover the rows, kept disjoint as they come: phase 2 of [GT] 6.3, after Meyerson and Williams 2004.
 *
 * A set has k to 2k-1 rows, some of which nobody covered before. Where these are fewer than k, rows that are covered
 * already fill it up; and a row in two sets leaves one that has more than k, and two sets of k rows that share one are
 * united. So: rows to fill up with come from sets of more than k while there are such rows in the region, the nearest
 * first, and leave their set; otherwise the new rows join the set of k whose row is nearest. What sets cost together is
 * never more than what the paper's cover costs, since prices (and diameters) are monotone and sub-additive. */
#ifndef KN_SEARCH_APPROXIMATE_DISJOINT_H
#define KN_SEARCH_APPROXIMATE_DISJOINT_H

#include "search/approximate/near.h"

typedef struct kn_disjoint {
    kn_near *near; /* borrowed */
    uint32_t k;
    uint32_t *first, *row; /* vertices: near.h. The last uncovered[position] of a position's are uncovered */
    uint32_t *uncovered;   /* [position] */
    uint32_t *box_uncovered;
    uint32_t n_uncovered;
    uint32_t *row_class; /* [row]; KN_NONE: uncovered. Borrowed */
    uint32_t *size;      /* [class] */
    uint32_t *united;    /* [class]: with which; itself */
    uint32_t n_classes;
    /* The region of the next set: codes low[q] to high[q], and where it is filled up no farther from its first row than
     * `radius`. The caller's to set; at first everything. */
    uint32_t *low, *high;
    double radius;
    kn_view view; /* scratch of the caller, too */
    uint32_t nearest;
    double nearest_distance;
} kn_disjoint;

kn_status kn_disjoint_init(kn_disjoint *sets, kn_near *near, uint32_t *row_class, uint32_t k, kn_error *err);
void kn_disjoint_free(kn_disjoint *sets); /* what it holds */
/* Uncovered rows in the region; counting may stop once there are `enough`. */
uint32_t kn_disjoint_count(const kn_disjoint *sets, uint32_t enough);
/* A new set: first opened, ... */
void kn_disjoint_open(kn_disjoint *sets);
/* ... then n uncovered rows of a position, or up to n in the region, whichever come first in the order of the boxes;
 * the position of the first one is returned ... */
void kn_disjoint_put(kn_disjoint *sets, uint32_t position, uint32_t n);
uint32_t kn_disjoint_put_region(kn_disjoint *sets, uint32_t n);
/* ... then filled up, if need be, from what is near to `centre`: the region has at least k rows. */
void kn_disjoint_close(kn_disjoint *sets, uint32_t centre);
/* Once all rows are covered: numbers the classes that are left without gaps. */
void kn_disjoint_number(kn_disjoint *sets, uint32_t *n_classes);

#endif
