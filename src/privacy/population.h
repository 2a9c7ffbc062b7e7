/* A population: the people among whom those of the table hide (k-map, delta-presence).
 *
 * A table with a column of the same name for every quasi-identifier and a row per person. A person lies inside a
 * class's cells when each cell covers the person's value:
 *   trees    the value must be a leaf; one that the hierarchy does not know lies inside the root only
 *   ranges   by number or time, so a value that the table lacks lies inside the intervals around it; where order()
 *            decides instead, such a value lies inside * only
 *   sets     the value must be a member; one that the table lacks lies inside * only
 * Values that nobody can place are thus counted where they cannot help: the count is never too large. */
#ifndef KN_PRIVACY_POPULATION_H
#define KN_PRIVACY_POPULATION_H

#include "classes/box_tree.h"
#include "classes/tuples.h"

typedef struct kn_population kn_population;

kn_status kn_population_new(kn_population **out, const kn_table *people, const kn_tuples *tuples, kn_error *err);
void kn_population_free(kn_population *population);
uint64_t kn_population_size(const kn_population *population);
/* Persons inside the cells of a class; `cells` NULL: a suppressed row's, everybody. */
uint64_t kn_population_count(const kn_population *population, const kn_cell *cells, const kn_set_pool *sets);

#endif
