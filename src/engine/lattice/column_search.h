/* Exact search over the levels of some columns of a lattice: what do they cost at least, and which levels cost that?
 *
 * The other columns are left out (as if fully general, at no price) or stay at given levels. Left out, the result
 * bounds every node of the lattice: by the subset property, rows that are too few for a class when only some columns
 * are looked at are too few when all are, and they pay what suppressed rows pay in these columns at least.
 *
 * Russian doll search (Verfaillie, Lemaitre, Schiex, 1996): columns are decided one after the other, depth first; what
 * the undecided ones cost at least is known, because the search over the last column alone came first, then that over
 * the last two, and so on. Tuples are carried as (class, values in the undecided columns, rows), merged where equal, so
 * that a step is a pass over few entries: count rows by class and value, those with too few rows go to class 0, the
 * suppressed.
 *
 * Relies on: a cell measure with monotone prices. Classes are judged by their number of rows alone: fewer rows than a
 * model demands persons break it, whatever else models say. Costs are in units, so sums are exact. */
#ifndef KN_ENGINE_LATTICE_COLUMN_SEARCH_H
#define KN_ENGINE_LATTICE_COLUMN_SEARCH_H

#include "engine/lattice/full_domain.h"

/* What no levels can reach: nothing is feasible. Two of them can be added. */
#define KN_COST_INFINITE (INT64_MAX / 4)

typedef struct kn_column_search kn_column_search;

typedef struct kn_column_hooks {
    void *context;
    /* Called about every millisecond with the entries touched since the last call; *stop ends the search. May lower the
     * limit of kn_column_search_all. */
    kn_status (*breathe)(void *context, uint64_t work, int64_t *limit, bool *stop, kn_error *err);
    /* A vector within the limit: the levels of all columns. May lower the limit. */
    kn_status (*found)(void *context, const uint32_t *levels, int64_t *limit, kn_error *err);
} kn_column_hooks;

kn_status kn_column_search_new(kn_column_search **out, const kn_full_domain *domain, kn_error *err);
void kn_column_search_free(kn_column_search *search);

/* Sets up a search over `columns`, the first one decided first. `levels`: where the other columns stay; NULL: they are
 * left out. *fits: false where it would take more than memory_bytes (0: no limit); then nothing is set up. */
kn_status kn_column_search_set(bool *fits, kn_column_search *search, const uint32_t *columns, uint32_t n_columns,
                               const uint32_t *levels, size_t memory_bytes, kn_error *err);

/* What the columns from the first-th on cost at least, given what those after it do: least[i] for all i > first, with
 * least[n_columns] = 0. Suppressed rows pay for these columns only. `levels` (may be NULL) has levels of cost
 * least[first + 1] and is given those of the result. *stopped: by a hook; *cost is not known then. */
kn_status kn_column_search_least(int64_t *cost, uint32_t *levels, bool *stopped, kn_column_search *search,
                                 uint32_t first, const int64_t *least, const kn_column_hooks *hooks, kn_error *err);

/* Tells hooks->found of vectors of all columns that cost no more than the limit, prices of the other columns included,
 * until none is left. */
kn_status kn_column_search_all(bool *stopped, kn_column_search *search, int64_t limit, const int64_t *least,
                               const kn_column_hooks *hooks, kn_error *err);

#endif
