/* A generalized number or date as columns with a type: `age_min`, `age_max` and `age_kind` instead of `30..39`.
 *
 * The bounds are what docs/cells.md says of the label, read from its text: a release in bounds and one in labels cannot
 * say two things. Columns whose labels are no intervals keep them; kn_bounds_form_of decides. */
#ifndef KN_HIERARCHY_BOUNDS_H
#define KN_HIERARCHY_BOUNDS_H

#include "hierarchy/domain.h"

typedef enum kn_bounds_kind {
    KN_BOUNDS_VALUE,
    KN_BOUNDS_INTERVAL,
    KN_BOUNDS_SUPPRESSED,
    KN_BOUNDS_MISSING
} kn_bounds_kind;
#define KN_N_BOUNDS_KINDS 4
const char *kn_bounds_kind_name(kn_bounds_kind kind); /* "value", ... */

enum { KN_BOUND_BYTES = 40 };
/* min and max are "" where an end is open, and for suppressed and missing cells. */
typedef struct kn_bounds {
    kn_bounds_kind kind;
    char min[KN_BOUND_BYTES], max[KN_BOUND_BYTES];
} kn_bounds;

typedef struct kn_bounds_form {
    bool has_bounds;   /* otherwise the column keeps its labels */
    bool max_included; /* in an interval; of decimals on a grid it is not */
    bool has_mean;     /* there is a grid that a mean can be rounded to */
    bool has_times;    /* no bounds, because dates have a time of day */
} kn_bounds_form;

/* Numbers and dates of whole days whose labels are all intervals, each of its own: without a hierarchy, or with one
 * whose labels below the root say from where to where the values below them lie. Numbers must be such that a 64-bit
 * integer or a double holds them. */
kn_status kn_bounds_form_of(kn_bounds_form *out, const kn_domain *domain, kn_error *err);
/* The bounds of a cell of such a column. KN_USAGE: an interval with its upper end where the others are without. */
kn_status kn_bounds_of_cell(kn_bounds *out, const kn_domain *domain, const kn_bounds_form *form, const kn_cell *cell,
                            const kn_set_pool *sets, kn_error *err);
/* What the text of a value or an interval says in a column of this type; false: it is neither, or has ends that no
 * bound can be. *included: whether the upper end is one of the values. */
bool kn_bounds_of_text(kn_bounds *out, bool *included, kn_type type, const char *text, size_t n_bytes);
/* The same of a node's label, if the values below the node lie there. */
bool kn_bounds_of_node(kn_bounds *out, bool *included, const kn_domain *domain, uint32_t node);
/* A bound as a number, of dates in days. */
double kn_bounds_end(kn_type type, const char *text, double if_open);
/* A number as bounds are written: in full, with as few digits as give it back. */
void kn_bounds_number_text(char out[KN_BOUND_BYTES], double number);
/* A mean of values inside the bounds of a cell, rounded to the grid and moved inside; "" where no point of the grid is
 * there. */
void kn_bounds_mean(char out[KN_BOUND_BYTES], const kn_domain *domain, const kn_bounds_form *form,
                    const kn_bounds *bounds, double mean);

#endif
