/* Histograms of a column of the table over groups of rows, as (value, count) lists. */
#ifndef KN_CLASSES_HISTOGRAM_H
#define KN_CLASSES_HISTOGRAM_H

#include "table/table.h"

/* Group g has the entries (*start)[g] .. (*start)[g+1]-1 of *values and *counts, ascending by value. Rows whose group
 * is KN_NONE are left out. All three are yours to kn_free. */
kn_status kn_histograms(uint32_t **start, uint32_t **values, uint32_t **counts, const kn_column *column,
                        const uint32_t *group_of, uint32_t n_rows, uint32_t n_groups, kn_error *err);
/* The same over groups of groups: those that `joined` puts together (KN_NONE: none) as one, `n_joined` of them. */
kn_status kn_histograms_join(uint32_t **start, uint32_t **values, uint32_t **counts, const uint32_t *from_start,
                             const uint32_t *from_values, const uint32_t *from_counts, uint32_t n_values,
                             const uint32_t *joined, uint32_t n_groups, uint32_t n_joined, kn_error *err);

#endif
