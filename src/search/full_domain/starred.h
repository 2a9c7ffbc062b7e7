/* The groups of a node, some of their cells suppressed, put together to classes: what searches share that suppress
 * single cells after full-domain levels. A suppressed cell is the whole domain. */
#ifndef KN_SEARCH_FULL_DOMAIN_STARRED_H
#define KN_SEARCH_FULL_DOMAIN_STARRED_H

#include "engine/lattice/evaluator.h"

typedef struct kn_starred {
    kn_owner memory; /* all arrays but those of the groups */
    const kn_full_domain *domain;
    kn_groups groups;
    uint32_t *tuple_group; /* [tuple] */
    kn_cell *cells;        /* [q] of the class at hand; set by the caller */
    uint64_t *sums;        /* of its sensitive values, all 0 between uses ... */
    uint32_t *entries;
    uint64_t *entry_counts;
    kn_histogram *histograms; /* ... and as lists, two per sensitive column */
} kn_starred;

kn_status kn_starred_init(kn_starred *out, const kn_full_domain *domain, kn_evaluator *evaluator,
                          const uint32_t *levels, kn_error *err);
void kn_starred_free(kn_starred *starred); /* what it holds */
/* The node of a group in column q; the root where the cell is suppressed, or missing and may be any value. */
uint32_t kn_starred_node(const kn_starred *starred, uint32_t group, uint32_t q, bool is_suppressed);
/* Whether the models hold for the groups items[members[0]], ... as a class with `cells`; items NULL: members[0], ... */
bool kn_starred_holds(const kn_starred *starred, const uint32_t *items, const uint32_t *members, uint32_t n);
/* Nothing is left of the class with `cells`. */
bool kn_starred_is_all(const kn_starred *starred);

#endif
