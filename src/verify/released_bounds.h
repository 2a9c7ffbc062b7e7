/* Columns of bounds in a release: X_min, X_max and X_kind instead of the column X, or beside it, with X_mean. */
#ifndef KN_VERIFY_RELEASED_BOUNDS_H
#define KN_VERIFY_RELEASED_BOUNDS_H

#include "verify/checks.h"

typedef enum kn_bounds_part {
    KN_BOUND_MIN,
    KN_BOUND_MAX,
    KN_BOUND_KIND,
    KN_BOUND_MEAN,
    KN_N_BOUND_PARTS
} kn_bounds_part;

/* Of one quasi-identifier. */
typedef struct kn_released_bounds {
    uint32_t column;                  /* of the request */
    uint32_t parts[KN_N_BOUND_PARTS]; /* columns of the release; the mean may be KN_NONE */
    uint32_t made;                    /* the column of the release that was made of them, or KN_NONE */
    uint32_t wrong_row;               /* where they are no bounds, or KN_NONE */
} kn_released_bounds;

/* Whether a column of this name holds bounds or means of a quasi-identifier. */
bool kn_bounds_is_part(const kn_verify_request *request, const char *name);
/* Finds them in the release. Where the column itself is not there, it is made: with the cells that the bounds say. */
kn_status kn_recount_find_bounds(kn_recount *recount, kn_error *err);
/* What is wrong with them: no bounds, not those of the label beside them, a mean outside of them or off the grid. */
kn_buffer kn_recount_describe_bounds(const kn_recount *recount);
bool kn_recount_has_means(const kn_recount *recount);
/* With the original in its order: means that are not those of their class. */
kn_status kn_recount_describe_means(kn_buffer *problem, const kn_recount *recount, kn_error *err);
/* Whether two texts are intervals with the same ends, however they write them. */
bool kn_cells_say_the_same(const kn_reading *reading, const char *a, size_t n_a, const char *b, size_t n_b);
/* A cell other than * of a column that is released as nothing else, as a problem. */
kn_buffer kn_recount_describe_withheld(const kn_recount *recount, uint32_t column);
/* Whether two values of a column lie in one cell of its grid. */
bool kn_in_one_grid_cell(const kn_reading *reading, const char *grid, const char *a, size_t n_a, const char *b,
                         size_t n_b);
/* A released interval of the column that does not end on its grid, as a problem. */
kn_buffer kn_recount_describe_grid(const kn_recount *recount, uint32_t column);
/* One that tells people beyond the column's top or bottom apart, or finer than it is rounded. `meaning`: of its texts;
 * NULL: not known. */
kn_buffer kn_recount_describe_coding(const kn_recount *recount, uint32_t column, const kn_meaning *meaning);

#endif
